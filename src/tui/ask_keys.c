/*
 * ask_keys.c - the keys of a question while letters are commands. A key is a row.
 * Keys that go into a text, a code or a panel are ask_input.c's.
 */
#include <string.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/canvas.h"
#include "tui/field_view.h"

static bool is_list(const struct field_state *state)
{
    return state && view_of(state)->is_list;
}

static bool is_many(const struct field_state *state)
{
    return is_list(state) && !list_is_one_of_many(state);
}

void ask_step(struct ask_screen *screen, int by)
{
    size_t last = screen->form.field_count > 1 ? screen->form.field_count : 0;

    if ((by < 0 && screen->step == 0) || (by > 0 && screen->step >= last))
        return;
    screen->step = by < 0 ? screen->step - 1 : screen->step + 1;
    screen->scroll = 0;
    ask_focus_field(screen);
}

static void move(struct ask_screen *screen, int code)
{
    struct field_state *state = ask_field(screen);

    if (state && view_of(state)->key)
        view_of(state)->key(screen, state, (enum key_code)code);
    else if (code == KEY_LEFT || code == KEY_RIGHT)
        ask_step(screen, code == KEY_LEFT ? -1 : 1);
}

void ask_list_key(struct ask_screen *screen, struct field_state *state, enum key_code code)
{
    if (code == KEY_LEFT || code == KEY_RIGHT)
        ask_step(screen, code == KEY_LEFT ? -1 : 1);
    else
        list_move(screen, state, key_distance(&(struct key){ .code = code }));
}

static void open_common_note(struct ask_screen *screen)
{
    if (ask_has_notes(screen))
        screen->focus = FOCUS_COMMON;
    else
        ask_say(screen, INK_QUIET, i18n_text(TEXT_TUI_NOTES_OFF));
}

/* Tab: the note of the option under the cursor or of this question, then the common one. */
static void open_note(struct ask_screen *screen)
{
    open_common_note(screen);
    if (ask_note(screen))
        screen->focus = FOCUS_NOTE;
}

static void open_words(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (!state || !class_of(state->field)->has_words)
        return;
    if (class_of(state->field)->has_options)
        state->cursor = state->field->option_count;
    screen->focus = FOCUS_WORDS;
}

/* Where the keys go, if there is what they are for. */
static void open_focus(struct ask_screen *screen, int focus)
{
    bool is_there = focus == FOCUS_FILTER    ? is_list(ask_field(screen))
                    : focus == FOCUS_PREVIEW ? ask_preview(screen) != NULL
                    : focus == FOCUS_TIME    ? ask_left_ms(screen) >= 0
                                             : ask_may_answer(screen);

    if (!is_there)
        return;
    screen->focus = (enum ask_focus)focus;
    if (focus == FOCUS_PREVIEW)
        screen->scroll = 0;
}

static void open_panel(struct ask_screen *screen, int panel)
{
    if ((panel == PANEL_PREVIEW && !ask_preview(screen)) ||
        (panel == PANEL_PROMPT && !screen->prompt))
        return;
    screen->panel = (enum ask_panel)panel;
    if (panel == PANEL_SETTINGS)
        text_clear(&screen->settings.typed);
    else
        screen->scroll = 0;
}

static void widen_list(struct ask_screen *screen, int by)
{
    screen->pane_shift += by;
}

void ask_extend(struct ask_screen *screen, int by_s)
{
    int64_t left_ms = ask_left_ms(screen);

    if (!ask_may_answer(screen) || left_ms < 0)
        return;
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_EXTEND,
                                              .number = (left_ms + 999) / 1000 + by_s });
}

void ask_go_to_browser(struct ask_screen *screen)
{
    if (!ask_has_portal(screen)) {
        ask_say(screen, INK_QUIET, i18n_text(TEXT_TUI_NO_PORTAL));
        return;
    }
    if (screen->is_lost) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_NOT_SENT_LOST));
        return;
    }
    screen->is_draft_dirty = screen->is_draft_dirty || ask_has_written(screen);
    ask_screen_save(screen);
    ask_emit_kind(screen, EFFECT_BROWSER);
}

static void go_to_neighbour(struct ask_screen *screen, int by)
{
    if (!screen->setup.is_inbox)
        return;
    ask_screen_save(screen);
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_NEIGHBOUR, .number = by });
}

static void open_cancel(struct ask_screen *screen)
{
    if (screen->filter.text.used > 0) { /* Esc clears before it cancels */
        edit_clear(&screen->filter);
        return;
    }
    screen->focus = FOCUS_CANCEL;
    screen->is_declining = false;
}

static void tick_all(struct ask_screen *screen, int is_on)
{
    if (is_many(ask_field(screen)))
        list_tick_all(screen, ask_field(screen), is_on);
}

static void show_hidden(struct ask_screen *screen)
{
    screen->shows_hidden = !screen->shows_hidden;
    if (is_list(ask_field(screen)))
        list_move_to_shown(screen, ask_field(screen));
}

/* Hides the option under the cursor from now on, or shows it again; never below the minimum. */
static void hide(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);
    size_t left = 0, item;
    int64_t min;
    struct text json = { 0 };
    struct json_writer writer;

    if (state != screen->fields || !is_list(state) || form_may_destroy(&screen->form) ||
        state->cursor >= state->field->option_count)
        return;
    item = state->cursor;
    for (size_t i = 0; i < state->field->option_count; i++)
        left += !state->is_hidden[i];
    min = state->field->min_selections > 1 ? state->field->min_selections : 1;
    if (!state->is_hidden[item] && (int64_t)left <= min) {
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_HIDE_REFUSED));
        return;
    }
    state->is_hidden[item] = !state->is_hidden[item];
    if (state->is_hidden[item])
        state->is_picked[item] = false;
    list_move_to_shown(screen, state);
    writer = json_object_to(&json);
    json_write_text(&writer, "option_id", state->field->options[item].id);
    json_write_bool(&writer, "hidden", state->is_hidden[item]);
    json_write_end_object(&writer);
    ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_HIDE, .json = text_string(&json) });
    text_release(&json);
}

static void reconnect(struct ask_screen *screen)
{
    if (screen->is_lost)
        ask_emit_kind(screen, EFFECT_RECONNECT);
}

/* The letters; those that only some screens have do nothing in the others. */
static const struct {
    char letter;
    void (*act)(struct ask_screen *screen);
    void (*act_with)(struct ask_screen *screen, int with);
    int with;
} letters[] = {
    { 'n', open_common_note, NULL, 0 },
    { 'o', open_words, NULL, 0 },
    { 'w', ask_go_to_browser, NULL, 0 },
    { 'q', open_cancel, NULL, 0 },
    { 'H', show_hidden, NULL, 0 },
    { '-', hide, NULL, 0 },
    { 'h', hide, NULL, 0 },
    { 'r', reconnect, NULL, 0 },
    { 'j', NULL, move, KEY_DOWN },
    { 'k', NULL, move, KEY_UP },
    { '/', NULL, open_focus, FOCUS_FILTER },
    { 'p', NULL, open_focus, FOCUS_PREVIEW },
    { 'E', NULL, open_focus, FOCUS_TIME },
    { 'l', NULL, open_focus, FOCUS_SNOOZE },
    { 'b', NULL, open_focus, FOCUS_BACK },
    { 's', NULL, open_panel, PANEL_SETTINGS },
    { '?', NULL, open_panel, PANEL_HELP },
    { 'm', NULL, open_panel, PANEL_PROMPT },
    { 'v', NULL, open_panel, PANEL_PREVIEW },
    { '>', NULL, widen_list, 4 },
    { '<', NULL, widen_list, -4 },
    { 'e', NULL, ask_extend, SCREEN_EXTEND_S },
    { '[', NULL, go_to_neighbour, -1 },
    { ']', NULL, go_to_neighbour, 1 },
    { 'a', NULL, tick_all, true },
    { 'x', NULL, tick_all, false },
};

/* One key does not send defaults that the person has not looked at. */
static bool needs_second_enter(struct ask_screen *screen, const struct field_state *state)
{
    bool is_preset = is_list(state) && list_is_one_of_many(state)
                         ? list_is_picked(state, state->cursor)
                         : ask_is_answered(screen, (size_t)(state - screen->fields));

    if (state->is_touched || !is_preset || !field_has_default(state->field))
        return false;
    screen->fields[state - screen->fields].is_touched = true;
    ask_say(screen, INK_ACCENT, i18n_text(TEXT_TUI_ENTER_AGAIN));
    return true;
}

/* An empty answer to a list is sent by a second key only: the first says that nothing is chosen. */
static bool needs_meaning(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (!is_list(state) || state->is_empty_told || state->field->min_selections > 0 ||
        class_of(state->field)->is_exclusive || list_picked_count(state) > 0 ||
        (state->has_own && state->words.text.used > 0))
        return false;
    state->is_empty_told = true;
    ask_say(screen, INK_ACCENT, i18n_text(TEXT_TUI_NOTHING_CHOSEN));
    return true;
}

/* Of several questions only the review sends. */
void ask_send_or_go_on(struct ask_screen *screen)
{
    if (needs_meaning(screen))
        return;
    if (ask_field(screen) && screen->form.field_count > 1)
        ask_step(screen, 1);
    else
        ask_send(screen);
}

/* With nothing ticked Enter ticks, unless the person has just taken all ticks away. */
bool ask_enter_ticks(const struct ask_screen *screen, const struct field_state *state)
{
    return is_many(state) && list_picked_count(state) == 0 && !state->is_emptied &&
           !list_is_own(state, state->cursor) && list_is_shown(screen, state, state->cursor);
}

static void enter(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (!state) {
        ask_send(screen);
        return;
    }
    if (needs_second_enter(screen, state))
        return;
    if (is_list(state) && list_is_own(state, state->cursor) &&
        (!state->has_own || state->words.text.used == 0)) {
        open_words(screen);
        return;
    }
    if (ask_enter_ticks(screen, state)) {
        list_toggle(screen, state, state->cursor);
        ask_say(screen, INK_ACCENT, i18n_text(TEXT_TUI_TICKED));
        return;
    }
    if (is_list(state) && list_is_one_of_many(state))
        list_pick(screen, state, state->cursor);
    if (is_list(state) && preferences_is_on(&screen->preferences, SETTING_NOTE_FOCUS) &&
        ask_has_notes(screen) && !screen->has_offered_note && state == screen->fields) {
        screen->has_offered_note = true;
        open_note(screen);
        return;
    }
    ask_send_or_go_on(screen);
}

static void tick(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);

    if (!is_list(state))
        return;
    if (list_is_own(state, state->cursor) && !state->has_own)
        open_words(screen);
    else
        list_toggle(screen, state, state->cursor);
}

void ask_take_digits(struct ask_screen *screen)
{
    struct field_state *state = ask_field(screen);
    size_t number = screen->digit;

    screen->digit = 0;
    if (!is_list(state) || number == 0 || number > list_numbered_count(state) ||
        !list_is_shown(screen, state, number - 1))
        return;
    state->cursor = number - 1;
    if (list_toggle(screen, state, number - 1) && ask_sends_at_once(screen))
        ask_send(screen);
}

void ask_list_digit(struct ask_screen *screen, struct field_state *state, char digit)
{
    screen->digit = screen->digit * 10 + (size_t)(digit - '0');
    screen->digit_mono_ms = screen->now.mono_ms;
    if (screen->digit * 10 > list_item_count(state))
        ask_take_digits(screen);
}

static void take_digit(struct ask_screen *screen, size_t digit)
{
    struct field_state *state = ask_field(screen);

    if (ask_is_review(screen) && digit >= 1 && digit <= screen->form.field_count) {
        screen->step = digit - 1;
        ask_focus_field(screen);
    } else if (state && view_of(state)->digit) {
        view_of(state)->digit(screen, state, (char)('0' + digit));
    }
}

/* y and n answer, as Enter on Yes or No does; who wants to send by a key of its own only picks. */
static bool takes_yes_no(struct ask_screen *screen, char letter)
{
    struct field_state *state = ask_field(screen);
    const char *wish = preferences_value(&screen->preferences, SETTING_SINGLE_SUBMIT);

    if (!state || !class_of(state->field)->is_yes_no || (letter != 'y' && letter != 'n'))
        return false;
    list_pick(screen, state, letter == 'y' ? 0 : 1);
    if (screen->form.field_count > 1 || strcmp(wish, "batch") != 0)
        ask_send_or_go_on(screen);
    return true;
}

static void take_letter(struct ask_screen *screen, char letter)
{
    bool is_off = !preferences_is_on(&screen->preferences, SETTING_SINGLE_KEYS);

    if (letter == ' ') {
        tick(screen);
        return;
    }
    if (letter >= '0' && letter <= '9') {
        take_digit(screen, (size_t)(letter - '0'));
        return;
    }
    if (!is_off && takes_yes_no(screen, letter))
        return;
    for (size_t i = 0; i < ARRAY_LEN(letters); i++) {
        if (letters[i].letter != letter || (is_off && letter != '?' && letter != 'r'))
            continue;
        if (letters[i].act)
            letters[i].act(screen);
        else
            letters[i].act_with(screen, letters[i].with);
    }
}

static void take_list_key(struct ask_screen *screen, const struct key *key)
{
    switch (key->code) {
    case KEY_TEXT:
        if (key->length == 1)
            take_letter(screen, key->text[0]);
        break;
    case KEY_UP:
    case KEY_DOWN:
    case KEY_LEFT:
    case KEY_RIGHT:
    case KEY_HOME:
    case KEY_END:
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN:
        move(screen, key->code);
        break;
    case KEY_ENTER:
        enter(screen);
        break;
    case KEY_SEND:
        ask_send_or_go_on(screen);
        break;
    case KEY_TAB:
        open_note(screen);
        break;
    case KEY_BACK_TAB:
        open_common_note(screen);
        break;
    case KEY_ESCAPE:
        open_cancel(screen);
        break;
    default:
        break; /* a paste never answers */
    }
}

/* Once it is decided: the undo line, or what became of it. */
static void take_end_key(struct ask_screen *screen, const struct key *key)
{
    char letter = key_letter(key);

    if (screen->is_past && ask_scrolls(screen, key))
        return;
    if (screen->phase == PHASE_SAVED && letter == 'u') {
        ask_emit_kind(screen, EFFECT_UNDO);
    } else if (screen->phase == PHASE_SAVED && key->code == KEY_ENTER) {
        screen->phase = PHASE_OURS;
        ask_emit_kind(screen, EFFECT_SEND_NOW);
        ask_emit_kind(screen, EFFECT_CLOSE);
    } else if (screen->phase == PHASE_THEIRS && letter == 'y') {
        ask_copy_written(screen);
    } else if (screen->phase == PHASE_THEIRS &&
               (key->code == KEY_ENTER || key->code == KEY_ESCAPE || letter == 'q')) {
        ask_emit_kind(screen, EFFECT_CLOSE);
    }
}

static bool take_control(struct ask_screen *screen, const struct key *key)
{
    if (key->code == KEY_FOCUS_IN && screen->visible_mono_ms >= 0)
        screen->visible_mono_ms = screen->now.mono_ms; /* in front only now */
    if (key->code == KEY_FOCUS_IN || key->code == KEY_FOCUS_OUT)
        return true;
    if (key->code != KEY_CONTROL)
        return false;
    if (key->text[0] == 'c') {
        ask_screen_save(screen);
        ask_emit_kind(screen, EFFECT_QUIT);
    } else if (key->text[0] == 'z') {
        ask_emit_kind(screen, EFFECT_SUSPEND);
    }
    return key->text[0] == 'c' || key->text[0] == 'z';
}

void ask_screen_cancel(struct ask_screen *screen)
{
    if (screen->phase == PHASE_OPEN)
        open_cancel(screen);
}

void ask_screen_key(struct ask_screen *screen, const struct key *key, struct screen_time now)
{
    bool is_answerable;

    ask_pass_time(screen, now);
    text_clear(&screen->said);
    text_clear(&screen->problem);
    if (take_control(screen, key))
        return;
    is_answerable = screen->phase == PHASE_OPEN || screen->phase == PHASE_THEIRS;
    /* a person who was typing when the question appeared did not mean it */
    if (is_answerable && (screen->visible_mono_ms < 0 ||
                          now.mono_ms - screen->visible_mono_ms < SCREEN_TOO_EARLY_MS))
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_TOO_EARLY));
    else if (screen->phase == PHASE_SENDING)
        return;
    else if (screen->phase != PHASE_OPEN)
        take_end_key(screen, key);
    else if (!ask_key_in_field(screen, key))
        take_list_key(screen, key);
    screen->key_mono_ms = now.mono_ms;
}
