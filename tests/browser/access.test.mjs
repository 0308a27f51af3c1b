// access.test.mjs - axe-core finds nothing in any kind and end of an ask, and nothing is cut off: light, dark,
// phone, Chinese.
// Proves: R7.5 R8.2
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { LOOKS, go, judgeLooks, look, openLooks, tellLooks } from "./lib/looks.mjs";
import { answerable, option, sendButton } from "./lib/stage.mjs";

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

const ACTS = {
    questions: async (page) => {
        await page.locator(".steps button").first().click(); // a draft goes on where something is missing
        await answerable(page);
        await option(page, "Redis").click();
    },
    review: async (page) => {
        await page.locator(".steps button").first().click();
        await answerable(page);
        await option(page, "Redis").click();
        await sendButton(page).click();
        await answerable(page);
        await page.locator(".opt", { hasText: "Unit" }).locator("input").setChecked(true, { force: true });
        await page.locator("#fn").fill("not on Friday");
        await sendButton(page).click();
        await page.locator(".review").waitFor();
    },
    multi: (page) => page.locator(".opt input").first().focus(),
    hybrid: async (page) => {
        await option(page, /Your own answer|自行填写/).click();
        await page.locator(".own textarea").fill("GET /accounts/{id}/billing-documents");
    },
    text: (page) => page.locator("textarea").first().fill("steady-retry"),
    number: (page) => page.locator("input[type=range]").fill("2500"),
    rating: (page) => page.locator(".star").nth(3).click(),
    confirm: async (page) => {
        await option(page, "Delete all three now").click();
        await sendButton(page).click();
        await page.locator(".code-in").fill("47");
    },
    steps: async (page) => {
        await page.locator(".steps button").first().click();
        await answerable(page);
        await option(page, "3.0.0").click();
    },
};

for (const lookOf of LOOKS) {
    test(`R7.5 WCAG 2.2 AA: every kind of ask, ${lookOf.name}`, async () => {
        const { name, language = "en", ...options } = lookOf;
        const context = await stage.context(options);
        const page = await stage.page("", context);
        await speak(language);
        for (const state of ["single", "multi", "hybrid", "text", "number", "rating", "form", "confirm", "steps", "questions", "review",
            "preview", "talked", "detached", "elsewhere", "timeout", "cancelled", "declined"]) {
            await go(page, `/choice/${asked[state].id}`);
            if (ACTS[state]) {
                await answerable(page);
                await ACTS[state](page);
            }
            await look(page, state, name);
        }
        assert.deepEqual(context.complaints, []);
        await context.close();
    });
}
