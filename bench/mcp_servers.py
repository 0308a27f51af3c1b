"""`sayso mcp` beside other MCP servers on stdio: the part of bench/run called mcp.

All servers take turns, A B C then C B A, and each figure is the median over the repetitions. `ratio`
is of medians and judged, `best` of the best repetitions. What a server needs is installed by
bench/install; one that cannot be had is in the table as not available, and the reason below it."""
import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from typing import Callable, Iterator

import bench

SERVERS = ["sayso", "floor", "floor-durable", "go", "sdk1", "sdk2"]
SAME_LIST = "floor-same-list"
PINGS = 1000  # under callgrind

# label, test, key of its result, divisor, unit; then the goal: a limit on the figure or on the ratio
# to the floor; at last the server the ratio is to
ROWS = [
    ("cold start", "cold", "cold_ms", 1, "ms", ("<=", 2, "x floor"), "floor"),
    ("RSS after tools/list", "cold", "rss_kb", 1024, "MB", ("<=", 4, "MB"), "floor"),
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


class Measured:
    """What all servers gave, and why some gave nothing."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, list[dict]]] = {}
        self.names: dict[str, str] = {}
        self.missing: dict[str, str] = {}

    def add(self, test: str, server: str, result: dict) -> None:
        self.runs.setdefault(test, {}).setdefault(server, []).append(result)

    def figure(self, row: tuple, server: str) -> float | None:
        _, test, key, divisor, *_ = row
        found = bench.median(self.runs.get(test, {}).get(server, []), key)
        return None if found is None else found / divisor

    def best(self, row: tuple, server: str) -> float | None:
        """Of the repetitions; what others do on the machine only ever makes a figure worse."""
        _, test, key, *_ = row
        values = [one[key] for one in self.runs.get(test, {}).get(server, []) if key in one]
        return (max if key == "ops_s" else min)(values, default=None)

    def complaints(self) -> list[str]:
        lines = [f"{self.names[server]}: not available: {why}" for server, why in self.missing.items()]
        for test, servers in self.runs.items():
            for server, some in servers.items():
                bad = [one.get("fail", "errors or unanswered requests") for one in some
                       if "fail" in one or one.get("errors", 0) + one.get("unfinished", 0) > 0]
                if bad:
                    lines.append(f"{self.names[server]}: {test}: {len(bad)} of {len(some)} runs failed: {bad[0]}")
        return lines


def install(server: dict) -> str | None:
    """Why the server cannot be had; None when it is there."""
    if "needs" not in server:
        return None
    done = subprocess.run([bench.HERE / "install", server["needs"]], stderr=subprocess.PIPE, text=True)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]


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
        server = bench.load(bench.HERE / f"servers/{name}.json", data, options.program)
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


def take_turns(measured: Measured, servers: list[str], options: argparse.Namespace, hub_class: Callable) -> None:
    seconds = str(options.seconds / 2)
    tests = {
        "cold": (["cold"], 2 * options.repetitions),
        "ping64": (["rate", "-k", "ping", "-c", "64", "-t", seconds], options.repetitions),
        "ping1": (["rate", "-k", "ping", "-c", "1", "-t", seconds], options.repetitions),
        "list64": (["rate", "-k", "list", "-c", "64", "-t", seconds], options.repetitions),
        "ask64": (["ask", "-c", "64", "-t", seconds], options.repetitions),
        "ask1": (["ask", "-c", "1", "-t", seconds], options.repetitions),
    }
    for test, (arguments, repetitions) in tests.items():
        print(f"... MCP servers, {test}", file=sys.stderr, flush=True)
        some = servers + [SAME_LIST] if test == "list64" else servers
        for repetition in range(repetitions):
            for name in some if repetition % 2 == 0 else some[::-1]:
                measured.add(test, name, run_once(name, arguments, options, hub_class))


def judge(figure: float | None, ratio: float | None, goal: tuple | None) -> tuple[str, str]:
    if not goal:
        return "", ""
    sign, limit, unit = goal
    judged = ratio if unit.startswith("x ") else figure
    wanted = f"{sign} {limit:,g} {unit}".rstrip()
    if judged is None:
        return wanted, "not measured"
    return wanted, "met" if (judged <= limit if sign == "<=" else judged >= limit) else "MISSED"


def divide(ours: float | None, beside: float | None) -> float | None:
    return ours / beside if ours is not None and beside else None


def table(measured: Measured, servers: list[str], title: str, rows: list[tuple]) -> tuple[list[list[str]], dict]:
    lines = [[title, "", *(measured.names[name] for name in servers), "ratio", "best", "goal", ""]]
    verdicts = {}
    for row in rows:
        label, _, _, _, unit, goal, base = row
        ours, beside = measured.figure(row, "sayso"), measured.figure(row, base)
        ratio = divide(ours, beside)
        best = divide(measured.best(row, "sayso"), measured.best(row, base))
        wanted, verdict = judge(ours, ratio, goal)
        cells = ["n/a" if name in measured.missing else bench.show(measured.figure(row, name)) for name in servers]
        if base == SAME_LIST:
            cells = [bench.show(beside) if name == "floor" else "" for name in servers]
        ratios = ["" if one is None else f"{one:.2f}" for one in (ratio, best)]
        lines.append([label, unit, *cells, *ratios, wanted, verdict])
        verdicts[f"{row[1]} {row[2]} to {base}"] = {"ours": ours, "base": beside, "of": base, "ratio": ratio, "best": best,
                                   "goal": wanted, "verdict": verdict}
    return lines, verdicts


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    measured = Measured()
    save_list(options.program)
    for name in [*SERVERS, SAME_LIST]:
        server = bench.load(bench.HERE / f"servers/{name}.json", "", options.program)
        measured.names[name] = server["name"]
        why = install(server)
        if why:
            measured.missing[name] = why
    take_turns(measured, [name for name in SERVERS if name not in measured.missing], options, hub_class)
    why = install({"needs": "valgrind"})
    for name in ("sayso", "floor"):
        server = bench.load(bench.HERE / f"servers/{name}.json", "", options.program)
        measured.add("callgrind", name, {"fail": why} if why else count_instructions(server))
    lines, verdicts = table(measured, SERVERS, "MCP on stdio", ROWS)
    report.texts += [align(lines), *measured.complaints()]
    report.raw["mcp"] = {"verdicts": verdicts, "not available": measured.missing, "runs": measured.runs}


def align(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    left = {0, 1, len(widths) - 2, len(widths) - 1}
    return "\n".join("  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)
