"""`sayso doctor` against a table of planted faults: each is found by its own check, in both languages, with a remedy
that fixes it; nothing else is blamed, and before it was planted there was nothing to find.

Proves: R10.5 R8.2 R6.1
"""
from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pathlib
import platform
import re
import socket
import sqlite3
import struct
import subprocess
import time
from typing import Any, Callable, NamedTuple

from cli_stage import ask
from harness import Home, Skip, counted, run, test, wait_until

CHINESE = re.compile("[\u4e00-\u9fff]")
SYS_SOCKET, SYS_OPENAT = 41, 257  # x86_64


class Planted(NamedTuple):
    """What was done: the environment and the sandbox to look from, and how a person fixes it."""
    env: dict[str, str] = {}
    preexec: Callable[[], None] | None = None
    mend: Callable[[], Any] = lambda: None


class Fault(NamedTuple):
    name: str
    check: str
    state: str
    plant: Callable[[Home], Planted]
    words: tuple[str, ...]


def own_port(home: Home) -> int:
    home.environment["SAYSO_PORT"] = str(12000 + os.getpid() % 18000)
    return int(home.environment["SAYSO_PORT"])


def with_store(home: Home) -> pathlib.Path:
    own_port(home)
    ask(home, "something")
    assert home.sayso("stop").code == 0
    wait_until(lambda: not home.hub_pid(), "the hub is gone")
    return home.data / "sayso.db"


def chmod(find: Callable[[Home], pathlib.Path], mode: int, good: int) -> Callable[[Home], Planted]:
    def plant(home: Home) -> Planted:
        with_store(home)
        path = find(home)
        path.chmod(mode)
        return Planted(mend=lambda: path.chmod(good))
    return plant


def environment(**env: str) -> Callable[[Home], Planted]:
    return lambda home: Planted(env=env)


def forbid(call: int) -> Callable[[], None]:
    """A real sandbox: the kernel refuses this call with EPERM, as agents' shells have it."""
    def enter() -> None:
        rows = [(0x20, 0, 0, 0), (0x15, 0, 1, call), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
        filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
        program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(filters))
        libc = ctypes.CDLL(None)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, program, 0, 0):  # PR_SET_SECCOMP
            os._exit(99)
    return enter


def no_sockets(home: Home) -> Planted:
    if platform.machine() != "x86_64":
        raise Skip("the numbers of system calls are those of x86_64")
    return Planted(preexec=forbid(SYS_SOCKET))


def read_only(home: Home) -> Planted:
    with_store(home)
    test = subprocess.run(["unshare", "-rm", "mount", "--bind", "-o", "ro", home.data, home.data], capture_output=True)
    if test.returncode:
        raise Skip("no mount namespace may be made here")
    wrapper = home.path / "sayso"
    wrapper.write_text(f"#!/bin/sh\nexec unshare -rm sh -c 'mount --bind {home.data} {home.data} && "
                       f"mount -o remount,bind,ro {home.data} && exec {home.binary} \"$@\"' sh \"$@\"\n")
    wrapper.chmod(0o700)
    real = home.binary
    home.binary = str(wrapper)

    def mend() -> None:
        home.binary = real
    return Planted(mend=mend)


def damaged(home: Home) -> Planted:
    path = with_store(home)
    good = path.read_bytes()
    path.write_bytes(good[:4096] + os.urandom(len(good) - 4096))
    return Planted(mend=lambda: path.write_bytes(good))


def newer(home: Home) -> Planted:
    path = with_store(home)
    def version(number: int | None = None) -> int:
        with sqlite3.connect(path) as database:
            was = database.execute("PRAGMA user_version").fetchone()[0]
            if number is not None:
                database.execute(f"PRAGMA user_version = {number}")
        database.close()
        return was
    was = version(9999)
    return Planted(mend=lambda: version(was))


def put_aside(home: Home) -> Planted:
    path = with_store(home).with_name("sayso.db.damaged-20260101T000000Z")
    path.write_bytes(b"old")
    path.chmod(0o600)
    return Planted(mend=path.unlink)


def bad_settings(text: str) -> Callable[[Home], Planted]:
    def plant(home: Home) -> Planted:
        home.config.mkdir(parents=True, mode=0o700)
        path = home.config / "settings.json"
        path.write_text(text)
        path.chmod(0o600)
        return Planted(mend=path.unlink)
    return plant


def port_taken(home: Home) -> Planted:
    port = own_port(home)
    with_store(home)
    port = json.loads((home.data / "hub.json").read_text())["port"]
    other = socket.create_server(("127.0.0.1", port))
    return Planted(mend=other.close)


def old_token(home: Home) -> Planted:
    own_port(home)
    assert home.sayso("token", "new", "--expires", "1").code == 0
    assert home.sayso("stop").code == 0
    wait_until(lambda: not home.hub_pid(), "the hub is gone")
    with sqlite3.connect(home.data / "sayso.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(tokens)")]
        expiry = next(name for name in columns if "expire" in name)
        assert database.execute(f"UPDATE tokens SET {expiry} = 1").rowcount == 1
    database.close()

    def mend() -> None:
        for row in home.sayso("token", "list", "--json").json:
            home.sayso("token", "revoke", row["id"])
    return Planted(mend=mend)


def client_gone(home: Home) -> Planted:
    assert home.sayso("install", "claude", "--yes").code == 0
    path = home.path / ".claude.json"
    path.write_text(path.read_text().replace(os.path.realpath(home.binary), "/nowhere/sayso"))
    return Planted(mend=lambda: home.sayso("install", "claude", "--yes"))


def client_broken(home: Home) -> Planted:
    path = home.path / ".claude.json"
    path.write_text('{"mcpServers": ')
    return Planted(mend=path.unlink)


def hook_gone(client: str, name: str, use: str = "--gate") -> Callable[[Home], Planted]:
    def plant(home: Home) -> Planted:
        assert home.sayso("install", client, use, "--yes").code == 0
        path = home.path / name
        path.write_text(path.read_text().replace(os.path.realpath(home.binary), "'/no where/sayso'"))
        return Planted(mend=lambda: home.sayso("install", client, use, "--yes"))
    return plant


def asks_first(client: str) -> Callable[[Home], Planted]:
    def plant(home: Home) -> Planted:
        assert home.sayso("install", client, "--no-trust", "--yes").code == 0
        return Planted(mend=lambda: home.sayso("install", client, "--yes"))
    return plant


def denied(home: Home) -> Planted:
    assert home.sayso("install", "claude", "--yes").code == 0
    path = home.path / ".claude/settings.json"
    good = path.read_text()
    path.write_text('{"permissions": {"allow": ["mcp__sayso"], "deny": ["x", "mcp__sayso__*"]}}')
    return Planted(mend=lambda: path.write_text(good))


def bad_arguments(home: Home) -> Planted:
    assert home.sayso("install", "opencode", "--yes").code == 0
    path = home.path / ".config/opencode/opencode.json"
    path.write_text(path.read_text().replace('"mcp",', '"mcp", "--tools", "none",'))
    return Planted(mend=lambda: home.sayso("install", "opencode", "--yes"))


def trust_in_codex(home: Home) -> pathlib.Path:
    """As Codex 0.166.0 writes it after /hooks: a hash of the hook as canonical JSON, by the file and the place in it."""
    path = home.path / ".codex/hooks.json"
    items = json.loads(path.read_text())["hooks"]["PreToolUse"]
    (place,) = [number for number, item in enumerate(items) if " gate --client codex" in item["hooks"][0]["command"]]
    identity = {"event_name": "pre_tool_use", "matcher": items[place]["matcher"], "hooks": [{"async": False, **items[place]["hooks"][0]}]}
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
    config = path.with_name("config.toml")
    config.write_text(f'model = "x"\n[hooks.state."{path}:pre_tool_use:{place}:0"]\ntrusted_hash = "sha256:{digest}"\n')
    return config


def untrusted(change: Callable[[pathlib.Path], Any], others: str = "") -> Callable[[Home], Planted]:
    """A hook in Codex that was trusted, and then this was done to what Codex keeps of that."""
    def plant(home: Home) -> Planted:
        hooks = home.path / ".codex/hooks.json"
        hooks.parent.mkdir()
        hooks.write_text('{"hooks": {"PreToolUse": [%s]}}' % others)
        assert home.sayso("install", "codex", "--gate", "--yes").code == 0
        trust_in_codex(home)
        assert {row["state"] for row in findings(home, Planted())} == {"ok"}, findings(home, Planted())
        change(hooks.with_name("config.toml"))
        return Planted(mend=lambda: trust_in_codex(home))
    return plant


def longer_wait(config: pathlib.Path) -> None:
    hooks = config.with_name("hooks.json")
    hooks.write_text(hooks.read_text().replace("--wait 570", "--wait 500"))


def unit_gone(where: Callable[[Home], pathlib.Path], start: str) -> Callable[[Home], Planted]:
    def plant(home: Home) -> Planted:
        path = where(home) / "systemd/user/sayso.service"
        path.parent.mkdir(parents=True)
        path.write_text(f"[Unit]\nDescription=ExecStart=/bin/true\n[Service]\nExecStart={start} serve --no-inbox\n")
        def mend() -> None:
            path.write_text(path.read_text().replace("/nowhere/sayso", home.binary))
        return Planted(mend=mend)
    return plant


def half_imported(home: Home) -> Planted:
    """As one that was killed in the middle left it."""
    path = with_store(home)
    def mark(sql: str) -> None:
        with sqlite3.connect(path) as database:
            database.execute(sql)
        database.close()
    mark("INSERT INTO meta VALUES ('importing', 'abc')")
    assert home.sayso("list").code == 1, "a hub opened it"
    return Planted(mend=lambda: mark("DELETE FROM meta WHERE name = 'importing'"))


def from_the_future(home: Home) -> Planted:
    path = with_store(home)
    os.utime(path, (time.time() + 86400,) * 2)
    return Planted(mend=lambda: os.utime(path))


def other_program(home: Home) -> Planted:
    other = home.path / "other/sayso"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    return Planted(env={"PATH": f"{other.parent}:{os.environ['PATH']}"}, mend=other.unlink)


def note_broken(home: Home) -> Planted:
    with_store(home)
    path = home.data / "hub.json"
    path.write_text("{")
    return Planted(mend=path.unlink)


def not_a_directory(home: Home) -> Planted:
    home.data.parent.mkdir(parents=True)
    home.data.write_text("")
    return Planted(mend=home.data.unlink)


def certificate(home: Home, first_day: float = -30, last_day: float = 60, name: str = "own") -> tuple[pathlib.Path, pathlib.Path]:
    """A certificate that is good from one day to another, counted from now, and its key."""
    def run(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=home.path)

    def moment(day: float) -> str:
        return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + day * 86400))
    (home.path / "ca").write_text("[ca]\ndefault_ca=own\n[own]\ndatabase=index\nrand_serial=yes\nnew_certs_dir=.\n"
                                  "default_md=sha256\npolicy=any\nunique_subject=no\n[any]\ncommonName=supplied\n")
    (home.path / "index").write_text("")
    run("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch", "-subj", "/CN=localhost",
        "-keyout", f"{name}.key", "-out", "csr")
    run("ca", "-batch", "-config", "ca", "-selfsign", "-notext", "-keyfile", f"{name}.key", "-in", "csr", "-out", f"{name}.pem",
        "-startdate", moment(first_day), "-enddate", moment(last_day))
    paths = home.path / f"{name}.pem", home.path / f"{name}.key"
    paths[1].chmod(0o600)
    return paths


def listening(first_day: float = -30, last_day: float = 60, change: Callable[[Home, dict[str, str]], Any] = lambda home, env: None
              ) -> Callable[[Home], Planted]:
    """Listens to other machines with such a certificate, but for one thing that is changed."""
    def plant(home: Home) -> Planted:
        chain, key = certificate(home, first_day, last_day)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        env = {"SAYSO_LISTEN": f"0.0.0.0:{port}", "SAYSO_TLS_CERT": str(chain), "SAYSO_TLS_KEY": str(key)}
        rows = [row for row in findings(home, Planted(env)) if row["check"] == "listen"]
        is_good = first_day < 0 and last_day > 14
        assert not is_good or rows[0]["state"] == "ok" and "valid until" in rows[0]["found"], rows
        end = change(home, env)
        return Planted(env, mend=end if callable(end) else lambda: None)
    return plant


def other_key(home: Home, env: dict[str, str]) -> None:
    env["SAYSO_TLS_KEY"] = str(certificate(home, name="other")[1])


def open_key(home: Home, env: dict[str, str]) -> None:
    os.chmod(env["SAYSO_TLS_KEY"], 0o644)


def pipe(home: Home, env: dict[str, str]) -> None:
    env["SAYSO_TLS_CERT"] = str(home.path / "pipe")
    os.mkfifo(env["SAYSO_TLS_CERT"])


def port_of_others(home: Home, env: dict[str, str]) -> Callable[[], None]:
    taken = socket.create_server(("127.0.0.1", int(env["SAYSO_LISTEN"].rsplit(":")[-1])))
    return taken.close


def running_without(home: Home, env: dict[str, str]) -> Callable[[], None]:
    own_port(home)
    ask(home, "something")  # its hub was started before anybody wanted it to listen
    return lambda: home.sayso("stop")


def set_to(**changes: str) -> Callable[[Home, dict[str, str]], None]:
    return lambda home, env: env.update({name: value.format(home=home.path) for name, value in changes.items()})


FAULTS = [
    Fault("another sayso comes first in PATH", "program", "warning", other_program, ("other/sayso", "PATH")),
    Fault("a sandbox that forbids sockets", "sandbox", "fault", no_sockets, ("sockets", "your own terminal")),
    Fault("a sandbox that mounts the data read only", "sandbox", "fault", read_only, ("not writable", "XDG_DATA_HOME")),
    Fault("a data directory others may write in", "data_directory", "fault", chmod(lambda home: home.data, 0o777, 0o700), ("chmod 700",)),
    Fault("a file where the data directory should be", "data_directory", "fault", not_a_directory, ("not a directory",)),
    Fault("a store others may read", "files", "warning", chmod(lambda home: home.data / "sayso.db", 0o644, 0o600), ("chmod 600", "sayso.db")),
    Fault("a log others may write", "files", "fault", chmod(lambda home: home.data / "hub.log", 0o622, 0o600), ("chmod 600", "hub.log")),
    Fault("a path that is too long for a socket", "socket", "fault", lambda home: Planted(env={"XDG_RUNTIME_DIR": str(long_path(home))}), ("XDG_RUNTIME_DIR",)),
    Fault("a hub.json that is not readable", "lock", "warning", note_broken, ("rm ",)),
    Fault("a damaged store", "store", "fault", damaged, ("damaged", "recover")),
    Fault("a store of a newer version", "store", "fault", newer, ("9999", "newer")),
    Fault("a damaged store that was put aside", "store", "warning", put_aside, (".damaged-", "recover")),
    Fault("a backup that was not read to its end", "store", "fault", half_imported, ("sayso import --discard",)),
    Fault("a hook of Claude Code whose program is gone", "hooks", "fault", hook_gone("claude", ".claude/settings.json"), ("/no where/sayso", "install claude --gate")),
    Fault("a hook for prompts whose program is gone", "hooks", "fault", hook_gone("claude", ".claude/settings.json", "--prompts"), ("/no where/sayso", "install claude --prompts")),
    Fault("a hook of Copilot whose program is gone", "hooks", "fault", hook_gone("copilot", ".copilot/hooks/sayso.json"), ("/no where/sayso", "install copilot --gate")),
    Fault("a hook that Codex was never told to trust", "hooks", "fault", untrusted(lambda config: config.unlink()), ("ignores the hook", "/hooks")),
    Fault("a hook that was changed after Codex trusted it", "hooks", "fault", untrusted(longer_wait), ("ignores the hook", "/hooks")),
    Fault("a hook that was turned off in Codex", "hooks", "fault", untrusted(lambda config: config.write_text(config.read_text() + "enabled = false\n")), ("turned off", "/hooks")),
    Fault("an untrusted hook among others of Codex", "hooks", "fault",
          untrusted(lambda config: config.write_text(config.read_text().replace(":1:0", ":0:0")), '{"hooks": [{"type": "command", "command": "é"}]}'), ("ignores the hook",)),
    Fault("a user's unit whose program is gone", "service", "fault", unit_gone(lambda home: home.path / ".config", "-/nowhere/sayso"), ("/nowhere/sayso", "daemon-reload")),
    Fault("a unit in the data directory, in quotes", "service", "fault", unit_gone(lambda home: home.path / ".local/share", '"/nowhere/sayso"'), ("/nowhere/sayso", "daemon-reload")),
    Fault("a settings file that is no JSON", "settings", "fault", bad_settings("{"), ("JSON",)),
    Fault("a setting with a bad value", "settings", "warning", bad_settings('{"port": 99999999}'), ("65535",)),
    Fault("a variable with a bad value", "settings", "warning", environment(SAYSO_LIST_COUNT="lots"), ("SAYSO_LIST_COUNT", "unset")),
    Fault("portal and terminal both off", "channels", "warning", bad_settings('{"portal": false, "terminal": false}'), ("reset portal",)),
    Fault("another program on the hub's port", "http", "warning", port_taken, ("settings set port",)),
    Fault("a certificate that is not there", "listen", "fault", listening(change=set_to(SAYSO_TLS_CERT="{home}/gone.pem")), ("gone.pem", "set tls_cert")),
    Fault("a pipe for a certificate", "listen", "fault", listening(change=pipe), ("pipe is not a regular file", "set tls_cert")),
    Fault("a key that is not there", "listen", "fault", listening(change=set_to(SAYSO_TLS_KEY="{home}/gone.key")), ("gone.key", "set tls_key")),
    Fault("a certificate that is none", "listen", "fault", listening(change=set_to(SAYSO_TLS_CERT="{home}/own.key")), ("own.key", "PEM")),
    Fault("a key that others may read", "listen", "fault", listening(change=open_key), ("own.key", "Run: chmod 600")),
    Fault("a key of another certificate", "listen", "fault", listening(change=other_key), ("other.key does not match", "matching key")),
    Fault("a certificate that has expired", "listen", "fault", listening(-60, -1), ("own.pem expired on 2", "SIGHUP")),
    Fault("a certificate that is not valid yet", "listen", "fault", listening(1, 60), ("own.pem is not valid until 2", "timedatectl")),
    Fault("a certificate that expires soon", "listen", "warning", listening(-80, 10), ("own.pem expires on 2", "SIGHUP")),
    Fault("a listener that would take tokens in the clear", "listen", "fault", listening(change=set_to(SAYSO_TLS_CERT="", SAYSO_TLS_KEY="")), ("requires TLS", "reset listen")),
    Fault("another program where other machines are listened to", "listen", "fault", listening(change=port_of_others), ("is in use by", "settings set listen")),
    Fault("a hub that was not told to listen", "listen", "warning", listening(change=running_without), ("is not listening at 0.0.0.0", "sayso stop")),
    Fault("an expired token", "tokens", "warning", old_token, ("expired", "revoke")),
    Fault("a client that starts a program that is gone", "clients", "fault", client_gone, ("/nowhere/sayso", "sayso install claude")),
    Fault("a client whose server rejects its arguments", "clients", "fault", bad_arguments, ("opencode", "respond as an MCP server", "sayso install opencode")),
    *(Fault(f"{name} without permission for our tools", "clients", "warning", asks_first(name), ("asks for permission", f"sayso install {name}"))
      for name in ("claude", "gemini", "qwen")),
    Fault("a rule of Claude Code that denies our tools", "clients", "warning", denied, ("asks for permission", "permissions.deny", ".claude/settings.json")),
    Fault("a client whose file is broken", "clients", "warning", client_broken, (".claude.json",)),
    Fault("a clock that was set back", "clock", "warning", from_the_future, ("timedatectl",)),
    Fault("a browser that is not there", "screen", "warning", environment(BROWSER="/nowhere/browser"), ("/nowhere/browser", "BROWSER")),
]


def long_path(home: Home) -> pathlib.Path:
    path = home.path / ("x" * 60) / ("y" * 40)
    path.mkdir(parents=True, mode=0o700)
    return path


def findings(home: Home, planted: Planted, language: str = "en", json_wanted: bool = True) -> Any:
    env = {"BROWSER": "/bin/true", "CHOICE_LANG": language, **planted.env}
    result = home.sayso("doctor", *["--json"] * json_wanted, env=env, preexec_fn=planted.preexec)
    return result.json["findings"] if json_wanted else result.out


for fault in FAULTS:
    @test(f"doctor finds {fault.name}, says how to fix it, and nothing is left once it is fixed", "R10.5 R8.2")
    def found(home: Home, fault: Fault = fault) -> None:
        assert {row["state"] for row in findings(home, Planted())} == {"ok"}
        planted = fault.plant(home)
        try:
            rows = findings(home, planted)
            wrong = [row for row in rows if row["state"] != "ok"]
            assert [(row["check"], row["state"]) for row in wrong] == [(fault.check, fault.state)], wrong
            assert all(word in wrong[0]["found"] + wrong[0]["remedy"] for word in fault.words), wrong
            chinese = findings(home, planted, "zh", json_wanted=False)
            lines = re.findall(r"^\[(?:错误|警告)\] .*\n    (.*)$", chinese, re.MULTILINE)
            assert len(lines) == 1 and CHINESE.search(lines[0]), chinese
        finally:
            planted.mend()
        rows = findings(home, Planted())
        assert {row["state"] for row in rows} == {"ok"}, [row for row in rows if row["state"] != "ok"]


@test("at least fifteen faults of all the kinds that doctor promises to find", "R10.5")
def enough() -> None:
    counted(f"{len(FAULTS)} planted faults")
    kinds = {fault.check for fault in FAULTS}
    assert len(FAULTS) >= 15
    assert kinds >= {"files", "data_directory", "socket", "http", "screen", "tokens", "store", "clients", "clock", "sandbox", "hooks", "service", "listen"}, kinds


run()
