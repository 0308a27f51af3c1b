"""The portal: its page in a browser, many WebSockets that watch, asks answered over one. The part of
bench/run called portal.

Floors: for the page one with the same words and nothing else, in the same browser; for watchers a server
that writes one prepared frame to all of them (ref/floor_ws.c); for asks floor-durable. All take turns."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Callable

import bench
import compare
import http_servers

NAMES = {"sayso": "sayso", "floor": "floor"}
PAGES = {"sayso": ("full_cache", "empty_cache"), "floor": ("bare", "bare")}  # of page_load.mjs
EVENT_BYTES = 464  # of an ask that changed; what sayso sent is what the floor is told to send

ROWS = [
    ("page weight, all files compressed, with heads", "page", "weight", 1000, "kB", ("<=", 60, "kB"), "floor"),
    ("navigation -> question visible, p50", "page", "full_cache_ms", 1, "ms", ("<=", 150, "ms"), "floor"),
    ("  with an empty cache", "page", "empty_cache_ms", 1, "ms", ("<=", 150, "ms"), "floor"),
    ("an idle watcher, RSS of the hub", "watch", "rss_bytes", 1, "B", ("<=", 1024, "B"), "floor"),
    ("  after the events", "watch", "rss_bytes_after", 1, "B", None, "floor"),
    ("event -> the last watcher has it, p50", "watch", "last_us", 1000, "ms", ("<=", 1.5, "x floor"), "floor"),
    ("  the fastest of a run", "watch", "last_best_us", 1000, "ms", None, "floor"),
    ("  CPU of the server a watcher and event", "watch", "srv_cpu_us_watcher", 1, "us", None, "floor"),
    ("asks/s answered over a WebSocket, 64 in flight", "ask64", "ops_s", 1, "/s", (">=", 0.3, "x floor"), "floor"),
    ("  p50", "ask64", "p50_us", 1, "us", None, "floor"),
    ("  CPU of the server an ask", "ask64", "srv_cpu_us_op", 1, "us", None, "floor"),
]


def load_pages(count: int, options: argparse.Namespace) -> dict:
    """Every navigation's time; {"fail": why} where there is no browser."""
    node = bench.HERE.parent / "tests/mcp/node_modules/.bin/node"
    done = subprocess.run([node if node.exists() else "node", bench.HERE / "page_load.mjs", str(count)],
                          env={**os.environ, "SAYSO_BIN": options.program}, capture_output=True, text=True, timeout=300)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"fail": (done.stderr.strip().splitlines() or ["no output"])[-1]}


def measure_pages(measured: compare.Measured, options: argparse.Namespace) -> None:
    """Each navigation is a repetition."""
    found = load_pages(3 if options.quick else 40, options)
    if "fail" in found:
        measured.add("page", "sayso", found)
        return
    measured.add("page", "sayso", {"weight": found["bytes"], "files": found["files"]})
    for server, (full, empty) in PAGES.items():
        for full_ms, empty_ms in zip(found["times"][full], found["times"][empty]):
            measured.add("page", server, {"full_cache_ms": full_ms, "empty_cache_ms": empty_ms})


def watch_sayso(arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    with hub_class(options.program) as hub:
        person = http_servers.token(hub, "person")
        return bench.run_generator("watchload", str(hub.data / "sayso/hub.json"), [*arguments, "-k", person])


def watch_floor(arguments: list[str], event_bytes: int) -> dict:
    floor = subprocess.Popen([bench.BUILD / "floor_ws"], stdout=subprocess.PIPE, text=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as note:
        note.write(floor.stdout.readline())
        note.flush()
        found = bench.run_generator("watchload", note.name, [*arguments, "-k", str(event_bytes)])
    floor.kill()
    floor.wait()
    return found


def answer_sayso(arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    """An answer is never taken back here, so it is delivered immediately, like the floor's."""
    hub = hub_class(options.program)
    hub.environment["SAYSO_DELIVER_AFTER"] = "0"
    with hub:
        return hub.load(*arguments, "-k", http_servers.token(hub, "person"))


def answer_floor(arguments: list[str]) -> dict:
    with tempfile.TemporaryDirectory(dir=bench.BUILD) as data:
        return bench.run(bench.load(bench.HERE / "servers/floor-durable.json", data), arguments)


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    watchers = 500 if options.quick else 10000
    tests = {"watch": (["watch", "-n", str(watchers), "-c", "10"], options.repetitions),
             "ask64": (["ask", "-c", "64", "-t", str(options.seconds)], options.repetitions)}
    measured = compare.Measured()
    measured.names = dict(NAMES)
    sent = {"bytes": EVENT_BYTES}

    def run_once(name: str, arguments: list[str]) -> dict:
        if arguments[0] == "ask":
            return answer_sayso(arguments, options, hub_class) if name == "sayso" else answer_floor(arguments)
        if name == "floor":
            return watch_floor(arguments, sent["bytes"])
        found = watch_sayso(arguments, options, hub_class)
        sent["bytes"] = found.get("event_bytes", EVENT_BYTES)
        return found

    print("... the page in a browser", file=sys.stderr, flush=True)
    why = compare.install({"needs": "browser"})
    if why:
        measured.missing["browser"] = why
        measured.names["browser"] = "the page"
    else:
        measure_pages(measured, options)
    compare.take_turns(measured, "portal", list(NAMES), tests, run_once)
    compare.add_to(report, "portal", measured, list(NAMES), f"Portal, {watchers:,} watchers", ROWS)
