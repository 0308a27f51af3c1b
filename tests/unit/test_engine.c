/*
 * test_engine.c - deciding: the order in which people and agents are told, what happens when the
 * store says no, who wins, and who comes too late.
 * Proves: R5.2, R5.3, R2.3, P3
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
#include "core/limits.h"

static void test_committed_then_acknowledged_then_told(void **state)
{
    struct caller *watcher;
    struct identity identity = visitor_person("terminal");
    struct call watch = { .label = "watch" };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    watcher = caller_enter(scene.stage, "watcher", &identity);
    call_run(&watch, watcher, METHOD_ask_watch, "{}");
    stage_forget(scene.stage);
    scene_answer(&scene, "b");
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.did, "/status"), "submitted");
    assert_int_equal(call_number(&scene.did, "/version"), 2);
    assert_int_equal(stage_place(scene.stage, "answered done"), 0);
    assert_int_equal(stage_place(scene.stage, "act succeeded"), 1);
    /* These two in any order: the answer may have to be read for the agent. */
    assert_in_range(stage_place(scene.stage, "ask succeeded"), 2, 3);
    assert_in_range(stage_place(scene.stage, "watcher heard ask/changed"), 2, 3);
    assert_true(scene.asked.is_final);
    assert_string_equal(scene.asked.session_id, scene.id);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "selected");
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    assert_string_equal(call_text(&scene.asked, "/answered_by/via"), "cli");
    assert_true(call_is_yes(&scene.asked, "/explicit"));
    call_release(&watch);
    scene_close(&scene);
}

/* No client hears of an ask that is not on disk, whatever message comes too early. */
static void test_nothing_before_the_commit(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene.stage->store.holds_replies = true;
    call_start(&scene.did, scene.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['b']}", scene.id);
    stage_settle(scene.stage);
    stage_advance(scene.stage, 1000);
    assert_int_equal(scene.did.replies, 0);
    assert_int_equal(scene.asked.replies, 0);
    assert_false(engine_is_settled(scene.stage->engine));
    stage_release(scene.stage);
    assert_worked(&scene.did);
    assert_worked(&scene.asked);
    assert_true(engine_is_settled(scene.stage->engine));
    scene_close(&scene);
}

static void test_a_failed_create_is_told_and_forgotten(void **state)
{
    struct stage *stage = *state;
    struct caller *agent, *person;
    struct identity identity = visitor_agent("bot"), looking = visitor_person("cli");
    struct call asked = { .label = "ask" }, listed = { .label = "list" };
    static const int waits[] = { -1, 0, 20 };

    agent = caller_enter(stage, "agent", &identity);
    person = caller_enter(stage, "person", &looking);
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        stage->store.fails_create = true;
        ask_start(&asked, agent, "Deploy", "", waits[i]);
        engine_flush(stage->engine);
        if (stage->clock.wake_ms >= 0 && stage->clock.wake_ms <= stage->clock.boot_ms)
            engine_on_time(stage->engine); /* the disk is slower than the clock */
        stage_settle(stage);
        assert_failed(&asked, ERROR_storage_failed, "");
        assert_int_equal(caller_count(agent, "ask/created"), 0);
        assert_int_equal(engine_open_count(stage->engine), 0);
        call_run(&listed, person, METHOD_ask_list, "{}");
        assert_null(json_at(listed.json, "/asks/0"));
    }
    stage->store.fails_create = false;
    ask_start(&asked, agent, "Deploy", "", 0);
    stage_settle(stage);
    stage_advance(stage, 0);
    assert_worked(&asked);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    assert_int_equal(engine_open_count(stage->engine), 1);
    call_release(&asked);
    call_release(&listed);
}

/* Every act on an ask that needs the store, when the store fails: no caller is told success, the
 * ask is as it was, and the same act works once the disk does. */
static const struct {
    const char *name;
    enum ask_event event;
    enum method act;
    const char *params;
    bool is_agents, is_within_undo;
    const char *status, *after;
} acts[] = {
    { "answer", EVENT_ANSWERED, METHOD_ask_answer, ",'selected_ids':['a']", false, false, "pending",
      "submitted" },
    { "cancel", EVENT_CANCELLED, METHOD_ask_cancel, "", false, false, "pending", "cancelled" },
    { "decline", EVENT_DECLINED, METHOD_ask_decline, "", false, false, "pending", "declined" },
    { "extend", EVENT_EXTENDED, METHOD_ask_extend, ",'seconds':900", false, false, "pending",
      "pending" },
    { "switch", EVENT_INTERFACE_SWITCHED, METHOD_ask_switch, ",'interface':'web'", false, false,
      "pending", "pending" },
    { "withdraw", EVENT_AGENT_WITHDREW, METHOD_ask_withdraw, "", true, false, "pending",
      "withdrawn" },
    { "undo", EVENT_UNDONE, METHOD_ask_undo, "", false, true, "submitted", "pending" },
};

static void run_act(struct scene *scene, size_t i)
{
    call_run(&scene->did, acts[i].is_agents ? scene->agent : scene->person, acts[i].act,
             "{'session_id':'%s'%s}", scene->id, acts[i].params);
}

static void test_a_failed_change_changes_nothing(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        struct scene scene;
        struct call before = { .label = "get" }, after = { .label = "get" };

        scene_open(&scene, state, "terminal", "");
        if (acts[i].is_within_undo)
            scene_answer(&scene, "b");
        scene_get(&scene, &before);
        scene.stage->store.fails_events = 1U << acts[i].event;
        stage_forget(scene.stage);
        run_act(&scene, i);
        assert_failed(&scene.did, ERROR_storage_failed, "");
        assert_int_equal(stage_count(scene.stage, "ask succeeded"), 0);
        scene_get(&scene, &after);
        assert_true(json_same(before.json, after.json));
        scene_assert(&scene, acts[i].status, acts[i].is_within_undo ? 2 : 1);
        scene.stage->store.fails_events = 0;
        run_act(&scene, i);
        if (scene.did.err.code != ERROR_NONE)
            fail_msg("%s: %s", acts[i].name, scene.did.err.message);
        scene_get(&scene, &after);
        assert_string_equal(call_text(&after, "/ask/status"), acts[i].after);
        call_release(&before);
        call_release(&after);
        scene_close(&scene);
        stage_advance(scene.stage, 3600000); /* leaves nothing open for the next round */
    }
}

/* A form of this size is not kept in memory: whatever needs it has to read it back. */
static void write_large(struct text *out)
{
    text_add_text(out, ",'global_annotation':'");
    for (int i = 0; i < 2000; i++)
        text_add_text(out, "\u20ac");
    text_add_text(out, "'");
}

static void test_reads_that_fail_are_told(void **state)
{
    struct scene scene;
    struct call other = { .label = "other" };
    struct text more = { 0 };

    write_large(&more);
    scene_open(&scene, state, "cli", text_string(&more));
    text_release(&more);
    scene.stage->store.fails_reads = true;
    scene_answer(&scene, "a");
    assert_failed(&scene.did, ERROR_storage_failed, "");
    call_run(&scene.did, scene.person, METHOD_ask_get, "{'session_id':'%s'}", scene.id);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    call_run(&scene.did, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    assert_failed(&scene.did, ERROR_storage_failed, "");
    assert_int_equal(scene.asked.replies, 0);
    scene.stage->store.fails_reads = false;
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    scene.stage->store.fails_reads = true; /* a key might be that of the answer just given */
    ask_start(&other, scene.agent, "Other", ",'idempotency_key':'k'", -1);
    assert_failed(&other, ERROR_storage_failed, "");
    scene.stage->store.fails_reads = false;
    call_release(&other);
    scene_close(&scene);
}

static void test_a_small_form_is_not_read_again(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    scene.stage->store.fails_reads = true;
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    assert_worked(&scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "a");
    assert_string_equal(call_text(&scene.asked, "/answered_by/via"), "cli");
    scene.stage->store.fails_reads = false;
    scene_close(&scene);
}

/* Too long to be kept: what was read to check the answer serves the result too. */
static void test_a_long_form_is_read_once(void **state)
{
    char *words = mem_new(2001);
    struct call asked = { .label = "long" };
    struct scene scene;
    struct json *created;

    memset(words, 'x', 2000);
    scene_open(&scene, state, "cli", "");
    call_start(&asked, scene.agent, METHOD_ask_create,
               "{'tool':'provide_choice','wait_seconds':-1,'tag':'long','arguments':{'title':"
               "'Long','prompt':'Much is to be said about each of these.','selection_mode':"
               "'single','options':[{'id':'a','label':'A','recommended':true,'description':'%s'},{'"
               "id':'b','label':"
               "'B','description':'%s'},{'id':'c','label':'C','description':'%s'}]}}",
               words, words, words);
    stage_settle(scene.stage);
    assert_int_equal(asked.replies, 0);
    created = caller_event(scene.agent, "ask/created");
    scene.stage->store.holds_replies = true;
    call_start(&scene.did, scene.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['c']}",
               json_text(json_at(created, "/params/session_id")));
    stage_settle(scene.stage);
    scene.stage->store.fails_reads = true;
    stage_release(scene.stage);
    scene.stage->store.fails_reads = false;
    assert_worked(&scene.did);
    assert_worked(&asked);
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "c");
    json_free(created);
    call_release(&asked);
    free(words);
    scene_close(&scene);
}

/* The first result is written from memory, the second from what the store has. */
static void test_a_result_is_the_same_when_it_is_read_back(void **state)
{
    static const struct {
        enum method act;
        const char *more;
    } cases[] = {
        { METHOD_ask_answer, ",'selected_ids':['b']" },
        { METHOD_ask_answer, ",'selected_ids':['a'],'option_annotations':{'b':'not that'},"
                             "'global_annotation':'two\u20aclines'" },
        { METHOD_ask_cancel, ",'global_annotation':'later'" },
        { METHOD_ask_cancel, ",'global_annotation':''" },
        { METHOD_ask_decline, "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;

        scene_open(&scene, state, "cli", "");
        call_run(&scene.did, scene.person, cases[i].act, "{'session_id':'%s'%s}", scene.id,
                 cases[i].more);
        assert_worked(&scene.did);
        assert_worked(&scene.asked);
        call_run(&scene.did, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
        assert_worked(&scene.did);
        assert_true(json_same(scene.asked.json, scene.did.json));
        call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
        assert_worked(&scene.did); /* or the next one would carry a notice of it */
        scene_close(&scene);
    }
}

/* The answer is safe, only reading it back failed: an error now, the answer at the next call. */
static void test_a_result_that_cannot_be_read(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    scene.stage->store.fails_reads = true;
    stage_advance(scene.stage, 5000);
    assert_failed(&scene.asked, ERROR_storage_failed, "");
    scene.stage->store.fails_reads = false;
    call_run(&scene.did, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.did, "/selection/selected_ids/0"), "a");
    scene_close(&scene);
}

static void test_one_of_two_wins(void **state)
{
    struct scene scene;
    struct caller *second;
    struct identity identity = visitor_person("terminal");
    struct call late = { .label = "late" };

    scene_open(&scene, state, "cli", "");
    second = caller_enter(scene.stage, "second", &identity);
    call_start(&scene.did, scene.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['a']}", scene.id);
    call_start(&late, second, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}",
               scene.id);
    stage_settle(scene.stage);
    assert_worked(&scene.did);
    assert_failed(&late, ERROR_already_answered, "/session_id");
    assert_string_equal(call_text(&late, "/session_id"), scene.id);
    assert_string_equal(call_text(&late, "/status"), "submitted");
    assert_string_equal(call_text(&late, "/answered_by/via"), "cli");
    assert_string_equal(call_text(&late, "/answered_at"), "2023-11-14T22:13:20.000Z");
    assert_int_equal(call_number(&late, "/version"), 2);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "a");
    call_release(&late);
    scene_close(&scene);
}

static void test_the_same_again_is_already_so(void **state)
{
    enum { DECISIONS = 3 }; /* the first of acts[] */

    for (size_t i = 0; i < DECISIONS; i++) {
        struct scene scene;

        scene_open(&scene, state, "cli", "");
        run_act(&scene, i);
        assert_worked(&scene.did);
        assert_false(call_is_yes(&scene.did, "/already"));
        run_act(&scene, i);
        assert_worked(&scene.did);
        assert_true(call_is_yes(&scene.did, "/already"));
        run_act(&scene, (i + 1) % DECISIONS);
        assert_failed(&scene.did, ERROR_already_answered, "/session_id");
        scene_close(&scene);
    }
}

static void test_a_key_is_good_for_one_answer(void **state)
{
    struct scene scene;
    struct call other = { .label = "other" };
    char other_id[ASK_ID_BYTES];
    const char *params = "{'session_id':'%s','selected_ids':['%s'],'answer_key':'click-1'}";

    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "a");
    assert_worked(&scene.did);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "a");
    assert_worked(&scene.did);
    assert_true(call_is_yes(&scene.did, "/already"));
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "b");
    assert_failed(&scene.did, ERROR_conflicting_arguments, "/answer_key");
    ask_open(&other, scene.agent, "Other", "", other_id);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, other_id, "a");
    assert_failed(&scene.did, ERROR_conflicting_arguments, "/answer_key");
    assert_int_equal(other.replies, 0);
    call_release(&other);
    scene_close(&scene);
}

static void test_if_match(void **state)
{
    struct scene scene;
    const char *params = "{'session_id':'%s','selected_ids':['a'],'version':%d}";

    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.person, METHOD_ask_extend, "{'session_id':'%s','seconds':60}",
             scene.id);
    assert_int_equal(call_number(&scene.did, "/version"), 2);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, 1);
    assert_failed(&scene.did, ERROR_wrong_state, "/version");
    assert_string_equal(call_text(&scene.did, "/status"), "pending");
    assert_int_equal(scene.asked.replies, 0);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, 2);
    assert_worked(&scene.did);
    assert_worked(&scene.asked);
    scene_close(&scene);
}

/* R10.4: over, then changed in the meantime, then what is wrong with it. */
static void test_what_is_told_first(void **state)
{
    const char *params = "{'session_id':'%s','selected_ids':['%s'],'version':%d}";
    const char *extend = "{'session_id':'%s','seconds':60,'version':%d}";
    struct scene scene;

    scene_open(&scene, state, "api", "");
    call_run(&scene.did, scene.person, METHOD_ask_extend, extend, scene.id, 7);
    assert_failed(&scene.did, ERROR_wrong_state, "/version");
    assert_int_equal(call_number(&scene.did, "/version"), 1);
    call_run(&scene.did, scene.person, METHOD_ask_extend, extend, scene.id, 1);
    assert_worked(&scene.did);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "zzz", 1);
    assert_failed(&scene.did, ERROR_wrong_state, "/version");
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "zzz", 2);
    assert_failed(&scene.did, ERROR_bad_enum, "/selected_ids/0");
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "a", 2);
    assert_worked(&scene.did);
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "zzz", 1);
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    assert_string_equal(call_text(&scene.did, "/answered_by/via"), "api");
    call_run(&scene.did, scene.person, METHOD_ask_extend, extend, scene.id, 2);
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_close(&scene);
}

/* A version that the store no longer has when the change reaches it. */
static void test_two_extend_what_they_saw(void **state)
{
    const char *extend = "{'session_id':'%s','seconds':%d,'version':1}";
    struct call first = { .label = "first" }, second = { .label = "second" };
    struct scene scene;

    scene_open(&scene, state, "api", "");
    call_start(&first, scene.person, METHOD_ask_extend, extend, scene.id, 60);
    call_start(&second, scene.person, METHOD_ask_extend, extend, scene.id, 90);
    stage_settle(scene.stage);
    assert_worked(&first);
    assert_failed(&second, ERROR_wrong_state, "/version");
    assert_int_equal(call_number(&second, "/version"), 2);
    call_release(&first);
    call_release(&second);
    scene_close(&scene);
}

static void test_a_key_is_kept_or_refused(void **state)
{
    char key[LIMIT_ANSWER_KEY_BYTES + 2], quoted[sizeof key + 2];
    struct scene scene;
    const char *params = "{'session_id':'%s','selected_ids':['a'],'answer_key':%s}";

    scene_open(&scene, state, "api", "");
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "7");
    assert_failed(&scene.did, ERROR_bad_format, "/answer_key");
    call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, "''");
    assert_failed(&scene.did, ERROR_bad_format, "/answer_key");
    memset(key, 'k', sizeof key);
    for (int over = 1; over >= 0; over--) {
        snprintf(quoted, sizeof quoted, "'%.*s'", LIMIT_ANSWER_KEY_BYTES + over, key);
        call_run(&scene.did, scene.person, METHOD_ask_answer, params, scene.id, quoted);
        if (over)
            assert_failed(&scene.did, ERROR_bad_format, "/answer_key");
        else
            assert_worked(&scene.did);
    }
    scene_close(&scene);
}

static void test_too_late_for_what_nobody_decided(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "cli", ",'timeout_seconds':10");
    stage_advance(scene.stage, 10000);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    scene_answer(&scene, "a");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    assert_string_equal(call_text(&scene.did, "/status"), "timeout");
    assert_null(strstr(call_text(&scene.did, "/answered_by"), "x"));
    scene_close(&scene);
    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.agent, METHOD_ask_withdraw, "{'session_id':'%s'}", scene.id);
    assert_worked(&scene.did);
    assert_true(call_is_yes(&scene.asked, "/withdrawn"));
    assert_null(json_at(scene.asked.json, "/selection/selected_ids/0"));
    call_run(&scene.did, scene.agent, METHOD_ask_withdraw, "{'session_id':'%s'}", scene.id);
    assert_true(call_is_yes(&scene.did, "/already"));
    scene_answer(&scene, "a");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    assert_string_equal(call_text(&scene.did, "/status"), "withdrawn");
    scene_close(&scene);
}

/* That it is over matters more than what is wrong with the answer. */
static void test_bad_answers(void **state)
{
    static const struct {
        const char *params;
        enum error_code code;
        const char *path;
    } cases[] = {
        { "'selected_ids':['zebra']", ERROR_validation_failed, "/selected_ids/0" },
        { "'selected_ids':['a','b']", ERROR_validation_failed, "/selected_ids" },
        { "'selected_ids':[]", ERROR_validation_failed, "/selected_ids" },
        { "'selected_ids':'a'", ERROR_bad_type, "/selected_ids" },
    };
    struct scene scene;

    scene_open(&scene, state, "cli", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(&scene.did, scene.person, METHOD_ask_answer, "{'session_id':'%s',%s}", scene.id,
                 cases[i].params);
        assert_int_not_equal(scene.did.err.code, ERROR_NONE);
        scene_assert(&scene, "pending", 1);
    }
    assert_int_equal(scene.asked.replies, 0);
    scene_answer(&scene, "a");
    call_run(&scene.did, scene.person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['zebra']}", scene.id);
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_close(&scene);
}

static void test_notes_on_cancelling(void **state)
{
    struct scene scene;
    char *long_note = mem_format("%2001d", 7);

    scene_open(&scene, state, "cli", "");
    call_run(&scene.did, scene.person, METHOD_ask_cancel,
             "{'session_id':'%s','global_annotation':7}", scene.id);
    assert_failed(&scene.did, ERROR_bad_type, "/global_annotation");
    call_run(&scene.did, scene.person, METHOD_ask_cancel,
             "{'session_id':'%s','global_annotation':'%s'}", scene.id, long_note);
    assert_failed(&scene.did, ERROR_too_long, "/global_annotation");
    call_run(&scene.did, scene.person, METHOD_ask_cancel,
             "{'session_id':'%s','global_annotation':'a\\u0000b'}", scene.id);
    assert_failed(&scene.did, ERROR_nul_character, "/global_annotation");
    call_run(&scene.did, scene.person, METHOD_ask_cancel,
             "{'session_id':'%s','global_annotation':'not today'}", scene.id);
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "cancelled");
    assert_string_equal(call_text(&scene.asked, "/selection/global_annotation"), "not today");
    free(long_note);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_committed_then_acknowledged_then_told),
        CASE(test_nothing_before_the_commit),
        CASE(test_a_failed_create_is_told_and_forgotten),
        CASE(test_a_failed_change_changes_nothing),
        CASE(test_reads_that_fail_are_told),
        CASE(test_a_small_form_is_not_read_again),
        CASE(test_a_long_form_is_read_once),
        CASE(test_a_result_is_the_same_when_it_is_read_back),
        CASE(test_a_result_that_cannot_be_read),
        CASE(test_one_of_two_wins),
        CASE(test_the_same_again_is_already_so),
        CASE(test_a_key_is_good_for_one_answer),
        CASE(test_if_match),
        CASE(test_what_is_told_first),
        CASE(test_two_extend_what_they_saw),
        CASE(test_a_key_is_kept_or_refused),
        CASE(test_too_late_for_what_nobody_decided),
        CASE(test_bad_answers),
        CASE(test_notes_on_cancelling),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
