"""Agents, people and an oracle that outlive the hub, and a hub that kills itself; what test_kill.py, test_restart.py and
test_conversations_kill.py share."""
from __future__ import annotations

import contextlib
import itertools
import json
import pathlib
import random
import re
import signal
import threading
import time
from collections import Counter
from typing import Any, Callable, NamedTuple

from harness import CRASH_BIN, ON_POSTGRES, ROOT, Home, Skip, Wire, WireError, counted, points_here

HANG_S = 60  # far longer than anything here takes: only catches hangs
PRINCIPAL = "kill test"
OPTIONS = ("ash", "birch", "cedar", "elm", "fir")
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
    """The test has failed: threads that wait can stop."""


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
        """These are never answered: neither a deadline nor a crash may yield a selection."""
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


def check_sound(home: Home) -> None:
    """A file is; of a database we know nothing but what it says."""
    if not ON_POSTGRES:
        assert home.rows("PRAGMA integrity_check") == [("ok",)], home.rows("PRAGMA integrity_check")


def look_into_store(home: Home, oracle: Oracle, may_miss: bool = False) -> None:
    """A question is never there twice, and the file is sound. No hub may be running."""
    check_sound(home)
    counts = Counter(title for (title,) in home.rows("SELECT title FROM asks"))
    for title in oracle.sent:
        if counts[title] != 1 and not (may_miss and counts[title] == 0):
            oracle.complain(f"doubled: {title} was asked {counts[title]} times")


def print_counts(**counts: int) -> None:
    counted(" ".join(f"{name}={count}" for name, count in counts.items()))


def crash_points() -> list[str]:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    sources = [file for file in (ROOT / "src").rglob("*.c") if "cli" not in file.parts]  # verbs have tests of their own
    found = {name for file in sources for name in re.findall(r"CRASH_POINT\((\w+)\)", file.read_text())}
    assert len(found) >= 30, found
    return points_here(*sorted(name for name in found if not name.startswith(("restore_", "migrate_"))))  # no hub's


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
