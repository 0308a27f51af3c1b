"""Conversations of agent hosts over HTTP, on the real hub: whole flows, every state and event, who may say what."""
from __future__ import annotations

import contextlib
import http.client
import json
import time
from typing import Any

from conversation_stage import (
    HOW, WHICH, Hosting, Listener, Talk, asks, call, listen, question, said)
from harness import Wire, WireError, run, side_by_side, test, wait_until

UNKNOWN_ID = "a" * 26
STATES = ("idle", "llm_requesting", "tool_executing", "awaiting_user_response")


def kinds(events: list[tuple[int, str, Any]]) -> list[str]:
    return [kind for _, kind, _ in events]


@test("a whole turn: tools one after the other, a question among them, then the model", "R3.4 R3.5")
def whole_turn() -> None:
    with Hosting() as office:
        talk = office.begin()
        assert talk.state == {"type": "idle"}
        reply = talk.turn(call("t1", command="make"), asks("t2", WHICH, HOW), call("t3"))
        assert reply["state"] == {"type": "tool_executing", "current": call("t1", command="make")}
        assert reply["effects"][-1]["event"] == "execute_tool" and reply["remaining"] == ["t2", "t3"]
        assert reply["effects"][-1]["data"]["tool"]["id"] == "t1"
        reply = talk.result("t1", "built")
        state = reply["state"]
        assert state["type"] == "awaiting_user_response" and state["tool_use_id"] == "t2"
        assert [one["question"] for one in state["questions"]] == ["Which store?", "How, exactly?"]
        assert state["questions"][0]["header"] == "Store" and state["questions"][1]["multiSelect"] is True
        # it is an ask like any other: listed, whole, with both kinds of choice, and no clock
        ask = talk.session()
        whole = office.whole(ask)
        assert whole["ask"]["remaining_seconds"] is None and whole["ask"]["origin"]["token"] == "builder"
        assert not whole["ask"]["detached"] and [field["name"] for field in whole["form"]["fields"]] == ["q1", "q2"]
        listed = office.home.sayso("list", "--active", "--json").json
        assert [row["session_id"] for row in listed] == [ask] and listed[0]["remaining_seconds"] is None
        assert reply["url"].endswith(ask)
        reply = said(talk.respond({"Which store?": "a ledger", "How, exactly?": ["Fast", "Safe"]},
                                  annotations={"How, exactly?": "in this order"}))
        assert reply["state"]["current"]["id"] == "t3" and reply["persisted"] == ["t1", "t2"]
        reply = talk.result("t3", "", is_error=True)
        assert reply["state"] == {"type": "llm_requesting", "attempt": 1}
        assert reply["effects"][-1]["event"] == "request_llm"
        assert said(talk.say("llm-retry", {"attempt": 2}))["state"]["attempt"] == 2
        assert said(talk.say("turn-ended"))["state"] == {"type": "idle"}
        results = talk.results()
        assert results["t1"] == ("built", False) and results["t3"] == ("", True)
        answer = json.loads(results["t2"][0])
        assert answer["answers"] == {"Which store?": "a ledger", "How, exactly?": "Fast, Safe"}, answer
        assert answer["answer_list"][1]["selected"] == ["Fast", "Safe"], answer
        assert answer["answer_list"][0]["other"] == "a ledger" and answer["answer_list"][1]["notes"] == "in this order"
        events = talk.events()
        assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
        assert kinds(events)[-3:] == ["persist_state", "state_change", "agent_done"]
        states = [data["type"] for _, kind, data in events if kind == "state_change"]
        assert states == ["idle", "tool_executing", "awaiting_user_response", "tool_executing",
                          "llm_requesting", "llm_requesting", "idle"], states
        # what was told to the conversation counts as delivered
        assert office.whole(ask)["answer"]["custom_input"] == "a ledger"
        with Wire(office.home) as person:
            person.hello("person")
            assert person.call("ask/get", session_id=ask)["ask"]["answered_by"]["via"] == "api"


@test("a sub-agent's question gets the error result and its turn goes on", "R3.3 R3.4")
def sub_agents() -> None:
    with Hosting() as office:
        marked = office.token_with("--kind", "host", "--sub-agent", "--label", "small")
        for talk in (office.begin(sub_agent=True), office.begin(token=marked), office.begin(token=marked, sub_agent=False)):
            reply = talk.turn(asks("t1"), call("t2"))
            assert reply["sub_agent"] is True and reply["state"]["current"]["id"] == "t2", reply
            content, is_error = talk.results()["t1"]
            assert is_error and "sub-agents can't use" in content
        assert office.home.sayso("list", "--json").json == []
        assert office.begin().look()["sub_agent"] is False


@test("cancelling answers every call that is left, and the agent is idle", "R3.4")
def cancelled() -> None:
    with Hosting() as office:
        talk = office.begin(asks("t1"), asks("t2"), call("t3"))
        talk.session()
        reply = said(talk.cancel())
        assert reply["state"] == {"type": "idle"} and reply["persisted"] == ["t1", "t2", "t3"]
        assert talk.results() == {"t1": ("User cancelled the question", True),
                                  "t2": ("Not run: user cancelled", True), "t3": ("Not run: user cancelled", True)}
        assert kinds(talk.events())[-1] == "agent_done"
        # the same from elsewhere: declined in a terminal, cancelled on the command line
        for act in ("cancel", "decline"):
            talk = office.begin(asks("t1"), call("t2"))
            assert office.home.sayso(act, talk.session()).code == 0
            talk.wait_for("idle")
            assert talk.results()["t2"] == ("Not run: user cancelled", True)


@test("no deadline unless it is asked for; at it the error result, and the turn goes on", "R3.4 R5.4")
def timeout() -> None:
    with Hosting(env={"SAYSO_TIMEOUT_SECONDS": "1"}) as office:
        patient = office.begin(asks("t1"), call("t2"))
        hasty = office.begin(asks("t1", timeout_seconds=1), call("t2"))
        assert office.whole(hasty.session())["ask"]["remaining_seconds"] is not None
        assert hasty.wait_for("tool_executing")["current"]["id"] == "t2"
        assert hasty.results() == {"t1": ("User did not answer in time", True)}
        said(hasty.respond({"Which store?": "SQLite"}), 409, "wrong_state")
        assert patient.state["type"] == "awaiting_user_response"
        assert office.home.sayso("extend", patient.session(), "1").code == 0
        patient.wait_for("tool_executing")


@test("answered in a terminal a question can be taken back; only then the conversation goes on", "R3.4 R5.2")
def undo() -> None:
    with Hosting(env={"SAYSO_DELIVER_AFTER": "60"}) as office:
        talk = office.begin(asks("t1"))
        id = talk.session()
        person = office.wire("person", channel="terminal")
        pick = {"q1": {"selected_ids": ["SQLite"]}}
        person.call("ask/answer", session_id=id, fields=pick)
        assert talk.state["type"] == "awaiting_user_response"
        said(talk.respond({"Which store?": "PostgreSQL"}), 409, "already_answered")
        assert said(talk.respond({"Which store?": "SQLite"}))["already"] is True
        person.call("ask/undo", session_id=id)
        assert person.call("ask/get", session_id=id)["ask"]["remaining_seconds"] is None
        person.call("ask/answer", session_id=id, fields=pick)
        person.call("ask/send", session_id=id)
        talk.wait_for("llm_requesting")
        assert json.loads(talk.results()["t1"][0])["answers"] == {"Which store?": "SQLite"}


def enter(office: Hosting, state: str) -> Talk:
    talk = office.begin()
    if state == "awaiting_user_response":
        talk.turn(asks("t1"), call("t2"))
        talk.session()
    elif state != "idle":
        talk.turn(call("t1"), *([call("t2")] if state == "tool_executing" else []))
    if state == "llm_requesting":
        talk.result("t1")
    assert talk.state["type"] == state
    return talk


ANSWERS = {"answers": {"Which store?": "SQLite"}}
# event: what is sent, by whom; then for idle, llm_requesting, tool_executing, awaiting: where it leads, "-"
# refused with wrong_state, "." ignored
EVENTS: dict[str, tuple[Any, str | None, tuple[str, str, str, str]]] = {
    "tool-calls": ({"tool_calls": [call("n1")]}, None, ("tool_executing", "tool_executing", "-", "-")),
    "tool-results": ({"tool_use_id": "t1", "content": "c"}, None, ("-", ".", "tool_executing", "-")),
    "turn-ended": ({}, None, (".", "idle", "-", "-")),
    "llm-retry": ({}, None, ("-", "llm_requesting", "-", "-")),
    "respond": (ANSWERS, "person", ("-", "-", "-", "tool_executing")),
    "cancel": ({}, "person", ("-", "-", "-", "idle")),
}


@test("every event in every state from the network: where it leads, what is refused, what is ignored", "R3.4")
def every_pair() -> None:
    with Hosting() as office:
        for act, (body, token, wanted) in EVENTS.items():
            for state, leads in zip(STATES, wanted):
                talk = enter(office, state)
                before = talk.look()
                reply = talk.say(act, body, token=token)
                after = talk.look()
                if leads == "-":
                    error = said(reply, 409, "wrong_state")
                    assert state in error["message"], (act, state, error)
                    assert after == before, (act, state)
                elif leads == ".":
                    assert said(reply)["already"] is True and reply.headers["idempotency-replayed"] == "true"
                    assert reply.json["effects"] == [] and after == before, (act, state)
                else:
                    assert said(reply)["state"]["type"] == leads, (act, state, reply)
                    assert after["version"] == before["version"] + 1 and reply.headers["etag"] == f'"{after["version"]}"'
        # the two that a host can't send over the network
        talk = enter(office, "tool_executing")
        for act in ("ask-user-question-pending", "expired"):
            assert talk.say(act, {}).status == 404


@test("what was said is not said twice: turns, results, attempts, answers, new conversations", "R3.4 R5.3")
def retries() -> None:
    with Hosting() as office:
        first = said(office.post("/conversations", {}, token=office.host, Idempotency_Key="k1"))
        again = office.post("/conversations", {}, token=office.host, Idempotency_Key="k1")
        assert said(again)["conversation"] == first["conversation"] and again.headers["idempotency-replayed"] == "true"
        assert said(office.post("/conversations", {}, token=office.host))["conversation"] != first["conversation"]
        other = office.token("host", "other")
        assert said(office.post("/conversations", {}, token=other, Idempotency_Key="k1"))["conversation"] \
            != first["conversation"]
        talk = Talk(office, first["conversation"], office.host)
        calls = [call("t1"), asks("t2"), call("t3")]
        steps = [lambda: talk.say("tool-calls", {"tool_calls": calls}),
                 lambda: talk.say("tool-results", {"tool_use_id": "t1", "content": "one"}),
                 lambda: talk.respond({"Which store?": ["SQLite"]}),
                 lambda: talk.say("tool-results", {"tool_use_id": "t3", "content": "three"}),
                 lambda: talk.say("llm-retry", {"attempt": 2}), lambda: talk.say("turn-ended")]
        for step in steps:
            done = said(step())
            if done["state"]["type"] == "awaiting_user_response":
                talk.session()
            before = talk.look()
            for _ in range(2):
                assert said(step())["already"] is True
            assert talk.look() == before
        for step in steps[:4]:  # late ones too
            assert said(step())["already"] is True, step
        said(talk.say("tool-calls", {"tool_calls": calls[:2]}), 409, "conflicting_arguments")
        said(talk.respond({"Which store?": ["PostgreSQL"]}), 409, "wrong_state")
        talk.turn(asks("u1"))
        talk.session()
        said(talk.cancel())
        assert said(talk.cancel())["already"] is True
        # a condition keeps a late cancel from a new question
        talk.turn(asks("v1"))
        talk.session()
        said(talk.say("cancel", {}, token="person", If_Match='"2"'), 412, "wrong_state")
        assert talk.state["type"] == "awaiting_user_response"
        said(talk.say("cancel", {}, token="person", If_Match=f'"{talk.look()["version"]}"'))


@test("hosts see their own, people look and answer, and only a host that may answers for them", "R3.4 R12.1")
def roles() -> None:
    with Hosting() as office:
        strong = office.token_with("--kind", "host", "--may-answer", "--label", "strong")
        other = office.token("host", "other")
        talk = office.begin(call("t1"), asks("t2"))
        acts = {act: body for act, (body, _, _) in EVENTS.items()}
        for token in (None, "sayso_h_" + "A" * 43):
            assert office.post("/conversations", {}, token=token).status == 401
        for token in ("person", "agent"):
            assert office.post("/conversations", {}, token=token).status == 403
            for act in ("tool-calls", "tool-results", "turn-ended", "llm-retry"):
                assert talk.say(act, acts[act], token=token).status == 403
        for path in ("", "/events"):
            assert office.get(talk.path + path, token="agent").status == 403
        assert office.get("/conversations", token="agent").status == 403
        # another host's conversation is unknown, whatever is said to it
        for token in (other, strong):
            for act, body in acts.items():
                reply = talk.say(act, body, token=token)
                assert reply.status in ((403,) if token == other and act in ("respond", "cancel") else (404,)), (act, reply)
            for path in ("", "/events"):
                assert office.get(talk.path + path, token=token).status == 404
            assert said(office.get("/conversations", token=token))["conversations"] == []
        talk.result("t1")
        talk.session()
        for act in ("respond", "cancel"):  # a host may not answer for the person
            error = said(talk.say(act, acts[act]), 403, "wrong_role")
            assert "--may-answer" in error["message"]
        assert talk.look(token="person")["host"] == "builder"
        assert said(office.get("/conversations", token="person"))["conversations"][0]["conversation"] == talk.id
        own = office.begin(asks("t1"), token=strong)
        ask = own.session()
        assert said(own.say("respond", ANSWERS))["state"]["type"] == "llm_requesting"
        by = office.whole(ask)["ask"]["answered_by"]
        assert (by["via"], by["token"]) == ("api", "strong"), by
        # on the wire agents' tokens have no such thing
        with Wire(office.home) as agent:
            agent.hello("agent")
            try:
                agent.call("conversation/new")
                raise AssertionError("the wire knows conversations")
            except WireError as error:
                assert error.code == -32601
        listed = {row["label"]: row for row in office.home.sayso("token", "list", "--json").json}
        assert listed["strong"]["may_answer"] is True and listed["strong"]["kind"] == "host"
        assert "may_answer" not in listed["builder"]
        for refused in (["--kind", "agent", "--may-answer"], ["--kind", "person", "--sub-agent"], ["--kind", "tab"]):
            made = office.home.sayso("token", "new", *refused)
            assert made.code == 1 and not made.out, made


@test("pages of conversations, newest first, each once", "R3.4")
def pages() -> None:
    with Hosting() as office:
        made = [office.begin().id for _ in range(7)]
        found, path = [], "/conversations?limit=3"
        while path:
            reply = office.get(path, token=office.host)
            found += said(reply)["conversations"]
            path = reply.headers.get("link", "").partition("<")[2].partition(">")[0]
        assert sorted(one["conversation"] for one in found) == sorted(made), (found, made)
        times = [one["created_at"] for one in found]
        assert times == sorted(times, reverse=True), times
        for bad in ("limit=0", "limit=201", "limit=x", "before=x", "before=", "what=1"):
            assert office.get(f"/conversations?{bad}", token=office.host).status == 400


@test("two hosts that go on at the same time: one step is taken, the other is told the state", "R3.4 R5.3 P7")
def at_once() -> None:
    with Hosting() as office:
        for number in range(20):
            talk = office.begin()
            replies: list[Any] = []
            side_by_side(*(lambda name=name: replies.append(talk.say("tool-calls", {"tool_calls": [call(name), asks(f"q{name}")]}))
                           for name in ("a", "b")))
            assert sorted(reply.status for reply in replies) == [200, 409], replies
            winner = talk.state["current"]["id"]
            replies.clear()
            side_by_side(*(lambda: replies.append(talk.say("tool-results", {"tool_use_id": winner, "content": "x"}))
                           for _ in range(3)))
            assert [reply.status for reply in replies] == [200] * 3, replies
            assert sorted(reply.json.get("already", False) for reply in replies) == [False, True, True]
            talk.session()
            replies.clear()
            side_by_side(lambda: replies.append(talk.respond({"Which store?": "SQLite"})),
                         lambda: replies.append(talk.respond({"Which store?": "PostgreSQL"})),
                         lambda: replies.append(talk.cancel()))
            assert sorted(reply.status for reply in replies) == [200, 409, 409], replies
            assert len(talk.results()) == 2


@test("listeners hear everything once, from any event on; the id of an event that never was is refused", "R3.4")
def streams() -> None:
    with Hosting() as office:
        talk = office.begin()
        with Listener(talk) as first, Listener(talk) as second:
            for number in range(15):
                talk.turn(call(f"a{number}"), call(f"b{number}"))
                talk.result(f"a{number}", "x" * 20000)
                talk.result(f"b{number}", "é\n\r\u2028\x01" * 500)
            last = talk.look()["last_event"]
            first.wait_last(last)
            second.wait_last(last)
            assert first.heard == second.heard
        everything = talk.events()
        assert everything == first.heard
        for after in (0, 1, last // 2, last - 1):
            assert talk.events(after) == everything[after:]
        connection = office.connect()
        office.send(connection, "GET", f"{talk.path}/events?after={last - 2}", token=office.host)
        response, got = connection.getresponse(), ""
        assert response.headers["content-type"] == "text/event-stream"
        while f"id: {last}\n" not in got or not got.endswith("\n\n"):
            got += response.read1(65536).decode()
        assert f"id: {last - 1}\n" in got and f"id: {last - 2}\n" not in got and "retry: " in got
        connection.close()
        for heard in ("x", "-1", str(last + 1), "1e3", "99999999999999999999"):
            reply = office.get(f"{talk.path}/events", token=office.host, Last_Event_ID=heard)
            assert reply.status == 400 and reply.error["parameter"] == "Last-Event-ID", reply
        assert office.call("HEAD", f"{talk.path}/events", token=office.host).status == 200


@test("a token that is revoked hears nothing more; its question stays for the person", "R3.4 R12.1")
def revoked() -> None:
    with Hosting() as office:
        talk = office.begin(asks("t1"))
        session = talk.session()
        connection = office.connect()
        office.send(connection, "GET", f"{talk.path}/events", token=office.host)
        response = connection.getresponse()
        heard = b""
        while b"id: 3\n" not in heard:
            heard += response.read1(65536)
        (id,) = [row["id"] for row in office.home.sayso("token", "list", "--json").json if row["kind"] == "host"]
        assert office.home.sayso("token", "revoke", id).code == 0
        with contextlib.suppress(OSError, http.client.HTTPException):  # cut, or ended
            while response.read1(65536):
                pass
        connection.close()
        assert office.get(f"{talk.path}/events", token=office.host).status == 401
        assert office.whole(session)["ask"]["status"] == "pending"
        assert said(talk.respond({"Which store?": "SQLite"}))["state"]["type"] == "llm_requesting"


@test("more is kept than a listener is likely to miss, and not for ever: what is gone is said", "R3.4 R9.1")
def forgotten() -> None:
    with Hosting() as office:
        talk, large = office.begin(), "x" * 500000
        for number in range(40):  # 20 MB of results; 16 are kept
            talk.turn(call(f"t{number}"))
            talk.result(f"t{number}", large)
        last = talk.look()["last_event"]
        reply = office.get(f"{talk.path}/events", token=office.host, Last_Event_ID="1")
        error = said(reply, 410)
        assert "last_event" in error["message"], error
        kept = []
        for event in listen(office, talk.path, office.host):  # without an id: what there is
            kept.append(event[0])
            if event[0] == last:
                break
        assert kept == list(range(kept[0], last + 1)) and 100 < len(kept) < last, (kept[0], last)
        assert talk.events(kept[0] - 1)[0][0] == kept[0]


@test("a slow listener is waited for, delays no other, and gets everything", "R3.4")
def slow() -> None:
    with Hosting() as office:
        talk = office.begin()
        for number in range(20):
            talk.turn(call(f"t{number}"))
            talk.result(f"t{number}", "\x01" * 80000)  # six times as long in JSON
        last, heard = talk.look()["last_event"], []
        for event in listen(office, talk.path, office.host, 0):
            heard.append(event[0])
            if len(heard) == 3:
                time.sleep(1)  # more than the kernel holds is waiting
                assert talk.look()["last_event"] == last
            if event[0] == last:
                break
        assert heard == list(range(1, last + 1))


@test("limits: questions of a host count, and the refused turn may be said again", "R3.4 R5.8")
def limits() -> None:
    with Hosting(env={"SAYSO_MAX_PENDING": "2"}) as office:
        first, second, third = office.begin(asks("t1")), office.begin(asks("t1")), office.begin()
        first.session(), second.session()
        before = third.look()
        reply = third.say("tool-calls", {"tool_calls": [asks("t1")]})
        assert said(reply, 429, "rate_limited")["retry_after_seconds"] >= 1 and "retry-after" in reply.headers
        assert third.look() == before
        said(first.cancel())
        third.turn(asks("t1"), asks("t2"))
        third.session()
        said(third.respond({"Which store?": "SQLite"}))  # the next takes its place
        assert third.state["tool_use_id"] == "t2"


run()
