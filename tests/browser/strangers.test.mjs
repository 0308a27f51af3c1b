// strangers.test.mjs - what a page does when something else than its hub answers, and when it is no
// longer signed in: it says nothing to the one, says so in both cases, and keeps what was typed.
// Proves: R7.2 R12.2
import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Stage, answerable, choice, option, sendButton, sendNow, until } from "./lib/stage.mjs";
import { inStore } from "../mcp/lib/database.mjs";

const { WebSocket, WebSocketServer } = createRequire(new URL("../mcp/", import.meta.url))("ws");
const WAITS = { single_submit_mode: false };
let stage;
let agent;
let context;
before(async () => {
    stage = await Stage.open();
    agent = stage.agent();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});
// As when the network is back: the page does not wait for its next try.
const tryNow = (page) => page.evaluate(() => dispatchEvent(new Event("online")));
const note = (page) => page.getByLabel("Note for the agent");

// Another user's program that took the port of a hub that has gone: keeps what it hears.
async function squat(port, answer) {
    const heard = [];
    const server = http.createServer((request, response) => {
        heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
        response.end("<!doctype html><title>not sayso</title>");
    });
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket) => socket.on("message", (data) => {
        heard.push(String(data));
        answer(JSON.parse(String(data)), socket);
    }));
    await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
    return { heard, close: () => new Promise((resolve) => {
        for (const socket of sockets.clients)
            socket.terminate();
        server.close(resolve);
        server.closeAllConnections();
    }) };
}

const reply = (socket, message, rest) => socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...rest }));
const ANSWERS = {
    "agrees to everything": (message, socket) => reply(socket, message, { result: { wire: 1, version: "0", role: "person",
        features: [], tab: "x", proof: "0".repeat(64), asks: [], settings: [] } }),
    "speaks another wire number": (message, socket) => reply(socket, message, { error: { code: -32001, message: "other" } }),
};

for (const [what, answer] of Object.entries(ANSWERS)) {
    test(`C5 a stranger on the port that ${what} gets no token and no word of an answer`, async () => {
        const port = stage.home.hub().port;
        const asked = await stage.agent().ask(choice({ ...WAITS, title: `Not for ${what}` }));
        const page = await stage.open(asked, context);
        const token = await page.evaluate(() => sessionStorage.getItem("sayso-token"));
        await option(page, "Redis").click();
        await note(page).fill("a secret of mine");
        await stage.drafted(asked, "a secret of mine");
        await page.evaluate(() => { window.same = true; });
        await stage.home.killHub();
        const stranger = await squat(port, answer);
        try {
            await until(() => stranger.heard.length > 1, "the page came by more than once");
            await page.getByText("The server at this address is not sayso.").waitFor();
            await note(page).fill("a secret of mine, and more");
            await answerable(page);
            assert.ok(await sendButton(page).isDisabled());
            await page.keyboard.press("Control+Enter");
            await tryNow(page);
            await until(() => stranger.heard.length > 3, "and again");
            const all = stranger.heard.join("\n");
            assert.ok(!all.includes(token) && !all.includes("sayso_t_"), "the token was said");
            assert.doesNotMatch(all, /secret|redis/);
            assert.equal(await page.evaluate(() => window.same), true, "nothing was loaded from it");
        } finally {
            await stranger.close();
        }
        await stage.serve();
        await tryNow(page);
        await page.locator(".conn[data-conn=on]").waitFor();
        assert.equal(await note(page).inputValue(), "a secret of mine, and more");
        await answerable(page);
        await sendButton(page).click();
        await sendNow(page);
        const { answer: stored } = JSON.parse(await stage.home.must("show", asked.id, "--json"));
        assert.equal(stored.global_annotation, "a secret of mine, and more");
        await page.close();
    });
}

test("C5 a stranger that says this tab is not signed in gets nothing either, and the tab is signed in again after it", async () => {
    const asked = await stage.agent().ask(choice({ ...WAITS, title: "Signed out by a stranger" }));
    const page = await stage.open(asked, context);
    await option(page, "Redis").click();
    await note(page).fill("a secret of mine");
    await stage.drafted(asked, "a secret of mine");
    await stage.home.killHub();
    const stranger = await squat(stage.home.hub().port, (message, socket) => reply(socket, message,
        { error: { code: -32003, message: "no", data: { code: "unauthorized" } } }));
    await page.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    assert.doesNotMatch(stranger.heard.join("\n"), /sayso_t_|secret/);
    await stranger.close();
    await stage.serve();
    await page.reload();
    await note(page).waitFor();
    assert.equal(await note(page).inputValue(), "a secret of mine");
    await page.close();
});

test("R12.2 D6 a tab that is revoked while someone types says so and how to go on; the text is there afterwards", async () => {
    const asked = await stage.agent().ask(choice({ ...WAITS, title: "Revoked" }));
    const own = await stage.context();
    const page = await stage.open(asked, own);
    await option(page, "Redis").click();
    await note(page).fill("half a thought");
    await stage.drafted(asked, "half a thought");
    await note(page).fill("half a thought, and a bit");
    const tab = await page.evaluate(async () => { // as docs/portal.md says: of its hash
        const token = new TextEncoder().encode(sessionStorage.getItem("sayso-token"));
        const hash = await crypto.subtle.digest("SHA-256", new Uint8Array([token.length, 0, 0, 0, 0, 0, 0, 0, ...token]));
        return [...new Uint8Array(hash)].slice(0, 8).map((byte) => byte.toString(16).padStart(2, "0")).join("");
    });
    const other = await stage.page("/devices", context);
    const row = other.locator("li", { hasText: `sayso token revoke ${tab.slice(0, 8)}` });
    await row.getByText("open now").waitFor();
    await stage.home.must("token", "revoke", tab);
    await page.getByRole("heading", { name: "This tab was signed out" }).waitFor();
    assert.match(await page.locator(".empty").innerText(), /30 days.*revoked.*Your text and your asks are safe/);
    assert.equal(await page.locator(".cmds code").textContent(), `sayso open ${asked.id.slice(0, 8)}`);
    assert.equal(await page.locator(".row").count(), 0, "nothing of it is shown any more");
    await page.goto(await stage.link(asked.id)); // the link in this very tab
    await note(page).waitFor();
    assert.equal(await note(page).inputValue(), "half a thought, and a bit");
    await own.close();
    await other.close();
});

test("R12.2 a page that is open when its 30 days are over is signed out by the hub, with the remedy", async () => {
    const own = await stage.context();
    const page = await stage.page("", own);
    const on = page.locator(".conn[data-conn=on]");
    const signedOut = page.getByRole("heading", { name: "This tab was signed out" });
    for (let life_ms = 3000; ; life_ms *= 2) { // a busy machine may need longer to start the hub and to connect
        await stage.home.killHub();
        await page.locator(".conn:not([data-conn=on])").waitFor();
        await inStore(stage.home, `UPDATE tokens SET expires_ms = ${Date.now() + life_ms}`);
        await stage.serve();
        await tryNow(page);
        await on.or(signedOut).waitFor();
        if (await on.isVisible())
            break;
        await page.goto(await stage.link());
        await on.waitFor();
    }
    await signedOut.waitFor();
    assert.equal(await page.locator(".cmds code").textContent(), "sayso open");
    await own.close();
});

test("C5 a stranger that passes everything on to the hub on its new port is seen through", async () => {
    const old = stage.home.hub().port;
    const asked = await stage.agent().ask(choice({ ...WAITS, title: "Relayed" }));
    const page = await stage.open(asked, context);
    await option(page, "Redis").click();
    await note(page).fill("mine alone");
    await stage.drafted(asked, "mine alone");
    await stage.home.killHub();
    const links = new Map();
    const stranger = await squat(old, (message, socket) => {
        if (!links.has(socket)) {
            const port = stage.home.hub().port;
            const link = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin: `http://127.0.0.1:${port}` });
            links.set(socket, new Promise((resolve) => link.on("open", () => resolve(link))));
            link.on("message", (data) => socket.send(String(data)));
            link.on("error", () => socket.terminate());
        }
        links.get(socket).then((link) => link.send(JSON.stringify(message)));
    });
    try {
        delete stage.home.env.SAYSO_PORT;
        await stage.serve();
        assert.notEqual(stage.home.hub().port, old);
        await page.getByText("The server at this address is not sayso.").waitFor();
        assert.doesNotMatch(stranger.heard.join("\n"), /sayso_t_|mine alone/);
        assert.equal(await note(page).inputValue(), "mine alone");
    } finally {
        await stranger.close();
    }
    await page.close();
});
