/*
 * read.h - what the store reads from PostgreSQL: the functions of struct store_ops (store/store.h)
 * for a store that begins with a pool. What a caller hands in is copied; what it is told comes
 * later, exactly once, also when the read fails or the pool is closed.
 */
#ifndef STORE_POSTGRES_READ_H
#define STORE_POSTGRES_READ_H
#include "store/writes.h"

struct cache;
struct pool;

struct pg_store {
    struct queued_store queued; /* first: a struct store * is one of these */
    struct pool *pool;
    struct cache *cache; /* of what is at hand: settings, tokens, rules, keys, meta */
};

static inline struct pool *pool_of(struct store *store)
{
    return ((struct pg_store *)store)->pool;
}

#define PG_FUNCTION(name) STORE_FUNCTION(pg_, name)
#define PG_MEMBER(name)   .name = pg_##name,
STORE_READS(PG_FUNCTION)
/* The member `read` of what both stores begin with. */
void pg_read(struct store *store, enum read_statement which, const struct column_value *values,
             size_t count, const struct reading *reading);

#endif
