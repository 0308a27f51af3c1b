"""Terminals for the tests: tmux, which people use, and a bare pty whose bytes another emulator reads.

A test types, waits until the screen shows something, and looks. Nothing here sleeps for a guess:
every wait is for a picture.
"""
from __future__ import annotations

import base64
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import re
import select
import shlex
import struct
import subprocess
import sys
import termios
import time
from typing import Any, Iterable

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

from cli_stage import PROMPT  # noqa: E402
from harness import HANG_S, SLACK, Home, wait_until  # noqa: E402

WAIT_S = HANG_S
READY_S = 0.51  # no key answers in the first 500 ms of a question
CALM_S = 0.09  # an Enter that is read within 80 ms of another key may belong to a paste or an input method
_numbers = itertools.count()


def let_answer() -> None:
    """Once the question was seen. The program counted from before it drew it, so this is long enough on any machine."""
    time.sleep(READY_S)


def ask(home: Home, title: str = "Which cache?", wait: str = "0", **given: Any) -> str:
    """An ask of an agent; its id."""
    words = {"title": title, "prompt": PROMPT, "selection_mode": "single", **given}
    if words["selection_mode"] != "text_input":
        words.setdefault("options", [
            {"id": "redis", "label": "Redis, write-through", "description": "One more service.",
             "recommended": True},
            {"id": "view", "label": "Materialized view", "description": "Nothing new to run."},
            {"id": "none", "label": "Leave it", "description": "Scale the database up."}])
    result = home.sayso("ask", "--from", "-", "--json", "--wait", wait, input=json.dumps(words))
    assert result.code == 5, result
    return result.json["session_id"]


def result_of(home: Home, session_id: str) -> dict[str, Any]:
    """What the agent gets, once the time to undo is over."""
    def final() -> dict[str, Any] | None:
        got = home.sayso("ask", "--from", "-", "--json", input=json.dumps(
            {"session_id": session_id, "wait_seconds": 0})).json
        return None if got["action_status"].startswith("pending") else got
    return wait_until(final, "the agent has its answer", WAIT_S)


def pid_of(home: Home, verb: str = "attach") -> int:
    """The process of our program in the tmux of this home."""
    def find() -> int | None:
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
                env = open(f"/proc/{entry}/environ", "rb").read()
            except OSError:
                continue
            if words[0].decode() == home.binary and words[1] == verb.encode() and str(home.path).encode() in env:
                return int(entry)
        return None
    return wait_until(find, f"sayso {verb} runs")


class Tmux(contextlib.AbstractContextManager):
    """A shell in a tmux of its own, as a person has one."""

    def __init__(self, home: Home, columns: int = 80, rows: int = 24, **env: str):
        self.home, self.socket = home, f"{home.path}/tmux{next(_numbers)}"
        self.environment = {**home.environment, "LANG": "C.UTF-8", "TERM": "xterm-256color", "BIN": home.binary, **env}
        self.environment.pop("TMUX", None)
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                 "exec env PS1='ready$ ' bash --norc --noprofile -i")
        self.run("set", "-g", "status", "off")
        self.run("set", "-g", "escape-time", "0")
        self.wait(r"ready\$")

    def run(self, *words: str, **settings: Any) -> str:
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *words], env=self.environment, text=True,
                              capture_output=True, timeout=HANG_S, **settings)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def __exit__(self, *_: Any) -> None:
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)

    def type(self, text: str) -> None:
        self.run("send-keys", "-l", "--", text)

    def keys(self, *names: str) -> None:
        self.run("send-keys", *names)

    def enter(self, after: str) -> None:
        """Once this pattern shows that the program has read the keys before."""
        self.wait(after)
        time.sleep(CALM_S)
        self.keys("Enter")

    def paste(self, text: str) -> None:
        self.run("load-buffer", "-", input=text)
        self.run("paste-buffer", "-p", "-d")

    def resize(self, columns: int, rows: int) -> None:
        self.run("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self) -> str:
        return self.run("capture-pane", "-p").rstrip("\n")

    def wait(self, pattern: str, timeout: float = WAIT_S) -> str:
        """The screen, once the regular expression is on it."""
        deadline = time.monotonic() + timeout
        while not re.search(pattern, shown := self.text(), re.MULTILINE):
            assert time.monotonic() < deadline, f"{pattern!r} did not come:\n{shown}"
            time.sleep(0.03)
        return shown

    def wait_gone(self, pattern: str) -> str:
        wait_until(lambda: not re.search(pattern, self.text(), re.MULTILINE), f"{pattern!r} goes", WAIT_S)
        return self.text()

    def command(self, *words: str) -> None:
        """Types a command of sayso into the shell; its exit code is printed behind it. What is typed is as long in every
        tree: a line that fills the row to its last column leaves the cursor elsewhere."""
        self.mark = f"end{next(_numbers)}"
        self.type(f'"$BIN" {shlex.join(words)}; echo "{self.mark}=$?"')
        self.keys("C-m")

    def start(self, *words: str, shows: str = r"Which cache\?") -> str:
        """Runs it until its question is there and may be answered."""
        self.run("send-keys", "-R")
        self.run("clear-history")
        self.command(*words)
        self.wait(shows)
        let_answer()
        return self.text()

    def end(self, code: int) -> str:
        """The screen after the program has ended with this code and the shell is back."""
        shown = self.wait(rf"^{self.mark}=\d+\n(.*\n)*.*ready\$\s*\Z")
        assert f"{self.mark}={code}" in shown, shown
        return shown

    def modes(self) -> str:
        """How the shell's terminal is set, for before and after."""
        mark = f"modes{next(_numbers)}"
        self.type(f"clear; echo {mark}; stty -a; echo end{mark}")
        self.keys("C-m")
        shown = self.wait(rf"^end{mark}$")
        flags = self.run("display-message", "-p",
                         "#{alternate_on} #{cursor_flag} #{wrap_flag} #{keypad_flag} #{mouse_any_flag} #{bracket_paste_flag}")
        # rows and columns may differ after a resize; bash sets bracketed paste itself while it reads
        return re.sub(r"rows \d+; columns \d+;", "", shown.split(mark)[1]) + flags.rsplit(" ", 1)[0]


class Pty(contextlib.AbstractContextManager):
    """A terminal whose every byte is kept; queries to it get no reply."""

    def __init__(self, home: Home, *words: str, columns: int = 80, rows: int = 24, **env: str):
        self.home, self.columns, self.rows = home, columns, rows
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.name, self.slave, self.bytes = os.ttyname(slave), slave, b""
        self.process = home.spawn(*words, env={"LANG": "C.UTF-8", "TERM": "xterm", **env},
                                  stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                  preexec_fn=self.attach)

    def attach(self) -> None:
        fcntl.ioctl(os.open(self.name, os.O_RDWR), termios.TIOCSCTTY, 0)

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.home.spawned.remove(self.process)
        os.close(self.master)
        os.close(self.slave)

    def read(self, is_enough: Any, what: str, timeout: float = WAIT_S) -> bytes:
        deadline = time.monotonic() + timeout
        while not is_enough(self.bytes):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{what} did not come: {self.bytes[-2000:]!r}"
            self.bytes += os.read(self.master, 65536)
        return self.bytes

    def wait(self, words: str) -> bytes:
        return self.read(lambda said: words.encode() in said, words)

    def type(self, text: str | bytes) -> None:
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def drain(self, quiet_s: float = 0.15) -> bytes:
        """Until nothing has come for so long."""
        while select.select([self.master], [], [], quiet_s * SLACK)[0]:
            self.bytes += os.read(self.master, 65536)
        return self.bytes

    def is_restored(self) -> bool:
        return termios.tcgetattr(self.slave) == self.before


class Judge(contextlib.AbstractContextManager):
    """@xterm/headless, for as many screens as are wanted."""

    def __init__(self) -> None:
        node = HERE.parent / "mcp/node_modules/.bin/node"
        self.process = subprocess.Popen([str(node) if node.exists() else "node", str(HERE / "judge.mjs")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __exit__(self, *_: Any) -> None:
        self.process.stdin.close()
        self.process.wait()

    def show(self, said: bytes | Iterable[Any], columns: int = 80, rows: int = 24) -> dict[str, Any]:
        steps = [said] if isinstance(said, bytes) else list(said)
        line = {"columns": columns, "rows": rows,
                "steps": [base64.b64encode(step).decode() if isinstance(step, bytes) else step for step in steps]}
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())
