/*
 * plain_screen.h - one ask as plain numbered lines, for screen readers and dumb terminals: read
 * from top to bottom, answered line by line, without one cursor movement. Another view of the
 * model behind ask_screen: the same values, checks, effects and news.
 *
 *     plain_screen_new(&setup, whole, now, &screen, &out, err)   prints the question
 *     plain_screen_line(screen, line, now, &out)                 for each line the person typed
 *     plain_screen_take(screen, news, json, now, &out)           as ask_screen_take
 *     plain_screen_tick(screen, now, &out)                       at plain_screen_wake_ms
 *
 * `out` collects what is to be written to the terminal, in whole lines but for a closing prompt.
 */
#ifndef TUI_PLAIN_SCREEN_H
#define TUI_PLAIN_SCREEN_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "tui/screen.h"

struct error;
struct plain_screen;

bool plain_screen_new(const struct screen_setup *setup, const struct json *whole,
                      struct screen_time now, struct plain_screen **ret_screen, struct text *out,
                      struct error *err);
void plain_screen_free(struct plain_screen *screen);
void plain_screen_line(struct plain_screen *screen, const char *line, struct screen_time now,
                       struct text *out);
void plain_screen_take(struct plain_screen *screen, enum screen_news news, const struct json *json,
                       struct screen_time now, struct text *out);
void plain_screen_tick(struct plain_screen *screen, struct screen_time now, struct text *out);
int64_t plain_screen_wake_ms(const struct plain_screen *screen); /* -1: nothing is due */
int plain_screen_exit_code(const struct plain_screen *screen);

#endif
