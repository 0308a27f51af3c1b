"""What the hub refuses to a page comes with its words in both languages, as exact as in English.

Proves: R8.2 R7.4
"""
from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple

from cli_stage import DONE, expect
from harness import Home, WireError, run, test, wait_until
from web_stage import Page, signed_in, start_hub
from wire_stage import agent, choice, make_ask

CHINESE = re.compile("[\u4e00-\u9fff]")


class Refusal(NamedTuple):
    what: str
    act: Callable[[Home, Page, str], Any]  # the ask's id is the last one
    code: str
    english: str
    chinese: str
    more: dict[str, Any] = {}


def answer(page: Page, ask: str, **more: Any) -> Any:
    return page.call("ask/answer", **{"session_id": ask, "selected_ids": ["a"], **more})


def faster(home: Home, page: Page, ask: str) -> None:
    expect(home.sayso("answer", ask, "--select", "b"), DONE)
    answer(page, ask)


def too_late(home: Home, page: Page, ask: str) -> None:
    expect(home.sayso("extend", ask, "1"), DONE)
    wait_until(lambda: home.sayso("show", ask, "--json").json["ask"]["status"] == "timeout", "its end")
    answer(page, ask)


def taken_back(home: Home, page: Page, ask: str) -> None:
    with agent(home, "taken back") as wire:
        own = wire.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("own"))["session_id"]
        wire.call("ask/withdraw", session_id=own)
    answer(page, own)


def over(home: Home, page: Page, ask: str) -> None:
    expect(home.sayso("cancel", ask), DONE)
    page.call("ask/extend", session_id=ask, seconds=60)


REFUSALS = [
    Refusal("this ask was already decided", faster, "already_answered", "this ask was already decided", "此请求已有决定"),
    Refusal("timed out", too_late, "wrong_state", "this ask timed out", "已超时"),
    Refusal("withdrawn by the agent", taken_back, "wrong_state", "withdrew this ask", "智能体已撤回"),
    Refusal("it is over", over, "already_answered", "this ask is already completed", "此请求已完成"),
    Refusal("it has changed", lambda home, page, ask: answer(page, ask, version=99), "wrong_state", "has changed", "请求已改变"),
    Refusal("a code is wanted", lambda home, page, ask: answer(page, ask, selected_ids=["b"], code="000"), "wrong_state", "type the confirmation code", "请输入确认码", {"destructive": True}),
    Refusal("a note is too long", lambda home, page, ask: answer(page, ask, global_annotation="x" * 5000), "too_long", "2000", "最多 2000"),
    Refusal("a question back is too long", lambda home, page, ask: page.call("ask/back", session_id=ask, text="x" * 2001), "too_long", "2000", "最多 2000"),
    Refusal("a question back is empty", lambda home, page, ask: page.call("ask/back", session_id=ask, text=" "), "empty_text", "no visible text", "没有可读的内容"),
    Refusal("a setting out of range", lambda home, page, ask: page.call("settings/set", name="deliver_after", value="61"), "out_of_range",
            "from 0 to 60", "deliver_after 可设为 0 至 60"),
    Refusal("a setting that is none", lambda home, page, ask: page.call("settings/set", name="thema", value="x"), "bad_enum", "unknown setting", "没有"),
    Refusal("put off for too long", lambda home, page, ask: page.call("ask/later", session_id=ask, seconds=10 ** 9), "out_of_range", "seconds", "秒"),
    Refusal("an ask that is not there", lambda home, page, ask: answer(page, "a" * 26), "not_found", "no ask has this ID", "没有此 ID"),
    Refusal("another's token", lambda home, page, ask: page.call("token/revoke", id="zzzzzzzz"), "not_allowed", "run 'sayso token revoke'", "终端中运行“sayso token revoke”"),
    Refusal("a setting of the host", lambda home, page, ask: page.call("settings/set", name="store", value="x"), "not_allowed",
            "run 'sayso settings set store'", "终端中运行“sayso settings set store”"),
]


@test("each refusal that people meet in a page is said exactly, in English and in Chinese", "R8.2 R7.4")
def refused(home: Home) -> None:
    start_hub(home, "--no-browser")
    with signed_in(home) as (page, _):
        for row in REFUSALS:
            ask = make_ask(home, row.what, **row.more)
            try:
                row.act(home, page, ask)
                raise AssertionError(f"{row.what} is not refused")
            except WireError as error:
                said = error.data["said"]
                assert error.data["code"] == row.code, (row.what, error.data)
                assert row.english in error.message and said["en"] == error.message, (row.what, error)
                assert row.chinese in said["zh"] and CHINESE.search(said["zh"]), (row.what, said)


run()
