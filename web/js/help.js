/* help.js - all keys, as a table: the dialog and the page show the same. */
import { make } from "./dom.js";
import { say } from "./language.js";
import { on } from "./signals.js";
import { buildKeys } from "./dialogs.js";

/** @typedef {{name: string, rows: [string, string[]][]}} KeyGroup */

/** @returns {KeyGroup[][]} columns */
export function KEY_GROUPS() {
    return [
        [{ name: say("keys_answer"), rows: [
            [say("key_move"), ["↑", "↓", "J", "K"]],
            [say("key_pick"), ["1", "–", "9"]],
            [say("key_yes_no"), ["Y", "N"]],
            [say("key_tick"), ["Space"]],
            [say("key_all_none"), ["A", "X"]],
            [say("key_send"), ["⏎"]],
            [say("key_send_field"), ["Ctrl", "⏎"]],
            [say("key_own"), ["O"]],
            [say("key_cancel"), ["Esc", "Q"]],
            [say("undo"), ["U"]],
        ] }],
        [{ name: say("keys_notes"), rows: [
            [say("key_option_note"), ["Tab"]],
            [say("note_to_agent"), ["N"]],
            [say("key_preview"), ["P"]],
            [say("filter_options"), ["/"]],
            [say("key_hide"), ["-"]],
            [say("key_show_hidden"), ["Shift", "H"]],
        ] }, { name: say("keys_time"), rows: [
            [say("key_more_time"), ["E"]],
            [say("answer_later"), ["L"]],
            [say("ask_back_title"), ["B"]],
            [say("key_terminal"), ["T"]],
            [say("settings"), ["S"]],
        ] }],
        [{ name: say("keys_asks"), rows: [
            [say("key_next_ask"), ["]", "["]],
            [say("key_next_question"), ["→", "←"]],
            [say("inbox"), ["G", "I"]],
            [say("history"), ["G", "H"]],
            [say("standing"), ["G", "A"]],
            [say("key_help"), ["?"]],
        ] }],
    ];
}

/** @param {HTMLElement} main */
export function showHelp(main) {
    const show = () => main.replaceChildren(make("div", { class: "page" },
        make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("shortcuts"))),
        make("div", { class: "keys" }, buildKeys("h2")),
        make("p", { class: "hint" }, say("keys_more"))));
    show();
    return { close: on("language", show) };
}
