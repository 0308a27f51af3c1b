/*
 * second_act.js - a destructive answer takes two separate acts: choose, then type the code the hub
 * made for this very moment. The button names the act.
 */
import { button, foreign, key, make, setText } from "./dom.js";
import { say } from "./language.js";
import { describeValue } from "./values.js";

/** @typedef {import("./entry.js").Entry} Entry */

const CODE_DIGITS = 3;

/**
 * @param {Entry} entry
 * @param {{send: (code: string) => void, back: () => void}} acts
 */
export function buildSecondAct(entry, acts) {
    const field = entry.form.fields[0];
    const value = entry.values.fields[field.name];
    const act = entry.form.fields.map((each) => describeValue(each, entry.values.fields[each.name]))
        .filter(Boolean).join("; ");
    const ids = entry.form.fields.length > 1 ? []
        : value.confirm === null ? [...value.picks] : [String(value.confirm)];
    const problem = make("output", { class: "hint wrong" });
    const input = make("input", {
        class: "code-in", "aria-label": say("code"), inputmode: "numeric", autocomplete: "off",
        maxlength: CODE_DIGITS, "data-key": "code", "aria-describedby": "second-p",
        input: () => {
            send.disabled = input.value.length !== CODE_DIGITS;
            setText(problem, "");
        },
        keydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.key !== "Enter" || event.isComposing || event.repeat)
                return;
            event.preventDefault();
            event.stopPropagation();
            if (input.value === "")
                acts.back();
            else
                submit();
        },
    });
    const submit = () => {
        if (input.value === entry.code) {
            acts.send(input.value);
            return;
        }
        setText(problem, say("wrong_code"));
        input.select();
    };
    const send = button({ class: "danger", disabled: true, "data-key": "second-send",
        click: submit }, foreign(act));
    return {
        input,
        node: make("section", { class: "second", "aria-labelledby": "second-h" },
            make("h2", { id: "second-h" }, say("second_act"), " ", foreign(act), " ",
                ids.map((id) => make("code", { dir: "auto" },
                    field.options?.find((o) => o.id === id)?.shown?.id ?? id))),
            make("p", { id: "second-p" }, say("type_code_before"), " ",
                make("b", { class: "code" }, entry.code), " ",
                say("type_code_after"), " ",
                make("span", { class: "keys-only" }, key("⏎"), " ", say("enter_goes_back"))),
            make("div", { class: "second-row" }, input, send,
                button({ "data-key": "second-back", click: acts.back }, say("go_back"))),
            problem),
    };
}
