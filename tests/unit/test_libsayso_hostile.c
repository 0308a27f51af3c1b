/*
 * test_libsayso_hostile.c - a peer that breaks off anywhere, speaks nonsense or never ends, and
 * memory that is missing: the host program goes on, and no answer is invented. Proves: R4.5 R5.5
 * R12.2
 */
#include "libsayso_fixture.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remove_tree.h"

static const char *const hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"wire\":1}}\n";
static const char *const decided =
    "\"reply\":\"final\",\"result\":{\"action\":\"accept\",\"session_id\":\"" STRAW_ID
    "\",\"value\":42,\"explicit\":true}}\n";

static void send_part(struct straw *straw, const char *bytes, size_t length)
{
    if (length)
        assert_int_equal(send(straw->peer, bytes, length, MSG_NOSIGNAL), length);
    sayso_dispatch(straw->sayso);
}

/* What a hub says to one ask, up to so many bytes of it. False: that was all of it. */
static bool talk(struct straw *straw, size_t max)
{
    char line[512];
    size_t length = strlen(hello);

    straw_accept(straw);
    straw_expect(straw, "hello");
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":{\"wire\":1}}\n",
             (long long)straw->id);
    length = strlen(line);
    send_part(straw, line, max < length ? max : length);
    if (max < length)
        return true;
    max -= length;
    straw_read(straw); /* ask/create, or ask/wait once its id is known */
    snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":\"1\",\"session_id\":"
        "\"" STRAW_ID "\"}}\n{\"jsonrpc\":\"2.0\",\"id\":%lld,%s",
        (long long)straw->id, decided);
    length = strlen(line);
    send_part(straw, line, max < length ? max : length);
    return max < length;
}

static void test_the_end_at_each_byte(void **state)
{
    struct straw *straw = *state;
    bool is_cut = true;
    double value = 0;

    for (size_t max = 0; is_cut; max++) {
        struct sayso_request *request;

        straw_new_handle(straw);
        request = sayso_submit_json(straw->sayso, "elicit_number", "{}");
        is_cut = talk(straw, max);
        assert_int_equal(sayso_request_code(request), is_cut ? SAYSO_PENDING : SAYSO_OK);
        if (is_cut)
            assert_false(talk(straw, 4096)); /* it comes back, and says the same */
        assert_int_equal(sayso_request_code(request), SAYSO_OK);
        assert_int_equal(sayso_answer_number(request, NULL, &value), SAYSO_OK);
        assert_true(value == 42);
        sayso_request_free(request);
    }
}

/* Every byte of what a hub says, turned into others. */
static void test_nonsense(void **state)
{
    struct straw *straw = *state;
    char good[512], bad[512];

    straw_new_handle(straw);
    snprintf(good, sizeof good, "{\"jsonrpc\":\"2.0\",\"id\":1,%s", decided);
    for (size_t i = 0; i + 1 < strlen(good); i++) {
        static const char others[] = { '"', '}', '[', '\\', 'x', '\0', (char)0xff, '\n' };
        struct sayso_request *request;
        double value = 42;

        straw_new_handle(straw);
        request = sayso_submit_json(straw->sayso, "elicit_number", "{}");
        straw_greet(straw);
        straw_expect(straw, "ask/create");
        assert_int_equal(straw->id, 1);
        snprintf(bad, sizeof bad, "%s", good);
        bad[i] = others[i % sizeof others];
        send_part(straw, bad, strlen(good));
        if (sayso_request_code(request) == SAYSO_OK && bad[i] != good[i] && !strstr(bad, "42"))
            assert_int_not_equal(sayso_answer_number(request, NULL, &value), SAYSO_OK);
        sayso_request_free(request);
    }
}

static void test_no_hub_at_all(void **state)
{
    static const char *const lines[] = {
        "HTTP/1.1 400 Bad Request",
        "",
        "[]",
        "null",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"result\":{}}",
    };
    struct straw *straw = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct sayso_request *request;

        straw_new_handle(straw);
        request = sayso_submit_json(straw->sayso, "elicit_number", "{}");
        straw_accept(straw);
        straw_expect(straw, "hello");
        straw_say(straw, lines[i]);
        assert_int_equal(sayso_request_code(request), SAYSO_CHANNEL_CLOSED);
        assert_string_equal(sayso_request_error(request),
                            "the server at this socket is not a sayso hub");
        assert_int_equal(sayso_timeout_ms(straw->sayso), -1); /* and it is left alone */
        sayso_request_free(request);
    }
}

static void test_a_line_without_end(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = sayso_submit_json(straw->sayso, "elicit_number", "{}");
    static char bytes[65536];
    size_t sent = 0;

    memset(bytes, ' ', sizeof bytes);
    straw_greet(straw);
    while (sayso_request_code(request) == SAYSO_PENDING && sent < 64 * 1024 * 1024) {
        ssize_t put = send(straw->peer, bytes, sizeof bytes, MSG_NOSIGNAL);

        sent += put > 0 ? (size_t)put : 0;
        sayso_dispatch(straw->sayso);
    }
    assert_int_equal(sayso_request_code(request), SAYSO_CHANNEL_CLOSED);
    assert_true(sent < 6 * 1024 * 1024);
    sayso_request_free(request);
}

/* A flood of replies and notifications for no request is read and forgotten. */
static void test_words_to_nobody(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request = straw_ask(straw, "elicit_number", "{}");
    int64_t id = straw->id;

    for (int i = 0; i < 1000; i++) {
        straw->id = 100000 + i;
        straw_reply(straw, "{\"action\":\"accept\",\"value\":1}");
        straw_say(straw,
                  "{\"jsonrpc\":\"2.0\",\"method\":\"ask/created\",\"params\":{\"tag\":\"77\","
                  "\"session_id\":\"" STRAW_ID "\"}}");
        straw_say(straw, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":\"y\",\"params\":{}}");
    }
    assert_int_equal(sayso_request_code(request), SAYSO_PENDING);
    assert_string_equal(sayso_request_id(request), "");
    straw->id = id;
    straw_reply(straw, "{\"action\":\"cancel\"}");
    assert_int_equal(sayso_request_code(request), SAYSO_CANCELLED);
    sayso_request_free(request);
}

/* Replies to what has come, if anything has; nothing is expected of a library without memory. */
static void serve(struct straw *straw, const char *result)
{
    int fd = accept4(straw->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    char line[256];
    size_t used = 0;

    if (fd >= 0) {
        close(straw->peer);
        straw->peer = fd;
    }
    while (used + 1 < sizeof straw->line && recv(straw->peer, straw->line + used, 1, 0) == 1)
        used++;
    straw->line[used] = '\0';
    if (!used)
        return;
    straw->id = strtoll(strstr(straw->line, "\"id\":") + 5, NULL, 10);
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"reply\":\"final\",\"result\":",
             (long long)straw->id);
    send(straw->peer, line, strlen(line), MSG_NOSIGNAL);
    result = strstr(straw->line, "ask/create") ? result : "{}";
    send(straw->peer, result, strlen(result), MSG_NOSIGNAL);
    send(straw->peer, "}\n", 2, MSG_NOSIGNAL);
}

/* One ask from the handle on, with 20 members in the result so that each way to allocate is taken.
 * True: memory was enough. */
static bool ask_once(struct straw *straw)
{
    static const char *const choices[] = { "a", "A", NULL };
    struct sayso_question *question = sayso_question_new("elicit_form");
    struct sayso_request *request;
    char line[2048] = "{\"action\":\"accept\",\"session_id\":\"" STRAW_ID "\",\"content\":{";
    bool ok = false;

    for (int i = 0; i < 20; i++)
        snprintf(line + strlen(line), 64, "%s\"n%d\":[\"%d.5\",%d.25]", i ? "," : "", i, i, i);
    snprintf(line + strlen(line), 64, "}}");
    sayso_question_text(question, "message", "How many are there, and of which kind?");
    sayso_question_json(question, "extra", "[1,2,3]");
    sayso_question_choice_field(question, "kind", NULL, 1, choices);
    request = sayso_submit(straw->sayso, question);
    sayso_question_free(question);
    for (int i = 0; request && i < 100 && sayso_request_code(request) == SAYSO_PENDING; i++) {
        sayso_dispatch(straw->sayso);
        serve(straw, line);
    }
    ok = request && sayso_request_code(request) == SAYSO_OK;
    if (ok)
        assert_string_equal(sayso_answer_item(request, "n19", 0), "19.5");
    else if (request)
        assert_int_equal(sayso_request_code(request), SAYSO_NO_MEMORY);
    sayso_request_free(request);
    return ok;
}

static void test_missing_memory(void **state)
{
    struct straw *straw = *state;
    int fail_at = 0;
    bool ok = false;

    while (!ok) {
        straw_new_handle(straw);
        straw_fail_memory(++fail_at);
        ok = ask_once(straw);
        straw_fail_memory(0);
        assert_true(ask_once(straw)); /* and once there is some again it works */
        assert_true(fail_at < 500);
    }
    print_message("# counted: %d places where memory was missing\n", fail_at - 1);
    assert_true(fail_at > 15);
    straw_fail_memory(1);
    assert_null(sayso_new());
    assert_int_equal(sayso_confirm(straw->sayso, "x"), SAYSO_NO_MEMORY);
    straw_fail_memory(0);
}

/* A locale that writes 1,5, made here; false: this system can't. */
static bool make_locale(const char *directory, char path[80])
{
    int status = 1;
    pid_t child;

    snprintf(path, 80, "%s/de", directory);
    child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        execlp("localedef", "localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", path, NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    setenv("LOCPATH", directory, 1);
    return setlocale(LC_ALL, "de") && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* A program that writes 1,5 gets the same numbers. */
static void test_another_locale(void **state)
{
    struct straw *straw = *state;
    struct sayso_question *question;
    struct sayso_request *request;
    char path[80];
    double value = 0;

    if (!make_locale(straw->directory, path))
        skip();
    question = sayso_question_new("elicit_number");
    sayso_question_number(question, "minimum", 0.5);
    request = sayso_submit(straw->sayso, question);
    straw_greet(straw);
    straw_expect(straw, "ask/create");
    assert_non_null(strstr(straw->line, "{\"minimum\":0.5}"));
    straw_reply(straw, "{\"action\":\"accept\",\"value\":1.25}");
    assert_int_equal(sayso_answer_number(request, NULL, &value), SAYSO_OK);
    assert_true(value == 1.25);
    assert_string_equal(sayso_request_result(request), "{\"action\":\"accept\",\"value\":1.25}");
    sayso_request_free(request);
    sayso_question_free(question);
    setlocale(LC_ALL, "C");
    remove_tree(path);
}

#define STRAW_TEST(name) cmocka_unit_test_setup_teardown(name, straw_setup, straw_teardown)

/* Whether it is over is the hub's to say: a result without that word is no answer, and stays the
 * next identical call's. */
static void test_a_hub_that_does_not_say(void **state)
{
    struct straw *straw = *state;
    struct sayso_request *request =
        straw_ask(straw, "elicit_number", "{\"message\":\"How many?\"}");
    char line[256];

    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":{\"action\":\"accept\","
             "\"session_id\":\"" STRAW_ID "\",\"value\":3}}",
             (long long)straw->id);
    straw_say(straw, line);
    assert_int_equal(sayso_request_code(request), SAYSO_NOT_SUPPORTED);
    assert_non_null(strstr(sayso_request_error(request), "older version"));
    assert_null(sayso_request_result(request));
    sayso_request_free(request);
    sayso_free(straw->sayso);
    straw->sayso = NULL;
    assert_int_equal(recv(straw->peer, line, sizeof line, 0), 0); /* nothing was confirmed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STRAW_TEST(test_the_end_at_each_byte), STRAW_TEST(test_nonsense),
        STRAW_TEST(test_no_hub_at_all),        STRAW_TEST(test_a_line_without_end),
        STRAW_TEST(test_words_to_nobody),      STRAW_TEST(test_missing_memory),
        STRAW_TEST(test_another_locale),       STRAW_TEST(test_a_hub_that_does_not_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
