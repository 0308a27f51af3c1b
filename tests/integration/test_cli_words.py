"""What a person may write behind `sayso answer`, and that nothing is sent without a choice.

Proves: R10.3 R2.3
"""
from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

from cli_stage import DONE, FAILED, OPTIONS, USAGE, ask, ask_json, collect, end, error_of, expect, one_line, row_of
from harness import Home, run, test


def elicit(home: Home, tool: str, **arguments: Any) -> str:
    result = home.sayso("ask", "--tool", tool, "--from", "-", "--json", "--wait", "0", input=json.dumps(arguments))
    return result.json["session_id"]


def is_open(home: Home, session_id: str) -> bool:
    return row_of(home, session_id)["status"] == "pending"


def form(home: Home) -> str:
    return elicit(home, "elicit_form", message="Where and how big?", requestedSchema={
        "type": "object", "required": ["place", "size"], "properties": {
            "place": {"type": "string", "enum": ["eu", "us"]}, "size": {"type": "integer", "minimum": 1},
            "name": {"type": "string"}}})


@test("without a choice nothing is sent: the question and the exact commands that answer it are printed", "R10.3")
def no_choice(home: Home) -> None:
    preselected = ask_json(home, selection_mode="multi", default_selection_ids=["eu"]).json["session_id"]
    confirm = elicit(home, "elicit_confirm", message="Restart it?", title="Restart")
    for session_id in (preselected, confirm):
        for more in ([], ["--note", "only a note"]):
            result = expect(home.sayso("answer", session_id, *more), USAGE)
            assert "nothing chosen" in one_line(result.err), result
            assert is_open(home, session_id)
        assert home.sayso("answer", session_id, "--json").json["error"]["code"] == "missing_property"
    lines = [line.strip() for line in home.sayso("answer", preselected).out.splitlines()]
    assert "From JSON" in lines, lines
    assert [line for line in lines if line.startswith("sayso ")] == [
        f"sayso answer {preselected[:8]} {rest}" for rest in ("eu", "us", "eu us", "--none")], lines
    expect(home.sayso("answer", preselected[:8], "eu", "us"), DONE, "Europe, America")
    said = home.sayso("answer").out  # the only one that waits
    commands = [line.strip() for line in said.splitlines() if line.strip().startswith("sayso ")]
    assert commands == [f"sayso answer {confirm[:8]} {word}" for word in ("yes", "no")], said
    expect(home.sayso(*shlex.split(commands[0])[1:]), DONE)


@test("the printed commands are exact for every kind, and an agent's names can't act in a shell", "R10.3 R12.3")
def commands(home: Home) -> None:
    hostile = ask_json(home, options=[{"id": "-x", "label": "A", "recommended": True}, {"id": "$(id)", "label": "B"},
                                      {"id": "a,b", "label": "C"}, {"id": "\u202ee", "label": "D"}])
    session_id = hostile.json["session_id"]
    said = home.sayso("answer").out
    lines = [line.strip() for line in said.splitlines() if line.startswith("  sayso ")]
    assert lines == [f"sayso answer {session_id[:8]} {rest}" for rest in ("1", "'$(id)'", "3", "4")], said
    expect(home.sayso(*shlex.split(lines[1])[1:]), DONE, "B")
    whole = form(home)
    assert f"sayso answer {whole[:8]} --field place=VALUE --field size=VALUE --field name=VALUE\n" in home.sayso("answer").out
    expect(home.sayso("cancel"), DONE)
    text = ask(home, "Name?", "--text")
    assert f"  sayso answer {text[:8]} --text TEXT\n" in home.sayso("answer").out
    expect(home.sayso("cancel"), DONE)
    ask(home, "Two of three", *OPTIONS, "--multi", "--min", "2")
    lines = [line.strip() for line in home.sayso("answer").out.splitlines() if line.startswith("  sayso ")]
    assert [line.split(" ", 3)[3] for line in lines] == ["eu us"], lines  # one alone would be refused
    expect(home.sayso(*shlex.split(lines[0])[1:]), DONE, "Europe, America")
    options = [word for i in range(8) for word in ("-o", f"o{i}=Option {i}")]
    eight = ask(home, "All of eight", *options, "-r", "o0", "--multi", "--min", "8")
    lines = [line.strip() for line in home.sayso("answer").out.splitlines() if line.startswith("  sayso ")]
    assert len(lines) == 1, lines
    expect(home.sayso(*shlex.split(lines[0])[1:]), DONE)  # a command may have fewer words
    assert row_of(home, eight)["status"] == "submitted", lines


@test("an option by id, place, label or the beginning of one; an exact id wins; several that fit are named", "R10.3")
def one_option(home: Home) -> None:
    options = [{"id": "1", "label": "Redis", "recommended": True}, {"id": "rust", "label": "Estonia"},
               {"id": "ee", "label": "Europe, all of it"}, {"id": "us", "label": "America"}]
    for word, wanted in (("1", "1"), ("2", "rust"), ("4", "us"), ("ame", "us"), ("AMERICA", "us"), ("eu", "ee"), ("ee", "ee"), ("EE", "ee"),
                         ("Europe, all of it", "ee"), ("europe, a", "ee"), ("rus", "rust"), ("redis", "1")):
        session_id = ask_json(home, options=options).json["session_id"]
        expect(home.sayso("answer", session_id, word), DONE)
        assert collect(home, session_id).json["selection"]["selected_ids"] == [wanted], word
    session_id = ask_json(home, options=options).json["session_id"]
    several = one_line(expect(home.sayso("answer", session_id, "E"), FAILED).err)
    assert "more than one option: Estonia (rust), Europe, all of it (ee)" in several and "bad_enum" not in several, several
    for words in (["Mars"], ["5"], ["0"], [""], ["us", "ee"], ["us,ee"], ["Mars", "--select", "us"]):
        plain = expect(home.sayso("answer", session_id, *words), FAILED)
        assert is_open(home, session_id) and "/" not in one_line(plain.err) and "_" not in plain.err, plain
    error_of(home.sayso("answer", session_id, "E", "--json"), "bad_enum")
    expect(home.sayso("answer", session_id, "--select", "Amer"), DONE, "America")


@test("a place that is also the beginning of another label is not guessed at", "R10.3")
def numbers_in_labels(home: Home) -> None:
    options = [{"id": "a", "label": "2 GB", "recommended": True}, {"id": "b", "label": "4 GB"}]
    session_id = ask_json(home, options=options).json["session_id"]
    expect(home.sayso("answer", session_id, "2"), FAILED, "2 GB (a), 4 GB (b)")
    expect(home.sayso("answer", session_id, "1"), DONE, "2 GB")


@test("an agent's ids can't turn what a person types into another option; --select and the printed commands take them", "R10.3 R12.3")
def turned(home: Home) -> None:
    options = [{"id": "no", "label": "Yes", "recommended": True}, {"id": "yes", "label": "No"}, {"id": "2", "label": "Later"},
               {"id": "by hand", "label": "3"}, {"id": "a,b", "label": "2,3"}]
    session_id = ask_json(home, options=options).json["session_id"]
    for word, rivals in (("no", "Yes (no), No (yes)"), ("YES", "Yes (no), No (yes)"), ("2", "No (yes), Later (2)"),
                         ("3", "Later (2), 3 (by hand)")):
        assert rivals in one_line(expect(home.sayso("answer", session_id, word), FAILED).err), word
    expect(home.sayso("answer", session_id, "2,3"), DONE, "2,3")
    for index, option in enumerate(options):
        session_id = ask_json(home, title=f"T{index}", options=options).json["session_id"]
        lines = [line.strip() for line in home.sayso("answer", session_id).out.splitlines() if line.startswith("  sayso ")]
        expect(home.sayso(*shlex.split(lines[index])[1:]), DONE)
        assert collect(home, session_id).json["selection"]["selected_ids"] == [option["id"]], lines


@test("several: by words, commas or both", "R10.3")
def several_options(home: Home) -> None:
    for words, wanted in ((["as", "eu"], ["eu", "as"]), (["Asia,ame"], ["us", "as"]), (["1,2", "3"], ["eu", "us", "as"])):
        session_id = ask(home, " ".join(words), *OPTIONS, "--multi")
        expect(home.sayso("answer", session_id, *words), DONE)
        assert collect(home, session_id).json["selection"]["selected_ids"] == wanted, words
    session_id = ask(home, "Twice", *OPTIONS, "--multi")
    expect(home.sayso("answer", session_id, "eu", "Europe"), FAILED, "duplicate ID")


@test("yes and no, a number, own words: --text is for the one field there is, whatever its kind", "R10.3")
def kinds(home: Home) -> None:
    def confirm() -> str:
        return elicit(home, "elicit_confirm", message="Restart it?")

    def number() -> str:
        return elicit(home, "elicit_number", message="How many?", minimum=1, maximum=100)

    for words, wanted in ((["yes"], True), (["y"], True), (["No"], False), (["--text", "yes"], True), (["false"], False)):
        session_id = confirm()
        expect(home.sayso("answer", *words), DONE)  # no id: it is the only one
        assert collect(home, session_id).json["action"] == ("accept" if wanted else "decline"), words
    for words in (["42"], ["--text", "42"]):
        session_id = number()
        expect(home.sayso("answer", session_id, *words), DONE)
        assert collect(home, session_id).json["value"] == 42, words
    session_id = confirm()
    for word in ("maybe", "--text=2"):
        assert "must be yes or no" in one_line(expect(home.sayso("answer", session_id, word), FAILED).err), word
    expect(home.sayso("answer", session_id, "no"), DONE)
    session_id = number()
    for words, flag in ((["many"], "sayso: many: "), (["--text", "many"], "sayso: --text: "), (["101"], "must be at most 100"), (["1", "2"], "'2'"),
                        (["1", "--text", "2"], "'1'")):
        assert flag in one_line(expect(home.sayso("answer", session_id, *words), FAILED).err), words
        assert is_open(home, session_id)
    expect(home.sayso("cancel"), DONE)
    session_id = ask(home, "Name?", "--text")
    refused = one_line(expect(home.sayso("answer", session_id, "Heron"), FAILED).err)
    assert "--text TEXT" in refused and "'Heron'" in refused, refused  # a mistyped ID is never a text
    expect(home.sayso("answer", session_id, "--text", "Heron"), DONE)


@test("an id comes first; one that is none is an answer only to the one ask that waits", "R10.3")
def whose(home: Home) -> None:
    first = ask(home, "First")
    for words in (["zzzz", "eu"], ["zzzz", "--select", "eu"], ["k3f7"]):
        expect(home.sayso("answer", *words), FAILED)
        assert is_open(home, first), words
    assert "zzzz" in home.sayso("answer", "zzzz", "eu").err
    second = ask(home, "Second")
    assert "More than one" in one_line(expect(home.sayso("answer", "Europe"), FAILED).err)
    assert "o such ask" in one_line(expect(home.sayso("answer", "europe"), FAILED).err)
    expect(home.sayso("answer", first[:4], "europe"), DONE, "Europe")
    expect(home.sayso("answer", "europe"), DONE, "Europe")
    assert row_of(home, second)["status"] == "submitted"
    assert "No pending asks" in one_line(expect(home.sayso("answer", "yes"), FAILED).err)


@test("all mistakes are shown together, each by the option to use; scripts get the first as the hub says it", "R10.3 R2.3")
def mistakes(home: Home) -> None:
    session_id = form(home)
    result = expect(home.sayso("answer", session_id, "--field", "place=mars", "--field", "size=0", "--field", "nope=1",
                               "--note", "n" * 2001), FAILED)
    lines = result.err.splitlines()
    assert [line.split(": ")[1] for line in lines] == ["--field nope", "--field place", "--field size", "--note"], result
    assert "_" not in result.err and "/" not in result.err, result
    assert "--field size" in one_line(home.sayso("answer", session_id, "--field", "place=eu").err)
    assert "/" not in one_line(home.sayso("reply", session_id, "  ").err)
    assert "/" not in one_line(home.sayso("ask", "T", "-p", "short", "-o", "a=A", "-r", "a").err)
    error_of(home.sayso("answer", session_id, "--field", "place=mars", "--field", "size=0", "--json"), "bad_enum", "/fields/place/0")
    chinese = home.sayso("answer", session_id, "--field", "size=0", "--field", "place=eu", env={"CHOICE_LANG": "zh"}).err
    assert "--field size: " in chinese and "must be" not in chinese, chinese
    assert "more than one question" in one_line(home.sayso("answer", session_id, "eu").err)
    assert is_open(home, session_id)
    expect(home.sayso("answer", session_id, "--field", "place=E", "--field", "size=3"), DONE)
    several = ask(home, "More than one", *OPTIONS, "--multi", "--max", "2")
    for words, flags in ((["eu", "foo", "bar", "--text", "hi"], ["--text", "foo", "bar"]), (["1", "2", "3", "--text", "hi"], ["--text", "--select"]),
                         (["eu", "--option-note", "x=1", "--option-note", "y=2", "--field-note", "z=3"],
                          ["--option-note x", "--option-note y", "--field-note z"])):
        lines = expect(home.sayso("answer", several, *words), FAILED).err.splitlines()
        assert [line.split(": ")[1] for line in lines] == flags, lines
    expect(home.sayso("answer", several, "eu"), DONE)
    quiet = ask_json(home, title="Quiet", allow_annotations=False).json["session_id"]
    assert one_line(home.sayso("answer", quiet, "eu", "--note", "psst").err).startswith("sayso: --note: ")
    expect(home.sayso("settings", "set", "notes", "off"), DONE)
    quiet = ask_json(home, title="Also quiet").json["session_id"]
    assert one_line(home.sayso("answer", quiet, "eu", "--note", "psst").err).startswith("sayso: --note: ")


@test("an empty answer needs --none, alone: also where blanks, or a default taken away, leave nothing", "R10.3 R2.3")
def empty(home: Home) -> None:
    def preselected() -> str:
        return ask_json(home, selection_mode="multi", default_selection_ids=["eu"]).json["session_id"]

    session_id = preselected()
    for words in (["--select", ""], ["--field", "choice="], ["--none", "eu"], ["--none", "--select", "us"]):
        assert "--none" in one_line(expect(home.sayso("answer", session_id, *words), FAILED).err), words
        error_of(home.sayso("answer", session_id, *words, "--json"), None)
        assert is_open(home, session_id)
    expect(home.sayso("answer", session_id, "--none"), DONE)
    assert collect(home, session_id).json["selection"]["selected_ids"] == []
    blank = ask(home, "Hybrid", *OPTIONS, "--hybrid")
    for text in (" ", "\t\n", "\u3000", "\u200b"):
        assert "--none" in home.sayso("answer", blank, "--text", text).err or is_open(home, blank)
        assert is_open(home, blank), repr(text)
    expect(home.sayso("answer", blank, "--none"), DONE)
    needed = ask(home, "Single")
    expect(home.sayso("answer", needed, "--none"), FAILED, "choose one option")
    text = ask(home, "Text", "--text")
    expect(home.sayso("answer", text, "--none"), FAILED)
    process = home.spawn("answer", needed, "eu", stdin=subprocess.DEVNULL)
    assert end(home, process).code == DONE


run()
