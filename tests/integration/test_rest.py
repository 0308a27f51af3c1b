"""/api as docs/rest.md describes it: what is listed, looked at, answered, refused, and by whom."""
from __future__ import annotations

import json
import os
import pathlib
import re
from typing import Any

from api import HOSTS, Office, status_of
from harness import ROOT, run, test, wait_until

CORPUS = json.loads((ROOT / "tests/corpus/http_ws.json").read_text())["cases"]
ACTS = ("answer", "cancel", "decline", "extend", "back", "undo", "send")
UNKNOWN_ID = "a" * 26


def extend_to_version(office: Office, id: str, version: int) -> None:
    for at in range(1, version):
        reply = office.post(f"/api/asks/{id}/extend", {"seconds": 300 + at}, If_Match=f'"{at}"')
        assert reply.status == 200 and reply.json["version"] == at + 1, reply


def expired_ask(office: Office) -> str:
    id = office.ask(timeout_seconds=1)
    reply = office.get(f"/api/asks/{id}?wait=20", If_None_Match='"1"')
    assert reply.status == 200 and reply.json["ask"]["status"] == "timeout", reply
    return id


@test("every /api case of the corpus gets its status on both listeners and changes nothing", "R10.4 R12.1")
def corpus() -> None:
    with Office() as office:
        first = {"selected_ids": ["a"]}
        for host in HOSTS:
            ask, answered, expired = office.ask(), office.ask(), expired_ask(office)
            extend_to_version(office, ask, 7)
            receipt = office.post(f"/api/asks/{answered}/answer", first, Idempotency_Key="k-first")
            assert receipt.status == 200, receipt
            places = {"{PORT}": str(office.port), "{TOKEN}": office.person_token, "{ASK}": ask,
                      "{COOKIE}": f"sayso={office.person_token}", "{ANSWERED}": answered, "{EXPIRED}": expired}
            before = {id: office.whole(id) for id in (ask, answered, expired)}
            cases = [case for case in CORPUS if case["kind"] == "http" and "/api/" in case.get("raw", "")]
            assert len(cases) >= 5
            for case in cases:
                raw = case["raw"]
                for place, value in places.items():
                    raw = raw.replace(place, value)
                reply = office.raw(raw.encode(), host)
                head = reply.partition(b"\r\n\r\n")[0].lower()
                assert status_of(reply) in case["expect"]["status"], (case["id"], host, reply)
                assert b"set-cookie" not in head and b"access-control-allow" not in head, reply
            # variants of h-040 that the corpus leaves out: the same key with the same body, and with another
            again = office.post(f"/api/asks/{answered}/answer", first, Idempotency_Key="k-first", host=host)
            assert again.status == 200 and again.body == receipt.body, again
            assert again.headers["idempotency-replayed"] == "true"
            other = office.post(f"/api/asks/{answered}/answer", {"selected_ids": ["b"]}, Idempotency_Key="k-first")
            assert other.status == 409 and other.error["code"] == "conflicting_arguments", other
            for id, was in before.items():
                now = office.whole(id)
                for whole in (was, now):
                    whole["ask"].pop("remaining_seconds")
                assert now == was, (was, now)
        assert office.person_token not in (office.home.data / "hub.log").read_text() \
            if (office.home.data / "hub.log").exists() else True


@test("refusals come in order: over, changed since, invalid; each gives the ask's state", "R10.4 R5.3")
def order() -> None:
    with Office() as office:
        id = office.ask()
        extend_to_version(office, id, 2)
        path = f"/api/asks/{id}/answer"
        wrong = {"selected_ids": ["zzz"]}
        reply = office.post(path, wrong, If_Match='"1"')
        assert reply.status == 412 and reply.headers["etag"] == '"2"', reply
        assert reply.error["detail"]["status"] == "pending" and "path" not in reply.error, reply
        reply = office.post(path, wrong, If_Match='"2"')
        assert reply.status == 422, reply
        assert (reply.error["code"], reply.error["path"]) == ("bad_enum", "/selected_ids/0"), reply
        assert office.post(path, wrong, If_Match='"0"').status == 412
        assert office.post(path, wrong, If_Match="*").status == 422
        reply = office.answer(id, If_Match='"2"')
        assert reply.status == 200 and reply.headers["etag"] == '"3"', reply
        assert reply.json == {"session_id": id, "status": "submitted", "version": 3}, reply
        for body, etag in ((wrong, '"1"'), ({"selected_ids": ["b"]}, '"3"')):
            reply = office.post(path, body, If_Match=etag)
            assert reply.status == 409 and reply.error["code"] == "already_answered", reply
            by = reply.error["detail"]["answered_by"]
            assert (by["via"], by["token"], by["uid"], by["pid"]) == ("api", "a test", os.getuid(), os.getpid()), reply
            assert re.match(r"20\d\d-.*Z$", reply.error["detail"]["answered_at"]), reply
        for act, body in (("cancel", {}), ("decline", {}), ("extend", {"seconds": 9})):
            assert office.post(f"/api/asks/{id}/{act}", body).status == 409
        over = expired_ask(office)
        for body in (wrong, {"selected_ids": ["a"]}):
            reply = office.post(f"/api/asks/{over}/answer", body, If_Match='"1"')
            assert reply.status == 410 and reply.error["detail"]["status"] == "timeout", reply
        assert office.post(f"/api/asks/{over}/extend", {"seconds": 9}).status == 410
        assert office.whole(over)["answer"] is None
        taken_back = office.ask()
        office.wire("agent").call("ask/withdraw", session_id=taken_back)
        assert office.answer(taken_back).status == 410


@test("asked back over REST: the agent is told immediately, what it explains is read beside the form", "R2.2 R5.1 R10.4")
def ask_back() -> None:
    with Office() as office:
        id = office.ask()
        path = f"/api/asks/{id}/back"
        for body, code in (({}, "missing_property"), ({"text": " "}, "empty_text"), ({"text": 7}, "bad_type"),
                           ({"text": "x" * 2001}, "too_long"), ({"text": "x", "more": 1}, "unknown_property")):
            reply = office.post(path, body)
            assert reply.status == 422 and reply.error["code"] == code, (body, reply)
        assert "talk" not in office.whole(id)
        reply = office.post(path, {"text": "为什么？"})
        assert reply.status == 200 and reply.json["status"] == "pending" and reply.json["version"] == 2, reply
        assert office.whole(id)["ask"]["asked_back"] is True
        agent = office.wire("agent")
        got = agent.call("ask/wait", session_id=id, wait_seconds=0)
        assert (got["action_status"], got["asked_back"]) == ("pending", "为什么？"), got
        assert agent.call("ask/wait", session_id=id, wait_seconds=0, explanation="because")["action_status"] == "pending"
        whole = office.whole(id)
        assert [(said["by"], said["text"]) for said in whole["talk"]] == [("person", "为什么？"), ("agent", "because")], whole
        assert "asked_back" not in whole["ask"]
        assert office.answer(id).status == 200 and office.post(path, {"text": "too late"}).status == 409
        assert agent.call("ask/wait", session_id=id, wait_seconds=5)["action_status"] == "selected"


@test("the agent gets what was sent, with notes, in its own words and by fields", "R10.4 R2.2 R2.3")
def answers() -> None:
    with Office() as office:
        id = office.ask(selection_mode="multi")
        reply = office.post(f"/api/asks/{id}/answer", {
            "selected_ids": ["b", "a"], "option_annotations": {"a": "first"}, "global_annotation": "für alle 全部"})
        assert reply.status == 200, reply
        got = office.wire("agent").call("ask/wait", session_id=id, wait_seconds=5)
        assert got["action_status"] == "selected" and got["explicit"] is True, got
        assert got["selection"]["selected_ids"] == ["a", "b"], got
        assert got["selection"]["option_annotations"] == {"a": "first"}, got
        assert got["selection"]["global_annotation"] == "für alle 全部", got
        assert got["answered_by"]["via"] == "api", got
        whole = office.whole(id)
        assert whole["answer"]["global_annotation"] == "für alle 全部" and whole["result"]["action_status"] == "selected"
        id = office.ask(selection_mode="text_input", options=None)
        assert office.post(f"/api/asks/{id}/answer", {"selected_ids": ["a"]}).status == 422
        assert office.post(f"/api/asks/{id}/answer", {"custom_input": "Heron"}).status == 200
        got = office.wire("agent").call("ask/wait", session_id=id, wait_seconds=5)
        assert got["action_status"] == "custom_input" and got["selection"]["custom_input"] == "Heron", got
        id = office.ask()
        field = office.whole(id)["form"]["fields"][0]["name"]
        assert office.post(f"/api/asks/{id}/answer", {"fields": {field: "b"}}).status == 200
        assert office.whole(id)["answer"]["selected_ids"] == ["b"]
        id = office.ask()
        reply = office.post(f"/api/asks/{id}/cancel", {"global_annotation": "not now"}, Idempotency_Key="c")
        assert reply.status == 200 and reply.json["status"] == "cancelled", reply
        again = office.post(f"/api/asks/{id}/cancel", {"global_annotation": "not now"}, Idempotency_Key="c")
        assert again.status == 200 and again.body == reply.body, again
        got = office.wire("agent").call("ask/wait", session_id=id, wait_seconds=5)
        assert got["action_status"] == "cancelled" and "not now" in json.dumps(got), got
        id = office.ask()
        reply = office.post(f"/api/asks/{id}/decline")
        assert reply.status == 200 and reply.json["status"] == "declined", reply
        id = office.ask(timeout_seconds=60)
        reply = office.post(f"/api/asks/{id}/extend", {"seconds": 3600})
        assert reply.status == 200 and 3590_000 < reply.json["remaining_ms"] <= 3600_000, reply
        assert office.whole(id)["ask"]["remaining_seconds"] > 3590


@test("an answer given elsewhere can be taken back and sent within its undo window", "R10.4 R5.2")
def undo() -> None:
    with Office() as office:
        assert office.home.sayso("settings", "set", "deliver_after", "60").code == 0
        person = office.wire("person", channel="terminal")
        id = office.ask()
        person.call("ask/answer", session_id=id, selected_ids=["a"])
        reply = office.post(f"/api/asks/{id}/undo")
        assert reply.status == 200 and reply.json["status"] == "pending", reply
        assert office.post(f"/api/asks/{id}/undo", {}).status == 409
        assert office.post(f"/api/asks/{id}/send", {}).status == 409
        assert office.post(f"/api/asks/{id}/undo", {}, If_Match='"1"').status == 400
        assert office.whole(id)["draft"]["selected_ids"] == ["a"]
        person.call("ask/answer", session_id=id, selected_ids=["b"])
        reply = office.post(f"/api/asks/{id}/send")
        assert reply.status == 200 and reply.json["status"] == "submitted", reply
        got = office.wire("agent").call("ask/wait", session_id=id, wait_seconds=0)
        assert got["selection"]["selected_ids"] == ["b"], got


@test("what is destructive is not answered here, and the refusal says where; the safe option is", "R10.4 R12.1")
def destructive() -> None:
    with Office() as office:
        id = office.ask(destructive=True)
        assert office.whole(id)["ask"]["destructive"] is True
        reply = office.answer(id, "b")
        assert reply.status == 409 and reply.error["code"] == "wrong_state", reply
        assert f"sayso answer {id[:8]}" in reply.error["message"], reply
        assert office.post(f"/api/asks/{id}/answer", {"selected_ids": ["b"], "code": "123"}).status == 422
        assert office.whole(id)["ask"]["status"] == "pending"
        assert office.answer(id).status == 200  # the safe one


@test("agents' tokens, strangers and pages answer nothing; unknown and malformed ids look alike", "R12.1 R10.4 P12")
def roles() -> None:
    with Office() as office:
        id = office.ask()
        before = office.whole(id)
        paths = [("GET", "/api/asks", None), ("GET", f"/api/asks/{id}", None),
                 *(("POST", f"/api/asks/{id}/{act}", {}) for act in ACTS)]
        for host in HOSTS:
            for method, path, body in paths:
                assert office.call(method, path, body, token="agent", host=host).status == 403, path
                reply = office.call(method, path, body, token=None, host=host)
                assert reply.status == 401 and "www-authenticate" in reply.headers, reply
            for type_ in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
                reply = office.post(f"/api/asks/{id}/answer", b'{"selected_ids":["a"]}', Content_Type=type_, host=host)
                assert reply.status == 415, reply
            for origin in ("http://evil.example", "null", f"http://127.0.0.1:{office.port + 1}"):
                assert office.answer(id, Origin=origin, host=host).status == 403
        for path in ("/api", "/api/openapi.json", "/metrics"):
            assert office.get(path, token=None).status == 401
            assert office.get(path, token="agent").status == 200
        gone = {office.get(f"/api/asks/{one}").body for one in (UNKNOWN_ID, "1", id[:8], id.upper(), "%00", "a" * 200)}
        assert len(gone) <= 2, gone  # a path that is too long or impossible belongs to no route
        bodies = [office.call("GET" if not act else "POST", f"/api/asks/{one}{act}", {} if act else None)
                  for one in (UNKNOWN_ID, id[:8]) for act in ("", "/cancel", "/undo", "/send")]
        assert {reply.status for reply in bodies} == {404} and len({reply.body for reply in bodies}) == 1, bodies
        for method, path in (("DELETE", f"/api/asks/{id}"), ("PUT", f"/api/asks/{id}/answer"), ("POST", "/api/asks"),
                             ("GET", f"/api/asks/{id}/answer")):
            reply = office.call(method, path, None)
            assert reply.status == 405 and reply.headers["allow"], (method, path, reply)
        after = office.whole(id)
        for whole in (before, after):
            whole["ask"].pop("remaining_seconds")
        assert after == before


@test("lists filter by state and agent; a page leads to the next", "R10.4 R9.1")
def lists() -> None:
    with Office() as office:
        ids = [office.ask() for _ in range(5)]
        other = office.wire("agent", **{"as": "deploy bot & co"})
        office.agent = other
        ids.append(office.ask())
        office.answer(ids[0])
        office.post(f"/api/asks/{ids[1]}/cancel")
        def listed(query: str) -> list[str]:
            reply = office.get(f"/api/asks{query}")
            assert reply.status == 200, reply
            return [ask["session_id"] for ask in reply.json["asks"]]
        assert listed("") == listed("?status=all") == ids[::-1]
        assert listed("?status=active") == listed("?status=pending") == ids[:1:-1]
        assert listed("?status=completed") == [ids[1], ids[0]]
        assert listed("?status=submitted") == [ids[0]] and listed("?status=cancelled") == [ids[1]]
        assert listed("?status=timeout") == []
        assert listed("?agent=office") == ids[4::-1] and listed("?agent=nobody") == []
        assert listed("?agent=deploy%20bot%20%26%20co") == listed("?agent=deploy+bot+%26+co") == [ids[5]]
        seen, path = [], "/api/asks?limit=2&agent=office"
        while path:
            page = office.get(path)
            seen += [ask["session_id"] for ask in page.json["asks"]]
            office.ask()  # above the first page: nothing moves below it
            link = page.headers.get("link", "")
            assert bool(link) == ("next" in page.json), page
            path = link[1:link.index(">")] if link else ""
        assert seen == ids[4::-1], seen
        assert office.home.sayso("settings", "set", "list_count", "3").code == 0
        assert len(listed("")) == 3


@test("what is not understood is refused by name, in queries, headers and bodies", "R10.4 R12.1")
def hostile() -> None:
    with Office() as office:
        id = office.ask()
        before = office.whole(id)
        for query, name in (("?foo=1", "foo"), ("?limit=0", "limit"), ("?limit=1001", "limit"), ("?limit=x", "limit"),
                            ("?limit=", "limit"), ("?limit=1&limit=2", "limit"), ("?status=some", "status"),
                            ("?status=", "status"), ("?before=x", "before"), ("?before=1-", "before"),
                            ("?Limit=1", "Limit"), ("?limit=99999999999999999999", "limit"),
                            ("?wait=1", "wait")):
            reply = office.get(f"/api/asks{query}")
            assert reply.status == 400 and reply.error["parameter"] == name, (query, reply)
        for query in ("?%22=1", "?a%20b", "?<x>", "?agent=%ff", "?agent=%00"):
            reply = office.get(f"/api/asks{query}")
            assert reply.status == 400, (query, reply)
        for wait in ("-1", "61", "1.5", "x", "0x1"):
            assert office.get(f"/api/asks/{id}?wait={wait}").error["parameter"] == "wait"
        path = f"/api/asks/{id}/answer"
        good = b'{"selected_ids":["a"]}'
        for etag in ("7", 'W/"1"', '"1', '"1","2"', '"x"', '"99999999999999999999"', ""):
            reply = office.post(path, good, If_Match=etag)
            assert reply.status == 400 and reply.error["parameter"] == "If-Match", (etag, reply)
        for key in ("", "a b", "k" * 129, "\xe4"):
            reply = office.post(path, good, Idempotency_Key=key)
            assert reply.status == 400 and reply.error["parameter"] == "Idempotency-Key", (key, reply)
        deep = b'{"fields":' + b"[" * 70 + b"]" * 70 + b"}"
        for body in (b"{", b"", b"nonsense", good + b"x", b'{"selected_ids":["a"],"selected_ids":["b"]}', deep,
                     b'{"custom_input":"\xff"}', b'{"custom_input":"\\ud800"}', b"\x00" * 50, b'\xef\xbb\xbf{}'):
            reply = office.post(path, body)
            assert reply.status == (422 if body == b"" else 400), (body, reply)
        for body, where in (({}, None), ([], None), ("a", None), (7, None), (None, None),
                            ({"selected_ids": "a"}, "/selected_ids"), ({"selected_ids": [1]}, "/selected_ids/0"),
                            ({"selected_ids": [["a"]]}, "/selected_ids/0"), ({"selected_ids": []}, "/selected_ids"),
                            ({"selected_ids": ["a", "b"]}, "/selected_ids"),
                            ({"selected_ids": ["a\0"]}, "/selected_ids/0"),
                            ({"selected_ids": ["a"], "global_annotation": 7}, "/global_annotation"),
                            ({"selected_ids": ["a"], "global_annotation": "x" * 2001}, "/global_annotation"),
                            ({"selected_ids": ["a"], "option_annotations": []}, "/option_annotations"),
                            ({"selected_ids": ["a"], "session_id": UNKNOWN_ID}, "/session_id"),
                            ({"selected_ids": ["a"], "version": 1}, "/version"),
                            ({"selected_ids": ["a"], "answer_key": "x"}, "/answer_key"),
                            ({"custom_input": "x" * 65537}, "/custom_input"), ({"fields": {"nope": 1}}, None)):
            reply = office.post(path, json.dumps(body).encode())
            assert reply.status == 422 and reply.error["message"], (str(body)[:80], reply)
            if where:
                assert reply.error["path"] == where, (body, reply)
        reply = office.post(path, b'{"custom_input":"' + b"x" * 1048576 + b'"}')
        assert reply.status == 413, reply
        for seconds in (0, -1, 2592001, "5", 1.5, None, [], True):
            reply = office.post(f"/api/asks/{id}/extend", {"seconds": seconds})
            assert reply.status == 422 and reply.error["path"] == "/seconds", (seconds, reply)
        after = office.whole(id)
        for whole in (before, after):
            whole["ask"].pop("remaining_seconds")
        assert after == before
        assert office.answer(id).status == 200


@test("a key belongs to its ask: others may use the same", "R10.4")
def keys() -> None:
    with Office() as office:
        first, second = office.ask(), office.ask()
        assert office.answer(first, "a", Idempotency_Key="1").status == 200
        assert office.answer(second, "b", Idempotency_Key="1").status == 200
        assert office.answer(first, "a", Idempotency_Key="1").status == 200
        assert office.answer(first, "b", Idempotency_Key="1").error["code"] == "conflicting_arguments"
        assert office.answer(first, "b", Idempotency_Key="2").error["code"] == "already_answered"
        reply = office.answer(first, "a")  # the same content again, without a key
        assert reply.status == 200 and reply.headers["idempotency-replayed"] == "true", reply
        longest = office.ask()
        for _ in range(2):
            assert office.answer(longest, "a", Idempotency_Key="k" * 128).status == 200


@test("alive, ready, figures", "R10.4 R12.1")
def figures() -> None:
    with Office() as office:
        for path in ("/healthz", "/readyz"):
            reply = office.get(path, token=None)
            assert reply.status == 200 and reply.json == {"status": "ok"}, reply
            assert office.get(f"{path}?x=1", token=None).status == 400
        ids = [office.ask() for _ in range(3)]
        office.answer(ids[0])
        office.answer(ids[0], "b")
        office.get("/nowhere")
        reply = office.get("/metrics")
        assert reply.status == 200 and reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        text = reply.body.decode()
        values: dict[str, float] = {}
        for line in text.splitlines():
            if line.startswith("#"):
                assert re.match(r"# (HELP|TYPE) sayso_[a-z_]+ \S", line), line
                continue
            match = re.fullmatch(r'(sayso_[a-z_]+(?:\{[a-z]+="(?:[^"\\]|\\.)*"(?:,[a-z]+="(?:[^"\\]|\\.)*")*\})?) '
                                 r"(-?[0-9.]+)", line)
            assert match, line
            values[match[1]] = float(match[2])
        assert values["sayso_asks_pending"] == 2 and values["sayso_asks_created_total"] == 3, text
        assert values['sayso_asks_ended_total{state="submitted"}'] == 1, text
        assert values["sayso_ask_wait_seconds_count"] == 1, text
        answered = 'method="POST",route="/api/asks/{id}/answer",status="'
        assert values[f'sayso_http_requests_total{{{answered}2xx"}}'] == 1, text
        assert values[f'sayso_http_requests_total{{{answered}4xx"}}'] == 1, text
        assert values['sayso_http_requests_total{method="",route="",status="4xx"}'] == 1, text
        assert values["sayso_store_batch_writes_count"] >= 4, text
        assert values["sayso_uptime_seconds"] >= 0 and values["sayso_http_connections"] >= 1, text
        assert 'sayso_build_info{version="' in text
        assert "office" not in text and "Question" not in text  # no words of agents or people


@test("answers in JSON are told what HTTP they are", "R10.4")
def headers() -> None:
    with Office() as office:
        id = office.ask()
        reply = office.get(f"/api/asks/{id}")
        assert reply.headers["content-type"] == "application/json" and reply.headers["etag"] == '"1"', reply
        assert reply.headers["cache-control"] == "no-store" and reply.headers["x-content-type-options"] == "nosniff"
        head = office.call("HEAD", f"/api/asks/{id}")
        assert head.status == 200 and head.body == b"" and head.headers["etag"] == '"1"', head
        for etag, status in (('"1"', 304), ('W/"1"', 304), ('"9", "1"', 304), ("*", 304), ('"9"', 200), ("x", 200)):
            reply = office.get(f"/api/asks/{id}", If_None_Match=etag)
            assert reply.status == status and reply.headers["etag"] == '"1"', (etag, reply)


run()
