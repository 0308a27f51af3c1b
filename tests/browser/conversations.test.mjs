// conversations.test.mjs - a question of a host's conversation in the page: no clock, both kinds of choice, and the host
// goes on with what was answered there.
// Proves: R3.4 R3.5
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, answerable, option, sendButton, sendNow, until } from "./lib/stage.mjs";

const QUESTIONS = [
    { question: "Which store shall it be?", header: "Store", options: [{ label: "SQLite" }, { label: "PostgreSQL" }] },
    { question: "Which checks shall run?", header: "Checks", multiSelect: true,
        options: [{ label: "Types" }, { label: "Tests" }, { label: "Style" }] },
];

let stage;
let context;
let token;
before(async () => {
    stage = await Stage.open();
    context = await stage.context();
    token = (await stage.home.must("token", "new", "--kind", "host", "--label", "builder")).trim().split(/\s/)[0];
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

async function say(path, body = {}, method = "POST") {
    const reply = await fetch(`${stage.origin}/conversations${path}`, { method,
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        ...method === "POST" && { body: JSON.stringify(body) } });
    const json = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(json));
    return json;
}

// A conversation that waits with these questions, and its page.
async function asked(questions) {
    const { conversation } = await say("");
    await say(`/${conversation}/tool-calls`, { tool_calls: [
        { id: "t1", name: "ask_user_question", input: { questions } }, { id: "t2", name: "build", input: {} }] });
    const look = () => say(`/${conversation}`, null, "GET");
    const { session_id: id } = await look();
    return { conversation, look, page: await stage.open({ id }, context) };
}

test("R3.5 R3.4 steps with a review, no clock, and the conversation goes on", async () => {
    const { conversation, look, page } = await asked(QUESTIONS);
    assert.match(await page.locator("body").textContent(), /builder/);
    assert.equal((await page.locator(".clock .left, .clock output").first().textContent()).trim(), "");
    assert.ok(await page.locator(".clock button").first().isDisabled());
    await option(page, "PostgreSQL").click();
    await sendButton(page).click();
    await answerable(page);
    await option(page, "Types").click();
    await option(page, "Style").click();
    await sendButton(page).click();
    await page.locator(".review").waitFor();
    await answerable(page);
    await sendButton(page).click();
    await sendNow(page);
    const { state } = await until(async () => {
        const now = await look();
        return now.state.type === "tool_executing" && now;
    }, "the conversation goes on");
    assert.equal(state.current.id, "t2");
    const { effects } = await say(`/${conversation}/tool-results`, { tool_use_id: "t2", content: "built" });
    assert.equal(effects.at(-1).event, "request_llm");
    await page.close();
});

test("R3.5 R3.4 declined in the page the agent is idle", async () => {
    const { look, page } = await asked(QUESTIONS.slice(0, 1));
    await page.getByRole("button", { name: /Cancel…/ }).click();
    await page.getByRole("button", { name: /Decline/ }).click();
    await until(async () => (await look()).state.type === "idle", "the agent is idle");
    assert.deepEqual((await look()).persisted, ["t1", "t2"]);
    await page.close();
});
