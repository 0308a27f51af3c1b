// kinds.test.mjs - every kind of ask is answered in the page, and the agent gets exactly that.
// Proves: R2.2 R2.3 R3.5 R4.1 R4.6 R5.2 R6.4 R7.2 R7.5 R7.6 R12.1
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { ROOT } from "../mcp/lib/home.mjs";
import { OPTIONS, Stage, answerable, choice, option, sendButton, sendNow, until } from "./lib/stage.mjs";

let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open();
    await stage.home.must("settings", "set", "asks_per_minute", "300"); /* one agent asks all of them */
    agent = stage.agent();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const over = []; // what the hub shows of each ask of this file that has ended
const ask = async (args, tool) => {
    const asked = await agent.ask(args, tool);
    asked.result.then(() => over.push(stage.home.must("show", asked.id, "--json")), () => {});
    return asked;
};
const open = async (args, tool) => {
    const asked = await ask(args, tool);
    return { asked, page: await stage.open(asked, context) };
};
const WAITS = { single_submit_mode: false };

test("R7.2 R5.2 a click sends a single choice, and undo is offered first", async () => {
    const { asked, page } = await open(choice());
    await option(page, "Materialized view").click();
    await sendNow(page);
    const result = await asked.result;
    assert.deepEqual(result.selection.selected_ids, ["view"]);
    assert.equal(result.explicit, true);
    assert.equal(result.answered_by.via, "web");
    await page.close();
});

test("R2.2 R7.5 notes travel along, and what is written is not sent by a click", async () => {
    const { asked, page } = await open(choice());
    await page.locator(".opt", { hasText: "Redis" }).locator(".note-btn").click();
    await page.keyboard.type("use the cluster in eu-west");
    await page.getByLabel("Note for the agent").fill("before Friday");
    await option(page, "Redis").click();
    await page.waitForTimeout(300);
    assert.match(await page.locator(".tally").textContent(), /You’ve entered text\. Press Send/);
    await sendButton(page).click();
    await sendNow(page);
    const { selection } = await asked.result;
    assert.deepEqual(selection.option_annotations, { redis: "use the cluster in eu-west" });
    assert.equal(selection.global_annotation, "before Friday");
    await page.close();
});

test("R2.3 several options between bounds; more are not taken and nothing is unticked", async () => {
    const { asked, page } = await open(choice({
        selection_mode: "multi", min_selections: 1, max_selections: 2, default_selection_ids: ["redis"],
    }));
    assert.match(await page.locator("legend output").textContent(), /1 selected, up to 1 more/);
    await option(page, "Leave it").click();
    await page.locator(".opt.full").waitFor();
    await option(page, "Materialized").click({ force: true });
    assert.deepEqual(await page.locator(".opt input:checked").evaluateAll((nodes) => nodes.map((n) => n.value)),
        ["redis", "none"]);
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["redis", "none"]);
    await page.close();
});

test("R2.2 options and own words", async () => {
    const { asked, page } = await open(choice({ selection_mode: "hybrid", max_selections: 1, placeholder: "e.g. memcached" }));
    await option(page, "Your own answer").click();
    assert.equal(await page.locator(".own textarea").getAttribute("placeholder"), "e.g. memcached");
    await page.locator(".own textarea").fill("none, add an index");
    await page.keyboard.press("Control+Enter");
    await sendNow(page);
    const result = await asked.result;
    assert.equal(result.action_status, "custom_input");
    assert.equal(result.selection.custom_input, "none, add an index");
    await page.close();
});

test("R2.2 a text; Enter makes a line, Ctrl+Enter sends", async () => {
    const { asked, page } = await open({
        title: "Name the release", prompt: "What shall the release be called? Nobody has named it yet.",
        selection_mode: "text_input", timeout_seconds: 600,
    });
    await page.getByLabel("Your answer").fill("first");
    await page.keyboard.press("Enter");
    await page.keyboard.type("second");
    await page.keyboard.press("Control+Enter");
    await sendNow(page);
    assert.equal((await asked.result).selection.custom_input, "first\nsecond");
    await page.close();
});

test("R4.6 a number: slider and field are one value, out of bounds is marked", async () => {
    const { asked, page } = await open(
        { message: "How long may the payment provider take?", minimum: 100, maximum: 5000, step: 100, unit: "ms", style: "slider" },
        "elicit_number");
    await page.locator("input[type=number]").fill("7000");
    assert.equal(await page.locator("input[type=number]").getAttribute("aria-invalid"), "true");
    assert.ok(await sendButton(page).isDisabled());
    await page.locator("input[type=range]").fill("2500");
    assert.equal(await page.locator("input[type=number]").inputValue(), "2500");
    await sendButton(page).click();
    await sendNow(page);
    assert.equal((await asked.result).value, 2500);
    await page.close();
});

test("R4.6 a rating by key, with its word", async () => {
    const { asked, page } = await open(
        { message: "How good is this summary of the incident?", minimum: 1, maximum: 5, style: "rating" }, "elicit_number");
    await page.keyboard.press("4");
    assert.match(await page.locator(".star-row output").textContent(), /4 of 5, good/);
    await page.keyboard.press("Enter");
    await sendNow(page);
    assert.equal((await asked.result).value, 4);
    await page.close();
});

test("R4.1 yes or no", async () => {
    const { asked, page } = await open({ message: "Shall I restart the worker after the change?" }, "elicit_confirm");
    await option(page, "Yes").click();
    if (await page.locator(".act").isVisible())
        await sendButton(page).click().catch(() => {});
    await sendNow(page);
    assert.equal((await asked.result).confirmed, true);
    await page.close();
});

test("R4.1 a form of several fields on one page", async () => {
    const { asked, page } = await open({
        message: "Who is the new service for, and how large shall it be?",
        requestedSchema: { type: "object", required: ["owner", "size"], properties: {
            owner: { type: "string", title: "Owner", format: "email" },
            size: { type: "integer", title: "Nodes", minimum: 1, maximum: 9 },
            open: { type: "boolean", title: "Reachable from outside?" },
            tier: { type: "string", title: "Tier", enum: ["gold", "silver"] },
        } },
    }, "elicit_form");
    assert.ok(await sendButton(page).isDisabled());
    await page.getByLabel("Owner").fill("me@example.org");
    await page.locator("input[type=number]").fill("3");
    await option(page, "No").click();
    await option(page, "silver").click();
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await asked.result).content, { owner: "me@example.org", size: 3, open: false, tier: "silver" });
    await page.close();
});

test("R3.5 several questions as steps with a review; only the review sends", async () => {
    const { asked, page } = await open({
        message: "Three questions before the release of version 3.0",
        requestedSchema: { type: "object", required: ["version", "audience", "speed"], properties: {
            version: { type: "string", title: "Which version number?", enum: ["3.0.0", "2.9.0"] },
            audience: { type: "array", title: "Who gets it first?", items: { type: "string", enum: ["Our own team", "Beta group"] } },
            speed: { type: "string", title: "How fast?", enum: ["10 % a day", "All at once"] },
        } },
    }, "elicit_form");
    await option(page, "3.0.0").click();
    await sendButton(page).click();
    await answerable(page);
    await option(page, "Beta group").click();
    await page.keyboard.press("Enter");
    await answerable(page);
    await option(page, "All at once").click();
    await sendButton(page).click();
    await page.locator(".review").waitFor();
    await answerable(page);
    assert.match(await page.locator(".review").textContent(), /3\.0\.0.*Beta group.*All at once/s);
    await page.keyboard.press("3"); // change the third
    await answerable(page);
    await option(page, "10 % a day").click();
    await sendButton(page).click();
    await answerable(page);
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await asked.result).content, { version: "3.0.0", audience: ["Beta group"], speed: "10 % a day" });
    await page.close();
});

test("R2 R12.1 a destructive ask takes two acts, shows ids, and cannot be sent by a click or Enter alone", async () => {
    const { asked, page } = await open(choice({ title: "Delete 3 volumes?", destructive: true, default_selection_ids: ["redis"] }));
    assert.equal(await page.locator(".opt input:checked").count(), 0);
    assert.deepEqual(await page.locator(".opt .id").allTextContents(), ["redis", "view", "none"]);
    await option(page, "Materialized view").click();
    await sendButton(page).click();
    const code = await page.locator(".second .code").textContent();
    assert.match(code, /^\d{3}$/);
    assert.ok(await page.locator(".second .danger").isDisabled());
    await page.keyboard.press("Enter"); // on the empty field: back
    await page.locator(".second").waitFor({ state: "detached" });
    await answerable(page);
    await sendButton(page).click();
    const fresh = await page.locator(".second .code").textContent();
    await page.locator(".code-in").fill(String((Number(fresh) + 1) % 1000).padStart(3, "0"));
    await answerable(page);
    await page.locator(".second .danger").click();
    assert.match(await page.locator(".second .wrong").textContent(), /Wrong code/);
    await page.locator(".code-in").fill(fresh);
    await page.locator(".second .danger").click();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["view"]);
    await page.close();
});

test("R2 only what is dangerous takes the code: the safe option, and a no, are sent by the button", async () => {
    const options = [{ id: "keep", label: "Keep it", recommended: true }, { id: "move", label: "Move it" },
        { id: "drop", label: "Drop it", destructive: true }];
    const { asked, page } = await open(choice({ title: "The old table?", options }));
    assert.deepEqual(await page.locator(".opt .danger-t").allTextContents(), ["destructive"]);
    await option(page, "Drop it").click();
    assert.match(await sendButton(page).textContent(), /Continue/);
    await sendButton(page).click();
    await page.locator(".second .code").waitFor();
    await page.locator("[data-key=second-back]").click();
    await answerable(page);
    await option(page, "Move it").click();
    assert.match(await sendButton(page).textContent(), /Send/);
    await answerable(page);
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["move"]);
    await page.close();
    const confirm = await open({ message: "Delete 5 artifacts?", destructive: true }, "elicit_confirm");
    await option(confirm.page, "No").click();
    await answerable(confirm.page);
    await sendButton(confirm.page).click();
    await sendNow(confirm.page);
    assert.equal((await confirm.asked.result).confirmed, false);
    await confirm.page.close();
});

test("R12.1 a draft from elsewhere does not swap the answer while its code is typed", async () => {
    const options = [{ id: "keep", label: "Keep both", recommended: true }, { id: "old", label: "Drop the old one", destructive: true },
        { id: "new", label: "Drop the new one", destructive: true }];
    const { asked, page } = await open(choice({ title: "Which table goes?", options }));
    const other = await stage.open(asked, context);
    await option(page, "Drop the old one").click();
    await stage.drafted(asked, "old");
    await answerable(page);
    await sendButton(page).click();
    const code = await page.locator(".second .code").textContent();
    await option(other, "Drop the new one").click();
    await stage.drafted(asked, "new");
    await other.locator(".tally", { hasText: "Draft saved" }).waitFor();
    await page.locator(".code-in").fill(code);
    await answerable(page);
    await page.locator(".second .danger").click();
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["old"]);
    await page.close();
    await other.close();
});

test("B3 a destructive ask stays off until the end of its text was on screen", async () => {
    const { page } = await open(choice({
        title: "Delete everything?", destructive: true,
        prompt: Array.from({ length: 90 }, (_, i) => `Line ${i} of what will be deleted.`).join("\n\n"),
    }));
    await page.locator(".opt input").nth(1).evaluate((node) => node.click());
    assert.ok(await sendButton(page).isDisabled());
    assert.match(await page.locator(".tally").textContent(), /Read the whole question/);
    await page.locator("#prompt-end").scrollIntoViewIfNeeded();
    await until(async () => !await sendButton(page).isDisabled(), "it is on once it was read");
    await page.close();
});

test("R7.6 previews side by side, Markdown and a diff as nodes", async () => {
    const { page } = await open(choice({ ...WAITS, options: [
        { id: "a", label: "In place", recommended: true, preview: { type: "diff", text: "--- a/x.c\n+++ b/x.c\n@@ -1 +1,2 @@\n-int a;\n+int b;\n+int c;\n" } },
        { id: "b", label: "Helper", preview: { type: "code", language: "c", text: "int retry(void);" } },
        { id: "c", label: "Proxy", preview: { type: "markdown", text: "### Plan\n\n1. a rule\n2. a budget" } },
    ] }));
    assert.deepEqual(await page.locator(".diff ins").allTextContents(), ["int b;", "int c;"]);
    assert.deepEqual(await page.locator(".diff del").allTextContents(), ["int a;"]);
    assert.deepEqual(await page.locator(".diff .hunk").allTextContents(), ["@@ -1 +1,2 @@"], "the name of the file is in the caption");
    assert.equal(await page.locator(".md ol li").count(), 2);
    assert.equal(await page.locator(".prose strong").first().textContent(), "1,200 times a second");
    const tops = await page.locator(".cmp .pv").evaluateAll((nodes) => nodes.map((n) => Math.round(n.getBoundingClientRect().top)));
    assert.equal(new Set(tops).size, 1, `side by side: ${tops}`);
    await page.locator(".cmp-head label", { hasText: "One at a time" }).click();
    assert.equal(await page.locator(".pv:visible").count(), 0);
    await page.keyboard.press("2");
    assert.equal(await page.locator(".pv:visible").count(), 1);
    await page.close();
});

test("R7.5 A7 nothing answers in the first 500 ms, not clicks and not keys", async () => {
    const asked = await ask(choice());
    const page = await stage.page(`/choice/${asked.id}`, context);
    await page.locator(".opt label").first().waitFor();
    await answerable(page);
    const seen = await page.evaluate(() => { // in one call, however slow the machine is
        const tally = document.querySelector(".tally");
        const words = () => {
            const said = tally.textContent;
            tally.textContent = "";
            return said;
        };
        const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
        dispatchEvent(new Event("focus")); // the window comes to the front just now
        words();
        const out = [];
        for (const act of [() => document.querySelector(".opt label").click(), () => document.querySelector(".opt input").click(),
            () => press("2"), () => press("Enter")]) {
            act();
            out.push(words());
        }
        return { out, picked: document.querySelectorAll(".opt input:checked").length };
    });
    assert.deepEqual(seen, { out: Array(4).fill("too soon; press the key again"), picked: 0 });
    const first_ms = await page.evaluate(() => new Promise((resolve) => {
        const began = performance.now();
        dispatchEvent(new Event("focus"));
        const timer = setInterval(() => {
            document.querySelector(".opt label").click();
            if (!document.querySelector(".opt input").checked)
                return;
            clearInterval(timer);
            resolve(performance.now() - began);
        }, 10);
    }));
    assert.ok(first_ms >= 500, `the first click that counts came after ${first_ms} ms`);
    await answerable(page);
    await page.keyboard.press("2");
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["view"]);
    await page.close();
});

test("R7.5 the Enter of an input method, a held key and an untouched default send nothing", async () => {
    const { asked, page } = await open(choice({ ...WAITS, default_selection_ids: ["redis"] }));
    const press = (init) => page.evaluate((has) => document.querySelector(".opt input").dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...has })), init);
    await press({}); // a default that was not touched: the keyboard goes to Send instead
    assert.equal(await page.evaluate(() => document.activeElement.dataset.key), "send");
    await option(page, "Materialized").click();
    await press({ isComposing: true });
    await press({ keyCode: 229 });
    await press({ repeat: true });
    await page.evaluate(() => {
        document.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
        document.querySelector(".opt input").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    await page.waitForTimeout(150);
    assert.equal(await page.locator(".ask").count(), 1, "still asking");
    await press({});
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["view"]);
    await page.close();
});

test("R7.5 everything by keyboard: move, tick, own words, note, cancel, help", async () => {
    const { asked, page } = await open(choice({ selection_mode: "hybrid", ...WAITS }));
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.value), "view");
    await page.keyboard.press("Space");
    await page.keyboard.press("n");
    await page.keyboard.type("by keyboard");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Cancel this ask?" }).waitFor();
    await page.keyboard.type("not now");
    await page.keyboard.press("Control+Enter");
    const result = await asked.result; /* no undo window: the agent is to stop now */
    assert.equal(await page.locator("[data-key=undo]").count(), 0);
    assert.equal(result.action_status, "cancelled");
    assert.equal(result.selection.global_annotation, "not now");
    await page.close();
});

test("R2.2 prefilled notes: those of chosen options come back, what was taken away does not", async () => {
    const options = OPTIONS.map((row) => ({ ...row, annotation: `about ${row.id}` }));
    for (const [removed, notes, common] of [[false, { redis: "about redis" }, "for all"], [true, undefined, undefined]]) {
        const { asked, page } = await open(choice({ ...WAITS, title: `Prefilled ${removed}`, options, global_annotation: "for all" }));
        assert.equal(await page.getByLabel("Note for the agent").inputValue(), "for all");
        if (removed) {
            await page.getByLabel("Note for the agent").fill("");
            await page.locator("[data-key=note-redis]").fill("");
        }
        await option(page, "Redis").click();
        await sendButton(page).click();
        await page.getByRole("heading", { name: /Sending to the agent/ }).waitFor();
        await page.locator("[data-key=undo]").click(); /* also through the draft that an undone answer becomes */
        await sendButton(page).waitFor(); /* or the half second of the picture before is waited for */
        await answerable(page);
        await sendButton(page).click();
        await sendNow(page);
        const { selection } = await asked.result;
        assert.deepEqual([selection.option_annotations, selection.global_annotation], [notes, common]);
        await page.close();
    }
});

test("R7.5 Enter ticks where nothing is ticked; an empty answer is meant by a second press", async () => {
    const { asked, page } = await open(choice({ selection_mode: "multi" }));
    await page.keyboard.press("Enter"); /* no row has the keyboard: the first gets it */
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#tally").textContent(), "Selected. Press Enter again to continue.");
    assert.deepEqual(await page.locator(".opt input:checked").evaluateAll((rows) => rows.map((row) => row.value)), ["view"]);
    await page.keyboard.press("x");
    assert.equal(await page.locator(".opt input:checked").count(), 0);
    await page.keyboard.press("Enter");
    assert.match(await page.locator("#tally").textContent(), /Nothing is selected/);
    await page.keyboard.press("k"); /* elsewhere again: it is not meant any more */
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".opt input:checked").count(), 1);
    await page.keyboard.press("Enter");
    await sendNow(page);
    assert.deepEqual((await asked.result).selection.selected_ids, ["redis"]);
    await page.close();

    const none = await open(choice({ selection_mode: "multi", title: "None of them" }));
    await sendButton(none.page).click();
    assert.match(await none.page.locator("#tally").textContent(), /Nothing is selected/);
    await sendButton(none.page).click();
    await sendNow(none.page);
    assert.deepEqual((await none.asked.result).selection.selected_ids, []);
    await none.page.close();
});

test("R7.5 options and own words: o writes, Esc keeps the text, Enter in the list as if there were no field", async () => {
    for (const [max_selections, picked, custom_input] of [[1, ["view"], undefined], [3, ["view"], "with care"]]) {
        const { asked, page } = await open(choice({ selection_mode: "hybrid", max_selections, title: `Up to ${max_selections}` }));
        await page.keyboard.press("o");
        await page.keyboard.type("with care");
        await page.keyboard.press("Escape");
        assert.equal(await page.locator(".opt.own input:checked").count(), 1);
        assert.equal(await page.locator(".opt.own textarea").inputValue(), "with care");
        assert.equal(await page.evaluate(() => document.activeElement.closest(".own") !== null), true);
        await page.locator(".opt input[value=view]").focus();
        await page.keyboard.press("Enter");
        if (max_selections > 1)
            await page.keyboard.press("Enter");
        await sendNow(page);
        const { selection } = await asked.result;
        assert.deepEqual([selection.selected_ids, selection.custom_input], [picked, custom_input]);
        await page.close();
    }
});

test("R4.6 R7.5 y and n answer a confirmation; with a Send of its own they pick", async () => {
    for (const [pressed, confirmed] of [["y", true], ["n", false]]) {
        const { asked, page } = await open({ message: `Restart, ${pressed}?` }, "elicit_confirm");
        await page.keyboard.press(pressed);
        await sendNow(page);
        assert.equal((await asked.result).confirmed, confirmed);
        await page.close();
    }
    await stage.home.must("settings", "set", "single_submit", "batch");
    const { asked, page } = await open({ message: "Restart, by Send?" }, "elicit_confirm");
    await page.keyboard.press("n");
    assert.equal(await page.locator(".opt input:checked").count(), 1);
    await sendButton(page).click();
    await sendNow(page);
    assert.equal((await asked.result).confirmed, false);
    await page.close();
    await stage.home.must("settings", "reset", "single_submit");
});

test("R6.4 an option is hidden and shown again by the mouse alone, never below what must be chosen", async () => {
    const { asked, page } = await open(choice({ ...WAITS, title: "By mouse" }));
    const hide = (label) => page.getByRole("button", { name: `Hide “${label}” from now on` });
    const count = () => page.locator(".ask .opt:visible").count();
    await hide("Leave it as it is").click();
    await until(async () => await count() === 2, "it is away");
    await hide("Redis, write-through").click();
    await until(async () => await count() === 1, "this one too");
    await hide("Materialized view").click();
    assert.match(await page.locator("#tally").textContent(), /too few options would be left/);
    await page.getByRole("button", { name: /2 options hidden/ }).click();
    assert.equal(await count(), 3);
    await page.getByRole("button", { name: "Show “Leave it as it is” again" }).click();
    await hide("Leave it as it is").waitFor();
    await page.getByRole("button", { name: "Hide them again" }).click();
    assert.equal(await count(), 2);
    await page.keyboard.press("Shift+H");
    assert.equal(await count(), 3);
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R6.4 R7.5 an option is hidden and shown again by touch", async () => {
    const asked = await agent.ask(choice({ ...WAITS, title: "By touch" }));
    const hand = await stage.context({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const page = await hand.newPage();
    await page.goto(await stage.link(asked.id));
    await page.locator("h1").waitFor();
    await answerable(page);
    const hide = page.getByRole("button", { name: "Hide “Leave it as it is” from now on" });
    const { width, height } = await hide.boundingBox();
    assert.ok(width >= 44 && height >= 44, `${width} x ${height}`);
    await hide.tap();
    await until(async () => await page.locator(".ask .opt:visible").count() === 2, "it is away");
    await page.getByRole("button", { name: /1 option.* hidden/ }).tap();
    await page.getByRole("button", { name: "Show “Leave it as it is” again" }).tap();
    await hide.waitFor();
    assert.deepEqual(hand.complaints, []);
    await hand.close();
    await stage.home.must("cancel", asked.id);
});

test("R6.4 a hidden option stays hidden in the next ask like it, with a way to reveal", async () => {
    const { asked, page } = await open(choice({ ...WAITS, title: "Hide some of these" }));
    await page.locator(".opt input").nth(2).focus();
    await page.keyboard.press("h");
    await page.getByRole("button", { name: /1 option hidden/ }).waitFor();
    await until(async () => {
        await page.keyboard.press("1"); // again, where it was too early
        return await page.locator(".opt input:checked").count() === 1;
    }, "the first is picked");
    await sendButton(page).click();
    await sendNow(page);
    await asked.result;
    await page.close();
    const again = await open(choice({ ...WAITS, title: "Hide some of these" }));
    assert.equal(await again.page.locator(".opt:visible").count(), 2);
    await again.page.getByRole("button", { name: /1 option hidden/ }).click();
    assert.equal(await again.page.locator(".opt:visible").count(), 3);
    await again.page.close();
});

test("R4.1 each kind of field that the program has was answered in the page", async () => {
    const table = readFileSync(`${ROOT}/src/core/field_kinds.def`, "utf8");
    const kinds = [...table.matchAll(/^FIELD_KIND\(\w+, "(\w+)"/gm)].map(([, name]) => name);
    const shown = (await Promise.all(over)).map((text) => JSON.parse(text));
    const answered = shown.filter(({ ask: { status, answered_by } }) => status === "submitted" && answered_by.via === "web");
    assert.ok(kinds.length >= 6, `the table is written otherwise by now: ${kinds}`);
    assert.deepEqual([...new Set(answered.flatMap(({ form }) => form.fields.map(({ kind }) => kind)))].sort(), kinds.sort());
});
