/*
 * terminal_kind.h - what a terminal can show, as far as its environment and its own replies tell.
 * Pure: whoever owns the terminal asks and reads.
 */
#ifndef TUI_TERMINAL_KIND_H
#define TUI_TERMINAL_KIND_H
#include <stdbool.h>
#include <stddef.h>

#include "tui/painter.h"

/* How it shows notifications of programs; only one is used, because some know several. */
enum terminal_notice {
    NOTICE_NONE,
    NOTICE_OSC_9,   /* iTerm2's, which most others have taken over */
    NOTICE_OSC_99,  /* kitty's */
    NOTICE_OSC_777, /* urxvt's, foot's */
};

struct terminal_kind {
    enum painter_colours colours;
    bool is_ascii;     /* no UTF-8, or no glyphs beyond ASCII */
    bool is_dumb;      /* its cursor can't be moved */
    bool answers;      /* may be asked for its background */
    bool is_light;     /* as far as the environment says */
    bool lacks_shifts; /* rows can't be inserted or deleted */
    bool has_title;
    enum terminal_notice notice;
};
/* `find` is getenv, or a test's. */
struct terminal_kind terminal_kind_of(const char *(*find)(const char *name));

/* Asks for the colour of the background, and then for something every terminal answers: once that
 * reply is there, the first one comes no more. */
extern const char background_question[];
struct background_reply {
    bool is_light, is_known; /* what it said */
    bool is_over;            /* nothing more will come */
};
/* From all bytes that came so far; the replies are taken out, what is left was typed. */
struct background_reply background_read(char *bytes, size_t *length);

#endif
