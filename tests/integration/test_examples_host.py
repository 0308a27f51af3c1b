"""The two hosts of docs/examples, in curl and in C: a person decides in the middle, and either side may die.

Proves: R3.4
"""
from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from conversation_stage import Hosting
from harness import ROOT, Skip, run, test, wait_until

EXAMPLES = ROOT / "docs" / "examples"
TEXTS = {"one.txt": "a b c\nd\n", "two.txt": "e f\n"}  # 3 lines, 6 words
HANG_S = 60


def shell(office: Hosting, folder: pathlib.Path) -> tuple[str, dict[str, str]]:
    if not shutil.which("curl"):
        raise Skip("there is no curl")
    header = folder / "header"
    header.write_text(f"Authorization: Bearer {office.host}\n")
    return str(EXAMPLES / "host.sh"), {"SAYSO_URL": f"http://127.0.0.1:{office.port}", "SAYSO_HEADER": str(header)}


def program(office: Hosting, folder: pathlib.Path) -> tuple[str, dict[str, str]]:
    built = folder / "host"
    made = subprocess.run(["cc", "-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(built),
                           str(EXAMPLES / "host.c")], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    token = folder / "token"
    token.write_text(office.host + "\n")
    return str(built), {"SAYSO_PORT": str(office.port), "SAYSO_TOKEN_FILE": str(token)}


class Host:
    """One run of an example after the other, on the same memory."""

    def __init__(self, office: Hosting, make):
        self.office, self.folder = office, pathlib.Path(tempfile.mkdtemp(dir=office.home.path))
        self.program, self.env = make(office, self.folder)
        (self.folder / "texts").mkdir()
        for name, text in TEXTS.items():
            (self.folder / "texts" / name).write_text(text)

    def start(self) -> subprocess.Popen:
        self.process = self.office.home.spawn("texts", "figure", program=self.program, cwd=self.folder, env=self.env,
                                              start_new_session=True)
        return self.process

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self.office.home.spawned.remove(self.process)

    def question(self) -> str:
        def look():
            if self.process.poll() is not None:
                raise AssertionError(self.process.communicate())
            return self.office.home.sayso("list", "--active", "--json").json
        return wait_until(look, "it asks", HANG_S)[0]["session_id"]

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=HANG_S)
        self.office.home.spawned.remove(self.process)
        return self.process.returncode, out if self.process.returncode == 0 else err


for name, make in {"host.sh": shell, "host.c": program}.items():
    @test(f"docs/examples/{name} runs three tools around a question", "R3.4")
    def flow(home, make=make) -> None:
        with Hosting() as office:
            for answer, printed in ((["--field", "q1=Lines"], "3"), (["--field", "q1=Words"], "6"),
                                    (["--other", "q1=syllables"], "6")):
                host = Host(office, make)
                host.start()
                assert office.home.sayso("answer", host.question(), *answer).code == 0
                assert host.end() == (0, printed + "\n")
                assert (host.folder / "figure").read_text() == printed + "\n"
            host = Host(office, make)
            host.start()
            assert office.home.sayso("cancel", host.question()).code == 0
            code, err = host.end()
            assert code == 3 and "nothing was saved" in err and not (host.folder / "figure").exists(), (code, err)

    @test(f"docs/examples/{name} goes on where it was, after the host or the hub was killed", "R3.4 P1")
    def killed(home, make=make) -> None:
        with Hosting() as office:
            host = Host(office, make)
            host.start()
            asked = host.question()
            host.kill()
            host.start()
            office.home.kill_hub()
            wait_until(lambda: office.process.poll() is not None, "the hub has ended")
            office.home.spawned.remove(office.process)
            office.serve()
            assert host.question() == asked  # the one question, not another
            assert office.home.sayso("answer", asked, "--field", "q1=Lines").code == 0
            assert host.end() == (0, "3\n")
            assert len(office.home.sayso("list", "--json").json) == 1


run()
