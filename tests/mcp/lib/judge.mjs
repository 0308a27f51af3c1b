// judge.mjs - looks at every line a server writes and objects to what its revision does not allow.
//
// It is told what the client sends, so it knows which request a response is for, at which revision,
// and which progress tokens are open. Objections are collected and thrown by verdict().
import assert from "node:assert/strict";
import { demandType, hasType, MODERN, shown, toolValidator } from "./schema.mjs";

export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

const RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
};
const NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/elicitation/complete": "ElicitationCompleteNotification",
};
const MODERN_ERRORS = {
    [-32700]: "ParseError",
    [-32600]: "InvalidRequestError",
    [-32601]: "MethodNotFoundError",
    [-32602]: "InvalidParamsError",
    [-32603]: "InternalError",
};
const ASKED = ["action_status", "session_id", "selection", "explicit"];
const ELICITED = ["action", "session_id", "explicit", "summary"];
const ALWAYS = {
    provide_choice: ASKED,
    ask_user_question: ["status", "session_id", "explicit", "summary"],
    elicit_choice: ELICITED,
    elicit_input: ELICITED,
    elicit_confirm: ELICITED,
    elicit_number: ELICITED,
    elicit_form: ELICITED,
    get_answer: ["session_id", "explicit"], // in the shape of the tool that asked
    check_decision: ["must_ask", "reasons"],
};
const SINCE = { annotations: "2025-03-26", elicitation: "2025-06-18", title: "2025-06-18", structured: "2025-06-18", idless: "2025-11-25" };

const has = (revision, feature) => revision >= SINCE[feature];
const keyOf = (id) => `${typeof id}:${id}`; // "1" is not 1

export class Judge {
    constructor() {
        this.negotiated = "2025-11-25"; // what unreadable lines before a handshake are answered in
        this.open = new Map(); // key of an id: requests not answered yet
        this.progress = new Map(); // key of a token: last progress
        this.outputs = new Map(); // tool: validator of its output
        this.capabilities = {}; // of initialize
        this.asked = new Map(); // id of a request of the server's: the request
        this.isOneStream = true; // what is sent is read in this order, and so are the replies; not so over HTTP
        this.sendings = 0;
        this.unreadable = 0; // lines sent that deserve an error without an id
        this.objections = [];
        this.seen = 0;
    }

    // A line that may be anything: what we can read the server may still refuse as a whole, and of what we
    // cannot it may have read the id.
    sentLine(bytes) {
        const text = bytes.toString();
        this.unreadable++;
        try {
            this.sent(JSON.parse(text));
        } catch {
            const id = /^\{"jsonrpc":"2\.0","id":([^,]+),/.exec(text.slice(0, 200))?.[1];
            if (id)
                this.expect(JSON.parse(id), { method: "unreadable", revision: this.negotiated });
        }
    }

    expect(id, request) {
        this.open.set(keyOf(id), [...this.open.get(keyOf(id)) ?? [], { ...request, place: ++this.sendings }]);
    }

    sent(message) {
        if (Array.isArray(message)) {
            this.unreadable++;
            if (this.negotiated === "2025-03-26") // else refused as a whole
                message.forEach((part) => this.sent(part));
            return;
        }
        const isRequest = typeof message?.method === "string" && (typeof message.id === "string" || Number.isInteger(message.id));
        if (message?.method === "notifications/cancelled")
            this.cancelled(message.params?.requestId);
        if (!isRequest) {
            this.unreadable++;
            if (typeof message?.id === "number") // refused with the id that it has
                this.expect(message.id, { method: "invalid", revision: this.negotiated });
            return;
        }
        const claim = message.params?._meta?.[VERSION_KEY];
        if (message.method === "initialize")
            this.capabilities = message.params?.capabilities ?? {};
        const revision = claim === undefined ? this.negotiated : MODERN;
        this.expect(message.id, {
            method: message.method,
            revision,
            tool: message.params?.name,
            capabilities: message.params?._meta?.[CAPABILITIES_KEY] ?? {},
        });
        const token = message.params?._meta?.progressToken;
        if (token !== undefined)
            this.progress.set(keyOf(token), { last: -Infinity, revision, id: keyOf(message.id) });
    }

    // A response may have been on its way, so the request stays. Progress may have been, too, but not behind
    // the response to a request that was sent later.
    cancelled(id) {
        for (const entry of this.progress.values()) {
            if (entry.id === keyOf(id))
                entry.cancelledAt = ++this.sendings;
        }
    }

    // One line as the server wrote it, without its end. Returns the message, or null.
    received(line) {
        let message = null;
        this.seen++;
        try {
            message = JSON.parse(line);
            this.judge(message);
        } catch (problem) {
            this.objections.push(`${problem.message}\n  line: ${line.slice(0, 500)}`);
        }
        return message;
    }

    judge(message) {
        if (Array.isArray(message)) {
            assert.equal(this.negotiated, "2025-03-26", "an array outside 2025-03-26");
            assert.ok(message.length > 0, "an empty array");
            for (const part of message)
                this.response(part);
            if (message.every((part) => part.id !== null))
                demandType(this.negotiated, "JSONRPCBatchResponse", message);
        } else if ("method" in message && "id" in message) {
            this.request(message);
        } else if ("method" in message) {
            this.notification(message);
        } else {
            this.response(message);
        }
    }

    // Only what was declared may be asked for, and only where the revision has such requests.
    request(message) {
        assert.equal(message.method, "elicitation/create", `the server sent a request: ${shown(message)}`);
        assert.ok(has(this.negotiated, "elicitation"), `a request at ${this.negotiated}`);
        assert.ok(this.capabilities.elicitation, "elicitation was not declared");
        assert.ok(!this.asked.has(message.id), "an id was used twice");
        demandType(this.negotiated, "JSONRPCRequest", message);
        demandType(this.negotiated, "ElicitRequest", message);
        this.asked.set(message.id, message);
    }

    // The same inside of a result.
    inputRequired(request, result) {
        demandType(MODERN, "InputRequiredResult", result);
        assert.equal(typeof result.requestState, "string");
        for (const asked of Object.values(result.inputRequests ?? {})) {
            assert.equal(asked.method, "elicitation/create");
            assert.ok(request.capabilities.elicitation, "elicitation was not declared with this request");
            demandType(MODERN, "ElicitRequest", asked);
        }
    }

    response(message) {
        if (message.id === undefined || message.id === null) {
            this.idless(message);
            return;
        }
        const requests = this.open.get(keyOf(message.id));
        assert.ok(requests?.length, `a response to nobody: ${shown(message)}`);
        const request = requests.shift();
        const revision = request.method === "initialize" ? message.result?.protocolVersion ?? request.revision : request.revision;
        for (const [token, entry] of this.progress) {
            if (entry.id === keyOf(message.id))
                this.progress.delete(token);
            else if (request.place > entry.cancelledAt && this.isOneStream)
                entry.mustBeSilent = true;
        }
        if (message.error) // the schema has no numbers with a fraction as ids
            this.error(revision, Number.isInteger(message.id) || typeof message.id === "string" ? message : { ...message, id: 0 });
        else
            this.result(revision, request, message);
    }

    // Before 2025-11-25 the schema has no error without an id at all: JSON-RPC's null is used, and
    // the rest is checked with an id in its place.
    idless(message) {
        assert.ok(this.unreadable > 0, `an error about nothing: ${shown(message)}`);
        this.unreadable--;
        assert.equal("id" in message, !has(this.negotiated, "idless"), `id of ${shown(message)} at ${this.negotiated}`);
        this.error(this.negotiated, message.id === null ? { ...message, id: 0 } : message);
    }

    error(revision, message) {
        demandType(revision, "JSONRPCMessage", message);
        demandType(revision, hasType(revision, "JSONRPCError") ? "JSONRPCError" : "JSONRPCErrorResponse", message);
        assert.deepEqual(Object.keys(message).filter((key) => !["jsonrpc", "id", "error"].includes(key)), []);
        if (revision !== MODERN)
            return;
        if (message.error.code === -32022)
            demandType(revision, "UnsupportedProtocolVersionError", message);
        else
            demandType(revision, MODERN_ERRORS[message.error.code], message.error);
    }

    result(revision, request, message) {
        demandType(revision, "JSONRPCMessage", message);
        demandType(revision, hasType(revision, "JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse", message);
        if (request.method === "tools/call" && message.result.resultType === "input_required") {
            assert.equal(revision, MODERN, "input_required is modern only");
            this.inputRequired(request, message.result);
            return;
        }
        assert.ok(request.method in RESULTS, `no result is known for ${request.method}`);
        const isRound = message.result.resultType === "input_required";
        demandType(revision, isRound ? "InputRequiredResult" : RESULTS[request.method], message.result);
        assert.equal("resultType" in message.result, revision === MODERN, "resultType is modern only");
        if (request.method === "initialize")
            this.negotiated = message.result.protocolVersion;
        if (request.method === "tools/list")
            this.tools(revision, message.result.tools);
        if (isRound)
            this.round(request, message.result);
        else if (request.method === "tools/call")
            this.toolResult(revision, request.tool, message.result);
    }

    // A client that declared nothing may only be asked to come back.
    round(request, result) {
        assert.equal(request.method, "tools/call", "rounds are for calls");
        assert.deepEqual(Object.keys(result).sort(), ["_meta", "requestState", "resultType"]);
        assert.ok(Buffer.byteLength(result.requestState) <= 4096);
    }

    tools(revision, tools) {
        for (const tool of tools) {
            for (const [member, feature] of [["title", "title"], ["outputSchema", "structured"], ["annotations", "annotations"]])
                assert.equal(member in tool, has(revision, feature), `${member} of ${tool.name} at ${revision}`);
            toolValidator(tool.inputSchema);
            if (tool.outputSchema)
                this.outputs.set(tool.name, toolValidator(tool.outputSchema));
        }
    }

    // Text and structured content are each complete: some clients show the model only one.
    toolResult(revision, tool, result) {
        assert.equal(result.content.length, 1);
        const said = JSON.parse(result.content[0].text);
        assert.equal("structuredContent" in result, has(revision, "structured"), `structuredContent at ${revision}`);
        if (result.structuredContent)
            assert.deepEqual(result.structuredContent, said);
        assert.equal("error" in said, result.isError);
        for (const member of result.isError ? ["error"] : ALWAYS[tool])
            assert.ok(member in said, `${tool} returned no ${member}`);
        this.outputs.get(tool)?.(said, `the result of ${tool}`);
    }

    notification(message) {
        const { method, params } = message;
        const entry = this.progress.get(keyOf(params?.progressToken));
        const isModern = params?._meta && "io.modelcontextprotocol/subscriptionId" in params._meta;
        const revision = method === "notifications/progress" ? entry?.revision : isModern ? MODERN : this.negotiated;
        assert.ok(revision, `progress for nobody: ${shown(message)}`);
        assert.ok(method in NOTIFICATIONS, `unknown notification ${method}`);
        demandType(revision, "JSONRPCMessage", message);
        demandType(revision, "ServerNotification", message);
        // As published, two of the schemas leave jsonrpc out of the notification's own type.
        demandType(revision, NOTIFICATIONS[method], message);
        if (method === "notifications/cancelled")
            assert.ok(this.asked.has(params.requestId), `cancelled what was not asked: ${shown(message)}`);
        if (method !== "notifications/progress")
            return;
        assert.ok(params.progress > entry.last, `progress fell from ${entry.last} to ${params.progress}`);
        assert.equal("message" in params, has(revision, "annotations"), `message of progress at ${revision}`);
        assert.ok(!entry.mustBeSilent, "progress of a cancelled call");
        entry.last = params.progress;
    }

    verdict() {
        assert.deepEqual(this.objections, [], this.objections.join("\n\n"));
    }
}
