"""What two readers could understand differently, sent to the hub itself: one refusal, the end, and
nothing of what hides behind it is looked at.
"""
from __future__ import annotations

import json
import re
import socket

from harness import Home, counted, run, test
from http_cases import LISTENERS, Reply, Site, connect, exchange, request

CHUNKS = "2\r\n{}\r\n0\r\n\r\n"
JSON = "Content-Type: application/json\r\n"
LONGEST_BYTES = 65536

# What stands between the good head lines and the body: headers that end with an empty line, and the
# body that a lax reader would see. `{HIDDEN}` is a whole request that cancels an ask.
MATRIX = {
    "Content-Length and Transfer-Encoding": "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}",
    "Transfer-Encoding and Content-Length": "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n" + CHUNKS + "{HIDDEN}",
    "two Content-Length": "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}\n{HIDDEN}",
    "two Content-Length that agree": "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}{HIDDEN}",
    "Content-Length as a list": "Content-Length: 2, 2\r\n\r\n{}{HIDDEN}",
    "Content-Length: +2": "Content-Length: +2\r\n\r\n{}{HIDDEN}",
    "Content-Length: -1": "Content-Length: -1\r\n\r\n{}{HIDDEN}",
    "Content-Length: 0x2": "Content-Length: 0x2\r\n\r\n{}{HIDDEN}",
    "Content-Length with an end that overflows": "Content-Length: 18446744073709551618\r\n\r\n{}{HIDDEN}",
    "a blank before the colon": "Content-Length : 2\r\n\r\n{}{HIDDEN}",
    "a header that begins with a blank": "X-A: b\r\n Content-Length: 2\r\n\r\n{}{HIDDEN}",
    "the first header begins with a blank": " X-A: b\r\nContent-Length: 2\r\n\r\n{}{HIDDEN}",
    "bare CR, then Transfer-Encoding": "X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}{HIDDEN}",
    "bare CR at a header's end": "Content-Length: 2\r\r\n\r\n{}{HIDDEN}",
    "bare LF": "Content-Length: 2\n\n{}{HIDDEN}",
    "bare LF before the body": "Content-Length: 2\r\n\n{}{HIDDEN}",
    "Transfer-Encoding: xchunked": "Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS + "{HIDDEN}",
    "Transfer-Encoding: chunked, identity": "Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS + "{HIDDEN}",
    "Transfer-Encoding twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS + "{HIDDEN}",
    "Transfer-Encoding behind a vertical tab": "Transfer-Encoding: \vchunked\r\n\r\n" + CHUNKS + "{HIDDEN}",
    "a chunk's size that overflows": "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n{HIDDEN}",
    "a chunk's size with 0x": "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n{HIDDEN}",
    "a chunk that is longer than it says": "Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n{HIDDEN}",
    "a chunk's extension": "Transfer-Encoding: chunked\r\n\r\n2;a=\"\n\"\r\n{}\r\n0\r\n\r\n{HIDDEN}",
    "chunks with bare LF": "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n{HIDDEN}",
    "a trailer": "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n{HIDDEN}",
    "NUL in a header": "X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}{HIDDEN}",
    "two Host": "Host: 127.0.0.1:{PORT}\r\nContent-Length: 2\r\n\r\n{}{HIDDEN}",
    "a header of 64 KiB": f"X-A: {'b' * LONGEST_BYTES}\r\nContent-Length: 2\r\n\r\n{{}}{{HIDDEN}}",
    "1,000 headers": "".join(f"X-{i}: b\r\n" for i in range(1000)) + "Content-Length: 2\r\n\r\n{}{HIDDEN}",
}
WITHOUT_HOST = "no Host"


def hidden(site: Site) -> str:
    return request("POST", f"/api/asks/{site.pending}/cancel", site.port, f"Authorization: Bearer {site.person}", body="{}")


def attack(site: Site, path: str, name: str) -> bytes:
    token = site.agent if path == "/mcp" else site.person
    host = "" if name == WITHOUT_HOST else "Host: 127.0.0.1:{PORT}\r\n"
    rest = MATRIX.get(name, "Content-Length: 2\r\n\r\n{}{HIDDEN}")
    text = (f"POST {path} HTTP/1.1\r\n{host}Authorization: Bearer {token}\r\n{JSON}"
            f"Accept: application/json, text/event-stream\r\n{rest}")
    return text.replace("{PORT}", str(site.port)).replace("{HIDDEN}", hidden(site)).encode("latin-1")


def statuses(received: bytes) -> list[int]:
    """Of every reply that came; no body of ours has a status line in it."""
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]


def expect_refusal(site: Site, listener: str, sent: bytes, where: str, before: list[int] = []) -> None:
    with connect(listener, site.port) as peer:
        reply = exchange(peer, sent, waits_for_close=True)
    found = statuses(reply.everything)
    assert reply.is_closed, f"{where}: still open: {reply}"
    assert found[:-1] == before and len(found) == len(before) + 1, f"{where}: {found}"
    assert 400 <= found[-1] < 500 or found[-1] == 501, f"{where}: {found}"


@test("the smuggling matrix on every listener and path: none is accepted, one reply, closed", "R12.1 R12.2 P12")
def matrix(home: Home) -> None:
    with Site(home) as site:
        site.open_asks()
        before = site.memory()
        tried = 0
        for name in [*MATRIX, WITHOUT_HOST]:
            for listener in LISTENERS:
                for path in ("/mcp", f"/api/asks/{site.pending}/extend"):
                    expect_refusal(site, listener, attack(site, path, name), f"{name}, {path}, {listener}")
                    tried += 1
        assert site.memory() == before, "something behind a refused request was served"
        assert site.is_well()
        counted(f"{tried} smuggled requests refused")


@test("the same behind a good request on one connection, and with every byte a packet of its own", "R12.1 R12.2 P12")
def behind(home: Home) -> None:
    with Site(home) as site:
        site.open_asks()
        before = site.memory()
        good = request("GET", "/healthz", site.port).encode()
        for name in [*MATRIX, WITHOUT_HOST]:
            expect_refusal(site, "127.0.0.1", good + attack(site, "/mcp", name), name, [200])
            if len(attack(site, "/mcp", name)) < LONGEST_BYTES / 8:
                with connect("::1", site.port) as peer:
                    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    reply = exchange_by_bytes(peer, attack(site, "/mcp", name))
                    assert reply.is_closed and len(statuses(reply.everything)) == 1, f"{name}: {reply}"
                    assert reply.status in range(400, 502) and reply.status != 500, f"{name}: {reply}"
        assert site.memory() == before and site.is_well()


def exchange_by_bytes(peer: socket.socket, sent: bytes) -> Reply:
    """The hub may refuse and close before the end; then the rest is not sent."""
    for i in range(len(sent)):
        try:
            peer.send(sent[i:i + 1])
        except OSError:
            break
    return exchange(peer, b"", waits_for_close=True)


@test("a valid chunked body is one request, and what follows is the next: the matrix refuses nothing good", "R12.1 R10.1")
def control(home: Home) -> None:
    with Site(home) as site:
        site.open_asks()
        ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "control", "version": "1"}}})
        chunks = "".join(f"{len(part):x}\r\n{part}\r\n" for part in (ping[:9], ping[9:])) + "0\r\n\r\n"
        head = request("POST", "/mcp", site.port, f"Authorization: Bearer {site.agent}", JSON.strip(),
                       "Accept: application/json, text/event-stream", "Transfer-Encoding: chunked")
        last = hidden(site).replace("HTTP/1.1\r\n", "HTTP/1.1\r\nConnection: close\r\n")
        with connect("127.0.0.1", site.port) as peer:
            reply = exchange(peer, (head + chunks + last).encode(), waits_for_close=True)
        assert statuses(reply.everything) == [200, 200], reply
        assert site.row(site.pending)["status"] == "cancelled", "the request behind it was a good one"


run()
