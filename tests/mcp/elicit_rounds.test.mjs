// The client's form byte for byte: at each revision, for each client that is known, in rounds with
// sealed state, with content no real client would send, and while the hub dies.
// Proves: R4.2 R4.3 R5.2 R5.3 R10.2 B6
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { inHome, ROOT, until } from "./lib/home.mjs";
import { opened, outcome } from "./lib/raw.mjs";
import { demandType, MODERN } from "./lib/schema.mjs";
import { newToken, openedHttp, startHub } from "./lib/web.mjs";
import { GOOD, named, QUESTIONS } from "./lib/asks.mjs";

const ELICITS = ["2025-06-18", "2025-11-25", MODERN];
const FORMS = { elicitation: {} };
const WAYS = { stdio: opened, HTTP: openedHttp };
const MRTR = JSON.parse(readFileSync(path.join(ROOT, "tests/corpus/ask_inputs.json"), "utf8")).cases.filter(({ tool }) => tool === "mrtr");
const BAD_STATE = /^this requestState is not ours/;

// A call with what a client brought back.
function startRound(client, args, more = {}, tool = "provide_choice") {
    return client.start("tools/call", { name: tool, arguments: args, ...more });
}

async function round(client, args, more, tool) {
    return client.answer(startRound(client, args, more, tool));
}

// The first round of a modern ask: what the client is to show, and the state.
async function begun(client, args = GOOD, tool = "provide_choice") {
    const { result } = await round(client, args, {}, tool);
    assert.equal(result.resultType, "input_required");
    assert.deepEqual(Object.keys(result.inputRequests), ["answer"]);
    return { state: result.requestState, params: result.inputRequests.answer.params };
}

const brought = (state, content, key = "answer") => ({
    requestState: state,
    inputResponses: { [key]: content === undefined ? { action: "cancel" } : { action: "accept", content } },
});

// Over HTTP the hub is the server itself; a front on stdio starts the next one when it needs it.
async function diesAndIsBack(home, way) {
    await home.killHub();
    if (way === "HTTP")
        await startHub(home);
}

// The form as this client is asked to show it; the judge has held it against the revision's schema.
async function shownForm(client, tool, args) {
    if (client.revision === MODERN)
        return (await begun(client, args, tool)).params;
    const id = client.startTool(tool, args);
    const asked = await client.next((message) => message.method === "elicitation/create" && !message.seen);
    asked.seen = true;
    client.send({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: {} } });
    client.last = id;
    return asked.params;
}

const ASKS = [
    ["provide_choice", GOOD],
    ["provide_choice", { ...GOOD, title: "Multi", selection_mode: "multi", default_selection_ids: ["b"] }],
    ["provide_choice", { ...GOOD, title: "Hybrid", selection_mode: "hybrid", placeholder: "Else?" }],
    ["provide_choice", { ...GOOD, title: "One or own", selection_mode: "hybrid", max_selections: 1 }],
    ["provide_choice", { title: "Text", prompt: GOOD.prompt, selection_mode: "text_input" }],
    ["ask_user_question", QUESTIONS],
    ["elicit_choice", { message: "Which?", enum: ["x", "y"] }],
    ["elicit_input", { message: "When?", format: "date" }],
    ["elicit_input", { message: "How many?", type: "integer", minimum: 1 }],
    ["elicit_confirm", { message: "Go?" }],
    ["elicit_number", { message: "Tempo?", minimum: 40.5, maximum: 200, step: 0.5 }],
    ["elicit_form", {
        message: "All",
        requestedSchema: {
            type: "object",
            properties: {
                a: { type: "string", default: "x", description: "words" },
                b: { type: "number", default: 1.5 },
                c: { type: "boolean", default: false },
                d: { type: "string", enum: ["p", "q"], default: "q" },
                e: { type: "array", items: { type: "string", enum: ["p", "q"] }, default: ["p"] },
            },
        },
    }],
];

for (const [way, enter] of Object.entries(WAYS)) {
    for (const revision of ELICITS) {
        test(`${way} ${revision}: every form is one the revision knows, for every client`, inHome(async (home) => {
            for (const name of ["somebody", "claude-code", "codex-mcp-client", "github-copilot-developer"]) {
                for (const [i, [tool, args]] of ASKS.entries()) {
                    // a version each, because none of them ever answers well
                    const client = await enter(home, revision, { name, version: `${i}`, capabilities: FORMS });
                    const { requestedSchema, mode, message } = await shownForm(client, tool, args);
                    assert.equal(mode, revision === "2025-06-18" ? undefined : "form");
                    assert.ok(message.length > 0);
                    assert.ok(Object.keys(requestedSchema.properties).length > 0);
                    for (const [key, property] of Object.entries(requestedSchema.properties)) {
                        demandType(revision, "PrimitiveSchemaDefinition", property);
                        assert.ok(property.title, key);
                        if (revision === "2025-06-18" && property.type !== "boolean" && property.oneOf?.[0].const !== "no")
                            assert.ok(!("default" in property), `${key} has a default`);
                        if (revision === "2025-06-18" || name === "codex-mcp-client")
                            assert.notEqual(property.type, "array", key);
                        if (name === "codex-mcp-client")
                            assert.ok(property.type === "string" || property.type === "boolean", `${key} is ${property.type}`);
                    }
                    for (const key of requestedSchema.required)
                        assert.ok(key in requestedSchema.properties, key);
                    await client.stop();
                }
            }
        }, { SAYSO_MAX_PENDING: "1000", SAYSO_ASKS_PER_MINUTE: "1000", SAYSO_MCP_MODERN: "on" }));
    }

    describe(`${way}: rounds`, { concurrency: 3 }, () => {
        const inRound = (body, env) => inHome(async (home) => body(home, await enter(home, MODERN, { capabilities: FORMS })), env);
        const refused = (answer) => {
            assert.equal(answer.error?.code, -32602, JSON.stringify(answer));
            assert.match(answer.error.message, BAD_STATE);
        };

        test(`${way}: the corpus has the cases that are tested here`, () => {
            assert.deepEqual(MRTR.map(({ id }) => id).sort(),
                ["mrtr-001", "mrtr-002", "mrtr-003", "mrtr-005", "mrtr-008", "mrtr-009", "mrtr-010", "mrtr-011"]);
        });

        test(`${way} mrtr-001: no bit of a state may be another`, inRound(async (home, client) => {
            const { state } = await begun(client);
            for (let bit = 0; bit < state.length * 8; bit++) {
                const bytes = Buffer.from(state, "latin1");
                bytes[bit >> 3] ^= 1 << (bit & 7);
                refused(await round(client, GOOD, brought(bytes.toString("latin1"), { choice: "a" })));
            }
            assert.equal((await home.list("--active")).length, 1);
            assert.deepEqual(outcome(await round(client, GOOD, brought(state, { choice: "b" }))).selection.selected_ids, ["b"]);
        }));

        test(`${way} mrtr-002: another principal's state is none`, inRound(async (home, client) => {
            const { state } = await begun(client);
            const other = await enter(home, MODERN, {
                name: "somebody else",
                capabilities: FORMS,
                ...(way === "HTTP" && { token: await newToken(home, "other") }),
            });
            refused(await round(other, GOOD, brought(state, { choice: "a" })));
            refused(await round(client, named("Another"), brought(state, { choice: "a" })));
            assert.equal((await home.list("--active")).length, 1);
        }));

        test(`${way} mrtr-005: the first answer wins, and coming again returns it`, inRound(async (home, client) => {
            const { state } = await begun(client);
            const first = outcome(await round(client, GOOD, brought(state, { choice: "a" })));
            assert.deepEqual([first.selection.selected_ids, first.replayed], [["a"], undefined]);
            const replayed = await until(async () => {
                const again = outcome(await round(client, GOOD, brought(state, { choice: "b" })));
                assert.deepEqual(again.selection.selected_ids, ["a"]);
                return again.replayed;
            }, "it was delivered");
            assert.equal(replayed, true);
        }));

        test(`${way} mrtr-008: what is no state is refused with one message`, inRound(async (home, client) => {
            await begun(client);
            for (const state of ["x".repeat(8192), 7, "", Buffer.alloc(300, 5).toString("base64"), null, [], "v1.1.AAAA", "a\0b"])
                refused(await round(client, GOOD, { requestState: state, inputResponses: {} }));
            const odd = await round(client, GOOD, { inputResponses: [] });
            assert.equal(odd.error.code, -32602);
            assert.equal((await home.list("--active")).length, 1);
        }));

        test(`${way} mrtr-009: elsewhere a state means nothing`, inRound(async (home, client) => {
            const { state } = await begun(client);
            const { result } = await client.request("tools/list", { requestState: state });
            assert.ok(result.tools.length > 0);
        }));

        test(`${way} mrtr-010: who declared nothing is asked nothing`, inHome(async (home) => {
            const client = await enter(home, MODERN);
            const id = client.startTool("provide_choice", GOOD);
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "a");
            assert.deepEqual((await client.collect(id)).selection.selected_ids, ["a"]);
        }));

        test(`${way} mrtr-011: an unknown key is ignored and asked again, ten times and no more`, inRound(async (home, client) => {
            let { state } = await begun(client);
            for (let i = 2; i <= 10; i++) {
                const { result } = await round(client, GOOD, brought(state, { choice: "a" }, "unknown"));
                assert.equal(result.resultType, "input_required", `round ${i}`);
                state = result.requestState;
            }
            const id = startRound(client, GOOD, brought(state, { choice: "a" }, "unknown"));
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await client.collect(id)).selection.selected_ids, ["b"]);
        }));

        test(`${way}: content no real client would send is refused, asked for once more, and the ask lives`, inRound(async (home, client) => {
            let deep = "x";
            for (let i = 0; i < 40; i++)
                deep = [deep];
            const nasty = [
                { choice: "x".repeat(900000) }, { choice: deep }, { choice: "a\0" }, { choice: { a: 1 } }, { choice: null },
                { ...Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])) }, { "": "a" }, { choice: 1e308 },
            ];
            for (const [i, content] of nasty.entries()) {
                const args = named(`Ask ${i}`);
                const { state } = await begun(client, args);
                const again = await round(client, args, brought(state, content));
                assert.equal(again.result.resultType, "input_required", `content ${i}`);
                const last = await round(client, args, brought(again.result.requestState, { choice: "b" }));
                assert.deepEqual(outcome(last).selection.selected_ids, ["b"]);
            }
        }));

        test(`${way}: the hub dies while the form is open: the state is good for the next one`, inRound(async (home, client) => {
            const { state } = await begun(client);
            await diesAndIsBack(home, way);
            const result = outcome(await round(client, GOOD, brought(state, { choice: "b" })));
            assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "client"]);
            assert.equal((await home.list()).length, 1, "nobody was asked twice");
        }));

        test(`${way}: the hub dies, and the ask is answered elsewhere: that answer counts, whatever comes back`, inRound(async (home, client) => {
            const { state } = await begun(client);
            await diesAndIsBack(home, way);
            const [{ session_id }] = await home.list("--active");
            await home.must("answer", session_id, "--select", "a");
            const result = outcome(await round(client, GOOD, brought(state, { choice: "b" })));
            assert.deepEqual([result.session_id, result.selection.selected_ids, result.answered_by.via], [session_id, ["a"], "cli"]);
            assert.equal((await home.list()).length, 1, "nobody was asked twice");
        }));

        test(`${way}: the hub dies between the rounds of bad content: asked again once, not once more`, inRound(async (home, client) => {
            const { state } = await begun(client);
            const again = await round(client, GOOD, brought(state, { choice: "purple" }));
            assert.equal(again.result.resultType, "input_required");
            await diesAndIsBack(home, way);
            const id = startRound(client, GOOD, brought(again.result.requestState, { choice: "purple" }));
            await until(async () => (await home.list("--active"))[0]?.detached === false, "the call waits");
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await client.collect(id)).selection.selected_ids, ["b"]);
        }));
    });
}

describe("legacy forms", { concurrency: 3 }, () => {
    const form = (client) => client.next((message) => message.method === "elicitation/create");
    const reply = (client, asked, result) => client.send({ jsonrpc: "2.0", id: asked.id, result });

    test("the hub dies while the form is open: the answer is not lost", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { capabilities: FORMS });
        const id = client.startTool("provide_choice", GOOD);
        const asked = await form(client);
        await home.killHub();
        reply(client, asked, { action: "accept", content: { choice: "b" } });
        const result = await client.collect(id);
        assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "client"]);
        assert.equal(client.messages.filter(({ method }) => method === "elicitation/create").length, 1);
    }));

    test("the hub dies and is back before the person answers: still one form", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { capabilities: FORMS });
        const id = client.startTool("provide_choice", GOOD);
        const asked = await form(client);
        await home.killHub();
        await until(() => home.hubPid(), "the next hub");
        await until(async () => !(await home.list("--active"))[0]?.detached, "the call waits again");
        reply(client, asked, { action: "accept", content: { choice: "a" } });
        assert.deepEqual((await client.collect(id)).selection.selected_ids, ["a"]);
        assert.equal(client.messages.filter(({ method }) => method === "elicitation/create").length, 1);
    }));

    // Over HTTP that hub is the server: its streams break. Its sessions go on at the next hub, or their clients begin again.
    const brokenHttp = async (home) => {
        const client = await openedHttp(home, "2025-11-25", { capabilities: FORMS });
        client.startTool("provide_choice", GOOD);
        client.asked = await form(client);
        await diesAndIsBack(home, "HTTP");
        const { response } = client.replies.find(({ message }) => message.method === "tools/call");
        await until(() => response.closed, "its stream broke");
        return client;
    };
    const anew = (home) => openedHttp(home, "2025-11-25", { capabilities: FORMS });

    test("HTTP: the hub dies while the form is open: what is sent to the next hub is the answer, which the same call gets", inHome(async (home) => {
        const client = await brokenHttp(home);
        const { status } = await reply(client, client.asked, { action: "accept", content: { choice: "b" } });
        assert.equal(status, 202);
        const [row] = await until(async () => {
            const rows = await home.list();
            return rows[0]?.status === "submitted" && rows;
        }, "it is saved");
        const result = await (await anew(home)).tool("provide_choice", GOOD);
        assert.deepEqual([result.session_id, result.selection.selected_ids, result.replayed], [row.session_id, ["b"], true]);
        assert.equal((await home.list()).length, 1, "nobody was asked twice");
    }));

    test("HTTP: the hub dies while the form is open: the same call gets what was answered elsewhere", inHome(async (home) => {
        await brokenHttp(home);
        const [{ session_id }] = await home.opened();
        await home.must("answer", session_id, "--select", "a");
        const client = await anew(home);
        const result = await client.tool("provide_choice", GOOD);
        assert.deepEqual([result.session_id, result.selection.selected_ids, result.replayed], [session_id, ["a"], true]);
        assert.ok(!client.messages.some(({ method }) => method === "elicitation/create"), "nobody is asked what is answered");
        assert.equal((await home.list()).length, 1, "nobody was asked twice");
    }));

    test("HTTP: the hub dies while the form is open: the same call shows it again, and an answer elsewhere withdraws it", inHome(async (home) => {
        await brokenHttp(home);
        const client = await anew(home);
        const id = client.startTool("provide_choice", GOOD);
        const asked = await form(client);
        const [{ session_id }] = await home.opened();
        await home.must("answer", session_id, "--select", "b");
        const result = await client.collect(id);
        assert.deepEqual([result.session_id, result.selection.selected_ids, result.answered_by.via], [session_id, ["b"], "cli"]);
        const gone = await client.next(({ method }) => method === "notifications/cancelled");
        assert.equal(gone.params.requestId, asked.id);
        assert.equal((await home.list()).length, 1, "nobody was asked twice");
    }));

    test("HTTP: the hub dies while the form is open: the same call shows it again, and the person answers there", inHome(async (home) => {
        await brokenHttp(home);
        const client = await anew(home);
        const id = client.startTool("provide_choice", GOOD);
        reply(client, await form(client), { action: "accept", content: { choice: "b" } });
        const result = await client.collect(id);
        assert.deepEqual([result.selection.selected_ids, result.answered_by.via], [["b"], "client"]);
        assert.equal((await home.list()).length, 1, "nobody was asked twice");
    }));

    test("a call that is cancelled takes its form with it; the ask stays", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { capabilities: FORMS });
        const id = client.startTool("provide_choice", GOOD);
        const asked = await form(client);
        client.notify("notifications/cancelled", { requestId: id, reason: "Esc" });
        const gone = await client.next(({ method }) => method === "notifications/cancelled");
        assert.equal(gone.params.requestId, asked.id);
        await until(async () => (await home.list("--active"))[0]?.detached, "the ask says that nobody waits");
        reply(client, asked, { action: "accept", content: { choice: "b" } }); // too late: it is no answer
        const again = client.startTool("provide_choice", GOOD);
        const second = await client.next((message) => message.method === "elicitation/create" && message.id !== asked.id);
        reply(client, second, { action: "accept", content: { choice: "a" } });
        assert.deepEqual((await client.collect(again)).selection.selected_ids, ["a"]);
    }));

    test("no answer in time: timeout, the form is withdrawn, and the next ask is not shown there", inHome(async (home) => {
        const client = await opened(home, "2025-06-18", { capabilities: FORMS });
        const id = client.startTool("provide_choice", { ...GOOD, timeout_seconds: 1 });
        const asked = await form(client);
        assert.equal((await client.collect(id)).action_status, "timeout");
        const gone = await client.next(({ method }) => method === "notifications/cancelled");
        assert.equal(gone.params.requestId, asked.id);
        const next = client.startTool("provide_choice", named("Next"));
        const [{ session_id }] = await home.opened();
        await home.must("answer", session_id, "--select", "a");
        assert.equal((await client.collect(next)).action_status, "selected");
        assert.equal(client.messages.filter(({ method }) => method === "elicitation/create").length, 1);
    }));

    for (const [what, result] of [
        ["a megabyte", { action: "accept", content: { choice: "x".repeat(1000000) } }],
        ["depth", { action: "accept", content: { choice: JSON.parse("[".repeat(50) + "]".repeat(50)) } }],
        ["NUL", { action: "accept", content: { choice: "a\0" } }],
        ["a list for a result", []], ["no action", { content: { choice: "a" } }], ["an action of its own", { action: "later" }],
        ["a number for an action", { action: 7, content: { choice: "a" } }],
        ["fields of people's answers", { action: "accept", content: { selected_ids: ["a"], version: 9 } }],
    ]) {
        test(`a client that returns ${what}: the ask is open for everybody else`, inHome(async (home) => {
            const client = await opened(home, "2025-11-25", { capabilities: FORMS });
            const id = client.startTool("provide_choice", GOOD);
            reply(client, await form(client), result);
            assert.ok((await client.request("ping")).result);
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "b");
            assert.deepEqual((await client.collect(id)).selection.selected_ids, ["b"]);
        }));
    }

    test("Codex's traps: no lists, no text that may stay empty, Enter takes what is first; no and yes come back as a choice", inHome(async (home) => {
        const client = await opened(home, "2025-06-18", { name: "codex-mcp-client", capabilities: FORMS });
        const id = client.startTool("provide_choice", { ...GOOD, selection_mode: "multi" });
        const asked = await form(client);
        for (const property of Object.values(asked.params.requestedSchema.properties)) {
            assert.deepEqual(property.oneOf.map((answer) => answer.const), ["no", "yes"]);
            assert.match(property.description, /^Deploy · /, "each says its question");
        }
        reply(client, asked, { action: "accept", content: { choice_1: "no", choice_2: "yes" } });
        assert.deepEqual((await client.collect(id)).selection.selected_ids, ["b"]);
    }));

    test("what Claude Code would cut of a form is said where it is: the ask's address", inHome(async (home) => {
        const client = await opened(home, "2025-11-25", { name: "claude-code", capabilities: FORMS });
        const id = client.startTool("provide_choice", { ...GOOD, prompt: `${GOOD.prompt} `.repeat(6) });
        const asked = await form(client);
        const [{ session_id }] = await home.opened();
        const lines = asked.params.message.split("\n");
        assert.equal(lines.length, 3);
        assert.ok(lines.every((line) => line.length <= 76) && !asked.params.message.includes(GOOD.title), asked.params.message);
        assert.match(lines[2], new RegExp(`: http://\\S+/choice/${session_id}$`));
        reply(client, asked, { action: "accept", content: { choice: "b" } });
        assert.deepEqual((await client.collect(id)).selection.selected_ids, ["b"]);
    }));
});
