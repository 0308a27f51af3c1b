"""Three hubs on one PostgreSQL behind a load balancer without stickiness: what is asked on one is answered on another and
collected on the third, by every kind of client; and what is changed on one holds on all."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from typing import Any, Iterator

import postgres
from answers_checker import check
from chaos_stage import Crew, latency
from cli_stage import DONE
from harness import HANG_S, ROOT, SLACK, Home, Skip, Wire, WireError, counted, note, run, scaled, test, wait_for_count, wait_until
from hubs_stage import LOST, Background, Hubs, Refused, exchange, outcome_of, question, quietly
from tty_stage import Tty
from web_stage import Page, code_of, hello, link_of

HEARD_S = HANG_S  # a hub that heard no notification looks by itself within 2 s; this only catches hangs
CLOCK_S = 0.05  # what a hub knows of the database's clock is half a round trip old
ORDERS = list(itertools.permutations(range(3)))


def ask_on(hubs: Hubs, place: int, title: str, **more: Any) -> tuple[Background, str]:
    """An agent's call that waits on one hub, and the ask's id once every hub can see it."""
    call = Background(lambda: hubs.agent(hubs.hubs[place].port).ask(title, **more))
    return call, seen_on(hubs, title)


def seen_on(hubs: Hubs, title: str, places: tuple[int, ...] = (0, 1, 2)) -> str:
    def ids() -> set[str]:
        return {ask["session_id"] for place in places for ask in hubs.person(hubs.hubs[place].port).open()
                if ask["title"] == title}
    def everywhere() -> bool:
        return all(any(ask["title"] == title for ask in hubs.person(hubs.hubs[place].port).open()) for place in places)
    wait_until(everywhere, f"{title} is on every hub", HEARD_S)
    (id,) = ids()
    return id


def status_on(hubs: Hubs, place: int, id: str) -> str:
    return hubs.person(hubs.hubs[place].port).request("GET", f"/api/asks/{id}").json["ask"]["status"]


@contextlib.contextmanager
def answering(hubs: Hubs, wait_s: float = 0) -> Iterator[list[str]]:
    """A person who answers all that comes, anywhere, with a note that names the question; the titles."""
    is_over, done, failures = threading.Event(), [], []

    def work() -> None:
        person = hubs.person()
        while not is_over.wait(0.02) and not failures:
            try:
                for ask in person.open():
                    time.sleep(wait_s)
                    person.answer(ask["session_id"], f"for {ask['title']}", list(options(person, ask["session_id"]))[0])
                    done.append(ask["title"])
            except LOST:
                pass
            except Refused as refused:
                if refused.status not in (409, 410, 503):
                    failures.append(refused)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield done
    finally:
        is_over.set()
        thread.join(30)
    assert not failures, failures


def options(person: Any, id: str) -> Iterator[str]:
    whole = person.request("GET", f"/api/asks/{id}").json
    yield from (option["id"] for option in whole["form"]["fields"][0]["options"])


@test("asked on one, answered on another, collected on the third, in every order", "R13.1 P24")
def every_order() -> None:
    with Hubs() as hubs:
        for asked, answered, collected in ORDERS:
            title = f"on {asked}, {answered}, {collected}"
            call, id = ask_on(hubs, asked, title)
            receipt = hubs.person(hubs.hubs[answered].port).answer(id, f"note of {title}", "right")
            assert receipt["status"] == "submitted", receipt
            result = call.result(HEARD_S + 10)
            assert result["session_id"] == id and outcome_of(result) == ("submitted", f"note of {title}"), result
            assert hubs.agent(hubs.hubs[collected].port).collect(id)["selection"]["selected_ids"] == ["right"]
            for place in range(3):  # a second answer is refused immediately, on every hub
                try:
                    hubs.person(hubs.hubs[place].port).answer(id, f"too late {place} {title}", "left")
                    raise AssertionError(f"answered twice, on {place}")
                except Refused as refused:
                    assert refused.code == "already_answered", refused
        assert all(len(row.answers) == 1 for row in hubs.rows())


@test("every request to a random hub: agents and people never notice", "R13.1 P3 P4")
def any_hub() -> None:
    with Hubs() as hubs, Crew(hubs, 1) as crew:
        crew.start(agents=4, wires=2, people=3)
        wait_for_count(lambda: len(crew.history.results), scaled(100), "results")
        crew.settle()
        result = crew.judge()
        counted(" ".join(f"{name}={value}" for name, value in result.items()))
        note(f"{latency(crew.woken_s)}; requests {dict(hubs.balancer.counts)}")
        assert all(hubs.balancer.counts[place] >= 10 for place in range(3)), hubs.balancer.counts
        assert crew.counts["calls lost"] == 0, crew.counts


@test("two people on two hubs answer at the same time: one wins, the other learns who", "P3 R5.3")
def races() -> None:
    with Hubs() as hubs:
        rounds = scaled(60)
        for number in range(rounds):
            title = f"race {number}"
            call, id = ask_on(hubs, number % 3, title)
            barrier = threading.Barrier(3)

            def attempt(place: int) -> Any:
                barrier.wait()
                try:
                    return hubs.person(hubs.hubs[place].port).answer(id, f"{title} by {place}", "left")
                except Refused as refused:
                    assert refused.status == 409 and refused.code == "already_answered", refused
                    assert refused.error["detail"]["answered_by"]["via"] == "api", refused
                    return None
            tries = [Background(lambda place=place: attempt(place)) for place in range(3)]
            won = [place for place, one in enumerate(tries) if one.result()]
            assert len(won) == 1, won
            assert outcome_of(call.result(HEARD_S + 10)) == ("submitted", f"{title} by {won[0]}")
        counted(f"races={rounds} doubled=0")


@test("the same call at three hubs at the same time is one ask", "R13.1 R5.5")
def same_call() -> None:
    with Hubs() as hubs, contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(hub.home)) for hub in hubs.hubs]
        for wire in wires:
            wire.hello("agent", **{"as": "same"})
        rounds = scaled(200)
        for number in range(rounds):
            words = question(f"same {number}")
            if number % 2:  # else it is found by its words alone
                words["idempotency_key"] = f"key {number}"
            begun = [wire.start("ask/create", tool="provide_choice", wait_seconds=0, arguments=words) for wire in wires]
            ids = {wire.finish(one, HANG_S)["session_id"] for wire, one in zip(wires, begun)}
            assert len(ids) == 1, (number, ids)
            hubs.person(hubs.hubs[number % 3].port).request("POST", f"/api/asks/{ids.pop()}/cancel", {})
        rows = [row for row in hubs.rows() if row.question.startswith("same ")]
        assert len(rows) == rounds, len(rows)
        counted(f"same calls={3 * rounds} asks={len(rows)}")


@test("a call that comes again at a hub that has heard of neither its ask nor the answer gets that answer", "R13.1 R5.5 P1 P4")
def comes_again_unheard() -> None:
    def again(place: int, words: dict[str, Any], wait_s: int = 0) -> dict[str, Any]:
        with Wire(hubs.hubs[place].home) as wire:
            wire.hello("agent", **{"as": "again"})
            return wire.call("ask/create", tool="provide_choice", wait_seconds=wait_s, arguments=words)

    with postgres.Server() as server, Hubs(3, server, is_proxied=True) as hubs:
        for proxy in hubs.proxies[1:]:
            proxy.notifications = "drop"  # they look by themselves every 2 s
        for number in range(scaled(8)):
            words = question(f"again {number}", **({"idempotency_key": f"key {number}"} if number % 2 else {}))
            made = again(0, words)
            hubs.person(hubs.hubs[0].port).answer(made["session_id"], f"for {number}")
            if "idempotency_key" in words:
                try:
                    raise AssertionError(again(2, {**words, "prompt": words["prompt"] + " Or not?"}))
                except WireError as refused:
                    assert refused.data["code"] == "conflicting_arguments", refused.data
            got = again(1, words, 60)  # a look of its own may have found the ask before its answer was stored
            assert got["session_id"] == made["session_id"] and outcome_of(got) == ("submitted", f"for {number}"), (made, got)
        assert all(len(row.answers) == 1 for row in hubs.rows())


@test("taken back, extended, withdrawn and timed out on another hub than it was asked on", "R13.1 R5.4")
def other_acts() -> None:
    with Hubs() as hubs:
        home = [hub.home for hub in hubs.hubs]
        assert home[0].sayso("settings", "set", "deliver_after", "20").code == DONE
        call, id = ask_on(hubs, 0, "undo", timeout_seconds=600)
        with Wire(home[1]) as one, Wire(home[2]) as two:
            one.hello("person", channel="terminal")
            two.hello("person", channel="terminal")
            wait_until(lambda: one.call("settings/list", name="deliver_after")["settings"][0]["value"] in (20, "20"),
                       "the setting is known there", HEARD_S)
            assert one.call("ask/answer", session_id=id, selected_ids=["left"])["undo_ms"] > 5000
            wait_until(lambda: status_on(hubs, 2, id) == "submitted", "the third hub knows", HEARD_S)
            two.call("ask/undo", session_id=id)
            wait_until(lambda: status_on(hubs, 1, id) == "pending", "it is open again", HEARD_S)
            one.call("ask/extend", session_id=id, seconds=5000)
            assert call.is_alive()
            two.call("ask/answer", session_id=id, selected_ids=["right"])
            one.call("ask/send", session_id=id)
        assert call.result(HEARD_S + 10)["selection"]["selected_ids"] == ["right"]
        with Wire(home[0]) as asking, Wire(home[1]) as other:
            for wire in (asking, other):
                wire.hello("agent", **{"as": "withdrawer"})
            waiting = asking.start("ask/create", tool="provide_choice", arguments=question("withdraw"))
            id = seen_on(hubs, "withdraw")
            other.call("ask/withdraw", session_id=id)
            told = asking.finish(waiting, HEARD_S + 10)
            assert told["action_status"] == "cancelled" and status_on(hubs, 2, id) == "withdrawn", told
        began = time.monotonic()
        calls = [Background(lambda place=place: hubs.agent(hubs.hubs[place].port).ask("timed", timeout_seconds=3)) for place in range(3)]
        results = [one.result(HANG_S) for one in calls]
        assert {one["action_status"] for one in results} == {"timeout"} and len({one["session_id"] for one in results}) == 1, results
        took_s = time.monotonic() - began
        assert took_s >= 3 - CLOCK_S, took_s
        (row,) = [row for row in hubs.rows() if row.question == "timed"]
        assert not row.answers and row.ended_ms >= row.deadline_ms, row


@test("settings, tokens and rules of one hub hold on all", "R13.1 R12.1")
def shared_tables() -> None:
    with Hubs() as hubs:
        home = [hub.home for hub in hubs.hubs]
        assert home[0].sayso("settings", "set", "theme", "dark").code == DONE
        wait_until(lambda: home[2].sayso("settings", "get", "theme").out == "dark\n", "the setting is on the third", HEARD_S)
        assert home[1].sayso("token", "new", "--kind", "person", "--label", "short").code == DONE
        token = home[1].sayso("token", "new", "--kind", "person", "--label", "lived").out.split()[0]
        wait_until(lambda: all(exchange(hub.port, "GET", "/api/asks", token=token).status == 200 for hub in hubs.hubs),
                   "the token opens all", HEARD_S)
        (id,) = [row["id"] for row in home[2].sayso("token", "list", "--json").json if row["label"] == "lived"]
        assert home[2].sayso("token", "revoke", id).code == DONE
        wait_until(lambda: quietly(lambda: all(  # who holds it is cut off, whatever was under way
            exchange(hub.port, "GET", "/api/asks", token=token).status == 401 for hub in hubs.hubs)), "the token opens none",
            HEARD_S)


@test("a conversation goes on wherever its host and its person come in", "R13.1 R3.4")
def conversations() -> None:
    with Hubs() as hubs:
        host = hubs.token("host")
        wait_until(lambda: all(exchange(hub.port, "POST", "/conversations", {}, host).status == 200 for hub in hubs.hubs),
                   "the host's token opens all", HEARD_S)
        for number in range(scaled(5)):
            made = exchange(hubs.port, "POST", "/conversations", {}, host).json
            path = f"/conversations/{made['conversation']}"
            call = {"id": "t1", "name": "ask_user_question", "input": {"questions": [
                {"question": "Which store?", "options": [{"label": "SQLite"}, {"label": "PostgreSQL"}]}]}}
            said = exchange(hubs.port, "POST", f"{path}/tool-calls", {"tool_calls": [call]}, host)
            assert said.status == 200 and said.json["state"]["type"] == "awaiting_user_response", said

            def respond() -> bool:
                reply = exchange(hubs.port, "POST", f"{path}/respond", {"answers": {"Which store?": "PostgreSQL"}}, hubs.person_token)
                assert reply.status in (200, 404, 409, 503), reply  # it is being asked
                return reply.status == 200
            wait_until(respond, "the question is asked and answered", HEARD_S)
            for hub in hubs.hubs:
                state = exchange(hub.port, "GET", path, token=host).json["state"]
                assert state["type"] == "llm_requesting", state


def node_of(folder: str) -> str:
    """Node as the tests of that folder have it."""
    if subprocess.run([str(ROOT / "tests" / folder / "install")], stdout=subprocess.DEVNULL).returncode != 0:
        raise Skip(f"what tests/{folder} needs could not be installed")
    ours = ROOT / "tests/mcp/node_modules/.bin/node"
    return str(ours) if ours.exists() else "node"


@test("official MCP clients of both revisions, every request to any hub", "R13.1 R10.1 R5.7")
def official_clients() -> None:
    node = node_of("mcp")
    for hold, wait_s in (('{"*":300}', 0.0), ('{"*":1}', 1.5)):  # the second: they come back, to another hub
        with Hubs(env={"SAYSO_HOLD_LIMITS": hold}) as hubs, answering(hubs, wait_s) as done:
            ran = subprocess.run([node, str(ROOT / "tests/mcp/lib/balanced.mjs"), str(scaled(3 if wait_s == 0 else 1))],
                                 env={**os.environ, "SAYSO_URL": f"http://127.0.0.1:{hubs.port}/mcp",
                                      "SAYSO_TOKEN": hubs.agent_token}, capture_output=True, text=True, timeout=300 * SLACK)
            kinds = [json.loads(line) for line in ran.stdout.splitlines()]
            wrong = [one for kind in kinds for one in kind["wrong"]]
            assert ran.returncode == 0 and not wrong and len(kinds) == 3, f"{wrong[:3]} {ran.stderr[-2000:]}"
            titles = [row.question for row in hubs.rows()]
            assert len(titles) == len(set(titles)) == sum(kind["asks"] for kind in kinds), "asked twice"
            note(f"hold {hold}: {len(done)} answers, requests {dict(hubs.balancer.counts)}")


@test("the portal's line is any hub's: what was asked elsewhere appears, and its answer arrives", "R13.1 R7.1")
def page_by_hand() -> None:
    with Hubs() as hubs, Page(hubs.port) as page:
        hello(page, code=code_of(link_of(hubs.hubs[0].home)))
        page.call("ask/watch", which="active")
        for place in range(3):
            title = f"page {place}"
            call = Background(lambda: hubs.agent(hubs.hubs[place].port).ask(title))
            event = page.wait_event("ask/changed", lambda params: params["ask"]["title"] == title, HEARD_S + 10)
            id = event["ask"]["session_id"]
            page.call("ask/answer", session_id=id, selected_ids=["right"], global_annotation=f"note {place}")
            page.call("ask/send", session_id=id)
            assert outcome_of(call.result(HEARD_S + 10)) == ("submitted", f"note {place}")


@test("the portal in Chromium behind the balancer answers what was asked on any hub", "R13.1 R7.1")
def chromium() -> None:
    node = node_of("browser")
    if not os.path.exists("/usr/bin/chromium-headless-shell"):
        raise Skip("there is no Chromium")
    with Hubs(is_public=True) as hubs:
        titles = [f"Browser question {place}" for place in range(3)]
        calls = [Background(lambda place=place: hubs.agent(hubs.hubs[place].port).ask(titles[place], 120)) for place in range(3)]
        for title in titles:
            seen_on(hubs, title)
        ran = subprocess.run([node, str(ROOT / "tests/browser/lib/balanced.mjs"), *titles], capture_output=True, text=True,
                             env={**os.environ, "SAYSO_URL": f"https://localhost:{hubs.port}/", "SAYSO_TOKEN": hubs.person_token},
                             timeout=120 * SLACK)
        said = json.loads(ran.stdout.splitlines()[-1])
        assert said["answered"] == titles and not said["complaints"], (said, ran.stderr[-2000:])
        for call in calls:
            assert call.result(HEARD_S + 10)["selection"]["selected_ids"] == ["right"]


@test("a terminal on one hub answers what was asked on another", "R13.1 R6.1")
def terminal() -> None:
    with Hubs() as hubs, Tty() as tty:
        call, id = ask_on(hubs, 0, "In the terminal?")
        process = tty.start(hubs.hubs[2].home, "attach", id, env={"TERM": "xterm-256color", "SAYSO_DELIVER_AFTER": "0"})
        tty.read_until("In the terminal\\?")
        time.sleep(1)  # keys are dead for half a second after an ask appears
        tty.type("2")
        time.sleep(0.2)
        tty.type("\r")
        result = call.result(HEARD_S + 30)
        assert result["selection"]["selected_ids"] == ["right"], (result, tty.screen)
        process.wait(HANG_S)


@test("a hub that is told to stop hands its work to the others; clients don't notice", "R13.1 R10.5")
def drained() -> None:
    with Hubs() as hubs, Crew(hubs, 2) as crew:
        crew.start(agents=4, wires=0, people=2)
        def more_come() -> None:
            wait_for_count(lambda: len(crew.woken_s), len(crew.woken_s) + 4, "results")
        for hub in hubs.hubs:
            more_come()
            assert hub.end(signal.SIGTERM) == 0, hub.said()
            more_come()
            hub.start()
            hub.wait_ready()
        crew.settle()
        crew.judge()


run()
