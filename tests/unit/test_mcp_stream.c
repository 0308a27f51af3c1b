/*
 * test_mcp_stream.c - what is said about a message goes to the stream it came with: two calls at
 * the same time with the same id, clients that go and come back, answers that never arrived.
 *
 * Proves: R5.5 R5.7 R10.1 P8
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "mcp_fixture.h"

static const char id_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaa", id_b[] = "bbbbbbbbbbbbbbbbbbbbbbbbbb";

struct pair {
    struct stage stage;
    struct stage_stream one, two;
};

static int set_up(void **state)
{
    struct pair *pair = mem_new(sizeof *pair);

    stage_open(&pair->stage, NULL);
    stage_shake_hands(&pair->stage, "2025-11-25", "{}");
    stage_stream_init(&pair->one);
    stage_stream_init(&pair->two);
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;

    mcp_drop(pair->stage.mcp, &pair->one.mcp);
    mcp_drop(pair->stage.mcp, &pair->two.mcp);
    stage_stream_release(&pair->one);
    stage_stream_release(&pair->two);
    stage_close(&pair->stage);
    free(pair);
    return 0;
}

static void ask(struct pair *pair, struct stage_stream *stream, int id, const char *more)
{
    char *line = mem_format("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"provide_choice\",\"arguments\":%s%s}}",
                            id, stage_ask, more);

    stage_take(&pair->stage, stream, line);
    free(line);
}

static void demand_result(const struct stage_stream *stream, size_t index, const char *session_id)
{
    struct json *line = stage_line(stream, index);
    const struct json *result = json_member(json_member(line, "result"), "structuredContent");

    assert_int_equal(stream->kinds[index], MCP_RESPONSE);
    assert_string_equal(json_member_text(result, "session_id"), session_id);
    json_free(line);
}

static void each_stream_gets_its_own_with_the_same_id(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 7, "");
    ask(pair, &pair->two, 7, "");
    assert_int_equal(pair->one.waits, 1);
    stage_name(&pair->stage, 0, id_a);
    stage_name(&pair->stage, 1, id_b);
    stage_answer(&pair->stage, 1, true);
    assert_int_equal(pair->one.count, 0);
    demand_result(&pair->two, 0, id_b);
    assert_int_equal(pair->two.finished, 1);
    stage_answer(&pair->stage, 0, true);
    demand_result(&pair->one, 0, id_a);
    assert_int_equal(pair->one.finished, 1);
}

/* Neither before the first good one, which would start a hub, nor afterwards. */
static void a_bad_call_never_reaches_the_desk(void **state)
{
    static const char bad[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{"
                              "\"name\":\"provide_choice\",\"arguments\":{}}}";
    struct pair *pair = *state;

    for (size_t i = 0; i < 2; i++) {
        stage_take(&pair->stage, &pair->one, bad);
        assert_int_equal(pair->stage.submits, i);
        assert_non_null(strstr(pair->one.lines[i], "missing_property"));
        assert_non_null(strstr(pair->one.lines[i], "\"isError\":true"));
        ask(pair, &pair->two, 1, "");
    }
}

static void what_is_answered_at_once_does_not_wait(void **state)
{
    struct pair *pair = *state;

    stage_take(&pair->stage, &pair->one, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_int_equal(pair->one.count, 1);
    assert_int_equal(pair->one.statuses[0], 200);
    assert_int_equal(pair->one.waits, 0);
    assert_int_equal(pair->one.finished, 1);
    stage_take(&pair->stage, &pair->two,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    assert_int_equal(pair->two.count, 0);
    assert_int_equal(pair->two.finished, 1);
}

static void a_delivery_counts_when_its_stream_was_taken(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    ask(pair, &pair->two, 2, "");
    stage_name(&pair->stage, 0, id_a);
    stage_name(&pair->stage, 1, id_b);
    stage_answer(&pair->stage, 1, true);
    stage_answer(&pair->stage, 0, true);
    assert_int_equal(pair->stage.delivered, 0);
    mcp_confirm(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.delivered, 1);
    mcp_drop(pair->stage.mcp, &pair->two.mcp); /* lost: given back */
    assert_int_equal(pair->stage.delivered, 1);
    assert_string_equal(pair->stage.detached, id_b);
    assert_true(mcp_is_idle(pair->stage.mcp));
}

static void results_that_arrive_together_are_told_together(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    ask(pair, &pair->two, 2, "");
    stage_name(&pair->stage, 0, id_a);
    stage_name(&pair->stage, 1, id_b);
    stage_answer(&pair->stage, 1, true);
    stage_answer(&pair->stage, 0, true);
    mcp_confirm_soon(pair->stage.mcp, &pair->one.mcp);
    mcp_confirm_soon(pair->stage.mcp, &pair->two.mcp);
    mcp_drop(pair->stage.mcp, &pair->one.mcp); /* its end takes nothing back */
    assert_int_equal(pair->stage.delivered, 0);
    assert_string_equal(pair->stage.detached, "");
    assert_false(mcp_is_idle(pair->stage.mcp));
    mcp_tell_confirmed(pair->stage.mcp);
    assert_int_equal(pair->stage.delivered, 2);
    assert_int_equal(pair->stage.deliveries, 1);
    assert_true(mcp_is_idle(pair->stage.mcp));
    mcp_tell_confirmed(pair->stage.mcp);
    assert_int_equal(pair->stage.deliveries, 1);
}

static void a_stream_that_ends_detaches_its_calls(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    mcp_drop(pair->stage.mcp, &pair->one.mcp);
    assert_string_equal(pair->stage.detached, id_a);
    assert_int_equal(pair->one.count, 0);
    assert_true(mcp_is_idle(pair->stage.mcp));
}

static void a_call_dropped_before_it_had_a_name_is_detached_when_it_has(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    mcp_drop(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.detaches, 0);
    stage_name(&pair->stage, 0, id_a);
    stage_pass(&pair->stage, 1000);
    assert_string_equal(pair->stage.detached, id_a);
    assert_true(mcp_is_idle(pair->stage.mcp));
}

static void whoever_made_the_same_call_keeps_the_ask(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    ask(pair, &pair->two, 2, "");
    mcp_drop(pair->stage.mcp, &pair->one.mcp);
    stage_name(&pair->stage, 0, id_a);
    stage_name(&pair->stage, 1, id_a); /* joined before it had a name */
    stage_pass(&pair->stage, 1000);
    assert_int_equal(pair->stage.detaches, 0);
    stage_answer(&pair->stage, 1, true);
    demand_result(&pair->two, 0, id_a);
}

static void nobody_waits_at_the_desk_while_the_client_is_away(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    stage_pass(&pair->stage, 10000);
    mcp_pause(pair->stage.mcp, &pair->one.mcp);
    assert_string_equal(pair->stage.detached, id_a);
    assert_int_equal(pair->stage.act_count, 0);
    stage_pass(&pair->stage, 20000);
    assert_int_equal(pair->one.count, 0);
    mcp_resume(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.waits, 1);
    assert_int_equal(pair->stage.acts[0].wait_s, 20); /* of 50, 30 have passed */
    stage_answer(&pair->stage, 0, true);
    demand_result(&pair->one, 0, id_a);
}

static void who_is_back_before_the_desk_has_let_go_waits_on(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    pair->stage.is_slow = true;
    mcp_pause(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.detaches, 1);
    mcp_resume(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.waits, 0);
    stage_answer(&pair->stage, 0, false);
    assert_int_equal(pair->one.count, 0); /* its patience is not over */
    assert_int_equal(pair->stage.waits, 1);
    stage_answer(&pair->stage, 0, false);
    demand_result(&pair->one, 0, id_a); /* now it is, says the service */
}

static void an_answer_while_the_client_is_away_is_nobodys_yet(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    mcp_pause(pair->stage.mcp, &pair->one.mcp);
    stage_answer(&pair->stage, 0, true); /* so quick that it had no name before */
    assert_int_equal(pair->one.count, 1);
    assert_int_equal(pair->stage.detaches, 1);
    assert_int_equal(pair->stage.delivered, 0);
    mcp_confirm(pair->stage.mcp, &pair->one.mcp); /* it came back for it */
    assert_int_equal(pair->stage.delivered, 1);
}

static void an_answer_that_was_lost_may_be_had_by_coming_back(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    stage_answer(&pair->stage, 0, true);
    mcp_pause(pair->stage.mcp, &pair->one.mcp);
    assert_string_equal(pair->stage.detached, id_a); /* any call may take it now */
    mcp_resume(pair->stage.mcp, &pair->one.mcp);
    mcp_confirm(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.delivered, 1);
}

static void an_away_client_whose_patience_is_over_hears_pending_when_it_is_back(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    mcp_pause(pair->stage.mcp, &pair->one.mcp);
    stage_pass(&pair->stage, 120000);
    assert_int_equal(pair->one.count, 0);
    mcp_resume(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.acts[0].wait_s, 0);
    stage_answer(&pair->stage, 0, false);
    demand_result(&pair->one, 0, id_a);
}

static void a_cancelled_call_ends_its_stream_without_a_response(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 5, "");
    stage_name(&pair->stage, 0, id_a);
    stage_take(&pair->stage, &pair->two,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"5\"}}"); /* a text is not that number */
    assert_int_equal(pair->one.finished, 0);
    stage_take(&pair->stage, &pair->two,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":5}}");
    assert_int_equal(pair->one.count, 0);
    assert_int_equal(pair->one.finished, 1);
    assert_string_equal(pair->stage.detached, id_a);
}

static void a_stream_given_up_teaches_after_how_long(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    stage_pass(&pair->stage, 20000);
    mcp_give_up(pair->stage.mcp, &pair->one.mcp);
    assert_int_equal(pair->stage.cut_offs, 1);
    assert_int_equal(pair->stage.held_ms, 20000);
    assert_string_equal(pair->stage.detached, id_a);
    ask(pair, &pair->two, 2, "");
    mcp_drop(pair->stage.mcp, &pair->two.mcp); /* for another reason */
    assert_int_equal(pair->stage.cut_offs, 1);
}

static void what_the_desk_learnt_counts_for_open_calls_too(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    stage_pass(&pair->stage, 5000);
    stage_tell_hold(&pair->stage, 0, INT64_MAX); /* no earlier than its limit */
    stage_tell_hold(&pair->stage, 0, INT64_MIN);
    stage_pass(&pair->stage, 0);
    assert_int_equal(pair->one.count, 0);
    stage_tell_hold(&pair->stage, 0, 14000);
    stage_pass(&pair->stage, 10000);
    assert_int_equal(pair->one.count, 0);
    stage_pass(&pair->stage, 2000); /* the service hangs, and 16 s have passed */
    demand_result(&pair->one, 0, id_a);
    ask(pair, &pair->two, 2, "");
    assert_int_equal(pair->stage.acts[1].wait_s, 14);
}

static void progress_goes_where_its_call_came_from(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, ",\"_meta\":{\"progressToken\":0}");
    ask(pair, &pair->two, 2, "");
    stage_name(&pair->stage, 0, id_a);
    assert_int_equal(pair->one.count, 1); /* sent immediately: the id to collect the answer with */
    assert_non_null(strstr(pair->one.lines[0], id_a));
    stage_name(&pair->stage, 1, id_b);
    stage_pass(&pair->stage, 31000);
    assert_int_equal(pair->one.count, 4);
    assert_int_equal(pair->one.kinds[3], MCP_NOTIFICATION);
    assert_int_equal(pair->two.count, 0);
    stage_answer(&pair->stage, 0, true);
    stage_pass(&pair->stage, 30000);
    assert_int_equal(pair->one.count, 5);
}

static void a_desk_that_hangs_is_answered_for_and_then_ignored(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    stage_pass(&pair->stage, 53000);
    demand_result(&pair->one, 0, id_a);
    assert_int_equal(pair->one.finished, 1);
    stage_answer(&pair->stage, 0, true);
    assert_int_equal(pair->one.count, 1);
    assert_string_equal(pair->stage.detached, id_a); /* no client took it */
    assert_true(mcp_is_idle(pair->stage.mcp));
}

static void who_leaves_answers_every_call(void **state)
{
    struct pair *pair = *state;

    ask(pair, &pair->one, 1, "");
    stage_name(&pair->stage, 0, id_a);
    ask(pair, &pair->two, 2, "");
    mcp_dismiss(pair->stage.mcp);
    demand_result(&pair->one, 0, id_a);
    assert_int_equal(pair->one.finished, 1);
    assert_int_equal(pair->two.finished, 1);
    assert_non_null(strstr(pair->two.lines[0], "unavailable"));
}

static void a_batch_is_one_array_on_its_stream(void **state)
{
    struct pair *pair = *state;
    char *line = mem_format(
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":2,"
        "\"method\":\"tools/call\",\"params\":{\"name\":\"provide_choice\",\"arguments\":%s}}]",
        stage_ask);
    struct json *array;

    stage_shake_hands(&pair->stage, "2025-03-26", "{}");
    stage_take(&pair->stage, &pair->one, line);
    assert_int_equal(pair->one.count, 0);
    assert_int_equal(pair->one.waits, 1);
    stage_name(&pair->stage, 0, id_a);
    stage_answer(&pair->stage, 0, true);
    array = stage_line(&pair->one, 0);
    assert_int_equal(json_length(array), 2);
    assert_int_equal(pair->one.finished, 1);
    json_free(array);
    stage_take(&pair->stage, &pair->two, line);
    mcp_drop(pair->stage.mcp, &pair->two.mcp); /* half of it was there */
    assert_int_equal(pair->two.count, 0);
    stage_name(&pair->stage, 0, id_b);
    stage_pass(&pair->stage, 1000);
    assert_int_equal(pair->stage.act_count, 0);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(each_stream_gets_its_own_with_the_same_id),
        TEST(a_bad_call_never_reaches_the_desk),
        TEST(what_is_answered_at_once_does_not_wait),
        TEST(a_delivery_counts_when_its_stream_was_taken),
        TEST(results_that_arrive_together_are_told_together),
        TEST(a_stream_that_ends_detaches_its_calls),
        TEST(a_call_dropped_before_it_had_a_name_is_detached_when_it_has),
        TEST(whoever_made_the_same_call_keeps_the_ask),
        TEST(nobody_waits_at_the_desk_while_the_client_is_away),
        TEST(who_is_back_before_the_desk_has_let_go_waits_on),
        TEST(an_answer_while_the_client_is_away_is_nobodys_yet),
        TEST(an_answer_that_was_lost_may_be_had_by_coming_back),
        TEST(an_away_client_whose_patience_is_over_hears_pending_when_it_is_back),
        TEST(a_cancelled_call_ends_its_stream_without_a_response),
        TEST(a_stream_given_up_teaches_after_how_long),
        TEST(what_the_desk_learnt_counts_for_open_calls_too),
        TEST(progress_goes_where_its_call_came_from),
        TEST(a_desk_that_hangs_is_answered_for_and_then_ignored),
        TEST(who_leaves_answers_every_call),
        TEST(a_batch_is_one_array_on_its_stream),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
