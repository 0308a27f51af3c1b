"""The command line and its surroundings: the hub's verbs, full and closed streams, homes of all kinds.

Proves: R10.3 R12.1
"""
from __future__ import annotations

import copy
import json
import os
import pathlib
import pwd
import re
import signal
import stat
import subprocess
import time

from cli_stage import DONE, FAILED, PENDING, WORDS, ask, asking, end, expect, one_line, row_of
from harness import HANG_S, ON_POSTGRES, Home, Result, Skip, needs_file, run, test

NOBODY = 65534


# The hub -----------------------------------------------------------------------------------------


@test("status: about the hub, in a short line, as JSON; without one it says so and starts none", "R10.3")
def status(home: Home) -> None:
    needs_file()
    assert "not running" in one_line(expect(home.sayso("status"), DONE).err)
    short = home.sayso("status", "--short")
    assert short == Result(DONE, "", ""), short
    assert home.sayso("status", "--json").json["running"] is False
    assert not home.hub_pid() and not home.data.exists(), "status started a hub"
    assert home.sayso("list").code == DONE and home.sayso("status", "--short") == Result(DONE, "", "")
    ask(home, "T"), ask(home, "U")
    short = home.sayso("status", "--short").out
    assert re.search(r"\b2\b", one_line(short)) and len(short) < 40, short
    facts = home.sayso("status", "--json").json
    assert facts["running"] is True and facts["pending"] == 2 and facts["pid"] == home.hub_pid()
    assert facts["socket"] == home.hub()["socket"] and pathlib.Path(facts["store"]).is_file()
    assert pathlib.Path(facts["log"]).is_file() and facts["url"] == f"http://127.0.0.1:{facts['port']}/"
    plain = home.sayso("status").out
    for key in ("pid", "version", "socket", "store", "log", "pending"):
        assert str(facts[key]) in plain, (key, plain)
    assert expect(home.sayso("stop"), DONE).out.strip() and not home.hub_pid()
    assert "not running" in one_line(expect(home.sayso("stop"), DONE).err)
    assert home.sayso("status", "--json").json["running"] is False and not home.hub_pid()


@test("serve stays in the foreground, says how to answer; a second one says there is one; Ctrl-C ends it",
      "R10.3")
def serve(home: Home) -> None:
    process = home.spawn("serve", stdin=subprocess.DEVNULL)
    pid = home.wait_hub()
    assert pid == process.pid
    second = home.sayso("serve")
    assert "sayso status" in one_line(expect(second, FAILED).err), second
    assert home.sayso("serve", "--json").code == FAILED
    log = home.sayso("status", "--json").json["log"]
    ask(home, "T")
    process.send_signal(signal.SIGINT)
    result = end(home, process)
    assert result.code == DONE and str(pid) in result.out, result
    assert "sayso list" in result.out and "sayso answer" in result.out and "Ctrl-C" in result.out, result
    assert not home.hub_pid() and (log is None or os.path.isfile(log)), "status names a log that is not there"
    process = home.spawn("serve", "--json", stdin=subprocess.DEVNULL)
    home.wait_hub()
    assert home.sayso("list", "--active", "--json").json[0]["title"] == "T"
    expect(home.sayso("stop"), DONE)
    facts = json.loads(end(home, process).out)
    assert facts["pid"] == process.pid and facts["pending"] == 1, facts


@test("stop ends the hub under waiting asks: they say so, exit 5, and the ask is still there", "R10.3")
def stop_under_asks(home: Home) -> None:
    with asking(home, "T") as (session_id, process):
        assert expect(home.sayso("stop"), DONE).out.strip()
        result = end(home, process)
    assert result.code == PENDING and not result.out and session_id in result.err, result
    assert row_of(home, session_id)["status"] == "pending"
    with asking(home, "U", *WORDS, "--json") as (session_id, process):
        expect(home.sayso("stop"), DONE)
        result = end(home, process)
    assert result.code == PENDING and result.json["session_id"] == session_id, "--json, and no JSON"


@test("a hub that stops while others need one is stopped all the same, or says why not", "R10.3")
def stop_in_a_crowd(home: Home) -> None:
    for number in range(5):
        ask(home, f"T{number}")
        pid = home.hub_pid()
        stop = home.spawn("stop", stdin=subprocess.DEVNULL)
        lists = [home.spawn("list", stdin=subprocess.DEVNULL) for _ in range(3)]
        began = time.monotonic()
        result = end(home, stop)
        assert result.code == DONE and time.monotonic() - began < HANG_S, (result, "the next hub is not this one")
        assert home.hub_pid() != pid
        for listed in [end(home, process) for process in lists]:
            assert listed.code == DONE or "hub" in one_line(listed.err), listed


# Where it runs -----------------------------------------------------------------------------------


@test("an answer that could not be printed is not lost: the next identical call gets it", "R10.3")
def full_stdout(home: Home) -> None:
    with open("/dev/full", "w") as full:
        for name, streams in (("full", {"stdout": full}), ("closed", {"preexec_fn": lambda: os.close(1)})):
            with asking(home, name, **streams) as (session_id, process):
                expect(home.sayso("answer", session_id, "--select", "us"), DONE)
                result = end(home, process)
            assert result.code == FAILED and "output" in result.err.splitlines()[-1], (name, result)
            again = home.sayso("ask", name, *WORDS, "--wait", "0")
            assert again.code == DONE and again.out == "us\n", (name, again, "the answer is lost")


@test("output that can't be written is an error", "R10.3")
def full_disk(home: Home) -> None:
    ask(home, "T")
    for words in (["list"], ["list", "--json"], ["show"], ["show", "--json"], ["status"], ["settings"],
                  ["--help"], ["version"]):
        with open("/dev/full", "w") as full:
            result = end(home, home.spawn(*words, stdin=subprocess.DEVNULL, stdout=full))
        assert result.code == FAILED and one_line(result.err), (words, result)


@test("closed standard streams do no harm: nothing of ours is written over", "R10.3")
def closed_streams(home: Home) -> None:
    session_id = ask(home, "T")
    for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
        for words in (["list"], ["show", session_id], ["ask", "U", *WORDS, "--wait", "0"], ["status"],
                      ["settings", "get", "port"]):
            def close(closed: tuple[int, ...] = closed) -> None:
                for number in closed:
                    os.close(number)
            result = end(home, home.spawn(*words, preexec_fn=close))
            assert result.code in (DONE, FAILED, PENDING), (closed, words, result)
            if 1 not in closed:
                assert result.code in (DONE, PENDING) and result.out, (closed, words, result)
    result = end(home, home.spawn("ask", "--from", "-", preexec_fn=lambda: os.close(0)))
    assert result.code == FAILED and one_line(result.err), result
    expect(home.sayso("stop"), DONE)
    result = end(home, home.spawn("list", "--json", preexec_fn=lambda: os.close(2)))  # starts a hub
    assert [row["title"] for row in result.json] == ["U", "T"], result
    if not ON_POSTGRES:
        assert home.rows("PRAGMA integrity_check") == [("ok",)]


def elsewhere(home: Home, env: dict[str, str], *prefix: str) -> Home:
    """The program with nothing but this environment, by way of another program if one is given."""
    other = copy.copy(home)
    other.environment = {"PATH": home.environment["PATH"], **env}
    other.binary = prefix[0] if prefix else home.binary
    return other


def as_nobody(home: Home, env: dict[str, str], *words: str) -> Result:
    """With another uid, which has no rights here; only root can do that."""
    if os.getuid() != 0:
        raise Skip("needs root, to be somebody without rights")
    home.path.chmod(0o755)
    prefix = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", home.binary)
    return elsewhere(home, env, *prefix).sayso(*prefix[1:], *words, cwd="/")


@test("HOME unset: the user's entry in the list of users says where", "R10.3")
def home_unset(home: Home) -> None:
    place = pwd.getpwuid(NOBODY).pw_dir
    if os.path.exists(place):
        raise Skip("the user nobody has a home")
    for env in ({}, {"HOME": ""}, {"HOME": "relative"}):
        result = as_nobody(home, env, "list")
        assert result.code == FAILED and f"{place}/.local/share/sayso" in one_line(result.err), result
        assert as_nobody(home, env, "status").code == DONE and as_nobody(home, env, "--help").code == DONE


@test("a home that can't be written: one clear line that names the directory and the reason", "R10.3")
def home_not_writable(home: Home) -> None:
    locked = home.path / "locked"
    locked.mkdir(mode=0o555)
    places = ["/proc/nowhere", "/dev/null"] + ([str(locked)] if os.getuid() else [])
    def check(result: Result, place: str) -> None:
        line = one_line(result.err)
        # in a home that is not a directory, the settings can't be read either
        named = [f"{place}/.local/share/sayso"] + [f"{place}/.config/sayso/settings.json"] * (place == "/dev/null")
        assert result.code == FAILED and not result.out and any(name in line for name in named), result
        assert "saved" not in line, f"nothing was to be saved: {line}"
    for place in places:
        other = elsewhere(home, {"HOME": place})
        for words in (["list"], ["ask", "T", *WORDS], ["serve"]):
            check(other.sayso(*words), place)
        if place != "/dev/null":  # there it warns about the file, and shows the default
            check(other.sayso("settings", "get", "port"), place)
        assert other.sayso("status").code == (FAILED if place == "/dev/null" else DONE)
    if os.getuid() == 0:
        check(as_nobody(home, {"HOME": str(locked)}, "list"), str(locked))


@test("whatever the umask: directories 0700, files and socket 0600, and nothing outside XDG's places",
      "R12.1 R10.3")
def modes() -> None:
    needs_file()
    for mask in (0o000, 0o022, 0o027, 0o077, 0o777):
        with Home() as home:
            def through(*words: str, mask: int = mask) -> Result:
                return end(home, home.spawn(*words, stdin=subprocess.DEVNULL, umask=mask))
            through("ask", "T", *WORDS, "--wait", "0")
            through("settings", "set", "timeout_seconds", "100")
            through("settings", "set", "portal", "on")
            through("answer", "--select", "eu")
            through("stop")
            through("list")
            ours = [home.path / ".local", home.path / ".config", *(home.path / ".local").rglob("*"),
                    *(home.path / ".config").rglob("*"), *(home.path / "run").rglob("*")]
            names = {path.name for path in ours}
            assert {"sayso.db", "hub.json", "hub.log", "hub.lock", "settings.json"} <= names, (oct(mask), names)
            assert any(stat.S_ISSOCK(path.stat().st_mode) for path in ours), names
            for path in ours:
                mode = stat.S_IMODE(path.stat().st_mode)
                assert mode == (0o700 if path.is_dir() else 0o600), (oct(mask), path.name, oct(mode))
            assert {path.name for path in home.path.iterdir()} == {".local", ".config", "run"}


run()
