"""The six scripts of docs/examples do what they say, and without a human they do nothing.

Proves: R4.7
"""
from __future__ import annotations

import subprocess

from cli_stage import DONE, FAILED, REFUSED, USAGE, end, expect
from harness import ROOT, Home, run, test, wait_until
from tty_stage import Tty

EXAMPLES = ROOT / "docs" / "examples"
SIX = {
    "variation.sh": (["--select", "b"], "b"),
    "key.sh": (["--select", "a_minor"], "a_minor"),
    "tempo.sh": (["--field", "value=120"], "120"),
    "rating.sh": (["--field", "value=5"], "5"),
    "naming.sh": (["--text", "Night drive"], "Night drive"),
}


def example(home: Home, name: str, *words: str, **env: str) -> subprocess.Popen:
    return home.spawn(*words, program=str(EXAMPLES / name), cwd=str(home.path), stdin=subprocess.DEVNULL,
                      env={"SAYSO": home.binary, **env})


def only_ask(home: Home) -> str:
    return wait_until(lambda: home.sayso("list", "--active", "--json").json, "it is asked")[0]["session_id"]


for name, (answer, printed) in SIX.items():
    @test(f"docs/examples/{name} asks and prints the answer; cancelled it fails", "R4.7")
    def six(home: Home, name=name, answer=answer, printed=printed) -> None:
        process = example(home, name)
        expect(home.sayso("answer", only_ask(home), *answer), DONE)
        said = end(home, process)
        assert said.code == DONE and said.out == printed + "\n", said
        process = example(home, name)
        expect(home.sayso("cancel", only_ask(home)), DONE)
        said = end(home, process)
        assert said.code == REFUSED and not said.out, said


@test("without a human each example fails closed", "R4.7 R4.4")
def nobody_there(home: Home) -> None:
    kept = home.path / "kept"
    kept.write_text("x")
    for name in [*SIX, "confirm_delete.sh"]:
        words = ["kept"] if name == "confirm_delete.sh" else []
        said = end(home, example(home, name, *words, SAYSO_PORTAL="off", SAYSO_TERMINAL="off"))
        assert said.code == FAILED and not said.out, (name, said)
    assert kept.exists()


@test("docs/examples/confirm_delete.sh deletes after a yes with the code, and only then", "R4.7 R4.6")
def confirm_delete(home: Home) -> None:
    names = ["plain", 'a "quoted" \\n name', "-rf"]
    for name in names:
        (home.path / name).write_text("x")
    for verb in ("decline", "cancel"):
        process = example(home, "confirm_delete.sh", *names)
        session_id = only_ask(home)
        assert 'a "quoted" \\n name' in home.sayso("show", session_id).out.replace("\\\\", "\\")
        expect(home.sayso(verb, session_id), DONE)
        said = end(home, process)
        assert said.code == REFUSED and "nothing deleted" in said.err, said
        assert all((home.path / name).exists() for name in names)
    process = example(home, "confirm_delete.sh", *names)
    session_id = only_ask(home)
    with Tty() as tty:
        answering = tty.start(home, "answer", session_id, "--field", "confirmed=yes")
        tty.type(tty.read_until(r"Type (\d{3}) ")[1] + "\n")
        assert end(home, answering).code == DONE
    assert end(home, process).code == DONE
    assert not any((home.path / name).exists() for name in names)
    assert end(home, example(home, "confirm_delete.sh", "a\nb")).code == USAGE


run()
