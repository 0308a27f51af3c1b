"""One ask in a terminal: every key, both languages, narrow and wide, read back by tmux.

Proves: R6.1 R6.4 R4.6 R8.2
"""
from __future__ import annotations

import json
import re
import time

from stage import Tmux, ask, let_answer, result_of  # first: it finds the others
from harness import Home, run, test, wait_until

OPTIONS = [{"id": f"o{n}", "label": f"Option {n:02}", "recommended": n == 1} for n in range(1, 32)]


def picks(home: Home, session_id: str) -> list[str]:
    return result_of(home, session_id)["selection"]["selected_ids"]


@test("arrows, j and k move; Enter sends; the picture goes and one line stays", "R6.1")
def moves(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id[:6])
        for words in ("asked", r"Redis, write-through  recommended", "1-3 pick", "s settings", '"sayso ask"'):
            assert re.search(words, shown), (words, shown)
        for keys, label in ((("Down",), "Materialized"), (("j",), "Leave"), (("k",), "Materialized"),
                            (("Up",), "Redis"), (("Down", "Down"), "Leave")):
            tmux.keys(*keys)
            tmux.wait(rf"▸ \d  {label}")
        tmux.keys("Enter")
        shown = tmux.end(0)
        assert "Leave it" in shown and "▸" not in shown and "asked" not in shown, shown
    assert picks(home, session_id) == ["none"]


@test("`sayso answer` without a choice opens the question, with nothing sent; a note alone is not lost by that", "R10.3 R6.1")
def answer_opens(home: Home) -> None:
    session_id = ask(home, selection_mode="multi", default_selection_ids=["redis"])
    for words in (["answer"], ["answer", session_id[:5]]):
        with Tmux(home) as tmux:
            tmux.start(*words)
            tmux.keys("C-c")
            tmux.end(5)
        assert home.sayso("show", session_id, "--json").json["ask"]["status"] == "pending"
    with Tmux(home) as tmux:
        tmux.command("answer", "--note", "x")
        assert "nothing chosen" in tmux.end(2)


@test("an ask speaks the language of its agent's client, in the inbox until it is left; a saved one is stronger", "R8.2 R6.3")
def of_the_client(home: Home) -> None:
    home.sayso("list", env={"CHOICE_LANG": "en"})  # the hub's own is weaker
    ask(home, "English?")
    home.environment["CHOICE_LANG"] = "zh"
    session_id = ask(home, "Which cache?")
    del home.environment["CHOICE_LANG"]
    with Tmux(home) as tmux:
        assert "设置" in tmux.start("attach", session_id)
        tmux.keys("C-c")
        tmux.end(5)
        shown = tmux.start("inbox", shows="Which cache")
        assert "pending" in shown and "设置" not in shown, shown
        tmux.keys("Enter")
        tmux.wait("设置")
        let_answer()
        tmux.keys("C-c")
        tmux.wait("2 pending")
        tmux.keys("Enter")
        tmux.wait("设置")
        home.sayso("settings", "set", "language", "en")
        assert "s settings" in tmux.wait_gone("设置")
        tmux.keys("C-c")
        tmux.wait("2 pending")
        tmux.keys("q")
        tmux.end(0)


@test("a digit picks and sends; within the time to undo `u` takes it back", "R6.1 R5.2 R7.9")
def digits(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("2")
        tmux.wait(r"Saved: Materialized view.*u undo")
        tmux.keys("u")
        tmux.wait(r"Redis, write-through")
        let_answer()
        tmux.keys("3")
        tmux.wait(r"Saved: Leave it")
        tmux.keys("Enter")  # now, not in five seconds
        tmux.end(0)
    result = result_of(home, session_id)
    assert result["selection"]["selected_ids"] == ["none"] and result["answered_by"]["via"] == "terminal", result
    assert result["answered_by"]["tty"].startswith("/dev/"), result


@test("Ctrl-C within the time to undo leaves an answer that was given: it says so, and the agent gets it", "R6.1 R5.2")
def left_when_saved(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("2")
        tmux.wait(r"Saved: Materialized view.*u undo")
        tmux.keys("C-c")
        assert "still pending" not in tmux.end(0)
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["view"]


@test("several: Space ticks, a and x take all and none, the bounds are told and kept", "R6.1 R2.3")
def several(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, selection_mode="multi", min_selections=1, max_selections=2)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.wait("Choose 1 to 2")
        tmux.wait("Enter select")
        tmux.keys("Enter")  # nothing is ticked: it ticks, and sends nothing
        shown = tmux.wait(r"\[✓\] 1")
        assert "Selected. Press Enter again" in shown and "Enter send 1" in shown, shown
        tmux.keys("Down", "Space")
        tmux.wait(r"\[✓\] 2")
        tmux.keys("Down", "Space")  # a third is too many
        time.sleep(0.2)
        assert not re.search(r"\[✓\] 3", tmux.text()), tmux.text()
        tmux.keys("Enter")
        tmux.end(0)
    assert picks(home, session_id) == ["redis", "view"]


@test("an empty answer is meant: x, Enter says that nothing is chosen, the next Enter sends it", "R6.1 R2.3")
def nothing(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, selection_mode="multi")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.wait("Enter select")
        tmux.keys("x", "Enter")
        tmux.wait("Nothing is selected. Press again to send an empty answer.")
        tmux.keys("Enter")
        tmux.end(0)
    assert picks(home, session_id) == []


@test("options and own words: o writes, Esc keeps the text, Enter in the list ticks and sends", "R6.1")
def mixed(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, selection_mode="hybrid")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("o")
        tmux.type("with care")
        tmux.keys("Escape")
        tmux.wait(r"Enter send")
        tmux.keys("Up", "Enter")
        shown = tmux.wait(r"\[✓\] 3")
        assert "with care" in shown, shown
        tmux.keys("Enter")
        tmux.end(0)
    selection = result_of(home, session_id)["selection"]
    assert selection["selected_ids"] == ["none"] and selection["custom_input"] == "with care", selection


@test("a note with Tab: picking waits for Ctrl-D then; the common note with n", "R6.1")
def notes(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("Tab")
        tmux.wait("note:")
        tmux.type("use the cluster in 东京")
        tmux.wait("use the cluster in 东京")
        tmux.keys("C-d")
        tmux.end(0)
    result = result_of(home, session_id)["selection"]
    assert result["option_annotations"] == {"redis": "use the cluster in 东京"}, result
    second = ask(home, "Second note")
    with Tmux(home) as tmux:
        tmux.start("attach", second, shows="Second note")
        tmux.keys("n")
        tmux.type("thanks")
        tmux.enter("thanks")
        tmux.enter("Enter send")
        tmux.end(0)
    assert result_of(home, second)["selection"]["global_annotation"] == "thanks"


@test("text: wide characters and emoji are edited as the person sees them", "R6.1")
def editing(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Name?", selection_mode="text_input")
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Name\?")
        tmux.type("发布版本 v3 " + family + "é")
        tmux.wait("发布版本 v3")
        tmux.keys("BSpace", "BSpace")  # the accent's letter, then the whole family
        tmux.keys("Home", "Right", "Right", "DC", "DC")
        tmux.wait("发布 v3")
        tmux.keys("End")
        tmux.type("beta")
        tmux.wait("发布 v3 beta")
        tmux.keys("C-w")
        tmux.type("rc1")
        tmux.wait("发布 v3 rc1")
        tmux.keys("C-d")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["custom_input"] == "发布 v3 rc1"


@test("a paste of 10 KB is one text, answers nothing by itself, and arrives whole", "R6.1")
def pasting(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Log?", selection_mode="text_input")
    lines = "\n".join(f"line {n:04} 1 2 3 q y 数据" for n in range(400))
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Log\?")
        tmux.paste(lines)
        tmux.wait("line 0399")
        assert home.sayso("list", "--active", "--json").json, "the paste answered"
        tmux.keys("C-d")
        tmux.end(0)
    got = result_of(home, session_id)["selection"]["custom_input"]
    assert len(lines.encode()) > 10_000 and got == lines, (len(got), len(lines), got[-80:])


@test("a paste into a list answers nothing, whatever keys it holds", "R6.1")
def pasting_keys(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.paste("2\n\rq1")
        tmux.keys("Down")
        tmux.wait(r"▸ 2")
        assert home.sayso("list", "--active", "--json").json[0]["session_id"] == session_id
        tmux.keys("C-c")
        tmux.end(5)


@test("/ filters a long list, keeps ticks that are not shown, Esc clears before it cancels", "R6.1")
def filtering(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, selection_mode="multi", options=OPTIONS)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("Space")
        tmux.wait(r"\[✓\]")
        tmux.keys("/")
        tmux.type("17")
        tmux.enter(r"1 of 31")
        tmux.keys("Space")
        tmux.wait(r"\[✓\].*Option 17")
        tmux.keys("Escape")
        tmux.wait("Option 18")
        tmux.keys("Enter")
        tmux.end(0)
    assert picks(home, session_id) == ["o1", "o17"]


@test("Esc asks for a note and cancels; the ask is cancelled with it, and the agent knows right away", "R6.1 R5.2")
def cancelling(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "60")
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("Escape")
        shown = tmux.wait("Cancel this ask|[Tt]ell it why")
        assert "ready$" not in shown.splitlines()[-1], shown
        tmux.type("not today")
        tmux.enter("not today")
        tmux.end(3)
    result = result_of(home, session_id)
    assert result["action_status"] == "cancelled", result
    assert result["selection"]["global_annotation"] == "not today", result


@test("keys of the first half second answer nothing, and the person is told", "R6.1 R7.5")
def too_early(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.command("attach", session_id)
        tmux.type("2")  # long before anything is drawn
        tmux.wait(r"Which cache\?")
        tmux.keys("1")
        tmux.wait("too soon")
        assert home.sayso("list", "--active", "--json").json, "it was answered"
        tmux.keys("C-c")
        tmux.end(5)


@test("? shows all keys and goes away again; e gives five minutes more; s opens the settings", "R6.1 R6.4")
def other_keys(home: Home) -> None:
    session_id = ask(home, timeout_seconds=100)
    with Tmux(home, rows=40) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("?")
        tmux.wait("Ctrl-Z|suspend")
        tmux.keys("Escape")
        tmux.wait("Enter send")
        tmux.keys("e")
        tmux.wait(r"asked [\d:]+ +[56]:\d\d")
        tmux.keys("s")
        tmux.wait("(?i)language")
        tmux.keys("Escape")
        tmux.wait("Enter send")
        tmux.keys("C-c")
        tmux.end(5)
    assert home.sayso("show", session_id, "--json").json["ask"]["remaining_seconds"] > 290


@test("a destructive ask takes two acts: the code that is shown is typed", "R6.1 R12.1")
def destructive(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Drop it?", destructive=True)
    with Tmux(home) as tmux:
        shown = tmux.start("attach", session_id, shows=r"Drop it\?")
        assert "DESTRUCTIVE" in shown or "Destructive" in shown, shown
        tmux.keys("Down")
        tmux.keys("Enter")
        code = re.search(r"[Tt]ype (\d{3})", tmux.wait(r"[Tt]ype \d{3}"))[1]
        tmux.type(f"{(int(code) + 1) % 1000:03}")
        tmux.keys("Enter")
        time.sleep(0.3)
        assert home.sayso("list", "--active", "--json").json, "a wrong code did it"
        code = re.search(r"[Tt]ype (\d{3})", tmux.wait(r"[Tt]ype \d{3}"))[1]
        tmux.keys("C-u")
        tmux.type(code)
        tmux.keys("Enter")
        tmux.end(0)
    assert picks(home, session_id) == ["view"]


@test("Chinese: the same screen in the person's language, chosen by setting or by environment", "R8.2")
def chinese(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    first, second = ask(home), ask(home, "Second")
    with Tmux(home, CHOICE_LANG="zh") as tmux:
        shown = tmux.start("attach", first)
        assert "推荐" in shown and "设置" in shown and "recommended" not in shown, shown
        tmux.keys("1")
        assert "Redis" in tmux.end(0)
    home.sayso("settings", "set", "language", "zh")
    with Tmux(home) as tmux:
        assert "推荐" in tmux.start("attach", second, shows="Second")
        tmux.keys("C-c")
        assert "仍待答复" in tmux.end(5)


@test("40, 80 and 200 columns: nothing is wider than the terminal, all options can be reached", "R6.1")
def widths(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    long = "A label that is much longer than a narrow terminal has columns, so it has to be wrapped somewhere"
    for columns in (40, 80, 200):
        session_id = ask(home, f"Width {columns}", options=[
            {"id": "a", "label": long, "description": long, "recommended": True},
            {"id": "b", "label": "Übermaß 测试 🎉", "description": "短い"}])
        with Tmux(home, columns=columns) as tmux:
            shown = tmux.start("attach", session_id, shows=f"Width {columns}")
            assert "somewhere" in re.sub(r"\s+", " ", shown), shown
            tmux.keys("Down")
            tmux.wait("▸ 2  Übermaß 测试")
            tmux.keys("Enter")
            tmux.end(0)
        assert picks(home, session_id) == ["b"]


@test("numbers: a slider with bounds by arrows and digits; a rating by arrows", "R4.6")
def numbers(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    for style, keys, wanted in (("slider", ("Right", "Right"), None), ("rating", ("Right",), None),
                                ("field", ("1", "2", "0"), 120)):
        arguments = {"message": f"How fast, as a {style}?", "minimum": 1 if style == "rating" else 40,
                     "maximum": 5 if style == "rating" else 200, "style": style}
        asked = home.sayso("ask", "--tool", "elicit_number", "--from", "-", "--json", "--wait", "0",
                           input=json.dumps(arguments)).json
        with Tmux(home) as tmux:
            tmux.start("attach", asked["session_id"], shows=f"as a {style}")
            tmux.keys(*keys)
            time.sleep(0.2)
            tmux.keys("Enter")
            tmux.end(0)
        got = wait_until(lambda: home.sayso("show", asked["session_id"], "--json").json["answer"], "answered")
        value = got["fields"]["value"] if "fields" in got else got
        assert wanted is None or wanted in (value, got), got


@test("an option hidden with - stays hidden when the same question comes again; H shows it", "R6.4")
def hiding(home: Home) -> None:
    first = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", first)
        tmux.keys("Down")
        tmux.wait("▸ 2")
        tmux.keys("-")
        tmux.wait("1 more hidden|1 hidden")
        tmux.keys("C-c")
        tmux.end(5)
        home.sayso("cancel", first)
        result_of(home, first)  # the agent has it, so the same call asks again
        second = ask(home)
        assert second != first
        home.kill_hub()
        shown = tmux.start("attach", second)
        assert "hidden" in shown and "Materialized" not in shown, shown
        tmux.keys("H")
        tmux.wait("Materialized view")
        tmux.keys("C-c")
        tmux.end(5)


@test("an ask that is over is not shown again: how it ended, and its exit code", "R6.1 R10.3")
def over(home: Home) -> None:
    session_id = ask(home)
    home.sayso("answer", session_id, "--select", "view")
    with Tmux(home) as tmux:
        tmux.command("attach", session_id)
        assert "answered" in tmux.end(0)
        tmux.command("attach", "zzzz")
        shown = tmux.end(1)
        assert "o such ask" in shown, shown


run()
