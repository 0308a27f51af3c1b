/* ask_news.c - what the hub says: changes, other people's answers, refusals, being gone. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "core/field_class.h"
#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/list.h"

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
        text_add_text(out, i18n_text(json_is_yes(value) ? TEXT_TUI_YES : TEXT_TUI_NO));
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

/* Open again: somebody took the answer back, or the hub came back with it still open. */
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
    text_clear(&screen->code.text);
    screen->code.at = 0;
    screen->focus = FOCUS_CODE;
    screen->panel = PANEL_NONE;
}

static void take_lost(struct ask_screen *screen, const struct json *params)
{
    screen->is_lost = true;
    screen->retry_mono_ms = screen->now.mono_ms + json_member_span(params, "retry_ms", 0);
}

static void take_undone(struct ask_screen *screen)
{
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
    ask_pass_time(screen, now);
    switch (news) {
    case NEWS_WHOLE:
        take_whole(screen, json);
        break;
    case NEWS_CHANGED:
        take_changed(screen, json);
        break;
    case NEWS_DRAFTED:
        take_drafted(screen, json);
        break;
    case NEWS_SETTINGS:
        take_settings(screen, json);
        break;
    case NEWS_CODE:
        take_code(screen, json);
        break;
    case NEWS_DECIDED:
        take_decided(screen, json);
        break;
    case NEWS_UNDONE:
        take_undone(screen);
        break;
    case NEWS_REFUSED:
        take_refused(screen, json);
        break;
    case NEWS_LOST:
        take_lost(screen, json);
        break;
    default:
        break;
    }
}
