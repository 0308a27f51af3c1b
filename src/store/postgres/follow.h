/*
 * follow.h - what other hubs did to the database that we share, told to whoever follows; and the
 * database's clock, which is looked at on the way.
 */
#ifndef STORE_POSTGRES_FOLLOW_H
#define STORE_POSTGRES_FOLLOW_H
#include <libpq-fe.h>
#include <stdint.h>

#include "store/postgres/sql.h"

struct cache;
struct follow;
struct pool;
struct store_news;

/* `hub` is what our own writes are known by. All are borrowed. */
struct follow *follow_new(struct pool *pool, struct cache *cache, int64_t hub);
void follow_free(struct follow *follow); /* once the pool is closed; NULL is fine */

/* Where we begin: the statement, which takes no parameters, and its result. What is read from the
 * database later knows this much or more, so nothing falls in between. */
extern const struct sql follow_start_sql;
void follow_start(struct follow *follow, const PGresult *result);
/* From now on; what happened since the start is told too. */
void follow_tell(struct follow *follow, const struct store_news *news, void *context);

/* Looks now; while a look is under way, once more behind it. For whenever somebody says that there
 * is something, a connection is there again, and now and then. */
void follow_look(struct follow *follow);

/* Of the newest event that we know of; a write of our own is one. */
int64_t follow_last_seq(const struct follow *follow);
void follow_wrote(struct follow *follow, int64_t seq);

int64_t follow_utc_ms(const struct follow *follow); /* the database's clock, as far as we know */

#endif
