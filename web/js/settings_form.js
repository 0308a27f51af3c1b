/* settings_form.js - every setting of the person's; saved when it is changed, for all channels. */
import { all, button, icon, make, select, setText } from "./dom.js";
import { hasWord, say, sayClock, sayTime } from "./language.js";
import { isOn, isOpen, saveSetting, secondsLeft, setting, settingRow } from "./model.js";
import { call } from "./wire.js";
import { sayProblem } from "./problems.js";

/**
 * @typedef {import("./language.js").Word} Word
 * @typedef {{name: string, kind: "choice"|"segment"|"switch"|"number"|"text", values?: string[],
 *     least?: number, most?: number, unit?: Word, small?: Word}} Row
 */

/** @type {[Word, Row[]][]} */
const GROUPS = [
    ["answering", [
        { name: "interface", kind: "choice", values: ["auto", "web", "terminal", "client"] },
        { name: "timeout_seconds", kind: "number", least: 1, most: 2592000, unit: "unit_seconds" },
        { name: "single_submit", kind: "choice", values: ["agent", "single", "batch"] },
        { name: "notes", kind: "switch" },
        { name: "note_focus", kind: "switch" },
        { name: "placeholder", kind: "switch" },
        { name: "show_hidden", kind: "switch" },
        { name: "settings_first", kind: "switch" },
        { name: "typing_hold", kind: "switch" },
        { name: "deliver_after", kind: "number", least: 0, most: 60, unit: "unit_seconds" },
        { name: "timeout_action", kind: "choice", values: ["none", "submit_defaults"],
            small: "never_destructive" },
        { name: "cli_answers", kind: "choice", values: ["any", "tty", "off"] },
    ]],
    ["attention", [
        { name: "notifications", kind: "switch" },
        { name: "sound", kind: "switch" },
        { name: "do_not_disturb", kind: "switch" },
        { name: "quiet_hours", kind: "text", small: "quiet_hours_hint" },
    ]],
    ["look_and_keys", [
        { name: "language", kind: "choice", values: ["auto", "en", "zh"] },
        { name: "theme", kind: "segment", values: ["system", "light", "dark"] },
        { name: "navigation_hints", kind: "switch" },
        { name: "single_keys", kind: "switch" },
    ]],
    ["keeping", [
        { name: "retention_days", kind: "number", least: 1, most: 3650, unit: "unit_days" },
        { name: "max_sessions", kind: "number", least: 1, most: 100000000 },
    ]],
];

/**
 * A value of a setting, in words.
 * @param {string} name
 * @param {string} value
 */
export function sayChoice(name, value) {
    const word = `${name}_${value}`;
    return hasWord(word) ? say(/** @type {any} */ (word)) : value;
}

/** @param {string} name */
const settingLabel = (name) => say(/** @type {any} */ (`set_${name}`));

/** Where a value comes from that the person did not choose.
 * @param {string} name
 */
function sayOrigin(name) {
    return settingRow(name)?.source === "environment" ? say("from_environment") : "";
}

/**
 * @param {Row} row
 * @param {(name: string, value: string|null) => void} save
 */
function buildControl(row, save) {
    const id = `set-${row.name}`;
    const value = setting(row.name);
    const has = { id, "data-key": id };
    const input = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target);

    switch (row.kind) {
    case "switch":
        return make("input", {
            ...has, type: "checkbox", role: "switch", class: "switch", checked: isOn(row.name),
            change: (/** @type {Event} */ event) =>
                save(row.name, input(event).checked ? "on" : "off"),
        });
    case "number":
        return make("span", { class: "num" }, make("input", {
            ...has, type: "number", value: String(value ?? ""), min: row.least, max: row.most,
            change: (/** @type {Event} */ event) => save(row.name, input(event).value || null),
        }), row.unit && make("span", {}, say(row.unit)));
    case "text":
        return make("span", { class: "num text" }, make("input", {
            ...has, type: "text", value: String(value ?? ""), maxlength: 11,
            placeholder: "22:00-07:00",
            change: (/** @type {Event} */ event) => save(row.name, input(event).value),
        }));
    case "segment":
        return make("fieldset", { class: "seg", "aria-label": settingLabel(row.name) },
            (row.values ?? []).map((choice) =>
            make("label", {}, make("input", {
                type: "radio", name: id, checked: value === choice, "data-key": `${id}-${choice}`,
                change: () => save(row.name, choice),
            }), make("span", {}, sayChoice(row.name, choice)))));
    default:
        return select({ ...has,
            change: (/** @type {Event} */ event) => save(row.name, input(event).value) },
            (row.values ?? []).map((choice) =>
                /** @type {[string, string]} */ ([choice, sayChoice(row.name, choice)])),
            String(value));
    }
}

/** The time of the ask that is open: it can be set to anything.
 * @param {import("./model.js").Ask} ask
 * @param {(error: any) => void} failed
 */
function buildThisAsk(ask, failed) {
    const left = secondsLeft(ask) ?? 0;
    const until = sayTime(new Date(Date.now() + left * 1000).toISOString());
    const choices = /** @type {[string, string][]} */ ([
        ["", `${sayClock(left)}${say("comma")}${say("until", { time: until })}`],
        ["300", say("plus_5_min")],
        ["1800", say("plus_30_min")], ["14400", say("plus_4_h")], ["now60", say("only_1_min")],
    ]);
    return make("fieldset", {}, make("legend", {}, say("this_ask")), make("div", { class: "s" },
        make("label", { for: "set-left" }, say("time_left")),
        select({ id: "set-left", "data-key": "set-left", change: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLSelectElement} */ (event.target);
            const seconds = value === "now60"
                ? 60 : Math.ceil(secondsLeft(ask) ?? 0) + Number(value);
            if (value)
                call("ask/extend", { session_id: ask.session_id, seconds }).catch(failed);
        } }, choices, "")));
}

/**
 * @param {import("./model.js").Ask|null} [ask] the one that is open
 * @returns {HTMLElement}
 */
export function buildSettings(ask = null) {
    const saved = make("output", { class: "saved" });
    const fail = (/** @type {any} */ error) => {
        saved.classList.add("wrong");
        setText(saved, sayProblem(error));
    };
    const save = (/** @type {string} */ name, /** @type {string|null} */ value) => {
        saveSetting(name, value).then(() => {
            for (const node of all(document, ".saved")) {
                node.classList.remove("wrong");
                node.replaceChildren(icon("check", "ok"),
                    make("span", {}, say("saved_everywhere")));
            }
        }, (error) => {
            fail(error);
            const input =
                /** @type {HTMLInputElement|null} */ (document.getElementById(`set-${name}`));
            if (input && input.type !== "checkbox")
                input.value = String(setting(name) ?? "");
        });
    };
    const names = GROUPS.flatMap(([, rows]) => rows.map((row) => row.name));
    return make("form",
        { class: "set", submit: (/** @type {Event} */ event) => event.preventDefault() },
        saved,
        ask && isOpen(ask) && buildThisAsk(ask, fail),
        GROUPS.map(([title, rows]) =>
            make("fieldset", {}, make("legend", {}, say(title)), rows.map((row) => {
            const small = [row.small && say(row.small), sayOrigin(row.name)].filter(Boolean)
                .join(" · ");
            const help = say(/** @type {any} */ (`help_${row.name}`));
            return make("div", { class: "s", title: help },
                row.kind === "segment" ? make("span", { class: "l" }, settingLabel(row.name))
                    : make("label", { for: `set-${row.name}` }, settingLabel(row.name),
                        small && make("small", {}, small)),
                buildControl(row, save));
        }))),
        make("p", { class: "btns" }, button({ class: "small", "data-key": "built-in", click: () => {
            for (const name of names) {
                if (settingRow(name)?.source === "saved")
                    save(name, null);
            }
        } }, say("back_to_built_in"))));
}

/**
 * @param {import("./model.js").Ask|null} ask
 * @param {() => void} close
 */
export function buildPanel(ask, close) {
    return make("aside", { class: "panel", "aria-labelledby": "set-h" },
        make("header", { class: "panel-h" }, make("h2", { id: "set-h" }, say("settings")),
            make("output", { class: "saved" }),
            make("button", { type: "button", class: "icon-btn end",
                "aria-label": say("close_settings"), "data-key": "close-settings",
                click: close }, icon("x"))),
        buildSettings(ask));
}
