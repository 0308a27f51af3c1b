#include "store/postgres/pool.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/postgres/address.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq.h"

enum {
    POOL_LINKS = 2,
    POOL_UNDER_WAY = 16, /* reads on one connection; the others wait for the first that is free */
    POOL_LIMIT_MS = 5000,
    POOL_TRIES = 4, /* where the server refused it for the moment */
};

struct reader {
    struct link_pool *pool;
    struct pg_link *link;
    int under_way;
};
/* One in the list of its pool, oldest first, until it is answered and no connection has it. */
struct read {
    struct read *next, *previous;
    struct link_pool *pool;
    struct reader *reader; /* NULL: it waits for one */
    const struct sql *sql;
    struct params params;
    pool_done *done; /* NULL: it was told */
    void *context;
    int64_t limit_ms;
    int tries;
};
struct link_pool {
    struct pool pool; /* first */
    struct address *address;
    struct loop_timer *timer;
    bool is_timed, is_closing;
    struct reader readers[POOL_LINKS];
    struct read *first, *last;
    struct read *waiting; /* none before it in the list waits; NULL: none does */
};

void pool_read_with(struct pool *pool, const struct sql *sql, const struct column_value *values,
                    size_t count, pool_done *done, void *context)
{
    struct params params = { 0 };

    params_add(&params, values, count);
    pool_read(pool, sql, &params, done, context);
}

static struct link_pool *of(const struct pool *pool)
{
    return (struct link_pool *)pool;
}

static void tell(struct read *read, const PGresult *result, const struct error *err)
{
    pool_done *done = read->done;

    read->done = NULL;
    if (done)
        done(read->context, result, err);
}

static void drop(struct link_pool *pool, struct read *read)
{
    if (pool->waiting == read)
        pool->waiting = read->next;
    if (read->previous)
        read->previous->next = read->next;
    else
        pool->first = read->next;
    if (read->next)
        read->next->previous = read->previous;
    else
        pool->last = read->previous;
    params_release(&read->params);
    free(read);
}

static void on_result(void *context, int number, const PGresult *result)
{
    struct read *read = context;
    enum fault fault = fault_of(result);
    struct error err;

    (void)number;
    if (fault == FAULT_NONE) {
        tell(read, result, NULL);
    } else if (fault == FAULT_GONE) {
        pg_link_reset(read->reader->link);
    } else if ((fault != FAULT_AGAIN && fault != FAULT_SESSION) || ++read->tries >= POOL_TRIES) {
        fault_describe(fault, fault_state(result), &err);
        tell(read, NULL, &err);
    } else if (fault == FAULT_SESSION) {
        address_set_pooled(read->pool->address);
    }
}

static void send_waiting(struct link_pool *pool);

static void on_end(void *context, bool is_lost)
{
    struct read *read = context;
    struct link_pool *pool = read->pool;

    (void)is_lost; /* without an answer it is asked again, whatever became of it: it only reads */
    read->reader->under_way--;
    read->reader = NULL;
    if (!read->done)
        drop(pool, read);
    else
        pool->waiting = pool->first;
    send_waiting(pool);
}

static struct reader *find_reader(struct link_pool *pool)
{
    struct reader *best = NULL;

    for (int i = 0; i < POOL_LINKS; i++) {
        struct reader *reader = &pool->readers[i];

        if (pg_link_is_ready(reader->link) && reader->under_way < POOL_UNDER_WAY &&
            (!best || reader->under_way < best->under_way))
            best = reader;
    }
    return best;
}

static void send_waiting(struct link_pool *pool)
{
    struct reader *reader;

    while (pool->waiting && !pool->is_closing && (reader = find_reader(pool))) {
        struct read *read = pool->waiting;
        struct pg_exchange exchange = { on_result, on_end, read };

        pool->waiting = read->next;
        if (read->reader)
            continue; /* another has it */
        read->reader = reader;
        reader->under_way++;
        pg_link_send(reader->link, &exchange, read->sql, &read->params);
    }
}

static void time_first(struct link_pool *pool)
{
    struct read *read = pool->first;

    while (read && !read->done)
        read = read->next; /* told; its link is about to let go of it */
    if (pool->is_timed || !read)
        return;
    pool->is_timed = true;
    loop_timer_at(pool->timer, read->limit_ms);
}

static void fail(struct read *read, const char *why)
{
    struct error err;

    error_set(&err, ERROR_storage_failed, "", "the database does not answer%s%s: try again",
              *why ? "; " : "", why);
    if (read->reader)
        pg_link_reset(read->reader->link); /* its late answer ends with the link */
    tell(read, NULL, &err);
    if (!read->reader)
        drop(read->pool, read);
}

/* What is told may read again, at the end of the list. */
static void on_time(void *context)
{
    struct link_pool *pool = context;
    int64_t now = loop_boot_ms();

    pool->is_timed = false;
    for (struct read *read = pool->first, *next; read && read->limit_ms <= now; read = next) {
        next = read->next;
        if (read->done)
            fail(read, pg_link_why(pool->readers[0].link));
    }
    time_first(pool);
}

static void read_soon(struct pool *in, const struct sql *sql, struct params *take_params,
                      pool_done *done, void *context)
{
    struct link_pool *pool = of(in);
    struct read *read = mem_new(sizeof *read);

    read->pool = pool;
    read->sql = sql;
    if (take_params) {
        read->params = *take_params;
        *take_params = (struct params){ 0 };
    }
    read->done = done;
    read->context = context;
    read->limit_ms = loop_boot_ms() + POOL_LIMIT_MS;
    read->previous = pool->last;
    if (pool->last)
        pool->last->next = read;
    else
        pool->first = read;
    pool->last = read;
    if (!pool->waiting)
        pool->waiting = read;
    time_first(pool);
    send_waiting(pool);
}

static void on_ready(void *context)
{
    struct reader *reader = context;

    send_waiting(reader->pool);
}

struct pool *pool_open(struct loop *loop, struct address *address)
{
    struct link_pool *pool = mem_new(sizeof *pool);

    pool->pool.read = read_soon;
    pool->address = address;
    pool->timer = loop_timer_new(loop, on_time, pool);
    for (int i = 0; i < POOL_LINKS; i++) {
        struct reader *reader = &pool->readers[i];
        struct pg_link_plan plan = { .loop = loop,
                                     .address = address,
                                     .on_ready = on_ready,
                                     .context = reader,
                                     .silence_ms = POOL_LIMIT_MS };

        reader->pool = pool;
        reader->link = pg_link_open(&plan);
    }
    return &pool->pool;
}

void pool_stop(struct pool *pool)
{
    struct link_pool *own = of(pool);
    struct error err;

    own->is_closing = true;
    for (int i = 0; i < POOL_LINKS; i++) {
        pg_link_close(own->readers[i].link);
        own->readers[i].link = NULL;
    }
    error_set(&err, ERROR_storage_failed, "", "the store is closing: try again");
    for (struct read *read = own->first, *next; read; read = next) {
        tell(read, NULL, &err); /* who is told may read again, at the end of the list */
        next = read->next;
        drop(own, read);
    }
}

bool pool_is_empty(const struct pool *pool)
{
    return !of(pool)->first;
}

void pool_free_all(struct pool *pool)
{
    if (!pool)
        return;
    loop_timer_free(of(pool)->timer);
    free(pool);
}

bool pool_is_ready(const struct pool *pool)
{
    bool is_ready = false;

    for (int i = 0; i < POOL_LINKS; i++)
        is_ready |= pg_link_is_ready(of(pool)->readers[i].link);
    return is_ready;
}

int64_t pool_connects(const struct pool *pool)
{
    int64_t connects = 0;

    for (int i = 0; i < POOL_LINKS; i++)
        connects += pg_link_connects(of(pool)->readers[i].link);
    return connects;
}
