"""Settings by the command line, and what it says in each language.

Proves: R8.1 R8.2
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import re
import sqlite3
import stat
from typing import Any

from cli_stage import DONE, FAILED, OPTIONS, PENDING, PROMPT, USAGE, ask, ask_json, error_of, expect, one_line, row_of
from harness import Home, needs_file, run, test


@test("settings of both scopes: listed with source and help, set, got, reset, kept over a restart",
      "R8.1 R10.3")
def settings(home: Home) -> None:
    needs_file()
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
                              ("tls_key", "a\x1b[2J", "control"), ("language", "xx", "en")):
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
    assert "现在是" in expect(home.sayso("settings", "set", "language", "zh"), DONE).out
    for words in (["--help"], ["answer", "--help"]):
        assert "用法" in expect(home.sayso(*words), DONE).out
    for env in ({}, {"CHOICE_LANG": "en"}, {"LANG": "en_US.UTF-8"}):
        for words in (["list"], ["show"], ["status"], ["settings"]):
            assert speaks_chinese(*words, **env), f"{words} with {env} does not speak the saved language"
    expect(home.sayso("settings", "set", "language", "en"), DONE)
    assert not speaks_chinese("list", CHOICE_LANG="zh")


@test("CHOICE_LANG of an agent's client is the language of its asks, at a hub that runs too; what the person chose is stronger", "R8.2")
def of_the_client(home: Home) -> None:
    ask(home, "T")
    zh, en, other = (expect(home.sayso("ask", title, "-p", PROMPT, *OPTIONS, "--wait", "0", env={"CHOICE_LANG": title}), PENDING).out.strip()
                     for title in ("zh", "en", "xx"))
    def speaks_chinese(session_id: str, **env: str) -> bool:
        return any("\u4e00" <= c <= "\u9fff" for c in expect(home.sayso("show", session_id, env=env), DONE).out)
    def check() -> None:
        assert speaks_chinese(zh) and not speaks_chinese(en, LANG="zh_CN.UTF-8") and not speaks_chinese(other)
        assert not speaks_chinese(zh, CHOICE_LANG="en") and speaks_chinese(en, CHOICE_LANG="zh"), "who looks has chosen"
    check()
    home.kill_hub()
    expect(home.sayso("list", env={"CHOICE_LANG": "en"}), DONE)  # starts a hub that an agent may have started as well
    check()
    assert "等待答复" in expect(home.sayso("list", env={"CHOICE_LANG": "zh"}), DONE).out
    expect(home.sayso("settings", "set", "language", "en"), DONE)
    assert not speaks_chinese(zh)
    expect(home.sayso("settings", "set", "language", "zh"), DONE)
    assert speaks_chinese(en)
    expect(home.sayso("settings", "reset", "language"), DONE)
    check()


@test("in Chinese: every state, everything that comes too late or is not there", "R8.2")
def in_chinese(home: Home) -> None:
    home.environment["CHOICE_LANG"] = "zh"
    ids = {verb: ask(home, verb) for verb in ("cancel", "decline", "withdraw")}
    answered = ask(home, "answer")
    assert "已保存" in expect(home.sayso("answer", answered, "--select", "eu"), DONE).out
    for verb, session_id in ids.items():
        expect(home.sayso(verb, session_id), DONE)
    listed = home.sayso("list").out
    assert all(word in listed for word in ("已答复", "已取消", "已拒绝", "已撤回")), listed
    for words in (["answer", answered, "--select", "us"], ["answer", ids["withdraw"], "--select", "us"],
                  ["show", "zzzz"], ["show", "zz"], ["answer", "--select", "us"], ["extend", answered, "5"]):
        line = one_line(expect(home.sayso(*words), FAILED).err)
        assert any("\u4e00" <= c <= "\u9fff" for c in line), (words, line)


@test("in Chinese: why an answer does not fit, with the hub's figures; English for scripts", "R8.2")
def refused_in_chinese(home: Home) -> None:
    several = ask_json(home, selection_mode="multi", min_selections=2, max_selections=2).json["session_id"]
    single = ask(home, "single")
    cases = [
        (["answer", single, "--select", "nope"], "未知的选项 ID；可用：eu, us, as", "unknown option ID"),
        (["answer", single, "--text", "x"], "此请求不接受自行填写", "doesn't accept free text"),
        (["answer", single, "--select", "eu,us"], "请选择 1 项", "choose 1"),
        (["answer", single, "--none"], "请选择一项", "choose one option"),
        (["answer", several, "--select", "eu"], "请选择 2 项", "choose 2"),
        (["cancel", single, "--note", "n" * 9000], "备注最多", "a note can be at most"),
        (["show", "zz"], "ID 无效：ID 有 26 个字符（a-z、2-7）；给出前 4 个或更多即可", "an ID has 26 characters"),
        (["settings", "get", "nope"], "未知设置", "unknown setting"),
    ]
    for words, chinese, english in cases:
        line = one_line(expect(home.sayso(*words, env={"CHOICE_LANG": "zh"}), FAILED).err)
        assert chinese in line and english not in line, (words, line)
        told = error_of(home.sayso(*words, "--json", env={"CHOICE_LANG": "zh"}), None)
        assert english in told["message"], (words, told)
        if words[0] != "settings":
            assert english in expect(home.sayso(*words, env={"CHOICE_LANG": "en"}), FAILED).err, words


@test("in Chinese: why there is no hub, and what to do", "R8.2 R10.3")
def unreachable_in_chinese() -> None:
    needs_file()
    def open_to_all(home: Home) -> None:
        home.data.mkdir(parents=True)
        home.data.chmod(0o777)
    def a_file(home: Home) -> None:
        home.data.parent.mkdir(parents=True)
        home.data.write_text("")
    def newer(home: Home) -> None:
        expect(home.sayso("list"), DONE)
        expect(home.sayso("stop"), DONE)
        with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as database:
            database.execute("PRAGMA user_version = 99")
    for prepare, chinese, english in ((open_to_all, "请对它运行 chmod 700", "writable by other users"),
                                      (a_file, "不是目录：请移走后重试", "not a directory"),
                                      (newer, "由较新版本的 sayso 创建", "created by a newer")):
        with Home() as home:
            prepare(home)
            for verb in ("list", "serve"):
                line = one_line(expect(home.sayso(verb, env={"CHOICE_LANG": "zh"}), FAILED).err)
                assert chinese in line and english not in line and str(home.data) in line, line
            assert english in error_of(home.sayso("list", "--json", env={"CHOICE_LANG": "zh"}), None)["message"]


CALLS = json.loads((pathlib.Path(__file__).resolve().parents[1] / "corpus/ask_inputs.json").read_text())["cases"]
TOOLS = {"provide_choice", "ask_user_question", "elicit_choice", "elicit_input", "elicit_confirm", "elicit_number",
         "elicit_form"}


@test("arguments that are refused: the user reads why in the user's language, scripts in English", "R8.2 R2.1")
def refused_arguments(home: Home) -> None:
    seen = 0
    for case in CALLS:
        given = case.get("arguments")
        if case.get("tool") not in TOOLS or case["expect"].get("layer") != "tool" or not isinstance(given, dict):
            continue
        words = ["ask", "--tool", case["tool"], "--from", "-", "--wait", "0"]
        text = json.dumps(given)
        english = home.sayso(*words, "--json", input=text)
        message = english.json.get("error", {}).get("message")
        if not message:  # what only the hub refuses, or what a program may do and a person too
            continue
        seen += 1
        said = home.sayso(*words, input=text, env={"CHOICE_LANG": "zh"}).err
        assert re.search("[\u4e00-\u9fff]", said) and message[:40] not in said, (case["id"], said, message)
    assert seen > 45, seen


run()
