"""`sayso … --hub https://…`: agents and people on other machines (docs/operate/remote.md). Whom they believe, what they send to
whom, and that nothing is lost or doubled while hubs and networks come and go.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import shlex
import signal
import socket
import ssl
import struct
import subprocess
import termios
import threading
import time

from far_stage import ASK, Far, write_secret
from harness import CRASH_BIN, HANG_S, Home, Result, WireError, counted, run, scaled, test
from tty_stage import Tty
from web_stage import Page


def ended(home: Home, process, timeout: float = HANG_S) -> Result:
    out, err = process.communicate(timeout=timeout)
    home.spawned.remove(process)
    return Result(process.returncode, out, err)


def asking(far: Far, home: Home, *more: str, url: str = "", title: str = "Which one?"):
    """An agent that waits. All have one token and are one principal: the same question would be one ask (R5.5)."""
    return home.spawn("ask", title, *ASK[2:], *more, *far.way(home, "agent", url), stdin=subprocess.DEVNULL)


@test("asked on one machine, answered on another, kept on a third", "R13.2 R5.1")
def from_afar():
    with Far() as far:
        agent, person = far.client(), far.client()
        waiting = asking(far, agent, "--as", "deploy bot")
        id = far.wait_asks()[0]["session_id"]
        listed = far.sayso(person, "person", "list", "--json")
        assert [row["session_id"] for row in listed.json] == [id], listed
        shown = far.sayso(person, "person", "show", id)
        assert "deploy bot" in shown.out and "Two ways are open" in shown.out, shown
        assert far.sayso(person, "person", "answer", id, "--select", "b").code == 0
        assert ended(agent, waiting)[:2] == (0, "b\n")
        assert far.sayso(person, "person", "list", "--json", "--active").json == []
        delivered = far.call("GET", f"/api/asks/{id}", token="person").json
        assert "far" in json.dumps(delivered), delivered  # whose token it was
        for home in (agent, person):  # nothing was started or kept there
            assert not home.data.exists() and not home.hub_pid()
        # who may what is the token's, whatever the command is
        assert "cannot ask" in far.sayso(person, "person", *ASK).err
        assert "cannot answer" in far.sayso(agent, "agent", "list").err
        withdrawn = far.sayso(agent, "agent", *ASK, "--wait", "0", "--json")
        assert withdrawn.code == 5, withdrawn
        assert far.sayso(agent, "agent", "withdraw", withdrawn.json["session_id"]).code == 0


@test("the environment can name hub, token and authority; options win; local commands stay local", "R13.2 R8.1")
def environment():
    with Far() as far:
        home = far.client()
        env = {"SAYSO_HUB": far.url, "SAYSO_TOKEN_FILE": str(home.path / "person"), "SAYSO_CA_FILE": far.papers.of("ca.pem")}
        assert home.sayso("list", "--json", env=env).json == []
        assert home.sayso("list", "--json", "--token-file", str(home.path / "agent"), env=env).code == 1
        assert home.sayso("list", env={**env, "SAYSO_TOKEN_FILE": ""}).code == 2
        assert home.sayso("settings", "get", "port", env=env).code == 0
        local = f"http://127.0.0.1:{far.home.hub()['port']}"
        assert far.sayso(home, "person", "list", "--json", url=local).json == []


@test("a token goes only to the hub it is for", "R12.1 R13.2")
def believes():
    with Far() as far:
        home, heard = far.client(), []

        def pretend(listener: socket.socket, name: str) -> None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(far.papers.of(f"{name}.pem"), far.papers.of(f"{name}.key"))
            while True:
                try:
                    peer, _ = listener.accept()
                except OSError:
                    return
                with contextlib.suppress(OSError), context.wrap_socket(peer, server_side=True) as stream:
                    stream.settimeout(HANG_S)
                    heard.append(stream.recv(65536))
                    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        cases = [("elsewhere", "ca", "hostname mismatch"), ("expired", "ca", "certificate has expired"),
                 ("own", "other_ca", "issuer"), ("own", "ca", "not a sayso hub")]
        for name, ca, says in cases:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                threading.Thread(target=pretend, args=(listener, name), daemon=True).start()
                done = far.sayso(home, "person", "list", url=f"https://localhost:{listener.getsockname()[1]}", ca=ca)
                assert done.code == 1 and says in done.err, (name, done)
                listener.shutdown(socket.SHUT_RDWR)
            assert all(b"Bearer" not in words for words in heard) == (says != "not a sayso hub"), heard
        assert far.sayso(home, "person", "list", url=f"https://127.0.0.1:{far.port}").code == 0  # by its address
        for url, says in (("http://sayso.example.org", "unencrypted"), ("http://10.0.0.5:7443", "unencrypted"),
                          ("ftp://a", "not a valid hub address"), ("https://a/b", "not a valid hub address")):
            done = far.sayso(home, "person", "list", url=url)
            assert done.code == 2 and says in done.err, done


@test("a token file that others can read is not used", "R12.1 R13.2")
def private():
    with Far() as far:
        home = far.client()
        for mode in (0o644, 0o640, 0o604):
            (home.path / "person").chmod(mode)
            done = far.sayso(home, "person", "list")
            assert done.code == 2 and "chmod 600" in done.err, done
        (home.path / "person").chmod(0o400)
        assert far.sayso(home, "person", "list").code == 0
        write_secret(home.path / "empty", "")
        assert "does not contain a token" in far.sayso(home, "empty", "list").err
        assert "can't read" in far.sayso(home, "nothing", "list").err
        wrong = far.sayso(home, "person", "list", ca="own")  # a certificate, but of no authority
        assert wrong.code == 1, wrong
        assert far.sayso(home, "person", "list", ca="nothing").code == 2
        assert far.tokens["person"] not in "".join(done.out + done.err for done in (wrong, done))


@test("a command for a terminal on another machine names the hub; a person's token there opens the question", "R6.2 R13.2")
def handed():
    with Far() as far:
        home = far.client()
        asked = far.sayso(home, "agent", *ASK, "--interface", "terminal", "--json", "--wait", "0")
        words = shlex.split(asked.json["terminal_command"])
        assert words[:-1] == ["sayso", "attach", asked.json["session_id"], "--hub", far.url, "--launch"], words
        words[0] = home.binary
        env = {**home.environment, "SAYSO_TOKEN_FILE": str(home.path / "person"), "SAYSO_CA_FILE": far.papers.of("ca.pem"), "TERM": "xterm"}
        with subprocess.Popen(["script", "-qefc", shlex.join(words), "/dev/null"], env=env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as terminal:
            screen = b""
            while b"Which one?" not in screen:
                shown = terminal.stdout.read1(65536)
                assert shown, screen
                screen += shown
            terminal.stdin.write(b"\x03")
            terminal.stdin.close()
            terminal.stdout.read()
        again = home.sayso(*words[1:], "--json", env=env)
        assert again.code == 5 and far.url in again.json["terminal_command"], again


@test("a token that is revoked while its agent waits ends that, with the reason", "R12.1")
def revoked():
    with Far() as far:
        home = far.client()
        write_secret(home.path / "agent", far.token("agent", "to go"))
        waiting = asking(far, home)
        far.wait_asks()
        rows = far.home.sayso("token", "list", "--json").json
        identity = next(row["id"] for row in (rows["tokens"] if isinstance(rows, dict) else rows) if row["label"] == "to go")
        assert far.home.sayso("token", "revoke", identity).code == 0
        done = ended(home, waiting)
        assert done.code == 1 and "was revoked or has expired" in done.err, done


@test("a hub that is killed or stopped while agents wait: each ask is there once, each answer comes once", "R5.2 R13.2 P1")
def restarts():
    with Far() as far:
        agents = [far.client() for _ in range(6)]
        waiting = [asking(far, home, title=f"Question {i}") for i, home in enumerate(agents)]
        far.wait_asks(len(agents))
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            far.end(number)
            time.sleep(0.5)
            far.serve()
        asks = far.wait_asks(len(agents))
        assert len(asks) == len(agents), asks
        for ask in asks:
            number = int(ask["title"].split()[1])
            assert far.home.sayso("answer", ask["session_id"], "--select", "ab"[number % 2]).code == 0
        results = [ended(home, process) for home, process in zip(agents, waiting)]
        assert [(done.code, done.out) for done in results] == [(0, "ab"[i % 2] + "\n") for i in range(len(agents))], results
        assert len(far.home.sayso("list", "--json").json) == len(agents)


class Cutter(threading.Thread):
    """A network that cuts every connection after a moment, and sometimes lets none through."""

    def __init__(self, port: int, seed: int):
        super().__init__(daemon=True)
        self.port, self.random, self.cuts, self.is_calm = port, random.Random(seed), 0, False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if not self.is_calm and self.random.random() < 0.2:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    near.close()
                    continue
                life = 3600 if self.is_calm else self.random.uniform(0.05, 0.8)
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=(*pair, time.monotonic() + life), daemon=True).start()

    def carry(self, source: socket.socket, sink: socket.socket, until: float) -> None:
        with contextlib.suppress(OSError):
            while time.monotonic() < until or self.is_calm:
                source.settimeout(max(0.01, until - time.monotonic()))
                try:
                    if not (part := source.recv(65536)):
                        break
                except TimeoutError:
                    continue
                sink.sendall(part)
        self.cuts += 1
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@test("a network that cuts again and again loses nothing and doubles nothing", "R5.2 R5.5 R13.2 P3")
def cut_again_and_again():
    with Far() as far:
        seed = int.from_bytes(os.urandom(4), "big")
        cutter = Cutter(far.port, seed)
        url = f"https://localhost:{cutter.listener.getsockname()[1]}"
        rounds, agents = scaled(3), 4
        far.end()
        far.url = url  # it goes by the name that its clients use
        far.serve()
        homes = [far.client() for _ in range(agents)]
        for turn in range(rounds):
            waiting = [asking(far, home, url=url, title=f"Question {turn} {i}") for i, home in enumerate(homes)]
            asks = far.wait_asks(agents)
            time.sleep(1)
            assert len(far.open_asks()) == agents, (seed, asks)
            for ask in asks:
                assert far.home.sayso("answer", ask["session_id"], "--select", "b").code == 0
            results = [ended(home, process, 120) for home, process in zip(homes, waiting)]
            assert all(done[:2] == (0, "b\n") for done in results), (seed, results)
        assert len(far.home.sayso("list", "--json", "--limit", "10000").json) == rounds * agents, seed
        cutter.listener.close()
        counted(f"{cutter.cuts} connections were cut, {rounds * agents} asks answered once each")


@test("an inbox on another machine is live, outlives the hub's restart, and answers nothing destructive", "R6.3 R12.1 R13.2")
def inbox():
    with Far() as far, Tty() as tty:
        agent, person = far.client(), far.client()
        fcntl.ioctl(tty.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        seat = tty.start(person, "inbox", *far.way(person, "person"), stdin=tty.slave, stdout=tty.slave, stderr=tty.slave,
                         env={"TERM": "xterm-256color"})
        first = far.sayso(agent, "agent", "ask", "Before the restart", *ASK[2:], "--wait", "0", "--json").json["session_id"]
        tty.read_until("Before the restart")
        far.end(signal.SIGKILL)
        far.serve()
        far.sayso(agent, "agent", "ask", "After the restart", *ASK[2:], "--wait", "0")
        tty.read_until("After the restart")
        assert far.sayso(person, "person", "answer", first, "--select", "a").code == 0
        tty.type("q")
        assert seat.wait(HANG_S) == 0
        person.spawned.remove(seat)
        risky = {"title": "Drop it?", "prompt": "The table was not read for a year; dropping it can't be undone.",
                 "selection_mode": "single", "destructive": True,
                 "options": [{"id": "keep", "label": "Keep", "recommended": True}, {"id": "drop", "label": "Drop"}]}
        asked = far.sayso(agent, "agent", "ask", "--from", "-", "--wait", "0", "--json", input=json.dumps(risky))
        here = far.sayso(person, "person", "answer", asked.json["session_id"], "--select", "drop")
        assert here.code == 1 and "terminal" in here.err, here
        with guest(far, "person") as wire:  # nor does claiming a terminal help
            wire.call("hello", wire=1, role="person", channel="terminal", name="x")
            code = wire.call("ask/challenge", session_id=asked.json["session_id"]).get("code", "")
            expect_error(wire, "destructive", "ask/answer", session_id=asked.json["session_id"], code=code,
                         selected_ids=["drop"])


def guest(far: Far, kind: str) -> Page:
    """A client of /wire, by hand."""
    page = Page.__new__(Page)
    page.socket = far.context().wrap_socket(socket.create_connection(("127.0.0.1", far.port), HANG_S), server_hostname="localhost")
    page.unread, page.events, page.last_id = b"", [], 0
    page.socket.sendall((f"GET /wire HTTP/1.1\r\nHost: localhost:{far.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                         f"Authorization: Bearer {far.tokens[kind]}\r\n\r\n").encode())
    while b"\r\n\r\n" not in page.unread:
        page.unread += page.socket.recv(65536)
    head, _, page.unread = page.unread.partition(b"\r\n\r\n")
    assert b" 101 " in head, head
    return page


def expect_error(peer: Page, words: str, method: str, **params) -> None:
    try:
        said = peer.call(method, **params)
    except WireError as refused:
        assert words in refused.message, (method, refused)
    else:
        raise AssertionError(f"{method} worked: {said}")


@test("/wire: the token says who it is; what hello claims beside it changes nothing", "R12.1 R13.2")
def by_hand():
    with Far() as far:
        for kind, other in (("agent", "person"), ("person", "agent")):
            with guest(far, kind) as wire, contextlib.suppress(WireError):
                wire.call("hello", wire=1, role=other, name="x", token=far.tokens[other])
                raise AssertionError(f"a token of the kind {kind} came in as {other}")
        with guest(far, "agent") as wire:
            expect_error(wire, "say hello first", "ask/create", tool="provide_choice", arguments={})
            assert wire.call("hello", wire=1, role="agent", name="x")["role"] == "agent"
            expect_error(wire, "one role", "hello", wire=1, role="agent", name="x")
            for method in ("ask/list", "ask/answer", "token/new", "settings/set", "portal/link"):
                expect_error(wire, "isn't available to your role", method)
            expect_error(wire, "isn't available to your role", "hub/stop")
            for method in ("hub/retire", "hub/status"):
                expect_error(wire, "a token can't do this", method)
            expect_error(wire, "no such method", "nothing/such")
        with guest(far, "person") as wire:
            assert wire.call("hello", wire=1, role="person", name="x", channel="cli")["role"] == "person"
            expect_error(wire, "isn't available to your role", "ask/create")
            for method in ("hub/stop", "hub/retire"):
                expect_error(wire, "a token can't do this", method)
            assert wire.call("hub/status")["public_url"] == far.url
        for claims in ({"channel": "web"}, {"channel": "api"}, {"name": "x" * 300}, {"wire": 99}, {"name": "a\0b"}):
            with guest(far, "person") as wire, contextlib.suppress(WireError):
                wire.call("hello", **{"wire": 1, "role": "person", "name": "x", **claims})
                raise AssertionError(f"{claims} was taken")
        assert far.home.hub_pid()


@test("a long list comes whole, and a long ask goes whole", "R13.2")
def long():
    with Far() as far:
        home = far.client()
        prompt = "Which of these shall it be, and why is it needed? " + "x" * 9000
        for i in range(scaled(150)):
            done = home.sayso("ask", f"Question {i}", "-p", prompt, "-o", "a=First", "-o", "b=Second", "-r", "a", "--wait", "0",
                              *far.way(home, "agent"))
            assert done.code == 5, done
        listed = far.sayso(home, "person", "list", "--json", "--active")
        assert len(listed.json) >= 50, listed
        shown = far.sayso(home, "person", "show", listed.json[0]["session_id"], "--json")
        assert "x" * 9000 in shown.out


@test("the same under the sanitizers", "R13.2")
def sanitized():
    if not os.path.exists(CRASH_BIN):
        return
    with Far(binary=CRASH_BIN) as far:
        home = far.client()
        home.binary = CRASH_BIN
        waiting = asking(far, home)
        id = far.wait_asks()[0]["session_id"]
        far.end(signal.SIGKILL)
        far.serve()
        assert far.sayso(home, "person", "answer", id, "--select", "a").code == 0
        done = ended(home, waiting)
        assert done[:2] == (0, "a\n") and "Sanitizer" not in done.err, done


run()
