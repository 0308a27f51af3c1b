// settings_effects.test.mjs - what every setting does to a page that is open while it is changed elsewhere.
// tests/settings_effects.json says which of them have nothing to show there, and why.
// Proves: R7.4 R8.1 R8.2 R6.6
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option, until } from "./lib/stage.mjs";

const TABLE = JSON.parse(readFileSync(new URL("../settings_effects.json", import.meta.url)));
const SILENT_MS = 400; // so long nothing comes, where something would

let stage;
let context;
let behind; // its pages are not in front
before(async () => {
    stage = await Stage.open({ SAYSO_ASKS_PER_MINUTE: "1000" });
    context = await stage.context();
    behind = await stage.context();
    // notifications and sounds are counted; the next may always come ten seconds after the last
    await behind.addInitScript(() => {
        const now = performance.now.bind(performance);
        window.told = { notes: 0, sounds: 0, later: 0 };
        performance.now = () => now() + window.told.later;
        window.Notification = class extends EventTarget {
            constructor() {
                super();
                window.told.notes++;
            }
            static permission = "granted";
            close() {}
        };
        const silence = { connect: () => silence, start() {}, stop() {}, frequency: {},
            gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} } };
        window.AudioContext = class {
            constructor() {
                window.told.sounds++;
            }
            createOscillator() { return silence; }
            createGain() { return silence; }
            close() { return Promise.resolve(); }
        };
        Document.prototype.hasFocus = () => false;
    });
});
after(async () => {
    assert.deepEqual([...context.complaints, ...behind.complaints].filter((words) => !/404/.test(words)), []);
    await stage.close();
});

const set = (name, value) => stage.home.must("settings", "set", name, value);
const reset = (name) => stage.home.must("settings", "reset", name);
// Whatever was changed before is known to the page: what the hub says comes in its order.
async function settled(page) {
    const hints = () => page.evaluate(() => document.documentElement.dataset.theme);
    await set("theme", "dark");
    await until(async () => await hints() === "dark", "the page has heard");
    await reset("theme");
    await until(async () => await hints() !== "dark", "the page has heard that too");
}
// It is not so, then it is by the setting, then it is not again.
const becomes = (name, value, isSo) => [name, async (page) => {
    assert.ok(!await isSo(page), `${name} is so already`);
    await set(name, value);
    await until(() => isSo(page), `${name} = ${value} is seen`);
    await reset(name);
    await until(async () => !await isSo(page), `${name} is as it was`);
}];
const strip = (name, words) => async (page) => words.test(await page.locator(`[data-key=strip-${name}]`).textContent());
// What is for asks to come is not in the strip of this one; the open settings show it.
const inPanel = (name, value) => {
    const [, check] = becomes(name, value, async (page) => await page.locator(`#set-${name}`).inputValue() === value);
    return [name, async (page, asked) => {
        const before = await page.locator(`[data-key=strip-${name}]`).textContent();
        await page.locator(".strip-go").click();
        await check(page, asked);
        assert.equal(await page.locator(`[data-key=strip-${name}]`).textContent(), before, "this ask is as it was");
        await page.locator("[data-key=close-settings]").click();
        await page.locator("aside.panel").waitFor({ state: "detached" });
    }];
};
const isGone = (find) => async (page) => await find(page).count() === 0;
const root = (key, value) => (page) => page.evaluate(([key, value]) =>
    document.documentElement.dataset[key] === value, [key, value]);

const QUESTION = new Map([
    inPanel("interface", "web"),
    inPanel("timeout_seconds", "7200"),
    becomes("single_submit", "batch", strip("single_submit", /waits/)),
    becomes("notes", "off", isGone((page) => page.getByLabel("Note for the agent"))),
    becomes("navigation_hints", "off", root("hints", "off")),
    becomes("theme", "dark", root("theme", "dark")),
    becomes("language", "zh", strip("language", /语言/)),
    becomes("do_not_disturb", "on", async (page) => await page.locator("[data-key=strip-dnd]").count() === 1),
    becomes("deliver_after", "42", async (page) => /42/.test(await page.locator("#tally").textContent())),
    becomes("terminal", "off", isGone((page) => page.locator("[data-key=terminal]"))),
    becomes("settings_first", "on", async (page) => await page.locator(".settings-first form.set").count() === 1),
    ["single_keys", async (page) => {
        const panel = page.locator("aside.panel");
        await set("single_keys", "off");
        await settled(page);
        await page.keyboard.press("s");
        await page.waitForTimeout(SILENT_MS);
        assert.equal(await panel.count(), 0, "a letter was heard");
        await reset("single_keys");
        await settled(page);
        await page.keyboard.press("s");
        await panel.waitFor();
        await page.locator("[data-key=close-settings]").click();
        await panel.waitFor({ state: "detached" });
    }],
    ["show_hidden", async (page) => {
        await page.locator(".opt input").nth(1).focus();
        await page.keyboard.press("h");
        const isThere = async () => await option(page, "Materialized view").count() > 0;
        await until(async () => !await isThere(), "it is hidden");
        await set("show_hidden", "on");
        await until(isThere, "it is shown");
        await reset("show_hidden");
        await until(async () => !await isThere(), "it is hidden again");
    }],
    ["note_focus", async (page) => {
        await set("note_focus", "on");
        await until(() => strip("single_submit", /waits/)(page), "picking waits");
        await answerable(page);
        await option(page, "Leave it").click();
        await until(() => page.evaluate(() => /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "") &&
            document.activeElement.type !== "radio"), "the note has the focus");
        await reset("note_focus");
    }],
    ["portal", async (page) => {
        await set("portal", "off");
        await page.locator(".conn[data-conn=on]").waitFor({ state: "detached" });
        await reset("portal");
        await page.locator(".conn[data-conn=on]").waitFor();
    }],
]);

const WORDS = new Map([
    becomes("placeholder", "off", isGone((page) => page.locator('[placeholder="such as checkout-v2"]'))),
    ["typing_hold", async (page, asked) => {
        const held = page.locator(".held:visible");
        const field = page.locator('[placeholder="such as checkout-v2"]');
        await stage.home.must("extend", asked.id, "20");
        await set("typing_hold", "off");
        await settled(page);
        await field.pressSequentially("a");
        await page.getByText("Draft saved").waitFor();
        assert.equal(await held.count(), 0);
        await reset("typing_hold");
        await settled(page);
        await field.pressSequentially("b");
        await held.waitFor();
    }],
]);

// An ask that comes while the page is open: how often the page told of it.
async function heard(page, what, title) {
    const before = await page.evaluate((what) => {
        window.told.later += 11000;
        return window.told[what];
    }, what);
    const asked = await stage.agent("other").ask(choice({ title }));
    await page.getByText(title).first().waitFor();
    await page.waitForTimeout(SILENT_MS);
    const count = await page.evaluate((what) => window.told[what], what) - before;
    await stage.home.must("cancel", asked.id);
    return count;
}
const silencedBy = (name, value) => [name, async (page) => {
    await set(name, value);
    await settled(page);
    assert.equal(await heard(page, "notes", `Silent by ${name}`), 0);
    await reset(name);
    await settled(page);
    assert.equal(await heard(page, "notes", `Told without ${name}`), 1);
}];
const NEWS = new Map([
    silencedBy("notifications", "off"),
    silencedBy("quiet_hours", "00:00-23:59"),
    ["sound", async (page) => {
        assert.equal(await heard(page, "sounds", "Without a sound"), 0);
        await set("sound", "on");
        await settled(page);
        assert.equal(await heard(page, "sounds", "With a sound"), 1);
        await reset("sound");
    }],
]);

const END = new Map([
    ["timeout_action", async (page, asked) => {
        await set("timeout_action", "submit_defaults");
        await stage.home.must("extend", asked.id, "1");
        await page.getByRole("heading", { name: "Your defaults were sent" }).waitFor();
        await reset("timeout_action");
    }],
]);

test("R8.1 each row of the table of settings says what it does in an open page, or why nothing", async () => {
    const rows = JSON.parse(await stage.home.must("settings", "list", "--json")).map((row) => row.name);
    assert.deepEqual(Object.keys(TABLE).sort(), rows.sort());
    const said = Object.keys(TABLE).filter((name) => "page" in TABLE[name]);
    assert.deepEqual([QUESTION, WORDS, NEWS, END].flatMap((scene) => [...scene.keys()]).sort(), said.sort());
});

test("R8.1 R7.4 R8.2 each row that shows in an open question is seen there immediately, and goes when it is reset", async () => {
    const asked = await stage.agent().ask(choice({ title: "Effects" }));
    const page = await stage.open(asked, context);
    for (const act of QUESTION.values())
        await act(page, asked);
    await page.close();
    await stage.home.must("cancel", asked.id);
});

test("R8.1 R7.4 each row that shows where a text is written, and at the end of a question", async () => {
    const agent = stage.agent();
    const asked = await agent.ask(choice({ title: "In words", selection_mode: "text_input", options: undefined,
        placeholder: "such as checkout-v2" }));
    const page = await stage.open(asked, context);
    for (const act of WORDS.values())
        await act(page, asked);
    await stage.home.must("cancel", asked.id);
    await page.close();
    const ending = await agent.ask(choice({ title: "Ending", default_selection_ids: ["view"] }));
    const last = await stage.open(ending, context);
    for (const act of END.values())
        await act(last, ending);
    await last.close();
});

test("R8.1 R6.6 each row about noise: an open page tells of a new ask by what is set now", async () => {
    const page = await stage.page("", behind);
    for (const act of NEWS.values())
        await act(page);
    await page.close();
});
