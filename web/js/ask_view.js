/*
 * ask_view.js - one ask on the page, from opening it to its end. What the hub says changes words
 * and states here, never the keyboard's place, the scroll position or the order of things.
 */
import { button, icon, make } from "./dom.js";
import { say, sayClock } from "./language.js";
import { asks, isOn, isOpen, keep, secondsLeft, speakFor } from "./model.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { announce, keepFocus } from "./announce.js";
import { armGuard, isTooEarly } from "./guard.js";
import { assignValues, describeValues, mayDestroy, readValues } from "./values.js";
import { answerOf, dropDraft, keepDraft, newEntry, picksSend, resendDraft, whyWaits }
    from "./entry.js";
import { buildBar } from "./ask_bar.js";
import { buildStrip } from "./ask_strip.js";
import { buildBody, hasPreviews } from "./ask_body.js";
import { buildEnded, isUndoable } from "./ask_ended.js";
import { buildSecondAct } from "./second_act.js";
import { buildAnsweredBanner, buildAskedBackBanner, buildDetachedBanner, buildEarlierBanner,
    buildOfflineBanner }
    from "./banners.js";
import { buildContext } from "./ask_context.js";
import { buildCommand } from "./command.js";
import { buildSettings } from "./settings_form.js";
import { complain, keepSaying, newAskPage, syncParts } from "./ask_page.js";
import { buildFoot, syncFoot } from "./ask_foot.js";
import { askBack, cancel, deliver, extend, goToStep, hideOption, later, leaveSecondAct, send,
    sendNow, toTerminal, undo }
    from "./ask_send.js";

/**
 * @typedef {import("./entry.js").Entry} Entry
 * @typedef {import("./ask_page.js").AskPage} AskPage
 */

const WARN_AT_S = [60, 10];

/** Something was typed or picked.
 * @param {AskPage} page
 */
function changed(page) {
    if (!page.entry)
        return;
    if (page.entry.code) { /* another choice is another second act */
        page.entry.code = "";
        page.redraw();
    }
    keepDraft(page.entry);
    syncParts(page);
    syncFoot(page);
}

/** Clicks in the dead time do nothing but say so.
 * @param {AskPage} page
 * @param {Event} event
 */
function stopEarlyClick(page, event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!isTooEarly() || target.closest(
        "textarea, .code-in, .strip, .row-btn, .more, [type=search], [type=number]"))
        return;
    event.preventDefault();
    event.stopPropagation();
    complain(page, say("too_early"));
}

/** @param {AskPage} page */
function buildForm(page) {
    const entry = /** @type {Entry} */ (page.entry);
    const body = buildBody(entry, {
        changed: () => changed(page),
        picked: (row) => {
            if (picksSend(entry) && !whyWaits(entry) && row.isConnected)
                send(page, "pick");
        },
        go: (step) => goToStep(page, step),
        askBack: () => askBack(page),
        hide: (option) => void hideOption(page, option),
    });
    page.strip = buildStrip(entry, page.shell.openSettings);
    const second = entry.code ? buildSecondAct(entry, {
        send: (code) => deliver(page, code), back: () => leaveSecondAct(page),
    }) : null;
    page.parts.push(body);
    const form = make("form", {
        class: `ask${hasPreviews(entry) ? " wide" : ""}`, novalidate: true,
        submit: (/** @type {Event} */ event) => event.preventDefault(),
    }, make("div", { class: "ask-in" },
        page.strip.node, ...body.nodes, second?.node),
    buildFoot(page, {
        send: () => send(page, "button"), cancel: () => cancel(page), later: () => later(page),
        toTerminal: () => void toTerminal(page),
    }));
    form.addEventListener("click", (event) => stopEarlyClick(page, event), true);
    form.addEventListener("scroll", (event) => {
        if (!(event.target instanceof Element) || !event.target.closest(".pv"))
            return;
        entry.has_scrolled = true;
        syncFoot(page);
    }, true);
    return form;
}

/** @param {AskPage} page */
function buildBanners(page) {
    const entry = /** @type {Entry} */ (page.entry);
    const offline = buildOfflineBanner();
    const waits = isOpen(entry.ask) && entry.ask.asked_back; /* it has gone to find an answer */
    const detached = isOpen(entry.ask) && entry.ask.detached && !waits
        ? buildDetachedBanner(entry.ask) : null;
    page.parts.push(offline);
    page.lasting = detached;
    return [offline.node, detached?.node, waits && buildAskedBackBanner(),
        entry.is_from_earlier && isOpen(entry.ask) && buildEarlierBanner(),
        entry.form.answered_ms && isOpen(entry.ask) && buildAnsweredBanner(entry.form.answered_ms),
        entry.attach && make("div", { class: "banner info", role: "status" }, icon("term"),
            make("p", {}, make("b", {}, say("go_on_terminal")), " ",
                buildCommand(entry.attach)))]
        .filter((node) => node instanceof Node);
}

/** @param {AskPage} page */
function buildInside(page) {
    const entry = /** @type {Entry} */ (page.entry);
    if (!isOpen(entry.ask) || isUndoable(entry)) {
        const end =
            buildEnded(entry, { undo: () => undo(page), sendNow: () => void sendNow(page),
                told: () => void page.refetch() });
        page.parts.push(end);
        return end.node;
    }
    if (isOn("settings_first") && !entry.passed_settings)
        return make("div", { class: "page settings-first" },
            make("h1", { tabindex: -1 }, say("settings")), buildSettings(entry.ask),
            button({ class: "primary", "data-key": "to-question", click: () => {
                entry.passed_settings = true;
                page.render(true);
            } }, say("on_to_question")));
    return make("div", { class: "stage" }, buildForm(page),
        page.shell.panel() ?? (hasPreviews(entry) ? null : buildContext(entry.ask)));
}

/** Off until the end of a destructive ask's text has been on screen.
 * @param {AskPage} page
 */
function watchEnd(page) {
    const { entry } = page;
    const end = page.main.querySelector("#prompt-end");
    if (!entry || !end || entry.has_seen_end || !mayDestroy(entry.form))
        return;
    const watcher = new IntersectionObserver((rows) => {
        if (!rows.some((row) => row.isIntersecting))
            return;
        watcher.disconnect();
        entry.has_seen_end = true;
        syncFoot(page);
    });
    watcher.observe(end);
}

/** @param {AskPage} page */
function showMissing(page) {
    page.main.replaceChildren(make("div", { class: "blank" }, make("div", { class: "empty" },
        make("h1", { tabindex: -1 }, say("not_found")), make("p", {}, say("not_found_more")),
        make("a", { class: "btn", href: "/" }, say("to_inbox")))));
}

/** What the hub has, joined to what lies open here: text that was typed is never lost to it.
 * @param {AskPage} page
 * @param {any} got
 */
function takeUp(page, got) {
    const before = page.entry;
    keep(got.ask);
    speakFor(got.ask);
    const next = newEntry(page.id, got);
    const wasOpen = !!before && isOpen(before.ask_shown);
    const isNowOpen = isOpen(next.ask);

    if (before && wasOpen && isNowOpen) {
        before.ask = next.ask;
        if (next.talk.length > before.talk.length && next.talk.at(-1)?.by === "agent")
            announce(say("talk_explained"), true);
        before.talk = next.talk;
        resendDraft(before);
        page.redraw();
        return;
    }
    if (before) {
        next.is_mine = before.is_mine && !isNowOpen;
        next.undo_until ||= before.undo_until;
        if (before.is_touched && !isNowOpen && !before.is_mine)
            [next.keeps, next.kept] =
                [describeValues(before.form, before.values), answerOf(before)];
    }
    page.entry = next;
    if (isNowOpen && next.is_from_earlier) {
        keepDraft(next);
        next.is_touched = false; /* it is not sent by a key before it was looked at */
    } else if (isNowOpen) {
        resendDraft(next);
    } else {
        dropDraft(next);
    }
    page.render(!before || wasOpen !== isNowOpen);
    if (wasOpen && !isNowOpen)
        announce(page.main.querySelector("h1")?.textContent ?? "", true);
    page.shell.moved(next.id);
}

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {import("./ask_page.js").AskShell} shell
 */
export function showAsk(main, id, shell) {
    const page = newAskPage(main, id, shell);
    /** @type {ReturnType<typeof buildBar>|null} */
    let bar = null;
    let warnedAt = Infinity;

    page.render = (toTitle = false) => {
        if (!page.entry || page.is_closed)
            return;
        page.entry.ask_shown = { ...page.entry.ask };
        page.entry.has_panel = shell.hasPanel();
        page.parts = [];
        page.send = null;
        bar = buildBar(page.entry.ask, { extend: () => extend(page) });
        const banners = buildBanners(page);
        main.replaceChildren(bar.node, ...banners, buildInside(page));
        syncFoot(page);
        armGuard();
        watchEnd(page);
        if (toTitle)
            main.querySelector("h1")?.focus({ preventScroll: true });
    };
    page.redraw = () => keepFocus(main, () => page.render());
    page.refetch = async () => {
        try {
            const got = await call("ask/get", { session_id: id });
            if (!page.is_closed)
                takeUp(page, got);
        } catch (/** @type {any} */ error) {
            if (error.code !== 0 && !page.is_closed)
                showMissing(page);
        }
    };

    const tick = () => {
        const { entry } = page;
        if (!entry)
            return;
        entry.ask = asks.get(entry.id) ?? entry.ask;
        bar?.sync(entry.ask);
        page.lasting?.sync();
        page.strip?.sync();
        if (!isOpen(entry.ask)) {
            if (entry.undo_until && !isUndoable(entry)) {
                entry.undo_until = 0;
                page.redraw();
            }
            syncParts(page);
            return;
        }
        const left = secondsLeft(entry.ask);
        if (left === null || line.state !== "open")
            return;
        const passed = WARN_AT_S.filter((at) => left <= at && warnedAt > at);
        if (passed.length)
            announce(say("time_left_is", { time: sayClock(left) }), left <= WARN_AT_S[1]);
        warnedAt = left > WARN_AT_S[0] ? Infinity : left;
    };
    const heardChange = (/** @type {import("./model.js").Ask} */ ask) => {
        const { entry } = page;
        if (!entry || ask.session_id !== entry.id)
            return;
        const before = entry.ask_shown;
        entry.ask = ask;
        if (isOpen(before) !== isOpen(ask)) {
            if (!entry.is_sending)
                page.refetch();
        } else if (isOpen(ask) && before.asked_back !== ask.asked_back) {
            page.refetch();
        } else if (isOpen(ask) &&
            (before.detached !== ask.detached || before.interface !== ask.interface)) {
            page.redraw();
        }
        tick();
    };
    /** @param {{session_id?: string, draft?: any, saved?: string}} told */
    const heardDraft = ({ session_id, draft, saved }) => {
        const { entry } = page;
        if (!entry || (saved ?? session_id) !== entry.id)
            return;
        /* what the code was asked for is what it sends */
        if (session_id && !entry.has_unsaved && isOpen(entry.ask) && entry.code === "") {
            assignValues(entry.values, readValues(entry.form, draft));
            entry.is_touched = true;
            syncParts(page);
        }
        syncFoot(page);
    };
    const ends = [
        on("ask", heardChange),
        on("draft", heardDraft),
        on("tick", tick),
        on("time", tick),
        on("line", (state) => {
            syncParts(page);
            if (state === "open")
                page.refetch();
            tick();
            syncFoot(page);
        }),
        on("settings", page.redraw),
        on("language", page.redraw),
        on("page", page.redraw),
    ];
    page.refetch();

    return {
        close: () => {
            page.is_closed = true;
            speakFor(null);
            for (const end of ends)
                end();
        },
        keys: () => ({
            entry: page.entry,
            isOpen: !!page.entry && isOpen(page.entry.ask) && !isUndoable(page.entry),
            send: (/** @type {"button"|"pick"|"enter"} */ how) => send(page, how),
            go: (/** @type {number} */ step) => goToStep(page, step),
            undo: () => page.entry && isUndoable(page.entry) && undo(page),
            extend: () => extend(page), cancel: () => cancel(page), later: () => later(page),
            askBack: () => askBack(page), toTerminal: () => void toTerminal(page),
            hide: (/** @type {string} */ option) => void hideOption(page, option),
            say: (/** @type {string} */ words) => keepSaying(page, words),
        }),
    };
}
