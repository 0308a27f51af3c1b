/*
 * test_engine_conversations.c - conversations when the disk says no, when the hub is gone between
 * two commits, and who is told of what.
 * Proves: R3.4, R3.5, P1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define QUESTION                                                                                   \
    "{'id':'t1','name':'ask_user_question','input':{'questions':[{'question':'Which?',"            \
    "'options':[{'label':'A'},{'label':'B'}]}]}}"
#define TURN(calls) "'event':'tool_calls','body':{'tool_calls':[" calls "]}"
#define ANSWER      "'event':'user_question_response','body':{'answers':{'Which?':'A'}}"

struct talk_room {
    struct stage *stage;
    struct caller *host, *person;
    struct call did;
    char id[ASK_ID_BYTES];
};

static struct caller *enter_host(struct stage *stage, const char *token_id)
{
    struct identity identity = visitor_agent("builder");

    identity.token = "builder";
    identity.token_id = token_id;
    identity.uid = -1;
    identity.directory = NULL;
    return caller_enter(stage, "host", &identity);
}

static void room_enter(struct talk_room *room)
{
    struct identity identity = visitor_person("api");

    room->host = enter_host(room->stage, "0123456789abcdef");
    room->person = caller_enter(room->stage, "person", &identity);
}

static void room_open(struct talk_room *room, void **state)
{
    *room = (struct talk_room){ .stage = *state, .did.label = "said" };
    room_enter(room);
    call_run(&room->did, room->host, METHOD_conversation_new, "{}");
    assert_worked(&room->did);
    snprintf(room->id, sizeof room->id, "%s", call_text(&room->did, "/conversation"));
}

static void room_close(struct talk_room *room)
{
    call_release(&room->did);
    caller_leave(room->host);
    caller_leave(room->person);
}

static void say(struct talk_room *room, struct caller *caller, const char *what)
{
    call_run(&room->did, caller, METHOD_conversation_say, "{'conversation':'%s',%s}", room->id,
             what);
}

static void expect_state(struct talk_room *room, const char *type)
{
    call_run(&room->did, room->host, METHOD_conversation_get, "{'conversation':'%s'}", room->id);
    assert_string_equal(call_text(&room->did, "/state/type"), type);
}

/* The ask of its question; "" where it is not there yet. */
static void find_ask(struct talk_room *room, char out[ASK_ID_BYTES])
{
    expect_state(room, "awaiting_user_response");
    snprintf(out, ASK_ID_BYTES, "%s", call_text(&room->did, "/session_id"));
    call_run(&room->did, room->person, METHOD_ask_get, "{'session_id':'%s'}", out);
    if (room->did.err.code != ERROR_NONE)
        out[0] = '\0';
}

static void test_what_is_not_kept_has_not_happened(void **state)
{
    struct talk_room room;

    room_open(&room, state);
    room.stage->store.fails_conversations = true;
    call_run(&room.did, room.host, METHOD_conversation_new, "{}");
    assert_failed(&room.did, ERROR_storage_failed, "");
    say(&room, room.host, TURN(QUESTION));
    assert_failed(&room.did, ERROR_storage_failed, "");
    expect_state(&room, "idle");
    assert_int_equal(call_number(&room.did, "/last_event"), 1);
    room.stage->store.fails_conversations = false;
    say(&room, room.host, TURN(QUESTION));
    assert_worked(&room.did);
    room_close(&room);
}

static void test_an_answer_waits_until_the_conversation_can_be_kept(void **state)
{
    struct talk_room room;
    struct call responding = { .label = "respond" };
    char ask[ASK_ID_BYTES];

    room_open(&room, state);
    say(&room, room.host, TURN(QUESTION));
    find_ask(&room, ask);
    assert_true(ask[0]);
    room.stage->store.fails_conversations = true;
    call_start(&responding, room.person, METHOD_conversation_say,
               "{'conversation':'%s'," ANSWER "}", room.id);
    stage_settle(room.stage);
    assert_int_equal(responding.replies, 0); /* on disk, and the agent has not gone on */
    call_run(&room.did, room.person, METHOD_ask_get, "{'session_id':'%s'}", ask);
    assert_string_equal(call_text(&room.did, "/ask/status"), "submitted");
    expect_state(&room, "awaiting_user_response");
    room.stage->store.fails_conversations = false;
    stage_advance(room.stage, 6000);
    stage_settle(room.stage);
    assert_int_equal(responding.replies, 1);
    assert_string_equal(call_text(&responding, "/state/type"), "llm_requesting");
    expect_state(&room, "llm_requesting");
    call_run(&room.did, room.host, METHOD_conversation_events, "{'conversation':'%s','after':3}",
             room.id);
    assert_string_equal(call_text(&room.did, "/events/0/event"), "persist_tool_results");
    call_release(&responding);
    room_close(&room);
}

static void test_a_question_that_could_not_be_asked_is_asked_later(void **state)
{
    struct talk_room room;
    char ask[ASK_ID_BYTES];

    room_open(&room, state);
    room.stage->store.fails_create = true;
    say(&room, room.host, TURN(QUESTION));
    assert_worked(&room.did);
    stage_settle(room.stage);
    find_ask(&room, ask);
    assert_string_equal(ask, "");
    say(&room, room.person, ANSWER);
    assert_failed(&room.did, ERROR_unavailable, "");
    room.stage->store.fails_create = false;
    stage_advance(room.stage, 6000);
    stage_settle(room.stage);
    find_ask(&room, ask);
    assert_true(ask[0]);
    say(&room, room.person, ANSWER);
    assert_string_equal(call_text(&room.did, "/state/type"), "llm_requesting");
    room_close(&room);
}

static void test_a_hub_that_died_before_it_asked_asks_at_the_next_start(void **state)
{
    struct talk_room room;
    char ask[ASK_ID_BYTES];

    room_open(&room, state);
    room.stage->store.fails_create = true;
    say(&room, room.host, TURN(QUESTION));
    call_release(&room.did);
    room.stage->store.fails_create = false;
    stage_crash(room.stage);
    room_enter(&room);
    stage_settle(room.stage);
    find_ask(&room, ask);
    assert_true(ask[0]);
    assert_int_equal(call_number(&room.did, "/ask/version"), 1);
    stage_crash(room.stage); /* and not once more */
    room_enter(&room);
    stage_settle(room.stage);
    call_run(&room.did, room.person, METHOD_ask_list, "{}");
    assert_string_equal(call_text(&room.did, "/asks/0/session_id"), ask);
    assert_null(json_at(room.did.json, "/asks/1"));
    room_close(&room);
}

/* What is kept was a question once, and a person is to answer it. */
static void test_a_question_that_would_be_refused_by_now_is_asked_all_the_same(void **state)
{
    struct talk_room room;
    char ask[ASK_ID_BYTES];

    room_open(&room, state);
    room.stage->store.fails_create = true;
    say(&room, room.host, TURN(QUESTION));
    stage_settle(room.stage);
    chosen_run(room.stage->where, "UPDATE conversations SET"
                                  " body = replace(body, '\\\"questions\\\"', '\\\"quests\\\"')");
    assert_int_equal(chosen_number(room.stage->where, "SELECT count(*) FROM conversations"
                                                      " WHERE body LIKE '%quests%'"),
                     1);
    room.stage->store.fails_create = false;
    stage_advance(room.stage, 6000);
    stage_settle(room.stage);
    find_ask(&room, ask);
    assert_true(ask[0]);
    assert_string_equal(call_text(&room.did, "/form/fields/0/label"), "Which?");
    say(&room, room.person, ANSWER);
    assert_string_equal(call_text(&room.did, "/state/type"), "llm_requesting");
    room_close(&room);
}

/* Its host could neither be told that a rule answered, nor explain. */
static void test_nobody_answers_or_asks_back_for_it(void **state)
{
    struct talk_room room;
    char ask_id[ASK_ID_BYTES];

    room_open(&room, state);
    say(&room, room.host, TURN(QUESTION));
    find_ask(&room, ask_id);
    call_run(&room.did, room.person, METHOD_ask_back, "{'session_id':'%s','text':'why?'}", ask_id);
    assert_failed(&room.did, ERROR_wrong_state, "/session_id");
    call_run(&room.did, room.person, METHOD_ask_answer, "{'session_id':'%s','fields':{'q1':'A'}}",
             ask_id);
    assert_worked(&room.did);
    stage_advance(room.stage, 10000);
    call_run(&room.did, room.person, METHOD_rule_add, "{'session_id':'%s'}", ask_id);
    assert_worked(&room.did);
    say(&room, room.host, "'event':'turn_ended','body':{}");
    say(&room, room.host,
        TURN("{'id':'t2','name':'ask_user_question','input':{'questions':[{'question':'Which?',"
             "'options':[{'label':'A'},{'label':'B'}]}]}}"));
    find_ask(&room, ask_id); /* the same question: it is asked again */
    assert_string_equal(call_text(&room.did, "/ask/status"), "pending");
    room_close(&room);
}

static void test_listeners_are_told_of_their_own(void **state)
{
    struct talk_room room;
    struct caller *other;
    struct json *told;

    room_open(&room, state);
    call_run(&room.did, room.person, METHOD_conversation_follow, "{'conversation':'%s'}", room.id);
    other = enter_host(room.stage, "fedcba9876543210");
    call_run(&room.did, other, METHOD_conversation_follow, "{'conversation':'%s'}", room.id);
    assert_failed(&room.did, ERROR_not_found, "/conversation");
    say(&room, other, TURN(QUESTION));
    assert_failed(&room.did, ERROR_not_found, "/conversation");
    say(&room, room.host, TURN(QUESTION));
    told = caller_event(room.person, "conversation/changed");
    assert_non_null(told);
    json_free(told);
    assert_int_equal(caller_count(other, "conversation/changed"), 0);
    caller_leave(other);
    room_close(&room);
}

static void test_who_may_not_answer(void **state)
{
    struct talk_room room;
    struct identity agent = visitor_agent("another");
    struct caller *stranger;

    room_open(&room, state);
    say(&room, room.host, TURN(QUESTION));
    say(&room, room.host, ANSWER);
    assert_failed(&room.did, ERROR_wrong_state, "");
    stranger = caller_enter(room.stage, "stranger", &agent);
    say(&room, stranger, "'event':'turn_ended','body':{}");
    assert_failed(&room.did, ERROR_not_found, "/conversation");
    say(&room, room.person, TURN(QUESTION));
    assert_failed(&room.did, ERROR_wrong_state, "");
    call_run(&room.did, room.person, METHOD_conversation_new, "{}");
    assert_failed(&room.did, ERROR_wrong_role, "");
    caller_leave(stranger);
    room_close(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_not_kept_has_not_happened),
        CASE(test_an_answer_waits_until_the_conversation_can_be_kept),
        CASE(test_a_question_that_could_not_be_asked_is_asked_later),
        CASE(test_a_hub_that_died_before_it_asked_asks_at_the_next_start),
        CASE(test_a_question_that_would_be_refused_by_now_is_asked_all_the_same),
        CASE(test_nobody_answers_or_asks_back_for_it),
        CASE(test_listeners_are_told_of_their_own),
        CASE(test_who_may_not_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
