"""Nothing an agent wrote can act on the terminal: the corpus and thousands of made-up strings, drawn
by the real program into a pty and read by a terminal emulator that tells everything it was made to do.

Proves: R6.5
"""
from __future__ import annotations

import json
import random
import re
import unicodedata
from typing import Any, Iterator

from stage import HERE, Judge, Pty, Tmux, ask
from harness import Home, counted, run, scaled, test

CORPUS = json.loads((HERE.parent / "corpus/strings.json").read_text())["cases"]
QUIET = {"NO_COLOR": "1"}  # the terminal is asked nothing, so every reply would be an agent's doing
LIMITS = {"SAYSO_ASKS_PER_MINUTE": "1000", "SAYSO_MAX_PENDING": "1000"}


FRAME_END = b"\x1b[?2026l"


def draw(home: Home, judge: Judge, session_id: str, columns: int, rows: int) -> dict[str, Any]:
    with Pty(home, "attach", session_id, columns=columns, rows=rows, **QUIET) as pty:
        pty.read(lambda said: FRAME_END in said, "a whole picture")
        return judge.show(pty.bytes, columns, rows)


def assert_quiet(told: dict[str, Any], calm: dict[str, Any], what: Any) -> None:
    """It was made to do nothing that a harmless question does not do."""
    for key in ("titles", "replies", "bells", "osc", "modes", "isAlternate"):
        assert told[key] == calm[key], (what, key, told[key], calm[key])
    for line in told["lines"]:
        bad = [f"{ord(c):x}" for c in line if unicodedata.category(c) in ("Cc", "Cs")]
        assert not bad, (what, bad, line)


def words(text: str) -> str:
    """Without what a line break or a Markdown mark changes; a link is its words and its address.
    Nor with joined emoji: this emulator gives each of a family its own place, ours the family one."""
    return re.sub(r"[\s*_#<>`~!()\[\]\u200d\U0001f000-\U0001ffff-]+", "", text)


def confirm(home: Home, message: str) -> str:
    """For prompts that are too short for a choice."""
    asked = home.sayso("ask", "--tool", "elicit_confirm", "--from", "-", "--json", "--wait", "0",
                       input=json.dumps({"message": message}))
    assert asked.code == 5, asked
    return asked.json["session_id"]


@test("every case of the corpus is shown as it must be, and does nothing else", "R6.5")
def corpus() -> None:
    with Home(env=LIMITS) as home, Judge() as judge:
        calm = draw(home, judge, ask(home, "Calm"), 120, 60)
        for case in CORPUS:
            text, field, given = case["text"], case["field"], {}
            option = {"id": "a", "label": "first", "recommended": True}
            if field in ("label", "description"):
                given["options"] = [option | {field: text}, {"id": "b", "label": "last one"}]
            elif field == "title":
                given["title"] = text
            elif len(text.strip()) >= 24:
                given["prompt"] = text
            session_id = ask(home, **{"title": "Case", **given}) if given else confirm(home, text)
            told = draw(home, judge, session_id, 120, 60)
            assert_quiet(told, calm, case["id"])
            shown, screen = words(case["shown"]), words("".join(line[1:] for line in told["lines"]))
            shown = shown if field != "prompt" else shown[:400]
            assert shown[:60] in screen, (case["id"], case["shown"][:200], "\n".join(told["lines"]))


POINTS = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000 and point != 0 and
          unicodedata.category(chr(point)) in ("Cc", "Cf", "Zl", "Zp")]
PRIVATE = [0xE000, 0xF8FF, 0xFFFE, 0xFFFF, 0xFDD0, 0xFDEF, 0x1FFFE, 0x10FFFF, 0xF0000, 0xE0001, 0xE007F, 0xE0100]
SEQUENCES = ["\x1b[2J", "\x1b]0;owned\x07", "\x1b]52;c;b3duZWQ=\x1b\\", "\x1b[6n", "\x1b[c", "\x9b31m", "\x9d2;t\x9c",
             "\x1bP+q544e\x1b\\", "\x1b[?1049h", "\x1bc", "\x1b[5;5H", "\r", "\b\b\b", "\x1b[1A", "\x0e", "\x1b(0",
             "\x1b[?1000h", "\x1b[8m", "\x1b]8;;http://x\x07", "\x05", "\x1b[>c", "\x1b[21t", "\x85", "\x84", "\x8d"]


def make(source: random.Random, number: int) -> str:
    """Each of the points comes in turn, so none is left to chance; the rest is chance."""
    parts = [chr(POINTS[number % len(POINTS)])]
    for _ in range(source.randint(0, 5)):
        kind = source.random()
        if kind < 0.35:
            parts.append(chr(source.choice(POINTS)) * source.choice((1, 1, 1, 5)))
        elif kind < 0.45:
            parts.append(chr(source.choice(PRIVATE)))
        elif kind < 0.75:
            parts.append(source.choice(SEQUENCES))
        else:
            parts.append(source.choice(("word", "文字", "🎉", "e\u0301", "שלום", "a\u200db")))
    source.shuffle(parts)
    return "".join(parts)


@test("2,000 strings over control and format characters: each stands in its place, nothing happens", "R6.5")
def generated() -> None:
    source, rounds = random.Random(20261115), max(1, scaled(10))
    with Home(env=LIMITS) as home, Judge() as judge:
        calm = draw(home, judge, ask(home, "Calm"), 300, 440)
        for number in range(rounds):
            made = [make(source, 200 * number + n) for n in range(200)]
            options = [{"id": f"o{n}", "label": f"L{n:03}{made[n]}E{n:03}",
                        "description": f"D{n:03}{made[100 + n]}F{n:03}", "recommended": n == 0} for n in range(100)]
            session_id = ask(home, f"Round {number}", selection_mode="multi", options=options)
            told = draw(home, judge, session_id, 300, 440)
            assert_quiet(told, calm, number)
            marks = re.findall(r"[LEDF]\d{3}(?=\D|$)", "\n".join(told["lines"]))
            wanted = [f"{letter}{n:03}" for n in range(100) for letter in "LEDF"]
            assert marks == wanted, (next((a, b) for a, b in zip(marks + [None], wanted + [None]) if a != b),
                                     [line.strip() for line in told["lines"] if "L000" in line or "D000" in line])
    counted(f"{rounds * 200:,} strings drawn")


MARKS = [point for point in range(0x300, 0x1FFFF) if unicodedata.category(chr(point)) in ("Mn", "Me", "Mc")]
NEWER = [0x1E4EC, 0x1E4EF, 0x11F00, 0x11F03, 0x11F34, 0x11F41, 0x1E08F, 0x13440, 0x10EFD, 0x0CF3, 0x10D69, 0x113B8, 0x113E1,
         0x1611E, 0x16129, 0x1E5EE, 0x10EFC, 0x11F5A]  # of Unicode 15 and 16


def tower(point: int) -> str:
    return f"x{chr(point)}" * 6


def mark_asks(home: Home) -> Iterator[tuple[str, list[int]]]:
    points = MARKS + NEWER
    for begin in range(0, len(points), 100):
        some = points[begin:begin + 100]
        yield ask(home, f"Marks {begin}", selection_mode="multi", options=[
            {"id": f"o{n}", "label": f"L{n:03}{tower(point)}E{n:03}", "recommended": True}
            for n, point in enumerate(some)]), some


def assert_in_place(lines: list[str], points: list[int]) -> None:
    """What stands behind the marks would be drawn over by the word behind the label, if it were moved."""
    rows = {int(row[1]): row[0] for line in lines if (row := re.search(r"L(\d{3})x.*", line))}
    for n, point in enumerate(points):
        assert re.search(rf"E{n:03}  recommended$", rows.get(n, "")), (f"U+{point:04X}", rows.get(n))


@test("every mark that can stand on a letter, and marks newer than the terminal's tables, move nothing", "R6.1")
def marks() -> None:
    with Home(env=LIMITS) as home, Judge() as judge:
        for session_id, points in mark_asks(home):
            assert_in_place(draw(home, judge, session_id, 120, 250)["lines"], points)
        with Tmux(home, columns=120, rows=250) as tmux:
            for session_id, points in mark_asks(home):
                tmux.start("attach", session_id, shows=f"E{len(points) - 1:03}")
                assert_in_place(tmux.text().splitlines(), points)
                tmux.keys("C-c")
                tmux.end(5)


@test("a tower of marks at the right edge does not reach the next row", "R6.1 R6.5")
def tower_at_the_edge() -> None:
    with Home(env=LIMITS) as home, Judge() as judge:
        for point in (0x301, 0x1E4EC, 0x113B8, 0x11F00):
            for columns in (40, 41, 60):
                label = "y" * (columns - 9) + f"z{chr(point) * 15}"
                session_id = ask(home, f"Edge {point} {columns}", options=[
                    {"id": "a", "label": label, "recommended": True}, {"id": "b", "label": "last one"}])
                lines = draw(home, judge, session_id, columns, 40)["lines"]
                for row in (line for line in lines if line):
                    assert row[0] in " ╍╌", (hex(point), columns, lines)
                assert sum(bool(line) for line in lines if "last one" in line) == 1, lines


run()
