"""The portal as it is served: the page and its bundle, addresses in results, `sayso open`, when a browser is
opened and with what, the hub's clock on its pages (R7.1, R7.2, R7.7, R2.6, R12.2).
"""
from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import signal
import stat
import sys
import tempfile
import time
from typing import Any

from harness import HANG_S, ROOT, Home, WireError, run, test, wait_until
from hub_stage import end_of
from web_stage import Page, code_of, get, hello, link_of, signed_in, start_hub
from wire_stage import agent, choice, make_ask, person

PAGES = ["/", "/choice/abcdefghijklmnopqrstuvwxyz", "/history", "/standing", "/settings", "/statistics", "/devices", "/help"]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
          "manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; "
          "require-trusted-types-for 'script'")


def manifest() -> dict[str, list[str]]:
    """The files of the page, by "", and those of each part."""
    found: dict[str, list[str]] = {"": []}
    into = ""
    for line in (ROOT / "web/manifest").read_text().splitlines():
        if line.startswith("part "):
            found[into := line.removeprefix("part ")] = []
        elif line and not line.startswith("#"):
            found[into].append(line)
    return found


def source_hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@test("every page is the one document, a shell without data, with the headers that protect it", "R7.7 R12.1 R12.2")
def documents(home: Home) -> None:
    port = start_hub(home)
    ask = make_ask(home, "A secret question")
    bodies = set()
    for path in [*PAGES, f"/choice/{ask}", "/?x=1"]:
        status, headers, body = get(port, path)
        assert status == 200, (path, status)
        bodies.add(body)
        fallback = re.search(r"<script>(.*?)</script>", body.decode(), re.S)[1]
        assert headers["content-security-policy"] == POLICY.replace("script-src 'self'", f"script-src 'self' {source_hash(fallback)}"), headers
        assert headers["content-type"] == "text/html; charset=utf-8" and headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY" and headers["cross-origin-opener-policy"] == "same-origin"
        assert "set-cookie" not in headers and b"secret" not in body
    assert len(bodies) == 1
    for path in ("/choice", "/choice/", "/choice/a/b", "/historyx", "/index.html", "/static/", "/static/../web/index.html"):
        assert get(port, path)[0] in (400, 404), path
    for method in ("POST", "PUT", "DELETE"):
        assert get(port, "/", method=method)[0] == 405
    head = get(port, "/", method="HEAD")
    assert head[0] == 200 and head[2] == b"" and int(head[1]["content-length"]) == len(bodies.pop())


@test("the bundle: its name is its hash, its parts stand in the manifest's order, it is cached for long", "R7.7")
def bundle(home: Home) -> None:
    port = start_hub(home)
    document = get(port, "/")[2].decode()
    css = re.search(r'<link rel="stylesheet" href="(/static/app\.([0-9a-f]{16})\.css)" integrity="([^"]+)">', document)
    js = re.search(r'<script type="module" src="(/static/app\.([0-9a-f]{16})\.js)" integrity="([^"]+)"></script>', document)
    assert css and js, document
    names = manifest()[""]
    for found, kind, suffix in ((css, "text/css; charset=utf-8", ".css"), (js, "text/javascript; charset=utf-8", ".js")):
        status, headers, body = get(port, found[1])
        assert status == 200 and headers["content-type"] == kind
        assert hashlib.sha256(body).hexdigest()[:16] == found[2] and headers["etag"] == f'"{found[2]}"'
        assert source_hash(body.decode()) == f"'{found[3]}'", "what is not this bundle is not run"
        assert headers["cache-control"] == "public, max-age=31536000, immutable"
        assert headers["x-content-type-options"] == "nosniff" and headers["vary"] == "Accept-Encoding"
        packed = get(port, found[1], {"Accept-Encoding": "br, gzip;q=0.8"})
        if packed[1].get("content-encoding") == "gzip":
            assert gzip.decompress(packed[2]) == body and len(packed[2]) < len(body)
        else:
            assert len(body) <= len(gzip.compress(body, 9))
        assert "content-encoding" not in get(port, found[1], {"Accept-Encoding": "gzip;q=0"})[1]
        again = get(port, found[1], {"If-None-Match": headers["etag"]})
        assert again[0] == 304 and again[2] == b"" and again[1]["etag"] == headers["etag"]
        assert get(port, found[1].replace(found[2], "0" * 16))[0] == 404
        text, at = re.sub(r"\s", "", body.decode()), 0  # the first telling line of each part, in order, without blanks
        for name in (name for name in names if name.endswith(suffix)):
            part = (ROOT / "web" / name).read_text()
            lines = [line.removeprefix("export ") for line in part.splitlines()
                     if len(line) > 8 and "/*" not in line
                     and not re.match(r"import|export\s*\{|/?\*|//|\s", line)]
            if lines:
                found_at = text.find(re.sub(r"\s", "", lines[0]), at)
                assert found_at >= at, f"{name} is not behind the parts before it"
                at = found_at
    assert not re.search(r"^(import|export)\b", get(port, js[1])[2].decode(), re.M)


@test("a part has its hash in its name and in the page, holds what its files say, and nothing of it is in the page", "R7.7 R12.2")
def parts(home: Home) -> None:
    port = start_hub(home)
    page = get(port, re.search(r"/static/app\.\w+\.js", get(port, "/")[2].decode())[0])[2].decode()
    loads = re.findall(r'loadPart\("(/static/(\w+)\.([0-9a-f]{16})\.js)", "(sha256-[^"]+)", \{([^}]*)\}\)', page)
    assert sorted(name for _, name, *_ in loads) == sorted(set(manifest()) - {""}), loads
    for path, name, short, proof, given in loads:
        status, headers, body = get(port, path)
        text = body.decode()
        assert status == 200 and headers["content-type"] == "text/javascript; charset=utf-8"
        assert headers["cache-control"] == "public, max-age=31536000, immutable"
        assert hashlib.sha256(body).hexdigest()[:16] == short and source_hash(text) == f"'{proof}'"
        assert not re.search(r"^import\b", text, re.M) and f"{name}Part({{{given}}})" in text
        for file in manifest()[name]:
            telling = next(line for line in (ROOT / "web" / file).read_text().splitlines() if re.match(r"export|\.[a-z]", line))
            telling = re.sub(r"\s", "", telling.removeprefix("export ")).split("=")[0]
            assert telling in re.sub(r"\s", "", text) and telling not in re.sub(r"\s", "", page), (file, telling)
    assert get(port, "/static/standing.js")[0] == 404


@test("the fallback carries the same bundle with all its parts, allowed by its hash alone", "R7.7 R12.2")
def fallback(home: Home) -> None:
    port = start_hub(home)
    document = get(port, "/")[2].decode()
    css = get(port, re.search(r"/static/app\.\w+\.css", document)[0])[2].decode()
    js = get(port, re.search(r"/static/app\.\w+\.js", document)[0])[2].decode()
    for path in ("/?inline", "/choice/abcd?inline"):
        status, headers, body = get(port, path)
        text = body.decode()
        assert status == 200 and f"<style>{css}</style>" in text
        script = re.search(r'<script type="module">(.*)</script>', text, re.S)[1]
        for address, name in re.findall(r'loadPart\("(/static/(\w+)[^"]*)"', js):
            part = get(port, address)[2].decode()
            assert part[:part.index("\nexport {")] in script, name
        assert script.startswith(js[:js.index('loadPart("')])
        assert headers["content-security-policy"] == POLICY.replace("script-src 'self'", f"script-src {source_hash(script)}") \
            .replace("style-src 'self'", f"style-src {source_hash(css)}"), headers
        assert text.count("<script") == 1 and text.count("<style") == 1 and "/static/app." not in text
        assert not re.search(r'import\("|loadPart\("', script)


@test("a bundle that would not work is not made", "R7.7")
def bad_bundles(home: Home) -> None:
    good = {"manifest": "css/a.css\njs/a.js\njs/b.js\n", "index.html": "{{css}}{{js}}", "css/a.css": "a {}\n",
            "js/a.js": "export const one = 1;\n", "js/b.js": 'import { one } from "./a.js";\nexport function two() { return one; }\n'}
    cases: list[tuple[str, dict[str, str], str]] = [
        ("good", {}, ""), ("no such file", {"manifest": "css/a.css\njs/c.js\n"}, "there is no js/c.js"),
        ("twice", {"manifest": "css/a.css\njs/a.js\njs/a.js\n"}, "stands twice"),
        ("not listed", {"manifest": "css/a.css\njs/b.js\n"}, "not in the manifest"),
        ("renamed", {"js/b.js": 'import { one as x } from "./a.js";\n'}, "under another name"),
        ("namespace", {"js/b.js": 'import * as x from "./a.js";\n'}, "under another name"),
        ("default", {"js/b.js": "export default function f() {}\n"}, "only named exports"),
        ("name twice", {"js/b.js": "const one = 2;\n"}, "one is a name of a.js too"),
        ("ends early", {"js/b.js": 'const x = "</script>";\n'}, "would end the inline page"),
        ("no place", {"index.html": "{{css}}"}, "needs {{js}} once"),
        ("kind", {"manifest": "css/a.css\njs/a.js\nx.exe\n", "x.exe": ""}, "no kind that is served"),
        ("part", {"manifest": "css/a.css\njs/a.js\npart b\njs/b.js\n", "js/a.js": 'export const one = () => import("./b.js");\n'}, ""),
        ("part too early", {"manifest": "css/a.css\njs/a.js\npart b\njs/b.js\n", "js/a.js": 'import { two } from "./b.js";\nexport const one = two;\n'},
         "comes later"),
        ("no part", {"js/b.js": 'const two = () => import("./a.js");\n'}, "it is in no part"),
        ("part's name twice", {"manifest": "css/a.css\njs/a.js\npart b\njs/b.js\n", "js/b.js": "const one = 2;\n"}, "is a name of a.js too"),
        ("part of no code", {"manifest": "css/a.css\njs/a.js\njs/b.js\npart x\nx.svg\n", "x.svg": ""}, "no kind that is served"),
        ("lines", {"js/b.js": 'import {\n  one,\n} from "./a.js";\nexport { two };\nconst two = one;\n'}, ""),
    ]
    for name, change, wanted in cases:
        with tempfile.TemporaryDirectory() as folder:
            web = pathlib.Path(folder)
            for path, text in {**good, **change}.items():
                (web / path).parent.mkdir(exist_ok=True)
                (web / path).write_text(text)
            made = end_of(home, home.spawn(str(web), str(web / "out.c"), program=str(ROOT / "tools/bundle_web")))
            assert (made.code == 0) == (wanted == "") and wanted in made.err, (name, made)
            if not wanted:
                end_of(home, home.spawn(str(web), str(web / "again.c"), program=str(ROOT / "tools/bundle_web")))
                assert (web / "out.c").read_bytes() == (web / "again.c").read_bytes()


@test("a pending result says where the ask is; a decided one and an agent's address carry no code", "R2.2 R2.6 R12.2")
def addresses(home: Home) -> None:
    port = start_hub(home)
    with agent(home) as wire:
        for interface in ("auto", "web"):
            result = wire.call("ask/create", tool="provide_choice", wait_seconds=0,
                               arguments=choice(f"Which {interface}?", interface=interface))
            url = f"http://127.0.0.1:{port}/choice/{result['session_id']}"
            assert result["url"] == url and json.dumps(result).count(url) == 1 and "warnings" not in result, result
            assert result["selection"]["interface"] == interface
        with person(home) as answering:
            answering.call("ask/answer", session_id=result["session_id"], selected_ids=["a"])
        done = wire.call("ask/wait", session_id=result["session_id"], wait_seconds=10)
        assert done["action_status"] == "selected" and "url" not in done and "url" not in done["selection"], done


@test("with the portal switched off there is no page, no socket, no address and no link", "R2.6")
def switched_off(home: Home) -> None:
    home.spawn("serve", "--port", "0", env={"SAYSO_PORTAL": "off"})
    home.wait_hub()
    port = home.hub()["port"]
    assert get(port, "/")[0] == 404 and get(port, "/healthz")[0] == 200
    with Page(port) as page:
        assert page.status == 404
    with agent(home) as wire:
        result = wire.call("ask/create", tool="provide_choice", wait_seconds=0, arguments=choice("Which?", interface="web"))
        assert "url" not in result and result["warnings"] == ["interface_unavailable"], result
    opened = home.sayso("open", "--no-browser")
    assert opened.code == 1 and "portal" in opened.err, opened


OPENER = """#!{python} -B
import json, os, sys
note = {{"argv": sys.argv[1:], "env": dict(os.environ), "fds": {{}}, "files": None}}
for name in os.listdir("/proc/self/fd"):
    try:
        note["fds"][name] = os.readlink("/proc/self/fd/" + name)
    except OSError:
        pass
note["sid"] = os.getsid(0) == os.getpid() or os.getsid(0)
note["cwd"] = os.getcwd()
path = {out!r}
with open(path + ".new", "a") as file:
    file.write(json.dumps(note) + "\\n")
os.rename(path + ".new", path) if not os.path.exists(path) else open(path, "a").write(json.dumps(note) + "\\n")
"""


def with_opener(home: Home, name: str = "xdg-open") -> pathlib.Path:
    """A desktop of a sort: what would open a browser writes down what it was given."""
    folder = home.path / "bin"
    folder.mkdir(exist_ok=True)
    note = home.path / "opened"
    (folder / name).write_text(OPENER.format(python=sys.executable, out=str(note)))
    (folder / name).chmod(stat.S_IRWXU)
    home.environment.update(PATH=f"{folder}:/usr/bin:/bin", DISPLAY=":77", SECRET_KEY="not for others")
    return note


def opened(note: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in note.read_text().splitlines()] if note.exists() else []


@test("sayso open prints a link and opens it, without a shell and with few inherited things", "R7.1 R12.2 R10.3")
def open_verb(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home, "--no-browser")
    ask = make_ask(home, "x $(touch /tmp/never) `id`")
    with open("/dev/null") as held:
        os.set_inheritable(held.fileno(), True)
        result = home.sayso("open", ask[:5], close_fds=False)
    assert result.code == 0 and result.out.startswith(f"http://127.0.0.1:{port}/choice/{ask}#code=sayso_c_"), result
    got = wait_until(lambda: opened(note), "a browser was opened")[0]
    assert got["argv"] == [result.out.strip()], got
    assert "SECRET_KEY" not in got["env"] and got["env"]["DISPLAY"] == ":77", got["env"]
    assert {fd for fd, where in got["fds"].items() if where.startswith("/proc/")} | {"0", "1", "2"} == set(got["fds"]), got
    assert all(got["fds"][fd] == "/dev/null" for fd in "012") and got["cwd"] == "/", got
    with Page(port) as page:
        hello(page, code=code_of(result.out.strip()))
    said = home.sayso("open", "--json", "--no-browser").json
    assert said["opened"] is False and said["seconds"] == 60 and said["link"].startswith(said["url"] + "#code="), said
    assert len(opened(note)) == 1
    assert home.sayso("open", "zzzz").code == 1


@test("without a screen sayso open says what works: over SSH a tunnel, in a container a port", "R7.1")
def open_elsewhere(home: Home) -> None:
    port = start_hub(home)
    far = home.sayso("open", env={"SSH_CONNECTION": "10.0.0.9 50000 10.0.0.5 22", "CHOICE_LANG": "en"})
    assert far.code == 0 and re.search(rf"ssh -N -L {port}:127\.0\.0\.1:{port} \S+@10\.0\.0\.5\b", far.err), far
    assert "network" in home.sayso("open", env={"container": "podman", "CHOICE_LANG": "en"}).err
    chosen = home.sayso("open", env={"BROWSER": "sh -c true", "CHOICE_LANG": "en"})  # no program's name
    assert chosen.code == 0 and "Opened" not in chosen.err, chosen
    note = with_opener(home, "my-browser")
    home.environment.pop("DISPLAY")
    home.sayso("open", env={"BROWSER": "my-browser:other"})
    assert wait_until(lambda: opened(note), "the chosen browser")[0]["argv"][0].startswith("http://127.0.0.1:")


@test("a browser is opened for an ask that no open page or terminal shows, at most once a minute; its link signs in", "R2.6 R7.1")
def opens_for_ask(home: Home) -> None:
    note = with_opener(home)
    port = start_hub(home)
    first = make_ask(home, "First")
    got = wait_until(lambda: opened(note), "a browser was opened")[0]["argv"][0]
    assert got.startswith(f"http://127.0.0.1:{port}/choice/{first}#code="), got
    make_ask(home, "Second")  # within the minute
    with Page(port) as page:
        hello(page, code=code_of(got))
        page.call("ask/watch")
        make_ask(home, "Third", interface="web")
        page.wait_event("ask/changed", lambda params: params["ask"]["title"] == "Third")
    assert len(opened(note)) == 1, opened(note)


@test("no browser is opened while a page is there, where it is switched off, or when the person wants quiet", "R2.6")
def opens_not(home: Home) -> None:
    note = with_opener(home)
    start_hub(home)
    with signed_in(home) as (page, _):
        page.call("ask/watch")
        make_ask(home, "Seen")
        page.wait_event("ask/changed")
    with person(home) as wire:
        wire.call("settings/set", name="do_not_disturb", value="on")
    make_ask(home, "Quiet")
    home.kill_hub(signal.SIGTERM)
    home.spawn("serve", "--port", "0", "--no-browser")
    home.wait_hub()
    with person(home) as wire:
        wire.call("settings/set", name="do_not_disturb", value="off")
    make_ask(home, "Off")
    home.kill_hub(signal.SIGTERM)
    assert opened(note) == []


@test("the hub's clock reaches pages at every change and every 5 s, not others", "R7.2 R5.4")
def remaining(home: Home) -> None:
    start_hub(home)
    with signed_in(home) as (page, token), Page(home.hub()["port"]) as other, person(home) as wire:
        hello(other, token=token)
        other.call("ask/watch")
        assert page.call("ask/watch", remaining=True)["asks"] == []
        began = time.monotonic()
        ask = make_ask(home, "Which?", timeout_seconds=100)
        assert page.wait_event("ask/changed")["ask"]["remaining_seconds"] in (99, 100)
        told = page.wait_event("ask/remaining", timeout=HANG_S)
        assert time.monotonic() - began > 4 and set(told) == {"asks"}, told
        assert 0 < told["asks"][ask] <= 96, told
        wire.call("ask/extend", session_id=ask, seconds=500)
        assert page.wait_event("ask/changed", lambda params: params["ask"]["remaining_seconds"] > 400)
        told = page.wait_event("ask/remaining", timeout=HANG_S)
        assert 400 < told["asks"][ask] <= 500, told
        wire.call("ask/cancel", session_id=ask)
        page.wait_event("ask/changed", lambda params: params["ask"]["status"] == "cancelled")
        other.call("hub/status")
        assert not [event for event in other.events if event["method"] == "ask/remaining"]


@test("a hub that a front started stays while a page is open, and leaves afterwards", "R7.1")
def idle(home: Home) -> None:
    home.environment["SAYSO_IDLE_EXIT_SECONDS"] = "1"
    result = home.sayso("open", "--no-browser", "--json")
    assert result.code == 0, result
    pid = home.hub_pid()
    with Page(home.hub()["port"]) as page:
        hello(page, code=code_of(result.json["link"]))
        time.sleep(3)
        assert home.hub_pid() == pid and page.call("hub/status")["pid"] == pid
    wait_until(lambda: home.hub_pid() is None, "the hub leaves when its last page has gone")


@test("a hub that ends tells its pages so, and they find the next one", "R7.2")
def farewell(home: Home) -> None:
    port = start_hub(home)
    with signed_in(home) as (page, token):
        page.call("ask/watch")
        home.sayso("stop")
        assert page.wait_event("hub/closing")["why"] == "stop"
        assert page.close_code() == 1001
    wait_until(lambda: home.hub_pid() is None, "the hub is gone")
    home.spawn("serve", "--port", str(port))
    home.wait_hub()
    with Page(port) as page:
        hello(page, token=token)


@test("answers, drafts and undo over the page's socket are the wire's own", "R5.2 R5.3 R5.9 R7.9")
def answers(home: Home) -> None:
    start_hub(home)
    with signed_in(home) as (page, token), Page(home.hub()["port"]) as other, agent(home, "bot") as bot:
        hello(other, token=token)
        page.call("ask/watch")
        other.call("ask/watch")
        asking = bot.start("ask/create", tool="provide_choice", arguments=choice("Which?"))
        ask = page.wait_event("ask/changed")["ask"]["session_id"]
        page.call("ask/draft", session_id=ask, draft={"custom_input": "half"})
        assert other.wait_event("ask/drafted")["draft"] == {"custom_input": "half"}
        receipt = page.call("ask/answer", session_id=ask, selected_ids=["a"])
        assert receipt["undo_ms"] > 0, receipt
        page.call("ask/undo", session_id=ask)
        page.call("ask/answer", session_id=ask, selected_ids=["b"])
        try:
            other.call("ask/answer", session_id=ask, selected_ids=["a"])
            raise AssertionError("two winners")
        except WireError as error:
            assert error.data["code"] == "already_answered", error
        page.call("ask/send", session_id=ask)
        result = bot.finish(asking)
        assert result["selection"]["selected_ids"] == ["b"], result
        by = result["answered_by"]
        assert by["via"] == "web" and by["token"] == "test page" and by["pid"] == os.getpid(), by


run()
