"""Hubs die by kill -9, at random moments and at every crash point, while agents wait and people
decide. An oracle keeps what was sent, what was acknowledged and what came out: nothing that was
acknowledged may be lost, nothing may come twice, nothing may come that nobody sent.
"""
from __future__ import annotations

import contextlib
import datetime
import glob
import itertools
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from typing import Any, Callable, Iterator, NamedTuple

from harness import CRASH_BIN, ROOT, Home, Skip, Wire, WireError, counted, run, scaled, test, wait_until

KILLS = scaled(390)
CRASHES_PER_POINT = scaled(3)
RESTARTS = scaled(100)
HANG_S = 60  # far longer than anything here takes: only catches hangs

PRINCIPAL = "kill test"
OPTIONS = ("ash", "birch", "cedar", "elm", "fir")
LIMITS = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}
LOST = (ConnectionError, EOFError, FileNotFoundError)  # the hub is gone, or not there yet


def arguments(title: str, **more: Any) -> dict[str, Any]:
    options = [{"id": option, "label": option.title()} for option in OPTIONS]
    options[0]["recommended"] = True
    return {"title": title, "prompt": "Which trees shall be planted along the road?",
            "selection_mode": "multi", "options": options, "timeout_seconds": 3600, **more}


class Decision(NamedTuple):
    """What a person sends, or what an agent is told. No two that are sent have the same note."""
    method: str
    picks: tuple[str, ...]
    note: str

    def params(self, session_id: str) -> dict[str, Any]:
        params = {"session_id": session_id, "global_annotation": self.note, "answer_key": self.note}
        return {**params, "selected_ids": list(self.picks)} if self.picks else params


numbers = itertools.count(1)


def new_decision() -> Decision:
    method = random.choice(["ask/answer"] * 8 + ["ask/cancel", "ask/decline"])
    picks = random.sample(OPTIONS, random.randint(1, len(OPTIONS))) if method == "ask/answer" else ()
    return Decision(method, tuple(sorted(picks)), f"note {next(numbers)}")


def decision_of(result: dict[str, Any]) -> Decision:
    status = result["action_status"]
    if status == "cancelled":
        status = "ask/decline" if result.get("declined") else "ask/cancel"
    selection = result["selection"]
    return Decision("ask/answer" if status == "selected" else status,
                    tuple(selection["selected_ids"]), selection.get("global_annotation", ""))


class Abandoned(Exception):
    """The test has failed: whoever waits need not wait on."""


class Oracle:
    """What everybody says happened. `wrong` lists where that contradicts what was promised."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_abandoned = threading.Event()
        self.sent: dict[str, set[Decision]] = {}
        self.acknowledged: dict[str, Decision] = {}
        self.received: dict[str, tuple[str, Decision]] = {}
        self.wrong: list[str] = []

    def complain(self, words: str) -> None:
        with self.lock:
            self.wrong.append(words)

    def ask(self, title: str) -> None:
        with self.lock:
            self.sent[title] = set()

    def send(self, title: str, decision: Decision) -> bool:
        """False for asks that are not to be decided."""
        with self.lock:
            if title in self.sent:
                self.sent[title].add(decision)
            return title in self.sent

    def acknowledge(self, title: str, decision: Decision) -> None:
        with self.lock:
            first = self.acknowledged.setdefault(title, decision)
            if first != decision:
                self.wrong.append(f"doubled: {title}: {first} and {decision} are acknowledged")

    def receive(self, title: str, result: dict[str, Any]) -> None:
        with self.lock:
            if title in self.received:
                self.wrong.append(f"doubled: {title} was told twice")
            self.received[title] = (result["session_id"], decision_of(result))

    def judge(self) -> dict[str, int]:
        lost = [f"lost: {title}: {decision} was acknowledged, {self.received.get(title)} came"
                for title, decision in self.acknowledged.items()
                if self.received.get(title, ("", None))[1] != decision]
        invented = [f"invented: {title}: {decision}, sent were {self.sent[title]}"
                    for title, (_, decision) in self.received.items()
                    if decision not in self.sent[title]]
        silent = [f"never told: {title}" for title in self.sent if title not in self.received]
        wrong = [*self.wrong, *lost, *invented, *silent]
        assert not wrong, f"{len(wrong)} wrong: " + "\n".join(wrong[:10])
        return {"asks": len(self.received), "acks": len(self.acknowledged), "lost": len(lost),
                "doubled": 0, "invented": len(invented)}


class Crew(contextlib.AbstractContextManager):
    """Threads that work until they are told to stop; whatever goes wrong in one is told at the end."""

    def __init__(self, home: Home, oracle: Oracle):
        self.home, self.oracle = home, oracle
        self.is_over = threading.Event()
        self.failures: list[BaseException] = []
        self.threads: list[threading.Thread] = []

    def add(self, count: int, work: Callable, *args: Any) -> None:
        """Calls work(*args) again and again in so many threads."""
        def loop() -> None:
            try:
                while not self.is_over.is_set():
                    work(*args)
            except BaseException as failure:  # told by end()
                self.failures.append(failure)
        for _ in range(count):
            self.threads.append(threading.Thread(target=loop, daemon=True))
            self.threads[-1].start()

    def end(self) -> None:
        """Lets everybody finish what they are at."""
        self.is_over.set()
        for thread in self.threads:
            thread.join(2 * HANG_S)
            assert not thread.is_alive(), "a worker hangs"
        if self.failures:
            raise self.failures[0]

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.is_over.set()
        if kind is None:
            self.end()
            return
        self.oracle.is_abandoned.set()
        for process in list(self.home.spawned):
            process.kill()
        for thread in self.threads:
            thread.join(HANG_S)
        time.sleep(0.5)  # a hub may be half started: let it be found and ended

    def check(self) -> None:
        """Stops a test that has failed already."""
        if self.failures:
            raise self.failures[0]
        assert not self.oracle.wrong, "\n".join(self.oracle.wrong[:10])


class Agent:
    """Asks as `sayso ask` does: after a crash it takes up its ask by id, or else calls again."""

    def __init__(self, home: Home, oracle: Oracle):
        self.home, self.oracle = home, oracle

    def ask(self, title: str, **more: Any) -> dict[str, Any]:
        session_id = ""
        while True:
            wire = None
            try:
                wire = Wire(self.home)
                wire.hello("agent", **{"as": PRINCIPAL})
                call = (wire.start("ask/wait", session_id=session_id, wait_seconds=-1) if session_id
                        else wire.start("ask/create", tool="provide_choice", tag=title,
                                        arguments=arguments(title, **more)))
                result = wire.finish(call, HANG_S)
                break
            except LOST:
                self.pause()
            finally:
                session_id = self.learn_id(title, session_id, wire)
        if session_id and session_id != result["session_id"]:
            self.oracle.complain(f"doubled: {title} is {session_id} and {result['session_id']}")
        self.deliver(result["session_id"])
        return result

    def learn_id(self, title: str, known: str, wire: Wire | None) -> str:
        for event in wire.events if wire else ():
            if event.get("method") == "ask/created":
                told = event["params"]["session_id"]
                if known and known != told:
                    self.oracle.complain(f"doubled: {title} is {known} and {told}")
                known = told
        if wire:
            wire.stop()
        return known

    def deliver(self, session_id: str) -> None:
        while True:
            with contextlib.suppress(*LOST), Wire(self.home) as wire:
                wire.hello("agent", **{"as": PRINCIPAL})
                wire.call("ask/delivered", HANG_S, session_ids=[session_id])
                return
            self.pause()

    def pause(self) -> None:
        if self.oracle.is_abandoned.is_set():
            raise Abandoned
        time.sleep(0.002)

    def decided(self) -> None:
        title = f"ask {next(numbers)}"
        self.oracle.ask(title)
        self.oracle.receive(title, self.ask(title))

    def expiring(self) -> None:
        """Nobody answers these: neither a deadline nor a crash may yield a selection."""
        title = f"short {next(numbers)}"
        seen = decision_of(self.ask(title, timeout_seconds=1))
        if seen != Decision("timeout", (), ""):
            self.oracle.complain(f"invented: {title} ended with {seen}")

    def program(self) -> None:
        """The same by the real program, which also starts the hub when it is gone."""
        title = f"program {next(numbers)}"
        self.oracle.ask(title)
        said = self.home.sayso("ask", "--json", "--as", PRINCIPAL, "--from", "-",
                               input=json.dumps(arguments(title)), timeout=HANG_S)
        if said.code not in (0, 3):
            self.oracle.complain(f"sayso ask ended with {said.code}: {said.out}{said.err}")
        else:
            self.oracle.receive(title, said.json)


class Person:
    """Decides what waits. A decision whose reply was lost is sent again, or forgotten, by chance."""

    def __init__(self, home: Home, oracle: Oracle, may_miss: bool = False):
        self.home, self.oracle, self.may_miss = home, oracle, may_miss

    def work(self) -> None:
        unsure: tuple[str, str, Decision] | None = None
        with contextlib.suppress(*LOST), Wire(self.home) as wire:
            wire.hello("person")
            while random.random() > 0.02:  # now and then a new connection
                chosen, unsure = unsure or self.choose(wire), None
                if not chosen or not self.oracle.send(chosen[0], chosen[2]):
                    time.sleep(0.002)
                    continue
                unsure = chosen if random.random() < 0.5 else None
                self.decide(wire, *chosen)
                unsure = None
        if unsure:
            with contextlib.suppress(*LOST), Wire(self.home) as wire:
                wire.hello("person")
                self.decide(wire, *unsure)
        time.sleep(0.002)

    def choose(self, wire: Wire) -> tuple[str, str, Decision] | None:
        asks = wire.call("ask/list", HANG_S, which="active", limit=40)["asks"]
        ask = random.choice(asks) if asks else None
        return (ask["title"], ask["session_id"], new_decision()) if ask else None

    def decide(self, wire: Wire, title: str, session_id: str, decision: Decision) -> None:
        try:
            wire.call(decision.method, HANG_S, **decision.params(session_id))
            self.oracle.acknowledge(title, decision)
        except WireError as error:
            code = error.data["code"]
            if code == "already_answered" and not error.data["detail"]["answered_by"]:
                self.oracle.complain(f"nobody won: {title}: {error}")
            if code != "already_answered" and not (self.may_miss and code == "not_found"):
                self.oracle.complain(f"refused: {title}: {error}")


def collect_again(home: Home, oracle: Oracle) -> None:
    """Any later look gets the same."""
    with Wire(home) as wire:
        wire.hello("agent", **{"as": PRINCIPAL})
        for title, (session_id, decision) in oracle.received.items():
            result = wire.call("ask/wait", session_id=session_id, wait_seconds=0)
            if decision_of(result) != decision:
                oracle.complain(f"lost: {title} was {decision}, now {decision_of(result)}")


def look_into_store(path: str, oracle: Oracle, may_miss: bool = False) -> None:
    """A question is never there twice, and the file is sound. No hub may be running."""
    with contextlib.closing(sqlite3.connect(path)) as store:
        (verdict,) = store.execute("PRAGMA integrity_check").fetchone()
        assert verdict == "ok", verdict
        counts = Counter(title for (title,) in store.execute("SELECT title FROM asks"))
    for title in oracle.sent:
        if counts[title] != 1 and not (may_miss and counts[title] == 0):
            oracle.complain(f"doubled: {title} was asked {counts[title]} times")


def print_counts(**counts: int) -> None:
    counted(" ".join(f"{name}={count}" for name, count in counts.items()))


@test("kill -9 at random moments loses, doubles and invents no decision", "P1 P7 P9 R5.2 R5.5")
def random_kills() -> None:
    home, oracle = Home(env=LIMITS), Oracle()
    home.config.mkdir(parents=True)
    assert home.sayso("settings", "set", "max_sessions", "1000000").code == 0
    agent, person = Agent(home, oracle), Person(home, oracle)
    with Crew(home, oracle) as people, Crew(home, oracle) as agents:
        people.add(2, person.work)
        agents.add(3, agent.program)
        agents.add(5, agent.decided)
        agents.add(1, agent.expiring)
        for _ in range(KILLS):
            wait_until(home.hub_pid, "the agents start the hub again", HANG_S)
            time.sleep(random.uniform(0.002, 0.2))
            home.kill_hub()
            agents.check()
            people.check()
        agents.end()
    home.sayso("list")
    collect_again(home, oracle)
    path = home.sayso("status", "--json").json["store"]
    home.sayso("stop")
    look_into_store(path, oracle)
    print_counts(cycles=KILLS, **oracle.judge())


def children() -> set[int]:
    """Of this process; hubs come to it because it is their subreaper (see harness.run)."""
    found: set[int] = set()
    for task in pathlib.Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            found |= set(map(int, task.read_text().split()))
    return found


@test("a client outlives the death of the hub that it is just starting", "P1 R5.5")
def killed_while_starting() -> None:
    for _ in range(scaled(20)):
        with Home() as home:
            others = children()
            client = home.spawn("list", "--json")
            while client.poll() is None and not (young := children() - others - {client.pid}):
                pass
            for pid in young:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            out, err = client.communicate(timeout=HANG_S)
            home.spawned.remove(client)
            assert client.returncode == 0 and json.loads(out) == [], f"{out}{err}"


def crash_points() -> list[str]:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    sources = (ROOT / "src").rglob("*.c")
    found = {name for file in sources for name in re.findall(r"CRASH_POINT\((\w+)\)", file.read_text())}
    assert len(found) >= 30, found
    return sorted(found)


STARTING = re.compile("store_(file_made|log_on|moved_aside|migration_.*)$")


class Doomed(contextlib.AbstractContextManager):
    """A hub in the foreground that kills itself at a crash point."""

    def __init__(self, home: Home, point: str, **env: str):
        self.home = home
        self.log = open(home.path / "serve.log", "a")
        self.process = home.spawn("serve", env={"SAYSO_CRASH_POINT": point, **env},
                                  stdout=self.log, stderr=self.log)

    def is_dead(self, within_s: float) -> bool:
        """True if it was the crash point. One that was not reached is stopped."""
        deadline = time.monotonic() + within_s
        while self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(HANG_S) == -signal.SIGKILL

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.home.spawned.remove(self.process)
        self.log.close()
        said = (self.home.path / "serve.log").read_text(errors="replace")
        assert "Sanitizer" not in said and "runtime error" not in said, said


def starting_rounds() -> Iterator[tuple[str, int]]:
    passes = {"store_migration_part": 4, "store_moved_aside": 3}
    for point in filter(STARTING.match, crash_points()):
        count = passes.get(point, 1)
        for number in range(max(count, CRASHES_PER_POINT)):
            yield point, number % count + 1


def plant_damage(home: Home) -> tuple[pathlib.Path, bytes]:
    home.sayso("list")
    path = pathlib.Path(home.sayso("status", "--json").json["store"])
    home.sayso("stop")
    damage = b"SQLite format 3\0" + random.randbytes(20000)
    path.write_bytes(damage)
    return path, damage


@test("a start that dies half way does not spoil the next", "P1 R5.2")
def starting_crashes() -> None:
    hits: Counter[str] = Counter()
    for point, pass_number in starting_rounds():
        with Home(CRASH_BIN, LIMITS) as home:
            path, damage = plant_damage(home) if point == "store_moved_aside" else (home.path, b"")
            with Doomed(home, f"{point}:{pass_number}") as hub:
                wait_until(lambda: hub.process.poll() is not None or home.hub_pid(), "dead or up")
                hits[point] += hub.is_dead(0)
            asked = home.sayso("ask", "--json", "--wait", "0", "--from", "-",
                               input=json.dumps(arguments("after")))
            assert asked.code == 5, asked
            assert home.sayso("answer", "--select", "elm").code == 0
            again = home.sayso("ask", "--json", "--from", "-", input=json.dumps(arguments("after")))
            assert again.json["selection"]["selected_ids"] == ["elm"], again
            kept = [file.read_bytes() for file in path.parent.glob(path.name + ".damaged*")]
            assert not damage or damage in kept, "a damaged file was not kept"
    print_counts(cycles=hits.total(), points=len(hits))
    assert all(hits.values()), f"never reached: {hits}"


class Tour:
    """What agents and people here do not do anyway: drafts, settings, tokens, undo."""

    def __init__(self, home: Home, oracle: Oracle):
        self.home, self.oracle = home, oracle
        self.left: set[str] = set()  # asks that a crash interrupted

    def work(self) -> None:
        with contextlib.suppress(*LOST), Wire(self.home) as agent, Wire(self.home) as person:
            agent.hello("agent", **{"as": PRINCIPAL})
            person.hello("person", channel="terminal")
            while self.left:
                with contextlib.suppress(WireError):  # a person may have ended it
                    agent.call("ask/withdraw", session_id=next(iter(self.left)))
                self.left.pop()
            title = f"tour {next(numbers)}"
            id = agent.call("ask/create", tool="provide_choice", wait_seconds=0,
                            arguments=arguments(title))["session_id"]
            self.left.add(id)
            person.call("settings/set", name="theme", value=random.choice(["light", "dark"]))
            person.call("ask/draft", session_id=id, draft={"selected_ids": ["ash"]})
            person.call("token/revoke", id=person.call("token/new", label=title)["id"])
            person.call("ask/answer", session_id=id, selected_ids=["birch"])
            person.call("ask/undo", session_id=id)
            person.call("ask/cancel", session_id=id)
            self.left.clear()
            seen = agent.call("ask/wait", session_id=id, wait_seconds=0)
            if seen["action_status"] != "pending":  # it can still be taken back
                self.oracle.complain(f"too early: {title}: {seen}")
        time.sleep(0.05)


def crash_rounds() -> Iterator[tuple[str, int]]:
    passes = [1, *(random.randint(2, 6) for _ in range(CRASHES_PER_POINT - 1))]
    for point, number in itertools.product(crash_points(), passes):
        if "checkpoint" in point or point == "store_drained":
            yield point, 1
        elif point == "store_deadlines_shifted":
            yield point, random.randint(1, 2)
        elif not STARTING.match(point):
            yield point, number


def crash_once(home: Home, point: str, number: int) -> bool:
    """Runs a hub until it has crashed, if it ever gets there."""
    env, step = {"SAYSO_MAX_SESSIONS": "20" if "sweep" in point else "1000000"}, home.path / "step"
    if point == "store_deadlines_shifted":
        (library,) = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        step.write_text("+0")
        env |= {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(step), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "ASAN_OPTIONS": "verify_asan_link_order=0"}
    with Doomed(home, f"{point}:{number}", **env) as hub:
        if point == "store_deadlines_shifted":
            wait_until(lambda: hub.process.poll() is not None or home.hub_pid(), "it is up")
            step.write_text("+3600")
        return hub.is_dead(0.3 if point == "store_drained" else 10)


@test("kill -9 at every crash point loses, doubles and invents no decision", "P1 P7 P9 R5.2")
def crashes() -> None:
    home, oracle, hits = Home(CRASH_BIN, LIMITS), Oracle(), Counter()
    agent, person = Agent(home, oracle), Person(home, oracle, may_miss=True)
    with Crew(home, oracle) as people, Crew(home, oracle) as agents:
        people.add(2, person.work)
        agents.add(5, agent.decided)
        agents.add(2, agent.expiring)
        agents.add(1, Tour(home, oracle).work)
        for point, number in crash_rounds():
            hits[point] += crash_once(home, point, number)
            agents.check()
            people.check()
        last = Doomed(home, "none")
        agents.end()
    path = home.sayso("status", "--json").json["store"]
    last.__exit__()
    look_into_store(path, oracle, may_miss=True)
    print_counts(cycles=hits.total(), points=len(+hits), **oracle.judge())
    missed = hits.keys() - (+hits).keys()
    assert not missed, f"no round reaches {missed}"


def utc(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


def ask_and_leave(home: Home, title: str, **more: Any) -> str:
    said = home.sayso("ask", "--json", "--wait", "0", "--as", PRINCIPAL, "--from", "-",
                      input=json.dumps(arguments(title, **more)))
    assert said.code == 5, said
    return said.json["session_id"]


def ask_and_wait(home: Home, title: str, **more: Any) -> subprocess.Popen:
    """The program itself, waiting; it starts the hub whenever there is none."""
    waiting = home.spawn("ask", "--json", "--as", PRINCIPAL, "--from", "-")
    waiting.stdin.write(json.dumps(arguments(title, **more)))
    waiting.stdin.close()
    waiting.stdin = None  # communicate() would flush it
    return waiting


def listed(home: Home) -> dict[str, dict[str, Any]]:
    """Every ask by its id. Starts a hub if there is none."""
    return {ask["session_id"]: ask for ask in home.sayso("list", "--json").json}


@test("pending asks survive restarts by kill -9 with their deadline", "P5 R5.2 R5.4")
def deadlines(home: Home) -> None:
    ids = [ask_and_leave(home, f"within {seconds}", timeout_seconds=seconds)
           for seconds in (600, 86400, 2592000)]
    due = {id: 2 * (utc(ask["created_at"]) + int(ask["title"].split()[1]),)
           for id, ask in listed(home).items()}  # not before, not after
    earliest = time.time()
    assert home.sayso("extend", ids[0], "900").code == 0
    due[ids[0]] = (earliest + 900, time.time() + 900)
    worst = 0.0
    for _ in range(RESTARTS):
        home.kill_hub()
        before = time.time()
        asks = listed(home)
        after = time.time()
        assert asks.keys() == due.keys(), asks
        for id, (first, last) in due.items():
            left = asks[id]["remaining_seconds"]  # rounded up
            worst = max(worst, first - after - left, left - (last - before + 1))
        assert worst <= 1, f"a deadline moved by {worst:.3f} s"
    counted(f"restarts={RESTARTS} asks={len(due)} worst_error_s={worst:.3f}")


@test("a deadline that comes while there is no hub, or right after a crash, is kept", "P5 P7 R5.4")
def late_deadlines(home: Home) -> None:
    asleep = ask_and_leave(home, "nobody is up", timeout_seconds=1)
    home.kill_hub()
    time.sleep(1.1)
    wait_until(lambda: listed(home)[asleep]["status"] == "timeout", "it ended at the start")
    began = time.time()
    waiting = ask_and_wait(home, "still waiting", timeout_seconds=2)
    wait_until(lambda: len(listed(home)) == 2, "it is asked")
    home.kill_hub()
    result = json.loads(waiting.communicate(timeout=HANG_S)[0])
    took = time.time() - began
    assert waiting.returncode == 4, waiting.returncode
    assert decision_of(result) == Decision("timeout", (), ""), result
    assert 2 <= took < 2 + 10, f"the two seconds took {took:.1f}"


@test("a draft survives kill -9, the last one counts, and it stays when somebody wins", "P5 R5.2 R5.9")
def drafts(home: Home) -> None:
    session = {"session_id": ask_and_leave(home, "drafted")}
    for note in ("first", "second"):
        draft = {"selected_ids": ["ash"], "global_annotation": note}
        with Wire(home) as person:
            person.hello("person")
            person.call("ask/draft", **session, draft=draft)
            wait_until(lambda: person.call("ask/get", **session).get("draft") == draft, "saved")
        home.kill_hub()
        home.sayso("list")
        with Wire(home) as person:
            person.hello("person")
            assert person.call("ask/get", **session)["draft"] == draft
    assert home.sayso("decline", session["session_id"]).code == 0
    home.kill_hub()
    home.sayso("list")
    with Wire(home) as person:
        person.hello("person")
        assert person.call("ask/get", **session)["draft"] == draft


UNDO_S = 2


def person_at_terminal(home: Home) -> Wire:
    person = Wire(home)
    person.hello("person", channel="terminal")
    return person


def wait_status(home: Home, session_id: str, wait_s: int = 0) -> str:
    with Wire(home) as agent:
        agent.hello("agent", **{"as": PRINCIPAL})
        return agent.call("ask/wait", session_id=session_id, wait_seconds=wait_s)["action_status"]


@test("an undo window survives kill -9: the agent gets the answer only when it is over", "P1 R5.2")
def undo_window(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", str(UNDO_S))
    id = ask_and_leave(home, "undo")
    waiting = ask_and_wait(home, "undo")
    wait_until(lambda: not listed(home)[id]["detached"], "the agent is back")
    began = time.monotonic()
    with person_at_terminal(home) as person:
        said = person.call("ask/answer", session_id=id, selected_ids=["cedar", "elm"])
    assert said["status"] == "submitted" and 0 < said["undo_ms"] <= UNDO_S * 1000, said
    for _ in range(3):
        wait_until(home.hub_pid, "the agent starts the hub again")
        home.kill_hub()
    assert listed(home)[id]["status"] == "submitted"
    seen, took = wait_status(home, id), time.monotonic() - began
    assert seen == "pending" or took > UNDO_S, f"told {took:.2f} s after the answer"
    result = json.loads(waiting.communicate(timeout=HANG_S)[0])
    took = time.monotonic() - began
    assert decision_of(result).picks == ("cedar", "elm") and result["session_id"] == id, result
    assert took >= UNDO_S, f"told {took:.2f} s after the answer"


@test("an answer can be taken back after kill -9, and is then a draft", "P1 R5.2 R5.9")
def undo_after_restart(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "60")
    id = ask_and_leave(home, "undo")
    with person_at_terminal(home) as person:
        person.call("ask/answer", session_id=id, selected_ids=["cedar"])
    home.kill_hub()
    home.sayso("list")
    with person_at_terminal(home) as person:
        assert person.call("ask/undo", session_id=id)["status"] == "pending"
    home.kill_hub()
    home.sayso("list")
    with person_at_terminal(home) as person:
        got = person.call("ask/get", session_id=id)
        assert got["ask"]["status"] == "pending" and got["answer"] is None, got
        assert got["draft"] == {"selected_ids": ["cedar"]}, got
    assert home.sayso("answer", id, "--select", "fir").code == 0
    said = home.sayso("ask", "--json", "--as", PRINCIPAL, "--from", "-",
                      input=json.dumps(arguments("undo")))
    assert said.json["selection"]["selected_ids"] == ["fir"] and said.json["replayed"], said


@test("an answer that was sent at once cannot be taken back after kill -9", "P1 R5.2")
def sent_at_once(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "60")
    id = ask_and_leave(home, "undo")
    with person_at_terminal(home) as person, Wire(home) as agent:
        agent.hello("agent", **{"as": PRINCIPAL})
        call = agent.start("ask/wait", session_id=id, wait_seconds=-1)
        person.call("ask/answer", session_id=id, selected_ids=["birch"])
        person.call("ask/send", session_id=id)
        told = agent.finish(call)
        assert decision_of(told).picks == ("birch",), told
    home.kill_hub()
    home.sayso("list")
    with person_at_terminal(home) as person:
        with contextlib.suppress(WireError):
            raise AssertionError(f"taken back: {person.call('ask/undo', session_id=id)}")
    with Wire(home) as agent:
        agent.hello("agent", **{"as": PRINCIPAL})
        assert agent.call("ask/wait", session_id=id, wait_seconds=0) == told


@test("an undo window that ends while there is no hub does not hold the answer back", "P1 R5.2 R5.5")
def undo_without_hub(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "1")
    id = ask_and_leave(home, "undo")
    with person_at_terminal(home) as person:
        person.call("ask/answer", session_id=id, selected_ids=["birch"])
    home.kill_hub()
    time.sleep(1.1)
    said = home.sayso("ask", "--json", "--as", PRINCIPAL, "--from", "-",
                      input=json.dumps(arguments("undo")))
    assert said.json["session_id"] == id and said.json["replayed"], said
    assert said.json["selection"]["selected_ids"] == ["birch"], said


run()
