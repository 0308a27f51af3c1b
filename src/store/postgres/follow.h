/* follow.h - what other hubs wrote, how news of it arrives, and this hub's heartbeat. */
#ifndef STORE_POSTGRES_FOLLOW_H
#define STORE_POSTGRES_FOLLOW_H
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/postgres/libpq.h"

struct address;
struct heartbeat;
struct cache;
struct follow;
struct pg_listener;
struct loop;
struct pool;
struct store_news;

/* What other hubs did to the database that we share, told as store_news; and the database's clock,
 * which is looked at on the way. */

/* `hub` is what our own writes are known by. All are borrowed. */
struct follow *follow_new(struct pool *pool, struct cache *cache, int64_t hub);
void follow_free(struct follow *follow); /* once the pool is closed; NULL is fine */

/* Where we begin: the statement, which takes no parameters, and its result. What is read from the
 * database later knows this much or more, so nothing falls in between. */
extern const struct sql follow_start_sql;
void follow_start(struct follow *follow, const PGresult *result);
/* From now on; what happened since the start is told too. */
void follow_tell(struct follow *follow, const struct store_news *news, void *context);

/* Looks now; while a look is under way, once more after it. For whenever a hub says that there is
 * something, a connection is there again, and now and then. */
void follow_look(struct follow *follow);

/* Of the newest event that we know of; a write of our own is one. */
int64_t follow_last_seq(const struct follow *follow);
void follow_wrote(struct follow *follow, int64_t seq);

int64_t follow_utc_ms(const struct follow *follow); /* the database's clock, as far as we know */

/* The connection that hears of what others wrote (LISTEN sayso). What it hears is a hint and may
 * be missed; the truth is read. It says a word to itself through another connection: who does not
 * hear that within two seconds sits behind a pooler, and is deaf until it tries again. */

struct pg_listener_parts {
    struct loop *loop;
    struct address *address; /* borrowed */
    struct pool *pool;       /* borrowed; closed before the listener is */
    /* Another hub wrote, or may have while we did not listen. */
    void (*on_news)(void *context);
    /* It is a session of our own that said it: no news. May be NULL. */
    bool (*is_own)(void *context, int pid);
    void *context;
};
struct pg_listener *pg_listener_open(const struct pg_listener_parts *parts);
void pg_listener_close(struct pg_listener *listener);            /* NULL is fine */
bool pg_listener_is_hearing(const struct pg_listener *listener); /* it heard itself */

/* Says every few seconds that this hub is there, and hears of asks whose agents wait at one that
 * is not there any more (sql/hubs.sql). */

/* From now on. All are borrowed. */
struct heartbeat *heartbeat_new(struct loop *loop, struct pool *pool, int64_t hub);
void heartbeat_tell(struct heartbeat *heartbeat, const struct store_news *news, void *context);
/* Says good-bye, so that no other hub has to wait until we are missed; no more beats. Asks that
 * agents wait for here are marked, a part at a time; how far that has come is a number that grows.
 */
void heartbeat_leave(struct heartbeat *heartbeat);
int64_t heartbeat_left_number(const struct heartbeat *heartbeat);
bool heartbeat_has_left(void *heartbeat);         /* it was said, or can't be */
void heartbeat_free(struct heartbeat *heartbeat); /* once the pool is stopped; NULL is fine */

#endif
