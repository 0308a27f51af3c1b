/*
 * values.js - what stands in a form, apart from how it looks: read from defaults, drafts and
 * answers, written as an answer, and judged as the hub will judge it. The hub judges again.
 */
import { say, sayCount, sayNumber } from "./language.js";

/**
 * @typedef {{id: string, label: string, description?: string, annotation?: string,
 *     recommended?: boolean, default?: boolean, destructive?: boolean, preview?: any,
 *     shown?: any}} Option
 * @typedef {{name: string, label?: string, description?: string, kind: string, required?: boolean,
 *     options?: Option[], min_selections?: number, max_selections?: number, placeholder?: string,
 *     placeholder_visible?: boolean, min_chars?: number, max_chars?: number, format?: string,
 *     integer?: boolean, minimum?: number, maximum?: number, step?: number, unit?: string,
 *     style?: string, default_text?: string, default_number?: number, default_confirm?: string,
 *     shown?: any}} Field
 * @typedef {{title: string, prompt: string, fields: Field[], allow_annotations?: boolean,
 *     global_annotation?: string, single_submit?: boolean, destructive?: boolean,
 *     answered_ms?: number, shown?: any}} Form
 * @typedef {{picks: Set<string>, words: string, number: string, confirm: boolean|null,
 *     own: boolean, emptied?: boolean}} Value
 * @typedef {{fields: Record<string, Value>, notes: Record<string, string>,
 *     field_notes: Record<string, string>, note: string}} Values
 */

/** Some answer takes the confirmation code (core/fields/form.h): nothing is preselected, hidden
 * or sent by picking.
 * @param {Form} form
 */
export function mayDestroy(form) {
    return !!form.destructive || marksOptions(form);
}

/** @param {Form} form */
function marksOptions(form) {
    return form.fields.some(({ options }) => (options ?? []).some((option) => option.destructive));
}

/** The same rule as the hub's (core/fields/answer.h), which judges again.
 * @param {Form} form
 * @param {Values} values
 */
export function needsCode(form, values) {
    const hasMarks = marksOptions(form);
    return form.fields.some((field) => {
        const value = values.fields[field.name];
        const picked = (field.options ?? []).filter((option) => value.picks.has(option.id));
        const isSafe = picked.length > 0 || value.confirm === false;
        return picked.some((option) => option.destructive || (form.destructive && !hasMarks)) ||
            (form.destructive && (!isSafe || wordsOf(field, value).trim() !== ""));
    });
}

/** @param {Field} field */
export function takesPicks(field) {
    return !!kindOf(field).hasOptions;
}

/** @param {Field} field */
export function takesWords(field) {
    return !!kindOf(field).hasWords;
}

/** The words that would be sent: in hybrid they are a row of the list, which must be picked.
 * @param {Field} field
 * @param {Value} value
 */
export function wordsOf(field, value) {
    return takesWords(field) && (!takesPicks(field) || value.own) ? value.words : "";
}

/** At most one can be picked.
 * @param {Field} field
 */
export function isOneOf(field) {
    return !!kindOf(field).isExclusive || (field.max_selections ?? 0) === 1;
}

/**
 * @param {Field} field
 * @param {boolean} isDestructive
 * @returns {Value}
 */
function defaultValue(field, isDestructive) {
    const picks = (field.options ?? []).filter((option) => option.default && !isDestructive);
    return {
        picks: new Set(picks.map((option) => option.id)),
        words: field.default_text ?? "",
        number: field.default_number === undefined ? "" : String(field.default_number),
        confirm: field.default_confirm === "yes" ? true : field.default_confirm === "no"
            ? false : null,
        own: false,
    };
}

/**
 * @param {Form} form
 * @returns {Values}
 */
export function defaultValues(form) {
    /** @type {Values} */
    const values = { fields: {}, notes: {}, field_notes: {}, note: form.global_annotation ?? "" };
    for (const field of form.fields)
        values.fields[field.name] = defaultValue(field, mayDestroy(form));
    for (const option of form.fields[0].options ?? []) {
        if (option.annotation)
            values.notes[option.id] = option.annotation;
    }
    return values;
}

/* A draft may be what an agent's client returned of its own form: anything. */

/** @param {any} said */
function textOf(said) {
    return typeof said === "string" ? said : "";
}

/**
 * @param {Field} field
 * @param {any} said
 * @returns {Set<string>}
 */
function picksOf(field, said) {
    const ids = Array.isArray(said) ? said : [said];
    return new Set((field.options ?? []).map(({ id }) => id).filter((id) => ids.includes(id)));
}

/** @type {Reader} picks and words together, or picks alone */
function readHybrid(field, said, value) {
    if (!said || typeof said !== "object" || Array.isArray(said)) {
        value.picks = picksOf(field, said);
        return;
    }
    value.picks = picksOf(field, said.selected_ids);
    value.words = textOf(said.custom_input);
    value.own = value.words !== "";
}

/**
 * What a draft or an answer says, over the defaults. A draft says nothing of notes that the agent
 * wrote in advance and that are still there; an answer says all.
 * @param {Form} form
 * @param {any} said
 * @param {boolean} [isAnswer]
 * @returns {Values}
 */
export function readValues(form, said, isAnswer = false) {
    const values = defaultValues(form);
    const first = form.fields[0];

    if (!said)
        return values;
    const isBoth = takesPicks(first) && takesWords(first);
    const { selected_ids, custom_input } = said;
    if (selected_ids || custom_input !== undefined)
        kindOf(first).read(first, isBoth ? { selected_ids, custom_input }
            : selected_ids || custom_input, values.fields[first.name]);
    for (const field of form.fields) {
        if (said.fields && field.name in said.fields)
            kindOf(field).read(field, said.fields[field.name], values.fields[field.name]);
    }
    values.notes = { ...isAnswer ? {} : values.notes, ...said.option_annotations };
    values.field_notes = { ...said.field_annotations };
    values.note = textOf(said.global_annotation ?? (isAnswer ? "" : values.note));
    return values;
}

/** @type {Writer} */
function writePicks(field, value) {
    return (field.options ?? []).map((option) => option.id).filter((id) => value.picks.has(id));
}

/** @type {Writer} */
function writeHybrid(field, value) {
    const selected_ids = writePicks(field, value);
    return wordsOf(field, value).trim() ? { selected_ids, custom_input: value.words }
        : { selected_ids };
}

/**
 * @param {Form} form
 * @param {Values} values
 * @param {boolean} withNotes notes may be switched off
 */
export function writeAnswer(form, values, withNotes) {
    /** @type {any} */
    const answer = { fields: {} };
    for (const field of form.fields)
        answer.fields[field.name] = kindOf(field).write(field, values.fields[field.name]);
    if (!withNotes)
        return answer;
    const given = defaultValues(form); /* what the agent wrote: "" says that it was taken away */
    const written = (/** @type {Record<string, string>} */ notes,
        /** @type {Record<string, string>} */ before) =>
        Object.entries(notes).filter(([id, text]) => text.trim() || before[id])
            .map(([id, text]) => [id, text.trim() ? text : ""]);
    const notes = written(values.notes, given.notes);
    const fieldNotes = written(values.field_notes, given.field_notes);
    if (notes.length)
        answer.option_annotations = Object.fromEntries(notes);
    if (fieldNotes.length)
        answer.field_annotations = Object.fromEntries(fieldNotes);
    if (values.note.trim() || given.note)
        answer.global_annotation = values.note.trim() ? values.note : "";
    return answer;
}

/**
 * @param {Field} field
 * @param {Value} value
 */
function judgePicks(field, value) {
    const count = value.picks.size;
    const least = field.min_selections ?? 0;
    const most = field.max_selections ?? Infinity;
    const hasWords = wordsOf(field, value).trim() !== "";

    if (count === 0 && (hasWords || !field.required))
        return value.own && !hasWords ? say("write_own") : "";
    if (kindOf(field).isExclusive)
        return count ? "" : say("choose_first");
    if (count > most)
        return say("too_many", { count: most });
    return count < least && !hasWords
        ? sayCount(least - count, "one_more_needed", "more_needed") : "";
}

/**
 * @param {Field} field
 * @param {Value} value
 */
function judgeWords(field, { words: text }) {
    const count = [...text].length;
    if (text.trim() === "")
        return field.required ? say("write_something") : "";
    if (field.min_chars && [...text.trim()].length < field.min_chars)
        return say("chars_least", { count: field.min_chars });
    return field.max_chars && count > field.max_chars
        ? say("chars_most", { count: field.max_chars }) : "";
}

/**
 * @param {Field} field
 * @param {Value} value
 */
function judgeNumber(field, { number: text }) {
    const number = Number(text);
    const { minimum, maximum, step } = field;

    if (text.trim() === "")
        return field.required ? say("number_needed") : "";
    if (!Number.isFinite(number))
        return say("number_needed");
    if (field.integer && !Number.isInteger(number))
        return say("number_whole");
    if (minimum !== undefined && number < minimum)
        return say("number_least", { number: sayNumber(minimum) });
    if (maximum !== undefined && number > maximum)
        return say("number_most", { number: sayNumber(maximum) });
    const steps = step ? (number - (minimum ?? 0)) / step : 0;
    return Math.abs(steps - Math.round(steps)) > 1e-6
        ? say("number_step", { number: sayNumber(step ?? 0) }) : "";
}

/**
 * What is missing or wrong, in words; "" if it can be sent.
 * @param {Field} field
 * @param {Value} value
 */
export function judge(field, value) {
    return kindOf(field).judge(field, value);
}

/** @param {any} thing a form, field or option: what of it may be shown
 * @param {string} name
 * @returns {string}
 */
export function shownOf(thing, name) {
    return thing.shown?.[name] ?? thing[name] ?? "";
}

/**
 * @param {Field} field
 * @param {Value} value
 */
export function pickedLabels(field, value) {
    return (field.options ?? []).filter((option) => value.picks.has(option.id))
        .map((option) => shownOf(option, "label"));
}

/**
 * A value in words: labels, text, number with its unit, yes or no.
 * @param {Field} field
 * @param {Value} value
 */
export function describeValue(field, value) {
    return kindOf(field).describe(field, value);
}

/**
 * All of it as one text, for keeping and copying; "" if there is nothing of the person's own.
 * @param {Form} form
 * @param {Values} values
 */
export function describeValues(form, values) {
    const lines = form.fields.map((field) => {
        const value = values.fields[field.name];
        const text = [describeValue(field, value), wordsOf(field, value) ? "" : value.words.trim(),
            values.field_notes[field.name]?.trim()].filter(Boolean).join("\n");
        return text && form.fields.length > 1
            ? `${shownOf(field, "label") || field.name}: ${text}` : text;
    });
    for (const option of form.fields[0].options ?? []) {
        if (values.notes[option.id]?.trim())
            lines.push(`${shownOf(option, "label")}: ${values.notes[option.id].trim()}`);
    }
    lines.push(values.note.trim());
    return lines.filter(Boolean).join("\n");
}

/**
 * Takes over what another device says, in place: the fields on the page hold on to these objects.
 * @param {Values} values
 * @param {Values} from
 */
export function assignValues(values, from) {
    for (const [name, value] of Object.entries(from.fields))
        Object.assign(values.fields[name], value);
    for (const notes of /** @type {const} */ (["notes", "field_notes"])) {
        for (const id of Object.keys(values[notes]))
            delete values[notes][id];
        Object.assign(values[notes], from[notes]);
    }
    values.note = from.note;
}

/**
 * What a kind of field is, as core/field_kinds.def says for the hub: what it may hold, how its
 * value is read, written, judged as the hub will, and said.
 * @typedef {(field: Field, said: any, value: Value) => void} Reader
 * @typedef {(field: Field, value: Value) => any} Writer
 * @typedef {{hasOptions?: boolean, hasWords?: boolean, isExclusive?: boolean, isYesNo?: boolean,
 *     read: Reader, write: Writer, judge: (field: Field, value: Value) => string,
 *     describe: (field: Field, value: Value) => string}} Kind
 */

/** @type {Kind} */
const PICKS = {
    hasOptions: true,
    read: (field, said, value) => { value.picks = picksOf(field, said); },
    write: writePicks,
    judge: judgePicks,
    describe: (field, value) => [...pickedLabels(field, value), wordsOf(field, value).trim()]
        .filter(Boolean).join("; "),
};

/** @type {Kind} */
const NUMBER = {
    read: (_, said, value) => { value.number = typeof said === "number" ? String(said) : ""; },
    write: (_, value) => value.number.trim() === "" ? null : Number(value.number),
    judge: judgeNumber,
    describe: (field, { number }) => number === "" ? ""
        : [sayNumber(Number(number)), shownOf(field, "unit")].filter(Boolean).join(" "),
};

/** @type {Record<string, Kind>} */
const KINDS = {
    single: { ...PICKS, isExclusive: true },
    multi: PICKS,
    hybrid: { ...PICKS, hasWords: true, read: readHybrid, write: writeHybrid },
    text: {
        hasWords: true,
        read: (_, said, value) => { value.words = textOf(said); },
        write: (_, value) => value.words,
        judge: judgeWords,
        describe: (_, value) => value.words.trim(),
    },
    number: NUMBER,
    confirm: {
        isExclusive: true,
        isYesNo: true,
        read: (_, said, value) => { value.confirm = typeof said === "boolean" ? said : null; },
        write: (_, value) => value.confirm,
        judge: (field, { confirm }) => field.required && confirm === null
            ? say("choose_first") : "",
        describe: (_, { confirm }) => confirm === null ? "" : say(confirm ? "yes" : "no"),
    },
};

/** One that is new to this page is read as yes or no.
 * @param {Field} field
 */
export function kindOf(field) {
    return KINDS[field.kind] ?? KINDS.confirm;
}
