/*
 * test_tui_keyboard.c - bytes of a terminal to keys: sequences whole and in pieces, lone Esc,
 * pasted text, and what must be dropped. Proves: R6.1 R6.5 P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/keyboard.h"

static struct text seen;

static void note(void *context, const struct key *key)
{
    static const char *const names[] = { "text",     "paste",     "enter",      "send",   "tab",
                                         "back-tab", "esc",       "up",         "down",   "left",
                                         "right",    "word-left", "word-right", "home",   "end",
                                         "page-up",  "page-down", "backspace",  "delete", "control",
                                         "focus-in", "focus-out" };

    (void)context;
    text_add_text(&seen, names[key->code]);
    if (key->length)
        text_add_format(&seen, "(%.*s)", (int)key->length, key->text);
    text_add_char(&seen, ' ');
}

static void expect_n(const char *bytes, size_t length, const char *wanted)
{
    struct keyboard keyboard = { 0 };

    text_clear(&seen);
    keyboard_feed(&keyboard, bytes, length, note, NULL);
    keyboard_time_out(&keyboard, note, NULL);
    assert_string_equal(text_string(&seen), wanted);
    keyboard_release(&keyboard);
    /* the same bytes one by one say the same */
    text_clear(&seen);
    for (size_t i = 0; i < length; i++)
        keyboard_feed(&keyboard, bytes + i, 1, note, NULL);
    keyboard_time_out(&keyboard, note, NULL);
    assert_string_equal(text_string(&seen), wanted);
    keyboard_release(&keyboard);
    text_release(&seen);
}

static void expect(const char *bytes, const char *wanted)
{
    expect_n(bytes, strlen(bytes), wanted);
}

static void plain_keys(void **state)
{
    (void)state;
    expect("j1 ", "text(j) text(1) text( ) ");
    expect("\r\n", "enter enter ");
    expect("\t\b\177", "tab backspace backspace ");
    expect("\004", "send ");
    expect("\001\005\025\027", "control(a) control(e) control(u) control(w) ");
    expect("é中🙂", "text(é) text(中) text(🙂) ");
}

static void sequences(void **state)
{
    (void)state;
    expect("\033[A\033[B\033OC\033OD", "up down right left ");
    expect("\033[1~\033[4~\033[H\033OF", "home end home end ");
    expect("\033[5~\033[6~\033[3~\033[Z", "page-up page-down delete back-tab ");
    expect("\033[1;5D\033[1;5C\033b\033f", "word-left word-right word-left word-right ");
    expect("\033[13;5u\033[27;5;13~", "send send ");
    expect("\033[I\033[O", "focus-in focus-out ");
}

static void a_lone_escape(void **state)
{
    (void)state;
    expect("\033", "esc ");
    expect("\033\033", "esc esc ");
    expect("\033\033[A", "esc up ");
}

static void what_is_dropped(void **state)
{
    (void)state;
    expect("\033q\033\r", "");                               /* Alt and a key */
    expect("\033[99;99;99z", "");                            /* unknown */
    expect("\033]11;rgb:0000/0000/0000\033\\j", "text(j) "); /* a reply we did not ask for */
    expect("\033]52;c;aGVsbG8=\007j", "text(j) ");           /* clipboard */
    expect("\033P1$r0m\033\\k", "text(k) ");
    expect("\xff\xfe\xc3j\xe4\xb8", "text(j) "); /* not UTF-8 */
    expect("\xc2\x9b"
           "A",
           "text(A) ");         /* C1 control, 8 bits */
    expect("\xed\xa0\x80", ""); /* surrogate */
    expect("\033[", "");
}

static void a_long_reply_ends_where_it_ends(void **state)
{
    char bytes[5000];

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, "\033]", 2);
    memcpy(bytes + sizeof bytes - 3, "\033\\j", 3);
    expect_n(bytes, sizeof bytes, "text(j) ");
}

static void pasted_text(void **state)
{
    (void)state;
    expect("\033[200~a\r\nb\rc\nd\te\033[201~j", "paste(a\nb\nc\nd    e) text(j) ");
    expect("\033[200~x\033[31my\001\177z\xc2\x9b\xff\033[201~", "paste(x[31myz) ");
    expect("\033[200~\033[20\033[201~", "paste([20) ");
    expect("\033[200~\033[201~", "paste ");
    expect("\033[200~never ends \033", "");
}

static void a_paste_is_bounded(void **state)
{
    size_t length = 1000000;
    char *bytes = mem_new(length);
    struct keyboard keyboard = { 0 };

    (void)state;
    memset(bytes, 'x', length);
    keyboard_feed(&keyboard, "\033[200~", 6, note, NULL);
    keyboard_feed(&keyboard, bytes, length, note, NULL);
    assert_true(keyboard.pasted.used <= KEYBOARD_PASTE_BYTES);
    text_clear(&seen);
    keyboard_feed(&keyboard, "\033[201~j", 7, note, NULL);
    assert_string_equal(text_string(&seen) + strlen(text_string(&seen)) - 8, "text(j) ");
    keyboard_release(&keyboard);
    text_release(&seen);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_keys),
        cmocka_unit_test(sequences),
        cmocka_unit_test(a_lone_escape),
        cmocka_unit_test(what_is_dropped),
        cmocka_unit_test(pasted_text),
        cmocka_unit_test(a_paste_is_bounded),
        cmocka_unit_test(a_long_reply_ends_where_it_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
