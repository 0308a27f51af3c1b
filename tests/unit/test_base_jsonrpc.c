/*
 * test_base_jsonrpc.c - a request is answered with its id, however broken the rest of it is.
 * Proves: R12.2 P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "base/text.h"

static const struct {
    const char *bytes, *id; /* NULL: can't be read */
} broken[] = {
    { "{\"id\":1,", "1" },
    { "{\"id\":\"a\\\"b\",\"method\":\"x\",\"params\":{", "\"a\\\"b\"" },
    { " {\t\"id\" :\n-7 ,\"params\":[[[[", "-7" },
    { "{\"method\":\"m\",\"params\":{\"id\":5,\"x\":[{\"id\":6}]},\"id\":7}}", "7" },
    { "{\"method\":\"m\",\"params\":{bad},\"id\":8}", "8" },
    { "{\"method\":\"m\",\"params\":{\"t\":\"\xff\"},\"id\":\"9\"}", "\"9\"" },
    { "{\"method\":\"m\",\"method\":\"n\",\"id\":10}", "10" },
    { "{\"a\":\"\\\\\",\"id\":11} trailing", "11" },
    { "{\"id\":12,/*c*/\"method\":\"ping\"}", "12" },
    { "{\"id\":9223372036854775808,\"method\":\"\"", "9223372036854775808" },
    { "{\"id\":1e400,\"method\":\"\"", "1e400" },
    { "{\"id\":1.5,\"method\":\"\"", "1.5" },
    { "{\"id\":13,\"error\":\"a request's own\",\"method\":\"m\",", "13" },
    { "{\"jsonrpc\":\"2.0\",\"id\":14} {\"id\":15}", "14" },
    { "{\"text\":\"\\\"id\\\":1\",\"id\":16,", "16" },
    { "\xef\xbb\xbf{\"id\":17,", "17" },
    { "{\"method\":\"m\",\"params\":{\"a\":]},\"id\":18}", "18" },
    { "{\"method\":\"m\",\"params\":[}],\"id\":19}", "19" },
    { "{],\"id\":20,\"method\":", "20" },
    { "{\"\\u0069d\":21,\"\\u006Dethod\":\"m\",\"result\":", "21" },
    { "{\"\\u0069\\u0064\" : \"22\",", "\"22\"" },
    { "{\"id\":1,\"\\u0069d\":2,\"method\":", NULL },
    { "{\"id\":1,\"r\\u0065sult\":{", NULL },
    { "{\"params\":[{\"x\":1],\"id\":1,", NULL }, /* whose, can't be told */
    { "{\"\\u00000id\":1,", NULL },
    { "{\"id\\u0000\":1,", NULL },
    { "\xef\xbb{\"id\":1,", NULL },
    { " \xef\xbb\xbf{\"id\":1,", NULL }, /* in front of everything, or it is none */
    { "{\"id\":", NULL },
    { "{\"id\":1", NULL },   /* the end may have cut it */
    { "{\"id\":\"a", NULL }, /* so it did */
    { "{\"id\":\"a\\", NULL },
    { "{\"id\":\"\xff\",\"method\":\"m\"", NULL },
    { "{\"id\":null,\"method\":", NULL },
    { "{\"id\":{\"id\":1},\"method\":", NULL },
    { "{\"id\":01,\"method\":", NULL },
    { "{\"id\":1,\"id\":2,\"method\":", NULL },
    { "{\"id\":1,\"id\":1,\"method\":", NULL },
    { "{\"id\":1,\"result\":{", NULL }, /* a response: its id is a request of ours */
    { "{\"error\":{\"code\":1},\"id\":1,", NULL },
    { "[{\"id\":1,", NULL },
    { "{\"params\":{\"id\":1", NULL },
    { "{\"id\"", NULL },
    { "\"id\":1,", NULL },
    { "}{\"id\":1,", NULL },
    { "", NULL },
    { "\"", NULL },
    { "GET / HTTP/1.1", NULL },
};

/* Nothing behind the bytes, as the sanitizer sees. */
static char *find(const char *bytes, size_t length)
{
    char *exact = mem_resize(NULL, length ? length : 1), *id;

    memcpy(exact, bytes, length);
    id = jsonrpc_find_id(exact, length);
    free(exact);
    return id;
}

static void an_id_is_found_where_it_can_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        char *id = find(broken[i].bytes, strlen(broken[i].bytes));

        if ((id == NULL) != (broken[i].id == NULL) || (id && strcmp(id, broken[i].id) != 0))
            fail_msg("%s: %s", broken[i].bytes, id ? id : "none");
        free(id);
    }
}

/* Whatever is cut off, the id is right or absent. */
static void an_id_is_never_a_piece_of_one(void **state)
{
    static const char message[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"id\":[1,\"\\\"\"]"
        "},\"id\":\"se\\\"ven\",\"x\":\"y\"}";

    (void)state;
    for (size_t length = 0; length < sizeof message; length++) {
        char *id = find(message, length);

        if (id)
            assert_string_equal(id, "\"se\\\"ven\"");
        free(id);
    }
}

static void a_nul_is_a_byte_like_others(void **state)
{
    static const char message[] = "{\"method\":\"a\0b\",\"id\":3,\0}";
    char *id = find(message, sizeof message - 1);

    (void)state;
    assert_string_equal(id, "3");
    free(id);
}

static void ids_that_are_refused_can_be_answered(void **state)
{
    static const struct {
        const char *id;
        bool is_good, is_answered;
    } cases[] = {
        { "1", true, true },    { "\"1\"", true, true },  { "9223372036854775808", false, true },
        { "1.5", false, true }, { "1e400", false, true }, { "null", false, false },
        { "[]", false, false }, { "true", false, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = mem_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"m\"}", cases[i].id);
        struct jsonrpc_message message;
        struct json *value;

        assert_true(json_parse(text, strlen(text), &value, NULL));
        assert_int_equal(jsonrpc_read(value, &message), cases[i].is_good);
        assert_int_equal(message.id != NULL, cases[i].is_answered);
        json_free(value);
        free(text);
    }
}

static void a_byte_order_mark_is_skipped(void **state)
{
    static const struct {
        const char *bytes;
        bool is_json;
    } cases[] = {
        { "\xef\xbb\xbf{\"a\":1}", true },
        { "{\"a\":1}", true },
        { "\xef\xbb\xbf", false },
        { "\xef\xbb", false },
        { "", false },
        { "\xef\xbb\xbf\xef\xbb\xbf{\"a\":1}", false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *value = NULL;

        assert_int_equal(jsonrpc_parse(cases[i].bytes, strlen(cases[i].bytes), NULL, &value, NULL),
                         cases[i].is_json);
        assert_int_equal(json_member_integer(value, "a", 0), cases[i].is_json);
        json_free(value);
    }
}

/* What is passed on as it is. */
static void the_place_of_a_result_is_found(void **state)
{
    static const struct {
        const char *line, *result; /* NULL: it has none */
    } cases[] = {
        { "{\"id\":1,\"result\": {\"a\":[1,{\"result\":2}]} }", "{\"a\":[1,{\"result\":2}]}" },
        { "\xef\xbb\xbf{\"result\":\"\\u0041\\n\",\"id\":1}", "\"\\u0041\\n\"" },
        { "{\"r\\u0065sult\" : 7}", "7" },
        { "{\"\\u0061\":\"\\u00e4\",\"result\":null,\"b\":1}", "null" },
        { "{\"params\":{\"result\":1}}", NULL },
        { "[{\"result\":1}]", NULL },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json_piece piece;
        struct json *value = NULL;

        assert_true(jsonrpc_parse(cases[i].line, strlen(cases[i].line), &piece, &value, NULL));
        json_free(value);
        if (!cases[i].result) {
            assert_null(piece.bytes);
            continue;
        }
        assert_int_equal(piece.length, strlen(cases[i].result));
        assert_memory_equal(piece.bytes, cases[i].result, piece.length);
        assert_true(piece.bytes > cases[i].line && piece.bytes < strchr(cases[i].line, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_found_where_it_can_be),
        cmocka_unit_test(an_id_is_never_a_piece_of_one),
        cmocka_unit_test(a_nul_is_a_byte_like_others),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(the_place_of_a_result_is_found),
        cmocka_unit_test(ids_that_are_refused_can_be_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
