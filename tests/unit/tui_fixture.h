/* tui_fixture.h - a screen without a terminal: keys as text, time by hand, effects as lines. */
#ifndef TUI_FIXTURE_H
#define TUI_FIXTURE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "tui/ask_screen.h"
#include "tui/canvas.h"
#include "tui/inbox_screen.h"
#include "tui/keyboard.h"

struct stage {
    struct screen_setup setup;
    struct ask_screen *ask;
    struct inbox_screen *inbox;
    struct screen_time now;
    struct text effects; /* a line each: "ANSWER {…}" */
    struct canvas canvas;
    struct keyboard keyboard;
    int columns, rows;
};

/* `form` is the form's JSON without its version; asked 48 s ago, 252 s left, by claude-code. */
void stage_open(struct stage *stage, const char *form);
void stage_open_whole(struct stage *stage, const char *whole);
void stage_close(struct stage *stage);
/* The result of ask/get; the caller frees. */
char *stage_whole(const char *form, const char *more_ask, const char *more);

void stage_type(struct stage *stage, const char *bytes); /* in one piece; a lone Esc is the key */
void stage_wait(struct stage *stage, int64_t ms);        /* and draws */
void stage_take(struct stage *stage, enum screen_news news, const char *json);
const char *stage_draw(struct stage *stage, int columns, int rows); /* rows, each with its \n */
void stage_expect(struct stage *stage, const char *effects);        /* exactly these, then none */
void stage_expect_acts(struct stage *stage, const char *acts);      /* drafts left out */
/* Row by row, with the row that differs in the message. */
void stage_expect_screen(struct stage *stage, int columns, int rows, const char *wanted);
void stage_expect_row(struct stage *stage, const char *part); /* some row has it, at 80 columns */
void stage_expect_no_row(struct stage *stage, const char *part);

#endif
