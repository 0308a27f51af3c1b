/*
 * floor_postgres.c - the least that durable asks cost on PostgreSQL: a row each, written twice, by
 * one client that does nothing else.
 *
 *   floor_postgres commit|wake|notify URL [-n most] [-c in flight] [-t seconds]
 *
 *   commit  with -c asks in flight, half of them are being asked while the others are answered: one
 *           transaction in one round trip, inserts of the new, updates of those before, a NOTIFY;
 *           with one in flight, two transactions an ask
 *   wake    one row is updated and committed with a NOTIFY, another connection hears it: from
 *           sending to hearing
 *   notify  the same without the row, so without a sync
 *
 * The table is an ordinary one, because temporary and unlogged ones are not synced. Prints one
 * JSON object.
 */
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../load.h"

enum { BODY_BYTES = 400, NUMBER_BYTES = 24 };

static PGconn *writer;
static char body[BODY_BYTES + 1];
static const char *const set_up[] = {
    "SET client_min_messages = warning",
    "DROP TABLE IF EXISTS floor_asks",
    "CREATE TABLE floor_asks (number bigint PRIMARY KEY, body text NOT NULL, answer text)"
    " WITH (fillfactor = 80)",
};

static PGconn *connect_to(const char *url)
{
    PGconn *connection = PQconnectdb(url);

    if (PQstatus(connection) != CONNECTION_OK)
        load_fail("there is no database to connect to");
    return connection;
}

static void run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        load_fail(PQerrorMessage(connection));
    PQclear(result);
}

static void prepare(const char *name, const char *sql)
{
    PGresult *result = PQprepare(writer, name, sql, 0, NULL);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        load_fail(PQerrorMessage(writer));
    PQclear(result);
}

static void open_writer(const char *url)
{
    writer = connect_to(url);
    for (size_t i = 0; i < sizeof set_up / sizeof *set_up; i++)
        run(writer, set_up[i]);
    prepare("begin", "BEGIN");
    prepare("ask", "INSERT INTO floor_asks VALUES ($1, $2)");
    prepare("answer", "UPDATE floor_asks SET answer = $2 WHERE number = $1");
    prepare("tell", "SELECT pg_notify('floor', $1)");
    prepare("commit", "COMMIT");
    memset(body, 'x', BODY_BYTES);
    if (!PQenterPipelineMode(writer))
        load_fail("no pipeline");
}

static void send_one(const char *name, long number, const char *text)
{
    char digits[NUMBER_BYTES];
    const char *values[] = { digits, text };
    int count = number < 0 ? 0 : text ? 2 : 1;

    snprintf(digits, sizeof digits, "%ld", number);
    if (!PQsendQueryPrepared(writer, name, count, values, NULL, NULL, 0))
        load_fail(PQerrorMessage(writer));
}

/* Until the end of the pipeline; anything refused ends the run. */
static void take_all(void)
{
    for (bool is_over = false; !is_over;) {
        PGresult *result = PQgetResult(writer);
        ExecStatusType status = result ? PQresultStatus(result) : PGRES_COMMAND_OK;

        is_over = status == PGRES_PIPELINE_SYNC;
        if (!is_over && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            load_fail(PQerrorMessage(writer));
        PQclear(result);
    }
}

static void end_pipeline(void)
{
    if (!PQpipelineSync(writer))
        load_fail(PQerrorMessage(writer));
    take_all();
}

/* [from, to) are asked, those before them answered. */
static void commit_turn(long answered_from, long from, long to)
{
    send_one("begin", -1, NULL);
    for (long number = answered_from; number < from; number++)
        send_one("answer", number, "{\"selected\":[\"yes\"],\"by\":\"a person\"}");
    for (long number = from; number < to; number++)
        send_one("ask", number, body);
    send_one("tell", to, NULL);
    send_one("commit", -1, NULL);
    end_pipeline();
}

static void measure_commits(long in_flight, long max, double seconds)
{
    double began = load_now(), until = began + seconds, took, own_s = load_own_cpu_s();
    long half = in_flight / 2, answered = 0, asked = 0;

    while (load_now() < until && answered < max) {
        if (half == 0) {
            commit_turn(asked, asked, asked + 1);
            commit_turn(asked, asked + 1, asked + 1);
            answered = ++asked;
        } else {
            commit_turn(answered, asked, asked + half);
            answered = asked;
            asked += half;
        }
    }
    took = load_now() - began;
    printf("{\"ops\":%ld,\"errors\":0,\"secs\":%.3f,\"ops_s\":%.1f,\"gen_cpu_us_op\":%.2f}\n",
           answered, took, (double)answered / took,
           (load_own_cpu_s() - own_s) * 1e6 / (double)(answered ? answered : 1));
}

static bool hears(PGconn *listener, int limit_ms)
{
    struct pollfd poll_for = { PQsocket(listener), POLLIN, 0 };
    PGnotify *heard;

    while (!(heard = PQnotifies(listener))) {
        if (poll(&poll_for, 1, limit_ms) <= 0 || !PQconsumeInput(listener))
            return false;
    }
    PQfreemem(heard);
    return true;
}

static void measure_wakes(const char *url, bool has_row, long max, double seconds)
{
    double *times = load_new_times(max), until = load_now() + seconds;
    PGconn *listener = connect_to(url);
    long count = 0;

    run(listener, "LISTEN floor");
    commit_turn(0, 0, 1);
    if (!hears(listener, 5000))
        load_fail("nothing was heard");
    while (count < max && load_now() < until) {
        double began = load_now();

        send_one("begin", -1, NULL);
        if (has_row)
            send_one("answer", 0, "{\"selected\":[\"yes\"],\"by\":\"a person\"}");
        send_one("tell", count, NULL);
        send_one("commit", -1, NULL);
        if (!PQpipelineSync(writer) || PQflush(writer) != 0)
            load_fail(PQerrorMessage(writer));
        if (!hears(listener, 5000))
            load_fail("nothing was heard");
        times[count++] = load_now() - began;
        take_all();
    }
    load_sort(times, (size_t)count);
    printf("{\"ops\":%ld,\"errors\":0,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", count,
           load_quantile_us(times, (size_t)count, 0.5),
           load_quantile_us(times, (size_t)count, 0.99));
    PQfinish(listener);
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = 1000000, .in_flight = 64, .seconds = 2 };

    load_read_options(count, arguments,
                      "usage: floor_postgres commit|wake|notify URL [-n N] [-c N] [-t S]",
                      &options);
    open_writer(arguments[2]);
    if (strcmp(arguments[1], "commit") == 0)
        measure_commits(options.in_flight, options.max, options.seconds);
    else
        measure_wakes(arguments[2], strcmp(arguments[1], "wake") == 0, options.max,
                      options.seconds);
    PQfinish(writer);
    return 0;
}
