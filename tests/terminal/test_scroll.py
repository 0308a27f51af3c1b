"""A list that is longer than the terminal: the terminal moves its rows, and shows the same as one that
draws every row; a key costs few bytes.

Proves: R6.1
"""
from __future__ import annotations

import re
import statistics

from stage import Judge, Pty, Tmux, ask, let_answer
from harness import Home, run, test

OPTIONS = [{"id": f"o{n}", "label": f"service-{n:03} in region {n % 7}", "recommended": n == 0} for n in range(100)]
FRAME_END = b"\x1b[?2026l"
ROWS_MOVED = re.compile(rb"\x1b\[\d*[LM]")
DRAWN = {"TERM": "vt100", "NO_COLOR": "1"}  # can't move rows
MOVED = {"TERM": "xterm", "NO_COLOR": "1"}


def timeless(lines: list[str]) -> list[str]:
    """Without clocks, which go on."""
    return [re.sub(r"(\d+:)+\d\d|\d+ s|[╍╌=]{9,}.*", "", line).rstrip() for line in lines]


def press(pty: Pty, key: str) -> bytes:
    """What the program writes for one key; a clock's own picture is not taken for the key's."""
    pty.drain(0.005)
    before = len(pty.bytes)
    pty.type(key)
    return pty.read(lambda said: FRAME_END in said[before:], f"the picture after {key!r}")[before:]


def walk(home: Home, session_id: str, keys: str, rows: int, **env: str) -> tuple[Pty, list[bytes]]:
    with Pty(home, "attach", session_id, rows=rows, **env) as pty:
        pty.wait("Which cache?")
        pty.read(lambda said: FRAME_END in said, "a whole picture")
        let_answer()
        pictures = [pty.bytes[pty.bytes.index(b"\x1b[?2026h"):]] + [press(pty, key) for key in keys]
        pty.drain()
        return pty, pictures


@test("down and up a list of 100, past both ends: moved rows show what drawn rows show", "R6.1")
def same_picture(home: Home) -> None:
    session_id = ask(home, options=OPTIONS)
    with Judge() as judge:
        for rows in (24, 14):
            for keys in ("j" * 25 + "k" * 22, "k" * 16 + "j" * 12):
                moved, pictures = walk(home, session_id, keys, rows, **MOVED)
                drawn, others = walk(home, session_id, keys, rows, **DRAWN)
                assert any(ROWS_MOVED.search(one) for one in pictures), (rows, keys)
                assert not any(ROWS_MOVED.search(one) for one in others), (rows, keys)
                shown, wanted = (timeless(judge.show(one.bytes, 80, rows)["lines"]) for one in (moved, drawn))
                assert shown == wanted, (rows, keys, shown, wanted)


@test("below other output and at the end of the screen: what stands above stays", "R6.1")
def in_tmux(home: Home) -> None:
    session_id = ask(home, options=OPTIONS)
    with Tmux(home) as tmux, Judge() as judge:
        tmux.start("attach", session_id)
        for _ in range(30):
            tmux.keys("j")
        shown = tmux.wait(r"▸ +31  service-030")
        pty, _ = walk(home, session_id, "j" * 30, 24, **DRAWN)
        wanted = timeless(judge.show(pty.bytes)["lines"])
        assert timeless(shown.split("\n")) == wanted, (shown, wanted)
        tmux.keys("C-c")
        tmux.end(5)


@test("a key costs at most a tenth of a whole picture, whether the list scrolls or not", "R6.1")
def bytes_of_a_key(home: Home) -> None:
    session_id = ask(home, options=OPTIONS)
    for rows in (24, 40):
        _, (whole, *pictures) = walk(home, session_id, "j" * 60, rows, TERM="xterm-256color", COLORFGBG="15;0")
        scrolled = [len(one) for one in pictures if ROWS_MOVED.search(one) and one.count(FRAME_END) == 1]
        stayed = [len(one) for one in pictures if not ROWS_MOVED.search(one) and one.count(FRAME_END) == 1]
        assert len(scrolled) > 10 and len(stayed) > 3, (len(scrolled), len(stayed))
        for sizes in (scrolled, stayed):
            assert statistics.median(sizes) <= len(whole) / 10, (rows, len(whole), sizes)


run()
