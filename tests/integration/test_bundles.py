"""What package managers and clients take, made around the program under test: npm packages, image, plugins, bill of materials.
tests/packages/test_release.py uses those of `make release`.

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
import signal
import subprocess
import tarfile
import tempfile
import zipfile

from cli_stage import DONE
from harness import BIN, HANG_S, ROOT, Home, counted, run, test, wait_until
from packaging_stage import VERSION, command

MACHINE = os.uname().machine
EPOCH = "1700000000"
NPM = ("--offline", "--no-audit", "--no-fund", "--no-update-notifier")


@functools.cache
def room() -> pathlib.Path:
    place = pathlib.Path(tempfile.mkdtemp(prefix="sybund", dir="/tmp"))
    atexit.register(shutil.rmtree, place)
    return place


@functools.cache
def bundles() -> pathlib.Path:
    place = room() / "made"
    place.mkdir()
    command("strip", "-o", str(room() / "sayso"), os.path.realpath(BIN))
    command(str(ROOT / "tools/make_bundles"), str(place), EPOCH, f"{MACHINE}={room() / 'sayso'}")
    return place


@functools.cache
def installed() -> pathlib.Path:
    """npm packages as a person installs them, without a network; the launcher."""
    place = room() / "npm"
    place.mkdir()
    (place / "package.json").write_text('{"private": true}')
    packages = [str(path) for path in sorted(bundles().glob("*.tgz"))]
    assert len(packages) == 2, packages
    command("npm", "install", *NPM, *packages, cwd=place)
    return place / "node_modules/.bin/sayso"


def by_npm(home: Home, *words: str, code: int = DONE) -> str:
    done = subprocess.run([str(installed()), *words], capture_output=True, text=True, env=home.environment, timeout=HANG_S)
    assert done.returncode == code, done
    return done.stdout


def from_tar(archive: pathlib.Path, name: str) -> bytes:
    with tarfile.open(archive) as opened:
        return opened.extractfile(name).read()


@test("npm: the launcher passes on words, output, exit codes, and finds the program of its own package", "R10.5")
def npm_runs(home: Home) -> None:
    assert by_npm(home, "version") == f"sayso {VERSION}\n"
    assert by_npm(home, "nonsense", code=2) == ""
    npx = command("npx", *NPM, "sayso", "version", cwd=installed().parent, env={**home.environment, "HOME": str(home.path)})
    assert npx == f"sayso {VERSION}\n", npx


@test("npm: a signal to the launcher ends the program, and both end by it", "R10.5")
def npm_signals(home: Home) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        launcher = home.spawn("serve", "--json", program=str(installed()))
        wait_until(home.hub_pid, "a hub runs")
        hub = home.hub_pid()
        assert hub != launcher.pid
        launcher.send_signal(number)
        direct = home.spawn("version")
        direct.communicate(timeout=HANG_S)
        assert launcher.wait(timeout=HANG_S) == 0, launcher.returncode  # what serve ends with
        wait_until(lambda: not pathlib.Path(f"/proc/{hub}").exists(), "the hub has ended")
    asking = home.spawn("inbox", program=str(installed()))
    asking.kill()
    asking.wait()


@test("npm: install writes a path that stays when npx removes its copy, and a later one takes its place", "R10.5")
def npm_lasts(home: Home) -> None:
    by_npm(home, "install", "claude", "--yes")
    entry = json.loads((home.path / ".claude.json").read_text())["mcpServers"]["sayso"]
    copy = pathlib.Path(entry["command"])
    assert "node_modules" not in entry["command"] and copy.name == "sayso" and copy.stat().st_mode & 0o777 == 0o755, entry
    moved = installed().parents[1].rename(room() / "npm/gone")
    try:
        done = subprocess.run([copy, "version"], capture_output=True, text=True, env=home.environment)
        assert done.stdout == f"sayso {VERSION}\n", done
    finally:
        moved.rename(room() / "npm/node_modules")
    before = copy.stat().st_ino
    by_npm(home, "install", "claude", "--print")
    assert copy.stat().st_ino == before, "the same program is not copied again"
    copy.write_bytes(b"an older one")
    by_npm(home, "install", "claude", "--print")
    assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256((room() / "sayso").read_bytes()).digest()


@test("the image has one file and a directory for data, of a user that is not root, and every sum in it is right", "R10.5")
def image(home: Home) -> None:
    place = room() / "image"
    with tarfile.open(bundles() / f"sayso-{VERSION}.oci.tar") as archive:
        archive.extractall(place, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(place)
    blobs = list((place / "blobs/sha256").iterdir())
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == path.name for path in blobs)

    def blob(row: dict) -> pathlib.Path:
        path = place / "blobs/sha256" / row["digest"].removeprefix("sha256:")
        assert path.stat().st_size == row["size"]
        return path

    manifest = json.loads(blob(json.loads((place / "index.json").read_text())["manifests"][0]).read_text())
    settings = json.loads(blob(manifest["config"]).read_text())["config"]
    assert settings["User"] == "65532:65532" and settings["Volumes"] == {"/data": {}} and settings["Entrypoint"] == ["/sayso"]
    with tarfile.open(blob(manifest["layers"][0])) as layer:
        rows = {row.name: (row.isdir(), row.uid, f"{row.mode:o}") for row in layer.getmembers()}
    assert rows == {"data": (True, 65532, "700"), "sayso": (False, 0, "755")}, rows


@test("every plugin names the same version and tools, and its launcher starts the program of this machine", "R10.5")
def plugins(home: Home) -> None:
    made = bundles()
    claude, gemini, codex = (made / f"sayso-{client}-{VERSION}.tar.gz" for client in ("claude", "gemini", "codex"))
    with zipfile.ZipFile(made / f"sayso-{VERSION}.mcpb") as archive:
        manifest = json.loads(archive.read("manifest.json"))
    rows = [manifest, json.loads((made / "server.json").read_text()),
            json.loads(from_tar(claude, "sayso-claude/plugins/sayso/.claude-plugin/plugin.json")),
            json.loads(from_tar(codex, "sayso-codex/plugins/sayso/.codex-plugin/plugin.json")),
            json.loads(from_tar(gemini, "sayso-gemini/gemini-extension.json"))]
    assert {row["version"] for row in rows} == {VERSION}
    assert [tool["name"] for tool in manifest["tools"]] == ["provide_choice", "ask_user_question", "get_answer"], manifest["tools"]
    hooks = json.loads(from_tar(claude, "sayso-claude/plugins/sayso/hooks/hooks.json"))["hooks"]["PreToolUse"][0]["hooks"][0]
    assert hooks["command"].startswith('"${CLAUDE_PLUGIN_ROOT}/server/sayso" gate --client claude') and hooks["timeout"] == 600, hooks
    with tarfile.open(claude) as archive:
        archive.extractall(room() / "claude plugin")  # a name with a space
    server = room() / "claude plugin/sayso-claude/plugins/sayso/server/sayso"
    assert command(str(server), "version") == f"sayso {VERSION}\n"
    gate = hooks["command"].replace("${CLAUDE_PLUGIN_ROOT}", str(server.parents[1]))
    done = subprocess.run(["sh", "-c", gate], input='{"tool_name":"Bash","tool_input":{"command":"ls"}}', capture_output=True, text=True,
                          env=home.environment, timeout=HANG_S)
    assert (done.returncode, done.stdout.strip()) == (0, "{}"), done


@test("the bill of materials is SPDX and has the sum of every file", "R10.5")
def materials(home: Home) -> None:
    bill = json.loads((bundles() / f"sayso-{VERSION}.spdx.json").read_text())
    sums = {row["fileName"].removeprefix("./"): row["checksums"][0]["checksumValue"] for row in bill["files"]}
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in bundles().iterdir() if ".spdx." not in path.name}
    assert sums == files and bill["spdxVersion"] == "SPDX-2.3", (sums, files)
    ids = [row["SPDXID"] for row in bill["packages"] + bill["files"]]
    assert len(set(ids)) == len(ids) and {row["relatedSpdxElement"] for row in bill["relationships"]} <= set(ids)
    counted(f"{len(files)} files, {sum(path.stat().st_size for path in bundles().iterdir()):,} bytes")


run()
