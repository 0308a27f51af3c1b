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
};
struct progress progress_begin(enum text_id what);
void progress_show(struct progress *progress, int64_t done, int64_t all);
void progress_end(struct progress *progress); /* the line is gone again */

#endif
