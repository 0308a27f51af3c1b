/* devices_page.js - who may come in: this tab and others, agents' tokens. A page signs itself out;
 * all else is done where the hub is, and the commands are shown. */
import { button, foreign, icon, make, setText } from "./dom.js";
import { say, sayWhen } from "./language.js";
import { call, forgetThisBrowser, line } from "./wire.js";
import { on } from "./signals.js";
import { sayProblem } from "./problems.js";

/** @typedef {{id: string, kind: string, label: string, created_at: string,
 *     expires_at: string|null, used_at: string|null, expired: boolean,
 *     connected?: boolean}} Token */

const PEOPLE_KINDS = ["tab", "device", "person"];

/** @param {HTMLElement} main */
export function showDevices(main) {
    const people = make("ul", { class: "rows" });
    const agents = make("ul", { class: "rows" });
    const said = make("output", { class: "hint wrong" });

    const signOut = () => call("token/revoke", { id: line.tab })
        .catch((error) => error.code !== 0 && Promise.reject(error)) /* the line may end first */
        .then(forgetThisBrowser).then(load, (error) => setText(said, sayProblem(error)));
    const buildToken = (/** @type {Token} */ token) => {
        const isThis = token.id === line.tab;
        const isHere = isThis || token.connected;
        const when = say("since", { time: sayWhen(token.created_at) }) +
            (isHere ? "" : say("comma") + (token.used_at
                ? say("used", { time: sayWhen(token.used_at) }) : say("unused"))) +
            (token.kind === "device" ? say("comma") + say("stays_signed_in") : "") +
            (token.expires_at ? say("comma") + say(token.expired ? "expired" : "expires",
                { time: sayWhen(token.expires_at) }) : "");
        const what = PEOPLE_KINDS.includes(token.kind) ? when : `${say("may_ask_only")} ${when}`;
        return make("li", {}, icon(PEOPLE_KINDS.includes(token.kind) ? "web" : "plug"),
            make("span", { class: "rt" }, make("b", {}, foreign(token.label || say("unnamed"))),
                make("small", {}, what),
                !isThis && make("small", {}, say("revoke_there"), " ",
                    make("code", {}, `sayso token revoke ${token.id.slice(0, 8)}`))),
            isHere &&
                make("span", { class: "tag plain" }, say(!isThis ? "open_now"
                    : token.kind === "device" ? "this_browser" : "this_tab")),
            isThis && button({ class: "small", "data-key": "sign-out", click: signOut },
                say("sign_out")));
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
    const show = () => {
        main.replaceChildren(make("div", { class: "page" },
            make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("devices"))),
            make("div", { class: "two" },
                make("section", { class: "devs" },
                    make("h2", { class: "sub" }, say("signed_in")), people,
                    make("h2", { class: "sub" }, say("agents_tokens")), agents,
                    make("p", { class: "new-token" }, say("new_token_there"), " ",
                        make("code", {}, "sayso token new")), said),
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
