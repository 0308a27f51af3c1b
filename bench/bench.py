#!/usr/bin/env python3
"""Drives mcpload over one or more MCP servers that speak stdio; interleaved, medians, ratios.

  bench/bench.py [-t TEST,...] [-R repetitions] [-p processor] [-o out.json] A.json B.json ...

The first server is the base of the ratios. README.md tells what a description holds. bench/run
uses plan() and run() for the floors."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", HERE.parent / "build" / "bench"))
PROGRAM = HERE.parent / "build" / "sayso"
META = "io.modelcontextprotocol/"
CLIENT = {"name": "mcpload", "version": "1"}
RATES = ["ops_s", "p50_us", "p99_us", "srv_cpu_us_op", "gen_cpu_us_op", "errors"]

# name: (arguments of mcpload, what is printed)
TESTS = {
    "cold": (["cold"], ["cold_ms", "rss_kb", "pss_kb", "procs"]),
    "ping1": (["rate", "-k", "ping", "-c", "1", "-t", "1"], RATES),
    "ping64": (["rate", "-k", "ping", "-c", "64", "-t", "1"], RATES),
    "list1": (["rate", "-k", "list", "-c", "1", "-t", "1"], RATES),
    "list64": (["rate", "-k", "list", "-c", "64", "-t", "1"], RATES),
    "ask1": (["ask", "-c", "1", "-t", "2"], RATES),
    "ask64": (["ask", "-c", "64", "-t", "2"], RATES),
}


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def request(method, params=None):
    message = {"jsonrpc": "2.0", "id": "@", "method": method}
    if params is not None:
        message["params"] = params
    return compact(message).replace('"id":"@"', '"id":%ID%')


def load(path, data, program=PROGRAM):
    """A description; {BUILD} is where the programs are, {DATA} a directory for what they store,
    {PROGRAM} the sayso that is measured."""
    text = pathlib.Path(path).read_text()
    for name, value in {"{BUILD}": BUILD, "{DATA}": data, "{PROGRAM}": program}.items():
        text = text.replace(name, str(value))
    return json.loads(text)


def modern_messages(server):
    """Revision 2026-07-28: no handshake and no ping, so server/discover stands for both; the answer
    to a question comes with the call made again."""
    meta = {"_meta": {META + "protocolVersion": "2026-07-28", META + "clientInfo": CLIENT,
                      META + "clientCapabilities": {"elicitation": {"form": {}}}}}
    call = {"name": server["call"]["tool"], "arguments": server["call"]["arguments"], **meta}
    again = {"inputResponses": {server["answers"]: {"action": "accept", "content": server["answer"]}},
             "requestState": "asked"}
    return [("init.body", request("server/discover", meta)), ("list.body", request("tools/list", meta)),
            ("ping.body", request("server/discover", meta)), ("call.body", request("tools/call", call)),
            ("again.body", request("tools/call", {**call, **again}))]


def legacy_messages(server):
    return [
        ("init.body", request("initialize", {"protocolVersion": "2025-11-25", "clientInfo": CLIENT,
                                             "capabilities": {"elicitation": {"form": {}}}})),
        ("inited.body", compact({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        ("list.body", request("tools/list", {})),
        ("ping.body", request("ping")),
        ("other.body", '{"jsonrpc":"2.0","id":%RID%,"result":{}}'),
        ("call.body", request("tools/call", {"name": server["call"]["tool"],
                                             "arguments": server["call"]["arguments"]})),
        ("reply.body", '{"jsonrpc":"2.0","id":%RID%,"result":{"action":"accept","content":'
                       + compact(server["answer"]) + "}}"),
    ]


def plan(server):
    """The lines mcpload reads."""
    rows = [("argv", word) for word in server["argv"]]
    rows += [("env", f"{name}={value}") for name, value in server.get("env", {}).items()]
    rows += modern_messages(server) if server.get("is_modern") else legacy_messages(server)
    return "".join(f"{key} {value}\n" for key, value in rows)


def run(server, arguments):
    """One run of mcpload; {"fail": why} if there is no figure."""
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
        file.write(plan(server))
        file.flush()
        return run_generator("mcpload", file.name, arguments)


def run_generator(program, plan_path, arguments):
    command = [str(BUILD / program), arguments[0], plan_path, *arguments[1:]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"fail": "took too long"}
    except ValueError:
        return {"fail": "no output: " + done.stderr[-200:]}


def median(runs, key):
    """Over the runs that worked; None if none did."""
    values = [one[key] for one in runs if key in one]
    return statistics.median(values) if values else None


def show(number):
    return "-" if number is None else f"{number:,.0f}" if abs(number) >= 100 else f"{number:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-t", "--tests", default="cold,ping1,ping64,ask1,ask64")
    parser.add_argument("-R", "--repetitions", type=int, default=5)
    parser.add_argument("-o", "--out", help="every run as JSON")
    parser.add_argument("-p", "--pin", help="server and generator on this processor alone")
    parser.add_argument("servers", nargs="+")
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory(dir=BUILD) as data:
        servers = [load(path, data) for path in options.servers]
        for test in options.tests.split(","):
            arguments, columns = TESTS[test]
            pin = ["-p", options.pin] if options.pin else []
            runs = {server["name"]: [] for server in servers}
            for repetition in range(options.repetitions):
                for server in servers if repetition % 2 == 0 else servers[::-1]:
                    runs[server["name"]].append(run(server, arguments + pin))
            print(f"\n## {test}\n| server | {' | '.join(columns)} | ratio |")
            print("|---" * (len(columns) + 2) + "|")
            base = median(runs[servers[0]["name"]], columns[0])
            for name, some in runs.items():
                first = median(some, columns[0])
                ratio = first / base if first and base else None
                print(f"| {name} | {' | '.join(show(median(some, key)) for key in columns)} |"
                      f" {show(ratio)} |")
            results[test] = runs
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
