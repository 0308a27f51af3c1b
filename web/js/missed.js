/*
 * missed.js - what timed out while the person was away: how many since the last visit, a word to
 * the agent all the same, and more time for what comes. Looked at is what lay open while a hand
 * moved: a page alone may have been opened by the hub, with no person in front of it.
 */
import { make } from "./dom.js";
import { asks, isOpen } from "./model.js";
import { call } from "./wire.js";
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

const loadTell = () => import("./tell.js");

/** The line above the inbox; like the rest its code comes when it is needed. */
export function buildMissed() {
    const place = make("div", {});
    if (missed.count > 0)
        loadTell().then((part) => place.replaceWith(part.buildUnseen(missed)), () => {});
    return missed.count > 0 ? place : null;
}

/** Behind the deadline of one that timed out; its code comes when it is needed.
 * @param {Entry} entry
 * @param {() => void} done
 */
export function buildTell(entry, done) {
    if (entry.ask.status !== "timeout")
        return null;
    const place = make("section", { class: "tell" });
    loadTell().then((part) => place.replaceChildren(...part.buildTelling(entry, missed, () => {
        done();
        loadMissed().catch(() => {});
    })), () => place.remove());
    return place;
}
