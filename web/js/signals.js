/* signals.js - what happened, for every part of the page that wants to know. */

/** @type {Map<string, Set<(detail: any) => void>>} */
const listeners = new Map();

/**
 * @param {"asks"|"ask"|"time"|"draft"|"settings"|"language"|"line"|"tick"|"page"|"rules"
 *     |"missed"} name
 * @param {(detail: any) => void} told
 * @returns {() => void} ends it
 */
export function on(name, told) {
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set);
    set.add(told);
    return () => void set.delete(told);
}

/**
 * @param {Parameters<typeof on>[0]} name
 * @param {any} [detail]
 */
export function tell(name, detail) {
    const set = listeners.get(name) ?? new Set();
    for (const told of [...set]) {
        if (set.has(told)) /* one before it may have ended it, as with the page it drew */
            told(detail);
    }
}
