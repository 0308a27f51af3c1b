"""What peers on the unix socket may take: memory, time and connections are bounded, others go on.

Proves: R12.2
"""
from __future__ import annotations

import contextlib
import copy
import json
import os
import pathlib
import random
import resource
import select
import socket
import threading
import time
from typing import Callable

from harness import Home, Wire, note, run, scaled, side_by_side, test, wait_until
from wire_stage import (
    MIB, Bystander, agent, choice, hello_line, hub, make_ask, person, request, rss_bytes)


def cpu_seconds(home: Home) -> float:
    fields = pathlib.Path(f"/proc/{home.hub_pid()}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def push_until_stuck(wire: Wire, line: bytes, most: int, patience_s: float = 1) -> int:
    """Sends without ever reading; returns how many lines went through."""
    wire.socket.setblocking(False)
    chunk, sent = line * 1000, 0
    while sent < most * len(line):
        _, ready, _ = select.select([], [wire.socket], [], patience_s)
        if not ready:
            break
        sent += wire.socket.send(chunk[sent % len(line):])
    return sent // len(line)


@test("a peer that asks and never reads costs bounded memory and delays no other peer", "R12.2")
def never_reading() -> None:
    previews = [{"id": f"o{i}", "label": f"Option {i}", "recommended": i == 0, "preview": "p" * 60000}
                for i in range(4)]
    cases = [("ask/list", {}), ("ask/get", {"session_id": True}), ("settings/list", {}), ("nothing", {})]
    grown = {}
    for method, params in cases:
        with hub() as home:
            ask = make_ask(home, "large", options=previews)
            for i in range(30):
                make_ask(home, f"small {i}")
            params = {**params, "session_id": ask} if params else params
            with person(home) as wire:
                wire.call(method, **params) if method != "nothing" else None
            before = rss_bytes(home)
            with person(home) as greedy, Bystander(home) as bystander:
                pushed = push_until_stuck(greedy, request(1, method, **params), 10_000)
                time.sleep(0.3)
                grown[method] = rss_bytes(home) - before
                note(f"{method}: {pushed} requests went in, {grown[method] / MIB:.1f} MiB")
            note(f"the bystander's slowest call took {bystander.slowest * 1000:.0f} ms")
    assert max(grown.values()) < 24 * MIB, f"{ {name: f'{size / MIB:.0f} MiB' for name, size in grown.items()} }"


@test("who asked for more than it read gets every reply once it reads, whichever way its requests were cut", "R12.2")
def late_reading() -> None:
    with hub() as home:
        for i in range(20):
            make_ask(home, "t" * 190 + str(i))
        for length in (100, 4000, 65536):  # of a request: the last one of a piece that is read is cut somewhere
            with person(home) as wire:
                lines = b"".join(request(number, "ask/list", padding="p" * length) for number in range(1000))
                sending = threading.Thread(target=wire.socket.sendall, args=(lines,))
                sending.start()
                time.sleep(0.3)
                replies = [wire.read() for _ in range(1000)]
                sending.join()
            assert sorted(reply["id"] for reply in replies) == list(range(1000)), length
            assert all(len(reply["result"]["asks"]) == 20 for reply in replies), length


@test("calls left waiting by one peer cost a bounded amount of memory", "R12.2")
def parked_calls() -> None:
    with hub() as home, agent(home, "waits") as wire:
        ask = wire.call("ask/create", tool="provide_choice", wait_seconds=0,
                        arguments=choice("waits"))["session_id"]
        before = rss_bytes(home)
        line = request("i" * 900_000, "ask/wait", session_id=ask, wait_seconds=600)
        for _ in range(40):  # each is refused with its own id, and read: what is not read stops the peer
            wire.socket.sendall(line)
            refused = wire.read()
            assert refused["error"]["code"] == -32600 and len(refused["id"]) == 900_000, refused["error"]
        with person(home) as other:
            assert other.call("hub/status")["running"]
        grown = rss_bytes(home) - before
        note(f"40 waits with ids of 900,000 bytes: {grown / MIB:.1f} MiB")
        assert grown < 16 * MIB, "an id may be as long as a line, and each waiting call keeps its own"


@test("a watcher that does not read gets resync, and then news again", "R12.2")
def slow_watcher() -> None:
    with hub() as home:
        ask = make_ask(home, "typed", timeout_seconds=3600)
        with Wire(home) as watcher, person(home) as typist, Bystander(home):
            watcher.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            watcher.hello("person")
            watcher.call("ask/watch")
            before = rss_bytes(home)
            for i in range(100):  # 5 MB of events
                typist.call("ask/draft", session_id=ask, draft={"custom_input": f"{i} " + "d" * 50_000})
            assert rss_bytes(home) - before < 8 * MIB, rss_bytes(home) - before
            received, methods = 0, []
            while "resync" not in methods:
                message = watcher.read()
                received += len(json.dumps(message))
                methods.append(message.get("method"))
            assert received < 2 * MIB and len(methods) < 60, (received, len(methods))
            note(f"resync after {received:,} bytes in {len(methods)} messages")
            rows = watcher.call("ask/list")["asks"]
            assert [row["session_id"] for row in rows] == [ask]
            watcher.events.clear()
            typist.call("ask/draft", session_id=ask, draft={"custom_input": "last"})
            event = watcher.read()
            assert event["method"] == "ask/drafted" and event["params"]["draft"]["custom_input"] == "last", event


@test("1,100 connections: those over the limit are closed, the others and the next ones work", "R12.2")
def many_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 4096:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with hub() as home, contextlib.ExitStack() as stack:
        first = stack.enter_context(person(home))
        base = rss_bytes(home)
        wires = []
        for _ in range(1100):
            wire = stack.enter_context(Wire(home))
            with contextlib.suppress(OSError):
                wire.socket.sendall(hello_line())
            wires.append(wire)
        served = []
        for wire in wires:
            with contextlib.suppress(EOFError, ConnectionError):
                assert wire.read()["result"]["wire"] == 1
                served.append(wire)
        assert 900 <= len(served) <= 1024, len(served)
        assert first.call("hub/status")["running"]
        served[0].send(request(2, "hub/status").strip())
        assert served[0].read()["id"] == 2
        per_peer = (rss_bytes(home) - base) / len(served)
        note(f"{len(served)} of 1100 served, {per_peer:.0f} bytes each")
        assert per_peer < 16384, per_peer
        for wire in wires:
            wire.stop()
        wait_until(lambda: home.sayso("list").code == 0, "there is room again")


@test("a hub with 64 descriptors meets 200 connections without spinning, stores asks, and recovers", "R12.2")
def few_descriptors() -> None:
    with Home() as home:
        limited = copy.copy(home)
        limited.binary = "/bin/sh"
        limited.spawn("-c", 'ulimit -n 64; exec "$@"', "sh", home.binary, "serve")
        pid = home.wait_hub()
        with person(home) as first, agent(home, "first") as asking, contextlib.ExitStack() as stack:
            wires = []
            for _ in range(200):
                wire = stack.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX)))
                wire.settimeout(0.2)
                with contextlib.suppress(OSError):  # the queue may be full
                    wire.connect(home.hub()["socket"])
                    wire.sendall(hello_line())
                wires.append(wire)
            time.sleep(0.5)
            before = cpu_seconds(home)
            time.sleep(2)
            used = (cpu_seconds(home) - before) / 2
            note(f"{used * 100:.0f} % of a processor while it is full")
            assert used < 0.5, "it spins"
            assert first.call("hub/status")["pid"] == pid
            created = asking.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("full"))
            assert first.call("ask/answer", session_id=created["session_id"],
                              selected_ids=["a"])["status"] == "submitted"
        result = wait_until(lambda: (r := home.sayso("list", "--json")).code == 0 and r, "it serves again")
        assert [row["status"] for row in result.json] == ["submitted"] and home.hub_pid() == pid


@test("2,000 peers that come, say nonsense and go leave nothing behind", "R12.2")
def comers_and_goers() -> None:
    with hub() as home, Bystander(home):
        fd_count: Callable[[], int] = lambda: len(os.listdir(f"/proc/{home.hub_pid()}/fd"))
        is_root = os.getuid() == 0
        def come_and_go(count: int) -> None:
            chance = random.Random(count)
            first_words = [b"", b"x", b"x\n", hello_line(), hello_line()[:20], hello_line() + request(1, "ask/watch"),
                           hello_line("agent") + request(1, "ask/create", tool="provide_choice",
                                                         arguments=choice("gone"))]
            for _ in range(count):
                with contextlib.suppress(OSError), Wire(home) as wire:
                    words = chance.choice(first_words)
                    wire.socket.sendall(words)
                    if words.endswith(b"\n") and chance.random() < 0.3:
                        wire.socket.recv(100)
        come_and_go(500)
        time.sleep(0.5)
        files, memory = fd_count() if is_root else 0, rss_bytes(home)
        side_by_side(*[lambda: come_and_go(scaled(500))] * 4)
        with person(home) as wire:
            assert wire.call("hub/status")["pending"] <= 32  # the most one agent may have
        if is_root:
            wait_until(lambda: fd_count() <= files, f"descriptors are back to {files}")
        assert rss_bytes(home) - memory < 4 * MIB, rss_bytes(home) - memory


run()
