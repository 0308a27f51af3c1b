"""What every setting that shows in neither prompt nor page changes immediately in the running hub; tests/settings_effects.json
says which these are.

Proves: R8.1
"""
from __future__ import annotations

import http.client
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time
from typing import Any, Callable

from cli_stage import DONE, FAILED, ask, collect, expect
from effects_stage import ASKED, CLIENT, Mcp, check, put, set_to
from harness import CRASH_BIN, HANG_S, SLACK, Home, clock_rate, run, test, wait_until
from web_stage import Page, code_of, hello, link_of


def number(counted: list[int] = [0]) -> int:
    counted[0] += 1
    return counted[0]


def refused(home: Home, agent: str) -> bool:
    return home.sayso("ask", f"Ask {number()}", "-p", ASKED["prompt"], "-o", "a=A", "-r", "a", "--as", agent,
                      "--wait", "0").code == FAILED


def cli_answers(home: Home) -> None:
    session_id = ask(home, "By command")
    with set_to(home, "cli_answers", "off"):
        expect(home.sayso("answer", session_id, "--select", "eu"), FAILED)
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)


def notify_command(home: Home) -> None:
    told = home.path / "told"
    with set_to(home, "notify_command", f"cat >>{told}"):
        ask(home, "Told by command")
        wait_until(lambda: told.exists() and told.read_text(), "the command ran")
    said = told.read_text()
    ask(home, "Not told")
    time.sleep(0.3 * SLACK)
    assert told.read_text() == said


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["content-length"])))["data"]["title"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


def notify_webhook(home: Home) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.got = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with set_to(home, "notify_webhook", f"http://127.0.0.1:{server.server_port}/"):
        ask(home, "Told by webhook")
        wait_until(lambda: server.got, "the address was sent to")
    ask(home, "Not told either")
    time.sleep(0.3 * SLACK)
    server.shutdown()
    assert server.got == ["Told by webhook"], server.got


def desktop(home: Home) -> None:
    with set_to(home, "desktop", "off"):
        ask(home, "Not on the desktop")
        time.sleep(0.3 * SLACK)
    ask(home, "On the desktop")
    seen = home.path / "seen"
    wait_until(lambda: "member=Notify" in seen.read_text(), "the bus was told")
    said = wait_until(lambda: "On the desktop" in seen.read_text() and seen.read_text(), "of the second")
    assert "Not on the desktop" not in said, said


def remind_minutes(home: Home) -> None:
    """Asked before the setting; of a hub to which a minute is a few seconds."""
    seen = home.path / "seen"
    with Home(CRASH_BIN, env={name: home.environment[name] for name in NOISE}) as fast:
        fast.spawn("serve", env=clock_rate(15), stdout=subprocess.DEVNULL)
        fast.wait_hub()
        ask(fast, "Waits already", "-o", "a=A", "-r", "a", "--timeout", "3600")
        wait_until(lambda: "Waits already" in seen.read_text(), "the bus was told of it")
        put(fast, "remind_minutes", "1")
        wait_until(lambda: seen.read_text().count("Waits already") == 2, "the bus was told of it once more")


def browser(home: Home) -> None:
    opened = home.path / "opened"
    assert not opened.exists(), opened.read_text()
    with set_to(home, "browser", "on"):
        ask(home, "A browser")
        wait_until(opened.exists, "a browser was opened")


def finished(home: Home) -> int:
    return len(home.sayso("history", "--limit", "100", "--json").json)


def max_sessions(home: Home) -> None:
    for title in ("One", "Two", "Three"):
        session_id = ask(home, f"Over {title}")
        expect(home.sayso("cancel", session_id), DONE)
        collect(home, session_id)  # what no agent has got is kept
    assert finished(home) >= 3
    with set_to(home, "max_sessions", "1"):
        wait_until(lambda: sum(row["status"] != "pending" for row in home.sayso(
            "history", "--limit", "100", "--json").json) <= 1, "those too many go")


def retention_days(home: Home) -> None:
    session_id = ask(home, "Days ago")
    expect(home.sayso("cancel", session_id), DONE)
    expect(home.sayso("stop"), DONE)
    home.rows("UPDATE asks SET created_ms = created_ms - ?1, decided_ms = decided_ms - ?1,"
              " ended_ms = ended_ms - ?1, delivered_ms = 1 WHERE id = ?2", 5 * 24 * 3600 * 1000, session_id)
    expect(home.sayso("show", session_id), DONE)
    with set_to(home, "retention_days", "1"):
        wait_until(lambda: home.sayso("show", session_id).code == FAILED, "what is old goes")


def list_count(home: Home) -> None:
    ask(home, "Listed")
    ask(home, "Listed too")
    with set_to(home, "list_count", "1"):
        assert len(home.sayso("list", "--json").json) == 1
    assert len(home.sayso("list", "--json").json) > 1


def max_pending(home: Home) -> None:
    assert not refused(home, "crowd")
    with set_to(home, "max_pending", "1"):
        assert refused(home, "crowd")
    assert not refused(home, "crowd")


def asks_per_minute(home: Home) -> None:
    assert not refused(home, "hurry")
    with set_to(home, "asks_per_minute", "1"):
        assert refused(home, "hurry")
    assert not refused(home, "hurry")


def hold_limits(home: Home) -> None:
    with Mcp(home, "2025-11-25") as client:
        put(home, "hold_limits", '{"*":1}')
        began = time.monotonic()
        assert "pending" in json.dumps(client.ask("Held")), "it was held for one second"
        assert time.monotonic() - began < HANG_S


def keep_signed_in(home: Home) -> None:
    key = "BBK5DDz09dxHnaKcyIpR5BS4SyTZx4HkBnrNVLa8HtsY0VsUv8twARIwwzswkLwMeA6bcTA185Z7k7slE31h8Oc"
    for value, made in (("on", "proof_key"), ("off", "token")):
        put(home, "keep_signed_in", value)
        with Page(home.hub()["port"]) as page:
            assert made in hello(page, code=code_of(link_of(home)), key=key), value


def come_back(home: Home) -> None:
    put(home, "hold_limits", '{"*":1}')
    with Mcp(home, "2026-07-28") as client:
        put(home, "come_back", "off")
        assert client.ask("Not back").get("resultType") != "input_required"
        put(home, "come_back", "on")
        assert client.ask("Back").get("resultType") == "input_required"


def mcp_modern(home: Home) -> None:
    with Mcp(home, "2026-07-28") as running, Mcp(home, "2026-07-28") as client:
        assert running.call("tools/list")["tools"]
        with set_to(home, "mcp_modern", "off"):
            listed = client.start("tools/list")
            while listed not in client.replies:
                client.read()
            assert client.replies.pop(listed)["error"]["code"] == -32022
            assert running.call("tools/list")["tools"], "who speaks it already goes on"
        assert client.call("tools/list")["tools"]


def compat(home: Home) -> None:
    def tools() -> int:
        with Mcp(home, "2025-11-25") as client:
            return len(client.call("tools/list")["tools"])
    few = tools()
    with set_to(home, "compat", "on"):
        assert tools() > few
    assert tools() == few


def tools(home: Home) -> None:
    def names() -> list[str]:
        with Mcp(home, "2025-11-25") as client:
            return [tool["name"] for tool in client.call("tools/list")["tools"]]
    few = names()
    with set_to(home, "tools", "elicit_form"):
        assert names() == ["elicit_form", "get_answer"]
    assert names() == few


def gated(name: str, value: str, command: str, tool: str = "Bash") -> tuple[str, Callable[[Home], None]]:
    def act(home: Home) -> None:
        given = json.dumps({"session_id": "s", "transcript_path": "/t", "cwd": "/", "permission_mode": "default",
                            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"command": command},
                            "tool_use_id": f"toolu_{number()}"})
        assert home.sayso("gate", "--client", "claude", input=given).json == {}
        with set_to(home, name, value):
            process = home.spawn("gate", "--client", "claude", stdin=subprocess.PIPE)
            process.stdin.write(given)
            process.stdin.close()
            process.stdin = None
            row = wait_until(lambda: [row for row in home.sayso("list", "--active", "--json").json
                                      if row["destructive"]], "the gate asks")[0]
            expect(home.sayso("cancel", row["session_id"]), DONE)
            assert "deny" in process.communicate(timeout=HANG_S)[0]
            home.spawned.remove(process)
    return name, act


def what_next(home: Home) -> None:
    given = json.dumps({"session_id": "s", "hook_event_name": "Stop", "cwd": "/", "last_assistant_message": "All done."})
    assert home.sayso("prompts", "--client", "claude", input=given).out == ""
    with set_to(home, "what_next", "on"):
        process = home.spawn("prompts", "--client", "claude", stdin=subprocess.PIPE)
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None
        row = wait_until(lambda: [row for row in home.sayso("list", "--active", "--json").json
                                  if "What next?" in row["title"]], "it asks")[0]
        expect(home.sayso("cancel", row["session_id"]), DONE)
        assert process.communicate(timeout=HANG_S)[0] == ""
        home.spawned.remove(process)


def port(home: Home) -> None:
    before = home.hub()["port"]
    put(home, "port", "0")
    assert home.hub()["port"] == before, "the running hub stays where it is"
    expect(home.sayso("stop"), DONE)
    home.environment.pop("SAYSO_PORT", None)
    expect(home.sayso("list"), DONE)
    assert home.hub()["port"] not in (0, 7297), home.hub()


def agents_status(home: Home) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}})
    connection = http.client.HTTPConnection("127.0.0.1", home.hub()["port"], timeout=HANG_S)
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json",
                                              "Accept": "application/json, text/event-stream"})
    status = connection.getresponse().status
    connection.close()
    return status


def mcp_auth(home: Home) -> None:
    assert agents_status(home) == 401
    with set_to(home, "mcp_auth", "none"):
        assert agents_status(home) == 200
    assert agents_status(home) == 401


def listen(home: Home) -> None:
    with set_to(home, "mcp_auth", "none"), set_to(home, "listen", "192.0.2.1:7443"):
        assert agents_status(home) == 401


def store(home: Home) -> None:
    session_id, pid = ask(home, "Stays"), home.hub_pid()
    with set_to(home, "store", "postgres://elsewhere/x"):
        expect(home.sayso("show", session_id), DONE)
        assert home.hub_pid() == pid


def log_level(home: Home) -> None:
    def farewells() -> int:
        return (home.data / "hub.log").read_text().count('"event":"hub.leaving"')
    before = farewells()
    for level, count in (("error", before), ("info", before + 1)):
        put(home, "log_level", level)
        expect(home.sayso("stop"), DONE)
        assert farewells() == count, (home.data / "hub.log").read_text()


def idle_exit_seconds(home: Home) -> None:
    for row in home.sayso("list", "--active", "--limit", "100", "--json").json:
        expect(home.sayso("cancel", row["session_id"]), DONE)
    pid = home.hub_pid()
    put(home, "idle_exit_seconds", "1")
    wait_until(lambda: home.hub_pid() != pid, "the idle hub goes")


SHOWN = dict([
    *((act.__name__, act) for act in (
        cli_answers, notify_command, notify_webhook, desktop, browser, list_count, max_pending, asks_per_minute,
        hold_limits, come_back, mcp_modern, keep_signed_in, tools, compat, what_next, store, mcp_auth, listen, log_level, max_sessions)),
    gated("gate_commands", "frobnicate", "frobnicate all"),
    gated("gate_words", "staging", "ls staging"),
    gated("gate_paths", "~/.private/", "cat ~/.private/x"),
    gated("gate_tools", "*zap*", "ls", "mcp__db__zap"),
    *((act.__name__, act) for act in (remind_minutes, retention_days, port, idle_exit_seconds)),
])


NOISE = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "PATH", "SAYSO_BROWSER")  # what decides where a hub makes some


def with_desktop(home: Home) -> list[subprocess.Popen]:
    """A bus with a listener, and a browser that records that it was opened."""
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True)
    address = bus.stdout.readline().strip()
    env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address}
    seen: pathlib.Path = home.path / "seen"
    with seen.open("w") as out:
        watches = subprocess.Popen(["dbus-monitor", "interface='org.freedesktop.Notifications'"], env=env, stdout=out)
    answers = subprocess.Popen(["dbus-test-tool", "echo", "--name=org.freedesktop.Notifications"], env=env)
    wait_until(seen.read_text, "the monitor watches")
    folder = home.path / "bin"
    folder.mkdir()
    (folder / "xdg-open").write_text(f"#!/bin/sh\necho \"$1\" >>{home.path}/opened\n")
    (folder / "xdg-open").chmod(0o700)
    home.environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":77", "PATH": f"{folder}:/usr/bin:/bin",
                         "SAYSO_BROWSER": "off",
                         "SAYSO_ASKS_PER_MINUTE": "1000", "SAYSO_MAX_PENDING": "1000"}
    return [watches, answers, bus]


@test("each row of the table of settings that no open prompt or page shows does what it says on the running hub", "R8.1 R6.6")
def effects(home: Home) -> None:
    check(home, "hub", SHOWN)
    expect(home.sayso("stop"), DONE)
    assert all(map(shutil.which, ("dbus-daemon", "dbus-monitor", "dbus-test-tool", "curl"))), "tools/install_packages test"
    others = with_desktop(home)
    try:
        for name, act in SHOWN.items():
            try:
                act(home)
            except Exception as failure:
                raise AssertionError(f"{name}: {failure}") from failure
    finally:
        for process in others:
            process.terminate()
            process.wait(HANG_S)


run()
