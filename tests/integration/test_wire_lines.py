"""What peers on the unix socket may send: the hub never dies, answers each request once, others go on.

Proves: R12.1 R12.2 P14
"""
from __future__ import annotations

import contextlib
import copy
import json
import os
import random
import re
import socket
import threading
import time
from typing import Any

import harness
from harness import HANG_S, Home, Wire, WireError, note, run, scaled, side_by_side, test
from wire_stage import (
    MIB, Bystander, agent, choice, hello_line, hub, make_ask, person, request, rss_bytes)

TEST_BIN = os.environ.get("SAYSO_TEST_BIN", harness.CRASH_BIN)  # with sanitizers
LINE_BYTES = 1048576
PARSE_ERROR, INVALID_REQUEST, NO_METHOD = -32700, -32600, -32601
NUMBER_REFUSED, NOT_YOURS = -32001, -32002
AGENT_METHODS = ["ask/create", "ask/wait", "ask/delivered", "ask/withdraw", "ask/detach",
                 "client/cut_off"]
PERSON_METHODS = ["ask/answer", "ask/cancel", "ask/decline", "ask/extend", "ask/undo", "ask/send", "ask/draft", "ask/attach", "ask/hide",
                  "ask/switch", "ask/challenge", "ask/list", "ask/get", "ask/watch", "settings/list",
                  "settings/set", "token/new", "token/list", "token/revoke"]


def is_closed(sock: socket.socket, timeout: float) -> bool:
    """Reads whatever comes until the end; False if there is none in time."""
    deadline = time.monotonic() + timeout
    with contextlib.suppress(ConnectionError):
        while (left := deadline - time.monotonic()) > 0:
            sock.settimeout(left)
            try:
                if not sock.recv(65536):
                    return True
            except TimeoutError:
                return False
        return False
    return True


# Lines -------------------------------------------------------------------------------------------


@test("who does not say hello within 5 s is closed, who does is not", "R12.2 R12.1")
def silent_peers() -> None:
    def closed_after(home: Home, first: bytes, then: bytes = b"", wanted: bool = True, least: float = 4.8) -> float:
        began = time.monotonic()  # before the hub can know of the peer, or a late look here would shorten its time
        with Wire(home) as wire:
            wire.socket.sendall(first)
            while time.monotonic() - began < (HANG_S if wanted else 9):
                if is_closed(wire.socket, 0.5):
                    break
                with contextlib.suppress(OSError):
                    wire.socket.sendall(then)
            took = time.monotonic() - began
            assert (took < HANG_S if wanted else took >= 9), (first[:40], took)
            assert not wanted or least <= took, (first[:40], took)
            return took

    def closed_at_once(home: Home, *lines: bytes) -> None:
        """Before those that are waited for; on a busy machine in one of several tries."""
        assert any(closed_after(home, *lines, least=0) < 4.5 for _ in range(5)), lines

    with hub() as home:
        side_by_side(
            lambda: closed_after(home, b""),
            lambda: closed_after(home, b'{"jsonrpc"'),
            lambda: closed_at_once(home, b"", b"x"),  # no JSON begins so
            lambda: closed_at_once(home, b"garbage\n", b"garbage\n"),
            lambda: closed_after(home, b"\n", b"garbage\n"),
            lambda: closed_after(home, request(1, "ask/list"), request(2, "ask/list")),
            lambda: closed_after(home, hello_line().replace(b'"wire": 1', b'"wire": 99')),
            lambda: closed_after(home, hello_line(), wanted=False),
            lambda: closed_after(home, hello_line("agent"), wanted=False))


DEEP = 100_000
BAD_LINES: list[tuple[bytes, int]] = [
    (b"garbage", PARSE_ERROR), (b"{", PARSE_ERROR), (b"}", PARSE_ERROR), (b'{"jsonrpc":"2.0"', PARSE_ERROR),
    (b"\x00", PARSE_ERROR), (b"\x00\x01\x02\x03\x7f", PARSE_ERROR), (b'{"id":1}\x00', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub\x00status"}', PARSE_ERROR),
    (b"\xff\xfe\xfd", PARSE_ERROR), (b'{"jsonrpc":"2.0","id":"\xff","method":"hub/status"}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":"\xc0\x80","method":"hub/status"}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"hub/status"}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":"\\ud800","method":"hub/status"}', PARSE_ERROR),
    (b'\xef\xbb\xbf\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"hub/status"}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"hub/status"}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status"}{}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":{"x":1e999,}}', PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":' + b"9" * 400 + b',"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":{"\\u0000":1}}', PARSE_ERROR),
    (b"[" * DEEP, PARSE_ERROR), (b"[" * DEEP + b"]" * DEEP, PARSE_ERROR), (b'{"a":' * DEEP + b"1", PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":{"x":' + b"[" * 100 + b"]" * 100 + b"}}",
     PARSE_ERROR),
    (b"GET / HTTP/1.1", PARSE_ERROR), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", PARSE_ERROR),
    (b"null", INVALID_REQUEST), (b"true", INVALID_REQUEST), (b"1", INVALID_REQUEST), (b'"text"', INVALID_REQUEST),
    (b"[]", INVALID_REQUEST), (b"{}", INVALID_REQUEST),
    (b'[{"jsonrpc":"2.0","id":1,"method":"hub/status"}]', INVALID_REQUEST),
    (b'[{"jsonrpc":"2.0","id":1,"method":"hub/status"},{"jsonrpc":"2.0","id":2,"method":"hub/stop"}]',
     INVALID_REQUEST),
    (b'{"id":1,"method":"hub/status"}', INVALID_REQUEST), (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST),
    (b'{"jsonrpc":"1.0","id":1,"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":2,"id":1,"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":[1],"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":true,"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":null,"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"hub/status"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":[]}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":"x"}', INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":"hub/status","params":7}', INVALID_REQUEST),
]


@test("garbage, binary, bad UTF-8, depth, batches: one error each and the next line is understood",
      "R12.2 P14")
def bad_lines() -> None:
    def expect(binary: str) -> None:
        with hub(binary) as home, person(home) as wire:
            for line, wanted in BAD_LINES:
                wire.send(line)
                reply = wire.read()
                assert reply["id"] in (None, 1, 1.5, int("9" * 400)), (line[:80], reply)
                assert reply["error"]["code"] == wanted, (line[:80], reply)
                assert reply["id"] == 1 or not re.match(rb'{.{0,20}"id":1,"me', line), (line[:80], reply)
                assert "result" not in reply and reply["error"]["message"], reply
                assert wire.call("hub/status")["running"], line[:80]
            wire.send(b"\n\n\n\r")  # empty lines are nothing; a carriage return is a blank
            assert wire.read()["error"]["code"] == PARSE_ERROR
            wire.send(request(7, "hub/status").rstrip() + b"\r")
            assert wire.read()["id"] == 7
            everything = b"\n".join(line for line, _ in BAD_LINES)
            wire.send(everything)
            codes = [wire.read()["error"]["code"] for _ in BAD_LINES]
            assert codes == [wanted for _, wanted in BAD_LINES]
            assert wire.call("hub/status")["running"]

    side_by_side(lambda: expect(harness.BIN),
                 *([lambda: expect(TEST_BIN)] if os.path.exists(TEST_BIN) else []))


@test("a line of 1 MiB is read, one byte more is refused once and the stream stays in step", "R12.2")
def long_lines() -> None:
    with hub() as home, person(home) as wire:
        def padded(size: int, number: int) -> bytes:
            line = request(number, "hub/status", pad="")[:-1]
            return line.replace(b'"pad": ""', b'"pad": "' + b"x" * (size - len(line)) + b'"')
        assert len(padded(LINE_BYTES, 1)) == LINE_BYTES
        sizes = [LINE_BYTES - 1, LINE_BYTES, LINE_BYTES + 1, LINE_BYTES + 2, 2 * LINE_BYTES, 65536, 65537, 131072,
                 10 * LINE_BYTES, LINE_BYTES + 65536]
        for number, size in enumerate(sizes):
            wire.send(padded(size, number))
            wire.send(request("after", "hub/status").strip())
            reply = wire.read()
            if size <= LINE_BYTES:
                assert reply["id"] == number and "result" in reply, (size, str(reply)[:200])
            else:
                assert reply["id"] == number and reply["error"]["code"] == INVALID_REQUEST, (size, reply)
            after = wire.read()
            assert after["id"] == "after" and "result" in after, (size, after)
        before = rss_bytes(home)
        with Wire(home) as endless, Bystander(home):  # a line that never ends is not kept
            endless.socket.sendall(hello_line())
            endless.read()
            for _ in range(64):
                endless.socket.sendall(b"y" * MIB)
            assert endless.read()["error"]["code"] == INVALID_REQUEST
            assert rss_bytes(home) - before < 8 * MIB, rss_bytes(home) - before


@test("requests cut anywhere, one byte at a time, or many in one piece are all understood", "R12.2")
def cut_lines() -> None:
    with hub() as home:
        with Wire(home) as slow:
            for byte in hello_line() + request(1, "hub/status"):
                slow.socket.sendall(bytes([byte]))
            assert slow.read()["id"] == "hello" and slow.read()["id"] == 1
        chance = random.Random(3)
        everything = hello_line() + b"".join(request(i, "hub/status", pad="é" * chance.randrange(200))
                                             for i in range(500))
        for most in (3, 100, 5000, 200_000):
            with Wire(home) as wire:
                at = 0
                while at < len(everything):
                    size = chance.randrange(1, most + 1)
                    wire.socket.sendall(everything[at:at + size])
                    at += size
                assert [wire.read()["id"] for _ in range(501)] == ["hello", *range(500)], most
        with Wire(home) as half:  # gone in the middle of a line
            half.socket.sendall(hello_line() + request(1, "hub/stop")[:-2])
        with person(home) as wire:
            assert wire.call("hub/status")["running"]


# Requests ----------------------------------------------------------------------------------------


@test("10,000 requests in one go get 10,000 replies, each id once and as it was", "R12.2")
def pipelined() -> None:
    def id_of(number: int) -> int | str:
        kinds = (number, str(number), f'"{number}"\\ é\u2028\U0001f600', -number - 1, 2**53 + number)
        return kinds[number % len(kinds)]

    with hub() as home:
        make_ask(home, "one")
        with person(home) as wire, Bystander(home):
            count = scaled(10_000)
            methods = ("hub/status", "ask/list", "ask/get", "nothing", "ask/create", "settings/list")
            lines = b"".join(request(id_of(i), methods[i % len(methods)]) for i in range(count))
            sender = threading.Thread(target=wire.socket.sendall, args=(lines,))
            wire.socket.settimeout(60)
            sender.start()
            seen: dict[tuple[type, Any], int] = {}
            while sum(seen.values()) < count:
                if b"\n" not in wire.unread:
                    wire.unread += wire.socket.recv(MIB)
                    continue
                whole, _, wire.unread = wire.unread.rpartition(b"\n")
                for line in whole.split(b"\n"):
                    number = json.loads(line)["id"]
                    seen[type(number), number] = seen.get((type(number), number), 0) + 1
            sender.join()
            assert seen == {(type(id_of(i)), id_of(i)): 1 for i in range(count)}
            wire.socket.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                raise AssertionError(f"one reply too many: {wire.socket.recv(200)!r}")


@test("an ask that is listed has its time left, from the first moment on", "R10.3")
def time_left() -> None:
    limits = {"SAYSO_ASKS_PER_MINUTE": "100000", "SAYSO_MAX_PENDING": "1000"}
    with hub(env=limits) as home, agent(home) as asker, person(home) as wire:
        for number in range(200):
            asker.start("ask/create", tool="provide_choice", arguments=choice(f"{number}", timeout_seconds=300))
            listed: list[Any] = []
            while not listed or listed[0]["title"] != f"{number}":
                listed = wire.call("ask/list", limit=1)["asks"]
            assert 290 < (listed[0]["remaining_seconds"] or 0) <= 300, (number, listed[0])


@test("the same id many times over gets as many replies; a notification gets none", "R12.2")
def ids() -> None:
    with hub() as home, person(home) as wire:
        wire.socket.sendall(request(5, "hub/status") * 50)
        assert [wire.read()["id"] for _ in range(50)] == [5] * 50
        wire.socket.sendall(request(1, "hub/status") + request("1", "hub/status") + request("", "hub/status"))
        assert [wire.read()["id"] for _ in range(3)] == [1, "1", ""]
        for method in ("ask/list", "ask/get", "settings/set", "hub/status", "nothing", "ask/create", "hello"):
            wire.send({"jsonrpc": "2.0", "method": method, "params": {}})
        wire.send({"jsonrpc": "2.0", "id": 3, "result": {}})  # a response to no request
        wire.send({"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "x"}})
        assert wire.call("hub/status")["running"]
        assert wire.events == [], f"replies to notifications: {wire.events}"


def error_code(peer: Wire, method: str, /, **params: Any) -> int | None:
    try:
        peer.call(method, **params)
    except WireError as problem:
        return problem.code
    return None


@test("each method is for its role alone; hello binds the role once and for good", "R12.1")
def roles() -> None:
    with hub() as home:
        ask = make_ask(home, "guarded")
        with Wire(home) as nobody:
            for method in [*AGENT_METHODS, *PERSON_METHODS, "hub/status", "hub/stop", "nothing"]:
                assert error_code(nobody, method, session_id=ask) == INVALID_REQUEST, method
        answer = {"session_id": ask, "selected_ids": ["a"], "seconds": 5, "interface": "web", "draft": {},
                  "name": "typing_hold", "value": "off"}
        with agent(home, "guarded") as wire:
            for method in [*PERSON_METHODS, "hub/stop"]:
                assert error_code(wire, method, **answer) == NOT_YOURS, method
            for method in ("nothing", "ask", "ask/", "hub/stopp", "", "x" * 100_000, "ask/list\n", "ASK/LIST"):
                assert error_code(wire, method) == NO_METHOD, method[:20]
            assert wire.call("hub/status")["running"]
            assert error_code(wire, "hello", wire=1, role="person", version="x") == INVALID_REQUEST
            assert error_code(wire, "ask/list") == NOT_YOURS, "the second hello changed the role"
            pending = wire.call("ask/wait", session_id=ask, wait_seconds=0)
            assert pending["action_status"] == "pending", pending
        with person(home) as wire:
            for method in AGENT_METHODS:
                params = {"session_id": ask, "tool": "provide_choice", "arguments": choice("x"),
                          "session_ids": [ask]}
                assert error_code(wire, method, **params) == NOT_YOURS, method
            assert error_code(wire, "hello", wire=1, role="agent", version="x") == INVALID_REQUEST
            assert error_code(wire, "ask/create", tool="provide_choice", arguments=choice("x")) == NOT_YOURS
            rows = wire.call("ask/list")["asks"]
            assert [row["status"] for row in rows] == ["pending"], rows
            assert all(row["source"] != "saved" for row in wire.call("settings/list").get("settings", [])
                       if "source" in row), "an agent changed a setting"


@test("a bad hello is refused with its reason and may be said again", "R12.1 R12.2")
def bad_hellos() -> None:
    good = {"wire": 1, "version": "x", "role": "agent"}
    cases: list[tuple[dict[str, Any], int]] = [
        *(({**good, "wire": wire}, NUMBER_REFUSED) for wire in (-1, 0, 2, 3, 99, 2**62, "1", 1.5, None, [], True)),
        ({"version": "x", "role": "agent"}, NUMBER_REFUSED), ({}, NUMBER_REFUSED),
        *(({**good, "role": role}, -32602) for role in ("", "hub", "Agent", "agent ", 1, None, [], {})),
        ({"wire": 1}, -32602),
        *(({**good, "role": "person", "channel": channel}, -32602)
          for channel in ("web", "api", "client", "", "CLI")),
        ({**good, "name": "n" * 201}, -32602), ({**good, "as": "n" * 201}, -32602),
        ({**good, "directory": "/" + "d" * 5000}, -32602),
        ({**good, "as": "bot\0evil"}, -32602), ({**good, "name": "bot\0evil"}, -32602),
        ({**good, "client_version": "1" * 201}, -32602),
        *(({**good, "transport": transport}, -32602) for transport in ("", "stdio\n", "STDIO", "s" * 17, "a b")),
        ({**good, "directory": "/home\0/evil"}, -32602), ({**good, "role": "agent\0x"}, -32602),
    ]
    with hub() as home:
        problems = []
        for params, wanted in cases:
            with Wire(home) as wire:
                try:
                    wire.call("hello", **params)
                    problems.append(f"accepted: {str(params)[:100]}")
                    continue
                except WireError as problem:
                    if problem.code != wanted:
                        problems.append(f"{problem.code} instead of {wanted}: {str(params)[:100]}")
                    if wanted == NUMBER_REFUSED and (problem.data or {}).get("wire") != 1:
                        problems.append(f"does not tell its own number: {problem.data}")
                assert wire.hello("agent")["role"] == "agent", params
        assert not problems, "\n".join(problems)
        with Wire(home) as wire:  # unknown members are ignored
            assert wire.hello("person", future={"a": [1]}, token="t")["wire"] == 1


def random_value(chance: random.Random, known: list[Any], depth: int = 0) -> Any:
    pick = chance.randrange(16 if depth < 3 else 12)
    if pick < 3 and known:
        return copy.deepcopy(chance.choice(known))
    simple = [None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -2**63, 0.5, -1e300, "", "a", "auto", "x" * 300,
              "nul\0inside", "\u202e\u200b\U000e0041", "é" * 70, "all", "2592000", [], {}]
    if pick < 12:
        return chance.choice(simple)
    if pick < 14:
        return [random_value(chance, known, depth + 1) for _ in range(chance.randrange(6))]
    names = ["session_id", "tool", "arguments", "title", "options", "id", "label", "a", "", "selected_ids",
             "fields", "custom_input", "global_annotation"]
    return {chance.choice(names): random_value(chance, known, depth + 1) for _ in range(chance.randrange(6))}


MEMBERS = ["session_id", "session_ids", "tool", "arguments", "wait_seconds", "tag", "selected_ids", "custom_input",
           "fields", "option_annotations", "global_annotation", "version", "answer_key", "code", "seconds", "draft",
           "interface", "which", "limit", "before_ms", "name", "value"]


def send_random(wire: Wire, chance: random.Random, methods: list[str], known: list[Any], count: int) -> list[int]:
    calls = []
    for _ in range(count):
        wire.last_id += 1
        names = chance.sample(MEMBERS, chance.randrange(7))
        params = {name: random_value(chance, known) for name in names}
        if chance.random() < 0.5 and known:
            params["session_id"] = chance.choice([value for value in known if isinstance(value, str)])
        message = {"jsonrpc": "2.0", "id": wire.last_id, "method": chance.choice(methods), "params": params}
        wire.send(message)
        calls.append(wire.last_id)
    return calls


def collect(wire: Wire, calls: list[int], seen: dict[int, int], timeout: float) -> None:
    """Reads what comes until every call has its reply or nothing came for so long."""
    with contextlib.suppress(TimeoutError):
        while not all(call in seen for call in calls):
            message = wire.read(timeout)
            if "method" not in message:
                assert message["id"] is not None, message
                assert ("result" in message) != ("error" in message), message
                seen[message["id"]] = seen.get(message["id"], 0) + 1


@test("3,000 calls with random parameters: each gets one reply, the hub lives, others go on", "R12.2 P14")
def random_calls() -> None:
    seed = int(os.environ.get("SAYSO_SEED", "20"))
    binary = TEST_BIN if os.path.exists(TEST_BIN) else harness.BIN
    env = {"SAYSO_ASKS_PER_MINUTE": "1000000", "SAYSO_MAX_PENDING": "1000000"}
    with hub(binary, env) as home:
        known: list[Any] = [make_ask(home, f"known {i}", timeout_seconds=3600) for i in range(6)]
        known += ["provide_choice", choice("again"), {"session_id": known[0]}, ["a"], {"custom_input": "x"},
                  {"selection": "a"}, known[0][:4], "typing_hold", "off", "web", "language"]
        chance = random.Random(seed)
        total, ends = scaled(3000), []
        with Bystander(home), contextlib.ExitStack() as stack:
            lanes = [(stack.enter_context(agent(home, "lane")), AGENT_METHODS + ["hub/status", "nothing"]),
                     (stack.enter_context(person(home)), PERSON_METHODS + ["hub/status", "nothing"]),
                     (stack.enter_context(person(home, channel="terminal")), PERSON_METHODS)]
            for wire, methods in lanes:
                seen: dict[int, int] = {}
                calls: list[int] = []
                while len(calls) < total // len(lanes):
                    calls += send_random(wire, chance, methods, known, 50)
                    collect(wire, calls, seen, 0.05)
                ends.append((wire, calls, seen))
            with person(home) as closer:  # what is parked ends with its ask
                for row in closer.call("ask/list", which="active", limit=10000)["asks"]:
                    with contextlib.suppress(WireError):
                        closer.call("ask/cancel", session_id=row["session_id"])
                assert closer.call("ask/list", which="active")["asks"] == []
            for wire, calls, seen in ends:
                collect(wire, calls, seen, HANG_S)
                missing = [call for call in calls if call not in seen]
                assert not missing, f"{len(missing)} of {len(calls)} calls got no reply (seed {seed})"
                assert set(seen) >= set(calls) and max(seen.values()) == 1, "more than one reply"
        note(f"{sum(len(calls) for _, calls, _ in ends):,} calls, seed {seed}")


run()
