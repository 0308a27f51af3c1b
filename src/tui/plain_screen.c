/* plain_screen.c - see plain_screen.h. What is asked next is a row; what is printed is
 * plain_text.c's. */
#include "tui/plain_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/field_list.h"
#include "tui/field_view.h"

static void ask_for(struct plain_screen *screen, enum plain_turn turn, struct text *out)
{
    screen->turn = turn;
    plain_add_prompt(screen, out);
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
        plain_add_field(screen, out);
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
    edit_set(edit, strlen(words) <= edit->most_bytes ? words : "");
}

static bool is_yes(const char *line)
{
    return strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 || strcmp(line, "yes") == 0 ||
           strcmp(line, "是") == 0;
}

static bool is_no(const char *line)
{
    return strcmp(line, "n") == 0 || strcmp(line, "N") == 0 || strcmp(line, "no") == 0 ||
           strcmp(line, "否") == 0;
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
        plain_add_prompt(screen, out);
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
        plain_add_prompt(screen, out);
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
    bool is_texting =
        screen->turn == PLAIN_WORDS || screen->turn == PLAIN_NOTE || screen->turn == PLAIN_WHY;

    if (screen->turn == PLAIN_CODE || screen->turn == PLAIN_WAITING || strlen(line) != 1 ||
        (is_texting && *line != '\0'))
        return false;
    switch (*line) {
    case 'e':
        ask_extend(screen->ask, SCREEN_EXTEND_S);
        return true;
    case 't':
        plain_add_time(screen, out);
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
    plain_add_prompt(screen, out);
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
        plain_add_prompt(screen, out);
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
    plain_add_question(screen, out);
    if (ask->phase == PHASE_THEIRS) {
        plain_add_end(screen, out);
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
            plain_add_end(screen, out);
        screen->turn = PLAIN_WAITING;
    } else if (before == PHASE_SENDING && ask->phase != before) {
        if (ask->phase == PHASE_OPEN) { /* refused */
            text_add_format(out, "%s\n", text_string(&ask->problem));
            begin_again(screen, out);
        } else {
            plain_add_sent(screen, out);
        }
    } else if (news == NEWS_UNDONE && ask->phase == PHASE_OPEN) {
        begin_again(screen, out);
    } else if (ask->is_lost && !was_lost) {
        say(out, TEXT_PLAIN_LOST);
    } else if (was_lost && !ask->is_lost) {
        say(out, TEXT_PLAIN_BACK);
        plain_add_prompt(screen, out);
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
        plain_add_time(screen, out);
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
