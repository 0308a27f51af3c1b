// come_back.test.mjs - a browser that comes back by the root address: by one click, or because it stays signed in.
// Proves: R12.2 R7.2
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { Stage, choice, until } from "./lib/stage.mjs";

let stage;
let folder;
before(async () => {
    stage = await Stage.open();
    folder = path.join(stage.home.path, "bin"); // what would open a browser writes down the address
    mkdirSync(folder);
    writeFileSync(path.join(folder, "xdg-open"), `#!/bin/sh\necho "$1" >> ${folder}/opened\n`);
    chmodSync(path.join(folder, "xdg-open"), 0o700);
});
after(() => stage.close());

// A hub with these settings, on the same port, and no link opened yet.
async function serveWith(env) {
    await stage.home.killHub();
    rmSync(path.join(folder, "opened"), { force: true });
    Object.assign(stage.home.env, env);
    await stage.serve([]);
}
const opened = () => existsSync(path.join(folder, "opened")) ? readFileSync(path.join(folder, "opened"), "utf8").split("\n").filter(Boolean) : [];
const SCREEN = () => ({ PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ":77", SAYSO_BROWSER: "on" });
const out = (page) => page.getByRole("heading", { name: "This browser is not signed in" });
const on = (page) => page.locator(".conn[data-conn=on]");

test("R12.2 one click on the page that is not signed in opens a link to the same ask; the page never sees it", async () => {
    await serveWith(SCREEN());
    const asked = await stage.agent().ask(choice({ title: "One click" }));
    const context = await stage.context();
    const page = await context.newPage();
    const heard = [];
    page.on("response", async (response) => heard.push(response.url(), await response.text().catch(() => "")));
    await page.goto(`${stage.origin}/choice/${asked.id}`);
    await page.getByRole("button", { name: "Open a signed-in tab" }).click();
    await page.getByText("Opened in your browser.").waitFor();
    const [link] = await until(() => opened().length && opened(), "a browser was opened");
    assert.ok(link.startsWith(`${stage.origin}/choice/${asked.id}#code=`), link);
    assert.doesNotMatch(heard.join("\n"), /sayso_c_/);
    assert.equal(await page.getByRole("button", { name: "Open a signed-in tab" }).count(), 0);
    const other = await context.newPage();
    await other.goto(link);
    await other.getByRole("heading", { name: "One click" }).waitFor();
    assert.deepEqual(context.complaints, []);
    await context.close();
    await stage.home.must("cancel", asked.id);
});

test("R12.2 without a screen there is no button, and the command is shown", async () => {
    await serveWith({ DISPLAY: "", SAYSO_BROWSER: "on" });
    const context = await stage.context();
    const page = await context.newPage();
    const looked = page.waitForResponse("**/portal/open");
    await page.goto(stage.origin);
    await looked;
    await out(page).waitFor();
    assert.equal(await page.locator(".cmds code").textContent(), "sayso open");
    assert.equal(await page.getByRole("button", { name: "Open a signed-in tab" }).count(), 0);
    assert.deepEqual(context.complaints, []);
    await context.close();
});
