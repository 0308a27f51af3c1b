"""Browsers that stay signed in: enrolled by a link, known by what their key signs, and by nothing else (R12.2; C3, C5, D6)."""
from __future__ import annotations

import base64
import hmac
import os
import pathlib
import subprocess
import sys
import time
from typing import Any

from harness import HANG_S, Home, Skip, WireError, run, test
from web_stage import Page, code_of, get, hello, link_of
from wire_stage import person

ON = {"SAYSO_KEEP_SIGNED_IN": "on"}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def openssl(*words: str, given: bytes = b"") -> bytes:
    return subprocess.run(["openssl", *words], input=given, capture_output=True, check=True, timeout=HANG_S).stdout


class Key:
    """As a browser's: ECDSA on P-256."""

    def __init__(self, folder: pathlib.Path, name: str = "key"):
        self.path = folder / f"{name}.pem"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.path))
        self.public = encode(openssl("ec", "-in", str(self.path), "-pubout", "-outform", "DER")[-65:])

    def sign(self, text: str) -> str:
        der = openssl("dgst", "-sha256", "-sign", str(self.path), given=text.encode())
        numbers, at = b"", 2
        for _ in range(2):
            length = der[at + 1]
            numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + length
        return encode(numbers)


def serve(home: Home, port: int = 0, **settings: str) -> int:
    home.spawn("serve", "--port", str(port), env={**ON, **settings})
    home.wait_hub()
    return home.hub()["port"]


def enrol(home: Home, port: int, key: Key) -> tuple[str, str]:
    """Its id, and what the hub must prove itself by."""
    with Page(port) as page:
        result = hello(page, code=code_of(link_of(home)), key=key.public)
    assert "token" not in result and len(result["proof_key"]) == 64, result
    return result["tab"], result["proof_key"]


def challenged(page: Page, device: str, proof_key: str = "") -> str:
    reply = page.call("hub/prove", tab=device, nonce="0123456789abcdef")
    if proof_key:
        wanted = hmac.new(bytes.fromhex(proof_key), f"sayso hub {page.port} 0123456789abcdef".encode(), "sha256").hexdigest()
        assert reply["proof"] == wanted, "the hub shows that it is the hub"
    return reply["challenge"]


def text_of(port: int, challenge: str) -> str:
    return f"sayso browser {port} {challenge}"


def refused(page: Page, /, **params: Any) -> None:
    try:
        hello(page, **params)
    except WireError as error:
        assert error.code == -32003 and error.data["code"] == "unauthorized", error
        assert page.close_code() == 1008
        return
    raise AssertionError("was let in")


def come_back(port: int, device: str, key: Key, proof_key: str = "") -> dict[str, Any]:
    with Page(port) as page:
        result = hello(page, device=device, signature=key.sign(text_of(port, challenged(page, device, proof_key))))
        assert page.call("ask/list")["asks"] == []
        return result


@test("a browser that used a link comes back by its key alone, as one device, and when the hub was killed", "R12.2 R7.2")
def comes_back(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    device, proof_key = enrol(home, port, key)
    for _ in range(3):
        result = come_back(port, device, key, proof_key)
        assert result["tab"] == device and "token" not in result and "proof_key" not in result, result
    home.kill_hub()
    serve(home, port)
    come_back(port, device, key, proof_key)
    with person(home) as wire:
        (row,) = wire.call("token/list")["tokens"]
    assert row["kind"] == "device" and row["label"] == "test page" and row["used_at"] >= row["created_at"], row


@test("a signature counts once, for its own connection, port and key", "R12.2")
def replayed(home: Home) -> None:
    port, key, other = serve(home), Key(home.path), Key(home.path, "other")
    device, _ = enrol(home, port, key)
    with Page(port) as page:
        challenge = challenged(page, device)
        signature = key.sign(text_of(port, challenge))
        hello(page, device=device, signature=signature)
        with Page(port) as again:  # heard by another program
            assert challenged(again, device) != challenge
            refused(again, device=device, signature=signature)
        with Page(port) as unasked:
            refused(unasked, device=device, signature=signature)
    with Page(port) as one, Page(port) as two:
        first, second = challenged(one, device), challenged(two, device)
        refused(one, device=device, signature=key.sign(text_of(port, second)))
        hello(two, device=device, signature=key.sign(text_of(port, second)))
        assert first != second
    with Page(port) as page:  # only the newest challenge of a connection
        old = challenged(page, device)
        challenged(page, device)
        refused(page, device=device, signature=key.sign(text_of(port, old)))
    for signed in (lambda c: other.sign(text_of(port, c)), lambda c: key.sign(text_of(port + 1, c)), key.sign, lambda c: "",
                   lambda c: "A" * 86, lambda c: key.sign(text_of(port, ""))):
        with Page(port) as page:
            refused(page, device=device, signature=signed(challenged(page, device)))
    home.kill_hub()  # guesses are slowed: a new hub has a clean slate
    serve(home, port)
    come_back(port, device, key)


@test("it is good at the port where it was enrolled, and at no other", "R12.2")
def other_port(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    device, _ = enrol(home, port, key)
    home.kill_hub()
    elsewhere = serve(home)
    assert elsewhere != port
    for signed_for in (elsewhere, port):
        with Page(elsewhere) as page:
            refused(page, device=device, signature=key.sign(text_of(signed_for, challenged(page, device))))
    home.kill_hub()
    serve(home, port)
    come_back(port, device, key)


@test("nothing that the hub keeps or says of a device lets anybody in", "R12.1 R12.2")
def no_bearer(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    device, proof_key = enrol(home, port, key)
    stored = home.rows("SELECT hash, browser FROM tokens WHERE kind = 'device'")[0]
    assert bytes(stored[0]).hex() == proof_key and stored[1] == f"{port} {key.public}", stored
    secrets = [device, proof_key, key.public, stored[1], encode(bytes(stored[0]))]
    for secret in secrets[:4]:
        with Page(port) as page:
            refused(page, token=secret)
    for secret in secrets:
        assert get(port, "/api/asks", {"Authorization": f"Bearer {secret}"})[0] in (401, 429)
    home.kill_hub()
    serve(home, port)
    for params in ({"device": device}, {"device": device, "signature": 7}, {"device": device, "signature": "x", "code": "y"},
                   {"device": "0" * 16, "signature": "A" * 86}, {"device": "", "signature": ""}):
        with Page(port) as page:
            challenged(page, device)
            refused(page, **params)


@test("a key that is none gives a tab as before; so does a link where browsers don't stay, and devices are out then", "R12.2")
def without(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    for given in ("", "x", "A" * 88, key.public[:-1], 7, None):
        with Page(port) as page:
            result = hello(page, code=code_of(link_of(home)), key=given)
            assert result["token"].startswith("sayso_t_") and "proof_key" not in result, given
    device, _ = enrol(home, port, key)
    home.kill_hub()
    serve(home, port, SAYSO_KEEP_SIGNED_IN="off")
    with Page(port) as page:
        refused(page, device=device, signature=key.sign(text_of(port, challenged(page, device))))
    with Page(port) as page:
        assert hello(page, code=code_of(link_of(home)), key=key.public)["token"]


@test("a revoked device's pages are closed immediately and for good; so are those of one whose 30 days are over", "R12.2 R12.4")
def revoked(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    device, _ = enrol(home, port, key)
    with Page(port) as one, Page(port) as two:
        for page in (one, two):
            hello(page, device=device, signature=key.sign(text_of(port, challenged(page, device))))
        one.start("token/revoke", id=device)  # signing out: all tabs of this browser
        assert one.close_code() == 1008 and two.close_code() == 1008
    with Page(port) as page:
        refused(page, device=device, signature="A" * 86)
    device, _ = enrol(home, port, key)
    home.kill_hub()
    home.rows("UPDATE tokens SET expires_ms = ?1", int(time.time() * 1000) - 1000)
    serve(home, port)
    with Page(port) as page:
        try:
            page.call("hub/prove", tab=device, nonce="n")
            raise AssertionError("proved to one that expired")
        except WireError as error:
            assert error.data["code"] == "unauthorized"


@test("another user of this machine can't come in with a right signature", "R12.2")
def other_user(home: Home) -> None:
    if os.geteuid() != 0:
        raise Skip("needs root to become another user")
    port, key = serve(home), Key(home.path)
    device, _ = enrol(home, port, key)
    script = f"""
import encodings.idna, os, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from web_stage import Page, hello
from harness import WireError
os.setgid(12345); os.setuid(12345)
with Page({port}) as page:
    print(page.call("hub/prove", tab={device!r}, nonce="n")["challenge"], flush=True)
    try:
        print(sorted(hello(page, device={device!r}, signature=input())))
    except WireError as error:
        print(error.data["code"])
"""
    with subprocess.Popen([sys.executable, "-B", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        challenge = other.stdout.readline().strip()
        said, _ = other.communicate(key.sign(text_of(port, challenge)) + "\n", timeout=HANG_S)
    assert said.strip() == "unauthorized", said
    come_back(port, device, key)


@test("wrong signatures are slowed, and never keep a right one out", "R12.2")
def guesses(home: Home) -> None:
    port, key = serve(home), Key(home.path)
    device, _ = enrol(home, port, key)
    told = []
    for _ in range(14):
        with Page(port) as page:
            challenged(page, device)
            try:
                hello(page, device=device, signature="A" * 86)
            except WireError as error:
                told.append(error.data["code"])
    assert told[0] == "unauthorized" and told[-1] == "rate_limited" and len(told) == 14, told
    come_back(port, device, key)


@test("by default browsers stay where this user is the only one, by the account files of the machine, as they are at each sign-in", "R12.2")
def by_default(home: Home) -> None:
    me, other = "root:x:0:0:root:/root:/bin/bash\nme:x:1000:1000::/home/me:/bin/sh\n", "you:x:1001:1001::/home/you:/bin/sh\n"
    files = {"passwd": me, "login.defs": "UID_MIN 1000\nUID_MAX 60000\n", "nsswitch.conf": "passwd: files systemd\n"}
    for name, text in files.items():
        (home.path / name).write_text(text)
    mounts = " && ".join(f"mount --bind {home.path / name} /etc/{name}" for name in files)
    words = ["--map-user=1000", "--map-group=1000", "--mount", "--keep-caps", "sh", "-c"]
    if subprocess.run(["unshare", *words, mounts], capture_output=True, check=False, timeout=HANG_S).returncode:
        raise Skip("needs namespaces of users and mounts")
    home.spawn(*words, f"{mounts} && exec {home.binary} serve --port 0", program="unshare")
    home.wait_hub()
    port, key = home.hub()["port"], Key(home.path)
    device, _ = enrol(home, port, key)
    come_back(port, device, key)
    for name, text in (("passwd", me + other), ("nsswitch.conf", "passwd: files sss\n"), ("login.defs", "UID_MIN many\n")):
        (home.path / name).write_text(text)
        with Page(port) as page:
            refused(page, device=device, signature=key.sign(text_of(port, challenged(page, device))))
        with Page(port) as page:
            assert "token" in hello(page, code=code_of(link_of(home)), key=key.public), name
        (home.path / name).write_text(files[name])
        come_back(port, device, key)


run()
