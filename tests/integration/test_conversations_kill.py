"""Conversations outlive their hub: stopped or killed in every state, and by kill -9 at every crash point on the way of a
turn, while a host, a person and a listener repeat what they are not sure of. Every call gets one result, every event is
heard once, every question is asked once.
"""
from __future__ import annotations

import contextlib
import itertools
import json
import random
import re
import threading
import time
from collections import Counter
from typing import Any, Callable

from api import Reply
from conversation_stage import HANG_S, LOST, Hosting, Listener, Talk, asks, call, said
from harness import CRASH_BIN, ON_POSTGRES, SCALE, Home, run, scaled, test, wait_until
from kill_stage import Doomed, check_sound, crash_points, print_counts

# On the way of a turn; what else there is, test_kill.py goes through.
POINTS = re.compile("(store|engine)_(conversation|question)_|postgres_|store_(before|after)_(begin|commit)$|store_create_|"
                    "store_change_decided$|store_event_written$|engine_(before|after)_(create|decide|ack|reply)$")
PASSES = [1, 2, *(random.randint(3, 6) for _ in range(scaled(1)))] if SCALE > 1 else [1]
STATES = ("idle", "llm_requesting", "tool_executing", "awaiting_user_response")
ENDS: dict[str, Callable[[Hosting], None]] = {
    "stopped": lambda office: office.home.sayso("stop") and None,
    "killed": lambda office: office.home.kill_hub(),
}


def restart(office: Hosting, how: str) -> None:
    ENDS[how](office)
    wait_until(lambda: office.process.poll() is not None, "it has ended")
    office.home.spawned.remove(office.process)
    office.serve()


@test("a hub that is stopped or killed in any state goes on where it was", "R3.4 R5.2 P1")
def restarted() -> None:
    with Hosting() as office:
        for how, state in itertools.product(ENDS, STATES):
            talk = office.begin()
            with Listener(talk) as listener:
                if state == "awaiting_user_response":
                    talk.turn(asks("t1"), call("t2"))
                    session = talk.session()
                elif state != "idle":
                    talk.turn(call("t1"), call("t2"))
                if state == "llm_requesting":
                    talk.result("t1")
                    talk.result("t2")
                before = talk.look()
                listener.wait_last(before["last_event"])
                restart(office, how)
                after = talk.look()
                for one in (before, after):
                    one.pop("url", None)  # another port, perhaps
                assert after == before and after["state"]["type"] == state, (how, state, before, after)
                if state == "awaiting_user_response":
                    wait_until(lambda: not office.whole(session)["ask"]["detached"], "it is waited for again")
                    said(talk.respond({"Which store?": "SQLite"}))
                    assert talk.state["current"]["id"] == "t2"
                elif state == "tool_executing":
                    assert talk.result("t1")["state"]["current"]["id"] == "t2"
                elif state == "llm_requesting":
                    assert said(talk.say("turn-ended"))["state"]["type"] == "idle"
                else:
                    talk.turn(call("t1"))
                listener.wait_last(talk.look()["last_event"])
                assert listener.heard == talk.events()
        assert len(office.home.sayso("list", "--json").json) == len(ENDS)


@test("a deadline that passed while no hub ran is kept at the next start", "R3.4 R5.4")
def late_deadline() -> None:
    with Hosting() as office:
        talk = office.begin(asks("t1", timeout_seconds=1))
        talk.session()
        office.home.kill_hub()
        wait_until(lambda: office.process.poll() is not None, "it has ended")
        office.home.spawned.remove(office.process)
        time.sleep(1.5)
        office.serve()
        talk.wait_for("llm_requesting")
        assert talk.results() == {"t1": ("User did not answer in time", True)}


@test("an answer in its undo window when the hub dies is the conversation's after the window", "R3.4 R5.2")
def undo_window() -> None:
    with Hosting(env={"SAYSO_DELIVER_AFTER": "2"}) as office:
        talk = office.begin(asks("t1"))
        id = talk.session()
        office.wire("person", channel="terminal").call(
            "ask/answer", session_id=id, fields={"q1": {"selected_ids": ["PostgreSQL"]}})
        restart(office, "killed")
        talk.wait_for("llm_requesting")
        assert json.loads(talk.results()["t1"][0])["answers"] == {"Which store?": "PostgreSQL"}


class Abandoned(Exception):
    """The round has failed: threads that wait can stop."""


class Shelter(Hosting):
    """An office whose hub dies; a host that doesn't know whether a request was taken sends it again."""

    def __init__(self) -> None:
        super().__init__(binary=CRASH_BIN)
        self.home.sayso("stop")
        self.is_abandoned = threading.Event()

    def firmly(self, act: Callable[[], Reply]) -> Reply:
        while not self.is_abandoned.is_set():
            with contextlib.suppress(*LOST):
                reply = act()
                if reply.status != 503:
                    return reply
            with contextlib.suppress(Exception):
                self.port = self.home.hub()["port"] or self.port
            time.sleep(0.005)
        raise Abandoned


class Round:
    """One conversation, from its making to the end of its last turn."""

    def __init__(self, shelter: Shelter, name: str):
        self.shelter, self.name = shelter, name
        self.talk: Talk | None = None
        self.turns = 0
        self.last_turns = 4
        self.decided: dict[str, str] = {}  # tool_use_id: the answer that was acknowledged
        self.failures: list[BaseException] = []

    def make(self) -> None:
        made = said(self.shelter.firmly(lambda: self.shelter.post(
            "/conversations", {}, token=self.shelter.host, Idempotency_Key=self.name)))
        self.talk = Talk(self.shelter, made["conversation"], self.shelter.host)

    def look(self) -> Any:
        return said(self.shelter.firmly(lambda: self.shelter.get(self.talk.path, token=self.talk.token)))

    def say(self, act: str, body: Any, token: str | None = None) -> Reply:
        return self.shelter.firmly(lambda: self.talk.say(act, body, token=token))

    def calls(self) -> list[dict[str, Any]]:
        n = f"{self.name}-{self.turns}"
        named = {"question": f"Question {n}?", "options": [{"label": "Yes"}, {"label": "No"}]}
        other = {**named, "question": f"And {n}?"}
        return [call(f"{n}a"), asks(f"{n}b", named), asks(f"{n}c", other), call(f"{n}d")]

    def drive(self) -> None:
        """The host: does what the state asks for."""
        while True:
            state = self.look()["state"]
            if state["type"] in ("idle", "llm_requesting"):
                if self.turns == self.last_turns:
                    said(self.say("turn-ended", {}))
                    return
                self.turns += 1
                said(self.say("tool-calls", {"tool_calls": self.calls()}))
            elif state["type"] == "tool_executing":
                id = state["current"]["id"]
                said(self.say("tool-results", {"tool_use_id": id, "content": f"result of {id}"}))
            else:
                self.decide(state)

    def decide(self, state: Any) -> None:
        """The person: through the conversation or the ask, and now and then with a no."""
        id, text = state["tool_use_id"], state["questions"][0]["question"]
        choice = random.choice(["Yes", "No", "own words", "cancel"] if id.endswith("c") else ["Yes", "No"])
        way = random.choice(["respond", "api"])
        if choice == "cancel":
            reply = self.say("cancel", {}, token="person")
        elif way == "respond":
            reply = self.say("respond", {"answers": {text: choice}}, token="person")
        else:
            session = self.look().get("session_id", "a" * 26)
            body = {"custom_input": choice} if choice == "own words" else {"selected_ids": [choice]}
            reply = self.shelter.firmly(lambda: self.shelter.post(f"/api/asks/{session}/answer", body))
            if reply.status == 404:  # not asked yet
                return
        assert reply.status == 200, reply
        self.decided[id] = choice
        while (now := self.look()["state"])["type"] == "awaiting_user_response" and now["tool_use_id"] == id:
            time.sleep(0.002)

    def run(self) -> None:
        try:
            self.drive()
        except Abandoned:
            pass
        except BaseException as failure:  # told by the test
            self.failures.append(failure)

    def judge(self, listener: Listener) -> None:
        listener.wait_last(self.look()["last_event"])
        assert listener.heard == self.talk.events()
        results = self.talk.results()  # one each
        wanted = {f"{self.name}-{turn}{letter}" for turn in range(1, self.turns + 1) for letter in "abcd"}
        assert results.keys() == wanted, results.keys() ^ wanted
        for id, (content, is_error) in results.items():
            if self.decided.get(id) == "cancel":
                assert (content, is_error) == ("User cancelled the question", True)
            elif id in self.decided:
                assert not is_error and list(json.loads(content)["answers"].values()) == [self.decided[id]], (id, content)
            elif content != f"result of {id}":
                assert (content, is_error) == ("Not run: user cancelled", True) and id.endswith("d"), (id, content)


def one_round(shelter: Shelter, point: str, name: str) -> bool:
    """True if the hub died where it should."""
    round = Round(shelter, name)
    with Doomed(shelter.home, point) as doomed:
        wait_until(lambda: doomed.process.poll() is not None or shelter.home.hub_pid(), "dead or up")
        with contextlib.suppress(Exception):
            shelter.port = shelter.home.hub()["port"]
        made = threading.Thread(target=lambda: (round.make(), round.run()), daemon=True)
        made.start()
        deadline = time.monotonic() + HANG_S
        while doomed.process.poll() is None and made.is_alive() and time.monotonic() < deadline:
            time.sleep(0.002)
        is_dead = doomed.is_dead(0)
    with Doomed(shelter.home, "none") as healthy:
        try:
            wait_until(lambda: round.talk or round.failures, "a conversation", HANG_S)
            with Listener(round.talk) as listener:
                made.join(HANG_S)
                assert not made.is_alive() and not round.failures, round.failures or "the round hangs"
                round.judge(listener)
        except BaseException:
            shelter.is_abandoned.set()
            raise
        assert healthy.process.poll() is None
    return is_dead


@test("kill -9 at every crash point of a turn: one result a call, every event once, every question once", "R3.4 P1 P7")
def crashes() -> None:
    hits: Counter[str] = Counter()
    points = [point for point in crash_points() if POINTS.match(point)]
    assert len(points) >= (10 if ON_POSTGRES else 20), points
    with Shelter() as shelter:
        for number, (point, count) in enumerate(itertools.product(points, PASSES)):
            hits[point] += one_round(shelter, f"{point}:{count}", f"r{number}")
        check_sound(shelter.home)
        titles = Counter(title for (title,) in shelter.home.rows("SELECT title FROM asks"))
        undelivered = shelter.home.rows("SELECT id FROM asks WHERE state > 2 AND delivered_ms = 0")
        assert not undelivered, undelivered
        assert set(titles.values()) == {1}, [title for title, count in titles.items() if count > 1]
    print_counts(cycles=hits.total(), points=len(+hits), questions=len(titles))
    missed = [point for point in points if not hits[point]]
    assert not missed, f"no round reaches {missed}"


@test("a listener that is cut again and again while a turn runs hears every event once", "R3.4")
def cut_again() -> None:
    with Hosting() as office:
        talk = office.begin()
        with Listener(talk) as listener:
            for number in range(scaled(8)):
                talk.turn(call(f"t{number}"))
                restart(office, random.choice(list(ENDS)))
                talk.result(f"t{number}")
            listener.wait_last(talk.look()["last_event"])
            assert listener.cuts >= scaled(8) and listener.heard == talk.events()


run()
