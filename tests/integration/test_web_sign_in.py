"""The way into the portal: links that work once, tokens of tabs, and attacks from other origins, other
users and other ports (R12.2; reliability.md 0.6, A1-A9, C3, D6).
"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from access_stage import refusal
from harness import HANG_S, ON_POSTGRES, SLACK, Home, Skip, Wire, WireError, needs_file, run, test, wait_until
from web_stage import Closed, Page, code_of, get, hello, link_of, raw_http, signed_in, start_hub
from wire_stage import agent, choice, make_ask, person

CLOCK_ERROR_MS = 100 * SLACK if ON_POSTGRES else 0  # the database's clock is known to half a round trip


def refused(page: Page, wanted: str, **params: Any) -> dict[str, Any]:
    """Says hello, is told why not, and closed with 1008."""
    try:
        hello(page, **params)
    except WireError as error:
        assert error.code == -32003 and error.data["code"] == wanted, error
        assert page.close_code() == 1008
        return error.data
    raise AssertionError("was let in")


@test("a link works once, for a tab that stays signed in when the hub is killed", "R12.2 R7.2 P1")
def once(home: Home) -> None:
    port = start_hub(home)
    code = code_of(link_of(home))
    with Page(port) as page:
        result = hello(page, code=code)
        token, tab = result["token"], result["tab"]
        assert re.fullmatch(r"sayso_t_[\w-]{43}", token) and "code" not in result
        assert page.call("ask/list")["asks"] == []
        with Page(port) as again:
            refused(again, "code_spent", code=code)
        home.kill_hub(signal.SIGKILL)
        try:
            page.read()
            raise AssertionError("the hub is gone and its page is not")
        except Closed:
            pass
    home.spawn("serve", "--port", str(port))
    home.wait_hub()
    with Page(port) as page:
        assert hello(page, token=token) == {"wire": 1, "version": result["version"], "role": "person",
                                            "features": [], "tab": tab}
        listed = page.call("token/list")["tokens"]
        assert [(row["id"], row["kind"], row["label"], row["connected"]) for row in listed] == \
            [(tab, "tab", "test page", True)], listed
    with Page(port) as page:
        refused(page, "code_spent", code=code)


@test("of many that use one link at the same moment one wins", "R12.2")
def at_once(home: Home) -> None:
    port = start_hub(home)
    for _ in range(5):
        code, won, lost = code_of(link_of(home)), [], []
        pages = [Page(port) for _ in range(8)]
        barrier = threading.Barrier(len(pages))

        def use(page: Page) -> None:
            barrier.wait()
            try:
                won.append(hello(page, code=code)["token"])
            except WireError as error:
                lost.append(error.data["code"])

        threads = [threading.Thread(target=use, args=(page,)) for page in pages]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for page in pages:
            page.stop()
        assert len(won) == 1, (won, lost)
        assert set(lost) <= {"code_spent", "rate_limited"} and len(lost) == 7, lost
        home.kill_hub(signal.SIGTERM)  # guesses are slowed: a new hub has a clean slate
        home.spawn("serve", "--port", str(port))
        home.wait_hub()


@test("a code is worth nothing after 60 s", "R12.2")
def too_old(home: Home) -> None:
    needs_file()
    library = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
    if not library.exists():
        raise Skip("libfaketime is not installed")
    if "tsan" in home.binary:
        raise Skip("libfaketime waits for threads unseen by the sanitizer, which takes that for a double lock")
    home.spawn("serve", "--port", "0", env={"LD_PRELOAD": str(library), "FAKETIME": "+0 x30"})
    home.wait_hub()
    code = code_of(link_of(home))
    time.sleep(2.5)  # 75 s of the hub's
    with Page(home.hub()["port"]) as page:
        refused(page, "code_spent", code=code)


@test("revoking a tab closes its pages immediately and for good; tabs beyond 64 go, the oldest first", "R12.2 R12.4")
def revoked(home: Home) -> None:
    port = start_hub(home)
    with signed_in(home) as (page, token), Page(port) as second, person(home) as wire:
        hello(second, token=token)
        tab = wire.call("token/list")["tokens"][0]["id"]
        wire.call("token/revoke", id=tab)
        assert page.close_code() == 1008 and second.close_code() == 1008
        with Page(port) as late:
            refused(late, "unauthorized", token=token)
        tokens = []
        for _ in range(66):
            with Page(port) as one:
                tokens.append(hello(one, code=code_of(wire.call("portal/link")["link"]))["token"])
            if len(tokens) == 1:  # of tabs of the same millisecond none is the oldest
                later_ms = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 10**6 + 1 + CLOCK_ERROR_MS
                wait_until(lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 10**6 >= later_ms, "a later millisecond")
        assert len(wire.call("token/list")["tokens"]) == 64
        with Page(port) as first, Page(port) as last:
            refused(first, "unauthorized", token=tokens[0])
            hello(last, token=tokens[-1])


@test("an agent's token is no person's; hello must be whole; guesses are slowed", "R12.1 R12.2")
def roles(home: Home) -> None:
    port = start_hub(home)
    with person(home) as wire:
        own = wire.call("token/new", kind="person")["token"]
        agents = wire.call("token/new", kind="agent")["token"]
    with Page(port) as page:
        assert "token" not in hello(page, token=own)
        for method in ("ask/create", "ask/wait", "mine/list", "client/result"):
            try:
                page.call(method)
                raise AssertionError(f"{method} is for agents")
            except WireError as error:
                assert error.code == -32002, (method, error)
        for method, code in (("hub/stop", -32000), ("hub/retire", -32000), ("nothing", -32601)):
            try:
                page.call(method)
                raise AssertionError(f"{method} is not for pages")
            except WireError as error:
                assert error.code == code, (method, error)
        try:
            hello(page, token=own)
            raise AssertionError("hello twice")
        except WireError as error:
            assert error.code == -32600
    with Page(port) as page:
        refused(page, "wrong_role", token=agents)
    for params in ({}, {"token": own, "code": "x"}, {"role": "agent", "token": own}, {"token": 7}, {"token": ["a"]},
                   {"token": own + "\0"}, {"token": "x" * 200}):
        with Page(port) as page:
            refused(page, "unauthorized", **params)
    with Page(port) as page:
        try:
            hello(page, wire=99, token=own)
            raise AssertionError("another wire number")
        except WireError as error:
            assert error.code == -32001 and page.close_code() == 1008
    told = []
    for number in range(14):
        with Page(port) as page:
            try:
                hello(page, **({"token": f"sayso_t_{number}"} if number % 2 else {"code": f"sayso_c_{number}"}))
            except WireError as error:
                told.append(error.data["code"])
    assert told[-1] == "rate_limited" and told[0] == "code_spent" and told[1] == "unauthorized", told
    with Page(port) as page:
        hello(page, token=own)  # who holds a token is not shut out by those who guess


def check_expiry(home: Home, port: int, tokens: list[str], left_s: int) -> bool:
    """The first token is valid for so long, the second half as long again. False: too short for its page to get in."""
    home.kill_hub(signal.SIGKILL)
    now_ms = int(time.time() * 1000)
    ends_ms = [now_ms + left_s * 1000, now_ms + left_s * 1500, now_ms + 3600 * 1000]
    for token, end_ms in zip(tokens, ends_ms):
        home.rows("UPDATE tokens SET expires_ms = ?1 WHERE hash = ?2", end_ms, bytes.fromhex(hash_of(token)))
    home.spawn("serve", "--port", str(port))
    home.wait_hub()
    with Page(port) as soon, Page(port) as later, Page(port) as last:
        for page, token, end_ms in zip((soon, later, last), tokens, ends_ms):
            try:
                hello(page, token=token)
            except WireError as error:
                assert error.data["code"] == "unauthorized" and time.time() * 1000 >= end_ms - CLOCK_ERROR_MS, error
                return False
        for page, end_ms in zip((soon, later), ends_ms):
            assert page.close_code(left_s + HANG_S) == 1008 and time.time() * 1000 >= end_ms - CLOCK_ERROR_MS
        assert last.call("ask/list")["asks"] == []
        assert [row["expired"] for row in last.call("token/list")["tokens"]].count(True) == 2
    return True


@test("a page whose token's days are over is closed then; one of a later day goes on, and so after that one", "R12.2")
def expires(home: Home) -> None:
    port = start_hub(home)
    tokens = []
    for _ in range(3):
        with Page(port) as page:
            tokens.append(hello(page, code=code_of(link_of(home)))["token"])
    for left_s in (3, 6, 12, 24, 48):  # longer where a hub and its pages take longer to start than the first token is valid
        if check_expiry(home, port, tokens, left_s):
            break
    else:
        raise AssertionError("no page got in before its token expired")
    with Page(port) as page:
        refused(page, "unauthorized", token=tokens[0])


def hash_of(token: str) -> str:
    return hashlib.sha256(len(token).to_bytes(8, "little") + token.encode()).hexdigest()


def proof_of(token: str, port: int, nonce: str) -> tuple[str, str]:
    """The tab's id and what the hub must say, as docs/portal.md has it."""
    key = bytes.fromhex(hash_of(token))
    return key.hex()[:16], hmac.new(key, f"sayso hub {port} {nonce}".encode(), "sha256").hexdigest()


@test("the hub shows a tab that it is the one it signed in to, before it is told anything (C5)", "R12.2")
def proves(home: Home) -> None:
    port = start_hub(home)
    with signed_in(home) as (_, token):
        tab, wanted = proof_of(token, port, "0123456789abcdef")
        with Page(port) as page, Page(port) as other:
            proof = page.call("hub/prove", tab=tab, nonce="0123456789abcdef")
            assert proof == {"proof": wanted, "challenge": proof["challenge"]} and len(proof["challenge"]) == 26
            assert other.call("hub/prove", tab=tab, nonce="another")["proof"] == proof_of(token, port, "another")[1] != wanted
            assert hello(page, token=token)["tab"] == tab, "hello goes on as ever"
            assert page.call("hub/prove", tab=tab, nonce="n")["proof"] == proof_of(token, port, "n")[1]
        for params in ({}, {"tab": tab}, {"nonce": "n"}, {"tab": tab, "nonce": ""}, {"tab": "0" * 16, "nonce": "n"},
                       {"tab": tab[:15], "nonce": "n"}, {"tab": "", "nonce": "n"}, {"tab": tab, "nonce": "n" * 65},
                       {"tab": tab, "nonce": "a\0b"}, {"tab": [tab], "nonce": 7}):
            with Page(port) as page:
                try:
                    page.call("hub/prove", **params)
                    raise AssertionError(f"proved to {params}")
                except WireError as error:
                    assert error.code == -32003 and error.data["code"] == "unauthorized", error
                assert page.close_code() == 1008
        with Page(port) as page:  # failed attempts of others shut no page out
            hello(page, token=token)


@test("another user of this machine cannot use a link, though he may read it", "R12.2")
def other_user(home: Home) -> None:
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    port = start_hub(home)
    link = link_of(home)
    script = f"""
import encodings.idna, os, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from web_stage import Page, hello
from harness import WireError
os.setgid(12345); os.setuid(12345)
with Page({port}) as page:
    try:
        print(sorted(hello(page, code={code_of(link)!r})))
    except WireError as error:
        print(error.data["code"])
"""
    took = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, timeout=HANG_S)
    assert took.stdout.strip() == "unauthorized", took
    with Page(port) as page:  # and it was not spent by that
        assert hello(page, code=code_of(link))["token"]


@test("wrong codes, of another user or one's own, never keep a right one out", "R12.2")
def right_code(home: Home) -> None:
    port = start_hub(home)
    guess = f"""
import encodings.idna, os, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from web_stage import Page, hello
from harness import WireError
if os.geteuid() == 0:
    os.setgid(12345); os.setuid(12345)
for number in range(15):
    with Page({port}) as page:
        try:
            hello(page, code="sayso_c_" + str(number) * 20)
        except WireError as error:
            print(error.data["code"])
"""
    took = subprocess.run([sys.executable, "-B", "-c", guess], capture_output=True, text=True, timeout=2 * HANG_S)
    told = took.stdout.split()
    assert len(told) == 15 and (os.geteuid() != 0 or set(told) == {"unauthorized"}), took
    link = link_of(home)  # not before: a code is valid for a minute, and another process may take as long to start
    told = []
    for number in range(15):
        with Page(port) as page:
            told.append(refusal(page, "hello", wire=1, role="person", code=f"sayso_c_{number}").data["code"])
    assert told[-1] == "rate_limited", told
    with Page(port) as page:
        assert hello(page, code=code_of(link))["token"]
    with Page(port) as page:  # and a right one does not make room for more wrong ones
        refused = refusal(page, "hello", wire=1, role="person", code=code_of(link))
        assert refused.data["code"] == "rate_limited" and refused.data["retry_after_seconds"] > 0, refused
        assert "sayso open" in refused.message


def fingerprint(home: Home) -> str:
    """Of everything a person or an agent can have changed."""
    rows = [home.rows(f"SELECT * FROM {name} ORDER BY 1") for name in ("asks", "events", "tokens", "settings", "drafts")]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


@test("pages of other origins, rebound names and other ports have no effect (A1-A5, A9)", "R12.1 R12.2")
def attacks(home: Home) -> None:
    port = start_hub(home)
    ask = make_ask(home, "Delete it?")
    with signed_in(home) as (_, token):
        before = fingerprint(home)
        body = json.dumps({"selected_ids": ["a"]})
        rebound = [f"rebind.example:{port}", "rebind.example", f"127.0.0.1.rebind.example:{port}", f"evil.localhost:{port}"]
        paths = ["/", f"/choice/{ask}", "/history", "/settings", "/static/x", "/ws", "/api/asks", f"/api/asks/{ask}",
                 "/healthz", "/mcp", "/metrics"]
        for host in rebound:  # A1, A2: no Sec-Fetch headers at all, Origin as the page's own
            for path in paths:
                for extra in ({}, {"Origin": f"http://{host}"}, {"Authorization": f"Bearer {token}"}):
                    status, headers, content = get(port, path, extra, host=host)
                    assert status in (403, 421), (host, path, status)
                    assert b"Delete it" not in content and "set-cookie" not in headers
            with Page(port, host=host, origin=f"http://{host}") as page:
                assert page.status in (403, 421), page.head
        foreign = ["http://127.0.0.1:9", "http://localhost:9", f"http://127.0.0.1:{port + 1}", "null", "https://evil.example"]
        for origin in foreign:  # A3: simple posts; A4: WebSockets; A5: with whatever cookie
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json"):
                status, headers, _ = raw_http(port, (
                    f"POST /api/asks/{ask}/answer HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {origin}\r\n"
                    f"Cookie: sayso={token}; token={token}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n{body}"))
                assert status == 403 and "access-control-allow-origin" not in headers, (origin, kind, status)
            with Page(port, origin=origin, headers={"Cookie": f"sayso={token}"}) as page:
                assert page.status == 403, (origin, page.head)
        for site in ("cross-site", "same-site"):  # a form or an image that navigates to us
            assert get(port, f"/api/asks/{ask}", {"Sec-Fetch-Site": site, "Cookie": f"sayso={token}"})[0] == 403
        # A5: a cookie is nothing here, with the right origin too; a page gets none
        assert get(port, "/api/asks", {"Cookie": f"sayso={token}", "Origin": f"http://127.0.0.1:{port}"})[0] == 401
        for path in ("/", f"/choice/{ask}", "/static/nothing", "/api/asks"):
            assert "set-cookie" not in get(port, path)[1]
        # A9: a token or a code in an address is not taken
        for query in (f"token={token}", f"access_token={token}"):
            assert get(port, f"/?{query}")[0] == 400
        with Page(port) as page:  # the right origin and no hello: nothing is told
            page.send({"jsonrpc": "2.0", "id": 1, "method": "ask/answer", "params": {"session_id": ask, "selected_ids": ["a"]}})
            page.send({"jsonrpc": "2.0", "id": 2, "method": "ask/get", "params": {"session_id": ask}})
            assert page.read()["error"]["code"] == page.read()["error"]["code"] == -32600
        assert fingerprint(home) == before


@test("neither tokens nor codes stand in logs, process lists or files (A9, C3)", "R12.2")
def traces(home: Home) -> None:
    port = start_hub(home)
    ask = make_ask(home, "Which one?")
    link = link_of(home, session_id=ask[:6])
    assert link.startswith(f"http://127.0.0.1:{port}/choice/{ask}#code=sayso_c_"), link
    with Page(port) as page:
        token = hello(page, code=code_of(link))["token"]
        page.call("ask/answer", session_id=ask, selected_ids=["a"])
        secrets = [token.encode(), code_of(link).encode()]
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                try:
                    data = (path / name).read_bytes()
                except OSError:
                    continue
                assert not any(secret in data for secret in secrets), (path, name)
        for path in home.path.rglob("*"):
            if path.is_file():
                assert not any(secret in path.read_bytes() for secret in secrets), path
    process = home.spawned[0]
    home.kill_hub(signal.SIGTERM)
    out, err = process.communicate(timeout=HANG_S)
    home.spawned.remove(process)
    assert not any(secret.decode() in out + err for secret in secrets)
    assert out.count("#code=sayso_c_") == 1, out  # the one link that serve prints


run()
