// apis.mjs - the four APIs by which clients speak to a model, each as one row: what a request holds, and how a reply is sent.
// Read: {tools: [{name, space}], results: [text, ...]}. Sent: {text} or {call: {name, space, args}}.

const wordsOf = (content) => typeof content === "string" ? content
    : (content ?? []).map((part) => part.text ?? "").join("\n");

function sendJson(response, value) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
}

function sendEvents(response, events, { named = false, end = "" } = {}) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    for (const event of events)
        response.write(`${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
    response.end(end);
}

// Anthropic Messages
const anthropic = {
    name: "Anthropic Messages",
    path: /\/messages(\?|$)/,
    read(body) {
        const parts = (body.messages ?? []).flatMap(({ content }) => Array.isArray(content) ? content : [{ type: "text", text: content }]);
        return {
            tools: (body.tools ?? []).map(({ name }) => ({ name })),
            results: parts.filter(({ type }) => type === "tool_result").map(({ content }) => wordsOf(content)),
        };
    },
    write(response, body, { text, call }, id) {
        const block = call ? { type: "tool_use", id: `toolu_${id}`, name: call.name, input: {} } : { type: "text", text: "" };
        const stop_reason = call ? "tool_use" : "end_turn";
        const message = {
            id: `msg_${id}`, type: "message", role: "assistant", model: body.model, stop_sequence: null,
            usage: { input_tokens: 10, output_tokens: 10 },
        };
        if (!body.stream)
            return sendJson(response, { ...message, stop_reason, content: [call ? { ...block, input: call.args } : { ...block, text }] });
        return sendEvents(response, [
            { type: "message_start", message: { ...message, stop_reason: null, content: [] } },
            { type: "content_block_start", index: 0, content_block: block },
            {
                type: "content_block_delta", index: 0,
                delta: call ? { type: "input_json_delta", partial_json: JSON.stringify(call.args) } : { type: "text_delta", text },
            },
            { type: "content_block_stop", index: 0 },
            { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
            { type: "message_stop" },
        ], { named: true });
    },
};

// OpenAI Responses
const responses = {
    name: "OpenAI Responses",
    path: /\/responses(\?|$)/,
    read(body) {
        const items = Array.isArray(body.input) ? body.input : [{ type: "message", content: body.input }];
        return {
            tools: (body.tools ?? []).flatMap((tool) => tool.type === "namespace"
                ? tool.tools.map(({ name }) => ({ name, space: tool.name }))
                : [{ name: tool.name ?? tool.type }]),
            results: items.filter(({ type }) => /_output$/.test(type)).map(({ output }) => wordsOf(output)),
        };
    },
    write(response, body, { text, call }, id) {
        const item = call
            ? {
                type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: call.name, arguments: JSON.stringify(call.args),
                status: "completed", ...call.space ? { namespace: call.space } : {},
            }
            : {
                type: "message", id: `msg_${id}`, role: "assistant", status: "completed",
                content: [{ type: "output_text", text, annotations: [] }],
            };
        const whole = {
            id: `resp_${id}`, object: "response", created_at: 1, model: body.model, status: "completed", output: [item],
            usage: {
                input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 10,
                output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 20,
            },
        };
        if (!body.stream)
            return sendJson(response, whole);
        const told = call
            ? [{ type: "response.function_call_arguments.delta", item_id: item.id, output_index: 0, delta: item.arguments }]
            : [{ type: "response.output_text.delta", item_id: item.id, output_index: 0, content_index: 0, delta: text }];
        return sendEvents(response, [
            { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
            { type: "response.output_item.added", output_index: 0, item: call ? { ...item, arguments: "" } : { ...item, content: [] } },
            ...told,
            { type: "response.output_item.done", output_index: 0, item },
            { type: "response.completed", response: whole },
        ].map((event, sequence_number) => ({ ...event, sequence_number })), { named: true });
    },
};

// OpenAI chat completions
const completions = {
    name: "OpenAI chat completions",
    path: /\/chat\/completions(\?|$)/,
    read(body) {
        const messages = body.messages ?? [];
        return {
            tools: (body.tools ?? []).map(({ function: { name } }) => ({ name })),
            results: messages.filter(({ role }) => role === "tool").map(({ content }) => wordsOf(content)),
        };
    },
    write(response, body, { text, call }, id) {
        const head = { id: `chatcmpl-${id}`, created: 1, model: body.model };
        const finish_reason = call ? "tool_calls" : "stop";
        const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
        const calls = call && [{ id: `call_${id}`, type: "function", function: { name: call.name, arguments: JSON.stringify(call.args) } }];
        const said = call ? { content: null, tool_calls: calls } : { content: text };
        if (!body.stream) {
            return sendJson(response, {
                ...head, object: "chat.completion", usage,
                choices: [{ index: 0, message: { role: "assistant", ...said }, finish_reason }],
            });
        }
        const delta = call ? { role: "assistant", content: null, tool_calls: [{ index: 0, ...calls[0] }] } : { role: "assistant", ...said };
        const chunk = { ...head, object: "chat.completion.chunk" };
        return sendEvents(response, [
            { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
            { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
            { ...chunk, choices: [], usage },
        ], { end: "data: [DONE]\n\n" });
    },
};

// Gemini generateContent
const gemini = {
    name: "Gemini generateContent",
    path: /:(generateContent|streamGenerateContent)(\?|$)/,
    read(body) {
        const parts = (body.contents ?? []).flatMap(({ parts }) => parts ?? []);
        return {
            tools: (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? [])
                .map(({ name }) => ({ name })),
            results: parts.filter((part) => part.functionResponse)
                .map(({ functionResponse: { response } }) => typeof response?.output === "string" ? response.output : JSON.stringify(response)),
        };
    },
    write(response, body, { text, call }, id, url) {
        const value = {
            candidates: [{
                content: { role: "model", parts: [call ? { functionCall: { name: call.name, args: call.args } } : { text }] },
                finishReason: "STOP", index: 0,
            }],
            usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
            responseId: `${id}`, modelVersion: "scripted",
        };
        return url.includes(":stream") ? sendEvents(response, [value]) : sendJson(response, value);
    },
};

export const APIS = [anthropic, responses, completions, gemini];
