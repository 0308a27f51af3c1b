"""Many asks in the store: lists, searches, export, retention. The part of bench/run called history.

The asks are real ones, asked and answered over the wire, all of one agent but a few; then what is
looked for is timed on one connection, as a person's page would. A first call of each kind is not
counted, the rest are medians; the longest is told too, because the hub's loop stands still meanwhile."""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
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


def peak_of(process: subprocess.Popen) -> int:
    """The most memory it ever had, in KB, looked at until it ends: what wait4 tells is ours before exec."""
    peak = 0
    while process.poll() is None:
        for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peak = int(line.split()[1])
        time.sleep(0.005)
    return peak


def export(report: Any, hub: Any, what: str, *arguments: str) -> None:
    """Time and memory of one export into a file; the hub's loop is not to grow with it either."""
    path = hub.data / "export"
    before_kb, _ = hub.memory_kb()
    began = time.monotonic()
    peak_kb = peak_of(hub.spawn("export", *arguments, "--out", str(path)))
    took = time.monotonic() - began
    after_kb, _ = hub.memory_kb()
    lines = sum(1 for _ in path.open("rb"))
    report.raw[what] = {"seconds": took, "peak_kb": peak_kb, "bytes": path.stat().st_size,
                        "lines": lines, "hub_grew_kb": after_kb - before_kb}
    report.add(what, took, "s")
    report.add("  peak memory", peak_kb / 1024, "MB", most=16)
    report.add("  the hub grew by", (after_kb - before_kb) / 1024, "MB", most=4)
    path.unlink()


def read_back(report: Any, hub: Any, count: int) -> None:
    """The backup of everything into a store of its own."""
    backup, place = hub.data / "backup", hub.data / "second"
    hub.spawn("export", "--all", "--out", str(backup)).communicate()
    place.mkdir(mode=0o700)
    began = time.monotonic()
    process = subprocess.Popen([hub.program, "import", str(backup), "--json"], text=True, stdout=subprocess.PIPE,
                               env={**hub.environment, "XDG_DATA_HOME": str(place)})
    peak_kb = peak_of(process)
    if process.returncode != 0 or json.loads(process.stdout.read())["added"] < count:
        report.add("IMPORT FAILED", process.returncode, "")
    report.add("import of all", time.monotonic() - began, "s")
    report.add("  peak memory", peak_kb / 1024, "MB", most=16)
    backup.unlink()


def retention(report: Any, hub: Any, count: int, seconds: float) -> None:
    """What an ask and its answer take while nothing else happens, and while all but a thousand go."""
    hub.stop()
    hub.environment["SAYSO_MAX_SESSIONS"] = "100000000"
    hub.start()
    quiet = hub.load("ask", "-c", "1", "-t", str(seconds))
    hub.stop()
    hub.environment["SAYSO_MAX_SESSIONS"] = "1000"
    hub.start()
    began, runs = time.monotonic(), []
    with Line(hub, "person") as person:
        while time.monotonic() - began < 300:
            runs.append(hub.load("ask", "-c", "1", "-t", str(seconds)))
            if len(person.call("ask/list", which="completed", limit=2000)["asks"]) < 2000:
                break
    report.raw["retention"] = {"quiet": quiet, "runs": runs, "seconds": time.monotonic() - began}
    report.add(f"{count:,} asks go, while one after the other is answered", time.monotonic() - began, "s")
    report.add("  an ask and its answer, p50", max(run.get("p50_us", 0) for run in runs) / 1e3, "ms")
    report.add("    without retention", quiet.get("p50_us", 0) / 1e3, "ms")
    report.add("  p99", max(run.get("p99_us", 0) for run in runs) / 1e3, "ms", most=LIMIT_MS)
    report.add("    without retention", quiet.get("p99_us", 0) / 1e3, "ms")
    report.add("  longest", max(run.get("max_us", 0) for run in runs) / 1e3, "ms")


def measure(report: Any, options: argparse.Namespace, hub_class: Callable) -> None:
    count = options.asks
    print(f"... {count:,} asks in the store", file=sys.stderr, flush=True)
    with hub_class(options.program) as hub:
        fill(hub, count)
        report.add("index of all, CPU of the hub", wait_for_index(hub), "s")
        looks(report, hub, count, 5 if options.quick else 20)
        export(report, hub, "export, JSON Lines")
        export(report, hub, "export, CSV", "--format", "csv")
        export(report, hub, "export --all", "--all")
        read_back(report, hub, count)
        retention(report, hub, count, options.seconds)
