/*
 * test_mcp_come_back.c - calls whose client is told to come back: which are, what they are told,
 * and what happens when they do.
 *
 * Proves: R5.5 R5.7 R10.1 B6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "mcp_fixture.h"

static const char ask_id[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa";

struct one {
    struct stage stage;
    struct stage_stream stream;
};

static int set_up(void **state)
{
    struct one *one = mem_new(sizeof *one);

    stage_open(&one->stage, NULL);
    stage_shake_hands(&one->stage, "2025-11-25", "{}");
    stage_stream_init(&one->stream);
    *state = one;
    return 0;
}

static int tear_down(void **state)
{
    struct one *one = *state;

    mcp_drop(one->stage.mcp, &one->stream.mcp);
    stage_stream_release(&one->stream);
    stage_close(&one->stage);
    free(one);
    return 0;
}

/* A modern call; `more` goes into its params. */
static void call_tool(struct one *one, const char *tool, const char *arguments, const char *more)
{
    char *line =
        mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"%s\",\"arguments\":%s%s,\"_meta\":{\"progressToken\":7,"
                   "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                   "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                   tool, arguments, more);

    stage_take(&one->stage, &one->stream, line);
    free(line);
}

static void assert_member(const struct one *one, size_t index, const char *member,
                          const char *expected)
{
    struct json *line = stage_line(&one->stream, index);
    const char *found = json_member_text(json_member(line, "result"), member);

    assert_string_equal(found ? found : "", expected);
    json_free(line);
}

static void test_is_told_to_come_back_and_does(void **state)
{
    struct one *one = *state;

    call_tool(one, "provide_choice", stage_ask, "");
    assert_true(one->stage.acts[0].resumes);
    assert_string_equal(one->stage.acts[0].state, "");
    stage_name_with(&one->stage, 0, ask_id, "first");
    stage_answer(&one->stage, 0, false);
    assert_int_equal(one->stream.count, 2); /* progress tells the id first */
    assert_member(one, 1, "resultType", "input_required");
    assert_member(one, 1, "requestState", "first");
    assert_true(mcp_is_idle(one->stage.mcp));
    assert_int_equal(one->stream.mcp.open, 0);

    call_tool(one, "provide_choice", stage_ask, ",\"requestState\":\"first\"");
    assert_string_equal(one->stage.acts[0].state, "first");
    assert_int_equal(one->stage.acts[0].wait_s, 50);
    stage_name_with(&one->stage, 0, ask_id, "second");
    stage_pass(&one->stage, 15000);
    assert_int_equal(one->stream.count, 4);
    assert_int_equal(one->stream.kinds[3], MCP_NOTIFICATION);
    stage_answer(&one->stage, 0, true);
    assert_member(one, 4, "resultType", "complete");
    mcp_confirm(one->stage.mcp, &one->stream.mcp);
    assert_int_equal(one->stage.delivered, 1);
}

static void test_without_state_it_is_pending(void **state)
{
    struct one *one = *state;

    call_tool(one, "provide_choice", stage_ask, "");
    stage_name(&one->stage, 0, ask_id);
    stage_answer(&one->stage, 0, false);
    assert_member(one, 1, "resultType", "complete");
}

static void test_legacy_clients_know_nothing_of_it(void **state)
{
    struct one *one = *state;
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"requestState\":\"x\",\"arguments\":%s}}",
                            stage_ask);

    stage_take(&one->stage, &one->stream, line);
    assert_false(one->stage.acts[0].resumes);
    assert_string_equal(one->stage.acts[0].state, "");
    free(line);
}

/* Who would collect is told how it stands: how long to wait was the agent's own choice. */
static void test_collecting_is_no_round(void **state)
{
    struct one *one = *state;
    char *arguments = mem_format("{\"session_id\":\"%s\"}", ask_id);

    call_tool(one, "get_answer", arguments, "");
    assert_false(one->stage.acts[0].resumes);
    stage_answer(&one->stage, 0, false);
    assert_member(one, 0, "resultType", "complete");
    call_tool(one, "get_answer", arguments, ",\"requestState\":\"first\"");
    assert_int_equal(one->stage.act_count, 0);
    assert_non_null(strstr(one->stream.lines[1], "-32602"));
    free(arguments);
}

/* One answer for whatever is wrong with it (corpus mrtr-001, mrtr-008). */
static void test_a_bad_state_is_one_error(void **state)
{
    static const char *const bad[] = { "7", "null", "{}", "\"a\\u0000b\"" };
    struct one *one = *state;
    char *expected;

    call_tool(one, "provide_choice", stage_ask, ",\"requestState\":\"altered\"");
    stage_refuse_state(&one->stage, 0);
    expected = mem_text(one->stream.lines[0]);
    assert_non_null(strstr(expected, "\"code\":-32602"));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *more = mem_format(",\"requestState\":%s", bad[i]);

        call_tool(one, "provide_choice", stage_ask, more);
        assert_int_equal(one->stage.act_count, 0);
        assert_string_equal(one->stream.lines[i + 1], expected);
        free(more);
    }
    call_tool(one, "provide_choice", stage_ask, ",\"requestState\":\"\"");
    assert_true(one->stage.acts[0].has_state); /* it is no call without one */
    free(expected);
}

/* There would be no server to come back to, or no person to answer. */
static void test_who_leaves_or_hears_nothing_says_pending(void **state)
{
    struct one *one = *state;

    call_tool(one, "provide_choice", stage_ask, "");
    stage_name_with(&one->stage, 0, ask_id, "first");
    mcp_dismiss(one->stage.mcp);
    assert_member(one, 1, "resultType", "complete");
    call_tool(one, "provide_choice", stage_ask, "");
    stage_name_with(&one->stage, 1, ask_id, "first");
    stage_pass(&one->stage, 53000);
    assert_member(one, one->stream.count - 1, "resultType", "complete");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_is_told_to_come_back_and_does),
        CASE(test_without_state_it_is_pending),
        CASE(test_legacy_clients_know_nothing_of_it),
        CASE(test_collecting_is_no_round),
        CASE(test_a_bad_state_is_one_error),
        CASE(test_who_leaves_or_hears_nothing_says_pending),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
