"""Many asks in the store: lists, searches, export, retention. The part of bench/run called history.

The asks are real ones, asked and answered over the wire, all of one agent but a few; then what is
looked for is timed on one connection, as a person's page would. A first call of each kind is not
counted, the rest are medians; the longest is told too, because the hub's loop stands still meanwhile."""
import argparse
import json
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import threading
import time
from typing import Any, Callable

LIMIT_MS = 50  # of a first page
RARE = 20      # asks of another agent, in both languages, spread over the rest
# name: (method, parameters, rows expected at least)
LOOKS: dict[str, tuple[str, dict[str, Any], int]] = {
    "list, first page": ("ask/list", {}, 50),
    "list of one agent, rare": ("ask/list", {"agent": "rare"}, RARE),
    "list of one agent, unknown": ("ask/list", {"agent": "nobody"}, 0),
    "history, first page": ("ask/history", {}, 20),
    "history, of one agent": ("ask/history", {"agent": "rare"}, RARE),
    "history, answered in the terminal": ("ask/history", {"via": "terminal"}, 0),
    "search, a word in every ask": ("ask/history", {"search": "shall"}, 20),
    "search, a rare word": ("ask/history", {"search": "giraffe"}, RARE),
    "search, two words, one everywhere": ("ask/history", {"search": "giraffe release"}, RARE),
    "search, no such word": ("ask/history", {"search": "unicorn"}, 0),
    "search, Chinese, three characters": ("ask/history", {"search": "长颈鹿"}, RARE),
    "search, Chinese, two characters, rare": ("ask/history", {"search": "颈鹿"}, 1),
}


class Line:
    """One connection to the hub."""

    def __init__(self, hub: Any, role: str, **who: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(hub.status["socket"])
        self.reader = self.socket.makefile("rb")
        self.number = 0
        self.call("hello", wire=1, version="bench", role=role, features=[], **who)

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()
        self.socket.close()

    def call(self, method: str, **params: Any) -> Any:
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        while (reply := json.loads(self.reader.readline())).get("id") != self.number:
            pass
        if "error" in reply:
            raise SystemExit(f"{method}: {reply['error']}")
        return reply["result"]


def fill(hub: Any, count: int) -> None:
    """Asks of one agent, and in between RARE of another."""
    with Line(hub, "agent", name="rare") as agent, Line(hub, "person") as person:
        for part in range(RARE):
            done = hub.load("ask", "-c", "64", "-n", str(max(1, count // RARE)), "-t", "200")
            if "fail" in done or done.get("errors"):
                raise SystemExit(f"the store cannot be filled: {done}")
            asked = agent.call("ask/create", tool="provide_choice", wait_seconds=0, arguments={
                "title": f"Release the giraffe {part}?", "prompt": "要不要把长颈鹿放出来？它已经等了很久了，现在是时候了吗？",
                "selection_mode": "single", "options": [{"id": "yes", "label": "放", "recommended": True}, {"id": "no", "label": "不放"}]})
            person.call("ask/answer", session_id=asked["session_id"], selected_ids=["yes"])


def wait_for_index(hub: Any) -> float:
    """Seconds of the hub's processor until the store has taken up everything."""
    began = time.monotonic()
    ticks = lambda: sum(int(n) for n in pathlib.Path(f"/proc/{hub.process.pid}/stat").read_text().rsplit(")")[1].split()[11:13])
    before = now = ticks()
    quiet = 0
    while quiet < 12 and time.monotonic() - began < 300:  # it begins after ten seconds
        time.sleep(1)
        quiet = quiet + 1 if ticks() == now else 0
        now = ticks()
    return (now - before) / os.sysconf("SC_CLK_TCK")


def looks(report: Any, hub: Any, count: int, repetitions: int) -> None:
    with Line(hub, "person") as person:
        for what, (method, params, least) in LOOKS.items():
            times = []
            for _ in range(repetitions + 1):
                began = time.monotonic()
                reply = person.call(method, **params)
                times.append((time.monotonic() - began) * 1e3)
            if len(reply["asks"]) < least:
                report.add(f"TOO FEW FOUND: {what}", len(reply["asks"]), "")
            report.raw[what] = {"times_ms": times[1:], "found": len(reply["asks"]), "more": "next" in reply}
            report.add(what, statistics.median(times[1:]), "ms", most=LIMIT_MS)
            report.add("  longest", max(times[1:]), "ms")
