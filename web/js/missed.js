/*
 * missed.js - what timed out while nobody looked: how many since the last visit, a word to the
 * agent all the same, and more time for what comes. Looked at is what lay open while a hand moved:
 * a page alone may have been opened by the hub, with nobody in front of it.
 */
import { button, foreign, icon, make } from "./dom.js";
import { say, sayCount, sayDuration, sayTime } from "./language.js";
import { asks, isOpen, saveSetting } from "./model.js";
import { isOneOf, mayDestroy, shownOf, takesPicks } from "./values.js";
import { call } from "./wire.js";
import { sayProblem } from "./problems.js";
import { on, tell } from "./signals.js";

/** @typedef {import("./entry.js").Entry} Entry */

export const missed = {
    count: 0,
    longer: 0,
    /** @type {import("./model.js").Ask[]} */
    asks: [],
};

async function loadMissed() {
    const got = await call("ask/unseen");
    missed.count = got.count;
    missed.asks = got.asks;
    missed.longer = got.longer_seconds ?? 0;
    tell("missed");
}

/** @param {() => string} current the ask that lies open */
export function startMissed(current) {
    const marked = new Set();
    const look = () => {
        const ask = asks.get(current());
        if (!ask || !isOpen(ask) || marked.has(ask.session_id))
            return;
        marked.add(ask.session_id);
        call("ask/seen", { session_id: ask.session_id })
            .catch(() => marked.delete(ask.session_id));
    };
    for (const hand of ["pointermove", "pointerdown", "keydown", "wheel", "touchstart"])
        document.addEventListener(hand, look, { capture: true, passive: true });
    on("asks", (/** @type {any} */ change) => {
        if (!change || change.ask.status === "timeout")
            loadMissed().catch(() => {}); /* the line is cut: it is loaded with the next one */
    });
}

function dismissMissed() {
    call("ask/seen").catch(() => {});
    missed.count = 0;
    tell("missed");
}

/** For new asks; those that ran out had less. */
function buildLonger() {
    const seconds = missed.longer;
    return seconds > 0 && button({ class: "small", "data-key": "longer", click: () => {
        missed.longer = 0;
        saveSetting("timeout_seconds", String(seconds)).then(() => tell("missed"), () => {});
    } }, say("longer_next_time", { time: sayDuration(seconds) }));
}

export function buildMissed() {
    if (missed.count === 0)
        return null;
    return make("div", { class: "banner warn missed", role: "status" }, icon("clock"),
        make("p", {}, make("b", {}, sayCount(missed.count, "one_unseen", "many_unseen")), " ",
            missed.asks.map((ask) => [make("a", { href: `/choice/${ask.session_id}` },
                foreign(ask.shown?.title ?? ask.title)), " "]).flat()),
        buildLonger(),
        button({ class: "small ghost", "data-key": "seen", click: dismissMissed }, say("got_it")));
}

/**
 * @param {import("./values.js").Field} field
 */
function choicesOf(field) {
    if (field.kind === "confirm")
        return [{ id: "yes", label: say("yes") }, { id: "no", label: say("no") }];
    return takesPicks(field)
        ? (field.options ?? []).map((option) =>
            ({ id: option.id, label: shownOf(option, "label") }))
        : [];
}

/** What was told already, as the hub has it.
 * @param {Entry} entry
 */
function buildTold({ ask, talk }) {
    const said = talk.filter((one) => one.after_deadline)[0];
    return make("section", { class: "kept told" }, make("h2", {}, say("told_later")),
        said && make("blockquote", { class: "plain", dir: "auto" },
            [said.confirmed === undefined ? "" : say(said.confirmed ? "yes" : "no"), said.text]
                .filter(Boolean).join("; ")),
        make("p", {}, say(ask.heard ? "told_heard" : "told_more"),
            " ", said && sayTime(said.at)));
}

/** Behind the deadline: a note, or what would have been chosen. What takes a code is not offered.
 * @param {Entry} entry
 * @param {() => void} done
 */
export function buildTell(entry, done) {
    const { ask, form } = entry;
    if (ask.status !== "timeout")
        return null;
    if (ask.told)
        return buildTold(entry);
    const field = form.fields[0];
    const choices = form.fields.length > 1 || mayDestroy(form) ? [] : choicesOf(field);
    const note = make("textarea", { id: "tell-note", rows: 2, maxlength: 2000 });
    const wrong = make("output", { class: "hint wrong" });
    const picks = choices.map(({ id, label }) => make("input", {
        type: isOneOf(field) || field.kind === "confirm" ? "radio" : "checkbox", name: "tell",
        value: id, "data-key": `tell-${id}`, "aria-label": label }));
    const send = () => {
        const chosen = picks.filter((pick) => pick.checked).map((pick) => pick.value);
        call("ask/tell", {
            session_id: ask.session_id,
            ...note.value.trim() && { global_annotation: note.value },
            ...chosen.length && (field.kind === "confirm"
                ? { fields: { [field.name]: chosen[0] === "yes" } } : { selected_ids: chosen }),
        }).then(() => {
            done();
            loadMissed().catch(() => {});
        }, (error) => wrong.replaceChildren(sayProblem(error)));
    };
    return make("section", { class: "kept tell" }, make("h2", {}, say("tell_anyway")),
        make("p", {}, say("tell_anyway_more")),
        choices.length > 0 && make("div", { class: "tell-choices" }, choices.map(({ label }, at) =>
            make("label", { class: "inline" }, picks[at], foreign(label)))),
        make("label", { for: "tell-note" }, say("note")),
        note,
        make("div", { class: "btns" }, button({ class: "small primary", "data-key": "tell",
            click: send }, say("tell_send")), buildLonger(), wrong));
}
