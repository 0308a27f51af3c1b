"""What a terminal can show decides how it looks: no color, 16, 256, all of them; light and dark; plain
ASCII. Always the same words.

Proves: R6.1
"""
from __future__ import annotations

import re
import time

from stage import Judge, Pty, ask, let_answer  # first: it finds the others
from harness import Home, run, test

FRAME_END = b"\x1b[?2026l"
WORDS = ("Which cache?", "Redis, write-through", "recommended", "Materialized view", "Enter")


def picture(home: Home, *answers: bytes, **env: str) -> bytes:
    """The first frame; a terminal that is asked for its background says what it is told here."""
    with Pty(home, "attach", ask(home), **env) as pty:
        if answers:
            pty.wait("\x1b]11;?")
            pty.type(b"".join(answers))
        return pty.read(lambda said: FRAME_END in said, "a picture")


def colours(said: bytes) -> set[str]:
    """Of every SGR sequence what is not bold, underlined or a reset."""
    parts = {part for codes in re.findall(rb"\x1b\[([\d;]*)m", said)
             for part in re.findall(r"38;5;\d+|38;2;\d+;\d+;\d+|\d+", codes.decode())}
    return parts - {"", "0", "1", "4"}


DARK = {"16": {"94", "90"}, "256": {"38;5;111", "38;5;247"},
        "true": {"38;2;157;187;255", "38;2;149;158;170"}}
LIGHT = {"16": {"34", "90"}, "256": {"38;5;26", "38;5;242"}, "true": {"38;2;36;86;197", "38;2;91;100;112"}}
TERMS: dict[str, dict[str, str]] = {"16": {"TERM": "xterm"}, "256": {"TERM": "xterm-256color"},
                                    "true": {"TERM": "xterm-256color", "COLORTERM": "truecolor"}}
WHITE, BLACK, ATTRIBUTES = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;rgb:1515/1818/1c1c\x07", b"\x1b[?62;22c"


def assert_words(judge: Judge, said: bytes) -> None:
    shown = "\n".join(judge.show(said)["lines"])
    for words in WORDS:
        assert words in shown, (words, shown)


@test("16, 256 and all colors, on dark and on light, as the terminal itself says", "R6.1")
def depths(home: Home) -> None:
    with Judge() as judge:
        for name, env in TERMS.items():
            for background, wanted in ((BLACK, DARK), (WHITE, LIGHT)):
                said = picture(home, background, ATTRIBUTES, **env)
                assert wanted[name] <= colours(said), (name, background, colours(said))
                other = (LIGHT if wanted is DARK else DARK)[name] - wanted[name]
                assert not other & colours(said), (name, background, colours(said))
                assert not [code for code in colours(said) if re.fullmatch(r"4[0-8]|10[0-7]", code)], "a background is set"
                assert_words(judge, said)


@test("NO_COLOR: bold and underlined only, the same words, and the terminal is asked nothing", "R6.1")
def no_colour(home: Home) -> None:
    with Judge() as judge:
        said = picture(home, NO_COLOR="1", TERM="xterm-256color", COLORTERM="truecolor")
        assert not colours(said) and b"\x1b]11" not in said, colours(said)
        assert re.search(rb"\x1b\[0;1m", said), "bold is left"
        assert_words(judge, said)


@test("light by COLORFGBG and by setting; a terminal that does not answer is dark and not waited for", "R6.1")
def light(home: Home) -> None:
    assert LIGHT["16"] <= colours(picture(home, COLORFGBG="0;15"))
    assert DARK["16"] <= colours(picture(home, COLORFGBG="15;0"))
    assert DARK["256"] <= colours(picture(home, TERM="xterm-256color"))  # no reply from the terminal here
    home.sayso("settings", "set", "theme", "light")
    assert LIGHT["256"] <= colours(picture(home, TERM="xterm-256color"))


@test("keys typed while the terminal is asked for its background are not taken for its answer, nor for one", "R6.1")
def typed_meanwhile(home: Home) -> None:
    session_id = ask(home)
    with Pty(home, "attach", session_id, TERM="xterm-256color") as pty:
        pty.wait("\x1b]11;?")
        pty.type(b"2" + WHITE + b"\r" + ATTRIBUTES + b"1\r")
        said = pty.read(lambda said: FRAME_END in said, "a picture")
        assert LIGHT["256"] <= colours(said), colours(said)
        pty.drain()
        assert pty.process.poll() is None
    assert [row["session_id"] for row in home.sayso("list", "--active", "--json").json] == [session_id]


@test("a terminal whose reply comes late, over a slow line: it is not taken for keys", "R6.1")
def late_answer(home: Home) -> None:
    session_id = ask(home, "Name?", selection_mode="text_input")
    with Pty(home, "attach", session_id, TERM="xterm-256color") as pty, Judge() as judge:
        pty.read(lambda said: FRAME_END in said, "a picture")
        let_answer()
        for piece in (WHITE[:9], WHITE[9:], BLACK, ATTRIBUTES[:4], ATTRIBUTES[4:], b"ok"):
            pty.type(piece)
            time.sleep(0.06)  # more than an Esc is waited for
        pty.drain()
        shown = "\n".join(judge.show(pty.bytes)["lines"])
        assert re.search(r"^ ▸ ok$", shown, re.MULTILINE), shown
        pty.type("\x03")
        pty.process.wait()


@test("no UTF-8, or the console of Linux: ASCII alone, and every mark has its stand-in", "R6.1")
def ascii_only(home: Home) -> None:
    for env in ({"LANG": "C"}, {"LC_ALL": "POSIX"}, {"TERM": "linux"}):
        for mode, marks in (("single", ("> 1  Redis",)), ("multi", ("> [ ] 1  Redis", "[x] 2"))):
            with Pty(home, "attach", ask(home, f"Which {mode} {env}?", selection_mode=mode), **env) as pty, Judge() as judge:
                pty.read(lambda said: FRAME_END in said, "a picture")
                let_answer()
                pty.type("j k" if mode == "multi" else "")
                pty.drain()
                shown = judge.show(pty.bytes)
                assert all(byte < 128 for byte in pty.bytes), pty.bytes
                text = "\n".join(shown["lines"])
                for mark in marks:
                    assert mark in text, (env, mark, text)
                assert re.search(r"^=+-*$", text, re.MULTILINE), text
                pty.type("\x03")
                pty.process.wait()


run()
