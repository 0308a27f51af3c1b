"""The same walks on SQLite and on PostgreSQL, from outside: every act on an ask, looking back, tokens, settings, standing
answers, conversations, and all of it again after kill -9. What differs between the stores is a bug of one of them.

Proves: R13.1 R13.2 R5.2 R5.3
"""
from __future__ import annotations

import csv
import functools
import io
import json
from typing import Callable

import postgres
from api import LIMITS, Office
from cli_stage import DONE, PENDING, REFUSED, TIMED_OUT, WORDS, ask, ask_json, asking, collect, end, expect, row_of
from conversation_stage import Hosting, Listener, asks, said
from harness import Home, Result, Wire, run, test, wait_until

STORES: dict[str, Callable[[], dict[str, str]]] = {
    "SQLite": lambda: {},
    "PostgreSQL": lambda: {"SAYSO_STORE": postgres.shared().new_database()},
}


def on_both(name: str) -> Callable[[Callable], Callable]:
    """Two tests of one walk, which is given the environment of its hub."""
    def mark(walk: Callable[[dict[str, str]], None]) -> Callable:
        for store, environment in STORES.items():
            test(f"{name}, on {store}")(functools.partial(walk_on, environment, walk))
        return walk
    return mark


def walk_on(environment: Callable[[], dict[str, str]], walk: Callable[[dict[str, str]], None]) -> None:
    env = environment()
    try:
        walk({**LIMITS, **env})
        if env:  # or it was the other store that was looked at
            with postgres.shared().admin(postgres.name_in(env["SAYSO_STORE"])) as connection:
                assert connection.run("SELECT count(*) > 0 FROM asks") == [(True,)]
    finally:
        if env:
            postgres.shared().drop_database(env["SAYSO_STORE"])


def in_home(walk: Callable[[Home], None]) -> Callable[[dict[str, str]], None]:
    def in_a_home_of_its_own(env: dict[str, str]) -> None:
        with Home(env=env) as home:
            walk(home)
    return in_a_home_of_its_own


def status(home: Home, id: str) -> str:
    return row_of(home, id)["status"]


@on_both("asked, answered once, collected; kept over kill -9")
@in_home
def answered(home: Home) -> None:
    with asking(home, "Which cluster?") as (id, process):
        expect(home.sayso("answer", id, "--select", "us", "--note", "weil „Amerika“ 🦊 \\ 'quoted' \"too\""), DONE)
        expect(end(home, process), DONE, "us")
    late = home.sayso("answer", id, "--select", "eu")
    assert late.code != DONE and status(home, id) == "submitted", late
    home.kill_hub()
    shown = home.sayso("show", id, "--json").json
    assert shown["answer"]["selected_ids"] == ["us"], shown
    assert shown["answer"]["global_annotation"] == "weil „Amerika“ 🦊 \\ 'quoted' \"too\"", shown
    id = ask(home, "Open over a crash?")
    home.kill_hub()
    assert status(home, id) == "pending"
    expect(home.sayso("answer", id, "--select", "as"), DONE)
    home.kill_hub()
    assert collect(home, id).json["selection"]["selected_ids"] == ["as"]


@on_both("the same call again is the same ask, by key and by its words")
@in_home
def asked_again(home: Home) -> None:
    first = ask_json(home, "--key", "once").json["session_id"]
    home.kill_hub()
    assert ask_json(home, "--key", "once").json["session_id"] == first
    expect(home.sayso("answer", first, "--select", "us"), DONE)
    home.kill_hub()
    again = ask_json(home, "--key", "once")
    assert again.code == DONE and again.json["session_id"] == first, again
    assert ask_json(home, title="Other words").json["session_id"] != first


@on_both("cancelled, declined, withdrawn, extended, asked back")
@in_home
def other_ends(home: Home) -> None:
    for word, ends in (("cancel", "cancelled"), ("decline", "declined"), ("withdraw", "withdrawn")):
        with asking(home, f"To be {ends}?") as (id, process):
            expect(home.sayso(word, id), DONE)
            assert end(home, process).code == REFUSED
            assert status(home, id) == ends
    id = ask(home, "More time?")
    before = row_of(home, id)
    expect(home.sayso("extend", id, "3600"), DONE)
    after = row_of(home, id)
    assert after["remaining_seconds"] > 3500 and after["version"] > before["version"], after
    home.kill_hub()
    assert 3400 < row_of(home, id)["remaining_seconds"] <= 3600
    expect(home.sayso("reply", id, "Which of the two is cheaper, and by how much?"), DONE)
    assert collect(home, id).json.get("asked_back"), "the agent is told"
    home.kill_hub()
    assert row_of(home, id)["asked_back"] is True


@on_both("an answer is taken back within its window, sent early, and stands after it")
@in_home
def undone(home: Home) -> None:
    expect(home.sayso("settings", "set", "deliver_after", "30"), DONE)
    id = ask(home, "Sure?")
    with Wire(home) as person:
        person.hello("person", channel="terminal")
        receipt = person.call("ask/answer", session_id=id, selected_ids=["us"], global_annotation="first thought")
        assert receipt["undo_ms"] > 20000, receipt
        assert collect(home, id).json["action_status"] == "pending"
        person.call("ask/undo", session_id=id)
        assert status(home, id) == "pending"
    home.kill_hub()
    assert status(home, id) == "pending"
    with Wire(home) as person:
        person.hello("person", channel="terminal")
        person.call("ask/answer", session_id=id, selected_ids=["eu"], global_annotation="second thought")
        person.call("ask/send", session_id=id)
    got = collect(home, id).json
    assert got["selection"]["selected_ids"] == ["eu"] and got["selection"]["global_annotation"] == "second thought", got


@on_both("time runs out once, also while no hub is there")
@in_home
def expired(home: Home) -> None:
    assert home.sayso("ask", "Quick?", "-p", "Nobody will answer this question in time.", "--text", "-t", "1").code == TIMED_OUT
    id = home.sayso("ask", "Later?", "-p", "Nobody will answer this question in time.", "--text", "-t", "2", "-w", "0").out.strip()
    home.kill_hub()
    wait_until(lambda: status(home, id) == "timeout", "it ends")
    got = collect(home, id).json
    assert got["action_status"] == "timeout" and got["selection"]["selected_ids"] == [], got
    assert home.sayso("answer", id, "--text", "too late").code != DONE


@on_both("drafts and settings are kept")
@in_home
def kept(home: Home) -> None:
    expect(home.sayso("settings", "set", "theme", "dark"), DONE)
    expect(home.sayso("settings", "set", "timeout_seconds", "77"), DONE)
    id = ask(home, "Typing?")
    with Wire(home) as person:
        person.hello("person")
        person.call("ask/draft", session_id=id, draft={"custom_input": "half a sen"})
    expect(home.sayso("stop"), DONE)  # a draft is written a moment later, or when the hub stops
    assert home.sayso("settings", "get", "theme").out == "dark\n"
    assert row_of(home, ask(home, "Default time?"))["remaining_seconds"] <= 77
    assert home.sayso("show", id, "--json").json["draft"]["custom_input"] == "half a sen"
    expect(home.sayso("settings", "reset", "theme"), DONE)
    home.kill_hub()
    assert home.sayso("settings", "get", "theme").out == "system\n"


@on_both("looked back at: words in both languages, filters, pages, export")
@in_home
def looked_back(home: Home) -> None:
    for number in range(5):
        expect(home.sayso("answer", ask(home, f"Deploy {number}?", "--text", "--as", f"bot {number % 2}"),
                          "--text", f"Antwort {number}"), DONE)
    chinese = ask(home, "要不要部署到生产环境？")
    expect(home.sayso("cancel", chinese, "--note", "heute nicht, 100%_sicher"), DONE)
    ask(home, "Still open?")

    def titles(*words: str) -> list[str]:
        return [row["title"] for row in expect(home.sayso("history", "--json", *words), DONE).json]
    deploys = [f"Deploy {number}?" for number in (4, 3, 2, 1, 0)]
    for _ in range(2):  # the second time after a crash
        assert titles() == ["Still open?", "要不要部署到生产环境？", *deploys]
        assert titles("DEPLOY") == deploys
        assert titles("antwort", "3") == ["Deploy 3?"]
        assert titles("生产环境") == titles("环") == titles("100%_sicher") == ["要不要部署到生产环境？"]
        assert titles("%") == ["要不要部署到生产环境？"] and titles("nowhere") == []
        assert titles("--status", "submitted") == deploys
        assert titles("--agent", "bot 1") == ["Deploy 3?", "Deploy 1?"]
        assert titles("--limit", "2") == ["Still open?", "要不要部署到生产环境？"]
        home.kill_hub()
    lines = [json.loads(line) for line in expect(home.sayso("export"), DONE).out.splitlines()]
    assert {line["title"] for line in lines} == {*deploys, "要不要部署到生产环境？", "Still open?"}, lines
    table = list(csv.reader(io.StringIO(expect(home.sayso("export", "--format", "csv"), DONE).out)))
    assert len(table) == 8, table
    expect(home.sayso("export", "--format", "markdown", "--search", "生产环境"), DONE, "heute nicht")
    assert len(expect(home.sayso("list", "--completed", "--json"), DONE).json) == 6


@on_both("an answer is let stand and applied, until it is removed")
@in_home
def standing(home: Home) -> None:
    def asked(*more: str) -> Result:
        """By a shell of its own: who answers here must not be above the agent."""
        process = home.spawn("-c", '"$@"; exit $?', "sh", home.binary, "ask", "Cache", *WORDS, "--json", *more,
                             program="/bin/sh")
        return end(home, process)
    id = asked("--wait", "0").json["session_id"]
    expect(home.sayso("answer", id, "--select", "us"), DONE)
    assert asked().json["explicit"]
    rule = expect(home.sayso("rule", "add", id, "--json"), DONE).json["id"]
    home.kill_hub()
    by_rule = asked()
    assert by_rule.code == DONE and by_rule.json["selection"]["selected_ids"] == ["us"], by_rule
    assert by_rule.json["rule"] == rule and by_rule.json["auto_submitted"] is True, by_rule
    expect(home.sayso("rule", "remove", rule), DONE)
    home.kill_hub()
    assert asked("--wait", "0").code == PENDING


@on_both("tokens open, and are shut at once when revoked; REST acts")
def over_http(env: dict[str, str]) -> None:
    with Office(env) as office:
        id = office.ask()
        assert [row["session_id"] for row in office.get("/api/asks?status=active").json["asks"]] == [id]
        version = office.get(f"/api/asks/{id}").headers["etag"]
        assert office.post(f"/api/asks/{id}/extend", {"seconds": 600}, If_Match=version).status == 200
        assert office.post(f"/api/asks/{id}/extend", {"seconds": 700}, If_Match=version).status == 412
        receipts = [office.answer(id, Idempotency_Key="k1") for _ in range(2)]
        assert receipts[0].json == receipts[1].json and receipts[1].headers["idempotency-replayed"] == "true", receipts
        assert office.answer(id, "b").status == 409
        while "result" not in (message := office.agent.read()):
            assert message["method"] == "ask/retimed", message
        assert message["result"]["selection"]["selected_ids"] == ["a"]
        assert office.get("/readyz").status == 200 and b"sayso_asks_created_total 1" in office.get("/metrics").body
        second = office.token("person", "to be shut")
        assert office.get("/api/asks", token=second).status == 200
        listed = office.home.sayso("token", "list", "--json").json
        (shut,) = [row["id"] for row in listed if row["label"] == "to be shut"]
        expect(office.home.sayso("token", "revoke", shut), DONE)
        assert office.get("/api/asks", token=second).status == 401
        for wire in office.wires:
            wire.stop()
        office.wires.clear()
        office.home.kill_hub()
        office.home.spawned.remove(office.process)
        office.serve()
        assert office.get("/api/asks", token=second).status == 401
        assert office.whole(id)["answer"]["selected_ids"] == ["a"]


@on_both("a conversation asks, is answered and goes on, over kill -9")
def conversation(env: dict[str, str]) -> None:
    with Hosting(env) as office:
        talk = office.begin(asks("t1"))
        talk.wait_for("awaiting_user_response")
        id = talk.session()
        office.home.kill_hub()
        office.home.spawned.remove(office.process)
        office.serve()
        assert talk.state["type"] == "awaiting_user_response"
        with Listener(talk) as listener:
            wait_until(lambda: len(listener.heard) == talk.look()["last_event"], "what was before is told at once")
            said(talk.respond({"Which store?": "PostgreSQL"}))
            wait_until(lambda: talk.state["type"] != "awaiting_user_response", "it goes on")
            wait_until(lambda: len(listener.heard) == talk.look()["last_event"], "the rest is told as it happens")
            assert listener.cuts == 0, "on one stream"
        numbers = [event[0] for event in talk.events()]
        assert numbers == list(range(1, len(numbers) + 1)), numbers
        assert office.whole(id)["ask"]["status"] == "submitted"


run()
