// missed.test.mjs - back from coffee: what timed out unseen, a word to the agent all the same, more time for what comes.
// Proves: R5.6 R5.7 R7.2
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, choice, until } from "./lib/stage.mjs";

let stage;
let context;
before(async () => {
    stage = await Stage.open();
    await stage.home.must("settings", "set", "timeout_seconds", "1"); // asks that are given 1 s have the usual time
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const shot = (page, name) => process.env.SAYSO_SHOTS && page.screenshot({ path: `${process.env.SAYSO_SHOTS}/missed-${name}.png` });
const unseen = (page) => page.locator(".banner.missed");
async function timedOut(agent, title, more = {}) {
    const asked = await agent.ask(choice({ title, timeout_seconds: 1, ...more }));
    assert.equal((await asked.result).action_status, "timeout");
    return asked.id;
}

test("R5.7 a choice and a note for an ask that timed out are a notice of the agent's next result", async () => {
    const agent = stage.agent("cody");
    const page = await stage.page("", context);
    const id = await timedOut(agent, "Which cache?");
    await unseen(page).getByText("1 ask timed out unseen").waitFor(); // in the page that lay open
    await page.locator(".list").getByText("1 ask timed out unseen").waitFor();
    assert.equal(await page.getByRole("button", { name: /Give me longer/ }).count(), 0);
    await shot(page, "one");
    await unseen(page).getByRole("link", { name: "Which cache?" }).click();
    await page.getByRole("heading", { name: "Tell the agent anyway" }).waitFor();
    await page.getByRole("button", { name: "Tell the agent", exact: true }).click();
    await page.getByText(/nothing to tell the agent/).waitFor();
    await page.getByRole("radio", { name: "Redis, write-through" }).check();
    await page.locator("#tell-note").fill("I was having coffee");
    await shot(page, "tell");
    await page.getByRole("button", { name: "Tell the agent", exact: true }).click();
    await page.getByText("Redis, write-through; I was having coffee").waitFor();
    await shot(page, "told");
    assert.equal(await page.getByRole("heading", { name: "Tell the agent anyway" }).count(), 0);

    const next = await agent.ask(choice({ title: "Next", timeout_seconds: 600 }));
    await stage.home.must("answer", next.id, "redis");
    const { notices, selection } = await next.result;
    assert.deepEqual(selection.selected_ids, ["redis"]);
    assert.equal(notices[0].session_id, id);
    assert.equal(notices[0].status, "timeout");
    assert.deepEqual(notices[0].told_after_deadline.answer.selected_ids, ["redis"]);
    assert.equal(notices[0].told_after_deadline.answer.global_annotation, "I was having coffee");
    await page.close();
});

test("R5.6 those looked at do not count; after the second in a day more time is offered, once", async () => {
    const agent = stage.agent("cody");
    const page = await stage.page("", context);
    const looked = await agent.ask(choice({ title: "Looked at", timeout_seconds: 3 }));
    await page.goto(`${stage.origin}/choice/${looked.id}`);
    await page.getByRole("heading", { name: "Looked at" }).waitFor();
    await page.mouse.move(200, 200);
    await page.mouse.move(220, 210);
    assert.equal((await looked.result).action_status, "timeout");
    await page.goto(stage.origin);
    await page.locator("#main h1").waitFor();
    assert.equal(await unseen(page).count(), 0); // the one before was told
    await timedOut(agent, "Second");
    await unseen(page).getByText("1 ask timed out unseen").waitFor();
    await shot(page, "longer");
    await page.getByRole("button", { name: "Give me longer next time (4 s)" }).click();
    await until(async () => (await stage.home.must("settings", "get", "timeout_seconds")).trim() === "4", "asks stay open for longer");
    await until(async () => await page.getByRole("button", { name: /Give me longer/ }).count() === 0, "it is offered once");
    await page.getByRole("button", { name: "Got it" }).click();
    await until(async () => await unseen(page).count() === 0, "that was a visit");
    await page.reload();
    await page.locator("#main h1").waitFor();
    assert.equal(await unseen(page).count(), 0);
    await page.close();
});

test("R5.6 of a destructive ask only a note is offered; all of it in Chinese too", async () => {
    const agent = stage.agent("cody");
    await stage.home.must("settings", "set", "language", "zh");
    const id = await timedOut(agent, "Delete all?", { destructive: true });
    const page = await stage.page("", context);
    await unseen(page).getByText("有 1 个请求在你未查看时超时").waitFor();
    await page.goto(`${stage.origin}/choice/${id}`);
    await page.getByRole("heading", { name: "仍然告知智能体" }).waitFor();
    assert.equal(await page.locator(".tell input").count(), 0);
    await page.locator("#tell-note").fill("别删");
    await page.getByRole("button", { name: "告知智能体", exact: true }).click();
    await page.getByText("你在超时后告知了智能体").waitFor();
    await shot(page, "zh");
    await page.close();
});
