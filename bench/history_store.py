"""Many asks in the store: lists, searches, export, retention. The part of bench/run called history.

The asks are real ones, asked and answered over the wire, all of one agent but a few; then what is
looked for is timed on one connection, as a person's page would. A first call of each kind is not
counted, the rest are medians; the longest is given too, because the hub's loop stands still for that long.

The store that was made is kept in build/bench, and used again as long as the program is the same."""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from typing import Any, Callable

LIMIT_MS = 50  # of a first page, and of the p99 of asks beside retention
DOCS_BEGIN, DOCS_END = "<!-- bench/run --only history --write-docs: begin -->", "<!-- end -->"
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
    ticks = lambda: sum(int(n) for n in pathlib.Path(f"/proc/{hub.process.pid}/stat").read_text().rsplit(")")[1].split()[11:13])
    began, before = time.monotonic(), ticks()
    store = sqlite3.connect(f"file:{hub.data}/sayso/sayso.db?mode=ro", uri=True)
    left = "SELECT (SELECT count(*) FROM unindexed) + (SELECT max(number) FROM asks) - (SELECT next FROM search)"
    while store.execute(left).fetchone()[0] >= 0 and time.monotonic() - began < 300:
        time.sleep(0.2)
    store.close()
    return (ticks() - before) / os.sysconf("SC_CLK_TCK")


def made_store(options: argparse.Namespace, hub_class: Callable) -> pathlib.Path:
    """A directory with the store and what it took to make it, of an earlier run if it was the same program."""
    place = pathlib.Path(hub_class.build) / f"history-{options.asks}"
    program = hashlib.sha256(pathlib.Path(options.program).read_bytes()).hexdigest()
    note = place / "made.json"
    if note.exists() and json.loads(note.read_text())["program"] == program:
        print("... the store of an earlier run is used again", file=sys.stderr, flush=True)
        return place
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with hub_class(options.program) as hub:
        began = time.monotonic()
        fill(hub, options.asks)
        filled = time.monotonic() - began
        index_cpu_s = wait_for_index(hub)
        hub.stop()
        shutil.move(hub.data / "sayso/sayso.db", place)
    note.write_text(json.dumps({"program": program, "fill_s": filled, "index_cpu_s": index_cpu_s}))
    return place


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


def kept(hub: Any) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{hub.data}/sayso/sayso.db?mode=ro", uri=True)) as store:
        return store.execute("SELECT count(*) FROM asks").fetchone()[0]


def restart(hub: Any, keep: int) -> None:
    hub.stop()
    hub.environment["SAYSO_MAX_SESSIONS"] = str(keep)
    hub.start()
    time.sleep(0.9)  # retention begins a second after the start


def retention(report: Any, hub: Any, seconds: float) -> None:
    """What an ask and its answer take beside retention and without it, by turns; then how long the rest takes."""
    runs: dict[str, list[dict]] = {"without": [], "beside": []}
    gone, before = 0, kept(hub)
    for which in ("without", "beside", "beside", "without"):
        restart(hub, 100000000 if which == "without" else 1000)
        had = kept(hub)
        runs[which].append(hub.load("ask", "-c", "1", "-t", str(seconds)))
        gone += had + int(runs[which][-1].get("ops", 0)) - kept(hub) if which == "beside" else 0
    restart(hub, 1000)
    began = time.monotonic()
    left = kept(hub)
    while kept(hub) > 1000 and time.monotonic() - began < 240:
        time.sleep(0.2)
    rest = time.monotonic() - began
    report.raw["retention"] = {"runs": runs, "asks_before": before, "gone_beside": gone, "rest": left, "rest_s": rest}
    worst = lambda which, key: max(run.get(key, float("nan")) for run in runs[which]) / 1e3
    for what, key, most in (("p50", "p50_us", None), ("p99", "p99_us", LIMIT_MS), ("longest", "max_us", None)):
        report.add(f"an ask and its answer while retention runs, {what}", worst("beside", key), "ms", most=most)
        report.add("  without retention", worst("without", key), "ms")
    report.add("  asks that went meanwhile", gone / (2 * seconds), "/s")
    report.add(f"the other {left - 1000:,} go, with nobody asking", rest, "s")
    if kept(hub) > 1000:
        report.add("RETENTION DID NOT END", kept(hub), "")


def write_docs(report: Any, count: int, load: float) -> None:
    """The table of docs/internals/benchmarks.md, of the rows of this run; `load` is the machine's before it."""
    path = pathlib.Path(__file__).resolve().parent.parent / "docs/internals/benchmarks.md"
    commit = subprocess.run(["git", "-C", path.parent, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    where = f"At commit {commit}, {os.cpu_count()} processors, load {load:.1f} before the start:"
    text = path.read_text()
    began, ended = text.index(DOCS_BEGIN) + len(DOCS_BEGIN), text.index(DOCS_END)
    rows = [f"| {what.strip()} | {ours} | {goal.replace('<=', '≤')} | {verdict} |" for what, ours, _, _, goal, verdict in report.rows]
    text = text[:began] + "\n".join(["", where, "", f"| {count:,} asks | sayso | goal | |", "|---|---|---|---|", *rows, ""]) + text[ended:]
    path.write_text(text)


def measure(report: Any, options: argparse.Namespace, hub_class: Callable) -> None:
    count, load = options.asks, os.getloadavg()[0]
    print(f"... {count:,} asks in the store", file=sys.stderr, flush=True)
    store = made_store(options, hub_class)
    made = json.loads((store / "made.json").read_text())
    hub = hub_class(options.program)
    (hub.data / "sayso").mkdir(mode=0o700)
    shutil.copy(store / "sayso.db", hub.data / "sayso")
    first = len(report.rows)
    with hub:
        report.add("made by the wire, asked and answered", count / made["fill_s"], "asks/s")
        report.add("index of all, CPU of the hub", made["index_cpu_s"], "s")
        looks(report, hub, count, 5 if options.quick else 20)
        export(report, hub, "export, JSON Lines")
        export(report, hub, "export, CSV", "--format", "csv")
        export(report, hub, "export --all", "--all")
        read_back(report, hub, count)
        retention(report, hub, options.seconds * 5)
    if options.write_docs:
        write_docs(argparse.Namespace(rows=report.rows[first:]), count, load)
