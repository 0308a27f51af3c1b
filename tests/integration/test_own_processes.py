"""An agent does not approve its own calls: what runs below its client is known, marked and refused; and what escapes that.

Proves: R12.1
"""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from typing import Any

from cli_stage import DONE, FAILED, PENDING, REFUSED, end, expect, row_of
from far_stage import Far
from harness import Home, Skip, run, side_by_side, test, wait_until
from own_stage import CODE, PROMPT, Client, modern_call, post, typing, write_program
from tty_stage import Tty
from web_stage import signed_in, start_hub

HERE = os.path.dirname(os.path.abspath(__file__))


def quoted(*words: str) -> str:
    return " ".join(map(shlex.quote, words))


def shells(*words: str) -> dict[str, list[str]]:
    """The ways in which an agent's tools start a command; where script(1) is, it has a terminal."""
    line = quoted(*words)
    return {
        "itself": list(words),
        "a shell": ["sh", "-c", line],
        "shells in shells": ["bash", "-c", f"sh -c {shlex.quote(f'bash -c {shlex.quote(line)}; exit $?')}; exit $?"],
        "env": ["env", "A=b", "timeout", "60", *words],
        "a session of its own": ["setsid", "--wait", *words],
        "script(1)": ["script", "-qec", line, "/dev/null"],
        "script(1) in a session": ["setsid", "--wait", "script", "-qec", f"sh -c {shlex.quote(line)}; exit $?", "/dev/null"],
    }


def actor(home: Home, session_id: str) -> dict[str, Any]:
    return row_of(home, session_id)["answered_by"]


def copy(home: Home, name: str, program: str) -> str:
    """A program under the name of another one."""
    return str(shutil.copy(shutil.which(program) or program, home.path / name))


def new_container() -> list[str]:
    """The words that run a program as the first process of a container."""
    apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*apart, "true"], check=False, capture_output=True).returncode != 0:
        raise Skip("needs the right to make a namespace")
    return apart


def answer_on_terminal(home: Home, session_id: str, **settings: Any) -> dict[str, Any]:
    """As a person does: the code is shown there and typed there."""
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--select", "us", **settings)
        tty.type(tty.read_until(r"Type (\d{3}) ", 60)[1] + "\n")
        expect(end(home, process), DONE)
    return actor(home, session_id)


@test("answers from below the client are marked, however its tools start a command", "R12.1")
def marked(home: Home) -> None:
    client = Client(home, through=[])
    for way, words in shells(home.binary, "answer", "ID", "--select", "eu").items():
        session_id = client.ask(f"By {way}?")
        code, said = client.run(*[word.replace("ID", session_id) for word in words])
        assert code == DONE, (way, said)
        by = actor(home, session_id)
        assert by["same_process_tree"] is True and by["uid"] == os.getuid(), (way, by)
        assert bool(by["tty"]) == ("script" in way), (way, by)
    other = client.ask("By a person?")
    expect(home.sayso("answer", other, "--select", "eu"), DONE)
    assert "same_process_tree" not in actor(home, other), actor(home, other)


@test("a destructive ask is refused to them, on a terminal or not, and stays pending for its person", "R12.1")
def refused(home: Home) -> None:
    client = Client(home, through=[])
    session_id = client.ask("Drop it?", destructive=True)
    for way, words in shells(home.binary, "answer", session_id, "--select", "us").items():
        code, said = client.run(*words)
        assert code == FAILED and "destructive" in said and "terminal of your own" in said, (way, code, said)
        assert "Type " not in said, (way, said)
        assert row_of(home, session_id)["status"] == "pending", way
    by = answer_on_terminal(home, session_id)
    assert by["tty"] and "same_process_tree" not in by, by
    other = client.ask("Drop that?", destructive=True)
    assert client.run("script", "-qec", quoted(home.binary, "decline", other), "/dev/null")[0] == DONE
    assert actor(home, other)["same_process_tree"] is True  # a no needs no person, and is marked


@test("shells, npx and other runners between the client and its front are passed over", "R12.1")
def runners(home: Home) -> None:
    npx = write_program(home.path / "npx", "require('child_process').spawn(process.argv[2], process.argv.slice(3), "
                                           "{ stdio: 'inherit' }).on('exit', code => process.exit(code));")
    wrapper = write_program(home.path / "run-it", '#!/bin/sh\n"$@"\nexit $?\n')
    ways = {"a shell": ["sh", "-c", '"$@"; exit $?', "sh"], "a wrapper script": [wrapper], "timeout": ["timeout", "600"],
            **{name: [copy(home, name, "bash"), "-c", '"$@"; exit $?', "x"] for name in ("ksh93", "bsd-csh", "yash")},
            **{name: [copy(home, name, "timeout"), "600"] for name in ("coreutils", "dumb-init")},
            "npx": ["node", npx], "npx in shells": ["sh", "-c", f'node {npx} "$@"; exit $?', "sh", wrapper, "env", "A=b"]}
    for way, through in ways.items():
        client = Client(home, through=through)
        session_id = client.ask(f"Through {way}?", destructive=True)
        code, said = client.run("script", "-qec", quoted(home.binary, "answer", session_id, "--select", "us"), "/dev/null")
        assert code == FAILED and "destructive" in said, (way, code, said)
        origin = row_of(home, session_id)["origin"]
        assert origin["client_pid"] == client.process.pid, (way, origin, client.process.pid)
        client.stop()


@test("a client that leads its session, on a terminal or not, is the client all the same", "R12.1")
def leads(home: Home) -> None:
    with Tty() as tty:
        for way in ("no terminal", "terminal"):
            attach = {"preexec_fn": tty.attach} if way == "terminal" else {}
            client = Client(home, through=[], start_new_session=True, **attach)
            session_id = client.ask(f"Leads, {way}?", destructive=True)
            assert row_of(home, session_id)["origin"]["client_pid"] == client.process.pid
            code, said = client.run(home.binary, "answer", session_id, "--select", "us")
            assert code == FAILED and "destructive" in said, (way, code, said)
            client.stop()


@test("the main program of a container can be the client; an init, or what only keeps a container running, is not", "R12.1")
def main_program(home: Home) -> None:
    apart = new_container()
    client = Client(home, through=[], under=apart)
    assert client.run(home.binary, "list")[0] == DONE  # starts the hub where the client is
    session_id = client.ask("Drop it?", destructive=True)
    assert row_of(home, session_id)["origin"]["client_pid"] == 1, row_of(home, session_id)
    code, said = client.run(*typing([home.binary, "answer", session_id, "--select", "us"], "destructive", ""))
    assert code == FAILED and "terminal of your own" in said, (code, said)
    program = write_program(home.path / "daemon.py", DAEMON)  # it loses its parents, and has the main program instead
    client.run(sys.executable, program, home.binary, "answer", client.ask("Which one?"), "--select", "us")
    wait_until(lambda: [row for row in home.sayso("list", "--json").json if "same_process_tree" in (row["answered_by"] or {})],
               "the daemon's answer is marked", 60)
    client.stop()
    ask = quoted(home.binary, "ask", "Which one?", "-p", PROMPT, "-o", "eu=Europe", "-o", "us=America", "-r", "eu")
    line = f"{ask} --wait 0; {quoted(home.binary)} token new --kind person; exit $?"
    for name, code in {"agentd": FAILED, "systemd": DONE, "init": DONE, "init(Debian)": DONE, "s6-svscan": DONE, "tini": DONE,
                       "sleep": DONE}.items():
        main = home.spawn(*apart[1:], copy(home, name, "bash"), "-c", line, program=apart[0], stdin=subprocess.DEVNULL)
        out, err = main.communicate(timeout=120)
        home.spawned.remove(main)
        assert main.returncode == code and (code == DONE) == ("sayso_" in out), (name, main.returncode, out, err)


EDITOR = """
import subprocess, sys
client = subprocess.Popen(sys.argv[1:3])                     # the agent's, on our own streams
subprocess.run(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # the person's terminal
client.wait()
"""


@test("an editor above both does not taint a person's terminal; what its agent runs there escapes us", "R12.1")
def editor(home: Home) -> None:
    program = write_program(home.path / "editor.py", EDITOR)
    go = home.path / "go"
    person = f"while ! [ -e {go} ]; do sleep 0.05; done; {quoted(home.binary)} answer $(cat {go}) --select us; exit $?"
    client = Client.__new__(Client)
    client.home, client.last_id = home, 0
    client.process = home.spawn(program, sys.executable, f"{HERE}/own_stage.py", *typing(["sh", "-c", person]),
                                program=sys.executable, stderr=None)
    client.start([])
    session_id = client.ask("In the editor?", destructive=True)
    assert row_of(home, session_id)["origin"]["client_pid"] != client.process.pid
    (home.path / "new").write_text(session_id)
    os.rename(home.path / "new", go)
    wait_until(lambda: row_of(home, session_id)["status"] == "submitted", "the person's terminal may answer", 60)
    by = actor(home, session_id)
    assert by["tty"] and "same_process_tree" not in by, by


@test("rules, tokens, links and settings of the host are not for them, also after a new hub came", "R12.1")
def governs(home: Home) -> None:
    client = Client(home, through=[])
    session_id = client.ask("Which one?")
    expect(home.sayso("answer", session_id, "--select", "eu"), DONE)
    acts = [["rule", "add", session_id], ["token", "new", "--kind", "person"], ["open"],
            ["settings", "set", "gate_commands", "none"]]
    for restarted in (False, True):
        for words in acts:
            for way, shell in shells(home.binary, *words).items():
                code, said = client.run(*shell)
                assert code == FAILED and "terminal of your own" in said and "sayso_" not in said, (words, way, code, said)
        if not restarted:
            home.kill_hub()
    assert home.sayso("rule", "list", "--json").json == [] and "kubectl" in home.sayso("settings", "get", "gate_commands").out
    assert client.run(home.binary, "settings", "set", "theme", "dark")[0] == DONE  # a person's own taste is not guarded
    for words in acts:
        expect(home.sayso(*words), DONE)


@test("a bad variable does not let them change settings of the host without a hub", "R12.1 R8.1")
def governs_alone(home: Home) -> None:
    client = Client(home, through=[])
    client.ask("Which one?")
    expect(home.sayso("settings", "set", "list_count", "7"), DONE)
    before = (home.config / "settings.json").read_text()
    assert client.run(home.binary, "stop")[0] == DONE
    for variable in ("SAYSO_LISTEN", "SAYSO_MCP_AUTH", "SAYSO_LISTEN_PLAIN", "SAYSO_GATE_WORDS"):
        for words in (["set", "gate_commands", "none"], ["reset", "list_count"]):
            code, said = client.run("env", f"{variable}=two\nlines", home.binary, "settings", *words)
            assert code == FAILED and f"Fix or unset {variable}." in said, (variable, words, code, said)
            assert (home.config / "settings.json").read_text() == before, (variable, words)


@test("an ask outlives its hub and its client is still known; after a reboot its numbers mean nothing", "R12.1")
def recorded(home: Home) -> None:
    client = Client(home, through=[])
    session_id = client.ask("Drop it?", destructive=True)
    words = ["script", "-qec", quoted(home.binary, "answer", session_id, "--select", "us"), "/dev/null"]
    home.kill_hub()
    code, said = client.run(*words)
    assert code == FAILED and "destructive" in said, (code, said)
    later = client.ask("Which one?")
    origin = row_of(home, later)["origin"]
    assert origin["boot"] and origin["client_pid"] == client.process.pid, origin
    client.stop()
    home.kill_hub()
    other = Client(home)  # it asks nothing, so it is no agent's client
    with_other_boot = json.dumps({**origin, "client_pid": other.process.pid, "client_start": start_of(other.process.pid),
                                  "boot": "another boot"})
    home.rows("UPDATE asks SET origin = ?1 WHERE id = ?2", with_other_boot, later)
    assert other.run(home.binary, "answer", later, "--select", "eu")[0] == DONE
    assert "same_process_tree" not in actor(home, later), actor(home, later)


def start_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[19])


@test("a hand-off that the agent's shell runs shows the question, stays pending, and its command is still good", "R6.2 R12.1")
def handed(home: Home) -> None:
    client = Client(home, through=[])
    told = client.hand_off("Drop it?", destructive=True)
    session_id = told["session_id"]
    code, said = client.run("script", "-qec", told["terminal_command"], "/dev/null")
    assert code == PENDING and "Drop it?" in said and "America" in said, (code, said)
    assert f"sayso answer {session_id}" in said and "portal" in said and "stays pending" in said, said
    assert row_of(home, session_id)["status"] == "pending_terminal_launch"
    code, said = client.run("script", "-qec", quoted(home.binary, "attach", session_id), "/dev/null")
    assert code == PENDING and "stays pending" in said, (code, said)
    with Tty() as tty:  # the person's own
        process = tty.start(home, *shlex.split(told["terminal_command"])[1:], "--plain", stdin=tty.slave)
        tty.read_until("Drop it", 60)
        assert row_of(home, session_id)["status"] == "pending"
        process.terminate()
        end(home, process)
    expect(home.sayso("cancel", session_id), DONE)


@test("sayso ask in place below a known client shows where to answer, and waits", "R12.1 R6.3")
def in_place(home: Home) -> None:
    client = Client(home, through=[])
    client.ask("Known now?")
    words = [home.binary, "ask", "Drop it?", "-p", "Both would work, and both are hard to undo.", "-o", "a=First",
             "-o", "b=Second", "-r", "a", "--destructive"]
    log = home.path / "typescript"
    def agent() -> None:
        code, _ = client.run("env", "TERM=xterm", "script", "-qefc", quoted(*words), str(log))
        assert code == REFUSED, log.read_text(errors="replace")
    def person() -> None:
        wait_until(lambda: log.exists() and "stays pending" in log.read_text(errors="replace"), "it says where to answer", 60)
        rows = [row for row in home.sayso("list", "--active", "--json").json if row["title"] == "Drop it?"]
        assert rows[0]["status"] == "pending", rows
        expect(home.sayso("cancel", rows[0]["session_id"]), DONE)
    side_by_side(agent, person)


PROBE = f"""
import json, sys
sys.path.insert(0, {HERE!r})
from web_stage import Page, WireError, hello
port, token, session_id, method = int(sys.argv[1]), *sys.argv[2:5]
with Page(port) as page:
    hello(page, token=token)
    try:
        print(json.dumps(page.call(method, session_id=session_id, **json.loads(sys.argv[5]))))
    except WireError as refusal:
        print(refusal.message)
        sys.exit(1)
"""


@test("tabs and programs on loopback are known by their process: recorded, marked, refused", "R12.1")
def loopback(home: Home) -> None:
    port = start_hub(home)
    client = Client(home, through=[])
    probe = write_program(home.path / "probe.py", PROBE)
    chosen = json.dumps({"selected_ids": ["eu"]})
    token = home.sayso("token", "new", "--kind", "person", "--json").json["token"]
    with signed_in(home) as (page, tab):
        plain, dangerous, mine = client.ask("Plain?"), client.ask("Drop it?", destructive=True), client.ask("Mine?")
        code, said = client.run(sys.executable, probe, str(port), tab, plain, "ask/answer", chosen)
        assert code == 0, said
        wait_until(lambda: row_of(home, plain)["status"] == "submitted", "it is answered")
        by = actor(home, plain)
        assert by["via"] == "web" and by["same_process_tree"] is True and by["uid"] == os.getuid() and by["pid"], by
        for method, params in (("ask/challenge", "{}"), ("ask/answer", json.dumps({"selected_ids": ["us"]})),
                               ("ask/draft", json.dumps({"draft": {"selected_ids": ["us"]}}))):
            code, said = client.run(sys.executable, probe, str(port), tab, dangerous, method, params)
            assert code == 1 and "destructive" in said, (method, code, said)
        page.call("ask/answer", session_id=mine, selected_ids=["eu"])
        by = actor(home, mine)
        assert by["pid"] == os.getpid() and by["uid"] == os.getuid() and "same_process_tree" not in by, by
        page.call("ask/answer", session_id=dangerous, selected_ids=["us"],
                  code=page.call("ask/challenge", session_id=dangerous)["code"])
        assert actor(home, dangerous)["via"] == "web"
    over_rest = client.ask("Over REST?")
    curl = ["curl", "-sS", "-X", "POST", "-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json",
            "-d", chosen, f"http://127.0.0.1:{port}/api/asks/{over_rest}/answer"]
    code, said = client.run("sh", "-c", quoted(*curl))
    assert code == 0, said
    by = actor(home, over_rest)
    assert by["via"] == "api" and by["same_process_tree"] is True and by["pid"], by


@test("an agent over loopback HTTP is known by its process as well", "R12.1")
def agent_over_http(home: Home) -> None:
    port = start_hub(home)
    token = home.sayso("token", "new", "--json").json["token"]
    client = Client(home)  # its front is the hub: it connects by itself
    asks = ("import http.client, json, sys, threading, time\n"
            "peer = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
            "head = {'Authorization': 'Bearer ' + sys.argv[2], 'Content-Type': 'application/json',\n"
            "        'Accept': 'application/json, text/event-stream'}\n"
            "def post(**message):\n"
            "    peer.request('POST', '/mcp', json.dumps({'jsonrpc': '2.0', **message}), head)\n"
            "    reply = peer.getresponse()\n"
            "    return reply, reply.read() if message.get('id') != 2 else b''\n"
            "reply, _ = post(id=1, method='initialize', params={'protocolVersion': '2025-06-18', 'capabilities': {},\n"
            "                'clientInfo': {'name': 'client', 'version': '1'}})\n"
            "head.update({'Mcp-Session-Id': reply.headers['Mcp-Session-Id'], 'MCP-Protocol-Version': '2025-06-18'})\n"
            "peer.request('POST', '/mcp', json.dumps({'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call',\n"
            "             'params': {'name': 'provide_choice', 'arguments': json.loads(sys.argv[3])}}), head)\n"
            "import subprocess\n"
            "ended = subprocess.run(['sh', '-c', sys.argv[4]])\n"
            "sys.exit(ended.returncode)\n")
    program = write_program(home.path / "http_client.py", asks)
    answers = (f"until id=$({quoted(home.binary)} list --active | grep -o '^[a-z2-7]*'); do sleep 0.05; done; "
               f"script -qec \"{quoted(home.binary)} answer --select us\" /dev/null")
    code, said = client.run(sys.executable, program, str(port), token,
                            json.dumps(client.question("Drop it?", destructive=True)), answers)
    assert code == FAILED and "destructive" in said, (code, said)
    rows = home.sayso("list", "--json").json
    assert rows[0]["origin"]["client_pid"] and rows[0]["origin"]["via"] == "http", rows


@test("known escape: before the first ask no client is known, so nothing is refused", "R12.1 R10.2")
def escape_before_the_first_ask(home: Home) -> None:
    client = Client(home, through=[])  # initialized, over MCP
    acts = [["token", "new", "--kind", "person"], ["settings", "set", "gate_words", "none"], ["open"]]
    for words in acts:
        code, said = client.run(home.binary, *words)
        assert code == DONE, (words, code, said)
    client.ask("Which one?")
    for words in acts:
        code, said = client.run(home.binary, *words)
        assert code == FAILED and "terminal of your own" in said, (words, code, said)


DAEMON = """
import os, sys
if os.fork():
    os._exit(0)                      # the first parent is gone, and with it the way up to the client
os.setsid()
if os.fork():
    os._exit(0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@test("known escape: a daemon that has detached answers, and the record shows its process without a mark", "R12.1")
def escape_by_daemon(home: Home) -> None:
    client = Client(home, through=[])
    session_id = client.ask("Drop it?", destructive=True)
    program = write_program(home.path / "daemon.py", DAEMON)
    client.run(sys.executable, program, *typing([home.binary, "answer", session_id, "--select", "us"]))
    wait_until(lambda: row_of(home, session_id)["status"] == "submitted", "the daemon was not recognized", 60)
    by = actor(home, session_id)
    assert by["pid"] and by["tty"] and "same_process_tree" not in by, by


@test("known escape: a service manager that starts a command for the agent is above no client", "R12.1")
def escape_by_service_manager(home: Home) -> None:
    job = home.path / "job"
    manager = home.spawn("-c", f"import ctypes, os, subprocess, time\nctypes.CDLL(None).prctl(15, b'cron', 0, 0, 0)\n"
                               f"while not os.path.exists({str(job)!r}): time.sleep(0.05)\n"
                               f"subprocess.run(['sh', {str(job)!r}])", program=sys.executable)
    client = Client(home, through=[])
    session_id = client.ask("Which one?")
    line = quoted(home.binary, "answer", session_id, "--select", "us")
    assert client.run("sh", "-c", f"echo {shlex.quote(line)} > {job}.new && mv {job}.new {job}")[0] == 0
    wait_until(lambda: row_of(home, session_id)["status"] == "submitted", "the job was run", 60)
    assert "same_process_tree" not in actor(home, session_id), actor(home, session_id)
    manager.wait(60)


@test("known escape: a multiplexer types for the agent into a terminal that is above no client", "R12.1")
def escape_by_multiplexer(home: Home) -> None:
    client = Client(home, through=[])
    session_id = client.ask("Drop it?", destructive=True)
    tmux = ["env", "SHELL=/bin/sh", "tmux", "-S", str(home.path / "tmux")]
    answer = quoted(home.binary, "answer", session_id, "--select", "us")
    assert client.run(*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "20", answer)[0] == 0
    shown = wait_until(lambda: re.search(r"Type (\d{3}) ", client.run(*tmux, "capture-pane", "-p")[1]), "the code", 60)
    client.run(*tmux, "send-keys", shown[1], "Enter")
    wait_until(lambda: row_of(home, session_id)["status"] == "submitted", "the agent's keys were taken for a person's", 60)
    by = actor(home, session_id)
    assert by["pid"] and by["tty"] and "same_process_tree" not in by, by
    client.run(*tmux, "kill-server")


@test("known escape: from another container processes are unknown, and the record says so", "R12.1")
def escape_by_container(home: Home) -> None:
    apart = new_container()
    sayso, kept = quoted(home.binary), home.path / "kept"
    inside = (f"{sayso} token new --kind person --json > {kept}.person && {sayso} token new --json > {kept}.agent && "
              f"mv {kept}.person {kept}; sleep 600")
    container = home.spawn(*apart[1:], "sh", "-c", inside, program=apart[0])
    wait_until(kept.exists, "the hub in its container", 60)
    port, person = home.hub()["port"], json.loads(kept.read_text())["token"]
    agent = json.loads((home.path / "kept.agent").read_text())["token"]
    asked = post(*modern_call(port, agent, "Which one?"))
    session_id = asked["result"]["structuredContent"]["session_id"]
    post(port, f"/api/asks/{session_id}/answer", person, {"selected_ids": ["us"]})
    with urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{port}/api/asks/{session_id}", headers={"Authorization": f"Bearer {person}"})) as reply:
        ask = json.load(reply)
    by, origin = ask["ask"]["answered_by"], ask["ask"]["origin"]
    assert by["pid"] is None and by["uid"] == os.getuid() and "same_process_tree" not in by, by
    assert "client_pid" not in origin, origin
    container.kill()


@test("known escape: an agent that only uses sayso ask answers itself on a pseudo-terminal, as a person would", "R12.1")
def escape_by_asking_in_place(home: Home) -> None:
    client = Client(home)  # no MCP, no gate
    ask = [home.binary, "ask", "Drop it?", "-p", PROMPT, "-o", "eu=Europe", "-o", "us=America", "-r", "eu", "--destructive"]
    # keys in the first half second are ignored, so the clock ticks twice before the first one
    keys = [r"(?s)keys(.*\?2026l){3}", "2", "\u25c9", r"\r", *CODE]
    for is_known in (False, True):  # an ask without a terminal makes the client known, but it may be a person's script
        code, said = client.run("env", "TERM=xterm", *typing(ask, *keys))
        assert code == DONE, (is_known, code, said)
        row = home.sayso("list", "--json").json[0]
        by, origin = row["answered_by"], row["origin"]
        assert by["pid"] == origin["pid"] and by["tty"] and "same_process_tree" not in by, (is_known, by)
        assert origin.get("client_pid") == (client.process.pid if is_known else None), origin
        assert client.run(*ask[:2], "Drop that?", *ask[3:], "--wait", "0")[0] == PENDING
    waits = home.sayso("list", "--active", "--json").json[0]["session_id"]
    code, said = client.run(*typing([home.binary, "answer", waits, "--select", "us"], "destructive", ""))
    assert code == FAILED and "terminal of your own" in said, (code, said)  # only the process that asked may answer there


@test("known escape: a wrapper that is not in the list is taken for the client, and the client itself is not known", "R12.1")
def escape_by_wrapper(home: Home) -> None:
    pid = home.path / "pid"
    wrapper = write_program(home.path / "wrapper.py", "import os, subprocess, sys\n"
                                                      f"open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
                                                      "sys.exit(subprocess.call(sys.argv[1:]))\n")
    client = Client(home, through=[sys.executable, wrapper])
    session_id = client.ask("Drop it?", destructive=True)
    assert row_of(home, session_id)["origin"]["client_pid"] == int(pid.read_text()) != client.process.pid
    code, said = client.run(*typing([home.binary, "answer", session_id, "--select", "us"]))
    assert code == DONE, (code, said)
    by = actor(home, session_id)
    assert by["pid"] and by["tty"] and "same_process_tree" not in by, by
    assert client.run(home.binary, "token", "new")[0] == DONE


@test("known escape: of programs that share a token and a name at /mcp, without sessions, only the first is known", "R12.1")
def escape_by_shared_token(home: Home) -> None:
    port = start_hub(home)
    token = home.sayso("token", "new", "--json").json["token"]
    first, second = Client(home), Client(home)

    def answer(client: Client, session_id: str, *steps: str) -> tuple[int, str]:
        return client.run(*typing([home.binary, "answer", session_id, "--select", "us"], *steps))

    def client_of(session_id: str) -> int:
        return row_of(home, session_id)["origin"]["client_pid"]

    asked = [client.ask_over_http(port, token, f"{place}. Drop it?", destructive=True)
             for place, client in enumerate((first, second, second), 1)]
    assert {client_of(session_id) for session_id in asked} == {first.process.pid}
    code, said = answer(first, asked[2], "destructive", "")
    assert code == FAILED and "terminal of your own" in said, (code, said)
    code, said = answer(second, asked[1])
    assert code == DONE, (code, said)
    by = actor(home, asked[1])
    assert by["pid"] and by["tty"] and "same_process_tree" not in by, by
    other = second.ask_over_http(port, token, "By another name?", "other", destructive=True)
    assert client_of(other) == second.process.pid
    for session_id in (other, asked[2]):
        code, said = answer(second, session_id, "destructive", "")
        assert code == FAILED and "terminal of your own" in said, (code, said)
    first.stop()
    again = Client(home).ask_over_http(port, token, "Started again?")
    assert client_of(again) == first.process.pid


TLS_TAB = """
import ssl, sys
from web_stage import Page
port, authority, token, session_id = sys.argv[1:]
page = Page(int(port), "localhost", tls=ssl.create_default_context(cafile=authority))
page.call("hello", wire=1, role="person", name="tab", token=token)
code = page.call("ask/challenge", session_id=session_id)["code"]
page.call("ask/answer", session_id=session_id, selected_ids=["us"], code=code)
"""


@test("known escape: peers at the hub's TLS address count as other machines, so a person's token the agent has is one's", "R12.1")
def escape_by_tls(home: Home) -> None:
    with Far() as far:
        client = Client(far.home, through=[])
        session_id = client.ask("Drop it?", destructive=True)
        program = write_program(far.home.path / "tab.py", TLS_TAB)
        code, said = client.run("env", f"PYTHONPATH={HERE}", sys.executable, program, str(far.port), far.papers.of("ca.pem"),
                                far.tokens["person"], session_id)
        assert code == DONE, (code, said)
        by = actor(far.home, session_id)
        assert by["pid"] is None and "same_process_tree" not in by, by


@test("known escape: an agent may stop the hub and start another with settings of its own in the environment", "R12.1")
def escape_by_environment(home: Home) -> None:
    client = Client(home, through=[])
    client.ask("Which one?")
    code, said = client.run(home.binary, "settings", "set", "notify_command", "true")
    assert code == FAILED and "terminal of your own" in said, (code, said)
    assert client.run(home.binary, "stop")[0] == DONE
    client.run("sh", "-c", f"SAYSO_NOTIFY_COMMAND=true setsid {quoted(home.binary, 'serve', '--port', '0')} >/dev/null 2>&1 &")
    home.wait_hub()
    row = [row for row in home.sayso("settings", "--json").json if row["name"] == "notify_command"]
    assert row[0]["value"] == "true", row


run()
