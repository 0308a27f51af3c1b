"""Hubs behind pgbouncer in transaction mode, where neither LISTEN nor prepared statements can be relied on: they notice,
poll instead, and agents and people see no difference except a short delay."""
from __future__ import annotations

import postgres
from chaos_stage import Crew, latency
from harness import SLACK, counted, note, run, scaled, test, wait_for_count
from hubs_stage import Hubs

WAKE_S = 10  # a hub looks every 2 s; one that did not would leave its agents waiting for good


@test("three hubs behind pgbouncer in transaction mode: nothing is lost, and an agent is woken within moments", "R13.1 P24")
def pooled() -> None:
    with postgres.Server() as server:
        url = server.new_database()
        with postgres.Pooler(server, size=8) as pooler:
            with Hubs(3, server, url=pooler.url_for(postgres.name_in(url))) as hubs, Crew(hubs, 1) as crew:
                crew.start(agents=4, wires=1, people=3)
                wait_for_count(lambda: len(crew.woken_s), scaled(60), "results")
                crew.settle()
                hubs.url = url
                result = crew.judge()
                note(latency(crew.woken_s))
                ordered = sorted(crew.woken_s)
                assert ordered[len(ordered) // 2] < WAKE_S * SLACK, latency(crew.woken_s)
                counted(" ".join(f"{name}={value}" for name, value in result.items()))


@test("in session mode notifications come through as without it", "R13.1")
def sessions() -> None:
    with postgres.Server() as server:
        url = server.new_database()
        with postgres.Pooler(server, "session", size=40) as pooler:
            with Hubs(2, server, url=pooler.url_for(postgres.name_in(url))) as hubs, Crew(hubs, 1) as crew:
                crew.start(agents=2, wires=0, people=2)
                wait_for_count(lambda: len(crew.woken_s), 20, "results")
                crew.settle()
                hubs.url = url
                crew.judge()


run()
