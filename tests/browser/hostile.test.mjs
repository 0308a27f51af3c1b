// hostile.test.mjs - what agents wrote does nothing in the page, and other pages get nothing from the hub.
// Proves: R6.5 R7.6
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http from "node:http";
import { after, before, test } from "node:test";
import { ROOT } from "../mcp/lib/home.mjs";
import { Stage, choice, until } from "./lib/stage.mjs";

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
        return [...row.text].length < 20 ? [{ message: row.text }, "elicit_confirm"] : [choice({ prompt: row.text, options })];
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
        let asked;
        try {
            asked = await agent.ask(args, tool);
        } catch (error) {
            assert.match(error.message, /too_short|empty|indistinguishable|not valid|control|bad_|_id/, `${row.id}: ${error.message}`);
            continue; // refused before anybody sees it
        }
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
        assert.equal(await page.locator("#main script, #main img, #main iframe, #main a[href^=http], #main [style], #main form form").count(), 0, row.id);
        await stage.home.must("cancel", asked.id);
        shown++;
    }
    assert.ok(shown >= 15, `${shown} of ${CASES.length} were shown`);
    assert.deepEqual(context.complaints, [], "no script error, no report of the policy, no dialog");
    assert.deepEqual(context.requests.filter((url) => !url.startsWith(stage.origin) && !url.startsWith("data:")), []);
    console.log(`# counted: ${shown} strings shown, ${CASES.length - shown} refused`);
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
