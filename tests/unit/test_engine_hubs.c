/*
 * test_engine_hubs.c - one of two hubs on a database is gone: the other one reminds of its asks and
 * finds out that their agents are gone with it, and what both might do is done once.
 * Proves: R13.1 R5.5 R6.6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "own_time.h"

/* Time goes by for the database: all were there for long enough to judge, and the hub where the ask
 * came in was not heard of since. */
static void miss_here(const struct pair *pair)
{
    static const int64_t beat_ms = 3000; /* each looks for the others as often */

    chosen_run(pair->here->where, "UPDATE hubs SET since_ms = since_ms - 20000;"
                                  "UPDATE hubs SET seen_ms = seen_ms - 20000"
                                  " WHERE id = (SELECT hub FROM asks)");
    time_skip(beat_ms);
}

static bool is_detached_there(struct pair *pair, const struct scene *scene)
{
    pair_far_does(pair, METHOD_ask_get, scene, "");
    assert_worked(&pair->did);
    return call_is_yes(&pair->did, "/ask/detached");
}

static bool is_late(void *context)
{
    return loop_boot_ms() >= *(const int64_t *)context;
}

/* Time goes by for both, and this one does what is due. */
static void let_run(struct stage *stage, int64_t ms)
{
    enum { STEP_MS = 500, TRUE_MS = 30 };

    for (int64_t gone_ms = 0; gone_ms < ms; gone_ms += STEP_MS) {
        int64_t until_ms;

        time_skip(STEP_MS);
        until_ms = loop_boot_ms() + TRUE_MS;
        stage_wait(stage, is_late, &until_ms);
    }
}

static void test_who_waited_at_a_hub_that_is_gone_is_gone(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    assert_false(is_detached_there(pair, &scene));
    miss_here(pair);
    pair_wait_noted(pair->there, "agent_detached done", 1);
    assert_true(is_detached_there(pair, &scene));
    assert_true(*call_text(&pair->did, "/ask/detached_at") != '\0');
    assert_int_equal(chosen_number(pair->here->where, "SELECT version FROM asks"), 1);
    /* it was only asleep */
    pair_wait_noted(pair->here, "agent_reattached done", 1);
    pair_wait_noted(pair->there, "news of ask", 2);
    assert_false(is_detached_there(pair, &scene));
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_int_equal(stage_count(pair->there, "agent_detached done"), 1);
    scene_close(&scene);
}

/* The agent comes back at the other hub: before anybody has missed the first, and after that. */
static void test_who_comes_back_elsewhere_waits(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_agent("bot");
    struct call waits = { 0 }, again = { 0 };
    struct caller *agent;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    agent = caller_enter(pair->there, "again", &identity);
    call_start(&waits, agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    stage_settle(pair->there);
    miss_here(pair);
    pair_wait_noted(pair->there, "agent_reattached done", 1);
    assert_false(is_detached_there(pair, &scene));
    assert_int_equal(stage_count(pair->there, "agent_detached done"), 0);
    assert_int_equal(chosen_number(pair->here->where,
                                   "SELECT count(*) FROM asks k JOIN hubs h"
                                   " ON h.id = k.hub WHERE sayso_is_gone(k.hub)"),
                     0); /* it waits at this one now */
    caller_leave(agent);
    stage_settle(pair->there);
    assert_true(is_detached_there(pair, &scene));
    agent = caller_enter(pair->there, "again", &identity);
    call_start(&again, agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    stage_settle(pair->there);
    assert_false(is_detached_there(pair, &scene));
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    assert_true(again.is_final);
    call_release(&waits);
    call_release(&again);
    scene_close(&scene);
}

/* It is back before the other one has written that it is gone: the database decides. */
static void test_who_is_back_in_time_was_never_gone(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair->there->store.holds_writes = 1U << EVENT_AGENT_DETACHED;
    miss_here(pair);
    pair_wait_noted(pair->there, "news of abandoned", 1);
    let_run(pair->here, 4000);
    stage_release(pair->there);
    assert_true(stage_count(pair->there, "agent_detached lost") > 0);
    assert_int_equal(stage_count(pair->there, "agent_detached done"), 0);
    assert_false(is_detached_there(pair, &scene));
    scene_close(&scene);
}

/* The hub ends in good order: it says itself whose agents are gone with it. */
static void test_who_leaves_says_who_waited(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    engine_leave(pair->here->engine);
    stage_restart(pair->here);
    assert_int_equal(stage_count(pair->here, "agent_detached done"), 0);
    assert_int_equal(
        chosen_number(pair->here->where, "SELECT count(*) FROM events WHERE kind = 11"), 1);
    assert_int_equal(chosen_number(pair->here->where, "SELECT count(*) FROM asks k, events e"
                                                      " WHERE k.seq <> e.seq AND e.kind = 11"),
                     1); /* beside the chain of the ask */
    pair_wait_noted(pair->there, "news of ask", 2);
    assert_true(is_detached_there(pair, &scene));
    assert_true(*call_text(&pair->did, "/ask/detached_at") != '\0');
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    call_release(&scene.asked);
    call_release(&scene.did);
}

/* The agent of an ask that was made at the hub that leaves waits at the other one by now. */
static void test_who_waits_elsewhere_is_not_gone(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_agent("bot");
    struct call waits = { 0 };
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    call_start(&waits, caller_enter(pair->there, "again", &identity), METHOD_ask_wait,
               "{'session_id':'%s'}", scene.id);
    stage_settle(pair->there);
    engine_leave(pair->here->engine);
    stage_restart(pair->here);
    pair_wait_noted(pair->there, "agent_reattached done", 1);
    assert_false(is_detached_there(pair, &scene));
    call_release(&waits);
    call_release(&scene.asked);
    call_release(&scene.did);
}

/* The hub is gone without a word about those who waited; both who are left may say so. */
static void test_two_find_out_and_one_says_it(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair->here->store.fails_events = UINT32_MAX;
    stage_restart(pair->here);
    chosen_run(pair->here->where, "UPDATE asks SET flags = flags & ~1");
    assert_int_equal(chosen_number(pair->here->where, "SELECT count(*) FROM hubs"), 3);
    chosen_run(pair->here->where, "UPDATE hubs SET since_ms = since_ms - 20000");
    pair_wait_noted(pair->here, "news of abandoned", 1);
    pair_wait_noted(pair->there, "news of ask", 1);
    let_run(pair->there, 4000);
    assert_int_equal(stage_count(pair->here, "agent_detached done") +
                         stage_count(pair->there, "agent_detached done"),
                     1);
    let_run(pair->here, 4000); /* nothing is left of the one that is gone */
    assert_int_equal(chosen_number(pair->here->where, "SELECT count(*) FROM hubs"), 2);
    call_release(&scene.asked);
    call_release(&scene.did);
}

/* While the database was away all hubs were silent: none counts as gone for that. */
static void test_who_was_away_itself_misses_nobody(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    chosen_run(pair->here->where, "UPDATE hubs SET since_ms = since_ms - 20000,"
                                  " seen_ms = seen_ms - 20000");
    let_run(pair->there, 7000);
    let_run(pair->here, 4000);
    let_run(pair->there, 4000);
    assert_int_equal(stage_count(pair->there, "news of abandoned"), 0);
    assert_int_equal(stage_count(pair->here, "news of abandoned"), 0);
    scene_close(&scene);
}

/* Both hubs announce; a person wants to be reminded after a minute. */
static void begin_reminding(struct pair *pair)
{
    struct identity identity = visitor_person("cli");
    struct call did = { 0 };

    pair->here->announces = pair->there->announces = true;
    stage_restart(pair->here);
    stage_restart(pair->there);
    call_run(&did, caller_enter(pair->here, "near", &identity), METHOD_settings_set,
             "{'name':'remind_minutes','value':'1'}");
    assert_worked(&did);
    call_release(&did);
    pair_wait_noted(pair->there, "news of facts", 1);
    assert_int_equal(settings_integer(pair->there->settings, SETTING_REMIND_MINUTES), 1);
}

static int reminders(const struct pair *pair, const struct scene *scene)
{
    char note[80];
    struct call got = { 0 };
    int count;

    call_run(&got, pair->far, METHOD_ask_get, "{'session_id':'%s'}", scene->id);
    snprintf(note, sizeof note, "reminded of %s", call_text(&got, "/ask/title"));
    count = stage_count(pair->here, note) + stage_count(pair->there, note);
    call_release(&got);
    return count;
}

/* It stands still, as if it were killed; the one that is left does what it would have done. */
static void test_the_other_hub_reminds(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    begin_reminding(pair);
    scene_open(&scene, (void **)&pair->here, "web", "");
    chosen_run(pair->here->where, "UPDATE asks SET created_ms = created_ms - 58000");
    pair_enter_far(pair, "cli");
    stage_wait(pair->there, pair_has_ask, pair->there);
    let_run(pair->there, 4000);
    pair_wait_noted(pair->there, "mark done", 1);
    assert_int_equal(reminders(pair, &scene), 1);
    assert_int_equal(stage_count(pair->here, "mark done"), 0);
    scene_close(&scene);
}

/* Both are there at the moment, and neither made the ask. */
static void test_of_two_hubs_one_reminds(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    begin_reminding(pair);
    scene_open(&scene, (void **)&pair->here, "web", "");
    chosen_run(pair->here->where, "UPDATE asks SET created_ms = created_ms - 59000");
    stage_crash(pair->here);
    stage_restart(pair->there);
    pair_enter_far(pair, "cli");
    let_run(pair->here, 5000);
    let_run(pair->there, 5000);
    let_run(pair->here, 1000);
    assert_int_equal(reminders(pair, &scene), 1);
    assert_int_equal(stage_count(pair->here, "mark done") + stage_count(pair->there, "mark done"),
                     1);
    assert_int_equal(stage_count(pair->here, "mark lost") + stage_count(pair->there, "mark lost"),
                     1);
    call_release(&scene.asked);
    call_release(&scene.did);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR(test_who_waited_at_a_hub_that_is_gone_is_gone),
        PAIR(test_who_comes_back_elsewhere_waits),
        PAIR(test_who_is_back_in_time_was_never_gone),
        PAIR(test_who_leaves_says_who_waited),
        PAIR(test_who_waits_elsewhere_is_not_gone),
        PAIR(test_two_find_out_and_one_says_it),
        PAIR(test_who_was_away_itself_misses_nobody),
        PAIR(test_the_other_hub_reminds),
        PAIR(test_of_two_hubs_one_reminds),
    };

    setenv("SAYSO_TEST_STORE", "postgres", 1); /* no other store is shared */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
