/* ask_context.js - on wide screens, beside the question: what this agent asked before, and keys. */
import { foreign, icon, key, make } from "./dom.js";
import { say } from "./language.js";
import { call } from "./wire.js";
import { isOn } from "./model.js";
import { END_MARKS } from "./ask_ended.js";

const EARLIER = 3;

/** @param {import("./model.js").Ask} ask */
export function buildContext(ask) {
    const earlier = make("ul");
    const head = make("h2", {}, say("earlier"));
    head.hidden = true;
    call("ask/list", { which: "completed", agent: ask.agent, limit: EARLIER }).then(({ asks }) => {
        head.hidden = asks.length === 0;
        earlier.replaceChildren(...asks.map((/** @type {any} */ row) => {
            const [symbol, tone] = END_MARKS[row.status] ?? ["done", ""];
            return make("li", {}, icon(symbol, tone), make("span", {},
                make("a", { href: `/choice/${row.session_id}` },
                    foreign(row.shown?.title ?? row.title)),
                make("small", {}, say(/** @type {any} */ (`state_${row.status}`)))));
        }));
    }, () => {}); /* without the line there is nothing to show beside it */
    const rows = /** @type {[string, string[]][]} */ ([
        [say("key_move"), ["↑", "↓"]], [say("key_pick"), ["1", "–", "9"]], [say("note"), ["Tab"]],
        [say("key_next_ask"), ["]"]], [say("key_help"), ["?"]],
    ]);
    return make("aside", { class: "context", "aria-label": say("context") }, head, earlier,
        isOn("navigation_hints") && [make("h2", {}, say("keys")),
            make("dl", {}, rows.map(([words, keys]) => make("div", {}, make("dt", {}, words),
                make("dd", {}, keys.map((name) => key(name))))))]);
}
