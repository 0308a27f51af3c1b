/*
 * test_postgres_functions.c - what only PostgreSQL does: batches and what became of them, the
 * database's clock, what other hubs are told, and words taken up beside the writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postgres_stage.h"
#include "postgres_twin.h"
#include "store/postgres/write.h"

static char state_of[6];

static void done(struct twin *twin, const char *text)
{
    if (!twin_try(twin, text, state_of))
        fail_msg("%s: %s", text, PQerrorMessage(twin->connection));
}

static void refused(struct twin *twin, const char *text, const char *with)
{
    assert_false(twin_try(twin, text, state_of));
    assert_string_equal(state_of, with);
}

/* In the transaction that is open. */
static enum store_outcome create_in(struct twin *twin, struct ask ask)
{
    struct write write = { .what = WRITE_create, .of.create.ask = ask };

    assert_true(twin_send(twin, &write));
    return write.reply.outcome;
}

static enum store_outcome change_in(struct twin *twin, const struct store_change *how)
{
    struct write write = { .what = WRITE_change, .of.change = *how };

    assert_true(twin_send(twin, &write));
    write_set_row(&write, NULL);
    return write.reply.outcome;
}

static void begin(struct twin *twin)
{
    done(twin, "BEGIN");
    done(twin, "SELECT sayso_begin(5)");
}

static void commit(struct twin *twin, const char *batch)
{
    char text[64];

    snprintf(text, sizeof text, "SELECT sayso_end('%s')", batch);
    done(twin, text);
    done(twin, "COMMIT");
}

static char *outcomes_of(struct twin *twin, const char *batch)
{
    char text[128];

    snprintf(text, sizeof text, "SELECT outcomes FROM batches WHERE id = '%s'", batch);
    return postgres_text(twin->url, text);
}

static void a_batch_says_what_became_of_it(void **state)
{
    struct twin *twin = *state;
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key");
    char *outcomes;

    if (!twin)
        skip();
    begin(twin);
    assert_int_equal(create_in(twin, ask), STORE_DONE);
    assert_int_equal(change_in(twin, &how), STORE_DONE);
    assert_int_equal(change_in(twin, &how), STORE_REPEATED);
    how.answer_key = "other";
    assert_int_equal(change_in(twin, &how), STORE_LOST);
    how.ask_id = "nobody";
    assert_int_equal(change_in(twin, &how), STORE_MISSING);
    done(twin, "SELECT sayso_meta('a', 'b')");
    done(twin, "SELECT sayso_key('seal', '\\x00', 5)");
    commit(twin, "one");
    outcomes = outcomes_of(twin, "one");
    assert_string_equal(outcomes, "D1 D2 R0 L0 M0 D0 D1 ");
    free(outcomes);
    outcomes = postgres_text(twin->url, "SELECT sayso_resolve('one')");
    assert_string_equal(outcomes, "D1 D2 R0 L0 M0 D0 D1 ");
    free(outcomes);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM events WHERE hub = 5"), 2);
}

/* Given up once, it can never come, however late its bytes arrive. */
static void a_batch_that_was_given_up_never_comes(void **state)
{
    struct twin *twin = *state;
    char *outcomes;

    if (!twin)
        skip();
    for (int i = 0; i < 2; i++) {
        outcomes = postgres_text(twin->url, "SELECT sayso_resolve('late')");
        assert_string_equal(outcomes, "");
        free(outcomes);
    }
    begin(twin);
    create_in(twin, make_ask(1));
    refused(twin, "SELECT sayso_end('late')", "23505");
    done(twin, "ROLLBACK");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM asks"), 0);
    begin(twin);
    create_in(twin, make_ask(1));
    commit(twin, "again");
    assert_int_equal(postgres_number(twin->url, "SELECT seq FROM counter"), 1);
}

/* A batch under way is not visible yet: a reader waits for its end. */
static void who_asks_waits_for_what_is_under_way(void **state)
{
    struct twin *twin = *state;
    struct twin other = { 0 };
    char *outcomes;

    if (!twin)
        skip();
    other.connection = PQconnectdb(twin->url);
    done(&other, "SET lock_timeout = 100");
    begin(twin);
    create_in(twin, make_ask(1));
    refused(&other, "SELECT sayso_resolve('slow')", "55P03");
    done(twin, "SELECT sayso_end('slow')");
    refused(&other, "SELECT sayso_resolve('slow')", "55P03");
    refused(&other, "BEGIN; SELECT sayso_begin(6)", "55P03"); /* writers take turns */
    PQfinish(other.connection);
    done(twin, "COMMIT");
    outcomes = postgres_text(twin->url, "SELECT sayso_resolve('slow')");
    assert_string_equal(outcomes, "D1 ");
    free(outcomes);
}

static void what_is_undone_leaves_no_gap(void **state)
{
    struct twin *twin = *state;
    char *outcomes;

    if (!twin)
        skip();
    begin(twin);
    create_in(twin, make_ask(1));
    done(twin, "SAVEPOINT job");
    create_in(twin, make_ask(2));
    done(twin, "ROLLBACK TO job");
    create_in(twin, make_ask(3));
    commit(twin, "two");
    outcomes = outcomes_of(twin, "two");
    assert_string_equal(outcomes, "D1 D2 ");
    free(outcomes);
    assert_int_equal(
        postgres_number(twin->url,
                        "SELECT count(*) FROM events e JOIN events b ON b.seq = e.seq - 1"
                        " WHERE e.prev_hash = sayso_hash(b.prev_hash, b.seq::text, b.ask,"
                        " b.kind::text, b.actor, b.body)"),
        1);
    assert_int_equal(postgres_number(twin->url, "SELECT seq FROM counter"), 2);
}

static void writes_belong_to_a_batch(void **state)
{
    struct twin *twin = *state;
    struct write write = { .what = WRITE_create, .of.create.ask = make_ask(1) };

    if (!twin)
        skip();
    assert_false(twin_send(twin, &write));
    refused(twin, "SELECT sayso_meta('a', 'b')", "42704");
    done(twin, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    refused(twin, "SELECT sayso_begin(5)", "P0001");
    done(twin, "ROLLBACK");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM asks"), 0);
}

static void deliver(struct twin *twin, const char *id)
{
    struct store_change how = store_change_of(id, EVENT_DELIVERED);

    how.from_states = 1U << STATE_SUBMITTED;
    how.delivered_ms = how.now_ms = 5;
    begin(twin);
    assert_int_equal(change_in(twin, &how), STORE_DONE);
    commit(twin, id);
}

/* The same call on two hubs is one ask, until its answer was handed over. */
static void an_ask_of_another_hub_is_joined(void **state)
{
    struct twin *twin = *state;
    struct ask first = make_ask(1), again = make_ask(2);
    struct store_change how = answer_of(first.id, "key");
    struct write write = { .what = WRITE_create };

    if (!twin)
        skip();
    memcpy(again.digest, first.digest, sizeof again.digest);
    again.joins = first.joins = true;
    first.idempotency_key = "call";
    begin(twin);
    create_in(twin, first);
    commit(twin, "first");
    for (int i = 0; i < 3; i++) {
        again.idempotency_key = i ? "call" : NULL;
        again.digest[5] ^= i == 2; /* other words under the same key: no answer is theirs */
        write.of.create.ask = again;
        done(twin, "BEGIN");
        done(twin, "SELECT sayso_begin(6)");
        assert_true(twin_send(twin, &write));
        commit(twin, (const char *[]){ "by call", "by key", "other words" }[i]);
        assert_int_equal(write.reply.outcome, i == 2 ? STORE_LOST : STORE_REPEATED);
        assert_string_equal(write.reply.row->ask.id, first.id);
        write_set_row(&write, NULL);
    }
    memcpy(again.digest, first.digest, sizeof again.digest);
    begin(twin);
    assert_int_equal(create_in(twin, again), STORE_DONE); /* that hub itself knows its own */
    how.ask_id = again.id;
    change_in(twin, &how);
    how = answer_of(first.id, "other");
    change_in(twin, &how);
    commit(twin, "over");
    for (int i = 0; i < 2; i++) { /* who asked may not have heard the answer; or it has */
        write.of.create.ask = make_ask(3);
        memcpy(write.of.create.ask.digest, first.digest, sizeof first.digest);
        write.of.create.ask.joins = true;
        write.of.create.ask.idempotency_key = "call";
        done(twin, "BEGIN");
        done(twin, "SELECT sayso_begin(6)");
        assert_true(twin_send(twin, &write));
        commit(twin, i ? "new" : "for its answer");
        assert_int_equal(write.reply.outcome, i ? STORE_DONE : STORE_REPEATED);
        if (i == 0) {
            assert_string_equal(write.reply.row->ask.id, first.id); /* which made the call */
            deliver(twin, first.id);
            deliver(twin, again.id);
        }
        write_set_row(&write, NULL);
    }
}

/* Plans that were made while a table was empty are kept while it grows; and of `unsettled` most may
 * be dead. */
static void plans_never_read_all(void **state)
{
    struct twin *twin = *state;
    struct store_change how;

    if (!twin)
        skip();
    postgres_run(twin->url, "VACUUM"); /* an empty table, and known to be */
    begin(twin);
    for (int i = 0; i < 40; i++) {
        struct ask ask = make_ask(i);
        char key[16];

        if (i == 20)
            done(twin, "INSERT INTO unsettled SELECT n, 0, 1000000 + n, false"
                       " FROM generate_series(1, 100000) n;"
                       " DELETE FROM unsettled WHERE number > 1000000");
        ask.joins = true;
        ask.idempotency_key = i % 2 ? "key" : NULL;
        create_in(twin, ask);
        snprintf(key, sizeof key, "key %d", i);
        how = answer_of(ask.id, key);
        how.skips_row = true; /* to read that one is no part of the functions */
        change_in(twin, &how);
        how = store_change_of(ask.id, EVENT_DELIVERED);
        how.from_states = 1U << STATE_SUBMITTED;
        how.delivered_ms = how.now_ms = 5;
        how.more_ids = i % 2 ? "more and more" : NULL;
        assert_int_equal(change_in(twin, &how), STORE_DONE);
        assert_int_equal(change_in(twin, &how), STORE_DONE);
        if (i % 20 == 19)
            done(twin,
                 "DO $$ BEGIN IF EXISTS (SELECT FROM pg_stat_xact_user_tables WHERE seq_scan >"
                 " CASE WHEN relname = 'unsettled' AND n_tup_ins > 50000 THEN 1 ELSE 0 END"
                 " AND relname IN ('asks', 'events', 'principals', 'batches', 'unsettled',"
                 " 'ended')) THEN RAISE EXCEPTION 'read all'; END IF; END $$");
    }
    commit(twin, "many");
}

/* What changes is in no index, so a change of an ask stays in its page. */
static void changes_stay_in_their_page(void **state)
{
    struct twin *twin = *state;
    struct store_change how;

    if (!twin)
        skip();
    for (int i = 0; i < 200; i++) {
        struct ask ask = make_ask(i);

        begin(twin);
        create_in(twin, ask);
        how = answer_of(ask.id, NULL);
        how.skips_row = true;
        change_in(twin, &how);
        how = store_change_of(ask.id, EVENT_DELIVERED);
        how.from_states = 1U << STATE_SUBMITTED;
        how.delivered_ms = how.now_ms = 5;
        assert_int_equal(change_in(twin, &how), STORE_DONE);
        done(twin, "DO $$ DECLARE h record; BEGIN SELECT n_tup_upd, n_tup_hot_upd INTO h FROM"
                   " pg_stat_xact_user_tables WHERE relname = 'asks'; IF h.n_tup_upd < 2 OR"
                   " h.n_tup_hot_upd <> h.n_tup_upd THEN RAISE EXCEPTION 'not in its page: %', h; "
                   "END IF; END $$");
        commit(twin, ask.id);
    }
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM unsettled"), 0);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM ended"), 200);
    assert_int_equal(postgres_number(twin->url, "SELECT min(rev) + max(rev) FROM asks"), 6);
}

static int64_t now_there(struct twin *twin)
{
    return postgres_number(twin->url, "SELECT sayso_now()");
}

/* Whatever the hub's own clock says: an ask runs out when the database says so. */
static void deadlines_are_by_its_clock(void **state)
{
    struct twin *twin = *state;
    struct ask ask = make_ask(1), early = make_ask(2), never = make_ask(3);
    struct store_change how = store_change_of(ask.id, EVENT_EXPIRED);

    if (!twin)
        skip();
    early.deadline_ms = now_there(twin) + 3600000;
    never.deadline_ms = 0;
    ask.deadline_ms = now_there(twin) - 1;
    begin(twin);
    create_in(twin, ask);
    create_in(twin, early);
    create_in(twin, never);
    how.from_states = OPEN_STATES;
    how.to_state = STATE_TIMEOUT;
    how.when = STORE_PAST_DEADLINE;
    how.now_ms = early.deadline_ms + 1;
    assert_int_equal(change_in(twin, &how), STORE_DONE);
    how.ask_id = early.id;
    assert_int_equal(change_in(twin, &how), STORE_LOST);
    how.ask_id = never.id;
    assert_int_equal(change_in(twin, &how), STORE_LOST);
    how.when = STORE_ANY_TIME;
    assert_int_equal(change_in(twin, &how), STORE_DONE);
    commit(twin, "three");
}

static void undo_is_by_its_clock(void **state)
{
    struct twin *twin = *state;
    struct ask asks[] = { make_ask(1), make_ask(2), make_ask(3) };
    struct store_change how;

    if (!twin)
        skip();
    begin(twin);
    for (int i = 0; i < 3; i++) {
        create_in(twin, asks[i]);
        how = answer_of(asks[i].id, NULL);
        how.deliver_after_ms = now_there(twin) + (i == 1 ? -1 : 3600000);
        how.delivered_ms = i == 2 ? 5 : STORE_KEEP;
        assert_int_equal(change_in(twin, &how), STORE_DONE);
    }
    how = store_change_of(NULL, EVENT_UNDONE);
    how.from_states = 1U << STATE_SUBMITTED;
    how.to_state = STATE_PENDING;
    how.removes_answer = true;
    how.when = STORE_BEFORE_DELIVERY;
    for (int i = 0; i < 3; i++) {
        how.ask_id = asks[i].id;
        assert_int_equal(change_in(twin, &how), i == 0 ? STORE_DONE : STORE_LOST);
    }
    commit(twin, "three");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM drafts"), 1);
}

/* How many notifications, and the last one's words. */
static int told(PGconn *listener, char ret_words[32])
{
    PGnotify *notify;
    int count = 0;

    PQclear(PQexec(listener, "SELECT 1"));
    PQconsumeInput(listener);
    for (; (notify = PQnotifies(listener)); count++) {
        assert_string_equal(notify->relname, "sayso");
        text_put(ret_words, 32, notify->extra);
        PQfreemem(notify);
    }
    return count;
}

static void other_hubs_are_told_once(void **state)
{
    struct twin *twin = *state;
    struct store_change how = answer_of("nobody", "key");
    PGconn *listener;
    char words[32];

    if (!twin)
        skip();
    listener = PQconnectdb(twin->url);
    PQclear(PQexec(listener, "LISTEN sayso"));
    begin(twin);
    create_in(twin, make_ask(1));
    create_in(twin, make_ask(2));
    commit(twin, "first");
    assert_int_equal(told(listener, words), 1);
    assert_string_equal(words, "2");
    begin(twin);
    change_in(twin, &how);
    commit(twin, "second");
    assert_int_equal(told(listener, words), 0);
    PQfinish(listener);
}

static void small_tables_and_conversations_are_marked(void **state)
{
    struct twin *twin = *state;
    struct write write = { .what = WRITE_conversation,
                           .of.conversation = { { .id = "c",
                                                  .principal = "p",
                                                  .token_id = "",
                                                  .label = "",
                                                  .state = "idle",
                                                  .body = "{}" },
                                                { "p", "token", 0, "", NULL },
                                                "made {}\n" } };

    if (!twin)
        skip();
    begin(twin);
    done(twin, "SELECT sayso_setting('owner', 'a', 'b')");
    done(twin, "SELECT sayso_token('\\x01', 'agent', '', false, true, 1, 0, 0, NULL)");
    done(twin, "SELECT sayso_token_revoke('\\x02', 5)"); /* there is none: nothing changed */
    assert_true(twin_send(twin, &write));
    commit(twin, "marked");
    assert_int_equal(postgres_number(twin->url, "SELECT misc FROM counter"), 2);
    assert_int_equal(postgres_number(twin->url, "SELECT stamp FROM counter"), 1);
    assert_int_equal(postgres_number(twin->url, "SELECT stamp FROM conversations"
                                                " WHERE hub = 5"),
                     1);
}

/* Words --------------------------------------------------------------------------------------- */

static void on_indexed(void *context, const struct store_reply *reply)
{
    assert_int_equal(reply->outcome, STORE_DONE);
    *(int64_t *)context = reply->seq;
}

static int64_t index_all(struct twin *twin)
{
    struct staged_pool pool = staged_pool_on(twin->connection);
    int64_t count = -1;

    postgres_index(&pool.pool, 1700000200000, 100, on_indexed, &count);
    pool_run(&pool);
    return count;
}

static void create_three(struct twin *twin)
{
    struct ask asks[] = { make_ask(1), make_ask(2), make_ask(3) };
    struct store_change how;

    asks[0].form_json = "{\"title\":\"F\\u0131rst \\\"QUOTED\\\" b\\\\slash {,}\",\"fields\":[]}";
    begin(twin);
    for (int i = 0; i < 3; i++)
        create_in(twin, asks[i]);
    for (int i = 0; i < 2; i++) { /* the third is open */
        how = answer_of(asks[i].id, NULL);
        change_in(twin, &how);
    }
    commit(twin, "three");
}

static void words_are_taken_up(void **state)
{
    struct twin *twin = *state;
    struct ask third = make_ask(3);
    struct store_change how = answer_of(third.id, NULL);
    char *body;

    if (!twin)
        skip();
    create_three(twin);
    assert_int_equal(index_all(twin), 3);
    assert_int_equal(index_all(twin), 0);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM words"), 2);
    assert_int_equal(postgres_number(twin->url, "SELECT number FROM unindexed"), 3);
    assert_int_equal(postgres_number(twin->url, "SELECT next FROM search"), 4);
    body = postgres_text(twin->url, "SELECT body FROM words WHERE number = 1");
    assert_non_null(strstr(body, "\"quoted\" b\\slash {,}"));
    free(body);

    begin(twin);
    change_in(twin, &how);
    commit(twin, "answered");
    assert_int_equal(index_all(twin), 1);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM words"), 3);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM unindexed"), 0);
}

/* Between the read and the write, or during it: it is left for the next time. */
static void what_changes_meanwhile_is_left(void **state)
{
    struct twin *twin = *state;
    struct twin other = { 0 };
    struct staged_pool pool;
    struct ask asks[] = { make_ask(1), make_ask(2) };
    struct store_change how = store_change_of(asks[0].id, EVENT_UNDONE);
    int64_t count = -1;

    if (!twin)
        skip();
    create_three(twin);
    other.connection = PQconnectdb(twin->url);
    pool = staged_pool_on(other.connection);
    done(&other, "SET lock_timeout = 2000");
    how.from_states = 1U << STATE_SUBMITTED;
    how.to_state = STATE_PENDING;
    how.removes_answer = true;
    postgres_index(&pool.pool, 1700000200000, 100, on_indexed, &count);
    assert_true(pool_step(&pool)); /* the texts are read */
    begin(twin);
    change_in(twin, &how);
    commit(twin, "undone");
    begin(twin);
    how.ask_id = asks[1].id;
    change_in(twin, &how);
    pool_run(&pool); /* waits for no lock */
    assert_int_equal(count, 3);
    commit(twin, "undone too");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM words"), 0);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM unindexed"), 3);
    assert_int_equal(postgres_number(twin->url, "SELECT next FROM search"), 4);
    PQfinish(other.connection);
}

static void one_hub_takes_up_words_at_a_time(void **state)
{
    struct twin *twin = *state;
    struct twin other = { 0 };

    if (!twin)
        skip();
    create_three(twin);
    other.connection = PQconnectdb(twin->url);
    done(&other, "BEGIN; SELECT sayso_index('{}', '{}', '{}', '{}', '{}', 0)");
    assert_int_equal(index_all(twin), 0);
    done(&other, "COMMIT");
    assert_int_equal(index_all(twin), 3);
    PQfinish(other.connection);
}

static void what_is_undone_is_not_found(void **state)
{
    struct twin *twin = *state;
    struct ask ask = make_ask(1);
    struct store_change how = store_change_of(ask.id, EVENT_UNDONE);

    if (!twin)
        skip();
    create_three(twin);
    index_all(twin);
    how.from_states = 1U << STATE_SUBMITTED;
    how.to_state = STATE_PENDING;
    how.removes_answer = true;
    begin(twin);
    change_in(twin, &how);
    commit(twin, "undone");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM words WHERE number = 1"), 0);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM unindexed"), 2);
}

static void what_is_swept_is_found_no_more(void **state)
{
    struct twin *twin = *state;

    if (!twin)
        skip();
    create_three(twin);
    index_all(twin);
    begin(twin);
    done(twin, "SELECT sayso_sweep(9000000000000, 0, 100)");
    commit(twin, "swept");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM words"), 0);
    assert_int_equal(postgres_number(twin->url, "SELECT number FROM asks"), 3);
    postgres_run(twin->url, "UPDATE batches SET at_ms = at_ms - 2592000001 WHERE id = 'three'");
    begin(twin);
    done(twin, "SELECT sayso_sweep(9000000000000, 0, 100)");
    commit(twin, "swept again");
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM batches"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWIN(a_batch_says_what_became_of_it),
        TWIN(a_batch_that_was_given_up_never_comes),
        TWIN(who_asks_waits_for_what_is_under_way),
        TWIN(what_is_undone_leaves_no_gap),
        TWIN(writes_belong_to_a_batch),
        TWIN(an_ask_of_another_hub_is_joined),
        TWIN(plans_never_read_all),
        TWIN(changes_stay_in_their_page),
        TWIN(deadlines_are_by_its_clock),
        TWIN(undo_is_by_its_clock),
        TWIN(other_hubs_are_told_once),
        TWIN(small_tables_and_conversations_are_marked),
        TWIN(words_are_taken_up),
        TWIN(what_changes_meanwhile_is_left),
        TWIN(one_hub_takes_up_words_at_a_time),
        TWIN(what_is_undone_is_not_found),
        TWIN(what_is_swept_is_found_no_more),
    };

    return cmocka_run_group_tests(tests, NULL, twin_group_tear_down);
}
