"""Several questions in a terminal, as ask_user_question asks them: tabs, Other, previews, notes, the
review that alone sends, and the way back.

Proves: R3.1 R3.2 R3.5 R6.1
"""
from __future__ import annotations

import json
import re
from typing import Any

from stage import WAIT_S, Tmux, let_answer  # first: it finds the others
from harness import Home, run, test, wait_until

QUESTIONS = [
    {"question": "Which version number?", "header": "Version",
     "options": [{"label": "3.0.0", "description": "It breaks clients."}, {"label": "2.9.0"}]},
    {"question": "Who gets it first?", "header": "Audience", "multiSelect": True,
     "options": [{"label": "Our team"}, {"label": "Beta group"}, {"label": "Ireland"}]},
    {"question": "How is the retry written?", "header": "Retry",
     "options": [{"label": "In place", "preview": {"type": "diff", "text": "-call();\n+retry(call);"}},
                 {"label": "A helper", "preview": {"type": "text", "text": "static int again(void);"}}]},
]


def ask(home: Home, *names: str, **more: Any) -> str:
    """The questions with these headers, or all; its id."""
    some = [one for one in QUESTIONS if not names or one["header"] in names]
    asked = home.sayso("ask", "--tool", "ask_user_question", "--from", "-", "--json", "--wait", "0",
                       input=json.dumps({"questions": some, **more}))
    assert asked.code == 5, asked
    return asked.json["session_id"]


def result_of(home: Home, session_id: str) -> dict[str, Any]:
    def final() -> dict[str, Any] | None:
        got = home.sayso("show", session_id, "--json").json
        return None if got["ask"]["status"].startswith("pending") else got["result"]
    return wait_until(final, "the agent has its answer", WAIT_S)


@test("tabs, a choice, ticks, Other, a preview and notes; back and change; the review alone sends", "R3.2 R3.5 R6.1")
def whole_way(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home, rows=30) as tmux:
        shown = tmux.start("attach", session_id, shows="▸ 1 Version    2 Audience    3 Retry    Review")
        assert "It breaks clients." in shown and "Other" in shown, shown
        tmux.keys("Down", "Enter")  # Enter picks and goes on
        tmux.wait("✓ Version    ▸ 2 Audience    3 Retry")
        tmux.keys("Space", "Down", "Down", "Space", "o")
        tmux.wait("Enter new line")
        tmux.type("客服组长, too")
        tmux.wait("客服组长, too")
        tmux.keys("Escape")
        tmux.wait(r"\[✓\] o  Other: 客服组长, too")
        tmux.keys("Tab")
        tmux.wait("Note on this question:")
        tmux.type("not on a Friday")
        tmux.enter("not on a Friday")
        tmux.wait("Right or Enter next")
        tmux.keys("Right")
        shown = tmux.wait("✓ Audience    ▸ 3 Retry")
        assert "+retry(call);" in shown and "-call();" in shown and "Friday" not in shown, shown
        tmux.keys("Down")
        tmux.wait(r"static int again\(void\);")
        tmux.keys("Enter")
        shown = tmux.wait("✓ Retry    ▸ Review")
        for words in ("2.9.0", 'Our team, Ireland, "客服组长, too"', "note: not on a Friday", "A helper"):
            assert words in shown, (words, shown)
        tmux.keys("1")  # the digit opens it again
        tmux.wait("▸ 1 Version    ✓ Audience    ✓ Retry")
        tmux.keys("1")
        tmux.wait("◉ 1  3.0.0")
        tmux.keys("C-d")  # not from here: it goes on
        tmux.wait("▸ 2 Audience")
        tmux.keys("Left")
        tmux.wait("▸ 1 Version")
        tmux.keys("Right", "Right", "Right")
        tmux.wait("▸ Review")
        tmux.keys("n")
        tmux.type("thanks")
        tmux.enter("Note for the agent: thanks")
        tmux.wait("Enter send all 3")
        assert home.sayso("show", session_id, "--json").json["ask"]["status"] == "pending"
        tmux.keys("Enter")
        tmux.end(0)
    result = result_of(home, session_id)
    assert result["answers"] == {"Which version number?": "3.0.0", "Who gets it first?": "Our team, Ireland, 客服组长, too",
                                 "How is the retry written?": "A helper"}, result
    assert [(item["selected"], item.get("other"), item.get("notes")) for item in result["answer_list"]] == [
        (["3.0.0"], None, None), (["Our team", "Ireland"], "客服组长, too", "not on a Friday"), (["A helper"], None, None)], result


@test("what is missing is said at its question; nothing is sent before", "R3.2 R6.1")
def missing(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Version", "Audience")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows="▸ 1 Version")
        tmux.keys("Right", "Right")
        shown = tmux.wait("▸ Review")
        assert shown.count("no answer") == 2, shown
        tmux.keys("Enter")
        tmux.wait("▸ 1 Version")
        assert home.sayso("show", session_id, "--json").json["ask"]["status"] == "pending"
        tmux.keys("1", "Right", "2", "Right")
        tmux.wait("▸ Review")
        tmux.keys("Enter")
        tmux.end(0)
    assert result_of(home, session_id)["answers"] == {"Which version number?": "3.0.0", "Who gets it first?": "Beta group"}


@test("one question: no tabs, no review, and Other", "R3.5 R6.1")
def one(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Version")
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id, shows="3.0.0")
        assert "Review" not in shown, shown
        tmux.keys("o")
        tmux.type("4.0")
        tmux.wait("4.0")
        tmux.keys("C-d")
        tmux.end(0)
    assert result_of(home, session_id)["answers"] == {"Which version number?": "4.0"}


@test("the hub is killed between two questions: what was chosen and written is there, and sent", "R3.5 R5.2 R5.9")
def killed(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows="▸ 1 Version")
        tmux.keys("Enter")
        tmux.wait("▸ 2 Audience")
        tmux.keys("Space", "o")
        tmux.type("and others")
        tmux.wait("and others")
        tmux.keys("Escape")
        home.kill_hub()
        tmux.keys("Right")
        wait_until(home.hub_pid, "the terminal starts the hub again", WAIT_S)
        tmux.wait_gone("(?i)connection to sayso lost")
        tmux.wait("✓ Version    ✓ Audience    ▸ 3 Retry")
        tmux.keys("Enter")
        tmux.wait("▸ Review")
        tmux.keys("Enter")
        tmux.end(0)
    assert result_of(home, session_id)["answers"]["Who gets it first?"] == "Our team, and others"


@test("left in the middle, the draft of every question is there again, its note too", "R5.9 R3.5")
def left(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows="▸ 1 Version")
        tmux.keys("Enter")
        tmux.wait("▸ 2 Audience")
        tmux.keys("Space", "Tab")
        tmux.type("ask them first")
        tmux.wait("ask them first")
        tmux.keys("C-c")
        tmux.end(5)
        wait_until(lambda: "ask them first" in home.sayso("show", session_id, "--json").out, "the draft is on disk")
        tmux.start("attach", session_id, shows="✓ Audience")
        tmux.keys("Right")
        shown = tmux.wait("ask them first")
        assert re.search(r"✓ Version    ▸ 2 Audience", shown) and "[✓] 1  Our team" in shown, shown
        tmux.keys("C-c")
        tmux.end(5)


@test("answered elsewhere in the middle: who won, and what was written here is given back", "R5.3 R3.5")
def elsewhere(home: Home) -> None:
    session_id = ask(home, "Version", "Audience")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows="▸ 1 Version")
        tmux.keys("Enter")
        tmux.wait("▸ 2 Audience")
        tmux.keys("o")
        tmux.type("my own words")
        tmux.wait("my own words")
        done = home.sayso("answer", session_id, "--field", "q1=2.9.0", "--field", "q2=Ireland")
        assert done.code == 0, done
        shown = tmux.wait("2.9.0; Ireland")  # who won is known a moment earlier
        assert "nswered from the command line" in shown and "my own words" in shown, shown
        let_answer()
        tmux.keys("Enter")
        tmux.end(0)


@test("Chinese, and 40 columns: the same questions, tabs and review", "R8.2 R3.5")
def narrow_and_chinese(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home, columns=40, CHOICE_LANG="zh") as tmux:
        shown = tmux.start("attach", session_id, shows="▸ 1 Version")
        assert "其他" in shown and "检查" in shown, shown
        tmux.keys("Enter")
        tmux.wait("✓ Version  ▸ 2 Audience  3  检查")
        tmux.keys("Space", "Enter")
        tmux.wait("▸ 3 Retry")
        tmux.wait(r"^ \+retry\(call\);")  # below the list
        tmux.keys("Enter")
        tmux.wait("▸ 检查")
        tmux.keys("Enter")
        tmux.end(0)
    assert result_of(home, session_id)["answers"]["Who gets it first?"] == "Our team"


run()
