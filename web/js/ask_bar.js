/* ask_bar.js - who asks, what sayso checked itself, from where, blocked how long; and the clock. */
import { button, draw, foreign, icon, key, make, setText } from "./dom.js";
import { say, sayClock, sayDuration } from "./language.js";
import { isLater, isOpen, partLeft, secondsBlocked, secondsLeft } from "./model.js";
import { line } from "./wire.js";

/** @typedef {import("./model.js").Ask} Ask */

const SOON_S = 60;
const NOW_S = 10;
const HELD_BELOW_S = 31;

/** What the agent calls itself is a claim, so it stands in quotes.
 * @param {Ask} ask
 */
export function sayAgent(ask) {
    return say("quoted", { text: ask.shown?.agent ?? ask.agent ?? say("unnamed") });
}

/** What sayso knows by itself.
 * @param {Ask} ask
 */
export function sayChecked(ask) {
    const origin = ask.origin ?? {};
    if (origin.token)
        return say("checked_token", { label: ask.shown?.token ?? origin.token });
    if (origin.via === "http")
        return say("checked_none");
    return say("checked_process", { pid: origin.pid ?? "?" });
}

/** @param {Ask} ask */
export function folderOf(ask) {
    return ask.shown?.directory ?? ask.origin?.directory ?? "";
}

/** @param {Ask} ask */
function tileOf(ask) {
    const words = (ask.agent ?? "?").match(/[\p{L}\p{N}]+/gu) ?? ["?"];
    const letters = words.length > 1
        ? words[0][0] + words[1][0] : [...words[0]].slice(0, 2).join("");
    return letters.toLowerCase();
}

/** How soon: "", "soon" or "now".
 * @param {number|null} left
 */
export function urgency(left) {
    return left === null || left >= SOON_S ? "" : left >= NOW_S ? "soon" : "now";
}

/**
 * @param {Ask} first
 * @param {{extend: () => void}} acts
 */
export function buildBar(first, acts) {
    const left = make("span", { class: "left", role: "timer", "aria-label": say("time_left") });
    const held = make("span", { class: "held" }, icon("hold"), make("span", {}, say("held")));
    const blocked = make("span");
    const rail = draw("rect", { class: "rail-fg", width: "0%", height: 2 });
    const extend = button({ class: "small", "data-key": "extend", click: acts.extend },
        say("more_time"), key("E"));
    const folder = folderOf(first);
    const node = make("header", { class: "bar" },
        make("a", { class: "icon-btn back", href: "/", "aria-label": say("back_to_inbox") },
            icon("left")),
        make("div", { class: "who" },
            make("span", { class: "tile", "aria-hidden": "true" }, tileOf(first)),
            make("b", {}, foreign(sayAgent(first)))),
        make("ul", { class: "facts" },
            make("li", { title: say("checked_by_us") }, icon("shield", "ok"),
                make("span", {}, make("span", { class: "vh" }, `${say("checked_by_us")}: `),
                    foreign(sayChecked(first)))),
            folder && make("li", { class: "cwd" }, icon("folder"),
                make("span", { class: "path" }, make("bdi", { dir: "ltr" }, folder))),
            make("li", {}, icon("wait"), blocked)),
        make("div", { class: "clock" }, held, left, extend),
        draw("svg", { class: "rail", "aria-hidden": "true" },
            draw("rect", { class: "rail-bg", width: "100%", height: 2 }), rail));

    /** @param {Ask} ask */
    const sync = (ask) => {
        const seconds = secondsLeft(ask);
        const isLive = line.state === "open";
        node.classList.toggle("over", !isOpen(ask));
        node.dataset.soon = isLive ? urgency(seconds) : "";
        setText(left, !isLive ? "–:––" : seconds === null ? "" : sayClock(seconds));
        held.hidden = !(ask.held_seconds && seconds !== null && seconds < HELD_BELOW_S && isLive);
        rail.setAttribute("width", `${isLive ? Math.round(partLeft(ask) * 1000) / 10 : 0}%`);
        setText(blocked, ask.detached ? say("stopped_waiting") : isLater(ask) ? say("later")
            : say("blocked", { time: sayDuration(secondsBlocked(ask)) }));
        extend.disabled = !isLive || seconds === null; // more than for ever there is not
    };
    sync(first);
    return { node, sync };
}
