// raw.mjs - a client that writes what it is told, byte for byte, with a judge on the other side.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { SLACK } from "./home.mjs";
import { CAPABILITIES_KEY, Judge, VERSION_KEY } from "./judge.mjs";
import { MODERN } from "./schema.mjs";
import { opening } from "./asks.mjs";

export const HANG_MS = 60000 * SLACK; // only catches hangs, also on a busy machine
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";

export class Raw {
    // `isBare`: without a process; a kind of its own sends and hears (web.mjs).
    constructor(home, { args = [], name = "raw", version = "1", capabilities = {}, options = {}, program, judge = new Judge(), isBare = false } = {}) {
        this.home = home;
        this.name = name;
        this.version = version;
        this.capabilities = capabilities;
        this.judge = judge;
        this.revision = MODERN; // until initialize
        this.nextId = 1;
        this.messages = []; // all that came, in order
        this.waiting = []; // {isMeant, resolve}
        this.rest = Buffer.alloc(0);
        this.stderr = "";
        if (isBare)
            return;
        this.child = home.spawn(["mcp", ...args], options, program);
        this.exited = new Promise((resolve) => {
            this.child.on("close", (code, signal) => resolve({ code, signal }));
        });
        this.child.stdin?.on("error", () => {}); // it may be gone: that shows as its exit
        this.child.stdout?.on("data", (bytes) => this.take(bytes));
        this.child.stderr?.on("data", (bytes) => { this.stderr += bytes; });
        home.endings.push(() => this.stop());
    }

    take(bytes) {
        this.rest = Buffer.concat([this.rest, bytes]);
        for (let end; (end = this.rest.indexOf(10)) >= 0; this.rest = this.rest.subarray(end + 1)) {
            const message = this.judge.received(this.rest.subarray(0, end).toString("utf8"));
            if (message !== null)
                this.handOut(message);
        }
    }

    handOut(message) {
        this.messages.push(message);
        const at = this.waiting.findIndex(({ isMeant }) => isMeant(message));
        if (at >= 0)
            this.waiting.splice(at, 1)[0].resolve(message);
    }

    // The first message (also of those that came already) that is meant.
    async next(isMeant, limit_ms = HANG_MS) {
        const found = this.messages.find(isMeant);
        if (found)
            return found;
        const stop = new AbortController();
        const came = new Promise((resolve) => this.waiting.push({ isMeant, resolve }));
        const late = sleep(limit_ms, null, { signal: stop.signal, ref: true }).then(() => {
            const last = JSON.stringify(this.messages.at(-1));
            throw new Error(`no such message in ${limit_ms} ms: ${isMeant}; stderr: ${this.stderr}; last: ${last}`);
        });
        late.catch(() => {});
        const gone = this.exited.then(({ code, signal }) => {
            throw new Error(`the server ended (${code ?? signal}) before ${isMeant}; stderr: ${this.stderr}`);
        });
        gone.catch(() => {});
        try {
            return await Promise.race([came, late, gone]);
        } finally {
            stop.abort();
        }
    }

    // Bytes as they are; the line's end is added.
    line(bytes) {
        this.judge.sentLine(bytes);
        this.child.stdin.write(Buffer.concat([Buffer.from(bytes), Buffer.from("\n")]));
    }

    send(message) {
        this.judge.sent(message);
        this.child.stdin.write(`${JSON.stringify(message)}\n`);
    }

    // params as this client's revision wants them.
    envelope(params = {}) {
        if (this.revision !== MODERN)
            return params;
        const client = { name: this.name, version: this.version };
        const meta = { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: this.capabilities, [CLIENT_KEY]: client };
        return { ...params, _meta: { ...meta, ...params._meta } };
    }

    // Sends a request and returns its id.
    start(method, params, id = this.nextId++) {
        this.send({ jsonrpc: "2.0", id, method, params: this.envelope(params) });
        return id;
    }

    answer(id, limit_ms) {
        return this.next((message) => message.id === id && !message.method, limit_ms);
    }

    async request(method, params, limit_ms) {
        return this.answer(this.start(method, params), limit_ms);
    }

    notify(method, params) {
        this.send({ jsonrpc: "2.0", method, params });
    }

    // Legacy by the handshake, modern by what every request carries.
    async open(revision) {
        if (revision === MODERN)
            return (await this.request("server/discover")).result;
        this.revision = revision;
        const answer = await this.request("initialize", opening(revision, this.name, this.capabilities, this.version));
        assert.equal(answer.result.protocolVersion, revision);
        this.notify("notifications/initialized", {});
        return answer.result;
    }

    startTool(name, args, meta, id) {
        return this.start("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) }, id);
    }

    // The result as an object, from structured content where the revision has it.
    async tool(name, args, limit_ms) {
        return outcome(await this.answer(this.startTool(name, args), limit_ms));
    }

    async collect(id, limit_ms) {
        return outcome(await this.answer(id, limit_ms));
    }

    // Ends it as clients do; the code must be 0 and nothing it said may be wrong.
    async stop() {
        if (this.child.exitCode === null && this.child.signalCode === null) {
            this.child.stdin?.end();
            const killer = setTimeout(() => this.child.kill("SIGKILL"), HANG_MS);
            await this.exited;
            clearTimeout(killer);
            assert.equal(this.child.signalCode, null, "it did not end when its input did");
            assert.equal(this.child.exitCode, 0, this.stderr);
        }
        await this.exited;
        assert.equal(this.rest.length, 0, "half a line was left");
        assert.doesNotMatch(this.stderr, /Sanitizer|runtime error/);
        this.judge.verdict();
    }

    // As a crash would.
    async kill(signal = "SIGKILL") {
        this.child.kill(signal);
        const ending = await this.exited;
        this.rest = Buffer.alloc(0); // half a line is what a crash leaves
        return ending;
    }

    async ended(limit_ms = HANG_MS) {
        const ending = await Promise.race([this.exited, sleep(limit_ms, "still there")]);
        assert.deepEqual(ending, { code: 0, signal: null }, this.stderr);
    }
}

// For what must not wait: `act` returns how long it took, and on a busy machine one try of several shows it.
export async function atOnce(act, limit_ms, what) {
    const took_ms = [];
    while (took_ms.length < 5) {
        took_ms.push(await act());
        if (took_ms.at(-1) < limit_ms)
            return;
    }
    assert.fail(`${what} took ${took_ms} ms`);
}

export function outcome(message) {
    if (message.error)
        throw Object.assign(new Error(JSON.stringify(message.error)), message.error);
    const { result } = message;
    return result.structuredContent ?? JSON.parse(result.content[0].text);
}

export async function opened(home, revision, settings) {
    const client = new Raw(home, settings);
    await client.open(revision);
    return client;
}

