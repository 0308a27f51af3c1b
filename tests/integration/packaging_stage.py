"""What is installed, and the version; test_packaging.py and tests/packages share it."""
from __future__ import annotations

import re
import subprocess

from harness import ROOT

VERSION = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]
VERBS = re.findall(r"VERB\((\w+)\)", (ROOT / "src/cli/verbs.def").read_text())
SHARED = ["bin/sayso", "share/bash-completion/completions/sayso", "share/zsh/site-functions/_sayso",
          "share/fish/vendor_completions.d/sayso.fish", "lib/systemd/user/sayso.service", "lib/systemd/user/sayso.socket",
          *(f"share/man/{place}man1/{page}.1" for place in ("", "zh_CN/")
            for page in ("sayso", *(f"sayso-{verb}" for verb in VERBS)))]


def command(*words: str, **settings) -> str:
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    assert done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout
