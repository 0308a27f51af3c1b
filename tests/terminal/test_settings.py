"""Settings that are changed elsewhere while a question is open: every row of its panel, and what each of them does.

Proves: R6.4 R8.1
"""
from __future__ import annotations

import re
from typing import Any

from stage import Tmux, ask  # first: it finds the harness

from harness import Home, run, test

# What a question shows differently: the setting, a value, the picture before and after (None: gone).
EFFECTS = [
    ("language", "zh", r"Enter send", r"Enter 发送"),
    ("interface", "web", r"interface auto", r"interface web"),
    ("single_submit", "batch", r"sends at once", r"waits for Enter"),
    ("notes", "off", r"notes on", r"notes off"),
    ("navigation_hints", "off", r"1-3 pick", None),
]


def panel_rows(home: Home) -> list[dict[str, Any]]:
    rows = [row for row in home.sayso("settings", "list", "--json").json if row["group"] == "question"]
    assert len(rows) >= 10, rows
    return rows


def other(row: dict[str, Any]) -> str:
    if row["type"] == "bool":
        return "off" if row["built_in"] == "on" else "on"
    if row["type"] == "enum":
        return row["choices"][-1] if row["choices"][-1] != row["built_in"] else row["choices"][0]
    return "7777"


@test("every row of a question's panel shows at once what was set elsewhere, and goes back when it is reset", "R6.4 R8.1")
def panel(home: Home) -> None:
    rows = panel_rows(home)
    session_id = ask(home)
    with Tmux(home, rows=40) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("s")
        tmux.wait("(?i)language")
        before = tmux.text()
        assert len(re.findall("built in", before)) == len(rows), before
        for place, row in enumerate(rows):
            def line(shown: str) -> str:
                lines = shown.splitlines()
                first = next(i for i, text in enumerate(lines) if "Interface" in text or "界面" in text)
                return lines[first + place]
            was = line(before)
            assert "built in" in was, (row["name"], was)
            assert home.sayso("settings", "set", row["name"], other(row)).code == 0
            changed = line(tmux.wait(r"(?<!设置已)(saved|已保存)\s*$"))
            assert changed != was and "built in" not in changed, (row["name"], changed)
            assert home.sayso("settings", "reset", row["name"]).code == 0
            tmux.wait_gone(r"(saved|已保存)\s*$")
            assert line(tmux.text()) == was, (row["name"], tmux.text())
        tmux.keys("Escape")
        tmux.wait("Enter send")
        tmux.keys("C-c")
        tmux.end(5)


@test("what a setting does to a question that is open is seen at once", "R6.4 R8.1 R8.2")
def effects(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home, columns=110, rows=40) as tmux:
        tmux.start("attach", session_id)
        for name, value, before, after in EFFECTS:
            tmux.wait(before)
            assert home.sayso("settings", "set", name, value).code == 0
            if after:
                tmux.wait(after)
            tmux.wait_gone(before)
            assert home.sayso("settings", "reset", name).code == 0
            tmux.wait(before)
        tmux.keys("C-c")
        tmux.end(5)


@test("placeholder: a hint inside an empty field goes and comes with the setting", "R6.4 R8.1")
def placeholder(home: Home) -> None:
    session_id = ask(home, selection_mode="text_input", placeholder="such as checkout-v2")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.wait("such as checkout-v2")
        assert home.sayso("settings", "set", "placeholder", "off").code == 0
        tmux.wait_gone("such as checkout-v2")
        assert home.sayso("settings", "set", "placeholder", "on").code == 0
        tmux.wait("such as checkout-v2")
        tmux.keys("C-c")
        tmux.end(5)


run()
