/* field_options.js - single, multi and hybrid: one bordered list, each row as a whole its label. */
import { foreign, icon, key, make, setText } from "./dom.js";
import { isOneOf, judge, mayDestroy, shownOf, takesWords } from "./values.js";
import { say, sayCount } from "./language.js";
import { hasNotes, hasSteps, titleField } from "./entry.js";
import { isOn } from "./model.js";
import { followPicks } from "./guard.js";
import { buildPreview } from "./previews.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {import("./values.js").Field} Field
 * @typedef {import("./values.js").Option} Option
 * @typedef {{node: HTMLElement, sync: () => void, field: Field}} Part
 * @typedef {{changed: () => void, picked: (row: Element) => void,
 *     hide: (option: string) => void}} Told
 */

const FILTER_FROM = 10;
const DIGITS = 9;

/** What the rule says, in words.
 * @param {Field} field
 */
export function sayRule(field) {
    const least = field.min_selections ?? 0;
    const most = field.max_selections ?? 0;
    const canWrite = takesWords(field);

    if (isOneOf(field))
        return say(canWrite ? "choose_or_write" : "choose_one") +
            (field.required || canWrite ? "" : ` · ${say("optional")}`);
    if (least === 0 && most >= (field.options ?? []).length)
        return say(canWrite ? "choose_any_or_write" : "choose_any");
    if (least === most)
        return say(canWrite ? "choose_count_or_write" : "choose_count", { count: most });
    return say(canWrite ? "choose_range_or_write" : "choose_range", { least, most });
}

/**
 * Marks for texts that hide something.
 * @param {any} shown
 * @param {string} name
 */
export function buildMarks(shown, name) {
    /** @type {string[]} */
    const marks = shown?.marks?.[name] ?? [];
    return marks.map((mark) => make("em", { class: "tag mark" }, icon("warn"),
        say(mark === "mixed_script" ? "mixed_scripts" : "hidden_characters")));
}

/**
 * @param {Entry} entry
 * @param {Option} option
 * @param {Told} told
 */
function buildNote(entry, option, told) {
    const label = shownOf(option, "label");
    const text = make("textarea", {
        rows: 1, "aria-label": say("note_on", { label }), "data-key": `note-${option.id}`,
        maxlength: 4000,
        value: entry.values.notes[option.id] ?? "",
        input: () => {
            entry.values.notes[option.id] = text.value;
            told.changed();
        },
    });
    return { text, node: make("div", { class: "note" }, icon("note"), text) };
}

/** Hides an option from now on; on one that was hidden and is looked at, shows it again.
 * @param {Entry} entry
 * @param {Option} option
 * @param {Told} told
 */
function buildHide(entry, option, told) {
    const label = shownOf(option, "label");
    const node = make("button", { type: "button", class: "row-btn hide-btn",
        "data-key": `hide-${option.id}`, click: () => told.hide(option.id) });
    const sync = () => {
        const isHidden = entry.hidden.has(option.id);
        if (node.dataset.hidden === String(isHidden))
            return;
        node.dataset.hidden = String(isHidden);
        node.setAttribute("aria-label",
            say(isHidden ? "show_option" : "hide_option", { label }));
        node.title = say(isHidden ? "show_again" : "key_hide");
        node.replaceChildren(icon(isHidden ? "eye" : "hide"),
            make("span", {}, isHidden ? say("show_again") : ""));
    };
    return { node, sync };
}

/**
 * @param {Entry} entry
 * @param {Field} field
 * @param {Option} option
 * @param {number} at
 * @param {string} base id of the field in the page
 * @param {Told} told
 */
function buildRow(entry, field, option, at, base, told) {
    const value = entry.values.fields[field.name];
    const isLone = entry.form.fields.length === 1; /* of several each has one note */
    const isOne = isOneOf(field);
    const id = `${base}-${at}`;
    const description = shownOf(option, "description");
    const input = make("input", {
        type: isOne ? "radio" : "checkbox", id, name: base, value: option.id,
        "data-key": `pick-${field.name}-${option.id}`,
        click: () => {
            if (!canClear || !value.picks.delete(option.id))
                return;
            input.checked = false; /* what may be left empty can be emptied again */
            told.changed();
        },
    });
    const canClear = isOne && !field.required;
    const note = hasNotes(entry) && isLone ? buildNote(entry, option, told) : null;
    const noteButton = note && make("button", {
        type: "button", class: "row-btn note-btn",
        "aria-label": say("note_on", { label: shownOf(option, "label") }),
        "data-key": `open-note-${option.id}`,
        click: () => openNote(),
    }, icon("note"), make("span", {}, say("note")));
    const hideButton = base === "f0" && !mayDestroy(entry.form)
        ? buildHide(entry, option, told) : null;
    const row = make("div", { class: "opt" },
        input,
        make("label", { for: id },
            make("span", { class: "txt" }, foreign(shownOf(option, "label"))),
            option.recommended && make("em", { class: "tag" }, icon("rec"), say("recommended")),
            option.destructive && make("em", { class: "tag danger-t" }, icon("warn"),
                say("destructive_word")),
            buildMarks(option.shown, "label")),
        make("span", { class: "opt-end" },
            mayDestroy(entry.form) &&
                make("code", { class: "id", dir: "auto" }, shownOf(option, "id")),
            noteButton, hideButton?.node, at < DIGITS && key(String(at + 1))),
        description &&
            make("p", { class: "desc", id: `${id}-d` }, make("span", { dir: "auto" }, description),
            buildMarks(option.shown, "description")),
        note?.node,
        option.preview && buildPreview(option));

    const openNote = () => {
        row.dataset.note = "open";
        sync();
        note?.text.focus();
    };
    const sync = () => {
        input.checked = value.picks.has(option.id);
        const isFull = !isOne && !input.checked &&
            value.picks.size >= (field.max_selections ?? Infinity);
        input.toggleAttribute("aria-disabled", isFull);
        if (isFull)
            input.setAttribute("aria-disabled", "true");
        const told = [description && `${id}-d`, isFull && `${base}-count`].filter(Boolean)
            .join(" ");
        if (told)
            input.setAttribute("aria-describedby", told);
        else
            input.removeAttribute("aria-describedby");
        row.classList.toggle("full", isFull);
        hideButton?.sync();
        row.classList.toggle("now", entry.looked_at === id);
        if (!note || !noteButton)
            return;
        const text = entry.values.notes[option.id] ?? "";
        const isShown = text !== "" || row.dataset.note === "open";
        note.node.hidden = !isShown;
        noteButton.hidden = isShown;
        if (document.activeElement !== note.text)
            note.text.value = text;
    };
    input.addEventListener("change", () => {
        if (input.checked && input.hasAttribute("aria-disabled")) {
            input.checked = false;
            return;
        }
        if (isOne) {
            value.picks.clear();
            value.own = false;
        }
        if (input.checked)
            value.picks.add(option.id);
        else
            value.picks.delete(option.id);
        value.emptied = value.picks.size === 0;
        told.changed();
    });
    row.addEventListener("focusin", () => {
        if (entry.looked_at === id)
            return;
        entry.looked_at = id;
        value.emptied = false;
        for (const other of row.parentElement?.children ?? [])
            other.classList.toggle("now", other === row);
    });
    followPicks(row, input, () => {
        if (note && isOn("note_focus"))
            openNote();
        else
            told.picked(row);
    });
    return { row, sync, option };
}

/**
 * @param {Entry} entry
 * @param {Field} field
 * @param {string} base
 * @param {Told} told
 */
function buildOwnRow(entry, field, base, told) {
    const value = entry.values.fields[field.name];
    const isOne = isOneOf(field);
    const id = `${base}-own`;
    const label = say(hasSteps(entry) ? "other" : "own_words");
    const input = make("input", {
        type: isOne ? "radio" : "checkbox", id, name: base, "data-key": `own-${field.name}`,
        change: () => {
            value.own = input.checked;
            if (isOne)
                value.picks.clear();
            told.changed();
            if (input.checked)
                text.focus();
        },
    });
    const hint = isOn("placeholder") && field.placeholder_visible
        ? shownOf(field, "placeholder") : "";
    const text = make("textarea", {
        rows: 2, "aria-label": label, "data-key": `words-${field.name}`, placeholder: hint,
        value: value.words,
        input: () => {
            value.words = text.value;
            if (!value.own && text.value !== "") {
                value.own = true;
                if (isOne)
                    value.picks.clear();
            }
            told.changed();
        },
    });
    const sync = () => {
        input.checked = value.own;
        if (document.activeElement !== text)
            text.value = value.words;
        note.hidden = !value.own && value.words === "" && document.activeElement !== text;
    };
    const note = make("div", { class: "note" }, text);
    const row = make("div", { class: "opt own" }, input,
        make("label", { for: id }, make("span", {}, label)),
        make("span", { class: "opt-end" }, key("O")), note);
    return { row, sync, option: null };
}

/**
 * @param {Entry} entry
 * @param {Field} field
 * @param {number} at
 * @param {Told} told
 * @returns {Part}
 */
export function buildOptions(entry, field, at, told) {
    const base = `f${at}`;
    const value = entry.values.fields[field.name];
    const options = field.options ?? [];
    const isHidden = (/** @type {Option} */ option) => at === 0 && entry.hidden.has(option.id) &&
        !entry.reveals && !isOn("show_hidden") && !value.picks.has(option.id);
    const rows = options.map((option, place) => buildRow(entry, field, option, place, base, told));
    const own = takesWords(field) ? buildOwnRow(entry, field, base, told) : null;
    const count = make("output", { id: `${base}-count` });
    const hasPreviews = options.some((option) => option.preview);
    const label = shownOf(field, "label");
    const isTitle = titleField(entry) === field; /* said above: here for screen readers alone */
    const more = make("button", {
        type: "button", class: "more", "data-key": "reveal",
        click: () => {
            entry.reveals = !entry.reveals;
            sync();
        },
    }, icon("chev"), make("span"));
    const filter = options.length >= FILTER_FROM
        ? make("label", { class: "find opt-find" }, icon("search"),
        make("span", { class: "vh" }, say("filter_options")),
        make("input", {
            type: "search", placeholder: say("filter_options"), "data-key": "filter",
            input: (/** @type {Event} */ event) => {
                const wanted = /** @type {HTMLInputElement} */ (event.target).value.toLowerCase();
                for (const { row, option } of rows)
                    row.classList.toggle("filtered", !`${option.label} ${option.description ?? ""}`
                        .toLowerCase().includes(wanted));
            },
        }), key("/")) : null;
    const rule = sayRule(field);
    const node = make("fieldset", {
        class: hasPreviews ? "cmp" : "opts", id: base,
        "data-n": hasPreviews ? options.length : null,
    },
        make("legend", {}, isTitle && make("span", { class: "vh" }, foreign(label)),
            make("span", { class: "leg" }, label && !isTitle ? foreign(label) : rule),
            label && !isTitle && make("span", {}, rule), count),
        filter, rows.map(({ row }) => row), own?.row, more);
    const sync = () => {
        let hidden = 0, revealed = 0;
        for (const { row, sync: syncRow, option } of rows) {
            syncRow();
            row.hidden = isHidden(option);
            hidden += row.hidden ? 1 : 0;
            revealed += entry.reveals && !row.hidden && entry.hidden.has(option.id) ? 1 : 0;
        }
        own?.sync();
        more.hidden = hidden === 0 && revealed === 0;
        setText(more.querySelector("span"), revealed ? say("hide_hidden")
            : sayCount(hidden, "one_hidden", "many_hidden"));
        if (!isOneOf(field)) {
            const left = (field.max_selections ?? options.length) - value.picks.size;
            const isBound = (field.max_selections ?? options.length) < options.length;
            setText(count,
                value.picks.size === 0 ? "" : say("chosen", { count: value.picks.size }) +
                (!isBound ? "" : left > 0
                    ? say("more_possible", { count: left }) : say("no_more_possible")));
        }
        node.classList.toggle("bad", entry.problem === field.name && judge(field, value) !== "");
        node.classList.toggle("single", hasPreviews && entry.one_at_a_time);
    };
    sync();
    return { node, sync, field };
}
