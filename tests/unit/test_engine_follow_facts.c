/*
 * test_engine_follow_facts.c - two engines that share a database: settings, tokens, standing
 * answers and codes of either hold at both. Proves: R13.1, R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"

static void test_a_persons_settings_hold_at_both(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_person("cli");
    struct call did = { 0 };

    NEEDS_SERVER;
    pair_enter_far(pair, "cli");
    stage_forget(pair->there);
    call_run(&did, caller_enter(pair->here, "near", &identity), METHOD_settings_set,
             "{'name':'deliver_after','value':'7'}");
    assert_worked(&did);
    pair_wait_noted(pair->there, "news of facts", 1);
    assert_int_equal(settings_integer(pair->there->settings, SETTING_DELIVER_AFTER), 7);
    call_release(&did);
}

struct token_look {
    struct stage *stage;
    uint8_t hash[HASH_BYTES];
};

static bool knows_token(void *context)
{
    const struct token_look *look = context;
    struct engine_token found;

    return engine_find_token(look->stage->engine, look->hash, &found);
}

static bool knows_token_not(void *context)
{
    return !knows_token(context);
}

static void test_tokens_hold_at_both(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_person("cli");
    struct token_look look = { pair ? pair->there : NULL, { 0 } };
    struct caller *near;
    struct call did = { 0 };

    NEEDS_SERVER;
    near = caller_enter(pair->here, "near", &identity);
    pair_enter_far(pair, "cli");
    call_run(&did, near, METHOD_token_new, "{'label':'ci'}");
    assert_worked(&did);
    token_hash(call_text(&did, "/token"), look.hash);
    stage_wait(pair->there, knows_token, &look);
    call_run(&pair->did, pair->far, METHOD_token_revoke, "{'id':'%s'}", call_text(&did, "/id"));
    assert_worked(&pair->did);
    look.stage = pair->here;
    stage_wait(pair->here, knows_token_not, &look);
    call_release(&did);
}

static int64_t count_tokens(struct pair *pair)
{
    call_run(&pair->did, pair->far, METHOD_token_list, "{}");
    assert_worked(&pair->did);
    return (int64_t)json_length(json_member(pair->did.json, "tokens"));
}

/* Makes them look at all tokens there. */
static void change_facts_here(struct caller *near, int64_t value)
{
    struct call did = { .label = "facts" };

    call_run(&did, near, METHOD_settings_set, "{'name':'deliver_after','value':'%d'}", (int)value);
    assert_worked(&did);
    call_release(&did);
}

/* Made and revoked, and found so in the store before our own completion has run. */
static void test_news_of_tokens_overtake_our_own_completion(void **state)
{
    struct pair *pair = *state;
    struct identity identity = visitor_person("cli");
    struct token_look look = { pair ? pair->there : NULL, { 0 } };
    struct call did = { .label = "token" };
    struct caller *near;

    NEEDS_SERVER;
    pair_enter_far(pair, "cli");
    near = caller_enter(pair->here, "near", &identity);
    pair->there->store.holds_replies = true;
    call_start(&did, pair->far, METHOD_token_new, "{'label':'ci'}");
    stage_settle(pair->there);
    stage_forget(pair->there);
    change_facts_here(near, 3);
    pair_wait_noted(pair->there, "news of facts", 1);
    stage_release(pair->there);
    assert_worked(&did);
    assert_int_equal(count_tokens(pair), 1);
    token_hash(call_text(&did, "/token"), look.hash);
    pair->there->store.holds_replies = true;
    call_start(&pair->did, pair->far, METHOD_token_revoke, "{'id':'%s'}", call_text(&did, "/id"));
    stage_settle(pair->there);
    change_facts_here(near, 4);
    stage_wait(pair->there, knows_token_not, &look);
    stage_release(pair->there);
    assert_worked(&pair->did);
    assert_string_equal(call_text(&pair->did, "/label"), "ci");
    assert_int_equal(count_tokens(pair), 0);
    call_release(&did);
}

struct rule_look {
    struct stage *stage;
    struct caller *person;
    struct call *call;
    size_t wanted;
};

static bool has_rules(void *context)
{
    const struct rule_look *look = context;

    call_start(look->call, look->person, METHOD_rule_list, "{}");
    return json_length(json_at(look->call->json, "/rules")) == look->wanted;
}

/* A rule made here answers there; removed there it answers at neither. */
static void test_rules_hold_at_both(void **state)
{
    struct pair *pair = *state;
    struct identity agent = visitor_agent("bot");
    struct rule_look look = { .wanted = 1 };
    struct call asked = { 0 };
    struct scene scene;
    char title[64], rule[ASK_ID_BYTES];

    NEEDS_SERVER;
    pair_open(pair, &scene, "cli", "");
    pair_far_does(pair, METHOD_ask_answer, &scene, ",'selected_ids':['b']");
    stage_wait(pair->here, pair_is_replied, &scene.asked);
    call_run(&scene.did, scene.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", scene.id);
    scene_do(&scene, METHOD_rule_add, "");
    assert_worked(&scene.did);
    snprintf(title, sizeof title, "%s", call_text(&scene.did, "/rule/title"));
    look.stage = pair->there;
    look.person = pair->far;
    look.call = &pair->did;
    stage_wait(pair->there, has_rules, &look);
    snprintf(rule, sizeof rule, "%s", call_text(&pair->did, "/rules/0/id"));
    ask_start(&asked, caller_enter(pair->there, "agent", &agent), title, "", -1);
    stage_settle(pair->there);
    assert_true(asked.is_final);
    assert_string_equal(call_text(&asked, "/rule"), rule);
    call_run(&pair->did, pair->far, METHOD_rule_remove, "{'id':'%s'}", rule);
    assert_worked(&pair->did);
    look = (struct rule_look){ .stage = pair->here, .person = scene.person, .call = &scene.did };
    stage_wait(pair->here, has_rules, &look);
    call_release(&asked);
    scene_close(&scene);
}

struct signing {
    int replies;
    enum error_code code;
};

static void on_signed_in(void *context, const struct reply *reply)
{
    struct signing *signing = context;

    signing->replies++;
    signing->code = reply->err.code;
}

static enum error_code sign_in(struct stage *stage, const char *code)
{
    struct signing signing = { 0 };

    engine_sign_in(stage->engine, code, "Firefox", NULL, on_signed_in, &signing);
    stage_settle(stage);
    assert_int_equal(signing.replies, 1);
    return signing.code;
}

static void test_a_code_is_spent_once_at_either(void **state)
{
    struct pair *pair = *state;

    NEEDS_SERVER;
    engine_set_portal(pair->here->engine, "http://127.0.0.1:7297");
    for (int i = 0; i < 2; i++) {
        struct text link = { 0 };
        const char *code;

        assert_true(engine_make_link(pair->here->engine, &link));
        stage_settle(pair->here);
        code = strstr(text_string(&link), "#code=") + 6;
        assert_int_equal(sign_in(i ? pair->here : pair->there, code), ERROR_NONE);
        assert_int_equal(sign_in(pair->here, code), ERROR_not_found);
        assert_int_equal(sign_in(pair->there, code), ERROR_not_found);
        text_release(&link);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR(test_a_persons_settings_hold_at_both),
        PAIR(test_tokens_hold_at_both),
        PAIR(test_news_of_tokens_overtake_our_own_completion),
        PAIR(test_rules_hold_at_both),
        PAIR(test_a_code_is_spent_once_at_either),
    };

    setenv("SAYSO_TEST_STORE", "postgres", 1); /* no other store is shared */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
