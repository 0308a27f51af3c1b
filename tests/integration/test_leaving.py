"""A hub that is told to stop answers what it accepted: whatever it is reading or writing at that moment, an agent or a
person is told what the database holds, or nothing.

Proves: R10.5 R5.3 P1
"""
from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import sqlite3
from typing import Any, Iterator

import libpq
import postgres
from api import LIMITS
from harness import HANG_S, Home, Wire, needs_file, run, test, wait_until
from hubs_stage import LOST, Agent, Background, Hub, Hubs, Person, Refused, bad_event, question, rows_of

NOTE = "the word of this answer"
READS = "FROM asks "
WRITES = r"FROM sayso_change\("
CREATES = r"FROM (asks |sayso_create\()"  # only some read before they make one
INDEXING = "FROM unindexed u "  # reads asks too, on its own, some time after a start


class Stage(contextlib.AbstractContextManager):
    """One hub on a database of PostgreSQL's, started again for each act; asks of an earlier one have to be read."""

    def __init__(self) -> None:
        with contextlib.ExitStack() as stack:
            self.url = postgres.shared().new_database()
            stack.callback(lambda: postgres.shared().drop_database(self.url))
            self.hub = Hub(0, self.url)
            stack.enter_context(self.hub.home)
            self.start()
            self.tokens = {kind: self.hub.home.sayso("token", "new", "--kind", kind, "--label", "t").out.split()[0]
                           for kind in ("person", "agent")}
            self.stack = stack.pop_all()

    def start(self) -> None:
        self.hub.start()
        self.hub.wait_ready()

    def ask(self, title: str) -> str:
        """An ask that the running hub knows from the database alone."""
        with Wire(self.hub.home) as wire:
            wire.hello("agent", **{"as": "asker"})
            id = wire.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=question(title))["session_id"]
        assert self.hub.end(signal.SIGINT) == 0, self.hub.said()
        self.start()
        return id

    @contextlib.contextmanager
    def locked(self, mode: str) -> Iterator[libpq.Connection]:
        with libpq.Connection(self.url) as lock:
            lock.run("BEGIN")
            lock.run(f"LOCK TABLE asks IN {mode} MODE")
            yield lock

    def wait_held(self, words: str) -> None:
        """Until a statement of the hub's with these words waits for the lock."""
        with libpq.Connection(self.url) as looking:
            wait_until(lambda: looking.rows("SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                                            " AND wait_event_type = 'Lock' AND query ~ $1 AND query !~ $2", words, INDEXING),
                       "the act waits")

    def tell_to_stop(self) -> None:
        """Returns once the hub has done all that it does when it is told."""
        self.hub.process.send_signal(signal.SIGINT)
        wait_until(lambda: "hub.leaving" in self.hub.said().rpartition("hub.ready")[2], "it leaves")
        wait_until(lambda: is_asleep(self.hub.process.pid), "it waits for the database")

    def row(self, title: str) -> Any:
        return next((row for row in rows_of(self.url) if row.question == title), None)

    def by_rest(self, act: str, id: str, title: str) -> Any:
        person = Person(self.hub.port, self.tokens["person"])
        if act == "answer":
            return person.answer(id, NOTE)["status"]
        reply = person.request("POST", f"/api/asks/{id}/cancel", {})
        if reply.status != 200:
            raise Refused(reply.status, reply.error if reply.body else {})
        return reply.json["status"]

    def by_wire(self, act: str, id: str, title: str) -> Any:
        with Wire(self.hub.home) as wire:
            wire.hello("agent" if act == "create" else "person")
            if act == "create":
                return wire.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=question(title))["session_id"]
            more = {"selected_ids": ["left"], "global_annotation": NOTE} if act == "answer" else {}
            return wire.call(f"ask/{act}", session_id=id, **more)["status"]

    def by_mcp(self, act: str, id: str, title: str) -> Any:
        return Agent(self.hub.port, self.tokens["agent"]).ask(title)["session_id"]

    def wait_end(self) -> None:
        assert self.hub.process.wait(HANG_S) == 0, self.hub.said()
        self.hub.home.spawned.remove(self.hub.process)
        self.hub.process = None
        self.hub.assert_sound()

    def __exit__(self, *_: Any) -> None:
        with self.stack:
            self.hub.end(signal.SIGTERM)


def is_asleep(pid: int) -> bool:
    """Or gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "SZ"
    except FileNotFoundError:
        return True


ACTS = [("rest", "answer"), ("rest", "cancel"), ("wire", "answer"), ("wire", "cancel"), ("wire", "create"), ("mcp", "create")]


@test("an act that is being read when the hub is told to stop is answered, and is what the database has", "R10.5 R5.3 P1")
def answered_though_leaving() -> None:
    with Stage() as stage:
        for door, act in ACTS:
            title = f"{act} by {door}"
            id = stage.ask(title) if act != "create" else ""
            with stage.locked("ACCESS EXCLUSIVE") as lock:
                acting = Background(lambda: getattr(stage, f"by_{door}")(act, id, title))
                stage.wait_held(CREATES if act == "create" else READS)
                stage.tell_to_stop()
                lock.run("COMMIT")
            outcome = told(acting)
            stage.wait_end()
            row = stage.row(title)
            wanted = {"answer": "submitted", "cancel": "cancelled", "create": row and row.ask_id}[act]
            assert outcome == wanted, (title, outcome, row)
            assert row.status == ("pending" if act == "create" else wanted), (title, row)
            assert row.answers == ([NOTE] if act == "answer" else row.answers), (title, row)
            stage.start()


def told(acting: Background) -> str:
    try:
        return str(acting.result(HANG_S))
    except Refused as refused:
        return f"refused: {refused}"
    except LOST:
        return "nothing"


@test("an act that outlasts the hub's patience is told nothing, or the truth; those who wait hear why the hub goes", "R10.5 R10.3 P1")
def told_the_truth_at_the_limit() -> None:
    with Stage() as stage:
        for mode, words in (("SHARE", WRITES), ("ACCESS EXCLUSIVE", READS)):
            title = f"held by {mode}"
            id = stage.ask(title)
            with stage.locked(mode) as lock, Wire(stage.hub.home) as watching:
                watching.hello("person")
                acting = Background(lambda: stage.by_rest("answer", id, title))
                stage.wait_held(words)
                stage.hub.process.send_signal(signal.SIGINT)
                outcome = told(acting)
                assert watching.read()["method"] == "hub/closing", watching.events
                lock.run("COMMIT")
            stage.wait_end()
            row = stage.row(title)
            assert outcome != "submitted" or row.answers == [NOTE], (outcome, row)
            assert not outcome.startswith("refused") or row.answers == [], (outcome, row)
            stage.start()


@test("an act that is being written to the file when the hub is told to stop is answered, and is what the file has", "R10.5 P1")
def answered_from_the_file(home: Home) -> None:
    assert home.sayso("list").code == 0
    pid = home.hub()["pid"]
    with Wire(home) as agent, Wire(home) as person, Wire(home) as stopping:
        agent.hello("agent")
        asks = [agent.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=question(f"file {number}"))["session_id"]
                for number in range(3)]
        person.hello("person")
        stopping.hello("person")
        lock = sqlite3.connect(home.data / "sayso.db", isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        acts = [person.start("ask/answer", session_id=asks[0], selected_ids=["left"]),
                person.start("ask/cancel", session_id=asks[1])]
        made = agent.start("ask/create", tool="provide_choice", wait_seconds=0, arguments=question("made late"))
        for wire in (person, agent):
            wire.call("hub/status")  # behind the acts: they are accepted
        stopping.call("hub/stop")
        wait_until(lambda: is_asleep(pid), "it waits for the file")
        lock.execute("COMMIT")
        lock.close()
        assert [person.finish(act)["status"] for act in acts] == ["submitted", "cancelled"]
        late = agent.finish(made)["session_id"]
    wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "it has ended")
    shown = [home.sayso("show", id, "--json").json for id in (*asks, late)]
    assert [one["ask"]["status"] for one in shown] == ["submitted", "cancelled", "pending", "pending"], shown


WAITING, MARKED_AT_ONCE = 800, 500  # calls; how many asks one event tells of (BEAT_LEFT)
MARKS = "SELECT count(*) FROM events WHERE kind = 11"


def hold(home: Home, count: int) -> Wire:
    """An agent with so many calls that wait, each for an ask of its own that is stored."""
    agent = Wire(home)
    agent.hello("agent", **{"as": "waiter"})
    for number in range(count):
        agent.start("ask/create", tool="provide_choice", tag=f"{number}", arguments=question(f"waits {number}"))
    for _ in range(count):
        while (message := agent.read()).get("method") != "ask/created":
            assert "error" not in message, message
    return agent


def detached(home: Home) -> tuple[int, int]:
    """Of the open asks that a person is shown, how many no agent waits for."""
    asks = home.sayso("list", "--json", "--limit", "10000").json
    return len(asks), sum(ask["detached"] for ask in asks)


def marks_in(connection: Any) -> int:
    """Events that say that an agent stopped waiting."""
    ((count,),) = connection.execute(MARKS) if isinstance(connection, sqlite3.Connection) else connection.rows(MARKS)
    return count


@test("a hub that stops marks the asks of all its waiting agents with few events, and the other hubs show it", "R10.5 R5.5")
def marked_together() -> None:
    with Hubs(2) as hubs, libpq.Connection(hubs.url) as database:
        leaving, staying = hubs.hubs
        with hold(leaving.home, WAITING), Wire(staying.home) as other:
            wait_until(lambda: detached(staying.home) == (WAITING, 0), "all are known there")
            other.hello("agent", **{"as": "waiter"})  # one of them is waited for there, too
            other.start("ask/create", tool="provide_choice", tag="here", arguments=question("waits 7"))
            wait_until(lambda: other.read().get("method") == "ask/created", "it waits there")
            assert leaving.end(signal.SIGTERM) == 0, leaving.said()
            assert marks_in(database) == -(-WAITING // MARKED_AT_ONCE), marks_in(database)
            wait_until(lambda: detached(staying.home) == (WAITING, WAITING - 1), "it is shown there")
        wait_until(lambda: detached(staying.home) == (WAITING, WAITING), "that agent has left, too")
        assert bad_event(hubs.url) == 0


@test("a hub on a file that stops marks nothing, and the next one marks all with one event, also after a crash", "R10.5 R5.5")
def marked_at_the_start() -> None:
    needs_file()
    with Home(env=LIMITS) as home:
        home.sayso("list")
        with hold(home, 300):
            assert detached(home) == (300, 0)
            assert home.sayso("stop").code == 0
        with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as file:
            assert marks_in(file) == 0, marks_in(file)
            assert detached(home) == (300, 300) and marks_in(file) == 1, marks_in(file)
            with hold(home, 2):
                assert detached(home) == (300, 298)
                os.kill(home.hub()["pid"], signal.SIGKILL)
            wait_until(lambda: not pathlib.Path(f"/proc/{home.hub()['pid']}").exists(), "it is gone")
            assert detached(home) == (300, 300) and marks_in(file) == 2, marks_in(file)


run()
