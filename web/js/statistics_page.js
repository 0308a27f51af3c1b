/* statistics_page.js - how much is asked, how fast it is answered, whose advice is taken. */
import { draw, foreign, make } from "./dom.js";
import { addWords, say, sayCount, sayDuration, sayNumber } from "./language.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { sayProblem } from "./problems.js";
import { STATISTICS_WORDS } from "./words_statistics.js";

/** @typedef {{agent: string, shown?: string, asks: number, median_seconds: number|null,
 *     recommended: number, taken: number}} AgentRow */

const PERIODS = /** @type {[string, import("./language.js").Word][]} */ ([
    ["7", "last_week"], ["30", "last_month"], ["", "all_time"],
]);
addWords(STATISTICS_WORDS);
const BUCKETS = [5, 15, 30, 60, 120, 300];
const PLOT_TOP = 130;
const PLOT_BASE = 150;
const AGENTS_SHOWN = 8;

/** @param {number} part
 * @param {number} whole */
const percent = (part, whole) => whole
    ? `${sayNumber(Math.round(part / whole * 1000) / 10)} %` : "–";

/** @param {number|null} seconds */
const median = (seconds) => seconds === null ? "–" : sayDuration(seconds);

/** @param {number} at */
function sayBucket(at) {
    return at < BUCKETS.length
        ? `${at === 0 ? "< " : ""}${sayDuration(BUCKETS[at])}` : say("bucket_later");
}

/** @param {number[]} counts */
function buildHistogram(counts) {
    const top = Math.max(1, ...counts);
    const width = 96 / counts.length;
    const sentence = counts.map((n, at) => `${sayBucket(at)}: ${sayNumber(n)}`).join(say("comma"));
    return draw("svg",
        { class: "plot", role: "img", "aria-label": `${say("time_to_answer")}. ${sentence}` },
        draw("line", { class: "grid", x1: 0, x2: "100%", y1: PLOT_BASE, y2: PLOT_BASE }),
        counts.map((n, at) => {
            const height = n / top * PLOT_TOP;
            const middle = `${at * width + width / 2}%`;
            return [
                draw("rect", { class: "bar-fg", x: `${at * width + width / 4}%`,
                    width: `${width / 2}%`, rx: 2,
                    y: PLOT_BASE - height, height }),
                draw("text", { class: "val", x: middle, y: PLOT_BASE - 6 - height,
                    "text-anchor": "middle" }, sayNumber(n)),
                draw("text", { class: at % 2 ? "axis odd" : "axis", x: middle, y: PLOT_BASE + 18,
                    "text-anchor": "middle" }, sayBucket(at)),
            ];
        }).flat());
}

/**
 * @param {string} title
 * @param {string} more
 * @param {[string, number, number, string][]} rows name, part, whole, words
 */
function buildBars(title, more, rows) {
    return make("figure", { class: "chart" },
        make("figcaption", {}, title, more && make("small", {}, more)),
        make("div", { class: "bars" },
            rows.map(([name, part, whole, words]) => make("div", { class: "bar" },
            foreign(name),
            draw("svg", { class: "bar-svg", "aria-hidden": "true" },
                draw("rect", { class: "bar-bg", width: "100%", height: 10, rx: 2 }),
                draw("rect", { class: "bar-fg", width: `${whole ? part / whole * 100 : 0}%`,
                    height: 10, rx: 2 })),
            make("b", {}, words)))));
}

/** @param {AgentRow[]} agents */
function buildTable(agents) {
    return make("details", { class: "data" }, make("summary", {}, say("figures_as_table")),
        make("table", { class: "hist" },
            make("thead", {}, make("tr", {}, make("th", { scope: "col" }, say("agent")),
            [say("asks"), say("median"), say("taken")]
                .map((words) => make("th", { scope: "col", class: "r" }, words)))),
        make("tbody", {}, agents.map((row) => make("tr", {}, make("td", {}, foreign(nameOf(row))),
            [sayNumber(row.asks), median(row.median_seconds), percent(row.taken, row.recommended)]
                .map((words) => make("td", { class: "r" }, words)))))));
}

/** @param {AgentRow} row */
const nameOf = (row) => say("quoted", { text: row.shown ?? row.agent });

/** @param {any} got */
function buildFigures(got) {
    const shown = got.agents.slice(0, AGENTS_SHOWN);
    const most = Math.max(1, ...got.agents.map((/** @type {AgentRow} */ row) => row.asks));
    const figures = /** @type {[string, string, string][]} */ ([
        [say("asks"), sayNumber(got.asks), say("asks_a_day",
            { count: sayNumber(Math.round(got.asks / Math.max(1, got.days) * 10) / 10) })],
        [say("median_answer"), median(got.median_seconds),
            say("of_answered", { count: sayNumber(got.answered) })],
        [say("recommendation_taken"), percent(got.taken, got.recommended),
            say("of_with_one", { count: sayNumber(got.recommended) })],
        [say("timed_out"), percent(got.timeouts, got.asks),
            sayCount(got.timeouts, "asks_one", "asks_count")],
        [say("waiting_now"), sayNumber(got.waiting),
            got.waiting ? say("longest", { time: sayDuration(got.longest_seconds) }) : ""],
    ]);
    return [
        make("dl", { class: "kpis" },
            figures.map(([name, value, more]) => make("div", {}, make("dt", {}, name),
            make("dd", {}, value), make("dd", { class: "sub2" }, more)))),
        make("div", { class: "charts" },
            make("figure", { class: "chart wide" }, make("figcaption", {}, say("time_to_answer"),
                make("small", {}, say("time_to_answer_more"))),
                buildHistogram(got.buckets)),
            buildBars(say("asks_per_agent"), "", shown.map((/** @type {AgentRow} */ row) =>
                /** @type {[string, number, number, string]} */ ([nameOf(row), row.asks, most,
                    sayNumber(row.asks)]))),
            buildBars(say("recommendation_taken"), say("share_per_agent"),
                shown.map((/** @type {AgentRow} */ row) =>
                /** @type {[string, number, number, string]} */ ([nameOf(row), row.taken,
                    row.recommended, percent(row.taken, row.recommended)])))),
        buildTable(got.agents),
        got.is_cut &&
            make("p", { class: "hint" }, say("statistics_cut", { count: sayNumber(got.asks) })),
    ];
}

/** @param {HTMLElement} main */
export function showStatistics(main) {
    let days = "30";
    const inside = make("div");
    const load = () => line.state === "open" &&
        call("ask/statistics", days ? { days: Number(days) } : {}).then(
        (got) =>
            inside.replaceChildren(...buildFigures(got).filter((node) => node instanceof Node)),
        (error) => inside.replaceChildren(make("p", { class: "hint wrong" }, sayProblem(error))));
    const show = () => {
        main.replaceChildren(make("div", { class: "page" }, make("header", { class: "page-h" },
            make("h1", { tabindex: -1 }, say("statistics")),
            make("fieldset", { class: "seg" }, make("legend", { class: "vh" }, say("period")),
                PERIODS.map(([value, word]) =>
                make("label", {}, make("input", { type: "radio", name: "per",
                    checked: days === value, "data-key": `per-${value}`,
                    change: () => {
                        days = value;
                        load();
                    } }), make("span", {}, say(word)))))), inside));
        load();
    };
    show();
    const ends =
        [on("language", show), on("line", (state) => state === "open" && load()), on("asks", load)];
    return { close: () => ends.forEach((end) => end()) };
}
