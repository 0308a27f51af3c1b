"""A backup by `sayso export --all` and its way back by `sayso import`: the real program, its death at
every point, damaged input, two imports at the same time."""
from __future__ import annotations

import contextlib
import pathlib
import random
import re
import signal
import sqlite3
import stat
from typing import Any

from cli_stage import DONE, FAILED, PENDING, USAGE, ask, ask_json, expect
from harness import CRASH_BIN, ROOT, Home, Skip, counted, run, scaled, side_by_side, test, wait_until

LIFTED = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}


def fill(home: Home, count: int = 12) -> None:
    """Asks in every state, in both languages, with notes, a draft, a setting and a token."""
    ids = [ask_json(home, title=f"问题 Ask {number}").json["session_id"] for number in range(count)]
    for number, id in enumerate(ids):
        if number % 4 == 0:
            expect(home.sayso("answer", id, "--select", "us", "--note", f"note\t{number} \"备注\""), DONE)
        elif number % 4 == 1:
            expect(home.sayso("cancel", id), DONE)
    expect(home.sayso("settings", "set", "theme", "dark"), DONE)
    expect(home.sayso("token", "new", "--label", "secret-label"), DONE)


def back_up(home: Home) -> pathlib.Path:
    path = home.path / "backup.jsonl"
    said = expect(home.sayso("export", "--all", "--out", str(path), "--json"), DONE).json
    assert said["count"] == len(path.read_text().splitlines())
    return path


def rows(home: Home) -> list[Any]:
    """What people see of all asks, without what a clock changes."""
    changing = ("remaining_seconds", "detached", "detached_at", "undo_ms")
    return [{key: value for key, value in row.items() if key not in changing}
            for row in expect(home.sayso("history", "--limit", "1000", "--json"), DONE).json]


@test("a backup of a running hub comes back whole in another home, and goes on there", "R9.2 R5.2")
def round_trip() -> None:
    with Home(env=LIFTED) as home, Home(env=LIFTED) as other:
        fill(home)
        expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
        expect(ask_json(home, title="By time", timeout_seconds=1, default_selection_ids=["us"]), PENDING)
        wait_until(lambda: rows(home)[0]["status"] == "auto_submitted", "nobody answered it")
        backup = back_up(home)
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        text = backup.read_text()
        token_hashes = [row[0].hex() for row in sqlite3.connect(home.data / "sayso.db").execute(
            "SELECT hash FROM tokens UNION SELECT secret FROM keys")]
        assert token_hashes and not any(secret in text for secret in [*token_hashes, "secret-label"])
        said = expect(other.sayso("import", str(backup)), DONE)
        assert "event chain is valid" in said.out and said.err == "", said
        assert rows(other) == rows(home)
        assert other.sayso("settings", "get", "theme").out == "dark\n"
        open_ask = next(row for row in rows(other) if row["status"] == "pending")["session_id"]
        expect(other.sayso("answer", open_ask, "--select", "eu"), DONE)
        assert ask_json(other, title="New here").code == PENDING
        expect(other.sayso("stop"), DONE)
        again = expect(other.sayso("import", str(backup), "--json"), DONE).json
        assert again["added"] == 0, again  # it is all there, and what came later stays
        assert len(rows(other)) == 14


@test("the same from standard input, of a store that no hub has open, and without a store", "R9.2")
def pipes() -> None:
    with Home(env=LIFTED) as home, Home(env=LIFTED) as other:
        assert home.sayso("export", "--all").code == FAILED  # nothing was ever asked
        fill(home)
        before = rows(home)
        expect(home.sayso("stop"), DONE)
        text = expect(home.sayso("export", "--all"), DONE).out
        assert not list(home.data.glob("sayso.db-*"))  # nothing was left beside it
        assert expect(other.sayso("import", "-", "--json", input=text), DONE).json["added"] > 30
        assert rows(other) == before


@test("a store that is in use is left alone: by a running hub, by another import, with asks of its own", "R9.2")
def in_use() -> None:
    with Home(env=LIFTED) as home, Home(env=LIFTED) as other:
        fill(home)
        backup = back_up(home)
        ask(other, "My own")
        refused = other.sayso("import", str(backup))
        assert refused.code == FAILED and "sayso stop" in refused.err, refused
        expect(other.sayso("stop"), DONE)
        refused = other.sayso("import", str(backup))
        assert refused.code == FAILED and "not empty" in refused.err, refused
        assert [row["title"] for row in rows(other)] == ["My own"]
        for arguments in ((), ("a", "b"), ("--discard", "x")):
            assert other.sayso("import", *arguments).code == USAGE
        assert other.sayso("import", str(home.path / "none")).code == FAILED
        assert other.sayso("import", str(home.path)).code == FAILED


@test("two imports at the same time: one imports, the other is told so or finds everything there", "R9.2")
def two_at_once() -> None:
    for _ in range(scaled(3)):
        with Home(env=LIFTED) as home, Home(env=LIFTED) as other:
            fill(home)
            backup = back_up(home)
            results: list[Any] = []
            side_by_side(*[lambda: results.append(other.sayso("import", str(backup)))] * 3)
            assert any(result.code == DONE for result in results), results
            assert all(result.code == DONE or "another import" in result.err for result in results), results
            assert rows(other) == rows(home)


def damage(text: str) -> tuple[str, str]:
    """A damaged backup and what the error must name."""
    lines = text.splitlines(keepends=True)
    number = random.randrange(1, len(lines) - 1)
    kind = random.choice(["flip", "drop", "swap", "cut", "double", "nul", "long"])
    if kind == "flip":
        at = random.randrange(len(lines[number]) - 1)
        lines[number] = lines[number][:at] + chr(ord(lines[number][at]) ^ 1) + lines[number][at + 1:]
    elif kind == "drop":
        del lines[number]
    elif kind == "swap":
        lines[number], lines[number + 1] = lines[number + 1], lines[number]
    elif kind == "cut":
        return "".join(lines[:number]), f"line {number}"
    elif kind == "double":
        lines.insert(number, lines[number - 1])
    elif kind == "nul":
        lines[number] = "\0" + lines[number]
    else:
        lines[number] = "[" * 20_000_000 + "\n"
    return "".join(lines), f"line {number + 1}"


@test("damaged input is refused by its line and leaves no trace", "R9.2")
def damaged() -> None:
    with Home(env=LIFTED) as home, Home(env=LIFTED) as other:
        fill(home)
        text = back_up(home).read_text()
        file = home.path / "damaged.jsonl"
        for _ in range(scaled(25)):
            broken, named = damage(text)
            file.write_text(broken)
            result = other.sayso("import", str(file))
            assert result.code == FAILED and named in result.err, (named, result)
        for other_text in ("", "{}\n", "not a backup", home.sayso("export").out):
            file.write_text(other_text)
            assert other.sayso("import", str(file)).code == FAILED
        assert rows(other) == []  # a hub starts as if nothing had been
        expect(other.sayso("stop"), DONE)
        result = other.sayso("import", "-", input="".join(text.splitlines(keepends=True)[:20]))
        assert result.code == FAILED and "incomplete" in result.err, result
        refused = other.sayso("list")  # a part came from a pipe: no hub uses it
        assert refused.code == FAILED and "sayso import" in refused.err, refused
        assert "empty" in expect(other.sayso("import", "--discard"), DONE).out
        assert rows(other) == []
        expect(other.sayso("stop"), DONE)
        assert "Nothing was changed" in expect(other.sayso("import", "--discard"), DONE).out
        said = other.sayso("import", str(file), env={"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"})
        assert "备份" in said.err, said


def points() -> list[str]:
    sources = "".join(file.read_text() for file in (ROOT / "src/store").rglob("restore*.c"))
    return sorted(set(re.findall(r"CRASH_POINT\((\w+)\)", sources)))


@test("kill -9 at every point of an import: the next one finishes it, nothing is lost or doubled", "R9.2 P1")
def crashes() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    hits = 0
    with Home(CRASH_BIN, LIFTED) as home:
        fill(home)
        backup, before = back_up(home), rows(home)
        for point in points() * scaled(1, full=2):
            for number in {1, random.randint(1, 30)}:
                with Home(CRASH_BIN, LIFTED) as other:
                    died = other.sayso("import", str(backup), env={"SAYSO_CRASH_POINT": f"{point}:{number}"})
                    hits += died.code == -signal.SIGKILL
                    assert number > 1 or died.code == -signal.SIGKILL, (point, died)
                    if died.code == -signal.SIGKILL and random.random() < 0.3:
                        with contextlib.suppress(ValueError):  # an ask in between is refused, or it was complete
                            assert other.sayso("list", "--json").code in (DONE, FAILED)
                        if other.hub_pid():
                            expect(other.sayso("stop"), DONE)
                    expect(other.sayso("import", str(backup)), DONE)
                    assert rows(other) == before
    counted(f"{hits} kills at {len(points())} points")


run()
