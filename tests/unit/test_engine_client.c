/*
 * test_engine_client.c - the agent's own client as a channel: asked where it can show a form,
 * judged by what it brings and after how long, withdrawn when another channel was faster.
 * Proves: R2.6 R4.2 R4.3 R4.4 R5.2 R5.3 (in one process)
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

static void test_a_form_is_shown_and_its_answer_is_the_persons(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    struct json *told;

    ask(&asked, client, "Deploy", "", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 1);
    told = caller_event(client, "client/present");
    assert_string_equal(json_member_text(json_at(told, "/params/form"), "title"), "Deploy");
    assert_true(json_member_integer(json_at(told, "/params"), "remaining_ms", 0) > 290000);
    json_free(told);
    return_form(client, shown_id(client),
                "'action':'accept','content':{'choice':'b'},'shown_ms':5");
    assert_worked(&asked);
    assert_true(asked.is_final);
    assert_string_equal(call_text(&asked, "/action_status"), "selected");
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
    assert_string_equal(call_text(&asked, "/answered_by/via"), "client");
    assert_int_equal(call_number(&asked, "/answered_by/pid"), -1);
    /* on disk before anyone is told */
    assert_true(stage_place(stage, "answered done") >= 0);
    assert_true(stage_place(stage, "answered done") < stage_place(stage, "call succeeded"));
    call_release(&asked);
}

static void test_who_declares_nothing_is_not_asked(void **state)
{
    static const char *const silent[] = { "'client':{'era':'legacy','form':false}", "'client':{}",
                                          "'client':7", "'other':1" };
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };
    char title[24];

    for (size_t i = 0; i < ARRAY_LEN(silent); i++) {
        snprintf(title, sizeof title, "Ask %zu", i);
        ask(&asked, client, title, "", silent[i]);
    }
    ask(&asked, client, "Elsewhere", ",'destructive':true", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 0);
    call_release(&asked);
}

/* By the hand-set clock: who refuses sooner has not read it. */
static void test_the_two_seconds(void **state)
{
    static const struct {
        const char *action;
        int shown_ms;
        const char *status; /* "" : goes on elsewhere */
        bool is_declined;
    } cases[] = {
        { "decline", 1999, "", false },         { "cancel", 0, "", false },
        { "decline", 2000, "cancelled", true }, { "cancel", 2000, "cancelled", false },
        { "nonsense", 9000, "", false },
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct call asked = { 0 };
        char version[8], title[24], members[64];
        struct caller *client;

        snprintf(version, sizeof version, "%zu", i);
        snprintf(title, sizeof title, "Ask %zu", i);
        snprintf(members, sizeof members, "'action':'%s','shown_ms':%d", cases[i].action,
                 cases[i].shown_ms);
        client = enter_client(stage, version);
        ask(&asked, client, title, "", LEGACY);
        return_form(client, shown_id(client), members);
        assert_int_equal(asked.replies, cases[i].status[0] ? 1 : 0);
        assert_string_equal(call_text(&asked, "/action_status"), cases[i].status);
        assert_int_equal(call_is_yes(&asked, "/declined"), cases[i].is_declined);
        caller_leave(client);
        call_release(&asked);
    }
}

/* By its name: this one was never seen to decline without a person. */
static void test_a_quick_no_of_a_client_that_shows_its_forms(void **state)
{
    struct stage *stage = *state;
    struct identity claude = visitor_agent("claude-code");
    struct caller *client;
    struct call asked = { 0 };

    claude.version = "2";
    claude.transport = "stdio";
    client = caller_enter(stage, "client", &claude);
    ask(&asked, client, "One", "", LEGACY);
    return_form(client, shown_id(client), "'action':'decline','shown_ms':900");
    assert_string_equal(call_text(&asked, "/action_status"), "cancelled");
    assert_true(call_is_yes(&asked, "/declined"));
    ask(&asked, client, "Two", "", LEGACY);
    return_form(client, shown_id(client), "'action':'cancel','shown_ms':900");
    assert_int_equal(asked.replies, 0); /* which it does by itself */
    call_release(&asked);
}

static void test_a_form_speaks_the_language_of_its_client(void **state)
{
    static const struct {
        const char *said, *saved, *wanted;
    } cases[] = {
        { "zh", NULL, "zh" }, { NULL, NULL, "en" }, { "xx", NULL, "en" }, { "zh", "en", "en" }
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct identity identity = visitor_agent("client");
        struct call asked = { 0 };
        struct caller *client;
        struct json *event;

        identity.transport = "stdio";
        identity.language = cases[i].said;
        if (cases[i].saved)
            stage_set(*state, "language", cases[i].saved);
        client = caller_enter(*state, "client", &identity);
        ask(&asked, client, "One", "", LEGACY);
        event = caller_event(client, "client/present");
        assert_string_equal(json_text(json_at(event, "/params/language")), cases[i].wanted);
        json_free(event);
        caller_leave(client);
        call_release(&asked);
    }
}

static void ask_form(struct call *asked, struct caller *client, const char *message)
{
    *asked = (struct call){ 0 };
    call_start(asked, client, METHOD_ask_create,
               "{'tool':'elicit_form','arguments':{'message':'%s','requestedSchema':{'type':"
               "'object','properties':{'name':{'type':'string'},'size':{'type':'string','enum':["
               "'a','b']}},'required':['name','size']}},'wait_seconds':50,'tag':'7'," LEGACY "}",
               message);
    stage_settle(client->stage);
}

/* A person was there: what they typed is kept as a draft, and the client is asked again. */
static void test_what_was_typed_is_kept(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "cli");
    struct call asked = { 0 }, got = { 0 };
    struct json *event;
    char id[ASK_ID_BYTES];

    ask_form(&asked, client, "One");
    snprintf(id, sizeof id, "%s", shown_id(client));
    return_form(client, id, "'action':'accept','content':{'size':'a'},'shown_ms':9000");
    assert_int_equal(caller_count(client, "client/present"), 2); /* with what is missing */
    event = caller_event(client, "client/present");
    assert_string_equal(json_text(json_at(event, "/params/lacks_at")), "/fields/name");
    assert_string_equal(json_text(json_at(event, "/params/lacks")), "enter some visible text");
    json_free(event);
    return_form(client, id, "'action':'accept','content':{'size':'b'},'shown_ms':9000");
    assert_int_equal(caller_count(client, "client/present"), 2); /* once */
    assert_int_equal(asked.replies, 0);
    call_run(&got, person, METHOD_ask_get, "{'session_id':'%s'}", id);
    assert_string_equal(call_text(&got, "/draft/fields/size"), "b");
    call_release(&asked);
    ask_form(&asked, client, "Two");
    assert_int_equal(caller_count(client, "client/present"), 3);
    snprintf(id, sizeof id, "%s", shown_id(client));
    return_form(client, id, "'action':'decline','content':{'name':'Ada'},'shown_ms':9000");
    assert_string_equal(call_text(&asked, "/action"), "decline");
    call_run(&got, person, METHOD_ask_get, "{'session_id':'%s'}", id);
    assert_string_equal(call_text(&got, "/draft/fields/name"), "Ada");
    call_release(&asked);
    call_release(&got);
}

/* A form that failed is not shown by that client again, until a day has passed or its version is
 * another one. */
static void test_a_form_that_does_not_work_is_not_shown_again(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *other;
    struct call asked = { 0 };

    ask(&asked, client, "One", "", LEGACY);
    return_form(client, shown_id(client), "'action':'cancel','shown_ms':3");
    ask(&asked, client, "Two", "", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 1);
    stage_restart(stage);
    client = enter_client(stage, "1");
    ask(&asked, client, "Three", "", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 0);
    other = enter_client(stage, "2");
    ask(&asked, other, "Four", "", LEGACY);
    assert_int_equal(caller_count(other, "client/present"), 1);
    stage_advance(stage, DAY_MS);
    client = enter_client(stage, "1");
    ask(&asked, client, "Five", "", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 1);
    return_form(client, shown_id(client),
                "'action':'accept','content':{'choice':'a'},'shown_ms':9");
    ask(&asked, client, "Six", "", LEGACY);
    return_form(client, shown_id(client), "'action':'cancel','shown_ms':3");
    ask(&asked, client, "Seven", "", LEGACY); /* a person has used it: once is not always */
    assert_int_equal(caller_count(client, "client/present"), 3);
    call_release(&asked);
}

/* A database may reply about the client's form later than its first asks arrive: they wait for it,
 * and identical ones are still one ask. */
static void test_an_ask_waits_until_its_client_is_known(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 }, again = { 0 }, other = { 0 }, gone = { 0 };

    ask(&asked, client, "One", "", LEGACY);
    return_form(client, shown_id(client), "'action':'cancel','shown_ms':3");
    stage_restart(stage);
    stage->store.holds_form_fact = true;
    client = enter_client(stage, "1");
    ask(&asked, client, "Two", "", LEGACY);
    ask(&again, client, "Two", "", LEGACY);
    ask(&other, client, "Three", "", LEGACY);
    assert_int_equal(stage->store.writes[WRITE_create], 0);
    stage_release_form_fact(stage);
    assert_int_equal(stage->store.writes[WRITE_create], 2);
    assert_int_equal(caller_count(client, "ask/created"), 3);
    assert_int_equal(caller_count(client, "client/present"), 0);

    stage->store.holds_form_fact = true; /* a client that leaves now has asked nothing */
    client = enter_client(stage, "2");
    ask(&gone, client, "Four", "", LEGACY);
    caller_leave(client);
    stage_release_form_fact(stage);
    assert_int_equal(stage->store.writes[WRITE_create], 2);
    call_release(&asked);
    call_release(&again);
    call_release(&other);
    call_release(&gone);
}

static void test_bad_content_is_never_kept_and_the_ask_goes_on(void **state)
{
    static const char *const contents[] = {
        "'content':{}",
        "'content':{'choice':'purple'}",
        "'content':{'choice':['a','b']}",
        "'content':{'choice':1}",
        "'content':[]",
        "'content':{'choice':'a\\u0000'}",
        "'no':1",
        /* names that mean something to people's answers mean nothing here */
        "'content':{'version':99,'answer_key':'k','code':'1','selected_ids':['a']}",
    };
    struct stage *stage = *state;
    struct caller *person = enter_person(stage, "cli");

    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        struct call asked = { 0 }, answered = { 0 };
        char version[8], title[24], members[160], id[ASK_ID_BYTES];
        struct caller *client;

        snprintf(version, sizeof version, "%zu", i);
        snprintf(title, sizeof title, "Ask %zu", i);
        snprintf(members, sizeof members, "'action':'accept',%s,'shown_ms':9000", contents[i]);
        client = enter_client(stage, version);
        ask(&asked, client, title, "", LEGACY);
        snprintf(id, sizeof id, "%s", shown_id(client));
        return_form(client, id, members);
        assert_int_equal(asked.replies, 0);
        call_run(&answered, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}",
                 id);
        assert_worked(&answered);
        assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "b");
        assert_string_equal(call_text(&asked, "/answered_by/via"), "cli");
        call_release(&asked);
        call_release(&answered);
        caller_leave(client);
    }
}

static void test_with_nobody_else_the_client_has_the_last_word(void **state)
{
    struct stage *stage = *state;
    struct caller *client;
    struct call asked = { 0 }, failed = { 0 };

    stage_set(stage, "portal", "off");
    stage_set(stage, "terminal", "off");
    client = enter_client(stage, "1");
    ask(&asked, client, "One", "", LEGACY);
    return_form(client, shown_id(client), "'action':'decline','shown_ms':3");
    assert_string_equal(call_text(&asked, "/action_status"), "cancelled");
    assert_true(call_is_yes(&asked, "/declined"));
    client = enter_client(stage, "2");
    ask(&asked, client, "Two", "", LEGACY);
    return_form(client, shown_id(client), "'action':'accept','content':{},'shown_ms':3");
    assert_failed(&asked, ERROR_validation_failed, "");
    client = enter_client(stage, "3");
    ask(&asked, client, "Three", "", LEGACY);
    call_run(&failed, client, METHOD_client_failed, "{'session_id':'%s'}", shown_id(client));
    assert_failed(&asked, ERROR_no_human_channel, "");
    ask(&asked, client, "Four", "", LEGACY); /* now it is known */
    assert_failed(&asked, ERROR_no_human_channel, "");
    call_release(&asked);
    call_release(&failed);
}

static void test_answered_elsewhere_it_is_withdrawn(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person;
    struct call asked = { 0 }, did = { 0 }, late = { 0 };
    char id[ASK_ID_BYTES];

    stage_set(stage, "deliver_after", "5");
    person = enter_person(stage, "web");
    ask(&asked, client, "Deploy", "", LEGACY);
    snprintf(id, sizeof id, "%s", shown_id(client));
    call_run(&did, person, METHOD_ask_answer, "{'session_id':'%s','selected_ids':['b']}", id);
    assert_int_equal(asked.replies, 0); /* it may still be undone */
    assert_int_equal(caller_count(client, "client/withdraw"), 1);
    call_run(&late, client, METHOD_client_result,
             "{'session_id':'%s','action':'accept','content':{'choice':'a'},'shown_ms':9000}", id);
    assert_failed(&late, ERROR_not_found, "/session_id");
    call_run(&did, person, METHOD_ask_undo, "{'session_id':'%s'}", id);
    assert_int_equal(caller_count(client, "client/present"), 2); /* asked again */
    return_form(client, id, "'action':'accept','content':{'choice':'a'},'shown_ms':9000");
    assert_string_equal(call_text(&asked, "/selection/selected_ids/0"), "a");
    call_release(&asked);
    call_release(&did);
    call_release(&late);
}

static void test_only_its_own_asks_are_a_clients(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "cli");
    struct identity other = visitor_agent("somebody else");
    struct caller *stranger = caller_enter(stage, "stranger", &other);
    struct call asked = { 0 }, tried = { 0 };

    ask(&asked, client, "Deploy", "", LEGACY);
    call_run(&tried, stranger, METHOD_client_result,
             "{'session_id':'%s','action':'accept','content':{'choice':'a'},'shown_ms':9000}",
             shown_id(client));
    assert_failed(&tried, ERROR_not_found, "/session_id");
    call_run(&tried, person, METHOD_client_result, "{'session_id':'%s'}", shown_id(client));
    assert_failed(&tried, ERROR_wrong_role, "");
    call_run(&tried, client, METHOD_client_result, "{'session_id':7}");
    assert_failed(&tried, ERROR_not_found, "/session_id");
    assert_int_equal(asked.replies, 0);
    call_release(&asked);
    call_release(&tried);
}

static void test_silence_to_the_end_teaches(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };

    ask(&asked, client, "One", ",'timeout_seconds':10", LEGACY);
    stage_advance(stage, 10000);
    assert_string_equal(call_text(&asked, "/action_status"), "timeout");
    ask(&asked, client, "Two", "", LEGACY);
    assert_int_equal(caller_count(client, "client/present"), 1);
    call_release(&asked);
}

/* Held to the ask's end while the form is open, and from then on as usual. */
static void test_a_clock_that_stands_still(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1");
    struct call asked = { 0 };

    ask(&asked, client, "One", ",'timeout_seconds':1000", LEGACY);
    stage_advance(stage, 50000);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    ask(&asked, client, "Two", ",'timeout_seconds':1000", CLOCKLESS);
    stage_advance(stage, 200000);
    assert_int_equal(asked.replies, 0);
    return_form(client, shown_id(client), "'action':'accept','content':{},'shown_ms':200000");
    stage_advance(stage, 49999);
    assert_int_equal(asked.replies, 0);
    stage_advance(stage, 1);
    assert_string_equal(call_text(&asked, "/action_status"), "pending");
    call_release(&asked);
}

/* For how long others are to stay silent about the newest ask; -1: they need not. */
static int64_t quiet_s(struct caller *person)
{
    struct call listed = { 0 };
    int64_t quiet;

    call_run(&listed, person, METHOD_ask_list, "{}");
    assert_worked(&listed);
    quiet = call_number(&listed, "/asks/0/quiet_seconds");
    call_release(&listed);
    return quiet;
}

static void test_others_are_silent_while_the_client_has_its_15_seconds(void **state)
{
    struct stage *stage = *state;
    struct caller *client = enter_client(stage, "1"), *person = enter_person(stage, "terminal");
    struct call asked = { 0 }, watched = { 0 };
    struct json *event;

    call_run(&watched, person, METHOD_ask_watch, "{}");
    ask(&asked, client, "One", "", LEGACY);
    event = caller_event(person, "ask/changed");
    assert_int_equal(json_member_integer(json_at(event, "/params/ask"), "quiet_seconds", 0), 15);
    json_free(event);
    stage_advance(stage, 4000);
    assert_int_equal(quiet_s(person), 11);
    stage_advance(stage, 11000);
    assert_int_equal(quiet_s(person), -1);
    call_release(&asked);
    call_release(&watched);
}

/* Whatever ends the form ends the silence, and those who watch hear of it. */
static void test_without_a_form_nobody_is_silent(void **state)
{
    struct stage *stage = *state;
    struct caller *client, *person = enter_person(stage, "terminal");
    struct call asked = { 0 }, watched = { 0 };

    call_run(&watched, person, METHOD_ask_watch, "{}");
    client = enter_client(stage, "1");
    ask(&asked, client, "None", "", "'client':{}");
    assert_int_equal(quiet_s(person), -1);
    ask(&asked, client, "Refused", "", LEGACY);
    assert_int_equal(quiet_s(person), 15);
    caller_forget(person);
    return_form(client, shown_id(client), "'action':'decline','shown_ms':3");
    assert_int_equal(caller_count(person, "ask/changed"), 1);
    assert_int_equal(quiet_s(person), -1);
    client = enter_client(stage, "2");
    ask(&asked, client, "Gone", "", LEGACY);
    assert_int_equal(quiet_s(person), 15);
    caller_forget(person);
    caller_leave(client);
    stage_settle(stage);
    assert_int_equal(caller_count(person, "ask/changed"), 1);
    assert_int_equal(quiet_s(person), -1);
    client = enter_client(stage, "3");
    ask(&asked, client, "Modern", "", MODERN);
    assert_int_equal(quiet_s(person), 15);
    call_release(&asked);
    call_release(&watched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_form_is_shown_and_its_answer_is_the_persons),
        CASE(test_who_declares_nothing_is_not_asked),
        CASE(test_the_two_seconds),
        CASE(test_a_quick_no_of_a_client_that_shows_its_forms),
        CASE(test_a_form_speaks_the_language_of_its_client),
        CASE(test_what_was_typed_is_kept),
        CASE(test_a_form_that_does_not_work_is_not_shown_again),
        CASE(test_an_ask_waits_until_its_client_is_known),
        CASE(test_bad_content_is_never_kept_and_the_ask_goes_on),
        CASE(test_with_nobody_else_the_client_has_the_last_word),
        CASE(test_answered_elsewhere_it_is_withdrawn),
        CASE(test_only_its_own_asks_are_a_clients),
        CASE(test_silence_to_the_end_teaches),
        CASE(test_a_clock_that_stands_still),
        CASE(test_others_are_silent_while_the_client_has_its_15_seconds),
        CASE(test_without_a_form_nobody_is_silent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
