// access_pages.test.mjs - the same for every page, panel and dialog and for what is hard to come by: undo,
// offline, signed out, empty; forced colors, zoom, reduced motion.
// Proves: R7.5 R8.2
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { LOOKS, go, judgeLooks, look, openLooks, tellLooks } from "./lib/looks.mjs";
import { answerable, choice, option } from "./lib/stage.mjs";

let stage;
let asked;
let speak;
before(async () => {
    ({ stage, asked, speak } = await openLooks());
});
afterEach(judgeLooks);
after(async () => {
    tellLooks();
    await stage.close();
});

// Each with something that is there once the hub has said what belongs on it.
const PAGES = { history: ".h-main", statistics: ".kpis", standing: ".rows li", devices: "li", settings: ".switch", help: "kbd" };

for (const lookOf of LOOKS) {
    test(`R7.5 WCAG 2.2 AA: every page, panel and dialog, ${lookOf.name}`, async () => {
        const { name, language = "en", ...options } = lookOf;
        const context = await stage.context(options);
        const page = await stage.page("", context);
        await speak(language);
        await page.getByRole("heading", { name: /waiting|在等你/ }).waitFor();
        await look(page, "inbox", name);
        for (const [path, mark] of Object.entries(PAGES)) {
            await go(page, `/${path}`);
            await page.locator(`#main ${mark}`).first().waitFor();
            await look(page, path, name);
        }
        await go(page, `/choice/${asked.elsewhere.id}`);
        await page.locator("[data-key=let-stand]").waitFor();
        await look(page, "ended", name);
        await go(page, `/choice/${asked.single.id}`);
        await page.locator(".strip-go").click();
        await look(page, "panel", name);
        await page.locator("[data-key=close-settings]").click();
        await answerable(page);
        for (const [button, dialog] of [["cancel-open", "cancel"], ["later", "later"], ["ask-back", "ask-back"]]) {
            await page.locator(`[data-key="${button}"]`).click();
            await page.locator("dialog[open]").waitFor();
            await look(page, dialog, name);
            await page.keyboard.press("Escape");
        }
        await page.keyboard.press("?");
        await page.locator("dialog[open]").waitFor();
        await look(page, "keys", name);
        await page.keyboard.press("Escape");
        await stage.home.must("settings", "set", "settings_first", "on");
        await page.locator(".settings-first").waitFor();
        await look(page, "first", name);
        await stage.home.must("settings", "set", "settings_first", "off");
        const out = await (await stage.context(options)).newPage();
        await out.goto(stage.origin);
        await out.locator("h1").waitFor();
        await look(out, "signed-out", name);
        await out.context().close();
        await context.close();
        await speak("en");
    });
}

// One state that is hard to come by, in every look.
async function lookAll(page, state, languages = ["en", "zh"]) {
    for (const language of languages) {
        if (languages.length > 1)
            await speak(language);
        for (const [width, name] of [[1440, "light"], [320, "phone"]]) {
            await page.setViewportSize({ width, height: 800 });
            await look(page, state, language === "en" ? name : `zh-${width}`);
        }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    if (languages.length > 1)
        await speak("en");
}

test("R7.5 R8.2 WCAG 2.2 AA in every look: undo, kept, offline, signed out, empty", async () => {
    const context = await stage.context();
    const page = await stage.page("", context);
    await go(page, `/choice/${asked.single.id}`);
    await answerable(page);
    await option(page, "Redis").click();
    await page.getByRole("heading", { name: /Saved/ }).waitFor();
    await lookAll(page, "undo");
    await page.keyboard.press("u");
    await page.locator(".ask").waitFor();
    await page.getByLabel("Note for the agent").fill("in eu-west, where we have the cluster already");
    await page.getByText("You’ve entered text. Press Send when you’re done.").waitFor();
    await stage.home.must("settings", "set", "typing_hold", "off");
    await stage.home.must("extend", asked.single.id, "40");
    await page.locator(".bar[data-soon=soon]").waitFor();
    await look(page, "soon", "light");
    await stage.home.killHub();
    await page.getByText("Connection to sayso lost.").waitFor();
    await lookAll(page, "offline", ["en"]);
    await stage.serve();
    await page.locator(".conn[data-conn=on]").waitFor();
    await stage.home.must("extend", asked.single.id, "1");
    await page.getByRole("heading", { name: "Timed out" }).waitFor();
    await lookAll(page, "kept");
    const own = await stage.context();
    const other = await stage.page("/devices", own);
    await other.locator("li", { hasText: "this tab" }).getByRole("button").click();
    await other.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    await lookAll(other, "was-signed-out", ["en"]);
    await own.close();
    for (const row of Object.values(asked))
        await stage.home.sayso("cancel", row.id);
    await page.goto(stage.origin);
    await page.getByRole("heading", { name: "No agents are waiting for you" }).waitFor();
    await lookAll(page, "empty");
    assert.deepEqual(context.complaints, []);
    await context.close();
});

test("R7.5 forced colors: what is chosen, current or switched on is still told apart", async () => {
    const context = await stage.context({ forcedColors: "active" });
    const ask = await stage.agent("codex").ask(choice({ title: "Forced", single_submit_mode: false }));
    const page = await stage.open(ask, context);
    await option(page, "Redis").click();
    const outlines = (selector) => page.locator(selector).evaluateAll((nodes) => nodes.map((node) => {
        const { outlineStyle, outlineWidth, borderBottomColor, backgroundColor, color } = getComputedStyle(node);
        return `${outlineStyle === "none" ? "" : outlineWidth} ${borderBottomColor} ${backgroundColor} ${color}`;
    }));
    await page.evaluate(() => document.activeElement.blur());
    const rows = await outlines(".ask .opt");
    assert.match(rows[0], /^2px/);
    assert.ok(rows.slice(1).every((row) => !/^2px/.test(row)), rows.join("; "));
    const [active, completed] = await outlines(".side-seg label > span");
    assert.match(active, /^2px/);
    assert.doesNotMatch(completed, /^2px/);
    await go(page, "/settings");
    await page.locator(".switch").first().waitFor();
    const switches = await page.locator(".switch").evaluateAll((nodes) => nodes.map((node) =>
        [node.checked, getComputedStyle(node).backgroundColor, getComputedStyle(node).appearance].join()));
    assert.ok(new Set(switches).size >= 2, "a switch that is on differs from one that is off");
    await page.keyboard.press("Tab");
    assert.match((await outlines(":focus"))[0], /^2px/);
    await stage.home.must("cancel", ask.id);
    await context.close();
});

test("R7.5 200 % zoom and reduced motion: no sideways scroll, nothing moves", async () => {
    const context = await stage.context({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, reducedMotion: "reduce" });
    const ask = await stage.agent("codex").ask(choice({ title: "Twice as large" }));
    const page = await stage.page("", context);
    for (const path of ["/", `/choice/${ask.id}`, "/history", "/statistics", "/standing", "/devices", "/settings", "/help"]) {
        await go(page, path);
        await page.locator("h1").waitFor();
        await look(page, `zoomed${path.replaceAll("/", "-").slice(0, 10)}`, "phone");
        assert.equal(await page.evaluate(() => document.getAnimations().length), 0, path);
    }
    await go(page, `/choice/${ask.id}`);
    await answerable(page);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor();
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0, "a dialog");
    await page.keyboard.press("Escape");
    for (const at of [".opt input >> nth=0", ".opt input >> nth=2", "#gn", "[data-key=send]"]) { // nothing covers what has the keyboard
        await page.locator(at).focus();
        assert.ok(await page.locator(at).evaluate((node) => {
            const box = node.getBoundingClientRect();
            const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return !!top && (node === top || node.contains(top) || top.contains(node) || node.closest(".opt") === top.closest(".opt"));
        }), `${at} is covered`);
    }
    await stage.home.must("cancel", ask.id);
    await context.close();
});
