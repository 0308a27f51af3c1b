/* ask_ended.js - what became of an ask: saved with time to undo, answered elsewhere, timed out … */
import { button, foreign, icon, key, make, ring, select, setText } from "./dom.js";
import { say, sayTime, sayDuration } from "./language.js";
import { asks, saveSetting, setting, urgentAsk } from "./model.js";
import { describeValue, mayDestroy, readValues, shownOf } from "./values.js";
import { sayAgent } from "./ask_bar.js";
import { keepForAgain } from "./again.js";
import { buildMuteOffer } from "./mute.js";
import { buildTell } from "./missed.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {{undo: () => void, sendNow: () => void, told: () => void}} Acts
 * @typedef {import("./language.js").Word} Word
 */

/** @type {Record<string, [string, string]>} symbol and tone of each end */
export const END_MARKS = {
    submitted: ["done", "ok"],
    auto_submitted: ["auto", "ok"],
    cancelled: ["cancel", ""],
    declined: ["decline", "danger"],
    timeout: ["clock", "warn"],
    withdrawn: ["withdrawn", ""],
};

/** @type {Record<string, Word>} */
const VIA_TITLES = {
    terminal: "answered_terminal", web: "answered_web", client: "answered_client",
    cli: "answered_cli",
    api: "answered_api",
};

/** Where the answer was given, in words.
 * @param {any} by
 */
export function sayWhere(by) {
    const parts = [];
    if (by?.tty)
        parts.push(by.tty.replace("/dev/", ""));
    if (by?.token)
        parts.push(say("checked_token", { label: by.token }));
    return parts.join(", ");
}

/**
 * @param {Entry} entry
 * @returns {[string, string]} title and what happened
 */
function sayEnd(entry) {
    const { ask } = entry;
    const at = sayTime(ask.decided_at);
    const by = ask.answered_by ?? {};
    const where = sayWhere(by);
    const own = where ? say("by_you_at", { where, time: at }) : say("by_you", { time: at });

    switch (ask.status) {
    case "submitted":
        if (entry.is_mine)
            return [say("sent"), say("sent_more", { time: at })];
        return [say(VIA_TITLES[by.via] ?? "answered"), `${own} ${say("agent_has_it")}`];
    case "auto_submitted":
        if (by.via === "rule")
            return [say("rule_title"), say("rule_more", { time: at })];
        return [say("auto_title"), say("auto_more", { time: at })];
    case "timeout":
        return [say("time_ran_out"), say("time_ran_out_more", { time: at })];
    case "cancelled":
        return [say("cancelled_title"), `${own} ${say("cancelled_more")}`];
    case "declined":
        return [say("declined_title"), `${own} ${say("declined_more")}`];
    default:
        return [say("withdrawn_title"), say("withdrawn_more", { time: at })];
    }
}

/** @param {Entry} entry */
function buildSummary(entry) {
    const { form, answer, ask } = entry;
    const isAnswer = answer && ["submitted", "auto_submitted"].includes(ask.status);
    const values = isAnswer ? readValues(form, answer, true) : null;
    const row = (/** @type {string} */ term, /** @type {any[]} */ ...inside) =>
        make("div", {}, make("dt", {}, term), make("dd", {}, ...inside));
    const rows = [row(say("question"), foreign(shownOf(form, "title")))];

    for (const field of values ? form.fields : []) {
        const text = values ? describeValue(field, values.fields[field.name]) : "";
        rows.push(row(form.fields.length > 1
            ? shownOf(field, "label") || field.name : say("answer"),
            make("b", { class: "plain" }, foreign(text || say("nothing")))));
        const fieldNote = values?.field_notes[field.name];
        if (fieldNote)
            rows.push(row(say("note"), foreign(fieldNote)));
    }
    for (const option of values ? form.fields[0].options ?? [] : []) {
        const note = values?.notes[option.id];
        if (note)
            rows.push(row(say("note_on", { label: shownOf(option, "label") }), foreign(note)));
    }
    const note = values ? values.note : answer?.global_annotation;
    if (note)
        rows.push(row(say("note"), foreign(note)));
    if (ask.status === "timeout")
        rows.push(row(say("told"), make("code", {}, "timeout"), say("no_selection")));
    rows.push(row(say("agent"), foreign(sayAgent(ask))));
    return make("dl", { class: "sum" }, rows);
}

/** @param {Entry} entry */
function buildKept(entry) {
    if (!entry.keeps)
        return null;
    const copied = make("output", { class: "hint" });
    const node = make("section", { class: "kept" },
        make("h2", {}, say(entry.ask.status === "timeout" ? "draft_kept" : "text_kept")),
        make("blockquote", { class: "plain", dir: "auto" }, entry.keeps),
        make("div", { class: "btns" },
            button({ class: "small", "data-key": "copy", click: async () => {
                try {
                    await navigator.clipboard.writeText(entry.keeps);
                    setText(copied, say("copied"));
                } catch {
                    getSelection()?.selectAllChildren(
                        /** @type {Node} */ (node.querySelector("blockquote")));
                    setText(copied, say("selected_copy"));
                }
            } }, icon("copy"), say("copy")),
            entry.ask.status === "timeout" && entry.kept && !mayDestroy(entry.form) &&
                button({ class: "small", "data-key": "use-again", click: () => {
                    keepForAgain(entry.ask, entry.form, entry.kept);
                    setText(copied, say("used_again"));
                } }, say("use_again")),
            button({ class: "small ghost", click: () => {
                entry.keeps = "";
                node.remove();
            } }, say("discard")), copied));
    return node;
}

/** A person who gives the same answer again and again may make it a rule; never for
 * something destructive.
 * @param {Entry} entry
 */
function buildStanding({ ask, form }) {
    if (ask.answered_by?.via === "rule")
        return make("p", { class: "stand" }, make("a", { class: "btn small", href: "/standing",
            "data-key": "standing" }, say("standing")));
    if (ask.status !== "submitted")
        return null;
    return make("p", { class: "stand hint" }, mayDestroy(form) ? say("never_stands")
        : make("a", { class: "btn small", href: `/standing?from=${ask.session_id}`,
            "data-key": "let-stand" }, say("let_stand")));
}

/** The next one is offered, never opened by itself. */
function buildNext() {
    const next = urgentAsk();
    return next && make("p", { class: "next" },
        make("a", { class: "btn", href: `/choice/${next.session_id}`, "data-key": "next" },
            make("span", {}, say("next_ask"), " ", foreign(next.shown?.title ?? next.title)),
            key("]")));
}

function buildTimeForNew() {
    const now = String(setting("timeout_seconds"));
    const choices = ["300", "600", "1800", "14400"];
    if (!choices.includes(now))
        choices.unshift(now);
    return make("p", { class: "next" },
        make("label", { class: "inline" }, make("span", {}, say("set_timeout_seconds")),
        select({ change: (/** @type {Event} */ event) =>
            saveSetting("timeout_seconds", /** @type {HTMLSelectElement} */ (event.target).value)
                .catch(() => {}) },
        choices.map((s) => /** @type {[string, string]} */ ([s, sayDuration(Number(s))])), now)));
}

/**
 * @param {Entry} entry
 * @param {Acts} acts
 */
function buildUndo(entry, acts) {
    const whole = Math.max(1, Number(setting("deliver_after") ?? 5)) * 1000;
    const head = make("h1", { tabindex: -1 });
    const art = make("span", { class: "art" });
    const sync = () => {
        const left = Math.max(0, entry.undo_until - performance.now());
        setText(head, say("saved_goes_in", { count: Math.ceil(left / 1000) }));
        art.replaceChildren(ring(left / whole, "big"));
    };
    sync();
    return { sync, node: make("div", { class: "ended" },
        make("div", { class: "end" }, art, make("div", {}, head, make("p", {}, say("saved_more")))),
        buildSummary(entry),
        make("p", { class: "btns" },
            button({ "data-key": "undo", click: acts.undo }, icon("undo"), say("undo"), key("U")),
            button({ class: "ghost", "data-key": "send-now", click: acts.sendNow },
                say("send_now"))),
        make("output", { class: "hint wrong", id: "problem" })) };
}

/** @param {Entry} entry */
export function isUndoable(entry) {
    return entry.undo_until > performance.now() &&
        ["submitted", "cancelled", "declined"].includes((asks.get(entry.id) ?? entry.ask).status);
}

/**
 * @param {Entry} entry
 * @param {Acts} acts
 * @returns {{node: HTMLElement, sync: () => void}}
 */
export function buildEnded(entry, acts) {
    if (isUndoable(entry))
        return buildUndo(entry, acts);
    const [title, what] = sayEnd(entry);
    const [symbol, tone] = END_MARKS[entry.ask.status] ?? ["done", ""];
    return { sync: () => {}, node: make("div", { class: "ended" },
        make("div", { class: "end" }, icon(symbol, `big ${tone}`),
            make("div", {}, make("h1", { tabindex: -1 }, title), make("p", {}, what))),
        buildSummary(entry), buildKept(entry), buildTell(entry, acts.told),
        buildMuteOffer(entry.ask),
        entry.ask.status === "timeout" && buildTimeForNew(), buildNext(),
        buildStanding(entry)) };
}
