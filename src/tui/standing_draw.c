/* standing_draw.c - see inbox_standing.h: the list of answers that stand, and one before it does.
 */
#include <string.h>

#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/draw.h"
#include "tui/facts.h"
#include "tui/inbox_standing.h"

enum {
    MARK_COLUMN = 3,
    TITLE_COLUMN = 5,
    ROW_LINES = 2,
    LABEL_COLUMNS = 12,
    AROUND = 8,
    ROOMY_ROWS = 22
};

static void draw_head(const struct marks *marks, enum text_id title, const char *count,
                      struct pen *pen)
{
    pen_at(pen, pen->left, INK_STRONG, i18n_text(title));
    pen_right(pen, INK_QUIET, count);
    pen->row++;
    for (int i = 0; i < pen->canvas->columns; i++)
        canvas_put_text(pen->canvas, pen->row, i, pen->canvas->columns, INK_QUIET, marks->gone);
    pen->row++;
}

/* Until when, or how often it was answered so. */
static void add_term(struct text *out, const struct standing_row *row)
{
    struct text day = { 0 };
    char count[TEXT_INTEGER_BYTES];

    if (row->id[0]) {
        i18n_add_when(&day, row->until_utc_ms, 0); /* with its day, also where it is today */
        i18n_format(out, row->is_over ? TEXT_TUI_STANDING_OVER : TEXT_TUI_STANDING_UNTIL, "time",
                    text_string(&day), "person", row->person, NULL);
    } else {
        i18n_format(out, TEXT_TUI_STANDING_TIMES, "count", text_of_integer(row->count, count),
                    NULL);
    }
    text_release(&day);
}

/* Two lines: the question and the answer; until when, and for whose asks. */
static void draw_row(const struct standing_row *row, bool is_here, const struct marks *marks,
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
static void draw_rows(struct inbox_standing *standing, const struct marks *marks, struct pen *pen,
                      int rows)
{
    size_t room = rows - AROUND > ROW_LINES ? (size_t)(rows - AROUND) / ROW_LINES : 1;

    if (standing->top > standing->cursor || standing->count <= room)
        standing->top = standing->count <= room ? 0 : standing->cursor;
    if (standing->cursor >= standing->top + room)
        standing->top = standing->cursor - room + 1;
    if (standing->rule_count == 0 && standing->has_rules)
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_TUI_STANDING_NONE));
    for (size_t i = standing->top; i < standing->count && i < standing->top + room; i++) {
        if (i == standing->rule_count) {
            pen->row++;
            pen_at(pen, pen->left, INK_QUIET, i18n_text(TEXT_TUI_STANDING_PROPOSED));
            pen->row++;
        }
        draw_row(&standing->rows[i], i == standing->cursor, marks, pen);
    }
    if (standing->count == standing->rule_count && standing->has_proposed) {
        pen->row++;
        pen_lines(pen, INK_QUIET, i18n_text(TEXT_RULE_NO_SUGGESTIONS));
    }
}

static void draw_list_keys(const struct inbox_standing *standing, struct pen *pen)
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
    bool is_proposed = standing->cursor >= standing->rule_count;

    if (standing->is_revoking) {
        pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_STANDING_REVOKE));
        draw_hint_row(pen, revoking, ARRAY_LEN(revoking));
    } else if (standing->count == 0) {
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

static void draw_cases(const struct standing_case *look, const struct marks *marks,
                       struct screen_time now, struct pen *pen, int most)
{
    char same[TEXT_INTEGER_BYTES], other[TEXT_INTEGER_BYTES];
    struct text line = { 0 };

    i18n_format(&line, TEXT_RULE_SO_FAR, "same", text_of_integer(look->same, same), "other",
                text_of_integer(look->other, other), NULL);
    pen_lines(pen, look->other > 0 ? INK_WARN : INK_PLAIN, text_string(&line));
    for (size_t i = 0; i < look->past_count && (int)i < most; i++) {
        const struct standing_past *past = &look->past[i];
        int64_t age_s = (now.utc_ms - past->utc_ms) / 1000;

        text_clear(&line);
        facts_add_duration(&line, age_s > 0 ? age_s : 0);
        pen_at(pen, MARK_COLUMN, past->is_same ? INK_OK : INK_WARN,
               past->is_same ? marks->done : "!");
        pen_at(pen, TITLE_COLUMN, INK_QUIET, text_string(&line));
        pen_cut(pen, TITLE_COLUMN + 10, pen->end, INK_PLAIN, past->answer, marks->cut_end);
        pen->row++;
    }
    text_release(&line);
}

static void draw_case_keys(const struct standing_case *look, struct pen *pen)
{
    static const char *const digits[STANDING_TERMS] = { "1", "2", "3", "4", "5" };
    static const enum text_id terms[STANDING_TERMS] = {
        TEXT_TUI_STANDING_DAY,     TEXT_TUI_STANDING_WEEK, TEXT_TUI_STANDING_MONTH,
        TEXT_TUI_STANDING_QUARTER, TEXT_TUI_STANDING_YEAR,
    };
    struct hint hints[STANDING_TERMS + 2];
    size_t count = 0;

    if (!look->is_refused) {
        pen_lines(pen, INK_PLAIN, i18n_text(TEXT_TUI_STANDING_ASK));
        for (; count < STANDING_TERMS; count++)
            hints[count] = (struct hint){ digits[count], i18n_text(terms[count]),
                                          count == 2 ? 9 : 7 - (int)count, false };
        if (look->may_any_prompt)
            hints[count++] = (struct hint){ "p", i18n_text(TEXT_RULE_ROW_PROMPT), 8, false };
    }
    hints[count++] = (struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 10, false };
    draw_hint_row(pen, hints, count);
}

static void draw_case(const struct standing_case *look, const struct marks *marks, const char *said,
                      struct screen_time now, struct pen *pen, int rows)
{
    const struct standing_row *facts = &look->facts;
    const char *cut = rows < ROOMY_ROWS ? marks->cut_end : NULL;
    struct text agent = { 0 };

    draw_head(marks, TEXT_TUI_STANDING_CASE, "", pen);
    if (facts->title) {
        text_add_format(&agent, "\"%s\"", facts->agent);
        draw_fact(pen, TEXT_ROW_TITLE, facts->title, cut);
        draw_fact(pen, TEXT_ROW_ANSWER, facts->answer, cut);
        draw_fact(pen, TEXT_ROW_AGENT, text_string(&agent), cut);
        draw_fact(pen, TEXT_ROW_DIRECTORY, facts->directory, cut);
        draw_fact(pen, TEXT_RULE_ROW_PROMPT,
                  i18n_text(look->any_prompt ? TEXT_RULE_ANY_PROMPT : TEXT_RULE_SAME_PROMPT), cut);
        pen->row++;
        draw_cases(look, marks, now, pen, rows - pen->row - 4);
    }
    pen->row++;
    if (*said)
        pen_lines(pen, INK_WARN, said);
    draw_case_keys(look, pen);
    text_release(&agent);
}

void inbox_standing_draw(struct inbox_standing *standing, const struct marks *marks,
                         const char *said, struct screen_time now, struct pen *pen, int rows)
{
    char count[TEXT_INTEGER_BYTES];

    if (standing->is_case) {
        draw_case(&standing->look, marks, said, now, pen, rows);
        return;
    }
    draw_head(marks, TEXT_TUI_STANDING, text_of_integer((int64_t)standing->rule_count, count), pen);
    draw_rows(standing, marks, pen, rows);
    pen->row++;
    if (*said)
        pen_lines(pen, INK_ACCENT, said);
    draw_list_keys(standing, pen);
}
