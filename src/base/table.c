#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"

enum { TABLE_FIRST_BUCKETS = 16 };

__extension__ typedef unsigned __int128 wide_integer;

/* Clients don't know these: one that chooses keys can't choose where they fall. */
static const uint64_t *secrets(void)
{
    static uint64_t values[2];

    while (values[0] == 0 || values[1] == 0)
        random_bytes(values, sizeof values);
    return values;
}

/* Both halves of the product, so that every bit of what goes in moves those of what comes out. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    wide_integer product = (wide_integer)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time. */
static uint64_t hash_of(const void *key, size_t bytes)
{
    const uint64_t *secret = secrets();
    const char *at = key;
    uint64_t hash = secret[0] ^ bytes, part = 0;

    for (; bytes >= sizeof part; at += sizeof part, bytes -= sizeof part) {
        memcpy(&part, at, sizeof part);
        hash = mix(hash ^ part, secret[1]);
    }
    part = 0;
    memcpy(&part, at, bytes);
    return mix(hash ^ part, secret[1] ^ secret[0]);
}

static const void *key_of(const struct table *table, const struct table_link *link)
{
    return (const char *)link + table->link_to_key;
}

static struct table_link **bucket_of(const struct table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

void table_release(struct table *table)
{
    free(table->buckets);
    table->buckets = NULL;
    table->bucket_count = table->count = 0;
}

static void grow(struct table *table)
{
    struct table_link **old = table->buckets;
    size_t old_count = table->bucket_count;

    table->bucket_count = old_count ? old_count * 2 : TABLE_FIRST_BUCKETS;
    table->buckets = mem_new(table->bucket_count * sizeof *table->buckets);
    for (size_t i = 0; i < old_count; i++) {
        for (struct table_link *link = old[i], *next; link; link = next) {
            struct table_link **bucket = bucket_of(table, link->hash);

            next = link->next;
            link->next = *bucket;
            *bucket = link;
        }
    }
    free(old);
}

void table_insert(struct table *table, struct table_link *link)
{
    struct table_link **bucket;

    if (table->count >= table->bucket_count)
        grow(table);
    link->hash = hash_of(key_of(table, link), table->key_bytes);
    bucket = bucket_of(table, link->hash);
    link->next = *bucket;
    *bucket = link;
    table->count++;
}

void table_remove(struct table *table, struct table_link *link)
{
    struct table_link **at = bucket_of(table, link->hash);

    while (*at && *at != link)
        at = &(*at)->next;
    if (!*at)
        abort(); /* removing twice would corrupt the count in silence */
    *at = link->next;
    table->count--;
}

static struct table_link *search(const struct table *table, struct table_link *from, uint64_t hash,
                                 const void *key)
{
    for (struct table_link *link = from; link; link = link->next) {
        if (link->hash == hash && memcmp(key_of(table, link), key, table->key_bytes) == 0)
            return link;
    }
    return NULL;
}

struct table_link *table_find(const struct table *table, const void *key)
{
    uint64_t hash;

    if (!table->count)
        return NULL;
    hash = hash_of(key, table->key_bytes);
    return search(table, *bucket_of(table, hash), hash, key);
}

struct table_link *table_find_next(const struct table *table, const struct table_link *after)
{
    return search(table, after->next, after->hash, key_of(table, after));
}

struct table_link *table_each(const struct table *table, const struct table_link *after)
{
    size_t bucket = 0;

    if (after && after->next)
        return after->next;
    if (after)
        bucket = (after->hash & (table->bucket_count - 1)) + 1;
    for (; bucket < table->bucket_count; bucket++) {
        if (table->buckets[bucket])
            return table->buckets[bucket];
    }
    return NULL;
}
