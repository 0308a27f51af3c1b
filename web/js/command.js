/* command.js - a command for a terminal: broken between words only, with a button to copy it. */
import { icon, make, setText } from "./dom.js";
import { say } from "./language.js";

/** @param {string} command */
export function buildCommand(command) {
    const code = make("code", {}, command.split(" ").flatMap((word, at) =>
        [at ? " " : "", make("span", { class: "word" }, word)]));
    const said = make("output", { class: "hint" });
    const copy = make("button", { type: "button", class: "icon-btn", title: say("copy"),
        "aria-label": say("copy_command", { command }), click: async () => {
            try {
                await navigator.clipboard.writeText(command);
                setText(said, say("copied"));
            } catch {
                getSelection()?.selectAllChildren(code);
                setText(said, say("selected_copy"));
            }
        } }, icon("copy"));
    return make("span", { class: "cmd" }, code, copy, said);
}
