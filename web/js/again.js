/*
 * again.js - a draft that came too late serves when the agent asks the same again. It is filled in,
 * never sent by itself, and never into something destructive; kept by this tab alone.
 */
import { mayDestroy } from "./values.js";

/**
 * @typedef {import("./model.js").Ask} Ask
 * @typedef {import("./values.js").Form} Form
 */

const KEPT_KEY = "sayso-again";
const KEPT_MOST = 5;

/** What makes a question the same: who asks, the title, and what can be answered.
 * @param {Ask} ask
 * @param {Form} form
 */
function questionName(ask, form) {
    return JSON.stringify([ask.agent, form.title,
        form.fields.map((field) =>
            [field.name, field.kind, (field.options ?? []).map((option) => option.id)])]);
}

/** @returns {[string, any][]} newest last */
function readKept() {
    return JSON.parse(sessionStorage.getItem(KEPT_KEY) ?? "[]");
}

/** @param {[string, any][]} kept */
function writeKept(kept) {
    sessionStorage.setItem(KEPT_KEY, JSON.stringify(kept.slice(-KEPT_MOST)));
}

/**
 * @param {Ask} ask
 * @param {Form} form
 * @param {any} draft
 */
export function keepForAgain(ask, form, draft) {
    const name = questionName(ask, form);
    writeKept([...readKept().filter(([other]) => other !== name), [name, draft]]);
}

/** The draft for this question, once; null: there is none.
 * @param {Ask} ask
 * @param {Form} form
 */
export function takeForAgain(ask, form) {
    const name = questionName(ask, form);
    const kept = readKept();
    const found = mayDestroy(form) ? undefined : kept.find(([other]) => other === name);
    if (found)
        writeKept(kept.filter((row) => row !== found));
    return found?.[1] ?? null;
}
