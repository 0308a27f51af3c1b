/* chosen_store.c - see chosen_store.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chosen_store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "store/event.h"
#include "store/postgres/postgres.h"
#include "store/postgres/schema.h"
#include "store/sqlite/sqlite.h"

/* One database a program, and one connection to look into it. */
static char url[POSTGRES_URL_BYTES];
static PGconn *connection;

bool chosen_is_postgres(void)
{
    const char *name = getenv("SAYSO_TEST_STORE");

    return name && strcmp(name, "postgres") == 0;
}

const char *chosen_zeros(void)
{
    return chosen_is_postgres() ? "decode(repeat('00', 32), 'hex')" : "zeroblob(32)";
}

static PGresult *query(const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQresultErrorMessage(result));
    return result;
}

static void drop(void)
{
    PQfinish(connection);
    postgres_drop(url);
}

/* What is in the tables before anything happened is kept beside them: to delete what a test left
 * and put that back takes a tenth of the time of another database. Tables that others refer to were
 * made before these. */
static const char keep_blank[] =
    "CREATE SCHEMA blank;"
    "DO $$ DECLARE t text; BEGIN"
    " FOR t IN SELECT relname FROM pg_class WHERE relkind = 'r'"
    "  AND relnamespace = 'public'::regnamespace LOOP"
    "  EXECUTE format('CREATE TABLE blank.%1$I AS TABLE public.%1$I', t);"
    " END LOOP; END $$;"
    "CREATE PROCEDURE blank.again() LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN"
    " FOR t IN SELECT p.relname FROM pg_class p JOIN pg_class b ON b.relname = p.relname"
    "  AND b.relnamespace = 'blank'::regnamespace"
    "  WHERE p.relnamespace = 'public'::regnamespace ORDER BY p.oid DESC LOOP"
    "  EXECUTE format('DELETE FROM public.%I', t);"
    " END LOOP;"
    " FOR t IN SELECT p.relname FROM pg_class p JOIN pg_class b ON b.relname = p.relname"
    "  AND b.relnamespace = 'blank'::regnamespace"
    "  WHERE p.relnamespace = 'public'::regnamespace ORDER BY p.oid LOOP"
    "  EXECUTE format('INSERT INTO public.%1$I TABLE blank.%1$I', t);"
    " END LOOP; END $$";

static void make_database(void)
{
    struct text schema = { 0 };

    if (!postgres_is_there())
        fail_msg("SAYSO_TEST_STORE is postgres, but SAYSO_TEST_POSTGRES names no server");
    postgres_create(url);
    connection = PQconnectdb(url);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    atexit(drop);
    PQclear(query("SET client_min_messages = warning"));
    postgres_schema_write(&schema);
    PQclear(query(text_string(&schema)));
    PQclear(query(keep_blank));
    text_release(&schema);
}

void chosen_begin(const char *path, char out_where[POSTGRES_URL_BYTES])
{
    if (!chosen_is_postgres()) {
        text_put(out_where, POSTGRES_URL_BYTES, path);
        return;
    }
    if (!url[0])
        make_database();
    else
        PQclear(query("CALL blank.again()"));
    text_put(out_where, POSTGRES_URL_BYTES, url);
}

struct store *chosen_open(struct loop *loop, const char *where)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!(chosen_is_postgres() ? postgres_store_open(loop, where, &store, &err)
                               : sqlite_store_open(loop, where, &store, &err)))
        fail_msg("%s", err.message);
    assert_int_equal(err.code, ERROR_NONE);
    return store;
}

static void run_in(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static sqlite3 *open_file(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

void chosen_run(const char *where, const char *sql)
{
    sqlite3 *db;

    if (chosen_is_postgres()) {
        PQclear(query(sql));
        return;
    }
    db = open_file(where);
    run_in(db, sql);
    sqlite3_close(db);
}

int64_t chosen_number(const char *where, const char *sql)
{
    sqlite3_stmt *statement;
    PGresult *result;
    sqlite3 *db;
    int64_t number;

    if (chosen_is_postgres()) {
        result = query(sql);
        assert_int_equal(PQntuples(result), 1);
        number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
        return number;
    }
    db = open_file(where);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

/* Rows of the database in a table of the same columns; `hash` says which of them holds bytes. */
static void copy_rows(sqlite3 *db, const char *select, const char *insert, int hash)
{
    PGresult *result = query(select);
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(db, insert, -1, &statement, NULL), SQLITE_OK);
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < PQnfields(result); i++) {
            const char *value = PQgetvalue(result, row, i);
            size_t length = 0;

            if (PQgetisnull(result, row, i)) {
                sqlite3_bind_null(statement, i + 1);
            } else if (i == hash) {
                unsigned char *bytes = PQunescapeBytea((const unsigned char *)value, &length);

                sqlite3_bind_blob(statement, i + 1, bytes, (int)length, SQLITE_TRANSIENT);
                PQfreemem(bytes);
            } else {
                sqlite3_bind_text(statement, i + 1, value, -1, SQLITE_STATIC);
            }
        }
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    PQclear(result);
}

/* The chain is the same on both, so is who checks it. */
static sqlite3 *copy_events(void)
{
    sqlite3 *db = open_file(":memory:");

    run_in(db, "CREATE TABLE counter (seq INTEGER, hash BLOB, unsettled INTEGER);"
               "CREATE TABLE events (seq INTEGER PRIMARY KEY, ask TEXT, kind INTEGER, actor TEXT,"
               " body TEXT, prev_hash BLOB)");
    copy_rows(db, "SELECT seq, hash, unsettled FROM counter",
              "INSERT INTO counter VALUES (?, ?, ?)", 1);
    copy_rows(db, "SELECT seq, ask, kind, actor, body, prev_hash FROM events",
              "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", 5);
    return db;
}

int64_t chosen_bad_event(const char *where)
{
    sqlite3 *db = chosen_is_postgres() ? copy_events() : open_file(where);
    int64_t bad = -1;

    assert_int_equal(event_check_chain(db, &bad), SQLITE_OK);
    sqlite3_close(db);
    return bad;
}
