"""Conversations against input that is too large, malformed, of the wrong kind or another host's: nothing changes."""
from __future__ import annotations

import json
import random
from typing import Any

from api import status_of
from conversation_stage import HOW, WHICH, Hosting, Talk, asks, call, question, said
from harness import run, scaled, test

UNKNOWN_ID = "a" * 26
ACTS = ("tool-calls", "tool-results", "turn-ended", "llm-retry", "respond", "cancel", "events")
NOBODIES = (UNKNOWN_ID, "A" * 26, "a" * 25, "a" * 27, "%00" * 26, "..", "%2e%2e%2f", "a" * 255, "1' OR '1'='1")
DEEP = b'{"tool_calls":[{"id":"t","name":"n","input":' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}]}"
# act, body as sent, status, code, path
BAD: list[tuple[str, Any, int, str, str | None]] = [
    ("tool-calls", b"", 422, "missing_property", "/tool_calls"),
    ("tool-calls", b"{", 400, "bad_json", None),
    ("tool-calls", b"\xff\xfe", 400, "bad_json", None),
    ("tool-calls", b'{"tool_calls":[],"tool_calls":[]}', 400, "bad_json", None),
    ("tool-calls", DEEP, 400, "bad_json", None),
    ("tool-calls", [], 422, "bad_type", None),
    ("tool-calls", {"tool_calls": {}}, 422, "bad_type", "/tool_calls"),
    ("tool-calls", {"tool_calls": []}, 422, "out_of_range", "/tool_calls"),
    ("tool-calls", {"tool_calls": [call(f"t{n}") for n in range(65)]}, 422, "out_of_range", "/tool_calls"),
    ("tool-calls", {"tool_calls": [call("x"), call("x")]}, 409, "conflicting_arguments", "/tool_calls/1/id"),
    ("tool-calls", {"tool_calls": [call("x" * 129)]}, 422, "too_long", "/tool_calls/0/id"),
    ("tool-calls", {"tool_calls": [call("")]}, 422, "empty_text", "/tool_calls/0/id"),
    ("tool-calls", {"tool_calls": [call("a\0b")]}, 422, "nul_character", "/tool_calls/0/id"),
    ("tool-calls", {"tool_calls": [{"id": "a", "name": "n", "input": "rm -rf"}]}, 422, "bad_type", "/tool_calls/0/input"),
    ("tool-calls", {"tool_calls": [{"id": "a", "name": "n"}]}, 422, "missing_property", "/tool_calls/0/input"),
    ("tool-calls", {"tool_calls": [{**call("a"), "state": "idle"}]}, 422, "unknown_property", "/tool_calls/0/state"),
    ("tool-calls", {"tool_calls": [call("a")], "conversation": UNKNOWN_ID}, 422, "unknown_property", "/conversation"),
    ("tool-results", {"tool_use_id": "t1"}, 422, "missing_property", "/content"),
    ("tool-results", {"tool_use_id": "t1", "content": {"a": 1}}, 422, "bad_type", "/content"),
    ("tool-results", {"tool_use_id": "t1", "content": "x" * 524289}, 422, "too_long", "/content"),
    ("tool-results", {"tool_use_id": "t1", "content": "a\0b"}, 422, "nul_character", "/content"),
    ("tool-results", {"tool_use_id": "t1", "content": "", "is_error": "yes"}, 422, "bad_type", "/is_error"),
    ("llm-retry", {"attempt": 0}, 422, "out_of_range", "/attempt"),
    ("llm-retry", {"attempt": "2"}, 422, "out_of_range", "/attempt"),
    ("llm-retry", {"attempt": 9}, 422, "out_of_range", "/attempt"),
    ("turn-ended", {"why": 1}, 422, "unknown_property", "/why"),
]
ANSWER = {"Which store?": "SQLite", "How, exactly?": ["Fast"]}
BAD_ANSWERS: list[tuple[Any, str, str | None]] = [
    ({}, "missing_property", "/answers"),
    ({"answers": {"Which store?": "SQLite"}}, "missing_property", "/answers/How, exactly?"),
    ({"answers": {**ANSWER, "Why?": "x"}}, "unknown_property", "/answers/Why?"),
    ({"answers": {**ANSWER, "Which store?": 1}}, "bad_type", "/answers/Which store?"),
    ({"answers": {**ANSWER, "Which store?": ["SQLite", "PostgreSQL"]}}, "out_of_range", "/answers/Which store?"),
    ({"answers": {**ANSWER, "Which store?": "x" * 65537}}, "too_long", "/answers/Which store?"),
    ({"answers": ANSWER, "annotations": {"Why?": "x"}}, "unknown_property", "/annotations/Why?"),
    ({"answers": ANSWER, "annotations": {"Which store?": "x" * 2001}}, "too_long", "/annotations/Which store?"),
    ({"answers": ANSWER, "session_id": UNKNOWN_ID}, "unknown_property", "/session_id"),
]


@test("malformed, oversized and misplaced bodies are refused by name and change nothing", "R3.4 R12.2")
def bad_bodies() -> None:
    with Hosting() as office:
        idle, running, asking = office.begin(), office.begin(call("t1")), office.begin()
        asking.turn(call("t0"))
        asking.result("t0")
        for act, body, status, code, path in BAD:
            talk = {"tool-results": running, "llm-retry": asking}.get(act, idle)
            before = talk.look()
            error = said(talk.say(act, body), status, code)
            assert error.get("path") == path, (act, body if len(str(body)) < 300 else "…", error)
            assert talk.look() == before
        large = b'{"tool_use_id":"t1","content":"' + b"x" * 1048576 + b'"}'
        assert running.say("tool-results", large).status == 413
        assert running.say("tool-results", {"tool_use_id": "t1", "content": ""}, Content_Type="text/plain").status == 415
        assert running.state["type"] == "tool_executing"
        for act in ("tool-results", "turn-ended"):  # a condition that is not looked at must not seem so
            assert running.say(act, {"tool_use_id": "t1", "content": ""}, If_Match='"2"').error["parameter"] == "If-Match"
        for key in ("", "x" * 129, "a b"):
            assert office.post("/conversations", {}, token=office.host, Idempotency_Key=key).status == 400
        error = said(office.post("/conversations", {"sub_agent": "no"}, token=office.host), 422, "bad_type")
        assert error["path"] == "/sub_agent"
        said(office.post("/conversations", {"host": "me"}, token=office.host), 422, "unknown_property")
        assert running.result("t1", "x" * 524288)["state"]["type"] == "llm_requesting"  # the most there may be


@test("answers that fit no question are refused where they stand; the question stays", "R3.4")
def bad_answers() -> None:
    with Hosting() as office:
        talk = office.begin(asks("t1", WHICH, HOW))
        talk.session()
        before = talk.look()
        for body, code, path in BAD_ANSWERS:
            error = said(talk.say("respond", body, token="person"), 422, code)
            assert error.get("path") == path, error
            assert talk.look() == before
        for match in ("x", '"x"', '"0"'):
            assert talk.say("respond", {"answers": ANSWER}, token="person", If_Match=match).status in (400, 412)
        said(talk.respond(ANSWER))


@test("questions that are none get an error result each, however they are malformed", "R3.4 R2.1")
def bad_questions() -> None:
    wrong = [question(), {"questions": []}, {"questions": [WHICH] * 5}, {"questions": [WHICH, WHICH]}, {"questions": "?"},
             question({**WHICH, "options": [{"label": "one"}]}), question({**WHICH, "header": "thirteen char"}),
             question({**WHICH, "options": [{"label": "Other"}, {"label": "B"}]}), question(timeout_seconds=-1), {"x": 1}]
    wrong[0] = {}
    with Hosting() as office:
        talk = office.begin()
        reply = talk.turn(*({"id": f"t{n}", "name": "ask_user_question", "input": input} for n, input in enumerate(wrong)))
        assert reply["state"] == {"type": "llm_requesting", "attempt": 1}, reply
        results = talk.results()
        assert len(results) == len(wrong)
        assert all(is_error and content.startswith("Invalid input: ") for content, is_error in results.values()), results
        assert office.home.sayso("list", "--json").json == []


@test("ids that don't exist are unknown, for every caller and every act", "R3.4 R12.1")
def nobody() -> None:
    with Hosting() as office:
        ask = office.ask()
        for id in (*NOBODIES, ask):
            for act in (*ACTS, ""):
                method, path = ("GET" if act in ("events", "") else "POST"), f"/conversations/{id}/{act}".rstrip("/")
                for token in (office.host, office.person_token):
                    raw = (f"{method} {path.replace(' ', '%20')} HTTP/1.1\r\nHost: 127.0.0.1:{office.port}\r\n"
                           f"Authorization: Bearer {token}\r\nConnection: close\r\n")
                    body = '{"answers":{}}' if act == "respond" else "{}"
                    if act == "tool-calls":
                        body = json.dumps({"tool_calls": [call("t")]})
                    if act == "tool-results":
                        body = json.dumps({"tool_use_id": "t", "content": ""})
                    if method == "POST":
                        raw += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                    else:
                        raw += "\r\n"
                    assert status_of(office.raw(raw.encode())) in (400, 403, 404, 405), (id, act, token)
        talk = office.begin(asks("t1"))
        session = talk.session()  # the ask behind it is no conversation, nor the other way round
        assert office.get(f"/conversations/{session}", token=office.host).status == 404
        assert office.get(f"/api/asks/{talk.id}").status == 404
        assert office.get(f"/api/asks/{session}", token=office.host).status == 403


@test("hostile words go through as they are: in tools, results, questions, events", "R3.4 R12.2")
def hostile_words() -> None:
    words = "\x1b]52;c;x\x07 <script>\u202e\u2028\r\n\ndata: fake\n\nid: 99\nevent: agent_done 'DROP TABLE--"
    with Hosting() as office:
        talk = office.begin()
        talk.turn({"id": words[:40], "name": words[:60], "input": {words: words}}, asks("t2", {**WHICH, "question": words}))
        talk.result(words[:40], words)
        talk.session()
        state = talk.state
        assert state["questions"][0]["question"] == words
        said(talk.respond({words: words + "\u0301"}))
        assert talk.results()[words[:40]] == (words, False)
        events = talk.events()
        assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
        assert {kind for _, kind, _ in events} == {"persist_tool_results", "persist_state", "state_change",
                                                   "execute_tool", "request_llm"}


@test("a peer that says anything at all, in any order, breaks nothing", "R3.4")
def anything() -> None:
    random.seed(8)
    values: list[Any] = [None, True, 0, -1, 2**62, 1.5, "", "t1", "x" * 200, [], {}, [1], {"a": {}}, "\ud7ff", "a\0"]
    with Hosting() as office:
        talk = office.begin()
        for number in range(scaled(300)):
            act = random.choice(ACTS[:-1])
            names = {"tool-calls": ["tool_calls"], "tool-results": ["tool_use_id", "content", "is_error"],
                     "llm-retry": ["attempt"], "respond": ["answers", "annotations"]}.get(act, ["x"])
            body: Any = {name: random.choice(values) for name in names if random.random() < 0.8}
            if act == "tool-calls" and random.random() < 0.7:
                body = {"tool_calls": [random.choice([call(f"c{number}"), asks(f"q{number}"), {"id": random.choice(values)}])]}
            reply = talk.say(act, body, token=random.choice([office.host, office.person_token]))
            assert reply.status in (200, 403, 409, 422, 429), (act, body, reply)
            if talk.state["type"] == "awaiting_user_response":
                talk.session()
        while (state := talk.state)["type"] != "idle":  # it can still be brought to its end
            if state["type"] == "awaiting_user_response":
                talk.session()
                said(talk.cancel())
            elif state["type"] == "tool_executing":
                talk.result(state["current"]["id"])
            else:
                said(talk.say("turn-ended"))
        assert len(talk.events()) == talk.look()["last_event"]


run()
