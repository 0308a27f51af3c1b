"""What people do with an ask by the command line: show, answer, cancel, decline, withdraw, extend, list.

Proves: R10.3 R2.3
"""
from __future__ import annotations

import datetime
import json
import os
import pwd
import re
import subprocess

from cli_stage import (
    DONE, FAILED, OPTIONS, PROMPT, REFUSED, TIME, TIMED_OUT, WORDS, ask, ask_json, asking, collect, end,
    error_of, expect, one_line, row_of)
from harness import Home, run, test, wait_until


@test("an id may be shortened to 4 characters, not to 3; two that fit are not guessed at", "R10.3")
def prefixes(home: Home) -> None:
    session_id = ask(home, "T")
    assert home.sayso("show", session_id[:4], "--json").json["ask"]["session_id"] == session_id
    for short in (session_id[:3], "", session_id + "a", session_id[:25].upper(), "../x"):
        error_of(home.sayso("show", short, "--json"), "bad_format", "/session_id")
    twin = ask(home, "U")
    expect(home.sayso("stop"), DONE)
    home.rows("UPDATE asks SET id = ?1 WHERE id = ?2", session_id[:6] + twin[6:], twin)
    assert not home.rows("SELECT 1 FROM asks WHERE id = ?1", twin)
    for words in (["show"], ["answer", "--select", "eu"], ["cancel"], ["decline"]):
        result = home.sayso(words[0], session_id[:6], *words[1:])
        assert "More than one" in one_line(expect(result, FAILED).err), result
    error_of(home.sayso("show", session_id[:4], "--json"), "conflicting_arguments", "/session_id")
    expect(home.sayso("answer", session_id[:12], "--select", "eu"), DONE)
    assert home.sayso("list", "--active", "--json").json[0]["title"] == "U"


@test("without an id: the one that waits; none and several are told apart", "R10.3")
def without_id(home: Home) -> None:
    for words in (["answer", "--select", "eu"], ["cancel"], ["decline"], ["show"]):
        assert "No pending asks" in one_line(expect(home.sayso(*words), FAILED).err)
    ask(home, "Done"), home.sayso("cancel")
    first = ask(home, "T")
    assert home.sayso("show", "--json").json["ask"]["session_id"] == first
    second = ask(home, "U")
    for words in (["answer", "--select", "eu"], ["cancel"], ["decline"], ["show"]):
        assert "More than one" in one_line(expect(home.sayso(*words), FAILED).err)
    assert len(home.sayso("list", "--active", "--json").json) == 2
    expect(home.sayso("cancel", first), DONE)
    expect(home.sayso("answer", "--select", "eu"), DONE, "Saved: Europe")
    assert row_of(home, second)["status"] == "submitted"


@test("notes reach the agent: one for all, one an option; fields by name do what --select does", "R10.3 R2.2")
def notes(home: Home) -> None:
    session_id = ask(home, "T")
    expect(home.sayso("answer", "--select", "us", "--note", "watch the load", "--option-note", "eu=too far",
                      "--option-note", "us=nearer = better"), DONE)
    selection = collect(home, session_id).json["selection"]
    assert selection["global_annotation"] == "watch the load"
    assert selection["option_annotations"] == {"eu": "too far", "us": "nearer = better"}
    assert selection["selected_ids"] == ["us"] and selection["summary"] == "America"
    shown = home.sayso("show", session_id).out
    assert "watch the load" in shown and "America" in shown, shown
    assert "too far" in shown, "the note of an option is not shown"
    for extra, field, ids in (([], "choice=as", ["as"]), (["--multi"], "choice=as,eu", ["eu", "as"])):
        session_id = ask(home, field, *OPTIONS, *extra)
        expect(home.sayso("answer", "--field", field), DONE)
        assert collect(home, session_id).json["selection"]["selected_ids"] == ids


@test("what came about how: person, uid, pid, no terminal",
      "R2.2 R12.1")
def answered_by(home: Home) -> None:
    session_id = ask(home, "T")
    process = home.spawn("answer", "--select", "eu", stdin=subprocess.DEVNULL, start_new_session=True)
    assert end(home, process).code == DONE
    result = collect(home, session_id).json
    by = result["answered_by"]
    assert set(by) >= {"person", "via", "uid", "pid", "tty"} and by["via"] == "cli" and by["tty"] is None
    assert by["uid"] == os.getuid() and by["pid"] == process.pid
    assert by["person"] == pwd.getpwuid(os.getuid()).pw_name and "same_process_tree" not in by
    assert TIME.fullmatch(result["answered_at"]) and result["explicit"] is True
    shown = home.sayso("show", session_id, env={"TZ": "UTC"}).out
    assert by["person"] in shown and str(process.pid) in shown and result["answered_at"][11:16] + "\n" in shown, shown


@test("show: times are local and short; --utc and JSON have them whole", "R10.3 R8.2")
def local_times(home: Home) -> None:
    session_id = ask(home, "T")
    asked = row_of(home, session_id)["created_at"]
    here = datetime.datetime.fromisoformat(asked.replace("Z", "+00:00")) + datetime.timedelta(hours=5, minutes=45)
    local = home.sayso("show", env={"TZ": "XXX-5:45"}).out
    assert re.search(rf"Asked: +({here:%Y-%m-%d} |yesterday )?{here:%H:%M}  ", local) and asked not in local, (asked, local)
    assert f" {asked}  " in home.sayso("show", "--utc").out


@test("show: previews, what is preselected, how many may be chosen, and how long the agent is blocked",
      "R5.8 R2.3 R10.3 R8.2")
def show_whole(home: Home) -> None:
    def shown(words: dict[str, str]) -> dict[str, str]:
        return {tag: home.sayso("show", env={"CHOICE_LANG": tag}).out for tag in words}

    def expect_shown(words: dict[str, str], *always: str) -> None:
        for tag, out in shown(words).items():
            assert words[tag] in out and all(text in out for text in always), (words[tag], always, out)

    question = {"title": "Which?", "prompt": PROMPT, "selection_mode": "hybrid", "min_selections": 1,
                "max_selections": 2, "default_selection_ids": ["a"], "placeholder": "Or a place of your own",
                "options": [{"id": "a", "label": "Alpha", "recommended": True, "annotation": "as last time",
                             "preview": {"type": "code", "language": "c", "text": "int x;\n\tint \x1b[2Jy;"}},
                            {"id": "b", "label": "Beta"}, {"id": "c", "label": "Gamma"}]}
    file = home.path / "question.json"
    file.write_text(json.dumps(question))
    process = home.spawn("ask", "--from", str(file), stdin=subprocess.DEVNULL)
    wait_until(lambda: home.sayso("list", "--active", "--json").json, "the ask is there")
    expect_shown({"en": "Choose 1 to 2, or write your own answer", "zh": "请选择 1 至 2 项，或自行填写"},
                 "Or a place of your own", "as last time", "        int x;\n")
    expect_shown({"en": "(recommended)  (preselected)", "zh": "(推荐)  (预选)"})
    expect_shown({"en": "Preview (c):", "zh": "预览 (c):"})
    english = shown({"en": ""})["en"]
    assert english.count("preselected") == 1 and "\x1b" not in english, english
    wait_until(lambda: re.search(r"Asked: .*:\d\d  waiting [1-9]\d* s", shown({"en": ""})["en"]), "a second has passed")
    expect_shown({"en": "waiting ", "zh": "已等待 "})
    expect(home.sayso("cancel"), DONE)
    end(home, process)
    ended = home.sayso("list", "--json").json[0]["session_id"]
    assert "blocked" not in home.sayso("show", ended).out
    for more, english, chinese in (
            (["--text"], "Your own answer", "自行填写"), ([*OPTIONS], "Choose one", "请选择一项"),
            ([*OPTIONS, "--multi"], "Choose 0 to 3", "请选择 0 至 3 项")):
        session_id = ask(home, "T", *more)
        expect_shown({"en": english, "zh": chinese})
        expect_shown({"en": "(agent not waiting)", "zh": "（智能体未在等待）"})
        expect(home.sayso("cancel", session_id), DONE)
    exactly = ask_json(home, selection_mode="multi", min_selections=2, max_selections=2).json["session_id"]
    expect_shown({"en": "  Choose 2\n", "zh": "  请选择 2 项\n"})
    expect(home.sayso("cancel", exactly), DONE)
    wide = ask_json(home, selection_mode="hybrid", min_selections=2, max_selections=2).json["session_id"]
    expect_shown({"en": "Choose 2, or write your own answer", "zh": "请选择 2 项，或自行填写"})
    expect(home.sayso("cancel", wide), DONE)


@test("an answer that does not fit is refused with the reason, and the ask stays open", "R2.3 R10.3")
def refused_answers(home: Home) -> None:
    single = ask(home, "Single")
    multi = ask_json(home, title="Multi", selection_mode="multi", min_selections=1, max_selections=2, options=[
        {"id": i, "label": f"Option {i}", "recommended": True} for i in "abc"]).json["session_id"]
    text = ask(home, "Text", "--text")
    quiet = ask_json(home, title="Quiet", allow_annotations=False).json["session_id"]
    cases = [
        (single, ["--select", "nope"], "bad_enum", "/selected_ids/0"),
        (single, ["--select", "eu,us"], "out_of_range", "/selected_ids"),
        (single, ["--select", "eu,eu"], None, None),
        (single, ["--text", "hello"], "unsupported_flag", "/custom_input"),
        (single, ["--select", "eu", "--text", "hello"], "unsupported_flag", "/custom_input"),
        (single, ["--select", "eu", "--option-note", "nope=x"], "bad_enum", "/option_annotations/nope"),
        (single, ["--select", "eu", "--note", "n" * 2001], "too_long", "/global_annotation"),
        (single, ["--field", "nope=eu"], "unknown_property", "/fields/nope"),
        (single, ["--field", "choice=nope"], "bad_enum", "/fields/choice/0"),
        (single, ["--field", "choice=eu", "--select", "eu"], "conflicting_arguments", "/fields/choice"),
        (multi, ["--select", "a,b,c"], "out_of_range", "/selected_ids"),
        (multi, ["--select", ""], "out_of_range", "/selected_ids"),
        (text, ["--select", "eu"], "unsupported_flag", "/selected_ids"),
        (text, ["--text", " \u200b "], "empty_text", "/custom_input"),
        (text, ["--text", "t" * 65537], "too_long", "/custom_input"),
        (quiet, ["--select", "eu", "--note", "psst"], "unsupported_flag", "/global_annotation"),
        (quiet, ["--select", "eu", "--option-note", "us=psst"], "unsupported_flag", "/option_annotations"),
    ]
    for session_id, words, code, path in cases:
        error_of(home.sayso("answer", session_id, *words, "--json"), code, path)
        plain = home.sayso("answer", session_id, *words)
        assert plain.code == FAILED and not plain.out, plain
        assert all(one_line(line).startswith("sayso: ") for line in plain.err.splitlines(keepends=True)), plain
        assert row_of(home, session_id)["status"] == "pending"
    assert "eu, us, as" in home.sayso("answer", single, "--select", "nope").err  # what there is to choose from
    for session_id, words in ((single, ["--select", "as"]), (multi, ["--select", "c,a"]),
                              (text, ["--text", "x"]), (quiet, ["--select", "us"])):
        expect(home.sayso("answer", session_id, *words), DONE)


@test("notes that the person switched off are off on the command line too", "R8.2 R10.3")
def notes_off(home: Home) -> None:
    expect(home.sayso("settings", "set", "notes", "off"), DONE)
    session_id = ask(home, "T")
    error_of(home.sayso("answer", session_id, "--select", "eu", "--note", "psst", "--json"), "unsupported_flag")
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)


@test("too late: who, through what and when; the same again is already so", "R2.2 R10.3")
def too_late(home: Home) -> None:
    session_id = ask(home, "T")
    expect(home.sayso("answer", session_id, "--select", "us", "--note", "n"), DONE)
    person = pwd.getpwuid(os.getuid()).pw_name
    for words in (["answer", session_id, "--select", "eu"], ["answer", session_id, "--select", "us"],
                  ["answer", session_id, "--select", "nope"], ["cancel", session_id], ["decline", session_id]):
        line = one_line(expect(home.sayso(*words), FAILED).err)
        assert "answered" in line and person in line and re.search(r"\d\d:\d\d\)", line), line
        assert "cli" in line or "command line" in line, line
        assert "Nothing was sent" in line, line
        error = error_of(home.sayso(*words, "--json"), "already_answered", "/session_id")
        assert error["detail"]["status"] == "submitted" and error["detail"]["answered_by"]["person"] == person
        assert TIME.fullmatch(error["detail"]["answered_at"]), error
    again = expect(home.sayso("answer", session_id, "--select", "us", "--note", "n"), DONE)
    assert again.out == "Already saved: America\n", again
    as_json = home.sayso("answer", session_id, "--select", "us", "--note", "n", "--json").json
    assert as_json == {"session_id": session_id, "status": "submitted", "version": 2, "already": True}, as_json
    assert collect(home, session_id).json["selection"]["selected_ids"] == ["us"]
    line = one_line(expect(home.sayso("extend", session_id, "5"), FAILED).err)
    assert "Too late" in line or "completed" in line, line


@test("cancel and decline carry their note to the agent; twice is already so", "R2.2 R10.3")
def cancel_and_decline(home: Home) -> None:
    for verb, said in (("cancel", "Cancelled: "), ("decline", "Declined: ")):
        session_id = ask(home, verb)
        words = [verb, session_id, "--note", "not before Monday"]
        assert expect(home.sayso(*words), DONE).out == f"{said}{verb}\n"
        expect(home.sayso(*words), DONE)
        expect(home.sayso("answer", session_id, "--select", "eu"), FAILED, "Too late")
        result = collect(home, session_id)
        assert result.code == REFUSED and result.json["action_status"] == "cancelled", result
        assert result.json["selection"]["global_annotation"] == "not before Monday", result
        assert result.json.get("declined", False) is (verb == "decline")
        assert "not before Monday" in home.sayso("show", session_id).out
        too_long = ask(home, verb + " at length")
        error_of(home.sayso(verb, too_long, "--note", "n" * 2001, "--json"), "too_long", "/global_annotation")


@test("withdraw takes back one's own ask only, and then it can't be answered", "R10.3")
def withdraw(home: Home) -> None:
    own, foreign = ask(home, "Own"), ask(home, "Foreign", *OPTIONS, "--as", "other")
    unknown = error_of(home.sayso("withdraw", "z" * 26, "--json"), "not_found", "/session_id")
    assert error_of(home.sayso("withdraw", foreign, "--json"), "not_found", "/session_id") == unknown
    assert row_of(home, foreign)["status"] == "pending"
    assert expect(home.sayso("withdraw", own), DONE).out == f"Withdrawn: {own}\n"
    expect(home.sayso("withdraw", own), DONE)  # a retry
    assert "withdrew this ask" in one_line(expect(home.sayso("answer", own, "--select", "eu"), FAILED).err)
    result = collect(home, own)
    assert result.code == REFUSED and result.json["withdrawn"] is True, result
    assert result.json["explicit"] is False, result
    as_json = home.sayso("withdraw", foreign, "--as", "other", "--json").json
    assert as_json["session_id"] == foreign and as_json["status"] == "withdrawn", as_json
    answered = ask(home, "Answered")
    home.sayso("answer", answered, "--select", "eu")
    error_of(home.sayso("withdraw", answered, "--json"), "already_answered")


@test("withdraw takes the beginning of an id of one's own, of others none", "R10.3")
def withdraw_prefix(home: Home) -> None:
    own, foreign = ask(home, "Own"), ask(home, "Foreign", *OPTIONS, "--as", "other")
    error_of(home.sayso("withdraw", foreign[:6], "--json"), "not_found", "/session_id")
    assert "o such ask" in one_line(expect(home.sayso("withdraw", "zzzz"), FAILED).err)
    error_of(home.sayso("withdraw", own[:3], "--json"), "bad_format", "/session_id")
    assert expect(home.sayso("withdraw", own[:4]), DONE).out == f"Withdrawn: {own}\n"
    expect(home.sayso("withdraw", foreign[:4], "--as", "other"), DONE)


@test("extend sets the time left from now, up and down, and who waits keeps waiting", "R10.3")
def extend(home: Home) -> None:
    with asking(home, "T", *WORDS, "--timeout", "30", "--json") as (session_id, process):
        for seconds in (900, 20, 2592000):
            said = expect(home.sayso("extend", session_id, str(seconds)), DONE).out
            assert f"{seconds} s" in said and "T" in said, said
            assert seconds - 3 <= row_of(home, session_id)["remaining_seconds"] <= seconds
            left = {900: r"1[45]:\d\d", 20: r"0:[12]\d", 2592000: "30 d"}[seconds]  # as on the screens
            shown = expect(home.sayso("show", session_id), DONE).out
            assert re.search(rf"^Time left: +{left}$", shown, re.M), shown
            assert re.search(rf" {left} ", one_line(expect(home.sayso("list"), DONE).out))
        assert row_of(home, session_id)["version"] == 4
        expect(home.sayso("extend", session_id, "1"), DONE)
        assert end(home, process).code == TIMED_OUT


@test("list: newest first, active and completed apart, as many as wanted", "R10.3 R9.1")
def lists(home: Home) -> None:
    assert "No asks" in one_line(expect(home.sayso("list"), DONE).err)
    ids = [ask(home, f"T{number}") for number in range(5)]
    expect(home.sayso("cancel", ids[1]), DONE)
    expect(home.sayso("answer", ids[3], "--select", "eu"), DONE)
    def listed(*words: str) -> list[str]:
        return [row["session_id"] for row in home.sayso("list", "--json", *words).json]
    assert listed() == ids[::-1] and listed("--active") == [ids[4], ids[2], ids[0]]
    assert listed("--completed") == [ids[3], ids[1]] and listed("--limit", "2") == [ids[4], ids[3]]
    lines = home.sayso("list").out.splitlines()
    assert lines.pop(2).strip() == "= Europe"
    assert [line[:8] for line in lines] == [i[:8] for i in ids[::-1]] and len(lines) == 5
    assert "answered" in lines[1] and "cancelled" in lines[3] and "pending" in lines[0], lines
    assert re.search(r" [45]:\d\d ", lines[0]), lines
    assert not [line for line in lines if line != line.rstrip()], "blanks at a line's end"
    columns = [line.index(f"T{number}") for number, line in zip((4, 3, 2, 1, 0), lines)]
    assert len(set(columns)) == 1, f"the titles stand in columns {columns}"


@test("list: how old, through what and with which words it was answered", "R10.3")
def list_rows(home: Home) -> None:
    session_id = ask(home, "T")
    expect(home.sayso("answer", session_id, "eu"), DONE)
    for words in ([], ["--completed"]):
        first, second = home.sayso("list", *words).out.splitlines()
        assert re.match(rf"{session_id[:8]}  \d+ s +cli +answered ", first) and second.strip() == "= Europe", (first, second)


run()
