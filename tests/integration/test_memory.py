"""Every allocation of the hub fails in turn: it ends cleanly or refuses, and forgets no answer.

The hub runs a scripted session (ask, answer, collect, settings, list) with a preloaded malloc that
fails at the N-th call. `make test` takes a spread of N; SAYSO_SCALE of 10 and more takes all.

Proves: P15, R5.2
"""
import pathlib
import shutil
import signal
import subprocess
import tempfile

from harness import SCALE, Home, Wire, WireError, counted, run, test, wait_until

SOURCE = pathlib.Path(__file__).with_name("failing_malloc.c")
SPREAD = 160
CLEAN_ENDS = (0, 1, -signal.SIGABRT, -signal.SIGKILL)
ARGUMENTS = {
    "title": "Which target?", "prompt": "Release is built. Which target? Needed because two are healthy.",
    "selection_mode": "single",
    "options": [{"id": "a", "label": "Alpha", "recommended": True}, {"id": "b", "label": "Beta"}],
}


def build() -> str:
    library = str(pathlib.Path(tempfile.mkdtemp(prefix="sym", dir="/tmp")) / "failing_malloc.so")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, str(SOURCE)], check=True)
    return library


def session(home: Home) -> tuple[str, bool]:
    """One ask, answered. Returns its id and whether the answer was acknowledged."""
    session_id, is_acknowledged = "", False
    try:
        with Wire(home) as agent, Wire(home) as person:
            agent.hello("agent", name="memory")
            person.hello("person")
            agent.start("ask/create", tool="provide_choice", arguments=ARGUMENTS, tag="t")
            session_id = agent.read()["params"]["session_id"]
            person.call("ask/watch")
            person.call("ask/draft", session_id=session_id, draft={"custom_input": "x"})
            person.call("ask/answer", session_id=session_id, selected_ids=["b"])
            is_acknowledged = True
            agent.read()
            agent.call("ask/delivered", session_ids=[session_id])
            person.call("settings/set", name="timeout_seconds", value="200")
            person.call("ask/get", session_id=session_id)
    except (EOFError, OSError, WireError, KeyError):
        pass  # refused, or the process ended: both are allowed
    return session_id, is_acknowledged


def one_failure(library: str, at: int, for_ever: bool) -> bool:
    """Returns whether the answer was acknowledged before it came to the failure."""
    with Home() as home:
        env = {"LD_PRELOAD": library, "FAIL_AT": str(at)}
        if for_ever:
            env["FAIL_FOR_EVER"] = "1"
        hub = home.spawn("serve", env=env, stdin=subprocess.DEVNULL)
        wait_until(lambda: hub.poll() is not None or "socket" in home.hub(), "a hub or its end")
        session_id, is_acknowledged = session(home) if hub.poll() is None else ("", False)
        if hub.poll() is None:
            hub.kill()
        hub.communicate()
        assert hub.returncode in CLEAN_ENDS, f"allocation {at}: ended by {hub.returncode}"
        if is_acknowledged:
            shown = home.sayso("show", session_id, "--json").json
            assert shown["ask"]["status"] == "submitted", f"allocation {at}: {shown}"
            assert shown["result"]["selection"]["selected_ids"] == ["b"], f"allocation {at}: {shown}"
        elif session_id:
            shown = home.sayso("show", session_id, "--json").json
            chosen = shown["result"]["selection"]["selected_ids"]
            assert chosen in ([], ["b"]), f"allocation {at}: invented {chosen}"
        return is_acknowledged


def count(library: str) -> int:
    with Home() as home:
        seen = home.path / "count"
        hub = home.spawn("serve", env={"LD_PRELOAD": library, "FAIL_COUNT_FILE": str(seen)},
                         stdin=subprocess.DEVNULL)
        home.wait_hub()
        session_id, is_acknowledged = session(home)
        assert is_acknowledged, session_id
        hub.terminate()
        hub.communicate()
        return int(seen.read_text())


@test("an allocation that fails ends the hub cleanly or refuses the call, and no answer is lost", "P15 R5.2")
def every_allocation() -> None:
    library = build()
    try:
        total = count(library)
        step = 1 if SCALE >= 10 else max(1, total // SPREAD)
        tried = acknowledged = 0
        for for_ever in (False, True):
            for at in range(1, total + 1, step):
                acknowledged += one_failure(library, at, for_ever)
                tried += 1
        counted(f"allocations={total} failures={tried} answers acknowledged={acknowledged} lost=0")
        assert acknowledged > 0, "no failure came after an acknowledged answer: the spread is wrong"
    finally:
        shutil.rmtree(pathlib.Path(library).parent)


run()
