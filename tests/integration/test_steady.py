"""A hub under load keeps its memory and its descriptors: everything that comes also goes.

SAYSO_STEADY_S says for how long (an hour in `make soak`); a few seconds show that descriptors come back, not that memory
stays flat.
"""
from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import statistics
import threading
import time
from typing import Any, Callable

from harness import HANG_S, Home, Wire, WireError, counted, note, run, test, wait_until
from web_stage import Page, code_of, hello, link_of, start_hub
from wire_stage import MIB, choice, rss_bytes

STEADY_S = float(os.environ.get("SAYSO_STEADY_S", "4"))
FLAT_FROM_S = 120  # before that a hub still fills its pools
GROWTH_SHARE = 0.03
LIMITS = {"SAYSO_MAX_SESSIONS": "300", "SAYSO_ASKS_PER_MINUTE": "100000", "SAYSO_MAX_PENDING": "1000"}
TIMERS = 2  # of HTTP and of WebSocket: each gets its descriptor with its first connection and keeps it
numbers = itertools.count(1)


def descriptors(home: Home) -> int:
    return len(os.listdir(f"/proc/{home.hub_pid()}/fd"))


class Load(contextlib.AbstractContextManager):
    """Every kind of guest, again and again; each visit is a connection of its own."""

    def __init__(self, home: Home, port: int, person_token: str):
        self.home, self.port, self.token = home, port, person_token
        self.is_over = threading.Event()
        self.failures: list[BaseException] = []
        self.visits = 0
        self.is_empty = threading.Event()  # of those who wait for an answer
        kinds = (self.ask_and_leave, self.ask_and_wait, self.ask_and_wait, self.look, self.rest)
        self.guests = [threading.Thread(target=self.go_on, args=(kind, self.is_over)) for kind in kinds]
        self.people = [threading.Thread(target=self.go_on, args=(self.answer, self.is_empty)) for _ in range(2)]

    def go_on(self, visit: Callable[[], None], until: threading.Event) -> None:
        try:
            while not until.is_set():
                visit()
                self.visits += 1
        except BaseException as failure:
            self.failures.append(failure)
            self.is_over.set()
            self.is_empty.set()

    def hello(self, role: str) -> Wire:
        wire = Wire(self.home)
        wire.hello(role, **{"as": "steady"} if role == "agent" else {})
        return wire

    def ask_and_leave(self) -> None:
        with self.hello("agent") as wire:
            for _ in range(5):
                wire.start("ask/create", tool="provide_choice", arguments=choice(f"left {next(numbers)}", timeout_seconds=2))
            wire.call("mine/list")
        self.is_over.wait(0.5)

    def ask_and_wait(self) -> None:
        with self.hello("agent") as wire:
            for _ in range(20):
                result = wire.call("ask/create", tool="provide_choice", arguments=choice(f"waited {next(numbers)}", timeout_seconds=20))
                wire.call("ask/delivered", session_ids=[result["session_id"]])

    def answer(self) -> None:
        with self.hello("person") as wire:
            for _ in range(20):
                for ask in wire.call("ask/list", which="active")["asks"]:
                    with contextlib.suppress(WireError):  # another one was faster, or its time is over
                        wire.call("ask/answer", session_id=ask["session_id"], selected_ids=["a"])
                if self.is_empty.wait(0.01):
                    return

    def look(self) -> None:
        with Page(self.port) as page:
            hello(page, code=code_of(link_of(self.home)))
            page.call("ask/watch", remaining=True)
            page.call("ask/history", query="waited")
        self.is_over.wait(0.2)  # a tab each time: they are kept, the oldest go

    def rest(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        with contextlib.closing(connection):
            for path in ("/api/asks?limit=50", "/metrics", "/api/asks/nothing", "/readyz"):
                connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
                connection.getresponse().read()

    def __enter__(self) -> Load:
        for thread in self.guests + self.people:
            thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.is_over.set()
        for thread in self.guests:
            thread.join()
        self.is_empty.set()
        for thread in self.people:
            thread.join()


def sampled(home: Home, load: Load) -> list[int]:
    """The hub's memory, a hundred times over the whole run."""
    memory = []
    for _ in range(100):
        if load.is_over.wait(STEADY_S / 100):
            break
        memory.append(rss_bytes(home))
    return memory


@test("under a load of every kind of guest memory stays flat, and every descriptor comes back", "P20 R12.2")
def steady() -> None:
    with Home(env=LIMITS) as home:
        port = start_hub(home, "--no-browser")
        token = home.sayso("token", "new", "--kind", "person", "--label", "steady").out.split()[0]
        load = Load(home, port, token)
        before = descriptors(home) + TIMERS
        load.look()
        load.rest()
        wait_until(lambda: descriptors(home) == before, f"{before} descriptors after the first visits")
        with load:
            memory = sampled(home, load)
        if load.failures:
            raise load.failures[0]
        wait_until(lambda: descriptors(home) <= before, f"{before} descriptors, as before the load")
        second, last = (statistics.median(memory[at:at + 25]) for at in (25, 75))
        note(f"{second / MIB:.2f} MiB in the second quarter, {last / MIB:.2f} in the last")
        if STEADY_S >= FLAT_FROM_S:
            assert last <= second + max(MIB, second * GROWTH_SHARE), json.dumps(memory)
        counted(f"seconds={STEADY_S:.0f} visits={load.visits} asks={next(numbers) - 1} "
                f"grown_kib={(last - second) / 1024:.0f} descriptors={descriptors(home)} of {before}")


run()
