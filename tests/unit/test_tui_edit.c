/*
 * test_tui_edit.c - writing a text: by glyphs, in lines, with bounds.
 * Proves: R6.1 P13
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/glyph.h"
#include "tui/canvas.h"
#include "tui/edit.h"
#include "tui/keyboard.h"

static void press(void *context, const struct key *key)
{
    edit_key(context, key);
}

static void type(struct edit *edit, const char *bytes)
{
    struct keyboard keyboard = { 0 };

    keyboard_feed(&keyboard, bytes, strlen(bytes), press, edit);
    keyboard_release(&keyboard);
}

static void expect(struct edit *edit, const char *text, size_t at)
{
    assert_string_equal(text_string(&edit->text), text);
    assert_int_equal(edit->at, at);
}

static void letters_and_glyphs(void **state)
{
    struct edit edit;

    (void)state;
    edit_init(&edit, false, 1000, "");
    type(&edit, "ab中👨‍👩‍👧‍👦é");
    type(&edit, "\177");
    expect(&edit, "ab中👨‍👩‍👧‍👦", 30);
    type(&edit, "\177");
    expect(&edit, "ab中", 5);
    type(&edit, "\033[D\033[DX");
    expect(&edit, "aXb中", 2);
    type(&edit, "\033[3~");
    expect(&edit, "aX中", 2);
    type(&edit, "\005\177");
    expect(&edit, "aX", 2);
    type(&edit, "\001\013");
    expect(&edit, "", 0);
    type(&edit, "\177\033[D\033[C\033[3~");
    expect(&edit, "", 0);
    edit_release(&edit);
}

static void words(void **state)
{
    struct edit edit;

    (void)state;
    edit_init(&edit, false, 1000, "eu-west 伦敦 now");
    type(&edit, "\027");
    expect(&edit, "eu-west 伦敦 ", 15);
    type(&edit, "\033[1;5D\033[1;5D");
    assert_int_equal(edit.at, 3);
    type(&edit, "\033[1;5C");
    assert_int_equal(edit.at, 7);
    type(&edit, "\025");
    expect(&edit, " 伦敦 ", 0);
    edit_release(&edit);
}

static void one_line_stays_one_line(void **state)
{
    struct edit edit;

    (void)state;
    edit_init(&edit, false, 1000, "");
    type(&edit, "\033[200~a\nb\033[201~\r");
    expect(&edit, "a b", 3);
    edit_release(&edit);
}

static void what_does_not_fit_is_cut_between_glyphs(void **state)
{
    struct edit edit;

    (void)state;
    edit_init(&edit, true, 5, "");
    type(&edit, "中文");
    expect(&edit, "中", 3);
    assert_true(edit.is_full);
    type(&edit, "ab");
    expect(&edit, "中ab", 5);
    assert_false(edit.is_full);
    type(&edit, "c\r");
    expect(&edit, "中ab", 5);
    edit_release(&edit);
}

static void rows_are_as_drawn(void **state)
{
    struct edit edit;
    struct canvas canvas = { 0 };
    struct text row = { 0 };

    (void)state;
    edit_init(&edit, true, 1000, "one two three\n");
    canvas_reset(&canvas, 20);
    assert_int_equal(edit_draw(&edit, &canvas, 0, 2, 11, 10, true), 3);
    canvas_write_row(&canvas, 0, &row);
    assert_string_equal(text_string(&row), "  one two");
    text_clear(&row);
    canvas_write_row(&canvas, 1, &row);
    assert_string_equal(text_string(&row), "  three");
    assert_int_equal(canvas.cursor_row, 2);
    assert_int_equal(canvas.cursor_column, 2);
    type(&edit, "\033[A\033[C\033[C\033[A");
    assert_int_equal(edit.at, 2);
    type(&edit, "\033[B\033[B\033[B");
    assert_int_equal(edit.at, 14);
    /* few rows: the cursor's is among them */
    canvas_reset(&canvas, 20);
    assert_int_equal(edit_draw(&edit, &canvas, 0, 0, 9, 2, true), 2);
    assert_int_equal(canvas.cursor_row, 1);
    edit_release(&edit);
    canvas_release(&canvas);
    text_release(&row);
}

/* Letters of ASCII are taken without a look into tables; what follows may still join them. */
static void plain_letters_are_glyphs(void **state)
{
    (void)state;
    for (char letter = ' '; letter <= '~'; letter++) {
        const char alone[] = { letter, '\0' }, followed[] = { letter, 'x', '\0' };
        const char before_end[] = { letter, '\n', '\0' },
                   accented[] = { letter, '\xcc', '\x81', '\0' };
        const char keycap[] = { letter, '\xef', '\xb8', '\x8f', '\0' };

        assert_int_equal(glyph_first(alone, 1).bytes, 1);
        assert_int_equal(glyph_first(followed, 2).bytes, 1);
        assert_int_equal(glyph_first(followed, 2).columns, 1);
        assert_int_equal(glyph_first(before_end, 2).bytes, 1);
        assert_int_equal(glyph_first(accented, 3).bytes, 3);
        assert_true(glyph_first(keycap, 4).is_disputed);
    }
    assert_int_equal(glyph_first("\xffx", 2).bytes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_letters_are_glyphs),
        cmocka_unit_test(letters_and_glyphs),
        cmocka_unit_test(words),
        cmocka_unit_test(one_line_stays_one_line),
        cmocka_unit_test(what_does_not_fit_is_cut_between_glyphs),
        cmocka_unit_test(rows_are_as_drawn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
