/*
 * ask_page.js - what the parts of an open ask share: the ask as it lies open, and how to draw it.
 * ask_view.js makes it, ask_send.js acts on it, ask_foot.js shows what can be done.
 */
import { make, setText } from "./dom.js";
import { announce } from "./announce.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {{openSettings: (name: string) => void, panel: () => HTMLElement|null,
 *     hasPanel: () => boolean,
 *     moved: (id: string) => void}} AskShell
 * @typedef {{main: HTMLElement, id: string, shell: AskShell, entry: Entry|null, is_closed: boolean,
 *     parts: {sync: () => void}[], lasting: {sync: () => void}|null,
 *     strip: {sync: () => void, node: HTMLElement}|null, send: HTMLButtonElement|null,
 *     tally: HTMLOutputElement,
 *     render: (toTitle?: boolean) => void, redraw: () => void,
 *     refetch: () => Promise<void>}} AskPage
 */

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {AskShell} shell
 * @returns {AskPage}
 */
export function newAskPage(main, id, shell) {
    return {
        main, id, shell, entry: null, is_closed: false, parts: [], lasting: null, strip: null,
        send: null,
        tally: make("output", { class: "tally", id: "tally" }),
        render: () => {}, redraw: () => {}, refetch: async () => {},
    };
}

/** Says beside Send, and aloud, why something did not happen.
 * @param {AskPage} page
 * @param {string} text
 */
export function complain(page, text) {
    setText(page.tally, text);
    announce(text, true);
}

/** The same, until something is changed.
 * @param {AskPage} page
 * @param {string} text
 */
export function keepSaying(page, text) {
    if (page.entry)
        page.entry.told = text;
    complain(page, text);
}

/** @param {AskPage} page */
export function syncParts(page) {
    for (const part of page.parts)
        part.sync();
}

/**
 * @param {AskPage} page
 * @param {string} selector
 */
export function focusIn(page, selector) {
    const node = /** @type {HTMLElement|null} */ (page.main.querySelector(selector));
    node?.focus({ preventScroll: true });
}
