"""The checker of histories finds every kind of mistake that is planted, and nothing in a history without one."""
from __future__ import annotations

import random
from typing import Callable

from answers_checker import ACKED, REFUSED, RULES, UNKNOWN, Check, History, Row, check
from harness import run, test

ASKS = 200


def good(seed: int = 1) -> tuple[History, list[Row]]:
    """Asks of every fate, several answerers each, replies lost on the way: all as it should be. The first is answered and
    acked, the second timed out, the third was withdrawn, the fourth is open."""
    chance, history, rows = random.Random(seed), History(), []
    for number in range(ASKS):
        ask_id, question = f"id{number}", f"q{number}"
        fate = ("answered", "timeout", "withdrawn", "open")[number] if number < 4 else chance.choice(
            ("answered", "answered", "answered in doubt", "timeout", "withdrawn", "open"))
        row = Row(ask_id, question, "pending", deadline_ms=1000)
        rows.append(row)
        history.ask(question)
        history.created(question, ask_id)
        if fate.startswith("answered"):
            row.status, row.answers, row.ended_ms = "submitted", [f"a{number}.0"], 500
            history.attempt(ask_id, question, f"a{number}.0", UNKNOWN if "doubt" in fate else ACKED)
            for other in range(1, chance.randrange(1, 4)):
                history.attempt(ask_id, question, f"a{number}.{other}", chance.choice((REFUSED, UNKNOWN)))
            for _ in range(chance.randrange(1, 4)):
                history.result(question, ask_id, "submitted", f"a{number}.0")
        elif fate == "timeout":
            row.status, row.ended_ms = "timeout", 1000 + chance.randrange(50)
            history.attempt(ask_id, question, f"a{number}.0", chance.choice((REFUSED, UNKNOWN)))
            history.result(question, ask_id, "timeout")
        elif fate == "withdrawn":
            row.status = "withdrawn"
            history.withdraw(question)
            history.result(question, ask_id, "withdrawn")
        history.result(question, ask_id, "pending") if fate == "open" else None
    return history, rows


def second_answer(history: History, rows: list[Row]) -> None:
    history.attempt("id0", "q0", "other", ACKED)
    rows[0].answers.append("other")


def answered_by_other(history: History, rows: list[Row]) -> None:
    history.attempt("id0", "q0", "other", UNKNOWN)
    rows[0].answers = ["other"]
    history.results = [result for result in history.results if result.ask_id != "id0"]
    history.result("q0", "id0", "submitted", "other")


def swapped(history: History, rows: list[Row]) -> None:
    history.results = [result for result in history.results if result.ask_id not in ("id0", "id9")]
    history.attempt("id9", "q9", "a9.x", ACKED)
    rows[9].status, rows[9].answers = "submitted", ["a9.x"]
    history.result("q0", "id9", "submitted", "a9.x")
    history.result("q9", "id0", "submitted", "a0.0")


PLANTED: dict[str, tuple[str, Callable[[History, list[Row]], object]]] = {
    "an acked answer is gone": ("lost", lambda h, r: (r[0].answers.clear(), setattr(r[0], "status", "timeout"),
                                                      setattr(r[0], "ended_ms", 1000))),
    "an acked answer was replaced": ("lost", answered_by_other),
    "an answer was refused and kept": ("denied", lambda h, r: h.attempts.__setitem__(slice(None), [
        one._replace(outcome=REFUSED) if one.answer == "a0.0" else one for one in h.attempts])),
    "an ask is gone": ("lost", lambda h, r: r.pop(3)),
    "the agent never got it": ("lost", lambda h, r: h.results.__setitem__(
        slice(None), [result for result in h.results if result.ask_id != "id0"])),
    "the agent got a time-out instead": ("lost", lambda h, r: h.result("q0", "id0", "timeout")),
    "the agent never heard of the time-out": ("lost", lambda h, r: h.results.__setitem__(
        slice(None), [result for result in h.results if result.ask_id != "id1"])),
    "two answers were acked": ("doubled", lambda h, r: h.attempt("id0", "q0", "other", ACKED)),
    "two answers are kept": ("doubled", second_answer),
    "one answer is kept twice": ("doubled", lambda h, r: r[0].answers.append("a0.0")),
    "a question is kept twice": ("doubled", lambda h, r: r.append(Row("again", "q3", "pending"))),
    "a question that timed out is there twice, the second from before": ("doubled", lambda h, r: r.append(
        Row("again", "q1", "pending", created_ms=999))),
    "a question that timed out is there twice again": ("doubled", lambda h, r: r.extend(
        [Row("again", "q1", "pending", created_ms=2000), Row("third", "q1", "pending", created_ms=2001)])),
    "a retry was told another id": ("doubled", lambda h, r: (h.created("q3", "again"), r.append(Row("again", "q3x", "pending")))),
    "the agent got two answers": ("doubled", lambda h, r: (h.attempt("id0", "q0", "other", UNKNOWN),
                                                           h.result("q0", "id0", "submitted", "other"))),
    "two agents' results are swapped": ("crossed", swapped),
    "the database has another's answer": ("crossed", lambda h, r: (setattr(r[3], "status", "submitted"),
                                                                   r[3].answers.append("a0.0"),
                                                                   h.result("q3", "id3", "submitted", "a0.0"))),
    "a person was shown another question": ("crossed", lambda h, r: h.attempt("id3", "q0", "new", UNKNOWN)),
    "an answer of nobody": ("invented", lambda h, r: (setattr(r[3], "status", "submitted"), r[3].answers.append("made up"),
                                                      h.result("q3", "id3", "submitted", "made up"))),
    "silence became an answer": ("invented", lambda h, r: (setattr(r[1], "status", "submitted"),
                                                           h.result("q1", "id1", "submitted"))),
    "a time-out with a selection": ("invented", lambda h, r: h.result("q1", "id1", "timeout", "a1.0")),
    "taken back by nobody": ("invented", lambda h, r: h.withdrawn.discard("q2")),
    "a deadline came early": ("early", lambda h, r: setattr(r[1], "ended_ms", 999)),
    "a side saw something": ("seen", lambda h, r: h.complain("refused without a winner")),
}


@test("nothing is found where nothing is wrong")
def nothing() -> None:
    for seed in range(20):
        history, rows = good(seed)
        found = check(history, rows)
        assert not found, found[:3]


@test("a call that was lost may ask again once its first ask has timed out")
def asked_again() -> None:
    history, rows = good()
    history.results = [result for result in history.results if result.ask_id != "id1"]
    rows.append(Row("again", "q1", "timeout", deadline_ms=3000, ended_ms=3000, created_ms=2000))
    history.result("q1", "again", "timeout")
    assert not check(history, rows), check(history, rows)


@test("each planted mistake is found for what it is, among two hundred asks", "P10")
def planted() -> None:
    for what, (kind, plant) in PLANTED.items():
        history, rows = good()
        plant(history, rows)
        found = check(history, rows)
        assert kind in {violation.kind for violation in found}, f"{what}: {found}"
        assert len(found) <= 8, f"{what}: {found}"


@test("every rule of the checker finds something of what is planted")
def every_rule() -> None:
    useful = set()
    for _, plant in PLANTED.values():
        history, rows = good()
        plant(history, rows)
        look = Check(history, rows)
        useful |= {rule.__name__ for rule in RULES if list(rule(look))}
    assert useful == {rule.__name__ for rule in RULES}, {rule.__name__ for rule in RULES} - useful


run()
