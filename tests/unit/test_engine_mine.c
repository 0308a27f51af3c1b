/*
 * test_engine_mine.c - what an agent sees of its own asks: nothing of another's, nothing that can
 * still be taken back, nothing of what is being typed.
 * Proves: R5.2, R10.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <string.h>

#include "base/mem.h"

static struct caller *enter_agent(struct scene *scene, const char *name)
{
    struct identity identity = visitor_agent(name);

    return caller_enter(scene->stage, name, &identity);
}

static size_t count_listed(struct caller *agent, const char *which)
{
    struct call listed = { .label = "list" };
    size_t count;

    call_run(&listed, agent, METHOD_mine_list, "{'which':'%s'}", which);
    assert_worked(&listed);
    count = json_length(json_at(listed.json, "/asks"));
    call_release(&listed);
    return count;
}

static void demand_own(struct scene *scene, const char *status, bool has_result)
{
    struct call got = { .label = "get" };

    call_run(&got, scene->agent, METHOD_mine_get, "{'session_id':'%s'}", scene->id);
    assert_worked(&got);
    assert_string_equal(call_text(&got, "/session_id"), scene->id);
    assert_string_equal(call_text(&got, "/status"), status);
    assert_non_null(json_at(got.json, "/form"));
    assert_null(json_at(got.json, "/draft"));
    assert_int_equal(json_at(got.json, "/result") != NULL, has_result);
    call_release(&got);
}

static void test_what_can_be_taken_back_is_pending(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    demand_own(&scene, "pending", false);
    scene_do(&scene, METHOD_ask_draft, ",'draft':{'selected_ids':['a']}");
    demand_own(&scene, "pending", false);
    scene_answer(&scene, "b");
    demand_own(&scene, "pending", false);
    assert_int_equal(count_listed(scene.agent, "active"), 1);
    assert_int_equal(count_listed(scene.agent, "completed"), 0);
    assert_int_equal(count_listed(scene.agent, "all"), 1);
    stage_advance(scene.stage, 5000);
    demand_own(&scene, "submitted", true);
    assert_int_equal(count_listed(scene.agent, "active"), 0);
    assert_int_equal(count_listed(scene.agent, "completed"), 1);
    stage_restart(scene.stage);
    scene_close(&scene);
}

static void test_anothers_ask_is_like_none(void **state)
{
    struct scene scene;
    struct caller *other;
    struct call got = { .label = "get" };
    char message[sizeof got.err.message];

    scene_open(&scene, state, "cli", "");
    other = enter_agent(&scene, "somebody else");
    call_run(&got, other, METHOD_mine_get, "{'session_id':'aaaaaaaaaaaaaaaaaaaaaaaaaa'}");
    assert_failed(&got, ERROR_not_found, "/session_id");
    memcpy(message, got.err.message, sizeof message);
    call_run(&got, other, METHOD_mine_get, "{'session_id':'%s'}", scene.id);
    assert_failed(&got, ERROR_not_found, "/session_id");
    assert_string_equal(got.err.message, message);
    call_run(&got, scene.agent, METHOD_mine_get, "{'session_id':'%.5s'}", scene.id);
    assert_failed(&got, ERROR_bad_format, "/session_id");
    call_run(&got, scene.agent, METHOD_mine_list, "{'which':'mine'}");
    assert_failed(&got, ERROR_bad_enum, "/which");
    call_run(&got, scene.agent, METHOD_mine_list, "{'prefix':'*'}");
    assert_failed(&got, ERROR_bad_format, "/prefix");
    call_run(&got, scene.agent, METHOD_mine_list, "{'prefix':'%.3s'}", scene.id);
    assert_int_equal(json_length(json_at(got.json, "/asks")), 1);
    call_run(&got, other, METHOD_mine_list, "{'prefix':'%.3s'}", scene.id);
    assert_int_equal(json_length(json_at(got.json, "/asks")), 0);
    assert_int_equal(count_listed(other, "all"), 0);
    assert_int_equal(count_listed(scene.agent, "all"), 1);
    call_release(&got);
    scene_close(&scene);
}

static void test_followers_hear_of_their_own(void **state)
{
    struct scene scene;
    struct caller *other;
    struct call follow = { .label = "follow" }, others = { .label = "follow" };
    struct json *event;

    scene_open(&scene, state, "terminal", "");
    other = enter_agent(&scene, "somebody else");
    call_start(&follow, scene.agent, METHOD_mine_follow, "{}");
    call_start(&others, other, METHOD_mine_follow, "{}");
    stage_settle(scene.stage);
    assert_int_equal(caller_count(scene.agent, "mine/following"), 1);
    stage_advance(scene.stage, 290000); /* near the end, where typing holds it open */
    scene_do(&scene, METHOD_ask_draft, ",'draft':{'selected_ids':['a']}");
    assert_int_equal(caller_count(scene.agent, "ask/retimed"), 1);
    assert_int_equal(caller_count(scene.agent, "mine/changed"), 0);
    scene_do(&scene, METHOD_ask_extend, ",'seconds':600");
    assert_int_equal(caller_count(scene.agent, "mine/changed"), 1);
    scene_answer(&scene, "b");
    assert_int_equal(caller_count(scene.agent, "mine/changed"), 1);
    stage_advance(scene.stage, 5000);
    assert_int_equal(caller_count(scene.agent, "mine/changed"), 2);
    event = caller_event(scene.agent, "mine/changed");
    assert_true(json_is_true(json_at(event, "/params/over")));
    assert_string_equal(json_text(json_at(event, "/params/session_id")), scene.id);
    json_free(event);
    assert_int_equal(caller_count(other, "mine/changed"), 0);
    assert_int_equal(follow.replies, 0);
    call_release(&follow);
    call_release(&others);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_can_be_taken_back_is_pending),
        CASE(test_anothers_ask_is_like_none),
        CASE(test_followers_hear_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
