/*
 * test_engine_late.c - answers that came when no call waited: announced to their principal's next
 * calls, and given to one call at a time.
 * Proves: R5.5, R5.7, P8 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/ask.h"

static struct caller *enter_agent(struct stage *stage, const char *name)
{
    struct identity agent = visitor_agent(name);

    return caller_enter(stage, name, &agent);
}

/* Asks, goes, and is answered; the id in *out. */
static void leave_answer(struct stage *stage, const char *agent_name, const char *title,
                         const char *via, char out[ASK_ID_BYTES])
{
    struct identity person = visitor_person(via);
    struct caller *agent = enter_agent(stage, agent_name);
    struct caller *answering = caller_enter(stage, "person", &person);
    struct call asked = { 0 }, did = { 0 };

    ask_open(&asked, agent, title, "", out);
    caller_leave(agent);
    call_run(&did, answering, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}", out);
    assert_worked(&did);
    caller_leave(answering);
    call_release(&asked);
    call_release(&did);
}

/* How many notices a call gets that asks something and does not wait. */
static size_t count_notices(struct call *call, struct caller *agent, const char *title)
{
    ask_start(call, agent, title, "", 0);
    stage_settle(agent->stage);
    stage_advance(agent->stage, 1);
    assert_worked(call);
    assert_string_equal(call_text(call, "/action_status"), "pending");
    return json_length(json_at(call->json, "/notices"));
}

static void collect(struct caller *agent, const char *id)
{
    struct call call = { 0 };

    call_run(&call, agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", id);
    assert_worked(&call);
    assert_string_equal(call_text(&call, "/selection/selected_ids/0"), "b");
    call_run(&call, agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    assert_worked(&call);
    call_release(&call);
}

static void test_a_late_answer_is_announced_until_it_is_collected(void **state)
{
    struct stage *stage = *state;
    struct caller *first, *second, *other;
    struct call call = { 0 };
    char id[ASK_ID_BYTES];

    first = enter_agent(stage, "bot");
    assert_int_equal(count_notices(&call, first, "Nothing yet"), 0);
    leave_answer(stage, "bot", "Deploy", "cli", id);
    other = enter_agent(stage, "other bot");
    assert_int_equal(count_notices(&call, other, "Somebody else"), 0);
    assert_int_equal(count_notices(&call, first, "One"), 1);
    assert_string_equal(call_text(&call, "/notices/0/session_id"), id);
    assert_string_equal(call_text(&call, "/notices/0/title"), "Deploy");
    assert_string_equal(call_text(&call, "/notices/0/status"), "submitted");
    assert_int_equal(count_notices(&call, first, "Two"), 0); /* once a connection */
    second = enter_agent(stage, "bot");
    assert_int_equal(count_notices(&call, second, "Three"), 1);
    collect(second, id);
    assert_int_equal(count_notices(&call, enter_agent(stage, "bot"), "Four"), 0);
    call_release(&call);
}

/* The hub stops in good order or crashes: late answers are in the store. */
static void test_a_late_answer_is_announced_after_a_restart(void **state)
{
    struct stage *stage = *state;
    struct call call = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Deploy", "cli", id);
    stage_restart(stage);
    assert_int_equal(count_notices(&call, enter_agent(stage, "bot"), "One"), 1);
    stage_crash(stage);
    assert_int_equal(count_notices(&call, enter_agent(stage, "bot"), "Two"), 1);
    assert_string_equal(call_text(&call, "/notices/0/session_id"), id);
    call_release(&call);
}

/* An answer that can still be undone is not announced; nor one that a call waits for. */
static void test_only_what_is_the_agents_is_announced(void **state)
{
    struct stage *stage = *state;
    struct caller *agent = enter_agent(stage, "bot");
    struct scene scene;
    struct call call = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Deploy", "terminal", id);
    assert_int_equal(count_notices(&call, agent, "Within its window"), 0);
    stage_advance(stage, 5000);
    assert_int_equal(count_notices(&call, agent, "After it"), 1);
    collect(agent, id);
    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "b"); /* handed to the agent that waited, and not confirmed yet */
    assert_worked(&scene.asked);
    assert_int_equal(count_notices(&call, agent, "On its way"), 0);
    assert_int_equal(count_notices(&call, enter_agent(stage, "bot"), "On its way too"), 0);
    caller_leave(scene.agent); /* it never arrived */
    assert_int_equal(count_notices(&call, agent, "Dropped"), 1);
    assert_string_equal(call_text(&call, "/notices/0/session_id"), scene.id);
    call_release(&call);
    scene_close(&scene);
}

/* A result that the client threw away announced nothing. */
static void test_a_cancelled_call_was_told_nothing(void **state)
{
    struct stage *stage = *state;
    struct caller *agent = enter_agent(stage, "bot");
    struct call call = { 0 }, did = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Deploy", "cli", id);
    assert_int_equal(count_notices(&call, agent, "One"), 1);
    call_run(&did, agent, METHOD_ask_detach, "{'session_id':'%s'}", call.session_id);
    assert_int_equal(count_notices(&call, agent, "Two"), 1);
    assert_int_equal(count_notices(&call, agent, "Three"), 0);
    call_release(&call);
    call_release(&did);
}

static void test_many_late_answers_come_in_parts(void **state)
{
    struct stage *stage = *state;
    struct caller *agent;
    struct call call = { 0 };
    char id[ASK_ID_BYTES], title[32];

    for (int i = 0; i < NOTICES_MAX + 3; i++) {
        snprintf(title, sizeof title, "Ask %d", i);
        leave_answer(stage, "bot", title, "cli", id);
        stage_advance(stage, 1000);
    }
    agent = enter_agent(stage, "bot");
    assert_int_equal(count_notices(&call, agent, "One"), NOTICES_MAX);
    assert_int_equal(call_number(&call, "/notices_more"), 3);
    assert_string_equal(call_text(&call, "/notices/0/session_id"), id); /* the newest first */
    assert_int_equal(count_notices(&call, agent, "Two"), 3);
    assert_string_equal(call_text(&call, "/notices/2/title"), "Ask 0");
    assert_int_equal(call_number(&call, "/notices_more"), -1);
    assert_int_equal(count_notices(&call, agent, "Three"), 0);
    call_release(&call);
}

static void test_a_hostile_title_is_shown_not_obeyed(void **state)
{
    struct stage *stage = *state;
    struct call call = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Pay \xe2\x80\xae 001", "cli", id);
    assert_int_equal(count_notices(&call, enter_agent(stage, "bot"), "One"), 1);
    assert_null(strstr(call_text(&call, "/notices/0/title"), "\xe2\x80\xae"));
    assert_non_null(strstr(call_text(&call, "/notices/0/title"), "Pay"));
    call_release(&call);
}

static void replay(struct call *call, struct caller *agent, const char *title)
{
    caller_forget(agent);
    ask_start(call, agent, title, "", 0);
    stage_settle(agent->stage);
    stage_advance(agent->stage, 1);
    assert_worked(call);
}

/* Until it is confirmed or dropped it is given to one call: another one, also of the same
 * connection, asks again. */
static void test_an_answer_is_in_one_pair_of_hands(void **state)
{
    struct stage *stage = *state;
    struct caller *first, *second;
    struct call call = { 0 }, did = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Deploy", "cli", id);
    first = enter_agent(stage, "bot");
    second = enter_agent(stage, "bot");
    replay(&call, first, "Deploy");
    assert_true(call.is_final && call_is_yes(&call, "/replayed"));
    assert_string_equal(call.session_id, id);
    for (size_t i = 0; i < 2; i++) {
        replay(&call, i == 0 ? first : second, "Deploy");
        assert_false(call.is_final);
        assert_string_not_equal(call.session_id, id);
        call_run(&did, second, METHOD_ask_withdraw, "{'session_id':'%s'}", call.session_id);
        assert_worked(&did);
    }
    caller_leave(first); /* dies with it: the answer is the next one's */
    replay(&call, second, "Deploy");
    assert_string_equal(call.session_id, id);
    call_run(&did, second, METHOD_ask_detach, "{'session_id':'%s'}", id);
    replay(&call, enter_agent(stage, "bot"), "Deploy"); /* given back by one that lives on */
    assert_string_equal(call.session_id, id);
    call_release(&call);
    call_release(&did);
}

/* An answer given to one principal can't be confirmed by another. */
static void test_only_its_principal_confirms_an_answer(void **state)
{
    struct stage *stage = *state;
    struct caller *first = enter_agent(stage, "bot"), *thief = enter_agent(stage, "other bot");
    struct call call = { 0 }, did = { 0 };
    char id[ASK_ID_BYTES];

    leave_answer(stage, "bot", "Deploy", "cli", id);
    replay(&call, first, "Deploy");
    call_run(&did, thief, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    call_run(&did, thief, METHOD_ask_detach, "{'session_id':'%s'}", id);
    replay(&call, enter_agent(stage, "bot"), "Deploy");
    assert_string_not_equal(call.session_id, id);
    call_release(&call);
    call_release(&did);
}

/* Who collects learns the time left, and a list never shows an open ask without one. */
static void test_time_left_is_always_told(void **state)
{
    struct scene scene;
    struct caller *second;
    struct call waited = { 0 }, got = { 0 };
    struct json *told;

    scene_open(&scene, state, "cli", "");
    second = enter_agent(scene.stage, "bot");
    stage_advance(scene.stage, 100000);
    call_start(&waited, second, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':30}", scene.id);
    stage_settle(scene.stage);
    told = caller_event(second, "ask/retimed");
    assert_non_null(told);
    assert_string_equal(json_text(json_at(told, "/params/session_id")), scene.id);
    assert_int_equal(json_member_integer(json_at(told, "/params"), "remaining_ms", -1), 200000);
    json_free(told);
    scene.stage->store.holds_writes = 1U << EVENT_EXPIRED;
    stage_advance(scene.stage, 200000);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/ask/status"), "pending");
    assert_int_equal(call_number(&got, "/ask/remaining_seconds"), 0);
    stage_release(scene.stage);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/ask/status"), "timeout");
    assert_int_equal(call_number(&got, "/ask/remaining_seconds"), -1);
    call_release(&waited);
    call_release(&got);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_late_answer_is_announced_until_it_is_collected),
        CASE(test_a_late_answer_is_announced_after_a_restart),
        CASE(test_only_what_is_the_agents_is_announced),
        CASE(test_a_cancelled_call_was_told_nothing),
        CASE(test_many_late_answers_come_in_parts),
        CASE(test_a_hostile_title_is_shown_not_obeyed),
        CASE(test_an_answer_is_in_one_pair_of_hands),
        CASE(test_only_its_principal_confirms_an_answer),
        CASE(test_time_left_is_always_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
