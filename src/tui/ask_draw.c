/*
 * ask_draw.c - the picture of a question, from pieces, in as many rows as there are.
 * Where it does not fit, in this order: descriptions of other options go, the prompt is cut, the
 * list becomes a window, then facts, then the configuration line. What is left out is one key away.
 */
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/draw.h"
#include "tui/field_view.h"
#include "tui/settings_panel.h"

enum { LIST_ROWS_MIN = 6, PROMPT_ROWS_MIN = 3, PANE_ROWS_MIN = 4, EVERYTHING = 1 << 20 };

void draw_lost(struct pen *pen, bool is_short, int64_t left_ms)
{
    struct text line = { 0 };

    i18n_format(&line, is_short ? TEXT_TUI_LOST_SHORT : TEXT_TUI_LOST, "seconds",
                TEXT_NUMBER(left_ms > 0 ? (left_ms + 999) / 1000 : 0), NULL);
    pen_lines(pen, INK_WARN, text_string(&line));
    text_release(&line);
}

static bool is_glyph(const struct canvas *canvas, int row, int column)
{
    const struct cell *cell = canvas_cell(canvas, row, column);

    return cell->length > 1 || (cell->length == 1 && canvas->bytes.bytes[cell->offset] != ' ');
}

/* The last row of a cut prompt says so, and how to see the rest. */
static void draw_more(const struct ask_screen *screen, struct pen *pen, int row)
{
    const char *word = i18n_text(TEXT_TUI_KEY_MORE);
    int column = pen->end - 4 - 1 - glyph_columns(word, strlen(word));
    int last = canvas_row_end(pen->canvas, row);

    if (last < pen->left)
        last = pen->left;
    if (last < column)
        column = last;
    while (column > pen->left + 1 && column < last && is_glyph(pen->canvas, row, column))
        column--;
    for (int i = column; i < last; i++)
        canvas_put_text(pen->canvas, row, i, pen->end, INK_PLAIN, " ");
    column = canvas_put_text(pen->canvas, row, column, pen->end, INK_QUIET, screen->marks->cut_end);
    column = canvas_put_text(pen->canvas, row, column + 2, pen->end, INK_ACCENT, "m");
    canvas_put_text(pen->canvas, row, column + 1, pen->end, INK_QUIET, word);
}

static void draw_prompt(struct ask_screen *screen, struct pen *pen, const struct draw_plan *plan)
{
    int all;

    if (!screen->prompt || plan->prompt_rows == 0)
        return;
    all = draw_markup(pen, screen->prompt, 0, plan->prompt_rows);
    if (all > plan->prompt_rows)
        draw_more(screen, pen, pen->row - 1);
    pen->row++;
}

/* The preview beside the list, or below it. */
static void draw_list_with_pane(struct ask_screen *screen, struct field_state *state,
                                struct pen *pen, const struct draw_plan *plan)
{
    int column = draw_pane_column(screen, pen->canvas->columns), top = pen->row;
    struct pen list = { pen->canvas, top, pen->left, column > 0 ? column - 1 : pen->end };
    struct pen pane = { pen->canvas, top, column + 2, pen->end };

    draw_list(screen, state, &list, plan);
    if (column == 0) {
        list.row++;
        draw_rail(screen, &list, true);
        pane.row = list.row;
        pane.left = pen->left;
        draw_pane(screen, &pane, plan->pane_rows);
        screen->pane_rows = plan->pane_rows;
        pen->row = list.row + plan->pane_rows > pane.row ? pane.row : list.row + plan->pane_rows;
        return;
    }
    draw_pane(screen, &pane, list.row - top > plan->pane_rows ? list.row - top : plan->pane_rows);
    pen->row = list.row > pane.row ? list.row : pane.row;
    screen->pane_rows = pen->row - top;
    for (int row = top; row < pen->row; row++)
        canvas_put_text(pen->canvas, row, column, pen->end, INK_QUIET, screen->marks->divider);
}

void draw_options(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                  const struct draw_plan *plan)
{
    bool has_preview = false;

    for (size_t i = 0; i < state->field->option_count; i++)
        has_preview = has_preview || state->previews[i];
    if (has_preview)
        draw_list_with_pane(screen, state, pen, plan);
    else
        draw_list(screen, state, pen, plan);
}

/* In the question of several: its words, and at the right how many may be chosen. */
static void draw_question(const struct ask_screen *screen, const struct field_state *state,
                          struct pen *pen)
{
    const char *words = ask_question(state->shown);
    struct text rule = { 0 };

    if (screen->form.field_count == 1 || class_of(state->field)->is_number)
        return;
    if (state->field->option_count > 0 && !list_is_one_of_many(state))
        list_add_rule(state, &rule);
    if (glyph_columns(words, strlen(words)) + draw_columns(&rule) + 2 < pen->end - pen->left)
        pen_right(pen, INK_QUIET, text_string(&rule));
    if (ask_title(screen) != words || draw_cuts_title(screen, pen))
        pen_lines(pen, INK_STRONG, words);
    else if (rule.used > 0)
        pen->row++;
    text_release(&rule);
}

static bool shows_common_note(const struct ask_screen *screen)
{
    const struct field_state *state = ask_field(screen);
    bool is_rating = state && state->field->style == NUMBER_RATING && !screen->is_tight;

    return ask_has_notes(screen) &&
           ((screen->focus == FOCUS_NOTE && !screen->is_lost) || screen->focus == FOCUS_COMMON ||
            screen->common.text.used > 0 || is_rating);
}

static void draw_question_note(struct ask_screen *screen, struct pen *pen)
{
    struct edit *note = screen->form.field_count > 1 ? ask_note(screen) : NULL;
    bool has_focus = screen->focus == FOCUS_NOTE;

    if (!note || (!has_focus && note->text.used == 0))
        return;
    pen->row++;
    draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_QUESTION_NOTE), note, 4, has_focus, NULL);
}

static void draw_second_act(struct ask_screen *screen, struct pen *pen)
{
    struct field_state *state = &screen->fields[0];
    bool is_narrow = pen->end < SCREEN_NARROW;
    struct text words = { 0 }, line = { 0 };
    const char *id = "";

    ask_describe_all(screen, &words);
    for (size_t i = 0; screen->form.field_count == 1 && i < state->field->option_count; i++) {
        if (state->is_picked[i] && form_option_destroys(&screen->form, &state->field->options[i]))
            id = state->shown->options[i].id;
    }
    i18n_format(&line,
                is_narrow ? TEXT_TUI_SECOND_ACT_SHORT
                : *id     ? TEXT_TUI_SECOND_ACT
                          : TEXT_TUI_SECOND_ACT_PLAIN,
                "answer", text_string(&words), "id", id, NULL);
    pen->row++;
    pen_lines(pen, INK_DANGER, text_string(&line));
    text_clear(&line);
    i18n_format(&line, TEXT_TUI_TYPE_CODE, "code", screen->challenge, NULL);
    draw_labelled_edit(pen, pen->left, text_string(&line), &screen->code, 1, true, NULL);
    pen->row++;
    pen_text(pen, (enum ink)screen->said_ink, &screen->said);
    pen_lines(pen, INK_QUIET, i18n_text(is_narrow ? TEXT_TUI_CODE_BACK_SHORT : TEXT_TUI_CODE_BACK));
    text_release(&words);
    text_release(&line);
}

static void draw_messages(struct ask_screen *screen, struct pen *pen)
{
    pen_text(pen, INK_DANGER, &screen->problem);
    if (screen->phase == PHASE_SENDING)
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_TUI_SENDING));
    if (screen->focus == FOCUS_TIME)
        draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_MINUTES), &screen->minutes, 1, true,
                           NULL);
    if (screen->said.used > 0 && screen->focus != FOCUS_CODE)
        pen_lines(pen, (enum ink)screen->said_ink, text_string(&screen->said));
}

/* Where the title is the whole question, or names what would be destroyed, all of it is read. */
static bool is_title_needed(const struct ask_screen *screen, const struct pen *pen)
{
    return screen->form.field_count == 1 && !screen->is_lost &&
           (!screen->prompt || form_may_destroy(&screen->form)) && draw_cuts_title(screen, pen);
}

static void draw_above(struct ask_screen *screen, struct pen *pen, const struct draw_plan *plan)
{
    bool is_review = ask_is_review(screen), is_narrow = pen->end < SCREEN_NARROW;
    struct text answered = { 0 };

    draw_header(screen, pen);
    if (screen->is_lost)
        draw_lost(pen, is_narrow, screen->retry_mono_ms - screen->now.mono_ms);
    if (screen->is_lost && is_narrow)
        pen_lines(pen, INK_WARN, i18n_text(TEXT_TUI_KEPT));
    if (plan->has_facts && !is_review && !screen->is_lost)
        draw_facts(screen, pen);
    if (screen->facts.is_asked_back && !screen->is_lost)
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_TUI_ASKED_BACK));
    else if (screen->facts.is_detached && !screen->is_lost)
        pen_lines(pen, INK_WARN, i18n_text(TEXT_TUI_AGENT_GONE));
    if (!screen->is_lost)
        facts_add_answered(&answered, screen->form.answered_ms, screen->now.utc_ms);
    pen_text(pen, INK_WARN, &answered);
    text_release(&answered);
    if (screen->is_sensitive)
        pen_lines(pen, INK_WARN, i18n_text(TEXT_MENTIONS_SECRET));
    if (screen->flags & (VISIBLE_BIDI | VISIBLE_INVISIBLE | VISIBLE_MIXED_SCRIPT))
        pen_lines(pen, INK_WARN, i18n_text(TEXT_TUI_STRANGE_TEXT));
    if (plan->has_facts || plan->has_strip || screen->focus != FOCUS_FILTER)
        pen->row++;
    if (is_title_needed(screen, pen)) {
        pen_lines(pen, INK_STRONG, screen->shown.title);
        pen->row++;
    }
    if (!screen->is_lost && !is_review)
        draw_prompt(screen, pen, plan);
    if (!screen->is_lost && !is_review)
        draw_talk(screen, pen);
    if (plan->has_strip && !screen->is_lost && !is_review) {
        draw_strip(screen, pen);
        pen->row++;
    }
    if (screen->form.field_count > 1) {
        draw_tabs(screen, pen);
        pen->row++;
    }
}

static void draw_whole(struct ask_screen *screen, struct pen *pen, const struct draw_plan *plan)
{
    struct field_state *state = ask_field(screen);

    draw_above(screen, pen, plan);
    if (state) {
        draw_question(screen, state, pen);
        view_of(state)->draw(screen, state, pen, plan);
        pen_text(pen, INK_DANGER, &state->problem);
    } else {
        draw_review(screen, pen);
    }
    draw_question_note(screen, pen);
    if (shows_common_note(screen)) {
        pen->row++;
        draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_COMMON_NOTE), &screen->common, 4,
                           screen->focus == FOCUS_COMMON, NULL);
    }
    if (screen->focus == FOCUS_CODE) {
        draw_second_act(screen, pen);
        return;
    }
    pen->row++;
    draw_messages(screen, pen);
    if (screen->focus == FOCUS_SNOOZE)
        snooze_draw(pen);
    else
        draw_hints(screen, pen);
}

/* A trial with few rows does not move the list's window. */
static int measure(struct ask_screen *screen, int columns, const struct draw_plan *plan)
{
    struct field_state *state = ask_field(screen);
    size_t top = state ? state->top : 0;
    struct canvas scratch = { 0 };
    struct pen pen = { .canvas = &scratch, .left = 1, .end = columns - 1 };

    canvas_reset(&scratch, columns);
    draw_whole(screen, &pen, plan);
    canvas_release(&scratch);
    if (state)
        state->top = top;
    return pen.row;
}

static int count_prompt_rows(const struct ask_screen *screen, int columns)
{
    struct canvas scratch = { 0 };
    struct pen pen = { .canvas = &scratch, .left = 1, .end = columns - 1 };
    int rows;

    if (!screen->prompt || screen->is_lost || ask_is_review(screen))
        return 0;
    canvas_reset(&scratch, columns);
    rows = draw_markup(&pen, screen->prompt, 0, 1);
    canvas_release(&scratch);
    return rows;
}

/* Of the list, if that is what is asked for. */
static size_t count_options(const struct ask_screen *screen)
{
    const struct field_state *state = ask_field(screen);
    size_t items[LIST_MAX];

    return state && state->field->option_count > 0 ? list_items(screen, state, items) : 0;
}

/* Leaves out more and more until the rest fits; the prompt is none of it here. */
static int shrink(struct ask_screen *screen, struct draw_plan *plan, int columns, int rows)
{
    struct field_state *state = ask_field(screen);
    bool is_long = count_options(screen) > LIST_ROWS_MIN;
    int used = measure(screen, columns, plan);

    for (int cut = 0; used > rows && cut < 6; cut++) {
        if (cut == 0)
            plan->describe = plan->describe == DESCRIBE_ALL ? DESCRIBE_CURRENT : plan->describe;
        else if (cut == 1 && is_long)
            plan->list_rows = LIST_ROWS_MIN, plan->describe = DESCRIBE_BELOW;
        else if (cut == 2)
            plan->describe = DESCRIBE_NONE, screen->is_tight = true;
        else if (cut == 3)
            plan->has_facts = false;
        else if (cut == 4)
            plan->has_strip = false;
        else if (cut == 5 && state && view_of(state)->is_list)
            plan->list_rows = PROMPT_ROWS_MIN;
        used = measure(screen, columns, plan);
    }
    return used;
}

static struct draw_plan make_plan(struct ask_screen *screen, int columns, int rows)
{
    bool is_narrow = columns < SCREEN_NARROW;
    struct draw_plan plan = { .has_facts = true,
                              .has_strip = true,
                              .describe = is_narrow ? DESCRIBE_CURRENT : DESCRIBE_ALL,
                              .pane_rows = PANE_ROWS_MIN };
    int prompt = count_prompt_rows(screen, columns), wanted = prompt > 0 ? prompt + 1 : 0;
    int used, room;

    screen->is_tight = false;
    if (count_options(screen) >
        (size_t)rows) { /* a window in any case: the whole is not even tried */
        plan.list_rows = LIST_ROWS_MIN;
        plan.describe = DESCRIBE_BELOW;
    }
    used = measure(screen, columns, &plan);
    if (used + wanted > rows && plan.describe == DESCRIBE_ALL) {
        plan.describe = DESCRIBE_CURRENT;
        used = measure(screen, columns, &plan);
    }
    if (used > rows)
        used = shrink(screen, &plan, columns, rows);
    room = rows - used;
    if (prompt > 0 && room >= 1 + (prompt < PROMPT_ROWS_MIN ? prompt : PROMPT_ROWS_MIN)) {
        int max = plan.list_rows > 0 ? room / 2 : room - 1;

        plan.prompt_rows = prompt < max ? prompt : max;
        room -= plan.prompt_rows + 1;
    }
    if (plan.list_rows > 0 && room > 0)
        plan.list_rows = screen->list_rows + room;
    else if (room > 0)
        plan.pane_rows = screen->pane_rows + room;
    screen->wants_alternate = used > rows;
    if (plan.prompt_rows >= prompt)
        screen->is_prompt_seen = true;
    return plan;
}

static void draw_cancel(struct ask_screen *screen, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    const struct hint hints[] = {
        { "Enter",
          i18n_text(screen->is_declining ? TEXT_TUI_KEY_DECLINE_IT : TEXT_TUI_KEY_CANCEL_IT), 9,
          false },
        { "Esc", i18n_text(TEXT_TUI_KEY_KEEP_OPEN), 8, false },
        { "Tab",
          i18n_text(screen->is_declining ? TEXT_TUI_KEY_CANCEL_INSTEAD
                                         : TEXT_TUI_KEY_DECLINE_INSTEAD),
          3, false },
    };
    struct text line = { 0 };

    draw_header(screen, pen);
    pen->row++;
    i18n_format(&line,
                screen->is_declining ? TEXT_TUI_DECLINE_ASK
                : is_narrow          ? TEXT_TUI_CANCEL_ASK_SHORT
                                     : TEXT_TUI_CANCEL_ASK,
                "agent", screen->facts.agent, NULL);
    pen_lines(pen, INK_PLAIN, text_string(&line));
    if (ask_has_notes(screen))
        draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_WHY), &screen->why, 4, true, NULL);
    pen->row++;
    draw_messages(screen, pen);
    draw_hint_row(pen, hints, 3);
    text_release(&line);
}

/* A text on a screen of its own, to be scrolled. */
static void draw_reading(struct ask_screen *screen, struct pen *pen, int rows)
{
    bool is_prompt = screen->panel == PANEL_PROMPT;
    int all, room = rows - 5 > 1 ? rows - 5 : 1;

    draw_header(screen, pen);
    pen->row++;
    if (is_prompt && draw_cuts_title(screen, pen)) {
        int top = pen->row;

        pen_lines(pen, INK_STRONG, screen->shown.title);
        pen->row++;
        room = room - (pen->row - top) > 1 ? room - (pen->row - top) : 1;
    }
    all = draw_markup(pen, is_prompt ? screen->prompt : ask_preview(screen), screen->scroll, room);
    screen->scroll_max = all > room ? all - room : 0;
    if (is_prompt && screen->scroll >= screen->scroll_max)
        screen->is_prompt_seen = true;
    pen->row++;
    draw_reading_hints(pen, true);
    screen->wants_alternate = true;
}

static void draw_settings(struct ask_screen *screen, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    const struct hint hints[] = {
        { "0-9", i18n_text(TEXT_TUI_KEY_TYPE), 4, false }, /* first: not always there */
        { i18n_text(TEXT_TUI_SIDEWAYS), i18n_text(TEXT_TUI_KEY_CHANGE), 9, false },
        { "r", i18n_text(is_narrow ? TEXT_TUI_KEY_RESET : TEXT_TUI_KEY_BUILT_IN), 5, false },
        { "w", i18n_text(TEXT_TUI_KEY_BROWSER), ask_has_portal(screen) ? 3 : 0, false },
        { is_narrow ? "Esc" : i18n_text(TEXT_TUI_ESC_OR_S),
          i18n_text(is_narrow ? TEXT_TUI_KEY_BACK : TEXT_TUI_KEY_TO_QUESTION), 8, false },
    };
    size_t skipped = settings_panel_is_number(&screen->settings) ? 0 : 1;
    struct text line = { 0 }, left = { 0 }, until = { 0 };
    int64_t left_ms = ask_left_ms(screen);

    settings_panel_draw(&screen->settings, &screen->preferences,
                        (int)list_hidden_count(screen, &screen->fields[0]), screen->setup.is_ascii,
                        pen);
    pen->row++;
    if (left_ms >= 0 && !is_narrow) {
        facts_add_clock(&left, (left_ms + 999) / 1000 * 1000);
        facts_add_when(&until, screen->now.utc_ms + left_ms, screen->now.utc_ms);
        i18n_format(&line, TEXT_TUI_THIS_ASK, "left", text_string(&left), "until",
                    text_string(&until), NULL);
        pen_at(pen, pen->left + 2, INK_QUIET, text_string(&line));
        pen_right(pen, INK_QUIET, i18n_text(TEXT_TUI_MORE_TIME));
        pen->row += 2;
    }
    draw_messages(screen, pen);
    draw_hint_row(pen, hints + skipped, ARRAY_LEN(hints) - skipped);
    text_release(&line);
    text_release(&left);
    text_release(&until);
}

void ask_screen_draw(struct ask_screen *screen, struct canvas *canvas, int columns, int rows,
                     struct screen_time now)
{
    struct pen pen = { .canvas = canvas, .left = 1, .end = columns - 1 };

    ask_pass_time(screen, now);
    screen->wants_alternate = false;
    canvas_reset(canvas, columns);
    if (screen->panel == PANEL_PREVIEW && !ask_preview(screen))
        screen->panel = PANEL_NONE;
    if (screen->phase == PHASE_SAVED) {
        draw_saved(screen, &pen);
    } else if (screen->is_past) {
        draw_past(screen, &pen, rows);
    } else if (screen->phase == PHASE_THEIRS || screen->phase == PHASE_OURS) {
        draw_ended(screen, &pen);
    } else if (screen->panel == PANEL_SETTINGS) {
        draw_settings(screen, &pen);
    } else if (screen->panel == PANEL_HELP) {
        screen->scroll_max = draw_help(&pen, rows, screen->scroll);
    } else if (screen->panel != PANEL_NONE) {
        draw_reading(screen, &pen, rows);
    } else if (screen->focus == FOCUS_CANCEL) {
        draw_cancel(screen, &pen);
    } else if (screen->focus == FOCUS_BACK) {
        draw_ask_back(screen, &pen);
    } else {
        struct draw_plan plan = make_plan(screen, columns, rows);

        canvas_reset(canvas, columns);
        draw_whole(screen, &pen, &plan);
    }
    if (canvas->rows > rows)
        screen->wants_alternate = true;
    if (screen->visible_mono_ms < 0)
        screen->visible_mono_ms = now.mono_ms;
}
