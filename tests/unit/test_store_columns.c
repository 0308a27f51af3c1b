/*
 * test_store_columns.c - what is written of a member, what is read into one, and copies with their
 * texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "store/columns.h"
#include "store/store.h"

struct thing {
    const char *text, *filled;
    char chars[4];
    uint8_t bytes[DIGEST_BYTES], hash[DIGEST_BYTES];
    int64_t wide, kept;
    int narrow;
    uint32_t bits;
    bool flag;
};
enum { TEXT, FILLED, CHARS, BYTES, HASH, WIDE, KEPT, NARROW, BITS, FLAG, FIXED };
static const struct column list[] = {
    COLUMN_OF(TEXT, struct thing, text),
    COLUMN_OF(FILLED, struct thing, filled),
    COLUMN_OF(CHARS, struct thing, chars),
    COLUMN_OF(BYTES, struct thing, bytes),
    COLUMN_OF(HASH, struct thing, hash),
    COLUMN_OF(NUMBER, struct thing, wide),
    COLUMN_OF(KEEP, struct thing, kept),
    COLUMN_OF(NUMBER, struct thing, narrow),
    COLUMN_OF(BITS, struct thing, bits),
    COLUMN_OF(NUMBER, struct thing, flag),
    { COLUMN_FIXED, 1000, 0 },
};
static const struct columns columns = { list, ARRAY_LEN(list), sizeof(struct thing) };

static void assert_number(int at, const struct thing *thing, int64_t expected)
{
    struct column_value value = column_value(&list[at], thing);

    assert_int_equal(value.kind, VALUE_NUMBER);
    assert_int_equal(value.number, expected);
}

static void nothing_is_null_or_empty(void **state)
{
    const struct thing nothing = { .kept = STORE_KEEP };

    (void)state;
    assert_int_equal(column_value(&list[TEXT], &nothing).kind, VALUE_NULL);
    assert_int_equal(column_value(&list[HASH], &nothing).kind, VALUE_NULL);
    assert_int_equal(column_value(&list[KEPT], &nothing).kind, VALUE_NULL);
    assert_int_equal(column_value(&list[FILLED], &nothing).kind, VALUE_TEXT);
    assert_string_equal(column_value(&list[FILLED], &nothing).bytes, "");
    assert_int_equal(column_value(&list[BYTES], &nothing).kind, VALUE_BYTES);
    assert_int_equal(column_value(&list[BYTES], &nothing).length, DIGEST_BYTES);
    assert_number(WIDE, &nothing, 0);
    assert_number(FIXED, &nothing, 1000);
}

static void values_are_those_of_the_members(void **state)
{
    const struct thing thing = { .text = "t",
                                 .filled = "f",
                                 .chars = "abc",
                                 .hash = { [31] = 1 },
                                 .wide = INT64_MIN,
                                 .kept = 7,
                                 .narrow = -2,
                                 .bits = UINT32_MAX,
                                 .flag = true };

    (void)state;
    assert_string_equal(column_value(&list[TEXT], &thing).bytes, "t");
    assert_string_equal(column_value(&list[FILLED], &thing).bytes, "f");
    assert_string_equal(column_value(&list[CHARS], &thing).bytes, "abc");
    assert_int_equal(column_value(&list[HASH], &thing).kind, VALUE_BYTES);
    assert_number(WIDE, &thing, INT64_MIN);
    assert_number(KEPT, &thing, 7);
    assert_number(NARROW, &thing, -2);
    assert_number(BITS, &thing, UINT32_MAX);
    assert_number(FLAG, &thing, 1);
}

static void what_is_read_never_leaves_its_member(void **state)
{
    struct thing thing = { 0 };
    const uint8_t many[2 * DIGEST_BYTES] = { [DIGEST_BYTES] = 9 };

    (void)state;
    column_take_bytes(&list[CHARS], "abcdef", 6, &thing);
    assert_string_equal(thing.chars, "abc");
    column_take_bytes(&list[BYTES], many, sizeof many, &thing);
    assert_int_equal(thing.hash[0], 0); /* it lies behind them */
    column_take_bytes(&list[BYTES], NULL, 0, &thing);
    column_take_number(&list[FLAG], 256, &thing);
    column_take_number(&list[NARROW], -5, &thing);
    column_take_number(&list[BITS], UINT32_MAX, &thing);
    column_take_number(&list[WIDE], INT64_MAX, &thing);
    column_take_text(&list[TEXT], "borrowed", &thing);
    assert_true(thing.flag);
    assert_int_equal(thing.narrow, -5);
    assert_int_equal(thing.bits, UINT32_MAX);
    assert_true(thing.wide == INT64_MAX);
    assert_string_equal(thing.text, "borrowed");
}

static void compares_by_kind(void **state)
{
    const struct thing a = { .text = "a", .bytes = { 1 }, .wide = INT64_MIN };
    const struct thing b = { .text = "b", .bytes = { 2 }, .wide = INT64_MAX };
    const struct thing none = { 0 }, empty = { .text = "" };
    const int kinds[] = { TEXT, BYTES, WIDE };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        assert_true(column_compare(&list[kinds[i]], &a, &b) < 0);
        assert_true(column_compare(&list[kinds[i]], &b, &a) > 0);
        assert_int_equal(column_compare(&list[kinds[i]], &a, &a), 0);
    }
    assert_int_equal(column_compare(&list[TEXT], &none, &empty), 0);
}

static void a_copy_has_its_own_texts(void **state)
{
    char text[] = "first", filled[] = "";
    const struct thing thing = { .text = text, .filled = filled, .wide = 3 };
    const struct thing without = { 0 };
    struct thing copy = thing;
    char room[sizeof text + sizeof filled];

    (void)state;
    assert_int_equal(columns_text_bytes(&columns, &without), 0);
    assert_int_equal(columns_text_bytes(&columns, &thing), sizeof room);
    columns_copy_texts(&columns, &copy, room);
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(copy.text, "first");
    assert_string_equal(copy.filled, "");
    assert_ptr_equal(copy.text, room);
    assert_ptr_not_equal(copy.filled, filled);
    assert_int_equal(copy.wide, 3);
    copy = without;
    columns_copy_texts(&columns, &copy, room);
    assert_null(copy.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_null_or_empty),
        cmocka_unit_test(values_are_those_of_the_members),
        cmocka_unit_test(what_is_read_never_leaves_its_member),
        cmocka_unit_test(compares_by_kind),
        cmocka_unit_test(a_copy_has_its_own_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
