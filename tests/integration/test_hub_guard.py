"""The one hub of a user is private: other users, the environment of its starter, its files.

Proves: R12.1 R14.4
"""
from __future__ import annotations

import contextlib
import errno
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import tempfile
import time
from typing import Callable, Iterator

import harness
from harness import HANG_S, ON_POSTGRES, Home, Skip, needs_file, run, test, wait_until
from hub_stage import NOBODY, end_of, mode_of, through, variant

# What a hub started by a client may know of that client's environment, and our own settings.
PASSED_ON = set("HOME PATH USER LOGNAME LANG TZ TMPDIR XDG_DATA_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR"
                " CHOICE_LANG".split())
if harness.BIN == harness.CRASH_BIN:  # a test build also lets its sanitizer's settings through
    PASSED_ON |= {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}
OUR_OWN = ("SAYSO_", "LC_")


def need_root() -> None:
    if os.getuid() != 0:
        raise Skip("needs root, to act as another user")


def as_nobody(act: Callable[[], str]) -> str:
    """What `act` says when a process of another user does it; an error by its name."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        said = "died"
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            said = act()
        except OSError as problem:
            said = errno.errorcode[problem.errno]
        finally:
            os.write(writing, said.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as result:
        return result.read()


@contextlib.contextmanager
def nobodys_home(home: Home) -> Iterator[tuple[Home, list[str]]]:
    """A home of another user, and the words that run a program as that user."""
    need_root()
    with tempfile.TemporaryDirectory(prefix="sy", dir="/tmp") as place, Home() as other:
        os.chmod(place, 0o755)
        other.binary = shutil.copy(os.path.realpath(home.binary), place)  # it may lie where others can't go
        for directory in (other.path, other.path / "run"):
            os.chown(directory, NOBODY, NOBODY)
        yield other, ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


# Wire numbers ------------------------------------------------------------------------------------


@test("a log that is full while the hub runs is put aside; two files, both private", "R12.1 R10.3")
def full_log(home: Home) -> None:
    mib = 1024 * 1024
    home.data.mkdir(parents=True, mode=0o700)
    log, old = home.data / "hub.log", home.data / "hub.log.1"
    log.touch(mode=0o600)
    room = 300 if ON_POSTGRES else 150  # for one line; that there is no standby is another
    log.write_bytes(b"x" * (mib - room))
    assert home.sayso("list").code == 0 and not old.exists()
    assert home.sayso("stop").code == 0
    wait_until(lambda: not home.hub_pid(), "the hub has ended")
    assert "hub.ready" in old.read_text() and "hub.leaving" in log.read_text()
    assert old.stat().st_size <= mib and mode_of(old) == 0o600 and mode_of(log) == 0o600


# Guarded -----------------------------------------------------------------------------------------


@test("two users of one machine do not meet", "R12.1")
def two_users(home: Home) -> None:
    needs_file()
    assert home.sayso("list").code == 0
    path = home.hub()["socket"]
    with nobodys_home(home) as (other, nobody):
        result = through(other, nobody, "list", "--json")
        assert result.code == 0 and result.json == [], result
        assert other.hub_pid() != home.hub_pid() and os.stat(other.hub()["socket"]).st_uid == NOBODY

        def connect() -> str:
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(HANG_S)
                sock.connect(path)
                with contextlib.suppress(ConnectionError):
                    sock.sendall(b'{"jsonrpc":"2.0","id":1,"method":"hub/retire"}\n')
                    return f"got {sock.recv(1000)!r}"
                return "got b''"
        assert as_nobody(connect) == "EACCES"
        for part in [pathlib.Path(path), *pathlib.Path(path).parents][:4]:
            if part != home.path.parent:
                part.chmod(0o777 if part.is_socket() else 0o755)
        pid = home.hub_pid()
        assert as_nobody(connect) == "got b''", "the uid check let another user in"
        assert home.hub_pid() == pid and home.sayso("list").code == 0

        own = other.hub_pid()  # nor does one's own shell look into the hub's memory
        def peek(what: str) -> Callable[[], str]:
            return lambda: f"{len(os.listdir(what)) if what.endswith('fd') else len(open(what, 'rb').read(1))}"
        for name in ("mem", "environ", "fd", "maps"):
            assert as_nobody(peek(f"/proc/{own}/{name}")) in ("EACCES", "EPERM"), name
        no_home = variant(other, only={"PATH": home.environment["PATH"]})
        if pwd.getpwuid(NOBODY).pw_dir == "/nonexistent":
            result = through(no_home, nobody, "list")
            assert result.code == 1 and "/nonexistent" in result.err, result
        other.kill_hub(signal.SIGTERM)


@test("a hub started for a client keeps nothing of it: environment, directory, files, session", "R12.1")
def clean_daemon(home: Home) -> None:
    secrets = {name: "s3cret-value" for name in (
        "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK",
        "LD_LIBRARY_PATH", "LD_PRELOADED", "PGPASSWORD", "HTTP_PROXY", "PS1", "HOMEX", "XDG_DATA_HOMES",
        "NOT_SAYSO_X", "sayso_x")}
    secret_file = home.path / "secret"
    secret_file.write_text("s3cret")
    with open(secret_file) as leaked:
        client = home.spawn("list", env=secrets, cwd=str(home.path), pass_fds=[leaked.fileno()],
                            start_new_session=True)
        assert end_of(home, client).code == 0
    pid = home.hub_pid()
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    assert int(fields[3]) not in (os.getsid(0), client.pid) and fields[4] == "0", "it has a terminal"
    if os.getuid() != 0:
        raise Skip("needs root to look into the hub's /proc entries, which are closed on purpose")
    environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    names = {pair.split(b"=")[0].decode() for pair in environment.split(b"\0") if pair}
    foreign = {name for name in names - PASSED_ON if not name.startswith(OUR_OWN)}
    assert b"s3cret" not in environment and not foreign, foreign
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    files = {}
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            files[int(number)] = os.readlink(f"/proc/{pid}/fd/{number}")
    assert files[0] == "/dev/null" and files[1] == files[2] == str(home.data / "hub.log"), files
    expected = ("/dev/null", "anon_inode:", "pipe:", "socket:", str(home.data / "hub.lo"),
                str(home.data / "sayso.db"))
    strange = [link for link in files.values() if not link.startswith(expected)]
    assert not strange and len(files) < 40, (strange, files)
    assert pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1:-1] == [b"serve", b"--auto-started"]
    status = dict(line.split(":\t", 1) for line in
                  pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    assert int(status["SigBlk"], 16) == 0 and status["Umask"] == "0077", status


@test("an environment full of names of ours does not lead the hub astray", "R10.3")
def crowded_environment(home: Home) -> None:
    began = time.monotonic()
    result = home.sayso("list", env={"SAYSO_READY_FD": "7"})
    assert result.code == 0 and time.monotonic() - began < HANG_S, result
    with nobodys_home(home) as (other, nobody):  # whose own home is nowhere, so going astray does no harm
        crowd = {f"SAYSO_X{i}": "x" for i in range(200)}
        result = through(variant(other, only={**crowd, **other.environment}), nobody, "list", "--json")
        assert result.code == 0 and result.json == [] and other.hub_pid(), result
        other.kill_hub(signal.SIGTERM)


@test("a hub that aborts leaves no core, whatever the limits of its starter", "R12.1")
def no_core(home: Home) -> None:
    before = set(glob.glob("/core*"))
    result = through(home, ["/bin/sh", "-c", 'ulimit -c unlimited 2>/dev/null; exec "$@"', "sh"], "list",
                     cwd=str(home.path))
    assert result.code == 0, result
    limits = pathlib.Path(f"/proc/{home.hub_pid()}/limits").read_text()
    core = next(line for line in limits.splitlines() if line.startswith("Max core file size")).split()
    assert core[4:6] == ["0", "0"], core
    home.kill_hub(signal.SIGABRT)
    found = set(glob.glob("/core*")) - before | {str(path) for path in home.path.rglob("core*")}
    assert not found, found
    assert home.sayso("list").code == 0


run()
