"""One of several hubs on one PostgreSQL is gone, killed or in good order: the others remind of its asks, once, and find out
that their agents are gone with it.

Proves: R13.1
"""
from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import libpq
from harness import SLACK, Home, run, test, wait_until
from hubs_stage import LOST, Background, Hubs, Refused

LEFT_S = 15  # of the minute after which is reminded, when the hubs that are left begin
MISSED_S = 60 * SLACK  # a hub that is silent for 12 s is gone, and the others look every 3; the rest is for a busy machine
DETACHED, REATTACHED = 11, 12


def ask_on(hubs: Hubs, place: int, title: str, **more: Any) -> tuple[Background, str]:
    """An agent that waits on one hub, and the ask's id once every hub knows it."""
    def act() -> Any:
        with contextlib.suppress(*LOST, Refused):  # its hub may be killed, or say good-bye
            return hubs.agent(hubs.hubs[place].port).ask(title, **more)
    call = Background(act)
    wait_until(lambda: all(seen(hubs, hub, title) for hub in alive(hubs)), f"every hub knows {title}")
    return call, seen(hubs, place, title)["session_id"]


def alive(hubs: Hubs) -> list[int]:
    return [hub.place for hub in hubs.hubs if hub.process]


def seen(hubs: Hubs, place: int, title: str) -> dict[str, Any]:
    return next((ask for ask in hubs.person(hubs.hubs[place].port).open() if ask["title"] == title), {})


def wait_detached(hubs: Hubs, title: str, is_detached: bool, timeout: float = MISSED_S) -> None:
    for place in alive(hubs):
        wait_until(lambda: seen(hubs, place, title)["detached"] == is_detached,
                   f"hub {place} {'sees that nobody waits' if is_detached else 'sees who waits'}", timeout)


def events_of(hubs: Hubs, id: str) -> list[int]:
    with libpq.Connection(hubs.url) as connection:
        return [kind for (kind,) in connection.run(f"SELECT kind FROM events WHERE ask = '{id}' ORDER BY seq")]


@test("agents of a hub that is killed are seen to be gone, and to be back when they call another hub", "R13.1 R5.5")
def killed(home: Home) -> None:
    with Hubs(3) as hubs:
        lost, left = ask_on(hubs, 0, "left")
        followed, moved = ask_on(hubs, 0, "moved")
        other, elsewhere = ask_on(hubs, 1, "elsewhere")
        wait_detached(hubs, "left", False)
        hubs.hubs[0].end(signal.SIGKILL)
        followed.result()
        follows = Background(lambda: hubs.agent(hubs.hubs[1].port).ask("moved"))  # before anybody misses that hub
        wait_detached(hubs, "left", True)
        assert events_of(hubs, left).count(DETACHED) == 1, "two hubs found out, and one said it"
        returned = Background(lambda: hubs.agent(hubs.hubs[2].port).ask("left"))
        wait_detached(hubs, "left", False)
        wait_detached(hubs, "moved", False)
        wait_detached(hubs, "elsewhere", False, 1)
        assert events_of(hubs, elsewhere) == [0], "whose hub is there was not touched"
        for title, id, call in (("left", left, returned), ("moved", moved, follows), ("elsewhere", elsewhere, other)):
            hubs.person(hubs.hubs[2].port).answer(id, f"about {title}")
            assert call.result()["selection"]["global_annotation"] == f"about {title}"


@test("agents of a hub that stops in good order show as gone immediately, even if it was the last hub", "R13.1 R5.5")
def drained(home: Home) -> None:
    with Hubs(2, env={"SAYSO_DRAIN_SECONDS": "0"}) as hubs:
        ask_on(hubs, 0, "first")
        hubs.hubs[0].end(signal.SIGTERM)
        wait_detached(hubs, "first", True, 10 * SLACK)
        call, id = ask_on(hubs, 1, "last")
        hubs.hubs[1].end(signal.SIGKILL)
        hubs.hubs[1].start()
        hubs.hubs[1].wait_ready()
        with libpq.Connection(hubs.url) as connection:  # it has been there for long enough to judge, and the other one silent for so long
            connection.run("UPDATE hubs SET since_ms = since_ms - 20000")
            connection.run(f"UPDATE hubs SET seen_ms = seen_ms - 20000 WHERE id = (SELECT hub FROM asks WHERE id = '{id}')")
        wait_detached(hubs, "last", True)
        hubs.hubs[0].start()
        hubs.hubs[0].wait_ready()


def told(path: Path) -> list[tuple[str, str, str]]:
    """Which hub told what of which ask."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [tuple(line.split(" ")) for line in lines if line.count(" ") == 2]


@test("reminders of a hub that is killed come from the others: one for each ask, at its time", "R13.1 R6.6")
def reminded(home: Home) -> None:
    path = home.path / "told"
    command = f'echo "$HOME $SAYSO_EVENT $SAYSO_ASK" >>{path}'
    with Hubs(3, env={"SAYSO_NOTIFY_COMMAND": command, "SAYSO_REMIND_MINUTES": "1"}) as hubs:
        homes = [hub.home.environment["HOME"] for hub in hubs.hubs]
        began = time.monotonic()
        waiting = [ask_on(hubs, place, title, timeout_seconds=900)[1] for title, place in (("one", 0), ("two", 0), ("three", 1))]
        answered = ask_on(hubs, 0, "answered", timeout_seconds=900)[1]
        wait_until(lambda: len(told(path)) == 4, "all are told of")
        assert [(home, event) for home, event, id in told(path) if id in waiting[:2]] == [(homes[0], "ask.created")] * 2
        hubs.person(hubs.hubs[1].port).answer(answered, "done")
        hubs.hubs[0].end(signal.SIGKILL)
        for hub in hubs.hubs[1:]:
            hub.end(signal.SIGTERM)
        with libpq.Connection(hubs.url) as connection:  # most of the minute has gone by
            connection.run(f"UPDATE asks SET created_ms = created_ms - {1000 * (60 - LEFT_S)}")
        for hub in hubs.hubs[1:]:
            hub.start()
        for hub in hubs.hubs[1:]:
            hub.wait_ready()
        hubs.hubs[2].pause()  # over the moment; what the other one did is not done again
        def reminders() -> list[tuple[str, str]]:
            return [(home, id) for home, event, id in told(path) if event == "ask.waiting"]
        wait_until(lambda: len(reminders()) >= 3, "the reminders")
        assert time.monotonic() - began >= LEFT_S, "they came early"
        hubs.hubs[2].proceed()
        _, last = ask_on(hubs, 2, "last", timeout_seconds=900)  # told of behind whatever that hub had to make up for
        wait_until(lambda: (homes[2], "ask.created", last) in told(path), "the last is told of")
        assert Counter(id for _, id in reminders()) == Counter(waiting), told(path)
        assert {home for home, _ in reminders()} == {homes[1]}, told(path)


run()
