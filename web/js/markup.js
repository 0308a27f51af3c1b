/*
 * markup.js - blocks and spans of the hub as nodes. Addresses are shown and never followed: there
 * is not one link here. A kind that is new to us is shown as its text.
 */
import { make } from "./dom.js";

/**
 * @typedef {{text: string, strong?: boolean, emphasis?: boolean, code?: boolean, struck?: boolean,
 *     image?: boolean, cell?: boolean, address?: string}} Span
 * @typedef {{kind: string, level?: number, depth?: number, quotes?: number, number?: number,
 *     head?: boolean,
 *     added?: number, removed?: number, language?: string, spans: Span[]}} Block
 * @typedef {{blocks: Block[]}} Markup
 */

/** @param {Span} span */
function spanText(span) {
    if (!span.address || span.address === span.text)
        return span.text;
    return span.text ? `${span.text} (${span.address})` : span.address;
}

/** @param {Span} span */
function buildSpan(span) {
    const text = spanText(span);
    if (span.code)
        return make("code", {}, text);
    if (span.strong)
        return make("strong", { class: span.emphasis ? "em" : null }, text);
    if (span.emphasis)
        return make("em", {}, text);
    if (span.struck)
        return make("s", {}, text);
    return span.address ? make("span", { class: "address" }, text) : document.createTextNode(text);
}

/** @param {Block} block */
const buildSpans = (block) => block.spans.map(buildSpan);

/** @param {Block} block */
function joinSpans(block) {
    return block.spans.map(spanText).join("");
}

/** @param {Block} block */
function buildCells(block) {
    /** @type {HTMLElement[]} */
    const cells = [];
    for (const span of block.spans) {
        if (span.cell || cells.length === 0)
            cells.push(make(block.head ? "th" : "td", { dir: "auto" }));
        cells[cells.length - 1].append(buildSpan(span));
    }
    return make("tr", {}, cells);
}

/** @param {Block} block */
function buildBlock(block) {
    switch (block.kind) {
    case "heading":
        return make((block.level ?? 1) <= 2 ? "h2" : "h3", { dir: "auto" }, buildSpans(block));
    case "code":
        return make("pre", { class: "snippet", tabindex: 0, role: "group",
            "aria-label": block.language ?? "code" },
            joinSpans(block));
    case "rule":
        return make("hr");
    default:
        return make("p", { class: "plain", dir: "auto" }, buildSpans(block));
    }
}

/** Puts a block where its quotations and lists have it.
 * @param {HTMLElement} root
 * @param {Block[]} blocks
 */
function place(root, blocks) {
    /** @type {HTMLElement[]} the open items, outermost first */
    let items = [];
    /** @type {HTMLElement|null} */
    let table = null;
    let home = root;
    let quotes = 0;

    for (const block of blocks) {
        if ((block.quotes ?? 0) !== quotes) {
            quotes = block.quotes ?? 0;
            home = quotes ? root.appendChild(make("blockquote")) : root;
            items = [];
        }
        const depth = block.depth ?? 0;
        table = block.kind === "row" ? table : null;
        items.length =
            Math.min(items.length, block.kind === "item" ? Math.max(0, depth - 1) : depth);
        const parent = items[items.length - 1] ?? home;
        if (block.kind === "item") {
            const isNumbered = block.number !== undefined;
            const last = parent.lastElementChild;
            const list = last?.matches(isNumbered ? "ol" : "ul") ? last
                : parent.appendChild(make(isNumbered ? "ol" : "ul",
                    isNumbered ? { start: block.number } : {}));
            const item = make("li", { dir: "auto" }, buildSpans(block));
            list.append(item);
            items.push(item);
        } else if (block.kind === "row") {
            table ??= parent.appendChild(make("table"));
            table.append(buildCells(block));
        } else {
            parent.append(buildBlock(block));
        }
    }
}

/**
 * @param {Markup|string|null|undefined} markup of the hub, or a plain text
 * @returns {Node[]}
 */
export function buildBlocks(markup) {
    const root = make("div");
    if (typeof markup === "string")
        root.append(make("p", { class: "plain", dir: "auto" }, markup));
    else
        place(root, markup?.blocks ?? []);
    return [...root.childNodes];
}

/** The lines of a diff; their signs are drawn beside them by the style sheet.
 * @param {Markup} markup
 * @returns {Node[]}
 */
export function buildDiff(markup) {
    const { file } = diffCounts(markup); /* of one file the caption has the name */
    const blocks = markup.blocks.filter((block) => !file || block.kind !== "file");
    const tags =
        /** @type {Record<string, "ins"|"del"|"span">} */ ({ added: "ins", removed: "del" });
    return blocks.map((block) => {
        const isHead = ["hunk", "file", "meta"].includes(block.kind);
        const text = isHead ? joinSpans(block) : joinSpans(block).slice(1); /* without its sign */
        return make(tags[block.kind] ?? "span", { class: isHead ? "hunk" : null }, text || " ");
    });
}

/** What of it hides something, as marks.
 * @param {any} markup
 * @returns {string[]}
 */
export function marksOf(markup) {
    return ["hidden", "mixed_script"].filter((name) => markup?.[name]);
}

/** How many lines a diff adds and takes away.
 * @param {Markup} markup
 */
export function diffCounts(markup) {
    const files = markup.blocks.filter((block) => block.kind === "file");
    const lines = (/** @type {string} */ kind) => markup.blocks
        .filter((block) => block.kind === kind).length;
    return { added: lines("added"), removed: lines("removed"),
        file: files.length === 1 ? joinSpans(files[0]) : "" };
}

/** All its text.
 * @param {Markup} markup
 */
export function plainOf(markup) {
    return markup.blocks.map(joinSpans).join("\n");
}
