"""Settings that can't be read, at each entry of the program: what decides where answers are kept, who is listened to and
believed, and what is asked about is never the default in the place of what was meant. Each row of the table with each
fault is in tests/unit/test_settings_faults.c.

Proves: R8.1
"""
from __future__ import annotations

import json
import os
import re
import shutil
from typing import Any

from cli_stage import DONE, FAILED, WORDS, ask, expect
from effects_stage import Mcp, effects
from harness import ROOT, Home, Result, Wire, WireError, run, test

NOBODY = 65534
RUN_ANYWAY = {"doctor", "settings", "version", "completion", "man", "status", "gate", "prompts", "mcp"}
HOOK = json.dumps({"session_id": "s", "transcript_path": "/t", "cwd": "/", "permission_mode": "default",
                   "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"})

# The bytes of the file, and what is said of it beside its name.
FILES: dict[str, tuple[bytes, str]] = {
    "a comma behind the last member": (b'{\n  "gate_commands": "frobnicate",\n}\n', "Line 3"),
    "half a file": (b'{\n  "store": "postgres://ho', "Line 2"),
    "nothing": (b"", "Line 1"),
    "a key twice": (b'{\n  "port": 1,\n  "store": "",\n  "port": 2\n}', "Line 4"),
    "not UTF-8": (b'{"store": "\xff"}', "Line 1"),
    "an array": (b"[]", "Line 1"),
    "too large": (b"{" + b" " * 1048576 + b"}", "larger than 1048576 bytes"),
    "store": (b'{\n"store": "elsewhere"\n}', "line 2"),
    "store without an address": (b'{"store": "postgres://"}', "line 1"),
    "store with half an escape": (b'{"store": "postgres://h/d?sslmode=%zz"}', "line 1"),
    "store of another type": (b'{"store": null}', "line 1"),
    "listen": (b'{"listen": "7443"}', "line 1"),
    "mcp_auth": (b'{"mcp_auth": "nobody"}', "line 1"),
    "gate_paths": (b'{"gate_paths": ["/etc"]}', "line 1"),
}


def write(home: Home, content: bytes) -> str:
    home.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home.config / "settings.json").write_bytes(content)
    return str(home.config / "settings.json")


def is_whole(line: str) -> bool:
    """About the file, not about a row in it."""
    return not line.startswith("line")


def reason_of(result: Result) -> str:
    """Of a command that refuses: one line, and nothing on standard output."""
    assert result.code == FAILED and not result.out and len(result.err.splitlines()) == 1, result
    return result.err


def denied(home: Home, **settings: Any) -> str:
    result = home.sayso("gate", "--client", "claude", input=HOOK, **settings)
    said = result.json["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny", result
    return said["permissionDecisionReason"]


def refused_by_mcp(client: Mcp, title: str) -> str:
    result = client.ask(title)
    assert result["isError"], result
    return json.dumps(result["content"], ensure_ascii=False)


def walk(home: Home, *said: str) -> None:
    """The entries that differ from each other; all of them say the same."""
    with Mcp(home, "2025-11-25") as client:
        assert len(client.call("tools/list")["tools"]) > 2
        reasons = [refused_by_mcp(client, "Refused"), denied(home)]
    reasons += [reason_of(home.sayso(*words)) for words in (["ask", "Title", *WORDS], ["serve"], ["list"], ["answer"])]
    for reason in reasons:
        assert all(part in reason for part in said), (said, reason)
    checked = home.sayso("doctor", "--json")
    findings = [found for found in checked.json["findings"] if found["check"] == "settings"]
    assert checked.code == FAILED and findings[0]["state"] == "fault", checked
    assert all(part in json.dumps(findings) for part in said), findings
    assert not (home.data / "sayso.db").exists() and home.hub_pid() is None, "a hub started"


@test("a file that can't be read, or has a bad value in a strict row, is refused at each entry: file, line, remedy", "R8.1 R11.3")
def files(home: Home) -> None:
    for name, (content, line) in FILES.items():
        path = write(home, content)
        remedy = "delete" if is_whole(line) else "sayso settings reset"
        try:
            walk(home, path, line, remedy)
        except AssertionError as failure:
            raise AssertionError(f"{name}: {failure}") from failure
        assert (home.config / "settings.json").read_bytes() == content


@test("a directory, a pipe or a broken link in place of the file, and a file or a broken link on the way to it, are refused", "R8.1")
def not_a_file(home: Home) -> None:
    folder, path = home.config, home.config / "settings.json"
    for at, make, remove in ((path, path.mkdir, path.rmdir), (path, lambda: path.symlink_to("nowhere"), path.unlink),
                             (path, lambda: os.mkfifo(path), path.unlink),
                             (folder, lambda: folder.symlink_to("nowhere"), folder.unlink),
                             (folder, lambda: folder.write_text("{}"), folder.unlink),
                             (folder.parent, lambda: folder.parent.symlink_to("nowhere"), folder.parent.unlink)):
        shutil.rmtree(folder.parent, ignore_errors=True)
        at.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make()
        walk(home, str(path))
        refused = home.sayso("settings", "set", "port", "8000")
        assert refused.code == FAILED and str(path) in refused.err, refused
        remove()
    assert home.sayso("list").code == DONE
    expect(home.sayso("stop"), DONE)
    real = home.path / "real"
    real.mkdir()
    folder.parent.symlink_to(real)  # a link that leads somewhere, and no file there yet
    assert home.sayso("list").code == DONE


@test("a file, or a directory on the way to it, that this user can't read is refused: checked without the rights of root", "R8.1")
def unreadable(home: Home) -> None:
    write(home, b"{}")
    other: dict[str, Any] = {}
    if os.geteuid() == 0:  # root can read everything, so another user runs the program
        home.path.chmod(0o755)
        for folder in (home.path, home.path / "run", home.path / ".config", home.config):
            os.chown(folder, NOBODY, NOBODY)
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
    for path, mode in ((home.config / "settings.json", 0o000), (home.config, 0o000)):
        before = path.stat().st_mode
        path.chmod(mode)
        for reason in (denied(home, **other), reason_of(home.sayso("list", **other)), reason_of(home.sayso("serve", **other))):
            assert "Permission denied" in reason and str(home.config / "settings.json") in reason, reason
        path.chmod(before & 0o7777)
    assert home.hub_pid() is None


@test("each command is refused but those that repair, describe or answer for it themselves", "R8.1 R10.3")
def commands(home: Home) -> None:
    path = write(home, FILES["a comma behind the last member"][0])
    names = set(re.findall(r"^  (\w+) ", home.sayso("--help").out, re.MULTILINE)) - {"sayso"}
    assert RUN_ANYWAY < names, names
    for name in sorted(names):
        if name not in RUN_ANYWAY:
            assert path in reason_of(home.sayso(name)), name
        assert home.sayso(name, "--help").code == DONE
    error = home.sayso("list", "--json")
    assert error.code == FAILED and path in error.json["error"]["message"] and not error.err, error
    for words in (["--version"], ["version"], ["man"], ["completion", "bash"], ["help"], ["__complete", "settings", ""]):
        expect(home.sayso(*words), DONE)
    status = home.sayso("status", "--json")
    assert status.code == FAILED and status.json["running"] is False and path in status.err, status
    assert "第 3 行" in reason_of(home.sayso("list", env={"CHOICE_LANG": "zh"}))
    assert home.hub_pid() is None


@test("a bad variable of a strict row is refused like a bad file, unless something stronger says what it is", "R8.1")
def variables(home: Home) -> None:
    home.environment.pop("SAYSO_STORE", None)
    rows = [row for row in home.sayso("settings", "list", "--json").json if row["strict"]]
    expect(home.sayso("stop"), DONE)
    for row in rows:
        bad = {row["environment"]: "two\nlines"}
        reasons = [denied(home, env=bad), reason_of(home.sayso("list", env=bad)), reason_of(home.sayso("serve", env=bad))]
        assert all(row["name"] in reason and f"Fix or unset {row['environment']}." in reason for reason in reasons), reasons
        assert f"Fix or unset {row['environment']}." in reason_of(home.sayso("settings", "set", "port", "8000", env=bad))
        shown = home.sayso("settings", "get", "port", env=bad)
        assert shown.code == DONE and shown.out == "7297\n" and row["environment"] in shown.err, shown
    assert not (home.config / "settings.json").exists(), "only a file that is bad itself is changed without a hub"
    write(home, b'{"mcp_auth": "token"}')
    expect(home.sayso("list", env={"SAYSO_MCP_AUTH": "nobody"}), DONE)


@test("each row of the table says what a bad value does; a loose one is a warning and the rest is used", "R8.1")
def loose(home: Home) -> None:
    table, rows = effects(), home.sayso("settings", "list", "--json").json
    for row in rows:
        said = table[row["name"]].get("bad_value")
        assert said == ("refused" if row["strict"] else "warned of"), f"tests/settings_effects.json: bad_value of {row['name']}"
    expect(home.sayso("stop"), DONE)
    write(home, json.dumps({row["name"]: [] for row in rows if row["scope"] == "host" and not row["strict"]}).encode())
    for row in rows:
        if not row["strict"]:
            home.environment[row["environment"]] = "two\nlines"
    result = home.sayso("settings", "list", "--json")
    for row in result.json:
        assert row["source"] == "built_in" or row["name"] in ("language", "store"), row
    assert home.sayso("gate", "--client", "claude", input=HOOK).json == {}


@test("settings set and reset change a file that has a bad value, and leave alone one that can't be read", "R8.1 R10.3")
def repair(home: Home) -> None:
    path = write(home, b'{\n  "store": "elsewhere",\n  "future": 1\n}')
    listed = home.sayso("settings", "list", "--json")
    assert listed.code == DONE and path in listed.err, listed
    assert {row["name"]: row["strict"] for row in listed.json}["store"] is True
    assert home.sayso("settings", "get", "port").out == "7297\n"
    assert path in reason_of(home.sayso("settings", "set", "notes", "off")), "of a person, whose settings are at the hub"
    expect(home.sayso("settings", "set", "list_count", "7"), DONE)
    expect(home.sayso("settings", "set", "max_pending", "9"), DONE)
    again = home.sayso("settings", "reset", "max_pending", "--json").json
    assert again["source"] == "built_in" and again["value"] != 9, again
    expect(home.sayso("settings", "reset", "store"), DONE)
    assert json.loads((home.config / "settings.json").read_text()) == {"future": 1, "list_count": 7}
    expect(home.sayso("list"), DONE)
    expect(home.sayso("stop"), DONE)
    for content, line in FILES.values():
        if is_whole(line):
            write(home, content)
            for words in (["set", "port", "8000"], ["reset", "store"]):
                refused = home.sayso("settings", *words)
                assert refused.code == FAILED and path in refused.err and "delete" in refused.err, refused
            assert (home.config / "settings.json").read_bytes() == content, "it was written over"


@test("a saved cli_answers that this version doesn't know is off, with a warning in the log, and can be repaired", "R8.1 R12.1")
def unknown_answers(home: Home) -> None:
    session_id = ask(home, "By command")
    expect(home.sayso("settings", "set", "cli_answers", "tty"), DONE)
    expect(home.sayso("stop"), DONE)
    home.rows("UPDATE settings SET value = ?1 WHERE name = ?2", "portal", "cli_answers")
    assert home.sayso("settings", "get", "cli_answers").out == "off\n"
    assert "cli_answers" in reason_of(home.sayso("answer", session_id, "--select", "eu"))
    warnings = [line for line in (home.data / "hub.log").read_text().splitlines() if "settings.ignored" in line]
    assert any("cli_answers" in line for line in warnings), warnings
    expect(home.sayso("settings", "reset", "cli_answers"), DONE)
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)


@test("a hub that runs keeps what it read when the file breaks, says so, and takes the file when it is right again", "R8.1")
def running(home: Home) -> None:
    expect(home.sayso("settings", "set", "mcp_auth", "token"), DONE)
    session_id = ask(home, "Waits")
    path = write(home, b'{\n  "mcp_auth": "token",\n}')
    with Wire(home) as person:
        person.hello("person")
        for name, value in (("mcp_auth", "none"), ("max_pending", "9")):
            try:
                raise AssertionError(person.call("settings/set", name=name, value=value))
            except WireError as refused:
                assert path in refused.message and "Line 3" in refused.message, refused
        values = {row["name"]: (row["value"], row["source"]) for row in person.call("settings/list")["settings"]}
        assert values["mcp_auth"] == ("token", "saved") and values["max_pending"][1] != "saved", values
        assert "settings.not_saved" in (home.data / "hub.log").read_text()
        told = home.sayso("status")
        assert told.code == FAILED and path in told.err and str(home.hub_pid()) in told.out, told
        assert path in home.sayso("settings", "set", "port", "8000").err
        person.call("ask/answer", session_id=session_id, selected_ids=["eu"])
        write(home, b"{}")
        person.call("settings/set", name="mcp_auth", value="none")
    assert json.loads((home.config / "settings.json").read_text()) == {"mcp_auth": "none"}


@test("sayso mcp that runs while the file breaks fails each new ask with the reason until it is right again", "R8.1 R10.2")
def running_mcp(home: Home) -> None:
    with Mcp(home, "2025-11-25") as client:
        expect(home.sayso("settings", "set", "hold_limits", '{"*":1}'), DONE)
        assert not client.ask("First").get("isError")
        kept = (home.config / "settings.json").read_bytes()
        path = write(home, kept[:-3])
        reason = refused_by_mcp(client, "Second")
        assert path in reason and "Fix or delete" in reason, reason
        write(home, kept)
        assert not client.ask("Third").get("isError")


@test("libsayso, which starts a hub as well, says why it could not", "R8.1 R14.1")
def library(home: Home) -> None:
    path = write(home, FILES["half a file"][0])
    code = ("import ctypes, sys\nlib = ctypes.CDLL(sys.argv[1])\nlib.sayso_new.restype = ctypes.c_void_p\n"
            "lib.sayso_error.restype = ctypes.c_char_p\nhandle = ctypes.c_void_p(lib.sayso_new())\n"
            "assert lib.sayso_set(handle, int(sys.argv[2]), sys.argv[3].encode()) == 0\n"
            "print(lib.sayso_connect(handle, 60000), lib.sayso_error(handle).decode())")
    option = re.search(r"SAYSO_PROGRAM = (\d+)", (ROOT / "src/lib/sayso.h").read_text())[1]
    result = home.sayso("-c", code, str(ROOT / "build/src/lib/libsayso.so"), option, home.binary, program="python3")
    assert path in result.out and "Line 2" in result.out, result


run()
