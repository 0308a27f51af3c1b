/*
 * test_engine_undo.c - the time between an answer and its delivery: taking it back, sending it
 * now, drafts around it; and peers who leave while the store still works for them.
 * Proves: R5.2, R5.5, R5.9, P1 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <string.h>

#include "base/mem.h"

static void test_the_agent_hears_when_the_window_is_over(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    scene_answer(&scene, "b");
    assert_worked(&scene.did);
    assert_int_equal(call_number(&scene.did, "/undo_ms"), 5000);
    stage_advance(scene.stage, 4999);
    assert_int_equal(scene.asked.replies, 0);
    stage_advance(scene.stage, 1);
    assert_worked(&scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    scene_do(&scene, METHOD_ask_undo, "");
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_assert(&scene, "submitted", 2);
    scene_close(&scene);
}

/* 5 s in portal and terminal, no window elsewhere; the setting changes both (R5.2). */
static void test_windows_by_channel(void **state)
{
    static const struct {
        const char *via, *setting;
        int64_t undo_ms; /* -1: none */
    } cases[] = {
        { "cli", "5", -1 },          { "api", "5", -1 },   { "client", "5", -1 },
        { "terminal", "5", 5000 },   { "web", "5", 5000 }, { "web", "0", -1 },
        { "terminal", "60", 60000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene scene;

        stage_set(*state, "deliver_after", cases[i].setting);
        scene_open(&scene, state, cases[i].via, "");
        scene_answer(&scene, "a");
        assert_int_equal(call_number(&scene.did, "/undo_ms"), cases[i].undo_ms);
        assert_int_equal(scene.asked.replies, cases[i].undo_ms < 0);
        scene_close(&scene);
    }
}

/* The undo window is for answers; after cancel or decline the agent must stop immediately. */
static void test_cancelling_reaches_the_agent_at_once(void **state)
{
    static const struct {
        enum method act;
        const char *status;
    } cases[] = {
        { METHOD_ask_cancel, "cancelled" },
        { METHOD_ask_decline, "declined" },
    };
    static const char *const vias[] = { "terminal", "web", "cli" };

    for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(vias); i++) {
        struct scene scene;

        scene_open(&scene, state, vias[i / ARRAY_LEN(cases)], "");
        scene_do(&scene, cases[i % ARRAY_LEN(cases)].act, "");
        assert_worked(&scene.did);
        assert_int_equal(call_number(&scene.did, "/undo_ms"), -1);
        assert_worked(&scene.asked);
        assert_string_equal(call_text(&scene.asked, "/action_status"), "cancelled");
        scene_do(&scene, METHOD_ask_undo, "");
        assert_failed(&scene.did, ERROR_already_answered, "/session_id");
        scene_assert(&scene, cases[i % ARRAY_LEN(cases)].status, 2);
        scene_close(&scene);
    }
}

static void test_undo_makes_it_a_draft_again(void **state)
{
    struct scene scene;
    struct call got = { .label = "get" };

    scene_open(&scene, state, "terminal", "");
    scene_answer(&scene, "b");
    stage_advance(scene.stage, 3000);
    scene_do(&scene, METHOD_ask_undo, "");
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.did, "/status"), "pending");
    assert_int_equal(call_number(&scene.did, "/version"), 3);
    assert_int_equal(call_number(&scene.did, "/remaining_ms"), 297000);
    stage_advance(scene.stage, 60000);
    assert_int_equal(scene.asked.replies, 0);
    scene_get(&scene, &got);
    assert_string_equal(call_text(&got, "/draft/selected_ids/0"), "b");
    assert_int_equal(json_kind(json_at(got.json, "/answer")), KIND_NULL);
    scene_do(&scene, METHOD_ask_undo, "");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    scene_answer(&scene, "a");
    stage_advance(scene.stage, 5000);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "a");
    call_release(&got);
    scene_close(&scene);
}

/* A person who takes it back at the last moment has time to think again. */
static void test_undo_leaves_half_a_minute(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", ",'timeout_seconds':10");
    stage_advance(scene.stage, 9000);
    scene_answer(&scene, "b");
    stage_advance(scene.stage, 4000);
    scene_do(&scene, METHOD_ask_undo, "");
    assert_worked(&scene.did);
    assert_int_equal(call_number(&scene.did, "/remaining_ms"), 30000);
    stage_restart(scene.stage); /* and keeps it */
    assert_int_equal(engine_open_count(scene.stage->engine), 1);
    stage_advance(scene.stage, 29999);
    assert_int_equal(engine_open_count(scene.stage->engine), 1);
    stage_advance(scene.stage, 1);
    assert_int_equal(engine_open_count(scene.stage->engine), 0);
    scene_close(&scene);
}

static void test_send_now(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    scene_do(&scene, METHOD_ask_send, "");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    scene_answer(&scene, "b");
    scene_do(&scene, METHOD_ask_send, "");
    assert_worked(&scene.did);
    assert_worked(&scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    scene_do(&scene, METHOD_ask_send, "");
    assert_failed(&scene.did, ERROR_wrong_state, "/session_id");
    stage_advance(scene.stage, 10000);
    assert_int_equal(scene.asked.replies, 1);
    scene_close(&scene);
}

/* An undo on its way to the disk when the window ends: what the agent gets must be what stays. */
static void race_undo(void **state, bool is_committed, bool is_sent, bool fails)
{
    struct scene scene;
    struct call undo = { .label = "undo" };
    struct stage_store *store;

    scene_open(&scene, state, "terminal", "");
    store = &scene.stage->store;
    scene_answer(&scene, "b");
    stage_advance(scene.stage, 4900);
    store->holds_replies = is_committed && !fails;
    store->holds_writes = is_committed || fails ? 0 : 1U << EVENT_UNDONE;
    store->fails_events = fails ? 1U << EVENT_UNDONE : 0;
    call_start(&undo, scene.person, METHOD_ask_undo, "{'session_id':'%s'}", scene.id);
    while (!fails && store->outstanding)
        stage_settle(scene.stage);
    scene.stage->clock.boot_ms += 200;
    scene.stage->clock.utc_ms += 200;
    if (is_sent)
        call_start(&scene.did, scene.person, METHOD_ask_send, "{'session_id':'%s'}", scene.id);
    else
        engine_on_time(scene.stage->engine);
    stage_release(scene.stage);
    assert_int_equal(undo.replies, 1);
    if (undo.err.code == ERROR_NONE) {
        assert_int_equal(scene.asked.replies, 0);
        scene_assert(&scene, "pending", 3);
        assert_int_equal(engine_open_count(scene.stage->engine), 1);
        stage_advance(scene.stage, 3600000);
        assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    } else {
        stage_advance(scene.stage, 0);
        assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
        scene_assert(&scene, "submitted", 2);
    }
    assert_true(scene.asked.is_final);
    assert_int_equal(scene.asked.replies, 1);
    call_release(&undo);
    scene_close(&scene);
}

static void test_undo_races_the_end_of_the_window(void **state)
{
    for (unsigned bits = 0; bits < 8; bits++)
        race_undo(state, bits & 1, bits & 2, bits & 4);
}

/* An undo is on its way to the disk when the person decides again: that counts as what it is, and
 * not as what was undone. */
static void test_a_decision_right_after_an_undo(void **state)
{
    static const struct {
        enum method second;
        const char *status, *told;
        int64_t undo_ms; /* -1: none */
    } cases[] = {
        { METHOD_ask_cancel, "cancelled", "cancelled", -1 },
        { METHOD_ask_decline, "declined", "cancelled", -1 },
        { METHOD_ask_answer, "submitted", "selected", 5000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call undo = { .label = "undo" };
        struct scene scene;

        scene_open(&scene, state, "terminal", "");
        scene_answer(&scene, "a");
        assert_worked(&scene.did);
        call_start(&undo, scene.person, METHOD_ask_undo, "{'session_id':'%s'}", scene.id);
        call_start(&scene.did, scene.person, cases[i].second,
                   "{'session_id':'%s','selected_ids':['b'],'answer_key':'%s'}", scene.id,
                   cases[i].status);
        stage_settle(scene.stage);
        assert_worked(&undo);
        assert_worked(&scene.did);
        assert_string_equal(call_text(&scene.did, "/status"), cases[i].status);
        assert_int_equal(call_number(&scene.did, "/undo_ms"), cases[i].undo_ms);
        if (cases[i].undo_ms > 0)
            stage_advance(scene.stage, cases[i].undo_ms);
        assert_string_equal(call_text(&scene.asked, "/action_status"), cases[i].told);
        scene_assert(&scene, cases[i].status, 4);
        call_release(&undo);
        scene_close(&scene);
    }
}

/* On disk but not yet told: an agent that looks right now must not get what can be taken back. */
static void test_nobody_reads_ahead_of_the_window(void **state)
{
    struct scene scene;
    struct caller *other;
    struct identity same = visitor_agent("bot");
    struct call looked = { .label = "look" };

    scene_open(&scene, state, "terminal", "");
    other = caller_enter(scene.stage, "other", &same);
    scene.stage->store.holds_replies = true;
    call_start(&scene.did, scene.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['b']}", scene.id);
    stage_settle(scene.stage);
    call_start(&looked, other, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", scene.id);
    stage_settle(scene.stage);
    assert_worked(&looked);
    assert_string_equal(call_text(&looked, "/action_status"), "pending");
    assert_false(looked.is_final);
    stage_release(scene.stage);
    call_run(&looked, other, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", scene.id);
    assert_string_equal(call_text(&looked, "/action_status"), "pending");
    call_release(&looked);
    scene_close(&scene);
}

static void test_a_crash_within_the_window(void **state)
{
    struct scene scene;
    struct caller *again, *person;
    struct identity agent = visitor_agent("bot"), looking = visitor_person("terminal");
    struct call waited = { .label = "wait" };

    scene_open(&scene, state, "terminal", "");
    scene_answer(&scene, "b");
    stage_advance(scene.stage, 2000);
    stage_crash(scene.stage);
    again = caller_enter(scene.stage, "again", &agent);
    person = caller_enter(scene.stage, "person", &looking);
    call_start(&waited, again, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    stage_advance(scene.stage, 2999);
    assert_int_equal(waited.replies, 0);
    call_run(&scene.did, person, METHOD_ask_undo, "{'session_id':'%s'}", scene.id);
    assert_worked(&scene.did);
    call_run(&scene.did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['a']}",
             scene.id);
    stage_advance(scene.stage, 5000);
    assert_string_equal(call_text(&waited, "/selection/selected_ids/0"), "a");
    call_release(&waited);
    scene_close(&scene);
}

static void draft(struct scene *scene, const char *option)
{
    call_run(&scene->did, scene->person, METHOD_ask_draft,
             "{'session_id':'%s','draft':{'selected_ids':['%s']}}", scene->id, option);
    assert_worked(&scene->did);
}

static void assert_draft(struct scene *scene, const char *option)
{
    struct call got = { .label = "get" };

    scene_get(scene, &got);
    assert_string_equal(call_text(&got, "/draft/selected_ids/0"), option);
    call_release(&got);
}

static void test_drafts_are_saved_once_a_second(void **state)
{
    struct identity looking = visitor_person("terminal");
    struct stage_store *store;
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    store = &scene.stage->store;
    for (int i = 0; i < 40; i++) { /* four seconds of typing */
        draft(&scene, i % 2 ? "b" : "a");
        stage_advance(scene.stage, 100);
    }
    assert_in_range(store->writes[WRITE_draft], 4, 5);
    stage_advance(scene.stage, 1000);
    assert_draft(&scene, "b"); /* the last one wins */
    assert_in_range(store->writes[WRITE_draft], 4, 5);
    scene_assert(&scene, "pending", 1); /* and the version stays */
    stage_advance(scene.stage, 60000);
    assert_in_range(store->writes[WRITE_draft], 4, 5); /* nothing to save, nothing saved */
    draft(&scene, "a");
    stage_crash(scene.stage);
    scene.person = caller_enter(scene.stage, "person", &looking);
    assert_draft(&scene, "a"); /* the first after a pause is on disk immediately */
    scene_close(&scene);
}

/* Who goes on elsewhere finds what was typed in the last second, before it would have been saved.
 */
static void test_a_draft_goes_along_to_another_interface(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    draft(&scene, "a");
    stage_advance(scene.stage, 10);
    draft(&scene, "b");
    scene_do(&scene, METHOD_ask_switch, ",'interface':'web'");
    assert_worked(&scene.did);
    assert_draft(&scene, "b");
    scene_close(&scene);
}

/* Another person was faster: what was typed in the last second is not lost (R5.9). */
static void test_a_draft_outlives_the_decision(void **state)
{
    static const char *const vias[] = { "cli", "terminal" };

    for (size_t i = 0; i < ARRAY_LEN(vias); i++) {
        struct scene scene;
        struct caller *winner;
        struct identity identity = visitor_person(vias[i]);
        struct call won = { .label = "win" };

        scene_open(&scene, state, "web", "");
        winner = caller_enter(scene.stage, "winner", &identity);
        draft(&scene, "a");
        draft(&scene, "b");
        call_run(&won, winner, METHOD_ask_cancel, "{'session_id':'%s'}", scene.id);
        assert_worked(&won);
        stage_advance(scene.stage, 10000);
        assert_draft(&scene, "b");
        call_run(&scene.did, scene.person, METHOD_ask_draft,
                 "{'session_id':'%s','draft':{'selected_ids':['a']}}", scene.id);
        assert_failed(&scene.did, ERROR_already_answered, "/session_id");
        call_release(&won);
        scene_close(&scene);
    }
}

/* The answer taken back is newer than what was typed before it. */
static void test_a_late_draft_does_not_bury_what_was_undone(void **state)
{
    struct scene scene;

    scene_open(&scene, state, "terminal", "");
    draft(&scene, "a");
    stage_advance(scene.stage, 300);
    draft(&scene, "a");
    stage_advance(scene.stage, 100);
    scene_answer(&scene, "b");
    stage_advance(scene.stage, 100);
    scene_do(&scene, METHOD_ask_undo, "");
    assert_worked(&scene.did);
    stage_advance(scene.stage, 5000);
    assert_draft(&scene, "b");
    scene_close(&scene);
}

static void test_bad_drafts(void **state)
{
    struct scene scene;
    struct text big = { 0 };

    scene_open(&scene, state, "terminal", "");
    scene_do(&scene, METHOD_ask_draft, "");
    assert_failed(&scene.did, ERROR_bad_type, "/draft");
    scene_do(&scene, METHOD_ask_draft, ",'draft':'words'");
    assert_failed(&scene.did, ERROR_bad_type, "/draft");
    for (int i = 0; i < 131072; i++)
        text_add_char(&big, 'x');
    call_run(&scene.did, scene.person, METHOD_ask_draft,
             "{'session_id':'%s','draft':{'custom_input':'%s'}}", scene.id, big.bytes);
    assert_failed(&scene.did, ERROR_too_long, "/draft");
    assert_int_equal(scene.stage->store.writes[WRITE_draft], 0);
    scene.stage->store.fails_drafts = true;
    draft(&scene, "a"); /* a courtesy: the page keeps its own copy */
    text_release(&big);
    scene_close(&scene);
}

/* An agent that leaves while its ask is being stored: the ask is there, and detached. */
static void test_an_agent_leaves_while_it_asks(void **state)
{
    struct stage *stage = *state;
    struct caller *agent, *person;
    struct identity asking = visitor_agent("bot"), looking = visitor_person("cli");
    struct call asked = { .label = "ask" }, listed = { .label = "list" };

    agent = caller_enter(stage, "agent", &asking);
    person = caller_enter(stage, "person", &looking);
    ask_start(&asked, agent, "Leaving", "", -1);
    caller_leave(agent);
    stage_settle(stage);
    assert_int_equal(asked.replies, 0);
    call_run(&listed, person, METHOD_ask_list, "{}");
    assert_string_equal(call_text(&listed, "/asks/0/title"), "Leaving");
    assert_true(call_is_yes(&listed, "/asks/0/detached"));
    stage->store.fails_create = true;
    agent = caller_enter(stage, "agent", &asking);
    ask_start(&asked, agent, "Leaving again", "", -1);
    caller_leave(agent);
    stage_settle(stage);
    assert_int_equal(asked.replies, 0);
    assert_int_equal(engine_open_count(stage->engine), 1);
    call_release(&asked);
    call_release(&listed);
}

/* After leaving nothing of that session is called any more, and nothing of it is touched. */
static void test_a_person_leaves_while_deciding(void **state)
{
    static const size_t acts[] = {
        METHOD_ask_answer, METHOD_ask_cancel, METHOD_ask_extend,
        METHOD_ask_switch, METHOD_ask_draft,
    };

    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        struct scene scene;

        scene_open(&scene, state, "terminal", "");
        scene.stage->store.holds_replies = true;
        call_start(&scene.did, scene.person, acts[i],
                   "{'session_id':'%s','selected_ids':['a'],'seconds':60,'interface':'web',"
                   "'draft':{}}",
                   scene.id);
        scene.did.replies = 0; /* drafts are answered immediately */
        caller_leave(scene.person);
        caller_leave(scene.agent);
        stage_release(scene.stage);
        assert_int_equal(scene.did.replies, 0);
        assert_int_equal(scene.asked.replies, 0);
        stage_advance(scene.stage, 10000);
        scene_close(&scene);
    }
}

static void test_leaving_from_within_a_reply(void **state)
{
    struct scene scene;
    struct call second = { .label = "second" };

    scene_open(&scene, state, "cli", "");
    call_start(&second, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':50}",
               scene.id);
    scene.asked.leaves = second.leaves = scene.agent;
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    assert_int_equal(scene.asked.replies + second.replies, 1);
    call_release(&second);
    scene_close(&scene);
}

/* R10.4: what /metrics says of asks. */
static void test_figures(void **state)
{
    static const char *const lines[] = {
        "\nsayso_asks_created_total 3\n",
        "\nsayso_asks_ended_total{state=\"submitted\"} 2\n",
        "\nsayso_asks_ended_total{state=\"timeout\"} 1\n",
        "\nsayso_asks_undone_total 1\n",
        "\nsayso_asks_pending 1\n",
        "\nsayso_ask_wait_seconds_bucket{le=\"2\"} 0\n",
        "\nsayso_ask_wait_seconds_bucket{le=\"5\"} 2\n",
        "\nsayso_ask_wait_seconds_sum 6\n",
        "\nsayso_ask_wait_seconds_count 2\n",
    };
    struct text out = { 0 };
    struct scene first, second, third;

    scene_open(&first, state, "terminal", "");
    stage_advance(*state, 3000);
    scene_answer(&first, "a");
    call_run(&first.did, first.person, METHOD_ask_undo, "{'session_id':'%s'}", first.id);
    assert_worked(&first.did);
    scene_answer(&first, "a");
    scene_open(&second, state, "cli", ",'timeout_seconds':1");
    stage_advance(*state, 2000);
    stage_settle(*state);
    scene_open(&third, state, "cli", "");
    engine_write_metrics(first.stage->engine, &out);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (!strstr(text_string(&out), lines[i]))
            fail_msg("no %s in\n%s", lines[i], text_string(&out));
    }
    text_release(&out);
    scene_close(&first);
    scene_close(&second);
    scene_close(&third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_the_agent_hears_when_the_window_is_over),
        CASE(test_windows_by_channel),
        CASE(test_cancelling_reaches_the_agent_at_once),
        CASE(test_undo_makes_it_a_draft_again),
        CASE(test_undo_leaves_half_a_minute),
        CASE(test_send_now),
        CASE(test_undo_races_the_end_of_the_window),
        CASE(test_a_decision_right_after_an_undo),
        CASE(test_nobody_reads_ahead_of_the_window),
        CASE(test_a_crash_within_the_window),
        CASE(test_drafts_are_saved_once_a_second),
        CASE(test_a_draft_goes_along_to_another_interface),
        CASE(test_a_draft_outlives_the_decision),
        CASE(test_a_late_draft_does_not_bury_what_was_undone),
        CASE(test_bad_drafts),
        CASE(test_an_agent_leaves_while_it_asks),
        CASE(test_a_person_leaves_while_deciding),
        CASE(test_leaving_from_within_a_reply),
        CASE(test_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
