// fronts.mjs - every way in which an agent asks, with one face:
//   call(tool, arguments)  → { said, leave, shown? }: `said` is a promise of { ending, back?, isReplayed? }, or of { text } for a tool of
//                          another server, which has other words; leave() is what an agent does that gives up on this call,
//                          `shown` a promise that the ask is on the screen of the one who called
//   another()              the same agent in another process or session
//   withdraw(id)           the agent withdraws its ask
//   hasCompat, waitsOn     it has the tools of other servers; a follow-up question does not end its call
//   words                  where it has fewer words for endings than there are
//   only, without          the cases that it has, where it does not have all; the endings that it can't have
import assert from "node:assert/strict";
import path from "node:path";
import http from "node:http";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exchange, JSON_TYPE } from "./exchange.mjs";
import { BIN, ROOT } from "./home.mjs";
import { Raw } from "./raw.mjs";
import { MODERN } from "./schema.mjs";
import { eventReader, RawHttp, web } from "./web.mjs";
import { Person } from "./wire.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LEGACY = "2025-11-25";
const NAME = "walker";
// What a result is in, by the tool that asked; compat tools are in none of them.
export const WORDS = {
    action_status: { selected: "answered", custom_input: "answered", cancelled: "cancelled", timeout: "timeout", pending: "pending" },
    action: { accept: "answered", decline: "declined", cancel: "cancelled", timeout: "timeout", pending: "pending" },
    status: { answered: "answered", cancelled: "cancelled", timeout: "timeout", pending: "pending" },
};
// Other tests judge every line. Here the tools of other servers are called as well, whose shapes are not ours.
const NO_JUDGE = { sent() {}, sentLine() {}, received: (line) => JSON.parse(line), verdict() {} };

function read(result) {
    const member = Object.keys(WORDS).find((name) => name in result);
    let ending = WORDS[member][result[member]];
    if (ending === "cancelled" && result.declined)
        ending = "declined";
    if (ending === "cancelled" && result.withdrawn)
        ending = "withdrawn";
    return { ending, back: result.asked_back, isReplayed: result.replayed ?? false };
}

// What a call returned, once, and not after it was given up.
function takeOnce(calls, id, said) {
    const resolve = calls.get(id);
    assert.ok(resolve, `no call waits for this: ${JSON.stringify(said)}`);
    calls.delete(id);
    resolve(said);
}

class Mcp {
    static async open(home, way) {
        const front = Object.assign(new Mcp(), { home, way, hasCompat: true, calls: new Map() });
        front.client = await way.client(home);
        front.client.handOut = (message) => message.method || takeOnce(front.calls, message.id, message);
        return front;
    }

    call(tool, args) {
        const id = this.client.startTool(tool, args);
        const reply = this.client.replies?.at(-1); // over HTTP
        const came = new Promise((resolve) => { this.calls.set(id, resolve); });
        return {
            said: came.then((message) => this.understand(tool, message)),
            leave: () => {
                this.calls.delete(id);
                return reply && this.client.revision === MODERN ? reply.sent.destroy()
                    : this.client.notify("notifications/cancelled", { requestId: id, reason: "enough" });
            },
        };
    }

    understand(tool, message) {
        assert.ok(message.result && !message.result.isError, `${tool}: ${JSON.stringify(message)}`);
        const { content: [{ text }], structuredContent } = message.result;
        return structuredContent && "explicit" in structuredContent ? read(structuredContent) : { text };
    }

    another() {
        return Mcp.open(this.home, this.way);
    }

    withdraw(id) {
        return this.home.must("withdraw", id, ...this.way.asTheAgent(this.home));
    }
}

// The exit code says the same as the JSON.
const EXITS = { answered: 0, cancelled: 3, declined: 3, withdrawn: 3, timeout: 4, pending: 5 };

class Ask {
    static async open(home) {
        return Object.assign(new Ask(), { home });
    }

    call(tool, args) {
        const child = this.home.spawn(["ask", "--tool", tool, "--from", "-", "--json", "--as", NAME]);
        const out = [];
        child.stdin.end(JSON.stringify(args));
        child.stdout.on("data", (bytes) => out.push(bytes));
        const closed = new Promise((resolve) => { child.on("close", resolve); });
        return {
            said: closed.then((code) => {
                if (code === null) // killed
                    return {};
                const said = read(JSON.parse(Buffer.concat(out)));
                assert.equal(code, EXITS[said.ending], `exit code of ${said.ending}`);
                return said;
            }),
            leave: () => child.kill("SIGKILL"),
        };
    }

    async another() {
        return this; // each call is a process
    }

    withdraw(id) {
        return this.home.must("withdraw", id, "--as", NAME);
    }
}

const TERMINAL = { TERM: "xterm-256color", SHELL: "/bin/sh" };
const SHOWN = "\x1b[?2004h"; // it reads keys

// On a person's terminal, which shows the ask in place; script(1) is the terminal.
class AskInPlace extends Ask {
    static async open(home) {
        return Object.assign(new AskInPlace(), { home, waitsOn: true, count: 0, only: ["provide_choice", "provide_choice: text", "elicit_form"] });
    }

    call(tool, args) {
        const file = path.join(this.home.path, `asked${++this.count}`);
        writeFileSync(file, JSON.stringify(args));
        const command = `stty rows 40 cols 120; exec ${BIN} ask --tool ${tool} --from ${file} --json --as ${NAME}`;
        const child = this.home.spawn(["-qec", command, "/dev/null"], { env: { ...this.home.env, ...TERMINAL } }, "script");
        let out = "";
        const shown = new Promise((resolve) => { child.stdout.on("data", (bytes) => (out += bytes).includes(SHOWN) && resolve()); });
        const closed = new Promise((resolve) => { child.on("close", resolve); });
        return {
            shown,
            said: closed.then((code) => {
                if (code === null) // killed
                    return {};
                const [json] = out.match(/\{"action.*\}/) ?? assert.fail(`exit code ${code}: ${JSON.stringify(out)}`);
                const said = read(JSON.parse(json));
                assert.equal(code, EXITS[said.ending], `exit code of ${said.ending}`);
                return said;
            }),
            leave: () => child.kill("SIGKILL"),
        };
    }
}

export const HOOK = JSON.parse(readFileSync(path.join(ROOT, "tests/corpus/hooks.json"))).cases.find(({ client }) => client === "claude").hook;

// A client's hook, started by a client that is no part of the test: what the test's own processes answer is not the agent's.
class Gate {
    static async open(home) {
        return Object.assign(new Gate(), { home, only: ["gate"], without: [], waitsOn: true,
            words: { cancelled: "denied", declined: "denied", withdrawn: "denied" } });
    }

    call(_, { command }) {
        const child = this.home.spawn(["600", BIN, "gate"], {}, "timeout");
        const out = [];
        child.stdin.end(JSON.stringify({ ...HOOK, tool_input: { command }, tool_use_id: createHash("sha256").update(command).digest("hex") }));
        child.stdout.on("data", (bytes) => out.push(bytes));
        const closed = new Promise((resolve) => { child.on("close", resolve); });
        const leave = () => child.exitCode === null && child.signalCode === null && process.kill(-child.pid, "SIGKILL"); // timeout(1) leads a group of its own
        this.home.endings.push(leave);
        return {
            said: closed.then((code) => (code === 0 ? this.understand(JSON.parse(Buffer.concat(out)).hookSpecificOutput) : {})),
            leave,
        };
    }

    understand({ permissionDecision, permissionDecisionReason }) {
        const ending = permissionDecision === "allow" ? "answered" : /in time/.test(permissionDecisionReason) ? "timeout" : "denied";
        return { ending };
    }

    async another() {
        return this; // each call is a process
    }

    async withdraw(id) {
        const agent = await Person.at(this.home, { role: "agent", name: "sayso gate (claude)", directory: this.home.path });
        await agent.call("ask/withdraw", { session_id: id });
        agent.close();
    }
}

// An agent host: each call is a turn of a conversation of its own. Its questions can't be asked back, and it never gives up on one.
class Conversation {
    static async open(home) {
        await web(home);
        home.hostToken ??= (await home.must("token", "new", "--kind", "host", "--label", "walker", "--json").then(JSON.parse)).token;
        return Object.assign(new Conversation(), { home, only: ["ask_user_question"], without: ["asked back", "left", "withdrawn"],
            words: { declined: "cancelled" } });
    }

    call(name, input) {
        return { said: this.turn(name, input) };
    }

    async turn(name, input) {
        const { conversation } = await this.post("", {});
        await this.post(`/${conversation}/tool-calls`, { tool_calls: [{ id: "t1", name, input }] });
        const { content, is_error } = await this.result(conversation);
        const ending = !is_error ? "answered" : /in time/.test(content) ? "timeout" : "cancelled";
        return { ending };
    }

    async post(where, body) {
        const { status, body: text } = await exchange(this.home, "POST", { ...JSON_TYPE, Authorization: `Bearer ${this.home.hostToken}` },
            JSON.stringify(body), `/conversations${where}`);
        assert.ok(status === 200 || status === 201, `${where}: ${status} ${text}`);
        return JSON.parse(text);
    }

    // The one result of the turn, as the stream of events brings it.
    result(conversation) {
        return new Promise((resolve, reject) => {
            const sent = http.get(this.home.web.url.replace("/mcp", `/conversations/${conversation}/events`),
                { headers: { Authorization: `Bearer ${this.home.hostToken}` }, agent: false }, (came) => {
                    came.setEncoding("utf8");
                    came.on("error", reject);
                    came.on("data", eventReader(({ event, data }) => {
                        if (event !== "persist_tool_results")
                            return;
                        sent.destroy();
                        resolve(JSON.parse(data).results[0]);
                    }));
                });
            sent.on("error", reject);
        });
    }

    async another() {
        return this; // each call is a conversation
    }
}

const CODES = { answered: "ok", cancelled: "cancelled", declined: "declined", withdrawn: "cancelled", timeout: "timeout" };

class Library {
    static async open(home) {
        const front = Object.assign(new Library(), { home, calls: new Map(), last: 0, rest: "", waitsOn: true });
        front.child = home.spawn([path.join(HERE, "library.py"), path.join(path.dirname(BIN), "src/lib/libsayso.so"), NAME],
            { stdio: ["pipe", "pipe", "inherit"] }, "python3");
        front.child.stdout.on("data", (bytes) => front.take(bytes));
        return front;
    }

    take(bytes) {
        const lines = (this.rest + bytes).split("\n");
        this.rest = lines.pop();
        for (const line of lines) {
            const { number, code, result } = JSON.parse(line);
            const said = read(result);
            assert.equal(code, CODES[said.ending], `code of ${said.ending}`);
            takeOnce(this.calls, number, said);
        }
    }

    call(tool, args) {
        const number = ++this.last;
        const say = (message) => this.child.stdin.write(`${JSON.stringify(message)}\n`);
        say({ number, tool, arguments: args });
        const leave = () => this.calls.delete(number) && say({ drop: number });
        return { said: new Promise((resolve) => { this.calls.set(number, resolve); }), leave };
    }

    another() {
        return Library.open(this.home);
    }

    withdraw(id) {
        return this.home.must("withdraw", id, "--as", NAME);
    }
}

async function openedAs(home, revision, client) {
    await client.open(revision);
    return client;
}

const overStdio = (revision) => ({
    client: (home) => openedAs(home, revision, new Raw(home, { name: NAME, judge: NO_JUDGE, args: ["--as", NAME] })),
    asTheAgent: () => ["--as", NAME],
});

// The token that opens /mcp, in a file: with it a process on another machine is the same agent.
const farAway = (home) => ["--hub", home.web.url.replace("/mcp", ""), "--token-file", home.tokenFile];

async function withToken(home) {
    await web(home);
    if (!home.tokenFile) {
        home.tokenFile = path.join(home.path, "token");
        writeFileSync(home.tokenFile, `${home.web.token}\n`, { mode: 0o600 });
    }
}

const overHttp = (revision) => ({
    async client(home) {
        await withToken(home);
        return openedAs(home, revision, new RawHttp(home, { name: NAME, judge: NO_JUDGE }));
    },
    asTheAgent: farAway,
});

const fromFarAway = {
    async client(home) {
        await withToken(home);
        return openedAs(home, LEGACY, new Raw(home, { name: NAME, judge: NO_JUDGE, args: farAway(home) }));
    },
    asTheAgent: farAway,
};

const mcp = (way) => (home) => Mcp.open(home, way);

export const FRONTS = {
    "stdio": mcp(overStdio(LEGACY)),
    "stdio, modern": mcp(overStdio(MODERN)),
    "HTTP": mcp(overHttp(LEGACY)),
    "HTTP, modern": mcp(overHttp(MODERN)),
    "mcp --hub": mcp(fromFarAway),
    "sayso ask": Ask.open,
    "sayso ask, in place": AskInPlace.open,
    "libsayso": Library.open,
    "gate": Gate.open,
    "conversations": Conversation.open,
};

// The rows of tools/list, as a client on standard input gets them.
export async function listTools(home, env) {
    const client = new Raw(home, { judge: NO_JUDGE, options: { env: { ...home.env, ...env } } });
    await client.open(LEGACY);
    const { tools } = (await client.request("tools/list")).result;
    await client.stop();
    return tools;
}
