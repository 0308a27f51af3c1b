"""`sayso doctor`: each fault that is planted is found, with what to do; it changes and starts nothing."""
from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import struct
import subprocess
import time
from typing import Any

from cli_stage import DONE, FAILED, ask
from harness import HANG_S, Home, Skip, run, test, wait_until
from install_stage import BY_NAME, CLIENTS, entry_of, path_of, put

CHECKS = ("program installed sandbox data_directory files socket hub lock store disk settings channels http listen tokens clients hooks service clock "
          "screen").split()
F_OFD_SETLK = 37


def examine(home: Home, **settings: Any) -> dict[str, list[dict[str, Any]]]:
    said = home.sayso("doctor", "--json", **settings)
    assert ("SAYSO_PORT" in said.err or not said.err) and said.code in (DONE, FAILED), said
    findings: dict[str, list[dict[str, Any]]] = {}
    for row in said.json["findings"]:
        findings.setdefault(row["check"], []).append(row)
        assert row["found"] and (row["remedy"] or row["state"] == "ok" or row["check"] == "disk"), row
    states = [row["state"] for row in said.json["findings"]]
    assert said.json["faults"] == states.count("fault") and said.json["warnings"] == states.count("warning")
    assert said.code == (FAILED if "fault" in states else DONE), said
    return findings


def expect(findings: dict[str, list[dict[str, Any]]], check: str, state: str, *words: str) -> None:
    rows = [row for row in findings[check] if row["state"] == state]
    assert any(all(word in row["found"] + str(row["remedy"]) for word in words) for row in rows), (check, state, words, findings[check])
    for name, others in findings.items():
        if name not in (check, "screen", "disk"):
            assert all(row["state"] == "ok" for row in others), others


def all_files(home: Home) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_mode) for path in home.path.rglob("*")
            if not path.name.endswith(("-shm", "-wal"))}


def schema_version(home: Home) -> int:
    with sqlite3.connect(home.data / "sayso.db") as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def own_port(home: Home) -> None:
    """Below those the system gives to clients, and not where other hubs of this machine look."""
    home.environment["SAYSO_PORT"] = str(12000 + os.getpid() % 18000)


def with_store(home: Home) -> pathlib.Path:
    own_port(home)
    ask(home, "something")
    home.sayso("stop")
    wait_until(lambda: not home.hub_pid(), "the hub is gone")
    return home.data / "sayso.db"


@test("a healthy home in both languages: nineteen checks, nothing wrong, nothing made, no hub started", "R10.5 R10.3 R8.2")
def healthy(home: Home) -> None:
    env = {"BROWSER": "/bin/true"}
    for step in ("empty", "with a store", "with a hub"):
        if step == "with a store":
            with_store(home)
        elif step == "with a hub":
            ask(home, "else")
        before, pid = all_files(home), home.hub_pid()
        found = examine(home, env=env)
        assert sorted(found) == sorted(CHECKS), found
        assert {row["state"] for rows in found.values() for row in rows} == {"ok"}, found
        english, chinese = home.sayso("doctor", env=env), home.sayso("doctor", env={**env, "CHOICE_LANG": "zh"})
        assert english.code == DONE and "No problems found." in english.out and "[ok] Hub:" in english.out, english
        assert chinese.code == DONE and "没有发现问题" in chinese.out and "[正常] 后台服务:" in chinese.out.replace("：", ":"), chinese
        assert all_files(home) == before and home.hub_pid() == pid, step
    found = examine(home, env=env)
    assert str(pid) in found["hub"][0]["found"] and str(home.hub()["port"]) in found["http"][0]["found"]


@test("with every client installed: each server is called as its client calls it, which starts no hub and writes nothing", "R10.5")
def installed(home: Home) -> None:
    for client in CLIENTS:
        assert home.sayso("install", client.name, "--yes", "--as", "the bot").code == DONE
    before = all_files(home)
    found = examine(home, env={"BROWSER": "/bin/true"})
    assert {row["state"] for rows in found.values() for row in rows} == {"ok"} and len(found["clients"]) == len(CLIENTS), found
    assert all_files(home) == before and not home.hub_pid()


@test("in the language that was saved, while a hub knows it", "R10.5 R8.2")
def saved_language(home: Home) -> None:
    for language, ends in (("zh", ("没有发现问题。", "警告：")), ("en", ("No problems found.", "warnings:"))):
        home.sayso("settings", "set", "language", language)
        last = home.sayso("doctor").out.splitlines()[-1]
        assert any(end in last for end in ends), (language, last)


@test("the data directory: others may write or read, not a directory, another user's, none", "R10.5")
def data_directory(home: Home) -> None:
    home.data.mkdir(parents=True, mode=0o700)
    for mode, state in ((0o777, "fault"), (0o720, "fault"), (0o755, "warning")):
        home.data.chmod(mode)
        expect(examine(home), "data_directory", state, "chmod 700", f"{mode:o}")
        assert home.data.stat().st_mode & 0o777 == mode
    home.data.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(home.data, 12345, -1)
        expect(examine(home), "data_directory", "fault", "12345", "chown")
        os.chown(home.data, 0, -1)
    home.data.rmdir()
    home.data.write_text("")
    findings = examine(home)
    assert findings["data_directory"][0]["state"] == "fault" and "not a directory" in findings["data_directory"][0]["found"]
    home.data.unlink()


@test("the socket: a path that is too long, a runtime directory that is not private", "R10.5")
def runtime(home: Home) -> None:
    long = home.path / ("x" * 60) / ("y" * 40)
    long.mkdir(parents=True, mode=0o700)
    expect(examine(home, env={"XDG_RUNTIME_DIR": str(long)}), "socket", "fault", "100", "XDG_RUNTIME_DIR")
    shared = home.path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    if not pathlib.Path(f"/run/user/{os.geteuid()}").exists():
        expect(examine(home, env={"XDG_RUNTIME_DIR": str(shared)}), "socket", "warning", "ignored", "chmod 700")
    (home.path / "run/sayso").mkdir(mode=0o700)
    (home.path / "run/sayso").chmod(0o777)
    expect(examine(home), "socket", "fault", "chmod 700")


@test("acan't read  lock whose holder is not in hub.json, a hub that is silent, and a hub.json that", "R10.5")
def locks(home: Home) -> None:
    with_store(home)
    (home.data / "hub.json").write_text("{")
    expect(examine(home), "lock", "warning", "hub.json", "rm ")
    (home.data / "hub.json").unlink()
    with open(home.data / "hub.lock", "r+") as lock:
        fcntl.fcntl(lock, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        findings = examine(home, timeout=60)
        assert findings["lock"][0]["state"] == findings["hub"][0]["state"] == "fault", findings
        assert "fuser" in findings["lock"][0]["remedy"], findings


@test("a hub of another version", "R10.5")
def versions(home: Home) -> None:
    home.data.mkdir(parents=True, mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    path = str(home.path / "run/old.sock")
    listener.bind(path)
    listener.listen()
    fields = pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    (home.data / "hub.json").write_text(json.dumps({"pid": os.getpid(), "start": int(fields[19]), "socket": path, "port": None,
                                                    "wire": 1, "version": "0.0.9"}))
    (home.data / "hub.lock").touch(0o600)
    with open(home.data / "hub.lock", "r+") as lock:
        fcntl.fcntl(lock, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
        process = home.spawn("doctor", "--json", stdin=subprocess.DEVNULL)
        connection = listener.accept()[0]
        with connection, connection.makefile("rw") as lines:
            for line in iter(lines.readline, ""):
                call = json.loads(line)
                result = {"wire": 1, "version": "0.0.9"} if call["method"] == "hello" else {
                    "running": True, "pid": os.getpid(), "version": "0.0.9", "port": None}
                lines.write(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}) + "\n")
                lines.flush()
                if call["method"] == "hub/status":
                    break
            out, _ = process.communicate(timeout=HANG_S)
        home.spawned.remove(process)
    listener.close()
    (home.data / "hub.json").unlink()
    rows = {row["check"]: row for row in json.loads(out)["findings"]}
    assert rows["hub"]["state"] == "warning" and "0.0.9" in rows["hub"]["found"] and "sayso stop" in rows["hub"]["remedy"], rows
    assert rows["http"]["state"] == "warning" and "port" in rows["http"]["found"], rows


@test("the store: damaged, of a newer sayso, another program's, not readable, a link; it stays as it is", "R10.5")
def stores(home: Home) -> None:
    path = with_store(home)
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[8192:12288] = b"\x5a" * 4096
    newer = home.path / "newer.db"
    newer.write_bytes(whole)
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 999")
    foreign = home.path / "foreign.db"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE other (x)")
    for content, word in ((bytes(damaged), "damaged"), (b"not a database at all" * 100, "damaged"), (newer.read_bytes(), "999"),
                          (foreign.read_bytes(), "another program")):
        path.write_bytes(content)
        expect(examine(home), "store", "fault", word)
        assert path.read_bytes() == content and not home.hub_pid()
        assert not list(home.data.glob("*.db-*")), list(home.data.iterdir())
    path.unlink()
    path.mkdir()
    expect(examine(home), "store", "fault", "can't open", "mode")
    path.rmdir()
    path.symlink_to(foreign)
    expect(examine(home), "store", "fault", "can't open")
    path.unlink()
    path.write_bytes(whole)
    assert str(schema_version(home)) in examine(home)["store"][0]["found"]


@test("settings: no JSON, an unknown name, a bad value, a bad variable", "R10.5 R8.1")
def settings(home: Home) -> None:
    home.config.mkdir(parents=True)
    path = home.config / "settings.json"
    for content, state, words in (("{", "fault", ("JSON", "settings.json")), ("[]", "fault", ("JSON",)),
                                  ('{"nonsense": 1}', "warning", ("nonsense",)), ('{"port": 99999999}', "warning", ("port", "65535"))):
        path.write_text(content)
        path.chmod(0o600)
        expect(examine(home), "settings", state, *words)
        assert path.read_text() == content
    path.unlink()
    expect(examine(home, env={"SAYSO_PORT": "many"}), "settings", "warning", "SAYSO_PORT", "unset")


@test("the port: another program on the last hub's, which is sent nothing; another user's is a fault", "R10.5 P23")
def ports(home: Home) -> None:
    with_store(home)
    port = home.hub()["port"]
    with socket.socket() as fake:
        fake.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        fake.bind(("127.0.0.1", port))
        fake.listen()
        fake.settimeout(0.2)
        expect(examine(home), "http", "warning", str(port), "set port")
        try:
            fake.accept()
            raise AssertionError("the doctor spoke to a stranger")
        except TimeoutError:
            pass
    if os.geteuid() == 0:
        code = (f"import socket, time; s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('127.0.0.1', {port})); s.listen();"
                "print('on', flush=True); time.sleep(60)")
        with subprocess.Popen(["python3", "-c", code], user=65534, stdout=subprocess.PIPE, cwd="/") as other:
            try:
                other.stdout.readline()
                expect(examine(home), "http", "fault", "65534", "token")
            finally:
                other.kill()


@test("tokens: expired ones, and none where a client needs one", "R10.5")
def tokens(home: Home) -> None:
    own_port(home)
    home.sayso("token", "new", "--expires", "1")
    home.sayso("stop")
    wait_until(lambda: not home.hub_pid(), "the hub is gone")
    with sqlite3.connect(home.data / "sayso.db") as db:
        db.execute("UPDATE tokens SET expires_ms = 1000")
    db.close()
    expect(examine(home), "tokens", "warning", "1 expired", "sayso token")
    assert home.sayso("install", "gemini", "--http", "--yes").code == DONE
    home.sayso("list")  # starts a hub, which the client can't
    expect(examine(home), "tokens", "fault", "Gemini CLI", "MCP_SAYSO_TOKEN")
    home.sayso("token", "new")
    assert examine(home)["tokens"][0]["state"] == "warning"
    assert home.sayso("install", "gemini", "--undo", "--yes").code == DONE


@test("a client's server is started as that client does it, nothing else is, and none of them can keep the doctor waiting", "R10.5 P23")
def started(home: Home) -> None:
    client, seen = BY_NAME["gemini"], home.path / "seen"
    program = home.path / "a=b/sayso"
    ours = f'[ "$PATH" = here ] && echo right >>{seen}; PATH={os.environ["PATH"]} exec "{home.binary}" "$@"'
    endless = f"while /usr/bin/printf %065536d 0; do sleep 0.05; done; echo left >>{seen}"
    for path, words in ((program, ours), (home.path / "bin/mcp", f"echo stranger >>{seen}"), (home.path / "silent/sayso", endless)):
        path.parent.mkdir()
        path.write_text(f"#!/bin/bash\n{words}\n")
        path.chmod(0o755)
    assert home.sayso("install", "gemini", "--yes").code == DONE
    path = path_of(home, client)
    entry = entry_of(home, client)
    searched = {"PATH": f"{home.path}/bin:{os.environ['PATH']}"}
    for env in ({}, {"": str(home.path / "bin/mcp")}, {"--chdir": "/", "-S" + str(home.path / "bin/mcp"): "x"}, {"PATH": "here"}):
        path.write_text(json.dumps({"mcpServers": {"sayso": {**entry, "command": str(program), "env": {**entry["env"], **env}}}}))
        expect(examine(home, env=searched), "clients", "warning", "a different sayso")
    assert seen.read_text() == "right\n", seen.read_text()
    path.write_text(json.dumps({"mcpServers": {"sayso": {**entry, "command": str(home.path / "silent/sayso")}}}))
    expect(examine(home), "clients", "fault", "respond as an MCP server")
    assert seen.read_text() == "right\nleft\n", "it says too much to be listened to until it is killed"


@test("clients: a program that is gone or another, too little patience, another port, a broken file", "R10.5")
def clients(home: Home) -> None:
    for name in ("claude", "codex"):
        client = BY_NAME[name]
        assert home.sayso("install", name, "--yes").code == DONE
        path = path_of(home, client)
        good = path.read_text()
        program = entry_of(home, client)["command"]
        other = home.path / "bin/sayso"
        other.parent.mkdir(exist_ok=True)
        silent = home.path / "silent/sayso"
        silent.parent.mkdir(exist_ok=True)
        for path_of_it, words in ((other, f"exec '{program}' \"$@\""), (silent, "exit 0")):
            path_of_it.write_text(f"#!/bin/sh\n{words}\n")
            path_of_it.chmod(0o755)
        for old, new, state, word in ((program, "/nowhere/sayso", "fault", "doesn't exist"), (program, str(other), "warning", "a different sayso"),
                                      (program, str(silent), "fault", "respond as an MCP server"),
                                      ('["mcp"', '["mcp", "--tools", "none"', "fault", "respond as an MCP server"),
                                      ("3600000" if name == "claude" else "3600", "30000" if name == "claude" else "30", "warning", "30 s")):
            path.write_text(good.replace(old, new))
            expect(examine(home), "clients", state, word, f"sayso install {name}")
        if name == "claude":  # of itself it waits longer than its calls are held
            document = json.loads(good)
            del document["mcpServers"]["sayso"]["timeout"]
            path.write_text(json.dumps(document))
            assert [row["state"] for row in examine(home)["clients"]] == ["ok"]
        path.write_text(good[:-10])
        expect(examine(home), "clients", "warning", str(path))
        path.write_text(good)
        assert [row["state"] for row in examine(home)["clients"]] == ["ok"]
        assert home.sayso("install", name, "--undo", "--yes").code == DONE
    put(home, BY_NAME["qwen"], '{"mcpServers": {}}')
    assert "sayso install qwen" in examine(home)["clients"][0]["found"]
    own_port(home)
    home.sayso("token", "new")
    put(home, BY_NAME["cursor"], '{"mcpServers": {"s": {"url": "http://localhost:1/mcp"}}}')
    expect(examine(home), "clients", "warning", "port 1", str(home.hub()["port"]), "--http")
    put(home, BY_NAME["cursor"], json.dumps({"mcpServers": {"s": {"url": f"http://localhost:{home.hub()['port']}/mcp?client_timeout=3600"}}}))
    assert [row["state"] for row in examine(home)["clients"] if "Cursor" in row["found"]] == ["ok"]
    home.sayso("stop")
    wait_until(lambda: not home.hub_pid(), "the hub is gone")
    expect(examine(home), "clients", "warning", "no hub is listening", "sayso serve")


@test("the clock: what is stored is of the future", "R10.5")
def clocks(home: Home) -> None:
    path = with_store(home)
    os.utime(path, (time.time() + 86400,) * 2)
    expect(examine(home), "clock", "warning", "sayso.db", "timedatectl")


# Before there is a second thread, which would stay outside.
HAS_MOUNTS = os.geteuid() == 0 and ctypes.CDLL(None).unshare(0x00020000) == 0 and subprocess.run(
    ["mount", "--make-rprivate", "/"], capture_output=True).returncode == 0


@test("little room on the disk", "R10.5")
def disk() -> None:
    if not HAS_MOUNTS:
        raise Skip("needs root and a mount namespace of its own")
    with Home() as home:
        home.data.mkdir(parents=True)
        for size, state in (("10m", "fault"), ("100m", "warning")):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(home.data)]).returncode:
                raise Skip("no tmpfs can be mounted here")
            try:
                row = examine(home)["disk"][0]
                assert row["state"] == state and "MiB" in row["found"] and row["remedy"], row
            finally:
                subprocess.run(["umount", str(home.data)], check=True)


@test("what others wrote is shown harmless", "R10.5 R6.5")
def hostile(home: Home) -> None:
    put(home, BY_NAME["claude"], json.dumps({"mcpServers": {"s": {"command": "/\x1b[2J\u202e/sayso", "args": ["mcp"]}}}))
    said = home.sayso("doctor")
    assert said.code == FAILED and "\x1b" not in said.out and "\u202e" not in said.out, ascii(said.out)
    assert home.sayso("doctor", "x").code == 2


@test("each copy of the program knows how it was installed", "R10.5")
def installed(home: Home) -> None:
    for place, words in (("node_modules/sayso-linux-x64/bin", "npm"), ("share/sayso/bin", "sayso install"), ("plugins/sayso/server/x86_64", "plugin"),
                         ("opt", "to update")):
        copy = home.path / place / "sayso"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(home.binary, copy)
        done = subprocess.run([str(copy), "doctor", "--json"], capture_output=True, text=True, env=home.environment)
        found = [row["found"] for row in json.loads(done.stdout)["findings"] if row["check"] == "installed"]
        assert len(found) == 1 and words in found[0], (place, found)


run()
