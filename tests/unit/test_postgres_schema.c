/*
 * test_postgres_schema.c - the tables in PostgreSQL: made once, by the first hub; what is
 * not ours, or newer, or not fit, is refused with a remedy and left as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "postgres_fixture.h"
#include "store/postgres/schema.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct place {
    char url[POSTGRES_URL_BYTES];
    struct text script;
};

static int set_up(void **state)
{
    struct place *place;

    *state = NULL;
    if (!postgres_is_there())
        return 0;
    place = mem_new(sizeof *place);
    postgres_create(place->url);
    postgres_schema_write(&place->script);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    if (!place)
        return 0;
    postgres_drop(place->url);
    text_release(&place->script);
    free(place);
    return 0;
}

static PGconn *connect_with(const struct place *place, const char *search_path)
{
    PGconn *connection = PQconnectdb(place->url);
    char *name = PQescapeLiteral(connection, search_path, strlen(search_path));
    char *text = mem_format("SELECT set_config('search_path', %s, false)", name);

    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    PQclear(PQexec(connection, text));
    PQfreemem(name);
    free(text);
    return connection;
}

/* Runs the one statement; "" or why it was refused. */
static void make(const struct place *place, const char *search_path, struct error *ret_err)
{
    PGconn *connection = connect_with(place, search_path);
    PGresult *result = PQexec(connection, place->script.bytes);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    *ret_err = (struct error){ 0 };
    if (PQresultStatus(result) != PGRES_COMMAND_OK &&
        !postgres_schema_refused(state ? state : "", message ? message : "", ret_err))
        fail_msg("%s", PQresultErrorMessage(result));
    PQclear(result);
    PQfinish(connection);
}

static void make_done(const struct place *place, const char *search_path)
{
    struct error err;

    make(place, search_path, &err);
    if (err.code != ERROR_NONE)
        fail_msg("%s", err.message);
}

static void assert_refused(const struct place *place, const char *search_path, const char *remedy)
{
    struct error err;

    make(place, search_path, &err);
    assert_int_equal(err.code, ERROR_storage_failed);
    if (!strstr(err.message, remedy))
        fail_msg("'%s' does not say '%s'", err.message, remedy);
}

static void is_made_once(void **state)
{
    struct place *place = *state;
    int64_t before;

    if (!place)
        skip();
    make_done(place, "public");
    assert_int_equal(postgres_number(place->url, "SELECT version FROM sayso"),
                     postgres_schema_version());
    before = postgres_number(place->url, "SELECT sum(oid::bigint) FROM pg_proc"
                                         " WHERE proname LIKE 'sayso%'");
    postgres_run(place->url, "INSERT INTO settings VALUES ('owner', 'language', 'zh')");
    make_done(place, "public");
    assert_int_equal(postgres_number(place->url, "SELECT sum(oid::bigint) FROM pg_proc"
                                                 " WHERE proname LIKE 'sayso%'"),
                     before);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM settings"), 1);
}

static void functions_are_made_anew(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(place->url,
                 "UPDATE sayso SET functions = 'others';"
                 "DROP FUNCTION sayso_now; CREATE FUNCTION sayso_gone() RETURNS integer"
                 " LANGUAGE sql AS 'SELECT 1'; INSERT INTO meta VALUES ('kept', 'yes')");
    make_done(place, "public");
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM pg_proc"
                                                 " WHERE proname = 'sayso_gone'"),
                     0);
    assert_true(postgres_number(place->url, "SELECT sayso_now()") > 1700000000000);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM meta"), 2);
}

/* What a hub of the first version left: its asks are kept, and wait at no hub that is there. */
static void older_ones_are_brought_up_to_date(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(
        place->url,
        "DROP TABLE hubs; ALTER TABLE asks DROP COLUMN hub; UPDATE sayso SET version = 1;"
        "DROP INDEX words_threes; ALTER TABLE words DROP COLUMN threes;"
        "CREATE FUNCTION threes_of(body text) RETURNS text[] LANGUAGE sql IMMUTABLE AS"
        " 'SELECT ARRAY[body]'; CREATE INDEX words_threes ON words USING gin (threes_of(body));"
        "DROP TABLE unsettled, ended; ALTER TABLE asks DROP COLUMN rev;"
        "CREATE INDEX asks_unsettled ON asks (number); CREATE INDEX asks_undelivered ON asks "
        "(state);"
        "CREATE INDEX asks_open_call ON asks (digest); CREATE INDEX asks_open_key ON asks (flags);"
        "CREATE INDEX asks_ended ON asks (ended_ms); ALTER TABLE tokens DROP COLUMN used_ms; ALTER "
        "TABLE tokens DROP "
        "COLUMN browser;"
        "INSERT INTO tokens VALUES ('\\x07', 'tab', 'owner', 'old', 0, 0, 5, 6, 0);"
        "INSERT INTO asks (number, id, principal, digest, state, interface, flags, version,"
        " form_version, created_ms, deadline_ms, original_ms, hold_used_ms,"
        " deliver_after_ms, delivered_ms, decided_ms, ended_ms, seq, earlier_seq,"
        " answer_seq) VALUES (1, 'kept', '', '', 2, 1, 0, 1, 1, 5, 0, 0, 0, 0, 0, 0, 0, 1,"
        " 0, 0)");
    make_done(place, "public");
    assert_int_equal(postgres_number(place->url, "SELECT version FROM sayso"),
                     postgres_schema_version());
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM tokens WHERE used_ms = 0"
                                                 " AND browser IS NULL AND expires_ms = 6"),
                     1);
    assert_int_equal(postgres_number(place->url, "SELECT number FROM unsettled WHERE nth = 0"), 1);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM sayso_beat(7, 9)"), 0);
    postgres_run(place->url, "UPDATE hubs SET since_ms = 0");
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM sayso_beat(7, 9) AS id"
                                                 " WHERE id = 'kept'"),
                     1);
}

static void hubs_of_earlier_ones_go_first(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(place->url, "UPDATE sayso SET version = 4; SELECT sayso_beat(77, 0)");
    assert_refused(place, "public", "stop all hubs");
    assert_refused(place, "public", "hubs 77");
    assert_int_equal(postgres_number(place->url, "SELECT version FROM sayso"), 4);
}

/* Several hubs start at the same time: one makes the schema, the others find it. */
static void many_at_once(void **state)
{
    enum { MANY = 6 };
    struct place *place = *state;
    PGconn *connections[MANY];
    PGresult *result;

    if (!place)
        skip();
    for (int i = 0; i < MANY; i++)
        connections[i] = connect_with(place, "public");
    for (int i = 0; i < MANY; i++)
        assert_true(PQsendQuery(connections[i], place->script.bytes));
    for (int i = 0; i < MANY; i++) {
        while ((result = PQgetResult(connections[i]))) {
            if (PQresultStatus(result) != PGRES_COMMAND_OK)
                fail_msg("%s", PQresultErrorMessage(result));
            PQclear(result);
        }
        PQfinish(connections[i]);
    }
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM counter"), 1);
}

static void newer_ones_are_left_alone(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(place->url, "UPDATE sayso SET version = 1000, functions = 'theirs'");
    assert_refused(place, "public", "later sayso");
    assert_int_equal(postgres_number(place->url, "SELECT version FROM sayso"), 1000);
}

static void foreign_ones_are_left_alone(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    postgres_run(place->url, "CREATE TABLE invoices (number bigint)");
    assert_refused(place, "public", "separate database");
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM pg_class"
                                                 " WHERE relname IN ('sayso', 'asks')"),
                     0);
    /* In a schema of its own there is room for it. */
    postgres_run(place->url, "CREATE SCHEMA sayso");
    make_done(place, "sayso");
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM sayso.asks"), 0);
}

static void damaged_ones_are_left_alone(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(place->url, "DROP TABLE counter");
    assert_refused(place, "public", "backup");
    postgres_run(place->url, "DELETE FROM sayso");
    assert_refused(place, "public", "backup");
}

static void a_schema_must_be_there(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    assert_refused(place, "nowhere", "create it");
}

static void other_encodings_are_refused(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    postgres_drop(place->url);
    postgres_create_with(place->url, "ENCODING 'SQL_ASCII' LC_COLLATE 'C'"
                                     " LC_CTYPE 'C'");
    assert_refused(place, "public", "UTF8");
}

/* A name of any kind; two schemas of one database know nothing of each other. */
static void schemas_are_apart(void **state)
{
    static const char odd[] = "\"Odd \"\"one\"\"; $sayso$\"";
    struct place *place = *state;

    if (!place)
        skip();
    postgres_run(place->url, "CREATE SCHEMA \"Odd \"\"one\"\"; $sayso$\"; CREATE SCHEMA plain");
    make_done(place, odd);
    make_done(place, "plain, public");
    postgres_run(place->url, "SET search_path = plain; SELECT sayso_begin(1);"
                             " SELECT sayso_meta('a', 'b'); SELECT sayso_end('1')");
    assert_int_equal(postgres_number(place->url, "SELECT misc FROM plain.counter"), 1);
    assert_int_equal(postgres_number(place->url, "SELECT misc FROM \"Odd \"\"one\"\"; $sayso$\""
                                                 ".counter"),
                     0);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM pg_class WHERE"
                                                 " relname = 'counter'"),
                     2);
}

/* Another schema's tables and functions with our names, first on the search path, are not used. */
static void others_cannot_get_between(void **state)
{
    struct place *place = *state;

    if (!place)
        skip();
    make_done(place, "public");
    postgres_run(place->url,
                 "CREATE SCHEMA evil;"
                 "CREATE TABLE evil.counter AS SELECT * FROM public.counter;"
                 "CREATE TABLE evil.meta AS SELECT * FROM public.meta;"
                 "CREATE TABLE evil.batches AS SELECT * FROM public.batches;"
                 "CREATE FUNCTION evil.sayso_touched() RETURNS void LANGUAGE sql AS"
                 " 'DELETE FROM public.meta';"
                 "CREATE FUNCTION evil.sayso_said(text, bigint) RETURNS text LANGUAGE sql AS"
                 " 'SELECT NULL::text'");
    postgres_run(place->url, "SET search_path = evil, public; SELECT sayso_begin(1);"
                             " SELECT sayso_meta('a', 'b'); SELECT sayso_end('1')");
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM public.meta"), 2);
    assert_int_equal(postgres_number(place->url, "SELECT misc FROM public.counter"), 1);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM public.batches"
                                                 " WHERE outcomes = 'D0 '"),
                     1);
    assert_int_equal(postgres_number(place->url, "SELECT count(*) FROM evil.batches"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(is_made_once),
        CASE(functions_are_made_anew),
        CASE(older_ones_are_brought_up_to_date),
        CASE(hubs_of_earlier_ones_go_first),
        CASE(many_at_once),
        CASE(newer_ones_are_left_alone),
        CASE(foreign_ones_are_left_alone),
        CASE(damaged_ones_are_left_alone),
        CASE(a_schema_must_be_there),
        CASE(other_encodings_are_refused),
        CASE(schemas_are_apart),
        CASE(others_cannot_get_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
