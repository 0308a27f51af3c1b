/*
 * test_mcp_ask_client.c - tools that ask their client: by requests of ours where the revision has
 * them, by input_required rounds with sealed state where it has not.
 *
 * Proves: R4.2 R10.1 B6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "mcp/call.h"
#include "mcp/calls.h"
#include "mcp/mcp_features.h"
#include "mcp/tools/tool.h"
#include "mcp_fixture.h"

/* What the tools below saw; one test at a time. */
static struct seen {
    struct mcp_call *call;
    struct call_question *question;
    size_t runs, answers, gone;
    enum call_answer answer;
    char json[128], state[64], responses[128];
} seen;

static void reply(struct mcp_call *call, const char *json, bool is_error)
{
    struct text out = { 0 };

    tool_write_result(&out, call_revision(call), json, is_error);
    call_reply_result(call, text_string(&out));
    text_release(&out);
}

static void on_answer(void *context, enum call_answer answer, const struct json *json)
{
    char *encoded = json ? json_encode(json) : NULL;

    (void)context;
    seen.answers++;
    seen.answer = answer;
    seen.question = NULL;
    snprintf(seen.json, sizeof seen.json, "%s", encoded ? encoded : "");
    free(encoded);
    if (answer != CALL_GONE)
        reply(seen.call, "{\"done\":true}", false);
}

static void on_gone(void *context)
{
    (void)context;
    seen.gone++;
    seen.call = NULL;
}

static void run_legacy(const struct tool *tool, struct mcp_call *call, const struct json *arguments)
{
    (void)tool;
    (void)arguments;
    seen.runs++;
    seen.call = call;
    call_on_gone(call, on_gone, NULL);
    seen.question =
        call_ask(call, "elicitation/create", "{\"message\":\"Which?\"}", on_answer, NULL);
    if (!seen.question)
        reply(call, "{\"error\":{}}", true);
}

static void run_modern(const struct tool *tool, struct mcp_call *call, const struct json *arguments)
{
    char *responses = call_responses(call) ? json_encode(call_responses(call)) : NULL;

    (void)tool;
    (void)arguments;
    seen.runs++;
    snprintf(seen.state, sizeof seen.state, "%s", call_state(call) ? call_state(call) : "");
    snprintf(seen.responses, sizeof seen.responses, "%s", responses ? responses : "");
    free(responses);
    if (!call_has(call, ABILITY_FORM))
        call_reply_unable(call, ABILITY_FORM);
    else if (call_responses(call))
        reply(call, "{\"done\":true}", false);
    else
        call_need_input(call, "{\"q\":{\"method\":\"elicitation/create\",\"params\":{}}}",
                        "round 1");
}

static const struct tool legacy_tool = { .name = "asks", .description = "", .run = run_legacy };
static const struct tool modern_tool = { .name = "rounds", .description = "", .run = run_modern };
static const struct tool *const tools[] = { &legacy_tool, &modern_tool, NULL };
static const struct mcp_features features = { .tools = tools };

/* No secret, but as bound as a real one. */
static char *seal(void *context, const char *binding, const char *state)
{
    (void)context;
    return mem_format("%zu:%s", strlen(binding), state);
}

static char *unseal(void *context, const char *binding, const char *sealed)
{
    const char *state = strchr(sealed, ':');

    (void)context;
    return state && (size_t)strtol(sealed, NULL, 10) == strlen(binding) ? mem_text(state + 1)
                                                                        : NULL;
}

struct one {
    struct stage stage;
    struct stage_stream stream, other;
};

static int set_up(void **state)
{
    const struct mcp_parts parts = { .features = &features, .seal = seal, .unseal = unseal };
    struct one *one = mem_new(sizeof *one);

    seen = (struct seen){ 0 };
    stage_open(&one->stage, &parts);
    stage_shake_hands(&one->stage, "2025-11-25", "{\"elicitation\":{}}");
    stage_stream_init(&one->stream);
    stage_stream_init(&one->other);
    *state = one;
    return 0;
}

static int tear_down(void **state)
{
    struct one *one = *state;

    stage_part(&one->stage, &one->stream);
    stage_part(&one->stage, &one->other);
    stage_close(&one->stage);
    free(one);
    return 0;
}

static void call_legacy(struct one *one, const char *arguments)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"asks\",\"arguments\":%s}}",
                            arguments);

    stage_take(&one->stage, &one->stream, line);
    free(line);
}

#define META(capabilities)                                                                         \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"

static void call_modern(struct one *one, const char *meta, const char *more)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"rounds\",\"arguments\":{\"a\":1},%s%s}}",
                            meta, more);

    stage_stream_release(&one->stream);
    stage_take(&one->stage, &one->stream, line);
    free(line);
}

static void respond(struct one *one, const char *id_json, const char *rest)
{
    stage_respond(&one->stage, &one->other, id_json, rest);
}

static void a_request_goes_on_the_calls_stream_and_its_response_comes_anywhere(void **state)
{
    struct one *one = *state;
    char *id;

    call_legacy(one, "{}");
    assert_int_equal(one->stream.count, 1);
    id = stage_asked_id(&one->stream, 0);
    respond(one, "1", "\"result\":{}"); /* another request's id, and a number */
    respond(one, "\"sayso-99\"", "\"result\":{}");
    respond(one, "\"sayso-01\"", "\"result\":{}"); /* nearly ours */
    respond(one, "\"sayso-1\\u0000\"", "\"result\":{}");
    respond(one, "\"sayso-1 \"", "\"result\":{}");
    respond(one, "\"sayso--1\"", "\"result\":{}");
    respond(one, "\"sayso-\"", "\"result\":{}");
    assert_int_equal(seen.answers, 0);
    respond(one, id, "\"result\":{\"action\":\"accept\"}");
    assert_int_equal(seen.answer, CALL_ANSWERED);
    assert_string_equal(seen.json, "{\"action\":\"accept\"}");
    respond(one, id, "\"result\":{}"); /* once */
    assert_int_equal(seen.answers, 1);
    assert_int_equal(one->stream.count, 2);
    assert_int_equal(one->stream.finished, 1);
    assert_int_equal(one->other.count, 0);
    free(id);
}

static void a_client_that_refuses_is_heard(void **state)
{
    struct one *one = *state;
    char *id;

    call_legacy(one, "{}");
    id = stage_asked_id(&one->stream, 0);
    respond(one, id, "\"error\":{\"code\":-32601,\"message\":\"no\"}");
    assert_int_equal(seen.answer, CALL_REFUSED);
    assert_non_null(strstr(seen.json, "-32601"));
    free(id);
}

static void a_question_may_be_withdrawn(void **state)
{
    struct one *one = *state;

    call_legacy(one, "{}");
    call_withdraw(seen.question);
    assert_non_null(strstr(one->stream.lines[1], "notifications/cancelled"));
    reply(seen.call, "{\"done\":true}", false);
    assert_int_equal(seen.answers, 0);
    assert_int_equal(one->stream.finished, 1);
}

static void a_cancelled_call_withdraws_its_question_first(void **state)
{
    struct one *one = *state;

    call_legacy(one, "{}");
    stage_take(&one->stage, &one->other,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":1}}");
    assert_int_equal(seen.answer, CALL_GONE);
    assert_int_equal(seen.gone, 1);
    assert_non_null(strstr(one->stream.lines[1], "notifications/cancelled"));
    assert_int_equal(one->stream.count, 2);
    assert_int_equal(one->stream.finished, 1);
    assert_true(mcp_is_idle(one->stage.mcp));
}

static void a_client_that_goes_is_told_to_the_tool(void **state)
{
    struct one *one = *state;

    call_legacy(one, "{}");
    mcp_drop(one->stage.mcp, &one->stream.mcp);
    assert_int_equal(seen.answer, CALL_GONE);
    assert_int_equal(seen.gone, 1);
    assert_int_equal(one->stream.count, 2); /* the withdrawal; whether it arrives is not ours */
    assert_true(mcp_is_idle(one->stage.mcp));
}

static void modern_clients_get_no_requests(void **state)
{
    struct one *one = *state;

    stage_take(&one->stage, &one->stream,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"asks\"," META("{\"elicitation\":{}}") "}}");
    assert_null(seen.question);
    assert_int_equal(one->stream.count, 1);
    assert_int_equal(one->stream.kinds[0], MCP_RESPONSE);
}

/* The state of an input_required result, for the next round. */
static char *given_state(const struct one *one)
{
    struct json *line = stage_line(&one->stream, 0);
    const struct json *result = json_member(line, "result");
    char *state = mem_text(json_member_text(result, "requestState"));

    assert_string_equal(json_member_text(result, "resultType"), "input_required");
    assert_non_null(json_member(json_member(result, "inputRequests"), "q"));
    json_free(line);
    return state;
}

static void demand_error(const struct one *one, int code, int status)
{
    struct json *line = stage_line(&one->stream, 0);

    assert_int_equal(json_member_integer(json_member(line, "error"), "code", 0), code);
    assert_int_equal(one->stream.statuses[0], status);
    json_free(line);
}

static void a_round_comes_back_with_its_state(void **state)
{
    struct one *one = *state;
    char *sealed, *more;

    call_modern(one, META("{\"elicitation\":{\"form\":{}}}"), "");
    assert_int_equal(one->stream.finished, 1);
    sealed = given_state(one);
    more = mem_format(",\"inputResponses\":{\"q\":{\"action\":\"accept\"}},\"requestState\":\"%s\"",
                      sealed);
    call_modern(one, META("{\"elicitation\":{\"form\":{}}}"), more);
    assert_string_equal(seen.state, "round 1");
    assert_string_equal(seen.responses, "{\"q\":{\"action\":\"accept\"}}");
    assert_non_null(strstr(one->stream.lines[0], "\"resultType\":\"complete\""));
    free(more);
    free(sealed);
}

static void state_that_is_not_ours_is_refused_before_the_tool_runs(void **state)
{
    static const char *const bad[] = {
        ",\"requestState\":\"x\"", ",\"requestState\":\"1:round 1\"",
        ",\"requestState\":7",     ",\"inputResponses\":[]",
        ",\"requestState\":\"\"",  ",\"requestState\":\"a\\u0000b\"",
    };
    struct one *one = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        call_modern(one, META("{\"elicitation\":{}}"), bad[i]);
        demand_error(one, -32602, 200);
    }
    assert_int_equal(seen.runs, 0);
}

static void what_a_client_cannot_do_is_named(void **state)
{
    static const struct {
        const char *meta;
        bool is_able;
    } cases[] = {
        { META("{}"), false },
        { META("{\"elicitation\":{\"url\":{}}}"), false },
        { META("{\"elicitation\":{}}"), true },
        { META("{\"elicitation\":{\"form\":{},\"url\":{}}}"), true },
        { META("{\"elicitation\":true}"), false },
    };
    struct one *one = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_modern(one, cases[i].meta, "");
        if (cases[i].is_able) {
            free(given_state(one));
            continue;
        }
        demand_error(one, -32021, 400);
        assert_non_null(strstr(one->stream.lines[0],
                               "{\"requiredCapabilities\":{\"elicitation\":{\"form\":{}}}}"));
    }
}

static void without_seals_no_state_is_given_or_taken(void **state)
{
    const struct mcp_parts parts = { .features = &features };
    struct one *one = *state;
    struct stage bare;

    stage_open(&bare, &parts);
    stage_take(&bare, &one->stream,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"rounds\"," META("{\"elicitation\":{}}") "}}");
    assert_null(given_state(one));
    stage_stream_release(&one->stream);
    stage_take(&bare, &one->stream,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"rounds\",\"requestState\":\"x\"," META("{\"elicitation\":{}}") "}}");
    demand_error(one, -32602, 200);
    stage_close(&bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_request_goes_on_the_calls_stream_and_its_response_comes_anywhere),
        TEST(a_client_that_refuses_is_heard),
        TEST(a_question_may_be_withdrawn),
        TEST(a_cancelled_call_withdraws_its_question_first),
        TEST(a_client_that_goes_is_told_to_the_tool),
        TEST(modern_clients_get_no_requests),
        TEST(a_round_comes_back_with_its_state),
        TEST(state_that_is_not_ours_is_refused_before_the_tool_runs),
        TEST(what_a_client_cannot_do_is_named),
        TEST(without_seals_no_state_is_given_or_taken),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
