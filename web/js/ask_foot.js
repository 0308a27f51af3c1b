/* ask_foot.js - the row at the end of a question: what can be done, and what stands beside Send. */
import { button, icon, key, make, setText } from "./dom.js";
import { say, sayCount } from "./language.js";
import { isOn, setting } from "./model.js";
import { line } from "./wire.js";
import { judge, needsCode } from "./values.js";
import { hasSteps, picksSend, whyWaits } from "./entry.js";

/**
 * @typedef {import("./ask_page.js").AskPage} AskPage
 * @typedef {import("./entry.js").Entry} Entry
 */

/** @param {Entry} entry */
function isReview(entry) {
    return hasSteps(entry) && entry.step === entry.form.fields.length;
}

/** What is missing: of this step, or of the whole form.
 * @param {Entry} entry
 * @returns {string} in words; "" if nothing
 */
function findProblem(entry) {
    const { fields } = entry.form;
    const shown = hasSteps(entry) && !isReview(entry) ? [fields[entry.step]] : fields;
    return shown.map((field) => judge(field, entry.values.fields[field.name])).find(Boolean) ?? "";
}

/** A destructive answer is off until the end of its text has been on screen.
 * @param {Entry} entry
 */
function isUnread(entry) {
    return !entry.has_seen_end && needsCode(entry.form, entry.values);
}

/**
 * @param {Entry} entry
 * @param {string} problem
 */
function sayBeside(entry, problem) {
    const undo = { count: Number(setting("deliver_after") ?? 0) };
    if (line.state !== "open")
        return say(entry.has_unsaved ? "kept_here" : "send_when_back");
    if (isUnread(entry))
        return say("read_to_end");
    if (entry.told)
        return entry.told;
    const waits = whyWaits(entry);
    const sends = () => waits ? say(waits) : say("click_sends", undo);
    if (problem)
        return picksSend(entry) && waits !== "written_press_send" ? sends() : problem;
    if (hasSteps(entry) && !isReview(entry))
        return say("question_of", { count: entry.step + 1, most: entry.form.fields.length });
    if (entry.ask.detached)
        return say("kept_until_asked");
    if (picksSend(entry))
        return sends();
    if (entry.is_touched)
        return say(entry.has_unsaved ? "draft_saving" : "draft_saved");
    return "";
}

/** @param {AskPage} page */
export function syncFoot(page) {
    const { entry, send } = page;
    if (!entry || !send)
        return;
    const problem = findProblem(entry);
    send.disabled = line.state !== "open" || entry.is_sending || problem !== "" || isUnread(entry);
    send.hidden = entry.code !== "";
    setText(send.querySelector("span"), saySend(entry));
    setText(page.tally, sayBeside(entry, problem));
}

/** The button names the act.
 * @param {Entry} entry
 */
function saySend(entry) {
    const { fields } = entry.form;
    const needs = needsCode(entry.form, entry.values);
    if (isReview(entry) && !needs)
        return sayCount(fields.length, "send_all", "send_all");
    if (hasSteps(entry) && !isReview(entry))
        return say(entry.step === fields.length - 1 ? "on_to_review" : "next_question");
    return say(needs ? "go_on" : "send_answer");
}

/**
 * @param {AskPage} page
 * @param {{send: () => void, cancel: () => void, later: () => void, toTerminal: () => void}} acts
 */
export function buildFoot(page, acts) {
    const entry = /** @type {Entry} */ (page.entry);
    page.send = button({ class: "primary", "data-key": "send", "aria-describedby": "tally",
        click: acts.send },
        make("span", {}, saySend(entry)), key("⏎"));
    return make("footer", { class: "act" },
        button({ class: "ghost", "data-key": "cancel-open", click: acts.cancel }, say("cancel"),
            key("Esc")),
        button({ class: "ghost", "data-key": "later", click: acts.later }, say("later_button"),
            key("L")),
        isOn("terminal") &&
            button({ class: "ghost alt", "data-key": "terminal", click: acts.toTerminal },
            icon("term"), make("span", {}, say("in_terminal")), key("T")),
        page.tally, page.send);
}
