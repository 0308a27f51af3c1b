"""A question of a host's conversation in a terminal: no clock, steps, and the host goes on with the answer.

Proves: R3.4 R3.5
"""
from __future__ import annotations

import json
import re

from stage import Tmux, let_answer  # first: it finds the others
from conversation_stage import HOW, WHICH, Hosting, asks, call
from harness import run, test


@test("without a deadline there is no clock; answered there the conversation goes on", "R3.4 R3.5")
def no_clock() -> None:
    with Hosting() as office:
        office.home.sayso("settings", "set", "deliver_after", "0")
        talk = office.begin(asks("t1"), call("t2"))
        session = talk.session()
        with Tmux(office.home) as tmux:
            shown = tmux.start("attach", session, shows=r"Which store\?")
            assert "builder" in shown and "SQLite" in shown and "  time -  " in shown, shown
            assert re.search(r"Which store\? +asked \d\d:\d\d:\d\d$", shown, re.MULTILINE), shown
            tmux.keys("2")
            let_answer()
            tmux.keys("Enter")
            tmux.end(0)
        assert talk.wait_for("tool_executing")["current"]["id"] == "t2"
        assert json.loads(talk.results()["t1"][0])["answers"] == {"Which store?": "PostgreSQL"}


@test("the inbox lists it, without a clock", "R3.5")
def listed() -> None:
    with Hosting() as office:
        talk = office.begin(asks("t1", WHICH, HOW))
        talk.session()
        with Tmux(office.home) as tmux:
            shown = tmux.start("inbox", shows=r"Which store\?")
            assert not re.search(r"\d:\d\d", shown.split("\n", 1)[1]), shown  # the first row has the address
            tmux.keys("q")


run()
