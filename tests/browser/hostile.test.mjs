// hostile.test.mjs - what agents wrote does nothing in the page, and other pages get nothing from the hub.
// Proves: R6.5 R7.6
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ROOT } from "../mcp/lib/home.mjs";
import { CHROMIUM, Stage, choice, sendButton, until } from "./lib/stage.mjs";

const corpus = JSON.parse(readFileSync(`${ROOT}/tests/corpus/strings.json`, "utf8"));
const CASES = corpus.cases ?? corpus.strings;
let stage;
let agent;
let context;
let foreign;
const received = [];
before(async () => {
    stage = await Stage.open({ SAYSO_ASKS_PER_MINUTE: "10000", SAYSO_MAX_PENDING: "1000" });
    agent = stage.agent();
    context = await stage.context();
    foreign = http.createServer((request, response) => {
        received.push({ url: request.url, headers: request.headers });
        response.writeHead(200, { "content-type": "text/html" });
        response.end("<!doctype html><title>other</title>");
    });
    await new Promise((resolve) => foreign.listen(0, "127.0.0.1", resolve));
});
after(async () => {
    foreign.close();
    await stage.close();
});

// A call that carries the text in this field; as elicit_confirm where the prompt is too short.
function carrying(row) {
    const options = [{ id: "a", label: "Alpha", recommended: true }, { id: "b", label: "Beta" }];
    switch (row.field) {
    case "prompt":
    case "question":
    case "message":
        // below 20 without the invisible characters
        return [...row.shown.replace(/\\u(\{\w+\}|\w{4})/g, "").trim()].length < 20 ? [{ message: row.text }, "elicit_confirm"]
            : [choice({ prompt: row.text, options, destructive: !!row.destructive })];
    case "title":
        return [choice({ title: row.text, options })];
    case "label":
        return [choice({ options: [{ ...options[0], label: row.text }, options[1]] })];
    case "description":
        return [choice({ options: [{ ...options[0], description: row.text }, options[1]] })];
    case "preview":
        return [choice({ options: [{ ...options[0], preview: row.text }, options[1]] })];
    case "placeholder":
        return [choice({ selection_mode: "hybrid", options, placeholder: row.text })];
    default:
        return [choice({ options: [{ ...options[0], id: row.field === "id" ? row.text : "a" }, options[1]] })];
    }
}

const PLACES = {
    title: "h1 bdi", label: ".opt label .txt bdi >> nth=0", description: ".opt .desc > span >> nth=0", preview: ".pv pre",
};
const letters = (text) => text.replace(/[\s*_`#>~\\[\]()!+.-]/g, ""); // Markdown's marks may be missing

test("A6 R7.6 R6.5 every string of the corpus is shown exactly, and nothing happens", async () => {
    const page = await stage.page("", context);
    let shown = 0;
    for (const row of CASES) {
        const [args, tool] = carrying(row);
        const asked = await agent.ask(args, tool);
        await page.goto(`${stage.origin}/choice/${asked.id}`);
        await page.locator(".ask").waitFor();
        const place = PLACES[row.field];
        if (place) {
            const node = page.locator(place).first();
            assert.equal(await node.evaluate((n) => n.textContent), row.shown, row.id);
            assert.equal(await node.evaluate((n) => n.childElementCount), 0, row.id);
        } else if (row.field === "prompt" || row.field === "message") {
            const prose = page.locator(tool ? "h1 bdi, .prose" : ".prose").first();
            const text = await prose.evaluate((n) => n.textContent);
            assert.equal(letters(text), letters(row.shown.replace(/^\s*[-*+] /gm, "")), row.id);
        }
        if (row.flag === "bidi" || row.flag === "invisible")
            assert.ok(await page.getByText("hidden characters").count(), `${row.id} is marked`);
        if (row.flag === "mixed_script")
            assert.ok(await page.getByText("mixed scripts").count(), `${row.id} is marked`);
        if (row.destructive) {
            assert.ok(await sendButton(page).isDisabled() || await page.locator("#prompt-end").evaluate((node) =>
                node.getBoundingClientRect().bottom <= innerHeight), `${row.id}: its end was not seen`);
        }
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${row.id} makes the page no wider`);
        assert.equal(await page.title(), "(1) sayso", row.id);
        assert.equal(await page.locator("#main script, #main img, #main iframe, #main a[href^=http], #main [style], #main form form").count(), 0, row.id);
        await stage.home.must("cancel", asked.id);
        shown++;
    }
    assert.equal(shown, CASES.length);
    assert.deepEqual(context.complaints, [], "no script error, no report of the policy, no dialog");
    assert.deepEqual(context.requests.filter((url) => !url.startsWith(stage.origin) && !url.startsWith("data:")), []);
    console.log(`# counted: ${shown} strings shown`);
    await page.close();
});

test("B5 A6 every string of the corpus as the name and directory of an agent, as question, tab and note", async () => {
    const page = await stage.page("", context);
    for (const row of CASES) {
        const cut = [...row.text].slice(0, 60).join("");
        const liar = stage.agent(cut, `/tmp/${cut}`);
        const questions = [1, 2].map((n) => ({ question: `${n} ${cut}`, header: [...cut].slice(0, 12).join(""),
            options: [{ label: "Alpha", description: cut, preview: cut }, { label: "Beta" }] }));
        const asked = await liar.ask({ title: "By a liar", questions }, "ask_user_question");
        await page.goto(`${stage.origin}/choice/${asked.id}`);
        await page.locator(".ask").waitFor();
        const who = await page.locator(".who b").textContent();
        assert.match(who, /^“[^]*”$/, `${row.id}: what it calls itself stands in quotes`);
        assert.match(await page.locator(".facts").textContent(), /you, PID \d+/, row.id);
        const dirty = await page.locator("#main, .side").evaluateAll((nodes) => nodes.map((n) => n.textContent).join("")
            .match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\ufeff]|[\u{e0000}-\u{e007f}]/u)?.[0] ?? "");
        assert.equal(dirty, "", `${row.id} shows U+${dirty.codePointAt(0)?.toString(16)}`);
        await page.locator("#fn").fill(row.text);
        assert.equal(await page.locator("#main script, #main img, #main iframe, #main a[href^=http], #main [style]").count(), 0, row.id);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${row.id} makes the page no wider`);
        await stage.home.must("cancel", asked.id);
        liar.leave();
    }
    assert.deepEqual(context.complaints, []);
    assert.deepEqual(context.requests.filter((url) => !url.startsWith(stage.origin) && !url.startsWith("data:")), []);
    await page.close();
});

test("B12 a question that mentions a secret says: put none into the answer", async () => {
    const asked = await agent.ask(choice({ title: "Which database password shall I use?" }));
    const page = await stage.page(`/choice/${asked.id}`, context);
    await page.getByText("This question mentions a secret.").waitFor();
    await stage.home.must("cancel", asked.id);
    await page.close();
});

test("A1-A5 A7 a page on another port reads nothing, changes nothing, frames nothing", async () => {
    const asked = await agent.ask(choice({ title: "Untouched" }));
    const mine = await stage.page(`/choice/${asked.id}`, context);
    const token = await mine.evaluate(() => sessionStorage.getItem("sayso-token"));
    const before = await stage.home.must("show", asked.id, "--json");
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
    const tried = await page.evaluate(async ({ origin, id }) => {
        const out = {};
        const attempt = async (name, act) => {
            try {
                out[name] = await act();
            } catch (error) {
                out[name] = `failed`;
            }
        };
        await attempt("read", async () => (await fetch(`${origin}/api/asks`)).status);
        await attempt("simple post", async () => (await fetch(`${origin}/api/asks/${id}/answer`,
            { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body: '{"selected_ids":["redis"]}' })).type);
        await attempt("beacon", async () => navigator.sendBeacon(`${origin}/api/asks/${id}/cancel`, "{}"));
        await attempt("form", () => new Promise((resolve) => {
            const form = document.createElement("form");
            const frame = document.createElement("iframe");
            frame.name = "target";
            frame.onload = () => resolve("sent");
            document.body.append(frame, form);
            Object.assign(form, { method: "post", target: "target", action: `${origin}/api/asks/${id}/cancel` });
            form.submit();
            setTimeout(() => resolve("sent"), 1000);
        }));
        await attempt("socket", () => new Promise((resolve) => {
            const socket = new WebSocket(`${origin.replace("http", "ws")}/ws`);
            socket.onmessage = () => resolve("message");
            socket.onopen = () => resolve("open");
            socket.onclose = socket.onerror = () => resolve("closed");
        }));
        await attempt("frame", () => new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.src = `${origin}/choice/${id}`;
            frame.onload = () => {
                try {
                    resolve(frame.contentDocument ? "readable" : "blank");
                } catch {
                    resolve("blank");
                }
            };
            document.body.append(frame);
            setTimeout(() => resolve("blank"), 1500);
        }));
        await attempt("storage", async () => sessionStorage.length);
        await attempt("cookie", async () => document.cookie);
        return out;
    }, { origin: stage.origin, id: asked.id });
    assert.equal(tried.read, "failed");
    assert.equal(tried.socket, "closed");
    assert.equal(tried.frame, "blank");
    assert.equal(tried.storage, 0);
    assert.equal(tried.cookie, "");
    await page.goto(`http://rebind.example:${stage.home.hub().port}/`).catch(() => {});
    assert.doesNotMatch(await page.content(), /app\.[0-9a-f]+\.js/, "a rebinding name gets no page");
    assert.equal(JSON.parse(await stage.home.must("show", asked.id, "--json")).ask.status, JSON.parse(before).ask.status);
    assert.ok(await mine.locator(".ask").isVisible());
    const said = JSON.stringify(received);
    assert.ok(!said.includes(token), "no header of ours carried the token away");
    assert.equal(received.filter((row) => row.headers.cookie || row.headers.referer?.includes("choice")).length, 0);
    const log = readFileSync(`${stage.home.data}/hub.log`, { encoding: "utf8", flag: "a+" });
    assert.ok(!log.includes(token));
    await page.close();
    await mine.close();
});

test("A8 a page of a public address is stopped by the browser too, where it is asked to", async () => {
    const port = foreign.address().port;
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox",
        `--ip-address-space-overrides=127.0.0.1:${port}=public`] });
    try {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${port}/`);
        assert.deepEqual(await page.evaluate(async (origin) => [
            await fetch(`${origin}/healthz`, { mode: "no-cors" }).then(() => "reached", () => "stopped"),
            await new Promise((resolve) => {
                const socket = new WebSocket(`${origin.replace("http", "ws")}/ws`);
                socket.onopen = () => resolve("reached");
                socket.onerror = () => resolve("stopped");
            })], stage.origin), ["stopped", "stopped"]);
    } finally {
        await browser.close();
    }
});

test("A9 C3 the token is in no history, no cache, no log and no Referer; the code that a history has is spent", async () => {
    const asked = await agent.ask(choice({ title: "Leaves no trace" }));
    const profile = mkdtempSync(path.join(tmpdir(), "sayso-profile-"));
    const link = await stage.link(asked.id);
    const code = link.split("#code=")[1];
    const held = received.length;
    try {
        const own = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM, args: ["--no-sandbox"] });
        const page = await own.newPage();
        await page.goto(link);
        await page.locator(".ask").waitFor();
        assert.equal(new URL(page.url()).hash, "");
        const token = await page.evaluate(() => sessionStorage.getItem("sayso-token"));
        const other = `http://127.0.0.1:${foreign.address().port}`;
        await page.evaluate((to) => {
            location.href = to;
        }, `${other}/after`);
        await page.waitForURL(`${other}/after`);
        assert.deepEqual(await own.cookies(), []);
        await own.close();
        const said = received.slice(held);
        assert.ok(said.length > 0 && said.every((row) => !row.headers.cookie && !row.headers.referer?.startsWith(stage.origin)), JSON.stringify(said));
        const files = readdirSync(profile, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
            .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
        const holding = (secret) => files.filter((name) => readFileSync(name).includes(secret))
            .map((name) => path.relative(profile, name));
        assert.deepEqual(holding(token).filter((name) => !/Session Storage/.test(name)), []);
        const log = readFileSync(`${stage.home.data}/hub.log`, { encoding: "utf8", flag: "a+" });
        assert.ok(!log.includes(token) && !log.includes(code));
    } finally {
        rmSync(profile, { recursive: true, force: true });
    }
    const late = await (await stage.context()).newPage();
    await late.goto(link);
    await late.getByText("already used or has expired").waitFor();
    await late.context().close();
    await stage.home.must("cancel", asked.id);
});

test("B4 a flood of asks: one notification, and the page stays with what it shows", async () => {
    const first = await agent.ask(choice({ title: "The one I read" }));
    const page = await stage.open(first, context);
    await page.locator(".opt input").nth(1).focus();
    const flood = stage.agent("flood", "/tmp");
    await flood.ready;
    for (let i = 0; i < 200; i++)
        flood.call("ask/create", { tool: "provide_choice", arguments: choice({ title: `Flood ${i}` }) });
    await until(async () => Number(await page.locator(".side-seg .n").textContent()) >= 200, "they are all in the list");
    assert.equal(await page.locator("h1").textContent(), "The one I read");
    assert.equal(await page.evaluate(() => document.activeElement.value), "view");
    await page.close();
});
