/*
 * test_mcp_elsewhere.c - two servers of one session, each with a service of its own: a call that
 * one began goes on at the other, a form that one showed is returned to the other, and what a
 * client tells one of them reaches the one it concerns.
 *
 * Proves: R5.7 R13.2 P10 B6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/tools/arguments.h"
#include "mcp_fixture.h"

static const char ask_id[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char form_capability[] = "{\"elicitation\":{}}";

struct pair {
    struct stage a, b;
    struct stage_stream on_a, on_b;
    struct text noted; /* by b, for a */
    bool is_deaf;      /* what is noted does not reach a */
};

/* Not secret, but bound: that is all that counts here. */
static char *seal(void *context, const char *binding, const char *state)
{
    (void)context;
    return mem_format("%s~%s", binding, state);
}

static char *unseal(void *context, const char *binding, const char *sealed)
{
    size_t length = strlen(binding);

    (void)context;
    if (strncmp(sealed, binding, length) != 0 || sealed[length] != '~')
        return NULL;
    return mem_text(sealed + length + 1);
}

static void note(void *context, const char *what, const char *value)
{
    struct pair *pair = context;

    text_add_format(&pair->noted, "[%s=%s]", what, value ? value : "(gone)");
    if (!pair->is_deaf)
        mcp_take_state(pair->a.mcp, what, value);
}

static int set_up(void **state)
{
    struct pair *pair = mem_new(sizeof *pair);
    struct mcp_parts parts = { .context = pair, .seal = seal, .unseal = unseal, .is_hub = true };

    stage_open(&pair->a, &parts);
    parts.note = note;
    stage_open(&pair->b, &parts);
    stage_stream_init(&pair->on_a);
    stage_stream_init(&pair->on_b);
    stage_shake_hands(&pair->a, "2025-11-25", "{}");
    stage_shake_hands(&pair->b, "2025-11-25", "{}");
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;

    stage_part(&pair->a, &pair->on_a);
    stage_part(&pair->b, &pair->on_b);
    stage_close(&pair->a);
    stage_close(&pair->b);
    text_release(&pair->noted);
    free(pair);
    return 0;
}

static void shake_hands(struct pair *pair, const char *revision, const char *capabilities)
{
    stage_shake_hands(&pair->a, revision, capabilities);
    stage_shake_hands(&pair->b, revision, capabilities);
}

/* A call at a; its ask gets its id immediately. */
static void call(struct pair *pair, const char *id_json, const char *more)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s%s}}",
                            id_json, stage_ask, more);

    stage_take(&pair->a, &pair->on_a, line);
    stage_name(&pair->a, pair->a.act_count - 1, ask_id);
    free(line);
}

/* a dies: its client has nothing but the state. */
static char *die(struct pair *pair)
{
    char *state = mem_text(pair->on_a.state);

    stage_part(&pair->a, &pair->on_a);
    return state;
}

static void a_call_goes_on_under_its_id(void **state)
{
    struct pair *pair = *state;
    struct json *line;
    char *sealed;

    call(pair, "\"c \\u00e9\"", ",\"_meta\":{\"progressToken\":\"p\"}");
    assert_int_equal(pair->on_a.states, 1);
    pair->b.now_ms = pair->a.now_ms + 9000;
    sealed = die(pair);
    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, sealed));
    free(sealed);
    assert_int_equal(pair->b.waits, 1);
    assert_int_equal(pair->b.submits, 0);
    assert_string_equal(pair->b.acts[0].session_id, ask_id);
    assert_int_equal(pair->b.acts[0].wait_s, 41); /* what is left of 50 s */
    assert_true(pair->on_b.waits > 0);
    assert_non_null(pair->on_b.state); /* it may be lost again */
    stage_pass(&pair->b, 16000);
    assert_int_equal(pair->on_b.count, 1);
    assert_non_null(strstr(pair->on_b.lines[0], "\"progressToken\":\"p\""));
    stage_answer(&pair->b, 0, true);
    line = stage_line(&pair->on_b, 1);
    assert_string_equal(json_member_text(line, "id"), "c \u00e9");
    assert_string_equal(json_member_text(json_member(json_member(line, "result"), //
                                                     "structuredContent"),
                                         "session_id"),
                        ask_id);
    json_free(line);
    assert_int_equal(pair->on_b.finished, 1);
    mcp_confirm(pair->b.mcp, &pair->on_b.mcp);
    assert_int_equal(pair->b.delivered, 1);
}

static void whose_patience_is_over_is_told_pending(void **state)
{
    struct pair *pair = *state;
    char *sealed;

    call(pair, "1", "");
    pair->b.now_ms = pair->a.now_ms + 999000;
    sealed = die(pair);
    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, sealed));
    free(sealed);
    assert_int_equal(pair->b.acts[0].wait_s, 0);
}

/* This machine was off while the call began: its clock has not even come that far. */
static void what_began_before_this_machine_holds_nobody_up(void **state)
{
    static const char sealed[] = "stream~{\"id\":1,\"ask\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\","
                                 "\"tool\":\"provide_choice\",\"began_ms\":-999000}";
    struct pair *pair = *state;

    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, sealed));
    assert_int_equal(pair->b.acts[0].wait_s, 0);
    /* where the service does not answer, and for the next calls */
    assert_true(pair->b.wake_ms > 0);
    stage_pass(&pair->b, 5000);
    assert_int_equal(pair->on_b.finished, 1);
}

static void a_bad_state_is_refused_and_nothing_is_said(void **state)
{
    static const char *const bad[] = {
        "",
        "stream~",
        "stream~7",
        "stream~{}",
        "stream~{\"id\":1}",
        "stream~{\"ask\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
        "stream~{\"id\":1,\"ask\":\"short\"}",
        "stream~{\"id\":1,\"ask\":7}",
        "form~aaaaaaaaaaaaaaaaaaaaaaaaaa 0 0",
    };
    struct pair *pair = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, bad[i]));
        assert_int_equal(pair->on_b.count + pair->on_b.waits + pair->on_b.mcp.open, 0);
    }
    assert_int_equal(pair->b.waits, 0);
}

static void where_too_many_wait_it_is_told_so(void **state)
{
    struct stage_stream many[STAGE_ACTS];
    struct pair *pair = *state;
    char *sealed;

    call(pair, "1", "");
    sealed = die(pair);
    for (size_t i = 0; i < STAGE_ACTS; i++) {
        stage_stream_init(&many[i]);
        assert_true(mcp_take_up(pair->b.mcp, &many[i].mcp, sealed));
    }
    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, sealed));
    assert_int_equal(pair->on_b.finished, 1);
    assert_non_null(strstr(pair->on_b.lines[0], "rate_limited"));
    for (size_t i = 0; i < STAGE_ACTS; i++)
        stage_part(&pair->b, &many[i]);
    free(sealed);
}

static void batches_and_modern_calls_carry_nothing(void **state)
{
    struct pair *pair = *state;
    char *line = mem_format("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s}}]",
                            stage_ask);

    shake_hands(pair, "2025-03-26", "{}");
    stage_take(&pair->a, &pair->on_a, line);
    stage_name(&pair->a, 0, ask_id);
    free(line);
    call(pair, "2",
         ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
         "\"io.modelcontextprotocol/clientCapabilities\":{}}");
    assert_int_equal(pair->on_a.states, 0);
    assert_false(pair->on_a.mcp.awaits_state);
}

static void present(struct pair *pair)
{
    struct json *arguments = NULL;
    struct ask_call asked = { 0 };
    struct text form = { 0 };
    struct error err;
    char *line;

    assert_true(json_parse(stage_ask, strlen(stage_ask), &arguments, NULL));
    assert_true(arguments_check(ask_tool_find("provide_choice"), arguments, &asked, &err));
    form_encode(&asked.form, &form);
    line = mem_format("{\"jsonrpc\":\"2.0\",\"method\":\"client/present\",\"params\":{"
                      "\"session_id\":\"%s\",\"remaining_ms\":90000,\"language\":\"en\","
                      "\"notes\":false,\"form\":%s}}",
                      ask_id, text_string(&form));
    stage_tell(&pair->a, pair->a.act_count - 1, line);
    free(line);
    text_release(&form);
    ask_call_release(&asked);
    json_free(arguments);
}

static void a_form_is_returned_to_the_other(void **state)
{
    struct pair *pair = *state;
    struct json *told = NULL;
    char *id;

    shake_hands(pair, "2025-11-25", form_capability);
    call(pair, "1", "");
    present(pair);
    id = stage_asked_id(&pair->on_a, pair->on_a.count - 1);
    pair->b.now_ms = pair->a.now_ms + 3500;
    stage_respond(&pair->b, &pair->on_b, id, "\"result\":{\"action\":\"decline\"}");
    assert_int_equal(pair->b.form_results, 1);
    assert_true(json_parse(pair->b.form_told, strlen(pair->b.form_told), &told, NULL));
    assert_string_equal(json_member_text(told, "session_id"), ask_id);
    assert_string_equal(json_member_text(told, "action"), "decline");
    assert_int_equal(json_member_integer(told, "shown_ms", -1), 3500);
    json_free(told);
    pair->b.now_ms = 0; /* a clock that is behind */
    stage_respond(&pair->b, &pair->on_b, id, "\"result\":{\"action\":\"cancel\"}");
    assert_non_null(strstr(pair->b.form_told, "\"shown_ms\":0"));
    stage_respond(&pair->b, &pair->on_b, id, "\"error\":{\"code\":1,\"message\":\"no\"}");
    assert_int_equal(pair->b.form_failures, 1);
    assert_int_equal(pair->a.form_results, 0);
    free(id);

    stage_respond(&pair->b, &pair->on_b, "\"sayso-1\"", "\"result\":{\"action\":\"accept\"}");
    stage_respond(&pair->b, &pair->on_b, "\"sayso-1.\"", "\"result\":{\"action\":\"accept\"}");
    stage_respond(&pair->b, &pair->on_b, "\"sayso-1.form~aaaa 0 0\"", "\"result\":{}");
    stage_respond(&pair->b, &pair->on_b, "\"sayso-1.form~aaaaaaaaaaaaaaaaaaaaaaaaa! 0 0\"",
                  "\"result\":{}");
    stage_respond(&pair->b, &pair->on_b, "\"sayso-1.form~aaaaaaaaaaaaaaaaaaaaaaaaaa 0 0\\u0000x\"",
                  "\"result\":{}");
    stage_respond(&pair->b, &pair->on_b, "\"x.form~aaaaaaaaaaaaaaaaaaaaaaaaaa 0 0\"",
                  "\"result\":{}");
    assert_int_equal(pair->b.form_results, 2);
    assert_int_equal(pair->on_b.count, 0);
}

static void who_has_the_form_is_not_shown_it_again(void **state)
{
    struct pair *pair = *state;
    char *before, *after;

    shake_hands(pair, "2025-11-25", form_capability);
    call(pair, "1", "");
    before = mem_text(pair->on_a.state);
    present(pair);
    assert_int_equal(pair->on_a.states, 2);
    after = die(pair);
    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, after));
    assert_string_equal(pair->b.acts[0].client, "");
    stage_part(&pair->b, &pair->on_b);
    stage_stream_init(&pair->on_b);
    assert_true(mcp_take_up(pair->b.mcp, &pair->on_b.mcp, before));
    assert_non_null(strstr(pair->b.acts[pair->b.act_count - 1].client, "\"form\":true"));
    free(before);
    free(after);
}

static void a_cancellation_reaches_the_one_that_has_the_call(void **state)
{
    struct pair *pair = *state;

    call(pair, "\"c\"", "");
    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"other\"}}");
    assert_int_equal(pair->a.detaches, 0);
    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"c\",\"reason\":\"timed out\"}}");
    assert_string_equal(text_string(&pair->noted),
                        "[cancelled \"other\"=][cancelled \"c\"=timed out]");
    assert_int_equal(pair->a.detaches, 1);
    assert_int_equal(pair->a.cut_offs, 1);
    assert_int_equal(pair->on_a.finished, 1);
    assert_int_equal(pair->on_a.count, 0); /* no response: the call was cancelled */
    mcp_take_state(pair->a.mcp, "cancelled \"c\"", "again");
    mcp_take_state(pair->a.mcp, "cancelled \"c\"", NULL);
    mcp_take_state(pair->a.mcp, "whatever", "");
}

static void one_that_is_ours_is_not_noted(void **state)
{
    struct pair *pair = *state;
    char *line;

    pair->is_deaf = true;
    line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{"
                      "\"name\":\"provide_choice\",\"arguments\":%s}}",
                      stage_ask);
    stage_take(&pair->b, &pair->on_b, line);
    free(line);
    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":3}}");
    line = mem_format("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                      "\"requestId\":\"%0300d\"}}",
                      7); /* longer than anybody's */
    stage_take(&pair->b, &pair->on_b, line);
    free(line);
    assert_string_equal(text_string(&pair->noted), "");
}

static void subscriptions_and_levels_are_shared(void **state)
{
    struct stage_stream standing;
    struct pair *pair = *state;

    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{"
               "\"uri\":\"sayso://asks\"}}");
    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logging/setLevel\",\"params\":{"
               "\"level\":\"debug\"}}");
    assert_string_equal(text_string(&pair->noted), "[subscribed sayso://asks=][level=debug]");
    assert_int_equal(pair->a.follows, 1);
    mcp_take_state(pair->a.mcp, "subscribed sayso://asks", ""); /* twice is once */
    stage_stream_init(&standing);
    mcp_stand(pair->a.mcp, &standing.mcp);
    assert_int_equal(standing.count, 1); /* what may have been missed */
    mcp_stand(pair->a.mcp, NULL);
    stage_take(&pair->b, &pair->on_b,
               "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/unsubscribe\",\"params\":{"
               "\"uri\":\"sayso://asks\"}}");
    mcp_stand(pair->a.mcp, &standing.mcp);
    assert_int_equal(standing.count, 1);
    mcp_stand(pair->a.mcp, NULL);
    call(pair, "7", "");
    assert_int_equal(pair->on_a.count, 1); /* "asked", which a was told to tell */
    stage_stream_release(&standing);
}

static void a_session_is_written_and_read(void **state)
{
    static const struct mcp_session sessions[] = {
        { REVISION_2025_11_25, 3, "a \"client\"\n\x01", "1.0" },
        { REVISION_2024_11_05, 0, NULL, NULL },
        { REVISION_2025_06_18, 1, "\u00e9\u4f60", "" },
    };
    struct pair *pair = *state;

    for (size_t i = 0; i < ARRAY_LEN(sessions); i++) {
        const struct mcp_session *given = &sessions[i];
        struct mcp_session read;
        struct text out = { 0 };
        struct json_writer writer = json_writer_to(&out);
        struct json *written = NULL;

        json_write_object(&writer, NULL);
        mcp_write_session(given, &writer);
        json_write_end_object(&writer);
        assert_true(json_parse(text_string(&out), out.used, &written, NULL));
        mcp_parse_session(written, &read);
        assert_int_equal(read.revision, given->revision);
        assert_int_equal(read.abilities, given->abilities);
        if (given->client_name)
            assert_string_equal(read.client_name, given->client_name);
        else
            assert_null(read.client_name);
        mcp_set_session(pair->a.mcp, &read);
        assert_int_equal(mcp_negotiated(pair->a.mcp), given->revision);
        json_free(written);
        text_release(&out);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_call_goes_on_under_its_id),
        CASE(whose_patience_is_over_is_told_pending),
        CASE(what_began_before_this_machine_holds_nobody_up),
        CASE(a_bad_state_is_refused_and_nothing_is_said),
        CASE(where_too_many_wait_it_is_told_so),
        CASE(batches_and_modern_calls_carry_nothing),
        CASE(a_form_is_returned_to_the_other),
        CASE(who_has_the_form_is_not_shown_it_again),
        CASE(a_cancellation_reaches_the_one_that_has_the_call),
        CASE(one_that_is_ours_is_not_noted),
        CASE(subscriptions_and_levels_are_shared),
        CASE(a_session_is_written_and_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
