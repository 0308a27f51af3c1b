"""`sayso gate` that crashes, is out of memory or out of stack: each client's hook gets a no, in the shape that client reads.

Proves: R11.3
"""
from __future__ import annotations

import fcntl
import json
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import termios
import time
from typing import Any

from harness import ROOT, Home, Result, counted, run, scaled, test

HOOKS = json.loads((ROOT / "tests/corpus/hooks.json").read_text())["cases"]
CLIENTS = {case["client"]: case for case in HOOKS}
BY_CODE = ("claude", "codex", "gemini")  # exit code 2 is a no; the others go on where a hook fails, and read the JSON
BLOCKS = 2
DEADLY = [number for number in signal.valid_signals() if number not in (
    signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH, signal.SIGTSTP,
    signal.SIGTTIN, signal.SIGTTOU, signal.SIGALRM, *range(signal.SIGRTMIN + 1, signal.SIGRTMAX))]
HERE = pathlib.Path(__file__).parent
LIMIT_S = 120


def hook(case: dict[str, Any], command: str) -> bytes:
    text = json.dumps(case["hook"])
    return text.replace("{COMMAND}", command).encode()


def at(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def is_deny(case: dict[str, Any], result: Result) -> bool:
    """As that client reads it: by the exit code, or by JSON with a decision and a reason."""
    if result.code == BLOCKS and case["client"] in BY_CODE:
        return bool(result.err.strip())
    if result.code != 0 or not result.out.endswith("\n") or result.out.count("\n") != 1:
        return False
    return at(result.json, case["decision"]) == "deny" and bool(at(result.json, case["reason"]))


def expect_crash_deny(case: dict[str, Any], result: Result) -> None:
    assert is_deny(case, result), result
    assert at(result.json, case["decision"]) == "deny" and "failed" in at(result.json, case["reason"]), result
    if case["client"] in BY_CODE:
        assert result.code == BLOCKS and "denied" in result.err, result


def run_gate(home: Home, given: bytes, *options: str, limits: Any = None, env: dict[str, str] | None = None) -> Result:
    """In bytes; with limits of the kernel's that hold from before its first instruction."""
    made = subprocess.run([home.binary, "gate", *options], input=given, capture_output=True, timeout=LIMIT_S,
                          env={**home.environment, **(env or {})}, preexec_fn=limits, check=False)
    return Result(made.returncode, made.stdout.decode(), made.stderr.decode())


def no_hub(home: Home) -> None:
    """No hub can be started here, so a call that a rule speaks of is denied soon."""
    home.data.parent.mkdir(parents=True)
    home.data.write_text("not a directory")


@test("any signal that ends a program is a no, in the shape of the client that --client names", "R11.3")
def signals(home: Home) -> None:
    for case in CLIENTS.values():
        for options in (["--client", case["client"]], [f"--client={case['client']}"]):
            for number in DEADLY if len(options) == 2 else (signal.SIGABRT, signal.SIGTERM):
                process = home.spawn("gate", *options)
                process.stdin.write("{")  # it reads on for more
                process.stdin.flush()
                wait_reading(process)
                process.send_signal(number)
                out, err = process.communicate(timeout=LIMIT_S)
                home.spawned.remove(process)
                expect_crash_deny(case, Result(process.returncode, out, err))


def wait_reading(process: subprocess.Popen) -> None:
    """Until it has taken what was sent: then its handlers are there."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        left = int.from_bytes(fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, b"\0\0\0\0"), "little")
        if left == 0:
            return
        time.sleep(0.005)
    raise AssertionError("the gate does not read")


@test("without --client a crash is blocked by the exit code clients agree on", "R11.3")
def unnamed(home: Home) -> None:
    for options in ([], ["--client", "nobody"], ["--client"]):
        result = run_gate(home, b"{}", *options, limits=lambda: resource.setrlimit(resource.RLIMIT_STACK, (32768, 32768)))
        assert result.code == BLOCKS and not result.out and result.err.startswith("sayso"), (options, result)


@test("a stack that is full is a no", "R11.3")
def stacks(home: Home) -> None:
    for case in CLIENTS.values():
        crashed = 0
        for kilobytes in (32, 40, 48, 64, 96, 128, 256):  # with less the loader itself may crash, before any of our code runs
            size = kilobytes * 1024
            result = run_gate(home, hook(case, "ls"), "--client", case["client"],
                              limits=lambda: resource.setrlimit(resource.RLIMIT_STACK, (size, size)))
            if result.out != "{}\n":
                expect_crash_deny(case, result)
                crashed += 1
        assert crashed, "no stack was too small"


def preloaded(folder: pathlib.Path, source: str) -> dict[str, str]:
    library = folder / "preloaded.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / source)], check=True)
    return {"LD_PRELOAD": str(library)}


@test("time that is up while the reply is being written adds no second one", "R11.3")
def late(home: Home) -> None:
    no_hub(home)
    with tempfile.TemporaryDirectory() as folder:
        preload = preloaded(pathlib.Path(folder), "late_alarm.c")
        for case in CLIENTS.values():
            denied = run_gate(home, hook(case, "rm -rf /tmp/x"), "--client", case["client"], env=preload)
            assert is_deny(case, denied) and "in time" not in denied.out, denied
            assert run_gate(home, hook(case, "ls"), "--client", case["client"], env=preload).out == "{}\n"
    home.data.unlink()


@test("every allocation that fails, once or from then on, ends in a no or in what would have been said", "R11.3")
def allocations(home: Home) -> None:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sym", dir="/tmp"))
    count_file = folder / "count"
    no_hub(home)
    preload = preloaded(folder, "failing_malloc.c")
    runs = crashes = 0
    try:
        for case in CLIENTS.values():
            given = hook(case, "rm -rf /tmp/x")
            run_gate(home, given, "--client", case["client"], env={**preload, "FAIL_AT": "0", "FAIL_COUNT_FILE": str(count_file)})
            count = int(count_file.read_text())
            step = max(1, count // scaled(25))
            for number in [1, 2, 3, *range(4, count + 1, step)]:
                for more in ({}, {"FAIL_FOR_EVER": "1"}):
                    result = run_gate(home, given, "--client", case["client"], env={**preload, "FAIL_AT": str(number), **more})
                    assert is_deny(case, result), (case["client"], number, more, result)
                    crashes += "failed" in result.out
                    runs += 1
    finally:
        shutil.rmtree(folder)
        home.data.unlink()
    assert crashes, "no allocation failed"
    counted(f"{runs} failed allocations, {crashes} of them ended the gate: each was a no")


def in_space(kilobytes: int) -> Any:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (kilobytes << 10, kilobytes << 10))


def least_space(home: Home) -> int:
    """KiB in which the program can just be started."""
    least, most = 1024, 1 << 20
    while most - least > 64:
        middle = (least + most) // 2
        made = subprocess.run([home.binary, "version"], capture_output=True, env=home.environment, timeout=LIMIT_S,
                              preexec_fn=in_space(middle), check=False)
        least, most = (least, middle) if made.returncode == 0 else (middle, most)
    return most


@test("an address space that is too small is a no", "R11.3")
def address_space(home: Home) -> None:
    no_hub(home)
    least, crashed = least_space(home), 0
    for case in CLIENTS.values():
        given = hook(case, "rm -rf /tmp/x " + "x" * 900_000)
        for more in range(64, 8193, 256):
            result = run_gate(home, given, "--client", case["client"], limits=in_space(least + more))
            assert is_deny(case, result), (least + more, result)
            crashed += "failed" in result.out
    home.data.unlink()
    assert crashed, "it was never out of address space"
    counted(f"{crashed} times out of address space: each was a no")


run()
