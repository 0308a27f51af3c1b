"""Being told beside our own screens: by a command, a signed webhook and the desktop; quiet, reminded, hostile, hanging.

Proves: R6.6
"""
from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
from typing import Any

from cli_stage import DONE, FAILED, OPTIONS, ask, expect
from harness import CRASH_BIN, HANG_S, Home, Skip, clock_rate, run, test, wait_until

EVIL = "Evil $(touch pwned) `touch pwned` '; touch pwned; \u202e\u001b]0;x\u0007 <b>&amp;"


def told(home: Home, name: str = "told") -> list[dict[str, Any]]:
    path = home.path / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def by_command(home: Home, command: str | None = None, **more: str) -> None:
    expect(home.sayso("settings", "set", "notify_command", command or f"cat >>{home.path}/told"), DONE)
    for name, value in more.items():
        expect(home.sayso("settings", "set", name, value), DONE)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((dict(self.headers.items()), body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Webhook(http.server.ThreadingHTTPServer):
    def __init__(self, *statuses: int):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses = list(statuses)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?q=1"


@test("a command gets the facts on its input and as variables; an agent's words are never part of a command line", "R6.6 R6.5")
def command(home: Home) -> None:
    by_command(home, f"cat >>{home.path}/told; printf '%s|%s|%s\\n' \"$SAYSO_EVENT\" \"$SAYSO_ASK\" \"$SAYSO_TITLE\" >>{home.path}/variables")
    id = ask(home, EVIL)
    wait_until(lambda: (home.path / "variables").exists() and (home.path / "variables").read_text(), "the command ran")
    [facts] = told(home)
    assert (facts["event"], facts["session_id"], facts["destructive"]) == ("ask.created", id, False), facts
    assert facts["agent"] and facts["url"].endswith(f"/choice/{id}") and 0 < facts["remaining_seconds"] <= 300, facts
    assert not any(mark in facts["title"] for mark in "\u202e\u001b\u0007") and "touch pwned" in facts["title"], facts
    event, session_id, title = (home.path / "variables").read_text().rstrip("\n").split("|")
    assert (event, session_id, title) == ("ask.created", id, facts["title"])
    assert not list(home.path.rglob("pwned"))


@test("no notification in quiet hours, with do-not-disturb, or of what a rule answers; agents never wait for one", "R6.6")
def quiet(home: Home) -> None:
    by_command(home, f"until [ -e {home.path}/may_end ]; do sleep 0.1; done; cat >>{home.path}/slow")
    for id in [ask(home, f"Slow {number}") for number in range(3)]:  # the command ends after all of this
        expect(home.sayso("cancel", id), DONE)
    (home.path / "may_end").touch()
    by_command(home, do_not_disturb="on")
    ask(home, "Quiet")
    by_command(home, do_not_disturb="off", quiet_hours="00:00-23:59")
    ask(home, "Night")
    by_command(home, quiet_hours="")
    ask(home, "Day")
    wait_until(lambda: told(home), "told of the last")
    assert [facts["title"] for facts in told(home)] == ["Day"], told(home)


@test("a webhook is signed as standardwebhooks.com says, tried again, and its secret is the owner's alone", "R6.6")
def webhook(home: Home) -> None:
    if not shutil.which("curl"):
        raise Skip("curl is not installed")
    hook = Webhook(503)
    secret = expect(home.sayso("notify", "secret"), DONE).out.strip()
    assert home.sayso("notify", "secret").out.strip() == secret and secret.startswith("whsec_")
    [path] = home.path.rglob("webhook.secret")
    assert path.stat().st_mode & 0o777 == 0o600
    expect(home.sayso("settings", "set", "notify_webhook", hook.url), DONE)
    id = ask(home, 'A "quoted" \\ title 全部')
    wait_until(lambda: len(hook.got) >= 2, "it is tried again after a 503")
    headers, body = hook.got[1]
    headers = {name.lower(): value for name, value in headers.items()}
    message = json.loads(body)
    assert message["type"] == "ask.created" and message["data"]["session_id"] == id, message
    assert message["data"]["title"] == 'A "quoted" \\ title 全部', message
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode(), headers
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 120
    assert headers["content-type"] == "application/json"
    hook.shutdown()
    for bad in ("file:///etc/passwd", "ftp://127.0.0.1/", "http://127.0.0.1/\u00a0x y"):
        home.sayso("settings", "set", "notify_webhook", bad)
        ask(home, f"Nobody {bad}")
    expect(home.sayso("status"), DONE)  # it lives


@test("one that waits is told of once more, by the next hub too; one that is answered is not", "R6.6")
def reminder() -> None:
    with Home(CRASH_BIN) as home:
        by_command(home, remind_minutes="1")
        expect(home.sayso("stop"), DONE)
        clock = clock_rate(15)  # a minute in 4 s
        home.spawn("serve", env=clock, stdout=subprocess.DEVNULL)
        home.wait_hub()
        waiting, answered = [ask(home, title, *OPTIONS, "--timeout", "3600") for title in ("Waiting", "Answered")]
        wait_until(lambda: len(told(home)) == 2, "both are told of")
        expect(home.sayso("answer", answered, "--select", "eu"), DONE)
        home.kill_hub()
        home.spawn("serve", env=clock, stdout=subprocess.DEVNULL)  # another hub
        home.wait_hub()
        wait_until(lambda: len(told(home)) == 3, "the reminder")
        last = told(home)[-1]
        assert (last["event"], last["session_id"]) == ("ask.waiting", waiting) and last["waited_seconds"] >= 59, last
        expect(home.sayso("stop"), DONE)  # whatever else it would tell is told
        assert len(told(home)) == 3, told(home)


@test("the desktop is told over D-Bus, in the person's language, with hostile words made harmless", "R6.6 R8.2")
def desktop(home: Home) -> None:
    tools = [shutil.which(name) for name in ("dbus-daemon", "dbus-monitor", "dbus-test-tool")]
    if not all(tools):
        raise Skip("dbus-daemon, dbus-monitor and dbus-test-tool are not installed")
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True)
    others: list[subprocess.Popen] = []
    try:
        address = bus.stdout.readline().strip()
        env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address}
        seen = home.path / "seen"
        with seen.open("w") as out:
            others.append(subprocess.Popen(["dbus-monitor", "interface='org.freedesktop.Notifications'"], env=env, stdout=out))
        others.append(subprocess.Popen(["dbus-test-tool", "echo", "--name=org.freedesktop.Notifications"], env=env))
        wait_until(lambda: seen.read_text(), "the monitor watches")
        home.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        expect(home.sayso("settings", "set", "language", "zh"), DONE)
        ask(home, EVIL)
        wait_until(lambda: "member=Notify" in seen.read_text(), "the notification")
        wait_until(lambda: "还在等你" in seen.read_text() or "有问题问你" in seen.read_text(), "its words")
        said = seen.read_text()
        assert "&lt;b&gt;&amp;amp;" in said and "\u202e" not in said and "\u001b" not in said, said
        expect(home.sayso("notify", "desktop", env={"DBUS_SESSION_BUS_ADDRESS": address}, input=""), DONE)
        expect(home.sayso("notify", "desktop", env={"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}, input=""), FAILED, "D-Bus")
    finally:
        for process in [*others, bus]:
            process.terminate()
            process.wait(HANG_S)


run()
