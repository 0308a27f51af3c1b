"""The Debian packages in a clean tree: a minimal Debian, nothing of this machine, another user; then booted by its systemd.

Proves: R10.5
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import time

from tree_stage import ROOT, build, inside, install, new_tree
from booted import PERSON as PERSON_WORDS, Booted
from harness import Skip, counted, note, run, test, wait_until

PERSON = "1000:1000"
WALK = """
export HOME=/home/person PATH=/usr/bin:/bin
sayso version
code=0; sayso ask 'Which one?' -p 'Two ways are open and both would work.' -o a=First -o b=Second -r a \
    --wait 0 --json > asked || code=$?
[ $code = 5 ]
id=$(sed 's/.*"session_id":"\\([a-z0-9]*\\)".*/\\1/' asked)
sayso answer "$id" --select b
sayso show "$id" --json | grep -q '"status":"submitted"'
sayso man ask | grep -q '^.TH'
code=0; sayso doctor || code=$?
echo "doctor ended with $code"
sayso stop
"""
ASK = "sayso ask 'Which one?' -p 'Two ways are open and both would work.' -o a=First -o b=Second -r a --json"
SOCKET = "/run/user/1000/sayso/hub.sock"
HOST_SETTINGS = ".config/sayso/settings.json"


@test("the same sources make the same packages, byte for byte", "R10.5")
def same_bytes() -> None:
    if not shutil.which("dpkg-buildpackage"):
        raise Skip("needs dpkg-dev")
    first = build()
    for name in ("README.md", "docs/examples/key.sh"):  # another checkout, another time
        (ROOT / name).touch()
    assert build() == first and len(first) == 5, first


@test("the packages install in a clean tree with what they need, run there, and leave nothing", "R10.5")
def clean_tree() -> None:
    began = time.monotonic()
    tree = new_tree("clean")
    made_s = time.monotonic() - began
    before = inside(tree, "dpkg-query -W -f '${Package}\\n'").split()
    install(tree)
    added = sorted(set(inside(tree, "dpkg-query -W -f '${Package}\\n'").split()) - set(before))
    assert {"libmd4c0", "libsayso-dev", "libsayso1", "sayso"} <= set(added), added
    size_kb = int(inside(tree, "dpkg-query -W -f '${Installed-Size}' sayso"))
    said = inside(tree, "cd /home/person\n" + WALK, f"--userspec={PERSON}")
    assert "doctor ended with 0" in said, said
    files = inside(tree, "dpkg -L sayso libsayso1 libsayso-dev").split("\n")
    inside(tree, "apt-get -qq purge --yes sayso libsayso1 libsayso-dev")
    left = [name for name in files if "sayso" in name and (tree / name.lstrip("/")).exists()]
    assert not left, left
    counted(f"tree in {made_s:.0f} s, then {time.monotonic() - began - made_s:.0f} s; packages added: {' '.join(added)}; "
            f"sayso takes {size_kb:,} kB")


# Under systemd -----------------------------------------------------------------------------------


def hub(machine: Booted) -> int:
    """The main process of the service, which is up and not on its way."""
    assert machine.shown("sayso.service", "ActiveState") == "active" and machine.shown("sayso.service", "SubState") == "running"
    found = int(machine.shown("sayso.service", "MainPID"))
    assert json.loads(machine.person("sayso status --json"))["pid"] == found
    return found


def asks(machine: Booted) -> list[str]:
    """Whatever became of them."""
    return [row["session_id"] for row in json.loads(machine.person("sayso list --json"))]


def rung(machine: Booted) -> None:
    """Enabled, and nothing runs before the first client comes; then one hub serves all clients."""
    machine.person("systemctl --user --quiet enable --now sayso.socket")
    assert machine.shown("sayso.socket", "SubState") == "listening" and machine.shown("sayso.service", "ActiveState") == "inactive"
    assert machine.run(f"stat -c '%a %U' {SOCKET} {SOCKET.rpartition('/')[0]}").out == "600 person\n700 person\n"
    machine.run(f"runuser -u nobody -- test -e {SOCKET}", code=1)
    assert "not running" in machine.run("sayso status 2>&1 || true", *PERSON_WORDS).out
    crowd = [machine.person_starts(f"{ASK} --wait 0 --key {number}") for number in range(5)]
    results = [machine.end_of(process) for process in crowd]
    assert all(result.code == 5 for result in results), results
    first = hub(machine)
    assert len(asks(machine)) == 5
    # agents' clients strip the environment
    assert machine.run("env -i HOME=/home/person PATH=/usr/bin sayso list --json", "runuser", "-u", "person", "--").out.count("session_id") == 5
    assert hub(machine) == first and int(machine.shown("sayso.service", "NRestarts")) == 0


def killed(machine: Booted) -> None:
    """Killed twice: a command that waits gets the answer. Restarted by hand: it is told, and the same call goes on. Asks stay."""
    def waits(key: str) -> tuple[subprocess.Popen, str]:
        before = set(asks(machine))
        process = machine.person_starts(f"{ASK} --wait 100 --key {key}")
        wait_until(lambda: len(asks(machine)) == len(before) + 1, "an ask that somebody waits for")
        return process, (set(asks(machine)) - before).pop()

    def is_answered(process: subprocess.Popen, ask: str) -> None:
        machine.person(f"sayso answer {ask} --select b")
        result = machine.end_of(process)
        assert result.code == 0 and json.loads(result.out)["selection"]["selected_ids"] == ["b"], result
    process, ask = waits("kill")
    for count in (1, 2):
        before = hub(machine)
        machine.person(f"kill -9 {before}")
        assert len(asks(machine)) == 6  # without a pause: a command that comes now waits in the socket's queue
        after, restarts = hub(machine), int(machine.shown("sayso.service", "NRestarts"))
        assert after != before and restarts == count, (before, after, restarts)
    assert process.poll() is None, machine.end_of(process)
    is_answered(process, ask)
    process, ask = waits("restart")
    before = hub(machine)
    machine.person("systemctl --user restart sayso.service")
    assert hub(machine) != before and len(asks(machine)) == 7
    result = machine.end_of(process)
    assert result.code == 5 and ask in result.out and "stays open" in result.err, result
    process = machine.person_starts(f"{ASK} --wait 100 --key restart")
    time.sleep(1)
    assert len(asks(machine)) == 7
    is_answered(process, ask)


def stopped(machine: Booted) -> None:
    """sayso stop ends it, looking does not bring it back, the next command does."""
    machine.person("sayso stop")
    wait_until(lambda: machine.shown("sayso.service", "ActiveState") == "inactive", "the service has ended")
    machine.run("sayso status || true\nsayso stop || true\nsayso __complete show ''", *PERSON_WORDS)
    assert machine.shown("sayso.service", "ActiveState") == "inactive" and machine.shown("sayso.service", "Result") == "success"
    assert len(asks(machine)) == 7
    hub(machine)


def drained(machine: Booted) -> None:
    """Longer than the unit's TimeoutStopSec, and not killed."""
    machine.person(f"mkdir -p .config/sayso; echo '{{ \"drain_seconds\": 18 }}' > {HOST_SETTINGS}")
    machine.person("systemctl --user restart sayso.service")
    began = time.monotonic()
    machine.person("systemctl --user stop sayso.service 2>&1")
    assert time.monotonic() - began > 17 and machine.shown("sayso.service", "Result") == "success"
    machine.person(f"rm {HOST_SETTINGS}")


def refused(machine: Booted) -> None:
    """A service that can't begin does not take the socket down; commands have a hub of their own till it is fixed."""
    machine.person(f"""echo '{{ "listen": "127.0.0.1:7443", "tls_cert": "/none.pem", "tls_key": "/none.pem" }}' > {HOST_SETTINGS}""")
    for _ in range(3):
        assert len(asks(machine)) == 7
        machine.person("sayso stop")
    assert machine.shown("sayso.service", "ActiveState") == "failed" and machine.shown("sayso.socket", "SubState") == "listening"
    assert "none.pem" in machine.person("journalctl --user --no-pager --unit sayso.service")
    machine.person(f"rm {HOST_SETTINGS}")
    assert len(asks(machine)) == 7
    hub(machine)


def beside_another(machine: Booted) -> None:
    """Off: commands have their own. On again: that one goes on until it is stopped."""
    machine.person("systemctl --user stop sayso.socket sayso.service")
    machine.run(f"test -e {SOCKET}", code=1)
    assert len(asks(machine)) == 7 and machine.shown("sayso.service", "ActiveState") == "inactive"
    own = json.loads(machine.person("sayso status --json"))
    assert own["socket"] != SOCKET
    machine.person("systemctl --user start sayso.socket")
    assert len(asks(machine)) == 7 and json.loads(machine.person("sayso status --json"))["pid"] == own["pid"]
    machine.person("sayso stop")
    assert len(asks(machine)) == 7
    hub(machine)


def from_login_on(machine: Booted) -> None:
    """Enabled, the service is there when the person's manager starts again, before any client connects."""
    machine.person("systemctl --user --quiet enable sayso.service")
    machine.run("systemctl restart user@1000.service")
    wait_until(lambda: machine.shown("sayso.service", "ActiveState") == "active", "the service came with the login", 60)
    assert len(asks(machine)) == 7
    hub(machine)


@test("a real systemd: the socket starts the hub, which is restarted, killed, drained, refused and stopped, and loses no ask", "R10.5")
def under_systemd() -> None:
    tree = new_tree("booted")
    install(tree, "systemd", "systemd-sysv", "dbus-user-session", "libpam-systemd")
    began = time.monotonic()
    with Booted(tree) as machine:
        booted_s = time.monotonic() - began
        machine.run("loginctl enable-linger person")
        wait_until(lambda: machine.run("systemctl is-active user@1000.service || true").out == "active\n", "the person's manager runs", 60)
        for part in (rung, killed, stopped, drained, refused, beside_another, from_login_on):
            part(machine)
            note(part.__name__)
        log = machine.person("journalctl --user --no-pager --unit sayso.service")
        assert '"event":"hub.ready"' in log and not re.search("Which one|Two ways", log), "the journal has people's words"
        assert machine.run("systemctl --failed --no-legend").out == ""
        counted(f"booted in {booted_s:.0f} s; {log.count('hub.ready')} hubs of the service")


run()
