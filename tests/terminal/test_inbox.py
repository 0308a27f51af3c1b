"""The inbox, `sayso serve` on a terminal, `sayso ask` in place, and how a waiting ask makes itself
known.

Proves: R6.3 R6.6 R6.1
"""
from __future__ import annotations

import os
import re
import json
import shlex
import signal
import subprocess
import time

from stage import WAIT_S, Judge, Pty, Tmux, ask, let_answer, pid_of, result_of
from harness import Home, run, test, wait_until

QUESTION = ["-p", "Two regions are ready and one is to be first.", "-o", "eu=Europe", "-o", "us=America",
            "--recommend", "eu"]


def open_ids(home: Home) -> list[str]:
    return [row["session_id"] for row in home.sayso("list", "--active", "--json").json]


@test("asks come and go by themselves; Enter opens one, its answer leads back to the list", "R6.3")
def inbox(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    first = ask(home, "First of all")
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="First of all")
        second = ask(home, "Second thoughts")
        tmux.wait("Second thoughts")
        tmux.wait("2 pending")
        home.sayso("answer", second, "--select", "view")
        tmux.wait("1 pending")
        tmux.keys("Enter")
        tmux.wait("Redis, write-through")
        let_answer()
        tmux.keys("2")
        shown = tmux.wait("0 pending")
        assert not re.search(r"\d{5} d", shown), shown
        tmux.keys("q")
        assert "First of all" not in tmux.end(0), "the screen before is back"
    assert result_of(home, first)["selection"]["selected_ids"] == ["view"]


@test("the inbox names the portal's address, and an ask opened there obeys the person's settings", "R6.3 R6.4 R8.1")
def inbox_settings(home: Home) -> None:
    for name, value in (("deliver_after", "0"), ("notes", "off"), ("single_submit", "batch")):
        home.sayso("settings", "set", name, value)
    ask(home, "Obedient")
    with Tmux(home) as tmux:
        shown = tmux.start("inbox", shows="Obedient")
        assert re.search(r"1 pending +http://\S+:\d+/", shown), shown
        tmux.keys("Enter")
        tmux.wait("Enter to send  notes off")
        tmux.keys("C-c")
        tmux.wait("1 pending")
        tmux.keys("q")
        tmux.end(0)


@test("its keys: search, next and previous ask, five minutes more, cancel with a note; all without leaving", "R6.3")
def inbox_keys(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    ids = {title: ask(home, title, timeout_seconds=100) for title in ("Alpha", "Beta", "Gamma")}
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="3 pending")
        tmux.wait("▸ .*Gamma")
        tmux.keys("/")
        tmux.type("alp")
        tmux.wait("/ alp")
        tmux.wait_gone("Gamma")
        tmux.keys("Enter", "Enter")
        tmux.wait("Alpha +asked")
        tmux.keys("C-c")  # back to the list, which is still searched
        tmux.wait("/ alp")
        tmux.keys("Escape")
        tmux.wait("Gamma")
        tmux.keys("Home", "Enter")
        tmux.wait("1-3 pick")
        let_answer()
        before = re.search(r"^ (\w+) +asked", tmux.text(), re.MULTILINE)[1]
        assert "time 100 s" in tmux.text(), tmux.text()
        tmux.keys("]")
        after = re.search(r"^ (\w+) +asked", tmux.wait(rf"^ (?!{before})\w+ +asked"), re.MULTILINE)[1]
        let_answer()
        tmux.keys("[")
        tmux.wait(rf"^ {before} +asked")
        assert before != after
        tmux.keys("C-c")
        tmux.wait("3 pending")
        tmux.keys("k", "k", "e")
        tmux.wait(r"▸ +[56]:\d\d +Gamma")
        assert home.sayso("show", ids["Gamma"], "--json").json["ask"]["remaining_seconds"] > 290
        tmux.keys("c")
        tmux.wait("Cancel this ask")
        let_answer()
        tmux.type("not now")
        tmux.enter("not now")
        tmux.wait("2 pending")
        assert result_of(home, ids["Gamma"])["selection"]["global_annotation"] == "not now"
        tmux.keys("q")
        tmux.end(0)


@test("the hub dies under an inbox: it comes back with the list as it is then", "R6.3 R6.1")
def inbox_lost(home: Home) -> None:
    ask(home, "Before the end")
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="Before the end")
        home.kill_hub()
        wait_until(home.hub_pid, "it is started again", WAIT_S)
        ask(home, "After the end")
        tmux.wait("After the end")
        tmux.wait("2 pending")
        tmux.keys("C-c")
        tmux.end(0)


@test("an ask that arrives rings: a bell, and a notification without a word of the agent's", "R6.6 R6.5")
def bell(home: Home) -> None:
    home.sayso("list")
    with Pty(home, "inbox") as pty, Judge() as judge:
        pty.wait("waiting")
        pty.drain()
        before = judge.show(pty.bytes)["bells"]
        ask(home, "Ring\x07 the \x1b]9;bell\x07")
        pty.wait("Ring")
        pty.drain()
        told = judge.show(pty.bytes)
        assert told["bells"] > before, told
        assert not any("Ring" in words for _, words in told["osc"]), told
        pty.type("q")
        wait_until(lambda: pty.process.poll() is not None, "it ends")


@test("its notification is of the kind the terminal knows; in a terminal that is looked at the bell is enough", "R6.6")
def notices(home: Home) -> None:
    home.sayso("list")
    for term, wanted, before in (("xterm", (9, "sayso: an ask is waiting for you"), ""),
                                 ("xterm-kitty", (99, "i=sayso;sayso: an ask is waiting for you"), ""),
                                 ("rxvt", (777, "notify;sayso;an ask is waiting for you"), ""),
                                 ("screen", None, ""), ("xterm", None, "\x1b[I")):
        with Pty(home, "inbox", TERM=term) as pty, Judge() as judge:
            pty.wait("waiting")
            pty.type(before)
            pty.drain()
            session_id = ask(home, f"Come {term}{len(before)}")
            pty.wait(f"Come {term}{len(before)}")
            pty.drain()
            told = judge.show(pty.bytes)
            assert told["bells"] == 1 and told["osc"] == ([list(wanted)] if wanted else []), (term, told["osc"])
            pty.type("q")
            wait_until(lambda: pty.process.poll() is not None, "it ends")
        home.sayso("cancel", session_id)


@test("the window's name says how many wait, and is the shell's again afterwards, also after kill -TERM", "R6.6 R6.1")
def title(home: Home) -> None:
    ask(home, "First \x1b]2;evil\x07")
    with Tmux(home) as tmux:
        name = lambda: tmux.run("display-message", "-p", "#{pane_title}").strip()
        tmux.type("printf '\\033]2;my shell\\033\\\\'")
        tmux.keys("C-m")
        wait_until(lambda: name() == "my shell", "the shell has a name")
        tmux.start("inbox", shows="First")
        wait_until(lambda: name() == "sayso: 1 pending", "one waits")
        ask(home, "Second")
        wait_until(lambda: name() == "sayso: 2 pending", "two wait")
        tmux.keys("C-z")
        wait_until(lambda: name() == "my shell", "as before while it is stopped")
        tmux.type("fg")
        tmux.keys("C-m")
        wait_until(lambda: name() == "sayso: 2 pending", "and again")
        tmux.keys("q")
        tmux.wait(r"ready\$\s*\Z")
        assert name() == "my shell", name()
        for number in (signal.SIGTERM, signal.SIGSEGV):
            tmux.start("inbox", shows="Second")
            wait_until(lambda: name() == "sayso: 2 pending", "once more")
            os.kill(pid_of(home, "inbox"), number)
            wait_until(lambda: name() == "my shell", f"as before after {number}")


def rings(home: Home, title: str) -> bool:
    """Whether an inbox makes an ask known that comes while it is shown."""
    with Pty(home, "inbox") as pty, Judge() as judge:
        pty.wait("waiting")
        pty.drain()
        before = judge.show(pty.bytes)["bells"]
        session_id = ask(home, title)
        pty.wait(title)
        pty.drain()
        after = judge.show(pty.bytes)["bells"]
        home.sayso("cancel", session_id)
        pty.type("q")
        wait_until(lambda: pty.process.poll() is not None, "it ends")
    return after > before


@test("do not disturb, quiet hours and switched-off notifications: the inbox shows it and keeps silent", "R6.6")
def quiet(home: Home) -> None:
    home.sayso("list")
    now = time.localtime().tm_hour
    around = f"{(now + 23) % 24:02}:00-{(now + 2) % 24:02}:00"
    other = f"{(now + 3) % 24:02}:00-{(now + 5) % 24:02}:00"
    for number, (name, value, wanted) in enumerate((("quiet_hours", other, True), ("quiet_hours", around, False),
                                                    ("quiet_hours", "", True), ("do_not_disturb", "on", False),
                                                    ("do_not_disturb", "off", True), ("notifications", "off", False))):
        assert home.sayso("settings", "set", name, value).code == 0, (name, value)
        assert rings(home, f"Ring {number}") == wanted, (name, value)


@test("l puts an ask off: told as such, silent, still open; it can be answered as ever", "R6.3 R7.9")
def later(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home, "Not now", timeout_seconds=9000)
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="Not now")
        tmux.keys("l")
        tmux.wait("1 in 10 min  2 in 1 h  3 in 4 h  4 tomorrow")
        tmux.keys("Escape")
        tmux.wait("Enter answer")
        assert "later_until" not in home.sayso("show", session_id, "--json").json["ask"]
        tmux.keys("l", "2")
        tmux.wait(r"Not now .*  snoozed  auto$")
        row = home.sayso("show", session_id, "--json").json["ask"]
        assert row["status"] == "pending" and row["later_until"], row
        tmux.keys("q")
        tmux.end(0)
        tmux.start("attach", session_id, shows="Not now")
        tmux.keys("l")
        tmux.wait("2 in 1 h")
        tmux.keys("3")
        assert "still pending" in tmux.end(5)
        assert home.sayso("show", session_id, "--json").json["ask"]["later_until"] > row["later_until"]
        tmux.start("attach", session_id, shows="Not now")
        tmux.keys("1")
        tmux.end(0)
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["redis"]


@test("h looks back: what was answered, found by a word, read whole; Esc leads back", "R6.3")
def history(home: Home) -> None:
    for number in range(25):
        home.sayso("answer", ask(home, f"Old question {number:02}"), "--select", "view", "--note", f"because {number:02}")
    home.sayso("cancel", ask(home, "Never mind"))
    with Tmux(home) as tmux:
        tmux.start("inbox", shows="0 pending")
        tmux.keys("h")
        shown = tmux.wait(r"▸ ✗.*Never mind +cancelled")
        assert re.search(r"✓.*Old question 24 +Materialized view", shown), shown
        tmux.keys("End")
        tmux.wait("▸ ✓.*Old question 00")
        tmux.keys("/")
        tmux.type("because 17")
        tmux.wait("/ because 17")
        tmux.keys("Enter")
        shown = tmux.wait(r"^ History +1$")
        assert "▸ ✓" in shown and "Old question 17" in shown and "Old question 16" not in shown, shown
        tmux.keys("Enter")
        shown = tmux.wait("Note for the agent: because 17")
        for words in ("Old question 17", "Answered from the command line", "both clusters are healthy", "Materialized view"):
            assert words in shown, (words, shown)
        assert "was not sent" not in shown, shown
        let_answer()
        tmux.keys("Escape")
        tmux.wait(r"^ History +1$")
        tmux.keys("Escape")
        tmux.wait("0 pending")
        tmux.keys("q")
        tmux.end(0)


@test("status --short is a line for a status bar, and nothing where nothing waits", "R6.6")
def short(home: Home) -> None:
    assert home.sayso("status", "--short").out == ""
    ask(home)
    assert re.fullmatch(r"\S.*1\n", home.sayso("status", "--short").out)


@test("sayso serve on a terminal shows the inbox; q ends both; elsewhere it serves as ever", "R6.3")
def serve(home: Home) -> None:
    with Tmux(home) as tmux:
        before = tmux.modes()
        tmux.start("serve", shows="0 pending")
        hub = home.hub_pid()
        assert hub
        ask(home, "For the server")
        tmux.wait("For the server")
        tmux.keys("C-z")  # the shell is back, and the hub goes on
        tmux.wait("Stopped")
        assert open_ids(home) and home.hub_pid() == hub
        tmux.type("fg")
        tmux.keys("C-m")
        tmux.wait("For the server")
        tmux.keys("q")
        tmux.wait(r"ready\$\s*\Z")
        wait_until(lambda: not home.hub_pid(), "the hub has ended")
        assert tmux.modes() == before
        home.sayso("list")
        tmux.command("serve")
        tmux.end(1)  # one runs already
        home.sayso("stop")
        tmux.command("serve", "--no-inbox")
        tmux.wait("pid")
        tmux.keys("C-c")
        tmux.wait(r"ready\$\s*\Z")


@test("sayso ask on a terminal asks there, and leaves one line; standard output gets the answer alone", "R6.3")
def in_place(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "60")  # for others who wait; no other process does
    out = home.path / "answer"
    with Tmux(home) as tmux:
        before = tmux.modes()
        tmux.type(f"{shlex.join([home.binary, 'ask', 'Which region?', *QUESTION])} > {out}; echo over=$?")
        tmux.keys("C-m")
        tmux.wait("Europe  recommended")
        let_answer()
        assert "agent not waiting" not in tmux.text()
        tmux.keys("2")
        tmux.wait("^over=0$")
        assert out.read_text() == "us\n"
        assert tmux.modes() == before
        for name in "ABCDEFGH":  # the script's result and the screen's news are on two connections
            tmux.run("send-keys", "-R")
            tmux.type(f"{shlex.join([home.binary, 'ask', f'Region {name}?', *QUESTION])} > {out}; echo {name}=$?")
            tmux.keys("C-m")
            tmux.wait("Europe  recommended")
            let_answer()
            tmux.keys("2")
            assert re.search(rf"^✓ Region {name}\?  America  ", tmux.wait(f"^{name}=0$"), re.MULTILINE), tmux.text()
    assert not open_ids(home)


@test("what came on standard input is asked on the terminal too", "R6.3 R10.3")
def piped(home: Home) -> None:
    question = home.path / "question.json"
    question.write_text(json.dumps({"title": "Piped?", "prompt": QUESTION[1], "selection_mode": "single", "options": [
        {"id": "eu", "label": "Europe", "recommended": True}, {"id": "us", "label": "America"}]}))
    with Tmux(home) as tmux:
        tmux.type(f"cat {question} | {shlex.join([home.binary, 'ask', '--from', '-'])} > {home.path / 'answer'}; echo over=$?")
        tmux.keys("C-m")
        tmux.wait("Europe  recommended")
        let_answer()
        tmux.keys("2")
        tmux.wait("^over=0$")
        assert (home.path / "answer").read_text() == "us\n"


@test("left with Ctrl-C the ask stays, and asking again waits for the same; answered elsewhere it ends", "R6.3 R5.5")
def in_place_left(home: Home) -> None:
    with Tmux(home) as tmux:
        tmux.start("ask", "Which region?", *QUESTION, shows="Europe")
        tmux.keys("C-c")
        tmux.end(5)
        (session_id,) = open_ids(home)
        tmux.start("ask", "Which region?", *QUESTION, shows="Europe")
        assert open_ids(home) == [session_id]
        assert home.sayso("answer", session_id, "--select", "eu").code == 0
        assert re.search(r"^eu$", tmux.end(0), re.MULTILINE), tmux.text()


@test("the hub dies while sayso ask shows its question: the same ask, the same answer", "R6.3 R5.2")
def in_place_lost(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    with Tmux(home) as tmux:
        tmux.start("ask", "Which region?", *QUESTION, shows="Europe")
        (session_id,) = open_ids(home)
        home.kill_hub()
        wait_until(home.hub_pid, "it is started again", WAIT_S)
        tmux.wait_gone("(?i)connection to sayso lost")
        assert open_ids(home) == [session_id]
        let_answer()
        tmux.keys("1")
        assert re.search(r"^eu$", tmux.end(0), re.MULTILINE), tmux.text()
    assert not open_ids(home)


@test("no terminal, but a tmux with an attached client: the question comes in a popup", "R6.1")
def popup(home: Home) -> None:
    home.sayso("settings", "set", "deliver_after", "0")
    session_id = ask(home)
    with Tmux(home) as tmux, Pty(home, "version") as looker:
        looker.process.wait()  # its terminal is free for another
        viewer = home.spawn("-u", "-S", tmux.socket, "attach", program="tmux", stdin=looker.slave,
                            stdout=looker.slave, stderr=looker.slave, start_new_session=True,
                            preexec_fn=looker.attach, env={"TERM": "xterm", "LANG": "C.UTF-8"})
        looker.wait("ready")
        socket, pid = tmux.run("display-message", "-p", "#{socket_path},#{pid}").strip().split(",")
        pane = tmux.run("display-message", "-p", "#{pane_id}").strip()
        asked = home.spawn("attach", session_id, stdin=subprocess.DEVNULL, start_new_session=True,
                           env={"TMUX": f"{socket},{pid},0", "TMUX_PANE": pane, "LANG": "C.UTF-8"})
        looker.wait("Redis, write-through")
        let_answer()
        looker.type("2")
        assert asked.wait(WAIT_S) == 0, asked.communicate()
        home.spawned.remove(asked)
        asked.communicate()
        tmux.run("kill-server")
        viewer.wait(WAIT_S)
        home.spawned.remove(viewer)
    assert result_of(home, session_id)["selection"]["selected_ids"] == ["view"]


run()
