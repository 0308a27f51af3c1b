/*
 * test_engine_history.c - looking back: search and filters, figures, asks put off, options hidden.
 * Proves: R6.4 R7.3 R7.8 R7.9 R9.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void test_search(void **state)
{
    static const struct {
        const char *params;
        int count;
    } cases[] = {
        { "{}", 3 },
        { "{'which':'completed'}", 2 },
        { "{'which':'cancelled'}", 1 },
        { "{'search':'ALPHA'}", 3 },
        { "{'search':'beware of \\u0022dogs\\u0022'}", 1 }, /* a note, with what JSON escapes */
        { "{'search':'beware','which':'submitted'}", 1 },
        { "{'search':'options'}", 0 }, /* the name of a member is no text of anybody's */
        { "{'search':'multi'}", 0 },
        { "{'search':''}", 3 },
        { "{'via':'cli'}", 2 },
        { "{'via':'web'}", 0 },
        { "{'agent':'bot'}", 3 },
        { "{'agent':'other'}", 0 },
        { "{'since_ms':1700000002000}", 1 },
        { "{'limit':2}", 2 },
    };
    struct scene scenes[3];
    struct call *did = &scenes[0].did;

    for (int i = 0; i < 3; i++) {
        scene_open(&scenes[i], state, "cli", "");
        stage_advance(*state, 1000);
    }
    scene_do(&scenes[0], METHOD_ask_answer,
             ",'selected_ids':['a'],'global_annotation':'Beware of \\u0022dogs\\u0022'");
    assert_worked(&scenes[0].did);
    scene_do(&scenes[1], METHOD_ask_cancel, ",'global_annotation':'not today'");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(did, scenes[0].person, METHOD_ask_history, "%s", cases[i].params);
        if ((int)json_length(json_at(did->json, "/asks")) != cases[i].count)
            fail_msg("%s", cases[i].params);
    }
    call_run(did, scenes[0].person, METHOD_ask_history, "{'which':'completed'}");
    assert_string_equal(call_text(did, "/asks/0/summary"), "not today");
    assert_string_equal(call_text(did, "/asks/1/summary"), "Alpha");
    assert_string_equal(call_text(did, "/asks/1/answered_by/via"), "cli");
    call_run(did, scenes[0].person, METHOD_ask_history, "{'limit':2}");
    call_run(&scenes[1].did, scenes[0].person, METHOD_ask_history, "{'limit':2,'before':'%s'}",
             call_text(did, "/next"));
    assert_int_equal(json_length(json_at(scenes[1].did.json, "/asks")), 1);
    assert_string_equal(call_text(&scenes[1].did, "/asks/0/session_id"), scenes[0].id);
    call_run(did, scenes[0].person, METHOD_ask_history, "{'search':7}");
    assert_failed(did, ERROR_bad_type, "/search");
    for (int i = 0; i < 3; i++)
        scene_close(&scenes[i]);
}

/* However much is left to tidy up, a hub that leaves does not begin with it: the next one does. */
static void test_a_hub_that_leaves_tidies_nothing_up(void **state)
{
    struct stage *stage = *state;
    struct scene scene;

    stage_set(stage, "retention_days", "1");
    scene_open(&scene, state, "cli", "");
    scene_answer(&scene, "a");
    engine_leave(stage->engine);
    stage->store.writes[WRITE_sweep] = stage->store.writes[WRITE_index] = 0;
    stage_advance(stage, 3 * 86400000LL);
    assert_int_equal(stage->store.writes[WRITE_sweep], 0);
    assert_int_equal(stage->store.writes[WRITE_index], 0);
    assert_true(engine_is_settled(stage->engine));
    assert_int_equal(chosen_number(stage->where, "SELECT count(*) FROM asks"), 1);
    stage_restart(stage);
    stage_advance(stage, 3600000);
    assert_int_equal(chosen_number(stage->where, "SELECT count(*) FROM asks"), 0);
    call_release(&scene.asked);
    call_release(&scene.did);
}

/* What is found stays the same while it is taken up; that goes on until nothing is left, and a disk
 * that fails in between is no disaster. */
static void test_what_is_taken_up(void **state)
{
    struct stage *stage = *state;
    struct scene scenes[3];
    int indexings;

    stage->store.fails_sweeps = true;
    for (int i = 0; i < 3; i++)
        scene_open(&scenes[i], state, "cli", "");
    scene_do(&scenes[0], METHOD_ask_answer, ",'selected_ids':['a'],'global_annotation':'zebra'");
    assert_int_equal(stage->store.writes[WRITE_index], 0); /* no caller waits for it */
    stage_advance(stage, 15000);
    assert_true(stage->store.writes[WRITE_index] >= 1);
    stage->store.fails_sweeps = false;
    indexings = stage->store.writes[WRITE_index];
    for (int i = 0; i < 2; i++) {
        call_run(&scenes[0].did, scenes[0].person, METHOD_ask_history, "{'search':'ZEBRA'}");
        assert_int_equal(json_length(json_at(scenes[0].did.json, "/asks")), 1);
        call_run(&scenes[0].did, scenes[0].person, METHOD_ask_history,
                 "{'search':'alpha','agent':'bot'}");
        assert_int_equal(json_length(json_at(scenes[0].did.json, "/asks")), 3);
        call_run(&scenes[0].did, scenes[0].person, METHOD_ask_list, "{'agent':'bot'}");
        assert_int_equal(json_length(json_at(scenes[0].did.json, "/asks")), 3);
        scene_do(&scenes[1], METHOD_ask_cancel, ""); /* something ended */
        stage_advance(stage, 15000);
    }
    assert_true(stage->store.writes[WRITE_index] > indexings);
    stage_advance(stage, 4000000); /* the last one's time is up */
    indexings = stage->store.writes[WRITE_index];
    stage_advance(stage, 4000000);
    assert_int_equal(stage->store.writes[WRITE_index], indexings); /* idle costs nothing */
    for (int i = 0; i < 3; i++)
        scene_close(&scenes[i]);
}

/* For who exports: everything of an ask, a page at a time. */
static void test_whole(void **state)
{
    struct scene scenes[3];
    struct call *did = &scenes[0].did;

    for (int i = 0; i < 3; i++)
        scene_open(&scenes[i], state, "cli", "");
    scene_answer(&scenes[2], "a");
    call_run(did, scenes[0].person, METHOD_ask_history, "{'whole':true,'limit':2}");
    assert_worked(did);
    assert_string_equal(call_text(did, "/asks/0/answer/selected_ids/0"), "a");
    assert_string_equal(call_text(did, "/asks/0/form/fields/0/options/0/id"), "a");
    assert_string_equal(call_text(did, "/asks/0/result/action_status"), "selected");
    assert_string_equal(call_text(did, "/asks/0/tool"), "provide_choice");
    assert_in_range(call_number(did, "/left_permille"), 1, 999);
    call_run(&scenes[1].did, scenes[0].person, METHOD_ask_history, "{'whole':true,'before':'%s'}",
             call_text(did, "/next"));
    assert_int_equal(json_length(json_at(scenes[1].did.json, "/asks")), 1);
    assert_string_equal(call_text(&scenes[1].did, "/next"), "");
    call_run(did, scenes[0].person, METHOD_ask_history, "{'until_ms':1}");
    assert_int_equal(json_length(json_at(did->json, "/asks")), 0);
    call_run(did, scenes[0].person, METHOD_ask_history,
             "{'search':'a b c d e f g h i j k l m n "
             "o p q'}");
    assert_failed(did, ERROR_too_long, "/search");
    for (int i = 0; i < 3; i++)
        scene_close(&scenes[i]);
}

static void test_statistics(void **state)
{
    struct scene scenes[4];
    struct call *did = &scenes[0].did;

    for (int i = 0; i < 4; i++)
        scene_open(&scenes[i], state, "cli", i == 2 ? ",'timeout_seconds':60" : "");
    stage_advance(*state, 10000);
    scene_answer(&scenes[0], "a"); /* recommended */
    stage_advance(*state, 30000);
    scene_answer(&scenes[1], "b");
    stage_advance(*state, 30000);
    call_run(did, scenes[0].person, METHOD_ask_statistics, "{'days':7}");
    assert_worked(did);
    assert_int_equal(call_number(did, "/asks"), 4);
    assert_int_equal(call_number(did, "/answered"), 2);
    assert_int_equal(call_number(did, "/timeouts"), 1);
    assert_int_equal(call_number(did, "/recommended"), 2);
    assert_int_equal(call_number(did, "/taken"), 1);
    assert_int_equal(call_number(did, "/median_seconds"), 40);
    assert_int_equal(call_number(did, "/waiting"), 1);
    assert_int_equal(call_number(did, "/longest_seconds"), 70);
    assert_int_equal(call_number(did, "/buckets/1"), 1); /* 10 s */
    assert_int_equal(call_number(did, "/buckets/3"), 1); /* 40 s */
    assert_string_equal(call_text(did, "/agents/0/agent"), "bot");
    assert_int_equal(call_number(did, "/agents/0/asks"), 4);
    call_run(did, scenes[0].person, METHOD_ask_statistics, "{'days':-1}");
    assert_failed(did, ERROR_out_of_range, "/days");
    for (int i = 0; i < 4; i++)
        scene_close(&scenes[i]);
}

static void test_later(void **state)
{
    struct scene scene;
    struct json *told;

    scene_open(&scene, state, "web", ",'timeout_seconds':7200");
    call_run(&scene.did, scene.person, METHOD_ask_watch, "{}");
    scene_do(&scene, METHOD_ask_later, ",'seconds':600");
    assert_worked(&scene.did);
    assert_true(strlen(call_text(&scene.did, "/later_until")) > 0);
    told = caller_event(scene.person, "ask/changed");
    assert_non_null(json_at(told, "/params/ask/later_until")); /* on other devices too */
    json_free(told);
    caller_leave(scene.agent);
    caller_leave(scene.person);
    stage_restart(scene.stage);
    {
        struct identity person = visitor_person("web");

        scene.person = caller_enter(scene.stage, "person", &person);
        scene.agent = caller_enter(scene.stage, "other", &person);
    }
    scene_get(&scene, &scene.did);
    assert_true(strlen(call_text(&scene.did, "/ask/later_until")) > 0);
    scene_close(&scene);
}

static void test_later_ends(void **state)
{
    struct scene scene;
    struct call got = { 0 };

    scene_open(&scene, state, "web", ",'timeout_seconds':7200");
    scene_do(&scene, METHOD_ask_later, ",'seconds':600");
    stage_advance(*state, 599000);
    scene_get(&scene, &got);
    assert_true(strlen(call_text(&got, "/ask/later_until")) > 0);
    stage_advance(*state, 2000);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/ask/later_until"), "");
    scene_do(&scene, METHOD_ask_later, ",'seconds':-1");
    assert_failed(&scene.did, ERROR_out_of_range, "/seconds");
    scene.stage->store.fails_settings = true;
    scene_do(&scene, METHOD_ask_later, ",'seconds':600");
    assert_failed(&scene.did, ERROR_storage_failed, "");
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/ask/later_until"), ""); /* not kept: it is not put off */
    scene.stage->store.fails_settings = false;
    scene_answer(&scene, "a");
    stage_advance(*state, 10000);
    scene_do(&scene, METHOD_ask_later, ",'seconds':60");
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    call_release(&got);
    scene_close(&scene);
}

static void test_hidden(void **state)
{
    struct scene scene, again, destructive;
    struct identity person;
    struct call got = { 0 };

    scene_open(&scene, state, "web", "");
    scene_get(&scene, &got);
    assert_null(json_at(got.json, "/hidden"));
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b','hidden':true");
    assert_worked(&scene.did);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/hidden/0"), "b");
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'a','hidden':true"); /* nothing would be left */
    assert_failed(&scene.did, ERROR_out_of_range, "/option_id");
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'zz','hidden':true");
    assert_failed(&scene.did, ERROR_bad_enum, "/option_id");
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b'");
    assert_failed(&scene.did, ERROR_missing_property, "/hidden");
    scene_open(&again, state, "web", ""); /* another title: not hidden there */
    scene_get(&again, &got);
    assert_int_equal(json_length(json_at(got.json, "/hidden")), 0);
    scene_open(&destructive, state, "web", ",'destructive':true");
    scene_do(&destructive, METHOD_ask_hide, ",'option_id':'b','hidden':true");
    assert_failed(&destructive.did, ERROR_wrong_state, "/session_id");
    caller_leave(scene.person);
    stage_restart(scene.stage); /* it is remembered */
    person = visitor_person("web");
    scene.person = caller_enter(scene.stage, "person", &person);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/hidden/0"), "b");
    scene_do(&scene, METHOD_ask_hide, ",'option_id':'b','hidden':false");
    scene_get(&scene, &got);
    assert_null(json_at(got.json, "/hidden"));
    call_release(&got);
    scene_close(&scene);
    scene_close(&again);
    scene_close(&destructive);
}

/* What a list shows of a hostile title is what may be shown; the title itself stays as it is. */
static void test_shown(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bo\x1b[2Jt"), person = visitor_person("web");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *reader = caller_enter(stage, "person", &person);
    struct call asked = { 0 }, did = { 0 };
    char id[ASK_ID_BYTES];

    ask_open(&asked, agent, "pay \xe2\x80\xae now", "", id);
    call_run(&did, reader, METHOD_ask_list, "{}");
    assert_string_equal(call_text(&did, "/asks/0/shown/title"), "pay \\u202e now");
    assert_string_equal(call_text(&did, "/asks/0/shown/agent"), "bo\\x1b[2Jt");
    assert_string_equal(call_text(&did, "/asks/0/agent"), "bo\x1b[2Jt");
    call_release(&asked);
    call_release(&did);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_search),
        CASE(test_a_hub_that_leaves_tidies_nothing_up),
        CASE(test_whole),
        CASE(test_statistics),
        CASE(test_what_is_taken_up),
        CASE(test_later),
        CASE(test_later_ends),
        CASE(test_hidden),
        CASE(test_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
