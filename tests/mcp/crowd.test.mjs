// Many clients at the same time, all with the same ids: no client gets another's answer.
// Proves: R5.5 R5.8 P4
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { inHome, scaled, untilAll } from "./lib/home.mjs";
import { opened, outcome } from "./lib/raw.mjs";
import { openedHttp } from "./lib/web.mjs";
import { REVISIONS } from "./lib/schema.mjs";
import { Person } from "./lib/wire.mjs";
import { GOOD, written } from "./lib/asks.mjs";

const CLIENTS = 64, ASKS = 100, WAVES = 4;
const TRANSPORTS = { stdio: opened, HTTP: openedHttp };
const NO_LIMITS = { SAYSO_MAX_PENDING: "100000", SAYSO_ASKS_PER_MINUTE: "10000000", SAYSO_HOLD_LIMITS: "{\"*\":300}" };

// Fisher and Yates: the order of answers has nothing to do with the order of questions.
function shuffle(list) {
    for (let i = list.length - 1; i > 0; i--) {
        const j = Math.floor(Math.random() * (i + 1));
        [list[i], list[j]] = [list[j], list[i]];
    }
    return list;
}

async function crowd(home, round, open) {
    const clients = [];
    for (let n = 0; n < CLIENTS; n++)
        clients.push(open(home, REVISIONS[n % REVISIONS.length], { name: "crowd" }));
    const all = await Promise.all(clients);
    const begin = (n) => all.forEach((client, c) =>
        client.startTool("provide_choice", written(`${round} client ${c} ask ${n}`), undefined, 1000 + n));
    begin(0);
    const person = await Person.at(home);
    const rows = [];
    await person.watch((row) => {
        if (row.title.startsWith(`${round} `)) // earlier rounds are history
            rows.push(row);
    });
    // In waves: a process of ours that opens thousands of connections first sends on none of them in time.
    for (let n = 1; n < ASKS; n++) {
        begin(n);
        await untilAll(() => rows.length, CLIENTS * Math.max(1, n - WAVES), "asks are with the person");
    }
    await untilAll(() => rows.length, CLIENTS * ASKS, "every ask is with the person");
    const answer = ({ session_id, title }) => person.call("ask/answer", { session_id, custom_input: `for ${title}` });
    await Promise.all(shuffle(rows).map(answer));
    for (const [c, client] of all.entries()) {
        await untilAll(() => client.messages.length, ASKS + 1, `every answer of client ${c}`);
        for (let n = 0; n < ASKS; n++) {
            const result = outcome(await client.answer(1000 + n));
            assert.equal(result.selection.custom_input, `for ${round} client ${c} ask ${n}`);
        }
        await client.stop();
    }
    assert.equal(new Set(rows.map(({ session_id }) => session_id)).size, CLIENTS * ASKS);
    person.close();
}

describe("crowd", { concurrency: 2 }, () => {
    for (const [transport, open] of Object.entries(TRANSPORTS)) {
        test(`${transport}: ${CLIENTS} clients × ${ASKS} asks with the same ids at the same time, never crossed`, inHome(async (home) => {
            for (let round = 0; round < scaled(1); round++)
                await crowd(home, round, open);
        }, NO_LIMITS));
    }

    for (const [transport, open] of Object.entries(TRANSPORTS)) {
        test(`${transport}: clients that ask the very same words are told apart`, inHome(async (home) => {
            const clients = await Promise.all(Array.from({ length: 8 }, () => open(home, "2025-06-18", { name: "twin" })));
            const calls = clients.map((client) => client.startTool("provide_choice", written("Same"), undefined, 7));
            const rows = await home.opened(clients.length);
            const person = await Person.at(home);
            for (const { session_id } of rows)
                await person.call("ask/answer", { session_id, custom_input: session_id });
            const results = await Promise.all(clients.map((client, n) => client.collect(calls[n])));
            for (const { session_id, selection } of results)
                assert.equal(selection.custom_input, session_id);
            assert.equal(new Set(results.map(({ session_id }) => session_id)).size, clients.length);
        }));
    }

    test("too many asks of one client are refused with when to come back, others are served", inHome(async (home) => {
        const greedy = await opened(home, "2025-11-25", { name: "greedy" });
        const calls = [1, 2, 3, 4].map((n) => greedy.startTool("provide_choice", { ...GOOD, title: `Ask ${n}` }));
        const first = await greedy.next((message) => calls.includes(message.id)); // which of them is the store's choice
        const refused = outcome(first);
        assert.equal(refused.error.code, "rate_limited");
        assert.ok(refused.error.retry_after_seconds >= 1);
        const modest = await opened(home, "2026-07-28", { name: "modest" });
        const call = modest.startTool("provide_choice", GOOD);
        for (const { session_id } of await home.opened(4))
            await home.must("answer", session_id, "--select", "a");
        assert.equal((await modest.collect(call)).action_status, "selected");
        for (const id of calls.filter((one) => one !== first.id))
            assert.equal((await greedy.collect(id)).action_status, "selected");
    }, { SAYSO_MAX_PENDING: "3" }));

    test("a client of a thousand names is served, and the hub is not flooded with connections", inHome(async (home) => {
        const client = await opened(home, "2026-07-28");
        for (let n = 0; n < 300; n++) {
            client.name = `name ${n}`;
            const refused = await client.tool("get_answer", { session_id: "a".repeat(26), wait_seconds: 0 });
            assert.equal(refused.error.code, "not_found");
        }
        assert.ok(readdirSync(`/proc/${client.child.pid}/fd`).length < 50, "it keeps a connection for every name");
        const person = await Person.at(home);
        assert.ok(await person.call("hub/status"));
        client.name = "x".repeat(900000);
        const call = client.startTool("provide_choice", GOOD);
        const [{ agent, session_id }] = await home.opened();
        assert.ok(JSON.stringify(agent).length < 2000, "a name has an end");
        await home.must("cancel", session_id);
        assert.equal((await client.collect(call)).action_status, "cancelled");
    }, NO_LIMITS));

    test("more calls than a front takes are refused, not hoarded", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const asked = client.startTool("provide_choice", GOOD);
        const [{ session_id }] = await home.opened();
        const calls = Array.from({ length: 6000 }, () => client.startTool("get_answer", { session_id, wait_seconds: 60 }));
        const refused = await client.collect(calls.at(-1));
        assert.equal(refused.error.code, "rate_limited");
        await home.must("answer", session_id, "--select", "a");
        const results = await Promise.all([asked, ...calls].map((id) => client.collect(id, 60000)));
        const statuses = results.map(({ error, action_status }) => error?.code ?? action_status);
        assert.ok(statuses.filter((status) => status === "selected").length >= 1000);
        assert.deepEqual([...new Set(statuses)].sort(), ["rate_limited", "selected"]);
    }, NO_LIMITS));
});
