/*
 * ask_strip.js - what is in force for this ask, above every question: its own time and interface,
 * whatever the settings say by now. A value leads to where it is changed.
 */
import { icon, key, make, setText } from "./dom.js";
import { say, sayDuration } from "./language.js";
import { isOn, secondsBlocked, secondsLeft } from "./model.js";
import { hasNotes, picksSend } from "./entry.js";
import { sayChoice } from "./settings_form.js";

/** @typedef {import("./entry.js").Entry} Entry */

const STEP_S = 5; /* two clocks are read one after the other */

/** From being asked to the deadline, as it is now.
 * @param {Entry} entry
 */
function sayWhole({ ask }) {
    const left = secondsLeft(ask);
    const whole = left === null ? 0 : left + secondsBlocked(ask);
    return left === null ? "–"
        : sayDuration(whole < 60 ? whole : Math.round(whole / STEP_S) * STEP_S);
}

/**
 * @param {Entry} entry
 * @param {(name: string) => void} open
 */
export function buildStrip(entry, open) {
    const time = make("span", {}, sayWhole(entry));
    const rows = /** @type {[string, string, string|Node][]} */ ([
        ["interface", say("strip_interface"), sayChoice("interface", entry.ask.interface)],
        ["timeout_seconds", say("strip_time"), time],
        ["single_submit", say("strip_picking"),
            say(picksSend(entry) ? "sends_at_once" : "waits_for_send")],
        ["notes", say("strip_notes"), say(hasNotes(entry) ? "on" : "off")],
        ["language", say("strip_language"), say("language_name")],
    ]);
    const node = make("div",
        { class: "strip", role: "group", "aria-label": say("settings_in_force") },
        rows.map(([name, words, value]) => make("button", {
            type: "button", "data-key": `strip-${name}`, click: () => open(name),
        }, make("span", { class: name === "notes" ? "keep" : "" }, words), " ",
            make("b", {}, value))),
        isOn("do_not_disturb") && make("button", {
            type: "button", "data-key": "strip-dnd", click: () => open("do_not_disturb"),
        }, make("b", {}, say("do_not_disturb_short"))),
        make("button",
            { type: "button", class: "strip-go", "data-key": "strip-go", click: () => open("") },
            icon("set"), make("span", {}, say("change")), key("S")));
    return { node, sync: () => setText(time, sayWhole(entry)) };
}
