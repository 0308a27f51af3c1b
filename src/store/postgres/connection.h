/*
 * connection.h - one connection to the database as a part of the loop. It connects by itself,
 * again and again where it is lost, and never waits. Always in libpq's pipeline mode: statements
 * are sent in exchanges, each ended by a Sync, and several exchanges may be under way.
 */
#ifndef STORE_POSTGRES_CONNECTION_H
#define STORE_POSTGRES_CONNECTION_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct address;
struct loop;
struct params;
struct pg_link;
struct sql;

/* None of these may close the link. */
struct pg_link_plan {
    struct loop *loop;
    struct address *address; /* borrowed */
    void (*on_ready)(void *context);
    void (*on_lost)(void *context); /* after the exchanges that were under way; may be NULL */
    void (*on_note)(void *context, const char *channel, int pid); /* may be NULL */
    void *context;
    int64_t silence_ms; /* an answer that is due for longer: the link is given up */
};
struct pg_link *pg_link_open(const struct pg_link_plan *plan);
void pg_link_close(struct pg_link *link); /* exchanges under way are forgotten; NULL is fine */
bool pg_link_is_ready(const struct pg_link *link);
/* Gives this connection up, soon, and makes another. */
void pg_link_reset(struct pg_link *link);
/* For how long there has been no connection, or one that owes an answer; 0: all is well. */
int64_t pg_link_silent_ms(const struct pg_link *link);
const char *pg_link_why(const struct pg_link *link); /* of the last failure; "" or plain words */
int64_t pg_link_connects(const struct pg_link *link);
int pg_link_pid(const struct pg_link *link); /* of the server's process; 0: not connected */

/* Either function may be NULL. */
struct pg_exchange {
    /* Of each statement in order, from 0; behind one that failed PGRES_PIPELINE_ABORTED. */
    void (*result)(void *context, int number, const PGresult *result);
    /* All is answered. `is_lost`: or the link is lost, and what became of the statements
     * without a result is unknown. */
    void (*end)(void *context, bool is_lost);
    void *context;
};
/* While it is ready: begin, some statements, end. */
void pg_link_begin(struct pg_link *link, const struct pg_exchange *exchange);
void pg_link_add(struct pg_link *link, const struct sql *sql, const struct params *params_or_null);
void pg_link_end(struct pg_link *link);
/* All three, with one statement. */
void pg_link_send(struct pg_link *link, const struct pg_exchange *exchange, const struct sql *sql,
                  const struct params *params_or_null);

#endif
