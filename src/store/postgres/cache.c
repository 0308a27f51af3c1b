/*
 * cache.c - see cache.h. All tables are one list, sorted: by table, then as their lists come.
 * A load that was under way while a write of our own went in may not know it yet: it is read again.
 */
#include "store/postgres/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/writes.h"

enum part { PART_COUNTER, PART_SETTING, PART_TOKEN, PART_RULE, PART_KEY, PART_META, PARTS };

struct entry {
    enum part part;
    char *texts; /* owned: what the texts below point at */
    union {
        struct store_setting setting;
        struct store_token token;
        struct store_rule rule;
        struct store_key key;
        struct store_meta meta;
    } of;
};

/* What is sorted first by a number (0: by none) and then by names, the first of its columns. */
static const struct {
    const struct columns *columns;
    size_t by, names;
} parts[PARTS] = {
    [PART_COUNTER] = { &(const struct columns){ 0 }, 0, 0 },
    [PART_SETTING] = { &setting_columns, 0, 2 },
    [PART_TOKEN] = { &token_columns, TOKEN_CREATED, 1 },
    [PART_RULE] = { &rule_columns, RULE_CREATED, 1 },
    [PART_KEY] = { &key_columns, KEY_ID, 0 },
    [PART_META] = { &meta_columns, 0, 1 },
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

/* Which part; its texts, its bytes and its numbers, each kind in the order of its columns. */
enum { FIRST_TEXT = 1, FIRST_BYTES = 5, FIRST_NUMBER = 6 };
const struct sql cache_sql = {
    "cache",
    "SELECT 0, NULL, NULL, NULL, NULL, NULL::bytea, misc, 0, 0, 0, 0 FROM counter UNION ALL"
    " SELECT 1, person, name, value, NULL, NULL, 0, 0, 0, 0, 0 FROM settings UNION ALL"
    " SELECT 2, kind, label, browser, NULL, hash, sub_agent, may_answer, created_ms, expires_ms,"
    " used_ms FROM tokens WHERE revoked_ms = 0 AND length(hash) = 32 UNION ALL"
    " SELECT 3, id, facts, answer, actor, kind, created_ms, expires_ms, 0, 0, 0 FROM rules"
    " WHERE revoked_ms = 0 AND length(kind) = 32 UNION ALL"
    " SELECT 4, purpose, NULL, NULL, NULL, secret, created_ms, id, 0, 0, 0 FROM keys"
    " WHERE length(secret) = 32 UNION ALL"
    " SELECT 5, name, value, NULL, NULL, NULL, 0, 0, 0, 0, 0 FROM meta"
};

static struct entry read_entry(const PGresult *result, int row)
{
    struct entry entry = { .part = (enum part)result_integer(result, row, 0) };
    const struct columns *columns = parts[entry.part].columns;
    int text = FIRST_TEXT, bytes = FIRST_BYTES, number = FIRST_NUMBER;

    for (size_t i = 0; i < columns->count; i++) {
        enum column_kind kind = columns->list[i].kind;
        int *at = kind == COLUMN_TEXT ? &text : kind == COLUMN_BYTES ? &bytes : &number;

        result_column(result, row, (*at)++, &columns->list[i], &entry.of);
    }
    return entry;
}

static int compare_columns(const struct column *list, size_t count, const void *a, const void *b)
{
    int order = 0;

    for (size_t i = 0; order == 0 && i < count; i++)
        order = column_compare(&list[i], a, b);
    return order;
}

/* Zero: the same thing, though it may have another value. */
static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const struct column *list = parts[a->part].columns->list;
    size_t by = parts[a->part].by;
    int order = (int)a->part - (int)b->part;

    if (order == 0 && by)
        order = column_compare(&list[by], &a->of, &b->of);
    return order ? order : compare_columns(list, parts[a->part].names, &a->of, &b->of);
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    const struct columns *columns = parts[a->part].columns;

    return a->part == b->part &&
           compare_columns(columns->list, columns->count, &a->of, &b->of) == 0;
}

static void release_entry(struct entry *entry)
{
    free(entry->texts);
    explicit_bzero(entry, sizeof *entry); /* of a key it is the secret */
}

static struct entry copy_entry(const struct entry *borrowed)
{
    const struct columns *columns = parts[borrowed->part].columns;
    struct entry entry = *borrowed;

    entry.texts = mem_new(columns_text_bytes(columns, &entry.of) + 1);
    columns_copy_texts(columns, &entry.of, entry.texts);
    return entry;
}

static void release_entries(struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        release_entry(&entries[i]);
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

bool cache_take(struct cache *cache, const PGresult *result)
{
    size_t room = (size_t)result_count(result), count = 0;
    struct entry *entries = mem_new((room + 1) * sizeof *entries);
    bool has_changed;

    for (size_t i = 0; i < room; i++) {
        struct entry entry = read_entry(result, (int)i);

        if (entry.part == PART_COUNTER)
            cache->misc = result_integer(result, (int)i, FIRST_NUMBER);
        else
            entries[count++] = copy_entry(&entry);
    }
    qsort(entries, count, sizeof *entries, compare);
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

static void remove_at(struct cache *cache, size_t place)
{
    release_entry(&cache->entries[place]);
    cache->count--;
    memmove(&cache->entries[place], &cache->entries[place + 1],
            (cache->count - place) * sizeof *cache->entries);
}

/* In its place; what was there by the same name goes. */
static void put(struct cache *cache, const struct entry *borrowed)
{
    size_t place = 0;

    while (place < cache->count && compare(&cache->entries[place], borrowed) < 0)
        place++;
    if (place < cache->count && compare(&cache->entries[place], borrowed) == 0)
        remove_at(cache, place);
    if (cache->count == cache->room) {
        cache->room = cache->room * 2 + 16;
        cache->entries = mem_resize(cache->entries, cache->room * sizeof *cache->entries);
    }
    memmove(&cache->entries[place + 1], &cache->entries[place],
            (cache->count - place) * sizeof *cache->entries);
    cache->entries[place] = copy_entry(borrowed);
    cache->count++;
}

static bool is_named(const struct entry *entry, enum part part, const union write_values *names)
{
    return entry->part == part &&
           compare_columns(parts[part].columns->list, parts[part].names, &entry->of, names) == 0;
}

static void drop(struct cache *cache, enum part part, const union write_values *names)
{
    for (size_t i = cache->count; i-- > 0;) {
        if (is_named(&cache->entries[i], part, names))
            remove_at(cache, i);
    }
}

_Static_assert(offsetof(struct store_token, hash) == offsetof(struct store_token_use, hash),
               "a token is named the same way when it is revoked or used");
_Static_assert(offsetof(struct store_rule, id) == offsetof(struct store_rule_revoke, id),
               "and so is a rule");

static void use_token(struct cache *cache, const union write_values *used)
{
    for (size_t i = 0; i < cache->count; i++) {
        if (is_named(&cache->entries[i], PART_TOKEN, used))
            cache->entries[i].of.token.used_ms = used->token_use.now_ms;
    }
}

static void put_values(struct cache *cache, enum part part, const struct write *write)
{
    struct entry entry = { .part = part };

    memcpy(&entry.of, &write->of, parts[part].columns->size);
    if (part == PART_KEY)
        entry.of.key.id = write->reply.seq;
    put(cache, &entry);
    explicit_bzero(&entry, sizeof entry);
}

void cache_apply(struct cache *cache, const struct write *write)
{
    static const enum part parts_of[WRITE_KINDS] = {
        [WRITE_setting] = PART_SETTING,
        [WRITE_token] = PART_TOKEN,
        [WRITE_token_revoke] = PART_TOKEN,
        [WRITE_rule] = PART_RULE,
        [WRITE_key] = PART_KEY,
        [WRITE_rule_revoke] = PART_RULE,
        [WRITE_meta] = PART_META,
        [WRITE_token_use] = PART_TOKEN,
    };
    enum part part = parts_of[write->what];

    if (!part || write->reply.outcome != STORE_DONE)
        return;
    if (write->what == WRITE_token_use)
        use_token(cache, &write->of);
    else if (write->what == WRITE_token_revoke || write->what == WRITE_rule_revoke ||
             (write->what == WRITE_setting && !write->of.setting.value))
        drop(cache, part, &write->of);
    else
        put_values(cache, part, write);
    cache->is_overtaken = true;
}

bool cache_read(const struct cache *cache, enum read_statement which,
                const struct column_value *values, const struct reading *reading)
{
    static const enum part parts_of[READ_COUNT] = {
        [READ_SETTINGS] = PART_SETTING,
        [READ_TOKENS] = PART_TOKEN,
        [READ_RULES] = PART_RULE,
        [READ_KEYS] = PART_KEY,
    };
    enum part part = parts_of[which];
    const struct column *of = parts[part].columns->list;

    for (size_t i = 0; part && i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];

        if (entry->part == part &&
            (!values || strcmp(column_value(of, &entry->of).bytes, values->bytes) == 0))
            reading->rows->tell(reading, &entry->of, NULL);
    }
    return part;
}

const char *pg_meta(struct store *store, const char *name)
{
    const struct cache *cache = ((struct pg_store *)store)->cache;

    for (size_t i = 0; i < cache->count; i++) {
        const struct store_meta *meta = &cache->entries[i].of.meta;

        if (cache->entries[i].part == PART_META && strcmp(meta->name, name) == 0)
            return meta->value ? meta->value : "";
    }
    return "";
}
