// web.mjs - a hub with a port and a token, and a client of its /mcp that sends what it is told.
import assert from "node:assert/strict";
import http from "node:http";
import { once } from "node:events";
import { VERSION_KEY } from "./judge.mjs";
import { Raw } from "./raw.mjs";
import { MODERN } from "./schema.mjs";
import { until } from "./home.mjs";

// The hub of this home, started once; where it is and what opens it. A port stays its own.
export function web(home) {
    home.webStart ??= (async () => {
        if (home.hubPid())
            home.web = at(home.hub().port); // a front started it
        else
            await startHub(home);
        home.web.token = await newToken(home, "test");
        return home.web;
    })();
    return home.webStart;
}

const at = (port) => ({ port, url: `http://127.0.0.1:${port}/mcp` });

export async function newToken(home, label) {
    return JSON.parse(await home.must("token", "new", "--label", label, "--json")).token;
}

// Again after it was ended; on the same port, where clients look for it.
export async function startHub(home) {
    const child = home.spawn(["serve", "--json"], { env: { ...home.env, SAYSO_PORT: String(home.web?.port ?? 0) } });
    let said = "", problems = "";
    child.stdout.on("data", (bytes) => { said += bytes; });
    child.stderr.on("data", (bytes) => { problems += bytes; });
    home.endings.push(() => assert.doesNotMatch(problems, /Sanitizer|runtime error/));
    const port = await until(() => said.includes("\n") && JSON.parse(said).port, `a hub with a port: ${problems}`);
    assert.ok(!home.web || home.web.port === port, "the port is another one");
    home.web ??= at(port);
}

// Calls `see` with every event of a stream of server-sent events, as {id, event, data}.
export function eventReader(see) {
    let rest = "";
    return (text) => {
        const blocks = (rest + text).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) {
            const event = {};
            for (const line of block.split("\n")) {
                const [, field, value] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
                if (field === "data" && "data" in event)
                    event.data += `\n${value}`;
                else if (field)
                    event[field] = value;
            }
            if (Object.keys(event).length)
                see(event);
        }
    };
}

// Statuses of the gate, which speaks no JSON-RPC.
const GATE = [401, 403, 413, 415];

// Headers as a client of that revision sends them with a message.
export function headersFor(revision, token, sessionId, message) {
    const headers = {
        "Authorization": `Bearer ${token}`,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    };
    if (revision === MODERN) {
        headers["MCP-Protocol-Version"] = message?.params?._meta?.[VERSION_KEY] ?? MODERN;
        if (message?.method && message.id !== undefined)
            headers["Mcp-Method"] = message.method;
        const name = message?.params?.name ?? message?.params?.uri;
        if (typeof name === "string")
            headers["Mcp-Name"] = /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString("base64")}?=`;
    } else if (sessionId) {
        headers["Mcp-Session-Id"] = sessionId;
        if (revision >= "2025-06-18")
            headers["MCP-Protocol-Version"] = revision;
    }
    return headers;
}

// The interface of Raw over HTTP: each message is a POST of its own. All that comes back is judged.
export class RawHttp extends Raw {
    constructor(home, settings = {}) {
        super(home, { ...settings, isBare: true });
        this.judge.isOneStream = false;
        this.web = { ...home.web, token: settings.token ?? home.web.token };
        this.agent = new http.Agent({ keepAlive: true });
        this.replies = []; // {message, status, type, events}
        this.exited = new Promise(() => {});
        this.closed = false;
        home.endings.push(() => this.stop());
    }

    line(bytes) {
        this.judge.sentLine(bytes);
        let message = null;
        try {
            message = JSON.parse(bytes.toString());
        } catch {
            // it is what it is
        }
        this.post(bytes, message);
    }

    send(message) {
        this.judge.sent(message);
        return this.post(Buffer.from(JSON.stringify(message)), message);
    }

    headers(message) {
        return headersFor(this.revision, this.web.token, this.sessionId, message);
    }

    // Resolves when the reply is over, however it ended.
    async post(bytes, message, headers = this.headers(message)) {
        const reply = { message, events: [], status: null };
        this.replies.push(reply);
        const sent = http.request(this.web.url, { method: "POST", agent: this.agent, headers: { ...headers, "Content-Length": bytes.length } });
        reply.sent = sent;
        sent.on("error", (problem) => { reply.problem = problem; });
        sent.end(bytes);
        const came = await Promise.race([once(sent, "response").then(([response]) => response, () => null), once(sent, "close").then(() => null)]);
        if (came)
            await this.read(reply, came);
        return reply;
    }

    async read(reply, came) {
        reply.status = came.statusCode;
        reply.type = came.headers["content-type"];
        reply.response = came;
        if (reply.message?.method === "initialize" && came.headers["mcp-session-id"])
            this.sessionId = came.headers["mcp-session-id"];
        came.setEncoding("utf8");
        let body = "";
        const seeEvent = eventReader((event) => {
            reply.events.push(event);
            if (event.data)
                this.hear(event.data);
        });
        const isStream = reply.type === "text/event-stream";
        came.on("data", (text) => (isStream ? seeEvent(text) : (body += text)));
        came.on("error", (problem) => { reply.problem = problem; });
        await new Promise((resolve) => came.on("close", resolve));
        reply.isWhole = came.complete;
        if (!isStream && body && came.complete && GATE.includes(came.statusCode))
            this.handOut({ refused: came.statusCode });
        else if (!isStream && body && came.complete)
            this.hear(body.trimEnd());
        if (came.statusCode === 202)
            assert.equal(body, "");
    }

    hear(line) {
        const message = this.judge.received(line);
        if (message !== null)
            this.handOut(message);
    }

    // As a client that crashes: every connection is reset.
    async kill() {
        this.closed = true;
        for (const { sent } of this.replies)
            sent.destroy();
        this.agent.destroy();
    }

    async stop() {
        if (this.closed)
            return;
        this.closed = true;
        for (const { sent, response } of this.replies) {
            if (!response?.complete)
                sent.destroy();
        }
        this.agent.destroy();
        this.judge.verdict();
    }
}

export async function openedHttp(home, revision, settings = {}) {
    await web(home);
    const client = new RawHttp(home, settings);
    await client.open(revision);
    return client;
}
