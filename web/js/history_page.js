/* history_page.js - everything that was asked: filters, search, pages of twenty. */
import { all, button, foreign, icon, key, make, select, setText } from "./dom.js";
import { say, sayDuration, sayNumber, sayWhen } from "./language.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { END_MARKS } from "./ask_ended.js";
import { sayAgent } from "./ask_bar.js";
import { buildVia } from "./list.js";
import { sayProblem } from "./problems.js";
import { buildStandingLink } from "./parts.js";

const PAGE_ROWS = 20;
const SEARCH_AFTER_MS = 200;
const DAY_S = 86400;

/** @param {any} row */
function buildHistoryRow(row) {
    const [symbol, tone] = END_MARKS[row.status] ?? ["wait", ""];
    const via = row.answered_by?.via;
    const took = row.decided_at
        ? (Date.parse(row.decided_at) - Date.parse(row.created_at)) / 1000 : null;
    return make("tr", { "data-id": row.session_id },
        make("td", { class: "h-main" },
            make("a", { href: `/choice/${row.session_id}` },
                foreign(row.shown?.title ?? row.title)),
            make("span", { class: "h-ans", dir: "auto" }, row.summary ?? "")),
        make("td", { class: "h-agent" }, foreign(sayAgent(row))),
        make("td", { class: "h-state" }, icon(symbol, tone),
            make("span", {}, say(/** @type {any} */ (`state_${row.status}`)))),
        make("td", { class: "h-via" }, via ? buildVia(via) : ""),
        make("td", { class: "r h-took" }, took === null ? "" : sayDuration(took)),
        make("td", { class: "r h-when" }, sayWhen(row.created_at)));
}

/** @param {HTMLElement} main */
export function showHistory(main) {
    const given = new URLSearchParams(location.search);
    const query = {
        search: given.get("search") ?? "", which: given.get("status") ?? "all",
        agent: given.get("agent") ?? "",
        via: given.get("via") ?? "", days: given.get("days") ?? "",
    };
    /** @type {string[]} where each page began */
    let pages = [""];
    /** @type {string[]} */
    let agents = [];
    let asked = 0;
    const body = make("tbody");
    const said = make("output", { class: "found" });
    const newer = button({ class: "small", "data-key": "newer", click: () => {
        pages.pop();
        load();
    } });
    const older = button({ class: "small", "data-key": "older", click: () => {
        pages.push(next);
        load();
    } });
    let next = "";

    const load = async () => {
        if (line.state !== "open")
            return; /* it is loaded when the line is there */
        const mine = ++asked;
        const filter = {
            which: query.which, ...query.search ? { search: query.search } : {},
            ...query.agent ? { agent: query.agent } : {}, ...query.via ? { via: query.via } : {},
            ...query.days ? { since_ms: Date.now() - Number(query.days) * DAY_S * 1000 } : {},
        };
        /** @type {any[]} */
        const found = [];
        let before = pages[pages.length - 1];
        try {
            do { /* a long look ends before the page is full: it goes on where that one ended */
                const reply = await call("ask/history", {
                    ...filter, limit: PAGE_ROWS - found.length, ...before ? { before } : {},
                });
                if (mine !== asked)
                    return;
                found.push(...reply.asks);
                before = reply.next ?? "";
                body.replaceChildren(...found.map(buildHistoryRow));
            } while (before && found.length < PAGE_ROWS);
            next = before;
            newer.disabled = pages.length === 1;
            older.disabled = !next;
            const first = (pages.length - 1) * PAGE_ROWS + 1;
            setText(said, found.length === 0 ? say("none_found")
                : say("found",
                    { first: sayNumber(first), last: sayNumber(first + found.length - 1) }));
            const names = found.map((/** @type {any} */ row) => row.agent).filter(Boolean);
            if (names.some((/** @type {string} */ name) => !agents.includes(name))) {
                agents = [...new Set([...agents, ...names])].sort();
                drawFilters();
            }
        } catch (error) {
            setText(said, sayProblem(error));
        }
    };
    const changed = () => {
        const kept = new URLSearchParams();
        for (const [name, value] of Object.entries(query)) {
            if (value && value !== "all")
                kept.set(name === "which" ? "status" : name, value);
        }
        history.replaceState(null, "", kept.size ? `/history?${kept}` : "/history");
        pages = [""];
        load();
    };
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    let timer;
    const search = make("input", {
        type: "search", value: query.search, placeholder: say("search_hint"), "data-key": "search",
        maxlength: 200,
        input: () => {
            query.search = search.value.trim();
            clearTimeout(timer);
            timer = setTimeout(changed, SEARCH_AFTER_MS);
        },
    });
    const filters = make("form", { class: "filters", role: "search",
        submit: (/** @type {Event} */ event) => event.preventDefault() });
    const pick = (/** @type {"which"|"agent"|"via"|"days"} */ name, /** @type {string} */ label,
        /** @type {[string, string][]} */ choices) =>
        select({ "aria-label": label, "data-key": `filter-${name}`,
            change: (/** @type {Event} */ event) => {
            query[name] = /** @type {HTMLSelectElement} */ (event.target).value;
            changed();
        } }, choices, query[name]);
    const drawFilters = () => {
        const states =
            ["submitted", "auto_submitted", "cancelled", "declined", "timeout", "withdrawn"];
        const known = query.agent && !agents.includes(query.agent)
            ? [query.agent, ...agents] : agents;
        const hadFocus = document.activeElement === search;
        filters.replaceChildren(
            make("label", { class: "find" }, icon("search"),
                make("span", { class: "vh" }, say("search")), search, key("/")),
            pick("which", say("status"), [["all", say("any_status")], ["active", say("active")],
                ["completed", say("completed")],
                ...states.map((s) => /** @type {[string, string]} */ ([s,
                    say(/** @type {any} */ (`state_${s}`))]))]),
            pick("agent", say("agent"), [["", say("any_agent")],
                ...known.map((name) => /** @type {[string, string]} */ ([name, name]))]),
            pick("via", say("through"), [["", say("any_interface")],
                ...["web", "terminal", "client", "cli", "api", "rule"]
                    .map((v) => /** @type {[string, string]} */ ([v,
                        say(/** @type {any} */ (`channel_${v}`))]))]),
            pick("days", say("when"), [["", say("any_time")], ["1", say("last_day")],
                ["7", say("last_week")], ["30", say("last_month")]]));
        if (hadFocus)
            search.focus();
    };
    const draw = () => {
        drawFilters();
        newer.replaceChildren(say("newer"));
        older.replaceChildren(say("older"));
        search.placeholder = say("search_hint");
        main.replaceChildren(make("div", { class: "page" },
            make("header", { class: "page-h" }, make("h1", { tabindex: -1 }, say("history")),
                buildStandingLink()),
            filters,
            make("table", { class: "hist" }, make("thead", {}, make("tr", {},
                ["question_and_answer", "agent", "status", "through"]
                    .map((word) => make("th", { scope: "col" }, say(/** @type {any} */ (word)))),
                ["took", "when"].map((word) => make("th", { scope: "col", class: "r" },
                    say(/** @type {any} */ (word)))))), body),
            make("footer", { class: "pager" }, said,
                make("span", { class: "btns" }, newer, older))));
        load();
    };
    draw();
    const ends = [on("language", draw), on("line", (state) => state === "open" && load()),
        on("asks", (change) => {
            if (change && all(body, `[data-id="${change.ask.session_id}"]`).length)
                load();
        })];
    return { close: () => ends.forEach((end) => end()) };
}
