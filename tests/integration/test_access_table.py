"""Authorization as a table: every wire method, setting and route of the program × every door × every identity, walked on the
real program and compared with tests/access.txt, which says what each letter means. The rows come from the program's own
tables (tests/unit/print_access.c): one that the file lacks fails, and so does one that is gone.
"""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

from access_walk import MAY, judge
from far_stage import Far
from harness import BIN, ROOT, Home, Wire, WireError, note, run, test
from web_stage import code_of, link_of

TABLE = ROOT / "tests" / "access.txt"
WALK = pathlib.Path(__file__).parent / "access_walk.py"
PRINT = pathlib.Path(BIN).resolve().parent.parent.parent / "tests" / "unit" / "print_access"
OTHER_UID = 12345
IDENTITIES = ("none", "agent", "sub-agent", "host", "answering host", "person", "revoked", "other user")
ROLES = {"agent": "agent", "sub-agent": "agent", "host": "agent", "answering host": "agent", "person": "person",
         "revoked": "person", "other user": "person"}
LINES = ("unix", "ws", "wire", "tls-ws", "tls-wire")
ROUTED = ("http", "tls")
LOCAL = ("none", "agent", "sub-agent", "person", "other user")  # on the unix socket there are no tokens
ENDS = ("method hub/stop", "method hub/retire")  # where they work the hub is gone


def program_rows() -> list[str]:
    done = subprocess.run([PRINT], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def make_tokens(home: Home) -> dict[str, str]:
    kinds = {"agent": [], "sub-agent": ["--sub-agent"], "host": ["--kind", "host"], "person": ["--kind", "person"],
             "answering host": ["--kind", "host", "--may-answer"], "revoked": ["--kind", "person", "--label", "revoked"]}
    made = {name: home.sayso("token", "new", *words) for name, words in kinds.items()}
    assert all(done.code == 0 for done in made.values()), made
    listed = home.sayso("token", "list", "--json").json
    rows = listed["tokens"] if isinstance(listed, dict) else listed
    gone = next(row["id"] for row in rows if row["label"] == "revoked")
    assert home.sayso("token", "revoke", gone).code == 0
    return {name: done.out.split()[0] for name, done in made.items()}


def walk(work: list[dict], uid: int | None = None) -> list[dict[str, str]]:
    done = subprocess.run([sys.executable, "-B", WALK, *([str(uid)] if uid else [])], input=json.dumps(work),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def end_hub(far: Far, identity: str, row: str) -> str:
    """What came of it on the unix socket; if the hub ended, another one is there afterwards."""
    with Wire(far.home) as wire:
        if identity != "none":
            wire.hello(ROLES[identity], sub_agent=identity == "sub-agent")
        try:
            wire.call(row.split()[1])
        except WireError as error:
            return judge({"code": error.code, "message": error.message, "data": error.data})
    far.process.wait(60)
    far.home.spawned.remove(far.process)
    far.serve()
    return MAY


def walked(far: Far, rows: list[str]) -> dict[tuple[str, str], dict[str, str]]:
    tokens, hub, found = make_tokens(far.home), far.home.hub(), {}
    named = [row for row in rows if not row.startswith("route")]
    work = []
    for door in LINES + ROUTED:
        for identity in IDENTITIES if door != "unix" else LOCAL:
            spared = ENDS if door == "unix" and identity != "other user" else ()
            work.append({"door": door, "identity": identity, "token": tokens.get(identity, ""), "role": ROLES.get(identity, ""),
                         "code": code_of(link_of(far.home)) if identity == "other user" else "",
                         "port": hub["port"], "tls_port": far.port, "socket": hub["socket"],
                         "rows": [row for row in rows if row.startswith("route")] if door in ROUTED
                         else [row for row in named if row not in spared]})
    if os.geteuid() != 0:
        note("another user is left out: this needs root")
        work = [given for given in work if given["identity"] != "other user"]
    own = [given for given in work if given["identity"] != "other user"]
    others = [given for given in work if given["identity"] == "other user"]
    results = walk(own) + (walk(others, OTHER_UID) if others else [])
    for given, result in zip(own + others, results):
        found[given["door"], given["identity"]] = result
    for identity in LOCAL[:-1]:
        for row in ENDS:
            found["unix", identity][row] = end_hub(far, identity, row)
    return found


def letters(found: dict[tuple[str, str], dict[str, str]], row: str, door: str) -> str:
    return "".join(found[door, identity][row] if (door, identity) in found else "." for identity in IDENTITIES)


def seen(words: list[str]) -> list[str]:
    """Without the column that only root can walk."""
    return words if os.geteuid() == 0 else [word[:-1] for word in words]


def read_table() -> dict[str, list[str]]:
    lines = TABLE.read_text().splitlines()
    assert len(lines) <= 300, f"{len(lines)} lines: a person reads it"
    table = {}
    for line in lines:
        if line and not line.startswith("#"):
            words = line.split()
            at = next(i for i, word in enumerate(words) if len(word) == len(IDENTITIES) and set(word) <= set("Yrthx-."))
            assert " ".join(words[:at]) not in table, line
            table[" ".join(words[:at])] = words[at:]
    return table


@test("every method, setting and route at every door for every identity is as tests/access.txt says", "R12.1")
def table():
    rows, wanted = program_rows(), read_table()
    missing, gone = [row for row in rows if row not in wanted], [row for row in wanted if row not in rows]
    with Far() as far:
        found = walked(far, rows)
        assert far.home.sayso("list", "--json").json == []  # it changed nothing
    wrong = []
    for row in rows:
        got = [letters(found, row, door) for door in (ROUTED if row.startswith("route") else LINES)]
        if seen(wanted.get(row, [])) != seen(got):
            wrong.append(f"{row:42} {' '.join(got)}   # not: {' '.join(wanted.get(row, ['missing']))}")
    assert not missing and not gone and not wrong, "tests/access.txt says otherwise:\n" + "\n".join(
        [f"missing: {row}" for row in missing] + [f"the program has no {row}" for row in gone] + wrong)


@test("mcp_auth none opens /mcp on loopback to those without a token, and nothing else", "R12.1")
def without_tokens(home: Home) -> None:
    home.spawn("serve", "--port", "0", "--mcp-auth", "none")
    home.wait_hub()
    routes = [row for row in program_rows() if row.startswith("route")]
    given = {"door": "http", "identity": "none", "token": "", "port": home.hub()["port"], "rows": routes}
    results = walk([given, {**given, "identity": "revoked", "token": make_tokens(home)["revoked"]}])
    wanted = {row: "Y" if row.endswith(" /mcp") else words[0][0] for row, words in read_table().items() if row in routes}
    assert results == [wanted, wanted], results


run()
