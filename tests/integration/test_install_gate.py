"""`sayso install CLIENT --gate`: the hook stands among the others, the rest of the file stays, --undo takes it out.

Proves: R11.3 R10.5
"""
from __future__ import annotations

import json
import os
import pathlib
import stat
import subprocess
from typing import Any, NamedTuple

from cli_stage import DONE, FAILED, USAGE, expect, one_line
from harness import BIN, ROOT, Home, counted, run, test
from install_stage import LENIENT, STRICT, listing, strip_comments

PROGRAM = os.path.realpath(BIN)


class Hook(NamedTuple):
    """Where a client keeps its hooks; said once more here, so that a slip in the table shows."""
    name: str
    file: str
    project: str
    event: str
    timeout: tuple[str, int]
    command: str = "command"
    matcher: str | None = None
    is_lenient: bool = False


HOOKS = [Hook("claude", ".claude/settings.json", ".claude/settings.json", "PreToolUse", ("timeout", 600), matcher="*"),
         Hook("codex", ".codex/hooks.json", ".codex/hooks.json", "PreToolUse", ("timeout", 600), matcher=".*"),
         Hook("gemini", ".gemini/settings.json", ".gemini/settings.json", "BeforeTool", ("timeout", 600000),
              matcher=".*", is_lenient=True),
         Hook("copilot", ".copilot/hooks/sayso.json", ".github/hooks/sayso.json", "preToolUse", ("timeoutSec", 600),
              "bash")]
BY_NAME = {hook.name: hook for hook in HOOKS}

# %s is the event; other hooks in every place where they can be.
OTHERS = ['{"hooks": {}}', '{"hooks": {"%s": []}}', '{"hooks":{"%s":[ ]}}', '{\n  "hooks": {\n    "%s": [\n    ]\n  }\n}\n',
          '{"hooks": {"%s": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "a"}]}]}}',
          '{\n\t"hooks": {\n\t\t"Stop": [{"hooks": []}],\n\t\t"%s": [\n\t\t\t{\n\t\t\t\t"matcher": "Edit|Write",\n'
          '\t\t\t\t"hooks": [\n\t\t\t\t\t{"type": "command", "command": "jq -r \'.x\' | sayso-lint ]}"}\n\t\t\t\t]\n\t\t\t},\n'
          '\t\t\t{"matcher": "", "hooks": [{"type": "command", "command": "b"}]}\n\t\t]\n\t},\n\t"z": 1\n}\n',
          '{\n  "hooks": {\n    "%s": [{"a": 1}, {"b": "]"}] }, "version": 1\n}', '{"hooks": {"Other": [1, "x", null]}, "a": []}']
COMMENTED = ['{\n  // mine\n  "hooks": {\n    "%s": [\n      { "matcher": "x" }, // the first\n      /* and */ { "matcher": "y" }, // last\n'
             '    ],\n  },\n}\n', '{"hooks": {"%s": [ /* none */ ]}}', '{\n  "hooks": {\n    "%s": [\n      // none yet\n    ]\n  }\n}\n']


def samples(hook: Hook) -> list[bytes]:
    texts = [text.replace("%s", "mcpServers") for text in (LENIENT if hook.is_lenient else STRICT)]
    texts += [text.replace("%s", hook.event) for text in OTHERS + (COMMENTED if hook.is_lenient else [])]
    found = [text.encode() for text in texts]
    found += [text.replace("\n", "\r\n").encode() for text in texts if "\n" in text]
    return found + [b"\xef\xbb\xbf" + text.encode() for text in texts[::3]]


def install(home: Home, hook: Hook | str, *options: str, code: int = DONE, **settings: Any):
    name = hook if isinstance(hook, str) else hook.name
    return expect(home.sayso("install", name, "--gate", *options, **settings), code)


def path_of(home: Home, hook: Hook) -> pathlib.Path:
    return home.path / hook.file


def put(home: Home, hook: Hook, data: bytes | str) -> pathlib.Path:
    path = path_of(home, hook)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def parse(hook: Hook, data: bytes) -> dict[str, Any]:
    text = data.decode("utf-8-sig")
    bare = strip_comments(text) if hook.is_lenient else text
    return json.loads(bare) if bare.strip() else {}


def take_ours(hook: Hook, found: dict[str, Any]) -> str:
    """Our item out of the list, and the command it runs."""
    item = found["hooks"][hook.event].pop()
    if hook.matcher:
        assert set(item) == {"matcher", "hooks"} and item["matcher"] == hook.matcher, item
        (item,) = item["hooks"]
    assert item["type"] == "command" and item[hook.timeout[0]] == hook.timeout[1] and len(item) == 3, item
    return item[hook.command]


@test("install --gate and its undo over every sample of every client with hooks: the bytes come back", "R11.3 R10.5")
def round_trips(home: Home) -> None:
    count = 0
    for hook in HOOKS:
        for before in samples(hook):
            path = put(home, hook, before)
            install(home, hook, "--yes")
            after = path.read_bytes()
            found, wanted = parse(hook, after), parse(hook, before)
            command = take_ours(hook, found)
            assert command.endswith(f"{PROGRAM} gate --client {hook.name} --wait 570"), command
            if hook.event not in wanted.get("hooks", {}):
                assert found["hooks"].pop(hook.event) == [], after
            if "hooks" not in wanted:
                assert found.pop("hooks") == {}, after
            if hook.name == "copilot" and "version" not in wanted:
                assert found.pop("version") == 1, after
            assert found == wanted, (hook.name, before, after)
            assert b"\r\n" not in before or b"\n" not in after.replace(b"\r\n", b""), after
            kept = iter(after)
            assert all(byte in kept for byte in before if byte not in b" "), (hook.name, before, after)
            again = install(home, hook, "--yes")
            assert "already" in again.out and path.read_bytes() == after, (before, again)
            undone = install(home, hook, "--undo", "--yes")
            assert path.read_bytes() == before and "original content" in undone.out, (hook.name, before, undone)
            assert "has no entry" in install(home, hook, "--undo", "--yes").out
            assert listing(home) == {hook.file}, listing(home)
            count += 1
        path_of(home, hook).unlink()
    counted(f"{count} round trips of hooks")


@test("a file that is not there is made for its owner alone, a project's for all; undo removes it", "R11.3")
def from_nothing(home: Home) -> None:
    place = home.path / "work"
    place.mkdir()
    for hook in HOOKS:
        said = install(home, hook, "--yes")
        assert stat.S_IMODE(path_of(home, hook).stat().st_mode) == 0o600
        assert "570 s" in said.err and ("/hooks" in said.err) == (hook.name == "codex"), said
        assert "which was created by sayso" in install(home, hook, "--undo", "--yes").out
        install(home, hook, "--project", "--yes", cwd=place)
        path = place / hook.project
        take_ours(hook, parse(hook, path.read_bytes()))
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        install(home, hook, "--project", "--undo", "--yes", cwd=place)
    assert listing(home) == set()


@test("the server's entry and the hook in one file are undone one by one, byte for byte", "R11.3 R10.5")
def both(home: Home) -> None:
    hook = BY_NAME["gemini"]
    before = samples(hook)[9]
    path = put(home, hook, before)
    expect(home.sayso("install", "gemini", "--yes"), DONE)
    with_entry = path.read_bytes()
    install(home, hook, "--yes")
    with_both = path.read_bytes()
    install(home, hook, "--undo", "--yes")
    assert path.read_bytes() == with_entry
    expect(home.sayso("install", "gemini", "--undo", "--yes"), DONE)
    assert path.read_bytes() == before
    path.write_bytes(with_both)  # the other way round each takes out its own alone
    expect(home.sayso("install", "gemini", "--undo", "--yes"), DONE)
    found = parse(hook, path.read_bytes())
    assert "sayso" not in found["mcpServers"]
    take_ours(hook, found)
    install(home, hook, "--undo", "--yes")
    assert parse(hook, path.read_bytes())["hooks"][hook.event] == []


@test("an old hook of ours is brought up to date where it stands; one among other commands is left to its person",
      "R11.3")
def updates(home: Home) -> None:
    hook = BY_NAME["claude"]
    before = ('{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": '
              '"\'/old place/sayso\' gate"}]}, {"matcher": "x", "hooks": []}]}}')
    path = put(home, hook, before)
    install(home, hook, "--yes")
    items = parse(hook, path.read_bytes())["hooks"]["PreToolUse"]
    assert len(items) == 2 and items[1] == {"matcher": "x", "hooks": []}, items
    assert PROGRAM in items[0]["hooks"][0]["command"] and items[0]["matcher"] == "*", items
    install(home, hook, "--undo", "--yes")
    assert path.read_text() == before
    mixed = ('{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "sayso gate"}, '
             '{"type": "command", "command": "mine"}]}]}}')
    path = put(home, hook, mixed)
    assert "has no entry" in install(home, hook, "--undo", "--yes").out and path.read_text() == mixed
    for command in ("/x/sayso gateway", "echo sayso; gate", "notsayso-gate", "gate"):
        path = put(home, hook, json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"command": command}]}]}}))
        assert "has no entry" in install(home, hook, "--undo", "--yes").out, command


@test("undo after others changed the file takes out the hook alone and says so", "R11.3")
def undo_later(home: Home) -> None:
    for hook in HOOKS:
        path = put(home, hook, OTHERS[5].replace("%s", hook.event))
        wanted = parse(hook, path.read_bytes())
        install(home, hook, "--yes")
        path.write_text(path.read_text().replace('"z": 1', '"z": 2'))
        said = install(home, hook, "--undo", "--yes")
        found = parse(hook, path.read_bytes())
        assert found.pop("z") == 2 and "only the entry" in said.out, said
        found.pop("version", None)
        wanted.pop("z")
        assert found == wanted, found


@test("what can't be done is refused before anything is touched", "R11.3 R10.3")
def refused(home: Home) -> None:
    for client in ("vscode", "cursor", "qwen", "opencode", "claude-desktop"):
        assert "--gate" in one_line(install(home, client, "--yes", code=USAGE).err)
    for words in (["--name", "x"], ["--as", "x"], ["--http"]):
        assert words[0] in one_line(install(home, "claude", *words, "--yes", code=USAGE).err)
    assert "--http" in install(home, "claude", "--http", "--yes", code=USAGE, env={"CHOICE_LANG": "zh"}).err
    assert listing(home) == set()
    for hook in HOOKS:
        for text in ('{"hooks": []}', '{"hooks": {"%s": {}}}', '{"hooks": {"%s": "x"}}', '{"hooks": 1}'):
            path = put(home, hook, text.replace("%s", hook.event))
            before = path.read_bytes()
            said = install(home, hook, "--yes", code=FAILED)
            assert "by hand" in said.err and path.read_bytes() == before, (text, said)
        put(home, hook, "{")
        assert "line" in install(home, hook, "--yes", code=FAILED).err
    assert install(home, "codex", "--undo", "--yes", "--json", code=FAILED).json["error"]["code"] == "bad_json"
    path_of(home, BY_NAME["codex"]).unlink()
    shown = install(home, "codex", "--print")
    assert "+++" in shown.out and "gate --client codex" in shown.out and not path_of(home, BY_NAME["codex"]).exists()
    assert install(home, "codex", "--yes", "--json").json["timeout_seconds"] == 600


@test("the hooks for prompts stand beside the gate's, and each is undone by itself, in either order", "R15.1 R10.5")
def beside_prompts(home: Home) -> None:
    wanted = {"claude": {"PermissionRequest": 86400, "Elicitation": 600, "Stop": 600}, "codex": {"PermissionRequest": 600}}
    for name, events in wanted.items():
        hook = BY_NAME[name]
        for before in samples(hook)[::7]:
            for order in (("--gate", "--prompts"), ("--prompts", "--gate")):
                path = put(home, hook, before)
                for use in order:
                    expect(home.sayso("install", name, use, "--yes"), DONE)
                found = parse(hook, path.read_bytes())["hooks"]
                for event, timeout in events.items():
                    (inner,) = found[event][-1]["hooks"]
                    assert found[event][-1]["matcher"] == hook.matcher and inner["timeout"] == timeout, found
                    assert inner["command"].endswith(f"{PROGRAM} prompts --client {name} --wait {timeout - 30}"), inner
                assert " gate --client " in found["PreToolUse"][-1]["hooks"][0]["command"], found
                again = expect(home.sayso("install", name, "--prompts", "--yes"), DONE)
                assert "already" in again.out, again
                for use in order:
                    expect(home.sayso("install", name, use, "--undo", "--yes"), DONE)
                rest, was = parse(hook, path.read_bytes()), parse(hook, before)
                for place in (rest, was):  # lists that we made may stay, empty
                    place["hooks"] = {event: items for event, items in place.get("hooks", {}).items() if items}
                assert rest == was, (before, path.read_bytes())
                for left in path.parent.glob("*.before-sayso*"):
                    left.unlink()
                path.unlink()
    assert home.sayso("install", "gemini", "--prompts", "--yes").code == USAGE
    assert home.sayso("install", "claude", "--prompts", "--gate", "--yes").code == USAGE


@test("what is written is a command line that a shell runs: it decides as the client wants it", "R11.3")
def runs(home: Home) -> None:
    recorded = {case["client"]: case["hook"] for case in
                json.loads((ROOT / "tests/corpus/hooks.json").read_text())["cases"]}
    place = home.path / "it's a \"place\""
    place.mkdir()
    program = place / "sayso"
    program.symlink_to(PROGRAM)
    data = {"XDG_DATA_HOME": str(home.path / "da ta")}
    nobody = {"SAYSO_PORTAL": "off", "SAYSO_TERMINAL": "off"}  # so that it is denied immediately
    for hook in HOOKS:
        install(home, hook, "--yes", env={**data, **nobody})
        command = take_ours(hook, parse(hook, path_of(home, hook).read_bytes()))
        passed = hook.name != "claude"  # which hands its own environment on
        assert (f"XDG_DATA_HOME='{data['XDG_DATA_HOME']}' " in command) == passed, command
        quoted = "'" + str(program).replace("'", "'\\''") + "'"
        for line in (command, command.replace(PROGRAM, quoted)):
            for words, decision in (("rm -rf x", "deny"), ("ls -la", "{}")):
                given = json.dumps(recorded[hook.name]).replace("{COMMAND}", words)
                done = subprocess.run(["sh", "-c", line], input=given, text=True, capture_output=True, timeout=60,
                                      env={**home.environment, **({} if passed else {**data, **nobody})})
                assert done.returncode == 0 and decision in done.stdout, (line, done)
    home.sayso("stop", env=data)


run()
