"""Each setting that is on or off, switched there and back while an agent of every front waits and a person is at every
channel: each ask stays, is answered, and its answer reaches the call that waits; no connection ends that the switch is
not about. The switches are those of the program's own table, so a new one is walked too.

Proves: R8.1 P1
"""
from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
from typing import Any

from access_stage import person_at, refusal, web_socket
from effects_stage import ASKED, CLIENT, Mcp
from far_stage import Far
from harness import HANG_S, ROOT, Home, Wire, WireError, run, test, wait_until
from web_stage import Closed, Page

FAILURES = (AssertionError, Closed, EOFError, TimeoutError, WireError)
REVISIONS = ("2025-11-25", "2026-07-28")
BOTH = "application/json, text/event-stream"
DOORS = ("/ws loopback tab", "/ws tls", "/wire loopback", "/wire tls")
# Channels that a switch ends, and only these; they are opened again when it is back.
ENDS = {"portal": {"/ws loopback tab", "/ws tls"}}
# Channels that stay, and may not answer as long as the switch is the other way: commands with --hub are of /wire.
SILENCES = {"cli_answers": {"/wire loopback", "/wire tls", "sayso answer"}}
LIBRARY = """import ctypes, sys
lib, said = ctypes.CDLL(sys.argv[1]), ctypes.c_char_p()
lib.sayso_new.restype = ctypes.c_void_p
code = lib.sayso_ask(ctypes.c_void_p(lib.sayso_new()), b"provide_choice", sys.argv[2].encode(), ctypes.byref(said))
print((said.value or b"null").decode())
sys.exit(code)
"""


class Agent:
    """An agent of some front. Each walk it asks once, and is answered by a person at one of the channels."""
    answers_itself = False

    def is_mine(self, row: dict[str, Any], title: str) -> bool:
        return row["title"] == title

    def answer(self, peer: Any, session_id: str) -> None:
        peer.call("ask/answer", timeout=HANG_S, session_id=session_id, selected_ids=["b"])


class Command(Agent):
    """`sayso ask` that waits."""

    def __init__(self, home: Home, *way: str):
        self.home, self.way = home, way

    def begin(self, title: str) -> None:
        self.process = self.home.spawn("ask", title, "-p", ASKED["prompt"], "-o", "a=Alpha", "-o", "b=Beta", "-r", "a", *self.way,
                                       stdin=subprocess.DEVNULL)

    def check(self) -> None:
        assert self.process.poll() is None, self.process.communicate()

    def end(self) -> str:
        out, err = self.process.communicate(timeout=HANG_S)
        self.home.spawned.remove(self.process)
        assert self.process.returncode == 0, (out, err)
        return out.strip()


class Library(Command):
    """A program that is linked to libsayso."""

    def begin(self, title: str) -> None:
        self.process = self.home.spawn("-c", LIBRARY, str(ROOT / "build/src/lib/libsayso.so"), json.dumps({**ASKED, "title": title}),
                                       program=sys.executable, stdin=subprocess.DEVNULL)

    def end(self) -> str:
        return json.loads(super().end())["selection"]["selected_ids"][0]


class Gate(Command):
    """A hook before something destructive: it is refused, for which no code is needed."""

    def begin(self, title: str) -> None:
        self.process = self.home.spawn("gate", "--client", "claude", *self.way)
        self.process.stdin.write(json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash",
                                             "tool_input": {"command": "rm -rf /tmp/x"}}))
        self.process.stdin.close()
        self.process.stdin = None

    def is_mine(self, row: dict[str, Any], title: str) -> bool:
        return row["destructive"]

    def answer(self, peer: Any, session_id: str) -> None:
        peer.call("ask/cancel", timeout=HANG_S, session_id=session_id)

    def end(self) -> str:
        assert "deny" in (said := super().end()), said
        return "b"


class Stdio(Agent):
    """`sayso mcp`, one process for all its asks."""

    def __init__(self, home: Home, revision: str, *way: str, **more: Any):
        self.client = Mcp(home, revision, *way, **more)

    def begin(self, title: str) -> None:
        self.id = self.client.start("tools/call", name="provide_choice", arguments={**ASKED, "title": title})

    def check(self) -> None:
        self.client.call("tools/list" if self.client.is_modern else "ping")

    def end(self) -> str:
        return self.client.finish(self.id)["structuredContent"]["selection"]["selected_ids"][0]


class Form(Stdio):
    """A client that shows a form of its own: it is answered there, or elsewhere and the form is withdrawn."""

    def __init__(self, home: Home, answers_itself: bool):
        super().__init__(home, "2025-11-25", capabilities={"elicitation": {}})
        self.answers_itself = answers_itself

    def begin(self, title: str) -> None:
        self.client.requests.clear()
        super().begin(title)
        while not self.form():
            self.client.read()

    def form(self) -> list[dict[str, Any]]:
        return [message for message in self.client.requests if message["method"] == "elicitation/create"]

    def end(self) -> str:
        if self.answers_itself:
            self.client.send(id=self.form()[0]["id"], result={"action": "accept", "content": {"choice": "b"}})
        return super().end()


class Http(Agent):
    """MCP over HTTP, one session; each call is a stream that stays open."""

    def __init__(self, far: Far, is_public: bool):
        self.far, self.is_public = far, is_public
        self.headers = {"Authorization": f"Bearer {far.tokens['agent']}", "Content-Type": "application/json", "Accept": BOTH}
        opened = self.post({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}})
        assert opened.status == 200, opened.status
        self.headers |= {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        opened.read()

    def post(self, message: dict[str, Any]) -> Any:
        connection = self.far.connect(timeout=HANG_S) if self.is_public else \
            http.client.HTTPConnection("127.0.0.1", self.far.home.hub()["port"], timeout=HANG_S)
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **message}), self.headers)
        return connection.getresponse()

    def begin(self, title: str) -> None:
        self.stream = self.post({"id": title, "method": "tools/call", "params": {
            "name": "provide_choice", "arguments": {**ASKED, "title": title}}})
        assert self.stream.status == 200, self.stream.status

    def check(self) -> None:
        pinged = self.post({"id": 1, "method": "ping"})
        assert pinged.status == 200 and pinged.read(), pinged.status

    def end(self) -> str:
        lines = [json.loads(line[5:]) for line in self.stream.read().decode().splitlines()
                 if line.startswith("data:") and line[5:].strip()]
        (reply,) = [message for message in lines if "result" in message]
        return reply["result"]["structuredContent"]["selection"]["selected_ids"][0]


class Talk(Agent):
    """A host's conversation, which waits for an answer to its question."""

    def __init__(self, far: Far):
        self.far, self.host = far, far.token("host")

    def begin(self, title: str) -> None:
        made = self.far.call("POST", "/conversations", {}, token=self.host)
        self.path = f"/conversations/{made.json['conversation']}"
        question = {"question": title, "header": "Switch", "options": [{"label": "a"}, {"label": "b"}]}
        asked = self.far.call("POST", f"{self.path}/tool-calls", {"tool_calls": [
            {"id": "1", "name": "ask_user_question", "input": {"questions": [question]}}]}, token=self.host)
        assert asked.status == 200, asked
        self.title = title

    def state(self) -> dict[str, Any]:
        return self.far.call("GET", self.path, token=self.host).json["state"]

    def check(self) -> None:
        assert self.state()["type"] == "awaiting_user_response", self.state()

    def answer(self, peer: Any, session_id: str) -> None:
        replied = self.far.call("POST", f"{self.path}/respond", {"answers": {self.title: "b"}}, token="person")
        assert replied.status == 200, replied

    def end(self) -> str:
        return "b" if self.state()["type"] != "awaiting_user_response" else "no answer"


class Socket(Agent):
    """An agent that speaks the wire itself: the unix socket, or /wire."""

    def __init__(self, peer: Wire | Page):
        self.peer = peer
        peer.call("hello", wire=1, version="test", role="agent", features=[], name="switches")

    def begin(self, title: str) -> None:
        self.id = self.peer.start("ask/create", tool="provide_choice", arguments={**ASKED, "title": title})

    def check(self) -> None:
        self.peer.call("mine/list", timeout=HANG_S)

    def end(self) -> str:
        return self.peer.finish(self.id, HANG_S)["selection"]["selected_ids"][0]


class Rest:
    """A person's program that uses /api: it looks and waits, and acts."""

    def __init__(self, far: Far):
        self.far = far

    def call(self, method: str, timeout: float = HANG_S, **params: Any) -> Any:
        if method == "ask/list":
            reply = self.far.call("GET", f"/api/asks?limit={params['limit']}", token="person")
        else:
            looking = self.far.connect(timeout=timeout)
            path = f"/api/asks/{params.pop('session_id')}"
            looking.request("GET", f"{path}?wait={int(HANG_S)}", headers={
                "Authorization": f"Bearer {self.far.tokens['person']}", "If-None-Match": '"1"'})
            reply = self.far.call("POST", f"{path}/{method.split('/')[1]}", params, token="person")
            with contextlib.closing(looking):
                assert looking.getresponse().status == 200
        assert reply.status == 200, reply
        return reply.json


class Answering:
    """The commands of a person: `sayso list`, `sayso answer`, `sayso cancel`."""

    def __init__(self, home: Home):
        self.home = home

    def call(self, method: str, timeout: float = HANG_S, **params: Any) -> Any:
        if method == "ask/list":
            return {"asks": self.home.sayso("list", "--active", "--limit", str(params["limit"]), "--json").json}
        picked = [word for id in params.get("selected_ids", []) for word in ("--select", id)]
        done = self.home.sayso(method.split("/")[1], params["session_id"], *picked)
        if done.code:
            raise WireError({"message": done.err})


def is_switch(row: dict[str, Any]) -> bool:
    return row["type"] == "bool" or "off" in row.get("choices", [])


def other(row: dict[str, Any]) -> str:
    value = row["value"] if isinstance(row["value"], str) else ("off", "on")[row["value"]]
    return "on" if value == "off" else "off"


class People:
    """One at each channel, for as long as nothing ends it."""

    def __init__(self, far: Far):
        self.far = far
        self.peers: dict[str, Any] = {"/api": Rest(far), "sayso answer": Answering(far.home)}
        for name, channel in (("inbox", "terminal"), ("prompt", "terminal")):
            self.peers[name] = Wire(far.home)
            self.peers[name].hello("person", channel=channel)
        self.peers["inbox"].call("ask/watch")
        self.open(DOORS)

    def open(self, doors: Any) -> None:
        for door in doors:
            self.peers[door] = person_at(self.far, door)
            self.peers[door].call("ask/watch", timeout=HANG_S)

    def check(self, ended: set[str], waiting: set[str]) -> None:
        """All are there but those that were to end; each sees what waits."""
        for door in ended:
            assert self.peers.pop(door).close_code(HANG_S) == 1001, door
        for name, peer in self.peers.items():
            seen = {row["session_id"] for row in peer.call("ask/list", timeout=HANG_S, which="active", limit=100)["asks"]}
            assert waiting <= seen, (name, waiting - seen)

    def answer(self, asked: list[tuple[Agent, str]], turn: int, silent: frozenset[str] | set[str] = frozenset()) -> None:
        """Each by another one, who changes from turn to turn."""
        names = sorted(set(self.peers) - silent)
        for name in silent:
            refusal(self.peers[name], "ask/answer", session_id=asked[0][1], selected_ids=["a"])
        for number, (agent, session_id) in enumerate(asked):
            agent.answer(self.peers[names[(number + turn) % len(names)]], session_id)


def walk(people: People, owner: Wire, agents: dict[str, Agent], row: dict[str, Any], turn: int) -> None:
    def switch(value: str | None) -> None:
        owner.call("settings/set", name=row["name"], **({} if value is None else {"value": value}))

    for name, agent in agents.items():
        agent.begin(f"{row['name']}, {name}")

    def asked() -> list[tuple[Agent, str]] | None:
        rows = owner.call("ask/list", which="active", limit=100)["asks"]
        found = [(agent, each["session_id"]) for name, agent in agents.items() for each in rows
                 if agent.is_mine(each, f"{row['name']}, {name}")]
        return found if len(found) == len(agents) else None
    everybody = wait_until(asked, "all of them ask", HANG_S)
    for _, session_id in everybody:
        people.peers["prompt"].call("ask/attach", session_id=session_id)
    waiting = [(agent, session_id) for agent, session_id in everybody if not agent.answers_itself]
    ended = ENDS.get(row["name"], set())
    switch(other(row))
    people.check(ended, {session_id for _, session_id in everybody})
    for agent in agents.values():
        agent.check()
    people.answer(waiting[::2], turn, SILENCES.get(row["name"], set()))
    switch(None)
    people.check(set(), {session_id for _, session_id in waiting[1::2]})
    people.open(ended)
    people.answer(waiting[1::2], turn)
    for name, agent in agents.items():
        try:
            answered = agent.end()
        except FAILURES as failure:
            raise AssertionError(f"{name}: {failure}") from failure
        assert answered == "b", (name, answered)


@test("each switch of the table, there and back: every front's waiting ask survives, every channel answers it", "R8.1 P1")
def switches() -> None:
    with Far({"SAYSO_HOLD_LIMITS": json.dumps({"*": int(HANG_S)})}) as far, Wire(far.home) as owner:
        owner.hello("person", channel="terminal")
        rows = [row for row in owner.call("settings/list")["settings"] if is_switch(row)]
        assert {"portal", "terminal", "notes", "desktop", "compat", "come_back"} <= {row["name"] for row in rows}
        away = far.client()
        agents = {"sayso ask": Command(far.home), "sayso ask --hub": Command(away, *far.way(away, "agent")),
                  **{f"sayso mcp, {revision}": Stdio(far.home, revision) for revision in REVISIONS},
                  **{f"sayso mcp --hub, {revision}": Stdio(away, revision, *far.way(away, "agent")) for revision in REVISIONS},
                  "its form": Form(far.home, True), "its form, answered elsewhere": Form(far.home, False),
                  "sayso gate": Gate(far.home), "conversation": Talk(far), "libsayso": Library(far.home),
                  "/mcp loopback": Http(far, False), "/mcp tls": Http(far, True), "unix socket": Socket(Wire(far.home)),
                  "/wire loopback": Socket(web_socket(far, "/wire", False, far.tokens["agent"])),
                  "/wire tls": Socket(web_socket(far, "/wire", True, far.tokens["agent"]))}
        people = People(far)
        for turn, row in enumerate(rows):
            try:
                walk(people, owner, agents, row, turn)
            except FAILURES as failure:
                raise AssertionError(f"{row['name']}: {failure}") from failure


run()
