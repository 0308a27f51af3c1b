"""Legacy MCP sessions on three hubs that share a PostgreSQL: opened on one, used on another, ended on the third; calls are
taken up and forms returned wherever their client comes, and what it tells one hub reaches the one it concerns."""
from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import subprocess
import threading
import time
from typing import Any

import postgres
from harness import HANG_S, ROOT, SLACK, Skip, counted, note, run, scaled, test, wait_until
from hubs_stage import LOST, Hubs, Refused, exchange, question
from api import Reply

HEARD_S = HANG_S
CALLS_A_ROUND = 24
REVISION = "2025-11-25"
BOTH = "application/json, text/event-stream"


class Stream(threading.Thread):
    """A reply that goes on: its events as they come."""

    def __init__(self, port: int, method: str, headers: dict[str, str], message: Any = None):
        super().__init__(daemon=True)
        self.events: list[dict[str, str]] = []
        self.status, self.is_over = 0, False
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.request(method, "/mcp", None if message is None else json.dumps(message).encode(), headers)
        self.start()

    def run(self) -> None:
        try:
            reply = self.connection.getresponse()
            self.status, event = reply.status, {}
            for line in iter(reply.readline, b""):
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name in ("id", "data", "event"):
                    event[name] = value
                elif not name and event:
                    self.events.append(event)
                    event = {}
                elif line.rstrip(b"\n") in (b"data:", b"data"):
                    event["data"] = ""
        except (*LOST, AttributeError, ValueError):
            pass  # cut
        self.is_over = True

    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(event["data"]) for event in list(self.events) if event.get("data")]

    def named(self, method: str) -> list[dict[str, Any]]:
        return [message for message in self.messages() if message.get("method") == method]

    def last_id(self) -> str:
        """An id that carries which ask it is about."""
        wait_until(lambda: any("." in event.get("id", "") for event in self.events), "an id to come back by", HEARD_S)
        return [event["id"] for event in self.events if "." in event.get("id", "")][-1]

    def cut(self) -> None:
        if self.connection.sock:
            self.connection.sock.shutdown(2)
        self.connection.close()

    def result(self, id: Any) -> dict[str, Any]:
        wait_until(lambda: self.is_over, "it ends with the response", HEARD_S + 30)
        (found,) = [message for message in self.messages() if message.get("id") == id]
        return found["result"]["structuredContent"]


class Session:
    """One of a client of 2025-11-25; every request says to which hub it goes."""

    def __init__(self, hubs: Hubs, place: int, name: str = "sessions", **capabilities: Any):
        self.hubs = hubs
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": {"name": name, "version": "1"}}}
        def opened() -> Reply | None:  # the token may be news there
            reply = exchange(self.port(place), "POST", "/mcp", opening, hubs.agent_token, Accept=BOTH)
            return reply if reply.status == 200 else None
        reply = wait_until(opened, f"a session on {place}", HEARD_S)
        self.headers = {"Mcp-Session-Id": reply.headers["mcp-session-id"], "Accept": BOTH, "MCP-Protocol-Version": REVISION}

    def port(self, place: int) -> int:
        return self.hubs.hubs[place].port if place >= 0 else self.hubs.port

    def post(self, place: int, message: dict[str, Any]) -> Reply:
        return exchange(self.port(place), "POST", "/mcp", {"jsonrpc": "2.0", **message}, self.hubs.agent_token, **self.headers)

    def ping(self, place: int) -> int:
        return self.post(place, {"id": 99, "method": "ping"}).status

    def end(self, place: int) -> int:
        return exchange(self.port(place), "DELETE", "/mcp", None, self.hubs.agent_token, **self.headers).status

    def stream(self, place: int, method: str, message: Any = None, **more: str) -> Stream:
        headers = {**self.headers, "Authorization": f"Bearer {self.hubs.agent_token}", "Content-Type": "application/json", **more}
        if message is None:
            del headers["Content-Type"]
        return Stream(self.port(place), method, headers, message)

    def ask(self, place: int, id: Any, title: str) -> Stream:
        return self.stream(place, "POST", {"jsonrpc": "2.0", "id": id, "method": "tools/call",
                                           "params": {"name": "provide_choice", "arguments": question(title)}})

    def resume(self, place: int, last_id: str) -> Stream:
        return self.stream(place, "GET", **{"Last-Event-ID": last_id})


def id_of(hubs: Hubs, title: str, place: int = 0) -> str:
    def found() -> str:
        return next((ask["session_id"] for ask in hubs.person(hubs.hubs[place].port).open() if ask["title"] == title), "")
    return wait_until(found, f"{title} is seen on {place}", HEARD_S)


def detached(hubs: Hubs, id: str) -> bool:
    return hubs.person().request("GET", f"/api/asks/{id}").json["ask"].get("detached", False)


@test("a session is opened on one hub, used on all, and ended on another for all", "R13.1 R13.2")
def everywhere() -> None:
    with Hubs() as hubs:
        for place in range(3):
            session, other = Session(hubs, place), Session(hubs, place)
            assert [session.ping(one) for one in range(3)] == [200] * 3
            assert session.end((place + 1) % 3) == 200
            wait_until(lambda: [session.ping(one) for one in range(3)] == [404] * 3, "it is over everywhere", HEARD_S)
            assert session.end(place) == 404
            assert [other.ping(one) for one in range(3)] == [200] * 3
        for one in hubs.hubs:
            one.end()
            one.start()
            one.wait_ready()
        assert [session.ping(one) for one in range(3)] == [404] * 3 and [other.ping(one) for one in range(3)] == [200] * 3


@test("a call is taken up on another hub, answered on the third", "R13.1 R5.7 P10")
def taken_up() -> None:
    with Hubs() as hubs:
        for first, second, third in itertools.permutations(range(3)):
            title = f"taken up {first}{second}{third}"
            session = Session(hubs, third)
            stream = session.ask(first, title, title)
            last = stream.last_id()
            id = id_of(hubs, title, third)
            stream.cut()
            again = session.resume(second, last)
            wait_until(lambda: again.events, "it is served", HEARD_S)
            hubs.person(hubs.hubs[third].port).answer(id, f"for {title}")
            assert again.result(title)["selection"]["global_annotation"] == f"for {title}"
        stream = session.ask(0, 1, "answered while away")
        last, id = stream.last_id(), id_of(hubs, "answered while away", 1)
        hubs.hubs[0].end()
        hubs.person(hubs.hubs[1].port).answer(id, "meanwhile")
        assert session.resume(2, last).result(1)["selection"]["global_annotation"] == "meanwhile"
        assert all(len(row.answers) == 1 for row in hubs.rows())


@test("a form that one hub shows is returned to another, once, whatever is sent", "R13.1 R4.2 R5.3")
def forms() -> None:
    with Hubs() as hubs:
        for first, second, third in itertools.permutations(range(3)):
            title = f"form {first}{second}{third}"
            session = Session(hubs, third, elicitation={})
            stream = session.ask(first, 7, title)
            wait_until(lambda: stream.named("elicitation/create"), "the form is shown", HEARD_S)
            (form,) = stream.named("elicitation/create")
            threads = [threading.Thread(target=session.post, args=(place, {"id": form["id"], "result": {
                "action": "accept", "content": {"choice": choice}}})) for place, choice in ((second, "left"), (third, "right"))]
            for one in threads:
                one.start()
            result = stream.result(7)
            for one in threads:
                one.join()
            assert result["answered_by"]["via"] == "client" and len(result["selection"]["selected_ids"]) == 1, result
            assert len(stream.named("elicitation/create")) == 1
        assert all(len(row.answers) == 1 for row in hubs.rows())


@test("a form that is returned to a hub that has not heard of its ask is not lost", "R13.1 R4.2 P4")
def unheard() -> None:
    with postgres.Server() as server, Hubs(3, server, is_proxied=True) as hubs:
        session = Session(hubs, 0, elicitation={})
        assert [session.ping(place) for place in range(3)] == [200] * 3
        for proxy in hubs.proxies[1:]:
            proxy.notifications = "drop"  # they look by themselves every 2 s
        for number in range(scaled(8)):
            stream = session.ask(0, number, f"unheard {number}")
            wait_until(lambda: stream.named("elicitation/create"), "the form is shown", HEARD_S)
            (form,) = stream.named("elicitation/create")
            assert session.post(1 + number % 2, {"id": form["id"], "result": {
                "action": "accept", "content": {"choice": "right"}}}).status == 202
            assert stream.result(number)["selection"]["selected_ids"] == ["right"]
        assert all(len(row.answers) == 1 for row in hubs.rows())


@test("how long a form was shown is told by one clock, however wrong those of the hubs are", "R13.1 R4.3")
def skewed() -> None:
    with Hubs(skews_s=(0, 3600, -3600)) as hubs:
        for first, second, seen_s, outcome in ((0, 1, 0.0, "pending"), (1, 2, 2.5, "declined"), (2, 0, 0.0, "pending")):
            title = f"skewed {first}{second}"
            session = Session(hubs, first, title, elicitation={})  # what one client does is learned of its name
            stream = session.ask(first, 7, title)
            wait_until(lambda: stream.named("elicitation/create"), "the form is shown", HEARD_S)
            id = id_of(hubs, title, second)
            time.sleep(seen_s)  # a client that refuses immediately has shown no form
            session.post(second, {"id": stream.named("elicitation/create")[0]["id"], "result": {"action": "decline"}})
            if outcome == "pending":
                time.sleep(0.5)
                assert not stream.is_over
                hubs.person(hubs.hubs[second].port).answer(id, f"for {title}")
                assert stream.result(7)["selection"]["global_annotation"] == f"for {title}"
            else:
                assert stream.result(7).get("declined"), stream.messages()


@test("a request that is given up through another hub is given up where it waits; its answer is not lost", "R13.1 R5.5")
def cancelled() -> None:
    with Hubs() as hubs:
        for first, second in ((0, 1), (1, 2), (2, 0)):
            title = f"cancelled {first}"
            session = Session(hubs, second)
            stream = session.ask(first, 3, title)
            stream.last_id()
            id = id_of(hubs, title, second)
            assert session.post(second, {"method": "notifications/cancelled", "params": {
                "requestId": 3, "reason": "McpError: MCP error -32001: Request timed out"}}).status == 202
            wait_until(lambda: stream.is_over, "its stream ends", HEARD_S)
            assert not [message for message in stream.messages() if message.get("id") == 3], stream.messages()
            wait_until(lambda: detached(hubs, id), "nobody waits", HEARD_S)
            hubs.person(hubs.hubs[first].port).answer(id, f"late {first}")
            result = session.ask(second, 4, title)
            wait_until(lambda: result.is_over, "the same call has it", HEARD_S)
        assert len(hubs.rows()) == 3 and all(len(row.answers) == 1 for row in hubs.rows()), hubs.rows()


@test("what is subscribed to on one hub is told on the stream that another has", "R13.1 R10.6")
def subscriptions() -> None:
    with Hubs() as hubs:
        session, asker = Session(hubs, 2, "subscriber"), Session(hubs, 1, "subscriber")
        standing = session.stream(0, "GET")
        wait_until(lambda: standing.events, "it stands", HEARD_S)
        def told() -> int:
            return len([one for one in standing.named("notifications/resources/updated") if one["params"]["uri"] == "sayso://asks"])
        assert session.post(1, {"id": 1, "method": "resources/subscribe", "params": {"uri": "sayso://asks"}}).status == 200
        def asked() -> bool:
            number = next(numbers)
            asker.ask(number % 3, number, f"subscribed {number}").last_id()
            return told() > 0
        numbers = itertools.count(1)
        wait_until(asked, "the stream tells", HEARD_S + 20)
        standing.cut()
        assert session.post(2, {"id": 2, "method": "resources/unsubscribe", "params": {"uri": "sayso://asks"}}).status == 200
        again = session.stream(1, "GET", **{"Last-Event-ID": [event["id"] for event in standing.events if "id" in event][-1]})
        wait_until(lambda: again.events, "it stands elsewhere", HEARD_S)


@test("official clients that show forms, every request to any hub", "R13.1 R4.2 R10.1")
def official_forms() -> None:
    if subprocess.run([str(ROOT / "tests/mcp/install")], stdout=subprocess.DEVNULL).returncode != 0:
        raise Skip("what tests/mcp needs could not be installed")
    ours = ROOT / "tests/mcp/node_modules/.bin/node"
    with Hubs() as hubs:
        ran = subprocess.run([str(ours) if ours.exists() else "node", str(ROOT / "tests/mcp/lib/balanced_forms.mjs"), str(scaled(4))],
                             env={**os.environ, "SAYSO_URL": f"http://127.0.0.1:{hubs.port}/mcp",
                                  "SAYSO_TOKEN": hubs.agent_token}, capture_output=True, text=True, timeout=300 * SLACK)
        kinds = [json.loads(line) for line in ran.stdout.splitlines()]
        wrong = [one for kind in kinds for one in kind["wrong"]]
        assert ran.returncode == 0 and not wrong and len(kinds) == 3, f"{wrong[:3]} {ran.stderr[-2000:]}"
        rows = hubs.rows()
        assert len(rows) == sum(kind["asks"] for kind in kinds) and all(len(row.answers) == 1 for row in rows), "asked twice"
        note(f"{len(rows)} forms, requests {dict(hubs.balancer.counts)}")


@test("sessions whose streams break again and again, and hubs that die: every call gets its own answer, once", "R13.1 P1 P10")
def broken() -> None:
    with Hubs() as hubs:
        dice, rounds = random.Random(7), scaled(1)
        sessions = [Session(hubs, place % 3) for place in range(4)]
        cuts = sum(break_and_kill(hubs, sessions, f"round {number}", dice) for number in range(rounds))
        rows = hubs.rows()
        assert len(rows) == CALLS_A_ROUND * rounds and all(len(row.answers) == 1 for row in rows)
        counted(f"calls={len(rows)} streams_broken={cuts} hubs_killed={3 * rounds} lost=0 doubled=0")


def break_and_kill(hubs: Hubs, sessions: list[Session], name: str, dice: random.Random) -> int:
    """One round; returns how many streams it cut."""
    open_calls, cuts = {}, 0
    for number in range(CALLS_A_ROUND):
        session = sessions[number % 4]
        stream = session.ask(-1, f"{name} {number}", f"{name} {number}")
        open_calls[f"{name} {number}"] = (session, stream, stream.last_id())
    for kill in range(3):
        for title, (session, stream, last) in list(open_calls.items()):
            if dice.random() < 0.6:
                stream.cut()
                open_calls[title] = (session, session.resume(-1, last), last)
                cuts += 1
        hubs.hubs[kill].end()
        hubs.hubs[kill].start()
        hubs.hubs[kill].wait_ready()
    for title in open_calls:
        hubs.person().answer(id_of(hubs, title), f"for {title}")
    for title, (session, stream, last) in open_calls.items():
        def whole() -> bool:
            nonlocal stream
            if stream.is_over and not [one for one in stream.messages() if one.get("id") == title]:
                stream = session.resume(-1, last)
            return stream.is_over
        wait_until(whole, f"{title} ends", HEARD_S + 60)
        result = stream.result(title)
        assert result["selection"].get("global_annotation") == f"for {title}", result
    return cuts


run()
