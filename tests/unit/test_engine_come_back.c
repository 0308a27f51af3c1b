/*
 * test_engine_come_back.c - clients that come back for their ask with the state they were given:
 * for whom it is good, for how long, how often, and that the answer arrives once.
 * Proves: R5.5 R5.7 R13.1 B6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 8, STATE_BYTES = 512 };
static const int64_t WAIT_MS = 50000, DAY_MS = 86400000;

/* An agent that comes back, what it was given last, and its call. */
struct round {
    struct stage *stage;
    struct caller *agent, *person;
    struct call asked, did;
    char id[ASK_ID_BYTES], state[STATE_BYTES];
};

/* What the agent was told about its call; "" where it was given no state. */
static void read_created(struct round *round)
{
    struct json *event = caller_event(round->agent, "ask/created");
    const struct json *params = json_member(event, "params");
    const char *state = json_member_text(params, "state");

    if (event)
        snprintf(round->id, sizeof round->id, "%s", json_member_text(params, "session_id"));
    snprintf(round->state, sizeof round->state, "%s", state ? state : "");
    json_free(event);
}

#define ARGUMENTS(title)                                                                           \
    "{'title':'" title                                                                             \
    "','prompt':'Release is built. Which target? Two are healthy.','selection_mode':'single',"     \
    "'options':[{'id':'a','label':'Alpha','recommended':true},{'id':'b','label':'Beta'}]}"

static void ask(struct round *round)
{
    caller_forget(round->agent);
    call_start(&round->asked, round->agent, METHOD_ask_create,
               "{'tool':'provide_choice','tag':'1','wait_seconds':50,'comes_back':true,"
               "'arguments':" ARGUMENTS("Deploy") "}");
    stage_settle(round->stage);
    read_created(round);
}

/* The same call again; `state` may be another than the one that was given. */
static void come_back_with(struct round *round, struct caller *agent, const char *state)
{
    call_release(&round->asked);
    caller_forget(agent);
    call_start(&round->asked, agent, METHOD_ask_create,
               "{'tool':'provide_choice','tag':'2','wait_seconds':50,'comes_back':true,"
               "'state':'%s','arguments':" ARGUMENTS("Deploy") "}",
               state);
    stage_settle(round->stage);
}

static void come_back(struct round *round)
{
    come_back_with(round, round->agent, round->state);
    read_created(round);
}

static void round_open(struct round *round, void **state, const char *name)
{
    struct identity agent = visitor_agent(name), person = visitor_person("cli");

    *round = (struct round){ .stage = *state, .asked = { .label = "asked" } };
    stage_settle(round->stage); /* its key is on disk */
    round->agent = caller_enter(round->stage, "agent", &agent);
    round->person = caller_enter(round->stage, "person", &person);
    ask(round);
}

static void round_close(struct round *round)
{
    call_release(&round->asked);
    call_release(&round->did);
}

static void answer(struct round *round)
{
    call_run(&round->did, round->person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['b']}", round->id);
    assert_worked(&round->did);
}

static void assert_pending(const struct round *round)
{
    assert_int_equal(round->asked.replies, 1);
    assert_int_equal(round->asked.err.code, ERROR_NONE);
    assert_string_equal(call_text(&round->asked, "/action_status"), "pending");
}

/* Refused, and nothing happened to the ask. */
static void assert_refused(struct round *round)
{
    assert_int_equal(round->asked.replies, 1);
    assert_failed(&round->asked, ERROR_bad_format, "/state");
    assert_string_equal(
        round->asked.err.message,
        "this state is not ours, was altered, belongs to another call or is too old");
    assert_int_equal(engine_open_count(round->stage->engine), 1);
    assert_int_equal(round->stage->store.writes[WRITE_create], 1);
}

static void test_comes_back_for_the_same_ask(void **state)
{
    struct round round;
    char id[ASK_ID_BYTES];

    round_open(&round, state, "bot");
    memcpy(id, round.id, sizeof id);
    assert_string_not_equal(round.state, "");
    for (int i = 0; i < 2; i++) {
        stage_advance(round.stage, WAIT_MS);
        assert_pending(&round);
        come_back(&round);
        assert_string_equal(round.id, id);
        assert_int_equal(round.asked.replies, 0);
    }
    answer(&round);
    assert_string_equal(call_text(&round.asked, "/selection/selected_ids/0"), "b");
    assert_false(call_is_yes(&round.asked, "/replayed"));
    assert_int_equal(round.stage->store.writes[WRITE_create], 1);
    round_close(&round);
}

static void test_answered_between_two_rounds_it_is_given_once(void **state)
{
    struct round round;
    char given[STATE_BYTES];

    round_open(&round, state, "bot");
    memcpy(given, round.state, sizeof given);
    stage_advance(round.stage, WAIT_MS);
    answer(&round);
    come_back_with(&round, round.agent, given);
    assert_true(round.asked.is_final);
    assert_string_equal(call_text(&round.asked, "/selection/selected_ids/0"), "b");
    assert_false(call_is_yes(&round.asked, "/replayed"));
    assert_null(json_at(round.asked.json, "/notices"));
    call_run(&round.did, round.agent, METHOD_ask_delivered, "{'session_ids':['%s']}", round.id);
    /* a client that still has the state may look at it again, and is told so */
    come_back_with(&round, round.agent, given);
    assert_true(call_is_yes(&round.asked, "/replayed"));
    assert_string_equal(call_text(&round.asked, "/selection/selected_ids/0"), "b");
    /* without it the call is a new question */
    call_release(&round.asked);
    ask(&round);
    assert_int_equal(round.asked.replies, 0);
    assert_int_equal(round.stage->store.writes[WRITE_create], 2);
    round_close(&round);
}

static void test_the_last_round_is_given_no_state(void **state)
{
    struct round round;

    round_open(&round, state, "bot");
    for (int i = 0; i < ROUNDS; i++) {
        assert_string_not_equal(round.state, "");
        stage_advance(round.stage, WAIT_MS);
        assert_pending(&round);
        call_run(&round.did, round.person, METHOD_ask_extend, "{'session_id':'%s','seconds':1000}",
                 round.id);
        come_back(&round);
    }
    assert_string_equal(round.state, "");
    stage_advance(round.stage, WAIT_MS);
    assert_pending(&round);
    round_close(&round);
}

/* Each bit of it, what is no state, one that is too long (corpus mrtr-001, mrtr-008). */
static void test_an_altered_state_opens_nothing(void **state)
{
    static const char *const none[] = { "", "v1.1.", "v1.1.AAAA", "bm90IGEgc3RhdGU" };
    struct round round;
    char given[STATE_BYTES], altered[STATE_BYTES], huge[8193];
    size_t tried = 0;

    round_open(&round, state, "bot");
    memcpy(given, round.state, sizeof given);
    for (size_t bit = 0; bit < strlen(given) * 8; bit++) {
        memcpy(altered, given, sizeof altered);
        altered[bit / 8] = (char)(altered[bit / 8] ^ (1 << bit % 8));
        if (altered[bit / 8] < ' ' || strchr("'\"\\%\x7f", altered[bit / 8]))
            continue; /* not a text that JSON carries as it is: the seal's own test has them */
        come_back_with(&round, round.agent, altered);
        assert_refused(&round);
        tried++;
    }
    assert_true(tried > strlen(given) * 5);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        come_back_with(&round, round.agent, none[i]);
        assert_refused(&round);
    }
    memset(huge, 'A', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    memcpy(huge, given, strlen(given));
    come_back_with(&round, round.agent, huge);
    assert_refused(&round);
    call_release(&round.asked);
    call_start(&round.asked, round.agent, METHOD_ask_create,
               "{'tool':'provide_choice','state':7,'arguments':" ARGUMENTS("Deploy") "}");
    stage_settle(round.stage);
    assert_refused(&round);
    round_close(&round);
}

/* corpus mrtr-002; and the same principal with another call */
static void test_a_state_is_its_principals_and_its_calls(void **state)
{
    struct round round;
    struct identity other = visitor_agent("other bot");
    struct caller *thief;

    round_open(&round, state, "bot");
    thief = caller_enter(round.stage, "thief", &other);
    come_back_with(&round, thief, round.state);
    assert_refused(&round);
    call_release(&round.asked);
    call_start(&round.asked, round.agent, METHOD_ask_create,
               "{'tool':'provide_choice','state':'%s','arguments':" ARGUMENTS("Deploy twice") "}",
               round.state);
    stage_settle(round.stage);
    assert_refused(&round);
    round_close(&round);
}

/* corpus mrtr-003: the ask can still be collected by its id */
static void test_a_state_becomes_too_old(void **state)
{
    struct round round;

    round_open(&round, state, "bot");
    call_run(&round.did, round.person, METHOD_ask_extend, "{'session_id':'%s','seconds':2592000}",
             round.id);
    stage_advance(round.stage, 29 * DAY_MS);
    call_run(&round.did, round.person, METHOD_ask_extend, "{'session_id':'%s','seconds':2592000}",
             round.id);
    stage_advance(round.stage, 2 * DAY_MS);
    come_back(&round);
    assert_refused(&round);
    call_run(&round.did, round.agent, METHOD_ask_wait, "{'session_id':'%s','wait_seconds':0}",
             round.id);
    assert_string_equal(call_text(&round.did, "/action_status"), "pending");
    round_close(&round);
}

static void test_a_state_outlives_the_hub(void **state)
{
    struct identity bot = visitor_agent("bot"), person = visitor_person("cli");
    struct round round;
    char id[ASK_ID_BYTES];

    round_open(&round, state, "bot");
    memcpy(id, round.id, sizeof id);
    stage_advance(round.stage, WAIT_MS);
    stage_crash(round.stage);
    round.agent = caller_enter(round.stage, "agent", &bot);
    round.person = caller_enter(round.stage, "person", &person);
    come_back(&round);
    assert_string_equal(round.id, id);
    assert_int_equal(round.asked.replies, 0);
    answer(&round);
    assert_string_equal(call_text(&round.asked, "/selection/selected_ids/0"), "b");
    round_close(&round);
}

/* What its client is not shown must not tell of late answers: they would be lost. */
static void test_notices_wait_for_a_result_that_is_read(void **state)
{
    struct round round;
    struct call late = { .label = "late" };
    char id[ASK_ID_BYTES];

    round_open(&round, state, "bot");
    ask_open(&late, round.agent, "Late", "", id);
    call_run(&round.did, round.agent, METHOD_ask_detach, "{'session_id':'%s'}", id);
    call_run(&round.did, round.person, METHOD_ask_answer,
             "{'session_id':'%s','selected_ids':['a']}", id);
    stage_advance(round.stage, WAIT_MS);
    assert_pending(&round);
    assert_null(json_at(round.asked.json, "/notices"));
    come_back(&round);
    answer(&round);
    stage_settle(round.stage);
    assert_string_equal(call_text(&round.asked, "/notices/0/session_id"), id);
    call_release(&late);
    round_close(&round);
}

static void test_who_comes_back_is_a_setting(void **state)
{
    static const struct {
        const char *value, *client;
        bool resumes;
    } cases[] = {
        { "auto", "bot", true },          { "on", "bot", true },           { "off", "bot", false },
        { "auto", "claude-code", false }, /* strips what comes late of its standing */
        { "on", "claude-code", true },    { "off", "claude-code", false },
    };
    struct stage *stage = *state;

    stage_settle(stage);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct identity agent = visitor_agent(cases[i].client);
        struct round round = { .stage = stage, .agent = caller_enter(stage, "agent", &agent) };

        stage_set(stage, "come_back", cases[i].value);
        ask(&round);
        assert_int_equal(round.state[0] != '\0', cases[i].resumes);
        caller_leave(round.agent);
        round_close(&round);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_comes_back_for_the_same_ask),
        CASE(test_answered_between_two_rounds_it_is_given_once),
        CASE(test_the_last_round_is_given_no_state),
        CASE(test_an_altered_state_opens_nothing),
        CASE(test_a_state_is_its_principals_and_its_calls),
        CASE(test_a_state_becomes_too_old),
        CASE(test_a_state_outlives_the_hub),
        CASE(test_notices_wait_for_a_result_that_is_read),
        CASE(test_who_comes_back_is_a_setting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
