"""`sayso gate` with each client's hook: allowed, denied, silence, and everything that can go wrong.

Proves: R11.3
"""
from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from typing import Any

from cli_stage import DONE, USAGE, end, expect
from harness import HANG_S, ROOT, Home, Result, run, side_by_side, test, wait_until
from tty_stage import Tty

HOOKS = json.loads((ROOT / "tests/corpus/hooks.json").read_text())["cases"]
NAMED = {f"{case['client']} {number}": case for number, case in enumerate(HOOKS)}
CLAUDE = NAMED["claude 0"]
DANGEROUS, HARMLESS = "rm -rf /tmp/x", "ls -la"
BLOCKS = 2


def hook(case: dict[str, Any], command: str, **more: Any) -> bytes:
    """The bytes that client would send; `more` replaces members."""
    def fill(value: Any) -> Any:
        if isinstance(value, str) and value.startswith("{\""):
            return json.dumps({**json.loads(value), "command": command})
        if isinstance(value, dict):
            return {name: fill(inner) for name, inner in value.items()}
        return command if value == "{COMMAND}" else value
    return json.dumps({**fill(case["hook"]), **more}).encode()


def at(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def start(home: Home, given: bytes, *options: str, **settings: Any) -> subprocess.Popen:
    process = home.spawn("gate", *options, stdin=subprocess.PIPE, **settings)
    with contextlib.suppress(BrokenPipeError):  # it may have read enough
        process.stdin.buffer.write(given)
        process.stdin.close()
    process.stdin = None
    return process


def finish(home: Home, process: subprocess.Popen) -> Result:
    out, err = process.communicate(timeout=4 * HANG_S)
    home.spawned.remove(process)
    return Result(process.returncode, out, err)


def gate(home: Home, given: bytes, *options: str, **settings: Any) -> Result:
    return finish(home, start(home, given, *options, **settings))


def expect_deny(case: dict[str, Any], result: Result, *words: str, may_hang: bool = False) -> str:
    """`may_hang`: the hub may have been too slow to say it, then the watchdog did."""
    assert result.code == DONE and result.out.count("\n") == 1, result
    assert at(result.json, case["decision"]) == "deny", result
    reason = at(result.json, case["reason"])
    is_hung = may_hang and "got no decision in time" in (reason or "")
    assert reason and (is_hung or all(word in reason for word in words)), (words, result)
    return reason


def expect_allow(case: dict[str, Any], result: Result) -> None:
    assert result.code == DONE and result.out.count("\n") == 1 and not result.err, result
    assert at(result.json, case["decision"]) == case["allow"], result
    if case["allow"] is None:
        assert result.json == {}, "this client knows no explicit allow"


def the_ask(home: Home) -> str:
    rows = wait_until(lambda: home.data.exists() and home.sayso("list", "--active", "--json").json, "a person is asked")
    assert len(rows) == 1, rows
    return rows[0]["session_id"]


def decide(home: Home, session_id: str, pick: str, *more: str) -> None:
    if pick == "deny":  # no terminal, no code
        denied = home.spawn("answer", session_id, "--select", pick, *more, stdin=subprocess.DEVNULL, start_new_session=True)
        expect(end(home, denied), DONE)
        return
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", pick, *more)
        tty.type(tty.read_until(r"Type (\d{3}) ")[1] + "\n")
        expect(end(home, process), DONE)


for name, case in NAMED.items():
    @test(f"{name}: what no rule speaks of goes its way, and nothing is started", "R11.3")
    def harmless(home: Home, case: dict[str, Any] = case) -> None:
        for options in ([], ["--client", case["client"]]):
            result = gate(home, hook(case, HARMLESS), *options)
            assert result == Result(DONE, "{}\n", ""), result
        assert not home.hub_pid() and not home.data.exists(), "a harmless call started something"

    @test(f"{name}: a match is put to a person as destructive; their yes allows it, once", "R11.3 R12.1")
    def allowed(home: Home, case: dict[str, Any] = case) -> None:
        process = start(home, hook(case, DANGEROUS), "--client", case["client"])
        session_id = the_ask(home)
        shown = expect(home.sayso("show", session_id), DONE, DANGEROUS, "rm -r", "estructive", "Deny")
        assert case["client"] in shown.out, shown
        decide(home, session_id, "allow")
        expect_allow(case, finish(home, process))
        again = start(home, hook(case, DANGEROUS, tool_use_id="toolu_2") if "tool_use_id" in case["hook"]
                      else hook(case, DANGEROUS))
        assert the_ask(home) != session_id, "an old yes was given to a new call"
        expect(home.sayso("cancel"), DONE)
        expect_deny(case, finish(home, again), "denied")

    @test(f"{name}: no, with a note, is a deny with the person's words", "R11.3")
    def denied(home: Home, case: dict[str, Any] = case) -> None:
        process = start(home, hook(case, DANGEROUS))
        decide(home, the_ask(home), "deny", "--note", "not \"today\"")
        expect_deny(case, finish(home, process), "The user denied", "not \"today\"", "rm -r")

    @test(f"{name}: unreadable input is a deny with a reason", "R11.3")
    def unreadable(home: Home, case: dict[str, Any] = case) -> None:
        whole = hook(case, DANGEROUS)
        tool = "toolName" if "toolName" in case["hook"] else "tool_name"
        given = "toolArgs" if "toolArgs" in case["hook"] else "tool_input"
        without = lambda key: json.dumps({k: v for k, v in json.loads(whole).items() if k != key}).encode()
        bad = {b"": "JSON", b"{": "JSON", whole[:-1]: "JSON", b"[]": "JSON", b"\xff\xfe": "JSON", whole + b"x": "JSON",
               b'{"a":1,"a":2}': "JSON", without(tool): "tool", without(given): "called with",
               hook(case, DANGEROUS, **{tool: ""}): "tool", hook(case, DANGEROUS, **{tool: 7}): "tool"}
        for bytes_, word in bad.items():
            expect_deny(case, gate(home, bytes_, "--client", case["client"]), word)
        assert not home.hub_pid()

    @test(f"{name}: without a hub, and without any way to start one, it is a deny", "R11.3")
    def no_hub(home: Home, case: dict[str, Any] = case) -> None:
        home.data.parent.mkdir(parents=True)
        home.data.write_text("not a directory")
        expect_deny(case, gate(home, hook(case, DANGEROUS), "--wait", "30"), "can't reach the user")
        assert gate(home, hook(case, HARMLESS)).out == "{}\n", "harmless calls need none"
        home.data.unlink()


@test("silence is a deny, before the client's patience ends", "R11.3 R5.6")
def silent() -> None:
    def one(case: dict[str, Any]) -> None:
        with Home() as home:
            began = time.monotonic()
            result = gate(home, hook(case, DANGEROUS), "--wait", "5")
            expect_deny(case, result, "no one answered", may_hang=True)
            assert time.monotonic() - began < HANG_S, "later than it was told to wait"
    side_by_side(*[lambda case=case: one(case) for case in NAMED.values()])


@test("more than a person can be shown whole is a deny, and so is more than is read", "R11.3")
def oversized(home: Home) -> None:
    long = DANGEROUS + " " + "x" * 66000
    expect_deny(CLAUDE, gate(home, hook(CLAUDE, long)), "too long")
    assert gate(home, hook(CLAUDE, "ls " + "x" * 66000)).out == "{}\n", "length alone is no danger"
    expect_deny(CLAUDE, gate(home, hook(CLAUDE, "ls " + "x" * 1048576), "--client", "claude"), "1048576")
    blind = gate(home, hook(CLAUDE, "ls " + "x" * 1048576))
    assert blind.code == BLOCKS and not blind.out and "1048576" in blind.err, blind
    assert not home.sayso("list", "--json").json, "nobody was asked"


@test("what is of no known format is blocked by the exit code clients agree on", "R11.3")
def unknown_format(home: Home) -> None:
    for given in (b"", b"{}", b"not json", b'{"hook_event_name":"Stop"}', b'{"tool_name":"Bash","tool_input":{}}'):
        result = gate(home, given)
        assert result.code == BLOCKS and not result.out and result.err.startswith("sayso gate: "), (given, result)
    for options in (["--client", "nobody"], ["--wait", "1"], ["--wait", "x"], ["--what"], ["word"]):
        assert gate(home, hook(CLAUDE, HARMLESS), *options).code == USAGE == BLOCKS, options


@test("options that are wrong, and a hub that can't be chosen, are a deny in the words of the client that --client names", "R11.3")
def wrong_options(home: Home) -> None:
    far = {"SAYSO_HUB": "https://hub.example"}
    for case in NAMED.values():
        by_code = case["client"] in ("claude", "codex", "gemini")
        for options, env in ((["--wait", "1"], {}), (["--what"], {}), (["word"], {}), ([b"\xff"], {}), ([], far),
                             ([], {**far, "SAYSO_TOKEN_FILE": str(home.path / "none")})):
            result = gate(home, hook(case, HARMLESS), "--client", case["client"], *options, env={**home.environment, **env})
            assert result.code == (BLOCKS if by_code else DONE) and result.err.startswith("sayso"), (options, env, result)
            assert at(result.json, case["decision"]) == "deny" and at(result.json, case["reason"]), (options, env, result)
    assert gate(home, b"", "--client", "copilot", "--help").code == DONE and not home.hub_pid()
    named = next(case for case in HOOKS if case["client"] == "copilot")  # which calls itself copilot-cli
    result = gate(home, hook(named, HARMLESS), "--client", "copilot-cli", "--what")
    assert result.code == DONE and at(result.json, named["decision"]) == "deny", result


@test("hostile commands, tools and notes can't act on the screen or break the client's JSON", "R11.3 R6.5")
def hostile(home: Home) -> None:
    nasty = "\x1b[2J\u202e```\n# yes\n`````\"}\u200b"
    process = start(home, hook(CLAUDE, DANGEROUS + nasty, tool_name="Bash" + nasty * 20))
    session_id = the_ask(home)
    for said in (home.sayso("show", session_id), home.sayso("list")):
        assert said.code == DONE and not set("\x1b\u202e\u200b") & set(said.out), said
    prompt = home.sayso("show", session_id, "--json").json["form"]["prompt"]
    assert f"``````\n{DANGEROUS}{nasty}\n``````" in prompt, prompt
    decide(home, session_id, "deny", "--note", nasty)
    assert nasty in expect_deny(CLAUDE, finish(home, process)), "the person's words came back changed"


@test("a hub that dies while the person thinks is started again, and the question stands", "R11.3 R5.2")
def hub_dies(home: Home) -> None:
    process = start(home, hook(CLAUDE, DANGEROUS))
    session_id = the_ask(home)
    home.kill_hub()
    wait_until(home.hub_pid, "the hub is back")
    assert the_ask(home) == session_id
    decide(home, session_id, "allow")
    expect_allow(CLAUDE, finish(home, process))


@test("--wait N gives the person N seconds", "R11.3")
def waits_whole(home: Home) -> None:
    process = home.spawn("gate", "--client", "claude", "--wait", "60", stdin=subprocess.PIPE)
    process.stdin.write(hook(CLAUDE, DANGEROUS).decode())
    process.stdin.close()
    process.stdin = None
    rows = wait_until(lambda: home.data.exists() and home.sayso("list", "--active", "--json").json, "a person is asked")
    assert 58 <= rows[0]["remaining_seconds"] <= 60, rows
    expect_said = home.sayso("cancel", rows[0]["session_id"])
    assert expect_said.code == DONE and process.wait(HANG_S) == 0
    home.spawned.remove(process)


@test("who asks back gets no answer from a hook, which waits on: no decision is made by asking", "R11.3 R2.2")
def asked_back(home: Home) -> None:
    process = start(home, hook(CLAUDE, DANGEROUS))
    session_id = the_ask(home)
    assert home.sayso("reply", session_id, "which files?").code == DONE
    time.sleep(0.3)
    assert process.poll() is None
    decide(home, session_id, "allow")
    expect_allow(CLAUDE, finish(home, process))


@test("a hub that hangs, and input that never ends, are ended by the watchdog with a deny", "R11.3")
def hangs(home: Home) -> None:
    expect(home.sayso("list"), DONE)
    pid = home.hub_pid()
    endless = [(home.spawn("gate", "--wait", "5", *options, stdin=subprocess.PIPE), code)
               for options, code in ((["--client", "claude"], DONE), ([], BLOCKS))]
    for process, _ in endless:
        process.stdin.write('{"tool')
        process.stdin.flush()
    os.kill(pid, signal.SIGSTOP)
    try:
        expect_deny(CLAUDE, gate(home, hook(CLAUDE, DANGEROUS), "--wait", "5"), "denied")
    finally:
        os.kill(pid, signal.SIGCONT)
    for process, code in endless:
        assert process.wait(HANG_S) == code
        if code == DONE:
            expect_deny(CLAUDE, Result(process.returncode, process.stdout.read(), ""))
        process.stdin.close()
        home.spawned.remove(process)


@test("a gate that is ended by a signal while it waits for an answer denies the call", "R11.3")
def ended(home: Home) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        process = start(home, hook(CLAUDE, DANGEROUS, tool_use_id=number.name), "--client", "claude")
        session_id = the_ask(home)
        process.send_signal(number)
        result = finish(home, process)
        assert result.code == BLOCKS and at(result.json, CLAUDE["decision"]) == "deny" and "denied" in result.err, result
        expect(home.sayso("cancel", session_id), DONE)


@test("the agent can't say yes for the person: not without a terminal, not over REST", "R11.3 R12.1")
def no_self_service(home: Home) -> None:
    process = start(home, hook(CLAUDE, DANGEROUS))
    session_id = the_ask(home)
    alone = end(home, home.spawn("answer", session_id, "--select", "allow", stdin=subprocess.DEVNULL, start_new_session=True))
    assert alone.code != DONE, alone
    expect(home.sayso("decline", session_id), DONE)
    expect_deny(CLAUDE, finish(home, process))


@test("if no person can be reached, the gate denies immediately instead of waiting", "R11.3 R4.4")
def nobody() -> None:
    with Home(env={"SAYSO_PORTAL": "off", "SAYSO_TERMINAL": "off"}) as home:
        began = time.monotonic()
        expect_deny(CLAUDE, gate(home, hook(CLAUDE, DANGEROUS)), "no one can be reached")
        assert time.monotonic() - began < HANG_S


@test("the gate's rules are settings: saved ones apply immediately, and with a broken file every call is denied", "R11.3 R8.1")
def rules(home: Home) -> None:
    expect(home.sayso("settings", "set", "gate_commands", "make coffee"), DONE)
    assert gate(home, hook(CLAUDE, DANGEROUS)).out == "{}\n"
    coffee = start(home, hook(CLAUDE, "make  strong coffee"), "--wait", "5")
    the_ask(home)
    expect(home.sayso("settings", "reset", "gate_commands"), DONE)
    removal = start(home, hook(CLAUDE, DANGEROUS), "--wait", "5")
    expect_deny(CLAUDE, finish(home, coffee), "make coffee", may_hang=True)
    expect_deny(CLAUDE, finish(home, removal), "rm -r", may_hang=True)
    (home.config / "settings.json").write_text("{broken")
    for command in (DANGEROUS, HARMLESS):
        expect_deny(CLAUDE, gate(home, hook(CLAUDE, command), "--wait", "5"), "Line 1", str(home.config / "settings.json"))


SHIPPED = {
    "rm -r": "rm -fr build", "git push --force* !--dry-run !-n": "git push --force-with-lease", "git push +*": "git push origin +main",
    "drop table": "psql -c 'DROP TABLE users'", "prod": "kubectl --context prod apply -f x", "production": "deploy --to production",
    ".ssh/": "cat ~/.ssh/id_rsa", "git push :*": "git push origin :main", "find --delete": "find . -delete", "sayso* settings *set": "sayso settings set gate_commands ''",
    "sayso* install": "/usr/bin/sayso install claude --gate --undo --yes",
    "sayso* answer !--help": "script -qec 'sayso answer k3f7 --select yes' /dev/null", "sayso* tell": "sayso tell k3f7 yes", "sayso* rule": "~/.local/bin/sayso rule add k3f7",
    "sayso* token": "env A=b sayso token new --kind person", "sayso* open": "./sayso open", "sayso* stop": "sh -c 'sayso stop'",
    ".copilot/hooks/": "rm ~/.copilot/hooks/sayso.json", ".codex/config.toml": "sed -i s/true/false/ ~/.codex/config.toml",
}


@test("the shipped rules: removal, force push, dropped tables, production, keys, and the gate itself", "R11.3")
def shipped(home: Home) -> None:
    processes = {rule: start(home, hook(CLAUDE, command, tool_use_id=rule), "--wait", "8") for rule, command in SHIPPED.items()}
    processes["*delete*"] = start(home, hook(CLAUDE, HARMLESS, tool_name="mcp__github__delete_repo"), "--wait", "8")
    processes[".claude/settings*.json"] = start(home, hook(CLAUDE, "", tool_name="Write", tool_input={
        "file_path": "/home/ada/x/.claude/settings.local.json", "content": "{}"}), "--wait", "8")
    for rule, process in processes.items():
        expect_deny(CLAUDE, finish(home, process), f"(matched: {rule})", may_hang=True)


@test("ten hooks at the same time: each its own question, each its own answer", "R11.3 R5.8")
def at_once(home: Home) -> None:
    results: dict[int, Result] = {}
    def one(number: int) -> None:
        results[number] = gate(home, hook(CLAUDE, f"rm -rf /tmp/{number}", tool_use_id=f"t{number}"), "--wait", "200")
    def person() -> None:
        rows = wait_until(lambda: home.hub_pid() and len(rows := home.sayso("list", "--active", "--json").json) == 10 and rows,
                          "ten questions")
        for row in rows:
            prompt = home.sayso("show", row["session_id"], "--json").json["form"]["prompt"]
            number = int(prompt.split("rm -rf /tmp/")[1].split("\n")[0])
            decide(home, row["session_id"], "allow" if number % 2 else "deny")
    side_by_side(person, *[lambda number=number: one(number) for number in range(10)])
    for number, result in results.items():
        if number % 2:
            expect_allow(CLAUDE, result)
        else:
            expect_deny(CLAUDE, result)


@test("the question is asked in the person's language, the reason stays English", "R11.3 R8.2")
def chinese() -> None:
    with Home(env={"CHOICE_LANG": "zh"}) as home:
        process = start(home, hook(CLAUDE, DANGEROUS))
        session_id = the_ask(home)
        shown = home.sayso("show", session_id)
        assert "允许" in shown.out and "拒绝" in shown.out and "Allow" not in shown.out, shown
        expect(home.sayso("cancel", session_id), DONE)
        expect_deny(CLAUDE, finish(home, process), "The user denied")
        assert "gate" in home.sayso("--help").out and "智能体" in home.sayso("gate", "--help").out


run()
