/* help.c - all keys, as a table in the words of the person. */
#include <string.h>

#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/ask_inside.h"
#include "tui/draw.h"
#include "tui/glyph.h"

static const struct {
    const char *keys;
    enum text_id words;
} rows[] = {
    { "j k", TEXT_TUI_HELP_MOVE },         { "1-9", TEXT_TUI_HELP_PICK },
    { "Space", TEXT_TUI_HELP_TICK },       { "Enter", TEXT_TUI_HELP_SEND },
    { "Ctrl-D", TEXT_TUI_HELP_SEND_TEXT }, { "Tab", TEXT_TUI_HELP_NOTE },
    { "n", TEXT_TUI_HELP_COMMON },         { "o", TEXT_TUI_HELP_OWN },
    { "/", TEXT_TUI_HELP_FILTER },         { "a x", TEXT_TUI_HELP_ALL },
    { "- H", TEXT_TUI_HELP_HIDE },         { "m", TEXT_TUI_HELP_PROMPT },
    { "p v", TEXT_TUI_HELP_PREVIEW },      { "e E", TEXT_TUI_HELP_TIME },
    { "s", TEXT_TUI_HELP_SETTINGS },       { "w", TEXT_TUI_HELP_BROWSER },
    { "[ ]", TEXT_TUI_HELP_NEIGHBOUR },    { "u", TEXT_TUI_HELP_UNDO },
    { "Esc q", TEXT_TUI_HELP_CANCEL },     { "Ctrl-C", TEXT_TUI_HELP_LEAVE },
    { "Ctrl-Z", TEXT_TUI_HELP_SUSPEND },
};

void draw_help(struct pen *pen)
{
    bool has_two = pen->end >= 100;
    size_t half = has_two ? (ARRAY_LEN(rows) + 1) / 2 : ARRAY_LEN(rows);
    int top;

    pen_at(pen, pen->left, INK_STRONG, i18n_text(TEXT_TUI_HELP));
    pen->row += 2;
    top = pen->row;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int column = pen->left + (i >= half ? pen->end / 2 : 0);
        int end = has_two && i < half ? pen->end / 2 : pen->end;

        pen->row = top + (int)(i >= half ? i - half : i);
        pen_at(pen, column, INK_ACCENT, rows[i].keys);
        pen_cut(pen, column + 8, end, INK_PLAIN, i18n_text(rows[i].words), ">");
    }
    pen->row = top + (int)half + 1;
    draw_hint_row(pen, &(struct hint){ "Esc", i18n_text(TEXT_TUI_KEY_BACK), 1, false }, 1);
}
