// Follow-up question before deciding: the agent reads it, explains, and gets the answer of the same ask.
// Proves: R2.2 R5.1
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { opened } from "./lib/raw.mjs";
import { REVISIONS } from "./lib/schema.mjs";
import { GOOD, QUESTIONS } from "./lib/asks.mjs";

const WHY = "What is in Alpha? 什么？";
const BECAUSE = "Alpha has the new index.\nBeta has not.";

const talk = async (home, id) => JSON.parse(await home.must("show", id, "--json")).talk.map(({ by, text }) => [by, text]);

describe("asking back", { concurrency: 4 }, () => {
    for (const revision of REVISIONS) {
        test(`${revision}: pending with asked_back, an explanation, then the answer`, inHome(async (home) => {
            const client = await opened(home, revision);
            const asked = client.startTool("provide_choice", GOOD);
            const [{ session_id }] = await home.opened();
            await home.must("reply", session_id, WHY);
            const { result } = await client.answer(asked);
            const back = JSON.parse(result.content[0].text);
            assert.deepEqual([back.action_status, back.asked_back, back.explicit], ["pending", WHY, false]);
            assert.match(back.instructions, /explanation.*get_answer/);
            const collecting = client.startTool("get_answer", { session_id, explanation: BECAUSE, wait_seconds: 60 });
            await until(async () => (await talk(home, session_id)).length === 2, "it explains");
            assert.deepEqual(await talk(home, session_id), [["person", WHY], ["agent", BECAUSE]]);
            await home.must("answer", session_id, "--select", "b");
            const final = JSON.parse((await client.answer(collecting)).result.content[0].text);
            assert.deepEqual([final.action_status, final.selection.selected_ids, final.asked_back], ["selected", ["b"], undefined]);
        }));
    }

    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: question, explanation and answer, the hub killed in between`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools(); // results are held against the published schema from here on
            const asked = sdk.ask(GOOD);
            const [{ session_id }] = await home.opened();
            await home.must("reply", session_id, WHY);
            assert.equal((await asked).asked_back, WHY);
            if (!kind.includes("HTTP")) // there the hub is the server
                await home.killHub();
            assert.equal((await sdk.collect(session_id, 1)).asked_back, WHY, "told again, by the next hub too");
            const collecting = sdk.collect(session_id, 60, { explanation: BECAUSE });
            await until(async () => (await talk(home, session_id)).length === 2, "it explains");
            if (!kind.includes("HTTP"))
                await home.killHub();
            await home.must("answer", session_id, "--select", "a");
            assert.deepEqual((await collecting).selection.selected_ids, ["a"]);
            assert.equal((await talk(home, session_id)).length, 2, "said once");
        }));
    }

    test("questions are asked back too; bad explanations never reach the person", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const asked = client.startTool("ask_user_question", QUESTIONS);
        const [{ session_id }] = await home.opened();
        const refused = async (args) => JSON.parse((await client.answer(client.startTool("get_answer", { session_id, ...args })))
            .result.content[0].text).error;
        assert.deepEqual((({ code, path }) => [code, path])(await refused({ explanation: "x" })), ["wrong_state", "/explanation"]);
        await home.must("reply", WHY);
        const { result } = await client.answer(asked);
        assert.deepEqual([result.structuredContent.status, result.structuredContent.asked_back], ["pending", WHY]);
        for (const [explanation, code] of [[" \u200b", "empty_text"], ["x".repeat(8001), "too_long"], [7, "bad_type"]])
            assert.equal((await refused({ explanation })).code, code, explanation);
        const waiting = await client.answer(client.startTool("get_answer", { session_id, wait_seconds: 0, explanation: "" }));
        assert.equal(waiting.result.structuredContent.status, "pending", "an empty one is none");
        assert.deepEqual(await talk(home, session_id), [["person", WHY]]);
        const hostile = "\u001b]52;c;eA==\u0007\u202eevil";
        client.startTool("get_answer", { session_id, explanation: hostile });
        await until(async () => (await talk(home, session_id)).length === 2, "it explains");
        assert.ok(!/[\u0007\u001b\u202e]/.test(await home.must("show", session_id)));
    }));
});
