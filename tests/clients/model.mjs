// model.mjs - a model on loopback that follows a script instead of thinking: it asks once, collects while it is told "pending",
// and then says what it heard.
import http from "node:http";
import process from "node:process";
import { APIS } from "./apis.mjs";

const ASK = "provide_choice";
const COLLECT = "get_answer";
const SEARCH = /^tool_?search$/i;
const CALL_FOUND = "tool_call"; // calls what a search has shown, where tools that were found are not offered themselves
const LOUD = Boolean(process.env.SHOW_MODEL);

// What one of our tools returned, however its client has wrapped it: clients quote JSON in JSON and add lines of their own.
export function resultIn(text) {
    const bare = text.replaceAll("\\", "");
    const status = /"action_status": ?"(\w+)"/.exec(bare)?.[1];
    return status && {
        status,
        id: /"session_id": ?"(\w+)"/.exec(bare)?.[1],
        selected: /"selected_ids": ?\[\s*"(\w+)"/.exec(bare)?.[1],
    };
}

export class Model {
    // `ask`: the arguments of provide_choice. `own`: calls of the client's own tools, which are made instead, one after the other.
    constructor(ask, own = null) {
        this.ask = ask;
        this.own = own;
        this.results = []; // of those
        this.calls = 0; // of our tools: the turns that the ask costs
        this.said = null; // the model's final message, {text, result, at}
        this.server = http.createServer((request, response) => this.take(request, response));
    }

    async open() {
        await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
        return this;
    }

    close() {
        this.server.closeAllConnections();
        return new Promise((resolve) => this.server.close(resolve));
    }

    async take(request, response) {
        let text = "";
        for await (const bytes of request)
            text += bytes;
        const api = request.method === "POST" && APIS.find(({ path }) => path.test(request.url));
        const body = api && JSON.parse(text);
        const read = api && api.read(body);
        const reply = api && this.next(read);
        if (LOUD) {
            const names = read && read.tools.map(({ name }) => name).join(" ");
            console.error(`# ${request.method} ${request.url} tools: ${names} results: ${JSON.stringify(read?.results)} ->`, reply);
        }
        if (api)
            api.write(response, body, reply, `${Date.now()}`, request.url);
        else
            answerOther(request, response);
    }

    next({ tools, results }) {
        if (tools.length <= 1)
            return { text: "sayso" }; // not the agent: a title, a summary, a judge of what the agent may do
        if (this.own) {
            this.results = results;
            return results.length < this.own.length ? { call: this.own[results.length] } : this.say(results.at(-1));
        }
        if (results.length === 0)
            Object.assign(this, { hasAsked: false, sought: null, said: null }); // a conversation begins
        const text = results.at(-1) ?? "";
        const { sought } = this;
        this.sought = null;
        if (sought)
            return this.call(tools, sought.name, sought.args, text);
        if (!this.hasAsked)
            return this.call(tools, ASK, this.ask);
        const result = resultIn(text);
        if (result?.status === "pending")
            return this.call(tools, COLLECT, { session_id: result.id });
        return this.say(text, result);
    }

    say(text, result = null) {
        this.said = { text, result, at: Date.now() };
        return { text: `I heard: ${text}` };
    }

    // `found`: what a search for this tool showed; before it, a tool that is not offered is searched for.
    call(tools, name, args, found = null) {
        const offered = tools.find((tool) => new RegExp(`(^|[_-])${name}$`).test(tool.name));
        const search = tools.find((tool) => SEARCH.test(tool.name));
        const isCallable = found?.includes(`sayso__${name}`) && tools.some((tool) => tool.name === CALL_FOUND);
        if (offered || isCallable) {
            this.hasAsked = true;
            this.calls++;
            const full = `mcp__sayso__${name}`;
            return { call: offered ? { ...offered, args } : { name: CALL_FOUND, args: { name: full, arguments: args } } };
        }
        if (!search || found !== null)
            return this.say(`there is no ${name}`);
        this.sought = { name, args };
        return { call: { ...search, args: { query: `select:mcp__sayso__${name}`, max_results: 5 } } };
    }
}

// Lists of models and counts of tokens.
function answerOther(request, response) {
    const isList = /\/models(\?|$)/.test(request.url);
    const model = { id: "scripted", object: "model", type: "model", created: 1, owned_by: "tests", display_name: "scripted" };
    response.writeHead(isList || /count/i.test(request.url) ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isList ? { object: "list", data: [model], models: [] } : { input_tokens: 10, totalTokens: 10 }));
}
