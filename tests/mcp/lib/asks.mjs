// asks.mjs - the questions the tests ask.
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
