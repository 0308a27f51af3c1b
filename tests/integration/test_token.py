"""`sayso token`: secrets that are shown once and stored nowhere; and how people see which token an agent
or a person came with (R5.8, R10.3, R12.1).
"""
from __future__ import annotations

import concurrent.futures
import json
import os
import re
import stat
from typing import Any

from harness import Home, Wire, WireError, run, scaled, test, wait_until
from http_cases import Site, ask, connect, exchange, request

SECRET = re.compile(r"^sayso_[ap]_[A-Za-z0-9_-]{43}$")
HOSTILE = ['\x1b[2J\x1b]52;c;eA==\x07', "\u202eevil", "a\nfake  agent  never expires  \"laptop\"", 'x" (token "laptop',
           "\u200b\u2066hidden", "\x9b31m", "<script>", "$(touch /tmp/x)", "标签"]


@test("new prints the secret once; list, status and JSON never do; revoke names it by its beginning", "R10.3 R12.1")
def life(home: Home) -> None:
    made = home.sayso("token", "new", "--label", "laptop", "--expires", "3", "--sub-agent")
    assert made.code == 0 and SECRET.match(made.out.strip()) and made.out.count("\n") == 1, made
    assert made.out.strip() not in made.err
    as_json = home.sayso("token", "new", "--kind", "person", "--json").json
    assert SECRET.match(as_json["token"]) and as_json["kind"] == "person" and as_json["expires_at"] is None
    listed = home.sayso("token", "list", "--json")
    assert [row["label"] for row in listed.json] == ["laptop", "person"], listed
    assert listed.json[0]["sub_agent"] and listed.json[0]["expires_at"] > listed.json[0]["created_at"]
    assert "sayso_" not in listed.out + home.sayso("token").out
    for words in ([], ["list"]):
        shown = home.sayso("token", *words)
        assert shown.code == 0 and '"laptop"' in shown.out and listed.json[0]["id"][:8] in shown.out, shown
    assert "令牌" in home.sayso("token", "revoke", listed.json[0]["id"][:8], env={"CHOICE_LANG": "zh"}).out
    assert home.sayso("token", "revoke", as_json["id"], "--json").json["label"] == "person"
    gone = home.sayso("token", "list")
    assert gone.code == 0 and gone.out == "" and "sayso token new" in gone.err, gone


@test("bad calls of token: the word that is wrong, and the exit code", "R10.3")
def bad_calls(home: Home) -> None:
    for words, code, named in (
            (["new", "--kind", "tab"], 1, "kind"), (["new", "--expires", "0"], 2, "--expires"),
            (["new", "--expires", "many"], 2, "--expires"), (["new", "--label", "x" * 129], 2, "--label"),
            (["new", "--label", ""], 1, "label"), (["new", "--token", "x"], 2, "--token"), (["new", "x"], 2, "new"),
            (["new", "--kind", "person", "--sub-agent"], 1, "sub_agent"), (["revoke"], 2, "revoke"),
            (["revoke", "abc"], 1, "id"), (["revoke", "abcd"], 1, "id"), (["burn"], 2, "list")):
        said = home.sayso("token", *words)
        assert said.code == code and named in said.err and not said.out, (words, said)
    assert home.sayso("token", "list", "--json").json == []
    refused = home.sayso("token", "new", "--kind", "tab", "--json")
    assert refused.json["error"]["path"] == "/kind", refused


@test("--out: a file for its owner alone, whatever the umask; what can't be written is taken back", "R10.3 P23")
def into_files(home: Home) -> None:
    path = home.path / "secret"
    for mask in (0, 0o22, 0o77, 0o777):
        before = os.umask(mask)
        try:
            made = home.sayso("token", "new", "--out", str(path))
        finally:
            os.umask(before)
        assert made.code == 0 and made.out == "" and str(path) in made.err, made
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and SECRET.match(path.read_text().strip())
    as_json = home.sayso("token", "new", "--json", "--out", str(path))
    assert "token" not in as_json.json and path.read_text().strip() not in as_json.out, as_json
    target = home.path / "elsewhere"
    target.write_text("mine")
    path.unlink()
    path.symlink_to(target)
    assert home.sayso("token", "new", "--out", str(path)).code == 0 and target.read_text() == "mine"
    count = len(home.sayso("token", "list", "--json").json)
    failed = home.sayso("token", "new", "--out", str(home.path / "nowhere" / "x"))
    assert failed.code == 1 and len(home.sayso("token", "list", "--json").json) == count, failed


@test("list and the store say when a token was used last, about: not at every request", "R12.1 R12.4")
def last_used(home: Home) -> None:
    with Site(home) as site:
        rows = {row["kind"]: row for row in home.sayso("token", "list", "--json").json}
        assert rows["agent"]["used_at"] is None and rows["person"]["used_at"] is None, rows
        assert home.sayso("token", "list").out.count("  not used yet  ") == 2
        for _ in range(5):
            reply = ask("127.0.0.1", site.port, request("GET", "/api/asks", site.port, f"Authorization: Bearer {site.person}"))
            assert reply.status == 200, reply
        listed = home.sayso("token", "list").out
        assert re.search(r"person .*  last used (yesterday )?\d\d:\d\d  ", listed) and listed.count("not used yet") == 1, listed
        used = {row["kind"]: row["used_at"] for row in home.sayso("token", "list", "--json").json}
        assert used["agent"] is None and used["person"] >= rows["person"]["created_at"], used
        kept = lambda: home.rows("SELECT used_ms FROM tokens WHERE kind = 'person'")[0][0]
        wait_until(lambda: kept() > 0, "the use is stored")
        assert "最近使用" in home.sayso("token", "list", env={"CHOICE_LANG": "zh"}).out


@test("labels that would act on a terminal or fake a line are shown harmless", "R12.1 R6.5 P13")
def hostile_labels(home: Home) -> None:
    for label in HOSTILE:
        assert home.sayso("token", "new", "--label", label).code == 0
    listed = home.sayso("token", "list")
    assert listed.out.count("\n") == len(HOSTILE), listed.out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066]", listed.out), ascii(listed.out)
    assert [row["label"] for row in home.sayso("token", "list", "--json").json] == HOSTILE
    for row in home.sayso("token", "list", "--json").json:
        said = home.sayso("token", "revoke", row["id"]).out
        assert said.count("\n") == 1 and "\x1b" not in said, ascii(said)


@test("many tokens at the same time: every secret is different, every revoke is told once, none is lost by kill -9", "R12.1 P3")
def at_once(home: Home) -> None:
    home.sayso("list")
    count = max(8, scaled(24))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: home.sayso("token", "new", "--label", "same", "--json").json, range(count)))
        home.kill_hub()
        assert len({row["token"] for row in made}) == count
        assert {row["id"] for row in home.sayso("token", "list", "--json").json} == {row["id"] for row in made}
        codes = list(pool.map(lambda number: home.sayso("token", "revoke", made[number % 4]["id"]).code, range(16)))
    assert sorted(codes) == [0] * 4 + [1] * 12, codes
    home.kill_hub()
    assert len(home.sayso("token", "list", "--json").json) == count - 4


@test("a secret is in no process list, environment, log or file of the store at any step", "P23 R12.1 R12.2")
def nowhere(home: Home) -> None:
    with Site(home, env={"SAYSO_LOG_LEVEL": "debug"}) as site:
        secrets = [site.agent, site.person]

        def scan(step: str) -> None:
            for secret in secrets:
                for form in (secret, secret[8:]):
                    assert form.encode() not in site.said(), f"{step}: in a log or in the store"
                    assert form.encode() not in site.processes(), f"{step}: in a process list"

        scan("made")
        for kind, path in (("agent", "/mcp"), ("person", "/api/asks")):
            token = getattr(site, kind)
            for raw in (request("GET", path, site.port, f"Authorization: Bearer {token}"),
                        request("GET", f"{path}?token={token}", site.port),
                        request("GET", f"/{token}", site.port, f"Referer: http://127.0.0.1:{site.port}/?token={token}"),
                        request("GET", path, site.port, f"Cookie: sayso={token}"),
                        f"GET {path} HTTP/1.1\r\nHost: {token}\r\n\r\n", f"{token}\r\n\r\n"):
                ask("127.0.0.1", site.port, raw)
        scan("used, rightly and wrongly")
        with Wire(home) as wire:
            wire.hello("person")
            assert "token" not in wire.call("token/list")["tokens"][0]
            try:
                wire.call("token/revoke", id=site.agent)
            except WireError as refused:
                assert site.agent not in str(refused)
        for row in home.sayso("token", "list", "--json").json:
            home.sayso("token", "revoke", row["id"])
        scan("revoked")
        home.kill_hub()
        scan("after the end")


class Client:
    """An MCP client over HTTP, as far as it takes to ask."""

    def __init__(self, site: Site, name: str, *headers: str):
        self.site, self.headers = site, ["Accept: application/json, text/event-stream", *headers]
        reply = self.post({"method": "initialize", "id": 1, "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}})
        assert reply.status == 200, reply
        self.headers += [f"Mcp-Session-Id: {reply.headers['mcp-session-id']}", "MCP-Protocol-Version: 2025-11-25"]
        self.post({"method": "notifications/initialized"})

    def raw(self, message: dict[str, Any]) -> bytes:
        return request("POST", "/mcp", self.site.port, *self.headers,
                       body=json.dumps({"jsonrpc": "2.0", **message})).encode()

    def post(self, message: dict[str, Any]) -> Any:
        return ask("127.0.0.1", self.site.port, self.raw(message))

    def call(self, title: str) -> Any:
        """A call that waits for a person; the connection it waits on."""
        peer = connect("::1", self.site.port)
        peer.sendall(self.raw({"id": 2, "method": "tools/call", "params": {"name": "provide_choice", "arguments": {
            "title": title, "prompt": "Which of these shall it be, then?", "selection_mode": "single",
            "options": [{"id": "a", "label": "One", "recommended": True}, {"id": "b", "label": "Other"}]}}}))
        return peer


@test("people see the claimed name in quotes and the token's label beside it; the answer says through what", "R5.8 R12.1")
def identity(home: Home) -> None:
    with Site(home) as site:
        bearer = f"Authorization: Bearer {site.agent}"
        spoof = 'x" (token "my laptop'
        with Client(site, spoof, bearer).call("Ship it?"):
            row = wait_until(lambda: home.sayso("list", "--active", "--json").json, "the ask")[0]
            assert row["origin"]["token"] == "agent's" and row["agent"] == spoof and row["origin"]["pid"] == os.getpid(), row
            for said in (home.sayso("list").out, home.sayso("show").out):
                assert r'"x\" (token \"my laptop" (token "agent' in said, said
            reply = ask("127.0.0.1", site.port, request(
                "POST", f"/api/asks/{row['session_id']}/answer", site.port,
                f"Authorization: Bearer {site.person}", body='{"selected_ids":["a"]}'))
            assert reply.status == 200, reply
            by = home.sayso("show", row["session_id"], "--json").json["ask"]["answered_by"]
            assert by["via"] == "api" and by["token"] == "person's" and by["pid"] == os.getpid(), by
            assert 'api, token "person' in home.sayso("show", row["session_id"]).out
            assert "令牌“person" in home.sayso("show", row["session_id"], env={"CHOICE_LANG": "zh"}).out


@test("two clients with one name are two by their tokens; without tokens they are what they say", "R5.8 R12.1")
def two_with_one_name(home: Home) -> None:
    with Site(home, "--mcp-auth", "none") as site:
        other = site.token("agent")
        clients = [Client(site, "same", f"Authorization: Bearer {token}") for token in (site.agent, other)]
        clients.append(Client(site, "same"))
        peers = [client.call("Same question") for client in clients]
        rows = wait_until(lambda: (rows := home.sayso("list", "--active", "--json").json) and len(rows) == 3 and rows,
                          "three asks")
        assert {row["agent"] for row in rows} == {"same"}
        assert len({row["origin"].get("token_id") for row in rows}) == 3
        assert "no token" in home.sayso("list").out
        for peer in peers:
            peer.close()


run()
