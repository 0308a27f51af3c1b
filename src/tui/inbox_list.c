/* inbox_list.c - the rows of the inbox: who waits, since when, and what was finished lately. */
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/draw.h"
#include "tui/inbox_screen.h"
#include "tui/settings_panel.h"

enum { HOUR_S = 3600, DAY_S = 86400 };
enum { CLOCK_END = 8, FLAG_COLUMN = 9, TITLE_COLUMN = 11, AGE_COLUMN = 5, AGE_COLUMNS = 8 };

static bool fits(const struct inbox_screen *screen, const struct facts *facts)
{
    const char *words = text_string(&screen->filter.text);

    return !*words || strcasestr(facts->title, words) || strcasestr(facts->agent, words) ||
           strcasestr(facts->directory, words);
}

size_t inbox_open_rows(struct inbox_screen *screen, struct facts *rows[INBOX_ROWS])
{
    size_t count = 0;

    for (size_t i = 0; i < screen->count && count < INBOX_ROWS; i++) {
        if (state_is_open(screen->rows[i].state) && fits(screen, &screen->rows[i]))
            rows[count++] = &screen->rows[i];
    }
    return count;
}

size_t inbox_cursor(struct inbox_screen *screen)
{
    struct facts *rows[INBOX_ROWS];
    size_t count = inbox_open_rows(screen, rows);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i]->id, screen->cursor) == 0)
            return i;
    }
    return 0;
}

struct facts *inbox_current(struct inbox_screen *screen)
{
    struct facts *rows[INBOX_ROWS];
    size_t count = inbox_open_rows(screen, rows), at = inbox_cursor(screen);

    return at < count ? rows[at] : NULL;
}

void inbox_move(struct inbox_screen *screen, int by)
{
    struct facts *rows[INBOX_ROWS];
    size_t count = inbox_open_rows(screen, rows), at = inbox_cursor(screen);

    if (count == 0)
        return;
    if (by < 0 ? at > 0 : at + 1 < count)
        at = by < 0 ? at - 1 : at + 1;
    memcpy(screen->cursor, rows[at]->id, sizeof screen->cursor);
}

size_t inbox_top(size_t top, size_t cursor, size_t room)
{
    if (top > cursor)
        top = cursor;
    return cursor >= top + room ? cursor - room + 1 : top;
}

void inbox_keep_cursor(struct inbox_screen *screen, size_t before)
{
    struct facts *rows[INBOX_ROWS];
    size_t count = inbox_open_rows(screen, rows), now = inbox_cursor(screen);

    if (count == 0)
        return;
    if (strcmp(rows[now]->id, screen->cursor) != 0) { /* it is gone: the next takes its place */
        now = before < count ? before : count - 1;
        memcpy(screen->cursor, rows[now]->id, sizeof screen->cursor);
    } else if (now > before) {
        screen->top += now - before;
    } else if (before > now && screen->top >= before - now) {
        screen->top -= before - now;
    }
}

/* Hours and days in whole ones, never more than there is: their digits would reach the mark. */
static void draw_clock(struct inbox_screen *screen, const struct facts *facts, struct pen *pen)
{
    int64_t left_ms = facts_left_ms(facts, screen->now), left_s = (left_ms + 999) / 1000;
    struct text clock = { 0 };
    int column;

    if (screen->is_lost || left_ms < 0)
        text_add_text(&clock, "-:--");
    else if (left_s >= HOUR_S)
        facts_add_duration(&clock,
                           left_s - left_s % (left_s >= INT64_C(2) * DAY_S ? DAY_S : HOUR_S));
    else
        facts_add_clock(&clock, left_s * 1000);
    column = CLOCK_END - draw_columns(&clock);
    pen_at(pen, column > 2 ? column : 2, draw_clock_ink(left_ms), text_string(&clock));
    text_release(&clock);
}

/* Of the longest title or, in its quotes, agent; not more than `most`. */
static int widest(struct facts **rows, size_t count, bool is_agent, int max)
{
    int columns = 0;

    for (size_t i = 0; i < count; i++) {
        const char *words = is_agent ? rows[i]->agent : rows[i]->title;
        int own = glyph_columns(words, strlen(words)) + (is_agent ? 2 : 0);

        columns = own > columns ? own : columns;
    }
    return columns < max ? columns : max;
}

static void draw_row(struct inbox_screen *screen, struct facts **rows, size_t count, size_t i,
                     struct pen *pen)
{
    const struct facts *facts = rows[i];
    bool is_here = inbox_cursor(screen) == i, is_narrow = pen->end < SCREEN_NARROW;
    int agents = widest(rows, count, true, 24), room = pen->end - TITLE_COLUMN - agents - 2 - 12;
    int titles = is_narrow ? pen->end - TITLE_COLUMN : widest(rows, count, false, room), column;
    const char *slash = strrchr(facts->directory, '/'), *cut = screen->marks->cut_end;
    const char *directory = slash && slash[1] ? slash + 1 : facts->directory;
    const char *snooze = i18n_text(TEXT_TUI_LATER), *badge = facts_interface(facts);
    int end = pen->end - glyph_columns(badge, strlen(badge)) - 2;
    struct text agent = { 0 };

    text_add_format(&agent, "\"%s\"", *facts->agent ? facts->agent : "?");
    if (is_here)
        pen_at(pen, pen->left, INK_ACCENT, screen->marks->cursor);
    draw_clock(screen, facts, pen);
    if (facts->is_destructive)
        pen_at(pen, FLAG_COLUMN, INK_DANGER, "!");
    pen_cut(pen, TITLE_COLUMN, TITLE_COLUMN + titles, is_here ? INK_STRONG : INK_PLAIN,
            facts->title, cut);
    column = TITLE_COLUMN + titles + 2;
    if (is_narrow) {
        pen->row++;
        column = pen_cut(pen, TITLE_COLUMN, end, INK_QUIET, text_string(&agent), cut);
    } else {
        pen_cut(pen, column, column + agents, INK_QUIET, text_string(&agent), cut);
        column += agents;
    }
    pen_right(pen, INK_QUIET, badge);
    if (facts->snooze_utc_ms > screen->now.utc_ms) {
        end -= glyph_columns(snooze, strlen(snooze));
        pen_at(pen, end, INK_QUIET, snooze);
        end -= 2;
    }
    pen_cut(pen, column + 1, end, INK_QUIET, directory, cut);
    pen->row++;
    text_release(&agent);
}

const char *inbox_end_mark(const struct marks *marks, enum ask_state state)
{
    if (state == STATE_SUBMITTED || state == STATE_AUTO_SUBMITTED)
        return marks->done;
    return state == STATE_CANCELLED || state == STATE_DECLINED ? marks->crossed : "-";
}

static void draw_finished(struct inbox_screen *screen, const struct facts *facts, struct pen *pen)
{
    struct text age = { 0 };
    const char *mark = inbox_end_mark(screen->marks, facts->state), *cut = screen->marks->cut_end;
    int end = pen->end - 34;

    facts_add_since(&age, facts->decided_utc_ms, screen->now.utc_ms);
    pen_at(pen, 3, facts->state == STATE_SUBMITTED ? INK_OK : INK_QUIET, mark);
    if (pen->end < SCREEN_NARROW) {
        pen_cut(pen, AGE_COLUMN, pen->end, INK_PLAIN, facts->title, cut);
    } else {
        pen_at(pen, AGE_COLUMN, INK_QUIET, text_string(&age));
        pen_cut(pen, AGE_COLUMN + AGE_COLUMNS, end, INK_PLAIN, facts->title, cut);
        pen_cut(pen, end + 2, end + 18, INK_QUIET, state_text(facts->state), cut);
        pen_cut(pen, end + 19, pen->end, INK_QUIET,
                *facts->via ? i18n_text(facts_way(facts)->channel) : facts_interface(facts), cut);
    }
    pen->row++;
    text_release(&age);
}

static void draw_head(struct inbox_screen *screen, size_t count, struct pen *pen)
{
    struct text line = { 0 };
    const char *url = screen->url ? screen->url : "";
    const char *port = strrchr(url, ':');

    i18n_format(&line, TEXT_TUI_WAITING, "count", TEXT_NUMBER((int64_t)count), NULL);
    pen_at(pen, pen->left + 7, INK_PLAIN, text_string(&line));
    text_clear(&line);
    text_add_text(&line, pen->end < SCREEN_NARROW && port ? port : url);
    if (pen->end < SCREEN_NARROW && line.used > 0 && line.bytes[line.used - 1] == '/')
        line.bytes[--line.used] = '\0';
    draw_list_head(pen, screen->marks, "sayso", text_string(&line));
    text_release(&line);
}

static void draw_open(struct inbox_screen *screen, struct facts **rows, size_t count, int max,
                      struct pen *pen)
{
    size_t each = pen->end < SCREEN_NARROW ? 2 : 1, room = max > 0 ? (size_t)max / each : 1;
    size_t at = inbox_cursor(screen);

    if (room < 1)
        room = 1;
    screen->top = count > room ? inbox_top(screen->top, at, room) : 0;
    for (size_t i = screen->top; i < count && i < screen->top + room; i++)
        draw_row(screen, rows, count, i, pen);
    if (count == 0)
        pen_line(pen, 3, INK_QUIET, i18n_text(TEXT_NOBODY_WAITING));
}

/* Those that ended last, the latest first. */
static size_t find_latest(struct inbox_screen *screen, const struct facts **latest, size_t max)
{
    size_t count = 0;

    for (size_t i = 0; i < screen->count; i++) {
        const struct facts *facts = &screen->rows[i];
        size_t at = count < max ? count : max;

        if (state_is_open(facts->state) || !fits(screen, facts))
            continue;
        while (at > 0 && latest[at - 1]->decided_utc_ms < facts->decided_utc_ms)
            at--;
        if (at == max)
            continue;
        if (count < max)
            count++;
        memmove(latest + at + 1, latest + at, (count - at - 1) * sizeof(const struct facts *));
        latest[at] = facts;
    }
    return count;
}

static void draw_latest(struct inbox_screen *screen, struct pen *pen, int rows)
{
    const struct facts *latest[INBOX_FINISHED];
    size_t max = pen->end < SCREEN_NARROW ? 3 : INBOX_FINISHED;
    size_t count = find_latest(screen, latest, max);

    if (count == 0 || pen->row + (int)max + 3 > rows)
        return;
    pen->row++;
    pen_line(pen, pen->left, INK_QUIET, i18n_text(TEXT_TUI_FINISHED));
    for (size_t i = 0; i < count; i++)
        draw_finished(screen, latest[i], pen);
}

static void draw_keys(struct inbox_screen *screen, struct pen *pen)
{
    const struct hint hints[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_ANSWER), 10, false },
        { "/", i18n_text(TEXT_TUI_KEY_SEARCH), 9, false },
        { "c", i18n_text(TEXT_TUI_KEY_CANCEL), 4, false },
        { "e", i18n_text(TEXT_TUI_KEY_MORE_TIME), 3, false },
        { "l", i18n_text(TEXT_TUI_LATER), 1, false },
        { "h", i18n_text(TEXT_TUI_KEY_HISTORY), 2, false },
        { "a", i18n_text(TEXT_TUI_KEY_STANDING), 1, false },
        { "w", i18n_text(TEXT_TUI_KEY_BROWSER), 1, false },
        { "s", i18n_text(TEXT_TUI_KEY_SETTINGS), 5, false },
        { "q", i18n_text(TEXT_TUI_KEY_QUIT), 8, true },
    };
    const struct hint narrow[] = {
        { "Enter", i18n_text(TEXT_TUI_KEY_ANSWER), 10, false },
        { "/", i18n_text(TEXT_TUI_KEY_SEARCH), 9, false },
        { "?", i18n_text(TEXT_TUI_KEY_KEYS), 8, false },
        { "q", NULL, 8, false },
    };

    pen->row++;
    if (screen->is_lost)
        draw_lost(pen, true, screen->retry_mono_ms - screen->now.mono_ms);
    pen_text(pen, INK_ACCENT, &screen->said);
    if (screen->is_filtering || screen->filter.text.used > 0)
        draw_search(pen, &screen->filter, screen->is_filtering);
    if (screen->panel == INBOX_SNOOZE)
        snooze_draw(pen);
    else if (pen->end < SCREEN_NARROW)
        draw_hint_row(pen, narrow, ARRAY_LEN(narrow));
    else
        draw_hint_row(pen, hints, ARRAY_LEN(hints));
}

void inbox_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows)
{
    struct pen pen = { .canvas = canvas, .left = 1, .end = columns - 1 };
    struct facts *open[INBOX_ROWS];
    size_t count;

    canvas_reset(canvas, columns);
    if (screen->panel == INBOX_SETTINGS) {
        settings_panel_draw(&screen->settings, &screen->preferences, -1, screen->setup.is_ascii,
                            &pen);
        pen.row++;
        pen_text(&pen, INK_WARN, &screen->said);
        draw_hint_row(&pen, &(struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 1, false }, 1);
        return;
    }
    if (screen->panel == INBOX_HELP) {
        screen->scroll_max = draw_help(&pen, rows, screen->scroll);
        return;
    }
    if (screen->panel == INBOX_HISTORY) {
        inbox_history_draw(screen, &pen, rows);
        return;
    }
    if (screen->panel == INBOX_RULES) {
        inbox_rules_draw(screen, &pen, rows);
        return;
    }
    if (screen->panel == INBOX_MISSED) {
        inbox_missed_draw(screen, &pen);
        pen_text(&pen, INK_ACCENT, &screen->said);
        return;
    }
    count = inbox_open_rows(screen, open);
    draw_head(screen, count, &pen);
    if (screen->missed.count > 0)
        inbox_missed_draw(screen, &pen);
    draw_open(screen, open, count, rows - 2 - pen.row, &pen);
    draw_latest(screen, &pen, rows - 2);
    draw_keys(screen, &pen);
}
