/*
 * test_engine_rules.c - an answer that stands for asks of its kind: to which it is given, to which
 * never, what it says of itself, and how it ends.
 * Proves: R2.2 R5.1 (in one process)
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

static const char *const good = "'selection_mode':'single','options':[{'id':'a','label':'Alpha',"
                                "'recommended':true},{'id':'b','label':'Beta'}]";

struct world {
    struct stage *stage;
    struct caller *agent, *person, *asker;
    struct call asked, did;
    char id[ASK_ID_BYTES];
};

static void world_open(struct world *world, void **state)
{
    struct identity agent = visitor_agent("bot"), person = visitor_person("web");

    *world = (struct world){ .stage = *state };
    agent.directory = "/home/me/shop";
    world->agent = caller_enter(world->stage, "agent", &agent);
    world->person = caller_enter(world->stage, "person", &person);
}

static void world_close(struct world *world)
{
    call_release(&world->asked);
    call_release(&world->did);
}

/* The ask is made; whether it waits is the caller's to see. */
static void ask_by(struct world *world, struct caller *agent, const char *title, const char *prompt,
                   const char *more)
{
    world->asker = agent;
    call_release(&world->asked);
    world->asked = (struct call){ .stage = world->stage, .label = "asked" };
    call_start(&world->asked, agent, METHOD_ask_create,
               "{'tool':'provide_choice','arguments':{'title':'%s','prompt':'%s',%s%s}}", title,
               prompt, good, more);
    stage_settle(world->stage);
}

static void ask(struct world *world, const char *title, const char *prompt)
{
    ask_by(world, world->agent, title, prompt, "");
}

static const char cache[] = "Which cache do we take for the shop?";
static const char again[] = "Another shop needs one: which cache now?";

static void find_open(struct world *world)
{
    call_run(&world->did, world->person, METHOD_ask_list, "{'which':'active'}");
    snprintf(world->id, sizeof world->id, "%s", call_text(&world->did, "/asks/0/session_id"));
    assert_int_equal(strlen(world->id), ASK_ID_BYTES - 1);
}

static void answer(struct world *world, const char *option)
{
    find_open(world);
    call_run(&world->did, world->person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['%s']}", world->id, option);
    assert_worked(&world->did);
    stage_advance(world->stage, 10000);
    assert_true(world->asked.is_final);
    call_run(&world->did, world->asker, METHOD_ask_delivered, "{'session_ids':['%s']}", world->id);
}

static void let_stand(struct world *world, const char *more)
{
    call_run(&world->did, world->person, METHOD_rule_add, "{'session_id':'%s'%s}", world->id, more);
}

static void assert_by_rule(const struct world *world, const char *option)
{
    assert_int_equal(world->asked.replies, 1);
    assert_true(world->asked.is_final);
    assert_string_equal(call_text(&world->asked, "/action_status"), "selected");
    assert_string_equal(call_text(&world->asked, "/selection/selected_ids/0"), option);
    assert_false(call_is_yes(&world->asked, "/explicit"));
    assert_true(call_is_yes(&world->asked, "/auto_submitted"));
    assert_int_equal(strlen(call_text(&world->asked, "/rule")), ASK_ID_BYTES - 1);
    assert_string_equal(call_text(&world->asked, "/answered_by/via"), "rule");
}

static void test_it_is_given_to_its_kind_alone(void **state)
{
    struct world world;
    struct identity other = visitor_agent("other"), elsewhere = visitor_agent("bot");

    other.directory = elsewhere.directory = "/home/me/shop";
    elsewhere.directory = "/home/me/blog";
    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    let_stand(&world, "");
    assert_worked(&world.did);
    assert_string_equal(call_text(&world.did, "/rule/title"), "Cache");
    assert_string_equal(call_text(&world.did, "/rule/agent"), "bot");
    assert_string_equal(call_text(&world.did, "/rule/directory"), "/home/me/shop");
    assert_string_equal(call_text(&world.did, "/rule/summary"), "Beta");
    call_run(&world.did, world.person, METHOD_ask_watch, "{}");

    ask(&world, "Cache", cache);
    assert_by_rule(&world, "b");
    ask(&world, "Cache", again); /* other words: a person is asked */
    assert_int_equal(world.asked.replies, 0);
    answer(&world, "a");
    ask(&world, "Store", cache);
    assert_int_equal(world.asked.replies, 0);
    answer(&world, "a");
    ask_by(&world, caller_enter(world.stage, "other", &other), "Cache", cache, "");
    assert_int_equal(world.asked.replies, 0);
    answer(&world, "a");
    ask_by(&world, caller_enter(world.stage, "elsewhere", &elsewhere), "Cache", cache, "");
    assert_int_equal(world.asked.replies, 0);
    answer(&world, "a");
    ask_by(&world, world.agent, "Cache", cache, ",'destructive':true");
    assert_int_equal(world.asked.replies, 0);
    world_close(&world);
}

static void test_whatever_the_prompt_says(void **state)
{
    struct world world;

    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    let_stand(&world, ",'any_prompt':true,'seconds':60");
    assert_worked(&world.did);
    ask(&world, "Cache", again);
    assert_by_rule(&world, "b");
    call_run(&world.did, world.person, METHOD_ask_history, "{'via':'rule'}");
    assert_int_equal(json_length(json_at(world.did.json, "/asks")), 1); /* it is looked back at */
    assert_string_equal(call_text(&world.did, "/asks/0/status"), "auto_submitted");
    stage_advance(world.stage, 60000);
    ask(&world, "Cache", "A third shop needs a cache: which one?"); /* its time is over */
    assert_int_equal(world.asked.replies, 0);
    world_close(&world);
}

static void test_it_outlives_a_restart_and_is_removed(void **state)
{
    struct world world;
    char id[ASK_ID_BYTES];

    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    let_stand(&world, "");
    stage_crash(world.stage);
    stage_restart(world.stage);
    world_close(&world);
    world_open(&world, state);
    ask(&world, "Cache", cache);
    assert_by_rule(&world, "b");
    call_run(&world.did, world.person, METHOD_rule_list, "{}");
    assert_int_equal(json_length(json_at(world.did.json, "/rules")), 1);
    snprintf(id, sizeof id, "%s", call_text(&world.did, "/rules/0/id"));
    call_run(&world.did, world.person, METHOD_rule_remove, "{'id':'%.6s'}", id);
    assert_worked(&world.did);
    call_run(&world.did, world.person, METHOD_rule_remove, "{'id':'%s'}", id);
    assert_failed(&world.did, ERROR_not_found, "/id");
    ask(&world, "Cache", cache);
    assert_int_equal(world.asked.replies, 0);
    world_close(&world);
}

static void test_a_failing_disk_shows_the_ask_instead(void **state)
{
    struct world world;

    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    let_stand(&world, "");
    call_run(&world.did, world.person, METHOD_ask_watch, "{}");
    world.stage->store.fails_events = 1U << EVENT_RULE_APPLIED;
    ask(&world, "Cache", cache);
    assert_int_equal(world.asked.replies, 0);
    assert_true(caller_count(world.person, "ask/changed") > 0);
    world.stage->store.fails_events = 0;
    answer(&world, "a"); /* a person answers it */
    assert_string_equal(call_text(&world.asked, "/selection/selected_ids/0"), "a");
    assert_true(call_is_yes(&world.asked, "/explicit"));
    world_close(&world);
}

/* A person answers between the ask and the rule: one decision wins, and the agent gets that one. */
static void test_two_at_once(void **state)
{
    struct world world;

    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    let_stand(&world, "");
    world.stage->store.holds_writes = 1U << EVENT_RULE_APPLIED;
    ask(&world, "Cache", cache);
    find_open(&world);
    call_start(&world.did, world.person, METHOD_ask_answer,
               "{'session_id':'%s','selected_ids':['a']}", world.id);
    stage_settle(world.stage);
    stage_release(world.stage);
    stage_advance(world.stage, 10000);
    assert_int_equal(world.asked.replies, 1);
    assert_string_equal(call_text(&world.asked, "/selection/selected_ids/0"), "a");
    assert_true(call_is_yes(&world.asked, "/explicit"));
    world_close(&world);
}

static void test_one_of_two_that_stand_for_the_same(void **state)
{
    struct world world;
    struct call second = { 0 };
    bool is_first; /* a store that is far away may end two reads in either order */

    world_open(&world, state);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    call_start(&world.did, world.person, METHOD_rule_add, "{'session_id':'%s'}", world.id);
    call_start(&second, world.person, METHOD_rule_add, "{'session_id':'%s'}", world.id);
    stage_settle(world.stage);
    is_first = world.did.err.code == ERROR_NONE;
    assert_worked(is_first ? &world.did : &second);
    assert_failed(is_first ? &second : &world.did, ERROR_conflicting_arguments, "/session_id");
    call_release(&second);
    world_close(&world);
}

static void test_what_is_refused(void **state)
{
    struct world world;

    world_open(&world, state);
    ask(&world, "Cache", cache);
    find_open(&world);
    let_stand(&world, ""); /* it has not been answered */
    assert_failed(&world.did, ERROR_wrong_state, "/session_id");
    answer(&world, "b");
    let_stand(&world, ",'seconds':59");
    assert_failed(&world.did, ERROR_out_of_range, "/seconds");
    let_stand(&world, ",'seconds':31536001");
    assert_failed(&world.did, ERROR_out_of_range, "/seconds");
    let_stand(&world, "");
    assert_worked(&world.did);
    let_stand(&world, "");
    assert_failed(&world.did, ERROR_conflicting_arguments, "/session_id");
    call_run(&world.did, world.person, METHOD_rule_add, "{'session_id':'zzzz'}");
    assert_failed(&world.did, ERROR_not_found, "/session_id");
    call_run(&world.did, world.person, METHOD_rule_remove, "{'id':'abc'}");
    assert_failed(&world.did, ERROR_bad_format, "/id");
    call_release(&world.asked);
    world.asked = (struct call){ .stage = world.stage, .label = "asked" };
    call_start(&world.asked, world.agent, METHOD_ask_create,
               "{'tool':'elicit_input','arguments':{'message':'Which?'}}");
    stage_settle(world.stage);
    find_open(&world);
    call_run(&world.did, world.person, METHOD_ask_answer,
             "{'session_id':'%s','fields':{'input':'b'}}", world.id);
    let_stand(&world, ",'any_prompt':true"); /* its question is its prompt */
    assert_failed(&world.did, ERROR_conflicting_arguments, "/any_prompt");
    world_close(&world);
}

static void test_previews_and_suggestions(void **state)
{
    struct world world;

    world_open(&world, state);
    for (int i = 0; i < 3; i++) {
        call_run(&world.did, world.person, METHOD_rule_suggest, "{}");
        assert_int_equal(json_length(json_at(world.did.json, "/suggestions")), 0);
        ask(&world, "Cache", i == 1 ? again : cache);
        answer(&world, "b");
    }
    call_run(&world.did, world.person, METHOD_rule_suggest, "{}");
    assert_int_equal(json_length(json_at(world.did.json, "/suggestions")), 1);
    assert_int_equal(call_number(&world.did, "/suggestions/0/count"), 3);
    assert_string_equal(call_text(&world.did, "/suggestions/0/rule/from"), world.id);
    call_run(&world.did, world.person, METHOD_rule_preview, "{'session_id':'%s'}", world.id);
    assert_int_equal(call_number(&world.did, "/same"), 2); /* with the same words */
    call_run(&world.did, world.person, METHOD_rule_preview, "{'session_id':'%s','any_prompt':true}",
             world.id);
    assert_int_equal(call_number(&world.did, "/same"), 3);
    assert_int_equal(call_number(&world.did, "/other"), 0);
    ask(&world, "Cache", cache);
    answer(&world, "a");
    call_run(&world.did, world.person, METHOD_rule_preview, "{'session_id':'%s','any_prompt':true}",
             world.id);
    assert_int_equal(call_number(&world.did, "/same"), 1);
    assert_int_equal(call_number(&world.did, "/other"), 3);
    assert_int_equal(json_length(json_at(world.did.json, "/asks")), 4);
    call_run(&world.did, world.person, METHOD_rule_suggest, "{}"); /* not always so */
    assert_int_equal(json_length(json_at(world.did.json, "/suggestions")), 0);
    world_close(&world);
}

/* Clients that watch list them again: pages and terminals show what others do with them. */
static void test_who_watches_is_told(void **state)
{
    struct world world;
    struct caller *other;
    struct identity identity = visitor_person("terminal");
    char id[ASK_ID_BYTES];

    world_open(&world, state);
    other = caller_enter(world.stage, "other", &identity);
    ask(&world, "Cache", cache);
    answer(&world, "b");
    call_run(&world.did, world.person, METHOD_ask_watch, "{}");
    let_stand(&world, "");
    assert_worked(&world.did);
    snprintf(id, sizeof id, "%s", call_text(&world.did, "/id"));
    assert_int_equal(caller_count(world.person, "rule/changed"), 1);
    let_stand(&world, ""); /* nothing came of it */
    assert_failed(&world.did, ERROR_conflicting_arguments, "/session_id");
    assert_int_equal(caller_count(world.person, "rule/changed"), 1);
    call_run(&world.did, world.person, METHOD_rule_remove, "{'id':'%s'}", id);
    assert_int_equal(caller_count(world.person, "rule/changed"), 2);
    assert_int_equal(caller_count(other, "rule/changed"), 0); /* it does not watch */
    assert_int_equal(caller_count(world.agent, "rule/changed"), 0);
    world_close(&world);
}

static const char hostile[] = "Cache\\u202egpj\\u0007"; /* turns what follows round, and a bell */
static const char harmless[] = "Cache\\u202egpj\\x07";

/* What an agent wrote is there as it is, and beside it as it may be shown. */
static void test_what_may_be_shown_of_them(void **state)
{
    struct world world;

    world_open(&world, state);
    for (int i = 0; i < 3; i++) {
        ask(&world, hostile, cache);
        answer(&world, "b");
    }
    call_run(&world.did, world.person, METHOD_rule_suggest, "{}");
    assert_string_equal(call_text(&world.did, "/suggestions/0/shown/title"), harmless);
    call_run(&world.did, world.person, METHOD_rule_preview, "{'session_id':'%s'}", world.id);
    assert_string_equal(call_text(&world.did, "/shown/title"), harmless);
    assert_string_equal(call_text(&world.did, "/shown/agent"), "bot");
    let_stand(&world, "");
    assert_string_equal(call_text(&world.did, "/shown/title"), harmless);
    call_run(&world.did, world.person, METHOD_rule_list, "{}");
    assert_string_equal(call_text(&world.did, "/rules/0/shown/title"), harmless);
    assert_string_equal(call_text(&world.did, "/rules/0/shown/directory"), "/home/me/shop");
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_it_is_given_to_its_kind_alone),
        CASE(test_whatever_the_prompt_says),
        CASE(test_it_outlives_a_restart_and_is_removed),
        CASE(test_a_failing_disk_shows_the_ask_instead),
        CASE(test_two_at_once),
        CASE(test_one_of_two_that_stand_for_the_same),
        CASE(test_what_is_refused),
        CASE(test_previews_and_suggestions),
        CASE(test_who_watches_is_told),
        CASE(test_what_may_be_shown_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
