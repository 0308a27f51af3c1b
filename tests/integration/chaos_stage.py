"""Agents, people and mischief on several hubs, all writing one history; what test_chaos.py and test_failover.py share."""
from __future__ import annotations

import contextlib
import itertools
import os
import random
import threading
import time
from collections import Counter
from typing import Any, Callable

import postgres
from answers_checker import ACKED, OPEN, REFUSED, UNKNOWN, History, check
from chaos_proxy import CUTS, DOUBTS, Proxy
from harness import HANG_S, ROOT, SLACK, Wire, WireError, note
from hubs_stage import LOST, Hub, Hubs, Person, Refused, bad_event, outcome_of, question

SEED = int(os.environ.get("SAYSO_SEED", "0")) or random.randrange(1, 1 << 30)
HANG_S = 90 * SLACK  # after the last fault; only catches hangs
PRINCIPAL = "chaos test"
WIRE_LOST = (*LOST, FileNotFoundError, AttributeError)  # a home without a hub has no socket's name
# A hub that can't reach the database says so and has done nothing; the rest are what others did first.
TRY_AGAIN = (502, 503)
OVER = ("already_answered", "wrong_state", "expired", "not_pending")
numbers = itertools.count(1)


class Crew(contextlib.AbstractContextManager):
    """Threads that work until told to stop; what went wrong in one is told at the end."""

    def __init__(self, hubs: Hubs, seed: int):
        self.hubs, self.history = hubs, History()
        self.chance = random.Random(seed)  # one for each thread comes from it
        self.may_ask, self.is_over = threading.Event(), threading.Event()
        self.may_ask.set()
        self.failures: list[BaseException] = []
        self.threads: dict[str, list[threading.Thread]] = {"agent": [], "person": []}
        self.acked_at: dict[str, float] = {}
        self.woken_s: list[float] = []
        self.counts: Counter[str] = Counter()
        self.wire_asks: dict[str, str] = {}  # those of the wire's agents: question, id

    def add(self, kind: str, count: int, work: Callable[[random.Random], None], until: Callable[[], bool]) -> None:
        def loop(chance: random.Random) -> None:
            try:
                while not until():
                    work(chance)
            except BaseException as failure:  # told by settle()
                self.failures.append(failure)
        for _ in range(count):
            thread = threading.Thread(target=loop, args=(random.Random(self.chance.random()),), daemon=True)
            self.threads[kind].append(thread)
            thread.start()

    def start(self, agents: int = 6, wires: int = 2, people: int = 4) -> None:
        self.add("agent", agents, self.ask_by_http, lambda: not self.may_ask.is_set())
        self.add("agent", wires, self.ask_by_wire, lambda: not self.may_ask.is_set())
        self.add("person", people, self.answer_one, self.is_over.is_set)

    # Asking -------------------------------------------------------------------------------------

    def ask_by_http(self, chance: random.Random) -> None:
        """One ask to its end. Whatever happens to a call, the same one again is the same ask."""
        title, agent = f"q{next(numbers)}", self.hubs.agent()
        more = {"timeout_seconds": chance.choice((1, 2, 3))} if chance.random() < 0.1 else {"timeout_seconds": 3600}
        self.history.ask(title)
        while not self.is_over.is_set():
            try:
                result = agent.ask(title, 60, **more)
            except Refused as refused:
                self.expect_away(refused, f"{title} was refused")
                continue
            except LOST:
                self.counts["calls lost"] += 1
                continue
            status, answer = outcome_of(result)
            self.got(title, result["session_id"], status, answer)
            if status not in OPEN:
                return

    def ask_by_wire(self, chance: random.Random) -> None:
        """Asks on one hub without waiting, and takes some back on another; what became of it is collected at the end."""
        title = f"w{next(numbers)}"
        self.history.ask(title)
        asking = {"tool": "provide_choice", "wait_seconds": 0, "arguments": question(title, idempotency_key=title, timeout_seconds=3600)}
        made = self.by_wire(chance, "ask/create", **asking)
        if not made:
            return
        id = made["session_id"]
        self.history.created(title, id)
        self.wire_asks[title] = id
        time.sleep(chance.random() * 0.5)
        if chance.random() < 0.3:
            self.history.withdraw(title)
            self.by_wire(chance, "ask/withdraw", session_id=id)

    def by_wire(self, chance: random.Random, method: str, **params: Any) -> Any:
        """Again on any hub until one takes it; None if everything is over."""
        while not self.is_over.is_set():
            try:
                with Wire(chance.choice(self.hubs.hubs).home) as wire:
                    wire.hello("agent", **{"as": PRINCIPAL})
                    return wire.call(method, **params)
            except WireError as error:
                code = (error.data or {}).get("code")
                if code in OVER:
                    return None
                if code != "storage_failed":
                    self.history.complain(f"{method} {params} was refused: {error}")
                    return None
                self.counts["said: can't store"] += 1
            except WIRE_LOST:
                self.counts["calls lost"] += 1
            time.sleep(0.05)
        return None

    def got(self, title: str, id: str, status: str, answer: str) -> None:
        self.history.result(title, id, status, answer)
        if answer in self.acked_at:
            self.woken_s.append(time.monotonic() - self.acked_at[answer])

    def expect_away(self, refused: Refused, what: str) -> None:
        if refused.status not in TRY_AGAIN and refused.code != "storage_failed":
            self.history.complain(f"{what}: {refused}")
        self.counts["said: can't store"] += 1
        time.sleep(0.1)

    # Answering ----------------------------------------------------------------------------------

    def answer_one(self, chance: random.Random) -> None:
        person = self.hubs.person()
        try:
            asks = person.open()
        except Refused as refused:
            return self.expect_away(refused, "listing was refused")
        except LOST:
            return time.sleep(0.05)
        asks = [ask for ask in asks if ask["title"][0] in "qw"]
        if not asks or chance.random() < 0.1:
            return time.sleep(0.02)
        ask = chance.choice(asks)
        answer = f"{ask['title']}.a{next(numbers)}"
        for _ in range(chance.choice((1, 5))):  # some give up where it is not known what became of it
            if self.attempt(person, ask, answer) != UNKNOWN:
                break

    def attempt(self, person: Person, ask: dict[str, Any], answer: str) -> str:
        id, title, outcome = ask["session_id"], ask["title"], ACKED
        try:
            receipt = person.answer(id, answer, ("left", "right")[len(answer) % 2])
            self.acked_at[answer] = time.monotonic()
            if receipt["session_id"] != id:
                self.history.complain(f"the receipt of {id} is for {receipt['session_id']}")
        except Refused as refused:
            outcome = REFUSED
            if refused.status not in (409, 410):
                self.expect_away(refused, f"{answer} was refused")
        except LOST:
            outcome = UNKNOWN
        self.counts[f"answers {outcome}"] += 1
        self.history.attempt(id, title, answer, outcome)
        return outcome

    # The end ------------------------------------------------------------------------------------

    def settle(self) -> None:
        """No faults any more: what was begun comes to its end, then every ask is collected once more, anywhere."""
        self.may_ask.clear()
        deadline = time.monotonic() + HANG_S
        for thread in self.threads["agent"]:
            thread.join(max(0.1, deadline - time.monotonic()))
        hung = [thread for thread in self.threads["agent"] if thread.is_alive()]
        self.is_over.set()
        for thread in self.threads["person"]:
            thread.join(HANG_S)
        if self.failures:
            raise self.failures[0]
        if hung:
            waiting = self.history.asked - {result.question for result in self.history.results}
            self.history.complain(f"{len(hung)} agents got no result within {HANG_S} s: {sorted(waiting)[:10]}")
        self.collect()

    def collect(self) -> None:
        agent, chance = self.hubs.agent(), random.Random(1)
        for title, ids in list(self.history.ids.items()):
            for id in sorted(ids):
                if title in self.wire_asks:
                    with Wire(chance.choice(self.hubs.hubs).home) as wire:
                        wire.hello("agent", **{"as": PRINCIPAL})
                        result = wire.call("ask/wait", session_id=id, wait_seconds=0)
                else:
                    result = agent.collect(id)
                self.history.result(title, id, *outcome_of(result))

    def judge(self) -> dict[str, int]:
        """Fails with the first violations; the history is kept beside the logs for who looks into it."""
        rows = self.hubs.rows()
        bad = bad_event(self.hubs.url)
        assert bad == 0, f"the chain of events breaks at {bad}"
        found = check(self.history, rows)
        if found:
            kept = ROOT / "build" / "test-logs" / f"history-{os.getpid()}.jsonl"
            kept.parent.mkdir(parents=True, exist_ok=True)
            self.history.keep(kept)
            note(f"history: {kept}")
            print("\n".join(f"# {violation}" for violation in found[:20]))
        kinds = Counter(violation.kind for violation in found)
        assert not found, f"{len(found)} wrong ({dict(kinds)}): " + "\n".join(map(str, found[:10]))
        return {"asks": len(rows), "answers": sum(bool(row.answers) for row in rows),
                "lost": 0, "doubled": 0, "crossed": 0}

    def __exit__(self, *_: Any) -> None:
        self.may_ask.clear()
        self.is_over.set()


class Mischief:
    """Faults by chance in two lanes: those that take a while one after the other, and beside them the quick ones: cuts, and
    doubt over a commit."""

    def __init__(self, hubs: Hubs, server: postgres.Server, seed: int):
        self.hubs, self.server, self.chance = hubs, server, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.failures: list[BaseException] = []
        self.gave_up = 0  # hubs that were started while the database was away
        self.slow: dict[str, Callable[[], Any]] = {
            "database restarted at once": lambda: self.server.restart_immediate(self.chance.random()),
            "database killed": self.kill_database,
            "database stands still": lambda: self.hold(self.server.pause, self.server.proceed, 3),
            "hub killed": self.kill_hub,
            "hub stands still": self.stop_hub,
            "notifications dropped": lambda: self.mangle("drop"),
            "notifications doubled": lambda: self.mangle("double"),
            "notifications delayed": lambda: self.mangle("delay"),
            "silence": lambda: self.over_network(lambda proxy: self.hold(proxy.stall, proxy.flow, 7)),
            "silence everywhere": self.silence,
            "trickle": lambda: self.over_network(lambda proxy: self.hold(lambda: proxy.trickle(50), proxy.flow, 3)),
        }
        self.quick: dict[str, Callable[[], Any]] = {
            **{f"cut: {how}": lambda how=how: self.over_network(lambda proxy: proxy.cut(how, self.chance.choice((0.4, 1.0))))
               for how in CUTS},
            **{f"doubt: {how}": lambda how=how: self.over_network(lambda proxy: proxy.doubt(how)) for how in DOUBTS},
        }

    def hold(self, begin: Callable[[], Any], end: Callable[[], Any], most_s: float) -> None:
        begin()
        try:
            time.sleep(self.chance.uniform(0.2, most_s))
        finally:
            end()

    def over_network(self, act: Callable[[Proxy], Any]) -> None:
        act(self.chance.choice(self.hubs.proxies))

    def silence(self) -> None:
        for proxy in self.hubs.proxies:
            proxy.stall()
        time.sleep(self.chance.uniform(0.2, 3))
        for proxy in self.hubs.proxies:
            proxy.flow()

    def mangle(self, how: str) -> None:
        """Everywhere, so that no hub hears of the others by another's luck."""
        for proxy in self.hubs.proxies:
            proxy.notifications = how
        time.sleep(self.chance.uniform(0.5, 3))
        for proxy in self.hubs.proxies:
            proxy.notifications = "pass"

    def kill_database(self) -> None:
        self.server.kill()
        self.server.start()

    def kill_hub(self) -> None:
        hub = self.chance.choice(self.hubs.hubs)
        hub.end()
        time.sleep(self.chance.random())
        hub.start()

    def stop_hub(self) -> None:
        """Longer than a batch may take: the database moves on without it."""
        hub: Hub = self.chance.choice(self.hubs.hubs)
        self.hold(hub.pause, hub.proceed, 3)

    def go_on(self, seconds: float) -> None:
        """Every kind once first, in a random order; then by chance."""
        deadline = time.monotonic() + seconds
        lanes = [threading.Thread(target=self.lane, args=(kinds, deadline, random.Random(self.chance.random())))
                 for kinds in (self.slow, self.quick)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        if self.failures:
            raise self.failures[0]

    def lane(self, kinds: dict[str, Callable[[], Any]], deadline: float, chance: random.Random) -> None:
        waiting = list(kinds)
        chance.shuffle(waiting)
        try:
            while time.monotonic() < deadline and not self.failures:
                kind = waiting.pop() if waiting else chance.choice(list(kinds))
                kinds[kind]()
                self.counts[kind] += 1
                time.sleep(chance.uniform(0.3, 1.2))
                if kinds is self.slow:
                    self.gave_up += sum(hub.look_after() for hub in self.hubs.hubs)
        except BaseException as failure:  # told by go_on()
            self.failures.append(failure)

    def end(self) -> None:
        """All is well again, and every hub says so."""
        for proxy in self.hubs.proxies:
            proxy.no_doubt()
            proxy.notifications = "pass"
            proxy.flow()
        if not self.server.is_running():
            self.server.start()
        self.server.proceed()
        for hub in self.hubs.hubs:
            hub.proceed()
            if hub.process is None:
                hub.start()
            self.gave_up += hub.look_after()
        for hub in self.hubs.hubs:
            hub.wait_ready()


def latency(woken_s: list[float]) -> str:
    """From a person's receipt to the agent's result, whichever hubs they were on."""
    ordered = sorted(woken_s) or [0.0]
    return (f"wake p50 {ordered[len(ordered) // 2] * 1000:.0f} ms, p99 {ordered[len(ordered) * 99 // 100] * 1000:.0f} ms, "
            f"longest {ordered[-1]:.1f} s")
