/*
 * test_tui_painter.c - pictures on a terminal, read back with libvterm: the screen shows what was
 * drawn, a change costs little and a list that scrolls too, rows are given back, nothing that is
 * drawn can act.
 * Proves: R6.1 R6.5 P13
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "tui/canvas.h"
#include "tui/painter.h"

struct stage {
    VTerm *terminal;
    VTermScreen *screen;
    struct painter painter;
    struct canvas canvas;
    struct text out;
};

static struct stage stage_open(int rows, int columns)
{
    struct stage stage = { .terminal = vterm_new(rows, columns) };

    vterm_set_utf8(stage.terminal, 1);
    stage.screen = vterm_obtain_screen(stage.terminal);
    vterm_screen_enable_altscreen(stage.screen, 1);
    vterm_screen_reset(stage.screen, 1);
    stage.painter.rows = rows;
    stage.painter.columns = columns;
    return stage;
}

static void stage_close(struct stage *stage)
{
    painter_release(&stage->painter);
    canvas_release(&stage->canvas);
    text_release(&stage->out);
    vterm_free(stage->terminal);
}

/* Hands the bytes over; returns how many there were. */
static size_t send_out(struct stage *stage)
{
    size_t length = stage->out.used;

    vterm_input_write(stage->terminal, text_string(&stage->out), length);
    text_clear(&stage->out);
    return length;
}

static size_t show(struct stage *stage)
{
    painter_show(&stage->painter, &stage->canvas, &stage->out);
    return send_out(stage);
}

static void shell_says(struct stage *stage, const char *text)
{
    vterm_input_write(stage->terminal, text, strlen(text));
}

static void assert_screen_row(struct stage *stage, int row, const char *wanted)
{
    char bytes[4096];
    VTermRect rect = { row, row + 1, 0, stage->painter.columns };
    size_t length = vterm_screen_get_text(stage->screen, bytes, sizeof bytes - 1, rect);

    while (length > 0 && bytes[length - 1] == ' ')
        length--;
    bytes[length] = '\0';
    assert_string_equal(bytes, wanted);
}

static void draw_lines(struct stage *stage, int count, const char *format)
{
    canvas_reset(&stage->canvas, stage->painter.columns);
    for (int row = 0; row < count; row++) {
        char *line = mem_format(format, row);

        canvas_put_text(&stage->canvas, row, 1, 1000, row % INK_COUNT, line);
        free(line);
    }
}

static void inline_below_the_prompt(void **state)
{
    struct stage stage = stage_open(10, 40);

    (void)state;
    shell_says(&stage, "$ make\r\nsome output\r\n");
    painter_begin(&stage.painter, false, &stage.out);
    draw_lines(&stage, 4, "row %d 中文");
    show(&stage);
    assert_screen_row(&stage, 1, "some output");
    assert_screen_row(&stage, 2, " row 0 中文");
    assert_screen_row(&stage, 5, " row 3 中文");
    draw_lines(&stage, 2, "less %d");
    show(&stage);
    assert_screen_row(&stage, 2, " less 0");
    assert_screen_row(&stage, 3, " less 1");
    assert_screen_row(&stage, 4, "");
    painter_end(&stage.painter, &stage.out);
    send_out(&stage);
    shell_says(&stage, "done");
    assert_screen_row(&stage, 1, "some output");
    assert_screen_row(&stage, 2, "done");
    assert_screen_row(&stage, 3, "");
    stage_close(&stage);
}

static void at_the_bottom_the_screen_scrolls(void **state)
{
    struct stage stage = stage_open(6, 40);

    (void)state;
    shell_says(&stage, "1\r\n2\r\n3\r\n4\r\n5\r\n");
    painter_begin(&stage.painter, false, &stage.out);
    draw_lines(&stage, 3, "row %d");
    show(&stage);
    assert_screen_row(&stage, 2, "5");
    assert_screen_row(&stage, 3, " row 0");
    draw_lines(&stage, 5, "row %d");
    show(&stage);
    assert_screen_row(&stage, 0, "5");
    assert_screen_row(&stage, 1, " row 0");
    assert_screen_row(&stage, 5, " row 4");
    painter_end(&stage.painter, &stage.out);
    send_out(&stage);
    assert_screen_row(&stage, 0, "5");
    assert_screen_row(&stage, 1, "");
    stage_close(&stage);
}

static void a_change_costs_little(void **state)
{
    struct stage stage = stage_open(30, 100);
    size_t whole, change;

    (void)state;
    painter_begin(&stage.painter, false, &stage.out);
    send_out(&stage);
    draw_lines(&stage, 20, "a line of some length, as options have, number %d");
    whole = show(&stage);
    assert_int_equal(show(&stage), 0);
    canvas_put_text(&stage.canvas, 3, 1, 100, INK_ACCENT, ">");
    change = show(&stage);
    assert_in_range(change, 1, whole / 10);
    assert_screen_row(&stage, 3, " > line of some length, as options have, number 3");
    stage_close(&stage);
}

enum { LIST_TOP = 3, LIST_ROWS = 9, LIST_WHOLE = LIST_TOP + LIST_ROWS + 2 };

/* A list in the middle of other things; the item under the cursor stands out. */
static void draw_window(struct stage *stage, int first, int cursor)
{
    struct canvas *canvas = &stage->canvas;
    int rows = LIST_ROWS;

    draw_lines(stage, LIST_TOP, "some words above, which stay %d");
    for (int i = 0; i < rows; i++) {
        char *line = mem_format("%3d  service 中-%03d", first + i, (first + i) * 7);

        canvas_put_text(canvas, LIST_TOP + i, 1, 60, INK_ACCENT, first + i == cursor ? ">" : "");
        canvas_put_text(canvas, LIST_TOP + i, 3, 60, first + i == cursor ? INK_STRONG : INK_PLAIN,
                        line);
        free(line);
    }
    canvas_put_text(canvas, LIST_TOP + rows, 1, 60, INK_QUIET, "so many of a hundred");
    canvas_put_text(canvas, LIST_TOP + rows + 1, 1, 60, INK_FIELD, "keys");
}

static void assert_window(struct stage *stage, int begin, int first, int cursor)
{
    assert_screen_row(stage, begin + 2, " some words above, which stay 2");
    for (int i = 0; i < LIST_ROWS; i++) {
        char *line = mem_format(" %s %3d  service 中-%03d", first + i == cursor ? ">" : " ",
                                first + i, (first + i) * 7);

        assert_screen_row(stage, begin + LIST_TOP + i, line);
        free(line);
    }
    assert_screen_row(stage, begin + LIST_TOP + LIST_ROWS, " so many of a hundred");
    assert_screen_row(stage, begin + LIST_TOP + LIST_ROWS + 1, " keys");
}

/* Inline at the end of the screen and on a screen of its own, down and up, by one row and by some;
 * what stands above and below is not touched. */
static void a_list_that_scrolls_moves_its_rows(void **state)
{
    static const int steps[] = { 1, 1, 2, 3, -1, 1, -3, -2, 8, -9 };

    (void)state;
    for (int how = 0; how < 3; how++) {
        struct stage stage = stage_open(LIST_WHOLE + 2, 60);
        int begin = how == 1 ? 0 : 2, first = 20;
        size_t whole;

        stage.painter.look.lacks_shifts = how == 2;
        shell_says(&stage, "1\r\n2\r\n");
        painter_begin(&stage.painter, how == 1, &stage.out);
        draw_window(&stage, first, first + 4);
        whole = show(&stage);
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            size_t change;

            first += steps[i];
            draw_window(&stage, first, steps[i] > 0 ? first + LIST_ROWS - 1 : first);
            painter_show(&stage.painter, &stage.canvas, &stage.out);
            assert_int_equal(strstr(text_string(&stage.out), "M\033[") != NULL,
                             how != 2 && abs(steps[i]) < LIST_ROWS - 1);
            change = send_out(&stage);
            assert_window(&stage, begin, first, steps[i] > 0 ? first + LIST_ROWS - 1 : first);
            if (how != 2 && abs(steps[i]) == 1)
                assert_in_range(change, 1, whole / 4);
            if (how != 1)
                assert_screen_row(&stage, 1, "2");
        }
        stage_close(&stage);
    }
}

static void assert_same_screens(struct stage *left, struct stage *right)
{
    for (int row = 0; row < left->painter.rows; row++) {
        for (int column = 0; column < left->painter.columns; column++) {
            VTermPos at = { row, column };
            VTermScreenCell a, b;

            vterm_screen_get_cell(left->screen, at, &a);
            vterm_screen_get_cell(right->screen, at, &b);
            if (a.chars[0] == UINT32_MAX && b.chars[0] == UINT32_MAX)
                continue; /* the right half of a wide one */
            if (a.chars[0] == ' ')
                a.chars[0] = 0;
            if (b.chars[0] == ' ')
                b.chars[0] = 0;
            if (a.chars[0] != b.chars[0] || a.width != b.width ||
                (a.chars[0] &&
                 (a.attrs.bold != b.attrs.bold || !vterm_color_is_equal(&a.fg, &b.fg))) ||
                a.attrs.underline != b.attrs.underline)
                fail_msg("row %d, column %d differs", row, column);
        }
    }
}

/* Any picture after any other is what it would be on an empty screen. */
static void changed_or_drawn_anew_is_the_same(void **state)
{
    static const char *const words[] = {
        "", "", "中文 and more", "a", "plain words", "naïve ✓ é", "0123456789 0123456789 0123456789"
    };
    struct stage changed = stage_open(12, 40);
    int kept[12] = { 0 };

    (void)state;
    srand(20261115);
    painter_begin(&changed.painter, true, &changed.out);
    for (int round = 0; round < 3000; round++) {
        struct stage anew = stage_open(12, 40);
        int by = rand() % 5 - 2, top = rand() % 6;

        changed.painter.look.colours = anew.painter.look.colours = COLOURS_16;
        for (int i = 0; i < 6; i++) { /* some rows move, some change */
            int row = by > 0 ? top + i : top + 5 - i;

            if (row + by >= 0 && row + by < 12)
                kept[row] = kept[row + by];
        }
        kept[rand() % 12] = rand();
        canvas_reset(&changed.canvas, 40);
        for (int row = 0; row < 12; row++) {
            canvas_put_text(&changed.canvas, row, kept[row] % 7, 40,
                            (enum ink)(kept[row] / 7 % INK_COUNT),
                            words[kept[row] / 56 % (int)ARRAY_LEN(words)]);
            canvas_put_text(&changed.canvas, row, 20 + kept[row] % 5, 40,
                            (enum ink)(kept[row] / 11 % INK_COUNT),
                            words[kept[row] / 77 % (int)ARRAY_LEN(words)]);
        }
        show(&changed);
        painter_begin(&anew.painter, true, &anew.out);
        painter_show(&anew.painter, &changed.canvas, &anew.out);
        send_out(&anew);
        assert_same_screens(&changed, &anew);
        stage_close(&anew);
    }
    stage_close(&changed);
}

static void wide_and_disputed_glyphs_keep_their_columns(void **state)
{
    struct stage stage = stage_open(5, 40);
    VTermPos at = { 0, 20 };
    VTermScreenCell cell;

    (void)state;
    painter_begin(&stage.painter, false, &stage.out);
    canvas_reset(&stage.canvas, 40);
    canvas_put_text(&stage.canvas, 0, 0, 40, INK_PLAIN,
                    "❤️👍🏽👨‍👩‍👧‍👦🇨🇳1️⃣ ende");
    canvas_put_text(&stage.canvas, 0, 20, 40, INK_PLAIN, "here");
    show(&stage);
    vterm_screen_get_cell(stage.screen, at, &cell);
    assert_int_equal(cell.chars[0], 'h');
    /* the right half of a wide glyph that is drawn over leaves no half behind */
    canvas_reset(&stage.canvas, 40);
    canvas_put_text(&stage.canvas, 0, 0, 40, INK_PLAIN, "中文");
    canvas_put_text(&stage.canvas, 0, 1, 40, INK_PLAIN, "x");
    show(&stage);
    assert_screen_row(&stage, 0, " x文");
    stage_close(&stage);
}

/* Nothing of a text is drawn over because a terminal gives its parts columns that we do not. */
static void what_terminals_do_not_agree_on_has_room(void **state)
{
    static const struct {
        const char *text;
        int columns;
        size_t bytes; /* of its first glyph */
        bool is_disputed;
    } cases[] = {
        { "a", 1, 1, false },
        { "文", 2, 3, false },
        { "a\u0301", 1, 3, true },
        { "x\U0001e4ec", 1, 5, true },         /* a mark of Unicode 15 */
        { "\u0928\u093f", 2, 6, true },        /* a vowel beside its letter */
        { "\u0600a", 2, 2, true },             /* a sign before its letter, which is the next */
        { "\u0600\u0600\u0600a", 4, 2, true }, /* as many as there are */
        { "\u2764\ufe0f", 2, 6, true },
        { "\ue000", 1, 3, true }, /* for private use */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct glyph glyph = glyph_first(cases[i].text, strlen(cases[i].text));

        assert_int_equal(glyph_columns(cases[i].text, strlen(cases[i].text)), cases[i].columns);
        assert_int_equal(glyph.bytes, cases[i].bytes);
        assert_int_equal(glyph.is_disputed, cases[i].is_disputed);
    }
}

static void the_cursor_stands_where_one_writes(void **state)
{
    struct stage stage = stage_open(8, 40);
    VTermPos at;

    (void)state;
    painter_begin(&stage.painter, false, &stage.out);
    draw_lines(&stage, 3, "row %d");
    stage.canvas.cursor_row = 1;
    stage.canvas.cursor_column = 7;
    show(&stage);
    vterm_state_get_cursorpos(vterm_obtain_state(stage.terminal), &at);
    assert_int_equal(at.row, 1);
    assert_int_equal(at.col, 7);
    stage_close(&stage);
}

static void a_narrower_window_is_drawn_anew(void **state)
{
    struct stage stage = stage_open(12, 60);

    (void)state;
    painter_begin(&stage.painter, false, &stage.out);
    draw_lines(&stage, 3, "row %d of a picture that is much wider than what comes");
    show(&stage);
    painter_resize(&stage.painter, 12, 30, &stage.out);
    vterm_set_size(stage.terminal, 12, 30);
    draw_lines(&stage, 3, "row %d");
    send_out(&stage);
    show(&stage);
    for (int row = 0, found = 0; row < 12; row++) {
        char bytes[256];
        VTermRect rect = { row, row + 1, 0, 30 };
        size_t length = vterm_screen_get_text(stage.screen, bytes, sizeof bytes - 1, rect);

        bytes[length] = '\0';
        found += strstr(bytes, "row 2") != NULL;
        assert_true(row < 11 || found >= 1);
    }
    stage_close(&stage);
}

static void the_alternate_screen_comes_and_goes(void **state)
{
    struct stage stage = stage_open(5, 30);

    (void)state;
    shell_says(&stage, "prompt\r\n");
    painter_begin(&stage.painter, true, &stage.out);
    draw_lines(&stage, 5, "row %d");
    show(&stage);
    assert_screen_row(&stage, 0, " row 0");
    assert_screen_row(&stage, 4, " row 4");
    painter_end(&stage.painter, &stage.out);
    send_out(&stage);
    assert_screen_row(&stage, 0, "prompt");
    stage_close(&stage);
}

static void nothing_drawn_can_act(void **state)
{
    struct canvas canvas = { 0 };
    struct painter painter = { .rows = 5, .columns = 200 };
    struct text out = { 0 };
    char all[256];

    (void)state;
    for (int i = 0; i < 255; i++)
        all[i] = (char)(i + 1);
    canvas_reset(&canvas, 200);
    canvas_put(&canvas, 0, 0, 200, INK_PLAIN, all, 255);
    canvas_put_text(&canvas, 1, 0, 200, INK_PLAIN,
                    "\xc2\x9b"
                    "31m\033]0;x\007");
    for (int row = 0; row < 2; row++) {
        text_clear(&out);
        canvas_write_row(&canvas, row, &out);
        for (size_t i = 0; i < out.used; i++) {
            unsigned char byte = (unsigned char)out.bytes[i];

            assert_true(byte >= 0x20 && byte != 0x7f);
        }
        assert_true(text_is_utf8(text_string(&out), out.used));
        assert_null(strstr(text_string(&out), "\xc2\x9b"));
    }
    painter_release(&painter);
    canvas_release(&canvas);
    text_release(&out);
}

/* Each role by the colors there are; without any, weight and line carry it. Never a background. */
static void inks_by_what_the_terminal_has(void **state)
{
    static const struct {
        enum painter_colours colours;
        bool is_light;
        const char *accent, *danger;
    } cases[] = {
        { COLOURS_NONE, false, "\033[0;1m", "\033[1m" },
        { COLOURS_16, false, "\033[0;94m", "\033[31m" },
        { COLOURS_16, true, "\033[0;34m", "\033[31m" },
        { COLOURS_256, false, "\033[0;38;5;111m", "\033[38;5;217m" },
        { COLOURS_256, true, "\033[0;38;5;26m", "\033[38;5;124m" },
        { COLOURS_TRUE, false, "\033[0;38;2;157;187;255m", "\033[38;2;255;159;151m" },
        { COLOURS_TRUE, true, "\033[0;38;2;36;86;197m", "\033[38;2;176;36;28m" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct painter painter = { .look = { .colours = cases[i].colours,
                                             .is_light = cases[i].is_light },
                                   .rows = 5,
                                   .columns = 20 };
        struct canvas canvas = { 0 };
        struct text out = { 0 };

        canvas_reset(&canvas, 20);
        canvas_put_text(&canvas, 0, 0, 20, INK_ACCENT, "a");
        canvas_put_text(&canvas, 0, 1, 20, INK_PLAIN, "p");
        canvas_put_text(&canvas, 0, 2, 20, INK_DANGER, "d");
        painter_begin(&painter, false, &out);
        painter_show(&painter, &canvas, &out);
        assert_non_null(strstr(text_string(&out), cases[i].accent));
        assert_non_null(strstr(text_string(&out), cases[i].danger));
        assert_null(strstr(text_string(&out), ";48;"));
        painter_release(&painter);
        canvas_release(&canvas);
        text_release(&out);
    }
}

static void words_wrap(void **state)
{
    static const struct {
        const char *text;
        int columns;
        size_t bytes, next;
    } cases[] = {
        { "one two three", 7, 7, 8 },
        { "one two three", 8, 7, 8 },
        { "one two three", 6, 3, 4 },
        { "onetwothree", 4, 4, 4 },
        { "a\nb", 10, 1, 2 },
        { "", 10, 0, 0 },
        /* never before a closing sign, never behind an opening one */
        { "你好，世", 4, 3, 3 },
        { "你（好", 4, 3, 3 },
        { "你好 ab，", 7, 6, 7 },
        { "中文字", 5, 6, 6 },
        { "中", 1, 3, 3 },
        { "fits exactly", 12, 12, 12 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t next,
            bytes = glyph_wrap(cases[i].text, strlen(cases[i].text), cases[i].columns, &next);

        assert_int_equal(bytes, cases[i].bytes);
        assert_int_equal(next, cases[i].next);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inline_below_the_prompt),
        cmocka_unit_test(at_the_bottom_the_screen_scrolls),
        cmocka_unit_test(a_change_costs_little),
        cmocka_unit_test(a_list_that_scrolls_moves_its_rows),
        cmocka_unit_test(changed_or_drawn_anew_is_the_same),
        cmocka_unit_test(wide_and_disputed_glyphs_keep_their_columns),
        cmocka_unit_test(what_terminals_do_not_agree_on_has_room),
        cmocka_unit_test(the_cursor_stands_where_one_writes),
        cmocka_unit_test(a_narrower_window_is_drawn_anew),
        cmocka_unit_test(the_alternate_screen_comes_and_goes),
        cmocka_unit_test(nothing_drawn_can_act),
        cmocka_unit_test(inks_by_what_the_terminal_has),
        cmocka_unit_test(words_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
