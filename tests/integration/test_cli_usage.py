"""The command line: help, misuse in both languages, words of any kind, and JSON from every verb.

Proves: R10.3 R8.2
"""
from __future__ import annotations

import json
import re

from cli_stage import (
    DONE, FAILED, OPTIONS, PENDING, PROMPT, TIME, USAGE, WORDS, ask, error_of, expect, finished,
    one_line, row_of)
from harness import Home, run, test

VERBS = "ask answer cancel decline extend withdraw list show status serve stop settings token install doctor version".split()
LIST_ROW = "session_id title status interface agent created_at remaining_seconds version".split()


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
    # the same in every language: examples, and what a setting takes
    is_syntax = re.compile(r"sayso [A-Za-z0-9.]+(?!.*--help)|\S+, (SAYSO|CHOICE)_[A-Z_]+(, --[a-z-]+)?$|$")
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
    (["answer", *"abcdefghi"], "i"), (["answer", "--select"], "--select"),
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


@test("words that are not UTF-8 are refused immediately, by every verb that takes words", "R10.3")
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
        result = home.sayso(*words)
        assert result.code in (FAILED, USAGE) and not result.out and one_line(result.err), (words, result)
        assert "JSON" not in result.err, result  # the user typed none
    assert row_of(home, session_id)["status"] == "pending" and len(home.sayso("list", "--json").json) == 1


@test("asking works in a working directory whose name is not UTF-8", "R10.3")
def not_utf8_directory(home: Home) -> None:
    place = home.path / NOT_UTF8
    place.mkdir()
    words = ["ask", "T", *WORDS, "--wait", "0"]
    first, again = (home.sayso(*words, cwd=str(place)) for _ in range(2))
    assert first.code == PENDING and first.out == again.out, (first, again)
    assert "caf" in home.sayso("show").out and home.sayso("show", "--json").json["ask"]["title"] == "T"


@test("a name that is too long is refused for being too long", "R10.3")
def long_name(home: Home) -> None:
    result = home.sayso("ask", "T", *WORDS, "--as", "n" * 201, "--wait", "0")
    assert result.code in (FAILED, USAGE) and not result.out and "version" not in one_line(result.err), result
    assert ask(home, "T", *OPTIONS, "--as", "n" * 200)


@test("arguments as long as they may be are taken or refused immediately; the hub stays", "R10.3 R2.1")
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
        result = home.sayso("ask", "--from", "-", "--json", "--wait", "0", input=text)
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
        if words != ["answer"]:  # there it would be an answer
            error_of(home.sayso(*words, "zz", "--json"), "bad_format", "/session_id")
    error_of(home.sayso("extend", "zzzz", "5", "--json"), "not_found")
    error_of(home.sayso("withdraw", "z" * 26, "--json"), "not_found", "/session_id")
    error_of(home.sayso("settings", "set", "port", "high", "--json"), "bad_type", "/port")
    error_of(home.sayso("settings", "set", "nope", "1", "--json"), "bad_enum")
    error_of(home.sayso("settings", "get", "nope", "--json"), "bad_enum")


run()
