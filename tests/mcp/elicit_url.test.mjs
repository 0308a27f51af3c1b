// An ask that a client's form cannot take is put to it as the portal's address (url mode): opening it decides
// nothing, the call waits on, and the person answers in the portal.
// Proves: R4.2 R4.6 R12.2
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome } from "./lib/home.mjs";
import { Raw } from "./lib/raw.mjs";
import { Tab } from "./lib/tab.mjs";
import { Person } from "./lib/wire.mjs";
import { named, opening } from "./lib/asks.mjs";

const DESTRUCTIVE = named("Delete it?", { destructive: true });
const BOTH = { elicitation: { form: {}, url: {} } };

const isElicitation = (message) => message.method === "elicitation/create";
const replyTo = (id) => (message) => message.id === id && !message.method;

async function legacy(home, capabilities = BOTH, revision = "2025-11-25") {
    const raw = new Raw(home, { name: "raw", capabilities });
    raw.send({ jsonrpc: "2.0", id: "i", method: "initialize", params: opening(revision, "raw", capabilities) });
    await raw.next(replyTo("i"));
    raw.revision = revision;
    raw.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return raw;
}

function checkParams(home, params) {
    assert.equal(params.mode, "url");
    assert.match(params.url, new RegExp(`^http://127\\.0\\.0\\.1:${home.hub().port}/choice/[a-z2-7]{26}$`)); // no code in it
    assert.equal(params.elicitationId, params.url.split("/").at(-1));
    assert.match(params.message, /Delete it\?/);
    assert.equal("requestedSchema" in params, false);
    return params.elicitationId;
}

// In the portal, by a link made for this ask, with the code that is shown there.
async function answer(home, id) {
    const person = await Person.at(home);
    const { link } = await person.call("portal/link", { session_id: id });
    assert.ok(link.includes(`/choice/${id}#code=`));
    const tab = await Tab.at(home, { code: link.split("#code=")[1] });
    const { code } = await tab.call("ask/challenge", { session_id: id });
    await tab.call("ask/answer", { session_id: id, selected_ids: ["b"], code });
    await tab.call("ask/send", { session_id: id });
}

describe("url mode", { concurrency: 3 }, () => {
    for (const action of ["accept", "decline", "cancel", "error"])
        test(`legacy: ${action} decides nothing`, inHome(async (home) => {
            const raw = await legacy(home);
            const id = raw.start("tools/call", { name: "provide_choice", arguments: DESTRUCTIVE });
            const asked = await raw.next(isElicitation);
            const ask = checkParams(home, asked.params);
            if (action === "error")
                raw.send({ jsonrpc: "2.0", id: asked.id, error: { code: -32603, message: "no screen" } });
            else
                raw.send({ jsonrpc: "2.0", id: asked.id, result: { action } });
            const [row] = await home.opened();
            assert.deepEqual([row.session_id, row.status], [ask, "pending"]);
            await answer(home, ask);
            const { result } = await raw.next(replyTo(id));
            assert.deepEqual(result.structuredContent.selection.selected_ids, ["b"]);
            assert.equal(result.structuredContent.answered_by.via, "web");
            assert.equal(raw.messages.filter(isElicitation).length, 1);
        }));

    test("legacy: answered in the portal while the client still shows the address", inHome(async (home) => {
        const raw = await legacy(home);
        const id = raw.start("tools/call", { name: "provide_choice", arguments: DESTRUCTIVE });
        const asked = await raw.next(isElicitation);
        await answer(home, checkParams(home, asked.params));
        const { result } = await raw.next(replyTo(id));
        assert.deepEqual(result.structuredContent.selection.selected_ids, ["b"]);
        assert.ok(raw.messages.some((message) => message.method === "notifications/cancelled" && message.params.requestId === asked.id));
    }));

    test("legacy: only clients that say so, only where a form will not do, only with a portal", inHome(async (home) => {
        for (const [capabilities, args, mode] of [
            [BOTH, named("Harmless"), undefined], [{ elicitation: { url: {} } }, named("By address"), "url"],
            [{ elicitation: { form: {} } }, named("No address", { destructive: true }), null]]) {
            const raw = await legacy(home, capabilities);
            const id = raw.start("tools/call", { name: "provide_choice", arguments: args });
            const { session_id } = (await home.opened()).find((row) => row.title === args.title);
            if (mode === null)
                assert.equal(raw.messages.filter(isElicitation).length, 0);
            else
                assert.equal((await raw.next(isElicitation)).params.mode === "url" ? "url" : undefined, mode);
            await home.must("cancel", session_id);
            await raw.next(replyTo(id));
            await raw.stop();
        }
    }));

    test("legacy: the portal switched off, no address", inHome(async (home) => {
        const raw = await legacy(home);
        const id = raw.start("tools/call", { name: "provide_choice", arguments: DESTRUCTIVE });
        const [{ session_id }] = await home.opened();
        await home.must("cancel", session_id);
        await raw.next(replyTo(id));
        assert.equal(raw.messages.filter(isElicitation).length, 0);
    }, { SAYSO_PORTAL: "off" }));

    for (const action of ["accept", "decline"])
        test(`modern: asked by the reply; ${action} comes back and waits`, inHome(async (home) => {
            const raw = new Raw(home, { capabilities: BOTH });
            const params = { name: "provide_choice", arguments: DESTRUCTIVE };
            const first = await raw.next(replyTo(raw.start("tools/call", params)));
            assert.equal(first.result.resultType, "input_required");
            const [key] = Object.keys(first.result.inputRequests);
            const ask = checkParams(home, first.result.inputRequests[key].params);
            const again = raw.start("tools/call", {
                ...params, inputResponses: { [key]: { action } }, requestState: first.result.requestState,
            });
            await answer(home, ask);
            const last = await raw.next(replyTo(again));
            assert.deepEqual(last.result.structuredContent.selection.selected_ids, ["b"]);
            assert.equal(last.result.structuredContent.session_id, ask);
        }));
});
