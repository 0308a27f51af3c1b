"""What a hub says as it stops reaches every connected client, whatever else is under way.

The first test watches a real hub from outside. The others play the hub, because the moment that
matters, hello and farewell in one piece, comes once in some thousand connections.

Proves: R10.3
"""
from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from typing import Any, Callable

from harness import Home, Wire, run, scaled, test

PEERS = 20
RETIRE = {"jsonrpc": "2.0", "method": "hub/closing", "params": {"why": "retire"}}
STOP = {"jsonrpc": "2.0", "method": "hub/closing", "params": {"why": "stop"}}


def result_of(request: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


class PlayedHub(contextlib.AbstractContextManager):
    """Takes the place of a home's hub. Each connection is served by the next of `acts`, which gets
    what reads a request and what sends messages, all of them in one piece."""

    def __init__(self, home: Home, acts: list[Callable]):
        self.path = str(home.path / "run" / "played.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.served = 0
        home.data.mkdir(parents=True, mode=0o700)
        (home.data / "hub.json").write_text(json.dumps({
            "pid": os.getpid(), "start": 1, "socket": self.path, "port": None, "wire": 1, "version": "0"}))
        threading.Thread(target=self.serve, args=(acts,), daemon=True).start()

    def serve(self, acts: list[Callable]) -> None:
        for act in acts:
            with contextlib.suppress(OSError):
                peer = self.listener.accept()[0]
                lines = peer.makefile("rb")
                self.served += 1
                act(lambda: json.loads(lines.readline()),
                    lambda *messages: peer.sendall(b"".join(json.dumps(m).encode() + b"\n" for m in messages)))
                lines.close()
                peer.close()

    def __exit__(self, *_: Any) -> None:
        self.listener.close()


def hello(read: Callable, send: Callable, *more: dict[str, Any]) -> None:
    send(result_of(read(), {"wire": 1, "version": "0", "role": "person", "features": []}), *more)


def serve_until(read: Callable, send: Callable, last: str) -> dict[str, Any]:
    """Answers whatever only looks; returns the call that does something."""
    while (request := read())["method"] != last:
        send(result_of(request, {}))
    return request


def retires_before_the_call(read: Callable, send: Callable) -> None:
    hello(read, send)
    serve_until(read, send, "settings/set")
    send(RETIRE)


def retires_with_hello(read: Callable, send: Callable) -> None:
    hello(read, send, RETIRE)


def stops_with_hello(read: Callable, send: Callable) -> None:
    hello(read, send, STOP)


def takes_the_call(read: Callable, send: Callable) -> None:
    hello(read, send)
    send(result_of(serve_until(read, send, "settings/set"), {}))


@test("every peer hears hub/closing, also those whose requests were not read any more", "R10.3")
def heard_by_all() -> None:
    def keep_asking(wire: Wire) -> bool:
        with contextlib.suppress(EOFError, OSError):
            while True:
                wire.call("ask/list")
        with contextlib.suppress(EOFError, OSError):
            while True:
                wire.events.append(wire.read())
        return any(event.get("method") == "hub/closing" for event in wire.events)

    for _ in range(scaled(10)):
        with Home() as home, contextlib.ExitStack() as stack:
            assert home.sayso("list").code == 0
            heard: list[bool] = []
            wires = [stack.enter_context(Wire(home)) for _ in range(PEERS)]
            threads = [threading.Thread(target=lambda wire=wire: heard.append(keep_asking(wire))) for wire in wires]
            for wire in wires:
                wire.hello("person")
            for thread in threads:
                thread.start()
            with Wire(home) as newer:
                newer.call("hub/retire")
                for thread in threads:
                    thread.join()
            assert heard == [True] * PEERS, f"{heard.count(False)} of {PEERS} were not told"


@test("a farewell that comes with hello's reply is heard: the command goes to the next hub", "R10.3")
def heard_with_hello(home: Home) -> None:
    acts = [retires_before_the_call, retires_with_hello, takes_the_call]
    with PlayedHub(home, acts) as hub:
        result = home.sayso("settings", "set", "timeout_seconds", "200", "--json")
        assert result.code == 0 and hub.served == len(acts), (hub.served, result)


@test("a farewell that comes with hello's reply is heard by sayso mcp: a stopped hub stays stopped", "R10.3")
def heard_by_the_front(home: Home) -> None:
    with PlayedHub(home, [stops_with_hello, takes_the_call]) as hub:
        front = home.spawn("mcp", "--hub", f"unix:{hub.path}")
        for message in (
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": {"name": "get_answer", "arguments": {
                "session_id": "a" * 26, "wait_seconds": 5}}},
        ):
            front.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        front.stdin.flush()
        replies = [json.loads(front.stdout.readline()) for _ in range(2)]
        assert "the hub was stopped" in json.dumps(replies[1]), replies
        assert hub.served == 1, f"it came back {hub.served - 1} times"


@test("a reply that lacks what it should have ends a command with words, not with a signal", "R10.3")
def empty_replies(home: Home) -> None:
    def nothing(read: Callable, send: Callable) -> None:
        hello(read, send)
        send(result_of(read(), {}))

    words = [("settings", "set", "theme", "dark"), ("settings", "get", "theme"), ("settings", "list"), ("list",),
             ("show", "abcd"), ("answer", "abcd", "--select", "a"), ("status",), ("token", "list"), ("extend", "abcd", "9")]
    with PlayedHub(home, [nothing] * len(words) * 3):
        for command in words:
            code = home.sayso(*command).code
            assert code >= 0 and code < 128, (command, code)


run()
