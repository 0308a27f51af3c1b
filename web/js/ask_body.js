/* ask_body.js - the question itself: title, prompt, fields or steps, and the note to the agent. */
import { button, foreign, icon, key, make, setText } from "./dom.js";
import { buildTalk } from "./talk.js";
import { say, sayCount } from "./language.js";
import { hasNotes, hasSteps, titleField } from "./entry.js";
import { describeValue, judge, mayDestroy, pickedLabels, shownOf, wordsOf } from "./values.js";
import { buildField } from "./fields.js";
import { buildMarks, sayRule } from "./field_options.js";
import { buildBlocks } from "./markup.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {import("./field_options.js").Part} Part
 * @typedef {import("./field_options.js").Told} Told
 */

/**
 * @param {Entry} entry
 * @param {() => void} changed
 */
function buildGlobalNote(entry, changed) {
    const text = make("textarea", {
        id: "gn", rows: 1, placeholder: say("note_hint"), value: entry.values.note,
        "data-key": "note",
        maxlength: 4000,
        input: () => {
            entry.values.note = text.value;
            changed();
        },
    });
    const sync = () => {
        if (document.activeElement !== text)
            text.value = entry.values.note;
    };
    return { sync, node: make("div", { class: "gnote" },
        make("label", { for: "gn" }, say("note_to_agent")), key("N"), text) };
}

/** Of several questions each has a note of its own.
 * @param {Entry} entry
 * @param {() => void} changed
 */
function buildStepNote(entry, changed) {
    const { name } = entry.form.fields[entry.step];
    const notes = entry.values.field_notes;
    const text = make("textarea", {
        id: "fn", rows: 1, placeholder: say("note_on_answer_hint"), value: notes[name] ?? "",
        "data-key": `note-of-${name}`, maxlength: 4000,
        input: () => {
            notes[name] = text.value;
            changed();
        },
    });
    const sync = () => {
        if (document.activeElement !== text)
            text.value = notes[name] ?? "";
    };
    return { sync, node: make("div", { class: "gnote" },
        make("label", { for: "fn" }, say("note_on_answer")), key("N"), text) };
}

/** @param {Entry} entry */
function buildHead(entry) {
    const { form } = entry;
    const field = titleField(entry);
    const isSecret = form.shown?.mentions_secret;
    return [
        mayDestroy(form) &&
            make("p", { class: "flag" }, icon("warn"), make("b", {}, say("destructive")), " ",
            make("span", {}, say("two_acts"))),
        make("h1", { tabindex: -1 }, field
            ? [foreign(shownOf(field, "label")), ...buildMarks(field.shown, "label")]
            : [foreign(shownOf(form, "title")), ...buildMarks(form.shown, "title")]),
        isSecret &&
            make("p", { class: "flag" }, icon("warn"), make("span", {}, say("mentions_secret"))),
        form.title !== form.prompt && make("div", { class: "prose", id: "prompt" },
            buildBlocks(form.shown?.prompt ?? form.prompt)),
        form.title !== form.prompt &&
            make("p", { class: "marks" }, buildMarks(form.shown, "prompt")),
        make("span", { id: "prompt-end" }),
    ];
}

/**
 * @param {Entry} entry
 * @param {(step: number) => void} go
 */
function buildStepsNav(entry, go) {
    const { fields } = entry.form;
    const isDone = (/** @type {number} */ at) =>
        judge(fields[at], entry.values.fields[fields[at].name]) === "" &&
        describeValue(fields[at], entry.values.fields[fields[at].name]) !== "";
    const steps = fields.map((field, at) => make("li", {}, make("button", {
        type: "button", "aria-current": entry.step === at ? "step" : null, "data-key": `step-${at}`,
        click: () => go(at),
    }, isDone(at) && entry.step !== at ? icon("check", "ok") : make("b", {}, at + 1),
    foreign(field.shown?.header ?? shownOf(field, "label") ?? field.name))));
    const canReview =
        fields.every((_, at) => judge(fields[at], entry.values.fields[fields[at].name]) === "");
    steps.push(make("li", {}, make("button", {
        type: "button", disabled: !canReview,
        "aria-current": entry.step === fields.length ? "step" : null,
        "data-key": "step-review", title: canReview ? null : say("answer_all_first"),
        click: () => go(fields.length),
    }, make("span", {}, say("review")))));
    return make("ol", { class: "steps", "aria-label": say("questions") }, steps);
}

/** The answer to one question: own words are quoted, a note stands below.
 * @param {Entry} entry
 * @param {import("./values.js").Field} field
 */
function buildReviewed(entry, field) {
    const value = entry.values.fields[field.name];
    const labels = pickedLabels(field, value).join("; ");
    const words = wordsOf(field, value).trim();
    const note = entry.values.field_notes[field.name]?.trim();
    return [foreign(labels || (words ? "" : say("nothing"))), labels && words ? "; " : "",
        words && make("q", { class: "plain", dir: "auto" }, words),
        note && hasNotes(entry) && make("small", { class: "plain" }, icon("note"), foreign(note))];
}

/**
 * @param {Entry} entry
 * @param {(step: number) => void} go
 */
function buildReview(entry, go) {
    const { fields } = entry.form;
    return [
        make("h2", { class: "sub" }, sayCount(fields.length, "read_once_more", "read_once_more")),
        make("dl", { class: "review" }, fields.map((field, at) => make("div", {},
            make("dt", {}, foreign(shownOf(field, "label") || field.name)),
            make("dd", {}, buildReviewed(entry, field)),
            make("dd", { class: "do" },
                button({ class: "small", "data-key": `change-${at}`, click: () => go(at) },
                say("change"), key(String(at + 1))))))),
    ];
}

/**
 * @param {Entry} entry
 * @param {() => void} redraw
 */
function buildCompareHead(entry, redraw) {
    const choose = (/** @type {boolean} */ one) => make("label", {}, make("input", {
        type: "radio", name: "pv", checked: entry.one_at_a_time === one, "data-key": `pv-${one}`,
        change: () => {
            entry.one_at_a_time = one;
            redraw();
        },
    }), make("span", {}, say(one ? "one_at_a_time" : "side_by_side")));
    const field = fieldShown(entry);
    const label = titleField(entry) ? "" : shownOf(field, "label");
    return make("div", { class: "cmp-head" },
        make("h2", { class: "sub" }, label && [foreign(label), " "],
            make("span", { class: label ? "rule" : "" }, sayRule(field))),
        make("fieldset", { class: "seg" }, make("legend", { class: "vh" }, say("previews")),
            choose(false), choose(true)));
}

/** The one whose options can have previews: the question of this step, else the first.
 * @param {Entry} entry
 */
function fieldShown(entry) {
    const { fields } = entry.form;
    return hasSteps(entry) ? fields[Math.min(entry.step, fields.length - 1)] : fields[0];
}

/** @param {Entry} entry */
function isReviewed(entry) {
    return hasSteps(entry) && entry.step === entry.form.fields.length;
}

/** @param {Entry} entry */
export function hasPreviews(entry) {
    return !isReviewed(entry) && (fieldShown(entry).options ?? []).some((option) => option.preview);
}

/**
 * @param {Entry} entry
 * @param {Told & {go: (step: number) => void, askBack: () => void}} told
 * @returns {{nodes: Node[], sync: () => void}}
 */
export function buildBody(entry, told) {
    const nodes = /** @type {(Node|false|null|undefined)[]} */ (buildHead(entry));
    /** @type {{sync: () => void}[]} */
    const parts = [];
    const add = (/** @type {{node: Node, sync: () => void}} */ part) => {
        parts.push(part);
        nodes.push(part.node);
    };
    const isReview = isReviewed(entry);

    nodes.push(buildTalk(entry, told.askBack));
    if (hasSteps(entry)) {
        const nav = make("div", { class: "steps-nav" }, buildStepsNav(entry, told.go));
        nodes.push(nav);
        parts.push({ sync: () => nav.replaceChildren(buildStepsNav(entry, told.go)) });
    }
    if (hasPreviews(entry))
        nodes.push(buildCompareHead(entry, () => sync()));
    if (isReview) {
        nodes.push(...buildReview(entry, told.go));
    } else if (hasSteps(entry)) {
        add(buildField(entry, entry.step, told));
        if (hasNotes(entry))
            add(buildStepNote(entry, told.changed));
    } else {
        entry.form.fields.forEach((_, at) => add(buildField(entry, at, told)));
    }
    if (hasNotes(entry) && (!hasSteps(entry) || isReview))
        add(buildGlobalNote(entry, told.changed));
    const sync = () => {
        for (const part of parts)
            part.sync();
        const field = entry.form.fields[Math.min(entry.step, entry.form.fields.length - 1)];
        setText(document.getElementById("problem"), judge(field, entry.values.fields[field.name]));
    };
    return { nodes: nodes.filter((node) => node instanceof Node), sync };
}
