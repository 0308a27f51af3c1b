/*
 * test_engine_follow.c - two engines that share a database: what is asked at one is decided,
 * moved, taken back and collected at the other, and what happens once happens once for both.
 * Proves: R13.1, R5.3, R5.5, F3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state.h"

static void test_an_answer_there_reaches_who_waits_here(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    assert_int_equal(scene.asked.replies, 0); /* this hub has not looked yet */
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    assert_true(scene.asked.is_final);
    scene_answer(&scene, "a");
    assert_failed(&scene.did, ERROR_already_answered, "/session_id");
    scene_assert(&scene, "submitted", 2);
    scene_close(&scene);
}

/* Both decide before either hears of the other: the database has one winner, and says who. */
static void test_two_decide_at_once(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    scene_do(&scene, METHOD_ask_cancel, "");
    assert_int_not_equal(scene.did.err.code, ERROR_NONE);
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    assert_int_equal(stage_count(pair->here, "cancelled done"), 0);
    scene_close(&scene);
}

static void test_what_was_answered_there_is_undone_here(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "web", "");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    scene_do(&scene, METHOD_ask_undo, ""); /* though it was not told of the answer */
    assert_worked(&scene.did);
    assert_int_equal(scene.asked.replies, 0);
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['a']");
    assert_worked(&pair->did);
    stage_wait(pair->here, pair_is_replied, &scene.asked); /* its window is five seconds */
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "a");
    scene_close(&scene);
}

static void test_time_given_there_is_told_here(void **state)
{
    struct pair *pair = *state;
    struct scene scene;
    struct json *told;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    caller_forget(scene.agent);
    pair_far_does(pair, METHOD_ask_extend, &scene, ",'seconds':900");
    assert_worked(&pair->did);
    pair_wait_heard(scene.agent, "ask/retimed");
    told = caller_event(scene.agent, "ask/retimed");
    assert_in_range(json_member_integer(json_at(told, "/params"), "remaining_ms", -1), 800000,
                    1300000);
    json_free(told);
    scene_close(&scene);
}

static void test_time_is_up_once(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", ",'timeout_seconds':10");
    chosen_run(pair->here->where, "UPDATE asks SET deadline_ms = deadline_ms - 9000");
    stage_restart(pair->there); /* finds the earlier deadline */
    pair_enter_far(pair, "cli");
    stage_wait(pair->there, pair_has_ask, pair->there);
    call_run(&pair->did, pair->far, METHOD_ask_watch, "{}");
    pair_wait_heard(pair->far, "ask/changed");
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_string_equal(call_text(&scene.asked, "/action_status"), "timeout");
    assert_int_equal(
        stage_count(pair->here, "expired done") + stage_count(pair->there, "expired done"), 1);
    scene_close(&scene);
}

static void test_withdrawn_here_is_over_there(void **state)
{
    struct pair *pair = *state;
    struct scene scene;
    struct call withdrawn = { 0 };

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    call_run(&withdrawn, scene.agent, METHOD_ask_withdraw, "{'session_id':'%s'}", scene.id);
    assert_worked(&withdrawn);
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_failed(&pair->did, ERROR_wrong_state, "/session_id");
    call_release(&withdrawn);
    scene_close(&scene);
}

static void test_asked_back_there_explained_here(void **state)
{
    struct pair *pair = *state;
    struct scene scene;
    struct call waits = { 0 };

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair_far_does(pair, METHOD_ask_back, &scene, ",'text':'Why today?'");
    assert_worked(&pair->did);
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_false(scene.asked.is_final);
    assert_string_equal(call_text(&scene.asked, "/asked_back"), "Why today?");
    call_start(&waits, scene.agent, METHOD_ask_wait,
               "{'session_id':'%s','explanation':'The sale begins.'}", scene.id);
    stage_settle(pair->here);
    assert_int_equal(waits.replies, 0);
    pair_far_does(pair, METHOD_ask_get, &scene, "");
    assert_string_equal(call_text(&pair->did, "/talk/1/text"), "The sale begins.");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    stage_wait(pair->here, pair_is_replied, &waits);
    assert_true(waits.is_final);
    call_release(&waits);
    scene_close(&scene);
}

/* The agent left here, and comes back there: it collects its answer once. */
static void test_collected_elsewhere(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_agent("bot");
    struct call waits = { 0 }, again = { 0 };
    struct caller *agent;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    caller_leave(scene.agent);
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    agent = caller_enter(pair->there, "agent", &identity);
    call_run(&waits, agent, METHOD_ask_wait, "{'session_id':'%s'}", scene.id);
    assert_true(waits.is_final);
    assert_string_equal(call_text(&waits, "/selection/selected_ids/0"), "b");
    call_run(&again, agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    assert_worked(&again);
    assert_true(chosen_number(pair->here->where, "SELECT delivered_ms FROM asks") > 0);
    call_release(&waits);
    call_release(&again);
    scene_close(&scene);
}

/* One that ended without a word has everything again once it is back. */
static void test_what_was_decided_meanwhile_is_found(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct call waits = { 0 };
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    stage_crash(pair->here);
    call_run(&waits, caller_enter(pair->here, "again", &agent), METHOD_ask_wait,
             "{'session_id':'%s'}", scene.id);
    assert_true(waits.is_final);
    assert_string_equal(call_text(&waits, "/selection/selected_ids/0"), "b");
    call_release(&waits);
    call_release(&scene.asked);
    call_release(&scene.did);
}

/* The other call and the engine that it reaches while the first one is about to be stored. */
struct rival {
    struct pair *pair;
    struct call call;
};

static void call_here_too(void *context)
{
    struct rival *rival = context;
    struct identity agent = visitor_agent("bot");

    ask_start(&rival->call, caller_enter(rival->pair->here, "agent", &agent), "Deploy", "", -1);
    pair_wait_noted(rival->pair->here, "create done", 1);
}

/* One answer there is the result of both calls. */
static void assert_one_ask(struct rival *first, struct call *second)
{
    struct pair *pair = first->pair;

    assert_int_equal(chosen_number(pair->here->where, "SELECT count(*) FROM asks"), 1);
    call_run(&pair->did, pair->far, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_worked(&pair->did);
    stage_wait(pair->there, pair_is_replied, second);
    stage_wait(pair->here, pair_is_replied, &first->call);
    assert_string_equal(call_text(&first->call, "/selection/selected_ids/0"), "b");
    assert_string_equal(call_text(second, "/selection/selected_ids/0"), "b");
    assert_string_equal(first->call.session_id, second->session_id);
    call_release(&first->call);
    call_release(second);
}

/* The same call by the same agent, at both before either knows of the other's. */
static void test_one_call_at_two_is_one_ask(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct rival first = { .pair = pair, .call.label = "first" };
    struct call second = { .label = "second" };

    NEEDS_SERVER;
    pair_enter_far(pair, "cli");
    pair->there->store.meanwhile = call_here_too;
    pair->there->store.meanwhile_context = &first;
    ask_start(&second, caller_enter(pair->there, "agent", &agent), "Deploy", "", -1);
    pair_wait_noted(pair->there, "create repeated", 1);
    assert_int_equal(stage_count(pair->here, "create repeated"), 0);
    assert_one_ask(&first, &second);
}

/* The same call there once they have heard of it: it is found, and nothing is created. */
static void test_one_call_there_after_here_is_one_ask(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct rival first = { .pair = pair, .call.label = "first" };
    struct call second = { .label = "second" };

    NEEDS_SERVER;
    pair_enter_far(pair, "cli");
    call_here_too(&first);
    stage_wait(pair->there, pair_has_ask, pair->there);
    ask_start(&second, caller_enter(pair->there, "agent", &agent), "Deploy", "", -1);
    stage_settle(pair->there);
    assert_int_equal(pair->there->store.writes[WRITE_create], 0);
    assert_one_ask(&first, &second);
}

/* Asked, left and answered here. */
static void miss_the_answer(void *context)
{
    struct pair *pair = context;
    struct identity agent = visitor_agent("bot"), person = visitor_person("cli");
    struct caller *asking = caller_enter(pair->here, "agent", &agent);
    struct caller *near = caller_enter(pair->here, "near", &person);
    struct call first = { .label = "first" };

    ask_start(&first, asking, "Deploy", "", -1);
    stage_settle(pair->here);
    caller_leave(asking);
    call_run(&pair->did, near, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_worked(&pair->did);
    assert_int_equal(first.replies, 0);
    call_release(&first);
}

/* The same call again, at one that looked for its ask before it was there. */
static void test_one_call_again_gets_the_answer_it_missed(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct call second = { .label = "second" };

    NEEDS_SERVER;
    pair->there->store.meanwhile = miss_the_answer;
    pair->there->store.meanwhile_context = pair;
    ask_start(&second, caller_enter(pair->there, "agent", &agent), "Deploy", "", -1);
    stage_wait(pair->there, pair_is_replied, &second);
    assert_int_equal(chosen_number(pair->here->where, "SELECT count(*) FROM asks"), 1);
    assert_int_equal(stage_count(pair->there, "create repeated"), 1);
    assert_string_equal(call_text(&second, "/selection/selected_ids/0"), "b");
    assert_true(second.is_final);
    call_release(&second);
}

/* The first connection is lost and the person answers, both while the second call looks. It looks
 * because it has a key and an answer is there that no agent has heard. */
static void test_one_call_again_gets_the_answer_given_while_it_looked(void **state)
{
    struct pair *pair = *state;
    struct stage *here = pair ? pair->here : NULL;
    struct identity agent = visitor_agent("bot"), person = visitor_person("cli");
    struct call unheard = { .label = "unheard" }, first = { .label = "first" };
    struct call second = { .label = "second" };
    struct caller *gone, *asking, *near;

    NEEDS_SERVER;
    near = caller_enter(here, "near", &person);
    gone = caller_enter(here, "gone", &agent);
    ask_start(&unheard, gone, "Unheard", "", -1);
    stage_settle(here);
    caller_leave(gone);
    call_run(&pair->did, near, METHOD_ask_answer, "{'selected_ids':['a']}");
    assert_worked(&pair->did);
    asking = caller_enter(here, "agent", &agent);
    ask_start(&first, asking, "Deploy", ",'idempotency_key':'k'", -1);
    stage_settle(here);
    here->store.holds_missing = true;
    ask_start(&second, caller_enter(here, "again", &agent), "Deploy", ",'idempotency_key':'k'", -1);
    stage_settle(here);
    caller_leave(asking);
    call_run(&pair->did, near, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_worked(&pair->did);
    stage_release_missing(here);
    stage_wait(here, pair_is_replied, &second);
    assert_int_equal(here->store.writes[WRITE_create], 2);
    assert_string_equal(call_text(&second, "/selection/selected_ids/0"), "b");
    call_release(&unheard);
    call_release(&first);
    call_release(&second);
}

/* While the row is read nothing is written yet: the act is under way all the same. */
static void test_what_is_read_for_an_act_is_under_way(void **state)
{
    struct pair *pair = *state;
    struct scene scene;
    struct call listed = { .label = "list" };

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    stage_settle(pair->there);
    assert_true(engine_is_settled(pair->there->engine));
    call_start(&listed, pair->far, METHOD_ask_list, "{'which':'completed'}");
    assert_int_equal(listed.replies, 0);
    assert_false(engine_is_settled(pair->there->engine));
    stage_wait(pair->there, pair_is_replied, &listed);
    assert_true(engine_is_settled(pair->there->engine));
    call_start(&pair->did, pair->far, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}",
               scene.id);
    assert_int_equal(pair->there->store.writes[WRITE_change], 0);
    assert_false(engine_is_settled(pair->there->engine));
    stage_wait(pair->there, pair_is_replied, &pair->did);
    assert_true(engine_is_settled(pair->there->engine));
    assert_worked(&pair->did);
    call_release(&listed);
    scene_close(&scene);
}

/* A call that waits for a person holds up no hub that leaves; one that waits no longer does. */
static void test_only_a_reply_that_is_due_is_under_way(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct call waits = { .label = "waits" }, looks = { .label = "looks" };
    struct caller *caller;

    NEEDS_SERVER;
    caller = caller_enter(pair->here, "agent", &agent);
    ask_start(&waits, caller, "Deploy", "", -1);
    pair_wait_noted(pair->here, "create done", 1);
    stage_settle(pair->here);
    assert_true(engine_is_settled(pair->here->engine));
    ask_start(&looks, caller, "Release", "", 0);
    pair_wait_noted(pair->here, "create done", 2);
    assert_int_equal(looks.replies, engine_is_settled(pair->here->engine));
    stage_wait(pair->here, pair_is_replied, &looks);
    stage_settle(pair->here);
    assert_true(engine_is_settled(pair->here->engine));
    assert_int_equal(waits.replies, 0);
    call_release(&waits);
    call_release(&looks);
}

/* They hear of it there, and decide, before our own completion has run. */
static void test_news_overtake_our_own_completion(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct call asked = { .label = "ask" };

    NEEDS_SERVER;
    pair_enter_far(pair, "cli");
    pair->here->store.holds_replies = true;
    ask_start(&asked, caller_enter(pair->here, "agent", &agent), "Deploy", "", -1);
    stage_settle(pair->here);
    stage_wait(pair->there, pair_has_ask, pair->there);
    call_run(&pair->did, pair->far, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_worked(&pair->did);
    pair_wait_noted(pair->here, "news of ask", 1);
    assert_int_equal(asked.replies, 0);
    stage_release(pair->here);
    stage_wait(pair->here, pair_is_replied, &asked);
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    call_release(&asked);
}

/* The news of the question are slow: its answer is acknowledged once the conversation has gone on
 * all the same, for the next request may go to any hub. */
static void test_a_question_is_answered_where_it_is_not_known_yet(void **state)
{
    static const char turn[] =
        "'event':'tool_calls','body':{'tool_calls':[{'id':'t1','name':'ask_user_question','input':"
        "{'questions':[{'question':'Which?','options':[{'label':'A'},{'label':'B'}]}]}}]}";
    struct pair *pair = *state;
    struct identity identity = visitor_agent("builder");
    struct call said = { .label = "host" };
    struct caller *host;
    char id[ASK_ID_BYTES];

    NEEDS_SERVER;
    identity.token = "builder";
    identity.token_id = "0123456789abcdef";
    identity.uid = -1;
    identity.directory = NULL;
    host = caller_enter(pair->here, "host", &identity);
    pair_enter_far(pair, "api");
    pair->there->drops_news = true;
    call_run(&said, host, METHOD_conversation_new, "{}");
    snprintf(id, sizeof id, "%s", call_text(&said, "/conversation"));
    call_run(&said, host, METHOD_conversation_say, "{'conversation':'%s',%s}", id, turn);
    assert_worked(&said);
    stage_settle(pair->here); /* asked; from here on it stands still */
    call_run(&pair->did, pair->far, METHOD_conversation_say,
             "{'conversation':'%s','event':'user_question_response','body':"
             "{'answers':{'Which?':'A'}}}",
             id);
    assert_worked(&pair->did);
    assert_string_equal(call_text(&pair->did, "/state/type"), "llm_requesting");
    call_run(&said, host, METHOD_conversation_get, "{'conversation':'%s'}", id);
    assert_string_equal(call_text(&said, "/state/type"), "llm_requesting");
    call_release(&said);
}

/* By itself, at its start, it reads all twice. */
static bool has_read_all(void *context)
{
    return ((struct stage *)context)->engine->load_pass >= 2;
}

/* More than is told one by one: all is read again, and nothing is missed by that. */
static void test_so_much_that_all_is_read_again(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    stage_wait(pair->there, has_read_all, pair->there);
    /* As if events had been there, and were gone before anybody looked. */
    chosen_run(pair->here->where, "UPDATE counter SET seq = seq + 50000");
    scene_open(&scene, (void **)&pair->here, "web", "");
    pair_enter_far(pair, "cli");
    pair_wait_noted(pair->there, "resync", 1);
    stage_wait(pair->there, pair_has_ask, pair->there);
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    assert_worked(&pair->did);
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    assert_string_equal(call_text(&scene.asked, "/selection/selected_ids/0"), "b");
    scene_close(&scene);
}

static bool is_loaded(void *context)
{
    return engine_is_loaded(((struct stage *)context)->engine);
}

/* Until it is known which processes are agents', theirs could pass for a person's. */
static void test_nobody_is_served_before_the_clients_are_known(void **state)
{
    struct pair *pair = *state;

    NEEDS_SERVER;
    pair->there->fails_lists = true;
    stage_restart(pair->there);
    assert_false(is_loaded(pair->there));
    pair->there->fails_lists = false;
    stage_wait(pair->there, is_loaded, pair->there);
}

static void test_a_list_that_can_not_be_read_says_so(void **state)
{
    struct pair *pair = *state;
    struct scene scene;

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    chosen_run(pair->here->where, "ALTER TABLE asks RENAME TO gone");
    call_run(&pair->did, pair->far, METHOD_ask_list, "{'which':'completed'}");
    chosen_run(pair->here->where, "ALTER TABLE gone RENAME TO asks");
    assert_failed(&pair->did, ERROR_storage_failed, "");
    call_run(&pair->did, pair->far, METHOD_ask_list, "{}");
    assert_worked(&pair->did);
    assert_string_equal(call_text(&pair->did, "/asks/0/session_id"), scene.id);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR(test_an_answer_there_reaches_who_waits_here),
        PAIR(test_two_decide_at_once),
        PAIR(test_what_was_answered_there_is_undone_here),
        PAIR(test_time_given_there_is_told_here),
        PAIR(test_time_is_up_once),
        PAIR(test_withdrawn_here_is_over_there),
        PAIR(test_asked_back_there_explained_here),
        PAIR(test_collected_elsewhere),
        PAIR(test_what_was_decided_meanwhile_is_found),
        PAIR(test_one_call_at_two_is_one_ask),
        PAIR(test_one_call_there_after_here_is_one_ask),
        PAIR(test_one_call_again_gets_the_answer_it_missed),
        PAIR(test_one_call_again_gets_the_answer_given_while_it_looked),
        PAIR(test_what_is_read_for_an_act_is_under_way),
        PAIR(test_only_a_reply_that_is_due_is_under_way),
        PAIR(test_news_overtake_our_own_completion),
        PAIR(test_a_question_is_answered_where_it_is_not_known_yet),
        PAIR(test_so_much_that_all_is_read_again),
        PAIR(test_nobody_is_served_before_the_clients_are_known),
        PAIR(test_a_list_that_can_not_be_read_says_so),
    };

    setenv("SAYSO_TEST_STORE", "postgres", 1); /* no other store is shared */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
