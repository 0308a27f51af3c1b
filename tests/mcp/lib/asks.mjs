// asks.mjs - the questions the tests ask, and the messages they ask them with.
export const TOOLS = [
    "provide_choice", "ask_user_question", "elicit_choice", "elicit_input", "elicit_confirm", "elicit_number", "elicit_form",
    "get_answer", "check_decision",
];

export const GOOD = {
    title: "Deploy",
    prompt: "Release is built. Which target? Needed because two are healthy.",
    selection_mode: "single",
    options: [{ id: "a", label: "Alpha", recommended: true }, { id: "b", label: "Beta" }],
};

export const named = (title, more = {}) => ({ ...GOOD, title, ...more });

export const written = (title, more = {}) => ({
    title,
    prompt: "What shall the release be called? Needed because nobody has named it yet.",
    selection_mode: "text_input",
    ...more,
});

export const QUESTIONS = {
    questions: [
        { question: "Which cache?", header: "Cache", options: [{ label: "Redis", description: "fast" }, { label: "None, please", preview: "-" }] },
        { question: "Which tests?", multiSelect: true, options: [{ label: "Unit" }, { label: "Lint" }, { label: "Load" }] },
    ],
};

export const request = (id, method, params) => ({ jsonrpc: "2.0", id, method, params });

export const asking = (id, args) => request(id, "tools/call", { name: "provide_choice", arguments: args });

export const opening = (protocolVersion, name = "test", capabilities = {}, version = "1") => ({
    protocolVersion,
    capabilities,
    clientInfo: { name, version },
});
