"""Who may do what, at every door of the hub (docs/wire.md, "Who may do what")."""
from __future__ import annotations

from access_stage import TOKEN_DOORS, person_at, refusal, web_socket
from far_stage import ASK, Far
from harness import ROOT, Wire, run, test, wait_until

RETIRED = 75  # EX_TEMPFAIL
CHOICE = {"title": "Which one?", "prompt": "Two ways are open and both would work.", "selection_mode": "single",
          "options": [{"id": "a", "label": "First", "recommended": True}, {"id": "b", "label": "Second"}]}


def shipped(wire: Wire) -> dict[str, dict]:
    return {row["name"]: row for row in wire.call("settings/list")["settings"]}


@test("a token changes no setting of the host, no rule and no token, whichever door it comes through", "R12.1 R8.1")
def tokens_change_nothing():
    with Far() as far, Wire(far.home) as owner:
        owner.hello("person")
        proof = far.home.path / "ran"
        asked = far.sayso(far.client(), "agent", *ASK, "--wait", "0", "--json").json["session_id"]
        owner.call("ask/answer", session_id=asked, selected_ids=["a"])
        rule = owner.call("rule/add", session_id=asked)["id"]
        before = shipped(owner)
        hosts = [name for name, row in before.items() if row["scope"] == "host"]
        assert {"notify_command", "gate_commands", "store", "listen", "tls_key", "mcp_auth"} <= set(hosts), hosts
        tokens = {row["id"] for row in owner.call("token/list")["tokens"]}
        for door in TOKEN_DOORS:
            with person_at(far, door) as page:
                tokens |= {page.tab} if hasattr(page, "tab") else set()
                for name in hosts:
                    for change in ({"value": f"touch {proof}"}, {"value": before[name]["built_in"]}, {}):
                        refused = refusal(page, "settings/set", name=name, **change)
                        assert refused.data["code"] == "not_allowed" and refused.data["path"] == "/name", (door, refused)
                        assert f"'sayso settings set {name}' in a terminal" in refused.message, (door, refused)
                for method, params, remedy in (
                        ("token/new", {"kind": "person"}, "sayso token new"), ("rule/add", {"session_id": asked}, "sayso rule add"),
                        ("rule/remove", {"id": rule}, "sayso rule remove"), ("portal/link", {}, "sayso open"),
                        ("token/revoke", {"id": next(iter(tokens))[:8]}, "sayso token revoke"), ("hub/stop", {}, "sayso stop"),
                        ("hub/retire", {}, "sayso stop")):
                    refused = refusal(page, method, **params)
                    assert refused.data["code"] == "not_allowed" and f"'{remedy}'" in refused.message, (door, method, refused)
                assert page.call("settings/set", name="theme", value="dark")["value"] == "dark"
                assert refusal(page, "settings/set", name="thema", value="x").data["code"] == "bad_enum"
        assert shipped(owner) == {**before, "theme": {**before["theme"], "value": "dark", "source": "saved"}}
        assert {row["id"] for row in owner.call("token/list")["tokens"]} == tokens
        assert [row["id"] for row in owner.call("rule/list")["rules"]] == [rule]
        far.home.sayso(*ASK, "--as", "another", "--wait", "0", "--json")
        assert not proof.exists()
        assert owner.call("settings/set", name="notify_command", value=f"touch {proof}")["value"]  # the owner may


@test("a token signs itself out, and no other", "R12.1 R12.2")
def signs_out():
    with Far() as far:
        with person_at(far, "/ws loopback tab") as first, person_at(far, "/ws loopback tab") as second:
            assert refusal(first, "token/revoke", id=second.tab).data["code"] == "not_allowed"
            assert refusal(first, "token/revoke", id=first.tab[:8]).data["code"] == "not_allowed"
            first.start("token/revoke", id=first.tab)
            assert first.close_code() == 1008
            assert second.call("ask/list")["asks"] == []


@test("commands with --hub say in the person's language what to run on the hub's machine", "R12.1 R8.2 R13.2")
def commands_say_so():
    with Far() as far:
        person = far.client()
        for words, remedy in ((("token", "new"), "sayso token new"), (("token", "revoke", "3f0c"), "sayso token revoke"),
                              (("rule", "remove", "3f0c"), "sayso rule remove")):
            done = far.sayso(person, "person", *words)
            assert done.code == 1 and f"run '{remedy}' in a terminal on the hub's machine" in done.err, done
            done = far.sayso(person, "person", *words, env={"CHOICE_LANG": "zh"})
            assert done.code == 1 and f"终端中运行“{remedy}”" in done.err, done
        assert far.sayso(person, "person", "token", "list").code == 0
        assert far.sayso(person, "person", "rule", "list").code == 0


@test("portal off closes pages and leaves clients of /wire alone, those to come as well", "R2.6 R13.2")
def portal_off():
    with Far() as far, Wire(far.home) as owner:
        owner.hello("person")
        agent = web_socket(far, "/wire", True, far.tokens["agent"])
        agent.call("hello", wire=1, role="agent", name="bot")
        with agent, person_at(far, "/wire tls") as person, person_at(far, "/ws tls") as page:
            waiting = agent.start("ask/create", tool="provide_choice", arguments=CHOICE)
            asked = wait_until(lambda: person.call("ask/list", which="active")["asks"], "the ask is there", 60)[0]["session_id"]
            owner.call("settings/set", name="portal", value="off")
            assert page.close_code(60) == 1001
            with person_at(far, "/wire loopback") as later, person_at(far, "/wire tls") as another:
                assert [row["session_id"] for row in later.call("ask/list", which="active")["asks"]] == [asked]
                another.call("ask/answer", session_id=asked, selected_ids=["b"])
            assert agent.finish(waiting, 60)["selection"]["selected_ids"] == ["b"]
            assert person.call("hub/status")["pid"] == far.home.hub_pid()
        with web_socket(far, "/ws", True) as page:
            assert page.status == 404
        owner.call("settings/set", name="portal", value="on")
        with person_at(far, "/ws tls") as page:
            assert page.call("ask/list")


@test("hub/retire and hub/stop do nothing through a TCP door, before hello or after it", "R12.1 R13.2")
def no_retire():
    with Far() as far:
        pid = far.home.hub_pid()
        for path, is_public in (("/ws", False), ("/ws", True), ("/wire", False), ("/wire", True)):
            for method in ("hub/retire", "hub/stop"):
                with web_socket(far, path, is_public, far.tokens["person"]) as page:
                    assert refusal(page, method).message == "say hello first", (path, is_public)
                    page.send({"jsonrpc": "2.0", "method": method})  # a notification is answered by nothing
                    assert refusal(page, "ask/list").message == "say hello first"
        for door in TOKEN_DOORS:
            with person_at(far, door) as page:
                page.send({"jsonrpc": "2.0", "method": "hub/stop"})
                page.send({"jsonrpc": "2.0", "method": "hub/retire"})
                assert page.call("hub/status")["pid"] == pid
        assert far.home.hub_pid() == pid and far.process.poll() is None


@test("a serve that makes room for a newer version ends with an error, so that its service manager starts it again", "R13.2")
def retired():
    with Far() as far:
        with Wire(far.home) as newer:
            assert newer.call("hub/retire") == {}
        assert far.process.wait(60) == RETIRED
        assert f"RestartForceExitStatus={RETIRED}\n" in (ROOT / "packaging/systemd/sayso.service.in").read_text()
        far.home.spawned.remove(far.process)
        assert "a newer version" in (far.home.path / "said").read_text()
        far.serve()
        with Wire(far.home) as owner:
            owner.hello("person")
            owner.call("hub/stop")
        assert far.process.wait(60) == 0
        far.home.spawned.remove(far.process)
        far.serve()


run()
