/*
 * missed.js - what timed out while nobody looked: how many since the last visit, a word to the
 * agent all the same, and more time for what comes. Looked at is what lay open while a hand moved:
 * a page alone may have been opened by the hub, with nobody in front of it.
 */
import { button, foreign, icon, make } from "./dom.js";
import { say, sayCount, sayDuration } from "./language.js";
import { asks, isOpen, saveSetting } from "./model.js";
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

/** Behind the deadline of one that timed out; its code comes when it is needed.
 * @param {Entry} entry
 * @param {() => void} done
 */
export function buildTell(entry, done) {
    if (entry.ask.status !== "timeout")
        return null;
    const place = make("section", { class: "tell" });
    import("./tell.js").then((part) => place.replaceChildren(...part.buildTelling(entry, () => {
        done();
        loadMissed().catch(() => {});
    }, buildLonger() || null)), () => place.remove());
    return place;
}
