"""The hub under a service manager: a socket that is passed, what the manager is told, the units.

Proves: R10.3 R10.5
"""
from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from typing import Callable

from harness import HANG_S, ROOT, Home, Result, Skip, needs_file, note, run, test, wait_until
from hub_stage import ASK, end_of, hubs, mode_of, pending_ask, variant

SERVE = ("serve", "--no-browser", "--no-inbox")
# As descriptor 3 and by LISTEN_PID it is for the very process that sh becomes.
PASS = 'eval "exec 3<&$1"; shift; export LISTEN_PID=$$ LISTEN_FDS=1; exec "$@"'


class Manager:
    """What a service manager does: listens, passes the socket on, hears how it goes."""

    def __init__(self, home: Home, name: str = "hub"):
        self.home, folder = home, home.path / "run/sayso"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.path = folder / f"{name}.sock"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(self.path))
        self.path.chmod(0o600)
        self.socket.listen(64)
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.told.bind(str(home.path / f"{name}.told"))

    def start(self, passed: int | None = None) -> subprocess.Popen:
        fd = self.socket.fileno() if passed is None else passed
        return variant(self.home, "/bin/sh").spawn(
            "-c", PASS, "sh", str(fd), self.home.binary, *SERVE, pass_fds=(fd,),
            env={"NOTIFY_SOCKET": str(self.home.path / f"{self.path.stem}.told")})

    def hears(self, wanted: str) -> None:
        self.told.settimeout(HANG_S)
        heard = self.told.recv(4096).decode()
        assert heard == wanted, heard

    def hears_nothing(self) -> None:
        assert not select.select([self.told], [], [], 0)[0], self.told.recv(4096)

    def start_as_often_as_rung(self, until: threading.Event) -> threading.Thread:
        """Like a socket unit: nothing runs and a client waits, so the hub is started; `starts` has how each ended."""
        self.starts: list[Result] = []

        def watch() -> None:
            while not until.is_set():
                if select.select([self.socket], [], [], 0.02)[0]:
                    self.starts.append(end_of(self.home, self.start()))
        thread = threading.Thread(target=watch)
        thread.start()
        return thread

    def start_when_rung(self) -> threading.Thread:
        """Like socket activation: the first client makes it start the hub."""
        def wait() -> None:
            assert select.select([self.socket], [], [], HANG_S)[0]
            self.start()
        thread = threading.Thread(target=wait)
        thread.start()
        return thread


@test("a passed socket is served, the manager hears READY and STOPPING, and the socket stays", "R10.3 R10.5")
def served(home: Home) -> None:
    manager = Manager(home)
    hub = manager.start()
    manager.hears("READY=1")
    assert home.hub()["socket"] == str(manager.path) and home.hub_pid() == hub.pid
    ask = pending_ask(home)
    assert home.sayso("status", "--json").json["socket"] == str(manager.path)
    assert home.sayso("answer", ask, "--select", "b").code == 0
    assert [row.name for row in manager.path.parent.iterdir()] == ["hub.sock"], "it made a socket of its own too"
    manager.hears_nothing()
    assert home.sayso("stop").code == 0
    manager.hears("STOPPING=1")
    assert end_of(home, hub).code == 0
    assert manager.path.is_socket() and mode_of(manager.path) == 0o600
    assert hubs() == []


@test("killed and started again on the same socket: asks are kept, and clients that came in between are served", "R10.3 P1")
def restarted(home: Home) -> None:
    manager = Manager(home)
    manager.start()
    manager.hears("READY=1")
    before = pending_ask(home)
    waiting = home.spawn(*ASK, "--wait", "60", "--json", "--key", "other")
    wait_until(lambda: len(home.sayso("list", "--json").json) == 2, "two asks")

    def restart(number: int) -> None:
        home.kill_hub(number)
        meanwhile = [home.spawn("list", "--json") for _ in range(5)]  # wait in the socket's queue
        hub = manager.start()
        rows = [end_of(home, process) for process in meanwhile]
        assert all(row.code == 0 and len(row.json) == 2 for row in rows), rows
        assert home.hub_pid() == hub.pid and hubs() == [hub.pid], "another hub was started beside the manager's"
    restart(signal.SIGKILL)
    restart(signal.SIGKILL)
    other = next(row["session_id"] for row in home.sayso("list", "--json").json if row["session_id"] != before)
    assert home.sayso("answer", other, "--select", "b").code == 0
    result = end_of(home, waiting)
    assert result.code == 0 and result.json["session_id"] == other, result
    restart(signal.SIGTERM)
    assert home.sayso("answer", before, "--select", "a").code == 0


@test("the first command rings where the manager listens; its hub serves, and no other is started", "R10.3 R10.5")
def first_command(home: Home) -> None:
    manager = Manager(home)
    thread = manager.start_when_rung()
    crowd = [home.spawn(*ASK, "--wait", "0", "--json", "--key", str(i)) for i in range(5)]
    results = [end_of(home, process) for process in crowd]
    thread.join()
    assert all(result.code == 5 for result in results), results
    manager.hears("READY=1")
    assert home.hub()["socket"] == str(manager.path)
    wait_until(lambda: hubs() == [home.hub_pid()], "hubs that clients began are gone")
    assert len(home.sayso("list", "--json").json) == 5


@test("if the manager starts no hub, or the data lies elsewhere, a command starts its own hub", "R10.3")
def nobody_answers(home: Home) -> None:
    manager = Manager(home)
    began = time.monotonic()
    assert home.sayso("list").code == 0
    note(f"{time.monotonic() - began:.1f} s with a manager that does nothing")
    assert home.hub()["socket"] != str(manager.path)
    assert select.select([manager.socket], [], [], 0)[0], "it did not ring"
    with Home() as other:
        idle = Manager(other)
        elsewhere = {"XDG_DATA_HOME": str(other.path / "data")}
        assert other.sayso("list", env=elsewhere).code == 0
        assert not select.select([idle.socket], [], [], 0)[0], "it rang for another place"
        assert other.sayso("stop", env=elsewhere).code == 0


@test("a manager's hub beside one that runs: it goes, steals nothing, and sends its callers to the other", "R10.3")
def second_hub(home: Home) -> None:
    ask = pending_ask(home)
    first = home.hub_pid()
    manager = Manager(home)
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(str(manager.path))
    loser = manager.start()
    result = end_of(home, loser)
    assert result.code == 1 and "already running" in result.err, result
    manager.hears_nothing()
    caller.settimeout(HANG_S)
    assert caller.recv(1) == b"", "a caller waits for a hub that never comes"
    assert home.hub_pid() == first and home.sayso("show", ask).code == 0
    home.kill_hub(signal.SIGTERM)
    served_by = manager.start()
    manager.hears("READY=1")
    again = end_of(home, manager.start())  # the same socket twice
    assert again.code == 1, again
    assert home.hub_pid() == served_by.pid and len(home.sayso("list", "--json").json) == 1


def starts_while(manager: Manager, act: Callable[[], Result]) -> Result:
    until = threading.Event()
    thread = manager.start_as_often_as_rung(until)
    try:
        result = act()
        time.sleep(0.3)  # no client waits any more, so nothing is started any more
        count = len(manager.starts)
        time.sleep(0.5)
        assert len(manager.starts) == count, "it is started for somebody who was told already"
    finally:
        until.set()
        thread.join()
    return result


@test("a manager's hub that can't start leaves no client waiting: the client starts its own hub, which says why or serves it", "R10.3 R10.5")
def refused(home: Home) -> None:
    needs_file()
    manager = Manager(home)
    hub = manager.start()
    manager.hears("READY=1")
    home.kill_hub(signal.SIGKILL)  # its note stays, and names the manager's socket
    end_of(home, hub)
    note("one that can't begin anywhere: a store of a later version")
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as store:
        version = store.execute("PRAGMA user_version").fetchone()[0]
        store.execute(f"PRAGMA user_version = {version + 100}")
    result = starts_while(manager, lambda: home.sayso("list"))
    assert result.code == 1 and "newer version of sayso" in result.err, result
    note(f"{len(manager.starts)} starts")  # each of the client's tries rings once; StartLimitBurst= is far more
    assert 1 <= len(manager.starts) <= 10 and all(start.code == 1 for start in manager.starts), len(manager.starts)
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as store:
        store.execute(f"PRAGMA user_version = {version}")
    note("one that only a service manager's hub refuses: other machines can't be listened for")
    home.environment.update(SAYSO_LISTEN="127.0.0.1:0", SAYSO_TLS_CERT=str(home.path / "none.pem"), SAYSO_TLS_KEY=str(home.path / "none.pem"))
    began = time.monotonic()
    result = starts_while(manager, lambda: home.sayso("list"))
    note(f"{time.monotonic() - began:.1f} s")
    assert result.code == 0 and 1 <= len(manager.starts) <= 5, (result, manager.starts)
    assert home.hub()["socket"] != str(manager.path)
    assert home.sayso("stop").code == 0
    for name in ("SAYSO_LISTEN", "SAYSO_TLS_CERT", "SAYSO_TLS_KEY"):
        del home.environment[name]
    note("mended: it serves again")
    thread = manager.start_when_rung()
    assert home.sayso("list").code == 0
    thread.join()
    assert home.hub()["socket"] == str(manager.path)


@test("who only looks whether a hub runs, or ends it, rings for none; an inbox that waits for it neither", "R10.3 R10.5")
def only_looks(home: Home) -> None:
    manager = Manager(home)
    hub = manager.start()
    manager.hears("READY=1")
    pending_ask(home)
    seen = open(home.path / "inbox.out", "w+")
    inbox = home.spawn("-qec", f"{home.binary} inbox", "/dev/null", program="script", env={"TERM": "xterm"}, stdout=seen)
    wait_until(lambda: "Which one?" in (home.path / "inbox.out").read_text(), "the inbox is there")
    assert home.sayso("stop").code == 0
    assert end_of(home, hub).code == 0
    assert not select.select([manager.socket], [], [], 3)[0], "the inbox rang"
    inbox.kill()
    seen.close()
    for words in (("status",), ("stop",), ("__complete", "show", "")):
        result = home.sayso(*words)
        assert "running" in result.err + result.out or not result.out, result
        assert not select.select([manager.socket], [], [], 0.2)[0], f"sayso {words[0]} rang"
    thread = manager.start_when_rung()
    assert home.sayso("list").code == 0
    thread.join()


@test("a hub that serves on for drain_seconds says so, and the manager doesn't kill it before they end", "R10.5")
def drains(home: Home) -> None:
    manager = Manager(home)
    home.environment["SAYSO_DRAIN_SECONDS"] = "2"
    hub = manager.start()
    manager.hears("READY=1")
    hub.send_signal(signal.SIGTERM)
    manager.hears("STOPPING=1\nEXTEND_TIMEOUT_USEC=17000000")  # 2 s, 5 for peers that do not read, 10 to spare
    assert home.sayso("list").code == 0
    manager.hears("STOPPING=1")
    assert end_of(home, hub).code == 0


@test("what is passed and is no listening socket is refused with a remedy", "R10.3")
def bad_socket(home: Home) -> None:
    manager = Manager(home)
    deaf = socket.socket(socket.AF_UNIX)
    with open("/dev/null", "rb") as file:
        for fd in (deaf.fileno(), manager.told.fileno(), file.fileno()):
            result = end_of(home, manager.start(fd))
            assert result.code == 1 and "ListenStream=" in result.err, result
    manager.hears_nothing()
    assert home.sayso("list", env={"LISTEN_PID": "1", "LISTEN_FDS": "1", "XDG_RUNTIME_DIR": ""}).code == 0


@test("systemd-socket-activate passes the socket, and the first command is served by its hub", "R10.5")
def systemd_activates(home: Home) -> None:
    if not shutil.which("systemd-socket-activate"):
        raise Skip("no systemd-socket-activate here")
    folder = home.path / "run/sayso"
    folder.mkdir(mode=0o700)
    passed = [word for name in home.environment for word in ("-E", name)]
    active = home.spawn("-l", str(folder / "hub.sock"), *passed, home.binary, *SERVE,
                        program="systemd-socket-activate")
    wait_until((folder / "hub.sock").exists, "systemd-socket-activate listens")
    pending_ask(home)
    assert home.hub()["socket"] == str(folder / "hub.sock") and home.hub_pid() == active.pid


@test("systemd-analyze verifies the units that make install puts there", "R10.5")
def units(home: Home) -> None:
    if not shutil.which("systemd-analyze"):
        raise Skip("no systemd-analyze here")
    prefix = home.path / "installed"
    done = subprocess.run([str(ROOT / "tools/install_tree"), "install", "build"], capture_output=True, text=True,
                          env={**os.environ, "DESTDIR": "", "PREFIX": str(prefix)})
    assert done.returncode == 0, done
    found = sorted((prefix / "lib/systemd/user").iterdir())
    assert [path.name for path in found] == ["sayso.service", "sayso.socket"], found
    assert f"ExecStart={prefix}/bin/sayso serve" in found[0].read_text()
    done = subprocess.run(["systemd-analyze", "--user", "verify", *map(str, found)], capture_output=True, text=True,
                          env={**os.environ, **home.environment, "MANPATH": str(prefix / "share/man")})
    said = [line for line in (done.stdout + done.stderr).splitlines() if "sayso" in line]
    assert done.returncode == 0 and not said, done


run()
