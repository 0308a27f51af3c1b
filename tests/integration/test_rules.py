"""Rules by the command line: previewed, made, applied, revoked; restarts and races; never by the agent itself.

Proves: R2.2 R5.1
"""
from __future__ import annotations

import json
import pathlib
from typing import Any, Callable

from cli_stage import DONE, FAILED, USAGE, error_of, expect
from harness import CRASH_BIN, Home, Result, Skip, points_here, run, side_by_side, test
from kill_stage import Doomed

CHOICE = {"title": "Cache", "prompt": "Which cache do we take for the shop?", "selection_mode": "single",
          "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}]}


def ask(home: Home, *options: str, **more: Any) -> Result:
    """Asks as an agent of its own: the shell that starts it is no ancestor of the process that answers."""
    asking = home.spawn("-c", '"$@"; exit $?', "sh", home.binary, "ask", "--as", "bot", "--from", "-", "--json", *options,
                        program="/bin/sh")
    out, err = asking.communicate(json.dumps({**CHOICE, **more}), timeout=60)
    return Result(asking.returncode, out, err)


def answered(home: Home, pick: str, **more: Any) -> str:
    id = ask(home, "--wait", "0", **more).json["session_id"]
    expect(home.sayso("answer", id, "--select", pick), DONE)
    result = ask(home, **more)  # collects it
    assert result.json["session_id"] == id and result.json["explicit"], result
    return id


def assert_by_rule(result: Result, pick: str, rule: str) -> None:
    got = result.json
    assert result.code == DONE and got["action_status"] == "selected", result
    assert got["selection"]["selected_ids"] == [pick] and got["explicit"] is False and got["auto_submitted"] is True, got
    assert got["rule"] == rule and got["answered_by"]["via"] == "rule", got


def four_times(act: Callable[[], Result]) -> list[Result]:
    results: list[Result] = []
    side_by_side(*[lambda: results.append(act())] * 4)
    return results


@test("an answer is let stand: previewed, applied after kill -9, listed, looked back at, removed", "R2.2 R5.1")
def whole_way(home: Home) -> None:
    for _ in range(3):
        id = answered(home, "b", prompt=f"Shop number {_} needs a cache: which one?")
    expect(home.sayso("rule", "suggest"), DONE, "Answered the same way 3 times", "Cache", "bot", "Beta",
           f"sayso rule add {id} --any-prompt")
    expect(home.sayso("rule", "preview", id), DONE, "same prompt", "past asks: 1 with this answer, 0 with a different one")
    expect(home.sayso("rule", "preview", id, "--any-prompt"), DONE, "any prompt", "past asks: 3 with this answer")
    made = expect(home.sayso("rule", "add", id[:6], "--any-prompt", "--for", "7", "--json"), DONE).json
    assert made["rule"]["title"] == "Cache" and made["rule"]["from"] == id, made
    home.kill_hub()
    assert_by_rule(ask(home, prompt="Yet another shop needs one: which?"), "b", made["id"])
    expect(home.sayso("rule"), DONE, made["id"], "expires 20", "Cache", "bot", "Beta")
    shown = expect(home.sayso("list", "--completed"), DONE)
    assert "auto" in shown.out.lower(), shown
    expect(home.sayso("rule", "suggest"), DONE)
    error_of(home.sayso("rule", "add", id, "--any-prompt", "--json"), "conflicting_arguments", "/session_id")
    expect(home.sayso("rule", "remove", made["id"][:5]), DONE, "will be asked again")
    home.kill_hub()
    assert ask(home, "--wait", "0", prompt="A last shop needs one: which?").json["action_status"] == "pending"


@test("destructive asks and open ones get no rule", "R2.2 R12.1")
def refused(home: Home) -> None:
    id = answered(home, "b")
    made = expect(home.sayso("rule", "add", id, "--json"), DONE).json
    waiting = ask(home, "--wait", "0", destructive=True)
    assert waiting.json["action_status"] == "pending", waiting
    error_of(home.sayso("rule", "add", waiting.json["session_id"], "--json"), "wrong_state", "/session_id")
    expect(home.sayso("rule", "remove", made["id"]), DONE)
    for words in (("rule", "add"), ("rule", "bend"), ("rule", "add", id, "--for", "0"), ("rule", "add", id, "--for", "366")):
        assert home.sayso(*words).code == USAGE, words
    error_of(home.sayso("rule", "remove", "zzzzzz", "--json"), "not_found", "/id")
    assert home.sayso("rule", "list", "--json").json == []


@test("four make the same rule at the same time, then four remove it: each time one succeeds", "R5.3")
def two_at_once(home: Home) -> None:
    id = answered(home, "b")
    made = four_times(lambda: home.sayso("rule", "add", id, "--json"))
    assert sorted(one.code for one in made) == [DONE, FAILED, FAILED, FAILED], made
    rules = home.sayso("rule", "list", "--json").json
    assert len(rules) == 1, rules
    gone = four_times(lambda: home.sayso("rule", "remove", rules[0]["id"], "--json"))
    assert sorted(one.code for one in gone) == [DONE, FAILED, FAILED, FAILED], gone


@test("hostile words in what stands act on no terminal, and both languages say it", "R6.5 R8.2")
def hostile(home: Home) -> None:
    id = answered(home, "b", title="Evil \u202e\u001b]0;x\u0007")
    expect(home.sayso("rule", "add", id), DONE)
    for words in (("rule",), ("rule", "preview", id)):
        shown = home.sayso(*words, env={"CHOICE_LANG": "zh"})
        assert shown.code == DONE and "Beta" in shown.out and "相同提示" in shown.out, shown
        assert not any(mark in shown.out for mark in "\u202e\u001b\u0007"), shown


@test("kill -9 while an answer is let stand, applied or removed: it stands or it does not, and no ask is lost", "P1 R5.2")
def killed() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    for point in points_here("store_rule_written", "engine_before_rule", "store_rule_revoked"):
        with Home(CRASH_BIN) as home:
            id = answered(home, "b")
            rule = home.sayso("rule", "add", id, "--json").json["id"] if point != "store_rule_written" else ""
            home.sayso("stop")
            with Doomed(home, point) as hub:
                home.wait_hub()
                if point == "store_rule_written":
                    home.sayso("rule", "add", id)
                elif point == "store_rule_revoked":
                    home.sayso("rule", "remove", rule)
                else:
                    ask(home, "--wait", "0")
                assert hub.is_dead(30), point
            left = len(home.sayso("rule", "list", "--json").json)
            assert left == (0 if point == "store_rule_written" else 1), (point, left)
            result = ask(home, "--wait", "0", prompt="Is it asked or answered after that crash?")
            assert result.json["action_status"] == "pending", (point, result)  # other words: asked
            if point == "engine_before_rule":  # stored open before the rule: left to the person
                states = [row["status"] for row in home.sayso("list", "--json").json if row["session_id"] != result.json["session_id"]]
                assert states.count("pending") == 1, states


run()
