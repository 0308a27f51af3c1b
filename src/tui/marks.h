/* marks.h - the signs we draw, in Unicode and in ASCII; all are one column wide everywhere. */
#ifndef TUI_MARKS_H
#define TUI_MARKS_H
#include <stdbool.h>

struct marks {
    const char *cursor;
    const char *picked, *unpicked; /* one of many */
    const char *ticked, *unticked; /* any of many */
    const char *done, *crossed;    /* ended */
    const char *star, *no_star;
    const char *left, *gone; /* time */
    const char *divider;
    const char *cut_end, *cut_start;
};
const struct marks *marks_of(bool is_ascii);

#endif
