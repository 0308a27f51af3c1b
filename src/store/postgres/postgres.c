/* postgres.c - see postgres.h. Puts the parts together, as store/sqlite/sqlite.c does for a file.
 */
#include "store/postgres/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "store/postgres/address.h"
#include "store/postgres/batch.h"
#include "store/postgres/cache.h"
#include "store/postgres/connection.h"
#include "store/postgres/follow.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/postgres/read.h"
#include "store/postgres/schema.h"
#include "store/postgres/write.h"
#include "store/writes.h"

enum {
    OPEN_MS = 10000,
    CLOSE_MS = 10000,
    LEAVE_MS = 1000, /* for each part of it */
    LOOK_MS = 2000,  /* at least so often others' writes are looked for */
    AWAY_MS = 2000,  /* so long without the database is nothing to speak of */
};

struct postgres_store {
    struct pg_store reads; /* first: a struct store * is one of these */
    struct loop *loop;
    struct address *address;
    struct batch_queue *queue; /* NULL: closing */
    struct pg_listener *listener;
    struct follow *follow;
    struct heartbeat *heartbeat;
    struct loop_timer *timer;
    struct write_list late; /* asked for while closing */
    int64_t hub;
    struct postgres_facts facts;
};

static struct postgres_store *own(struct store *store)
{
    return (struct postgres_store *)store;
}

static void on_swept(void *context, const PGresult *result, const struct error *err)
{
    struct write *write = context;

    if (err)
        write_set_failed(write, err);
    else
        write_take(write, 1, result);
    write_answer(write);
}

/* Retention may be repeated, and a batch would hold up every hub: it goes where reads go. */
static void sweep(struct postgres_store *store, struct write *take_write)
{
    struct params params = { 0 };
    const struct sql *sql;

    write_bind(take_write, 1, &sql, &params);
    pool_read(store->reads.pool, sql, &params, on_swept, take_write);
}

/* The index is not part of what has to be right, so it is no part of the queue either. */
static void add(struct queued_store *queued, struct write *take_write)
{
    struct postgres_store *store = (struct postgres_store *)queued;

    if (take_write->what == WRITE_index) {
        postgres_index(store->reads.pool, take_write->of.index.now_ms,
                       (size_t)take_write->of.index.batch, take_write->done, take_write->context);
        write_free(take_write);
    } else if (take_write->what == WRITE_sweep) {
        sweep(store, take_write);
    } else if (store->queue) {
        batch_queue_add(store->queue, take_write);
    } else {
        write_list_add(&store->late, take_write);
    }
}

static void on_stored(void *context, const struct write *write)
{
    struct postgres_store *store = context;

    cache_apply(store->reads.cache, write);
    if (write->reply.outcome == STORE_DONE && (write_rows[write->what].flags & WRITE_HAS_EVENT))
        follow_wrote(store->follow, write->reply.seq);
}

static void on_news(void *context)
{
    struct postgres_store *store = context;

    follow_look(store->follow);
}

static bool is_own(void *context, int pid)
{
    struct postgres_store *store = context;

    return store->queue && pg_link_pid(batch_queue_link(store->queue)) == pid;
}

static void on_time(void *context)
{
    struct postgres_store *store = context;

    follow_look(store->follow);
    loop_timer_at(store->timer, loop_boot_ms() + LOOK_MS);
}

static void store_follow(struct store *store, const struct store_news *news, void *context)
{
    heartbeat_tell(own(store)->heartbeat, news, context);
    follow_tell(own(store)->follow, news, context);
    follow_look(own(store)->follow);
}

static int64_t store_utc_ms(struct store *store)
{
    return follow_utc_ms(own(store)->follow);
}

static bool store_is_reachable(struct store *store)
{
    struct batch_queue *queue = own(store)->queue;

    return queue && pg_link_silent_ms(batch_queue_link(queue)) <= AWAY_MS;
}

static bool store_is_broken(struct store *store)
{
    (void)store; /* whatever happens to a database, its server recovers it */
    return false;
}

static int64_t store_last_seq(struct store *store)
{
    return follow_last_seq(own(store)->follow);
}

static void store_write_metrics(struct store *store, struct text *out)
{
    struct postgres_store *postgres = own(store);

    batch_queue_write_metrics(postgres->queue, out);
    metrics_write_one(out, "sayso_store_reachable", "gauge", "1: the database answers.",
                      store_is_reachable(store));
    metrics_write_one(out, "sayso_store_hearing", "gauge",
                      "1 if changes from other hubs arrive immediately.",
                      pg_listener_is_hearing(postgres->listener));
    metrics_write_one(out, "sayso_store_reader_connects_total", "counter",
                      "Connections made for reading.", pool_connects(postgres->reads.pool));
}

/* Closing: each completion is called, and may ask for more; in the end nothing is left to do. */

static bool is_drained(void *context)
{
    struct postgres_store *store = context;

    return batch_queue_is_empty(store->queue);
}

static void fail_late(struct postgres_store *store)
{
    struct error err;
    struct write *write;

    error_set(&err, ERROR_storage_failed, "", "the store is closing; nothing was stored");
    while ((write = write_list_take(&store->late))) {
        write_set_failed(write, &err);
        write_answer(write);
    }
}

static void leave(struct postgres_store *store)
{
    int64_t before;

    if (!store->heartbeat || !pool_is_ready(store->reads.pool))
        return;
    heartbeat_leave(store->heartbeat);
    do
        before = heartbeat_left_number(store->heartbeat);
    while (!loop_run_until(store->loop, heartbeat_has_left, store->heartbeat,
                           loop_boot_ms() + LEAVE_MS) &&
           heartbeat_left_number(store->heartbeat) > before);
}

static void store_close(struct store *port)
{
    struct postgres_store *store = own(port);
    struct batch_queue *queue = store->queue;

    loop_timer_free(store->timer);
    if (queue)
        loop_run_until(store->loop, is_drained, store, loop_boot_ms() + CLOSE_MS);
    leave(store);
    store->queue = NULL;
    batch_queue_close(queue);
    do {
        if (store->reads.pool)
            pool_stop(store->reads.pool);
        fail_late(store);
    } while (store->reads.pool && !pool_is_empty(store->reads.pool));
    pg_listener_close(store->listener);
    heartbeat_free(store->heartbeat);
    follow_free(store->follow);
    cache_free(store->reads.cache);
    pool_free_all(store->reads.pool);
    address_free(store->address);
    free(store);
}

/* clang-format off */
static const struct store_ops postgres_ops = {
    STORE_READS(PG_MEMBER)
    STORE_READS_OF_BOTH(BOTH_MEMBER)
    .write = store_write,
    .close = store_close,
    .is_broken = store_is_broken,
    .last_seq = store_last_seq,
    .write_metrics = store_write_metrics,
    .follow = store_follow,
    .utc_ms = store_utc_ms,
    .is_reachable = store_is_reachable,
};
/* clang-format on */

/* Makes this hub known to the others before its first write. */
static bool arrive(struct postgres_store *store, struct start *start, struct error *err)
{
    char first[64];

    snprintf(first, sizeof first, "SELECT sayso_beat(%lld, 0)", (long long)store->hub);
    return start_run(start, first, NULL, NULL, err);
}

/* What is read later knows what the follower knows, or more. */
static bool read_all(struct postgres_store *store, struct start *start, struct error *err)
{
    PGresult *result;

    if (!start_run(start, follow_start_sql.text, NULL, &result, err))
        return false;
    follow_start(store->follow, result);
    libpq.clear(result);
    if (!start_run(start, cache_sql.text, NULL, &result, err))
        return false;
    cache_take(store->reads.cache, result);
    libpq.clear(result);
    if (!start_run(start,
                   "SELECT current_setting('synchronous_commit') <> 'off',"
                   " current_setting('synchronous_standby_names') <> ''"
                   " AND current_setting('synchronous_commit') NOT IN ('off', 'local')",
                   NULL, &result, err))
        return false;
    store->facts.is_commit_kept = result_flag(result, 0, 0);
    store->facts.has_standby = result_flag(result, 0, 1);
    libpq.clear(result);
    return true;
}

static bool prepare(struct postgres_store *store, struct error *err)
{
    struct start *start = NULL;
    bool ok = start_open(store->address, OPEN_MS, &start, err) && start_make_schema(start, err) &&
              read_all(store, start, err) && arrive(store, start, err);

    start_close(start);
    if (ok && *pg_meta(&store->reads.queued.port, "importing"))
        ok = error_say(err, ERROR_storage_failed, "", TEXT_REASON_BACKUP_INCOMPLETE, NULL);
    if (ok && *pg_meta(&store->reads.queued.port, "migrating"))
        ok = error_say(err, ERROR_storage_failed, "", TEXT_REASON_MIGRATE_INCOMPLETE, NULL);
    return ok;
}

static bool is_connected(void *context)
{
    struct postgres_store *store = context;

    return pg_link_is_ready(batch_queue_link(store->queue)) && pool_is_ready(store->reads.pool);
}

static bool connect_parts(struct postgres_store *store, struct error *err)
{
    const struct batch_parts writer = { store->loop, store->address, store->hub, on_stored, store };
    const struct pg_listener_parts listener = { .loop = store->loop,
                                                .address = store->address,
                                                .pool = store->reads.pool,
                                                .on_news = on_news,
                                                .is_own = is_own,
                                                .context = store };

    store->queue = batch_queue_open(&writer);
    store->listener = pg_listener_open(&listener);
    store->heartbeat = heartbeat_new(store->loop, store->reads.pool, store->hub);
    store->timer = loop_timer_new(store->loop, on_time, store);
    loop_timer_at(store->timer, loop_boot_ms() + LOOK_MS);
    if (loop_run_until(store->loop, is_connected, store, loop_boot_ms() + OPEN_MS))
        return true;
    return error_set(err, ERROR_storage_failed, "",
                     "the database at %.160s can't be reached any more: it lets us in once, but "
                     "not the five connections that are used (max_connections)",
                     address_shown(store->address));
}

bool postgres_store_open(struct loop *loop, const char *url, struct store **ret_store,
                         struct error *err)
{
    struct postgres_store *store;
    struct address *address;

    if (!libpq_load(err) || !address_parse(url, &address, err))
        return false;
    store = mem_new(sizeof *store);
    store->reads.queued = (struct queued_store){ { &postgres_ops }, add, pg_read };
    store->loop = loop;
    store->address = address;
    random_bytes(&store->hub, sizeof store->hub);
    store->hub &= INT64_MAX;
    store->reads.cache = cache_new();
    store->reads.pool = pool_open(loop, address);
    store->follow = follow_new(store->reads.pool, store->reads.cache, store->hub);
    if (!prepare(store, err) || !connect_parts(store, err)) {
        store_close(&store->reads.queued.port);
        return false;
    }
    *ret_store = &store->reads.queued.port;
    return true;
}

/* Passwords may hold anything, so what is behind the last @ is the host, whatever libpq thinks. */
void postgres_write_name(const char *url, struct text *out)
{
    const char *colon = strchr(url, ':'), *user, *host;

    if (!colon || strncmp(colon, "://", 3) != 0) {
        text_add(out, url, colon ? (size_t)(colon + 1 - url) : 0);
        return;
    }
    user = colon + 3;
    host = strrchr(user, '@');
    text_add(out, url, (size_t)(user - url));
    if (host)
        text_add(out, user, strcspn(user, ":@"));
    host = host ? host : user;
    text_add(out, host, strcspn(host, "?"));
}

void postgres_store_facts(struct store *store, struct postgres_facts *out)
{
    struct postgres_store *postgres = own(store);

    *out = postgres->facts;
    out->shown = address_shown(postgres->address);
    out->is_pooled = address_is_pooled(postgres->address);
    out->is_hearing = postgres->listener && pg_listener_is_hearing(postgres->listener);
}
