"""Every row of the table of settings, walked as the program itself prints it: a new row is tested without a word here.

Proves: R8.1 R10.3
"""
from __future__ import annotations

import functools
import json
import os
import re
import stat
from typing import Any, Callable

import postgres
from harness import HANG_S, Home, Result, Wire, WireError, needs_file, run, test, wait_until

NOT_BUILT: set[str] = set()  # whose rows are there, and what they switch on is not
BAD = {"bool": "perhaps", "integer": "seven", "seconds": "7 weeks", "enum": "purple", "text": "x" * 20000,
       "period": "late", "limits": "[]"}
TEXTS = {"text": ("words", "other words"), "period": ("22:00-07:00", "01:00-02:00"),
         "limits": ('{"x":9}', '{"x":8}')}
NAMED = {"listen": ("127.0.0.1:0", "127.0.0.2:0"),  # a hub that is told to listen elsewhere does so, or does not start
         "tools": ("all", "provide_choice")}


@functools.cache
def database() -> str:
    return postgres.shared().new_database()


def table(home: Home) -> list[dict[str, Any]]:
    rows = home.sayso("settings", "list", "--json").json
    unknown = [row for row in rows if row["type"] not in BAD]
    assert len(rows) >= 40 and not unknown, unknown
    return rows


def good(row: dict[str, Any], which: int = 0) -> str:
    """A value that is valid and not built in; which=1 is another one where the type has three values."""
    if row["type"] == "bool":
        return "off" if row["built_in"] == "on" else "on"
    if row["type"] == "enum":
        others = [word for word in row["choices"] if word != row["built_in"]]
        return others[which % len(others)]
    if row["name"] in NAMED:
        return NAMED[row["name"]][which]
    if row["name"] == "store":  # one database under two addresses: what is saved there is there under both
        return f"{database()}&application_name={('one', 'other')[which]}"
    if row["type"] in TEXTS:
        return TEXTS[row["type"]][which]
    number = int(row["built_in"])
    return str(number + 1 + which if number + 1 + which <= row["most"] else number - 1 - which)


def typed(row: dict[str, Any]) -> str:
    """The value in force as it is typed."""
    value = row["value"]
    return ("on" if value else "off") if isinstance(value, bool) else value if isinstance(value, str) else \
        json.dumps(value, separators=(",", ":"))


def expect(home: Home, source: str, wanted: Callable[[dict[str, Any]], str]) -> None:
    wrong = [(row["name"], typed(row), row["source"]) for row in table(home)
             if (typed(row), row["source"]) != (wanted(row), source)]
    assert not wrong, wrong


def stop(home: Home) -> None:
    assert home.sayso("stop").code == 0


def in_environment(home: Home, rows: list[dict[str, Any]], value: Callable[[dict[str, Any]], str]) -> None:
    home.environment |= {row["environment"]: value(row) for row in rows}


@test("each row: built in, then its variable, then what is saved, which outlives a restart and kill -9", "R8.1")
def precedence(home: Home) -> None:
    needs_file()
    rows = table(home)
    expect(home, "built_in", lambda row: row["built_in"])
    stop(home)
    in_environment(home, rows, good)
    expect(home, "environment", good)
    for row in rows:
        result = home.sayso("settings", "set", row["name"], good(row, 1))
        assert result.code == 0, (row["name"], result)
    expect(home, "saved", lambda row: good(row, 1))
    home.kill_hub()
    expect(home, "saved", lambda row: good(row, 1))
    saved = home.config / "settings.json"
    assert set(json.loads(saved.read_text())) == {row["name"] for row in rows if row["scope"] == "host"}
    assert stat.S_IMODE(os.stat(saved).st_mode) == 0o600
    for row in rows:
        assert home.sayso("settings", "reset", row["name"]).code == 0
    expect(home, "environment", good)


@test("each host row is read from the file that a person wrote by hand, as JSON of its own kind or as text", "R8.1")
def by_hand(home: Home) -> None:
    needs_file()
    rows = [row for row in table(home) if row["scope"] == "host"]
    stop(home)
    home.config.mkdir(mode=0o700, parents=True, exist_ok=True)
    kinds: list[Callable[[dict[str, Any]], Any]] = [
        good, lambda row: good(row) == "on" if row["type"] == "bool" else
        json.loads(good(row)) if row["type"] in ("integer", "seconds", "limits") else good(row)]
    for kind in kinds:
        (home.config / "settings.json").write_text(json.dumps({row["name"]: kind(row) for row in rows}))
        (home.config / "settings.json").chmod(0o600)
        for row in table(home):
            if row["scope"] == "host":
                assert (typed(row), row["source"]) == (good(row), "saved"), row
        stop(home)


@test("each row with a flag: the flag of serve beats what is saved, for that run alone; a bad one is refused", "R8.1 R10.3")
def flags(home: Home) -> None:
    rows = [row for row in table(home) if "flag" in row]
    assert len(rows) >= 5, rows
    text = home.sayso("serve", "--help").out
    for row in rows:
        offered = {"--no-" + row["flag"][2:]} if row["type"] == "bool" else {row["flag"]}
        assert row["flag"] in NOT_BUILT or any(flag in text for flag in offered), row
        if row["flag"] in NOT_BUILT:
            assert row["flag"] not in text, f"{row['flag']} is offered now: take it from NOT_BUILT"
            continue
        home.sayso("settings", "set", row["name"], row["built_in"] if row["type"] == "bool" else good(row, 1))
        stop(home)
        words = ["--no-" + row["flag"][2:]] if row["type"] == "bool" else [row["flag"], good(row)]
        if row["type"] != "bool":
            refused = home.sayso("serve", "--no-inbox", row["flag"], BAD[row["type"]])
            assert refused.code == 2 and row["name"] in refused.err, refused
        hub = home.spawn("serve", "--no-inbox", *words)
        home.wait_hub()
        now = next(each for each in table(home) if each["name"] == row["name"])
        assert (typed(now), now["source"]) == (good(row), "flag"), now
        stop(home)
        hub.wait(HANG_S)
        assert next(each for each in table(home) if each["name"] == row["name"])["source"] == "saved"
        home.sayso("settings", "reset", row["name"])


@test("each row refuses a bad value by command: said with what it takes; by variable and file the built-in one counts where "
      "the row is not strict", "R8.1")
def bad_values(home: Home) -> None:
    needs_file()
    rows = table(home)
    for row in rows:
        for language, words in (("en", ("takes", "must be")), ("zh", ("可设为",))):
            refused = home.sayso("settings", "set", row["name"], BAD[row["type"]], env={"CHOICE_LANG": language})
            assert refused.code == 1 and row["name"] in refused.err, (row["name"], refused)
            assert any(word in refused.err for word in words), (row["name"], refused)
    expect(home, "built_in", lambda row: row["built_in"])
    stop(home)
    rows = [row for row in rows if not row["strict"]]  # those that are: test_settings_faults.py
    (home.config).mkdir(mode=0o700, parents=True, exist_ok=True)
    (home.config / "settings.json").write_text(
        json.dumps({row["name"]: BAD[row["type"]] for row in rows if row["scope"] == "host"}))
    in_environment(home, rows, lambda row: BAD[row["type"]])
    result = home.sayso("settings", "list", "--json")
    for row in (row for row in result.json if not row["strict"]):
        fallback = "en" if row["name"] == "language" else row["built_in"]
        assert typed(row) == fallback, row
        assert row["environment"] in result.err, f"nothing was said about {row['environment']}"
    warned = {line.get("setting") for line in map(json.loads, (home.data / "hub.log").read_text().splitlines())
              if line["event"] == "settings.ignored"}
    assert warned >= {row["name"] for row in rows}, {row["name"] for row in rows} - warned


@test("each row: a change is told immediately to every client with an open question or inbox", "R8.1 R6.4 R7.4")
def told(home: Home) -> None:
    rows = table(home)
    session_id = home.sayso("ask", "Open", "-p", "A prompt that says enough of what this is about.", "-o", "a=A",
                            "-r", "a", "--wait", "0", "--json").json["session_id"]
    with Wire(home) as watcher, Wire(home) as attached:
        watcher.hello("person")
        watcher.call("ask/watch")
        attached.hello("person", channel="terminal")
        attached.call("ask/attach", session_id=session_id)
        for row in rows:
            assert home.sayso("settings", "set", row["name"], good(row)).code == 0
            for wire in (watcher, attached):
                def changed(wire: Wire = wire, name: str = row["name"]) -> dict[str, Any] | None:
                    event = wire.events.pop(0) if wire.events else wire.read()
                    news = event.get("params", {}).get("settings", [{}])[0]
                    return news if news.get("name") == name else None
                news = wait_until(changed, f"{row['name']} is told")
                assert (typed(news), news["source"]) == (good(row), "saved"), news


@test("each row is in the help, in docs/settings.md and in settings list, in both languages", "R8.1 R8.2 R10.3")
def described(home: Home) -> None:
    page = (__import__("pathlib").Path(__file__).resolve().parents[2] / "docs/settings.md").read_text()
    rows = table(home)
    for language in ("en", "zh"):
        env = {"CHOICE_LANG": language}
        text, listed = home.sayso("settings", "--help", env=env).out, home.sayso("settings", env=env).out
        for row in rows:
            line = re.search(rf"^  {row['name']}\s+(\S.*)\n\s+(.*)$", text, re.MULTILINE)
            assert line and row["environment"] in line[2] and row.get("flag", "") in line[2], row["name"]
            assert re.search(rf"^{row['name']} .*{re.escape(line[1])}$", listed, re.MULTILINE), row["name"]
            assert (language == "zh") == bool(re.search("[\u4e00-\u9fff]", line[1])), line[1]
            assert f"| `{row['name']}` |" in page
            if language == "en":
                assert line[1] in page, row["name"]


def editor(home: Home, script: str) -> dict[str, str]:
    """An EDITOR, with a word behind its name as people have, that is a Python script over the page."""
    path = home.path / "editor.py"
    path.write_text("import re, sys\npath = sys.argv[2]\npage = open(path, encoding='utf-8').read()\n"
                    f"{script}\nopen(path, 'w', encoding='utf-8').write(page)\n")
    return {"EDITOR": f"python3 {path} --wait"}


def edit(home: Home, script: str, *words: str, **more: str) -> Result:
    return home.sayso("settings", "edit", *words, env={**editor(home, script), **more})


@test("edit shows every row in its group; what was changed is set, what was commented out is reset, the rest stays", "R10.3")
def edited(home: Home) -> None:
    rows = table(home)
    assert home.sayso("settings", "set", "notes", "off").code == 0
    assert home.sayso("settings", "set", "theme", "dark").code == 0
    script = ("open(path + '.seen', 'w', encoding='utf-8').write(page)\n"
              "page = page.replace('# timeout_seconds = 300', 'timeout_seconds = 10m')\n"
              "page = page.replace('\\nnotes = off', '\\n# notes = off')\n"
              "page = page.replace('# list_count = 50', '  list_count=7  ')")
    result = edit(home, script)
    assert result.code == 0, result
    assert sorted(result.out.splitlines()) == ["list_count is now 7.", "notes is now on.",
                                              "timeout_seconds is now 600."], result
    page = next(home.data.glob("settings-*.txt.seen")).read_text()
    for row in rows:
        assert re.search(rf"^(# )?{row['name']} = ", page, re.MULTILINE), row["name"]
    assert "\ntheme = dark\n" in page and "## Answering" in page
    assert not list(home.data.glob("settings-*.txt")), "the page is left behind"
    now = {row["name"]: row for row in table(home)}
    assert (now["notes"]["source"], now["theme"]["value"], now["timeout_seconds"]["value"]) == ("built_in", "dark", 600)
    assert edit(home, "").err.strip() == "No changes."
    changed = edit(home, "page = page.replace('\\ntheme = dark', '\\ntheme = light')", "--json").json
    assert [(row["name"], row["value"]) for row in changed] == [("theme", "light")]


@test("edit with a bad line sets nothing, names the line in the person's language and keeps what was written", "R10.3 R8.2")
def edited_badly(home: Home) -> None:
    for planted, reason, chinese in (("theme = purple", "theme must be one of", "theme 可设为"),
                                     ("thema = dark", 'Unknown setting: thema', "thema"),
                                     ("dark", "expected", "既不是")):
        script = f"page = 'timeout_seconds = 77\\n{planted}\\n'"
        result = edit(home, script)
        assert result.code == 1 and "Line 2: " in result.err and reason in result.err, result
        kept = re.search(r"(/\S+settings-\d+\.txt)", result.err)[1]
        assert planted in open(kept).read()
        os.unlink(kept)
        result = edit(home, script, CHOICE_LANG="zh")
        assert "第 2 行" in result.err and chinese in result.err, result
        os.unlink(re.search(r"(/[^\s。]+settings-\d+\.txt)", result.err)[1])
    assert home.sayso("settings", "get", "timeout_seconds").out == "300\n"


@test("the password of an address is never printed: not by set, get, list or edit, nor to who watches; stars are none", "R8.1")
def password(home: Home) -> None:
    needs_file()
    secret = "h1dden%26"
    for address in (f"postgres://me:{secret}@127.0.0.1:1/x", f"postgres://127.0.0.1:1/x?user=me&password={secret}",
                    f"postgres://127.0.0.1:1/x?sslmode=disable&p%61ssword={secret}"):
        table(home)  # which starts the hub
        with Wire(home) as person:
            person.hello("person")
            person.call("ask/watch")
            said = [home.sayso("settings", "set", "store", address), home.sayso("settings", "set", "store", address, "--json"),
                    home.sayso("settings", "get", "store"), home.sayso("settings", "get", "store", "--json"),
                    home.sayso("settings"), home.sayso("settings", "list", "--json")]
            heard = json.dumps([person.call("settings/list"), person.events])
        assert all(result.code == 0 and "****" in result.out for result in said), said
        assert "settings/changed" in heard and secret not in heard and not [result for result in said if secret in result.out + result.err], said
        shown = said[2].out.strip()
        kept = edit(home, "open(path + '.seen', 'w').write(page)\npage += 'theme = dark'")
        assert kept.code == 0 and "store" not in kept.out, kept
        page = next(home.data.glob("settings-*.txt.seen"))
        assert f"store = {shown}" in page.read_text() and secret not in page.read_text()
        page.unlink()
        assert json.loads((home.config / "settings.json").read_text())["store"] == address
        for refused in (home.sayso("settings", "set", "store", shown.replace("/x", "/y")),
                        edit(home, "page = page.replace('127.0.0.1:1/x', '127.0.0.1:1/y')")):
            assert refused.code == 1 and "**** stands for a hidden password" in refused.err, refused
        with Wire(home) as person:
            person.hello("person")
            try:
                raise AssertionError(person.call("settings/set", name="store", value=shown))
            except WireError as refused:
                assert "**** stands for" in refused.message, refused
        assert json.loads((home.config / "settings.json").read_text())["store"] == address
        assert home.sayso("settings", "reset", "theme").code == 0


@test("edit without an editor, or with one that fails, says so and sets nothing", "R10.3")
def no_editor(home: Home) -> None:
    missing = home.sayso("settings", "edit", env={"VISUAL": "/nowhere/ed"})
    assert missing.code == 1 and "/nowhere/ed" in missing.err and "EDITOR" in missing.err, missing
    failed = home.sayso("settings", "edit", env={"EDITOR": "false"})
    assert failed.code == 1 and "nothing was changed" in failed.err, failed
    assert not list(home.data.glob("settings-*.txt"))


@test("two edits at the same time: what another editor changed while the page was open is not set back", "R10.3 R5.3")
def two_at_once(home: Home) -> None:
    script = (f"import subprocess\nsubprocess.run([{home.binary!r}, 'settings', 'set', 'theme', 'dark'], check=True,"
              " stdout=subprocess.DEVNULL)\npage = page.replace('# list_count = 50', 'list_count = 9')")
    assert edit(home, script).code == 0
    now = {row["name"]: row["value"] for row in table(home)}
    assert (now["theme"], now["list_count"]) == ("dark", 9), now


@test("log_level is taken from the saved file at start, and a change applies immediately", "R8.1")
def log_level(home: Home) -> None:
    def said() -> list[str]:
        return [json.loads(line)["level"] for line in (home.data / "hub.log").read_text().splitlines()]
    table(home)
    assert "info" in said()
    assert home.sayso("settings", "set", "log_level", "error").code == 0
    stop(home)
    (home.data / "hub.log").unlink()
    table(home)
    assert "info" not in said(), said()
    assert home.sayso("settings", "set", "log_level", "info").code == 0
    stop(home)
    wait_until(lambda: "info" in said(), "what is said after the change")


run()
