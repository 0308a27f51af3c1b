/*
 * guard.js - no accidents: nothing answers in the first half second after a question came into
 * view, the Enter of an input method belongs to it, and a held key sends nothing.
 */

const DEAD_MS = 500;
const COMPOSED_MS = 80;

let deadUntil = Infinity;
let composedAt = -Infinity;
/** @type {{row: Element, top: number}|null} */
let pressed = null;

/** The question has just come into view, or was moved by us. */
export function armGuard() {
    deadUntil = Infinity;
    if (document.hidden)
        return;
    requestAnimationFrame(() => {
        deadUntil = performance.now() + DEAD_MS;
    });
}

export function isTooEarly() {
    return performance.now() < deadUntil;
}

/** @param {KeyboardEvent} event */
export function isComposing(event) {
    return event.isComposing || event.keyCode === 229 ||
        (event.key === "Enter" && performance.now() - composedAt < COMPOSED_MS);
}

/** The press began on this row, and the row has not moved since.
 * @param {Element} row
 */
function isWholeClick(row) {
    const began = pressed;
    pressed = null;
    return !!began && began.row === row &&
        Math.abs(began.top - row.getBoundingClientRect().top) < 2;
}

/**
 * Calls when the row was picked by a whole click of a pointer; arrow keys only move.
 * @param {HTMLElement} row
 * @param {HTMLInputElement} input
 * @param {() => void} picked after the change was heard
 */
export function followPicks(row, input, picked) {
    row.addEventListener("pointerdown", () => {
        pressed = document.hasFocus() ? { row, top: row.getBoundingClientRect().top } : null;
    });
    row.addEventListener("click", (event) => {
        if (event.target === input && isWholeClick(row) && !event.defaultPrevented)
            setTimeout(() => input.checked && picked());
    });
}

export function startGuard() {
    const composed = () => {
        composedAt = performance.now();
    };
    document.addEventListener("compositionend", composed, true);
    document.addEventListener("paste", composed, true);
    document.addEventListener("keydown", () => {
        pressed = null;
    }, true);
    document.addEventListener("visibilitychange", armGuard);
    addEventListener("focus", armGuard);
}
