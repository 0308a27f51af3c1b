"""Drives the real program from outside, as agents and people do, and prints TAP.

A test file imports this, marks functions with @test("what holds", "R5.2 P1") and ends with run().
A test that takes an argument gets a fresh Home. SAYSO_BIN is the program, SAYSO_CRASH_BIN the one
with crash points and sanitizers, SAYSO_SCALE multiplies the rounds of tests that count. With SAYSO_TEST_STORE=postgres
every Home has a database of its own instead of a file.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import inspect
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, Callable, NamedTuple

import libpq
import postgres

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = os.environ.get("SAYSO_BIN", str(ROOT / "build" / "sayso"))
CRASH_BIN = os.environ.get("SAYSO_CRASH_BIN", str(ROOT / "build-asan" / "sayso"))
SCALE = float(os.environ.get("SAYSO_SCALE", "1"))
ON_POSTGRES = os.environ.get("SAYSO_TEST_STORE") == "postgres"
SLACK = float(os.environ.get("SAYSO_SLACK", "1"))  # for bounds of time, where a sanitizer makes slow
HANG_S = 60 * SLACK  # what is waited for comes long before, also on a busy machine: this only catches hangs
UNLIMITED = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}  # for tests that ask more than an agent may
KEPT_ENVIRONMENT = ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")  # no language, no terminal

_tests: list[tuple[str, Callable]] = []
_homes: list[Home] = []
_children: list[subprocess.Popen] = []  # those that their starter waits for
_children_lock = threading.RLock()


class _Child(subprocess.Popen):
    """Known before it can end, however it was started: its exit code is its starter's, not the reaper's."""

    def __init__(self, *args: Any, **settings: Any):
        with _children_lock:
            super().__init__(*args, **settings)
            _children.append(self)


subprocess.Popen = _Child  # run() and check_output() start their children with it too


class Skip(Exception):
    """Raised by a test that cannot be run here; the text says why."""


class WireError(Exception):
    """The hub answered a call with an error."""
    def __init__(self, error: dict[str, Any]):
        super().__init__(json.dumps(error))
        self.code, self.message, self.data = (error.get(key) for key in ("code", "message", "data"))


class Result(NamedTuple):
    """How one run of the program ended."""
    code: int
    out: str
    err: str
    @property
    def json(self) -> Any:
        return json.loads(self.out)


def needs_file(*_: Any, **__: Any) -> None:
    """Of tests that look into SQLite's file, or break it."""
    if ON_POSTGRES:
        raise Skip("is about the file of SQLite")


if ON_POSTGRES:
    sqlite3.connect = needs_file  # a test that opens the file is skipped


def points_here(*points: str) -> list[str]:
    """Those crash points that a hub can come to: each store has its own."""
    others = "store_" if ON_POSTGRES else "postgres_"
    return [point for point in points if not point.startswith(others)]


def scaled(count: int, full: int | None = None) -> int:
    """Rounds of a test that counts: `count` of them in `make test`, many times as many in `make soak`, where `full` is what is
    multiplied if that is more."""
    full = count if full is None else full
    return max(1, int(full * SCALE if SCALE > 1 else min(count, full * SCALE)))


def note(text: str) -> None:
    """A line in the log beside the verdicts."""
    print(f"# {text}", flush=True)


def counted(text: str) -> None:
    """How much a test did; `make soak` writes it down."""
    note(f"counted: {text}")


def wait_until(is_so: Callable[[], Any], what: str, timeout: float = HANG_S) -> Any:
    """Polls, because most of what is waited for happens in another process. Returns the value."""
    deadline = time.monotonic() + timeout
    while not (value := is_so()):
        assert time.monotonic() < deadline, f"waited {timeout} s in vain: {what}"
        time.sleep(0.01)
    return value


def clock_rate(rate: int) -> dict[str, str]:
    """The environment in which CRASH_BIN's time goes so many times as fast from now on: for hubs that a test starts itself, several
    of which agree on what time it is. Their clients keep true time, with all their patience, and so does a database.
    Where a sanitizer makes slow, the hub's patience with them would be too short: there it goes less fast."""
    return {} if ON_POSTGRES else {"SAYSO_CLOCK_RATE": f"{max(1, int(rate / SLACK))}@{time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000}"}


def wait_for_count(count: Callable[[], int], wanted: int, what: str) -> None:
    """However long all of them take together: each must come soon after the one before."""
    while (came := count()) < wanted:
        wait_until(lambda: count() > came, f"{what} ({came} of {wanted})")


def side_by_side(*acts: Callable[[], None]) -> None:
    """Real waits at the same time; every failure is told, the first one in full."""
    with concurrent.futures.ThreadPoolExecutor(len(acts)) as pool:
        failures = [future.exception() for future in [pool.submit(act) for act in acts]]
    failures = [failure for failure in failures if failure]
    for failure in failures[1:]:
        note(f"also: {failure}")
    if failures:
        raise failures[0]


def _read(path: pathlib.Path) -> str:
    """"" where there is no such file; tests also plant fifos and directories there."""
    return path.read_text(errors="replace") if path.is_file() else ""


def _start_of(pid: int) -> int | None:
    """With the pid this names one process for ever; None once it is dead. While other threads of it are
    left its files are still open, whatever became of the first one."""
    with contextlib.suppress(OSError):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[19]) if fields[0] not in "ZX" or int(fields[17]) > 1 else None


def _kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(pid, number)


def _processes_of(home: pathlib.Path) -> set[int]:
    """What still runs with this home may write into it: a hub, or a shell that keeps its history when its terminal goes."""
    found, wanted = set(), b"\0HOME=%b\0" % os.fsencode(home)
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb", 0) as environ:  # gone, or another user's
            if wanted in b"\0" + environ.read():
                found.add(int(name))
    return found


def _adopted() -> set[int]:
    """Processes that lost their parent and came to us (see run)."""
    ours, found = {process.pid for process in _children if process.returncode is None}, set()
    for task in pathlib.Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            found |= set(map(int, task.read_text().split())) - ours
    return found


def _reap_for_ever() -> None:
    """What init does elsewhere: a dead hub must not stay a zombie that still looks alive."""
    while True:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            pass  # there is none at the moment
        else:
            with _children_lock:
                _children[:] = [process for process in _children if process.poll() is None]
                for pid in _adopted():
                    with contextlib.suppress(ChildProcessError):  # a test's own, which it has waited for
                        os.waitpid(pid, os.WNOHANG)
        time.sleep(0.02)


class _Stopped(contextlib.AbstractContextManager):
    def __exit__(self, *_: Any) -> None:
        self.stop()


def _new_directory() -> pathlib.Path:
    """A short path, because sockets live in it. In memory: a hub syncs its file with every change, and a kill, unlike a power cut,
    loses nothing that was written. A long run takes the disk."""
    in_memory = SCALE <= 1 and postgres.is_memory_roomy() and not os.statvfs(postgres.MEMORY).f_flag & os.ST_NOEXEC
    return pathlib.Path(tempfile.mkdtemp(prefix="sy", dir=postgres.MEMORY if in_memory else "/tmp"))


class Home(_Stopped):
    """A user of its own as far as the program can tell."""

    def __init__(self, binary: str = BIN, env: dict[str, str] | None = None):
        self.binary = binary
        self.path = _new_directory()
        self.data = self.path / ".local/share/sayso"
        self.config = self.path / ".config/sayso"
        (self.path / "run").mkdir(mode=0o700)
        self.environment = {
            **{name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ},
            "HOME": str(self.path),
            "XDG_DATA_HOME": str(self.path / ".local/share"),
            "XDG_CONFIG_HOME": str(self.path / ".config"),
            "XDG_RUNTIME_DIR": str(self.path / "run"),
            **(env or {}),
        }
        self.database = ""
        if ON_POSTGRES and "SAYSO_STORE" not in self.environment:
            self.database = self.environment["SAYSO_STORE"] = postgres.shared().new_database()
        self.spawned: list[subprocess.Popen] = []
        _homes.append(self)

    def sayso(self, *args: str, input: str | None = None, timeout: float = 2 * HANG_S, **settings: Any) -> Result:
        """Runs the program to its end. Without input it reads from /dev/null, as under a script."""
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        process = self.spawn(*args, stdin=stdin, **settings)
        try:
            out, err = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"sayso {' '.join(args)} took over {timeout} s: {out}{err}") from None
        self.spawned.remove(process)
        return Result(process.returncode, out, err)

    def spawn(self, *args: str, env: dict[str, str] | None = None, program: str = "",
              **settings: Any) -> subprocess.Popen:
        """Starts the program (or another one) and does not wait; stop() ends it."""
        settings = {**dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE), **settings,
                    "env": {**self.environment, **(env or {})}}
        with _children_lock:
            self.spawned.append(subprocess.Popen([program or self.binary, *args], text=True, **settings))
            return self.spawned[-1]

    def hub(self) -> dict[str, Any]:
        """What hub.json says, {} without one; it may name a hub that is gone."""
        with contextlib.suppress(ValueError):
            return json.loads(_read(self.data / "hub.json"))
        return {}

    def hub_pid(self) -> int | None:
        """Process id of the hub that is running now, if there is one."""
        hub = self.hub()
        return hub["pid"] if hub and _start_of(hub["pid"]) == hub["start"] else None

    def kill_hub(self, number: int = signal.SIGKILL) -> None:
        """Ends the hub as a power cut would, and waits until it is gone."""
        pid = self.hub_pid()
        assert pid, "there is no hub to end"
        _kill(pid, number)
        wait_until(lambda: self.hub_pid() != pid, f"hub {pid} is gone after signal {number}")

    def wait_hub(self, timeout: float = HANG_S) -> int:
        """For hubs started by spawn("serve"): returns once the socket takes connections."""
        def takes_connections() -> int | None:
            with contextlib.suppress(OSError):
                Wire(self).stop()
                return self.hub_pid()
        return wait_until(takes_connections, "a hub that takes connections", timeout)

    def rows(self, statement: str, *values: Any) -> list[tuple]:
        """One statement in the store itself, whose tables have the same names everywhere; ?1, ?2 … are the values."""
        if self.database:
            given = [f"\\x{value.hex()}" if isinstance(value, bytes) else value for value in values]
            with libpq.Connection(self.database) as connection:
                return connection.rows(statement.replace("?", "$"), *given)
        with contextlib.closing(sqlite3.connect(self.data / "sayso.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def end_all(self) -> None:
        """Also a hub that a client has just begun to start. Each is told once, so that a hub can still check its memory."""
        told: dict[int, int | None] = {}  # pid: its start
        looked = 0.0

        def has_ended() -> bool:
            nonlocal looked
            if time.monotonic() - looked < 0.1 and any(start and _start_of(pid) == start for pid, start in told.items()):
                return False  # a look at all processes of this machine takes longer
            looked, left = time.monotonic(), _processes_of(self.path)
            for pid in left - told.keys():
                told[pid] = _start_of(pid)
                _kill(pid, signal.SIGTERM)
            return not left and not self.hub_pid()  # whose last thread may have no environment left
        try:
            wait_until(has_ended, "no process uses this home")
        finally:
            for pid in _processes_of(self.path):
                _kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ends everything started for this home and removes it; nothing may be left behind."""
        if self not in _homes:
            return
        _homes.remove(self)
        said = ""
        for process in self.spawned:
            process.terminate()
            try:
                said += str(process.communicate(timeout=HANG_S)[1])
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
        self.end_all()
        said += _read(self.data / "hub.log")
        shutil.rmtree(self.path)
        if self.database:
            postgres.shared().drop_database(self.database)
        assert "Sanitizer" not in said and "runtime error" not in said, said


class Wire(_Stopped):
    """Speaks the wire by hand: what our own client would never send must be tested too."""

    def __init__(self, home: Home):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(home.hub().get("socket", "no hub"))
        self.unread = b""
        self.events: list[dict[str, Any]] = []  # came while an answer was waited for
        self.last_id = 0

    def hello(self, role: str, **params: Any) -> Any:
        """The first message; binds the connection to one role."""
        return self.call("hello", **{"wire": 1, "version": "test", "role": role, "features": [], **params})

    def send(self, message: dict[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.socket.sendall(line + b"\n")

    def start(self, method: str, **params: Any) -> int:
        """Sends a call and returns its id; for calls that are answered later."""
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        return self.last_id

    def call(self, method: str, timeout: float = HANG_S, **params: Any) -> Any:
        return self.finish(self.start(method, **params), timeout)

    def finish(self, call_id: int, timeout: float = HANG_S) -> Any:
        """The result of an earlier start(); events that come first are kept in `events`."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.read(deadline - time.monotonic())
            if message.get("id") != call_id or "method" in message:
                self.events.append(message)
            elif "error" in message:
                raise WireError(message["error"])
            else:
                return message["result"]

    def read(self, timeout: float = HANG_S) -> dict[str, Any]:
        """The next message. TimeoutError if none comes, EOFError if the hub hung up."""
        deadline = time.monotonic() + timeout
        while b"\n" not in self.unread:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            if not (received := self.socket.recv(65536)):
                raise EOFError("the hub closed the connection")
            self.unread += received
        line, _, self.unread = self.unread.partition(b"\n")
        return json.loads(line)

    def stop(self) -> None:
        self.socket.close()


def test(name: str, proves: str = "") -> Callable[[Callable], Callable]:
    """Marks a test. `proves` names requirements; tools/check_requirements reads it from the source."""
    return lambda function: _tests.append((name, function)) or function


def _run_one(function: Callable) -> None:
    try:
        if inspect.signature(function).parameters:
            with Home() as home:
                function(home)
        else:
            function()
    finally:
        for home in list(_homes):
            home.stop()
    try:
        wait_until(lambda: not _adopted(), "no process is left behind")
    finally:
        for pid in _adopted():
            os.kill(pid, signal.SIGKILL)


def run() -> None:
    """Runs the tests of this file (those whose name has the first argument in it, if given)."""
    # Orphans of ours come back to us, so that a hub without a parent is still noticed.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    # Agents and people are below us, as below a service manager: neither is the other's client.
    ctypes.CDLL(None).prctl(15, b"supervisord", 0, 0, 0)  # PR_SET_NAME
    threading.Thread(target=_reap_for_ever, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A shell's background job ignores it, and what we start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen, failed = [row for row in _tests if "".join(sys.argv[1:2]) in row[0]], 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (name, function) in enumerate(chosen, 1):
        began, verdict, notes = time.monotonic(), "ok", ""
        try:
            _run_one(function)
        except Skip as why:
            notes = f" # SKIP {why}"
        except Exception:
            verdict, failed = "not ok", failed + 1
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()))
        print(f"{verdict} {number} - {name}{notes}\n# {time.monotonic() - began:.2f} s", flush=True)
    sys.exit(1 if failed else 0)
