/* listen.c - see listen.h. */
#include "store/postgres/listen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "loop/loop.h"
#include "store/postgres/address.h"
#include "store/postgres/fault.h"
#include "store/postgres/link.h"
#include "store/postgres/pool.h"

enum { LISTEN_PROBE_MS = 2000, LISTEN_DEAF_MS = 60000, LISTEN_SILENCE_MS = 8000 };

enum listen_state {
    LISTEN_AWAY,    /* not connected, or LISTEN is not answered */
    LISTEN_PROBING, /* the word is being said */
    LISTEN_SAID,
    LISTEN_HEARING,
    LISTEN_DEAF, /* without a connection, until the timer */
};

struct listener {
    struct listener_parts parts;
    struct pg_link *link;
    struct loop_timer *timer;
    enum listen_state state;
    bool is_refused;
    char channel[48]; /* where we talk to ourselves */
    struct sql listen_own, unlisten_own;
    char listen_text[80], unlisten_text[80];
};

static const struct sql sql_listen = { NULL, "LISTEN sayso" };
static const struct sql sql_probe = { "probe", "SELECT pg_notify($1, '')" };

static void time_out(struct listener *listener, int64_t ms)
{
    loop_timer_at(listener->timer, loop_boot_ms() + ms);
}

static void on_said(void *context, const PGresult *result, const struct error *err)
{
    struct listener *listener = context;

    (void)err;
    if (listener->state != LISTEN_PROBING)
        return;
    if (result)
        listener->state = LISTEN_SAID;
    time_out(listener, LISTEN_PROBE_MS); /* then it is deaf, or says it again */
}

static void probe(struct listener *listener)
{
    struct params params = { 0 };

    listener->state = LISTEN_PROBING;
    params_text(&params, listener->channel);
    pool_read(listener->parts.pool, &sql_probe, &params, on_said, listener);
}

static void on_result(void *context, int number, const PGresult *result)
{
    struct listener *listener = context;

    (void)number;
    listener->is_refused |= fault_of(result) != FAULT_NONE;
}

/* What was written before LISTEN was answered has been missed. */
static void on_listening(void *context, bool is_lost)
{
    struct listener *listener = context;

    if (is_lost)
        return;
    if (listener->is_refused) {
        pg_link_reset(listener->link);
        return;
    }
    listener->parts.on_news(listener->parts.context);
    probe(listener);
}

static void on_ready(void *context)
{
    struct listener *listener = context;
    const struct pg_exchange exchange = { on_result, on_listening, listener };

    listener->is_refused = false;
    pg_link_begin(listener->link, &exchange);
    pg_link_add(listener->link, &sql_listen, NULL);
    pg_link_add(listener->link, &listener->listen_own, NULL);
    pg_link_end(listener->link);
}

static void on_lost(void *context)
{
    struct listener *listener = context;

    listener->state = LISTEN_AWAY;
    loop_timer_stop(listener->timer);
}

static void on_unlistened(void *context, bool is_lost)
{
    (void)context;
    (void)is_lost;
}

static void hear_ourselves(struct listener *listener)
{
    const struct pg_exchange exchange = { on_result, on_unlistened, listener };

    if (listener->state == LISTEN_HEARING || listener->state == LISTEN_AWAY)
        return;
    listener->state = LISTEN_HEARING;
    loop_timer_stop(listener->timer);
    if (!pg_link_is_ready(listener->link))
        return;
    pg_link_begin(listener->link, &exchange);
    pg_link_add(listener->link, &listener->unlisten_own, NULL);
    pg_link_end(listener->link);
}

static void on_note(void *context, const char *channel, int pid)
{
    struct listener *listener = context;
    void *own = listener->parts.context;

    if (strcmp(channel, listener->channel) == 0)
        hear_ourselves(listener);
    else if (!listener->parts.is_own || !listener->parts.is_own(own, pid))
        listener->parts.on_news(own);
}

static void connect_link(struct listener *listener)
{
    const struct pg_link_plan plan = { .loop = listener->parts.loop,
                                       .address = listener->parts.address,
                                       .on_ready = on_ready,
                                       .on_lost = on_lost,
                                       .on_note = on_note,
                                       .context = listener,
                                       .silence_ms = LISTEN_SILENCE_MS };

    listener->state = LISTEN_AWAY;
    listener->link = pg_link_open(&plan);
}

static void on_time(void *context)
{
    struct listener *listener = context;

    switch (listener->state) {
    case LISTEN_PROBING:
        probe(listener);
        break;
    case LISTEN_SAID:
        /* What we listened with is another's session now: leave it alone. */
        address_set_pooled(listener->parts.address);
        pg_link_close(listener->link);
        listener->link = NULL;
        listener->state = LISTEN_DEAF;
        time_out(listener, LISTEN_DEAF_MS);
        break;
    case LISTEN_DEAF:
        connect_link(listener);
        break;
    default:
        break;
    }
}

struct listener *listener_open(const struct listener_parts *parts)
{
    struct listener *listener = mem_new(sizeof *listener);
    char id[27];

    random_id(id);
    listener->parts = *parts;
    snprintf(listener->channel, sizeof listener->channel, "sayso_%s", id);
    snprintf(listener->listen_text, sizeof listener->listen_text, "LISTEN %s", listener->channel);
    snprintf(listener->unlisten_text, sizeof listener->unlisten_text, "UNLISTEN %s",
             listener->channel);
    listener->listen_own = (struct sql){ NULL, listener->listen_text };
    listener->unlisten_own = (struct sql){ NULL, listener->unlisten_text };
    listener->timer = loop_timer_new(parts->loop, on_time, listener);
    connect_link(listener);
    return listener;
}

void listener_close(struct listener *listener)
{
    if (!listener)
        return;
    pg_link_close(listener->link);
    loop_timer_free(listener->timer);
    free(listener);
}

bool listener_is_hearing(const struct listener *listener)
{
    return listener->state == LISTEN_HEARING;
}
