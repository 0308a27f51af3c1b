/*
 * test_engine_delivered.c - answers that an agent has confirmed, and those that it has not: which
 * are known by heart, and that the store decides when they are not.
 * Proves: R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/state.h"

static void test_delivered(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED;
    call_run(&scene.did, scene.agent, scene.ops->delivered, "{'session_ids':['%s']}", scene.id);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    scene.stage->store.fails_events = 0;
    call_run(&scene.did, scene.agent, scene.ops->delivered,
             "{'session_ids':['%s','nonsense',7,'aaaaaaaaaaaaaaaaaaaaaaaaaa']}", scene.id);
    assert_worked(&scene.did);
    call_run(&scene.did, scene.agent, scene.ops->delivered, "{'session_ids':[]}");
    assert_worked(&scene.did);
    call_run(&scene.did, scene.agent, scene.ops->delivered, "{}");
    assert_worked(&scene.did);
    scene_close(&scene);
}

static bool is_replayed(struct caller *agent, const char *title)
{
    struct call asked = { .label = "again" };
    bool is_so;

    ask_start(&asked, agent, title, "", -1);
    stage_settle(agent->stage);
    is_so = asked.replies == 1 && call_is_yes(&asked, "/replayed");
    call_release(&asked);
    return is_so;
}

static void test_a_confirmation_that_is_not_saved_takes_nothing_away(void **state)
{
    struct scene scene;
    struct call asked = { .label = "first" };
    char id[ASK_ID_BYTES];

    scene_open(&scene, state, "cli", "");
    ask_open(&asked, scene.agent, "Confirmed too early", "", id);
    call_run(&scene.did, scene.person, scene.ops->answer,
             "{'session_id':'%s','selected_ids':['a']}", id);
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED;
    call_run(&scene.did, scene.agent, scene.ops->delivered, "{'session_ids':['%s']}", id);
    scene.stage->store.fails_events = 0;
    assert_true(is_replayed(scene.agent, "Confirmed too early"));
    call_release(&asked);
    scene_close(&scene);
}

/* More than are known by heart: then the store is asked each time. */
static void test_so_many_are_undelivered(void **state)
{
    struct scene scene;
    char title[32], id[ASK_ID_BYTES];

    stage_set(*state, "asks_per_minute", "100000");
    scene_open(&scene, state, "cli", "");
    for (int i = 0; i < UNDELIVERED_KEPT + 2; i++) {
        struct call asked = { .label = "many" };

        snprintf(title, sizeof title, "One of many %d", i);
        ask_open(&asked, scene.agent, title, "", id);
        call_run(&scene.did, scene.person, scene.ops->answer,
                 "{'session_id':'%s','selected_ids':['a']}", id);
        call_release(&asked);
    }
    assert_true(is_replayed(scene.agent, title));
    assert_true(is_replayed(scene.agent, "One of many 0"));
    assert_false(is_replayed(scene.agent, "None of them"));
    scene_close(&scene);
}

/* Somebody else's word that an answer arrived counts for nothing. */
static void test_only_its_own_agent_has_received_it(void **state)
{
    struct scene scene;
    struct desk_visitor bot = visitor_agent("bot"), other = visitor_agent("other bot");
    struct caller *thief, *again;
    struct call asked = { .label = "again" };
    char title[32];

    scene_open(&scene, state, "cli", "");
    scene_get(&scene, &scene.did);
    snprintf(title, sizeof title, "%s", call_text(&scene.did, "/ask/title"));
    caller_leave(scene.agent);
    scene_answer(&scene, "a");
    thief = caller_enter(scene.stage, "thief", &other);
    call_run(&scene.did, thief, scene.ops->delivered, "{'session_ids':['%s']}", scene.id);
    again = caller_enter(scene.stage, "again", &bot);
    ask_start(&asked, again, title, "", -1);
    stage_settle(scene.stage);
    assert_int_equal(asked.replies, 1);
    assert_true(call_is_yes(&asked, "/replayed"));
    call_release(&asked);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_delivered),
        CASE(test_a_confirmation_that_is_not_saved_takes_nothing_away),
        CASE(test_so_many_are_undelivered),
        CASE(test_only_its_own_agent_has_received_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
