/* field_number.c - a number: arrows on a scale, stars, or its digits typed. The digits win. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "i18n/i18n.h"
#include "tui/canvas.h"
#include "tui/draw.h"
#include "tui/field_view.h"

enum { SCALE_STEPS = 20, RATING_WORDS = 5, SCALE_LEAST_COLUMNS = 10 };

/* 1, 2 or 5 of its order: numbers that people say. */
static double round_step(double step)
{
    double order = pow(10, floor(log10(step)));

    return step >= 5 * order ? 5 * order : step >= 2 * order ? 2 * order : order;
}

double ask_number_step(const struct field *field)
{
    double range = field->maximum - field->minimum;

    if (field->step > 0)
        return field->step;
    if (field->is_integer || field->style == NUMBER_RATING || !field->has_minimum ||
        !field->has_maximum)
        return 1;
    return round_step(range / SCALE_STEPS);
}

static void put_number(struct ask_screen *screen, struct field_state *state, double number)
{
    const struct field *field = state->field;

    if (field->has_minimum && number < field->minimum)
        number = field->minimum;
    if (field->has_maximum && number > field->maximum)
        number = field->maximum;
    state->number = number;
    state->has_number = true;
    edit_clear(&state->digits);
    ask_touch(screen);
}

void number_begin(struct field_state *state)
{
    if (state->field->style != NUMBER_FIELD && !state->has_number)
        state->number = state->field->has_minimum ? state->field->minimum : 0;
}

static void change(struct ask_screen *screen, struct field_state *state, enum key_code code)
{
    const struct field *field = state->field;
    int steps = -key_distance(&(struct key){ .code = code }); /* up is more */
    bool is_first = !state->has_number && field->style == NUMBER_RATING;

    if (code == KEY_LEFT || code == KEY_RIGHT)
        steps = code == KEY_LEFT ? -1 : 1;
    if (code == KEY_HOME || code == KEY_END) {
        if (code == KEY_HOME ? field->has_minimum : field->has_maximum)
            put_number(screen, state, code == KEY_HOME ? field->minimum : field->maximum);
    } else if (is_first && abs(steps) == 1) {
        put_number(screen, state, field->minimum);
    } else {
        put_number(screen, state, state->number + steps * ask_number_step(field));
    }
}

/* Left and Right are taken, so in a form Up and Down are the way to its neighbours. */
void number_key(struct ask_screen *screen, struct field_state *state, enum key_code code)
{
    if ((code == KEY_UP || code == KEY_DOWN) && screen->form.field_count > 1)
        ask_step(screen, code == KEY_DOWN ? 1 : -1);
    else
        change(screen, state, code);
}

/* Stars are given by their number; anything else begins the typing of digits. */
void number_digit(struct ask_screen *screen, struct field_state *state, char digit)
{
    struct key key = { .code = KEY_TEXT, .text = &digit, .length = 1 };

    if (state->field->style == NUMBER_RATING && state->field->maximum < 10) {
        if (digit - '0' >= state->field->minimum && digit - '0' <= state->field->maximum)
            put_number(screen, state, digit - '0');
        return;
    }
    screen->focus = FOCUS_NUMBER;
    ask_key_in_number(screen, &key);
}

static void read_digits(struct ask_screen *screen, struct field_state *state)
{
    const char *text = text_string(&state->digits.text);
    char *end;
    double number = strtod(text, &end);

    ask_touch(screen);
    state->has_number = *text && *end == '\0' && isfinite(number);
    if (state->has_number)
        state->number = number;
}

static bool is_of_number(const struct key *key)
{
    static const char signs[] = "0123456789.-+";

    if (key->code != KEY_TEXT && key->code != KEY_PASTE)
        return true;
    for (size_t i = 0; i < key->length; i++) {
        if (!memchr(signs, key->text[i], sizeof signs - 1))
            return false;
    }
    return key->length > 0;
}

bool ask_key_in_number(struct ask_screen *screen, const struct key *key)
{
    struct field_state *state = ask_field(screen);

    if (key->code == KEY_UP || key->code == KEY_DOWN) {
        change(screen, state, key->code);
        return true;
    }
    if (key->code == KEY_ENTER || key->code == KEY_SEND || key->code == KEY_TAB ||
        key->code == KEY_BACK_TAB || key->code == KEY_ESCAPE) {
        bool was_scale = state->field->style != NUMBER_FIELD;

        screen->focus = FOCUS_LIST;
        return key->code == KEY_ESCAPE && was_scale; /* the rest is the list's */
    }
    if (state->digits.text.used == 0 && state->has_number && key->code != KEY_TEXT) {
        struct text shown = { 0 }; /* what stands there can be edited */

        ask_add_number(&shown, state->number);
        edit_set(&state->digits, text_string(&shown));
        text_release(&shown);
    }
    if (!is_of_number(key) && key->code == KEY_TEXT)
        return false; /* letters stay commands beside a number */
    if (is_of_number(key) && edit_key(&state->digits, key)) {
        screen->is_typing = true;
        read_digits(screen, state);
    }
    return true;
}

static void add_value(const struct field_state *state, struct text *out)
{
    if (state->digits.text.used > 0)
        text_add(out, text_string(&state->digits.text), state->digits.text.used);
    else
        ask_add_number(out, state->number);
    if (state->shown->unit)
        text_add_format(out, " %s", state->shown->unit);
}

static int draw_label(const struct ask_screen *screen, const struct field_state *state,
                      struct pen *pen)
{
    const struct field *field = state->field;
    struct text line = { 0 };
    char step[32];

    if (state->shown->description)
        text_add_text(&line, state->shown->description);
    else if (state->shown->label && screen->form.field_count == 1)
        text_add_text(&line, state->shown->label);
    snprintf(step, sizeof step, "%.15g", field->step);
    if (field->step > 0 && field->style != NUMBER_RATING) {
        text_add_text(&line, line.used ? ", " : "");
        i18n_format(&line, pen->end < SCREEN_NARROW ? TEXT_TUI_STEPS : TEXT_NUMBER_STEP, "step",
                    step, NULL);
    }
    if (line.used > 0)
        pen_lines(pen, INK_PLAIN, text_string(&line));
    text_release(&line);
    return pen->row;
}

/* "100 ╍╍╍◉╌╌╌ 5000", the value beside it, or below where it is narrow. */
static void draw_scale(struct ask_screen *screen, const struct field_state *state, struct pen *pen)
{
    const struct field *field = state->field;
    bool is_narrow = pen->end < SCREEN_NARROW;
    struct text least = { 0 }, most = { 0 }, value = { 0 };
    int column = is_narrow ? 1 : 3, columns, at;

    ask_add_number(&least, field->minimum);
    ask_add_number(&most, field->maximum);
    add_value(state, &value);
    columns = pen->end - column - draw_columns(&least) - draw_columns(&most) - 2 -
              (is_narrow ? 3 : 4 + draw_columns(&value));
    if (columns < SCALE_LEAST_COLUMNS)
        columns = SCALE_LEAST_COLUMNS;
    at = field->maximum > field->minimum
             ? (int)lround((state->number - field->minimum) / (field->maximum - field->minimum) *
                           (columns - 1))
             : 0;
    column = pen_at(pen, column, INK_QUIET, text_string(&least)) + 1;
    for (int i = 0; i < columns; i++)
        pen_at(pen, column + i, i < at || i == at ? INK_ACCENT : INK_QUIET,
               i < at                                                     ? screen->marks->left
               : i == at && (state->has_number || screen->setup.is_ascii) ? draw_knob(screen)
               : i == at                                                  ? screen->marks->unpicked
                                                                          : screen->marks->gone);
    column = pen_at(pen, column + columns + 1, INK_QUIET, text_string(&most));
    if (is_narrow)
        pen->row++;
    column = is_narrow ? 1 : column + 3;
    pen_at(pen, column, state->has_number ? INK_STRONG : INK_QUIET, text_string(&value));
    if (screen->focus == FOCUS_NUMBER) {
        pen->canvas->cursor_row = pen->row;
        pen->canvas->cursor_column = column + (int)state->digits.at;
    }
    pen->row++;
    text_release(&least);
    text_release(&most);
    text_release(&value);
}

static void draw_stars(struct ask_screen *screen, const struct field_state *state, struct pen *pen)
{
    static const enum text_id words[RATING_WORDS] = { TEXT_TUI_RATED_1, TEXT_TUI_RATED_2,
                                                      TEXT_TUI_RATED_3, TEXT_TUI_RATED_4,
                                                      TEXT_TUI_RATED_5 };
    int most = (int)state->field->maximum, given = state->has_number ? (int)state->number : 0;
    int column = pen_at(pen, 1, INK_ACCENT, screen->marks->cursor) + 1;
    struct text line = { 0 };

    for (int i = 0; i < most; i++)
        column = pen_at(pen, column, i < given ? INK_ACCENT : INK_QUIET,
                        i < given ? screen->marks->star : screen->marks->no_star) +
                 1;
    if (given > 0 && most > 0)
        i18n_format(&line, TEXT_TUI_RATED, "count", TEXT_NUMBER(given), "most", TEXT_NUMBER(most),
                    "word", i18n_text(words[(given * RATING_WORDS + most - 1) / most - 1]), NULL);
    else
        text_add_text(&line, i18n_text(TEXT_TUI_NOT_RATED));
    pen_at(pen, column + 2, given > 0 ? INK_STRONG : INK_QUIET, text_string(&line));
    pen->row++;
    text_release(&line);
}

static void draw_field(struct ask_screen *screen, struct field_state *state, struct pen *pen)
{
    const struct field *field = state->field;
    enum text_id bounds = field->has_minimum && field->has_maximum ? TEXT_NUMBER_RANGE
                          : field->has_minimum                     ? TEXT_NUMBER_LEAST
                          : field->has_maximum                     ? TEXT_NUMBER_MOST
                                                                   : TEXT_NUMBER_ANY;
    struct text line = { 0 };
    char least[32], most[32];
    int column;

    if (state->digits.text.used == 0 && state->has_number)
        ask_add_number(&line, state->number);
    else
        text_add(&line, text_string(&state->digits.text), state->digits.text.used);
    column = pen_at(pen, 1, INK_ACCENT, screen->marks->cursor) + 1;
    if (screen->focus == FOCUS_NUMBER) {
        pen->canvas->cursor_row = pen->row;
        pen->canvas->cursor_column =
            column + (state->digits.text.used ? (int)state->digits.at : (int)line.used);
    }
    column = pen_at(pen, column, INK_FIELD, text_string(&line)) + 1;
    if (state->shown->unit)
        column = pen_at(pen, column + 1, INK_PLAIN, state->shown->unit) + 1;
    text_clear(&line);
    snprintf(least, sizeof least, "%.15g", field->minimum);
    snprintf(most, sizeof most, "%.15g", field->maximum);
    i18n_format(&line, bounds, "min", least, "max", most, NULL);
    pen_at(pen, column + 2, INK_QUIET, text_string(&line));
    pen->row++;
    text_release(&line);
}

void draw_number(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                 const struct draw_plan *plan)
{
    const struct field *field = state->field;
    bool has_bounds = field->has_minimum && field->has_maximum;

    (void)plan;
    draw_label(screen, state, pen);
    if (field->style == NUMBER_RATING && field->maximum >= 1)
        draw_stars(screen, state, pen);
    else if (field->style == NUMBER_SLIDER && has_bounds)
        draw_scale(screen, state, pen);
    else
        draw_field(screen, state, pen);
}
