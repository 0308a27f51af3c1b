// looks.mjs - the states of the page, and how each is looked at: by axe-core, and whether anything is
// cut off. With SAYSO_SHOTS=DIR each of them is also written as a picture.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { OPTIONS, Stage, choice } from "./stage.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shots = process.env.SAYSO_SHOTS;
export const LOOKS = [
    { name: "light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
    { name: "phone", viewport: { width: 320, height: 700 }, colorScheme: "light", hasTouch: true, isMobile: true },
    { name: "zh", viewport: { width: 1440, height: 900 }, colorScheme: "light", language: "zh" },
    { name: "zh-phone", viewport: { width: 320, height: 700 }, colorScheme: "dark", hasTouch: true, isMobile: true, language: "zh" },
];
/** @type {string[]} of the test that runs */
let violations = [];
let looked = 0;

// After each test: what was found in it fails it.
export function judgeLooks() {
    const found = violations;
    violations = [];
    assert.deepEqual(found, []);
}

export function tellLooks() {
    console.log(`# counted: ${looked} states looked at by axe-core`);
}

// A hub with one ask of every kind and end.
export async function openLooks() {
    const asked = {};
    const stage = await Stage.open({ SAYSO_DELIVER_AFTER: "60", SAYSO_MAX_PENDING: "100", SAYSO_ASKS_PER_MINUTE: "100" });
    const agent = stage.agent();
    const codex = stage.agent("codex", "/home/me/infra");
    const gemini = stage.agent("gemini-cli", "/home/me/docs-site");
    const finished = async (title, ...how) => {
        const row = await agent.ask(choice({ title }));
        await stage.home.must(how[0], row.id, ...how.slice(1));
        return row;
    };
    asked.elsewhere = await finished("Keep the old /v1 routes?", "answer", "--select", "view", "--note", "for 6 months");
    asked.cancelled = await finished("Rename UserDto to Account?", "cancel", "--note", "not before 3.0");
    asked.declined = await finished("Force-push to main?", "decline");
    asked.timeout = await agent.ask(choice({ title: "Pick a colour for the error page", timeout_seconds: 1 }));
    await asked.timeout.result;
    asked.single = await agent.ask(choice({ options: [...OPTIONS, { id: "up", label: "Scale the database up", description: "About 310 a month." }] }));
    asked.confirm = await codex.ask(choice({ title: "Delete 3 unused database volumes?", destructive: true,
        prompt: "They have had no mount for 94 days. There is **no backup** of `vol-0b41`.", options: [
            { id: "keep-all", label: "Keep all three", description: "Nothing is changed.", recommended: true },
            { id: "delete-now", label: "Delete all three now", description: "vol-0b41 vol-77ce vol-a91f" }] }));
    asked.steps = await gemini.ask({ message: "Three questions before the release", timeout_seconds: 900, requestedSchema: { type: "object",
        required: ["version"], properties: {
            version: { type: "string", title: "Which version?", enum: ["3.0.0", "2.9.0"] },
            audience: { type: "array", title: "Who gets it first?", items: { type: "string", enum: ["Our own team", "Beta group"] } },
            speed: { type: "string", title: "How fast?", enum: ["10 % a day", "All at once"] } } } }, "elicit_form");
    asked.questions = await gemini.ask({ title: "Two questions before the release", timeout_seconds: 900, questions: [
        { question: "Which cache should the product page use?", header: "Cache", options: [
            { label: "Redis, write-through", preview: "redis:\n  url: redis://localhost\n" },
            { label: "Materialized view", preview: "CREATE MATERIALIZED VIEW stock AS …" }] },
        { question: "Which tests shall block a merge?", header: "Tests", multiSelect: true,
            options: [{ label: "Unit" }, { label: "Load" }] }] }, "ask_user_question");
    asked.review = asked.questions;
    asked.multi = await agent.ask(choice({ title: "Which checks should block a merge?", selection_mode: "multi", min_selections: 1,
        max_selections: 2, default_selection_ids: ["redis", "view"] }));
    asked.hybrid = await agent.ask(choice({ title: "What should the new endpoint be called?", selection_mode: "hybrid", max_selections: 1,
        placeholder: "e.g. GET /accounts" }));
    asked.text = await agent.ask({ title: "What is the package called?", prompt: "I am about to create the package and publish it.",
        selection_mode: "text_input", placeholder: "e.g. retry-kit", timeout_seconds: 900 });
    asked.number = await agent.ask({ message: "How long may the payment provider take?", minimum: 100, maximum: 5000, step: 100, unit: "ms",
        style: "slider" }, "elicit_number");
    asked.rating = await agent.ask({ message: "How good is this summary of the incident?", minimum: 1, maximum: 5, style: "rating" }, "elicit_number");
    asked.form = await agent.ask({ message: "Who is the new service for, and how large shall it be?", requestedSchema: { type: "object",
        required: ["owner"], properties: { owner: { type: "string", title: "Owner", format: "email", description: "Gets the alarms." },
            size: { type: "integer", title: "Nodes", minimum: 1, maximum: 9 }, open: { type: "boolean", title: "Reachable from outside?" },
            tier: { type: "string", title: "Tier", enum: ["gold", "silver"] } } } }, "elicit_form");
    asked.preview = await agent.ask(choice({ title: "How should the retry be written?", prompt: "The three differ in who decides when to stop.", options: [
        { id: "a", label: "Small change in place", recommended: true, description: "Three tries, then the error goes up.",
            preview: { type: "diff", text: "--- a/client.c\n+++ b/client.c\n@@ -41,3 +41,5 @@ send_order\n   struct reply reply;\n-  int status = call(req);\n+  int status = -1;\n+  for (int n = 0; n < 3; n++)\n+    status = call(req);\n" } },
        { id: "b", label: "A helper of its own", description: "The caller passes the policy.",
            preview: { type: "code", language: "c", text: "/* Calls again while BUSY. */\nstruct retry_policy {\n  int tries;\n  int first_pause_ms;\n};" } },
        { id: "c", label: "Leave it to the proxy", preview: { type: "markdown", text: "### What changes\n\n1. A rule `retry: 3`\n2. A budget of 10 %\n\n### What to know\n\n- Needs the platform team" } }] }));
    asked.talked = await agent.ask(choice({ title: "Which shard moves first?" }));
    await stage.home.must("reply", asked.talked.id, "What happens to orders that come meanwhile?");
    await asked.talked.result;
    await agent.call("ask/wait", { session_id: asked.talked.id, wait_seconds: 0,
        explanation: "They wait in the queue, for about 40 s.\nNone is lost: the queue is on disk." });
    await stage.home.must("reply", asked.talked.id, "And if the queue is full?");
    const gone = stage.agent("vscode", "/home/me/app");
    asked.detached = await gone.ask(choice({ title: "Which test runner?" }));
    gone.leave();
    return { stage, asked, speak: (language) => stage.home.must("settings", "set", "language", language) };
}

// Each state meets every rule once. A phone differs in its sizes, Chinese in its words, which findClipped judges too.
const RULES = {
    phone: { type: "rule", values: ["target-size", "scrollable-region-focusable", "color-contrast", "meta-viewport", "region"] },
    zh: { type: "rule", values: ["html-lang-valid", "valid-lang", "label", "button-name", "link-name"] },
    light: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
};
// Dark differs from light only in its colors.
const CONTRAST = { type: "rule", values: ["color-contrast"] };
const LIST = ".side"; // beside every state the same: the inbox itself is looked at whole

// As a link of the page itself would: nothing is loaded again.
export async function go(page, address) {
    await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
    }, address);
    await page.locator("h1").waitFor();
}

async function still(page) {
    await page.evaluate(async () => {
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))); // what is due has begun to move
        await Promise.all(document.getAnimations().map((moving) => moving.finished));
    });
}

async function shoot(page, state) {
    if (!shots)
        return;
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${state}.png` });
}

async function judgeByAxe(page, state, runOnly, isWhole) {
    const found = await page.evaluate(([rules, excluded]) => window.axe.run({ exclude: excluded },
        { resultTypes: ["violations"], runOnly: rules }), [runOnly, isWhole ? [] : [LIST]]);
    for (const row of found.violations)
        violations.push(`${state} ${row.id}: ${row.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
    looked++;
}

// `lookOf` is a name of LOOKS; in light it is looked at in dark as well.
export async function look(page, state, lookOf) {
    const name = `${state}-${lookOf}`;
    await still(page);
    await shoot(page, name);
    for (const clipped of await page.evaluate(findClipped))
        violations.push(`${name} is cut off: ${clipped}`);
    if (!await page.evaluate(() => "axe" in window))
        await page.evaluate(axe);
    await page.evaluate(() => scrollTo(0, 0)); // or the bar that stays covers half of something
    const kind = lookOf.split("-")[0];
    await judgeByAxe(page, name, RULES[kind], kind === "light" || state === "inbox");
    if (lookOf !== "light")
        return;
    await page.emulateMedia({ colorScheme: "dark" });
    await still(page);
    await shoot(page, `${state}-dark`);
    await judgeByAxe(page, `${state}-dark`, CONTRAST, state === "inbox");
    await page.emulateMedia({ colorScheme: "light" });
}

// Words that are wider than what they stand in, in the page; a list's rows end in dots on purpose.
function findClipped() {
    const shown = [...document.querySelectorAll("button, .btn, h1, h2, h3, legend, label, th, dt, dd, .tag, .tally, select, .seg span," +
        ".strip span, .strip b, .places span, .banner p, .hint, .under, .n, .sub")];
    const wide = document.documentElement.scrollWidth > innerWidth ? [`the page, ${document.documentElement.scrollWidth} px`] : [];
    return wide.concat(shown.filter((node) => node.offsetParent && !node.closest(".row, .vh, .h-main, .steps, .skip") &&
        !node.matches(".vh, .cmp > legend") && getComputedStyle(node).overflow !== "visible" && node.scrollWidth > node.clientWidth + 1)
        .map((node) => `${node.tagName}.${node.className} ${node.textContent.slice(0, 40)}`));
}
