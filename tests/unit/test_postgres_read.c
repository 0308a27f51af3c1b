/*
 * test_postgres_read.c - reads from PostgreSQL where they differ from a file's: they end later, may
 * fail, come in pages, and see what others commit while they run. The rest is in test_store*.c.
 * Proves: R5.5
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
#include "core/limits.h"
#include "store/postgres/read.h"
#include "store/row.h"

static struct stage *stage_of(void **state)
{
    if (!*state)
        skip();
    return *state;
}

struct seen {
    int count;
    enum store_outcome outcome;
    int64_t seq;
    struct store_row *row;
    char message[480];
};

static void on_reply(void *context, const struct store_reply *reply)
{
    struct seen *seen = context;

    seen->count++;
    seen->outcome = reply->outcome;
    seen->seq = reply->seq;
    if (reply->outcome == STORE_FAILED)
        assert_int_equal(reply->err.code, ERROR_storage_failed);
    free(seen->row);
    seen->row = reply->row ? row_copy(reply->row) : NULL;
}

static void forget(struct seen *seen)
{
    assert_int_equal(seen->count, 1);
    free(seen->row);
    *seen = (struct seen){ 0 };
}

/* The text is not there any more when the answer comes. */
static struct seen get(struct stage *stage, const char *id)
{
    struct seen seen = { 0 };
    char *gone = mem_text(id);

    pg_get(stage->store, gone, 0, on_reply, &seen);
    memset(gone, 'x', strlen(gone));
    free(gone);
    assert_int_equal(seen.count, 0);
    pool_run(&stage->pool);
    return seen;
}

/* An answer is being undone at the last moment: the delivery waits for the outcome. Here it gives
 * up waiting, which shows that it did wait. */
static void an_answer_being_undone_is_waited_for(void **state)
{
    struct stage *stage = stage_of(state);
    PGconn *other = PQconnectdb(stage->url);
    struct seen seen;
    char id[27];

    stage_ask(stage, &(struct staged_ask){ .number = 1, .state = 3, .answer = "{}" });
    stage_ask(stage, &(struct staged_ask){ .number = 3, .state = 3, .answer = "{}" });
    stage_run(stage, "SET lock_timeout = '300ms'");
    stage_run(stage, "UPDATE asks SET deliver_after_ms = sayso_now() - 2000 WHERE number = 1");
    stage_run(stage, "UPDATE asks SET deliver_after_ms = sayso_now() - 60000 WHERE number = 3");
    PQclear(PQexec(other, "BEGIN; UPDATE asks SET state = 2, answer_seq = -answer_seq"));
    stage_id(id, 3);
    seen = get(stage, id);
    assert_int_equal(seen.outcome, STORE_DONE); /* decided long ago: it can't be undone */
    forget(&seen);
    stage_id(id, 1);
    seen = get(stage, id);
    assert_int_equal(seen.outcome, STORE_FAILED);
    forget(&seen);
    PQclear(PQexec(other, "COMMIT"));
    seen = get(stage, id);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    assert_null(seen.row->answer_json);
    forget(&seen);
    PQfinish(other);
}

static void what_another_commits_meanwhile_is_seen(void **state)
{
    struct stage *stage = stage_of(state);
    struct seen seen = { 0 };
    char id[27];

    stage_ask(stage, &(struct staged_ask){ .number = 1, .state = 3, .answer = "{}" });
    stage_run(stage, "UPDATE asks SET deliver_after_ms = sayso_now() - 1");
    stage_id(id, 1);
    pg_get(stage->store, id, 0, on_reply, &seen);
    assert_true(pool_step(&stage->pool));
    assert_int_equal(seen.count, 0);
    stage_run(stage, "UPDATE asks SET state = 2, answer_seq = -answer_seq");
    pool_run(&stage->pool);
    assert_int_equal(seen.row->ask.state, STATE_PENDING);
    forget(&seen);
    for (int at = 1; at <= 3; at++) { /* each of its reads may fail */
        stage_run(stage, "UPDATE asks SET state = 3, answer_seq = abs(answer_seq)");
        stage->pool.fail_at = stage->pool.reads + at;
        seen = get(stage, id);
        assert_int_equal(seen.outcome, STORE_FAILED);
        forget(&seen);
    }
}

/* Lists -----------------------------------------------------------------------------------------
 */

struct listed {
    char numbers[512];
    int count, ends;
    bool has_failed;
    int64_t last;
};

static void on_row(void *context, const struct store_row *row, const struct error *err)
{
    struct listed *listed = context;
    size_t used = strlen(listed->numbers);

    assert_int_equal(listed->ends, 0);
    if (!row) {
        listed->ends++;
        listed->has_failed = err != NULL;
        return;
    }
    assert_null(row->ask.form_json);
    assert_non_null(row->ask.title);
    listed->count++;
    listed->last = row->number;
    if (used < sizeof listed->numbers - 8)
        snprintf(listed->numbers + used, sizeof listed->numbers - used, "%d ", (int)row->number);
}

/* What is asked with is gone when the rows come. */
static void what_is_asked_with_is_copied(void **state)
{
    struct stage *stage = stage_of(state);
    struct listed listed = { 0 };
    char prefix[] = "aaaa", agent[] = "boss", principal[] = "ffffffffffffffffffffffffffffffff";
    const struct store_list_query query = {
        .limit = 50, .id_prefix = prefix, .agent = agent, .principal = principal
    };

    stage_ask(stage, &(struct staged_ask){ .number = 1, .agent = "boss", .principal = principal });
    stage_ask(stage, &(struct staged_ask){ .number = 2, .agent = "bot", .principal = principal });
    pg_list(stage->store, &query, on_row, &listed);
    memset(prefix, 'x', strlen(prefix));
    memset(agent, 'x', strlen(agent));
    memset(principal, 'x', strlen(principal));
    assert_int_equal(listed.ends, 0);
    pool_run(&stage->pool);
    assert_int_equal(listed.ends, 1);
    assert_string_equal(listed.numbers, "1 ");
}

static struct listed list_active(struct stage *stage, int64_t now_ms)
{
    struct listed listed = { 0 };

    pg_list_active(stage->store, now_ms, on_row, &listed);
    pool_run(&stage->pool);
    assert_int_equal(listed.ends, 1);
    return listed;
}

static void many_that_live_come_in_pages(void **state)
{
    struct stage *stage = stage_of(state);
    struct listed listed;

    stage_ask(stage, &(struct staged_ask){ .number = 1 });
    stage_run(stage, "UPDATE asks SET seq = 1");
    stage_run(stage, "DO $$ BEGIN FOR i IN 2..2000 LOOP"
                     " INSERT INTO asks SELECT (json_populate_record(k, json_build_object('number',"
                     " i, 'id', 'x' || i))).* FROM asks k WHERE number = 1; END LOOP;"
                     " PERFORM sayso_list_asks(); END $$");
    listed = list_active(stage, 1);
    assert_int_equal(listed.count, 2000);
    assert_int_equal(listed.last, 2000);
    assert_int_equal(stage->pool.reads, 3);
    stage->pool.fail_at = stage->pool.reads + 2;
    listed = list_active(stage, 1);
    assert_true(listed.has_failed);
    assert_int_equal(listed.count, 1000);
}

/* Beside asks -----------------------------------------------------------------------------------
 */

struct told {
    int count;
    bool is_there, has_failed;
    char text[64];
};

static void on_draft(void *context, const char *json, const struct error *err)
{
    struct told *told = context;

    told->count++;
    told->is_there = json != NULL;
    told->has_failed = err != NULL;
    snprintf(told->text, sizeof told->text, "%s", json ? json : "");
}

static void on_said(void *context, const struct store_said *said, const struct error *err)
{
    struct text *out = context;

    if (said)
        text_add_format(out, "%d %s %d, ", said->event == EVENT_ASKED_BACK, said->text,
                        (int)said->at_ms);
    else
        text_add_text(out, err ? "failed" : ".");
}

static void what_was_said_is_found_along_the_chain(void **state)
{
    struct stage *stage = stage_of(state);
    struct text out = { 0 };
    char id[27], first[32];

    stage_id(id, 1);
    stage_ask(stage, &(struct staged_ask){ .number = 1 });
    stage_run(stage,
              "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub) VALUES"
              " (2, 'x', 15, '', '{\"at\":10,\"said\":\"why \\\"so\\\"?\"}', 1, '', 1),"
              " (3, 'x', 3, '', '{\"at\":11}', 2, '', 1),"
              " (4, 'other', 15, '', '{\"at\":12,\"said\":\"not this\"}', 0, '', 1),"
              " (5, 'x', 16, '', '{\"at\":13,\"said\":\"because\"}', 3, '', 1),"
              " (6, 'x', 16, '', '{\"at\":14}', 5, '', 1), (7, 'x', 16, NULL, NULL, 6, '', 1)");
    stage_run(stage, "UPDATE asks SET seq = 7");
    both_list_said(stage->store, id, on_said, &out);
    both_list_said(stage->store, "nobody", on_said, &out);
    pool_run(&stage->pool);
    assert_string_equal(text_string(&out), "1 why \"so\"? 10, 0 because 13, ..");
    text_clear(&out);
    stage_run(stage, "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                     " SELECT n, 'x', 16, '', '{\"at\":1,\"said\":\"s' || n || '\"}', n - 1, '', 1"
                     " FROM generate_series(8, 300) n; UPDATE asks SET seq = 300");
    both_list_said(stage->store, id, on_said, &out);
    pool_run(&stage->pool);
    snprintf(first, sizeof first, "0 s%d 1, ", 301 - LIMIT_TALK);
    assert_int_equal(strncmp(text_string(&out), first, strlen(first)), 0);
    text_clear(&out);
    stage->pool.fail_at = stage->pool.reads + 1;
    both_list_said(stage->store, id, on_said, &out);
    pool_run(&stage->pool);
    assert_string_equal(text_string(&out), "failed");
    text_release(&out);
}

/* Conversations ---------------------------------------------------------------------------------
 */

struct found {
    char ids[128];
    int ends;
    bool has_failed;
};

static void on_conversation(void *context, const struct store_conversation *conversation,
                            const struct error *err)
{
    struct found *found = context;

    found->ends += !conversation;
    found->has_failed = err != NULL;
    if (conversation) {
        assert_string_equal(conversation->label, "builder");
        snprintf(found->ids + strlen(found->ids), sizeof found->ids - strlen(found->ids), "%s%s%d ",
                 conversation->id, conversation->key ? conversation->key : "",
                 (int)conversation->last_event);
    }
}

static void on_event(void *context, const struct store_conversation_event *event,
                     const struct error *err)
{
    struct found *found = context;

    found->ends += !event;
    found->has_failed = err != NULL;
    if (event)
        snprintf(found->ids + strlen(found->ids), sizeof found->ids - strlen(found->ids), "%d%s%s ",
                 (int)event->number, event->kind, event->body);
}

static void make_conversations(struct stage *stage)
{
    stage_run(stage, "INSERT INTO principals VALUES ('p', 'token', 0, 'x', NULL, 1),"
                     " ('q', 'token', 0, 'x', NULL, 1)");
    stage_run(stage, "INSERT INTO conversations (id, principal, state, body, version, created_ms,"
                     " changed_ms, label, key, last_event) VALUES"
                     " ('a', 'p', 'idle', '{}', 1, 100, 1, 'builder', 'k', 7),"
                     " ('b', 'p', 'busy', '{}', 1, 100, 1, 'builder', NULL, 0),"
                     " ('c', 'q', 'idle', '{}', 1, 50, 1, 'builder', 'k', 0),"
                     " ('d', 'p', 'idle', '{}', 1, 70, 1, 'builder', NULL, 0)");
    stage_run(stage,
              "INSERT INTO conversation_events VALUES ('a', 3, 'x', 1, '{}'),"
              " ('a', 4, 'y', 1, '{\"a\":1}'), ('a', 5, 'z', 1, '{}'), ('b', 1, 'w', 1, '')");
}

static void conversations_are_found_and_listed(void **state)
{
    static const struct {
        struct store_conversation_query query;
        const char *expected;
    } cases[] = {
        { { NULL, NULL, NULL, 10 }, "b0 ak7 d0 ck0 " },
        { { "p", NULL, NULL, 10 }, "b0 ak7 d0 " },
        { { "p", "idle", NULL, 10 }, "ak7 d0 " },
        { { "p", NULL, "b", 10 }, "ak7 d0 " },
        { { NULL, NULL, "d", 10 }, "ck0 " },
        { { NULL, NULL, "never", 10 }, "" },
        { { "p", NULL, NULL, 1 }, "b0 " },
    };
    struct stage *stage = stage_of(state);
    struct found found[4] = { 0 };

    make_conversations(stage);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct found listed = { 0 };

        both_list_conversations(stage->store, &cases[i].query, on_conversation, &listed);
        pool_run(&stage->pool);
        assert_string_equal(listed.ids, cases[i].expected);
        assert_int_equal(listed.ends, 1);
    }
    both_get_conversation(stage->store, "a", on_conversation, &found[0]);
    both_get_conversation(stage->store, "never", on_conversation, &found[1]);
    both_find_conversation(stage->store, "q", "k", on_conversation, &found[2]);
    stage->pool.fail_at = stage->pool.reads + 4;
    both_find_conversation(stage->store, "p", "k", on_conversation, &found[3]);
    pool_run(&stage->pool);
    assert_string_equal(found[0].ids, "ak7 ");
    assert_int_equal(found[0].ends, 0); /* called once */
    assert_true(found[1].ends == 1 && !found[1].has_failed);
    assert_string_equal(found[2].ids, "ck0 ");
    assert_true(found[3].ends == 1 && found[3].has_failed);
}

/* Whatever cannot be read is told as that, once, and is not taken for nothing. */
static void what_fails_is_told(void **state)
{
    static const struct store_client client = { "a", "1", "stdio" };
    struct store_list_query query = { .limit = 50 };
    struct stage *stage = stage_of(state);
    struct seen seen[3] = { 0 };
    struct listed listed = { 0 };
    struct told told = { 0 };
    struct found events = { 0 };
    char id[27];

    stage_id(id, 1);
    stage_ask(stage, &(struct staged_ask){ .number = 1 });
    stage_run(stage, "INSERT INTO drafts VALUES ('ask', 'owner', '{\"a\":1}', 1, 1)");
    make_conversations(stage);
    pg_get(stage->store, id, 0, on_reply, &seen[0]);
    both_get_client_fact(stage->store, &client, false, on_reply, &seen[1]);
    both_get_client_fact(stage->store, &client, true, on_reply, &seen[2]);
    pg_list(stage->store, &query, on_row, &listed);
    pg_get_draft(stage->store, "ask", "owner", on_draft, &told);
    both_list_conversation_events(stage->store, "a", 0, 10, on_event, &events);
    do
        stage->pool.fail_at = stage->pool.reads + 1;
    while (pool_step(&stage->pool));
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        assert_true(seen[i].count == 1 && seen[i].outcome == STORE_FAILED);
    assert_true(listed.ends == 1 && listed.has_failed && listed.count == 0);
    assert_true(told.count == 1 && told.has_failed && !told.is_there);
    assert_true(events.ends == 1 && events.has_failed && !events.ids[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(an_answer_being_undone_is_waited_for),
        STAGED(what_another_commits_meanwhile_is_seen),
        STAGED(what_is_asked_with_is_copied),
        STAGED(many_that_live_come_in_pages),
        STAGED(what_was_said_is_found_along_the_chain),
        STAGED(conversations_are_found_and_listed),
        STAGED(what_fails_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, stage_group_tear_down);
}
