"""Several hubs on one PostgreSQL: asks asked over one hub and answered over another, what a hub more costs, how soon the
agent at one hub has what was answered at another, and 100,000 asks pending. The part of bench/run called hubs.

The server is PostgreSQL of the machine, started for this on its disk, with fsync and synchronous_commit on, everybody
through its socket. The floor is one client on the same server in the same run, which writes one row an ask, when it is
asked and when it is answered, in transactions as large as the hubs' are (ref/floor_postgres.c). They take turns."""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import Any, Callable, Iterator

import bench

sys.path.insert(0, str(bench.HERE.parent / "tests/integration"))
import postgres  # noqa: E402

MOST_HUBS = 3
IN_FLIGHT = 64
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "2GB", "synchronous_commit": "on"}
REPETITIONS, WAKES, MORE_ASKS = 3, 500, 20000  # each repetition has three numbers of hubs and the floor
HOLD_S = 100
GROWTH_MB = 8  # of a hub, while MORE_ASKS come and go
STOP_S = 2  # of a hub whose agent waits for all of them


def cpu_s(server: Any, hubs: list[Any]) -> tuple[float, float]:
    """What hubs and database have used so far. A process that ended is in its parent's figures, to 10 ms."""
    tick = os.sysconf("SC_CLK_TCK")

    def used(pid: int) -> float:
        with contextlib.suppress(OSError):
            return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9
        return 0
    ended = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")")[1].split()[13:15]
    database = sum(map(used, server.family())) + sum(map(int, ended)) / tick
    return sum(used(hub.process.pid) for hub in hubs), database


def traffic(server: Any, url: str) -> dict[str, float]:
    """What was written so far by those who are gone: of others the server has not heard all."""
    names = ("asks", "changes", "in_page", "transactions", "wal_bytes", "wal_syncs")
    row = server.sql("SELECT t.n_tup_ins, t.n_tup_upd, t.n_tup_hot_upd, d.xact_commit, w.wal_bytes::bigint, w.wal_sync"
                     " FROM pg_stat_wal w, pg_stat_database d, (SELECT 0 AS n_tup_ins, 0 AS n_tup_upd, 0 AS n_tup_hot_upd"
                     " UNION ALL SELECT n_tup_ins, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'asks'"
                     " ORDER BY 1 DESC LIMIT 1) t WHERE d.datname = current_database()", postgres.name_in(url))[0]
    return dict(zip(names, map(float, row)))


def per_ask(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    done = {name: after[name] - before[name] for name in after}
    return {name: done[name] / max(1, done["asks"]) for name in ("transactions", "wal_bytes", "wal_syncs")} | {
        "in_page": done["in_page"] / max(1, done["changes"])}


@contextlib.contextmanager
def hubs_on(hub_class: Callable, program: str, url: str, count: int) -> Iterator[list[Any]]:
    with contextlib.ExitStack() as stack:
        hubs = []
        for _ in range(count):
            hub = hub_class(program)
            hub.environment["SAYSO_STORE"] = url
            hubs.append(stack.enter_context(hub))
            if "pid" not in hub.status:
                raise SystemExit(f"the hub does not start: {hub.status}")
        yield hubs


def note(hub: Any) -> str:
    return str(hub.data / "sayso/hub.json")


def start_load(asked: Any, answered: Any, *arguments: str) -> subprocess.Popen:
    where = note(asked) if asked is answered else f"{note(asked)},{note(answered)}"
    return subprocess.Popen([str(bench.BUILD / "wireload"), "ask", where, *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def take(process: subprocess.Popen, seconds: float = 240) -> dict:
    try:
        out, err = process.communicate(timeout=seconds)
        return json.loads(out)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {"fail": "took too long"}
    except ValueError:
        return {"fail": err[-200:] or "no output"}


def floor(url: str, mode: str, *arguments: str) -> dict:
    return take(subprocess.Popen([str(bench.BUILD / "floor_postgres"), mode, url, *arguments],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))


def drive(server: Any, hubs: list[Any], in_flight: int, *arguments: str) -> dict:
    """A generator a hub, which asks there and answers at the next one; together they have so many in flight."""
    each = [in_flight // len(hubs) + (place < in_flight % len(hubs)) for place in range(len(hubs))]
    before = cpu_s(server, hubs)
    began = time.monotonic()
    loads = [start_load(hub, hubs[(place + 1) % len(hubs)], "-c", str(each[place]), *arguments)
             for place, hub in enumerate(hubs)]
    found = [take(load) for load in loads]
    seconds = time.monotonic() - began
    after = cpu_s(server, hubs)
    failed = [one["fail"] for one in found if "fail" in one]
    if failed:
        return {"fail": failed[0], "each": found}
    # the generators' warm-up is in the CPU but not in their count: so is its share of the time
    asks = sum(one["ops"] for one in found)
    share = 1e6 / max(1, asks) * max(one["secs"] for one in found) / seconds
    return {"ops": asks, "ops_s": sum(one["ops_s"] for one in found), "each": found,
            "errors": sum(one["errors"] + one["unfinished"] for one in found),
            "p50_us": bench.median(found, "p50_us"), "p99_us": max(one["p99_us"] for one in found),
            "hubs_cpu_us": (after[0] - before[0]) * share, "database_cpu_us": (after[1] - before[1]) * share}


def drive_floor(server: Any, url: str, *arguments: str) -> dict:
    before = cpu_s(server, [])
    found = floor(url, "commit", *arguments)
    if "ops" in found:
        found["database_cpu_us"] = (cpu_s(server, [])[1] - before[1]) * 1e6 / max(1, found["ops"])
    return found


def rates(report: Any, options: argparse.Namespace, hub_class: Callable, server: Any) -> None:
    counts = range(1, MOST_HUBS + 1)
    more = [f"{count}, {IN_FLIGHT} each" for count in counts if count > 1]  # batches as large as one hub's
    names = ["floor", *counts, *more]
    runs: dict[Any, list[dict]] = {name: [] for name in names}
    seconds = str(options.seconds)
    url, floor_url = server.new_database(), server.new_database()
    for repetition in range(min(REPETITIONS, options.repetitions)):
        for name in names if repetition % 2 == 0 else reversed(names):
            if name == "floor":
                runs[name].append(drive_floor(server, floor_url, "-c", str(IN_FLIGHT), "-t", seconds))
                continue
            count = int(str(name).split(",")[0])
            before = traffic(server, url)
            with hubs_on(hub_class, options.program, url, count) as hubs:
                found = drive(server, hubs, IN_FLIGHT if name == count else IN_FLIGHT * count, "-t", seconds)
            runs[name].append(found | per_ask(before, traffic(server, url)))
    report.raw["hubs: rates"] = runs
    base = {key: bench.median(runs["floor"], key) for key in ("ops_s", "database_cpu_us")}
    for name in names[1:]:
        count = int(str(name).split(",")[0])
        get = lambda key: bench.median(runs[name], key)
        some = f"{count} hub{'s' if count > 1 else ''}"
        report.add(f"asks/s on PostgreSQL, {some}, {IN_FLIGHT} in flight{'' if name == count else ' each'}", get("ops_s"), "/s",
                   base["ops_s"])
        report.add("  p50", get("p50_us"), "us")
        report.add("  p99", get("p99_us"), "us")
        report.add("  CPU of the database an ask", get("database_cpu_us"), "us", base["database_cpu_us"])
        report.add("  CPU of the hubs an ask", get("hubs_cpu_us"), "us")
        report.add("  WAL an ask", get("wal_bytes"), "B")
        report.add("  transactions an ask", get("transactions"), "")
        report.add("  changes that stay in their page", get("in_page"), "x")
        if count > 1:
            all_of = lambda n: sum(bench.median(runs[n], key) or 0 for key in ("hubs_cpu_us", "database_cpu_us"))
            grown = all_of(name) / all_of(1) if all_of(1) else None
            report.add("  CPU of all an ask, of that with one hub", grown, "x")
    complain(report, [one for some in runs.values() for one in some])


def wakes(report: Any, options: argparse.Namespace, hub_class: Callable, server: Any) -> None:
    url, floor_url = server.new_database(), server.new_database()
    runs: dict[str, list[dict]] = {"hubs": [], "wake": [], "notify": []}
    some = ("-n", str(WAKES // 10 if options.quick else WAKES), "-t", "10")
    with hubs_on(hub_class, options.program, url, 2) as hubs:
        for repetition in range(min(REPETITIONS, options.repetitions)):
            for name in list(runs) if repetition % 2 == 0 else reversed(list(runs)):
                runs[name].append(take(start_load(*hubs, "-c", "1", *some)) if name == "hubs" else floor(floor_url, name, *some))
    report.raw["hubs: wakes"] = runs
    get = lambda name, key: bench.median(runs[name], key)
    for share in ("p50", "p99"):
        report.add(f"answer sent to hub B -> agent at hub A has it, {share}", get("hubs", f"answer_{share}_us"), "us",
                   get("wake", f"{share}_us"))
    for share in ("p50", "p99"):
        report.add(f"  from hub B's receipt on, {share}; floor: a bare NOTIFY", get("hubs", f"told_{share}_us"), "us",
                   get("notify", f"{share}_us"))
    report.add("an ask and its answer across hubs, 1 in flight, p50", get("hubs", "p50_us"), "us")
    complain(report, [one for some in runs.values() for one in some])


def pending(report: Any, options: argparse.Namespace, hub_class: Callable, server: Any) -> None:
    """All of them are the first hub's agent's; the other hubs find them at their start."""
    url, count = server.new_database(), options.asks
    memory_mb = lambda hub: hub.memory_kb()[0] / 1024
    with hubs_on(hub_class, options.program, url, 1) as hubs, contextlib.ExitStack() as stack:
        empty_mb = memory_mb(hubs[0])
        holding = subprocess.Popen([str(bench.BUILD / "wireload"), "hold", note(hubs[0]), "-n", str(count), "-c", "256",
                                    "-t", str(HOLD_S)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(holding.communicate)
        held = json.loads(holding.stdout.readline())
        starts = []
        for _ in range(MOST_HUBS - 1):
            other = hub_class(options.program)
            other.environment["SAYSO_STORE"] = url
            began = time.monotonic()
            hubs.append(stack.enter_context(other))
            starts.append(time.monotonic() - began)
        time.sleep(1)
        filled_mb = [memory_mb(hub) for hub in hubs]
        report.add(f"asks held at once on PostgreSQL ({held['held']:,}), rate", held["asks_s"], "/s")
        report.add(f"  start of another hub with {hubs[1].status['pending']:,} pending", max(starts), "s")
        report.add("  RSS of the hub whose agent waits", filled_mb[0], "MB")
        report.add("    memory a pending ask", (filled_mb[0] - empty_mb) * 2**20 / max(1, held["held"]), "B")
        for place in range(1, MOST_HUBS):
            report.add(f"  RSS of hub {place + 1}", filled_mb[place], "MB")
        report.add("    memory a pending ask", (filled_mb[1] - empty_mb) * 2**20 / max(1, held["held"]), "B")
        more = MORE_ASKS if not options.quick else 1000
        busy = drive(server, hubs, IN_FLIGHT, "-n", str(more // MOST_HUBS), "-t", "30")
        time.sleep(3)  # hubs tidy up when they are idle
        grown_mb = [memory_mb(hub) - before for hub, before in zip(hubs, filled_mb)]
        report.add(f"  {busy.get('ops', 0):,} more asked and answered at 3 hubs", busy.get("ops_s"), "/s")
        report.add("    the hub that grew most, RSS", max(grown_mb), "MB", most=GROWTH_MB)
        size = server.sql("SELECT pg_database_size(current_database())", postgres.name_in(url))[0][0]
        report.add("  on disk an ask", size / max(1, held["held"] + busy.get("ops", 0)), "B")
        report.raw["hubs: pending"] = {"held": held, "starts_s": starts, "empty_mb": empty_mb, "filled_mb": filled_mb,
                                       "grown_mb": grown_mb, "busy": busy, "database_bytes": size}
        complain(report, [busy])
        if held["held"] != count:
            report.add("HELD FEWER THAN WANTED", held["held"], "")
        began = time.monotonic()
        hubs[0].stop()  # who waits is told
        report.add("  stop of the hub whose agent waits", time.monotonic() - began, "s", most=STOP_S)


def complain(report: Any, runs: list[dict]) -> None:
    failed = [one.get("fail", f"{one.get('errors')} errors or unanswered asks") for one in runs
              if "fail" in one or one.get("errors")]
    if failed:
        report.add("FAILED RUNS AND ERRORS", len(failed), "")
        print("\n".join(failed), file=sys.stderr)


def measure(report: Any, options: argparse.Namespace, hub_class: Callable) -> None:
    try:
        server = postgres.Server(SETTINGS, is_durable=True)
    except postgres.Missing as missing:
        report.texts.append(f"hubs: not available: {missing}")
        return
    with server:
        for part, name in ((rates, "asks over several hubs"), (wakes, "wake-ups across hubs"), (pending, "pending asks")):
            print(f"... PostgreSQL: {name}", file=sys.stderr, flush=True)
            part(report, options, hub_class, server)
