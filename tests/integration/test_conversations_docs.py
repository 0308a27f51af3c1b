"""Every example of docs/conversations.md, run in one shell from top to bottom."""
from __future__ import annotations

import os
import pathlib
import random
import re
import subprocess

from harness import ROOT, Home, run, test


@test("the examples of docs/conversations.md do what it says", "R3.4")
def examples(home: Home) -> None:
    text = (ROOT / "docs/conversations.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    bin_folder = home.path / "bin"
    bin_folder.mkdir()
    (bin_folder / "sayso").symlink_to(pathlib.Path(home.binary).resolve())
    marks = [f"{block}\necho '== {number}'\n" for number, block in enumerate(blocks)]
    ran = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(marks) + "sayso stop\nwait\n"], capture_output=True,
                         text=True, timeout=60, cwd=home.path, stdin=subprocess.DEVNULL,
                         env={**home.environment, "PATH": f"{bin_folder}:{os.environ['PATH']}",
                              "SAYSO_PORT": str(random.randint(20000, 30000))})
    assert ran.returncode == 0, ran
    _, turn, heard, _ = re.split(r"== \d+\n", ran.stdout)
    replies = [reply for reply in turn.replace('}{"conversation"', '}\n{"conversation"').split("\n") if reply]
    states = [re.search(r'"state":\{"type":"(\w+)"', reply).group(1) for reply in replies]
    assert states == ["tool_executing", "awaiting_user_response", "tool_executing", "llm_requesting", "idle"], turn
    count, first = heard.split("\n")[:2]
    assert int(count) == 18 and first == "id: 9", heard
    assert (home.path / "host-header").stat().st_mode & 0o777 == 0o600


run()
