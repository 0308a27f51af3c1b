"""Homes seen by other programs, users and environments; what the files test_hub_*.py share."""
from __future__ import annotations

import contextlib
import copy
import glob
import os
import pathlib
import stat
from typing import Any

from harness import HANG_S, Home, Result

NOBODY = 65534
ASK = ["ask", "Which one?", "-p", "Two ways are open and both would work.", "-o", "a=First",
       "-o", "b=Second", "-r", "a"]


def variant(home: Home, binary: str | None = None, env: dict[str, str] | None = None,
            only: dict[str, str] | None = None) -> Home:
    """The same home seen by another program or through another environment."""
    other = copy.copy(home)
    other.binary = binary or home.binary
    other.environment = only if only is not None else {**home.environment, **(env or {})}
    return other


def through(home: Home, prefix: list[str], *args: str, **more: Any) -> Result:
    """Runs the program by way of another one, such as setpriv."""
    return variant(home, prefix[0]).sayso(*prefix[1:], home.binary, *args, **more)


def hubs() -> list[int]:
    """Hubs that are ours to care for: what lost its parent comes to this process."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, fields = int(path.split("/")[2]), pathlib.Path(path).read_text().rpartition(")")[2].split()
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if int(fields[1]) == os.getpid() and fields[0] not in "ZX" and b"serve" in words:
                found.append(pid)
    return found


def all_at_once(homes: list[Home], *args: str) -> list[Result]:
    """Each waits for its standard input to end, which is one pipe for all of them."""
    held, release = os.pipe()
    started = []
    for home in homes:
        waiting = variant(home, "/bin/sh")
        started.append(waiting.spawn("-c", 'read _; exec "$@" </dev/null', "sh", home.binary, *args,
                                     stdin=held))
    os.close(held)
    os.close(release)
    results = []
    for home, process in zip(homes, started):
        out, err = process.communicate(timeout=60)
        home.spawned.remove(process)
        results.append(Result(process.returncode, out, err))
    return results


def expect_all_work(results: list[Result]) -> None:
    bad = [result for result in results if result.code != 0]
    assert not bad, f"{len(bad)} of {len(results)} failed: {bad[:3]}"
    for result in results:
        assert isinstance(result.json, list), result


def mode_of(path: str | os.PathLike) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def pending_ask(home: Home, *more: str) -> str:
    """The id of an ask that no process waits for."""
    result = home.sayso(*ASK, "--wait", "0", "--json", *more)
    assert result.code == 5, result
    return result.json["session_id"]


def end_of(home: Home, process, timeout: float = HANG_S) -> Result:
    out, err = process.communicate(timeout=timeout)
    home.spawned.remove(process)
    return Result(process.returncode, out, err)
