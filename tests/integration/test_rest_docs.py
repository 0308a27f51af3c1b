"""Every example of docs/rest.md, run in one shell from top to bottom."""
from __future__ import annotations

import os
import pathlib
import re
import subprocess

from harness import ROOT, Home, run, test


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/rest.md").read_text(), re.MULTILINE | re.DOTALL)


@test("the examples of docs/rest.md do what it says", "R10.4")
def examples(home: Home) -> None:
    bin_folder = home.path / "bin"
    bin_folder.mkdir()
    (bin_folder / "sayso").symlink_to(pathlib.Path(home.binary).resolve())
    marks = [f"{block}\necho '== {number}'\n" for number, block in enumerate(blocks())]
    assert len(marks) >= 6
    ran = subprocess.run(["bash", "-euo", "pipefail", "-c", "".join(marks)], capture_output=True, text=True,
                         timeout=60, cwd=home.path, stdin=subprocess.DEVNULL,
                         env={**home.environment, "PATH": f"{bin_folder}:{os.environ['PATH']}"})
    assert ran.returncode == 0, ran
    parts = re.split(r"== \d+\n", ran.stdout)
    listed, waited, answered, looked_after = parts[2], parts[3], parts[4], parts[5]
    assert '"title":"Which cluster gets the release?"' in listed and 'ETag: "1"' in listed, listed
    assert waited == "304\n", waited
    extended, first, second, late = re.findall(r"\{.*?\}(?=\{\"(?:session_id|error)|$)", answered.strip(), re.DOTALL)
    assert '"version":2' in extended and '"status":"submitted","version":3' in first, answered
    assert first == second, answered
    assert '"code":"already_answered"' in late and '"token":"my status bar"' in late, answered
    assert looked_after.count('{"status":"ok"}') == 2, looked_after
    assert 'sayso_asks_ended_total{state="submitted"} 1' in looked_after, looked_after
    header = home.path / ".sayso-header"
    assert header.stat().st_mode & 0o777 == 0o600


run()
