/*
 * keyboard.h - bytes of a terminal to keys. Pure: the caller feeds bytes and tells when
 * nothing followed a lone Esc for a while. Unknown bytes are dropped, never passed on.
 */
#ifndef TUI_KEYBOARD_H
#define TUI_KEYBOARD_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { KEYBOARD_ESCAPE_MS = 25, KEYBOARD_SEQUENCE_MS = 1000, KEYBOARD_PASTE_BYTES = 262144 };

enum key_code {
    KEY_TEXT,  /* what the key types, UTF-8 */
    KEY_PASTE, /* pasted text: line ends are \n, control characters gone */
    KEY_ENTER,
    KEY_SEND, /* Ctrl-D, Ctrl-Enter */
    KEY_TAB,
    KEY_BACK_TAB,
    KEY_ESCAPE,
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_WORD_LEFT,
    KEY_WORD_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_BACKSPACE,
    KEY_DELETE,
    KEY_CONTROL, /* text[0] is the letter, in lower case */
    KEY_FOCUS_IN,
    KEY_FOCUS_OUT,
};
struct key {
    enum key_code code;
    const char *text; /* borrowed for the call; TEXT, PASTE, CONTROL; else "" */
    size_t length;
};
/* What it types, if that is one byte, as letters that are commands are; else '\0'. */
static inline char key_letter(const struct key *key)
{
    return key->code == KEY_TEXT && key->length == 1 ? key->text[0] : '\0';
}
/* How many rows down it moves: one, a page, or to either end; 0: it is not for that. */
int key_distance(const struct key *key);
typedef void keyboard_each(void *context, const struct key *key);

struct keyboard {
    char held[64]; /* the beginning of a sequence or of a character */
    size_t held_length;
    bool is_pasting;
    struct text pasted;
};
void keyboard_feed(struct keyboard *keyboard, const char *bytes, size_t length, keyboard_each *each,
                   void *context);
/* How long to wait for the rest of what began; 0: nothing did. No person types so much of a
 * sequence as that it could be keys: the rest is on its way over a slow line. */
int keyboard_patience_ms(const struct keyboard *keyboard);
void keyboard_time_out(struct keyboard *keyboard, keyboard_each *each, void *context);
void keyboard_release(struct keyboard *keyboard);

#endif
