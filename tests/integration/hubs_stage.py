"""Several hubs on one database behind a balancer, and agents and people who speak HTTP to whichever hub they get; what
test_three_hubs.py, test_chaos.py and test_failover.py share."""
from __future__ import annotations

import contextlib
import hashlib
import http.client
import itertools
import json
import signal
import struct
import subprocess
import threading
from typing import Any, Callable

import libpq
import postgres
from answers_checker import Row
from api import LIMITS, Reply, read_reply
from balancer import Balancer
from chaos_proxy import Proxy
from clock_stage import shim
from harness import BIN, SLACK, Home, wait_until

READY_S = 60 * SLACK
MODERN = "2026-07-28"
LOST = (OSError, EOFError, http.client.HTTPException)  # a connection that broke: what became of it is not known
STATES = {1: "pending_terminal_launch", 2: "pending", 3: "submitted", 4: "auto_submitted", 5: "cancelled", 6: "declined",
          7: "timeout", 8: "withdrawn"}
SETTINGS = {**LIMITS, "SAYSO_HOLD_LIMITS": '{"*":300}', "SAYSO_BROWSER": "off", "SAYSO_IDLE_EXIT_SECONDS": "86400",
            "SAYSO_DESKTOP": "off", "SAYSO_MAX_SESSIONS": "100000000"}


class Background(threading.Thread):
    """An act whose result is wanted later."""

    def __init__(self, act: Callable[[], Any]):
        super().__init__(daemon=True)
        self.act, self.value, self.failure = act, None, None
        self.start()

    def run(self) -> None:
        try:
            self.value = self.act()
        except BaseException as failure:
            self.failure = failure

    def result(self, timeout: float = 60) -> Any:
        self.join(timeout)
        assert not self.is_alive(), "it did not end"
        if self.failure:
            raise self.failure
        return self.value


class Hub:
    """One of them, with a home and a port of its own that stay over its deaths."""

    def __init__(self, place: int, url: str, skew_s: int = 0, binary: str = BIN, env: dict[str, str] | None = None):
        self.place, self.skew_s, self.port = place, skew_s, postgres.free_port()
        self.home = Home(binary, env={**SETTINGS, "SAYSO_STORE": url, "SAYSO_PORT": str(self.port), **(env or {})})
        self.log = self.home.path / "serve.log"
        self.process: subprocess.Popen | None = None

    def clock(self) -> dict[str, str]:
        """What makes its wall clock go wrong by a constant."""
        if not self.skew_s:
            return {}
        offset = self.home.path / "offset"
        offset.write_text(f"{self.skew_s}\n")
        options = self.home.environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return {"LD_PRELOAD": shim(), "WALL_CLOCK_OFFSET": str(offset), "ASAN_OPTIONS": options}

    def start(self) -> None:
        with open(self.log, "a") as log:
            self.process = self.home.spawn("serve", env=self.clock(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_ready(self, timeout: float = READY_S) -> None:
        def is_ready() -> bool:
            assert self.process.poll() is None, f"hub {self.place} ended with {self.process.poll()}: {self.said()}"
            return get(self.port, "/readyz").status == 200
        wait_until(lambda: quietly(is_ready), f"hub {self.place} is ready: {self.said()[-2000:]}", timeout)

    def look_after(self) -> bool:
        """As a service manager does: one that could not reach the database when it started is started again. True then."""
        if self.process is None or self.process.poll() is None:
            return False
        code = self.end()
        assert code == 1 and "does not answer" in self.said(), f"hub {self.place} ended with {code}: {self.said()[-3000:]}"
        self.start()
        return True

    def end(self, number: int = signal.SIGKILL) -> int:
        """Waits for its end; the exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(number)
        code = self.process.wait(30 * SLACK)
        self.home.spawned.remove(self.process)
        self.process = None
        self.assert_sound()
        return code

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def proceed(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGCONT)

    def assert_sound(self) -> None:
        said = self.said()
        assert "Sanitizer" not in said and "runtime error" not in said, said[-8000:]

    def said(self) -> str:
        texts = [path.read_text(errors="replace") for path in (self.log, self.home.data / "hub.log") if path.is_file()]
        return "\n".join(texts)


def certificate_of(home: Home) -> str:
    """A chain of one and its key, for localhost."""
    made = home.path / "balancer.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(made),
                    "-out", f"{made}.crt"], check=True, capture_output=True)
    made.write_text(made.read_text() + (home.path / "balancer.pem.crt").read_text())
    return str(made)


def quietly(act: Any) -> Any:
    """None where a connection is not there."""
    with contextlib.suppress(*LOST):
        return act()


def exchange(port: int, method: str, path: str, body: Any = None, token: str = "", timeout: float = 70,
             **headers: str) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            given["Authorization"] = f"Bearer {token}"
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        connection.request(method, path, None if body is None else json.dumps(body).encode(), given)
        return read_reply(connection.getresponse())
    finally:
        connection.close()


def get(port: int, path: str, **more: Any) -> Reply:
    return exchange(port, "GET", path, **more)


class Hubs(contextlib.AbstractContextManager):
    """`server`: a PostgreSQL of one's own, else the shared one. `is_proxied`: each hub reaches it through a bad network
    of its own (proxies[place]). `is_public`: as for other machines, by a name and TLS that the balancer speaks. Tokens are
    made on the first hub and good on all."""

    def __init__(self, count: int = 3, server: postgres.Server | None = None, is_proxied: bool = False, seed: int = 1,
                 skews_s: tuple[int, ...] = (), order: str = "random", url: str = "", is_public: bool = False, **hub: Any):
        self.stack = contextlib.ExitStack()
        self.databases = server or postgres.shared()
        self.url = url or self.databases.new_database()
        self.proxies: list[Proxy] = []
        self.hubs: list[Hub] = []
        self.public_port, self.public_ports = postgres.free_port(), []
        with contextlib.ExitStack() as stack:
            if not url:
                stack.callback(self._drop)
            for place in range(count):
                reached_by = self.url
                if is_proxied:
                    self.proxies.append(stack.enter_context(Proxy(server.port, seed + place)))
                    reached_by = server.tcp_url(postgres.name_in(self.url), self.proxies[-1].port)
                more = {**hub, "env": {**hub.get("env", {}), **self._open_to_others()}} if is_public else hub
                self.hubs.append(Hub(place, reached_by, (*skews_s, *[0] * count)[place], **more))
                stack.enter_context(self.hubs[-1].home)
                self.hubs[-1].start()
            for one in self.hubs:
                one.wait_ready()
            self.balancer = stack.enter_context(
                Balancer(self.public_ports, seed, order, self.public_port, certificate_of(self.hubs[0].home)) if is_public
                else Balancer([one.port for one in self.hubs], seed, order))
            self.person_token, self.agent_token = self.token("person"), self.token("agent")
            self.stack = stack.pop_all()
        self.port = self.balancer.port
        self.wait_known()

    def _drop(self) -> None:
        with contextlib.suppress(libpq.NoServer):  # it may be the server's turn to be dead
            self.databases.drop_database(self.url)

    def _open_to_others(self) -> dict[str, str]:
        self.public_ports.append(postgres.free_port())
        return {"SAYSO_LISTEN": f"127.0.0.1:{self.public_ports[-1]}", "SAYSO_LISTEN_PLAIN": "on",
                "SAYSO_PUBLIC_URL": f"https://localhost:{self.public_port}"}

    def token(self, kind: str, place: int = 0) -> str:
        made = self.hubs[place].home.sayso("token", "new", "--kind", kind, "--label", "a test")
        assert made.code == 0, made
        return made.out.split()[0]

    def wait_known(self) -> None:
        """A token made on one hub opens the others a moment later."""
        for hub in self.hubs:
            wait_until(lambda: get(hub.port, "/api/asks", token=self.person_token).status == 200,
                       f"hub {hub.place} knows the person's token", READY_S)
            wait_until(lambda: get(hub.port, "/mcp", token=self.agent_token).status not in (401, 429),
                       f"hub {hub.place} knows the agent's token", READY_S)

    def agent(self, port: int = 0) -> Agent:
        return Agent(port or self.port, self.agent_token)

    def person(self, port: int = 0) -> Person:
        return Person(port or self.port, self.person_token)

    def rows(self) -> list[Row]:
        return rows_of(self.url)

    def said(self) -> str:
        return "\n".join(f"--- hub {hub.place}\n{hub.said()}" for hub in self.hubs)

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            for hub in self.hubs if kind is None else ():  # also what it finds only at its end
                hub.end(signal.SIGTERM)
        finally:
            self.stack.close()


def rows_of(url: str) -> list[Row]:
    """The asks as the database has them."""
    with libpq.Connection(url) as connection:
        connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        rows = {row[0]: Row(row[0], row[1], STATES[row[2]], [], *row[3:]) for row in connection.run(
            "SELECT id, title, state, deadline_ms, ended_ms, created_ms FROM asks")}
        for ask, body in connection.run("SELECT ask, body FROM answers ORDER BY seq"):
            rows[ask].answers.append(json.loads(body).get("global_annotation", ""))
    return list(rows.values())


def bad_event(url: str) -> int:
    """The number of the first event that does not follow the one before it, as store/event.c reckons; 0: all do."""
    with libpq.Connection(url) as connection:
        connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ")  # hubs may still write between the two
        events = connection.run("SELECT seq, ask, kind, actor, body, prev_hash FROM events ORDER BY seq")
        ((last, hash),) = connection.run("SELECT seq, hash FROM counter")
    before, known = events[0][0] - 1 if events else 0, None
    for seq, ask, kind, actor, body, previous in events:
        if seq != before + 1 or (known is not None and previous != known):
            return seq
        parts = [previous, *((text or "").encode() for text in (str(seq), ask, str(kind), actor, body))]
        before = seq
        known = hashlib.sha256(b"".join(struct.pack("<Q", len(part)) + part for part in parts)).digest() if body is not None else None
    return 0 if last == before and known in (None, hash) else last


def question(title: str, **more: Any) -> dict[str, Any]:
    return {"title": title, "prompt": "Which way shall the road go at the river?", "selection_mode": "single",
            "options": [{"id": "left", "label": "Left", "recommended": True}, {"id": "right", "label": "Right"}], **more}


class Refused(Exception):
    """The hub said no, and what; nothing was done."""

    def __init__(self, status: int, error: dict[str, Any]):
        super().__init__(f"{status} {json.dumps(error)}")
        self.status, self.error, self.code = status, error, error.get("code")


class Agent:
    """MCP 2026-07-28 over HTTP: every request stands alone, so each may go to another hub."""

    numbers = itertools.count(1)

    def __init__(self, port: int, token: str):
        self.port, self.token = port, token

    def call(self, tool: str, arguments: dict[str, Any], timeout: float = 60) -> dict[str, Any]:
        """The structured result. Refused if the hub says no; one of LOST if it is not known what became of it."""
        number = next(self.numbers)
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "hubs test", "version": "1"}}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments, "_meta": meta}}
        reply = exchange(self.port, "POST", "/mcp", message, self.token, timeout, Accept="application/json, text/event-stream",
                         MCP_Protocol_Version=MODERN, Mcp_Method="tools/call", Mcp_Name=tool)
        return self.take(reply, number)

    def take(self, reply: Reply, number: int) -> dict[str, Any]:
        if reply.headers.get("content-type", "").startswith("text/event-stream"):
            texts = [line[5:] for line in reply.body.decode().split("\n") if line.startswith("data:")]
            messages = [json.loads(text) for text in texts if text.strip()]
        else:
            messages = [json.loads(reply.body)] if reply.body else []
        found = next((message for message in messages if message.get("id") == number), None)
        if found is None:
            if reply.status == 200:
                raise EOFError("the stream ended without a result")
            error = messages[0].get("error", {}) if messages and isinstance(messages[0], dict) else {}
            raise Refused(reply.status, error)
        if "error" in found:
            raise Refused(reply.status, found["error"])
        if found["result"].get("isError"):
            said = found["result"].get("structuredContent") or {}
            raise Refused(reply.status, said.get("error") or {"code": str(found["result"])})
        return found["result"]["structuredContent"]

    def ask(self, title: str, timeout: float = 60, **more: Any) -> dict[str, Any]:
        """The same words under the same key: after a lost reply it is the same ask."""
        return self.call("provide_choice", question(title, idempotency_key=title, **more), timeout)

    def collect(self, ask_id: str, wait_s: int = 0) -> dict[str, Any]:
        return self.call("get_answer", {"session_id": ask_id, "wait_seconds": wait_s}, wait_s + 60)


def outcome_of(result: dict[str, Any]) -> tuple[str, str]:
    """Status and answer as the checker has them."""
    status = {"selected": "submitted"}.get(result["action_status"], result["action_status"])
    return status, (result.get("selection") or {}).get("global_annotation", "") if status == "submitted" else ""


class Person:
    """REST, each request anywhere."""

    def __init__(self, port: int, token: str):
        self.port, self.token = port, token

    def request(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        return exchange(self.port, method, path, body, self.token, **more)

    def open(self) -> list[dict[str, Any]]:
        reply = self.request("GET", "/api/asks?status=active&limit=200")
        if reply.status != 200:
            raise Refused(reply.status, reply.error if reply.body else {})
        return reply.json["asks"]

    def answer(self, ask_id: str, note: str, pick: str = "left", timeout: float = 30) -> dict[str, Any]:
        """The receipt; the note is the answer's own word and its key."""
        reply = self.request("POST", f"/api/asks/{ask_id}/answer", {"selected_ids": [pick], "global_annotation": note},
                             timeout=timeout, Idempotency_Key=note.replace(" ", "_"))
        if reply.status != 200:
            raise Refused(reply.status, reply.error if reply.body else {})
        return reply.json
