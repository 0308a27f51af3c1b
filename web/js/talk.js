/* talk.js - what was asked back about an open question, what its agent explained; and how to. */
import { button, key, make } from "./dom.js";
import { say, sayTime } from "./language.js";
import { sayAgent } from "./ask_bar.js";

/** @typedef {{by: "person"|"agent", text: string, at: string, after_deadline?: boolean,
 *     confirmed?: boolean}} Said */

/**
 * @param {import("./entry.js").Entry} entry
 * @param {Said} said
 */
function buildSaid(entry, said) {
    return make("li", { class: said.by },
        make("p", { class: "who" },
            said.by === "person" ? say("talk_you") : sayAgent(entry.ask), " ",
            make("time", { datetime: said.at }, sayTime(said.at))),
        make("p", { class: "said", dir: "auto" }, said.text));
}

/**
 * @param {import("./entry.js").Entry} entry
 * @param {() => void} askBack
 */
export function buildTalk(entry, askBack) {
    return make("section", { class: "talk", "aria-label": say("talk") },
        entry.talk.length > 0 && make("ol", {}, entry.talk.map((said) => buildSaid(entry, said))),
        button({ class: "small ghost", "data-key": "ask-back", click: askBack },
            say("ask_back_button"), key("B")));
}
