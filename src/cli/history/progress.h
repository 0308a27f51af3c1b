/* progress.h - how far a long command is: one line on standard error, where that is a terminal. */
#ifndef CLI_HISTORY_PROGRESS_H
#define CLI_HISTORY_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>

#include "i18n/i18n.h"

struct progress {
    enum text_id what;
    bool is_on;
    int64_t drawn_ms; /* when it was drawn last */
    int shown;        /* the permille it shows; -1: nothing yet */
    bool is_counted, is_plain;
    int64_t began_ms, first; /* when, and where it began */
};
struct progress progress_begin(enum text_id what);
/* With how many a second; where there is no terminal as a line now and then. */
struct progress progress_begin_counted(enum text_id what, bool is_quiet);
void progress_show(struct progress *progress, int64_t done, int64_t all);
void progress_end(struct progress *progress); /* the line is gone again */

#endif
