/*
 * test_engine_lost.c - a client that gives calls up without a word asks again: the person is shown
 * the answer it may have lost, in a new ask that is theirs to send. Nothing is replayed.
 * Proves: R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const char silent[] = "gemini-cli-mcp-client-sayso";

struct pair {
    struct stage *stage;
    struct caller *client, *person;
    char first[ASK_ID_BYTES], second[ASK_ID_BYTES];
};

/* `transport` NULL: what asks is no MCP client, as the gate. */
static void enter_by(struct pair *pair, void **state, const char *name, const char *transport)
{
    struct identity client = visitor_agent(name), person = visitor_person("cli");

    client.version = "1";
    client.transport = transport;
    *pair = (struct pair){ .stage = *state };
    pair->client = caller_enter(pair->stage, name, &client);
    pair->person = caller_enter(pair->stage, "person", &person);
}

static void enter(struct pair *pair, void **state, const char *name)
{
    enter_by(pair, state, name, "stdio");
}

static void submit(struct pair *pair, const char *tool, const char *arguments,
                   char out[ASK_ID_BYTES])
{
    static struct call calls[32]; /* some are still open when their test is over */
    static size_t count;
    struct call *call = &calls[count++];
    struct json *created;

    assert_true(count <= ARRAY_LEN(calls));
    call_start(call, pair->client, METHOD_ask_create,
               "{'tool':'%s','wait_seconds':-1,'tag':'t','arguments':{%s}}", tool, arguments);
    stage_settle(pair->stage);
    assert_int_equal(call->replies, 0);
    created = caller_event(pair->client, "ask/created");
    snprintf(out, ASK_ID_BYTES, "%s", json_text(json_at(created, "/params/session_id")));
    json_free(created);
}

static void act(struct pair *pair, enum method what, const char *more)
{
    struct call call = { 0 };

    call_run(&call, pair->person, what, "{'session_id':'%s'%s}", pair->first, more);
    assert_worked(&call);
    call_release(&call);
}

static void confirm(struct pair *pair)
{
    struct call call = { 0 };

    call_run(&call, pair->client, METHOD_ask_delivered, "{'session_ids':['%s']}", pair->first);
    assert_worked(&call);
    call_release(&call);
}

/* What the person gets to see of the second ask. */
static void look(struct pair *pair, struct call *got)
{
    *got = (struct call){ 0 };
    call_run(got, pair->person, METHOD_ask_get, "{'session_id':'%s'}", pair->second);
    assert_worked(got);
}

#define TITLED(n) "'title':'Ask " n "','prompt':'Two versions are ready, one must go out today.',"
#define CHOICES                                                                                    \
    "'options':[{'id':'a','label':'Alpha','recommended':true},{'id':'b','label':'Beta'}]"

static const struct {
    const char *name, *tool, *arguments, *answer, *draft; /* draft NULL: nothing is shown */
    const char *client;                                   /* NULL: the silent one */
    int64_t after_ms;
} cases[] = {
    { "a choice", "provide_choice", TITLED("1") "'selection_mode':'single'," CHOICES,
      ",'selected_ids':['b'],'global_annotation':'soon'", "/draft/selected_ids/0 b", NULL, 40000 },
    { "own words", "provide_choice", TITLED("2") "'selection_mode':'hybrid'," CHOICES,
      ",'selected_ids':[],'custom_input':'neither'", "/draft/custom_input neither", NULL, 119000 },
    { "a string", "elicit_input", "'message':'What shall it be called?'", ",'fields':{'input':'x'}",
      "/draft/custom_input x", NULL, 0 },
    { "later", "provide_choice", TITLED("4") "'selection_mode':'single'," CHOICES,
      ",'selected_ids':['b']", NULL, NULL, 120000 },
    { "another client", "provide_choice", TITLED("5") "'selection_mode':'single'," CHOICES,
      ",'selected_ids':['b']", NULL, "codex-mcp-client", 40000 },
    { "something destructive", "provide_choice",
      TITLED("6") "'selection_mode':'single','destructive':true," CHOICES, ",'selected_ids':['a']",
      NULL, NULL, 40000 },
    { "a confirmation", "elicit_confirm", "'message':'Shall it go out?'",
      ",'fields':{'confirmed':true}", NULL, NULL, 40000 },
    { "one destructive option of several", "provide_choice",
      TITLED("13") "'selection_mode':'single','options':[{'id':'a','label':'Alpha','recommended':"
                   "true},{'id':'b','label':'Beta','destructive':true}]",
      ",'selected_ids':['a']", NULL, NULL, 40000 },
    { "a form with a yes or no", "elicit_form",
      "'message':'m','requestedSchema':{'type':'object','properties':{'f':{'type':'boolean'}}}",
      ",'fields':{'f':true}", NULL, NULL, 40000 },
};

static void demand_draft(const struct call *got, const char *wanted)
{
    char pointer[64];
    size_t length = strcspn(wanted, " ");

    snprintf(pointer, sizeof pointer, "%.*s", (int)length, wanted);
    assert_string_equal(call_text(got, pointer), wanted + length + 1);
}

static void test_what_may_be_lost_is_shown_again(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pair pair;
        struct call got;
        int64_t answered_ms;

        enter(&pair, state, cases[i].client ? cases[i].client : silent);
        submit(&pair, cases[i].tool, cases[i].arguments, pair.first);
        act(&pair, METHOD_ask_answer, cases[i].answer);
        answered_ms = pair.stage->clock.utc_ms;
        confirm(&pair);
        stage_advance(pair.stage, cases[i].after_ms);
        submit(&pair, cases[i].tool, cases[i].arguments, pair.second);
        assert_string_not_equal(pair.first, pair.second);
        look(&pair, &got);
        assert_string_equal(call_text(&got, "/ask/status"), "pending");
        if (cases[i].draft) {
            demand_draft(&got, cases[i].draft);
            assert_int_equal(call_number(&got, "/form/answered_ms"), answered_ms);
        } else if (json_at(got.json, "/draft") || json_at(got.json, "/form/answered_ms")) {
            fail_msg("%s is preselected", cases[i].name);
        }
        call_release(&got);
    }
}

/* It stays where it was put, whatever happens to the hub, and is the newest of several. */
static void test_the_latest_answer_is_kept(void **state)
{
    static const char arguments[] = TITLED("7") "'selection_mode':'single'," CHOICES;
    char again[ASK_ID_BYTES];
    struct pair pair;
    struct call got;

    enter(&pair, state, silent);
    submit(&pair, "provide_choice", arguments, pair.first);
    act(&pair, METHOD_ask_answer, ",'selected_ids':['a']");
    confirm(&pair);
    submit(&pair, "provide_choice", arguments, pair.first);
    act(&pair, METHOD_ask_answer, ",'selected_ids':['b']");
    confirm(&pair);
    stage_restart(pair.stage);
    enter(&pair, state, silent);
    submit(&pair, "provide_choice", arguments, pair.second);
    stage_crash(pair.stage);
    memcpy(again, pair.second, sizeof again);
    enter(&pair, state, silent);
    submit(&pair, "provide_choice", arguments, pair.second);
    assert_string_equal(pair.second, again);
    look(&pair, &got);
    demand_draft(&got, "/draft/selected_ids/0 b");
    assert_true(call_number(&got, "/form/answered_ms") > 0);
    call_release(&got);
}

/* The gate asks in the client's name, but is no call that the client could have lost. */
static void test_the_gate_asks_anew(void **state)
{
    static const char arguments[] = TITLED("11") "'selection_mode':'single'," CHOICES;
    struct pair pair;
    struct call got;

    enter_by(&pair, state, silent, NULL);
    submit(&pair, "provide_choice", arguments, pair.first);
    act(&pair, METHOD_ask_answer, ",'selected_ids':['b']");
    confirm(&pair);
    submit(&pair, "provide_choice", arguments, pair.second);
    look(&pair, &got);
    assert_null(json_at(got.json, "/draft"));
    assert_int_equal(call_number(&got, "/form/answered_ms"), -1);
    call_release(&got);
}

/* What is filled in is the person's to send: at the deadline it is neither an answer nor a default.
 */
static void test_what_is_filled_in_is_not_sent(void **state)
{
    static const char arguments[] =
        TITLED("12") "'selection_mode':'single','timeout_seconds':60," CHOICES;
    struct pair pair;
    struct call got;

    stage_set(*state, "timeout_action", "submit_defaults");
    enter(&pair, state, silent);
    submit(&pair, "provide_choice", arguments, pair.first);
    act(&pair, METHOD_ask_answer, ",'selected_ids':['b']");
    confirm(&pair);
    submit(&pair, "provide_choice", arguments, pair.second);
    stage_advance(pair.stage, 60000);
    stage_settle(pair.stage);
    look(&pair, &got);
    assert_string_equal(call_text(&got, "/ask/status"), "timeout");
    assert_null(json_at(got.json, "/answer/selected_ids"));
    call_release(&got);
}

/* A no is not shown as an answer. */
static void test_only_answers_are_shown(void **state)
{
    struct pair pair;
    struct call got;
    static const enum method endings[] = { METHOD_ask_cancel, METHOD_ask_decline };

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        const char *arguments = i ? TITLED("8") "'selection_mode':'single'," CHOICES
                                  : TITLED("9") "'selection_mode':'single'," CHOICES;

        enter(&pair, state, silent);
        submit(&pair, "provide_choice", arguments, pair.first);
        act(&pair, endings[i], "");
        confirm(&pair);
        submit(&pair, "provide_choice", arguments, pair.second);
        look(&pair, &got);
        assert_null(json_at(got.json, "/draft"));
        assert_int_equal(call_number(&got, "/form/answered_ms"), -1);
        call_release(&got);
    }
}

/* One that was not delivered is, as ever: it can't have been lost on its way to a person. */
static void test_what_was_not_delivered_is_replayed(void **state)
{
    static const char arguments[] = TITLED("10") "'selection_mode':'single'," CHOICES;
    struct pair pair;
    struct call again = { 0 };

    enter(&pair, state, silent);
    submit(&pair, "provide_choice", arguments, pair.first);
    caller_leave(pair.client);
    act(&pair, METHOD_ask_answer, ",'selected_ids':['b']");
    enter(&pair, state, silent);
    call_run(&again, pair.client, METHOD_ask_create,
             "{'tool':'provide_choice','wait_seconds':-1,'tag':'t','arguments':{%s}}", arguments);
    assert_worked(&again);
    assert_true(call_is_yes(&again, "/replayed"));
    call_release(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_may_be_lost_is_shown_again),
        CASE(test_the_latest_answer_is_kept),
        CASE(test_the_gate_asks_anew),
        CASE(test_what_is_filled_in_is_not_sent),
        CASE(test_only_answers_are_shown),
        CASE(test_what_was_not_delivered_is_replayed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
