/*
 * inbox_history.h - what was decided before: a list to search in, in the inbox (R6.3). Pure, as
 * the screens are.
 */
#ifndef TUI_INBOX_HISTORY_H
#define TUI_INBOX_HISTORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/draw.h"
#include "tui/edit.h"
#include "tui/facts.h"
#include "tui/screen.h"

enum { HISTORY_ROWS = 200 }; /* the newest; what is older is found by searching */

struct history_row {
    struct facts facts;
    char *answer; /* in one line; visible; owned */
};
struct inbox_history {
    struct history_row rows[HISTORY_ROWS];
    size_t count, cursor, top;
    struct edit search;
    bool is_searching, is_waiting, has_more;
};
enum history_wish {
    HISTORY_NOTHING,
    HISTORY_LOOK,
    HISTORY_OPEN,
    HISTORY_STAND, /* let this answer stand */
    HISTORY_CLOSE
};

void inbox_history_init(struct inbox_history *history);
void inbox_history_release(struct inbox_history *history);
/* The parameters of ask/history for what is searched now. */
void inbox_history_write_query(struct inbox_history *history, struct text *out);
void inbox_history_take(struct inbox_history *history, const struct json *result, const char *home,
                        struct screen_time now);
/* What the key wants: the list anew, the ask under the cursor, or back. */
enum history_wish inbox_history_key(struct inbox_history *history, const struct key *key);
const char *inbox_history_id(const struct inbox_history *history); /* NULL: there is none */
void inbox_history_draw(struct inbox_history *history, const struct marks *marks,
                        struct screen_time now, struct pen *pen, int rows);

/* Answering later: when, as few choices that a digit takes (R7.9; the portal's are the same). */

int64_t later_seconds(char digit, struct screen_time now); /* from now on; 0: no such choice */
void later_draw(struct pen *pen);                          /* the question and its keys */

#endif
