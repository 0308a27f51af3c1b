/*
 * test_engine_tokens.c - tokens: made, listed, revoked, expired, over restarts, two calls at
 * the same time; which token a caller came with, as asks and answers keep it.
 * Proves: R5.8, R10.3, R12.1, R13.1 (keys), B5, B6, B13, D5, D6, P23
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

static const int64_t DAY_MS = 86400000;

struct desk_room {
    struct stage *stage;
    struct caller *person;
    struct call did;
};

static void room_open(struct desk_room *room, void **state)
{
    struct identity identity = visitor_person("cli");

    *room = (struct desk_room){ .stage = *state, .did.label = "token" };
    room->person = caller_enter(room->stage, "person", &identity);
}

static void room_close(struct desk_room *room)
{
    call_release(&room->did);
    caller_leave(room->person);
}

static void room_restart(struct desk_room *room)
{
    struct identity identity = visitor_person("cli");

    caller_leave(room->person);
    stage_restart(room->stage);
    room->person = caller_enter(room->stage, "person", &identity);
}

static bool is_known(const struct desk_room *room, const char *secret, struct engine_token *out)
{
    uint8_t hash[HASH_BYTES];

    token_hash(secret, hash);
    return engine_find_token(room->stage->engine, hash, out);
}

static void make(struct desk_room *room, const char *params, char secret[TOKEN_BYTES])
{
    call_run(&room->did, room->person, METHOD_token_new, "%s", params);
    assert_worked(&room->did);
    snprintf(secret, TOKEN_BYTES, "%s", call_text(&room->did, "/token"));
}

static size_t count_listed(struct desk_room *room)
{
    call_run(&room->did, room->person, METHOD_token_list, "{}");
    return json_length(json_member(room->did.json, "tokens"));
}

static void test_life(void **state)
{
    char agents[TOKEN_BYTES], peoples[TOKEN_BYTES], id[TOKEN_ID_BYTES];
    struct engine_token found;
    struct desk_room room;

    room_open(&room, state);
    make(&room, "{}", agents);
    assert_memory_equal(agents, "sayso_a_", 8);
    snprintf(id, sizeof id, "%s", call_text(&room.did, "/id"));
    stage_advance(room.stage, 1000); /* lists are in the order of making */
    make(&room, "{'kind':'person','label':'phone \\u202e','expires_days':2}", peoples);
    assert_memory_equal(peoples, "sayso_p_", 8);
    for (int round = 0; round < 2; round++) {
        assert_true(is_known(&room, agents, &found));
        assert_string_equal(found.kind, "agent");
        assert_string_equal(found.label, "agent");
        assert_string_equal(found.id, id);
        assert_true(is_known(&room, peoples, &found));
        assert_string_equal(found.kind, "person");
        assert_string_equal(found.label, "phone \u202e"); /* shown through the sanitizer */
        assert_int_equal(count_listed(&room), 2);
        assert_string_equal(call_text(&room.did, "/tokens/0/token"), ""); /* never again */
        assert_string_equal(call_text(&room.did, "/tokens/0/id"), id);
        room_restart(&room);
    }
    agents[20] ^= 1;
    assert_false(is_known(&room, agents, &found));
    agents[20] ^= 1;
    call_run(&room.did, room.person, METHOD_token_revoke, "{'id':'%.6s'}", id);
    assert_worked(&room.did);
    assert_false(is_known(&room, agents, &found));
    room_restart(&room);
    assert_false(is_known(&room, agents, &found));
    assert_int_equal(count_listed(&room), 1);
    room_close(&room);
}

static void test_expiry(void **state)
{
    char secret[TOKEN_BYTES];
    struct engine_token found;
    struct desk_room room;

    room_open(&room, state);
    make(&room, "{'expires_days':1}", secret);
    stage_advance(room.stage, DAY_MS - 1000);
    assert_true(is_known(&room, secret, &found));
    stage_advance(room.stage, 1000);
    assert_false(is_known(&room, secret, &found));
    assert_int_equal(count_listed(&room), 1);
    assert_true(call_is_yes(&room.did, "/tokens/0/expired"));
    room_close(&room);
}

/* When one was used last is kept about, not at every request. */
static void test_use(void **state)
{
    char secret[TOKEN_BYTES], id[TOKEN_ID_BYTES], first[32];
    struct engine_token found;
    struct desk_room room;

    room_open(&room, state);
    make(&room, "{}", secret);
    snprintf(id, sizeof id, "%s", call_text(&room.did, "/id"));
    assert_string_equal(call_text(&room.did, "/used_at"), "");
    stage_advance(room.stage, 1000);
    for (int i = 0; i < 100; i++)
        assert_true(is_known(&room, secret, &found));
    stage_settle(room.stage);
    assert_int_equal(room.stage->store.writes[WRITE_token_use], 1);
    assert_int_equal(count_listed(&room), 1);
    snprintf(first, sizeof first, "%s", call_text(&room.did, "/tokens/0/used_at"));
    assert_int_equal(strlen(first), strlen("2026-01-01T00:00:00.000Z"));
    stage_advance(room.stage, 3599000);
    assert_true(is_known(&room, secret, &found));
    assert_int_equal(room.stage->store.writes[WRITE_token_use], 1);
    room_restart(&room);
    assert_int_equal(count_listed(&room), 1);
    assert_string_equal(call_text(&room.did, "/tokens/0/used_at"), first);
    stage_advance(room.stage, 1000);
    assert_true(is_known(&room, secret, &found));
    stage_settle(room.stage);
    room_restart(&room);
    assert_int_equal(count_listed(&room), 1);
    assert_true(strcmp(call_text(&room.did, "/tokens/0/used_at"), first) > 0);
    call_run(&room.did, room.person, METHOD_token_revoke, "{'id':'%s'}", id);
    assert_worked(&room.did);
    stage_advance(room.stage, DAY_MS);
    assert_false(is_known(&room, secret, &found));
    assert_int_equal(count_listed(&room), 0);
    room_close(&room);
}

static void test_bad_params(void **state)
{
    static const struct {
        const char *params;
        enum error_code code;
        const char *path;
    } cases[] = {
        { "{'kind':'tab'}", ERROR_bad_enum, "/kind" },
        { "{'kind':7}", ERROR_bad_enum, "/kind" },
        { "{'kind':'person','sub_agent':true}", ERROR_conflicting_arguments, "/sub_agent" },
        { "{'label':''}", ERROR_empty_text, "/label" },
        { "{'label':[]}", ERROR_bad_type, "/label" },
        { "{'label':'a\\u0000b'}", ERROR_nul_character, "/label" },
        { "{'expires_days':0}", ERROR_out_of_range, "/expires_days" },
        { "{'expires_days':3651}", ERROR_out_of_range, "/expires_days" },
        { "{'expires_days':'1'}", ERROR_out_of_range, "/expires_days" },
    };
    struct desk_room room;
    char longest[130] = "";

    room_open(&room, state);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        call_run(&room.did, room.person, METHOD_token_new, "%s", cases[i].params);
        assert_failed(&room.did, cases[i].code, cases[i].path);
    }
    memset(longest, 'x', 129);
    call_run(&room.did, room.person, METHOD_token_new, "{'label':'%s'}", longest);
    assert_failed(&room.did, ERROR_too_long, "/label");
    call_run(&room.did, room.person, METHOD_token_revoke, "{}");
    assert_failed(&room.did, ERROR_bad_format, "/id");
    call_run(&room.did, room.person, METHOD_token_revoke, "{'id':'abcd'}");
    assert_failed(&room.did, ERROR_not_found, "/id");
    assert_int_equal(count_listed(&room), 0);
    room_close(&room);
}

static void test_two_at_once(void **state)
{
    struct call first = { .label = "first" }, second = { .label = "second" };
    char secret[TOKEN_BYTES], id[TOKEN_ID_BYTES];
    struct desk_room room;

    room_open(&room, state);
    call_start(&first, room.person, METHOD_token_new, "{'label':'same'}");
    call_start(&second, room.person, METHOD_token_new, "{'label':'same'}");
    stage_settle(room.stage);
    assert_worked(&first);
    assert_worked(&second);
    assert_string_not_equal(call_text(&first, "/token"), call_text(&second, "/token"));
    assert_int_equal(count_listed(&room), 2);
    make(&room, "{}", secret);
    snprintf(id, sizeof id, "%s", call_text(&room.did, "/id"));
    call_release(&first);
    call_release(&second);
    first = (struct call){ .label = "first" };
    second = (struct call){ .label = "second" };
    call_start(&first, room.person, METHOD_token_revoke, "{'id':'%s'}", id);
    call_start(&second, room.person, METHOD_token_revoke, "{'id':'%s'}", id);
    stage_settle(room.stage);
    assert_worked(&first);
    assert_failed(&second, ERROR_not_found, "/id");
    call_release(&first);
    call_release(&second);
    room_close(&room);
}

/* What is not on disk is not handed out; what is still there is still good. */
static void test_store_fails(void **state)
{
    char secret[TOKEN_BYTES], id[TOKEN_ID_BYTES];
    struct engine_token found;
    struct desk_room room;

    room_open(&room, state);
    make(&room, "{}", secret);
    snprintf(id, sizeof id, "%s", call_text(&room.did, "/id"));
    room.stage->store.fails_tokens = true;
    call_run(&room.did, room.person, METHOD_token_new, "{}");
    assert_failed(&room.did, ERROR_storage_failed, "");
    assert_string_equal(call_text(&room.did, "/token"), "");
    call_run(&room.did, room.person, METHOD_token_revoke, "{'id':'%s'}", id);
    assert_failed(&room.did, ERROR_storage_failed, "");
    assert_true(is_known(&room, secret, &found));
    assert_int_equal(count_listed(&room), 1);
    room_close(&room);
}

static void test_roles(void **state)
{
    struct identity identity = visitor_agent("bot");
    static const enum method peoples[] = { METHOD_ask_answer,  METHOD_ask_cancel,
                                           METHOD_ask_decline, METHOD_token_new,
                                           METHOD_token_list,  METHOD_token_revoke,
                                           METHOD_settings_set };
    struct desk_room room;
    struct caller *agent;

    room_open(&room, state);
    identity.token_id = "0123456789abcdef";
    identity.token = "laptop";
    agent = caller_enter(room.stage, "agent", &identity);
    for (size_t i = 0; i < ARRAY_LEN(peoples); i++) {
        call_run(&room.did, agent, peoples[i], "{}");
        assert_failed(&room.did, ERROR_wrong_role, "");
    }
    ask_start(&room.did, room.person, "Deploy", "", 0);
    stage_settle(room.stage);
    assert_failed(&room.did, ERROR_wrong_role, "");
    caller_leave(agent);
    room_close(&room);
}

static void test_identity(void **state)
{
    struct identity agent = visitor_agent("bot"), person = visitor_person("api");
    struct scene scene;
    struct call shown = { .label = "shown" };

    scene_open(&scene, state, "api", "");
    caller_leave(scene.agent);
    caller_leave(scene.person);
    call_release(&scene.asked);
    scene.asked = (struct call){ .label = "ask" };
    agent.pid = person.pid = 0;
    agent.token_id = "0123456789abcdef";
    agent.token = "laptop";
    person.token_id = "fedcba9876543210";
    person.token = "phone";
    scene.agent = caller_enter(scene.stage, "agent", &agent);
    scene.person = caller_enter(scene.stage, "person", &person);
    ask_open(&scene.asked, scene.agent, "Through HTTP", "", scene.id);
    scene_get(&scene, &shown);
    assert_string_equal(call_text(&shown, "/ask/agent"), "bot");
    assert_string_equal(call_text(&shown, "/ask/origin/token"), "laptop");
    assert_string_equal(call_text(&shown, "/ask/origin/via"), "http");
    assert_int_equal(call_number(&shown, "/ask/origin/pid"), -1);
    scene_answer(&scene, "a");
    assert_worked(&scene.did);
    assert_string_equal(call_text(&scene.asked, "/answered_by/via"), "api");
    assert_string_equal(call_text(&scene.asked, "/answered_by/token"), "phone");
    call_release(&shown);
    scene_close(&scene);
}

/* Two clients that claim one name are two, each with its token's limits and asks; without tokens
 * the name is all there is. */
static void test_principals(void **state)
{
    struct stage *stage = *state;
    struct identity one = visitor_agent("bot"), other = one, nobody = one;
    struct caller *callers[4];
    struct call asked = { .label = "ask" }, waited = { .label = "wait" };
    char id[ASK_ID_BYTES];

    one.token_id = "1111111111111111";
    other.token_id = "2222222222222222";
    one.token = other.token = "same label";
    nobody.token_id = "";
    callers[0] = caller_enter(stage, "one", &one);
    callers[1] = caller_enter(stage, "other", &other);
    callers[2] = caller_enter(stage, "nobody", &nobody);
    one.name = "calls itself otherwise";
    one.uid++; /* another user runs another hub */
    callers[3] = caller_enter(stage, "one again", &one);
    ask_open(&asked, callers[0], "Mine", "", id);
    for (size_t i = 1; i < 3; i++) {
        call_run(&waited, callers[i], METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", id);
        assert_failed(&waited, ERROR_not_found, "/session_id");
    }
    call_run(&waited, callers[3], METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}", id);
    assert_worked(&waited);
    call_release(&asked);
    call_release(&waited);
    for (size_t i = 0; i < ARRAY_LEN(callers); i++)
        caller_leave(callers[i]);
}

static const struct hash_part bound[] = { { "principal", 9 }, { "digest", 6 } };

static bool unseals(const struct stage *stage, const struct text *sealed)
{
    struct text out = { 0 };
    bool ok =
        engine_unseal(stage->engine, bound, ARRAY_LEN(bound), sealed->bytes, sealed->used, &out);

    if (ok)
        assert_string_equal(text_string(&out), "ask");
    text_release(&out);
    return ok;
}

/* What a client carries for us is good after a restart, and while keys change. */
static void test_seals(void **state)
{
    struct stage *stage = *state;
    struct text first = { 0 }, second = { 0 };

    stage_settle(stage); /* the key is on disk now */
    assert_true(engine_seal(stage->engine, bound, 2, 30 * DAY_MS, "ask", &first));
    assert_true(unseals(stage, &first));
    stage_restart(stage);
    assert_true(unseals(stage, &first));
    stage_advance(stage, 29 * DAY_MS);
    assert_true(engine_seal(stage->engine, bound, 2, 30 * DAY_MS, "ask", &second));
    assert_memory_equal(first.bytes, second.bytes, strlen("v1.1."));
    stage_advance(stage, 2 * DAY_MS); /* the hourly look makes the next key */
    stage_restart(stage);
    assert_true(unseals(stage, &second));
    assert_false(unseals(stage, &first)); /* its own time is over */
    text_clear(&first);
    assert_true(engine_seal(stage->engine, bound, 2, 30 * DAY_MS, "ask", &first));
    assert_memory_equal(first.bytes, "v1.2.", strlen("v1.2."));
    stage_advance(stage, 27 * DAY_MS);
    assert_true(unseals(stage, &second));
    text_release(&first);
    text_release(&second);
}

/* A key that is not on disk seals nothing: who carries it would be refused after a crash. */
static void test_seals_need_a_disk(void **state)
{
    struct stage *stage = *state;
    struct text sealed = { 0 };

    stage_settle(stage);
    stage_advance(stage, 1000);
    stage->store.fails_keys = true;
    stage_sleep(stage, 100 * DAY_MS);
    assert_false(engine_seal(stage->engine, bound, 2, DAY_MS, "ask", &sealed));
    stage_settle(stage);
    stage->store.fails_keys = false;
    assert_false(engine_seal(stage->engine, bound, 2, DAY_MS, "ask", &sealed));
    stage_settle(stage);
    assert_true(engine_seal(stage->engine, bound, 2, DAY_MS, "ask", &sealed));
    text_release(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_life),
        CASE(test_expiry),
        CASE(test_use),
        CASE(test_bad_params),
        CASE(test_two_at_once),
        CASE(test_store_fails),
        CASE(test_roles),
        CASE(test_identity),
        CASE(test_principals),
        CASE(test_seals),
        CASE(test_seals_need_a_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
