"""A minimal Debian made by debootstrap, and commands in it; what the tests of the packages share."""
from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/integration"))

from harness import Skip  # noqa: E402

RELEASE = "bookworm"
# In namespaces of its own: what is mounted and what is started ends with it.
INSIDE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
          'mount -t proc proc "$1/proc"; tree=$1; shift; exec chroot "$@" "$tree" sh -eu', "sh"]


def command(*words: str, **settings) -> str:
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    assert done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def mirror() -> str:
    """Where this machine gets its Debian from."""
    rows = command("apt-get", "indextargets", "--format", "$(CREATED_BY) $(REPO_URI) $(CODENAME)").splitlines()
    found = [row.split()[1] for row in rows if row.startswith("Packages ") and row.split()[2:] == [RELEASE]]
    if not found:
        raise Skip(f"this machine has no source of {RELEASE}")
    return found[0]


def inside(tree: pathlib.Path, script: str, *options: str) -> str:
    return command(*INSIDE, str(tree), *options, input=script,
                   env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
                        **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}})


_built: dict[pathlib.Path, str] = {}


def build() -> dict[pathlib.Path, str]:
    """The packages and their sums."""
    command("make", "-C", str(ROOT), "deb")
    _built.clear()
    _built.update({path: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((ROOT / "build/deb").glob("*.deb"))})
    return dict(_built)


@functools.cache
def _pristine() -> pathlib.Path:
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        raise Skip("needs root and debootstrap")
    source = mirror()
    place = pathlib.Path(tempfile.mkdtemp(prefix="sytree", dir="/tmp"))
    atexit.register(shutil.rmtree, place)
    command("debootstrap", "--variant=minbase", RELEASE, str(place / "pristine"), source)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", place / "pristine/etc" / name)
    return place / "pristine"


def new_tree(name: str) -> pathlib.Path:
    """One of its own for a test, with the packages in /tmp and nothing of them installed."""
    tree = _pristine().parent / name
    command("cp", "-a", str(_pristine()), str(tree))
    for package in _built or build():
        if "-dbgsym" not in package.name:
            shutil.copy(package, tree / "tmp")
    return tree


def install(tree: pathlib.Path, *more: str) -> None:
    inside(tree, f"apt-get -qq update\napt-get -qq install --yes {' '.join(more)} /tmp/*.deb\n"
                 "useradd --create-home --uid 1000 person\nrm /tmp/*.deb")
