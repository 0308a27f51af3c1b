/*
 * test_postgres_link.c - connections to PostgreSQL in the loop, and reads on them: what is lost
 * comes back, no reader waits forever, and each gets the result of its own statement.
 * Proves: F1, F5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "own_time.h"
#include "postgres_fixture.h"
#include "postgres_proxy.h"
#include "store/columns.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"
#include "store/postgres/follow.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/postgres/schema.h"
#include "store/store.h"

enum { SOON_MS = 60000, NEVER_MS = 1500 }; /* what comes, and what is not waited for */

struct stage {
    char url[POSTGRES_URL_BYTES], way[POSTGRES_URL_BYTES];
    struct proxy *proxy;
    struct loop *loop;
    struct address *address;
    struct pool *pool;
    struct pg_listener *listener;
    int news, done, failed, wanted;
    int64_t sum, last_ms;
    char last_error[480];
};
static struct stage stage;

static int count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}
static int files_before;

static int set_up(void **state)
{
    struct error err;

    (void)state;
    memset(&stage, 0, sizeof stage);
    if (!postgres_is_there())
        return 0;
    assert_true(libpq_load(&err));
    loop_free(loop_new()); /* the first keeps something for ever */
    files_before = count_files();
    postgres_create(stage.url);
    stage.proxy = proxy_new(stage.url, stage.way, sizeof stage.way);
    stage.loop = loop_new();
    assert_true(address_parse(stage.way, &stage.address, &err));
    return 0;
}

static void close_pool(void)
{
    if (stage.pool)
        pool_stop(stage.pool);
    pool_free_all(stage.pool);
}

static int tear_down(void **state)
{
    (void)state;
    if (!postgres_is_there())
        return 0;
    close_pool();
    pg_listener_close(stage.listener);
    address_free(stage.address);
    loop_free(stage.loop); /* aborts if something was forgotten */
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

static bool is_pool_ready(void *context)
{
    (void)context;
    return pool_is_ready(stage.pool);
}

static bool is_pool_lost(void *context)
{
    return !is_pool_ready(context);
}

static void run(bool (*is_done)(void *context))
{
    assert_true(loop_run_until(stage.loop, is_done, NULL, loop_boot_ms() + SOON_MS));
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void run_for(int64_t ms)
{
    loop_run_until(stage.loop, never, NULL, loop_boot_ms() + ms);
}

static void on_read(void *context, const PGresult *result, const struct error *err)
{
    (void)context;
    stage.last_ms = loop_boot_ms();
    if (result) {
        stage.done++;
        stage.sum += result_integer(result, 0, 0);
    } else {
        stage.failed++;
        assert_int_equal(err->code, ERROR_storage_failed);
        snprintf(stage.last_error, sizeof stage.last_error, "%s", err->message);
    }
}

static const struct sql sql_number = { "number", "SELECT $1::bigint" };
static const struct sql sql_sleep = { "sleep", "SELECT $1::bigint FROM pg_sleep(0.005)" };
static const struct sql sql_bad = { "bad", "SELECT 1 / ($1::bigint - $1::bigint)" };
static const struct sql sql_wrong = { "wrong", "SELECT nothing FROM nowhere" };
static const struct sql sql_long = { "long", "SELECT 1 FROM pg_sleep(30)" };

static void read_number(const struct sql *sql, int64_t number)
{
    struct params params = { 0 };

    stage.wanted++;
    params_add(&params, VALUES(value_number(number)));
    pool_read(stage.pool, sql, &params, on_read, NULL);
    assert_int_equal(params.count, 0);
}

#define NEEDS_SERVER                                                                               \
    (void)state;                                                                                   \
    if (!postgres_is_there())                                                                      \
    skip()

static void many_reads_at_once_are_all_answered(void **state)
{
    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    for (int i = 1; i <= 1000; i++)
        read_number(i % 3 ? &sql_number : &sql_sleep, i);
    assert_int_equal(stage.done, 0); /* never before pool_read returns */
    run(is_all_done);
    assert_int_equal(stage.done, 1000);
    assert_int_equal(stage.sum, 500500);
    assert_int_equal(proxy_count(stage.proxy), 2);
}

static void check_values(void *context, const PGresult *result, const struct error *err)
{
    uint8_t bytes[5];

    (void)context;
    (void)err;
    assert_non_null(result);
    assert_string_equal(result_text(result, 0, 0), "");
    assert_string_equal(result_text(result, 0, 1), "\xe9\x97\xae 'quoted' \\ $1");
    result_bytes(result, 0, 2, bytes, sizeof bytes);
    assert_memory_equal(bytes, "\0\xff\x01\0\0", 5);
    result_bytes(result, 0, 2, bytes, 2);
    assert_memory_equal(bytes, "\0\xff", 2);
    assert_true(result_flag(result, 0, 3));
    assert_true(result_is_null(result, 0, 4));
    assert_int_equal(result_integer(result, 0, 4), 0);
    assert_null(result_text(result, 0, 5));
    result_bytes(result, 0, 6, bytes, sizeof bytes); /* no bytea */
    assert_memory_equal(bytes, "\0\0\0\0\0", 5);
    assert_null(result_text(result, 0, 7)); /* there is no such column, */
    assert_null(result_text(result, 1, 0)); /* nor such a row */
    stage.done++;
}

static void values_come_back_as_they_went(void **state)
{
    static const struct sql sql = {
        "values", "SELECT $1::text, $2::text, $3::bytea, $4::bool, $5::bigint, $6::bytea, 'x'"
    };
    static const struct column kept = { COLUMN_KEEP, 0, sizeof(int64_t) };
    const int64_t number = STORE_KEEP;
    struct params params = { 0 };

    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    params_text(&params, "");
    params_text(&params, "\xe9\x97\xae 'quoted' \\ $1");
    params_add(&params, VALUES(value_bytes("\0\xff\x01", 3)));
    params_text(&params, "t");
    params_values(&params, &kept, 1, &number);
    params_add(&params, VALUES(value_bytes(NULL, 5)));
    pool_read(stage.pool, &sql, &params, check_values, NULL);
    stage.wanted = 1;
    run(is_all_done);
    assert_int_equal(stage.done, 1);
}

static void a_refused_read_fails_alone(void **state)
{
    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    for (int i = 0; i < 30; i++) {
        read_number(&sql_number, 1);
        read_number(i % 2 ? &sql_bad : &sql_wrong, i % 2);
        read_number(&sql_number, 1);
    }
    run(is_all_done);
    assert_int_equal(stage.done, 60);
    assert_int_equal(stage.failed, 30);
    assert_int_equal(stage.sum, 60);
    assert_int_equal(proxy_count(stage.proxy), 2); /* no connection was given up for that */
}

/* Reads that follow from reads, as an act that looks twice makes them. */
struct follower {
    const struct sql *sql;
    int64_t number, last;
};

static void follow(struct follower *follower);

static void on_followed(void *context, const PGresult *result, const struct error *err)
{
    struct follower *follower = context;

    assert_int_equal(!err, follower->sql == &sql_number);
    if (result) { /* its own, not that of the read before it on this connection */
        assert_int_equal(libpq.nfields(result), 1);
        assert_int_equal(result_integer(result, 0, 0), follower->number);
    }
    if (++follower->number == follower->last)
        stage.done++;
    else
        follow(follower);
}

static void follow(struct follower *follower)
{
    static const struct sql *const turns[] = { &sql_number, &sql_bad, &sql_number, &sql_wrong };
    struct params params = { 0 };

    follower->sql = turns[follower->number % 4];
    params_add(&params, VALUES(value_number(follower->number)));
    if (follower->sql == &sql_wrong)
        params_release(&params);
    pool_read(stage.pool, follower->sql, &params, on_followed, follower);
}

static void reads_that_follow_from_reads_get_their_own_results(void **state)
{
    struct follower followers[50];

    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    stage.wanted = (int)ARRAY_LEN(followers);
    for (size_t i = 0; i < ARRAY_LEN(followers); i++) {
        followers[i] =
            (struct follower){ .number = (int64_t)i * 1000, .last = (int64_t)i * 1000 + 40 };
        follow(&followers[i]);
    }
    run(is_all_done);
    assert_int_equal(proxy_count(stage.proxy), 2);
}

static void reads_under_way_survive_lost_connections(void **state)
{
    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    run(is_pool_ready);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 50; i++)
            read_number(i % 2 ? &sql_sleep : &sql_number, 1);
        run_for(30);
        if (round % 2)
            proxy_cut(stage.proxy);
        else
            postgres_cut(stage.url);
    }
    run(is_all_done);
    assert_string_equal(stage.last_error, "");
    assert_int_equal(stage.done, 500);
    assert_int_equal(stage.sum, 500);
    assert_true(pool_connects(stage.pool) > 2);
}

static void a_server_that_is_away_is_found_again(void **state)
{
    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    run(is_pool_ready);
    proxy_set(stage.proxy, PROXY_SHUT);
    proxy_cut(stage.proxy);
    run(is_pool_lost);
    read_number(&sql_number, 1);
    run_for(1000);
    assert_int_equal(stage.done, 0);
    proxy_set(stage.proxy, PROXY_PASS);
    run(is_all_done); /* within its limit, or it would have failed */
    assert_int_equal(stage.done, 1);
}

static void a_read_without_an_answer_fails_in_time(void **state)
{
    int64_t begun;

    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    run(is_pool_ready);
    proxy_set(stage.proxy, PROXY_MUTE);
    begun = loop_boot_ms();
    read_number(&sql_number, 1);
    time_set_rate(10);
    run(is_all_done);
    time_set_rate(1);
    assert_int_equal(stage.failed, 1);
    assert_in_range(stage.last_ms - begun, 4500, SOON_MS);
    assert_non_null(strstr(stage.last_error, "the database does not answer"));
    proxy_set(stage.proxy, PROXY_PASS); /* and the late answer is dropped */
    read_number(&sql_number, 5);
    run(is_all_done);
    assert_int_equal(stage.done, 1);
    assert_int_equal(stage.sum, 5);
}

static void closing_tells_those_who_wait(void **state)
{
    NEEDS_SERVER;
    stage.pool = pool_open(stage.loop, stage.address);
    run(is_pool_ready);
    read_number(&sql_long, 1);
    for (int i = 0; i < 100; i++)
        read_number(&sql_sleep, 1);
    run_for(60);
    close_pool();
    stage.pool = NULL;
    assert_int_equal(stage.done + stage.failed, 101);
    assert_true(stage.failed > 0);
}

/* Listening ------------------------------------------------------------------------------------ */

static int own_pid;

static void on_news(void *context)
{
    (void)context;
    stage.news++;
}

static bool is_own(void *context, int pid)
{
    (void)context;
    if (own_pid < 0)
        own_pid = pid;
    return pid == own_pid;
}

static bool is_hearing(void *context)
{
    (void)context;
    return pg_listener_is_hearing(stage.listener);
}

static bool has_news(void *context)
{
    (void)context;
    return stage.news == stage.wanted;
}

static void words_of_others_are_heard(void **state)
{
    struct pg_listener_parts parts;

    NEEDS_SERVER;
    own_pid = 0;
    stage.pool = pool_open(stage.loop, stage.address);
    parts =
        (struct pg_listener_parts){ stage.loop, stage.address, stage.pool, on_news, is_own, NULL };
    stage.listener = pg_listener_open(&parts);
    run(is_hearing);
    assert_int_equal(stage.news, 1); /* what was before may have been missed */
    proxy_cut(stage.proxy);
    stage.wanted = 2; /* and what came while it did not listen */
    run(has_news);
    run(is_hearing);
    assert_false(address_is_pooled(stage.address));
    postgres_run(stage.url, "SELECT pg_notify('sayso', '42')");
    stage.wanted = 3;
    run(has_news);
    own_pid = -1; /* the next is ours */
    postgres_run(stage.url, "SELECT pg_notify('sayso', '43')");
    run_for(200);
    assert_int_equal(stage.news, 3);
}

/* The start ------------------------------------------------------------------------------------ */

static void start_in_vain(const char *url, int64_t limit_ms, struct error *err)
{
    struct address *address;
    struct start *start;

    assert_true(address_parse(url, &address, err));
    assert_false(start_open(address, limit_ms, &start, err));
    assert_null(strstr(err->message, "geheim"));
    address_free(address);
}

static void fail_to_start(const char *url, int64_t limit_ms, const char *why)
{
    struct error err = { 0 };

    start_in_vain(url, limit_ms, &err);
    if (!strstr(err.message, why))
        fail_msg("%s: %s", url, err.message);
}

static void a_start_that_fails_says_why(void **state)
{
    char url[POSTGRES_URL_BYTES];
    const char *socket;

    NEEDS_SERVER;
    socket = strchr(stage.url, '?');
    snprintf(url, sizeof url, "postgres://sayso:geheim@/nowhere%s", socket);
    fail_to_start(url, SOON_MS, "no database of that name");
    snprintf(url, sizeof url, "postgres://nobody:geheim@/postgres%s", socket);
    fail_to_start(url, SOON_MS, "refused the user or the password");
    time_set_rate(10); /* they are tried again and again */
    fail_to_start("postgres://me:geheim@127.0.0.1:1/db", NEVER_MS, "can't be reached");
    fail_to_start("postgres://me:geheim@nowhere.invalid/db", NEVER_MS, "can't be reached");
    fail_to_start("postgres://me:geheim@/db?host=/nowhere", NEVER_MS, "can't be reached");
    time_set_rate(1);
    proxy_set(stage.proxy, PROXY_MUTE);
    fail_to_start(stage.way, NEVER_MS, "does not answer");
}

/* Hears what the server says to the first try, then nothing more. */
static void *mute_after_the_first(void *context)
{
    const struct timespec pause = { 0, 1000000 };
    const int64_t *limit_ms = context;

    while (proxy_count(stage.proxy) < 2 && loop_boot_ms() < *limit_ms)
        nanosleep(&pause, NULL);
    proxy_set(stage.proxy, PROXY_MUTE);
    return NULL;
}

static void a_try_that_is_cut_short_does_not_hide_the_reason(void **state)
{
    char url[POSTGRES_URL_BYTES + 80];
    struct error err = { 0 };
    int64_t limit_ms;
    pthread_t thread;

    NEEDS_SERVER;
    for (int64_t ms = NEVER_MS; proxy_count(stage.proxy) < 2; ms *= 2) {
        proxy_free(stage.proxy); /* a busy machine gets more time */
        stage.proxy = proxy_new(stage.url, stage.way, sizeof stage.way);
        snprintf(url, sizeof url, "%s&options=-cdefault_transaction_read_only%%3Don", stage.way);
        limit_ms = loop_boot_ms() + ms;
        assert_int_equal(pthread_create(&thread, NULL, mute_after_the_first, &limit_ms), 0);
        start_in_vain(url, ms, &err);
        pthread_join(thread, NULL);
    }
    assert_non_null(strstr(err.message, "standby"));
}

static void a_start_asks_and_is_answered(void **state)
{
    struct start *start;
    struct error err = { 0 };
    PGresult *result;
    struct params params = { 0 };

    NEEDS_SERVER;
    assert_true(start_open(stage.address, 5000, &start, &err));
    params_text(&params, "words");
    assert_true(start_run(start, "SELECT $1::text", &params, &result, &err));
    assert_string_equal(result_text(result, 0, 0), "words");
    libpq.clear(result);
    params_release(&params);
    assert_true(start_run(start, "CREATE TABLE a (b int); SELECT 7", NULL, &result, &err));
    assert_int_equal(result_integer(result, 0, 0), 7);
    libpq.clear(result);
    assert_false(start_run(start, "SELECT 1; SELECT 1 / 0; SELECT 2", NULL, NULL, &err));
    assert_string_equal(start_state(start), "22012");
    assert_non_null(strstr(err.message, "division by zero"));
    assert_true(start_run(start, "SELECT 1", NULL, NULL, &err));
    start_extend(start, 300);
    assert_false(start_run(start, "SELECT pg_sleep(5)", NULL, NULL, &err));
    start_close(start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_reads_at_once_are_all_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_come_back_as_they_went, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refused_read_fails_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_that_follow_from_reads_get_their_own_results, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(reads_under_way_survive_lost_connections, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_is_away_is_found_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_read_without_an_answer_fails_in_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(closing_tells_those_who_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_of_others_are_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_start_that_fails_says_why, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_try_that_is_cut_short_does_not_hide_the_reason, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_start_asks_and_is_answered, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
