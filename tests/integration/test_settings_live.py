"""Which value of a setting is in force on the running hub, and what a bad one does.

Proves: R8.1
"""
from __future__ import annotations

import json
import time
from typing import Any, Callable, NamedTuple

from harness import Home, Wire, WireError, run, test

PROMPT = "The build is done; both clusters are healthy, so somebody has to choose."
PENDING = 5


def ask(home: Home, title: str, agent: str = "settings") -> str:
    result = home.sayso("ask", title, "-p", PROMPT, "-o", "a=A", "-o", "b=B", "-r", "a", "--as", agent,
                        "--wait", "0", "--json")
    assert result.code in (1, PENDING), result
    return result.json.get("session_id", "")


def fresh(number: list[int] = [0]) -> str:
    """A title not used yet: the same one again would be the same ask."""
    number[0] += 1
    return f"ask {number[0]}"


# What a setting does, measured: the setting is only in force if the hub acts on it.


def listed(home: Home) -> int:
    while len(home.sayso("list", "--limit", "100", "--json").json) < 6:
        assert ask(home, fresh(), "filler")
    return len(home.sayso("list", "--json").json)


def pending_allowed(home: Home) -> int:
    """How many asks of one agent are taken before one is refused."""
    agent = fresh()
    return next((count for count in range(6) if not ask(home, fresh(), agent)), 6)


def seconds_given(home: Home) -> int:
    session_id = ask(home, fresh(), fresh())
    return home.sayso("show", session_id, "--json").json["ask"]["remaining_seconds"]


def undo_given(home: Home) -> int:
    """Seconds in which an answer of a terminal can be taken back."""
    session_id = ask(home, fresh(), fresh())
    with Wire(home) as person:
        person.hello("person", channel="terminal")
        answered = person.call("ask/answer", session_id=session_id, selected_ids=["a"])
        return round(answered.get("undo_ms", 0) / 1000)


class Row(NamedTuple):
    name: str
    scope: str
    built_in: Any
    environment: Any
    saved: Any
    other: Any  # saved while the hub runs
    measure: Callable[[Home], int]
    slack: int = 0
    most: int = 1 << 30  # the most that can be measured


ROWS = [
    Row("list_count", "host", 50, 4, 2, 3, listed, most=6),
    Row("max_pending", "host", 32, 4, 2, 3, pending_allowed, most=6),
    Row("timeout_seconds", "person", 300, 200, 100, 50, seconds_given, slack=3),
    Row("deliver_after", "person", 5, 40, 20, 30, undo_given, slack=1),
]


def fact(home: Home, name: str) -> dict[str, Any]:
    return home.sayso("settings", "get", name, "--json").json[0]


def expect(home: Home, row: Row, value: int, source: str) -> None:
    known = fact(home, row.name)
    assert (known["value"], known["source"], known["scope"]) == (value, source, row.scope), known
    measured = row.measure(home)
    wanted = min(value, row.most)
    assert wanted - row.slack <= measured <= wanted, (row.name, source, f"{measured}, not {wanted}")


def write_file(home: Home, text: str) -> None:
    home.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home.config / "settings.json").write_text(text)
    (home.config / "settings.json").chmod(0o600)


def save(home: Home, row: Row) -> None:
    """Before there is a hub where that is possible: host rows are in a file, others in the store."""
    if row.scope == "host":
        write_file(home, json.dumps({row.name: row.saved}))
    else:
        assert home.sayso("settings", "set", row.name, str(row.saved)).code == 0
        assert home.sayso("stop").code == 0


for row in ROWS:
    @test(f"{row.name} ({row.scope}): saved beats the environment, which beats the default", "R8.1")
    def precedence(home: Home, row: Row = row) -> None:
        env = {f"SAYSO_{row.name.upper()}": str(row.environment)}
        expect(home, row, row.built_in, "built_in")
        assert home.sayso("stop").code == 0
        home.environment |= env
        expect(home, row, row.environment, "environment")
        assert home.sayso("stop").code == 0
        save(home, row)
        expect(home, row, row.saved, "saved")


    @test(f"{row.name} ({row.scope}): set and reset apply immediately in the running hub", "R8.1")
    def at_once(home: Home, row: Row = row) -> None:
        home.environment[f"SAYSO_{row.name.upper()}"] = str(row.environment)
        expect(home, row, row.environment, "environment")
        pid = home.hub_pid()
        for value in (row.other, row.saved):
            assert home.sayso("settings", "set", row.name, str(value)).code == 0
            expect(home, row, value, "saved")
        assert home.sayso("settings", "reset", row.name).code == 0
        expect(home, row, row.environment, "environment")
        assert home.hub_pid() == pid


def log_lines(home: Home) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home.data / "hub.log").read_text().splitlines()]


def warned_of(home: Home) -> set[str]:
    return {line.get("setting", "") for line in log_lines(home)
            if line["level"] == "warning" and line["event"] == "settings.ignored"}


BAD = {"list_count": 0, "max_pending": "many", "asks_per_minute": 1.5, "portal": "maybe", "port": 65536,
       "retention_days": {}, "hold_limits": {"*": 0}, "log_level": "loud", "compat": [], "max_sessions": -1}


@test("bad values in the settings file: a warning each in the log, the default, good ones still count",
      "R8.1")
def bad_values(home: Home) -> None:
    write_file(home, json.dumps({**BAD, "idle_exit_seconds": 77, "unheard_of": 1, "timeout_seconds": 9}))
    rows = {row["name"]: row for row in home.sayso("settings", "--json").json}
    for name in BAD:
        assert rows[name]["source"] == "built_in", rows[name]
    assert rows["idle_exit_seconds"]["value"] == 77 and rows["idle_exit_seconds"]["source"] == "saved"
    assert rows["timeout_seconds"]["value"] == 300, "a person's setting was taken from the host's file"
    assert warned_of(home) >= {*BAD, "timeout_seconds"}, set(BAD) - warned_of(home)
    assert home.sayso("settings", "set", "list_count", "5").code == 0
    kept = json.loads((home.config / "settings.json").read_text())
    assert kept["list_count"] == 5 and kept["unheard_of"] == 1, "what we don't know is not ours to remove"


@test("a settings file that is none, or none of ours: no hub starts on it, and it is left alone", "R8.1")
def bad_file() -> None:
    for text in ("{", "[]", "null", '{"port": 1, "port": 2}', "\x00", '{"port": 9' + " " * 2_000_000 + "}",
                 "[" * 100_000):
        with Home() as home:
            write_file(home, text)
            assert home.sayso("list").code == 1 and home.hub_pid() is None, text[:20]
            assert home.sayso("settings", "set", "port", "8000").code == 1, "an unreadable file is written over"
            assert (home.config / "settings.json").read_text() == text
            assert home.sayso("settings", "set", "timeout_seconds", "90").code == 1
            write_file(home, "{}")
            assert fact(home, "port")["value"] == 7297, "what could not be kept is in force"


@test("bad values in the environment: a warning line and the default, on screen and in the log", "R8.1")
def bad_environment(home: Home) -> None:
    result = home.sayso("settings", "get", "list_count", env={"SAYSO_LIST_COUNT": "lots"})
    assert result.code == 0 and result.out == "50\n" and "SAYSO_LIST_COUNT" in result.err, result
    assert "list_count" in warned_of(home)
    assert home.sayso("settings", "get", "list_count", env={"SAYSO_LIST_COUNT": ""}).err == ""


@test("a bad value in the store, as another version may have left it: a warning and the default", "R8.1")
def bad_row(home: Home) -> None:
    assert home.sayso("settings", "set", "timeout_seconds", "90").code == 0
    assert home.sayso("stop").code == 0
    home.rows("UPDATE settings SET value = 'soon'")
    assert home.rows("SELECT value FROM settings") == [("soon",)]
    assert fact(home, "timeout_seconds")["value"] == 300 and "timeout_seconds" in warned_of(home)


@test("other clients are told immediately when a setting changes", "R8.1")
def told(home: Home) -> None:
    assert home.sayso("list").code == 0
    with Wire(home) as watcher:
        watcher.hello("person")
        watcher.call("ask/watch")
        assert home.sayso("settings", "set", "theme", "dark").code == 0
        event = watcher.read()
        assert event["method"] == "settings/changed", event
        changed = event["params"]["settings"][0]
        assert (changed["name"], changed["value"], changed["source"]) == ("theme", "dark", "saved"), event


@test("agents can neither read nor change settings", "R8.1 R12.1")
def not_for_agents(home: Home) -> None:
    assert home.sayso("list").code == 0
    with Wire(home) as agent:
        agent.hello("agent", name="t")
        change = {"name": "cli_answers", "value": "any"}
        for method, params in (("settings/list", {}), ("settings/set", change)):
            try:
                agent.call(method, **params)
                raise AssertionError(f"{method} is open to agents")
            except WireError as refused:
                assert refused.code == -32002, refused


run()
