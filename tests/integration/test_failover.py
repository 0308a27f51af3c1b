"""A standby takes over while agents ask and people answer. With a synchronous one nothing that was acknowledged is lost;
without one the hub has said so when it started."""
from __future__ import annotations

import contextlib
import time

import postgres
from chaos_proxy import Proxy
from chaos_stage import SEED, Crew, latency
from harness import SCALE, counted, note, run, test, wait_until
from hubs_stage import Hubs

FAILOVERS = max(1, int(SCALE / 2))  # each copies a whole server
UNDER_LOAD_S = 3


class Pair(contextlib.AbstractContextManager):
    """A server, its synchronous standby, and two addresses that stay while servers come and go behind them."""

    def __init__(self) -> None:
        self.first = postgres.Server()
        self.url = self.first.new_database()
        self.second = self.first.standby("standby0")
        self.doors = [Proxy(server.port, SEED) for server in (self.first, self.second)]
        self.count = 0

    def address(self) -> str:
        """Both, as a person would write it: the one that can be written to is found."""
        hosts = ",".join(f"127.0.0.1:{door.port}" for door in self.doors)
        return f"postgres://{postgres.ROLE}:{self.first.password}@{hosts}/{postgres.name_in(self.url)}"

    def fail_over(self) -> None:
        """The first dies, the second takes over, and another standby of it begins where the first was."""
        self.first.stop_immediate()
        self.second.promote()
        dead, self.first = self.first, self.second
        self.doors.reverse()
        self.url = self.first.url_for(postgres.name_in(self.url))
        dead.stop()
        time.sleep(UNDER_LOAD_S / 2)
        self.count += 1
        self.second = self.first.standby(f"standby{self.count}")
        self.doors[1].target = ("127.0.0.1", self.second.port)

    def __exit__(self, *_: object) -> None:
        for door in self.doors:
            door.stop()
        self.second.stop()
        self.first.stop()


@test("a synchronous standby takes over under load: nothing is lost, doubled or crossed", "P11 R13.1")
def promoted() -> None:
    note(f"seed {SEED} (SAYSO_SEED)")
    with Pair() as pair, Hubs(3, pair.first, url=pair.address()) as hubs, Crew(hubs, SEED) as crew:
        crew.start(agents=4, wires=1, people=3)
        for number in range(FAILOVERS):
            time.sleep(UNDER_LOAD_S)
            before = len(crew.woken_s)
            pair.fail_over()
            wait_until(lambda: len(crew.woken_s) > before + 5, f"work goes on after failover {number}", 60)
        hubs.url = pair.url
        crew.settle()
        result = crew.judge()
        note(f"{dict(crew.counts)}; {latency(crew.woken_s)}")
        counted(f"failovers={FAILOVERS} " + " ".join(f"{name}={value}" for name, value in result.items()))


@test("a hub on a server without a synchronous standby says at its start what a failover may lose", "P11")
def warned() -> None:
    with postgres.Server() as server:
        with Hubs(1, server) as hubs:
            said = hubs.said()
            assert said.count("synchronous_standby_names") == 1 and "synchronous_commit" not in said, said[-2000:]
        with server.standby(), Hubs(1, server) as hubs:
            assert "synchronous_standby_names" not in hubs.said(), hubs.said()[-2000:]
        server.set("synchronous_standby_names", "")
        server.set("synchronous_commit", "off")
        with Hubs(1, server) as hubs:
            assert "synchronous_commit" in hubs.said(), hubs.said()[-2000:]


run()
