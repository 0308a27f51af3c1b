/* language.js - the words of the page in the person's language. */
import { WORDS } from "./words.js";
import { SETTING_WORDS } from "./words_settings.js";
import { PAGE_WORDS } from "./words_pages.js";
import { tell } from "./signals.js";

/**
 * @typedef {keyof typeof WORDS | keyof typeof SETTING_WORDS | keyof typeof PAGE_WORDS
 *     | keyof typeof import("./words_standing.js").STANDING_WORDS
 *     | keyof typeof import("./words_tell.js").TELL_WORDS
 *     | keyof typeof import("./words_statistics.js").STATISTICS_WORDS} Word
 */

const TABLE = /** @type {Record<Word, readonly [string, string]>} */ (
    { ...WORDS, ...SETTING_WORDS, ...PAGE_WORDS });
const LANGUAGES = ["en", "zh"];
const LANGUAGE_TAGS = ["en", "zh-CN"];
let column = 0;

/** Words of a part that is loaded later.
 * @param {Partial<typeof TABLE>} words
 */
export function addWords(words) {
    Object.assign(TABLE, words);
}

/**
 * @param {Word} word
 * @param {Record<string, string|number>} [values] for {names} in it
 * @returns {string}
 */
export function say(word, values = {}) {
    return TABLE[word][column].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * One or many of something.
 * @param {number} count
 * @param {Word} one
 * @param {Word} many
 * @param {Record<string, string|number>} [values]
 */
export function sayCount(count, one, many, values = {}) {
    return say(count === 1 ? one : many, { count: sayNumber(count), ...values });
}

/** @param {string} name */
export function hasWord(name) {
    return name in TABLE;
}

export function languageTag() {
    return LANGUAGE_TAGS[column];
}

/** @param {string} name the setting: auto, en or zh */
export function setLanguage(name) {
    const wanted = name === "auto" ? navigator.language.slice(0, 2).toLowerCase() : name;
    const next = Math.max(0, LANGUAGES.indexOf(wanted));

    document.documentElement.lang = LANGUAGE_TAGS[next];
    if (next === column)
        return;
    column = next;
    tell("language");
}

/** @param {number} number */
export function sayNumber(number) {
    return number.toLocaleString(languageTag(), { maximumFractionDigits: 6 });
}

/**
 * How long something took or has lasted, in its largest unit.
 * @param {number} seconds
 */
export function sayDuration(seconds) {
    const s = Math.max(0, Math.round(seconds));
    if (s < 60)
        return say("seconds", { count: s });
    if (s < 3600)
        return say("minutes", { count: Math.floor(s / 60) });
    if (s < 86400)
        return say("hours", { count: Math.floor(s / 3600) });
    return say("days", { count: Math.floor(s / 86400) });
}

/** @param {number} seconds */
export function sayClock(seconds) {
    const s = Math.max(0, Math.ceil(seconds));
    const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
    if (s >= 86400)
        return sayDuration(s);
    if (s >= 3600)
        return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
    return `${Math.floor(s / 60)}:${two(s % 60)}`;
}

const CLOCK = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hour12: false });

/** @param {Date} when @param {Date} day */
const isSameDay = (when, day) => when.toDateString() === day.toDateString();

/**
 * With the day unless it is today.
 * @param {string|null|undefined} at
 */
export function sayTime(at) {
    const when = new Date(at ?? 0);

    if (isSameDay(when, new Date()))
        return when.toLocaleTimeString(languageTag(), { hour12: false });
    return at
        ? when.toLocaleString(languageTag(), { day: "numeric", month: "short", ...CLOCK }) : "";
}

/**
 * The same in short, as the command line says it.
 * @param {string} at
 */
export function sayWhen(at) {
    const when = new Date(at);
    const yesterday = new Date();
    const time = when.toLocaleTimeString(languageTag(), CLOCK);

    if (isSameDay(when, yesterday))
        return time;
    yesterday.setDate(yesterday.getDate() - 1);
    return isSameDay(when, yesterday) ? say("yesterday", { time }) : sayTime(at);
}
