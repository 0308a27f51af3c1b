"""What each method of the wire and of MCP costs, in instructions that callgrind counts: at most linear in its input, at most
logarithmic in the history. docs/internals/complexity.md is the table; `SAYSO_UPDATE=1 python3 tests/integration/test_complexity.py`
writes it.

Proves: R12.2
"""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import NamedTuple

from harness import HANG_S, Skip, note, run, test

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/tests/unit/complexity"
PAGE = ROOT / "docs/internals/complexity.md"
FEW, MANY = 400, 6400  # asks of long ago
MORE_HISTORY = 1.6  # times, for 16 times the history: a logarithm grows less
PER_BYTE = 400  # instructions
PER_BYTE_OF_ITEMS = {  # where some 30 bytes are an option that is checked, or a result that is stored; or all rules read a byte
    ("ask/create", "many options"): 1_000,
    ("tools/call", "elicit_choice"): 4_000,
    ("ask/delivered", "many ids"): 20_000,
    ("tools/call", "permission_prompt"): 8_000,
}
STEEPER = 2.5  # times per byte, for 4 times the input: what is quadratic grows 4 times
SMALL = 40_000  # instructions that no judgement is made of

# Whose cost may grow with the history, and how much for each ask of it. All of them are a person's.
EXCEPTIONS = {
    ("ask/statistics", ""): (15_000, "looks at every ask of the days it is about"),
    ("ask/history", "search"): (2_000, "reads texts that the index of words does not know yet"),
    ("ask/history", "of one channel"): (8_000, "looks at up to 2,857 asks for a page"),
    **{(method, what): (4_000, "likewise") for method, what in (
        ("ask/history", "of one state"), ("ask/history", "before a time"), ("ask/history", "since a time"),
        ("ask/list", "of one state"), ("ask/list", "before a time"))},
    ("rule/preview", ""): (4_000, "compares with the newest asks, up to a bound"),
    ("rule/suggest", ""): (4_000, "likewise"),
}


class Cost(NamedTuple):
    short: int  # with a short input and little history
    long_ago: int  # with much history
    slopes: tuple[float, ...]  # instructions a byte, from each length to the next


def names_in(path: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, (ROOT / path).read_text(), re.M))


def every_method() -> set[str]:
    row = r'\{ "([a-z_]+(?:/[A-Za-z_]+)*)", (?!")'  # a method and what it is, not two texts
    found = names_in("src/rpc/methods.def", r'METHOD\(\w+, "([a-z_/]+)"')
    found = found.union(*(names_in(path, row) for path in ("src/mcp/mcp.c", "src/mcp/legacy.c", "src/mcp/modern.c")))
    assert len(found) > 50, f"the tables are written otherwise by now: {sorted(found)}"
    return {name for name in found if name != "hello" and not name.startswith("hub/")}  # the hub's own: they look at no ask


def start(directory: str, name: str, *words: str) -> subprocess.Popen:
    return subprocess.Popen(["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={directory}/{name}",
                             str(PROGRAM), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def read(directory: str, name: str) -> dict[tuple[str, str], dict[int, tuple[int, int]]]:
    """Bytes of input and instructions by row and by step of its input; of two runs of a step the second counts."""
    found: dict[tuple[str, str], dict[int, tuple[int, int]]] = {}
    parts = sorted(pathlib.Path(directory).glob(f"{name}.*"), key=lambda path: int(path.suffix[1:]))
    for part in parts:
        text = part.read_text()
        label = re.search(r"Trigger: Client Request: (.*)", text)
        if label:
            method, what, step, size = label[1].split("|")
            cost = int(re.search(r"^(?:summary|totals): (\d+)", text, re.M)[1])
            found.setdefault((method, what), {})[int(step)] = int(size), cost
    return found


def measure() -> dict[tuple[str, str], Cost]:
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        runs = [start(directory, "few", str(FEW), "inputs"), start(directory, "many", str(MANY))]
        for each in runs:
            said, _ = each.communicate(timeout=10 * HANG_S)
            assert each.returncode == 0, said[-3000:]
        few, many = read(directory, "few"), read(directory, "many")
    costs = {}
    for row, by_step in few.items():
        if row[1] == "first":
            continue
        steps = [by_step[step] for step in sorted(by_step)]
        slopes = tuple((cost_b - cost_a) / (b - a) for (a, cost_a), (b, cost_b) in zip(steps, steps[1:]))
        costs[row] = Cost(steps[0][1], many[row][min(many[row])][1], slopes)
    return costs


def faults(row: tuple[str, str], cost: Cost) -> list[str]:
    found, name = [], " ".join(row)
    more = cost.long_ago - cost.short
    if row in EXCEPTIONS and more > EXCEPTIONS[row][0] * (MANY - FEW):
        found.append(f"{name}: {more / (MANY - FEW):.0f} instructions for each ask of history, {EXCEPTIONS[row][0]} are allowed")
    if row not in EXCEPTIONS and cost.long_ago > cost.short * MORE_HISTORY + SMALL:
        found.append(f"{name}: {cost.short} instructions with {FEW} asks of history, {cost.long_ago} with {MANY}")
    if any(slope > PER_BYTE_OF_ITEMS.get(row, PER_BYTE) for slope in cost.slopes):
        found.append(f"{name}: {max(cost.slopes):.0f} instructions a byte of input")
    if len(cost.slopes) == 2 and cost.slopes[1] > max(cost.slopes[0], 40) * STEEPER:
        found.append(f"{name}: {cost.slopes[0]:.0f}, then {cost.slopes[1]:.0f} instructions a byte: more than linear")
    return found


def rounded(number: float) -> str:
    return f"{max(number, 0) / 1000:,.0f}"


def table(costs: dict[tuple[str, str], Cost]) -> str:
    lines = [f"| method | of it | {FEW} asks | {MANY:,} asks | per byte |", "|---|---|---|---|---|"]
    for (method, what), cost in sorted(costs.items()):
        slope = f"{max(cost.slopes[-1], 0):.0f}" if cost.slopes else ""
        lines.append(f"| {method} | {what} | {rounded(cost.short)} | {rounded(cost.long_ago)} | {slope} |")
    return "\n".join(lines) + "\n"


def listed() -> set[tuple[str, str]]:
    """The rows of the page."""
    return {(cells[0], cells[1]) for line in PAGE.read_text().splitlines()
            if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 5 and cells[0] not in ("method", "---")}


@test("each method costs at most in proportion to its input and hardly more with a long history", "R12.2")
def complexity() -> None:
    costs = measure()
    missing = every_method() - {method for method, _ in costs}
    assert not missing, f"no row in tests/unit/complexity.c: {sorted(missing)}"
    tools = {name for file in ("core/ask_tools", "mcp/tools/tools") for name in names_in(f"src/{file}.def", r"^TOOL\((\w+)\)")}
    tools -= {what for method, what in costs if method == "tools/call"}
    assert not tools, f"no row in tests/unit/complexity.c: tools/call {sorted(tools)}"
    if os.environ.get("SAYSO_UPDATE"):
        head, _, _ = PAGE.read_text().partition("| method | of it")
        PAGE.write_text(head + table(costs))
    assert listed() == set(costs), f"docs/internals/complexity.md is not of today, run with SAYSO_UPDATE=1: {listed() ^ set(costs)}"
    found = [fault for row, cost in costs.items() for fault in faults(row, cost)]
    for fault in found:
        note(fault)
    assert not found, f"{len(found)} methods cost more than they may: {found[0]}"


run()
