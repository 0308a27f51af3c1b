/*
 * test_base_json.c - the reader takes JSON and nothing else, and equal values encode alike.
 * Proves: P14, R2.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

static struct json *parse(const char *text)
{
    struct error err = { 0 };
    struct json *value = NULL;

    if (!json_parse(text, strlen(text), &value, &err))
        fail_msg("%s: %s", text, err.message);
    return value;
}

static void check_refused(const char *bytes, size_t length)
{
    struct error err = { 0 };
    struct json *value = NULL;

    if (json_parse(bytes, length, &value, &err))
        fail_msg("accepted: %s", bytes);
    assert_null(value);
    assert_int_equal(err.code, ERROR_bad_json);
    assert_string_equal(err.path, "");
    for (const char *at = err.message; *at; at++)
        assert_in_range(*at, 0x20, 0x7e);
}

static const char *const not_json[] = {
    "",
    "  \n",
    "nul",
    "True",
    "NaN",
    "Infinity",
    "-",
    "01",
    "+1",
    ".5",
    "1.",
    "1e",
    "0x10",
    "1e400.5",
    "-9223372036854775809.",
    "'a'",
    "\"a",
    "\"a\nb\"",
    "\"\t\"",
    "\"\x01\"",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\ud800\"",
    "\"\\ud800x\"",
    "\"\xff\"",
    "\"\xc0\xaf\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xc3\"",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1",
    "1]",
    "]",
    "[\"a\\\"]",
    "{\"a\":1,}",
    "{\"a\" 1}",
    "{a:1}",
    "{1:2}",
    "{\"a\":1",
    "{\"a\":1,\"a\":1}",
    "{\"a\":1,\"\\u0061\":2}",
    "[{\"b\":{\"a\":1,\"a\":2}}]",
    "{\"a\\u0000b\":1}",
    "[1] 2",
    "{} x",
    "null,",
    "\xef\xbb\xbf[]",
    "/* */ 1",
    "1 // one",
    "\f1",
    "\u00a0true",
};

static void what_is_not_json_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(not_json); i++)
        check_refused(not_json[i], strlen(not_json[i]));
}

static void a_nul_byte_is_refused_wherever_it_is(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } bad[] = {
        { "\0", 1 }, { "1\0", 2 }, { "[1\0]", 4 }, { "\"\0\"", 3 }, { "[]\0", 3 }, { "\0[]", 3 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_refused(bad[i].bytes, bad[i].length);
    check_refused(NULL, 0);
    assert_false(json_parse("[", 1, NULL, NULL));
}

static void duplicates_are_named(void **state)
{
    const char *text = "{\"k\":1,\"k\":2}";
    struct error err = { 0 };
    struct json *value;

    (void)state;
    assert_false(json_parse(text, strlen(text), &value, &err));
    assert_non_null(strstr(err.message, "same key twice at byte 8")); /* the second one */
}

static void of_many_keys_the_second_of_two_is_named(void **state)
{
    struct text text = { 0 };
    struct error err = { 0 };
    struct json *value;
    char said[64];

    (void)state;
    text_add_text(&text, "{\"twice\":0");
    for (int i = 0; i < 100; i++)
        text_add_format(&text, ",\"key_%d\":%d", i, i);
    snprintf(said, sizeof said, "same key twice at byte %zu", text.used + 2);
    text_add_text(&text, ",\"twice\":1,\"last\":0}");
    assert_false(json_parse(text.bytes, text.used, &value, &err));
    assert_non_null(strstr(err.message, said));
    text_release(&text);
}

static void nest(struct text *text, int depth, const char *open, const char *close)
{
    text_clear(text);
    for (int i = 0; i < depth; i++)
        text_add_text(text, open);
    text_add_char(text, '1');
    for (int i = 0; i < depth; i++)
        text_add_text(text, close);
}

static void depth_ends_at_64(void **state)
{
    static const struct {
        const char *open, *close;
        int levels;
    } forms[] = { { "[", "]", 1 }, { "{\"a\":", "}", 1 }, { "[{\"[\\\"{\":", "}]", 2 } };
    struct text text = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        nest(&text, JSON_MAX_DEPTH / forms[i].levels, forms[i].open, forms[i].close);
        json_free(parse(text.bytes));
        nest(&text, JSON_MAX_DEPTH / forms[i].levels + 1, forms[i].open, forms[i].close);
        check_refused(text.bytes, text.used);
        nest(&text, 100000, forms[i].open, "");
        check_refused(text.bytes, text.used);
    }
    text_release(&text);
}

/* The first few parts that are open lie elsewhere than the many. */
static void many_parts_are_read_as_few(void **state)
{
    struct text text = { 0 };

    (void)state;
    for (int count = 1; count < 70; count++) {
        struct json *value;
        char *again;

        text_clear(&text);
        for (int i = 0; i < count; i++) {
            text_add_text(&text, i == 0 ? "[" : ",");
            text_add_text(&text, i % 3 ? "{\"a\":[" : "[");
            text_add_integer(&text, i);
            text_add_text(&text, i % 3 ? ",\"x\"]}" : ",null]");
        }
        text_add_char(&text, ']');
        value = parse(text.bytes);
        assert_int_equal(json_length(value), count);
        again = json_encode(value);
        assert_string_equal(again, text.bytes);
        free(again);
        json_free(value);
        text.bytes[text.used - 1] = '}'; /* ends while they are open */
        check_refused(text.bytes, text.used);
    }
    text_release(&text);
}

static void brackets_in_texts_are_not_depth(void **state)
{
    struct text text = { 0 };

    (void)state;
    text_add_text(&text, "[\"\\\\\",\"\\\"");
    for (int i = 0; i < 200; i++)
        text_add_text(&text, "[{");
    text_add_text(&text, "\"]");
    json_free(parse(text.bytes));
    text_release(&text);
}

static const struct {
    const char *text;
    enum json_kind kind;
    const char *encoded;
} values[] = {
    { "null", KIND_NULL, "null" },
    { "true", KIND_BOOL, "true" },
    { " false ", KIND_BOOL, "false" },
    { "0", KIND_INTEGER, "0" },
    { "-0", KIND_INTEGER, "0" },
    { "-0.0", KIND_INTEGER, "0" },
    { "1.0", KIND_INTEGER, "1" },
    { "1e2", KIND_INTEGER, "100" },
    { "1.5E+1", KIND_INTEGER, "15" },
    { "-3.0", KIND_INTEGER, "-3" },
    { "9007199254740991.0", KIND_INTEGER, "9007199254740991" },
    { "9007199254740993.0", KIND_REAL, "9007199254740992.0" },
    { "-99999999999999999", KIND_INTEGER, "-99999999999999999" },
    { "999999999999999999", KIND_INTEGER, "999999999999999999" },
    { "1000000000000000000", KIND_INTEGER, "1000000000000000000" },
    { "9223372036854775807", KIND_INTEGER, "9223372036854775807" },
    { "-9223372036854775808", KIND_INTEGER, "-9223372036854775808" },
    { "-9223372036854775808", KIND_INTEGER, "-9223372036854775808" },
    { "9223372036854775808", KIND_HUGE, "9223372036854775808" },
    { "-9223372036854775809", KIND_HUGE, "-9223372036854775809" },
    { " 123456789012345678901234567890 ", KIND_HUGE, "123456789012345678901234567890" },
    { "1E400", KIND_HUGE, "1E400" },
    { "[-1.5e+400]", KIND_LIST, "[-1.5e+400]" },
    { "0.5", KIND_REAL, "0.5" },
    { "1e300", KIND_REAL, "1.0000000000000001e300" },
    { "1e-400", KIND_INTEGER, "0" },
    { "\"\"", KIND_TEXT, "\"\"" },
    { "\"\\/\\u0041\\b\\n\"", KIND_TEXT, "\"/A\\b\\n\"" },
    { "\"\\ud83d\\ude00\"", KIND_TEXT, "\"\U0001f600\"" },
    { "\"a\x7f\x7f longer than eight \x7f\u20ac b\"", KIND_TEXT,
      "\"a\x7f\x7f longer than eight \x7f\u20ac b\"" },
    { "[ 1 , [ ] ]", KIND_LIST, "[1,[]]" },
    { "{\"b\":1,\"a\":[1.0,{\"c\":2.0,\"d\":2.5}]}", KIND_OBJECT,
      "{\"b\":1,\"a\":[1,{\"c\":2,\"d\":2.5}]}" },
    { "{\"\":0}", KIND_OBJECT, "{\"\":0}" },
};

static void values_have_a_kind_and_one_encoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct json *value = parse(values[i].text);
        char *encoded = json_encode(value);

        assert_string_equal(json_kind_name(json_kind(value)), json_kind_name(values[i].kind));
        assert_string_equal(encoded, values[i].encoded);
        free(encoded);
        json_free(value);
    }
}

static void equal_values_have_equal_bytes(void **state)
{
    static const char *const pairs[][2] = {
        { "{\"a\":1,\"b\":{\"d\":1,\"c\":2}}", " { \"b\" : {\"c\":2,\"d\":1.0}, \"a\" : 1e0 } " },
        { "[\"\\u00e9\"]", "[\"\u00e9\"]" },
        { "[1,2]", "[1.0,20e-1]" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct json *a = parse(pairs[i][0]), *b = parse(pairs[i][1]);
        char *bytes_a = json_encode_canonical(a), *bytes_b = json_encode_canonical(b);

        assert_true(json_same(a, b));
        assert_string_equal(bytes_a, bytes_b);
        free(bytes_a);
        free(bytes_b);
        json_free(a);
        json_free(b);
    }
}

static void different_values_differ(void **state)
{
    static const char *const pairs[][2] = {
        { "[1,2]", "[2,1]" },     { "1", "\"1\"" },
        { "{\"a\":null}", "{}" }, { "0.1", "0.10000000000000002" },
        { "1e400", "1e401" },     { "9223372036854775808", "\"9223372036854775808\"" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct json *a = parse(pairs[i][0]), *b = parse(pairs[i][1]);
        char *bytes_a = json_encode_canonical(a), *bytes_b = json_encode_canonical(b);

        assert_false(json_same(a, b));
        assert_string_not_equal(bytes_a, bytes_b);
        free(bytes_a);
        free(bytes_b);
        json_free(a);
        json_free(b);
    }
}

static const struct character {
    const char *written, *meant;
} characters[] = {
    { "\\n", "\n" },
    { "\x7f", "\x7f" },
    { "\\u0041", "A" },
    { "\\u00e9", "\xc3\xa9" },
    { "\xc3\xa9", "\xc3\xa9" },
    { "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
    { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
    { "\\\"", "\"" },
    { "\\\\", "\\" },
};

/* As a key and in a value, with so many letters in between. */
static void check_characters(const struct character *one, const struct character *two, int letters)
{
    static const char some[] = "abcdefghijklmnopqrst";
    char *text = mem_format("{\"%.*s%s\":\"%s%.*s%s%s\"}", letters, some, one->written,
                            one->written, letters, some, two->written, some);
    char *key = mem_format("%.*s%s", letters, some, one->meant);
    char *meant = mem_format("%s%.*s%s%s", one->meant, letters, some, two->meant, some);
    size_t length = strlen(text);
    struct json *value = NULL;

    text = mem_resize(text, length); /* nothing behind it, as the sanitizer sees */
    assert_true(json_parse(text, length, &value, NULL));
    assert_string_equal(json_member_text(value, key), meant);
    assert_int_equal(json_length(json_member(value, key)), strlen(meant));
    json_free(value);
    free(meant);
    free(key);
    free(text);
}

static void characters_are_read_wherever_they_stand(void **state)
{
    (void)state;
    for (size_t one = 0; one < ARRAY_LEN(characters); one++) {
        for (size_t two = 0; two < ARRAY_LEN(characters); two++) {
            for (int letters = 0; letters < 20; letters++)
                check_characters(&characters[one], &characters[two], letters);
        }
    }
}

static void a_written_nul_keeps_its_length(void **state)
{
    struct json *value = parse("\"a\\u0000b\"");
    char *encoded = json_encode(value);

    (void)state;
    assert_int_equal(json_length(value), 3);
    assert_memory_equal(json_text(value), "a\0b", 4);
    assert_string_equal(encoded, "\"a\\u0000b\"");
    free(encoded);
    json_free(value);
}

static void parts_are_found(void **state)
{
    struct json *value =
        parse("{\"t\":\"x\",\"n\":7.0,\"r\":2.5,\"y\":true,\"l\":[1,2],\"z\":null}");
    int64_t number = 5;

    (void)state;
    assert_int_equal(json_length(value), 6);
    assert_string_equal(json_member_text(value, "t"), "x");
    assert_null(json_member_text(value, "n"));
    assert_null(json_member(value, "absent"));
    assert_int_equal(json_member_integer(value, "n", -1), 7);
    assert_int_equal(json_member_integer(value, "r", -1), -1);
    assert_int_equal(json_member_integer(value, "absent", -1), -1);
    assert_int_equal(json_member_span(value, "n", -1), 7);
    assert_int_equal(json_member_span(value, "absent", INT64_MAX), 1000000000000);
    assert_int_equal(json_member_span(value, "absent", INT64_MIN), -1000000000000);
    assert_false(json_integer_of(json_member(value, "t"), &number));
    assert_int_equal(number, 5);
    assert_true(json_number_of(json_member(value, "r")) == 2.5);
    assert_true(json_number_of(json_member(value, "n")) == 7);
    assert_true(json_number_of(json_member(value, "t")) == 0);
    assert_true(json_is_true(json_member(value, "y")));
    assert_false(json_is_true(json_member(value, "n")));
    assert_int_equal(json_length(json_member(value, "l")), 2);
    assert_int_equal(json_length(json_member(value, "n")), 0);
    assert_int_equal(json_number_of(json_item(json_member(value, "l"), 1)), 2);
    assert_null(json_item(json_member(value, "l"), 2));
    assert_int_equal(json_kind(json_member(value, "z")), KIND_NULL);
    json_free(value);
}

static void a_number_out_of_range_is_no_number_and_has_a_path(void **state)
{
    static const struct {
        const char *text, *path;
    } huge[] = {
        { "1e400", "" },
        { "{\"a\":1,\"b\":9223372036854775808}", "/b" },
        { "{\"a\":[1,{\"timeout_s\":-1e999}],\"z\":1e400}", "/a/1/timeout_s" },
        { "[[],[0,-9223372036854775809]]", "/1/1" },
        { "{\"plain\":{\"not/plain\":{\"x\":1e400}}}", "/plain" },
        { "{\"a\":{\"\u202e\":1e400}}", "/a" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(huge); i++) {
        struct json *value = parse(huge[i].text);
        struct error err = { 0 };

        assert_false(json_check_range(value, &err));
        assert_int_equal(err.code, ERROR_out_of_range);
        assert_string_equal(err.path, huge[i].path);
        json_free(value);
    }
}

static void the_path_to_a_number_out_of_range_fits(void **state)
{
    struct text text = { 0 };
    struct error err = { 0 };
    struct json *value;

    (void)state;
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        text_add_text(&text, "{\"a-name-of-some-length\":");
    text_add_text(&text, "1e400");
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        text_add_char(&text, '}');
    value = parse(text_string(&text));
    assert_false(json_check_range(value, &err));
    assert_true(strncmp(err.path, "/a-name-of-some-length", 22) == 0 || err.path[0] == '\0');
    json_free(value);
    text_release(&text);
}

static void what_is_in_range_is_said_to_be(void **state)
{
    struct json *value = parse("{\"a\":[1,2.5,1e300],\"b\":{\"c\":1e400}}");
    int64_t number = 5;

    (void)state;
    assert_true(json_check_range(NULL, NULL));
    assert_true(json_check_range(json_member(value, "a"), NULL));
    assert_false(json_check_range(value, NULL));
    assert_false(json_integer_of(json_member(json_member(value, "b"), "c"), &number));
    assert_int_equal(number, 5);
    assert_true(json_number_of(json_member(json_member(value, "b"), "c")) == 0);
    assert_null(json_text(json_member(json_member(value, "b"), "c")));
    assert_int_equal(json_member_integer(json_member(value, "b"), "c", -1), -1);
    json_free(value);
}

static void nothing_is_looked_at_safely(void **state)
{
    char *encoded = json_encode(NULL);

    (void)state;
    assert_string_equal(encoded, "null");
    free(encoded);
    assert_int_equal(json_kind(NULL), KIND_NULL);
    assert_int_equal(json_length(NULL), 0);
    assert_null(json_text(NULL));
    assert_false(json_is_true(NULL));
    assert_true(json_number_of(NULL) == 0);
    assert_null(json_member(NULL, "a"));
    assert_null(json_member_text(NULL, "a"));
    assert_null(json_item(NULL, 0));
    assert_null(json_first(NULL));
    json_free(NULL);
}

static void members_come_as_received_and_can_be_dropped(void **state)
{
    struct json *value = parse("{\"z\":1,\"a\":2,\"m\":{\"x\":3}}"), *kept;
    struct text keys = { 0 };
    char *encoded;

    (void)state;
    for (void *at = json_first(value); at; at = json_next(value, at)) {
        text_add(&keys, json_key(at), json_key_length(at));
        text_add_format(&keys, "%d", json_kind(json_value(at)));
    }
    assert_string_equal(text_string(&keys), "z2a2m6");
    kept = json_keep(json_member(value, "m"));
    json_drop_member(value, "a");
    json_drop_member(value, "absent");
    encoded = json_encode(value);
    assert_string_equal(encoded, "{\"z\":1,\"m\":{\"x\":3}}");
    json_free(value);
    assert_int_equal(json_member_integer(kept, "x", 0), 3);
    json_free(kept);
    free(encoded);
    text_release(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(a_nul_byte_is_refused_wherever_it_is),
        cmocka_unit_test(duplicates_are_named),
        cmocka_unit_test(of_many_keys_the_second_of_two_is_named),
        cmocka_unit_test(depth_ends_at_64),
        cmocka_unit_test(many_parts_are_read_as_few),
        cmocka_unit_test(brackets_in_texts_are_not_depth),
        cmocka_unit_test(values_have_a_kind_and_one_encoding),
        cmocka_unit_test(equal_values_have_equal_bytes),
        cmocka_unit_test(different_values_differ),
        cmocka_unit_test(characters_are_read_wherever_they_stand),
        cmocka_unit_test(a_written_nul_keeps_its_length),
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(a_number_out_of_range_is_no_number_and_has_a_path),
        cmocka_unit_test(the_path_to_a_number_out_of_range_fits),
        cmocka_unit_test(what_is_in_range_is_said_to_be),
        cmocka_unit_test(nothing_is_looked_at_safely),
        cmocka_unit_test(members_come_as_received_and_can_be_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
