/*
 * exchange.c - statements out, results in, on a link that is ready (link.h). The server answers in
 * the order it was asked, so one queue of what is due says what a result is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "loop/loop.h"
#include "loop/watch.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/postgres/link_inside.h"
#include "store/postgres/params.h"
#include "store/postgres/sql.h"

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

bool exchange_flush(struct pg_link *link)
{
    int rest = libpq.flush(link->connection);

    if (libpq.status(link->connection) == CONNECTION_BAD)
        return false;
    if (rest >= 0)
        watch_for(link->watch, WATCH_READ | (rest > 0 ? WATCH_WRITE : 0));
    return rest >= 0;
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
        exchange->of.result(exchange->of.context, exchange->number++,
                            link->refused ? link->refused : take_result);
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

static void end_exchange(struct pg_link *link)
{
    struct link_exchange *exchange = link->exchanges;

    drop_due(link);
    if (!exchange)
        return;
    link->exchanges = exchange->next;
    if (!link->exchanges)
        link->last_exchange = NULL;
    exchange->of.end(exchange->of.context, false); /* it may begin the next */
    free(exchange);
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
void exchange_take_results(struct pg_link *link)
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

struct link_exchange *exchange_drop_all(struct pg_link *link)
{
    struct link_exchange *all = link->exchanges;

    link->exchanges = link->last_exchange = NULL;
    link->items.first = link->items.used = 0;
    link->prepared_count = 0;
    libpq.clear(link->refused);
    link->refused = NULL;
    return all;
}

bool exchange_is_due(const struct pg_link *link)
{
    return link->items.used > 0;
}

void exchange_release(struct pg_link *link)
{
    free(link->items.each);
    free(link->prepared);
}
