"""HTTP as a person's own program speaks it, and a hub with tokens and an agent to ask questions."""
from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import socket
from typing import Any, NamedTuple

from harness import HANG_S, Home, Wire, wait_until

LIMITS = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}
HOSTS = ("127.0.0.1", "::1")


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]

    def __repr__(self) -> str:
        return f"{self.status} {self.headers} {self.body[:2000]!r}"


def read_reply(response: http.client.HTTPResponse) -> Reply:
    body = response.read()
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


class Office(contextlib.AbstractContextManager):
    """A hub in the foreground, tokens of both kinds, and an agent who asks over the wire."""

    def __init__(self, env: dict[str, str] | None = None, binary: str | None = None):
        settings = {"env": {**LIMITS, **(env or {})}}
        self.home = Home(binary, **settings) if binary else Home(**settings)
        self.numbers = itertools.count(1)
        self.wires: list[Wire] = []
        self.agent: Wire | None = None
        self.serve()
        self.person_token, self.agent_token = self.token("person"), self.token("agent")

    def serve(self) -> None:
        """Starts the hub, also once more after its end."""
        self.process = self.home.spawn("serve")
        self.home.wait_hub()
        self.port = wait_until(lambda: self.home.hub().get("port"), "a port in hub.json")
        self.agent = None

    def token(self, kind: str, label: str = "a test") -> str:
        made = self.home.sayso("token", "new", "--kind", kind, "--label", label)
        assert made.code == 0, made
        return made.out.split()[0]

    def wire(self, role: str, **hello: Any) -> Wire:
        self.wires.append(Wire(self.home))
        self.wires[-1].hello(role, **{"name": "office", "directory": "/office", **hello})
        return self.wires[-1]

    def ask(self, title: str = "", **more: Any) -> str:
        """The id of a new ask; the agent's call stays open."""
        if not self.agent:
            self.agent = self.wire("agent")
        number = next(self.numbers)
        arguments = {"title": title or f"Question {number}",
                     "prompt": "Which of these shall it be, and why is it needed?",
                     "selection_mode": "single",
                     "options": [{"id": "a", "label": "Alpha", "recommended": True},
                                 {"id": "b", "label": "Beta"}], **more}
        arguments = {name: value for name, value in arguments.items() if value is not None}
        self.agent.start("ask/create", tool="provide_choice", tag=f"{number}", arguments=arguments)
        while True:
            message = self.agent.read()
            if message.get("method") == "ask/created" and message["params"]["tag"] == f"{number}":
                return message["params"]["session_id"]
            assert "error" not in message, message
            self.agent.events.append(message)

    def connect(self, host: str = HOSTS[0], timeout: float = 70) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(host, self.port, timeout=timeout)

    def headers(self, token: str | None, **more: str) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {**({"Authorization": f"Bearer {token}"} if token else {}), **named}

    def send(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any = None,
             token: str | None = "person", **headers: str) -> None:
        """`token` person or agent: ours; None: none. `body`: bytes as they are, else as JSON."""
        token = {"person": self.person_token, "agent": self.agent_token}.get(token or "", token)
        bytes_ = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = self.headers(token, **headers)
        if bytes_ is not None and not any(name.lower() == "content-type" for name in given):
            given["Content-Type"] = "application/json"
        connection.request(method, path, bytes_, given)

    def call(self, method: str, path: str, body: Any = None, host: str = HOSTS[0], timeout: float = 70,
             **more: Any) -> Reply:
        connection = self.connect(host, timeout)
        try:
            self.send(connection, method, path, body, **more)
            return read_reply(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str, **more: Any) -> Reply:
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Reply:
        return self.call("POST", path, body, **more)

    def answer(self, id: str, pick: str = "a", **more: Any) -> Reply:
        return self.post(f"/api/asks/{id}/answer", {"selected_ids": [pick]}, **more)

    def whole(self, id: str) -> dict[str, Any]:
        reply = self.get(f"/api/asks/{id}")
        assert reply.status == 200, reply
        return reply.json

    def raw(self, request: bytes, host: str = HOSTS[0], timeout: float = HANG_S) -> bytes:
        """Bytes as they are; what comes back until the hub closes or falls silent."""
        with socket.create_connection((host, self.port), timeout) as peer:
            peer.sendall(request)
            return read_one(peer)

    def __exit__(self, *_: Any) -> None:
        for wire in self.wires:
            wire.stop()
        self.home.stop()


def read_one(peer: socket.socket) -> bytes:
    """One reply with a Content-Length, or whatever came before the end."""
    got = b""
    while True:
        head, end, rest = got.partition(b"\r\n\r\n")
        if end:
            sizes = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            if sizes and len(rest) >= int(sizes[0].split(b":")[1]):
                return got
            if head.startswith(b"HTTP/1.1 304"):
                return got
        if not (more := peer.recv(65536)):
            return got
        got += more


def status_of(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.1 ") else 0
