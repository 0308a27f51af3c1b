// ask_user_question over MCP: asked, answered and returned at each revision and by the official
// clients; in the client's own form; for sub-agents neither listed nor callable; late and restarted.
// Proves: R3.1 R3.2 R3.3 R3.5 R4.2 R5.2 R5.5
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { inHome, ROOT, until } from "./lib/home.mjs";
import { opened } from "./lib/raw.mjs";
import { KINDS, Sdk } from "./lib/sdk.mjs";
import { REVISIONS, toolValidator } from "./lib/schema.mjs";
import { openedHttp, web } from "./lib/web.mjs";
import { QUESTIONS, TOOLS } from "./lib/asks.mjs";

const CASES = JSON.parse(readFileSync(path.join(ROOT, "tests/corpus/ask_inputs.json"), "utf8")).cases;
const FOR_SUB_AGENTS = CASES.find(({ id }) => id === "auq-013");
const WAYS = { stdio: opened, HTTP: openedHttp };
const [CACHE, TESTS] = QUESTIONS.questions.map(({ question }) => question);
// how a person answers, and what stands in the result
const ANSWERS = [
    [["--field", "q1=None, please", "--field", "q2=Load,Unit"],
        { [CACHE]: "None, please", [TESTS]: "Unit, Load" },
        [{ question: CACHE, header: "Cache", selected: ["None, please"] }, { question: TESTS, selected: ["Unit", "Load"] }]],
    [["--other", "q1=Memcached,\n\u{1F600}", "--field", "q2=Lint", "--other", "q2=and by hand", "--field-note", "q1=we run it", "--note", "all"],
        { [CACHE]: "Memcached,\n\u{1F600}", [TESTS]: "Lint, and by hand" },
        [{ question: CACHE, header: "Cache", selected: [], other: "Memcached,\n\u{1F600}", notes: "we run it" },
            { question: TESTS, selected: ["Lint"], other: "and by hand" }]],
];

async function askAnd(home, client, args, ...act) {
    const asked = client.tool("ask_user_question", args);
    const [{ session_id }] = await home.opened();
    await home.must(act[0], session_id, ...act.slice(1));
    const result = await asked;
    assert.equal(result.session_id, session_id);
    return result;
}

const everyWay = (enter, revision) => async (home) => {
    const client = await enter(home, revision);
    const { tools } = (await client.request("tools/list")).result;
    const { inputSchema, description } = tools.find(({ name }) => name === "ask_user_question");
    assert.match(description, /1-4 questions with 2-4 options.*NOT available to sub-agents/s);
    toolValidator(inputSchema)(QUESTIONS, "a call of ask_user_question");
    for (const [number, [act, answers, list]] of ANSWERS.entries()) {
        const result = await askAnd(home, client, { ...QUESTIONS, title: `${number}` }, "answer", ...act);
        assert.deepEqual([result.status, result.explicit, result.answered_by.via], ["answered", true, "cli"]);
        assert.deepEqual([result.answers, result.answer_list], [answers, list]);
        assert.deepEqual(await client.tool("get_answer", { session_id: result.session_id }), result, "collected in the same shape");
    }
    const cancelled = await askAnd(home, client, { ...QUESTIONS, title: "No" }, "cancel", "--note", "later");
    assert.deepEqual([cancelled.status, cancelled.summary, cancelled.answers, cancelled.answer_list, cancelled.global_annotation],
        ["cancelled", "User cancelled the question", undefined, undefined, "later"]);
    const declined = await askAnd(home, client, { ...QUESTIONS, title: "Never" }, "decline");
    assert.deepEqual([declined.status, declined.declined, declined.answers], ["cancelled", true, undefined]);
    const late = await client.tool("ask_user_question", { ...QUESTIONS, timeout_seconds: 1 });
    assert.deepEqual([late.status, late.answers, late.explicit], ["timeout", undefined, false]);
};

const subAgentToken = async (home) => {
    await web(home);
    return JSON.parse(await home.must("token", "new", "--label", "sub", "--sub-agent", "--json")).token;
};

describe("questions", { concurrency: 3 }, () => {
    for (const [transport, enter] of Object.entries(WAYS)) {
        for (const revision of REVISIONS)
            test(`${revision}, ${transport}: asked, answered in both kinds, cancelled, declined, silent`, inHome(everyWay(enter, revision)));
    }

    for (const revision of REVISIONS) {
        test(`${revision}: ${FOR_SUB_AGENTS.id}, a sub-agent's front neither lists it nor may call it`, inHome(async (home) => {
            const token = await subAgentToken(home);
            const fronts = [await opened(home, revision, { args: ["--sub-agent"] }), await openedHttp(home, revision, { token })];
            for (const client of fronts) {
                const { tools } = (await client.request("tools/list")).result;
                assert.deepEqual(tools.map(({ name }) => name), TOOLS.filter((name) => name !== "ask_user_question"));
                for (const args of [FOR_SUB_AGENTS.arguments, {}, { questions: 1 }]) {
                    const { error } = await client.tool("ask_user_question", args);
                    assert.deepEqual([error.code, error.path], [FOR_SUB_AGENTS.expect.code, FOR_SUB_AGENTS.expect.path]);
                    assert.match(error.message, /sub-agents can't use/);
                }
            }
            assert.deepEqual(await home.list(), [], "no row was made");
            for (const enter of Object.values(WAYS)) { // the others of the same hub still see it
                const { tools } = (await (await enter(home, revision)).request("tools/list")).result;
                assert.deepEqual(tools.map(({ name }) => name), TOOLS);
            }
        }));
    }

    for (const kind of Object.keys(KINDS)) {
        test(`${kind}: results hold against outputSchema, bad calls say what is wrong`, inHome(async (home) => {
            const sdk = await Sdk.open(home, kind);
            await sdk.client.listTools();
            const [act, answers, answer_list] = ANSWERS[1];
            const asked = sdk.call("ask_user_question", QUESTIONS);
            const [{ session_id }] = await home.opened();
            await home.must("answer", session_id, ...act);
            const { structuredContent, content } = await asked;
            assert.deepEqual({ ...structuredContent, answers, answer_list }, structuredContent);
            assert.deepEqual(JSON.parse(content[0].text), structuredContent, "the text alone is as complete");
            const bad = await sdk.call("ask_user_question", { questions: [{ question: "Which?", options: [{ label: "A" }] }] });
            assert.deepEqual([bad.isError, bad.structuredContent.error.code, bad.structuredContent.error.path],
                [true, "too_few_options", "/questions/0/options"]);
            assert.match(bad.structuredContent.error.message, /question 'Which\?' must have 2-4 options/);
        }));

        test(`${kind}: the client's own form has a property for each question`, inHome(async (home) => {
            let shown, content;
            const sdk = await Sdk.open(home, kind, { show: (params) => {
                shown = params;
                return { action: "accept", content };
            } });
            content = { q1: "Redis", q2: ["Lint", "Unit"], q2_own_words: "both twice" };
            const { structuredContent: both } = await sdk.call("ask_user_question", QUESTIONS);
            assert.deepEqual(both.answers, { [CACHE]: "Redis", [TESTS]: "Unit, Lint, both twice" });
            assert.equal(both.answered_by.via, "client");
            const { properties } = shown.requestedSchema;
            assert.deepEqual(Object.keys(properties), ["q1", "q1_own_words", "q2", "q2_own_words"]);
            assert.equal(properties.q1.title, `Cache: ${CACHE}`);
            content = { q1: "", q1_own_words: "neither", q2: [], q2_own_words: "none" };
            const { structuredContent: own } = await sdk.call("ask_user_question", { ...QUESTIONS, title: "Own" });
            assert.deepEqual(own.answers ?? own, { [CACHE]: "neither", [TESTS]: "none" });
        }));
    }

    test("a hub that dies between question and answer, and between answer and result, loses neither", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const asked = client.tool("ask_user_question", QUESTIONS);
        const [{ session_id }] = await home.opened();
        await home.killHub();
        await home.must("answer", session_id, ...ANSWERS[0][0]);
        assert.deepEqual((await asked).answers, ANSWERS[0][1]);
        await home.killHub();
        assert.deepEqual((await client.tool("get_answer", { session_id })).answers, ANSWERS[0][1]);
    }));

    test("a call whose client gave up is answered late and returned to the same call", inHome(async (home) => {
        const client = await opened(home, "2025-11-25");
        const number = client.startTool("ask_user_question", QUESTIONS);
        const [{ session_id }] = await home.opened();
        client.notify("notifications/cancelled", { requestId: number });
        await until(async () => (await home.list("--active"))[0]?.detached, "the ask says that nobody waits");
        await home.must("answer", session_id, ...ANSWERS[0][0]);
        const again = await client.tool("ask_user_question", QUESTIONS);
        assert.deepEqual([again.status, again.replayed, again.session_id, again.answers], ["answered", true, session_id, ANSWERS[0][1]]);
    }));
});
