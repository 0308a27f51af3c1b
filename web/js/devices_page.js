/* devices_page.js - who may come in: this tab and others, agents' tokens; each can be revoked. */
import { button, foreign, icon, make, setText } from "./dom.js";
import { say, sayWhen } from "./language.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { sayProblem } from "./problems.js";

/** @typedef {{id: string, kind: string, label: string, created_at: string,
 *     expires_at: string|null, expired: boolean,
 *     connected?: boolean}} Token */

const PEOPLE_KINDS = ["tab", "device", "person"];

/** @param {HTMLElement} main */
export function showDevices(main) {
    const people = make("ul", { class: "rows" });
    const agents = make("ul", { class: "rows" });
    const said = make("output", { class: "hint wrong" });
    const fresh = make("p", { class: "fresh" });

    const revoke = (/** @type {Token} */ token) =>
        call("token/revoke", { id: token.id })
            .then(load, (error) => setText(said, sayProblem(error)));
    const buildToken = (/** @type {Token} */ token) => {
        const isThis = token.id === line.tab;
        const when = say("since", { time: sayWhen(token.created_at) }) +
            (token.expires_at ? say("comma") + say(token.expired ? "expired" : "expires",
                { time: sayWhen(token.expires_at) }) : "");
        const what = PEOPLE_KINDS.includes(token.kind) ? when : `${say("may_ask_only")} ${when}`;
        return make("li", {}, icon(token.kind === "device"
            ? "phone" : PEOPLE_KINDS.includes(token.kind) ? "web" : "plug"),
            make("span", { class: "rt" }, make("b", {}, foreign(token.label || say("unnamed"))),
                make("small", {}, what)),
            (isThis || token.connected) &&
                make("span", { class: "tag plain" }, say(isThis ? "this_tab" : "open_now")),
            button({ class: "small", "data-key": `revoke-${token.id}`, "aria-label": isThis
                ? null : say("revoke_named", { label: token.label || token.id }),
                click: () => revoke(token) }, say(isThis ? "sign_out" : "revoke")));
    };
    const none = () => make("li", { class: "none" }, say("none_yet"));
    const load = () => void (line.state === "open" && call("token/list").then(({ tokens }) => {
        setText(said, "");
        const mine = tokens
            .filter((/** @type {Token} */ token) => PEOPLE_KINDS.includes(token.kind));
        const theirs = tokens
            .filter((/** @type {Token} */ token) => !PEOPLE_KINDS.includes(token.kind));
        people.replaceChildren(...mine.length ? mine.map(buildToken) : [none()]);
        agents.replaceChildren(...theirs.length ? theirs.map(buildToken) : [none()]);
    }, (error) => setText(said, sayProblem(error))));
    const showNew = (/** @type {{token: string}} */ made) => {
        fresh.replaceChildren(say("new_token_once"), " ", make("code", {}, made.token));
        load();
    };
    const create = (/** @type {string} */ label) => call("token/new", { kind: "agent", label })
        .then(showNew, (error) => setText(said, sayProblem(error)));
    const show = () => {
        const label = make("input",
            { type: "text", id: "token-label", "data-key": "token-label", maxlength: 128 });
        main.replaceChildren(make("div", { class: "page" },
            make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("devices"))),
            make("div", { class: "two" },
                make("section", { class: "devs" },
                    make("h2", { class: "sub" }, say("signed_in")), people,
                    make("h2", { class: "sub" }, say("agents_tokens")), agents,
                    make("form", { class: "new-token", submit: (/** @type {Event} */ event) => {
                        event.preventDefault();
                        create(label.value.trim());
                        label.value = "";
                    } }, make("label", { for: "token-label" }, say("new_token_for")),
                        make("span", { class: "num text" }, label),
                    button({ class: "small", type: "submit" }, say("make_token"))), fresh, said),
                make("section", { class: "pair" },
                    make("h2", { class: "sub" }, say("another_browser")),
                    make("p", {}, say("another_browser_more")),
                    make("p", {}, make("code", {}, "sayso open"))))));
        load();
    };
    show();
    const ends = [on("language", show), on("line", (state) => state === "open" && load())];
    return { close: () => ends.forEach((end) => end()) };
}
