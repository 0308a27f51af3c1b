/*
 * start.h - the connection that is used once, before the loop runs: it finds out whether this
 * database is fit for us and brings its schema up to date. Everything here waits, and fails when
 * the time given to it is over. What it fails with names the remedy and never a password.
 */
#ifndef STORE_POSTGRES_START_H
#define STORE_POSTGRES_START_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct address;
struct error;
struct params;
struct start;

/* Tries again while nobody listens there or the server is only starting. */
bool start_open(struct address *address, int64_t limit_ms, struct start **ret_start,
                struct error *err);
void start_close(struct start *start); /* NULL is fine */
/* `text` may be several statements when there are no parameters (NULL). `ret_result` NULL: nobody
 * looks at it; else the caller ends it with libpq.clear. On false `err` is storage_failed with
 * what PostgreSQL said; then start_state is its SQLSTATE, "" if it said nothing, and start_said its
 * words, plain. */
bool start_run(struct start *start, const char *text, const struct params *params,
               PGresult **ret_result, struct error *err);
const char *start_state(const struct start *start);
const char *start_said(const struct start *start);
/* More time, for what may take long: a migration. */
void start_extend(struct start *start, int64_t limit_ms);
/* Makes the schema or brings it up to date; see schema.h. Ten seconds are left behind it. */
bool start_make_schema(struct start *start, struct error *err);

#endif
