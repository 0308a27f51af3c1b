"""What others get: the installed tree and the tarball of the sources. tests/packages has the Debian packages, in `make soak`.

Proves: R10.5
"""
from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pathlib
import shutil
import tarfile
import tempfile

from harness import ROOT, Skip, counted, run, test
from packaging_stage import SHARED, VERSION, command


def files_of(place: pathlib.Path) -> dict[str, str]:
    """What lies there: for files a sum and the mode, for links where they lead; and our own directories."""
    found = {}
    for path in place.rglob("*"):
        if path.is_symlink():
            found[str(path.relative_to(place))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(place))] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        elif "sayso" in path.name:
            found[str(path.relative_to(place))] = "directory"
    return found


@functools.cache
def room() -> pathlib.Path:
    place = pathlib.Path(tempfile.mkdtemp(prefix="sypack", dir="/tmp"))
    atexit.register(shutil.rmtree, place)
    return place


# Installing --------------------------------------------------------------------------------------


@test("make install puts program, completions and every manual page; uninstall takes exactly that", "R10.5")
def install_and_uninstall() -> None:
    place = room() / "installed"
    for folder in ("usr/bin", "usr/share/man/man1", "usr/share/bash-completion/completions", "usr/lib"):
        (place / folder).mkdir(parents=True)
        (place / folder / "of others").write_text("not ours")
    before = files_of(place)

    def make(act: str) -> dict[str, str]:  # what make calls; make itself would build, beside other tests
        command(str(ROOT / "tools/install_tree"), act, "build",
                env={**os.environ, "DESTDIR": str(place), "PREFIX": "/usr"})
        return files_of(place)
    first = make("install")
    missing = [name for name in SHARED if f"usr/{name}" not in first]
    assert not missing, missing
    for name in SHARED:
        assert "/man/" not in name or ".TH " in (place / "usr" / name).read_text(), name
        assert "/man/" not in name or ("\n.SH 名称\n" in (place / "usr" / name).read_text()) == ("/zh_CN/" in name), name
    if shutil.which("man"):  # whose locale is Chinese reads Chinese, everybody else English
        for locale, title in (("zh_CN.UTF-8", "名称"), ("de_DE.UTF-8", "NAME")):
            read = command("man", "-L", locale, "sayso-ask", env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8",
                                                                  "MANPATH": str(place / "usr/share/man")})
            assert f"\n{title}\n" in read, (locale, read[:300])
    assert {mode.split()[0] for name, mode in first.items() if "/man/" in name and " " in mode} == {"100644"}
    assert make("install") == first, "installed over itself it is another tree"
    assert make("uninstall") == before
    assert make("uninstall") == before  # once more does no harm


# The tarball -------------------------------------------------------------------------------------


@test("make dist: the same bytes each time, every tracked file, below one directory with the version", "R10.5")
def dist() -> None:
    if not (ROOT / ".git").exists():
        raise Skip("these sources are no git repository")
    sums = set()
    for _ in range(2):
        command("make", "-C", str(ROOT), "dist")
        made = ROOT / f"build/sayso-{VERSION}.tar.gz"
        sums.add(hashlib.sha256(made.read_bytes()).hexdigest())
        made.touch()
    assert len(sums) == 1, sums
    with tarfile.open(made) as archive:
        names = {member.name for member in archive.getmembers() if not member.isdir()}
        owners = {(member.uid, member.gid) for member in archive.getmembers()}
    tracked = command("git", "-C", str(ROOT), "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0")[:-1]
    assert names == {f"sayso-{VERSION}/{name}" for name in tracked}, names ^ set(tracked)
    assert owners == {(0, 0)}, owners
    counted(f"{len(names)} files in {made.stat().st_size:,} bytes")


run()
