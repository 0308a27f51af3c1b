/*
 * notify.js - telling a person who looks elsewhere: notification, title, favicon, sound. Never
 * while the page is in front, and at most one notification in ten seconds however many ask (B4). A
 * warning that less than ten seconds are left comes immediately: later would be too late.
 */
import { say, sayCount } from "./language.js";
import { activeAsks, isLater, isOn, isOpen, secondsLeft, setting } from "./model.js";
import { on } from "./signals.js";
import { sayAgent } from "./ask_bar.js";
import { isMuted } from "./mute.js";

const DISMISSED_KEY = "sayso-notify-dismissed";
const EVERY_MS = 10000;
const SHORT_S = 10;

let lastAt = -Infinity;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
/** @type {{title: string, body: string, tag: string, id: string}[]} */
let waiting = [];
const warned = new Set();

export function canAskPermission() {
    return "Notification" in window && Notification.permission === "default" &&
        isOn("notifications") &&
        !sessionStorage.getItem(DISMISSED_KEY);
}

export function askPermission() {
    return Notification.requestPermission();
}

export function dismissPermission() {
    sessionStorage.setItem(DISMISSED_KEY, "yes");
}

function isInFront() {
    return !document.hidden && document.hasFocus();
}

/** Whether the time of day lies in a period such as 22:00-07:00.
 * @param {string} period
 * @param {Date} now
 */
export function isWithin(period, now) {
    const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(period);
    if (!found)
        return false;
    const [from, to] = [Number(found[1]) * 60 + Number(found[2]),
        Number(found[3]) * 60 + Number(found[4])];
    const at = now.getHours() * 60 + now.getMinutes();
    return from <= to ? at >= from && at < to : at >= from || at < to;
}

function isQuiet() {
    return isOn("do_not_disturb") || isWithin(String(setting("quiet_hours") ?? ""), new Date());
}

/** Two short tones, made here: no file to fetch. */
function ring2() {
    try {
        const context = new AudioContext();
        for (const [at, pitch] of [[0, 660], [0.16, 880]]) {
            const tone = context.createOscillator();
            const volume = context.createGain();
            tone.frequency.value = pitch;
            volume.gain.setValueAtTime(0.0001, context.currentTime + at);
            volume.gain.exponentialRampToValueAtTime(0.08, context.currentTime + at + 0.02);
            volume.gain.exponentialRampToValueAtTime(0.0001, context.currentTime + at + 0.14);
            tone.connect(volume).connect(context.destination);
            tone.start(context.currentTime + at);
            tone.stop(context.currentTime + at + 0.15);
        }
        setTimeout(() => void context.close(), 500);
    } catch {
        /* a browser without sound is silent */
    }
}

function flush() {
    timer = undefined;
    const rows = waiting;
    waiting = [];
    if (rows.length === 0 || isInFront() || isQuiet())
        return;
    lastAt = performance.now();
    show(rows);
}

/** @param {typeof waiting} rows */
function show(rows) {
    const one = rows[rows.length - 1];
    const isOne = rows.length === 1;
    if (isOn("sound") && !isQuiet())
        ring2();
    if (!("Notification" in window) || Notification.permission !== "granted")
        return;
    const note =
        new Notification(isOne ? one.title : sayCount(rows.length, "notify_many", "notify_many"),
        { body: isOne ? one.body : rows.map((row) => row.body).slice(0, 4).join("\n"),
            tag: isOne ? one.tag : "sayso" });
    note.addEventListener("click", () => {
        window.focus();
        history.pushState(null, "", `/choice/${one.id}`);
        dispatchEvent(new PopStateEvent("popstate"));
        note.close();
    });
}

/**
 * @param {string} title
 * @param {import("./model.js").Ask} ask
 * @param {boolean} [isLast] there is no later moment: neither quiet nor the pause holds it back
 */
function notify(title, ask, isLast = false) {
    if (!isOn("notifications") || isInFront() || isMuted(ask) ||
        (!isLast && (isQuiet() || isLater(ask))))
        return;
    const row = { title, body: `${sayAgent(ask)} ${ask.shown?.title ?? ask.title}`,
        tag: ask.session_id, id: ask.session_id };
    if (isLast) {
        show([row]);
        return;
    }
    waiting.push(row);
    if (timer === undefined)
        timer = setTimeout(flush, Math.max(0, lastAt + EVERY_MS - performance.now()));
}

/** The number of those who wait, in the title and as a dot. */
function showCount() {
    const count = activeAsks().filter((ask) => !isLater(ask)).length;
    document.title = count ? `(${count}) sayso` : "sayso";
    const link = /** @type {HTMLLinkElement|null} */ (document.getElementById("favicon"));
    const wanted = link?.dataset[count ? "dot" : "plain"];
    if (link && wanted && link.getAttribute("href") !== wanted)
        link.setAttribute("href", wanted);
}

export function startNotify() {
    on("asks", (change) => {
        showCount();
        if (!change)
            return;
        const { ask, before } = change;
        if (!before && isOpen(ask))
            notify(say("notify_new"), ask);
        if (before && isOpen(before) && ask.status === "timeout")
            notify(say("notify_timeout"), ask);
        if (!isOpen(ask))
            warned.delete(ask.session_id);
    });
    const warn = () => {
        for (const ask of activeAsks()) {
            const left = secondsLeft(ask);
            if (left === null || left >= SHORT_S) {
                warned.delete(ask.session_id);
            } else if (!warned.has(ask.session_id)) {
                warned.add(ask.session_id);
                notify(say("notify_short"), ask, true);
            }
        }
    };
    on("tick", warn);
    on("time", warn); /* browsers slow the ticks of a tab that is not looked at */
}
