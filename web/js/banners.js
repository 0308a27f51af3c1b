/* banners.js - conditions that last: the line is cut, the agent has gone, notifications are off. */
import { button, icon, make, setText } from "./dom.js";
import { say, sayDuration } from "./language.js";
import { connect, line } from "./wire.js";
import { canAskPermission, askPermission, dismissPermission } from "./notify.js";

/**
 * @param {string} tone info or warn
 * @param {string} symbol
 * @param {string} head
 * @param {string} rest
 * @param {...Node} buttons
 */
function buildBanner(tone, symbol, head, rest, ...buttons) {
    return make("div", { class: `banner ${tone}`, role: "status" }, icon(symbol),
        make("p", {}, make("b", {}, head), " ", make("span", {}, rest)), buttons);
}

export function buildOfflineBanner() {
    const node = buildBanner("warn", "off", "", "",
        button({ class: "small", "data-key": "try-now", click: connect }, say("try_now")));
    const rest = node.querySelector("p > span");
    const sync = () => {
        const wait = Math.max(1, Math.ceil((line.retry_at - Date.now()) / 1000));
        node.hidden = line.state !== "lost";
        const isStranger = line.why === "stranger";
        setText(node.querySelector("b"), say(isStranger ? "line_stranger" : "line_lost"));
        setText(rest, say(isStranger ? "line_stranger_more" : "line_lost_more", { count: wait }));
    };
    sync();
    return { node, sync };
}

/** @param {import("./model.js").Ask} ask */
export function buildDetachedBanner(ask) {
    const node = buildBanner("info", "plug", "", say("agent_gone_more"));
    const sync = () => setText(node.querySelector("b"), ask.detached_at
        ? say("agent_gone_since",
            { time: sayDuration((Date.now() - Date.parse(ask.detached_at)) / 1000) })
        : say("agent_gone"));
    sync();
    return { node, sync };
}

export function buildAskedBackBanner() {
    return buildBanner("info", "note", say("asked_back"), say("asked_back_more"));
}

export function buildEarlierBanner() {
    return buildBanner("info", "note", say("from_earlier"), say("from_earlier_more"));
}

/** @param {number} answered_ms when the same call was answered, a moment ago */
export function buildAnsweredBanner(answered_ms) {
    const node = buildBanner("info", "note", "", say("answered_before_more"));
    const time = sayDuration(Math.max(0, Date.now() - answered_ms) / 1000);
    setText(node.querySelector("b"), say("answered_before", { time }));
    return node;
}

export function buildNotifyBanner() {
    if (!canAskPermission())
        return null;
    const node = buildBanner("info", "bell", say("notify_ask"), say("notify_ask_more"),
        button({ class: "small primary", click: () => askPermission().then(() => node.remove()) },
            say("turn_on")),
        button({ class: "small ghost", click: () => {
            dismissPermission();
            node.remove();
        } }, say("not_now")));
    return node;
}
