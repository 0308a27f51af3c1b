"""An agent's request dies, the ask does not: it stays, says so, takes its answer, and the agent's
next identical call finds it. Connections are cut at every byte of what goes over them.
"""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import signal
import threading
import time
from typing import Any, Callable

from harness import HANG_S, Home, Wire, WireError, counted, run, scaled, test, wait_until

LIMITS = {"SAYSO_MAX_PENDING": "100000", "SAYSO_ASKS_PER_MINUTE": "1000000"}
CUTS = scaled(400)  # of each kind; five kinds
RETRIES = scaled(200)
IDENTITY = {"name": "detach", "directory": "/detach"}
PICKS = ("oak", "pine", "yew")
UNKNOWN_ID = "a" * 26


def arguments(title: str = "Which tree?", **more: Any) -> dict[str, Any]:
    options = [{"id": pick, "label": pick.title()} for pick in PICKS]
    options[0]["recommended"] = True
    return {"title": title, "prompt": "One tree fits between the two houses.",
            "selection_mode": "single", "options": options, **more}


def call_params(title: str = "Which tree?", **more: Any) -> dict[str, Any]:
    return {"tool": "provide_choice", "arguments": arguments(title, **more), "tag": "detach"}


def connect(home: Home, role: str, **identity: Any) -> Wire:
    if not home.hub_pid():
        home.sayso("list")
    wire = Wire(home)
    wire.hello(role, **(identity or IDENTITY))
    return wire


def created(wire: Wire) -> str:
    """The id of the ask that was asked, or found again, last."""
    while not (notes := [e for e in wire.events if e.get("method") == "ask/created"]):
        wire.events.append(wire.read())
    wire.events.remove(notes[-1])
    return notes[-1]["params"]["session_id"]


def ask(home: Home, title: str = "Which tree?", **more: Any) -> str:
    """Asks on a connection that is gone right afterwards."""
    with connect(home, "agent") as agent:
        agent.start("ask/create", **call_params(title, **more))
        id = created(agent)
    with connect(home, "person") as person:
        wait_until(lambda: person.call("ask/get", session_id=id)["ask"]["detached"], "detached")
    return id


def answer(home: Home, id: str, pick: str = "yew") -> None:
    with connect(home, "person") as person:
        assert person.call("ask/answer", session_id=id, selected_ids=[pick])["status"] == "submitted"


def refusal(call: Callable, *args: Any, **params: Any) -> tuple[str, str]:
    try:
        raise AssertionError(f"not refused: {call(*args, **params)}")
    except WireError as error:
        return error.data["code"], error.data["path"]


def picks(result: dict[str, Any]) -> list[str]:
    return result["selection"]["selected_ids"]


def asks_titled(home: Home, title: str) -> list[dict[str, Any]]:
    with connect(home, "person") as person:
        asks = person.call("ask/list", limit=10000)["asks"]
    return [ask for ask in asks if ask["title"] == title]


@test("an ask whose agent is gone stays, is shown as detached, and takes its answer", "R5.5 P8")
def stays(home: Home) -> None:
    with connect(home, "agent") as agent:
        agent.start("ask/create", **call_params())
        id = created(agent)
        assert not home.sayso("list", "--json").json[0]["detached"]
    (shown,) = wait_until(lambda: [a for a in home.sayso("list", "--json").json if a["detached"]], "")
    assert shown["session_id"] == id and shown["status"] == "pending", shown
    answer(home, id)
    (shown,) = home.sayso("list", "--json").json
    assert shown["status"] == "submitted" and not shown["detached"], shown


@test("the next identical call gets the answer once, a third one is a new ask", "R5.5 P8 P9")
def replayed_once(home: Home) -> None:
    id = ask(home)
    answer(home, id)
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params())
        assert result["session_id"] == created(agent) == id, result
        assert result["replayed"] and picks(result) == ["yew"], result
        agent.call("ask/delivered", session_ids=[id])
        third = agent.call("ask/create", **call_params(), wait_seconds=0)
        assert third["session_id"] != id and third["action_status"] == "pending", third
        assert "replayed" not in third and picks(third) == [], third


@test("an answer is replayed until the agent says that it has it, and never after", "R5.5 P8")
def replayed_until_delivered(home: Home) -> None:
    home.environment.update(LIMITS)
    for number in range(scaled(20)):
        id = ask(home, f"round {number}")
        answer(home, id)
        call = {**call_params(f"round {number}"), "wait_seconds": 0}
        for _ in range(3):
            with connect(home, "agent") as agent:
                assert agent.call("ask/create", **call)["session_id"] == id
        with connect(home, "agent") as agent:
            agent.send(line_of("ask/delivered", session_ids=[id]) +  # its reply is not waited for
                       line_of("ask/create", **call).replace(b'"id": 7', b'"id": 8').strip())
            result = agent.finish(8)
            assert result["session_id"] != id, "an answer was given to a call after its delivery"


@test("an answer given while the agent waits is replayed too if it never arrived", "R5.5 P8")
def unread_answer(home: Home) -> None:
    with connect(home, "agent") as agent:
        agent.start("ask/create", **call_params())
        id = created(agent)
        answer(home, id)
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params())
        assert result["session_id"] == id and result["replayed"] and picks(result) == ["yew"], result


@test("an identical call takes up a detached ask with its deadline", "R5.5 P9")
def taken_up(home: Home) -> None:
    id = ask(home, timeout_seconds=100)
    with connect(home, "agent") as agent:
        call = agent.start("ask/create", **call_params(timeout_seconds=100))
        assert created(agent) == id
        (shown,) = home.sayso("list", "--json").json
        assert not shown["detached"] and shown["remaining_seconds"] <= 100, shown
        answer(home, id, "oak")
        result = agent.finish(call)
        assert picks(result) == ["oak"] and "replayed" not in result, result


@test("the same call on the same connection is the same ask", "R5.5 P9")
def same_connection(home: Home) -> None:
    with connect(home, "agent") as agent:
        calls = [agent.start("ask/create", **call_params()) for _ in range(3)]
        ids = {created(agent) for _ in calls[:1]}
        wait_until(lambda: len(asks_titled(home, "Which tree?")) == 1, "one ask")
        answer(home, *ids)
        results = {}
        while len(results) < len(calls):
            message = agent.read()
            if "result" in message:
                results[message["id"]] = message["result"]
        assert {result["session_id"] for result in results.values()} == ids, results
        assert all(picks(result) == ["yew"] for result in results.values()), results


@test("an ask another live connection waits on is not shared", "R5.5")
def not_shared(home: Home) -> None:
    with connect(home, "agent") as one, connect(home, "agent") as two:
        calls = [wire.start("ask/create", **call_params()) for wire in (one, two)]
        ids = [created(wire) for wire in (one, two)]
        assert ids[0] != ids[1]
        for id, pick in zip(ids, ("oak", "pine")):
            answer(home, id, pick)
        assert [picks(wire.finish(call)) for wire, call in zip((one, two), calls)] == [["oak"], ["pine"]]


@test("an idempotency_key finds its ask and its answer again", "R5.5 P9")
def key_finds(home: Home) -> None:
    id = ask(home, idempotency_key="deploy 7")
    with connect(home, "agent") as agent:
        asked = agent.call("ask/create", **call_params(idempotency_key="deploy 7"), wait_seconds=0)
        assert asked["session_id"] == id, asked
        for other in ({}, {"idempotency_key": "deploy 8"}):  # other calls, the same words or not
            assert agent.call("ask/create", **call_params(**other), wait_seconds=0)["session_id"] != id
    answer(home, id)
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params(idempotency_key="deploy 7"))
        assert result["session_id"] == id and result["replayed"] and picks(result) == ["yew"], result


@test("an idempotency_key with other arguments is conflicting_arguments", "R5.5")
def key_conflicts(home: Home) -> None:
    id = ask(home, idempotency_key="deploy 7")
    other = call_params("Which bush?", idempotency_key="deploy 7")
    conflict = ("conflicting_arguments", "/idempotency_key")
    with connect(home, "agent") as agent:
        assert refusal(agent.call, "ask/create", **other) == conflict  # while it is open
        answer(home, id)
        assert refusal(agent.call, "ask/create", **other) == conflict  # while it is not delivered
        stranger = {**other, "wait_seconds": 0}
    with connect(home, "agent", **{"as": "somebody else"}) as agent:
        assert agent.call("ask/create", **stranger)["action_status"] == "pending"
    assert not [a for a in asks_titled(home, "Which bush?") if a["agent"] != "somebody else"]


@test("another principal's ask is not_found, exactly like one that never was", "R2.4 R5.5")
def foreign(home: Home) -> None:
    id = ask(home)
    answer(home, id)
    told = []
    with connect(home, "agent", **{"as": "somebody else"}) as other:
        for method, session_id in itertools.product(("ask/wait", "ask/withdraw"), (id, UNKNOWN_ID)):
            try:
                raise AssertionError(other.call(method, session_id=session_id))
            except WireError as error:
                told.append((error.code, error.message, error.data))
        assert other.call("ask/create", **call_params(), wait_seconds=0)["session_id"] != id
    assert all(error == told[0] for error in told) and told[0][2]["code"] == "not_found", told
    said = home.sayso("ask", "--as", "somebody else", "--json", "--from", "-",
                      input=json.dumps({"session_id": id}))
    assert said.code == 1 and "not_found" in said.out + said.err, said


@test("an agent can't confirm that another agent's answer was delivered", "R5.5 P8")
def foreign_delivery(home: Home) -> None:
    id = ask(home)
    answer(home, id)
    with connect(home, "agent", **{"as": "somebody else"}) as other:
        other.call("ask/delivered", session_ids=[id])
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params(), wait_seconds=0)
        assert result["session_id"] == id and picks(result) == ["yew"], result


@test("collecting by session_id gives the same result each time", "R2.4 R5.5")
def collected(home: Home) -> None:
    id = ask(home)
    with connect(home, "agent") as agent:
        began = time.monotonic()
        pending = agent.call("ask/wait", session_id=id, wait_seconds=1)
        assert pending["action_status"] == "pending" and pending["session_id"] == id, pending
        assert time.monotonic() - began > 0.9
        call = agent.start("ask/wait", session_id=id, wait_seconds=30)
        answer(home, id)
        results = [agent.finish(call)]
        results += [agent.call("ask/wait", session_id=id, wait_seconds=0) for _ in range(2)]
        results += [agent.call("ask/create", tool="provide_choice", arguments={"session_id": id})]
        agent.call("ask/delivered", session_ids=[id])
        results += [agent.call("ask/wait", session_id=id, wait_seconds=0)]
    home.kill_hub()
    with connect(home, "agent") as agent:
        results += [agent.call("ask/wait", session_id=id, wait_seconds=0)]
    assert picks(results[0]) == ["yew"] and all(result == results[0] for result in results), results


@test("a timeout is not replayed, a refusal is", "R5.5 R5.6 P7")
def what_is_replayed(home: Home) -> None:
    def next_call(title: str, **more: Any) -> dict[str, Any]:
        with connect(home, "agent") as agent:
            return agent.call("ask/create", **call_params(title, **more), wait_seconds=0)

    expired = ask(home, "expired", timeout_seconds=1)
    refused = {method: ask(home, method) for method in ("ask/cancel", "ask/decline")}
    with connect(home, "person") as person:
        for method, id in refused.items():
            person.call(method, session_id=id, global_annotation="not now")
    for method, id in refused.items():
        result = next_call(method)
        assert result["session_id"] == id and result["replayed"], result
        assert result["action_status"] == "cancelled" and picks(result) == [], result
        assert result["selection"]["global_annotation"] == "not now", result
    wait_until(lambda: asks_titled(home, "expired")[0]["status"] == "timeout", "it timed out")
    assert next_call("expired", timeout_seconds=1)["session_id"] != expired
    with connect(home, "agent") as agent:
        assert agent.call("ask/wait", session_id=expired, wait_seconds=0)["action_status"] == "timeout"


@test("what an agent took back is over for its next call", "R5.5 R5.1")
def withdrawn(home: Home) -> None:
    id = ask(home)
    with connect(home, "agent") as agent:
        assert agent.call("ask/withdraw", session_id=id)["status"] == "withdrawn"
        assert agent.call("ask/create", **call_params(), wait_seconds=0)["session_id"] != id


@test("saying that an open ask was delivered changes nothing", "R5.5 P8")
def delivered_too_early(home: Home) -> None:
    id = ask(home)
    with connect(home, "agent") as agent:
        agent.call("ask/delivered", session_ids=[id, UNKNOWN_ID, "nonsense"])
    answer(home, id)
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params())
        assert result["session_id"] == id and result["replayed"], result


@test("sayso ask that was killed gets the answer when it is run again", "R5.5 P8 P9 R10.3")
def program_killed(home: Home) -> None:
    command = ("ask", "--json", "--as", "script", "--from", "-")
    for is_answered_meanwhile in (True, False):
        title = f"answered meanwhile: {is_answered_meanwhile}"
        text = json.dumps(arguments(title))
        killed = home.spawn(*command)
        killed.stdin.write(text)
        killed.stdin.close()
        killed.stdin = None
        (asked,) = wait_until(lambda: asks_titled(home, title), "it is asked")
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        wait_until(lambda: asks_titled(home, title)[0]["detached"], "it is detached")
        if is_answered_meanwhile:
            answer(home, asked["session_id"], "pine")
        else:
            threading.Timer(0.3, answer, (home, asked["session_id"], "pine")).start()
        said = home.sayso(*command, input=text)
        assert said.code == 0 and said.json["session_id"] == asked["session_id"], said
        assert picks(said.json) == ["pine"], said
        assert said.json.get("replayed", False) == is_answered_meanwhile, said
        assert len(asks_titled(home, title)) == 1


@test("a retry never shows a question twice, whenever the first try died", "P9 R5.5")
def retries(home: Home) -> None:
    home.environment.update(LIMITS)
    shown: dict[str, set[str]] = {}

    def look(event: dict[str, Any]) -> dict[str, Any]:
        shown.setdefault(event["ask"]["title"], set()).add(event["ask"]["session_id"])
        return event["ask"]

    with connect(home, "person") as watcher:
        watcher.call("ask/watch", limit=1)
        for number in range(RETRIES):
            title = f"retry {number}"
            for _ in range(random.randint(1, 3)):
                with connect(home, "agent") as agent:
                    agent.start("ask/create", **call_params(title))
                    time.sleep(random.choice((0, 0, random.uniform(0, 0.003))))
            with connect(home, "agent") as agent:
                call = agent.start("ask/create", **call_params(title))
                while (seen := look(watcher.read()["params"]))["title"] != title:
                    pass
                answer(home, seen["session_id"])
                assert picks(agent.finish(call)) == ["yew"]
                agent.call("ask/delivered", session_ids=[seen["session_id"]])
        with contextlib.suppress(TimeoutError):
            while True:
                look(watcher.read(0.2)["params"])
    assert len(shown) == RETRIES and all(len(ids) == 1 for ids in shown.values()), shown
    counted(f"retries={RETRIES} doubles=0")


@test("a retry that comes before the first try is on disk learns the id too", "R5.5 P9")
def early_retry(home: Home) -> None:
    home.environment.update(LIMITS)
    for number in range(scaled(20)):
        call = call_params(f"early {number}")
        first = connect(home, "agent")
        os.kill(home.hub_pid(), signal.SIGSTOP)  # so that it sees all of this in one turn
        try:
            first.start("ask/create", **call)
            first.stop()
            second = Wire(home)
            second.start("hello", wire=1, role="agent", **IDENTITY)
            second.start("ask/create", **call)
        finally:
            os.kill(home.hub_pid(), signal.SIGCONT)
        with second:
            id = created(second)
            asks = asks_titled(home, f"early {number}")
            assert [ask["session_id"] for ask in asks] == [id] and not asks[0]["detached"], asks


class Cut:
    """A connection that ends after so many bytes of what is sent, or of what comes."""

    def __init__(self, home: Home, role: str):
        self.wire = connect(home, role)

    def send(self, line: bytes, count: int) -> None:
        self.wire.socket.sendall(line[:count])
        self.wire.stop()

    def read(self, line: bytes, count: int) -> bytes:
        """Sends all of it and reads so many bytes of the answer."""
        self.wire.socket.sendall(line)
        self.wire.socket.settimeout(HANG_S)
        got = b""
        while len(got) < count and (part := self.wire.socket.recv(count - len(got))):
            got += part
        self.wire.stop()
        return got


def line_of(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).encode() + b"\n"


def cuts(length: int) -> list[int]:
    """Each place where so many bytes can be cut, as often as there are rounds for it."""
    everywhere = list(range(length + 1))
    return (everywhere * (CUTS // len(everywhere) + 1))[:CUTS] if len(everywhere) <= CUTS else \
        sorted({0, length, length - 1, *random.sample(everywhere, max(CUTS - 3, 0))})


def collect(home: Home, title: str, id: str) -> dict[str, Any]:
    """The agent's next identical call; it must find the answer that was acknowledged."""
    with connect(home, "agent") as agent:
        result = agent.call("ask/create", **call_params(title), wait_seconds=0)
        assert result["session_id"] == id and result["replayed"], (title, id, result)
        agent.call("ask/delivered", session_ids=[id])
        return result


@test("a request of an agent that is cut at any byte asks once or not at all", "P8 P9 R5.5")
def cut_ask(home: Home) -> None:
    home.environment.update(LIMITS)
    length = len(line_of("ask/create", **call_params("cut 1000")))
    for number, count in enumerate(cuts(length), 1000):
        title = f"cut {number}"
        Cut(home, "agent").send(line_of("ask/create", **call_params(title)), count)
        with connect(home, "agent") as agent:
            call = agent.start("ask/create", **call_params(title))
            id = created(agent)
            answer(home, id)
            assert picks(agent.finish(call)) == ["yew"]
            agent.call("ask/delivered", session_ids=[id])
        found = asks_titled(home, title) if number % 10 == 0 or count >= length - 1 else [id]
        assert len(found) == 1, f"cut after {count} of {length} bytes: {found}"
    counted(f"cuts={len(cuts(length))} bytes={length}")


@test("a result that is cut at any byte is found again", "P8 R5.5")
def cut_result(home: Home) -> None:
    home.environment.update(LIMITS)
    with connect(home, "agent") as agent:
        call = agent.start("ask/create", **call_params("measured"))
        id = created(agent)
        answer(home, id)
        length = len(json.dumps(agent.finish(call), separators=(",", ":")))
    for number, count in enumerate(cuts(length), 1000):
        title, pick = f"cut {number}", random.choice(PICKS)
        cut = Cut(home, "agent")
        cut.wire.start("ask/create", **call_params(title))
        id = created(cut.wire)
        answer(home, id, pick)
        cut.read(b"", count)
        assert picks(collect(home, title, id)) == [pick], f"cut after {count} of {length} bytes"
    counted(f"cuts={len(cuts(length))} bytes={length}")


def decided_by(home: Home, id: str) -> dict[str, Any]:
    with connect(home, "person") as person:
        return person.call("ask/get", session_id=id)


def cut_answers(home: Home, length_of: Callable[[bytes], int], act: Callable[[Cut, bytes, int], Any],
                is_sent: Callable[[int, int], bool | None]) -> None:
    """A person answers, is cut off, and answers again with the same key, as every client does.
    `is_sent` says whether the hub must have, or cannot have, got the first one."""
    home.environment.update(LIMITS)
    sample = line_of("ask/answer", session_id=UNKNOWN_ID, selected_ids=["pine"], answer_key="key 1000")
    length = length_of(sample)
    for number, count in enumerate(cuts(length), 1000):
        title = f"cut {number}"
        id = ask(home, title)
        answered = {"session_id": id, "selected_ids": ["pine"], "answer_key": f"key {number}"}
        act(Cut(home, "person"), line_of("ask/answer", **answered), count)
        if is_sent(count, length) is not None:
            status = decided_by(home, id)["ask"]["status"]
            assert (status == "submitted") == is_sent(count, length), f"{count} of {length}: {status}"
        with connect(home, "person") as person:
            again = person.call("ask/answer", **answered)
            assert again["session_id"] == id, again
            if is_sent(count, length):
                assert again["already"], again
        assert picks(collect(home, title, id)) == ["pine"]
    counted(f"cuts={len(cuts(length))} bytes={length}")


@test("an answer that is cut at any byte can be sent again and counts once", "P8 P1 R5.3")
def cut_answer(home: Home) -> None:
    cut_answers(home, len, Cut.send, lambda count, length: None if count == length else False)


@test("an acknowledgement that is cut at any byte leaves the answer where it is", "P8 P1 R5.2 R5.3")
def cut_acknowledgement(home: Home) -> None:
    reply = {"jsonrpc": "2.0", "id": 7,
             "result": {"session_id": UNKNOWN_ID, "status": "submitted", "version": 2}}
    length = len(json.dumps(reply, separators=(",", ":"))) + 1
    cut_answers(home, lambda _: length, Cut.read, lambda count, _: True if count else None)


@test("a delivery that is cut at any byte counts whole or not at all", "P8 R5.5")
def cut_delivery(home: Home) -> None:
    home.environment.update(LIMITS)
    line = line_of("ask/delivered", session_ids=[UNKNOWN_ID])
    for number, count in enumerate(cuts(len(line)), 1000):
        title = f"cut {number}"
        id = ask(home, title)
        answer(home, id, "oak")
        whole = line_of("ask/delivered", session_ids=[id])
        Cut(home, "agent").send(whole, count)
        if count < len(whole):
            assert picks(collect(home, title, id)) == ["oak"], f"cut after {count}"
            continue
        def is_new() -> bool:
            with connect(home, "agent") as agent:
                result = agent.call("ask/create", **call_params(title), wait_seconds=0)
            assert result["session_id"] != id or picks(result) == ["oak"], result
            return result["session_id"] != id
        wait_until(is_new, "it is delivered")
    counted(f"cuts={len(cuts(len(line)))} bytes={len(line)}")


run()
