/*
 * ask_view.js - one ask on the page, from opening it to its end. What the hub says changes words and
 * states here, never the keyboard's place, the scroll position or the order of things.
 */
import { button, icon, key, make, setText } from "./dom.js";
import { say, sayClock, sayCount } from "./language.js";
import { asks, isOn, isOpen, keep, secondsLeft, setting } from "./model.js";
import { call, line } from "./wire.js";
import { on } from "./signals.js";
import { announce, keepFocus } from "./announce.js";
import { armGuard, isTooEarly } from "./guard.js";
import { assignValues, describeValues, judge, readValues } from "./values.js";
import { answerOf, dropDraft, hasNotes, hasSteps, hasWritten, keepDraft, newEntry, picksSend, resendDraft }
    from "./entry.js";
import { buildBar, sayAgent } from "./ask_bar.js";
import { buildStrip } from "./ask_strip.js";
import { buildBody, hasPreviews } from "./ask_body.js";
import { buildEnded, isUndoable } from "./ask_ended.js";
import { buildSecondAct } from "./second_act.js";
import { buildDetachedBanner, buildOfflineBanner } from "./banners.js";
import { buildContext } from "./ask_context.js";
import { buildSettings } from "./settings_form.js";
import { openCancel, openLater } from "./dialogs.js";
import { sayProblem } from "./problems.js";

/** @typedef {import("./entry.js").Entry} Entry */

const MORE_TIME_S = 300;
const WARN_AT = [60, 10];

/**
 * @param {HTMLElement} main
 * @param {string} id
 * @param {{openSettings: (name: string) => void, panel: () => HTMLElement|null, moved: (id: string) => void}} shell
 */
export function showAsk(main, id, shell) {
    /** @type {Entry|null} */
    let entry = null;
    /** @type {ReturnType<typeof buildBar>|null} */
    let bar = null;
    /** @type {{sync: () => void}[]} */
    let parts = [];
    /** @type {HTMLButtonElement|null} */
    let sendButton = null;
    let warnedAt = Infinity;
    let isClosed = false;
    const tally = make("output", { class: "tally", id: "tally" });

    /** @param {string} text */
    const complain = (text) => {
        setText(tally, text);
        announce(text, true);
    };

    /** What stands beside Send, and whether it is on. */
    const syncFoot = () => {
        if (!entry || !sendButton)
            return;
        const now = entry;
        const { fields } = now.form;
        const isReview = hasSteps(now) && now.step === fields.length;
        const wrong = hasSteps(now) && !isReview ? [fields[now.step]].filter(bad) : fields.filter(bad);
        /** @param {import("./values.js").Field} field */
        function bad(field) {
            return judge(field, now.values.fields[field.name]) !== "";
        }
        const isOff = line.state !== "open";
        const isBlind = !!now.form.destructive && !now.has_seen_end;
        sendButton.disabled = isOff || now.is_sending || wrong.length > 0 || isBlind;
        sendButton.hidden = now.code !== "";
        let words = "";
        if (isOff)
            words = say(now.has_unsaved ? "kept_here" : "send_when_back");
        else if (isBlind)
            words = say("read_to_end");
        else if (wrong.length && picksSend(now) && !hasWritten(now))
            words = say("click_sends", { count: undoSeconds() });
        else if (wrong.length)
            words = judge(wrong[0], now.values.fields[wrong[0].name]);
        else if (hasSteps(now) && !isReview)
            words = say("question_of", { count: now.step + 1, most: fields.length });
        else if (now.ask.detached)
            words = say("kept_until_asked");
        else if (picksSend(now))
            words = hasWritten(now) ? say("written_press_send") : say("click_sends", { count: undoSeconds() });
        else if (now.is_touched)
            words = say(now.has_unsaved ? "draft_saving" : "draft_saved");
        setText(tally, words);
    };

    const changed = () => {
        if (!entry)
            return;
        if (entry.code) {
            entry.code = "";
            redraw();
        }
        keepDraft(entry);
        for (const part of parts)
            part.sync();
        syncFoot();
    };

    /** @param {Element} row */
    const picked = (row) => {
        if (entry && picksSend(entry) && !hasWritten(entry) && row.isConnected)
            send("pick");
    };

    /** @param {number} step */
    const go = (step) => {
        if (!entry)
            return;
        entry.step = Math.max(0, Math.min(step, entry.form.fields.length));
        render();
        main.querySelector("fieldset, h2")?.scrollIntoView({ block: "nearest" });
        /** @type {HTMLElement|null} */ (main.querySelector("fieldset input, .review button"))?.focus({ preventScroll: true });
    };

    const secondAct = async () => {
        if (!entry)
            return;
        try {
            entry.code = (await call("ask/challenge", { session_id: entry.id })).code;
        } catch (error) {
            complain(sayProblem(error));
            return;
        }
        redraw();
        /** @type {HTMLElement|null} */ (main.querySelector(".code-in"))?.focus({ preventScroll: true });
        main.querySelector(".second")?.scrollIntoView({ block: "nearest" });
    };

    const leaveSecondAct = () => {
        if (!entry)
            return;
        entry.code = "";
        redraw();
        /** @type {HTMLElement|null} */ (main.querySelector(".opt input:checked"))?.focus();
    };

    /** @param {string} code */
    const deliver = async (code) => {
        const now = entry;
        if (!now)
            return;
        now.is_sending = true;
        now.answer_key ||= crypto.randomUUID?.() ?? String(Math.random()).slice(2);
        syncFoot();
        const answer = { ...answerOf(now), session_id: now.id, answer_key: now.answer_key };
        try {
            const reply = await call("ask/answer", code ? { ...answer, code } : answer);
            now.is_mine = true;
            now.keeps = "";
            now.answer = answer;
            dropDraft(now);
            ended(now, reply);
        } catch (/** @type {any} */ error) {
            now.is_sending = false;
            now.code = "";
            if (error.data?.code === "already_answered" || error.data?.code === "wrong_state")
                await refetch();
            else
                redraw();
            complain(sayProblem(error));
        }
        now.is_sending = false;
    };

    /**
     * @param {Entry} now
     * @param {any} reply
     */
    const ended = (now, reply) => {
        now.ask = asks.get(now.id) ?? now.ask;
        now.ask.status = reply.status;
        now.ask.decided_at ??= new Date().toISOString();
        now.undo_until = reply.undo_ms ? performance.now() + reply.undo_ms : 0;
        now.code = "";
        if (entry === now)
            render(true);
    };

    /** @param {"button"|"pick"|"enter"} how */
    const send = (how) => {
        if (!entry || !isOpen(entry.ask) || entry.is_sending)
            return;
        if (isTooEarly()) {
            complain(say("too_early"));
            return;
        }
        if (line.state !== "open") {
            complain(say("send_when_back"));
            return;
        }
        if (how === "enter" && !entry.is_touched) {
            sendButton?.focus();
            return;
        }
        if (!sendButton || sendButton.disabled) {
            announce(tally.textContent ?? "", true);
            return;
        }
        if (hasSteps(entry) && entry.step < entry.form.fields.length)
            go(entry.step + 1);
        else if (entry.form.destructive)
            secondAct();
        else
            deliver("");
    };

    const undoSeconds = () => Number(setting("deliver_after") ?? 0);

    /** @param {string} method
     *  @param {Record<string, any>} [more]
     */
    const act = (method, more = {}) => {
        if (!entry)
            return Promise.resolve(null);
        return call(method, { session_id: entry.id, ...more })
            .catch((/** @type {any} */ error) => complain(sayProblem(error)));
    };
    const extend = () => {
        if (entry && isOpen(entry.ask))
            act("ask/extend", { seconds: Math.ceil(secondsLeft(entry.ask) ?? 0) + MORE_TIME_S })
                .then(() => announce(say("time_added")));
    };
    const undo = () => act("ask/undo");
    const sendNow = () => act("ask/send").then(() => {
        if (entry) {
            entry.undo_until = 0;
            render();
        }
    });
    const cancel = () => {
        if (!entry || !isOpen(entry.ask) || line.state !== "open")
            return;
        const now = entry;
        openCancel(sayAgent(now.ask), hasNotes(now), async (method, note) => {
            const reply = await act(method, note.trim() ? { global_annotation: note } : {});
            if (!reply)
                return;
            now.is_mine = true;
            now.keeps = now.is_touched ? describeValues(now.form, now.values) : "";
            now.answer = note.trim() ? { global_annotation: note } : null;
            dropDraft(now);
            ended(now, reply);
        });
    };
    const later = () => {
        if (entry && isOpen(entry.ask))
            openLater((seconds) => act("ask/later", { seconds }).then((reply) => reply && shell.moved("")));
    };
    /** Hides the option that has the keyboard from now on, or shows it again. */
    const hide = () => {
        const now = entry;
        const input = /** @type {HTMLInputElement|null} */ (document.activeElement?.closest(".opt")?.querySelector("input"));
        if (!now || !input || input.closest(".own") || now.form.destructive)
            return;
        const hidden = !now.hidden.has(input.value);
        act("ask/hide", { option_id: input.value, hidden }).then((reply) => {
            if (!reply)
                return;
            if (hidden)
                now.hidden.add(input.value);
            else
                now.hidden.delete(input.value);
            now.values.fields[now.form.fields[0].name].picks.delete(input.value);
            now.reveals = false;
            redraw();
        });
    };
    const toTerminal = () => {
        const now = entry;
        if (!now || !isOpen(now.ask))
            return;
        act("ask/switch", { interface: "terminal" }).then((reply) => {
            if (!reply)
                return;
            now.attach = `sayso attach ${now.id.slice(0, 8)}`;
            redraw();
        });
    };

    const buildFoot = () => {
        const now = /** @type {Entry} */ (entry);
        const { fields } = now.form;
        const isReview = hasSteps(now) && now.step === fields.length;
        const words = hasSteps(now) && !isReview
            ? say(now.step === fields.length - 1 ? "on_to_review" : "next_question")
            : isReview ? sayCount(fields.length, "send_all", "send_all")
                : say(now.form.destructive ? "go_on" : "send_answer");
        sendButton = button({ class: "primary", "data-key": "send", "aria-describedby": "tally", click: () => send("button") },
            make("span", {}, words), key("⏎"));
        return make("footer", { class: "act" },
            button({ class: "ghost", "data-key": "cancel-open", click: cancel }, say("cancel"), key("Esc")),
            button({ class: "ghost", "data-key": "later", click: later }, say("later_button"), key("L")),
            isOn("terminal") && button({ class: "ghost alt", "data-key": "terminal", click: toTerminal },
                icon("term"), make("span", {}, say("in_terminal")), key("T")),
            tally, sendButton);
    };

    const buildForm = () => {
        const now = /** @type {Entry} */ (entry);
        const body = buildBody(now, { changed, picked, go });
        const second = now.code ? buildSecondAct(now, { send: deliver, back: leaveSecondAct }) : null;
        parts.push(body);
        const form = make("form", {
            class: `ask${hasPreviews(now) ? " wide" : ""}`, novalidate: true,
            submit: (/** @type {Event} */ event) => event.preventDefault(),
        }, make("div", { class: "ask-in" }, buildStrip(now, shell.openSettings), ...body.nodes, second?.node), buildFoot());
        const tooEarly = (/** @type {Event} */ event) => {
            const target = /** @type {HTMLElement} */ (event.target);
            const isField = target.closest("textarea, .code-in, .strip, [type=search], [type=number]");
            if (!isTooEarly() || isField)
                return;
            event.preventDefault();
            event.stopPropagation();
            complain(say("too_early"));
        };
        form.addEventListener("click", tooEarly, true);
        return form;
    };

    const buildBanners = () => {
        const now = /** @type {Entry} */ (entry);
        const offline = buildOfflineBanner();
        parts.push(offline);
        return [offline.node, isOpen(now.ask) && now.ask.detached && buildDetachedBanner(),
            now.attach && make("div", { class: "banner info", role: "status" }, icon("term"),
                make("p", {}, make("b", {}, say("go_on_terminal")), " ", make("code", {}, now.attach)))];
    };

    /** Off until the end of the prompt has been on screen. */
    const watchEnd = () => {
        const now = /** @type {Entry} */ (entry);
        const end = main.querySelector("#prompt-end");
        if (!end || now.has_seen_end)
            return;
        const watcher = new IntersectionObserver((rows) => {
            if (!rows.some((row) => row.isIntersecting))
                return;
            watcher.disconnect();
            now.has_seen_end = true;
            syncFoot();
        });
        watcher.observe(end);
    };

    /** @param {boolean} [toTitle] the keyboard goes to the title */
    const render = (toTitle = false) => {
        const now = entry;
        if (!now || isClosed)
            return;
        parts = [];
        sendButton = null;
        bar = buildBar(now.ask, { extend, back: () => {} });
        const isAsking = isOpen(now.ask) && !isUndoable(now);
        const banners = buildBanners().filter((node) => node instanceof Node);
        let inside;
        if (isAsking && isOn("settings_first") && !now.passed_settings) {
            inside = make("div", { class: "page settings-first" }, buildSettings(now.ask),
                button({ class: "primary", "data-key": "to-question", click: () => {
                    now.passed_settings = true;
                    render(true);
                } }, say("on_to_question")));
        } else if (isAsking) {
            const panel = shell.panel();
            inside = make("div", { class: "stage" }, buildForm(), panel ?? (hasPreviews(now) ? null : buildContext(now.ask)));
        } else {
            const end = buildEnded(now, { undo, sendNow });
            parts.push(end);
            inside = end.node;
        }
        main.replaceChildren(bar.node, ...banners, inside);
        syncFoot();
        armGuard();
        if (isAsking && now.form.destructive)
            watchEnd();
        if (toTitle)
            /** @type {HTMLElement|null} */ (main.querySelector("h1"))?.focus({ preventScroll: true });
    };
    const redraw = () => keepFocus(main, () => render());

    const refetch = async () => {
        const before = entry;
        let got;
        try {
            got = await call("ask/get", { session_id: id });
        } catch (/** @type {any} */ error) {
            if (error.code !== 0 && !isClosed)
                main.replaceChildren(make("div", { class: "blank" }, make("div", { class: "empty" },
                    make("h1", { tabindex: -1 }, say("not_found")), make("p", {}, say("not_found_more")),
                    make("a", { class: "btn", href: "/" }, say("to_inbox")))));
            return;
        }
        if (isClosed)
            return;
        keep(got.ask);
        const next = newEntry(id, got);
        const wasOpen = !!before && isOpen(before.ask);
        if (before && wasOpen && isOpen(next.ask)) {
            before.ask = next.ask;
            resendDraft(before);
            redraw();
            return;
        }
        if (before && before.is_touched && !isOpen(next.ask) && !before.is_mine)
            next.keeps = describeValues(before.form, before.values);
        next.is_mine = !!before && before.is_mine && !isOpen(next.ask);
        if (before)
            next.undo_until ||= before.undo_until;
        entry = next;
        if (!isOpen(next.ask))
            dropDraft(next);
        else
            resendDraft(next);
        render(!before || wasOpen !== isOpen(next.ask));
        if (before && wasOpen && !isOpen(next.ask))
            announce(main.querySelector("h1")?.textContent ?? "", true);
        shell.moved(next.id);
    };

    const tick = () => {
        if (!entry)
            return;
        entry.ask = asks.get(entry.id) ?? entry.ask;
        bar?.sync(entry.ask);
        if (entry.undo_until && !isUndoable(entry) && !isOpen(entry.ask)) {
            entry.undo_until = 0;
            keepFocus(main, () => render());
        }
        for (const part of isOpen(entry.ask) ? [] : parts)
            part.sync();
        const left = secondsLeft(entry.ask);
        if (!isOpen(entry.ask) || left === null || line.state !== "open")
            return;
        for (const at of WARN_AT) {
            if (left <= at && warnedAt > at)
                announce(say("time_left_is", { time: sayClock(left) }), at === 10);
        }
        warnedAt = left > WARN_AT[0] ? Infinity : left;
    };

    const undone = [
        on("ask", (ask) => {
            if (!entry || ask.session_id !== entry.id)
                return;
            const { detached: wasDetached, interface: before, status } = entry.ask;
            const wasOpen = isOpen({ status });
            entry.ask = ask;
            if (wasOpen !== isOpen(ask)) {
                if (!entry.is_sending)
                    refetch();
            } else if (isOpen(ask) && (wasDetached !== ask.detached || before !== ask.interface)) {
                redraw();
            }
            tick();
        }),
        on("tick", tick),
        on("time", tick),
        on("line", (state) => {
            for (const part of parts)
                part.sync();
            if (state === "open")
                refetch();
            tick();
            syncFoot();
        }),
        on("draft", ({ session_id, draft, saved }) => {
            if (!entry)
                return;
            if (session_id === entry.id && !entry.has_unsaved && isOpen(entry.ask)) {
                assignValues(entry.values, readValues(entry.form, draft));
                entry.is_touched = true;
                for (const part of parts)
                    part.sync();
            }
            if (saved === entry.id || session_id === entry.id)
                syncFoot();
        }),
        on("settings", redraw),
        on("language", redraw),
        on("page", redraw),
    ];
    refetch();

    return {
        close: () => {
            isClosed = true;
            for (const end of undone)
                end();
        },
        keys: () => ({
            entry, send, extend, undo: () => entry && isUndoable(entry) && undo(), cancel, later, toTerminal, go, hide,
            isOpen: !!entry && isOpen(entry.ask) && !isUndoable(entry),
        }),
    };
}
