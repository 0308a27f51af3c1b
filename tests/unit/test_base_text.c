/*
 * test_base_text.c - bytes that grow up to their maximum, strict UTF-8, whole integers.
 * Proves: P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static void an_empty_text_is_a_string(void **state)
{
    struct text text = { .max_bytes = 5 };
    char *taken;

    (void)state;
    assert_string_equal(text_string(&text), "");
    text_clear(&text);
    text_drop_front(&text, 0);
    text_release(&text);
    assert_int_equal(text.max_bytes, 5);
    taken = text_take(&text);
    assert_string_equal(taken, "");
    free(taken);
}

static void bytes_are_appended(void **state)
{
    struct text text = { 0 };

    (void)state;
    text_add(&text, "ab\0c", 4);
    text_add(&text, NULL, 0);
    text_add_char(&text, 'd');
    text_add_format(&text, "%d-%s", 12, "x");
    text_add_text(&text, "!");
    assert_int_equal(text.used, 10);
    assert_memory_equal(text.bytes, "ab\0cd12-x!", 11);
    text_clear(&text);
    assert_int_equal(text.used, 0);
    assert_string_equal(text.bytes, "");
    text_add_text(&text, "again");
    assert_string_equal(text_string(&text), "again");
    text_release(&text);
    assert_null(text.bytes);
}

static void a_text_grows_and_is_taken(void **state)
{
    struct text text = { .max_bytes = 5000 };
    char *taken;

    (void)state;
    for (int i = 0; i < 5000; i++)
        text_add_char(&text, (char)('a' + i % 26));
    assert_false(text.has_overflowed);
    assert_int_equal(strlen(text.bytes), 5000);
    taken = text_take(&text);
    assert_int_equal(taken[4999], 'a' + 4999 % 26);
    assert_null(text.bytes);
    assert_int_equal(text.used, 0);
    assert_int_equal(text.max_bytes, 5000);
    free(taken);
}

static void too_much_is_refused_as_a_whole_and_for_good(void **state)
{
    struct text text = { .max_bytes = 4 };

    (void)state;
    text_add_text(&text, "abc");
    text_add_text(&text, "de");
    assert_true(text.has_overflowed);
    text_add_char(&text, 'f');
    text_add_format(&text, "%d", 1);
    assert_string_equal(text_string(&text), "abc");
    text_clear(&text);
    assert_false(text.has_overflowed);
    text_add_text(&text, "four");
    assert_string_equal(text_string(&text), "four");
    assert_false(text.has_overflowed);
    text_add_format(&text, "%d", 5);
    assert_true(text.has_overflowed);
    text_release(&text);
    assert_false(text.has_overflowed);
}

static void the_front_is_dropped(void **state)
{
    struct text text = { 0 };

    (void)state;
    text_add_text(&text, "hello");
    text_drop_front(&text, 0);
    text_drop_front(&text, 2);
    assert_string_equal(text_string(&text), "llo");
    text_drop_front(&text, 3);
    assert_int_equal(text.used, 0);
    text_add_text(&text, "x");
    assert_string_equal(text_string(&text), "x");
    text_release(&text);
}

static void every_code_point_survives(void **state)
{
    struct text text = { 0 };

    (void)state;
    for (int32_t code_point = 0; code_point <= 0x10ffff; code_point++) {
        const char *at;
        bool is_surrogate = code_point >= 0xd800 && code_point <= 0xdfff;

        text_clear(&text);
        text_add_code_point(&text, code_point);
        at = text.bytes;
        if (text_decode(&at, text.bytes + text.used) != (is_surrogate ? -1 : code_point) ||
            at != text.bytes + (is_surrogate ? 0 : text.used))
            fail_msg("U+%04X", (unsigned)code_point);
    }
    text_release(&text);
}

static void bad_utf8_is_refused(void **state)
{
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2\x41",
        "\xc2\xc2",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xe2\x82",
        "\xe2\x28\xa1",
        "\xe2\x82\x28",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x9f\x98",
        "\xf0\x9f\x98z",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xf8\x88\x80\x80\x80",
        "\xfe",
        "\xff",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *at = bad[i];

        if (text_decode(&at, bad[i] + strlen(bad[i])) != -1 || at != bad[i])
            fail_msg("row %zu is decoded", i);
        if (text_is_utf8(bad[i], strlen(bad[i])))
            fail_msg("row %zu is accepted", i);
    }
}

static void good_utf8_is_counted(void **state)
{
    static const struct {
        const char *text;
        size_t length, count;
    } cases[] = {
        { "", 0, 0 },
        { "a\0b", 3, 3 },
        { "h\u00e9\u20ac\U0001f600", 10, 4 },
        { "\U0010ffff\uffff", 7, 2 },
    };
    const char *at = "a";

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(text_is_utf8(cases[i].text, cases[i].length));
        assert_int_equal(text_count(cases[i].text, cases[i].length), cases[i].count);
    }
    assert_int_equal(text_decode(&at, at), -1);
}

/* Every byte at every place beside the boundaries of eight. */
static void plain_ascii_is_told_from_the_rest(void **state)
{
    char bytes[20];

    (void)state;
    for (size_t at = 0; at < sizeof bytes; at++) {
        for (int byte = 0; byte < 256; byte++) {
            bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';

            memset(bytes, byte % 2 ? ' ' : '~', sizeof bytes);
            bytes[at] = (char)byte;
            assert_int_equal(text_plain_run(bytes, sizeof bytes), is_plain ? sizeof bytes : at);
            assert_int_equal(text_plain_run(bytes, at), at);
            assert_int_equal(text_is_ascii(bytes, sizeof bytes), byte < 0x80);
            assert_true(text_is_ascii(bytes, at));
        }
    }
}

/* Whatever stands behind the first that is not plain, and however much of it. */
static void the_first_that_is_not_plain_is_found(void **state)
{
    static const char others[] = { '\0', '\x1f', '"', '\\', '\x7f', '\x80', '\xff', ' ' };
    char bytes[28];

    (void)state;
    for (size_t length = 1; length <= sizeof bytes; length++) {
        for (size_t at = 0; at < length; at++) {
            for (size_t i = 0; i < 49; i++) {
                memset(bytes, 'a', at);
                bytes[at] = others[i % 7];
                memset(bytes + at + 1, others[1 + i / 7], length - at - 1);
                assert_int_equal(text_plain_run(bytes, length), at);
            }
        }
    }
}

static void integers_are_written(void **state)
{
    static const int64_t numbers[] = { 0, 7, -1, 10, 1234567890, INT64_MAX, INT64_MIN };

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct text text = { 0 };
        int64_t again;

        text_add_integer(&text, numbers[i]);
        assert_true(text_parse_integer(text_string(&text), &again));
        assert_int_equal(again, numbers[i]);
        text_release(&text);
    }
}

static void integers_are_whole(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        int64_t value;
    } cases[] = {
        { "0", true, 0 },
        { "42", true, 42 },
        { "-7", true, -7 },
        { "007", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "--1", false, 0 },
        { "- 1", false, 0 },
        { "+1", false, 0 },
        { " 1", false, 0 },
        { "1 ", false, 0 },
        { "1.0", false, 0 },
        { "0x10", false, 0 },
        { "ten", false, 0 },
        { "/", false, 0 },
        { ":", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = 99;
        bool is_good = text_parse_integer(cases[i].text, &value);

        if (is_good != cases[i].is_good || value != (is_good ? cases[i].value : 99))
            fail_msg("'%s' is read as %lld", cases[i].text, (long long)value);
    }
}

static void a_word_is_found_among_others(void **state)
{
    static const char *const words[] = { "", "one", "two", "one" };

    (void)state;
    assert_int_equal(text_index("one", words, ARRAY_LEN(words)), 1);
    assert_int_equal(text_index("", words, ARRAY_LEN(words)), 0);
    assert_int_equal(text_index("tw", words, ARRAY_LEN(words)), ARRAY_LEN(words));
    assert_int_equal(text_index("two", words, 2), 2);
    assert_int_equal(text_index(NULL, words, ARRAY_LEN(words)), ARRAY_LEN(words));
    assert_true(text_is_among("two", words, ARRAY_LEN(words)));
    assert_false(text_is_among("Two", words, ARRAY_LEN(words)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_text_is_a_string),
        cmocka_unit_test(bytes_are_appended),
        cmocka_unit_test(a_text_grows_and_is_taken),
        cmocka_unit_test(too_much_is_refused_as_a_whole_and_for_good),
        cmocka_unit_test(the_front_is_dropped),
        cmocka_unit_test(every_code_point_survives),
        cmocka_unit_test(bad_utf8_is_refused),
        cmocka_unit_test(good_utf8_is_counted),
        cmocka_unit_test(plain_ascii_is_told_from_the_rest),
        cmocka_unit_test(the_first_that_is_not_plain_is_found),
        cmocka_unit_test(integers_are_written),
        cmocka_unit_test(integers_are_whole),
        cmocka_unit_test(a_word_is_found_among_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
