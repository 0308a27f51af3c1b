"""`sayso … --hub https://…`: agents and people on other machines (docs/remote.md). Whom they believe, what they send to
whom, and that nothing is lost or doubled while hubs and networks come and go.
"""
from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import ssl
import subprocess
import threading
import time

from far_stage import ASK, Far, write_secret
from harness import CRASH_BIN, Home, Result, counted, run, scaled, test, wait_until


def ended(home: Home, process, timeout: float = 40) -> Result:
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


@test("a token goes to nobody but the hub it is for", "R12.1 R13.2")
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
                    stream.settimeout(5)
                    heard.append(stream.recv(65536))
                    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        cases = [("elsewhere", "ca", "hostname mismatch"), ("expired", "ca", "certificate has expired"),
                 ("own", "other_ca", "issuer"), ("own", "ca", "no hub of this kind")]
        for name, ca, says in cases:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                threading.Thread(target=pretend, args=(listener, name), daemon=True).start()
                done = far.sayso(home, "person", "list", url=f"https://localhost:{listener.getsockname()[1]}", ca=ca)
                assert done.code == 1 and says in done.err, (name, done)
                listener.shutdown(socket.SHUT_RDWR)
            assert all(b"Bearer" not in words for words in heard) == (says != "no hub of this kind"), heard
        assert far.sayso(home, "person", "list", url=f"https://127.0.0.1:{far.port}").code == 0  # by its address
        for url, says in (("http://sayso.example.org", "in the clear"), ("http://10.0.0.5:7443", "in the clear"),
                          ("ftp://a", "no address of a hub"), ("https://a/b", "no address of a hub")):
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
        assert "holds no token" in far.sayso(home, "empty", "list").err
        assert "can't read" in far.sayso(home, "nothing", "list").err
        wrong = far.sayso(home, "person", "list", ca="own")  # a certificate, but of no authority
        assert wrong.code == 1, wrong
        assert far.sayso(home, "person", "list", ca="nothing").code == 2
        assert far.tokens["person"] not in "".join(done.out + done.err for done in (wrong, done))


@test("a token that is revoked while its agent waits ends that, with the reason", "R12.1 D6")
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
        assert done.code == 1 and "was revoked or is out of date" in done.err, done


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
    """A network that cuts every connection after a moment, and sometimes lets nobody through."""

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
        assert len(far.home.sayso("list", "--json").json) == rounds * agents, seed
        cutter.listener.close()
        counted(f"{cutter.cuts} connections were cut, {rounds * agents} asks answered once each")


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
