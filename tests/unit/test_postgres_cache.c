/*
 * test_postgres_cache.c - the small tables in memory: they come sorted, a hub's own writes are in
 * them before anybody is told, and no load that came too early takes them out again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres_stage.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/cache.h"
#include "store/postgres/read.h"
#include "store/writes.h"

static const uint8_t hash_a[32] = { 0xaa }, hash_b[32] = { 0xbb };

struct loaded {
    int count;
    bool has_changed, has_failed;
};

static void on_loaded(void *context, bool has_changed, const struct error *err)
{
    struct loaded *loaded = context;

    loaded->count++;
    loaded->has_changed = has_changed;
    loaded->has_failed = err != NULL;
}

static void on_pair(void *context, const char *name, const char *value)
{
    text_add_format(context, "%s=%s ", name, value);
}

static void on_token(void *context, const struct store_token *token)
{
    text_add_format(context, "%s:%s:%02x:%d%d:%d:%d ", token->kind, token->label, token->hash[0],
                    token->is_sub_agent, token->may_answer, (int)token->created_ms,
                    (int)token->expires_ms);
}

static void on_rule(void *context, const struct store_rule *rule)
{
    text_add_format(context, "%s:%02x:%s:%s:%s:%d:%d ", rule->id, rule->kind[0], rule->facts_json,
                    rule->answer_json, rule->actor_json, (int)rule->created_ms,
                    (int)rule->expires_ms);
}

static void on_key(void *context, const struct store_key *key)
{
    text_add_format(context, "%d:%s:%02x:%d ", (int)key->id, key->purpose, key->secret[0],
                    (int)key->created_ms);
}

/* All that is there, a line a table; the instance's own name left out. */
static char *look(struct cache *cache)
{
    struct pg_store reads = { .queued.read = pg_read, .cache = cache };
    struct store *store = &reads.queued.port;
    struct text out = { 0 };

    both_list_settings(store, "owner", on_pair, &out);
    text_add_char(&out, '\n');
    both_list_tokens(store, on_token, &out);
    text_add_char(&out, '\n');
    both_list_rules(store, on_rule, &out);
    text_add_char(&out, '\n');
    both_list_keys(store, "seal", on_key, &out);
    text_add_format(&out, "\n%s", pg_meta(store, "port"));
    return text_take(&out);
}

static const char *meta_of(struct cache *cache, const char *name)
{
    struct pg_store reads = { .cache = cache };

    return pg_meta(&reads.queued.port, name);
}

static void assert_look(struct cache *cache, const char *expected)
{
    char *found = look(cache);

    assert_string_equal(found, expected);
    free(found);
}

static struct loaded load(struct stage *stage, struct cache *cache)
{
    struct loaded loaded = { 0 };

    cache_load(cache, stage->reads, on_loaded, &loaded);
    assert_int_equal(loaded.count, 0);
    pool_run(&stage->pool);
    assert_int_equal(loaded.count, 1);
    return loaded;
}

static struct stage *stage_of(void **state)
{
    if (!*state)
        skip();
    return *state;
}

static const char rows[] =
    "INSERT INTO settings VALUES ('owner', 'theme', 'dark'), ('owner', 'language', 'zh'),"
    " ('guest', 'theme', 'light'), ('owner', 'Sound', '');"
    "INSERT INTO tokens VALUES (decode('bb' || repeat('00', 31), 'hex'), 'agent', NULL, 'two', 1, "
    "0,"
    " 20, 0, 0), (decode('aa' || repeat('00', 31), 'hex'), 'person', NULL, 'one', 0, 1, 10, 99, 0),"
    " (decode('cc' || repeat('00', 31), 'hex'), 'tab', NULL, 'gone', 0, 1, 5, 0, 77),"
    " ('\\x01', 'tab', NULL, 'short', 0, 1, 5, 0, 0);"
    "INSERT INTO rules VALUES ('r', decode('dd' || repeat('00', 31), 'hex'), '{\"f\":1}', '{}',"
    " '{\"via\":\"web\"}', 30, 40, 0);"
    "INSERT INTO keys VALUES (1, 'other', decode(repeat('01', 32), 'hex'), 3, 0),"
    " (2, 'seal', decode(repeat('02', 32), 'hex'), 4, 0);"
    "INSERT INTO meta VALUES ('port', '8080'); UPDATE counter SET misc = 7";
static const char shown[] = "Sound= language=zh theme=dark \n"
                            "person:one:aa:01:10:99 agent:two:bb:10:20:0 \n"
                            "r:dd:{\"f\":1}:{}:{\"via\":\"web\"}:30:40 \n2:seal:02:4 \n8080";

static void all_is_read_at_once(void **state)
{
    struct stage *stage = stage_of(state);
    struct cache *cache = cache_new();
    struct loaded loaded;

    assert_string_equal(meta_of(cache, "instance"), "");
    stage_run(stage, rows);
    loaded = load(stage, cache);
    assert_true(loaded.has_changed);
    assert_int_equal(stage->pool.reads, 1);
    assert_int_equal(cache_misc(cache), 7);
    assert_look(cache, shown);
    assert_int_equal(strlen(meta_of(cache, "instance")), 32);
    assert_string_equal(meta_of(cache, "no such"), "");
    assert_false(load(stage, cache).has_changed);
    stage_run(stage, "UPDATE tokens SET label = 'uno' WHERE label = 'one'");
    assert_true(load(stage, cache).has_changed);
    stage_run(stage, "DELETE FROM settings");
    stage->pool.fail_at = stage->pool.reads + 1;
    loaded = load(stage, cache);
    assert_true(loaded.has_failed && !loaded.has_changed); /* what was there stays */
    assert_int_equal(strncmp(meta_of(cache, "port"), "8080", 5), 0);
    cache_free(cache);
}

static struct write done(enum write_kind what)
{
    return (struct write){ .what = what, .reply = { .outcome = STORE_DONE } };
}

static void apply_some(struct cache *cache)
{
    struct write setting = done(WRITE_setting), token = done(WRITE_token), rule = done(WRITE_rule),
                 key = done(WRITE_key), meta = done(WRITE_meta);

    setting.of.setting = (struct store_setting){ "owner", "theme", "light" };
    cache_apply(cache, &setting);
    setting.of.setting = (struct store_setting){ "owner", "a", "1" };
    cache_apply(cache, &setting);
    setting.of.setting = (struct store_setting){ "owner", "language", NULL };
    cache_apply(cache, &setting);
    token.of.token = (struct store_token){ .kind = "tab", .label = "mid", .created_ms = 15 };
    cache_apply(cache, &token);
    rule.of.rule = (struct store_rule){ .id = "q",
                                        .facts_json = "{}",
                                        .answer_json = "{}",
                                        .actor_json = "{}",
                                        .created_ms = 30,
                                        .expires_ms = 41 };
    cache_apply(cache, &rule);
    key.of.key = (struct store_key){ .purpose = "seal", .created_ms = 5, .secret = { 9 } };
    key.reply.seq = 3;
    cache_apply(cache, &key);
    meta.of.meta = (struct store_meta){ "port", "9090" };
    cache_apply(cache, &meta);
}

static void own_writes_are_there_at_once(void **state)
{
    struct stage *stage = stage_of(state);
    struct cache *cache = cache_new();
    struct write revoke = done(WRITE_token_revoke), rule = done(WRITE_rule_revoke),
                 lost = done(WRITE_meta);

    stage_run(stage, rows);
    load(stage, cache);
    apply_some(cache);
    assert_look(cache, "Sound= a=1 theme=light \n"
                       "person:one:aa:01:10:99 tab:mid:00:00:15:0 agent:two:bb:10:20:0 \n"
                       "q:00:{}:{}:{}:30:41 r:dd:{\"f\":1}:{}:{\"via\":\"web\"}:30:40 \n"
                       "2:seal:02:4 3:seal:09:5 \n9090");
    memcpy(revoke.of.token_revoke.hash, hash_a, 32);
    cache_apply(cache, &revoke);
    rule.of.rule.id = "r";
    cache_apply(cache, &rule);
    memcpy(revoke.of.token_revoke.hash, hash_b, 32);
    revoke.reply.outcome = STORE_MISSING; /* did not get through: nothing changes */
    cache_apply(cache, &revoke);
    lost.of.meta = (struct store_meta){ "port", "1" };
    lost.reply.outcome = STORE_FAILED;
    cache_apply(cache, &lost);
    assert_look(cache, "Sound= a=1 theme=light \ntab:mid:00:00:15:0 agent:two:bb:10:20:0 \n"
                       "q:00:{}:{}:{}:30:41 \n2:seal:02:4 3:seal:09:5 \n9090");
    cache_free(cache);
}

static void many_own_writes_fit(void **state)
{
    struct cache *cache = cache_new();
    struct write meta = done(WRITE_meta);
    char name[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i % 500);
        meta.of.meta = (struct store_meta){ name, i < 500 ? "old" : "new" };
        cache_apply(cache, &meta);
    }
    assert_string_equal(meta_of(cache, "n0"), "new");
    assert_string_equal(meta_of(cache, "n499"), "new");
    cache_free(cache);
}

/* The load was on its way before our write was committed, and ends behind it. */
static void no_load_takes_an_own_write_out(void **state)
{
    struct stage *stage = stage_of(state);
    struct cache *cache = cache_new();
    struct loaded loaded = { 0 };
    struct write meta = done(WRITE_meta);

    stage_run(stage, rows);
    load(stage, cache);
    cache_load(cache, stage->reads, on_loaded, &loaded);
    meta.of.meta = (struct store_meta){ "port", "9090" };
    cache_apply(cache, &meta);
    assert_true(pool_step(&stage->pool)); /* knows 8080 */
    assert_int_equal(loaded.count, 0);
    assert_string_equal(meta_of(cache, "port"), "9090");
    stage_run(stage, "UPDATE meta SET value = '9090' WHERE name = 'port'");
    pool_run(&stage->pool);
    assert_int_equal(loaded.count, 1);
    assert_false(loaded.has_changed); /* an own write is no news */
    assert_string_equal(meta_of(cache, "port"), "9090");
    cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(all_is_read_at_once),
        STAGED(own_writes_are_there_at_once),
        cmocka_unit_test(many_own_writes_fit),
        STAGED(no_load_takes_an_own_write_out),
    };

    return cmocka_run_group_tests(tests, NULL, stage_group_tear_down);
}
