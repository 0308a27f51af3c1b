"""The one gate before every route (R12.1): the corpus on every listener, foreign hosts and pages,
tokens and roles, guesses, revoking; and where the hub listens (R7.1).
"""
from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from typing import Any

from harness import CRASH_BIN, HANG_S, Home, Wire, clock_rate, run, test, wait_until
from http_cases import HANG_S, HTTP_CASES, LISTENERS, Site, ask, check, connect, exchange, request, run_case

# What belongs to the portal's socket joins by itself when the path is served; nothing else is left out.
NEEDS = {"w-004": "/ws"}
SPECIAL = {"h-032", "h-034"}  # have tests of their own, below and in test_http_slow.py
RATE = 10  # of a hub's time where a test would have to sit out its patience
HELLO_S = 5  # so long a peer may stay that only says no hello

GOOD = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


def head(line: str, *headers: str) -> str:
    return "\r\n".join([f"{line} HTTP/1.1", *headers]) + "\r\n"


def case(id: str, raw: str, *status: int, **expect: Any) -> dict[str, Any]:
    return {"id": id, "raw": raw, "expect": {"status": list(status), **expect}}


HOST, BEARER = "Host: 127.0.0.1:{PORT}", "Authorization: Bearer {TOKEN}"
OURS = ["127.0.0.1:{PORT}", "[::1]:{PORT}", "localhost:{PORT}"]
FOREIGN_HOSTS = ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:{PORT2}", "127.0.0.1:0{PORT}", "127.1:{PORT}",
                 "0.0.0.0:{PORT}", "localhost.:{PORT}", "localhost.evil.example:{PORT}", "evil@127.0.0.1:{PORT}",
                 "[::ffff:127.0.0.1]:{PORT}", "127.0.0.1:{PORT}0", "2130706433:{PORT}"]
FOREIGN_ORIGINS = ["null", "http://127.0.0.1:{PORT2}", "http://127.0.0.1", "https://127.0.0.1:{PORT}",
                   "http://localhost.evil.example:{PORT}", "http://127.0.0.1:{PORT}.evil.example", "file://",
                   "http://evil@127.0.0.1:{PORT}", "http://127.0.0.1:{PORT}/", "garbage"]
OWN_CASES = [
    *[case(f"host {host}", head("GET /api/asks", f"Host: {host}", BEARER) + "\r\n", 400, 403, 421)
      for host in FOREIGN_HOSTS],
    *[case(f"host {host}", head("GET /api/asks", f"Host: {host}", BEARER) + "\r\n", 200) for host in OURS],
    *[case(f"origin {origin}", head("GET /api/asks", HOST, BEARER, f"Origin: {origin}") + "\r\n", 403)
      for origin in FOREIGN_ORIGINS],
    *[case(f"origin {host}", head("GET /api/asks", HOST, BEARER, f"Origin: http://{host}") + "\r\n", 200)
      for host in OURS],
    *[case(f"fetch {site}", head("GET /api/asks", HOST, BEARER, f"Sec-Fetch-Site: {site}") + "\r\n", status)
      for site, status in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403), ("x", 403))],
    # a foreign host learns nothing, not even what exists
    case("foreign, no such path", head("GET /nothing", "Host: evil.example:{PORT}") + "\r\n", 403, 421),
    case("no such path", head("GET /nothing", HOST) + "\r\n", 404),
    case("open path, foreign", head("GET /healthz", "Host: evil.example:{PORT}") + "\r\n", 403, 421),
    case("open path", head("GET /healthz", HOST) + "\r\n", 200),
    case("open path, foreign page", head("GET /healthz", HOST, "Origin: http://evil.example") + "\r\n", 403),
    case("head", head("HEAD /healthz", HOST) + "\r\n", 200),
    # tokens
    case("none", head("GET /api/asks", HOST) + "\r\n", 401, www_authenticate=True),
    case("cookie", head("GET /api/asks", HOST, "Cookie: {COOKIE}") + "\r\n", 401),
    case("basic", head("GET /api/asks", HOST, "Authorization: Basic {TOKEN}") + "\r\n", 401),
    case("access_token", head("GET /api/asks?access_token={TOKEN}", HOST) + "\r\n", 400,
         headers={"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}, log_must_not_contain="{TOKEN}"),
    case("encoded name", head("GET /api/asks?a=1&%74oken={TOKEN}", HOST) + "\r\n", 400, log_must_not_contain="{TOKEN}"),
    case("two", head("GET /api/asks", HOST, BEARER, BEARER) + "\r\n", 400),
    # methods, types, sizes
    case("method", head("PUT /api/asks", HOST, BEARER) + "\r\n", 405, headers={"Allow": "GET, HEAD"}),
    case("method, no token", head("PUT /api/asks", HOST) + "\r\n", 401),
    case("preflight", head("OPTIONS /api/asks", HOST, "Access-Control-Request-Method: POST") + "\r\n", 401, 405),
    case("type", head("POST /api/asks/{ASK}/cancel", HOST, BEARER, "Content-Type: text/plain",
                      "Content-Length: 2") + "\r\n{}", 415),
    case("no type", head("POST /api/asks/{ASK}/cancel", HOST, BEARER, "Content-Length: 2") + "\r\n{}", 415),
    case("form", head("POST /api/asks/{ASK}/cancel", HOST, BEARER, "Content-Type: application/x-www-form-urlencoded",
                      "Content-Length: 2") + "\r\n{}", 415),
    case("size", head("POST /api/asks/{ASK}/cancel", HOST, BEARER, "Content-Type: application/json",
                      "Content-Length: 99999999") + "\r\n", 413, close=True),
    case("body where none is", head("GET /api/asks", HOST, BEARER, "Content-Length: 1") + "\r\nx", 413, close=True),
]


@contextlib.contextmanager
def site(home: Home, *flags: str, **settings: Any):
    with Site(home, *flags, **settings) as found:
        yield found


def run_corpus(home: Home, listener: str) -> None:
    with site(home) as found:
        found.open_asks()
        left_out = {id for id, path in NEEDS.items() if not found.has_route(path)}
        chosen = [row for row in HTTP_CASES if row["id"] not in left_out | SPECIAL]
        for row in chosen:
            run_case(found, listener, row)
        print(f"# {len(chosen)} cases on {listener}; not built yet: {', '.join(sorted(left_out)) or 'nothing'}")
        for secret in (found.agent, found.person):
            assert secret.encode() not in found.said(), "a token is in a log or in the store"
            assert secret.encode() not in found.processes(), "a token is in a process list"


@test("every HTTP case of the corpus on 127.0.0.1", "R12.1 R12.2 R10.4 P12 P23")
def corpus_v4(home: Home) -> None:
    run_corpus(home, "127.0.0.1")


@test("every HTTP case of the corpus on ::1", "R12.1 R12.2 R7.1 P12")
def corpus_v6(home: Home) -> None:
    run_corpus(home, "::1")


@test("the same bytes on the unix socket are refused and closed", "R12.1")
def corpus_unix(home: Home) -> None:
    with site(home) as found:
        before = found.memory()

        def refused(row: dict[str, Any]) -> float:
            with Wire(home) as wire:
                reply = exchange(wire.socket, found.bytes_of(row), waits_for_close=True)
                assert reply.is_closed, f"{row['id']}: still open: {reply}"
                assert reply.status == 0 and b"result" not in reply.everything, f"{row['id']}: {reply}"
                return reply.took_s

        for row in [row for row in HTTP_CASES if row["id"] not in SPECIAL] + OWN_CASES:
            # on a busy machine one try of several shows that the bytes were not waited for
            assert any(refused(row) < HELLO_S for _ in range(5)), f"{row['id']}: stays as long as one that says nothing"
        assert found.memory() == before and found.is_well()


@test("hosts, origins, pages, tokens, methods, types and sizes: what passes and what does not",
      "R12.1 R7.1 P12 P23")
def own_cases(home: Home) -> None:
    with site(home) as found:
        found.open_asks()
        for listener in LISTENERS:
            for row in OWN_CASES:
                run_case(found, listener, row)
        reply = run_case(found, "::1", OWN_CASES[-1])
        assert {"x-content-type-options", "referrer-policy", "cache-control"} <= reply.headers.keys(), reply


@test("a head that comes a byte every 5 s is ended with 408, and other peers don't wait for it", "R12.2 P20")
def slow() -> None:
    (row,) = [row for row in HTTP_CASES if row["id"] == "h-032"]
    with Home(CRASH_BIN) as home, site(home, env=clock_rate(RATE)) as found, connect("127.0.0.1", found.port) as peer:
        done = threading.Event()

        def drip() -> None:
            for byte in found.bytes_of({"raw": row["gen"]["slow"]}):
                with contextlib.suppress(OSError):
                    peer.send(bytes([byte]))
                if done.wait(row["gen"]["byte_every_ms"] / 1000 / RATE):
                    return
        dripping = threading.Thread(target=drip)
        dripping.start()
        began = time.monotonic()
        try:
            reply = exchange(peer, b"", waits_for_close=True, timeout=row["expect"]["within_s"] + HANG_S)
            took = time.monotonic() - began
        finally:
            done.set()
            dripping.join()
        assert reply.is_closed and reply.status in row["expect"]["status"], reply
        assert took < row["expect"]["within_s"] + HANG_S, took
        assert found.is_well()


@test("an agent's token answers nothing, a person's asks nothing, each without its role gets 401", "R12.1 P12")
def roles(home: Home) -> None:
    with site(home) as found:
        found.open_asks()
        before = found.memory()
        peoples = [("GET", "/api/asks"), ("GET", "/api/asks/{ASK}")] + [
            ("POST", f"/api/asks/{{ASK}}/{act}") for act in ("answer", "cancel", "decline", "extend", "undo", "send")]
        for method, path in peoples:
            body = None if method == "GET" else '{"selected_ids":["a"],"seconds":1}'
            for token, status in ((found.agent, 403), (None, 401)):
                headers = [f"Authorization: Bearer {token}"] if token else []
                raw = request(method, path.replace("{ASK}", found.pending), found.port, *headers, body=body)
                assert ask("::1", found.port, raw).status == status, (method, path, status)
        ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        for token, status in ((found.person, 403), (None, 401)):
            headers = [f"Authorization: Bearer {token}"] if token else []
            raw = request("POST", "/mcp", found.port, "Accept: application/json, text/event-stream", *headers, body=ping)
            assert ask("127.0.0.1", found.port, raw).status == status
        assert found.memory() == before and found.row(found.pending)["status"] == "pending"


@test("ten guesses a minute, then 429; who holds a token is not shut out by those who guess", "R12.1 R12.2")
def guesses(home: Home) -> None:
    with site(home) as found:
        statuses = []
        for number in range(14):
            guess = found.person[:-4] + f"{number:04d}"
            reply = ask("127.0.0.1", found.port,
                        request("GET", "/api/asks", found.port, f"Authorization: Bearer {guess}"))
            statuses.append(reply.status)
            assert reply.status == 401 or 1 <= int(reply.headers["retry-after"]) <= 60, reply
        assert statuses == [401] * 10 + [429] * 4, statuses
        assert found.is_well()
        without = ask("127.0.0.1", found.port, request("GET", "/api/asks", found.port))
        assert without.status == 401, "without a token nobody guessed"


@test("a revoked token is cut off immediately, from open requests too, and stays so after a restart", "R12.1 P23")
def revoking(home: Home) -> None:
    with site(home) as found:
        found.open_asks()
        poll = request("GET", f"/api/asks/{found.pending}?wait=60", found.port,
                       f"Authorization: Bearer {found.person}").encode()
        tokens = home.sayso("token", "list", "--json").json
        (id,) = [row["id"] for row in tokens if row["kind"] == "person"]
        with connect("127.0.0.1", found.port) as waiting, connect("::1", found.port) as idle:
            assert exchange(idle, request("GET", "/api/asks?limit=1", found.port,
                                          f"Authorization: Bearer {found.person}").encode()).status == 200
            waiting.sendall(poll)
            wait_until(lambda: metric(found, "sayso_http_exchanges") >= 2, "the poll is there")
            assert home.sayso("token", "revoke", id[:8]).code == 0
            for peer in (waiting, idle):
                peer.settimeout(HANG_S)
                with contextlib.suppress(ConnectionResetError):
                    assert b"200 OK" not in peer.recv(4096)
        assert ask("127.0.0.1", found.port, poll).status == 401
        assert home.sayso("token", "revoke", id[:8]).code == 1
        home.kill_hub()
    with site(home) as again:
        assert ask("127.0.0.1", again.port, request("GET", "/api/asks", again.port,
                                                    f"Authorization: Bearer {found.person}")).status == 401
        assert ask("127.0.0.1", again.port, request("GET", "/metrics", again.port,
                                                    f"Authorization: Bearer {found.agent}")).status == 200


def metric(found: Site, name: str) -> float:
    reply = ask("127.0.0.1", found.port, request("GET", "/metrics", found.port, f"Authorization: Bearer {found.agent}"))
    values = [line.split()[-1] for line in reply.body.decode().splitlines() if line.startswith(name)]
    return float(values[0])


def initialize(found: Site, *headers: str) -> int:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "claims", "version": "1"}}})
    return ask("127.0.0.1", found.port, request("POST", "/mcp", found.port, *headers,
                                                "Accept: application/json, text/event-stream", body=body)).status


@test("--mcp-auth none: agents need no token, everything else does, hosts and origins are looked at", "R12.1 R10.3")
def without_tokens(home: Home) -> None:
    with site(home, "--mcp-auth", "none") as found:
        assert initialize(found) == 200
        assert initialize(found, "Authorization: Bearer sayso_a_nothing") == 200
        assert initialize(found, f"Authorization: Bearer {found.person}") == 403
        assert initialize(found, "Origin: http://evil.example") == 403
        assert ask("127.0.0.1", found.port, request("GET", "/api/asks", found.port)).status == 401
        assert ask("127.0.0.1", found.port, request("GET", "/metrics", found.port)).status == 401
        assert home.sayso("settings", "set", "mcp_auth", "token").code == 0
        assert initialize(found) == 200, "a flag is stronger than what is saved"
    assert home.sayso("serve", "--mcp-auth", "perhaps").code == 2
    assert home.sayso("serve", "--port", "65536").code == 2


@test("mcp_auth holds from the moment it is set", "R12.1 R8.1")
def auth_setting(home: Home) -> None:
    with site(home) as found:
        assert initialize(found) == 401
        assert home.sayso("settings", "set", "mcp_auth", "none").code == 0 and initialize(found) == 200
        assert home.sayso("settings", "set", "listen", "192.0.2.1:7443").code == 0 and initialize(found) == 401
        assert home.sayso("settings", "reset", "listen").code == 0 and initialize(found) == 200
        assert home.sayso("settings", "set", "mcp_auth", "token").code == 0 and initialize(found) == 401


def free_port() -> int:
    """On both addresses, and not one of those that clients are given."""
    while True:
        port = random.randint(20000, 30000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as sockets:
            for family, address in LISTENERS.values():
                sockets.enter_context(socket.socket(family)).bind((address, port))
            return port


def remembered(home: Home) -> int:
    return int(home.rows("SELECT value FROM meta WHERE name = 'port'")[0][0])


def remember(home: Home, port: int) -> int:
    home.rows("UPDATE meta SET value = ?1 WHERE name = 'port'", str(port))
    return port


@test("the port: the next free one, told, kept over restarts, both addresses or none", "R7.1 R10.3")
def ports() -> None:
    with Home() as first, Home() as second:
        with site(first) as one, site(second) as two:
            assert one.port != two.port
            status = first.sayso("status", "--json").json
            assert status["port"] == one.port and status["url"] == f"http://127.0.0.1:{one.port}/"
            assert status["url"] in first.sayso("status").out
            wait_until(lambda: status["url"].encode() in (first.path / "serve.log").read_bytes(), "serve prints it")
            assert first.sayso("stop").code == 0 and second.sayso("stop").code == 0
            kept = remembered(second)
            assert kept == two.port
        kept = remember(second, free_port())  # the usual ones are everybody's here
        with site(second) as again:
            assert again.port == kept, "not the one it had"
            second.kill_hub()
        for family, address in LISTENERS.values():  # another program has it on one address alone
            with socket.socket(family) as taker:
                taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                taker.bind((address, kept))
                taker.listen()
                with site(second) as moved:
                    assert moved.port != kept and moved.is_well()
                    assert ask("::1", moved.port, request("GET", "/healthz", moved.port)).status == 200
                    second.kill_hub()
            kept = remember(second, free_port())


@test("a hub that a front started has its port too, and a chosen port is where looking begins", "R7.1 R10.3")
def started_ports(home: Home) -> None:
    assert home.sayso("list").code == 0
    port = home.hub()["port"]
    assert ask("127.0.0.1", port, request("GET", "/readyz", port)).status == 200
    assert home.sayso("stop").code == 0
    chosen = free_port()
    with site(home, "--port", str(chosen)) as found:
        assert chosen <= found.port < chosen + 100
        assert home.sayso("stop").code == 0
    with site(home, "--port", "0") as found:
        assert found.port > 0 and found.is_well()


@test("without any port to be had the hub warns and serves all the same", "R7.1 R5.2")
def no_port(home: Home) -> None:
    last = socket.socket()
    with contextlib.suppress(OSError):  # taken already: as good
        last.bind(("127.0.0.1", 65535))
        last.listen()
    log = open(home.path / "serve.log", "ab")
    home.spawn("serve", "--port", "65535", stdout=log, stderr=log)  # there is no next one
    home.wait_hub()
    assert home.hub()["port"] is None and home.sayso("status", "--json").json["url"] is None
    asked = home.sayso("ask", "--json", "--wait", "0", "Shall it be?", "-p", "A question that is long enough.",
                       "-o", "a=Yes", "-o", "b=No", "--recommend", "a")
    assert asked.code == 5, asked
    assert home.sayso("answer", "--select", "a").code == 0
    last.close()
    log.close()
    said = (home.path / "serve.log").read_text()
    assert "http.no_port" in said and "--port" in said, said


@test("a hub under load of refused requests leaves when told to", "R10.3 P20")
def stopping(home: Home) -> None:
    with site(home) as found:
        peers = [connect("127.0.0.1", found.port) for _ in range(50)]
        for number, peer in enumerate(peers):
            peer.sendall(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n" if number % 2 else b"POST /mcp HTTP/1.1\r\nHo")
        began = time.monotonic()
        assert home.sayso("stop").code == 0
        wait_until(lambda: not home.hub_pid(), "it is gone")
        assert time.monotonic() - began < HANG_S
        for peer in peers:
            peer.close()


run()
