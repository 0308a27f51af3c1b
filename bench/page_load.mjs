// page_load.mjs - how long a person waits for a question: Chromium, a signed-in tab, the real hub.
//
//   page_load.mjs COUNT      SAYSO_BIN is the program that is measured
//
// The tab goes COUNT times to the page of an ask, with a full cache and with an emptied one, in turns with
// a page of another server that holds the same words and nothing else. The time runs from the navigation's
// start to the first frame with the question on it. Prints one JSON object: every time in milliseconds, and
// what the page's files weigh on the line.
import http from "node:http";
import { choice, Stage } from "../tests/browser/lib/stage.mjs";

const WARM_UP = 3;
const count = Number(process.argv[2] ?? 10);

// In the page, before anything of it runs: when the question stood in a frame that was shown.
function watchForQuestion(title) {
    globalThis.questionSeen = new Promise((resolve) => {
        const look = () => {
            if (document.querySelector("h1")?.textContent !== title)
                return;
            watcher.disconnect();
            requestAnimationFrame(() => { // the channel's turn comes after the frame was made
                const { port1, port2 } = new MessageChannel();
                port1.onmessage = () => resolve(performance.now());
                port2.postMessage(0);
            });
        };
        const watcher = new MutationObserver(look);
        watcher.observe(document, { childList: true, subtree: true });
    });
}

function serveBare() {
    const { title, prompt, options } = choice();
    const page = `<!doctype html><meta charset="utf-8"><title>bare</title><h1>${title}</h1><p>${prompt}</p>` +
        options.map(({ label }) => `<p>${label}</p>`).join("");
    const server = http.createServer((request, reply) => reply.writeHead(200, { "Content-Type": "text/html" }).end(page));
    return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function visit(page, address) {
    await page.goto(address, { waitUntil: "commit" });
    return page.evaluate(() => globalThis.questionSeen);
}

// Bytes on the line until the question is there: heads and bodies, as the browser counts them.
async function weigh(session, page, address) {
    const files = {};
    const names = new Map();
    session.on("Network.requestWillBeSent", ({ requestId, request }) => names.set(requestId, new URL(request.url).pathname));
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
        files[names.get(requestId) ?? requestId] = encodedDataLength;
    });
    await session.send("Network.clearBrowserCache");
    await page.goto(address, { waitUntil: "networkidle" });
    session.removeAllListeners("Network.requestWillBeSent");
    session.removeAllListeners("Network.loadingFinished");
    return files;
}

const stage = await Stage.open();
const bare = await serveBare();
try {
    const ask = await stage.agent().ask(choice({ timeout_seconds: 3600 }));
    const page = await stage.page();
    const other = await page.context().newPage();
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const address = `${stage.origin}/choice/${ask.id}`;
    const files = await weigh(session, page, address);
    for (const tab of [page, other])
        await tab.addInitScript(watchForQuestion, choice().title);
    const times = { full_cache: [], empty_cache: [], bare: [] };
    for (let i = -WARM_UP; i < count; i++) {
        const one = { full_cache: await visit(page, address) };
        one.bare = await visit(other, `http://127.0.0.1:${bare.address().port}/`);
        await session.send("Network.clearBrowserCache");
        one.empty_cache = await visit(page, address);
        for (const [name, ms] of Object.entries(one))
            if (i >= 0)
                times[name].push(Number(ms.toFixed(1)));
    }
    console.log(JSON.stringify({ times, files, bytes: Object.values(files).reduce((sum, bytes) => sum + bytes, 0) }));
} finally {
    bare.close();
    await stage.close();
}
