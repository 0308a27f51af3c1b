"""Deadlines: never early, hardly late, moved by people and by typing; silence chooses nothing.

Proves: R5.4 R5.6 P6
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import random
import time
from typing import Any, Callable

from clock_stage import EARLY_S, PATIENCE_S, Asker, locked_database, person, row_of
from harness import Home, WireError, note, run, side_by_side, test, wait_until


def code_of(act: Callable[[], Any]) -> str | None:
    """The error's name, None if there was none."""
    try:
        act()
    except WireError as problem:
        return problem.data["code"]
    return None


# The plain case ----------------------------------------------------------------------------------


@test("timeouts of 1 to 3 s are never early and at most a second late", "R5.4 P6")
def plain_timeouts(home: Home) -> None:
    assert home.sayso("list").code == 0
    worst: list[float] = []

    def on_the_wire() -> None:
        with Asker(home) as asker:
            calls = [asker.ask(f"ask {i}", 1 + i % 3)[0] for i in range(24)]
            worst.extend(map(asker.wait_timeout, calls))

    def by_hand() -> None:
        began = time.monotonic()
        result = home.sayso("ask", "By hand", "-p", "Nobody will answer this one in time.", "-o", "a=First",
                            "-o", "b=Second", "-r", "a", "--default", "a", "--timeout", "1")
        took = time.monotonic() - began
        assert result.code == 4 and result.out == "" and "timed out" in result.err, result
        assert 1 - EARLY_S <= took <= 2 + PATIENCE_S, took

    side_by_side(on_the_wire, by_hand)
    note(f"late by {min(worst) * 1000:.1f} to {max(worst) * 1000:.1f} ms")


@test("a timeout carries no selection and is final", "R5.6 R5.4")
def timeout_is_final(home: Home) -> None:
    assert home.sayso("list").code == 0
    with Asker(home) as asker, person(home) as someone:
        calls = {
            "single": asker.ask("single", 1, default_selection_ids=["b"]),
            "multi": asker.ask("multi", 1, selection_mode="multi", default_selection_ids=["a", "b"]),
            "hybrid": asker.ask("hybrid", 1, selection_mode="hybrid"),
            "text": asker.ask("text", 1, selection_mode="text_input"),
        }
        for kind, (call, ask) in calls.items():
            result = asker.result(call)
            selection = result["selection"]
            assert result["action_status"] == "timeout" and result["explicit"] is False, result
            assert selection["selected_ids"] == [] and not selection.get("custom_input"), (kind, result)
            assert not {"auto_submitted", "answered_by", "declined", "withdrawn"} & set(result), result
            assert result["instructions"]
            again = asker.call("ask/wait", session_id=ask, wait_seconds=0)
            assert again == result, (again, result)
            late = {"ask/answer": {"selected_ids": ["a"]} if kind != "text" else {"custom_input": "x"},
                    "ask/cancel": {}, "ask/decline": {}, "ask/extend": {"seconds": 60},
                    "ask/draft": {"draft": {"custom_input": "x"}}, "ask/undo": {}}
            for method, params in late.items():
                code = code_of(lambda: someone.call(method, session_id=ask, **params))
                assert code in ("wrong_state", "already_answered"), (kind, method, code)
            assert row_of(someone, ask)["status"] == "timeout"


# The person's own setting ------------------------------------------------------------------------


@test("defaults are submitted at the deadline only by the person's own setting and only where they suffice",
      "R5.6")
def submit_defaults() -> None:
    def expect(home: Home, wanted: dict[str, list[str] | None]) -> None:
        more = {
            "enough": {"default_selection_ids": ["b"]},
            "several": {"selection_mode": "multi", "default_selection_ids": ["c", "a"], "min_selections": 2},
            "hybrid": {"selection_mode": "hybrid", "default_selection_ids": ["b"], "min_selections": 1},
            "too few": {"selection_mode": "multi", "default_selection_ids": ["a"], "min_selections": 2},
            "none": {},
            "none needed": {"selection_mode": "multi"},
            "text": {"selection_mode": "text_input"},
            "destructive": {"default_selection_ids": ["b"], "destructive": True},
        }
        with Asker(home) as asker:
            calls = {title: asker.ask(title, 1, **arguments)[0] for title, arguments in more.items()}
            for title, call in calls.items():
                result = asker.result(call)
                ids = result["selection"]["selected_ids"]
                assert result["action_status"] == "timeout" and result["explicit"] is False, result
                assert "answered_by" not in result, result
                if wanted.get(title) is None:
                    assert ids == [] and "auto_submitted" not in result, (title, result)
                else:
                    assert ids == wanted[title] and result["auto_submitted"] is True, (title, result)

    auto = {"enough": ["b"], "several": ["a", "c"], "hybrid": ["b"]}

    def saved() -> None:
        with Home() as home:
            assert home.sayso("settings", "set", "timeout_action", "submit_defaults").code == 0
            expect(home, auto)
            command = ("ask", "T", "-p", "A prompt that is long enough.", "-o", "a=A", "-o", "b=B", "-r", "a",
                       "-d", "b", "-t", "1")
            result = home.sayso(*command)
            assert result.code == 4 and result.out == "b\n", result
            home.kill_hub()
            result = home.sayso(*command, "--json")  # the setting is kept
            assert result.code == 4 and result.json["auto_submitted"] is True, result
            assert home.sayso("settings", "set", "timeout_action", "none").code == 0
            expect(home, {})

    def from_environment() -> None:
        with Home(env={"SAYSO_TIMEOUT_ACTION": "submit_defaults"}) as home:
            assert home.sayso("list").code == 0
            expect(home, auto)

    def agents_cannot() -> None:
        with Home() as home:
            assert home.sayso("list").code == 0
            with Asker(home) as asker:
                for method in ("settings/set", "settings/list"):
                    try:
                        asker.call(method, name="timeout_action", value="submit_defaults")
                        raise AssertionError("an agent changed the person's setting")
                    except WireError as problem:
                        assert problem.code == -32002, problem
            expect(home, {})

    side_by_side(saved, from_environment, agents_cannot)


# More or less time -------------------------------------------------------------------------------


@test("the deadline that a person sets shows everywhere immediately, holds, and has limits", "R5.4")
def extend(home: Home) -> None:
    assert home.sayso("list").code == 0
    with Asker(home) as asker, person(home) as one, person(home) as other:
        other.call("ask/watch")
        call, ask = asker.ask("moved", 2)
        for seconds in (600, 2592000, 40):
            version = row_of(one, ask)["version"]
            ack = one.call("ask/extend", session_id=ask, seconds=seconds)
            assert seconds * 1000 - 500 <= ack["remaining_ms"] <= seconds * 1000, ack
            row = row_of(other, ask)
            assert row["remaining_seconds"] == seconds and row["version"] == version + 1, row
            listed = home.sayso("list", "--json").json[0]
            assert seconds - 1 <= listed["remaining_seconds"] <= seconds, listed
            event = next(e for e in reversed(other.events) if e.get("method") == "ask/changed")
            assert event["params"]["ask"]["remaining_seconds"] == seconds, event
        for bad in (0, -1, 2592001, 1.5, "5", None, True, [3]):
            code = code_of(lambda: one.call("ask/extend", session_id=ask, seconds=bad))
            assert code in ("out_of_range", "bad_type"), (bad, code)
        began = time.monotonic()
        one.call("ask/extend", session_id=ask, seconds=1)
        asker.wait_timeout(call, began, 1)
        cli = home.sayso("extend", ask, "60")
        assert cli.code == 1 and cli.err, cli


@test("more time against the deadline: acknowledged means the ask goes on", "R5.4 R5.6")
def extend_against_expiry() -> None:
    def race(lane: int) -> tuple[int, int]:
        won = lost = 0
        with Home() as home:
            assert home.sayso("list").code == 0
            with Asker(home) as asker, person(home) as someone:
                asks = []
                for i in range(25):
                    asks.append(asker.ask(f"race {i}", 1))
                    time.sleep(0.015)
                began = [asker.sent[call][0] for call, _ in asks]
                for i, (call, ask) in enumerate(asks):
                    time.sleep(max(0, began[i] + 1 + random.uniform(-0.012, 0.004) - time.monotonic()))
                    is_extended = code_of(lambda: someone.call("ask/extend", session_id=ask, seconds=30)) is None
                    won, lost = won + is_extended, lost + (not is_extended)
                    began[i] = -1 if is_extended else began[i]
                time.sleep(0.3)
                for start, (call, ask) in zip(began, asks):
                    status = row_of(someone, ask)["status"]
                    assert status == ("pending" if start == -1 else "timeout"), (status, start)
        return won, lost

    def slow_disk() -> None:  # the deadline comes while the extension is on its way to the disk
        with Home() as home:
            assert home.sayso("list").code == 0
            with Asker(home) as asker, person(home) as someone:
                call, ask = asker.ask("slow", 2)
                time.sleep(1.3)
                with locked_database(home):
                    extension = someone.start("ask/extend", session_id=ask, seconds=30)
                    time.sleep(1.5)
                with contextlib.suppress(WireError):
                    someone.finish(extension)
                    time.sleep(0.5)
                    row = row_of(someone, ask)
                    assert row["status"] == "pending" and 25 <= row["remaining_seconds"] <= 30, row
                    assert someone.call("ask/answer", session_id=ask, selected_ids=["a"])["status"] == "submitted"
                    assert asker.result(call)["action_status"] == "selected"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        slow = pool.submit(slow_disk)
        counts = list(pool.map(race, range(3)))
        slow.result()
    note(f"{sum(w for w, _ in counts)} extended, {sum(l for _, l in counts)} too late")


@test("while a person types, the deadline stays 30 s away, 10 min in all, shown as held, unless switched off",
      "R5.4")
def typing_hold(home: Home) -> None:
    assert home.sayso("list").code == 0
    with Asker(home) as asker, person(home) as typist, person(home) as other:
        other.call("ask/watch")
        _, ask = asker.ask("typed", 5)
        typist.call("ask/draft", session_id=ask, draft={"custom_input": "h"})
        row = row_of(other, ask)
        assert row["remaining_seconds"] == 30 and 24 <= row["held_seconds"] <= 25, row
        assert any(e.get("method") == "ask/drafted" for e in other.events)
        held = [e["params"]["ask"].get("held_seconds") for e in other.events if e.get("method") == "ask/changed"]
        assert held[-1] and held[-1] >= 24, "watchers do not see that it is held"
        _, far = asker.ask("far", 100)
        typist.call("ask/draft", session_id=far, draft={"custom_input": "h"})
        assert 99 <= row_of(other, far)["remaining_seconds"] <= 100 and "held_seconds" not in row_of(other, far)
        for _ in range(40):  # a second left, then a key: 29 more, until there is no more to add
            typist.call("ask/extend", session_id=ask, seconds=1)
            typist.call("ask/draft", session_id=ask, draft={"custom_input": "hello"})
            row = row_of(other, ask)
            if row["remaining_seconds"] < 30:
                break
        assert row["held_seconds"] == 600 and row["remaining_seconds"] < 30, row
        time.sleep(0.5)  # a draft is not waited for: the newest may go with a hub that is killed
        home.kill_hub()
    assert home.sayso("list").code == 0
    with Asker(home, "after") as asker, person(home) as typist:
        row = row_of(typist, ask)
        assert row["held_seconds"] == 600, row  # not to be had again by a restart
        typist.call("ask/extend", session_id=ask, seconds=1)
        typist.call("ask/draft", session_id=ask, draft={"custom_input": "more"})
        row = row_of(typist, ask)
        assert row["status"] == "timeout" or row["remaining_seconds"] <= 1, f"more is added: {row}"
        wait_until(lambda: row_of(typist, ask)["status"] == "timeout", "it is over")
        typist.call("settings/set", name="typing_hold", value="off")
        call, ask = asker.ask("not held", 1)
        typist.call("ask/draft", session_id=ask, draft={"custom_input": "h"})
        assert row_of(typist, ask)["remaining_seconds"] == 1
        asker.wait_timeout(call)


run()
