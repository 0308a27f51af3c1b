/* marks.c - see marks.h. East-Asian neutral signs, so that no terminal draws them two wide. */
#include "tui/marks.h"

static const struct marks unicode = {
    .cursor = "▸",
    .picked = "◉",
    .unpicked = "◦",
    .ticked = "[✓]",
    .unticked = "[ ]",
    .done = "✓",
    .crossed = "✗",
    .star = "✦",
    .no_star = "✧",
    .left = "╍",
    .gone = "╌",
    .divider = "╎",
    .cut_end = "›",
    .cut_start = "‹",
};
static const struct marks ascii = {
    .cursor = ">",
    .picked = "(*)",
    .unpicked = "( )",
    .ticked = "[x]",
    .unticked = "[ ]",
    .done = "+",
    .crossed = "x",
    .star = "*",
    .no_star = ".",
    .left = "=",
    .gone = "-",
    .divider = "|",
    .cut_end = ">",
    .cut_start = "<",
};

const struct marks *marks_of(bool is_ascii)
{
    return is_ascii ? &ascii : &unicode;
}
