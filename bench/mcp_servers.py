"""`sayso mcp` beside other MCP servers on stdio: the part of bench/run called mcp."""
import argparse
import contextlib
import json
import subprocess
import tempfile
from typing import Callable, Iterator

import bench
import compare
from compare import SAME_LIST

SERVERS = ["sayso", "floor", "floor-durable", "go", "sdk1", "sdk2"]
PINGS = 1000  # under callgrind

ROWS = [
    ("cold start", "cold", "cold_ms", 1, "ms", ("<=", 1.4, "x floor"), "floor"),
    ("RSS after tools/list", "cold", "rss_kb", 1024, "MB", ("<=", 3.2, "MB"), "floor"),
    ("  PSS", "cold", "pss_kb", 1024, "MB", None, "floor"),
    ("ping, 64 in flight", "ping64", "ops_s", 1, "/s", (">=", 0.4, "x floor"), "floor"),
    ("  p50", "ping64", "p50_us", 1, "us", None, "floor"),
    ("  CPU of the server a ping", "ping64", "srv_cpu_us_op", 1, "us", None, "floor"),
    ("ping, 1 in flight, p50", "ping1", "p50_us", 1, "us", None, "floor"),
    ("tools/list, 64 in flight", "list64", "ops_s", 1, "/s", (">=", 0.4, "x floor"), "floor"),
    ("  p50", "list64", "p50_us", 1, "us", None, "floor"),
    ("  CPU of the server a list", "list64", "srv_cpu_us_op", 1, "us", None, "floor"),
    ("  ratio to a floor that sends sayso's list", "list64", "ops_s", 1, "/s", None, SAME_LIST),
    ("ask, 64 in flight", "ask64", "ops_s", 1, "/s", None, "floor-durable"),
    ("ask, 1 in flight, p50", "ask1", "p50_us", 1, "us", None, "floor-durable"),
    ("instructions a ping", "callgrind", "instructions", 1, "", ("<=", 5000, ""), "floor"),
]


def load(name: str, data: str, options: argparse.Namespace) -> dict:
    return bench.load(bench.HERE / f"servers/{name}.json", data, options.program)


def save_list(program: str) -> None:
    """What sayso answers to tools/list, for the floor that sends as much."""
    line = bench.request("tools/list", {}).replace("%ID%", "1") + "\n"
    done = subprocess.run([program, "mcp"], input=line, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)["result"]
    (bench.BUILD / "list.json").write_text(json.dumps(result, separators=(",", ":"), ensure_ascii=False))


@contextlib.contextmanager
def somebody_who_answers(server: dict, hub_class: Callable) -> Iterator[dict]:
    """sayso's questions go to a hub; a person on its wire answers each as it comes."""
    with hub_class(server["argv"][0]) as hub:
        command = [str(bench.BUILD / "wireload"), "answer", str(hub.data / "sayso/hub.json")]
        person = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            person.stdout.readline()  # it watches
            yield {**server, "env": hub.environment}
        finally:
            person.terminate()
            person.wait()


def run_once(name: str, arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    with tempfile.TemporaryDirectory(dir=bench.BUILD) as data:
        server = load(name, data, options)
        if name == "sayso" and arguments[0] == "ask":
            with somebody_who_answers(server, hub_class) as asking:
                return bench.run(asking, arguments)
        return bench.run(server, arguments)


def count_instructions(server: dict) -> dict:
    """Of one ping: what a thousand more of them cost in the same process, read from a file."""
    totals = []
    for count in (0, PINGS):
        with tempfile.NamedTemporaryFile("w+", dir=bench.BUILD) as lines:
            body = dict(bench.legacy_messages(server))
            lines.write(body["init.body"].replace("%ID%", "1") + "\n")
            lines.writelines(body["ping.body"].replace("%ID%", str(100 + i)) + "\n" for i in range(count))
            lines.seek(0)
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *server["argv"]]
            done = subprocess.run(command, stdin=lines, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        found = [line for line in done.stderr.splitlines() if "Collected :" in line]
        if not found:
            return {"fail": "callgrind: " + done.stderr[-200:]}
        totals.append(int(found[0].split()[-1]))
    return {"instructions": (totals[1] - totals[0]) / PINGS}


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    seconds = str(options.seconds / 2)
    tests = {
        "cold": (["cold"], 2 * options.repetitions),
        "ping64": (["rate", "-k", "ping", "-c", "64", "-t", seconds], options.repetitions),
        "ping1": (["rate", "-k", "ping", "-c", "1", "-t", seconds], options.repetitions),
        "list64": (["rate", "-k", "list", "-c", "64", "-t", seconds], options.repetitions),
        "ask64": (["ask", "-c", "64", "-t", seconds], options.repetitions),
        "ask1": (["ask", "-c", "1", "-t", seconds], options.repetitions),
    }
    save_list(options.program)
    measured = compare.prepare([*SERVERS, SAME_LIST], lambda name: load(name, "", options))
    compare.take_turns(measured, "MCP servers", [*SERVERS, SAME_LIST], tests,
                       lambda name, arguments: run_once(name, arguments, options, hub_class))
    why = compare.install({"needs": "valgrind"})
    for name in ("sayso", "floor"):
        measured.add("callgrind", name, {"fail": why} if why else count_instructions(load(name, "", options)))
    compare.add_to(report, "mcp", measured, SERVERS, "MCP on stdio", ROWS)
