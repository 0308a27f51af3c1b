// Compatibility tools: under their names and in their shapes, on the same asks, only where compat is set.
// Proves: R14.2 R14.1 R2.4 R5.5
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inHome, until } from "./lib/home.mjs";
import { Judge } from "./lib/judge.mjs";
import { opened as openedRaw } from "./lib/raw.mjs";
import { REVISIONS } from "./lib/schema.mjs";
import { openedHttp as openedWeb } from "./lib/web.mjs";
import { TOOLS } from "./lib/asks.mjs";

const ON = { SAYSO_COMPAT: "on" };
// What is ours is judged as ever; their shapes are theirs, and provide_choice has two.
class Lenient extends Judge {
    tools(revision, tools) {
        const theirs = tools.filter(({ name }) => NAMES.includes(name) || name === "provide_choice");
        for (const tool of theirs.length > 1 ? theirs : [])
            assert.equal(tool.outputSchema, undefined, tool.name);
        super.tools(revision, theirs.length > 1 ? tools.filter((tool) => !theirs.includes(tool)) : tools);
    }

    toolResult(revision, tool, result) {
        if (result.isError || ![...NAMES, "provide_choice"].includes(tool))
            super.toolResult(revision, tool, result);
    }
}
const opened = (home, revision) => openedRaw(home, revision, { judge: new Lenient() });
const openedHttp = (home, revision) => openedWeb(home, revision, { judge: new Lenient() });
const WAYS = { stdio: opened, HTTP: openedHttp };
const NAMES = ["poll_selection", "interactive_feedback", "request_user_input", "get_user_input", "get_multiline_input",
    "get_user_choice", "show_confirmation_dialog"];
const DIALOG = { title: "Name", prompt: "Which one?" };
const CHOICES = { title: "Colour", prompt: "Which colours do you like?", choices: ["Red", "Green, dark", "x".repeat(150)] };
const FEEDBACK = { project_directory: "/home/me/shop-api", summary: "Done." };
const OPTIONS = [{ id: "A", description: "first", recommended: true }, { id: "B", description: "" }];
const THEIRS = { title: "Pick", prompt: "Both are built and tested; which one shall go out today?", selection_mode: "single", options: OPTIONS };

// [tool, arguments, what the person does, what the tool returns: an object, or the text alone]
const CASES = [
    ["interactive_feedback", FEEDBACK, ["answer", "--text", "Rename it.\nThen ship."], { command_logs: "", interactive_feedback: "Rename it.\nThen ship." }],
    ["interactive_feedback", { message: "What now?" }, ["answer", "--text", "go on", "--note", "but slowly"], { interactive_feedback: "go on\n\nbut slowly" }],
    ["interactive_feedback", { message: "Which?", predefined_options: ["Keep", "Drop", "Ask Ada"] },
        ["answer", "--field", "choices=1,3", "--field", "feedback=today"], { interactive_feedback: "Keep; Ask Ada\n\ntoday" }],
    ["interactive_feedback", { message: "Again?", predefinedOptions: [{ label: "Yes" }, { label: "No" }] },
        ["answer", "--field", "choices=2"], { interactive_feedback: "No" }],
    ["interactive_feedback", FEEDBACK, ["cancel"], { command_logs: "", interactive_feedback: "", cancelled: true }],
    ["request_user_input", { projectName: "shop", message: "Which port?" }, ["answer", "--text", "8080"], "User replied: 8080"],
    ["request_user_input", { projectName: "shop", message: "Which?", predefinedOptions: ["Fast", "Safe"] },
        ["answer", "--field", "choices=2"], "User replied: Safe"],
    ["request_user_input", { projectName: "shop", message: "Why?" }, ["cancel", "--note", "not now"], "User cancelled and did not reply. Their note: not now"],
    ["get_user_input", DIALOG, ["answer", "--text", "Heron"], { success: true, user_input: "Heron", input_type: "text", cancelled: false }],
    ["get_user_input", { ...DIALOG, input_type: "integer" }, ["answer", "--field", "input=42"], { success: true, user_input: 42, input_type: "integer", cancelled: false }],
    ["get_user_input", { ...DIALOG, input_type: "float" }, ["answer", "--field", "input=1.5"], { success: true, user_input: 1.5, input_type: "float", cancelled: false }],
    ["get_user_input", DIALOG, ["cancel"], { success: false, user_input: null, input_type: "text", cancelled: true }],
    ["get_multiline_input", { ...DIALOG, default_value: "so far" }, ["answer", "--text", "one two\nthree"],
        { success: true, user_input: "one two\nthree", character_count: 13, line_count: 2, word_count: 3, cancelled: false }],
    ["get_user_choice", CHOICES, ["answer", "--select", "2"],
        { success: true, selected_choice: "Green, dark", selected_choices: ["Green, dark"], allow_multiple: false, file_info: [], cancelled: false }],
    ["get_user_choice", { ...CHOICES, allow_multiple: true }, ["answer", "--field", "choices=1,2"],
        { success: true, selected_choice: ["Red", "Green, dark"], selected_choices: ["Red", "Green, dark"], allow_multiple: true, file_info: [], cancelled: false }],
    ["get_user_choice", { ...CHOICES, allow_multiple: true }, ["answer", "--field", "choices=1"],
        { success: true, selected_choice: "Red", selected_choices: ["Red"], allow_multiple: true, file_info: [], cancelled: false }],
    ["get_user_choice", CHOICES, ["decline"], { success: false, selected_choice: null, selected_choices: [], allow_multiple: false, cancelled: true }],
    ["show_confirmation_dialog", { title: "Drop", message: "Drop the table?" }, ["answer", "--field", "confirmed=yes"], { success: true, confirmed: true, response: "yes" }],
    ["show_confirmation_dialog", { title: "Drop", message: "Drop the table?" }, ["decline"], { success: true, confirmed: false, response: "no" }],
    ["show_confirmation_dialog", { title: "Drop", message: "Drop the table?" }, ["cancel"], { success: false, confirmed: false }],
    ["provide_choice", THEIRS, ["answer", "--select", "B", "--note", "with care"], { action_status: "selected", selected_indices: ["B"], additional_annotation: "with care" }],
    ["provide_choice", { ...THEIRS, options: OPTIONS.map((option) => ({ ...option, label: null })), timeout_seconds: null },
        ["answer", "--select", "A"], { action_status: "selected", selected_indices: ["A"] }],
    ["interactive_feedback", { message: "Really?", predefined_options: null, predefinedOptions: ["Yes", "No"], project_directory: null },
        ["answer", "--field", "choices=2"], { interactive_feedback: "No" }],
    ["provide_choice", THEIRS, ["cancel"], { action_status: "cancelled" }],
    ["provide_choice", THEIRS, ["cancel", "--note", "wait"], { action_status: "cancel_with_annotation", additional_annotation: "wait" }],
];

const called = (client, name, args) => client.request("tools/call", { name, arguments: args });
const listed = async (client) => (await client.request("tools/list")).result.tools;

function expect(reply, wanted, hasStructured) {
    const { content, structuredContent, isError } = reply.result;
    assert.equal(isError, false, JSON.stringify(reply));
    assert.equal(content.length, 1);
    if (typeof wanted === "string") {
        assert.equal(content[0].text, wanted);
        assert.equal(structuredContent, undefined);
        return;
    }
    assert.deepEqual(JSON.parse(content[0].text), wanted);
    assert.deepEqual(structuredContent, hasStructured ? wanted : undefined);
}

describe("R14.2 each tool of theirs: their arguments, a person's act, their result", () => {
    for (const [way, enter] of Object.entries(WAYS)) {
        test(`over ${way}`, inHome(async (home) => {
            const client = await enter(home, "2025-06-18");
            for (const [number, [name, args, act, wanted]] of CASES.entries()) {
                const asked = called(client, name, args);
                const [{ session_id }] = await home.opened();
                await home.must(act[0], session_id, ...act.slice(1));
                const reply = await asked;
                assert.equal(reply.error, undefined, `${number} ${name}: ${JSON.stringify(reply)}`);
                expect(reply, wanted, true);
            }
        }, { ...ON, SAYSO_ASKS_PER_MINUTE: "1000" }));
    }
});

for (const revision of REVISIONS)
    test(`R14.2 at ${revision}: listed with a schema, called, and nothing of it without the setting`, async () => {
        await inHome(async (home) => {
            const client = await opened(home, revision);
            const tools = await listed(client);
            assert.deepEqual(tools.map(({ name }) => name), [...TOOLS, ...NAMES]);
            for (const { inputSchema } of tools)
                assert.equal(inputSchema.type, "object");
            const asked = called(client, "get_user_choice", CHOICES);
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, "--select", "1");
            assert.equal(JSON.parse((await asked).result.content[0].text).selected_choice, "Red");
        }, ON)();
        await inHome(async (home) => {
            const client = await opened(home, revision);
            assert.deepEqual((await listed(client)).map(({ name }) => name), TOOLS);
            for (const name of NAMES)
                assert.match((await called(client, name, {})).error.message, /there is no tool/);
            const plain = await called(client, "provide_choice", THEIRS);
            assert.equal(plain.result.isError, true, "options without a label are refused as ever");
            assert.equal(home.hubPid(), null);
        })();
    });

test("R2.4 R5.5 R14.2 a slow person is pending and never cancelled; the same call again, and poll_selection, get the answer", inHome(async (home) => {
    const client = await opened(home, "2025-06-18");
    const slow = (await called(client, "interactive_feedback", FEEDBACK)).result.structuredContent;
    assert.equal(slow.pending, true);
    assert.equal(slow.interactive_feedback, "");
    const again = called(client, "interactive_feedback", FEEDBACK);
    const open = await home.opened();
    assert.deepEqual(open.map(({ session_id }) => session_id), [slow.session_id], "one ask for both calls");
    await home.must("answer", slow.session_id, "--text", "at last");
    assert.equal((await again).result.structuredContent.interactive_feedback, "at last");
    const choice = (await called(client, "provide_choice", THEIRS)).result.structuredContent;
    assert.deepEqual([choice.action_status, typeof choice.session_id], ["pending", "string"]);
    await home.must("answer", choice.session_id, "--select", "A");
    assert.deepEqual((await called(client, "poll_selection", { session_id: choice.session_id })).result.structuredContent,
        { action_status: "selected", selected_indices: ["A"] });
    const text = (await called(client, "request_user_input", { projectName: "p", message: "Slow?" })).result.content[0].text;
    assert.match(text, /has not replied yet/);
}, { ...ON, SAYSO_HOLD_LIMITS: '{"*":1}' }));

test("R5.6 R14.2 silence is no answer in their shapes either", inHome(async (home) => {
    const client = await opened(home, "2025-06-18");
    await home.must("settings", "set", "timeout_seconds", "1");
    const results = await Promise.all([["interactive_feedback", FEEDBACK], ["get_user_choice", CHOICES],
        ["show_confirmation_dialog", { title: "T", message: "Go?" }], ["request_user_input", { projectName: "p", message: "Well?" }], ["provide_choice", THEIRS]]
        .map(async ([name, args]) => (await called(client, name, args)).result));
    assert.deepEqual(results[0].structuredContent, { command_logs: "", interactive_feedback: "", timeout: true });
    assert.deepEqual([results[1].structuredContent.success, results[1].structuredContent.selected_choices], [false, []]);
    assert.deepEqual([results[2].structuredContent.success, results[2].structuredContent.confirmed], [false, false]);
    assert.equal(results[3].content[0].text, "User did not reply: Timeout occurred.");
    assert.deepEqual(results[4].structuredContent, { action_status: "timeout_cancelled" });
}, ON));

test("R2.1 R14.2 bad and hostile calls are refused with the field, and no person is disturbed", inHome(async (home) => {
    const client = await opened(home, "2025-06-18");
    const deep = JSON.parse("[".repeat(20) + "]".repeat(20));
    for (const [name, args] of [["interactive_feedback", {}], ["interactive_feedback", { message: 5 }], ["interactive_feedback", { message: "x", predefined_options: ["a", "a"] }],
        ["get_user_choice", { title: "t", prompt: "p", choices: [] }], ["get_user_choice", { title: "t", prompt: "p", choices: "abc" }],
        ["get_user_choice", { title: "t", prompt: "p", choices: deep }], ["get_user_choice", { title: "t", prompt: "p".repeat(5000), choices: ["a", "b"] }],
        ["get_user_input", {}], ["poll_selection", {}], ["poll_selection", { session_id: "nonsense" }], ["poll_selection", { session_id: "a".repeat(26) }],
        ["request_user_input", { projectName: "p", message: "m", predefinedOptions: Array.from({ length: 101 }, (_, i) => `o${i}`) }],
        ["show_confirmation_dialog", { message: "\u0000" }], ["interactive_feedback", { message: "What is your password?", predefined_options: ["a", "b"], timeout: -5, task_id: deep }]]) {
        const reply = await called(client, name, args);
        const failed = reply.result?.isError === true && reply.result.structuredContent.error;
        if (failed)
            assert.ok(failed.code && failed.message, JSON.stringify(reply));
        else
            assert.ok(reply.error || name === "interactive_feedback", `${name} ${JSON.stringify(args).slice(0, 80)} ${JSON.stringify(reply).slice(0, 200)}`);
    }
    await until(async () => (await home.opened(0)).length <= 1, "at most the one that was fit to be asked");
}, { ...ON, SAYSO_HOLD_LIMITS: '{"*":1}' }));

test("P1 R5.2 R14.2 a hub that is killed while they wait: the answer comes in their shape, once", inHome(async (home) => {
    const client = await opened(home, "2025-06-18");
    const asked = called(client, "get_user_choice", CHOICES);
    const [{ session_id }] = await home.opened();
    await home.killHub();
    await until(async () => home.hubPid() && (await home.list("--active")).length === 1, "the front has started it again");
    await home.must("answer", session_id, "--select", "3");
    assert.equal((await asked).result.structuredContent.selected_choice, CHOICES.choices[2]);
    assert.deepEqual(await home.list("--active"), []);
}, ON));

test("R14.2 two calls at the same time: each gets its own answer", inHome(async (home) => {
    const client = await opened(home, "2025-06-18");
    const calls = ["one", "two", "three"].map((message) => called(client, "interactive_feedback", { message }));
    for (const { session_id } of await home.opened(3)) {
        const [, message] = /"prompt":\s*"(one|two|three)/.exec(await home.must("show", session_id, "--json"));
        await home.must("answer", session_id, "--text", `re: ${message}`);
    }
    const said = (await Promise.all(calls)).map((reply) => reply.result.structuredContent.interactive_feedback.split(" ")[1]);
    assert.deepEqual(said, ["one", "two", "three"]);
}, ON));
