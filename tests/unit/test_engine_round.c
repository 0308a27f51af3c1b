/*
 * test_engine_round.c - clients of 2026-07-28 as a channel: asked by the reply to a call, they call
 * again with what the person did, and get the decision that won.
 * Proves: R4.2 R4.3 R5.3 R5.7 B6 (in one process)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void test_a_modern_client_is_asked_by_the_reply(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char *sealed;

    sealed = ask_modern(&asked, client, "Deploy");
    assert_string_equal(call_text(&asked, "/input_required/form/title"), "Deploy");
    assert_int_equal(caller_count(client, "client/present"), 0);
    come_back(&asked, client, "Deploy", sealed, "{'action':'accept','content':{'choice':'b'}}");
    assert_true(asked.is_final);
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    assert_string_equal(call_text(&asked, "/answered_by/via"), "client");
    come_back(&asked, client, "Deploy", sealed, "{'action':'accept','content':{'choice':'a'}}");
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    free(sealed);
    call_release(&asked);
}

static void test_a_modern_refusal_counts_after_two_seconds(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char *sealed;

    sealed = ask_modern(&asked, client, "One");
    stage_advance(stage, 2000);
    come_back(&asked, client, "One", sealed, "{'action':'decline'}");
    assert_true(call_is_yes(&asked, "/declined"));
    free(sealed);
    client = enter_client(stage, "2");
    sealed = ask_modern(&asked, client, "Two");
    stage_advance(stage, 1999);
    come_back(&asked, client, "Two", sealed, "{'action':'decline'}");
    assert_int_equal(asked.replies, 0); /* held, and open everywhere else */
    stage_advance(stage, 50000);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    free(sealed);
    call_release(&asked);
}

static void test_whatever_it_brings_it_gets_what_won(void **state)
{
    static const char *const brought[] = { "{'action':'accept','content':{'choice':'a'}}",
                                           "{'action':'decline'}", "{'action':'accept'}", NULL };
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "cli");

    for (size_t i = 0; i < ARRAY_LEN(brought); i++) {
        struct call asked = { 0 }, did = { 0 };
        char title[24], *sealed;

        snprintf(title, sizeof title, "Ask %zu", i);
        sealed = ask_modern(&asked, client, title);
        call_run(&did, person, METHOD_ask_answer, "{'selected_ids':['b']}");
        assert_worked(&did);
        come_back(&asked, client, title, sealed, brought[i]);
        assert_true(asked.is_final);
        assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
        assert_string_equal(call_text(&asked, "/answered_by/via"), "cli");
        assert_false(call_is_yes(&asked, "/replayed"));
        free(sealed);
        call_release(&asked);
        call_release(&did);
    }
}

static void test_bad_content_is_asked_again_once(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char *sealed;

    sealed = ask_modern(&asked, client, "One");
    come_back(&asked, client, "One", sealed, "{'action':'accept','content':{'choice':'x'}}");
    free(sealed);
    sealed = state_of(&asked);
    come_back(&asked, client, "One", sealed, "{'action':'accept','content':{}}");
    assert_int_equal(asked.replies, 0);
    free(sealed);
    call_release(&asked);
}

static void test_ten_rounds_and_no_more(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char *sealed = NULL;

    ask(&asked, client, "One", "", MODERN);
    for (int round = 1; round <= 10; round++) {
        free(sealed);
        sealed = state_of(&asked);
        come_back(&asked, client, "One", sealed, NULL);
    }
    assert_int_equal(asked.replies, 0);
    free(sealed);
    call_release(&asked);
}

static void test_a_state_is_good_for_one_call_of_one_principal(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct identity other = visitor_agent("somebody else");
    struct caller *stranger;
    struct call asked = { 0 };
    char *sealed;

    other.transport = "stdio";
    stranger = caller_enter(stage, "stranger", &other);
    sealed = ask_modern(&asked, client, "One");
    come_back(&asked, stranger, "One", sealed, NULL);
    assert_failed(&asked, ERROR_bad_format, "/state");
    come_back(&asked, client, "Two", sealed, NULL);
    assert_failed(&asked, ERROR_bad_format, "/state");
    come_back(&asked, client, "One", "", NULL);
    assert_failed(&asked, ERROR_bad_format, "/state");
    sealed[strlen(sealed) / 2] ^= 1;
    come_back(&asked, client, "One", sealed, NULL);
    assert_failed(&asked, ERROR_bad_format, "/state");
    sealed[strlen(sealed) / 2] ^= 1;
    stage_restart(stage);
    client = enter_client(stage, "1");
    come_back(&asked, client, "One", sealed, "{'action':'accept','content':{'choice':'a'}}");
    assert_true(asked.is_final);
    free(sealed);
    call_release(&asked);
}

/* Long after the ask's end it still tells how that was; not for ever. */
static void test_states_grow_old(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char *sealed;

    sealed = ask_modern(&asked, client, "One");
    stage_advance(stage, 300000);
    come_back(&asked, client, "One", sealed, "{'action':'accept','content':{'choice':'a'}}");
    assert_string_equal(call_text(&asked, "/action_status"), "timeout");
    stage_advance(stage, 30LL * DAY_MS);
    come_back(&asked, client, "One", sealed, NULL);
    assert_failed(&asked, ERROR_bad_format, "/state");
    free(sealed);
    call_release(&asked);
}

/* Rounds of both kinds in one exchange: a form that was not seen, then waiting for the other
 * channels. */
static void test_after_a_form_it_comes_back_for_the_decision(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "cli");
    struct call asked = { 0 }, did = { 0 };
    struct json *told;
    char *sealed;

    ask(&asked, client, "One", "", MODERN ",'comes_back':true");
    sealed = state_of(&asked);
    caller_forget(client);
    come_back(&asked, client, "One", sealed, "{'action':'cancel'},'comes_back':true");
    told = caller_event(client, "ask/created");
    free(sealed);
    sealed = mem_text(json_member_text(json_at(told, "/params"), "state"));
    json_free(told);
    stage_advance(stage, 50000);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    come_back(&asked, client, "One", sealed, NULL); /* the form does not come again */
    assert_int_equal(asked.replies, 0);
    call_run(&did, person, METHOD_ask_answer, "{'selected_ids':['b']}");
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    free(sealed);
    call_release(&asked);
    call_release(&did);
}

static void test_a_key_that_took_over_changes_nothing(void **state)
{
    struct stage *stage = *state;
    struct caller *client, *second;
    struct call asked = { 0 }, other = { 0 };
    char *sealed;

    stage_set(stage, "timeout_seconds", "2592000");
    stage_advance(stage, 29LL * DAY_MS); /* the first key is nearly done */
    client = enter_client(stage, "1");
    sealed = ask_modern(&asked, client, "One");
    stage_advance(stage, 2LL * DAY_MS);
    second = enter_client(stage, "2");
    ask(&other, second, "Two", "", MODERN); /* makes the new key */
    stage_settle(stage);
    ask(&other, second, "Three", "", MODERN);
    assert_int_not_equal(strncmp(sealed, call_text(&other, "/input_required/state"), 6), 0);
    come_back(&asked, client, "One", sealed, "{'action':'accept','content':{'choice':'a'}}");
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "a");
    free(sealed);
    call_release(&asked);
    call_release(&other);
}

/* While the form is out the agent is there; when its connection ends the ask is detached. */
static void test_who_shows_a_form_is_there(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "cli");
    struct call asked = { 0 }, listed = { 0 };

    ask(&asked, client, "One", "", MODERN);
    call_run(&listed, person, METHOD_ask_list, "{}");
    assert_false(call_is_yes(&listed, "/asks/0/detached"));
    caller_leave(client);
    stage_settle(stage);
    call_run(&listed, person, METHOD_ask_list, "{}");
    assert_true(call_is_yes(&listed, "/asks/0/detached"));
    call_release(&asked);
    call_release(&listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_modern_client_is_asked_by_the_reply),
        CASE(test_a_modern_refusal_counts_after_two_seconds),
        CASE(test_whatever_it_brings_it_gets_what_won),
        CASE(test_bad_content_is_asked_again_once),
        CASE(test_ten_rounds_and_no_more),
        CASE(test_a_state_is_good_for_one_call_of_one_principal),
        CASE(test_states_grow_old),
        CASE(test_after_a_form_it_comes_back_for_the_decision),
        CASE(test_a_key_that_took_over_changes_nothing),
        CASE(test_who_shows_a_form_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
