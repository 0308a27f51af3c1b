/*
 * test_engine_match.c - the agent's side: which ask a call gets (its own again, an answer that is
 * still undelivered, or a new one), collecting by id, and limits per principal.
 * Proves: R2.4, R5.5, R5.8, P9, B7 (unknown and foreign are one answer)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The id an agent was last told with ask/created. */
static void created_id(const struct caller *agent, char out[ASK_ID_BYTES])
{
    struct json *created = caller_event(agent, "ask/created");
    const char *id = json_text(json_at(created, "/params/session_id"));

    snprintf(out, ASK_ID_BYTES, "%s", id ? id : "");
    json_free(created);
}

/* What became of the first ask, who calls again, how, and whether that is the same ask. */
enum fate { WAITING, DETACHED, ANSWERED, WITHIN_UNDO, DELIVERED, TIMED_OUT, WITHDRAWN, CANCELLED };
enum again { SAME_CONNECTION, SAME_PRINCIPAL, OTHER_PRINCIPAL };
static const struct {
    const char *name;
    enum fate fate;
    enum again again;
    const char *first, *second; /* arguments */
    char what;                  /* s: same ask, parked; r: replayed; n: new; c: conflict */
} matches[] = {
    { "the same connection waits already", WAITING, SAME_CONNECTION, "", "", 's' },
    { "another live connection waits", WAITING, SAME_PRINCIPAL, "", "", 'n' },
    { "somebody else's", WAITING, OTHER_PRINCIPAL, "", "", 'n' },
    { "detached, same principal", DETACHED, SAME_PRINCIPAL, "", "", 's' },
    { "detached, somebody else", DETACHED, OTHER_PRINCIPAL, "", "", 'n' },
    { "detached, other words", DETACHED, SAME_PRINCIPAL, "", ",'timeout_seconds':77", 'n' },
    { "answered, never delivered", ANSWERED, SAME_PRINCIPAL, "", "", 'r' },
    { "answered, never delivered, somebody else", ANSWERED, OTHER_PRINCIPAL, "", "", 'n' },
    { "answered, never delivered, other words", ANSWERED, SAME_PRINCIPAL, "",
      ",'timeout_seconds':77", 'n' },
    { "cancelled, never delivered", CANCELLED, SAME_PRINCIPAL, "", "", 'r' },
    { "answered within its window", WITHIN_UNDO, SAME_PRINCIPAL, "", "", 's' },
    { "delivered is never replayed", DELIVERED, SAME_PRINCIPAL, "", "", 'n' },
    { "delivered, same connection", DELIVERED, SAME_CONNECTION, "", "", 'n' },
    { "timed out", TIMED_OUT, SAME_PRINCIPAL, "", "", 'n' },
    { "withdrawn", WITHDRAWN, SAME_PRINCIPAL, "", "", 'n' },
#define KEY(key) ",'idempotency_key':'" key "'"
    { "the same key", DETACHED, SAME_PRINCIPAL, KEY("b1"), KEY("b1"), 's' },
    { "the same key, same connection", WAITING, SAME_CONNECTION, KEY("c1"), KEY("c1"), 's' },
    { "the same key, another waits", WAITING, SAME_PRINCIPAL, KEY("d1"), KEY("d1"), 'n' },
    { "another key is another ask", DETACHED, SAME_PRINCIPAL, KEY("e1"), KEY("e2"), 'n' },
    { "a key where there was none", DETACHED, SAME_PRINCIPAL, "", KEY("f1"), 'n' },
    { "the same key, other words", DETACHED, SAME_PRINCIPAL, KEY("g1"),
      KEY("g1") ",'timeout_seconds':77", 'c' },
    { "the same key of somebody else", DETACHED, OTHER_PRINCIPAL, KEY("h1"),
      KEY("h1") ",'timeout_seconds':77", 'n' },
    { "the same key, answered", ANSWERED, SAME_PRINCIPAL, KEY("i1"), KEY("i1"), 'r' },
    { "the same key, answered, other words", ANSWERED, SAME_PRINCIPAL, KEY("j1"),
      KEY("j1") ",'timeout_seconds':77", 'c' },
    { "another key, answered", ANSWERED, SAME_PRINCIPAL, KEY("k1"), KEY("k2"), 'n' },
};

struct matching {
    struct stage *stage;
    struct caller *agent, *again, *person;
    struct call asked, did, second;
    char title[32], id[ASK_ID_BYTES];
};

static void bring_about(struct matching *match, enum fate fate)
{
    bool is_gone = fate != WAITING && fate != DELIVERED && fate != TIMED_OUT && fate != WITHDRAWN;

    if (is_gone) {
        caller_leave(match->agent);
        stage_settle(match->stage);
    }
    if (fate == ANSWERED || fate == WITHIN_UNDO || fate == DELIVERED) {
        call_run(&match->did, match->person, METHOD_ask_answer,
                 "{'session_id':'%s','selected_ids':['b']}", match->id);
        assert_worked(&match->did);
        if (fate != WITHIN_UNDO)
            stage_advance(match->stage, 5000);
    } else if (fate == CANCELLED) {
        call_run(&match->did, match->person, METHOD_ask_cancel, "{'session_id':'%s'}", match->id);
        stage_advance(match->stage, 5000);
    } else if (fate == TIMED_OUT) {
        stage_advance(match->stage, 300000);
    } else if (fate == WITHDRAWN) {
        call_run(&match->did, match->agent, METHOD_ask_withdraw, "{'session_id':'%s'}", match->id);
        assert_worked(&match->did);
    }
    if (fate == DELIVERED) {
        call_run(&match->did, match->agent, METHOD_ask_delivered, "{'session_ids':['%s']}",
                 match->id);
        assert_worked(&match->did);
    }
}

static void check_match(const struct matching *match, size_t i)
{
    char id[ASK_ID_BYTES];
    bool is_same;

    created_id(match->again, id);
    is_same = strcmp(id, match->id) == 0;
    switch (matches[i].what) {
    case 's':
        if (!is_same || match->second.replies)
            fail_msg("%s: not the same ask", matches[i].name);
        break;
    case 'r':
        if (!is_same || !match->second.is_final || !call_is_yes(&match->second, "/replayed"))
            fail_msg("%s: not replayed", matches[i].name);
        break;
    case 'c':
        assert_failed(&match->second, ERROR_conflicting_arguments, "/idempotency_key");
        break;
    default:
        if (is_same || match->second.replies)
            fail_msg("%s: not a new ask", matches[i].name);
    }
}

static void test_which_ask_a_call_gets(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
        struct identity bot = visitor_agent("bot"), other = visitor_agent("other bot");
        struct identity person = visitor_person("terminal");
        struct matching match = { .stage = *state };

        match.agent = caller_enter(match.stage, "agent", &bot);
        match.person = caller_enter(match.stage, "person", &person);
        snprintf(match.title, sizeof match.title, "Deploy %zu", i);
        ask_open(&match.asked, match.agent, match.title, matches[i].first, match.id);
        bring_about(&match, matches[i].fate);
        match.again = match.agent;
        if (matches[i].again != SAME_CONNECTION)
            match.again = caller_enter(match.stage, "again",
                                       matches[i].again == SAME_PRINCIPAL ? &bot : &other);
        caller_forget(match.again);
        ask_start(&match.second, match.again, match.title, matches[i].second, -1);
        stage_settle(match.stage);
        check_match(&match, i);
        call_release(&match.asked);
        call_release(&match.did);
        call_release(&match.second);
        caller_leave(match.agent);
        caller_leave(match.again);
        caller_leave(match.person);
        stage_advance(match.stage, 3600000);
    }
}

/* What another live connection waits on is not replayed either, be it ever so nearly answered. */
static void test_an_answer_on_its_way_is_its_waiters(void **state)
{
    for (int is_committing = 0; is_committing < 2; is_committing++) {
        struct scene scene;
        struct identity bot = visitor_agent("bot");
        struct caller *second;
        struct call asked = { .label = "second" };
        char title[32], id[ASK_ID_BYTES];

        scene_open(&scene, state, "terminal", "");
        second = caller_enter(scene.stage, "second", &bot);
        scene_get(&scene, &scene.did);
        snprintf(title, sizeof title, "%s", call_text(&scene.did, "/ask/title"));
        scene.stage->store.holds_replies = is_committing;
        call_start(&scene.did, scene.person, METHOD_ask_answer,
                   "{'session_id':'%s','selected_ids':['b']}", scene.id);
        stage_settle(scene.stage);
        ask_start(&asked, second, title, "", -1);
        stage_settle(scene.stage);
        stage_release(scene.stage);
        assert_int_equal(asked.replies, 0);
        created_id(second, id);
        assert_string_not_equal(id, scene.id);
        stage_advance(scene.stage, 5000);
        assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
        assert_int_equal(asked.replies, 0);
        call_release(&asked);
        caller_leave(second);
        scene_close(&scene);
    }
}

/* The same after a crash: no call waits any more, and what the disk has is enough to match. */
static void test_matches_after_a_crash(void **state)
{
    static const char *const mores[] = { "", KEY("k9") };

    for (size_t i = 0; i < ARRAY_LEN(mores); i++) {
        struct stage *stage = *state;
        struct identity bot = visitor_agent("bot");
        struct caller *agent = caller_enter(stage, "agent", &bot);
        struct call asked = { .label = "ask" };
        char first[ASK_ID_BYTES], second[ASK_ID_BYTES], title[32];

        snprintf(title, sizeof title, "Crash %zu", i);
        ask_open(&asked, agent, title, mores[i], first);
        stage_crash(stage);
        agent = caller_enter(stage, "agent", &bot);
        ask_open(&asked, agent, title, mores[i], second);
        assert_string_equal(first, second);
        call_release(&asked);
        caller_leave(agent);
    }
}

/* Two calls of one connection with one ask are answered together, even while it is being stored. */
static void test_two_calls_one_ask(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot"), looking = visitor_person("cli");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *person = caller_enter(stage, "person", &looking);
    struct call first = { .label = "first" }, second = { .label = "second" };
    struct call did = { .label = "act" };

    ask_start(&first, agent, "Twice", "", -1);
    ask_start(&second, agent, "Twice", "", 5);
    stage_settle(stage);
    assert_int_equal(engine_open_count(stage->engine), 1);
    stage_advance(stage, 5000);
    assert_string_equal(call_text(&second, "/action_status"), "pending");
    assert_false(second.is_final);
    assert_int_equal(first.replies, 0);
    call_run(&did, person, METHOD_ask_answer, "{'selected_ids':['a']}");
    assert_worked(&did);
    assert_worked(&first);
    assert_int_equal(second.replies, 1);
    stage->store.fails_create = true;
    ask_start(&first, agent, "Failing twice", "", -1);
    ask_start(&second, agent, "Failing twice", "", -1);
    stage_settle(stage);
    assert_failed(&first, ERROR_storage_failed, "");
    assert_failed(&second, ERROR_storage_failed, "");
    call_release(&first);
    call_release(&second);
    call_release(&did);
}

static void test_collecting(void **state)
{
    struct scene scene;
    struct identity bot = visitor_agent("bot"), other = visitor_agent("other bot");
    struct caller *later, *thief;
    struct call waited = { .label = "wait" }, stolen = { .label = "steal" };

    scene_open(&scene, state, "cli", "");
    caller_leave(scene.agent);
    later = caller_enter(scene.stage, "later", &bot);
    thief = caller_enter(scene.stage, "thief", &other);
    call_start(&waited, later, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':20}", scene.id);
    stage_advance(scene.stage, 19999);
    assert_int_equal(waited.replies, 0);
    stage_advance(scene.stage, 1);
    assert_worked(&waited);
    assert_string_equal(call_text(&waited, "/action_status"), "pending");
    assert_string_equal(waited.session_id, scene.id);
    assert_true(call_text(&waited, "/instructions")[0] != '\0');
    call_run(&stolen, thief, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    assert_failed(&stolen, ERROR_not_found, "/session_id");
    call_run(&stolen, thief, METHOD_ask_withdraw, "{'session_id':'%s'}", scene.id);
    assert_failed(&stolen, ERROR_not_found, "/session_id");
    scene_answer(&scene, "b");
    for (int i = 0; i < 3; i++) { /* collecting again returns the same result */
        call_run(&waited, later, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
        assert_true(waited.is_final);
        assert_string_equal(call_text(&waited, "/selection/selected_ids/0"), "b");
    }
    call_run(&stolen, thief, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    assert_failed(&stolen, ERROR_not_found, "/session_id");
    call_run(&stolen, thief, METHOD_ask_wait, "{'session_id':'aaaaaaaaaaaaaaaaaaaaaaaaaa'}");
    assert_failed(&stolen, ERROR_not_found, "/session_id");
    call_release(&waited);
    call_release(&stolen);
    scene_close(&scene);
}

/* provide_choice {session_id} is the same by another door. */
static void test_collecting_by_the_tool(void **state)
{
    struct scene scene;
    struct call waited = { .label = "wait" };
    const char *params = "{'tool':'provide_choice','arguments':{'session_id':'%s',"
                         "'wait_seconds':%d}}";

    scene_open(&scene, state, "cli", "");
    call_start(&waited, scene.agent, METHOD_ask_create, params, scene.id, 10);
    stage_advance(scene.stage, 10000);
    assert_string_equal(call_text(&waited, "/action_status"), "pending");
    scene_answer(&scene, "b");
    call_run(&waited, scene.agent, METHOD_ask_create, params, scene.id, 0);
    assert_string_equal(call_text(&waited, "/selection/selected_ids/0"), "b");
    call_release(&waited);
    scene_close(&scene);
}

static void test_bad_waits(void **state)
{
    static const struct {
        const char *params;
        enum error_code code;
        const char *path;
    } cases[] = {
        { "{}", ERROR_missing_property, "/session_id" },
        { "{'session_id':7}", ERROR_missing_property, "/session_id" },
        { "{'session_id':'short'}", ERROR_bad_format, "/session_id" },
        { "{'session_id':'AAAAAAAAAAAAAAAAAAAAAAAAAA'}", ERROR_bad_format, "/session_id" },
        { "{'session_id':'aaaaaaaaaaaaaaaaaaaaaaaaaa','wait_seconds':-2}", ERROR_out_of_range,
          "/wait_seconds" },
        { "{'session_id':'aaaaaaaaaaaaaaaaaaaaaaaaaa','wait_seconds':2592001}", ERROR_out_of_range,
          "/wait_seconds" },
    };
    static const struct {
        const char *params;
        enum error_code code;
        const char *path;
    } submits[] = {
        { "{}", ERROR_bad_enum, "" },
        { "{'tool':'no_such_tool'}", ERROR_bad_enum, "" },
        { "{'tool':'provide_choice'}", ERROR_bad_type, "" },
        { "{'tool':'provide_choice','wait_seconds':-2,'arguments':{}}", ERROR_out_of_range,
          "/wait_seconds" },
        { "{'tool':'provide_choice','arguments':{}}", ERROR_missing_property, "/title" },
    };
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct call call = { .label = "bad" };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(&call, agent, METHOD_ask_wait, "%s", cases[i].params);
        assert_failed(&call, cases[i].code, cases[i].path);
    }
    for (size_t i = 0; i < ARRAY_LEN(submits); i++) {
        call_run(&call, agent, METHOD_ask_create, "%s", submits[i].params);
        assert_failed(&call, submits[i].code, submits[i].path);
    }
    assert_int_equal(stage->store.writes[WRITE_create], 0);
    assert_int_equal(engine_open_count(stage->engine), 0);
}

/* The agent's client gave up: the wait ends with `pending`, and the form says so. */
static void test_detaching(void **state)
{
    struct scene scene;
    struct call waited = { .label = "wait" };

    scene_open(&scene, state, "cli", "");
    call_start(&waited, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':50}",
               scene.id);
    call_run(&scene.did, scene.agent, METHOD_ask_detach, "{}");
    call_run(&scene.did, scene.agent, METHOD_ask_detach,
             "{'session_id':'aaaaaaaaaaaaaaaaaaaaaaaaaa'}");
    call_run(&scene.did, scene.person, METHOD_ask_detach, "{'session_id':'%s'}", scene.id);
    assert_int_equal(scene.asked.replies + waited.replies, 0); /* only its own, only that one */
    call_run(&scene.did, scene.agent, METHOD_ask_detach, "{'session_id':'%s'}", scene.id);
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "pending");
    assert_string_equal(call_text(&waited, "/action_status"), "pending");
    scene_get(&scene, &scene.did);
    assert_true(call_is_yes(&scene.did, "/ask/detached"));
    call_start(&waited, scene.agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    stage_settle(scene.stage);
    scene_get(&scene, &scene.did);
    assert_false(call_is_yes(&scene.did, "/ask/detached"));
    scene_answer(&scene, "a");
    assert_true(waited.is_final);
    assert_int_equal(scene.asked.replies, 1);
    call_release(&waited);
    scene_close(&scene);
}

/* Before its ask is on disk there is nothing to tell: the reply comes when there is. */
static void test_a_wait_that_ends_before_its_ask_is_stored(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct call asked = { .label = "ask" };

    ask_start(&asked, agent, "Unborn", "", 0);
    engine_flush(stage->engine);
    stage->store.holds_replies = true;
    stage_advance(stage, 1000);
    assert_int_equal(asked.replies, 0);
    stage_release(stage);
    stage_advance(stage, 0);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    assert_int_equal(caller_count(agent, "ask/created"), 1);
    call_release(&asked);
}

static void test_who_waits_hears_of_another_deadline(void **state)
{
    struct scene scene;
    struct json *event;

    scene_open(&scene, state, "cli", "");
    scene_do(&scene, METHOD_ask_extend, ",'seconds':900");
    event = caller_event(scene.agent, "ask/retimed");
    assert_string_equal(json_text(json_at(event, "/params/session_id")), scene.id);
    assert_int_equal(json_member_integer(json_at(event, "/params"), "remaining_ms", 0), 900000);
    assert_int_equal(caller_count(scene.person, "ask/retimed"), 0);
    json_free(event);
    scene_close(&scene);
}

/* Names are the agents' to invent: they cost nothing for long, and limits outlive the tidying. */
static void test_many_principals(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct call call = { .label = "ask" };
    char name[32] = "", id[ASK_ID_BYTES];

    stage_set(stage, "max_pending", "1");
    ask_open(&call, agent, "First", "", id);
    for (int i = 0; i < 2500; i++) {
        struct identity other = visitor_agent(name);
        struct caller *passer;
        struct call asked = { .label = "other" };

        snprintf(name, sizeof name, "bot %d", i);
        passer = caller_enter(stage, "passer", &other);
        ask_start(&asked, passer, "Passing", ",'timeout_seconds':1", -1);
        stage_settle(stage);
        caller_leave(passer);
        stage_advance(stage, 100);
    }
    ask_start(&call, agent, "Second", "", -1);
    assert_failed(&call, ERROR_rate_limited, "");
    call_release(&call);
}

static void ask_nth(struct stage *stage, struct caller *agent, struct call *call, int n)
{
    char title[32];

    snprintf(title, sizeof title, "Number %d", n);
    ask_start(call, agent, title, "", 0);
    stage_settle(stage);
    stage_advance(stage, 0);
    assert_int_equal(call->replies, 1);
}

static void test_so_many_pending(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot"), other = visitor_agent("other bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct caller *neighbour = caller_enter(stage, "neighbour", &other);
    struct call call = { .label = "ask" };
    char id[ASK_ID_BYTES];

    stage_set(stage, "max_pending", "3");
    for (int i = 0; i < 3; i++) {
        ask_nth(stage, agent, &call, i);
        assert_worked(&call);
    }
    snprintf(id, sizeof id, "%s", call.session_id);
    ask_nth(stage, agent, &call, 3);
    assert_failed(&call, ERROR_rate_limited, "");
    assert_true(call.err.retry_after_s > 0);
    ask_nth(stage, agent, &call, 2); /* its own again is no new one */
    assert_worked(&call);
    ask_nth(stage, neighbour, &call, 3);
    assert_worked(&call);
    stage_crash(stage); /* and a restart forgets none */
    agent = caller_enter(stage, "agent", &bot);
    ask_nth(stage, agent, &call, 3);
    assert_failed(&call, ERROR_rate_limited, "");
    call_run(&call, agent, METHOD_ask_withdraw, "{'session_id':'%s'}", id);
    assert_worked(&call);
    ask_nth(stage, agent, &call, 3);
    assert_worked(&call);
    call_release(&call);
}

static void test_so_many_a_minute(void **state)
{
    struct stage *stage = *state;
    struct identity bot = visitor_agent("bot");
    struct caller *agent = caller_enter(stage, "agent", &bot);
    struct call call = { .label = "ask" };
    int n = 0;

    stage_set(stage, "asks_per_minute", "4");
    for (; n < 4; n++) {
        ask_nth(stage, agent, &call, n);
        assert_worked(&call);
        stage_advance(stage, 10000);
    }
    ask_nth(stage, agent, &call, n);
    assert_failed(&call, ERROR_rate_limited, "");
    assert_int_equal(call.err.retry_after_s, 20);
    stage_advance(stage, call.err.retry_after_s * 1000 - 1000);
    ask_nth(stage, agent, &call, n);
    assert_failed(&call, ERROR_rate_limited, "");
    stage_advance(stage, 1000);
    ask_nth(stage, agent, &call, n);
    assert_worked(&call);
    ask_nth(stage, agent, &call, n + 1);
    assert_failed(&call, ERROR_rate_limited, "");
    stage_advance(stage, 120000);
    for (int i = 0; i < 4; i++) {
        ask_nth(stage, agent, &call, 100 + i);
        assert_worked(&call);
    }
    call_release(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_which_ask_a_call_gets),
        CASE(test_an_answer_on_its_way_is_its_waiters),
        CASE(test_matches_after_a_crash),
        CASE(test_two_calls_one_ask),
        CASE(test_collecting),
        CASE(test_collecting_by_the_tool),
        CASE(test_bad_waits),
        CASE(test_detaching),
        CASE(test_a_wait_that_ends_before_its_ask_is_stored),
        CASE(test_who_waits_hears_of_another_deadline),
        CASE(test_many_principals),
        CASE(test_so_many_pending),
        CASE(test_so_many_a_minute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
