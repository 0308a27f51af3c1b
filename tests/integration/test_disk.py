"""Disks that are full, read-only, limited, locked or broken: what was acknowledged is there, the rest is refused.

Proves: P16 R5.2
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import copy
import ctypes
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from typing import Any, Callable, Iterator

from harness import HANG_S, Home, Skip, Wire, WireError, note, run, scaled, test, wait_until

CLONE_NEWNS = 0x20000
KIB, MIB = 1024, 1048576
LANES = 4
SESSION_ASKS = 16


def enter_namespace() -> str:
    """Mounts made from here on are this process's and its children's alone. "" or why that can't be."""
    if os.getuid() != 0:
        return "needs root to mount file systems"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"the kernel gives no mount namespace: {os.strerror(ctypes.get_errno())}"
    if subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True).returncode != 0:
        return "mounts can't be made private here"
    return ""


NO_MOUNTS = enter_namespace()  # before there is a second thread, which would stay outside


def need_mounts() -> None:
    if NO_MOUNTS:
        raise Skip(NO_MOUNTS)


def need_strace() -> str:
    strace = shutil.which("strace")
    if not strace:
        raise Skip("needs strace")
    probe = subprocess.run([strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO", "true"],
                           capture_output=True)
    if probe.returncode != 0:
        raise Skip("strace may not trace here")
    return strace


def mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def disk(kind: str, size: int) -> Iterator[Home]:
    """A home whose data directory is a file system of its own."""
    need_mounts()
    with Home() as home:
        home.data.mkdir(parents=True, mode=0o700)
        if kind == "tmpfs":
            mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(home.data))
        else:
            image = home.path / "image"
            with open(image, "wb") as file:
                file.truncate(size)
            made = subprocess.run(["mkfs.ext4", "-q", str(image)], capture_output=True)
            mounted = made.returncode == 0 and subprocess.run(
                ["mount", "-o", "loop", str(image), str(home.data)], capture_output=True).returncode == 0
            if not mounted:
                raise Skip("no ext4 on a loop device here")
            home.data.chmod(0o700)
        try:
            yield home
        finally:
            for process in home.spawned:
                process.send_signal(signal.SIGCONT)
            if home.hub_pid():
                home.kill_hub()
            subprocess.run(["umount", "-l", str(home.data)], check=True)


def free_bytes(home: Home) -> int:
    found = os.statvfs(home.data)
    return found.f_bavail * found.f_frsize


def fill(home: Home, leave: int) -> None:
    """Takes all but so many bytes of the disk away."""
    with open(home.data / "filler", "ab", buffering=0) as file:
        for step in (64 * KIB, 4 * KIB):
            with contextlib.suppress(OSError):
                while free_bytes(home) - leave >= step:
                    file.write(b"f" * step)


def make_room(home: Home) -> None:
    (home.data / "filler").unlink()


def serve(home: Home, prefix: list[str] | None = None) -> subprocess.Popen:
    through = copy.copy(home)
    if prefix:
        through.binary = prefix[0]
    process = through.spawn(*(prefix[1:] + [home.binary] if prefix else []), "serve", stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or home.hub_pid() and can_connect(home), "a hub, or its end")
    return process


def can_connect(home: Home) -> bool:
    with contextlib.suppress(OSError):
        Wire(home).stop()
        return True
    return False


def choice(title: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "prompt": "Two ways are open and both would work.", "selection_mode": "single",
            "options": [{"id": "a", "label": "First", "recommended": True}, {"id": "b", "label": "Second"}],
            "timeout_seconds": 3600, **more}


@contextlib.contextmanager
def speak(home: Home, role: str, **more: Any) -> Iterator[Wire]:
    with Wire(home) as wire:
        wire.hello(role, **({"as": "agent"} if role == "agent" else {}), **more)
        yield wire


def create(wire: Wire, title: str, **more: Any) -> str:
    return wire.call("ask/create", tool="provide_choice", wait_seconds=0,
                     arguments=choice(title, **more))["session_id"]


def expect_storage_failed(act: Callable[[], Any], *words: str) -> str:
    try:
        result = act()
    except WireError as problem:
        assert problem.data["code"] == "storage_failed", problem
        assert all(word in problem.message for word in words), problem.message
        return problem.message
    raise AssertionError(f"it was acknowledged: {result}")


def stored(home: Home) -> dict[str, tuple[str, list[str]]]:
    """What a fresh hub finds: each ask's status and what was chosen."""
    with speak(home, "person") as wire:
        found = {}
        for row in wire.call("ask/list", limit=10000)["asks"]:
            result = wire.call("ask/get", session_id=row["session_id"])["result"]
            found[row["session_id"]] = (row["status"], result["selection"]["selected_ids"])
        return found


def restarted(home: Home) -> dict[str, tuple[str, list[str]]]:
    if home.hub_pid():
        home.kill_hub()
    result = home.sayso("list", "--json")
    assert result.code == 0, f"no clean restart: {result}"
    return stored(home)


def expect_kept(home: Home, acknowledged: dict[str, str], refused: set[str] = frozenset()) -> None:
    found = restarted(home)
    missing = {ask: answer for ask, answer in acknowledged.items() if found.get(ask) != ("submitted", [answer])}
    assert not missing, f"acknowledged and missing: {missing} in {found}"
    invented = {ask: found[ask] for ask in refused if ask in found and found[ask][0] != "pending"}
    assert not invented, f"refused and yet stored: {invented}"


def check_integrity(home: Home) -> None:
    with contextlib.closing(sqlite3.connect(home.data / "sayso.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# Full --------------------------------------------------------------------------------------------


@test("a full disk: new asks are refused first, answers while there is room, and all goes on afterwards", "P16")
def full_disk() -> None:
    for kind, size in (("tmpfs", 4 * MIB), ("ext4", 12 * MIB)):
        with disk(kind, size) as home:
            serve(home)
            pid = home.hub_pid()
            acknowledged: dict[str, str] = {}
            refused: set[str] = set()
            with speak(home, "agent") as agent, speak(home, "person") as person:
                asks = [create(agent, f"ask {i}") for i in range(20)]
                waiting = agent.start("ask/wait", session_id=asks[0], wait_seconds=600)
                fill(home, 700 * KIB)
                expect_storage_failed(lambda: create(agent, "too late"), "almost full", "free some space")
                by_hand = home.sayso("ask", "Too late", "-p", "A prompt that is long enough.", "-o", "a=A", "-o",
                                     "b=B", "-r", "a", "--wait", "0")
                assert by_hand.code == 1 and "free some space" in by_hand.err, by_hand
                for i, ask in enumerate(asks[:5]):  # room is kept for these
                    answer = "ab"[i % 2]
                    assert person.call("ask/answer", session_id=ask, selected_ids=[answer])["status"] == "submitted"
                    acknowledged[ask] = answer
                assert agent.finish(waiting)["selection"]["selected_ids"] == ["a"]
                fill(home, 0)
                for i, ask in enumerate(asks[5:15]):
                    answer = "ab"[i % 2]
                    try:
                        person.call("ask/answer", session_id=ask, selected_ids=[answer],
                                    global_annotation="n" * 1900)
                        acknowledged[ask] = answer
                    except WireError as problem:
                        assert problem.data["code"] == "storage_failed", problem
                        assert "free some space" in problem.message, problem
                        refused.add(ask)
                expect_storage_failed(lambda: create(agent, "still full"), "free some space")
                statuses = {row["session_id"]: row["status"] for row in person.call("ask/list")["asks"]}
                assert all(statuses[ask] == "pending" for ask in refused), statuses
                note(f"{kind}: {len(acknowledged) - 5} answered on the full disk, {len(refused)} refused")
                assert home.hub_pid() == pid, "the hub died of a full disk"
                make_room(home)
                for ask in refused:
                    assert person.call("ask/answer", session_id=ask, selected_ids=["a"])["status"] == "submitted"
                    acknowledged[ask] = "a"
                late = create(agent, "room again")
                person.call("ask/answer", session_id=late, selected_ids=["b"])
                acknowledged[late] = "b"
            assert home.hub_pid() == pid, "it needed a restart"
            expect_kept(home, acknowledged)
            assert home.sayso("stop").code == 0
            check_integrity(home)


@test("a deadline on a full disk: the timeout is not told before it is stored, and it is stored once there is room", "P16")
def deadline_on_full_disk() -> None:
    with disk("tmpfs", 4 * MIB) as home:
        serve(home)
        with speak(home, "agent") as agent, speak(home, "person") as person:
            ask = create(agent, "short", timeout_seconds=2)
            waiting = agent.start("ask/wait", session_id=ask, wait_seconds=600)
            for i in range(12):  # what room the log has is used up
                create(agent, f"filling {i}", prompt="p" * 60000)
            fill(home, 0)
            time.sleep(3.5)
            is_told = False
            with contextlib.suppress(TimeoutError):
                agent.finish(waiting, 0.1)
                is_told = True
            status = next(row["status"] for row in person.call("ask/list")["asks"] if row["session_id"] == ask)
            assert is_told == (status == "timeout"), (is_told, status)
            make_room(home)
            if not is_told:
                assert agent.finish(waiting)["action_status"] == "timeout"
        assert restarted(home)[ask] == ("timeout", [])


@test("a hub that finds no room to start says so, and starts when there is some", "P16")
def start_on_full_disk() -> None:
    with disk("tmpfs", 2 * MIB) as home:
        fill(home, 0)
        result = home.sayso("list")
        assert result.code == 1 and re.search("space|full", result.err), result
        make_room(home)
        assert home.sayso("list", "--json").json == []
        with speak(home, "agent") as agent, speak(home, "person") as person:
            ask = create(agent, "kept")
            person.call("ask/answer", session_id=ask, selected_ids=["a"])
        assert home.sayso("stop").code == 0
        fill(home, 0)
        result = home.sayso("show", ask, "--json")  # reading may work or be refused, never harm
        assert result.code == 0 or re.search("space|full", result.err + result.out), result
        if home.hub_pid():
            home.kill_hub()
        make_room(home)
        expect_kept(home, {ask: "a"})


@test("a file size limit is a full disk: refused with a remedy, not killed by the signal", "P16")
def file_limit() -> None:
    with Home() as home:
        prlimit = shutil.which("prlimit")
        if not prlimit:
            raise Skip("needs prlimit")
        serve(home, [prlimit, f"--fsize={400 * KIB}:unlimited"])
        pid = home.hub_pid()
        acknowledged: dict[str, str] = {}
        refused: set[str] = set()
        with speak(home, "agent") as agent, speak(home, "person") as person:
            asks = [create(agent, f"ask {i}") for i in range(4)]
            message = ""
            for i in range(26):
                try:
                    create(agent, f"large {i}", prompt="p" * 60000)
                except WireError as problem:
                    assert problem.data["code"] == "storage_failed", problem
                    message = problem.message
                    break
            assert "free some space" in message, "the limit was never met"
            for ask in asks:
                try:
                    person.call("ask/answer", session_id=ask, selected_ids=["b"], global_annotation="n" * 2000)
                    acknowledged[ask] = "b"
                except WireError as problem:
                    assert problem.data["code"] == "storage_failed", problem
                    refused.add(ask)
            assert home.hub_pid() == pid, "the hub died of the limit"
            subprocess.run([prlimit, f"--pid={pid}", "--fsize=unlimited"], check=True)
            for ask in list(refused):
                person.call("ask/answer", session_id=ask, selected_ids=["a"])
                acknowledged[ask] = "a"
            create(agent, "again", prompt="p" * 60000)
            note(f"{len(refused)} of {len(asks)} answers refused at the limit")
        assert home.hub_pid() == pid, "it needed a restart"
        expect_kept(home, acknowledged)
        assert home.sayso("stop").code == 0
        check_integrity(home)


# Read-only ---------------------------------------------------------------------------------------


@test("a disk that is read-only at the start: a clear error, and all is there once it is writable", "P16")
def read_only_at_start() -> None:
    with disk("tmpfs", 4 * MIB) as home:
        with contextlib.ExitStack() as stack:
            assert home.sayso("list").code == 0
            agent, person = stack.enter_context(speak(home, "agent")), stack.enter_context(speak(home, "person"))
            ask = create(agent, "kept")
            person.call("ask/answer", session_id=ask, selected_ids=["b"])
        assert home.sayso("stop").code == 0
        mount("-o", "remount,ro", str(home.data))
        for verb in ("list", "serve"):
            result = home.sayso(verb)
            assert result.code == 1 and "ead-only" in result.err, (verb, result)
        mount("-o", "remount,rw", str(home.data))
        expect_kept(home, {ask: "b"})


@test("a disk that becomes read-only: a clear error, nothing acknowledged, and it goes on afterwards", "P16")
def read_only_mid_run() -> None:
    strace = need_strace()
    with Home() as home:
        serve(home)
        pid = home.hub_pid()
        with speak(home, "agent") as agent, speak(home, "person") as person:
            asks = [create(agent, f"ask {i}") for i in range(6)]
            person.call("ask/answer", session_id=asks[0], selected_ids=["a"])
            # A mount with open files can't be made read-only by hand; the kernel does it to a failing disk,
            # and then every write fails like this.
            attached = copy.copy(home)
            attached.binary = strace
            tracer = attached.spawn("-f", "-p", str(pid), "-e", "trace=pwrite64,ftruncate",
                                    "-e", "inject=pwrite64,ftruncate:error=EROFS", "-o", "/dev/null",
                                    stdout=subprocess.DEVNULL)
            wait_until(lambda: "attached" in (tracer.stderr.readline() or "attached"), "strace is attached")
            time.sleep(0.3)
            for ask in asks[1:4]:
                expect_storage_failed(lambda: person.call("ask/answer", session_id=ask, selected_ids=["b"]),
                                      "read-only", "writable")
            expect_storage_failed(lambda: create(agent, "new"), "read-only")
            expect_storage_failed(lambda: person.call("ask/extend", session_id=asks[1], seconds=60), "read-only")
            expect_storage_failed(lambda: person.call("ask/cancel", session_id=asks[1]), "read-only")
            expect_storage_failed(lambda: agent.call("ask/withdraw", session_id=asks[1]), "read-only")
            statuses = [row["status"] for row in person.call("ask/list")["asks"]]
            assert sorted(statuses) == ["pending"] * 5 + ["submitted"], statuses
            tracer.terminate()
            tracer.communicate(timeout=HANG_S)
            home.spawned.remove(tracer)
            for ask in asks[1:4]:
                person.call("ask/answer", session_id=ask, selected_ids=["a"])
            late = create(agent, "again")
            person.call("ask/answer", session_id=late, selected_ids=["b"])
        assert home.hub_pid() == pid, "it needed a restart"
        expect_kept(home, {**dict.fromkeys(asks[:4], "a"), late: "b"}, set(asks[4:]))


@test("a file system the kernel shuts down under us: nothing is acknowledged, what was is kept", "P16")
def shut_down() -> None:
    with disk("ext4", 16 * MIB) as home:
        process = serve(home)
        acknowledged: dict[str, str] = {}
        refused: set[str] = set()
        with speak(home, "agent") as agent, speak(home, "person") as person:
            asks = [create(agent, f"ask {i}") for i in range(6)]
            for ask in asks[:3]:
                person.call("ask/answer", session_id=ask, selected_ids=["a"])
                acknowledged[ask] = "a"
            if subprocess.run(["mount", "-o", "remount,abort", str(home.data)], capture_output=True).returncode != 0:
                raise Skip("ext4 can't be made to abort here")
            for ask in asks[3:]:
                with contextlib.suppress(EOFError, ConnectionError):
                    expect_storage_failed(lambda: person.call("ask/answer", session_id=ask, selected_ids=["b"]))
                    refused.add(ask)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(6)  # it leaves, so that the next one looks at the disk afresh
        if home.hub_pid():
            home.kill_hub()
        process.wait(HANG_S)
        subprocess.run(["umount", str(home.data)], check=True)
        subprocess.run(["e2fsck", "-fy", str(home.path / "image")], capture_output=True)
        mount("-o", "loop", str(home.path / "image"), str(home.data))
        expect_kept(home, acknowledged, refused)


# Locked ------------------------------------------------------------------------------------------


@test("a database locked by another program: an id or an ack comes only when it is stored", "P16 R5.2")
def locked() -> None:
    @contextlib.contextmanager
    def lock(home: Home) -> Iterator[None]:
        with contextlib.closing(sqlite3.connect(home.data / "sayso.db", isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield
            db.execute("ROLLBACK")

    def for_a_while() -> None:
        with Home() as home:
            assert home.sayso("list").code == 0
            with speak(home, "agent") as agent, speak(home, "person") as person:
                ask = create(agent, "before")
                with lock(home):
                    new = agent.start("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("new"))
                    answer = person.start("ask/answer", session_id=ask, selected_ids=["a"])
                    time.sleep(1)
                    for wire in (agent, person):
                        with contextlib.suppress(TimeoutError):
                            raise AssertionError(f"told before it is stored: {wire.read(0.1)}")
                found = agent.finish(new)["session_id"]
                assert person.finish(answer)["status"] == "submitted"
                assert person.call("ask/get", session_id=found)["ask"]["status"] == "pending"
            expect_kept(home, {ask: "a"}, {found})

    def for_too_long() -> None:
        with Home() as home:
            assert home.sayso("list").code == 0
            with speak(home, "agent") as agent, speak(home, "person") as person:
                ask = create(agent, "before")
                with lock(home):
                    new = agent.start("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("new"))
                    answer = person.start("ask/answer", session_id=ask, selected_ids=["a"])
                    expect_storage_failed(lambda: agent.finish(new), "locked", "close that program")
                    expect_storage_failed(lambda: person.finish(answer), "locked")
                assert [row["status"] for row in person.call("ask/list")["asks"]] == ["pending"]
                person.call("ask/answer", session_id=ask, selected_ids=["b"])
            expect_kept(home, {ask: "b"})

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(for_a_while), pool.submit(for_too_long)]:
            future.result()


# Broken ------------------------------------------------------------------------------------------


def scripted_session(home: Home, process: subprocess.Popen, acknowledged: dict[str, str],
                     refused: set[str]) -> None:
    """Asks and answers until the hub is gone; says what was acknowledged and what was refused."""
    with contextlib.suppress(EOFError, ConnectionError, FileNotFoundError):
        with speak(home, "agent") as agent, speak(home, "person") as person:
            for i in range(SESSION_ASKS):
                if process.poll() is not None:
                    return
                with contextlib.suppress(WireError):
                    ask = create(agent, f"ask {i}")
                    refused.add(ask)  # until it is acknowledged or its fate is unknown
                    try:
                        person.call("ask/answer", session_id=ask, selected_ids=["ab"[i % 2]])
                        acknowledged[ask] = "ab"[i % 2]
                        refused.discard(ask)
                    except (EOFError, ConnectionError):
                        refused.discard(ask)
                        raise


def inject(strace: str, start: str, call: str, error: str, number: int) -> tuple[str, int]:
    """One session in which the so-manieth such call of a thread fails: how it went on, how many answers stand."""
    acknowledged: dict[str, str] = {}
    refused: set[str] = set()
    with Home() as home:
        if start == "used":  # else its making uses the first calls up
            assert home.sayso("list").code == 0 and home.sayso("stop").code == 0
        process = serve(home, [strace, "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}",
                               "-e", f"inject={call}:error={error}:when={number}"])
        scripted_session(home, process, acknowledged, refused)
        if process.poll() is None and error in ("EIO", "EINTR") and len(acknowledged) < SESSION_ASKS:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(8)  # a hub whose disk failed leaves by itself
        went = "left" if process.poll() is not None else "went on"
        if home.hub_pid():
            home.kill_hub()
        process.wait(HANG_S)
        expect_kept(home, acknowledged, refused)
        with speak(home, "agent") as agent, speak(home, "person") as person:
            ask = create(agent, "afterwards")
            assert person.call("ask/answer", session_id=ask, selected_ids=["a"])["status"] == "submitted"
        assert home.sayso("stop").code == 0
        check_integrity(home)
        assert not list(home.data.glob("*damaged*")), "a sound database was set aside"
    return went, len(acknowledged)


def inject_all(cases: list[tuple[str, str, str, int]]) -> None:
    strace = need_strace()
    problems: list[str] = []
    outcomes: dict[str, list[str]] = {}

    def one(case: tuple[str, str, str, int]) -> None:
        try:
            went, kept = inject(strace, *case)
            outcomes.setdefault(" ".join(case[:3]), []).append(f"{case[3]}:{went[0]}{kept}")
        except Exception as problem:
            problems.append(f"{case}: {type(problem).__name__} {problem}")

    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(one, cases))
    for name, rows in outcomes.items():  # number of the call : l(eft) or w(ent on), answers acknowledged
        rows.sort(key=lambda row: int(row.partition(":")[0]))
        note(f"{name}: {' '.join(rows)}")
    assert not problems, "\n".join(problems)


@test("a sync that fails, whichever it is: no acknowledged answer is missing, no refused one appears", "P16")
def failing_syncs() -> None:
    inject_all([("fresh", "fdatasync", "EIO", number) for number in range(1, 16)] +
               [("used", "fdatasync", "EIO", number) for number in range(1, 16)] +
               [("fresh", "fsync", "EIO", number) for number in range(1, 4)])


@test("a write, read or truncation that fails, one after the other: the same", "P16")
def failing_calls() -> None:
    rows = [("fresh", "pwrite64", "EIO", 7), ("used", "pwrite64", "EIO", 29), ("used", "pwrite64", "ENOSPC", 23),
            ("used", "pwrite64", "EDQUOT", 31), ("used", "pwrite64", "EINTR", 17), ("used", "pread64", "EIO", 1),
            ("used", "ftruncate", "EIO", 1), ("used", "fdatasync", "EINTR", 3)]
    count = min(scaled(8), 200)
    inject_all([(start, call, error, 1 + i * step) for start, call, error, step in rows for i in range(count)])


run()
