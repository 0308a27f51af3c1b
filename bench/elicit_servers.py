"""Asks that the client's own form answers, on stdio: the part of bench/run called elicit.

The client declares forms, is asked by elicitation/create and answers immediately. Every server here is asked the same way,
with the same question. sayso's is stored before it is asked and its answer before it is told, in the
hub, as floor-durable's are; Go and the SDKs keep theirs in memory."""
import argparse
import tempfile
from typing import Callable

import bench
import compare

SERVERS = ["sayso", "floor-durable", "go", "sdk1", "sdk2"]
SDKS = ["sdk1", "sdk2"]
FASTEST = "fastest SDK"

ROWS = [
    ("ask, 64 in flight", "ask64", "ops_s", 1, "/s", (">=", 0.3, "x floor"), "floor-durable"),
    ("  ratio to the faster SDK", "ask64", "ops_s", 1, "/s", (">=", 1, "x SDK"), FASTEST),
    ("  ratio to Go", "ask64", "ops_s", 1, "/s", None, "go"),
    ("  p50", "ask64", "p50_us", 1, "us", None, "floor-durable"),
    ("  p99", "ask64", "p99_us", 1, "us", None, "floor-durable"),
    ("  CPU of what is called, the hub's not counted", "ask64", "srv_cpu_us_op", 1, "us", None, "floor-durable"),
    ("ask, 1 in flight, p50", "ask1", "p50_us", 1, "us", ("<=", 1.5, "x floor"), "floor-durable"),
]


def load(name: str, data: str, options: argparse.Namespace) -> dict:
    file = "sayso-elicit" if name == "sayso" else name
    return bench.load(bench.HERE / f"servers/{file}.json", data, options.program)


def run_once(name: str, arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    with tempfile.TemporaryDirectory(dir=bench.BUILD) as data:
        server = load(name, data, options)
        if name != "sayso":
            return bench.run(server, arguments)
        with hub_class(options.program) as hub:
            return bench.run({**server, "env": hub.environment}, arguments)


def find_fastest(measured: compare.Measured) -> None:
    """The runs of the one with the highest rate stand once more under a name of their own."""
    rates = {name: measured.figure(ROWS[0], name) or 0 for name in SDKS}
    fastest = max(rates, key=rates.get)
    for test in measured.runs.values():
        test[FASTEST] = test.get(fastest, [])
    measured.names[FASTEST] = measured.names[fastest]


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    seconds = str(options.seconds)
    tests = {"ask64": (["ask", "-c", "64", "-t", seconds], options.repetitions),
             "ask1": (["ask", "-c", "1", "-t", seconds], options.repetitions)}
    measured = compare.prepare(SERVERS, lambda name: load(name, "", options))
    compare.take_turns(measured, "asks by the client's form", SERVERS, tests,
                       lambda name, arguments: run_once(name, arguments, options, hub_class))
    find_fastest(measured)
    compare.add_to(report, "elicit", measured, SERVERS, "Asks by the client's form", ROWS)
