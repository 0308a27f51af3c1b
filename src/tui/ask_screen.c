/* ask_screen.c - see ask_screen.h. Its beginning, its end, and what its other files ask of it. */
#include "tui/ask_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "markup/markup.h"
#include "tui/canvas.h"
#include "tui/field_view.h"

enum { ONE_LINE_CHARS = 200 };

static void make_visible(struct ask_screen *screen, char **text, bool has_lines)
{
    char *visible = facts_visible_flags(*text, has_lines, &screen->flags);

    free(*text);
    *text = visible;
}

static void make_field_visible(struct ask_screen *screen, struct field *field)
{
    make_visible(screen, &field->label, false);
    make_visible(screen, &field->header, false);
    make_visible(screen, &field->description, true);
    make_visible(screen, &field->placeholder, false);
    make_visible(screen, &field->unit, false);
    for (size_t i = 0; i < field->option_count; i++) {
        make_visible(screen, &field->options[i].id, false);
        make_visible(screen, &field->options[i].label, false);
        make_visible(screen, &field->options[i].description, true);
    }
}

static bool read_form(struct ask_screen *screen, const struct json *form, struct error *err)
{
    char *json = json_encode(form);
    bool ok = form_parse(json, strlen(json), &screen->form, err) &&
              form_parse(json, strlen(json), &screen->shown, err);

    free(json);
    if (!ok)
        return false;
    make_visible(screen, &screen->shown.title, false);
    for (size_t i = 0; i < screen->shown.field_count; i++)
        make_field_visible(screen, &screen->shown.fields[i]);
    return screen->form.field_count > 0 ||
           error_set(err, ERROR_bad_json, "", "a form without fields");
}

bool ask_is_one_line(const struct ask_screen *screen, const struct field *field)
{
    return class_is_text(class_of(field)) &&
           (field->format || screen->form.field_count > 1 ||
            (field->max_chars > 0 && field->max_chars <= ONE_LINE_CHARS));
}

/* What an agent wrote in advance is made visible first: people send what they see. */
static void init_written(struct ask_screen *screen, struct edit *edit, bool has_lines, size_t max,
                         const char *text)
{
    char *visible = facts_visible_flags(text ? text : "", has_lines, &screen->flags);

    edit_init(edit, has_lines, max, visible);
    free(visible);
}

static void init_options(struct ask_screen *screen, struct field_state *state)
{
    const struct field *field = state->field;

    state->is_picked = mem_new(field->option_count + 1);
    state->is_hidden = mem_new(field->option_count + 1);
    for (size_t i = field->option_count; i-- > 0;) {
        const struct option *option = &field->options[i];

        state->is_picked[i] = option->is_default && !form_may_destroy(&screen->form);
        if (option->is_recommended && !list_picked_count(state))
            state->cursor = i;
        if (state->is_picked[i])
            state->cursor = i;
    }
    if (form_may_destroy(&screen->form)) /* nothing is suggested, not even by the cursor */
        state->cursor = 0;
}

static size_t note_bytes(void)
{
    return (size_t)LIMIT_ANNOTATION_CHARS * 4; /* of UTF-8, at most */
}

static void init_field(struct ask_screen *screen, size_t i)
{
    struct field_state *state = &screen->fields[i];
    const struct field *field = &screen->form.fields[i];

    state->field = field;
    state->shown = &screen->shown.fields[i];
    init_options(screen, state);
    init_written(screen, &state->words, !ask_is_one_line(screen, field), LIMIT_ANSWER_TEXT_BYTES,
                 field->default_text);
    edit_init(&state->digits, false, 32, "");
    edit_init(&state->note, false, note_bytes(), "");
    state->previews = mem_new((field->option_count + 1) * sizeof(struct markup *));
    for (size_t option = 0; option < field->option_count; option++)
        state->previews[option] = markup_of_preview(&field->options[option].preview);
    state->has_number = field->has_default_number;
    state->number = field->default_number;
    state->confirm = form_may_destroy(&screen->form) ? CONFIRM_OPEN : field->default_confirm;
    if (view_of(state)->begin)
        view_of(state)->begin(state);
}

static void init_notes(struct ask_screen *screen)
{
    const struct field *field = &screen->form.fields[0];
    size_t max = note_bytes();

    screen->notes = mem_new((field->option_count + 1) * sizeof *screen->notes);
    for (size_t i = 0; i < field->option_count; i++)
        init_written(screen, &screen->notes[i], false, max, field->options[i].annotation);
    init_written(screen, &screen->common, false, max, screen->form.global_annotation);
    edit_init(&screen->filter, false, 100, "");
    edit_init(&screen->why, false, max, "");
    edit_init(&screen->code, false, 8, "");
    edit_init(&screen->minutes, false, 5, "");
    edit_init(&screen->question, false, max, "");
}

/* R6.4: remembered by the hub; a hidden default is not preselected. */
static void read_hidden(struct ask_screen *screen, const struct json *hidden)
{
    struct field_state *state = &screen->fields[0];

    for (size_t i = 0; i < json_length(hidden); i++) {
        const char *id = json_text(json_item(hidden, i));
        const struct option *option = id ? field_find_option(state->field, id) : NULL;

        if (!option || form_may_destroy(&screen->form))
            continue;
        state->is_hidden[option - state->field->options] = true;
        if (!screen->shows_hidden)
            state->is_picked[option - state->field->options] = false;
    }
    list_move_to_shown(screen, state);
}

void ask_focus_field(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    screen->focus = FOCUS_LIST;
    edit_clear(&screen->filter);
    if (state)
        screen->focus = view_of(state)->focus;
    if (screen->focus == FOCUS_NUMBER && state->field->style != NUMBER_FIELD)
        screen->focus = FOCUS_LIST; /* a slider or stars: digits come later */
}

static void begin(struct ask_screen *screen, const struct json *whole)
{
    screen->shows_hidden = preferences_is_on(&screen->preferences, SETTING_SHOW_HIDDEN);
    screen->fields = mem_new(screen->form.field_count * sizeof *screen->fields);
    for (size_t i = 0; i < screen->form.field_count; i++)
        init_field(screen, i);
    init_notes(screen);
    if (*screen->form.prompt && strcmp(screen->form.title, screen->form.prompt) != 0)
        screen->prompt = markup_markdown(screen->form.prompt);
    screen->flags |= screen->prompt ? screen->prompt->flags : 0;
    screen->is_sensitive =
        sensitive_is_mentioned(screen->form.title) || sensitive_is_mentioned(screen->form.prompt);
    read_hidden(screen, json_member(whole, "hidden"));
    ask_read_talk(screen, whole);
    ask_read_draft(screen, json_member(whole, "draft"));
    ask_focus_field(screen);
    if (preferences_is_on(&screen->preferences, SETTING_SETTINGS_FIRST))
        screen->panel = PANEL_SETTINGS;
}

bool ask_screen_new(const struct screen_setup *setup, const struct json *whole,
                    struct screen_time now, struct ask_screen **ret_screen, struct error *err)
{
    struct ask_screen *screen = mem_new(sizeof *screen);
    const struct json *origin = json_member(json_member(whole, "ask"), "origin");
    const char *language = json_member_text(origin, "language");

    screen->setup = *setup;
    screen->setup.settings = NULL;
    screen->setup.preferences = NULL;
    screen->setup.home = mem_text(setup->home);
    screen->marks = marks_of(setup->is_ascii);
    screen->now = now;
    screen->visible_mono_ms = screen->key_mono_ms = screen->draft_mono_ms = -1;
    preferences_init(&screen->preferences);
    if (setup->preferences)
        preferences_copy(&screen->preferences, setup->preferences);
    if (setup->settings)
        preferences_read(&screen->preferences, setup->settings);
    text_put(screen->preferences.asked, sizeof screen->preferences.asked, language ? language : "");
    preferences_speak(&screen->preferences);
    if (!read_form(screen, json_member(whole, "form"), err)) {
        ask_screen_free(screen);
        return false;
    }
    facts_read(&screen->facts, json_member(whole, "ask"), screen->setup.home, now);
    begin(screen, whole);
    screen->is_past = setup->is_inbox && !state_is_open(screen->facts.state);
    if (!state_is_open(screen->facts.state))
        ask_take_end(screen, whole);
    *ret_screen = screen;
    return true;
}

static void free_fields(struct ask_screen *screen)
{
    for (size_t i = 0; screen->fields && i < screen->form.field_count; i++) {
        struct field_state *state = &screen->fields[i];

        for (size_t option = 0; state->previews && option < state->field->option_count; option++)
            markup_free(state->previews[option]);
        free(state->previews);
        free(state->is_picked);
        free(state->is_hidden);
        edit_release(&state->words);
        edit_release(&state->digits);
        edit_release(&state->note);
        text_release(&state->problem);
    }
    for (size_t i = 0; screen->notes && i < screen->form.fields[0].option_count; i++)
        edit_release(&screen->notes[i]);
    free(screen->fields);
    free(screen->notes);
}

void ask_screen_free(struct ask_screen *screen)
{
    if (!screen)
        return;
    free_fields(screen);
    edit_release(&screen->common);
    edit_release(&screen->filter);
    edit_release(&screen->why);
    edit_release(&screen->code);
    edit_release(&screen->minutes);
    edit_release(&screen->question);
    json_free(screen->talk);
    markup_free(screen->prompt);
    form_release(&screen->form);
    form_release(&screen->shown);
    facts_release(&screen->facts);
    preferences_release(&screen->preferences);
    text_release(&screen->sent);
    text_release(&screen->sending);
    text_release(&screen->said);
    text_release(&screen->problem);
    text_release(&screen->note);
    text_release(&screen->settings.typed);
    free((char *)(uintptr_t)screen->setup.home);
    free(screen);
}

void ask_emit(struct ask_screen *screen, const struct screen_effect *effect)
{
    struct screen_effect whole = *effect;

    whole.session_id = screen->facts.id;
    screen->setup.effect(screen->setup.context, &whole);
}

void ask_emit_kind(struct ask_screen *screen, enum screen_effect_kind kind)
{
    ask_emit(screen, &(struct screen_effect){ .kind = kind });
}

void ask_say(struct ask_screen *screen, int ink, const char *words)
{
    text_clear(&screen->said);
    text_add_text(&screen->said, words);
    screen->said_ink = ink;
}

bool ask_may_answer(const struct ask_screen *screen)
{
    return screen->phase == PHASE_OPEN && !screen->is_lost;
}

bool ask_is_review(const struct ask_screen *screen)
{
    return screen->form.field_count > 1 && screen->step == screen->form.field_count;
}

struct field_state *ask_field(const struct ask_screen *screen)
{
    return screen->step < screen->form.field_count ? &screen->fields[screen->step] : NULL;
}

bool ask_has_notes(const struct ask_screen *screen)
{
    return screen->form.allow_annotations && preferences_is_on(&screen->preferences, SETTING_NOTES);
}

bool ask_has_portal(const struct ask_screen *screen)
{
    return screen->setup.has_portal && preferences_is_on(&screen->preferences, SETTING_PORTAL);
}

struct edit *ask_note(const struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (!state || !ask_has_notes(screen))
        return NULL;
    if (screen->form.field_count > 1)
        return &state->note;
    return state->cursor < state->field->option_count ? &screen->notes[state->cursor] : NULL;
}

bool ask_has_note_text(const struct ask_screen *screen)
{
    bool has_any = screen->common.text.used > 0;

    for (size_t i = 0; i < screen->form.fields[0].option_count; i++)
        has_any = has_any || screen->notes[i].text.used > 0;
    for (size_t i = 0; i < screen->form.field_count; i++)
        has_any = has_any || screen->fields[i].note.text.used > 0;
    return has_any;
}

bool ask_has_written(const struct ask_screen *screen)
{
    bool has_any = ask_has_note_text(screen);

    for (size_t i = 0; i < screen->form.field_count; i++)
        has_any = has_any || screen->fields[i].words.text.used > 0;
    return has_any;
}

bool ask_sends_at_once(const struct ask_screen *screen)
{
    const char *wish = preferences_value(&screen->preferences, SETTING_SINGLE_SUBMIT);
    const struct field_class *class = class_of(&screen->form.fields[0]);
    bool is_once = screen->form.single_submit;

    if (strcmp(wish, "single") == 0)
        is_once = is_once || class->is_exclusive;
    else if (strcmp(wish, "batch") == 0)
        is_once = false;
    if (ask_has_notes(screen) &&
        (ask_has_note_text(screen) || preferences_is_on(&screen->preferences, SETTING_NOTE_FOCUS)))
        is_once = false;
    return is_once && screen->form.field_count == 1 && !form_may_destroy(&screen->form) &&
           class->has_options;
}

int64_t ask_left_ms(const struct ask_screen *screen)
{
    return facts_left_ms(&screen->facts, screen->now);
}

/* The hub keeps the end 30 s away while the person types; above that the clock runs on. */
bool ask_is_held(const struct ask_screen *screen)
{
    int64_t left_ms = ask_left_ms(screen);

    return screen->key_mono_ms >= 0 && screen->is_typing &&
           screen->now.mono_ms - screen->key_mono_ms < SCREEN_TYPING_MS && left_ms >= 0 &&
           left_ms <= 30000 && preferences_is_on(&screen->preferences, SETTING_TYPING_HOLD);
}

int ask_screen_exit_code(const struct ask_screen *screen)
{
    enum ask_state state = screen->facts.state;

    if (screen->phase == PHASE_OURS || screen->phase == PHASE_SAVED)
        return screen->is_cancelled ? 3 : 0;
    if (screen->phase != PHASE_THEIRS)
        return 5;
    return state == STATE_SUBMITTED                                                          ? 0
           : state == STATE_CANCELLED || state == STATE_DECLINED || state == STATE_WITHDRAWN ? 3
                                                                                             : 4;
}

bool ask_screen_wants_alternate(const struct ask_screen *screen)
{
    return screen->wants_alternate;
}
