// sdk.mjs - the official clients, each with a judge that sees the bytes their transport gets.
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { StdioClientTransport as StdioOne } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientTwo } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTwo } from "@modelcontextprotocol/client/stdio";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StreamableHTTPClientTransport as HttpTwo } from "@modelcontextprotocol/client";
import { BIN } from "./home.mjs";
import { Judge } from "./judge.mjs";
import { eventReader, web } from "./web.mjs";

const callOne = (client, params, options) => client.callTool(params, undefined, options);
const callTwo = (client, params, options) => client.callTool(params, options);
const formsOne = (client, show) => client.setRequestHandler(ElicitRequestSchema, show);
const formsTwo = (client, show) => client.setRequestHandler("elicitation/create", show);

// What is different between the kinds of client; `revision` is what they are to end up with.
const CLIENTS = {
    "SDK 1.x": { Client: ClientOne, Stdio: StdioOne, Http: HttpOne, options: {}, call: callOne, forms: formsOne, revision: "2025-11-25" },
    "SDK 2.x": { Client: ClientTwo, Stdio: StdioTwo, Http: HttpTwo, options: {}, call: callTwo, forms: formsTwo, revision: "2025-11-25" },
    "SDK 2.x, auto": {
        Client: ClientTwo,
        Stdio: StdioTwo,
        Http: HttpTwo,
        options: { versionNegotiation: { mode: "auto" } },
        call: callTwo,
        forms: formsTwo,
        revision: "2026-07-28",
    },
};
// Each over both transports.
export const KINDS = Object.fromEntries(Object.entries(CLIENTS).flatMap(([name, kind]) => [
    [name, { ...kind, isHttp: false }],
    [`${name}, HTTP`, { ...kind, isHttp: true }],
]));

// Instance members only: a subclass of the transport would be probed differently.
function tap(transport, judge) {
    const start = transport.start.bind(transport), send = transport.send.bind(transport);
    transport.start = async () => {
        let rest = "";
        await start();
        transport._process.stdout.on("data", (bytes) => {
            const lines = (rest + bytes).split("\n");
            rest = lines.pop();
            lines.forEach((line) => judge.received(line));
        });
    };
    transport.send = (message, ...more) => {
        judge.sent(message);
        return send(message, ...more);
    };
}

// What goes over HTTP, seen from below the SDK.
function tappedFetch(judge, fetch = globalThis.fetch) {
    judge.isOneStream = false;
    return async (url, init = {}) => {
        if (init.method === "POST")
            judge.sent(JSON.parse(init.body));
        const response = await fetch(url, init);
        const type = response.headers.get("content-type") ?? "";
        const hear = (text) => text && judge.received(text.trimEnd());
        if (!response.body)
            return response;
        if (!type.startsWith("text/event-stream")) {
            const body = await response.text();
            hear(body);
            return new Response(body || null, response);
        }
        const decoder = new TextDecoder();
        const see = eventReader(({ data }) => hear(data));
        const tapped = new TransformStream({
            transform(bytes, controller) {
                see(decoder.decode(bytes, { stream: true }));
                controller.enqueue(bytes);
            },
        });
        return new Response(response.body.pipeThrough(tapped), response);
    };
}

export class Sdk {
    // `show` is the client's own form: it is given the params of elicitation/create.
    static async open(home, kind, { name = "sdk-test", version = "1.0.0", capabilities = {}, show = null } = {}) {
        if (KINDS[kind].isHttp)
            await web(home);
        const sdk = new Sdk(home, kind, name, version, { ...capabilities, ...(show && { elicitation: {} }) });
        if (show)
            sdk.kind.forms(sdk.client, (request, extra) => show(request.params, extra));
        await sdk.client.connect(sdk.transport);
        return sdk;
    }

    constructor(home, kind, name, version, capabilities) {
        this.kind = KINDS[kind];
        this.judge = new Judge();
        this.errors = [];
        this.stderr = "";
        this.transport = this.kind.isHttp ? this.http(home) : this.stdio(home);
        this.client = new this.kind.Client({ name, version }, { capabilities, ...this.kind.options });
        this.client.onerror = (error) => this.errors.push(error);
        home.endings.push(() => this.close());
    }

    stdio(home) {
        const transport = new this.kind.Stdio({ command: BIN, args: ["mcp", ...(home.way ?? [])], env: home.env, cwd: home.path, stderr: "pipe" });
        transport.stderr.on("data", (bytes) => { this.stderr += bytes; });
        tap(transport, this.judge);
        return transport;
    }

    http(home) {
        const requestInit = { headers: { Authorization: `Bearer ${home.web.token}` } };
        return new this.kind.Http(new URL(home.web.url), { requestInit, fetch: tappedFetch(this.judge, home.web.fetch) });
    }

    // The raw result of a call.
    call(tool, args, options) {
        return this.kind.call(this.client, { name: tool, arguments: args }, options);
    }

    // Often awaited later: a failure is reported then, not as an unhandled rejection.
    ask(args, options) {
        const asked = this.call("provide_choice", args, options).then(({ structuredContent }) => structuredContent);
        asked.catch(() => {});
        return asked;
    }

    async collect(session_id, wait_seconds = 30, more = {}) {
        return (await this.call("get_answer", { session_id, wait_seconds, ...more })).structuredContent;
    }

    // `isHubGone`: over HTTP there is no hub to say good-bye to, and the client has noticed.
    async close(isHubGone = false) {
        if (this.isClosed)
            return;
        this.isClosed = true;
        // a stream it wants to take up again once its session is over is not found: no fault of anybody's
        const errors = this.kind.isHttp && isHubGone ? [] : [...this.errors];
        if (this.kind.isHttp && !isHubGone)
            await this.transport.terminateSession?.();
        await this.client.close();
        this.judge.verdict();
        if (errors.length || /Sanitizer|runtime error/.test(this.stderr))
            throw new Error(`${errors.join("\n")}${this.stderr}`);
    }
}
