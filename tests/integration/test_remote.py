"""A hub that other machines reach (docs/operate/remote.md): TLS, tokens and nothing else, certificates that change, and how
it goes.
"""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from far_stage import ASK, Far, Papers, free_port
from harness import HANG_S, ON_POSTGRES, Home, Skip, WireError, run, scaled, test, wait_until
from web_stage import Page, code_of, hello, link_of

CURL = ["curl", "-sS", "--max-time", "20"]


def curl(far: Far, *words: str, ca: str = "ca") -> subprocess.CompletedProcess:
    return subprocess.run([*CURL, "--cacert", far.papers.of(f"{ca}.pem"), *words], capture_output=True, text=True)


@test("what would let tokens go in the clear, or a key be read, is refused with its remedy", "R12.1 R13.2")
def refused(home: Home):
    with Papers() as papers:
        own, key = papers.of("own.pem"), papers.of("own.key")
        shutil.copy(key, papers.of("shared.key"))
        os.chmod(papers.of("shared.key"), 0o640)
        tls = ["--tls-cert", own, "--tls-key", key]
        cases = [
            (["--listen", "0.0.0.0:0"], "requires TLS"),
            (["--listen", "[::]:0"], "requires TLS"),
            (["--listen", "10.0.0.5:7443"], "requires TLS"),
            (["--listen", "7443", *tls], "listen must be ADDRESS:PORT"),
            (["--listen", "localhost:7443", *tls], "listen must be ADDRESS:PORT"),
            (["--listen", "127.0.0.1", *tls], "listen must be ADDRESS:PORT"),
            (["--listen", "127.0.0.1:65536", *tls], "listen must be ADDRESS:PORT"),
            (["--listen", "[127.0.0.1]:7443", *tls], "listen must be ADDRESS:PORT"),
            (["--listen", "192.0.2.1:7443", *tls], "can't listen on 192.0.2.1"),
            (["--listen", "127.0.0.1:0", "--tls-cert", own], "set together"),
            (["--listen", "127.0.0.1:0", "--tls-key", key], "set together"),
            (["--listen", "127.0.0.1:0", "--tls-cert", own, "--tls-key", papers.of("shared.key")], "chmod 600"),
            (["--listen", "127.0.0.1:0", "--tls-cert", own, "--tls-key", papers.of("none.key")], "can't read"),
            (["--listen", "127.0.0.1:0", "--tls-cert", own, "--tls-key", papers.of("second.key")], "does not match the certificate"),
            (["--listen", "127.0.0.1:0", "--tls-cert", papers.of("ext"), "--tls-key", key], "is not a PEM certificate"),
            (["--listen", "127.0.0.1:0", "--public-url", "sayso.example.org"], "public_url must be"),
            (["--listen", "127.0.0.1:0", "--public-url", "https://a/b"], "public_url must be"),
        ]
        for words, says in cases:
            done = home.sayso("serve", *words)
            code = 2 if "ADDRESS:PORT" in says else 1  # what the option can't be, or what the hub can't do
            assert done.code == code and says in done.err, (words, done)
            assert not home.hub_pid()
        # a hub started by a command runs all the same, or the setting could not be changed any more
        wrong = {"SAYSO_LISTEN": "0.0.0.0:0"}
        assert home.sayso("list", "--json", env=wrong).json == []
        assert "http.not_listening" in (home.data / "hub.log").read_text()
        home.sayso("stop")
        chinese = home.sayso("serve", "--listen", "0.0.0.0:0", env={"CHOICE_LANG": "zh"})
        assert "需要 TLS" in chinese.err, chinese


@test("without OpenSSL only TLS is missing, and it says what to install", "R10.3 R13.2")
def no_library(home: Home):
    if ON_POSTGRES:
        raise Skip("libpq needs OpenSSL itself")
    if b"libc.so.6" not in pathlib.Path(home.binary).read_bytes():
        raise Skip("it is inside this program")
    hidden = home.path / "hidden"
    hidden.mkdir()
    (hidden / "libcrypto.so.3").write_text("")
    env = {"LD_LIBRARY_PATH": str(hidden)}
    with Papers() as papers:
        done = home.sayso("serve", "--listen", "127.0.0.1:0", "--tls-cert", papers.of("own.pem"), "--tls-key",
                          papers.of("own.key"), env=env)
        assert done.code == 1 and "apt install libssl3" in done.err, done
        (home.path / "token").write_text("sayso_a_x\n")
        (home.path / "token").chmod(0o600)
        far = home.sayso("list", "--hub", "https://localhost", "--token-file", str(home.path / "token"), env=env)
        assert far.code == 2 and "apt install libssl3" in far.err, far
    assert home.sayso("list", "--json", env=env).json == []


@test("both address families on one listener, IPv4 and IPv6", "R13.2")
def families(home: Home):
    port = free_port()
    home.spawn("serve", "--listen", f"[::]:{port}", env={"SAYSO_LISTEN_PLAIN": "on", "SAYSO_PORT": "0"},
               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    home.wait_hub()
    for address in ("127.0.0.1", "127.0.0.2", "[::1]"):
        got = subprocess.run([*CURL, "-o", "/dev/null", "-w", "%{http_code}", f"http://{address}:{port}/readyz"],
                             capture_output=True, text=True).stdout
        assert got == "200", (address, got)


@test("TLS 1.2 and 1.3 with a certificate that holds; nothing older, weaker or renegotiated", "R12.1 R13.2")
def secure():
    with Far() as far:
        address = f"{far.url}/readyz"
        for version in ("1.2", "1.3"):
            done = curl(far, f"--tlsv{version}", "--tls-max", version, address)
            assert done.stdout == '{"status":"ok"}', done
        assert curl(far, "--tlsv1.1", "--tls-max", "1.1", address).returncode == 35
        assert curl(far, address, ca="other_ca").returncode == 60
        weak = curl(far, "--tls-max", "1.2", "--ciphers", "AES128-SHA256:ECDHE-ECDSA-AES128-SHA256", address)
        assert weak.returncode == 35, weak
        plain = subprocess.run([*CURL, f"http://localhost:{far.port}/readyz"], capture_output=True, text=True)
        assert plain.returncode != 0 and "ok" not in plain.stdout, plain
        client = far.home.spawn("s_client", "-tls1_2", "-connect", f"localhost:{far.port}", "-CAfile", far.papers.of("ca.pem"),
                                program="openssl", stderr=subprocess.STDOUT)
        client.stdin.write("R\n")
        client.stdin.flush()
        out, _ = client.communicate(timeout=HANG_S)
        far.home.spawned.remove(client)
        assert "RENEGOTIATING" in out and "no renegotiation" in out, out[-600:]


@test("through that door come tokens, and no trust in being near", "R12.1 R12.2 R13.2")
def tokens_only():
    with Far({"SAYSO_MCP_AUTH": "none"}) as far:
        assert far.call("GET", "/api/asks").status == 401
        assert far.call("GET", "/api/asks", token="sayso_p_wrong").status == 401
        assert far.call("GET", "/api/asks", token="person").status == 200
        assert far.call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).status == 401
        assert far.call("GET", "/wire").status == 401
        assert far.call("GET", "/wire", token="agent").status == 426
        assert far.call("GET", "/metrics").status == 401
        assert far.call("GET", f"/api/asks?token={far.tokens['person']}").status == 400
        for host in ("evil.example", "localhost", f"localhost:{far.home.hub()['port']}", f"[::1]:{far.port}"):
            assert far.call("GET", "/readyz", Host=host).error["code"] == "foreign_host", host
        assert far.call("GET", "/readyz", host="127.0.0.1").status == 200  # as a balancer calls it: by address
        assert far.call("GET", "/readyz", Origin=far.url).status == 200
        for origin in ("https://evil.example", f"http://localhost:{far.port}", "null",
                       f"http://127.0.0.1:{far.home.hub()['port']}"):
            assert far.call("GET", "/readyz", Origin=origin).error["code"] == "foreign_origin", origin
        # the other door is as it was, and does not go by the public name
        local = subprocess.run([*CURL, "-H", f"Host: localhost:{far.port}", f"http://127.0.0.1:{far.home.hub()['port']}/readyz"],
                               capture_output=True, text=True)
        assert "foreign_host" in local.stdout, local


class FarPage(Page):
    """The same page, through TLS."""

    def __init__(self, far: Far):
        real = socket.create_connection
        try:
            socket.create_connection = lambda place, *rest: far.context().wrap_socket(
                real(("127.0.0.1", place[1]), *rest), server_hostname="localhost")
            super().__init__(far.port, "localhost", origin=far.url)
        finally:
            socket.create_connection = real


@test("a link of sayso open is worth nothing from elsewhere; a person's token signs a page in", "R12.2 R13.2")
def pages():
    with Far() as far:
        code = code_of(link_of(far.home))
        with FarPage(far) as page:
            try:
                hello(page, code=code)
            except WireError as refused:
                assert refused.data["code"] == "unauthorized" and "token" in refused.message, refused
            else:
                raise AssertionError("a code signed a page in from elsewhere")
        with Page(far.home.hub()["port"]) as page:
            assert hello(page, code=code)["role"] == "person"  # here it is good, and was not spent
        with FarPage(far) as page:
            assert hello(page, token=far.tokens["person"])["role"] == "person"
            proof = page.call("ask/list")
            assert "asks" in proof, proof
        with FarPage(far) as page, contextlib.suppress(WireError):
            hello(page, token=far.tokens["agent"])
            raise AssertionError("an agent's token signed a page in")
        asked = far.home.sayso(*ASK, "--wait", "0", "--json")
        assert f'"{far.url}/choice/' in asked.out, asked  # it prints the address that other machines use


@test("the token of a peer that was refused an upgrade, or left before it, is not used for the next peer", "R12.1 R13.2")
def lends_nothing():
    with Far() as far:
        upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                   "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        for leaves_out in [*upgrade, None]:
            lines = {name: value for name, value in upgrade.items() if name != leaves_out}
            connection = far.connect()
            connection.request("GET", "/wire", headers={**lines, "Authorization": f"Bearer {far.tokens['person']}"})
            status = connection.getresponse().status
            assert status == (101 if leaves_out is None else 400 if leaves_out.endswith("Key") else 426), (leaves_out, status)
            connection.close()
            time.sleep(0.1)  # what became of the reply is known by now
            for page in (FarPage(far), Page(far.home.hub()["port"])):
                with page, contextlib.suppress(WireError):
                    hello(page)
                    raise AssertionError(f"signed in without a token, after a refusal for want of {leaves_out}")


@test("peers that send nonsense, or nothing, don't keep others waiting", "R12.1 P20")
def nonsense():
    with Far() as far:
        peers = []
        for i in range(scaled(200)):
            peers.append(socket.create_connection(("127.0.0.1", far.port)))
            with contextlib.suppress(OSError):
                peers[-1].sendall([b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", os.urandom(500)][i % 4])
        began = time.monotonic()
        for _ in range(20):
            assert far.call("GET", "/readyz").status == 200
        assert time.monotonic() - began < HANG_S
        # a peer that has not finished its handshake after 10 s is cut off
        far_ended = wait_until(lambda: all(gone(peer) for peer in peers), "all of them are let go")
        assert far_ended
        for peer in peers:
            peer.close()
        assert far.call("GET", "/readyz").status == 200


def gone(peer: socket.socket) -> bool:
    peer.setblocking(False)
    try:
        while peer.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


@test("SIGHUP loads the new certificate for new connections and cuts no old one; a bad certificate is not taken", "R13.2 P11")
def reload():
    with Far() as far:
        def serial() -> str:
            with socket.create_connection(("127.0.0.1", far.port)) as raw, \
                    far.context().wrap_socket(raw, server_hostname="localhost") as peer:
                return peer.getpeercert()["serialNumber"]

        first, kept = serial(), far.connect()
        kept.request("GET", "/readyz")
        kept.getresponse().read()
        for name in ("own.pem", "own.key"):
            shutil.copy(far.papers.of(name.replace("own", "second")), far.papers.of(name))
        assert serial() == first
        far.process.send_signal(signal.SIGHUP)
        wait_until(lambda: serial() != first, "newcomers see the new certificate")
        second = serial()
        kept.request("GET", "/readyz")  # on the connection that was there before
        assert kept.getresponse().read() == b'{"status":"ok"}'
        (far.papers.path / "own.pem").write_text("no PEM certificate")
        far.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any(row["event"] == "tls.not_reloaded" for row in far.said()), "a word in the log")
        assert serial() == second
        assert not any("BEGIN" in json.dumps(row) for row in far.said())


@test("a token that is revoked is cut off there too", "R12.1")
def revoked():
    with Far() as far:
        poll = far.connect()
        token = far.token("person", "to go")
        poll.request("GET", "/api/asks", headers={"Authorization": f"Bearer {token}"})
        assert poll.getresponse().read()
        rows = far.home.sayso("token", "list", "--json").json
        identity = next(row["id"] for row in (rows["tokens"] if isinstance(rows, dict) else rows) if row["label"] == "to go")
        assert far.home.sayso("token", "revoke", identity).code == 0
        wait_until(lambda: gone(poll.sock), "its connection is cut")
        assert far.call("GET", "/api/asks", token=token).status == 401


@test("told to end it first says that it is not ready, serves on, and then goes", "R13.2 P11")
def drains():
    with Far({"SAYSO_DRAIN_SECONDS": "3"}) as far:
        waiting = far.home.spawn(*ASK)
        id = far.wait_asks()[0]["session_id"]
        began = time.monotonic()
        far.process.send_signal(signal.SIGTERM)
        wait_until(lambda: far.call("GET", "/readyz").status == 503, "it is not ready")
        assert far.call("GET", "/readyz").json == {"status": "it is about to stop"}
        assert far.call("GET", "/healthz").status == 200
        assert far.call("GET", "/api/asks", token="person").status == 200  # a newcomer, and served
        assert far.call("POST", f"/api/asks/{id}/answer", {"selected_ids": ["b"]}, token="person").status == 200
        assert waiting.communicate(timeout=HANG_S)[0].strip() == "b"
        far.home.spawned.remove(waiting)
        assert far.process.wait(HANG_S) == 0
        assert time.monotonic() - began > 2.5
        far.home.spawned.remove(far.process)
        with contextlib.suppress(ConnectionError):
            far.call("GET", "/readyz")
            raise AssertionError("it still takes connections")
        far.home.environment["SAYSO_DRAIN_SECONDS"] = "600"
        far.serve()
        far.process.send_signal(signal.SIGTERM)  # the second SIGTERM skips the wait
        wait_until(lambda: far.call("GET", "/readyz").status == 503, "it is not ready")
        again = time.monotonic()
        assert far.end() == 0 and time.monotonic() - again < 2 * HANG_S


@test("behind a balancer that speaks TLS it listens without, if it is told to", "R13.2")
def plain(home: Home):
    port = free_port()
    hub = home.spawn("serve", "--listen", f"0.0.0.0:{port}", "--public-url", "https://sayso.example.org",
                     env={"SAYSO_LISTEN_PLAIN": "on", "SAYSO_PORT": "0"})
    home.wait_hub()

    def status(host: str, **headers: str) -> str:
        words = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
        return subprocess.run([*CURL, "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Host: {host}", *words,
                               f"http://127.0.0.1:{port}/api/asks"], capture_output=True, text=True).stdout

    token = home.sayso("token", "new", "--kind", "person").out.split()[0]
    assert status("sayso.example.org") == "401"
    assert status("sayso.example.org", Authorization=f"Bearer {token}") == "200"
    assert status("sayso.example.org", Authorization=f"Bearer {token}", Origin="https://sayso.example.org") == "200"
    assert status("sayso.example.org", Authorization=f"Bearer {token}", Origin="http://sayso.example.org") == "403"
    assert status("localhost", Authorization=f"Bearer {token}") == "403"
    assert home.sayso("status", "--json").json["public_url"] == "https://sayso.example.org"
    hub.terminate()
    assert "http.plain" in hub.communicate(timeout=HANG_S)[1]
    home.spawned.remove(hub)


run()
