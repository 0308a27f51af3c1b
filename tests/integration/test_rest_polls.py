"""Looks that wait: they end when the ask changes, when their time is over, or when the hub goes; a
restart loses the connection and nothing else.
"""
from __future__ import annotations

import http.client
import os
import signal
import threading
import time
from typing import Any

from api import Office, Reply, read_reply
from harness import HANG_S, run, scaled, test, wait_until

CROWD = 200


class Poll:
    """A look under way on a connection of its own."""

    def __init__(self, office: Office, id: str, wait: int = 30, etag: str | None = '"1"'):
        self.connection = office.connect()
        headers = {"If_None_Match": etag} if etag else {}
        office.send(self.connection, "GET", f"/api/asks/{id}?wait={wait}", **headers)

    def finish(self, timeout: float = HANG_S) -> Reply:
        self.connection.sock.settimeout(timeout)
        try:
            return read_reply(self.connection.getresponse())
        finally:
            self.connection.close()


def looks_parked(office: Office) -> int:
    """Exchanges that are open now, this one not counted."""
    text = office.get("/metrics").body.decode()
    return int(next(line for line in text.splitlines() if line.startswith("sayso_http_exchanges ")).split()[1]) - 1


def park(office: Office, count: int, id: str, **more: Any) -> list[Poll]:
    polls = [Poll(office, id, **more) for _ in range(count)]
    wait_until(lambda: looks_parked(office) >= count, f"{count} looks are parked")
    return polls


@test("a poll ends immediately when the ask differs from what the peer knows, and when it changes", "R10.4")
def changes() -> None:
    with Office() as office:
        id = office.ask()
        for etag in ('"7"', '"2"'):
            began = time.monotonic()
            assert office.get(f"/api/asks/{id}?wait=60", If_None_Match=etag).status == 200
            assert time.monotonic() - began < HANG_S
        for change, status, etag in (
                (lambda: office.post(f"/api/asks/{id}/extend", {"seconds": 900}), "pending", '"2"'),
                (lambda: office.answer(id), "submitted", '"3"')):
            known = office.get(f"/api/asks/{id}").headers["etag"]
            polls = park(office, 2, id, wait=60, etag=known) + park(office, 1, id, wait=60, etag=None)
            assert change().status == 200
            for poll in polls:
                reply = poll.finish()
                assert reply.status == 200 and reply.headers["etag"] == etag, reply
                assert reply.json["ask"]["status"] == status, reply
        assert office.get(f"/api/asks/{id}?wait=60").json["ask"]["status"] == "submitted"  # it is over, so the poll returns immediately
        assert looks_parked(office) == 0


@test("a look ends when its time is over: 304 to who knows it, else the ask as it is", "R10.4")
def time_is_over() -> None:
    with Office() as office:
        id = office.ask()
        began = time.monotonic()
        polls = [Poll(office, id, wait=1), Poll(office, id, wait=2), Poll(office, id, wait=1, etag=None)]
        first, second, third = (poll.finish() for poll in polls)
        assert first.status == 304 and first.body == b"" and first.headers["etag"] == '"1"', first
        assert second.status == 304 and third.status == 200 and third.json["ask"]["status"] == "pending"
        assert 1.9 < time.monotonic() - began < HANG_S
        assert office.get(f"/api/asks/{id}?wait=0", If_None_Match='"1"').status == 304


@test("what does not raise the version ends no poll: typing, attaching", "R10.4 R5.9")
def quiet_changes() -> None:
    with Office() as office:
        id = office.ask()
        [poll] = park(office, 1, id, wait=3)
        person = office.wire("person")
        person.call("ask/draft", session_id=id, draft={"custom_input": "hm"})
        office.agent.stop()
        office.wires.remove(office.agent)
        wait_until(lambda: office.whole(id)["ask"]["detached"], "the ask is detached")
        assert poll.finish().status == 304


@test("two hundred polls at the same time: others are served, and each ends with its own answer", "R10.4 P4")
def crowd() -> None:
    with Office() as office:
        ids = [office.ask() for _ in range(4)]
        polls = [(id, poll) for id in ids for poll in park(office, CROWD // len(ids), id, wait=60)]
        wait_until(lambda: looks_parked(office) >= CROWD, "all are parked")
        other = office.ask()
        assert office.answer(other).status == 200
        for number, id in enumerate(ids):
            assert office.answer(id, "ab"[number % 2]).status == 200
        for number, (id, poll) in enumerate(polls):
            reply = poll.finish()
            assert reply.status == 200 and reply.json["ask"]["session_id"] == id, reply
            assert reply.json["answer"]["selected_ids"] == ["ab"[ids.index(id) % 2]], reply
        assert looks_parked(office) == 0


@test("looks whose peers left are forgotten", "R10.4")
def leavers() -> None:
    with Office() as office:
        id = office.ask()
        for _ in range(scaled(3)):
            for poll in park(office, 50, id, wait=60):
                poll.connection.close()
            wait_until(lambda: looks_parked(office) == 0, "what was left is forgotten")
        assert office.answer(id).status == 200


@test("polls of a token that is revoked end immediately", "R12.1")
def revoked() -> None:
    with Office() as office:
        id = office.ask()
        [poll] = park(office, 1, id, wait=60)
        listed = office.home.sayso("token", "list", "--json").json
        rows = listed["tokens"] if isinstance(listed, dict) else listed
        person = next(row for row in rows if row["kind"] == "person")
        began = time.monotonic()
        assert office.home.sayso("token", "revoke", person["id"]).code == 0
        try:
            raise AssertionError(poll.finish())
        except (http.client.HTTPException, ConnectionError):
            assert time.monotonic() - began < HANG_S
        assert office.get(f"/api/asks/{id}").status == 401
        office.person_token = office.token("person")
        assert office.answer(id).status == 200


@test("a hub that ends tells those who wait to come again; after the restart they find the answer", "R10.4 R5.2 P5")
def restart() -> None:
    with Office() as office:
        id = office.ask()
        polls = park(office, 3, id, wait=60)
        office.process.send_signal(signal.SIGTERM)
        for poll in polls:
            reply = poll.finish()
            assert reply.status == 503 and reply.headers.get("retry-after") == "1", reply
            assert reply.error["code"] == "unavailable" and reply.headers["connection"] == "close", reply
        office.process.wait(HANG_S)
        office.serve()
        [poll] = park(office, 1, id, wait=60)
        assert office.home.sayso("answer", id, "--select", "b").code == 0
        reply = poll.finish()
        assert reply.status == 200 and reply.json["answer"]["selected_ids"] == ["b"], reply


@test("a hub that is killed loses the connection and nothing else", "R10.4 P1 P5")
def killed() -> None:
    with Office() as office:
        id = office.ask()
        polls = park(office, 3, id, wait=60)
        os.kill(office.home.hub_pid(), signal.SIGKILL)
        for poll in polls:
            try:
                raise AssertionError(poll.finish())
            except (http.client.HTTPException, ConnectionError):
                pass
        office.process.wait(HANG_S)
        office.serve()
        reply = office.get(f"/api/asks/{id}?wait=0", If_None_Match='"1"')
        assert reply.status == 304, reply  # neither the ask nor its version has changed
        [poll] = park(office, 1, id, wait=60)
        assert office.answer(id, "a").status == 200
        assert poll.finish().json["ask"]["status"] == "submitted"


@test("looks of many threads while asks are made and answered: each sees its own", "R10.4 P4")
def busy() -> None:
    with Office() as office:
        ids = [office.ask() for _ in range(scaled(40))]
        seen: dict[str, Reply] = {}
        def look(id: str) -> None:
            seen[id] = office.get(f"/api/asks/{id}?wait=60", If_None_Match='"1"')
        threads = [threading.Thread(target=look, args=(id,)) for id in ids]
        for thread in threads:
            thread.start()
        for number, id in enumerate(ids):
            assert office.answer(id, "ab"[number % 2], Idempotency_Key=f"{number}").status == 200
        for thread in threads:
            thread.join(60)
        for number, id in enumerate(ids):
            whole = seen[id].json
            assert whole["ask"]["session_id"] == id and whole["answer"]["selected_ids"] == ["ab"[number % 2]]


run()
