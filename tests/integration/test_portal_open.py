"""One click on a page that isn't signed in: the hub opens a fresh link in the person's browser, for whom, how often, and
what the page learns (R12.2).
"""
from __future__ import annotations

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
from typing import Any

from harness import HANG_S, Home, run, test, wait_until
from own_stage import Client
from web_stage import Page, code_of, get, hello, raw_http, start_hub

ID = "abcdefghijklmnopqrstuvwxyz"


def with_opener(home: Home) -> pathlib.Path:
    """What would open a browser writes down the address."""
    folder, note = home.path / "bin", home.path / "opened"
    folder.mkdir()
    (folder / "xdg-open").write_text(f"#!/bin/sh\necho \"$1\" >> {note}\n")
    (folder / "xdg-open").chmod(stat.S_IRWXU)
    home.environment.update(PATH=f"{folder}:/usr/bin:/bin", DISPLAY=":77", SAYSO_BROWSER="on")
    return note


def links(note: pathlib.Path) -> list[str]:
    return note.read_text().split() if note.exists() else []


def post(port: int, body: Any = None, kind: str = "application/json", **headers: str) -> tuple[int, dict[str, Any]]:
    text = json.dumps(body or {})
    lines = {"Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}", "Content-Type": kind,
             "Content-Length": str(len(text)), **headers}
    status, _, content = raw_http(port, "POST /portal/open HTTP/1.1\r\n"
                                  + "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value) + f"\r\n{text}")
    return status, json.loads(content)


def can_open(port: int) -> bool:
    status, _, body = get(port, "/portal/open")
    return status == 200 and json.loads(body)["can_open"]


@test("the hub opens a link that signs in; the page learns that it did, not the link; at most one in 10 s", "R12.2 R7.2")
def one_click(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    assert can_open(port) and not links(note)
    assert post(port, {"session_id": ID}) == (200, {"opened": True})
    link = wait_until(lambda: links(note), "a browser was opened")[0]
    assert link.startswith(f"http://127.0.0.1:{port}/choice/{ID}#code=sayso_c_"), link
    with Page(port) as page:
        assert hello(page, code=code_of(link))["token"]
    status, refused = post(port)
    assert status == 429 and refused["error"]["code"] == "rate_limited", refused
    assert can_open(port), "looking is not opening"
    assert len(links(note)) == 1


@test("an address that is no id of an ask, or no JSON, opens the list", "R12.2")
def strange_ids(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    assert post(port, {"session_id": "../../x y$(id)"})[0] == 200
    assert wait_until(lambda: links(note), "a browser was opened")[0].startswith(f"http://127.0.0.1:{port}/#code=")


@test("other origins, other names of this machine and other kinds of body open nothing", "R12.1 R12.2")
def other_origins(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    for origin in ("", "null", f"http://localhost:{port}", f"http://[::1]:{port}", f"https://127.0.0.1:{port}",
                   f"http://127.0.0.1:{port + 1}", "http://127.0.0.1", "http://evil.example", f"http://127.0.0.1:{port}.evil.example"):
        assert post(port, Origin=origin)[0] == 403, origin
    assert post(port, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert post(port, **{"Sec-Fetch-Site": "same-site"})[0] == 403
    assert post(port, Host=f"rebind.example:{port}", Origin=f"http://rebind.example:{port}")[0] == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(port, kind=kind)[0] == 415
    assert get(port, "/portal/open", method="PUT")[0] == 405
    assert post(port, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] == 200
    wait_until(lambda: links(note), "that is the same origin")
    assert len(links(note)) == 1


@test("where there is no browser, or none is to be opened, there is no button", "R12.2 R2.6")
def no_browser(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    assert can_open(port)
    assert home.sayso("settings", "set", "browser", "off").code == 0
    assert not can_open(port) and post(port)[0] == 503
    assert home.sayso("settings", "set", "browser", "on").code == 0
    assert home.sayso("settings", "set", "portal", "off").code == 0
    assert get(port, "/portal/open")[0] == 404 and post(port)[0] == 404
    assert home.sayso("settings", "set", "portal", "on").code == 0
    home.kill_hub()
    del home.environment["DISPLAY"]
    assert not can_open(start_hub(home)) and not links(note)


@test("an agent's own processes and other users open nothing", "R12.1 R12.2")
def not_for_agents(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    client = Client(home, [])
    client.ask("Which one of the two?", interface="terminal")  # its client is known from now on
    curl = ["curl", "-s", "-w", " %{http_code}", f"http://127.0.0.1:{port}/portal/open"]
    opens = [*curl, "-H", f"Origin: http://127.0.0.1:{port}", "-H", "Content-Type: application/json", "-d", "{}"]
    before = len(links(note))
    assert client.run(*curl) == (0, '{"can_open":false} 200')
    code, said = client.run(*opens)
    assert code == 0 and "not_allowed" in said and said.endswith(" 403"), said
    assert can_open(port)
    if os.geteuid() == 0:
        done = subprocess.run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", *opens], capture_output=True, text=True,
                              timeout=HANG_S, check=False)
        assert "not_allowed" in done.stdout and done.stdout.endswith(" 403"), done
    assert len(links(note)) == before


@test("who asks and is gone before the hub looks opens nothing: a page waits for its reply", "R12.1 R12.2")
def gone(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    client = Client(home, [])
    client.ask("Which one of the two?", interface="terminal")
    before = len(links(note))
    request = (f"POST /portal/open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
               "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    os.kill(home.hub_pid(), signal.SIGSTOP)
    try:
        code, said = client.run(sys.executable, "-c", f"import socket; s = socket.create_connection(('127.0.0.1', {port})); s.sendall({request!r}.encode())")
        assert code == 0, said
    finally:
        os.kill(home.hub_pid(), signal.SIGCONT)
    assert can_open(port)
    assert len(links(note)) == before, links(note)
    assert post(port)[0] == 200, "nor was it counted"


run()
