/*
 * pool.h - reads from PostgreSQL on a few connections. A read whose connection is lost is sent
 * again on the next; one that has no answer after five seconds fails.
 */
#ifndef STORE_POSTGRES_POOL_H
#define STORE_POSTGRES_POOL_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/postgres/libpq.h"

struct address;
struct loop;

/* Exactly one of the two is NULL; both are borrowed. `err` is storage_failed. */
typedef void pool_done(void *context, const PGresult *result, const struct error *err);

/* What callers that read need of it: a test hands in one whose reads it runs itself. */
struct pool {
    void (*read)(struct pool *pool, const struct sql *sql, struct params *take_params,
                 pool_done *done, void *context);
};

/* `done` runs later, from the loop, never before this returns. `take_params` is empty afterwards;
 * NULL: there are none. Reads may overtake each other. */
static inline void pool_read(struct pool *pool, const struct sql *sql, struct params *take_params,
                             pool_done *done, void *context)
{
    pool->read(pool, sql, take_params, done, context);
}

/* The same with these for $1, $2 and so on. */
void pool_read_with(struct pool *pool, const struct sql *sql, const struct column_value *values,
                    size_t count, pool_done *done, void *context);

/* The rest is about those that this opens. */
struct pool *pool_open(struct loop *loop, struct address *address);
/* Connects no more; what is under way fails, and so does what is asked for from then on, whenever
 * this is called again. */
void pool_stop(struct pool *pool);
bool pool_is_empty(const struct pool *pool);    /* no one waits for a read */
void pool_free_all(struct pool *pool);          /* once stopped; NULL is fine */
bool pool_is_ready(const struct pool *pool);    /* one of its connections is there */
int64_t pool_connects(const struct pool *pool); /* how often one was made */

#endif
