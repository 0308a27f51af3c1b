/*
 * test_postgres_batch.c - writes on PostgreSQL over a network that loses words: what was told to be
 * stored is, once; what was told to have failed is not; a bad one fails alone.
 * Proves: F1, F5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "own_time.h"
#include "postgres_fixture.h"
#include "postgres_proxy.h"
#include "store/postgres/address.h"
#include "store/postgres/batch.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq.h"
#include "store/postgres/schema.h"
#include "store/writes.h"

enum { SOON_MS = 300000, HUB = 7 };

/* A key is stored once a write, whatever it is called: who stores it twice can be counted. */
struct stage {
    char url[POSTGRES_URL_BYTES], way[POSTGRES_URL_BYTES];
    struct proxy *proxy;
    struct loop *loop;
    struct address *address;
    struct batch_queue *queue;
    int wanted, done, failed, stored, more;
    int64_t last_ms, order;
    bool is_out_of_order;
    char last_error[480];
};
static struct stage stage;
static int files_before;

static int count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void on_stored(void *context, const struct write *write)
{
    (void)context;
    (void)write;
    stage.stored++;
}

static int set_up(void **state)
{
    struct text schema = { 0 };
    struct batch_parts parts;
    struct error err;

    (void)state;
    memset(&stage, 0, sizeof stage);
    if (!postgres_is_there())
        return 0;
    assert_true(libpq_load(&err));
    loop_free(loop_new()); /* the first keeps something for ever */
    files_before = count_files();
    postgres_create(stage.url);
    postgres_schema_write(&schema);
    postgres_run(stage.url, text_string(&schema));
    text_release(&schema);
    stage.proxy = proxy_new(stage.url, stage.way, sizeof stage.way);
    stage.loop = loop_new();
    assert_true(address_parse(stage.way, &stage.address, &err));
    parts = (struct batch_parts){ stage.loop, stage.address, HUB, on_stored, NULL };
    stage.queue = batch_queue_open(&parts);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (!postgres_is_there())
        return 0;
    batch_queue_close(stage.queue);
    address_free(stage.address);
    loop_free(stage.loop);
    proxy_free(stage.proxy);
    postgres_drop(stage.url);
    assert_int_equal(count_files(), files_before);
    return 0;
}

static bool is_all_done(void *context)
{
    (void)context;
    return stage.done + stage.failed >= stage.wanted;
}

static bool is_ready(void *context)
{
    (void)context;
    return pg_link_is_ready(batch_queue_link(stage.queue));
}

static bool is_one_failed(void *context)
{
    (void)context;
    return stage.failed == 1;
}

/* By a lock that another session has. */
static bool is_one_held_up(void)
{
    return postgres_number(stage.url,
                           "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                           " AND datname = current_database()") > 0;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool is_heard(void *context)
{
    (void)context;
    return pg_link_silent_ms(batch_queue_link(stage.queue)) == 0;
}

static bool is_held(void *context)
{
    (void)context;
    return proxy_held(stage.proxy) > 0;
}

static void run(bool (*is_done)(void *context))
{
    assert_true(loop_run_until(stage.loop, is_done, NULL, loop_boot_ms() + SOON_MS));
}

static void run_for(int64_t ms)
{
    loop_run_until(stage.loop, never, NULL, loop_boot_ms() + ms);
}

static void add(const char *purpose);

static void on_done(void *context, const struct store_reply *reply)
{
    (void)context;
    stage.last_ms = loop_boot_ms();
    if (reply->outcome == STORE_DONE) {
        stage.done++;
        stage.is_out_of_order |= reply->seq <= stage.order;
        stage.order = reply->seq;
    } else {
        stage.failed++;
        assert_int_equal(reply->outcome, STORE_FAILED);
        snprintf(stage.last_error, sizeof stage.last_error, "%s", reply->err.message);
    }
    if (stage.more-- > 0)
        add("more");
}

static void add(const char *purpose)
{
    const struct store_key key = { .purpose = purpose, .secret = "s", .created_ms = 1 };

    stage.wanted++;
    batch_queue_add(stage.queue, write_new(WRITE_key, &key, on_done, NULL));
}

static int64_t count(const char *purpose)
{
    char text[160];

    snprintf(text, sizeof text, "SELECT count(*) FROM keys WHERE purpose = '%s'", purpose);
    return postgres_number(stage.url, text);
}

#define NEEDS_SERVER                                                                               \
    (void)state;                                                                                   \
    if (!postgres_is_there())                                                                      \
    skip()

static void writes_of_a_turn_are_one_transaction(void **state)
{
    struct text metrics = { 0 };

    NEEDS_SERVER;
    for (int i = 0; i < 200; i++)
        add("one");
    stage.more = 50; /* asked for by completions */
    run(is_all_done);
    assert_int_equal(stage.done, 250);
    assert_int_equal(stage.stored, 250);
    assert_false(stage.is_out_of_order);
    assert_int_equal(count("one"), 200);
    assert_int_equal(count("more"), 50);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 2);
    batch_queue_write_metrics(stage.queue, &metrics);
    assert_non_null(strstr(text_string(&metrics), "sayso_store_batch_writes_count 2"));
    text_release(&metrics);
}

static void more_than_fits_is_several_transactions(void **state)
{
    char *purpose = mem_new(300001);

    NEEDS_SERVER;
    for (int i = 0; i < 600; i++)
        add("few");
    run(is_all_done);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 3);
    memset(purpose, 'x', 300000);
    for (int i = 0; i < 6; i++)
        add(purpose); /* a megabyte is three of these, and more than a socket takes in one write */
    run(is_all_done);
    assert_int_equal(stage.done, 606);
    assert_false(stage.is_out_of_order);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 5);
    free(purpose);
}

/* bad: the database refuses its text. */
static void a_bad_one_fails_alone(void **state)
{
    NEEDS_SERVER;
    postgres_run(stage.url, "ALTER TABLE keys ADD CHECK (purpose <> 'bad')");
    for (int i = 0; i < 100; i++) {
        add("good");
        if (i % 25 == 10)
            add("bad");
    }
    run(is_all_done);
    assert_int_equal(stage.done, 100);
    assert_int_equal(stage.failed, 4);
    assert_int_equal(stage.stored, 100);
    assert_false(stage.is_out_of_order);
    assert_int_equal(count("good"), 100);
    assert_non_null(strstr(stage.last_error, "23514"));
    assert_null(strstr(stage.last_error, "bad"));
    assert_int_equal(proxy_count(stage.proxy), 1);
    add("good"); /* and life goes on */
    run(is_all_done);
    assert_int_equal(count("good"), 101);
}

/* Writes on asks, in the order they are asked for; what became of each. */
struct told {
    enum store_outcome outcome;
    char id[ASK_ID_BYTES];
    enum ask_state state;
    bool has_row;
};
static struct told told[64];

static void on_told(void *context, const struct store_reply *reply)
{
    struct told *one = context;

    *one = (struct told){ .outcome = reply->outcome, .has_row = reply->row };
    if (reply->row) {
        memcpy(one->id, reply->row->ask.id, sizeof one->id);
        one->state = reply->row->ask.state;
    }
    stage.done++;
}

static void add_of_ask(enum write_kind what, const void *values)
{
    batch_queue_add(stage.queue, write_new(what, values, on_told, &told[stage.wanted++]));
}

static void make(const char *id, const char *title)
{
    struct store_create create = { .ask = {
                                       .state = STATE_PENDING, .version = 1, .title = title } };

    text_put(create.ask.id, sizeof create.ask.id, id);
    create.ask.principal[0] = 'p';
    add_of_ask(WRITE_create, &create);
}

static void answer(const char *id, const char *key)
{
    struct store_change change = store_change_of(id, EVENT_ANSWERED);

    change.from_states = 1U << STATE_PENDING;
    change.to_state = STATE_SUBMITTED;
    change.answer_json = "{}";
    change.answer_key = key;
    change.skips_row = true;
    add_of_ask(WRITE_change, &change);
}

static void deliver(const char *id, const char *more)
{
    struct store_change change = store_change_of(id, EVENT_DELIVERED);

    change.more_ids = more;
    change.from_states = 1U << STATE_SUBMITTED;
    change.delivered_ms = 5;
    change.skips_row = true;
    add_of_ask(WRITE_change, &change);
}

static void assert_told(int first, const char *letters)
{
    for (int i = 0; letters[i]; i++) {
        if ("DLRMF"[told[first + i].outcome] != letters[i])
            fail_msg("write %d of %s: %d", i, letters, told[first + i].outcome);
    }
}

/* An ask may come into a transaction several times, as long as each effect comes behind the last.
 */
static void effects_come_in_their_order(void **state)
{
    NEEDS_SERVER;
    make("a", NULL);
    answer("a", NULL);
    deliver("a", "b");
    make("c", NULL);
    answer("c",
           "key"); /* the first transaction ends here: the next is about a, which was delivered */
    answer("a", NULL);
    answer("b", NULL);
    make("b", NULL); /* and the second here: b was not there */
    answer("b", "key");
    deliver("b", NULL);
    run(is_all_done);
    assert_told(0, "DDDDDLMDRL");
    assert_true(told[5].has_row && told[5].state == STATE_SUBMITTED);
    assert_true(told[8].has_row);
    assert_string_equal(told[8].id, "c"); /* whose key it was */
    assert_true(told[9].has_row && told[9].state == STATE_PENDING);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 3);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM asks WHERE delivered_ms = 5"),
                     1);
}

/* As the engine names them: each of the others behind a space. */
static void all_that_are_delivered_are_marked(void **state)
{
    static const char *const ids[] = { "one", "two", "three", "four" };

    NEEDS_SERVER;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        make(ids[i], NULL);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        answer(ids[i], NULL);
    deliver("one", " two three");
    deliver("four", NULL);
    run(is_all_done);
    assert_told(8, "DD");
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM asks WHERE delivered_ms = 5"),
                     4);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM unsettled"), 0);
}

static void bad_ones_of_a_statement_fail_alone(void **state)
{
    char id[ASK_ID_BYTES];

    NEEDS_SERVER;
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "ask %d", i % 20 == 7 ? 1 : i); /* one that is there, twice */
        make(id, i == 30 ? "not UTF-8: \xff" : NULL);
    }
    run(is_all_done);
    for (int i = 0; i < 40; i++)
        assert_int_equal(told[i].outcome, i % 20 == 7 || i == 30 ? STORE_FAILED : STORE_DONE);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM asks"), 37);
}

static bool is_unheard_stored(void *context)
{
    (void)context;
    return postgres_number(stage.url, "SELECT count(*) FROM asks WHERE delivered_ms = 5") == 1;
}

static void asks_in_doubt_are_asked_for(void **state)
{
    NEEDS_SERVER;
    make("before", NULL);
    run(is_all_done);
    proxy_set(stage.proxy, PROXY_MUTE);
    make("a", NULL);
    answer("a", NULL);
    answer("nobody", NULL);
    deliver("a", NULL);
    deliver("before", NULL);
    run(is_unheard_stored);
    assert_int_equal(stage.done, 1);
    proxy_set(stage.proxy, PROXY_PASS);
    proxy_cut(stage.proxy);
    run(is_all_done);
    assert_told(1, "DDMDL");
    assert_true(told[5].has_row);
    assert_string_equal(told[5].id, "before");
}

static void a_commit_that_was_not_heard_is_asked_for(void **state)
{
    NEEDS_SERVER;
    add("before");
    run(is_all_done);
    proxy_set(stage.proxy, PROXY_MUTE);
    for (int i = 0; i < 5; i++)
        add("unheard");
    for (int i = 0; i < 200 && count("unheard") < 5; i++)
        run_for(20);
    assert_int_equal(count("unheard"), 5);
    assert_int_equal(stage.done, 1); /* no caller was told */
    proxy_set(stage.proxy, PROXY_PASS);
    proxy_cut(stage.proxy);
    run(is_all_done);
    assert_int_equal(stage.done, 6);
    assert_int_equal(stage.stored, 6);
    assert_false(stage.is_out_of_order); /* the numbers are those that were given then */
    assert_int_equal(count("unheard"), 5);
}

static bool is_week_stored(void *context)
{
    (void)context;
    return count("week") == 5;
}

/* The database could not be reached for a week, and the other hubs went on: retention keeps what
 * this one still has to ask for. */
static void what_is_in_doubt_for_long_is_not_dropped(void **state)
{
    NEEDS_SERVER;
    for (int i = 0; i < 3; i++) {
        add("before");
        run(is_all_done);
    }
    proxy_set(stage.proxy, PROXY_MUTE);
    for (int i = 0; i < 5; i++)
        add("week");
    run(is_week_stored);
    postgres_run(stage.url, "UPDATE batches SET at_ms = at_ms - 7 * 86400000;"
                            "SELECT sayso_sweep(0, 1000000, 100)");
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 1);
    proxy_set(stage.proxy, PROXY_PASS);
    proxy_cut(stage.proxy);
    run(is_all_done);
    assert_int_equal(stage.done, 8);
    assert_int_equal(count("week"), 5);
    postgres_run(stage.url, "UPDATE batches SET at_ms = at_ms - 30::bigint * 86400000;"
                            "SELECT sayso_sweep(0, 1000000, 100)");
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM batches"), 0);
}

static void a_transaction_that_was_lost_is_run_again(void **state)
{
    NEEDS_SERVER;
    add("before");
    run(is_all_done);
    proxy_set(stage.proxy, PROXY_HOLD);
    for (int i = 0; i < 5; i++)
        add("lost");
    run(is_held);
    proxy_set(stage.proxy, PROXY_PASS);
    proxy_cut(stage.proxy);
    run(is_all_done);
    assert_int_equal(stage.done, 6);
    assert_int_equal(count("lost"), 5);
    assert_int_equal(
        postgres_number(stage.url, "SELECT count(*) FROM batches WHERE outcomes IS NULL"), 1);
}

/* The worst: given up and run again, and then its words arrive. */
static void a_late_transaction_is_void(void **state)
{
    NEEDS_SERVER;
    add("before");
    run(is_all_done);
    proxy_set(stage.proxy, PROXY_HOLD);
    for (int i = 0; i < 5; i++)
        add("late");
    run(is_held);
    proxy_set(stage.proxy, PROXY_PASS);
    proxy_cut_program(stage.proxy);
    run(is_all_done);
    assert_int_equal(stage.done, 6);
    proxy_release(stage.proxy);
    run_for(500);
    assert_int_equal(count("late"), 5);
    add("after"); /* it delays no other */
    run(is_all_done);
    assert_int_equal(stage.done, 7);
}

static void a_backend_that_is_ended_under_way_costs_nothing(void **state)
{
    NEEDS_SERVER;
    stage.more = 3000;
    for (int i = 0; i < 20; i++)
        add("first");
    for (int round = 0; round < 40; round++) {
        run_for(25);
        postgres_cut(stage.url);
    }
    run(is_all_done);
    assert_int_equal(stage.failed, 0);
    assert_int_equal(stage.done, 3020);
    assert_int_equal(count("first") + count("more"), 3020);
}

static void cuts_at_any_byte_cost_nothing(void **state)
{
    NEEDS_SERVER;
    stage.more = 2000;
    for (int i = 0; i < 50; i++)
        add("first");
    for (int round = 0; round < 60; round++) {
        run_for(3 + round % 17);
        proxy_set(stage.proxy, round % 2 ? PROXY_MUTE : PROXY_HOLD);
        run_for(round % 5);
        proxy_cut(stage.proxy);
        proxy_set(stage.proxy, PROXY_PASS);
    }
    run(is_all_done);
    assert_int_equal(stage.failed, 0);
    assert_int_equal(stage.done, 2050);
    assert_int_equal(count("first") + count("more"), 2050);
}

static void what_cannot_be_sent_fails_in_time(void **state)
{
    int64_t begun;

    NEEDS_SERVER;
    run(is_ready);
    proxy_set(stage.proxy, PROXY_SHUT);
    proxy_cut(stage.proxy);
    run_for(100);
    assert_false(pg_link_is_ready(batch_queue_link(stage.queue)));
    begun = loop_boot_ms();
    add("never");
    time_set_rate(10);
    run(is_all_done);
    time_set_rate(1);
    assert_int_equal(stage.failed, 1);
    assert_in_range(stage.last_ms - begun, 4900, SOON_MS);
    assert_non_null(strstr(stage.last_error, "nothing was stored"));
    assert_true(pg_link_silent_ms(batch_queue_link(stage.queue)) > 2000);
    proxy_set(stage.proxy, PROXY_PASS);
    add("then");
    run(is_all_done);
    assert_int_equal(stage.done, 1);
    assert_int_equal(count("never"), 0);
    run(is_heard); /* the end of what was sent may be still to come */
}

/* A crowd at a slow server: it moves, so everybody waits for their turn. */
static void who_waits_long_behind_others_does_not_fail(void **state)
{
    enum { BATCH = 256, BATCHES = 6 };
    int64_t begun;

    NEEDS_SERVER;
    postgres_run(stage.url,
                 "CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                 "PERFORM pg_catalog.pg_sleep(1.1); RETURN NEW; END $$;"
                 "CREATE TRIGGER slowly BEFORE INSERT ON batches FOR EACH ROW EXECUTE FUNCTION "
                 "slowly()");
    run(is_ready);
    begun = loop_boot_ms();
    for (int i = 0; i < BATCH * BATCHES; i++)
        add("patient");
    run(is_all_done);
    assert_int_equal(stage.failed, 0);
    assert_int_equal(count("patient"), BATCH * BATCHES);
    assert_true(stage.last_ms - begun > 5500); /* longer than one who stands still would be let */
}

/* What is in doubt is not failed; what waits behind it is, in time. */
static void a_silent_server_keeps_nobody_waiting_for_ever(void **state)
{
    int64_t begun = loop_boot_ms();

    NEEDS_SERVER;
    run(is_ready);
    proxy_set(stage.proxy, PROXY_MUTE);
    add("doubtful");
    run_for(100);
    add("behind");
    time_set_rate(10);
    run(is_one_failed);
    time_set_rate(1);
    assert_int_equal(stage.done, 0);
    assert_in_range(stage.last_ms - begun, 4900, SOON_MS);
    proxy_set(stage.proxy, PROXY_PASS);
    time_skip(3000); /* it was silent for so long that it must be gone */
    run(is_all_done);
    assert_int_equal(stage.done, 1);
    assert_int_equal(count("doubtful"), 1);
    assert_int_equal(count("behind"), 0);
}

/* Another connection holds the row that all writers take. */
static void who_is_in_the_way_is_waited_for(void **state)
{
    PGconn *other;

    NEEDS_SERVER;
    other = PQconnectdb(stage.url);
    PQclear(PQexec(other, "BEGIN; SELECT 1 FROM counter FOR UPDATE"));
    add("patient");
    for (int64_t until = loop_boot_ms() + SOON_MS; !is_one_held_up(); run_for(10))
        assert_true(loop_boot_ms() < until);
    assert_int_equal(stage.done + stage.failed, 0);
    PQclear(PQexec(other, "COMMIT"));
    run(is_all_done);
    assert_int_equal(stage.done, 1);
    PQclear(PQexec(other, "BEGIN; SELECT 1 FROM counter FOR UPDATE"));
    add("given up"); /* not for ever, though */
    run(is_all_done);
    PQfinish(other);
    assert_int_equal(stage.failed, 1);
    assert_non_null(strstr(stage.last_error, "nothing was stored"));
    run_for(200);
    assert_int_equal(count("patient"), 1);
    assert_int_equal(count("given up"), 0);
}

static void closing_while_busy_tells_everybody(void **state)
{
    NEEDS_SERVER;
    run(is_ready);
    proxy_set(stage.proxy, PROXY_HOLD);
    for (int i = 0; i < 300; i++)
        add("closing");
    run(is_held);
    batch_queue_close(stage.queue);
    stage.queue = NULL;
    assert_int_equal(stage.failed, 300);
    assert_int_equal(stage.done, 0);
}

static void tables_that_are_gone_are_said_to_be(void **state)
{
    NEEDS_SERVER;
    run(is_ready);
    postgres_clear(stage.url);
    add("nowhere");
    run(is_all_done);
    assert_int_equal(stage.failed, 1);
    assert_non_null(strstr(stage.last_error, "missing in the database"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writes_of_a_turn_are_one_transaction),
        TEST(more_than_fits_is_several_transactions),
        TEST(a_bad_one_fails_alone),
        TEST(effects_come_in_their_order),
        TEST(all_that_are_delivered_are_marked),
        TEST(bad_ones_of_a_statement_fail_alone),
        TEST(asks_in_doubt_are_asked_for),
        TEST(a_commit_that_was_not_heard_is_asked_for),
        TEST(what_is_in_doubt_for_long_is_not_dropped),
        TEST(a_transaction_that_was_lost_is_run_again),
        TEST(a_late_transaction_is_void),
        TEST(a_backend_that_is_ended_under_way_costs_nothing),
        TEST(cuts_at_any_byte_cost_nothing),
        TEST(what_cannot_be_sent_fails_in_time),
        TEST(who_waits_long_behind_others_does_not_fail),
        TEST(a_silent_server_keeps_nobody_waiting_for_ever),
        TEST(who_is_in_the_way_is_waited_for),
        TEST(closing_while_busy_tells_everybody),
        TEST(tables_that_are_gone_are_said_to_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
