/*
 * test_base_json_writer.c - what is written is JSON that reads back as what was meant.
 * Proves: P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"

static void commas_and_keys_fall_into_place(void **state)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    (void)state;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "text", "x");
    json_write_text(&writer, "none", NULL);
    json_write_text_if(&writer, "left_out", NULL);
    json_write_text_if(&writer, "left_out", "");
    json_write_text_if(&writer, "there", "y");
    json_write_text_n(&writer, "part", "abcdef", 3);
    json_write_list(&writer, "list");
    json_write_integer(&writer, NULL, INT64_MIN);
    json_write_integer(&writer, NULL, INT64_MAX);
    json_write_object(&writer, NULL);
    json_write_end_object(&writer);
    json_write_list(&writer, NULL);
    json_write_end_list(&writer);
    json_write_null(&writer, NULL);
    json_write_end_list(&writer);
    json_write_bool(&writer, "yes", true);
    json_write_bool(&writer, "no", false);
    json_write_bool_if(&writer, "left_out", false);
    json_write_bool_if(&writer, "said", true);
    json_write_raw(&writer, "raw", "[1]");
    json_write_end_object(&writer);
    assert_string_equal(text_string(&out),
                        "{\"text\":\"x\",\"none\":null,\"there\":\"y\",\"part\":\"abc\","
                        "\"list\":[-9223372036854775808,9223372036854775807,{},[],null],"
                        "\"yes\":true,\"no\":false,\"said\":true,\"raw\":[1]}");
    text_release(&out);
}

static void what_was_read_is_written_again(void **state)
{
    static const char read[] = "{\"a\":[1,null],\"b\":\"\\u0000x\"}";
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);
    struct json *json = NULL;

    (void)state;
    assert_true(json_parse(read, strlen(read), &json, NULL));
    json_write_value(&writer, "whole", json);
    json_write_value(&writer, "left_out", json_member(json, "c"));
    json_write_foreign_key(&writer, "b\"");
    json_write_value(&writer, NULL, json_member(json, "b"));
    json_write_list(&writer, "list");
    json_write_value(&writer, NULL, json_item(json_member(json, "a"), 0));
    json_write_value(&writer, NULL, json_item(json_member(json, "a"), 1));
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    assert_string_equal(text_string(&out), "{\"whole\":{\"a\":[1,null],\"b\":\"\\u0000x\"},"
                                           "\"b\\\"\":\"\\u0000x\",\"list\":[1,null]}");
    json_free(json);
    text_release(&out);
}

static void foreign_keys_are_quoted(void **state)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    (void)state;
    json_write_object(&writer, NULL);
    json_write_foreign_key(&writer, "a\"b");
    json_write_integer(&writer, NULL, 1);
    json_write_foreign_key(&writer, "\n");
    json_write_object(&writer, NULL);
    json_write_end_object(&writer);
    json_write_bool(&writer, "own", true);
    json_write_end_object(&writer);
    assert_string_equal(text_string(&out), "{\"a\\\"b\":1,\"\\n\":{},\"own\":true}");
    text_release(&out);
}

static void numbers_are_as_short_as_they_can_be(void **state)
{
    static const struct {
        double number;
        const char *written;
    } cases[] = {
        { 0, "0" },
        { -0.0, "0" },
        { 3, "3" },
        { -7, "-7" },
        { 0.5, "0.5" },
        { -2.25, "-2.25" },
        { 999999999999999, "999999999999999" },
        { 1e15, "1000000000000000" },
        { 1e300, "1.0000000000000001e+300" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text out = { 0 };
        struct json_writer writer = json_writer_to(&out);
        struct json *value;

        json_write_number(&writer, NULL, cases[i].number);
        assert_string_equal(text_string(&out), cases[i].written);
        assert_true(json_parse(out.bytes, out.used, &value, NULL));
        assert_true(json_number_of(value) == cases[i].number);
        json_free(value);
        text_release(&out);
    }
}

static void every_byte_below_128_reads_back(void **state)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct json *value;
    char all[128];

    (void)state;
    for (int byte = 0; byte < 128; byte++)
        all[byte] = (char)byte;
    json_write_text_n(&writer, NULL, all, sizeof all);
    for (size_t i = 0; i < out.used; i++)
        assert_in_range(out.bytes[i], 0x20, 0x7e);
    assert_true(json_parse(out.bytes, out.used, &value, NULL));
    assert_int_equal(json_length(value), sizeof all);
    assert_memory_equal(json_text(value), all, sizeof all);
    json_free(value);
    text_release(&out);
}

static void other_characters_stay_as_they_are(void **state)
{
    static const char text[] = "\u00e9 \u4e2d \U0001f600 \u2028";
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct json *value;

    (void)state;
    json_write_text(&writer, NULL, text);
    assert_int_equal(out.used, sizeof text - 1 + 2);
    assert_true(json_parse(out.bytes, out.used, &value, NULL));
    assert_string_equal(json_text(value), text);
    json_free(value);
    text_release(&out);
}

static void what_does_not_fit_is_noticed(void **state)
{
    struct text out = { .max_bytes = 8 };
    struct json_writer writer = json_writer_to(&out);

    (void)state;
    json_write_text(&writer, NULL, "0123456789");
    assert_true(out.has_overflowed);
    assert_true(out.used <= 8);
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_keys_fall_into_place),
        cmocka_unit_test(what_was_read_is_written_again),
        cmocka_unit_test(foreign_keys_are_quoted),
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
        cmocka_unit_test(every_byte_below_128_reads_back),
        cmocka_unit_test(other_characters_stay_as_they_are),
        cmocka_unit_test(what_does_not_fit_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
