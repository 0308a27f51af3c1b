// Asks and history as resources, over stdio and HTTP: what is one's own, what changes, what
// survives the hub; ids completed; log messages.
// Proves: R5.2 R10.1 R10.2 R10.6
import assert from "node:assert/strict";
import http from "node:http";
import { describe, test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { opened } from "./lib/raw.mjs";
import { MODERN, REVISIONS } from "./lib/schema.mjs";
import { eventReader, newToken, openedHttp } from "./lib/web.mjs";
import { named } from "./lib/asks.mjs";

const OPEN = "sayso://asks", HISTORY = "sayso://history";
const WAYS = { stdio: opened, http: openedHttp };

// Another principal: by name on stdio, by token over HTTP.
async function openOther(home, way, revision) {
    const token = way === "http" && { token: await newToken(home, "other") };
    return WAYS[way](home, revision, { name: "other", ...token });
}

async function read(client, uri) {
    const { result, error } = await client.request("resources/read", { uri });
    if (error)
        return error;
    assert.equal(result.contents.length, 1);
    assert.deepEqual([result.contents[0].uri, result.contents[0].mimeType], [uri, "application/json"]);
    assert.equal(result.cacheScope, client.revision === MODERN ? "private" : undefined);
    return JSON.parse(result.contents[0].text);
}

// A legacy session over HTTP hears news on its GET.
function stand(client) {
    const headers = { ...client.headers({ method: "GET" }), "Accept": "text/event-stream" };
    delete headers["Content-Type"];
    return new Promise((resolve, reject) => {
        const sent = http.request(client.web.url, { method: "GET", headers, agent: false }, (came) => {
            came.setEncoding("utf8");
            came.on("data", eventReader((event) => event.data && client.hear(event.data)));
            came.on("error", () => {});
            resolve(sent);
        });
        sent.on("error", reject);
        sent.end();
        client.home.endings.push(() => sent.destroy());
    });
}

// From now on the client is told of these; by what its revision has for that.
async function subscribe(client, way, uris) {
    if (client.revision === MODERN) {
        client.start("subscriptions/listen", { notifications: { resourceSubscriptions: uris } }, "sub");
        const { params } = await client.next((message) => message.method === "notifications/subscriptions/acknowledged");
        assert.deepEqual(params.notifications.resourceSubscriptions.toSorted(), uris.toSorted());
        return;
    }
    if (way === "http")
        await stand(client);
    for (const uri of uris)
        assert.deepEqual((await client.request("resources/subscribe", { uri })).result, {});
}

const updates = (client, uri) => client.messages.filter((message) =>
    message.method === "notifications/resources/updated" && message.params.uri === uri).length;

for (const [way, open] of Object.entries(WAYS)) {
    describe(`resources over ${way}`, { concurrency: 2 }, () => {
        for (const revision of REVISIONS) {
            if (way === "http" && revision === "2024-11-05")
                continue; // has another transport
            test(`${way}, ${revision}: an ask is seen from its beginning to its end`, inHome(async (home) => {
                const client = await open(home, revision);
                await subscribe(client, way, [OPEN, HISTORY]);
                const call = client.startTool("provide_choice", named("Mine"));
                const [{ session_id }] = await home.opened();
                await until(() => updates(client, OPEN) > 0, "news of the ask");
                assert.deepEqual((await read(client, OPEN)).asks.map((ask) => ask.session_id), [session_id]);
                assert.deepEqual((await read(client, HISTORY)).asks, []);
                const pending = await read(client, `${OPEN}/${session_id}`);
                assert.deepEqual([pending.status, pending.title, pending.result], ["pending", "Mine", undefined]);
                assert.equal(pending.form.fields.length, 1);
                const known = updates(client, HISTORY);
                await home.must("answer", session_id, "--select", "a");
                assert.equal((await client.collect(call)).action_status, "selected");
                await until(() => updates(client, HISTORY) > known, "news of its end");
                const over = await read(client, `${OPEN}/${session_id}`);
                assert.deepEqual([over.status, over.result.selection.selected_ids], ["submitted", ["a"]]);
                assert.deepEqual((await read(client, OPEN)).asks, []);
                assert.deepEqual((await read(client, HISTORY)).asks.map((ask) => ask.session_id), [session_id]);
            }));
        }

        for (const revision of ["2025-11-25", MODERN]) {
            test(`${way}, ${revision}: another principal's ask is as if there were none`, inHome(async (home) => {
                const client = await open(home, revision);
                const other = await openOther(home, way, revision);
                const call = client.startTool("provide_choice", named("Secret"));
                const [{ session_id }] = await home.opened();
                const none = `${OPEN}/${"a".repeat(26)}`;
                const wanted = await read(other, none);
                assert.equal(wanted.code, revision === MODERN ? -32602 : -32002);
                assert.deepEqual(wanted.data, { uri: none });
                const foreign = `${OPEN}/${session_id}`;
                assert.deepEqual(await read(other, foreign), { ...wanted, data: { uri: foreign } });
                assert.deepEqual((await read(other, OPEN)).asks, []);
                await subscribe(other, way, [foreign, OPEN]);
                await home.must("extend", session_id, "600");
                await home.must("answer", session_id, "--select", "a");
                await client.collect(call);
                assert.deepEqual((await read(other, HISTORY)).asks, []);
                const changes = updates(other, foreign);
                assert.ok(changes <= 1, "it may hear once that it listens, never of a change");
            }));

            test(`${way}, ${revision}: ids are completed, and log messages come where they are wanted`, inHome(async (home) => {
                const client = await open(home, revision);
                if (revision !== MODERN)
                    await client.request("logging/setLevel", { level: "info" });
                const meta = revision === MODERN ? { "io.modelcontextprotocol/logLevel": "info" } : undefined;
                const call = client.startTool("provide_choice", named("Complete me"), meta);
                const [{ session_id }] = await home.opened();
                const complete = async (ref, value) => (await client.request("completion/complete",
                    { ref, argument: { name: "session_id", value } })).result.completion.values;
                const template = { type: "ref/resource", uri: "sayso://asks/{session_id}" };
                assert.deepEqual(await complete(template, ""), [session_id]);
                assert.deepEqual(await complete(template, session_id.slice(0, 5)), [session_id]);
                assert.deepEqual(await complete(template, "1"), []);
                assert.deepEqual(await complete({ type: "ref/prompt", name: "collect_answer" }, ""), [session_id]);
                await home.must("answer", session_id, "--select", "a");
                await client.collect(call);
                const said = client.messages.filter(({ method }) => method === "notifications/message");
                assert.deepEqual(said.map(({ params }) => [params.level, params.data.event, params.data.session_id]),
                    [["info", "asked", session_id]]);
                assert.match(said[0].params.data.url, new RegExp(`^http://127\\.0\\.0\\.1:\\d+/choice/${session_id}$`));
            }));
        }
    });
}

describe("resources and the hub", { concurrency: 2 }, () => {
    for (const revision of ["2025-11-25", MODERN]) {
        test(`${revision}: who subscribed hears of what comes after the hub was killed`, inHome(async (home) => {
            const client = await opened(home, revision);
            await subscribe(client, "stdio", [OPEN, HISTORY]);
            const call = client.startTool("provide_choice", named("Survives"));
            const [{ session_id }] = await home.opened();
            await until(() => updates(client, OPEN) > 0, "news of the ask");
            const known = updates(client, HISTORY);
            await home.killHub();
            await until(() => updates(client, HISTORY) > known, "news from the next hub");
            const again = updates(client, HISTORY);
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await client.collect(call)).selection.selected_ids, ["b"]);
            await until(() => updates(client, HISTORY) > again, "news of its end");
        }));
    }

    test("a modern client that closes its stream hears no more, another goes on", inHome(async (home) => {
        const first = await openedHttp(home, MODERN), second = await openedHttp(home, MODERN);
        await subscribe(first, "http", [HISTORY]);
        await subscribe(second, "http", [HISTORY]);
        first.replies.at(-1).sent.destroy();
        const call = second.startTool("provide_choice", named("Two at once"));
        const [{ session_id }] = await home.opened();
        const known = updates(second, HISTORY);
        await home.must("answer", session_id, "--select", "a");
        await second.collect(call);
        await until(() => updates(second, HISTORY) > known, "news of its end");
        assert.equal(updates(first, HISTORY), 1, "only that it listens");
    }));
});
