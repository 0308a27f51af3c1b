/* standing_page.js - answers that stand for asks to come: those there are, and those that history
 * proposes. They are changed where the hub is, by the commands shown; what is done shows here. */
import { foreign, icon, make, setText } from "./dom.js";
import { say, sayNumber } from "./language.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { announce, keepFocus } from "./announce.js";
import { sayProblem } from "./problems.js";
import { buildCase, sayAnswer, sayUntil, sayWhose } from "./standing_case.js";

/**
 * @typedef {{id: string, created_at: string, expires_at: string, expired: boolean, rule: Facts,
 *     shown: Shown, made_by: any}} Rule
 * @typedef {{count: number, rule: Facts, shown: Shown}} Suggestion
 * @typedef {import("./standing_case.js").Facts} Facts
 * @typedef {import("./standing_case.js").Shown} Shown
 */

/**
 * @param {Facts} facts
 * @param {Shown} shown
 * @param {...any[]} lines
 */
function buildWhat(facts, shown, ...lines) {
    const whose = sayWhose(facts, shown).flatMap((text) => [foreign(text), " · "]);
    return make("span", { class: "rt" },
        make("b", {}, foreign(shown?.title ?? facts.title)),
        make("span", { class: "standing-a" }, foreign(sayAnswer(facts))),
        make("small", {}, ...whose, say(facts.any_prompt ? "standing_any" : "standing_same")),
        lines.map((line) => make("small", {}, ...line)));
}

/** @param {HTMLElement} main */
export function showStanding(main) {
    const given = new URLSearchParams(location.search);
    const from = /^[a-z2-7]{4,26}$/.exec(given.get("from") ?? "")?.[0] ?? "";
    /** @type {Rule[]} */
    let rules = [];
    /** @type {Suggestion[]} */
    let proposed = [];
    let isLoaded = false;
    let asked = 0;
    const said = make("output", { class: "hint" });
    const body = make("div");
    const tellAll = (/** @type {string} */ words, isWrong = false) => {
        said.classList.toggle("wrong", isWrong);
        setText(said, words);
        announce(words);
    };
    const added = () => {
        history.replaceState(null, "", "/standing");
        chosen = null;
        tellAll(say("standing_added"));
        show();
        /** @type {HTMLElement|null} */ (main.querySelector("#standing-now"))?.focus();
    };
    let chosen = from ? buildCase(from, given.has("any")) : null;

    const buildRule = (/** @type {Rule} */ rule) =>
        make("li", { "data-id": rule.id }, icon("auto", rule.expired ? "" : "ok"),
            buildWhat(rule.rule, rule.shown, [
                say(rule.expired ? "expired" : "expires", { time: sayUntil(rule.expires_at) }),
                say("comma"), say("standing_made",
                    { time: sayUntil(rule.created_at), person: rule.made_by?.person ?? "?" }),
                say("comma"),
                make("a", { href: `/choice/${rule.rule.from}` }, say("standing_from"))],
            [say("revoke_there"), " ",
                make("code", {}, `sayso rule remove ${rule.id.slice(0, 8)}`)]));
    const buildProposed = (/** @type {Suggestion} */ one) => {
        const { from: id, any_prompt: isAny } = one.rule;
        return make("li", {}, icon("rec"), buildWhat(one.rule, one.shown,
            [say("standing_times", { count: sayNumber(one.count) })]),
            make("a", { class: "btn small", href: `/standing?from=${id}${isAny ? "&any" : ""}`,
                "data-key": `look-${id}`, "aria-label": say("standing_look_named",
                    { title: one.shown?.title ?? one.rule.title }) }, say("standing_look")));
    };
    const none = (/** @type {import("./language.js").Word} */ word) =>
        make("li", { class: "none" }, say(word));
    const drawLists = () => keepFocus(body, () => body.replaceChildren(...!isLoaded ? [] : [
        make("h2", { class: "sub", id: "standing-now", tabindex: -1 }, say("standing_now")),
        make("ul", { class: "rows" }, ...rules.length
            ? rules.map(buildRule) : [none("standing_none")]),
        make("h2", { class: "sub" }, say("standing_proposed")),
        make("ul", { class: "rows" }, ...proposed.length
            ? proposed.map(buildProposed) : [none("standing_no_proposals")]),
    ]));
    const load = async () => {
        const mine = ++asked;
        if (line.state !== "open")
            return; /* it is loaded when the line is there */
        try {
            const [all, might] = await Promise.all([call("rule/list"), call("rule/suggest")]);
            if (mine !== asked)
                return;
            rules = all.rules;
            proposed = might.suggestions;
            isLoaded = true;
            if (chosen && rules.some(({ rule, expired }) => rule.from === from && !expired))
                added();
            drawLists();
        } catch (error) {
            tellAll(sayProblem(error), true);
        }
    };
    const show = () => keepFocus(main, () => {
        drawLists();
        main.replaceChildren(make("div", { class: "page standing" },
            make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("standing")),
                make("a", { class: "btn small", href: "/history?via=rule",
                    "data-key": "standing-history" }, say("standing_history"))),
            make("p", { class: "standing-lead" }, say("standing_lead")),
            chosen?.node ?? "", said, body));
        load();
    });
    show();
    const again = () => {
        load();
        chosen?.load();
    };
    const ends = [
        on("rules", again),
        on("line", (state) => state === "open" && again()),
        on("language", () => {
            setText(said, "");
            show();
            chosen?.load();
        }),
    ];
    return { close: () => ends.forEach((end) => end()) };
}
