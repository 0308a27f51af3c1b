"""What `make release` makes, each used as its user would, without a network: the one file in an empty root and on the other
machine, npm packages under the official SDK, the image, plugins in their clients, RPM, and Arch's package. SAYSO_RELEASE=made takes
build/release as it is.

Proves: R10.5
"""
from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from tree_stage import ROOT, command
from harness import HANG_S, Home, Skip, counted, run, test, wait_until
from packaging_stage import SHARED, VERSION

OUT = ROOT / "build/release"
MACHINE = os.uname().machine
QEMU = {"aarch64": "qemu-aarch64-static", "x86_64": "qemu-x86_64-static"}
USER = "65532:65532"
ASK = ("ask", "Which one?", "-p", "Two ways are open and **both** would work.", "-o", "a=First", "-o", "b=Second", "-r", "a", "--json")
HOLLOW = ["unshare", "--mount", "sh", "-c", """mount --make-rprivate / && { umount -l /sys/fs/cgroup || true; }
mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || mount -t tmpfs none /sys/fs/cgroup
exec crun --cgroup-manager=disabled "$@" """, "sh"]


@functools.cache
def room() -> pathlib.Path:
    place = pathlib.Path(tempfile.mkdtemp(prefix="syrel", dir="/tmp"))
    place.chmod(0o755)
    atexit.register(shutil.rmtree, place)
    return place


def sums() -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(OUT.iterdir())}


@functools.cache
def release() -> dict[str, str]:
    if os.environ.get("SAYSO_RELEASE") != "made":
        command("make", "-C", str(ROOT), "release")
    return sums()


def program(machine: str = MACHINE) -> pathlib.Path:
    """The file, with the name it is installed by."""
    release()
    place = room() / machine / "sayso"
    if not place.exists():
        place.parent.mkdir()
        shutil.copy(OUT / f"sayso-{VERSION}-linux-{machine}", place)
        place.chmod(0o755)
    return place


def machines() -> list[str]:
    """Of the release; RELEASE_MACHINES may have asked for fewer."""
    release()
    return [machine for machine in QEMU if (OUT / f"sayso-{VERSION}-linux-{machine}").exists()]


def needs(*programs: str) -> None:
    missing = [name for name in programs if not shutil.which(name)]
    if missing or os.getuid() != 0:
        raise Skip(f"needs root and {' '.join(missing)}")


def asks_and_is_answered(run_one, wait: str = "--wait=0") -> None:  # type: ignore[no-untyped-def]
    asked = run_one(*ASK, wait)
    assert asked.returncode == 5, asked
    ask = json.loads(asked.stdout)["session_id"]
    assert run_one("answer", ask, "--select", "b").returncode == 0
    shown = run_one("show", ask, "--json")
    assert '"b"' in shown.stdout and '"submitted"' in shown.stdout, shown


# The file ----------------------------------------------------------------------------------------


@test("make release: every artefact, with right sums; the same bytes again, and no path of this machine in them", "R10.5")
def complete() -> None:
    first = release()
    listed = dict(reversed(line.split()) for line in (OUT / "SHA256SUMS").read_text().splitlines())
    assert listed == {name: value for name, value in first.items() if name not in ("SHA256SUMS", "SIZES")}
    assert machines() == os.environ.get("RELEASE_MACHINES", "aarch64 x86_64").split(), machines()
    for machine in machines():
        content = program(machine).read_bytes()
        assert str(ROOT).encode() not in content and b"\0GLIBC_" not in content, machine
    (ROOT / "README.md").touch()
    command("make", "-C", str(ROOT), "release")
    assert sums() == first, {name for name in first if sums().get(name) != first[name]}
    counted(f"{len(first)} files, {sum(path.stat().st_size for path in OUT.iterdir()):,} bytes")


@test("the file in an empty root: asks and is answered, starts its hub, and says when a name can't be found", "R10.5")
def empty_root() -> None:
    needs("chroot")
    root = room() / "empty"
    (root / "home").mkdir(parents=True)
    shutil.copy(program(), root / "sayso")

    def inside(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(shutil.which("chroot")), str(root), "/sayso", *words], capture_output=True, text=True, timeout=HANG_S, env={"HOME": "/home"})
    asks_and_is_answered(inside)
    assert sorted(path.name for path in root.iterdir()) == ["home", "sayso"]
    (root / "token").write_text("sayso_a_x\n")
    (root / "token").chmod(0o600)
    unknown = inside("list", "--hub", "https://nowhere.invalid", "--token-file", "/token")
    assert unknown.returncode == 1 and "can't find the host" in unknown.stderr, unknown
    assert inside("stop").returncode == 0


@test("the other machine's file under qemu: asks and is answered", "R10.5")
def other_machine(home: Home) -> None:
    other = next(machine for machine in QEMU if machine != MACHINE)
    needs(QEMU[other])
    hub = home.spawn(str(program(other)), "serve", "--json", program=QEMU[other])
    wait_until(lambda: '"' in (home.data / "hub.json").read_text() if (home.data / "hub.json").exists() else False, "a hub runs")
    asks_and_is_answered(lambda *words: subprocess.run([QEMU[other], str(program(other)), *words], capture_output=True, text=True,
                                                       timeout=HANG_S, env=home.environment))
    hub.terminate()
    hub.wait(timeout=HANG_S)


@test("TLS to another hub, PostgreSQL, Markdown: the tests of the program, with the file", "R10.5")
def whole_tests() -> None:
    for name in ("remote", "both_stores", "postgres_stage", "portal", "doctor"):
        done = subprocess.run([sys.executable, str(ROOT / f"tests/integration/test_{name}.py")], capture_output=True, text=True,
                              env={**os.environ, "SAYSO_BIN": str(program())})
        assert done.returncode == 0, (name, done.stdout[-3000:], done.stderr[-2000:])


# What is made around it --------------------------------------------------------------------------


@test("npm: the packages install, and the official SDK's clients find every way an ask can go over the launcher", "R10.5")
def npm() -> None:
    release()
    place = room() / "npm"
    place.mkdir()
    (place / "package.json").write_text('{"private": true}')
    packages = [OUT / f"sayso-{VERSION}.tgz", OUT / f"sayso-linux-{'x64' if MACHINE == 'x86_64' else 'arm64'}-{VERSION}.tgz"]
    command("npm", "install", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", *map(str, packages), cwd=place)
    done = subprocess.run([str(ROOT / "tests/mcp/run"), str(ROOT / "tests/mcp/sdk.test.mjs")], capture_output=True, text=True,
                          env={**os.environ, "SAYSO_BIN": str(place / "node_modules/.bin/sayso")})
    assert done.returncode == 0, (done.stdout[-4000:], done.stderr[-2000:])


@test("the image runs as its user on a read-only root; killed and started again with its volume it has its asks", "R10.5")
def image() -> None:
    needs("crun", "umoci", "skopeo")
    release()
    place = room() / "image"
    for machine in [{"x86_64": "amd64", "aarch64": "arm64"}[machine] for machine in machines()]:
        seen = json.loads(command("skopeo", f"--override-arch={machine}", "inspect", f"oci-archive:{OUT}/sayso-{VERSION}.oci.tar"))
        assert seen["Architecture"] == machine and seen["Labels"]["org.opencontainers.image.version"] == VERSION, seen
    command("skopeo", "copy", f"oci-archive:{OUT}/sayso-{VERSION}.oci.tar", f"oci:{place}:one")
    command("umoci", "unpack", "--image", f"{place}:one", str(room() / "bundle"))
    volume = room() / "volume"
    volume.mkdir()
    os.chown(volume, 65532, 65532)
    volume.chmod(0o700)
    path = room() / "bundle/config.json"
    settings = json.loads(path.read_text())
    assert settings["process"]["user"]["uid"] == 65532 and settings["process"]["args"] == ["/sayso", "serve"]
    settings["process"]["terminal"], settings["root"]["readonly"] = False, True
    settings["mounts"] = [row for row in settings["mounts"] if row["destination"] not in ("/data", "/sys/fs/cgroup")]
    settings["mounts"].append({"destination": "/data", "type": "bind", "source": str(volume), "options": ["rbind", "rw"]})
    settings["linux"].pop("resources", None)
    path.write_text(json.dumps(settings))
    crun = [*HOLLOW, f"--root={room()}/crun"]

    def inside(name: str, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([*crun, "exec", "--user", USER, name, "/sayso", *words], capture_output=True, text=True, timeout=HANG_S)

    def start(name: str) -> subprocess.Popen:
        container = subprocess.Popen([*crun, "run", "--bundle", str(path.parent), name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wait_until(lambda: "Pid" in inside(name, "status").stdout, f"{name} runs a hub")
        return container
    first = start("sayso-one")
    assert "container image" in inside("sayso-one", "doctor").stdout
    ask = json.loads(inside("sayso-one", *ASK, "--wait=0").stdout)["session_id"]
    command(*crun, "kill", "sayso-one", "KILL")
    first.wait(timeout=HANG_S)
    command(*crun, "delete", "--force", "sayso-one")
    second = start("sayso-two")
    assert inside("sayso-two", "answer", ask, "--select", "b").returncode == 0
    assert '"submitted"' in inside("sayso-two", "show", ask, "--json").stdout
    command(*crun, "kill", "sayso-two", "TERM")
    assert second.wait(timeout=HANG_S) == 0
    assert second.stdout and b'"hub.leaving"' in second.stdout.read(), "the hub stopped in order"


def client(name: str, package: str) -> str:
    """A program of npm's, as tests/clients has it."""
    place = ROOT / "build/clients" / name
    found = place / "node_modules/.bin" / name
    if not found.exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{ "private": true }\n')
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", package], cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise Skip(f"{package} can't be had here")
    return str(found)


@test("Claude Code, Codex, Gemini CLI and mcpb take their bundles", "R10.5")
def bundles(home: Home) -> None:
    release()
    pins = command("node", "--input-type=module", "-e", f"""import {{ CLIENTS }} from "{ROOT}/tests/clients/clients.mjs";
        for (const row of CLIENTS) console.log(row.bin, row.package + "@" + row.version);""")
    pinned = dict(line.split() for line in pins.splitlines())
    environment = {**home.environment, "HOME": str(home.path), "GEMINI_API_KEY": "none", "CI": "1"}

    def call(*words: str, folder: pathlib.Path = home.path) -> str:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=folder, env=environment, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (words, done)
        return done.stdout + done.stderr
    for name in ("claude", "codex", "gemini"):
        with tarfile.open(OUT / f"sayso-{name}-{VERSION}.tar.gz") as archive:
            archive.extractall(home.path)
    claude, codex, gemini = client("claude", pinned["claude"]), client("codex", pinned["codex"]), client("gemini", pinned["gemini"])
    assert "Validation passed" in call(claude, "plugin", "validate", "sayso-claude")
    assert "Validation passed" in call(claude, "plugin", "validate", "sayso-claude/plugins/sayso")
    call(claude, "plugin", "marketplace", "add", str(home.path / "sayso-claude"))
    call(claude, "plugin", "install", "sayso@sayso")
    assert VERSION in call(claude, "plugin", "list")
    call(codex, "plugin", "marketplace", "add", str(home.path / "sayso-codex"))
    call(codex, "plugin", "add", "sayso@sayso")
    assert "./server/sayso" in call(codex, "mcp", "list")
    assert "successfully validated" in call(gemini, "extensions", "validate", str(home.path / "sayso-gemini"))
    mcpb = client("mcpb", "@anthropic-ai/mcpb@2.1.2")
    place = home.path / "mcpb"
    shutil.unpack_archive(OUT / f"sayso-{VERSION}.mcpb", place, "zip")
    assert "passes" in call(mcpb, "validate", "manifest.json", folder=place)
    call(mcpb, "pack", ".", str(home.path / "again.mcpb"), folder=place)


def walks(place: pathlib.Path) -> None:
    missing = [name for name in SHARED if not any((place / f"usr/{name}{end}").exists() for end in ("", ".gz"))]
    assert not missing, missing
    with Home(binary=str(place / "usr/bin/sayso")) as home:
        assert home.sayso("version").out == f"sayso {VERSION}\n"


@test("the RPM of each machine installs into an empty tree, and this machine's program runs there", "R10.5")
def red_hat() -> None:
    needs("rpm")
    release()
    for machine in machines():
        tree = room() / f"rpm {machine}".replace(" ", "-")
        tree.mkdir()
        command("rpm", "--root", str(tree), "--install", "--ignorearch", str(OUT / f"sayso-{VERSION}-1.{machine}.rpm"))
        if machine == MACHINE:
            walks(tree)


@test("PKGBUILD makes a package that pacman installs", "R10.5")
def arch() -> None:
    needs("makepkg", "pacman", "bsdtar")
    release()
    place = room() / "arch"
    (place / "tree/var/lib/pacman").mkdir(parents=True)
    for name in ("PKGBUILD", *(f"sayso-{VERSION}-linux-{machine}.tar.gz" for machine in machines())):
        shutil.copy(OUT / name, place)
    command("chown", "-R", "nobody", str(place))
    command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "makepkg", "--nodeps", cwd=place,
            env={"PATH": os.environ["PATH"], "HOME": str(place)})
    package = next(place.glob("*.pkg.tar*"))
    command("pacman", "--root", str(place / "tree"), "--noconfirm", "-Udd", str(package))
    walks(place / "tree")


@test("a C program is compiled against the -dev archive, by pkg-config", "R10.5")
def library() -> None:
    release()
    place = room() / "dev"
    place.mkdir()
    command("tar", "-xzf", str(OUT / f"sayso-dev-{VERSION}-linux-{MACHINE}.tar.gz"), "-C", str(place))
    flags = command("pkg-config", "--cflags", "--libs", "sayso", env={"PATH": os.environ["PATH"], "PKG_CONFIG_SYSROOT_DIR": str(place),
                                                                      "PKG_CONFIG_LIBDIR": str(place / "usr/lib/pkgconfig")}).split()
    command("cc", str(place / "usr/share/doc/sayso/examples/c/confirm.c"), f"-I{place}/usr/include", f"-L{place}/usr/lib", *flags,
            "-o", str(room() / "confirm"))
    needed = command("objdump", "-p", str(room() / "confirm"))
    assert "libsayso.so.1" in needed, needed


run()
