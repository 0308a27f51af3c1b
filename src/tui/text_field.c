/* text_field.c - texts being written: own words, text fields, notes, with what goes beside them. */
#include <stdlib.h>
#include <string.h>

#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/draw.h"

enum { FIELD_ROWS = 12 };

void draw_edit(struct ask_screen *screen, struct field_state *state, struct pen *pen, int column,
               int rows, bool has_focus)
{
    const char *placeholder = state->shown->placeholder;
    bool shows = placeholder && state->words.text.used == 0 && state->field->placeholder_visible &&
                 preferences_is_on(&screen->preferences, SETTING_PLACEHOLDER);
    int row = pen->row;

    pen->row = edit_draw(&state->words, pen->canvas, row, column, pen->end, rows, has_focus);
    if (shows)
        canvas_put_cut(pen->canvas, row, column, pen->end, INK_QUIET, placeholder,
                       strlen(placeholder), screen->marks->cut_end);
}

/* "note: text"; where `cut` is given it is one row only. */
void draw_labelled_edit(struct pen *pen, int column, const char *label, struct edit *edit, int rows,
                        bool has_focus, const char *cut)
{
    int begin = pen_at(pen, column, INK_QUIET, label) + 1;

    if (cut) {
        char *visible = facts_visible(text_string(&edit->text), false);

        pen_cut(pen, begin, pen->end, INK_PLAIN, visible, cut);
        pen->row++;
        free(visible);
        return;
    }
    pen->row =
        edit_draw_from(edit, pen->canvas, pen->row, begin, column, pen->end, rows, has_focus);
}

/* A text field with its label, its bounds and how much is left. */
void draw_text_field(struct ask_screen *screen, struct field_state *state, struct pen *pen)
{
    bool has_focus = screen->focus == FOCUS_WORDS;
    struct text line = { 0 };
    char count[TEXT_INTEGER_BYTES], most[TEXT_INTEGER_BYTES];
    const char *text = text_string(&state->words.text);

    pen_at(pen, pen->left, INK_ACCENT, screen->marks->cursor);
    draw_edit(screen, state, pen, pen->left + 2, FIELD_ROWS, has_focus);
    if (state->field->format)
        text_add_text(&line, state->field->format);
    if (state->field->max_chars > 0) {
        text_add_text(&line, line.used ? "  " : "");
        i18n_format(&line, TEXT_TUI_CHARS, "count",
                    text_of_integer((int64_t)text_count(text, state->words.text.used), count),
                    "max", text_of_integer(state->field->max_chars, most), NULL);
    }
    if (line.used > 0) {
        pen_right(pen, INK_QUIET, text_string(&line));
        pen->row++;
    }
    text_release(&line);
}

/* The note to the agent, below what is answered. */
void draw_common_note(struct ask_screen *screen, struct pen *pen)
{
    draw_labelled_edit(pen, pen->left, i18n_text(TEXT_TUI_COMMON_NOTE), &screen->common, 4,
                       screen->focus == FOCUS_COMMON, NULL);
}
