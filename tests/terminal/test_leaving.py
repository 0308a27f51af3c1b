"""However it ends, the terminal is left as it was: leaving, stopping, killing; and what happens to
an open question: another size, time that runs out, others who answer, a hub that dies.

Proves: R6.1 R5.4 R5.9 R2.4
"""
from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import time

from stage import HERE, WAIT_S, Judge, Pty, Tmux, ask, let_answer, pid_of, result_of
from harness import Home, run, test, wait_until


def is_open(home: Home, session_id: str) -> bool:
    return session_id in [row["session_id"] for row in home.sayso("list", "--active", "--json").json]


@test("Ctrl-C leaves without answering: modes, cursor and screen as before, the ask stays", "R6.1")
def interrupt(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        before = tmux.modes()
        tmux.start("attach", session_id)
        tmux.keys("C-c")
        shown = tmux.end(5)
        assert "still pending" in shown and "▸" not in shown, shown
        assert tmux.modes() == before
    assert is_open(home, session_id)


@test("Ctrl-Z gives the shell back; fg draws it again, with what was typed", "R6.1")
def suspend(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Name?", selection_mode="text_input")
    with Tmux(home) as tmux:
        before = tmux.modes()
        tmux.start("attach", session_id, shows=r"Name\?")
        tmux.type("half a na")
        tmux.wait("half a na")
        tmux.keys("C-z")
        tmux.wait(r"Stopped")
        assert tmux.modes() == before
        tmux.type("fg")
        tmux.keys("C-m")
        tmux.wait("half a na")
        let_answer()
        tmux.type("me")
        tmux.wait("half a name")
        tmux.keys("C-d")
        wait_until(lambda: not is_open(home, session_id), "it is answered", WAIT_S)
        tmux.wait(r"ready\$\s*\Z")
        assert tmux.modes() == before
    assert result_of(home, session_id)["selection"]["custom_input"] == "half a name"


@test("kill -TERM, -HUP and -INT put the terminal in order; the ask stays open", "R6.1")
def kills(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        before = tmux.modes()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            tmux.start("attach", session_id)
            os.kill(pid_of(home), number)
            if number == signal.SIGINT:  # bash then drops the rest of the line, as after Ctrl-C
                tmux.wait(r"ready\$\s*\Z")
            else:
                tmux.end(128 + number)
            assert tmux.modes() == before, number
    assert is_open(home, session_id)


@test("left by Ctrl-C, kill -TERM or a closed window right after the last key: every letter is in the draft", "R5.9 R6.1")
def last_letters(home: Home) -> None:
    session_id = ask(home, "Name?", selection_mode="text_input")
    words = ""
    for number, end in enumerate(("key", signal.SIGTERM, signal.SIGHUP, "closed")):
        pty = Pty(home, "attach", session_id)
        pty.wait("Name?")
        pty.drain()
        let_answer()
        pty.type(f"abc{number}")
        words += f"abc{number}"
        pty.drain()
        if end == "key":
            pty.type("\x03")
        elif end == "closed":
            os.close(pty.slave)
            os.close(pty.master)
        else:
            pty.process.send_signal(end)
        pty.process.wait(WAIT_S)
        home.spawned.remove(pty.process)
        if end != "closed":
            os.close(pty.slave)
            os.close(pty.master)
        wait_until(lambda: home.sayso("show", session_id, "--json").json["draft"] == {"custom_input": words},
                   f"every letter is kept after {end}: {words}")


@test("kill -STOP and -CONT: the picture comes back and keys work", "R6.1")
def stopped(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        pid = pid_of(home)
        os.kill(pid, signal.SIGSTOP)
        tmux.wait("Stopped")
        tmux.type("clear; fg")
        tmux.keys("C-m")
        tmux.wait("Redis, write-through")
        let_answer()
        tmux.keys("Down")
        tmux.wait("▸ 2")
        tmux.keys("C-c")
        tmux.wait(r"ready\$\s*\Z")


@test("a crash puts the terminal in order too", "R6.1")
def crash(home: Home) -> None:
    session_id = ask(home)
    with Pty(home, "attach", session_id) as pty, Judge() as judge:
        pty.wait("Redis")
        pty.drain()
        assert not pty.is_restored()
        pty.process.send_signal(signal.SIGSEGV)
        wait_until(lambda: pty.process.poll() is not None, "it is gone")
        pty.drain()
        assert pty.is_restored()
        modes = judge.show(pty.bytes)["modes"]
        assert not modes["bracketedPasteMode"] and not modes["sendFocusMode"] and modes["wraparoundMode"], modes


@test("a terminal that is closed ends it, and nothing is answered", "R6.1")
def hang_up(home: Home) -> None:
    session_id = ask(home)
    pty = Pty(home, "attach", session_id)
    pty.wait("Redis")
    os.close(pty.slave)
    os.close(pty.master)
    wait_until(lambda: pty.process.poll() is not None, "it ends", WAIT_S)
    home.spawned.remove(pty.process)
    assert is_open(home, session_id)


@test("the window changes size several times while a question is open: drawn again, nothing is lost", "R6.1")
def resizing(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        tmux.keys("Down")
        for columns, rows in ((40, 24), (200, 50), (300, 60), (60, 12), (40, 10), (80, 24)):
            tmux.resize(columns, rows)
            tmux.wait(rf"^[╍╌]{{{columns}}}$")
            shown = tmux.wait("▸ 2  Materialized")
            assert len(re.findall(r"▸", shown)) == 1, shown
        tmux.keys("Enter")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["view"]


@test("time runs out while a person types: it is held, then over, and the text is kept", "R5.4 R5.9")
def timeout(home: Home) -> None:
    home.sayso("settings", "set", "typing_hold", "off")
    session_id = ask(home, "Name?", selection_mode="text_input", timeout_seconds=600)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Name\?")
        tmux.type("nearly done")
        tmux.wait("nearly done")
        assert home.sayso("extend", session_id, "1").code == 0
        shown = tmux.wait("Timed out")
        assert "nearly done" in shown, shown
        let_answer()
        tmux.enter("nearly done")
        tmux.end(4)
    assert result_of(home, session_id)["action_status"] == "timeout"


@test("answered elsewhere while open: who won is shown, what was typed here is kept", "R5.3 R6.1")
def elsewhere(home: Home) -> None:
    session_id = ask(home, "Name?", selection_mode="text_input")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Name\?")
        tmux.type("my own words")
        tmux.wait("my own words")
        assert home.sayso("answer", session_id, "--text", "theirs").code == 0
        shown = tmux.wait(r"[Aa]nswered")
        assert "my own words" in shown, shown
        let_answer()  # a screen that has just changed ignores keys for a moment
        tmux.enter("my own words")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["custom_input"] == "theirs"


@test("what was typed and not sent is copied with y: to the clipboard of the terminal, as it was", "R6.1 R5.9")
def copied(home: Home) -> None:
    session_id = ask(home, "Name?", selection_mode="text_input")
    with Pty(home, "attach", session_id, TERM="xterm") as pty, Judge() as judge:
        pty.wait("Name?")
        let_answer()
        pty.type("my own words, 我的话")
        pty.drain()
        assert home.sayso("answer", session_id, "--text", "theirs").code == 0
        pty.wait("y")
        pty.drain()
        let_answer()
        pty.type("y")
        pty.drain()
        clips = [words for number, words in judge.show(pty.bytes)["osc"] if number == 52]
        assert [base64.b64decode(words.removeprefix("c;")).decode() for words in clips] == ["my own words, 我的话"], clips
        pty.type("\r")
        assert pty.process.wait(WAIT_S) == 0


@test("the hub dies while a person types: the screen says so, finds it again, and sends what was typed", "R6.1 R5.2")
def hub_dies(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Name?", selection_mode="text_input")
    with Tmux(home) as tmux:
        tmux.start("attach", session_id, shows=r"Name\?")
        tmux.type("before ")
        tmux.wait("before")
        home.kill_hub()
        tmux.type("and after")
        tmux.wait("before and after")
        wait_until(home.hub_pid, "the terminal starts the hub again", WAIT_S)
        tmux.wait_gone("(?i)connection to sayso lost")
        tmux.keys("C-d")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["custom_input"] == "before and after"


@test("a hub that a person stopped is not started behind their back; once it is back, it goes on", "R6.1")
def hub_stopped(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.start("attach", session_id)
        assert home.sayso("stop").code == 0
        tmux.wait("(?i)connection to sayso lost")
        time.sleep(0.5)
        assert not home.hub_pid()
        home.sayso("list")
        tmux.wait_gone("(?i)connection to sayso lost")
        tmux.keys("Down")
        tmux.wait("▸ 2")
        tmux.keys("C-c")
        tmux.end(5)


@test("answers piped into standard input go nowhere: keys come from the terminal alone", "R6.1")
def piped(home: Home) -> None:
    session_id = ask(home)
    with Tmux(home) as tmux:
        tmux.type(f"yes 2 | {home.binary} attach {session_id}; echo over")
        tmux.keys("C-m")
        tmux.wait("Redis")
        let_answer()
        let_answer()  # and as long again for what came with it
        assert is_open(home, session_id)
        tmux.keys("C-c")
        tmux.wait("^over$")
    assert is_open(home, session_id)


@test("without a terminal: the line to run and exit 5; nothing is consumed, nothing cancelled", "R6.1 R6.2")
def no_terminal(home: Home) -> None:
    given = {"title": "T", "prompt": "A prompt that is long enough.", "selection_mode": "text_input",
             "interface": "terminal"}
    handed = home.sayso("ask", "--from", "-", "--json", input=json.dumps(given)).json
    code = handed["terminal_command"].split()[-1]
    for words in (("attach", "--launch", code), ("attach", handed["session_id"]), ("inbox",)):
        result = home.sayso(*words, input="1\n2\n\n", start_new_session=True)
        assert result.code == 5 and "no terminal" in result.err, result
        assert result.out.split()[1:] == list(words), result
        as_json = home.sayso(*words, "--json", start_new_session=True)
        assert as_json.code == 5 and as_json.json["reason"] == "no_terminal", as_json
    assert is_open(home, handed["session_id"])
    with Tmux(home) as tmux:
        tmux.start("attach", "--launch", code, shows="T ")
        tmux.keys("C-c")
        tmux.end(5)


@test("--plain, and a terminal that can't move its cursor: numbered lines, answered by a line", "R6.1")
def plain(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    for words, env in ((("--plain",), {}), ((), {"TERM": "dumb"})):
        session_id = ask(home, f"Plain {env}")
        with Pty(home, "attach", *words, session_id, **env) as pty:
            pty.wait("Leave it")
            let_answer()
            assert pty.is_restored(), "lines are edited by the terminal itself"
            for line, then in (("2", "Enter for none"), ("", "y or n"), ("y", "")):
                pty.type(line + "\n")
                pty.wait(then)
            assert pty.process.wait(WAIT_S) == 0, pty.bytes
            assert b"\x1b" not in pty.drain(), pty.bytes
        assert result_of(home, session_id)["selection"]["selected_ids"] == ["view"]
    session_id = ask(home)
    with Pty(home, "attach", "--plain", session_id) as pty:
        pty.wait("Leave it")
        pty.type("\x03")
        assert pty.process.wait(WAIT_S) == 5, pty.bytes
    with Pty(home, "inbox", TERM="dumb") as pty:
        pty.wait("sayso answer")
        assert pty.process.wait(WAIT_S) == 5
    assert is_open(home, session_id)


@test("--plain reads out the previews of options too", "R6.1")
def plain_previews(home: Home) -> None:
    session_id = ask(home, "Which way?", options=[
        {"id": "a", "label": "In place", "recommended": True, "preview": {"type": "diff", "text": "-call();\n+again(call);"}},
        {"id": "b", "label": "A helper"}])
    with Pty(home, "attach", "--plain", session_id) as pty:
        pty.wait("Your choice")
        said = pty.drain().decode().replace("\r", "")
        assert re.search(r"1\. In place \(recommended\)\n   -call\(\);\n   \+again\(call\);\n2\. A helper", said), said
        pty.type("\x03")
        assert pty.process.wait(WAIT_S) == 5


@test("a shell that is kept from its terminal, as in a sandbox, is told so", "R6.1")
def sandboxed(home: Home) -> None:
    library, session_id = home.path / "forbidden_tty.so", ask(home)
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, HERE / "forbidden_tty.c", "-ldl"], check=True)
    preloaded = {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    result = home.sayso("attach", session_id, env=preloaded)
    assert result.code == 5 and "sandbox" in result.err and result.out.split()[1:] == ["attach", session_id], result
    result = home.sayso("attach", session_id, "--json", env=preloaded)
    assert result.json["reason"] == "sandboxed" and is_open(home, session_id), result


run()
