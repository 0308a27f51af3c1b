// Slow people and impatient clients. The waits are real; all run side by side.
// Proves: R5.5 R5.7 P9
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { SLACK, inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { startHub } from "./lib/web.mjs";
import { opened } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { Person } from "./lib/wire.mjs";
import { GOOD, named } from "./lib/asks.mjs";

const SLOW_MS = 70000; // longer than the 60 s after which clients give up by default
// Modern clients come back by themselves (come_back.test.mjs); here they are told that it is pending.
const NO_ROUNDS = { SAYSO_COME_BACK: "off" };
const LONG_HOLD = { SAYSO_HOLD_LIMITS: "{\"*\":300}" };

// Somebody who looks on from the first moment and counts the questions.
async function onlooker(home) {
    await until(() => home.hubPid(), "a hub");
    return (await Person.at(home)).watch(() => {});
}

const since = (began) => Date.now() - began;

describe("patience", { concurrency: 64 }, () => {
    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: 70 s for a client with the 60 s default: pending at 50 s, the second call gets the answer`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const began = Date.now();
            const asked = sdk.ask(GOOD);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            const answered = sleep(SLOW_MS - since(began)).then(() => home.must("answer", session_id, "--select", "b"));
            const first = await asked;
            assert.ok(since(began) >= 49000 && since(began) < 58000, `pending after ${since(began)} ms`);
            assert.deepEqual([first.action_status, first.session_id], ["pending", session_id]);
            const second = await sdk.ask(GOOD);
            assert.ok(since(began) >= SLOW_MS - 500, "answered before anybody answered");
            assert.deepEqual([second.action_status, second.session_id], ["selected", session_id]);
            assert.deepEqual(second.selection.selected_ids, ["b"]);
            await answered;
            assert.equal(seen.size, 1, "the person saw one question");
        }, NO_ROUNDS));

        test(`${kind}: 70 s, held too long: the client gives up at 60 s, the next identical call gets the answer`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const began = Date.now();
            const asked = sdk.ask(GOOD);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            await assert.rejects(asked, /time/i);
            assert.ok(since(began) >= 59000 && since(began) < 66000, `gave up after ${since(began)} ms`);
            await until(async () => (await home.list("--active"))[0].detached, "the ask says that nobody waits");
            await sleep(SLOW_MS - since(began));
            await home.must("answer", session_id, "--select", "b");
            const second = await sdk.ask(GOOD);
            assert.deepEqual([second.session_id, second.replayed], [session_id, true]);
            assert.deepEqual(second.selection.selected_ids, ["b"]);
            assert.equal(seen.size, 1, "the person saw one question");
        }, LONG_HOLD));

        test(`${kind}: progress keeps a call alive past 60 s`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const told = [], began = Date.now();
            const onprogress = (progress) => told.push({ ...progress, at: since(began) });
            const asked = sdk.ask(GOOD, { resetTimeoutOnProgress: true, onprogress });
            const [{ session_id }] = await home.opened();
            await sleep(SLOW_MS - since(began));
            await home.must("answer", session_id, "--select", "a");
            const result = await asked;
            assert.deepEqual([result.action_status, result.replayed], ["selected", undefined]);
            assert.ok(told.length >= 3, `${told.length} notifications`);
            [{ at: 0 }, ...told].reduce((before, now) => {
                assert.ok(now.at - before.at >= 9000 && now.at - before.at <= 21000, `${now.at - before.at} ms between two`);
                return now;
            });
            for (const { message, at } of told) {
                const [, minutes, seconds] = /(\d+):(\d\d) left/.exec(message);
                const left_s = Number(minutes) * 60 + Number(seconds);
                assert.ok(Math.abs(left_s - (300 - at / 1000)) < 5 * SLACK, `${message} at ${at} ms`);
            }
        }, LONG_HOLD));
    }

    for (const kind of Object.keys(KINDS).filter((name) => KINDS[name].revision === MODERN)) {
        test(`${kind}: 70 s for a client with the 60 s default are one call`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const began = Date.now();
            const asked = sdk.ask(GOOD);
            const seen = await onlooker(home);
            const [{ session_id }] = await home.opened();
            await sleep(SLOW_MS - since(began));
            await home.must("answer", session_id, "--select", "b");
            const result = await asked;
            assert.deepEqual([result.action_status, result.session_id], ["selected", session_id]);
            assert.equal(seen.size, 1, "the person saw one question");
        }));
    }

    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: a client with a limit of 20 s is cut off once, then answered before; after restarts too`, inHome(async (home) => {
            const limited = { timeout: 20000 };
            const sdk = await Sdk.open(home, kind);
            // who closes a stream gives no reason, so once proves nothing
            const cutOffs = KINDS[kind].isHttp && KINDS[kind].revision === MODERN ? 2 : 1;
            for (let n = 0; n < cutOffs; n++)
                await assert.rejects(sdk.ask(GOOD, limited), /time/i);
            const held = async (client) => {
                const began = Date.now();
                const { action_status } = await client.ask(GOOD, limited);
                assert.equal(action_status, "pending");
                assert.ok(since(began) >= 13500 - 1000 * (SLACK - 1) && since(began) < 19900, `pending after ${since(began)} ms`);
            };
            await held(sdk);
            await home.killHub();
            await sdk.close(true);
            if (KINDS[kind].isHttp)
                await startHub(home);
            await held(await Sdk.open(home, kind));
            await home.must("settings", "set", "hold_limits", "{\"*\":300}"); // forgets it
            const again = await Sdk.open(home, kind);
            const asked = again.ask(GOOD, { timeout: 60000 });
            const pending = await Promise.race([asked, sleep(19000, "held")]);
            assert.equal(pending, "held");
            await home.must("answer", "--select", "a");
            assert.equal((await asked).action_status, "selected");
        }, { ...LONG_HOLD, ...NO_ROUNDS }));
    }

    test("a client that gives up without a reason teaches when it does so twice after the same time", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const giveUp = async (after_ms) => {
            const call = client.startTool("provide_choice", GOOD);
            await sleep(after_ms);
            client.notify("notifications/cancelled", { requestId: call });
        };
        await giveUp(12000);
        await giveUp(17000); // not the same: a person
        await giveUp(12000);
        await giveUp(12000);
        const began = Date.now();
        assert.equal((await client.tool("provide_choice", GOOD)).action_status, "pending");
        assert.ok(since(began) >= 6000 && since(began) < 12000, `pending after ${since(began)} ms`);
    }, { ...LONG_HOLD, ...NO_ROUNDS }));

    test("progress of a call that collects says how long the person still has", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const call = client.startTool("get_answer", { session_id, wait_seconds: 40 }, { progressToken: "collecting" });
        const told = await client.next(({ method }) => method === "notifications/progress");
        assert.match(told.params.message, /4:\d\d left/);
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
            await until(() => told().length === 2, "two notifications", 60000);
            assert.deepEqual(told().map(({ progressToken }) => progressToken).sort(), [0, "a token"]);
            await home.must("extend", rows.find(({ title }) => title === "Ask 0").session_id, "1000");
            await until(() => told().length === 4, "two more", 60000);
            const second = told().findLast(({ progressToken }) => progressToken === 0);
            if (revision !== "2024-11-05")
                assert.match(second.message, /1[56]:\d\d left/, "an extended deadline shows");
            for (const { session_id } of rows)
                await home.must("answer", session_id, "--select", "a");
            for (const call of calls)
                assert.equal((await client.collect(call)).action_status, "selected");
            const before = client.messages.length;
            await sleep(17000);
            assert.equal(client.messages.length, before, "progress ends with the response");
        }));
    }

    test("a hub that hangs: pending before the client gives up, the answer when it is back", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const call = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const pid = home.hubPid();
        process.kill(pid, "SIGSTOP"); // before the limit, also on a busy machine
        const began = Date.now();
        const pending = await client.collect(call);
        assert.deepEqual([pending.action_status, pending.session_id], ["pending", session_id]);
        assert.match(pending.instructions, /session_id/);
        assert.ok(since(began) < 20000);
        const unknown = await client.tool("provide_choice", { ...GOOD, title: "Another" });
        assert.equal(unknown.error.code, "unavailable");
        process.kill(pid, "SIGCONT");
        await home.must("answer", session_id, "--select", "b");
        assert.deepEqual((await client.tool("get_answer", { session_id })).selection.selected_ids, ["b"]);
    }, { SAYSO_HOLD_LIMITS: "{\"*\":10}" }));

    test("each client has its own limit, others the common one; a change counts at once", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const held = async (name) => {
            client.name = name;
            const began = Date.now();
            assert.equal((await client.tool("provide_choice", { ...GOOD, title: `${name} ${began}` })).action_status, "pending");
            return since(began);
        };
        const isAbout = (held_ms, limit_s) => {
            const over_ms = held_ms - limit_s * 1000;
            assert.ok(over_ms >= -100 && over_ms < 2900, `${held_ms} ms for ${limit_s} s`);
        };
        await sleep(15000); // until the others have started: bounds are narrow here
        isAbout(await held("quick"), 1);
        isAbout(await held("slow"), 9);
        isAbout(await held("unheard-of"), 5);
        await home.must("settings", "set", "hold_limits", "{\"*\":1,\"quick\":5}");
        isAbout(await held("quick"), 5);
        isAbout(await held("slow"), 1);
    }, { SAYSO_HOLD_LIMITS: "{\"*\":5,\"quick\":1,\"slow\":9}", ...NO_ROUNDS }));

    test("an ask whose time ends while the call is held ends the call", inHome(async (home) => {
        const client = await opened(home, MODERN);
        const began = Date.now();
        assert.equal((await client.tool("provide_choice", { ...GOOD, timeout_seconds: 2 })).action_status, "timeout");
        assert.ok(since(began) >= 2000 && since(began) < 30000);
    }));
});
