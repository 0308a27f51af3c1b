/* plain_text.c - what the plain view says: the question from top to bottom, then what is wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/glyph.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/draw.h"
#include "tui/field_list.h"
#include "tui/field_view.h"
#include "tui/plain_screen.h"

enum { PLAIN_COLUMNS = 79 };

/* Wrapped, from a column on; the first row may have words in front already. */
static void add_lines(struct text *out, int column, const char *words)
{
    size_t length = strlen(words);

    for (size_t at = 0; at < length;) {
        size_t next, bytes = glyph_wrap(words + at, length - at, PLAIN_COLUMNS - column, &next);

        text_add_format(out, "%*s%.*s\n", column, "", (int)bytes, words + at);
        at += next;
    }
}

/* Who asks, from where, and the time. */
static void add_facts(const struct ask_screen *ask, struct text *out)
{
    struct text blocked = { 0 }, line = { 0 };
    struct text who = { 0 };

    facts_add_who(&who, &ask->facts, ask->setup.uid);
    facts_add_since(&blocked, ask->facts.created_utc_ms, ask->now.utc_ms);
    i18n_format(&line, *ask->facts.directory ? TEXT_PLAIN_FROM : TEXT_PLAIN_FROM_NOWHERE, "agent",
                *ask->facts.agent ? ask->facts.agent : "?", "who", text_string(&who), "directory",
                ask->facts.directory, "time", text_string(&blocked), NULL);
    add_lines(out, 0, text_string(&line));
    text_release(&blocked);
    text_release(&line);
    text_release(&who);
}

static void add_left(struct text *out, int64_t left_ms)
{
    int64_t s = (left_ms + 999) / 1000;

    if (s >= 60)
        i18n_format(out, TEXT_DURATION_MINUTES, "count", TEXT_NUMBER(s / 60), NULL);
    if (s >= 60 && s % 60 > 0)
        text_add_char(out, ' ');
    if (s < 60 || s % 60 > 0)
        i18n_format(out, TEXT_DURATION_SECONDS, "count", TEXT_NUMBER(s % 60), NULL);
}

void plain_add_time(const struct plain_screen *screen, struct text *out)
{
    struct text left = { 0 }, line = { 0 };
    int64_t left_ms = ask_left_ms(screen->ask);

    if (left_ms >= 0) {
        add_left(&left, left_ms);
        i18n_format(&line, TEXT_PLAIN_TIME, "time", text_string(&left), NULL);
        add_lines(out, 0, text_string(&line));
    }
    text_release(&left);
    text_release(&line);
}

static void add_prose(const struct markup *markup, int indent, struct text *out)
{
    struct canvas canvas = { 0 };
    struct pen pen = { .canvas = &canvas, .left = indent, .end = PLAIN_COLUMNS };

    canvas_reset(&canvas, PLAIN_COLUMNS);
    draw_markup(&pen, markup, 0, 0);
    for (int row = 0; row < canvas.rows; row++) {
        canvas_write_row(&canvas, row, out);
        text_add_char(out, '\n');
    }
    canvas_release(&canvas);
}

void plain_add_question(const struct plain_screen *screen, struct text *out)
{
    const struct ask_screen *ask = screen->ask;
    struct text answered = { 0 };

    add_facts(ask, out);
    plain_add_time(screen, out);
    add_lines(out, 0, i18n_text(TEXT_PLAIN_KEYS));
    facts_add_answered(&answered, ask->form.answered_ms, ask->now.utc_ms);
    if (answered.used)
        add_lines(out, 0, text_string(&answered));
    text_release(&answered);
    if (ask->is_sensitive)
        add_lines(out, 0, i18n_text(TEXT_MENTIONS_SECRET));
    text_add_char(out, '\n');
    if (form_may_destroy(&ask->form))
        add_lines(out, 0, i18n_text(TEXT_DESTRUCTIVE_TWO_ACTS));
    add_lines(out, 0, ask->shown.title);
    if (ask->prompt) {
        text_add_char(out, '\n');
        add_prose(ask->prompt, 0, out);
    }
}

static void add_option(const struct ask_screen *ask, const struct option *option, size_t number,
                       const struct markup *preview, struct text *out)
{
    struct text line = { 0 };

    text_add_format(&line, "%zu. %s", number, option->label);
    if (form_may_destroy(&ask->form))
        text_add_format(&line, " [%s]", option->id);
    if (option->is_recommended)
        text_add_format(&line, " (%s)", i18n_text(TEXT_RECOMMENDED));
    if (option->is_destructive)
        text_add_format(&line, " (%s)", i18n_text(TEXT_DESTRUCTIVE));
    if (option->is_default && !form_may_destroy(&ask->form))
        text_add_format(&line, " (%s)", i18n_text(TEXT_SHOW_DEFAULT));
    add_lines(out, 0, text_string(&line));
    if (option->description)
        add_lines(out, 3, option->description);
    if (preview)
        add_prose(preview, 3, out);
    text_release(&line);
}

static void add_rule(const struct field_state *state, struct text *out)
{
    struct text rule = { 0 };

    if (class_of(state->field)->is_yes_no)
        text_add_text(&rule, i18n_text(TEXT_YES_OR_NO));
    else if (class_of(state->field)->is_exclusive)
        text_add_text(&rule, i18n_text(TEXT_CHOOSE_ONE));
    else
        list_add_rule(state, &rule);
    text_add_format(out, "%s:\n", text_string(&rule));
    text_release(&rule);
}

void plain_add_field(struct plain_screen *screen, struct text *out)
{
    struct ask_screen *ask = screen->ask;
    struct field_state *state = ask_field(ask);

    text_add_char(out, '\n');
    if (ask->form.field_count > 1)
        add_lines(out, 0, ask_question(state->shown));
    if (!view_of(state)->is_list)
        return;
    add_rule(state, out);
    for (size_t i = 0; i < state->field->option_count; i++)
        add_option(ask, &state->shown->options[i], i + 1, state->previews[i], out);
    if (class_of(state->field)->is_yes_no)
        text_add_format(out, "1. %s\n2. %s\n", i18n_text(TEXT_TUI_YES), i18n_text(TEXT_TUI_NO));
    if (class_of(state->field)->has_words)
        text_add_format(out, "o. %s\n", i18n_text(TEXT_OWN_WORDS));
    text_add_char(out, '\n');
}

void plain_prompt_number(const struct field_state *state, struct text *out)
{
    const struct field *field = state->field;
    char least[32], most[32];

    snprintf(least, sizeof least, "%.15g", field->minimum);
    snprintf(most, sizeof most, "%.15g", field->maximum);
    i18n_format(out, field->has_minimum && field->has_maximum ? TEXT_NUMBER_RANGE : TEXT_NUMBER_ANY,
                "min", least, "max", most, NULL);
    text_add_text(out, ": ");
}

void plain_prompt_choice(const struct field_state *state, struct text *out)
{
    i18n_format(out,
                class_of(state->field)->is_yes_no ? TEXT_PLAIN_YES_NO
                : list_is_one_of_many(state)      ? TEXT_PLAIN_CHOICE
                                                  : TEXT_PLAIN_CHOICES,
                "most", TEXT_NUMBER((int64_t)list_numbered_count(state)), NULL);
    text_add_char(out, ' ');
}

void plain_add_prompt(struct plain_screen *screen, struct text *out)
{
    struct ask_screen *ask = screen->ask;
    struct text words = { 0 };

    if (screen->turn == PLAIN_VALUE && !view_of(ask_field(ask))->prompt)
        screen->turn = PLAIN_WORDS;
    switch (screen->turn) {
    case PLAIN_VALUE:
        view_of(ask_field(ask))->prompt(ask_field(ask), out);
        return;
    case PLAIN_WORDS:
        text_add_format(out, ask_is_one_line(ask, ask_field(ask)->field) ? "%s " : "%s\n",
                        i18n_text(ask_is_one_line(ask, ask_field(ask)->field)
                                      ? TEXT_PLAIN_TEXT
                                      : TEXT_PLAIN_TEXT_LINES));
        return;
    case PLAIN_NOTE:
        text_add_format(out, "%s ", i18n_text(TEXT_PLAIN_NOTE));
        return;
    case PLAIN_SEND:
        ask_describe_all(ask, &words);
        i18n_format(out, TEXT_PLAIN_SEND, "answer", text_string(&words), NULL);
        text_add_char(out, ' ');
        text_release(&words);
        return;
    case PLAIN_CODE:
        i18n_format(out, TEXT_PLAIN_CODE, "code", ask->challenge, NULL);
        text_add_char(out, ' ');
        return;
    case PLAIN_WHY:
        text_add_format(out, "%s ", i18n_text(TEXT_PLAIN_WHY));
        return;
    case PLAIN_CANCEL:
        text_add_format(out, "%s ", i18n_text(TEXT_PLAIN_CANCEL));
        return;
    default:
        return;
    }
}

void plain_add_sent(const struct plain_screen *screen, struct text *out)
{
    const struct ask_screen *ask = screen->ask;
    struct text taken = { 0 };

    facts_add_since(&taken, ask->facts.created_utc_ms, ask->now.utc_ms);
    i18n_format(out, TEXT_PLAIN_SENT, "answer", text_string(&ask->sent), "time",
                text_string(&taken), NULL);
    text_add_char(out, '\n');
    if (ask->phase == PHASE_SAVED) {
        i18n_format(out, TEXT_PLAIN_UNDO, "seconds",
                    TEXT_NUMBER((ask->undo_until_mono_ms - ask->now.mono_ms + 999) / 1000), NULL);
        text_add_char(out, '\n');
    }
    text_release(&taken);
}

void plain_add_end(const struct plain_screen *screen, struct text *out)
{
    struct canvas canvas = { 0 };
    struct text written = { 0 };

    ask_screen_draw_summary(screen->ask, &canvas, PLAIN_COLUMNS);
    text_add_char(out, '\n');
    for (int row = 0; row < canvas.rows; row++) {
        canvas_write_row(&canvas, row, out);
        text_add_char(out, '\n');
    }
    ask_add_written(screen->ask, &written);
    if (written.used > 0) {
        char *visible = facts_visible(text_string(&written), true);

        add_lines(out, 0, i18n_text(TEXT_TUI_NOT_SENT));
        add_lines(out, 3, visible);
        free(visible);
    }
    canvas_release(&canvas);
    text_release(&written);
}
