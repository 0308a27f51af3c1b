// Slow people and impatient clients. The waits are real; all run side by side. A minute, after which clients give up by
// default, is sat out once a SDK; the others have the same with shorter limits.
// Proves: R5.5 R5.7 P9
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { openedHttp, startHub, web } from "./lib/web.mjs";
import { opened } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { Person } from "./lib/wire.mjs";
import { GOOD, named } from "./lib/asks.mjs";

// How long the hub holds a call, after which time the client gives up, and how long the person takes.
const BY_DEFAULT = { env: {}, limited: {}, held_ms: 50000, given_up_ms: 60000, slow_ms: 62000 };
const SHORTER = { env: { SAYSO_HOLD_LIMITS: "{\"*\":10}" }, limited: { timeout: 15000 }, held_ms: 10000, given_up_ms: 15000, slow_ms: 17000 };
const REAL = ["SDK 1.x", "SDK 2.x", "SDK 2.x, auto"];
const limitsOf = (kind) => REAL.includes(kind) ? BY_DEFAULT : SHORTER;
const PROGRESS_MS = 10000;
const AT_ONCE = 24; // the tests mostly wait; without a limit a hundred processes would start in the same moment
// Modern clients come back by themselves (come_back.test.mjs); here they are told that it is pending.
const NO_ROUNDS = { SAYSO_COME_BACK: "off" };
const LONG_HOLD = { SAYSO_HOLD_LIMITS: "{\"*\":300}" };

// A watcher from the first moment on that counts the questions.
async function onlooker(home) {
    await until(() => home.hubPid(), "a hub");
    return (await Person.at(home)).watch(() => {});
}

const since = (began) => Date.now() - began;

describe("patience", { concurrency: AT_ONCE }, () => {
    for (const kind of Object.keys(KINDS)) {
        const { env, limited, held_ms, given_up_ms, slow_ms } = limitsOf(kind);
        test(`${kind}: a person slower than the client's ${given_up_ms / 1000} s: pending after ${held_ms / 1000} s, a later call gets the answer`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const began = Date.now();
            const asked = sdk.ask(GOOD, limited);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            const answered = sleep(slow_ms - since(began)).then(() => home.must("answer", session_id, "--select", "b"));
            const first = await asked; // or the client gave up before
            assert.ok(since(began) >= held_ms - 1000, `pending after ${since(began)} ms`);
            assert.deepEqual([first.action_status, first.session_id], ["pending", session_id]);
            let second = first;
            while (second.action_status === "pending")
                second = await sdk.ask(GOOD, limited);
            assert.ok(since(began) >= slow_ms - 500, "answered before anybody answered");
            assert.deepEqual([second.action_status, second.session_id], ["selected", session_id]);
            assert.deepEqual(second.selection.selected_ids, ["b"]);
            await answered;
            assert.equal(seen.size, 1, "the person saw one question");
        }, { ...env, ...NO_ROUNDS }));

        test(`${kind}: held too long: the client gives up after ${given_up_ms / 1000} s, the next identical call gets the answer`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const began = Date.now();
            const asked = sdk.ask(GOOD, limited);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            await assert.rejects(asked, /time/i);
            assert.ok(since(began) >= given_up_ms - 1000, `gave up after ${since(began)} ms`);
            await until(async () => (await home.list("--active"))[0].detached, "the ask says that nobody waits");
            await home.must("answer", session_id, "--select", "b");
            const second = await sdk.ask(GOOD);
            assert.deepEqual([second.session_id, second.replayed], [session_id, true]);
            assert.deepEqual(second.selection.selected_ids, ["b"]);
            assert.equal(seen.size, 1, "the person saw one question");
        }, LONG_HOLD));

        test(`${kind}: progress keeps a call alive past the client's limit`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const told = [], began = Date.now();
            const limit_ms = REAL.includes(kind) ? given_up_ms : PROGRESS_MS + 7000;
            const onprogress = (progress) => told.push({ ...progress, at: since(began) });
            const asked = sdk.ask(GOOD, { timeout: limit_ms, resetTimeoutOnProgress: true, onprogress });
            const [{ session_id }] = await home.opened();
            await sleep(limit_ms + 2000 - since(began));
            // The SDK no longer knows the token of one that it reads together with the result.
            await until(() => told.length && since(began) - told.at(-1).at < PROGRESS_MS - 1000, "the last one that is due");
            await home.must("answer", session_id, "--select", "a");
            const result = await asked;
            assert.deepEqual([result.action_status, result.replayed], ["selected", undefined]);
            assert.ok(told.length >= Math.floor(limit_ms / PROGRESS_MS) - 1 && told.length > 0, `${told.length} notifications`);
            assert.match(told.shift().message, new RegExp(`^waiting for the user: session_id ${session_id}, http://\\S+/choice/${session_id}$`));
            const left = told.map(({ message }) => {
                const [, minutes, seconds] = /(\d+):(\d\d) left/.exec(message);
                return Number(minutes) * 60 + Number(seconds);
            });
            [300, ...left].reduce((before, now) => { // by the hub's own clock
                assert.ok(before - now >= 9 && before - now <= 16, `${before - now} s between two`);
                return now;
            });
            left.forEach((left_s, n) => assert.ok(left_s >= 299 - told[n].at / 1000, `${left_s} s left at ${told[n].at} ms`));
        }, LONG_HOLD));
    }

    for (const kind of Object.keys(KINDS).filter((name) => KINDS[name].revision === MODERN)) {
        const { env, limited, given_up_ms, slow_ms } = limitsOf(kind);
        test(`${kind}: a person slower than the client's ${given_up_ms / 1000} s is one call`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const began = Date.now();
            const asked = sdk.ask(GOOD, limited);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            await sleep(slow_ms - since(began));
            await home.must("answer", session_id, "--select", "b");
            const result = await asked;
            assert.deepEqual([result.action_status, result.session_id], ["selected", session_id]);
            assert.equal(seen.size, 1, "the person saw one question");
        }, env));
    }

    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: a client with a limit of 12 s is cut off, then answered before; after restarts too`, inHome(async (home) => {
            const limited = { timeout: 12000 }; // so the hub answers after 7
            const sdk = await Sdk.open(home, kind);
            // who closes a stream gives no reason, so once proves nothing, and twice only if they were as long
            const isTold = !(KINDS[kind].isHttp && KINDS[kind].revision === MODERN);
            let cutOffs = 0;
            const held = async (client, options = limited) => {
                const began = Date.now();
                const { action_status } = await client.ask(GOOD, options); // or it was cut off
                assert.equal(action_status, "pending");
                assert.ok(since(began) >= 5000, `pending after ${since(began)} ms`);
            };
            for (let isLearnt = false; !isLearnt; cutOffs += isLearnt ? 0 : 1) {
                assert.ok(cutOffs < 5, "it is cut off again and again");
                isLearnt = await held(sdk).then(() => true, (problem) => assert.match(String(problem), /tim(ed|e)[ -]?out/i));
            }
            // on a busy machine an answer in time may still cross the client's cancellation
            const crossed = sdk.errors.filter((error) => /unknown message ID/.test(error)).length;
            sdk.errors = sdk.errors.filter((error) => !/unknown message ID/.test(error));
            assert.ok(cutOffs - crossed >= (isTold ? 1 : 2), `${cutOffs} times, ${crossed} crossed`);
            await home.killHub();
            await sdk.close(true);
            if (KINDS[kind].isHttp)
                await startHub(home);
            await held(await Sdk.open(home, kind), { timeout: 40000 }); // a hub that forgot would hold it for 300
            await home.must("settings", "set", "hold_limits", "{\"*\":300}"); // forgets it
            const again = await Sdk.open(home, kind);
            const asked = again.ask(GOOD, { timeout: 60000 });
            const pending = await Promise.race([asked, sleep(12000, "held")]);
            assert.equal(pending, "held");
            await home.must("answer", "--select", "a");
            assert.equal((await asked).action_status, "selected");
        }, { ...LONG_HOLD, ...NO_ROUNDS }));
    }

    for (const [name, kind] of [["opencode", "SDK 1.x"], ["qwen-code-mcp-client-sayso", "SDK 1.x, HTTP"], ["copilot-cli", "SDK 2.x"]]) {
        test(`${name}, ${kind}: progress holds a call past its silent limit; a client that gives up all the same is answered before`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind, { name });
            const onprogress = () => {};
            const asked = sdk.ask(named("Kept alive"), { timeout: PROGRESS_MS + 7000, resetTimeoutOnProgress: true, onprogress });
            const [{ session_id }] = await home.opened();
            const silent_s = name === "opencode" ? 50 : 30; // the others are known to wait longer than a test does
            assert.equal(await Promise.race([asked, sleep(silent_s * 1000 + 4000, "held")]), "held");
            await home.must("answer", session_id, "--select", "b");
            const kept = await asked;
            assert.deepEqual([kept.action_status, kept.session_id], ["selected", session_id]);
            const limited = { timeout: 14000, onprogress }; // progress does not extend it
            await assert.rejects(sdk.ask(named("Cut off"), limited), /tim(ed|e)[ -]?out/i);
            const began = Date.now();
            assert.equal((await sdk.ask(named("Cut off"), limited)).action_status, "pending");
            assert.ok(since(began) >= 7000, `pending after ${since(began)} ms`);
        }));
    }

    test("a client that gives up without a reason teaches when it does so twice after the same time", inHome(async (home) => {
        const client = await opened(home, MODERN);
        // The result of a call that was not given up after all.
        const giveUp = async (after_ms) => {
            const call = client.startTool("provide_choice", GOOD);
            const answered = client.collect(call);
            answered.catch(() => {}); // a cancelled call gets no answer
            const result = await Promise.race([answered, sleep(after_ms, null)]);
            if (!result)
                client.notify("notifications/cancelled", { requestId: call });
            return result;
        };
        assert.equal(await giveUp(12000), null);
        assert.equal(await giveUp(17000), null); // not the same: a person
        let times = 0, pending = null;
        while (!(pending = await giveUp(12000)))
            assert.ok(++times < 5, "it is held again and again");
        assert.ok(times >= 2, "once was enough");
        assert.equal(pending.action_status, "pending");
    }, { ...LONG_HOLD, ...NO_ROUNDS }));

    test("progress of a call that collects says how long the person still has", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const call = client.startTool("get_answer", { session_id, wait_seconds: 40 }, { progressToken: "collecting" });
        const told = await client.next(({ method }) => method === "notifications/progress");
        assert.match(told.params.message, /[1-4]:\d\d left/);
        await home.must("answer", session_id, "--select", "b");
        assert.deepEqual((await client.collect(call)).selection.selected_ids, ["b"]);
    }));

    for (const revision of REVISIONS) {
        test(`${revision}: progress for the token 0 and for a text, none without a token or for a broken one`, inHome(async (home) => {
            const client = await opened(home, revision);
            const tokens = [0, "a token", { no: "token" }, 1.5, null];
            const metas = [...tokens.map((progressToken) => ({ progressToken })), undefined];
            const calls = metas.map((meta, n) => client.startTool("provide_choice", named(`Ask ${n}`), meta));
            const rows = await home.opened(metas.length);
            const told = () => client.messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);
            const areTold = () => [...new Set(told().map(({ progressToken }) => progressToken))].sort();
            await until(() => areTold().length >= 2, "two notifications");
            await home.must("extend", rows.find(({ title }) => title === "Ask 0").session_id, "1000");
            const before = told().length;
            await until(() => told().slice(before).some(({ progressToken, message }) => progressToken === 0 &&
                (revision === "2024-11-05" || /1[56]:\d\d left/.test(message))), "an extended deadline shows");
            assert.deepEqual(areTold(), [0, "a token"]);
            for (const { session_id } of rows)
                await home.must("answer", session_id, "--select", "a");
            for (const call of calls)
                assert.equal((await client.collect(call)).action_status, "selected");
            const all = client.messages.length;
            await sleep(17000);
            assert.equal(client.messages.length, all, "progress ends with the response");
        }, LONG_HOLD));
    }

    test("a hub that hangs: pending before the client gives up, the answer when it is back", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const call = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const pid = home.hubPid();
        process.kill(pid, "SIGSTOP"); // before the limit, also on a busy machine
        const pending = await client.collect(call); // while it hangs
        assert.deepEqual([pending.action_status, pending.session_id], ["pending", session_id]);
        assert.match(pending.instructions, /session_id/);
        const unknown = await client.tool("provide_choice", { ...GOOD, title: "Another" });
        assert.equal(unknown.error.code, "unavailable");
        process.kill(pid, "SIGCONT");
        await home.must("answer", session_id, "--select", "b");
        assert.deepEqual((await client.tool("get_answer", { session_id })).selection.selected_ids, ["b"]);
    }, { SAYSO_HOLD_LIMITS: "{\"*\":30}" }));

    test("each client has its own limit, others the common one; a change applies immediately", inHome(async (home) => {
        const client = await opened(home, MODERN);
        // Names and limits, asked at the same time: they are answered in this order, none before its time.
        const areHeld = async (...limits) => {
            const ended = [], began = Date.now();
            await Promise.all(limits.toReversed().map(async ([name, limit_s]) => {
                client.name = name;
                const call = client.startTool("provide_choice", { ...GOOD, title: `${name} ${began}` });
                assert.equal((await client.collect(call)).action_status, "pending");
                assert.ok(since(began) >= limit_s * 1000 - 100, `${name}: ${since(began)} ms for ${limit_s} s`);
                ended.push(name);
            }));
            assert.deepEqual(ended, limits.map(([name]) => name));
        };
        await areHeld(["quick", 1], ["unheard-of", 5], ["slow", 9]);
        await home.must("settings", "set", "hold_limits", "{\"*\":1,\"quick\":5}");
        await areHeld(["slow", 1], ["quick", 5]);
    }, { SAYSO_HOLD_LIMITS: "{\"*\":5,\"quick\":1,\"slow\":9}", ...NO_ROUNDS }));

    test("HTTP: the address says how long its client waits, and calls are held longer", inHome(async (home) => {
        await web(home);
        home.web = { ...home.web, url: `${home.web.url}?client_timeout=3600` };
        const client = await openedHttp(home, "2025-11-25");
        const asked = client.tool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        assert.equal(await Promise.race([asked, sleep(BY_DEFAULT.held_ms + 4000, "held")]), "held");
        await home.must("answer", session_id, "--select", "b");
        assert.equal((await asked).action_status, "selected");
    }));

    test("an ask whose time ends while the call is held ends the call", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const began = Date.now();
        assert.equal((await client.tool("provide_choice", { ...GOOD, timeout_seconds: 2 })).action_status, "timeout");
        assert.ok(since(began) >= 2000);
    }));
});
