/*
 * inbox_screen.h - all asks, live, and answering them in place (R6.3). How to use it stands in
 * screen.h; it is made from the result of ask/watch {which: all}.
 *
 * Enter gives EFFECT_OPEN for the ask under the cursor; the NEWS_WHOLE that follows opens an
 * ask_screen inside, which gets keys and news until it closes; its effects come through the same
 * function, with its session_id. NEWS_CHANGED goes to both. While nothing is open it always wants
 * the alternate screen.
 */
#ifndef TUI_INBOX_SCREEN_H
#define TUI_INBOX_SCREEN_H
#include <stdbool.h>
#include <stdint.h>

#include "tui/screen.h"

struct canvas;
struct inbox_screen;
struct key;

struct inbox_screen *inbox_screen_new(const struct screen_setup *setup, const struct json *list,
                                      struct screen_time now);
void inbox_screen_free(struct inbox_screen *screen);

void inbox_screen_key(struct inbox_screen *screen, const struct key *key, struct screen_time now);
void inbox_screen_take(struct inbox_screen *screen, enum screen_news news, const struct json *json,
                       struct screen_time now);
void inbox_screen_draw(struct inbox_screen *screen, struct canvas *canvas, int columns, int rows,
                       struct screen_time now);
void inbox_screen_save(struct inbox_screen *screen);       /* as ask_screen_save, of an open ask */
int64_t inbox_screen_waiting(struct inbox_screen *screen); /* how many asks are open */
bool inbox_screen_wants_alternate(const struct inbox_screen *screen);
int64_t inbox_screen_wake_ms(const struct inbox_screen *screen);

#endif
