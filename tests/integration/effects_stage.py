"""Which row of the table of settings is seen where: tests/settings_effects.json, whose tests are test_settings_effects.py
here and in tests/terminal, and tests/browser/settings_effects.test.mjs. Each of them insists that it shows what is said;
"elsewhere" names another file that does."""
from __future__ import annotations

import contextlib
import json
from typing import Any, Iterable, Iterator

from harness import ROOT, Home

PLACES = ("terminal", "page")


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
        if "elsewhere" in row:  # a test of its own, where the hub must be started anew to see it
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
