// The life of the process: what it touches, how it starts and ends, and what dies around it.
// Proves: R5.2 R5.5 R5.7 R10.1 R10.2 P1 P8
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN, CRASH_BIN, inHome, scaled, until, withHome } from "./lib/home.mjs";
import { Judge } from "./lib/judge.mjs";
import { atOnce, HANG_MS, opened } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { Person } from "./lib/wire.mjs";
import { asking, GOOD, named, opening, request, written } from "./lib/asks.mjs";

const NO_LIMITS = {
    SAYSO_MAX_PENDING: "100000",
    SAYSO_ASKS_PER_MINUTE: "10000000",
    SAYSO_HOLD_LIMITS: "{\"*\":300}",
    SAYSO_LIST_COUNT: "10000",
};
const initialize = (id = 1) => JSON.stringify(request(id, "initialize", opening("2025-11-25", "life")));
const listing = (id) => JSON.stringify(request(id, "tools/list"));
const rss_kb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))[1]);

// Runs a shell's words with the home's environment; what it printed and how it ended.
function shell(home, words, input = "") {
    return new Promise((resolve) => {
        const child = home.spawn(["-c", words], { env: { ...home.env, SAYSO: BIN } }, "sh");
        let out = "", err = "";
        child.stdout.on("data", (bytes) => { out += bytes; });
        child.stderr.on("data", (bytes) => { err += bytes; });
        child.stdin.on("error", () => {});
        child.stdin.end(input);
        child.on("close", (code) => resolve({ code, out, err, lines: out.split("\n").filter((line) => line) }));
    });
}

const WITHOUT_VALGRIND = process.env.ASAN_OPTIONS ? "sanitizers and valgrind do not mix"
    : spawnSync("valgrind", ["--version"]).error && "valgrind is not installed";

// From what callgrind wrote: how often functions of each of our .c files were called. It gives a name once, and from
// then on its number; a call names the file of what is called where that is not the caller's.
function callsByFile(text) {
    const names = new Map(), calls = new Map();
    const nameOf = (given) => {
        const [, number, name] = /^(\(\d+\))(?: (.*))?$/.exec(given);
        if (name)
            names.set(number, name);
        return names.get(number);
    };
    let file = "", called = "";
    for (const [, key, value] of text.matchAll(/^(fl|fi|fe|cfi|cfl|calls)=(.*)$/gm)) {
        if (key === "calls") {
            const ours = /\/src\/(.*\.c)$/.exec(called || file)?.[1];
            if (ours)
                calls.set(ours, (calls.get(ours) ?? 0) + parseInt(value, 10));
            called = "";
        } else if (key.startsWith("c")) {
            called = nameOf(value);
        } else {
            file = nameOf(value);
        }
    }
    return calls;
}

// What a program was sent and what it wrote, both as lines.
function judged(sent, received) {
    const judge = new Judge();
    for (const line of sent)
        judge.sentLine(line);
    for (const line of received)
        judge.received(line);
    judge.verdict();
}

// A person who answers whatever happens to the hub: tries until it is certain.
async function answerSurely(home, session_id, text) {
    for (;;) {
        try {
            const person = await Person.at(home);
            await person.call("ask/answer", { session_id, custom_input: text });
            person.close();
            return;
        } catch {
            await sleep(5);
        }
    }
}

// Ends the hub as soon as there is one, at no particular moment of its life.
async function killSoon(home) {
    const pid = await until(() => home.hubPid(), "a hub");
    await sleep(Math.random() * 60);
    try {
        process.kill(pid, "SIGKILL");
    } catch (problem) {
        assert.equal(problem.code, "ESRCH");
    }
    await until(() => home.hubPid() !== pid, "the hub is dead");
}

// By the end of its input, or by a signal; each try is with a client of its own.
function endsAtOnce(open, end) {
    return atOnce(async () => {
        const client = await open();
        const began = Date.now();
        if (end === "EOF")
            client.child.stdin.end();
        else
            client.child.kill(end);
        await client.ended();
        return Date.now() - began;
    }, 4000, end);
}

describe("death", { concurrency: 4 }, () => {
    const KILLS = scaled(200), HOMES = 4, FRONTS = 3;
    for (let h = 0; h < HOMES; h++) {
        const kills = Math.ceil(KILLS / HOMES);
        test(`kill -9 of the hub ${kills} times with calls waiting: each returns the answer given later (${h + 1} of ${HOMES})`, inHome(async (home) => {
            const open = (_, n) => opened(home, REVISIONS[(h + n) % REVISIONS.length], { name: "mortal" });
            const clients = await Promise.all(Array.from({ length: FRONTS }, open));
            const calls = Array.from({ length: kills }, (_, n) => ({ client: clients[n % FRONTS], title: `Ask ${n}` }));
            for (const call of calls)
                call.id = call.client.startTool("provide_choice", written(call.title));
            const ids = new Map((await home.opened(kills)).map(({ title, session_id }) => [title, session_id]));
            for (const call of calls) {
                await killSoon(home);
                if (Math.random() < 0.5)
                    await answerSurely(home, ids.get(call.title), `for ${call.title}`);
            }
            for (const call of calls) {
                await answerSurely(home, ids.get(call.title), `for ${call.title}`).catch(() => {});
                const result = await call.client.collect(call.id);
                assert.deepEqual([result.session_id, result.selection.custom_input], [ids.get(call.title), `for ${call.title}`]);
            }
            assert.equal((await home.list()).length, kills, "nobody was asked twice");
        }, NO_LIMITS));
    }

    test("kill -9 of the hub while asks are being made: each is asked once and answered", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        let isOver = false;
        const killing = (async () => {
            while (!isOver)
                await killSoon(home);
        })();
        const titles = Array.from({ length: scaled(60) }, (_, n) => `Ask ${n}`);
        const calls = [];
        for (const title of titles) {
            calls.push(client.startTool("provide_choice", written(title)));
            await sleep(20);
        }
        isOver = true;
        await killing;
        const rows = await home.opened(titles.length);
        assert.deepEqual(rows.map(({ title }) => title).sort(), [...titles].sort(), "each once");
        for (const { session_id, title } of rows)
            await answerSurely(home, session_id, `for ${title}`);
        for (const [n, call] of calls.entries())
            assert.equal((await client.collect(call)).selection.custom_input, `for ${titles[n]}`);
    }, NO_LIMITS));

    test("kill -9 of the front: the ask stays, is answered into history, and the next front's identical call gets it", inHome(async (home) => {
        const first = await opened(home, "2025-11-25");
        first.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        await first.kill();
        const [row] = await until(async () => {
            const rows = await home.list("--active");
            return rows[0].detached && rows;
        }, "the ask says that nobody waits");
        assert.equal(row.session_id, session_id);
        await home.must("answer", session_id, "--select", "b");
        assert.equal((await home.list("--completed"))[0].session_id, session_id);
        const second = await opened(home, "2025-11-25");
        const again = await second.tool("provide_choice", GOOD);
        assert.deepEqual([again.session_id, again.replayed, again.selection.selected_ids], [session_id, true, ["b"]]);
        assert.equal((await home.list()).length, 1);
    }));

    test("kill -9 of the front before the answer: the next front joins the same ask", inHome(async (home) => {
        const first = await opened(home, MODERN);
        first.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        await first.kill();
        const second = await opened(home, MODERN);
        const call = second.startTool("provide_choice", GOOD);
        await until(async () => !(await home.list("--active"))[0].detached, "somebody waits again");
        await home.must("answer", session_id, "--select", "b");
        const result = await second.collect(call);
        assert.deepEqual([result.session_id, result.selection.selected_ids], [session_id, ["b"]]);
        assert.equal((await home.list()).length, 1);
    }));

    test("kill -9 of the front around its answer: what the client did not get, the next identical call gets", inHome(async (home) => {
        for (let round = 0; round < scaled(30); round++) {
            const first = await opened(home, "2025-11-25");
            const call = first.startTool("provide_choice", named(`Round ${round}`));
            const [{ session_id }] = await home.opened();
            const person = await Person.at(home);
            const answered = person.call("ask/answer", { session_id, selected_ids: ["b"] });
            await sleep(Math.random() * 12);
            await first.kill();
            await answered;
            if (first.messages.some(({ id }) => id === call))
                continue;
            const second = await opened(home, "2025-11-25");
            const again = await second.tool("provide_choice", named(`Round ${round}`));
            assert.deepEqual([again.session_id, again.selection.selected_ids], [session_id, ["b"]], "an answer was lost");
            await second.stop();
        }
    }, NO_LIMITS));

    test("an answer that died in the front's buffer was not delivered", inHome(async (home) => {
        const deaf = home.spawn(["mcp"]);
        const ask = JSON.stringify(asking("ask", GOOD));
        deaf.stdin.on("error", () => {});
        deaf.stdout.pause();
        deaf.stdin.write(`${initialize()}\n${ask}\n`);
        const [{ session_id }] = await home.opened();
        for (let n = 0; n < 200; n++) // more than a pipe holds, and nothing reads it
            deaf.stdin.write(`${listing(n)}\n`);
        await sleep(300);
        await home.must("answer", session_id, "--select", "b");
        await sleep(300);
        const gone = new Promise((resolve) => deaf.on("exit", resolve));
        deaf.kill("SIGKILL");
        await gone;
        deaf.stdout.destroy();
        const next = await opened(home, "2025-11-25", { name: "life" });
        const again = await next.tool("provide_choice", GOOD);
        assert.deepEqual([again.session_id, again.replayed], [session_id, true]);
    }));

    test("a hub stopped by its person: the call says so, the same call goes on", inHome(async (home) => {
        const client = await opened(home, "2025-06-18");
        const call = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        await home.must("stop");
        const stopped = await client.collect(call);
        assert.equal(stopped.error.code, "unavailable");
        assert.match(stopped.error.message, /call again/);
        const again = client.startTool("provide_choice", GOOD);
        await until(async () => home.hubPid() && !(await home.list("--active"))[0]?.detached, "somebody waits again");
        await home.must("answer", session_id, "--select", "a");
        assert.equal((await client.collect(again)).session_id, session_id);
    }));

    test("many fronts that start at the same time start one hub", inHome(async (home) => {
        const open = (_, n) => opened(home, "2025-11-25", { name: `front ${n}` });
        const clients = await Promise.all(Array.from({ length: 16 }, open));
        const calls = clients.map((client, n) => client.startTool("provide_choice", named(`Ask ${n}`)));
        const rows = await home.opened(16);
        const pid = home.hubPid();
        await Promise.all(rows.map(({ session_id }) => home.must("answer", session_id, "--select", "a")));
        for (const [n, client] of clients.entries())
            assert.equal((await client.collect(calls[n])).action_status, "selected");
        assert.equal(home.hubPid(), pid);
    }));
});

describe("start and end", { concurrency: 4 }, () => {
    // What comes in is parsed once: the call, ask/created, the reply, and what confirms its delivery. Of what was parsed
    // only the arguments are encoded, in the canonical form in which they were checked.
    test("an ask costs its front four parses and one encoding", inHome(async (home) => {
        const env = { ...home.env, SAYSO_COUNT_JSON: "1" };
        await home.must("settings", "set", "asks_per_minute", "100"); // a file, which is read once
        async function counts(asks) {
            const client = await opened(home, "2025-11-25", { options: { env }, program: CRASH_BIN });
            for (let n = 0; n < asks; n++) {
                const title = `${n} of ${asks}`, call = client.startTool("provide_choice", named(title));
                const { session_id } = await until(async () => (await home.list("--active")).find((row) => row.title === title), title);
                await home.must("answer", session_id, "--select", "b");
                await client.collect(call);
            }
            client.startTool("provide_choice", named(`after ${asks}`), { progressToken: "t" }); // all that came before is read by then
            await client.next(({ method }) => method === "notifications/progress");
            await client.stop();
            return /json parsed=(\d+) encoded=(\d+)/.exec(client.stderr).slice(1).map(Number);
        }
        const one = await counts(1), four = await counts(4);
        assert.deepEqual(four.map((count, n) => (count - one[n]) / 3), [4, 1]);
    }));

    // Which functions an ask calls: those of five asks less those of two, as valgrind counts them. A front has one concern
    // more for each file that an ask comes through; docs/internals/decisions.md says which they are.
    test("an ask comes through at most 33 files of the front", { skip: WITHOUT_VALGRIND }, inHome(async (home) => {
        const program = path.join(home.path, "counted");
        async function calls(asks) {
            const out = path.join(home.path, `calls.${asks}`);
            writeFileSync(program, `#!/bin/sh\nexec valgrind -q --tool=callgrind --callgrind-out-file='${out}' '${BIN}' "$@"\n`, { mode: 0o755 });
            const client = await opened(home, "2025-11-25", { program });
            for (let n = 0; n < asks; n++) {
                const title = `${n} of ${asks}`, call = client.startTool("provide_choice", named(title));
                const { session_id } = await until(async () => (await home.list("--active")).find((row) => row.title === title), title);
                await home.must("answer", session_id, "--select", "b");
                await client.collect(call);
            }
            await client.stop();
            return callsByFile(readFileSync(out, "latin1"));
        }
        const two = await calls(2), five = await calls(5);
        const files = [...five].filter(([file, count]) => count - (two.get(file) ?? 0) >= 3).map(([file]) => file).sort();
        assert.ok(files.includes("mcp/tool_call.c"), "nothing was counted");
        assert.ok(files.length <= 33, `${files.length}: ${files.join(" ")}`);
    }, NO_LIMITS));

    test("nothing is touched before the first good ask: no file, no socket, no port", inHome(async (home) => {
        const trace = path.join(home.path, "..", `${path.basename(home.path)}.trace`);
        const requests = [
            request(2, "tools/list"),
            request(3, "ping"),
            request(4, "prompts/get", { name: "decision_policy" }),
            asking(5, {}),
            request(7, "resources/list"),
            request(8, "resources/templates/list"),
            request(9, "resources/subscribe", { uri: "sayso://asks" }),
            request(10, "completion/complete", {
                ref: { type: "ref/resource", uri: "sayso://asks/{session_id}" }, argument: { name: "session_id", value: "" },
            }),
            request(11, "logging/setLevel", { level: "info" }),
            request(6, "tools/call", { name: "check_decision", arguments: { paths: 3 } }),
        ];
        const lines = [initialize(1), "nonsense", ...requests.map((message) => JSON.stringify(message))];
        home.env.ASAN_OPTIONS = "detect_leaks=0"; // which cannot be told under a tracer
        const done = await shell(home, `exec strace -f -qq -e trace=%file,%network -o ${trace} "$SAYSO" mcp`, `${lines.join("\n")}\n`);
        assert.equal(done.code, 0, done.err);
        assert.equal(done.lines.length, 12, done.out);
        judged(lines, done.lines);
        const calls = readFileSync(trace, "utf8").split("\n");
        const touches = /\b(socket|connect|bind|listen|mkdir|unlink|rename)(at)?\(|O_(CREAT|WRONLY|RDWR)/;
        // the host's settings may be read: whether tools/list has the tools of other servers (R14.2); if they are missing,
        // so may what is on the way to them
        const isSettings = (line) => [".config/sayso/settings.json", ".config/sayso", ".config"]
            .some((name) => line.includes(`${home.path}/${name}"`));
        const isTouch = (line) => touches.test(line) || (line.includes(`${home.path}/`) && !isSettings(line));
        assert.ok(calls.some((line) => line.includes("execve(")), "nothing was traced");
        assert.deepEqual(calls.filter(isTouch), []);
        assert.deepEqual(home.touched(), []);
        await shell(home, `rm -f ${trace}`);
    }));

    test("a front takes at most 3.2 MB, and no library but libc", { skip: process.env.ASAN_OPTIONS && "a sanitizer takes more" }, inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        await client.request("tools/list");
        const maps = readFileSync(`/proc/${client.child.pid}/maps`, "latin1");
        const libraries = new Set([...maps.matchAll(/\/([^/\n]*\.so[^/\n]*)$/gm)].map(([, name]) => name));
        assert.deepEqual([...libraries].filter((name) => !/^(libc\.so\.6|ld-linux.*)$/.test(name)), []);
        assert.ok(rss_kb(client.child.pid) <= 3.2 * 1024, `${rss_kb(client.child.pid)} KiB`);
    }));

    test("initialize and discover are answered in milliseconds", inHome(async (home) => {
        for (const revision of ["2025-11-25", MODERN]) {
            const took = [], started = []; // beside it, what this machine takes to start a program at all
            for (let n = 0; n < 20; n++) {
                const began = performance.now();
                await home.must("--version");
                const between = performance.now();
                const client = await opened(home, revision);
                took.push(performance.now() - between);
                started.push(between - began);
                await client.stop();
            }
            assert.ok(Math.min(...took) < 100 + 2 * Math.min(...started), // one client gives us 3 s
                `${revision}: ${took.map(Math.round)} ms, ${started.map(Math.round)} ms`);
        }
    }));

    test("standard input may be a file, a pipe, /dev/null or closed; output a file or a pipe", inHome(async (home) => {
        const sent = [initialize(1), listing(2), JSON.stringify({ jsonrpc: "2.0", id: 3, method: "ping" })];
        writeFileSync(path.join(home.path, "in"), sent.join("\n")); // the last line has no end
        const wanted = async (words, count) => {
            const done = await shell(home, words);
            assert.equal(done.code, 0, `${words}: ${done.err}`);
            assert.deepEqual(done.lines.map((line) => JSON.parse(line).id), [1, 2, 3].slice(0, count), words);
            judged(sent, done.lines);
        };
        await wanted("\"$SAYSO\" mcp < in", 3);
        await wanted("\"$SAYSO\" mcp < in > out && cat out", 3);
        await wanted("\"$SAYSO\" mcp < in > out && \"$SAYSO\" mcp < in | cat", 3);
        await wanted("cat in | \"$SAYSO\" mcp | cat", 3);
        await wanted("\"$SAYSO\" mcp < /dev/null", 0);
        await wanted("\"$SAYSO\" mcp <&-", 0);
        await wanted("\"$SAYSO\" mcp < in >&-", 0);
        assert.deepEqual(home.touched().sort(), ["in", "out"]);
    }));

    test("what was answered is written before it ends, however slowly the client reads", inHome(async (home) => {
        const lines = Array.from({ length: 300 }, (_, n) => listing(n + 2));
        writeFileSync(path.join(home.path, "in"), `${initialize(1)}\n${lines.join("\n")}\n`);
        for (const source of ["\"$SAYSO\" mcp < in", "cat in | \"$SAYSO\" mcp"]) {
            const done = await shell(home, `${source} | (sleep 0.3; cat) > got; cat got`);
            assert.equal(done.lines.length, 301, source);
            judged([initialize(1), ...lines], done.lines);
        }
    }));

    test("an answer read after the end of input was delivered: the next front asks again", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { name: "slow" });
        client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const { stdout, stdin } = client.child;
        stdout.pause();
        for (let n = 0; n < 50; n++)
            client.start("tools/list", {}); // more than its pipe takes
        await home.must("answer", session_id, "--select", "b");
        const later = client.startTool("provide_choice", named("Later"));
        const row = async () => (await home.list()).find(({ title }) => title === "Later");
        await until(row, "it has read all that came before, and asks");
        client.notify("notifications/cancelled", { requestId: later });
        await until(async () => (await row()).detached || (await row()).status !== "pending", "it knows its ask, and so has the answer before that");
        stdin.end();
        stdout.resume();
        await client.ended();
        assert.ok(client.messages.some(({ result }) => result?.structuredContent?.session_id === session_id), "it was read");
        const next = await opened(home, "2025-11-25", { name: "slow" });
        next.startTool("provide_choice", GOOD);
        await until(async () => (await home.list("--active")).some(({ title }) => title === GOOD.title), "it is asked anew");
    }, NO_LIMITS));

    test("on a terminal it is as usable, and ends with Ctrl-D and Ctrl-C", inHome(async (home) => {
        for (const key of ["\x04", "\x03"]) {
            const env = { ...home.env, TERM: "dumb", SHELL: "/bin/sh" };
            const child = home.spawn(["-qec", `stty -echo; echo ready; exec "${BIN}" mcp`, "/dev/null"], { env }, "script");
            let out = "";
            child.stdout.on("data", (bytes) => { out += bytes; });
            const ended = new Promise((resolve) => child.on("close", resolve));
            await until(() => out.includes("ready"), "a terminal without echo");
            child.stdin.write(`${initialize(1)}\n`);
            await until(() => /"protocolVersion":"2025-11-25"[^\n]*\n/.test(out), "an answer on the terminal");
            judged([initialize(1)], out.split("\n").filter((line) => line.startsWith("{")));
            child.stdin.write(key);
            const killer = setTimeout(() => child.kill("SIGKILL"), HANG_MS);
            assert.equal(await ended, 0, JSON.stringify(key));
            clearTimeout(killer);
        }
    }));

    for (const state of ["idle", "with calls waiting"]) {
        test(`end of input, SIGINT, SIGTERM and SIGHUP end it with code 0 immediately, ${state}`, inHome(async (home) => {
            for (const end of ["EOF", "SIGINT", "SIGTERM", "SIGHUP"]) {
                let tries = 0;
                await endsAtOnce(async () => {
                    const client = await opened(home, "2025-11-25");
                    const mark = `${end} in try ${++tries}`;
                    for (let n = 0; n < 10 && state !== "idle"; n++)
                        client.startTool("provide_choice", named(`${mark}, ${n}`));
                    const isOurs = ({ title }) => title.startsWith(mark);
                    await until(async () => state === "idle" ||
                        (await home.list("--active")).filter(isOurs).length === 10, "asks");
                    return client;
                }, end);
            }
        }, NO_LIMITS));
    }

    test("a hub that hangs does not keep it from ending", inHome(async (home) => {
        const first = await opened(home, "2025-11-25");
        first.startTool("provide_choice", GOOD);
        await home.opened();
        const pid = home.hubPid();
        process.kill(pid, "SIGSTOP");
        try {
            for (const end of ["EOF", "SIGTERM"]) {
                await endsAtOnce(async () => {
                    const client = await opened(home, "2025-11-25", { name: end });
                    client.startTool("provide_choice", named(end));
                    await sleep(200);
                    return client;
                }, end);
            }
        } finally {
            process.kill(pid, "SIGCONT");
        }
    }));

    test("a client that never reads: it is not read from, memory stays bounded, SIGTERM ends it", inHome(async (home) => {
        const deaf = home.spawn(["mcp"]);
        const gone = new Promise((resolve) => deaf.on("exit", (code) => resolve(code)));
        deaf.stdin.on("error", () => {});
        deaf.stdout.pause();
        deaf.stdin.write(`${initialize()}\n`);
        const flood = Buffer.from(Array.from({ length: 2000 }, (_, n) => `${listing(n)}\n`).join(""));
        for (let n = 0; n < 200; n++)
            deaf.stdin.write(flood); // 18 MB, which would be answered with gigabytes
        await sleep(1500);
        assert.ok(deaf.stdin.writableLength > 1000000, "it goes on reading from somebody who does not");
        const used_kb = rss_kb(deaf.pid);
        assert.ok(used_kb < (process.env.ASAN_OPTIONS ? 400000 : 80000), `${used_kb} KiB`);
        await sleep(500);
        assert.ok(rss_kb(deaf.pid) - used_kb < 2000, "it grows");
        deaf.kill("SIGTERM");
        assert.equal(await Promise.race([gone, sleep(HANG_MS, "still there")]), 0);
        deaf.stdout.destroy();
    }));

    test("a client that went away ends it, though its input stays open", inHome(async (home) => {
        const child = home.spawn(["mcp"]);
        const gone = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
        child.stdout.destroy();
        child.stdin.on("error", () => {});
        await sleep(50);
        child.stdin.write(`${initialize()}\n`);
        assert.equal(await Promise.race([gone, sleep(HANG_MS, "still there")]), 0);
    }));

    test("a line without an end costs no memory, and the one after it is served", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const some = Buffer.alloc(1 << 20, 120);
        client.judge.unreadable++;
        for (let n = 0; n < 50; n++) {
            if (!client.child.stdin.write(some))
                await new Promise((resolve) => client.child.stdin.once("drain", resolve));
        }
        client.child.stdin.write("\n");
        assert.ok((await client.request("ping")).result);
        assert.equal(client.messages.filter(({ error }) => error).length, 1);
        assert.ok(rss_kb(client.child.pid) < (process.env.ASAN_OPTIONS ? 400000 : 20000));
    }));
});

describe("odd clients", { concurrency: 4 }, () => {
    test("stray and broken cancellations cancel nothing", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const call = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const before = client.messages.length;
        for (const requestId of [999, String(call), 1, null, { a: 1 }, [call]])
            client.notify("notifications/cancelled", { requestId });
        for (const params of [{}, undefined, { reason: "x" }])
            client.notify("notifications/cancelled", params);
        await client.request("ping");
        assert.equal(client.messages.length, before + 1);
        await home.must("answer", session_id, "--select", "a");
        assert.equal((await client.collect(call)).action_status, "selected");
        client.notify("notifications/cancelled", { requestId: call, reason: "opencode does so" });
        assert.deepEqual((await client.tool("get_answer", { session_id })).selection.selected_ids, ["a"]);
    }));

    for (const revision of REVISIONS) {
        test(`${revision}: a cancelled call is never answered, cancelled immediately or later`, inHome(async (home) => {
            const client = await opened(home, revision);
            const cancel = (requestId) => client.notify("notifications/cancelled", { requestId });
            const early = client.startTool("provide_choice", named("Early"));
            cancel(early); // before anybody knows its name
            const [{ session_id: first }] = await home.opened(1);
            const late = client.startTool("provide_choice", named("Late"), { progressToken: "t" });
            const rows = await home.opened(2);
            cancel(late);
            await until(async () => (await home.list("--active")).every(({ detached }) => detached), "both say that nobody waits");
            for (const { session_id } of rows)
                await home.must("answer", session_id, "--select", "b");
            const collected = await client.tool("get_answer", { session_id: first });
            assert.deepEqual(collected.selection.selected_ids, ["b"]);
            assert.ok(!client.messages.some(({ id }) => id === early || id === late));
        }));
    }

    test("a cancelled call of a batch leaves its place empty", inHome(async (home) => {
        const client = await opened(home, "2025-03-26");
        client.send([asking("x", named("One")), asking("y", named("Two"))]);
        const rows = await home.opened(2);
        client.notify("notifications/cancelled", { requestId: "x" });
        await home.must("answer", rows.find(({ title }) => title === "Two").session_id, "--select", "a");
        const answers = await client.next(Array.isArray);
        assert.deepEqual(answers.map(({ id }) => id), ["y"]);
    }));

    test("the same id twice at the same time: two answers", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        client.startTool("check_decision", { paths: 1 }, undefined, 5);
        client.startTool("check_decision", { paths: 9 }, undefined, 5);
        await until(() => client.messages.filter(({ id }) => id === 5).length === 2, "both");
    }));

    test("messages in pieces and many in one write are the same to it", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const bytes = Buffer.from(`${listing(900)}\n`);
        client.judge.sent(JSON.parse(listing(900)));
        for (const byte of bytes) {
            client.child.stdin.write(Buffer.from([byte]));
            await new Promise((resolve) => setImmediate(resolve));
        }
        assert.ok((await client.answer(900)).result);
        const many = Array.from({ length: 500 }, (_, n) => JSON.stringify({ jsonrpc: "2.0", id: 1000 + n, method: "ping" }));
        many.forEach((line) => client.judge.sent(JSON.parse(line)));
        client.child.stdin.write(`${many.join("\n")}\n`);
        for (let n = 0; n < 500; n++)
            assert.deepEqual((await client.answer(1000 + n)).result, {});
    }));
});

describe("another hub", { concurrency: 4 }, () => {
    test("--hub unix:PATH: that hub is asked, and nothing of our own is started", inHome(async (home) => {
        const keeper = await opened(home, MODERN, { name: "keeper" });
        keeper.startTool("provide_choice", named("Keeps the hub alive"));
        await home.opened();
        const { socket } = home.hub();
        await withHome({}, async (away) => {
            const client = await opened(away, "2025-11-25", { args: ["--hub", `unix:${socket}`], name: "far" });
            const call = client.startTool("provide_choice", GOOD);
            const row = (await home.opened(2)).find(({ title }) => title === "Deploy");
            await home.must("answer", row.session_id, "--select", "b");
            assert.deepEqual((await client.collect(call)).selection.selected_ids, ["b"]);
            assert.deepEqual(away.touched(), []);
            const waiting = client.startTool("provide_choice", named("Waits"));
            await home.opened(2);
            await home.killHub();
            await until(() => home.hubPid(), "the other front starts its own hub again");
            const again = (await home.opened(2)).find(({ title }) => title === "Waits");
            await home.must("answer", again.session_id, "--select", "a");
            assert.deepEqual((await client.collect(waiting)).selection.selected_ids, ["a"]);
            assert.deepEqual(away.touched(), []);
        });
    }, NO_LIMITS));

    test("--hub unix:PATH: a hub that stays away is waited for, though not for ever", inHome(async (home) => {
        const keeper = await opened(home, MODERN, { name: "keeper" });
        keeper.startTool("provide_choice", named("Keeps the hub alive"));
        await home.opened();
        await withHome({}, async (away) => {
            const client = await opened(away, "2025-11-25", { args: ["--hub", `unix:${home.hub().socket}`], name: "far" });
            const waiting = client.startTool("provide_choice", GOOD);
            await home.opened(2);
            await keeper.kill();
            await home.killHub();
            const seen = await client.collect(waiting);
            assert.equal(seen.error.code, "unavailable", JSON.stringify(seen));
            await atOnce(async () => { // it is known to be away
                const began = Date.now();
                assert.equal((await client.tool("provide_choice", GOOD)).error.code, "unavailable");
                return Date.now() - began;
            }, 5000, "the next call");
            assert.deepEqual(away.touched(), []);
        });
    }, NO_LIMITS));

    test("--hub without a hub there is an error the model can read; with a bad address it does not start", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { args: ["--hub", `unix:${home.path}/nothing`] });
        const refused = await client.tool("provide_choice", GOOD);
        assert.equal(refused.error.code, "unavailable");
        assert.deepEqual(home.touched(), []);
        for (const hub of ["tcp:1", "", "unix"]) {
            const done = await home.sayso("mcp", "--hub", hub);
            assert.deepEqual([done.code, done.out], [2, ""], hub);
        }
    }));

    test("--as NAME: the same agent under every client's name", inHome(async (home) => {
        const first = await opened(home, "2025-11-25", { args: ["--as", "deploy bot"], name: "one" });
        first.startTool("provide_choice", GOOD);
        const [{ session_id, agent }] = await home.opened();
        assert.match(JSON.stringify(agent), /deploy bot/);
        await first.kill();
        const second = await opened(home, MODERN, { args: ["--as", "deploy bot"], name: "two" });
        const stranger = await opened(home, MODERN, { name: "two" });
        assert.equal((await stranger.tool("get_answer", { session_id, wait_seconds: 0 })).error.code, "not_found");
        assert.equal((await second.tool("get_answer", { session_id, wait_seconds: 0 })).action_status, "pending");
    }));

    test("a home that cannot be written: an error with a remedy, and the server lives on", inHome(async (home) => {
        writeFileSync(path.join(home.path, ".local"), "not a directory");
        const client = await opened(home, "2025-11-25");
        const refused = await client.tool("provide_choice", GOOD);
        assert.equal(refused.error.code, "unavailable", JSON.stringify(refused));
        assert.ok((await client.request("ping")).result);
    }));
});
