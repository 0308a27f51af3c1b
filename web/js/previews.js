/* previews.js - what an option would look like: text, Markdown, code or a diff, side by side. */
import { make } from "./dom.js";
import { say } from "./language.js";
import { shownOf } from "./values.js";
import { buildBlocks, buildDiff, diffCounts, plainOf } from "./markup.js";

/** @typedef {import("./values.js").Option} Option */

/** @param {Option} option */
export function buildPreview(option) {
    const { type } = option.preview;
    const markup = option.shown?.preview ?? { blocks: [] };
    const language = markup.blocks[0]?.language;
    const has = { tabindex: 0, role: "group",
        "aria-label": say("preview_of", { label: shownOf(option, "label") }) };
    const caption = make("figcaption", {},
        make("span", { dir: "auto" }, language ?? say(/** @type {any} */ (`preview_${type}`))));

    if (type === "markdown")
        return make("figure", { class: "pv" }, caption,
            make("div", { class: "prose md", ...has }, buildBlocks(markup)));
    if (type === "diff") {
        const { added, removed, file } = diffCounts(markup);
        if (file)
            caption.replaceChildren(make("span", { dir: "auto" }, file));
        caption.append(make("span", { class: "plus" }, `+${added}`),
            make("span", { class: "minus" }, `−${removed}`));
        return make("figure", { class: "pv" }, caption,
            make("pre", { class: "diff", ...has }, buildDiff(markup)));
    }
    return make("figure", { class: "pv" }, caption,
        make("pre", { class: "code", ...has }, plainOf(markup)));
}
