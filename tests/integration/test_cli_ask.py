"""`sayso ask` as scripts use it: what it prints, how it ends, what it takes and refuses.

Proves: R10.3 R2.3
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import time

from cli_stage import (
    DONE, FAILED, OPTIONS, PENDING, PROMPT, REFUSED, TIMED_OUT, USAGE, WORDS, ask, ask_json, asking, collect,
    end, error_of, expect, one_line, row_of)
from harness import HANG_S, Home, run, test, wait_until


@test("ask waits, says where to answer, and prints the id chosen: exit 0", "R10.3 R2.2")
def ask_and_wait(home: Home) -> None:
    with asking(home, "Which target?") as (session_id, process):
        answered = home.sayso("answer", session_id, "--select", "us")
        assert expect(answered, DONE).out == "Saved: America\n" and not answered.err
        result = end(home, process)
    assert result.code == DONE and result.out == "us\n", result
    assert one_line(result.err) == f"Waiting for an answer. To answer: sayso answer {session_id}"
    assert row_of(home, session_id)["status"] == "submitted"


@test("exit codes of a waiting ask: cancelled, declined and withdrawn 3, timed out 4", "R10.3 R2.2")
def endings(home: Home) -> None:
    for verb, flags in (("cancel", {"explicit"}), ("decline", {"explicit", "declined"}),
                        ("withdraw", {"withdrawn"})):
        with asking(home, verb, *WORDS, "--json") as (session_id, process):
            expect(home.sayso(verb, session_id), DONE)
            result = end(home, process)
        assert result.code == REFUSED and result.json["action_status"] == "cancelled", result
        true = {name for name, value in result.json.items() if value is True}
        assert true == flags and result.json["selection"]["selected_ids"] == [], result
        assert ("answered_by" in result.json) == (verb != "withdraw") and result.json["instructions"]
    began = time.monotonic()
    result = home.sayso("ask", "T", *WORDS, "--timeout", "1", "--json")
    assert result.code == TIMED_OUT and time.monotonic() - began >= 1, result
    assert result.json["action_status"] == "timeout" and result.json["selection"]["selected_ids"] == []
    assert result.json["explicit"] is False and "answered_by" not in result.json, result


@test("without --json the end is told on stderr, stdout stays empty", "R10.3")
def endings_in_words(home: Home) -> None:
    for verb, word in (("cancel", "cancelled"), ("decline", "declined"), ("withdraw", "withdrawn")):
        with asking(home, verb) as (session_id, process):
            expect(home.sayso(verb, session_id), DONE)
            result = end(home, process)
        assert result.code == REFUSED and not result.out and result.err.splitlines()[-1] == word, (verb, result)
    result = home.sayso("ask", "T", *WORDS, "--timeout", "1")
    assert result.code == TIMED_OUT and not result.out and result.err.splitlines()[-1] == "timed out", result


@test("--wait ends in time with the id and exit 5; the same call takes the ask up again", "R10.3")
def wait_option(home: Home) -> None:
    began = time.monotonic()
    result = home.sayso("ask", "T", *WORDS, "--wait", "1")
    assert result.code == PENDING and time.monotonic() - began >= 1, result
    session_id = result.out.strip()
    assert home.sayso("ask", "T", *WORDS, "--wait", "0").out.strip() == session_id
    again = home.sayso("ask", "T", *WORDS, "--wait", "0", "--json")
    assert again.code == PENDING and again.json["session_id"] == session_id, again
    assert again.json["action_status"] == "pending" and "session_id" in again.json["instructions"]
    assert len(home.sayso("list", "--json").json) == 1
    collected = home.sayso("ask", "--from", "-", "--wait", "0", input=json.dumps({"session_id": session_id}))
    assert collected.code == PENDING, collected  # --wait is heard when collecting, too


@test("an answer that was not collected goes to the next identical call once, and then never again", "R10.3")
def replay(home: Home) -> None:
    ask(home, "T")
    expect(home.sayso("answer", "--select", "as"), DONE)
    replayed = home.sayso("ask", "T", *WORDS, "--json", "--wait", "0")
    assert replayed.code == DONE and replayed.json["replayed"] is True, replayed
    assert home.sayso("ask", "T", *WORDS, "--wait", "0").code == PENDING


@test("several options: printed in the order of the options, one a line", "R10.3 R2.3")
def multi(home: Home) -> None:
    with asking(home, "Which ones?", *WORDS, "--multi") as (session_id, process):
        expect(home.sayso("answer", session_id, "--select", "as,eu"), DONE, "Europe, Asia")
        assert end(home, process).out == "eu\nas\n"
    session_id = ask(home, "None?", *OPTIONS, "--multi")
    expect(home.sayso("answer", session_id, "--none"), DONE, "nothing chosen")
    assert collect(home, session_id).json["selection"]["selected_ids"] == []


@test("a text: printed as it was written, also with blanks and lines", "R10.3 R2.2")
def text(home: Home) -> None:
    with asking(home, "What name?", "-p", PROMPT, "--text") as (session_id, process):
        expect(home.sayso("answer", session_id, "--text", "Heron,\n  or Égret 白鹭"), DONE)
        result = end(home, process)
    assert result.code == DONE and result.out == "Heron,\n  or Égret 白鹭\n", result
    collected = collect(home, session_id).json
    assert collected["action_status"] == "custom_input" and collected["explicit"] is True
    selection = collected["selection"]
    assert selection["custom_input"] == "Heron,\n  or Égret 白鹭" and selection["selected_ids"] == [], selection
    assert selection["placeholder_visible"] is False  # there was none
    long = ask(home, "A long one", "--text")
    expect(home.sayso("answer", long, "--text", "word " * 100 + "end"), DONE)
    assert "word " * 100 + "end" in home.sayso("show", long).out, "show cuts the answer short"


@test("options and own words: either, or both; a text meets the minimum", "R10.3 R2.3")
def hybrid(home: Home) -> None:
    for words, status, out in ((["--select", "us"], "selected", ["us"]),
                               (["--text", "Mars"], "custom_input", []),
                               (["--select", "us,as", "--text", "Mars"], "selected", ["us", "as"])):
        session_id = ask(home, status + str(out), *OPTIONS, "--hybrid")
        expect(home.sayso("answer", session_id, *words), DONE)
        result = collect(home, session_id)
        assert result.code == DONE and result.json["action_status"] == status, result
        assert result.json["selection"]["selected_ids"] == out, result
        assert result.json["selection"].get("custom_input") == ("Mars" if "Mars" in words else None)
    needs_two = ask_json(home, selection_mode="hybrid", min_selections=2).json["session_id"]
    error_of(home.sayso("answer", needs_two, "--select", "eu", "--json"), "out_of_range", "/selected_ids")
    expect(home.sayso("answer", needs_two, "--text", "neither"), DONE)


@test("defaults that are not spoken of stay beside what is written; without a choice they are not sent", "R2.3")
def defaults(home: Home) -> None:
    session_id = ask(home, "Hybrid", *OPTIONS, "--hybrid", "--default", "us")
    expect(home.sayso("answer", session_id), USAGE)
    expect(home.sayso("answer", session_id, "--text", "and Mars"), DONE)
    selection = collect(home, session_id).json["selection"]
    assert selection["selected_ids"] == ["us"] and selection["custom_input"] == "and Mars", selection
    session_id = ask(home, "Two", *OPTIONS, "--multi", "-d", "as", "-d", "eu")
    expect(home.sayso("answer", session_id, "--note", "as you like"), USAGE)
    expect(home.sayso("answer", session_id, "us"), DONE, "America")
    assert collect(home, session_id).json["selection"]["selected_ids"] == ["us"]


@test("at the deadline nothing is chosen, defaults or not, unless the person's own setting says so", "R2.3")
def deadline(home: Home) -> None:
    words = [*WORDS, "--default", "us", "--timeout", "1"]
    result = home.sayso("ask", "T", *words, "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == [], result
    assert "auto_submitted" not in result.json
    session_id = result.json["session_id"]
    for late in (["answer", session_id, "--select", "us"], ["cancel", session_id]):
        assert "timed out" in one_line(expect(home.sayso(*late), FAILED).err)
    expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
    result = home.sayso("ask", "U", *words, "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == ["us"], result
    assert result.json["auto_submitted"] is True and result.json["explicit"] is False
    row = row_of(home, result.json["session_id"])
    assert (row["status"], row["answered_by"]) == ("auto_submitted", None), row
    assert row["session_id"] in [each["session_id"] for each in home.sayso("list", "--json").json]
    result = home.sayso("ask", "V", *words, "--destructive", "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == [], result
    assert result.json["warnings"] == ["defaults_ignored"] and "auto_submitted" not in result.json


@test("what was said after the deadline is told with the next ask, in words; of other notices people hear nothing", "R5.7 R10.3")
def told_late(home: Home) -> None:
    words = [*WORDS, "--timeout", "1"]
    said = (("Both", ["us", "--note", "I was away"], "America; I was away"), ("Choice", ["Europe"], "Europe"), ("Note", ["--note", "Ask again"], "Ask again"))
    late = {title: home.sayso("ask", title, *words, "--json").json["session_id"] for title, _, _ in said}
    expect(home.sayso("answer", ask(home, "Answered"), "eu"), DONE)  # a result that waits is a notice, too
    for title, given, _ in said:
        expect(home.sayso("tell", late[title], *given), DONE)
    told = home.sayso("ask", "Next", "-p", PROMPT, *OPTIONS, "--timeout", "1").err
    assert sorted(re.findall(r'the user now says about "(\w+)": (.*)', told)) == sorted((title, wanted) for title, _, wanted in said), told
    assert "now says" not in home.sayso("ask", "After that", "-p", PROMPT, *OPTIONS, "--timeout", "1").err
    late = home.sayso("ask", "Last", *words, "--json").json["session_id"]
    expect(home.sayso("tell", late, "us"), DONE)
    said = [home.sayso("ask", title, "-p", PROMPT, *OPTIONS, "--wait", "0").err for title in ("Open", "Open, too")]
    assert ["now says" in each for each in said] == [True, False], said  # a script that does not wait hears it once, too


@test("--timeout is the time of this ask", "R10.3")
def timeout_option(home: Home) -> None:
    assert 3590 < row_of(home, ask(home, "T", *OPTIONS, "--timeout", "3600"))["remaining_seconds"] <= 3600
    assert "1:00:00" in home.sayso("list").out or "59:5" in home.sayso("list").out
    assert 290 < row_of(home, ask(home, "U"))["remaining_seconds"] <= 300


@test("--from reads a file or standard input; what can't be read is told", "R10.3")
def from_file(home: Home) -> None:
    file = home.path / "question.json"
    file.write_text(json.dumps({"title": "From a file", "prompt": PROMPT, "selection_mode": "text_input",
                                "timeout_seconds": 60, "placeholder": "a word"}))
    result = home.sayso("ask", "--from", str(file), "--wait", "0")
    assert result.code == PENDING and row_of(home, result.out.strip())["title"] == "From a file"
    assert home.sayso("ask", "--from", "-", "--wait", "0", input=file.read_text()).out == result.out
    os.mkfifo(home.path / "pipe")  # as a shell's <(…) makes one
    with open(os.open(home.path / "pipe", os.O_RDWR), "w") as pipe:  # so that opening never waits
        process = home.spawn("ask", "--from", str(home.path / "pipe"), "--wait", "0", stdin=subprocess.DEVNULL)
        time.sleep(0.1)
        pipe.write(file.read_text())
    assert end(home, process).out == result.out, "a pipe is not read to its end"
    for name, given in ((str(home.path / "none"), None), (str(home.path), None), ("-", ""), ("-", "{")):
        result = home.sayso("ask", "--from", name, input=given)
        assert result.code == FAILED and not result.out, result
        assert name == "-" or name in result.err, result
        assert "saved" not in one_line(result.err), "nothing was to be saved"
    assert len(home.sayso("list", "--json").json) == 1


@test("--from: null means absent; all mistakes are told, each on a line of its own", "R2.1 R10.3")
def mistakes(home: Home) -> None:
    good = {"title": "T", "prompt": PROMPT, "selection_mode": "text_input"}
    first = home.sayso("ask", "--from", "-", "--wait", "0", input=json.dumps(good))
    nulls = home.sayso("ask", "--from", "-", "--wait", "0", input=json.dumps({**good, "placeholder": None, "options": []}))
    assert nulls.code == PENDING and nulls.out == first.out, nulls
    bad = json.dumps({**good, "prompt": 1, "title": None, "x": True})
    said = home.sayso("ask", "--from", "-", input=bad)
    lines = said.err.splitlines()
    assert said.code == FAILED and len(lines) == 3, said
    assert "/x: " in lines[0] and "/title: " in lines[1] and "/prompt: " in lines[2], said
    error = home.sayso("ask", "--from", "-", "--json", input=bad).json["error"]
    assert [one["path"] for one in error["errors"]] == ["/x", "/title", "/prompt"], error
    assert error["message"].startswith(error["errors"][0]["message"]), error


@test("--key: repeated never asks twice; with other words it is refused", "R10.3")
def key_option(home: Home) -> None:
    first = ask(home, "T", *OPTIONS, "--key", "k1")
    assert ask(home, "T", *OPTIONS, "--key", "k1") == first != ask(home, "T", *OPTIONS, "--key", "k2")
    other = home.sayso("ask", "Other words", *WORDS, "--key", "k1", "--wait", "0", "--json")
    error_of(other, "conflicting_arguments", "/idempotency_key")
    assert ask(home, "Other words", *OPTIONS, "--key", "k1", "--as", "somebody") != first
    error_of(home.sayso("ask", "T", *WORDS, "--key", "k" * 129, "--json"), "too_long", "/idempotency_key")


@test("--as and the working directory say whose ask it is", "R10.3")
def whose(home: Home) -> None:
    place = home.path / "elsewhere"
    place.mkdir()
    here = ask(home, "T")
    there = home.sayso("ask", "T", *WORDS, "--wait", "0", cwd=str(place)).out.strip()
    named = ask(home, "T", *OPTIONS, "--as", "ci")
    named_there = home.sayso("ask", "T", *WORDS, "--as", "ci", "--wait", "0", cwd=str(place)).out.strip()
    assert len({here, there, named}) == 3 and named == named_there, "a name counts wherever it is used"
    assert row_of(home, there)["origin"]["directory"] == str(place)
    error_of(collect(home, here, "--as", "ci"), "not_found", "/session_id")
    assert collect(home, named, "--as", "ci").code == PENDING and collect(home, here).code == PENDING
    shown = home.sayso("show", there).out
    assert str(place) in shown and f"uid {os.getuid()}" in shown and '"sayso ask"' in shown, shown


@test("an ask that is refused before a person sees it says how to fix it", "R10.3 R2.1")
def bad_asks(home: Home) -> None:
    for words, code, path in (
            (["T"], "missing_property", "/prompt"), (["T", "-p", "short", *OPTIONS], "too_short", "/prompt"),
            (["", *WORDS], "empty_text", "/title"), (["T", "-p", PROMPT], "missing_property", "/options"),
            (["T", "-p", PROMPT, "-o", "a=A"], "no_recommended_option", "/options"),
            (["T", *WORDS, "-o", "eu=Again"], "duplicate_option_id", "/options/3/id"),
            (["T", *WORDS, "-d", "nope"], "default_not_in_options", "/default_selection_ids/0"),
            (["T", *WORDS, "--text"], "unsupported_flag", "/options"),
            (["T" * 201, *WORDS], "too_long", "/title")):
        error_of(home.sayso("ask", *words, "--json"), code, path)
        plain = home.sayso("ask", *words)
        assert plain.code == FAILED and not plain.out, plain
        assert path[1:].replace("/", " ") in plain.err and all(code not in one_line(line) for line in plain.err.splitlines(True)), plain  # codes are for scripts
    assert not home.hub_pid()


@test("a script that is asked back says so and waits on; with --json it returns the question immediately", "R2.2 R5.1")
def asked_back(home: Home) -> None:
    script = home.spawn("ask", "Plain", "-p", PROMPT, "-o", "a=Alpha", "-o", "b=Beta", "--recommend", "a")
    waiting = wait_until(lambda: home.sayso("list", "--json").json, "it waits")[0]["session_id"]
    expect(home.sayso("reply", "why \u202enow?"), DONE)
    time.sleep(0.3)
    assert script.poll() is None, script
    expect(home.sayso("answer", waiting, "--select", "b"), DONE)
    out, err = script.communicate(timeout=HANG_S)
    assert (out, script.returncode) == ("b\n", DONE), (out, err)
    assert "Follow-up question: why" in err and "\u202e" not in err, err
    told = home.spawn("ask", "Told", "-p", PROMPT, "-o", "a=Alpha", "-o", "b=Beta", "--recommend", "a", "--json")
    wait_until(lambda: home.sayso("list", "--active", "--json").json, "it waits")
    expect(home.sayso("reply", "why?"), DONE)
    out, err = told.communicate(timeout=HANG_S)
    assert told.returncode == PENDING and json.loads(out)["asked_back"] == "why?", (out, err)


@test("--min, --max, --placeholder, --describe and --interface are arguments of the question", "R10.3")
def more_options(home: Home) -> None:
    session_id = ask(home, "T", *OPTIONS, "--hybrid", "--min", "1", "--max", "2", "--placeholder", "Or elsewhere", "--describe",
                     "eu=Near = fast", "--interface", "web")
    got = home.sayso("show", session_id, "--json").json
    field = got["form"]["fields"][0]
    assert (field["min_selections"], field["max_selections"], field["placeholder"]) == (1, 2, "Or elsewhere"), field
    assert field["options"][0]["description"] == "Near = fast" and got["ask"]["interface"] == "web", got
    for words in (["--describe", "mars=Far"], ["--describe", "eu"], ["--min", "-1"], ["--max", "many"]):
        assert words[0] in home.sayso("ask", "T", *WORDS, *words).err, words
    assert home.sayso("ask", "T", *WORDS, "--interface", "mail").code == FAILED


run()
