/*
 * test_engine_delivered.c - answers that an agent has confirmed, and those that it has not: which
 * are known in memory, and that the store decides when they are not.
 * Proves: R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/state.h"

static void test_delivered(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED;
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    scene.stage->store.fails_events = 0;
    call_run(&scene.did, scene.agent, METHOD_ask_delivered,
             "{'session_ids':['%s','nonsense',7,'aaaaaaaaaaaaaaaaaaaaaaaaaa']}", scene.id);
    assert_worked(&scene.did);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':[]}");
    assert_worked(&scene.did);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{}");
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
    call_run(&scene.did, scene.person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['a']}", id);
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED;
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    scene.stage->store.fails_events = 0;
    assert_true(is_replayed(scene.agent, "Confirmed too early"));
    call_release(&asked);
    scene_close(&scene);
}

/* Said again and again while the first is on its way to the disk: none is acknowledged before it is
 * there, and it is written once, so that no other write waits for it. */
static void test_a_confirmation_said_twice(void **state)
{
    struct identity other = visitor_agent("other bot");
    struct scene scene;
    struct caller *stranger;
    struct call again[64] = { 0 }, strange = { .label = "strange" };
    int changes;

    scene_open(&scene, state, "cli", "");
    stranger = caller_enter(scene.stage, "stranger", &other);
    scene_answer(&scene, "a");
    scene.stage->store.holds_writes = 1U << EVENT_DELIVERED;
    changes = scene.stage->store.writes[WRITE_change];
    call_start(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    for (size_t i = 0; i < ARRAY_LEN(again); i++)
        call_start(&again[i], scene.agent, METHOD_ask_delivered, "{'session_ids':['%s','%s']}",
                   scene.id, scene.id);
    call_start(&strange, stranger, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    stage_settle(scene.stage);
    assert_worked(&strange); /* what is not its own is no news */
    for (size_t i = 0; i < ARRAY_LEN(again); i++)
        assert_int_equal(again[i].replies, 0);
    assert_int_equal(scene.did.replies, 0);
    stage_release(scene.stage);
    assert_worked(&scene.did);
    for (size_t i = 0; i < ARRAY_LEN(again); i++) {
        assert_worked(&again[i]);
        call_release(&again[i]);
    }
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes + 1);
    call_release(&strange);
    scene_close(&scene);
}

/* If that one fails, those who said it again are told so, too. */
static void test_a_confirmation_said_twice_fails(void **state)
{
    struct scene scene;
    struct call again = { .label = "again" };

    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED;
    call_start(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    call_start(&again, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    stage_settle(scene.stage);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    assert_failed(&again, ERROR_storage_failed, "");
    call_release(&again);
    scene_close(&scene);
}

/* More than are known in memory: then the store is asked each time. */
static void test_so_many_are_undelivered(void **state)
{
    struct identity bot = visitor_agent("bot");
    struct scene scene;
    char title[32], id[ASK_ID_BYTES];

    stage_set(*state, "asks_per_minute", "100000");
    scene_open(&scene, state, "cli", "");
    for (int i = 0; i < UNDELIVERED_KEPT + 2; i++) {
        struct call asked = { .label = "many" };

        snprintf(title, sizeof title, "One of many %d", i);
        ask_open(&asked, scene.agent, title, "", id);
        call_run(&scene.did, scene.person, METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['a']}", id);
        call_release(&asked);
    }
    caller_leave(scene.agent); /* with all that it was given and did not confirm */
    scene.agent = caller_enter(scene.stage, "again", &bot);
    assert_true(is_replayed(scene.agent, title));
    assert_true(is_replayed(scene.agent, "One of many 0"));
    assert_false(is_replayed(scene.agent, "None of them"));
    scene_close(&scene);
}

/* Another agent's word that an answer arrived counts for nothing. */
static void test_only_its_own_agent_has_received_it(void **state)
{
    struct scene scene;
    struct identity bot = visitor_agent("bot"), other = visitor_agent("other bot");
    struct caller *thief, *again;
    struct call asked = { .label = "again" };
    char title[32];

    scene_open(&scene, state, "cli", "");
    scene_get(&scene, &scene.did);
    snprintf(title, sizeof title, "%s", call_text(&scene.did, "/ask/title"));
    caller_leave(scene.agent);
    scene_answer(&scene, "a");
    thief = caller_enter(scene.stage, "thief", &other);
    call_run(&scene.did, thief, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    again = caller_enter(scene.stage, "again", &bot);
    ask_start(&asked, again, title, "", -1);
    stage_settle(scene.stage);
    assert_int_equal(asked.replies, 1);
    assert_true(call_is_yes(&asked, "/replayed"));
    call_release(&asked);
    scene_close(&scene);
}

/* Ids that no ask has, as JSON. */
static char *unknown_ids(size_t count)
{
    struct text ids = { 0 };

    for (size_t i = 0; i < count; i++)
        text_add_format(&ids, "%s'aaaaaaaaaaaaaaaaaaaaaa%c%c%c%c'", i ? "," : "",
                        (int)('a' + i / 17576 % 26), (int)('a' + i / 676 % 26),
                        (int)('a' + i / 26 % 26), (int)('a' + i % 26));
    return text_take(&ids);
}

static void test_one_call_confirms_so_many(void **state)
{
    struct scene scene;
    char *max = unknown_ids(LIMIT_DELIVERED), *more = unknown_ids(LIMIT_DELIVERED + 1);

    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':[%s]}", max);
    assert_worked(&scene.did);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':[%s]}", more);
    assert_failed(&scene.did, ERROR_out_of_range, "/session_ids");
    assert_non_null(strstr(scene.did.err.message, "session_ids holds at most 256 ids"));
    free(max);
    free(more);
    scene_close(&scene);
}

/* What this agent was never given costs the store nothing; its own results reach it. */
static void test_only_what_was_handed_reaches_the_store(void **state)
{
    struct scene scene;
    char *ids = unknown_ids(LIMIT_DELIVERED - 1);
    int changes;

    scene_open(&scene, state, "cli", "");
    if (scene.stage->is_shared)
        skip(); /* another hub may have handed it over: see the next test */
    changes = scene.stage->store.writes[WRITE_change];
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':[%s]}", ids);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes);
    scene_answer(&scene, "a");
    changes = scene.stage->store.writes[WRITE_change];
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':[%s,'%s']}", ids,
             scene.id);
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes + 1);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes + 1);
    free(ids);
    scene_close(&scene);
}

enum { ANSWER, CANCEL, DECLINE, WITHDRAW, TIME_OUT, SUBMIT_DEFAULTS, ENDINGS };

/* The agent waits, and gets this ending. */
static void end_so(struct scene *scene, int ending)
{
    if (ending == ANSWER)
        scene_answer(scene, "a");
    else if (ending == CANCEL)
        scene_do(scene, METHOD_ask_cancel, "");
    else if (ending == DECLINE)
        scene_do(scene, METHOD_ask_decline, "");
    else if (ending == WITHDRAW)
        call_run(&scene->did, scene->agent, METHOD_ask_withdraw, "{'session_id':'%s'}", scene->id);
    else
        stage_advance(scene->stage, 100000);
    stage_settle(scene->stage);
    assert_true(scene->asked.is_final);
}

/* Whichever way an ask ended and on whichever connection its agent confirms, that is stored, and
 * once. */
static void test_every_ending_is_confirmed(void **state)
{
    struct identity bot = visitor_agent("bot"), other = visitor_agent("other bot");

    for (int i = 0; i < 2 * ENDINGS; i++) {
        struct caller *thief;
        struct scene scene;
        int changes;

        stage_set(*state, "timeout_action", i / 2 == SUBMIT_DEFAULTS ? "submit_defaults" : "none");
        scene_open(&scene, state, "cli", ",'timeout_seconds':60,'default_selection_ids':['a']");
        end_so(&scene, i / 2);
        if (i % 2) {
            caller_leave(scene.agent);
            scene.agent = caller_enter(scene.stage, "again", &bot);
        }
        thief = caller_enter(scene.stage, "thief", &other);
        changes = scene.stage->store.writes[WRITE_change];
        call_run(&scene.did, thief, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
        assert_int_equal(scene.stage->store.writes[WRITE_change], changes);
        for (int time = 0; time < 2; time++) {
            call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}",
                     scene.id);
            assert_worked(&scene.did);
            if (scene.stage->store.writes[WRITE_change] != changes + 1)
                fail_msg("ending %d, connection %d: %d", i / 2, i % 2,
                         scene.stage->store.writes[WRITE_change] - changes);
        }
        caller_leave(thief);
        scene_close(&scene);
    }
}

/* Withdrawn, handed over, and its agent has left. */
static void return_one(struct scene *scene, const char *title, char id[ASK_ID_BYTES])
{
    struct identity bot = visitor_agent("bot");
    struct call asked = { .label = "returned" };

    ask_open(&asked, scene->agent, title, "", id);
    call_run(&scene->did, scene->agent, METHOD_ask_withdraw, "{'session_id':'%s'}", id);
    assert_true(asked.is_final);
    call_release(&asked);
    caller_leave(scene->agent);
    scene->agent = caller_enter(scene->stage, "again", &bot);
}

static int changes_by_confirming(struct scene *scene, const char *id)
{
    int changes = scene->stage->store.writes[WRITE_change];

    call_run(&scene->did, scene->agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    assert_worked(&scene->did);
    return scene->stage->store.writes[WRITE_change] - changes;
}

/* The newest ones that were returned are remembered, each once however often it was collected. */
static void test_so_many_are_returned(void **state)
{
    struct identity bot = visitor_agent("bot");
    char title[32], first[ASK_ID_BYTES], second[ASK_ID_BYTES], id[ASK_ID_BYTES];
    struct scene scene;

    stage_set(*state, "asks_per_minute", "100000");
    scene_open(&scene, state, "cli", "");
    return_one(&scene, "The first", first);
    return_one(&scene, "The second", second);
    for (int i = 0; i < IN_FLIGHT_RETURNED; i++) {
        call_run(&scene.did, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", second);
        caller_leave(scene.agent);
        scene.agent = caller_enter(scene.stage, "again", &bot);
    }
    assert_int_equal(changes_by_confirming(&scene, first), 1);
    for (int i = 0; i < IN_FLIGHT_RETURNED; i++) {
        snprintf(title, sizeof title, "Returned %d", i);
        return_one(&scene, title, id);
    }
    assert_int_equal(changes_by_confirming(&scene, second), 0);
    assert_int_equal(changes_by_confirming(&scene, id), 1);
    scene_close(&scene);
}

/* Where memory does not know them all the store says whose they are, one call at a time. */
static void test_unknown_ones_take_turns(void **state)
{
    struct scene scene;
    struct call calls[2] = { { .label = "1" }, { .label = "2" } };
    char *ids = unknown_ids(LIMIT_DELIVERED);
    char id[ASK_ID_BYTES];
    struct call asked = { .label = "first" };
    int changes;

    scene_open(&scene, state, "cli", "");
    ask_open(&asked, scene.agent, "Confirmed in its turn", "", id);
    call_run(&scene.did, scene.person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['a']}", id);
    scene.stage->store.fails_events = 1U << EVENT_DELIVERED; /* now it has forgotten which */
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    scene.stage->store.fails_events = 0;
    scene.stage->store.holds_writes = 1U << EVENT_DELIVERED;
    changes = scene.stage->store.writes[WRITE_change];
    for (size_t i = 0; i < 2; i++)
        call_start(&calls[i], scene.agent, METHOD_ask_delivered, "{'session_ids':[%s]}", ids);
    call_start(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", id);
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes + 1);
    assert_int_equal(calls[0].replies + calls[1].replies + scene.did.replies, 0);
    assert_false(is_replayed(scene.agent, "Confirmed in its turn"));
    stage_release(scene.stage);
    /* the second said the same */
    assert_int_equal(scene.stage->store.writes[WRITE_change], changes + 2);
    assert_int_equal(calls[0].replies + calls[1].replies + scene.did.replies, 3);
    assert_false(is_replayed(scene.agent, "Confirmed in its turn"));
    for (size_t i = 0; i < 2; i++)
        call_release(&calls[i]);
    call_release(&asked);
    free(ids);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_delivered),
        CASE(test_a_confirmation_that_is_not_saved_takes_nothing_away),
        CASE(test_a_confirmation_said_twice),
        CASE(test_a_confirmation_said_twice_fails),
        CASE(test_so_many_are_undelivered),
        CASE(test_only_its_own_agent_has_received_it),
        CASE(test_one_call_confirms_so_many),
        CASE(test_only_what_was_handed_reaches_the_store),
        CASE(test_every_ending_is_confirmed),
        CASE(test_so_many_are_returned),
        CASE(test_unknown_ones_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
