/* cache_inside.h - what cache.c and cache_own.c share. */
#ifndef STORE_POSTGRES_CACHE_INSIDE_H
#define STORE_POSTGRES_CACHE_INSIDE_H
#include <stddef.h>

#include "store/postgres/cache.h"

enum part { PART_COUNTER, PART_SETTING, PART_TOKEN, PART_RULE, PART_KEY, PART_META };
enum { BYTES = 32 };

/*
 * A row of any of them. What it is sorted and known by are `at`, `name` and `second`, and a token's
 * bytes:
 *   setting: person, name; value            token: created_ms, hash; expires_ms, kind, label,
 *   browser, used_ms
 *   rule: created_ms, id; kind as bytes, expires_ms, facts, answer, actor
 *   key: id; created_ms as `until`, secret, purpose          meta: name; value
 */
struct entry {
    enum part part;
    int64_t at, until, used;
    uint8_t bytes[BYTES];
    bool is_sub_agent, may_answer;
    const char *name, *second, *texts[3]; /* owned */
};

struct cache {
    struct entry *entries;
    size_t count, room;
    int64_t misc;
    /* The load under way, where `done` is set. */
    struct pool *pool;
    cache_done *done;
    void *context;
    bool is_overtaken; /* by a write of our own */
};

int cache_compare_texts(const char *a, const char *b); /* NULL is as "" */
/* Zero: the same thing, though it may have another value. For qsort too. */
int cache_compare(const void *left, const void *right);
struct entry cache_entry_copy(const struct entry *borrowed);
void cache_entry_release(struct entry *entry);

#endif
