"""Rules in the inbox: proposed, looked at, made, given, revoked; from the history; never of something
destructive; what others do shows immediately, also after the hub was killed; hostile text stays text.

Proves: R2.2 R6.3
"""
from __future__ import annotations

import json
import re
from typing import Any

from stage import WAIT_S, Judge, Pty, Tmux, let_answer
from harness import Home, Result, run, test, wait_until

CHOICE = {"title": "Cache", "prompt": "Which cache do we take for the shop?", "selection_mode": "single",
          "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}]}


def ask(home: Home, *options: str, **more: Any) -> Result:
    """Asks as an agent of its own: the shell that starts it is no ancestor of the process that answers."""
    asking = home.spawn("-c", '"$@"; exit $?', "sh", home.binary, "ask", "--as", "bot", "--from", "-", "--json", *options,
                        program="/bin/sh")
    out, err = asking.communicate(json.dumps({**CHOICE, **more}), timeout=60)
    return Result(asking.returncode, out, err)


def answered(home: Home, pick: str = "b", **more: Any) -> str:
    id = ask(home, "--wait", "0", **more).json["session_id"]
    assert home.sayso("answer", id, "--select", pick).code == 0
    assert ask(home, **more).json["session_id"] == id  # collects it
    return id


def leave(tmux: Tmux) -> None:
    tmux.keys("Escape")
    tmux.wait(r"\d pending|\d 个待答复")
    tmux.keys("q")
    tmux.end(0)


def rules(home: Home) -> list[dict[str, Any]]:
    return home.sayso("rule", "list", "--json").json


@test("proposed from history, looked at, made with a key, given, and revoked with two", "R2.2 R6.3")
def whole_way(home: Home) -> None:
    for word in ("first", "second", "third"):
        answered(home, prompt=f"The {word} shop needs a cache: which one?")
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="0 pending")
        tmux.keys("a")
        tmux.wait("No rules")
        tmux.wait(r"▸ \+ Cache +Beta")
        tmux.wait("same answer 3 times")
        tmux.keys("Enter")
        tmux.wait("any prompt")
        tmux.wait("past asks: 3 with this answer, 0 with a different one")
        tmux.keys("p")
        tmux.wait("past asks: 1 with this answer")
        tmux.keys("p")
        tmux.wait("past asks: 3 with this answer")
        assert rules(home) == [], "looking makes nothing"
        tmux.keys("2")
        tmux.wait("Matching asks will now be answered automatically")
        tmux.wait(r"▸ ✓ Cache +Beta")
        tmux.wait("No suggestions: you haven't")
        made = rules(home)[0]
        assert made["rule"]["any_prompt"] is True and made["expires_at"][:10] > made["created_at"][:10], made
        tmux.wait("expires " + made["expires_at"][:4])
        given = ask(home, prompt="A fourth shop needs a cache: which one?").json
        assert given["rule"] == made["id"] and given["auto_submitted"] is True, given
        tmux.keys("Enter")
        tmux.wait("shop needs a cache")  # the ask it was made from
        tmux.keys("C-c")
        tmux.wait("Rules")
        tmux.keys("d")
        tmux.wait(r"Delete this rule\?")
        tmux.keys("Escape")
        tmux.wait_gone(r"Delete this rule\?")
        assert len(rules(home)) == 1
        tmux.keys("d")
        tmux.wait(r"Delete this rule\?")
        tmux.keys("y")
        tmux.wait("Rule deleted. You will be asked again")
        tmux.wait("No rules")
        assert rules(home) == []
        assert ask(home, "--wait", "0", prompt="A fifth shop needs a cache: which one?").code == 5
        tmux.keys("Escape")
        tmux.wait("1 pending")
        tmux.wait("Cache +auto-answered")
        tmux.keys("h")
        tmux.wait("Cache +Beta +rule")
        tmux.keys("Enter")
        tmux.wait("Answered automatically at .* by a rule")
        tmux.keys("C-c")
        tmux.wait("History")
        leave(tmux)
        tmux.start("inbox", shows="Cache +auto-answered +rule")
        tmux.keys("q")
        tmux.end(0)


@test("from the history: an answered ask can become a rule, an unanswered or destructive one can't, and the screen says why", "R2.2")
def from_history(home: Home) -> None:
    answered(home, title="Good one")
    cancelled = ask(home, "--wait", "0", title="Cancelled one").json["session_id"]
    assert home.sayso("cancel", cancelled).code == 0
    wiped = ask(home, "--wait", "0", title="Drop it", destructive=True).json["session_id"]
    home.sayso("settings", "set", "deliver_after", "0")
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="Drop it")
        tmux.keys("Enter")
        tmux.wait("Alpha")
        let_answer()
        tmux.keys("2")
        tmux.wait(r"▸ . 2  Beta")
        tmux.keys("Enter")
        code = re.search(r"[Tt]ype (\d{3})", tmux.wait(r"[Tt]ype \d{3}"))[1]
        tmux.type(code)
        tmux.enter(rf"to confirm: {code}")
        tmux.wait("0 pending")
        assert home.sayso("show", wiped, "--json").json["ask"]["status"] == "submitted"
        tmux.keys("h")
        tmux.wait("▸ ✓ .*Drop it")
        tmux.keys("a")
        tmux.wait("rules can't answer destructive asks: decide each one yourself")
        tmux.keys("Escape")
        tmux.wait("History")
        tmux.keys("j", "a")
        tmux.wait("a rule can only be created from")
        tmux.keys("Escape")
        tmux.wait("History")
        tmux.keys("j", "j", "a")
        tmux.wait("past asks: 1 with this answer")
        tmux.keys("1")
        tmux.wait("▸ ✓ Good one")
        tmux.keys("Escape")
        tmux.wait("0 pending")
        tmux.keys("q")
        tmux.end(0)
    assert [rule["rule"]["title"] for rule in rules(home)] == ["Good one"]


@test("two inboxes and the command line: rules added and removed show in both; a confirmation for a removed rule is closed", "R2.2 R6.3")
def at_once(home: Home) -> None:
    first, second = answered(home, title="One of two"), answered(home, title="Two of two")
    with Tmux(home) as tmux, Tmux(home) as other:
        for window in (tmux, other):
            window.start("inbox", shows="0 pending")
            window.keys("a")
            window.wait("No rules")
        one = home.sayso("rule", "add", first, "--json").json["id"]
        for window in (tmux, other):
            window.wait("▸ ✓ One of two")
        tmux.keys("d")
        tmux.wait(r"Delete this rule\?")
        assert home.sayso("rule", "add", second).code == 0  # while another one is asked about
        tmux.wait("✓ Two of two")
        tmux.wait(r"▸ ✓ One of two")
        other.keys("d")
        other.wait(r"Delete this rule\?")
        tmux.keys("y")
        tmux.wait_gone("One of two")
        other.wait_gone(r"Delete this rule\?")
        other.keys("y")  # must not hit the one that took its place
        other.wait("Two of two")
        assert [rule["rule"]["title"] for rule in rules(home)] == ["Two of two"]
        assert home.sayso("rule", "remove", one).code != 0
        home.sayso("rule", "remove", rules(home)[0]["id"])
        for window in (tmux, other):
            window.wait("No rules")
            leave(window)


@test("the hub is killed under the screen: it comes back with what stands", "R2.2 R6.1")
def killed(home: Home) -> None:
    id = answered(home, title="Outlives it")
    assert home.sayso("rule", "add", id).code == 0
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="0 pending")
        tmux.keys("a")
        tmux.wait("▸ ✓ Outlives it")
        home.kill_hub()
        wait_until(home.hub_pid, "it is started again", WAIT_S)
        assert home.sayso("rule", "remove", rules(home)[0]["id"]).code == 0
        tmux.wait("No rules")
        assert home.sayso("rule", "add", id).code == 0
        tmux.wait("▸ ✓ Outlives it")
        tmux.keys("d")
        tmux.wait(r"Delete this rule\?")
        tmux.keys("y")
        tmux.wait("No rules")
        leave(tmux)


@test("what an agent wrote does nothing to the terminal, in the list and in the preview", "R12.1 R6.5")
def hostile(home: Home) -> None:
    nasty = {"title": "\x1b]0;owned\x07\u202eevil", "options": [
        {"id": "a", "label": "\x1b[2J wiped", "recommended": True}, {"id": "b", "label": "Beta"}]}
    id = answered(home, pick="a", **nasty)
    assert home.sayso("rule", "add", id).code == 0
    with Pty(home, "inbox") as pty, Judge() as judge:
        pty.wait("0 pending")
        pty.drain()
        before = judge.show(pty.bytes)["bells"]
        pty.type("a")
        pty.wait("evil")
        pty.drain()
        told = judge.show(pty.bytes)
        assert told["bells"] == before and not any("owned" in words for _, words in told["osc"]), told
        assert b"\x1b]0;owned" not in pty.bytes and "\u202e".encode() not in pty.bytes and b"\x1b[2J wiped" not in pty.bytes
        for key in ("q", "h", "a"):
            pty.type(key)
            pty.drain()
        pty.wait("past asks:")
        pty.drain()
        assert b"\x1b]0;owned" not in pty.bytes and b"\x1b[2J wiped" not in pty.bytes
        pty.type("\x03")
        wait_until(lambda: pty.process.poll() is not None, "it ends")


@test("in Chinese: every text of it has room", "R8.2")
def chinese(home: Home) -> None:
    for word in ("first", "second", "third"):
        answered(home, prompt=f"The {word} shop needs a cache: which one?")
    home.sayso("settings", "set", "language", "zh")
    with Tmux(home, columns=72) as tmux:
        tmux.start("inbox", shows="0 个待答复")
        tmux.keys("a")
        tmux.wait("没有规则。")
        tmux.wait("根据历史给出的建议")
        tmux.wait("相同答复 3 次")
        tmux.keys("Enter")
        tmux.wait("根据此答复创建规则？")
        tmux.wait("3 个与此答复相同，0 个不同")
        tmux.keys("3")
        tmux.wait("匹配的请求今后会自动答复。")
        tmux.keys("d")
        tmux.wait("删除此规则？今后会再次询问你。")
        tmux.keys("y")
        tmux.wait("规则已删除。今后会再次询问你。")
        leave(tmux)


run()
