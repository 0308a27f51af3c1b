"""The command line as people and scripts use it: every verb, both languages, every exit code.

Proves: R10.3 R2.3 R2.6 R12.1 R5.8 R8.2 R9.1
"""
from __future__ import annotations

import contextlib
import copy
import fcntl
import json
import os
import pathlib
import pwd
import re
import select
import signal
import sqlite3
import stat
import subprocess
import termios
import time
from typing import Any, Iterator

from harness import Home, Result, Skip, run, test, wait_until

VERBS = "ask answer cancel decline extend withdraw list show status serve stop settings token version".split()
PROMPT = "The build is done; both clusters are healthy, so somebody has to choose."
OPTIONS = ["-o", "eu=Europe", "-o", "us=America", "-o", "as=Asia", "-r", "eu"]
WORDS = ["-p", PROMPT, *OPTIONS]
DONE, FAILED, USAGE, REFUSED, TIMED_OUT, PENDING = range(6)
LIST_ROW = "session_id title status interface agent created_at remaining_seconds version".split()
ID = re.compile(r"[a-z2-7]{26}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
DAY_MS = 86_400_000
NOBODY = 65534


# Asking and answering in few words ---------------------------------------------------------------


def ask(home: Home, title: str, *more: str) -> str:
    """Asks and does not wait; returns the id."""
    result = home.sayso("ask", title, "-p", PROMPT, *(more or OPTIONS), "--wait", "0")
    assert result.code == PENDING and ID.fullmatch(result.out.strip()), result
    return result.out.strip()


def ask_json(home: Home, *options: str, **arguments: Any) -> Result:
    given = {"title": "From JSON", "prompt": PROMPT, "selection_mode": "single", **arguments}
    if given["selection_mode"] != "text_input":
        given.setdefault("options", [{"id": "eu", "label": "Europe", "recommended": True},
                                     {"id": "us", "label": "America"}])
    return home.sayso("ask", "--from", "-", "--json", "--wait", "0", *options, input=json.dumps(given))


def collect(home: Home, session_id: str, *options: str) -> Result:
    return home.sayso("ask", "--from", "-", "--json", *options,
                      input=json.dumps({"session_id": session_id, "wait_seconds": 0}))


@contextlib.contextmanager
def asking(home: Home, title: str, *more: str, **settings: Any) -> Iterator[tuple[str, subprocess.Popen]]:
    """`sayso ask` that waits, and its id; end() gives its result."""
    process = home.spawn("ask", title, *(more or WORDS), stdin=subprocess.DEVNULL, **settings)
    rows = wait_until(lambda: [row for row in home.sayso("list", "--active", "--json").json
                               if row["title"] == title], "the ask is there")
    yield rows[0]["session_id"], process
    if process in home.spawned:
        end(home, process)


def end(home: Home, process: subprocess.Popen) -> Result:
    out, err = process.communicate(timeout=20)
    home.spawned.remove(process)
    return Result(process.returncode, out or "", err or "")


def row_of(home: Home, session_id: str) -> dict[str, Any]:
    return home.sayso("show", session_id, "--json").json["ask"]


def one_line(text: str) -> str:
    """People get one sentence in one line, without a control character."""
    assert text.endswith("\n") and text.count("\n") == 1 and text[:-1].isprintable(), repr(text)
    return text.strip()


def expect(result: Result, code: int, *words: str) -> Result:
    said = result.out + result.err
    assert result.code == code and all(word in said for word in words), (code, words, result)
    return result


def error_of(result: Result, code: str | None, path: str | None = None) -> dict[str, Any]:
    assert result.code == FAILED and result.out.count("\n") == 1 and not result.err, result
    error = result.json["error"]
    assert code in (None, error["code"]) and path in (None, error["path"]) and error["message"], error
    return error


# Help and usage ----------------------------------------------------------------------------------


@test("help of every verb in English and Chinese, without starting anything", "R10.3 R8.2")
def help_texts(home: Home) -> None:
    said: dict[str, list[str]] = {"en": [], "zh": []}
    for language, usage in (("en", "Usage:"), ("zh", "用法：")):
        env = {"CHOICE_LANG": language}
        main = [home.sayso(*words, env=env) for words in ((), ("--help",), ("-h",), ("help",))]
        assert all(result == main[0] and result.code == DONE and not result.err for result in main), main
        verbs = re.findall(r"^  ([a-z]+) +\S", main[0].out.partition("\n\n")[2].partition("\n\n")[2], re.MULTILINE)
        assert set(verbs) >= set(VERBS) and usage in main[0].out, main[0].out
        for verb in verbs:
            result = home.sayso(verb, "--help", env=env)
            assert result.code == DONE and not result.err, result
            assert usage in result.out and f"\n  sayso {verb}" in result.out, result.out
            assert "--json" in result.out and "-h, --help" in result.out, result.out
            assert home.sayso(verb, "-h", env=env) == result
            said[language] += result.out.splitlines()
        said[language] += main[0].out.splitlines()
    assert len(said["en"]) == len(said["zh"])
    is_syntax = re.compile(r"sayso [A-Za-z0-9.]+(?!.*--help)|$")  # the same in every language
    for en, zh in zip(said["en"], said["zh"]):
        has_chinese = any("\u4e00" <= character <= "\u9fff" for character in zh)
        assert has_chinese or (en == zh and is_syntax.match(en.strip())), (en, zh)
    assert not home.hub_pid() and not home.data.exists()


@test("words are ours: no begging, no shouting; Chinese says 智能体 and 你", "R8.2")
def words(home: Home) -> None:
    for language, never in (("en", r"\b(please|oops|successfully|sorry)\b|!"),
                            ("zh", "代理|您|[一-鿿][,.:;!?]")):
        for verb in VERBS:
            for words in ((verb, "--help"), (verb, "--nope")):
                result = home.sayso(*words, env={"CHOICE_LANG": language})
                found = re.search(never, result.out + result.err, re.IGNORECASE)
                assert not found, (language, verb, found)


@test("version in three ways, and as JSON", "R10.3")
def version(home: Home) -> None:
    plain = expect(home.sayso("version"), DONE, "sayso ")
    assert home.sayso("--version") == plain
    as_json = home.sayso("version", "--json").json
    assert plain.out == f"sayso {as_json['version']}\n" and as_json["wire"] == 1
    assert not home.hub_pid()


MISUSES = [
    (["frob"], "frob"), (["--frob"], "--frob"), (["-x"], "-x"),
    (["ask"], "TITLE"), (["ask", "--json"], "TITLE"), (["ask", "A", "B"], "B"), (["ask", "--frob"], "--frob"),
    (["ask", "-Z"], "-Z"), (["ask", "T", "-p"], "-p"), (["ask", "T", "--prompt"], "--prompt"),
    (["ask", "T", "--from"], "--from"), (["ask", "T", *WORDS, "--timeout", "soon"], "--timeout"),
    (["ask", "T", *WORDS, "--timeout", "0"], "--timeout"), (["ask", "T", *WORDS, "-t", "1.5"], "--timeout"),
    (["ask", "T", *WORDS, "--timeout", "2592001"], "2592000"), (["ask", "T", *WORDS, "--wait", "-1"], "--wait"),
    (["ask", "T", *WORDS, "--wait", "9" * 30], "--wait"), (["ask", "T", *WORDS, "--wait", ""], "--wait"),
    (["ask", "T", "-p", PROMPT, "-o", "noequals"], "--option"),
    (["answer", "a", "b"], "b"), (["answer", "--select"], "--select"),
    (["answer", "--field", "noequals"], "--field"), (["answer", "--option-note", "noequals"], "--option-note"),
    (["cancel", "a", "b"], "b"), (["cancel", "--note"], "--note"), (["decline", "--nope"], "--nope"),
    (["extend"], "SECONDS"), (["extend", "abcd"], "SECONDS"), (["extend", "abcd", "x"], "SECONDS"),
    (["extend", "abcd", "0"], "SECONDS"), (["extend", "abcd", "2592001"], "2592000"),
    (["extend", "abcd", "1", "2"], "2"), (["withdraw"], "ID"), (["withdraw", "a", "b"], "b"),
    (["list", "x"], "x"), (["list", "-x"], "-x"), (["list", "--json=3"], "--json"),
    (["list", "--limit", "0"], "--limit"), (["list", "--limit", "many"], "--limit"),
    (["list", "--limit"], "--limit"), (["show", "a", "b"], "b"), (["show", "--help=1"], "--help"),
    (["status", "x"], "x"), (["status", "--long"], "--long"), (["serve", "x"], "x"), (["stop", "x"], "x"),
    (["settings", "frob"], "get NAME"), (["settings", "get"], "get NAME"), (["settings", "set"], "VALUE"),
    (["settings", "set", "port"], "VALUE"), (["settings", "set", "port", "1", "2"], "2"),
    (["settings", "reset"], "NAME"), (["settings", "list", "x"], "list"), (["version", "x"], "x"),
]


@test("misuse: exit 2, one line that names what is wrong, in both languages, and no hub", "R10.3 R8.2")
def misuse(home: Home) -> None:
    for words, culprit in MISUSES:
        for language in ("en", "zh"):
            result = home.sayso(*words, env={"CHOICE_LANG": language})
            assert result.code == USAGE and not result.out, (words, result)
            line = one_line(result.err)
            assert line.startswith("sayso: ") and culprit in line, (words, line)
            assert any("\u4e00" <= c <= "\u9fff" for c in line) == (language == "zh"), (words, line)
    assert not home.hub_pid() and not home.data.exists(), "misuse started a hub"


@test("what was typed is repeated harmless", "R10.3 R6.5")
def misuse_is_harmless(home: Home) -> None:
    for words in (["a\x1b[2J\u202e"], ["ask", "--a\x1b[2J\n"], ["list", "a\r"], ["settings", "get", "a\x1b"],
                  ["answer", "--field", "a\x1b"], ["ask", "--from", "/a\x1b[2J\u202e"], ["show", "\x1b[2J"]):
        result = home.sayso(*words)
        assert result.code in (FAILED, USAGE), result
        one_line(result.err)


@test("options take their value behind =, behind the letter, or as the next word; -- ends them", "R10.3")
def spellings(home: Home) -> None:
    long = home.sayso("ask", "--prompt=" + PROMPT, "--option=a=A", "-ob=B", "-ra", "--wait=0", "--", "--title")
    assert long.code == PENDING, long
    assert home.sayso("list", "-n1", "--json").json[0]["title"] == "--title"


NOT_UTF8 = "caf\udce9"  # a byte that is no UTF-8, as Python passes it on


@test("words that are not UTF-8 are refused at once, by every verb that takes words", "R10.3")
def not_utf8_words(home: Home) -> None:
    session_id = ask(home, "T")
    for words in (["ask", NOT_UTF8, *WORDS], ["ask", "T", "-p", PROMPT + NOT_UTF8, *OPTIONS],
                  ["ask", "T", *WORDS, "--as", NOT_UTF8], ["ask", "T", *WORDS, "--key", NOT_UTF8],
                  ["ask", "T", *WORDS, "-o", "x=" + NOT_UTF8], ["answer", NOT_UTF8, "--select", "eu"],
                  ["answer", session_id, "--select", NOT_UTF8],
                  ["answer", "--select", "eu", "--note", NOT_UTF8],
                  ["answer", "--select", "eu", "--option-note", f"eu={NOT_UTF8}"],
                  ["answer", session_id, "--text", NOT_UTF8], ["answer", "--field", f"choice={NOT_UTF8}"],
                  ["show", NOT_UTF8], ["cancel", NOT_UTF8], ["cancel", session_id, "--note", NOT_UTF8],
                  ["decline", NOT_UTF8], ["extend", NOT_UTF8, "5"], ["withdraw", NOT_UTF8],
                  ["withdraw", session_id, "--as", NOT_UTF8], ["settings", "set", "listen", NOT_UTF8]):
        result = home.sayso(*words, timeout=5)
        assert result.code in (FAILED, USAGE) and not result.out and one_line(result.err), (words, result)
        assert "JSON" not in result.err, result  # nobody typed any
    assert row_of(home, session_id)["status"] == "pending" and len(home.sayso("list", "--json").json) == 1


@test("a working directory whose name is not UTF-8 keeps nobody from asking", "R10.3")
def not_utf8_directory(home: Home) -> None:
    place = home.path / NOT_UTF8
    place.mkdir()
    words = ["ask", "T", *WORDS, "--wait", "0"]
    first, again = (home.sayso(*words, cwd=str(place), timeout=5) for _ in range(2))
    assert first.code == PENDING and first.out == again.out, (first, again)
    assert "caf" in home.sayso("show").out and home.sayso("show", "--json").json["ask"]["title"] == "T"


@test("a name that is too long is refused for being too long", "R10.3")
def long_name(home: Home) -> None:
    result = home.sayso("ask", "T", *WORDS, "--as", "n" * 201, "--wait", "0", timeout=10)
    assert result.code in (FAILED, USAGE) and not result.out and "version" not in one_line(result.err), result
    assert ask(home, "T", *OPTIONS, "--as", "n" * 200)


@test("arguments as long as they may be are taken or refused at once; the hub stays", "R10.3 R2.1")
def longest_arguments(home: Home) -> None:
    options = [{"id": f"o{i}", "label": f"Option {i}", "recommended": i == 0, "preview": "A" * 65536}
               for i in range(16)]
    given = {"title": "Long", "prompt": PROMPT, "selection_mode": "single", "options": options}
    excess = len(json.dumps(given, separators=(",", ":"))) - (1 << 20)
    pid = home.sayso("list").code == DONE and home.hub_pid()
    for short in (0, 1, 64, 128, 256, 512, 4096):
        options[-1]["preview"] = "A" * (65536 - excess - short)
        text = json.dumps({**given, "title": f"Short of 1 MiB by {short:04}"[:4]}, separators=(",", ":"))
        assert len(text) == (1 << 20) - short, len(text)
        result = home.sayso("ask", "--from", "-", "--json", "--wait", "0", input=text, timeout=5)
        assert result.code == PENDING or error_of(result, "too_long", ""), (short, result)
        if short == 4096:
            assert result.code == PENDING, result
            expect(home.sayso("cancel"), DONE)
    assert home.hub_pid() == pid


# JSON --------------------------------------------------------------------------------------------


@test("--json: one object or list in one line from every verb, with the fields promised", "R10.3 R2.2")
def json_shapes(home: Home) -> None:
    first, second = ask(home, "First", *OPTIONS), ask(home, "Second", *OPTIONS, "--as", "other")
    for words in (["list"], ["list", "--active"], ["list", "--completed"]):
        result = home.sayso(*words, "--json")
        assert result.out.count("\n") == 1 and isinstance(result.json, list), result
    rows = home.sayso("list", "--json").json
    assert [row["session_id"] for row in rows] == [second, first]
    for row, title, agent in zip(rows, ("Second", "First"), ("other", "sayso ask")):
        assert list(row)[:len(LIST_ROW)] == LIST_ROW, list(row)
        assert row["title"] == title and row["agent"] == agent and row["status"] == "pending"
        assert row["interface"] == "auto" and row["version"] == 1 and 290 <= row["remaining_seconds"] <= 300
        assert TIME.fullmatch(row["created_at"])
    shown = home.sayso("show", first, "--json").json
    assert set(shown) >= {"ask", "form", "answer", "result", "seq"} and shown["ask"] == rows[1]
    assert shown["form"]["title"] == "First" and shown["form"]["prompt"] == PROMPT and shown["answer"] is None
    assert set(home.sayso("status", "--json").json) >= set(
        "running pid version wire socket port url store log pending".split())
    extended = home.sayso("extend", first, "500", "--json").json
    assert extended["session_id"] == first and extended["version"] == 2 and extended["status"] == "pending"
    answered = home.sayso("answer", first, "--select", "us", "--json").json
    assert answered == {"session_id": first, "status": "submitted", "version": 3}, answered
    cancelled = home.sayso("cancel", second, "--json").json
    assert cancelled == {"session_id": second, "status": "cancelled", "version": 2}, cancelled
    finished = home.sayso("list", "--completed", "--json").json
    assert all(set(LIST_ROW) <= set(row) and row["remaining_seconds"] is None for row in finished)
    assert home.sayso("list", "--active", "--json").json == []
    settings = home.sayso("settings", "--json").json
    assert all(set(row) >= {"name", "value", "source", "scope"} for row in settings) and len(settings) > 30
    assert home.sayso("stop", "--json").json == {"stopped": True}
    assert home.sayso("stop", "--json").json == {"stopped": False}
    assert home.sayso("status", "--json").json["running"] is False


@test("--json: what goes wrong is JSON too, from every verb", "R10.3")
def json_errors(home: Home) -> None:
    error_of(home.sayso("ask", "T", "--json"), "missing_property", "/prompt")
    error_of(home.sayso("answer", "--select", "eu", "--json"), "not_found", "/session_id")
    for words in (["show"], ["cancel"], ["decline"], ["answer"]):
        error_of(home.sayso(*words, "--json"), "not_found", "/session_id")
        error_of(home.sayso(*words, "zzzz", "--json"), "not_found", "/session_id")
        error_of(home.sayso(*words, "zz", "--json"), "bad_format", "/session_id")
    error_of(home.sayso("extend", "zzzz", "5", "--json"), "not_found")
    error_of(home.sayso("withdraw", "z" * 26, "--json"), "not_found", "/session_id")
    error_of(home.sayso("settings", "set", "port", "high", "--json"), "bad_type", "/port")
    error_of(home.sayso("settings", "set", "nope", "1", "--json"), "bad_enum")
    error_of(home.sayso("settings", "get", "nope", "--json"), "bad_enum")


# Asking ------------------------------------------------------------------------------------------


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
    assert result.code == TIMED_OUT and 1 <= time.monotonic() - began < 5, result
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
    assert result.code == PENDING and 1 <= time.monotonic() - began < 4, result
    session_id = result.out.strip()
    assert home.sayso("ask", "T", *WORDS, "--wait", "0").out.strip() == session_id
    again = home.sayso("ask", "T", *WORDS, "--wait", "0", "--json")
    assert again.code == PENDING and again.json["session_id"] == session_id, again
    assert again.json["action_status"] == "pending" and "session_id" in again.json["instructions"]
    assert len(home.sayso("list", "--json").json) == 1
    collected = home.sayso("ask", "--from", "-", "--wait", "0", input=json.dumps({"session_id": session_id}),
                           timeout=5)
    assert collected.code == PENDING, collected  # --wait is heard when collecting, too


@test("an answer nobody collected goes to the next identical call once, and then never again", "R10.3")
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
    expect(home.sayso("answer", session_id, "--select", ""), DONE, "nothing chosen")
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
    assert selection["placeholder_visible"] is True
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


@test("untouched defaults are what an answer without a choice sends; too few of them do not", "R2.3")
def defaults(home: Home) -> None:
    session_id = ask(home, "One", *OPTIONS, "--default", "us")
    expect(home.sayso("answer", session_id), DONE, "America")
    assert collect(home, session_id).json["selection"]["selected_ids"] == ["us"]
    session_id = ask(home, "Two", *OPTIONS, "--multi", "-d", "as", "-d", "eu")
    expect(home.sayso("answer", session_id, "--note", "as you like"), DONE)
    assert collect(home, session_id).json["selection"]["selected_ids"] == ["eu", "as"]
    too_few = ask_json(home, selection_mode="multi", min_selections=2, default_selection_ids=["us"])
    error_of(home.sayso("answer", "--json"), "out_of_range")
    expect(home.sayso("answer", "--select", "us,eu"), DONE)
    assert collect(home, too_few.json["session_id"]).code == DONE
    assert ask(home, "Without any") and home.sayso("answer").code == FAILED


@test("at the deadline nothing is chosen, defaults or not, unless the person's own setting says so", "R2.3")
def deadline(home: Home) -> None:
    words = [*WORDS, "--default", "us", "--timeout", "1"]
    result = home.sayso("ask", "T", *words, "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == [], result
    assert "auto_submitted" not in result.json
    session_id = result.json["session_id"]
    for late in (["answer", session_id, "--select", "us"], ["cancel", session_id]):
        assert "time ran out" in one_line(expect(home.sayso(*late), FAILED).err)
    expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
    result = home.sayso("ask", "U", *words, "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == ["us"], result
    assert result.json["auto_submitted"] is True and result.json["explicit"] is False
    result = home.sayso("ask", "V", *words, "--destructive", "--json")
    assert result.code == TIMED_OUT and result.json["selection"]["selected_ids"] == [], result
    assert result.json["warnings"] == ["defaults_ignored"] and "auto_submitted" not in result.json


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


@test("an ask refused before anyone is disturbed says how to mend it", "R10.3 R2.1")
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
        assert plain.code == FAILED and not plain.out and code in one_line(plain.err), plain
    assert not home.hub_pid()


# Answering ---------------------------------------------------------------------------------------


@test("an id may be shortened to 4 characters, not to 3; two that fit are not guessed at", "R10.3")
def prefixes(home: Home) -> None:
    session_id = ask(home, "T")
    assert home.sayso("show", session_id[:4], "--json").json["ask"]["session_id"] == session_id
    for short in (session_id[:3], "", session_id + "a", session_id[:4].upper(), "../x"):
        error_of(home.sayso("show", short, "--json"), "bad_format", "/session_id")
    twin = ask(home, "U")
    expect(home.sayso("stop"), DONE)
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database, database:
        changed = database.execute("UPDATE asks SET id = ? WHERE id = ?", (session_id[:6] + twin[6:], twin))
        assert changed.rowcount == 1
    for words in (["show"], ["answer", "--select", "eu"], ["cancel"], ["decline"]):
        result = home.sayso(words[0], session_id[:6], *words[1:])
        assert "Several" in one_line(expect(result, FAILED).err), result
    error_of(home.sayso("show", session_id[:4], "--json"), "conflicting_arguments", "/session_id")
    expect(home.sayso("answer", session_id[:12], "--select", "eu"), DONE)
    assert home.sayso("list", "--active", "--json").json[0]["title"] == "U"


@test("without an id: the one that waits; none and several are told apart", "R10.3")
def without_id(home: Home) -> None:
    for words in (["answer", "--select", "eu"], ["cancel"], ["decline"], ["show"]):
        assert "Nothing is waiting" in one_line(expect(home.sayso(*words), FAILED).err)
    ask(home, "Done"), home.sayso("cancel")
    first = ask(home, "T")
    assert home.sayso("show", "--json").json["ask"]["session_id"] == first
    second = ask(home, "U")
    for words in (["answer", "--select", "eu"], ["cancel"], ["decline"], ["show"]):
        assert "Several" in one_line(expect(home.sayso(*words), FAILED).err)
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


@test("what came about how: person, uid, pid, no terminal, and that it was the asker's own process tree",
      "R2.2 R12.1")
def answered_by(home: Home) -> None:
    session_id = ask(home, "T")
    process = home.spawn("answer", "--select", "eu", stdin=subprocess.DEVNULL, start_new_session=True)
    assert end(home, process).code == DONE
    result = collect(home, session_id).json
    by = result["answered_by"]
    assert set(by) >= {"person", "via", "uid", "pid", "tty"} and by["via"] == "cli" and by["tty"] is None
    assert by["uid"] == os.getuid() and by["pid"] == process.pid
    assert by["person"] == pwd.getpwuid(os.getuid()).pw_name and by["same_process_tree"] is True
    assert TIME.fullmatch(result["answered_at"]) and result["explicit"] is True
    shown = home.sayso("show", session_id).out
    assert by["person"] in shown and str(process.pid) in shown and result["answered_at"][:10] in shown, shown


@test("an answer that does not fit is refused with the reason, and the ask stays open", "R2.3 R10.3")
def refused_answers(home: Home) -> None:
    single = ask(home, "Single")
    multi = ask_json(home, title="Multi", selection_mode="multi", min_selections=1, max_selections=2, options=[
        {"id": i, "label": f"Option {i}", "recommended": True} for i in "abc"]).json["session_id"]
    text = ask(home, "Text", "--text")
    quiet = ask_json(home, title="Quiet", allow_annotations=False).json["session_id"]
    cases = [
        (single, ["--select", "nope"], "bad_enum", "/selected_ids/0"),
        (single, [], "missing_property", "/selected_ids"),
        (single, ["--select", "eu,us"], "out_of_range", "/selected_ids"),
        (single, ["--select", "eu,eu"], None, None),
        (single, ["--text", "hello"], "unsupported_flag", "/custom_input"),
        (single, ["--select", "eu", "--text", "hello"], "unsupported_flag", "/custom_input"),
        (single, ["--select", "eu", "--option-note", "nope=x"], "bad_enum", "/option_annotations/nope"),
        (single, ["--select", "eu", "--note", "n" * 2001], "too_long", "/global_annotation"),
        (single, ["--field", "nope=eu"], "unknown_property", "/fields/nope"),
        (single, ["--field", "choice=nope"], "bad_enum", "/fields/choice"),
        (single, ["--field", "choice=eu", "--select", "eu"], "conflicting_arguments", "/fields/choice"),
        (multi, ["--select", "a,b,c"], "out_of_range", "/selected_ids"),
        (multi, ["--select", ""], "out_of_range", "/selected_ids"),
        (text, ["--select", "eu"], "unsupported_flag", "/selected_ids"),
        (text, [], "empty_text", "/custom_input"),
        (text, ["--text", " \u200b "], "empty_text", "/custom_input"),
        (text, ["--text", "t" * 65537], "too_long", "/custom_input"),
        (quiet, ["--select", "eu", "--note", "psst"], "unsupported_flag", "/global_annotation"),
        (quiet, ["--select", "eu", "--option-note", "us=psst"], "unsupported_flag", "/option_annotations"),
    ]
    for session_id, words, code, path in cases:
        error_of(home.sayso("answer", session_id, *words, "--json"), code, path)
        plain = home.sayso("answer", session_id, *words)
        assert plain.code == FAILED and not plain.out and one_line(plain.err).startswith("sayso: "), plain
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
        assert "submitted" in line and person in line and TIME.search(line), line
        assert "cli" in line or "command line" in line, line
        assert "Nothing of yours was sent" in line, line
        error = error_of(home.sayso(*words, "--json"), "already_answered", "/session_id")
        assert error["detail"]["status"] == "submitted" and error["detail"]["answered_by"]["person"] == person
        assert TIME.fullmatch(error["detail"]["answered_at"]), error
    again = expect(home.sayso("answer", session_id, "--select", "us", "--note", "n"), DONE)
    assert again.out == "Already so: America\n", again
    as_json = home.sayso("answer", session_id, "--select", "us", "--note", "n", "--json").json
    assert as_json == {"session_id": session_id, "status": "submitted", "version": 2, "already": True}, as_json
    assert collect(home, session_id).json["selection"]["selected_ids"] == ["us"]
    line = one_line(expect(home.sayso("extend", session_id, "5"), FAILED).err)
    assert "Too late" in line or "over" in line, line


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


@test("withdraw takes back one's own ask only, and then nobody can answer it", "R10.3")
def withdraw(home: Home) -> None:
    own, foreign = ask(home, "Own"), ask(home, "Foreign", *OPTIONS, "--as", "other")
    unknown = error_of(home.sayso("withdraw", "z" * 26, "--json"), "not_found", "/session_id")
    assert error_of(home.sayso("withdraw", foreign, "--json"), "not_found", "/session_id") == unknown
    assert row_of(home, foreign)["status"] == "pending"
    assert expect(home.sayso("withdraw", own), DONE).out == f"Withdrawn: {own}\n"
    expect(home.sayso("withdraw", own), DONE)  # a retry
    assert "took this ask back" in one_line(expect(home.sayso("answer", own, "--select", "eu"), FAILED).err)
    result = collect(home, own)
    assert result.code == REFUSED and result.json["withdrawn"] is True, result
    assert result.json["explicit"] is False, result
    as_json = home.sayso("withdraw", foreign, "--as", "other", "--json").json
    assert as_json["session_id"] == foreign and as_json["status"] == "withdrawn", as_json
    answered = ask(home, "Answered")
    home.sayso("answer", answered, "--select", "eu")
    error_of(home.sayso("withdraw", answered, "--json"), "already_answered")


@test("extend sets the time left from now, up and down, and who waits keeps waiting", "R10.3")
def extend(home: Home) -> None:
    with asking(home, "T", *WORDS, "--timeout", "30", "--json") as (session_id, process):
        for seconds in (900, 20, 2592000):
            said = expect(home.sayso("extend", session_id, str(seconds)), DONE).out
            assert f"{seconds} s" in said and "T" in said, said
            assert seconds - 3 <= row_of(home, session_id)["remaining_seconds"] <= seconds
        assert row_of(home, session_id)["version"] == 4
        expect(home.sayso("extend", session_id, "1"), DONE)
        assert end(home, process).code == TIMED_OUT


@test("list: newest first, active and completed apart, as many as wanted", "R10.3 R9.1")
def lists(home: Home) -> None:
    assert "Nothing to list" in one_line(expect(home.sayso("list"), DONE).err)
    ids = [ask(home, f"T{number}") for number in range(5)]
    expect(home.sayso("cancel", ids[1]), DONE)
    expect(home.sayso("answer", ids[3], "--select", "eu"), DONE)
    def listed(*words: str) -> list[str]:
        return [row["session_id"] for row in home.sayso("list", "--json", *words).json]
    assert listed() == ids[::-1] and listed("--active") == [ids[4], ids[2], ids[0]]
    assert listed("--completed") == [ids[3], ids[1]] and listed("--limit", "2") == [ids[4], ids[3]]
    lines = home.sayso("list").out.splitlines()
    assert [line[:8] for line in lines] == [i[:8] for i in ids[::-1]] and len(lines) == 5
    assert "submitted" in lines[1] and "cancelled" in lines[3] and "pending" in lines[0], lines
    assert re.search(r" [45]:\d\d ", lines[0]), lines
    assert not [line for line in lines if line != line.rstrip()], "blanks at a line's end"
    columns = [line.index(f"T{number}") for number, line in zip((4, 3, 2, 1, 0), lines)]
    assert len(set(columns)) == 1, f"the titles stand in columns {columns}"


# Destructive -------------------------------------------------------------------------------------


class Tty:
    """A terminal that a program gets as its own, whatever its standard streams are."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        self.name, self.screen = os.ttyname(slave), ""
        self.slave = slave  # kept open, so that reading never ends in EIO
        quiet = termios.tcgetattr(slave)
        quiet[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, quiet)

    def __enter__(self) -> Tty:
        return self

    def __exit__(self, *_: Any) -> None:
        os.close(self.master)
        os.close(self.slave)

    def attach(self) -> None:
        """In the child, which has a session of its own: the first terminal opened is its own."""
        fcntl.ioctl(os.open(self.name, os.O_RDWR), termios.TIOCSCTTY, 0)

    def start(self, home: Home, *words: str, **streams: Any) -> subprocess.Popen:
        streams = {"stdin": subprocess.DEVNULL, **streams}
        return home.spawn(*words, start_new_session=True, preexec_fn=self.attach, **streams)

    def read_until(self, pattern: str, timeout: float = 10) -> re.Match[str]:
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, self.screen)):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{pattern} did not appear on the terminal: {self.screen!r}"
            self.screen += os.read(self.master, 65536).decode()
        return found

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())


def destructive(home: Home, title: str = "Drop the database?", **more: Any) -> str:
    return ask_json(home, title=title, destructive=True, **more).json["session_id"]


@test("a destructive ask is not answered without a terminal: wrong_state, and where to answer", "R12.1 R10.3")
def destructive_without_tty(home: Home) -> None:
    session_id = destructive(home)
    def detached(*words: str, **streams: Any) -> Result:
        streams = {"stdin": subprocess.DEVNULL, **streams}
        return end(home, home.spawn("answer", session_id, *words, start_new_session=True, **streams))
    plain = detached("--select", "us")
    line = one_line(plain.err)
    assert plain.code == FAILED and not plain.out and "terminal" in line, plain
    assert row_of(home, session_id)["status"] == "pending"
    error = error_of(detached("--select", "us", "--json"), "wrong_state", "/session_id")
    assert "terminal" in error["message"] and session_id[:8] in error["message"], error
    assert home.sayso("list").out.count(" !") == 1, "the list does not mark what is destructive"
    assert "destructive" in home.sayso("show").out.lower(), "nor does show"
    expect(home.sayso("cancel", session_id), DONE)  # refusing needs no second act


@test("on a terminal the code is shown there and typed there; the right one answers", "R12.1 R10.3")
def destructive_right_code(home: Home) -> None:
    session_id = destructive(home, "Drop\x1b[2J it?")
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", "us", "--note", "sure")
        code = tty.read_until(r"Type (\d{3}) ")[1]
        assert "Drop\\x1b[2J it?" in tty.screen and "\x1b" not in tty.screen, tty.screen
        assert "Destructive" in tty.screen and row_of(home, session_id)["status"] == "pending"
        tty.type(code + "\n")
        result = end(home, process)
        assert result.code == DONE and result.out == "Saved: America\n" and code not in result.out + result.err
        collected = collect(home, session_id).json
        assert collected["selection"]["selected_ids"] == ["us"] and collected["explicit"] is True
        assert tty.name.endswith(collected["answered_by"]["tty"].removeprefix("/dev/")), collected


@test("a wrong code, an empty line, the end of input or Ctrl-C send nothing", "R12.1")
def destructive_wrong_code(home: Home) -> None:
    session_id = destructive(home)
    def try_typing(typed: str) -> Result:
        with Tty() as tty:
            process = tty.start(home, "answer", session_id, "--select", "us")
            code = tty.read_until(r"Type (\d{3}) ")[1]
            tty.read_until(r": ")
            wrong = f"{(int(code) + 1) % 1000:03}"
            tty.type(typed.replace("WRONG", wrong).replace("RIGHT", code))
            return end(home, process)
    for typed in ("WRONG\n", "\n", "\x04", "\x03", "RIGHT0\n", "0RIGHT\n", "yes\n", "R\nRIGHT\n",
                  "x" * 100 + "\n"):
        result = try_typing(typed)
        assert result.code != DONE and not result.out, (typed, result)
        assert row_of(home, session_id)["status"] == "pending", typed
        if typed != "\x03":
            assert "nothing was sent" in one_line(result.err).lower(), (typed, result)
    assert try_typing("RIGHT\n").code == DONE  # a new attempt has a new code and works


@test("a code can't be piped in, nor guessed by one that never showed it", "R12.1")
def destructive_pipe(home: Home) -> None:
    session_id = destructive(home)
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", "us", stdin=subprocess.PIPE)
        process.stdin.write("".join(f"{code:03}\n" for code in range(1000)))
        process.stdin.close()
        process.stdin = None
        code = tty.read_until(r"Type (\d{3}) ")[1]
        time.sleep(0.3)
        assert process.poll() is None and row_of(home, session_id)["status"] == "pending"
        tty.type("\n")
        assert end(home, process).code == FAILED
        assert row_of(home, session_id)["status"] == "pending" and code
    codes = set()
    for _ in range(5):
        with Tty() as tty:
            process = tty.start(home, "answer", session_id, "--select", "us")
            codes.add(tty.read_until(r"Type (\d{3}) ")[1])
            tty.type("\n")
            end(home, process)
    assert len(codes) > 1, "the code is always the same"


@test("an ordinary ask needs no code, and cli_answers tty or off says who may answer by command", "R12.1")
def cli_answers(home: Home) -> None:
    def detached(*words: str) -> Result:
        return end(home, home.spawn(*words, stdin=subprocess.DEVNULL, start_new_session=True))
    first, second = ask(home, "T"), ask(home, "U")
    expect(home.sayso("settings", "set", "cli_answers", "tty"), DONE)
    error_of(detached("answer", first, "--select", "eu", "--json"), "wrong_state")
    with Tty() as tty:
        assert end(home, tty.start(home, "answer", first, "--select", "eu")).code == DONE
    expect(home.sayso("settings", "set", "cli_answers", "off"), DONE)
    with Tty() as tty:
        result = end(home, tty.start(home, "answer", second, "--select", "eu"))
        assert result.code == FAILED and "cli_answers" in one_line(result.err), result
    assert row_of(home, second)["status"] == "pending"
    expect(home.sayso("settings", "reset", "cli_answers"), DONE)
    expect(detached("answer", second, "--select", "eu"), DONE)


# The hub -----------------------------------------------------------------------------------------


@test("status: about the hub, in a short line, as JSON; without one it says so and starts none", "R10.3")
def status(home: Home) -> None:
    assert "No hub" in one_line(expect(home.sayso("status"), DONE).err)
    short = home.sayso("status", "--short")
    assert short == Result(DONE, "", ""), short
    assert home.sayso("status", "--json").json["running"] is False
    assert not home.hub_pid() and not home.data.exists(), "status started a hub"
    assert home.sayso("list").code == DONE and home.sayso("status", "--short") == Result(DONE, "", "")
    ask(home, "T"), ask(home, "U")
    short = home.sayso("status", "--short").out
    assert re.search(r"\b2\b", one_line(short)) and len(short) < 40, short
    facts = home.sayso("status", "--json").json
    assert facts["running"] is True and facts["pending"] == 2 and facts["pid"] == home.hub_pid()
    assert facts["socket"] == home.hub()["socket"] and pathlib.Path(facts["store"]).is_file()
    assert pathlib.Path(facts["log"]).is_file() and facts["url"] == f"http://127.0.0.1:{facts['port']}/"
    plain = home.sayso("status").out
    for key in ("pid", "version", "socket", "store", "log", "pending"):
        assert str(facts[key]) in plain, (key, plain)
    assert expect(home.sayso("stop"), DONE).out.strip() and not home.hub_pid()
    assert "No hub" in one_line(expect(home.sayso("stop"), DONE).err)
    assert home.sayso("status", "--json").json["running"] is False and not home.hub_pid()


@test("serve stays in the foreground, says how to answer; a second one says there is one; Ctrl-C ends it",
      "R10.3")
def serve(home: Home) -> None:
    process = home.spawn("serve", stdin=subprocess.DEVNULL)
    pid = home.wait_hub()
    assert pid == process.pid
    second = home.sayso("serve")
    assert "sayso status" in one_line(expect(second, FAILED).err), second
    assert home.sayso("serve", "--json").code == FAILED
    log = home.sayso("status", "--json").json["log"]
    ask(home, "T")
    process.send_signal(signal.SIGINT)
    result = end(home, process)
    assert result.code == DONE and str(pid) in result.out, result
    assert "sayso list" in result.out and "sayso answer" in result.out and "Ctrl-C" in result.out, result
    assert not home.hub_pid() and (log is None or os.path.isfile(log)), "status names a log that is not there"
    process = home.spawn("serve", "--json", stdin=subprocess.DEVNULL)
    home.wait_hub()
    assert home.sayso("list", "--active", "--json").json[0]["title"] == "T"
    expect(home.sayso("stop"), DONE)
    facts = json.loads(end(home, process).out)
    assert facts["pid"] == process.pid and facts["pending"] == 1, facts


@test("stop ends the hub under waiting asks: they say so, exit 5, and the ask is still there", "R10.3")
def stop_under_asks(home: Home) -> None:
    with asking(home, "T") as (session_id, process):
        assert expect(home.sayso("stop"), DONE).out.strip()
        result = end(home, process)
    assert result.code == PENDING and not result.out and session_id in result.err, result
    assert row_of(home, session_id)["status"] == "pending"
    with asking(home, "U", *WORDS, "--json") as (session_id, process):
        expect(home.sayso("stop"), DONE)
        result = end(home, process)
    assert result.code == PENDING and result.json["session_id"] == session_id, "--json, and no JSON"


@test("a hub that stops while others need one is stopped all the same, or says why not", "R10.3")
def stop_in_a_crowd(home: Home) -> None:
    for number in range(5):
        ask(home, f"T{number}")
        pid = home.hub_pid()
        stop = home.spawn("stop", stdin=subprocess.DEVNULL)
        lists = [home.spawn("list", stdin=subprocess.DEVNULL) for _ in range(3)]
        began = time.monotonic()
        result = end(home, stop)
        assert result.code == DONE and time.monotonic() - began < 5, (result, "the next hub is not this one")
        assert home.hub_pid() != pid
        for listed in [end(home, process) for process in lists]:
            assert listed.code == DONE or "hub" in one_line(listed.err), listed


# Settings and language ---------------------------------------------------------------------------


@test("settings of both scopes: listed with source and help, set, got, reset, kept over a restart",
      "R8.1 R10.3")
def settings(home: Home) -> None:
    def facts(name: str) -> dict[str, Any]:
        return home.sayso("settings", "get", name, "--json").json[0]
    rows = {row["name"]: row for row in home.sayso("settings", "list", "--json").json}
    assert {row["source"] for row in rows.values()} == {"built_in"}
    plain = home.sayso("settings").out
    assert plain == home.sayso("settings", "list").out and len(plain.splitlines()) == len(rows)
    assert all(re.search(rf"^{name} ", plain, re.MULTILINE) for name in rows), plain
    changes = [("timeout_seconds", "77", 77, "person"), ("notes", "off", False, "person"),
               ("quiet_hours", "22:00-07:00", "22:00-07:00", "person"), ("list_count", "3", 3, "host"),
               ("portal", "off", False, "host"), ("retention_days", "365", 365, "host")]
    for name, value, kept, scope in changes:
        said = expect(home.sayso("settings", "set", name, value), DONE).out
        assert name in said and value in one_line(said), said
        assert home.sayso("settings", "get", name).out == f"{value}\n"
        assert facts(name).items() >= {"value": kept, "source": "saved", "scope": scope}.items(), facts(name)
    file = home.config / "settings.json"
    saved = json.loads(file.read_text())
    assert saved == {"list_count": 3, "portal": False, "retention_days": 365}, saved
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    expect(home.sayso("stop"), DONE)
    for name, value, kept, scope in changes:
        assert facts(name).items() >= {"value": kept, "source": "saved"}.items(), facts(name)
    for number in range(5):
        ask(home, f"T{number}")
    assert len(home.sayso("list").out.splitlines()) == 3
    for name, *_ in changes:
        said = expect(home.sayso("settings", "reset", name), DONE).out
        assert name in said and facts(name) == rows[name], (said, facts(name))
    assert json.loads(file.read_text()) == {}


@test("a setting that is none, or takes another value: exit not 0, the reason, nothing changed", "R8.1 R10.3")
def bad_settings(home: Home) -> None:
    before = home.sayso("settings", "--json").out
    for name, value, hint in (("port", "65536", "65535"), ("port", "high", "65535"), ("port", "", "65535"),
                              ("portal", "maybe", "on or off"), ("timeout_seconds", "0", "2592000"),
                              ("timeout_seconds", "31d", "2592000"), ("theme", "pink", "system, light, dark"),
                              ("quiet_hours", "22-7", "22:00-07:00"), ("hold_limits", "[]", "JSON object"),
                              ("listen", "a\x1b[2J", "control"), ("language", "xx", "en")):
        result = home.sayso("settings", "set", name, value)
        assert result.code == FAILED and not result.out, result
        line = one_line(result.err)
        assert name in line and hint in line and line.count(name) < 3, line
        error_of(home.sayso("settings", "set", name, value, "--json"), None, f"/{name}")
        chinese = home.sayso("settings", "set", name, value, env={"CHOICE_LANG": "zh"}).err
        assert any("\u4e00" <= c <= "\u9fff" for c in chinese), chinese
    for words in (["get", "nope"], ["set", "nope", "1"], ["reset", "nope"]):
        result = home.sayso("settings", *words)
        assert result.code in (FAILED, USAGE) and not result.out and "nope" in one_line(result.err), result
    assert home.sayso("settings", "--json").out == before


@test("timeout_seconds is the time of asks that name none; the agent's own is stronger", "R8.1")
def timeout_setting(home: Home) -> None:
    expect(home.sayso("settings", "set", "timeout_seconds", "2m"), DONE)
    assert 115 <= row_of(home, ask(home, "T"))["remaining_seconds"] <= 120
    assert 595 <= row_of(home, ask(home, "U", *OPTIONS, "--timeout", "600"))["remaining_seconds"] <= 600


@test("language: the system's, CHOICE_LANG's, a saved one is stronger; an unknown one warns in English", "R8.2")
def language(home: Home) -> None:
    ask(home, "T")
    def speaks_chinese(*words: str, **env: str) -> bool:
        result = home.sayso(*words, env=env)
        assert result.code == DONE, result
        return any("\u4e00" <= c <= "\u9fff" for c in result.out)
    assert not speaks_chinese("list") and speaks_chinese("list", LANG="zh_CN.UTF-8")
    assert speaks_chinese("list", LC_ALL="zh_CN.UTF-8", LANG="en_US.UTF-8")
    assert speaks_chinese("list", CHOICE_LANG="zh", LANG="en_US.UTF-8")
    assert not speaks_chinese("list", CHOICE_LANG="en", LANG="zh_CN.UTF-8")
    for value in ("xx", "fr", "zh\x1b[2J"):
        result = home.sayso("list", env={"CHOICE_LANG": value, "LANG": "zh_CN.UTF-8"})
        line = one_line(expect(result, DONE, "pending").err)
        assert "CHOICE_LANG" in line and "en" in line and "zh" in line, line
    expect(home.sayso("settings", "set", "language", "zh"), DONE)
    for env in ({}, {"CHOICE_LANG": "en"}, {"LANG": "en_US.UTF-8"}):
        for words in (["list"], ["show"], ["status"], ["settings"]):
            assert speaks_chinese(*words, **env), f"{words} with {env} does not speak the saved language"
    expect(home.sayso("settings", "set", "language", "en"), DONE)
    assert not speaks_chinese("list", CHOICE_LANG="zh")


@test("in Chinese: every state, everything that comes too late or is not there", "R8.2")
def in_chinese(home: Home) -> None:
    home.environment["CHOICE_LANG"] = "zh"
    ids = {verb: ask(home, verb) for verb in ("cancel", "decline", "withdraw")}
    answered = ask(home, "answer")
    assert "已保存" in expect(home.sayso("answer", answered, "--select", "eu"), DONE).out
    for verb, session_id in ids.items():
        expect(home.sayso(verb, session_id), DONE)
    listed = home.sayso("list").out
    assert all(word in listed for word in ("已提交", "已取消", "已拒绝", "已撤回")), listed
    for words in (["answer", answered, "--select", "us"], ["answer", ids["withdraw"], "--select", "us"],
                  ["show", "zzzz"], ["show", "zz"], ["answer", "--select", "us"], ["extend", answered, "5"]):
        line = one_line(expect(home.sayso(*words), FAILED).err)
        assert any("\u4e00" <= c <= "\u9fff" for c in line), (words, line)


@test("in Chinese: why an answer does not fit", "R8.2")
def refused_in_chinese(home: Home) -> None:
    home.environment["CHOICE_LANG"] = "zh"
    open_ask = ask(home, "open")
    for words in (["--select", "nope"], ["--text", "x"], ["--select", "eu,us"], []):
        line = one_line(expect(home.sayso("answer", open_ask, *words), FAILED).err)
        assert any("\u4e00" <= c <= "\u9fff" for c in line), (words, line)


# Where it runs -----------------------------------------------------------------------------------


@test("an answer that could not be printed is not lost: the next identical call gets it", "R10.3")
def full_stdout(home: Home) -> None:
    with open("/dev/full", "w") as full:
        for name, streams in (("full", {"stdout": full}), ("closed", {"preexec_fn": lambda: os.close(1)})):
            with asking(home, name, **streams) as (session_id, process):
                expect(home.sayso("answer", session_id, "--select", "us"), DONE)
                result = end(home, process)
            assert result.code == FAILED and "output" in result.err.splitlines()[-1], (name, result)
            again = home.sayso("ask", name, *WORDS, "--wait", "0")
            assert again.code == DONE and again.out == "us\n", (name, again, "the answer is lost")


@test("output that can't be written is an error", "R10.3")
def full_disk(home: Home) -> None:
    ask(home, "T")
    for words in (["list"], ["list", "--json"], ["show"], ["show", "--json"], ["status"], ["settings"],
                  ["--help"], ["version"]):
        with open("/dev/full", "w") as full:
            result = end(home, home.spawn(*words, stdin=subprocess.DEVNULL, stdout=full))
        assert result.code == FAILED and one_line(result.err), (words, result)


@test("closed standard streams do no harm: nothing of ours is written over", "R10.3")
def closed_streams(home: Home) -> None:
    session_id = ask(home, "T")
    for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
        for words in (["list"], ["show", session_id], ["ask", "U", *WORDS, "--wait", "0"], ["status"],
                      ["settings", "get", "port"]):
            def close(closed: tuple[int, ...] = closed) -> None:
                for number in closed:
                    os.close(number)
            result = end(home, home.spawn(*words, preexec_fn=close))
            assert result.code in (DONE, FAILED, PENDING), (closed, words, result)
            if 1 not in closed:
                assert result.code in (DONE, PENDING) and result.out, (closed, words, result)
    result = end(home, home.spawn("ask", "--from", "-", preexec_fn=lambda: os.close(0)))
    assert result.code == FAILED and one_line(result.err), result
    expect(home.sayso("stop"), DONE)
    result = end(home, home.spawn("list", "--json", preexec_fn=lambda: os.close(2)))  # starts a hub
    assert [row["title"] for row in result.json] == ["U", "T"], result
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def elsewhere(home: Home, env: dict[str, str], *prefix: str) -> Home:
    """The program with nothing but this environment, by way of another program if one is given."""
    other = copy.copy(home)
    other.environment = {"PATH": home.environment["PATH"], **env}
    other.binary = prefix[0] if prefix else home.binary
    return other


def as_nobody(home: Home, env: dict[str, str], *words: str) -> Result:
    """With another uid, which has no rights here; only root can do that."""
    if os.getuid() != 0:
        raise Skip("needs root, to be somebody without rights")
    home.path.chmod(0o755)
    prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", home.binary)
    return elsewhere(home, env, *prefix).sayso(*prefix[1:], *words, cwd="/")


@test("HOME unset: the user's entry in the list of users says where", "R10.3")
def home_unset(home: Home) -> None:
    place = pwd.getpwuid(NOBODY).pw_dir
    if os.path.exists(place):
        raise Skip("the user nobody has a home")
    for env in ({}, {"HOME": ""}, {"HOME": "relative"}):
        result = as_nobody(home, env, "list")
        assert result.code == FAILED and f"{place}/.local/share/sayso" in one_line(result.err), result
        assert as_nobody(home, env, "status").code == DONE and as_nobody(home, env, "--help").code == DONE


@test("a home that can't be written: one clear line that names the directory and the reason", "R10.3")
def home_not_writable(home: Home) -> None:
    locked = home.path / "locked"
    locked.mkdir(mode=0o555)
    places = ["/proc/nowhere", "/dev/null"] + ([str(locked)] if os.getuid() else [])
    def check(result: Result, place: str) -> None:
        line = one_line(result.err)
        assert result.code == FAILED and not result.out and f"{place}/.local/share/sayso" in line, result
        assert "saved" not in line, f"nothing was to be saved: {line}"
    for place in places:
        other = elsewhere(home, {"HOME": place})
        for words in (["list"], ["ask", "T", *WORDS], ["serve"], ["settings", "get", "port"]):
            check(other.sayso(*words), place)
        assert other.sayso("status").code == DONE
    if os.getuid() == 0:
        check(as_nobody(home, {"HOME": str(locked)}, "list"), str(locked))


@test("whatever the umask: directories 0700, files and socket 0600, and nothing outside XDG's places",
      "R12.1 R10.3")
def modes() -> None:
    for mask in (0o000, 0o022, 0o027, 0o077, 0o777):
        with Home() as home:
            def through(*words: str, mask: int = mask) -> Result:
                return end(home, home.spawn(*words, stdin=subprocess.DEVNULL, umask=mask))
            through("ask", "T", *WORDS, "--wait", "0")
            through("settings", "set", "timeout_seconds", "100")
            through("settings", "set", "portal", "on")
            through("answer", "--select", "eu")
            through("stop")
            through("list")
            ours = [home.path / ".local", home.path / ".config", *(home.path / ".local").rglob("*"),
                    *(home.path / ".config").rglob("*"), *(home.path / "run").rglob("*")]
            names = {path.name for path in ours}
            assert {"sayso.db", "hub.json", "hub.log", "hub.lock", "settings.json"} <= names, (oct(mask), names)
            assert any(stat.S_ISSOCK(path.stat().st_mode) for path in ours), names
            for path in ours:
                mode = stat.S_IMODE(path.stat().st_mode)
                assert mode == (0o700 if path.is_dir() else 0o600), (oct(mask), path.name, oct(mode))
            assert {path.name for path in home.path.iterdir()} == {".local", ".config", "run"}


# Limits and keeping ------------------------------------------------------------------------------


@test("30 new asks a minute for each agent; the 31st is told when to come again", "R5.8")
def asks_a_minute(home: Home) -> None:
    def nth(number: int, agent: str) -> Result:
        return home.sayso("ask", f"T{number}", *WORDS, "--as", agent, "--wait", "0", "--json")
    for number in range(30):
        assert nth(number, "eager").code == PENDING, number
    error = error_of(nth(30, "eager"), "rate_limited", "")
    assert 1 <= error["retry_after_seconds"] <= 60, error
    assert "30" in error["message"] and str(error["retry_after_seconds"]) in error["message"], error
    plain = home.sayso("ask", "T30", *WORDS, "--as", "eager", "--wait", "0")
    assert plain.code == FAILED and not plain.out and re.search(r"\d+ seconds?", one_line(plain.err)), plain
    assert nth(29, "eager").code == PENDING, "a call repeated is no new ask"
    assert nth(0, "calm").code == PENDING, "one agent's limit is not another's"
    assert len(home.sayso("list", "--limit", "100", "--json").json) == 31


@test("32 pending asks for each agent; the 33rd is refused until one is over", "R5.8")
def pending_asks(home: Home) -> None:
    home.environment["SAYSO_ASKS_PER_MINUTE"] = "1000"
    def nth(number: int, agent: str) -> Result:
        return home.sayso("ask", f"T{number}", *WORDS, "--as", agent, "--wait", "0", "--json")
    first = nth(0, "eager").json["session_id"]
    for number in range(1, 32):
        assert nth(number, "eager").code == PENDING, number
    error = error_of(nth(32, "eager"), "rate_limited", "")
    assert error["retry_after_seconds"] >= 1 and "32" in error["message"], error
    assert nth(0, "calm").code == PENDING
    expect(home.sayso("stop"), DONE)
    error_of(nth(32, "eager"), "rate_limited", "")  # also after a restart
    expect(home.sayso("cancel", first), DONE)
    assert nth(32, "eager").code == PENDING
    error_of(nth(33, "eager"), "rate_limited", "")


def save_host(home: Home, **values: Any) -> None:
    home.config.mkdir(mode=0o700, parents=True)
    (home.config / "settings.json").write_text(json.dumps(values))
    (home.config / "settings.json").chmod(0o600)


def finished(home: Home, title: str) -> str:
    """An ask that was answered and whose answer arrived."""
    session_id = ask(home, title)
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)
    assert collect(home, session_id).code == DONE
    return session_id


def titles(home: Home, *words: str) -> list[str]:
    return [row["title"] for row in home.sayso("list", "--limit", "100", "--json", *words).json]


@test("max_sessions: the oldest finished go; pending asks and undelivered answers never", "R9.1")
def max_sessions(home: Home) -> None:
    save_host(home, max_sessions=3)
    ask(home, "pending")
    undelivered = ask(home, "undelivered")
    expect(home.sayso("answer", undelivered, "--select", "us"), DONE)
    oldest = finished(home, "F0")
    for number in range(1, 5):
        finished(home, f"F{number}")
    ask(home, "newest")
    wait_until(lambda: len(titles(home, "--completed")) <= 3, "the oldest finished asks are gone")
    time.sleep(0.3)
    assert titles(home, "--completed") == ["F4", "F3", "undelivered"], titles(home, "--completed")
    assert titles(home, "--active") == ["newest", "pending"]
    error_of(home.sayso("show", oldest, "--json"), "not_found", "/session_id")
    error_of(collect(home, oldest), "not_found", "/session_id")
    assert collect(home, undelivered).json["selection"]["selected_ids"] == ["us"]


@test("retention_days: what ended before goes at the next start, delivered or not; the rest stays", "R9.1")
def retention(home: Home) -> None:
    save_host(home, retention_days=2)
    old, old_undelivered, young = finished(home, "old"), ask(home, "old undelivered"), finished(home, "young")
    expect(home.sayso("answer", old_undelivered, "--select", "us"), DONE)
    ask(home, "pending", *OPTIONS, "--timeout", "2592000")
    expect(home.sayso("stop"), DONE)
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database, database:
        for session_id, days in ((old, 2.1), (old_undelivered, 2.1), (young, 1.9)):
            database.execute("UPDATE asks SET created_ms = created_ms - ?1, decided_ms = decided_ms - ?1,"
                             " ended_ms = ended_ms - ?1 WHERE id = ?2", (int(days * DAY_MS), session_id))
        database.execute("UPDATE asks SET created_ms = created_ms - ? WHERE title = 'pending'", (9 * DAY_MS,))
    wait_until(lambda: len(titles(home)) <= 2, "what is too old is gone")
    time.sleep(0.3)
    assert sorted(titles(home)) == ["pending", "young"], titles(home)
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database:
        for table in ("asks", "ask_texts", "answers", "events"):
            for row in database.execute(f"SELECT * FROM {table}"):
                assert "old" not in str(row), f"{table} keeps its words: {row}"


@test("portal and terminal off: nobody can be reached, and the agent is told; on again, it works", "R2.6")
def no_channel(home: Home) -> None:
    save_host(home, portal=False, terminal=False)
    result = home.sayso("ask", "T", *WORDS, "--wait", "0", "--json")
    assert "settings" in error_of(result, "no_human_channel")["message"], result
    assert "no_human_channel" in one_line(expect(home.sayso("ask", "T", *WORDS), FAILED).err)
    assert titles(home) == [], "nobody is asked"
    for name in ("portal", "terminal"):
        expect(home.sayso("settings", "set", name, "on"), DONE)
        assert ask(home, name)
        expect(home.sayso("settings", "set", name, "off"), DONE)
    env = {"SAYSO_PORTAL": "off", "SAYSO_TERMINAL": "off"}
    with Home(env=env) as other:
        error_of(other.sayso("ask", "T", *WORDS, "--wait", "0", "--json"), "no_human_channel")


@test("an interface that is not built yet acts as auto, with a warning and without an address", "R2.6")
def interfaces(home: Home) -> None:
    for name in ("web", "terminal", "client"):
        result = ask_json(home, title=name, interface=name)
        assert result.code == PENDING and result.json["action_status"] == "pending", result
        assert result.json["warnings"] == ["interface_unavailable"], result
        assert "url" not in result.json and "terminal_command" not in result.json, result
        assert row_of(home, result.json["session_id"])["interface"] == "auto"
    assert "warnings" not in ask_json(home, title="auto", interface="auto").json


run()
