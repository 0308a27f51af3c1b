/*
 * test_engine_portal.c - the way into the portal: links that work once and for a minute, tabs that
 * outlive the hub, the disk that fails in between; and the clock that pages are told.
 * Proves: R12.2 R7.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

struct signing {
    int replies;
    enum error_code code;
    char token[TOKEN_BYTES];
};

static void on_signed_in(void *context, const struct reply *reply)
{
    struct signing *signing = context;
    struct json *token = NULL;

    signing->replies++;
    signing->code = reply->err.code;
    if (reply->err.code != ERROR_NONE)
        return;
    assert_true(json_parse(reply->json, strlen(reply->json), &token, NULL));
    snprintf(signing->token, sizeof signing->token, "%s", json_member_text(token, "token"));
    assert_string_equal(json_member_text(token, "kind"), "tab");
    json_free(token);
}

static struct signing sign_in(struct stage *stage, const char *code)
{
    struct signing signing = { 0 };

    engine_sign_in(stage->engine, code, "Firefox", NULL, on_signed_in, &signing);
    stage_settle(stage);
    assert_int_equal(signing.replies, 1);
    return signing;
}

static bool is_signed_in(struct stage *stage, const char *token)
{
    struct engine_token found;
    uint8_t hash[HASH_BYTES];

    token_hash(token, hash);
    return engine_find_token(stage->engine, hash, &found) && strcmp(found.kind, "tab") == 0 &&
           strcmp(found.label, "Firefox") == 0;
}

static void take_link(struct caller *person, const char *params, char code[TOKEN_BYTES],
                      const char *wanted_url)
{
    struct call did = { .label = "link" };
    const char *link;

    call_run(&did, person, METHOD_portal_link, "%s", params);
    assert_worked(&did);
    assert_string_equal(call_text(&did, "/url"), wanted_url);
    assert_int_equal(call_number(&did, "/seconds"), 60);
    link = call_text(&did, "/link");
    assert_int_equal(strncmp(link, wanted_url, strlen(wanted_url)), 0);
    assert_int_equal(strncmp(link + strlen(wanted_url), "#code=", 6), 0);
    snprintf(code, TOKEN_BYTES, "%s", link + strlen(wanted_url) + 6);
    call_release(&did);
}

static struct caller *enter(struct stage *stage, const char *via)
{
    struct identity identity = visitor_person(via);

    return caller_enter(stage, via, &identity);
}

static void test_once(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "cli");
    struct call did = { .label = "link" };
    struct signing first, second;
    char code[TOKEN_BYTES];

    call_run(&did, person, METHOD_portal_link, "{}");
    assert_failed(&did, ERROR_unavailable, ""); /* no port could be had */
    engine_set_portal(stage->engine, "http://127.0.0.1:7297");
    take_link(person, "{}", code, "http://127.0.0.1:7297/");
    first = sign_in(stage, code);
    assert_int_equal(first.code, ERROR_NONE);
    second = sign_in(stage, code);
    assert_int_equal(second.code, ERROR_not_found);
    assert_true(is_signed_in(stage, first.token));
    assert_int_equal(sign_in(stage, "").code, ERROR_not_found);
    assert_int_equal(sign_in(stage, first.token).code, ERROR_not_found);
    call_run(&did, person, METHOD_portal_link, "{'session_id':'zzzz'}");
    assert_failed(&did, ERROR_not_found, "/session_id");
    stage_set(stage, "portal", "off");
    call_run(&did, person, METHOD_portal_link, "{}");
    assert_failed(&did, ERROR_unavailable, "");
    call_release(&did);
    caller_leave(person);
    stage_crash(stage);
    assert_true(is_signed_in(stage, first.token)); /* was on disk before anyone was told */
}

static void test_minute(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "cli");
    char young[TOKEN_BYTES], old[TOKEN_BYTES], codes[17][TOKEN_BYTES];

    engine_set_portal(stage->engine, "http://127.0.0.1:7297");
    take_link(person, "{}", old, "http://127.0.0.1:7297/");
    stage_advance(stage, 59000);
    take_link(person, "{}", young, "http://127.0.0.1:7297/");
    stage_advance(stage, 1000);
    assert_int_equal(sign_in(stage, old).code, ERROR_not_found);
    assert_int_equal(sign_in(stage, young).code, ERROR_NONE);
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) { /* one more than are kept */
        stage_advance(stage, 10);
        take_link(person, "{}", codes[i], "http://127.0.0.1:7297/");
    }
    assert_int_equal(sign_in(stage, codes[0]).code, ERROR_not_found);
    assert_int_equal(sign_in(stage, codes[1]).code, ERROR_NONE);
    assert_int_equal(sign_in(stage, codes[16]).code, ERROR_NONE);
    caller_leave(person);
    stage_restart(stage); /* codes go with the hub */
    assert_int_equal(sign_in(stage, codes[2]).code, ERROR_not_found);
}

static void test_disk_fails(void **state)
{
    struct stage *stage = *state;
    struct caller *person = enter(stage, "cli");
    struct signing failed;
    struct call did = { .label = "list" };
    char code[TOKEN_BYTES];

    engine_set_portal(stage->engine, "http://127.0.0.1:7297");
    take_link(person, "{}", code, "http://127.0.0.1:7297/");
    stage->store.fails_tokens = true;
    failed = sign_in(stage, code);
    assert_int_equal(failed.code, ERROR_storage_failed);
    assert_string_equal(failed.token, "");
    stage->store.fails_tokens = false;
    assert_int_equal(sign_in(stage, code).code, ERROR_not_found); /* spent all the same */
    call_run(&did, person, METHOD_token_list, "{}");
    assert_int_equal(json_length(json_at(did.json, "/tokens")), 0);
    call_release(&did);
    caller_leave(person);
}

static void test_agents_get_none(void **state)
{
    struct scene scene;
    struct call did = { .label = "link" };
    char code[TOKEN_BYTES], params[64], url[96];

    scene_open(&scene, state, "web", "");
    engine_set_portal(scene.stage->engine, "http://127.0.0.1:7297");
    call_run(&did, scene.agent, METHOD_portal_link, "{}");
    assert_failed(&did, ERROR_wrong_role, "");
    snprintf(params, sizeof params, "{'session_id':'%.6s'}", scene.id);
    snprintf(url, sizeof url, "http://127.0.0.1:7297/choice/%s", scene.id);
    take_link(scene.person, params, code, url);
    call_run(&did, scene.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", scene.id);
    assert_string_equal(call_text(&did, "/url"), url); /* and no code in it */
    call_release(&did);
    scene_close(&scene);
}

static void test_remaining(void **state)
{
    struct stage *stage = *state;
    struct caller *page = enter(stage, "web"), *other = enter(stage, "web");
    struct call did = { .label = "watch" };
    struct scene scene;
    struct json *told;

    call_run(&did, page, METHOD_ask_watch, "{'remaining':true}");
    call_run(&did, other, METHOD_ask_watch, "{}");
    stage_advance(stage, 60000);
    assert_int_equal(caller_count(page, "ask/remaining"), 0); /* nothing is open */
    scene_open(&scene, state, "cli", ",'timeout_seconds':100");
    stage_advance(stage, 5000);
    assert_int_equal(caller_count(page, "ask/remaining"), 1);
    told = caller_event(page, "ask/remaining");
    assert_int_equal(json_member_integer(json_at(told, "/params/asks"), scene.id, -1), 95);
    json_free(told);
    stage_advance(stage, 20000);
    assert_int_equal(caller_count(page, "ask/remaining"), 5);
    assert_int_equal(caller_count(other, "ask/remaining"), 0);
    call_run(&did, page, METHOD_ask_watch, "{}"); /* no more of it */
    stage_advance(stage, 20000);
    assert_int_equal(caller_count(page, "ask/remaining"), 5);
    call_run(&did, page, METHOD_ask_watch, "{'remaining':true}");
    call_run(&did, scene.person, METHOD_ask_cancel, "{'session_id':'%s'}", scene.id);
    stage_advance(stage, 30000);
    assert_true(caller_count(page, "ask/remaining") <= 6); /* at most what was due */
    caller_leave(page);
    caller_leave(other);
    call_release(&did);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = { CASE(test_once), CASE(test_minute), CASE(test_disk_fails),
                                        CASE(test_agents_get_none), CASE(test_remaining) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
