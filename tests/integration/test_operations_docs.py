"""What docs/operate/operations.md tells operators to type, on a server with TLS and a password: set-up, start, backup."""
from __future__ import annotations

import os
import re
import shutil
import subprocess

import postgres
from docs_stage import blocks
from far_stage import Papers, write_secret
from harness import HANG_S, Home, run, test, wait_until

PASSWORD = "correct:horse"  # a colon is written as \: in the file
DATABASE, COPY = "sayso", "sayso_copy"
ASK = ["ask", "Ship it?", "-p", "The release is built and tested; shall it go out now?", "-o", "yes=Now", "-o", "no=Wait", "-r", "yes"]


def secured(papers: Papers) -> postgres.Server:
    """A server that speaks TLS, without the tests' own role."""
    server = postgres.Server()
    for name in ("own.pem", "own.key"):
        shutil.copy(papers.of(name), server.path / name)
        (server.path / name).chmod(0o600)
    postgres.own(server.path)
    server.data.chmod(0o700)
    server.sql(f"DROP ROLE {postgres.ROLE}")
    server.set("ssl_cert_file", str(server.path / "own.pem"))
    server.set("ssl_key_file", str(server.path / "own.key"))
    server.set("ssl", "on")
    return server


def administer(home: Home, server: postgres.Server, script: str) -> None:
    """As the database's administrator would, at its machine."""
    ran = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=120, cwd=home.path,
                         stdin=subprocess.DEVNULL,
                         env={"PATH": f"{postgres.PROGRAMS}:{os.environ['PATH']}", "PGHOST": str(server.path),
                              "PGPORT": str(server.port), "PGUSER": postgres.SUPERUSER, "HOME": str(home.path)})
    assert ran.returncode == 0, (script, ran)


def here(text: str, home: Home, server: postgres.Server, authority: str) -> str:
    """The page's places as those of this test."""
    for theirs, ours in {"db.example.org:5432": f"localhost:{server.port}", "/etc/sayso/pgpass": str(home.path / "pgpass"),
                         "/etc/sayso/db-ca.pem": authority}.items():
        assert theirs in text, theirs
        text = text.replace(theirs, ours)
    return text


def connections(server: postgres.Server) -> tuple[int, bool] | None:
    """How many there are and whether all are encrypted; the last ones come a moment after the hub serves."""
    [(count, are_encrypted)] = server.sql("SELECT count(*), bool_and(s.ssl) FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid)"
                                          " WHERE a.application_name = 'sayso'")
    return (count, are_encrypted) if count >= 4 else None


@test("set-up, start and backup of docs/operate/operations.md do what it says", "R13.1 R14.1")
def page() -> None:
    set_up, start, _, backup = blocks("docs/operate/operations.md")  # moving is test_migrate.py's
    with Papers() as papers, secured(papers) as server, Home() as home, Home() as second:
        administer(home, server, set_up)
        server.sql(f"ALTER ROLE sayso PASSWORD '{PASSWORD}'")
        escaped = PASSWORD.replace(":", "\\:")
        for one in (home, second):
            write_secret(one.path / "pgpass", f"localhost:{server.port}:*:sayso:{escaped}")
        script = re.sub(r"^sayso serve$", f"exec {home.binary} serve", here(start, home, server, papers.of("ca.pem")), flags=re.M)
        hub = home.spawn("-c", script, program="/bin/bash")
        home.wait_hub()
        count, are_encrypted = wait_until(lambda: connections(server), "the writer, the listener, and two for reads are connected")
        assert are_encrypted, count
        shown = home.sayso("status").out
        assert PASSWORD not in shown and "passfile" not in shown and f"postgres://sayso@localhost:{server.port}/sayso" in shown, shown
        asked = home.sayso(*ASK, "--json", "--wait", "0").json["session_id"]
        assert home.sayso("answer", asked, "--select", "yes").code == 0
        administer(home, server, backup)
        store = re.search('SAYSO_STORE="(.*)"', here(start, second, server, papers.of("ca.pem"))).group(1)
        second.environment["SAYSO_STORE"] = store.replace(f"/{DATABASE}?", f"/{COPY}?")
        copied = second.sayso("show", asked, "--json")
        assert copied.json["ask"]["status"] == "submitted", copied
        second.sayso("stop")
        second.environment["SAYSO_STORE"] = store.replace("ca.pem", "other_ca.pem")
        refused = second.sayso("serve")
        assert refused.code != 0 and "certificate" in refused.err + refused.out, refused
        assert home.sayso("stop").code == 0 and hub.wait(HANG_S) == 0


run()
