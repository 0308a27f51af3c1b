/* tell.js - a word to the agent of an ask that timed out; loaded with the first of these. */
import { button, foreign, icon, make } from "./dom.js";
import { addWords, say, sayCount, sayDuration, sayTime } from "./language.js";
import { saveSetting } from "./model.js";
import { tell } from "./signals.js";
import { isOneOf, kindOf, mayDestroy, shownOf, takesPicks } from "./values.js";
import { call } from "./wire.js";
import { sayProblem } from "./problems.js";
import { TELL_WORDS } from "./words_tell.js";

/** @typedef {import("./entry.js").Entry} Entry */
/** @typedef {typeof import("./missed.js").missed} Missed */

addWords(TELL_WORDS);

/**
 * @param {import("./values.js").Field} field
 */
function choicesOf(field) {
    if (kindOf(field).isYesNo)
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
    return [make("h2", {}, say("told_later")),
        said && make("blockquote", { class: "plain", dir: "auto" },
            [said.confirmed === undefined ? "" : say(said.confirmed ? "yes" : "no"), said.text]
                .filter(Boolean).join("; ")),
        make("p", {}, say(ask.heard ? "told_heard" : "told_more"),
            " ", said && sayTime(said.at))].filter((node) => node instanceof Node);
}

/** @param {Missed} missed */
function dismissMissed(missed) {
    call("ask/seen").catch(() => {});
    missed.count = 0;
    tell("missed");
}

/** For new asks; those that ran out had less.
 * @param {Missed} missed
 */
function buildLonger(missed) {
    const seconds = missed.longer;
    return seconds > 0 && button({ class: "small", "data-key": "longer", click: () => {
        missed.longer = 0;
        saveSetting("timeout_seconds", String(seconds)).then(() => tell("missed"), () => {});
    } }, say("longer_next_time", { time: sayDuration(seconds) }));
}

/** @param {Missed} missed */
export function buildUnseen(missed) {
    return make("div", { class: "banner warn missed", role: "status" }, icon("clock"),
        make("p", {}, make("b", {}, sayCount(missed.count, "one_unseen", "many_unseen")), " ",
            missed.asks.map((ask) => [make("a", { href: `/choice/${ask.session_id}` },
                foreign(ask.shown?.title ?? ask.title)), " "]).flat()),
        buildLonger(missed),
        button({ class: "small ghost", "data-key": "seen",
            click: () => dismissMissed(missed) }, say("got_it")));
}

/** A note, or what would have been chosen. What takes a code is not offered.
 * @param {Entry} entry
 * @param {Missed} missed
 * @param {() => void} done
 */
export function buildTelling(entry, missed, done) {
    const { ask, form } = entry;
    if (ask.told)
        return buildTold(entry);
    const field = form.fields[0];
    const choices = form.fields.length > 1 || mayDestroy(form) ? [] : choicesOf(field);
    const note = make("textarea", { id: "tell-note", rows: 2, maxlength: 2000 });
    const wrong = make("output", { class: "hint wrong" });
    const picks = choices.map(({ id, label }) => make("input", {
        type: isOneOf(field) ? "radio" : "checkbox", name: "tell",
        value: id, "data-key": `tell-${id}`, "aria-label": label }));
    const send = () => {
        const chosen = picks.filter((pick) => pick.checked).map((pick) => pick.value);
        call("ask/tell", {
            session_id: ask.session_id,
            ...note.value.trim() && { global_annotation: note.value },
            ...chosen.length && (kindOf(field).isYesNo
                ? { fields: { [field.name]: chosen[0] === "yes" } } : { selected_ids: chosen }),
        }).then(done, (error) => wrong.replaceChildren(sayProblem(error)));
    };
    return [make("h2", {}, say("tell_anyway")),
        make("p", {}, say("tell_anyway_more")),
        choices.length > 0 && make("div", { class: "tell-choices" }, choices.map(({ label }, at) =>
            make("label", { class: "inline" }, picks[at], foreign(label)))),
        make("label", { for: "tell-note" }, say("note")),
        note,
        make("div", { class: "btns" }, button({ class: "small primary", "data-key": "tell",
            click: send }, say("tell_send")),
            buildLonger(missed), wrong)]
        .filter((node) => node instanceof Node);
}
