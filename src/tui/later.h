/* later.h - answering later: when, as few choices that a digit takes (R7.9; the portal's are the
 * same). */
#ifndef TUI_LATER_H
#define TUI_LATER_H
#include <stdint.h>

#include "tui/screen.h"

struct pen;

int64_t later_seconds(char digit, struct screen_time now); /* from now on; 0: no such choice */
void later_draw(struct pen *pen);                          /* the question and its keys */

#endif
