/*
 * test_postgres_follow.c - what other hubs did is told once, in order, and nothing of it is missed:
 * not what happened before we listened, nor while a read failed, nor what is too much to tell.
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
#include "base/loop.h"
#include "base/mem.h"
#include "store/postgres/cache.h"
#include "store/postgres/follow.h"
#include "store/postgres/read.h"
#include "store/store.h"

enum { ME = 9 }; /* asks of the stage are hub 1's */

struct heard {
    struct follow *follow;
    struct cache *cache;
    char news[256];
    bool looks_again; /* at the next news, as a NOTIFY in the middle of it would */
};

static void hear(struct heard *heard, const char *what)
{
    size_t used = strlen(heard->news);

    if (used < sizeof heard->news - 12)
        snprintf(heard->news + used, sizeof heard->news - used, "%s ", what);
    if (heard->looks_again)
        follow_look(heard->follow);
    heard->looks_again = false;
}

static void on_ask(void *context, const struct store_row *row)
{
    char number[24];

    assert_null(row->ask.form_json);
    assert_null(row->answer_json);
    snprintf(number, sizeof number, "%d/%d", (int)row->number, (int)row->ask.state);
    hear(context, number);
}

static void on_conversation(void *context, const char *id)
{
    hear(context, id);
}

static void on_facts(void *context)
{
    struct heard *heard = context;
    struct pg_store reads = { .cache = heard->cache };

    hear(heard, pg_meta(&reads.queued.port, "port"));
}

static void on_resync(void *context)
{
    hear(context, "resync");
}

static const struct store_news news = {
    .ask = on_ask, .conversation = on_conversation, .facts = on_facts, .resync = on_resync
};

static void take_start(void *context, const PGresult *result, const struct error *err)
{
    assert_null(err);
    follow_start(context, result);
}

static void on_loaded(void *context, bool has_changed, const struct error *err)
{
    (void)context;
    (void)has_changed;
    assert_null(err);
}

static struct heard *begin(void **state)
{
    struct stage *stage = *state;
    struct heard *heard;

    if (!stage)
        skip();
    heard = mem_new(sizeof *heard);
    heard->cache = cache_new();
    heard->follow = follow_new(stage->reads, heard->cache, ME);
    pool_read(stage->reads, &follow_start_sql, NULL, take_start, heard->follow);
    pool_run(&stage->pool);
    cache_load(heard->cache, stage->reads, on_loaded, NULL);
    pool_run(&stage->pool);
    return heard;
}

static void end(struct heard *heard)
{
    follow_free(heard->follow);
    cache_free(heard->cache);
    free(heard);
}

static void assert_news(struct stage *stage, struct heard *heard, const char *expected)
{
    pool_run(&stage->pool);
    assert_string_equal(heard->news, expected);
    heard->news[0] = '\0';
}

static void look(struct stage *stage, struct heard *heard, const char *expected)
{
    follow_look(heard->follow);
    assert_news(stage, heard, expected);
}

/* An event beside the asks' own; the counter moves along. */
static void add_event(struct stage *stage, int64_t seq, const char *ask, const char *body, int hub)
{
    char *text =
        mem_format("INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                   " VALUES (%lld, '%s', 9, '', '%s', 0, '', %d); UPDATE counter SET seq = %lld",
                   (long long)seq, ask, body, hub, (long long)seq);

    stage_run(stage, text);
    free(text);
}

static void add_ask(struct stage *stage, int64_t number, int hub)
{
    char *text = mem_format("UPDATE events SET hub = %d WHERE seq = %lld;"
                            " UPDATE counter SET seq = %lld",
                            hub, (long long)number, (long long)number);

    stage_ask(stage, &(struct staged_ask){ .number = number });
    stage_run(stage, text);
    free(text);
}

static void asks_of_others_are_told_in_order(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);
    char one[27], two[27], body[128];

    stage_id(one, 1);
    stage_id(two, 2);
    add_ask(stage, 1, 1);
    look(stage, heard, ""); /* nothing listens yet */
    assert_int_equal(follow_last_seq(heard->follow), 0);
    follow_tell(heard->follow, &news, heard);
    assert_news(stage, heard, "1/2 ");
    assert_int_equal(follow_last_seq(heard->follow), 1);
    look(stage, heard, "");
    add_ask(stage, 2, 1);
    add_ask(stage, 3, ME); /* our own */
    add_event(stage, 4, one, "{}", 1);
    add_event(stage, 5, two, "{}", 1);
    add_event(stage, 6, one, "{}", ME);
    look(stage, heard, "1/2 2/2 "); /* each once, by its newest */
    stage_run(stage, "UPDATE asks SET state = 3 WHERE number < 3");
    snprintf(body, sizeof body, "{\"at\":1,\"asks\":[\"%s\",\"%s\",\"gone\"]}", one, two);
    add_event(stage, 7, "", body, 1);
    add_event(stage, 8, "gone", "{}", 1);
    follow_look(heard->follow);
    pool_run(&stage->pool);
    assert_true(strcmp(heard->news, "1/3 2/3 ") == 0 || strcmp(heard->news, "2/3 1/3 ") == 0);
    heard->news[0] = '\0';
    follow_wrote(heard->follow, 12);
    assert_int_equal(follow_last_seq(heard->follow), 12);
    look(stage, heard, "");
    assert_int_equal(follow_last_seq(heard->follow), 12);
    end(heard);
}

static void a_look_that_fails_is_made_up_for(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);

    follow_tell(heard->follow, &news, heard);
    pool_run(&stage->pool);
    stage_run(stage, "INSERT INTO principals VALUES ('p', 'token', 0, 'x', NULL, 1);"
                     " INSERT INTO conversations (id, principal, state, body, version, created_ms,"
                     " changed_ms, stamp, hub) VALUES ('c', 'p', 'idle', '{}', 1, 1, 1, 1, 1);"
                     " INSERT INTO meta VALUES ('port', '80');"
                     " UPDATE counter SET misc = misc + 1, stamp = 1");
    add_ask(stage, 1, 1);
    stage->pool.fail_at = stage->pool.reads + 1;
    look(stage, heard, "");
    stage->pool.fail_at = stage->pool.reads + 2;
    look(stage, heard, "");
    stage->pool.fail_at = stage->pool.reads + 3;
    look(stage, heard, "1/2 ");
    stage->pool.fail_at = stage->pool.reads + 3;
    look(stage, heard, "80 ");
    stage->pool.fail_at = 0;
    look(stage, heard, "c ");
    look(stage, heard, "");
    end(heard);
}

static void conversations_and_facts_of_others_are_told(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);

    follow_tell(heard->follow, &news, heard);
    pool_run(&stage->pool);
    stage_run(stage, "INSERT INTO principals VALUES ('p', 'token', 0, 'x', NULL, 1);"
                     " INSERT INTO conversations (id, principal, state, body, version, created_ms,"
                     " changed_ms, stamp, hub) VALUES ('late', 'p', 'idle', '{}', 1, 1, 1, 3, 1),"
                     " ('own', 'p', 'idle', '{}', 1, 1, 1, 2, 9),"
                     " ('early', 'p', 'idle', '{}', 1, 1, 1, 1, 1); UPDATE counter SET stamp = 3");
    look(stage, heard, "early late ");
    stage_run(stage, "UPDATE conversations SET stamp = 4 WHERE id = 'early';"
                     " UPDATE counter SET stamp = 4, misc = misc + 1");
    look(stage, heard, "early "); /* nothing of the small tables is another */
    stage_run(stage, "INSERT INTO meta VALUES ('port', '80'); UPDATE counter SET misc = misc + 1");
    look(stage, heard, "80 ");
    stage_run(stage, "INSERT INTO conversations (id, principal, state, body, version, created_ms,"
                     " changed_ms, stamp, hub) SELECT 'n' || n, 'p', 'idle', '{}', 1, 1, 1, n, 9"
                     " FROM generate_series(5, 2010) n; UPDATE conversations SET hub = 1"
                     " WHERE stamp IN (5, 1004, 1005, 2010); UPDATE counter SET stamp = 2010");
    look(stage, heard, "n5 n1004 n1005 n2010 "); /* in pages */
    end(heard);
}

static void what_happens_meanwhile_is_looked_at_too(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);
    int reads;

    follow_tell(heard->follow, &news, heard);
    pool_run(&stage->pool);
    add_ask(stage, 1, 1);
    follow_look(heard->follow);
    assert_true(pool_step(&stage->pool)); /* the counter was read … */
    add_ask(stage, 2, 1);                 /* … before this one */
    heard->looks_again = true;
    assert_news(stage, heard, "1/2 2/2 ");
    reads = stage->pool.reads;
    for (int i = 0; i < 10; i++)
        follow_look(heard->follow);
    assert_news(stage, heard, "");
    assert_int_equal(stage->pool.reads - reads, 2); /* many wishes are one more look */
    end(heard);
}

static void too_much_is_read_again(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);

    follow_tell(heard->follow, &news, heard);
    pool_run(&stage->pool);
    add_event(stage, 3, "x", "{}", 1); /* 1 and 2 were never seen and are gone */
    look(stage, heard, "resync ");
    look(stage, heard, "");
    add_ask(stage, 4, 1);
    look(stage, heard, "4/2 ");
    stage_run(stage, "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                     " SELECT n, 'aaaaaaaaaaaaaaaaaaaaaaaaae', 9, '', '{}', 0, '', 1"
                     " FROM generate_series(5, 3000) n; UPDATE counter SET seq = 3000");
    look(stage, heard, "4/2 4/2 4/2 "); /* a page each */
    stage_run(stage, "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                     " SELECT n, 'aaaaaaaaaaaaaaaaaaaaaaaaae', 9, '', '{}', 0, '', 9"
                     " FROM generate_series(3001, 20000) n; UPDATE counter SET seq = 20000");
    look(stage, heard, ""); /* however much of our own */
    stage_run(stage, "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                     " SELECT n, 'aaaaaaaaaaaaaaaaaaaaaaaaae', 9, '', '{}', 0, '', 1"
                     " FROM generate_series(20001, 30001) n; UPDATE counter SET seq = 30001");
    look(stage, heard, "resync ");
    assert_int_equal(follow_last_seq(heard->follow), 30001);
    stage_run(stage, "INSERT INTO meta VALUES ('port', '80');" /* an older database, brought back */
                     " DELETE FROM events WHERE seq > 4; UPDATE counter SET seq = 4");
    look(stage, heard, "resync 80 ");
    assert_int_equal(follow_last_seq(heard->follow), 4);
    end(heard);
}

static void the_clock_is_the_database_s(void **state)
{
    struct stage *stage = *state;
    struct heard *heard = begin(state);

    look(stage, heard, "");
    assert_in_range(follow_utc_ms(heard->follow), loop_utc_ms() - 60000, loop_utc_ms() + 60000);
    stage_run(stage, "CREATE OR REPLACE FUNCTION sayso_now() RETURNS bigint LANGUAGE sql VOLATILE"
                     " AS $f$ SELECT 5000::bigint FROM pg_sleep(0.3) $f$");
    look(stage, heard, ""); /* another server has taken over */
    assert_in_range(follow_utc_ms(heard->follow), 4000, 300000);
    end(heard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(asks_of_others_are_told_in_order),
        STAGED(a_look_that_fails_is_made_up_for),
        STAGED(conversations_and_facts_of_others_are_told),
        STAGED(what_happens_meanwhile_is_looked_at_too),
        STAGED(too_much_is_read_again),
        STAGED(the_clock_is_the_database_s),
    };

    return cmocka_run_group_tests(tests, NULL, stage_group_tear_down);
}
