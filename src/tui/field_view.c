/* field_view.c - what stands in the fields: as the wire's answer, from a draft, and in words. */
#include "tui/field_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "core/fields/answer.h"
#include "i18n/i18n.h"
#include "tui/draw.h"

/* In hybrid they are an item of the list, which must be picked. */
static bool takes_words(const struct field_state *state)
{
    const struct field_class *class = class_of(state->field);

    return class->has_words && (!class->has_options || state->has_own);
}

/* Borrowed, for the functions of its class. */
static struct field_value value_of(const struct field_state *state)
{
    const char *words = takes_words(state) ? text_string(&state->words.text) : "";

    return (struct field_value){
        .is_selected = state->is_picked,
        .option_count = state->field->option_count,
        .text = class_of(state->field)->has_words ? (char *)(uintptr_t)words : NULL,
        .has_number = state->has_number,
        .number = state->number,
        .has_confirm = state->confirm != CONFIRM_OPEN,
        .confirmed = state->confirm == CONFIRM_YES,
    };
}

static void write_field_notes(struct json_writer *writer, const struct ask_screen *screen)
{
    bool has_any = false;

    for (size_t i = 0; i < screen->form.field_count; i++) {
        if (screen->fields[i].note.text.used == 0)
            continue;
        if (!has_any)
            json_write_object(writer, "field_annotations");
        has_any = true;
        json_write_foreign_key(writer, screen->form.fields[i].name);
        json_write_text(writer, NULL, text_string(&screen->fields[i].note.text));
        writer->needs_comma = true;
    }
    if (has_any)
        json_write_end_object(writer);
}

/* A prefilled note that was not changed is left to the hub; a removed one is sent as "". */
static bool is_said(const struct edit *note, const char *preset)
{
    char *visible = facts_visible(preset ? preset : "", false);
    bool is_same = strcmp(text_string(&note->text), visible) == 0;

    free(visible);
    return !is_same;
}

static void write_notes(struct json_writer *writer, const struct ask_screen *screen)
{
    const struct field *field = &screen->form.fields[0];
    bool has_any = false;

    for (size_t i = 0; i < field->option_count; i++) {
        if (!is_said(&screen->notes[i], field->options[i].annotation))
            continue;
        if (!has_any)
            json_write_object(writer, "option_annotations");
        has_any = true;
        json_write_foreign_key(writer, field->options[i].id);
        json_write_text(writer, NULL, text_string(&screen->notes[i].text));
        writer->needs_comma = true;
    }
    if (has_any)
        json_write_end_object(writer);
    write_field_notes(writer, screen);
    if (is_said(&screen->common, screen->form.global_annotation))
        json_write_text(writer, "global_annotation", text_string(&screen->common.text));
}

void ask_write_answer(const struct ask_screen *screen, const char *code, struct text *out)
{
    struct json_writer writer = json_object_to(out);
    const struct field_class *first = class_of(&screen->form.fields[0]);

    if (screen->form.field_count == 1 && !class_is_scalar(first)) {
        const struct field_value value = value_of(&screen->fields[0]);

        if (first->has_options)
            answer_write_picks(&writer, "selected_ids", &screen->form.fields[0], &value);
        if (first->has_words)
            json_write_text(&writer, "custom_input", value.text);
    } else {
        json_write_object(&writer, "fields");
        for (size_t i = 0; i < screen->form.field_count; i++) {
            const struct field *field = &screen->form.fields[i];
            const struct field_value value = value_of(&screen->fields[i]);

            json_write_foreign_key(&writer, field->name);
            class_of(field)->write_stored(&writer, field, &value);
            writer.needs_comma = true;
        }
        json_write_end_object(&writer);
    }
    if (ask_has_notes(screen))
        write_notes(&writer, screen);
    json_write_text_if(&writer, "code", code);
    json_write_end_object(&writer);
}

static void restore(struct edit *edit, const char *text)
{
    if (text && strcmp(text_string(&edit->text), text) != 0 && strlen(text) <= edit->max_bytes)
        edit_set(edit, text);
}

static void read_picks(struct field_state *state, const struct json *picks)
{
    size_t count = json_kind(picks) == KIND_LIST ? json_length(picks) : 1;

    if (json_kind(picks) != KIND_LIST && json_kind(picks) != KIND_TEXT)
        return;
    for (size_t i = 0; i < state->field->option_count; i++)
        state->is_picked[i] = false;
    for (size_t i = 0; i < count; i++) {
        const char *id = json_text(json_kind(picks) == KIND_LIST ? json_item(picks, i) : picks);
        const struct option *option = id ? field_find_option(state->field, id) : NULL;

        if (option)
            state->is_picked[option - state->field->options] = true;
    }
}

static void read_members(struct field_state *state, const struct json *object)
{
    const char *words = json_member_text(object, "custom_input");

    if (state->field->option_count > 0)
        read_picks(state, json_member(object, "selected_ids"));
    if (!words || !class_of(state->field)->has_words)
        return;
    restore(&state->words, words);
    state->has_own = *words != '\0';
}

static void read_words(struct field_state *state, const struct json *value)
{
    restore(&state->words, json_text(value));
}

static void read_number(struct field_state *state, const struct json *value)
{
    state->has_number = json_kind(value) == KIND_INTEGER || json_kind(value) == KIND_REAL;
    state->number = json_number_of(value);
}

static void read_confirm(struct field_state *state, const struct json *value)
{
    if (json_kind(value) == KIND_BOOL)
        state->confirm = json_is_true(value) ? CONFIRM_YES : CONFIRM_NO;
}

void ask_read_draft(struct ask_screen *screen, const struct json *draft)
{
    const struct json *fields = json_member(draft, "fields");
    const struct json *notes = json_member(draft, "option_annotations");

    if (json_kind(draft) != KIND_OBJECT)
        return;
    read_members(&screen->fields[0], draft);
    for (size_t i = 0; i < screen->form.field_count; i++) {
        const struct json *value = json_member(fields, screen->form.fields[i].name);

        if (value)
            view_of(&screen->fields[i])->read(&screen->fields[i], value);
        restore(&screen->fields[i].note, json_member_text(json_member(draft, "field_annotations"),
                                                          screen->form.fields[i].name));
    }
    for (size_t i = 0; i < screen->form.fields[0].option_count; i++)
        restore(&screen->notes[i], json_member_text(notes, screen->form.fields[0].options[i].id));
    restore(&screen->common, json_member_text(draft, "global_annotation"));
}

/* The field that a refusal is about; the first where it names none. */
static size_t find_culprit(const struct ask_screen *screen, const char *path)
{
    const char *name = strncmp(path, "/fields/", 8) == 0 ? path + 8 : "";
    size_t length = strcspn(name, "/");

    for (size_t i = 0; length > 0 && i < screen->form.field_count; i++) {
        if (strlen(screen->form.fields[i].name) == length &&
            strncmp(screen->form.fields[i].name, name, length) == 0)
            return i;
    }
    return 0;
}

bool ask_check(struct ask_screen *screen)
{
    struct text json = { 0 };
    struct json *given = NULL;
    struct answer answer = { 0 };
    struct error err = { 0 };
    bool ok;

    for (size_t i = 0; i < screen->form.field_count; i++)
        text_clear(&screen->fields[i].problem);
    ask_write_answer(screen, NULL, &json);
    ok = json_parse(text_string(&json), json.used, &given, &err) &&
         answer_check(&screen->form, given, &answer, &err);
    if (!ok) {
        struct field_state *state = &screen->fields[find_culprit(screen, err.path)];

        error_write_in(&err, i18n_language(), &state->problem);
        screen->step = (size_t)(state - screen->fields);
    }
    answer_release(&answer);
    json_free(given);
    text_release(&json);
    return ok;
}

void ask_add_number(struct text *out, double number)
{
    text_add_format(out, "%.15g", number);
}

static void add_word(struct text *out, const char *word)
{
    text_add_text(out, out->used ? ", " : "");
    text_add_text(out, word);
}

static void describe_words(const struct field_state *state, struct text *out)
{
    const char *text = takes_words(state) ? text_string(&state->words.text) : "";
    char *visible = facts_visible(text, false);

    if (*visible)
        text_add_format(out, class_of(state->field)->has_options ? "\"%s\"" : "%s", visible);
    free(visible);
}

static void describe_list(const struct field_state *state, struct text *out)
{
    struct text words = { 0 };

    for (size_t i = 0; i < state->field->option_count; i++) {
        if (state->is_picked[i])
            add_word(out, state->shown->options[i].label);
    }
    describe_words(state, &words);
    if (words.used)
        add_word(out, text_string(&words));
    text_release(&words);
}

static void describe_number(const struct field_state *state, struct text *out)
{
    if (!state->has_number)
        return;
    ask_add_number(out, state->number);
    if (state->shown->unit)
        text_add_format(out, " %s", state->shown->unit);
}

static void describe_confirm(const struct field_state *state, struct text *out)
{
    if (state->confirm != CONFIRM_OPEN)
        text_add_text(out, i18n_text(state->confirm == CONFIRM_YES ? TEXT_TUI_YES : TEXT_TUI_NO));
}

void ask_describe(const struct ask_screen *screen, size_t field, struct text *out)
{
    struct text words = { 0 };

    view_of(&screen->fields[field])->describe(&screen->fields[field], &words);
    text_add(out, text_string(&words), words.used);
    text_release(&words);
}

bool ask_is_answered(const struct ask_screen *screen, size_t field)
{
    struct text words = { 0 };
    bool is_answered;

    ask_describe(screen, field, &words);
    is_answered = words.used > 0;
    text_release(&words);
    return is_answered;
}

/* Texts being written: own words, text fields, notes, with what goes beside them. */

enum { FIELD_ROWS = 12 };

void draw_edit(struct ask_screen *screen, struct field_state *state, struct pen *pen, int column,
               int rows, bool has_focus)
{
    const char *placeholder = state->shown->placeholder;
    bool shows = placeholder && state->words.text.used == 0 && state->field->placeholder_visible &&
                 preferences_is_on(&screen->preferences, SETTING_PLACEHOLDER);
    int row = pen->row;

    pen->row = edit_draw(&state->words, pen->canvas, row, column, pen->end, rows, has_focus);
    if (shows)
        canvas_put_cut(pen->canvas, row, column, pen->end, INK_QUIET, placeholder,
                       strlen(placeholder), screen->marks->cut_end);
}

/* "note: text"; where `cut` is given it is one row only. */
void draw_labelled_edit(struct pen *pen, int column, const char *label, struct edit *edit, int rows,
                        bool has_focus, const char *cut)
{
    int begin = pen_at(pen, column, INK_QUIET, label) + 1;

    if (cut) {
        char *visible = facts_visible(text_string(&edit->text), false);

        pen_cut(pen, begin, pen->end, INK_PLAIN, visible, cut);
        pen->row++;
        free(visible);
        return;
    }
    pen->row =
        edit_draw_from(edit, pen->canvas, pen->row, begin, column, pen->end, rows, has_focus);
}

/* A text field with its label, its bounds and how much is left. */
static void draw_text_field(struct ask_screen *screen, struct field_state *state, struct pen *pen,
                            const struct draw_plan *plan)
{
    bool has_focus = screen->focus == FOCUS_WORDS;
    struct text line = { 0 };
    const char *text = text_string(&state->words.text);

    (void)plan;
    pen_at(pen, pen->left, INK_ACCENT, screen->marks->cursor);
    draw_edit(screen, state, pen, pen->left + 2, FIELD_ROWS, has_focus);
    if (state->field->format)
        text_add_text(&line, state->field->format);
    if (state->field->max_chars > 0) {
        text_add_text(&line, line.used ? "  " : "");
        i18n_format(&line, TEXT_TUI_CHARS, "count",
                    TEXT_NUMBER((int64_t)text_count(text, state->words.text.used)), "max",
                    TEXT_NUMBER(state->field->max_chars), NULL);
    }
    if (line.used > 0) {
        pen_right(pen, INK_QUIET, text_string(&line));
        pen->row++;
    }
    text_release(&line);
}

/* A number: arrows on a scale, stars, or its digits typed. The digits win. */

enum { SCALE_STEPS = 20, RATING_WORDS = 5, SCALE_MIN_COLUMNS = 10 };

double ask_number_step(const struct field *field)
{
    double step = (field->maximum - field->minimum) / SCALE_STEPS, order;

    if (field->step > 0)
        return field->step;
    if (field->is_integer || field->style == NUMBER_RATING || !field->has_minimum ||
        !field->has_maximum)
        return 1;
    order = pow(10, floor(log10(step))); /* 1, 2 or 5 of it: numbers that people say */
    return step >= 5 * order ? 5 * order : step >= 2 * order ? 2 * order : order;
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

static void number_begin(struct field_state *state)
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

/* Left and Right are taken, so in a form Up and Down are the way to its neighbors. */
static void number_key(struct ask_screen *screen, struct field_state *state, enum key_code code)
{
    if ((code == KEY_UP || code == KEY_DOWN) && screen->form.field_count > 1)
        ask_step(screen, code == KEY_DOWN ? 1 : -1);
    else
        change(screen, state, code);
}

/* Stars are given by their number; anything else begins the typing of digits. */
static void number_digit(struct ask_screen *screen, struct field_state *state, char digit)
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
        const char *text = text_string(&state->digits.text);
        char *end;
        double number = strtod(text, &end);

        screen->is_typing = true;
        ask_touch(screen);
        state->has_number = *text && *end == '\0' && isfinite(number);
        if (state->has_number)
            state->number = number;
    }
    return true;
}

static void draw_label(const struct ask_screen *screen, const struct field_state *state,
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
    pen_text(pen, INK_PLAIN, &line);
    text_release(&line);
}

/* "100 ╍╍╍◉╌╌╌ 5000", the value beside it, or below where it is narrow. */
static void draw_scale(struct ask_screen *screen, const struct field_state *state, struct pen *pen)
{
    const struct field *field = state->field;
    bool is_narrow = pen->end < SCREEN_NARROW;
    struct text min = { 0 }, max = { 0 }, value = { 0 };
    int column = is_narrow ? 1 : 3, columns, at;

    ask_add_number(&min, field->minimum);
    ask_add_number(&max, field->maximum);
    if (state->digits.text.used > 0)
        text_add(&value, text_string(&state->digits.text), state->digits.text.used);
    else
        ask_add_number(&value, state->number);
    if (state->shown->unit)
        text_add_format(&value, " %s", state->shown->unit);
    columns = pen->end - column - draw_columns(&min) - draw_columns(&max) - 2 -
              (is_narrow ? 3 : 4 + draw_columns(&value));
    if (columns < SCALE_MIN_COLUMNS)
        columns = SCALE_MIN_COLUMNS;
    at = field->maximum > field->minimum
             ? (int)round((state->number - field->minimum) / (field->maximum - field->minimum) *
                          (columns - 1))
             : 0;
    column = pen_at(pen, column, INK_QUIET, text_string(&min)) + 1;
    for (int i = 0; i < columns; i++)
        pen_at(pen, column + i, i < at || i == at ? INK_ACCENT : INK_QUIET,
               i < at ? screen->marks->left
               : i == at && (state->has_number || screen->setup.is_ascii)
                   ? (screen->setup.is_ascii ? "O" : screen->marks->picked)
               : i == at ? screen->marks->unpicked
                         : screen->marks->gone);
    column = pen_at(pen, column + columns + 1, INK_QUIET, text_string(&max));
    if (is_narrow)
        pen->row++;
    column = is_narrow ? 1 : column + 3;
    pen_at(pen, column, state->has_number ? INK_STRONG : INK_QUIET, text_string(&value));
    if (screen->focus == FOCUS_NUMBER) {
        pen->canvas->cursor_row = pen->row;
        pen->canvas->cursor_column = column + (int)state->digits.at;
    }
    pen->row++;
    text_release(&min);
    text_release(&max);
    text_release(&value);
}

static void draw_stars(struct ask_screen *screen, const struct field_state *state, struct pen *pen)
{
    static const enum text_id words[RATING_WORDS] = { TEXT_TUI_RATED_1, TEXT_TUI_RATED_2,
                                                      TEXT_TUI_RATED_3, TEXT_TUI_RATED_4,
                                                      TEXT_TUI_RATED_5 };
    int max = (int)state->field->maximum, given = state->has_number ? (int)state->number : 0;
    int column = pen_at(pen, 1, INK_ACCENT, screen->marks->cursor) + 1;
    struct text line = { 0 };

    for (int i = 0; i < max; i++)
        column = pen_at(pen, column, i < given ? INK_ACCENT : INK_QUIET,
                        i < given ? screen->marks->star : screen->marks->no_star) +
                 1;
    if (given > 0 && max > 0)
        i18n_format(&line, TEXT_TUI_RATED, "count", TEXT_NUMBER(given), "most", TEXT_NUMBER(max),
                    "word", i18n_text(words[(given * RATING_WORDS + max - 1) / max - 1]), NULL);
    else
        text_add_text(&line, i18n_text(TEXT_TUI_NOT_RATED));
    pen_line(pen, column + 2, given > 0 ? INK_STRONG : INK_QUIET, text_string(&line));
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
    char min[32], max[32];
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
    snprintf(min, sizeof min, "%.15g", field->minimum);
    snprintf(max, sizeof max, "%.15g", field->maximum);
    i18n_format(&line, bounds, "min", min, "max", max, NULL);
    pen_line(pen, column + 2, INK_QUIET, text_string(&line));
    text_release(&line);
}

static void draw_number(struct ask_screen *screen, struct field_state *state, struct pen *pen,
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

static void begin_confirm(struct field_state *state)
{
    state->cursor = state->field->default_confirm == CONFIRM_NO;
}
#define LIST_VIEW                                                                                  \
    .is_list = true, .draw = draw_options, .key = ask_list_key, .digit = ask_list_digit,           \
    .hints = draw_list_hints, .prompt = plain_prompt_choice, .take_line = plain_take_choice
#define NUMBER_VIEW                                                                                \
    .begin = number_begin, .key = number_key, .digit = number_digit, .hints = draw_number_hints,   \
    .prompt = plain_prompt_number, .take_line = plain_take_number, .read = read_number,            \
    .describe = describe_number

const struct field_view field_views[FIELD_KIND_COUNT] = {
    [FIELD_SINGLE] = { LIST_VIEW, .read = read_picks, .describe = describe_list },
    [FIELD_MULTI] = { LIST_VIEW, .read = read_picks, .describe = describe_list },
    [FIELD_TEXT] = { .focus = FOCUS_WORDS,
                     .draw = draw_text_field,
                     .hints = draw_text_hints,
                     .read = read_words,
                     .describe = describe_words },
    [FIELD_HYBRID] = { LIST_VIEW, .read = read_members, .describe = describe_list },
    [FIELD_NUMBER] = { NUMBER_VIEW, .focus = FOCUS_NUMBER, .draw = draw_number },
    [FIELD_CONFIRM] = { LIST_VIEW, .begin = begin_confirm, .read = read_confirm,
                        .describe = describe_confirm },
};
