"""The stage of the tests on PostgreSQL does what it says: servers that die and come back, a standby, a pooler, and a
proxy whose every mischief is seen by a plain client of PostgreSQL's own library."""
from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import Iterator

import libpq
import postgres
from chaos_proxy import CUTS, DOUBTS, Proxy
from harness import HANG_S, note, run, test, wait_until

SEED = int(os.environ.get("SAYSO_SEED", "1"))
COUNT = "SELECT count(*) FROM kept"


@contextlib.contextmanager
def table(server: postgres.Server) -> Iterator[str]:
    """The URL of a database with one table."""
    url = server.new_database()
    with libpq.Connection(url) as connection:
        connection.run("CREATE TABLE kept (number bigint)")
    yield url


def count(url: str) -> int:
    with libpq.Connection(url) as connection:
        return connection.run(COUNT)[0][0]


@test("a server dies in three ways and comes back with all that was committed")
def comes_back() -> None:
    with postgres.Server() as server, table(server) as url:
        for number, end in enumerate((server.stop_fast, server.stop_immediate, server.kill), 1):
            with libpq.Connection(url) as connection:
                connection.rows("INSERT INTO kept VALUES ($1)", number)
                end()
                try:
                    connection.run(COUNT)
                    raise AssertionError(f"{end.__name__}: still there")
                except libpq.NoServer:
                    pass
            server.start()
            assert count(url) == number
        path = server.path
    assert not path.exists()


@test("a paused server says nothing until it goes on")
def paused() -> None:
    with postgres.Server() as server, table(server) as url, libpq.Connection(url) as connection:
        server.pause()
        answered = threading.Event()

        def ask() -> None:
            connection.run(COUNT)
            answered.set()
        thread = threading.Thread(target=ask)
        thread.start()
        assert not answered.wait(0.5)
        server.proceed()
        assert answered.wait(HANG_S)
        thread.join()


@test("what was committed is on the synchronous standby when it takes over")
def standby() -> None:
    with postgres.Server() as server, table(server) as url, server.standby() as second:
        with libpq.Connection(url) as connection:
            connection.run("INSERT INTO kept VALUES (1)")
        server.stop_immediate()
        second.promote()
        name = postgres.name_in(url)
        with libpq.Connection(second.url_for(name)) as connection:
            connection.run("INSERT INTO kept VALUES (2)")
        assert count(second.url_for(name)) == 2


@test("the port wants a password; the socket's directory is for its owner alone")
def closed_to_others() -> None:
    with postgres.Server() as server:
        assert server.path.stat().st_mode & 0o777 == 0o700
        for url in (postgres.url_of("postgres", "127.0.0.1", server.port, "sayso", "guessed"),
                    postgres.url_of("postgres", "127.0.0.1", server.port, "postgres")):
            try:
                libpq.Connection(url).close()
            except libpq.NoServer:
                continue
            raise AssertionError(f"came in by {url}")
        libpq.Connection(server.tcp_url("postgres")).close()


@test("behind pgbouncer in transaction mode a session is not one's own")
def pooled() -> None:
    with postgres.Server() as server, table(server) as url, postgres.Pooler(server, size=2) as pooler:
        with (libpq.Connection(pooler.url_for(postgres.name_in(url))) as one,
              libpq.Connection(pooler.url_for(postgres.name_in(url))) as two):
            one.run("BEGIN")
            mine = one.run("SELECT pg_backend_pid()")
            one.run("COMMIT")
            two.run("BEGIN")
            assert two.run("SELECT pg_backend_pid()") == mine


@contextlib.contextmanager
def proxied() -> Iterator[tuple[Proxy, str, str]]:
    """A proxy, the URL through it, and the one around it."""
    note(f"seed {SEED} (SAYSO_SEED)")
    with postgres.Server() as server, table(server) as url, Proxy(server.port, SEED) as proxy:
        yield proxy, server.tcp_url(postgres.name_in(url), proxy.port), url


def is_lost(connection: libpq.Connection, text: str = COUNT) -> bool:
    try:
        connection.run(text)
    except libpq.NoServer:
        return True
    return False


@test("the proxy cuts: by reset, by end, and within a message")
def cuts() -> None:
    with proxied() as (proxy, url, _):
        for how in CUTS * 3:
            with libpq.Connection(url) as connection:
                assert connection.run(COUNT) == [(0,)]
                assert proxy.cut(how) == 1
                assert is_lost(connection), how
        assert proxy.counts["cut middle"] == 3, proxy.counts


@test("the proxy falls silent, and drips")
def silence() -> None:
    with proxied() as (proxy, url, _), libpq.Connection(url) as connection:
        proxy.stall()
        began = time.monotonic()
        threading.Timer(0.7, proxy.flow).start()
        connection.run(COUNT)
        assert time.monotonic() - began >= 0.7
        proxy.trickle(100)  # 30 bytes there, more than 60 back
        began = time.monotonic()
        connection.run(COUNT)
        assert time.monotonic() - began >= 0.7
        proxy.flow()

        def is_quick() -> bool:
            began = time.monotonic()
            connection.run(COUNT)
            return time.monotonic() - began < 0.7

        wait_until(is_quick, "it flows again")


@test("the proxy loses, doubles and delays notifications, and nothing else")
def notifications() -> None:
    with proxied() as (proxy, url, around), libpq.Connection(url) as listener, libpq.Connection(around) as speaker:
        listener.run("LISTEN news")

        def hear(mode: str) -> None:
            """Until the proxy has met it. What it passes on is then before the reply to a query."""
            proxy.notifications = mode
            speaker.run(f"NOTIFY news, '{mode}'")
            if mode != "pass":
                wait_until(lambda: proxy.counts[f"notification {mode}"] == 1, f"the proxy has met {mode}")
            assert listener.run("SELECT 1") == [(1,)]
        hear("pass")
        assert listener.notifications(0) == ["news:pass"]
        hear("drop")
        hear("double")
        assert listener.notifications(0) == ["news:double"] * 2  # and nothing of what was dropped
        hear("delay")
        hear("pass")
        heard: list[str] = []
        while len(heard) < 2:
            heard += listener.notifications(HANG_S)
        assert sorted(heard) == ["news:delay", "news:pass"], heard


TRANSACTIONS = {
    "one message": lambda connection: connection.run("BEGIN; INSERT INTO kept VALUES (1); COMMIT"),
    "one by one": lambda connection: [connection.run(text) for text in ("BEGIN", "INSERT INTO kept VALUES (1)", "COMMIT")],
    "prepared": lambda connection: [connection.rows(text) for text in ("BEGIN", "INSERT INTO kept VALUES (1)", "COMMIT")],
}


def expect_doubt(proxy: Proxy, url: str, around: str, how: str, kind: str) -> None:
    """The client is never told; what became of it is what this kind of doubt promises."""
    before = proxy.counts[f"doubt {how}"]
    with libpq.Connection(url) as connection:
        proxy.doubt(how)
        try:
            TRANSACTIONS[kind](connection)
        except libpq.NoServer:
            pass
        else:
            raise AssertionError(f"{how}, {kind}: the client knows")
    assert proxy.counts[f"doubt {how}"] == before + 1, proxy.counts
    assert count(around) == (1 if how in ("reply", "half_reply") else 0), (how, kind)
    if how == "late":
        wait_until(lambda: count(around) == 1, "the commit that comes late")
    if how == "half_open":
        assert locked(around), kind
        wait_until(lambda: not locked(around), "the server sees that its client is gone")
    with libpq.Connection(around) as connection:
        connection.run("DELETE FROM kept")


def locked(around: str) -> bool:
    with libpq.Connection(around) as connection:
        return bool(connection.run("SELECT 1 FROM pg_locks WHERE relation = 'kept'::regclass"))


@test("the proxy brings every kind of doubt over a commit")
def doubts() -> None:
    cases = [(how, kind) for how in DOUBTS for kind in TRANSACTIONS]
    cases.remove(("late", "one by one"))  # these wait for an answer to BEGIN, which never comes
    cases.remove(("late", "prepared"))
    cases.remove(("half_open", "one message"))  # it has not begun when it is cut off
    with proxied() as (proxy, url, around):
        proxy.late_s = 1.0
        for how, kind in cases:
            expect_doubt(proxy, url, around, how, kind)


run()
