"""Three hubs on one PostgreSQL while everything breaks: the database, the hubs, the network between them, the clocks. At
the end a checker of histories finds no answer lost, doubled, crossed, invented or denied."""
from __future__ import annotations

import postgres
from chaos_stage import SEED, Crew, Mischief, latency
from harness import counted, note, run, scaled, test
from hubs_stage import Hubs

CHAOS_S = max(30, scaled(30, full=60))
SKEWS_S = (-3600, 0, 3600)


@test("half a minute of chaos, or many: nothing is lost, doubled or crossed", "P10 P3 R13.1")
def chaos() -> None:
    note(f"seed {SEED} (SAYSO_SEED)")
    with (postgres.Server() as server,
          Hubs(3, server, is_proxied=True, seed=SEED, skews_s=SKEWS_S) as hubs,
          Crew(hubs, SEED) as crew):
        mischief = Mischief(hubs, server, SEED)
        crew.start()
        try:
            mischief.go_on(CHAOS_S)
        finally:
            mischief.end()
        crew.settle()
        result = crew.judge()
        faults = sum(mischief.counts.values())
        done = sum((proxy.counts for proxy in hubs.proxies), start=type(crew.counts)())
        note(f"faults by kind: {dict(mischief.counts)}; hubs that gave up starting: {mischief.gave_up}")
        note(f"by the proxies: {dict(done)}")
        note(f"by the crew: {dict(crew.counts)}; {latency(crew.woken_s)}")
        counted(f"faults={faults} " + " ".join(f"{name}={value}" for name, value in result.items()))
        assert faults >= CHAOS_S / 5, faults
        assert result["answers"] >= CHAOS_S / 2, result
        assert all(hubs.balancer.counts[place] for place in range(3)), hubs.balancer.counts


run()
