/*
 * ask_send.js - acts on an open ask: sending, the second act, cancelling, more time, later,
 * elsewhere. The hub's reply decides what is shown; nothing counts as sent before it.
 */
import { say } from "./language.js";
import { asks, isOpen, secondsLeft } from "./model.js";
import { call, line } from "./wire.js";
import { announce } from "./announce.js";
import { isTooEarly } from "./guard.js";
import { describeValue, describeValues, kindOf, mayDestroy, needsCode, takesPicks }
    from "./values.js";
import { answerOf, dropDraft, hasNotes, hasSteps } from "./entry.js";
import { sayAgent } from "./ask_bar.js";
import { openAskBack, openCancel, openLater } from "./dialogs.js";
import { sayProblem } from "./problems.js";
import { complain, focusIn, keepSaying } from "./ask_page.js";
import { syncFoot } from "./ask_foot.js";

/**
 * @typedef {import("./ask_page.js").AskPage} AskPage
 * @typedef {import("./entry.js").Entry} Entry
 */

const MORE_TIME_S = 300;

/**
 * A call about this ask; null if it failed, which was said.
 * @param {AskPage} page
 * @param {string} method
 * @param {Record<string, any>} [more]
 */
function act(page, method, more = {}) {
    const failed = (/** @type {any} */ error) => {
        complain(page, sayProblem(error));
        return null;
    };
    return call(method, { session_id: page.entry?.id, ...more }).catch(failed);
}

/** @param {AskPage} page */
function openEntry(page) {
    return page.entry && isOpen(page.entry.ask) ? page.entry : null;
}

/**
 * It is decided: by us, in this page.
 * @param {AskPage} page
 * @param {Entry} entry
 * @param {any} reply
 */
function ended(page, entry, reply) {
    entry.is_mine = true;
    entry.code = "";
    dropDraft(entry);
    entry.ask = asks.get(entry.id) ?? entry.ask;
    entry.ask.status = reply.status;
    entry.ask.decided_at ??= new Date().toISOString();
    entry.undo_until = reply.undo_ms ? performance.now() + reply.undo_ms : 0;
    if (page.entry === entry)
        page.render(true);
}

/**
 * @param {AskPage} page
 * @param {string} code of the second act; "" where none is wanted
 */
export async function deliver(page, code) {
    const { entry } = page;
    if (!entry)
        return;
    entry.is_sending = true;
    entry.answer_key ||= crypto.randomUUID();
    syncFoot(page);
    const answer = { ...answerOf(entry), session_id: entry.id, answer_key: entry.answer_key };
    try {
        const reply = await call("ask/answer", code ? { ...answer, code } : answer);
        entry.keeps = "";
        entry.answer = answer;
        ended(page, entry, reply);
    } catch (/** @type {any} */ error) {
        entry.is_sending = false;
        entry.code = "";
        if (["already_answered", "wrong_state"].includes(error.data?.code))
            await page.refetch();
        else
            page.redraw();
        complain(page, sayProblem(error));
    }
    entry.is_sending = false;
}

/** @param {AskPage} page */
async function beginSecondAct(page) {
    const { entry } = page;
    const reply = await act(page, "ask/challenge");
    if (!entry || !reply)
        return;
    entry.code = reply.code;
    page.redraw();
    focusIn(page, ".code-in");
    page.main.querySelector(".second")?.scrollIntoView({ block: "nearest" });
}

/** @param {AskPage} page */
export function leaveSecondAct(page) {
    if (!page.entry)
        return;
    page.entry.code = "";
    page.redraw();
    focusIn(page, ".opt input:checked");
}

/**
 * @param {AskPage} page
 * @param {number} step
 */
export function goToStep(page, step) {
    if (!page.entry)
        return;
    page.entry.step = Math.max(0, Math.min(step, page.entry.form.fields.length));
    page.entry.is_empty_told = false;
    page.entry.told = "";
    page.render();
    page.main.querySelector(".steps")?.scrollIntoView({ block: "nearest" });
    focusIn(page, page.main.querySelector(".opt input:checked")
        ? ".opt input:checked" : ".opt input, .review button");
}

/** An empty answer to a list is sent by a second press: the first says that nothing is chosen.
 * @param {Entry} entry
 */
function needsMeaning(entry) {
    const { fields } = entry.form;
    const field = hasSteps(entry) ? fields[entry.step] : fields.length === 1 ? fields[0] : null;
    if (!field || entry.is_empty_told || !takesPicks(field) || kindOf(field).isExclusive ||
        describeValue(field, entry.values.fields[field.name]) !== "")
        return false;
    entry.is_empty_told = true;
    return true;
}

/**
 * @param {AskPage} page
 * @param {"button"|"pick"|"enter"} how
 */
export function send(page, how) {
    const entry = openEntry(page);
    if (!entry || entry.is_sending)
        return;
    if (isTooEarly())
        complain(page, say("too_early"));
    else if (line.state !== "open")
        complain(page, say("send_when_back"));
    else if (how === "enter" && !entry.is_touched)
        page.send?.focus(); /* a key does not send defaults that were not looked at */
    else if (!page.send || page.send.disabled)
        announce(page.tally.textContent ?? "", true);
    else if (needsMeaning(entry))
        keepSaying(page, say("nothing_chosen"));
    else if (hasSteps(entry) && entry.step < entry.form.fields.length)
        goToStep(page, entry.step + 1);
    else if (needsCode(entry.form, entry.values))
        beginSecondAct(page);
    else
        deliver(page, "");
}

/** @param {AskPage} page */
export function extend(page) {
    const entry = openEntry(page);
    const left = entry && secondsLeft(entry.ask);
    if (typeof left === "number")
        act(page, "ask/extend", { seconds: Math.ceil(left) + MORE_TIME_S })
            .then((reply) => reply && announce(say("time_added")));
}

/** @param {AskPage} page */
export function undo(page) {
    act(page, "ask/undo");
}

/** @param {AskPage} page */
export async function sendNow(page) {
    if (!await act(page, "ask/send") || !page.entry)
        return;
    page.entry.undo_until = 0;
    page.render();
}

/** @param {AskPage} page */
export function cancel(page) {
    const entry = openEntry(page);
    if (!entry || line.state !== "open")
        return;
    openCancel(sayAgent(entry.ask), hasNotes(entry), async (method, note) => {
        const why = note.trim() ? { global_annotation: note } : {};
        const reply = await act(page, method, why);
        if (!reply)
            return;
        entry.keeps = entry.is_touched ? describeValues(entry.form, entry.values) : "";
        entry.answer = note.trim() ? why : null;
        ended(page, entry, reply);
    });
}

/** @param {AskPage} page */
export function askBack(page) {
    const entry = openEntry(page);
    if (entry && line.state === "open")
        openAskBack(sayAgent(entry.ask), (text) =>
            act(page, "ask/back", { text }).then((reply) => reply && announce(say("asked_back"))));
}

/** @param {AskPage} page */
export function later(page) {
    if (openEntry(page))
        openLater((seconds) => act(page, "ask/later", { seconds })
            .then((reply) => reply && page.shell.moved("")));
}

/** @param {AskPage} page */
export async function toTerminal(page) {
    const entry = openEntry(page);
    if (!entry || !await act(page, "ask/switch", { interface: "terminal" }))
        return;
    entry.attach = `sayso attach ${entry.id.slice(0, 8)}`;
    page.redraw();
}

/** Hides an option from now on, or shows it again; never so that too few are left.
 * @param {AskPage} page
 * @param {string} id
 */
export async function hideOption(page, id) {
    const entry = openEntry(page);
    const [field] = entry?.form.fields ?? [];
    if (!entry || !field.options?.some((option) => option.id === id) || mayDestroy(entry.form))
        return;
    const hidden = !entry.hidden.has(id);
    const left = field.options.filter((option) => !entry.hidden.has(option.id)).length;
    if (hidden && left <= Math.max(1, field.min_selections ?? 0)) {
        complain(page, say("hide_refused"));
        return;
    }
    if (!await act(page, "ask/hide", { option_id: id, hidden }))
        return;
    if (hidden)
        entry.hidden.add(id);
    else
        entry.hidden.delete(id);
    if (hidden)
        entry.values.fields[field.name].picks.delete(id);
    page.redraw();
}
