// settings.test.mjs - the page's settings are the table of the hub: every row has its control, and hears of changes.
// What each of them does is in settings_effects.test.mjs.
// Proves: R7.4 R8.1 R8.2
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Stage, choice, until } from "./lib/stage.mjs";

let stage;
let context;
before(async () => {
    stage = await Stage.open();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const rows = async () => {
    const all = JSON.parse(await stage.home.must("settings", "list", "--json"));
    return all.filter((row) => row.scope === "person" || row.group === "keeping");
};
const other = (row) => row.type === "bool" ? (row.built_in === "on" ? "off" : "on")
    : row.type === "enum" ? row.choices.findLast((word) => word !== row.built_in)
        : row.type === "period" ? "22:00-07:00" : row.type === "limits" ? '{"x":9}'
            : row.type === "text" ? "words" : String(Number(row.built_in) + 1);
const shownValue = (page, row) => page.evaluate(([name, type]) => {
    const control = document.getElementById(`set-${name}`);
    const radio = document.querySelector(`input[name="set-${name}"]:checked`);
    return radio ? radio.dataset.key.slice(`set-${name}-`.length)
        : type === "bool" ? (control.checked ? "on" : "off") : control.value;
}, [row.name, row.type]);

test("R7.4 R8.1 each row of the table is on the page, in its group, with what it takes", async () => {
    const page = await stage.page("/settings", context);
    await page.locator("#set-interface").waitFor();
    const table = await rows();
    assert.ok(table.length >= 20);
    for (const row of table) {
        const found = page.locator(`#set-${row.name}, fieldset.seg:has(input[name="set-${row.name}"])`);
        assert.equal(await found.count(), 1, row.name);
        if (row.type === "enum" && await found.evaluate((node) => node.tagName) === "SELECT")
            assert.deepEqual(await found.locator("option").evaluateAll((nodes) => nodes.map((node) => node.value)), row.choices);
        if (row.type === "integer" || row.type === "seconds")
            assert.deepEqual([await found.getAttribute("min"), await found.getAttribute("max")], [String(row.least), String(row.most)]);
    }
    const groups = await page.locator("form.set > fieldset > legend").allTextContents();
    assert.equal(groups.length, new Set(table.map((row) => row.group)).size);
    assert.ok(!groups.some((title) => /group_|undefined/.test(title)), groups.join());
    await page.close();
});

test("R8.1 R7.4 each row: what is set or reset elsewhere is shown immediately in an open page", async () => {
    const asked = await stage.agent().ask(choice({ title: "Open meanwhile" }));
    const page = await stage.page("/settings", context);
    await page.locator("#set-interface").waitFor();
    for (const row of await rows()) {
        const before = await shownValue(page, row);
        await stage.home.must("settings", "set", row.name, other(row));
        await until(async () => await shownValue(page, row) === other(row), `${row.name} is ${other(row)} on the page`);
        await stage.home.must("settings", "reset", row.name);
        await until(async () => await shownValue(page, row) === before, `${row.name} is ${before} again`);
    }
    await page.close();
    await stage.home.must("cancel", asked.id);
});

test("R8.2 what the hub refuses is said exactly, in the person's language", async () => {
    const page = await stage.page("/settings", context);
    const words = { en: "deliver_after must be a duration from 0 to 60 seconds", zh: "deliver_after 可设为 0 至 60 秒" };
    for (const [language, wanted] of Object.entries(words)) {
        await stage.home.must("settings", "set", "language", language);
        await until(() => page.evaluate((tag) => document.documentElement.lang.startsWith(tag), language), language);
        await page.locator("#set-deliver_after").fill("61");
        await page.locator("#set-deliver_after").blur();
        await page.locator(".saved.wrong", { hasText: wanted }).waitFor();
    }
    await stage.home.must("settings", "reset", "language");
    await page.close();
});
