"""How much may be asked, how long it is kept, and where it is announced, seen by the command line.

Proves: R5.8 R9.1 R2.6
"""
from __future__ import annotations

import json
import re
import time
from typing import Any

from cli_stage import (
    DONE, FAILED, OPTIONS, PENDING, WORDS, ask, ask_json, collect, error_of, expect, finished, one_line,
    row_of)
from harness import Home, Result, run, test, wait_until

DAY_MS = 86_400_000


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
    for session_id, days in ((old, 2.1), (old_undelivered, 2.1), (young, 1.9)):
        home.rows("UPDATE asks SET created_ms = created_ms - ?1, decided_ms = decided_ms - ?1,"
                  " ended_ms = ended_ms - ?1 WHERE id = ?2", int(days * DAY_MS), session_id)
    home.rows("UPDATE asks SET created_ms = created_ms - ?1 WHERE title = 'pending'", 9 * DAY_MS)
    wait_until(lambda: len(titles(home)) <= 2, "what is too old is gone")
    time.sleep(0.3)
    assert sorted(titles(home)) == ["pending", "young"], titles(home)
    for table in ("asks", "ask_texts", "answers", "events"):
        for row in home.rows(f"SELECT * FROM {table}"):
            assert "old" not in str(row), f"{table} keeps its words: {row}"


@test("portal and terminal off: no person can be reached, and the agent is told; on again, it works", "R2.6")
def no_channel(home: Home) -> None:
    save_host(home, portal=False, terminal=False)
    result = home.sayso("ask", "T", *WORDS, "--wait", "0", "--json")
    assert "settings" in error_of(result, "no_human_channel")["message"], result
    assert "no_human_channel" not in one_line(expect(home.sayso("ask", "T", *WORDS), FAILED).err)
    assert titles(home) == [], "nobody is asked"
    for name in ("portal", "terminal"):
        expect(home.sayso("settings", "set", name, "on"), DONE)
        assert ask(home, name)
        expect(home.sayso("settings", "set", name, "off"), DONE)
    env = {"SAYSO_PORTAL": "off", "SAYSO_TERMINAL": "off"}
    with Home(env=env) as other:
        error_of(other.sayso("ask", "T", *WORDS, "--wait", "0", "--json"), "no_human_channel")


@test("an interface that is not built yet acts as auto, with a warning", "R2.6")
def interfaces(home: Home) -> None:
    for name in ("client",):
        result = ask_json(home, title=name, interface=name)
        assert result.code == PENDING and result.json["action_status"] == "pending", result
        assert result.json["warnings"] == ["interface_unavailable"], result
        assert "terminal_command" not in result.json, result
        assert row_of(home, result.json["session_id"])["interface"] == "auto"
    assert "warnings" not in ask_json(home, title="auto", interface="auto").json


run()
