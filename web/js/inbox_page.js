/* inbox_page.js - who waits, in one sentence; and what a person sees who is not signed in. */
import { button, draw, icon, key, make } from "./dom.js";
import { say, sayCount } from "./language.js";
import { activeAsks, isLater, model, secondsLeft, urgentAsk } from "./model.js";
import { line, signInWith } from "./wire.js";
import { on } from "./signals.js";
import { buildNotifyBanner, buildOfflineBanner } from "./banners.js";
import { announce, keepFocus } from "./announce.js";
import { canOpen, openLink } from "./come_back.js";
import { buildCommand } from "./command.js";
import { buildMissed, missed } from "./missed.js";

const SHORTLY_S = 60;
const TOKEN_COMMAND = "sayso token new --kind person";

function buildArt() {
    return draw("svg", { class: "empty-art", viewBox: "0 0 96 64", "aria-hidden": "true" },
        draw("path", {
            d: "M18 10h60a8 8 0 0 1 8 8v22a8 8 0 0 1-8 8H44L30 60V48H18a8 8 0 0 1-8-8V18" +
                "a8 8 0 0 1 8-8z",
        }),
        draw("path", { class: "t", d: "m37 29 8 8 15-17" }));
}

function buildEmpty() {
    const commands = /** @type {[string, string][]} */ ([
        [say("connect_agent"), "sayso install claude"],
        [say("try_it"),
            'sayso ask "Tea?" -p "Which one? The kettle is on." -o y=Yes -o n=No --recommend y'],
        [say("answer_in_terminal"), "sayso inbox"],
    ]);
    return make("div", { class: "empty" }, buildArt(),
        make("h1", { tabindex: -1 }, say("nobody_waiting")),
        make("p", {}, say("nobody_waiting_more")),
        make("ul", { class: "cmds" }, commands.map(([words, command]) =>
            make("li", {}, make("span", {}, words), buildCommand(command)))));
}

/** Those that wait; one that stopped waiting left its ask alone. */
function countAgents() {
    return new Set(activeAsks().filter((ask) => !isLater(ask) && !ask.detached)
        .map((ask) => `${ask.agent} ${JSON.stringify(ask.origin)}`)).size;
}

function buildWaiting() {
    const waiting = activeAsks().filter((ask) => !isLater(ask));
    const agents = countAgents();
    const soon = waiting.filter((ask) => (secondsLeft(ask) ?? Infinity) < SHORTLY_S).length;
    const urgent = urgentAsk();
    return make("div", { class: "empty pick" },
        make("h1", { tabindex: -1 }, agents ? sayCount(agents, "one_waiting", "many_waiting")
            : sayCount(waiting.length, "one_pending", "many_pending")),
        make("p", {}, soon ? sayCount(soon, "one_soon", "many_soon")
            : sayCount(waiting.length, "none_soon_one", "none_soon")),
        urgent && make("a", { class: "btn primary", href: `/choice/${urgent.session_id}`,
            "data-key": "most-urgent" },
            say(waiting.length === 1 ? "open_it" : "open_urgent"), key("⏎")));
}

/** @param {HTMLElement} main */
export function showInbox(main) {
    let drawn = "";
    const offline = buildOfflineBanner();
    const show = () => {
        const waiting = activeAsks().filter((ask) => !isLater(ask));
        const soon = waiting.filter((ask) => (secondsLeft(ask) ?? Infinity) < SHORTLY_S).length;
        const now = [model.is_ready, waiting.length, countAgents(), soon, urgentAsk()?.session_id,
            missed.count, missed.longer, missed.asks.map((ask) => ask.session_id).join(),
            document.documentElement.lang].join(" ");
        offline.sync();
        if (now === drawn)
            return;
        drawn = now;
        const isEmpty = waiting.length === 0;
        keepFocus(main, () =>
            main.replaceChildren(...[offline.node, buildMissed(),
            isEmpty && model.is_ready && buildNotifyBanner(),
            make("div", { class: `blank${isEmpty ? "" : " roomy"}` },
                !model.is_ready ? null : isEmpty ? buildEmpty() : buildWaiting())]
                    .filter((node) => node instanceof Node)));
    };
    show();
    const ends = [on("asks", show), on("settings", show), on("language", show), on("tick", show),
        on("line", show), on("missed", show)];
    return { close: () => ends.forEach((end) => end()) };
}

/** A page of another machine: links are of no use there, so the person enters a token here. */
function buildTokenForm() {
    const input = make("input", { id: "token", type: "password", autocomplete: "off",
        spellcheck: "false", required: true });
    return make("div", { class: "empty" }, buildArt(),
        make("h1", { tabindex: -1 }, say("not_signed_in")),
        make("p", {}, say(line.was_in ? "token_unknown" : "token_wanted")),
        make("ul", { class: "cmds" }, make("li", {}, make("span", {}, say("run_this_there")),
            buildCommand(TOKEN_COMMAND))),
        make("form", { class: "new-token", submit: (/** @type {Event} */ event) => {
            event.preventDefault();
            signInWith(input.value);
        } },
            make("label", { for: "token" }, say("token_label")),
            make("span", { class: "num text" }, input),
            make("button", { class: "btn primary", type: "submit" }, say("sign_in"))),
        make("p", { class: "hint" }, icon("shield"), " ", say("why_token")));
}

/** @param {HTMLElement} main */
export function showSignedOut(main) {
    const isFar = location.protocol === "https:";
    const id = /^\/choice\/([a-z2-7]{4,26})/.exec(location.pathname)?.[1] ?? "";
    let offers = false;
    /** @type {import("./language.js").Word|""} */
    let outcome = "";
    const open = async () => {
        outcome = await openLink(id);
        show();
        announce(say(outcome));
    };
    const buildOut = () => make("div", { class: "empty" }, buildArt(),
        make("h1", { tabindex: -1 }, say(line.was_in ? "was_signed_out" : "not_signed_in")),
        make("p", {}, say(line.why === "code_spent" ? "link_spent"
            : line.was_in ? "was_signed_out_more" : "not_signed_in_more")),
        outcome && make("p", { class: "hint" }, say(outcome)),
        offers && outcome !== "link_opened" && button({ class: "primary", "data-key": "open-link",
            click: open }, say("open_link")),
        make("ul", { class: "cmds" },
            make("li", {}, make("span", {}, say(offers ? "or_run_this" : "run_this")),
                buildCommand(id ? `sayso open ${id.slice(0, 8)}` : "sayso open"))),
        make("p", { class: "hint" }, icon("shield"), " ", say("why_sign_in")));
    const show = () => keepFocus(main, () => main.replaceChildren(
        make("div", { class: "blank" }, isFar ? buildTokenForm() : buildOut())));
    show();
    if (!isFar)
        canOpen().then((can) => {
            offers = can;
            if (can && line.state === "signed_out")
                show();
        });
    const ends = [on("language", show), on("line", show)]; /* also: refused once more */
    return { close: () => ends.forEach((end) => end()) };
}
