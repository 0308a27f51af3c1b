"""Stores with every kind of row, for tests of moving them from their file into PostgreSQL; both sides compared row by row."""
from __future__ import annotations

import pathlib
import re
import sqlite3
from typing import Any

import postgres
from api import LIMITS
from cli_stage import DONE, ask, ask_json, expect
from harness import ROOT, Home, Result, Wire, wait_until

TABLES = re.findall(r'\{ "(\w+)", "([\w, ]+)", (?:NULL|META_HERE) \}', (ROOT / "src/store/transfer/rows.c").read_text())
OWN_FACTS = ("instance", "port", "recovered_from", "migrated")


def fill(home: Home) -> list[str]:
    """Asks in every state and of every tool, words of all kinds, a draft, a setting, a token; ids that are open."""
    nasty = "\\ \" ' {a,NULL} \t ☕ 𝄞 \u202e 你好 \\x41 $1 %s"
    for number in range(10):
        title = f"问题 Ask {number}"
        named = [] if number % 5 == 3 else ["--as", f"bot \"{number % 2}\""]
        id = ask_json(home, *named, title=title).json["session_id"]
        if number % 5 == 0:
            expect(home.sayso("answer", id, "--select", "us", "--note", f"{number} {nasty}"), DONE)
        elif number % 5 == 1:
            expect(home.sayso("cancel", id, "--note", nasty), DONE)
        elif number % 5 == 2:
            expect(home.sayso("decline", id), DONE)
        elif number % 5 == 3:
            expect(home.sayso("withdraw", id), DONE)
    expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
    ask_json(home, title="By time", timeout_seconds=1, default_selection_ids=["us"])
    ask_json(home, title="Nobody", timeout_seconds=1, selection_mode="text_input")
    ask_json(home, title="Large", prompt="长 long \"words\" \\ " * 2000 + "?")
    def ended() -> list[str]:
        found = {row["title"]: row["status"] for row in rows(home)}
        return [found["By time"], found["Nobody"]]

    wait_until(lambda: ended() == ["auto_submitted", "timeout"], "time is up for both")
    expect(home.sayso("settings", "set", "theme", "dark"), DONE)
    expect(home.sayso("token", "new", "--label", "☕ label"), DONE)
    first = ask(home, "Typing?", "--text")
    with Wire(home) as person:
        person.hello("person")
        person.call("ask/draft", session_id=first, draft={"custom_input": f"half {nasty}"})
    return [row["session_id"] for row in rows(home) if row["status"] == "pending"]


def rows(home: Home) -> list[Any]:
    """What people see of all asks, without what a clock changes."""
    changing = ("remaining_seconds", "detached", "detached_at", "undo_ms")
    return [{key: value for key, value in row.items() if key not in changing}
            for row in expect(home.sayso("history", "--limit", "1000", "--json"), DONE).json]


def in_file(path: pathlib.Path) -> dict[str, list[dict[str, Any]]]:
    """Every row by table."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    found = {table: [dict(row) for row in db.execute(f"SELECT * FROM {table} ORDER BY {order}")]
             for table, order in [*TABLES, ("counter", "seq")]}
    db.close()
    return found


def in_database(url: str, like: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The same columns out of PostgreSQL."""
    found = {}
    with postgres.shared().admin(postgres.name_in(url)) as connection:
        for table, order in [*TABLES, ("counter", "seq")]:
            names = list(like[table][0]) if like[table] else ["1"]
            listed = ", ".join(f'"{name}"' if name != "1" else name for name in names)
            found[table] = [dict(zip(names, row)) for row in connection.run(f"SELECT {listed} FROM {table} ORDER BY {order}")]
    return found


def same(path: pathlib.Path, url: str) -> dict[str, list[dict[str, Any]]]:
    """Row by row."""
    there = in_file(path)
    here = in_database(url, there)
    for tables in (here, there):
        tables["meta"] = [row for row in tables["meta"] if row["name"] not in OWN_FACTS]
    for table in there:
        assert here[table] == there[table], (table, here[table], there[table])
    return there


def sql(url: str, text: str) -> list[tuple]:
    with postgres.shared().admin(postgres.name_in(url)) as connection:
        return connection.run(text)


class Moving:
    """A home with a filled store that is not open, and an empty database."""

    def __init__(self, binary: str = "", count: int = 0):
        self.home = Home(binary, LIMITS) if binary else Home(env=LIMITS)
        self.open = fill(self.home)
        self.path = self.home.data / "sayso.db"
        self.seen = rows(self.home)
        expect(self.home.sayso("stop"), DONE)
        if count:
            grow(self.path, count)
        self.url = postgres.shared().new_database()

    def migrate(self, *more: str, **settings: Any) -> Result:
        return self.home.sayso("migrate", *more, self.url, timeout=120, **settings)

    def renew(self) -> None:
        postgres.shared().drop_database(self.url)
        self.url = postgres.shared().new_database()

    def __enter__(self) -> Moving:
        return self

    def __exit__(self, *_: Any) -> None:
        self.home.stop()
        postgres.shared().drop_database(self.url)


def grow(path: pathlib.Path, count: int) -> None:
    """More rows than fit into a few batches, of a table no chain is about."""
    with sqlite3.connect(path) as db:
        db.executemany("INSERT INTO client_facts VALUES (?, ?, 'stdio', ?, NULL)",
                       [(f"client {number}", "客户端" * (number % 50), number) for number in range(count)])
    db.close()
