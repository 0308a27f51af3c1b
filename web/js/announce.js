/* announce.js - what screen readers are told, and where the keyboard was. */
import { all, setText } from "./dom.js";

/**
 * @param {string} text
 * @param {boolean} [isUrgent]
 */
export function announce(text, isUrgent = false) {
    const node = document.getElementById(isUrgent ? "alert" : "say");
    setText(node, "");
    setTimeout(() => setText(node, text), 50); /* the same words twice are news twice */
}

/** Runs a function that rebuilds the page, and puts the keyboard focus and the text cursor back.
 * @param {ParentNode} root
 * @param {() => void} rebuild
 */
export function keepFocus(root, rebuild) {
    const before = /** @type {HTMLInputElement|null} */ (document.activeElement);
    const name = before?.dataset?.key;
    const [from, to] = before instanceof HTMLTextAreaElement
        ? [before.selectionStart, before.selectionEnd] : [null, null];

    rebuild();
    if (!name)
        return;
    const after = all(root, "[data-key]").find((node) => node.dataset.key === name);
    after?.focus({ preventScroll: true });
    if (after instanceof HTMLTextAreaElement && from !== null)
        after.setSelectionRange(from, to);
}
