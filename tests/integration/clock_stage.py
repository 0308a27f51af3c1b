"""Agents whose results are timed, and homes whose clock can be set; what test_clock*.py share."""
from __future__ import annotations

import atexit
import contextlib
import functools
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from typing import Any, Iterator

import libpq
from harness import HANG_S, Home, Skip, Wire, WireError

EARLY_S = 0.001  # clocks are read in milliseconds
LATE_S = 1.0     # the promise
PATIENCE_S = 4.0  # on top of it, for a machine that is busy with other tests


def choice(title: str, timeout: int | None, **more: Any) -> dict[str, Any]:
    arguments = {"title": title, "prompt": "Two ways are open and both would work.",
                 "selection_mode": "single",
                 "options": [{"id": "a", "label": "First", "recommended": True},
                             {"id": "b", "label": "Second"}, {"id": "c", "label": "Third"}], **more}
    if timeout is not None:
        arguments["timeout_seconds"] = timeout
    if arguments["selection_mode"] == "text_input":
        del arguments["options"]
    return arguments


class Asker:
    """An agent's connection. A thread reads, so that the moment of a result is known even if the test waits for something else."""

    def __init__(self, home: Home, name: str = "clock"):
        self.wire = Wire(home)
        self.wire.hello("agent", **{"as": name})
        self.sent: dict[int, tuple[float, float]] = {}  # call: when, seconds
        self.came: dict[int | str, tuple[float, dict[str, Any]]] = {}  # call or tag: when, message
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError):
            while True:
                message = self.wire.read(3600)
                key = message["params"].get("tag") if "method" in message else message["id"]
                with self.news:
                    self.came[key] = (time.monotonic(), message)
                    self.news.notify_all()

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: Any) -> None:
        with contextlib.suppress(OSError):
            self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.reader.join()
        self.wire.stop()

    def wait_for(self, key: int | str, timeout: float) -> tuple[float, dict[str, Any]]:
        with self.news:
            assert self.news.wait_for(lambda: key in self.came, timeout), f"nothing about {key} in {timeout} s"
            return self.came[key]

    def start(self, title: str, timeout: int, **more: Any) -> int:
        began = time.monotonic()
        call = self.wire.start("ask/create", tool="provide_choice", tag=title,
                               arguments=choice(title, timeout, **more))
        self.sent[call] = (began, timeout)
        return call

    def ask(self, title: str, timeout: int, **more: Any) -> tuple[int, str]:
        """The call and the ask's id, once it is stored."""
        call = self.start(title, timeout, **more)
        return call, self.wait_for(title, HANG_S)[1]["params"]["session_id"]

    def call(self, method: str, timeout: float = HANG_S, **params: Any) -> dict[str, Any]:
        return self.result(self.wire.start(method, **params), timeout)

    def result(self, call: int, timeout: float = HANG_S) -> dict[str, Any]:
        message = self.wait_for(call, timeout)[1]
        if "error" in message:
            raise WireError(message["error"])
        return message["result"]

    def wait_timeout(self, call: int, since: float | None = None, seconds: float | None = None) -> float:
        """Waits for the end by timeout and returns by how much it was late."""
        began, timeout = self.sent[call]
        began, timeout = since or began, seconds or timeout
        came, message = self.wait_for(call, timeout + HANG_S)
        late = came - began - timeout
        assert message["result"]["action_status"] == "timeout", message
        assert late >= -EARLY_S, f"{-late * 1000:.1f} ms early"
        assert late <= LATE_S + PATIENCE_S, f"{late:.1f} s late"
        return late


@contextlib.contextmanager
def person(home: Home, **hello: Any) -> Iterator[Wire]:
    with Wire(home) as wire:
        wire.hello("person", **hello)
        yield wire


def row_of(wire: Wire, ask: str) -> dict[str, Any]:
    return next(row for row in wire.call("ask/list")["asks"] if row["session_id"] == ask)


# libfaketime also moves absolute timers of the boot clock, which no one's wall clock can; so our own.
SHIM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long offset_s(void)
{
    char text[32] = "";
    int fd = open(getenv("WALL_CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        abort();
    close(fd);
    return atoll(text);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset_s();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
"""


@functools.cache
def shim() -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Skip("needs a C compiler for the library that fakes the wall clock")
    place = tempfile.TemporaryDirectory(prefix="sy", dir="/tmp")
    atexit.register(place.cleanup)
    source, library = f"{place.name}/wall_clock.c", f"{place.name}/wall_clock.so"
    pathlib.Path(source).write_text(SHIM)
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


class FakedHome(Home):
    """A home whose hub, in the foreground, sees the wall clock we say and the true boot clock."""

    def __init__(self) -> None:
        library = shim()
        super().__init__()
        self.offset_file = self.path / "offset"
        options = self.environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.faked = {"LD_PRELOAD": library, "WALL_CLOCK_OFFSET": str(self.offset_file), "ASAN_OPTIONS": options}
        self.set_clock(0)

    def set_clock(self, offset_s: int) -> None:
        beside = self.path / "offset.new"  # it is read at every look at the clock: never half a file
        beside.write_text(f"{offset_s}\n")
        beside.rename(self.offset_file)

    def serve(self) -> None:
        self.spawn("serve", env=self.faked, stdout=subprocess.DEVNULL)
        self.wait_hub()

    def restart(self, offset_s: int, number: int = signal.SIGKILL) -> None:
        process = self.spawned[-1]
        process.send_signal(number)
        process.communicate(timeout=HANG_S)
        self.spawned.remove(process)
        self.set_clock(offset_s)
        self.serve()


@contextlib.contextmanager
def locked_database(home: Home) -> Iterator[None]:
    """Commits wait for us, as they would for a slow disk. At most 5 s, or they fail."""
    if home.database:
        with libpq.Connection(home.database) as database:
            database.run("BEGIN; SELECT 1 FROM counter FOR UPDATE")
            yield  # the connection's end is the lock's
        return
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            db.execute("ROLLBACK")
