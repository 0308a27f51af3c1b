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
    await page.locator("#main").getByText("Opened in your browser.").waitFor();
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

const tokens = async () => JSON.parse(await stage.home.must("token", "list", "--json"));
const KEPT = { DISPLAY: "", SAYSO_KEEP_SIGNED_IN: "on" };

test("R12.2 a browser that stays signed in comes back by the root address and by an agent's address, in any tab, over restarts", async () => {
    await serveWith(KEPT);
    for (const { id } of await tokens())
        await stage.home.must("token", "revoke", id);
    const asked = await stage.agent().ask(choice({ title: "Back again" }));
    const context = await stage.context();
    const first = await context.newPage();
    const sent = [];
    first.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
    await first.goto(await stage.link());
    await on(first).waitFor();
    assert.equal(await first.evaluate(() => sessionStorage.getItem("sayso-token")), null, "no token is kept");
    await until(async () => (await first.evaluate(async () => (await indexedDB.databases()).length)) > 0, "the key is kept");
    await first.close();
    for (const address of ["/", `/choice/${asked.id}`]) {
        const page = await context.newPage();
        page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(String(payload))));
        await page.goto(stage.origin + address);
        await page.locator(address === "/" ? `[data-key="row-${asked.id}"]` : ".ask h1").waitFor();
        await page.reload();
        await on(page).waitFor();
        await stage.home.killHub();
        await stage.serve();
        await page.evaluate(() => dispatchEvent(new Event("online")));
        await on(page).waitFor();
        await page.close();
    }
    const rows = await tokens();
    assert.deepEqual(rows.map((row) => row.kind), ["device"], "one row per browser, not per tab");
    assert.equal(Math.round((Date.parse(rows[0].expires_at) - Date.parse(rows[0].created_at)) / 86400000), 30);
    const signatures = sent.join("\n").match(/"signature":"[\w-]{86}"/g);
    assert.ok(signatures.length >= 4 && new Set(signatures).size === signatures.length, "each for a challenge of its own");
    assert.doesNotMatch(sent.join("\n"), /sayso_t_/);
    assert.deepEqual(await context.cookies(), []);
    await context.close();
    await stage.home.must("cancel", asked.id);
});

test("R12.2 no page can read the key that a browser keeps, only sign with it", async () => {
    const context = await stage.context();
    const page = await stage.page("", context);
    const said = await page.evaluate(async () => {
        const database = await new Promise((resolve) => {
            const opening = indexedDB.open("sayso");
            opening.onsuccess = () => resolve(opening.result);
        });
        const read = () => new Promise((resolve) => {
            const request = database.transaction("device").objectStore("device").get("this");
            request.onsuccess = () => resolve(request.result);
        });
        let kept = await read();
        while (!kept?.proof)
            kept = await read();
        const tries = [["pkcs8", kept.keys.privateKey], ["jwk", kept.keys.privateKey], ["raw", kept.proof], ["jwk", kept.proof]];
        const outcomes = [];
        for (const [form, key] of tries)
            outcomes.push(await crypto.subtle.exportKey(form, key).then(() => "read", (error) => error.name));
        return { outcomes, names: Object.keys(kept).sort() };
    });
    assert.deepEqual(said, { outcomes: Array(4).fill("InvalidAccessError"), names: ["id", "keys", "proof"] });
    await context.close();
});

test("R12.2 a signed-out tab of the same browser comes in by itself; signing out under Devices is for all tabs and for good", async () => {
    const context = await stage.context();
    const waiting = await context.newPage();
    await waiting.goto(stage.origin);
    await out(waiting).waitFor();
    const page = await stage.page("", context);
    await on(waiting).waitFor();
    await page.locator("[data-place=devices]").click();
    await page.getByText("this browser").waitFor();
    await page.getByText("stays signed in").first().waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    for (const tab of [page, waiting]) {
        await tab.getByRole("heading", { name: "This tab was signed out" }).waitFor();
        await tab.reload();
        await out(tab).waitFor();
    }
    await page.goto(await stage.link()); // and in again
    await on(page).waitFor();
    await page.goto(stage.origin);
    await on(page).waitFor();
    await context.close();
});

test("R12.2 R12.4 a device that is revoked is out immediately, and a link enrolls the browser again", async () => {
    const context = await stage.context();
    const page = await stage.page("", context);
    await until(async () => (await page.evaluate(async () => (await indexedDB.databases()).length)) > 0, "the key is kept");
    await page.goto(stage.origin);
    await on(page).waitFor();
    const device = (await tokens()).find((row) => row.connected);
    await stage.home.must("token", "revoke", device.id);
    await page.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    await page.goto(await stage.link());
    await on(page).waitFor();
    await page.goto(stage.origin);
    await on(page).waitFor();
    await context.close();
});

test("R12.2 where browsers don't stay a tab has a token as before; one that stayed is out, and a link lets it in", async () => {
    const context = await stage.context();
    const page = await stage.page("", context);
    await until(async () => (await page.evaluate(async () => (await indexedDB.databases()).length)) > 0, "the key is kept");
    await page.goto(stage.origin);
    await on(page).waitFor();
    await serveWith({ SAYSO_KEEP_SIGNED_IN: "off" });
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await page.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    await page.goto(await stage.link());
    await on(page).waitFor();
    assert.match(await page.evaluate(() => sessionStorage.getItem("sayso-token")), /^sayso_t_/);
    const other = await context.newPage();
    await other.goto(stage.origin);
    await out(other).waitFor();
    await context.close();
});
