/*
 * connection.c - The life of a connection:
 *
 *   WAITING --timer--> RESOLVING --names--> CONNECTING --libpq says OK--> READY
 *      ^                   |                     |                          |
 *      `--- pause, 50 ms doubled up to 2 s ------+------ lost, silent ------'
 */
#include "store/postgres/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/watch.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"

enum link_state { LINK_WAITING, LINK_RESOLVING, LINK_CONNECTING, LINK_READY };

enum { LINK_HOSTS = 16, LINK_WHY_BYTES = 240 };

struct link_exchange {
    struct link_exchange *next;
    struct pg_exchange of;
    int number; /* of the statement whose result comes next */
};
/* What the server owes an answer for, in order. */
enum link_item { ITEM_PREPARE, ITEM_QUERY, ITEM_SYNC };
struct link_items {
    struct link_due {
        enum link_item kind;
        const struct sql *sql;
    } * each;
    size_t first, used, capacity;
};
struct link_prepared {
    const struct sql *sql;
    const struct link_exchange *by; /* NULL: it is there; else that one is preparing it */
};

struct pg_link {
    struct pg_link_plan plan;
    enum link_state state;
    PGconn *connection;
    struct watch *watch;
    struct loop_timer *timer;

    struct resolve *resolve;
    char *numbers[LINK_HOSTS]; /* by host; NULL: not known */
    size_t host, first_host;   /* being looked up; where the list begins */

    int64_t pause_ms, silent_since_ms, connects;
    char why[LINK_WHY_BYTES];

    bool is_broken;    /* to be given up at the next chance */
    bool is_timed;     /* while ready: the timer runs */
    bool has_answered; /* this connection is good for something */
    int64_t heard_ms;
    struct link_exchange *exchanges, *last_exchange;
    struct link_items items;
    PGresult *refused; /* of a statement that could not be prepared: it is its result */
    struct link_prepared *prepared;
    size_t prepared_count, prepared_capacity;
};

/* Statements out, results in, on a link that is ready (connection.h). The server answers in the
 * order it was asked, so one queue of what is due says what a result is about. */

enum { NAME_BYTES = 80 };

/* Behind a pooler a name may be that of another version's text: names are this process's own. */
static const char *name_of(const struct sql *sql, char room[NAME_BYTES])
{
    static uint32_t own;

    while (own == 0)
        random_bytes(&own, sizeof own);
    snprintf(room, NAME_BYTES, "%s_%08x", sql->name, (unsigned)own);
    return room;
}

static void add_due(struct pg_link *link, enum link_item kind, const struct sql *sql)
{
    struct link_items *items = &link->items;

    if (items->first + items->used == items->capacity && items->first > 0) {
        memmove(items->each, items->each + items->first, items->used * sizeof *items->each);
        items->first = 0;
    }
    if (items->used == items->capacity) {
        items->capacity = items->capacity ? items->capacity * 2 : 64;
        items->each = mem_resize(items->each, items->capacity * sizeof *items->each);
    }
    items->each[items->first + items->used++] = (struct link_due){ kind, sql };
}

static struct link_prepared *find_prepared(struct pg_link *link, const struct sql *sql)
{
    for (size_t i = 0; i < link->prepared_count; i++) {
        if (link->prepared[i].sql == sql)
            return &link->prepared[i];
    }
    return NULL;
}

static struct link_prepared *add_prepared(struct pg_link *link, const struct sql *sql)
{
    if (link->prepared_count == link->prepared_capacity) {
        link->prepared_capacity = link->prepared_capacity ? link->prepared_capacity * 2 : 32;
        link->prepared =
            mem_resize(link->prepared, link->prepared_capacity * sizeof *link->prepared);
    }
    link->prepared[link->prepared_count] = (struct link_prepared){ sql, link->last_exchange };
    return &link->prepared[link->prepared_count++];
}

static void end_preparing(struct pg_link *link, const struct sql *sql, bool is_there)
{
    struct link_prepared *prepared = find_prepared(link, sql);

    if (prepared && is_there)
        prepared->by = NULL;
    else if (prepared)
        *prepared = link->prepared[--link->prepared_count];
}

/* the server owes an answer */
static bool exchange_is_due(const struct pg_link *link)
{
    return link->items.used > 0;
}

/* libpq may have closed its socket; whatever gets that number next must not be watched as ours. */
static void link_fail_soon(struct pg_link *link)
{
    watch_free(link->watch);
    link->watch = NULL;
    link->is_broken = true;
    link->is_timed = true;
    loop_timer_at(link->timer, loop_boot_ms());
}

/* The timer is set once and looks, when it fires, whether something was heard since. */
static void link_time_silence(struct pg_link *link)
{
    if (link->is_timed)
        return;
    link->is_timed = true;
    loop_timer_at(link->timer, link->heard_ms + link->plan.silence_ms);
}

/* false: it can't be sent */
static bool exchange_flush(struct pg_link *link)
{
    int rest = libpq.flush(link->connection);

    if (libpq.status(link->connection) == CONNECTION_BAD)
        return false;
    if (rest >= 0)
        watch_for(link->watch, WATCH_READ | (rest > 0 ? WATCH_WRITE : 0));
    return rest >= 0;
}

void pg_link_begin(struct pg_link *link, const struct pg_exchange *exchange)
{
    struct link_exchange *new = mem_new(sizeof *new);

    new->of = *exchange;
    if (link->last_exchange)
        link->last_exchange->next = new;
    else
        link->exchanges = new;
    link->last_exchange = new;
    if (!exchange_is_due(link))
        link->heard_ms = loop_boot_ms();
}

/* True: it can be called by its name. One that another exchange is preparing may fail there. */
static bool prepare(struct pg_link *link, const struct sql *sql, const char *name)
{
    struct link_prepared *prepared = find_prepared(link, sql);

    if (!prepared) {
        if (!libpq.sendPrepare(link->connection, name, sql->text, 0, NULL))
            return false;
        add_due(link, ITEM_PREPARE, sql);
        prepared = add_prepared(link, sql);
    }
    return !prepared->by || prepared->by == link->last_exchange;
}

void pg_link_add(struct pg_link *link, const struct sql *sql, const struct params *params_or_null)
{
    static const struct params none;
    const struct params *params = params_or_null ? params_or_null : &none;
    char name[NAME_BYTES];
    struct params_view view;
    int is_sent;

    if (link->is_broken)
        return;
    params_look(params, &view);
    if (sql->name && !address_is_pooled(link->plan.address) &&
        prepare(link, sql, name_of(sql, name)))
        is_sent = libpq.sendQueryPrepared(link->connection, name, params->count, view.values,
                                          view.lengths, view.formats, 0);
    else
        is_sent = libpq.sendQueryParams(link->connection, sql->text, params->count, NULL,
                                        view.values, view.lengths, view.formats, 0);
    if (is_sent && libpq.status(link->connection) == CONNECTION_OK)
        add_due(link, ITEM_QUERY, sql);
    else
        link_fail_soon(link);
}

void pg_link_end(struct pg_link *link)
{
    if (link->is_broken)
        return;
    if (!libpq.pipelineSync(link->connection) || !exchange_flush(link)) {
        link_fail_soon(link);
        return;
    }
    add_due(link, ITEM_SYNC, NULL);
    link_time_silence(link);
}

void pg_link_send(struct pg_link *link, const struct pg_exchange *exchange, const struct sql *sql,
                  const struct params *params_or_null)
{
    pg_link_begin(link, exchange);
    pg_link_add(link, sql, params_or_null);
    pg_link_end(link);
}

static void give_result(struct pg_link *link, const struct link_due *due, PGresult *take_result)
{
    struct link_exchange *exchange = link->exchanges;
    bool is_fine = libpq.resultStatus(take_result) == PGRES_COMMAND_OK;

    if (due->kind == ITEM_PREPARE) {
        end_preparing(link, due->sql, is_fine);
        if (!is_fine && !link->refused) {
            link->refused = take_result;
            return;
        }
    } else if (exchange) {
        if (exchange->of.result)
            exchange->of.result(exchange->of.context, exchange->number,
                                link->refused ? link->refused : take_result);
        exchange->number++;
        libpq.clear(link->refused);
        link->refused = NULL;
    }
    libpq.clear(take_result);
}

static void drop_due(struct pg_link *link)
{
    link->items.first++;
    link->items.used--;
    if (link->items.used == 0)
        link->items.first = 0;
    link->has_answered = true;
    link->heard_ms = loop_boot_ms();
}

/* It may begin the next. */
static void end_one(struct link_exchange *take_exchange, bool is_lost)
{
    if (take_exchange->of.end)
        take_exchange->of.end(take_exchange->of.context, is_lost);
    free(take_exchange);
}

static void end_exchange(struct pg_link *link)
{
    struct link_exchange *exchange = link->exchanges;

    drop_due(link);
    if (!exchange)
        return;
    link->exchanges = exchange->next;
    if (!link->exchanges)
        link->last_exchange = NULL;
    end_one(exchange, false);
}

/* A statement's result ends with a NULL, a Sync's does not. If more is sent before that NULL was
 * taken, libpq skips it: so it is taken before anybody is told, who may send. */
static bool take_end(struct pg_link *link)
{
    PGresult *more = libpq.getResult(link->connection);

    libpq.clear(more);
    return !more;
}

/* Calling while libpq is busy would wait. A connection that was lost has forgotten what was asked,
 * and half an answer would look like a whole one. */
static void exchange_take_results(struct pg_link *link)
{
    PGresult *result;

    while (!link->is_broken && libpq.status(link->connection) == CONNECTION_OK &&
           !libpq.isBusy(link->connection) && (result = libpq.getResult(link->connection))) {
        struct link_due due;
        bool is_sync;

        if (link->items.used == 0) {
            libpq.clear(result); /* sent by the server without a request */
            continue;
        }
        due = link->items.each[link->items.first];
        is_sync = due.kind == ITEM_SYNC;
        if (is_sync != (libpq.resultStatus(result) == PGRES_PIPELINE_SYNC) ||
            (!is_sync && !take_end(link))) {
            libpq.clear(result);
            link->is_broken = true; /* whose it is can't be known */
        } else if (is_sync) {
            libpq.clear(result);
            end_exchange(link);
        } else {
            drop_due(link);
            give_result(link, &due, result);
        }
    }
}

/* Forgets all that was sent; the exchanges are the caller's then. */
static struct link_exchange *exchange_drop_all(struct pg_link *link)
{
    struct link_exchange *all = link->exchanges;

    link->exchanges = link->last_exchange = NULL;
    link->items.first = link->items.used = 0;
    link->prepared_count = 0;
    libpq.clear(link->refused);
    link->refused = NULL;
    return all;
}

enum { PAUSE_FIRST_MS = 50, PAUSE_MAX_MS = 2000 };

static void connect_on(struct pg_link *link);

static int64_t jitter(int64_t max_ms)
{
    uint32_t random;

    random_bytes(&random, sizeof random);
    return max_ms / 2 + (int64_t)(random % (uint32_t)(max_ms / 2 + 1));
}

static void drop_connection(struct pg_link *link)
{
    watch_free(link->watch); /* before libpq closes what it watches */
    link->watch = NULL;
    if (link->connection)
        libpq.finish(link->connection);
    link->connection = NULL;
    resolve_cancel(link->resolve);
    link->resolve = NULL;
}

static void pause_then_connect(struct pg_link *link)
{
    int64_t now = loop_boot_ms();

    if (link->silent_since_ms == 0)
        link->silent_since_ms = now;
    link->state = LINK_WAITING;
    loop_timer_at(link->timer, now + jitter(link->pause_ms));
    link->pause_ms = link->pause_ms * 2 < PAUSE_MAX_MS ? link->pause_ms * 2 : PAUSE_MAX_MS;
}

static void keep_why(struct pg_link *link, const char *said)
{
    address_clean(link->plan.address, said, link->why, sizeof link->why);
}

static void fail_to_connect(struct pg_link *link, const char *said)
{
    /* Poolers refuse a session's options where they can't keep a session. */
    if (strstr(said, "unsupported startup parameter"))
        address_drop_options(link->plan.address);
    keep_why(link, said);
    drop_connection(link);
    pause_then_connect(link);
}

/* What was under way is told last, when the link is in order again. */
static void lose(struct pg_link *link)
{
    struct link_exchange *lost;

    if (link->state != LINK_READY)
        return;
    keep_why(link, libpq.errorMessage(link->connection));
    if (!*link->why)
        snprintf(link->why, sizeof link->why, "the connection was lost");
    lost = exchange_drop_all(link);
    drop_connection(link);
    if (link->has_answered)
        link->pause_ms = PAUSE_FIRST_MS;
    link->is_broken = link->is_timed = false;
    pause_then_connect(link);
    while (lost) {
        struct link_exchange *exchange = lost;

        lost = lost->next;
        end_one(exchange, true);
    }
    if (link->plan.on_lost)
        link->plan.on_lost(link->plan.context);
}

static void take_notes(struct pg_link *link)
{
    PGnotify *note;

    while ((note = libpq.notifies(link->connection))) {
        if (link->plan.on_note)
            link->plan.on_note(link->plan.context, note->relname, note->be_pid);
        libpq.freemem(note);
    }
}

static void work(struct pg_link *link)
{
    if (!libpq.consumeInput(link->connection)) {
        lose(link);
        return;
    }
    take_notes(link);
    exchange_take_results(link);
    if (link->state == LINK_READY && !link->is_broken)
        take_notes(link); /* those that came behind the results */
    if (link->is_broken || libpq.status(link->connection) == CONNECTION_BAD ||
        !exchange_flush(link))
        lose(link);
}

static void on_event(void *context)
{
    struct pg_link *link = context;

    if (link->state == LINK_CONNECTING)
        connect_on(link);
    else if (link->state == LINK_READY)
        work(link);
}

static bool watch_connection(struct pg_link *link, int events)
{
    link->watch = watch_new(link->plan.loop, libpq.socket(link->connection), on_event, link);
    if (link->watch)
        watch_for(link->watch, events);
    return link->watch;
}

static void become_ready(struct pg_link *link)
{
    if (libpq.setnonblocking(link->connection, 1) != 0 ||
        !libpq.enterPipelineMode(link->connection) || !watch_connection(link, WATCH_READ)) {
        fail_to_connect(link, "the connection can't be used");
        return;
    }
    link->state = LINK_READY;
    link->connects++;
    link->why[0] = '\0';
    link->has_answered = false;
    link->silent_since_ms = 0;
    loop_timer_stop(link->timer);
    link->plan.on_ready(link->plan.context);
}

/* libpq may replace its socket during each of these calls, so it is watched again only after it. */
static void connect_on(struct pg_link *link)
{
    PostgresPollingStatusType status;

    watch_free(link->watch);
    link->watch = NULL;
    status = libpq.connectPoll(link->connection);
    if (status == PGRES_POLLING_OK)
        become_ready(link);
    else if (status != PGRES_POLLING_READING && status != PGRES_POLLING_WRITING)
        fail_to_connect(link, libpq.errorMessage(link->connection));
    else if (!watch_connection(link, status == PGRES_POLLING_READING ? WATCH_READ : WATCH_WRITE))
        fail_to_connect(link, "the connection can't be watched");
}

static void start_connecting(struct pg_link *link)
{
    struct address_keywords keywords;

    link->state = LINK_CONNECTING;
    if (!address_keywords_init(link->plan.address, link->numbers, link->first_host, &keywords)) {
        fail_to_connect(link, link->why);
        return;
    }
    link->connection = address_connect(&keywords);
    loop_timer_at(link->timer, loop_boot_ms() + address_connect_ms(link->plan.address));
    if (libpq.status(link->connection) == CONNECTION_BAD)
        fail_to_connect(link, libpq.errorMessage(link->connection));
    else if (!watch_connection(link, WATCH_WRITE))
        fail_to_connect(link, "the connection can't be watched");
}

static void resolve_next(struct pg_link *link);

static void on_resolved(void *context, const char *addresses, const char *why)
{
    struct pg_link *link = context;

    link->resolve = NULL;
    if (addresses)
        link->numbers[link->host] = mem_text(addresses);
    else
        snprintf(link->why, sizeof link->why, "the host %.100s can't be found: %.80s",
                 address_host(link->plan.address, link->host), why);
    link->host++;
    resolve_next(link);
}

static void resolve_next(struct pg_link *link)
{
    const char *host = address_host(link->plan.address, link->host);

    if (!host) {
        start_connecting(link);
        return;
    }
    link->resolve = resolve_start(link->plan.loop, host, on_resolved, link);
    if (!link->resolve)
        fail_to_connect(link, "host names can't be looked up now");
}

static void forget_numbers(struct pg_link *link)
{
    for (size_t i = 0; i < LINK_HOSTS; i++) {
        free(link->numbers[i]);
        link->numbers[i] = NULL;
    }
}

static void start(struct pg_link *link)
{
    forget_numbers(link);
    link->host = 0;
    link->state = LINK_RESOLVING;
    loop_timer_at(link->timer, loop_boot_ms() + address_connect_ms(link->plan.address));
    resolve_next(link);
}

static void on_time(void *context)
{
    struct pg_link *link = context;

    switch (link->state) {
    case LINK_WAITING:
        start(link);
        break;
    case LINK_RESOLVING:
    case LINK_CONNECTING:
        link->first_host++; /* the next try begins with another, where there is one */
        fail_to_connect(link, "the server does not answer");
        break;
    case LINK_READY:
        link->is_timed = false;
        if (link->is_broken ||
            (exchange_is_due(link) && loop_boot_ms() - link->heard_ms >= link->plan.silence_ms))
            lose(link);
        else if (exchange_is_due(link))
            link_time_silence(link);
        break;
    }
}

struct pg_link *pg_link_open(const struct pg_link_plan *plan)
{
    struct pg_link *link = mem_new(sizeof *link);

    link->plan = *plan;
    link->pause_ms = PAUSE_FIRST_MS;
    link->silent_since_ms = loop_boot_ms();
    link->timer = loop_timer_new(plan->loop, on_time, link);
    loop_timer_at(link->timer, 1); /* the first try comes immediately, but from the loop */
    return link;
}

void pg_link_close(struct pg_link *link)
{
    if (!link)
        return;
    for (struct link_exchange *at = exchange_drop_all(link), *next; at; at = next) {
        next = at->next;
        free(at);
    }
    free(link->items.each);
    free(link->prepared);
    drop_connection(link);
    forget_numbers(link);
    loop_timer_free(link->timer);
    free(link);
}

bool pg_link_is_ready(const struct pg_link *link)
{
    return link->state == LINK_READY && !link->is_broken;
}

void pg_link_reset(struct pg_link *link)
{
    if (link->state == LINK_READY)
        link_fail_soon(link);
}

int64_t pg_link_silent_ms(const struct pg_link *link)
{
    if (link->state != LINK_READY)
        return loop_boot_ms() - link->silent_since_ms;
    return exchange_is_due(link) ? loop_boot_ms() - link->heard_ms : 0;
}

const char *pg_link_why(const struct pg_link *link)
{
    return link->why;
}

int pg_link_pid(const struct pg_link *link)
{
    return link->state == LINK_READY ? libpq.backendPID(link->connection) : 0;
}

int64_t pg_link_connects(const struct pg_link *link)
{
    return link->connects;
}
