/* inbox_history.c - what was decided before: a list to search in, in the inbox (R6.3). */
#include <stdlib.h>
#include <string.h>

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

static void move(struct inbox_history *history, int by)
{
    int last = history->count > 0 ? (int)history->count - 1 : 0, at = (int)history->cursor + by;

    history->cursor = (size_t)(at < 0 ? 0 : at < last ? at : last);
}

void inbox_history_key(struct inbox_screen *screen, const struct key *key)
{
    struct inbox_history *history = &screen->history;
    const struct history_row *row =
        history->cursor < history->count ? &history->rows[history->cursor] : NULL;
    char letter = key_letter(key);

    if (history->is_searching) {
        bool was_empty = history->search.text.used == 0;

        history->is_searching = edit_search_key(&history->search, key);
        if (!history->is_searching && !(was_empty && key->code == KEY_ESCAPE))
            look_back(screen);
    } else if (key_distance(key) != 0) {
        move(history, key_distance(key));
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

/* Where nobody answered it by hand: how it was. */
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

static void draw_rows(struct inbox_screen *screen, struct pen *pen, int rows)
{
    struct inbox_history *history = &screen->history;
    size_t room = rows - 5 > 1 ? (size_t)(rows - 5) : 1;

    history->top = inbox_top(history->top, history->cursor, room);
    for (size_t i = history->top; i < history->count && i < history->top + room; i++)
        draw_row(screen, &history->rows[i], i == history->cursor, pen);
    if (history->count == 0 && !history->is_waiting) {
        pen_at(pen, 3, INK_QUIET, i18n_text(TEXT_TUI_HISTORY_EMPTY));
        pen->row++;
    }
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
    struct text count = { 0 };

    text_add_format(&count, "%zu%s", history->count, history->has_more ? "+" : "");
    draw_list_head(pen, screen->marks, i18n_text(TEXT_TUI_HISTORY), text_string(&count));
    draw_rows(screen, pen, rows - (has_search ? 1 : 0));
    pen->row++;
    if (has_search)
        draw_search(pen, &history->search, history->is_searching);
    draw_hint_row(pen, hints, ARRAY_LEN(hints));
    text_release(&count);
}
