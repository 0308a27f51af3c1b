/*
 * link.c - see link.h. The life of a connection:
 *
 *   WAITING --timer--> RESOLVING --names--> CONNECTING --libpq says OK--> READY
 *      ^                   |                     |                          |
 *      `--- pause, 50 ms doubled up to 2 s ------+------ lost, silent ------'
 */
#include "store/postgres/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "loop/loop.h"
#include "loop/resolve.h"
#include "loop/watch.h"
#include "store/postgres/address.h"
#include "store/postgres/libpq.h"
#include "store/postgres/link_inside.h"

enum { PAUSE_FIRST_MS = 50, PAUSE_MOST_MS = 2000 };

static void connect_on(struct pg_link *link);

static void no_notice(void *context, const char *message)
{
    (void)context; /* standard error is not libpq's to write to */
    (void)message;
}

static int64_t jitter(int64_t most_ms)
{
    uint32_t random;

    random_bytes(&random, sizeof random);
    return most_ms / 2 + (int64_t)(random % (uint32_t)(most_ms / 2 + 1));
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
    link->pause_ms = link->pause_ms * 2 < PAUSE_MOST_MS ? link->pause_ms * 2 : PAUSE_MOST_MS;
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
        exchange->of.end(exchange->of.context, true);
        free(exchange);
    }
    if (link->plan.on_lost)
        link->plan.on_lost(link->plan.context);
}

/* libpq may have closed its socket: whoever gets that number next must not be watched as ours. */
void link_fail_soon(struct pg_link *link)
{
    watch_free(link->watch);
    link->watch = NULL;
    link->is_broken = true;
    link->is_timed = true;
    loop_timer_at(link->timer, loop_boot_ms());
}

/* The timer is set once and looks, when it fires, whether something was heard since. */
void link_time_silence(struct pg_link *link)
{
    if (link->is_timed)
        return;
    link->is_timed = true;
    loop_timer_at(link->timer, link->heard_ms + link->plan.silence_ms);
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

/* libpq may close its socket for another at any of these calls, so nobody watches meanwhile. */
static void connect_on(struct pg_link *link)
{
    watch_free(link->watch);
    link->watch = NULL;
    switch (libpq.connectPoll(link->connection)) {
    case PGRES_POLLING_READING:
        if (!watch_connection(link, WATCH_READ))
            fail_to_connect(link, "the connection can't be watched");
        break;
    case PGRES_POLLING_WRITING:
        if (!watch_connection(link, WATCH_WRITE))
            fail_to_connect(link, "the connection can't be watched");
        break;
    case PGRES_POLLING_OK:
        become_ready(link);
        break;
    default:
        fail_to_connect(link, libpq.errorMessage(link->connection));
    }
}

static void start_connecting(struct pg_link *link)
{
    struct address_keywords keywords;

    link->state = LINK_CONNECTING;
    if (!address_keywords_init(link->plan.address, link->numbers, link->first_host, &keywords)) {
        fail_to_connect(link, link->why);
        return;
    }
    link->connection = libpq.connectStartParams(keywords.keywords, keywords.values, 0);
    address_keywords_release(&keywords);
    mem_or_abort(link->connection);
    libpq.setNoticeProcessor(link->connection, no_notice, NULL);
    libpq.setErrorVerbosity(link->connection, PQERRORS_VERBOSE); /* with the SQLSTATE */
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
    loop_timer_at(link->timer, 1); /* the first try is at once, but from the loop */
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
    exchange_release(link);
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
