/*
 * httpload.c - load for a server that speaks MCP over HTTP; one thread, no JSON parser.
 *
 *   httpload MODE PLAN [-n most] [-c in flight] [-t seconds] [-k ping|list] [-p processor] [-v]
 *
 *   rate     requests of one kind, each on a kept connection of its own
 *   pending  -n tools/call that wait for their answers, each holding a connection (a server of
 *            2026-07-28 holds none); then memory, as the difference between a tenth of them and
 * all; then all are answered, -c at a time
 *
 * An ask is answered by how the server asks: elicitation/create on the call's stream is replied to
 * by another POST; input_required has the call made again; else a person answers, over the API that
 * the plan names (asks.path, answer.path): ids are collected first, as a person has them in sight.
 * The server is started by the plan's argv, or runs already and the plan has its pid.
 *
 * The plan (plan.h) holds port, path, the messages init, inited, list, ping, call, again, reply
 * and answer as NAME.body, header lines for all as `header` and for one message as NAME.header;
 * `person` is the header line that stands for `header` where a person speaks.
 * Prints one JSON object.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "plan.h"
#include "web.h"

enum {
    FIRST_ID = 10, /* smaller ones are the handshake's */
    ANSWER_TAG = -1,
    PERSON_TAG = -2,
    OTHER_TAG = -3,
    HANDSHAKE_S = 30,
    STRAGGLERS_S = 10, /* for what is under way when time is over */
    WARM_UP_REQUESTS = 2000,
    HOLDING_AT_ONCE = 128, /* calls whose streams have not begun */
    NAME_BYTES = 64,
    ASK_ID_BYTES = 64,
    PENDING_LIMIT_S = 200,
    SETTLE_S = 3, /* servers tidy up when a burst is over */
};

static pid_t server_pid;
static int verbosity;
static bool is_started, is_pending, has_person;
static long max = 1000000, started, held, finished, errors, handshake_id, page_count;
static double *begun_s, *took_s;
static struct bytes session;    /* the header line of a session, once there is one */
static struct bytes *questions; /* how each held call is answered: the server's id, or the ask's */
static long question_count, answered, answers_under_way;
static struct bytes cursor; /* of the list's next page */

static void note_error(const char *line, size_t length)
{
    if (errors++ == 0 && verbosity > 0)
        fprintf(stderr, "error %.*s\n", (int)length, line);
}

static void add_lines(struct bytes *headers, const char *key)
{
    const char *line;
    size_t at = 0;

    while ((line = plan_find_next(key, &at))) {
        bytes_add_text(headers, line);
        bytes_add_text(headers, "\r\n");
    }
}

/* `path` NULL: the MCP endpoint. */
static void say(const char *message, const char *path, const struct plan_values *values, long tag)
{
    static struct bytes headers, body;
    char key[NAME_BYTES];

    headers.used = body.used = 0;
    add_lines(&headers, path ? "person" : "header");
    snprintf(key, sizeof key, "%s.header", message);
    add_lines(&headers, key);
    if (!path)
        bytes_add(&headers, session.at, session.used);
    bytes_add_text(&headers, "Content-Type: application/json\r\n"
                             "Accept: application/json, text/event-stream\r\n");
    snprintf(key, sizeof key, "%s.body", message);
    plan_write(&body, key, values);
    web_send("POST", path ? path : plan_find("path"), &headers, &body, tag);
}

static void keep_question(long number, const char *id, size_t length)
{
    bytes_add(&questions[number], id, length);
    question_count++;
    held++;
}

static void take_question(const struct web_reply *reply, const char *line, size_t length,
                          const char *id)
{
    const char *end = id;

    while (end < line + length && *end != ',' && *end != '}')
        end++;
    if (is_pending && reply->tag >= 0 && load_find(line, length, "\"elicitation/create\""))
        keep_question(reply->tag, id, (size_t)(end - id));
}

static void take_result(const char *line, size_t length, long number)
{
    if (number < 0 || number >= max || took_s[number] > 0)
        return;
    if (is_pending && load_find(line, length, "\"isError\":true"))
        note_error(line, length);
    took_s[number] = load_now() - begun_s[number];
    finished++;
}

static void take_list(const char *line, size_t length);

static void take_message(const struct web_reply *reply, const char *line, size_t length)
{
    const char *id = load_find(line, length, "\"id\":");
    /* before "method", because a schema may have one and a long list is looked through once */
    bool is_result = load_find(line, length, "\"result\":");
    long number;

    if (verbosity > 1)
        fprintf(stderr, "got %.*s\n", (int)(length > 400 ? 400 : length), line);
    if (reply->tag == PERSON_TAG) {
        take_list(line, length);
        return;
    }
    if (reply->tag == ANSWER_TAG || !id)
        return;
    if (!is_result && load_find(line, length, "\"method\":\"")) {
        take_question(reply, line, length, id);
        return;
    }
    number = strtol(id, NULL, 10);
    if (!is_result)
        note_error(line, length);
    if (number < FIRST_ID)
        handshake_id = number;
    else if (is_pending && answered == 0 && load_find(line, length, "\"input_required\""))
        keep_question(number - FIRST_ID, "", 0);
    else
        take_result(line, length, number - FIRST_ID);
}

static void take_head(const struct web_reply *reply, const char *head)
{
    const char *id = strcasestr(head, "\r\nmcp-session-id:");

    if (verbosity > 1)
        fprintf(stderr, "head %s\n", head);
    if (reply->status >= 400)
        note_error(head, strlen(head));
    if (id && session.used == 0)
        bytes_add_format(&session, "%.*s\r\nMCP-Protocol-Version: 2025-11-25\r\n",
                         (int)strcspn(id + 2, "\r"), id + 2);
    if (reply->tag == ANSWER_TAG)
        answers_under_way--;
    if (has_person && is_pending && reply->tag >= 0 && reply->is_stream)
        held++; /* a stream that has opened is held; nothing more is sent on it */
}

/* A page of asks, and how to get the following one. */
static void take_list(const char *line, size_t length)
{
    const char *end = line + length, *at = line;

    while ((at = load_find(at, (size_t)(end - at), "\"session_id\":\"")) && question_count < max) {
        size_t id_length = strcspn(at, "\"");

        bytes_add(&questions[question_count++], at, id_length);
    }
    cursor.used = 0;
    at = load_find(line, length, "\"next\":\"");
    if (at)
        bytes_add(&cursor, at, strcspn(at, "\""));
    page_count++;
}

static void get_page(void)
{
    static struct bytes headers;
    long before = page_count;
    char path[1024];

    headers.used = 0;
    add_lines(&headers, "person");
    snprintf(path, sizeof path, "%s%s%.*s", plan_find("asks.path"), cursor.used ? "&before=" : "",
             (int)cursor.used, cursor.used ? cursor.at : "");
    web_send("GET", path, &headers, NULL, PERSON_TAG);
    for (double until = load_now() + HANDSHAKE_S; page_count == before && load_now() < until;)
        web_turn(until);
    if (page_count == before)
        load_fail("the list of asks did not come");
}

/* Until all are in sight: a stream begins before its ask is on disk. */
static void collect_asks(void)
{
    double until = load_now() + HANDSHAKE_S;

    while (question_count < max && load_now() < until) {
        for (long i = 0; i < question_count; i++)
            questions[i].used = 0;
        question_count = 0;
        cursor.used = 0;
        do
            get_page();
        while (cursor.used > 0 && question_count < max);
    }
    if (question_count < max)
        load_fail("not all asks are in the list");
}

static void on_failure(void)
{
    if (is_started)
        kill(-server_pid, SIGKILL); /* the group plan_start_server made, nothing else */
}

static void call_and_wait(const char *message, long id)
{
    struct plan_values values = { .id = id };
    double until = load_now() + HANDSHAKE_S;

    say(message, NULL, &values, OTHER_TAG);
    while (handshake_id != id && load_now() < until)
        web_turn(until);
    if (handshake_id != id)
        load_fail("no answer in the handshake");
}

static void settle(double seconds)
{
    for (double until = load_now() + seconds; load_now() < until;)
        web_turn(until);
}

static void call(const char *message)
{
    struct plan_values values = { .id = FIRST_ID + started, .number = started };

    begun_s[started] = load_now();
    say(message, NULL, &values, started);
    started++;
}

static void keep_busy(const char *message, long in_flight, double until)
{
    double now = load_now();

    while (finished < max && now < until + STRAGGLERS_S) {
        while (started < max && started - finished < in_flight && now < until)
            call(message);
        if (now >= until && started == finished)
            break;
        web_turn(until + STRAGGLERS_S);
        now = load_now();
    }
}

static void measure_rate(const char *message, long in_flight, double seconds)
{
    long wanted = max;
    struct usage before, after;
    double own_s, began, took, per_us;

    max = WARM_UP_REQUESTS;
    keep_busy(message, in_flight, load_now() + 1);
    if (finished == 0 || finished < started)
        load_fail("no answer in the warm-up");
    max = wanted;
    memset(took_s, 0, (size_t)started * sizeof *took_s);
    started = finished = errors = 0;
    before = load_usage(server_pid);
    own_s = load_own_cpu_s();
    began = load_now();
    keep_busy(message, in_flight, began + seconds);
    took = load_now() - began;
    own_s = load_own_cpu_s() - own_s;
    after = load_usage(server_pid);
    per_us = 1e6 / (double)(finished ? finished : 1);
    load_sort(took_s, (size_t)started);
    printf("{\"ops\":%ld,\"unfinished\":%ld,\"errors\":%ld,\"ops_s\":%.1f,\"p50_us\":%.1f,"
           "\"p99_us\":%.1f,\"srv_cpu_us_op\":%.2f,\"gen_cpu_us_op\":%.2f,\"rss_kb\":%ld,"
           "\"connections\":%ld}\n",
           finished, started - finished, errors, (double)finished / took,
           load_quantile_us(took_s, (size_t)started, 0.5),
           load_quantile_us(took_s, (size_t)started, 0.99), (after.cpu_s - before.cpu_s) * per_us,
           own_s * per_us, after.rss_kb, web_connection_count());
}

static void answer_one(long number)
{
    struct plan_values values = { .id = FIRST_ID + number,
                                  .number = number,
                                  .server_id = questions[number].at,
                                  .server_id_length = questions[number].used };
    static struct bytes path;

    if (plan_find("again.body")) {
        say("again", NULL, &values, number);
        return;
    }
    answers_under_way++;
    if (!has_person) {
        say("reply", NULL, &values, ANSWER_TAG);
        return;
    }
    path.used = 0;
    plan_write(&path, "answer.path", &values);
    bytes_add(&path, "", 1);
    say("answer", path.at, &values, ANSWER_TAG);
}

/* -c answers are under way at the same time; those that have not yet brought their result count
 * too, where the answer is the call itself. */
static void answer_all(long at_once, double until)
{
    bool is_again = plan_find("again.body") != NULL;

    while (finished < max && load_now() < until) {
        while (answered < max && (is_again ? answered - finished : answers_under_way) < at_once)
            answer_one(answered++);
        web_turn(until);
    }
}

static void hold(long wanted, double until)
{
    while (held < wanted && errors == 0 && load_now() < until) {
        while (started < wanted && started - held < HOLDING_AT_ONCE)
            call("call");
        web_turn(until);
    }
    if (held < wanted)
        load_fail(errors ? "a call failed (-v shows it)" : "not all calls are held");
}

static void measure_pending(long at_once)
{
    long first = max / 10; /* caches that have an end are full by then */
    struct usage before, holding, listed, after;
    double began, held_s, answered_s, until = load_now() + PENDING_LIMIT_S;

    questions = calloc((size_t)max, sizeof *questions);
    began = load_now();
    hold(first, until);
    held_s = load_now() - began;
    settle(SETTLE_S);
    before = load_usage(server_pid);
    began = load_now();
    hold(max, until);
    held_s += load_now() - began;
    settle(SETTLE_S);
    holding = load_usage(server_pid);
    if (has_person)
        collect_asks();
    listed = load_usage(server_pid);
    began = load_now();
    answer_all(at_once, until);
    answered_s = load_now() - began;
    after = load_usage(server_pid);
    printf("{\"held\":%ld,\"finished\":%ld,\"unfinished\":%ld,\"errors\":%ld,\"held_s\":%.3f,"
           "\"bytes_per_ask\":%.0f,\"pss_kb\":%ld,\"answered_s\":%.3f,\"srv_cpu_us_hold\":%.1f,"
           "\"srv_cpu_us_answer\":%.1f}\n",
           held, finished, max - finished, errors, held_s,
           (double)(holding.pss_kb - before.pss_kb) * 1024 / (double)(max - first), holding.pss_kb,
           answered_s, (holding.cpu_s - before.cpu_s) * 1e6 / (double)(max - first),
           (after.cpu_s - listed.cpu_s) * 1e6 / (double)max);
}

static void find_server(void)
{
    static const struct web_calls calls = { take_head, take_message };

    server_pid = (pid_t)plan_number("pid", 0);
    if (server_pid == 0) {
        server_pid = plan_start_server(-1, -1, verbosity > 0);
        is_started = true;
    }
    web_open((int)plan_number("port", 0), &calls, HANDSHAKE_S);
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = max, .in_flight = 1, .seconds = 2, .kind = "list" };

    load_read_options(
        count, arguments,
        "usage: httpload rate|pending PLAN [-n N] [-c N] [-t S] [-k KIND] [-p CPU] [-v]", &options);
    max = options.max;
    verbosity = options.verbosity;
    signal(SIGPIPE, SIG_IGN);
    load_allow_files();
    load_on_failure(on_failure);
    plan_load(arguments[2]);
    has_person = plan_find("answer.path") != NULL;
    begun_s = load_new_times(max);
    took_s = load_new_times(max);
    find_server();
    call_and_wait("init", 1);
    if (plan_find("inited.body"))
        say("inited", NULL, &(struct plan_values){ 0 }, OTHER_TAG);
    call_and_wait("list", 2);
    is_pending = strcmp(arguments[1], "pending") == 0;
    if (is_pending)
        measure_pending(options.in_flight);
    else
        measure_rate(options.kind, options.in_flight, options.seconds);
    if (is_started)
        plan_stop_server(server_pid);
    return 0;
}
