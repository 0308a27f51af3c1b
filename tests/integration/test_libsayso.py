"""libsayso as others get it: installed, compiled against, linked, and run beside a real hub.

Proves: R4.5 R14.1 R5.5 R4.4
"""
from __future__ import annotations

import atexit
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from cli_stage import DONE, expect
from harness import ROOT, SCALE, Home, Result, Skip, counted, run, test, wait_until

EXAMPLES = ("confirm", "release", "two_at_once", "collect_later", "two_threads")
SYMBOLS = [line for line in (ROOT / "src/lib/libsayso.symbols").read_text().splitlines()
           if not line.startswith("#")]
VALGRIND = ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect,possible"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
DENIED = {"abort", "exit", "raise", "kill", "printf", "puts", "perror", "stderr", "stdout", "fprintf", "syslog",
          "write", "__assert_fail", "setenv", "setlocale", "sigaction"}  # a library does none of that to its host
_watched: set[tuple[str, ...]] = set()


def command(*words: str, **settings) -> str:
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def make(target: str, stage: pathlib.Path, *words: str) -> None:
    outer = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}  # of the make that runs this
    command("make", "-C", str(ROOT), target, f"DESTDIR={stage}", "PREFIX=/usr", *words,
            env={name: value for name, value in os.environ.items() if name not in outer})


@functools.cache
def stage() -> pathlib.Path:
    """One installed tree with the examples compiled for all tests of this file."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="sylib", dir="/tmp"))
    atexit.register(shutil.rmtree, place)
    make("install", place)
    sources = {name: place / f"usr/share/doc/sayso/examples/c/{name}.c" for name in EXAMPLES}
    for name, source in {**sources, "probe": ROOT / "tests/integration/libsayso_probe.c"}.items():
        for suffix, static in (("", []), ("-static", ["--static"])):
            flags = pkg_config(place, "--cflags", "--libs", *static)
            if static:  # the archive in the place of the shared one
                flags = [str(place / "usr/lib/libsayso.a") if flag == "-lsayso" else flag for flag in flags]
            command("cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-g", *WARNINGS, str(source), *flags, "-pthread",
                    "-o", str(place / (name + suffix)))
    return place


def pkg_config(place: pathlib.Path, *options: str) -> list[str]:
    found = command("pkg-config", *options, "sayso", env={
        **os.environ, "PKG_CONFIG_LIBDIR": str(place / "usr/lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(place)})
    return found.split()


def example(home: Home, name: str, *words: str, is_watched: bool = True, stdin=subprocess.DEVNULL,
            **env: str) -> subprocess.Popen:
    """Started under valgrind, each way to ask once and in longer runs always, like a user's program whose PATH has what was
    installed."""
    way = (name, *words[:1]) if name == "probe" else (name,)
    if is_watched and SCALE <= 1:
        is_watched = way not in _watched
        _watched.add(way)
    line = [*(VALGRIND if is_watched else []), str(stage() / name), *words]
    paths = {"PATH": f"{stage()}/usr/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": f"{stage()}/usr/lib"}
    return home.spawn(*line[1:], program=line[0], stdin=stdin, cwd=str(home.path), env={**paths, **env})


def end(home: Home, process: subprocess.Popen, said: str = "") -> Result:
    out, err = process.communicate(said or None, timeout=60)
    home.spawned.remove(process)
    assert process.returncode != 99 and "==" not in err, err
    return Result(process.returncode, out or "", err or "")


def open_asks(home: Home, count: int = 1) -> list[dict]:
    def found() -> list[dict] | None:
        rows = home.sayso("list", "--active", "--json").json
        return rows if len(rows) == count else None
    return wait_until(found, f"{count} open asks")


def only_ask(home: Home) -> str:
    return open_asks(home)[0]["session_id"]


@test("make install and make uninstall: what the one puts there the other takes away, and nothing else", "R4.5")
def install_and_uninstall() -> None:
    with tempfile.TemporaryDirectory(prefix="sylib", dir="/tmp") as folder:
        place = pathlib.Path(folder)
        (place / "usr/lib/pkgconfig").mkdir(parents=True)
        foreign = place / "usr/lib/pkgconfig/other.pc"
        foreign.write_text("not ours")
        make("install", place, "LIBDIR=/usr/lib/here")
        found = {str(file.relative_to(place)): file for file in place.rglob("*") if not file.is_dir()}
        for name in ("usr/bin/sayso", "usr/lib/here/libsayso.so.1.0.0", "usr/lib/here/libsayso.a",
                     "usr/include/sayso.h", "usr/lib/here/pkgconfig/sayso.pc", "usr/share/man/man3/libsayso.3",
                     "usr/share/man/man3/sayso_confirm.3", "usr/share/doc/sayso/examples/c/confirm.c"):
            assert name in found, (name, sorted(found))
        assert os.readlink(found["usr/lib/here/libsayso.so"]) == "libsayso.so.1"
        assert "libdir=/usr/lib/here\n" in found["usr/lib/here/pkgconfig/sayso.pc"].read_text()
        make("install", place, "LIBDIR=/usr/lib/here")  # over itself
        make("uninstall", place, "LIBDIR=/usr/lib/here")
        left = [file for file in place.rglob("*") if not file.is_dir()]
        assert left == [foreign], left


@test("the ABI: exported symbols, their version, the library's name, what it needs of its host", "R14.1 R4.5")
def abi() -> None:
    library, archive = stage() / "usr/lib/libsayso.so.1.0.0", stage() / "usr/lib/libsayso.a"
    rows = [line.split() for line in command("nm", "-D", "--with-symbol-versions", str(library)).splitlines()]
    exported = sorted(row[2] for row in rows if row[1] == "T")
    assert exported == [f"{name}@@SAYSO_1.0" for name in SYMBOLS], set(exported) ^ set(SYMBOLS)
    wanted = {row[1].partition("@")[0] for row in rows if row[0] == "U"}
    assert not wanted & DENIED, wanted & DENIED
    header = command("objdump", "-p", str(library))
    assert re.findall(r"SONAME +(\S+)", header) == ["libsayso.so.1"]
    assert re.findall(r"NEEDED +(\S+)", header) == ["libc.so.6"]
    seen = [line.split()[2] for line in command("nm", "-g", "--defined-only", str(archive)).splitlines()
            if len(line.split()) == 3]
    assert sorted(seen) == SYMBOLS, set(seen) ^ set(SYMBOLS)


@test("the header is whole by itself, in C and C++, and header, list and manual name the same functions", "R4.5")
def header() -> None:
    path = stage() / "usr/include/sayso.h"
    assert sorted(set(re.findall(r"\b(sayso_\w+)\(", re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)))) \
        == SYMBOLS
    page = (ROOT / "docs/man/libsayso.3").read_text()
    assert not [name for name in SYMBOLS if f"{name}(" not in page]
    assert not re.search(r"#include <(uv|jansson)", path.read_text())
    with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
        source.write("#include <sayso.h>\nint main(void) { return sayso_code_name(SAYSO_OK) == 0; }\n")
        source.flush()
        compilers = [["cc", "-std=c99"], ["c++", "-x", "c++", "-std=c++11"]]
        for compiler in (row for row in compilers if shutil.which(row[0])):
            command(*compiler, *WARNINGS, f"-I{path.parent}", "-fsyntax-only", source.name)


@test("confirm: exits with 0 for a yes; not for a no, for a cancel, or without a person to ask", "R4.5 R4.4")
def confirm(home: Home) -> None:
    for name in ("confirm", "confirm-static"):
        process = example(home, name, "Publish version 3 now?")
        expect(home.sayso("answer", only_ask(home), "--field", "confirmed=yes"), DONE)
        assert end(home, process) == (0, "", "")
        for words, why in ((["decline"], "declined"), (["cancel"], "cancelled"),
                           (["answer", "--field", "confirmed=no"], "declined")):
            process = example(home, name, "Publish version 3 now?")
            expect(home.sayso(words[0], only_ask(home), *words[1:]), DONE)
            said = end(home, process)
            assert said.code == 1 and said.err.startswith(f"no: {why}"), said
    home.sayso("stop")
    said = end(home, example(home, "confirm", "Nobody?", SAYSO_PORTAL="off", SAYSO_TERMINAL="off"))
    assert said.code == 1 and said.err.startswith("no: not_supported"), said


# way: how a person answers, what comes back
WAYS = {
    "choose": (["--select", "us"], "us"), "text_input": (["--text", "Night\u2002drive 中"], "Night\u2002drive 中"),
    "number": (["--field", "value=120.5"], "120.5"), "any_number": (["--field", "value=-3"], "-3"),
    "elicit": (["--field", "name=x", "--field", "many=3"], '{"name":"x","many":3}'),
    "questions": (["--field", "q1=Right"], '{"Which way?":"Right"}'),
}


@test("every way to ask in one call: the answer, a decline, a cancel", "R4.5")
def ways(home: Home) -> None:
    for way, (given, wanted) in WAYS.items():
        process = example(home, "probe", way)
        expect(home.sayso("answer", only_ask(home), *given), DONE)
        assert end(home, process).out == f"ok|{wanted}|\n", way
        for verb, code in (("decline", "declined"), ("cancel", "cancelled")):
            process = example(home, "probe", way, is_watched=False)
            expect(home.sayso(verb, only_ask(home)), DONE)
            said = end(home, process).out
            assert said in (f"{code}||\n", f"{code}|0|\n"), (way, said)
    code, _, result = end(home, example(home, "probe", "ask")).out.partition("|")  # it is not answered within 2 s
    assert code == "timeout" and json.loads(result.rpartition("|")[0])["action_status"] == "timeout", result
    said = end(home, example(home, "probe", "bad")).out
    assert said.startswith("validation_failed||/prompt: "), said


@test("an ask for a terminal has its command while it is open, and its answer later", "R4.5 R6.2")
def for_a_terminal(home: Home) -> None:
    process = example(home, "probe", "terminal")
    assert process.stdout.readline() == "command\n"
    expect(home.sayso("answer", only_ask(home), "--text", "done"), DONE)
    assert end(home, process).out == "ok|done|\n"


NAME, AS, DIRECTORY, SOCKET, PROGRAM, START, PATIENCE, SUB_AGENT = range(8)


@test("options: who asks, which hub, whether one may be started, and by which program", "R4.5 R3.3")
def options(home: Home) -> None:
    assert end(home, example(home, "probe", "connect", f"{START}=no")).out == "channel_closed||no hub is running\n"
    assert not home.hub_pid()
    said = end(home, example(home, "probe", "connect", f"{PROGRAM}={home.binary}", PATH="/bin", is_watched=False))
    assert said.out == "ok||\n" and home.hub_pid(), said
    assert end(home, example(home, "probe", "connect", f"{START}=no")).out == "ok||\n"
    place = home.hub()["socket"]
    process = example(home, "probe", "choose", f"{SOCKET}={place}", f"{NAME}=builder", f"{DIRECTORY}=/srv/it",
                      XDG_DATA_HOME="/nowhere", HOME="/nowhere", XDG_RUNTIME_DIR="/nowhere")
    row = open_asks(home)[0]
    shown = home.sayso("show", row["session_id"], "--json").json["ask"]
    assert shown["agent"] == "builder" and shown["origin"]["directory"] == "/srv/it", shown
    expect(home.sayso("answer", row["session_id"], "--select", "eu"), DONE)
    assert end(home, process).out == "ok|eu|\n"
    said = end(home, example(home, "probe", "questions", f"{SUB_AGENT}=yes")).out
    assert said.startswith("not_supported||"), said
    said = end(home, example(home, "probe", "connect", f"{SOCKET}=/tmp/nobody-there")).out
    assert said == "channel_closed||no hub is listening on /tmp/nobody-there\n", said


@test("release: a form in pieces comes back by its fields, with the note", "R4.5")
def release(home: Home) -> None:
    for words, printed in ((["--field", "nickname=Night drive", "--note", "gently"], "us 12.5 Night drive # gently\n"),
                           ([], "us 12.5 -\n")):
        process = example(home, "release")
        expect(home.sayso("answer", only_ask(home), "--field", "region=us", "--field", "share=12.5", *words), DONE)
        assert end(home, process) == (0, printed, "")


def answer_both(home: Home) -> None:
    for row in open_asks(home, 2):
        given = ["--select", "am"] if "key" in row["title"] else ["--field", "value=120"]
        expect(home.sayso("answer", row["session_id"], *given), DONE)


@test("two_at_once: two questions in the host's own poll(), answered in any order or taken back", "R4.5")
def two_at_once(home: Home) -> None:
    process = example(home, "two_at_once")
    answer_both(home)
    assert end(home, process) == (0, "am at 120\n", "")
    process = example(home, "two_at_once", stdin=subprocess.PIPE)
    open_asks(home, 2)
    said = end(home, process, "never mind\n")
    assert said.code == 1 and said.err.startswith("cancelled, cancelled"), said
    assert not home.sayso("list", "--active", "--json").json


@test("a hub that is killed while two questions wait is started again, and no question is asked twice", "R4.5 R5.5")
def killed_hub(home: Home) -> None:
    process = example(home, "two_at_once")
    before = {row["session_id"] for row in open_asks(home, 2)}
    for _ in range(3):
        home.kill_hub()
        wait_until(home.hub_pid, "the library starts it again")
    assert {row["session_id"] for row in open_asks(home, 2)} == before
    answer_both(home)
    assert end(home, process) == (0, "am at 120\n", "")


@test("a hub that is stopped by its person is not started again; the ask is collected later", "R4.5 R10.3")
def stopped_hub(home: Home) -> None:
    process = example(home, "confirm", "Still there?")
    session_id = only_ask(home)
    expect(home.sayso("stop"), DONE)
    said = end(home, process)
    assert said.code == 1 and said.err.startswith("no: channel_closed the hub was stopped"), said
    assert not home.hub_pid()
    process = example(home, "confirm", "Still there?")  # the same again is the same ask
    assert only_ask(home) == session_id
    expect(home.sayso("answer", session_id, "--field", "confirmed=yes"), DONE)
    assert end(home, process).code == 0


@test("collect_later: by id and by key, across the end of the program and of the hub", "R4.5 R5.5")
def collect_later(home: Home) -> None:
    first = end(home, example(home, "collect_later", "ask", "deploy-17")).out.strip()
    assert end(home, example(home, "collect_later", "ask", "deploy-17")).out.strip() == first
    other = end(home, example(home, "collect_later", "ask", "deploy-18")).out.strip()
    assert other != first and len(other) == 26
    said = end(home, example(home, "collect_later", "get", first, "0"))
    assert said.code == 5 and not said.out, said
    home.kill_hub()
    process = example(home, "collect_later", "get", first, "60")
    expect(home.sayso("answer", first, "--select", "us"), DONE)
    assert end(home, process) == (0, "us\n", "")
    home.kill_hub()
    assert end(home, example(home, "collect_later", "get", first, "5")) == (0, "us\n", "")
    said = end(home, example(home, "collect_later", "withdraw", other))
    assert said.code == 1 and said.err.startswith("cancelled"), said
    said = end(home, example(home, "collect_later", "get", "a" * 26, "5"))
    assert said.code == 1 and said.err.startswith("not_found"), said


@test("an answer that was delivered is not given again, one that was not is", "R4.5 R5.5")
def delivered_once(home: Home) -> None:
    process = example(home, "confirm", "Once?")
    first = only_ask(home)
    process.send_signal(signal.SIGKILL)  # its agent doesn't wait any more
    process.wait()
    home.spawned.remove(process)
    expect(home.sayso("answer", first, "--field", "confirmed=yes"), DONE)
    assert end(home, example(home, "confirm", "Once?")).code == 0  # it had not arrived
    process = example(home, "confirm", "Once?")  # now it has
    assert only_ask(home) != first
    expect(home.sayso("cancel", only_ask(home)), DONE)
    assert end(home, process).code == 1


@test("two_threads: each has its own handle, both start at the same time and find one hub", "R4.5")
def two_threads(home: Home) -> None:
    process = example(home, "two_threads")
    for row in open_asks(home, 2):
        expect(home.sayso("answer", row["session_id"], "--text", "first" in row["title"] and "One" or "Two"), DONE)
    assert end(home, process) == (0, "One\nTwo\n", "")


@test("two handles in one poll(): both start at the same time and find one hub, which is killed once", "R4.5 R5.5")
def two_handles(home: Home) -> None:
    process = example(home, "probe", "handles")
    open_asks(home, 2)
    home.kill_hub()
    for row in open_asks(home, 2):
        expect(home.sayso("answer", row["session_id"], "--text", "first" in row["title"] and "One" or "Two"), DONE)
    assert end(home, process).out == "ok|One Two|\n"


@test("no hub and no program to start one: the call fails immediately, whatever the cause", "R4.5")
def no_program(home: Home) -> None:
    empty = home.path / "empty"
    empty.mkdir()
    if any(pathlib.Path(place, "sayso").exists() for place in ("/usr/local/bin", "/usr/bin")):
        raise Skip("sayso is installed on this machine, so there is a program to start")
    said = end(home, example(home, "confirm", "Anybody?", PATH=str(empty), is_watched=False))
    assert said.code == 1 and "no program sayso in PATH" in said.err, said
    (empty / "sayso").write_text("#!/bin/sh\nexit 1\n")
    (empty / "sayso").chmod(0o755)
    said = end(home, example(home, "confirm", "Anybody?", PATH=f"{empty}:/bin", is_watched=False))
    assert said.code == 1 and "channel_closed the hub failed to start" in said.err, said


@test("memory that is missing anywhere in a real program is a code and not its end", "R4.5")
def missing_memory(home: Home) -> None:
    preload = home.path / "failing_malloc.so"
    command("cc", "-O2", "-shared", "-fPIC", str(ROOT / "tests/integration/failing_malloc.c"), "-o", str(preload),
            "-ldl")
    home.spawn("serve", "--no-browser", env={"SAYSO_PORTAL": "off", "SAYSO_TERMINAL": "off"})
    home.wait_hub()
    count = home.path / "count"

    def attempt(fail_at: int) -> Result:
        return end(home, example(home, "confirm", "Anybody there?", is_watched=False, LD_PRELOAD=str(preload),
                                 FAIL_AT=str(fail_at), FAIL_COUNT_FILE=str(count), FAIL_FOR_EVER="1"))
    assert attempt(0).err.startswith("no: not_supported")
    most = int(count.read_text())
    for fail_at in range(1, most + 1):
        said = attempt(fail_at)
        assert said.code in (1, 2), (fail_at, said)
    counted(f"{most} allocations of one ask missing, each with all behind it")


run()
