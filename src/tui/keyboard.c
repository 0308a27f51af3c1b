/* keyboard.c - see keyboard.h. Sequences of xterm, VT220, rxvt and the kitty protocol's CSI u. */
#include "tui/keyboard.h"

#include <string.h>

#include "base/mem.h"

enum { ESCAPE = 27, DELETE_BYTE = 127 };
static const char PASTE_END[] = "\033[201~";

static const struct {
    const char *sequence; /* behind ESC */
    enum key_code code;
} sequences[] = {
    { "[A", KEY_UP },
    { "[B", KEY_DOWN },
    { "[C", KEY_RIGHT },
    { "[D", KEY_LEFT },
    { "[H", KEY_HOME },
    { "[F", KEY_END },
    { "[1~", KEY_HOME },
    { "[4~", KEY_END },
    { "[7~", KEY_HOME },
    { "[8~", KEY_END },
    { "[3~", KEY_DELETE },
    { "[5~", KEY_PAGE_UP },
    { "[6~", KEY_PAGE_DOWN },
    { "[Z", KEY_BACK_TAB },
    { "[I", KEY_FOCUS_IN },
    { "[O", KEY_FOCUS_OUT },
    { "[1;5C", KEY_WORD_RIGHT },
    { "[1;5D", KEY_WORD_LEFT },
    { "[1;3C", KEY_WORD_RIGHT },
    { "[1;3D", KEY_WORD_LEFT },
    { "[13;5u", KEY_SEND },
    { "[27;5;13~", KEY_SEND },
    { "[13u", KEY_ENTER },
    { "[27u", KEY_ESCAPE },
    { "[9u", KEY_TAB },
    { "[127u", KEY_BACKSPACE },
    { "OA", KEY_UP },
    { "OB", KEY_DOWN },
    { "OC", KEY_RIGHT },
    { "OD", KEY_LEFT },
    { "OH", KEY_HOME },
    { "OF", KEY_END },
    { "OM", KEY_ENTER },
    { "b", KEY_WORD_LEFT },
    { "f", KEY_WORD_RIGHT },
};
static const struct {
    char byte;
    enum key_code code;
} controls[] = {
    { '\r', KEY_ENTER },
    { '\n', KEY_ENTER },
    { '\t', KEY_TAB },
    { '\b', KEY_BACKSPACE },
    { DELETE_BYTE, KEY_BACKSPACE },
    { 4, KEY_SEND },
};

int key_distance(const struct key *key)
{
    enum { PAGE = 10, ALL = 100000 };
    static const int by[] = {
        [KEY_UP] = -1,   [KEY_DOWN] = 1,        [KEY_HOME] = -ALL,
        [KEY_END] = ALL, [KEY_PAGE_UP] = -PAGE, [KEY_PAGE_DOWN] = PAGE,
    };
    char letter = key_letter(key);

    if (letter)
        return letter == 'j' ? 1 : letter == 'k' ? -1 : letter == ' ' ? PAGE : 0;
    return key->code < ARRAY_LEN(by) ? by[key->code] : 0;
}

static void emit(keyboard_each *each, void *context, enum key_code code, const char *text,
                 size_t length)
{
    struct key key = { code, text, length };

    each(context, &key);
}

static void emit_named(const char *sequence, size_t length, keyboard_each *each, void *context)
{
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
        if (strlen(sequences[i].sequence) == length &&
            memcmp(sequences[i].sequence, sequence, length) == 0)
            emit(each, context, sequences[i].code, "", 0);
    }
}

static void emit_control(char byte, keyboard_each *each, void *context)
{
    char letter = (char)(byte + 'a' - 1);

    for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
        if (controls[i].byte == byte) {
            emit(each, context, controls[i].code, "", 0);
            return;
        }
    }
    if (byte >= 1 && byte <= 26)
        emit(each, context, KEY_CONTROL, &letter, 1);
}

/* Pasted text as a field may take it. */
static void emit_paste(struct keyboard *keyboard, keyboard_each *each, void *context)
{
    struct text clean = { 0 };
    const char *at = text_string(&keyboard->pasted), *end = at + keyboard->pasted.used;

    while (at < end) {
        const char *from = at;
        int32_t code_point = text_decode(&at, end);

        if (code_point < 0)
            at++;
        else if (code_point == '\r' && at < end && *at == '\n')
            continue;
        else if (code_point == '\r' || code_point == '\n')
            text_add_char(&clean, '\n');
        else if (code_point == '\t')
            text_add_text(&clean, "    ");
        else if (code_point >= ' ' && code_point != DELETE_BYTE &&
                 (code_point < 0x80 || code_point > 0x9f))
            text_add(&clean, from, (size_t)(at - from));
    }
    emit(each, context, KEY_PASTE, text_string(&clean), clean.used);
    text_release(&clean);
    text_release(&keyboard->pasted);
}

static void take_pasted(struct keyboard *keyboard, char byte, keyboard_each *each, void *context)
{
    const size_t mark = sizeof PASTE_END - 1;

    /* the mark's own bytes are held back, so that a full buffer can't hide it */
    if (keyboard->held_length < mark && byte == PASTE_END[keyboard->held_length]) {
        keyboard->held[keyboard->held_length++] = byte;
        if (keyboard->held_length < mark)
            return;
        keyboard->held_length = 0;
        keyboard->is_pasting = false;
        emit_paste(keyboard, each, context);
        return;
    }
    keyboard->pasted.max_bytes = KEYBOARD_PASTE_BYTES;
    text_add(&keyboard->pasted, keyboard->held, keyboard->held_length);
    keyboard->held_length = 0;
    if (byte == PASTE_END[0])
        keyboard->held[keyboard->held_length++] = byte;
    else
        text_add_char(&keyboard->pasted, byte);
}

/* What is held begins with ESC. True: it is complete, and was told or dropped. */
static bool end_sequence(struct keyboard *keyboard, keyboard_each *each, void *context)
{
    const char *held = keyboard->held;
    size_t length = keyboard->held_length;
    char last = held[length - 1];

    switch (length > 1 ? held[1] : 0) {
    case 0:
        return false;
    case '[':
        if (length < 3 || last < 0x40 || last > 0x7e)
            return false; /* not final */
        if (length == 6 && memcmp(held + 2, "200~", 4) == 0)
            keyboard->is_pasting = true;
        break;
    case 'O':
        if (length < 3)
            return false;
        break;
    case ']': /* replies of the terminal to questions, ended by BEL or ESC \ */
    case 'P':
    case '_':
    case '^':
    case 'X':
        return last == 7 || (length > 2 && last == '\\' && held[length - 2] == ESCAPE);
    default: /* Alt and a key: a few are ours, and none is Esc */
        break;
    }
    emit_named(held + 1, length - 1, each, context); /* a paste that begins is none of them */
    return true;
}

static void take_in_sequence(struct keyboard *keyboard, char byte, keyboard_each *each,
                             void *context)
{
    if (byte == ESCAPE && keyboard->held_length == 1) { /* Esc Esc: the first stands alone */
        emit(each, context, KEY_ESCAPE, "", 0);
        return;
    }
    /* too long to be a key: only its end matters, so the last two bytes are enough */
    if (keyboard->held_length == sizeof keyboard->held) {
        keyboard->held[2] = keyboard->held[keyboard->held_length - 1];
        keyboard->held_length = 3;
    }
    keyboard->held[keyboard->held_length++] = byte;
    if (end_sequence(keyboard, each, context))
        keyboard->held_length = 0;
}

static size_t expected_bytes(char first)
{
    unsigned char byte = (unsigned char)first;

    return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
}

static void take_character(struct keyboard *keyboard, char byte, keyboard_each *each, void *context)
{
    const char *at = keyboard->held;
    bool goes_on = ((unsigned char)byte & 0xc0) == 0x80;

    if (keyboard->held_length == 0 || !goes_on) { /* a cut character is dropped */
        keyboard->held_length = 0;
        if (expected_bytes(byte) == 0)
            return;
    }
    keyboard->held[keyboard->held_length++] = byte;
    if (keyboard->held_length < expected_bytes(keyboard->held[0]))
        return;
    if (text_decode(&at, keyboard->held + keyboard->held_length) > 0x9f)
        emit(each, context, KEY_TEXT, keyboard->held, keyboard->held_length);
    keyboard->held_length = 0;
}

static void take_byte(struct keyboard *keyboard, char byte, keyboard_each *each, void *context)
{
    bool is_ascii = ((unsigned char)byte & 0x80) == 0;

    if (keyboard->is_pasting) {
        take_pasted(keyboard, byte, each, context);
    } else if (keyboard->held_length > 0 && keyboard->held[0] == ESCAPE) {
        take_in_sequence(keyboard, byte, each, context);
    } else if (!is_ascii) {
        take_character(keyboard, byte, each, context);
    } else {
        keyboard->held_length = 0;
        if (byte == ESCAPE)
            keyboard->held[keyboard->held_length++] = byte;
        else if (byte >= ' ' && byte != DELETE_BYTE)
            emit(each, context, KEY_TEXT, &byte, 1);
        else
            emit_control(byte, each, context);
    }
}

void keyboard_feed(struct keyboard *keyboard, const char *bytes, size_t length, keyboard_each *each,
                   void *context)
{
    for (size_t i = 0; i < length; i++)
        take_byte(keyboard, bytes[i], each, context);
}

static bool is_waiting(const struct keyboard *keyboard)
{
    return !keyboard->is_pasting && keyboard->held_length > 0 && keyboard->held[0] == ESCAPE;
}

int keyboard_patience_ms(const struct keyboard *keyboard)
{
    if (!is_waiting(keyboard))
        return 0;
    return keyboard->held_length <= 2 ? KEYBOARD_ESCAPE_MS : KEYBOARD_SEQUENCE_MS;
}

void keyboard_time_out(struct keyboard *keyboard, keyboard_each *each, void *context)
{
    bool is_lone = is_waiting(keyboard) && keyboard->held_length == 1;

    if (!is_waiting(keyboard))
        return;
    keyboard->held_length = 0; /* half a sequence is nothing; a lone Esc is Esc */
    if (is_lone)
        emit(each, context, KEY_ESCAPE, "", 0);
}

void keyboard_release(struct keyboard *keyboard)
{
    text_release(&keyboard->pasted);
    memset(keyboard, 0, sizeof *keyboard);
}
