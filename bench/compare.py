"""Servers side by side: taking turns, medians, a table of figures, ratios and goals.

All servers take turns, A B C then C B A, and each figure is the median over the repetitions. `ratio`
is of medians and judged, `best` of the best repetitions. What a server needs is installed by
bench/install; one that cannot be had is in the table as not available, and the reason below it.

A row of a table: label, test, key of its result, divisor, unit; then the goal, a limit on the figure
or on the ratio to a base; at last the server the ratio is to."""
import subprocess
import sys
from typing import Callable

import bench

SAME_LIST = "floor-same-list"  # a floor that sends sayso's list; runs in the test list64 alone


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


def prepare(servers: list[str], load: Callable[[str], dict]) -> Measured:
    """Installs what they need; those that cannot be had are missing."""
    measured = Measured()
    for name in servers:
        server = load(name)
        measured.names[name] = server["name"]
        why = install(server)
        if why:
            measured.missing[name] = why
    return measured


def take_turns(measured: Measured, what: str, servers: list[str], tests: dict[str, tuple[list[str], int]],
               run_once: Callable[[str, list[str]], dict]) -> None:
    """`tests`: the generator's arguments and how often, by name."""
    for test, (arguments, repetitions) in tests.items():
        print(f"... {what}, {test}", file=sys.stderr, flush=True)
        some = [name for name in servers if name not in measured.missing and (name != SAME_LIST or test == "list64")]
        for repetition in range(repetitions):
            for name in some if repetition % 2 == 0 else some[::-1]:
                measured.add(test, name, run_once(name, arguments))


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


def add_to(report, key: str, measured: Measured, servers: list[str], title: str, rows: list[tuple]) -> None:
    """Its table, and every run for last.json."""
    lines, verdicts = table(measured, servers, title, rows)
    report.texts += [align(lines), *measured.complaints()]
    report.raw[key] = {"verdicts": verdicts, "not available": measured.missing, "runs": measured.runs}


def align(lines: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    left = {0, 1, len(widths) - 2, len(widths) - 1}
    return "\n".join("  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip() for line in lines)
