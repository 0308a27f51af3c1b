#!/usr/bin/env python3
"""Real PostgreSQL servers for tests: started in a directory of their own in a moment, killed, stopped, doubled.

  with Server() as server:
      url = server.new_database()          postgres://sayso@/t1?host=/tmp/pg…
      server.restart_immediate()           as a crash: nothing is written that was not
      with server.standby() as other: …    a synchronous one; other.promote()
      with Pooler(server) as pooler: …     pgbouncer in transaction mode

`shared()` is one server for everybody who only wants databases: that of SAYSO_TEST_POSTGRES, which tools/run_tests
starts, or one of this process. PostgreSQL refuses to run as root; then its own user runs it. Who else is on this machine
can't come in: the socket's directory is private, and the port, on loopback only, wants a password made for this server.
Imports nothing of the harness, because tools/run_tests uses it too. As a program it runs a command with such a server:

  tests/integration/postgres.py build/tests/unit/test_store_postgres
"""
from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import itertools
import os
import pathlib
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable
from urllib.parse import quote

import libpq

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = pathlib.Path(os.environ.get("SAYSO_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"))
ENVIRONMENT = "SAYSO_TEST_POSTGRES"
CLEANED = "42501"  # insufficient_privilege: the one to be thrown out is the server's autovacuum
ROLE, SUPERUSER = "sayso", "postgres"
START_S, STOP_S = 60, 60
MEMORY = "/dev/shm"
MEMORY_BYTES = 4 << 30
# Quick and small; a crash of the server alone loses nothing by fsync being off, only one of the machine would. What is new has no
# statistics, so short queries look costly and would be compiled.
SETTINGS = {
    "fsync": "off", "full_page_writes": "off", "jit": "off", "shared_buffers": "32MB", "max_connections": "200",
    "wal_level": "replica", "max_wal_senders": "8", "max_wal_size": "256MB", "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "warning", "logging_collector": "off", "lc_messages": "C", "timezone": "UTC",
}
DURABLE = {"fsync": "on", "full_page_writes": "on"}
HBA = """local all all trust
local replication all trust
host all {role} 127.0.0.1/32 scram-sha-256
"""
_numbers = itertools.count(1)


class Missing(Exception):
    """PostgreSQL's programs are not here; the text says how to get them."""


def wait_for(is_so: Callable[[], Any], what: str, seconds: float) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := is_so()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.005)
    return value


def program(name: str) -> str:
    path = PROGRAMS / name
    if not path.exists():
        raise Missing(f"{path} is not there: run tools/install_packages test")
    return str(path)


@functools.cache
def owner() -> tuple[int, int]:
    """Who runs the servers: us, or for root a user who owns nothing else."""
    if os.getuid() != 0:
        return os.getuid(), os.getgid()
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise Missing("no user `postgres` or `nobody` to run PostgreSQL as; it refuses to run as root")


def as_owner(*command: str) -> list[str]:
    uid, gid = owner()
    drop = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"] if os.getuid() == 0 else []
    return [*drop, *command]


def own(path: pathlib.Path) -> None:
    """Gives a tree to the servers' user; only they and root may look into it."""
    uid, gid = owner()
    if uid != os.getuid():
        for folder, folders, files in os.walk(path):
            for name in ("", *folders, *files):
                os.lchown(os.path.join(folder, name), uid, gid)
    path.chmod(0o700)


def is_memory_roomy() -> bool:
    return os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES


def new_directory(prefix: str, on_disk: bool = False) -> pathlib.Path:
    """Short, because a socket lives in it; in memory where there is enough of it, because a database is a thousand
    files."""
    path = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if is_memory_roomy() and not on_disk else "/tmp"))
    own(path)
    return path


def run_program(*command: str, **settings: Any) -> None:
    done = subprocess.run(as_owner(*command), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=plain_environment(), cwd="/", **settings)
    assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"


def plain_environment() -> dict[str, str]:
    """Without PGHOST and its kind, and without a language."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}


def template(segment_mb: int) -> pathlib.Path:
    """A fresh cluster to copy from; made once a build directory, since initdb takes a second. Small segments of its log are
    quick to make, but a server that is measured would make them all the time."""
    version = subprocess.run([program("postgres"), "--version"], capture_output=True, text=True).stdout.split()[2]
    kept = ROOT / "build" / f"postgres-{version}-{owner()[0]}{f'-{segment_mb}' if segment_mb > 1 else ''}"
    kept.parent.mkdir(exist_ok=True)
    with open(f"{kept}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = new_directory("pgi") / "data"
            run_program(program("initdb"), "-D", str(made), "-U", SUPERUSER, "--locale=C.UTF-8", "--encoding=UTF8",
                        "--auth=trust", "--no-sync", f"--wal-segsize={segment_mb}", "--no-instructions")
            shutil.copytree(made, f"{kept}.new", symlinks=True)
            os.rename(f"{kept}.new", kept)
            shutil.rmtree(made.parent)
    return kept


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def url_of(database: str, host: str, port: int, user: str = ROLE, password: str = "") -> str:
    """A socket's directory goes behind the question mark, an address before it."""
    who = user + (f":{password}" if password else "")
    if host.startswith("/"):
        return f"postgres://{who}@/{database}?host={quote(host, safe='/')}&port={port}"
    return f"postgres://{who}@{host}:{port}/{database}"


class Databases:
    """What makes databases: a server we started, or one we were told of."""

    admin_url: str  # of a role that may create databases
    url_for: Callable[[str], str]

    def admin(self, database: str = "") -> libpq.Connection:
        return libpq.Connection(self.url_for(database) if database else self.admin_url)

    def new_database(self, name: str = "") -> str:
        """The URL of an empty one, the role's own."""
        name = name or f"t{os.getpid()}_{next(_numbers)}_{secrets.token_hex(3)}"
        with self.admin() as connection:
            connection.run(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
        return self.url_for(name)

    def drop_database(self, url: str) -> None:
        """Open connections to it are ended, except the server's own autovacuum, which soon leaves by itself."""
        deadline = time.monotonic() + 60
        with self.admin() as connection:
            while True:
                try:
                    return connection.run(f"DROP DATABASE IF EXISTS {name_in(url)} WITH (FORCE)")
                except libpq.Refused as refused:
                    if refused.state != CLEANED or time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)


def name_in(url: str) -> str:
    return url.partition("://")[2].partition("/")[2].partition("?")[0]


class Told(Databases):
    """The server that SAYSO_TEST_POSTGRES names."""

    def __init__(self, url: str):
        self.admin_url = url

    def url_for(self, database: str) -> str:
        head, _, tail = self.admin_url.partition(f"/{name_in(self.admin_url)}")
        return f"{head}/{database}{tail}"


class Server(Databases, contextlib.AbstractContextManager):
    """One server. `settings` go over SETTINGS; its port and its directory stay the same over restarts. A durable one is
    on a disk and syncs."""

    def __init__(self, settings: dict[str, str] | None = None, directory: pathlib.Path | None = None,
                 password: str = "", is_durable: bool = False):
        self.settings = {**SETTINGS, **(DURABLE if is_durable else {}), **(settings or {})}
        self.is_durable = is_durable
        self.path = directory or new_directory("pg", is_durable)
        self.data = self.path / "data"
        self.log = self.path / "log"
        self.process: subprocess.Popen | None = None
        self.password = password or secrets.token_hex(16)
        self.stopped: list[int] = []
        try:
            if not directory:
                self._fill()
            self._start_on_a_free_port()
            if not directory:
                self._make_role()
        except BaseException:
            self.stop()
            raise
        atexit.register(self.stop)

    def _fill(self) -> None:
        subprocess.run(["cp", "-a", "--reflink=auto", str(template(16 if self.is_durable else 1)), str(self.data)], check=True)
        (self.data / "pg_hba.conf").write_text(HBA.format(role=ROLE))
        own(self.path)
        self.data.chmod(0o700)

    def _make_role(self) -> None:
        with libpq.Connection(self.super_url) as connection:
            connection.run(f"CREATE ROLE {ROLE} LOGIN CREATEDB PASSWORD '{self.password}'")

    def _start_on_a_free_port(self) -> None:
        """Free a moment ago is not free for sure."""
        for attempt in range(5):
            self.port = free_port()
            try:
                return self.start()
            except AssertionError as problem:
                if attempt == 4 or "could not bind" not in str(problem):
                    raise

    @property
    def super_url(self) -> str:
        return url_of(SUPERUSER, str(self.path), self.port, SUPERUSER)

    @property
    def admin_url(self) -> str:
        return url_of(SUPERUSER, str(self.path), self.port)

    def url_for(self, database: str) -> str:
        """Through the socket: it needs no password, and other users can't reach it."""
        return url_of(database, str(self.path), self.port)

    def tcp_url(self, database: str, port: int = 0) -> str:
        """Through loopback, or through a proxy's port there."""
        return url_of(database, "127.0.0.1", port or self.port, ROLE, self.password)

    def start(self) -> None:
        words = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        command = as_owner(program("postgres"), "-D", str(self.data), "-k", str(self.path), "-p", str(self.port),
                           "-h", "127.0.0.1", *words)
        began = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                            env=plain_environment())

        def is_up() -> bool:
            if self.process.poll() is not None:
                said = self.log.read_bytes()[began:].decode(errors="replace")
                raise AssertionError(f"PostgreSQL did not start: exit code {self.process.returncode}\n{said}")
            return libpq.ping(self.super_url)
        wait_for(is_up, f"PostgreSQL takes connections, see {self.log}", START_S)

    def signal(self, number: int) -> None:
        """To the first process of the server."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def end(self, number: int) -> None:
        """Ends it by a signal and waits until no process of it is left: another start would meet them."""
        if not self.is_running():
            return
        family = self.family()
        self.proceed()
        self.signal(number)
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()
        wait_for(lambda: not any(is_alive(pid) for pid in family), "the server's processes are gone", STOP_S)
        self.process = None

    def stop_fast(self) -> None:
        """With a last checkpoint; connections are cut off."""
        self.end(signal.SIGINT)

    def stop_immediate(self) -> None:
        """As after a crash: the next start recovers from the log."""
        self.end(signal.SIGQUIT)

    def kill(self) -> None:
        """The first process dies without a word; the others notice and go."""
        self.end(signal.SIGKILL)

    def restart_immediate(self, away_s: float = 0) -> None:
        self.stop_immediate()
        time.sleep(away_s)
        self.start()

    def family(self) -> list[int]:
        """The first process and its children."""
        first = self.process.pid
        found = [first]
        for task in pathlib.Path(f"/proc/{first}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
        return found

    def pause(self) -> None:
        """All of it stands still, as behind a frozen disk; connections stay open. The first process is stopped first, so that
        it starts no others."""
        self.signal(signal.SIGSTOP)
        self.stopped = self.family()
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def proceed(self) -> None:
        for pid in reversed(self.stopped):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped = []

    def sql(self, text: str, database: str = SUPERUSER) -> list[tuple]:
        """As superuser."""
        with libpq.Connection(url_of(database, str(self.path), self.port, SUPERUSER)) as connection:
            return connection.run(text)

    def set(self, name: str, value: str) -> None:
        """A setting that applies immediately."""
        self.sql(f"ALTER SYSTEM SET {name} = '{value}'")
        self.sql("SELECT pg_reload_conf()")

    def standby(self, name: str = "second", is_synchronous: bool = True) -> Server:
        """A copy that follows; a commit waits for a synchronous one. The password is the same."""
        path = new_directory("pg")
        run_program(program("pg_basebackup"), "-D", str(path / "data"), "-h", str(self.path), "-p", str(self.port),
                    "-U", SUPERUSER, "-X", "stream", "-c", "fast", "--no-sync")
        follow = f"host={self.path} port={self.port} user={SUPERUSER} application_name={name}"
        (path / "data" / "standby.signal").touch()
        with open(path / "data" / "postgresql.auto.conf", "a") as settings:  # the first one's standby is not its own
            settings.write("synchronous_standby_names = ''\n")
        own(path)
        other = Server({**self.settings, "primary_conninfo": follow, "hot_standby": "on"}, path, self.password)
        try:
            if is_synchronous:
                self.set("synchronous_standby_names", name)
            wanted = "sync" if is_synchronous else "async"
            wait_for(lambda: self.sql("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"
                                      f" AND application_name = '{name}' AND sync_state = '{wanted}'"),
                     f"a standby that is {wanted}", START_S)
        except BaseException:
            other.stop()
            raise
        return other

    def promote(self) -> None:
        """A standby becomes the one that is written to."""
        self.sql("SELECT pg_promote()")
        wait_for(lambda: self.sql("SELECT pg_is_in_recovery()") == [(False,)], "the standby is promoted", START_S)

    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self.end(signal.SIGQUIT)
        shutil.rmtree(self.path, ignore_errors=True)

    def __exit__(self, *_: Any) -> None:
        self.stop()


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


class Pooler(contextlib.AbstractContextManager):
    """pgbouncer before a server. In transaction mode neither LISTEN nor what a session remembers can be relied on."""

    def __init__(self, server: Server, mode: str = "transaction", size: int = 4, extra: str = ""):
        found = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not found:
            raise Missing("pgbouncer is not there: run tools/install_packages test")
        self.path, self.port = new_directory("pb"), 6432  # a name only: it listens on a socket
        settings = self.path / "pgbouncer.ini"
        (self.path / "users").write_text(f'"{ROLE}" ""\n"{SUPERUSER}" ""\n')
        settings.write_text(
            f"[databases]\n* = host={server.path} port={server.port}\n[pgbouncer]\npool_mode = {mode}\n"
            f"listen_addr =\nlisten_port = {self.port}\nunix_socket_dir = {self.path}\nauth_type = trust\n"
            f"auth_file = {self.path}/users\ndefault_pool_size = {size}\nadmin_users = {SUPERUSER}\n{extra}\n")
        own(self.path)
        self.log = self.path / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(as_owner(found, str(settings)), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd="/", env=plain_environment())
        try:
            wait_for(self._is_up, f"pgbouncer takes connections, see {self.log}", START_S)
        except BaseException:
            self.stop()
            raise
        atexit.register(self.stop)

    def _is_up(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"pgbouncer did not start: {self.log.read_text(errors='replace')}")
        return libpq.ping(url_of("pgbouncer", str(self.path), self.port, SUPERUSER))

    def url_for(self, database: str) -> str:
        return url_of(database, str(self.path), self.port)

    def stop(self) -> None:
        atexit.unregister(self.stop)
        self.process.terminate()
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.path, ignore_errors=True)

    def __exit__(self, *_: Any) -> None:
        self.stop()


_shared_lock = threading.Lock()
_shared: list[Databases] = []


def shared() -> Databases:
    """For who wants databases and nothing else. A server of ours ends with this process."""
    with _shared_lock:
        if not _shared:
            told = os.environ.get(ENVIRONMENT)
            _shared.append(Told(told) if told else Server())
        return _shared[0]


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    with Server() as server:
        return subprocess.call(sys.argv[1:], env={**os.environ, ENVIRONMENT: server.admin_url})


if __name__ == "__main__":
    sys.exit(main())
