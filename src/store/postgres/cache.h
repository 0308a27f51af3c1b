/*
 * cache.h - the small tables that are wanted without a wait, in memory: settings, tokens, rules,
 * keys and meta. One statement reads them all, so they fit each other and counter.misc, which every
 * write to one of them raises, whichever hub's it is.
 */
#ifndef STORE_POSTGRES_CACHE_H
#define STORE_POSTGRES_CACHE_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/postgres/libpq.h"
#include "store/reads.h"
#include "store/store.h"

struct cache;
struct write;
struct pool;

/* `has_changed`: what is there now is not what was there before, a hub's own writes apart. */
typedef void cache_done(void *context, bool has_changed, const struct error *err);

struct cache *cache_new(void);
void cache_free(struct cache *cache); /* once no load is under way; NULL is fine */

/* For a caller that reads by a connection of its own: the statement, which has no parameters, and
 * its result. True: something changed. */
extern const struct sql cache_sql;
bool cache_take(struct cache *cache, const PGresult *result);
/* `done` runs later, exactly once. One at a time. */
void cache_load(struct cache *cache, struct pool *pool, cache_done *done, void *context);
/* A write of our own, done: before its completion runs. Jobs of other kinds, and such as did not
 * get through, change nothing. */
void cache_apply(struct cache *cache, const struct write *write);
/* Hands on what of it a read asks for; false: that is in the database. The first of `values`, where
 * there is one, is what the first column must be. */
bool cache_read(const struct cache *cache, enum read_statement which,
                const struct column_value *values, const struct reading *reading);
int64_t cache_misc(const struct cache *cache); /* counter.misc of what was read last */

#endif
