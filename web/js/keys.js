/*
 * keys.js - one key, one act. Off in fields, while a dialog is open, with Ctrl, Alt or Meta, and
 * where the person switched them off; Ctrl+Enter and Enter always work.
 */
import { all } from "./dom.js";
import { isOn, activeAsks, setting, urgentAsk } from "./model.js";
import { isComposing, isTooEarly } from "./guard.js";
import { hasDialog, openKeys } from "./dialogs.js";
import { isOneOf, kindOf, takesPicks } from "./values.js";
import { hasSteps, picksSend, whyWaits } from "./entry.js";
import { announce } from "./announce.js";
import { say } from "./language.js";

/** @typedef {ReturnType<ReturnType<typeof import("./ask_view.js").showAsk>["keys"]>} AskKeys */

const SEQUENCE_MS = 1200;
/** @type {Record<string, string>} behind g */
const GO_TO = { i: "/", h: "/history", a: "/standing" };
let wentAt = -Infinity;

/** @param {EventTarget|null} target */
function isField(target) {
    return target instanceof HTMLElement &&
        target.matches("textarea, select, " +
            "input:not([type=radio]):not([type=checkbox]):not([type=range])");
}

/** The option whose row has the keyboard, or else the first.
 * @param {number} by
 */
function move(by) {
    const inputs = /** @type {HTMLInputElement[]} */ (all(document,
        ".ask .opt:not([hidden]):not(.filtered) > input, .ask .star input"));
    if (inputs.length === 0)
        return;
    const at = inputs.indexOf(/** @type {HTMLInputElement} */ (document.activeElement));
    const next = inputs[at < 0
        ? (by > 0 ? 0 : inputs.length - 1) : (at + by + inputs.length) % inputs.length];
    next.focus();
    if (next.type === "radio" && !next.checked)
        next.click();
}

/** Whether its field must have an answer; what need not can be emptied again.
 * @param {HTMLInputElement} input
 * @param {import("./entry.js").Entry} entry
 */
function isNeeded(input, entry) {
    return !!entry.form.fields[fieldAt(input)]?.required;
}

/** @param {number} digit
 * @param {AskKeys} ask */
function pick(digit, ask) {
    const entry = ask.entry;
    if (!entry)
        return;
    if (hasSteps(entry) && entry.step === entry.form.fields.length) {
        if (digit <= entry.form.fields.length)
            ask.go(digit - 1);
        return;
    }
    const stars = /** @type {HTMLInputElement[]} */ (all(document, ".ask .star input"));
    const rows = rowsOf(":not([hidden])");
    const input = stars.length
        ? stars.find((star) => star.value === String(digit)) : rows[digit - 1];
    if (!input)
        return;
    input.focus();
    const wasChecked = input.checked;
    if (!wasChecked || input.type === "checkbox" || !isNeeded(input, entry))
        input.click();
    const field = entry.form.fields[0];
    if (input.type === "radio" && picksSend(entry) && !whyWaits(entry) &&
        isOneOf(field))
        ask.send("pick");
}

/** Where digits go: the group with the keyboard, else the first. */
function firstGroup() {
    return document.activeElement?.closest(".ask fieldset.opts, .ask fieldset.cmp") ??
        document.querySelector(".ask fieldset.opts, .ask fieldset.cmp");
}

/** Options of the list with the keyboard, else of the first.
 * @param {string} which
 * @returns {HTMLInputElement[]}
 */
function rowsOf(which) {
    return /** @type {HTMLInputElement[]} */ (all(document,
        `.ask .opt:not(.own)${which} > input`))
        .filter((input) => input.closest("fieldset") === firstGroup());
}

/** Those that are in sight. */
function rowsShown() {
    return rowsOf(":not([hidden]):not(.filtered)");
}

/** Ticks all that may be ticked, or none.
 * @param {boolean} isOn
 * @param {AskKeys} ask
 */
function tickAll(isOn, ask) {
    const rows = rowsShown().filter((input) => input.type === "checkbox");
    for (const input of rows) {
        if (input.checked !== isOn && !input.hasAttribute("aria-disabled"))
            input.click();
    }
    const field = rows.length && ask.entry ? ask.entry.form.fields[fieldAt(rows[0])] : null;
    if (field && !isOn && ask.entry)
        ask.entry.values.fields[field.name].emptied = true;
}

/** @param {HTMLInputElement} input */
function fieldAt(input) {
    return Number(input.name.slice(1)); /* f0, f1 … */
}

/** With nothing ticked Enter ticks the row that has the keyboard, or goes to the first; a row of
 * which only one can be picked is picked, and what was asked for goes on.
 * @param {EventTarget|null} target
 * @param {AskKeys} ask
 * @returns {boolean} that was all
 */
function enterTicks(target, ask) {
    const rows = rowsShown();
    const at = rows.indexOf(/** @type {HTMLInputElement} */ (target));
    const { entry } = ask;
    if (!entry || rows.length === 0 || rows.some((input) => input.checked))
        return false;
    const field = entry.form.fields[fieldAt(rows[0])];
    const value = entry.values.fields[field?.name];
    if (!value || !takesPicks(field) || value.picks.size > 0)
        return false;
    if (rows[0].type === "radio") {
        if (at >= 0 && !(target instanceof HTMLElement && target.closest(".own")))
            rows[at].click();
        return false;
    }
    if (value.emptied || (at < 0 && (value.own || target !== document.body)))
        return false;
    if (at < 0) {
        rows[0].focus();
        return true;
    }
    rows[at].click();
    ask.say(say("ticked"));
    return true;
}

/** Where y and n answer: the confirmation with the keyboard, or the one there is.
 * @param {AskKeys|null} ask
 */
function confirmation(ask) {
    const group = document.activeElement?.closest(".ask fieldset.yes-no");
    const { fields } = ask?.entry?.form ?? { fields: [] };
    return group ?? (fields.length === 1 && kindOf(fields[0]).isYesNo
        ? document.querySelector(".ask fieldset.yes-no") : null);
}

/** @param {Element} group
 * @param {boolean} isYes
 * @param {AskKeys} ask */
function answer(group, isYes, ask) {
    const input = /** @type {HTMLInputElement} */ (all(group, ".opt > input")[isYes ? 0 : 1]);
    input.focus();
    if (!input.checked)
        input.click();
    if (ask.entry?.form.fields.length === 1 && setting("single_submit") !== "batch")
        ask.send("pick");
}

/** @param {string} selector */
function focusOn(selector) {
    /** @type {HTMLElement|null} */ (document.querySelector(selector))?.focus();
}

/**
 * @param {number} by
 * @param {{current: () => string, go: (path: string) => void}} shell
 */
function otherAsk(by, shell) {
    const ids = activeAsks().map((ask) => ask.session_id);
    const at = ids.indexOf(shell.current());
    const next = at < 0 ? urgentAsk()?.session_id : ids[(at + by + ids.length) % ids.length];
    if (next && next !== shell.current())
        shell.go(`/choice/${next}`);
}

/** Own words are entered; typing picks them. */
function openOwn() {
    const row = (firstGroup() ?? document).querySelector(".opt.own");
    row?.querySelector(".note")?.removeAttribute("hidden");
    row?.querySelector("textarea")?.focus();
}

/**
 * Keys that only make sense with a question.
 * @param {string} name
 * @param {AskKeys} ask
 * @returns {boolean} done
 */
function askKey(name, ask) {
    const group = confirmation(ask);
    if (group && (name === "y" || name === "n")) {
        answer(group, name === "y", ask);
        return true;
    }
    const hide = () => {
        const input = /** @type {HTMLInputElement|null|undefined} */ (
            document.activeElement?.closest(".opt:not(.own)")?.querySelector("input"));
        if (input)
            ask.hide(input.value);
    };
    /** @type {Record<string, () => void>} */
    const acts = {
        j: () => move(1), k: () => move(-1),
        o: openOwn, n: () => focusOn("#gn, #fn"), a: () => tickAll(true, ask),
        x: () => tickAll(false, ask), q: ask.cancel, "-": hide, h: hide,
        H: () => /** @type {HTMLElement|null} */ (
            document.querySelector(".ask .more:not([hidden])"))?.click(),
        p: () => focusOn(".ask .pv [tabindex]"), e: ask.extend, t: ask.toTerminal, l: ask.later,
        b: ask.askBack,
        "/": () => focusOn(".opt-find input"),
        ArrowRight: () => ask.entry && hasSteps(ask.entry) && ask.go(ask.entry.step + 1),
        ArrowLeft: () => ask.entry && hasSteps(ask.entry) && ask.go(ask.entry.step - 1),
    };
    if (/^[1-9]$/.test(name)) {
        pick(Number(name), ask);
        return true;
    }
    acts[name]?.();
    return name in acts;
}

/** Back to the row of the list it belongs to, or to the page; what was written stays.
 * @param {HTMLElement} field
 */
function leaveField(field) {
    const row = /** @type {HTMLInputElement|null|undefined} */ (
        field.closest(".opt")?.querySelector(":scope > input"));
    field.blur();
    row?.focus();
}

/**
 * @param {{ask: () => AskKeys|null, current: () => string, go: (path: string) => void,
 *     toggleSettings: () => void, hasPanel: () => boolean}} shell
 */
export function startKeys(shell) {
    /** @param {KeyboardEvent} event */
    const everywhere = (event) => {
        const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const isSecond = performance.now() - wentAt < SEQUENCE_MS;
        wentAt = -Infinity;
        if (isSecond && name in GO_TO) {
            shell.go(GO_TO[name]);
            return true;
        }
        if (name === "g")
            wentAt = performance.now();
        else if (name === "s")
            shell.toggleSettings();
        else if (name === "?")
            openKeys();
        else if (name === "]" || name === "[")
            otherAsk(name === "]" ? 1 : -1, shell);
        else if (name === "/" && !shell.ask())
            focusOn(".filters input");
        else if (name === "u")
            shell.ask()?.undo();
        else
            return false;
        return true;
    };
    document.addEventListener("keydown", (event) => {
        const ask = shell.ask();
        const target = event.target;
        if (isComposing(event) || hasDialog() || event.defaultPrevented)
            return;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            if (ask?.isOpen && !event.repeat)
                ask.send("button");
            return;
        }
        if (event.ctrlKey || event.altKey || event.metaKey)
            return;
        if (event.key === "Escape") {
            event.preventDefault(); /* or it would close the very dialog it opens */
            if (isField(target))
                leaveField(/** @type {HTMLElement} */ (target));
            else if (shell.hasPanel())
                shell.toggleSettings();
            else if (ask?.isOpen)
                ask.cancel();
            return;
        }
        if (isField(target))
            return;
        const isPress = event.key === "Enter" || event.key === " " || /^[1-9]$/.test(event.key) ||
            (/^[yn]$/i.test(event.key) && isOn("single_keys") && !!confirmation(ask));
        if (isPress && ask?.isOpen && isTooEarly() && !(target instanceof HTMLAnchorElement)) {
            event.preventDefault();
            announce(say("too_early"), true);
            document.getElementById("tally")?.replaceChildren(say("too_early"));
            return;
        }
        if (event.repeat && isPress) {
            event.preventDefault();
            return;
        }
        if (event.key === " " && ask?.entry && target instanceof HTMLInputElement &&
            target.type === "radio" &&
            target.checked && target.closest(".opt") && !isNeeded(target, ask.entry)) {
            event.preventDefault(); /* a browser does nothing here */
            target.click();
            return;
        }
        if (event.key === "Enter" && ask?.isOpen &&
            !(target instanceof HTMLElement && target.matches("button, a, summary"))) {
            event.preventDefault();
            if (!enterTicks(target, ask))
                ask.send("enter");
            return;
        }
        if (event.key === "Enter" && !ask && target === document.body) {
            const link = document.querySelector("[data-key=most-urgent]");
            /** @type {HTMLElement|null} */ (link)?.click();
            return;
        }
        if (!isOn("single_keys"))
            return;
        const name = event.key.length === 1 && event.key !== "H"
            ? event.key.toLowerCase() : event.key;
        const isSideways = /^Arrow(Left|Right)$/.test(name) && !!ask?.entry && hasSteps(ask.entry);
        const isArrowInGroup = name.startsWith("Arrow") && target instanceof HTMLInputElement &&
            !isSideways;
        if (everywhere(event) || (ask?.isOpen && !isArrowInGroup && askKey(name, ask)))
            event.preventDefault();
    });
}
