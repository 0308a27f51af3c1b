"""WebSocket frames byte for byte: the corpus on both addresses, what RFC 6455 leaves no choice about, slow
and greedy peers beside honest ones, time-outs (R7.2, R12.1; P19; reliability.md D3).
"""
from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import struct
import time
from typing import Any

import harness
from harness import HANG_S, Home, Wire, run, test, wait_until
from web_stage import (BINARY, CLOSE, PING, PONG, TEXT, Closed, Page, code_of, frame, hello, link_of, signed_in,
                       start_hub)
from wire_stage import agent, choice, rss_bytes

CASES = [case for case in json.loads((harness.ROOT / "tests/corpus/http_ws.json").read_text())["cases"]
         if case["kind"] == "ws"]
REQUEST = json.dumps({"jsonrpc": "2.0", "id": "x", "method": "hub/status"}).encode()


def bytes_of(case: dict[str, Any]) -> bytes:
    frames = case["frames_hex"]
    if isinstance(frames, dict):
        return bytes.fromhex(frames["first"]) + bytes.fromhex(frames["repeat"]) * frames["times"]
    return b"".join(bytes.fromhex(one) for one in frames)


def is_still_there(page: Page) -> bool:
    return page.call("hub/status", timeout=HANG_S)["running"]


def run_case(home: Home, token: str, case: dict[str, Any], address: str) -> None:
    wanted = case["expect"]["close_code"]
    codes = wanted if isinstance(wanted, list) else [wanted]
    before = rss_bytes(home)
    with Page(home.hub()["port"], address) as page:
        hello(page, token=token)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # closed before all was sent
            page.send_raw(bytes_of(case))
        if codes == [None]:
            reply = page.read(HANG_S)
            assert reply["error"]["code"] in (-32700, -32600), (case["id"], reply)
            assert is_still_there(page), case["id"]
        else:
            code = page.close_code(HANG_S)
            assert code in codes, (case["id"], code)
    if "max_rss_growth_kb" in case["expect"]:
        assert rss_bytes(home) - before <= case["expect"]["max_rss_growth_kb"] * 1024, case["id"]


@test("every case of frames in the corpus, on both addresses", "R12.1 R7.2 P19")
def corpus(home: Home) -> None:
    start_hub(home)
    with signed_in(home) as (_, token):
        for address in ("127.0.0.1", "::1"):
            for case in CASES:
                run_case(home, token, case, address)
    print(f"# {len(CASES)} cases on two addresses")


# What is sent -> how it is closed; None: it stays, and the next request is answered.
FRAMES: list[tuple[str, bytes, int | None]] = [
    ("ping", frame(PING, b"hi"), None),
    ("ping of 125", frame(PING, b"x" * 125), None),
    ("pong unasked", frame(PONG, b"?"), None),
    ("fragments with a ping between", frame(TEXT, REQUEST[:5], final=False) + frame(PING) + frame(0, REQUEST[5:]), None),
    ("empty fragments", frame(TEXT, b"", final=False) + frame(0, b"", final=False) * 3 + frame(0, REQUEST), None),
    ("masked with a key", frame(TEXT, REQUEST, mask=b"\xde\xad\xbe\xef"), None),
    ("a message of the largest size", frame(TEXT, b" " * (1048576 - len(REQUEST)) + REQUEST), None),
    ("one byte more", frame(TEXT, b" " * 1048577), 1009),
    ("one byte more in fragments", frame(TEXT, b" " * 1048576, final=False) + frame(0, b" "), 1009),
    ("length with the top bit", b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0", 1002),
    ("length of 16 bits for 125", b"\x81\xfe\x00\x7d\0\0\0\0" + b" " * 125, 1002),
    ("length of 64 bits for 65535", b"\x81\xff" + struct.pack(">Q", 65535) + b"\0\0\0\0", 1002),
    ("RSV2", b"\xa1\x80\0\0\0\0", 1002),
    ("RSV3", b"\x91\x80\0\0\0\0", 1002),
    *[(f"opcode {code}", bytes([128 | code, 128]) + b"\0\0\0\0", 1002) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)],
    ("a ping in fragments", frame(PING, b"", final=False), 1002),
    ("a new message within another", frame(TEXT, b"a", final=False) + frame(TEXT, b"b"), 1002),
    ("binary", frame(BINARY, b"x"), 1003),
    ("overlong UTF-8", frame(TEXT, b"\xc0\xaf"), 1007),
    ("a surrogate", frame(TEXT, b"\xed\xa0\x80"), 1007),
    ("above U+10FFFF", frame(TEXT, b"\xf4\x90\x80\x80"), 1007),
    ("UTF-8 cut at the end", frame(TEXT, b"\xe2\x82"), 1007),
    ("UTF-8 wrong in a fragment, before the end", frame(TEXT, b"\xff", final=False), 1007),
    ("close", frame(CLOSE), None),
    ("close 1000", frame(CLOSE, struct.pack(">H", 1000) + b"bye"), 1000),
    ("close 4000", frame(CLOSE, struct.pack(">H", 4000)), 4000),
    ("close with one byte", frame(CLOSE, b"\x03"), 1002),
    *[(f"close {code}", frame(CLOSE, struct.pack(">H", code)), 1002)
      for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)],
    ("close with a reason that is no UTF-8", frame(CLOSE, struct.pack(">H", 1000) + b"\xff"), 1007),
]


@test("what RFC 6455 leaves no choice about", "R12.1 P19")
def frames(home: Home) -> None:
    port = start_hub(home)
    with signed_in(home) as (_, token):
        for name, sent, wanted in FRAMES:
            with Page(port) as page:
                hello(page, token=token)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    page.send_raw(sent)
                if wanted is not None or name == "close":
                    assert page.close_code() == wanted, name
                else:
                    assert is_still_there(page), name
        with Page(port) as page:  # byte by byte is the same
            hello(page, token=token)
            for byte in frame(TEXT, REQUEST, mask=os.urandom(4)):
                page.send_raw(bytes([byte]))
            assert page.read()["id"] == "x"
            page.send_raw(frame(PING, b"here"))
            assert page.read_frame() == (PONG, b"here")
    print(f"# {len(FRAMES)} cases")


@test("a handshake that lacks something is refused, and what was sent ahead of the reply counts", "R12.1")
def handshake(home: Home) -> None:
    port = start_hub(home)
    for headers, origin, wanted in (
            ({"Upgrade": "h2c"}, "", 426), ({"Connection": "keep-alive"}, "", 426),
            ({"Sec-WebSocket-Version": "8"}, "", 426), ({"Sec-WebSocket-Key": "short"}, "", 400),
            ({"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=!"}, "", 400), ({}, None, 403), ({}, "null", 403),
            ({}, f"http://127.0.0.1:{port + 1}", 403), ({}, "http://127.0.0.1", 403),
            ({}, f"https://127.0.0.1:{port}", 403), ({"Sec-Fetch-Site": "cross-site"}, "", 403),
            ({"Sec-Fetch-Site": "same-site"}, "", 403)):
        with Page(port, headers=headers, origin=origin) as page:
            assert page.status == wanted, (headers, origin, page.head)
            assert "access-control" not in page.head.lower() and "set-cookie" not in page.head.lower()
    with Page(port, headers={"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                             "Sec-WebSocket-Extensions": "permessage-deflate", "Sec-WebSocket-Protocol": "chat"}) as page:
        assert page.status == 101 and "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in page.head, page.head
        assert "extensions" not in page.head.lower() and "protocol:" not in page.head.lower(), page.head
    ahead = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "hello", "params": {
        "wire": 1, "role": "person", "code": code_of(link_of(home))}}).encode()
    with socket.create_connection(("127.0.0.1", port), HANG_S) as peer:
        peer.sendall(f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                     f"Origin: http://127.0.0.1:{port}\r\n\r\n".encode() + frame(TEXT, ahead))
        got = b""
        while b'"tab"' not in got:
            part = peer.recv(65536)
            assert part, got
            got += part


@test("who says no hello within 5 s is closed with 1008, whatever else it says", "R12.1")
def silent(home: Home) -> None:
    port = start_hub(home)
    began = time.monotonic()
    with Page(port) as page, Page(port) as other:
        other.send({"jsonrpc": "2.0", "id": 1, "method": "ask/list"})
        assert other.read()["error"]["code"] == -32600
        assert page.close_code(HANG_S) == 1008
        assert time.monotonic() - began > 4.5
        assert other.close_code(HANG_S) == 1008


def fill(home: Home, count: int) -> list[str]:
    """Asks whose summaries are large, each of an agent of its own."""
    ids = []
    for number in range(count):
        with Wire(home) as wire:
            wire.hello("agent", **{"as": f"a{number}"})
            ids.append(wire.call("ask/create", tool="provide_choice", wait_seconds=0,
                                 arguments=choice("t" * 200, timeout_seconds=3600))["session_id"])
    return ids


@test("a page that does not read costs bounded memory, is told to load again, and slows no other", "R7.2 R12.1")
def slow(home: Home) -> None:
    start_hub(home)
    with signed_in(home) as (slow_page, token), Page(home.hub()["port"]) as quick:
        hello(quick, token=token)
        slow_page.call("ask/watch")
        quick.call("ask/watch")
        ask = fill(home, 1)[0]
        before = rss_bytes(home)
        with Wire(home) as person:
            person.hello("person")
            for turn in range(400):  # 20 MB: more than all the kernel keeps for it
                person.call("ask/draft", session_id=ask, draft={"custom_input": f"{turn:05}" * 10000})
                told = quick.wait_event("ask/drafted", timeout=HANG_S)
                assert told["draft"]["custom_input"].startswith(f"{turn:05}"), "a quick page misses nothing"
        assert rss_bytes(home) - before < 16 * 1048576, rss_bytes(home) - before
        slow_page.wait_event("resync", timeout=HANG_S)  # everything it missed is one word
        assert len(slow_page.call("ask/list")["asks"]) == 1


@test("a page that asks for more than it reads is not read from until it does", "R12.1")
def greedy(home: Home) -> None:
    start_hub(home)
    fill(home, 20)
    with signed_in(home) as (page, token), Page(home.hub()["port"]) as honest:
        hello(honest, token=token)
        before = rss_bytes(home)
        for sent in range(0, 10000, 100):  # 140 MB of replies
            page.send_raw(b"".join(frame(TEXT, json.dumps(
                {"jsonrpc": "2.0", "id": sent + i, "method": "ask/list", "params": {}}).encode()) for i in range(100)))
        honest.call("hub/status", timeout=HANG_S)
        assert rss_bytes(home) - before < 32 * 1048576, rss_bytes(home) - before
        replies = [page.read(HANG_S) for _ in range(10000)]  # each once; a far store may read them in another order
        assert sorted(reply["id"] for reply in replies) == list(range(10000))
        refused = [reply["error"] for reply in replies if "error" in reply]
        assert not refused, (len(refused), refused[0])


@test("an idle page costs at most 1 KB beside the kernel's, and no time", "R7.2")
def cheap(home: Home) -> None:
    if "asan" in home.binary or "tsan" in home.binary:
        raise harness.Skip("a sanitizer's memory is its own")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(2000, most - 400)
    start_hub(home)

    def anonymous() -> int:
        for line in open(f"/proc/{home.hub_pid()}/smaps_rollup"):
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no smaps_rollup")

    def cpu_s() -> float:
        fields = open(f"/proc/{home.hub_pid()}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_pages(token: str, many: int) -> list[Page]:
        pages = []
        for _ in range(many):  # one by one: who says nothing for 5 s is closed
            pages.append(page := Page(home.hub()["port"]))
            hello(page, token=token, name="Firefox on Linux")
            page.call("ask/watch", remaining=True)
        return pages

    with signed_in(home) as (_, token):
        first = open_pages(token, 100)  # what is allocated once
        before = anonymous()
        pages = open_pages(token, count)
        each = (anonymous() - before) / count
        assert each <= 1024, each
        before_s = cpu_s()
        time.sleep(3)
        assert cpu_s() - before_s <= 0.05, cpu_s() - before_s
        with agent(home) as bot:
            bot.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("Which?"))
        for page in first + pages:
            page.wait_event("ask/changed", timeout=HANG_S)
            page.stop()
    print(f"# {each:.0f} bytes each")


@test("pages come to an end with their connection: nothing is left of them", "R7.1")
def gone(home: Home) -> None:
    start_hub(home)
    with signed_in(home) as (_, token):
        for _ in range(3):
            pages = [Page(home.hub()["port"]) for _ in range(50)]
            for page in pages:
                hello(page, token=token)
                page.call("ask/watch", remaining=True)
            for number, page in enumerate(pages):
                if number % 3 == 0:  # without a word
                    page.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                elif number % 3 == 1:
                    page.send_raw(frame(CLOSE, struct.pack(">H", 1001)))
                page.stop()

        def peers() -> int:
            from web_stage import get
            text = get(home.hub()["port"], "/metrics", {"Authorization": f"Bearer {token}"})[2].decode()
            return int(text.split("\nsayso_websocket_peers ")[1].split("\n")[0])
        wait_until(lambda: peers() == 1, "only the first page is left")


run()
