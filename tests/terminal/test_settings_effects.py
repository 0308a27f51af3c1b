"""What every setting does to a prompt or an inbox that is open while it is changed elsewhere; tests/settings_effects.json
says which of them have nothing to show there, and why.

Proves: R6.4 R8.1 R8.2
"""
from __future__ import annotations

import re
from typing import Callable

from stage import Pty, Tmux, ask, let_answer  # first: it finds the harness

from effects_stage import check, put, set_to
from harness import Home, run, test, wait_until

BELL = b"\a"


class Scene:
    """One terminal that stays open, and the ask it is about."""

    def __init__(self, home: Home, terminal: Tmux | Pty, session_id: str = ""):
        self.home, self.terminal, self.session_id = home, terminal, session_id

    def leave(self, seconds: int) -> None:
        """So much time is left of the ask from now on."""
        assert self.home.sayso("extend", self.session_id, str(seconds)).code == 0


def differs(scene: Scene, name: str, value: str, before: str, after: str | None) -> None:
    """The picture before, with the setting (None: it only goes), and before again."""
    scene.terminal.wait(before)
    with set_to(scene.home, name, value):
        if after:
            scene.terminal.wait(after)
        scene.terminal.wait_gone(before)
    scene.terminal.wait(before)


def looks(name: str, value: str, before: str, after: str | None) -> tuple[str, Callable[[Scene], None]]:
    return name, lambda scene: differs(scene, name, value, before, after)


def interface(scene: Scene) -> None:
    scene.terminal.wait("interface auto")
    scene.terminal.keys("s")
    differs(scene, "interface", "web", r"Where to notify +(< )?auto", r"Where to notify +(< )?web")
    scene.terminal.keys("Escape")
    scene.terminal.wait("interface auto")  # the line is about this ask alone


def timeout_seconds(scene: Scene) -> None:
    scene.terminal.keys("s")
    differs(scene, "timeout_seconds", "7777", r"\b300 .*default", r"\b7777 .*saved")
    scene.terminal.keys("Escape")
    scene.terminal.wait("Enter send")


def note_focus(scene: Scene) -> None:
    with set_to(scene.home, "note_focus", "on"):
        scene.terminal.wait("Enter to send")
        scene.terminal.keys("Up", "Enter")
        scene.terminal.wait("Ctrl-D send")
        scene.terminal.keys("Escape")
        scene.terminal.wait("Enter send")
    scene.terminal.wait("pick to send")


def show_hidden(scene: Scene) -> None:
    scene.terminal.keys("Home", "Down", "-")
    scene.terminal.wait_gone("Materialized view")
    with set_to(scene.home, "show_hidden", "on"):
        scene.terminal.wait("Materialized view")
    scene.terminal.wait_gone("Materialized view")
    scene.terminal.keys("H")  # a key is about this question alone, and holds until the setting changes
    scene.terminal.wait("Materialized view")
    put(scene.home, "sound", "on")
    scene.terminal.keys("Down", "Up")
    scene.terminal.wait("Materialized view")


def theme(scene: Scene) -> None:
    def ink() -> str:
        found = re.search(r"(\x1b\[[\d;]*m)Enter", scene.terminal.run("capture-pane", "-p", "-e"))
        return found[1] if found else ""
    before = wait_until(ink, "a coloured key")
    for value, is_same in (("light", False), ("dark", True), ("light", False)):
        with set_to(scene.home, "theme", value):
            wait_until(lambda: ink() and (ink() == before) == is_same, f"the colours of {value}")
    wait_until(lambda: ink() == before, "those before")


def single_keys(scene: Scene) -> None:
    scene.terminal.wait("s settings")
    with set_to(scene.home, "single_keys", "off"):
        scene.terminal.wait_gone("s settings|n note to agent|w browser")
        scene.terminal.keys("s", "?")
        assert "default" not in scene.terminal.wait("Esc back"), scene.terminal.text()
        scene.terminal.keys("Escape")
    scene.terminal.wait("s settings")


def timeout_action(scene: Scene) -> None:
    scene.leave(9)
    differs(scene, "timeout_action", "submit_defaults", "before the ask times out", "your defaults are sent")
    scene.leave(600)


def deliver_after(scene: Scene) -> None:
    for value, seconds in (("60", r"(5\d|60) s"), ("20", r"(1\d|20) s")):
        put(scene.home, "deliver_after", value)
        scene.terminal.keys("1")
        scene.terminal.wait(rf"\b{seconds}.*u undo")
        scene.terminal.keys("u")
        scene.terminal.wait("Enter send")
        let_answer()


QUESTION = dict([
    looks("language", "zh", "Enter send", "Enter 发送"),
    looks("single_submit", "batch", "pick to send", "Enter to send"),
    looks("notes", "off", "notes on", "notes off"),
    looks("navigation_hints", "off", "1-3 pick", None),
    looks("portal", "off", "w browser", None),
    ("interface", interface),
    ("timeout_seconds", timeout_seconds),
    ("note_focus", note_focus),
    ("theme", theme),
    ("single_keys", single_keys),
    ("timeout_action", timeout_action),
    ("show_hidden", show_hidden),
    ("deliver_after", deliver_after),
])


def typing_hold(scene: Scene) -> None:
    scene.leave(20)
    with set_to(scene.home, "typing_hold", "off"):
        scene.terminal.type("a")
        scene.terminal.wait(r"asked .* 0:1\d\b")
        assert "paused" not in scene.terminal.text(), scene.terminal.text()
    scene.terminal.type("b")
    scene.terminal.wait("paused 0:")


WORDS = dict([looks("placeholder", "off", "such as checkout-v2", None), ("typing_hold", typing_hold)])


def settings_first(scene: Scene) -> None:
    def opened(shows: str) -> str:
        scene.terminal.keys("Enter")
        shown = scene.terminal.wait(shows)
        let_answer()
        if "default" in shown:
            scene.terminal.keys("Escape")
            scene.terminal.wait_gone("default")
        scene.terminal.keys("C-c")
        scene.terminal.wait("1 pending")
        return shown
    assert "default" not in opened("Ctrl-D send")
    with set_to(scene.home, "settings_first", "on"):
        opened("default")


INBOX = {"settings_first": settings_first}


def rings(scene: Scene, title: str) -> bool:
    """Whether an ask that comes is heard of, where the inbox shows it."""
    before = scene.terminal.drain().count(BELL)
    ask(scene.home, title)
    scene.terminal.wait(title)
    return scene.terminal.drain(0.4).count(BELL) > before


def quiet_by(name: str, value: str) -> tuple[str, Callable[[Scene], None]]:
    def act(scene: Scene) -> None:
        with set_to(scene.home, name, value):
            assert not rings(scene, f"Silent {name}")
        assert rings(scene, f"Loud {name}")
    return name, act


RINGING = dict([quiet_by("notifications", "off"), quiet_by("do_not_disturb", "on"),
                quiet_by("quiet_hours", "00:00-23:59")])


def sound(scene: Scene) -> None:
    """The last ten seconds of a question."""
    def is_heard() -> bool:
        scene.leave(9)
        before = scene.terminal.drain(0.4).count(BELL)
        scene.leave(600)
        return before > heard
    heard = scene.terminal.drain().count(BELL)
    assert not is_heard()
    with set_to(scene.home, "sound", "on"):
        assert is_heard()
        heard = scene.terminal.drain().count(BELL)
        with set_to(scene.home, "notifications", "off"):
            assert not is_heard()


LAST_SECONDS = {"sound": sound}
SHOWN = {**QUESTION, **WORDS, **INBOX, **RINGING, **LAST_SECONDS}


@test("each row of the table of settings says what it does in an open prompt, or why nothing", "R8.1")
def complete(home: Home) -> None:
    check(home, "terminal", SHOWN)


@test("each row that shows in an open question is seen there immediately, and goes when it is reset", "R6.4 R8.1 R8.2")
def question(home: Home) -> None:
    options = [{"id": "redis", "label": "Redis, write-through", "recommended": True},
               {"id": "view", "label": "Materialized view"}, {"id": "none", "label": "Leave it"}]
    session_id = ask(home, options=options, timeout_seconds=600, default_selection_ids=["none"])
    with Tmux(home, columns=130, rows=40) as tmux:
        tmux.start("attach", session_id)
        for act in QUESTION.values():
            act(Scene(home, tmux, session_id))
        tmux.keys("C-c")
        tmux.end(5)


@test("each row that shows where a text is written, and in the next question of an open inbox", "R6.4 R8.1")
def words(home: Home) -> None:
    session_id = ask(home, selection_mode="text_input", placeholder="such as checkout-v2", timeout_seconds=600)
    with Tmux(home, columns=110) as tmux:
        tmux.start("inbox", shows="1 pending")
        for act in INBOX.values():
            act(Scene(home, tmux, session_id))
        tmux.keys("q")
        tmux.end(0)
        tmux.start("attach", session_id)
        for act in WORDS.values():
            act(Scene(home, tmux, session_id))
        tmux.keys("C-c")
        tmux.end(5)


@test("each row about noise: an open inbox and an open question ring by what is set now", "R6.6 R8.1")
def noise(home: Home) -> None:
    put(home, "asks_per_minute", "1000")
    session_id = ask(home, timeout_seconds=600)
    with Pty(home, "inbox") as inbox:
        inbox.wait("1 pending")
        for act in RINGING.values():
            act(Scene(home, inbox))
        inbox.type("q")
        wait_until(lambda: inbox.drain(0.01) and inbox.process.poll() is not None, "it ends")
    with Pty(home, "attach", session_id) as prompt:
        prompt.wait("Enter")
        for act in LAST_SECONDS.values():
            act(Scene(home, prompt, session_id))
        prompt.type(b"\x03")
        wait_until(lambda: prompt.drain(0.01) and prompt.process.poll() is not None, "it ends")


run()
