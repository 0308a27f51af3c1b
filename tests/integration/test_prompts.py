"""`sayso prompts`: a client's own prompts as asks. Whatever goes wrong decides nothing.

Proves: R15.1 R15.2 R15.3
"""
from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
from typing import Any, Iterator

from cli_stage import DONE, end, expect
from harness import HANG_S, ROOT, Home, Result, run, scaled, test, wait_until
from own_stage import Client
from tty_stage import Tty

HOOKS = [json.loads(line) for line in (ROOT / "tests/corpus/prompts/claude.jsonl").read_text().splitlines()]
QUESTIONS, BASH = (next(hook for hook in HOOKS if hook["hook_event_name"] == "PermissionRequest" and hook["tool_name"] == tool)
                   for tool in ("AskUserQuestion", "Bash"))
FORM = next(hook for hook in HOOKS if hook["hook_event_name"] == "Elicitation")
NOTHING = Result(DONE, "", "")


def rules(destination: str, content: str = "touch:*") -> dict[str, Any]:
    return {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": content}], "behavior": "allow",
            "destination": destination}


class Session:
    """A client's session: its transcript, and the hooks it runs."""

    def __init__(self, home: Home, client: str = "claude") -> None:
        self.home, self.client, self.calls = home, client, 0
        self.transcript = home.path / "transcript.jsonl"
        self.note({"type": "user", "message": {"content": "do it"}, "version": "2.1.325"})

    def note(self, line: dict[str, Any]) -> None:
        with self.transcript.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def called(self, hook: dict[str, Any]) -> str:
        self.calls += 1
        call = {"type": "tool_use", "id": f"toolu_{self.calls}", "name": hook["tool_name"], "input": hook["tool_input"]}
        self.note({"type": "assistant", "message": {"content": [call]}, "version": "2.1.325"})
        return call["id"]

    def decided(self, call: str) -> None:
        self.note({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": call, "content": "x"}]}})

    def start(self, hook: dict[str, Any] | bytes, *options: str, **settings: Any) -> subprocess.Popen:
        given = hook if isinstance(hook, bytes) else json.dumps({**hook, "transcript_path": str(self.transcript)}).encode()
        process = self.home.spawn("prompts", "--client", self.client, *options, **settings)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.buffer.write(given)
            process.stdin.close()
        process.stdin = None
        return process

    def run(self, hook: dict[str, Any] | bytes, *options: str, **settings: Any) -> Result:
        return self.end(self.start(hook, *options, **settings))

    def end(self, process: subprocess.Popen) -> Result:
        out, err = process.communicate(timeout=4 * HANG_S)
        self.home.spawned.remove(process)
        return Result(process.returncode, out, err)


def open_asks(home: Home) -> list[dict[str, Any]]:
    return home.sayso("list", "--active", "--json").json if home.hub_pid() else []


def the_ask(home: Home) -> str:
    rows = wait_until(lambda: open_asks(home), "a person is asked")
    assert len(rows) == 1, rows
    return rows[0]["session_id"]


def answer(home: Home, session_id: str, *words: str) -> None:
    """From a terminal of the person's own."""
    with Tty() as tty:
        expect(end(home, tty.start(home, "answer", session_id, *words)), DONE)


def decision(result: Result) -> dict[str, Any]:
    assert result.code == DONE and not result.err and result.out.count("\n") == 1, result
    assert list(result.json) == ["hookSpecificOutput"], result
    return result.json["hookSpecificOutput"]


def reasons(home: Home) -> list[str]:
    lines = (json.loads(line) for line in (home.data / "hub.log").read_text().splitlines() if line.startswith("{"))
    return [line["reason"] for line in lines if line["event"] == "prompts.no_decision"]


@contextlib.contextmanager
def asking(home: Home, hook: dict[str, Any], *options: str, client: str = "claude") -> Iterator[tuple[Session, str, subprocess.Popen]]:
    session = Session(home, client)
    process = session.start(hook, *options)
    yield session, the_ask(home), process


def state(home: Home, session_id: str) -> str:
    return home.sayso("show", session_id, "--json").json["ask"]["status"]


@test("a permission shows client, project, session, tool and the whole command, and is allowed once", "R15.1 R15.3")
def allowed(home: Home) -> None:
    hook = {**BASH, "tool_input": {**BASH["tool_input"], "command": "touch /home/me/x\u202e\u200b; ls"}}
    with asking(home, hook) as (session, session_id, process):
        shown = expect(home.sayso("show", session_id), DONE, "Claude Code: allow Bash?", "touch /home/me/x", "; ls", "make a file",
                       hook["cwd"], hook["session_id"], "may already be answered there")
        assert "\\u202e\\u200b; ls [hidden characters]" in shown.out, shown
        assert home.sayso("show", session_id, "--json").json["ask"]["origin"]["version"] == "2.1.325"
        answer(home, session_id, "--select", "Allow once")
        assert decision(session.end(process)) == {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}


@test("deny brings the note to the model", "R15.1")
def denied(home: Home) -> None:
    with asking(home, BASH) as (session, session_id, process):
        answer(home, session_id, "--select", "Deny", "--note", "use \"make\"")
        said = decision(session.end(process))["decision"]
        assert said["behavior"] == "deny" and said["message"].endswith("They wrote: use \"make\""), said


@test("always adds exactly the rule that was shown, and never a mode or a directory", "R15.1 R15.3")
def always(home: Home) -> None:
    hook = {**BASH, "permission_suggestions": [*BASH["permission_suggestions"], rules("localSettings")]}
    with asking(home, hook) as (session, session_id, process):
        shown = home.sayso("show", session_id).out
        assert "Bash(touch:*)" in shown and ".claude/settings.local.json" in shown and "acceptEdits" not in shown, shown
        answer(home, session_id, "--select", "Always")
        assert decision(session.end(process))["decision"] == {"behavior": "allow", "updatedPermissions": [rules("localSettings")]}


@test("questions come back as the client's own answers, with notes", "R15.1")
def questions(home: Home) -> None:
    with asking(home, QUESTIONS) as (session, session_id, process):
        answer(home, session_id, "--select", "SQLite", "--field-note", "q1=one file")
        said = decision(session.end(process))["decision"]
        text = QUESTIONS["tool_input"]["questions"][0]["question"]
        assert said == {"behavior": "allow", "updatedInput": {
            **QUESTIONS["tool_input"], "answers": {text: "SQLite"}, "annotations": {text: {"notes": "one file"}}}}, said


@test("another server's form is filled in; our own server's form is left alone", "R15.1")
def forms(home: Home) -> None:
    with asking(home, FORM) as (session, session_id, process):
        answer(home, session_id, "--field", "color=green")
        assert decision(session.end(process)) == {"hookEventName": "Elicitation", "action": "accept", "content": {"color": "green"}}
    assert session.run({**FORM, "mcp_server_name": "sayso"}) == NOTHING and reasons(home)[-1] == "own_server"
    config = home.path / ".claude.json"
    config.write_text(json.dumps({"mcpServers": {"human": {"type": "stdio", "command": home.binary, "args": ["mcp"]}}}))
    assert session.run({**FORM, "mcp_server_name": "human"}) == NOTHING and not open_asks(home)


@test("done: what is written goes back as the next instruction, where the setting is on", "R15.1")
def what_next(home: Home) -> None:
    stop = {"session_id": "s", "cwd": "/home/me/project", "hook_event_name": "Stop", "stop_hook_active": False,
            "last_assistant_message": "The tests pass."}
    session = Session(home)
    assert session.run(stop) == NOTHING and not home.hub_pid(), "it is off by default"
    home.environment["SAYSO_WHAT_NEXT"] = "on"
    process = session.start(stop)
    session_id = the_ask(home)
    expect(home.sayso("show", session_id), DONE, "Claude Code is done. What next?", "The tests pass.")
    answer(home, session_id, "--text", "Now the docs")
    result = session.end(process)
    assert result.code == DONE and result.json == {"decision": "block", "reason": "Now the docs"}, result
    process = session.start(stop)
    expect(home.sayso("cancel", the_ask(home)), DONE)
    assert session.end(process) == NOTHING


@test("answered in the client: the ask is withdrawn, whatever was decided there", "R15.1")
def answered_there(home: Home) -> None:
    session = Session(home)
    for when in ("before", "after"):
        call = session.called(BASH) if when == "before" else None
        process = session.start(BASH)
        session_id = the_ask(home)
        call = call or session.called(BASH)
        other = session.called({**BASH, "tool_input": {"command": "ls"}})
        session.decided(other)
        assert state(home, session_id) == "pending", "another call was decided"
        session.decided(call)
        assert session.end(process) == NOTHING and reasons(home)[-1] == "answered_in_client"
        assert state(home, session_id) == "withdrawn"


@test("an earlier call of the same kind says nothing about this one, and of two the second counts", "R15.1")
def alike(home: Home) -> None:
    session = Session(home)
    session.decided(session.called(BASH))
    process = session.start(BASH)
    session_id = the_ask(home)
    one, two = session.called(BASH), session.called(BASH)
    session.decided(one)
    assert state(home, session_id) == "pending"
    session.decided(two)
    assert session.end(process) == NOTHING


@test("the client ends, or reads no more: the ask is withdrawn", "R15.2")
def client_gone(home: Home) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, None):
        with asking(home, BASH) as (session, session_id, process):
            if number:
                process.send_signal(number)
                assert session.end(process) == NOTHING
            else:
                process.stdout.close()
                process.wait(HANG_S)
                home.spawned.remove(process)
            assert state(home, session_id) == "withdrawn" and reasons(home)[-1] == "client_ended"


@test("silence, a cancelled ask and a declined one decide nothing", "R15.2")
def undecided(home: Home) -> None:
    session = Session(home)
    assert session.run(BASH, "--wait", "5") == NOTHING and reasons(home) == ["timeout"]
    for verb, reason in (("cancel", "cancelled"), ("decline", "declined")):
        process = session.start(BASH)
        expect(home.sayso(verb, the_ask(home)), DONE)
        assert session.end(process) == NOTHING and reasons(home)[-1] == reason


@test("an allow from below the agent's own client decides nothing", "R15.2")
def own_answer(home: Home) -> None:
    given, said = home.path / "hook.json", home.path / "said"
    given.write_text(json.dumps(BASH))
    asks = "until id=$($0 list --active --json | grep -o '[a-z2-7]\\{26\\}' | head -n 1) && [ \"$id\" ]; do :; done"
    script = f"$0 prompts --client claude < {given} > {said} & {asks}; $0 answer $id --select 'Allow once'; wait $!"
    code, printed = Client(home, through=[]).run("sh", "-c", script, home.binary)
    assert code == DONE and "Saved" in printed, printed
    assert said.read_text() == "" and reasons(home) == ["not_by_a_person"], (said.read_text(), reasons(home))


@test("what can't be read, shown or asked decides nothing, with exit code 0", "R15.2")
def unreadable(home: Home) -> None:
    session = Session(home)
    whole = json.dumps(BASH).encode()
    long = json.dumps({**BASH, "tool_input": {"command": "x" * 70000}}).encode()
    for given in (b"", b"{", whole[:-1], b"[]", b"\xff", b'{"a":1,"a":2}', b"{}", whole + b"x", long, b"x" * 1100000,
                  *[json.dumps(hook).encode() for hook in HOOKS if hook["hook_event_name"] not in ("PermissionRequest", "Elicitation")]):
        result = session.run(given)
        assert (result.code, result.out) == (DONE, "") and "prompts.no_decision" in result.err, (given[:99], result)
    for options in (["--wait", "1"], ["--what"], ["word"], ["--client", "unknown"]):
        result = session.run(whole, *options)
        assert (result.code, result.out) == (DONE, "") and result.err, (options, result)
    assert not home.hub_pid(), "no one was asked"
    home.data.parent.mkdir(parents=True, exist_ok=True)
    home.data.write_text("not a directory")
    result = session.run(whole)
    assert (result.code, result.out) == (DONE, ""), result
    home.data.unlink()


@test("a hook that crashes decides nothing", "R15.2")
def crashed(home: Home) -> None:
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGALRM, signal.SIGQUIT):
        with asking(home, BASH) as (session, session_id, process):
            process.send_signal(number)
            result = session.end(process)
            assert (result.code, result.out) == (DONE, "") and "prompts.crashed" in result.err, result
            expect(home.sayso("cancel", session_id), DONE)


@test("a hub that is killed is started again; the ask and its answer are there", "R15.2")
def hub_killed(home: Home) -> None:
    with asking(home, BASH) as (session, session_id, process):
        home.kill_hub()
        assert the_ask(home) == session_id
        answer(home, session_id, "--select", "Allow once")
        assert decision(session.end(process))["decision"] == {"behavior": "allow"}


@test("what the gate calls destructive takes a code, offers no always and no rule", "R15.1")
def destructive(home: Home) -> None:
    hook = {**BASH, "tool_input": {"command": "rm -rf build"}, "permission_suggestions": [rules("session", "rm:*")]}
    with asking(home, hook) as (session, session_id, process):
        shown = home.sayso("show", session_id).out
        assert "estructive" in shown and "rm:*" not in shown, shown
        assert home.sayso("answer", session_id, "--select", "Allow once").code != DONE
        assert home.sayso("rule", "add", session_id).code != DONE
        with Tty() as tty:
            said = tty.start(home, "answer", session_id, "--select", "Allow once")
            tty.type(tty.read_until(r"Type (\d{3}) ")[1] + "\n")
            expect(end(home, said), DONE)
        assert decision(session.end(process))["decision"] == {"behavior": "allow"}


@test("a rule answers exactly this input, in this session or in this project", "R15.1")
def ruled(home: Home) -> None:
    with asking(home, BASH) as (session, session_id, process):
        answer(home, session_id, "--select", "Allow once")
        session.end(process)
    with Tty() as tty:
        expect(end(home, tty.start(home, "rule", "add", session_id)), DONE)
    assert decision(session.run(BASH))["decision"] == {"behavior": "allow"}
    elsewhere = {**BASH, "session_id": "another"}
    for hook in (elsewhere, {**BASH, "tool_input": {**BASH["tool_input"], "command": "touch /home/me/x2"}}):
        process = session.start(hook)
        expect(home.sayso("cancel", the_ask(home)), DONE)
        assert session.end(process) == NOTHING
    with Tty() as tty:
        expect(end(home, tty.start(home, "rule", "add", session_id, "--any-prompt")), DONE)
    assert decision(session.run(elsewhere))["decision"] == {"behavior": "allow"}
    process = session.start({**elsewhere, "cwd": "/home/me/other"})
    expect(home.sayso("cancel", the_ask(home)), DONE)
    assert session.end(process) == NOTHING


@test("many prompts at the same time: each gets its own answer, once", "R15.1")
def many(home: Home) -> None:
    session, count = Session(home), scaled(12, full=100)
    hooks = [{**BASH, "tool_input": {"command": f"touch {number}"}} for number in range(count)]
    processes = [session.start(hook) for hook in hooks]
    rows = wait_until(lambda: len(found := open_asks(home)) == count and found, "everybody is asked")
    picks = {}
    for row in rows:
        command = re.search(r"touch (\d+)", home.sayso("show", row["session_id"]).out)[1]
        picks[int(command)] = "Allow once" if int(command) % 2 else "Deny"
        answer(home, row["session_id"], "--select", picks[int(command)])
    for number, process in enumerate(processes):
        said = decision(session.end(process))["decision"]["behavior"]
        assert said == ("allow" if picks[number] == "Allow once" else "deny"), number


@test("Codex: allow and deny, and no words that it refuses", "R15.1")
def codex(home: Home) -> None:
    hook = {"session_id": "019a", "turn_id": "t", "transcript_path": None, "cwd": "/home/ada/x", "hook_event_name": "PermissionRequest",
            "model": "m", "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "touch x", "description": None}}
    for pick, wanted in (("Allow once", {"behavior": "allow"}), ("Deny", {"behavior": "deny", "message": "The user denied this."})):
        with asking(home, {**hook, "permission_suggestions": [rules("session")]}, client="codex") as (session, session_id, process):
            shown = home.sayso("show", session_id).out
            assert "Codex: allow Bash?" in shown and "touch:*" not in shown and "Cancel this ask to decide in Codex" in shown, shown
            answer(home, session_id, "--select", pick)
            assert decision(session.end(process)) == {"hookEventName": "PermissionRequest", "decision": wanted}


run()
