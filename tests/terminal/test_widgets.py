"""Every widget and every key that the others do not press: numbers, ratings, confirmations, forms,
previews, the settings; in both languages.

Proves: R6.1 R6.4 R4.6 R8.2
"""
from __future__ import annotations

import json
import re
import time
from typing import Any

from stage import WAIT_S, Tmux, ask, result_of  # first: it finds the others
from harness import Home, run, side_by_side, test, wait_until


def elicit(home: Home, tool: str, **given: Any) -> str:
    asked = home.sayso("ask", "--tool", f"elicit_{tool}", "--from", "-", "--json", "--wait", "0", input=json.dumps(given))
    assert asked.code == 5, asked
    return asked.json["session_id"]


def answer_of(home: Home, session_id: str) -> Any:
    """The value that the agent gets, once there is one."""
    def final() -> Any:
        got = home.sayso("show", session_id, "--json").json
        return None if got["ask"]["status"].startswith("pending") else got["result"]
    return wait_until(final, "it is answered", WAIT_S)


@test("a slider: round steps, pages, both ends, exact digits; nothing outside its bounds", "R4.6")
def slider(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    bounds = {"minimum": 100, "maximum": 5000, "style": "slider", "unit": "ms"}
    session_id = elicit(home, "number", message="How long?", **bounds)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"How long\?")
        for keys, value in ((("Right",), "300"), (("PPage",), "2300"), (("Left",), "2100"), (("End",), "5000"),
                            (("Right",), "5000"), (("Home",), "100"), (("Left",), "100"), (("Up",), "300")):
            tmux.keys(*keys)
            tmux.wait(rf"5000   {value} ms")
        tmux.keys("1", "2", "3", "4")
        tmux.enter("1234")
        tmux.end(0)
    assert answer_of(home, session_id)["value"] == 1234
    second = elicit(home, "number", message="How long now?", **bounds)
    with Tmux(home) as tmux:
        tmux.start("attach", second, shows=r"How long now\?")
        tmux.keys("9", "9", "9", "9")
        tmux.enter("5000   9999 ms")
        tmux.wait("must be at most 5000")
        assert home.sayso("list", "--active", "--json").json, "9999 was sent"
        tmux.keys("C-c")
        tmux.end(5)


@test("a rating by digit and by arrows: stars and a word; in Chinese too", "R4.6 R8.2")
def rating(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    for number, (language, words) in enumerate((("en", "4 of 5, good"), ("zh", "4/5，好"))):
        session_id = elicit(home, "number", message=f"How good {number}?", minimum=1, maximum=5, style="rating")
        with Tmux(home, CHOICE_LANG=language) as tmux:
            shown = tmux.start("attach", session_id, shows=f"How good {number}")
            assert "✧ ✧ ✧ ✧ ✧" in shown, shown
            tmux.keys("3")
            tmux.wait("✦ ✦ ✦ ✧ ✧")
            tmux.keys("Right")
            tmux.wait(f"✦ ✦ ✦ ✦ ✧   {words}")
            tmux.keys("Enter")
            tmux.end(0)
        assert answer_of(home, session_id)["value"] == 4


@test("yes or no by arrows; a destructive one looks like it and takes two acts", "R4.6 R12.1")
def confirmation(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = elicit(home, "confirm", message="Rename it?")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Rename it\?")
        tmux.keys("Down")
        tmux.wait("▸ ◦ 2  No")
        tmux.keys("Enter")
        tmux.end(0)
    assert answer_of(home, session_id)["confirmed"] is False
    second = elicit(home, "confirm", message="Drop the table?", destructive=True)
    with Tmux(home) as tmux:
        shown = tmux.start("attach", second, shows=r"Drop the table\?")
        assert "! DESTRUCTIVE" in shown and "code required" in shown, shown
        tmux.keys("1", "Enter")
        tmux.wait(r"Type \d{3}")
        tmux.keys("Enter")  # an empty line goes back
        tmux.wait("Enter continue")
        tmux.keys("Enter")
        tmux.type(re.search(r"Type (\d{3})", tmux.wait(r"Type \d{3}"))[1])
        tmux.keys("Enter")
        tmux.end(0)
    assert answer_of(home, second)["confirmed"] is True
    third = elicit(home, "confirm", message="Drop the other table?", destructive=True)
    with Tmux(home) as tmux:
        tmux.start("attach", third, shows=r"Drop the other table\?")
        tmux.keys("2", "Enter")  # a no takes no code
        tmux.end(0)
    assert answer_of(home, third)["confirmed"] is False


@test("y and n answer a confirmation, and the key line says so", "R4.6 R6.1")
def yes_no(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    for key, confirmed in (("y", True), ("n", False)):
        session_id = elicit(home, "confirm", message=f"Deploy {key}?")
        with Tmux(home) as tmux:
            tmux.start("attach", session_id, shows=r"y n answer")
            tmux.keys(key)
            tmux.end(0)
        assert answer_of(home, session_id)["confirmed"] is confirmed, key


@test("a form: each field its kind of widget, checked where it is written, reviewed and sent", "R4.6 R6.1")
def form(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = elicit(home, "form", message="A new account", requestedSchema={"type": "object", "properties": {
        "name": {"type": "string", "title": "Name", "description": "As on the badge"},
        "mail": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "admin": {"type": "boolean"}}, "required": ["name", "mail"]})
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id, shows="▸ 1 Name")
        assert shown.count("As on the badge") == 1, shown
        tmux.type("Zoë 张")
        tmux.wait("Zoë 张")
        tmux.keys("Down")
        tmux.wait("✓ Name    ▸ 2 mail")
        tmux.keys("Up")
        tmux.wait("▸ 1 Name")
        tmux.keys("Down")
        tmux.wait("▸ 2 mail")
        tmux.type("zoe")
        tmux.enter("zoe")
        tmux.wait("▸ 3 age")
        tmux.keys("3", "0")
        tmux.enter("30")
        tmux.wait("▸ 4 admin")
        tmux.keys("2", "Right")
        tmux.wait("▸ Review")
        tmux.keys("Enter")  # no address: back to where it is wrong
        tmux.wait("(?s)▸ 2 mail.*e-?mail")
        tmux.type("@example.org")
        tmux.enter("zoe@example.org")
        tmux.wait("▸ 3 age")
        tmux.keys("Down")  # Left and Right are the slider's
        tmux.wait("▸ 4 admin")
        tmux.keys("Right")
        tmux.wait("▸ Review")
        shown = tmux.wait("zoe@example.org")
        for words in ("Zoë 张", "30", "No"):
            assert words in shown, (words, shown)
        tmux.keys("Enter")
        tmux.end(0)
    assert answer_of(home, session_id)["content"] == {"name": "Zoë 张", "mail": "zoe@example.org", "age": 30, "admin": False}


LONG = "\n".join(f"+line {n:03}" for n in range(60))


@test("a preview follows the cursor, scrolls, is widened, and fills the screen; the terminal is as before", "R6.1")
def preview(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Which way?", options=[
        {"id": "a", "label": "The long one", "recommended": True, "preview": {"type": "diff", "text": LONG}},
        {"id": "b", "label": "The short one", "preview": {"type": "text", "text": "only this"}}])
    with Tmux(home) as tmux:
        before = tmux.modes()
        tmux.start("attach", session_id, shows=r"\+line 003")
        tmux.keys("j")
        tmux.wait("only this")
        tmux.keys("k")
        tmux.wait(r"\+line 000")
        column = re.search(r"^(.*)╎", tmux.text(), re.MULTILINE)[1]
        tmux.keys(">")
        wait_until(lambda: len(re.search(r"^(.*)╎", tmux.text(), re.MULTILINE)[1]) > len(column), "the list is wider")
        tmux.keys("<", "p")
        tmux.wait("back to list")
        tmux.keys("NPage")
        tmux.wait(r"\+line 010")
        tmux.keys("End")
        tmux.wait(r"\+line 059")
        tmux.keys("p")
        tmux.wait("Enter send")
        tmux.keys("v")
        wait_until(lambda: tmux.run("display-message", "-p", "#{alternate_on}").strip() == "1", "the whole screen")
        tmux.wait(r"\+line 015")
        tmux.keys("Escape")
        tmux.wait("Enter send")
        tmux.keys("Enter")
        tmux.end(0)
        assert tmux.modes() == before
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["a"]


@test("a long prompt: m shows all of it and scrolls; a destructive ask is not sent before its end was seen", "R6.1 R12.1")
def prompt(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    words = "\n\n".join(f"Paragraph {n} says something that matters." for n in range(30))
    session_id = ask(home, "Drop it all?", prompt=words, destructive=True)
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id, shows=r"Drop it all\?")
        assert "m more" in shown and "Paragraph 29" not in shown, shown
        tmux.keys("2", "Enter")
        tmux.wait("read the full question first")
        tmux.keys("m")
        tmux.wait("Paragraph 5")
        tmux.keys("End")
        tmux.wait("Paragraph 29")
        tmux.keys("Escape")
        tmux.wait("Enter continue")
        tmux.keys("Enter")
        code = re.search(r"Type (\d{3})", tmux.wait(r"Type \d{3}"))[1]
        tmux.type(code)
        tmux.keys("Enter")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["view"]


@test("a question too long for the title's row is read whole: without a prompt, where it destroys, and with m", "R6.1")
def long_title(home: Home) -> None:
    words = "Delete the files of the old release that nobody has used for a year, their backups and their logs"
    asks = [(elicit(home, "confirm", message=f"{words} {number}, END?"), columns)
            for number, columns in enumerate((40, 80, 99))]
    asks.append((ask(home, f"{words}, END?", destructive=True), 80))
    for session_id, columns in asks:
        with Tmux(home, columns=columns) as tmux:
            tmux.start("attach", session_id, shows="END")
            assert f"{words}" in re.sub(r"\s+", " ", tmux.text()), tmux.text()
            tmux.keys("C-c")
            tmux.end(5)
    session_id = ask(home, f"{words}, END?", prompt="A prompt that has room enough on its own.")
    with Tmux(home) as tmux:
        assert "END?" not in tmux.start("attach", session_id, shows="Delete the files")
        tmux.keys("m")
        tmux.wait("END")
        assert f"{words}, END?" in re.sub(r"\s+", " ", tmux.text()), tmux.text()
        tmux.keys("C-c")
        tmux.end(5)


@test("own words beside options; ten options and more by two digits; PgDn, Home and End", "R6.1")
def own_words(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    options = [{"id": f"o{n}", "label": f"Option {n:02}", "recommended": n == 1} for n in range(1, 31)]
    session_id = ask(home, "Which ones?", selection_mode="hybrid", options=options)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Which ones\?")
        tmux.keys("1", "7")
        tmux.wait(r"\[✓\] 17")
        tmux.keys("NPage")
        tmux.wait("▸ .* 27 ")
        tmux.keys("Home")
        tmux.wait("▸ .* 1  Option 01")
        tmux.keys("End")
        tmux.wait("▸ .* o  Your own answer")
        tmux.keys("Space")
        tmux.type("first line")
        tmux.keys("Enter")
        tmux.type("第二行")
        tmux.wait("第二行")
        tmux.keys("C-d")
        tmux.end(0)
    selection = result_of(home, session_id)["selection"]
    assert selection["selected_ids"] == ["o17"] and selection["custom_input"] == "first line\n第二行", selection


@test("E asks how many minutes more; Tab in the cancel dialog declines instead", "R6.1 R5.4")
def minutes_and_declining(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, timeout_seconds=100)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("E")
        tmux.wait("Extra minutes:")
        tmux.keys("3", "0", "Enter")
        tmux.wait(r"asked [\d:]+ +31:\d\d")
        tmux.keys("q")
        tmux.wait("Cancel this ask")
        tmux.keys("Tab")
        tmux.enter("Decline this ask")
        tmux.end(3)
    assert result_of(home, session_id)["declined"] is True


@test("notes switched off: Esc cancels without asking why, Tab and n say so", "R6.1 R6.4")
def no_notes(home: Home) -> None:
    for name, value in (("deliver_after", "0"), ("notes", "off")):
        home.sayso("settings", "set", name, value)
    session_id = ask(home)
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id)
        assert "Tab note" not in shown and "notes off" in shown, shown
        tmux.keys("n")
        tmux.wait("notes are off")
        tmux.keys("Escape")
        shown = tmux.wait("Cancel this ask")
        assert "Why" not in shown, shown
        tmux.enter("Cancel this ask")
        tmux.end(3)


@test("settings: every row changes immediately and is saved; a number is typed; a bad one is refused with a message", "R6.4 R8.1")
def settings(home: Home) -> None:
    session_id = ask(home)
    value = lambda name: home.sayso("settings", "get", name).out.strip()
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("s")
        tmux.wait(r"▸ Where to notify")
        tmux.keys("Right")
        tmux.wait(r"Where to notify +< browser > +saved|Where to notify +< web > +saved")
        tmux.keys("r")
        tmux.wait(r"Where to notify +< auto > +default")
        tmux.keys("Down")
        tmux.type("45")
        tmux.wait(r"Time to answer +< 45_ >")
        tmux.keys("Escape")
        tmux.wait(r"Time to answer +< 300 s >")
        tmux.type("458")
        tmux.keys("BSpace")
        tmux.wait("< 45_ >")
        tmux.keys("Enter")
        tmux.wait(r"Time to answer +< 45 s > +saved")
        assert value("timeout_seconds") == "45"
        tmux.type("0")
        tmux.keys("Enter")
        tmux.wait("(?i)1 to 2592000|from 1")
        assert value("timeout_seconds") == "45"
        tmux.keys("Down", "Right")
        tmux.wait(r"When you pick +< pick to send > +saved")
        for name, after in (("notes", "off"), ("note_focus", "on"), ("placeholder", "off"), ("show_hidden", "on"),
                            ("navigation_hints", "off")):
            tmux.keys("Down", "Right")
            wait_until(lambda: value(name) == after, f"{name} is {after}")
        tmux.keys("Down", "Right")
        wait_until(lambda: value("language") == "en", "English")
        tmux.keys("Right")
        tmux.wait(r"语言 +< 中文 >")  # applied immediately
        assert "设置" in tmux.text()
        tmux.keys("Down", "Right")
        wait_until(lambda: value("settings_first") == "on", "settings first")
        tmux.keys("s")
        tmux.wait("Redis")
        tmux.keys("C-c")
        tmux.end(5)
        tmux.start("attach", session_id, shows="设置")  # the settings come before the question now
        assert "Redis" not in tmux.text(), tmux.text()
        tmux.keys("Escape")
        tmux.wait("Redis")
        tmux.keys("C-c")
        tmux.end(5)


@test("a change made elsewhere is in force in the open terminal", "R6.4 R8.2")
def settings_elsewhere(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        home.sayso("settings", "set", "language", "zh")
        tmux.wait("推荐")
        home.sayso("settings", "set", "language", "en")
        home.sayso("settings", "set", "single_submit", "batch")
        tmux.wait("Enter to send")
        tmux.keys("C-c")
        tmux.end(5)


@test("every widget at 40, 80 and 200 columns, both languages: no row reaches over the edge", "R6.1 R8.2")
def widths() -> None:
    with Home(env={"SAYSO_ASKS_PER_MINUTE": "1000"}) as home:
        asks = [ask(home, "One of some"), ask(home, "Any of some", selection_mode="multi"),
                ask(home, "Some or own", selection_mode="hybrid"), ask(home, "Words", selection_mode="text_input"),
                ask(home, "Danger", destructive=True),
                elicit(home, "number", message="Slider", minimum=1, maximum=100, style="slider"),
                elicit(home, "number", message="Stars", minimum=1, maximum=5, style="rating"),
                elicit(home, "confirm", message="Sure of it?")]
        def look(language: str, columns: int) -> None:
            with Tmux(home, columns=columns, CHOICE_LANG=language) as tmux:
                for session_id in asks:
                    tmux.start("attach", session_id, shows=rf"^[╍╌]{{{columns}}}$")
                    for key in "?", "Escape", "s", "s", "n":
                        if key == "n" and session_id == asks[-1]:
                            continue # here it means no
                        tmux.keys(key)
                        time.sleep(0.05)
                    shown = tmux.text()
                    rails = re.findall(r"^[╍╌]+$", shown, re.MULTILINE)
                    assert all(len(rail) == columns for rail in rails), shown
                    tmux.keys("C-c")
                    assert ("still pending" if language == "en" else "仍待答复") in tmux.end(5).replace("\n", "")
        side_by_side(*(lambda language=language, columns=columns: look(language, columns)
                       for language in ("en", "zh") for columns in (40, 80, 200)))


run()
