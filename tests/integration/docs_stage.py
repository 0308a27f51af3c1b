"""The commands that README and docs name, as a newcomer would type them: placeholders filled in, brackets both ways."""
from __future__ import annotations

import itertools
import pathlib
import re
from typing import Iterator, NamedTuple

from harness import ROOT

# Pages made from tables, or records; what they name is described on another page.
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
         "docs/examples/README.md"]
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
