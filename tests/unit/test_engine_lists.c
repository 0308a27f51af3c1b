/*
 * test_engine_lists.c - what people see in lists, by state and by agent, page by page.
 * Proves: R9.1 R10.4
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void test_lists(void **state)
{
    static const struct {
        const char *params;
        int count; /* -1: refused */
    } cases[] = {
        { "{}", 3 },
        { "{'which':'all'}", 3 },
        { "{'which':'active'}", 2 },
        { "{'which':'completed'}", 1 },
        { "{'which':'submitted'}", 1 },
        { "{'which':'pending'}", 2 },
        { "{'which':'timeout'}", 0 },
        { "{'agent':'bot'}", 3 },
        { "{'agent':'bot','which':'active','limit':1}", 1 },
        { "{'agent':'bo'}", 0 },
        { "{'limit':1}", 1 },
        { "{'limit':0}", 1 },
        { "{'limit':99999}", 3 },
        { "{'before_ms':1700000001000}", 1 },
        { "{'which':'some'}", -1 },
        { "{'which':7}", -1 },
    };
    struct scene scenes[3];
    struct call *did = &scenes[0].did;

    for (int i = 0; i < 3; i++) {
        scene_open(&scenes[i], state, "cli", "");
        stage_advance(*state, 1000);
    }
    scene_answer(&scenes[1], "a");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(did, scenes[0].person, scenes[0].ops->list, "%s", cases[i].params);
        if (cases[i].count < 0)
            assert_failed(did, ERROR_bad_enum, "/which");
        else if ((int)json_length(json_at(did->json, "/asks")) != cases[i].count)
            fail_msg("%s", cases[i].params);
    }
    call_run(did, scenes[0].person, scenes[0].ops->list, "{}");
    assert_string_equal(call_text(did, "/asks/0/session_id"), scenes[2].id); /* newest first */
    assert_string_equal(call_text(did, "/asks/1/status"), "submitted");
    assert_string_equal(call_text(did, "/asks/1/answered_by/via"), "cli");
    assert_string_equal(call_text(did, "/asks/0/agent"), "bot");
    assert_string_equal(call_text(did, "/asks/0/origin/directory"), "/home/me/shop");
    assert_int_equal(call_number(did, "/asks/0/remaining_seconds"), 299);
    assert_true(call_number(did, "/seq") >= 4);
    for (int i = 0; i < 3; i++)
        scene_close(&scenes[i]);
}

/* Asks made in one millisecond, new ones while somebody turns the pages: each is seen once. */
static void test_pages(void **state)
{
    enum { ASKS = 7, LATER = 2 };
    struct scene scenes[ASKS + LATER];
    struct call *did = &scenes[0].did;
    char before[64] = "";
    int seen = 0, pages = 0;

    for (int i = 0; i < ASKS; i++)
        scene_open(&scenes[i], state, "cli", "");
    do {
        call_run(did, scenes[0].person, scenes[0].ops->list, "{'limit':3%s%s%s}",
                 before[0] ? ",'before':'" : "", before, before[0] ? "'" : "");
        assert_worked(did);
        for (size_t i = 0; i < json_length(json_at(did->json, "/asks")); i++) {
            char at[40];

            snprintf(at, sizeof at, "/asks/%zu/session_id", i);
            assert_string_equal(call_text(did, at), scenes[ASKS - 1 - seen++].id);
        }
        snprintf(before, sizeof before, "%s",
                 json_at(did->json, "/next") ? call_text(did, "/next") : "");
        if (pages < LATER)
            scene_open(&scenes[ASKS + pages], state, "cli", "");
        pages++;
    } while (before[0]);
    assert_int_equal(seen, ASKS);
    assert_int_equal(pages, 3);
    for (int i = 0; i < ASKS + LATER; i++)
        scene_close(&scenes[i]);
}

static void test_a_cursor_is_ours(void **state)
{
    static const char *const bad[] = { "''",      "'7'",
                                       "'7-'",    "'-7'",
                                       "'0-1'",   "'a-1'",
                                       "'1-2-3'", "'99999999999999999999999999-1'",
                                       "7",       "'1 -1'" };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        call_run(&scene.did, scene.person, scene.ops->list, "{'before':%s}", bad[i]);
        assert_failed(&scene.did, ERROR_bad_format, "/before");
    }
    scene_close(&scene);
}

/* Whoever watches is an inbox, until they leave, however often they said that they watch. */
static void test_a_watcher_counts_once(void **state)
{
    struct stage *stage = *state;
    const struct desk_ops *ops = stage->desk->ops;
    struct desk_visitor bot = visitor_agent("bot"), looking = visitor_person("terminal");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *one = caller_enter(stage, "one", &looking);
    struct caller *two = caller_enter(stage, "two", &looking);
    struct call asked = { .label = "ask" }, did = { .label = "watch" };

    stage_set(stage, "portal", "off");
    stage_set(stage, "terminal", "off");
    call_run(&did, one, ops->watch, "{}");
    call_run(&did, one, ops->watch, "{}");
    call_run(&did, two, ops->watch, "{}");
    caller_leave(one);
    ask_start(&asked, agent, "Seen", "", 0);
    stage_advance(stage, 1000);
    assert_worked(&asked);
    assert_true(caller_count(two, "ask/changed") > 0);
    caller_leave(two);
    ask_start(&asked, agent, "Unseen", "", 0);
    stage_settle(stage);
    assert_failed(&asked, ERROR_no_human_channel, "");
    call_release(&asked);
    call_release(&did);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_lists),
        CASE(test_pages),
        CASE(test_a_cursor_is_ours),
        CASE(test_a_watcher_counts_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
