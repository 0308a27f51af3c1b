/*
 * test_engine_announce.c - a person is told of an ask, and once more when it has waited for long:
 * once each, even if the hub restarts in between.
 * Proves: R6.6 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_clients.h"

#include <string.h>

enum { MINUTE_MS = 60000 };

static void begin(struct stage *stage, const char *remind_minutes)
{
    stage_set(stage, "remind_minutes", remind_minutes);
    stage->announces = true;
    stage_restart(stage);
}

static struct caller *enter_agent(struct stage *stage)
{
    struct identity agent = visitor_agent("bot");

    return caller_enter(stage, "agent", &agent);
}

static void test_one_that_waits_is_told_of_twice(void **state)
{
    struct stage *stage = *state;
    struct call asked = { 0 };
    char id[ASK_ID_BYTES];

    begin(stage, "2");
    ask_open(&asked, enter_agent(stage), "Deploy", ",'timeout_seconds':3600", id);
    assert_int_equal(stage_count(stage, "told of Deploy"), 1);
    stage_advance(stage, 2 * MINUTE_MS - 1000);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 0);
    stage_advance(stage, 2000);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 1);
    stage_advance(stage, 20 * MINUTE_MS);
    stage_restart(stage);
    stage_advance(stage, 20 * MINUTE_MS);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 1);
    assert_int_equal(stage_count(stage, "told of Deploy"), 1);
    call_release(&asked);
}

static void test_one_that_is_answered_is_not(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    begin(stage, "1");
    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    stage_advance(stage, 2 * MINUTE_MS);
    assert_int_equal(stage_count(stage, "mark done"), 0);
    scene_close(&scene);
}

/* The hub is gone before the moment; so are all of them at the moment itself. */
static void test_the_next_hub_reminds(void **state)
{
    static const int64_t away_ms[] = { 0, 3 * MINUTE_MS };
    struct stage *stage = *state;

    begin(stage, "2");
    for (size_t i = 0; i < sizeof away_ms / sizeof *away_ms; i++) {
        struct call asked = { 0 };
        char id[ASK_ID_BYTES], title[16], note[40];

        snprintf(title, sizeof title, "Deploy %zu", i);
        snprintf(note, sizeof note, "reminded of %s", title);
        ask_open(&asked, enter_agent(stage), title, ",'timeout_seconds':3600", id);
        stage_advance(stage, MINUTE_MS);
        stage->clock.boot_ms += away_ms[i];
        stage->clock.utc_ms += away_ms[i];
        stage_crash(stage);
        stage_advance(stage, 2 * MINUTE_MS);
        assert_int_equal(stage_count(stage, note), 1);
        call_release(&asked);
    }
}

/* A person doesn't want to hear at a start what happened an hour ago. */
static void test_what_was_missed_for_long_is_old(void **state)
{
    struct stage *stage = *state;
    struct call asked = { 0 };
    char id[ASK_ID_BYTES];

    begin(stage, "2");
    ask_open(&asked, enter_agent(stage), "Deploy", ",'timeout_seconds':86400", id);
    stage->clock.boot_ms += 60 * MINUTE_MS;
    stage->clock.utc_ms += 60 * MINUTE_MS;
    stage_crash(stage);
    stage_advance(stage, 10 * MINUTE_MS);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 0);
    call_release(&asked);
}

static void test_what_a_client_shows_is_told_of_after_15_seconds(void **state)
{
    struct stage *stage = *state;
    struct call asked = { 0 };

    begin(stage, "0");
    ask(&asked, enter_client(stage, "1"), "Deploy", "", LEGACY);
    stage_advance(stage, 14000);
    assert_int_equal(stage_count(stage, "told of Deploy"), 0);
    stage_advance(stage, 2000);
    assert_int_equal(stage_count(stage, "told of Deploy"), 1);
    stage_crash(stage);
    stage_advance(stage, MINUTE_MS);
    assert_int_equal(stage_count(stage, "told of Deploy"), 1);
    ask(&asked, enter_client(stage, "2"), "Again", "", LEGACY);
    stage_advance(stage, 5000);
    stage_crash(stage); /* with the client */
    stage_advance(stage, 15000);
    assert_int_equal(stage_count(stage, "told of Again"), 1);
    call_release(&asked);
}

static void test_a_mark_that_can_not_be_kept_is_tried_again(void **state)
{
    struct stage *stage = *state;
    struct call asked = { 0 };
    char id[ASK_ID_BYTES];

    begin(stage, "1");
    ask_open(&asked, enter_agent(stage), "Deploy", ",'timeout_seconds':3600", id);
    stage->store.fails_marks = true;
    stage_advance(stage, MINUTE_MS + 12000);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 0);
    assert_int_equal(stage_count(stage, "mark failed"), 3);
    stage->store.fails_marks = false;
    stage_advance(stage, 10000);
    assert_int_equal(stage_count(stage, "reminded of Deploy"), 1);
    call_release(&asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_one_that_waits_is_told_of_twice),
        CASE(test_one_that_is_answered_is_not),
        CASE(test_the_next_hub_reminds),
        CASE(test_what_was_missed_for_long_is_old),
        CASE(test_what_a_client_shows_is_told_of_after_15_seconds),
        CASE(test_a_mark_that_can_not_be_kept_is_tried_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
