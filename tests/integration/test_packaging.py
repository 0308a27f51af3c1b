"""What others get: the installed tree, the tarball of the sources, the Debian packages.

Proves: R10.5
"""
from __future__ import annotations

import atexit
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from harness import ROOT, Home, Skip, counted, run, test
from hub_stage import pending_ask

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


# The packages ------------------------------------------------------------------------------------


@functools.cache
def packages() -> dict[str, pathlib.Path]:
    if not all(map(shutil.which, ("dpkg-buildpackage", "dh", "lintian"))):
        raise Skip("no dpkg-dev, debhelper and lintian here")
    command("make", "-C", str(ROOT), "deb")
    found = {path.name.partition("_")[0]: path for path in (ROOT / "build/deb").glob(f"*_{VERSION}_*.deb")
             if "-dbgsym" not in path.name}
    assert set(found) == {"sayso", "libsayso1", "libsayso-dev"}, found
    return found


def field(package: str, name: str) -> str:
    return command("dpkg-deb", "--field", str(packages()[package]), name).strip()


def unpacked() -> pathlib.Path:
    place = room() / "unpacked"
    if not place.exists():
        for package in packages().values():
            command("dpkg-deb", "--extract", str(package), str(place))
    return place


@test("make deb: lintian finds nothing, and nothing is hidden from it", "R10.5")
def lintian() -> None:
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--show-overrides",
                           *map(str, packages().values())], capture_output=True, text=True)
    assert done.returncode == 0 and not re.search(r"^[EWO]:", done.stdout, re.M), done.stdout + done.stderr


@test("make deb: each file is in one package, dependencies are what the binaries need", "R10.5")
def contents() -> None:
    names: dict[str, str] = {}
    for package, path in packages().items():
        for line in command("dpkg-deb", "--contents", str(path)).splitlines():
            name = line.split(None, 5)[5].partition(" -> ")[0].removeprefix("./")
            assert " root/root " in line, line
            if not line.startswith("d"):
                assert names.setdefault(name, package) == package, f"{name} is in two packages"
    for name in SHARED:
        zipped = f"usr/{name}.gz" if "/man/" in name else f"usr/{name}"
        assert names.get(zipped) == "sayso", name
    library = next(name for name in names if name.endswith("libsayso.so.1.0.0"))
    assert names[library] == "libsayso1" and names["usr/include/sayso.h"] == "libsayso-dev"
    assert names["usr/share/doc/libsayso-dev/examples/confirm.c"] == "libsayso-dev"
    needed = {re.split(r"[ (]", part)[0] for part in field("sayso", "Depends").split(", ")}
    assert needed == {"libc6"}, needed
    assert field("libsayso-dev", "Depends") == f"libsayso1 (= {VERSION})"
    assert "libc6 (>= " in field("libsayso1", "Depends")


@test("the packaged program asks and is answered; a program is compiled against the packaged library", "R10.5")
def packaged_program_runs() -> None:
    place = unpacked()
    with Home(binary=str(place / "usr/bin/sayso")) as home:
        assert home.sayso("version").out.split()[-1] == VERSION
        ask = pending_ask(home)
        assert home.sayso("answer", ask, "--select", "b").code == 0
        shown = home.sayso("show", ask, "--json")
        assert shown.code == 0 and '"b"' in shown.out, shown
        assert home.sayso("stop").code == 0
    library = next(place.glob("usr/lib/*/libsayso.so.1")).parent
    command("cc", str(place / "usr/share/doc/libsayso-dev/examples/confirm.c"), f"-I{place}/usr/include",
            f"-L{library}", "-lsayso", "-o", str(room() / "confirm"))


run()
