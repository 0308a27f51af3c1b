"""Tab in real shells: what `sayso completion` prints completes as people type.

Proves: R10.3
"""
from __future__ import annotations

import shutil

from stage import Tmux  # first: it finds the harness

from harness import Home, Skip, run, test

STARTS = {
    "bash": "PS1='now$ ' bash --norc --noprofile -i",
    "zsh": "PS1='now$ ' zsh -f -i",
}
READY = {"bash": "", "zsh": "autoload -Uz compinit && compinit -u -D; "}

for shell in STARTS:
    @test(f"{shell}: Tab completes a verb, a word, a setting and its value", "R10.3")
    def completes(home: Home, shell: str = shell) -> None:
        if not shutil.which(shell):
            raise Skip(f"{shell} is not installed")
        (home.path / "bin").mkdir()
        (home.path / "bin/sayso").symlink_to(home.binary)
        script = home.path / "script"
        script.write_text(home.sayso("completion", shell).out)
        home.environment["PATH"] = f"{home.path}/bin:{home.environment['PATH']}"
        with Tmux(home) as tmux:
            tmux.type(f"exec env {STARTS[shell]}")
            tmux.keys("C-m")
            tmux.wait(r"^now\$ *$")
            tmux.type(f"{READY[shell]}source {script}; clear; echo loaded")
            tmux.keys("C-m")
            tmux.wait(r"^loaded$")
            for typed, shown in (("sayso sett", "sayso settings"), ("set the", "settings set theme"), ("da", "set theme dark")):
                tmux.type(typed)
                tmux.keys("Tab")
                tmux.wait(shown)
            tmux.keys("C-m")
            tmux.wait("theme is now dark")
            tmux.type("exit")
            tmux.keys("C-m")


run()
