"""The elicit tools by the command line: every kind asked, shown, answered; restarts, races, hostile words.

Proves: R4.1 R4.3 R4.4 R4.6
"""
from __future__ import annotations

import json
import subprocess
from typing import Any

from api import Office
from cli_stage import DONE, FAILED, PENDING, REFUSED, TIMED_OUT, USAGE, collect, end, error_of, expect, row_of
from harness import Home, Result, Wire, WireError, run, side_by_side, test, wait_until
from tty_stage import Tty

PROPERTIES = {
    "name": {"type": "string", "title": "Name", "description": "Of the release", "minLength": 2, "maxLength": 9},
    "a=b": {"type": "string", "default": "kept"},
    "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
    "loud": {"type": "boolean", "default": True},
    "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "maxItems": 2},
}
FORM = {"message": "Details\nof the release", "title": "Release",
        "requestedSchema": {"type": "object", "properties": PROPERTIES, "required": ["name"]}}
TEMPO = {"message": "What tempo?", "minimum": 40, "maximum": 200, "step": 0.5, "unit": "BPM"}
NAME = {"message": "What name?", "field_name": "name", "minLength": 2, "maxLength": 9, "format": "email"}
# tool, arguments, how it is answered, key and value of the result, what a script reads, words that show prints
KINDS: dict[str, tuple[str, dict[str, Any], list[str], str, Any, str, list[str]]] = {
    "options": ("elicit_choice", {"message": "Which?", "options": [{"value": "a", "label": "Alpha"},
                                                                   {"value": "b", "label": "Beta"}]},
                ["--select", "b"], "choice", "b", "b", ["Choose one", "- b  Beta"]),
    "enum": ("elicit_choice", {"message": "Which?", "enum": ["a", "b"], "enumNames": ["Alpha", "Beta"]},
             ["--field", "choice=a"], "choice", "a", "a", ["- a  Alpha"]),
    "text": ("elicit_input", {"message": "What name?"}, ["--text", "Heron\n2"], "input", "Heron\n2", "Heron\n2",
             ["Your own answer"]),
    "text with limits": ("elicit_input", NAME, ["--text", "a@b.de"], "name", "a@b.de", "a@b.de",
                         ["(email; at least 2 characters; at most 9 characters)"]),
    "whole number": ("elicit_input", {"message": "How many?", "type": "integer", "minimum": 1},
                     ["--field", "input=3"], "input", 3, "3", ["input: A number, ", "1 or more (whole number)"]),
    "yes": ("elicit_confirm", {"message": "Go?"}, ["--field", "confirmed=yes"], "confirmed", True, "true",
            ["confirmed: Yes or no"]),
    "number": ("elicit_number", TEMPO, ["--field", "value=92.5"], "value", 92.5, "92.5",
               ["value: A number", "from 40 to 200 (BPM; in steps of 0.5)"]),
    "at most": ("elicit_number", {"message": "?", "maximum": 7}, ["--field", "value=-1e2"], "value", -100, "-100",
                ["7 or less"]),
    "rating": ("elicit_number", {"message": "?", "style": "rating"}, ["--field", "value=4"], "value", 4, "4",
               ["from 1 to 5 (whole number)"]),
    "form": ("elicit_form", FORM, ["--field", "name=Ada", "--field", "a=b=c=d", "--field", "tags=z,x", "--field", "loud=n"],
             "content", {"name": "Ada", "a=b": "c=d", "count": 2, "loud": False, "tags": ["x", "z"]},
             '{"name":"Ada","a=b":"c=d","count":2,"loud":false,"tags":["x","z"]}',
             ["[name: Name]", "Of the release", "[a=b]", "kept", "optional", "count: A number", "preselected: 2", "preselected: yes",
              "Choose 0 to 2", "- l  Large"]),
}


def ask(home: Home, tool: str, arguments: dict[str, Any], *options: str, **settings: Any) -> Result:
    return home.sayso("ask", "--tool", tool, "--from", "-", *options, input=json.dumps(arguments), **settings)


def ask_and_leave(home: Home, tool: str, arguments: dict[str, Any], *options: str) -> str:
    asked = ask(home, tool, arguments, "--wait", "0", "--json", *options)
    assert asked.code == PENDING and asked.json["action"] == "pending", asked
    assert "get_answer" in asked.json["instructions"], asked
    return asked.json["session_id"]


for kind, (tool, arguments, answer, key, value, printed, shown) in KINDS.items():
    @test(f"{tool}, {kind}: asked, shown, answered; the script and the agent read it", "R4.1 R4.6 R10.3")
    def every_kind(home: Home, tool=tool, arguments=arguments, answer=answer, key=key, value=value, printed=printed,
                   shown=shown) -> None:
        session_id = ask_and_leave(home, tool, arguments)
        page = expect(home.sayso("show", session_id), DONE, *shown)
        assert "{" not in page.out, page
        expect(home.sayso("list"), DONE, arguments.get("title", arguments["message"].split("\n")[0]))
        home.kill_hub()  # what was asked is there after a crash, and so is what was answered
        expect(home.sayso("answer", session_id, *answer), DONE, "Saved: ")
        home.kill_hub()
        result = ask(home, tool, arguments, "--json")
        assert result.code == DONE and result.json["action"] == "accept" and result.json["replayed"], result
        assert result.json[key] == value and result.json["explicit"] is True, result
        expect(home.sayso("show", session_id), DONE, "answered", result.json["summary"].split("\\n")[0])
        again = ask_and_leave(home, tool, {**arguments, "idempotency_key": "2"})
        expect(home.sayso("answer", again, *answer), DONE)
        said = ask(home, tool, {**arguments, "idempotency_key": "2"})
        assert said.code == DONE and said.out == printed + "\n", said
        collected = collect(home, session_id)  # by its id alone, whatever asked it
        assert collected.json[key] == value, collected


BAD_ANSWERS = [
    ("elicit_choice", {"message": "?", "enum": ["a", "b"]}, ["--select", "c"], "bad_enum", "/selected_ids/0"),
    ("elicit_choice", {"message": "?", "enum": ["a", "b"]}, ["--select", "a,b"], "out_of_range", "/selected_ids"),
    ("elicit_choice", {"message": "?", "enum": ["a", "b"]}, ["--text", "a"], "unsupported_flag", "/custom_input"),
    ("elicit_input", NAME, ["--text", "nobody"], "bad_format", "/custom_input"),
    ("elicit_input", NAME, ["--text", "a@b.example"], "too_long", "/custom_input"),
    ("elicit_confirm", {"message": "?"}, ["--field", "confirmed=maybe"], "bad_type", "/fields/confirmed"),
    ("elicit_confirm", {"message": "?"}, ["--field", "confirmed=1"], "bad_type", "/fields/confirmed"),
    ("elicit_number", TEMPO, ["--field", "value=201"], "out_of_range", "/fields/value"),
    ("elicit_number", TEMPO, ["--field", "value=40.2"], "out_of_range", "/fields/value"),
    ("elicit_number", TEMPO, ["--field", "value=fast"], "bad_type", "/fields/value"),
    ("elicit_number", TEMPO, ["--field", "tempo=50"], "unknown_property", "/fields/tempo"),
    ("elicit_form", FORM, ["--field", "size=s"], "empty_text", "/custom_input"),
    ("elicit_form", FORM, ["--field", "name=Ada", "--field", "count=1.5"], "out_of_range", "/fields/count"),
    ("elicit_form", FORM, ["--field", "name=Ada", "--field", "tags=x,y,z"], "out_of_range", "/fields/tags"),
]


@test("an answer that does not fit is refused with its place, and the ask stays open", "R4.1 R2.3")
def bad_answers(home: Home) -> None:
    for number, (tool, arguments, answer, code, path) in enumerate(BAD_ANSWERS):
        session_id = ask_and_leave(home, tool, {**arguments, "title": f"{number}"}, "--as", f"{number}")
        error_of(home.sayso("answer", session_id, *answer, "--json"), code, path)
        assert row_of(home, session_id)["status"] == "pending", (tool, answer)


@test("no, declined, cancelled and silence: told apart, none prints a yes", "R4.3 R5.6 R10.3")
def endings(home: Home) -> None:
    def decided(number: int, *act: str) -> tuple[Result, dict[str, Any]]:
        question = {"message": f"Go {number}?"}
        session_id = ask_and_leave(home, "elicit_confirm", question)
        expect(home.sayso(act[0], session_id, *act[1:]), DONE)
        return ask(home, "elicit_confirm", question), collect(home, session_id).json
    said, result = decided(1, "answer", "--field", "confirmed=No")
    assert (said.code, said.out) == (REFUSED, "false\n") and "declined" in said.err, said
    assert (result["action"], result["confirmed"]) == ("decline", False), result
    said, result = decided(2, "decline")
    assert said.code == REFUSED and "declined" in said.err and result["confirmed"] is False, (said, result)
    said, result = decided(3, "cancel", "--note", "later")
    assert (said.code, said.out) == (REFUSED, "") and result["action"] == "cancel", (said, result)
    assert "confirmed" not in result and result["global_annotation"] == "later", result
    expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
    def silence(tool: str, arguments: dict[str, Any]) -> None:
        silent = ask(home, tool, {**arguments, "timeout_seconds": 1}, "--json")
        assert silent.code == TIMED_OUT and silent.json["action"] == "timeout", silent
        assert not {"confirmed", "choice", "input", "value", "content", "name"} & set(silent.json), silent
    side_by_side(*[lambda row=row: silence(*row[:2]) for row in KINDS.values()])


@test("two people at the same time: one answer wins, the other learns who; the same again is already so", "R5.3 P2")
def two_at_once(home: Home) -> None:
    session_id = ask_and_leave(home, "elicit_number", TEMPO)
    results: list[Result] = []
    side_by_side(*[lambda value=value: results.append(
        home.sayso("answer", session_id, "--field", f"value={value}", "--json")) for value in (60, 61)])
    won = [result for result in results if result.code == DONE]
    lost = [result for result in results if result.code == FAILED]
    assert len(won) == len(lost) == 1 and lost[0].json["error"]["code"] == "already_answered", results
    value = ask(home, "elicit_number", TEMPO, "--json").json["value"]
    assert value in (60, 61)
    again = home.sayso("answer", session_id, "--field", f"value={value}", "--json")
    assert again.code == DONE and again.json["already"] is True, again


@test("the same call again is the same ask, another tool with the same words is not", "R5.5")
def one_ask(home: Home) -> None:
    first = ask_and_leave(home, "elicit_choice", {"message": "?", "enum": ["a", "b"]})
    assert ask_and_leave(home, "elicit_choice", {"message": "?", "enum": ["a", "b"]}) == first
    assert ask_and_leave(home, "elicit_input", {"message": "?"}) != first, "another tool is another question"
    assert len(home.sayso("list", "--json").json) == 2


@test("a destructive confirmation takes the code typed at a terminal; refusing takes none", "R4.6 R12.1")
def destructive(home: Home) -> None:
    question = {"message": "Delete 5 artifacts?", "destructive": True}
    session_id = ask_and_leave(home, "elicit_confirm", question)
    expect(home.sayso("show", session_id), DONE, "estructive")
    alone = end(home, home.spawn("answer", session_id, "--field", "confirmed=yes", "--json", stdin=subprocess.DEVNULL,
                                 start_new_session=True))
    error_of(alone, "wrong_state", "/session_id")
    with Tty() as tty:
        process = tty.start(home, "answer", session_id, "--field", "confirmed=yes")
        code = tty.read_until(r"Type (\d{3}) ")[1]
        assert "> {\"confirmed\":true}" in tty.screen, tty.screen
        tty.type(code + "\n")
        assert end(home, process).code == DONE
    assert collect(home, session_id).json["confirmed"] is True
    refused = ask_and_leave(home, "elicit_confirm", {**question, "idempotency_key": "2"})
    expect(home.sayso("decline", refused), DONE)
    no = ask_and_leave(home, "elicit_confirm", {**question, "idempotency_key": "3"})
    expect(end(home, home.spawn("answer", no, "--field", "confirmed=no", stdin=subprocess.DEVNULL,
                                start_new_session=True)), DONE)
    assert collect(home, no).json["confirmed"] is False


HOSTILE = "k\u202e\x1b[2J\u200b"
HOSTILE_CALLS = [
    ("elicit_form", {"message": "?", "requestedSchema": {"type": "object", "properties": {
        HOSTILE: {"type": "string", "title": HOSTILE, "description": HOSTILE, "default": HOSTILE}}}}),
    ("elicit_choice", {"message": HOSTILE, "options": [{"value": HOSTILE, "label": "L" + HOSTILE}]}),
    ("elicit_number", {"message": HOSTILE, "unit": HOSTILE}),
    ("elicit_input", {"message": HOSTILE, "field_name": HOSTILE}),
]


@test("hostile names, labels, units and defaults can't act on the screen", "R6.5 R4.1")
def hostile(home: Home) -> None:
    for tool, arguments in HOSTILE_CALLS:
        session_id = ask_and_leave(home, tool, arguments)
        for said in (home.sayso("show", session_id), home.sayso("list")):
            assert said.code == DONE and not set("\x1b\u202e\u200b") & set(said.out), said
    answered = home.sayso("answer", ask_and_leave(home, *HOSTILE_CALLS[0]), "--field", f"{HOSTILE}=x\x1b[2J")
    assert answered.code == DONE and "\x1b" not in answered.out, answered
    result = ask(home, *HOSTILE_CALLS[0], "--json")
    assert result.json["content"] == {HOSTILE: "x\x1b[2J"} and "\x1b" not in result.out, result


@test("long hostile property names and schemas are refused, small and harmless", "R2.1 R6.5")
def hostile_schemas(home: Home) -> None:
    long = HOSTILE + "x" * 500
    deep: Any = {"type": "string"}
    for _ in range(25):
        deep = {"type": "object", "properties": {long: deep}}
    for schema in (deep, {"type": "object", "properties": {long: {"type": "string"}}},
                   {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(5000)}},
                   {"type": "object", "properties": {"/" * 64: {"type": "array", "items": {"type": "string", "enum": [long]}}}},
                   {"type": "object", "properties": {"f": {"type": "string", "enum": [str(i) for i in range(5000)]}}},
                   {"$ref": "http://127.0.0.1:1/s.json"}, {"type": "object", "properties": {"f": {"type": "string", "pattern": "(a+)+$"}}}):
        error = error_of(ask(home, "elicit_form", {"message": "?", "requestedSchema": schema}, "--json"), None)
        assert error["path"].startswith("/requestedSchema/") and not set("\x1b\u202e\u200b") & set(error["path"] + error["message"])
    assert not home.hub_pid(), "a bad call started a hub"


@test("a question that speaks of a secret is marked; a field that asks for one is refused", "R4.4")
def secrets(home: Home) -> None:
    expect(home.sayso("show", ask_and_leave(home, "elicit_input", {"message": "Your GitHub token, please?"})), DONE,
           "Don't put passwords")
    shown = home.sayso("show", ask_and_leave(home, "elicit_input", {"message": "Which key shall the song be in?"}))
    assert "Don't put" not in shown.out, shown
    for arguments in ({"message": "?", "field_name": "password"}, {"message": "?", "secret": True}):
        error_of(ask(home, "elicit_input", arguments, "--json"), "sensitive_input_refused")


@test("--tool wants --from and a tool that asks", "R10.3")
def tool_option(home: Home) -> None:
    expect(home.sayso("ask", "--tool", "elicit_confirm", "T"), USAGE, "--from")
    expect(ask(home, "check_decision", {}), USAGE, "elicit_confirm")
    expect(ask(home, "elicit_confirm", {"message": "?"}, "--wait", "0", "--json"), PENDING)
    assert not home.sayso("ask", "--help").out.count("--tool") < 2


@test("over the wire: tool and arguments as they are, fields in the answer, an unknown tool refused", "R10.4 R4.1")
def wire(home: Home) -> None:
    home.sayso("list")
    with Wire(home) as agent, Wire(home) as person:
        agent.hello("agent", name="wire")
        person.hello("person")
        call = agent.start("ask/create", tool="elicit_form", arguments=FORM, tag="t")
        session_id = wait_until(lambda: person.call("ask/list")["asks"], "it is asked")[0]["session_id"]
        person.call("ask/answer", session_id=session_id, fields={"name": "Ada", "count": None, "a=b": ""})
        result = agent.finish(call)
        assert result["content"] == {"name": "Ada", "loud": True}, result
        try:
            agent.call("ask/create", tool="elicit_everything", arguments={})
            raise AssertionError("an unknown tool was taken")
        except WireError as error:
            assert error.data["code"] == "bad_enum", error


@test("over REST: fields by name, refused with their place, a destructive yes not at all, a no immediately", "R10.4 R4.1 R12.1")
def rest() -> None:
    with Office() as office:
        def answer(session_id: str, **fields: Any) -> Any:
            return office.post(f"/api/asks/{session_id}/answer", {"fields": fields})
        tempo = ask_and_leave(office.home, "elicit_number", TEMPO)
        refused = answer(tempo, value=201)
        assert refused.status == 422 and refused.error["path"] == "/fields/value", refused
        assert answer(tempo, value=120).status == 200
        whole = office.whole(tempo)
        assert whole["result"]["action"] == "accept" and whole["result"]["value"] == 120, whole
        details = ask_and_leave(office.home, "elicit_form", FORM)
        assert answer(details, name="Ada", tags=["z"], loud=None).status == 200
        assert office.whole(details)["result"]["content"] == {"name": "Ada", "a=b": "kept", "count": 2, "tags": ["z"]}
        delete = ask_and_leave(office.home, "elicit_confirm", {"message": "Delete?", "destructive": True})
        refused = answer(delete, confirmed=True)
        assert refused.status >= 400 and refused.error["code"] == "wrong_state", refused
        assert "confirmed" not in office.whole(delete)["result"]
        assert answer(delete, confirmed=False).status == 200
        assert office.whole(delete)["result"]["confirmed"] is False


run()
