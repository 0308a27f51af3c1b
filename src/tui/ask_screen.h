/*
 * ask_screen.h - one ask, to be answered: R6.1. How to use it stands in screen.h.
 *
 * The life of a screen: open (answering), saved (undo line, only where the hub gave undo_ms), over
 * (decided here, elsewhere, or by the clock). Over by our own act: EFFECT_CLOSE comes immediately,
 * or when the time for undo has passed. Over by others: the screen says who won and keeps what was
 * typed here, until Enter or Esc closes it.
 *
 *     answered here:  EFFECT_ANSWER -> ask/answer -> NEWS_DECIDED {undo_ms?} -> EFFECT_CLOSE
 *     refused:        NEWS_REFUSED; the field says why, nothing is lost
 *     destructive:    EFFECT_CHALLENGE -> NEWS_CODE -> the person types it -> EFFECT_ANSWER
 *     others won:     NEWS_CHANGED -> EFFECT_LOOK -> NEWS_WHOLE -> shown -> EFFECT_CLOSE
 *     hub lost:       NEWS_LOST; nothing can be sent until NEWS_WHOLE says that it is still open
 */
#ifndef TUI_ASK_SCREEN_H
#define TUI_ASK_SCREEN_H
#include <stdbool.h>
#include <stdint.h>

#include "tui/screen.h"

struct ask_screen;
struct canvas;
struct error;
struct key;

/* False: `whole` (the result of ask/get) is not an ask we can show. */
bool ask_screen_new(const struct screen_setup *setup, const struct json *whole,
                    struct screen_time now, struct ask_screen **ret_screen, struct error *err);
void ask_screen_free(struct ask_screen *screen);

void ask_screen_key(struct ask_screen *screen, const struct key *key, struct screen_time now);
void ask_screen_take(struct ask_screen *screen, enum screen_news news, const struct json *json,
                     struct screen_time now);

void ask_screen_save(struct ask_screen *screen);   /* it is going to be left: the draft, now */
void ask_screen_cancel(struct ask_screen *screen); /* as Esc does: asks why first */

/* Draws at most `rows` rows, the height of the terminal; the canvas then has as many as are needed.
 * The 500 ms in which no key answers begin with the first picture (and again when another question
 * takes its place). */
void ask_screen_draw(struct ask_screen *screen, struct canvas *canvas, int columns, int rows,
                     struct screen_time now);
bool ask_screen_wants_alternate(const struct ask_screen *screen);
/* When the picture changes by itself, in mono_ms; -1: it does not. */
int64_t ask_screen_wake_ms(const struct ask_screen *screen);

/* The lines left behind: one, two below 60 columns; none while nothing is decided. */
void ask_screen_draw_summary(const struct ask_screen *screen, struct canvas *canvas, int columns);
int ask_screen_exit_code(const struct ask_screen *screen); /* R10.3; 5: still pending */

#endif
