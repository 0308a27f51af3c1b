"""Deadlines over changes of the wall clock, restarts, stops and another boot clock.

Proves: R5.4 P5 P6
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import os
import random
import shutil
import signal
import subprocess
import time
from typing import Iterator

from clock_stage import EARLY_S, PATIENCE_S, Asker, FakedHome, locked_database, person, row_of
from harness import HANG_S, Home, Skip, needs_file, note, run, scaled, side_by_side, test, wait_until

HOUR, DAY, YEAR = 3600, 86400, 365 * 86400


# The wall clock is set ---------------------------------------------------------------------------


@test("50 and more jumps of the wall clock end no ask early and none late", "R5.4 P6")
def clock_jumps() -> None:
    jumps = [YEAR * 10, -YEAR * 10, HOUR, -HOUR, DAY, -DAY, 5, -5, 2, -2, 1, -1, 40 * YEAR, 0]

    def lane(seed: int) -> tuple[int, float]:
        chance, count = random.Random(seed), 0
        with FakedHome() as home:
            home.serve()
            with Asker(home, f"a{seed}") as asker, Asker(home, f"b{seed}") as late_comer, person(home) as someone:
                calls = [asker.ask(f"ask {i}", 2 + i % 8)[0] for i in range(24)]
                moved, moved_id = asker.ask("moved", 300)
                moved_at = time.monotonic()
                late_calls = []
                until = time.monotonic() + 8
                while time.monotonic() < until or count < scaled(50) / 3:
                    home.set_clock(chance.choice(jumps))
                    count += 1
                    time.sleep(chance.uniform(0.05, 0.2))
                    for row in someone.call("ask/list", which="active")["asks"]:
                        most = 300 if row["session_id"] == moved_id else 9
                        left = row["remaining_seconds"]  # null while its end is being stored
                        assert left is None or 0 <= left <= most, row
                    if count % 4 == 0 and len(late_calls) < 20:
                        late_calls.append(late_comer.ask(f"late {count}", 2)[0])
                    if count == 20:
                        moved_at = time.monotonic()
                        someone.call("ask/extend", session_id=moved_id, seconds=4)
                worst = [asker.wait_timeout(call) for call in calls]
                worst += [late_comer.wait_timeout(call) for call in late_calls]
                worst.append(asker.wait_timeout(moved, moved_at, 4))
        return count, max(worst)

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        counts = list(pool.map(lane, range(3)))
    note(f"{sum(c for c, _ in counts)} jumps, late by {max(w for _, w in counts) * 1000:.0f} ms at worst")


@test("the wall clock is set while a commit is under way: nothing ends early or hangs", "R5.4 P6")
def jump_within_commit() -> None:
    def create(offset: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker:
                with locked_database(home):
                    call = asker.start("slow", 4)
                    time.sleep(0.5)
                    home.set_clock(offset)
                    time.sleep(0.5)
                asker.wait_timeout(call)

    def extend(offset: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker, person(home) as someone:
                call, ask = asker.ask("moved", 60)
                began = time.monotonic()
                with locked_database(home):
                    extension = someone.start("ask/extend", session_id=ask, seconds=4)
                    time.sleep(0.5)
                    home.set_clock(offset)
                    time.sleep(0.5)
                someone.finish(extension)
                asker.wait_timeout(call, began, 4)

    def undo_window(offset: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker, person(home, channel="terminal") as someone:
                call, ask = asker.ask("answered", 300)
                began = time.monotonic()
                with locked_database(home):
                    answer = someone.start("ask/answer", session_id=ask, selected_ids=["a"])
                    time.sleep(0.5)
                    home.set_clock(offset)
                    time.sleep(0.5)
                assert 0 < someone.finish(answer)["undo_ms"] <= 5000
                result = asker.result(call)
                took = time.monotonic() - began
                assert result["action_status"] == "selected" and 3.9 <= took <= 7 + PATIENCE_S, took

    side_by_side(*(lambda act=act, offset=offset: act(offset) for act in (create, extend, undo_window)
                   for offset in (DAY, -DAY)))


# Restarts ----------------------------------------------------------------------------------------


@test("restart across a clock change: what remains is between nothing and all", "R5.4 P5")
def restart_across_jump() -> None:
    needs_file()
    cases = [  # clock, and what is left of 100 s (None: it is over)
        (0, (95, 100)), (50, (45, 50)), (-50, (95, 100)), (-DAY, (95, 100)), (-10 * YEAR, (95, 100)),
        (99, (0, 1)), (101, None), (DAY, None), (10 * YEAR, None),
    ]

    def one(offset: int, wanted: tuple[int, int] | None, number: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker:
                _, ask = asker.ask("kept", 100)
            home.restart(offset, number)
            with person(home) as someone:
                row = row_of(someone, ask)
                if wanted is None or wanted[0] == 0:
                    assert row["status"] == "timeout" or row["remaining_seconds"] <= 5, (offset, row)
                    wait_until(lambda: row_of(someone, ask)["status"] == "timeout", f"it is over at {offset}")
                else:
                    assert row["status"] == "pending", (offset, row)
                    assert wanted[0] <= row["remaining_seconds"] <= wanted[1], (offset, row)

    side_by_side(*(lambda case=case, number=number: one(*case, number) for case in cases
                   for number in (signal.SIGKILL, signal.SIGTERM)))


@test("a clock set while the hub runs does not count as time passed at the next start", "R5.4 P5")
def jump_then_restart() -> None:
    def one(offset: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker:
                _, ask = asker.ask("kept", 100)
            home.set_clock(offset)
            with person(home) as someone:  # a client lists, so the hub is awake once
                someone.call("ask/list")
                time.sleep(0.2)
            home.restart(offset, signal.SIGTERM)
            with person(home) as someone:
                row = row_of(someone, ask)
                assert row["status"] == "pending" and 90 <= row["remaining_seconds"] <= 100, (offset, row)

    side_by_side(*(lambda offset=offset: one(offset) for offset in (HOUR, -HOUR, 10 * YEAR)))


@test("an answer within its undo window reaches the agent soon after any restart", "R5.4")
def undo_window_across_restart() -> None:
    def one(offset: int) -> None:
        with FakedHome() as home:
            home.serve()
            with Asker(home) as asker, person(home, channel="terminal") as someone:
                _, ask = asker.ask("answered", 300)
                ack = someone.call("ask/answer", session_id=ask, selected_ids=["a"])
                assert 0 < ack["undo_ms"] <= 5000, ack
            home.restart(offset)
            with Asker(home) as asker:
                result = asker.call("ask/wait", session_id=ask, wait_seconds=15)
                assert result["action_status"] == "selected", (offset, result)

    side_by_side(*(lambda offset=offset: one(offset) for offset in (0, HOUR, -HOUR, -10 * YEAR)))


@test("100 restarts leave deadlines where they were, within a second", "R5.4 P5")
def many_restarts() -> None:
    def lane(rounds: int) -> float:
        with Home() as home:
            home.spawn("serve")
            home.wait_hub()
            asks: dict[str, tuple[float, float]] = {}  # no earlier and no later than: the hub has begun to count in between
            with Asker(home) as asker:
                for seconds in (15, 60, 3600, 2592000):
                    call, ask = asker.ask(f"{seconds} s", seconds)
                    asks[ask] = asker.sent[call][0] + seconds, time.monotonic() + seconds
            first, worst = next(iter(asks)), 0.0
            for i in range(rounds):
                process = home.spawned[-1]
                process.send_signal(signal.SIGKILL if i % 4 else signal.SIGTERM)
                process.communicate(timeout=HANG_S)
                home.spawned.remove(process)
                home.spawn("serve")
                home.wait_hub()
                with person(home) as someone:
                    began = time.monotonic()
                    rows = {row["session_id"]: row for row in someone.call("ask/list")["asks"]}
                    ended = time.monotonic()
                    for ask, (least, most) in asks.items():
                        if least - ended > 0.1:
                            left = rows[ask]["remaining_seconds"]
                            assert rows[ask]["status"] == "pending", rows[ask]
                            assert least - ended - 0.1 <= left <= most - began + 1.1, (least - ended, most - began, rows[ask])
                            worst = max(worst, abs(left - (least - ended) - 0.5))
            with Asker(home) as asker:
                result = asker.call("ask/wait", session_id=first, wait_seconds=30)
                late = time.monotonic() - asks[first][0]
                assert result["action_status"] == "timeout", result
                assert -EARLY_S <= late, late
        return worst

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lane, [scaled(25)] * 4))


# Asleep ------------------------------------------------------------------------------------------


@test("stopped past the deadline: 5 s in which an answer still counts, then the timeout", "R5.4 P6")
def stopped_hub() -> None:
    @contextlib.contextmanager
    def woken() -> Iterator[tuple[Home, Asker, list[tuple[int, str]], float]]:
        with Home() as home:
            home.spawn("serve")
            pid = home.wait_hub()
            with Asker(home) as asker:
                asks = [asker.ask("short", 2), asker.ask("longer", 3), asker.ask("far", 600)]
                os.kill(pid, signal.SIGSTOP)
                time.sleep(5)
                woke = time.monotonic()
                os.kill(pid, signal.SIGCONT)
                yield home, asker, asks, woke

    def answered() -> None:
        with woken() as (home, asker, asks, woke), person(home) as someone:
            left = row_of(someone, asks[0][1])
            assert left["status"] == "pending" and 3 <= left["remaining_seconds"] <= 5, left
            time.sleep(max(0, woke + 3.5 - time.monotonic()))
            ack = someone.call("ask/answer", session_id=asks[0][1], selected_ids=["b"])
            assert ack["status"] == "submitted", ack
            assert asker.result(asks[0][0])["selection"]["selected_ids"] == ["b"]
            far = row_of(someone, asks[2][1])  # the time asleep has passed for the others
            assert 585 <= far["remaining_seconds"] <= 596, far

    def left_alone() -> None:
        with woken() as (home, asker, asks, woke):
            for call, _ in asks[:2]:
                result = asker.result(call)
                took = time.monotonic() - woke
                assert result["action_status"] == "timeout" and result["selection"]["selected_ids"] == []
                assert 5 - EARLY_S <= took <= 6 + PATIENCE_S, took

    def extended() -> None:
        with woken() as (home, asker, asks, woke), person(home) as someone:
            someone.call("ask/extend", session_id=asks[1][1], seconds=60)
            assert asker.result(asks[0][0])["action_status"] == "timeout"
            assert row_of(someone, asks[1][1])["status"] == "pending"

    def in_time() -> None:  # woken before the deadline: nothing is late, nothing is early
        with Home() as home:
            home.spawn("serve")
            pid = home.wait_hub()
            with Asker(home) as asker:
                call, _ = asker.ask("in time", 4)
                os.kill(pid, signal.SIGSTOP)
                time.sleep(2)
                os.kill(pid, signal.SIGCONT)
                asker.wait_timeout(call)

    side_by_side(answered, left_alone, extended, in_time)


@test("another boot clock: a hub in its own time namespace keeps deadlines, and so does the next", "R5.4 P5")
def time_namespace(home: Home) -> None:
    unshare = shutil.which("unshare")
    prefix = ["--time", "--fork", "--boottime", str(DAY), "--monotonic", str(DAY)]
    if os.getuid() != 0 or not unshare or subprocess.run(
            [unshare, *prefix, "true"], capture_output=True).returncode != 0:
        raise Skip("the kernel gives no time namespace here, or not to this user")

    def in_namespace(old_pid: int) -> int:
        inside = copy.copy(home)
        inside.binary = unshare
        inside.spawn(*prefix, home.binary, "serve")
        # Its start is told in the namespace's time, so hub_pid() can't know it.
        return wait_until(lambda: (pid := home.hub()["pid"]) != old_pid and pid, "a hub in the namespace")

    def end(pid: int, number: int) -> None:
        os.kill(pid, number)
        process = home.spawned[-1]
        process.communicate(timeout=HANG_S)
        home.spawned.remove(process)

    home.spawn("serve")
    home.wait_hub()
    with Asker(home) as asker:
        _, ask = asker.ask("through all of it", 100)
    old_pid = home.hub()["pid"]
    end(old_pid, signal.SIGKILL)
    pid = in_namespace(old_pid)
    try:
        with Asker(home) as asker, person(home) as someone:
            row = row_of(someone, ask)
            assert row["status"] == "pending" and 90 <= row["remaining_seconds"] <= 100, row
            asker.wait_timeout(asker.ask("here", 2)[0])
    finally:
        end(pid, signal.SIGKILL)
    assert home.sayso("list", "--json").code == 0
    with person(home) as someone:
        row = row_of(someone, ask)
        assert row["status"] == "pending" and 85 <= row["remaining_seconds"] <= 100, row


run()
