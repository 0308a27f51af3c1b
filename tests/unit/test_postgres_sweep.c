/*
 * test_postgres_sweep.c - retention on a database that several hubs share: it waits for no writer,
 * and no writer waits for it.
 * Proves: R9.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postgres_twin.h"

#define SWEEP "SELECT sayso_sweep(9000000000000, 0, 100)"

static void done(struct twin *twin, const char *text)
{
    char state[6];

    if (!twin_try(twin, text, state))
        fail_msg("%s: %s", text, PQerrorMessage(twin->connection));
}

static void begin(struct twin *twin)
{
    done(twin, "BEGIN; SELECT sayso_begin(5)");
}

static void commit(struct twin *twin, const char *batch)
{
    char text[64];

    snprintf(text, sizeof text, "SELECT sayso_end('%s'); COMMIT", batch);
    done(twin, text);
}

/* Two that are over, and one that is open. */
static void create_three(struct twin *twin)
{
    for (int i = 1; i <= 3; i++) {
        struct write create = { .what = WRITE_create, .of.create.ask = make_ask(i) };
        struct write change = { .what = WRITE_change,
                                .of.change = answer_of(create.of.create.ask.id, NULL) };

        assert_int_equal(twin_run(twin, &create), STORE_DONE);
        if (i < 3)
            assert_int_equal(twin_run(twin, &change), STORE_DONE);
    }
}

/* Another hub, which does not wait for long. */
static struct twin other_hub(struct twin *twin)
{
    struct twin other = { .connection = PQconnectdb(twin->url) };

    done(&other, "SET lock_timeout = 2000");
    done(twin, "SET lock_timeout = 2000");
    return other;
}

static int64_t asks_left(struct twin *twin)
{
    return postgres_number(twin->url, "SELECT count(*) FROM asks");
}

/* One hub is in the middle of a batch: retention neither waits for it nor takes what it has. */
static void retention_waits_for_nobody(void **state)
{
    struct twin *twin = *state;
    struct twin other;

    if (!twin)
        skip();
    create_three(twin);
    other = other_hub(twin);
    begin(twin);
    done(twin, "SELECT FROM asks WHERE id = (SELECT min(id) FROM asks) FOR UPDATE");
    done(&other, SWEEP);
    assert_int_equal(asks_left(twin), 2);
    commit(twin, "held");
    done(&other, SWEEP);
    assert_int_equal(asks_left(twin), 1);
    assert_int_equal(postgres_number(twin->url, "SELECT state FROM asks"), STATE_PENDING);
    PQfinish(other.connection);
}

/* And one hub is in the middle of retention: a batch does not wait for it, and no other hub helps.
 */
static void nobody_waits_for_retention(void **state)
{
    struct twin *twin = *state;
    struct twin other;
    struct write create = { .what = WRITE_create, .of.create.ask = make_ask(7) };

    if (!twin)
        skip();
    create_three(twin);
    other = other_hub(twin);
    done(&other, "BEGIN; SELECT sayso_sweep(9000000000000, 0, 1)");
    begin(twin);
    assert_true(twin_send(twin, &create));
    commit(twin, "meanwhile");
    done(twin, SWEEP);
    assert_int_equal(asks_left(twin), 4);
    done(&other, "COMMIT");
    assert_int_equal(asks_left(twin), 3);
    done(twin, SWEEP);
    assert_int_equal(asks_left(twin), 2);
    PQfinish(other.connection);
}

static void no_draft_stays_without_its_ask(void **state)
{
    struct twin *twin = *state;
    struct twin other;
    struct ask ask = make_ask(1);
    struct write draft = { .what = WRITE_draft, .of.draft = { ask.id, "owner", "{}", 5 } };

    if (!twin)
        skip();
    create_three(twin);
    other = other_hub(twin);
    begin(twin);
    assert_true(twin_send(twin, &draft));
    assert_int_equal(draft.reply.outcome, STORE_DONE);
    done(&other, SWEEP);
    commit(twin, "draft");
    assert_int_equal(asks_left(twin), 2);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM drafts"), 1);
    done(&other, SWEEP);
    assert_int_equal(asks_left(twin), 1);
    assert_int_equal(postgres_number(twin->url, "SELECT count(*) FROM drafts"), 0);
    PQfinish(other.connection);
}

/* What is kept by count is counted no further than that, and nothing is taken that should stay. */
static void as_many_stay_as_are_kept(void **state)
{
    struct twin *twin = *state;

    if (!twin)
        skip();
    create_three(twin);
    done(twin, "UPDATE asks SET delivered_ms = 1");
    done(twin, "SELECT sayso_sweep(0, 2, 100)");
    assert_int_equal(asks_left(twin), 3);
    done(twin, "SELECT sayso_sweep(0, 2147483647, 1000)");
    assert_int_equal(asks_left(twin), 3);
    done(twin, "SELECT sayso_sweep(0, 1, 100)");
    assert_int_equal(asks_left(twin), 2);
    done(twin, "SELECT sayso_sweep(0, 0, 100)");
    assert_int_equal(asks_left(twin), 1);
}

/* What an old principal that has no ask does next: it asks, or begins a conversation. */
static struct write next_of_principal(const struct ask *ask, bool talks)
{
    struct write write = { .what = talks ? WRITE_conversation : WRITE_create };

    if (talks) {
        write.of.conversation = (struct store_new_conversation){
            { .id = "talk",
              .principal = ask->principal,
              .token_id = "",
              .label = "",
              .state = "idle",
              .body = "{}",
              .created_ms = ask->created_ms },
            principal_of(ask),
            "made {}\n",
        };
    } else {
        write.of.create.ask = *ask;
        write.of.create.principal = principal_of(ask);
    }
    return write;
}

static void add_old_principal(struct twin *twin)
{
    done(twin, "TRUNCATE conversations, conversation_events, asks, batches, principals;"
               " INSERT INTO principals VALUES (repeat('0', 32), 'local', 0, 'old', NULL, 1)");
}

static int64_t principals_called(struct twin *twin, const char *name)
{
    char text[96];

    snprintf(text, sizeof text, "SELECT count(*) FROM principals WHERE name = '%s'", name);
    return postgres_number(twin->url, text);
}

/* A batch has found its principal there, and retention, which sees nothing of that batch, would
 * take it for one that nothing refers to. */
static void who_asks_meanwhile_stays(void **state)
{
    struct twin *twin = *state;
    struct ask ask = make_ask(7);

    if (!twin)
        skip();
    for (int talks = 0; talks < 2; talks++) {
        struct write write = next_of_principal(&ask, talks);
        struct twin other = other_hub(twin);

        add_old_principal(twin);
        begin(twin);
        assert_true(twin_send(twin, &write));
        done(&other, SWEEP);
        commit(twin, "meanwhile");
        assert_int_equal(principals_called(twin, "old"), 1);
        PQfinish(other.connection);
    }
}

static void wait_for_lock(struct twin *twin)
{
    int64_t give_up_ms = loop_boot_ms() + 60000;

    while (postgres_number(twin->url, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
        assert_true(loop_boot_ms() < give_up_ms);
}

/* Of a query that was sent. */
static void end_query(struct twin *twin)
{
    PGresult *result = PQgetResult(twin->connection);

    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    assert_null(PQgetResult(twin->connection));
}

/* And where retention came first, the batch finds it gone and writes it down again. */
static void who_was_just_dropped_is_made_again(void **state)
{
    struct twin *twin = *state;
    struct ask ask = make_ask(7);

    if (!twin)
        skip();
    for (int talks = 0; talks < 2; talks++) {
        struct write write = next_of_principal(&ask, talks);
        struct twin other = other_hub(twin);

        add_old_principal(twin);
        done(&other, "BEGIN; " SWEEP);
        done(twin, "SET lock_timeout = 60000; BEGIN");
        assert_true(PQsendQuery(twin->connection, "SELECT sayso_begin(5)"));
        wait_for_lock(twin);
        done(&other, "COMMIT");
        end_query(twin);
        assert_int_equal(principals_called(twin, "old"), 0);
        assert_true(twin_send(twin, &write));
        commit(twin, "behind");
        assert_int_equal(principals_called(twin, "tester"), 1);
        PQfinish(other.connection);
    }
}

/* Between the first look and the second, under the lock, a principal may have asked. */
static void who_asked_after_the_first_look_stays(void **state)
{
    struct twin *twin = *state, other;
    struct ask ask = make_ask(7);
    struct write write = next_of_principal(&ask, false);

    if (!twin)
        skip();
    other = other_hub(twin);
    add_old_principal(twin);
    done(twin, "CREATE FUNCTION hold() RETURNS boolean LANGUAGE sql AS"
               " 'SELECT pg_advisory_xact_lock(1); SELECT true';"
               " CREATE POLICY hold ON principals USING (hold());"
               " ALTER TABLE principals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
               " SELECT pg_advisory_lock(1)");
    done(&other, "SET lock_timeout = 60000");
    assert_true(PQsendQuery(other.connection, SWEEP)); /* is held in its first look */
    wait_for_lock(twin);
    begin(twin);
    assert_true(twin_send(twin, &write));
    commit(twin, "between");
    done(twin, "SELECT pg_advisory_unlock(1)");
    end_query(&other);
    done(twin, "ALTER TABLE principals NO FORCE ROW LEVEL SECURITY");
    assert_int_equal(principals_called(twin, "old"), 1);
    PQfinish(other.connection);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TWIN(retention_waits_for_nobody),
        TWIN(nobody_waits_for_retention),
        TWIN(no_draft_stays_without_its_ask),
        TWIN(as_many_stay_as_are_kept),
        TWIN(who_asks_meanwhile_stays),
        TWIN(who_was_just_dropped_is_made_again),
        TWIN(who_asked_after_the_first_look_stays),
    };

    return cmocka_run_group_tests(tests, NULL, twin_group_tear_down);
}
