/*
 * test_engine_reply.c - what kind of reply a call gets: said by the engine, written on the wire and
 * read by its client, for each tool and each way an ask stands or ends.
 * Proves: R5.5 R2.2 R2.4
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_clients.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/outcome.h"
#include "core/tools/arguments.h"
#include "rpc/protocol.h"

static const struct asked {
    const char *tool, *arguments, *value;
} tools[] = {
    { "provide_choice",
      "'title':'T','prompt':'Which of the two shall be taken today?','selection_mode':'single',"
      "'options':[{'id':'a','label':'A','recommended':true},{'id':'b','label':'B'}]",
      "'a'" },
    { "ask_user_question",
      "'questions':[{'question':'Which?','options':[{'label':'Left'},{'label':'Right'}]}]",
      "'Left'" },
    { "elicit_choice",
      "'message':'Which?','options':[{'value':'a','label':'A'},{'value':'b','label':'B'}]", "'a'" },
    { "elicit_input", "'message':'Which?'", "'words'" },
    { "elicit_confirm", "'message':'Really?'", "true" },
    { "elicit_number", "'message':'How many?'", "3" },
    { "elicit_form",
      "'message':'What?','requestedSchema':{'type':'object','properties':{'name':{'type':"
      "'string'}}}",
      "'words'" },
};

struct round {
    struct stage *stage;
    const struct asked *tool;
    struct caller *agent, *person;
    struct call call, did;
    char id[ASK_ID_BYTES];
};

static void do_it(struct round *round, enum method act, const char *more)
{
    call_run(&round->did, round->person, act, "{'session_id':'%s'%s}", round->id, more);
    assert_worked(&round->did);
}

static void answer(struct round *round)
{
    struct call got = { 0 };

    call_run(&got, round->person, METHOD_ask_get, "{'session_id':'%s'}", round->id);
    call_run(&round->did, round->person, METHOD_ask_answer,
             "{'session_id':'%s','fields':{'%s':%s}}", round->id,
             call_text(&got, "/form/fields/0/name"), round->tool->value);
    assert_worked(&round->did);
    call_release(&got);
}

static void cancel(struct round *round)
{
    do_it(round, METHOD_ask_cancel, "");
}

static void decline(struct round *round)
{
    do_it(round, METHOD_ask_decline, "");
}

static void ask_back(struct round *round)
{
    do_it(round, METHOD_ask_back, ",'text':'why?'");
}

static void withdraw(struct round *round)
{
    call_run(&round->did, round->agent, METHOD_ask_withdraw, "{'session_id':'%s'}", round->id);
    assert_worked(&round->did);
}

static void run_out(struct round *round)
{
    stage_advance(round->stage, 400000);
}

static const struct way {
    const char *name;
    const char *arguments, *members; /* more of the call */
    void (*act)(struct round *round);
    enum ending ending;
    enum reply_kind created, collected;
} ways[] = {
    { "pending", "", ",'wait_seconds':0", NULL, ENDING_PENDING, REPLY_PENDING, REPLY_PENDING },
    { "asked back", "", "", ask_back, ENDING_PENDING, REPLY_TOLD, REPLY_TOLD },
    { "for a terminal", ",'interface':'terminal'", "", NULL, ENDING_PENDING, REPLY_TOLD,
      REPLY_TOLD },
    { "in its client", "", "," MODERN, NULL, ENDING_UNKNOWN, REPLY_INPUT, REPLY_PENDING },
    { "answered", "", "", answer, ENDING_ANSWERED, REPLY_FINAL, REPLY_FINAL },
    { "cancelled", "", "", cancel, ENDING_CANCELLED, REPLY_FINAL, REPLY_FINAL },
    { "declined", "", "", decline, ENDING_DECLINED, REPLY_FINAL, REPLY_FINAL },
    { "timed out", "", "", run_out, ENDING_TIMEOUT, REPLY_FINAL, REPLY_FINAL },
    { "withdrawn", "", "", withdraw, ENDING_WITHDRAWN, REPLY_FINAL, REPLY_FINAL },
};

/* What the engine said is what the client reads. */
static void check(const struct round *round, const struct way *way, enum reply_kind kind)
{
    char *json = round->call.json ? json_encode(round->call.json) : NULL;
    struct rpc_message message;
    enum reply_kind read;
    struct text line = { 0 };
    struct error err;
    int code;

    if (round->call.replies != 1 || round->call.kind != kind)
        fail_msg("%s, %s: %d replies, the last is '%s'", round->tool->tool, way->name,
                 round->call.replies, reply_kind_name(round->call.kind));
    rpc_add_result(&line, "7", round->call.kind, json);
    assert_true(rpc_parse(line.bytes, line.used, &message, &code));
    assert_true(rpc_read_kind(message.root, &read, &err));
    assert_int_equal(read, kind);
    assert_int_equal(message.result_json.length, strlen(json));
    assert_memory_equal(message.result_json.bytes, json, strlen(json)); /* passed on as it is */
    if (kind != REPLY_INPUT && outcome_read(message.result) != way->ending &&
        way->ending != ENDING_UNKNOWN)
        fail_msg("%s, %s: %s", round->tool->tool, way->name, json);
    rpc_release(&message);
    text_release(&line);
    free(json);
}

static void walk(struct round *round, const struct way *way)
{
    struct json *created;

    caller_forget(round->agent);
    call_start(&round->call, round->agent, METHOD_ask_create,
               "{'tool':'%s','tag':'t','arguments':{%s%s}%s}", round->tool->tool,
               round->tool->arguments, way->arguments, way->members);
    stage_settle(round->stage);
    created = caller_event(round->agent, "ask/created");
    assert_non_null(created);
    text_put(round->id, sizeof round->id,
             json_member_text(json_at(created, "/params"), "session_id"));
    json_free(created);
    if (way->act)
        way->act(round);
    stage_advance(round->stage, 10000); /* the time to undo is over */
    check(round, way, way->created);
    call_run(&round->call, round->agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}",
             round->id);
    check(round, way, way->collected);
    if (way->ending == ENDING_PENDING || way->ending == ENDING_UNKNOWN)
        withdraw(round);
    call_run(&round->did, round->agent, METHOD_ask_delivered, "{'session_ids':['%s']}", round->id);
    assert_worked(&round->did);
}

static const struct asked *row_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        if (strcmp(tools[i].tool, name) == 0)
            return &tools[i];
    }
    fail_msg("%s has no row here", name);
    return NULL;
}

static void test_each_tool_each_way(void **state)
{
    struct round round = { .stage = *state };

    round.stage->terminal_built = true;
    stage_restart(round.stage);
    stage_set(round.stage, "asks_per_minute", "1000");
    round.agent = enter_client(round.stage, "1");
    round.person = enter_person(round.stage, "web");
    for (size_t i = 0; ask_tool_at(i); i++) {
        round.tool = row_of(ask_tool_at(i)->name);
        for (size_t at = 0; at < ARRAY_LEN(ways); at++)
            walk(&round, &ways[at]);
    }
    call_release(&round.call);
    call_release(&round.did);
}

/* A hub that says nothing of it, or a word that is not known here, is not taken at its result. */
static void test_a_hub_that_does_not_say(void **state)
{
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"action\":\"accept\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"reply\":\"done\",\"result\":{\"action\":\"accept\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"reply\":true,\"result\":{\"action\":\"accept\"}}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct rpc_message message;
        enum reply_kind kind;
        struct error err;
        int code;

        assert_true(rpc_parse(lines[i], strlen(lines[i]), &message, &code));
        assert_false(rpc_read_kind(message.root, &kind, &err));
        assert_int_equal(err.code, ERROR_unavailable);
        assert_int_equal(kind, REPLY_PLAIN);
        rpc_release(&message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_tool_each_way, stage_set_up, stage_tear_down),
        cmocka_unit_test(test_a_hub_that_does_not_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
