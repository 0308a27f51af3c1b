/*
 * mcpload.c - load for a server that speaks MCP over stdio; one thread, no JSON parser.
 *
 *   mcpload MODE PLAN [-n most] [-c in flight] [-t seconds] [-k ping|list] [-p processor] [-v]
 *
 *   cold   from the start of the server to its answer to initialize, then its memory
 *   rate   requests of one kind
 *   ask    tools/call -> elicitation/create -> answer -> result; or the result says that input is
 *          required and the call is made again with it; or a person answers elsewhere
 *
 * The plan (plan.h) holds the messages init, inited, list, ping, call, again, reply and other as
 * NAME.body.
 * Prints one JSON object.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "plan.h"

enum {
    FIRST_ID = 10, /* smaller ones are the handshake's */
    PIPE_BYTES = 1 << 20,
    WARM_UP_ASKS = 200,
    HANDSHAKE_S = 30,
    STRAGGLERS_S = 5, /* for what is under way when time is over */
};

static struct peer server;
static pid_t server_pid;
static int verbosity;
static bool is_asking;
static long max = 1000000, started, finished, errors, handshake_id;
static long first_number; /* of this part: servers may join calls that are equal */
static double *begun_s, *took_s;

static void say(const char *key, const struct plan_values *values)
{
    plan_write(&server.out, key, values);
    bytes_add_text(&server.out, "\n");
}

static void on_failure(void)
{
    if (server_pid > 0)
        kill(-server_pid, SIGKILL); /* the group start_server made, nothing else */
}

static void note_error(const char *line, size_t length)
{
    if (errors++ == 0 && verbosity > 0)
        fprintf(stderr, "error %.*s\n", (int)length, line);
}

static void take_request(const char *line, size_t length, const char *id)
{
    struct plan_values values = { .server_id = id };
    const char *end = id;

    while (end < line + length && *end != ',' && *end != '}')
        end++;
    values.server_id_length = (size_t)(end - id);
    say(load_find(line, length, "\"elicitation/create\"") ? "reply.body" : "other.body", &values);
}

/* A call made again has an id of its own, `most` further on. */
static void take_response(const char *line, size_t length, long number, bool is_result)
{
    struct plan_values values = { .id = FIRST_ID + max + number, .number = first_number + number };

    if (number < max && is_asking && load_find(line, length, "\"input_required\"")) {
        say("again.body", &values);
        return;
    }
    if (number >= max)
        number -= max;
    if (number >= max)
        return;
    if (!is_result || (is_asking && load_find(line, length, "\"isError\":true")))
        note_error(line, length);
    took_s[finished++] = load_now() - begun_s[number];
}

static void take_line(const char *line, size_t length)
{
    const char *id = load_find(line, length, "\"id\":");
    /* before "method", because a schema may have one and a long list is looked through once */
    bool is_result = load_find(line, length, "\"result\":");
    long number;

    if (verbosity > 1)
        fprintf(stderr, "got %.*s\n", (int)(length > 400 ? 400 : length), line);
    if (length == 0 || *line != '{' || !id)
        return;
    if (!is_result && load_find(line, length, "\"method\":\"")) {
        take_request(line, length, id);
        return;
    }
    number = strtol(id, NULL, 10);
    if (number < FIRST_ID)
        handshake_id = number;
    else
        take_response(line, length, number - FIRST_ID, is_result);
}

static void start_server(void)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        load_fail("no pipe");
    fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES);
    server_pid = plan_start_server(in[0], out[1], verbosity > 0);
    close(in[0]);
    close(out[1]);
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    server = (struct peer){ .read_fd = out[0], .write_fd = in[1], .line = take_line };
}

static void call_and_wait(const char *key, long id)
{
    struct plan_values values = { .id = id };
    double until = load_now() + HANDSHAKE_S;

    say(key, &values);
    while (handshake_id != id && load_now() < until)
        load_turn(&server, 1, until);
    if (handshake_id != id)
        load_fail("no answer in the handshake");
}

static void settle(double seconds)
{
    for (double until = load_now() + seconds; load_now() < until;)
        load_turn(&server, 1, until);
}

/* Keeps so many under way until `until`, then waits for the stragglers. */
static void keep_busy(const char *key, long in_flight, double until)
{
    double now = load_now();

    while (finished < max && now < until + STRAGGLERS_S) {
        while (started < max && started - finished < in_flight && now < until) {
            struct plan_values values = { .id = FIRST_ID + started,
                                          .number = first_number + started };

            begun_s[started++] = load_now();
            say(key, &values);
        }
        if (now >= until && started == finished)
            break;
        load_turn(&server, 1, until + STRAGGLERS_S);
        now = load_now();
    }
}

static void warm_up(const char *key, long in_flight)
{
    long wanted = max;

    max = max < WARM_UP_ASKS ? max : WARM_UP_ASKS;
    keep_busy(key, in_flight, load_now() + 0.3);
    if (finished == 0 || finished < started)
        load_fail("no answer in the warm-up");
    max = wanted;
    first_number += started;
    started = finished = errors = 0;
}

static void measure(const char *key, long in_flight, double seconds)
{
    struct usage before = load_usage(server_pid), after;
    double own_s = load_own_cpu_s(), began = load_now(), took, per_us;

    keep_busy(key, in_flight, began + seconds);
    took = load_now() - began;
    own_s = load_own_cpu_s() - own_s;
    after = load_usage(server_pid);
    per_us = 1e6 / (double)(finished ? finished : 1);
    load_sort(took_s, (size_t)finished);
    printf("{\"ops\":%ld,\"unfinished\":%ld,\"errors\":%ld,\"secs\":%.3f,\"ops_s\":%.1f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,\"srv_cpu_us_op\":%.2f,"
           "\"gen_cpu_us_op\":%.2f,\"rss_kb\":%ld}\n",
           finished, started - finished, errors, took, (double)finished / took,
           load_quantile_us(took_s, (size_t)finished, 0.5),
           load_quantile_us(took_s, (size_t)finished, 0.99),
           load_quantile_us(took_s, (size_t)finished, 1), (after.cpu_s - before.cpu_s) * per_us,
           own_s * per_us, after.rss_kb);
}

static void measure_cold(double began_s, double ready_s)
{
    struct usage usage;

    settle(0.4);
    usage = load_usage(server_pid);
    printf("{\"cold_ms\":%.3f,\"rss_kb\":%ld,\"pss_kb\":%ld,\"procs\":%d}\n",
           (ready_s - began_s) * 1e3, usage.rss_kb, usage.pss_kb, usage.processes);
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = max, .in_flight = 1, .seconds = 2 };
    const char *key = "call.body";
    double began, ready;

    load_read_options(
        count, arguments,
        "usage: mcpload cold|rate|ask PLAN [-n N] [-c N] [-t S] [-k KIND] [-p CPU] [-v]", &options);
    max = options.max;
    verbosity = options.verbosity;
    if (options.kind)
        key = strcmp(options.kind, "list") == 0 ? "list.body" : "ping.body";
    if (strcmp(arguments[1], "rate") == 0 && strcmp(key, "call.body") == 0)
        key = "ping.body";
    is_asking = strcmp(key, "call.body") == 0;
    signal(SIGPIPE, SIG_IGN);
    load_on_failure(on_failure);
    plan_load(arguments[2]);
    begun_s = load_new_times(max);
    took_s = load_new_times(max);
    began = load_now();
    start_server();
    call_and_wait("init.body", 1);
    ready = load_now();
    if (plan_find("inited.body"))
        say("inited.body", &(struct plan_values){ 0 });
    call_and_wait("list.body", 2);
    if (strcmp(arguments[1], "cold") == 0) {
        measure_cold(began, ready);
    } else {
        warm_up(key, options.in_flight);
        measure(key, options.in_flight, options.seconds);
    }
    plan_stop_server(server_pid);
    return 0;
}
