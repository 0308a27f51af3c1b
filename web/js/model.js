/* model.js - what the page knows: asks, settings, the time left. The hub's word is the truth. */
import { call, hear, line } from "./wire.js";
import { on, tell } from "./signals.js";
import { setLanguage } from "./language.js";

/**
 * @typedef {{session_id: string, title: string, status: string, interface: string, agent: string,
 *     created_at: string, remaining_seconds: number|null, version: number, detached: boolean,
 *     detached_at?: string,
 *     destructive: boolean, decided_at: string|null, held_seconds?: number, undo_ms?: number,
 *     later_until?: string, asked_back?: boolean,
 *     told?: boolean, heard?: boolean, origin: any, answered_by: any, shown?: any,
 *     ends?: number, whole?: number}} Ask
 * @typedef {{name: string, value: any, source: string, scope: string, built_in: string}} Setting
 * @typedef {Setting & {group: string, type: string, choices?: string[], least?: number,
 *     most?: number}} SettingRow
 */

const FINISHED_SHOWN = 5;
const ACTIVE_MOST = 500;
const OPEN_STATES = ["pending", "pending_terminal_launch"];

/** @type {Map<string, Ask>} */
export const asks = new Map();
/** @type {Map<string, SettingRow>} */
const settings = new Map();
export const model = { is_ready: false };

/** @param {{status: string}} ask */
export function isOpen(ask) {
    return OPEN_STATES.includes(ask.status);
}

/** Keeps when its time is over, on a clock that the user cannot set.
 * @param {Ask} ask
 * @param {number|null} seconds
 */
function setRemaining(ask, seconds) {
    ask.remaining_seconds = seconds;
    ask.ends = seconds === null ? undefined : performance.now() + seconds * 1000;
    if (seconds !== null)
        ask.whole = Math.max(ask.whole ?? 0, seconds);
}

/** @param {Ask} ask */
export function secondsLeft(ask) {
    return ask.ends === undefined ? null : Math.max(0, (ask.ends - performance.now()) / 1000);
}

/** @param {Ask} ask */
export function secondsBlocked(ask) {
    return (Date.now() - Date.parse(ask.created_at)) / 1000;
}

/** What of the whole time is left, for rings and rails.
 * @param {Ask} ask
 */
export function partLeft(ask) {
    const left = secondsLeft(ask);
    const whole = Math.max(ask.whole ?? 0, (left ?? 0) + (isOpen(ask) ? secondsBlocked(ask) : 0));
    return left === null || whole <= 0 ? 0 : Math.min(1, left / whole);
}

/** Takes over what the hub says of an ask.
 * @param {Ask} ask
 */
export function keep(ask) {
    const before = asks.get(ask.session_id);
    ask.whole ??= before?.whole;
    setRemaining(ask, ask.remaining_seconds);
    asks.set(ask.session_id, ask);
    return before;
}

/** The active ones, newest first; those of one second in the order they came. */
export function activeAsks() {
    return [...asks.values()].filter(isOpen).reverse()
        .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
}

export function urgentAsk() {
    return activeAsks().filter((ask) => !isLater(ask))
        .sort((a, b) => (secondsLeft(a) ?? Infinity) - (secondsLeft(b) ?? Infinity))[0];
}

export function finishedAsks() {
    return [...asks.values()].filter((ask) => !isOpen(ask))
        .sort((a, b) => Date.parse(b.decided_at ?? b.created_at) -
            Date.parse(a.decided_at ?? a.created_at));
}

/** @param {Ask} ask */
export function isLater(ask) {
    return !!ask.later_until && Date.parse(ask.later_until) > Date.now();
}

/** Old finished ones are the history page's.
 */
function forgetOld() {
    for (const ask of finishedAsks().slice(FINISHED_SHOWN * 4))
        asks.delete(ask.session_id);
}

/**
 * @param {string} name
 * @returns {any}
 */
export function setting(name) {
    return settings.get(name)?.value;
}

/** @param {string} name */
export function isOn(name) {
    return setting(name) === true || setting(name) === "on";
}

/** @param {string} name */
export function settingRow(name) {
    return settings.get(name);
}

/** All of them, in the order of the hub's table. */
export function settingRows() {
    return [...settings.values()];
}

/**
 * @param {string} name
 * @param {string|null} value null: back to the built-in one
 */
export function saveSetting(name, value) {
    return call("settings/set", value === null ? { name } : { name, value });
}

let asked = "";

function speak() {
    const row = settings.get("language");
    setLanguage(String((row?.source !== "saved" && asked) || (row?.value ?? "auto")));
}

/** While an ask is shown: what its agent's client speaks, where the person has saved nothing.
 * @param {Ask|null} ask
 */
export function speakFor(ask) {
    asked = ask?.origin?.language ?? "";
    speak();
}

/** A change brings the value alone; what the row takes was told with the list.
 * @param {Setting[]} rows
 */
function takeSettings(rows) {
    for (const row of rows)
        settings.set(row.name, /** @type {SettingRow} */ ({ ...settings.get(row.name), ...row }));
    speak();
    const theme = setting("theme");
    if (theme === "light" || theme === "dark")
        document.documentElement.dataset.theme = theme;
    else
        delete document.documentElement.dataset.theme;
    document.documentElement.dataset.hints = isOn("navigation_hints") ? "on" : "off";
    tell("settings");
}

/** Reads everything: at the start, after a reconnect, and when we fell behind. What happened since
 * the last time is told ask by ask, so that a page which was cut off still notifies. */
async function load() {
    const [watched, finished, all] = await Promise.all([
        call("ask/watch", { which: "active", limit: ACTIVE_MOST, remaining: true }),
        call("ask/list", { which: "completed", limit: FINISHED_SHOWN }),
        call("settings/list"),
    ]);
    const before = new Map(asks);
    asks.clear();
    const newestFirst = [...watched.asks, ...finished.asks];
    for (const ask of newestFirst.reverse()) {
        ask.whole = before.get(ask.session_id)?.whole;
        keep(ask);
    }
    takeSettings(all.settings);
    for (const ask of model.is_ready ? asks.values() : []) {
        if (before.get(ask.session_id)?.status !== ask.status)
            tell("asks", { ask, before: before.get(ask.session_id) });
    }
    model.is_ready = true;
    tell("asks", null);
}

function reload() {
    if (line.state === "open")
        load().catch(() => {}); /* the line is cut: it is loaded again with the next one */
}

/** Who decided stands in the store, not in the event: the list wants to say it too.
 * @param {Ask} ask
 */
function learnWho(ask) {
    call("ask/get", { session_id: ask.session_id }).then((got) => {
        if (asks.get(ask.session_id) !== ask)
            return;
        ask.answered_by = got.ask.answered_by;
        tell("asks", null);
    }, () => {}); /* the line is cut: all is listed again with the next one */
}

export function startModel() {
    hear("ask/changed", ({ ask }) => {
        const before = keep(ask);
        forgetOld();
        tell("asks", { ask, before });
        tell("ask", ask);
        if (!isOpen(ask) && !ask.answered_by)
            learnWho(ask);
    });
    hear("ask/remaining", ({ asks: left }) => {
        for (const [id, seconds] of Object.entries(left)) {
            const ask = asks.get(id);
            if (ask)
                setRemaining(ask, seconds);
        }
        tell("time");
    });
    hear("ask/drafted", (draft) => tell("draft", draft));
    hear("settings/changed", ({ settings: rows }) => takeSettings(rows));
    hear("rule/changed", () => tell("rules"));
    hear("resync", reload);
    on("line", reload);
    setInterval(() => tell("tick"), 1000);
}
