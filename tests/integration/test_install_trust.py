"""`sayso install`: the client may run our asking tools, and no others, without asking for permission first. It is in the
same diff, --no-trust leaves it out, and --undo gives every file back byte for byte.

Proves: R10.5
"""
from __future__ import annotations

import json
import pathlib
import signal
import stat

from cli_stage import DONE, FAILED, USAGE, expect
from harness import CRASH_BIN, Home, Skip, counted, run, test
from install_stage import BY_NAME, CLIENTS, STRICT, entry_of, listing, parse, path_of, put, samples

CLAUDE = BY_NAME["claude"]
SETTINGS = ".claude/settings.json"
RULE = "mcp__sayso"
BACKUP = SETTINGS + ".before-sayso-mcp__sayso"
# Rules of others in every place where they can be.
RULES = ['{"permissions": {}}', '{"permissions": {"allow": []}}', '{"permissions":{"allow":[ ],"deny":["mcp__sayso_x"]}}',
         '{\n  "permissions": {\n    "allow": [\n      "Bash(npm run:*)",\n      "mcp__sayso2"\n    ],\n    "deny": []\n  },\n  "hooks": {}\n}\n',
         '{\n\t"permissions": {\n\t\t"defaultMode": "plan",\n\t\t"allow": ["a", "mcp__sayso__x", 1, null]\n\t}\n}']


def settings_of(home: Home) -> pathlib.Path:
    return home.path / SETTINGS


def put_settings(home: Home, data: bytes | str) -> pathlib.Path:
    path = settings_of(home)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def install(home: Home, name: str, *options: str, code: int = DONE, **settings):
    return expect(home.sayso("install", name, *options, **settings), code)


def allowed(data: bytes) -> list:
    return parse(CLAUDE, data).get("permissions", {}).get("allow", [])


@test("one rule is added to Claude Code's settings, whatever is there; the rest is kept and the bytes come back", "R10.5")
def round_trips(home: Home) -> None:
    texts = [text.replace("%s", "env") for text in STRICT] + RULES
    befores = [text.encode() for text in texts]
    befores += [text.replace("\n", "\r\n").encode() for text in texts if "\n" in text]
    befores += [b"\xef\xbb\xbf" + text.encode() for text in texts[::3]]
    for before in befores:
        entry = put(home, CLAUDE, samples(CLAUDE)[5])
        path = put_settings(home, before)
        said = install(home, "claude", "--yes")
        found, wanted = parse(CLAUDE, path.read_bytes()), parse(CLAUDE, before)
        assert found["permissions"]["allow"].pop() == RULE and f'"{RULE}"' in said.out, (before, said)
        if "allow" not in wanted.get("permissions", {}):
            assert found["permissions"].pop("allow") == []
        if "permissions" not in wanted:
            assert found.pop("permissions") == {}
        assert found == wanted, (before, path.read_bytes())
        assert (home.path / BACKUP).read_bytes() == before
        assert "already" in install(home, "claude", "--yes").out
        undone = install(home, "claude", "--undo", "--yes")
        assert path.read_bytes() == before and undone.out.count("original content") == 2, (before, undone)
        assert entry.read_bytes() == samples(CLAUDE)[5]
        assert listing(home) == {CLAUDE.file, SETTINGS}, listing(home)
    counted(f"{len(befores)} round trips of permissions")


@test("Gemini and Qwen carry it in the entry, and no other client carries anything of the kind", "R10.5")
def entries(home: Home) -> None:
    for client in CLIENTS:
        for options in ((), ("--http",)):
            if options and not client.url:
                continue
            said = install(home, client.name, "--yes", *options)
            entry = entry_of(home, client)
            assert entry.get("trust") is (True if client.name in ("gemini", "qwen") else None), entry
            assert entry.get("alwaysLoadTools") is (True if client.name == "qwen" else None), entry
            assert ("without asking" in said.err) == (client.name in ("claude", "gemini", "qwen")), said
            assert settings_of(home).exists() == (client.name == "claude")
            install(home, client.name, "--undo", "--yes")
            assert listing(home) == set(), listing(home)


@test("what is trusted is our server: another address in an entry of ours goes, and comes back", "R10.5 R6.5")
def one_address(home: Home) -> None:
    ours = {"command": "sayso", "args": ["mcp"], "env": {"A": "b"}}
    there = {"httpUrl": "http://127.0.0.1:7298/mcp", "headers": {"X-Mine": "y"}}
    for name in ("gemini", "qwen"):
        for before, options in ((ours | {"httpUrl": "https://elsewhere/mcp"}, ()), (ours | {"url": "https://elsewhere/sse"}, ()),
                                (there | {"url": "https://elsewhere/sse", "command": "elsewhere"}, ("--http",))):
            path = put(home, BY_NAME[name], json.dumps({"mcpServers": {"sayso": before}}))
            install(home, name, "--yes", *options)
            entry = entry_of(home, BY_NAME[name])
            assert entry["trust"] and "elsewhere" not in path.read_text(), entry
            assert [key for key in ("command", "url", "httpUrl") if key in entry] == (["httpUrl"] if options else ["command"]), entry
            assert entry["headers"]["X-Mine"] == "y" if options else entry["env"]["A"] == "b", entry
            assert "already" in install(home, name, "--yes", *options).out
            install(home, name, "--undo", "--yes")
            assert json.loads(path.read_text()) == {"mcpServers": {"sayso": before}}, path.read_text()


@test("--no-trust leaves it out and touches no second file; installing again without it adds it, undo leads to the beginning",
      "R10.5")
def no_trust(home: Home) -> None:
    for name in ("claude", "gemini", "qwen"):
        client = BY_NAME[name]
        path = put(home, client, samples(client)[5])
        said = install(home, name, "--no-trust", "--yes")
        assert "asks for permission" in said.err and "trust" not in entry_of(home, client) and not (home.path / ".claude").exists()
        install(home, name, "--yes")
        assert entry_of(home, client).get("trust") or allowed(settings_of(home).read_bytes()) == [RULE]
        assert "already" in install(home, name, "--no-trust", "--yes").out, "what is there is not taken away"
        install(home, name, "--undo", "--yes")
        assert path.read_bytes() == samples(client)[5] and listing(home) == {client.file}, listing(home)
        path.unlink()
        (home.path / ".claude").exists() and (home.path / ".claude").rmdir()
    assert "--no-trust" in install(home, "claude", "--gate", "--no-trust", "--yes", code=USAGE).err


@test("the whole change of both files is shown before one of them is written; JSON names both", "R10.5 R8.2")
def shown(home: Home) -> None:
    put_settings(home, '{"model": "opus"}')
    said = install(home, "claude", "--print")
    assert said.out.count("+++") == 2 and "permissions.allow" in said.err and listing(home) == {SETTINGS}, said
    assert "permissions.allow" in install(home, "claude", "--print", env={"CHOICE_LANG": "zh"}).err
    assert "--yes" in install(home, "claude", code=FAILED).err and listing(home) == {SETTINGS}
    done = install(home, "claude", "--yes", "--json").json
    assert done["file"].endswith(CLAUDE.file) and done["act"] == "installed" and done["backup"] is None, done
    assert done["permission"] == {"file": str(settings_of(home)), "act": "installed", "backup": str(home.path / BACKUP)}, done
    assert "permission" not in install(home, "gemini", "--print", "--json").json
    settings_of(home).write_text('{"later": 1, "permissions": {"allow": ["x", "mcp__sayso"]}}')
    done = install(home, "claude", "--undo", "--yes", "--json").json
    assert (done["act"], done["permission"]["act"]) == ("restored", "removed"), done
    assert json.loads(settings_of(home).read_text()) == {"later": 1, "permissions": {"allow": ["x"]}}


@test("a rule that was there before us stays when we are undone, also after others changed the file", "R10.5")
def theirs(home: Home) -> None:
    before = '{\n  "permissions": { "allow": ["mcp__sayso"] }\n}\n'
    for later in (before, before.replace("{\n ", '{ "later": 1,\n ')):
        path = put_settings(home, before)
        install(home, "claude", "--yes")
        assert path.read_text() == before
        install(home, "claude", "--yes", "--as", "me")
        path.write_text(later)
        install(home, "claude", "--undo", "--yes")
        assert path.read_text() == later and listing(home) == {SETTINGS}, listing(home)


@test("the rule is about the entry's own name, and never about a tool of another server", "R10.5 R6.5")
def names(home: Home) -> None:
    install(home, "claude", "--yes", "--name", "ask-me")
    assert allowed(settings_of(home).read_bytes()) == ["mcp__ask-me"]
    install(home, "claude", "--yes")
    assert allowed(settings_of(home).read_bytes()) == ["mcp__ask-me", RULE]
    install(home, "claude", "--undo", "--yes", "--name", "ask-me")
    assert allowed(settings_of(home).read_bytes()) == [RULE]
    install(home, "claude", "--undo", "--yes")
    for name in ("other__tool", "other__"):  # mcp__other__tool is that tool of the server "other"
        said = install(home, "claude", "--yes", "--name", name)
        assert allowed(settings_of(home).read_bytes()) == [] and "asks for permission" in said.err, said


@test("the settings of the project go with the project's entry; CLAUDE_CONFIG_DIR moves both files into one directory", "R10.5")
def places(home: Home) -> None:
    work = home.path / "work"
    work.mkdir()
    install(home, "claude", "--project", "--yes", cwd=work)
    assert allowed((work / SETTINGS).read_bytes()) == [RULE] and not (home.path / ".claude").exists()
    assert stat.S_IMODE((work / SETTINGS).stat().st_mode) == 0o644
    install(home, "claude", "--project", "--undo", "--yes", cwd=work)
    assert listing(home) == set()
    moved = {"CLAUDE_CONFIG_DIR": str(home.path / "moved")}
    install(home, "claude", "--yes", env=moved)
    assert listing(home) == {"moved/.claude.json", "moved/settings.json"}
    install(home, "claude", "--undo", "--yes", env=moved)
    assert listing(home) == set()
    install(home, "claude", "--undo", "--yes")
    assert not (home.path / ".claude").exists(), "undoing nothing makes no directory"


@test("the rule and the hook share a file and are undone one by one, byte for byte", "R11.3 R10.5")
def with_hook(home: Home) -> None:
    path = put_settings(home, RULES[3])
    install(home, "claude", "--yes")
    between = path.read_bytes()
    install(home, "claude", "--gate", "--yes")
    install(home, "claude", "--gate", "--undo", "--yes")
    assert path.read_bytes() == between
    install(home, "claude", "--undo", "--yes")
    assert path.read_text() == RULES[3] and listing(home) == {SETTINGS}


@test("settings that can't be read or are built otherwise are named, and neither file is changed", "R10.5")
def refused(home: Home) -> None:
    entry = put(home, CLAUDE, "{}")
    for text, word in (("{", "line"), ('{"permissions": []}', "by hand"), ('{"permissions": {"allow": "x"}}', "by hand"),
                       ('{\n// mine\n}', "line 2")):
        path = put_settings(home, text)
        for options in (("--yes",), ("--print",), ("--yes", "--json")):
            said = install(home, "claude", *options, code=FAILED)
            assert str(path) in said.out + said.err and word in said.out + said.err, said
        assert path.read_text() == text and entry.read_text() == "{}" and listing(home) == {CLAUDE.file, SETTINGS}
    path.unlink()
    path.parent.chmod(0o755)
    install(home, "claude", "--no-trust", "--yes")
    assert entry_of(home, CLAUDE)


@test("kill -9 at every step leaves each file old or new, and both install and undo still find their way", "R10.5")
def killed() -> None:
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip("there is no build with crash points")
    before = RULES[3]
    for point in ("install_backed_up:1", "install_backed_up:2", *(f"os_file_written:{step}" for step in range(1, 5))):
        with Home(CRASH_BIN) as home:
            entry, path = put(home, CLAUDE, samples(CLAUDE)[5]), put_settings(home, before)
            dead = home.sayso("install", "claude", "--yes", env={"SAYSO_CRASH_POINT": point})
            assert dead.code == -signal.SIGKILL and path.read_text() == before, (point, dead)
            install(home, "claude", "--yes")
            assert allowed(path.read_bytes())[-1] == RULE and entry_of(home, CLAUDE)
            for step in ("os_file_written:1", "install_restored:1", "os_file_written:1", "install_restored:1"):
                dead = home.sayso("install", "claude", "--undo", "--yes", env={"SAYSO_CRASH_POINT": step})
                assert dead.code == -signal.SIGKILL, (step, dead)
            install(home, "claude", "--undo", "--yes")
            assert path.read_text() == before and entry.read_bytes() == samples(CLAUDE)[5]
            assert listing(home) == {CLAUDE.file, SETTINGS}, (point, listing(home))


run()
