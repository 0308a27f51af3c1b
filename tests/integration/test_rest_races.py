"""Several answer one ask, connections are cut at every byte, the hub dies in between: one answer is
stored, a client that retries with its key gets its receipt, and all others learn who won.
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from api import HOSTS, Office, read_one, status_of
from harness import CRASH_BIN, HANG_S, Skip, points_here, run, scaled, test

ROUNDS = scaled(40)


def stored_answers(office: Office, id: str) -> int:
    return office.home.rows("SELECT count(*) FROM answers WHERE ask = ?1", id)[0][0]


def request_of(office: Office, id: str, key: str, pick: str = "a") -> bytes:
    body = json.dumps({"selected_ids": [pick]}).encode()
    return (f"POST /api/asks/{id}/answer HTTP/1.1\r\nHost: 127.0.0.1:{office.port}\r\n"
            f"Authorization: Bearer {office.person_token}\r\nContent-Type: application/json\r\n"
            f"Idempotency-Key: {key}\r\nIf-Match: \"1\"\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


@test("of an answer over HTTP and one on the command line exactly one wins; the other learns who", "P3 R5.3 R10.4")
def http_and_cli() -> None:
    with Office() as office:
        winners = {"api": 0, "cli": 0}
        for number in range(max(6, ROUNDS // 4)):
            id = office.ask()
            cli = office.home.spawn("answer", id, "--select", "b", "--json", stdin=subprocess.DEVNULL)
            if number % 3:  # starting a process takes its time: it gets none, some or all of it
                time.sleep(0.004 if number % 3 == 1 else 0)
            else:
                cli.wait(HANG_S)
            reply = office.answer(id, "a")
            out, err = cli.communicate(timeout=HANG_S)
            whole = office.whole(id)
            won = whole["ask"]["answered_by"]["via"]
            winners[won] += 1
            assert whole["answer"]["selected_ids"] == [{"api": "a", "cli": "b"}[won]]
            assert (reply.status == 200) == (won == "api"), reply
            assert (cli.returncode == 0) == (won == "cli"), (out, err)
            if won == "cli":
                assert reply.status == 409 and reply.error["detail"]["answered_by"]["via"] == "cli", reply
            assert stored_answers(office, id) == 1
        assert sum(winners.values()) >= 6 and winners["cli"] > 0 and winners["api"] > 0, winners


@test("of sixteen answers over HTTP in one turn of the hub exactly one wins", "P3 R5.3 R10.4")
def many_at_once() -> None:
    with Office() as office:
        pid = office.home.hub_pid()
        for number in range(ROUNDS):
            id = office.ask()
            peers = [socket.create_connection((HOSTS[i % 2], office.port), HANG_S) for i in range(16)]
            os.kill(pid, signal.SIGSTOP)
            try:
                for i, peer in enumerate(peers):
                    peer.sendall(request_of(office, id, f"{number}-{i}", "ab"[i % 2]))
            finally:
                os.kill(pid, signal.SIGCONT)
            replies = [read_one(peer) for peer in peers]
            for peer in peers:
                peer.close()
            pick = office.whole(id)["answer"]["selected_ids"][0]
            new = [i for i, reply in enumerate(replies)
                   if status_of(reply) == 200 and b"idempotency-replayed" not in reply.lower()]
            assert len(new) == 1 and "ab"[new[0] % 2] == pick, replies
            for i, reply in enumerate(replies):  # the same content again is a success
                assert status_of(reply) == (200 if "ab"[i % 2] == pick else 409), reply
            assert stored_answers(office, id) == 1


def cut_request(office: Office, request: bytes, length: int) -> None:
    with socket.create_connection(("127.0.0.1", office.port), HANG_S) as peer:
        peer.sendall(request[:length])
        if length % 2:  # half of them reset, half close in order
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def cut_reply(office: Office, request: bytes, length: int) -> None:
    with socket.create_connection(("127.0.0.1", office.port), HANG_S) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        peer.sendall(request)
        got = 0
        while got < length:
            got += len(peer.recv(length - got))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


@test("an answer cut at any byte of request or reply is retried with its key: one receipt, stored once", "P8 R10.4")
def cut_anywhere() -> None:
    with Office() as office:
        sample = office.ask()
        request = request_of(office, sample, "k")
        reply = office.raw(request)
        assert status_of(reply) == 200, reply
        cuts = [(cut_request, length) for length in range(1, len(request) + 1)]
        cuts += [(cut_reply, length) for length in range(0, len(reply) + 1)]
        assert len(cuts) > 500
        for cut, length in cuts:
            id = office.ask()
            request = request_of(office, id, "k")
            cut(office, request, length)
            again = office.raw(request)
            assert status_of(again) == 200, (cut.__name__, length, again)
            receipt = json.loads(again.partition(b"\r\n\r\n")[2])
            assert receipt == {"session_id": id, "status": "submitted", "version": 2}, receipt
            third = office.raw(request)
            assert third.partition(b"\r\n\r\n")[2] == again.partition(b"\r\n\r\n")[2]
            assert b"idempotency-replayed: true" in third.lower(), third
            if cut is cut_reply and length > 0:
                assert b"idempotency-replayed: true" in again.lower(), (length, again)
        doubles = office.home.rows("SELECT ask FROM answers GROUP BY ask HAVING count(*) <> 1")
        count = office.home.rows("SELECT count(*) FROM answers")[0][0]
        assert not doubles and count == len(cuts) + 1, (doubles, count)


@test("the hub is killed around an answer: with the key it is stored once, said is kept", "P1 P8 R10.4")
def killed_around() -> None:
    points = points_here("engine_before_decide", "store_change_decided", "store_before_hand_back", "store_after_hand_back",
                         "engine_after_decide", "engine_before_ack", "engine_before_reply")
    if not pathlib.Path(CRASH_BIN).exists():
        raise Skip(f"{CRASH_BIN} is not built")
    for point in points:
        with Office(binary=CRASH_BIN) as office:
            id = office.ask()
            request = request_of(office, id, "k")
            os.kill(office.home.hub_pid(), signal.SIGKILL)
            office.process.wait(HANG_S)
            office.home.environment["SAYSO_CRASH_POINT"] = f"{point}:1"
            office.serve()
            reply = b""
            with contextlib.suppress(ConnectionError):
                reply = office.raw(request_of(office, id, "k"))
            office.process.wait(HANG_S)
            del office.home.environment["SAYSO_CRASH_POINT"]
            office.serve()
            if status_of(reply) == 200:
                assert stored_answers(office, id) == 1, (point, reply)
            again = office.raw(request_of(office, id, "k"))
            assert status_of(again) == 200, (point, again)
            assert office.whole(id)["answer"]["selected_ids"] == ["a"] and stored_answers(office, id) == 1, point


run()
