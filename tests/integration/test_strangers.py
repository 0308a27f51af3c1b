"""Before authentication: what 1,000 peers without a token cost in each state of the protocols, and that a person with a
token is served beside them. Memory, processor time and descriptors have fixed limits.

Proves: R12.1 R12.2 P20
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import select
import socket
import ssl
import time
from typing import Callable, Iterator

from api import Office
from far_stage import Far
from harness import HANG_S, Home, Skip, note, run, test, wait_until
from web_stage import PING, TEXT, frame

STRANGERS = 1000
SPARE_FILES = 16  # of the hub, beside one a stranger: the person's own, and files of the store
PER_ADDRESS = 256
BEHIND_TLS = 512
TLS_STRANGERS = 400  # all find a place
HELLO_S = 5
MIB = 1024 * 1024


class Costs:
    """What a process takes more than now: its peak of memory so far, processor time and descriptors."""

    def __init__(self, pid: int):
        self.proc = pathlib.Path(f"/proc/{pid}")
        (self.proc / "clear_refs").write_text("5")  # its start was a peak, too
        self.memory, self.files = self.peak(), self.file_count()

    def peak(self) -> int:
        return int(re.search(r"VmHWM:\s+(\d+)", (self.proc / "status").read_text())[1]) * 1024

    def cpu(self) -> float:
        fields = (self.proc / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def file_count(self) -> int:
        return len(os.listdir(self.proc / "fd"))


def at_port(port: int) -> list[int]:
    """Of each connection to this port of ours: how many bytes its server has not read."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return [int(row[4].partition(":")[2], 16) for row in rows
            if int(row[1].partition(":")[2], 16) == port and row[3] in ("01", "08")]


def wait_read(port: int) -> None:
    wait_until(lambda: not any(at_port(port)), "the hub to read everything", HANG_S)


@dataclasses.dataclass
class State:
    """`says` is sent by each; `then` behind the reply to it. `gets`: what the last of them hear, b"" for nothing. Who does
    not read has so little room that the kernel does not take the replies for it."""
    name: str
    says: bytes
    most_mib: int
    most_cpu_s: float
    then: bytes = b""
    gets: bytes = b""
    reads: bool = True


def handshake(port: int) -> bytes:
    return (f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()


def tls_handshake(port: int) -> bytes:
    return handshake(port).replace(b"127.0.0.1", b"localhost").replace(b"http://", b"https://")


def plain_states(port: int) -> list[State]:
    """Those that may take most are to come last: what the hub has from one is there for the next."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    body = (f"POST /mcp HTTP/1.1\r\n{host}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "Content-Length: 1000000\r\n\r\n").encode()
    head = f"GET /api/asks HTTP/1.1\r\n{host}".encode()
    # of 1 MiB in one frame, as far as its head; and 4 KiB less a few bytes of a message that is never finished
    long_frame = b"\x81\xff" + MIB.to_bytes(8, "big") + bytes(4) + b"a" * 60000
    part = frame(TEXT, b"a" * 4000, final=False)
    upgrade = handshake(port)
    return [
        State("silent", b"", 4, 1),
        State("WebSocket upgrade", upgrade[:-2], 8, 2),
        State("WebSocket, silent", upgrade, 8, 2, gets=b" 101 "),
        State("WebSocket frame, long", upgrade, 8, 3, then=long_frame, gets=b"before hello a message has at most 4096 bytes"),
        State("HTTP body, no token", body.replace(b"/mcp", b"/api/asks/x/answer") + b"a" * 60000, 8, 2, gets=b" 401 "),
        State("WebSocket frames, unfinished", upgrade, 16, 3, then=part),
        State("HTTP head", head + b"X: " + b"a" * 31000, 64, 2),
        State("HTTP body, none needed", body + b"a" * 60000, 64, 3, gets=b" 503 "),
    ]


def unread_states(host: str, upgrade: bytes, more_mib: int = 0) -> list[State]:
    """What comes back is left unread; `more_mib` for what the connections need themselves."""
    return [
        State("WebSocket, not JSON, unread", upgrade, more_mib + 16, 5, then=frame(TEXT, b"x") * 4000, reads=False),
        State("WebSocket, pings, pongs unread", upgrade, more_mib + 16, 5, then=frame(PING) * 10000, reads=False),
        State("HTTP reply, unread", f"GET /?inline=1 HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(), more_mib + 48, 3, reads=False),
    ]


def tls_states() -> list[State]:
    """A record of 16,000 bytes with a hello in it, and what comes of it."""
    hello = b"\x16\x03\x01\x3e\x80\x01\x00\x3e\x7c\x03\x03" + bytes(range(32))
    return [
        State("TLS, silent", b"", 40, 2),
        State("TLS, nonsense", b"GET / HTTP/1.0\r\n\r\n", 40, 2),
        State("TLS hello, half", hello + b"a" * 15000, 64, 3),
    ]


def may_open_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        if hard != resource.RLIM_INFINITY and hard < count:
            raise Skip(f"this machine lets a process have {hard} descriptors, {count} are needed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def hear(peer: socket.socket, wanted: bytes) -> bytes:
    """What comes until that is in it, or the end."""
    heard = b""
    peer.settimeout(HANG_S)
    with contextlib.suppress(ConnectionError):
        while wanted not in heard and (part := peer.recv(65536)):
            heard += part
    return heard


def say(peer: socket.socket, data: bytes) -> None:
    with contextlib.suppress(ConnectionError, BlockingIOError, ssl.SSLError):  # refused, or more than the hub reads
        while data:
            data = data[peer.send(data):]


def connect(port: int, reads: bool, context: ssl.SSLContext | None) -> socket.socket:
    peer = socket.socket()
    peer.settimeout(HANG_S)
    if not reads:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    peer.connect(("127.0.0.1", port))
    return context.wrap_socket(peer, server_hostname="localhost") if context else peer


@contextlib.contextmanager
def crowd(port: int, state: State, count: int, context: ssl.SSLContext | None) -> Iterator[list[socket.socket]]:
    peers: list[socket.socket] = []
    try:
        for _ in range(count):
            peers.append(connect(port, state.reads, context))
            peers[-1].setblocking(False)
            say(peers[-1], state.says)
        if state.then:
            for peer in peers:
                hear(peer, b"\r\n\r\n")
                peer.setblocking(False)
                say(peer, state.then)
        wait_read(port)
        yield peers
    finally:
        for peer in peers:
            peer.close()


def check(state: State, costs: Costs, port: int, is_served: Callable[[], None], count: int = STRANGERS,
          context: ssl.SSLContext | None = None) -> None:
    before_s = costs.cpu()
    with crowd(port, state, count, context) as peers:
        is_served()
        if state.gets:
            heard = hear(peers[-1], state.gets)
            assert state.gets in heard, f"{state.name}: the last stranger was told {heard[-300:]!r}"
        files = costs.file_count() - costs.files
    grown, cpu_s = (costs.peak() - costs.memory) / MIB, costs.cpu() - before_s
    note(f"{state.name}: {grown:.1f} MiB, {cpu_s:.2f} s of a processor, {files} descriptors")
    assert grown <= state.most_mib, f"{state.name}: {grown:.1f} MiB, {state.most_mib} are allowed"
    assert cpu_s <= state.most_cpu_s, f"{state.name}: {cpu_s:.2f} s, {state.most_cpu_s} are allowed"
    assert files <= STRANGERS + SPARE_FILES, f"{state.name}: {files} descriptors"
    wait_until(lambda: costs.file_count() <= costs.files + SPARE_FILES, f"{state.name}: the descriptors to be closed", HANG_S)


@test("1,000 strangers in any state of HTTP and WebSocket cost little, and a person is served beside them", "R12.1 R12.2 P20")
def plain() -> None:
    may_open_files(STRANGERS + 200)
    with Office({"SAYSO_MCP_AUTH": "none", "SAYSO_DELIVER_AFTER": "0"}) as office:
        def answers() -> None:
            reply = office.answer(office.ask())
            assert reply.status == 200, reply

        answers()
        costs = Costs(office.home.hub_pid())
        states = plain_states(office.port) + unread_states(f"127.0.0.1:{office.port}", handshake(office.port))
        for state in sorted(states, key=lambda state: state.most_mib):
            check(state, costs, office.port, answers)


@contextlib.contextmanager
def served_far() -> Iterator[tuple[Far, Costs, Callable[[], None]]]:
    """A hub behind TLS, what it costs from now on, and a look whether a person is served."""
    may_open_files(STRANGERS + 200)
    with Far() as far:
        def is_served() -> None:
            reply = far.call("GET", "/api/asks", token="person")
            assert reply.status == 200, reply

        is_served()
        yield far, Costs(far.home.hub_pid()), is_served


@test("1,000 strangers in any state of a TLS handshake cost little, and a person is served beside them", "R12.1 R12.2 P20")
def behind_tls() -> None:
    with served_far() as (far, costs, is_served):
        for state in tls_states():
            check(state, costs, far.port, is_served)


@test("strangers behind TLS that leave what comes back unread cost little, and a person is served beside them", "R12.1 R12.2 P20")
def unread_behind_tls() -> None:
    with served_far() as (far, costs, is_served):
        for state in unread_states(f"localhost:{far.port}", tls_handshake(far.port), 32):
            check(state, costs, far.port, is_served, TLS_STRANGERS, far.context())


@test("WebSockets behind TLS without a hello are as few as connections without a token: the oldest make room", "R12.1 P20")
def sockets_behind_tls() -> None:
    may_open_files(BEHIND_TLS + 400)
    with Far() as far, contextlib.ExitStack() as opened:
        upgrade = tls_handshake(far.port)
        trusting = far.context()
        peers, began = [], time.monotonic()
        for _ in range(BEHIND_TLS + 100):
            plain = opened.enter_context(socket.create_connection(("127.0.0.1", far.port), HANG_S))
            peers.append(opened.enter_context(trusting.wrap_socket(plain, server_hostname="localhost")))
            peers[-1].sendall(upgrade)
        assert all(b" 101 " in hear(peer, b"\r\n\r\n") for peer in peers)
        assert far.call("GET", "/api/asks", token="person").status == 200  # by now the hub has done what came before
        told = select.select(peers, [], [], 0)[0]
        if time.monotonic() - began > HELLO_S:
            raise Skip("too busy here to open them all before the first one's time is over")
        assert len(told) >= 100 and peers[-1] not in told, f"{len(told)} were told to go"


class Wide(Far):
    """At every address of this machine."""

    def serve(self, *more: str) -> None:
        super().serve("--listen", f"0.0.0.0:{self.port}", *more)


def own_address() -> str:
    """One of this machine's that is not loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # nothing is sent
        if not probe.getsockname()[0].startswith("127."):
            return probe.getsockname()[0]
    raise Skip("this machine has no address but loopback")


@test("one address of another machine has 256 connections without a token; who shows one leaves its place", "R12.1")
def one_address() -> None:
    address = own_address()
    may_open_files(PER_ADDRESS + 200)
    with Wide() as far, contextlib.ExitStack() as opened:
        def arrive() -> socket.socket:
            return opened.enter_context(socket.create_connection((address, far.port), HANG_S))

        trusting = far.context()
        trusting.check_hostname = False
        known = trusting.wrap_socket(arrive())
        known.sendall(f"GET /api/asks HTTP/1.1\r\nHost: {address}:{far.port}\r\n"
                      f"Authorization: Bearer {far.tokens['person']}\r\n\r\n".encode())
        assert b" 200 " in hear(known, b"\r\n\r\n")
        strangers = [trusting.wrap_socket(arrive()) for _ in range(PER_ADDRESS)]
        assert not can_shake_hands(trusting, address, far.port), "one more is closed"
        known.sendall(f"GET /api/asks HTTP/1.1\r\nHost: {address}:{far.port}\r\n"
                      f"Authorization: Bearer {far.tokens['person']}\r\n\r\n".encode())
        assert b" 200 " in hear(known, b"\r\n\r\n"), "who is known goes on"
        assert far.call("GET", "/api/asks", token="person").status == 200, "and so does loopback"
        strangers.pop().close()
        wait_until(lambda: can_shake_hands(trusting, address, far.port), "a place to be free again", HANG_S)


def can_shake_hands(context: ssl.SSLContext, address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), HANG_S) as plain, context.wrap_socket(plain):
            return True
    except (ssl.SSLError, ConnectionError):
        return False


run()
