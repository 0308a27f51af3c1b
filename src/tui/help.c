/* help.c - all keys, as a table in the words of the person. */
#include <string.h>

#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/draw.h"

static const struct {
    const char *keys;
    enum text_id words;
} rows[] = {
    { "j k", TEXT_TUI_HELP_MOVE },     { "1-9", TEXT_TUI_HELP_PICK },
    { "y n", TEXT_TUI_HELP_YES_NO },   { "Space", TEXT_TUI_HELP_TICK },
    { "Enter", TEXT_TUI_HELP_SEND },   { "Ctrl-D", TEXT_TUI_HELP_SEND_TEXT },
    { "Tab", TEXT_TUI_HELP_NOTE },     { "n", TEXT_TUI_HELP_COMMON },
    { "o", TEXT_TUI_HELP_OWN },        { "/", TEXT_TUI_HELP_FILTER },
    { "a x", TEXT_TUI_HELP_ALL },      { "- H", TEXT_TUI_HELP_HIDE },
    { "m", TEXT_TUI_HELP_PROMPT },     { "p v", TEXT_TUI_HELP_PREVIEW },
    { "e E", TEXT_TUI_HELP_TIME },     { "s", TEXT_TUI_HELP_SETTINGS },
    { "w", TEXT_TUI_HELP_BROWSER },    { "l", TEXT_TUI_HELP_LATER },
    { "b", TEXT_TUI_HELP_BACK },       { "[ ]", TEXT_TUI_HELP_NEIGHBOUR },
    { "c h", TEXT_TUI_HELP_INBOX },    { "a", TEXT_TUI_HELP_STANDING },
    { "u", TEXT_TUI_HELP_UNDO },       { "Esc q", TEXT_TUI_HELP_CANCEL },
    { "Ctrl-C", TEXT_TUI_HELP_LEAVE }, { "Ctrl-Z", TEXT_TUI_HELP_SUSPEND },
};

int draw_help(struct pen *pen, int rows_most, int scroll)
{
    const struct hint hints[] = {
        { "j k", i18n_text(TEXT_TUI_KEY_SCROLL_SHORT), 5, false },
        { "Esc", i18n_text(TEXT_TUI_KEY_BACK), 9, false },
    };
    int columns = pen->end >= 100 ? 2 : 1, count = (int)ARRAY_LEN(rows);
    int half = (count + columns - 1) / columns, room = rows_most - 4 > 1 ? rows_most - 4 : 1;
    int shown = half < room ? half : room, top;

    pen_at(pen, pen->left, INK_STRONG, i18n_text(TEXT_TUI_HELP));
    pen->row += 2;
    top = pen->row;
    for (int i = 0; i < count; i++) {
        bool is_right = i >= half;
        int column = pen->left + (is_right ? pen->end / 2 : 0);
        int end = columns == 2 && !is_right ? pen->end / 2 : pen->end;
        int row = (is_right ? i - half : i) - scroll;

        if (row < 0 || row >= shown)
            continue;
        pen->row = top + row;
        pen_at(pen, column, INK_ACCENT, rows[i].keys);
        pen_cut(pen, column + 8, end, INK_PLAIN, i18n_text(rows[i].words), ">");
    }
    pen->row = top + shown + 1;
    draw_hint_row(pen, half > shown ? hints : hints + 1, half > shown ? 2 : 1);
    return half - shown;
}
