"""ask_user_question by the command line and REST: shown, answered, restarted, raced, with hostile words.

Proves: R3.1 R3.2 R3.3 R3.5
"""
from __future__ import annotations

import json
from typing import Any

from api import Office
from cli_stage import DONE, FAILED, PENDING, REFUSED, TIMED_OUT, USAGE, collect, error_of, expect, row_of
from harness import UNLIMITED, Home, Result, Wire, WireError, run, scaled, side_by_side, test, wait_until

CACHE = {"question": "Which cache?\nIt is needed now.", "header": "Cache",
         "options": [{"label": "Redis", "description": "fast"}, {"label": "None, please", "preview": {
             "type": "diff", "text": "-redis"}}]}
TESTS = {"question": "Which tests?", "multiSelect": True,
         "options": [{"label": "Unit"}, {"label": "Lint"}, {"label": "Load"}]}
BOTH = {"questions": [CACHE, TESTS]}
ANSWER = ["--field", "q1=None, please", "--field", "q2=Load,Unit", "--field-note", "q2=load once"]
ANSWERS = {CACHE["question"]: "None, please", TESTS["question"]: "Unit, Load"}
LIST = [{"question": CACHE["question"], "header": "Cache", "selected": ["None, please"]},
        {"question": TESTS["question"], "selected": ["Unit", "Load"], "notes": "load once"}]


def ask(home: Home, arguments: dict[str, Any], *options: str) -> Result:
    return home.sayso("ask", "--tool", "ask_user_question", "--from", "-", *options, input=json.dumps(arguments))


def ask_and_leave(home: Home, arguments: dict[str, Any], *options: str) -> str:
    asked = ask(home, arguments, "--wait", "0", "--json", *options)
    assert asked.code == PENDING and asked.json["status"] == "pending", asked
    assert "get_answer" in asked.json["instructions"] and "answers" not in asked.json, asked
    return asked.json["session_id"]


@test("asked, listed, shown whole, answered; restarts in between; the script reads the answers", "R3.2 R3.5 R5.2")
def whole_way(home: Home) -> None:
    session_id = ask_and_leave(home, BOTH)
    expect(home.sayso("list"), DONE, "Which cache? (+1)")
    shown = expect(home.sayso("show", session_id), DONE, "[q1: Cache]", "Which cache?", "It is needed now.", "- Redis",
                   "fast", "-redis", "[q2: Which tests?]", "- Lint", "q1: Choose 1", "q2: Choose 1 to 3, or write your own answer")
    assert shown.out.count("Redis") == 1 and "{" not in shown.out, shown
    home.kill_hub()
    expect(home.sayso("answer", session_id, *ANSWER), DONE, "Saved: None, please, Unit, Load")
    home.kill_hub()
    result = ask(home, BOTH, "--json")
    assert result.code == DONE and result.json["status"] == "answered" and result.json["replayed"], result
    assert (result.json["answers"], result.json["answer_list"]) == (ANSWERS, LIST), result
    assert "field_annotations" not in result.json, "the notes stand in the list"
    expect(home.sayso("show", session_id), DONE, "answered", "None, please", "Load", "load once")
    assert collect(home, session_id).json["answers"] == ANSWERS
    again = ask_and_leave(home, {**BOTH, "idempotency_key": "2"})
    expect(home.sayso("answer", again, *ANSWER), DONE)
    said = ask(home, {**BOTH, "idempotency_key": "2"})
    assert said.code == DONE and json.loads(said.out) == ANSWERS and said.out.count("\n") == 1, said


@test("one question: by --select and --text as any ask, or by its name", "R3.2 R3.5")
def one_question(home: Home) -> None:
    ways = [(["--select", "None, please"], "None, please", {"selected": ["None, please"]}),
            (["--text", "Memcached"], "Memcached", {"selected": [], "other": "Memcached"}),
            (["--other", "q1=a=b, c"], "a=b, c", {"selected": [], "other": "a=b, c"}),
            (["--field", "q1=Redis", "--other", "q1=for now"], "Redis, for now", {"selected": ["Redis"], "other": "for now"})]
    for number, (answer, text, item) in enumerate(ways):
        arguments = {"questions": [CACHE], "title": f"{number}"}
        session_id = ask_and_leave(home, arguments)
        expect(home.sayso("show", session_id), DONE, "[Cache]", "It is needed now.")
        expect(home.sayso("answer", session_id, *answer), DONE)
        result = ask(home, arguments, "--json").json
        assert result["answers"] == {CACHE["question"]: text}, result
        assert result["answer_list"] == [{"question": CACHE["question"], "header": "Cache", **item}], result


@test("cancelled, declined and silent: no answers, and the words of the seed", "R3.2 R5.6 R10.3")
def endings(home: Home) -> None:
    def decided(number: int, act: str) -> tuple[Result, dict[str, Any]]:
        arguments = {**BOTH, "title": f"{number}"}
        session_id = ask_and_leave(home, arguments)
        expect(home.sayso(act, session_id), DONE)
        return ask(home, arguments), collect(home, session_id).json
    said, result = decided(1, "cancel")
    assert (said.code, said.out) == (REFUSED, "") and "cancelled" in said.err, said
    assert (result["status"], result["summary"]) == ("cancelled", "User cancelled the question"), result
    said, declined = decided(2, "decline")
    assert said.code == REFUSED and "declined" in said.err and declined["declined"] is True, (said, declined)
    expect(home.sayso("settings", "set", "timeout_action", "submit_defaults"), DONE)
    silent = ask(home, {**BOTH, "timeout_seconds": 1}, "--json")
    assert silent.code == TIMED_OUT and silent.json["status"] == "timeout", silent
    assert not any({"answers", "answer_list"} & set(ended) for ended in (result, declined, silent.json))


BAD_ANSWERS = [
    (["--field", "q1=Redis"], "out_of_range", "/fields/q2"),
    (["--field", "q1=Rediss", "--field", "q2=Unit"], "bad_enum", "/fields/q1/selected_ids/0"),
    (["--field", "q1=Redis,None, please", "--field", "q2=Unit"], "out_of_range", "/fields/q1/selected_ids"),
    (["--field", "q1=Redis", "--field", "q2=Unit,Unit"], "duplicate_option_id", "/fields/q2/selected_ids/1"),
    (["--field", "q1=Redis", "--field", "q2=Unit", "--field", "q3=x"], "unknown_property", "/fields/q3"),
    (["--field", "q1=Redis", "--field", "q2=Unit", "--other", "q7=x"], "unknown_property", "/fields/q7"),
    (["--other", "q1= ", "--field", "q2=Unit"], "out_of_range", "/fields/q1/selected_ids"),
    (["--field", "q1=Redis", "--field", "q2=Unit", "--field-note", "q3=x"], "unknown_property", "/field_annotations/q3"),
    (["--select", "Redis", "--field", "q1=Redis", "--field", "q2=Unit"], "conflicting_arguments", "/fields/q1"),
]


@test("an answer that is not whole or does not fit is refused with its place, and the ask stays open", "R3.2 R2.3")
def bad_answers(home: Home) -> None:
    session_id = ask_and_leave(home, BOTH)
    for answer, code, path in BAD_ANSWERS:
        error_of(home.sayso("answer", session_id, *answer, "--json"), code, path)
        assert row_of(home, session_id)["status"] == "pending", answer
    for option in ("--other", "--field-note"):
        expect(home.sayso("answer", session_id, option, "q1"), USAGE, option, "=")


@test("two people at the same time: one answer wins, whole; the other learns who", "R5.3 P2")
def two_at_once(home: Home) -> None:
    home.environment |= UNLIMITED
    for round_ in range(scaled(5)):
        arguments = {**BOTH, "title": f"{round_}"}
        session_id = ask_and_leave(home, arguments)
        results: list[Result] = []
        side_by_side(*[lambda pick=pick: results.append(
            home.sayso("answer", session_id, "--field", f"q1={pick}", "--other", f"q2={pick}", "--json"))
            for pick in ("Redis", "None, please")])
        assert sorted(result.code for result in results) == [DONE, FAILED], results
        assert [result for result in results if result.code == FAILED][0].json["error"]["code"] == "already_answered"
        answers = ask(home, arguments, "--json").json["answers"]
        assert len(set(answers.values())) == 1 and set(answers.values()) <= {"Redis", "None, please"}, answers


@test("two agents ask the same: two questions, each agent gets its own answer", "R5.5")
def two_agents(home: Home) -> None:
    asked = [ask_and_leave(home, BOTH, "--as", name) for name in ("one", "two")]
    assert asked[0] != asked[1]
    for session_id, pick in zip(asked, ("Redis", "None, please")):
        expect(home.sayso("answer", session_id, "--field", f"q1={pick}", "--field", "q2=Lint"), DONE)
    picked = [ask(home, BOTH, "--json", "--as", name).json["answer_list"][0]["selected"] for name in ("one", "two")]
    assert picked == [["Redis"], ["None, please"]], picked


@test("a sub-agent's connection is refused by the hub too, whatever its front let through", "R3.3 R12.1")
def sub_agents(home: Home) -> None:
    home.sayso("list")
    with Wire(home) as agent:
        agent.hello("agent", name="sub", sub_agent=True)
        try:
            agent.call("ask/create", tool="ask_user_question", arguments=BOTH)
            raise AssertionError("a sub-agent asked")
        except WireError as error:
            assert error.data["code"] == "not_available_to_subagents", error
        agent.start("ask/create", tool="elicit_confirm", arguments={"message": "Others it may?"})
        wait_until(lambda: home.sayso("list", "--json").json, "it is asked")
    assert len(home.sayso("list", "--json").json) == 1


@test("over REST: fields and notes by name, refused with their place", "R10.4 R3.2")
def rest() -> None:
    with Office() as office:
        session_id = ask_and_leave(office.home, BOTH)
        place = f"/api/asks/{session_id}/answer"
        refused = office.post(place, {"fields": {"q1": "Redis"}})
        assert refused.status == 422 and refused.error["path"] == "/fields/q2", refused
        refused = office.post(place, {"fields": {"q1": "Redis", "q2": "Unit"}, "field_annotations": {"q1": 1}})
        assert refused.status in (400, 422) and refused.error["path"] == "/field_annotations/q1", refused
        fields = {"q1": {"custom_input": "my own"}, "q2": {"selected_ids": ["Unit"], "custom_input": "more"}}
        assert office.post(place, {"fields": fields, "field_annotations": {"q1": "n"}}).status == 200
        whole = office.whole(session_id)
        assert [field["header"] for field in whole["form"]["fields"] if "header" in field] == ["Cache"], whole
        assert whole["result"]["answers"] == {CACHE["question"]: "my own", TESTS["question"]: "Unit, more"}, whole
        assert whole["result"]["answer_list"][0]["notes"] == "n", whole


HOSTILE = "k\u202e\x1b[2J\u200b"


@test("hostile questions, headers, labels and answers can't act on the screen and come back as they were", "R6.5 R3.5")
def hostile(home: Home) -> None:
    arguments = {"questions": [{"question": "Q" + HOSTILE, "header": HOSTILE, "options": [
        {"label": "A" + HOSTILE, "description": HOSTILE, "preview": HOSTILE}, {"label": "B"}]}, TESTS]}
    session_id = ask_and_leave(home, arguments)
    pages = [home.sayso("show", session_id), home.sayso("list")]
    pages.append(home.sayso("answer", session_id, "--field", f"q1=A{HOSTILE}", "--other", f"q2={HOSTILE}",
                            "--field-note", f"q2=n{HOSTILE}"))
    pages.append(home.sayso("show", session_id))
    for said in pages:
        assert said.code == DONE and not set("\x1b\u202e\u200b") & set(said.out + said.err), said
    result = ask(home, arguments, "--json")
    assert "\x1b" not in result.out and result.json["answers"] == {"Q" + HOSTILE: "A" + HOSTILE, TESTS["question"]: HOSTILE}, result
    long = HOSTILE + "x" * 3000
    bad = ask(home, {"questions": [{"question": long, "options": [{"label": "A"}]}]}, "--json")
    error = error_of(bad, "too_few_options", "/questions/0/options")
    assert not set("\x1b\u202e\u200b") & set(error["message"]) and len(error["message"]) < 300, error


@test("a question that speaks of a secret is marked", "R4.4")
def secrets(home: Home) -> None:
    asked = {"questions": [TESTS, {**CACHE, "question": "Which password shall I use?"}]}
    expect(home.sayso("show", ask_and_leave(home, asked)), DONE, "Don't put passwords")
    assert "Don't put" not in home.sayso("show", ask_and_leave(home, BOTH)).out


run()
