/* dialogs.js - the few questions we ask ourselves: cancel, ask back, later; and all the keys. */
import { button, foreign, icon, key, make } from "./dom.js";
import { say } from "./language.js";
import { KEY_GROUPS } from "./help.js";

/**
 * @param {HTMLDialogElement} dialog
 * @returns {HTMLDialogElement}
 */
function openDialog(dialog) {
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
        dialog.remove();
        before?.focus?.({ preventScroll: true });
    });
    dialog.showModal();
    return dialog;
}

export function hasDialog() {
    return document.querySelector("dialog[open]") !== null;
}

/**
 * Cancel tells the agent to stop this, decline says no; both may say why.
 * @param {string} agent
 * @param {boolean} hasNote notes may be off
 * @param {(method: "ask/cancel"|"ask/decline", note: string) => void} act
 */
export function openCancel(agent, hasNote, act) {
    const text = make("textarea",
        { id: "dcn", rows: 3, placeholder: say("cancel_why_hint"), maxlength: 4000 });
    const end = (/** @type {"ask/cancel"|"ask/decline"} */ method) => {
        dialog.close();
        act(method, text.value);
    };
    const dialog = make("dialog", { class: "dlg", "aria-labelledby": "dc-h" },
        make("h2", { id: "dc-h" }, say("cancel_title")),
        make("p", {}, foreign(agent), " ", say("cancel_more")),
        hasNote && make("label", { for: "dcn" }, say("cancel_why")), hasNote && text,
        make("div", { class: "btns end-b" },
            button({ click: () => dialog.close() }, say("keep_open"), key("Esc")),
            button({ class: "alt", "data-key": "decline", click: () => end("ask/decline") },
                say("decline")),
            button({ class: "primary", "data-key": "cancel", click: () => end("ask/cancel") },
                say("cancel_ask"),
                key("Ctrl ⏎"))));
    dialog.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing &&
            !event.repeat)
            end("ask/cancel");
    });
    openDialog(dialog);
    if (hasNote)
        text.focus();
}

/**
 * A question to the agent; the ask stays open.
 * @param {string} agent
 * @param {(text: string) => void} act
 */
export function openAskBack(agent, act) {
    const text = make("textarea", {
        id: "dbt", rows: 3, placeholder: say("ask_back_hint"), maxlength: 2000,
        input: () => {
            ask.disabled = !text.value.trim();
        },
    });
    const end = () => {
        if (ask.disabled)
            return;
        dialog.close();
        act(text.value);
    };
    const ask = button(
        { class: "primary", "data-key": "ask-back-send", disabled: true, click: end },
        say("ask_back_send"), key("Ctrl ⏎"));
    const dialog = make("dialog", { class: "dlg", "aria-labelledby": "db-h" },
        make("h2", { id: "db-h" }, say("ask_back_title")),
        make("p", {}, foreign(agent), " ", say("ask_back_more")),
        make("label", { for: "dbt" }, say("ask_back_label")), text,
        make("div", { class: "btns end-b" },
            button({ click: () => dialog.close() }, say("close"), key("Esc")), ask));
    dialog.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) &&
            !event.isComposing && !event.repeat)
            end();
    });
    openDialog(dialog);
    text.focus();
}

/**
 * @param {(seconds: number) => void} act
 */
export function openLater(act) {
    const choices = /** @type {[import("./language.js").Word, number][]} */ ([
        ["later_10_min", 600], ["later_1_hour", 3600], ["later_4_hours", 14400],
        ["later_tomorrow", 0],
    ]);
    const morning = () => {
        const at = new Date();
        at.setDate(at.getDate() + 1);
        at.setHours(9, 0, 0, 0);
        return Math.round((at.getTime() - Date.now()) / 1000);
    };
    const dialog = openDialog(make("dialog", { class: "dlg", "aria-labelledby": "dl-h" },
        make("h2", { id: "dl-h" }, say("later_title")), make("p", {}, say("later_more")),
        make("div", { class: "btns" }, choices.map(([words, seconds]) => button({
            click: () => {
                dialog.close();
                act(seconds || morning());
            },
        }, say(words)))),
        make("div", { class: "btns end-b" },
            button({ class: "ghost", click: () => dialog.close() }, say("close"), key("Esc")))));
}

/** @param {"h2"|"h3"} level of its headings */
export function buildKeys(level) {
    return make("div", { class: "key-cols" },
        KEY_GROUPS().map((groups) => make("div", {}, groups.map((group) => [
        make(level, { class: "key-head" }, group.name),
        make("dl", {}, group.rows.map(([words, keys]) => make("div", {}, make("dt", {}, words),
            make("dd", {}, keys.map((name) => make("kbd", {}, name)))))),
    ]).flat())));
}

export function openKeys() {
    const dialog = openDialog(make("dialog", { class: "dlg keys", "aria-labelledby": "dh-h" },
        make("div", { class: "dlg-h" }, make("h2", { id: "dh-h" }, say("shortcuts")),
            make("button", { type: "button", class: "icon-btn", "aria-label": say("close"),
                click: () => dialog.close() },
                icon("x"))),
        buildKeys("h3"), make("p", { class: "hint" }, say("keys_more"))));
}
