/*
 * test_mcp_channel.c - the client's own form, the protocol's half alone: what the service wants
 * shown goes out, and whatever comes back reaches the service as it is and is judged there. Legacy
 * clients are asked by a request of ours, modern ones by the result of their call.
 *
 * Proves: R4.2 R4.3 R5.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/tools/arguments.h"
#include "mcp_fixture.h"

static const char ask_id[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char form_capability[] = "{\"elicitation\":{\"form\":{}}}";

struct one {
    struct stage stage;
    struct stage_stream stream, other; /* of the call; of what the client sends later */
    struct text form;
};

static void write_form(struct text *out)
{
    struct json *arguments = NULL;
    struct ask_call call = { 0 };
    struct error err;

    assert_true(json_parse(stage_ask, strlen(stage_ask), &arguments, NULL));
    assert_true(arguments_check(ask_tool_find("provide_choice"), arguments, &call, &err));
    form_encode(&call.form, out);
    ask_call_release(&call);
    json_free(arguments);
}

static int set_up(void **state)
{
    struct one *one = mem_new(sizeof *one);

    stage_open(&one->stage, NULL);
    stage_shake_hands(&one->stage, "2025-11-25", form_capability);
    stage_stream_init(&one->stream);
    stage_stream_init(&one->other);
    write_form(&one->form);
    *state = one;
    return 0;
}

static int tear_down(void **state)
{
    struct one *one = *state;

    stage_part(&one->stage, &one->stream);
    stage_part(&one->stage, &one->other);
    stage_close(&one->stage);
    text_release(&one->form);
    free(one);
    return 0;
}

static void call_legacy(struct one *one)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s}}",
                            stage_ask);

    stage_take(&one->stage, &one->stream, line);
    stage_name(&one->stage, one->stage.act_count - 1, ask_id);
    free(line);
}

static void tell_session(struct one *one, const char *method, const char *members)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"session_id\":"
                            "\"%s\"%s}}",
                            method, ask_id, members);

    stage_tell(&one->stage, 0, line);
    free(line);
}

static void present(struct one *one)
{
    char *members = mem_format(",\"remaining_ms\":90000,\"language\":\"en\",\"notes\":true,"
                               "\"form\":%s",
                               text_string(&one->form));

    tell_session(one, "client/present", members);
    free(members);
}

/* Of the form that stands last on the call's stream. */
static char *shown_id(const struct one *one)
{
    return stage_asked_id(&one->stream, one->stream.count - 1);
}

static void respond(struct one *one, const char *id_json, const char *rest)
{
    stage_respond(&one->stage, &one->other, id_json, rest);
}

static bool is_withdrawal_of(const struct one *one, size_t index, const char *id_json)
{
    const char *line = one->stream.lines[index];

    return one->stream.kinds[index] == MCP_NOTIFICATION &&
           strstr(line, "notifications/cancelled") && strstr(line, id_json);
}

static void a_legacy_call_says_that_it_can_show_forms_and_is_asked_on_its_stream(void **state)
{
    struct one *one = *state;
    struct json *line;
    char *id;

    call_legacy(one);
    assert_string_equal(one->stage.acts[0].client,
                        "{\"era\":\"legacy\",\"form\":true,\"url\":false}");
    present(one);
    assert_int_equal(one->stream.count, 1);
    id = shown_id(one);
    line = stage_line(&one->stream, 0);
    assert_string_equal(json_member_text(json_member(line, "params"), "mode"), "form");
    assert_non_null(strstr(one->stream.lines[0], "Alpha"));
    present(one); /* one form, however often the service says so */
    assert_int_equal(one->stream.count, 1);
    assert_int_equal(one->stage.form_results + one->stage.form_failures, 0);
    json_free(line);
    free(id);
}

/* Each outcome of R4.3, and what the service hears of it. */
static const struct form_outcome {
    const char *rest;
    int shown_ms;
    const char *told;
} outcomes[] = {
    { "\"result\":{\"action\":\"decline\"}", 0, "\"action\":\"decline\",\"shown_ms\":0}" },
    { "\"result\":{\"action\":\"cancel\"}", 1999, "\"action\":\"cancel\",\"shown_ms\":1999}" },
    { "\"result\":{\"action\":\"decline\"}", 2000, "\"action\":\"decline\",\"shown_ms\":2000}" },
    { "\"result\":{\"action\":\"cancel\"}", 40000, "\"action\":\"cancel\",\"shown_ms\":40000}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"b\"}}", 7,
      "\"action\":\"accept\",\"content\":{\"choice\":\"b\"},\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{}}", 7,
      "\"action\":\"accept\",\"content\":{},\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"purple\"}}", 7,
      "\"action\":\"accept\",\"content\":{\"choice\":\"purple\"},\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":[\"a\",7,null]}}", 7,
      "\"content\":{\"choice\":[\"a\",7,null]}" },
    /* what is no content of a form is not handed on */
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":{\"a\":1}}}", 7,
      "\"action\":\"accept\",\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":[[\"a\"]]}}", 7,
      "\"action\":\"accept\",\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":9223372036854775808}}", 7,
      "\"action\":\"accept\",\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":[\"a\",1e400]}}", 7,
      "\"action\":\"accept\",\"shown_ms\":7}" },
    { "\"result\":{\"action\":\"accept\",\"content\":[\"b\"]}", 7,
      "\"action\":\"accept\",\"shown_ms\":7}" },
    { "\"result\":{\"action\":7}", 7, "aaa\",\"shown_ms\":7}" },
    { "\"result\":[]", 7, "aaa\",\"shown_ms\":7}" },
    { "\"error\":{\"code\":-32601,\"message\":\"no\"}", 7,
      "{\"session_id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\"}" },
};

static void try_outcome(const struct form_outcome *outcome)
{
    bool is_error = strstr(outcome->rest, "\"error\"") != NULL;
    struct one *one;
    void *each;
    char *id;

    set_up(&each);
    one = each;
    call_legacy(one);
    present(one);
    id = shown_id(one);
    stage_pass(&one->stage, outcome->shown_ms);
    respond(one, id, outcome->rest);
    if (one->stage.form_failures != is_error || one->stage.form_results != !is_error ||
        !strstr(one->stage.form_told, outcome->told) || !strstr(one->stage.form_told, ask_id))
        fail_msg("%s: %s", outcome->rest, one->stage.form_told);
    /* once; and the call waits for what the service makes of it */
    respond(one, id, outcome->rest);
    assert_int_equal(one->stage.form_results + one->stage.form_failures, 1);
    assert_int_equal(one->stage.act_count, 1);
    assert_int_equal(one->stream.count, 1);
    present(one); /* its form came back: it is not asked again */
    assert_int_equal(one->stream.count, 1);
    free(id);
    tear_down(&each);
}

static void whatever_comes_back_reaches_the_desk_as_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        try_outcome(&outcomes[i]);
}

static void content_beyond_all_forms_is_not_handed_on(void **state)
{
    struct one *one = *state;
    size_t length = 300000;
    char *id, *long_text = mem_new(length + 1), *rest;

    call_legacy(one);
    present(one);
    id = shown_id(one);
    memset(long_text, 'x', length);
    rest =
        mem_format("\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"%s\"}}", long_text);
    respond(one, id, rest);
    assert_int_equal(one->stage.form_results, 1);
    assert_null(strstr(one->stage.form_told, "content"));
    free(rest);
    free(long_text);
    free(id);
}

/* Silence has no clock here: the service ends the call, and the call ends its form. */
static void silence_ends_with_the_call(void **state)
{
    struct one *one = *state;
    char *id;

    call_legacy(one);
    present(one);
    id = shown_id(one);
    stage_pass(&one->stage, 45000);
    assert_int_equal(one->stream.count, 1);
    stage_answer(&one->stage, 0, true); /* the deadline */
    assert_int_equal(one->stream.count, 3);
    assert_true(is_withdrawal_of(one, 1, id));
    assert_int_equal(one->stream.kinds[2], MCP_RESPONSE);
    respond(one, id, "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"a\"}}");
    assert_int_equal(one->stage.form_results + one->stage.form_failures, 0);
    mcp_confirm(one->stage.mcp, &one->stream.mcp);
    assert_true(mcp_is_idle(one->stage.mcp));
    free(id);
}

static void answered_elsewhere_it_is_withdrawn_and_heard_no_more(void **state)
{
    struct one *one = *state;
    char *id;

    call_legacy(one);
    present(one);
    id = shown_id(one);
    stage_tell(&one->stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"client/withdraw\",\"params\":{\"session_id\":"
               "\"bbbbbbbbbbbbbbbbbbbbbbbbbb\"}}"); /* another */
    assert_int_equal(one->stream.count, 1);
    tell_session(one, "client/withdraw", ",\"why\":\"submitted\"");
    assert_int_equal(one->stream.count, 2);
    assert_true(is_withdrawal_of(one, 1, id));
    tell_session(one, "client/withdraw", ",\"why\":\"submitted\"");
    assert_int_equal(one->stream.count, 2);
    respond(one, id, "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"a\"}}");
    assert_int_equal(one->stage.form_results, 0);
    stage_answer(&one->stage, 0, true);
    assert_int_equal(one->stream.kinds[2], MCP_RESPONSE);
    assert_int_equal(one->stream.count, 3);
    free(id);
}

static void taken_back_by_its_person_it_can_be_shown_again(void **state)
{
    struct one *one = *state;
    char *first, *second;

    call_legacy(one);
    present(one);
    first = shown_id(one);
    tell_session(one, "client/withdraw", ",\"why\":\"submitted\"");
    present(one);
    second = shown_id(one);
    assert_string_not_equal(first, second);
    respond(one, first, "\"result\":{\"action\":\"decline\"}");
    assert_int_equal(one->stage.form_results, 0);
    respond(one, second, "\"result\":{\"action\":\"decline\"}");
    assert_int_equal(one->stage.form_results, 1);
    free(first);
    free(second);
}

static void a_cancelled_call_takes_its_form_along(void **state)
{
    struct one *one = *state;
    char *id;

    call_legacy(one);
    present(one);
    id = shown_id(one);
    stage_take(&one->stage, &one->other,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":1}}");
    assert_true(is_withdrawal_of(one, 1, id));
    assert_int_equal(one->stream.count, 2);
    assert_int_equal(one->stage.form_results + one->stage.form_failures, 0);
    free(id);
}

static void who_cannot_be_asked_is_not(void **state)
{
    static const char *const capabilities[] = { "{}", "{\"elicitation\":{\"url\":{}}}",
                                                "{\"elicitation\":7}" };
    struct one *one = *state;

    for (size_t i = 0; i < ARRAY_LEN(capabilities); i++) {
        stage_shake_hands(&one->stage, "2025-11-25", capabilities[i]);
        call_legacy(one);
        assert_null(strstr(one->stage.acts[0].client, "\"form\":true"));
        present(one); /* a service that is mistaken */
        assert_int_equal(one->stream.count, 0);
        mcp_drop(one->stage.mcp, &one->stream.mcp);
    }
    stage_shake_hands(&one->stage, "2025-11-25", form_capability);
    call_legacy(one);
    tell_session(one, "client/present", ",\"form\":7"); /* no form */
    tell_session(one, "client/present", "");
    mcp_pause(one->stage.mcp, &one->stream.mcp);
    present(one); /* the client is away */
    assert_int_equal(one->stream.count, 0);
}

/* The call tells the service whether the client's clock stops while a form is open. */
static void a_clock_that_stands_still_is_said_and_runs_again(void **state)
{
    struct one *one = *state;
    char *id;

    stage_take(&one->stage, &one->other,
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"elicitation\":{}},"
               "\"clientInfo\":{\"name\":\"codex-mcp-client\",\"version\":\"1\"}}}");
    call_legacy(one);
    assert_string_equal(one->stage.acts[0].client,
                        "{\"era\":\"legacy\",\"form\":true,\"url\":false,\"stops_clock\":true}");
    present(one);
    id = shown_id(one);
    stage_pass(&one->stage, 80000); /* beyond its 50 s, within the ask's 90 s */
    assert_int_equal(one->stream.count, 1);
    respond(one, id, "\"result\":{\"action\":\"accept\",\"content\":{}}");
    stage_pass(&one->stage, 49000);
    assert_int_equal(one->stream.count, 1);
    stage_pass(&one->stage, 4000); /* the service did not even say `pending` */
    assert_int_equal(one->stream.count, 2);
    free(id);
}

static void present_url(struct one *one)
{
    char *members = mem_format(",\"remaining_ms\":90000,\"language\":\"en\",\"notes\":true,"
                               "\"url\":\"http://127.0.0.1:7297/choice/%s\",\"form\":%s",
                               ask_id, text_string(&one->form));

    tell_session(one, "client/present", members);
    free(members);
}

static void an_address_is_offered_where_that_is_declared(void **state)
{
    struct one *one = *state;
    struct json *line;
    char *id;

    call_legacy(one);
    present_url(one); /* forms alone were declared */
    assert_int_equal(one->stream.count, 0);
    mcp_drop(one->stage.mcp, &one->stream.mcp);
    stage_shake_hands(&one->stage, "2025-11-25", "{\"elicitation\":{\"url\":{}}}");
    call_legacy(one);
    assert_string_equal(one->stage.acts[0].client,
                        "{\"era\":\"legacy\",\"form\":false,\"url\":true}");
    present_url(one);
    id = shown_id(one);
    line = stage_line(&one->stream, 0);
    assert_string_equal(json_member_text(json_member(line, "params"), "mode"), "url");
    assert_string_equal(json_member_text(json_member(line, "params"), "elicitationId"), ask_id);
    assert_non_null(json_member(json_member(line, "params"), "url"));
    assert_null(json_member(json_member(line, "params"), "requestedSchema"));
    json_free(line);
    stage_pass(&one->stage, 5000);
    respond(one, id, "\"result\":{\"action\":\"accept\"}");
    assert_string_equal(one->stage.form_told,
                        "{\"session_id\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\",\"mode\":\"url\","
                        "\"action\":\"accept\",\"shown_ms\":5000}");
    assert_int_equal(one->stream.count, 1); /* it waits on */
    stage_answer(&one->stage, 0, true);
    assert_int_equal(one->stream.count, 3);
    assert_non_null(strstr(one->stream.lines[1], "notifications/elicitation/complete"));
    assert_non_null(strstr(one->stream.lines[1], ask_id));
    assert_int_equal(one->stream.kinds[2], MCP_RESPONSE);
    free(id);
}

static void an_address_that_was_refused_is_not_said_to_be_done(void **state)
{
    struct one *one = *state;
    char *id;

    stage_shake_hands(&one->stage, "2025-11-25", "{\"elicitation\":{\"url\":{}}}");
    call_legacy(one);
    present_url(one);
    id = shown_id(one);
    respond(one, id, "\"result\":{\"action\":\"decline\"}");
    assert_int_equal(one->stage.form_results, 1);
    stage_answer(&one->stage, 0, true);
    assert_int_equal(one->stream.count, 2);
    assert_int_equal(one->stream.kinds[1], MCP_RESPONSE);
    free(id);
    call_legacy(one);
    present_url(one);
    id = shown_id(one);
    respond(one, id, "\"error\":{\"code\":-32602,\"message\":\"no\"}");
    assert_int_equal(one->stage.form_results, 2);
    assert_int_equal(one->stage.form_failures, 0);
    free(id);
}

/* Modern ----------------------------------------------------------------------------------------
 */

static void call_modern_as(struct one *one, const char *capabilities, const char *more)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s%s,\"_meta\":{"
                            "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                            "\"io.modelcontextprotocol/clientCapabilities\":%s}}}",
                            stage_ask, more, capabilities);

    mcp_confirm(one->stage.mcp, &one->stream.mcp); /* what was on it has arrived */
    stage_stream_release(&one->stream);
    stage_take(&one->stage, &one->stream, line);
    stage_name(&one->stage, 0, ask_id);
    free(line);
}

static void call_modern(struct one *one, const char *more)
{
    call_modern_as(one, form_capability, more);
}

static void reply_needs_input(struct one *one, const char *sealed, const char *members)
{
    char *json = mem_format("{\"session_id\":\"%s\",\"input_required\":{\"state\":\"%s\","
                            "\"language\":\"en\",\"notes\":false,\"form\":%s%s}}",
                            ask_id, sealed, text_string(&one->form), members);
    const struct reply reply = { .json = json, .kind = REPLY_INPUT, .session_id = ask_id };

    stage_reply(&one->stage, 0, &reply);
    free(json);
}

static void ten_rounds_bring_their_state_and_response_to_the_desk(void **state)
{
    struct one *one = *state;

    call_modern(one, "");
    assert_string_equal(one->stage.acts[0].client,
                        "{\"era\":\"modern\",\"form\":true,\"url\":false}");
    assert_string_equal(one->stage.acts[0].response, "");
    for (int round = 1; round <= 10; round++) {
        char sealed[24], *more;
        struct json *line;
        const struct json *result;

        snprintf(sealed, sizeof sealed, "round %d", round);
        reply_needs_input(one, sealed, "");
        assert_int_equal(one->stream.count, 1);
        line = stage_line(&one->stream, 0);
        result = json_member(line, "result");
        assert_string_equal(json_member_text(result, "resultType"), "input_required");
        assert_string_equal(json_member_text(result, "requestState"), sealed);
        assert_non_null(json_member(json_member(result, "inputRequests"), "answer"));
        assert_true(mcp_is_idle(one->stage.mcp));
        json_free(line);
        more = mem_format(",\"requestState\":\"%s\",\"inputResponses\":{\"answer\":{\"action\":"
                          "\"accept\",\"content\":{\"choice\":\"%d\"}},\"unknown\":{}}",
                          sealed, round);
        call_modern(one, more);
        assert_string_equal(one->stage.acts[0].state, sealed);
        snprintf(sealed, sizeof sealed, "\"%d\"", round);
        assert_non_null(strstr(one->stage.acts[0].response, sealed));
        free(more);
    }
    stage_answer(&one->stage, 0, true);
    assert_non_null(strstr(one->stream.lines[0], "\"resultType\":\"complete\""));
    assert_int_equal(one->stage.form_results + one->stage.form_failures, 0);
}

static void what_a_round_brings_is_handed_on_only_with_its_state(void **state)
{
    static const struct {
        const char *more, *response;
    } cases[] = {
        { ",\"requestState\":\"s\",\"inputResponses\":{\"answer\":{\"action\":\"cancel\"}}",
          "{\"action\":\"cancel\"}" },
        { ",\"requestState\":\"s\",\"inputResponses\":{\"answer\":{\"action\":\"accept\","
          "\"content\":{}}}",
          "{\"action\":\"accept\",\"content\":{}}" },
        { ",\"requestState\":\"s\",\"inputResponses\":{\"answer\":{\"content\":{\"a\":{}}}}",
          "{}" },
        { ",\"requestState\":\"s\",\"inputResponses\":{\"answer\":7}", "" },
        { ",\"requestState\":\"s\",\"inputResponses\":{\"other\":{\"action\":\"accept\"}}", "" },
        { ",\"requestState\":\"s\"", "" },
        { ",\"inputResponses\":{\"answer\":{\"action\":\"accept\"}}", "" },
    };
    struct one *one = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_modern(one, cases[i].more);
        assert_int_equal(one->stage.act_count, 1);
        if (strcmp(one->stage.acts[0].response, cases[i].response) != 0)
            fail_msg("%s: %s", cases[i].more, one->stage.acts[0].response);
        stage_answer(&one->stage, 0, true);
    }
}

static void a_modern_client_is_given_an_address_with_an_id(void **state)
{
    struct one *one = *state;
    struct json *line;
    const struct json *params;

    call_modern_as(one, "{\"elicitation\":{\"url\":{}}}", "");
    assert_string_equal(one->stage.acts[0].client,
                        "{\"era\":\"modern\",\"form\":false,\"url\":true}");
    reply_needs_input(one, "s", ",\"url\":\"http://127.0.0.1:7297/choice/a\"");
    line = stage_line(&one->stream, 0);
    params = json_member(
        json_member(json_member(json_member(line, "result"), "inputRequests"), "answer"), "params");
    assert_string_equal(json_member_text(params, "mode"), "url");
    assert_string_equal(json_member_text(params, "elicitationId"), ask_id);
    assert_string_equal(json_member_text(params, "url"), "http://127.0.0.1:7297/choice/a");
    json_free(line);
    call_modern(one, ""); /* which declares forms alone; a service that is mistaken */
    reply_needs_input(one, "s", ",\"url\":\"http://127.0.0.1:7297/choice/a\"");
    assert_null(strstr(one->stream.lines[0], "inputRequests"));
}

/* Their order is that of the form's fields. */
static void properties_reach_the_desk_in_their_order(void **state)
{
    static const char arguments[] =
        "{\"message\":\"Which?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"zone\":{\"type\":\"string\"},\"area\":{\"type\":\"string\"}}}}";
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"elicit_form\",\"arguments\":%s}}",
                            arguments);
    struct stage_stream stream;
    struct stage stage;

    (void)state;
    stage_open(&stage, NULL);
    stage_shake_hands(&stage, "2025-11-25", "{}");
    stage_stream_init(&stream);
    stage_take(&stage, &stream, line);
    assert_int_equal(stage.act_count, 1);
    assert_string_equal(stage.acts[0].arguments, arguments);
    stage_part(&stage, &stream);
    stage_close(&stage);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_reach_the_desk_in_their_order),
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_legacy_call_says_that_it_can_show_forms_and_is_asked_on_its_stream),
        cmocka_unit_test(whatever_comes_back_reaches_the_desk_as_it_is),
        TEST(content_beyond_all_forms_is_not_handed_on),
        TEST(silence_ends_with_the_call),
        TEST(answered_elsewhere_it_is_withdrawn_and_heard_no_more),
        TEST(taken_back_by_its_person_it_can_be_shown_again),
        TEST(a_cancelled_call_takes_its_form_along),
        TEST(who_cannot_be_asked_is_not),
        TEST(a_clock_that_stands_still_is_said_and_runs_again),
        TEST(an_address_is_offered_where_that_is_declared),
        TEST(an_address_that_was_refused_is_not_said_to_be_done),
        TEST(a_modern_client_is_given_an_address_with_an_id),
        TEST(ten_rounds_bring_their_state_and_response_to_the_desk),
        TEST(what_a_round_brings_is_handed_on_only_with_its_state),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
