/*
 * postgres_fixture.c - databases of a real server for tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "postgres_fixture.h"

static const char *server_url(void)
{
    return getenv("SAYSO_TEST_POSTGRES");
}

bool postgres_is_there(void)
{
    const char *url = server_url();

    return url && *url;
}

static PGconn *connect_to(const char *url)
{
    PGconn *connection = PQconnectdb(url);

    if (PQstatus(connection) != CONNECTION_OK)
        fail_msg("%s: %s", url, PQerrorMessage(connection));
    return connection;
}

/* Many statements give one result, the last one's. */
static PGresult *query(PGconn *connection, const char *text)
{
    PGresult *result = PQexec(connection, text);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", text, PQresultErrorMessage(result));
    return result;
}

void postgres_run(const char *url, const char *text)
{
    PGconn *connection = connect_to(url);

    PQclear(query(connection, text));
    PQfinish(connection);
}

char *postgres_text(const char *url, const char *text)
{
    PGconn *connection = connect_to(url);
    PGresult *result = query(connection, text);
    char *value;

    if (PQntuples(result) < 1)
        fail_msg("%s: no row", text);
    value = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(connection);
    return value;
}

int64_t postgres_number(const char *url, const char *text)
{
    char *value = postgres_text(url, text);
    int64_t number = strtoll(value, NULL, 10);

    free(value);
    return number;
}

/* The name stands between the last '/' before the parameters and these. */
static void split(const char *url, int *ret_head, int *ret_tail)
{
    int tail = (int)strcspn(url, "?"), head = tail;

    while (head > 0 && url[head - 1] != '/')
        head--;
    *ret_head = head;
    *ret_tail = tail;
}

void postgres_create(char out_url[POSTGRES_URL_BYTES])
{
    postgres_create_with(out_url, "");
}

void postgres_create_with(char out_url[POSTGRES_URL_BYTES], const char *options)
{
    static unsigned last_number;
    char name[64], text[240];
    int head, tail, length;

    snprintf(name, sizeof name, "u%ld_%u", (long)getpid(), ++last_number);
    snprintf(text, sizeof text, "CREATE DATABASE %s TEMPLATE template0 STRATEGY file_copy %s", name,
             options);
    postgres_run(server_url(), text);
    split(server_url(), &head, &tail);
    length = snprintf(out_url, POSTGRES_URL_BYTES, "%.*s%s%s", head, server_url(), name,
                      server_url() + tail);
    assert_in_range(length, 1, POSTGRES_URL_BYTES - 1);
}

/* insufficient_privilege: the server's own vacuum is there, which may not be thrown out. */
static bool is_vacuumed(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    return state && strcmp(state, "42501") == 0;
}

void postgres_drop(const char *url)
{
    PGconn *connection = connect_to(server_url());
    PGresult *result;
    char text[160];
    int head, tail, tries = 600;

    split(url, &head, &tail);
    snprintf(text, sizeof text, "DROP DATABASE %.*s WITH (FORCE)", tail - head, url + head);
    while (is_vacuumed(result = PQexec(connection, text)) && tries-- > 0) {
        PQclear(result);
        usleep(100000);
    }
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", text, PQresultErrorMessage(result));
    PQclear(result);
    PQfinish(connection);
}

void postgres_clear(const char *url)
{
    postgres_run(url, "SET client_min_messages = warning;"
                      "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}

void postgres_cut(const char *url)
{
    postgres_run(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                      " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                      " AND backend_type = 'client backend'");
}
