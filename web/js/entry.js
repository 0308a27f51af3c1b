/*
 * entry.js - one ask as it lies open in this tab: its form, what was typed, and the draft that
 * follows the person to other tabs and devices. What the hub has not got yet is kept by this tab.
 */
import { call, line } from "./wire.js";
import { asks, isOn, isOpen, setting } from "./model.js";
import { describeValue, describeValues, judge, kindOf, mayDestroy, readValues, takesPicks,
    writeAnswer } from "./values.js";
import { tell } from "./signals.js";
import { takeForAgain } from "./again.js";

/**
 * @typedef {import("./values.js").Form} Form
 * @typedef {import("./values.js").Values} Values
 * @typedef {import("./model.js").Ask} Ask
 * @typedef {{id: string, ask: Ask, ask_shown: Ask, form: Form, values: Values, answer: any,
 *     result: any,
 *     hidden: Set<string>, is_touched: boolean, has_unsaved: boolean, is_sending: boolean,
 *     is_mine: boolean, undo_until: number, step: number, code: string, has_seen_end: boolean,
 *     reveals: boolean, one_at_a_time: boolean, keeps: string, problem: string,
 *     answer_key: string, passed_settings: boolean, attach: string, looked_at: string,
 *     is_empty_told: boolean, told: string, has_scrolled: boolean, has_panel: boolean, kept: any,
 *     is_from_earlier: boolean, talk: import("./talk.js").Said[]}} Entry
 */

const DRAFT_EVERY_MS = 1000;
const STEPS_MOST = 4;

/** @param {string} id */
const keptKey = (id) => `sayso-draft-${id}`;

/** Joins what may be shown to what was received.
 * @param {Form} form
 * @param {any} shown
 */
function joinShown(form, shown) {
    form.shown = shown;
    form.fields.forEach((field, at) => {
        field.shown = shown?.fields?.[at];
        (field.options ?? []).forEach((option, place) => {
            option.shown = field.shown?.options?.[place];
        });
    });
}

/**
 * @param {string} id
 * @param {any} got the reply of ask/get
 * @returns {Entry}
 */
export function newEntry(id, got) {
    /** @type {Ask} */
    const ask = asks.get(got.ask.session_id) ?? got.ask;
    const kept = sessionStorage.getItem(keptKey(id));
    const draft = kept ? JSON.parse(kept) : got.draft;

    joinShown(got.form, got.shown);
    const hidden = new Set(mayDestroy(got.form) ? [] : got.hidden ?? []);
    const earlier = isOpen(ask) && !draft ? takeForAgain(ask, got.form) : null;
    const values = isOpen(ask) ? readValues(got.form, draft ?? earlier)
        : readValues(got.form, got.answer, true);
    if (isOpen(ask) && !draft) {
        for (const option of hidden) /* a hidden default is not chosen */
            values.fields[got.form.fields[0].name].picks.delete(option);
    }
    const missing = got.form.fields.findIndex((/** @type {any} */ field) =>
        judge(field, values.fields[field.name]) !== "" ||
            describeValue(field, values.fields[field.name]) === "");
    return {
        id: got.ask.session_id, ask, ask_shown: { ...ask }, form: got.form, values,
        answer: got.answer, result: got.result,
        /* what was answered before is not sent by a key before it was looked at */
        hidden, is_touched: !!draft && (!!kept || !got.form.answered_ms), has_unsaved: !!kept,
        is_sending: false, is_mine: false,
        undo_until: ask.undo_ms ? performance.now() + ask.undo_ms : 0,
        /* a draft is gone on with where something is missing, or at the review */
        step: !draft ? 0 : missing < 0 ? got.form.fields.length : missing, code: "",
        has_seen_end: false, reveals: false, one_at_a_time: false,
        keeps: !isOpen(ask) && draft ? describeValues(got.form, readValues(got.form, draft)) : "",
        kept: !isOpen(ask) ? draft : null, is_from_earlier: !!earlier, talk: got.talk ?? [],
        problem: "", answer_key: "", passed_settings: false, attach: "", looked_at: "",
        has_scrolled: false, is_empty_told: false, told: "", has_panel: false,
    };
}

/** @param {Entry} entry */
export function hasSteps(entry) {
    const { fields } = entry.form;
    return fields.length > 1 && fields.length <= STEPS_MOST && fields.every(takesPicks);
}

/** Where the title is only a question of the form, it is that of the step, and said once.
 * @param {Entry} entry
 * @returns {import("./values.js").Field|null} the field whose label is the title
 */
export function titleField(entry) {
    const { form } = entry;
    const [first] = form.fields;
    const more = form.fields.length - 1;
    const isQuestion = form.fields.some((field) => field.label && field.label === form.title) ||
        (more > 0 && form.title === `${first.label} (+${more})`);
    if (!isQuestion || !form.fields.every(takesPicks))
        return null;
    return form.fields.length === 1 ? first
        : hasSteps(entry) ? form.fields[entry.step] ?? null : null;
}

/** Notes are there unless either side says no.
 * @param {Entry} entry
 */
export function hasNotes(entry) {
    return !!entry.form.allow_annotations && isOn("notes");
}

/** Whether picking is all it takes: what the person saved beats what the agent wants (R8.1).
 * @param {Entry} entry
 */
export function picksSend(entry) {
    const wish = setting("single_submit");
    const { fields, single_submit } = entry.form;
    const field = fields[0];

    if (mayDestroy(entry.form) || fields.length > 1 ||
        !(takesPicks(field) || kindOf(field).isYesNo) ||
        wish === "batch" || isOn("note_focus") || (field.min_selections ?? 0) > 1)
        return false;
    return wish === "single" ? takesPicks(field) && !!kindOf(field).isExclusive : !!single_submit;
}

/** Something was written that a slip of the finger must not send along.
 * @param {Entry} entry
 */
export function hasWritten(entry) {
    return entry.values.note.trim() !== (entry.form.global_annotation ?? "").trim() ||
        Object.values(entry.values.notes).some((text) => text.trim()) ||
        Object.values(entry.values.field_notes).some((text) => text.trim()) ||
        Object.values(entry.values.fields).some((value) => value.own || value.words.trim());
}

/** Why a pick that would send does not: what the person does just now says "not yet".
 * @param {Entry} entry
 * @returns {import("./language.js").Word|""}
 */
export function whyWaits(entry) {
    return hasWritten(entry) ? "written_press_send" : entry.has_scrolled ? "scrolled_press_send"
        : entry.has_panel ? "panel_press_send" : "";
}

/** @type {ReturnType<typeof setTimeout>|undefined} */
let draftTimer;
let draftSentAt = -Infinity;
/** @type {Entry|null} */
let draftOf = null;

/** @param {Entry} entry */
export function answerOf(entry) {
    return writeAnswer(entry.form, entry.values, hasNotes(entry));
}

function sendDraft() {
    const entry = draftOf;

    clearTimeout(draftTimer);
    draftTimer = undefined;
    if (!entry || !isOpen(entry.ask) || line.state !== "open")
        return;
    draftOf = null;
    draftSentAt = performance.now();
    call("ask/draft", { session_id: entry.id, draft: answerOf(entry) }).then(() => {
        if (!draftOf) {
            entry.has_unsaved = false;
            sessionStorage.removeItem(keptKey(entry.id));
            tell("draft", { saved: entry.id });
        }
    }, () => {}); /* the tab's own copy is still there */
}

/** Something was typed or picked.
 * @param {Entry} entry
 */
export function keepDraft(entry) {
    entry.is_touched = true;
    entry.has_unsaved = true;
    entry.is_empty_told = false;
    entry.told = "";
    entry.answer_key = ""; /* another answer is another attempt */
    sessionStorage.setItem(keptKey(entry.id), JSON.stringify(answerOf(entry)));
    draftOf = entry;
    if (draftTimer === undefined) {
        const wait = Math.max(0, draftSentAt + DRAFT_EVERY_MS - performance.now());
        draftTimer = setTimeout(sendDraft, wait);
    }
}

/** The line is back: what was typed in the meantime goes to the hub.
 * @param {Entry} entry
 */
export function resendDraft(entry) {
    if (!entry.has_unsaved || !isOpen(entry.ask))
        return;
    draftOf = entry;
    sendDraft();
}

/** It was sent or is over: nothing is left to be saved as a draft.
 * @param {Entry} entry
 */
export function dropDraft(entry) {
    if (draftOf === entry)
        draftOf = null;
    entry.has_unsaved = false;
    sessionStorage.removeItem(keptKey(entry.id));
}
