/* terminal.h - the terminal: its modes and size, and what kind of terminal it is. */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H
#include <stdbool.h>
#include <stddef.h>

#include "tui/painter.h"

struct loop;
struct tty;

/* What a terminal can show, as far as its environment and its own replies tell. Pure: the caller
 * asks the terminal and reads its replies. */

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

struct background_reply {
    bool is_light, is_known; /* what it said */
    bool is_over;            /* nothing more will come */
};
/* From all bytes that came so far; the replies are taken out, what is left was typed. */
struct background_reply background_read(char *bytes, size_t *length);

/* The terminal a person sits at: /dev/tty and nothing else, so that a program that writes into
 * standard input cannot answer. Whatever ends us, the terminal is left as it was. */

enum tty_trouble {
    TTY_FINE,
    TTY_NONE,      /* this process has no terminal */
    TTY_FORBIDDEN, /* it may have one, and is kept from it: a sandbox */
};
enum tty_trouble tty_check(void); /* whether there is one; changes nothing */

struct tty_calls {
    void *context;
    void (*typed)(void *context, const char *bytes, size_t length);
    void (*resized)(void *context);
    void (*written)(void *context); /* all that was given is out */
    /* Another process stopped us: tty_suspend is to be called. */
    void (*stop_wanted)(void *context);
    /* We were stopped without a word and go on: the screen may be another's. */
    void (*resumed)(void *context);
    void (*ended)(void *context, int number); /* a signal that ends programs, or 0: it is gone */
};

/* Raw from here on; `is_plain`: lines as the terminal itself edits them, and nothing is sent to it
 * unasked. NULL: there is none, as tty_check says. `is_light` is asked for, for at most
 * 100 ms, where kind->answers; then kind knows it. */
struct tty *tty_open(struct loop *loop, const struct tty_calls *calls, struct terminal_kind *kind,
                     bool is_plain);
void tty_size(const struct tty *tty, int *ret_rows, int *ret_columns);
/* Out as soon as it takes them. */
void tty_write(struct tty *tty, struct text *take_bytes);
/* The name of its window, until we give it back: the one it had is kept by the terminal. */
void tty_title(struct tty *tty, const char *words);
bool tty_is_writing(const struct tty *tty); /* it is slow: better draw later */
/* Gives the terminal back, stops this job as Ctrl-Z does, returns when it goes on. */
void tty_suspend(struct tty *tty);
/* As it was before tty_open. NULL is fine; the loop must run once more for the rest of it. */
void tty_close(struct tty *tty);

#endif
