"""A terminal of one's own for a program, and what a person sees and types there."""
from __future__ import annotations

import fcntl
import os
import re
import select
import subprocess
import termios
import time
from typing import Any

from harness import HANG_S, Home


class Tty:
    """A terminal that a program gets as its own, whatever its standard streams are."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        self.name, self.screen = os.ttyname(slave), ""
        self.slave = slave  # kept open, so that reading never ends in EIO
        quiet = termios.tcgetattr(slave)
        quiet[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, quiet)

    def __enter__(self) -> Tty:
        return self

    def __exit__(self, *_: Any) -> None:
        os.close(self.master)
        os.close(self.slave)

    def attach(self) -> None:
        """In the child, which has a session of its own: the first terminal opened is its own."""
        fcntl.ioctl(os.open(self.name, os.O_RDWR), termios.TIOCSCTTY, 0)

    def start(self, home: Home, *words: str, **streams: Any) -> subprocess.Popen:
        streams = {"stdin": subprocess.DEVNULL, **streams}
        return home.spawn(*words, start_new_session=True, preexec_fn=self.attach, **streams)

    def read_until(self, pattern: str, timeout: float = HANG_S) -> re.Match[str]:
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, self.screen)):
            ready, _, _ = select.select([self.master], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{pattern} did not appear on the terminal: {self.screen!r}"
            self.screen += os.read(self.master, 65536).decode()
        return found

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())
