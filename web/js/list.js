/*
 * list.js - the left side: who waits and what was finished last. A new ask comes in on top without
 * moving what is under the pointer: rows are kept and only their words change.
 */
import { foreign, icon, make, ring, setText } from "./dom.js";
import { say, sayCount, sayClock, sayDuration } from "./language.js";
import { activeAsks, asks, finishedAsks, isLater, isOpen, model, partLeft, secondsBlocked,
    secondsLeft } from "./model.js";
import { line } from "./wire.js";
import { END_MARKS } from "./ask_ended.js";
import { missed } from "./missed.js";
import { folderOf, sayAgent, urgency } from "./ask_bar.js";

/** @typedef {import("./model.js").Ask} Ask */

const LATEST = 5;
const SYNC_EVERY_MS = 50;
const COMPLETED_SHOWN = 20;
const STILL_MS = 10000; /* a pointer that lies still for so long is not in use */
/** @type {Record<string, string>} */
const VIA_ICONS = {
    terminal: "term", web: "web", client: "plug", cli: "term", api: "plug", rule: "auto",
};

/** @param {string} via */
export function buildVia(via) {
    return [icon(VIA_ICONS[via] ?? "web"),
        make("span", {}, say(/** @type {any} */ (`channel_${via}`)))];
}

/** Where an ask is announced; once it is over, where it was answered.
 * @param {Ask} ask
 */
function buildBadge(ask) {
    const name = ask.answered_by?.via ?? ask.interface;
    return make("span", { class: "badge" }, name === "auto"
        ? [icon("inbox"), make("span", {}, say("interface_auto"))] : buildVia(name));
}

/** @param {Ask} ask */
function buildActive(ask) {
    const left = secondsLeft(ask);
    const tone = line.state === "open" ? urgency(left) : "";
    const folder = folderOf(ask).split("/").filter(Boolean).pop();
    return [
        ring(line.state === "open" ? partLeft(ask) : 0, tone ? "soon" : ""),
        make("span", { class: "row-title" }, foreign(ask.shown?.title ?? ask.title)),
        make("span", { class: `row-left ${tone ? "soon" : ""}` },
            line.state !== "open" || left === null ? "" : sayClock(left)),
        make("span", { class: "row-meta" },
            ask.destructive &&
                make("span", { class: "danger-t" }, icon("warn"), say("destructive_word")),
            ask.detached && make("span", {}, say("state_detached")),
            isLater(ask) && make("span", {}, say("later")),
            buildBadge(ask),
            make("span", {}, foreign(sayAgent(ask))),
            folder && make("span", {}, foreign(folder)),
            !ask.detached &&
                make("span", {}, say("blocked", { time: sayDuration(secondsBlocked(ask)) }))),
    ];
}

/** @param {Ask} ask */
function buildFinished(ask) {
    const [symbol, tone] = END_MARKS[ask.status] ?? ["done", ""];
    const ago = (Date.now() - Date.parse(ask.decided_at ?? ask.created_at)) / 1000;
    return [
        icon(symbol, tone),
        make("span", { class: "row-title" }, foreign(ask.shown?.title ?? ask.title)),
        make("span", { class: "row-left" }, sayDuration(ago)),
        make("span", { class: "row-meta" },
            make("span", {}, say(/** @type {any} */ (`state_${ask.status}`))),
            buildBadge(ask), make("span", {}, foreign(sayAgent(ask)))),
    ];
}

/** Everything a row shows: while that is the same, the row is left alone.
 * @param {Ask} ask
 */
function sayRow(ask) {
    const left = secondsLeft(ask);
    return [ask.status, ask.version, ask.detached, isLater(ask), ask.interface,
        ask.answered_by?.via, line.state,
        left === null ? "" : sayClock(left), Math.round(partLeft(ask) * 100),
        document.documentElement.lang,
        sayDuration(secondsBlocked(ask))].join("|");
}

/**
 * Rows by id, so that focus and pointer stay where they are.
 * @param {HTMLUListElement} list
 * @param {Ask[]} asks
 * @param {(ask: Ask) => any[]} build
 * @param {string} current
 * @param {string} className
 */
function syncRows(list, asks, build, current, className) {
    const rows = new Map([...list.children]
        .map((node) => [/** @type {HTMLElement} */ (node).dataset.id, node]));
    const wanted = asks.map((ask) => {
        const item = /** @type {HTMLElement} */ (rows.get(ask.session_id) ??
            make("li", { "data-id": ask.session_id }, make("a", { href: `/choice/${ask.session_id}`,
                "data-key": `row-${ask.session_id}` })));
        const link = /** @type {HTMLElement} */ (item.firstElementChild);
        link.className = className;
        const shown = sayRow(ask);
        if (link.dataset.row !== shown) {
            link.dataset.row = shown;
            link.replaceChildren(...build(ask).filter(Boolean));
        }
        if (ask.session_id === current)
            link.setAttribute("aria-current", "page");
        else
            link.removeAttribute("aria-current");
        return item;
    });
    for (const node of [...list.children]) {
        if (!wanted.includes(/** @type {HTMLElement} */ (node)))
            node.remove();
    }
    wanted.forEach((item, at) => {
        if (list.children[at] !== item)
            list.insertBefore(item, list.children[at] ?? null);
    });
}

/** While the pointer is in the list its rows stay where they are: none comes, none goes (R7.3).
 * @param {HTMLUListElement} list
 * @param {Ask[]} waiting
 */
function inPlace(list, waiting) {
    const shown = [...list.children]
        .map((row) => asks.get(/** @type {HTMLElement} */ (row).dataset.id ?? ""));
    return shown.length ? shown.filter((ask) => ask !== undefined) : waiting;
}

/** @param {{current: () => string}} shell */
export function buildList(shell) {
    let which = "active";
    const active = make("ul", { class: "asks" });
    const finished = make("ul", { class: "asks" });
    const none = make("p", { class: "none" });
    const unseen = make("a", { class: "none", href: "/", "data-key": "unseen" });
    const head = make("h2", { class: "list-h" });
    const count = make("b", { class: "n" });
    const pick = (/** @type {string} */ name, /** @type {import("./language.js").Word} */ word,
        /** @type {Node|null} */ extra) =>
        make("label", {}, make("input", {
            type: "radio", name: "show", value: name, checked: which === name,
            "data-key": `show-${name}`,
            change: () => {
                which = name;
                sync();
            },
        }), make("span", {}, say(word), extra && [" ", extra]));
    const node = make("nav", { class: "list", "aria-label": say("asks") },
        make("fieldset", { class: "seg side-seg" }, make("legend", { class: "vh" }, say("show")),
            pick("active", "active", count), pick("completed", "completed", null)),
        make("div", { class: "scroll", tabindex: -1 }, none, active, unseen, head, finished));
    let movedAt = -Infinity;
    const isHeld = () => performance.now() - movedAt < STILL_MS;
    for (const [name, at] of /** @type {[string, () => number][]} */ ([
        ["pointerenter", () => performance.now()], ["pointermove", () => performance.now()],
        ["pointerleave", () => -Infinity]])) {
        node.addEventListener(name, (event) => {
            movedAt = /** @type {PointerEvent} */ (event).pointerType === "mouse"
                ? at() : -Infinity;
            if (name === "pointerleave")
                sync();
        });
    }
    const sync = () => {
        const waiting = activeAsks();
        const done = finishedAsks();
        const isActive = which === "active";
        setText(count, String(waiting.length));
        count.hidden = waiting.length === 0;
        setText(none, !model.is_ready ? "" : isActive && waiting.length === 0 ? say("none_waiting")
            : !isActive && done.length === 0 ? say("none_finished") : "");
        none.hidden = none.textContent === "";
        active.hidden = !isActive;
        setText(unseen, sayCount(missed.count, "one_unseen", "many_unseen"));
        unseen.hidden = missed.count === 0;
        setText(head, say("latest_finished"));
        head.hidden = !isActive || done.length === 0;
        syncRows(active, isHeld() ? inPlace(active, waiting) : waiting,
            (ask) => isOpen(ask) ? buildActive(ask) : buildFinished(ask), shell.current(), "row");
        syncRows(finished, done.slice(0, isActive ? LATEST : COMPLETED_SHOWN), buildFinished,
            shell.current(), "row fin");
    };
    sync();
    /* A flood of news is one change of the list. */
    let isDue = false;
    const syncSoon = () => {
        if (isDue)
            return;
        isDue = true;
        setTimeout(() => {
            isDue = false;
            sync();
        }, SYNC_EVERY_MS);
    };
    return { node, sync, syncSoon };
}
