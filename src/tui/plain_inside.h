/* plain_inside.h - the insides of plain_screen: plain_screen.c has its turns, plain_text.c its
 * words. */
#ifndef TUI_PLAIN_INSIDE_H
#define TUI_PLAIN_INSIDE_H
#include <stdbool.h>

#include "base/text.h"

struct ask_screen;

/* What the next line of the person will be. */
enum plain_turn {
    PLAIN_VALUE,
    PLAIN_WORDS,
    PLAIN_NOTE,
    PLAIN_SEND,
    PLAIN_CODE,
    PLAIN_WHY,    /* it is cancelled */
    PLAIN_CANCEL, /* the same where notes are off */
    PLAIN_WAITING,
};

struct plain_screen {
    struct ask_screen *ask;
    enum plain_turn turn;
    struct text written; /* lines of a text, until its dot */
    bool has_told_minute, has_told_end;
};

void plain_add_question(const struct plain_screen *screen, struct text *out);
void plain_add_field(struct plain_screen *screen, struct text *out);
void plain_add_prompt(struct plain_screen *screen, struct text *out);
void plain_add_time(const struct plain_screen *screen, struct text *out);
void plain_add_sent(const struct plain_screen *screen, struct text *out);
void plain_add_end(const struct plain_screen *screen, struct text *out);

#endif
