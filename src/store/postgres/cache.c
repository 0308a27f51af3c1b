/*
 * cache.c - see cache.h. All tables are one list, sorted: by table, then as their lists come.
 * A load that was under way while a write of our own went in may not know it yet: it is read again.
 */
#include "store/postgres/cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/job.h"
#include "store/postgres/pool.h"
#include "store/postgres/result.h"

enum part { PART_COUNTER, PART_SETTING, PART_TOKEN, PART_RULE, PART_KEY, PART_META };
enum { BYTES = 32 };

/*
 * A row of any of them. What it is sorted and known by are `at`, `name` and `second`, and a token's
 * bytes:
 *   setting: person, name; value            token: created_ms, hash; expires_ms, kind, label
 *   rule: created_ms, id; kind as bytes, expires_ms, facts, answer, actor
 *   key: id; created_ms as `until`, secret, purpose          meta: name; value
 */
struct entry {
    enum part part;
    int64_t at, until;
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

/* The columns are those of read_entry. */
#define ROWS(part, at, until, bytes, flags, texts)                                                 \
    "SELECT " part ", " at ", " until ", " bytes ", " flags ", " texts " FROM "
const struct sql cache_sql = {
    "cache", ROWS("0", "misc", "0", "NULL::bytea", "0, 0",
                  "NULL, NULL, NULL, NULL, NULL") "counter"
                                                  " UNION ALL " ROWS("1", "0", "0", "NULL", "0, 0",
                                                                     "person, name, value, NULL, "
                                                                     "NULL") "settings"
                                                                             " UNION ALL " ROWS(
                                                                                 "2", "created_ms",
                                                                                 "expires_ms",
                                                                                 "hash",
                                                                                 "sub_agent, "
                                                                                 "may_answer",
                                                                                 "NULL, NULL, "
                                                                                 "kind, label, "
                                                                                 "NULL") "tokens "
                                                                                         "WHERE "
                                                                                         "revoked_"
                                                                                         "ms = 0 "
                                                                                         "AND "
                                                                                         "length("
                                                                                         "hash) = "
                                                                                         "32"
                                                                                         " UNION "
                                                                                         "ALL"
                                                                                         " " ROWS(
                                                                                             "3",
                                                                                             "creat"
                                                                                             "ed_"
                                                                                             "ms",
                                                                                             "expir"
                                                                                             "es_"
                                                                                             "ms",
                                                                                             "kind",
                                                                                             "0, 0",
                                                                                             "id, "
                                                                                             "NULL,"
                                                                                             " fact"
                                                                                             "s, "
                                                                                             "answe"
                                                                                             "r, "
                                                                                             "acto"
                                                                                             "r") "rules WHERE revoked_ms = 0 AND length(kind) = 32"
                                                                                                  " UNION ALL " ROWS(
                                                                                                      "4",
                                                                                                      "id",
                                                                                                      "created_ms",
                                                                                                      "secret",
                                                                                                      "0, 0",
                                                                                                      "NULL, NULL, purpose, NULL, NULL") "keys WHERE length(secret) = 32"
                                                                                                                                         " UNION ALL " ROWS(
                                                                                                                                             "5",
                                                                                                                                             "0",
                                                                                                                                             "0",
                                                                                                                                             "NULL",
                                                                                                                                             "0, 0",
                                                                                                                                             "name, NULL, value, NULL, NULL") "meta"
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
    };

    result_bytes(result, row, 3, entry.bytes, sizeof entry.bytes);
    for (int i = 0; i < 3; i++)
        entry.texts[i] = result_text(result, row, 8 + i);
    return entry;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Zero: the same thing, though it may have another value. */
static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = compare_numbers((int64_t)a->part, (int64_t)b->part);

    if (order == 0)
        order = compare_numbers(a->at, b->at);
    if (order == 0)
        order = compare_texts(a->name, b->name);
    if (order == 0)
        order = compare_texts(a->second, b->second);
    if (order == 0 && a->part == PART_TOKEN)
        order = memcmp(a->bytes, b->bytes, BYTES);
    return order;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    bool same = compare(a, b) == 0 && a->until == b->until &&
                memcmp(a->bytes, b->bytes, BYTES) == 0 && a->is_sub_agent == b->is_sub_agent &&
                a->may_answer == b->may_answer;

    for (size_t i = 0; same && i < ARRAY_LEN(a->texts); i++)
        same = compare_texts(a->texts[i], b->texts[i]) == 0;
    return same;
}

static void entry_release(struct entry *entry)
{
    free((char *)entry->name);
    free((char *)entry->second);
    for (size_t i = 0; i < ARRAY_LEN(entry->texts); i++)
        free((char *)entry->texts[i]);
    explicit_bzero(entry, sizeof *entry); /* of a key it is the secret */
}

static struct entry entry_copy(const struct entry *borrowed)
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
        entry_release(&entries[i]);
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
            entries[count++] = entry_copy(&entry);
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

/* Own writes ------------------------------------------------------------------------------------
 */

static void remove_at(struct cache *cache, size_t place)
{
    entry_release(&cache->entries[place]);
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
    cache->entries[place] = entry_copy(borrowed);
    cache->count++;
}

static bool is_setting(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_SETTING && compare_texts(entry->name, job->of.setting.person) == 0 &&
           compare_texts(entry->second, job->of.setting.name) == 0;
}

static bool is_token(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_TOKEN && memcmp(entry->bytes, job->of.revoke.hash, BYTES) == 0;
}

static bool is_rule(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_RULE && compare_texts(entry->name, job->of.rule.id) == 0;
}

static void drop(struct cache *cache, const struct job *job,
                 bool (*is_it)(const struct entry *entry, const struct job *job))
{
    for (size_t i = cache->count; i-- > 0;) {
        if (is_it(&cache->entries[i], job))
            remove_at(cache, i);
    }
}

static void put_setting(struct cache *cache, const struct job *job)
{
    const struct job_setting *setting = &job->of.setting;

    if (!setting->value)
        drop(cache, job, is_setting);
    else
        put(cache, &(struct entry){ .part = PART_SETTING,
                                    .name = setting->person,
                                    .second = setting->name,
                                    .texts = { setting->value } });
}

static void put_token(struct cache *cache, const struct job *job)
{
    const struct store_token *token = &job->of.token;
    struct entry entry = {
        .part = PART_TOKEN,
        .at = token->created_ms,
        .until = token->expires_ms,
        .is_sub_agent = token->is_sub_agent,
        .may_answer = token->may_answer,
        .texts = { token->kind, token->label },
    };

    memcpy(entry.bytes, token->hash, BYTES);
    put(cache, &entry);
}

static void put_rule(struct cache *cache, const struct job *job)
{
    const struct store_rule *rule = &job->of.rule;
    struct entry entry = {
        .part = PART_RULE,
        .at = rule->created_ms,
        .until = rule->expires_ms,
        .name = rule->id,
        .texts = { rule->facts_json, rule->answer_json, rule->actor_json },
    };

    memcpy(entry.bytes, rule->kind, BYTES);
    put(cache, &entry);
}

static void put_key(struct cache *cache, const struct job *job)
{
    const struct store_key *key = &job->of.key;
    struct entry entry = {
        .part = PART_KEY,
        .at = job->reply.seq,
        .until = key->created_ms,
        .texts = { key->purpose },
    };

    memcpy(entry.bytes, key->secret, BYTES);
    put(cache, &entry);
    explicit_bzero(&entry, sizeof entry);
}

static void put_meta(struct cache *cache, const struct job *job)
{
    put(cache, &(struct entry){
                   .part = PART_META, .name = job->of.meta.name, .texts = { job->of.meta.value } });
}

static void drop_token(struct cache *cache, const struct job *job)
{
    drop(cache, job, is_token);
}

static void drop_rule(struct cache *cache, const struct job *job)
{
    drop(cache, job, is_rule);
}

void cache_apply(struct cache *cache, const struct job *job)
{
    static void (*const applies[JOB_KINDS])(struct cache * cache, const struct job *job) = {
        [JOB_SETTING] = put_setting, [JOB_TOKEN] = put_token,       [JOB_REVOKE] = drop_token,
        [JOB_RULE] = put_rule,       [JOB_RULE_REVOKE] = drop_rule, [JOB_KEY] = put_key,
        [JOB_META] = put_meta,
    };

    if (!applies[job->what] || job->reply.outcome != STORE_DONE)
        return;
    applies[job->what](cache, job);
    cache->is_overtaken = true;
}

/* Lists -----------------------------------------------------------------------------------------
 */

void cache_list_settings(const struct cache *cache, const char *person, store_pair *each,
                         void *context)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];

        if (entry->part == PART_SETTING && compare_texts(entry->name, person) == 0)
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
        if (entry->part == PART_KEY && compare_texts(purpose, key.purpose) == 0)
            each(context, &key);
    }
}

const char *cache_meta(const struct cache *cache, const char *name)
{
    for (size_t i = 0; i < cache->count; i++) {
        const struct entry *entry = &cache->entries[i];

        if (entry->part == PART_META && compare_texts(entry->name, name) == 0)
            return entry->texts[0] ? entry->texts[0] : "";
    }
    return "";
}
