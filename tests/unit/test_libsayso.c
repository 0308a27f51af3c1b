/*
 * test_libsayso.c - the library against a hub of straw: what is sent, what comes of it, how it
 * ends. Proves: R4.5 R5.5 R14.1
 */
#include "libsayso_fixture.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char created[] = "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":"
                              "\"%s\",\"session_id\":\"" STRAW_ID "\",\"remaining_ms\":1000}}";
static const char *const number = "{\"message\":\"How many?\"}";

/* The tag of the last ask/create comes back with its id. */
static void say_created(struct straw *straw)
{
    char tag[32] = "", line[256];
    const char *found = strstr(straw->line, "\"tag\":\"");

    assert_non_null(found);
    sscanf(found, "\"tag\":\"%31[0-9]", tag);
    snprintf(line, sizeof line, created, tag);
    straw_say(straw, line);
}

static void test_words_and_codes(void **state)
{
    static const struct {
        const char *result;
        int code;
    } cases[] = {
        { "{\"action\":\"accept\",\"session_id\":\"" STRAW_ID "\",\"value\":3}", SAYSO_OK },
        { "{\"action\":\"decline\",\"session_id\":\"" STRAW_ID "\"}", SAYSO_DECLINED },
        { "{\"action\":\"cancel\"}", SAYSO_CANCELLED },
        { "{\"action\":\"timeout\"}", SAYSO_TIMEOUT },
        { "{\"action_status\":\"selected\"}", SAYSO_OK },
        { "{\"action_status\":\"custom_input\"}", SAYSO_OK },
        { "{\"action_status\":\"cancelled\"}", SAYSO_CANCELLED },
        { "{\"action_status\":\"cancelled\",\"declined\":true}", SAYSO_DECLINED },
        { "{\"action_status\":\"timeout\",\"auto_submitted\":true,\"selection\":"
          "{\"selected_ids\":[\"a\"]}}",
          SAYSO_TIMEOUT },
        { "{\"status\":\"answered\",\"answers\":{}}", SAYSO_OK },
        { "{\"status\":\"cancelled\"}", SAYSO_CANCELLED },
        { "{\"status\":\"anything\"}", SAYSO_NOT_SUPPORTED },
        { "{}", SAYSO_NOT_SUPPORTED },
        { "[]", SAYSO_NOT_SUPPORTED },
    };
    struct straw *straw = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sayso_request *request = straw_ask(straw, "elicit_number", number);

        straw_reply(straw, cases[i].result);
        if (sayso_request_code(request) != cases[i].code)
            fail_msg("%s is %s", cases[i].result, sayso_code_name(sayso_request_code(request)));
        assert_string_equal(sayso_request_result(request), cases[i].result);
        if (cases[i].code != SAYSO_OK) /* never a value where none was given */
            assert_null(sayso_answer_text(request, NULL));
        sayso_request_free(request);
        if (strstr(cases[i].result, STRAW_ID)) {
            straw_expect(straw, "ask/delivered");
            assert_non_null(strstr(straw->line, "[\"" STRAW_ID "\"]"));
            straw_reply(straw, "{}");
        }
    }
}

static void test_refusals(void **state)
{
    static const struct {
        const char *error;
        int code;
        const char *words;
    } cases[] = {
        { "{\"code\":-32000,\"message\":\"say more\",\"data\":{\"code\":\"too_short\",\"path\":"
          "\"/prompt\",\"errors\":[{\"code\":\"too_short\",\"path\":\"/prompt\",\"message\":"
          "\"say more\"},{\"code\":\"bad_type\",\"path\":\"/title\",\"message\":\"no text\"}]}}",
          SAYSO_VALIDATION_FAILED, "/prompt: say more; /title: no text" },
        { "{\"code\":-32000,\"message\":\"nobody\",\"data\":{\"code\":\"no_human_channel\"}}",
          SAYSO_NOT_SUPPORTED, "nobody" },
        { "{\"code\":-32000,\"message\":\"later\",\"data\":{\"code\":\"rate_limited\"}}",
          SAYSO_RATE_LIMITED, "later" },
        { "{\"code\":-32000,\"message\":\"disk\",\"data\":{\"code\":\"storage_failed\"}}",
          SAYSO_REFUSED, "disk" },
        { "{\"code\":-32601,\"message\":\"no such method\"}", SAYSO_NOT_SUPPORTED,
          "no such method" },
        { "{}", SAYSO_NOT_SUPPORTED, "the hub rejected the request" },
    };
    struct straw *straw = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sayso_request *request = straw_ask(straw, "elicit_number", number);

        straw_refuse(straw, cases[i].error);
        assert_int_equal(sayso_request_code(request), cases[i].code);
        assert_string_equal(sayso_request_error(request), cases[i].words);
        assert_null(sayso_request_result(request));
        sayso_request_free(request);
    }
}

static void test_values(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_form", "{}");
    double share = 0;
    int is_yes = 0;

    straw_reply(straw, "{\"action\":\"accept\",\"content\":{\"region\":\"us\",\"share\":12.5,"
                       "\"sure\":true,\"days\":[\"mo\",\"fr\"],\"odd\":\"a\\u0000b\"},"
                       "\"global_annotation\":\"gently\"}");
    assert_string_equal(sayso_answer_text(request, "region"), "us");
    assert_int_equal(sayso_answer_number(request, "share", &share), SAYSO_OK);
    assert_true(share == 12.5);
    assert_int_equal(sayso_answer_yes(request, "sure", &is_yes), SAYSO_OK);
    assert_int_equal(is_yes, 1);
    assert_int_equal(sayso_answer_count(request, "days"), 2);
    assert_string_equal(sayso_answer_item(request, "days", 1), "fr");
    assert_null(sayso_answer_item(request, "days", 2));
    assert_null(sayso_answer_text(request, "odd")); /* it would be cut short */
    assert_null(sayso_answer_text(request, "action"));
    assert_int_equal(sayso_answer_number(request, "region", &share), SAYSO_NOT_FOUND);
    assert_int_equal(sayso_answer_yes(request, "region", &is_yes), SAYSO_NOT_FOUND);
    assert_string_equal(sayso_answer_note(request), "gently");
    sayso_request_free(request);

    request = straw_ask(straw, "provide_choice", "{}");
    straw_reply(straw, "{\"action_status\":\"selected\",\"selection\":{\"selected_ids\":[\"b\","
                       "\"c\"],\"custom_input\":\"too\",\"global_annotation\":\"n\"}}");
    assert_int_equal(sayso_answer_count(request, NULL), 2);
    assert_string_equal(sayso_answer_text(request, NULL), "b");
    assert_string_equal(sayso_answer_text(request, "custom_input"), "too");
    assert_string_equal(sayso_answer_note(request), "n");
    sayso_request_free(request);

    request = straw_ask(straw, "elicit_input", "{\"field_name\":\"city\"}");
    straw_reply(straw, "{\"action\":\"accept\",\"city\":\"Bern\",\"summary\":\"x\"}");
    assert_string_equal(sayso_answer_text(request, NULL), "Bern");
    assert_string_equal(sayso_answer_text(request, "city"), "Bern");
    sayso_request_free(request);
}

static void test_two_at_once(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *first = straw_ask(straw, "elicit_number", number), *second;
    int64_t first_id = straw->id;
    double value;

    second = straw_ask(straw, "elicit_number", "{\"message\":\"And?\"}");
    assert_int_not_equal(straw->id, first_id);
    straw_reply(straw, "{\"action\":\"accept\",\"value\":2}");
    assert_int_equal(sayso_request_code(first), SAYSO_PENDING);
    assert_ptr_equal(sayso_wait_any(straw->sayso, 0), second);
    assert_int_equal(sayso_dispatch(straw->sayso), 1);
    straw->id = first_id;
    straw_reply(straw, "{\"action\":\"accept\",\"value\":1}");
    assert_int_equal(sayso_answer_number(first, NULL, &value), SAYSO_OK);
    assert_true(value == 1);
    assert_int_equal(sayso_answer_number(second, NULL, &value), SAYSO_OK);
    assert_true(value == 2);
    sayso_request_free(second);
    sayso_request_free(first);
    assert_null(sayso_wait_any(straw->sayso, 0));
}

/* What was read is confirmed even if the program ends immediately. */
static void test_freed_and_gone(void **state)
{
    static const char other[] = "zbcdefghijklmnopqrstuvwxyz";
    struct straw *straw = *state;
    struct sayso_request *first = straw_ask(straw, "elicit_number", number), *second;
    int64_t first_id = straw->id;
    char result[128];

    second = straw_ask(straw, "elicit_number", "{\"message\":\"And?\"}");
    snprintf(result, sizeof result, "{\"action\":\"accept\",\"session_id\":\"%s\"}", other);
    straw_reply(straw, result);
    straw->id = first_id;
    straw_reply(straw, "{\"action\":\"decline\",\"session_id\":\"" STRAW_ID "\"}");
    sayso_request_free(first);
    sayso_request_free(second);
    sayso_free(straw->sayso);
    straw->sayso = NULL;
    straw_expect(straw, "ask/delivered");
    assert_non_null(strstr(straw->line, "[\"" STRAW_ID "\"]"));
    straw_expect(straw, "ask/delivered");
    assert_non_null(strstr(straw->line, other));
}

/* Until the hub confirms it, it is said again to the next one. */
static void test_delivered_twice(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);

    straw_reply(straw, "{\"action\":\"accept\",\"session_id\":\"" STRAW_ID "\"}");
    sayso_request_free(request);
    straw_expect(straw, "ask/delivered");
    straw_greet(straw);
    straw_expect(straw, "ask/delivered");
    assert_non_null(strstr(straw->line, "[\"" STRAW_ID "\"]"));
    straw_reply(straw, "{}");
    close(straw->peer);
    straw->peer = -1;
    sayso_dispatch(straw->sayso);
    assert_int_equal(sayso_fd(straw->sayso), -1); /* and then no more */
}

static void test_many_are_confirmed_again(void **state)
{
    struct straw *straw = *state;

    for (int i = 0; i < 3; i++) {
        struct sayso_request *request = straw_ask(straw, "elicit_number", number);

        straw_reply(straw, "{\"action\":\"accept\",\"session_id\":\"" STRAW_ID "\"}");
        sayso_request_free(request);
        straw_expect(straw, "ask/delivered");
    }
    straw_greet(straw);
    for (int i = 0; i < 3; i++) {
        straw_expect(straw, "ask/delivered");
        assert_non_null(strstr(straw->line, "[\"" STRAW_ID "\"]"));
    }
    straw_reply(straw, "{}");
}

static void test_a_hub_that_comes_back(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);

    straw_greet(straw); /* not even its id was told: the same call again */
    straw_expect(straw, "ask/create");
    say_created(straw);
    assert_string_equal(sayso_request_id(request), STRAW_ID);
    straw_greet(straw); /* now it is known */
    straw_expect(straw, "ask/wait");
    assert_non_null(strstr(straw->line, STRAW_ID));
    straw_refuse(straw, "{\"code\":-32000,\"message\":\"\",\"data\":{\"code\":\"not_found\"}}");
    straw_expect(straw, "ask/create"); /* that hub died before it was on disk */
    say_created(straw);
    straw_say(straw,
              "{\"jsonrpc\":\"2.0\",\"method\":\"hub/closing\",\"params\":{\"why\":\"stop\"}}");
    close(straw->peer);
    straw->peer = -1;
    assert_int_equal(sayso_wait(request, 1000), SAYSO_CHANNEL_CLOSED);
    assert_string_equal(sayso_request_id(request), STRAW_ID); /* with which it is collected */
    sayso_request_free(request);

    request = sayso_collect(straw->sayso, STRAW_ID);
    straw_greet(straw);
    straw_expect(straw, "ask/wait");
    straw_reply(straw, "{\"action\":\"pending\",\"session_id\":\"" STRAW_ID "\"}");
    assert_int_equal(sayso_request_code(request), SAYSO_PENDING);
    straw_expect(straw, "ask/wait"); /* and waits on */
    straw_refuse(straw, "{\"code\":-32000,\"message\":\"none\",\"data\":{\"code\":\"not_found\"}}");
    assert_int_equal(sayso_request_code(request), SAYSO_NOT_FOUND);
    sayso_request_free(request);
}

/* The hub has lost the ask. It is asked again only for a request that still waits, not for a freed
 * one. */
static void test_a_hub_that_lost_what_nobody_waits_for(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);
    int64_t id;

    say_created(straw);
    straw_greet(straw);
    straw_expect(straw, "ask/wait");
    id = straw->id;
    sayso_request_free(request);
    straw_expect(straw, "ask/detach");
    straw->id = id;
    straw_refuse(straw, "{\"code\":-32000,\"message\":\"\",\"data\":{\"code\":\"not_found\"}}");
    request = sayso_collect(straw->sayso, STRAW_ID);
    straw_expect(straw, "ask/wait");
    sayso_request_free(request);
}

static void test_a_hub_that_greets_and_goes(void **state)
{
    static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"wire\":1}}\n";
    struct straw *straw = *state;

    assert_int_equal(sayso_connect(straw->sayso, 0), SAYSO_PENDING);
    straw_accept(straw);
    straw_expect(straw, "hello");
    assert_int_equal(straw->id, 0);
    assert_int_equal(send(straw->peer, hello, strlen(hello), MSG_NOSIGNAL), strlen(hello));
    close(straw->peer);
    straw->peer = -1;
    assert_int_equal(sayso_connect(straw->sayso, 500), SAYSO_OK); /* it was there */
}

static void test_a_hub_that_always_leaves(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);

    for (int i = 0; i < 10; i++)
        straw_greet(straw);
    close(straw->peer);
    straw->peer = -1;
    assert_int_equal(sayso_wait(request, 5000), SAYSO_CHANNEL_CLOSED);
    assert_string_equal(sayso_error(straw->sayso), "the hub keeps stopping");
    sayso_request_free(request);
}

static void test_taking_back(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = sayso_submit_json(straw->sayso, "elicit_number", number);

    assert_int_equal(sayso_cancel(request), SAYSO_CANCELLED); /* no person was asked */
    sayso_request_free(request);
    request = straw_ask(straw, "elicit_number", number);
    assert_int_equal(sayso_cancel(request), SAYSO_PENDING);
    say_created(straw);
    straw_expect(straw, "ask/withdraw");
    straw_refuse(straw, "{\"code\":-32000,\"message\":\"\",\"data\":{\"code\":\"wrong_state\"}}");
    straw->id--; /* the call itself */
    straw_reply(straw, "{\"action\":\"accept\",\"value\":1}");
    assert_int_equal(sayso_request_code(request), SAYSO_OK); /* a person was faster */
    sayso_request_free(request);
}

static void test_leaving_while_it_is_open(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);

    sayso_request_free(request);
    assert_int_equal(sayso_dispatch(straw->sayso), 0);
    say_created(straw);
    straw_expect(straw, "ask/detach");
    straw_reply(straw, "{}");
    straw->id--;
    straw_reply(straw, "{\"action\":\"pending\"}");
    assert_int_equal(sayso_timeout_ms(straw->sayso), -1); /* nothing is left of it */
    request = straw_ask(straw, "elicit_number", number);
    sayso_request_free(request);
    close(straw->peer);
    straw->peer = -1;
    sayso_dispatch(straw->sayso);
    assert_int_equal(sayso_fd(straw->sayso), -1); /* and no hub is looked for */
}

static void test_a_peer_that_does_not_read(void **state)
{
    static char arguments[900000];
    struct straw *straw = *state;
    struct sayso_request *request;

    memset(arguments, 'x', sizeof arguments);
    memcpy(arguments, "{\"message\":\"", 12);
    memcpy(arguments + sizeof arguments - 3, "\"}", 3);
    request = sayso_submit_json(straw->sayso, "elicit_number", arguments);
    straw_greet(straw);
    assert_true(sayso_events(straw->sayso) & POLLOUT);
    assert_int_equal(sayso_wait(request, 50), SAYSO_PENDING);
    straw_expect(straw, "ask/create");
    assert_true(strlen(straw->line) > 900000);
    straw_reply(straw, "{\"action\":\"accept\",\"value\":1}");
    assert_int_equal(sayso_request_code(request), SAYSO_OK);
    assert_false(sayso_events(straw->sayso) & POLLOUT);
    sayso_request_free(request);
}

static void test_questions_in_pieces(void **state)
{
    static const char *const choices[] = { "eu", "Europe", "us", "America", NULL };
    struct straw *straw = *state;
    struct sayso_question *question = sayso_question_new("elicit_form");
    struct sayso_request *request;

    sayso_question_text(question, "message", "a \"b\"\n\xe4\xb8\xad");
    sayso_question_number(question, "timeout_seconds", 90);
    sayso_question_flag(question, "destructive", 1);
    sayso_question_json(question, "extra", "[1,\n2.5]");
    sayso_question_choice_field(question, "region", "Where", 1, choices);
    sayso_question_number_field(question, "share", NULL, 1, 0.5, NAN);
    sayso_question_text_field(question, "n\"ame", NULL, 0);
    sayso_question_confirm_field(question, "sure", "Sure?", 0);
    request = sayso_submit(straw->sayso, question);
    straw_greet(straw);
    straw_expect(straw, "ask/create");
    assert_non_null(strstr(
        straw->line,
        "\"arguments\":{\"message\":\"a \\\"b\\\"\\n\xe4\xb8\xad\",\"timeout_seconds\":90,"
        "\"destructive\":true,\"extra\":[1,2.5],\"requestedSchema\":{\"type\":\"object\","
        "\"properties\":{\"region\":{\"type\":\"string\",\"title\":\"Where\",\"enum\":[\"eu\","
        "\"us\"],\"enumNames\":[\"Europe\",\"America\"]},\"share\":{\"type\":\"number\","
        "\"minimum\":0.5},\"n\\\"ame\":{\"type\":\"string\"},\"sure\":{\"type\":\"boolean\","
        "\"title\":\"Sure?\"}},\"required\":[\"region\",\"share\"]}}"));
    sayso_request_free(request);
    sayso_question_free(question);
    question = sayso_question_new("provide_choice");
    sayso_question_option(question, "a", "A", "first", 1);
    sayso_question_option(question, "b", "B", NULL, 0);
    request = sayso_submit(straw->sayso, question);
    straw_expect(straw, "ask/create");
    assert_non_null(strstr(straw->line,
                           "{\"options\":[{\"id\":\"a\",\"label\":\"A\",\"description\":"
                           "\"first\",\"recommended\":true},{\"id\":\"b\",\"label\":"
                           "\"B\"}]}"));
    sayso_request_free(request);
    sayso_question_free(question);
}

/* Each makes a question unfit, and nothing of it is sent. */
static void spoil(struct sayso_question *question, int how)
{
    static const char *const odd[] = { "a", NULL };

    switch (how) {
    case 0:
        sayso_question_text(question, "message", NULL);
        break;
    case 1:
        sayso_question_text(question, "message", "\xff");
        break;
    case 2:
        sayso_question_text(question, NULL, "x");
        break;
    case 3:
        sayso_question_number(question, "step", INFINITY);
        break;
    case 4:
        sayso_question_json(question, "extra", "{");
        break;
    case 5:
        sayso_question_json(question, "extra", "1,\"x\":2");
        break;
    case 6:
        sayso_question_choice_field(question, "f", NULL, 1, odd);
        break;
    case 7:
        sayso_question_choice_field(question, "f", NULL, 1, NULL);
        break;
    case 8:
        sayso_question_option(question, "v", NULL, NULL, 0);
        break;
    default:
        sayso_question_number_field(question, "f", NULL, 1, 0, INFINITY);
        break;
    }
}

static void test_unfit_questions(void **state)
{
    struct straw *straw = *state;

    for (int how = 0; how < 10; how++) {
        struct sayso_question *question = sayso_question_new("elicit_form");

        spoil(question, how);
        assert_null(sayso_submit(straw->sayso, question));
        assert_ptr_equal(strstr(sayso_error(straw->sayso), "the question is unfit: "),
                         sayso_error(straw->sayso));
        sayso_question_free(question);
    }
    assert_null(sayso_submit_json(straw->sayso, "t", "not JSON"));
    assert_null(sayso_submit_json(straw->sayso, "t", "[]"));
    assert_string_equal(sayso_error(straw->sayso), "the arguments must be a JSON object");
    assert_null(sayso_submit_json(straw->sayso, NULL, "{}"));
    assert_null(sayso_collect(straw->sayso, "short"));
    assert_int_equal(sayso_timeout_ms(straw->sayso), -1);
}

static void test_misuse(void **state)
{
    struct straw *straw = *state;
    char *text = NULL;
    double value;
    int is_yes;

    assert_int_equal(sayso_set(straw->sayso, 99, "x"), SAYSO_MISUSE);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_NAME, ""), SAYSO_MISUSE);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_AS, "\xff"), SAYSO_MISUSE);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_START, "maybe"), SAYSO_MISUSE);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_PATIENCE_MS, "-1"), SAYSO_MISUSE);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_PROGRAM, "sayso"), SAYSO_MISUSE);
    assert_int_equal(sayso_set(NULL, SAYSO_NAME, "x"), SAYSO_MISUSE);
    assert_string_equal(sayso_error(NULL), "");
    assert_int_equal(sayso_connect(NULL, 0), SAYSO_MISUSE);
    assert_int_equal(sayso_confirm(NULL, "x"), SAYSO_MISUSE);
    assert_int_equal(sayso_choose(straw->sayso, "x", NULL, &text), SAYSO_MISUSE);
    assert_int_equal(sayso_text_input(straw->sayso, "x", NULL), SAYSO_MISUSE);
    assert_int_equal(sayso_text_input(straw->sayso, NULL, &text), SAYSO_MISUSE);
    assert_int_equal(sayso_number(NULL, "x", 0, 1, &value), SAYSO_MISUSE);
    assert_int_equal(sayso_ask(straw->sayso, "t", NULL, &text), SAYSO_MISUSE);
    assert_int_equal(sayso_ask(straw->sayso, "t", "{", &text), SAYSO_VALIDATION_FAILED);
    assert_int_equal(sayso_elicit(straw->sayso, "x", "{", &text), SAYSO_MISUSE);
    assert_int_equal(sayso_ask_user_question(straw->sayso, NULL, &text), SAYSO_MISUSE);
    assert_null(sayso_submit(NULL, NULL));
    assert_null(sayso_submit_json(NULL, "t", "{}"));
    assert_null(sayso_collect(NULL, STRAW_ID));
    assert_null(sayso_collect(straw->sayso, NULL));
    assert_null(sayso_wait_any(NULL, 0));
    assert_int_equal(sayso_wait(NULL, 0), SAYSO_MISUSE);
    assert_int_equal(sayso_cancel(NULL), SAYSO_MISUSE);
    assert_int_equal(sayso_request_code(NULL), SAYSO_MISUSE);
    assert_string_equal(sayso_request_id(NULL), "");
    assert_null(sayso_request_result(NULL));
    assert_null(sayso_answer_text(NULL, NULL));
    assert_int_equal(sayso_answer_yes(NULL, NULL, &is_yes), SAYSO_NOT_FOUND);
    assert_null(sayso_answer_note(NULL));
    assert_int_equal(sayso_fd(NULL), -1);
    assert_int_equal(sayso_dispatch(NULL), 0);
    sayso_question_text(NULL, "a", "b");
    sayso_question_text_field(NULL, "a", "b", 1);
    sayso_question_free(NULL);
    sayso_request_free(NULL);
    sayso_release(NULL);
    assert_string_equal(sayso_code_name(-1), "unknown");
    assert_string_equal(sayso_code_name(13), "unknown");
    assert_string_equal(sayso_code_name(SAYSO_REFUSED), "refused");
}

static void test_nobody_there(void **state)
{
    struct straw *straw = *state;

    close(straw->listener);
    unlink(straw->path);
    straw->listener = -1;
    assert_int_equal(sayso_connect(straw->sayso, 1000), SAYSO_CHANNEL_CLOSED);
    assert_non_null(strstr(sayso_error(straw->sayso), "no hub is listening on /tmp/straw"));
    assert_int_equal(sayso_confirm(straw->sayso, "Really?"), SAYSO_CHANNEL_CLOSED);
    assert_int_equal(sayso_set(straw->sayso, SAYSO_NAME, "again"), SAYSO_OK);
}

static void test_another_version(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = sayso_submit_json(straw->sayso, "elicit_number", number);

    straw_accept(straw);
    straw_expect(straw, "hello");
    assert_non_null(strstr(straw->line, "\"role\":\"agent\",\"name\":\"test_libsayso\""));
    straw_refuse(straw, "{\"code\":-32001,\"message\":\"other\",\"data\":{\"wire\":7}}");
    assert_int_equal(sayso_request_code(request), SAYSO_NOT_SUPPORTED);
    sayso_request_free(request);
}

/* How often a host's poll() comes back within half a second. */
static int count_turns(struct straw *straw)
{
    struct timespec begin, now;
    int turns = 0;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        struct pollfd ready = { .fd = sayso_fd(straw->sayso),
                                .events = (short)sayso_events(straw->sayso) };
        int limit_ms = sayso_timeout_ms(straw->sayso);

        poll(&ready, 1, limit_ms < 0 || limit_ms > 100 ? 100 : limit_ms);
        sayso_dispatch(straw->sayso);
        turns++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 500);
    return turns;
}

static void test_waiting_costs_nothing(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", number);

    assert_in_range(count_turns(straw), 1, 100); /* for a person */
    straw_reply(straw, "{\"action\":\"pending\",\"session_id\":\"" STRAW_ID "\"}");
    assert_in_range(count_turns(straw), 1, 100); /* to ask again */
    straw_expect(straw, "ask/wait");
    close(straw->listener);
    unlink(straw->path);
    close(straw->peer);
    straw->peer = straw->listener = -1;
    assert_in_range(count_turns(straw), 1, 100); /* for a hub that may come back */
    assert_int_equal(sayso_request_code(request), SAYSO_PENDING);
    sayso_request_free(request);
    assert_in_range(count_turns(straw), 1, 100); /* for nothing */
}

#define STRAW_TEST(name) cmocka_unit_test_setup_teardown(name, straw_setup, straw_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STRAW_TEST(test_words_and_codes),
        STRAW_TEST(test_refusals),
        STRAW_TEST(test_values),
        STRAW_TEST(test_two_at_once),
        STRAW_TEST(test_freed_and_gone),
        STRAW_TEST(test_delivered_twice),
        STRAW_TEST(test_many_are_confirmed_again),
        STRAW_TEST(test_a_hub_that_comes_back),
        STRAW_TEST(test_a_hub_that_lost_what_nobody_waits_for),
        STRAW_TEST(test_a_hub_that_greets_and_goes),
        STRAW_TEST(test_a_hub_that_always_leaves),
        STRAW_TEST(test_taking_back),
        STRAW_TEST(test_leaving_while_it_is_open),
        STRAW_TEST(test_a_peer_that_does_not_read),
        STRAW_TEST(test_questions_in_pieces),
        STRAW_TEST(test_unfit_questions),
        STRAW_TEST(test_misuse),
        STRAW_TEST(test_nobody_there),
        STRAW_TEST(test_another_version),
        STRAW_TEST(test_waiting_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
