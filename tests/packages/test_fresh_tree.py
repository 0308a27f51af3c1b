"""A fresh tree, as after a clone: built, tried, installed and uninstalled.

Proves: R10.3
"""
from __future__ import annotations

import subprocess

from tree_stage import ROOT
from docs_stage import fresh_tree, try_demonstration
from harness import Home, Skip, run, test


@test("a fresh tree: make run builds it and shows the sample ask, which is answered as it prints; make install, uninstall", "R10.3")
def fresh(home: Home) -> None:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        raise Skip("this is no working copy of git")
    tree = home.path / "tree"
    fresh_tree(tree, listed.stdout.splitlines())
    try_demonstration(home, tree, "make run JOBS=2")
    place = home.path / "installed"
    for words, is_there in ((["install"], True), (["uninstall"], False)):
        made = subprocess.run(["make", *words, f"DESTDIR={place}", "PREFIX=/usr", "JOBS=2"], cwd=tree, capture_output=True, text=True, timeout=280)
        assert made.returncode == 0, made
        assert (place / "usr/bin/sayso").exists() == is_there, words


run()
