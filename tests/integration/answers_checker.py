"""What asking and answering sides saw, against what the database holds: finds answers that were lost, doubled, crossed
or invented, whatever broke in between.

A question and an answer each carry a word of their own (a nonce), so that each can be recognised wherever it turns up.
Asking sides say what they asked, which id they were told and every result they got; answering sides every attempt with
what they were shown and how it ended: `acked`, `refused`, or `unknown` where the reply was lost. At the end every ask is
collected once more and the rows are read. check() knows nothing of hubs, stores or faults.
"""
from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import threading
from typing import Iterable, NamedTuple

ACKED, REFUSED, UNKNOWN = "acked", "refused", "unknown"
ANSWERED = "submitted"  # the status of a result that has an answer
OPEN = ("pending", "pending_terminal_launch")


class Attempt(NamedTuple):
    """An answer that was sent: to this ask, shown as this question."""
    ask_id: str
    question: str
    answer: str
    outcome: str


class Result(NamedTuple):
    """An asking side was told how it ended; answer "" where there is none."""
    question: str
    ask_id: str
    status: str
    answer: str


@dataclasses.dataclass
class Row:
    """An ask as the database holds it. `answers`: of each event that answered it, in order."""
    ask_id: str
    question: str
    status: str
    answers: list[str] = dataclasses.field(default_factory=list)
    deadline_ms: int = 0  # 0: none
    ended_ms: int = 0
    created_ms: int = 0


class Violation(NamedTuple):
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class History:
    """Written to by many threads while it happens."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked: set[str] = set()
        self.ids: dict[str, set[str]] = collections.defaultdict(set)
        self.attempts: list[Attempt] = []
        self.results: list[Result] = []
        self.withdrawn: set[str] = set()
        self.complaints: list[str] = []

    def ask(self, question: str) -> None:
        """Before it is sent for the first time."""
        with self.lock:
            self.asked.add(question)

    def created(self, question: str, ask_id: str) -> None:
        with self.lock:
            self.ids[question].add(ask_id)

    def result(self, question: str, ask_id: str, status: str, answer: str = "") -> None:
        with self.lock:
            self.ids[question].add(ask_id)
            self.results.append(Result(question, ask_id, status, answer))

    def attempt(self, ask_id: str, question: str, answer: str, outcome: str) -> None:
        with self.lock:
            self.attempts.append(Attempt(ask_id, question, answer, outcome))

    def withdraw(self, question: str) -> None:
        """Before the asking side takes it back; whether that came in time is the database's word."""
        with self.lock:
            self.withdrawn.add(question)

    def complain(self, text: str) -> None:
        """What a side saw by itself to be wrong."""
        with self.lock:
            self.complaints.append(text)

    def keep(self, path: pathlib.Path) -> None:
        """For who looks into a failure afterwards, one record a line."""
        with self.lock, open(path, "w") as out:
            for kind in ("attempts", "results"):
                out.writelines(json.dumps({"kind": kind, **row._asdict()}) + "\n" for row in getattr(self, kind))
            out.writelines(json.dumps({"kind": "ids", "question": question, "ids": sorted(ids)}) + "\n"
                           for question, ids in self.ids.items())


class Check:
    """One look; every rule is a method that yields violations."""

    def __init__(self, history: History, rows: Iterable[Row]):
        self.history = history
        self.rows = list(rows)
        self.by_id = {row.ask_id: row for row in self.rows}
        self.by_question: dict[str, list[Row]] = collections.defaultdict(list)
        for row in self.rows:
            self.by_question[row.question].append(row)
        self.sent: dict[str, set[str]] = collections.defaultdict(set)  # answers by the ask they were meant for
        self.meant_for: dict[str, str] = {}
        for attempt in history.attempts:
            self.sent[attempt.ask_id].add(attempt.answer)
            self.meant_for[attempt.answer] = attempt.ask_id

    def asks_are_kept(self) -> Iterable[Violation]:
        for question, ids in self.history.ids.items():
            for ask_id in sorted(ids):
                if ask_id not in self.by_id:
                    yield Violation("lost", f"{question} was told {ask_id}, which is not in the database")

    def _was_asked_again(self, row: Row) -> bool:
        """A retry whose first call was lost comes after that ask timed out, and asks again: a timeout is not an answer that
        is kept for the next call (R5.5)."""
        return row.status == "timeout" and any(
            other.created_ms >= row.ended_ms for other in self.by_question[row.question] if other is not row)

    def asks_are_single(self) -> Iterable[Violation]:
        for question, rows in self.by_question.items():
            rows = [row for row in rows if not self._was_asked_again(row)]
            if question in self.history.asked and len(rows) > 1:
                yield Violation("doubled", f"{question} is there {len(rows)} times: {[row.ask_id for row in rows]}")
        for question, ids in self.history.ids.items():
            ids = [ask_id for ask_id in sorted(ids) if ask_id not in self.by_id or not self._was_asked_again(self.by_id[ask_id])]
            if len(ids) > 1:
                yield Violation("doubled", f"{question} was told {len(ids)} ids: {ids}")

    def acked_answers_are_kept(self) -> Iterable[Violation]:
        acked = collections.defaultdict(set)
        for attempt in self.history.attempts:
            if attempt.outcome == ACKED:
                acked[attempt.ask_id].add(attempt.answer)
        for ask_id, answers in acked.items():
            if len(answers) > 1:
                yield Violation("doubled", f"{ask_id}: {len(answers)} answers were taken: {sorted(answers)}")
            kept = self.by_id[ask_id].answers if ask_id in self.by_id else []
            for answer in sorted(answers - set(kept)):
                yield Violation("lost", f"{ask_id}: {answer} was taken, the database has {kept or 'none'}")

    def refused_answers_are_not_kept(self) -> Iterable[Violation]:
        """Who was told "nothing was stored" at every attempt must be able to rely on it."""
        outcomes = collections.defaultdict(set)
        for attempt in self.history.attempts:
            outcomes[attempt.ask_id, attempt.answer].add(attempt.outcome)
        for (ask_id, answer), seen in outcomes.items():
            if seen == {REFUSED} and ask_id in self.by_id and answer in self.by_id[ask_id].answers:
                yield Violation("denied", f"{ask_id}: {answer} was refused, and is what the database has")

    def answers_are_single(self) -> Iterable[Violation]:
        for row in self.rows:
            if len(row.answers) > 1:
                yield Violation("doubled", f"{row.ask_id} was answered {len(row.answers)} times: {row.answers}")

    def answers_belong(self) -> Iterable[Violation]:
        places = [(f"the database has for {row.ask_id}", row.ask_id, answer) for row in self.rows for answer in row.answers]
        places += [(f"{result.question} got from {result.ask_id}", result.ask_id, result.answer)
                   for result in self.history.results if result.answer]
        for where, ask_id, answer in places:
            if answer not in self.meant_for:
                yield Violation("invented", f"{where} {answer}, which nobody sent")
            elif answer not in self.sent[ask_id]:
                yield Violation("crossed", f"{where} {answer}, which was for {self.meant_for[answer]}")

    def ids_belong(self) -> Iterable[Violation]:
        """Who is told or shown an ask gets that of its own question."""
        told = [(f"{result.question} got a result of", result.ask_id, result.question) for result in self.history.results]
        told += [(f"{question} was told", ask_id, question) for question, ids in self.history.ids.items() for ask_id in ids]
        told += [(f"who was shown {attempt.question} answered", attempt.ask_id, attempt.question)
                 for attempt in self.history.attempts]
        for where, ask_id, question in told:
            if ask_id in self.by_id and self.by_id[ask_id].question != question:
                yield Violation("crossed", f"{where} {ask_id}, which is {self.by_id[ask_id].question}")

    def results_agree(self) -> Iterable[Violation]:
        """All that an asking side ever got is what the database holds."""
        for result in self.history.results:
            row = self.by_id.get(result.ask_id)
            if not row or result.status in OPEN:
                continue
            kept = row.answers[0] if row.answers else ""
            if result.answer and not kept:
                yield Violation("lost", f"{result.question} got {result.answer}, the database has none")
            elif result.answer != kept or (result.status == ANSWERED) != (row.status == ANSWERED):
                yield Violation("lost" if kept and not result.answer else "doubled",
                                f"{result.question} got {result.status} {result.answer or '(none)'}, the database has "
                                f"{row.status} {kept or '(none)'}")

    def answers_arrive(self) -> Iterable[Violation]:
        """Every ask was collected at the end; one that has an answer, or has ended, must have said so."""
        arrived = {result.ask_id for result in self.history.results if result.status not in OPEN}
        for row in self.rows:
            if (row.question in self.history.asked and row.status not in OPEN and row.ask_id not in arrived
                    and not self._was_asked_again(row)):
                yield Violation("lost", f"{row.question} never got its {row.status}")

    def silence_is_no_answer(self) -> Iterable[Violation]:
        for row in self.rows:
            if (row.status == ANSWERED) != bool(row.answers):
                yield Violation("invented" if not row.answers else "lost",
                                f"{row.ask_id} is {row.status} with {len(row.answers)} answers")
        for result in self.history.results:
            if result.status == ANSWERED and not result.answer:
                yield Violation("invented", f"{result.question} got {ANSWERED} without an answer")
            if result.status != ANSWERED and result.answer:
                yield Violation("invented", f"{result.question} got {result.status} with {result.answer}")

    def deadlines_hold(self) -> Iterable[Violation]:
        """By the database's clock, whatever the hubs' show."""
        for row in self.rows:
            if row.status == "timeout" and row.ended_ms < row.deadline_ms:
                yield Violation("early", f"{row.ask_id} ended {row.deadline_ms - row.ended_ms} ms before its deadline")

    def ends_have_a_cause(self) -> Iterable[Violation]:
        for row in self.rows:
            if row.status == "withdrawn" and row.question not in self.history.withdrawn:
                yield Violation("invented", f"{row.question} was taken back by nobody")

    def sides_saw_nothing(self) -> Iterable[Violation]:
        for text in self.history.complaints:
            yield Violation("seen", text)


RULES = [rule for name, rule in vars(Check).items() if not name.startswith("_")]


def check(history: History, rows: Iterable[Row]) -> list[Violation]:
    """Each violation once, in the order of the rules."""
    look = Check(history, rows)
    return list(dict.fromkeys(violation for rule in RULES for violation in rule(look)))
