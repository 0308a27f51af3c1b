"""The one hub of a user: how it is found and started, where it lives, and what it refuses there.

Proves: R10.3 R12.1
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import stat
import time
from typing import Callable

from harness import Home, needs_file, note, run, scaled, test, wait_until
from hub_stage import ASK, NOBODY, all_at_once, expect_all_work, hubs, mode_of, pending_ask, through, variant

CLIENTS = 50


def bare(home: Home) -> Home:
    """As agents' clients do it: next to nothing of the environment is passed on."""
    return variant(home, only={"HOME": str(home.path), "PATH": home.environment["PATH"]})


def hash_of(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Which hub ---------------------------------------------------------------------------------------


@test("50 clients that start at the same time in a fresh home share one hub, also after kill -9", "R10.3")
def many_clients(home: Home) -> None:
    crowd = [bare(home) if i % 2 else home for i in range(CLIENTS)]
    expect_all_work(all_at_once(crowd, "list", "--json"))
    wait_until(lambda: len(hubs()) == 1, "one hub and no loser of the race is left")
    first = home.hub_pid()
    assert hubs() == [first], (hubs(), first)
    home.kill_hub()
    expect_all_work(all_at_once(crowd, "list", "--json"))
    wait_until(lambda: len(hubs()) == 1, "one hub after the first was killed")
    second = home.hub_pid()
    assert second and second != first and hubs() == [second]
    for _ in range(scaled(3)):  # killed while the crowd comes in
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            crowd_result = pool.submit(all_at_once, crowd, "list", "--json")
            time.sleep(random.uniform(0.05, 0.2))
            with contextlib.suppress(ProcessLookupError):
                os.kill(home.hub_pid() or second, signal.SIGKILL)
            lost = [r for r in crowd_result.result() if r.code != 0 and "lost" not in r.out]
        assert not lost, lost[:3]  # a call under way may be lost with the hub, but says so
    assert home.sayso("list").code == 0
    wait_until(lambda: hubs() == [home.hub_pid()], "one hub at the end")


@test("a second hub goes away: quietly when started for a client, with a word when by hand", "R10.3")
def second_hub(home: Home) -> None:
    assert home.sayso("list").code == 0
    first = home.hub_pid()
    loser = home.sayso("serve", "--auto-started")
    assert loser.code == 0 and loser.out == "" and loser.err == "", loser
    by_hand = home.sayso("serve")
    assert by_hand.code == 1 and "already running" in by_hand.err, by_hand
    assert hubs() == [first] and home.hub_pid() == first


@test("hub.json names pid, start, socket, port, wire, version; socket and files are private",
      "R12.1 R10.3")
def note_and_modes(home: Home) -> None:
    needs_file()
    pending_ask(home)
    hub = home.hub()
    assert set(hub) == {"pid", "start", "socket", "port", "wire", "version"}, hub
    assert hub["wire"] == 1 and 1024 < hub["port"] < 65536 and len(hub["socket"]) <= 100
    assert hub["version"] == home.sayso("version", "--json").json["version"]
    assert home.hub_pid() == hub["pid"] == home.sayso("status", "--json").json["pid"]
    assert stat.S_ISSOCK(os.lstat(hub["socket"]).st_mode) and mode_of(hub["socket"]) == 0o600
    assert mode_of(os.path.dirname(hub["socket"])) == 0o700 and mode_of(home.data) == 0o700
    names = {path.name for path in home.data.iterdir()}
    assert {"hub.json", "hub.lock", "hub.log", "sayso.db"} <= names, names
    for path in home.data.iterdir():
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600), (path, oct(mode_of(path)))
    outside = {path.name for path in home.path.iterdir()} - {".local", ".config", "run"}
    assert not outside, f"state outside the XDG directories: {outside}"
    assert home.sayso("stop").code == 0
    assert not os.path.exists(hub["socket"]), "the socket outlives its hub"


@test("the umask of the process that starts the hub opens nothing", "R12.1")
def umask() -> None:
    for mask in ("000", "002", "022", "027", "077"):
        with Home() as home:
            result = through(home, ["/bin/sh", "-c", f'umask {mask}; exec "$@"', "sh"], *ASK, "--wait", "0")
            assert result.code == 5, (mask, result)
            for path in [home.data, *home.data.iterdir()]:
                assert mode_of(path) == (0o700 if path.is_dir() else 0o600), (mask, path)


@test("the runtime directory is XDG_RUNTIME_DIR only where it is ours and private", "R12.1 R10.3")
def runtime_directory() -> None:
    usual = pathlib.Path(f"/run/user/{os.getuid()}")
    has_usual = usual.is_dir() and mode_of(usual) == 0o700 and usual.stat().st_uid == os.getuid()
    cases: list[tuple[str, Callable[[pathlib.Path], str | None]]] = [
        ("not set", lambda run: None),
        ("relative", lambda run: "run"),
        ("missing", lambda run: str(run / "none")),
        ("group may write", lambda run: run.chmod(0o770) or str(run)),
        ("others may look", lambda run: run.chmod(0o755) or str(run)),
        ("a link", lambda run: (run.parent / "link").symlink_to(run) or str(run.parent / "link")),
        ("a file", lambda run: (run / "f").write_text("") and None or str(run / "f")),
    ]
    if os.getuid() == 0:
        cases.append(("somebody else's", lambda run: os.chown(run, NOBODY, NOBODY) or str(run)))
    with Home() as home:
        assert home.sayso("list").code == 0
        assert home.hub()["socket"].startswith(str(home.path / "run" / "sayso") + "/"), home.hub()
    for name, prepare in cases:
        with Home() as home:
            given = prepare(home.path / "run")
            home.environment.pop("XDG_RUNTIME_DIR")
            result = home.sayso("list", env={"XDG_RUNTIME_DIR": given} if given else None)
            assert result.code == 0, (name, result)
            wanted = usual / "sayso" if has_usual else home.data / "run"
            at = home.hub()["socket"]
            assert at.startswith(f"{wanted}/"), (name, at)
            assert mode_of(at) == 0o600 and mode_of(os.path.dirname(at)) == 0o700, name
            assert bare(home).sayso("status", "--json").json["running"], name


@test("directories: HOME may be missing where XDG names them; relative XDG names are not used", "R10.3")
def other_directories() -> None:
    with Home() as home:
        environment = {name: value for name, value in home.environment.items() if name != "HOME"}
        result = variant(home, only=environment).sayso("list", "--json")
        assert result.code == 0 and result.json == [], result
        home.kill_hub(signal.SIGTERM)  # without HOME, by which Home finds what it has to end
    with Home() as home:
        result = home.sayso("list", env={"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config"},
                            cwd=str(home.path))
        assert result.code == 0 and home.hub_pid(), result  # under HOME, where Home looks too
        assert not (home.path / "data").exists() and not (home.path / "config").exists()


# What is refused, with a remedy ------------------------------------------------------------------


@test("a socket path over 100 bytes is refused with a remedy", "R10.3")
def long_socket_path(home: Home) -> None:
    long = home.path / ("x" * 80)
    long.mkdir()
    environment = {"HOME": str(long), "PATH": home.environment["PATH"]}
    by_hand = variant(home, only=environment).sayso("serve")
    assert by_hand.code == 1 and "100 bytes" in by_hand.err and "XDG_RUNTIME_DIR" in by_hand.err, by_hand
    result = variant(home, only=environment).sayso("list")
    assert result.code == 1 and "100 bytes" in result.err and "XDG_RUNTIME_DIR" in result.err, result
    mended = {**environment, "XDG_RUNTIME_DIR": str(home.path / "run")}
    assert variant(home, only=mended).sayso("list").code == 0
    assert variant(home, only=environment).sayso("list").code == 0  # hub.json says where it is
    assert variant(home, only=environment).sayso("stop").code == 0


@test("a data or runtime directory that others own or may write is refused with a remedy", "R12.1")
def foreign_directories() -> None:
    def expect_refusal(home: Home, *words: str) -> None:
        for verb in ("list", "serve"):
            result = home.sayso(verb)
            assert result.code == 1 and all(word in result.err for word in words), (verb, result)
        assert not home.hub_pid() and not (home.data / "sayso.db").exists()
    for mode in (0o770, 0o777, 0o702):
        with Home() as home:
            home.data.mkdir(parents=True)
            home.data.chmod(mode)
            expect_refusal(home, "chmod 700", str(home.data))
            home.data.chmod(0o700)
            assert home.sayso("list").code == 0
    with Home() as home:  # only looked into: fixed without a word
        home.data.mkdir(parents=True)
        home.data.chmod(0o755)
        assert home.sayso("list").code == 0 and mode_of(home.data) == 0o700
    with Home() as home:
        (home.path / "run" / "sayso").mkdir()
        (home.path / "run" / "sayso").chmod(0o777)
        expect_refusal(home, "chmod 700", "run/sayso")
    with Home() as home:
        home.data.parent.mkdir(parents=True)
        home.data.write_text("a file")
        expect_refusal(home, "not a directory")
        assert home.data.read_text() == "a file"
    if os.getuid() == 0:
        with Home() as home:
            home.data.mkdir(parents=True, mode=0o700)
            os.chown(home.data, NOBODY, NOBODY)
            expect_refusal(home, "another user", "chown")
    else:
        note("not root: a directory of another user was not tried")


def plant(kind: str, path: pathlib.Path, victim: pathlib.Path) -> None:
    if kind == "symlink":
        path.symlink_to(victim)
    elif kind == "dangling":
        path.symlink_to(victim.parent / "made by mistake")
    elif kind == "fifo":
        os.mkfifo(path, 0o600)
    elif kind == "directory":
        path.mkdir(mode=0o700)
    elif kind == "socket":
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(str(path))
        sock.close()
    else:
        path.write_bytes(b"\x00\xff garbage \xfe" * 50)


@test("links, fifos, directories in place of our files do no harm and are named", "R12.1")
def odd_files() -> None:
    kinds = ("symlink", "dangling", "fifo", "directory", "socket", "garbage")
    names = ("hub.lock", "hub.json", "sayso.db", "hub.log")
    problems: list[str] = []

    def try_one(name: str, kind: str) -> None:
        with Home() as home:
            home.data.mkdir(parents=True, mode=0o700)
            victim = home.path / "victim"
            victim.write_text("precious")
            plant(kind, home.data / name, victim)
            try:
                result = home.sayso("list", "--json")
                if victim.read_text() != "precious" or (home.path / "made by mistake").exists():
                    problems.append(f"{name} as {kind}: wrote through it")
                if result.code == 0:
                    assert result.json == [] and home.sayso("stop").code == 0
                elif result.code != 1 or name not in result.err + result.out:
                    problems.append(f"{name} as {kind}: not named: {result}")
            finally:  # what is left may hang a process that opens it
                planted = home.data / name
                if planted.is_dir() and not planted.is_symlink():
                    shutil.rmtree(planted)
                elif planted.is_symlink() or not planted.is_file():
                    planted.unlink(missing_ok=True)

    def try_safely(case: tuple[str, str]) -> None:
        try:
            try_one(*case)
        except Exception as problem:  # each case is to be seen, not only the first
            problems.append(f"{case[0]} as {case[1]}: {problem}")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(try_safely, [(name, kind) for name in names for kind in kinds]))
    assert not problems, "\n".join(problems)


@test("a database of a newer version is left alone, and the client says so", "R10.3")
def newer_database(home: Home) -> None:
    pending_ask(home)
    assert home.sayso("stop").code == 0
    file = home.data / "sayso.db"
    with contextlib.closing(sqlite3.connect(file)) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute("PRAGMA user_version = 99")
    before = hash_of(file)
    for verb in ("serve", "list"):
        result = home.sayso(verb)
        assert result.code == 1 and "newer version of sayso" in result.err and "update sayso" in result.err, (verb, result)
    assert hash_of(file) == before and not home.hub_pid()
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    assert len(home.sayso("list", "--json").json) == 1


@test("a damaged database is set aside whole, and status tells where", "R10.3")
def damaged_database() -> None:
    needs_file()
    def first_bytes(whole: bytes) -> bytes:
        return b"\xff" * 64 + whole[64:]
    def a_third(whole: bytes) -> bytes:
        return whole[:len(whole) // 3]
    def noise(whole: bytes) -> bytes:
        at = 4096 * 2
        return whole[:at] + random.Random(7).randbytes(len(whole) - at)
    for damage in (first_bytes, a_third, noise):
        with Home() as home:
            pending_ask(home)
            assert home.sayso("stop").code == 0
            file = home.data / "sayso.db"
            file.write_bytes(damage(file.read_bytes()))
            before = hash_of(file)
            assert home.sayso("list", "--json").json == [], damage.__name__
            aside = pathlib.Path(home.sayso("status", "--json").json["recovered_from"])
            assert aside.parent == home.data and "damaged" in aside.name, aside
            assert hash_of(aside) == before and mode_of(aside) == 0o600
            told = home.sayso("status")
            assert "damaged" in told.out + told.err and aside.name in told.out + told.err, told
            assert len(home.sayso("list", "--json").json) == 0 and pending_ask(home)
            home.kill_hub()
            assert home.sayso("status", "--json").json["running"] is False
            assert len(home.sayso("list", "--json").json) == 1  # the new one lasts


run()
