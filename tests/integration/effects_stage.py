"""Which row of the table of settings is seen where: tests/settings_effects.json, whose tests are test_settings_effects.py
here and in tests/terminal, and tests/browser/settings_effects.test.mjs. Each of them insists that it shows what is said;
"elsewhere" names another file that does."""
from __future__ import annotations

import contextlib
import json
from typing import Any, Iterable, Iterator

from harness import HANG_S, ROOT, Home

PLACES = ("terminal", "page")
CLIENT = {"name": "effects", "version": "1"}
ASKED = {"title": "Deploy", "prompt": "Release is built. Which target? Needed because two are healthy.",
         "selection_mode": "single", "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}]}


def effects() -> dict[str, dict[str, str]]:
    return json.loads((ROOT / "tests/settings_effects.json").read_text())


def check(home: Home, place: str, shown: Iterable[str]) -> None:
    """Every row says where it is seen, or why not; what this place shows is what is said of it."""
    table, rows = effects(), {row["name"] for row in home.sayso("settings", "list", "--json").json}
    assert set(table) == rows, f"tests/settings_effects.json: {sorted(set(table) ^ rows)}"
    for name, row in table.items():
        for where in PLACES:
            assert (where in row) != (f"no_{where}" in row), f"{name}: say {where}, or no_{where} with the reason"
        assert {"hub", "elsewhere", *PLACES} & set(row), f"{name}: seen nowhere"
        if "elsewhere" in row:  # a test of its own, where the hub must be started again to see it
            assert name in (ROOT / row["elsewhere"]).read_text().lower(), f"{row['elsewhere']} is not about {name}"
    said = {name for name, row in table.items() if place in row}
    assert set(shown) == said, f"shown or said in {place}, not both: {sorted(set(shown) ^ said)}"


def put(home: Home, name: str, value: str) -> None:
    result = home.sayso("settings", "set", name, value)
    assert result.code == 0, result


@contextlib.contextmanager
def set_to(home: Home, name: str, value: str) -> Iterator[Any]:
    """The setting has this value, then the one before again."""
    put(home, name, value)
    yield
    assert home.sayso("settings", "reset", name).code == 0


class Mcp:
    """An agent's client on standard input and output."""

    def __init__(self, home: Home, revision: str, *options: str, capabilities: dict[str, Any] | None = None):
        self.home, self.is_modern, self.last = home, revision > "2026", 0
        self.replies: dict[Any, dict[str, Any]] = {}
        self.requests: list[dict[str, Any]] = []  # of the server
        self.meta = {"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientInfo": CLIENT,
                     "io.modelcontextprotocol/clientCapabilities": {}}
        self.process = home.spawn("mcp", *options)
        if not self.is_modern:
            self.call("initialize", protocolVersion=revision, capabilities=capabilities or {}, clientInfo=CLIENT)
            self.send(method="notifications/initialized")

    def __enter__(self) -> Mcp:
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.stdin.close()
        self.process.stdin = None
        self.process.communicate(timeout=HANG_S)
        self.home.spawned.remove(self.process)

    def send(self, **message: Any) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def start(self, method: str, **params: Any) -> int:
        """Sends a call and returns its id; finish() waits for its result."""
        self.last += 1
        self.send(id=self.last, method=method, params={**params, **({"_meta": self.meta} if self.is_modern else {})})
        return self.last

    def read(self) -> None:
        message = json.loads(self.process.stdout.readline())
        if "method" in message:
            self.requests.append(message)
        else:
            self.replies[message["id"]] = message

    def finish(self, call_id: int) -> dict[str, Any]:
        while call_id not in self.replies:
            self.read()
        reply = self.replies.pop(call_id)
        assert "result" in reply, reply
        return reply["result"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.finish(self.start(method, **params))

    def ask(self, title: str) -> dict[str, Any]:
        return self.call("tools/call", name="provide_choice", arguments={**ASKED, "title": title})
