/*
 * test_postgres_history.c - looking back in PostgreSQL: a look takes few reads, ends and goes on,
 * and nothing goes through all asks where an index could know. What is found is in
 * test_store_search.c.
 * Proves: R9.2
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
#include "core/search_text.h"
#include "store/postgres/follow.h"
#include "store/postgres/read.h"

enum { MANY = 300 };

struct finds {
    int64_t numbers[2 * MANY];
    size_t count;
    int64_t looked_to;
    int ends;
    bool has_failed;
};

static void on_found(void *context, const struct store_row *row, int64_t looked_to,
                     const struct error *err)
{
    struct finds *found = context;

    assert_int_equal(found->ends, 0);
    if (!row) {
        found->ends++;
        found->looked_to = looked_to;
        found->has_failed = err != NULL;
        return;
    }
    assert_non_null(row->ask.form_json);
    assert_true(found->count < 2 * MANY);
    found->numbers[found->count++] = row->number;
    assert_true(found->count < 2 || row->number < found->numbers[found->count - 2]);
}

/* What is asked with is gone when the rows come. */
static struct finds look(struct stage *stage, struct store_history_query query, const char *words)
{
    struct search_terms terms = { 0 };
    struct finds found = { 0 };
    struct error err;
    char *agent = mem_text(query.list.agent), *via = mem_text(query.via);

    assert_true(search_terms_read(words ? words : "", &terms, &err));
    query.search = terms.count ? &terms : NULL;
    query.list.agent = agent;
    query.via = via;
    pg_history(stage->store, &query, on_found, &found);
    search_terms_release(&terms);
    free(agent);
    free(via);
    pool_run(&stage->pool);
    assert_int_equal(found.ends, 1);
    return found;
}

static struct finds find(struct stage *stage, const char *words, const char *agent, size_t limit,
                         int64_t before)
{
    return look(stage,
                (struct store_history_query){
                    .list = { .limit = limit, .agent = agent, .before_number = before } },
                words);
}

static struct stage *stage_of(void **state)
{
    if (!*state)
        skip();
    return *state;
}

/* Many asks, of which only few hold a needle. */
static void add_hay(struct stage *stage, int count)
{
    char *text = mem_format(
        "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, form, hub)"
        " SELECT i, 'x' || i, 0, '', '{}', 0, '', '{\"title\":\"' || CASE WHEN i %% 10000 = 7"
        " THEN 'needle' ELSE 'hay ' || md5(i::text) END || '\"}', 1 FROM generate_series(1, %d) i;"
        "INSERT INTO asks (number, id, principal, digest, state, interface, flags, version,"
        " form_version, created_ms, deadline_ms, original_ms, hold_used_ms, deliver_after_ms,"
        " delivered_ms, decided_ms, ended_ms, seq, earlier_seq, answer_seq, tool, title, origin,"
        " agent) SELECT i, translate(substr(md5(i::text), 1, 26), '0189', 'wxyz'), 'p' || i %% 9,"
        " sha256(i::text::bytea), CASE i %% 500 WHEN 0 THEN 2 WHEN 1 THEN 3 ELSE 7 END, 0, 0, 1,"
        " 1, i, 0, 0, 0, 0, 0, 0, 1, i, 0, 0, 'provide_choice', 'hay', '{}', 'bot' || i %% 9"
        " FROM generate_series(1, %d) i; SELECT sayso_list_asks()",
        count, count);

    stage_run(stage, text);
    free(text);
}

static void take_up_hay(struct stage *stage)
{
    stage_run(stage,
              "INSERT INTO words SELECT f.seq, f.body, ARRAY(SELECT (ascii(c)::bigint << 42)"
              " | (ascii(d)::bigint << 21) | ascii(e) FROM (SELECT c, lead(c) OVER (ORDER BY n)"
              " AS d, lead(c, 2) OVER (ORDER BY n) AS e FROM"
              " unnest(string_to_array(f.body, NULL)) WITH ORDINALITY AS one (c, n)) AS three"
              " WHERE e IS NOT NULL) FROM (SELECT seq, (form::json ->> 'title') || E'\\n'"
              " AS body FROM events WHERE seq > (SELECT max(seq) FROM events) - 30000) AS f;"
              " UPDATE search SET next = 100000000");
}

static void looking_ends_and_goes_on(void **state)
{
    struct stage *stage = stage_of(state);
    struct finds page, all = { .count = 0 };
    int64_t before = 0;
    int pages = 0;

    add_hay(stage, 30000);
    do {
        page = find(stage, "needle", NULL, 10, before);
        assert_true(page.looked_to == 0 || page.looked_to < before || before == 0);
        for (size_t i = 0; i < page.count; i++)
            all.numbers[all.count++] = page.numbers[i];
        before = page.looked_to;
        pages++;
    } while (before);
    assert_in_range(pages, 4, 60); /* nothing is indexed: as many looks as are good for others */
    assert_int_equal(all.count, 3);
    assert_int_equal(all.numbers[0], 20007);
    assert_int_equal(all.numbers[2], 7);
    stage_run(stage, "UPDATE asks SET state = 6 WHERE number IN (7, 28999, 29000, 29001)");
    page = look(
        stage,
        (struct store_history_query){ .list = { .limit = 10, .states = 1U << STATE_DECLINED } },
        NULL);
    assert_int_equal(page.count, 3); /* none is lost where one window ends and the next begins */
    take_up_hay(stage);
    stage->pool.reads = 0;
    page = find(stage, "needle", NULL, 10, 0);
    assert_int_equal(page.looked_to, 0); /* indexed, so found without a scan */
    assert_int_equal(page.count, 3);
    assert_in_range(stage->pool.reads, 2, 4);
    page = find(stage, "dl", NULL, 10, 0); /* too short for the index: in two pages */
    assert_int_equal(page.count, 2);
    assert_in_range(page.looked_to, 9000, 10007);
    page = find(stage, "dl", NULL, 10, page.looked_to);
    assert_int_equal(page.count, 1);
    assert_int_equal(page.looked_to, 0);
}

/* What stands in all of them and is filtered as well: each page is bounded, and all are found. */
static void common_words_and_filters_end_too(void **state)
{
    struct stage *stage = stage_of(state);
    struct store_history_query query = { .list = { .limit = 100,
                                                   .states = 1U << STATE_SUBMITTED } };
    size_t count = 0;
    int pages = 0;

    add_hay(stage, 30000);
    take_up_hay(stage);
    stage_run(stage, "INSERT INTO unindexed VALUES (501), (20501);"
                     " DELETE FROM words WHERE number IN (SELECT number FROM unindexed)");
    do {
        struct finds page = look(stage, query, "hay");

        for (size_t i = 0; i < page.count; i++)
            assert_int_equal(page.numbers[i] % 500, 1);
        count += page.count;
        assert_true(page.looked_to < query.list.before_number || pages == 0);
        query.list.before_number = page.looked_to;
        pages++;
    } while (query.list.before_number);
    assert_int_equal(count, 60);
    assert_in_range(pages, 3, 20);
    query.list.before_number = 0;
    for (int at = 1; at <= 3; at++) { /* each of its reads may fail */
        stage->pool.fail_at = stage->pool.reads + at;
        assert_true(look(stage, query, "hay").has_failed);
    }
    query.list.states = 0;
    assert_int_equal(look(stage, query, "hay needle").count, 0);
    assert_int_equal(look(stage, query, "needle").count, 3);
}

/* Plans -----------------------------------------------------------------------------------------
 */

static void nothing(void *context, const struct store_row *row, const struct error *err)
{
    (void)context;
    (void)row;
    assert_null(err);
}

static void ignore(void *context, const struct store_reply *reply)
{
    (void)context;
    assert_int_not_equal(reply->outcome, STORE_FAILED);
}

static void ignore_said(void *context, const struct store_said *said, const struct error *err)
{
    (void)context;
    (void)said;
    assert_null(err);
}

/* No table is gone through, and this index is used. */
static void take_start(void *context, const PGresult *result, const struct error *err)
{
    assert_null(err);
    follow_start(context, result);
}

static void ignore_ask(void *context, const struct store_row *row)
{
    *(int *)context += row != NULL;
}

static void assert_plans(struct stage *stage, const char *of, const char *index)
{
    static const char *const scans[] = { "Seq Scan on asks", "Seq Scan on events",
                                         "Seq Scan on words", "Seq Scan on unsettled" };
    const char *plans;

    pool_run(&stage->pool);
    plans = text_string(&stage->pool.plans);
    for (size_t i = 0; i < ARRAY_LEN(scans); i++) {
        if (strstr(plans, scans[i]) || !strstr(plans, index))
            fail_msg("%s wants %s:\n%s", of, index, plans);
    }
    text_clear(&stage->pool.plans);
}

static void assert_follow_plans(struct stage *stage)
{
    static const struct store_news news = { .ask = ignore_ask };
    struct follow *follow = follow_new(stage->reads, NULL, 9);
    int told = 0;

    stage_run(stage, "UPDATE counter SET seq = 99990; UPDATE events SET ask = (SELECT id FROM asks"
                     " WHERE number = events.seq) WHERE seq > 99990");
    pool_read(stage->reads, &follow_start_sql, NULL, take_start, follow);
    pool_run(&stage->pool);
    stage_run(stage, "UPDATE counter SET seq = 100000");
    text_clear(&stage->pool.plans);
    follow_tell(follow, &news, &told);
    assert_plans(stage, "follow", "asks_id");
    assert_int_equal(told, 10);
    follow_free(follow);
}

/* Many asks; and as many that were settled since the figures about them were taken. */
static void add_much(struct stage *stage)
{
    add_hay(stage, 100000);
    take_up_hay(stage);
    stage_run(stage, "VACUUM ANALYZE");
    stage_run(stage, "INSERT INTO unsettled SELECT n, 0, 1000000 + n, false"
                     " FROM generate_series(1, 100000) n;"
                     " DELETE FROM unsettled WHERE number > 1000000");
}

static void indices_are_used(void **state)
{
    static const struct {
        const char *name, *index;
        struct store_list_query query;
    } lists[] = {
        { "newest", "asks_pkey", { .limit = 50 } },
        { "page", "asks_pkey", { .limit = 50, .before_number = 50000 } },
        { "open", "unsettled", { .which = STORE_LIST_OPEN, .limit = 50 } },
        { "ended", "asks_pkey", { .which = STORE_LIST_ENDED, .limit = 50 } },
        { "principal", "asks_", { .limit = 50, .principal = "p3" } },
        { "principal's open",
          "unsettled",
          { .which = STORE_LIST_OPEN, .limit = 50, .principal = "p3" } },
        { "agent", "asks_", { .limit = 50, .agent = "bot3" } },
        { "nobody", "asks_agent", { .limit = 50, .agent = "nobody" } },
        { "prefix", "asks_id", { .limit = 50, .id_prefix = "abc" } },
        { "prefix of many", "asks_", { .limit = 50, .id_prefix = "a" } },
    };
    static const struct {
        const char *name, *index, *words;
        struct store_history_query query;
    } looks[] = {
        { "all", "asks_pkey", NULL, { .list.limit = 50 } },
        { "by agent", "asks_", NULL, { .list = { .limit = 50, .agent = "bot3" } } },
        { "by state",
          "asks_pkey",
          NULL,
          { .list = { .limit = 50, .states = 1U << STATE_SUBMITTED } } },
        { "rare word", "words_threes", "needle", { .list.limit = 50 } },
        { "common word", "asks_pkey", "hay", { .list.limit = 50 } },
        { "two words", "words_threes", "hay abc123", { .list.limit = 50 } },
    };
    uint8_t digest[32] = { 0 };
    struct stage *stage = stage_of(state);

    add_much(stage);
    stage->pool.explains = true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        pg_list(stage->store, &lists[i].query, nothing, NULL);
        assert_plans(stage, lists[i].name, lists[i].index);
    }
    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        look(stage, looks[i].query, looks[i].words);
        assert_plans(stage, looks[i].name, looks[i].index);
    }
    pg_get(stage->store, "xxxx", 0, ignore, NULL);
    assert_plans(stage, "get", "asks_id");
    pg_list_active(stage->store, 5, nothing, NULL);
    assert_plans(stage, "live", "unsettled");
    both_list_undelivered(stage->store, "p3", 50, nothing, NULL);
    assert_plans(stage, "undelivered", "unsettled_pkey");
    both_find_undelivered(stage->store, "p3", digest, NULL, ignore, NULL);
    assert_plans(stage, "find undelivered", "unsettled_pkey");
    both_list_said(stage->store, "xxxx", ignore_said, NULL);
    assert_plans(stage, "said", "asks_id");
    assert_follow_plans(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(looking_ends_and_goes_on),
        STAGED(common_words_and_filters_end_too),
        STAGED(indices_are_used),
    };

    return cmocka_run_group_tests(tests, NULL, stage_group_tear_down);
}
