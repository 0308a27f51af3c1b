"""The Debian packages of `make deb`: what is in them, what lintian says, and that they work.

Proves: R10.5
"""
from __future__ import annotations

import atexit
import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

from tree_stage import ROOT
from harness import Home, Skip, run, test
from hub_stage import pending_ask
from packaging_stage import SHARED, VERSION, command


@functools.cache
def room() -> pathlib.Path:
    place = pathlib.Path(tempfile.mkdtemp(prefix="sypack", dir="/tmp"))
    atexit.register(shutil.rmtree, place)
    return place


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
