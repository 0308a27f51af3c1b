"""`sayso completion` and `sayso man`: whatever the help names is completed and described, in real shells and by man.

Proves: R10.3 R8.2
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess

from cli_stage import ask
from harness import ROOT, Home, Skip, run, test

VERBS = re.findall(r"^VERB\((\w+)\)$", (ROOT / "src/cli/verbs.def").read_text(), re.MULTILINE)


def offered(home: Home, *words: str, **env: str) -> dict[str, str]:
    result = home.sayso("__complete", *words, env=env)
    assert result.code == 0 and not result.err, result
    return dict(line.split("\t", 1) if "\t" in line else (line, "") for line in result.out.splitlines())


def options_of(home: Home, verb: str) -> set[str]:
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", home.sayso(verb, "--help").out, re.MULTILINE))


@test("every verb and every option of the help is offered, with what it is in the person's language; no hub is started", "R10.3 R8.2")
def all_offered(home: Home) -> None:
    assert len(VERBS) > 20
    assert list(offered(home, "")) == VERBS
    for verb in VERBS:
        assert set(offered(home, verb, "--")) == options_of(home, verb) - {"--auto-started"}, verb
        assert offered(home, verb[:-1] or verb)[verb]
    assert offered(home, "sett") == {"settings": "View and change settings."}
    assert re.search("[\u4e00-\u9fff]", offered(home, "sett", CHOICE_LANG="zh")["settings"])
    assert not home.data.exists(), "completing made something"


@test("words, values of options and settings, clients, files: what the usage lines and tables have", "R10.3")
def places(home: Home) -> None:
    rows = home.sayso("settings", "list", "--json").json
    for act in ("get", "set", "reset"):
        assert list(offered(home, "settings", act, "")) == [row["name"] for row in rows]
    for row in rows:
        values = list(offered(home, "settings", "set", row["name"], ""))
        if row["type"] in ("bool", "enum"):
            assert values == row.get("choices", ["on", "off"]), row
    assert list(offered(home, "settings", "")) == ["list", "get", "set", "reset", "edit"]
    assert list(offered(home, "token", "")) == ["list", "new", "revoke"]
    assert list(offered(home, "token", "new", "--kind", "")) == ["agent", "person", "host"]
    assert list(offered(home, "serve", "--port", "80", "--mcp-auth", "")) == ["token", "none"]
    assert {"claude", "codex", "vscode"} <= set(offered(home, "install", ""))
    assert list(offered(home, "completion", "")) == ["bash", "zsh", "fish"]
    assert list(offered(home, "man", "")) == VERBS
    assert list(offered(home, "ask", "--from", "")) == [":files"] == list(offered(home, "ask", "-f", ""))
    for nothing in (("nonsense", ""), ("serve", "--port", ""), ("settings", "set", "nonsense", ""), ("stop", ""), ("version", "x", "y", "")):
        assert not offered(home, *nothing), nothing


@test("ids of open asks are offered by a hub that runs; their titles can't act on a shell", "R10.3 R6.5")
def ids(home: Home) -> None:
    assert not offered(home, "show", "")
    first = ask(home, "First")
    hostile = ask(home, "a\x1b]0;x\x07\tb $(touch /tmp/no) `c`\u202e")
    for verb in ("answer", "show", "cancel", "decline", "extend", "withdraw", "attach", "open"):
        assert set(offered(home, verb, "")) == {first[:8], hostile[:8]}, verb
        assert list(offered(home, verb, first[:4])) == [first[:8]], verb
    title = offered(home, "show", "")[hostile[:8]]
    assert not re.search("[\x00-\x1f\x7f\u202e]", title), repr(title)
    assert not offered(home, "token", "revoke", ""), "ids of asks are not ids of tokens"


def in_shell(home: Home, *words: str, name: str, script: str) -> list[str]:
    if not shutil.which(name):
        raise Skip(f"{name} is not installed")
    result = subprocess.run([name, *words, script], env={**home.environment, "TERM": "dumb"}, capture_output=True, text=True, timeout=60)
    assert not result.stderr, result
    return result.stdout.split()


@test("bash completes with the script: verbs, words, values, files", "R10.3")
def in_bash(home: Home) -> None:
    (home.path / "question.json").write_text("{}")
    script = home.path / "script"
    script.write_text(home.sayso("completion", "bash").out)
    for words, wanted in ((["se"], ["serve", "settings"]), (["settings", "set", "theme", "d"], ["dark"]),
                          (["install", "cl"], ["claude", "claude-desktop"]),
                          (["ask", "--from", f"{home.path}/ques"], [f"{home.path}/question.json"]), (["zzz"], [])):
        line = json.dumps([home.binary, *words])[1:-1].replace(",", " ")
        got = in_shell(home, "--norc", "--noprofile", "-c", name="bash",
                       script=f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _sayso; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        assert set(wanted) <= set(got) and (len(wanted) > 1 or got == wanted), (words, got)
    assert "-F _sayso sayso" in " ".join(in_shell(home, "--norc", "-c", name="bash", script=f"source {script}; complete -p sayso"))


@test("fish completes with the script", "R10.3")
def in_fish(home: Home) -> None:
    script = home.path / "script.fish"
    script.write_text(home.sayso("completion", "fish").out)
    (home.path / "bin").mkdir()
    (home.path / "bin/sayso").symlink_to(home.binary)
    home.environment["PATH"] = f"{home.path}/bin:{home.environment['PATH']}"
    for typed, wanted in (("sayso se", {"serve", "settings"}), ("sayso settings set theme d", {"dark"}), ("sayso zzz", set())):
        got = in_shell(home, "--no-config", "-c", name="fish", script=f"source {script}; complete -C'{typed}' | string replace -r '\\t.*' ''")
        assert set(got) == wanted, (typed, got)


SECTIONS = {"en": ("NAME", "SYNOPSIS", "EXIT STATUS", "FILES", "SEE ALSO"), "zh": ("名称", "概要", "退出状态", "文件", "另请参阅")}


def printed(*words: str, **settings) -> str:
    """What a program makes of a page; it has nothing to say about it."""
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    assert done.returncode == 0 and not done.stderr, (words, done.stderr)
    return done.stdout


def closed_up(text: str, language: str) -> str:
    """Without the blanks and line ends that are not the text's: Chinese lines break anywhere."""
    return " ".join(text.split()) if language == "en" else "".join(text.split())


@test("a manual page for the program and for each command, in each language: what the help says is in it, and man, groff "
      "and mandoc find nothing wrong", "R10.3 R8.2")
def pages(home: Home) -> None:
    for tool in ("man", "groff", "mandoc"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    seen, abouts = {**home.environment, "LC_ALL": "C.UTF-8"}, {}
    for language, verb in ((language, verb) for language in SECTIONS for verb in ("", *VERBS)):
        home.environment["CHOICE_LANG"] = language
        page = home.path / f"sayso-{verb}.{language}.1"
        result = home.sayso("man", *[verb] * bool(verb))
        assert result.code == 0 and not result.err, result
        page.write_text(result.out)
        text = closed_up(printed("man", "-l", "--warnings", str(page), env={**seen, "MANWIDTH": "200"}), language)
        help_text = home.sayso(*[verb] * bool(verb), "--help").out
        for line in re.findall(r"^  sayso (\S.*)$", help_text, re.MULTILINE) if verb else []:
            assert closed_up(line, language) in text, (verb, line)
        for option, about in re.findall(r"^ +(?:-\w, )?(--[a-z-]+)(?: \S+)? +(\S.*)$", help_text, re.MULTILINE):
            assert option in text and closed_up(about, language) in text, (verb, option, about)
        for section in SECTIONS[language]:
            assert f"\n.SH {section}\n" in result.out, (verb, section)
        abouts[str(page)] = help_text
    formatted = ["groff", "-man", "-z", "-Kutf8", "-Tutf8"]
    printed(*formatted, "-ww", *abouts)
    narrow = subprocess.run([*formatted, "-rLL=50n", *abouts], capture_output=True, text=True).stderr
    assert not re.sub(r"^troff: \S+:5: .*can't break line\n", "", narrow, flags=re.MULTILINE), narrow  # 5: NAME
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *abouts], capture_output=True, text=True).stdout
    assert all("missing date" in line for line in lint.splitlines()), lint  # the same sources make the same page any day
    for line in printed("lexgrog", *abouts, env=seen).splitlines():
        page, _, about = line.partition(': "')
        about = about.partition(" - ")[2].rstrip('"')
        assert about and about in abouts.pop(page) and "\\" not in about, line
    assert not abouts, abouts
    for language in SECTIONS:
        contents = printed("man", "-l", str(home.path / f"sayso-.{language}.1"), env={**seen, "MANWIDTH": "200"})
        assert all(f"sayso-{verb}(1)" in contents for verb in VERBS)
        home.environment["CHOICE_LANG"] = language
        rows = home.sayso("settings", "list", "--json").json
        settings = (home.path / f"sayso-settings.{language}.1").read_text().replace("\\-", "-")
        assert all(f".B {row['name']}\n" in settings and row["environment"] in settings for row in rows)
    assert home.sayso("man", "nonsense").code == 2 and home.sayso("completion", "tcsh").code == 2 == home.sayso("completion").code


@test("no word of a Chinese page is English but for what is typed", "R8.2")
def chinese_pages(home: Home) -> None:
    if not shutil.which("man"):
        raise Skip("man is not installed")
    home.environment["CHOICE_LANG"] = "zh"
    for verb in ("", *VERBS):
        page = home.path / "page.1"
        page.write_text(home.sayso("man", *[verb] * bool(verb)).out)
        text = printed("man", "-l", str(page), env={**home.environment, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"})
        assert re.search("[\u4e00-\u9fff]", text.splitlines()[0]), text.splitlines()[0]  # the title of the manual
        titles = re.findall(r"^(?:   )?(\S.*)$", text, re.MULTILINE)[1:-1]
        assert titles and all(re.search("[\u4e00-\u9fff]", title) for title in titles), titles
        for line in re.findall(r"^[^.\n].*$", page.read_text(), re.MULTILINE):
            told = re.sub(r"\\\(aqsayso .*?\\\(aq", "", line)  # but for commands in quotes
            english = re.findall(r"[A-Za-z]{2,}(?: [a-z]{2,}){2,}", told)
            assert not english or line.startswith("sayso "), (verb, line)


run()
