/*
 * fuzz_keyboard.c - any bytes from a terminal, however they are cut: keys are whole characters,
 * pastes have no control characters, and cutting changes nothing but lone escapes.
 * Proves: R6.1, P14
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/keyboard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static bool is_control(char byte)
{
    return ((unsigned char)byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
}

static void on_key(void *context, const struct key *key)
{
    struct text *all = context;

    demand(key->code <= KEY_FOCUS_OUT);
    demand(key->text != NULL);
    if (key->code == KEY_TEXT || key->code == KEY_PASTE) {
        demand(text_is_utf8(key->text, key->length));
        for (size_t i = 0; i < key->length; i++)
            demand(!is_control(key->text[i]));
    }
    if (key->code == KEY_CONTROL)
        demand(key->length == 1);
    text_add_format(all, "%d:", (int)key->code);
    text_add(all, key->text, key->length);
    text_add_char(all, ';');
}

static void feed(const char *bytes, size_t size, size_t piece, struct text *all)
{
    struct keyboard keyboard = { 0 };

    for (size_t at = 0; at < size; at += piece)
        keyboard_feed(&keyboard, bytes + at, size - at < piece ? size - at : piece, on_key, all);
    if (keyboard_patience_ms(&keyboard) > 0)
        keyboard_time_out(&keyboard, on_key, all);
    demand(keyboard.pasted.used <= KEYBOARD_PASTE_BYTES);
    keyboard_release(&keyboard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text whole = { 0 }, cut = { 0 };

    feed((const char *)data, size, size ? size : 1, &whole);
    feed((const char *)data, size, 1, &cut);
    demand(whole.used == cut.used &&
           memcmp(text_string(&whole), text_string(&cut), whole.used) == 0);
    text_release(&whole);
    text_release(&cut);
    return 0;
}
