/* plain_screen.c - see plain_screen.h. First what it says, the question from top to bottom and what
 * is wanted next; then what the person's lines do. */
#include "tui/plain_screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/glyph.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/draw.h"
#include "tui/field_view.h"

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

/* "4 min 12 s" */
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

static void add_time(const struct ask_screen *ask, struct text *out)
{
    struct text left = { 0 }, line = { 0 };
    int64_t left_ms = ask_left_ms(ask);

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
    canvas_write(&canvas, "\n", out);
    canvas_release(&canvas);
}

static void add_question(const struct ask_screen *ask, struct text *out)
{
    struct text answered = { 0 };

    add_facts(ask, out);
    add_time(ask, out);
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

static void add_field(const struct ask_screen *ask, struct text *out)
{
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
    char min[32], max[32];

    snprintf(min, sizeof min, "%.15g", field->minimum);
    snprintf(max, sizeof max, "%.15g", field->maximum);
    i18n_format(out, field->has_minimum && field->has_maximum ? TEXT_NUMBER_RANGE : TEXT_NUMBER_ANY,
                "min", min, "max", max, NULL);
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

/* What the next line of the person will be. */
enum plain_turn {
    PLAIN_VALUE,
    PLAIN_WORDS,
    PLAIN_NOTE,
    PLAIN_SEND,
    PLAIN_CODE,
    PLAIN_WHY,    /* it is cancelled */
    PLAIN_CANCEL, /* the same where notes are off */
    PLAIN_WAITING,
};

struct plain_screen {
    struct ask_screen *ask;
    enum plain_turn turn;
    struct text written; /* lines of a text, until its dot */
    bool has_told_minute, has_told_end;
};

static void add_prompt(struct plain_screen *screen, struct text *out)
{
    static const enum text_id prompts[] = {
        [PLAIN_NOTE] = TEXT_PLAIN_NOTE,     [PLAIN_SEND] = TEXT_PLAIN_SEND,
        [PLAIN_CODE] = TEXT_PLAIN_CODE,     [PLAIN_WHY] = TEXT_PLAIN_WHY,
        [PLAIN_CANCEL] = TEXT_PLAIN_CANCEL,
    };
    struct ask_screen *ask = screen->ask;
    struct field_state *state = ask_field(ask);
    struct text words = { 0 };

    if (screen->turn == PLAIN_VALUE && !view_of(state)->prompt)
        screen->turn = PLAIN_WORDS;
    if (screen->turn == PLAIN_VALUE) {
        view_of(state)->prompt(state, out);
    } else if (screen->turn == PLAIN_WORDS && !ask_is_one_line(ask, state->field)) {
        text_add_format(out, "%s\n", i18n_text(TEXT_PLAIN_TEXT_LINES));
    } else if (screen->turn == PLAIN_WORDS) {
        text_add_format(out, "%s ", i18n_text(TEXT_PLAIN_TEXT));
    } else if (screen->turn != PLAIN_WAITING) {
        if (screen->turn == PLAIN_SEND)
            ask_describe_all(ask, &words);
        i18n_format(out, prompts[screen->turn], "answer", text_string(&words), "code",
                    ask->challenge, NULL);
        text_add_char(out, ' ');
    }
    text_release(&words);
}

static void add_sent(const struct ask_screen *ask, struct text *out)
{
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

static void add_end(const struct ask_screen *ask, struct text *out)
{
    struct canvas canvas = { 0 };
    struct text written = { 0 };

    ask_screen_draw_summary(ask, &canvas, PLAIN_COLUMNS);
    text_add_char(out, '\n');
    canvas_write(&canvas, "\n", out);
    ask_add_written(ask, &written);
    if (written.used > 0) {
        char *visible = facts_visible(text_string(&written), true);

        add_lines(out, 0, i18n_text(TEXT_TUI_NOT_SENT));
        add_lines(out, 3, visible);
        free(visible);
    }
    canvas_release(&canvas);
    text_release(&written);
}

static void ask_for(struct plain_screen *screen, enum plain_turn turn, struct text *out)
{
    screen->turn = turn;
    add_prompt(screen, out);
}

static void say(struct text *out, enum text_id text)
{
    text_add_format(out, "%s\n", i18n_text(text));
}

/* The value of the step, or what comes behind the last one. */
static void ask_for_step(struct plain_screen *screen, struct text *out)
{
    struct ask_screen *ask = screen->ask;

    if (ask->step < ask->form.field_count) {
        add_field(ask, out);
        ask_for(screen, PLAIN_VALUE, out);
    } else if (ask_has_notes(ask)) {
        ask_for(screen, PLAIN_NOTE, out);
    } else {
        ask_for(screen, PLAIN_SEND, out);
    }
}

static void go_on(struct plain_screen *screen, struct text *out)
{
    screen->ask->step++;
    ask_for_step(screen, out);
}

static void set_words(struct edit *edit, const char *words)
{
    edit_set(edit, strlen(words) <= edit->max_bytes ? words : "");
}

static bool is_yes(const char *line)
{
    static const char *const words[] = { "y", "Y", "yes", "是" };

    return text_is_among(line, words, ARRAY_LEN(words));
}

static bool is_no(const char *line)
{
    static const char *const words[] = { "n", "N", "no", "否" };

    return text_is_among(line, words, ARRAY_LEN(words));
}

/* "1 3" or "1,3"; yes or no; false: some of it is no number of an option. */
bool plain_take_choice(struct plain_screen *screen, struct field_state *state, const char *line)
{
    size_t picked = 0;

    if (list_is_one_of_many(state))
        state->has_own = false;
    for (size_t i = 0; i < state->field->option_count; i++)
        state->is_picked[i] = false;
    state->confirm = CONFIRM_OPEN;
    if (class_of(state->field)->is_yes_no && (is_yes(line) || is_no(line)))
        line = is_yes(line) ? "1" : "2";
    while (*line) {
        char *end;
        long number = strtol(line, &end, 10);

        if (end == line || number < 1 || (size_t)number > list_numbered_count(state))
            return false;
        list_pick(screen->ask, state, (size_t)number - 1);
        picked++;
        line = end + strspn(end, " ,\t");
    }
    return picked > 0 || !state->field->is_required || state->field->min_selections == 0;
}

bool plain_take_number(struct plain_screen *screen, struct field_state *state, const char *line)
{
    char *end;
    double number = strtod(line, &end);

    state->has_number = end != line && *end == '\0';
    state->number = number;
    (void)screen;
    return state->has_number || (!*line && !state->field->is_required);
}

static void take_value(struct plain_screen *screen, const char *line, struct text *out)
{
    struct field_state *state = ask_field(screen->ask);

    if (class_of(state->field)->has_words && (strcmp(line, "o") == 0 || strcmp(line, "0") == 0)) {
        text_clear(&screen->written);
        ask_for(screen, PLAIN_WORDS, out);
        return;
    }
    if (!view_of(state)->take_line(screen, state, line)) {
        say(out, TEXT_PLAIN_NOT_UNDERSTOOD);
        add_prompt(screen, out);
        return;
    }
    go_on(screen, out);
}

/* Texts end with a line that holds only a dot; one-line texts with their line. */
static void take_words(struct plain_screen *screen, const char *line, struct text *out)
{
    struct field_state *state = ask_field(screen->ask);
    bool is_one_line = ask_is_one_line(screen->ask, state->field);

    if (!is_one_line && strcmp(line, ".") != 0) {
        text_add_text(&screen->written, screen->written.used ? "\n" : "");
        text_add_text(&screen->written, line);
        return;
    }
    set_words(&state->words, is_one_line ? line : text_string(&screen->written));
    text_clear(&screen->written);
    if (class_of(state->field)->has_options)
        list_pick(screen->ask, state, state->field->option_count);
    go_on(screen, out);
}

static void take_note(struct plain_screen *screen, const char *line, struct text *out)
{
    set_words(&screen->ask->common, line);
    ask_for(screen, PLAIN_SEND, out);
}

static void begin_again(struct plain_screen *screen, struct text *out)
{
    screen->ask->step = 0;
    ask_for_step(screen, out);
}

static void take_send(struct plain_screen *screen, const char *line, struct text *out)
{
    struct ask_screen *ask = screen->ask;

    if (!is_yes(line)) {
        begin_again(screen, out);
        return;
    }
    ask->is_prompt_seen = true; /* all of it was printed */
    ask_send(ask);
    if (ask->phase == PHASE_SENDING || ask->is_challenged) {
        screen->turn = PLAIN_WAITING;
    } else if (ask->is_lost) {
        say(out, TEXT_TUI_NOT_SENT_LOST);
        add_prompt(screen, out);
    } else { /* refused here: the field says why */
        text_add_format(out, "%s\n", text_string(&ask->fields[ask->step].problem));
        ask_for_step(screen, out);
    }
}

static void take_code(struct plain_screen *screen, const char *line, struct text *out)
{
    struct ask_screen *ask = screen->ask;

    set_words(&ask->code, line);
    ask_take_code(ask);
    if (ask->phase == PHASE_SENDING) {
        screen->turn = PLAIN_WAITING;
        return;
    }
    if (*line)
        say(out, TEXT_TUI_OTHER_CODE);
    ask_leave_code(ask);
    begin_again(screen, out);
}

static void take_why(struct plain_screen *screen, const char *line, struct text *out)
{
    (void)out;
    set_words(&screen->ask->why, line);
    ask_cancel(screen->ask);
    screen->turn = PLAIN_WAITING;
}

static void take_waiting(struct plain_screen *screen, const char *line, struct text *out)
{
    (void)out;
    if (screen->ask->phase == PHASE_SAVED && strcmp(line, "u") == 0)
        ask_emit_kind(screen->ask, EFFECT_UNDO);
    else if (screen->ask->phase == PHASE_THEIRS)
        ask_emit_kind(screen->ask, EFFECT_CLOSE);
}

/* Commands, where a line is no text of the person's. */
static bool take_command(struct plain_screen *screen, const char *line, struct text *out)
{
    enum plain_turn turn = screen->turn;

    if (strlen(line) != 1 || (turn != PLAIN_VALUE && turn != PLAIN_SEND && turn != PLAIN_CANCEL))
        return false;
    switch (*line) {
    case 'e':
        ask_extend(screen->ask, SCREEN_EXTEND_S);
        return true;
    case 't':
        add_time(screen->ask, out);
        break;
    case 'w':
        if (!ask_has_portal(screen->ask))
            return false;
        ask_screen_save(screen->ask);
        ask_emit_kind(screen->ask, EFFECT_BROWSER);
        return true;
    case '?':
        say(out, TEXT_PLAIN_HELP);
        break;
    case 'q':
        ask_for(screen, ask_has_notes(screen->ask) ? PLAIN_WHY : PLAIN_CANCEL, out);
        return true;
    default:
        return false;
    }
    add_prompt(screen, out);
    return true;
}

static void take_cancel(struct plain_screen *screen, const char *line, struct text *out)
{
    if (is_yes(line))
        take_why(screen, "", out);
    else
        begin_again(screen, out);
}

void plain_screen_line(struct plain_screen *screen, const char *line, struct screen_time now,
                       struct text *out)
{
    static void (*const takes[])(struct plain_screen *, const char *, struct text *) = {
        [PLAIN_VALUE] = take_value,   [PLAIN_WORDS] = take_words,     [PLAIN_NOTE] = take_note,
        [PLAIN_SEND] = take_send,     [PLAIN_CODE] = take_code,       [PLAIN_WHY] = take_why,
        [PLAIN_CANCEL] = take_cancel, [PLAIN_WAITING] = take_waiting,
    };

    screen->ask->now = now;
    screen->ask->key_mono_ms = now.mono_ms;
    if (now.mono_ms - screen->ask->visible_mono_ms < SCREEN_TOO_EARLY_MS) {
        say(out, TEXT_TUI_TOO_EARLY); /* typed before anybody could read it */
        add_prompt(screen, out);
        return;
    }
    if (!take_command(screen, line, out))
        takes[screen->turn](screen, line, out);
}

bool plain_screen_new(const struct screen_setup *setup, const struct json *whole,
                      struct screen_time now, struct plain_screen **ret_screen, struct text *out,
                      struct error *err)
{
    struct plain_screen *screen;
    struct ask_screen *ask;

    if (!ask_screen_new(setup, whole, now, &ask, err))
        return false;
    screen = mem_new(sizeof *screen);
    screen->ask = ask;
    ask->visible_mono_ms = now.mono_ms;
    add_question(ask, out);
    if (ask->phase == PHASE_THEIRS) {
        add_end(ask, out);
        screen->turn = PLAIN_WAITING;
    } else {
        ask_for_step(screen, out);
    }
    *ret_screen = screen;
    return true;
}

void plain_screen_free(struct plain_screen *screen)
{
    if (!screen)
        return;
    ask_screen_free(screen->ask);
    text_release(&screen->written);
    free(screen);
}

void plain_screen_take(struct plain_screen *screen, enum screen_news news, const struct json *json,
                       struct screen_time now, struct text *out)
{
    struct ask_screen *ask = screen->ask;
    enum ask_phase before = ask->phase;
    bool was_lost = ask->is_lost;

    ask_screen_take(ask, news, json, now);
    if (news == NEWS_CODE && ask->focus == FOCUS_CODE) {
        ask_for(screen, PLAIN_CODE, out);
    } else if (ask->phase == PHASE_THEIRS && (before != PHASE_THEIRS || news == NEWS_WHOLE)) {
        if (news == NEWS_WHOLE || ask->facts.state != STATE_SUBMITTED)
            add_end(ask, out);
        screen->turn = PLAIN_WAITING;
    } else if (before == PHASE_SENDING && ask->phase != before) {
        if (ask->phase == PHASE_OPEN) { /* refused */
            text_add_format(out, "%s\n", text_string(&ask->problem));
            begin_again(screen, out);
        } else {
            add_sent(ask, out);
        }
    } else if (news == NEWS_UNDONE && ask->phase == PHASE_OPEN) {
        begin_again(screen, out);
    } else if (ask->is_lost && !was_lost) {
        say(out, TEXT_PLAIN_LOST);
    } else if (was_lost && !ask->is_lost) {
        say(out, TEXT_PLAIN_BACK);
        add_prompt(screen, out);
    }
}

/* Time is told by itself only twice, on a line of its own. */
void plain_screen_tick(struct plain_screen *screen, struct screen_time now, struct text *out)
{
    int64_t left_ms;

    ask_pass_time(screen->ask, now);
    left_ms = ask_left_ms(screen->ask);
    if (screen->ask->phase != PHASE_OPEN || left_ms < 0)
        return;
    if ((left_ms <= 60000 && !screen->has_told_minute) ||
        (left_ms <= 10000 && !screen->has_told_end)) {
        text_add_char(out, '\n');
        add_time(screen->ask, out);
    }
    screen->has_told_minute = left_ms <= 60000;
    screen->has_told_end = left_ms <= 10000;
}

int64_t plain_screen_wake_ms(const struct plain_screen *screen)
{
    const struct ask_screen *ask = screen->ask;
    int64_t end = ask->facts.deadline_mono_ms;

    if (ask->phase == PHASE_SAVED)
        return ask->undo_until_mono_ms;
    if (ask->phase != PHASE_OPEN || end < 0)
        return -1;
    if (!screen->has_told_minute && end - 60000 > ask->now.mono_ms)
        return end - 60000;
    return !screen->has_told_end && end - 10000 > ask->now.mono_ms ? end - 10000 : -1;
}

int plain_screen_exit_code(const struct plain_screen *screen)
{
    return ask_screen_exit_code(screen->ask);
}
