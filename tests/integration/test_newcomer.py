"""A newcomer's walk: README from top to bottom, every command that a page names, and the demonstration.
tests/packages/test_fresh_tree.py builds a fresh tree first.

Proves: R10.3 R14.1
"""
from __future__ import annotations

import atexit
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import postgres
from docs_stage import Named, blocks, commands, try_demonstration, variants
from far_stage import Papers, write_secret
from harness import HANG_S, ROOT, Home, Result, counted, run, test, wait_until

PROMPT = "The build is done; both clusters are healthy, so somebody has to choose."
CHOICE = {"title": "T", "prompt": PROMPT, "selection_mode": "single", "options": [{"id": "a", "label": "A", "recommended": True}]}
HOOK = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/tmp"}
PAPERS: list[Papers] = []
NEEDS_ASK = {"answer", "cancel", "decline", "extend", "reply", "explain", "withdraw", "show", "attach", "open"}
NO_TERMINAL = {"attach": 5, "inbox": 5, "notify desktop": 1}  # what needs a terminal says so here; tests/terminal has one


def in_path(home: Home) -> None:
    (home.path / "bin").mkdir()
    (home.path / "bin/sayso").symlink_to(pathlib.Path(home.binary).resolve())
    home.environment["PATH"] = f"{home.path}/bin:{home.environment['PATH']}"


def shell(home: Home, script: str, code: int | None = 0, **more: str) -> str:
    ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=60,
                         cwd=home.path, input=more.pop("input", ""), env={**home.environment, **more})
    assert code is None or ran.returncode == code, (script, ran)
    return ran.stdout


def on_terminal(home: Home, command: str, typed: str) -> str:
    """What asks back wants a terminal: a pty, as util-linux makes one."""
    return shell(home, f"script -qec {shlex.quote(command)} /dev/null", input=typed, BROWSER="true")


@test("README from top to bottom: the first ask is answered as it says, an agent is connected, the JSON is taken", "R10.3")
def readme(home: Home) -> None:
    in_path(home)
    build, first_ask, answering, connecting = blocks("README.md")[:4]
    assert "make run" in build and "sayso install claude" in connecting
    asking = home.spawn("-euo", "pipefail", "-c", first_ask + '\necho "target=$target"', program="bash", cwd=home.path)
    wait_until(lambda: home.hub_pid() and home.sayso("list", "--active", "--json").json, "the first ask is there")
    for line in answering.strip().splitlines():
        command = line.split("#")[0].strip()
        out = shell(home, command, 5 if command == "sayso attach" else 0)
        assert "attach" in command or "answer" in command or "Which cluster gets the release?" in out, (command, out)
    out, err = asking.communicate(timeout=HANG_S)
    assert out == "target=eu\n", (out, err)
    assert "mcpServers" in on_terminal(home, connecting.split("#")[0].strip(), "\ny\n") and "sayso" in (home.path / ".claude.json").read_text()
    servers = [json.loads(block) for block in blocks("README.md", "json")]
    entry = servers[0]["mcpServers"]["sayso"]
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    said = shell(home, shlex.join([entry["command"], *entry["args"]]), input=json.dumps({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}) + f"\n{hello}\n")
    assert '"provide_choice"' in said, said
    asked = shell(home, "sayso ask --from - --json --wait 0", 5, input=json.dumps(servers[-1]))
    assert json.loads(asked)["action_status"] == "pending", asked


def open_ask(home: Home, words: list[str]) -> str:
    field = words[words.index("--field") + 1].split("=")[0] if "--field" in words else ""
    field = field or {"120": "value", "yes": "confirmed"}.get(words[-1], "")
    if field in ("value", "confirmed"):
        tool, name = ({"message": "How fast?", "minimum": 40, "maximum": 200}, "elicit_number") if field == "value" else \
            ({"message": "Go?"}, "elicit_confirm")
        return home.sayso("ask", "--tool", name, "--from", "-", "--json", "--wait", "0", input=json.dumps(tool)).json["session_id"]
    tool = {"title": "T", "prompt": PROMPT}
    picked = words[words.index("--select") + 1].split(",")[-1] if "--select" in words else "b" if words[-1] == "b" else "eu"
    if "--text" in words:
        tool |= {"selection_mode": "text_input"}
    else:
        tool |= {"selection_mode": "multi", "options": [{"id": "a", "label": "A", "recommended": True}, {"id": picked if picked != "a" else "b", "label": "Europe"}]}
    if "--launch" in words:
        tool["interface"] = "terminal"
    asker = ["--as", words[words.index("--as") + 1]] if "--as" in words else []
    said = home.sayso("ask", "--from", "-", "--json", "--wait", "0", *asker, input=json.dumps(tool), cwd=home.path).json
    return re.search(r"--launch (\S+)", said["terminal_command"])[1] if "--launch" in words else said["session_id"]


def answered_ask(home: Home) -> str:
    """Of an agent that is not above us: who is may not let its own answers stand."""
    asking = home.spawn("-c", "sayso ask --from - --json --wait 0; exit 0", program="/bin/sh", cwd=home.path)
    id = json.loads(asking.communicate(json.dumps(CHOICE), timeout=HANG_S)[0])["session_id"]
    assert home.sayso("answer", id, "--select", "a").code == 0
    return id


def backup(home: Home) -> str:
    """What `export --all` writes; the hub is not in the way of an import."""
    answered_ask(home)
    assert home.sayso("export", "--all", "--out", "sayso-backup.jsonl", cwd=home.path).code == 0
    home.sayso("stop")
    shutil.copy(home.path / "sayso-backup.jsonl", home.path / "arguments.json")
    return (home.path / "sayso-backup.jsonl").read_text()


def papers() -> Papers:
    """Certificates, made once for all and gone with the process."""
    if not PAPERS:
        PAPERS.append(Papers())
        atexit.register(PAPERS[0].__exit__)
    return PAPERS[0]


def new_database() -> str:
    """An empty one, gone with the process."""
    databases = postgres.shared()
    url = databases.new_database()
    atexit.register(databases.drop_database, url)
    return url


def filled(home: Home, words: list[str]) -> list[str]:
    """The command with its placeholders filled in, as a user would."""
    verb = words[1]
    names = {"--client": "claude", "--tool": "elicit_confirm", "--as": "bot", "settings": "theme", "--other": "q", "--name": "mine"}
    values = {"TITLE": "T", "PROMPT": PROMPT, "ID=LABEL": "a=A", "TEXT": "words", "SECONDS": "60", "CLIENT": "claude", "VALUE": "dark",
              "FILE": "arguments.json", "COMMAND": "ask", "N": "0", "DAYS": "3", "ID,ID": "a,eu", "NAME=VALUE": "choice=a", "COUNT": "3",
              "WORD": "cluster", "CHOICE": "a", "STATUS": "submitted", "CHANNEL": "cli", "TIME": "7d"}
    out: list[str] = []
    for word in words:
        before = out[-1] if out else ""
        if word == "ID" and before in ("--select", "--recommend"):
            out.append("a")
        elif word == "ID" and verb == "token" or before == "revoke":
            home.sayso("token", "new")
            out.append(home.sayso("token", "list", "--json").json[0]["id"][:8])
        elif verb == "rule" and before == "remove":
            made = home.sayso("rule", "add", answered_ask(home), "--json").json["id"]
            out.append(made[:8])
        elif word in ("ID", "CODE", "ASK", "k3f7"):
            out.append("@")  # the ask, made when all words are known
        elif word == "NAME":
            out.append(names.get(before, names.get(verb, "theme")))
        elif before == "--hub" and word.startswith("https://"):  # tests of its own have one; this is as through a tunnel
            home.sayso("list")
            out.append(f"http://127.0.0.1:{home.hub()['port']}")
        elif before == "--token-file":
            kind = "agent" if verb in ("mcp", "ask", "withdraw", "gate", "prompts") else "person"
            write_secret(home.path / "token", home.sayso("token", "new", "--kind", kind).out.split()[0])
            out.append(str(home.path / "token"))
        elif before in ("--tls-cert", "--tls-key", "--ca-file"):
            out.append(papers().of("own.key" if before == "--tls-key" else "own.pem"))
        elif before == "--listen":
            out.append("127.0.0.1:0")
        elif word.startswith("postgres://"):
            out.append(new_database())
        elif word.startswith("sqlite:"):
            out.append(f"sqlite:{home.data / 'sayso.db'}")
        elif word == "unix:PATH":
            home.sayso("list")
            out.append(f"unix:{home.hub()['socket']}")
        else:
            out.append(values.get(word, re.sub(r"^~/", f"{home.path}/", word)))
    if verb == "tell":
        made = home.sayso("ask", "--from", "-", "--json", input=json.dumps(CHOICE | {"timeout_seconds": 1}), cwd=home.path).json["session_id"]
        return [made if word == "@" else word for word in out]
    if verb in NEEDS_ASK or verb == "rule" and "@" in out:
        made = open_ask(home, out) if verb in NEEDS_ASK else answered_ask(home)
        out = [made if word == "@" else word for word in out]
    return out


def execute(home: Home, named: Named, words: list[str]) -> None:
    verb, rest = words[1], words[1:]
    (home.path / "arguments.json").write_text(json.dumps({"message": "Go?"} if "--tool" in words else CHOICE))
    if ">" in words:
        answered_ask(home)
        shell(home, named.text)
        return
    if verb == "serve":
        rest = [word for word in rest if word != "&" and ">" not in word]
        hub = home.spawn(*rest, cwd=home.path)
        home.wait_hub()
        assert home.sayso("stop").code == 0 and hub.wait(HANG_S) == 0
        return
    if verb == "ask":
        asking = home.spawn(*rest, cwd=home.path)
        if "-" in words:
            asking.stdin.write((home.path / "arguments.json").read_text())
        asking.stdin.close()
        asking.stdin = None  # or the cleanup would close it again
        wait_until(lambda: home.hub_pid() and home.sayso("list", "--active", "--json").json, f"{named} asks")
        assert home.sayso("cancel").code == 0
        assert asking.wait(HANG_S) == 3, (named, asking.stderr.read())
        return
    if verb == "explain":
        assert home.sayso("reply", words[2], "Why?").code == 0
        explaining = home.spawn(*rest, cwd=home.path, stdin=subprocess.DEVNULL)
        wait_until(lambda: len(home.sayso("show", words[2], "--json").json.get("talk", [])) == 2, f"{named} explains")
        assert home.sayso("cancel").code == 0
        assert explaining.wait(HANG_S) == 3, (named, explaining.stderr.read())
        return
    if verb == "migrate":  # a file with something in it, and no hub on it
        answered_ask(home)
        home.sayso("stop")
    given = json.dumps(HOOK) if verb in ("gate", "prompts") else backup(home) if verb == "import" else ""
    if verb == "export":
        answered_ask(home)
    if "--undo" in words:
        assert home.sayso("install", "claude", "--yes", cwd=home.path).code == 0
    if verb == "install" and not {"--yes", "--print"} & set(words):
        asks_tools = not {"--tools", "--http", "--gate", "--prompts", "--undo"} & set(words)
        on_terminal(home, shlex.join(["sayso", *rest]), "\ny\n" if asks_tools else "y\n")
        return
    result: Result = home.sayso(*rest, input=given, cwd=home.path, env={"EDITOR": "true", "BROWSER": "true"})
    assert result.code == NO_TERMINAL.get(" ".join(words[1:3]), NO_TERMINAL.get(verb, 0)), (named, words, result)


def is_mention(text: str) -> bool:
    """Only the name of a command that wants more than its name."""
    words = text.split()
    return len(words) == 2 and words[1] in {"ask", "install", "gate", "prompts", "extend", "withdraw", "answer", "completion", "import", "migrate", "reply", "explain", "tell"} or \
        text in ("sayso ask --json", "sayso ask --tool")


ALL = list(dict.fromkeys(named for named in commands()))


@test("every sayso command that a page names runs as it stands, each of its forms", "R10.3 R14.1")
def every_command() -> None:
    seen, ran, failed = set(), 0, []
    for named in ALL:
        if not named.text.startswith("sayso ") or named.text in seen or "--conformance-fixture" in named.text:
            continue
        seen.add(named.text)
        if " | " in named.text and "man -l" not in named.text:
            continue  # of docs/rest.md, which tests/integration/test_rest_docs.py runs whole
        for text in [named.text] if " | " in named.text else variants(named.text):
            with Home() as home:
                in_path(home)
                if is_mention(text):
                    assert home.sayso(text.split()[1], "--help").code == 0, named
                elif " | " in text:
                    if shutil.which("man"):
                        assert "SYNOPSIS" in shell(home, text), named
                else:
                    try:
                        execute(home, named, filled(home, shlex.split(text)))
                    except (AssertionError, ValueError, KeyError, IndexError) as wrong:
                        failed.append(f"{named.page}: {text}: {wrong}")
                ran += 1
    counted(f"{len(seen)} commands of the pages, {ran} runs")
    assert not failed, "\n".join(failed)
    assert len(seen) > 50, seen


@test("every make target and tool that a page names is there", "R14.3")
def every_target() -> None:
    help_text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    targets = {named.text.split()[1] for named in ALL if named.text.startswith("make ")}
    assert len(targets) > 8 and all(re.search(rf"^  make {target} ", help_text, re.MULTILINE) for target in targets - {"help"}), targets
    tools = {named.text.split()[0] for named in ALL if named.text.startswith("tools/")}
    assert tools and all(os.access(ROOT / tool, os.X_OK) for tool in tools), tools
    for page in {named.page for named in ALL}:
        folder = (ROOT / page).parent
        for target in re.findall(r"\]\(([A-Za-z0-9./_-]+)(?:#[^)]*)?\)", (ROOT / page).read_text()):
            assert (folder / target).exists(), f"{page} links to {target}"


@test("what make run shows once it has built: the sample ask, which is answered as it prints", "R10.3")
def demonstration(home: Home) -> None:
    tree = home.path / "tree"
    (tree / "tools").mkdir(parents=True)
    (tree / "build").mkdir()
    shutil.copy(ROOT / "tools/run_demo", tree / "tools")
    (tree / "build/sayso").symlink_to(pathlib.Path(home.binary).resolve())
    try_demonstration(home, tree, "tools/run_demo")


run()
