/* ask_hints.c - the line of keys at the bottom: what can be done here and now. */
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "i18n/i18n.h"
#include "tui/draw.h"
#include "tui/field_view.h"

enum { HINTS_MAX = 10 };

static int row_columns(const struct hint *hints, size_t count)
{
    int columns = 0;

    for (size_t i = 0; i < count; i++) {
        columns += glyph_columns(hints[i].key, strlen(hints[i].key)) + (i > 0 ? 2 : 0);
        if (hints[i].word && *hints[i].word)
            columns +=
                (*hints[i].key != '\0') + glyph_columns(hints[i].word, strlen(hints[i].word));
    }
    return columns;
}

/* Shortens or drops the lightest; false: one is left. */
static bool shrink(struct hint *hints, size_t *count)
{
    size_t lightest = 0;

    if (*count <= 1)
        return false;
    for (size_t i = 1; i < *count; i++) {
        if (hints[i].weight < hints[lightest].weight)
            lightest = i;
    }
    if (hints[lightest].is_terse && hints[lightest].word) {
        hints[lightest].word = NULL;
        hints[lightest].weight += 5; /* a bare key is cheap to keep */
        return true;
    }
    memmove(hints + lightest, hints + lightest + 1, (*count - lightest - 1) * sizeof *hints);
    --*count;
    return true;
}

void draw_hint_row(struct pen *pen, const struct hint *hints, size_t count)
{
    struct hint row[HINTS_MAX];
    int column = pen->left;

    if (count > HINTS_MAX)
        count = HINTS_MAX;
    memcpy(row, hints, count * sizeof *row);
    while (column + row_columns(row, count) > pen->end && shrink(row, &count))
        ;
    for (size_t i = 0; i < count; i++) {
        column = pen_at(pen, column, INK_ACCENT, row[i].key);
        if (row[i].word && *row[i].word)
            column = pen_at(pen, column + (*row[i].key != '\0'), INK_QUIET, row[i].word);
        column += 2;
    }
    pen->row++;
}

static const char *say(enum text_id text)
{
    return i18n_text(text);
}

void draw_reading_hints(struct pen *pen, bool scrolls)
{
    const struct hint hints[] = {
        { "j k PgUp PgDn", say(TEXT_TUI_KEY_SCROLL_SHORT), 8, false },
        { "Esc", say(TEXT_TUI_KEY_BACK), 9, false },
    };

    draw_hint_row(pen, scrolls ? hints : hints + 1, scrolls ? 2 : 1);
}

/* What Enter sends: the number of ticks in multi, else nothing to add. */
static void add_send(const struct ask_screen *screen, const struct field_state *state,
                     struct text *out)
{
    if (ask_enter_ticks(screen, state))
        text_add_text(out, say(TEXT_TUI_KEY_TICK));
    else if (screen->form.field_count > 1)
        text_add_text(out, say(TEXT_TUI_KEY_NEXT));
    else if (ask_needs_code(screen))
        text_add_text(out, say(TEXT_TUI_KEY_GO_ON));
    else if (class_of(state->field)->has_options && !list_is_one_of_many(state) &&
             !class_of(state->field)->has_words)
        i18n_format(out, TEXT_TUI_KEY_SEND_COUNT, "count",
                    TEXT_NUMBER((int64_t)list_picked_count(state)), NULL);
    else
        text_add_text(out, say(TEXT_TUI_KEY_SEND));
}

/* A row of hints as it is made. */
struct row {
    const struct ask_screen *screen;
    struct hint hints[HINTS_MAX];
    size_t count;
};

/* A letter does nothing while single_keys is off (ask_keys.c). */
static void add(struct row *row, bool is_there, const char *key, const char *word, int weight)
{
    bool is_letter = key[0] >= 'a' && key[0] <= 'z' && key[1] == '\0';
    bool is_dead = is_letter && !preferences_is_on(&row->screen->preferences, SETTING_SINGLE_KEYS);

    if (is_there && !is_dead && row->count < HINTS_MAX)
        row->hints[row->count++] = (struct hint){ .key = key, .word = word, .weight = weight };
}

void draw_list_hints(const struct ask_screen *screen, const struct field_state *state,
                     struct pen *pen)
{
    bool is_many = !list_is_one_of_many(state), is_step = screen->form.field_count > 1;
    bool has_preview = ask_preview(screen) != NULL, has_notes = ask_has_notes(screen);
    bool is_narrow = pen->end < SCREEN_NARROW, is_confirm = class_of(state->field)->is_yes_no;
    bool has_letters = preferences_is_on(&screen->preferences, SETTING_SINGLE_KEYS);
    int options = (int)list_numbered_count(state);
    struct text send = { 0 }, range = { 0 };
    struct row row = { .screen = screen };

    add_send(screen, state, &send);
    text_add_format(&range, "1-%d", options);
    add(&row, is_confirm && has_letters, "y n", say(TEXT_TUI_KEY_ANSWER), 9);
    add(&row, is_many, say(TEXT_TUI_SPACE), say(TEXT_TUI_KEY_TICK), 9);
    add(&row, true,
        !is_step    ? "Enter"
        : is_narrow ? say(TEXT_TUI_RIGHT_KEY)
                    : say(TEXT_TUI_RIGHT_OR_ENTER),
        text_string(&send), 10);
    add(&row, is_step, say(TEXT_TUI_LEFT_KEY), say(TEXT_TUI_KEY_BACK), 2);
    add(&row, has_preview, "p", say(is_narrow ? TEXT_TUI_KEY_SCROLL_SHORT : TEXT_TUI_KEY_SCROLL),
        7);
    add(&row, has_preview, "v", say(is_narrow ? TEXT_TUI_KEY_FULL_SHORT : TEXT_TUI_KEY_FULL), 6);
    add(&row, has_preview && !is_narrow, "< >", say(TEXT_TUI_KEY_RESIZE), 2);
    add(&row, !has_preview && !is_many && !is_step && !is_confirm, text_string(&range),
        say(TEXT_TUI_KEY_PICK), 3);
    add(&row, !has_preview && has_notes, "Tab", say(TEXT_TUI_KEY_NOTE), 6);
    add(&row, !has_preview && has_notes && !is_many && !is_step && !is_confirm, "n",
        say(TEXT_TUI_KEY_COMMON_NOTE), 2);
    add(&row, !has_preview && is_many && !is_step, "a", say(TEXT_TUI_KEY_ALL), 2);
    add(&row, !has_preview && is_many && !is_step, "x", say(TEXT_TUI_KEY_NONE), 2);
    add(&row, !has_preview && !is_many && !is_step && ask_has_portal(screen), "w",
        say(TEXT_TUI_KEY_BROWSER), 2);
    add(&row, true, "Esc", say(TEXT_TUI_KEY_CANCEL), 5);
    row.hints[row.count - 1].is_terse = !is_many && !has_preview;
    add(&row, true, "?", say(TEXT_TUI_KEY_KEYS), 8);
    draw_hint_row(pen, row.hints, row.count);
    text_release(&send);
    text_release(&range);
}

static void words_hints(const struct ask_screen *screen, const struct field_state *state,
                        struct pen *pen)
{
    bool is_one_line = ask_is_one_line(screen, state->field);
    bool is_step = screen->form.field_count > 1;
    struct row row = { .screen = screen };

    add(&row, true, is_one_line ? "Enter" : "Ctrl-D",
        say(is_step ? TEXT_TUI_KEY_NEXT : TEXT_TUI_KEY_SEND), 10);
    add(&row, is_one_line, "Tab", say(TEXT_TUI_KEY_COMMON_NOTE), 4);
    add(&row, !is_one_line, "Enter", say(TEXT_TUI_KEY_NEW_LINE), 5);
    add(&row, true, "Esc",
        say(!class_of(state->field)->has_options ? TEXT_TUI_KEY_COMMANDS
            : pen->end < SCREEN_NARROW           ? TEXT_TUI_KEY_BACK
                                                 : TEXT_TUI_KEY_BACK_TO_LIST),
        8);
    add(&row, true, "Ctrl-U", say(TEXT_TUI_KEY_CLEAR), is_one_line ? 3 : 4);
    add(&row, true, "", screen->is_draft_saved ? say(TEXT_TUI_DRAFT_SAVED) : "", 7);
    draw_hint_row(pen, row.hints, row.count);
}

void draw_number_hints(const struct ask_screen *screen, const struct field_state *state,
                       struct pen *pen)
{
    bool is_rating = state->field->style == NUMBER_RATING, is_narrow = pen->end < SCREEN_NARROW;
    bool is_step = screen->form.field_count > 1;
    struct text step = { 0 }, page = { 0 }, stars = { 0 };
    struct row row = { .screen = screen };

    ask_add_number(&step, ask_number_step(state->field));
    ask_add_number(&page, ask_number_step(state->field) * 10);
    text_add_format(&stars, "1-%d%s%s", (int)state->field->maximum, is_narrow ? "" : " ",
                    is_narrow ? "" : say(TEXT_TUI_OR_SIDEWAYS));
    add(&row, is_rating, text_string(&stars), say(TEXT_TUI_KEY_RATE), 9);
    add(&row, !is_rating, say(TEXT_TUI_SIDEWAYS), text_string(&step), 9);
    add(&row, !is_rating, "PgUp/PgDn", text_string(&page), 3);
    add(&row, !is_rating && is_step, say(TEXT_TUI_UP_DOWN), say(TEXT_TUI_KEY_QUESTION), 6);
    add(&row, !is_rating && !is_step, "Home End", NULL, 2);
    add(&row, !is_rating, "0-9", say(TEXT_TUI_KEY_TYPE), 7);
    add(&row, true, "Enter", say(is_step ? TEXT_TUI_KEY_NEXT : TEXT_TUI_KEY_SEND), 10);
    add(&row, is_rating, "n", say(TEXT_TUI_KEY_NOTE), 6);
    add(&row, is_rating, "Esc", say(TEXT_TUI_KEY_CANCEL), 5);
    add(&row, true, "?", say(TEXT_TUI_KEY_KEYS), is_rating ? 8 : 4);
    draw_hint_row(pen, row.hints, row.count);
    text_release(&step);
    text_release(&page);
    text_release(&stars);
}

/* Of a text that is not being written, and of all answers before they are sent. */
static void add_closing(struct row *row)
{
    add(row, true, "n", say(TEXT_TUI_KEY_COMMON_NOTE), 3);
    add(row, true, "Esc", say(TEXT_TUI_KEY_CANCEL), 5);
    add(row, true, "?", say(TEXT_TUI_KEY_KEYS), 8);
}

void draw_text_hints(const struct ask_screen *screen, const struct field_state *state,
                     struct pen *pen)
{
    struct row row = { .screen = screen };

    (void)state;
    add(&row, true, "o", say(TEXT_TUI_KEY_WRITE), 9);
    add(&row, true, "Ctrl-D", say(TEXT_TUI_KEY_SEND), 10);
    add_closing(&row);
    draw_hint_row(pen, row.hints, row.count);
}

static void review_hints(const struct ask_screen *screen, struct pen *pen)
{
    const char *count = TEXT_NUMBER((int64_t)screen->form.field_count);
    struct text send = { 0 }, range = { 0 };
    struct row row = { .screen = screen };

    text_add_format(&range, "1-%s", count);
    i18n_format(&send, TEXT_TUI_KEY_SEND_ALL, "count", count, NULL);
    add(&row, true, "Enter", text_string(&send), 10);
    add(&row, true, text_string(&range), say(TEXT_TUI_KEY_CHANGE), 7);
    add_closing(&row);
    draw_hint_row(pen, row.hints, row.count);
    text_release(&send);
    text_release(&range);
}

static void note_hints(const struct ask_screen *screen, struct pen *pen)
{
    const struct hint hints[] = {
        { "Tab", say(screen->focus == FOCUS_NOTE ? TEXT_TUI_KEY_TO_COMMON : TEXT_TUI_KEY_TO_LIST),
          8, false },
        { "Enter", say(TEXT_TUI_KEY_DONE), 4, false },
        { "Ctrl-D",
          say(screen->form.field_count > 1 && ask_field(screen) ? TEXT_TUI_KEY_NEXT
                                                                : TEXT_TUI_KEY_SEND),
          10, false },
        { "Esc", say(TEXT_TUI_KEY_DROP_NOTE), 6, true },
    };

    draw_hint_row(pen, hints, ARRAY_LEN(hints));
}

static void filter_hints(const struct ask_screen *screen, struct pen *pen)
{
    bool is_many = !list_is_one_of_many(ask_field(screen)), is_narrow = pen->end < SCREEN_NARROW;
    const struct hint hints[] = {
        { say(TEXT_TUI_SPACE), say(is_many ? TEXT_TUI_KEY_TICK : TEXT_TUI_KEY_PICK), 9, false },
        { "Enter", say(TEXT_TUI_KEY_KEEP_FILTER), 4, false },
        { "Esc", say(is_narrow ? TEXT_TUI_KEY_CLEAR : TEXT_TUI_KEY_CLEAR_FILTER), 8, false },
        { "Ctrl-A", say(TEXT_TUI_KEY_TICK_SHOWN), is_many ? 3 : 0, false },
    };

    draw_hint_row(pen, hints, is_many ? 4 : 3);
}

/* What the hub will do at the end, by the same rule as it (engine/time.c). */
static bool sends_defaults(const struct ask_screen *screen)
{
    const char *action = preferences_value(&screen->preferences, SETTING_TIMEOUT_ACTION);

    return strcmp(action, "submit_defaults") == 0 && form_has_enough_defaults(&screen->form);
}

/* Under ten seconds the keys give way to what will happen, and the key against it. */
static bool urgent_hints(const struct ask_screen *screen, struct pen *pen)
{
    int64_t left_ms = ask_left_ms(screen);
    bool is_narrow = pen->end < SCREEN_NARROW;
    struct text line = { 0 };
    enum text_id words = is_narrow ? TEXT_TUI_URGENT_SHORT : TEXT_TUI_URGENT;

    if (sends_defaults(screen))
        words = is_narrow ? TEXT_TUI_URGENT_DEFAULTS_SHORT : TEXT_TUI_URGENT_DEFAULTS;
    if (left_ms < 0 || left_ms >= 10000 || screen->phase != PHASE_OPEN)
        return false;
    i18n_format(&line, words, "seconds", TEXT_NUMBER((left_ms + 999) / 1000), NULL);
    pen_line(pen, pen->left, INK_DANGER, text_string(&line));
    text_release(&line);
    return true;
}

static bool dialog_hints(const struct ask_screen *screen, struct pen *pen)
{
    const struct hint lost[] = {
        { "r", say(TEXT_TUI_KEY_TRY_NOW), 9, false },
        { "Ctrl-C", say(pen->end < SCREEN_NARROW ? TEXT_TUI_KEY_LEAVE : TEXT_TUI_KEY_LEAVE_OPEN), 8,
          false },
    };
    const struct hint preview[] = {
        { "j k PgUp PgDn", say(TEXT_TUI_KEY_SCROLL_SHORT), 8, false },
        { "v", say(TEXT_TUI_KEY_FULL), 5, false },
        { "p", say(TEXT_TUI_KEY_BACK_TO_LIST), 9, false },
    };
    const struct hint time[] = {
        { "Enter", say(TEXT_TUI_KEY_ADD_TIME), 9, false },
        { "Esc", say(TEXT_TUI_KEY_BACK), 8, false },
    };

    if (screen->is_lost)
        draw_hint_row(pen, lost, ARRAY_LEN(lost));
    else if (screen->focus == FOCUS_PREVIEW)
        draw_hint_row(pen, preview, ARRAY_LEN(preview));
    else if (screen->focus == FOCUS_TIME)
        draw_hint_row(pen, time, ARRAY_LEN(time));
    else
        return false;
    return true;
}

void draw_hints(const struct ask_screen *screen, struct pen *pen)
{
    const struct field_state *state = ask_field(screen);

    if (dialog_hints(screen, pen) || urgent_hints(screen, pen))
        return;
    if (!preferences_is_on(&screen->preferences, SETTING_NAVIGATION_HINTS)) {
        draw_hint_row(pen, &(struct hint){ "?", say(TEXT_TUI_KEY_KEYS), 1, false }, 1);
        return;
    }
    if (screen->focus == FOCUS_NOTE || screen->focus == FOCUS_COMMON)
        note_hints(screen, pen);
    else if (screen->focus == FOCUS_FILTER)
        filter_hints(screen, pen);
    else if (!state)
        review_hints(screen, pen);
    else if (screen->focus == FOCUS_WORDS)
        words_hints(screen, state, pen);
    else
        view_of(state)->hints(screen, state, pen);
}

/* All keys, as a table in the words of the person. */

static const struct {
    const char *keys;
    enum text_id words;
} rows[] = {
    { "j k", TEXT_TUI_HELP_MOVE },     { "1-9", TEXT_TUI_HELP_PICK },
    { "y n", TEXT_TUI_HELP_YES_NO },   { "Space", TEXT_TUI_HELP_TICK },
    { "Enter", TEXT_TUI_HELP_SEND },   { "Ctrl-D", TEXT_TUI_HELP_SEND_TEXT },
    { "Tab", TEXT_TUI_HELP_NOTE },     { "n", TEXT_TUI_HELP_COMMON },
    { "o", TEXT_TUI_HELP_OWN },        { "/", TEXT_TUI_HELP_FILTER },
    { "a x", TEXT_TUI_HELP_ALL },      { "- H", TEXT_TUI_HELP_HIDE },
    { "m", TEXT_TUI_HELP_PROMPT },     { "p v", TEXT_TUI_HELP_PREVIEW },
    { "e E", TEXT_TUI_HELP_TIME },     { "s", TEXT_TUI_KEY_SETTINGS },
    { "w", TEXT_TUI_HELP_BROWSER },    { "l", TEXT_TUI_HELP_LATER },
    { "b", TEXT_TUI_HELP_BACK },       { "[ ]", TEXT_TUI_HELP_NEIGHBOUR },
    { "c h", TEXT_TUI_HELP_INBOX },    { "a", TEXT_TUI_HELP_STANDING },
    { "u", TEXT_TUI_HELP_UNDO },       { "Esc q", TEXT_TUI_HELP_CANCEL },
    { "Ctrl-C", TEXT_TUI_HELP_LEAVE }, { "Ctrl-Z", TEXT_TUI_HELP_SUSPEND },
};

int draw_help(struct pen *pen, int rows_max, int scroll)
{
    const struct hint hints[] = {
        { "j k", i18n_text(TEXT_TUI_KEY_SCROLL_SHORT), 5, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 9, false },
    };
    int columns = pen->end >= 100 ? 2 : 1, count = (int)ARRAY_LEN(rows);
    int half = (count + columns - 1) / columns, room = rows_max - 4 > 1 ? rows_max - 4 : 1;
    int shown = half < room ? half : room, top;

    pen_at(pen, pen->left, INK_STRONG, i18n_text(TEXT_TUI_HELP));
    pen->row += 2;
    top = pen->row;
    for (int i = 0; i < count; i++) {
        bool is_right = i >= half;
        int column = pen->left + (is_right ? pen->end / 2 : 0);
        int end = columns == 2 && !is_right ? pen->end / 2 : pen->end;
        int row = (is_right ? i - half : i) - scroll;

        if (row < 0 || row >= shown)
            continue;
        pen->row = top + row;
        pen_at(pen, column, INK_ACCENT, rows[i].keys);
        pen_cut(pen, column + 8, end, INK_PLAIN, i18n_text(rows[i].words), ">");
    }
    pen->row = top + shown + 1;
    draw_hint_row(pen, half > shown ? hints : hints + 1, half > shown ? 2 : 1);
    return half - shown;
}
