/* ask_events.c - news about the ask on the screen, and what is sent about it. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/fields/field_class.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/canvas.h"
#include "tui/draw.h"
#include "tui/field_view.h"

/* What the hub says: changes, other people's answers, refusals, being gone. */

static void add_label(struct text *out, const struct field_state *state, const char *id)
{
    const struct option *option = id ? field_find_option(state->field, id) : NULL;

    if (!option)
        return;
    text_add_text(out, out->used ? ", " : "");
    text_add_text(out, state->shown->options[option - state->field->options].label);
}

static void add_value(struct text *out, const struct field_state *state, const struct json *value)
{
    switch (json_kind(value)) {
    case KIND_LIST:
        for (size_t i = 0; i < json_length(value); i++)
            add_label(out, state, json_text(json_item(value, i)));
        break;
    case KIND_TEXT:
        if (class_of(state->field)->has_options && !class_of(state->field)->has_words) {
            add_label(out, state, json_text(value));
        } else {
            text_add_text(out, out->used ? ", " : "");
            facts_add_visible(out, json_text(value));
        }
        break;
    case KIND_OBJECT:
        add_value(out, state, json_member(value, "selected_ids"));
        add_value(out, state, json_member(value, "custom_input"));
        break;
    case KIND_BOOL:
        text_add_text(out, i18n_text(json_is_true(value) ? TEXT_TUI_YES : TEXT_TUI_NO));
        break;
    case KIND_INTEGER:
    case KIND_REAL:
        ask_add_number(out, json_number_of(value));
        break;
    default:
        break;
    }
}

static void describe_answer(struct ask_screen *screen, const struct json *answer)
{
    const struct json *fields = json_member(answer, "fields");

    text_clear(&screen->sent);
    text_clear(&screen->note);
    if (json_kind(answer) != KIND_OBJECT)
        return;
    facts_add_visible(&screen->note, json_member_text(answer, "global_annotation"));
    if (!fields)
        add_value(&screen->sent, &screen->fields[0], answer);
    for (size_t i = 0; fields && i < screen->form.field_count; i++) {
        struct text words = { 0 };
        const struct json *value = json_member(fields, screen->form.fields[i].name);

        /* the first one's may stand beside the others */
        add_value(&words, &screen->fields[i], value || i > 0 ? value : answer);
        if (screen->sent.used > 0 && words.used > 0)
            text_add_text(&screen->sent, "; ");
        text_add(&screen->sent, text_string(&words), words.used);
        text_release(&words);
    }
}

void ask_take_end(struct ask_screen *screen, const struct json *whole)
{
    if (screen->phase != PHASE_THEIRS)
        screen->visible_mono_ms = -1; /* keys meant for the question do not close its end */
    screen->phase = PHASE_THEIRS;
    screen->panel = PANEL_NONE;
    screen->focus = FOCUS_LIST;
    if (json_member(whole, "answer"))
        describe_answer(screen, json_member(whole, "answer"));
}

/* Open again: the answer was taken back, or the hub came back with it still open. */
static void take_open(struct ask_screen *screen)
{
    if (screen->phase == PHASE_THEIRS || screen->phase == PHASE_SAVED) {
        screen->phase = PHASE_OPEN;
        screen->visible_mono_ms = -1;
        ask_focus_field(screen);
    }
}

static void take_changed(struct ask_screen *screen, const struct json *params)
{
    const struct json *ask = json_member(params, "ask");
    const char *id = json_member_text(ask, "session_id");
    bool was_back;

    if (!id || strcmp(id, screen->facts.id) != 0 ||
        json_member_integer(ask, "version", 0) < screen->facts.version)
        return;
    was_back = screen->facts.is_asked_back;
    facts_read(&screen->facts, ask, screen->setup.home, screen->now);
    if (state_is_open(screen->facts.state)) {
        take_open(screen);
        if (was_back != screen->facts.is_asked_back)
            ask_emit_kind(screen, EFFECT_LOOK); /* for what was said */
    } else if (screen->phase == PHASE_OPEN) {   /* our own decision comes by its reply */
        ask_take_end(screen, NULL);
        ask_emit_kind(screen, EFFECT_LOOK);
    }
}

static void take_whole(struct ask_screen *screen, const struct json *whole)
{
    const struct json *ask = json_member(whole, "ask");
    bool was_lost = screen->is_lost;

    if (!json_member_text(ask, "session_id") ||
        strcmp(json_member_text(ask, "session_id"), screen->facts.id) != 0)
        return;
    facts_read(&screen->facts, ask, screen->setup.home, screen->now);
    screen->is_lost = false;
    if (screen->phase == PHASE_SENDING && was_lost) {
        /* the same again is "already so" where it had arrived */
        ask_emit(screen, &(struct screen_effect){ .kind = screen->sending_kind,
                                                  .json = text_string(&screen->sending) });
        return;
    }
    if (!state_is_open(screen->facts.state)) {
        if (screen->phase == PHASE_OPEN || screen->phase == PHASE_THEIRS)
            ask_take_end(screen, whole);
        return;
    }
    take_open(screen);
    ask_read_talk(screen, whole);
    if (!ask_has_written(screen) && !screen->is_draft_dirty)
        ask_read_draft(screen, json_member(whole, "draft"));
    if (was_lost && ask_has_written(screen))
        screen->is_draft_dirty = true;
}

static void take_drafted(struct ask_screen *screen, const struct json *params)
{
    const char *id = json_member_text(params, "session_id");
    bool is_typing =
        screen->is_draft_dirty ||
        (screen->is_typing && screen->now.mono_ms - screen->key_mono_ms < SCREEN_TYPING_MS);

    if (id && strcmp(id, screen->facts.id) == 0 && screen->phase == PHASE_OPEN && !is_typing &&
        !screen->is_challenged) /* what the code was asked for is what it sends */
        ask_read_draft(screen, json_member(params, "draft"));
}

static void take_decided(struct ask_screen *screen, const struct json *result)
{
    int64_t undo_ms = json_member_integer(result, "undo_ms", 0);

    if (screen->phase != PHASE_SENDING)
        return;
    screen->is_draft_dirty = false;
    if (undo_ms > 0) {
        screen->phase = PHASE_SAVED;
        screen->undo_until_mono_ms = screen->now.mono_ms + undo_ms;
        return;
    }
    screen->phase = PHASE_OURS;
    ask_emit_kind(screen, EFFECT_CLOSE);
}

static void take_refused(struct ask_screen *screen, const struct json *refusal)
{
    const char *code = json_member_text(refusal, "code");
    const char *message = json_member_text(refusal, "message");

    screen->is_challenged = false;
    if (code && strcmp(code, "already_answered") == 0 && screen->phase != PHASE_SAVED) {
        ask_take_end(screen, NULL);
        ask_emit_kind(screen, EFFECT_LOOK);
        return;
    }
    if (screen->phase == PHASE_SENDING)
        screen->phase = PHASE_OPEN;
    text_clear(&screen->problem);
    if (message)
        facts_add_visible(&screen->problem, message);
}

static void take_code(struct ask_screen *screen, const struct json *result)
{
    const char *code = json_member_text(result, "code");

    if (!code || !screen->is_challenged || screen->phase != PHASE_OPEN)
        return;
    snprintf(screen->challenge, sizeof screen->challenge, "%s", code);
    edit_clear(&screen->code);
    screen->focus = FOCUS_CODE;
    screen->panel = PANEL_NONE;
}

static void take_lost(struct ask_screen *screen, const struct json *params)
{
    screen->is_lost = true;
    screen->retry_mono_ms = screen->now.mono_ms + json_member_span(params, "retry_ms", 0);
}

static void take_undone(struct ask_screen *screen, const struct json *result)
{
    (void)result;
    if (screen->phase == PHASE_SAVED || screen->phase == PHASE_SENDING) {
        screen->phase = PHASE_OPEN;
        screen->is_draft_dirty = true;
        ask_focus_field(screen);
    }
}

/* What a key has switched in this question stays, until the setting itself changes. */
static void take_settings(struct ask_screen *screen, const struct json *json)
{
    bool was_shown = preferences_is_on(&screen->preferences, SETTING_SHOW_HIDDEN);

    preferences_read(&screen->preferences, json);
    if (preferences_is_on(&screen->preferences, SETTING_SHOW_HIDDEN) == was_shown)
        return;
    screen->shows_hidden = !was_shown;
    for (size_t i = 0; i < screen->form.field_count; i++)
        list_move_to_shown(screen, &screen->fields[i]);
}

void ask_screen_take(struct ask_screen *screen, enum screen_news news, const struct json *json,
                     struct screen_time now)
{
    static void (*const takes[])(struct ask_screen * screen, const struct json *json) = {
        [NEWS_WHOLE] = take_whole,     [NEWS_CHANGED] = take_changed,
        [NEWS_DRAFTED] = take_drafted, [NEWS_SETTINGS] = take_settings,
        [NEWS_CODE] = take_code,       [NEWS_DECIDED] = take_decided,
        [NEWS_UNDONE] = take_undone,   [NEWS_REFUSED] = take_refused,
        [NEWS_LOST] = take_lost,
    };

    ask_pass_time(screen, now);
    if (news < ARRAY_LEN(takes) && takes[news])
        takes[news](screen, json);
}

/* From what stands there to what is sent: checks, the second act, drafts. */

void ask_describe_all(const struct ask_screen *screen, struct text *out)
{
    for (size_t i = 0; i < screen->form.field_count; i++) {
        if (out->used > 0 && ask_is_answered(screen, i))
            text_add_text(out, "; ");
        ask_describe(screen, i, out);
    }
}

/* What `sending` holds goes out; `sent` says it in words. */
static void send_now(struct ask_screen *screen, enum screen_effect_kind kind)
{
    screen->is_cancelled = kind != EFFECT_ANSWER;
    screen->sending_kind = kind;
    screen->phase = PHASE_SENDING;
    ask_emit(screen,
             &(struct screen_effect){ .kind = kind, .json = text_string(&screen->sending) });
}

static void ask_submit(struct ask_screen *screen, const char *code)
{
    text_clear(&screen->sending);
    ask_write_answer(screen, code, &screen->sending);
    text_clear(&screen->sent);
    ask_describe_all(screen, &screen->sent);
    screen->has_sent_note = ask_has_notes(screen) && ask_has_note_text(screen);
    send_now(screen, EFFECT_ANSWER);
}

void ask_cancel(struct ask_screen *screen)
{
    const char *why = text_string(&screen->why.text);
    struct json_writer writer;

    if (!ask_may_answer(screen))
        return;
    text_clear(&screen->sending);
    writer = json_object_to(&screen->sending);
    if (*why)
        json_write_text(&writer, "global_annotation", why);
    json_write_end_object(&writer);
    text_clear(&screen->sent);
    text_add_text(&screen->sent,
                  i18n_text(screen->is_declining ? TEXT_STATE_DECLINED : TEXT_STATE_CANCELLED));
    text_add_text(&screen->sent, *why ? ": " : "");
    facts_add_visible(&screen->sent, why);
    screen->has_sent_note = false;
    send_now(screen, screen->is_declining ? EFFECT_DECLINE : EFFECT_CANCEL);
}

bool ask_needs_code(const struct ask_screen *screen)
{
    struct text answer = { 0 };
    bool needs;

    ask_write_answer(screen, NULL, &answer);
    needs = answer_will_need_code(&screen->form, text_string(&answer));
    text_release(&answer);
    return needs;
}

void ask_send(struct ask_screen *screen)
{
    if (screen->is_lost) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_NOT_SENT_LOST));
        return;
    }
    if (screen->phase != PHASE_OPEN)
        return;
    if (!ask_check(screen)) {
        bool is_text = view_of(&screen->fields[screen->step])->focus == FOCUS_WORDS;

        screen->focus = is_text ? FOCUS_WORDS : FOCUS_LIST;
        return;
    }
    if (!ask_needs_code(screen)) {
        ask_submit(screen, NULL);
    } else if (!screen->is_prompt_seen) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_READ_TO_THE_END));
    } else if (!screen->is_challenged) { /* the hub gives a code, and the person types it */
        screen->is_challenged = true;
        screen->challenge[0] = '\0';
        ask_emit_kind(screen, EFFECT_CHALLENGE);
    }
}

/* The second act: the code as it was typed, or back. */
void ask_take_code(struct ask_screen *screen)
{
    const char *typed = text_string(&screen->code.text);

    if (*typed && strcmp(typed, screen->challenge) == 0) {
        ask_submit(screen, screen->challenge);
    } else if (*typed) {
        ask_say(screen, INK_DANGER, i18n_text(TEXT_TUI_OTHER_CODE));
        edit_clear(&screen->code);
        return;
    }
    ask_leave_code(screen);
}

void ask_leave_code(struct ask_screen *screen)
{
    edit_clear(&screen->code);
    screen->challenge[0] = '\0';
    screen->is_challenged = false;
    ask_focus_field(screen);
}

void ask_touch(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (state) {
        state->is_touched = true;
        state->is_empty_told = false;
        text_clear(&state->problem);
    }
    screen->is_draft_dirty = true;
    screen->is_draft_saved = false;
}

void ask_screen_save(struct ask_screen *screen)
{
    struct text draft = { 0 };

    if (!screen->is_draft_dirty || !ask_may_answer(screen))
        return;
    ask_write_answer(screen, NULL, &draft);
    screen->is_draft_dirty = false;
    screen->is_draft_saved = true;
    screen->draft_mono_ms = screen->now.mono_ms;
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_DRAFT, .json = text_string(&draft) });
    text_release(&draft);
}

/* What time alone does: drafts, the second digit, the end of undo, the bell. */
void ask_pass_time(struct ask_screen *screen, struct screen_time now)
{
    int64_t left_ms;

    screen->now = now;
    left_ms = ask_left_ms(screen);
    if (screen->is_draft_dirty &&
        (screen->draft_mono_ms < 0 || now.mono_ms - screen->draft_mono_ms >= SCREEN_DRAFT_MS))
        ask_screen_save(screen);
    if (screen->digit > 0 && now.mono_ms - screen->digit_mono_ms >= SCREEN_DIGIT_MS)
        ask_take_digits(screen);
    if (screen->phase == PHASE_SAVED && now.mono_ms >= screen->undo_until_mono_ms) {
        screen->phase = PHASE_OURS;
        ask_emit_kind(screen, EFFECT_CLOSE);
    }
    if (screen->phase == PHASE_OPEN && left_ms >= 0 && left_ms < 10000 && !screen->has_rung &&
        !screen->is_lost) {
        screen->has_rung = true;
        if (preferences_is_on(&screen->preferences, SETTING_NOTIFICATIONS) &&
            preferences_is_on(&screen->preferences, SETTING_SOUND)) /* no later moment: not held */
            ask_emit_kind(screen, EFFECT_BELL);
    }
    if (left_ms >= 10000)
        screen->has_rung = false;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* When whole seconds are left of what lasts until then. */
static int64_t next_second(int64_t now, int64_t end)
{
    return now + (end - now - 1) % 1000 + 1;
}

int64_t ask_screen_wake_ms(const struct ask_screen *screen)
{
    int64_t now = screen->now.mono_ms, wake = -1;
    bool is_open = screen->phase == PHASE_OPEN || screen->phase == PHASE_SENDING;

    if (is_open && !screen->is_lost) /* the clocks step together, with what is left */
        wake = screen->facts.deadline_mono_ms > now
                   ? next_second(now, screen->facts.deadline_mono_ms)
                   : now + 1000;
    if (screen->is_lost && screen->retry_mono_ms > now)
        wake = earlier(wake, next_second(now, screen->retry_mono_ms));
    if (screen->phase == PHASE_SAVED)
        wake = earlier(wake, screen->undo_until_mono_ms > now
                                 ? next_second(now, screen->undo_until_mono_ms)
                                 : now);
    if (screen->is_draft_dirty && ask_may_answer(screen))
        wake = earlier(wake,
                       screen->draft_mono_ms < 0 ? now : screen->draft_mono_ms + SCREEN_DRAFT_MS);
    if (screen->digit > 0)
        wake = earlier(wake, screen->digit_mono_ms + SCREEN_DIGIT_MS);
    return wake;
}

/*
 * Asking back on a terminal: a question to the agent before deciding, and what was asked and
 * explained so far, below the prompt. The hub has made both harmless.
 */

enum { TALK_SHOWN = 4, TALK_SHOWN_TIGHT = 1 }; /* of the newest */

void ask_read_talk(struct ask_screen *screen, const struct json *whole)
{
    const struct json *talk = json_member(whole, "talk");

    json_free(screen->talk);
    screen->talk = talk ? json_keep(talk) : NULL;
}

static void draw_said(const struct ask_screen *screen, struct pen *pen, const struct json *said)
{
    const char *by = json_member_text(said, "by"), *text = json_member_text(said, "text");
    bool is_agent = by && strcmp(by, "agent") == 0;
    struct text line = { 0 };

    text_add_format(&line, "%s ", is_agent ? screen->facts.agent : i18n_text(TEXT_TUI_YOU));
    pen_line(pen, pen->left, is_agent ? INK_ACCENT : INK_QUIET, text_string(&line));
    for (const char *at = text ? text : ""; at;) {
        size_t length = strcspn(at, "\n");

        pen_wrap(pen, pen->left + 2, INK_PLAIN, at, length);
        pen->row++;
        at = at[length] ? at + length + 1 : NULL;
    }
    text_release(&line);
}

void draw_talk(const struct ask_screen *screen, struct pen *pen)
{
    size_t count = json_length(screen->talk);
    size_t shown = screen->is_tight ? TALK_SHOWN_TIGHT : TALK_SHOWN;

    if (count == 0)
        return;
    for (size_t i = count > shown ? count - shown : 0; i < count; i++)
        draw_said(screen, pen, json_item(screen->talk, i));
    pen->row++;
}

void draw_ask_back(struct ask_screen *screen, struct pen *pen)
{
    const struct hint hints[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_ASK), 9, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 8, false },
    };
    struct text line = { 0 };

    draw_header(screen, pen);
    pen->row++;
    draw_talk(screen, pen);
    i18n_format(&line, TEXT_TUI_ASK_BACK, "agent", screen->facts.agent, NULL);
    pen_lines(pen, INK_PLAIN, text_string(&line));
    draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_YOUR_QUESTION), &screen->question, 4,
                       true, NULL);
    pen->row++;
    pen_text(pen, (enum ink)screen->said_ink, &screen->said);
    draw_hint_row(pen, hints, 2);
    text_release(&line);
}

void ask_send_back(struct ask_screen *screen)
{
    struct text json = { 0 };
    struct json_writer writer;

    if (screen->question.text.used == 0)
        return;
    if (!ask_may_answer(screen)) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_NOT_SENT_LOST));
        return;
    }
    writer = json_object_to(&json);
    json_write_text(&writer, "text", text_string(&screen->question.text));
    json_write_end_object(&writer);
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_BACK, .json = text_string(&json) });
    text_release(&json);
    edit_clear(&screen->question);
    ask_focus_field(screen);
}
