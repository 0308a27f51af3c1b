"""A client as agents have them, with processes of its own: what test_own_processes.py plays with.

The client is a real program (this file, run by python3): it starts `sayso mcp` by the words it is given, speaks MCP with
it or posts to the hub, and runs commands as the tools of an agent do. It is told what to do on its standard input, a JSON
object a line. Started with arguments, it types at a terminal instead (`typing`).
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import select
import shlex
import signal
import subprocess
import sys
import urllib.request
from typing import Any

from harness import wait_until

MODERN = "2026-07-28"
LIMIT_S = 120  # only for what hangs
PROMPT = "The build is done; both clusters are healthy, so somebody has to choose."
OPTIONS = [{"id": "eu", "label": "Europe", "recommended": True}, {"id": "us", "label": "America"}]


def serve() -> None:
    """The client's own side."""
    front: subprocess.Popen | None = None

    def stop(*_: Any) -> None:
        if front:
            front.kill()
            front.wait()
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    for line in sys.stdin:
        wish = json.loads(line)
        if "front" in wish:
            front = subprocess.Popen(wish["front"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            print("{}", flush=True)
        elif "send" in wish:
            assert front and front.stdin and front.stdout
            front.stdin.write(json.dumps(wish["send"]) + "\n")
            front.stdin.flush()
            print(front.stdout.readline().strip() if wish["waits"] else "{}", flush=True)
        elif "post" in wish:
            print(json.dumps(post(*wish["post"])), flush=True)
        else:
            done = subprocess.run(wish["run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            print(json.dumps({"code": done.returncode, "out": done.stdout}), flush=True)
    stop()


def play(command: str, *steps: str) -> None:
    """Runs a command in script(1): once a pattern is shown, types the keys that follow it."""
    terminal = subprocess.Popen(["script", "-qefc", command, "/dev/null"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert terminal.stdin and terminal.stdout
    screen = b""
    for pattern, keys in zip(steps[::2], steps[1::2]):
        while not (found := re.search(pattern, screen.decode(errors="replace"))):
            shown = terminal.stdout.read1(65536)
            if not shown:
                sys.exit(f"{pattern} was not shown: {screen!r}")
            screen += shown
        terminal.stdin.write(found.expand(keys).encode())
        terminal.stdin.flush()
    print((screen + terminal.stdout.read()).decode(errors="replace"))
    sys.exit(terminal.wait())


CODE = [r"Type (\d{3}) ", r"\1\r"]


def typing(words: list[str], *steps: str) -> list[str]:
    """A command that runs these words on a terminal of its own and types there what a person would; without steps, the code."""
    return [sys.executable, __file__, shlex.join(words), *(steps or CODE)]


def post(port: int, path: str, token: str, body: Any, headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", **(headers or {})})
    with urllib.request.urlopen(request, timeout=LIMIT_S) as reply:
        said = reply.read().decode()
    return json.loads(said.rpartition("data: ")[2])


def modern_call(port: int, token: str, title: str, name: str = "client", **more: Any) -> tuple[Any, ...]:
    """What to post() for an ask without a session that waits for a terminal."""
    meta = {"protocolVersion": MODERN, "clientInfo": {"name": name, "version": "1"}, "clientCapabilities": {}}
    return port, "/mcp", token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "provide_choice", "arguments": Client.question(title, interface="terminal", **more),
        "_meta": {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}}}, {
        "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "provide_choice"}


class Client:
    """The test's side: `through` is how the client starts its front, `under` what the client itself is started by."""

    def __init__(self, home: Any, through: list[str] | None = None, under: list[str] | None = None, **settings: Any):
        words = [*(under or []), sys.executable, __file__]
        self.home, self.last_id = home, 0
        self.process = home.spawn(*words[1:], program=words[0], stderr=None, **settings)
        if through is not None:
            self.start(through)

    def start(self, through: list[str]) -> None:
        self._do(front=[*through, self.home.binary, "mcp"])
        self.call("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "client", "version": "1"})
        self.send("notifications/initialized", waits=False)

    def _do(self, **wish: Any) -> Any:
        self.process.stdin.write(json.dumps(wish) + "\n")
        self.process.stdin.flush()
        assert select.select([self.process.stdout], [], [], LIMIT_S)[0], f"no reply to {wish}"
        return json.loads(self.process.stdout.readline())

    def send(self, method: str, waits: bool = True, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith("notifications/"):
            self.last_id += 1
            message["id"] = self.last_id
        return self._do(send=message, waits=waits)

    def call(self, method: str, **params: Any) -> Any:
        return self.send(method, **params)["result"]

    def ask(self, title: str, **more: Any) -> str:
        """An ask of its agent, over MCP, which waits for the answer; its id."""
        self.send("tools/call", waits=False, name="provide_choice", arguments=self.question(title, **more))
        rows = wait_until(lambda: [row for row in self.home.sayso("list", "--active", "--json").json
                                   if row["title"] == title], "the ask is there", 60)
        return rows[0]["session_id"]

    def hand_off(self, title: str, **more: Any) -> dict[str, Any]:
        """One that is handed to a terminal; what its agent is told."""
        return self.call("tools/call", name="provide_choice",
                         arguments=self.question(title, interface="terminal", **more))["structuredContent"]

    def ask_over_http(self, *call: Any, **more: Any) -> str:
        """modern_call() by the client's own process; its id."""
        return self._do(post=modern_call(*call, **more))["result"]["structuredContent"]["session_id"]

    @staticmethod
    def question(title: str, **more: Any) -> dict[str, Any]:
        return {"title": title, "prompt": PROMPT, "selection_mode": "single", "options": OPTIONS, **more}

    def stop(self) -> None:
        self.home.spawned.remove(self.process)
        self.process.terminate()
        self.process.communicate(timeout=LIMIT_S)

    def run(self, *words: str) -> tuple[int, str]:
        """A command of its agent: exit code, and what it wrote."""
        done = self._do(run=list(words))
        return done["code"], done["out"]


def write_program(path: pathlib.Path, text: str) -> str:
    path.write_text(text)
    os.chmod(path, 0o755)
    return str(path)


if __name__ == "__main__":
    if sys.argv[1:]:
        play(*sys.argv[1:])
    serve()
