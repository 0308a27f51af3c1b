/*
 * test_postgres_store.c - the store port on PostgreSQL as a whole: how it opens and refuses to,
 * that an answer is stored once and told once over a network that loses words, that two who share a
 * database hear of each other, and how it closes.
 * Proves: R13.1, F1, F2, F5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

#include <dirent.h>
#include <sys/wait.h>

#include "base/text.h"
#include "own_time.h"
#include "postgres_fixture.h"
#include "postgres_proxy.h"
#include "store/postgres/libpq.h"
#include "store/postgres/postgres.h"

enum { SOON_MS = 120000 };

struct stage {
    char url[POSTGRES_URL_BYTES], way[POSTGRES_URL_BYTES];
    struct proxy *proxy;
    struct loop *loop;
    struct store *store;
    int files;
    int replies, done, failed, news, resyncs;
    char last_id[ASK_ID_BYTES];
    enum ask_state last_state;
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

static struct store *open_by(const char *url)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!postgres_store_open(stage.loop, url, &store, &err))
        fail_msg("%s", err.message);
    return store;
}

static int stage_up(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof stage);
    time_set_rate(1);
    if (!postgres_is_there())
        return 0;
    loop_free(loop_new()); /* the first keeps something for ever */
    stage.files = count_files();
    postgres_create(stage.url);
    stage.proxy = proxy_new(stage.url, stage.way, sizeof stage.way);
    stage.loop = loop_new();
    return 0;
}

static int stage_down(void **state)
{
    (void)state;
    if (!postgres_is_there())
        return 0;
    if (stage.store)
        stage.store->ops->close(stage.store);
    loop_free(stage.loop);
    proxy_free(stage.proxy);
    postgres_drop(stage.url);
    assert_int_equal(count_files(), stage.files);
    return 0;
}

static void run(bool (*is_done)(void *context), void *context)
{
    assert_true(loop_run_until(stage.loop, is_done, context, loop_boot_ms() + SOON_MS));
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

static bool is_seen(void *context)
{
    return ((struct seen *)context)->count > 0;
}

static struct seen store_ask(struct store *store, const struct ask *ask)
{
    struct store_principal principal = principal_of(ask);
    struct seen seen = { 0 };

    store_write_create(store, &(struct store_create){ *ask, principal }, on_reply, &seen);
    run(is_seen, &seen);
    return seen;
}

static struct seen read_ask(struct store *store, const char *id)
{
    struct seen seen = { 0 };

    store->ops->get(store, id, 0, on_reply, &seen);
    assert_int_equal(seen.count, 0);
    run(is_seen, &seen);
    return seen;
}

#define NEEDS_SERVER                                                                               \
    (void)state;                                                                                   \
    if (!postgres_is_there())                                                                      \
    skip()

static void an_answer_comes_back(void **state)
{
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key");
    struct seen seen;
    struct text metrics = { 0 };
    struct postgres_facts facts;

    NEEDS_SERVER;
    stage.store = open_by(stage.way);
    seen = store_ask(stage.store, &ask);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_int_equal(stage.store->ops->last_seq(stage.store), 1);
    forget(&seen);
    store_write_change(stage.store, &how, on_reply, &seen);
    run(is_seen, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    assert_int_equal(seen.row->ask.state, STATE_SUBMITTED);
    forget(&seen);
    seen = read_ask(stage.store, ask.id);
    assert_string_equal(seen.row->answer_json, how.answer_json);
    forget(&seen);
    assert_true(stage.store->ops->is_reachable(stage.store));
    assert_false(stage.store->ops->is_broken(stage.store));
    stage.store->ops->write_metrics(stage.store, &metrics);
    assert_non_null(strstr(text_string(&metrics), "sayso_store_reachable 1"));
    text_release(&metrics);
    postgres_store_facts(stage.store, &facts);
    assert_true(facts.is_commit_kept);
    assert_false(facts.has_standby);
    assert_null(strstr(facts.shown, "password"));
}

/* Each cut is at another moment of the same exchange. What is told is what the database has. */
static void answers_in_doubt_are_told_rightly(void **state)
{
    NEEDS_SERVER;
    stage.store = open_by(stage.way);
    for (int i = 1; i <= 24; i++) {
        struct ask ask = make_ask(i);
        struct store_change how = answer_of(ask.id, ask.id);
        struct seen first, second = { 0 }, third = { 0 };

        first = store_ask(stage.store, &ask);
        assert_int_equal(first.reply.outcome, STORE_DONE);
        forget(&first);
        proxy_set(stage.proxy, i % 2 ? PROXY_MUTE : PROXY_HOLD);
        store_write_change(stage.store, &how, on_reply, &first);
        run_for(i % 3 * 20);
        proxy_set(stage.proxy, PROXY_PASS);
        how.answer_json = "{\"selected_ids\":[\"b\"]}";
        store_write_change(stage.store, &how, on_reply, &second); /* the same key again */
        how.answer_key = "another";
        store_write_change(stage.store, &how, on_reply, &third); /* too late */
        proxy_cut(stage.proxy);
        run(is_seen, &third);
        assert_int_equal(first.count, 1);
        assert_int_equal(first.reply.outcome, STORE_DONE);
        assert_int_equal(first.row->ask.state, STATE_SUBMITTED);
        assert_string_equal(first.row->answer_json, "{\"selected_ids\":[\"a\"]}");
        assert_int_equal(first.reply.seq, first.row->seq);
        assert_int_equal(second.reply.outcome, STORE_REPEATED);
        assert_string_equal(second.row->answer_json, "{\"selected_ids\":[\"a\"]}");
        assert_int_equal(third.reply.outcome, STORE_LOST);
        assert_int_equal(third.row->ask.state, STATE_SUBMITTED);
        assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM answers"), i);
        forget(&first);
        forget(&second);
        forget(&third);
    }
}

/* Two hubs ------------------------------------------------------------------------------------- */

static void on_ask(void *context, const struct store_row *row)
{
    (void)context;
    stage.news++;
    memcpy(stage.last_id, row->ask.id, sizeof stage.last_id);
    stage.last_state = row->ask.state;
}

static void on_conversation(void *context, const char *id)
{
    (void)context;
    (void)id;
}

static void on_facts(void *context)
{
    (void)context;
}

static void on_resync(void *context)
{
    (void)context;
    stage.resyncs++;
}

static bool has_news(void *context)
{
    return stage.news >= *(int *)context;
}

static bool is_hearing(void *context)
{
    struct postgres_facts facts;

    postgres_store_facts(context, &facts);
    return facts.is_hearing;
}

static bool is_reachable(void *context)
{
    return stage.store->ops->is_reachable(stage.store) == *(bool *)context;
}

/* What is told by the database comes sooner than what is looked for (every two seconds): several
 * in a row do, whatever else the machine does. Returns the number of asks. */
static int hear_of_asks(struct store *other)
{
    int64_t limit_ms = loop_boot_ms() + SOON_MS;
    int asks = 0, in_a_row = 0;

    while (in_a_row < 6) {
        int64_t begun_ms = loop_boot_ms();
        struct ask ask = make_ask(++asks);
        struct seen seen = store_ask(other, &ask);

        forget(&seen);
        run(has_news, &asks);
        assert_string_equal(stage.last_id, ask.id);
        in_a_row = loop_boot_ms() - begun_ms < 500 ? in_a_row + 1 : 0;
        assert_true(loop_boot_ms() < limit_ms);
    }
    return asks;
}

static void two_who_share_a_database_hear_of_each_other(void **state)
{
    static const struct store_news news = {
        .ask = on_ask, .conversation = on_conversation, .facts = on_facts, .resync = on_resync
    };
    struct store *other;
    struct ask ask = make_ask(1);
    struct store_change how = answer_of(ask.id, "key");
    struct seen seen;
    bool is_there = false;
    int heard;

    NEEDS_SERVER;
    stage.store = open_by(stage.way);
    other = open_by(stage.url);
    stage.store->ops->follow(stage.store, &news, NULL);
    run(is_hearing, stage.store);
    heard = hear_of_asks(other);
    ask = make_ask(heard + 1);
    seen = store_ask(stage.store, &ask);
    forget(&seen);
    assert_int_equal(stage.news, heard); /* our own are no news */
    proxy_set(stage.proxy, PROXY_SHUT);  /* while we are away: */
    proxy_cut(stage.proxy);
    store_write_change(other, &how, on_reply, &seen);
    run(is_seen, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    run(is_reachable, &is_there);
    assert_int_equal(stage.news, heard);
    proxy_set(stage.proxy, PROXY_PASS);
    heard++;
    run(has_news, &heard);
    assert_int_equal(stage.last_state, STATE_SUBMITTED);
    is_there = true;
    run(is_reachable, &is_there);
    assert_int_equal(stage.resyncs, 0);
    forget(&seen);
    other->ops->close(other);
}

/* Opening -------------------------------------------------------------------------------------- */

static void refuse(const char *url, const char *why)
{
    struct store *store;
    struct error err = { 0 };

    assert_false(postgres_store_open(stage.loop, url, &store, &err));
    if (!strstr(err.message, why))
        fail_msg("%s", err.message);
    assert_null(strstr(err.message, "geheim"));
}

static void databases_that_do_not_fit_are_refused(void **state)
{
    char url[POSTGRES_URL_BYTES + 80];
    struct store *store;

    NEEDS_SERVER;
    store = open_by(stage.url);
    store->ops->close(store);
    store = open_by(stage.url); /* again, by the same program */
    store->ops->close(store);
    postgres_run(stage.url, "UPDATE sayso SET version = version + 1000");
    refuse(stage.url, "a later sayso");
    postgres_clear(stage.url);
    postgres_run(stage.url, "CREATE TABLE asks (theirs text)");
    refuse(stage.url, "other tables");
    postgres_clear(stage.url);
    postgres_run(stage.url, "CREATE SCHEMA locked; ALTER SCHEMA locked OWNER TO sayso;"
                            "REVOKE CREATE ON SCHEMA locked FROM sayso");
    snprintf(url, sizeof url, "%s&options=-csearch_path%%3Dlocked", stage.url);
    refuse(url, "GRANT");
    snprintf(url, sizeof url, "%s&options=-cdefault_transaction_read_only%%3Don", stage.url);
    time_set_rate(4); /* it is tried again for ten seconds */
    refuse(url, "standby");
    time_set_rate(1);
    snprintf(url, sizeof url, "postgres://sayso:geheim@/nowhere%s", strchr(stage.url, '?'));
    refuse(url, "no database of that name");
    refuse("postgres://sayso:gehe@im/geheim@host/x", "%40");
    time_set_rate(20);
    refuse("postgres://", "");
}

static void names_for_people_have_no_password(void **state)
{
    static const struct {
        const char *url, *name;
    } cases[] = {
        { "postgres://me:geheim@host:5433/db?sslmode=require", "postgres://me@host:5433/db" },
        { "postgresql://me@host/db", "postgresql://me@host/db" },
        { "postgres:///db?host=/run/postgresql&password=geheim", "postgres:///db" },
        { "postgres://host/db", "postgres://host/db" },
        { "postgres://me:ge@heim:ge/heim?geheim@host/db", "postgres://me@host/db" },
        { "postgres://:geheim@host/db", "postgres://@host/db" },
        { "postgres:geheim", "postgres:" },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text name = { 0 };

        postgres_write_name(cases[i].url, &name);
        assert_string_equal(text_string(&name), cases[i].name);
        text_release(&name);
    }
}

static void hubs_may_open_at_once(void **state)
{
    pid_t children[6];
    int status;

    NEEDS_SERVER;
    for (size_t i = 0; i < ARRAY_LEN(children); i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct loop *loop = loop_new();
            struct store *store;
            struct error err;
            bool ok = postgres_store_open(loop, stage.url, &store, &err);

            if (!ok)
                fprintf(stderr, "%s\n", err.message);
            if (ok)
                store->ops->close(store);
            loop_free(loop);
            _exit(ok ? 0 : 1);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(children); i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
}

/* Closing -------------------------------------------------------------------------------------- */

static void count_reply(void *context, const struct store_reply *reply)
{
    struct store *store = context;

    stage.replies++;
    if (reply->outcome == STORE_DONE)
        stage.done++;
    else
        stage.failed++;
    if (store) /* and asks for more of everything, once */
        store->ops->get(store, "aaaaaaaaaaaaaaaaaaaaaaaaaa", 0, count_reply, NULL);
    if (store)
        store_write_meta(store, &(struct store_meta){ "name", "value" }, count_reply, NULL);
}

static void closing_writes_what_is_queued(void **state)
{
    NEEDS_SERVER;
    stage.store = open_by(stage.way);
    for (int i = 0; i < 500; i++)
        store_write_meta(stage.store, &(struct store_meta){ i % 2 ? "odd" : "even", "x" },
                         count_reply, NULL);
    stage.store->ops->close(stage.store);
    stage.store = NULL;
    assert_int_equal(stage.done, 500);
    assert_int_equal(postgres_number(stage.url, "SELECT count(*) FROM meta WHERE name IN"
                                                " ('odd', 'even')"),
                     2);
}

static void closing_without_a_database_tells_everybody(void **state)
{
    NEEDS_SERVER;
    stage.store = open_by(stage.way);
    proxy_set(stage.proxy, PROXY_SHUT);
    proxy_cut(stage.proxy);
    run_for(100);
    for (int i = 0; i < 10; i++) {
        store_write_meta(stage.store, &(struct store_meta){ "a", "b" }, count_reply, stage.store);
        stage.store->ops->get(stage.store, "aaaaaaaaaaaaaaaaaaaaaaaaaa", 0, count_reply,
                              stage.store);
    }
    time_set_rate(20);
    stage.store->ops->close(stage.store);
    stage.store = NULL;
    assert_int_equal(stage.done, 0);
    assert_int_equal(stage.replies, 60);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_up, stage_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_comes_back),
        TEST(answers_in_doubt_are_told_rightly),
        TEST(two_who_share_a_database_hear_of_each_other),
        TEST(databases_that_do_not_fit_are_refused),
        cmocka_unit_test(names_for_people_have_no_password),
        TEST(hubs_may_open_at_once),
        TEST(closing_writes_what_is_queued),
        TEST(closing_without_a_database_tells_everybody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
