/*
 * table.h - a hash table of things that carry their own link. Keys are bytes that the owner keeps
 * inside the thing; the table never copies, frees or compares more than that. Hashing is seeded
 * per process, so that no client can choose keys that collide.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H
#include <stddef.h>
#include <stdint.h>

struct table_link {
    struct table_link *next;
    uint64_t hash;
};
struct table {
    struct table_link **buckets;
    size_t bucket_count, count;
    /* distance from a link to its key's first byte, which may be before it */
    ptrdiff_t link_to_key;
    size_t key_bytes;
};

/* `thing` is a struct with members `link` and `key` (an array). */
#define TABLE_OF(thing, link_member, key_member)                                                   \
    ((struct table){ .link_to_key = (ptrdiff_t)offsetof(struct thing, key_member) -                \
                                    (ptrdiff_t)offsetof(struct thing, link_member),                \
                     .key_bytes = sizeof(((struct thing *)0)->key_member) })
#define TABLE_THING(thing, link_member, link)                                                      \
    ((struct thing *)(void *)((char *)(link)-offsetof(struct thing, link_member)))

void table_release(struct table *table); /* the things stay */
void table_insert(struct table *table, struct table_link *link);
void table_remove(struct table *table, struct table_link *link);           /* must be in it */
struct table_link *table_find(const struct table *table, const void *key); /* NULL: none */
struct table_link *table_find_next(const struct table *table, const struct table_link *after);
/* Everything, in no order: begins with NULL, ends with NULL. The one returned may be removed. */
struct table_link *table_each(const struct table *table, const struct table_link *after);

#endif
