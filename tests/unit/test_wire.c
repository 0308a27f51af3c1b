/*
 * test_wire.c - messages of the wire: what is one, what is none, and each way there and back.
 * Proves: P14, B8 (ids are of their own type)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "rpc/protocol.h"
#include "rpc/session.h"

enum kind { REQUEST, NOTIFICATION, RESULT, FAILURE };
#define RPC "{\"jsonrpc\":\"2.0\","

static const struct {
    const char *line;
    enum kind kind;
    const char *id; /* as JSON; NULL: none */
} good[] = {
    { RPC "\"id\":1,\"method\":\"ask/list\",\"params\":{}}", REQUEST, "1" },
    { RPC "\"id\":\"1\",\"method\":\"ask/list\"}", REQUEST, "\"1\"" },
    { RPC "\"id\":\"\",\"method\":\"\"}", REQUEST, "\"\"" },
    { RPC "\"id\":-9223372036854775808,\"method\":\"m\"}", REQUEST, "-9223372036854775808" },
    { RPC "\"method\":\"hub/closing\",\"params\":{\"why\":\"stop\"}}", NOTIFICATION, NULL },
    { RPC "\"id\":0,\"result\":{}}", RESULT, "0" },
    { RPC "\"id\":0,\"result\":null}", RESULT, "0" },
    { RPC "\"id\":7,\"error\":{\"code\":-32601,\"message\":\"no\"}}", FAILURE, "7" },
    { "  \t{\"method\":\"m\",\"jsonrpc\":\"2.0\",\"unknown\":[1,2]}  ", NOTIFICATION, NULL },
    /* a number without a fraction is a whole one, however it is written */
    { RPC "\"id\":1.0,\"method\":\"m\"}", REQUEST, "1" },
};

static void test_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct rpc_message message;
        int code;

        if (!rpc_parse(good[i].line, strlen(good[i].line), &message, &code))
            fail_msg("%s", good[i].line);
        assert_true((message.method != NULL) ==
                    (good[i].kind == REQUEST || good[i].kind == NOTIFICATION));
        assert_true((message.result != NULL) == (good[i].kind == RESULT));
        assert_true((message.error != NULL) == (good[i].kind == FAILURE));
        assert_true((message.id != NULL) == (good[i].id != NULL));
        if (good[i].id) {
            char *id = json_encode(message.id);

            assert_string_equal(id, good[i].id); /* 1 and "1" are two calls */
            free(id);
        }
        rpc_release(&message);
        assert_null(message.root);
        rpc_release(&message);
    }
}

static const struct {
    const char *line;
    int code;
} bad[] = {
    { "", JSONRPC_PARSE_ERROR },
    { "hello", JSONRPC_PARSE_ERROR },
    { RPC "\"method\":\"m\"", JSONRPC_PARSE_ERROR },
    { RPC "\"method\":\"m\"} {}", JSONRPC_PARSE_ERROR },
    { RPC "\"method\":\"\xff\"}", JSONRPC_PARSE_ERROR },
    { RPC "\"method\":\"m\",\"method\":\"n\"}", JSONRPC_PARSE_ERROR }, /* a key twice */
    { "null", JSONRPC_INVALID_REQUEST },
    { "[]", JSONRPC_INVALID_REQUEST },
    { "[" RPC "\"method\":\"m\"}]", JSONRPC_INVALID_REQUEST }, /* no batches */
    { "{}", JSONRPC_INVALID_REQUEST },
    { "{\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { "{\"jsonrpc\":\"1.0\",\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { "{\"jsonrpc\":2.0,\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"method\":7}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":1}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":null,\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":1.5,\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":true,\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":[1],\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"id\":{},\"method\":\"m\"}", JSONRPC_INVALID_REQUEST },
    { RPC "\"method\":\"m\",\"params\":[]}", JSONRPC_INVALID_REQUEST },
    { RPC "\"method\":\"m\",\"params\":null}", JSONRPC_INVALID_REQUEST },
    { RPC "\"method\":\"m\",\"params\":\"x\"}", JSONRPC_INVALID_REQUEST },
};

static void test_what_is_no_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct rpc_message message = { 0 };
        enum rpc_code code = RPC_OURS;

        if (rpc_parse(bad[i].line, strlen(bad[i].line), &message, &code) || code != bad[i].code)
            fail_msg("%s: %d", bad[i].line, code);
        assert_null(message.root);
    }
}

/* One whole line, no line end inside: parses it back. */
static struct rpc_message read_back(const struct text *out)
{
    struct rpc_message message;
    int code;

    assert_true(out->used > 1 && out->bytes[out->used - 1] == '\n');
    assert_ptr_equal(memchr(out->bytes, '\n', out->used), out->bytes + out->used - 1);
    if (!rpc_parse(out->bytes, out->used - 1, &message, &code))
        fail_msg("%s", out->bytes);
    return message;
}

static void test_requests_and_results(void **state)
{
    struct text out = { 0 };
    struct rpc_message message;
    int64_t id;

    (void)state;
    jsonrpc_add_request(&out, INT64_MAX, "ask/get", "{\"session_id\":\"abcd\"}");
    message = read_back(&out);
    assert_string_equal(message.method, "ask/get");
    assert_true(json_integer_of(message.id, &id) && id == INT64_MAX);
    assert_string_equal(json_member_text(message.params, "session_id"), "abcd");
    rpc_release(&message);
    text_clear(&out);
    jsonrpc_add_notification(&out, "ask/changed", "{\"seq\":3}");
    message = read_back(&out);
    assert_null(message.id);
    assert_int_equal(json_member_integer(message.params, "seq", 0), 3);
    rpc_release(&message);
    text_clear(&out);
    jsonrpc_add_result(&out, "\"my id\"", "{\"ok\":true}");
    message = read_back(&out);
    assert_null(message.method);
    assert_string_equal(json_text(message.id), "my id");
    assert_true(json_is_true(json_member(message.result, "ok")));
    rpc_release(&message);
    text_release(&out);
}

static void test_lines_are_added_behind_each_other(void **state)
{
    struct text out = { 0 };
    size_t lines = 0;

    (void)state;
    jsonrpc_add_request(&out, 1, "a", "{}");
    jsonrpc_add_notification(&out, "b", "{}");
    jsonrpc_add_result(&out, "1", "{}");
    rpc_add_error(&out, "null", JSONRPC_PARSE_ERROR, "not JSON");
    for (const char *at = out.bytes; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 4);
    text_release(&out);
}

static void test_errors_of_the_protocol(void **state)
{
    struct text out = { 0 };
    struct rpc_message message;
    struct error err;
    const struct json *data;

    (void)state;
    rpc_add_error(&out, "5", RPC_NUMBER_REFUSED, "another \"wire\" number\n");
    message = read_back(&out);
    assert_int_equal(json_member_integer(message.error, "code", 0), RPC_NUMBER_REFUSED);
    assert_string_equal(json_member_text(message.error, "message"), "another \"wire\" number\n");
    data = json_member(message.error, "data");
    assert_int_equal(json_member_integer(data, "wire", 0), rpc_number());
    rpc_read_failure(message.error, &err);
    assert_int_equal(err.code, ERROR_unavailable); /* not of the closed list */
    assert_string_equal(err.message, "another \"wire\" number\n");
    rpc_release(&message);
    text_release(&out);
}

/* Every code of the closed list, with all it carries. */
static void test_failures_round_trip(void **state)
{
    (void)state;
    for (int code = ERROR_NONE + 1; code < ERROR_COUNT; code++) {
        struct text out = { 0 };
        struct rpc_message message;
        struct error err, more, read;
        const struct json *detail;

        error_set(&err, (enum error_code)code, "/options/3/label", "it's \"%d\"", code);
        err.retry_after_s = code % 2 ? 17 : 0;
        error_set(&more, ERROR_bad_type, "/title", "no text");
        if (code % 5)
            error_add(&err, &more);
        rpc_add_failure(&out, "1", &err, code % 3 ? "{\"status\":\"submitted\"}" : NULL, NULL);
        message = read_back(&out);
        assert_int_equal(json_member_integer(message.error, "code", 0),
                         code == ERROR_wrong_role ? RPC_NOT_YOURS : RPC_OURS);
        rpc_read_failure(message.error, &read);
        assert_int_equal(read.code, err.code);
        assert_string_equal(read.path, err.path);
        assert_string_equal(read.message, err.message);
        assert_int_equal(read.retry_after_s, err.retry_after_s);
        assert_int_equal(error_at(&read, 1, &more), code % 5 != 0);
        if (code % 5) {
            assert_int_equal(more.code, ERROR_bad_type);
            assert_string_equal(more.path, "/title");
            assert_string_equal(more.message, "no text");
        }
        detail = json_member(json_member(message.error, "data"), "detail");
        assert_true((detail != NULL) == (code % 3 != 0));
        rpc_release(&message);
        text_release(&out);
    }
}

static void test_failures_from_strangers(void **state)
{
    static const struct {
        const char *json;
        const char *code, *path, *message;
    } cases[] = {
        { "{}", "unavailable", "", "the hub rejected the request" },
        { "null", "unavailable", "", "the hub rejected the request" },
        { "7", "unavailable", "", "the hub rejected the request" },
        { "{\"message\":\"no\"}", "unavailable", "", "no" },
        { "{\"message\":7,\"data\":7}", "unavailable", "", "the hub rejected the request" },
        { "{\"data\":{\"code\":\"none\"}}", "unavailable", "", "the hub rejected the request" },
        { "{\"data\":{\"code\":\"of tomorrow\",\"path\":\"/x\"}}", "unavailable", "/x",
          "the hub rejected the request" },
        { "{\"message\":\"100%s\",\"data\":{\"code\":\"wrong_state\",\"path\":\"%n\"}}",
          "wrong_state", "%n", "100%s" },
        { "{\"message\":\"no\",\"data\":{\"errors\":7}}", "unavailable", "", "no" },
        { "{\"message\":\"no\",\"data\":{\"errors\":[7,{},null,{\"path\":{}}]}}", "unavailable", "",
          "no" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *parsed = NULL;
        struct error err;

        assert_true(json_parse(cases[i].json, strlen(cases[i].json), &parsed, NULL));
        rpc_read_failure(parsed, &err);
        assert_string_equal(error_name(err.code), cases[i].code);
        assert_string_equal(err.path, cases[i].path);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.retry_after_s, 0);
        json_free(parsed);
    }
}

static void test_the_number(void **state)
{
    (void)state;
    assert_int_equal(rpc_number(), RPC_NUMBER);
#ifdef SAYSO_CRASH_POINTS
    assert_int_equal(setenv("SAYSO_WIRE", "2", 1), 0);
    assert_int_equal(rpc_number(), 2);
    unsetenv("SAYSO_WIRE");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_what_is_no_message),
        cmocka_unit_test(test_requests_and_results),
        cmocka_unit_test(test_lines_are_added_behind_each_other),
        cmocka_unit_test(test_errors_of_the_protocol),
        cmocka_unit_test(test_failures_round_trip),
        cmocka_unit_test(test_failures_from_strangers),
        cmocka_unit_test(test_the_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
