"""Settings that are changed elsewhere while a question is open: every row of its panel. What
each of them does is in test_settings_effects.py.

Proves: R6.4 R8.1
"""
from __future__ import annotations

import re
from typing import Any

from stage import Tmux, ask  # first: it finds the harness

from harness import Home, run, test

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


@test("every row of a question's panel shows immediately what was set or reset elsewhere", "R6.4 R8.1")
def panel(home: Home) -> None:
    rows = panel_rows(home)
    session_id = ask(home)
    with Tmux(home, rows=40) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("s")
        tmux.wait("(?i)language")
        before = tmux.text()
        assert len(re.findall("default$", before, re.MULTILINE)) == len(rows), before
        for place, row in enumerate(rows):
            def line(shown: str) -> str:
                lines = shown.splitlines()
                first = next(i for i, text in enumerate(lines) if "Where to notify" in text or "通知位置" in text)
                return lines[first + place]
            was = line(before)
            assert "default" in was, (row["name"], was)
            assert home.sayso("settings", "set", row["name"], other(row)).code == 0
            changed = line(tmux.wait(r"(?<!设置已)(saved|已保存)\s*$"))
            assert changed != was and "default" not in changed, (row["name"], changed)
            assert home.sayso("settings", "reset", row["name"]).code == 0
            tmux.wait_gone(r"(saved|已保存)\s*$")
            assert line(tmux.text()) == was, (row["name"], tmux.text())
        tmux.keys("Escape")
        tmux.wait("Enter send")
        tmux.keys("C-c")
        tmux.end(5)


run()
