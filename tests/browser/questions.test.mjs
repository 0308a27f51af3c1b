// questions.test.mjs - ask_user_question in the page: one tab a question, Other, notes, previews, a
// review that alone sends; a hub that dies in the middle, and someone who is faster elsewhere.
// Proves: R3.1 R3.2 R3.5 R5.3 R5.9 R7.2
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option, sendButton, sendNow, until } from "./lib/stage.mjs";

const CACHE = "Which cache should the product page use?";
const TESTS = "Which tests shall block a merge?";
const STYLE = "How should the retry be written?";
const QUESTIONS = [
    { question: CACHE, header: "Cache", options: [{ label: "Redis", description: "One more service." }, { label: "None" }] },
    { question: TESTS, multiSelect: true, options: [{ label: "Unit" }, { label: "Lint" }, { label: "Load" }] },
    { question: STYLE, header: "Retry", options: [
        { label: "In place", preview: "for (;;)\n    call();" }, { label: "A helper", preview: "int retry(void);" }] },
];

let stage;
let agent;
let context;
let asked = 0;
before(async () => {
    stage = await Stage.open();
    agent = stage.agent();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const open = async (more = {}) => {
    const ask = await agent.ask({ title: `Before the release ${++asked}`, questions: QUESTIONS, timeout_seconds: 600, ...more },
        "ask_user_question");
    return { ask, page: await stage.open(ask, context) };
};
const tabs = (page) => page.locator(".steps button").allTextContents();
const current = (page) => page.locator(".steps [aria-current]").textContent();
// The next step, once it answers.
const next = async (page) => {
    await sendButton(page).click();
    await answerable(page);
};

test("R3.5 R3.1 tabs by their short names, Other, notes, previews and several labels; only the review sends", async () => {
    const { ask, page } = await open();
    assert.deepEqual(await tabs(page), ["1Cache", `2${TESTS}`, "3Retry", "Review"]);
    assert.match(await page.locator(".ask legend").first().textContent(), new RegExp(`^${CACHE.replace("?", "\\?")}`));
    assert.ok(await page.locator(".steps button").last().isDisabled());
    assert.ok(await sendButton(page).isDisabled());
    await option(page, "Other").click();
    assert.ok(await sendButton(page).isDisabled(), "Other wants its words");
    await page.getByRole("textbox", { name: "Other" }).fill("Memcached,\nwe run it already");
    await page.getByLabel("Note on this answer").fill("only for a year");
    await next(page);
    assert.deepEqual((await tabs(page))[0], "Cache", "a tick in place of its number");
    assert.equal(await page.getByLabel("Note on this answer").inputValue(), "", "each question has its own");
    await option(page, "Load").click();
    await option(page, "Unit").click();
    await option(page, "Other").click();
    await page.getByRole("textbox", { name: "Other" }).fill("a look by hand");
    await next(page);
    assert.equal(await page.locator(".pv").count(), 2);
    assert.ok(await page.getByText(STYLE).first().isVisible(), "the question stands above its previews");
    const tops = await page.locator(".cmp .pv").evaluateAll((nodes) => nodes.map((n) => Math.round(n.getBoundingClientRect().top)));
    assert.equal(new Set(tops).size, 1, `side by side: ${tops}`);
    await option(page, "A helper").click();
    await next(page);
    const review = await page.locator(".review").innerText();
    assert.match(review, /Memcached,[\s\S]*only for a year[\s\S]*Unit; Load[\s\S]*a look by hand[\s\S]*A helper/);
    await page.getByLabel("Note for the agent").fill("go");
    await page.locator(".review").getByRole("button", { name: /Change/ }).nth(1).click();
    await answerable(page);
    assert.equal(await page.locator(".opt input:checked").count(), 3, "back, with what was chosen");
    await option(page, "Load").click();
    await page.locator(".steps button", { hasText: "Review" }).click();
    await answerable(page);
    await page.getByRole("button", { name: /Send all 3/ }).click();
    await page.getByRole("heading", { name: /Sending to the agent/ }).waitFor();
    assert.match(await page.locator(".sum").innerText(), /only for a year/, "what was said stands in the summary");
    await sendNow(page);
    const result = await ask.result;
    assert.equal(result.status, "answered");
    assert.deepEqual(result.answers, { [CACHE]: "Memcached,\nwe run it already", [TESTS]: "Unit, a look by hand", [STYLE]: "A helper" });
    assert.deepEqual(result.answer_list, [
        { question: CACHE, header: "Cache", selected: [], other: "Memcached,\nwe run it already", notes: "only for a year" },
        { question: TESTS, selected: ["Unit"], other: "a look by hand" },
        { question: STYLE, header: "Retry", selected: ["A helper"] }]);
    assert.equal(result.global_annotation, "go");
    await page.close();
});

test("R3.5 a question is said once: as the page's title, and per step where the title is only the first", async () => {
    const visible = (page, text) => page.locator(".ask").getByText(text, { exact: true })
        .evaluateAll((nodes) => nodes.filter((node) => !node.closest(".vh, .steps")).length);
    const options = [{ label: "Left" }, { label: "Right" }];
    const one = await agent.ask({ questions: [{ question: "Which way?", header: "Way", options }] }, "ask_user_question");
    let page = await stage.open(one, context);
    assert.equal(await page.locator("h1").textContent(), "Which way?");
    assert.equal(await visible(page, "Which way?"), 1);
    assert.equal(await page.getByRole("group", { name: "Which way?" }).count(), 1);
    await stage.home.must("cancel", one.id);
    await page.close();
    const two = await agent.ask({ questions: [{ question: "Which way?", header: "Way", options },
        { question: "Which gear?", header: "Gear", options }] }, "ask_user_question");
    page = await stage.open(two, context);
    assert.deepEqual([await page.locator("h1").textContent(), await visible(page, "Which way?")], ["Which way?", 1]);
    await page.keyboard.press("ArrowRight");
    await until(async () => await page.locator("h1").textContent() === "Which gear?", "the title is that of the step");
    assert.deepEqual([await visible(page, "Which way?"), await visible(page, "Which gear?")], [0, 1]);
    await stage.home.must("cancel", two.id);
    await page.close();
});

test("R3.5 R7.5 all of it by keyboard: digits, arrows between questions, own words, note, review", async () => {
    const { ask, page } = await open();
    const press = async (key, ready) => {
        await page.keyboard.press(key);
        await until(ready, `${key} did it`);
        await answerable(page);
    };
    await page.keyboard.press("1");
    assert.equal(await page.locator(".opt input:checked").getAttribute("value"), "Redis");
    await page.keyboard.press("n");
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Escape");
    await press("ArrowRight", async () => /Which tests/.test(await current(page)));
    await press("ArrowLeft", async () => /Cache/.test(await current(page)));
    assert.equal(await page.locator(".opt input:checked").getAttribute("value"), "Redis", "arrows to the side choose nothing");
    await press("ArrowRight", async () => /Which tests/.test(await current(page)));
    await page.keyboard.press("2");
    await page.keyboard.press("o");
    await page.keyboard.type("and a look");
    await page.keyboard.press("Control+Enter");
    await until(async () => /Retry/.test(await current(page)), "Ctrl+Enter goes on");
    await answerable(page);
    await page.keyboard.press("2");
    await press("Enter", async () => /Review/.test(await current(page)));
    await press("3", async () => /Retry/.test(await current(page)));
    await page.keyboard.press("1");
    await press("Enter", async () => /Review/.test(await current(page)));
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Enter");
    await sendNow(page);
    const { answers, answer_list } = await ask.result;
    assert.deepEqual(answers, { [CACHE]: "Redis", [TESTS]: "Lint, and a look", [STYLE]: "In place" });
    assert.equal(answer_list[0].notes, "by keyboard");
    await page.close();
});

test("R7.2 R5.9 the hub dies in the middle of the questions: the same question, every word, then sent", async () => {
    const { ask, page } = await open();
    await option(page, "Redis").click();
    await page.getByLabel("Note on this answer").fill("first note");
    await next(page);
    await option(page, "Other").click();
    await page.getByRole("textbox", { name: "Other" }).fill("before");
    await stage.home.killHub();
    await page.getByText("Connection to sayso lost.").waitFor();
    await page.getByRole("textbox", { name: "Other" }).fill("before and meanwhile");
    await stage.serve();
    await page.locator(".conn[data-conn=on]").waitFor();
    assert.match(await current(page), /Which tests/);
    assert.equal(await page.getByRole("textbox", { name: "Other" }).inputValue(), "before and meanwhile");
    await until(async () => (await page.locator(".tally").textContent()) !== "Saving draft…", "the draft is with the hub");
    const other = await stage.open(ask, await stage.context());
    assert.match(await current(other), /Retry/, "another tab goes on where an answer is missing");
    await option(other, "A helper").click();
    await next(other);
    await sendButton(other).click();
    await sendNow(other);
    const { answer } = JSON.parse(await stage.home.must("show", ask.id, "--json"));
    assert.deepEqual(answer.selected_ids, ["Redis"]);
    assert.deepEqual(answer.fields, { q2: { selected_ids: [], custom_input: "before and meanwhile" },
        q3: { selected_ids: ["A helper"] } });
    assert.deepEqual(answer.field_annotations, { q1: "first note" });
    await page.getByRole("heading", { name: "Answered in the browser" }).waitFor();
    await page.close();
    await other.context().close();
});

test("R5.3 answered elsewhere in the middle of the questions: who, and every word of this page is kept", async () => {
    agent = stage.agent();
    const { ask, page } = await open();
    await option(page, "Other").click();
    await page.getByRole("textbox", { name: "Other" }).fill("what I had in mind");
    await page.getByLabel("Note on this answer").fill("and why");
    await stage.home.must("answer", ask.id, "--field", "q1=None", "--field", "q2=Lint,Load", "--field", "q3=In place");
    await page.getByRole("heading", { name: "Answered from the command line" }).waitFor();
    assert.match(await page.locator(".sum").innerText(), /None[\s\S]*Lint; Load[\s\S]*In place/);
    assert.match(await page.locator(".kept:not(.tell)").innerText(), /what I had in mind[\s\S]*and why/);
    assert.deepEqual((await ask.result).answers, { [CACHE]: "None", [TESTS]: "Lint, Load", [STYLE]: "In place" });
    await page.close();
});

test("R5.5 what a client may have lost is asked again: the page says so and shows the answer, which a person sends", async () => {
    for (const [locale, said] of [["en", /^You answered this \d+ s ago\. The agent may not have received it\./], ["zh", /^你在 \d+ 秒前答复过此请求。/]]) {
        await stage.home.must("settings", "set", "language", locale);
        const silent = stage.agent("gemini-cli-mcp-client", "/home/me", { version: "1", transport: "stdio" });
        const args = choice({ title: `Lost ${locale}`, selection_mode: "multi" });
        const first = await silent.ask(args);
        await stage.home.must("answer", first.id, "--select", "view,none", "--note", "soon");
        await first.result;
        const again = await silent.ask(args);
        const page = await stage.open(again, context);
        assert.match(await page.locator(".banner:visible").first().textContent(), said);
        assert.deepEqual(await page.locator(".opt input:checked").evaluateAll((rows) => rows.map((row) => row.value)), ["view", "none"]);
        await page.keyboard.press("Enter");
        assert.equal((await stage.home.list("--active")).filter(({ session_id }) => session_id === again.id).length, 1, "no key has sent it");
        await sendButton(page).click();
        const result = await again.result;
        assert.deepEqual([result.selection.selected_ids, result.selection.global_annotation], [["view", "none"], "soon"]);
        await page.close();
    }
    await stage.home.must("settings", "reset", "language");
});
