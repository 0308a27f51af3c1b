/*
 * postgres_fixture.h - databases of a real PostgreSQL server for tests, one a place.
 * The server is that of SAYSO_TEST_POSTGRES: the URL of a role that may create databases, on a
 * private socket. tools/run_tests starts it; by hand: `tests/integration/postgres.py COMMAND …`.
 * To be included behind cmocka's four headers.
 */
#ifndef TESTS_POSTGRES_FIXTURE_H
#define TESTS_POSTGRES_FIXTURE_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#define POSTGRES_URL_BYTES 512

/* False: there is no server, so a test skips itself. */
bool postgres_is_there(void);

/* An empty database of its own; its URL. */
void postgres_create(char out_url[POSTGRES_URL_BYTES]);
/* The same with more behind CREATE DATABASE. */
void postgres_create_with(char out_url[POSTGRES_URL_BYTES], const char *options);
/* Connections that are still open are ended. */
void postgres_drop(const char *url);
/* Empties it, which is quicker than creating another; no transaction may be open there. */
void postgres_clear(const char *url);

/* Statements without values; the test fails if one is refused. */
void postgres_run(const char *url, const char *text);
/* The first column of the first row; the test fails without one. */
int64_t postgres_number(const char *url, const char *text);
/* The same as text, "" for NULL; the caller frees it. */
char *postgres_text(const char *url, const char *text);
/* Ends every connection to the database but our own, as a broken network would. */
void postgres_cut(const char *url);

#endif
