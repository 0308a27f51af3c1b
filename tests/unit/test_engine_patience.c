/*
 * test_engine_patience.c - a client that gives up early is answered earlier the next time:
 * remembered by name, version and transport, across restarts, until a person sets the limits.
 * Proves: R5.7 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static struct caller *enter_client(struct stage *stage, const char *name, const char *version,
                                   const char *transport)
{
    struct identity client = visitor_agent(name);

    client.version = version;
    client.transport = transport;
    return caller_enter(stage, name, &client);
}

static void give_up(struct caller *client, int64_t held_ms, bool is_time)
{
    struct call call = { 0 };

    call_run(&call, client, METHOD_client_cut_off, "{'held_ms':%lld,'timed_out':%s}",
             (long long)held_ms, is_time ? "true" : "false");
    assert_worked(&call);
    call_release(&call);
}

/* After how long a call that would wait for 100 s is answered with `pending`. */
static int64_t held_s(struct caller *client)
{
    static int number;
    struct call call = { 0 };
    char title[32];
    int64_t waited_s = 0;

    snprintf(title, sizeof title, "Ask %d", ++number);
    ask_start(&call, client, title, ",'timeout_seconds':1000", 100);
    stage_settle(client->stage);
    for (; call.replies == 0; waited_s++)
        stage_advance(client->stage, 1000);
    assert_string_equal(call_text(&call, "/action_status"), "pending");
    call_release(&call);
    stage_advance(client->stage, 60000); /* so many new ones a minute */
    return waited_s;
}

static void test_a_client_that_gave_up_is_answered_earlier(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "quick", "1", "stdio");
    struct json *told;

    assert_int_equal(held_s(client), 100);
    give_up(client, 20000, true);
    told = caller_event(client, "client/hold");
    assert_int_equal(json_member_integer(json_at(told, "/params"), "hold_ms", -1), 15000);
    json_free(told);
    assert_int_equal(held_s(client), 15);
    assert_int_equal(held_s(enter_client(stage, "quick", "1", "stdio")), 15);
    assert_int_equal(held_s(enter_client(stage, "quick", "2", "stdio")), 100);
    assert_int_equal(held_s(enter_client(stage, "quick", "1", "http")), 100);
    assert_int_equal(held_s(enter_client(stage, "slow", "1", "stdio")), 100);
    assert_int_equal(held_s(enter_client(stage, "quick", "1", NULL)), 100); /* a script */
}

/* Collecting is held no longer either, and what is asked for is never exceeded. */
static void test_collecting_is_bounded_too(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "quick", "1", "stdio");
    struct call asked = { 0 }, waited = { 0 };
    char id[ASK_ID_BYTES];

    ask_open(&asked, client, "Deploy", "", id);
    give_up(client, 20000, true);
    call_start(&waited, client, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':60}", id);
    stage_advance(stage, 14999);
    assert_int_equal(waited.replies, 0);
    stage_advance(stage, 1);
    assert_worked(&waited);
    call_start(&waited, client, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':5}", id);
    stage_advance(stage, 5000);
    assert_worked(&waited);
    call_release(&asked);
    call_release(&waited);
}

static void test_a_person_who_stops_a_call_teaches_nothing(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "quick", "1", "stdio");

    give_up(client, 33000, false);
    assert_int_equal(held_s(client), 100);
    give_up(client, 61000, false);
    stage_restart(stage);
    client = enter_client(stage, "quick", "1", "stdio");
    assert_int_equal(held_s(client), 100);
    give_up(client, 60000, false); /* the second time, though it is another hub */
    assert_int_equal(held_s(client), 54);
    give_up(client, 33000, false);
    assert_int_equal(held_s(client), 54);
}

static void test_it_is_remembered_and_forgotten(void **state)
{
    struct stage *stage = *state;
    struct identity identity = visitor_person("cli");
    struct caller *client = enter_client(stage, "quick", "1", "stdio"), *person;
    struct call set = { 0 };
    struct json *told;

    give_up(client, 20000, true);
    stage_crash(stage);
    client = enter_client(stage, "quick", "1", "stdio");
    assert_int_equal(held_s(client), 15);
    assert_int_equal(caller_count(client, "client/hold"), 1); /* told once */
    person = caller_enter(stage, "person", &identity);
    call_run(&set, person, METHOD_settings_set, "{'name':'hold_limits'}");
    assert_worked(&set);
    told = caller_event(client, "client/hold");
    assert_int_equal(json_member_integer(json_at(told, "/params"), "hold_ms", -1), 0);
    json_free(told);
    assert_int_equal(held_s(client), 100);
    stage_restart(stage);
    assert_int_equal(held_s(enter_client(stage, "quick", "1", "stdio")), 100);
    call_release(&set);
}

static void test_what_could_not_be_kept_is_not_in_force(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "quick", "1", "stdio");
    struct call call = { 0 };

    stage->store.fails_settings = true;
    call_run(&call, client, METHOD_client_cut_off, "{'held_ms':20000,'timed_out':true}");
    assert_failed(&call, ERROR_storage_failed, "");
    assert_int_equal(held_s(client), 100);
    call_release(&call);
}

static void test_nonsense_teaches_nothing(void **state)
{
    static const char *const nonsense[] = {
        "{}",
        "{'held_ms':-20000,'timed_out':true}",
        "{'held_ms':0,'timed_out':true}",
        "{'timed_out':true}",
    };
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "quick", "1", "stdio");
    struct call call = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
        call_run(&call, client, METHOD_client_cut_off, "%s", nonsense[i]);
        assert_worked(&call);
    }
    call_run(&call, client, METHOD_client_cut_off, "{'held_ms':'long','timed_out':true}");
    assert_failed(&call, ERROR_out_of_range, "/held_ms");
    assert_int_equal(held_s(client), 100);
    call_release(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_client_that_gave_up_is_answered_earlier),
        CASE(test_collecting_is_bounded_too),
        CASE(test_a_person_who_stops_a_call_teaches_nothing),
        CASE(test_it_is_remembered_and_forgotten),
        CASE(test_what_could_not_be_kept_is_not_in_force),
        CASE(test_nonsense_teaches_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
