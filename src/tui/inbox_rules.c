/*
 * inbox_rules.c - answers that stand, in the inbox: those there are, those that history proposes,
 * and one before it is made: for which asks, and what it would have answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/draw.h"
#include "tui/facts.h"
#include "tui/inbox_screen.h"
#include "tui/keyboard.h"

enum { DAY_S = 86400 };
static const struct {
    int64_t days;
    const char *digit;
    enum text_id words;
} terms[] = {
    { 1, "1", TEXT_TUI_STANDING_DAY },    { 7, "2", TEXT_TUI_STANDING_WEEK },
    { 30, "3", TEXT_TUI_STANDING_MONTH }, { 90, "4", TEXT_TUI_STANDING_QUARTER },
    { 365, "5", TEXT_TUI_STANDING_YEAR },
};

static void copy_id(char out[32], const char *id)
{
    snprintf(out, 32, "%s", id ? id : "");
}

static void release_row(struct rule_row *row)
{
    free(row->title);
    free(row->answer);
    free(row->agent);
    free(row->directory);
    free(row->person);
    *row = (struct rule_row){ 0 };
}

static void release_case(struct rule_case *look)
{
    release_row(&look->facts);
    for (size_t i = 0; i < look->past_count; i++)
        free(look->past[i].answer);
    look->past_count = 0;
}

static void forget(struct inbox_rules *rules, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        release_row(&rules->rows[i]);
}

void inbox_rules_release(struct inbox_rules *rules)
{
    forget(rules, 0, rules->count);
    release_case(&rules->look);
}

/* What the one that is looked at would have answered; `days` > 0: it is to stand so long. */
static void emit_case(struct inbox_screen *screen, enum screen_effect_kind kind, int64_t days)
{
    const struct rule_case *look = &screen->rules.look;
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    json_write_bool_if(&writer, "any_prompt", look->any_prompt);
    if (days > 0)
        json_write_integer(&writer, "seconds", days * DAY_S);
    json_write_end_object(&writer);
    inbox_emit(screen, &(struct screen_effect){
                           .kind = kind, .session_id = look->from, .json = text_string(&params) });
    text_release(&params);
}

void inbox_consider(struct inbox_screen *screen, const char *from, bool any_prompt,
                    bool is_from_history)
{
    struct inbox_rules *rules = &screen->rules;

    release_case(&rules->look);
    rules->look = (struct rule_case){
        .any_prompt = any_prompt,
        .is_waiting = true,
        .is_from_history = is_from_history,
    };
    copy_id(rules->look.from, from);
    rules->is_case = true;
    screen->panel = INBOX_RULES;
    emit_case(screen, EFFECT_CASE, 0);
}

void inbox_open_rules(struct inbox_screen *screen)
{
    screen->panel = INBOX_RULES;
    screen->rules.is_case = screen->rules.is_revoking = false;
    inbox_emit_kind(screen, EFFECT_RULES);
}

/* Visible; owned by the caller. */
static char *member(const struct json *object, const char *name, const char *fallback)
{
    const char *text = json_member_text(object, name);

    return facts_visible(text ? text : fallback, false);
}

static void read_facts(struct rule_row *row, const struct json *facts, const char *home)
{
    row->title = member(facts, "title", "");
    row->agent = member(facts, "agent", "?");
    row->directory = facts_directory(json_member_text(facts, "directory"), home);
    row->answer = facts_answer(facts);
    row->any_prompt = json_is_true(json_member(facts, "any_prompt"));
    copy_id(row->from, json_member_text(facts, "from"));
}

/* The row under the cursor stays it, wherever it is now. */
static void keep_cursor(struct inbox_rules *rules, const char *id, const char *from)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule_row *row = &rules->rows[i];

        if (strcmp(row->id, id) == 0 && strcmp(row->from, from) == 0)
            rules->cursor = i;
    }
    if (rules->cursor >= rules->count)
        rules->cursor = rules->count > 0 ? rules->count - 1 : 0;
}

/* What was proposed stays behind what stands, whichever comes first. */
static void take_rules(struct inbox_rules *rules, const struct json *listed, const char *home)
{
    size_t proposed = rules->count - rules->rule_count, wanted = json_length(listed);
    bool is_there = false;

    if (wanted > RULES_ROWS - proposed)
        wanted = RULES_ROWS - proposed;
    forget(rules, 0, rules->rule_count);
    memmove(rules->rows + wanted, rules->rows + rules->rule_count, proposed * sizeof *rules->rows);
    memset(rules->rows, 0, wanted * sizeof *rules->rows);
    for (size_t i = 0; i < wanted; i++) {
        const struct json *rule = json_item(listed, i);
        struct rule_row *row = &rules->rows[i];

        read_facts(row, json_member(rule, "rule"), home);
        copy_id(row->id, json_member_text(rule, "id"));
        row->person = member(json_member(rule, "made_by"), "person", "?");
        row->until_utc_ms = facts_time(json_member(rule, "expires_at"));
        row->is_over = json_is_true(json_member(rule, "expired"));
        is_there = is_there || strcmp(row->id, rules->revoking) == 0;
    }
    rules->rule_count = wanted;
    rules->count = wanted + proposed;
    rules->has_rules = true;
    rules->is_revoking = rules->is_revoking && is_there; /* else it was revoked elsewhere */
}

static void take_proposed(struct inbox_rules *rules, const struct json *proposed, const char *home)
{
    forget(rules, rules->rule_count, rules->count);
    rules->count = rules->rule_count;
    for (size_t i = 0; i < json_length(proposed) && rules->count < RULES_ROWS; i++) {
        const struct json *one = json_item(proposed, i);
        struct rule_row *row = &rules->rows[rules->count++];

        *row = (struct rule_row){ .count = json_member_integer(one, "count", 0) };
        read_facts(row, json_member(one, "rule"), home);
    }
    rules->has_proposed = true;
}

static void take_case(struct rule_case *look, const struct json *json, const char *home)
{
    const struct json *asks = json_member(json, "asks");
    const char *from = json_member_text(json, "from"), *tool = json_member_text(json, "tool");

    if (!from || strncmp(from, look->from, strlen(look->from)) != 0 ||
        json_is_true(json_member(json, "any_prompt")) != look->any_prompt)
        return; /* the person looks at another one by now */
    release_case(look);
    read_facts(&look->facts, json, home);
    look->may_any_prompt = tool && strcmp(tool, "provide_choice") == 0;
    look->same = json_member_integer(json, "same", 0);
    look->other = json_member_integer(json, "other", 0);
    for (size_t i = 0; i < json_length(asks) && i < RULES_CASES; i++) {
        const struct json *ask = json_item(asks, i);

        look->past[look->past_count++] = (struct rule_past){
            .answer = facts_answer(ask),
            .utc_ms = facts_time(json_member(ask, "created_at")),
            .is_same = json_is_true(json_member(ask, "same")),
        };
    }
    look->is_waiting = look->is_refused = false;
}

static void take(struct inbox_screen *screen, enum screen_news news, const struct json *json)
{
    struct inbox_rules *rules = &screen->rules;
    const char *home = screen->setup.home;
    char id[32] = "", from[32] = "";

    if (rules->cursor < rules->count) {
        memcpy(id, rules->rows[rules->cursor].id, sizeof id);
        memcpy(from, rules->rows[rules->cursor].from, sizeof from);
    }
    switch (news) {
    case NEWS_RULES:
        take_rules(rules, json_member(json, "rules"), home);
        keep_cursor(rules, id, from);
        break;
    case NEWS_PROPOSED:
        take_proposed(rules, json_member(json, "suggestions"), home);
        keep_cursor(rules, id, from);
        break;
    case NEWS_CASE:
        if (rules->is_case)
            take_case(&rules->look, json, home);
        break;
    case NEWS_STANDS:
        rules->is_case = false;
        inbox_say(screen, i18n_text(TEXT_TUI_STANDING_ADDED));
        break;
    case NEWS_REVOKED:
        inbox_say(screen, i18n_text(TEXT_TUI_STANDING_REVOKED));
        break;
    case NEWS_REFUSED: /* what it says is told; there may be nothing more to do here */
        rules->look.is_refused = rules->look.is_waiting;
        rules->look.is_waiting = false;
        break;
    default:
        break;
    }
}

void inbox_take_rules(struct inbox_screen *screen, enum screen_news news, const struct json *json)
{
    if (screen->panel != INBOX_RULES)
        return; /* it is asked for when it is opened */
    take(screen, news, json);
    if (news == NEWS_STANDS || news == NEWS_RULED || news == NEWS_LIST)
        inbox_emit_kind(screen, EFFECT_RULES);
}

static void key_in_case(struct inbox_screen *screen, const struct key *key, char letter)
{
    struct rule_case *look = &screen->rules.look;

    if (key->code == KEY_ESCAPE || letter == 'q' || look->is_refused) {
        screen->rules.is_case = false;
        if (look->is_from_history)
            inbox_open_history(screen);
    } else if (look->is_waiting) {
        return; /* not before it was seen what it means */
    } else if (letter == 'p' && look->may_any_prompt) {
        look->any_prompt = !look->any_prompt;
        look->is_waiting = true;
        emit_case(screen, EFFECT_CASE, 0);
    } else if (letter >= '1' && letter < '1' + (int)ARRAY_LEN(terms)) {
        emit_case(screen, EFFECT_STAND, terms[letter - '1'].days);
    }
}

static void key_in_revoking(struct inbox_screen *screen, char letter)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    screen->rules.is_revoking = false;
    json_write_text(&writer, "id", screen->rules.revoking);
    json_write_end_object(&writer);
    if (letter == 'y')
        inbox_emit(screen,
                   &(struct screen_effect){ .kind = EFFECT_REVOKE, .json = text_string(&params) });
    text_release(&params);
}

static void key_on_row(struct inbox_screen *screen, const struct key *key, char letter)
{
    struct inbox_rules *rules = &screen->rules;
    const struct rule_row *row = &rules->rows[rules->cursor];

    if (rules->cursor >= rules->count)
        return;
    if (row->id[0] && (letter == 'd' || key->code == KEY_DELETE)) {
        rules->is_revoking = true;
        memcpy(rules->revoking, row->id, sizeof rules->revoking);
    } else if (row->id[0] && key->code == KEY_ENTER) {
        inbox_look(screen, row->from);
    } else if (!row->id[0] && (key->code == KEY_ENTER || letter == 'a')) {
        inbox_consider(screen, row->from, row->any_prompt, false);
    }
}

void inbox_rules_key(struct inbox_screen *screen, const struct key *key)
{
    char letter = key_letter(key);
    size_t *cursor = &screen->rules.cursor;

    if (screen->rules.is_case)
        key_in_case(screen, key, letter);
    else if (screen->rules.is_revoking)
        key_in_revoking(screen, letter);
    else if (key_distance(key) == -1)
        *cursor -= *cursor > 0;
    else if (key_distance(key) == 1)
        *cursor += *cursor + 1 < screen->rules.count;
    else if (key->code == KEY_ESCAPE || letter == 'q')
        screen->panel = INBOX_LIST;
    else
        key_on_row(screen, key, letter);
}

/* The list of answers that stand, and one before it does. */

enum {
    MARK_COLUMN = 3,
    TITLE_COLUMN = 5,
    ROW_LINES = 2,
    LABEL_COLUMNS = 12,
    AROUND = 8,
    ROOMY_ROWS = 22
};

/* Until when, or how often it was answered so. */
static void add_term(struct text *out, const struct rule_row *row)
{
    struct text day = { 0 };

    if (row->id[0]) {
        i18n_add_when(&day, row->until_utc_ms, 0); /* with its day, also where it is today */
        i18n_format(out, row->is_over ? TEXT_TUI_STANDING_OVER : TEXT_TUI_STANDING_UNTIL, "time",
                    text_string(&day), "person", row->person, NULL);
    } else {
        i18n_format(out, TEXT_TUI_STANDING_TIMES, "count", TEXT_NUMBER(row->count), NULL);
    }
    text_release(&day);
}

/* Two lines: the question and the answer; until when, and for whose asks. */
static void draw_row(const struct rule_row *row, bool is_here, const struct marks *marks,
                     struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW, is_proposed = !row->id[0];
    int middle = is_narrow ? pen->end : TITLE_COLUMN + (pen->end - TITLE_COLUMN) * 3 / 5;
    struct text term = { 0 };

    add_term(&term, row);
    if (is_here)
        pen_at(pen, pen->left, INK_ACCENT, marks->cursor);
    pen_at(pen, MARK_COLUMN, is_proposed || row->is_over ? INK_QUIET : INK_OK,
           is_proposed    ? "+"
           : row->is_over ? "-"
                          : marks->done);
    pen_cut(pen, TITLE_COLUMN, middle, is_here ? INK_STRONG : INK_PLAIN, row->title,
            marks->cut_end);
    if (!is_narrow)
        pen_cut(pen, middle + 2, pen->end, INK_PLAIN, row->answer, marks->cut_end);
    pen->row++;
    if (is_narrow) {
        pen_cut(pen, TITLE_COLUMN, pen->end, INK_QUIET, row->answer, marks->cut_end);
    } else {
        pen_cut(pen, TITLE_COLUMN, middle, INK_QUIET, text_string(&term), marks->cut_end);
        text_clear(&term);
        text_add_format(&term, "\"%s\" %s", row->agent, row->directory);
        pen_cut(pen, middle + 2, pen->end, INK_QUIET, text_string(&term), marks->cut_end);
    }
    pen->row++;
    text_release(&term);
}

/* As many whole rows as fit, the one under the cursor among them. */
static void draw_rows(struct inbox_rules *rules, const struct marks *marks, struct pen *pen,
                      int rows)
{
    size_t room = rows - AROUND > ROW_LINES ? (size_t)(rows - AROUND) / ROW_LINES : 1;

    rules->top = rules->count > room ? inbox_top(rules->top, rules->cursor, room) : 0;
    if (rules->rule_count == 0 && rules->has_rules)
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_TUI_STANDING_NONE));
    for (size_t i = rules->top; i < rules->count && i < rules->top + room; i++) {
        if (i == rules->rule_count) {
            pen->row++;
            pen_line(pen, pen->left, INK_QUIET, i18n_text(TEXT_TUI_STANDING_PROPOSED));
        }
        draw_row(&rules->rows[i], i == rules->cursor, marks, pen);
    }
    if (rules->count == rules->rule_count && rules->has_proposed) {
        pen->row++;
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_RULE_NO_SUGGESTIONS));
    }
}

static void draw_list_keys(const struct inbox_rules *rules, struct pen *pen)
{
    const struct hint revoking[] = {
        { "y", i18n_text(TEXT_TUI_KEY_REVOKE), 9, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_KEEP), 10, false },
    };
    const struct hint rule[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_LOOK), 8, false },
        { "d", i18n_text(TEXT_TUI_KEY_REVOKE), 9, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false },
    };
    const struct hint proposed[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_LET_STAND), 9, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false },
    };
    bool is_proposed = rules->cursor >= rules->rule_count;

    if (rules->is_revoking) {
        pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_STANDING_REVOKE));
        draw_hint_row(pen, revoking, ARRAY_LEN(revoking));
    } else if (rules->count == 0) {
        draw_hint_row(pen, rule + 2, 1);
    } else if (is_proposed) {
        draw_hint_row(pen, proposed, ARRAY_LEN(proposed));
    } else {
        draw_hint_row(pen, rule, ARRAY_LEN(rule));
    }
}

/* In one line where the screen is low: the keys below must be seen. */
static void draw_fact(struct pen *pen, enum text_id label, const char *value, const char *cut)
{
    int column = pen->left + LABEL_COLUMNS;

    if (!*value)
        return;
    pen_at(pen, pen->left, INK_QUIET, i18n_text(label));
    if (cut)
        pen_cut(pen, column, pen->end, INK_PLAIN, value, cut);
    else
        pen_wrap(pen, column, INK_PLAIN, value, strlen(value));
    pen->row++;
}

static void draw_cases(const struct inbox_screen *screen, struct pen *pen, int max)
{
    const struct rule_case *look = &screen->rules.look;
    const struct marks *marks = screen->marks;
    struct text line = { 0 };

    i18n_format(&line, TEXT_RULE_SO_FAR, "same", TEXT_NUMBER(look->same), "other",
                TEXT_NUMBER(look->other), NULL);
    pen_lines(pen, look->other > 0 ? INK_WARN : INK_PLAIN, text_string(&line));
    for (size_t i = 0; i < look->past_count && (int)i < max; i++) {
        const struct rule_past *past = &look->past[i];

        text_clear(&line);
        facts_add_since(&line, past->utc_ms, screen->now.utc_ms);
        pen_at(pen, MARK_COLUMN, past->is_same ? INK_OK : INK_WARN,
               past->is_same ? marks->done : "!");
        pen_at(pen, TITLE_COLUMN, INK_QUIET, text_string(&line));
        pen_cut(pen, TITLE_COLUMN + 10, pen->end, INK_PLAIN, past->answer, marks->cut_end);
        pen->row++;
    }
    text_release(&line);
}

static void draw_case_keys(const struct rule_case *look, struct pen *pen)
{
    struct hint hints[ARRAY_LEN(terms) + 2];
    size_t count = 0;

    if (!look->is_refused) {
        pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_STANDING_ASK));
        for (; count < ARRAY_LEN(terms); count++)
            hints[count] = (struct hint){ terms[count].digit, i18n_text(terms[count].words),
                                          count == 2 ? 9 : 7 - (int)count, false };
        if (look->may_any_prompt)
            hints[count++] = (struct hint){ "p", i18n_text(TEXT_RULE_ROW_PROMPT), 8, false };
    }
    hints[count++] = (struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false };
    draw_hint_row(pen, hints, count);
}

static void draw_case(const struct inbox_screen *screen, struct pen *pen, int rows)
{
    const struct rule_case *look = &screen->rules.look;
    const struct rule_row *facts = &look->facts;
    const char *cut = rows < ROOMY_ROWS ? screen->marks->cut_end : NULL;
    struct text agent = { 0 };

    draw_list_head(pen, screen->marks, i18n_text(TEXT_TUI_STANDING_CASE), "");
    if (facts->title) {
        text_add_format(&agent, "\"%s\"", facts->agent);
        draw_fact(pen, TEXT_ROW_TITLE, facts->title, cut);
        draw_fact(pen, TEXT_ROW_ANSWER, facts->answer, cut);
        draw_fact(pen, TEXT_ROW_AGENT, text_string(&agent), cut);
        draw_fact(pen, TEXT_ROW_DIRECTORY, facts->directory, cut);
        draw_fact(pen, TEXT_RULE_ROW_PROMPT,
                  i18n_text(look->any_prompt ? TEXT_RULE_ANY_PROMPT : TEXT_RULE_SAME_PROMPT), cut);
        pen->row++;
        draw_cases(screen, pen, rows - pen->row - 4);
    }
    pen->row++;
    pen_text(pen, INK_WARN, &screen->said);
    draw_case_keys(look, pen);
    text_release(&agent);
}

void inbox_rules_draw(struct inbox_screen *screen, struct pen *pen, int rows)
{
    struct inbox_rules *rules = &screen->rules;

    if (rules->is_case) {
        draw_case(screen, pen, rows);
        return;
    }
    draw_list_head(pen, screen->marks, i18n_text(TEXT_TUI_STANDING),
                   TEXT_NUMBER((int64_t)rules->rule_count));
    draw_rows(rules, screen->marks, pen, rows);
    pen->row++;
    pen_text(pen, INK_ACCENT, &screen->said);
    draw_list_keys(rules, pen);
}
