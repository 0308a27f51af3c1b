"""`sayso migrate`: a store with every kind of row moves from its file into PostgreSQL and is served from there; death of
the program and of the server at every point, targets and sources that are not fit, two at once.

Proves: R13.1 R13.2 R5.2
"""
from __future__ import annotations

import json
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import time
from typing import Any

import postgres
from api import LIMITS
from cli_stage import DONE, FAILED, USAGE, WORDS, ask, ask_json, end, expect
from conversation_stage import Hosting, asks, said
from harness import CRASH_BIN, ROOT, Home, Result, Skip, Wire, counted, run, scaled, side_by_side, test, wait_until
from hubs_stage import MODERN, exchange
from tty_stage import Tty

TABLES = re.findall(r'\{ "(\w+)", "([\w, ]+)", (?:NULL|META_HERE) \}', (ROOT / "src/store/walk.c").read_text())
LEFT_OUT = {"counter", "words", "by_agent", "unindexed", "search"}  # the row of counter is; the rest is made anew
OWN_FACTS = ("instance", "port", "recovered_from", "migrated")
COME_BACK = {"SAYSO_HOLD_LIMITS": '{"*":1}', "SAYSO_COME_BACK": "on"}


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
    wait_until(lambda: {row["title"]: row["status"] for row in rows(home)}["By time"] == "auto_submitted", "time is up")
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
    """A home with a filled store that nobody has open, and an empty database."""

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


@test("everything arrives row by row, the file stays as it was, and a hub goes on with it")
def whole() -> None:
    with Moving() as moving:
        home, before = moving.home, moving.path.read_bytes()
        done = expect(moving.migrate(), DONE)
        assert "Counts agree" in done.out and "sayso settings set store" in done.out, done
        assert "Copying" in done.err, done
        assert moving.path.read_bytes() == before and not list(home.data.glob("sayso.db-*"))
        there = same(moving.path, moving.url)
        db = sqlite3.connect(moving.path)
        made = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"
                                               " AND name NOT LIKE 'words!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'")}
        db.close()
        assert made == {name for name, _ in TABLES} | LEFT_OUT, "a table that nobody moves, or that is gone"
        for table, _ in TABLES:
            assert there[table] or table in ("conversations", "conversation_events", "rules", "client_facts", "meta"), table
        assert {row["state"] for row in there["asks"]} == {2, 3, 4, 5, 6, 7, 8}, "every state that can be kept"
        assert sql(moving.url, "SELECT DISTINCT agent FROM asks WHERE agent LIKE 'bot%' ORDER BY 1") == [
            ('bot "0"',), ('bot "1"',)]
        command = done.out.strip().splitlines()[-1].strip()
        with postgres.shared().admin() as connection:
            used = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1"
            assert connection.rows(used, postgres.name_in(moving.url)) == [(0,)]
            seen = end(home, home.spawn("-c", f'sayso() {{ "{home.binary}" "$@"; }}; {command}', program="/bin/sh"))
            expect(seen, DONE)
            moving.path.write_bytes(before)  # what a hub that had the file until then may have written there
            assert rows(home) == moving.seen
            assert connection.rows(used, postgres.name_in(moving.url)) > [(0,)]
        assert [row["title"] for row in home.sayso("history", "--agent", 'bot "1"', "--json").json][0] == "问题 Ask 9"
        assert "postgres://" in home.sayso("status").out
        assert home.sayso("show", moving.open[0], "--json").json["draft"]["custom_input"].startswith("half \\ \"")
        expect(home.sayso("answer", moving.open[1], "--select", "eu"), DONE)
        ask(home, "New here?")
        titles = [row["title"] for row in expect(home.sayso("history", "words", "--json"), DONE).json]
        assert titles == ["Large"], titles
        expect(home.sayso("stop"), DONE)
        assert "already" in expect(moving.migrate(), DONE).out
        assert moving.path.read_bytes() == before
        assert sql(moving.url, "SELECT count(*) FROM asks WHERE title = 'New here?'") == [(1,)]


def mcp_call(port: int, token: str, title: str, state: str | None = None) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "mover", "version": "1"}}
    arguments = {"title": title, "prompt": "Which of these shall it be, and why is it needed?", "selection_mode": "single",
                 "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}]}
    params = {"name": "provide_choice", "arguments": arguments, "_meta": meta, **({"requestState": state} if state else {})}
    reply = exchange(port, "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, token, 60,
                     Accept="application/json, text/event-stream", MCP_Protocol_Version=MODERN, Mcp_Method="tools/call",
                     Mcp_Name="provide_choice")
    texts = [line[5:] for line in reply.body.decode().split("\n") if line.startswith("data:")] or [reply.body.decode()]
    return next(message for message in map(json.loads, filter(str.strip, texts)) if message.get("id") == 1)["result"]


@test("tokens open, sealed states are read, standing answers hold and conversations go on where they moved to")
def keeps_working() -> None:
    url = postgres.shared().new_database()
    with Hosting({**LIMITS, **COME_BACK}) as office:
        home = office.home

        def asked(*more: str) -> Result:
            """By a shell of its own: who answers here must not be above the agent."""
            return end(home, home.spawn("-c", '"$@"; exit $?', "sh", home.binary, "ask", "Cache", *WORDS, "--json", *more,
                                        program="/bin/sh"))
        id = asked("--wait", "0").json["session_id"]
        expect(home.sayso("answer", id, "--select", "us"), DONE)
        assert asked().json["explicit"]
        rule = expect(home.sayso("rule", "add", id, "--json"), DONE).json["id"]
        talk = office.begin(asks("t1"))
        talk.wait_for("awaiting_user_response")
        events = talk.events()
        state = mcp_call(office.port, office.agent_token, "Sealed?")["requestState"]
        shut = office.token("person", "to be shut")
        (listed,) = [row["id"] for row in home.sayso("token", "list", "--json").json if row["label"] == "to be shut"]
        expect(home.sayso("token", "revoke", listed), DONE)
        expect(home.sayso("stop"), DONE)
        home.spawned.remove(office.process)
        expect(home.sayso("migrate", url), DONE)
        there = same(home.data / "sayso.db", url)
        assert there["conversations"] and there["conversation_events"] and there["rules"] and there["keys"], there
        home.environment["SAYSO_STORE"] = url
        office.serve()
        by_rule = asked()
        assert by_rule.code == DONE and by_rule.json["rule"] == rule, by_rule
        assert office.get("/api/asks").status == 200 and office.get("/api/asks", token=shut).status == 401
        assert talk.events()[:len(events)] == events
        said(talk.respond({"Which store?": "PostgreSQL"}))
        wait_until(lambda: talk.state["type"] != "awaiting_user_response", "it goes on")
        (sealed,) = [row["session_id"] for row in office.get("/api/asks?status=active").json["asks"] if row["title"] == "Sealed?"]
        assert office.answer(sealed, "b").status == 200
        result = mcp_call(office.port, office.agent_token, "Sealed?", state)
        assert result["structuredContent"]["selection"]["selected_ids"] == ["b"], result
    postgres.shared().drop_database(url)


def points() -> list[str]:
    return sorted(set(re.findall(r"CRASH_POINT\((\w+)\)", (ROOT / "src/store/postgres/migrate.c").read_text())))


@test("kill -9 at every point: no hub opens what is not whole, the next one finishes it, nothing is lost or doubled")
def crashes() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    hits = 0
    with Moving(CRASH_BIN, 4000) as moving:
        for point in points() * scaled(2):
            for number in sorted({1, random.randint(2, 12)}):
                moving.renew()
                died = moving.migrate(env={"SAYSO_CRASH_POINT": f"{point}:{number}"})
                hits += died.code == -signal.SIGKILL
                assert number > 1 or died.code == -signal.SIGKILL, (point, died)
                is_whole = died.code == 0 or point == "migrate_after_end"
                refused = moving.home.sayso("list", env={"SAYSO_STORE": moving.url})
                assert is_whole == (refused.code == DONE), (point, refused)
                if is_whole:
                    expect(moving.home.sayso("stop"), DONE)
                else:
                    assert "sayso migrate" in refused.err, refused
                again = expect(moving.migrate("--json"), DONE).json
                assert again["rows"] > 4000 and (number == 1 or again["earlier"] > 0), (point, again)
                same(moving.path, moving.url)
    counted(f"{hits} kills at {len(points())} points")


@test("kill -9 at any moment, twice in a row")
def killed() -> None:
    hits = 0
    with Moving(count=20000) as moving:
        began = time.monotonic()
        expect(moving.migrate(), DONE)
        took = time.monotonic() - began
        for _ in range(scaled(8)):
            moving.renew()
            for _ in range(2):
                process = moving.home.spawn("migrate", moving.url, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(random.uniform(0, took))
                process.kill()
                hits += process.wait() == -signal.SIGKILL
                moving.home.spawned.remove(process)
            expect(moving.migrate(), DONE)
            same(moving.path, moving.url)
    assert hits, "it is never quicker than every kill"
    counted(f"{hits} kills")


@test("a server that crashes in the middle is waited for, and nothing is copied twice")
def server_crashes() -> None:
    with Moving(count=60000) as moving, postgres.Server() as server:
        url = server.new_database()
        for _ in range(scaled(3)):
            process = moving.home.spawn("migrate", url, "--json", stderr=subprocess.PIPE)

            def copied() -> int:
                return server.sql("SELECT count(*) FROM client_facts", postgres.name_in(url))[0][0]
            wait_until(lambda: server.sql("SELECT to_regclass('client_facts') IS NOT NULL", postgres.name_in(url)) == [(True,)]
                       and copied() > 1000, "it copies", 30)
            server.restart_immediate(random.uniform(0, 1))
            out, err = process.communicate(timeout=120)
            moving.home.spawned.remove(process)
            assert process.returncode == DONE, (out, err)
            assert copied() == 60000 and json.loads(out)["tables"]["client_facts"] == 60000, out
            url = server.new_database()


@test("a server that can't be reached or refuses is told of with a remedy, and no password is ever printed")
def server_gone() -> None:
    with Moving() as moving, postgres.Server() as server:
        url = server.tcp_url(postgres.name_in(server.new_database()))
        secret = server.password
        broken = url.replace(str(server.port), "1")
        refused = moving.home.sayso("migrate", broken, timeout=60)
        assert refused.code == FAILED and "start it" in refused.err and secret not in refused.err + refused.out, refused
        wrong = url.replace(secret, "wr0ng-one")
        refused = moving.home.sayso("migrate", wrong, timeout=60)
        assert refused.code == FAILED and "password" in refused.err and "wr0ng" not in refused.err, refused
        done = expect(moving.home.sayso("migrate", url, timeout=60), DONE)
        assert secret not in done.out + done.err and "sayso:****@127.0.0.1" in done.out and ".pgpass" in done.out, done
        done = expect(moving.home.sayso("migrate", "--json", url), DONE)
        assert secret not in done.out, done
        hidden = url.replace(f":{secret}", "") + f"?password={secret}&application_name=x"
        done = expect(moving.home.sayso("migrate", hidden), DONE)
        assert secret not in done.out and "password=****&application_name=x" in done.out, done


@test("a database in use is left alone: asks of its own, another store's move, a newer or a foreign schema, no rights")
def targets() -> None:
    with Moving() as moving, Home(env={**LIMITS, "SAYSO_STORE": moving.url}) as other:
        ask(other, "My own")
        refused = moving.migrate()
        assert refused.code == FAILED and "createdb" in refused.err, refused
        assert [row["title"] for row in rows(other)] == ["My own"]
        other.stop()
        moving.renew()
        with Home(env={**LIMITS, "SAYSO_STORE": moving.url}) as third:  # a hub that was only started
            expect(third.sayso("list"), DONE)
        expect(moving.migrate(), DONE)
        same(moving.path, moving.url)
        for statement, word in (
                ("UPDATE sayso SET version = 99", "later sayso"),
                ("DROP TABLE sayso", "somebody else"),
                ("UPDATE meta SET value = 'x y asks 1' WHERE name = 'migrated';"
                 " INSERT INTO meta VALUES ('migrating', 'x y asks 1')", "another store"),
                ("UPDATE meta SET value = 'x' WHERE name = 'migrated';"
                 " INSERT INTO meta VALUES ('migrating', ''' OR true; --')", "another store")):
            moving.renew()
            expect(moving.migrate(), DONE)
            sql(moving.url, statement)
            refused = moving.migrate()
            assert refused.code == FAILED and word in refused.err, (statement, refused)
        expect(moving.home.sayso("migrate", "--discard", moving.url), DONE, "gone")
        expect(moving.home.sayso("migrate", "--discard", moving.url), DONE, "nothing was changed")
        expect(moving.migrate(), DONE)
        same(moving.path, moving.url)
        for words in ((), ("a", "b", "c"), ("sqlite:x", "mysql://h"), ("x", moving.url), ("sqlite:", moving.url), ("--discard",)):
            assert moving.home.sayso("migrate", *words).code == USAGE, words
        missing = moving.url.replace(postgres.name_in(moving.url), "nowhere")
        assert "createdb" in moving.home.sayso("migrate", missing).err


@test("a role without the right to make tables is told so")
def no_rights() -> None:
    with Moving() as moving, postgres.Server() as server:
        name = postgres.name_in(server.new_database())
        server.sql("CREATE ROLE guest LOGIN")
        refused = moving.home.sayso("migrate", postgres.url_of(name, str(server.path), server.port, "guest"))
        assert refused.code == FAILED and "GRANT" in refused.err, refused


@test("a file that is not fit is refused before anything is written: busy, damaged, not ours, missing, unreadable, older")
def sources() -> None:
    with Moving() as moving:
        home = moving.home

        def refused(*words: str, path: pathlib.Path = moving.path) -> None:
            result = home.sayso("migrate", f"sqlite:{path}", moving.url)
            assert result.code == FAILED and all(word in result.err for word in words), (words, result)
            assert sql(moving.url, "SELECT to_regclass('asks') IS NULL OR NOT EXISTS (SELECT FROM pg_tables"
                                   " WHERE tablename = 'meta')") == [(True,)] or sql(
                moving.url, "SELECT count(*) FROM meta WHERE name = 'migrating'") == [(0,)]
        expect(home.sayso("list"), DONE)
        refused("sayso stop")
        assert "sayso stop" in moving.migrate().err
        expect(home.sayso("stop"), DONE)
        untouched = moving.path.read_bytes()
        copy = home.path / "copy.db"
        for at in range(0, 40):
            broken = bytearray(untouched)
            start = random.randrange(100, len(broken) - 600)
            broken[start:start + 500] = random.randbytes(500)
            copy.write_bytes(bytes(broken))
            result = home.sayso("migrate", f"sqlite:{copy}", moving.url)
            assert result.code in (DONE, FAILED), result  # a free page may be anything
            assert "Traceback" not in result.err and (result.code == DONE or result.err), result
            moving.renew()
        copy.write_bytes(untouched)
        with sqlite3.connect(copy) as db:
            db.execute("UPDATE events SET body = body || ' ' WHERE seq = 3")
        db.close()
        refused("chain of events", "event 3", path=copy)
        with sqlite3.connect(copy) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        refused("newer", path=copy)
        with sqlite3.connect(copy) as db:
            db.execute("PRAGMA user_version = 2")
        db.close()
        refused("older", "sayso list", path=copy)
        copy.write_bytes(b"nonsense" * 4096)
        refused("damaged", path=copy)
        copy.unlink()
        refused("no store", path=copy)
        with sqlite3.connect(copy) as db:
            db.execute("CREATE TABLE other (a)")
        db.close()
        refused("another program", path=copy)
        link = home.path / "link.db"
        link.symlink_to(moving.path)
        refused("cannot read", path=link)
        assert moving.path.read_bytes() == untouched


@test("a store that changed since an interrupted move is moved from the start; a log that was left is read too")
def changed() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    with Moving(CRASH_BIN, 2000) as moving:
        died = moving.migrate(env={"SAYSO_CRASH_POINT": "migrate_after_batch:4"})
        assert died.code == -signal.SIGKILL, died
        expect(moving.home.sayso("settings", "set", "theme", "light"), DONE)
        ask(moving.home, "In between?")
        moving.home.kill_hub()
        assert list(moving.home.data.glob("sayso.db-wal"))
        said_done = expect(moving.migrate("--json"), DONE).json
        assert said_done["earlier"] == 0, said_done
        same(moving.path, moving.url)
        assert sql(moving.url, "SELECT count(*) FROM asks WHERE title = 'In between?'") == [(1,)]


@test("two at once: one does it, the others are told or find it done")
def two_at_once() -> None:
    for _ in range(scaled(3)):
        with Moving(count=3000) as moving:
            copy = moving.home.path / "copy.db"
            copy.write_bytes(moving.path.read_bytes())
            results: list[Result] = []

            def move(*words: str) -> None:
                results.append(moving.home.sayso("migrate", *words, moving.url, timeout=60))
            side_by_side(move, move, lambda: move(f"sqlite:{copy}"))
            assert any(result.code == DONE for result in results), results
            assert all(result.code == DONE or "another command" in result.err or "somebody else" in result.err
                       for result in results), results
            same(moving.path, moving.url)


@test("progress: a bar with a rate on a terminal, in Chinese too; lines elsewhere; nothing with --json")
def progress() -> None:
    with Moving(count=30000) as moving:
        with Tty() as tty:
            process = tty.start(moving.home, "migrate", moving.url)
            tty.read_until(r"Copying \[#+-*\] +\d+ %  \d+/s", 60)
            process.wait(60)
        moving.renew()
        done = expect(moving.migrate(env={"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"}), DONE)
        assert "复制中：100 %" in done.err and "已迁移到" in done.out, done
        moving.renew()
        assert expect(moving.migrate("--json"), DONE).err == ""


@test("a backup of a store in PostgreSQL is not one of the file beside it")
def backups() -> None:
    with Moving() as moving:
        expect(moving.migrate(), DONE)
        env = {"SAYSO_STORE": moving.url}
        out = moving.home.path / "backup.jsonl"
        refused = moving.home.sayso("export", "--all", "--out", str(out), env=env)
        assert refused.code == FAILED and "pg_dump" in refused.err and not out.exists(), refused
        expect(moving.home.sayso("export", "--all", "--out", str(out)), DONE)
        before = moving.path.read_bytes()
        for words in (("import", str(out)), ("import", "--discard")):
            refused = moving.home.sayso(*words, env=env)
            assert refused.code == FAILED and "pg_restore" in refused.err, refused
        assert moving.path.read_bytes() == before
        expect(moving.home.sayso("settings", "set", "store", moving.url), DONE)
        assert "pg_dump" in moving.home.sayso("export", "--all", "--out", str(out) + "2").err


def findings(home: Home, **env: str) -> list[tuple[str, str, str]]:
    listed = json.loads(home.sayso("doctor", "--json", env=env).out)["findings"]
    return [(row["state"], row["found"], row["remedy"] or "") for row in listed if row["check"] == "store"]


@test("status and doctor say where the store is, whether it can be reached and what is wrong with it")
def doctor() -> None:
    with Moving() as moving, postgres.Server() as server:
        home, url = moving.home, server.new_database()
        (found,) = findings(home)
        assert found[0] == "ok" and str(moving.path) in found[1], found
        (found,) = findings(home, SAYSO_STORE=url)
        assert found[0] == "ok" and "empty" in found[1], found
        expect(home.sayso("migrate", url), DONE)
        (found,) = findings(home, SAYSO_STORE=url)
        assert found[0] == "ok" and "schema" in found[1] and "host=" not in found[1], found
        name = postgres.name_in(url)
        server.sql(f"ALTER DATABASE {name} SET synchronous_commit = off")
        found = findings(home, SAYSO_STORE=url)
        assert [row[0] for row in found] == ["ok", "warning"] and "synchronous_commit = on" in found[1][2], found
        server.sql(f"ALTER DATABASE {name} RESET synchronous_commit")
        server.sql("UPDATE sayso SET version = version + 7", name)
        (found,) = findings(home, SAYSO_STORE=url)
        assert found[0] == "fault" and "Install" in found[2], found
        server.sql("UPDATE sayso SET version = version - 7", name)
        server.sql("INSERT INTO meta VALUES ('migrating', 'x')", name)
        (found,) = findings(home, SAYSO_STORE=url)
        assert found[0] == "fault" and "sayso migrate --discard" in found[2], found
        server.sql("DELETE FROM meta WHERE name = 'migrating'", name)
        expect(home.sayso("settings", "set", "store", url), DONE)
        assert str(moving.path) in home.sayso("status").out  # the hub that took it still has the file
        expect(home.sayso("stop"), DONE)
        expect(home.sayso("list"), DONE)
        assert f"postgres://sayso@/{name}\n" in home.sayso("status").out
        expect(home.sayso("stop"), DONE)
        server.stop_fast()
        (found,) = findings(home)
        assert found[0] == "fault" and "Start PostgreSQL" in found[2], found
        secret = "h1dden"
        (found,) = findings(Home(env=LIMITS), SAYSO_STORE=f"postgres://sayso:{secret}@127.0.0.1:1/{name}")
        assert found[0] == "fault" and secret not in "".join(found), found
        said = home.sayso("doctor", env={"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"})
        assert "请启动 PostgreSQL" in said.out, said


run()
