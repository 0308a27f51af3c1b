"""A destructive ask takes a second act at a terminal of one's own.

Proves: R12.1
"""
from __future__ import annotations

import subprocess
import time
from typing import Any

from cli_stage import DONE, FAILED, ask, ask_json, collect, end, error_of, expect, one_line, row_of
from harness import Home, Result, run, test
from tty_stage import Tty


def destructive(home: Home, title: str = "Drop the database?", **more: Any) -> str:
    return ask_json(home, title=title, destructive=True, **more).json["session_id"]


@test("a destructive ask is not answered without a terminal: wrong_state, and where to answer", "R12.1 R10.3")
def destructive_without_tty(home: Home) -> None:
    session_id = destructive(home)
    def detached(*words: str, **streams: Any) -> Result:
        streams = {"stdin": subprocess.DEVNULL, **streams}
        return end(home, home.spawn("answer", session_id, *words, start_new_session=True, **streams))
    plain = detached("--select", "us")
    line = one_line(plain.err)
    assert plain.code == FAILED and not plain.out and "terminal" in line and "/" not in line, plain
    assert row_of(home, session_id)["status"] == "pending"
    error = error_of(detached("--select", "us", "--json"), "wrong_state", "/session_id")
    assert "terminal" in error["message"] and session_id[:8] in error["message"], error
    assert home.sayso("list").out.count(" !") == 1, "the list does not mark what is destructive"
    assert "destructive" in home.sayso("show").out.lower(), "nor does show"
    expect(home.sayso("cancel", session_id), DONE)  # refusing needs no second act


@test("only the dangerous option takes the code: a script may say no, and picks the others", "R12.1 R10.3")
def safe_answers(home: Home) -> None:
    options = [{"id": "keep", "label": "Keep it", "recommended": True}, {"id": "archive", "label": "Archive it"},
               {"id": "drop", "label": "Drop it", "destructive": True}]
    def answer(session_id: str, pick: str) -> Result:
        return end(home, home.spawn("answer", session_id, "--select", pick, "--json", stdin=subprocess.DEVNULL,
                                    start_new_session=True))
    for number, pick in enumerate(("keep", "archive")):
        session_id = ask_json(home, title=f"Part {number}?", options=options).json["session_id"]
        row = row_of(home, session_id)
        assert row["destructive"] is True and row["status"] == "pending", row
        assert "Drop it  (destructive)" in home.sayso("show", session_id).out
        error_of(answer(session_id, "drop"), "wrong_state", "/session_id")
        expect(answer(session_id, pick), DONE)
        assert collect(home, session_id).json["selection"]["selected_ids"] == [pick]
    whole = destructive(home, "All of it?")  # "eu" is the recommended one
    expect(answer(whole, "eu"), DONE)


@test("on a terminal the code is shown there and typed there; the right one answers", "R12.1 R10.3")
def destructive_right_code(home: Home) -> None:
    session_id = destructive(home, "Drop\x1b[2J it?")
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", "us", "--note", "sure")
        code = tty.read_until(r"Type (\d{3}) ")[1]
        assert "Drop\\x1b[2J it?" in tty.screen and "\x1b" not in tty.screen, tty.screen
        assert "Destructive" in tty.screen and row_of(home, session_id)["status"] == "pending"
        tty.type(code + "\n")
        result = end(home, process)
        assert result.code == DONE and result.out == "Saved: America\n" and code not in result.out + result.err
        collected = collect(home, session_id).json
        assert collected["selection"]["selected_ids"] == ["us"] and collected["explicit"] is True
        assert tty.name.endswith(collected["answered_by"]["tty"].removeprefix("/dev/")), collected


@test("a wrong code, an empty line, the end of input or Ctrl-C send nothing", "R12.1")
def destructive_wrong_code(home: Home) -> None:
    session_id = destructive(home)
    def try_typing(typed: str) -> Result:
        with Tty() as tty:
            process = tty.start(home, "answer", session_id, "--select", "us")
            code = tty.read_until(r"Type (\d{3}) ")[1]
            tty.read_until(r": ")
            wrong = f"{(int(code) + 1) % 1000:03}"
            tty.type(typed.replace("WRONG", wrong).replace("RIGHT", code))
            return end(home, process)
    for typed in ("WRONG\n", "\n", "\x04", "\x03", "RIGHT0\n", "0RIGHT\n", "yes\n", "R\nRIGHT\n",
                  "x" * 100 + "\n"):
        result = try_typing(typed)
        assert result.code != DONE and not result.out, (typed, result)
        assert row_of(home, session_id)["status"] == "pending", typed
        if typed != "\x03":
            assert "nothing was sent" in one_line(result.err).lower(), (typed, result)
    assert try_typing("RIGHT\n").code == DONE  # a new attempt has a new code and works


@test("a code can't be piped in, nor guessed by one that never showed it", "R12.1")
def destructive_pipe(home: Home) -> None:
    session_id = destructive(home)
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", "us", stdin=subprocess.PIPE)
        process.stdin.write("".join(f"{code:03}\n" for code in range(1000)))
        process.stdin.close()
        process.stdin = None
        code = tty.read_until(r"Type (\d{3}) ")[1]
        time.sleep(0.3)
        assert process.poll() is None and row_of(home, session_id)["status"] == "pending"
        tty.type("\n")
        assert end(home, process).code == FAILED
        assert row_of(home, session_id)["status"] == "pending" and code
    codes = set()
    for _ in range(5):
        with Tty() as tty:
            process = tty.start(home, "answer", session_id, "--select", "us")
            codes.add(tty.read_until(r"Type (\d{3}) ")[1])
            tty.type("\n")
            end(home, process)
    assert len(codes) > 1, "the code is always the same"


@test("an ordinary ask needs no code, and cli_answers tty or off says who may answer by command", "R12.1")
def cli_answers(home: Home) -> None:
    def detached(*words: str) -> Result:
        return end(home, home.spawn(*words, stdin=subprocess.DEVNULL, start_new_session=True))
    first, second = ask(home, "T"), ask(home, "U")
    expect(home.sayso("settings", "set", "cli_answers", "tty"), DONE)
    error_of(detached("answer", first, "--select", "eu", "--json"), "wrong_state")
    with Tty() as tty:
        assert end(home, tty.start(home, "answer", first, "--select", "eu")).code == DONE
    expect(home.sayso("settings", "set", "cli_answers", "off"), DONE)
    with Tty() as tty:
        result = end(home, tty.start(home, "answer", second, "--select", "eu"))
        assert result.code == FAILED and "cli_answers" in one_line(result.err), result
    assert row_of(home, second)["status"] == "pending"
    expect(home.sayso("settings", "reset", "cli_answers"), DONE)
    expect(detached("answer", second, "--select", "eu"), DONE)


run()
