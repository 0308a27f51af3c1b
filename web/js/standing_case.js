/* standing_case.js - one answer before it stands: for which asks, until when, and what it would
 * have answered so far. */
import { foreign, icon, make, select, setText } from "./dom.js";
import { addWords, languageTag, say, sayNumber, sayWhen } from "./language.js";
import { call, line } from "./wire.js";
import { keepFocus } from "./announce.js";
import { sayProblem } from "./problems.js";
import { sayAgent } from "./ask_bar.js";
import { STANDING_WORDS } from "./words_standing.js";

/**
 * @typedef {{from: string, tool: string, title: string, agent: string|null, directory: string|null,
 *     any_prompt: boolean, summary?: string, confirmed?: boolean}} Facts
 * @typedef {{title?: string, agent?: string, directory?: string}|undefined} Shown
 */

addWords(STANDING_WORDS);
const TERMS = [1, 7, 30, 90, 365];
const TERM_FIRST = 30;

/** @param {string|number} at */
export function sayUntil(at) {
    return new Date(at).toLocaleString(languageTag(),
        { dateStyle: "medium", timeStyle: "short", hour12: false });
}

/** @param {{summary?: string, confirmed?: boolean}} facts */
export function sayAnswer(facts) {
    return facts.confirmed === undefined
        ? facts.summary || say("nothing") : say(facts.confirmed ? "yes" : "no");
}

/** @param {Facts} facts
 * @param {Shown} shown */
export function sayWhose(facts, shown) {
    return [sayAgent(/** @type {any} */ ({ agent: facts.agent, shown })),
        shown?.directory ?? facts.directory ?? ""].filter(Boolean);
}

/** @param {number} days */
function sayTerm(days) {
    return days === 1 ? say("standing_day") : days === 365 ? say("standing_year")
        : say("standing_days", { count: days });
}

/** @param {any} ask one that was answered before, of this kind */
function buildPast(ask) {
    return make("li", {}, icon(ask.same ? "check" : "warn", ask.same ? "ok" : "warn"),
        make("span", { class: "rt" },
            make("a", { href: `/choice/${ask.session_id}` }, foreign(sayAnswer(ask))),
            make("small", {}, say(ask.same ? "standing_alike" : "standing_unlike"),
                say("comma"), sayWhen(ask.created_at))));
}

/**
 * @param {string} from the ask whose answer it is
 * @param {boolean} isAny whatever the prompt says
 */
export function buildCase(from, isAny) {
    const node = make("section", { class: "kept standing-case", "aria-labelledby": "standing-h" });
    const said = make("output", { class: "hint wrong" });
    /** @type {any} */
    let seen = null;
    let why = "";
    let days = TERM_FIRST;
    let asked = 0;

    const command = () =>
        `sayso rule add ${from.slice(0, 8)} --for ${days}${isAny ? " --any-prompt" : ""}`;
    const row = (/** @type {string} */ term, /** @type {any[]} */ ...inside) =>
        make("div", {}, make("dt", {}, term), make("dd", {}, ...inside));
    const buildTerms = () => make("div", { class: "standing-terms" },
        make("label", { for: "standing-for" }, say("standing_for")),
        select({ id: "standing-for", "data-key": "standing-for",
            change: (/** @type {Event} */ event) => {
                days = Number(/** @type {HTMLSelectElement} */ (event.target).value);
                redraw();
            } }, TERMS.map((term) => /** @type {[string, string]} */ ([String(term),
            sayTerm(term)])), String(days)),
        seen.tool === "provide_choice" && make("label", { class: "standing-any" },
            make("input", { type: "checkbox", checked: isAny, "data-key": "standing-any",
                change: (/** @type {Event} */ event) => {
                    isAny = /** @type {HTMLInputElement} */ (event.target).checked;
                    setText(said, "");
                    load();
                } }), make("span", {}, say("standing_any_box"))));
    const head = () => make("h2", { id: "standing-h", tabindex: -1 }, say("standing_case"));
    const leave = (/** @type {"close"|"not_now"} */ word) => make("a",
        { class: "btn ghost", href: "/standing", "data-key": "standing-not" }, say(word));
    const build = () => {
        if (why)
            return [head(), make("p", { class: "standing-why" }, icon("warn", "warn"), why),
                make("p", { class: "btns" }, leave("close"))];
        if (!seen)
            return [head(), said];
        const [agent, folder] = sayWhose(seen, seen.shown);
        return [head(), make("dl", { class: "sum" },
            row(say("question"), make("a", { href: `/choice/${seen.from}` },
                foreign(seen.shown?.title ?? seen.title))),
            row(say("answer"), make("b", { class: "plain" }, foreign(sayAnswer(seen)))),
            row(say("agent"), foreign(agent)),
            folder && row(say("standing_project"), foreign(folder)),
            row(say("standing_prompt"), say(isAny ? "standing_any" : "standing_same"))),
        buildTerms(),
        make("h3", {}, say("standing_would")),
        make("p", { class: seen.other ? "wrong" : "hint", role: "status" }, say("standing_so_far",
            { same: sayNumber(seen.same), other: sayNumber(seen.other) })),
        make("ul", { class: "rows" }, seen.asks.map(buildPast)),
        make("ul", { class: "cmds" }, make("li", {}, make("span", {}, say("run_this_there")),
            make("code", { "data-key": "standing-do" }, command()))),
        make("p", { class: "btns" }, leave("not_now"), said)];
    };
    const redraw = () => keepFocus(node, () => node.replaceChildren(...build()
        .filter((part) => part instanceof Node)));
    const load = async () => {
        const mine = ++asked;
        if (line.state !== "open")
            return; /* it is loaded when the line is there */
        try {
            const { ask } = await call("ask/get", { session_id: from });
            why = ask.destructive ? say("never_stands")
                : ask.status !== "submitted" ? say("standing_not_answered") : "";
            const found = why ? null : await call("rule/preview",
                { session_id: from, ...isAny ? { any_prompt: true } : {} });
            if (mine !== asked)
                return;
            seen = found;
        } catch (error) {
            if (mine === asked)
                setText(said, sayProblem(error));
        }
        redraw();
    };
    redraw();
    load();
    return { node, load };
}
