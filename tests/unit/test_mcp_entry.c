/*
 * test_mcp_entry.c - which way a message that came by HTTP goes, and what its headers must say.
 *
 * Proves: R10.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "mcp/entry.h"
#include "mcp_fixture.h"

#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define PING       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define INITIALIZE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"
#define DISCOVER                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" CLAIM "}}"
#define NOTICE   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}"
#define RESPONSE "{\"jsonrpc\":\"2.0\",\"id\":\"sayso-1\",\"result\":{}}"

static void every_message_goes_its_way(void **state)
{
    static const struct {
        const char *body, *version;
        enum entry_way way;
        const char *refusal; /* what it says */
    } cases[] = {
        { PING, NULL, ENTRY_SESSION, NULL },
        { PING, "2025-06-18", ENTRY_SESSION, NULL },
        { PING, "nonsense", ENTRY_SESSION, NULL }, /* the session's checks say so */
        { PING, "2026-07-28", ENTRY_REFUSED, "\"id\":1,\"error\":{\"code\":-32602" },
        { PING, "2027-01-01", ENTRY_REFUSED, "-32602" },
        { INITIALIZE, NULL, ENTRY_OPENS, NULL },
        { INITIALIZE, "2025-11-25", ENTRY_OPENS, NULL },
        { INITIALIZE, "2026-07-28", ENTRY_REFUSED, "\"id\":1,\"error\":{\"code\":-32020" },
        { DISCOVER, NULL, ENTRY_MODERN, NULL },
        { DISCOVER, "2026-07-28", ENTRY_MODERN, NULL },
        { DISCOVER, "2025-11-25", ENTRY_MODERN, NULL }, /* the mismatch is told there */
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" CLAIM "}}", NULL,
          ENTRY_MODERN, NULL },
        { NOTICE, NULL, ENTRY_SESSION, NULL },
        { NOTICE, "2026-07-28", ENTRY_MODERN, NULL },
        { RESPONSE, NULL, ENTRY_SESSION, NULL },
        { RESPONSE, "2026-07-28", ENTRY_REFUSED,
          "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600" },
        { "[" PING "]", NULL, ENTRY_SESSION, NULL },
        { "[" PING "," DISCOVER "]", NULL, ENTRY_REFUSED, "-32600" },
        { "[]", NULL, ENTRY_REFUSED, "-32600" },
        { "{bad", NULL, ENTRY_REFUSED, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700" },
        { "{bad", "2025-06-18", ENTRY_REFUSED, "\"id\":null,\"error\":{\"code\":-32700" },
        { "", NULL, ENTRY_REFUSED, "-32700" },
        { "7", NULL, ENTRY_REFUSED, "-32600" },
        { "{\"id\":5,\"method\":\"ping\"}", NULL, ENTRY_REFUSED, "\"id\":5,\"error\"" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct mcp_headers headers = { .protocol_version = cases[i].version };
        enum mcp_revision in_force = cases[i].version && strcmp(cases[i].version, "2025-06-18") == 0
                                         ? REVISION_2025_06_18
                                         : REVISION_2025_11_25;
        struct entry entry;

        entry_read(cases[i].body, strlen(cases[i].body), &headers, in_force, &entry);
        if (entry.way != cases[i].way ||
            (cases[i].refusal && !strstr(text_string(&entry.line), cases[i].refusal)))
            fail_msg("%s with %s: way %d, %s", cases[i].body, cases[i].version, entry.way,
                     text_string(&entry.line));
        if (entry.way == ENTRY_REFUSED)
            assert_int_equal(entry.status, 400);
        entry_release(&entry);
    }
}

/* "ä/?" as base64 */
#define ENCODED "=?base64?w6QvPw==?="

static void modern_headers_repeat_the_body(void **state)
{
    static const char call[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"nobody\"," CLAIM "}}";
    static const char encoded[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\","
                                  "\"params\":{\"name\":\"\u00e4/?\"," CLAIM "}}";
    static const char nameless[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\","
                                   "\"params\":{" CLAIM "}}";
    static const struct {
        const char *body;
        struct mcp_headers headers;
        int code; /* of the error; -32602 in-band is ours for an unknown tool: all was well */
    } cases[] = {
        { call, { "2026-07-28", "tools/call", "nobody", NULL }, -32602 },
        { call, { NULL, "tools/call", "nobody", NULL }, -32020 },
        { call, { "2025-11-25", "tools/call", "nobody", NULL }, -32020 },
        { call, { "2026-07-28", NULL, "nobody", NULL }, -32020 },
        { call, { "2026-07-28", "TOOLS/CALL", "nobody", NULL }, -32020 },
        { call, { "2026-07-28", "tools/call", NULL, NULL }, -32020 },
        { call, { "2026-07-28", "tools/call", "Nobody", NULL }, -32020 },
        { call, { "2026-07-28", "tools/call", "=?base64?bm9ib2R5?=", NULL }, -32602 },
        { call, { "2026-07-28", "tools/call", "=?base64?bm9ib2R?=", NULL }, -32020 },
        { call, { "2026-07-28", "tools/call", "=?base64?bm9ib2R5", NULL }, -32020 },
        { call,
          { "2026-07-28", "tools/call",
            "=?base64?"
            "?=",
            NULL },
          -32020 },
        { call, { "2026-07-28", "tools/call", "=?base64?bm9i?2R5?=", NULL }, -32020 },
        { encoded, { "2026-07-28", "tools/call", ENCODED, NULL }, -32602 },
        { encoded, { "2026-07-28", "tools/call", "=?base64?w6QvPx==?=", NULL }, -32020 },
        { encoded, { "2026-07-28", "tools/call", "=?BASE64?w6QvPw==?=", NULL }, -32020 },
        { nameless, { "2026-07-28", "tools/call", NULL, NULL }, -32602 },
    };
    struct stage stage;

    (void)state;
    stage_open(&stage, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage_stream stream;
        struct json *line;
        int64_t code;

        stage_stream_init(&stream);
        stage_take_http(&stage, &stream, &cases[i].headers, cases[i].body);
        line = stage_line(&stream, 0);
        code = json_member_integer(json_member(line, "error"), "code", 0);
        if (code != cases[i].code || stream.statuses[0] != (code == -32020 ? 400 : 200))
            fail_msg("case %zu: %s", i, stream.lines[0]);
        assert_int_equal(json_member_integer(line, "id", 0), 9);
        json_free(line);
        stage_stream_release(&stream);
    }
    stage_close(&stage);
}

static void modern_refusals_have_their_statuses(void **state)
{
    static const struct {
        const char *params, *version;
        int code, status;
    } cases[] = {
        { CLAIM, "2026-07-28", -32601, 404 },
        { "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}", "2026-07-28",
          -32602, 400 },
        { "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"v999\","
          "\"io.modelcontextprotocol/clientCapabilities\":{}}",
          "2026-07-28", -32020, 400 },
        { "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\","
          "\"io.modelcontextprotocol/clientCapabilities\":{}}",
          "2030-01-01", -32022, 400 },
    };
    struct stage stage;

    (void)state;
    stage_open(&stage, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct mcp_headers headers = { cases[i].version, "x/y", NULL, NULL };
        struct stage_stream stream;
        char *body = mem_format("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"x/y\",\"params\":{%s}}",
                                cases[i].params);
        struct json *line;

        stage_stream_init(&stream);
        stage_take_http(&stage, &stream, &headers, body);
        line = stage_line(&stream, 0);
        assert_int_equal(json_member_integer(json_member(line, "error"), "code", 0), cases[i].code);
        assert_int_equal(stream.statuses[0], cases[i].status);
        json_free(line);
        stage_stream_release(&stream);
        free(body);
    }
    stage_close(&stage);
}

static void a_modern_client_cancels_by_going_not_by_an_id(void **state)
{
    static const struct mcp_headers headers = { "2026-07-28", NULL, NULL, NULL };
    struct stage stage;
    struct stage_stream call, notice;
    char *body = mem_format("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s," CLAIM "}}",
                            stage_ask);

    (void)state;
    stage_open(&stage, NULL);
    stage_stream_init(&call);
    stage_stream_init(&notice);
    stage_take(&stage, &call, body);
    stage_take_http(&stage, &notice, &headers,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":3}}");
    assert_int_equal(call.finished, 0);
    assert_int_equal(notice.finished, 1);
    mcp_drop(stage.mcp, &call.mcp);
    stage_close(&stage);
    free(body);
}

static void legacy_headers_are_looked_at(void **state)
{
    static const struct {
        struct mcp_headers headers;
        int post, get, initialize;
    } cases[] = {
        { { NULL, NULL, NULL, "application/json, text/event-stream" }, 0, 0, 0 },
        { { "2025-06-18", NULL, NULL, "text/event-stream;q=1,Application/JSON" }, 0, 0, 0 },
        { { "1999-01-01", NULL, NULL, "application/json, text/event-stream" }, 400, 400, 0 },
        { { "", NULL, NULL, "application/json, text/event-stream" }, 400, 400, 0 },
        { { NULL, NULL, NULL, "application/json" }, 406, 406, 406 },
        { { NULL, NULL, NULL, "text/event-stream" }, 406, 0, 406 },
        { { NULL, NULL, NULL, "text/event-streams, application/json" }, 406, 406, 406 },
        { { NULL, NULL, NULL, NULL }, 406, 406, 406 },
        { { NULL, NULL, NULL, "*/*" }, 0, 0, 0 },
        { { NULL, NULL, NULL, "text/*,application/*" }, 0, 0, 0 },
        { { NULL, NULL, NULL, ",,;" }, 406, 406, 406 },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct legacy_refusal *post = legacy_check_post(&cases[i].headers);
        const struct legacy_refusal *get = legacy_check_get(&cases[i].headers);
        const struct legacy_refusal *opens = legacy_check_initialize(&cases[i].headers);

        assert_int_equal(post ? post->status : 0, cases[i].post);
        assert_int_equal(get ? get->status : 0, cases[i].get);
        assert_int_equal(opens ? opens->status : 0, cases[i].initialize);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_goes_its_way),
        cmocka_unit_test(modern_headers_repeat_the_body),
        cmocka_unit_test(modern_refusals_have_their_statuses),
        cmocka_unit_test(a_modern_client_cancels_by_going_not_by_an_id),
        cmocka_unit_test(legacy_headers_are_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
