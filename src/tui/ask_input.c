/* ask_input.c - keys while a text, a number, a code or a panel has them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/fields/field_class.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/canvas.h"
#include "tui/draw.h"
#include "tui/field_view.h"
#include "tui/settings_panel.h"

/* Enter that comes with a paste or from an input method is not the person's. */
static bool is_calm(const struct ask_screen *screen)
{
    return screen->key_mono_ms < 0 || screen->now.mono_ms - screen->key_mono_ms >= SCREEN_CALM_MS;
}

static void write(struct ask_screen *screen, struct edit *edit, const struct key *key)
{
    if (!edit_key(edit, key))
        return;
    screen->is_typing = true;
    ask_touch(screen);
    if (edit->is_full)
        ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_FULL));
}

static void key_in_words(struct ask_screen *screen, const struct key *key)
{
    struct field_state *state = ask_field(screen);
    size_t before = state->words.text.used;
    bool is_one_line = ask_is_one_line(screen, state->field);

    if (key->code == KEY_ESCAPE) {
        screen->focus = FOCUS_LIST;
    } else if (key->code == KEY_SEND) {
        ask_send_or_go_on(screen);
    } else if (key->code == KEY_TAB || key->code == KEY_BACK_TAB) {
        screen->focus = !ask_has_notes(screen)         ? FOCUS_LIST
                        : screen->form.field_count > 1 ? FOCUS_NOTE
                                                       : FOCUS_COMMON;
    } else if (key->code == KEY_ENTER && is_one_line) {
        if (is_calm(screen))
            ask_send_or_go_on(screen);
    } else if ((key->code == KEY_UP || key->code == KEY_DOWN) && is_one_line) {
        ask_step(screen, key->code == KEY_UP ? -1 : 1);
    } else {
        write(screen, &state->words, key);
        if (class_of(state->field)->has_options && state->words.text.used > before)
            list_pick(screen, state, state->field->option_count);
    }
}

static void key_in_note(struct ask_screen *screen, const struct key *key)
{
    struct edit *own = screen->focus == FOCUS_NOTE ? ask_note(screen) : NULL;
    struct edit *edit = own ? own : &screen->common;
    struct field_state *state = &screen->fields[0];
    bool is_of_option = own && screen->form.field_count == 1 && list_is_one_of_many(state);

    switch (key->code) {
    case KEY_ESCAPE:
        edit_clear(edit);
        ask_touch(screen);
        ask_focus_field(screen);
        break;
    case KEY_ENTER:
        if (is_calm(screen))
            ask_focus_field(screen);
        break;
    case KEY_TAB:
    case KEY_BACK_TAB:
        screen->focus = own ? FOCUS_COMMON : FOCUS_LIST;
        break;
    case KEY_SEND:
        if (is_of_option && !list_is_picked(state, state->cursor))
            list_pick(screen, state, state->cursor);
        ask_send_or_go_on(screen);
        break;
    default:
        write(screen, edit, key);
        if (is_of_option && edit->text.used > 0)
            list_pick(screen, state, state->cursor);
    }
}

static void key_in_filter(struct ask_screen *screen, const struct key *key)
{
    struct field_state *state = ask_field(screen);

    if (key->code == KEY_ESCAPE) {
        edit_clear(&screen->filter);
        screen->focus = FOCUS_LIST;
    } else if (key->code == KEY_ENTER) {
        screen->focus = FOCUS_LIST;
    } else if (key->code == KEY_UP || key->code == KEY_DOWN) {
        list_move(screen, state, key->code == KEY_UP ? -1 : 1);
    } else if (key_letter(key) == ' ') {
        list_toggle(screen, state, state->cursor);
    } else if (key->code == KEY_CONTROL && key->text[0] == 'a' && !list_is_one_of_many(state)) {
        list_tick_all(screen, state, true);
    } else if (edit_key(&screen->filter, key)) {
        list_move_to_shown(screen, state);
    }
}

static void key_in_cancel(struct ask_screen *screen, const struct key *key)
{
    if (key->code == KEY_ESCAPE) {
        edit_clear(&screen->why);
        ask_focus_field(screen);
    } else if (key->code == KEY_TAB || key->code == KEY_BACK_TAB) {
        screen->is_declining = !screen->is_declining;
    } else if (key->code == KEY_ENTER || key->code == KEY_SEND) {
        if (screen->is_lost)
            ask_say(screen, INK_WARN, i18n_text(TEXT_TUI_NOT_SENT_LOST));
        else if (is_calm(screen))
            ask_cancel(screen);
    } else if (ask_has_notes(screen)) {
        edit_key(&screen->why, key);
    }
}

static void key_in_back(struct ask_screen *screen, const struct key *key)
{
    if (key->code == KEY_ESCAPE)
        ask_focus_field(screen); /* what was written stays for the next time */
    else if (key->code != KEY_ENTER && key->code != KEY_SEND)
        edit_key(&screen->question, key);
    else if (is_calm(screen))
        ask_send_back(screen);
}

static bool is_digits(const struct key *key)
{
    if (key->code != KEY_TEXT)
        return key->code != KEY_PASTE; /* editing keys pass, pasted codes do not */
    return key->length == 1 && key->text[0] >= '0' && key->text[0] <= '9';
}

static void key_in_code(struct ask_screen *screen, const struct key *key)
{
    if (key->code == KEY_ESCAPE)
        ask_leave_code(screen);
    else if (key->code == KEY_ENTER)
        ask_take_code(screen);
    else if (is_digits(key))
        edit_key(&screen->code, key);
}

static void key_in_time(struct ask_screen *screen, const struct key *key)
{
    int64_t minutes = 0;

    if (key->code == KEY_ESCAPE || key->code == KEY_ENTER) {
        if (key->code == KEY_ENTER &&
            text_parse_integer(text_string(&screen->minutes.text), &minutes) && minutes > 0)
            ask_extend(screen, (int)minutes * 60);
        edit_clear(&screen->minutes);
        ask_focus_field(screen);
    } else if (is_digits(key)) {
        edit_key(&screen->minutes, key);
    }
}

static void key_in_snooze(struct ask_screen *screen, const struct key *key)
{
    int64_t seconds = snooze_seconds(key_letter(key), screen->now);

    if (seconds > 0 && ask_may_answer(screen)) {
        ask_screen_save(screen);
        ask_emit(screen, &(struct screen_effect){ .kind = EFFECT_SNOOZE, .number = seconds });
    }
    if (seconds > 0 || key->code == KEY_ESCAPE || key_letter(key) == 'q')
        ask_focus_field(screen);
}

/* Keys that move through a text longer than its place. */
bool ask_scrolls(struct ask_screen *screen, const struct key *key)
{
    int by = key_distance(key);

    if (by == 0)
        return false;
    screen->scroll += by;
    if (screen->scroll > screen->scroll_max)
        screen->scroll = screen->scroll_max;
    if (screen->scroll < 0)
        screen->scroll = 0;
    return true;
}

static void key_in_preview(struct ask_screen *screen, const struct key *key)
{
    if (ask_scrolls(screen, key))
        return;
    if (key_letter(key) == 'v')
        screen->panel = PANEL_PREVIEW;
    else if (key->code == KEY_ESCAPE || key_letter(key) == 'p' || key_letter(key) == 'q')
        screen->focus = FOCUS_LIST;
}

static void key_in_reading(struct ask_screen *screen, const struct key *key)
{
    bool is_back = key->code == KEY_ESCAPE || key->code == KEY_ENTER || key_letter(key) == 'q' ||
                   key_letter(key) == 'm' || key_letter(key) == 'v' || key_letter(key) == '?';

    if (!ask_scrolls(screen, key) && is_back) {
        screen->panel = PANEL_NONE;
        screen->scroll = 0;
    }
}

static void key_in_settings(struct ask_screen *screen, const struct key *key)
{
    const char *name = setting_row(settings_panel_id(&screen->settings))->name;
    char *value;

    switch (settings_panel_key(&screen->settings, &screen->preferences, key, &value)) {
    case SETTINGS_CHANGE:
        if (!screen->is_lost)
            ask_emit(screen, &(struct screen_effect){
                                 .kind = EFFECT_SETTING, .name = name, .text = value });
        break;
    case SETTINGS_CLOSE:
        screen->panel = PANEL_NONE;
        break;
    case SETTINGS_OTHER:
        if (key_letter(key) == 'e')
            ask_extend(screen, SCREEN_EXTEND_S);
        if (key_letter(key) == 'E') {
            screen->panel = PANEL_NONE;
            screen->focus = FOCUS_TIME;
        }
        if (key_letter(key) == 'w')
            ask_go_to_browser(screen);
        break;
    default:
        break;
    }
    free(value);
}

bool ask_key_in_field(struct ask_screen *screen, const struct key *key)
{
    static void (*const fields[])(struct ask_screen * screen, const struct key *key) = {
        [FOCUS_WORDS] = key_in_words,     [FOCUS_NOTE] = key_in_note,
        [FOCUS_COMMON] = key_in_note,     [FOCUS_FILTER] = key_in_filter,
        [FOCUS_PREVIEW] = key_in_preview, [FOCUS_CANCEL] = key_in_cancel,
        [FOCUS_CODE] = key_in_code,       [FOCUS_TIME] = key_in_time,
        [FOCUS_SNOOZE] = key_in_snooze,   [FOCUS_BACK] = key_in_back,
    };

    screen->is_typing = false;
    if (screen->panel == PANEL_SETTINGS)
        key_in_settings(screen, key);
    else if (screen->panel != PANEL_NONE)
        key_in_reading(screen, key);
    else if (screen->focus == FOCUS_NUMBER)
        return ask_key_in_number(screen, key);
    else if (screen->focus < ARRAY_LEN(fields) && fields[screen->focus])
        fields[screen->focus](screen, key);
    else
        return false;
    return true;
}

/* What was written here and did not go out, for the clipboard. */
void ask_add_written(const struct ask_screen *screen, struct text *out)
{
    const struct edit *edits[LIST_MAX + 2 * LIMIT_FORM_FIELDS];
    size_t count = 0;

    for (size_t i = 0; i < screen->form.field_count && i < LIMIT_FORM_FIELDS; i++) {
        edits[count++] = &screen->fields[i].words;
        edits[count++] = &screen->fields[i].note;
    }
    for (size_t i = 0; i < screen->form.fields[0].option_count; i++)
        edits[count++] = &screen->notes[i];
    edits[count++] = &screen->common;
    for (size_t i = 0; i < count; i++) {
        if (edits[i]->text.used == 0)
            continue;
        text_add_text(out, out->used ? "\n" : "");
        text_add(out, text_string(&edits[i]->text), edits[i]->text.used);
    }
}

void ask_copy_written(struct ask_screen *screen)
{
    struct text words = { 0 };

    ask_add_written(screen, &words);
    if (words.used > 0) {
        ask_emit(screen,
                 &(struct screen_effect){ .kind = EFFECT_COPY, .text = text_string(&words) });
        ask_say(screen, INK_QUIET, i18n_text(TEXT_TUI_COPIED));
    }
    text_release(&words);
}
