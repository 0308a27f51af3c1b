/*
 * inbox_panels.c - what lies over the list of the inbox and has the keys while it is open. To add
 * one: a name in enum inbox_panel, and its keys and its picture, like inbox_rules.c.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/glyph.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/draw.h"
#include "tui/inbox_screen.h"
#include "tui/keyboard.h"
#include "tui/settings_panel.h"

static void key_in_settings(struct inbox_screen *screen, const struct key *key)
{
    const char *name = setting_row(settings_panel_id(&screen->settings))->name;
    char *value;

    switch (settings_panel_key(&screen->settings, &screen->preferences, key, &value)) {
    case SETTINGS_CHANGE:
        inbox_emit(screen,
                   &(struct screen_effect){ .kind = EFFECT_SETTING, .name = name, .text = value });
        break;
    case SETTINGS_CLOSE:
        screen->panel = INBOX_LIST;
        break;
    default:
        break;
    }
    free(value);
}

void inbox_look(struct inbox_screen *screen, const char *id)
{
    text_put(screen->opening, sizeof screen->opening, id);
    inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_LOOK, .session_id = id });
}

/* What was decided before: a list to search in (R6.3). */

enum { AGE_COLUMN = 5, TITLE_COLUMN = 13 };

static void forget(struct inbox_history *history)
{
    for (size_t i = 0; i < history->count; i++) {
        facts_release(&history->rows[i].facts);
        free(history->rows[i].answer);
    }
    history->count = 0;
}

void inbox_history_release(struct inbox_history *history)
{
    forget(history);
    edit_release(&history->search);
}

static void look_back(struct inbox_screen *screen)
{
    struct inbox_history *history = &screen->history;
    struct text query = { 0 };
    struct json_writer writer = json_object_to(&query);

    history->is_waiting = true;
    json_write_text(&writer, "which", "completed");
    json_write_integer(&writer, "limit", HISTORY_ROWS);
    json_write_text_if(&writer, "search", text_string(&history->search.text));
    json_write_end_object(&writer);
    inbox_emit(screen,
               &(struct screen_effect){ .kind = EFFECT_HISTORY, .json = text_string(&query) });
    text_release(&query);
}

void inbox_open_history(struct inbox_screen *screen)
{
    screen->panel = INBOX_HISTORY;
    look_back(screen);
}

void inbox_history_take(struct inbox_screen *screen, const struct json *result)
{
    struct inbox_history *history = &screen->history;
    const struct json *asks = json_member(result, "asks");

    forget(history);
    for (size_t i = 0; i < json_length(asks) && i < HISTORY_ROWS; i++) {
        struct history_row *row = &history->rows[history->count++];

        *row = (struct history_row){ .answer = facts_answer(json_item(asks, i)) };
        facts_read(&row->facts, json_item(asks, i), screen->setup.home, screen->now);
    }
    history->has_more = json_member_text(result, "next") != NULL;
    history->is_waiting = false;
    history->cursor = history->top = 0;
}

static void key_in_history(struct inbox_screen *screen, const struct key *key)
{
    struct inbox_history *history = &screen->history;
    const struct history_row *row =
        history->cursor < history->count ? &history->rows[history->cursor] : NULL;
    char letter = key_letter(key);
    int last = history->count > 0 ? (int)history->count - 1 : 0;
    int at = (int)history->cursor + key_distance(key);

    if (history->is_searching) {
        bool was_empty = history->search.text.used == 0;

        history->is_searching = edit_search_key(&history->search, key);
        if (!history->is_searching && !(was_empty && key->code == KEY_ESCAPE))
            look_back(screen);
    } else if (key_distance(key) != 0) {
        history->cursor = (size_t)(at < 0 ? 0 : at < last ? at : last);
    } else if (key->code == KEY_ENTER && row) {
        inbox_look(screen, row->facts.id);
    } else if (letter == 'a' && row) {
        inbox_consider(screen, row->facts.id, false, true);
    } else if (letter == '/') {
        history->is_searching = true;
    } else if (key->code == KEY_ESCAPE || letter == 'q' || letter == 'h') {
        screen->panel = INBOX_LIST;
    }
}

/* How it was answered, if not by hand. */
static const char *how(const struct facts *facts)
{
    if (facts->state != STATE_AUTO_SUBMITTED)
        return "";
    return strcmp(facts->via, "rule") == 0 ? i18n_text(TEXT_CHANNEL_RULE)
                                           : state_text(facts->state);
}

static void draw_row(const struct inbox_screen *screen, const struct history_row *row, bool is_here,
                     struct pen *pen)
{
    const struct marks *marks = screen->marks;
    int room = pen->end - TITLE_COLUMN, middle = TITLE_COLUMN + room / 2;
    bool is_narrow = pen->end < SCREEN_NARROW;
    const char *answer = *row->answer ? row->answer : state_text(row->facts.state);
    struct text age = { 0 };

    facts_add_since(&age, row->facts.decided_utc_ms, screen->now.utc_ms);
    if (is_here)
        pen_at(pen, pen->left, INK_ACCENT, marks->cursor);
    pen_at(pen, 3, row->facts.state == STATE_SUBMITTED ? INK_OK : INK_QUIET,
           inbox_end_mark(marks, row->facts.state));
    if (!is_narrow)
        pen_at(pen, AGE_COLUMN, INK_QUIET, text_string(&age));
    pen_cut(pen, is_narrow ? AGE_COLUMN : TITLE_COLUMN, is_narrow ? pen->end : middle,
            is_here ? INK_STRONG : INK_PLAIN, row->facts.title, marks->cut_end);
    if (!is_narrow) {
        const char *auto_words = how(&row->facts);
        int end =
            *auto_words ? pen->end - glyph_columns(auto_words, strlen(auto_words)) - 2 : pen->end;

        pen_cut(pen, middle + 2, end, INK_QUIET, answer, marks->cut_end);
        pen_right(pen, INK_ACCENT, auto_words);
    }
    pen->row++;
    text_release(&age);
}

void inbox_history_draw(struct inbox_screen *screen, struct pen *pen, int rows)
{
    struct inbox_history *history = &screen->history;
    const struct hint hints[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_LOOK), 9, false },
        { "a", i18n_text(TEXT_TUI_KEY_LET_STAND), 7, false },
        { "/", i18n_text(TEXT_TUI_KEY_SEARCH), 8, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false },
    };
    bool has_search = history->is_searching || history->search.text.used > 0;
    int room = rows - 5 - has_search > 1 ? rows - 5 - has_search : 1;
    struct text count = { 0 };

    text_add_format(&count, "%zu%s", history->count, history->has_more ? "+" : "");
    draw_list_head(pen, screen->marks, i18n_text(TEXT_TUI_HISTORY), text_string(&count));
    history->top = inbox_top(history->top, history->cursor, (size_t)room);
    for (size_t i = history->top; i < history->count && (int)(i - history->top) < room; i++)
        draw_row(screen, &history->rows[i], i == history->cursor, pen);
    if (history->count == 0 && !history->is_waiting)
        pen_line(pen, 3, INK_QUIET, i18n_text(TEXT_TUI_HISTORY_EMPTY));
    pen->row++;
    if (has_search)
        draw_search(pen, &history->search, history->is_searching);
    draw_hint_row(pen, hints, ARRAY_LEN(hints));
    text_release(&count);
}

/* Answering later. */

static void key_in_snooze(struct inbox_screen *screen, const struct key *key)
{
    const struct facts *row = inbox_current(screen);
    int64_t seconds = snooze_seconds(key_letter(key), screen->now);

    screen->panel = INBOX_LIST;
    if (seconds > 0 && row)
        inbox_emit(screen, &(struct screen_effect){
                               .kind = EFFECT_SNOOZE, .session_id = row->id, .number = seconds });
}

/* Scrolls where it is longer than the screen; any other key leaves it. */
static void key_in_help(struct inbox_screen *screen, const struct key *key)
{
    int by = key_distance(key);

    if (abs(by) != 1 || screen->scroll_max <= 0)
        screen->panel = INBOX_LIST;
    else if (by < 0 ? screen->scroll > 0 : screen->scroll < screen->scroll_max)
        screen->scroll += by;
}

/*
 * What timed out unseen: how many since the last visit, a note to the agent of the
 * newest, and more time for new asks.
 */

/* A note being written is for the agent whose ask is shown, so a new timeout doesn't replace it. */
void inbox_missed_take(struct inbox_missed *missed, const struct json *unseen)
{
    const struct json *newest = json_item(json_member(unseen, "asks"), 0);
    const char *id = json_member_text(newest, "session_id");

    missed->count = id ? json_member_integer(unseen, "count", 0) : 0;
    missed->longer_s = json_member_integer(unseen, "longer_seconds", 0);
    if (missed->count > 0 && missed->note.text.used > 0)
        return;
    text_put(missed->id, sizeof missed->id, id ? id : "");
    free(missed->title);
    missed->title = facts_visible(json_member_text(newest, "title"), false);
}

static void tell(struct inbox_screen *screen, struct inbox_missed *missed)
{
    struct screen_effect effect = { .kind = EFFECT_LOOK, .session_id = missed->id };
    struct text json = { 0 };
    struct json_writer writer = json_object_to(&json);

    json_write_text(&writer, "global_annotation", text_string(&missed->note.text));
    json_write_end_object(&writer);
    if (missed->note.text.used > 0) {
        effect.kind = EFFECT_TELL;
        effect.json = text_string(&json);
    } else { /* it is opened, as one of the history */
        text_put(screen->opening, sizeof screen->opening, missed->id);
    }
    inbox_emit(screen, &effect);
    text_release(&json);
}

static void key_in_missed(struct inbox_screen *screen, const struct key *key)
{
    struct inbox_missed *missed = &screen->missed;
    struct screen_effect longer = { .kind = EFFECT_SETTING,
                                    .name = setting_row(SETTING_TIMEOUT_SECONDS)->name,
                                    .text = TEXT_NUMBER(missed->longer_s) };

    if (key->code == KEY_TAB && missed->longer_s > 0) {
        inbox_emit(screen, &longer);
        missed->longer_s = 0;
    } else if (key->code == KEY_ENTER && missed->count > 0) {
        tell(screen, missed);
    } else if (key->code == KEY_ENTER || key->code == KEY_ESCAPE) {
        screen->panel = INBOX_LIST;
        missed->count = 0;
        inbox_emit(screen, &(struct screen_effect){ .kind = EFFECT_SEEN });
    } else {
        edit_key(&missed->note, key);
    }
}

void inbox_panel_key(struct inbox_screen *screen, const struct key *key)
{
    static void (*const keys[])(struct inbox_screen * screen, const struct key *key) = {
        [INBOX_SETTINGS] = key_in_settings, [INBOX_HELP] = key_in_help,
        [INBOX_HISTORY] = key_in_history,   [INBOX_SNOOZE] = key_in_snooze,
        [INBOX_RULES] = inbox_rules_key,    [INBOX_MISSED] = key_in_missed,
    };

    keys[screen->panel](screen, key);
}

void inbox_missed_draw(struct inbox_screen *screen, struct pen *pen)
{
    struct inbox_missed *missed = &screen->missed;
    struct text line = { 0 }, longer = { 0 };
    struct hint hints[] = {
        { "t", i18n_text(TEXT_TUI_KEY_TELL), 9, false },
        { "Enter", i18n_text(missed->note.text.used > 0 ? TEXT_TUI_KEY_SEND : TEXT_TUI_KEY_LOOK), 9,
          false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 8, false },
        { "Tab", NULL, 7, false },
    };

    i18n_format(&line, missed->count == 1 ? TEXT_TUI_UNSEEN_ONE : TEXT_TUI_UNSEEN, "count",
                TEXT_NUMBER(missed->count), NULL);
    pen_lines(pen, INK_WARN, text_string(&line));
    if (screen->panel == INBOX_MISSED && missed->count > 0) {
        pen_cut(pen, pen->left, pen->end, INK_STRONG, missed->title, screen->marks->cut_end);
        pen->row += 2;
        draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_TELL_NOTE), &missed->note, 3, true,
                           screen->marks->cut_end);
    }
    text_clear(&line);
    facts_add_duration(&line, missed->longer_s);
    i18n_format(&longer, TEXT_TUI_KEY_LONGER, "time", text_string(&line), NULL);
    hints[3].word = text_string(&longer);
    if (screen->panel != INBOX_MISSED)
        draw_hint_row(pen, hints, 1);
    else
        draw_hint_row(pen, hints + 1, missed->longer_s > 0 ? 3 : 2);
    text_release(&line);
    text_release(&longer);
}

enum { MORNING_HOUR = 9 };

static const struct {
    int64_t seconds; /* 0: tomorrow morning */
    enum text_id words;
} choices[] = {
    { 600, TEXT_TUI_LATER_10_MIN },
    { 3600, TEXT_TUI_LATER_1_HOUR },
    { 14400, TEXT_TUI_LATER_4_HOURS },
    { 0, TEXT_TUI_LATER_TOMORROW },
};

static int64_t until_morning(int64_t utc_ms)
{
    time_t now = (time_t)(utc_ms / 1000);
    struct tm local;

    if (!localtime_r(&now, &local))
        return 0;
    local.tm_mday++;
    local.tm_hour = MORNING_HOUR;
    local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    return (int64_t)(mktime(&local) - now);
}

int64_t snooze_seconds(char digit, struct screen_time now)
{
    size_t choice = (size_t)(digit - '1');

    if (digit < '1' || choice >= ARRAY_LEN(choices))
        return 0;
    return choices[choice].seconds ? choices[choice].seconds : until_morning(now.utc_ms);
}

void snooze_draw(struct pen *pen)
{
    static const char *const digits[] = { "1", "2", "3", "4" };
    struct hint hints[ARRAY_LEN(choices) + 1];

    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        hints[i] = (struct hint){ digits[i], i18n_text(choices[i].words), 9 - (int)i, false };
    hints[ARRAY_LEN(choices)] = (struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false };
    pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_LATER_ASK));
    draw_hint_row(pen, hints, ARRAY_LEN(hints));
}
