/*
 * test_engine_numbers.c - every act of the service with numbers from both ends of what JSON can
 * say: each is answered once, and the sanitizer has nothing to object to. Proves: R12.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

/* Every name of a number that some act reads. */
static const char *const names[] = {
    "wait_seconds", "seconds", "held_ms", "limit", "before_ms", "since_ms",
    "until_ms",     "days",    "version", "after", "shown_ms",  "expires_days",
};

static const int64_t ends[] = {
    INT64_MIN, INT64_MIN + 1,    INT64_MIN / 1000,     INT64_MIN / 1000 - 1, -2,        -1, 0,
    1,         INT64_MAX / 1000, INT64_MAX / 1000 + 1, INT64_MAX - 1,        INT64_MAX,
};

static char *write_numbers(int64_t number)
{
    struct text out = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        text_add_format(&out, "'%s':%lld,", names[i], (long long)number);
    text_add_text(&out, "'timed_out':true,'hidden':true,'option_id':'a'");
    return text_take(&out);
}

/* Some wait until the stage is closed, so they outlive their test. */
static struct call calls[8192];
static size_t call_count;

static void call_all(struct scene *scene, struct caller *caller, bool names_it)
{
    for (int method = 0; method < METHOD_COUNT; method++) {
        for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
            struct call *call = &calls[call_count++];
            char *numbers = write_numbers(ends[i]);

            assert_in_range(call_count, 1, ARRAY_LEN(calls));
            call_start(call, caller, (enum method)method, "{%s,'session_id':'%s'}", numbers,
                       names_it ? scene->id : "aaaaaaaaaaaaaaaaaaaaaaaaaa");
            free(numbers);
            stage_settle(scene->stage);
            stage_advance(scene->stage, 1000);
            if (call->replies > 1)
                fail_msg("method %d answered %d times", method, call->replies);
        }
    }
}

static void test_every_act_takes_any_number(void **state)
{
    struct scene scene;

    for (int names_it = 0; names_it < 2; names_it++) {
        scene_open(&scene, state, "cli", "");
        call_all(&scene, scene.agent, names_it);
        scene_close(&scene);
        scene_open(&scene, state, "cli", "");
        call_all(&scene, scene.person, names_it);
        scene_close(&scene);
    }
    for (size_t i = 0; i < call_count; i++)
        call_release(&calls[i]);
}

static void test_a_wait_is_in_its_range(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        if (ends[i] >= -1 && ends[i] <= 1)
            continue;
        call_run(&scene.did, scene.agent, METHOD_ask_wait,
                 "{'session_id':'%s','wait_seconds':%lld}", scene.id, (long long)ends[i]);
        assert_failed(&scene.did, ERROR_out_of_range, "/wait_seconds");
    }
    scene_close(&scene);
}

/* Whatever is no whole number is refused by its name: taken for one that was left out, a rule would
 * stand for a month, and an answer to an older version would count. */
static void test_what_is_no_number_is_refused(void **state)
{
    static const char *const given[] = { "'60'", "60.5", "1e308", "true", "[]", "{}" };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(given); i++) {
        call_run(&scene.did, scene.person, METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['a'],'version':%s}", scene.id, given[i]);
        assert_failed(&scene.did, ERROR_out_of_range, "/version");
        call_run(&scene.did, scene.person, METHOD_rule_add, "{'session_id':'%s','seconds':%s}",
                 scene.id, given[i]);
        assert_failed(&scene.did, ERROR_out_of_range, "/seconds");
        call_run(&scene.did, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':%s}",
                 scene.id, given[i]);
        assert_failed(&scene.did, ERROR_out_of_range, "/wait_seconds");
    }
    call_run(&scene.did, scene.person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['a'],'version':null}", scene.id);
    assert_worked(&scene.did);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_every_act_takes_any_number),
        CASE(test_a_wait_is_in_its_range),
        CASE(test_what_is_no_number_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
