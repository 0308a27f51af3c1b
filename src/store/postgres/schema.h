/*
 * schema.h - the tables and functions in PostgreSQL, as one statement that makes them, brings them
 * up to date or finds that there is nothing to do. It is one transaction under a lock of its own,
 * so hubs that start together wait for each other, and a killed one leaves the old or the new.
 *
 * Everything is in the first schema of the connection's search_path (public, where nothing else is
 * said). Ours is known by the table `sayso`, which counts the steps behind it; who finds other
 * tables there and not that one leaves them alone.
 */
#ifndef STORE_POSTGRES_SCHEMA_H
#define STORE_POSTGRES_SCHEMA_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct address;
struct error;
struct params;
struct start;
struct text;

int postgres_schema_version(void); /* that this program writes */
/* One statement without parameters, not to be prepared: DO. A newer text may take long. */
void postgres_schema_write(struct text *out);
/* After it failed: true if the schema itself refused, and `err` says why and what helps. */
bool postgres_schema_refused(const char *sqlstate, const char *message, struct error *err);

/* The connection that is used once, before the loop runs: it finds out whether this database is
 * fit for us and brings its schema up to date. Everything here waits, and fails when the time
 * given to it is over. What it fails with names the remedy and never a password. */

/* Tries again while nothing listens there or the server is only starting. */
bool start_open(struct address *address, int64_t limit_ms, struct start **ret_start,
                struct error *err);
void start_close(struct start *start); /* NULL is fine */
/* `text` may be several statements when there are no parameters (NULL). `ret_result` NULL: it
 * is not wanted; else the caller ends it with libpq.clear. On false `err` is storage_failed with
 * what PostgreSQL said; then start_state is its SQLSTATE, "" if it said nothing. */
bool start_run(struct start *start, const char *text, const struct params *params,
               PGresult **ret_result, struct error *err);
const char *start_state(const struct start *start);
/* More time, for what may take long: a migration. */
void start_extend(struct start *start, int64_t limit_ms);
/* Makes the schema or brings it up to date; see schema.h. Ten seconds are left behind it. */
bool start_make_schema(struct start *start, struct error *err);

/* Looks at a database without changing it, whether or not hubs use it. */

struct postgres_examined {
    int version, our_version; /* of the schema; 0: no hub made it yet */
    bool is_migrating;        /* a store was not moved in completely */
    bool is_commit_kept, has_standby;
    int64_t ahead_ms; /* its clock before ours; negative: behind */
    int64_t agent_tokens, all_tokens, expired_tokens;
};
/* False: it can't be used, `err` says why and what helps. */
bool postgres_examine(const char *url, struct postgres_examined *out, struct error *err);

#endif
