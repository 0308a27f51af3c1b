"""A tree booted by its own systemd, in namespaces and a control group of its own: a machine as far as it can tell."""
from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess

import tree_stage  # noqa: F401 (finds the harness)
from harness import Result, Skip, wait_until

PERSON = ["runuser", "-u", "person", "--", "env", "HOME=/home/person", "XDG_RUNTIME_DIR=/run/user/1000"]
# What systemd wants to find: its file systems, a few devices, and no way back.
BOOT = r"""
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
done
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mkdir before
pivot_root . before
umount -l before
rmdir before
exec env -i container=sayso-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system
"""


def _groups() -> pathlib.Path:
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        if line.split()[2] == "cgroup2":
            return pathlib.Path(line.split()[1])
    raise Skip("needs control groups of version 2")


class Booted:
    """`with Booted(tree) as machine`: boots, and is off afterwards whatever happened."""

    def __init__(self, tree: pathlib.Path):
        self.group = _groups() / f"sayso-boot-{os.getpid()}"
        self.group.mkdir()
        self.started: list[subprocess.Popen] = []
        self.log = open(tree.parent / f"{tree.name}.log", "w+")
        self.outer = subprocess.Popen(
            ["sh", "-c", 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', "sh", str(self.group), "unshare", "--mount", "--pid",
             "--fork", "--kill-child", "--cgroup", "--uts", "--ipc", "--net", "sh", "-euc", BOOT, "sh", str(tree)],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            wait_until(self._is_up, "systemd has booted", 120)
        except AssertionError:
            said = self.said()
            self.__exit__()
            raise AssertionError(f"systemd did not boot: {said}") from None

    def said(self) -> str:
        self.log.seek(0)
        return self.log.read()[-3000:]

    def _is_up(self) -> bool:
        assert self.outer.poll() is None, self.said()
        children = pathlib.Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text().split()
        if not children or os.readlink(f"/proc/{children[0]}/exe").rpartition("/")[2] != "systemd":
            return False
        self.init = children[0]
        state = self.run("systemctl is-system-running || true").out.strip()
        assert state != "degraded", self.run("systemctl --failed --no-pager").out
        return state == "running"

    def start(self, script: str, *prefix: str) -> subprocess.Popen:
        """Does not wait."""
        words = ["nsenter", "--target", self.init, "--mount", "--pid", "--cgroup", "--uts", "--ipc", "--net", "--root", "--wd",
                 "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", *prefix, "sh", "-euc", script]
        self.started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return self.started[-1]

    def end_of(self, process: subprocess.Popen) -> Result:
        out, err = process.communicate(timeout=120)
        self.started.remove(process)
        return Result(process.returncode, out, err)

    def run(self, script: str, *prefix: str, code: int = 0) -> Result:
        result = self.end_of(self.start(script, *prefix))
        assert result.code == code, (script, result)
        return result

    def person(self, script: str, code: int = 0) -> str:
        """As the person who has logged in."""
        return self.run(f"cd\n{script}", *PERSON, code=code).out

    def person_starts(self, script: str) -> subprocess.Popen:
        return self.start(f"cd\n{script}", *PERSON)

    def shown(self, unit: str, name: str) -> str:
        return self.person(f"systemctl --user show --property {name} --value {unit}").strip()

    def __enter__(self) -> Booted:
        return self

    def __exit__(self, *_: object) -> None:
        self.outer.kill()  # and with it the first process of the tree's own, and with that all others
        self.outer.wait()
        for process in self.started:
            process.communicate()
        wait_until(lambda: not (self.group / "cgroup.procs").read_text() and "populated 0" in (self.group / "cgroup.events").read_text(),
                   "the machine is off")
        for folder, _, _ in os.walk(self.group, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        self.log.close()
