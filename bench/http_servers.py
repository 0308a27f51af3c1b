"""`/mcp` of the hub beside other MCP servers over HTTP: the part of bench/run called http.

sayso's asks are answered over /api/asks, by a person's token; the other servers are answered on
/mcp."""
import argparse
import contextlib
import random
import socket
import subprocess
import tempfile
from typing import Callable, Iterator

import bench
import compare
import mcp_servers
from compare import SAME_LIST

SERVERS = ["sayso", "floor", "go", "fastapi", "sdk1", "sdk2"]
MODERN = "2026-07-28"
LIFTED = {"SAYSO_HOLD_LIMITS": '{"*":3600}'}

ROWS = [
    ("tools/list, 64 connections", "list64", "ops_s", 1, "/s", (">=", 10, "x SDK v1"), "sdk1"),
    ("  ratio to the floor", "list64", "ops_s", 1, "/s", None, "floor"),
    ("  ratio to a floor that sends sayso's list", "list64", "ops_s", 1, "/s", None, SAME_LIST),
    ("  p50", "list64", "p50_us", 1, "us", None, "sdk1"),
    ("  p99", "list64", "p99_us", 1, "us", None, "sdk1"),
    ("  CPU of the server a list", "list64", "srv_cpu_us_op", 1, "us", None, "sdk1"),
    ("ping, 64 connections", "ping64", "ops_s", 1, "/s", None, "sdk1"),
    ("  CPU of the server a ping", "ping64", "srv_cpu_us_op", 1, "us", None, "floor"),
    ("asks pending: all held in", "pending", "held_s", 1, "s", None, "sdk1"),
    # of its text sayso holds the title alone, so that nothing is taken off
    ("  memory an ask", "pending", "bytes_per_ask", 1, "B", ("<=", 900, "B"), "sdk1"),
    ("  all answered in", "pending", "answered_s", 1, "s", ("<=", 0.09, "x SDK v1"), "sdk1"),
    ("  CPU of the server an answer", "pending", "srv_cpu_us_answer", 1, "us", None, "sdk1"),
]


def free_port() -> int:
    """Not one of those that clients are given."""
    while True:
        port = random.randint(20000, 30000)
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port


def load(name: str, port: int) -> dict:
    """A description; sayso's is that of stdio, since it is called the same way."""
    if name == "sayso":
        return bench.load(bench.HERE / "servers/sayso.json", "")
    server = bench.load(bench.HERE / f"servers/http-{name}.json", "")
    places = {"{PORT}": str(port), "{BENCH}": str(bench.HERE)}
    server["argv"] = [places.get(word, word.replace("{BENCH}", str(bench.HERE))) for word in server["argv"]]
    return server


def messages(server: dict) -> list[tuple[str, str]]:
    """Those of stdio; what a modern message is about stands in its headers too."""
    if not server.get("is_modern"):
        return bench.legacy_messages(server)
    methods = {"init": "server/discover", "list": "tools/list", "ping": "server/discover", "call": "tools/call",
               "again": "tools/call"}
    rows = [("header", f"MCP-Protocol-Version: {MODERN}")]
    rows += [(f"{name}.header", f"Mcp-Method: {method}") for name, method in methods.items()]
    rows += [(f"{name}.header", f"Mcp-Name: {server['call']['tool']}") for name in ("call", "again")]
    return rows + bench.modern_messages(server)


def started_by_us(server: dict, port: int) -> list[tuple[str, str]]:
    return [("argv", word) for word in server["argv"]] + [("port", str(port)), ("path", "/mcp")] + messages(server)


def token(hub, kind: str) -> str:
    command = [hub.program, "token", "new", "--kind", kind, "--label", "bench"]
    return subprocess.run(command, env=hub.environment, capture_output=True, text=True, check=True).stdout.split()[0]


@contextlib.contextmanager
def hub_plan(server: dict, program: str, hub_class: Callable) -> Iterator[list[tuple[str, str]]]:
    """The client cannot show forms: a person answers, over the API."""
    hub = hub_class(program)
    hub.environment.update(LIFTED)
    with hub:
        bodies = dict(messages(server))
        bodies["init.body"] = bodies["init.body"].replace('"elicitation":{"form":{}}', "")
        yield [("pid", str(hub.process.pid)), ("port", str(hub.status["port"])), ("path", "/mcp"),
               ("header", f"Authorization: Bearer {token(hub, 'agent')}"),
               ("person", f"Authorization: Bearer {token(hub, 'person')}"),
               ("asks.path", "/api/asks?status=pending&limit=1000"), ("answer.path", "/api/asks/%ASK%/answer"),
               ("answer.body", '{"selected_ids":["yes"]}'), *bodies.items()]


def run_plan(rows: list[tuple[str, str]], arguments: list[str]) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
        file.writelines(f"{key} {value}\n" for key, value in rows)
        file.flush()
        return bench.run_generator("httpload", file.name, arguments)


def run_once(name: str, arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    port = free_port()
    server = load(name, port)
    if name == "sayso":
        with hub_plan(server, options.program, hub_class) as rows:
            return run_plan(rows, arguments)
    return run_plan(started_by_us(server, port), arguments)


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    asks = 500 if options.quick else 10000
    seconds = str(options.seconds)
    tests = {
        "list64": (["rate", "-k", "list", "-c", "64", "-t", seconds], options.repetitions),
        "ping64": (["rate", "-k", "ping", "-c", "64", "-t", seconds], options.repetitions),
        "pending": (["pending", "-n", str(asks), "-c", "256"], max(1, min(3, options.repetitions))),
    }
    mcp_servers.save_list(options.program)
    measured = compare.prepare([*SERVERS, SAME_LIST], lambda name: load(name, 0))
    compare.take_turns(measured, "HTTP servers", [*SERVERS, SAME_LIST], tests,
                       lambda name, arguments: run_once(name, arguments, options, hub_class))
    compare.add_to(report, "http", measured, SERVERS, "MCP over HTTP", ROWS)
