"""A host of agents over HTTP, and a listener that comes back after every cut; what the tests of conversations share."""
from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from typing import Any, Iterator

from api import Office, Reply
from harness import wait_until

HANG_S = 60  # far longer than anything here takes: only catches hangs
LOST = (OSError, http.client.HTTPException)  # the hub is gone, or not there yet
WHICH = {"question": "Which store?", "header": "Store",
         "options": [{"label": "SQLite", "description": "one file"}, {"label": "PostgreSQL"}]}
HOW = {"question": "How, exactly?", "options": [{"label": "Fast"}, {"label": "Safe"}, {"label": "Cheap"}],
       "multiSelect": True}


def question(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"questions": list(questions or (WHICH,)), **more}


def call(id: str, name: str = "shell", **input: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "input": input or {"command": "ls"}}


def asks(id: str, *questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return call(id, "ask_user_question", **question(*questions, **more))


def said(reply: Reply, status: int = 200, code: str | None = None) -> Any:
    assert reply.status == status, reply
    if status == 200:
        return reply.json
    assert code is None or reply.error["code"] == code, reply
    assert reply.error["message"], reply
    return reply.error


class Hosting(Office):
    """An office with a host's token, and one that may answer."""

    def __init__(self, env: dict[str, str] | None = None, binary: str | None = None):
        # a port that no other hub takes while ours is down
        super().__init__({"SAYSO_PORT": str(random.randint(20000, 30000)), **(env or {})}, binary)
        self.host = self.token("host", "builder")

    def token_with(self, *options: str) -> str:
        made = self.home.sayso("token", "new", *options)
        assert made.code == 0, made
        return made.out.split()[0]

    def begin(self, *calls: dict[str, Any], token: str | None = None, **body: Any) -> Talk:
        made = said(self.post("/conversations", body, token=token or self.host))
        talk = Talk(self, made["conversation"], token or self.host)
        if calls:
            talk.turn(*calls)
        return talk


class Talk:
    """One conversation, as its host and its person see it."""

    def __init__(self, office: Office, id: str, token: str):
        self.office, self.id, self.token = office, id, token

    @property
    def path(self) -> str:
        return f"/conversations/{self.id}"

    def say(self, act: str, body: Any = None, token: str | None = None, **more: str) -> Reply:
        return self.office.post(f"{self.path}/{act}", body, token=token or self.token, **more)

    def turn(self, *calls: dict[str, Any]) -> Any:
        return said(self.say("tool-calls", {"tool_calls": list(calls)}))

    def result(self, id: str, content: str = "done", **more: Any) -> Any:
        return said(self.say("tool-results", {"tool_use_id": id, "content": content, **more}))

    def respond(self, answers: dict[str, Any], **more: Any) -> Reply:
        return self.say("respond", {"answers": answers, **more}, token="person")

    def cancel(self) -> Reply:
        return self.say("cancel", {}, token="person")

    def look(self, token: str | None = None) -> Any:
        return said(self.office.get(self.path, token=token or self.token))

    @property
    def state(self) -> Any:
        return self.look()["state"]

    def wait_for(self, type: str) -> Any:
        return wait_until(lambda: (state := self.state)["type"] == type and state, f"it is {type}", HANG_S)

    def session(self) -> str:
        """The ask of its question, once a person can see it."""
        id = self.look()["session_id"]
        wait_until(lambda: self.office.get(f"/api/asks/{id}").status == 200, "the question is asked")
        return id

    def events(self, after: int = 0) -> list[tuple[int, str, Any]]:
        """Everything up to the newest."""
        last, found = self.look()["last_event"], []
        for event in listen(self.office, self.path, self.token, after):
            found.append(event)
            if event[0] >= last:
                return found
        raise AssertionError(f"the stream ended before event {last}: {found}")

    def results(self) -> dict[str, tuple[str, bool]]:
        """By call; each has one."""
        found: dict[str, tuple[str, bool]] = {}
        for _, kind, data in self.events():
            for result in data["results"] if kind == "persist_tool_results" else ():
                assert result["tool_use_id"] not in found, f"two results: {result} {found}"
                found[result["tool_use_id"]] = (result["content"], result["is_error"])
        return found


def parse(block: str) -> tuple[int, str, Any] | None:
    fields = dict(line.partition(": ")[::2] for line in block.split("\n") if ": " in line and line[0] != ":")
    return (int(fields["id"]), fields["event"], json.loads(fields["data"])) if "id" in fields else None


def listen(office: Office, path: str, token: str, after: int | None = None) -> Iterator[tuple[int, str, Any]]:
    """Events until the stream ends."""
    connection = office.connect(timeout=HANG_S)
    try:
        headers = {} if after is None else {"Last_Event_ID": str(after)}
        office.send(connection, "GET", f"{path}/events", token=token, **headers)
        response = connection.getresponse()
        if response.status != 200:
            raise AssertionError(f"{response.status} {response.read()!r}")
        rest = ""
        while piece := response.read1(65536):
            *blocks, rest = (rest + piece.decode()).split("\n\n")
            yield from filter(None, map(parse, blocks))
    finally:
        connection.close()


class Listener(contextlib.AbstractContextManager):
    """Hears everything of a conversation, over any number of connections, and once each."""

    def __init__(self, talk: Talk):
        self.talk, self.heard, self.cuts = talk, [], 0
        self.failure: BaseException | None = None
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        try:
            while not self.is_over.is_set():
                with contextlib.suppress(*LOST):
                    self.hear()
                self.cuts += 1
                time.sleep(0.005)
        except BaseException as failure:  # told by wait()
            self.failure = failure

    def hear(self) -> None:
        last = self.heard[-1][0] if self.heard else 0
        for event in listen(self.talk.office, self.talk.path, self.talk.token, last):
            assert event[0] == len(self.heard) + 1, f"heard {event} behind {self.heard[-1:]}"
            self.heard.append(event)
            if self.is_over.is_set():
                return

    def wait(self, is_so: Any, what: str) -> Any:
        def look() -> Any:
            if self.failure:
                raise self.failure
            return is_so(self.heard)
        return wait_until(look, what, HANG_S)

    def wait_last(self, number: int) -> None:
        self.wait(lambda heard: len(heard) >= number, f"event {number}")

    def __exit__(self, *_: Any) -> None:
        self.is_over.set()
        if self.failure:
            raise self.failure
