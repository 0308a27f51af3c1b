/* ask_outcome.c - how it ended: the undo line, who else decided, and the line that stays behind. */
#include <stdlib.h>
#include <string.h>

#include "core/glyph.h"
#include "core/lifecycle.h"
#include "i18n/i18n.h"
#include "tui/ask_state.h"
#include "tui/draw.h"

enum { WRITTEN_ROWS = 10 };

/* The line with as much of the answer as leaves room for the rest of it. */
static void add_saved(const struct ask_screen *screen, int columns, bool is_narrow,
                      struct text *out)
{
    enum text_id text = is_narrow ? TEXT_TUI_SAVED_SHORT : TEXT_TUI_SAVED;
    int64_t left_ms = screen->undo_until_mono_ms - screen->now.mono_ms;
    const char *seconds = TEXT_NUMBER(left_ms > 0 ? (left_ms + 999) / 1000 : 0);
    struct text frame = { 0 }, answer = { 0 };
    int fits;

    i18n_format(&frame, text, "answer", "", "seconds", seconds, NULL);
    fits = columns - draw_columns(&frame);
    text_add(&answer, text_string(&screen->sent), screen->sent.used);
    if (draw_columns(&answer) > fits) {
        size_t next;
        size_t bytes = glyph_wrap(text_string(&screen->sent), screen->sent.used,
                                  fits > 2 ? fits - 1 : 1, &next);

        text_clear(&answer);
        text_add(&answer, text_string(&screen->sent), bytes);
        text_add_text(&answer, screen->marks->cut_end);
    }
    i18n_format(out, text, "answer", text_string(&answer), "seconds", seconds, NULL);
    text_release(&frame);
    text_release(&answer);
}

void draw_saved(const struct ask_screen *screen, struct pen *pen)
{
    const struct hint hints[] = {
        { "u", i18n_text(TEXT_TUI_KEY_UNDO), 9, false },
        { "Enter", i18n_text(TEXT_TUI_KEY_NOW), 8, false },
    };
    bool is_narrow = pen->end < SCREEN_NARROW;
    int column = pen_at(pen, pen->left, INK_OK, screen->marks->done) + 1, keys = 17;
    int end = is_narrow ? pen->end : pen->end - keys - 3;
    struct pen tail = *pen;
    struct text line = { 0 };

    add_saved(screen, end - column, is_narrow, &line);
    column = pen_cut(pen, column, end, INK_PLAIN, text_string(&line), screen->marks->cut_end);
    if (is_narrow)
        tail.row++;
    tail.left = is_narrow ? pen->left + 2 : column + 3;
    draw_hint_row(&tail, hints, 2);
    pen->row = tail.row;
    text_release(&line);
}

/* The first row: what happened, where and when. */
static void add_end(const struct ask_screen *screen, bool is_narrow, struct text *out)
{
    static const enum text_id ends[STATE_COUNT] = {
        [STATE_TIMEOUT] = TEXT_TUI_TIMED_OUT,   [STATE_AUTO_SUBMITTED] = TEXT_TUI_AUTO_SUBMITTED,
        [STATE_CANCELLED] = TEXT_TUI_CANCELLED, [STATE_DECLINED] = TEXT_TUI_DECLINED,
        [STATE_WITHDRAWN] = TEXT_TUI_WITHDRAWN,
    };
    const struct facts *facts = &screen->facts;
    enum text_id text = ends[facts->state];
    struct text when = { 0 };

    if (!text)
        text = is_narrow ? TEXT_TUI_ANSWERED : TEXT_TUI_ANSWERED_BY_YOU;
    if (facts->state == STATE_AUTO_SUBMITTED && strcmp(facts->via, "rule") == 0)
        text = TEXT_TUI_BY_RULE;
    facts_add_when(&when, facts->decided_utc_ms, screen->now.utc_ms);
    i18n_format(out, text, "place", i18n_text(facts_way(facts)->place), "time", text_string(&when),
                NULL);
    text_release(&when);
}

static enum ink end_mark(const struct ask_screen *screen, const char **ret_mark)
{
    enum ask_state state = screen->facts.state;
    bool is_ours = screen->phase == PHASE_OURS || screen->phase == PHASE_SAVED;

    if (is_ours ? !screen->is_cancelled : state == STATE_SUBMITTED) {
        *ret_mark = screen->marks->done;
        return INK_OK;
    }
    if (is_ours || state == STATE_CANCELLED || state == STATE_DECLINED) {
        *ret_mark = screen->marks->crossed;
        return INK_QUIET;
    }
    *ret_mark = "-";
    return INK_WARN;
}

static void draw_written(const struct ask_screen *screen, struct pen *pen)
{
    struct text written = { 0 };
    char *visible;
    struct pen inner = { pen->canvas, pen->row, pen->left + 2, pen->end };

    ask_add_written(screen, &written);
    visible = facts_visible(text_string(&written), true);
    if (written.used > 0) {
        pen->row++;
        pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_NOT_SENT));
        inner.row = pen->row;
        pen_lines(&inner, INK_PLAIN, visible);
        pen->row = inner.row;
    }
    free(visible);
    text_release(&written);
}

void draw_ended(const struct ask_screen *screen, struct pen *pen)
{
    bool is_narrow = pen->end < SCREEN_NARROW;
    const struct hint hints[] = {
        { "y", i18n_text(TEXT_TUI_KEY_COPY), 5, false },
        { "Enter", i18n_text(TEXT_TUI_KEY_CLOSE), 9, false },
    };
    struct text line = { 0 };
    const char *mark;
    enum ink ink = end_mark(screen, &mark);
    int column = pen_at(pen, pen->left, ink, mark) + 1;

    add_end(screen, is_narrow, &line);
    pen_lines_at(pen, column, INK_PLAIN, text_string(&line));
    text_clear(&line);
    if (!is_narrow)
        text_add_format(&line, "%s  ", screen->shown.title);
    text_add_text(&line, text_string(&screen->sent));
    pen_cut(pen, is_narrow ? pen->left + 2 : pen->left, pen->end, INK_PLAIN, text_string(&line),
            screen->marks->cut_end);
    pen->row++;
    draw_written(screen, pen);
    pen->row++;
    if (screen->said.used > 0)
        pen_line(pen, pen->left, (enum ink)screen->said_ink, text_string(&screen->said));
    draw_hint_row(pen, ask_has_written(screen) ? hints : hints + 1,
                  ask_has_written(screen) ? 2 : 1);
    text_release(&line);
}

/* Below what was asked: what was answered, and the note with it. */
static void draw_answer(const struct ask_screen *screen, struct pen *pen)
{
    struct text line = { 0 };

    pen->row++;
    pen_text(pen, INK_STRONG, &screen->sent);
    if (screen->note.used > 0) {
        text_add_format(&line, "%s %s", i18n_text(TEXT_TUI_COMMON_NOTE),
                        text_string(&screen->note));
        pen_lines(pen, INK_PLAIN, text_string(&line));
    }
    text_release(&line);
}

static int answer_rows(const struct ask_screen *screen, int columns)
{
    struct canvas scratch = { 0 };
    struct pen pen = { .canvas = &scratch, .left = 1, .end = columns - 1 };

    canvas_reset(&scratch, columns);
    draw_answer(screen, &pen);
    canvas_release(&scratch);
    return pen.row;
}

void draw_past(struct ask_screen *screen, struct pen *pen, int rows)
{
    int room = rows - 6 - answer_rows(screen, pen->end + 1), all = 0;
    struct text line = { 0 };
    const char *mark;
    enum ink ink = end_mark(screen, &mark);

    room = room > 1 ? room : 1;
    pen_cut(pen, pen->left, pen->end, INK_STRONG, screen->shown.title, screen->marks->cut_end);
    pen->row++;
    pen_rule(pen, screen->marks);
    add_end(screen, pen->end < SCREEN_NARROW, &line);
    pen_wrap(pen, pen_at(pen, pen->left, ink, mark) + 1, INK_PLAIN, text_string(&line), line.used);
    pen->row += 2;
    if (screen->prompt)
        all = draw_markup(pen, screen->prompt, screen->scroll, room);
    screen->scroll_max = all > room ? all - room : 0;
    draw_answer(screen, pen);
    pen->row++;
    draw_reading_hints(pen, screen->scroll_max > 0);
    text_release(&line);
}

/* What is said of the end in the line that stays. */
static void add_result(const struct ask_screen *screen, struct text *out)
{
    struct text time = { 0 };

    if (screen->phase == PHASE_THEIRS && screen->facts.state == STATE_TIMEOUT) {
        facts_add_duration(&time,
                           (screen->facts.decided_utc_ms - screen->facts.created_utc_ms) / 1000);
        i18n_format(out, TEXT_TUI_SUMMARY_TIMEOUT, "time", text_string(&time), NULL);
    } else if (screen->phase == PHASE_THEIRS && screen->facts.state == STATE_WITHDRAWN) {
        text_add_text(out, i18n_text(TEXT_TUI_SUMMARY_WITHDRAWN));
    } else if (screen->phase == PHASE_THEIRS && screen->facts.state != STATE_SUBMITTED) {
        text_add_text(out, state_text(screen->facts.state));
    } else {
        text_add_text(out, text_string(&screen->sent));
    }
    text_release(&time);
}

static void add_tail(const struct ask_screen *screen, struct text *out)
{
    const struct facts *facts = &screen->facts;
    bool is_theirs = screen->phase == PHASE_THEIRS && facts->decided_utc_ms > 0;

    if (ask_screen_exit_code(screen) != 0)
        return;
    if (screen->has_sent_note)
        text_add_format(out, "  %s", i18n_text(TEXT_TUI_WITH_NOTE));
    text_add_text(out, "  ");
    facts_add_since(out, facts->created_utc_ms,
                    is_theirs ? facts->decided_utc_ms : screen->now.utc_ms);
}

void ask_screen_draw_summary(const struct ask_screen *screen, struct canvas *canvas, int columns)
{
    bool is_narrow = columns < SCREEN_NARROW;
    struct pen pen = { .canvas = canvas, .end = columns };
    struct text result = { 0 }, tail = { 0 };
    const char *mark, *cut = screen->marks->cut_end;
    int column, end;
    enum ink ink;

    canvas_reset(canvas, columns);
    if (ask_screen_exit_code(screen) == 5)
        return;
    ink = end_mark(screen, &mark);
    add_result(screen, &result);
    add_tail(screen, &tail);
    column = pen_at(&pen, 0, ink, mark) + 1;
    end = columns - draw_columns(&tail);
    if (is_narrow) {
        pen_cut(&pen, column, columns - 1, INK_PLAIN, screen->shown.title, cut);
        pen.row++;
        column = 2;
    } else {
        int min = draw_columns(&result) < end / 2 ? draw_columns(&result) : end / 2;

        column = pen_cut(&pen, column, end - min - 2, INK_PLAIN, screen->shown.title, cut) + 2;
    }
    column = pen_cut(&pen, column, end - 1, INK_PLAIN, text_string(&result), cut);
    pen_at(&pen, column, INK_QUIET, text_string(&tail));
    text_release(&result);
    text_release(&tail);
}
