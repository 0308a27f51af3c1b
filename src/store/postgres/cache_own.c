/* cache_own.c - a hub's own writes go into what it has in memory. */
#include <string.h>

#include "base/mem.h"
#include "store/job.h"
#include "store/postgres/cache_inside.h"

static void remove_at(struct cache *cache, size_t place)
{
    cache_entry_release(&cache->entries[place]);
    cache->count--;
    memmove(&cache->entries[place], &cache->entries[place + 1],
            (cache->count - place) * sizeof *cache->entries);
}

/* In its place; what was there by the same name goes. */
static void put(struct cache *cache, const struct entry *borrowed)
{
    size_t place = 0;

    while (place < cache->count && cache_compare(&cache->entries[place], borrowed) < 0)
        place++;
    if (place < cache->count && cache_compare(&cache->entries[place], borrowed) == 0)
        remove_at(cache, place);
    if (cache->count == cache->room) {
        cache->room = cache->room * 2 + 16;
        cache->entries = mem_resize(cache->entries, cache->room * sizeof *cache->entries);
    }
    memmove(&cache->entries[place + 1], &cache->entries[place],
            (cache->count - place) * sizeof *cache->entries);
    cache->entries[place] = cache_entry_copy(borrowed);
    cache->count++;
}

static bool is_setting(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_SETTING &&
           cache_compare_texts(entry->name, job->of.setting.person) == 0 &&
           cache_compare_texts(entry->second, job->of.setting.name) == 0;
}

static bool is_token(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_TOKEN && memcmp(entry->bytes, job->of.revoke.hash, BYTES) == 0;
}

static bool is_rule(const struct entry *entry, const struct job *job)
{
    return entry->part == PART_RULE && cache_compare_texts(entry->name, job->of.rule.id) == 0;
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
        .used = token->used_ms,
        .is_sub_agent = token->is_sub_agent,
        .may_answer = token->may_answer,
        .texts = { token->kind, token->label, token->browser },
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

static void use_token(struct cache *cache, const struct job *job)
{
    for (size_t i = 0; i < cache->count; i++) {
        if (is_token(&cache->entries[i], job))
            cache->entries[i].used = job->of.revoke.now_ms;
    }
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
        [JOB_META] = put_meta,       [JOB_USE] = use_token,
    };

    if (!applies[job->what] || job->reply.outcome != STORE_DONE)
        return;
    applies[job->what](cache, job);
    cache->is_overtaken = true;
}
