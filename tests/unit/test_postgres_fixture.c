/*
 * test_postgres_fixture.c - the stage of every test on PostgreSQL: databases are apart, are emptied
 * and go; connections are cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postgres_fixture.h"

static void databases_are_apart_and_go(void **state)
{
    char one[POSTGRES_URL_BYTES], two[POSTGRES_URL_BYTES];

    (void)state;
    if (!postgres_is_there())
        skip();
    postgres_create(one);
    postgres_create(two);
    postgres_run(one, "CREATE TABLE kept (number bigint); INSERT INTO kept VALUES (7)");
    assert_int_equal(postgres_number(one, "SELECT number FROM kept"), 7);
    assert_int_equal(postgres_number(two, "SELECT count(*) FROM pg_class WHERE relname = 'kept'"),
                     0);
    postgres_clear(one);
    assert_int_equal(postgres_number(one, "SELECT count(*) FROM pg_class WHERE relname = 'kept'"),
                     0);
    postgres_drop(one);
    assert_int_equal(postgres_number(two, "SELECT count(*) FROM pg_database"
                                          " WHERE datname = current_database()"),
                     1);
    postgres_drop(two);
}

static void connections_are_cut(void **state)
{
    char url[POSTGRES_URL_BYTES];
    PGconn *connection;

    (void)state;
    if (!postgres_is_there())
        skip();
    postgres_create(url);
    connection = PQconnectdb(url);
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    postgres_cut(url);
    PQclear(PQexec(connection, "SELECT 1"));
    assert_int_equal(PQstatus(connection), CONNECTION_BAD);
    PQfinish(connection);
    connection = PQconnectdb(url); /* who is connected does not keep it alive */
    assert_int_equal(PQstatus(connection), CONNECTION_OK);
    postgres_drop(url);
    PQfinish(connection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(databases_are_apart_and_go),
        cmocka_unit_test(connections_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
