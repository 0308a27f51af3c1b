/* preview.c - what an option would look like: beside the list from 72 columns on, else below. */
#include <string.h>

#include "core/glyph.h"
#include "i18n/i18n.h"
#include "markup/markup.h"
#include "tui/ask_inside.h"
#include "tui/draw.h"

enum { BESIDE_COLUMNS = 72, LIST_COLUMNS_LEAST = 20, PANE_COLUMNS_LEAST = 24 };

const struct markup *ask_preview(const struct ask_screen *screen)
{
    const struct field_state *state = ask_field(screen);

    return state && state->cursor < state->field->option_count ? state->previews[state->cursor]
                                                               : NULL;
}

int draw_pane_column(const struct ask_screen *screen, int columns)
{
    int column = columns * 3 / 8 - 1 + screen->pane_shift;

    if (columns < BESIDE_COLUMNS)
        return 0;
    if (column < LIST_COLUMNS_LEAST)
        column = LIST_COLUMNS_LEAST;
    return column > columns - PANE_COLUMNS_LEAST ? columns - PANE_COLUMNS_LEAST : column;
}

static void draw_place(struct pen *pen, int first, int last, int all)
{
    char from[TEXT_INTEGER_BYTES], to[TEXT_INTEGER_BYTES], of[TEXT_INTEGER_BYTES];
    struct text line = { 0 };

    i18n_format(&line, TEXT_TUI_LINES, "first", text_of_integer(first, from), "last",
                text_of_integer(last, to), "all", text_of_integer(all, of), NULL);
    if (glyph_columns(text_string(&line), line.used) + 20 < pen->end - pen->left)
        pen_right(pen, INK_QUIET, text_string(&line));
    text_release(&line);
}

void draw_pane(struct ask_screen *screen, struct pen *pen, int rows)
{
    const struct markup *markup = ask_preview(screen);
    int top = pen->row, all;

    if (!markup || rows < 1)
        return;
    all = draw_markup(pen, markup, screen->scroll, rows);
    screen->scroll_most = all > rows ? all - rows : 0;
    if (all > rows || screen->focus == FOCUS_PREVIEW) {
        struct pen head = { pen->canvas, top, pen->left, pen->end };

        draw_place(&head, screen->scroll + 1,
                   screen->scroll + rows < all ? screen->scroll + rows : all, all);
    }
}
