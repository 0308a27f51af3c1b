"""Hubs die by kill -9, at random moments and at every crash point, while agents wait and people
decide. An oracle keeps what was sent, what was acknowledged and what came out: nothing that was
acknowledged may be lost, nothing may come twice, nothing may come that was never sent.
"""
from __future__ import annotations

import contextlib
import glob
import itertools
import json
import os
import pathlib
import random
import re
import signal
import time
from collections import Counter
from typing import Any, Iterator

from harness import CRASH_BIN, SCALE, Home, Wire, WireError, needs_file, run, scaled, test, wait_until
from kill_stage import (
    HANG_S, LOST, PRINCIPAL, Agent, Crew, Doomed, Oracle, Person, arguments, collect_again,
    crash_points, look_into_store, numbers, print_counts)

KILLS = scaled(100, full=1000 if SCALE > 1 else 390)  # a long run makes 10,000
CRASHES_PER_POINT = scaled(1, full=3)
LIMITS = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}


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
    home.sayso("stop")
    look_into_store(home, oracle)
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
    for _ in range(scaled(8, full=20)):
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


STARTING = re.compile("store_(file_made|log_on|moved_aside|migration_.*)$")
# test_conversations_kill.py and test_rules.py go there
OTHERS = re.compile("(store|engine)_(conversation|question)_|store_rule_|engine_before_rule$")


def starting_rounds() -> Iterator[tuple[str, int]]:
    passes = {"store_migration_part": 5, "store_moved_aside": 3}
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
    needs_file()
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
    """What agents and people here do not do anyway: drafts, settings, tokens, undo, losing
    patience."""

    def __init__(self, home: Home, oracle: Oracle):
        self.home, self.oracle = home, oracle
        self.left: set[str] = set()  # asks that a crash interrupted

    def work(self) -> None:
        with contextlib.suppress(*LOST), Wire(self.home) as agent, Wire(self.home) as person:
            agent.hello("agent", transport="stdio", **{"as": PRINCIPAL})
            person.hello("person", channel="terminal")
            while self.left:
                with contextlib.suppress(WireError):  # a person may have ended it
                    agent.call("ask/withdraw", session_id=next(iter(self.left)))
                self.left.pop()
            title = f"tour {next(numbers)}"
            id = agent.call("ask/create", tool="provide_choice", wait_seconds=0,
                            arguments=arguments(title))["session_id"]
            self.left.add(id)
            agent.call("client/cut_off", held_ms=random.randint(200000, 300000), timed_out=True)
            person.call("settings/set", name="theme", value=random.choice(["light", "dark"]))
            person.call("ask/draft", session_id=id, draft={"selected_ids": ["ash"]})
            person.call("token/revoke", id=person.call("token/new", label=title)["id"])
            person.call("ask/answer", session_id=id, selected_ids=["birch"])
            self.expect(agent, id, "pending")  # it can still be undone
            person.call("ask/undo", session_id=id)
            person.call("ask/cancel", session_id=id)
            self.left.clear()
            self.expect(agent, id, "cancelled")  # which has no undo window
            self.hand_over(agent, person)
        time.sleep(0.05)

    def expect(self, agent: Wire, id: str, status: str) -> None:
        seen = agent.call("ask/wait", session_id=id, wait_seconds=0)
        if seen["action_status"] != status:
            self.oracle.complain(f"not {status}: {seen}")

    def hand_over(self, agent: Wire, person: Wire) -> None:
        """A command for a terminal works once, whatever died while it was used."""
        handed = agent.call("ask/create", tool="provide_choice",
                            arguments=arguments(f"hand-off {next(numbers)}") | {"interface": "terminal"})
        self.left.add(handed["session_id"])
        code = handed["terminal_command"].split()[-1]
        shown = person.call("ask/attach", launch=code, key="ours")
        if shown["ask"]["session_id"] != handed["session_id"]:
            self.oracle.complain(f"another ask was opened: {shown}")
        with contextlib.suppress(WireError):
            self.oracle.complain(f"opened twice: {person.call('ask/attach', launch=code, key='theirs')}")
        person.call("ask/cancel", session_id=handed["session_id"])
        self.left.clear()


BEHIND_SWEEPS = "store_sweep_tidied"  # reached when thousands of asks have been swept before


def crash_rounds() -> Iterator[tuple[str, int]]:
    passes = [1, *(random.randint(2, 6) for _ in range(CRASHES_PER_POINT - 1))]
    for point, number in itertools.product(crash_points(), passes):
        if "checkpoint" in point or point in ("store_drained", BEHIND_SWEEPS):
            yield point, 1
        elif point == "store_deadlines_shifted":
            yield point, random.randint(1, 2)
        elif not STARTING.match(point) and not OTHERS.match(point):
            yield point, number


def crash_once(home: Home, point: str, number: int) -> bool:
    """Runs a hub until it has crashed, if it ever gets there."""
    # conversations come last, when no ask is left to be swept
    sweeps = "sweep" in point and point != "store_sweep_conversations"
    env, step = {"SAYSO_MAX_SESSIONS": "20" if sweeps else "1000000"}, home.path / "step"
    if point == "store_deadlines_shifted":
        (library,) = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
        step.write_text("+0")
        env |= {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(step), "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "ASAN_OPTIONS": "verify_asan_link_order=0"}
    with Doomed(home, f"{point}:{number}", **env) as hub:
        if point in ("store_deadlines_shifted", "store_drained"):
            wait_until(lambda: hub.process.poll() is not None or home.hub_pid() == hub.process.pid, "it is up")
            step.write_text("+3600")
        return hub.is_dead(0.3 if point == "store_drained" else 90 if point == BEHIND_SWEEPS else HANG_S)


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
    last.__exit__()
    look_into_store(home, oracle, may_miss=True)
    print_counts(cycles=hits.total(), points=len(+hits), **oracle.judge())
    missed = hits.keys() - (+hits).keys()
    assert not missed, f"no round reaches {missed}"


run()
