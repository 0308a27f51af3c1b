"""Cases of tests/corpus/http_ws.json and others of their shape, byte for byte on sockets.

A case has `raw` bytes (or `gen`, how to make them) and what is to come of it. Every case is also
held to what the corpus calls `always`.
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import socket
import subprocess
import time
from typing import Any, NamedTuple

import harness
from harness import HANG_S, Home, wait_until

CORPUS = json.loads((harness.ROOT / "tests/corpus/http_ws.json").read_text())
HTTP_CASES = [case for case in CORPUS["cases"] if case["kind"] == "http"]
LISTENERS = {"127.0.0.1": (socket.AF_INET, "127.0.0.1"), "::1": (socket.AF_INET6, "::1")}


class Reply(NamedTuple):
    """The first reply on a connection, and what became of the connection."""
    status: int
    headers: dict[str, str]
    body: bytes
    is_closed: bool
    everything: bytes
    took_s: float


def parse(received: bytes, is_closed: bool, took_s: float) -> Reply:
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/1.1 ") else 0
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return Reply(status, headers, body, is_closed, received, took_s)


def is_whole(received: bytes, is_head: bool) -> bool:
    """The reply has ended, as far as its own head says where."""
    reply = parse(received, False, 0)
    if b"\r\n\r\n" not in received:
        return False
    if is_head:
        return True
    if "transfer-encoding" in reply.headers:
        return reply.body.endswith(b"0\r\n\r\n")
    return len(reply.body) >= int(reply.headers.get("content-length", "0"))


def connect(listener: str, port: int, timeout: float = HANG_S) -> socket.socket:
    family, address = LISTENERS[listener]
    peer = socket.socket(family, socket.SOCK_STREAM)
    peer.settimeout(timeout)
    peer.connect((address, port))
    return peer


def exchange(peer: socket.socket, sent: bytes, waits_for_close: bool = False, timeout: float = HANG_S) -> Reply:
    """Sends everything, reads a reply; with waits_for_close until the other side ends it."""
    began, received, is_closed = time.monotonic(), b"", False
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        peer.sendall(sent)
    while waits_for_close or not is_whole(received, sent.startswith(b"HEAD ")):
        peer.settimeout(max(0.01, timeout - (time.monotonic() - began)))
        try:
            part = peer.recv(65536)
        except TimeoutError:
            break
        except ConnectionResetError:
            part = b""
        if not part:
            is_closed = True
            break
        received += part
    return parse(received, is_closed, time.monotonic() - began)


def ask(listener: str, port: int, raw: str | bytes, **settings: Any) -> Reply:
    with connect(listener, port) as peer:
        return exchange(peer, raw.encode() if isinstance(raw, str) else raw, **settings)


def request(method: str, path: str, port: int, *headers: str, body: str | None = None) -> str:
    """A request as a good client sends it."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *headers]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body.encode())}"]
    return "\r\n".join(lines) + "\r\n\r\n" + (body or "")


class Site:
    """A hub that serves HTTP, with tokens and asks for the placeholders of the cases."""

    def __init__(self, home: Home, *flags: str, **settings: Any):
        self.home = home
        self.log = open(home.path / "serve.log", "ab")
        self.process = home.spawn("serve", *flags, stdout=self.log, stderr=self.log, **settings)
        self.pid = home.wait_hub()
        self.port = home.hub()["port"]
        self.other = socket.socket()  # another server's port on this machine
        self.other.bind(("127.0.0.1", 0))
        self.agent = self.token("agent")
        self.person = self.token("person")

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *_: Any) -> None:
        self.other.close()
        self.log.close()

    def token(self, kind: str, *more: str) -> str:
        path = self.home.path / f"token-{kind}-{len(list(self.home.path.glob('token-*')))}"
        made = self.home.sayso("token", "new", "--kind", kind, "--label", f"{kind}'s", "--out", str(path), *more)
        assert made.code == 0, made
        return path.read_text().strip()

    def open_asks(self) -> None:
        """A pending one at version 7, one that was answered, one whose time is up."""
        def ask_for(title: str, timeout_s: int) -> str:
            arguments = {"title": title, "prompt": "Which of these shall it be, then?", "timeout_seconds": timeout_s,
                         "selection_mode": "single", "options": [{"id": "a", "label": "One", "recommended": True},
                                                                 {"id": "b", "label": "Other"}]}
            asked = self.home.sayso("ask", "--json", "--wait", "0", "--from", "-", input=json.dumps(arguments))
            assert asked.code == 5, asked
            return asked.json["session_id"]

        self.expired = ask_for("expired", 1)
        self.pending, self.answered = ask_for("pending", 3600), ask_for("answered", 3600)
        while (version := self.row(self.pending)["version"]) < 7:
            assert self.home.sayso("extend", self.pending, "3600").code == 0, version
        assert version == 7
        reply = ask("127.0.0.1", self.port, request(
            "POST", f"/api/asks/{self.answered}/answer", self.port, f"Authorization: Bearer {self.person}",
            "Idempotency-Key: k-first", body='{"selected_ids":["a"]}'))
        assert reply.status == 200, reply
        wait_until(lambda: self.row(self.expired)["status"] == "timeout", "its time is up")

    def row(self, id: str) -> dict[str, Any]:
        return self.home.sayso("show", id, "--json").json["ask"]

    def bytes_of(self, case: dict[str, Any]) -> bytes:
        """What is sent, with every placeholder filled in."""
        gen = case.get("gen", {})
        if "header" in gen:
            text = f"{gen['prefix']}{gen['header']}: {gen['repeat'] * gen['times']}\r\n\r\n"
        elif "line" in gen:
            text = f"{gen['line']}{gen['repeat'] * gen['times']} HTTP/1.1\r\nHost: 127.0.0.1:{{PORT}}\r\n\r\n"
        else:
            text = case["raw"]
        token = self.agent if " /mcp" in text.split("\r\n")[0] else self.person
        for name, value in {"{PORT}": self.port, "{PORT2}": self.other.getsockname()[1], "{TOKEN}": token,
                            "{COOKIE}": f"sayso={self.person}", "{ASK}": getattr(self, "pending", "1"),
                            "{ANSWERED}": getattr(self, "answered", "1"),
                            "{EXPIRED}": getattr(self, "expired", "1")}.items():
            text = text.replace(name, str(value))
        return text.encode("latin-1")

    def memory(self) -> list[Any]:
        """Everything that a request could have changed, but when a token was last used."""
        tokens = "SELECT hash, kind, person, label, sub_agent, may_answer, created_ms, expires_ms, revoked_ms FROM tokens ORDER BY 1"
        return [self.home.rows(tokens), *(self.home.rows(f"SELECT * FROM {table} ORDER BY 1")
                for table in ("asks", "answers", "events", "drafts", "settings"))]

    def is_well(self) -> bool:
        """Alive, and a good request on a new connection is answered."""
        reply = ask("127.0.0.1", self.port,
                    request("GET", "/api/asks?limit=1", self.port, f"Authorization: Bearer {self.person}"))
        return self.home.hub_pid() == self.pid and reply.status == 200

    def has_route(self, path: str) -> bool:
        return ask("127.0.0.1", self.port, request("GET", path, self.port)).status != 404

    def said(self) -> bytes:
        """Everything the hub wrote for people and machines, and everything it keeps."""
        files = [self.home.path / "serve.log", *self.home.data.glob("*")]
        return b"".join(file.read_bytes() for file in files if file.is_file())

    def processes(self) -> bytes:
        """What other users see of processes."""
        found = b""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                with contextlib.suppress(OSError):
                    found += (process / name).read_bytes()
        return found


def check(site: Site, case: dict[str, Any], reply: Reply) -> None:
    """What a case expects by itself."""
    expect, where = case["expect"], f"{case['id']}: {reply}"
    assert reply.status in expect["status"], where
    if expect.get("close"):
        assert reply.is_closed, where
    if expect.get("www_authenticate"):
        assert reply.headers.get("www-authenticate", "").startswith("Bearer"), where
    for name in expect.get("no_headers", []):
        assert name.lower() not in reply.headers, where
    for name, value in expect.get("headers", {}).items():
        assert reply.headers.get(name.lower()) == value, where
    if "jsonrpc_code" in expect:
        assert json.loads(reply.body)["error"]["code"] == expect["jsonrpc_code"], where
    if "log_must_not_contain" in expect:
        secret = expect["log_must_not_contain"].replace("{TOKEN}", site.person).encode()
        assert secret not in site.said(), where


def check_always(site: Site, case: dict[str, Any], reply: Reply, before: list[Any]) -> None:
    """What holds for every case of the corpus."""
    where = f"{case['id']}: {reply}"
    assert not any(name.startswith("access-control-") for name in reply.headers), where
    assert "set-cookie" not in reply.headers, where
    assert reply.status < 300 or site.memory() == before, where
    assert site.is_well(), where


def run_case(site: Site, listener: str, case: dict[str, Any]) -> Reply:
    before = site.memory()
    with connect(listener, site.port) as peer:
        reply = exchange(peer, site.bytes_of(case), waits_for_close=case["expect"].get("close", False))
    check(site, case, reply)
    check_always(site, case, reply, before)
    return reply


def limit_files(home: Home, files: int, is_soft: bool = False) -> None:
    """Hubs started from now on may have so many files open; if it is soft they may ask for more."""
    home.binary = str(home.path / "limited")
    option = "-S -n" if is_soft else "-n"
    pathlib.Path(home.binary).write_text(f'#!/bin/sh\nulimit {option} {files}\nexec "{harness.BIN}" "$@"\n')
    subprocess.run(["chmod", "700", home.binary], check=True)
