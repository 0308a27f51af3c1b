/* dom.js - nodes, made without strings of HTML. Whatever an agent wrote becomes a text node. */

/** @typedef {Node|string|number|null|undefined|false} Child */

const SVG_NAMES = "http://www.w3.org/2000/svg";

/**
 * @param {Element} node
 * @param {Record<string, any>} has attributes; functions are listeners, null and false leave it out
 */
function adorn(node, has) {
    for (const [name, value] of Object.entries(has)) {
        if (value === null || value === undefined || value === false)
            continue;
        if (typeof value === "function")
            node.addEventListener(name, value);
        else if (name === "value" || name === "checked")
            /** @type {any} */ (node)[name] = value;
        else
            node.setAttribute(name, value === true ? "" : String(value));
    }
}

/**
 * @param {Element} node
 * @param {(Child|Child[])[]} inside
 */
function fill(node, inside) {
    for (const child of inside.flat()) {
        if (child !== null && child !== undefined && child !== false)
            node.append(child instanceof Node ? child : String(child));
    }
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, any>} [has]
 * @param {...(Child|Child[])} inside
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, has = {}, ...inside) {
    const node = document.createElement(name);
    adorn(node, has);
    fill(node, inside);
    return node;
}

/**
 * @param {string} name
 * @param {Record<string, any>} [has]
 * @param {...(Child|Child[])} inside
 * @returns {SVGElement}
 */
export function draw(name, has = {}, ...inside) {
    const node = /** @type {SVGElement} */ (document.createElementNS(SVG_NAMES, name));
    adorn(node, has);
    fill(node, inside);
    return node;
}

/**
 * @param {string} name of a symbol in index.html
 * @param {string} [tone] ok, warn, danger or big
 */
export function icon(name, tone = "") {
    return draw("svg", { class: `i ${tone}`.trim(), "aria-hidden": "true" },
        draw("use", { href: `#i-${name}` }));
}

/**
 * Time left as an arc.
 * @param {number} part 0 to 1
 * @param {string} [tone] soon or big
 */
export function ring(part, tone = "") {
    return draw("svg",
        { class: `ring ${tone}`.trim(), viewBox: "0 0 16 16", "aria-hidden": "true" },
        draw("circle", { cx: 8, cy: 8, r: 6 }),
        draw("circle", {
            class: "arc", cx: 8, cy: 8, r: 6, pathLength: 100,
            "stroke-dasharray": `${Math.round(Math.max(0, Math.min(1, part)) * 100)} 100`,
        }));
}

/** Text of an agent: it may run from right to left without pulling our own words along.
 * @param {string} text
 */
export function foreign(text) {
    return make("bdi", { dir: "auto" }, text);
}

/**
 * A key, as a hint: what it does is said elsewhere.
 * @param {string} name
 */
export function key(name) {
    return make("kbd", { "aria-hidden": "true" }, name);
}

/**
 * @param {Record<string, any>} has
 * @param {...(Child|Child[])} inside
 */
export function button(has, ...inside) {
    return make("button", { type: "button", ...has, class: `btn ${has.class ?? ""}`.trim() },
        ...inside);
}

/**
 * A select in our own frame.
 * @param {Record<string, any>} has
 * @param {[string, string][]} choices value and words
 * @param {string} chosen
 */
export function select(has, choices, chosen) {
    const node = make("select", has, choices.map(([value, words]) =>
        make("option", { value, selected: value === chosen }, words)));
    return make("span", { class: "select" }, node, icon("chev"));
}

/**
 * @param {ParentNode} root
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function all(root, selector) {
    return /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]);
}

/** Changes the text only if it differs, so that a screen reader has nothing to repeat.
 * @param {Element|null|undefined} node
 * @param {string} text
 */
export function setText(node, text) {
    if (node && node.textContent !== text)
        node.textContent = text;
}
