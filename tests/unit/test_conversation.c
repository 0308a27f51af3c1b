/*
 * test_conversation.c - every cell of the conversation's table against a table written from the
 * requirement, whole flows, what comes back from a person, and the store's representation.
 * Proves: R3.3, R3.4
 */
#include "conversation_fixture.h"

static const char answers_json[] = "{\"answers\":{\"Which?\":\"None\",\"How?\":[\"A\",\"else\"]},"
                                   "\"annotations\":{\"How?\":\"note\"}}";

static void expect_effects(const struct conversation_step *step, const char *letters)
{
    static const char all[] = ".RSNXLD"; /* in the order of enum conversation_effect */
    char seen[CONVERSATION_MAX_EFFECTS + 2] = "";

    for (size_t i = 0; step->effects[i] != EFFECT_NONE; i++)
        seen[i] = all[step->effects[i]];
    assert_string_equal(seen, letters);
}

static void expect_result(const struct conversation_step *step, size_t index, const char *id,
                          const char *content, bool is_error)
{
    assert_true(index < step->result_count);
    assert_string_equal(step->results[index].tool_use_id, id);
    if (content)
        assert_string_equal(step->results[index].content, content);
    assert_int_equal(step->results[index].is_error, is_error);
}

/* Into each state, with one more call left. */
static void enter(struct conversation *conversation, enum conversation_state state)
{
    struct tool_use calls[] = { call("t1", shell_name, plain_input),
                                call("t2", shell_name, plain_input) };
    struct conversation_step step;

    *conversation = (struct conversation){ 0 };
    if (state == CONVERSATION_AWAITING)
        calls[0] = call("t1", ask_name, question_input);
    if (state == CONVERSATION_LLM_REQUESTING) {
        assert_int_equal(say_calls(conversation, calls, 1, &step), ERROR_NONE);
        conversation_step_release(&step);
        assert_int_equal(say_result(conversation, "t1", "ok", &step), ERROR_NONE);
        conversation_step_release(&step);
    } else if (state != CONVERSATION_IDLE) {
        assert_int_equal(say_calls(conversation, calls, 2, &step), ERROR_NONE);
        conversation_step_release(&step);
    }
    assert_int_equal(conversation->state, state);
}

/* A cell: the letter of the state it leads to and its effects; "-" refused, "." ignored. The events
 * are about the current call where they name one; the last column is a result told before. */
static const char *const wanted[CONVERSATION_STATE_COUNT][CONVERSATION_EVENT_COUNT] = {
    /* tool_calls, pending, tool_complete, response, cancel, llm_retry, turn_ended, expired */
    [CONVERSATION_IDLE] = { "T SNX", "-", "-", "-", "-", "-", ".", "." },
    [CONVERSATION_LLM_REQUESTING] = { "T SNX", "-", ".", "-", "-", "L SNL", "I SND", "." },
    [CONVERSATION_TOOL_EXECUTING] = { "-", "A SN", "T RSNX", "-", "-", "-", "-", "." },
    [CONVERSATION_AWAITING] = { "-", "-", "-", "T RSNX", "I RSND", "-", "-", "T RSNX" },
};

static void test_every_cell(void **state)
{
    (void)state;
    for (int from = 0; from < CONVERSATION_STATE_COUNT; from++) {
        for (int kind = 0; kind < CONVERSATION_EVENT_COUNT; kind++) {
            const struct tool_use next = call("n1", shell_name, plain_input);
            const char *cell = wanted[from][kind];
            struct conversation conversation, asked;
            struct conversation_event event = { .kind = (enum conversation_event_kind)kind,
                                                .calls = &next,
                                                .call_count = 1,
                                                .tool_use_id = "t1",
                                                .content = "c" };
            struct conversation_step step;
            struct answer answer = { 0 };
            struct text before = { 0 }, after = { 0 };
            enum error_code code;

            enter(&asked, CONVERSATION_AWAITING);
            enter(&conversation, (enum conversation_state)from);
            read_answer(&asked.form, answers_json, &answer);
            event.form = &asked.form;
            event.answer = &answer;
            conversation_encode(&conversation, &before);
            code = say(&conversation, &event, &step);
            conversation_encode(&conversation, &after);
            if (code != (*cell == '-' ? ERROR_wrong_state : ERROR_NONE))
                fail_msg("%s in %s: %s", conversation_event_names[event.kind],
                         conversation_state_names[(enum conversation_state)from], error_name(code));
            assert_int_equal(step.is_ignored, *cell == '.');
            if (*cell == '-' || *cell == '.') {
                assert_string_equal(text_string(&before), text_string(&after));
                assert_int_equal(step.result_count, 0);
                expect_effects(&step, "");
            } else {
                assert_int_equal(conversation.state, strchr("ILTA", *cell) - "ILTA");
                expect_effects(&step, cell + 2);
            }
            conversation_step_release(&step);
            conversation_release(&conversation);
            conversation_release(&asked);
            answer_release(&answer);
            text_release(&before);
            text_release(&after);
        }
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(conversation_state_names[CONVERSATION_AWAITING], "awaiting_user_response");
    assert_string_equal(conversation_event_names[SAID_QUESTION_PENDING],
                        "ask_user_question_pending");
}

static void test_a_whole_turn(void **state)
{
    const struct tool_use calls[] = { call("t1", shell_name, plain_input),
                                      call("t2", ask_name, question_input),
                                      call("t3", shell_name, plain_input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    expect_effects(&step, "SNX");
    assert_string_equal(conversation.current.id, "t1");
    conversation_step_release(&step);
    assert_int_equal(say_result(&conversation, "t3", "too soon", &step), ERROR_wrong_state);
    assert_int_equal(say_result(&conversation, "t1", "one", &step), ERROR_NONE);
    expect_effects(&step, "RSN"); /* the question is not the host's to run */
    expect_result(&step, 0, "t1", "one", false);
    conversation_step_release(&step);
    assert_int_equal(conversation.state, CONVERSATION_AWAITING);
    assert_int_equal(conversation.form.field_count, 2);
    assert_int_equal(conversation.timeout_s, 60);
    assert_int_equal(say_result(&conversation, "t1", "again", &step), ERROR_NONE);
    assert_true(step.is_ignored);
    assert_int_equal(say_result(&conversation, "t2", "mine", &step), ERROR_wrong_state);
    assert_int_equal(say_answers(&conversation, answers_json, &step), ERROR_NONE);
    expect_result(&step, 0, "t2",
                  "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A, else\"},\"answer_list\":["
                  "{\"question\":\"Which?\",\"selected\":[\"None\"]},{\"question\":\"How?\","
                  "\"selected\":[\"A\"],\"other\":\"else\",\"notes\":\"note\"}]}",
                  false);
    expect_effects(&step, "RSNX");
    conversation_step_release(&step);
    assert_int_equal(say_result(&conversation, "t3", "three", &step), ERROR_NONE);
    expect_effects(&step, "RSNL");
    conversation_step_release(&step);
    assert_int_equal(conversation.attempt, 1);
    assert_int_equal(say_plain(&conversation, SAID_LLM_RETRY, &step), ERROR_NONE);
    assert_int_equal(conversation.attempt, 2);
    assert_int_equal(say_calls(&conversation, calls, 1, &step), ERROR_conflicting_arguments);
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    assert_true(step.is_ignored);
    assert_int_equal(say_plain(&conversation, SAID_TURN_ENDED, &step), ERROR_NONE);
    expect_effects(&step, "SND");
    assert_int_equal(conversation.state, CONVERSATION_IDLE);
    conversation_release(&conversation);
}

static void test_cancelling_answers_every_call(void **state)
{
    const struct tool_use calls[] = { call("t1", ask_name, question_input),
                                      call("t2", ask_name, question_input),
                                      call("t3", shell_name, plain_input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    conversation_step_release(&step);
    assert_int_equal(say_plain(&conversation, SAID_CANCEL, &step), ERROR_NONE);
    assert_int_equal(step.result_count, 3);
    expect_result(&step, 0, "t1", "User cancelled the question", true);
    expect_result(&step, 1, "t2", "Not run: user cancelled", true);
    expect_result(&step, 2, "t3", "Not run: user cancelled", true);
    expect_effects(&step, "RSND");
    conversation_step_release(&step);
    assert_int_equal(conversation.state, CONVERSATION_IDLE);
    assert_int_equal(say_result(&conversation, "t3", "late", &step), ERROR_NONE);
    assert_true(step.is_ignored);
    conversation_release(&conversation);
}

static void test_silence_is_an_error_and_the_turn_goes_on(void **state)
{
    const struct tool_use calls[] = { call("t1", ask_name, question_input),
                                      call("t2", ask_name, question_input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 2, &step), ERROR_NONE);
    conversation_step_release(&step);
    assert_int_equal(say_plain(&conversation, SAID_EXPIRED, &step), ERROR_NONE);
    expect_result(&step, 0, "t1", "User did not answer in time", true);
    expect_effects(&step, "RSN");
    conversation_step_release(&step);
    assert_int_equal(conversation.state, CONVERSATION_AWAITING);
    assert_string_equal(conversation.current.id, "t2");
    assert_int_equal(say_plain(&conversation, SAID_EXPIRED, &step), ERROR_NONE);
    expect_effects(&step, "RSNL");
    conversation_step_release(&step);
    assert_int_equal(conversation.state, CONVERSATION_LLM_REQUESTING);
    conversation_release(&conversation);
}

static void test_what_is_no_question_gets_its_error_at_once(void **state)
{
    const struct tool_use calls[] = { call("t1", ask_name, bad_input),
                                      call("t2", ask_name, no_json),
                                      call("t3", ask_name, question_input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 3, &step), ERROR_NONE);
    assert_int_equal(step.result_count, 2);
    expect_result(&step, 0, "t1", NULL, true);
    assert_non_null(strstr(step.results[0].content, "Invalid input: must have 1-4 questions"));
    assert_non_null(strstr(step.results[0].content, "(at /questions)"));
    assert_non_null(strstr(step.results[1].content, "Invalid input: "));
    expect_effects(&step, "RSN");
    conversation_step_release(&step);
    assert_string_equal(conversation.current.id, "t3");
    conversation_release(&conversation);
}

static void test_all_mistakes_of_a_question_are_told(void **state)
{
    static char input[] = "{\"questions\":[{\"question\":\"Q?\",\"header\":null,\"options\":"
                          "[{\"label\":\"A\"}]}],\"title\":5}";
    const struct tool_use calls[] = { call("t1", ask_name, input) };
    struct conversation conversation = { 0 };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 1, &step), ERROR_NONE);
    assert_string_equal(
        step.results[0].content,
        "Invalid input: title must be a string, not an integer: one line for lists (default: the "
        "first line of the message) (at /title); question 'Q?' must have 2-4 options, but has 1; a "
        "free-text \"Other\" is added automatically (at /questions/0/options)");
    conversation_step_release(&step);
    conversation_release(&conversation);
}

static void test_sub_agents_are_refused_and_go_on(void **state)
{
    const struct tool_use calls[] = { call("t1", ask_name, question_input),
                                      call("t2", shell_name, plain_input) };
    struct conversation conversation = { .is_sub_agent = true };
    struct conversation_step step;

    (void)state;
    assert_int_equal(say_calls(&conversation, calls, 2, &step), ERROR_NONE);
    expect_result(&step, 0, "t1", NULL, true);
    assert_ptr_equal(strstr(step.results[0].content, "sub-agents can't use ask_user_question"),
                     step.results[0].content);
    expect_effects(&step, "RSNX");
    conversation_step_release(&step);
    assert_string_equal(conversation.current.id, "t2");
    conversation_release(&conversation);
}

static void test_bad_turns(void **state)
{
    struct tool_use calls[CONVERSATION_MAX_CALLS + 1];
    struct conversation conversation = { 0 };
    struct conversation_step step;
    struct error err = { 0 };
    const struct conversation_event twice = { .kind = SAID_TOOL_CALLS,
                                              .calls = calls,
                                              .call_count = 2 };
    char ids[CONVERSATION_MAX_CALLS + 1][8];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        snprintf(ids[i], sizeof ids[i], "t%zu", i);
        calls[i] = call(ids[i], shell_name, plain_input);
    }
    assert_int_equal(say_calls(&conversation, calls, 0, &step), ERROR_out_of_range);
    assert_int_equal(say_calls(&conversation, calls, ARRAY_LEN(calls), &step), ERROR_out_of_range);
    calls[1].id = calls[0].id;
    assert_false(conversation_next(&conversation, &twice, &step, &err));
    assert_int_equal(err.code, ERROR_conflicting_arguments);
    assert_string_equal(err.path, "/tool_calls/1/id");
    assert_int_equal(conversation.state, CONVERSATION_IDLE);
    calls[1].id = ids[1];
    assert_int_equal(say_calls(&conversation, calls, CONVERSATION_MAX_CALLS, &step), ERROR_NONE);
    conversation_release(&conversation);
}

/* A question is asked by an executor of its own, for the call that is current. */
static void test_a_question_about_another_call_is_refused(void **state)
{
    struct conversation conversation, asked;
    struct conversation_event event = { .kind = SAID_QUESTION_PENDING, .tool_use_id = "t2" };
    struct conversation_step step;

    (void)state;
    enter(&asked, CONVERSATION_AWAITING);
    enter(&conversation, CONVERSATION_TOOL_EXECUTING);
    event.form = &asked.form;
    assert_int_equal(say(&conversation, &event, &step), ERROR_wrong_state);
    conversation_release(&conversation);
    conversation_release(&asked);
}

/* Responses --------------------------------------------------------------------------------------
 */

static const struct {
    const char *body, *code, *path; /* NULL: good */
} responses[] = {
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\"}}", NULL, NULL },
    { "{\"answers\":{\"Which?\":\"own\",\"How?\":[\"B\",\"x\",\"y\"]}}", NULL, NULL },
    { "{\"answers\":{\"Which?\":[\"Redis\"],\"How?\":[\"own\"]},\"annotations\":{}}", NULL, NULL },
    { "[]", "bad_type", "" },
    { "{}", "bad_type", "/answers" },
    { "{\"answers\":[]}", "bad_type", "/answers" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\"},\"x\":1}", "unknown_property", "" },
    { "{\"answers\":{\"Which?\":\"None\"}}", "missing_property", "/answers/How?" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\",\"Who?\":\"B\"}}", "unknown_property",
      "/answers/Who?" },
    { "{\"answers\":{\"Which?\":1,\"How?\":\"A\"}}", "bad_type", "/answers/Which?" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":[\"A\",2]}}", "bad_type", "/answers/How?/1" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":[\"A\\u0000\"]}}", "nul_character",
      "/answers/How?/0" },
    { "{\"answers\":{\"Which?\":\" \",\"How?\":\"A\"}}", "out_of_range", "/answers/Which?" },
    { "{\"answers\":{\"Which?\":[],\"How?\":\"A\"}}", "out_of_range", "/answers/Which?" },
    { "{\"answers\":{\"Which?\":[\"Redis\",\"None\"],\"How?\":\"A\"}}", "out_of_range",
      "/answers/Which?" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":[\"A\",\"A\"]}}", "duplicate_option_id",
      "/answers/How?" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\"},\"annotations\":1}", "bad_type",
      "/annotations" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\"},\"annotations\":{\"Who?\":\"n\"}}",
      "unknown_property", "/annotations/Who?" },
    { "{\"answers\":{\"Which?\":\"None\",\"How?\":\"A\"},\"annotations\":{\"How?\":1}}", "bad_type",
      "/annotations/How?" },
};

static void test_responses(void **state)
{
    struct conversation asked;

    (void)state;
    enter(&asked, CONVERSATION_AWAITING);
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        struct json *body = NULL;
        struct answer answer = { 0 };
        struct error err = { 0 };
        bool is_good;

        assert_true(json_parse(responses[i].body, strlen(responses[i].body), &body, NULL));
        is_good = conversation_read_response(&asked.form, body, &answer, &err);
        if (is_good != !responses[i].code)
            fail_msg("%s: %s at '%s'", responses[i].body, error_name(err.code), err.path);
        if (!is_good) {
            assert_string_equal(error_name(err.code), responses[i].code);
            assert_string_equal(err.path, responses[i].path);
            assert_false(conversation_read_response(&asked.form, body, &answer, NULL));
        }
        answer_release(&answer);
        json_free(body);
    }
    conversation_release(&asked);
}

static void test_long_notes_and_words_are_refused_where_they_stand(void **state)
{
    struct conversation asked;
    struct answer answer = { 0 };

    (void)state;
    enter(&asked, CONVERSATION_AWAITING);
    for (int is_note = 0; is_note < 2; is_note++) {
        struct text body = { 0 };
        struct json *json = NULL;
        struct error err = { 0 };

        text_add_text(&body, "{\"answers\":{\"Which?\":\"");
        for (int i = 0; !is_note && i < 70000; i++)
            text_add_char(&body, 'x');
        text_add_text(&body, "own\",\"How?\":\"A\"},\"annotations\":{\"How?\":\"");
        for (int i = 0; is_note && i < 2001; i++)
            text_add_char(&body, 'x');
        text_add_text(&body, "\"}}");
        assert_true(json_parse(body.bytes, body.used, &json, NULL));
        assert_false(conversation_read_response(&asked.form, json, &answer, &err));
        assert_int_equal(err.code, ERROR_too_long);
        assert_string_equal(err.path, is_note ? "/annotations/How?" : "/answers/Which?");
        json_free(json);
        text_release(&body);
    }
    conversation_release(&asked);
}

/* What hosts say and listeners hear -------------------------------------------------------------
 */

#define ONE_CALL "{\"id\":\"t1\",\"name\":\"shell\",\"input\":{\"command\":\"ls\"}}"

static const struct {
    const char *body, *code, *path; /* NULL: good */
} turns[] = {
    { "{\"tool_calls\":[" ONE_CALL "]}", NULL, NULL },
    { "{\"tool_calls\":[]}", NULL, NULL }, /* the machine refuses it */
    { "[]", "bad_type", "" },
    { "{}", "bad_type", "/tool_calls" },
    { "{\"tool_calls\":{}}", "bad_type", "/tool_calls" },
    { "{\"tool_calls\":[],\"x\":1}", "unknown_property", "" },
    { "{\"tool_calls\":[" ONE_CALL ",1]}", "bad_type", "/tool_calls/1" },
    { "{\"tool_calls\":[{}]}", "missing_property", "/tool_calls/0/id" },
    { "{\"tool_calls\":[{\"id\":\"\",\"name\":\"n\",\"input\":{}}]}", "empty_text",
      "/tool_calls/0/id" },
    { "{\"tool_calls\":[{\"id\":\"a\\u0000\",\"name\":\"n\",\"input\":{}}]}", "nul_character",
      "/tool_calls/0/id" },
    { "{\"tool_calls\":[{\"id\":\"a\",\"name\":\"n\",\"input\":[]}]}", "bad_type",
      "/tool_calls/0/input" },
    { "{\"tool_calls\":[{\"id\":\"a\",\"name\":\"n\",\"input\":{},\"x\":1}]}", "unknown_property",
      "/tool_calls/0/x" },
};

static void test_turns_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        struct json *body = NULL;
        struct tool_use *calls = NULL;
        struct error err = { 0 };
        size_t count = 0;
        bool is_good;

        assert_true(json_parse(turns[i].body, strlen(turns[i].body), &body, NULL));
        is_good = conversation_read_calls(body, &calls, &count, &err);
        if (is_good != !turns[i].code)
            fail_msg("%s: %s at '%s'", turns[i].body, error_name(err.code), err.path);
        if (!is_good) {
            assert_string_equal(error_name(err.code), turns[i].code);
            assert_string_equal(err.path, turns[i].path);
        } else if (count) {
            assert_string_equal(calls[0].input_json, "{\"command\":\"ls\"}");
        }
        conversation_free_calls(calls, count);
        json_free(body);
    }
}

static void test_results_are_read(void **state)
{
    static const struct {
        const char *body, *code, *path;
    } cases[] = {
        { "{\"tool_use_id\":\"t1\",\"content\":\"\",\"is_error\":true}", NULL, NULL },
        { "[]", "bad_type", "" },
        { "{\"tool_use_id\":\"t1\"}", "missing_property", "/content" },
        { "{\"tool_use_id\":\"t1\",\"content\":{}}", "bad_type", "/content" },
        { "{\"tool_use_id\":\"t1\",\"content\":\"x\",\"is_error\":\"no\"}", "bad_type",
          "/is_error" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct conversation_event event = { 0 };
        struct json *body = NULL;
        struct error err = { 0 };
        bool is_good;

        assert_true(json_parse(cases[i].body, strlen(cases[i].body), &body, NULL));
        is_good = conversation_read_result(body, &event, &err);
        assert_int_equal(is_good, !cases[i].code);
        if (!is_good) {
            assert_string_equal(error_name(err.code), cases[i].code);
            assert_string_equal(err.path, cases[i].path);
        } else {
            assert_int_equal(event.kind, SAID_TOOL_COMPLETE);
            assert_string_equal(event.tool_use_id, "t1");
            assert_true(event.is_error);
        }
        json_free(body);
    }
}

static void test_listeners_are_told_the_state(void **state)
{
    static const char *const told[CONVERSATION_STATE_COUNT] = {
        [CONVERSATION_IDLE] = "{\"type\":\"idle\"}",
        [CONVERSATION_LLM_REQUESTING] = "{\"type\":\"llm_requesting\",\"attempt\":1}",
        [CONVERSATION_TOOL_EXECUTING] = "{\"type\":\"tool_executing\",\"current\":{\"id\":\"t1\","
                                        "\"name\":\"shell\",\"input\":{}}}",
        [CONVERSATION_AWAITING] =
            "{\"type\":\"awaiting_user_response\",\"tool_use_id\":\"t1\",\"questions\":["
            "{\"question\":\"Which?\",\"options\":[{\"label\":\"Redis\"},{\"label\":\"None\"}],"
            "\"multiSelect\":false},{\"question\":\"How?\",\"options\":[{\"label\":\"A\"},"
            "{\"label\":\"B\"}],\"multiSelect\":true}]}",
    };

    (void)state;
    for (int from = 0; from < CONVERSATION_STATE_COUNT; from++) {
        struct conversation conversation;
        struct text out = { 0 };
        struct json_writer writer = json_writer_to(&out);

        enter(&conversation, (enum conversation_state)from);
        conversation_write_change(&conversation, &writer, NULL);
        assert_string_equal(text_string(&out), told[from]);
        text_release(&out);
        conversation_release(&conversation);
    }
}

/* The store's representation ----------------------------------------------------------------------
 */

static void test_every_state_is_stored_and_read(void **state)
{
    (void)state;
    for (int from = 0; from < CONVERSATION_STATE_COUNT; from++) {
        struct conversation conversation, again;

        enter(&conversation, (enum conversation_state)from);
        conversation.is_sub_agent = from % 2;
        expect_same_again(&conversation, &again);
        assert_int_equal(again.is_sub_agent, from % 2);
        conversation_release(&conversation);
        conversation_release(&again);
    }
}

#define LISTS ",\"remaining\":[],\"persisted\":[]"
#define USE   "{\"id\":\"t\",\"name\":\"n\",\"input\":\"{}\"}"

static void test_what_is_no_conversation(void **state)
{
    static const char *const bad[] = {
        "{",
        "{}",
        "[]",
        "{\"version\":2,\"state\":\"idle\"" LISTS "}",
        "{\"version\":1,\"state\":\"asleep\"" LISTS "}",
        "{\"version\":1" LISTS "}",
        "{\"version\":1,\"state\":\"idle\"}",
        "{\"version\":1,\"state\":\"idle\",\"remaining\":[]}",
        "{\"version\":1,\"state\":\"idle\",\"remaining\":[1],\"persisted\":[]}",
        "{\"version\":1,\"state\":\"idle\",\"remaining\":[" USE "],\"persisted\":[]}",
        "{\"version\":1,\"state\":\"idle\",\"remaining\":[],\"persisted\":[\"a\",1]}",
        "{\"version\":1,\"state\":\"idle\",\"attempt\":1" LISTS "}",
        "{\"version\":1,\"state\":\"idle\",\"timeout_seconds\":1" LISTS "}",
        "{\"version\":1,\"state\":\"idle\",\"current\":" USE LISTS "}",
        "{\"version\":1,\"state\":\"idle\",\"current\":{\"id\":\"t\"}" LISTS "}",
        "{\"version\":1,\"state\":\"llm_requesting\"" LISTS "}",
        "{\"version\":1,\"state\":\"tool_executing\"" LISTS "}",
        "{\"version\":1,\"state\":\"awaiting_user_response\",\"current\":" USE LISTS "}",
        "{\"version\":1,\"state\":\"awaiting_user_response\",\"form\":{},\"current\":" USE LISTS
        "}",
    };
    struct conversation conversation = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct error err = { 0 };

        if (conversation_parse(bad[i], strlen(bad[i]), &conversation, &err))
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(err.code, ERROR_bad_json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_whole_turn),
        cmocka_unit_test(test_cancelling_answers_every_call),
        cmocka_unit_test(test_silence_is_an_error_and_the_turn_goes_on),
        cmocka_unit_test(test_what_is_no_question_gets_its_error_at_once),
        cmocka_unit_test(test_all_mistakes_of_a_question_are_told),
        cmocka_unit_test(test_sub_agents_are_refused_and_go_on),
        cmocka_unit_test(test_bad_turns),
        cmocka_unit_test(test_a_question_about_another_call_is_refused),
        cmocka_unit_test(test_responses),
        cmocka_unit_test(test_long_notes_and_words_are_refused_where_they_stand),
        cmocka_unit_test(test_turns_are_read),
        cmocka_unit_test(test_results_are_read),
        cmocka_unit_test(test_listeners_are_told_the_state),
        cmocka_unit_test(test_every_state_is_stored_and_read),
        cmocka_unit_test(test_what_is_no_conversation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
