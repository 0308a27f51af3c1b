/*
 * test_postgres_read.c - asks, drafts, facts and conversations as they are read from PostgreSQL.
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

    pg_get(stage->reads, gone, on_reply, &seen);
    memset(gone, 'x', strlen(gone));
    free(gone);
    assert_int_equal(seen.count, 0);
    pool_run(&stage->pool);
    return seen;
}

static void a_row_comes_whole(void **state)
{
    struct stage *stage = stage_of(state);
    struct seen seen;
    char id[27];

    stage_ask(stage, &(struct staged_ask){ .number = 1, .state = 3, .answer = "{\"a\":\"\"}" });
    stage_run(stage, "UPDATE asks SET launch_code_hash = decode(repeat('ab', 32), 'hex')");
    stage_id(id, 1);
    seen = get(stage, id);
    assert_int_equal(seen.outcome, STORE_DONE);
    assert_string_equal(seen.row->ask.id, id);
    assert_string_equal(seen.row->ask.form_json, "{\"title\":\"Which one?\"}");
    assert_string_equal(seen.row->ask.arguments_json, "{\"a\":1}");
    assert_string_equal(seen.row->answer_json, "{\"a\":\"\"}");
    assert_string_equal(seen.row->actor_json, "{\"via\":\"web\"}");
    assert_null(seen.row->ask.idempotency_key);
    assert_int_equal(seen.row->answered_ms, 5);
    assert_int_equal(seen.row->number, 1);
    assert_int_equal(seen.row->seq, 2);
    assert_int_equal(seen.row->ask.launch_hash[31], 0xab);
    assert_int_equal(seen.row->ask.digest[0], 0x6b); /* of "1" */
    forget(&seen);
    seen = get(stage, "no such ask");
    assert_int_equal(seen.outcome, STORE_MISSING);
    forget(&seen);
    stage->pool.fail_at = stage->pool.reads + 1;
    seen = get(stage, id);
    assert_int_equal(seen.outcome, STORE_FAILED);
    forget(&seen);
}

/* Somebody undoes an answer at the last moment: whoever would hand it on waits for what comes of
 * that. Here he gives up waiting, which shows that he did. */
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
    assert_int_equal(seen.outcome, STORE_DONE); /* long ago: nobody may undo that */
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
    pg_get(stage->reads, id, on_reply, &seen);
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

static struct listed list(struct stage *stage, struct store_list_query query)
{
    struct listed listed = { 0 };
    char *prefix = mem_text(query.id_prefix), *agent = mem_text(query.agent);

    query.id_prefix = prefix;
    query.agent = agent;
    pg_list(stage->reads, &query, on_row, &listed);
    free(prefix);
    free(agent);
    assert_int_equal(listed.ends, 0);
    pool_run(&stage->pool);
    assert_int_equal(listed.ends, 1);
    return listed;
}

static void lists_are_newest_first(void **state)
{
    static const char principal[] = "ffffffffffffffffffffffffffffffff";
    static const struct {
        struct store_list_query query;
        const char *expected;
    } cases[] = {
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ALL, 3, 0, NULL, NULL, 0, 0, NULL }, "40 6 5 " },
        { { STORE_LIST_ALL, 0, 0, NULL, NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, SIZE_MAX, 1700000000004, NULL, NULL, 0, 0, NULL }, "3 2 1 " },
        { { STORE_LIST_OPEN, 50, 0, NULL, NULL, 0, 0, NULL }, "40 5 3 1 " },
        { { STORE_LIST_ENDED, 50, 0, NULL, NULL, 0, 0, NULL }, "6 4 2 " },
        { { STORE_LIST_ENDED, 1, 1700000000006, NULL, NULL, 0, 0, NULL }, "4 " },
        { { STORE_LIST_ALL, 50, 0, NULL, principal, 0, 0, NULL }, "4 " },
        { { STORE_LIST_OPEN, 50, 0, NULL, principal, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "aaaaaaaaaaaaaaaaaaaaaaaab", NULL, 0, 0, NULL }, "40 " },
        { { STORE_LIST_OPEN, 50, 0, "aaaaaaaaaaaaaaaaaaaaaaaaa", NULL, 0, 0, NULL }, "5 3 1 " },
        { { STORE_LIST_ENDED, 2, 0, "aaaa", NULL, 0, 0, NULL }, "6 4 " },
        { { STORE_LIST_ALL, 50, 0, "aaaa", principal, 0, 0, NULL }, "4 " },
        { { STORE_LIST_ALL, 50, 0, "b", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "", NULL, 0, 0, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ALL, 50, 0, "%", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "%' OR 1", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, "\xf4\x8f\xbf\xbf", NULL, 0, 0, NULL }, "" },
        { { STORE_LIST_ALL, 50, 1700000000004, NULL, NULL, 4, 0, NULL }, "3 2 1 " },
        { { STORE_LIST_ALL, 50, 1700000000004, NULL, NULL, 5, 0, NULL }, "4 3 2 1 " },
        { { STORE_LIST_ENDED, 50, 1700000000004, NULL, NULL, 5, 0, NULL }, "4 2 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 1U << STATE_CANCELLED, NULL }, "6 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, ~0U, NULL }, "40 6 5 4 3 2 1 " },
        { { STORE_LIST_ENDED, 50, 0, NULL, NULL, 0, 1U << STATE_PENDING, NULL }, "" },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "bot" }, "40 6 4 3 2 1 " },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "boss" }, "5 " },
        { { STORE_LIST_ALL, 50, 0, "aaaa", NULL, 0, 0, "bo" }, "" },
        { { STORE_LIST_ALL, 50, 0, NULL, NULL, 0, 0, "" }, "" },
    };
    struct stage *stage = stage_of(state);
    struct listed listed;

    for (int i = 1; i <= 7; i++) {
        stage_ask(stage, &(struct staged_ask){ .number = i < 7 ? i : 40,
                                               .state = i % 2 ? 2 : 2 + i / 2,
                                               .principal = i == 4 ? principal : NULL,
                                               .agent = i == 5 ? "boss" : "bot" });
    }
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(list(stage, cases[i].query).numbers, cases[i].expected);
    stage->pool.fail_at = stage->pool.reads + 1;
    listed = list(stage, cases[0].query);
    assert_true(listed.has_failed);
    assert_int_equal(listed.count, 0);
}

static struct listed list_live(struct stage *stage, int64_t now_ms)
{
    struct listed listed = { 0 };

    pg_list_live(stage->reads, now_ms, on_row, &listed);
    pool_run(&stage->pool);
    assert_int_equal(listed.ends, 1);
    return listed;
}

static void the_living_are_open_or_not_delivered(void **state)
{
    static const struct {
        int state;
        int64_t deliver_after_ms, delivered_ms;
        bool is_live;
    } cases[] = {
        { STATE_PENDING, 0, 0, true },           { STATE_PENDING_TERMINAL_LAUNCH, 0, 0, true },
        { STATE_SUBMITTED, 1001, 0, true },      { STATE_CANCELLED, 1001, 0, true },
        { STATE_AUTO_SUBMITTED, 1001, 0, true }, { STATE_SUBMITTED, 1000, 0, true },
        { STATE_SUBMITTED, 0, 0, true },         { STATE_SUBMITTED, 1001, 900, false },
        { STATE_CANCELLED, 0, 0, true },         { STATE_DECLINED, 0, 0, true },
        { STATE_AUTO_SUBMITTED, 0, 0, false },   { STATE_DECLINED, 0, 900, false },
        { STATE_AUTO_SUBMITTED, 999, 0, false }, { STATE_TIMEOUT, 0, 0, false },
        { STATE_WITHDRAWN, 0, 0, false },
    };
    struct stage *stage = stage_of(state);
    char expected[128] = "";

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        stage_ask(stage, &(struct staged_ask){ .number = (int64_t)i + 1,
                                               .state = cases[i].state,
                                               .deliver_after_ms = cases[i].deliver_after_ms,
                                               .delivered_ms = cases[i].delivered_ms });
        if (cases[i].is_live)
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%zu ",
                     i + 1);
    }
    assert_string_equal(list_live(stage, 1000).numbers, expected);
}

static void many_that_live_come_in_pages(void **state)
{
    struct stage *stage = stage_of(state);
    struct listed listed;

    stage_ask(stage, &(struct staged_ask){ .number = 1 });
    stage_run(stage, "UPDATE asks SET seq = 1");
    stage_run(stage, "DO $$ BEGIN FOR i IN 2..2000 LOOP"
                     " INSERT INTO asks SELECT (json_populate_record(k, json_build_object('number',"
                     " i, 'id', 'x' || i))).* FROM asks k WHERE number = 1; END LOOP; END $$");
    listed = list_live(stage, 1);
    assert_int_equal(listed.count, 2000);
    assert_int_equal(listed.last, 2000);
    assert_int_equal(stage->pool.reads, 3);
    stage->pool.fail_at = stage->pool.reads + 2;
    listed = list_live(stage, 1);
    assert_true(listed.has_failed);
    assert_int_equal(listed.count, 1000);
}

static int64_t find(struct stage *stage, const char *principal, const uint8_t *digest,
                    const char *key)
{
    struct seen seen = { 0 };
    int64_t number;

    pg_find_undelivered(stage->reads, principal, digest, key, on_reply, &seen);
    pool_run(&stage->pool);
    number = seen.outcome == STORE_DONE ? seen.row->number : 0;
    assert_int_equal(seen.outcome, number ? STORE_DONE : STORE_MISSING);
    if (number)
        assert_non_null(seen.row->ask.form_json);
    forget(&seen);
    return number;
}

static void only_undelivered_answers_of_people_are_found(void **state)
{
    static const char own[] = "00000000000000000000000000000000";
    uint8_t digest[DIGEST_BYTES] = { 7 }, unknown[DIGEST_BYTES] = { 8 };
    struct stage *stage = stage_of(state);
    struct listed listed = { 0 };

    for (int i = 1; i < STATE_COUNT; i++)
        stage_ask(stage, &(struct staged_ask){ .number = i,
                                               .state = i,
                                               .key = i == STATE_CANCELLED ? "again" : NULL });
    stage_run(stage, "UPDATE asks SET digest = decode('07' || repeat('00', 31), 'hex')");
    assert_int_equal(find(stage, own, digest, NULL), STATE_DECLINED);
    assert_int_equal(find(stage, own, digest, "again"), STATE_CANCELLED);
    assert_int_equal(find(stage, own, NULL, "again"), STATE_CANCELLED);
    assert_int_equal(find(stage, own, unknown, NULL), 0);
    assert_int_equal(find(stage, own, unknown, "never"), 0);
    assert_int_equal(find(stage, "ffffffffffffffffffffffffffffffff", digest, NULL), 0);
    pg_list_undelivered(stage->reads, own, 64, on_row, &listed);
    pool_run(&stage->pool);
    assert_string_equal(listed.numbers, "6 5 3 ");
    stage_run(stage, "UPDATE asks SET delivered_ms = 5 WHERE state = 6");
    assert_int_equal(find(stage, own, digest, NULL), STATE_CANCELLED);
    listed = (struct listed){ 0 };
    pg_list_undelivered(stage->reads, own, 1, on_row, &listed);
    pool_run(&stage->pool);
    assert_string_equal(listed.numbers, "5 ");
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

static void drafts_are_told_once(void **state)
{
    struct stage *stage = stage_of(state);
    struct told told[3] = { 0 };

    stage_run(stage, "INSERT INTO drafts VALUES ('ask', 'owner', '{\"a\":1}', 1, 1)");
    pg_get_draft(stage->reads, "ask", "owner", on_draft, &told[0]);
    pg_get_draft(stage->reads, "ask", "guest", on_draft, &told[1]);
    stage->pool.fail_at = 3;
    pg_get_draft(stage->reads, "ask", "owner", on_draft, &told[2]);
    pool_run(&stage->pool);
    assert_string_equal(told[0].text, "{\"a\":1}");
    assert_true(told[0].count == 1 && told[1].count == 1 && told[2].count == 1);
    assert_true(!told[1].is_there && !told[1].has_failed);
    assert_true(!told[2].is_there && told[2].has_failed);
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
    pg_list_said(stage->reads, id, on_said, &out);
    pg_list_said(stage->reads, "nobody", on_said, &out);
    pool_run(&stage->pool);
    assert_string_equal(text_string(&out), "1 why \"so\"? 10, 0 because 13, ..");
    text_clear(&out);
    stage_run(stage, "INSERT INTO events (seq, ask, kind, actor, body, earlier_seq, prev_hash, hub)"
                     " SELECT n, 'x', 16, '', '{\"at\":1,\"said\":\"s' || n || '\"}', n - 1, '', 1"
                     " FROM generate_series(8, 300) n; UPDATE asks SET seq = 300");
    pg_list_said(stage->reads, id, on_said, &out);
    pool_run(&stage->pool);
    snprintf(first, sizeof first, "0 s%d 1, ", 301 - LIMIT_TALK);
    assert_int_equal(strncmp(text_string(&out), first, strlen(first)), 0);
    text_clear(&out);
    stage->pool.fail_at = stage->pool.reads + 1;
    pg_list_said(stage->reads, id, on_said, &out);
    pool_run(&stage->pool);
    assert_string_equal(text_string(&out), "failed");
    text_release(&out);
}

static void facts_of_clients_are_by_their_name(void **state)
{
    static const struct store_client known = { "a", "1", "stdio" }, other = { "a", "2", "stdio" };
    struct stage *stage = stage_of(state);
    struct seen seen[4] = { 0 };

    stage_run(stage, "INSERT INTO client_facts VALUES ('a', '1', 'stdio', 60000, NULL)");
    pg_get_cut_off(stage->reads, &known, on_reply, &seen[0]);
    pg_get_form_fact(stage->reads, &known, on_reply, &seen[1]);
    pg_get_cut_off(stage->reads, &other, on_reply, &seen[2]);
    stage->pool.fail_at = 4;
    pg_get_form_fact(stage->reads, &known, on_reply, &seen[3]);
    pool_run(&stage->pool);
    assert_int_equal(seen[0].outcome, STORE_DONE);
    assert_int_equal(seen[0].seq, 60000);
    assert_int_equal(seen[1].outcome, STORE_MISSING);
    assert_int_equal(seen[2].outcome, STORE_MISSING);
    assert_int_equal(seen[3].outcome, STORE_FAILED);
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

        pg_list_conversations(stage->reads, &cases[i].query, on_conversation, &listed);
        pool_run(&stage->pool);
        assert_string_equal(listed.ids, cases[i].expected);
        assert_int_equal(listed.ends, 1);
    }
    pg_get_conversation(stage->reads, "a", on_conversation, &found[0]);
    pg_get_conversation(stage->reads, "never", on_conversation, &found[1]);
    pg_find_conversation(stage->reads, "q", "k", on_conversation, &found[2]);
    stage->pool.fail_at = stage->pool.reads + 4;
    pg_find_conversation(stage->reads, "p", "k", on_conversation, &found[3]);
    pool_run(&stage->pool);
    assert_string_equal(found[0].ids, "ak7 ");
    assert_int_equal(found[0].ends, 0); /* called once */
    assert_true(found[1].ends == 1 && !found[1].has_failed);
    assert_string_equal(found[2].ids, "ck0 ");
    assert_true(found[3].ends == 1 && found[3].has_failed);
}

static void events_of_a_conversation_go_on(void **state)
{
    struct stage *stage = stage_of(state);
    struct found found[4] = { 0 };

    make_conversations(stage);
    pg_list_conversation_events(stage->reads, "a", 0, SIZE_MAX, on_event, &found[0]);
    pg_list_conversation_events(stage->reads, "a", 3, 1, on_event, &found[1]);
    pg_list_conversation_events(stage->reads, "a", 5, 10, on_event, &found[2]);
    stage->pool.fail_at = 4;
    pg_list_conversation_events(stage->reads, "a", 0, 10, on_event, &found[3]);
    pool_run(&stage->pool);
    assert_string_equal(found[0].ids, "3x{} 4y{\"a\":1} 5z{} ");
    assert_string_equal(found[1].ids, "4y{\"a\":1} ");
    assert_string_equal(found[2].ids, "");
    for (int i = 0; i < 4; i++)
        assert_true(found[i].ends == 1 && found[i].has_failed == (i == 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGED(a_row_comes_whole),
        STAGED(an_answer_being_undone_is_waited_for),
        STAGED(what_another_commits_meanwhile_is_seen),
        STAGED(lists_are_newest_first),
        STAGED(the_living_are_open_or_not_delivered),
        STAGED(many_that_live_come_in_pages),
        STAGED(only_undelivered_answers_of_people_are_found),
        STAGED(drafts_are_told_once),
        STAGED(what_was_said_is_found_along_the_chain),
        STAGED(facts_of_clients_are_by_their_name),
        STAGED(conversations_are_found_and_listed),
        STAGED(events_of_a_conversation_go_on),
    };

    return cmocka_run_group_tests(tests, NULL, stage_group_tear_down);
}
