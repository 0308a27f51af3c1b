"""The picture of the README is one of the program, not of how it once was.

Proves: R6.1
"""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys

from stage import HERE  # first: it finds the others
from harness import BIN, run, test

TOOL = HERE.parent.parent / "tools" / "make_terminal_picture"


@test("docs/terminal.svg says what the terminal shows", "R6.1")
def picture() -> None:
    checked = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, timeout=60,
                             env={**os.environ, "SAYSO_BIN": str(pathlib.Path(BIN).resolve())})
    assert checked.returncode == 0, checked.stdout + checked.stderr


run()
