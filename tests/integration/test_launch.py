"""The hand-off to a terminal as scripts and the wire see it: one command, one use, whatever dies.

Proves: R6.2
"""
from __future__ import annotations

import json
import os
import shlex
import threading

from cli_stage import PENDING, ask_json, collect
from harness import BIN, CRASH_BIN, UNLIMITED, Home, Wire, WireError, points_here, run, scaled, test, wait_until


def handed(home: Home, title: str = "Deploy?", **more: object) -> dict:
    result = ask_json(home, title=title, interface="terminal", **more)
    assert result.code == PENDING and result.json["action_status"] == "pending_terminal_launch", result
    return result.json


def code_of(result: dict) -> str:
    words = shlex.split(result["terminal_command"])
    assert words[1:4] == ["attach", result["session_id"], "--hub"] and words[4].startswith("unix:/"), words
    assert words[5] == "--launch" and len(words) == 7, words
    return words[6]


def attach(wire: Wire, code: str, key: str) -> dict | None:
    """None: the code is spent."""
    try:
        return wire.call("ask/attach", launch=code, key=key)
    except WireError as refusal:
        assert refusal.data["code"] == "wrong_state", refusal
        return None


def terminal(home: Home) -> Wire:
    wire = Wire(home)
    wire.hello("person", channel="terminal")
    return wire


@test("sayso ask prints the command immediately; it names this very program and has nothing that the agent wrote", "R6.2")
def command(home: Home) -> None:
    result = handed(home, "$(touch /tmp/owned); `id`")
    words = shlex.split(result["terminal_command"])
    assert words[0] == os.path.realpath(BIN) and result["selection"]["summary"] == result["terminal_command"], result
    assert "touch" not in result["terminal_command"] and result["session_id"] not in words[6]
    assert "session_id" in result["instructions"] and "Do not parse" in result["instructions"]
    again = collect(home, result["session_id"])
    assert again.json["action_status"] == "pending_terminal_launch", again
    fresh = home.sayso("ask", "--from", "-", "--json", input=json.dumps(
        {"session_id": result["session_id"], "interface": "terminal"}))
    with terminal(home) as person:
        assert not attach(person, code_of(result), "k"), "the old code died"
        assert attach(person, code_of(fresh.json), "k")
    assert collect(home, result["session_id"]).json["action_status"] == "pending"


@test("a command used twice and a command of another hub are told apart, also after a restart", "R6.2")
def told_apart(home: Home) -> None:
    result = handed(home)
    with terminal(home) as person:
        assert attach(person, code_of(result), "k")
    home.sayso("stop")
    home.sayso("list")
    with terminal(home) as person:
        for more, code, words in (({"session_id": result["session_id"]}, "wrong_state", "one-time command"),
                                  ({"session_id": "a" * 26}, "not_found", "another hub"),
                                  ({}, "wrong_state", "one-time command")):
            try:
                person.call("ask/attach", launch=code_of(result), key="other", **more)
            except WireError as refusal:
                assert refusal.data["code"] == code and words in str(refusal), (more, refusal, refusal.data)
            else:
                raise AssertionError(more)


@test("the command finds its hub under any environment, and says where none listens", "R6.2 R10.2")
def anywhere(home: Home) -> None:
    result = handed(home)
    words = shlex.split(result["terminal_command"])[1:]
    bare = {"XDG_RUNTIME_DIR": "", "XDG_DATA_HOME": str(home.path / "else"), "XDG_CONFIG_HOME": "", "SAYSO_HUB": "https://sayso.example"}
    shown = home.sayso("show", result["session_id"], "--hub", words[3], "--json", env=bare)
    assert shown.json["ask"]["session_id"] == result["session_id"], shown
    no_terminal = home.sayso(*words, "--json", env=bare)
    assert no_terminal.code == PENDING and words[3] in no_terminal.json["terminal_command"], no_terminal
    assert not (home.path / "else").exists()
    home.sayso("stop")
    gone = home.sayso("show", result["session_id"], "--hub", words[3], env=bare)
    assert gone.code == 1 and "no hub is listening on" in gone.err, gone


@test("two terminals with one code at the same moment: exactly one wins", "R6.2")
def race(home: Home) -> None:
    home.environment |= UNLIMITED
    for number in range(scaled(20)):
        code = code_of(handed(home, f"race {number}"))
        wires = [terminal(home) for _ in range(4)]
        barrier, won = threading.Barrier(len(wires)), []

        def go(wire: Wire, key: str) -> None:
            barrier.wait()
            if attach(wire, code, key):
                won.append(key)

        threads = [threading.Thread(target=go, args=(wire, str(i))) for i, wire in enumerate(wires)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for wire in wires:
            wire.stop()
        assert len(won) == 1, won


@test("kill -9 around opening: the code works before, is spent after, and only its terminal may ask again",
      "R6.2 R5.2")
def killed(home: Home) -> None:
    home.environment |= UNLIMITED
    for number in range(scaled(10)):
        result = handed(home, f"killed {number}")
        code = code_of(result)
        home.kill_hub()
        home.sayso("list")
        with terminal(home) as person:
            assert attach(person, code, "ours")["ask"]["session_id"] == result["session_id"]
        home.kill_hub()
        home.sayso("list")
        with terminal(home) as person:
            assert not attach(person, code, "theirs") and attach(person, code, "ours")


@test("a hub that dies while it opens an ask has either spent the code or not, never half", "R6.2 P1")
def half_way(home: Home) -> None:
    for point in points_here("engine_before_launch", "engine_after_launch", "store_change_decided", "store_event_written"):
        with Home(CRASH_BIN) as doomed:
            code = code_of(handed(doomed))
            doomed.sayso("stop")
            doomed.sayso("list")  # a hub that starts writes down whose agents are gone: not in the doomed one
            doomed.sayso("stop")
            hub = doomed.spawn("serve", env={"SAYSO_CRASH_POINT": f"{point}:1"})
            doomed.wait_hub()
            try:
                with terminal(doomed) as person:
                    person.call("ask/attach", launch=code, key="ours")
            except (OSError, EOFError, AssertionError, WireError):
                pass
            wait_until(lambda: hub.poll() is not None, "it dies at its crash point")
            doomed.spawned.remove(hub)
            doomed.sayso("list")
            with terminal(doomed) as person, terminal(doomed) as other:
                assert attach(person, code, "ours"), f"{point}: lost to the terminal that opened it"
                assert not attach(other, code, "theirs"), point


run()
