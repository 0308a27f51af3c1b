// The elicit tools from the call over a person at the command line to the result, at each revision.
// Proves: R2.5 R4.1 R4.3 R4.4 R5.5 R5.7 R10.6
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { opened } from "./lib/raw.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { REVISIONS, toolValidator } from "./lib/schema.mjs";
import { openedHttp } from "./lib/web.mjs";

const LIST_BYTES_MOST = 18432; // every model pays for every byte
const COLOURS = { type: "string", enum: ["red", "blue"], enumNames: ["Red", "Blue"] };
const FORM = {
    type: "object",
    properties: {
        name: { type: "string", title: "Name", minLength: 2, maxLength: 9 },
        mail: { type: "string", format: "email" },
        count: { type: "integer", minimum: 1, maximum: 5, default: 2 },
        ratio: { type: "number" },
        loud: { type: "boolean", default: true },
        colour: COLOURS,
        key: { type: "string", enum: ["C", "Am"], enumLabels: ["C major", "A minor"] },
        size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }], default: "l" },
        tags: { type: "array", items: { type: "string", enum: ["x", "y", "z"] }, minItems: 1, maxItems: 2 },
        more: { type: "array", items: { anyOf: [{ const: "p", title: "P" }, { const: "q", title: "Q" }] } },
    },
    required: ["name", "colour"],
};

// tool, arguments, how a person answers it, what stands in the result
const KIND_CASES = [
    ["elicit_choice", { message: "Which?", options: [{ value: "a", label: "Alpha" }, { value: "b", label: "Beta" }] },
        ["--select", "b", "--note", "why not"], { choice: "b", global_annotation: "why not" }],
    ["elicit_choice", { message: "Colour?", enum: COLOURS.enum, enumLabels: COLOURS.enumNames }, ["--select", "red"], { choice: "red" }],
    ["elicit_input", { message: "Name?" }, ["--text", "Heron\n\u{1F600}"], { input: "Heron\n\u{1F600}" }],
    ["elicit_input", { message: "Mail?", field_name: "mail", format: "email" }, ["--field", "mail=ada@example.org"], { mail: "ada@example.org" }],
    ["elicit_input", { message: "How many?", field_name: "count", type: "integer", minimum: 1 }, ["--field", "count=3"], { count: 3 }],
    ["elicit_confirm", { message: "Go?" }, ["--field", "confirmed=yes"], { confirmed: true }],
    ["elicit_number", { message: "Tempo?", minimum: 40, maximum: 200, unit: "BPM" }, ["--field", "value=92.5"], { value: 92.5 }],
    ["elicit_number", { message: "Stars?", style: "rating" }, ["--field", "value=4"], { value: 4 }],
    ["elicit_form", { message: "Details", requestedSchema: FORM },
        ["--field", "name=Ada", "--field", "colour=blue", "--field", "key=Am", "--field", "tags=z,x", "--field", "loud=no"],
        { content: { name: "Ada", count: 2, loud: false, colour: "blue", key: "Am", size: "l", tags: ["x", "z"] } }],
];

// A call, and a person who does `act` to its ask. Returns the call's result.
async function askAnd(home, client, tool, args, ...act) {
    const asked = client.tool(tool, args);
    const [{ session_id }] = await home.opened();
    await home.must(act[0], session_id, ...act.slice(1));
    const result = await asked;
    assert.equal(result.session_id, session_id);
    return result;
}

// As the body of a test: tools/list first, from then on the judge holds results against it.
const everyKind = (enter, revision) => async (home) => {
    const client = await enter(home, revision);
    const { tools } = (await client.request("tools/list")).result;
    const inputs = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, toolValidator(inputSchema)]));
    const told = JSON.stringify(tools.map(({ _meta, ...tool }) => tool)); // _meta is for the client alone
    assert.ok(told.length <= LIST_BYTES_MOST, told.length);
    for (const [tool, args, act, value] of KIND_CASES) {
        if (!args.enumLabels) // accepted, but not offered
            inputs[tool](args, `a call of ${tool}`);
        const result = await askAnd(home, client, tool, args, "answer", ...act);
        assert.equal(result.action, "accept");
        assert.equal(result.explicit, true);
        assert.equal(result.answered_by.via, "cli");
        assert.deepEqual(Object.fromEntries(Object.keys(value).map((key) => [key, result[key]])), value);
        assert.deepEqual(await client.tool("get_answer", { session_id: result.session_id }), result, "collected in the same shape");
    }
};

describe("elicit", { concurrency: 3 }, () => {
    for (const [transport, enter] of Object.entries({ stdio: opened, HTTP: openedHttp })) {
        for (const revision of REVISIONS)
            test(`${revision}, ${transport}: every kind is asked, answered at the command line and returned`, inHome(everyKind(enter, revision)));
    }

    for (const revision of REVISIONS) {
        test(`${revision}: no, cancel and silence are told apart, and none is a yes`, inHome(async (home) => {
            const client = await opened(home, revision);
            await client.request("tools/list");
            const ask = (message, ...act) => askAnd(home, client, "elicit_confirm", { message }, ...act);
            const no = await ask("One?", "answer", "--field", "confirmed=no");
            assert.deepEqual([no.action, no.confirmed], ["decline", false]);
            const declined = await ask("Two?", "decline");
            assert.deepEqual([declined.action, declined.confirmed, declined.explicit], ["decline", false, true]);
            const cancelled = await ask("Three?", "cancel", "--note", "later");
            assert.deepEqual([cancelled.action, cancelled.confirmed, cancelled.global_annotation], ["cancel", undefined, "later"]);
            const late = await client.tool("elicit_confirm", { message: "Four?", timeout_seconds: 1 });
            assert.deepEqual([late.action, late.confirmed, late.explicit], ["timeout", undefined, false]);
            await Promise.all(KIND_CASES.map(async ([tool, args]) => {
                const silent = await client.tool(tool, { ...args, timeout_seconds: 1 });
                assert.equal(silent.action, "timeout");
                assert.ok(!["choice", "input", "confirmed", "value", "content", args.field_name].some((key) => key in silent), JSON.stringify(silent));
            }));
        }));

        test(`${revision}: ef-006, no person can be reached: no_human_channel, never a yes`, inHome(async (home) => {
            const client = await opened(home, revision);
            for (const [tool, args] of KIND_CASES) {
                const { error } = await client.tool(tool, args);
                assert.equal(error.code, "no_human_channel", tool);
            }
            assert.deepEqual(await home.list(), [], "no row was made");
        }, { SAYSO_PORTAL: "off", SAYSO_TERMINAL: "off" }));
    }

    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: results hold against outputSchema in the client's own judgement`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            for (const [tool, args, act, value] of KIND_CASES) {
                const asked = sdk.call(tool, args);
                const [{ session_id }] = await home.opened();
                await home.must("answer", session_id, ...act);
                const { structuredContent } = await asked;
                assert.deepEqual({ ...structuredContent, ...value }, structuredContent);
            }
            const bad = await sdk.call("elicit_form", { message: "?", requestedSchema: { type: "object", properties: { password: { type: "string" } } } });
            assert.deepEqual([bad.isError, bad.structuredContent.error.code, bad.structuredContent.error.path],
                [true, "sensitive_input_refused", "/requestedSchema/properties/password"]);
        }));
    }

    test("a field_name can't hide a member of the result: all that stand there are taken", inHome(async (home) => {
        const client = await opened(home, REVISIONS.at(-1));
        const seen = new Set(["error"]);
        for (const act of [["answer", "--text", "x", "--note", "n"], ["cancel"], ["decline"]]) {
            const result = await askAnd(home, client, "elicit_input", { message: `Say ${act}` }, ...act);
            Object.keys(result).forEach((key) => seen.add(key));
        }
        seen.delete("input");
        for (const field_name of [...seen, "notices", "warnings", "url", "terminal_command", "replayed"]) {
            const { error } = await client.tool("elicit_input", { message: "Say", field_name });
            assert.deepEqual([error?.code, error?.path], ["conflicting_arguments", "/field_name"], field_name);
        }
    }));

    test("an answer that arrived is never given to the next call, which asks again", inHome(async (home) => {
        const question = { message: "Again?" };
        const first = await opened(home, "2025-11-25");
        const answered = await askAnd(home, first, "elicit_confirm", question, "answer", "--field", "confirmed=yes");
        await first.stop();
        const second = await opened(home, "2025-11-25");
        const asked = second.startTool("elicit_confirm", question);
        const [{ session_id }] = await home.opened();
        assert.notEqual(session_id, answered.session_id);
        await home.must("decline", session_id);
        assert.equal((await second.collect(asked)).confirmed, false);
    }));

    test("a call whose client gave up is answered late: announced, and collected in its own shape", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const number = client.startTool("elicit_number", { message: "Late?" });
        const [{ session_id }] = await home.opened();
        client.notify("notifications/cancelled", { requestId: number });
        await until(async () => (await home.list("--active"))[0]?.detached, "the ask says that nobody waits");
        await home.must("answer", session_id, "--field", "value=7");
        const again = await client.tool("elicit_number", { message: "Late?" });
        assert.deepEqual([again.action, again.value, again.replayed, again.session_id], ["accept", 7, true, session_id]);
    }));
});
