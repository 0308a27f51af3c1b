"""The Debian packages in a clean tree: a minimal Debian, nothing of this machine, another user.

Proves: R10.5
"""
from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/integration"))

from harness import Skip, counted, run, test  # noqa: E402

RELEASE = "bookworm"
PERSON = "1000:1000"
# In namespaces of its own: what is mounted and what is started ends with it.
INSIDE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
          'mount -t proc proc "$1/proc"; tree=$1; shift; exec chroot "$@" "$tree" sh -eu', "sh"]
WALK = """
export HOME=/home/person PATH=/usr/bin:/bin
sayso version
code=0; sayso ask 'Which one?' -p 'Two ways are open and both would work.' -o a=First -o b=Second -r a \
    --wait 0 --json > asked || code=$?
[ $code = 5 ]
id=$(sed 's/.*"session_id":"\\([a-z0-9]*\\)".*/\\1/' asked)
sayso answer "$id" --select b
sayso show "$id" --json | grep -q '"status":"submitted"'
sayso man ask | grep -q '^.TH'
code=0; sayso doctor || code=$?
echo "doctor ended with $code"
sayso stop
"""


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


def build() -> dict[pathlib.Path, str]:
    command("make", "-C", str(ROOT), "deb")
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted((ROOT / "build/deb").glob("*.deb"))}


@test("the same sources make the same packages, byte for byte", "R10.5")
def same_bytes() -> None:
    if not shutil.which("dpkg-buildpackage"):
        raise Skip("needs dpkg-dev")
    first = build()
    for name in ("README.md", "docs/examples/key.sh"):  # another checkout, another time
        (ROOT / name).touch()
    assert build() == first and len(first) == 5, first


@test("the packages install in a clean tree with what they need, run there, and leave nothing", "R10.5")
def clean_tree() -> None:
    if os.getuid() != 0 or not shutil.which("debootstrap"):
        raise Skip("needs root and debootstrap")
    source = mirror()
    packages = [path for path in build() if "-dbgsym" not in path.name]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sytree", dir="/tmp") as folder:
        tree = pathlib.Path(folder) / "tree"
        command("debootstrap", "--variant=minbase", RELEASE, str(tree), source)
        made_s = time.monotonic() - began
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", tree / "etc" / name)
        for package in packages:
            shutil.copy(package, tree / "tmp")
        before = inside(tree, "dpkg-query -W -f '${Package}\\n'").split()
        inside(tree, "apt-get -qq update\napt-get -qq install --yes /tmp/*.deb\n"
                     "useradd --create-home --uid 1000 person\nrm /tmp/*.deb")
        added = sorted(set(inside(tree, "dpkg-query -W -f '${Package}\\n'").split()) - set(before))
        assert {"libmd4c0", "libsayso-dev", "libsayso1", "sayso"} <= set(added), added
        size_kb = int(inside(tree, "dpkg-query -W -f '${Installed-Size}' sayso"))
        said = inside(tree, "cd /home/person\n" + WALK, f"--userspec={PERSON}")
        assert "doctor ended with 0" in said, said
        files = inside(tree, "dpkg -L sayso libsayso1 libsayso-dev").split("\n")
        inside(tree, "apt-get -qq purge --yes sayso libsayso1 libsayso-dev")
        left = [name for name in files if "sayso" in name and (tree / name.lstrip("/")).exists()]
        assert not left, left
    counted(f"tree in {made_s:.0f} s, then {time.monotonic() - began - made_s:.0f} s; packages added: {' '.join(added)}; "
            f"sayso takes {size_kb:,} kB")


run()
