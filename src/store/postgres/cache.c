/*
 * cache.c - see cache.h. All tables are one list, sorted: by table, then as their lists come.
 * A load that was under way while a write of our own went in may not know it yet: it is read again.
 */
#include "store/postgres/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/postgres/cache_inside.h"
#include "store/postgres/pool.h"
#include "store/postgres/result.h"

/* Which table, `at`, `until`, bytes, two flags, `name`, `second`, three texts, `used`: read_entry.
 */
const struct sql cache_sql = {
    "cache",
    "SELECT 0, misc, 0, NULL::bytea, 0, 0, NULL, NULL, NULL, NULL, NULL, 0 FROM counter"
    " UNION ALL SELECT 1, 0, 0, NULL, 0, 0, person, name, value, NULL, NULL, 0 FROM settings"
    " UNION ALL SELECT 2, created_ms, expires_ms, hash, sub_agent, may_answer, NULL, NULL, kind,"
    " label, browser, used_ms FROM tokens WHERE revoked_ms = 0 AND length(hash) = 32"
    " UNION ALL SELECT 3, created_ms, expires_ms, kind, 0, 0, id, NULL, facts, answer, actor, 0"
    " FROM rules WHERE revoked_ms = 0 AND length(kind) = 32"
    " UNION ALL SELECT 4, id, created_ms, secret, 0, 0, NULL, NULL, purpose, NULL, NULL, 0"
    " FROM keys WHERE length(secret) = 32"
    " UNION ALL SELECT 5, 0, 0, NULL, 0, 0, name, NULL, value, NULL, NULL, 0 FROM meta"
};

static struct entry read_entry(const PGresult *result, int row)
{
    struct entry entry = {
        .part = (enum part)result_integer(result, row, 0),
        .at = result_integer(result, row, 1),
        .until = result_integer(result, row, 2),
        .is_sub_agent = result_integer(result, row, 4) != 0,
        .may_answer = result_integer(result, row, 5) != 0,
        .name = result_text(result, row, 6),
        .second = result_text(result, row, 7),
        .used = result_integer(result, row, 11),
    };

    result_bytes(result, row, 3, entry.bytes, sizeof entry.bytes);
    for (int i = 0; i < 3; i++)
        entry.texts[i] = result_text(result, row, 8 + i);
    return entry;
}

int cache_compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int cache_compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = compare_numbers((int64_t)a->part, (int64_t)b->part);

    if (order == 0)
        order = compare_numbers(a->at, b->at);
    if (order == 0)
        order = cache_compare_texts(a->name, b->name);
    if (order == 0)
        order = cache_compare_texts(a->second, b->second);
    if (order == 0 && a->part == PART_TOKEN)
        order = memcmp(a->bytes, b->bytes, BYTES);
    return order;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    bool same = cache_compare(a, b) == 0 && a->until == b->until && a->used == b->used &&
                memcmp(a->bytes, b->bytes, BYTES) == 0 && a->is_sub_agent == b->is_sub_agent &&
                a->may_answer == b->may_answer;

    for (size_t i = 0; same && i < ARRAY_LEN(a->texts); i++)
        same = cache_compare_texts(a->texts[i], b->texts[i]) == 0;
    return same;
}

void cache_entry_release(struct entry *entry)
{
    free((char *)entry->name);
    free((char *)entry->second);
    for (size_t i = 0; i < ARRAY_LEN(entry->texts); i++)
        free((char *)entry->texts[i]);
    explicit_bzero(entry, sizeof *entry); /* of a key it is the secret */
}

struct entry cache_entry_copy(const struct entry *borrowed)
{
    struct entry entry = *borrowed;

    entry.name = mem_text(borrowed->name);
    entry.second = mem_text(borrowed->second);
    for (size_t i = 0; i < ARRAY_LEN(entry.texts); i++)
        entry.texts[i] = mem_text(borrowed->texts[i]);
    return entry;
}

static void release_entries(struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cache_entry_release(&entries[i]);
    free(entries);
}

struct cache *cache_new(void)
{
    return mem_new(sizeof(struct cache));
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    release_entries(cache->entries, cache->count);
    free(cache);
}

int64_t cache_misc(const struct cache *cache)
{
    return cache->misc;
}

/* Loading ---------------------------------------------------------------------------------------
 */

bool cache_take(struct cache *cache, const PGresult *result)
{
    size_t room = (size_t)result_count(result), count = 0;
    struct entry *entries = mem_new((room + 1) * sizeof *entries);
    bool has_changed;

    for (size_t i = 0; i < room; i++) {
        struct entry entry = read_entry(result, (int)i);

        if (entry.part == PART_COUNTER)
            cache->misc = entry.at;
        else
            entries[count++] = cache_entry_copy(&entry);
    }
    qsort(entries, count, sizeof *entries, cache_compare);
    has_changed = count != cache->count;
    for (size_t i = 0; !has_changed && i < count; i++)
        has_changed = !is_same(&entries[i], &cache->entries[i]);
    release_entries(cache->entries, cache->count);
    cache->entries = entries;
    cache->count = count;
    cache->room = room + 1;
    return has_changed;
}

static void on_loaded(void *context, const PGresult *result, const struct error *err)
{
    struct cache *cache = context;
    cache_done *done = cache->done;
    bool has_changed;

    if (!err && cache->is_overtaken) {
        cache->is_overtaken = false;
        pool_read(cache->pool, &cache_sql, NULL, on_loaded, cache);
        return;
    }
    has_changed = !err && cache_take(cache, result);
    cache->done = NULL;
    done(cache->context, has_changed, err);
}

void cache_load(struct cache *cache, struct pool *pool, cache_done *done, void *context)
{
    cache->pool = pool;
    cache->done = done;
    cache->context = context;
    cache->is_overtaken = false;
    pool_read(pool, &cache_sql, NULL, on_loaded, cache);
}

/* Lists -----------------------------------------------------------------------------------------
 */

void cache_list_settings(const struct cache *cache, const char *person, store_pair *each,
                         void *context)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];

        if (entry->part == PART_SETTING && cache_compare_texts(entry->name, person) == 0)
            each(context, entry->second, entry->texts[0]);
    }
}

void cache_list_tokens(const struct cache *cache, store_token_each *each, void *context)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];
        struct store_token token = {
            .kind = entry->texts[0],
            .label = entry->texts[1],
            .is_sub_agent = entry->is_sub_agent,
            .may_answer = entry->may_answer,
            .created_ms = entry->at,
            .expires_ms = entry->until,
            .used_ms = entry->used,
            .browser = entry->texts[2],
        };

        memcpy(token.hash, entry->bytes, BYTES);
        if (entry->part == PART_TOKEN)
            each(context, &token);
    }
}

void cache_list_rules(const struct cache *cache, store_rule_each *each, void *context)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];
        struct store_rule rule = {
            .id = entry->name,
            .facts_json = entry->texts[0],
            .answer_json = entry->texts[1],
            .actor_json = entry->texts[2],
            .created_ms = entry->at,
            .expires_ms = entry->until,
        };

        memcpy(rule.kind, entry->bytes, BYTES);
        if (entry->part == PART_RULE)
            each(context, &rule);
    }
}

void cache_list_keys(const struct cache *cache, const char *purpose, store_key_each *each,
                     void *context)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];
        struct store_key key = {
            .id = entry->at,
            .purpose = entry->texts[0],
            .created_ms = entry->until,
        };

        memcpy(key.secret, entry->bytes, BYTES);
        if (entry->part == PART_KEY && cache_compare_texts(purpose, key.purpose) == 0)
            each(context, &key);
    }
}

const char *cache_meta(const struct cache *cache, const char *name)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];

        if (entry->part == PART_META && cache_compare_texts(entry->name, name) == 0)
            return entry->texts[0] ? entry->texts[0] : "";
    }
    return "";
}
