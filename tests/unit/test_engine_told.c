/*
 * test_engine_told.c - back from coffee: an ask timed out unseen. The person can tell
 * its agent something all the same, which is never its answer; hears how many there were since the
 * last session; and is offered more time after the second within a day.
 * Proves: R5.6, R5.7 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static struct caller *enter(struct stage *stage, const char *via)
{
    struct identity identity = strcmp(via, "bot") == 0 ? visitor_agent("bot") : visitor_person(via);

    return caller_enter(stage, via, &identity);
}

/* Asks, and lets the time run out; its agent has that result. */
static void time_out(struct stage *stage, const char *title, const char *more, char *ret_id)
{
    struct caller *agent = enter(stage, "bot");
    struct call asked = { 0 }, did = { 0 };

    ask_open(&asked, agent, title, more, ret_id);
    stage_advance(stage, 301000);
    assert_string_equal(call_text(&asked, "/action_status"), "timeout");
    call_run(&did, agent, METHOD_ask_delivered, "{'session_ids':['%s']}", ret_id);
    assert_worked(&did);
    caller_leave(agent);
    call_release(&asked);
    call_release(&did);
}

/* How many notices the next result of this connection has; it does not wait. */
static size_t count_notices(struct call *call, struct caller *agent, const char *title)
{
    ask_start(call, agent, title, "", 0);
    stage_settle(agent->stage);
    stage_advance(agent->stage, 1);
    assert_worked(call);
    return json_length(json_at(call->json, "/notices"));
}

static void confirm(struct caller *agent, const char *id, bool has_notices)
{
    struct call did = { 0 };

    call_run(&did, agent, METHOD_ask_delivered,
             has_notices ? "{'session_ids':['%s'],'with_notices':['%s']}"
                         : "{'session_ids':['%s']}",
             id, id);
    assert_worked(&did);
    call_release(&did);
}

static void test_what_is_told_comes_as_a_notice(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "web"), *agent;
    struct call did = { 0 }, call = { 0 };
    char id[ASK_ID_BYTES];

    time_out(stage, "Deploy", "", id);
    call_run(&did, person, METHOD_ask_tell,
             "{'session_id':'%s','selected_ids':['b'],'global_annotation':'was away'}", id);
    assert_worked(&did);
    assert_string_equal(call_text(&did, "/status"), "timeout");
    agent = enter(stage, "bot");
    assert_int_equal(count_notices(&call, agent, "One"), 1);
    assert_string_equal(call_text(&call, "/notices/0/session_id"), id);
    assert_string_equal(call_text(&call, "/notices/0/status"), "timeout");
    assert_string_equal(call_text(&call, "/notices/0/answered_at"), "");
    assert_string_equal(call_text(&call, "/notices/0/told_after_deadline/answer/global_annotation"),
                        "was away");
    assert_string_equal(call_text(&call, "/notices/0/told_after_deadline/answer/selected_ids/0"),
                        "b");
    assert_string_equal(call_text(&call, "/notices/0/told_after_deadline/said_by/via"), "web");
    assert_non_null(strstr(call_text(&call, "/notices/0/instructions"), "approves nothing"));
    assert_int_equal(count_notices(&call, agent, "Two"), 0); /* once a connection */
    call_release(&did);
    call_release(&call);
}

/* The ask itself stays as it ended, for people and for its agent. */
static void test_the_ask_stays_timed_out(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "web"), *agent;
    struct call did = { 0 }, got = { 0 };
    char id[ASK_ID_BYTES];

    time_out(stage, "Deploy", "", id);
    call_run(&did, person, METHOD_ask_tell, "{'session_id':'%s','selected_ids':['b']}", id);
    assert_worked(&did);
    call_run(&got, person, METHOD_ask_get, "{'session_id':'%s'}", id);
    assert_string_equal(call_text(&got, "/ask/status"), "timeout");
    assert_true(call_is_yes(&got, "/ask/told"));
    assert_int_equal(json_kind(json_at(got.json, "/answer")), KIND_NULL);
    assert_true(call_is_yes(&got, "/talk/0/after_deadline"));
    assert_string_equal(call_text(&got, "/talk/0/text"), "Beta");
    agent = enter(stage, "bot");
    call_run(&got, agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", id);
    assert_string_equal(call_text(&got, "/action_status"), "timeout");
    assert_string_equal(call_text(&got, "/selection/selected_ids/0"), "");
    assert_string_equal(call_text(&got, "/notices/0/session_id"), id);
    call_run(&did, person, METHOD_ask_tell, "{'session_id':'%s','selected_ids':['a']}", id);
    assert_failed(&did, ERROR_already_answered, "/session_id");
    call_release(&did);
    call_release(&got);
}

/* Until it was heard each connection is told; a result that shows no notices was none. */
static void test_it_is_told_until_it_is_heard(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "web"), *agent;
    struct call did = { 0 }, call = { 0 };
    char id[ASK_ID_BYTES], own[ASK_ID_BYTES];

    time_out(stage, "Deploy", "", id);
    call_run(&did, person, METHOD_ask_tell, "{'session_id':'%s','global_annotation':'no'}", id);
    assert_worked(&did);
    stage_crash(stage);
    agent = enter(stage, "bot");
    assert_int_equal(count_notices(&call, agent, "One"), 1);
    memcpy(own, call.session_id, sizeof own);
    confirm(agent, own, false);
    confirm(enter(stage, "bot"), own, true); /* another connection, which was told nothing */
    agent = enter(stage, "bot");
    assert_int_equal(count_notices(&call, agent, "Two"), 1);
    confirm(agent, call.session_id, true);
    stage_settle(stage);
    assert_int_equal(count_notices(&call, enter(stage, "bot"), "Three"), 0);
    call_run(&did, enter(stage, "web"), METHOD_ask_get, "{'session_id':'%s'}", id);
    assert_true(call_is_yes(&did, "/ask/heard"));
    call_release(&did);
    call_release(&call);
}

static void test_only_its_agent_hears_it(void **state)
{
    struct stage *stage = *state;
    struct identity other = visitor_agent("other bot");
    struct call did = { 0 }, call = { 0 };
    char id[ASK_ID_BYTES];

    time_out(stage, "Deploy", "", id);
    call_run(&did, enter(stage, "web"), METHOD_ask_tell,
             "{'session_id':'%s','global_annotation':'no'}", id);
    assert_worked(&did);
    assert_int_equal(count_notices(&call, caller_enter(stage, "other", &other), "One"), 0);
    call_release(&did);
    call_release(&call);
}

/* What was no answer in time is none now; what takes the code is not said without it. */
static void test_what_may_be_told(void **state)
{
    static const struct {
        const char *more, *given, *path;
        enum error_code code;
    } cases[] = {
        { "", "", "/global_annotation", ERROR_missing_property },
        { "", ",'global_annotation':'  '", "/global_annotation", ERROR_missing_property },
        { "", ",'global_annotation':3", "/global_annotation", ERROR_bad_type },
        { "", ",'selected_ids':['z']", "/selected_ids/0", ERROR_bad_enum },
        { ",'destructive':true", ",'selected_ids':['b']", "/session_id", ERROR_wrong_state },
        { ",'destructive':true", ",'global_annotation':'ask me again'", NULL, ERROR_NONE },
        { ",'allow_annotations':false", ",'global_annotation':'x'", NULL, ERROR_NONE },
    };
    struct stage *stage = *state;
    struct caller *person = enter(stage, "web");
    struct call did = { 0 };
    char id[ASK_ID_BYTES], title[16];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(title, sizeof title, "Case %zu", i);
        time_out(stage, title, cases[i].more, id);
        call_run(&did, person, METHOD_ask_tell, "{'session_id':'%s'%s}", id, cases[i].given);
        if (cases[i].path)
            assert_failed(&did, cases[i].code, cases[i].path);
        else
            assert_worked(&did);
    }
    call_release(&did);
}

static void test_only_what_timed_out_takes_it(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene_do(&scene, METHOD_ask_tell, ",'global_annotation':'x'");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    scene_answer(&scene, "b");
    scene_do(&scene, METHOD_ask_tell, ",'global_annotation':'x'");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    scene_close(&scene);
}

static int64_t count_unseen(struct stage *stage, struct call *call)
{
    call_run(call, enter(stage, "web"), METHOD_ask_unseen, "{}");
    assert_worked(call);
    return call_number(call, "/count");
}

static void test_those_nobody_looked_at_are_counted(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "web"), *agent = enter(stage, "bot");
    struct call did = { 0 }, asked = { 0 };
    char first[ASK_ID_BYTES], second[ASK_ID_BYTES], third[ASK_ID_BYTES];

    assert_int_equal(count_unseen(stage, &did), 0);
    time_out(stage, "First", "", first);
    ask_open(&asked, agent, "Looked at", "", second);
    call_run(&did, person, METHOD_ask_seen, "{'session_id':'%s'}", second);
    assert_worked(&did);
    stage_crash(stage); /* that it was looked at is kept */
    stage_advance(stage, 301000);
    assert_int_equal(count_unseen(stage, &did), 1);
    assert_string_equal(call_text(&did, "/asks/0/session_id"), first);
    time_out(stage, "Third", "", third);
    assert_int_equal(count_unseen(stage, &did), 2);
    call_run(&did, enter(stage, "web"), METHOD_ask_tell,
             "{'session_id':'%s','global_annotation':'x'}", third);
    assert_int_equal(count_unseen(stage, &did), 1); /* it is dealt with */
    stage_advance(stage, 1000);
    call_run(&did, enter(stage, "web"), METHOD_ask_seen, "{}");
    assert_worked(&did);
    stage_crash(stage);
    assert_int_equal(count_unseen(stage, &did), 0);
    stage_advance(stage, 1000);
    time_out(stage, "Fourth", "", first);
    assert_int_equal(count_unseen(stage, &did), 1);
    call_release(&did);
    call_release(&asked);
}

/* What was typed was looked at; a page that merely shows it was not, since a browser opens it. */
static void test_what_counts_as_looking(void **state)
{
    static const struct {
        const char *via, *params;
        enum method act;
        int64_t unseen;
    } cases[] = {
        { "web", "{'session_id':'%s'}", METHOD_ask_get, 1 },
        { "api", "{'session_id':'%s'}", METHOD_ask_get, 2 },
        { "web", "{'session_id':'%s','draft':{'selected_ids':['a']}}", METHOD_ask_draft, 2 },
        { "web", "{'session_id':'%s'}", METHOD_ask_seen, 2 },
    };
    struct stage *stage = *state;
    struct call did = { 0 }, asked = { 0 };
    char id[ASK_ID_BYTES], title[16];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(title, sizeof title, "Case %zu", i);
        ask_open(&asked, enter(stage, "bot"), title, "", id);
        call_start(&did, enter(stage, cases[i].via), cases[i].act, cases[i].params, id);
        stage_settle(stage);
        stage_advance(stage, 400000);
        assert_int_equal(count_unseen(stage, &did), cases[i].unseen);
    }
    call_release(&did);
    call_release(&asked);
}

/* Of asks that had the usual time: what the agent gave less would not last longer. */
static void test_more_time_is_offered_after_the_second_of_a_day(void **state)
{
    struct stage *stage = *state;
    struct call did = { 0 };
    char id[ASK_ID_BYTES];

    time_out(stage, "Short", ",'timeout_seconds':60", id);
    time_out(stage, "First", "", id);
    count_unseen(stage, &did);
    assert_int_equal(call_number(&did, "/longer_seconds"), -1);
    time_out(stage, "Second", "", id);
    count_unseen(stage, &did);
    assert_int_equal(call_number(&did, "/longer_seconds"), 1200);
    stage_set(stage, "timeout_seconds", "1200");
    count_unseen(stage, &did);
    assert_int_equal(call_number(&did, "/longer_seconds"), -1); /* both had less than that */
    stage_set(stage, "timeout_seconds", "300");
    stage_advance(stage, 86400000);
    count_unseen(stage, &did);
    assert_int_equal(call_number(&did, "/longer_seconds"), -1);
    call_release(&did);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_told_comes_as_a_notice),
        CASE(test_the_ask_stays_timed_out),
        CASE(test_it_is_told_until_it_is_heard),
        CASE(test_only_its_agent_hears_it),
        CASE(test_what_may_be_told),
        CASE(test_only_what_timed_out_takes_it),
        CASE(test_those_nobody_looked_at_are_counted),
        CASE(test_what_counts_as_looking),
        CASE(test_more_time_is_offered_after_the_second_of_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
