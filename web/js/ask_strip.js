/* ask_strip.js - the configuration in force, above every question; a value leads to its setting. */
import { icon, key, make } from "./dom.js";
import { say, sayDuration } from "./language.js";
import { isOn, setting } from "./model.js";
import { hasNotes, picksSend } from "./entry.js";
import { sayChoice } from "./settings_form.js";

/** @typedef {import("./entry.js").Entry} Entry */

/**
 * @param {Entry} entry
 * @param {(name: string) => void} open
 */
export function buildStrip(entry, open) {
    const rows = /** @type {[string, string, string][]} */ ([
        ["interface", say("strip_interface"), sayChoice("interface", setting("interface"))],
        ["timeout_seconds", say("strip_time"),
            sayDuration(Number(setting("timeout_seconds") ?? 0))],
        ["single_submit", say("strip_picking"),
            say(picksSend(entry) ? "sends_at_once" : "waits_for_send")],
        ["notes", say("strip_notes"), say(hasNotes(entry) ? "on" : "off")],
        ["language", say("strip_language"), say("language_name")],
    ]);
    return make("div", { class: "strip", role: "group", "aria-label": say("settings_in_force") },
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
}
