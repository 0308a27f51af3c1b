// stage.mjs - a real hub, real agents on its socket, and Chromium with a signed-in page.
import assert from "node:assert/strict";
import net from "node:net";
import { chromium } from "playwright-core";
import { Home, SLACK, until } from "../../mcp/lib/home.mjs";

export { until };
export const CHROMIUM = process.env.SAYSO_CHROMIUM ?? "/usr/bin/chromium-headless-shell"; // without windows: a third of the CPU time
const DEAD_MS = 500; // web/js/guard.js: so long nothing answers, from the first picture on
const LATER_MS = 20; // we and the page look at its clock one after the other

// In the page: when the question was last drawn, or its window came to the front.
function watchDrawing() {
    const drawn = () => {
        window.drawnAt = Infinity;
        requestAnimationFrame(() => {
            window.drawnAt = performance.now();
        });
    };
    new MutationObserver((changes) => changes.some(({ target }) => target.id === "main") && drawn())
        .observe(document, { childList: true, subtree: true });
    addEventListener("focus", drawn);
    document.addEventListener("visibilitychange", drawn);
    drawn();
}

// Before its first page.
export const watchContext = (context) => context.addInitScript(watchDrawing);

// Past the half second in which nothing answers, by the page's own clock.
export function answerable(page) {
    return page.evaluate(async (dead_ms) => {
        for (let left_ms; (left_ms = window.drawnAt + dead_ms - performance.now()) > 0;)
            await new Promise((resolve) => setTimeout(resolve, Math.min(left_ms, 100)));
    }, DEAD_MS + LATER_MS);
}

// One agent on the hub's socket: asks, and is told what came of it.
export class Agent {
    constructor(home, name = "claude-code", directory = "/home/me/src/shop-api", more = {}) {
        this.replies = new Map();
        this.created = [];
        this.id = 0;
        this.buffer = "";
        this.socket = net.connect(home.hub().socket);
        this.socket.setEncoding("utf8");
        this.socket.on("data", (text) => this.hear(text));
        this.socket.on("error", () => {});
        this.ready = this.call("hello", { wire: 1, version: "0", role: "agent", name, directory, ...more });
    }

    hear(text) {
        this.buffer += text;
        for (let end; (end = this.buffer.indexOf("\n")) >= 0;) {
            const message = JSON.parse(this.buffer.slice(0, end));
            this.buffer = this.buffer.slice(end + 1);
            if (message.method === "ask/created")
                this.created.push(message.params);
            this.replies.get(message.id)?.(message);
        }
    }

    call(method, params) {
        const id = ++this.id;
        const reply = new Promise((resolve) => this.replies.set(id, resolve));
        this.socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
        return reply;
    }

    // An ask that waits: its id, and a promise of its result.
    async ask(args, tool = "provide_choice") {
        await this.ready;
        const tag = `t${this.id}`;
        const result = this.call("ask/create", { tool, arguments: args, tag });
        const refused = result.then((reply) => reply.error && assert.fail(JSON.stringify(reply.error)));
        const { session_id } = await Promise.race([refused,
            until(() => this.created.find((row) => row.tag === tag), "the ask is stored")].map((p) => p)).then((row) =>
            row ?? assert.fail("the ask was over at once"));
        return { id: session_id, result: result.then(async (reply) => {
            await this.call("ask/delivered", { session_ids: [session_id] }); // or it is anybody's who asks the same
            return reply.result;
        }) };
    }

    leave() {
        this.socket.destroy();
    }
}

export const OPTIONS = [
    { id: "redis", label: "Redis, write-through", description: "One more service to run.", recommended: true },
    { id: "view", label: "Materialized view", description: "Stock may be 5 s old." },
    { id: "none", label: "Leave it as it is" },
];

export const choice = (more = {}) => ({
    title: "Which cache should the product page use?",
    prompt: "The product page reads stock levels **1,200 times a second**. A cache would fix it, so I need your call.\n\n- Target: `80 ms`",
    selection_mode: "single",
    options: OPTIONS,
    timeout_seconds: 600,
    ...more,
});

// A hub and a browser for one file of tests.
export class Stage {
    static async open(env = {}) {
        const stage = new Stage();
        stage.home = await Home.made({ CHOICE_LANG: "en", SAYSO_BROWSER: "off", SAYSO_KEEP_SIGNED_IN: "off", ...env });
        stage.agents = [];
        await stage.serve();
        stage.browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox",
            "--host-resolver-rules=MAP rebind.example 127.0.0.1"] });
        return stage;
    }

    async serve(how = ["--no-browser"]) {
        this.server = this.home.spawn(["serve", ...how], { stdio: ["ignore", "ignore", "ignore"] });
        await until(() => this.home.hub().port && this.home.hubPid(), "the hub is up");
        // the same port again after a restart, as on a person's machine
        this.home.env.SAYSO_PORT = String(this.home.hub().port);
    }

    get origin() {
        return `http://127.0.0.1:${this.home.hub().port}`;
    }

    // `more`: what else it says of itself, such as its transport or language.
    agent(name, directory, more) {
        const agent = new Agent(this.home, name, directory, more);
        this.agents.push(agent);
        return agent;
    }

    // A link that signs in, as `sayso open` prints it.
    async link(id) {
        const out = await this.home.must("open", ...id ? [id] : []);
        return /http:\/\/\S+#code=\S+/.exec(out)[0];
    }

    // A browser profile of its own; what its pages complain about fails the test that asks.
    async context(options = {}) {
        const context = await this.browser.newContext({
            viewport: { width: 1440, height: 900 }, locale: "en-US", ...options,
        });
        context.setDefaultTimeout(60000 * SLACK); // only catches hangs
        await watchContext(context);
        context.complaints = [];
        context.requests = [];
        context.on("page", (page) => {
            page.on("console", (message) => ["error", "warning"].includes(message.type()) &&
                !/WebSocket|ERR_CONNECTION/.test(message.text()) && context.complaints.push(message.text()));
            page.on("pageerror", (error) => context.complaints.push(error.stack));
            page.on("dialog", (dialog) => context.complaints.push(`dialog ${dialog.message()}`) && dialog.dismiss());
            page.on("request", (request) => context.requests.push(request.url()));
        });
        return context;
    }

    async page(path = "", context = null) {
        const found = /^\/choice\/([a-z2-7]+)$/.exec(path);
        const owner = context ?? await this.context();
        const page = await owner.newPage();
        await page.goto(await this.link(found?.[1]));
        await page.locator(".conn[data-conn=on]").waitFor();
        if (path && !found) {
            await page.goto(this.origin + path);
            await page.locator(".conn[data-conn=on]").waitFor({ state: "attached" });
        }
        return page;
    }

    // Until the hub has this text in the draft: the page may still say that an earlier draft is saved.
    async drafted(asked, text) {
        await until(async () => (await this.home.must("show", asked.id, "--json")).includes(JSON.stringify(text)), "the draft is with the hub");
    }

    // A page that shows this ask, and is past the half second in which nothing answers.
    async open(ask, context = null) {
        const page = await this.page(`/choice/${ask.id}`, context);
        await page.locator("h1").waitFor();
        await answerable(page);
        return page;
    }

    async close() {
        for (const agent of this.agents)
            agent.leave();
        await this.browser.close();
        await this.home.stop();
    }
}

// The row of an option, as a person would click it.
export const option = (page, text) => page.locator(".ask .opt:visible", { hasText: text }).locator("> label");
export const sendButton = (page) => page.locator(".act .primary");

// Sends an answer without waiting for its undo window to end.
export async function sendNow(page) {
    await page.getByRole("heading", { name: /Sending to the agent/ }).waitFor();
    await page.getByRole("button", { name: "Send now" }).click();
    await page.getByRole("heading", { name: /Sending to the agent/ }).waitFor({ state: "detached" });
}
