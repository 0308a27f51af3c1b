// history.test.mjs - looking back over many asks: words in any order and language, pages that fill up although the
// hub ends a long look early, the same after the hub was killed.
// Proves: R7.3 R9.2
import assert from "node:assert/strict";
import net from "node:net";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { Stage, choice, until } from "./lib/stage.mjs";

const MANY = 3200; // more than the hub looks at in one go where no index helps
let stage;
let context;

// One connection to the hub's socket that only calls.
class Line {
    constructor(who) {
        this.waiting = new Map();
        this.id = 0;
        this.socket = net.connect(stage.home.hub().socket);
        createInterface({ input: this.socket }).on("line", (text) => {
            const message = JSON.parse(text);
            this.waiting.get(message.id)?.(message);
            this.waiting.delete(message.id);
        });
        this.ready = this.call("hello", { wire: 1, version: "0", ...who });
    }

    async call(method, params) {
        const id = ++this.id;
        const reply = new Promise((resolve) => this.waiting.set(id, resolve));
        this.socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
        const { result, error } = await reply;
        assert.equal(error, undefined);
        return result;
    }
}

before(async () => {
    stage = await Stage.open({ SAYSO_MAX_PENDING: "100000", SAYSO_ASKS_PER_MINUTE: "1000000", SAYSO_MAX_SESSIONS: "100000" });
    const agent = new Line({ role: "agent", name: "claude-code" });
    const terminal = new Line({ role: "person", channel: "terminal" });
    const person = new Line({ role: "person", channel: "cli" });
    const ask = (more) => agent.call("ask/create", { tool: "provide_choice", wait_seconds: 0, arguments: choice(more) });
    const first = await ask({ title: "把长颈鹿放出来吗？", prompt: "它已经等了很久了，现在是不是时候了？请你来做决定。" });
    await terminal.call("ask/answer", { session_id: first.session_id, selected_ids: ["redis"] });
    for (let number = 0; number < MANY; number += 100) {
        const asked = await Promise.all(Array.from({ length: 100 }, (_, i) => ask({ title: `Number ${number + i} of many` })));
        await Promise.all(asked.map(({ session_id }) => person.call("ask/cancel", { session_id })));
    }
    for (const line of [agent, terminal, person])
        line.socket.destroy();
    context = await stage.context();
});
after(async () => {
    assert.deepEqual(context.complaints, []);
    await stage.close();
});

const titles = (page) => page.locator(".hist tbody .h-main a").allTextContents();

test("R9.2 what lies behind a thousand others is found by one, two or three Chinese characters", async () => {
    const page = await stage.page("/history", context);
    await until(async () => (await titles(page)).length === 20, "a full page");
    for (const words of ["长颈鹿", "颈鹿", "鹿", "很久 长颈"]) {
        await page.getByRole("searchbox").fill("nothing like it");
        await page.getByText("No matches.").waitFor();
        await page.getByRole("searchbox").fill(words);
        await until(async () => (await titles(page)).join() === "把长颈鹿放出来吗？", words);
    }
    await page.close();
});

test("R9.2 a look that the hub ends early goes on by itself", async () => {
    const page = await stage.page("/history?via=terminal", context);
    await until(async () => (await titles(page)).join() === "把长颈鹿放出来吗？", "the oldest of all");
    assert.match(await page.locator(".pager output").textContent(), /1/);
    await page.close();
});

test("R9.2 pages are full and none is shown twice, forth and back, also of a search", async () => {
    const page = await stage.page("/history?search=many+number", context);
    const seen = [];
    for (let number = 0; number < 4; number++) {
        await until(async () => {
            const now = await titles(page);
            return now.length === 20 && !seen.includes(now[0]);
        }, `page ${number}`);
        seen.push(...await titles(page));
        await page.getByRole("button", { name: "Older" }).click();
    }
    assert.equal(new Set(seen).size, 80);
    assert.ok(seen.every((title) => /^Number \d+ of many$/.test(title)));
    await page.getByRole("button", { name: "Newer" }).click();
    await until(async () => (await titles(page))[0] === seen[60], "back again");
    await page.close();
});

test("R9.2 R7.3 the page finds the same when the hub was killed and is there again", async () => {
    const page = await stage.page("/history?search=颈鹿", context);
    await until(async () => (await titles(page)).join() === "把长颈鹿放出来吗？", "before");
    await stage.home.killHub();
    await stage.serve();
    await page.getByRole("searchbox").fill("长颈鹿");
    await until(async () => (await titles(page)).join() === "把长颈鹿放出来吗？", "afterwards");
    await page.close();
});
