"""A question on a terminal: the part of bench/run called terminal.

`sayso attach` shows an ask of 100 options on a pty, beside a program that gives every key back
(ref/floor_pty.c); both take turns. Bytes after a key are compared with those of the first, whole picture:
`jk` moves to and fro inside of the list's window, `j` alone from its begin to its end, so most keys scroll."""
import argparse
import json
import subprocess
import tempfile
from typing import Callable

import bench
import compare

NAMES = {"sayso": "sayso", "floor": "pty echo"}
TITLE = "Which of the hundred?"
OPTIONS = 100
ASK = {"title": TITLE, "prompt": "Each of these services can take the traffic; one of them has to be drained first.",
       "selection_mode": "single", "timeout_seconds": 86400}
SMALL, LARGE = (24, 80), (40, 120)  # rows and columns
# test: generator's mode, keys, whether options have descriptions, size of the terminal
TESTS = {
    "attach": ("attach", "", False, SMALL),
    "within": ("keys", "jk", False, SMALL),
    "scroll": ("keys", "j", False, SMALL),
    "described": ("keys", "j", True, SMALL),
    "large": ("keys", "j", True, LARGE),
}
TENTH = ("<=", 10, "%")

ROWS = [
    ("attach -> first picture, p50", "attach", "first_us", 1000, "ms", None, "floor"),
    ("  the fastest of a run", "attach", "first_best_us", 1000, "ms", None, "floor"),
    ("key -> picture, p50", "within", "key_us", 1, "us", None, "floor"),
    ("  the fastest of a run", "within", "key_best_us", 1, "us", None, "floor"),
    ("  CPU of the program a key", "within", "cpu_us_key", 1, "us", None, "floor"),
    ("  bytes", "within", "key_bytes", 1, "B", None, "floor"),
    ("    of a whole picture", "within", "share", 0.01, "%", TENTH, "floor"),
    ("key that scrolls -> picture, p50", "scroll", "key_us", 1, "us", None, "floor"),
    ("  the fastest of a run", "scroll", "key_best_us", 1, "us", None, "floor"),
    ("  CPU of the program a key", "scroll", "cpu_us_key", 1, "us", None, "floor"),
    ("  bytes", "scroll", "key_bytes", 1, "B", None, "floor"),
    ("    of a whole picture", "scroll", "share", 0.01, "%", TENTH, "floor"),
    ("    of a whole picture, p99", "scroll", "share_p99", 0.01, "%", None, "floor"),
    ("  with descriptions, of a whole picture", "described", "share", 0.01, "%", TENTH, "floor"),
    ("  the same on 120 x 40", "large", "share", 0.01, "%", TENTH, "floor"),
    ("a whole picture", "scroll", "whole_bytes", 1, "B", None, "floor"),
]


def make_ask(is_described: bool) -> dict:
    options = [{"id": f"o{number}", "label": f"service-{number:03} in region {number % 7}", "recommended": number == 0}
               for number in range(OPTIONS)]
    for number, option in enumerate(options if is_described else []):
        option["description"] = f"Runs {number * 13 % 40} tasks and was last drained in week {number % 52}."
    return {**ASK, "options": options}


def run_plan(rows: list[tuple[str, str]], arguments: list[str]) -> dict:
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as file:
        file.writelines(f"{key} {value}\n" for key, value in rows)
        file.flush()
        found = bench.run_generator("ptyload", file.name, arguments)
    if found.get("whole_bytes"):
        found["share"] = found["key_bytes"] / found["whole_bytes"]
        found["share_p99"] = found["key_bytes_p99"] / found["whole_bytes"]
    return found


def run_sayso(test: str, arguments: list[str], options: argparse.Namespace, hub_class: Callable) -> dict:
    _, keys, is_described, (rows, columns) = TESTS[test]
    with hub_class(options.program) as hub:
        asked = subprocess.run([hub.program, "ask", "--from", "-", "--json", "--wait", "0"], env=hub.environment,
                               input=json.dumps(make_ask(is_described)), capture_output=True, text=True)
        words = [hub.program, "attach", json.loads(asked.stdout)["session_id"]]
        environment = {**hub.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        return run_plan([("mark", TITLE), ("keys", keys), ("rows", str(rows)), ("columns", str(columns))]
                        + [("argv", word) for word in words]
                        + [("env", f"{name}={value}") for name, value in environment.items()], arguments)


def run_floor(test: str, arguments: list[str]) -> dict:
    """A byte for a byte: nothing whole to compare with."""
    found = run_plan([("argv", str(bench.BUILD / "floor_pty")), ("keys", TESTS[test][1])], arguments)
    return {key: value for key, value in found.items() if key != "whole_bytes" and "share" not in key}


def measure(report, options: argparse.Namespace, hub_class: Callable) -> None:
    """Adds its table to the report; every run is in last.json."""
    counts = {"attach": 5 if options.quick else 40, "within": 40 if options.quick else 400}
    measured = compare.Measured()
    measured.names = dict(NAMES)
    for test, (mode, *_) in TESTS.items():
        arguments = [mode, "-n", str(counts.get(test, OPTIONS - 2))]  # a scroll ends before the last option
        compare.take_turns(measured, "terminal", list(NAMES), {test: (arguments, options.repetitions)},
                           lambda name, arguments: run_sayso(test, arguments, options, hub_class)
                           if name == "sayso" else run_floor(test, arguments))
    compare.add_to(report, "terminal", measured, list(NAMES), f"Terminal, {OPTIONS} options", ROWS)
