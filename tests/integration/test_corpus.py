"""Every call of provide_choice and ask_user_question in the corpus through `sayso ask`, every hostile text to the screen.

Proves: R2.1 R2.2 R6.5 P13
"""
from __future__ import annotations

import contextlib
import copy
import json
import tempfile
import time
import unicodedata
from typing import Any, Iterator, NamedTuple

from harness import HANG_S, ROOT, SLACK, Home, run, test

CORPUS = ROOT / "tests" / "corpus"
CALLS = json.loads((CORPUS / "ask_inputs.json").read_text())
TEXTS = json.loads((CORPUS / "strings.json").read_text())
OTHERS_SESSION = "{OTHER_PRINCIPALS_SESSION}"
ECHO_MOST = 120
SOON_S = 0.1 * SLACK  # bad calls are answered so soon, beside what this machine takes to start a program at all
TRIES = 20  # the fastest counts: this machine has other things to do
GOOD = {
    "title": "Deploy",
    "prompt": "Release is built. Which target? Needed because two are healthy.",
    "selection_mode": "single",
    "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}],
}
# What layers below the tool say on the command line (about.command_line of the corpus).
OUTER_CODES = {-32700: "bad_json", -32602: "bad_type", -32600: "too_long", 413: "too_long"}
BADGES = {"hidden": "hidden characters", "mixed": "mixed scripts"}
FILLERS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}


class Run(NamedTuple):
    """One run, in bytes: reading as text would turn a carriage return into a line's end."""
    code: int
    out: bytes
    err: bytes
    seconds: float
    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run_bytes(home: Home, *args: str, given: bytes = b"") -> Run:
    with contextlib.ExitStack() as files:
        pipes = {name: files.enter_context(tempfile.TemporaryFile()) for name in ("stdin", "stdout", "stderr")}
        pipes["stdin"].write(given)
        for file in pipes.values():
            file.seek(0)
        began = time.monotonic()
        process = home.spawn(*args, **pipes)
        code = process.wait(HANG_S)
        seconds = time.monotonic() - began
        home.spawned.remove(process)
        pipes["stdout"].seek(0)
        pipes["stderr"].seek(0)
        return Run(code, pipes["stdout"].read(), pipes["stderr"].read(), seconds)


def ask(home: Home, given: bytes | dict[str, Any], *more: str) -> Run:
    """As the corpus says: arguments on standard input; returns immediately, with a pending ask."""
    bytes_given = given if isinstance(given, bytes) else json.dumps(given).encode()
    return run_bytes(home, "ask", "--from", "-", "--json", "--wait", "0", *more, given=bytes_given)


def is_hidden(character: str) -> bool:
    """Acts, hides or reorders: never raw in what we print, whether an agent or a person wrote it."""
    code = ord(character)
    return (unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") or code in FILLERS
            or 0xE0100 <= code <= 0xE01EF or 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE)


def hidden_in(printed: bytes, but: str = "\n") -> list[str]:
    return [f"U+{ord(c):04X}" for c in printed.decode("utf-8") if is_hidden(c) and c not in but]


def longest_echo(said: str, given: str) -> int:
    """Characters of the longest piece of `given` that was said back, up to one over the limit."""
    length = 0
    for start in range(len(said)):
        while length <= ECHO_MOST and said[start:start + length + 1] in given and start + length < len(said):
            length += 1
    return length


# Calls ------------------------------------------------------------------------------------------


def generate(recipe: dict[str, Any]) -> bytes:
    """Long inputs as about.gen describes them."""
    if "bytes_hex" in recipe:
        return bytes.fromhex(recipe["bytes_hex"])
    if "nest" in recipe:
        return (recipe["nest"] * recipe["times"]).encode()
    value = copy.deepcopy(recipe["base"])
    if "options_count" in recipe:
        value["options"] = [{"id": f"o{i}", "label": f"Option {i}", "recommended": i == 0}
                            for i in range(recipe["options_count"])]
    if "extra_keys" in recipe:
        value |= {f"k{i}": i for i in range(recipe["extra_keys"])}
    if "set" in recipe:
        *parents, last = recipe["set"].strip("/").split("/")
        place = value
        for key in parents:
            place = place[int(key) if isinstance(place, list) else key]
        place[int(last) if isinstance(place, list) else last] = recipe["repeat"] * recipe["times"]
    return json.dumps(value).encode()


def input_of(case: dict[str, Any]) -> bytes:
    if "gen" in case:
        return generate(case["gen"])
    return case["raw"].encode() if "raw" in case else json.dumps(case["arguments"]).encode()


def wanted_errors(expect: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(code, path) of every outcome the case allows on the command line."""
    for allowed in expect.get("any_of", [expect]):
        if allowed["layer"] == "tool":
            yield allowed["code"], allowed["path"]
        else:
            yield OUTER_CODES[allowed.get("code", allowed.get("status"))], ""


def assert_clean_refusal(refused: Run, given: bytes) -> dict[str, Any]:
    """One JSON object with the error, and words that neither act nor repeat too much."""
    assert refused.code == 1 and not refused.err, refused
    assert refused.out.count(b"\n") == 1 and set(refused.json) == {"error"}, refused
    error = refused.json["error"]
    assert error["code"] in CALLS["about"]["codes"] and error["message"], error
    assert not hidden_in(refused.out), (hidden_in(refused.out), error)
    words = error["path"] + " " + error["message"]
    assert not [c for c in words if is_hidden(c)], error
    texts = given.decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):  # also as it reads when unescaped
        texts += json.dumps(json.loads(texts), ensure_ascii=False)
    assert longest_echo(error["message"], texts) <= ECHO_MOST, error
    assert longest_echo(error["path"], texts) <= ECHO_MOST, error
    return error


def assert_nobody_disturbed(home: Home) -> None:
    """No hub, no file: what is wrong was found before anything was needed."""
    assert not home.hub_pid(), "a bad call started a hub"
    left = [str(path) for path in home.path.rglob("*") if path != home.path / "run"]
    assert not left, f"a bad call left {left}"


def assert_nothing_asked(home: Home, others: int = 0) -> None:
    assert len(home.sayso("list", "--json").json) == others
    good = ask(home, GOOD)
    assert good.code == 5 and good.json["action_status"] == "pending", good
    assert len(home.sayso("list", "--json").json) == others + 1


def is_refused(case: dict[str, Any]) -> bool:
    return case["expect"].get("layer") != "ok"


CHOICES = [case for case in CALLS["cases"] if case["tool"] == "provide_choice"]
QUESTIONS = [case for case in CALLS["cases"] if case["tool"] == "ask_user_question" and "context" not in case]
for case in QUESTIONS:
    @test(f"{case['id']} is refused by sayso ask --tool: {case['expect']['code']}", "R2.1 R3.1")
    def refused_questions(home: Home, case: dict[str, Any] = case) -> None:
        given = input_of(case)
        error = assert_clean_refusal(ask(home, given, "--tool", "ask_user_question"), given)
        assert (error["code"], error["path"]) == (case["expect"]["code"], case["expect"]["path"]), error
        assert_nobody_disturbed(home)
        assert_nothing_asked(home)


for case in filter(is_refused, CHOICES):
    @test(f"{case['id']} is refused: {' or '.join(code for code, _ in wanted_errors(case['expect']))}", "R2.1")
    def refused_call(home: Home, case: dict[str, Any] = case) -> None:
        given, others = input_of(case), 0
        if OTHERS_SESSION.encode() in given:
            theirs = ask(home, GOOD, "--as", "other").json["session_id"]
            given, others = given.replace(OTHERS_SESSION.encode(), theirs.encode()), 1
        refused = ask(home, given)
        error = assert_clean_refusal(refused, given)
        assert (error["code"], error["path"]) in wanted_errors(case["expect"]), error
        if error["code"] != "not_found":  # that an id is unknown only a hub can tell
            assert_nobody_disturbed(home)
        plain = run_bytes(home, "ask", "--from", "-", "--wait", "0", given=given)
        assert plain.code == 1 and not plain.out and plain.err, plain
        assert not hidden_in(plain.err), plain
        assert longest_echo(plain.err.decode(), given.decode("utf-8", "replace")) <= ECHO_MOST, plain
        assert_nothing_asked(home, others)


for case in [case for case in CHOICES if not is_refused(case)]:
    @test(f"{case['id']} is accepted with the warning {case['expect']['warning']}", "R2.1 R2.2")
    def accepted_call(home: Home, case: dict[str, Any] = case) -> None:
        given = input_of(case)
        result = ask(home, given)
        assert result.code == 5 and result.json["warnings"] == [case["expect"]["warning"]], result
        rows = home.sayso("list", "--json").json
        assert [row["session_id"] for row in rows] == [result.json["session_id"]], rows
        assert home.sayso("cancel").code == 0  # there, whatever the agent wished
        ended = ask(home, given)
        assert ended.code == 3 and ended.json["action_status"] == "cancelled", ended


@test("the corpus holds what these tests know how to run", "R2.1")
def corpus_is_known() -> None:
    assert len(QUESTIONS) == 8 and all(is_refused(case) for case in QUESTIONS)
    assert len(CHOICES) > 40 and len({case["id"] for case in CHOICES}) == len(CHOICES)
    known = {"id", "tool", "arguments", "raw", "gen", "expect", "why"}
    assert all(set(case) <= known for case in CHOICES)
    recipes = [case["gen"] for case in CHOICES if "gen" in case]
    words = {"base", "set", "repeat", "times", "options_count", "nest", "extra_keys", "bytes_hex"}
    assert recipes and all(set(recipe) <= words for recipe in recipes), recipes


@test("another principal's id and one that never was are refused in the same words", "R2.1")
def no_oracle(home: Home) -> None:
    theirs = ask(home, GOOD, "--as", "other").json["session_id"]
    said = [ask(home, {"session_id": session_id}).out for session_id in (theirs, "a" * 26)]
    assert said[0] == said[1], said
    assert ask(home, {"session_id": theirs, "wait_seconds": 0}, "--as", "other").code == 5


@test("bad calls are refused in under 100 ms", "R2.1")
def soon(home: Home) -> None:
    def is_soon(given: bytes) -> bool:
        took = ask(home, given).seconds
        return took < SOON_S or took < SOON_S + 2 * run_bytes(home, "--version").seconds

    for case in filter(is_refused, CHOICES):
        given = input_of(case)
        if "session_id" not in case.get("arguments", {}):
            assert any(is_soon(given) for _ in range(TRIES)), case["id"]
    assert_nobody_disturbed(home)


LONG = "k\u202e\x1b[2J\u200b" + "x" * 500
HOSTILE = {
    "unknown property": {**GOOD, LONG: 1},
    "unknown property of an option": {**GOOD, "options": [{**GOOD["options"][0], LONG: 1}]},
    "mode": {**GOOD, "selection_mode": LONG},
    "interface": {**GOOD, "interface": LONG},
    "default": {**GOOD, "default_selection_ids": [LONG[:120]]},
    "default of another type": {**GOOD, "default_selection_ids": [{LONG: LONG}]},
    "option id twice": {**GOOD, "options": [GOOD["options"][0]] + 2 * [{"id": LONG[:120], "label": "L"}]},
    "option id too long": {**GOOD, "options": [{"id": LONG, "label": "L", "recommended": True}]},
    "label twice": {**GOOD, "options": [{"id": i, "label": LONG[:150], "recommended": i == "a"} for i in "ab"]},
    "title": {**GOOD, "title": LONG},
    "prompt too short": {**GOOD, "prompt": LONG[:8]},
    "session id": {"session_id": LONG},
    "session id beside it": {**GOOD, "session_id": LONG},
    "idempotency key": {**GOOD, "idempotency_key": LONG},
    "preview": {**GOOD, "options": [{**GOOD["options"][0], "preview": {"type": LONG, "text": "t"}}]},
    "placeholder in single": {**GOOD, "placeholder": LONG},
}
for where, arguments in HOSTILE.items():
    @test(f"long and hostile words are not repeated to the screen: {where}", "R2.1 R6.5")
    def hostile_words(home: Home, arguments: dict[str, Any] = arguments) -> None:
        given = json.dumps(arguments, ensure_ascii=False).encode()
        assert_clean_refusal(ask(home, given), given)
        plain = run_bytes(home, "ask", "--from", "-", given=given)
        assert plain.code == 1 and plain.err and not hidden_in(plain.err), plain
        assert longest_echo(plain.err.decode(), given.decode()) <= ECHO_MOST, plain
        assert_nobody_disturbed(home)


# Texts ------------------------------------------------------------------------------------------

# Too short to be asked as a prompt. A description obeys the same rule, so they are shown there;
# as prompts they are proven in the unit test of visible_text.
TOO_SHORT = {"s-005", "s-012", "s-015", "s-029", "s-031"}


def arguments_with(case: dict[str, Any], field: str) -> dict[str, Any]:
    value = copy.deepcopy(GOOD)
    if field in ("label", "description"):
        value["options"][0][field] = case["text"]
    else:
        value[field] = case["text"]
    return {**value, "destructive": True} if case.get("destructive") else value


def without_badges(text: str) -> tuple[str, set[str]]:
    """A badge stands after the words, or after several lines in one of its own."""
    found = {name for name, words in BADGES.items() if f"[{words}]" in text}
    for words in BADGES.values():
        text = text.replace(f" [{words}]", "")
    return text, found


def wanted_badges(case: dict[str, Any]) -> set[str]:
    mixed = {"mixed"} if case.get("flag") == "mixed_script" else set()
    return mixed | ({"hidden"} if case["shown"] != case["text"] else set())


def part_of_show(printed: str, field: str, shown: str) -> str:
    """What `sayso show` printed for one field of the arguments made above."""
    facts, _, rest = printed.partition("\n\n")
    assert "Status:" in facts, printed
    title, _, rest = rest.partition("\n\n")
    if field == "title":
        return title.removeprefix("  ")
    at = rest.index("\n  - a")
    if field == "prompt":
        return "\n".join(line.removeprefix("  ") for line in rest[:at].rstrip("\n").split("\n"))
    option, _, _ = rest[at + 1:].partition("\n  - b")
    line, _, description = option.partition("\n")
    if field == "label":
        return line.removeprefix("  - a  ").removesuffix("  (recommended)")
    return "\n".join(line.removeprefix(" " * 6) for line in description.split("\n"))


def assert_screen_is_safe(result: Run, shown: str) -> None:
    assert result.code == 0 and not result.err, result
    kept = "\n\t" + "".join(c for c in shown if c in "\u200c\u200d")  # where the rules keep these
    assert not hidden_in(result.out, kept), (hidden_in(result.out, kept), result.out)


def form_text(form: dict[str, Any], field: str) -> str:
    return form[field] if field in ("title", "prompt") else form["fields"][0]["options"][0][field]


def assert_shown(home: Home, case: dict[str, Any], field: str) -> None:
    asked = ask(home, arguments_with(case, field))
    assert asked.code == 5, asked
    show, listed = run_bytes(home, "show"), run_bytes(home, "list")
    as_json = run_bytes(home, "show", "--json")
    for result in (show, listed):
        assert_screen_is_safe(result, case["shown"])
    printed, badges = without_badges(part_of_show(show.out.decode(), field, case["shown"]))
    assert printed == case["shown"], (printed, case["shown"])
    assert badges == wanted_badges(case), (badges, show.out.decode())
    if field == "title":
        row, badges = without_badges(listed.out.decode())
        assert f"  {case['shown']}  " in row and row.count("\n") == 1, row
        assert badges == wanted_badges(case), listed
    assert as_json.code == 0 and not hidden_in(as_json.out), hidden_in(as_json.out)
    assert form_text(as_json.json["form"], field) == case["text"], "not as it was received"
    assert not hidden_in(run_bytes(home, "list", "--json").out)


for case in TEXTS["cases"]:
    @test(f"{case['id']} in a {case['field']} is shown harmless and whole: {case['why']}", "R2.1 R6.5 P13")
    def shown_text(home: Home, case: dict[str, Any] = case) -> None:
        if case["id"] in TOO_SHORT:
            refused = ask(home, arguments_with(case, "prompt"))
            assert refused.json["error"]["code"] == "too_short", refused
            assert_shown(home, case, "description")
        else:
            assert_shown(home, case, case["field"])


for case in [case for case in TEXTS["cases"] if case["field"] == "label"]:
    @test(f"{case['id']} is as harmless in a title, and in the list", "R6.5 P13")
    def shown_title(home: Home, case: dict[str, Any] = case) -> None:
        assert_shown(home, case, "title")


@test("what an agent calls itself and where it works are shown as harmless as its words", "R6.5 P13")
def hostile_agent(home: Home) -> None:
    name = "ci\x1b[2J\u202e\x7f\n\tbot"
    place = home.path / "w\x1b]0;x\x07\u200b"
    place.mkdir()
    assert home.sayso(*ASK_WORDS, "--wait", "0", "--as", name, cwd=str(place)).code == 5
    show, listed = run_bytes(home, "show"), run_bytes(home, "list")
    for result in (show, listed):
        assert_screen_is_safe(result, "")
        assert b'"ci\\x1b[2J\\u202e\\x7f\\n\\tbot' in result.out, result
        assert b"hidden characters" in result.out, result
    assert b"w\\x1b]0;x\\x07\\u200b" in show.out, show
    for result in (run_bytes(home, "show", "--json"), run_bytes(home, "list", "--json")):
        assert not hidden_in(result.out), hidden_in(result.out)


ASK_WORDS = ["ask", "Which one?", "-p", GOOD["prompt"], "-o", "a=A\x1b[2J", "-o", "b=B\u202e", "-r", "a"]


@test("a hostile label comes back harmless when it is chosen, its id as it was", "R2.2 R6.5")
def hostile_answer(home: Home) -> None:
    hostile = {**GOOD, "options": [{"id": "a\x1b[2J", "label": "A\x1b[2J\u202e", "recommended": True}]}
    asked = ask(home, hostile).json["session_id"]
    answered = run_bytes(home, "answer", "--select", "a\x1b[2J", "--note", "n\x1b[2J\u202e")
    assert answered.code == 0 and b"A\\x1b[2J\\u202e" in answered.out, answered
    again = ["answer", asked, "--select", "a\x1b[2J", "--note", "n\x1b[2J\u202e"]
    for words in (again, ["show", asked], ["list"]):
        assert_screen_is_safe(run_bytes(home, *words), "")
    collected = ask(home, {"session_id": asked})
    assert collected.code == 0 and not hidden_in(collected.out), collected
    assert collected.json["selection"]["selected_ids"] == ["a\x1b[2J"], collected
    assert collected.json["selection"]["global_annotation"] == "n\x1b[2J\u202e", collected


@test("the log of a hub that saw hostile texts is lines of ASCII JSON", "R6.5 P13")
def hostile_log(home: Home) -> None:
    for number, case in enumerate(TEXTS["cases"]):
        ask(home, {**GOOD, "title": f"{number} " + case["text"][:150]}, "--as", case["text"][:20])
    assert home.sayso("stop").code == 0
    log = (home.data / "hub.log").read_bytes()
    assert log.isascii() and all(json.loads(line) for line in log.decode().splitlines()), log


run()
