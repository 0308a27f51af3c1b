/*
 * test_engine_time.c - deadlines: never early, at most a second late, the same after a restart, a
 * suspend and a clock that was set; more time, held time, defaults at the end; retention.
 * Proves: R5.4, R5.6, R9.1, P5, P6, P7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const int64_t DAY_MS = 86400000;

static void test_at_the_deadline_and_not_before(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    stage_advance(scene.stage, 9999);
    assert_int_equal(scene.asked.replies, 0);
    scene_assert(&scene, "pending", 1);
    stage_advance(scene.stage, 1);
    assert_worked(&scene.asked);
    assert_true(scene.asked.is_final);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    assert_false(call_is_yes(&scene.asked, "/explicit"));
    assert_null(json_at(scene.asked.json, "/selection/selected_ids/0"));
    scene_assert(&scene, "timeout", 2);
    scene_close(&scene);
    scene_open(&scene, state, "cli", ""); /* 300 s by default */
    stage_advance(scene.stage, 299999);
    assert_int_equal(scene.asked.replies, 0);
    stage_advance(scene.stage, 1);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_close(&scene);
}

/* An end that could not be stored did not happen; it is tried again. */
static void test_an_expiry_that_fails_is_tried_again(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    scene.stage->store.fails_events = 1U << EVENT_EXPIRED;
    stage_advance(scene.stage, 12000);
    assert_int_equal(scene.asked.replies, 0);
    scene_assert(&scene, "pending", 1);
    scene.stage->store.fails_events = 0;
    stage_advance(scene.stage, 3000);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_close(&scene);
}

#define DEFAULT_A ",'default_selection_ids':['a']"
static const struct {
    const char *name, *setting, *more;
    bool reads_fail, is_auto;
} default_cases[] = {
    { "nobody's setting", "none", DEFAULT_A, false, false },
    { "the person's setting", "submit_defaults", DEFAULT_A, false, true },
    { "no defaults", "submit_defaults", "", false, false },
    { "destructive", "submit_defaults", DEFAULT_A ",'destructive':true", false, false },
    { "the form can't be read", "submit_defaults", DEFAULT_A, true, false },
};

static void test_defaults_at_the_deadline(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(default_cases); i++) {
        struct scene scene;
        char more[128];

        stage_set(*state, "timeout_action", default_cases[i].setting);
        snprintf(more, sizeof more, "%s,'timeout_seconds':5", default_cases[i].more);
        scene_open(&scene, state, "cli", more);
        scene.stage->store.fails_reads = default_cases[i].reads_fail;
        stage_advance(scene.stage, 4999);
        assert_int_equal(scene.asked.replies, 0);
        stage_advance(scene.stage, 1);
        scene.stage->store.fails_reads = false;
        if (default_cases[i].reads_fail) /* told as it can be read again */
            call_run(&scene.asked, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
        assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
        assert_false(call_is_yes(&scene.asked, "/explicit"));
        if (call_is_yes(&scene.asked, "/auto_submitted") != default_cases[i].is_auto)
            fail_msg("%s", default_cases[i].name);
        assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"),
                            default_cases[i].is_auto ? "a" : "");
        scene_close(&scene);
    }
}

static int64_t remaining_s(struct scene *scene)
{
    struct call got = { .label = "get" };
    int64_t left;

    scene_get(scene, &got);
    left = call_number(&got, "/ask/remaining_seconds");
    call_release(&got);
    return left;
}

static void test_the_person_sets_the_time_left(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    stage_advance(scene.stage, 9000);
    scene_do(&scene, METHOD_ask_extend, ",'seconds':60");
    assert_worked(&scene.did);
    assert_int_equal(call_number(&scene.did, "/remaining_ms"), 60000);
    assert_int_equal(call_number(&scene.did, "/version"), 2);
    stage_advance(scene.stage, 59999);
    assert_int_equal(scene.asked.replies, 0);
    scene_do(&scene, METHOD_ask_extend, ",'seconds':2592000");
    assert_worked(&scene.did);
    stage_advance(scene.stage, 2592000000 - 1);
    assert_int_equal(scene.asked.replies, 0);
    scene_do(&scene, METHOD_ask_extend, ",'seconds':1"); /* less is fine too */
    stage_advance(scene.stage, 999);
    assert_int_equal(scene.asked.replies, 0);
    stage_advance(scene.stage, 1);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_do(&scene, METHOD_ask_extend, ",'seconds':60");
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_close(&scene);
}

static void test_bad_times_and_interfaces(void **state)
{
    static const char *const seconds[] = { "",
                                           ",'seconds':0",
                                           ",'seconds':-1",
                                           ",'seconds':2592001",
                                           ",'seconds':1.5",
                                           ",'seconds':'60'" };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        scene_do(&scene, METHOD_ask_extend, seconds[i]);
        assert_failed(&scene.did, ERROR_out_of_range, "/seconds");
    }
    scene_do(&scene, METHOD_ask_switch, "");
    assert_failed(&scene.did, ERROR_bad_enum, "/interface");
    scene_do(&scene, METHOD_ask_switch, ",'interface':'pigeon'");
    assert_failed(&scene.did, ERROR_bad_enum, "/interface");
    scene_assert(&scene, "pending", 1);
    scene_do(&scene, METHOD_ask_switch, ",'interface':'web'");
    assert_worked(&scene.did);
    assert_int_equal(remaining_s(&scene), 300); /* same ask, same deadline */
    scene_assert(&scene, "pending", 1);
    scene_close(&scene);
}

/* More time is on its way to the disk when a person asks back or types: it is not taken away. */
static void test_an_extension_is_not_overtaken(void **state)
{
    for (int is_draft = 0; is_draft < 2; is_draft++) {
        struct scene scene;
        struct call other = { .label = "other" };
        struct identity looking = visitor_person("cli");

        scene_open(&scene, state, "cli", ",'timeout_seconds':10");
        call_start(&scene.did, scene.person, METHOD_ask_extend,
                   "{'session_id':'%s','seconds':6000}", scene.id);
        call_start(&other, scene.person, is_draft ? METHOD_ask_draft : METHOD_ask_back,
                   "{'session_id':'%s','draft':{},'text':'Why?'}", scene.id);
        stage_settle(scene.stage);
        assert_worked(&scene.did);
        assert_worked(&other);
        assert_int_equal(remaining_s(&scene), 6000);
        stage_restart(scene.stage);
        scene.person = caller_enter(scene.stage, "person", &looking);
        assert_int_equal(remaining_s(&scene), 6000);
        call_release(&other);
        scene_close(&scene);
    }
}

/* More time is on its way to the disk when the old deadline comes: it has not expired. */
static void test_an_extension_races_the_deadline(void **state)
{
    for (int is_committed = 0; is_committed < 2; is_committed++) {
        struct scene scene;
        struct stage_store *store;

        scene_open(&scene, state, "cli", ",'timeout_seconds':10");
        store = &scene.stage->store;
        stage_advance(scene.stage, 9990);
        store->holds_replies = is_committed;
        store->holds_writes = is_committed ? 0 : 1U << EVENT_EXTENDED | 1U << EVENT_EXPIRED;
        call_start(&scene.did, scene.person, METHOD_ask_extend, "{'session_id':'%s','seconds':60}",
                   scene.id);
        stage_settle(scene.stage);
        scene.stage->clock.boot_ms += 20;
        scene.stage->clock.utc_ms += 20;
        engine_on_time(scene.stage->engine);
        stage_settle(scene.stage);
        stage_release(scene.stage);
        assert_worked(&scene.did);
        stage_advance(scene.stage, 59900);
        assert_int_equal(scene.asked.replies, 0);
        scene_assert(&scene, "pending", 2);
        stage_advance(scene.stage, 1100);
        assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
        scene_close(&scene);
    }
}

/* The same with a change that raises the version and leaves the deadline alone. */
static void test_a_switch_races_the_deadline(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    stage->terminal_built = true;
    stage_restart(stage);
    scene_open_handed(&scene, state, ",'timeout_seconds':10");
    scene_assert(&scene, "pending_terminal_launch", 1);
    stage_advance(stage, 9990);
    stage->store.holds_writes = 1U << EVENT_INTERFACE_SWITCHED | 1U << EVENT_EXPIRED;
    call_start(&scene.did, scene.person, METHOD_ask_switch, "{'session_id':'%s','interface':'web'}",
               scene.id);
    stage->clock.boot_ms += 20;
    stage->clock.utc_ms += 20;
    engine_on_time(stage->engine);
    stage_settle(stage);
    stage_release(stage);
    assert_worked(&scene.did);
    stage_advance(stage, 1000);
    scene_assert(&scene, "timeout", 3);
    scene_close(&scene);
}

static void test_an_answer_races_the_deadline(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    stage_advance(scene.stage, 9999);
    scene.stage->store.holds_replies = true;
    call_start(&scene.did, scene.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['b']}", scene.id);
    scene.stage->clock.boot_ms += 1;
    engine_on_time(scene.stage->engine);
    stage_settle(scene.stage);
    stage_release(scene.stage);
    assert_worked(&scene.did);
    assert_int_equal(scene.asked.replies, 1);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    scene_assert(&scene, "submitted", 2);
    scene_close(&scene);
}

/* A person who opens the lid again still has five seconds. */
static void test_grace_after_a_suspend(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    stage_sleep(scene.stage, 3600000);
    assert_int_equal(scene.asked.replies, 0);
    stage_advance(scene.stage, 4999);
    assert_int_equal(scene.asked.replies, 0);
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "selected");
    scene_close(&scene);
    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    stage_sleep(scene.stage, 3600000);
    stage_advance(scene.stage, 4999);
    assert_int_equal(scene.asked.replies, 0);
    stage_advance(scene.stage, 1);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_close(&scene);
}

/* A wake-up that is a little late is no suspend. */
static void test_no_grace_for_a_busy_moment(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    stage_advance(scene.stage, 59000);
    stage_sleep(scene.stage, 1900);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_close(&scene);
}

/* Down for a while: the deadline is where it was, clamped to what was given. */
static const struct {
    const char *name;
    int64_t down_ms, utc_step_ms;
    int64_t left_s; /* 0: over */
} recovery_cases[] = {
    { "at once", 0, 0, 250 },
    { "after a while", 100000, 0, 150 },
    { "after the deadline", 400000, 0, 0 },
    { "the clock went back a year", 1000, -31536000000, 300 },
    { "the clock went on a year", 1000, 31536000000, 0 },
};

static void test_recovery(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(recovery_cases); i++) {
        struct scene scene;
        struct identity looking = visitor_person("cli");

        scene_open(&scene, state, "cli", "");
        stage_advance(scene.stage, 50000);
        scene.stage->clock.wake_ms = -1;
        stage_settle(scene.stage);
        scene.stage->store.fails_events = UINT32_MAX; /* killed: nothing is written any more */
        caller_leave(scene.agent);
        stage_settle(scene.stage);
        scene.stage->clock.boot_ms += recovery_cases[i].down_ms;
        scene.stage->clock.utc_ms += recovery_cases[i].down_ms + recovery_cases[i].utc_step_ms;
        stage_restart(scene.stage);
        scene.person = caller_enter(scene.stage, "person", &looking);
        stage_advance(scene.stage, 0);
        if (recovery_cases[i].left_s == 0)
            scene_assert(&scene, "timeout", 2);
        else if (remaining_s(&scene) != recovery_cases[i].left_s)
            fail_msg("%s: %lld", recovery_cases[i].name, (long long)remaining_s(&scene));
        stage_advance(scene.stage, 300000);
        scene_assert(&scene, "timeout", 2);
        scene_close(&scene);
    }
}

/* The store makes room between the end of an ask and the look at it: who waited since a restart,
 * when only the store knows the form, is told all the same how it ended. */
static void test_an_ask_removed_as_it_ends(void **state)
{
    struct identity again = visitor_agent("bot");
    struct call waited = { 0 };
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    stage_restart(scene.stage);
    scene.agent = caller_enter(scene.stage, "agent", &again);
    call_start(&waited, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':-1}",
               scene.id);
    stage_settle(scene.stage);
    scene.stage->store.misses_reads = true;
    stage_advance(scene.stage, 11000);
    assert_worked(&waited);
    assert_string_equal(call_text(&waited, "/action_status"), "timeout");
    assert_string_equal(call_text(&waited, "/session_id"), scene.id);
    scene.stage->store.misses_reads = false;
    call_release(&waited);
    scene_close(&scene);
}

/* The wall clock is set, by an hour or by ten years: neither what runs nor what a restart
 * finds may move. */
static void test_the_wall_clock_is_set(void **state)
{
    static const int64_t steps[] = { 3600000, -3600000, 315360000000, -315360000000, 499 };

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct scene before, after;
        struct identity looking = visitor_person("cli");
        int shifts;

        scene_open(&before, state, "cli", "");
        stage_advance(before.stage, 10000);
        shifts = before.stage->store.writes[WRITE_shift];
        before.stage->clock.utc_ms += steps[i];
        scene_open(&after, state, "cli", ""); /* asked before anybody looked at the clock */
        stage_advance(before.stage, 10000);
        engine_check_clock(before.stage->engine);
        stage_settle(before.stage);
        assert_int_equal(before.stage->store.writes[WRITE_shift] - shifts, steps[i] != 499);
        assert_int_equal(remaining_s(&before), 280);
        assert_int_equal(remaining_s(&after), 290);
        if (!chosen_is_postgres()) { /* there it is the database's clock that deadlines go by */
            stage_crash(before.stage);
            before.person = after.person = caller_enter(before.stage, "person", &looking);
            assert_in_range(remaining_s(&before), 280, 281);
            assert_in_range(remaining_s(&after), 290, 290);
        }
        stage_advance(before.stage, 300000);
        scene_assert(&before, "timeout", 2);
        scene_close(&before);
        scene_close(&after);
    }
}

static void test_a_failed_shift_is_no_disaster(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene.stage->store.fails_shifts = true;
    scene.stage->clock.utc_ms += 3600000;
    engine_check_clock(scene.stage->engine);
    stage_settle(scene.stage);
    assert_int_equal(remaining_s(&scene), 300);
    scene_close(&scene);
}

static void type(struct scene *scene)
{
    scene_do(scene, METHOD_ask_draft, ",'draft':{'custom_input':'hm'}");
    assert_worked(&scene->did);
}

static void test_typing_holds_the_deadline(void **state)
{
    struct scene scene;
    struct call got = { .label = "get" };
    struct identity looking = visitor_person("cli");

    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    stage_advance(scene.stage, 20000);
    type(&scene);
    assert_int_equal(remaining_s(&scene), 40); /* far enough away */
    stage_advance(scene.stage, 30000);
    type(&scene);
    assert_int_equal(remaining_s(&scene), 30);
    scene_get(&scene, &got);
    assert_int_equal(call_number(&got, "/ask/held_seconds"), 20);
    assert_int_equal(call_number(&got, "/ask/version"), 1);
    stage_crash(scene.stage);
    scene.person = caller_enter(scene.stage, "person", &looking);
    assert_int_equal(remaining_s(&scene), 30);
    stage_advance(scene.stage, 29999);
    scene_assert(&scene, "pending", 1);
    stage_advance(scene.stage, 1);
    scene_assert(&scene, "timeout", 2);
    call_release(&got);
    scene_close(&scene);
}

/* At most ten minutes in all, however long a person types. */
static void test_typing_does_not_hold_for_ever(void **state)
{
    struct scene scene;
    int64_t typed_s = 0;

    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    while (scene.asked.replies == 0 && typed_s < 3600) {
        type(&scene);
        stage_advance(scene.stage, 1000);
        typed_s++;
    }
    assert_int_equal(typed_s, 660);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_close(&scene);
    stage_set(*state, "typing_hold", "off");
    scene_open(&scene, state, "cli", ",'timeout_seconds':60");
    stage_advance(scene.stage, 50000);
    type(&scene);
    assert_int_equal(remaining_s(&scene), 10);
    scene_close(&scene);
}

/* How many asks the list has. */
static size_t kept(struct stage *stage)
{
    struct identity looking = visitor_person("cli");
    struct caller *person = caller_enter(stage, "person", &looking);
    struct call listed = { .label = "list" };
    size_t count;

    call_run(&listed, person, METHOD_ask_list, "{'limit':10000}");
    count = json_length(json_at(listed.json, "/asks"));
    caller_leave(person);
    call_release(&listed);
    return count;
}

static void ask_and_answer(void **state, bool delivers)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    if (delivers)
        call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    scene_close(&scene);
}

static void test_retention_by_age(void **state)
{
    struct stage *stage = *state;
    struct scene open;

    stage_set(stage, "retention_days", "2");
    ask_and_answer(state, true);
    ask_and_answer(state, false);
    scene_open(&open, state, "cli", ",'timeout_seconds':2592000");
    stage_advance(stage, DAY_MS);
    ask_and_answer(state, true);
    assert_int_equal(kept(stage), 4);
    stage_advance(stage, DAY_MS + 3600000); /* an hourly look is enough */
    assert_int_equal(kept(stage), 2);
    stage_advance(stage, 10 * DAY_MS);
    assert_int_equal(kept(stage), 1);
    scene_assert(&open, "pending", 1);
    scene_close(&open);
}

static void test_retention_by_count(void **state)
{
    struct stage *stage = *state;
    struct scene open;

    stage_set(stage, "max_sessions", "2");
    scene_open(&open, state, "cli", "");
    ask_and_answer(state, false); /* not collected yet: not dropped by count */
    for (int i = 0; i < 5; i++) {
        ask_and_answer(state, true);
        stage_advance(stage, 2000);
    }
    assert_int_equal(kept(stage), 3);
    scene_assert(&open, "pending", 1);
    stage->store.fails_sweeps = true;
    ask_and_answer(state, true);
    stage_advance(stage, 2000);
    assert_int_equal(kept(stage), 4);
    stage->store.fails_sweeps = false;
    stage_advance(stage, 3600000); /* a sweep that failed comes again */
    assert_in_range(kept(stage), 2, 3);
    scene_close(&open);
}

/* More than one batch is to go: they follow each other without waiting for the next hour. */
static void test_retention_of_many(void **state)
{
    struct stage *stage = *state;

    stage_set(stage, "max_sessions", "10");
    stage_set(stage, "asks_per_minute", "100000");
    stage->store.fails_sweeps = true;
    for (int i = 0; i < 450; i++)
        ask_and_answer(state, true);
    stage_advance(stage, 2000);
    stage->store.fails_sweeps = false;
    assert_int_equal(kept(stage), 450);
    stage_advance(stage, 3600000);
    assert_int_equal(kept(stage), 10);
}

static void test_idleness(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    stage_advance(stage, 2000);
    assert_true(engine_is_idle(stage->engine));
    scene_open(&scene, state, "terminal", "");
    caller_leave(scene.agent);
    stage_settle(stage);
    scene_answer(&scene, "a");
    caller_leave(scene.person);
    stage_settle(stage);
    assert_int_equal(engine_open_count(stage->engine), 0);
    assert_false(engine_is_idle(stage->engine)); /* it can still be taken back */
    stage_advance(stage, 5000);
    assert_true(engine_is_idle(stage->engine));
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_at_the_deadline_and_not_before),
        CASE(test_an_expiry_that_fails_is_tried_again),
        CASE(test_defaults_at_the_deadline),
        CASE(test_the_person_sets_the_time_left),
        CASE(test_bad_times_and_interfaces),
        CASE(test_an_extension_races_the_deadline),
        CASE(test_an_extension_is_not_overtaken),
        CASE(test_a_switch_races_the_deadline),
        CASE(test_an_ask_removed_as_it_ends),
        CASE(test_an_answer_races_the_deadline),
        CASE(test_grace_after_a_suspend),
        CASE(test_no_grace_for_a_busy_moment),
        CASE(test_recovery),
        CASE(test_the_wall_clock_is_set),
        CASE(test_a_failed_shift_is_no_disaster),
        CASE(test_typing_holds_the_deadline),
        CASE(test_typing_does_not_hold_for_ever),
        CASE(test_retention_by_age),
        CASE(test_retention_by_count),
        CASE(test_retention_of_many),
        CASE(test_idleness),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
