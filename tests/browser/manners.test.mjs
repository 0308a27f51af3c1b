// manners.test.mjs - the page does nothing by accident and doesn't get in the way: what was picked can be
// unpicked, nothing moves under the pointer, the keyboard stays where it was, a draft serves again.
// Proves: R5.9 R7.2 R7.3 R7.5 R7.6
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OPTIONS, Stage, answerable, choice, option, sendButton, sendNow, until } from "./lib/stage.mjs";

let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open({ SAYSO_ASKS_PER_MINUTE: "1000" });
    agent = stage.agent();
    context = await stage.context({ permissions: ["notifications"] });
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});
const WAITS = { single_submit_mode: false };
const note = (page) => page.getByLabel("Note for the agent");
const checked = (page) => page.locator(".ask .opt input:checked").evaluateAll((nodes) => nodes.map((node) => node.value));

// The page lies behind another window, and its notifications are kept in window.shown.
const catchNotifications = (page) => page.evaluate(() => {
    window.shown = [];
    window.Notification = class extends EventTarget {
        static permission = "granted";
        constructor(title, options) {
            super();
            window.shown.push(`${title}: ${options.body}`);
        }
        close() {}
    };
    Document.prototype.hasFocus = () => false;
});

test("R4.1 what is optional can be unpicked: by a click, Space or its digit; what is needed cannot", async () => {
    const asked = await agent.ask({
        message: "Which plan shall the new service have, and may it be seen?",
        requestedSchema: { type: "object", required: ["size"], properties: {
            size: { type: "string", title: "Size", enum: ["small", "large"] },
            tier: { type: "string", title: "Tier", enum: ["gold", "silver"] },
            open: { type: "boolean", title: "Reachable from outside?" },
        } },
    }, "elicit_form");
    const page = await stage.open(asked, context);
    const tier = page.locator(".opt", { hasText: "gold" }).locator("input");
    await option(page, "small").click();
    await option(page, "small").click();
    assert.ok(await page.locator(".opt", { hasText: "small" }).locator("input").isChecked(), "this one is needed");
    await option(page, "gold").click();
    assert.ok(await tier.isChecked());
    await option(page, "gold").click();
    assert.ok(!await tier.isChecked(), "by a second click");
    await option(page, "gold").click();
    await page.keyboard.press("Space");
    assert.ok(!await tier.isChecked(), "by Space");
    await page.keyboard.press("1");
    assert.ok(await tier.isChecked());
    await page.keyboard.press("1");
    assert.ok(!await tier.isChecked(), "by its digit");
    await option(page, "Yes").click();
    await option(page, "Yes").click();
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await asked.result).content, { size: "small" });
    await page.close();
});

test("R7.6 R7.5 who scrolls a preview or has the settings open has not answered by a click", async () => {
    const long = `${"one long line ".repeat(20)}\n`.repeat(80);
    const asked = await agent.ask(choice({ title: "Scrolled", options: OPTIONS.map((row) => ({ ...row, preview: long })) }));
    const page = await stage.open(asked, context);
    await page.locator(".pv pre").first().evaluate((node) => {
        node.scrollBy(200, 200);
    });
    await until(async () => /reading a preview.*Press Send/.test(await page.locator(".tally").textContent()), "it says so");
    await option(page, "Redis").click();
    await page.waitForTimeout(200);
    assert.equal(await page.locator(".ask").count(), 1, "still asking");
    await sendButton(page).click();
    await sendNow(page);
    await asked.result;
    const other = await agent.ask(choice({ title: "With the settings open" }));
    await page.goto(`${stage.origin}/choice/${other.id}`);
    await page.locator(".ask").waitFor();
    await page.keyboard.press("s");
    await page.locator(".panel").waitFor();
    await answerable(page);
    assert.match(await page.locator(".tally").textContent(), /ettings are open.*Press Send/);
    await option(page, "Redis").click();
    await page.waitForTimeout(200);
    assert.equal(await page.locator(".ask").count(), 1, "still asking");
    await page.getByRole("button", { name: "Close settings" }).click();
    await answerable(page);
    await option(page, "Materialized").click();
    await sendNow(page);
    assert.deepEqual((await other.result).selection.selected_ids, ["view"]);
    await page.close();
});

test("R7.6 one preview at a time follows the keyboard where several can be ticked", async () => {
    const asked = await agent.ask(choice({ title: "Ticked", selection_mode: "multi",
        options: OPTIONS.map((row) => ({ ...row, preview: `preview of ${row.id}` })) }));
    const page = await stage.open(asked, context);
    await page.locator(".cmp-head label", { hasText: "One at a time" }).click();
    await page.locator(".opt input").nth(1).focus();
    assert.deepEqual(await page.locator(".pv:visible pre").allTextContents(), ["preview of view"]);
    await page.keyboard.press("j");
    assert.deepEqual(await page.locator(".pv:visible pre").allTextContents(), ["preview of none"]);
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R2.3 R7.5 at the most the rest say why they cannot be ticked", async () => {
    const asked = await agent.ask(choice({ title: "Full", selection_mode: "multi", max_selections: 2 }));
    const page = await stage.open(asked, context);
    await option(page, "Redis").click();
    await option(page, "Materialized").click();
    const rest = page.locator(".opt.full input");
    assert.equal(await rest.getAttribute("aria-disabled"), "true");
    const why = await rest.evaluate((node) => node.getAttribute("aria-describedby").split(" ")
        .map((id) => document.getElementById(id)?.textContent ?? "").join(" "));
    assert.match(why, /2 selected \(maximum\)/);
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R7.3 a new ask moves nothing under the pointer; it comes in when the pointer leaves", async () => {
    const first = await agent.ask(choice({ title: "Under the pointer" }));
    const page = await stage.page("", context);
    const row = page.locator(".row", { hasText: "Under the pointer" });
    await row.hover();
    const before = await row.boundingBox();
    const second = await agent.ask(choice({ title: "The newcomer" }));
    await until(async () => await page.locator(".side-seg .n").textContent() === "2", "it is counted immediately");
    await page.waitForTimeout(300);
    assert.deepEqual(await row.boundingBox(), before);
    await page.mouse.move(900, 500);
    await page.locator(".row", { hasText: "The newcomer" }).waitFor();
    assert.ok((await row.boundingBox()).y > before.y, "newest first, afterwards");
    await stage.home.must("cancel", second.id);
    await stage.home.must("cancel", first.id);
    await page.close();
});

test("R7.5 the keyboard goes to the question on opening and back to its row on leaving", async () => {
    const asked = await agent.ask(choice({ title: "There and back" }));
    const page = await stage.page("", context);
    const row = page.locator(".row", { hasText: "There and back" });
    await row.focus();
    await page.keyboard.press("Enter");
    await page.locator(".ask").waitFor();
    await until(() => page.evaluate(() => document.activeElement.tagName === "H1"), "it is at the question");
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await until(() => row.evaluate((node) => node === document.activeElement), "it is at the row");
    await page.keyboard.press("Enter");
    await page.locator(".ask").waitFor();
    await page.goBack();
    await until(() => row.evaluate((node) => node === document.activeElement), "by the back button too");
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("R5.9 timed out: the draft is kept, and is filled in if the agent asks the same again", async () => {
    const call = choice({ ...WAITS, title: "Once more", timeout_seconds: 600 });
    const asked = await agent.ask(call);
    const page = await stage.open(asked, context);
    await option(page, "Materialized").click();
    await note(page).fill("refresh it every 5 s");
    await stage.drafted(asked, "refresh it every 5 s");
    await stage.home.must("settings", "set", "typing_hold", "off");
    await stage.home.must("extend", asked.id, "1");
    await page.getByRole("heading", { name: "Timed out" }).waitFor();
    assert.match(await page.locator(".kept:not(.tell)").innerText(), /Materialized view[\s\S]*refresh it every 5 s/);
    await page.getByRole("button", { name: "Reuse if asked again" }).click();
    await page.getByText("Will be filled in if the agent asks this again").waitFor();
    await asked.result;
    const other = await agent.ask(choice({ ...WAITS, title: "Something else" }));
    await page.goto(`${stage.origin}/choice/${other.id}`);
    await page.locator(".ask").waitFor();
    assert.deepEqual(await checked(page), [], "another question is another question");
    const again = await agent.ask(call);
    await page.goto(`${stage.origin}/choice/${again.id}`);
    await page.locator(".ask").waitFor();
    assert.deepEqual(await checked(page), ["view"]);
    assert.equal(await note(page).inputValue(), "refresh it every 5 s");
    await page.getByText("From an earlier draft").waitFor();
    await answerable(page);
    await sendButton(page).click();
    await sendNow(page);
    assert.deepEqual((await again.result).selection.selected_ids, ["view"]);
    const third = await agent.ask(choice({ ...call, prompt: `${call.prompt} Again.` }));
    await page.goto(`${stage.origin}/choice/${third.id}`);
    await page.locator(".ask").waitFor();
    assert.deepEqual(await checked(page), [], "it served once");
    await stage.home.must("settings", "set", "typing_hold", "on");
    await stage.home.must("cancel", third.id);
    await stage.home.must("cancel", other.id);
    await page.close();
});

test("B4 five refusals in five minutes: the page offers to be silent about this agent, and is", async () => {
    const pest = stage.agent("pest", "/tmp/pest");
    const page = await stage.page("", context);
    for (let i = 0; i < 5; i++) {
        const asked = await pest.ask(choice({ title: `Again ${i}` }));
        await page.goto(`${stage.origin}/choice/${asked.id}`);
        await page.locator(".ask").waitFor();
        assert.equal(await page.getByText("You refused").count(), 0);
        await stage.home.must("decline", asked.id);
        await page.getByRole("heading", { name: "Declined" }).waitFor();
    }
    await page.getByText("You refused 5 asks from “pest” in 5 minutes.").waitFor();
    await page.getByRole("button", { name: "Mute for 20 min" }).click();
    const next = await pest.ask(choice({ title: "Not again" }));
    await page.locator(".row", { hasText: "Not again" }).getByText("snoozed").waitFor();
    const fair = await agent.ask(choice({ title: "A fair one" }));
    await page.locator(".row", { hasText: "A fair one" }).waitFor();
    assert.equal(await page.locator(".row", { hasText: "A fair one" }).getByText("snoozed").count(), 0);
    await stage.home.must("cancel", next.id);
    await stage.home.must("cancel", fair.id);
    await page.close();
});

test("R7.2 an ask that came while the page was cut off is notified after the reconnect", async () => {
    const page = await stage.page("/", context);
    await catchNotifications(page);
    const said = () => page.evaluate(() => window.shown.join("\n"));
    const known = await agent.ask(choice({ title: "Seen before" }));
    await page.locator(".row", { hasText: "Seen before" }).waitFor();
    await page.evaluate(() => { window.shown = []; });
    await stage.home.must("settings", "set", "portal", "off");
    await page.locator(".conn:not([data-conn=on])").waitFor();
    const missed = await agent.ask(choice({ title: "Came unseen" }));
    await stage.home.must("settings", "set", "portal", "on");
    await until(async () => /Came unseen/.test(await said()), "the ask that came in between is notified");
    assert.doesNotMatch(await said(), /Seen before/);
    for (const { id } of [known, missed])
        await stage.home.must("cancel", id);
    await page.close();
});

test("R7.2 the page says immediately that less than 10 s are left: neither the pause nor quiet time holds it back", async () => {
    const page = await stage.page("/", context);
    await catchNotifications(page);
    const said = () => page.evaluate(() => window.shown.join("\n"));
    const first = await agent.ask(choice({ title: "First of two", timeout_seconds: 600 }));
    await until(async () => /First of two/.test(await said()), "the first is told, and the pause begins");
    const second = await agent.ask(choice({ title: "Second of two", timeout_seconds: 600 }));
    await page.locator(".row", { hasText: "Second of two" }).waitFor();
    await stage.home.must("settings", "set", "do_not_disturb", "on");
    for (const { id } of [first, second])
        await stage.home.must("extend", id, "4");
    for (const { result } of [first, second]) {
        assert.equal((await result).action_status, "timeout");
        assert.match(await said(), /Less than 10 s left: .*First of two/);
        assert.match(await said(), /Less than 10 s left: .*Second of two/);
    }
    await stage.home.must("settings", "reset", "do_not_disturb");
    await page.close();
});

test("R7.2 a browser that slows the timers of a tab in the background does not delay it: the hub's message is enough", async () => {
    const slow = await stage.context();
    await slow.addInitScript(() => {
        window.setInterval = () => 0;
        window.shown = [];
        window.Notification = class extends EventTarget {
            static permission = "granted";
            constructor(title, options) {
                super();
                window.shown.push(`${title}: ${options.body}`);
            }
            close() {}
        };
        Document.prototype.hasFocus = () => false;
    });
    const page = await stage.page("/", slow);
    const { result } = await agent.ask(choice({ title: "Slow tab", timeout_seconds: 14 }));
    assert.equal((await result).action_status, "timeout");
    assert.equal((await page.evaluate(() => window.shown)).filter((said) => /^Less than 10 s left: .*Slow tab/.test(said)).length, 1);
    await slow.close();
});

test("R7.2 notifications: less than 10 s left, time has run out; each once, and with a sound where wanted", async () => {
    const page = await stage.page("/", context);
    await stage.home.must("settings", "set", "sound", "on");
    await catchNotifications(page);
    await page.evaluate(() => {
        window.tones = 0;
        const { createOscillator } = AudioContext.prototype;
        AudioContext.prototype.createOscillator = function () {
            window.tones++;
            return createOscillator.call(this);
        };
    });
    // The page's own clock, for its pause of ten seconds between two notifications. The deadline is the hub's: it
    // tells the page every few seconds how much time is left, whatever the page's clock says.
    const skip = (seconds) => page.evaluate((ms) => { window.now_ms += ms; }, seconds * 1000);
    await page.evaluate(() => {
        window.now_ms = performance.now();
        performance.now = () => window.now_ms;
    });
    const asked = await agent.ask(choice({ title: "Running out", timeout_seconds: 600 }));
    const said = () => page.evaluate(() => window.shown.join("\n"));
    await until(async () => /New ask: “claude-code” Running out/.test(await said()), "that it came");
    await stage.home.must("extend", asked.id, "3");
    await until(async () => /Less than 10 s left: “claude-code” Running out/.test(await said()), "that time is short");
    await skip(11);
    await until(async () => /Timed out: “claude-code” Running out/.test(await said()), "that it is over");
    assert.equal(await page.evaluate(() => window.shown.length), 3);
    assert.equal(await page.evaluate(() => window.tones), 6);
    assert.equal((await asked.result).action_status, "timeout");
    await stage.home.must("settings", "set", "sound", "off");
    await page.close();
});
