/* inbox_history.c - see inbox_history.h. */
#include "tui/inbox_history.h"

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

enum { SEARCH_BYTES = 100, AGE_COLUMN = 5, TITLE_COLUMN = 13 };

void inbox_history_init(struct inbox_history *history)
{
    edit_init(&history->search, false, SEARCH_BYTES, "");
}

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

void inbox_history_write_query(struct inbox_history *history, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    history->is_waiting = true;
    json_write_text(&writer, "which", "completed");
    json_write_integer(&writer, "limit", HISTORY_ROWS);
    json_write_text_if(&writer, "search", text_string(&history->search.text));
    json_write_end_object(&writer);
}

void inbox_history_take(struct inbox_history *history, const struct json *result, const char *home,
                        struct screen_time now)
{
    const struct json *asks = json_member(result, "asks");

    forget(history);
    for (size_t i = 0; i < json_length(asks) && i < HISTORY_ROWS; i++) {
        struct history_row *row = &history->rows[history->count++];
        const struct json *ask = json_item(asks, i), *yes = json_member(ask, "confirmed");
        const char *answer = json_member_text(ask, "summary");

        if (json_kind(yes) == KIND_BOOL)
            answer = i18n_text(json_is_yes(yes) ? TEXT_TUI_YES : TEXT_TUI_NO);
        *row = (struct history_row){ 0 };
        facts_read(&row->facts, ask, home, now);
        row->answer = facts_visible(answer ? answer : "", false);
    }
    history->has_more = json_member_text(result, "next") != NULL;
    history->is_waiting = false;
    history->cursor = history->top = 0;
}

const char *inbox_history_id(const struct inbox_history *history)
{
    return history->cursor < history->count ? history->rows[history->cursor].facts.id : NULL;
}

static void move(struct inbox_history *history, int by)
{
    int last = history->count > 0 ? (int)history->count - 1 : 0, at = (int)history->cursor + by;

    history->cursor = (size_t)(at < 0 ? 0 : at < last ? at : last);
}

static enum history_wish key_in_search(struct inbox_history *history, const struct key *key)
{
    if (key->code == KEY_ESCAPE && history->search.text.used == 0) {
        history->is_searching = false;
        return HISTORY_NOTHING;
    }
    if (key->code == KEY_ENTER || key->code == KEY_ESCAPE) {
        history->is_searching = false;
        if (key->code == KEY_ESCAPE) {
            edit_clear(&history->search);
        }
        return HISTORY_LOOK;
    }
    edit_key(&history->search, key);
    return HISTORY_NOTHING;
}

enum history_wish inbox_history_key(struct inbox_history *history, const struct key *key)
{
    char letter = key_letter(key);

    if (history->is_searching)
        return key_in_search(history, key);
    if (key_distance(key) != 0)
        move(history, key_distance(key));
    else if (key->code == KEY_ENTER)
        return HISTORY_OPEN;
    else if (letter == 'a')
        return HISTORY_STAND;
    else if (letter == '/')
        history->is_searching = true;
    else if (key->code == KEY_ESCAPE || letter == 'q' || letter == 'h')
        return HISTORY_CLOSE;
    return HISTORY_NOTHING;
}

/* Where nobody answered it by hand: how it was. */
static const char *how(const struct facts *facts)
{
    if (facts->state != STATE_AUTO_SUBMITTED)
        return "";
    return strcmp(facts->via, "rule") == 0 ? i18n_text(TEXT_CHANNEL_RULE)
                                           : state_text(facts->state);
}

static void draw_row(const struct history_row *row, bool is_here, const struct marks *marks,
                     struct screen_time now, struct pen *pen)
{
    int64_t age_s = (now.utc_ms - row->facts.decided_utc_ms) / 1000;
    int room = pen->end - TITLE_COLUMN, middle = TITLE_COLUMN + room / 2;
    bool is_narrow = pen->end < SCREEN_NARROW;
    const char *answer = *row->answer ? row->answer : state_text(row->facts.state);
    struct text age = { 0 };

    facts_add_duration(&age, age_s > 0 ? age_s : 0);
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

static void draw_rows(struct inbox_history *history, const struct marks *marks,
                      struct screen_time now, struct pen *pen, int rows)
{
    size_t room = rows - 5 > 1 ? (size_t)(rows - 5) : 1;

    if (history->top > history->cursor)
        history->top = history->cursor;
    if (history->cursor >= history->top + room)
        history->top = history->cursor - room + 1;
    for (size_t i = history->top; i < history->count && i < history->top + room; i++)
        draw_row(&history->rows[i], i == history->cursor, marks, now, pen);
    if (history->count == 0 && !history->is_waiting) {
        pen_at(pen, 3, INK_QUIET, i18n_text(TEXT_TUI_HISTORY_EMPTY));
        pen->row++;
    }
}

void inbox_history_draw(struct inbox_history *history, const struct marks *marks,
                        struct screen_time now, struct pen *pen, int rows)
{
    const struct hint hints[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_LOOK), 9, false },
        { "a", i18n_text(TEXT_TUI_KEY_LET_STAND), 7, false },
        { "/", i18n_text(TEXT_TUI_KEY_SEARCH), 8, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false },
    };
    bool has_search = history->is_searching || history->search.text.used > 0;
    struct text line = { 0 };

    pen_at(pen, pen->left, INK_STRONG, i18n_text(TEXT_TUI_HISTORY));
    text_add_format(&line, "%s%s", TEXT_NUMBER((int64_t)history->count),
                    history->has_more ? "+" : "");
    pen_right(pen, INK_QUIET, text_string(&line));
    pen->row++;
    for (int i = 0; i < pen->canvas->columns; i++)
        canvas_put_text(pen->canvas, pen->row, i, pen->canvas->columns, INK_QUIET, marks->gone);
    pen->row++;
    draw_rows(history, marks, now, pen, rows - (has_search ? 1 : 0));
    pen->row++;
    if (has_search) {
        pen_at(pen, pen->left, INK_ACCENT, "/");
        pen->row = edit_draw(&history->search, pen->canvas, pen->row, pen->left + 2, pen->end, 1,
                             history->is_searching);
    }
    draw_hint_row(pen, hints, ARRAY_LEN(hints));
    text_release(&line);
}
