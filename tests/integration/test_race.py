"""Several people and agents decide one ask at the same moment: exactly one of them wins, all others
are told so, and the agent gets what the winner sent. Half of the rounds let the hub see everything
in one turn of its loop (it is stopped while they send), the other half one after the other.
"""
from __future__ import annotations

import contextlib
import datetime
import itertools
import os
import random
import signal
import time
from collections import Counter
from typing import Any, Iterator

from harness import Home, Wire, WireError, counted, note, run, scaled, test

ROUNDS = scaled(1000, full=5000)
PAIR_ROUNDS = scaled(40, full=200)
BATCH = 100  # asks that are open at the same time and end within a second
LIMITS = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}
ANSWERERS = 8
OPTIONS = ("left", "straight", "right")


def arguments(title: str, **more: Any) -> dict[str, Any]:
    options = [{"id": option, "label": option.title()} for option in OPTIONS]
    options[1]["recommended"] = True
    return {"title": title, "prompt": "Which way shall the road go at the river?",
            "selection_mode": "single", "options": options, **more}


class Room(contextlib.AbstractContextManager):
    """A hub with an agent and several people, all connected all the time."""

    def __init__(self, people: int = 2, undo_s: int = 0):
        self.home = Home(env=LIMITS)
        assert self.home.sayso("settings", "set", "deliver_after", str(undo_s)).code == 0
        self.hub_pid = self.home.hub_pid()
        self.agent = self.connect("agent")
        self.other_agents = [self.connect("agent") for _ in range(2)]  # of the same principal
        self.people = [self.connect("person", ("cli", "terminal")[i % 2]) for i in range(people)]
        self.numbers = itertools.count(1)

    def connect(self, role: str, channel: str = "cli") -> Wire:
        wire = Wire(self.home)
        wire.hello(role, name="race", directory="/race", channel=channel)
        wire.channel = channel
        return wire

    def ask(self, **more: Any) -> tuple[int, str]:
        """The agent's call, which stays open, and the id of the ask."""
        call = self.agent.start("ask/create", tool="provide_choice", tag="race",
                                arguments=arguments(f"race {next(self.numbers)}", **more))
        while (created := self.agent.read()).get("method") != "ask/created":
            self.agent.events.append(created)
        return call, created["params"]["session_id"]

    def result(self, call: int) -> dict[str, Any]:
        """What the agent got; it says that it has it."""
        result = Reply(self.agent, call).result
        self.other_agents[0].call("ask/delivered", session_ids=[result["session_id"]])
        return result

    @contextlib.contextmanager
    def moment(self, is_one_turn: bool) -> Iterator[None]:
        """What is sent within is seen by the hub in one turn, if wanted."""
        if is_one_turn:
            os.kill(self.hub_pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if is_one_turn:
                os.kill(self.hub_pid, signal.SIGCONT)

    def __exit__(self, *_: Any) -> None:
        for wire in (self.agent, *self.other_agents, *self.people):
            wire.stop()
        self.home.stop()


def came(wire: Wire, call: int) -> dict[str, Any]:
    """The reply to this call, if it came while another one was waited for; else {}."""
    return next((event for event in wire.events if event.get("id") == call), {})


class Reply:
    """A result or an error, never both. Replies need not come in the order of the calls."""

    def __init__(self, wire: Wire, call: int):
        self.result: dict[str, Any] = {}
        self.error: dict[str, Any] = {}
        if early := came(wire, call):
            self.result = early.get("result", {})
            self.error = early.get("error", {}).get("data", {})
            return
        try:
            self.result = wire.finish(call)
        except WireError as error:
            self.error = error.data

    @property
    def is_new(self) -> bool:
        return not self.error and not self.result.get("already")

    @property
    def is_already(self) -> bool:
        return not self.error and bool(self.result.get("already"))

    def is_refused(self, code: str, status: str) -> bool:
        return self.error.get("code") == code and self.error.get("detail", {}).get("status") == status

    def __repr__(self) -> str:
        return str(self.error or self.result)


@test("of eight answers at the same time exactly one wins; the others learn who, when and where", "P3 R5.3")
def eight_answers() -> None:
    counts: Counter[str] = Counter()
    with Room(people=ANSWERERS) as room:
        for number in range(ROUNDS):
            call, id = room.ask()
            contents = [{"selected_ids": [random.choice(OPTIONS)],
                         **random.choice(({}, {"global_annotation": "by the old mill"}))}
                        for _ in room.people]
            order = random.sample(range(ANSWERERS), ANSWERERS)
            calls = {}
            with room.moment(number % 2 == 0):
                for i in order:
                    calls[i] = room.people[i].start("ask/answer", session_id=id, **contents[i])
            replies = {i: Reply(room.people[i], calls[i]) for i in order}
            winner, details = judge_answers(room, id, contents, replies, counts)
            result = room.result(call)
            selection = result["selection"]
            assert result["action_status"] == "selected" and result["session_id"] == id, result
            assert selection["selected_ids"] == contents[winner]["selected_ids"], result
            assert selection.get("global_annotation") == contents[winner].get("global_annotation")
            assert result["answered_by"]["via"] == room.people[winner].channel, result
            assert all(detail["answered_at"] == result["answered_at"] and
                       detail["answered_by"] == result["answered_by"] for detail in details), details
    counted(f"rounds={ROUNDS} answers={ROUNDS * ANSWERERS} " +
            " ".join(f"{name}={count}" for name, count in counts.items()))


def judge_answers(room: Room, id: str, contents: list, replies: dict[int, Reply],
                  counts: Counter) -> tuple[int, list[dict[str, Any]]]:
    """The one who won, and what the others were told about it."""
    winners = [i for i, reply in replies.items() if reply.is_new]
    assert len(winners) == 1, f"{len(winners)} winners: {replies}"
    (winner,) = winners
    assert replies[winner].result == {"session_id": id, "status": "submitted", "version": 2}, replies
    counts["won"] += 1
    details = []
    for i, reply in replies.items():
        if i == winner:
            continue
        if contents[i] == contents[winner]:
            assert reply.is_already and reply.result["session_id"] == id, reply
            counts["already"] += 1
            continue
        assert reply.is_refused("already_answered", "submitted"), reply
        counts["refused"] += 1
        detail = reply.error["detail"]
        assert detail["session_id"] == id and detail["version"] == 2, detail
        assert detail["answered_by"]["via"] == room.people[winner].channel, detail
        details.append(detail)
    return winner, details


# What each act sends, how the ask is listed when it won, and what the agent is then told.
ACTS = {
    "answer": ("ask/answer", {"selected_ids": ["left"]}, "submitted"),
    "other answer": ("ask/answer", {"selected_ids": ["right"]}, "submitted"),
    "cancel": ("ask/cancel", {}, "cancelled"),
    "decline": ("ask/decline", {}, "declined"),
    "withdraw": ("ask/withdraw", {}, "withdrawn"),
    "extend": ("ask/extend", {"seconds": 600}, ""),
}
ENDINGS = {
    "answer": ("selected", ["left"], True, None, None),
    "other answer": ("selected", ["right"], True, None, None),
    "cancel": ("cancelled", [], True, None, None),
    "decline": ("cancelled", [], True, True, None),
    "withdraw": ("cancelled", [], False, None, True),
    "expire": ("timeout", [], False, None, None),
}
STATUS_OF = {**{act: status for act, (_, _, status) in ACTS.items()}, "expire": "timeout"}


def ending_of(result: dict[str, Any]) -> tuple:
    return (result["action_status"], result["selection"]["selected_ids"], result["explicit"],
            result.get("declined"), result.get("withdrawn"))


def start(wire: Wire, act: str, id: str) -> int:
    method, params, _ = ACTS[act]
    return wire.start(method, session_id=id, **params)


def refusal_of(winner: str) -> str:
    """What those who come too late are told: a person decided, or it is over otherwise."""
    return "wrong_state" if winner in ("expire", "withdraw") else "already_answered"


def judge_loser(act: str, reply: Reply, winner: str) -> None:
    if act == winner:
        assert reply.is_already, f"{act} again: {reply}"
    elif act == "extend":
        assert reply.is_new or reply.error["code"] == "already_answered", reply
    else:
        assert reply.is_refused(refusal_of(winner), STATUS_OF[winner]), f"{act}, {winner} won: {reply}"


def race_two(room: Room, acts: tuple[str, str], number: int) -> str:
    """One round of two acts; returns which won."""
    call, id = room.ask()
    wires = [(room.other_agents if act == "withdraw" else room.people)[i] for i, act in enumerate(acts)]
    calls = [0, 0]
    with room.moment(number % 2 == 0):
        for i in random.sample((0, 1), 2):
            calls[i] = start(wires[i], acts[i], id)
    replies = [Reply(wires[i], calls[i]) for i in (0, 1)]
    winners = [acts[i] for i in (0, 1) if acts[i] != "extend" and replies[i].is_new]
    if acts == ("extend", "extend"):
        assert all(reply.is_new for reply in replies), replies
        room.people[0].call("ask/cancel", session_id=id)
        winners = ["cancel"]
    assert len(winners) == 1, f"{acts}: {len(winners)} winners: {replies}"
    for act, reply in zip(acts, replies):
        if act == "extend" or not reply.is_new:
            judge_loser(act, reply, winners[0])
    result = room.result(call)
    assert ending_of(result) == ENDINGS[winners[0]], f"{acts}, {winners} won: {result}"
    listed = room.people[0].call("ask/get", session_id=id)["ask"]
    assert listed["status"] == STATUS_OF[winners[0]], listed
    return winners[0]


@test("of any two acts at the same time one wins and the other is told", "P3 P7 R5.3")
def pairs() -> None:
    with Room() as room:
        for acts in itertools.combinations_with_replacement(ACTS, 2):
            wins = Counter(race_two(room, acts, number) for number in range(PAIR_ROUNDS))
            note(f"{' / '.join(acts)}: {dict(wins)}")


def utc(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


def asks_that_end_soon(room: Room) -> list[tuple[float, str, int]]:
    """Moment of the deadline, id, and the agent's call of asks that have a second each."""
    calls = {}
    for _ in range(BATCH):
        call, id = room.ask(timeout_seconds=1)
        calls[id] = call
        time.sleep(0.003)  # so that their deadlines do not all come at the same time
    asks = room.people[0].call("ask/list", which="all", limit=BATCH)["asks"]
    return sorted((utc(ask["created_at"]) + 1, ask["session_id"], calls[ask["session_id"]])
                  for ask in asks)


def act_at_deadline(room: Room, act: str) -> Counter:
    asks, calls, wins = asks_that_end_soon(room), {}, Counter()
    wire = room.other_agents[0] if act == "withdraw" else room.people[0]
    for due, id, _ in asks:
        time.sleep(max(0, due + random.uniform(-0.003, 0.002) - time.time()))
        calls[id] = start(wire, act, id)
    replies = {id: Reply(wire, calls[id]) for _, id, _ in asks}
    time.sleep(0.05)
    for _, id, call in asks:
        winner = act if replies[id].is_new else "expire"
        wins[winner] += 1
        if winner == "expire" and act == "extend":
            assert replies[id].error["code"] == "already_answered", replies[id]
        elif winner == "expire":
            assert replies[id].is_refused("wrong_state", "timeout"), replies[id]
        elif act == "extend":
            state = room.people[1].call("ask/get", session_id=id)["ask"]
            assert state["status"] == "pending", f"ended, though {replies[id]} was told: {state}"
            assert state["remaining_seconds"] > 500, state
            room.people[1].call("ask/cancel", session_id=id)
            winner = "cancel"
        assert ending_of(result := room.result(call)) == ENDINGS[winner], f"{winner}: {result}"
    return wins


def deadline_test(act: str) -> None:
    wins: Counter[str] = Counter()
    with Room() as room:
        while wins.total() < PAIR_ROUNDS:
            wins += act_at_deadline(room, act)
        note(f"{act} / expire: {dict(wins)}")


@test("an answer at the deadline counts, or the ask timed out; never both", "P3 P7 R5.3 R5.6")
def answer_or_expire() -> None:
    deadline_test("answer")


@test("a refusal at the deadline counts, or the ask timed out; never both", "P3 P7 R5.3 R5.6")
def refuse_or_expire() -> None:
    deadline_test("cancel")
    deadline_test("decline")


@test("an ask is taken back at the deadline, or it timed out; never both", "P3 P7 R5.3 R5.6")
def withdraw_or_expire() -> None:
    deadline_test("withdraw")


@test("an extension at the deadline holds once it is acknowledged", "P3 R5.3 R5.4")
def extend_or_expire() -> None:
    deadline_test("extend")


def judge_undo(room: Room, id: str, call: int, undo: Reply) -> str:
    """Taken back: the agent was not told, and it can be answered again. Else: the agent got that answer."""
    if undo.is_new:
        assert undo.result["status"] == "pending", undo
        assert not came(room.agent, call), came(room.agent, call)
        again = room.people[0].call("ask/answer", session_id=id, selected_ids=["right"])
        assert again["status"] == "submitted", again
    result = room.result(call)
    assert result["selection"]["selected_ids"] == ["right" if undo.is_new else "left"], result
    status = room.people[0].call("ask/get", session_id=id)["ask"]["status"]
    assert status == "submitted", f"told as {result}, now {status}"
    return "undo" if undo.is_new else "send"


@test("an answer is taken back or sent, never both", "P1 R5.2 R5.3")
def undo_or_send() -> None:
    wins: Counter[str] = Counter()
    with Room(people=4, undo_s=60) as room:
        terminals = room.people[1], room.people[3]
        for number in range(PAIR_ROUNDS):
            call, id = room.ask()
            terminals[0].call("ask/answer", session_id=id, selected_ids=["left"])
            calls = {}
            with room.moment(number % 2 == 0):
                for i, method in random.sample(((0, "ask/undo"), (1, "ask/send")), 2):
                    calls[i] = terminals[i].start(method, session_id=id)
            undo, send = (Reply(terminals[i], calls[i]) for i in (0, 1))
            assert undo.is_new != send.is_new, f"undo: {undo}, send: {send}"
            wins[judge_undo(room, id, call, undo)] += 1
    note(f"undo / send: {dict(wins)}")


def undo_at_window_end(room: Room) -> Counter:
    terminal, asks, calls = room.people[1], [], {}
    for _ in range(BATCH):
        call, id = room.ask()
        terminal.call("ask/answer", session_id=id, selected_ids=["left"])
        asks.append((time.monotonic() + 1, id, call))
        time.sleep(0.003)
    for due, id, _ in asks:
        time.sleep(max(0, due + random.uniform(-0.004, 0.001) - time.monotonic()))
        calls[id] = terminal.start("ask/undo", session_id=id)
    replies = {id: Reply(terminal, calls[id]) for _, id, _ in asks}
    return Counter(judge_undo(room, id, call, replies[id]) for _, id, call in asks)


@test("an answer is taken back at the end of its window, or it is sent; never both", "P1 R5.2 R5.3")
def undo_or_window_end() -> None:
    wins: Counter[str] = Counter()
    with Room(undo_s=1) as room:
        while wins.total() < PAIR_ROUNDS:
            wins += undo_at_window_end(room)
    note(f"undo / end of the window: {dict(wins)}")


@test("an answer_key sent again with the same answer is a success", "P3 R5.3")
def key_again() -> None:
    with Room() as room:
        for number in range(scaled(20, full=100)):
            call, id = room.ask()
            answer = {"session_id": id, "selected_ids": ["left"], "answer_key": f"key {number}"}
            with room.moment(number % 2 == 0):
                calls = [person.start("ask/answer", **answer) for person in room.people]
            replies = [Reply(*pair) for pair in zip(room.people, calls)]
            assert sorted(reply.is_new for reply in replies) == [False, True], replies
            assert sorted(reply.is_already for reply in replies) == [False, True], replies
            assert room.people[0].call("ask/answer", **answer)["already"]
            assert room.result(call)["selection"]["selected_ids"] == ["left"]


@test("an answer_key of another ask decides nothing", "P3 R5.3")
def key_of_another_ask() -> None:
    with Room() as room:
        (call, id), (other_call, other) = room.ask(), room.ask()
        room.people[0].call("ask/answer", session_id=id, selected_ids=["left"], answer_key="a key")
        for picks in (["left"], ["right"]):
            late = Reply(room.people[0], room.people[0].start(
                "ask/answer", session_id=other, selected_ids=picks, answer_key="a key"))
            assert late.error.get("code") == "conflicting_arguments", late
        assert room.people[0].call("ask/get", session_id=other)["ask"]["status"] == "pending"
        room.people[0].call("ask/cancel", session_id=other)
        assert ending_of(room.result(call)) == ENDINGS["answer"]
        assert ending_of(room.result(other_call)) == ENDINGS["cancel"]


@test("an answer_key sent again with another answer is conflicting_arguments", "P3 R5.3")
def key_with_other_answer() -> None:
    with Room() as room:
        for number in range(scaled(20, full=100)):
            call, id = room.ask()
            answer = {"session_id": id, "answer_key": f"key {number}"}
            with room.moment(number % 2 == 0):
                calls = [person.start("ask/answer", **answer, selected_ids=[pick])
                         for person, pick in zip(room.people, ("left", "right"))]
            replies = [Reply(*pair) for pair in zip(room.people, calls)]
            winner = [reply.is_new for reply in replies].index(True)
            assert replies[1 - winner].error.get("code") == "conflicting_arguments", replies
            pick = ("left", "right")[winner]
            assert room.result(call)["selection"]["selected_ids"] == [pick]
            late = Reply(room.people[0], room.people[0].start(
                "ask/answer", **answer, selected_ids=["straight"]))
            assert late.error.get("code") == "conflicting_arguments", late


@test("a person who repeats a decision is told the ask's state", "R5.3")
def already_is_told() -> None:
    with Room() as room:
        for act in ("answer", "cancel", "decline", "withdraw"):
            call, id = room.ask()
            wire = room.other_agents[0] if act == "withdraw" else room.people[0]
            Reply(wire, start(wire, act, id))
            again = Reply(wire, start(wire, act, id))
            assert again.result == {"session_id": id, "status": STATUS_OF[act], "version": 2,
                                    "already": True}, f"{act}: {again}"
            room.result(call)


@test("a person who extends an ask that is over learns who ended it", "R5.3")
def late_extension() -> None:
    with Room() as room:
        call, id = room.ask()
        room.people[0].call("ask/answer", session_id=id, selected_ids=["left"])
        late = Reply(room.people[1], start(room.people[1], "extend", id))
        assert late.is_refused("already_answered", "submitted"), late
        assert late.error["detail"]["answered_by"]["via"] == "cli", late
        room.result(call)


run()
