"""The commands that README and docs name, as a newcomer would type them: placeholders filled in, brackets both ways."""
from __future__ import annotations

import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
from typing import Iterator, NamedTuple

from harness import HANG_S, ROOT, Home

PAGES = ["README.md", "CONTRIBUTING.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Named(NamedTuple):
    page: str
    text: str  # without what is said about it


def blocks(page: str, language: str = "sh") -> list[str]:
    return [body for kind, body in FENCE.findall((ROOT / page).read_text(encoding="utf-8")) if kind == language]


def _cleaned(line: str) -> str:
    line = re.sub(r"\s+#\s.*$|\s{3,}\S.*$", "", line.strip())  # a comment, or words in the next column
    return re.sub(r"\s*>/dev/null &$", "", line).replace("\\|", "|").strip()


def commands() -> Iterator[Named]:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for kind, body in FENCE.findall(text):
            for line in re.sub(r"\\\n\s*", "", body).splitlines() if kind in ("sh", "") else []:
                if re.match(r"\s*(sayso|make|tools/\w+)\b", line):
                    yield Named(page, _cleaned(line))
        for span in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
            if re.match(r"(sayso [a-z]|make [a-z]|tools/\w+)", span):
                yield Named(page, _cleaned(span))


def variants(text: str) -> list[str]:
    """A synopsis as commands: with and without what is in brackets, each of several choices."""
    found = []
    text = re.sub(r"\s*(…|\.\.\.)", "", text)
    for one in dict.fromkeys((re.sub(r"\[[^\]]*\]", "", text), text.replace("[", "").replace("]", ""))):
        words = [word.split("|") if "|" in word and word != "|" and "'" not in word else [word] for word in one.split(" ") if word]
        found += [" ".join(chosen) for chosen in itertools.product(*words)]
    return list(dict.fromkeys(found))


def fresh_tree(target: pathlib.Path, files: list[str]) -> None:
    for name in files:
        source = ROOT / name
        if source.is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(source.read_bytes())
            (target / name).chmod(source.stat().st_mode)


def try_demonstration(home: Home, tree: pathlib.Path, command: str) -> None:
    """`command` shows the sample ask; every line that it prints is typed, and the ask is answered then."""
    demo = home.spawn("-c", f"exec {command}", program="bash", cwd=tree, start_new_session=True, stderr=subprocess.STDOUT,
                      env={"PATH": os.environ["PATH"], "SAYSO_BROWSER": "off"})
    said = ""
    try:
        while "answer --select tea" not in said:
            heard = demo.stdout.readline()
            assert heard, f"{command} ended: {said}"
            said += heard
        for line in re.findall(r"^    (\./run/sayso .*?)(?:  .*)?$", said, re.MULTILINE):
            shell_at = subprocess.run(["bash", "-c", line], cwd=tree, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANG_S,
                                      env={**home.environment, "SAYSO_BROWSER": "off", "BROWSER": "true"})
            assert shell_at.returncode == (5 if "inbox" in line else 0), (line, shell_at)
        finished = subprocess.run(["./run/sayso", "list", "--completed", "--json"], cwd=tree, capture_output=True, text=True, env=home.environment)
        assert json.loads(finished.stdout)[0]["status"] == "submitted", finished
    finally:
        os.killpg(demo.pid, signal.SIGINT)
        demo.wait(HANG_S)
