/* ask_header.c - what is ours alone on the screen: title row, rail, facts, configuration (R6.4). */
#include <string.h>

#include "core/glyph.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/ask_state.h"
#include "tui/draw.h"

enum { WARN_MS = 60000, URGENT_MS = 10000, DIRECTORY_MIN = 12 };

enum ink draw_clock_ink(int64_t left_ms)
{
    if (left_ms < 0)
        return INK_QUIET;
    return left_ms < URGENT_MS ? INK_DANGER : left_ms < WARN_MS ? INK_WARN : INK_PLAIN;
}

static enum ink clock_ink(const struct ask_screen *screen)
{
    return screen->is_lost ? INK_QUIET : draw_clock_ink(ask_left_ms(screen));
}

static void add_clock(const struct ask_screen *screen, struct text *out)
{
    int64_t left_ms = ask_left_ms(screen);
    struct text clock = { 0 };

    if (screen->is_lost) {
        text_add_text(out, "-:--");
        return;
    }
    if (left_ms < 0)
        return;
    facts_add_clock(&clock, (left_ms + 999) / 1000 * 1000);
    if (ask_is_held(screen))
        i18n_format(out, TEXT_TUI_HELD, "time", text_string(&clock), NULL);
    else if (left_ms < URGENT_MS)
        i18n_format(out, TEXT_TUI_LEFT, "time", text_string(&clock), NULL);
    else
        text_add(out, text_string(&clock), clock.used);
    text_release(&clock);
}

static void add_asked(const struct ask_screen *screen, struct text *out)
{
    struct text when = { 0 };

    facts_add_when(&when, screen->facts.created_utc_ms, screen->now.utc_ms);
    i18n_format(out, TEXT_TUI_ASKED, "time", text_string(&when), NULL);
    text_release(&when);
}

void draw_rail(const struct ask_screen *screen, struct pen *pen, bool is_plain)
{
    int64_t left_ms = ask_left_ms(screen), total_ms = screen->facts.total_ms;
    int columns = pen->canvas->columns, left = columns;

    if (is_plain || screen->is_lost)
        left = 0;
    else if (left_ms >= 0 && total_ms > 0)
        left = (int)((left_ms * columns + total_ms / 2) / total_ms);
    for (int i = 0; i < columns; i++) {
        enum ink ink = clock_ink(screen) == INK_PLAIN ? INK_ACCENT : clock_ink(screen);

        canvas_put_text(pen->canvas, pen->row, i, columns, i < left ? ink : INK_QUIET,
                        i < left ? screen->marks->left : screen->marks->gone);
    }
    pen->row++;
}

/* Where the title must end, so that it never reaches the clock's place at the right. */
static int title_end(const struct pen *pen, const struct text *clock, const struct text *asked)
{
    int end = pen->end - draw_columns(clock) - (clock->used > 0 ? 2 : 0);

    if (pen->end < SCREEN_NARROW)
        return clock->used <= 5 ? end - 1 : end;
    return end - draw_columns(asked) - 2;
}

bool draw_cuts_title(const struct ask_screen *screen, const struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    const char *flag = i18n_text(TEXT_TUI_DESTRUCTIVE), *title = ask_title(screen);
    struct text clock = { 0 }, asked = { 0 };
    int column = pen->left;
    bool is_cut;

    if (form_may_destroy(&screen->form) && is_narrow)
        return false; /* it has rows of its own */
    if (form_may_destroy(&screen->form))
        column += 2 + glyph_columns(flag, strlen(flag)) + 2;
    add_clock(screen, &clock);
    add_asked(screen, &asked);
    is_cut = column + glyph_columns(title, strlen(title)) > title_end(pen, &clock, &asked);
    text_release(&clock);
    text_release(&asked);
    return is_cut;
}

void draw_header(const struct ask_screen *screen, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW, is_flagged = form_may_destroy(&screen->form);
    struct text clock = { 0 }, asked = { 0 };
    int end, column = pen->left;

    add_clock(screen, &clock);
    add_asked(screen, &asked);
    end = title_end(pen, &clock, &asked);
    pen_right(pen, clock_ink(screen), text_string(&clock));
    if (!is_narrow)
        pen_at(pen, end + 2, INK_QUIET, text_string(&asked));
    if (is_flagged)
        column = pen_at(pen, pen_at(pen, column, INK_DANGER, "! "), INK_DANGER,
                        i18n_text(TEXT_TUI_DESTRUCTIVE)) +
                 2;
    if (!is_flagged || !is_narrow)
        pen_cut(pen, column, end, INK_STRONG, ask_title(screen), screen->marks->cut_end);
    pen->row++;
    draw_rail(screen, pen, false);
    if (is_flagged && is_narrow)
        pen_lines(pen, INK_STRONG, ask_title(screen));
    text_release(&clock);
    text_release(&asked);
}

/* The end of a path says more than its beginning. */
static void put_directory(const struct ask_screen *screen, struct pen *pen, int column, int end)
{
    const char *directory = screen->facts.directory;
    size_t length = strlen(directory), at = 0;

    if (column + glyph_columns(directory, length) <= end) {
        pen_at(pen, column, INK_QUIET, directory);
        return;
    }
    while (at < length && column + 1 + glyph_columns(directory + at, length - at) > end)
        at += glyph_first(directory + at, length - at).bytes;
    pen_at(pen, column, INK_QUIET, screen->marks->cut_start);
    pen_at(pen, column + 1, INK_QUIET, directory + at);
}

void draw_facts(const struct ask_screen *screen, struct pen *pen)
{
    struct text agent = { 0 }, who = { 0 }, blocked = { 0 }, clock = { 0 };
    int64_t waited_ms = screen->now.utc_ms - screen->facts.created_utc_ms;
    int column, wanted;

    text_add_format(&agent, "\"%s\"", *screen->facts.agent ? screen->facts.agent : "?");
    facts_add_who(&who, &screen->facts, screen->setup.uid);
    facts_add_clock(&clock, waited_ms > 0 ? waited_ms : 0);
    i18n_format(&blocked, screen->facts.is_detached ? TEXT_STATE_DETACHED : TEXT_BLOCKED, "time",
                text_string(&clock), NULL);
    column = pen_cut(pen, pen->left, pen->end - draw_columns(&who) - 2, INK_PLAIN,
                     text_string(&agent), screen->marks->cut_end) +
             2;
    column = pen_at(pen, column, INK_QUIET, text_string(&who)) + 2;
    wanted = *screen->facts.directory ? DIRECTORY_MIN + 2 : 0;
    if (column + wanted + draw_columns(&blocked) > pen->end) {
        pen->row++;
        column = pen->left;
    }
    if (wanted > 0) {
        int end = pen->end - draw_columns(&blocked) - 2;

        put_directory(screen, pen, column, end);
        column += glyph_columns(screen->facts.directory, strlen(screen->facts.directory));
        column = (column > end ? end : column) + 2;
    }
    pen_line(pen, column, INK_QUIET, text_string(&blocked));
    text_release(&agent);
    text_release(&who);
    text_release(&blocked);
    text_release(&clock);
}

static enum text_id sending_words(const struct ask_screen *screen, bool is_narrow)
{
    if (form_may_destroy(&screen->form))
        return TEXT_TUI_TWO_ACTS;
    if (ask_sends_at_once(screen))
        return is_narrow ? TEXT_TUI_AT_ONCE : TEXT_TUI_SENDS_AT_ONCE;
    return is_narrow ? TEXT_TUI_ENTER : TEXT_TUI_WAITS_FOR_ENTER;
}

/* What is in force for this ask and the key that changes it. */
void draw_strip(const struct ask_screen *screen, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    struct text line = { 0 }, time = { 0 }, key = { 0 };
    const char *notes = i18n_text(ask_has_notes(screen) ? TEXT_ON : TEXT_OFF);
    int64_t total_s = screen->facts.total_ms / 1000; /* what is left was rounded up */

    if (total_s > 0)
        facts_add_duration(&time, total_s);
    else
        text_add_text(&time, "-");
    i18n_format(&line, is_narrow ? TEXT_TUI_STRIP_NARROW : TEXT_TUI_STRIP, "interface",
                facts_interface(&screen->facts), "time", text_string(&time), "sending",
                i18n_text(sending_words(screen, is_narrow)), "notes",
                is_narrow ? i18n_text(ask_has_notes(screen) ? TEXT_TUI_NOTES_ON_SHORT
                                                            : TEXT_TUI_NOTES_OFF_SHORT)
                          : notes,
                "language",
                is_narrow && i18n_language() == LANGUAGE_EN ? language_tag(i18n_language())
                                                            : language_name(i18n_language()),
                NULL);
    if (preferences_is_on(&screen->preferences, SETTING_SINGLE_KEYS))
        text_add_format(&key, is_narrow ? "s" : "s %s", i18n_text(TEXT_TUI_KEY_SETTINGS));
    pen_cut(pen, pen->left, pen->end - draw_columns(&key) - 1, INK_QUIET, text_string(&line),
            screen->marks->cut_end);
    pen_right(pen, INK_QUIET, text_string(&key));
    if (key.used > 0)
        pen_at(pen, pen->end - draw_columns(&key), INK_ACCENT, "s");
    pen->row++;
    text_release(&line);
    text_release(&time);
    text_release(&key);
}

/* Several questions: a tab for each, and the review that alone sends. */

enum { TAB_COLUMNS = 12 };

const char *ask_question(const struct field *shown)
{
    return shown->description && *shown->description ? shown->description
           : shown->label                            ? shown->label
                                                     : shown->name;
}

const char *ask_title(const struct ask_screen *screen)
{
    const char *title = screen->form.title, *first = screen->form.fields[0].label;
    struct text counted = { 0 };
    bool is_question = false;

    text_add_format(&counted, "%s (+%zu)", first ? first : "", screen->form.field_count - 1);
    for (size_t i = 0; i < screen->form.field_count; i++)
        is_question = is_question || strcmp(ask_question(&screen->form.fields[i]), title) == 0;
    is_question = screen->form.field_count > 1 && ask_field(screen) &&
                  (is_question || strcmp(text_string(&counted), title) == 0);
    text_release(&counted);
    return is_question ? ask_question(ask_field(screen)->shown) : screen->shown.title;
}

static int draw_tab(const struct ask_screen *screen, struct pen *pen, int column, size_t i)
{
    bool is_here = screen->step == i, is_answered = ask_is_answered(screen, i);
    const struct field *field = &screen->shown.fields[i];
    const char *name = field->header && *field->header ? field->header
                       : field->label && *field->label ? field->label
                                                       : field->name;
    struct text mark = { 0 };
    int end;

    if (is_here)
        text_add_format(&mark, "%s %d", screen->marks->cursor, (int)i + 1);
    else if (is_answered)
        text_add_text(&mark, screen->marks->done);
    else
        text_add_integer(&mark, (int64_t)i + 1);
    column =
        pen_at(pen, column, is_here || is_answered ? INK_ACCENT : INK_QUIET, text_string(&mark)) +
        1;
    end = column + TAB_COLUMNS < pen->end ? column + TAB_COLUMNS : pen->end;
    column =
        pen_cut(pen, column, end, is_here ? INK_STRONG : INK_PLAIN, name, screen->marks->cut_end);
    text_release(&mark);
    return column;
}

void draw_tabs(const struct ask_screen *screen, struct pen *pen)
{
    int gap = pen->end < SCREEN_NARROW ? 2 : 4, column = pen->left;

    for (size_t i = 0; i < screen->form.field_count && column < pen->end; i++) {
        /* where they do not all fit, those behind the one that is open are numbers only */
        bool is_terse = gap == 2 && i > screen->step && !ask_is_answered(screen, i);

        column = is_terse ? pen_at(pen, column, INK_QUIET, TEXT_NUMBER((int64_t)i + 1))
                          : draw_tab(screen, pen, column, i);
        column += gap;
    }
    if (ask_is_review(screen))
        column = pen_at(pen, column, INK_ACCENT, screen->marks->cursor) + 1;
    pen_line(pen, column, ask_is_review(screen) ? INK_STRONG : INK_PLAIN,
             i18n_text(TEXT_TUI_REVIEW));
}

void draw_review(struct ask_screen *screen, struct pen *pen)
{
    for (size_t i = 0; i < screen->form.field_count; i++) {
        struct text words = { 0 };
        const char *question = ask_question(&screen->shown.fields[i]);
        int column = pen->left + 5;

        pen_at(pen, pen->left + 2, INK_ACCENT, TEXT_NUMBER((int64_t)i + 1));
        pen_lines_at(pen, column, INK_PLAIN, question);
        ask_describe(screen, i, &words);
        if (words.used == 0)
            text_add_text(&words, i18n_text(TEXT_TUI_NO_ANSWER));
        pen_lines_at(pen, column, INK_STRONG, text_string(&words));
        if (ask_has_notes(screen) && screen->fields[i].note.text.used > 0)
            draw_labelled_edit(pen, column, i18n_text(TEXT_TUI_NOTE), &screen->fields[i].note, 4,
                               false, NULL);
        if (screen->fields[i].problem.used > 0) {
            pen_lines_at(pen, column, INK_DANGER, text_string(&screen->fields[i].problem));
        }
        text_release(&words);
    }
}

/* What an option would look like: beside the list from 72 columns on, else below. */

enum { BESIDE_COLUMNS = 72, LIST_COLUMNS_MIN = 20, PANE_COLUMNS_MIN = 24 };

const struct markup *ask_preview(const struct ask_screen *screen)
{
    const struct field_state *state = ask_field(screen);

    return state && state->cursor < state->field->option_count ? state->previews[state->cursor]
                                                               : NULL;
}

int draw_pane_column(const struct ask_screen *screen, int columns)
{
    int column = columns * 3 / 8 - 1 + screen->pane_shift;

    if (columns < BESIDE_COLUMNS)
        return 0;
    if (column < LIST_COLUMNS_MIN)
        column = LIST_COLUMNS_MIN;
    return column > columns - PANE_COLUMNS_MIN ? columns - PANE_COLUMNS_MIN : column;
}

void draw_pane(struct ask_screen *screen, struct pen *pen, int rows)
{
    const struct markup *markup = ask_preview(screen);
    int top = pen->row, all;

    if (!markup || rows < 1)
        return;
    all = draw_markup(pen, markup, screen->scroll, rows);
    screen->scroll_max = all > rows ? all - rows : 0;
    if (all > rows || screen->focus == FOCUS_PREVIEW) {
        struct pen head = { pen->canvas, top, pen->left, pen->end };
        int last = screen->scroll + rows < all ? screen->scroll + rows : all;
        struct text line = { 0 };

        i18n_format(&line, TEXT_TUI_LINES, "first", TEXT_NUMBER(screen->scroll + 1), "last",
                    TEXT_NUMBER(last), "all", TEXT_NUMBER(all), NULL);
        if (draw_columns(&line) + 20 < pen->end - pen->left)
            pen_right(&head, INK_QUIET, text_string(&line));
        text_release(&line);
    }
}
