"""What is under way outlives kill -9: deadlines, drafts and undo windows."""
from __future__ import annotations

import contextlib
import datetime
import json
import subprocess
import time
from typing import Any

from harness import Home, Wire, WireError, counted, run, scaled, test, wait_until
from kill_stage import HANG_S, PRINCIPAL, Decision, arguments, decision_of

RESTARTS = scaled(100)


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
    assert 2 <= took < 2 + HANG_S, f"the two seconds took {took:.1f}"


@test("a draft survives kill -9, the last one counts, and it stays when another person answers first", "P5 R5.2 R5.9")
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


@test("an answer that was sent without an undo window cannot be taken back after kill -9", "P1 R5.2")
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
