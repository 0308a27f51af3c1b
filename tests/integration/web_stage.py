"""A page by hand: the handshake, frames and messages of a WebSocket; what test_web_*.py share."""
from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import ssl
import struct
import time
from typing import Any, Iterator

from harness import HANG_S, Home, Wire, WireError, _Stopped

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(opcode: int, payload: bytes = b"", final: bool = True, mask: bytes = b"\0\0\0\0") -> bytes:
    length = len(payload)
    head = bytes([(128 if final else 0) | opcode])
    if length < 126:
        head += bytes([128 | length])
    elif length < 65536:
        head += bytes([254]) + struct.pack(">H", length)
    else:
        head += bytes([255]) + struct.pack(">Q", length)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def raw_http(port: int, text: str | bytes, timeout: float = HANG_S, address: str = "127.0.0.1") -> tuple[int, dict[str, str], bytes]:
    """One request, byte for byte; status, headers in lower case, body as far as its length says."""
    data = text.encode("latin-1") if isinstance(text, str) else text
    with socket.create_connection((address, port), timeout) as peer:
        peer.sendall(data)
        got = b""
        while b"\r\n\r\n" not in got:
            part = peer.recv(65536)
            if not part:
                break
            got += part
        head, _, body = got.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        wanted = 0 if data.startswith(b"HEAD") else int(headers.get("content-length", 0))
        while len(body) < wanted:
            part = peer.recv(65536)
            assert part, "the body was cut"
            body += part
        return int(lines[0].split()[1]), headers, body


def get(port: int, path: str, headers: dict[str, str] | None = None, method: str = "GET",
        host: str = "") -> tuple[int, dict[str, str], bytes]:
    lines = {"Host": host or f"127.0.0.1:{port}", "Connection": "close", **(headers or {})}
    return raw_http(port, f"{method} {path} HTTP/1.1\r\n"
                    + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n")


class Closed(Exception):
    """The other side closed; code None: without saying why."""

    def __init__(self, code: int | None, reason: str = ""):
        super().__init__(f"closed {code} {reason}")
        self.code, self.reason = code, reason


class Page(_Stopped):
    """A WebSocket as a browser has it; `events` are messages that are no reply."""

    def __init__(self, port: int, address: str = "127.0.0.1", origin: str | None = "", host: str = "",
                 headers: dict[str, str] | None = None, tls: ssl.SSLContext | None = None):
        self.port = port
        name = f"[{address}]" if ":" in address else address
        self.host = host or f"{name}:{port}"
        self.socket = socket.create_connection((address, port), HANG_S)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname=address)
        self.unread, self.events, self.last_id = b"", [], 0
        lines = {"Host": self.host, "Upgrade": "websocket", "Connection": "Upgrade",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version": "13",
                 **({} if origin is None else {"Origin": origin or f"http{'s' if tls else ''}://{self.host}"}), **(headers or {})}
        self.socket.sendall(("GET /ws HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in lines.items())
                             + "\r\n").encode())
        while b"\r\n\r\n" not in self.unread:
            part = self.socket.recv(65536)
            assert part, "no reply to the handshake"
            self.unread += part
        head, _, self.unread = self.unread.partition(b"\r\n\r\n")
        self.head = head.decode()
        self.status = int(self.head.split()[1])

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, message: Any) -> None:
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_raw(frame(TEXT, text, mask=os.urandom(4)))

    def _need(self, count: int, deadline: float) -> None:
        while len(self.unread) < count:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                part = self.socket.recv(65536)
            except ConnectionResetError:
                part = b""
            if not part:
                raise Closed(None, "without a close frame")
            self.unread += part

    def read_frame(self, timeout: float = HANG_S) -> tuple[int, bytes]:
        deadline = time.monotonic() + timeout
        self._need(2, deadline)
        assert self.unread[0] & 0x70 == 0 and not self.unread[1] & 0x80, self.unread[:2]
        length, head = self.unread[1] & 127, 2
        if length == 126:
            self._need(4, deadline)
            length, head = struct.unpack(">H", self.unread[2:4])[0], 4
        elif length == 127:
            self._need(10, deadline)
            length, head = struct.unpack(">Q", self.unread[2:10])[0], 10
        self._need(head + length, deadline)
        opcode, payload = self.unread[0] & 15, self.unread[head:head + length]
        self.unread = self.unread[head + length:]
        return opcode, payload

    def read(self, timeout: float = HANG_S) -> dict[str, Any]:
        """The next message; pings are answered. Closed if the hub closes."""
        deadline = time.monotonic() + timeout
        while True:
            opcode, payload = self.read_frame(deadline - time.monotonic())
            if opcode == TEXT:
                return json.loads(payload)
            if opcode == PING:
                self.send_raw(frame(PONG, payload))
            if opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if payload else None
                raise Closed(code, payload[2:].decode())

    def call(self, method: str, timeout: float = HANG_S, **params: Any) -> Any:
        return self.finish(self.start(method, **params), timeout)

    def start(self, method: str, **params: Any) -> int:
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def finish(self, call_id: int, timeout: float = HANG_S) -> Any:
        deadline = time.monotonic() + timeout
        while True:
            message = self.read(deadline - time.monotonic())
            if message.get("id") != call_id or "method" in message:
                self.events.append(message)
            elif "error" in message:
                raise WireError(message["error"])
            else:
                return message["result"]

    def wait_event(self, method: str, wanted=lambda params: True, timeout: float = HANG_S) -> dict[str, Any]:
        """The params of the first notification of that kind, of those that came and those to come."""
        deadline = time.monotonic() + timeout
        while True:
            for at, message in enumerate(self.events):
                if message.get("method") == method and wanted(message["params"]):
                    del self.events[at]
                    return message["params"]
            self.events.append(self.read(deadline - time.monotonic()))

    def close_code(self, timeout: float = HANG_S) -> int | None:
        """Reads on until the hub closes."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self.events.append(self.read(deadline - time.monotonic()))
        except Closed as closed:
            return closed.code

    def stop(self) -> None:
        self.socket.close()


def start_hub(home: Home, *more: str) -> int:
    """A hub in the foreground; its port."""
    home.spawn("serve", "--port", "0", *more)
    home.wait_hub()
    return home.hub()["port"]


def link_of(home: Home, **params: Any) -> str:
    with Wire(home) as wire:
        wire.hello("person")
        return wire.call("portal/link", **params)["link"]


def code_of(link: str) -> str:
    return link.partition("#code=")[2]


def hello(page: Page, **params: Any) -> Any:
    return page.call("hello", **{"wire": 1, "role": "person", "name": "test page", **params})


@contextlib.contextmanager
def signed_in(home: Home, **more: Any) -> Iterator[tuple[Page, str]]:
    """A page that came by a link, and its token."""
    with Page(home.hub()["port"], **more) as page:
        yield page, hello(page, code=code_of(link_of(home)))["token"]
