/* settings_form.js - every setting of the person's; saved when it is changed, for all channels. */
import { all, button, icon, make, select, setText } from "./dom.js";
import { hasWord, say, sayClock, sayTime } from "./language.js";
import { isOn, isOpen, saveSetting, secondsLeft, setting, settingRow, settingRows }
    from "./model.js";
import { call } from "./wire.js";
import { sayProblem } from "./problems.js";
import { buildCommand } from "./command.js";

/**
 * @typedef {import("./language.js").Word} Word
 * @typedef {import("./model.js").SettingRow} Row
 */

/* The rows are the table of the hub, in its order; here is only how some of them look. */

/** Groups of the hub's machine that a page shows too. They are set there: a token can't. */
const SHOWN_GROUPS = ["keeping"];
/** Few short words: all of them in sight. */
const SEGMENTS = ["theme"];
/** @type {Record<string, Word>} */
const UNITS = { retention_days: "unit_days" };
/** @type {Record<string, Word>} */
const SMALL = { timeout_action: "never_destructive", quiet_hours: "quiet_hours_hint" };

/** @returns {[string, Row[]][]} */
function groupsOf() {
    /** @type {Map<string, Row[]>} */
    const groups = new Map();

    for (const row of settingRows()) {
        if (row.scope !== "person" && !SHOWN_GROUPS.includes(row.group))
            continue;
        groups.set(row.group, [...groups.get(row.group) ?? [], row]);
    }
    return [...groups];
}

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

/** @param {string} group */
const sayGroup = (group) => say(/** @type {any} */ (`group_${group}`));

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
    const has = { id, "data-key": id, disabled: row.scope !== "person" };
    const input = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target);

    switch (row.type) {
    case "bool":
        return make("input", {
            ...has, type: "checkbox", role: "switch", class: "switch", checked: isOn(row.name),
            change: (/** @type {Event} */ event) =>
                save(row.name, input(event).checked ? "on" : "off"),
        });
    case "integer":
    case "seconds": {
        const unit = row.type === "seconds" ? "unit_seconds" : UNITS[row.name];
        return make("span", { class: "num" }, make("input", {
            ...has, type: "number", value: String(value ?? ""), min: row.least, max: row.most,
            change: (/** @type {Event} */ event) => save(row.name, input(event).value || null),
        }), unit && make("span", {}, say(unit)));
    }
    case "enum":
        if (SEGMENTS.includes(row.name))
            break;
        return select({ ...has,
            change: (/** @type {Event} */ event) => save(row.name, input(event).value) },
            (row.choices ?? []).map((choice) =>
                /** @type {[string, string]} */ ([choice, sayChoice(row.name, choice)])),
            String(value));
    default:
        return make("span", { class: "num text" }, make("input", {
            ...has, type: "text",
            value: typeof value === "object" ? JSON.stringify(value) : String(value ?? ""),
            maxlength: row.most, placeholder: row.type === "period" ? "22:00-07:00" : undefined,
            change: (/** @type {Event} */ event) => save(row.name, input(event).value),
        }));
    }
    return make("fieldset", { class: "seg", "aria-label": settingLabel(row.name) },
        (row.choices ?? []).map((choice) => make("label", {}, make("input", {
            type: "radio", name: id, checked: value === choice, "data-key": `${id}-${choice}`,
            change: () => save(row.name, choice),
        }), make("span", {}, sayChoice(row.name, choice)))));
}

/** Where the ask that is open is announced; it may be answered anywhere.
 * @param {import("./model.js").Ask} ask
 * @param {(error: any) => void} failed
 */
function buildThisInterface(ask, failed) {
    const known = [...new Set(["auto", "web", ...isOn("terminal") ? ["terminal"] : [],
        ask.interface])];
    return make("div", { class: "s" }, make("label", { for: "set-this-interface" },
        say("this_interface"), ask.interface === "terminal" && make("small", {},
            buildCommand(`sayso attach ${ask.session_id.slice(0, 8)}`))),
    select({ id: "set-this-interface", "data-key": "set-this-interface",
        change: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLSelectElement} */ (event.target);
            call("ask/switch", { session_id: ask.session_id, interface: value }).catch(failed);
        } }, known.map((value) =>
        /** @type {[string, string]} */ ([value, sayChoice("interface", value)])), ask.interface));
}

/** The time of the ask that is open: it can be set to anything.
 * @param {import("./model.js").Ask} ask
 * @param {(error: any) => void} failed
 */
function buildThisTime(ask, failed) {
    const left = secondsLeft(ask) ?? 0;
    const until = sayTime(new Date(Date.now() + left * 1000).toISOString());
    const choices = /** @type {[string, string][]} */ ([
        ["", `${sayClock(left)}${say("comma")}${say("until", { time: until })}`],
        ["300", say("plus_5_min")],
        ["1800", say("plus_30_min")], ["14400", say("plus_4_h")], ["now60", say("only_1_min")],
    ]);
    return make("div", { class: "s" }, make("label", { for: "set-left" }, say("time_left")),
        select({ id: "set-left", "data-key": "set-left", change: (/** @type {Event} */ event) => {
            const { value } = /** @type {HTMLSelectElement} */ (event.target);
            const seconds = value === "now60"
                ? 60 : Math.ceil(secondsLeft(ask) ?? 0) + Number(value);
            if (value)
                call("ask/extend", { session_id: ask.session_id, seconds }).catch(failed);
        } }, choices, ""));
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
    const groups = groupsOf();
    const names = groups.flatMap(([, rows]) => rows)
        .filter((row) => row.scope === "person").map((row) => row.name);
    return make("form",
        { class: "set", submit: (/** @type {Event} */ event) => event.preventDefault() },
        saved,
        ask && isOpen(ask) && make("fieldset", {}, make("legend", {}, say("this_ask")),
            buildThisInterface(ask, fail), secondsLeft(ask) !== null && buildThisTime(ask, fail)),
        groups.map(([group, rows]) =>
            make("fieldset", {}, make("legend", {}, sayGroup(group)), rows.map((row) => {
            const small = [SMALL[row.name] && say(SMALL[row.name]), sayOrigin(row.name)]
                .filter(Boolean).join(" · ");
            const help = say(/** @type {any} */ (`help_${row.name}`));
            return make("div", { class: "s", title: help },
                SEGMENTS.includes(row.name) ? make("span", { class: "l" }, settingLabel(row.name))
                    : make("label", { for: `set-${row.name}` }, settingLabel(row.name),
                        small && make("small", {}, small),
                        row.scope !== "person" && make("small", {}, say("set_there"), " ",
                            make("code", {}, `sayso settings set ${row.name}`))),
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
