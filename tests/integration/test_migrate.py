"""`sayso migrate`: a store with every kind of row moves from its file into PostgreSQL and is served from there, and what
people see of it on the way. What goes wrong is in test_migrate_faults.py.

Proves: R13.1 R13.2
"""
from __future__ import annotations

import json
import sqlite3
from typing import Any

import postgres
from api import LIMITS
from cli_stage import DONE, FAILED, WORDS, ask, end, expect
from conversation_stage import Hosting, asks, said
from harness import Home, Result, run, side_by_side, test, wait_until
from hubs_stage import MODERN, exchange
from migrate_stage import TABLES, Moving, rows, same, sql
from tty_stage import Tty

LEFT_OUT = {"counter", "words", "by_agent", "by_id", "by_principal", "unindexed", "search"}  # the row of counter is moved; the rest is rebuilt
COME_BACK = {"SAYSO_HOLD_LIMITS": '{"*":1}', "SAYSO_COME_BACK": "on"}


@test("everything arrives row by row, the file stays as it was, and a hub goes on with it")
def whole() -> None:
    with Moving() as moving:
        home, before = moving.home, moving.path.read_bytes()
        done = expect(moving.migrate(), DONE)
        assert "counts match" in done.out and "sayso settings set store" in done.out, done
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
            wait_until(lambda: connection.rows(used, postgres.name_in(moving.url)) == [(0,)], "nothing is connected to it")
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
        assert "Already" in expect(moving.migrate(), DONE).out
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


@test("tokens open, sealed states are read, rules hold and conversations go on where they moved to")
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


@test("through a pooler in transaction mode")
def pooled() -> None:
    with Moving(count=3000) as moving, postgres.Server() as server:
        name = postgres.name_in(server.new_database())
        with postgres.Pooler(server) as pooler:
            url = postgres.url_of(name, str(pooler.path), pooler.port)
            done = expect(moving.home.sayso("migrate", "--json", url, timeout=60), DONE).json
            assert server.sql("SELECT count(*) FROM client_facts", name) == [(done["tables"]["client_facts"],)]
            assert done["tables"]["client_facts"] >= 3000, done


@test("a home behind a symbolic link is read too: by a move, a backup and the doctor")
def linked() -> None:
    with Moving() as moving:
        home = moving.home
        (home.path / ".local").rename(home.path / "elsewhere")
        (home.path / ".local").symlink_to(home.path / "elsewhere")
        assert all(state == "ok" for state, _, _ in findings(home)), findings(home)
        expect(home.sayso("export", "--all"), DONE)
        expect(moving.migrate(), DONE)
        same(moving.path, moving.url)


@test("progress: a bar with a rate on a terminal, in Chinese too; lines elsewhere; nothing with --json")
def progress() -> None:
    with Moving(count=30000) as moving:
        with Tty() as tty:
            process = tty.start(moving.home, "migrate", moving.url, stderr=tty.slave)
            tty.read_until(r"Copying \[#+-*\] +\d+ %  \d+/s", 60)
            process.wait(60)
        moving.renew()
        done = expect(moving.migrate(env={"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"}), DONE)
        assert "复制中：100%" in done.err and "已迁移到" in done.out, done
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


def is_away(home: Home) -> None:
    (found,) = findings(home)
    assert found[0] == "fault" and "Start PostgreSQL" in found[2], found


def is_away_in_chinese(home: Home) -> None:
    said = home.sayso("doctor", env={"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"})
    assert "请启动 PostgreSQL" in said.out, said


def hides_password() -> None:
    secret = "h1dden"
    with Home(env=LIMITS) as home:
        (found,) = findings(home, SAYSO_STORE=f"postgres://sayso:{secret}@127.0.0.1:1/nowhere")
        assert found[0] == "fault" and secret not in "".join(found), found


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
        side_by_side(lambda: is_away(home), hides_password, lambda: is_away_in_chinese(home))


run()
