"""A hub that must stay well, its peers, and a bystander who must not notice; what test_wire_*.py share."""
from __future__ import annotations

import contextlib
import json
import pathlib
import threading
import time
from typing import Any, Iterator

import harness
from harness import Home, Wire

MIB = 1048576


def choice(title: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "prompt": "Two ways are open and both would work.", "selection_mode": "single",
            "options": [{"id": "a", "label": "First", "recommended": True}, {"id": "b", "label": "Second"}],
            **more}


def hello_line(role: str = "person", **more: Any) -> bytes:
    params = {"wire": 1, "version": "test", "role": role, "features": [], **more}
    return json.dumps({"jsonrpc": "2.0", "id": "hello", "method": "hello", "params": params}).encode() + b"\n"


def request(number: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


@contextlib.contextmanager
def hub(binary: str = harness.BIN, env: dict[str, str] | None = None) -> Iterator[Home]:
    """A hub in the foreground that must be the same process, and well, at the end."""
    with Home(binary, env=env) as home:
        home.spawn("serve")
        pid = home.wait_hub()
        yield home
        assert home.hub_pid() == pid, f"the hub died: {home.spawned[0].poll()}"
        with person(home) as wire:
            assert wire.call("hub/status")["pid"] == pid


@contextlib.contextmanager
def person(home: Home, **more: Any) -> Iterator[Wire]:
    with Wire(home) as wire:
        wire.hello("person", **more)
        yield wire


@contextlib.contextmanager
def agent(home: Home, name: str = "agent") -> Iterator[Wire]:
    with Wire(home) as wire:
        wire.hello("agent", **{"as": name})
        yield wire


def make_ask(home: Home, title: str, **more: Any) -> str:
    with agent(home, title) as wire:
        return wire.call("ask/create", tool="provide_choice", wait_seconds=0,
                         arguments=choice(title, **more))["session_id"]


def rss_bytes(home: Home) -> int:
    for line in pathlib.Path(f"/proc/{home.hub_pid()}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


class Bystander:
    """An honest client that works all the while: each of its calls is answered, whatever the others do."""

    def __init__(self, home: Home):
        self.wire = Wire(home)
        self.wire.hello("person", name="bystander")
        self.slowest = 0.0
        self.is_over = threading.Event()
        self.problem: BaseException | None = None
        self.thread = threading.Thread(target=self._work)

    def _work(self) -> None:
        try:
            while True:
                began = time.monotonic()
                self.wire.call("hub/status")
                self.slowest = max(self.slowest, time.monotonic() - began)
                if self.is_over.wait(0.02):
                    break
        except BaseException as problem:
            self.problem = problem

    def __enter__(self) -> Bystander:
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.is_over.set()
        self.thread.join()
        self.wire.stop()
        assert not self.problem, f"a bystander was hurt: {self.problem!r}"
