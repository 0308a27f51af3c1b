/*
 * beat.h - says every few seconds that this hub is there, and hears of asks whose agents wait at
 * one that is not there any more (sql/hubs.sql).
 */
#ifndef STORE_POSTGRES_BEAT_H
#define STORE_POSTGRES_BEAT_H
#include <stdbool.h>
#include <stdint.h>

struct beat;
struct loop;
struct pool;
struct store_news;
struct text;

/* Is to be run before anything is written as this hub. */
void beat_write_first(int64_t hub, struct text *out);

/* From now on. All are borrowed. */
struct beat *beat_new(struct loop *loop, struct pool *pool, int64_t hub);
void beat_tell(struct beat *beat, const struct store_news *news, void *context);
/* Says good-bye, so that no other hub has to wait until we are missed; no more beats. Asks that
 * agents wait for here are marked, a part at a time; how far that has come is a number that grows.
 */
void beat_leave(struct beat *beat);
int64_t beat_left_number(const struct beat *beat);
bool beat_has_left(void *beat);    /* it was said, or can't be */
void beat_free(struct beat *beat); /* once the pool is stopped; NULL is fine */

#endif
