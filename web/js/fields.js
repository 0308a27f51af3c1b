/* fields.js - text, number, rating and confirm; options are in field_options.js. */
import { draw, foreign, key, make, setText } from "./dom.js";
import { judge, shownOf } from "./values.js";
import { say, sayNumber } from "./language.js";
import { isOn } from "./model.js";
import { followPicks } from "./guard.js";
import { buildMarks, buildOptions } from "./field_options.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {import("./values.js").Field} Field
 * @typedef {import("./field_options.js").Part} Part
 * @typedef {import("./field_options.js").Told} Told
 */

const RATING_MOST = 10;

/**
 * The label of a field; where there is none the page's title says it.
 * @param {Entry} entry
 * @param {Field} field
 * @param {import("./language.js").Word} otherwise
 */
function labelOf(entry, field, otherwise) {
    return shownOf(field, "label") || (entry.form.fields.length > 1 ? field.name : say(otherwise));
}

/**
 * @param {Field} field
 * @param {string} id
 */
function buildHint(field, id) {
    const text = shownOf(field, "description");
    return text ? make("span", { class: "hint", id }, make("span", { dir: "auto" }, text),
        buildMarks(field.shown, "description")) : null;
}

/** @param {Field} field */
function sayTextRule(field) {
    const rules = [];
    if (field.format)
        rules.push(say(/** @type {any} */ (`format_${field.format.replace("-", "_")}`)));
    if (field.min_chars)
        rules.push(say("chars_least", { count: field.min_chars }));
    if (!field.required)
        rules.push(say("optional"));
    return rules.join(" · ");
}

/**
 * @param {Entry} entry
 * @param {Field} field
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
function buildText(entry, field, at, told) {
    const id = `f${at}`;
    const value = entry.values.fields[field.name];
    const isLone = entry.form.fields.length === 1;
    const hint = isOn("placeholder") && field.placeholder_visible !== false
        ? shownOf(field, "placeholder") : "";
    const text = make("textarea", {
        id, rows: isLone && !field.format ? 4 : 1, placeholder: hint, value: value.words,
        "data-key": `words-${field.name}`, "aria-describedby": `${id}-h ${id}-n`,
        input: () => {
            value.words = text.value;
            told.changed();
        },
    });
    const count = make("output", { id: `${id}-n`, for: id });
    const sync = () => {
        if (document.activeElement !== text)
            text.value = value.words;
        const length = [...value.words].length;
        const problem = value.words !== "" ? judge(field, value) : "";
        setText(count, problem || (field.max_chars
            ? say("chars_of", { count: sayNumber(length), most: sayNumber(field.max_chars) })
            : sayTextRule(field)));
        text.toggleAttribute("aria-invalid", false);
        if (problem)
            text.setAttribute("aria-invalid", "true");
    };
    const node = make("div", { class: isLone ? "field" : "field small" },
        make("label", { for: id }, foreign(labelOf(entry, field, "your_answer"))),
        buildHint(field, `${id}-h`),
        text, make("span", { class: "under" }, count,
            isLone && make("span", {}, key("Ctrl"), " ", key("⏎"), " ", say("ctrl_enter_sends"))));
    sync();
    return { node, sync, field };
}

/** @param {Field} field */
function sayNumberRule(field) {
    const { minimum, maximum, step } = field;
    const unit = shownOf(field, "unit");
    const rules = [];
    if (minimum !== undefined && maximum !== undefined)
        rules.push(say("number_range",
            { least: sayNumber(minimum), most: sayNumber(maximum), unit }).trim());
    else if (minimum !== undefined)
        rules.push(say("number_least", { number: sayNumber(minimum) }));
    else if (maximum !== undefined)
        rules.push(say("number_most", { number: sayNumber(maximum) }));
    if (step)
        rules.push(say("number_step", { number: sayNumber(step) }));
    else if (field.integer)
        rules.push(say("number_whole"));
    if (!field.required)
        rules.push(say("optional"));
    return rules.join(" · ");
}

/**
 * Slider and field are one value; the field wins.
 * @param {Entry} entry
 * @param {Field} field
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
function buildNumber(entry, field, at, told) {
    const id = `f${at}`;
    const value = entry.values.fields[field.name];
    const { minimum, maximum } = field;
    const label = labelOf(entry, field, "your_number");
    const unit = shownOf(field, "unit");
    const step = field.step || (field.integer ? 1 : "any");
    const hasSlider = minimum !== undefined && maximum !== undefined && maximum > minimum;
    const span = hasSlider ? maximum - minimum : 0;
    const put = (/** @type {string} */ text) => {
        value.number = text;
        told.changed();
    };
    const input = make("input", {
        id, type: "number", inputmode: field.integer ? "numeric" : "decimal", min: minimum,
        max: maximum,
        step, value: value.number, "data-key": `number-${field.name}`,
        "aria-describedby": `${id}-h ${id}-n`,
        input: () => put(input.value),
    });
    const slider = hasSlider ? make("input", {
        type: "range", min: minimum, max: maximum, step: step === "any" ? span / 100 : step,
        "aria-label": say("slider_of", { label }), "data-key": `slider-${field.name}`,
        input: (/** @type {Event} */ event) =>
            put(/** @type {HTMLInputElement} */ (event.target).value),
    }) : null;
    const said = make("output", { id: `${id}-n`, class: "hint wrong", for: id });
    const sync = () => {
        if (document.activeElement !== input)
            input.value = value.number;
        slider?.classList.toggle("unset", value.number === "");
        if (slider)
            slider.value = value.number === "" ? String((minimum ?? 0) + span / 2) : value.number;
        const problem = value.number !== "" ? judge(field, value) : "";
        setText(said, problem);
        if (problem)
            input.setAttribute("aria-invalid", "true");
        else
            input.removeAttribute("aria-invalid");
    };
    const box = make("span", { class: "num" }, input, unit && make("span", { dir: "auto" }, unit));
    const node = make("div", { class: "field number" },
        make("label", { for: id }, foreign(label)),
        make("span", { class: "hint", id: `${id}-h` }, sayNumberRule(field)),
        buildHint(field, `${id}-d`),
        make("div", { class: "slide" }, slider, box),
        slider && make("div", { class: "scale", "aria-hidden": "true" },
            [minimum ?? 0, (minimum ?? 0) + span / 2, maximum ?? 0]
                .map((n) => make("span", {}, sayNumber(n)))),
        said);
    sync();
    return { node, sync, field };
}

/**
 * @param {number} n
 * @param {number} most
 */
function sayRating(n, most) {
    const words =
        /** @type {const} */ (["rating_1", "rating_2", "rating_3", "rating_4", "rating_5"]);
    const rating = say("rating_of", { count: n, most });
    return most === 5 ? `${rating}${say("comma")}${say(words[n - 1])}` : rating;
}

/**
 * @param {Entry} entry
 * @param {Field} field
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
function buildRating(entry, field, at, told) {
    const value = entry.values.fields[field.name];
    const least = field.minimum ?? 1;
    const most = field.maximum ?? 5;
    const said = make("output");
    /** @type {{input: HTMLInputElement, n: number, node: HTMLElement}[]} */
    const stars = [];
    for (let n = least; n <= most; n++) {
        const input = make("input", {
            type: "radio", name: `f${at}`, value: String(n), "data-key": `star-${n}`,
            change: () => {
                value.number = String(n);
                told.changed();
            },
        });
        stars.push({ input, n, node: make("label", { class: "star" }, input,
            draw("svg", { "aria-hidden": "true" }, draw("use", { href: "#i-star" })),
            make("span", { class: "vh" }, sayRating(n, most))) });
    }
    const sync = () => {
        for (const { input, n } of stars)
            input.checked = value.number === String(n);
        setText(said, value.number ? sayRating(Number(value.number), most) : "");
    };
    const node = make("fieldset", { class: "stars", id: `f${at}` },
        make("legend", {},
            make("span", { class: "leg" }, foreign(labelOf(entry, field, "your_rating")))),
        buildHint(field, `f${at}-h`),
        make("div", { class: "star-row" }, stars.map((star) => star.node), said),
        make("span", { class: "hint keys-only" }, say("press_digits", { least, most })));
    sync();
    return { node, sync, field };
}

/**
 * Yes and no are our words: an agent cannot swap them.
 * @param {Entry} entry
 * @param {Field} field
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
function buildConfirm(entry, field, at, told) {
    const value = entry.values.fields[field.name];
    const rows = [true, false].map((isYes, place) => {
        const id = `f${at}-${place}`;
        const input = make("input", {
            type: "radio", id, name: `f${at}`, "data-key": `confirm-${field.name}-${isYes}`,
            click: () => {
                if (field.required || value.confirm !== isYes)
                    return;
                value.confirm = null;
                told.changed();
            },
            change: () => {
                value.confirm = isYes;
                told.changed();
            },
        });
        const row =
            make("div", { class: isYes && entry.form.destructive ? "opt bad" : "opt" }, input,
            make("label", { for: id }, make("span", {}, say(isYes ? "yes" : "no"))),
            make("span", { class: "opt-end" },
                entry.form.destructive && make("code", { class: "id" }, String(isYes)),
                key(String(place + 1))));
        followPicks(row, input, () => told.picked(row));
        return { row, input, isYes };
    });
    const sync = () => {
        for (const { input, isYes } of rows)
            input.checked = value.confirm === isYes;
    };
    const label = shownOf(field, "label");
    const node = make("fieldset", { class: "opts yes-no", id: `f${at}` },
        make("legend", {},
            make("span", { class: "leg" }, label ? foreign(label) : say("yes_or_no")),
            !field.required && make("span", {}, say("optional"))),
        buildHint(field, `f${at}-h`), rows.map(({ row }) => row));
    sync();
    return { node, sync, field };
}

/** A builder a kind of field.
 * @type {Record<string, (entry: Entry, field: Field, at: number, told: Told) => Part>}
 */
const BUILDERS = {
    single: buildOptions,
    multi: buildOptions,
    hybrid: buildOptions,
    text: buildText,
    number: (entry, field, at, told) => {
        const isRating = field.style === "rating" && (field.maximum ?? 5) <= RATING_MOST &&
            (field.minimum ?? 1) >= 0 && Number.isInteger(field.minimum ?? 1);
        return (isRating ? buildRating : buildNumber)(entry, field, at, told);
    },
    confirm: buildConfirm,
};

/**
 * @param {Entry} entry
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
export function buildField(entry, at, told) {
    const field = entry.form.fields[at];
    return (BUILDERS[field.kind] ?? buildNumber)(entry, field, at, told);
}
