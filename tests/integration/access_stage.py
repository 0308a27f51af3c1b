"""Every way into a hub, by hand: the unix socket, loopback HTTP and TLS, with and without a token."""
from __future__ import annotations

import base64
import os
import socket
from typing import Any

from far_stage import Far
from harness import Wire, WireError
from web_stage import Page, code_of, hello, link_of


def web_socket(far: Far, path: str, is_public: bool, token: str | None = None) -> Page:
    """/ws or /wire, at the loopback port or behind TLS; `status` is what the upgrade was answered with."""
    page = Page.__new__(Page)
    page.port = far.port if is_public else far.home.hub()["port"]
    page.socket = socket.create_connection(("127.0.0.1", page.port), 60)
    host, scheme = f"127.0.0.1:{page.port}", "http"
    if is_public:
        page.socket = far.context().wrap_socket(page.socket, server_hostname="localhost")
        host, scheme = f"localhost:{page.port}", "https"
    lines = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode()}
    if path == "/ws":
        lines["Origin"] = f"{scheme}://{host}"
    if token and path == "/wire":
        lines["Authorization"] = f"Bearer {token}"
    page.socket.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in lines.items())
                         + "\r\n").encode())
    page.unread, page.events, page.last_id = b"", [], 0
    while b"\r\n\r\n" not in page.unread:
        part = page.socket.recv(65536)
        assert part, "no reply to the handshake"
        page.unread += part
    head, _, page.unread = page.unread.partition(b"\r\n\r\n")
    page.status = int(head.split()[1])
    return page


def person_at(far: Far, door: str) -> Page:
    """A person who is signed in, by a token of `sayso token new` or as a tab by a link of `sayso open`."""
    path, where = door.split()[:2]
    page = web_socket(far, path, where == "tls", far.tokens["person"])
    assert page.status == 101, (door, page.status)
    if path == "/wire":
        page.call("hello", wire=1, role="person", name="test")
    elif door.endswith("tab"):
        page.tab = hello(page, code=code_of(link_of(far.home)))["tab"]
    else:
        page.tab = hello(page, token=far.tokens["person"])["tab"]
    return page


TOKEN_DOORS = ("/ws loopback tab", "/ws loopback", "/wire loopback", "/ws tls", "/wire tls")


def refusal(peer: Page | Wire, method: str, **params: Any) -> WireError:
    try:
        said = peer.call(method, **params)
    except WireError as refused:
        return refused
    raise AssertionError(f"{method} {params} worked: {said}")
