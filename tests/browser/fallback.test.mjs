// fallback.test.mjs - a page whose files do not load, or are not what was built, becomes the inline page by itself.
// Proves: R7.7
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option } from "./lib/stage.mjs";

let stage;
before(async () => {
    stage = await Stage.open();
});
after(() => stage.close());

const FAULTS = {
    "the script does not load": ["**/static/app.*.js", (route) => route.abort()],
    "the script is gone": ["**/static/app.*.js", (route) => route.fulfill({ status: 404, contentType: "application/json", body: "{}" })],
    "the script was changed on its way": ["**/static/app.*.js", async (route) => {
        const response = await route.fetch();
        route.fulfill({ response, body: `window.changed = true;\n${await response.text()}` });
    }],
    "the styles do not load": ["**/static/app.*.css", (route) => route.abort()],
    "nothing but the document loads": ["**/static/**", (route) => route.abort()],
};

for (const [what, [files, fault]] of Object.entries(FAULTS)) {
    test(`R7.7 ${what}: the inline page comes by itself, with the link that was opened`, async () => {
        const context = await stage.context();
        const page = await context.newPage();
        await page.route(files, fault);
        const asked = await stage.agent().ask(choice({ title: what }));
        await page.goto(await stage.link(asked.id));
        await page.locator(".conn[data-conn=on]").waitFor();
        assert.equal(new URL(page.url()).search, "?inline");
        assert.equal(new URL(page.url()).hash, "");
        assert.equal(await page.evaluate(() => window.changed), undefined);
        await page.getByRole("heading", { name: what }).waitFor();
        assert.notEqual(await page.locator(".ask").evaluate((node) => getComputedStyle(node).display), "inline", "it has its styles");
        await answerable(page);
        await option(page, "Redis").click();
        await page.getByRole("heading", { name: /Saved/ }).waitFor();
        await context.close();
    });
}

test("R7.7 where everything loads the page stays as it is; a part that does not load says so and nothing else is loaded", async () => {
    const context = await stage.context();
    const page = await stage.page("", context);
    assert.equal(new URL(page.url()).search, "");
    await page.route("**/static/statistics.*.js", (route) => route.abort());
    await page.evaluate(() => { window.same = true; });
    await page.locator("[data-place=stats]").click();
    await page.getByRole("alert").getByText(/./).waitFor();
    assert.equal(await page.evaluate(() => window.same), true);
    assert.equal(new URL(page.url()).search, "");
    await context.close();
});
