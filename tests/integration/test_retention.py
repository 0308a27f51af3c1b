"""Retention (R9.1) while other things happen: it goes on where a hub was killed, and hubs that share a database and
do it at the same time don't block each other."""
from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from typing import Any

import libpq
from api import LIMITS
from harness import CRASH_BIN, HANG_S, Home, Wire, note, run, test, wait_until
from hubs_stage import Hubs, bad_event, question
from kill_stage import Doomed

MANY, KEPT = 260, 20
ALL = {"SAYSO_MAX_SESSIONS": "1000000"}


@contextlib.contextmanager
def served(home: Home, **env: str) -> Any:
    hub = home.spawn("serve", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: home.hub().get("pid") == hub.pid, "the hub serves")
        yield
    finally:
        hub.terminate()
        hub.wait(HANG_S)
        home.spawned.remove(hub)


def finish_many(home: Home) -> None:
    with Wire(home) as agent, Wire(home) as person:
        agent.hello("agent", name="many")
        person.hello("person")
        for number in range(MANY):
            id = agent.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=question(f"Road {number}"))["session_id"]
            person.call("ask/answer", session_id=id, selected_ids=["left"])
            agent.send({"jsonrpc": "2.0", "method": "ask/delivered", "params": {"session_ids": [id]}})
        agent.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=question("stays open"))


def count(home: Home, sql: str) -> int:
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database:
        return database.execute(sql).fetchone()[0]


@test("retention that was killed in the middle goes on at the next start", "R9.1")
def killed() -> None:
    with Home(CRASH_BIN, LIMITS) as home:
        with served(home, **ALL):
            finish_many(home)
        assert count(home, "SELECT count(*) FROM asks") == MANY + 1
        left = MANY + 1
        for point in ("store_sweep_dropped:130", "store_sweep_unindexed:50", "store_index_merged:2"):
            before = left
            with Doomed(home, point, SAYSO_MAX_SESSIONS=str(KEPT)) as hub:
                assert hub.is_dead(HANG_S), f"{point} was not reached"
            left = count(home, "SELECT count(*) FROM asks")
            note(f"{point}: {before} asks before, {left} after")
            assert KEPT + 1 < left <= before
        assert left < MANY + 1
        with served(home, SAYSO_MAX_SESSIONS=str(KEPT)):
            wait_until(lambda: count(home, "SELECT count(*) FROM asks") == KEPT + 1, "the rest goes")
        assert count(home, "SELECT count(*) FROM asks WHERE title = 'stays open'") == 1
        assert count(home, "SELECT count(*) FROM events WHERE form IS NOT NULL") == KEPT + 1
        with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database:
            database.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def row_count(hubs: Hubs, sql: str) -> int:
    with libpq.Connection(hubs.url) as connection:
        return connection.run(sql)[0][0]


def ask_and_answer(hubs: Hubs, title: str) -> None:
    agent, person = hubs.agent(), hubs.person()
    id = agent.call("provide_choice", question(title, interface="terminal"))["session_id"]  # returns immediately
    person.answer(id, title)
    wait_until(lambda: agent.collect(id)["action_status"] == "selected", f"{title} is answered")


@test("two hubs drop asks above the limit at the same time, and people are served while they do", "R9.1")
def two_at_once() -> None:
    with Hubs(2) as hubs:
        for number in range(60):
            ask_and_answer(hubs, f"Road {number}")
        for hub in hubs.hubs:
            hub.end()
            hub.home.environment["SAYSO_MAX_SESSIONS"] = "10"
        for hub in hubs.hubs:
            hub.start()
        for hub in hubs.hubs:
            hub.wait_ready()
        for number in range(12):
            ask_and_answer(hubs, f"Meanwhile {number}")
        wait_until(lambda: row_count(hubs, "SELECT count(*) FROM asks") <= 10, "what is too many is gone")
        assert row_count(hubs, "SELECT count(*) FROM words w WHERE NOT EXISTS (SELECT FROM asks k WHERE k.number = w.number)") == 0
        assert bad_event(hubs.url) == 0
        assert "retention.failed" not in hubs.said(), hubs.said()[-3000:]


run()
