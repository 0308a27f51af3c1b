"""Asking and answering by the command line in few words; what the files test_cli_*.py share."""
from __future__ import annotations

import contextlib
import json
import re
import subprocess
from typing import Any, Iterator

from harness import HANG_S, Home, Result, wait_until

PROMPT = "The build is done; both clusters are healthy, so somebody has to choose."
OPTIONS = ["-o", "eu=Europe", "-o", "us=America", "-o", "as=Asia", "-r", "eu"]
WORDS = ["-p", PROMPT, *OPTIONS]
DONE, FAILED, USAGE, REFUSED, TIMED_OUT, PENDING = range(6)
ID = re.compile(r"[a-z2-7]{26}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def ask(home: Home, title: str, *more: str) -> str:
    """Asks and does not wait; returns the id."""
    result = home.sayso("ask", title, "-p", PROMPT, *(more or OPTIONS), "--wait", "0")
    assert result.code == PENDING and ID.fullmatch(result.out.strip()), result
    return result.out.strip()


def ask_json(home: Home, *options: str, **arguments: Any) -> Result:
    given = {"title": "From JSON", "prompt": PROMPT, "selection_mode": "single", **arguments}
    if given["selection_mode"] != "text_input":
        given.setdefault("options", [{"id": "eu", "label": "Europe", "recommended": True},
                                     {"id": "us", "label": "America"}])
    return home.sayso("ask", "--from", "-", "--json", "--wait", "0", *options, input=json.dumps(given))


def collect(home: Home, session_id: str, *options: str) -> Result:
    return home.sayso("ask", "--from", "-", "--json", *options,
                      input=json.dumps({"session_id": session_id, "wait_seconds": 0}))


@contextlib.contextmanager
def asking(home: Home, title: str, *more: str, **settings: Any) -> Iterator[tuple[str, subprocess.Popen]]:
    """`sayso ask` that waits, and its id; end() gives its result."""
    process = home.spawn("ask", title, *(more or WORDS), stdin=subprocess.DEVNULL, **settings)
    rows = wait_until(lambda: [row for row in home.sayso("list", "--active", "--json").json
                               if row["title"] == title], "the ask is there")
    yield rows[0]["session_id"], process
    if process in home.spawned:
        end(home, process)


def end(home: Home, process: subprocess.Popen) -> Result:
    out, err = process.communicate(timeout=HANG_S)
    home.spawned.remove(process)
    return Result(process.returncode, out or "", err or "")


def row_of(home: Home, session_id: str) -> dict[str, Any]:
    return home.sayso("show", session_id, "--json").json["ask"]


def one_line(text: str) -> str:
    """People get one sentence in one line, without a control character."""
    assert text.endswith("\n") and text.count("\n") == 1 and text[:-1].isprintable(), repr(text)
    return text.strip()


def expect(result: Result, code: int, *words: str) -> Result:
    said = result.out + result.err
    assert result.code == code and all(word in said for word in words), (code, words, result)
    return result


def error_of(result: Result, code: str | None, path: str | None = None) -> dict[str, Any]:
    assert result.code == FAILED and result.out.count("\n") == 1 and not result.err, result
    error = result.json["error"]
    assert code in (None, error["code"]) and path in (None, error["path"]) and error["message"], error
    return error


def finished(home: Home, title: str) -> str:
    """An ask that was answered and whose answer arrived."""
    session_id = ask(home, title)
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)
    assert collect(home, session_id).code == DONE
    return session_id
