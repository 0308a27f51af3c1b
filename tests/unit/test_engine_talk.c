/*
 * test_engine_talk.c - the person asks back and the agent explains, while the ask stays open.
 * Proves: R2.2 R5.1 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/limits.h"

static void ask_back(struct scene *scene, const char *text)
{
    char more[200];

    snprintf(more, sizeof more, ",'text':'%s'", text);
    scene_do(scene, METHOD_ask_back, more);
}

static void collect(struct scene *scene, struct call *call, int wait_s, const char *more)
{
    call_start(call, scene->agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':%d%s}",
               scene->id, wait_s, more);
    stage_settle(scene->stage);
}

static void test_who_waits_is_told_and_explains(void **state)
{
    struct scene scene;
    struct call waits = { 0 }, got = { 0 };
    struct json *told;

    scene_open(&scene, state, "web", "");
    call_run(&scene.did, scene.person, METHOD_ask_watch, "{}");
    stage_advance(*state, 200000);
    ask_back(&scene, "what is in Alpha?");
    assert_worked(&scene.did);
    assert_int_equal(scene.asked.replies, 1);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "pending");
    assert_string_equal(call_text(&scene.asked, "/asked_back"), "what is in Alpha?");
    assert_non_null(strstr(call_text(&scene.asked, "/instructions"), "explanation"));
    assert_false(scene.asked.is_final);
    told = caller_event(scene.person, "ask/changed");
    assert_non_null(json_at(told, "/params/ask/asked_back"));
    assert_int_equal(json_member_integer(json_at(told, "/params/ask"), "remaining_seconds", 0),
                     300); /* the full time again */
    json_free(told);

    stage_advance(*state, 100000);
    collect(&scene, &waits, 30, ",'explanation':'Alpha has\\n\\u202edogs'");
    assert_int_equal(waits.replies, 0);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/talk/0/by"), "person");
    assert_string_equal(call_text(&got, "/talk/0/text"), "what is in Alpha?");
    assert_string_equal(call_text(&got, "/talk/1/by"), "agent");
    assert_string_equal(call_text(&got, "/talk/1/text"), "Alpha has\n\\u202edogs");
    assert_null(json_at(got.json, "/ask/asked_back"));
    assert_int_equal(call_number(&got, "/ask/remaining_seconds"), 300);

    scene_answer(&scene, "a");
    stage_advance(*state, 10000);
    assert_int_equal(waits.replies, 1);
    assert_string_equal(call_text(&waits, "/action_status"), "selected");
    assert_true(waits.is_final);
    call_release(&waits);
    call_release(&got);
    scene_close(&scene);
}

/* Who comes later is told as soon as it comes, once; then it waits as ever. */
static void test_who_comes_later_is_told_at_once(void **state)
{
    struct scene scene;
    struct call first = { 0 }, second = { 0 };

    scene_open(&scene, state, "web", "");
    call_run(&scene.did, scene.agent, METHOD_ask_detach, "{'session_id':'%s'}", scene.id);
    ask_back(&scene, "why?");
    collect(&scene, &first, 30, "");
    assert_int_equal(first.replies, 1);
    assert_string_equal(call_text(&first, "/asked_back"), "why?");
    collect(&scene, &second, 30, "");
    assert_int_equal(second.replies, 0);
    stage_advance(*state, 30000);
    assert_int_equal(second.replies, 1);
    assert_string_equal(call_text(&second, "/asked_back"), "why?");
    call_release(&first);
    call_release(&second);
    scene_close(&scene);
}

static void test_it_outlives_a_restart(void **state)
{
    struct scene scene;
    struct call waits = { 0 }, again = { 0 }, got = { 0 };
    struct identity agent = visitor_agent("bot"), person = visitor_person("web");

    scene_open(&scene, state, "web", "");
    ask_back(&scene, "why?");
    stage_crash(scene.stage);
    stage_restart(scene.stage);
    scene.agent = caller_enter(scene.stage, "agent", &agent);
    scene.person = caller_enter(scene.stage, "person", &person);
    collect(&scene, &waits, 30, "");
    assert_string_equal(call_text(&waits, "/asked_back"), "why?");
    call_release(&waits);
    collect(&scene, &waits, 30, ",'explanation':'because'");
    /* its reply was lost: said again it is not said twice */
    collect(&scene, &again, 30, ",'explanation':'because'");
    assert_int_equal(waits.replies + again.replies, 0);
    scene_get(&scene, &got);
    assert_int_equal(json_length(json_at(got.json, "/talk")), 2);
    scene_answer(&scene, "a");
    stage_advance(*state, 10000);
    assert_true(waits.is_final && again.is_final);
    call_release(&waits);
    call_release(&again);
    call_release(&got);
    scene_close(&scene);
}

static void test_what_is_refused(void **state)
{
    struct scene scene;
    struct call call = { 0 };
    struct identity other = visitor_agent("other");
    char longest[LIMIT_SAID_CHARS + 32];

    scene_open(&scene, state, "web", "");
    scene_do(&scene, METHOD_ask_back, "");
    assert_failed(&scene.did, ERROR_missing_property, "/text");
    scene_do(&scene, METHOD_ask_back, ",'text':7");
    assert_failed(&scene.did, ERROR_bad_type, "/text");
    scene_do(&scene, METHOD_ask_back, ",'text':' \\u200b '");
    assert_failed(&scene.did, ERROR_empty_text, "/text");
    snprintf(longest, sizeof longest, ",'text':'%0*d'", LIMIT_SAID_CHARS + 1, 0);
    scene_do(&scene, METHOD_ask_back, longest);
    assert_failed(&scene.did, ERROR_too_long, "/text");
    assert_int_equal(scene.asked.replies, 0); /* the agent was not disturbed */

    call_run(&call, scene.agent, METHOD_ask_wait, "{'session_id':'%s','explanation':'x'}",
             scene.id);
    assert_failed(&call, ERROR_wrong_state, "/explanation");
    ask_back(&scene, "why?");
    call_run(&call, caller_enter(scene.stage, "other", &other), METHOD_ask_wait,
             "{'session_id':'%s','explanation':'x'}", scene.id);
    assert_failed(&call, ERROR_not_found, "/session_id");
    scene_answer(&scene, "a");
    stage_advance(*state, 10000);
    ask_back(&scene, "too late?");
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    call_run(&call, scene.agent, METHOD_ask_wait, "{'session_id':'%s','explanation':'x'}",
             scene.id);
    assert_string_equal(call_text(&call, "/action_status"), "selected"); /* it is over */
    call_release(&call);
    scene_close(&scene);
}

/* Two devices ask back, two calls explain: nothing of it is lost, one explanation wins. */
static void test_two_at_once(void **state)
{
    struct scene scene;
    struct call second = { 0 }, one = { 0 }, two = { 0 }, got = { 0 };

    scene_open(&scene, state, "web", "");
    scene.stage->store.holds_writes = 1U << EVENT_ASKED_BACK;
    call_start(&scene.did, scene.person, METHOD_ask_back, "{'text':'first'}");
    stage_settle(scene.stage); /* both are on their way, in this order */
    call_start(&second, scene.person, METHOD_ask_back, "{'text':'second'}");
    stage_settle(scene.stage);
    stage_release(scene.stage);
    assert_worked(&scene.did);
    assert_worked(&second);
    scene.stage->store.holds_writes = 1U << EVENT_FORM_CHANGED;
    call_start(&one, scene.agent, METHOD_ask_wait, "{'session_id':'%s','explanation':'one'}",
               scene.id);
    stage_settle(scene.stage);
    call_start(&two, scene.agent, METHOD_ask_wait, "{'session_id':'%s','explanation':'two'}",
               scene.id);
    stage_settle(scene.stage);
    stage_release(scene.stage);
    assert_int_equal(one.replies, 0);
    assert_failed(&two, ERROR_wrong_state, "/explanation");
    scene_get(&scene, &got);
    assert_int_equal(json_length(json_at(got.json, "/talk")), 3);
    assert_string_equal(call_text(&got, "/talk/1/text"), "second");
    assert_string_equal(call_text(&got, "/talk/2/text"), "one");
    call_release(&second);
    call_release(&two);
    call_release(&got);
    scene_close(&scene);
    call_release(&one);
}

static void test_a_disk_that_fails(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "web", "");
    scene.stage->store.fails_events = 1U << EVENT_ASKED_BACK;
    ask_back(&scene, "why?");
    assert_failed(&scene.did, ERROR_storage_failed, "");
    assert_int_equal(scene.asked.replies, 0);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_who_waits_is_told_and_explains),
        CASE(test_who_comes_later_is_told_at_once),
        CASE(test_it_outlives_a_restart),
        CASE(test_what_is_refused),
        CASE(test_two_at_once),
        CASE(test_a_disk_that_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
