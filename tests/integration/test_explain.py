"""`sayso explain`: the side that asked by command answers a person who asked back, and waits on.

Proves: R2.2 R5.1 R10.3
"""
from __future__ import annotations

import subprocess
from typing import Any

from cli_stage import DONE, FAILED, PENDING, REFUSED, USAGE, WORDS, ask, end, error_of, expect
from harness import Home, Result, run, side_by_side, test, wait_until

EVIL = "They wait in a queue.\u202e\u001b]0;stolen\u0007 \"quoted\" $(touch pwned)"


def talk(home: Home, session_id: str) -> list[dict[str, Any]]:
    return [(row["by"], row["text"]) for row in home.sayso("show", session_id, "--json").json.get("talk", [])]


def asked_back(home: Home, title: str = "Which region?") -> str:
    """An ask by a script that reads JSON: it ends pending, with what is asked."""
    process = home.spawn("ask", title, *WORDS, "--json", stdin=subprocess.DEVNULL)
    session_id = wait_until(lambda: [row for row in home.sayso("list", "--active", "--json").json
                                     if row["title"] == title], "it is asked")[0]["session_id"]
    expect(home.sayso("reply", session_id, "What of the orders?"), DONE)
    told = end(home, process)
    assert told.code == PENDING and told.json["asked_back"] == "What of the orders?", told
    return session_id


def explaining(home: Home, session_id: str, text: str, *more: str) -> subprocess.Popen:
    process = home.spawn("explain", session_id, text, *more, stdin=subprocess.DEVNULL)
    wait_until(lambda: len(talk(home, session_id)) > 1, "it is said")
    return process


@test("a script that was asked back explains, waits on and gets the answer; what it says is made harmless", "R2.2 R10.3")
def explained(home: Home) -> None:
    session_id = asked_back(home)
    process = explaining(home, session_id, EVIL, "--json")
    (_, question), (by, said) = talk(home, session_id)
    assert question == "What of the orders?" and by == "agent" and "They wait in a queue." in said, said
    assert not any(mark in said for mark in "\u202e\u001b\u0007"), said
    expect(home.sayso("answer", session_id, "--select", "us"), DONE)
    got = end(home, process)
    assert got.code == DONE and got.json["selection"]["selected_ids"] == ["us"], got
    again = home.sayso("explain", session_id, "Once more", "--json", "--wait", "0")
    assert again.code in (DONE, FAILED) and len(talk(home, session_id)) == 2, again  # what is over stays as it is


@test("asked back twice: each time it is told, and each time it may explain; --wait 0 says it and ends", "R2.2 R10.3")
def twice(home: Home) -> None:
    session_id = asked_back(home)
    process = explaining(home, session_id, "First words", "--json")
    expect(home.sayso("reply", session_id, "And then?"), DONE)
    told = end(home, process)
    assert told.code == PENDING and told.json["asked_back"] == "And then?", told
    said = home.sayso("explain", session_id, "Second words", "--wait", "0")
    assert said.code == PENDING and said.out.strip() == session_id, said
    assert [text for _, text in talk(home, session_id)] == ["What of the orders?", "First words", "And then?", "Second words"]
    refused = home.sayso("explain", session_id, "Third words", "--json", "--wait", "0")
    assert "no follow-up question" in error_of(refused, "wrong_state")["message"]
    expect(home.sayso("explain", session_id, "Second words", "--wait", "0"), PENDING)  # its reply may have been lost
    assert len(talk(home, session_id)) == 4
    expect(home.sayso("cancel", session_id), DONE)
    expect(home.sayso("explain", session_id, "Second words"), REFUSED)


@test("the hub dies while the explaining side waits: it is said once, and the answer arrives", "R2.2 P1")
def killed(home: Home) -> None:
    session_id = asked_back(home)
    process = explaining(home, session_id, "Kept", "--json")
    home.kill_hub()
    wait_until(home.hub_pid, "it is started again")
    wait_until(lambda: not home.sayso("show", session_id, "--json").json["ask"]["detached"], "the asking side is back")
    assert [by for by, _ in talk(home, session_id)] == ["person", "agent"], talk(home, session_id)
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)
    got = end(home, process)
    assert got.code == DONE and got.json["selection"]["selected_ids"] == ["eu"], got


@test("who asks in another place or under another name can't explain, and is not told what the ask is", "R2.2 R12.1")
def strangers(home: Home) -> None:
    session_id = asked_back(home, "Secret title")
    elsewhere = home.path / "elsewhere"
    elsewhere.mkdir()
    for settings in ({"cwd": elsewhere}, {}):
        more = [] if settings else ["--as", "another"]
        refused = home.sayso("explain", session_id, "Words", "--wait", "0", "--json", *more, **settings)
        error_of(refused, None)
        assert "Secret" not in refused.out and len(talk(home, session_id)) == 1, refused


@test("four explain at the same time with the same words: the words appear once, and all four wait on", "R2.2 R5.3")
def two_at_once(home: Home) -> None:
    session_id = asked_back(home)
    results: list[Result] = []
    side_by_side(*[lambda: results.append(home.sayso("explain", session_id, "The same words", "--wait", "0"))] * 4)
    assert [result.code for result in results] == [PENDING] * 4, results
    assert len(talk(home, session_id)) == 2, talk(home, session_id)


@test("a bad id, an empty or too long text and missing words are told, in both languages", "R10.3 R8.2")
def bad_calls(home: Home) -> None:
    session_id = asked_back(home)
    assert home.sayso("explain").code == home.sayso("explain", session_id).code == USAGE
    assert home.sayso("explain", session_id, "x", "--wait", "-1").code == USAGE
    error_of(home.sayso("explain", "k3f7", "x", "--json"), None, "/session_id")
    error_of(home.sayso("explain", "a" * 26, "x", "--json", "--wait", "0"), "not_found")
    error_of(home.sayso("explain", session_id, " \n", "--json", "--wait", "0"), "empty_text", "/explanation")
    error_of(home.sayso("explain", session_id, "x" * 8001, "--json", "--wait", "0"), "too_long", "/explanation")
    chinese = home.sayso("explain", session_id, "x" * 8001, "--wait", "0", env={"CHOICE_LANG": "zh"})
    assert chinese.code == FAILED and any("\u4e00" <= letter <= "\u9fff" for letter in chinese.err), chinese
    assert len(talk(home, session_id)) == 1


@test("sayso ask without --json says what is asked and names the command that explains it", "R2.2 R10.3")
def named(home: Home) -> None:
    process = home.spawn("ask", "Plain", *WORDS, stdin=subprocess.DEVNULL)
    session_id = wait_until(lambda: home.sayso("list", "--active", "--json").json, "it is asked")[0]["session_id"]
    expect(home.sayso("reply", session_id, "Why?"), DONE)
    expect(home.sayso("explain", session_id, "Because.", "--wait", "0"), PENDING)
    expect(home.sayso("answer", session_id, "--select", "as"), DONE)
    got = end(home, process)
    assert got.code == DONE and got.out == "as\n", got
    assert "Why?" in got.err and f"sayso explain {session_id}" in got.err, got


run()
