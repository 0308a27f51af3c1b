"""`sayso migrate` where something goes wrong: death of the program and of the server at every point, targets and sources
that are not fit, a database that meddles, two moves at the same time.

Proves: R13.2 R5.2
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

import postgres
from api import LIMITS
from cli_stage import DONE, FAILED, USAGE, WORDS, ask, expect
from harness import CRASH_BIN, ROOT, Home, Result, Skip, clock_rate, counted, run, scaled, side_by_side, test, wait_until
from migrate_stage import Moving, rows, same, sql


def points() -> list[str]:
    return sorted(set(re.findall(r"CRASH_POINT\((\w+)\)", (ROOT / "src/store/transfer/migrate.c").read_text())))


@test("kill -9 at every point: no hub opens what is not whole, the next one finishes it, nothing is lost or doubled")
def crashes() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    hits = 0
    with Moving(CRASH_BIN, 4000) as moving:
        for point in points() * scaled(1, full=2):
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
        for _ in range(scaled(3, full=8)):
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
    middle = 0
    with Moving(count=60000) as moving, postgres.Server() as server:
        url = server.new_database()
        for _ in range(scaled(2, full=3)):
            process = moving.home.spawn("migrate", url, "--json", stderr=subprocess.PIPE)

            def copied() -> int:
                return server.sql("SELECT count(*) FROM client_facts", postgres.name_in(url))[0][0]
            wait_until(lambda: server.sql("SELECT to_regclass('client_facts') IS NOT NULL", postgres.name_in(url)) == [(True,)]
                       and copied() > 1000, "it copies")
            server.stop_immediate()
            middle += process.poll() is None
            time.sleep(random.uniform(0, 1))
            server.start()
            out, err = process.communicate(timeout=120)
            moving.home.spawned.remove(process)
            assert process.returncode == DONE, (out, err)
            assert copied() == 60000 and json.loads(out)["tables"]["client_facts"] == 60000, out
            url = server.new_database()
    assert middle, "it is never quicker than every crash"
    counted(f"{middle} crashes in the middle")


@test("a server that can't be reached or refuses is told of with a remedy, and no password is ever printed")
def server_gone() -> None:
    with Moving() as moving, postgres.Server() as server:
        url = server.tcp_url(postgres.name_in(server.new_database()))
        secret = server.password
        broken = url.replace(str(server.port), "1")
        refused = moving.home.sayso("migrate", broken, program=CRASH_BIN, env=clock_rate(10))  # it looks for ten seconds
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
                ("DROP TABLE sayso", "other tables"),
                ("UPDATE meta SET value = 'x y asks 1' WHERE name = 'migrated';"
                 " INSERT INTO meta VALUES ('migrating', 'x y asks 1')", "another source"),
                ("UPDATE meta SET value = 'x' WHERE name = 'migrated';"
                 " INSERT INTO meta VALUES ('migrating', ''' OR true; --')", "another source")):
            moving.renew()
            expect(moving.migrate(), DONE)
            sql(moving.url, statement)
            refused = moving.migrate()
            assert refused.code == FAILED and word in refused.err, (statement, refused)
        expect(moving.home.sayso("migrate", "--discard", moving.url), DONE, "Discarded")
        expect(moving.home.sayso("migrate", "--discard", moving.url), DONE, "Nothing was changed")
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
        refused("event chain", "event 3", path=copy)
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
        refused("no database", path=copy)
        with sqlite3.connect(copy) as db:
            db.execute("CREATE TABLE other (a)")
        db.close()
        refused("another program", path=copy)
        link = home.path / "link.db"
        link.symlink_to(moving.path)
        refused("can't read", path=link)
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


def plant(url: str, table: str, act: str) -> None:
    """Something in the database meddles with what is written."""
    sql(url, f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN {act} END $f$;"
             f" CREATE TRIGGER meddling BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION meddle()")


@test("what the database drops, changes or refuses on the way is noticed; a full disk is told, and it goes on behind it")
def meddled() -> None:
    with Moving() as moving:
        for table, act, words in (
                ("asks", "INSERT INTO drafts VALUES ('x', 'y', '{}', 1, 1) ON CONFLICT DO NOTHING; RETURN NEW;", "(drafts)"),
                ("asks", "IF NEW.title = 'Nobody' THEN RETURN NULL; END IF; RETURN NEW;", "(asks)"),
                ("events", "IF NEW.seq = 7 THEN NEW.body := NEW.body || ' '; END IF; RETURN NEW;", "(events)"),
                ("events", "NEW.prev_hash := sha256(NEW.prev_hash); RETURN NEW;", "(events)"),
                ("settings", "RAISE EXCEPTION 'the words %', NEW.value;", "settings (SQLSTATE P0001)"),
                ("settings", "RAISE EXCEPTION 'no room' USING ERRCODE = '53100';", "make room")):
            moving.renew()
            with Home(env={**LIMITS, "SAYSO_STORE": moving.url}) as other:
                expect(other.sayso("list"), DONE)  # which makes the tables
                expect(other.sayso("stop"), DONE)
            plant(moving.url, table, act)
            result = moving.migrate()
            assert result.code == FAILED and words in result.err and "--discard" in result.err, (words, result)
            assert "the words" not in result.err, result
            assert moving.home.sayso("list", env={"SAYSO_STORE": moving.url}).code == FAILED
        sql(moving.url, "DROP TRIGGER meddling ON settings; DROP FUNCTION meddle")
        assert expect(moving.migrate("--json"), DONE).json["earlier"] > 0
        same(moving.path, moving.url)


@test("several moves at the same time: one does it, the others are told so or find it done")
def two_at_once() -> None:
    for _ in range(scaled(1, full=3)):
        with Moving(count=3000) as moving:
            copy = moving.home.path / "copy.db"
            copy.write_bytes(moving.path.read_bytes())
            results: list[Result] = []

            def move(*words: str) -> None:
                results.append(moving.home.sayso("migrate", *words, moving.url, timeout=60))
            side_by_side(move, move, lambda: move(f"sqlite:{copy}"))
            assert any(result.code == DONE for result in results), results
            assert all(result.code == DONE or "another command" in result.err or "another migration" in result.err
                       for result in results), results
            same(moving.path, moving.url)


@test("a hub that runs on the empty database can't write during the move, and goes on with what was moved")
def running() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    with Moving(CRASH_BIN) as moving, Home(env={**LIMITS, "SAYSO_STORE": moving.url}) as other:
        expect(other.sayso("list"), DONE)
        assert moving.migrate(env={"SAYSO_CRASH_POINT": "migrate_after_batch:2"}).code == -signal.SIGKILL
        refused = other.sayso("ask", "Now?", *WORDS, "--wait", "0")
        assert refused.code == FAILED and refused.err, refused
        expect(moving.migrate(), DONE)
        same(moving.path, moving.url)
        wait_until(lambda: rows(other) == moving.seen, "it sees them")
        wait_until(lambda: other.sayso("answer", moving.open[1], "--select", "eu").code == DONE, "it has them")
        ask(other, "Now?")
        bad = sql(moving.url, "SELECT count(*) FROM events e JOIN events n ON n.seq = e.seq + 1 WHERE n.prev_hash <>"
                              " sayso_hash(e.prev_hash, e.seq::text, e.ask, e.kind::text, COALESCE(e.actor, ''), e.body)")
        assert bad == [(0,)], bad


run()
