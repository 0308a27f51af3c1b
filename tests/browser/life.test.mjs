// life.test.mjs - what happens around an answer: time, undo, other tabs and channels, a hub that dies.
// Proves: P1 R2.2 R5.2 R5.3 R5.4 R5.5 R5.9 R7.2 R7.3 R7.9
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option, sendButton, sendNow, until } from "./lib/stage.mjs";

let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open();
    agent = stage.agent();
    context = await stage.context({ permissions: ["notifications"] });
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const WAITS = { single_submit_mode: false };
const note = (page) => page.getByLabel("Note for the agent");
const left = async (page) => {
    const [m, s] = (await page.locator(".left").textContent()).split(":").map(Number);
    return m * 60 + s;
};

test("R5.2 R7.9 undo makes the answer a draft again, in the same page", async () => {
    const asked = await agent.ask(choice({ title: "Undo this" }));
    const page = await stage.open(asked, context);
    await option(page, "Redis").click();
    await page.getByRole("heading", { name: /Saved/ }).waitFor();
    await page.keyboard.press("u");
    await page.locator(".ask").waitFor();
    assert.equal(await page.locator(".opt input:checked").getAttribute("value"), "redis");
    await answerable(page);
    await option(page, "Leave it").click();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["none"]);
    await page.close();
});

test("R5.9 a draft follows to another tab and outlives a reload", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Draft" }));
    const page = await stage.open(asked, context);
    const other = await stage.open(asked, await stage.context());
    await note(page).fill("half a tho");
    await until(async () => await note(other).inputValue() === "half a tho", "it shows in the other tab");
    await page.reload();
    await note(page).waitFor();
    assert.equal(await note(page).inputValue(), "half a tho");
    await option(other, "Redis").click();
    await until(async () => await page.locator(".opt input:checked").count() === 1, "and back");
    await stage.home.must("cancel", asked.id);
    await page.close();
    await other.context().close();
});

test("R2.2 R5.1 asked back: the agent is told, its explanation comes beside the question, what was typed stays", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Ask a follow-up" }));
    const page = await stage.open(asked, context);
    await note(page).fill("half a thought");
    await page.locator("h1").click();
    await page.keyboard.press("b");
    await page.getByLabel("What do you want to know?").fill("What is <b>in</b> Redis?");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    const back = await asked.result;
    assert.deepEqual([back.action_status, back.asked_back], ["pending", "What is <b>in</b> Redis?"]);
    await page.locator(".banner", { hasText: "Follow-up sent." }).waitFor();
    const answered = agent.call("ask/wait", { session_id: asked.id, wait_seconds: 60,
        explanation: "Sessions.\n\u202eevil <img src=x onerror=alert(1)>" });
    const said = page.locator(".talk li.agent .said");
    await said.waitFor();
    assert.equal(await said.textContent(), "Sessions.\n\\u202eevil <img src=x onerror=alert(1)>");
    assert.equal(await page.locator(".talk img").count(), 0);
    assert.equal(await page.locator(".banner", { hasText: "Follow-up sent." }).count(), 0);
    assert.equal(await note(page).inputValue(), "half a thought");
    await page.reload();
    await page.locator(".talk li.person", { hasText: "What is <b>in</b> Redis?" }).waitFor();
    await answerable(page);
    await option(page, "Redis").click();
    await sendButton(page).click();
    await sendNow(page);
    const { result } = await answered;
    assert.deepEqual([result.selection.selected_ids, result.selection.global_annotation], [["redis"], "half a thought"]);
    await page.close();
});

test("R5.3 R7.3 answered elsewhere: who, where, and the text of this page is kept", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Two at once" }));
    const page = await stage.open(asked, context);
    await note(page).fill("what I had in mind");
    await stage.home.must("answer", asked.id, "--select", "view");
    await page.getByRole("heading", { name: "Answered from the command line" }).waitFor();
    assert.match(await page.locator(".sum").textContent(), /Materialized view/);
    assert.match(await page.locator(".kept:not(.tell)").textContent(), /what I had in mind/);
    await page.getByRole("button", { name: "Copy" }).click();
    assert.deepEqual((await asked.result).selection.selected_ids, ["view"]);
    await page.close();
});

test("R5.4 R7.2 the hub ends the time, the page never does; more time by key", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Short of time", timeout_seconds: 40 }));
    const page = await stage.open(asked, context);
    assert.ok(await left(page) <= 40);
    assert.equal(await page.locator(".bar").getAttribute("data-soon"), "soon");
    await page.keyboard.press("e");
    await until(async () => await left(page) > 300, "Added 5 minutes");
    await stage.home.must("extend", asked.id, "3");
    await until(async () => await left(page) <= 3, "another channel shortens it");
    await note(page).evaluate((node) => node.blur());
    await page.getByRole("heading", { name: "Timed out" }).waitFor();
    assert.equal((await asked.result).action_status, "timeout");
    await page.close();
});

test("R5.4 typing holds the clock", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Hold" }));
    const page = await stage.open(asked, context);
    await stage.home.must("extend", asked.id, "20"); // less than a key adds
    await note(page).fill("thinking");
    await page.locator(".held").waitFor();
    assert.ok(await left(page) >= 25);
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R5.5 an agent that has gone: the page says so and the answer is kept for it", async () => {
    const other = stage.agent("codex", "/home/me/infra");
    const asked = await other.ask(choice({ ...WAITS, title: "Gone" }));
    const page = await stage.open(asked, context);
    other.leave();
    await page.getByText(/The agent stopped waiting \d+ s ago/).waitFor();
    await answerable(page);
    await option(page, "Redis").click();
    assert.match(await page.locator(".tally").textContent(), /Saved until the agent asks again/);
    await sendButton(page).click();
    await sendNow(page);
    const again = stage.agent("codex", "/home/me/infra");
    await again.ready;
    const replay = await again.call("ask/create", { tool: "provide_choice", arguments: choice({ ...WAITS, title: "Gone" }) });
    assert.equal(replay.result.replayed, true);
    assert.deepEqual(replay.result.selection.selected_ids, ["redis"]);
    await page.close();
});

test("R7.9 later: it is silent until then, and says so in the list", async () => {
    const asked = await agent.ask(choice({ title: "Not now" }));
    const page = await stage.open(asked, context);
    await page.keyboard.press("l");
    await page.getByRole("button", { name: "In 1 h" }).click();
    await page.waitForURL(`${stage.origin}/`);
    await page.locator(".row", { hasText: "Not now" }).getByText("snoozed").waitFor();
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R2.2 decline with a reason; withdrawn by the agent", async () => {
    const asked = await agent.ask(choice({ title: "Decline me" }));
    const page = await stage.open(asked, context);
    await page.getByRole("button", { name: /Cancel…/ }).click();
    await page.getByLabel("Reason").fill("too risky");
    await page.getByRole("button", { name: /Decline/ }).click();
    const result = await asked.result;
    assert.equal(result.declined, true);
    assert.equal(result.selection.global_annotation, "too risky");
    const taken = await agent.ask(choice({ title: "Take me back" }));
    await page.goto(`${stage.origin}/choice/${taken.id}`);
    await page.locator(".ask").waitFor();
    await agent.call("ask/withdraw", { session_id: taken.id });
    await page.getByRole("heading", { name: "Withdrawn by the agent" }).waitFor();
    await page.close();
});

test("R7.3 three agents that ask at the same time are never mixed up, and the next ask is offered, not opened", async () => {
    const names = ["claude-code", "codex", "gemini-cli"];
    const asked = [];
    for (const name of names)
        asked.push(await stage.agent(name, `/home/me/${name}`).ask(choice({ title: `From ${name}`,
            options: [{ id: name, label: `Only ${name}`, recommended: true }, { id: "x", label: "Other" }] })));
    const page = await stage.open(asked[1], context);
    assert.match(await page.locator(".bar").textContent(), /“codex”.*\/home\/me\/codex/);
    await option(page, "Only codex").click();
    await sendNow(page);
    await page.locator(".next a").waitFor();
    assert.match(new URL(page.url()).pathname, new RegExp(asked[1].id));
    await page.keyboard.press("]");
    await page.locator(".ask").waitFor();
    const current = /choice\/(\w+)/.exec(page.url())[1];
    const at = asked.findIndex((row) => row.id === current);
    assert.ok(at === 0 || at === 2);
    await answerable(page);
    await option(page, `Only ${names[at]}`).click();
    await sendNow(page);
    assert.deepEqual((await asked[1].result).selection.selected_ids, ["codex"]);
    assert.deepEqual((await asked[at].result).selection.selected_ids, [names[at]]);
    await stage.home.must("cancel", asked[2 - at].id);
    await page.close();
});

test("R7.2 notification, title and favicon while the page is not in front", async () => {
    const page = await stage.page("/", context);
    await page.evaluate(() => {
        window.shown = [];
        window.Notification = class extends EventTarget {
            static permission = "granted";
            constructor(title, options) {
                super();
                window.shown.push([title, options.body]);
            }
            close() {}
        };
        Document.prototype.hasFocus = () => false;
    });
    await page.waitForTimeout(1000); // what is there when the list comes is no news
    const asked = await agent.ask(choice({ title: "Look here" }));
    await until(() => page.evaluate(() => window.shown.length > 0), "a notification");
    assert.deepEqual(await page.evaluate(() => window.shown[0]), ["New ask", "“claude-code” Look here"]);
    assert.match(await page.title(), /^\(\d+\) sayso$/);
    assert.match(await page.locator("#favicon").getAttribute("href"), /favicon_dot/);
    await stage.home.must("settings", "set", "do_not_disturb", "on");
    const quiet = await agent.ask(choice({ title: "Quiet" }));
    await page.locator(".row", { hasText: "Quiet" }).waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => window.shown.length), 1);
    await stage.home.must("settings", "set", "do_not_disturb", "off");
    await stage.home.must("cancel", asked.id);
    await stage.home.must("cancel", quiet.id);
    await page.close();
});

test("R7.2 P1 the hub is killed while someone types: text kept, nothing queued, then sent", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "Killed" }));
    const page = await stage.open(asked, context);
    await option(page, "Redis").click();
    await note(page).fill("before");
    await stage.drafted(asked, "before");
    await stage.home.killHub();
    await page.getByText("Connection to sayso lost.").waitFor();
    await note(page).fill("before and while it was away");
    assert.ok(await sendButton(page).isDisabled());
    assert.equal(await page.locator(".left").textContent(), "–:––");
    await stage.serve();
    await page.locator(".conn[data-conn=on]").waitFor();
    assert.equal(await note(page).inputValue(), "before and while it was away");
    await answerable(page);
    await sendButton(page).click();
    await sendNow(page);
    const shown = JSON.parse(await stage.home.must("show", asked.id, "--json"));
    assert.equal(shown.answer.global_annotation, "before and while it was away");
    assert.deepEqual(shown.answer.selected_ids, ["redis"]);
    await page.close();
});
