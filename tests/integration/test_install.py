"""`sayso install CLIENT`: the client's file gets our entry and keeps every other byte; --undo gives back what was there.
"""
from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import pathlib
import pty
import random
import re
import signal
import stat
import subprocess
import urllib.error
import urllib.request

from cli_stage import DONE, FAILED, REFUSED, USAGE, expect, one_line
from harness import BIN, CRASH_BIN, HANG_S, Home, Skip, counted, run, scaled, test, wait_until
from install_stage import BY_NAME, CLIENTS, Client, entry_of, listing, parse, path_of, put, samples

PROGRAM = os.path.realpath(BIN)


def install(home: Home, client: Client | str, *options: str, code: int = DONE, **settings):
    name = client if isinstance(client, str) else client.name
    return expect(home.sayso("install", name, *options, **settings), code)


def is_told(client: Client) -> bool:
    """Whether sayso is told how long the client waits: where that was raised and counts."""
    return bool(client.timeout and client.name != "claude")


def mcp_of(client: Client) -> list[str]:
    return ["mcp", *(("--client-timeout", "3600") if is_told(client) else ())]


def query_of(client: Client) -> str:
    return "?client_timeout=3600" if is_told(client) else ""


def check_entry(home: Home, client: Client, entry: dict) -> None:
    if client.name == "opencode":
        assert entry["command"] == [PROGRAM, *mcp_of(client)] and entry["type"] == "local" and entry["enabled"], entry
    else:
        assert entry["command"] == PROGRAM and entry["args"] == mcp_of(client), entry
    if client.timeout:
        assert entry[client.timeout[0]] == client.timeout[1], entry


@test("install and undo of every sample of every client: the rest is kept, the bytes come back", "R10.5")
def round_trips(home: Home) -> None:
    count = 0
    for client in CLIENTS:
        for before in samples(client):
            path = put(home, client, before)
            install(home, client, "--yes")
            after = path.read_bytes()
            found, wanted = parse(client, after), parse(client, before)
            check_entry(home, client, found[client.container].pop("sayso"))
            if client.container not in wanted:
                assert found.pop(client.container) == {}, after
            assert found == wanted, (client.name, before, after)
            assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
            assert b"\r\n" not in before or b"\n" not in after.replace(b"\r\n", b""), after
            kept = iter(after)
            assert all(byte in kept for byte in before if byte not in b" "), (client.name, before, after)
            again = install(home, client, "--yes")
            assert "already" in again.out and path.read_bytes() == after, (before, again)
            assert path.with_name(path.name + ".before-sayso").read_bytes() == before
            undone = install(home, client, "--undo", "--yes")
            assert path.read_bytes() == before and "original content" in undone.out, (client.name, before, undone)
            assert "has no entry" in install(home, client, "--undo", "--yes").out
            assert listing(home) == {client.file}, listing(home)
            count += 1
        path_of(home, client).unlink()
    counted(f"{count} round trips of configurations")


@test("comments stay on the line they belong to, and the entry looks like its neighbors", "R10.5")
def looks(home: Home) -> None:
    client = BY_NAME["vscode"]
    path = put(home, client, '{\n\t// mine\n\t"servers": {\n\t\t"x": { "command": "y" } // the first\n\t}\n}\n')
    install(home, client, "--yes", env={"HOME": "/root", "XDG_CONFIG_HOME": str(home.path / ".config")})
    lines = path.read_text().splitlines()
    assert lines[3] == '\t\t"x": { "command": "y" }, // the first' and lines[4] == '\t\t"sayso": {', lines
    assert lines[5] == '\t\t\t"type": "stdio",' and lines[-2:] == ["\t}", "}"], lines
    client = BY_NAME["codex"]
    path = put(home, client, "model = 'o3' # mine\n")
    install(home, client, "--yes")
    assert path.read_text().startswith("model = 'o3' # mine\n\n[mcp_servers.sayso]\ncommand = "), path.read_text()


@test("a file that is not there is made, with its directories, for its owner alone; undo removes it", "R10.5")
def from_nothing(home: Home) -> None:
    for client in CLIENTS:
        said = install(home, client, "--yes")
        path = path_of(home, client)
        check_entry(home, client, entry_of(home, client))
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and str(path) in said.out, said
        assert "which was created by sayso" in install(home, client, "--undo", "--yes").out and not path.exists()
    assert listing(home) == set()


@test("--project changes the project's file, which others may read; a client without one says so", "R10.5")
def projects(home: Home) -> None:
    place = home.path / "work"
    place.mkdir()
    for client in CLIENTS:
        if not client.project:
            expect(home.sayso("install", client.name, "--project", "--yes", cwd=place), USAGE, "--project")
            continue
        install(home, client, "--project", "--yes", cwd=place)
        path = place / client.project
        check_entry(home, client, parse(client, path.read_bytes())[client.container]["sayso"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o644, oct(path.stat().st_mode)
    install(home, "claude", "--project", "--undo", "--yes", cwd=place)
    (place / "opencode.json").rename(place / "opencode.jsonc")
    assert "already" in install(home, "opencode", "--project", "--yes", cwd=place).out
    assert not path_of(home, BY_NAME["claude"]).exists()


@test("an entry of ours is brought up to date and keeps what we don't know; undo gives the old one back", "R10.5")
def updates(home: Home) -> None:
    rows = (("claude", '{\n  "mcpServers": {\n    "sayso": { "command": "sayso", "args": ["mcp"], "disabled": true }\n  }\n}\n'),
            ("gemini", '{"mcpServers": {"sayso": {"command": "/old/sayso", "args": ["mcp", "--as", "x"], "trust": true, // t\n'
                       '"timeout": 5000, "env": {"A": "b"}}}}'),
            ("opencode", '{"mcp": {"sayso": {"type": "local", "command": ["/old/sayso", "mcp"], "cwd": "/", "timeout": 1}}}'),
            ("codex", '[mcp_servers.sayso] # mine\ncommand = "/old/sayso"\nargs = ["mcp"]\nrequired = true\n\n'
                      '[mcp_servers.sayso.env]\nA = "b"\n\n[other]\nx = 1\n'),
            ("codex", '[mcp_servers.sayso]\ncommand = "/old/sayso"\nargs = ["mcp"]\nenv = {A = "b"}\nrequired = true\n'))
    for name, before in rows:
        client = BY_NAME[name]
        path = put(home, client, before)
        old = entry_of(home, client)
        install(home, client, "--yes", env={"SAYSO_PORT": "7300"})
        new = entry_of(home, client)
        check_entry(home, client, new)
        for key, value in old.items():
            if key in ("env", "environment"):
                assert new[key].items() >= value.items(), new
            elif key not in ("command", "args", client.timeout[0]):
                assert new[key] == value, new
        if name in ("gemini", "codex"):
            assert new["env"]["SAYSO_PORT"] == "7300", new
        assert "original content" in install(home, client, "--undo", "--yes").out and path.read_text() == before
        path.unlink()


@test("a second update keeps the first backup: undo leads to before the first", "R10.5")
def updates_twice(home: Home) -> None:
    for client in (BY_NAME["claude"], BY_NAME["codex"]):
        path = put(home, client, samples(client)[5])
        before = path.read_bytes()
        install(home, client, "--yes")
        install(home, client, "--yes", "--as", 'deploy "bot" \\ 机器人')
        assert entry_of(home, client)["args"] == [*mcp_of(client), "--as", 'deploy "bot" \\ 机器人']
        install(home, client, "--undo", "--yes")
        assert path.read_bytes() == before
        path.unlink()
        for words in ((), ("--as", "me"), ()):
            install(home, client, "--yes", *words)
        assert "which was created by sayso" in install(home, client, "--undo", "--yes").out and listing(home) == set(), "one that sayso made"


@test("an entry of that name that is not ours is refused with a remedy; another name is free", "R10.5")
def foreign(home: Home) -> None:
    for name, before in (("claude", '{"mcpServers": {"sayso": {"command": "npx", "args": ["sayso"]}}}'),
                         ("cursor", '{"mcpServers": {"sayso": {"url": "https://example.org/mcp"}}}'),
                         ("codex", '[mcp_servers.sayso]\nurl = "http://127.0.0.1:80/other"\n'),
                         ("codex", 'mcp_servers.sayso.command = "x"\n'),
                         ("claude", '{"mcpServers": {"sayso": {"command": "half \\ud83d", "n": 1e999}}}'), ("gemini", '{"mcpServers": {"sayso": "x"}}')):
        client = BY_NAME[name]
        path = put(home, client, before)
        for options in (["--yes"], ["--undo", "--yes"], ["--print"]):
            said = install(home, client, *options, code=FAILED)
            assert "--name" in one_line(said.err) and not said.out and path.read_text() == before, said
        refused = install(home, client, "--yes", "--json", code=FAILED).json["error"]
        assert refused["code"] == "conflicting_arguments" and "--name" in refused["message"], refused
        install(home, client, "--yes", "--name", "sayso-2")
        assert entry_of(home, client, "sayso-2") and entry_of(home, client)
        install(home, client, "--undo", "--yes", "--name", "sayso-2")
        assert path.read_text() == before


INVALID = [("claude", '{\n  "a": 1,\n  "mcpServers": {,}\n}', 3), ("claude", '{\n// no comments here\n}', 2), ("claude", "[]", 1),
           ("claude", '{"a": 1,}', 1), ("claude", '{"a": 1} x', 1), ("copilot", '{\n"a": tru\n}', 2), ("vscode", '{\n/* open', 2),
           ("vscode", '{\n"a": "b\n"}', 2), ("gemini", '"text"', 1), ("gemini", '{"a": "\\x"}', 1), ("qwen", '{\n\n"a" 1}', 3),
           ("codex", 'a = 1\nb = \n', 2), ("codex", "[a\n", 1), ("codex", 'a = "b\n', 1), ("codex", "a = 1 2\n", 1),
           ("codex", "a\n", 1), ("codex", 'x = [1,\n2\n', 3), ("codex", '[mcp_servers.a]\nx=1\n[mcp_servers.a]\ny=1\n', 5),
           ("claude", '{"a": "' + "\x00" + '"}', 1), ("claude", "{" * 3 + '"a":' * 2, 1), ("cursor", '{"a":' * 400 + "1" + "}" * 400, 1)]


@test("a file its client could not read is refused with the line, and stays", "R10.5")
def invalid(home: Home) -> None:
    for name, before, line in INVALID:
        client = BY_NAME[name]
        path = put(home, client, before)
        for language in ("en", "zh"):
            said = install(home, client, "--yes", code=FAILED, env={"CHOICE_LANG": language})
            words = one_line(said.err)
            assert str(path) in words and f" {line}" in words, (before[:40], said)
        assert path.read_text() == before and listing(home) == {client.file}
        path.unlink()


SHAPES = [("claude", '{"mcpServers": []}'), ("opencode", '{"mcp": "x"}'), ("codex", 'mcp_servers = {}\n'),
          ("codex", "mcp_servers = 1\n"), ("codex", "[[mcp_servers]]\n")]


@test("a file that is built otherwise is left alone", "R10.5")
def shapes(home: Home) -> None:
    for name, before in SHAPES:
        path = put(home, BY_NAME[name], before)
        said = install(home, name, "--yes", code=FAILED)
        assert "by hand" in said.err and path.read_text() == before, (before, said)


@test("symbolic links: the file behind is changed and the link stays; not through places of others", "R10.5")
def links(home: Home) -> None:
    client = BY_NAME["claude"]
    dotfiles = home.path / "dotfiles"
    dotfiles.mkdir(mode=0o755)
    target = dotfiles / "claude.json"
    target.write_text('{"a": 1}')
    target.chmod(0o640)
    path = path_of(home, client)
    path.symlink_to(target)
    install(home, client, "--yes")
    assert path.is_symlink() and "sayso" in target.read_text() and stat.S_IMODE(target.stat().st_mode) == 0o640
    install(home, client, "--undo", "--yes")
    assert path.is_symlink() and target.read_text() == '{"a": 1}' and stat.S_IMODE(target.stat().st_mode) == 0o640
    dotfiles.chmod(0o777)
    expect(home.sayso("install", "claude", "--yes"), FAILED, "other users can write to")
    target.unlink()
    expect(home.sayso("install", "claude", "--yes"), FAILED, "broken symbolic link")
    expect(home.sayso("install", "claude", "--yes", env={"CHOICE_LANG": "zh"}), FAILED, "符号链接")
    path.unlink()
    path.mkdir()
    expect(home.sayso("install", "claude", "--yes"), FAILED, "not a regular file")
    path.rmdir()
    os.mkfifo(path)
    expect(home.sayso("install", "claude", "--yes"), FAILED, "not a regular file")
    path.unlink()
    backup = path.with_name(path.name + ".before-sayso")
    backup.symlink_to(dotfiles / "elsewhere")
    path.write_text("{}")
    install(home, client, "--yes")
    assert not (dotfiles / "elsewhere").exists() and backup.read_text() == "{}" and not backup.is_symlink()
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        expect(home.sayso("install", "claude", "--yes"), FAILED, "another user")


@test("hostile names, clients and words are refused before anything is touched", "R10.5 R10.3 R6.5")
def hostile(home: Home) -> None:
    for words in (["--name", 'a"b'], ["--name", "a\nb"], ["--name", ""], ["--name", "a.b"], ["--name", "a]b"], ["--name", "x" * 65],
                  ["--name", "../x"], ["--name", "\x1b[2J"], ["--as", "a\nb"], ["--as", ""], ["--as", "x" * 129], ["--as", "\x7f"]):
        for client in ("claude", "codex"):
            said = install(home, client, "--yes", *words, code=USAGE)
            assert words[0] in one_line(said.err), said
    for words in ([], ["emacs"], ["\x1b[2J"], ["claude", "codex"], ["claude", "--nope"]):
        one_line(expect(home.sayso("install", *words), USAGE).err)
    expect(home.sayso("install", "claude-desktop", "--http", "--yes"), USAGE, "--http")
    assert listing(home) == set()
    text = '{"mcpServers": {"x": {"command": "\\u001b[2J", "k\u202e\u200b": "\x7f"}}}'
    path = put(home, BY_NAME["claude"], text)
    said = install(home, "claude", "--print")
    assert not any(character in said.out for character in "\x1b\x7f\u202e\u200b"), ascii(said.out)
    assert path.read_text() == text


@test("what is shown is what is done: --print, no terminal, no, yes; Chinese too", "R10.5 R8.2")
def asking(home: Home) -> None:
    client = BY_NAME["claude"]
    path = put(home, client, '{\n  "a": 1\n}\n')
    shown = install(home, client, "--print")
    assert "+++" in shown.out and '+    "sayso": {' in shown.out and "3600" in shown.err and "hold_limits" in shown.err, shown
    refused = install(home, client, code=FAILED)
    assert "--yes" in refused.err and listing(home) == {client.file}
    assert "等待 3600 秒" in install(home, client, "--print", env={"CHOICE_LANG": "zh"}).err
    for tools, typed, code in ((b"\n", b"n\n", REFUSED), (b"\n", b"\n", REFUSED), (b"nothing\n", b"", USAGE), (b"all\n", b"y\n", DONE)):
        controller, terminal = pty.openpty()

        def take_terminal() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(0), os.O_RDWR))

        process = home.spawn("install", "claude", stdin=terminal, preexec_fn=take_terminal)
        os.close(terminal)
        said = b""
        for question, answer in ((b"(Enter:", tools), (b"[y/N]", typed)):
            while answer and question not in said:
                said += os.read(controller, 4096)
            os.write(controller, answer)
        out, err = process.communicate(timeout=HANG_S)
        home.spawned.remove(process)
        os.close(controller)
        assert process.returncode == code, (typed, out, err)
        assert ("sayso" in path.read_text()) == (code == DONE), typed
    assert entry_of(home, client)["args"] == [*mcp_of(client), "--tools", "all"]
    as_json = install(home, client, "--undo", "--yes", "--json").json
    assert as_json["act"] == "restored" and as_json["backup"] is None and "-    \"sayso\"" in as_json["diff"], as_json
    assert install(home, client, "--yes", "--json").json["timeout_seconds"] == 3600
    assert "已" in install(home, client, "--undo", "--yes", env={"CHOICE_LANG": "zh"}).out


@test("--tools chooses what one client lists; no tool of that name, and over HTTP, are refused", "R10.5 R8.1")
def tools(home: Home) -> None:
    client = BY_NAME["codex"]
    install(home, client, "--yes", "--tools", "ask,elicit_form")
    assert entry_of(home, client)["args"] == [*mcp_of(client), "--tools", "ask,elicit_form"]
    install(home, client, "--yes")
    assert entry_of(home, client)["args"] == mcp_of(client)
    assert "check_decision" not in install(home, client, "--yes", "--tools", "provide", code=USAGE).err
    assert "settings set tools" in install(home, client, "--yes", "--http", "--tools", "all", code=USAGE).err
    assert "--gate" in install(home, client, "--yes", "--gate", "--tools", "all", code=USAGE).err
    expect(home.sayso("mcp", "--tools", "all,most"), USAGE, "--tools")


@test("undo after others changed the file takes out our entry alone and says so", "R10.5")
def undo_later(home: Home) -> None:
    for name in ("claude", "codex"):
        client = BY_NAME[name]
        path = put(home, client, samples(client)[5])
        wanted = parse(client, path.read_bytes())
        install(home, client, "--yes")
        text = path.read_text()
        path.write_text(text.replace('"a": [', '"later": 1, "a": [') if name == "claude" else "later = 1\n" + text)
        said = install(home, client, "--undo", "--yes")
        found = parse(client, path.read_bytes())
        assert found.pop("later") == 1 and "only the entry" in said.out, said
        assert {**found, client.container: {**found.get(client.container, {})}} == {client.container: {}, **wanted}, found
        path.write_bytes(samples(client)[5])
        install(home, client, "--yes")
        path.write_text(path.read_text().replace("3600", "5"))
        assert "only the entry" in install(home, client, "--undo", "--yes").out
        assert "sayso" not in path.read_text()


@test("a stripped environment is passed on where it differs from the usual, and only what is ours", "R10.5")
def environment(home: Home) -> None:
    env = {"XDG_DATA_HOME": str(home.path / "da\"ta"), "SAYSO_PORT": "7301", "SAYSO_READY_FD": "9", "CHOICE_LANG": "zh",
           "OPENAI_API_KEY": "sk-secret", "MCP_SAYSO_TOKEN": "sayso_a_x"}
    for client in CLIENTS:
        install(home, client, "--yes", env=env)
        entry = entry_of(home, client)
        passed = entry.get("env", entry.get("environment"))
        if client.name in ("claude", "qwen", "opencode", "cline"):
            assert passed is None, entry
            continue
        assert passed["XDG_DATA_HOME"] == env["XDG_DATA_HOME"] and passed["HOME"] == str(home.path), passed
        assert set(passed) == {"HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SAYSO_PORT", "CHOICE_LANG"}, passed
        bare = {"PATH": "/usr/bin:/bin", **passed}
        started = subprocess.run([entry["command"], "settings", "get", "port"], env=bare, capture_output=True, text=True)
        assert started.stdout == "7301\n", started
        subprocess.run([entry["command"], "stop"], env=bare, capture_output=True)


@test("the entry starts an MCP server that answers", "R10.5")
def starts(home: Home) -> None:
    install(home, "codex", "--yes", "--as", "the bot")
    entry = entry_of(home, BY_NAME["codex"])
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    reply = subprocess.run([entry["command"], *entry["args"]], env={"PATH": "/bin", **entry["env"]}, input=json.dumps(call) + "\n",
                           capture_output=True, text=True, timeout=HANG_S)
    assert json.loads(reply.stdout)["result"]["serverInfo"]["name"] == "sayso", reply


def headers_of(entry: dict, secret: str) -> dict[str, str]:
    """As the client sends them: its reference to the variable is replaced by what stands in it."""
    if "bearer_token_env_var" in entry:
        assert entry["bearer_token_env_var"] == "MCP_SAYSO_TOKEN"
        return {"Authorization": f"Bearer {secret}"}
    return {name: re.sub(r"\$?\{(env:)?MCP_SAYSO_TOKEN\}", secret, value) for name, value in entry["headers"].items()}


def answers(url: str, headers: dict[str, str]) -> bool:
    """An MCP server is there, and lets this client in."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    wanted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, wanted), timeout=HANG_S) as reply:
            return json.load(reply)["result"]["protocolVersion"] == "2025-11-25"
    except urllib.error.HTTPError as refused:
        assert refused.code == 401, refused
        return False


@test("--http on every sample of every client that can: the rest is kept, the bytes come back", "R10.5")
def http_round_trips(home: Home) -> None:
    count = 0
    for client in CLIENTS:
        if not client.url:
            continue
        for before in samples(client):
            path = put(home, client, before)
            install(home, client, "--http", "--yes")
            found, wanted = parse(client, path.read_bytes()), parse(client, before)
            assert found[client.container].pop("sayso")[client.url].endswith(f"/mcp{query_of(client)}")
            if client.container not in wanted:
                assert found.pop(client.container) == {}, path.read_bytes()
            assert found == wanted, (client.name, before, path.read_bytes())
            install(home, client, "--undo", "--yes")
            assert path.read_bytes() == before, (client.name, before, path.read_bytes())
            count += 1
        path_of(home, client).unlink()
    counted(f"{count} round trips with --http")


@test("--http writes the hub's address and refers to the token, never its secret; back to a program and undone", "R10.5 P23")
def over_http(home: Home) -> None:
    secret = home.sayso("token", "new").out.strip()
    port = home.hub()["port"]
    for client in CLIENTS:
        if not client.url:
            continue
        before = samples(client)[5]
        path = put(home, client, before)
        said = install(home, client, "--http", "--yes", env={"MCP_SAYSO_TOKEN": secret})
        entry = entry_of(home, client)
        assert entry[client.url] == f"http://127.0.0.1:{port}/mcp{query_of(client)}" and "command" not in entry, entry
        assert "MCP_SAYSO_TOKEN" in json.dumps(entry) and "sayso token new" in said.err
        assert secret not in path.read_text() + said.out + said.err
        assert answers(entry[client.url], headers_of(entry, secret)), entry
        assert not answers(entry[client.url], {}), "a hub that wants a token"
        install(home, client, "--yes")
        entry = entry_of(home, client)
        assert client.url not in entry and "headers" not in entry and "bearer_token_env_var" not in entry, entry
        check_entry(home, client, entry)
        install(home, client, "--undo", "--yes")
        assert path.read_bytes() == before, path.read_bytes()
    home.sayso("stop")


@test("many installs into one file at the same time: every entry is in it, the file is whole at every moment", "R10.5")
def at_once(home: Home) -> None:
    for client in (BY_NAME["cursor"], BY_NAME["codex"]):
        path = put(home, client, samples(client)[5])
        names = [f"n{number}" for number in range(scaled(8))]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            said = [pool.submit(install, home, client, "--yes", "--name", name) for name in names]
            while not all(future.done() for future in said):
                parse(client, path.read_bytes())
            for future in said:
                future.result()
            assert set(parse(client, path.read_bytes())[client.container]) >= set(names)
            list(pool.map(lambda name: install(home, client, "--undo", "--yes", "--name", name), names))
        left = parse(client, path.read_bytes()).get(client.container, {})
        assert not set(left) & set(names), left


@test("kill -9 at every step leaves the old file or the new one, and undo still finds its way back", "R10.5")
def killed() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    for client in (BY_NAME["claude"], BY_NAME["codex"]):
        before = samples(client)[5]
        for point in ("install_backed_up", "os_file_written:1", "os_file_written:2"):
            with Home(CRASH_BIN) as home:
                path = put(home, client, before)
                dead = home.sayso("install", client.name, "--no-trust", "--yes", env={"SAYSO_CRASH_POINT": point})
                assert dead.code == -signal.SIGKILL and path.read_bytes() == before, (point, dead)
                install(home, client, "--no-trust", "--yes")
                assert listing(home) == {client.file, client.file + ".before-sayso"}, (point, listing(home))
                after = path.read_bytes()
                parse(client, after)
                for step in ("os_file_written", "install_restored"):
                    dead = home.sayso("install", client.name, "--undo", "--yes", env={"SAYSO_CRASH_POINT": step})
                    assert dead.code == -signal.SIGKILL and path.read_bytes() in (before, after), (step, dead)
                install(home, client, "--undo", "--yes")
                assert path.read_bytes() == before and listing(home) == {client.file}, listing(home)


def mutated(chance: random.Random, data: bytes) -> bytes:
    pieces = [b'"', b"\n", b",", b"{", b"}", b"[", b"]", b"//", b"/*", b"*/", b"#", b"=", b"'", b"\\", b"\r", b":", b".", b"mcp_servers",
              b'"sayso"', b"\xff", b"[mcp_servers.sayso]\n", b"'''", b'"""']
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randint(0, len(data)), chance.randint(0, 6)
        data = data[:at] + chance.choice([b"", data[at:at + length] * 2, *pieces]) + data[at + chance.choice([0, length]):]
    return data


@test("damaged files: refused and untouched, or ours and the rest can be read and undo restores", "R10.5")
def spoilt(home: Home) -> None:
    chance, taken = random.Random(20261115), 0
    for _ in range(scaled(300)):
        client = chance.choice(CLIENTS)
        before = mutated(chance, chance.choice(samples(client)))
        path = put(home, client, before)
        said = home.sayso("install", client.name, "--yes")
        wanted = None
        with contextlib.suppress(ValueError):
            wanted = parse(client, before)
        if said.code != DONE:
            assert said.code == FAILED and path.read_bytes() == before and one_line(said.err), (before, said)
        elif wanted is not None:
            found = parse(client, path.read_bytes())
            assert found[client.container].pop("sayso"), before
            wanted.get(client.container, {}).pop("sayso", None)
            assert found == {client.container: {}, **wanted}, (before, path.read_bytes())
        undone = home.sayso("install", client.name, "--undo", "--yes")
        assert undone.code in (DONE, FAILED), undone
        if said.code == DONE and "already" not in said.out:
            assert path.read_bytes() == before, (before, undone)
            taken += 1
        path.unlink()
    counted(f"{scaled(300)} spoilt configurations, {taken} of them changed and restored")


run()
