"""Looking back: history, show and export by the command line, with the real hub, its restart and
hostile texts."""
from __future__ import annotations

import csv
import datetime
import io
import json
import os
import pty
import re
import stat
import subprocess
from typing import Any

from cli_stage import DONE, FAILED, USAGE, ask, ask_json, expect
from harness import Home, Wire, run, scaled, side_by_side, test, wait_until

HOSTILE = "=cmd|' /C calc'!A0 \x1b[2J‮evil\u200b <script>alert(1)</script> [x](https://evil.example) \"q\",|\n# not a heading"


LIFTED = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}


def answered(home: Home, title: str, *more: str, **arguments: Any) -> str:
    """Asked and answered; returns the id."""
    result = ask_json(home, title=title, **arguments)
    id = result.json["session_id"]
    expect(home.sayso("answer", id, *(more or ("--select", "eu"))), DONE)
    return id


def is_indexed(home: Home) -> bool:
    return home.rows("SELECT 1 FROM search WHERE next > (SELECT max(number) FROM asks)") == [(1,)]


def titles(result: Any) -> list[str]:
    return [row["title"] for row in expect(result, DONE).json]


@test("history finds by words in both languages, by status, agent, channel and time; so it does after a restart",
      "R9.2 R10.3")
def finds(home: Home) -> None:
    answered(home, "Deploy the shop?", "--select", "eu", "--note", "Ganz Europa")
    answered(home, "要不要部署到生产环境？", "--select", "us")
    cancelled = ask(home, "Delete the old logs?")
    expect(home.sayso("cancel", cancelled, "--note", "not today"), DONE)
    ask(home, "Still open?", "-p", "Somebody has to look at this one, later on.", "--text", "--as", "night bot")
    def look() -> None:
        assert titles(home.sayso("history", "--json")) == ["Still open?", "Delete the old logs?",
                                                           "要不要部署到生产环境？", "Deploy the shop?"]
        assert titles(home.sayso("history", "DEPLOY", "shop", "--json")) == ["Deploy the shop?"]
        assert titles(home.sayso("history", "ganz", "--json")) == ["Deploy the shop?"]  # a note
        for words in ("部署", "环", "生产环境", "部署 环境"):
            assert titles(home.sayso("history", words, "--json")) == ["要不要部署到生产环境？"], words
        assert titles(home.sayso("history", "--status", "cancelled", "--json")) == ["Delete the old logs?"]
        assert titles(home.sayso("history", "--status", "active", "--json")) == ["Still open?"]
        assert titles(home.sayso("history", "--agent", "night bot", "--json")) == ["Still open?"]
        assert len(titles(home.sayso("history", "--via", "cli", "--json"))) == 3
        assert titles(home.sayso("history", "--via", "web", "--json")) == []
        assert len(titles(home.sayso("history", "--since", "1h", "--json"))) == 4
        assert titles(home.sayso("history", "--before", "2020-01-01", "--json")) == []
        assert len(titles(home.sayso("history", "--limit", "2", "--json"))) == 2
        plain = expect(home.sayso("history", "shop"), DONE).out
        assert "Deploy the shop?" in plain and "= Europe" in plain, plain
        assert expect(home.sayso("history", "nowhere"), DONE).err.strip() == "No asks."
    look()
    home.kill_hub()
    look()
    wait_until(lambda: is_indexed(home), "the hub takes up what an earlier one left", 60)
    look()  # an index knows them now; what is found stays


@test("times are local, printed and given; with --utc and a Z they are not", "R9.2 R10.3 R8.2")
def local_times(home: Home) -> None:
    asked = datetime.datetime.fromisoformat(ask_json(home).json and home.sayso("history", "--json").json[0]["created_at"].replace("Z", "+00:00"))
    here = {"TZ": "XXX-5:45"}
    local = asked + datetime.timedelta(hours=5, minutes=45)
    assert re.search(rf"  ({local:%Y-%m-%d} |yesterday )?{local:%H:%M}  ", home.sayso("history", env=here).out), local
    assert f"  {asked:%Y-%m-%dT%H:%M}:" in home.sayso("history", "--utc", env=here).out
    for since, count in ((f"{local:%Y-%m-%dT%H:%M}", 1), (f"{asked:%Y-%m-%dT%H:%M}Z", 1), (f"{local:%Y-%m-%dT%H:%M}Z", 0)):
        assert len(home.sayso("history", "--since", since, "--json", env=here).json) == count, since
    expect(home.sayso("answer", "eu"), DONE)
    made = home.sayso("rule", "add", home.sayso("history", "--json").json[0]["session_id"], "--json").json
    ends = datetime.datetime.fromisoformat(made["expires_at"].replace("Z", "+00:00"))
    assert f"{ends + datetime.timedelta(hours=5, minutes=45):%Y-%m-%d %H:%M}" in home.sayso("rule", env=here).out
    assert made["expires_at"] in home.sayso("rule", "--utc", env=here).out
    expect(home.sayso("token", "new", "--expires", "3"), DONE)
    assert home.sayso("token", "list", "--json").json[0]["expires_at"] in home.sayso("token", "list", "--utc", env=here).out


@test("show tells of an ended ask what was answered and by whom", "R9.2 R10.3")
def shows(home: Home) -> None:
    id = answered(home, "Which way?", "--select", "us", "--note", "the sea is closer")
    expect(home.sayso("stop"), DONE)
    shown = expect(home.sayso("show", id[:6]), DONE).out
    assert "America" in shown and "the sea is closer" in shown and "cli" in shown, shown
    assert expect(home.sayso("show", id, "--json"), DONE).json["answer"]["selected_ids"] == ["us"]


@test("filters that are none are refused with the remedy", "R10.3")
def bad_filters(home: Home) -> None:
    for arguments, code, hint in ((("--since", "yesterday"), USAGE, "2026-11-01"), (("--since", "0d x"), USAGE, "7d"),
                                  (("--before", "2026-13-01"), USAGE, "--before"), (("--limit", "0"), USAGE, "10000"),
                                  (("--status", "done"), FAILED, "completed"), (("x" * 801,), FAILED, "800"),
                                  ((" ".join("abcdefghijklmnopq"),), FAILED, "16 words")):
        result = home.sayso("history", *arguments)
        assert result.code == code and hint in result.err, (arguments, result)
    for arguments in (("--format", "xml"), ("--all", "--agent", "x"), ("--all", "--format", "csv"), ("word",)):
        assert home.sayso("export", *arguments).code == USAGE, arguments
    assert "xml" in home.sayso("export", "--format", "xml").err


def export(home: Home, *arguments: str) -> str:
    result = expect(home.sayso("export", *arguments), DONE)
    assert result.err == "", result.err  # no progress bar without a terminal
    return result.out


@test("export writes JSON Lines with a version, whole asks, newest first; the same filters as history", "R9.2")
def json_lines() -> None:
    home = Home(env=LIFTED)
    for number in range(120):  # more than one page
        ask_json(home, title=f"Ask {number}")
    answered(home, HOSTILE[:150].replace("\n", " "), "--select", "us", "--note", HOSTILE)
    text = export(home)
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 121 and {row["sayso_export"] for row in rows} == {1}
    assert len({row["session_id"] for row in rows}) == 121
    assert [row["title"] for row in rows[1:]] == [f"Ask {number}" for number in reversed(range(120))]
    assert rows[0]["answer"]["global_annotation"] == HOSTILE  # as it was, for programs
    assert rows[0]["form"]["fields"] and rows[0]["result"]["selection"]["selected_ids"] == ["us"]
    assert "\x1b" not in text and "‮" not in text  # but nothing acts on a terminal
    assert [json.loads(line)["title"] for line in export(home, "--search", '"Ask 7"', "--status", "active").splitlines()
            ] == [f"Ask {number}" for number in (*reversed(range(70, 80)), 7)]


@test("CSV is read back by another program; a cell is never a formula", "R9.2")
def csv_table(home: Home) -> None:
    answered(home, "=1+1", "--select", "eu", "--note", HOSTILE)
    answered(home, 'Plain, with "quotes" and 部署', "--select", "us")
    ask_json(home, title="@SUM(A1)", prompt="-2+3 is how this prompt begins, on purpose.")
    export(home, "--format", "csv", "--out", str(home.path / "x.csv"), "--json")
    text = (home.path / "x.csv").read_bytes().decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == 3 and list(rows[0])[:4] == ["session_id", "created_at", "decided_at", "status"]
    assert [row["title"] for row in rows] == ["'@SUM(A1)", 'Plain, with "quotes" and 部署', "'=1+1"]
    assert rows[0]["prompt"].startswith("'-2+3") and rows[1]["answer"] == "America" and rows[1]["via"] == "cli"
    for cell in (cell for row in rows for cell in row.values()):
        assert not cell.lstrip()[:1] in tuple("=+-@＝＋－＠"), cell
        assert "\x1b" not in cell and "‮" not in cell, repr(cell)
    assert text.count("\r\n") == 4


@test("a Markdown decision record shows hostile texts as texts", "R9.2 R8.2")
def markdown(home: Home) -> None:
    answered(home, HOSTILE[:150].replace("\n", " "), "--select", "us", "--note", HOSTILE,
             prompt="First\n\n---\n1. one\n- two\n> quote\n```\n<img src=x onerror=alert(1)>\nhttps://evil.example www.evil.example")
    text = export(home, "--format", "markdown")
    assert text.startswith("# Decision record\n")
    assert len(re.findall(r"^#", text, re.MULTILINE)) == 2, text  # ours: the record and the ask
    assert "- [x] America" in text and "- [ ] Europe" in text
    for raw in ("\x1b", "‮", "\n---", "\n1. ", "\n- two", "\n```"):
        assert raw not in text, (raw, text)
    for pattern in (r"(?<!\\)<", r"(?<!\\)`", r"(?<!\\)\]\(", r"https://", r"www\.", r"^> *(>|-|1\.|#)"):
        assert not re.search(pattern, text, re.MULTILINE), (pattern, text)
    expect(home.sayso("settings", "set", "language", "zh"), DONE)
    assert "决策记录" in export(home, "--format", "markdown")


@test("what cannot be written is an error and leaves no file; a file is only its owner's", "R9.2")
def files(home: Home) -> None:
    answered(home, "Into a file")
    path = home.path / "asks.jsonl"
    path.write_text("older")
    said = expect(home.sayso("export", "--out", str(path)), DONE)
    assert "1" in said.err and json.loads(path.read_text())["title"] == "Into a file"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert expect(home.sayso("export", "--out", str(path), "--json"), DONE).json == {"count": 1}
    for arguments in (("export", "--out", str(home.path / "none/x")), ("export", "--all", "--out", str(home.path / "none/x"))):
        assert home.sayso(*arguments).code == FAILED
    with open("/dev/full", "w") as full:
        for arguments in (("export",), ("export", "--all"), ("history",)):
            assert home.sayso(*arguments, stdout=full).code == FAILED, arguments
    before = path.read_text()
    path.with_name("link.jsonl").symlink_to(path)
    expect(home.sayso("export", "--out", str(path.with_name("link.jsonl"))), DONE)
    assert path.read_text() == before and not path.with_name("link.jsonl").is_symlink()
    assert not list(home.path.glob("*.new"))


def on_terminal(home: Home, *arguments: str) -> str:
    """What a run says on a standard error that is a terminal."""
    ours, theirs = pty.openpty()
    process = home.spawn(*arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                         env={"TERM": "xterm"})
    os.close(theirs)
    said = b""
    while True:
        try:
            if not (part := os.read(ours, 4096)):
                break
        except OSError:
            break
        said += part
    process.communicate()
    home.spawned.remove(process)
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode()


@test("a bar shows how far it is on a terminal, in the person's language, and goes away", "R9.2 R8.2")
def bars() -> None:
    home = Home(env=LIFTED)
    for number in range(120):
        ask_json(home, title=f"Ask {number}")
    path = str(home.path / "x")
    said = on_terminal(home, "export", "--out", path)
    assert re.search(r"\rWriting \[#*-*\] +\d+ %", said) and said.index("\x1b[K") < said.index("Exported"), said
    expect(home.sayso("settings", "set", "language", "zh"), DONE)
    assert "写出中 [" in on_terminal(home, "export", "--out", path)


@test("people export and search while agents ask and others answer", "R9.2 R5.3")
def side_by_side_with_work() -> None:
    home = Home(env=LIFTED)
    home.sayso("list")
    count = scaled(60)
    def work() -> None:
        with Wire(home) as agent, Wire(home) as person:
            agent.hello("agent", name="busy")
            person.hello("person")
            for number in range(count):
                id = agent.call("ask/create", tool="provide_choice", wait_seconds=0, arguments={
                    "title": f"Busy {number}", "prompt": "Somebody has to choose between the two of them.",
                    "selection_mode": "single", "options": [{"id": "a", "label": "A", "recommended": True},
                                                            {"id": "b", "label": "B"}]})["session_id"]
                person.call("ask/answer", session_id=id, selected_ids=["b"])
    def look() -> None:
        for _ in range(10):
            rows = [json.loads(line) for line in export(home).splitlines()]
            assert len({row["session_id"] for row in rows}) == len(rows)
            numbers = [int(row["title"].split()[1]) for row in rows]
            assert numbers == sorted(numbers, reverse=True)
            expect(home.sayso("history", "busy"), DONE)
    side_by_side(work, look, look)
    assert len(export(home, "--search", "busy", "--status", "completed").splitlines()) == count


run()
