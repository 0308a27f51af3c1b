// A legacy session is served by any hub on the same store: after kill -9 of the hub as at another one. What a client
// carries for us (its session, event ids, ids of our requests) is worth nothing if it is changed or in other hands.
// Proves: R5.2 R5.3 R5.5 R5.7 R13.1 R13.2 P1 P3 P10 B6
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exchange, JSON_TYPE, listen } from "./lib/exchange.mjs";
import { inHome, until } from "./lib/home.mjs";
import { outcome } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { headersFor, newToken, openedHttp, startHub, web } from "./lib/web.mjs";
import { asking, GOOD, named, opening, request } from "./lib/asks.mjs";

const LEGACY = REVISIONS.filter((revision) => revision !== MODERN);
const NEWEST = "2025-11-25";
const FORM = { elicitation: {} };

async function restart(home) {
    await home.killHub();
    await startHub(home);
}

// A session by nothing but its id: what is sent is what stands here.
async function open(home, { revision = NEWEST, capabilities = {}, token = home.web.token, name = "by hand" } = {}) {
    const own = { Authorization: `Bearer ${token}` };
    const came = await exchange(home, "POST", { ...JSON_TYPE, ...own }, JSON.stringify(request(0, "initialize", opening(revision, name, capabilities, "7.1"))));
    assert.equal(came.status, 200, came.body);
    const headers = headersFor(revision, token, came.headers["mcp-session-id"]);
    const { "Content-Type": type, ...plain } = headers;
    return {
        id: came.headers["mcp-session-id"],
        headers,
        post: (message, more = {}) => exchange(home, "POST", { ...headers, ...more }, JSON.stringify(message)),
        end: () => exchange(home, "DELETE", plain),
        call: (message) => listen(home, "POST", headers, JSON.stringify(message)),
        listen: (lastId) => listen(home, "GET", { ...plain, ...(lastId && { "Last-Event-ID": lastId }) }),
        get: (lastId) => exchange(home, "GET", { ...plain, "Last-Event-ID": lastId }),
    };
}

const lastId = (stream) => stream.events.findLast(({ id }) => id).id;
const respond = (id, result) => ({ jsonrpc: "2.0", id, result });

// Waits for an event whose id says which ask it is about.
const carries = (stream) => until(() => stream.events.some(({ id }) => id?.includes(".")), "an id to come back by");

async function formOn(stream) {
    await until(() => stream.messages().some(({ method }) => method === "elicitation/create"), "the form is shown");
    return stream.messages().find(({ method }) => method === "elicitation/create");
}

// The text with one letter changed, at some places all over it.
function* altered(text, step) {
    for (let at = 0; at < text.length; at += step) {
        const other = text[at] === "A" ? "B" : "A";
        yield text.slice(0, at) + other + text.slice(at + 1);
    }
}

describe("sessions", { concurrency: 3 }, () => {
    for (const revision of LEGACY) {
        test(`${revision}: a session goes on after kill -9, as the same client`, inHome(async (home) => {
            const client = await openedHttp(home, revision, { name: "same client" });
            assert.match(client.sessionId, /^[\x21-\x7e]{60,400}$/);
            await restart(home);
            const call = client.startTool("provide_choice", GOOD);
            const [row] = await home.opened();
            assert.equal(row.agent, "same client");
            await home.must("answer", row.session_id, "--select", "b");
            assert.deepEqual((await client.collect(call)).selection.selected_ids, ["b"]);
            await restart(home);
            assert.equal((await client.tool("get_answer", { session_id: row.session_id })).action_status, "selected");
        }));
    }

    test("one that was ended is over for good, and ending it several times at the same time is fine", inHome(async (home) => {
        await web(home);
        const session = await open(home), other = await open(home);
        const ended = await Promise.all([session.end(), session.end(), session.end()]);
        assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 404, 404]);
        assert.equal((await session.post(request(1, "ping"))).status, 404);
        await restart(home);
        assert.equal((await session.post(request(1, "ping"))).status, 404);
        assert.equal((await session.end()).status, 404);
        assert.equal((await session.get("1-1")).status, 404);
        assert.equal((await other.post(request(1, "ping"))).status, 200);
    }));

    test("an id is worth nothing altered, cut, grown, or with another token", inHome(async (home) => {
        await web(home);
        const session = await open(home), message = JSON.stringify(request(1, "ping"));
        const ping = (id, token = home.web.token) => exchange(home, "POST", headersFor(NEWEST, token, id), message);
        for (const isRestarted of [false, true]) {
            for (const id of altered(session.id, 3))
                assert.equal((await ping(id)).status, 404, id);
            for (const id of [session.id.slice(0, -1), session.id.slice(1), `${session.id}A`, `${session.id}.`, session.id + session.id,
                `${session.id}${"A".repeat(6000)}`, "A".repeat(20000), "v1.1.", "v1.99999999999999999999.AAAA", ".", "%00", "a".repeat(26)])
                assert.equal((await ping(id)).status, 404, id.slice(0, 200));
            const stranger = await newToken(home, `somebody else ${isRestarted}`);
            assert.equal((await ping(session.id, stranger)).status, 404);
            assert.equal((await ping(session.id)).status, 200);
            if (!isRestarted)
                await restart(home);
        }
    }));

    test("what one thing carries is good for nothing else", inHome(async (home) => {
        await web(home);
        const session = await open(home, { capabilities: FORM }), other = await open(home, { capabilities: FORM });
        const call = session.call(asking(5, GOOD));
        const { id: formId } = await formOn(call);
        await carries(call);
        const [{ session_id }] = await home.opened();
        const state = lastId(call).replace(/^[^.]*\./, ""), carried = formId.replace(/^[^.]*\./, "");
        for (const text of [state, carried])
            assert.equal((await exchange(home, "POST", headersFor(NEWEST, home.web.token, text), JSON.stringify(request(1, "ping")))).status, 404);
        const bad = [`1-0.${session.id}`, `1-0.${carried}`, ...[...altered(state, 7)].map((text) => `1-0.${text}`), "1-0.", "1-0.v1.1.AAAA", "-", "x-y.z", `1-0.${state}A`];
        for (const id of bad)
            assert.equal((await session.get(id)).status, 405, id);
        assert.equal((await other.get(lastId(call))).status, 405, "another session of the same token");
        const answer = { action: "accept", content: { choice: "a" } };
        for (const id of [`sayso-9.${session.id}`, `sayso-9.${state}`, "sayso-9", "sayso-9.", 9, ...[...altered(carried, 7)].map((text) => `sayso-9.${text}`)])
            assert.equal((await session.post(respond(id, answer))).status, 202);
        assert.equal((await other.post(respond(formId, answer))).status, 202);
        await sleep(200);
        assert.equal((await home.list("--active")).length, 1, "nobody has answered");
        assert.equal((await session.post(respond(formId, { action: "accept", content: { choice: "b" } }))).status, 202);
        await until(() => call.isOver, "now somebody has");
        assert.deepEqual(outcome(call.messages().find(({ id }) => id === 5)).selection.selected_ids, ["b"]);
        assert.equal((await home.list())[0].session_id, session_id);
    }));
});

describe("streams", { concurrency: 3 }, () => {
    for (const isAnsweredFirst of [false, true]) {
        test(`a call is taken up after kill -9, answered ${isAnsweredFirst ? "before" : "after"} its client is back`, inHome(async (home) => {
            await web(home);
            const session = await open(home);
            const first = session.call(asking("call \u00e9", GOOD));
            await carries(first);
            const [{ session_id }] = await home.opened();
            await restart(home);
            if (isAnsweredFirst)
                await home.must("answer", session_id, "--select", "b");
            const again = session.listen(lastId(first));
            await until(() => again.events.length, "it is served");
            if (!isAnsweredFirst) {
                await until(async () => !(await home.list("--active"))[0].detached, "somebody waits");
                const third = session.listen(lastId(again)); // and once more, on the same hub
                await until(() => third.events.length, "it is served again");
                await home.must("answer", session_id, "--select", "b");
                await until(() => third.isOver, "it ends with the response");
                assert.deepEqual(outcome(third.messages().find(({ id }) => id === "call \u00e9")).selection.selected_ids, ["b"]);
            } else {
                await until(() => again.isOver, "it ends with the response");
                assert.deepEqual(outcome(again.messages().find(({ id }) => id === "call \u00e9")).selection.selected_ids, ["b"]);
                assert.equal((await session.get(again.events.findLast(({ id }) => id).id)).status, 405, "nothing is left");
            }
            await sleep(300); // the hub sees that the connection was closed in order
            assert.equal((await home.list()).length, 1, "it was asked once");
            session.call(asking(6, GOOD)); // that one was delivered
            assert.notEqual((await home.opened())[0].session_id, session_id);
        }));
    }

    test("calls are taken up in any order, beside new ones, and each gets its own answer", inHome(async (home) => {
        await web(home);
        const session = await open(home), titles = ["One", "Two", "Three"];
        const before = titles.slice(0, 2).map((title, n) => session.call(asking(n, named(title))));
        await Promise.all(before.map(carries));
        await restart(home);
        const third = session.call(asking(2, named("Three")));
        await carries(third);
        const again = [...before].reverse().map((stream) => session.listen(lastId(stream)));
        await until(() => again.every(({ events }) => events.length), "both are served");
        for (const { session_id, title } of await home.opened(3))
            await home.must("answer", session_id, "--select", title === "Two" ? "b" : "a");
        for (const [n, stream] of [again[1], again[0], third].entries()) {
            await until(() => stream.isOver, "it ends with the response");
            const responses = stream.messages().filter(({ id }) => id !== undefined);
            assert.deepEqual(responses.map(({ id }) => id), [n]);
            assert.deepEqual(outcome(responses[0]).selection.selected_ids, [n === 1 ? "b" : "a"]);
        }
    }));

    test("a get_answer that waits is taken up too, and if two wait at the same time each gets the answer", inHome(async (home) => {
        await web(home);
        const session = await open(home);
        session.call(asking(1, GOOD));
        const [{ session_id }] = await home.opened();
        const first = session.call(request(2, "tools/call", { name: "get_answer", arguments: { session_id, wait_seconds: 60 } }));
        await carries(first);
        await restart(home);
        const two = [session.listen(lastId(first)), session.listen(lastId(first))];
        await until(() => two.every(({ events }) => events.length), "both are served");
        await home.must("answer", session_id, "--select", "a");
        for (const stream of two) {
            await until(() => stream.isOver, "it ends with the response");
            assert.deepEqual(outcome(stream.messages().find(({ id }) => id === 2)).selection.selected_ids, ["a"]);
        }
    }));

    test("a form is returned to a hub that never showed it, and its call gets the result", inHome(async (home) => {
        await web(home);
        const session = await open(home, { capabilities: FORM });
        const first = session.call(asking(5, GOOD));
        const { id } = await formOn(first);
        const [{ session_id }] = await home.opened();
        await restart(home);
        const again = session.listen(lastId(first));
        await until(async () => !(await home.list("--active"))[0].detached, "its client is back");
        assert.deepEqual(again.messages(), [], "which has the form already");
        const answers = ["b", "a", "a"].map((choice) => session.post(respond(id, { action: "accept", content: { choice } })));
        assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [202, 202, 202]);
        await until(() => again.isOver, "it ends with the response");
        const result = outcome(again.messages().find((message) => message.id === 5));
        assert.equal(result.session_id, session_id);
        assert.equal(result.answered_by.via, "client");
        assert.equal(result.selection.selected_ids.length, 1);
        assert.equal((await home.list()).length, 1);
    }));

    test("one who came back before the form was shown is shown it", inHome(async (home) => {
        await web(home);
        const session = await open(home, { capabilities: FORM });
        const first = session.call(asking(5, GOOD));
        await formOn(first);
        const before = first.events.find(({ id, data }) => id?.includes(".") && !data)?.id;
        assert.ok(before, "an id from before the form");
        await restart(home);
        const again = session.listen(before);
        const { id } = await formOn(again);
        await session.post(respond(id, { action: "accept", content: { choice: "a" } }));
        await until(() => again.isOver, "it ends with the response");
        assert.deepEqual(outcome(again.messages().find((message) => message.id === 5)).selection.selected_ids, ["a"]);
    }));

    test("subscriptions and the level of messages go on after kill -9; the stream of a GET is taken up", inHome(async (home) => {
        await web(home);
        const session = await open(home, { name: "subscriber" }), asker = await open(home, { name: "subscriber" });
        await session.post(request(1, "resources/subscribe", { uri: "sayso://asks" }));
        await session.post(request(2, "resources/subscribe", { uri: "sayso://history" }));
        await session.post(request(3, "resources/unsubscribe", { uri: "sayso://history" }));
        await session.post(request(4, "logging/setLevel", { level: "emergency" }));
        const first = session.listen();
        await until(() => first.events.some(({ id }) => id), "it is primed");
        await sleep(100); // a subscription is answered before it is on disk
        await restart(home);
        const again = session.listen(lastId(first));
        const told = (uri) => again.messages().filter(({ params }) => params?.uri === uri).length;
        await until(() => told("sayso://asks") >= 1, "what may have been missed is told");
        const before = told("sayso://asks");
        asker.call(asking(5, GOOD));
        await until(() => told("sayso://asks") > before, "and what changes now");
        assert.equal(told("sayso://history"), 0);
        const quiet = session.call(asking(6, named("Quiet")));
        await carries(quiet);
        assert.deepEqual(quiet.messages(), [], "no message is that urgent");
    }));
});

for (const kind of Object.keys(KINDS).filter((name) => KINDS[name].isHttp && KINDS[name].revision !== MODERN)) {
    describe(kind, { concurrency: 2 }, () => {
        test(`${kind}: waiting calls get their answers after kill -9 of the hub, and no second question is asked`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            const asked = ["One", "Two"].map((title) => sdk.ask(named(title)));
            const rows = await home.opened(2);
            await sleep(300);
            await restart(home);
            for (const [n, { session_id }] of rows.entries())
                await home.must("answer", session_id, "--select", n ? "a" : "b");
            const results = await Promise.all(asked);
            for (const [n, { session_id }] of rows.entries())
                assert.deepEqual(results.find((result) => result.session_id === session_id)?.selection.selected_ids, [n ? "a" : "b"]);
            assert.equal((await home.list()).length, 2);
            await sdk.client.listTools();
            await sdk.close(true);
        }));

        test(`${kind}: a form that was open when the hub was killed answers its call`, inHome(async (home) => {
            let decide;
            const decided = new Promise((resolve) => { decide = resolve; });
            const sdk = await Sdk.open(home, kind, { show: async () => ({ action: "accept", content: { choice: await decided } }) });
            const asked = sdk.ask(GOOD);
            const [{ session_id }] = await home.opened();
            await sleep(500);
            await restart(home);
            await sleep(1500); // it takes its stream up
            decide("b");
            const result = await asked;
            assert.deepEqual([result.session_id, result.selection.selected_ids, result.answered_by.via], [session_id, ["b"], "client"]);
            assert.equal((await home.list()).length, 1);
            await sdk.close(true);
        }));
    });
}
