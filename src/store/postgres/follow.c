/*
 * follow.c - A look reads the counter, and where it has moved what moved it: asks, the small
 * tables, conversations. Each has its own position, which moves once it was told, so that a look
 * that fails half way is made up for by the next.
 *
 * Numbers of events are given in the order of commits (sql/batch.sql), without a gap: a hub that
 * has seen one has seen all before it.
 */
#include "store/postgres/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "store/columns.h"
#include "store/postgres/address.h"
#include "store/postgres/cache.h"
#include "store/postgres/connection.h"
#include "store/postgres/libpq.h"
#include "store/postgres/pool.h"
#include "store/row.h"
#include "store/store.h"

enum {
    FOLLOW_MAX = 10000, /* events of others: behind more than these all is read again */
    FOLLOW_PAGE = 1000, /* of one look */
    FOLLOW_MANY = 10,   /* of these, that are about many asks each */
    DRIFT = 10000,      /* clocks part by a millisecond in so many, or less */
};

#define POSITION "SELECT c.seq, c.misc, c.stamp, sayso_now() "
const struct sql follow_start_sql = { "follow_start", POSITION "FROM counter c" };
/* More of it: the first event behind $1; of those that are not hub $2's own the last of a page, and
 * whether there are more than we tell. */
static const struct sql look_sql = {
    "follow_look", POSITION ", (SELECT min(e.seq) FROM events e WHERE e.seq > $1::bigint),"
                            " LEAST((SELECT e.seq FROM events e WHERE e.seq > $1 AND"
                            " e.hub <> $2::bigint ORDER BY e.seq OFFSET $3::bigint - 1 LIMIT 1),"
                            " (SELECT e.seq FROM events e WHERE e.seq > $1 AND e.hub <> $2 AND"
                            " e.ask = '' ORDER BY e.seq OFFSET $5::bigint - 1 LIMIT 1)),"
                            " EXISTS (SELECT FROM events e WHERE e.seq > $1 AND e.hub <> $2"
                            " ORDER BY e.seq OFFSET $4::bigint) FROM counter c"
};
/* An event about several asks names them in its body. Each ask is looked up by its id: without
 * OFFSET all asks there are would be read to join them with a handful. */
static const struct sql asks_sql = {
    "follow_asks",
    "SELECT " ROW_UNANSWERED "0 FROM (SELECT of.id, max(e.seq) AS seq FROM events e"
    " CROSS JOIN LATERAL (SELECT e.ask AS id WHERE e.ask <> '' UNION ALL"
    " SELECT json_array_elements_text(e.body::json -> 'asks') WHERE e.ask = '') AS of"
    " WHERE e.seq > $1::bigint AND e.seq <= $2::bigint AND e.hub <> $3::bigint GROUP BY of.id)"
    " AS news CROSS JOIN LATERAL (SELECT * FROM asks a WHERE a.id = news.id OFFSET 0) AS k"
    " ORDER BY news.seq"
};
static const struct sql conversations_sql = {
    "follow_conversations",
    "SELECT id, stamp, hub <> $3::bigint FROM conversations"
    " WHERE stamp > $1::bigint AND stamp <= $2::bigint ORDER BY stamp LIMIT $4::bigint"
};

/* How far we have come with each. */
struct position {
    int64_t seq, misc, stamp;
};

struct follow {
    struct pool *pool;
    struct cache *cache;
    int64_t hub;
    const struct store_news *news; /* NULL: no one listens yet */
    void *context;
    struct position told, now; /* `now`: as the look under way found it */
    int64_t newest_seq;
    bool is_looking, is_wanted;
    /* The database's clock: what it showed when ours showed asked_ms, give or take error_ms. */
    int64_t clock_ms, clock_boot_ms, clock_error_ms;
    int64_t asked_boot_ms;
};

struct follow *follow_new(struct pool *pool, struct cache *cache, int64_t hub)
{
    struct follow *follow = mem_new(sizeof *follow);

    *follow = (struct follow){ .pool = pool, .cache = cache, .hub = hub };
    return follow;
}

void follow_free(struct follow *follow)
{
    free(follow);
}

static int64_t clock_at(const struct follow *follow, int64_t boot_ms)
{
    return follow->clock_ms + boot_ms - follow->clock_boot_ms;
}

/* A sample is as good as it was quick. It is taken where it is better than what we have by now, or
 * contradicts it: another server's clock, or one that was set. */
static void take_clock(struct follow *follow, int64_t clock_ms, int64_t asked_ms, int64_t got_ms)
{
    int64_t error_ms = (got_ms - asked_ms + 1) / 2, middle_ms = asked_ms + (got_ms - asked_ms) / 2;
    int64_t old_error_ms = follow->clock_error_ms + (got_ms - follow->clock_boot_ms) / DRIFT + 1;
    int64_t apart_ms = llabs(clock_ms - clock_at(follow, middle_ms));

    if (follow->clock_boot_ms && error_ms > old_error_ms && apart_ms <= error_ms + old_error_ms)
        return;
    follow->clock_ms = clock_ms;
    follow->clock_boot_ms = middle_ms;
    follow->clock_error_ms = error_ms;
}

int64_t follow_utc_ms(const struct follow *follow)
{
    return follow->clock_boot_ms ? clock_at(follow, loop_boot_ms()) : loop_utc_ms();
}

static struct position read_position(const PGresult *result)
{
    return (struct position){
        .seq = result_integer(result, 0, 0),
        .misc = result_integer(result, 0, 1),
        .stamp = result_integer(result, 0, 2),
    };
}

void follow_start(struct follow *follow, const PGresult *result)
{
    int64_t boot_ms = loop_boot_ms();

    follow->told = read_position(result);
    follow_wrote(follow, follow->told.seq);
    take_clock(follow, result_integer(result, 0, 3), boot_ms, boot_ms);
    follow->clock_error_ms = INT32_MAX; /* who knows when it was asked for */
}

void follow_tell(struct follow *follow, const struct store_news *news, void *context)
{
    follow->news = news;
    follow->context = context;
    follow_look(follow);
}

int64_t follow_last_seq(const struct follow *follow)
{
    return follow->newest_seq;
}

void follow_wrote(struct follow *follow, int64_t seq)
{
    if (seq > follow->newest_seq)
        follow->newest_seq = seq;
}

static void look_end(struct follow *follow)
{
    follow->is_looking = false;
    if (follow->is_wanted)
        follow_look(follow);
}

static void look_on(struct follow *follow);

static void on_asks(void *context, const PGresult *result, const struct error *err)
{
    struct follow *follow = context;
    struct store_row row;

    if (err) {
        look_end(follow);
        return;
    }
    for (int i = 0; i < result_count(result); i++) {
        result_read(result, i, 0, &row_columns, &row);
        follow->news->ask(follow->context, &row);
    }
    follow->told.seq = follow->now.seq;
    look_on(follow);
}

static void on_facts(void *context, bool has_changed, const struct error *err)
{
    struct follow *follow = context;

    if (err) {
        look_end(follow);
        return;
    }
    follow->told.misc = cache_misc(follow->cache);
    follow->now.misc = follow->told.misc;
    if (has_changed)
        follow->news->facts(follow->context);
    look_on(follow);
}

static void on_conversations(void *context, const PGresult *result, const struct error *err)
{
    struct follow *follow = context;
    int count = err ? 0 : result_count(result);

    if (err) {
        look_end(follow);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (result_flag(result, i, 2))
            follow->news->conversation(follow->context, result_text(result, i, 0));
    }
    follow->told.stamp =
        count < FOLLOW_PAGE ? follow->now.stamp : result_integer(result, count - 1, 1);
    look_on(follow);
}

static void look_on(struct follow *follow)
{
    const struct position *told = &follow->told, *now = &follow->now;

    if (told->seq != now->seq)
        pool_read_with(
            follow->pool, &asks_sql,
            VALUES(value_number(told->seq), value_number(now->seq), value_number(follow->hub)),
            on_asks, follow);
    else if (told->misc != now->misc)
        cache_load(follow->cache, follow->pool, on_facts, follow);
    else if (told->stamp != now->stamp)
        pool_read_with(follow->pool, &conversations_sql,
                       VALUES(value_number(told->stamp), value_number(now->stamp),
                              value_number(follow->hub), value_number(FOLLOW_PAGE)),
                       on_conversations, follow);
    else
        look_end(follow);
}

/* Where we cannot say what happened: too much, events that are not there any more, or a database
 * that is an older one than it was. */
static bool is_lost(const struct follow *follow, const PGresult *result)
{
    const struct position *told = &follow->told, *now = &follow->now;
    int64_t first_seq = result_integer(result, 0, 4);

    return now->seq < told->seq || now->stamp < told->stamp || result_flag(result, 0, 6) ||
           (now->seq > told->seq && first_seq != told->seq + 1);
}

static void on_looked(void *context, const PGresult *result, const struct error *err)
{
    struct follow *follow = context;
    int64_t page_end;

    if (err || result_count(result) == 0) {
        look_end(follow);
        return;
    }
    take_clock(follow, result_integer(result, 0, 3), follow->asked_boot_ms, loop_boot_ms());
    follow->now = read_position(result);
    if (!follow->news) {
        look_end(follow);
        return;
    }
    page_end = result_integer(result, 0, 5);
    if (is_lost(follow, result)) {
        follow->told.seq = follow->newest_seq = follow->now.seq;
        follow->told.stamp = follow->now.stamp;
        follow->told.misc = follow->now.misc - 1; /* whatever they hold */
        follow->news->resync(follow->context);
    } else if (page_end) {
        follow->now.seq = page_end;
        follow->is_wanted = true;
    }
    follow_wrote(follow, follow->now.seq);
    look_on(follow);
}

void follow_look(struct follow *follow)
{
    follow->is_wanted = follow->is_looking;
    if (follow->is_looking)
        return;
    follow->is_looking = true;
    follow->asked_boot_ms = loop_boot_ms();
    pool_read_with(follow->pool, &look_sql,
                   VALUES(value_number(follow->told.seq), value_number(follow->hub),
                          value_number(FOLLOW_PAGE), value_number(FOLLOW_MAX),
                          value_number(FOLLOW_MANY)),
                   on_looked, follow);
}

enum { LISTEN_PROBE_MS = 2000, LISTEN_DEAF_MS = 60000, LISTEN_SILENCE_MS = 8000 };

enum listen_state {
    LISTEN_AWAY,    /* not connected, or LISTEN is not answered */
    LISTEN_PROBING, /* the word is being said */
    LISTEN_SAID,
    LISTEN_HEARING,
    LISTEN_DEAF, /* without a connection, until the timer */
};

struct pg_listener {
    struct pg_listener_parts parts;
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

static void time_out(struct pg_listener *listener, int64_t ms)
{
    loop_timer_at(listener->timer, loop_boot_ms() + ms);
}

static void on_said(void *context, const PGresult *result, const struct error *err)
{
    struct pg_listener *listener = context;

    (void)err;
    if (listener->state != LISTEN_PROBING)
        return;
    if (result)
        listener->state = LISTEN_SAID;
    time_out(listener, LISTEN_PROBE_MS); /* then it is deaf, or says it again */
}

static void probe(struct pg_listener *listener)
{
    listener->state = LISTEN_PROBING;
    pool_read_with(listener->parts.pool, &sql_probe, VALUES(value_text(listener->channel)), on_said,
                   listener);
}

static void on_result(void *context, int number, const PGresult *result)
{
    struct pg_listener *listener = context;

    (void)number;
    listener->is_refused |= fault_of(result) != FAULT_NONE;
}

/* What was written before LISTEN was answered has been missed. */
static void on_listening(void *context, bool is_lost)
{
    struct pg_listener *listener = context;

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
    struct pg_listener *listener = context;
    const struct pg_exchange exchange = { on_result, on_listening, listener };

    listener->is_refused = false;
    pg_link_begin(listener->link, &exchange);
    pg_link_add(listener->link, &sql_listen, NULL);
    pg_link_add(listener->link, &listener->listen_own, NULL);
    pg_link_end(listener->link);
}

static void on_lost(void *context)
{
    struct pg_listener *listener = context;

    listener->state = LISTEN_AWAY;
    loop_timer_stop(listener->timer);
}

static void hear_ourselves(struct pg_listener *listener)
{
    if (listener->state == LISTEN_HEARING || listener->state == LISTEN_AWAY)
        return;
    listener->state = LISTEN_HEARING;
    loop_timer_stop(listener->timer);
    if (pg_link_is_ready(listener->link))
        pg_link_send(listener->link, &(struct pg_exchange){ 0 }, &listener->unlisten_own, NULL);
}

static void on_note(void *context, const char *channel, int pid)
{
    struct pg_listener *listener = context;
    void *own = listener->parts.context;

    if (strcmp(channel, listener->channel) == 0)
        hear_ourselves(listener);
    else if (!listener->parts.is_own || !listener->parts.is_own(own, pid))
        listener->parts.on_news(own);
}

static void connect_link(struct pg_listener *listener)
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

static void on_listen_time(void *context)
{
    struct pg_listener *listener = context;

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

struct pg_listener *pg_listener_open(const struct pg_listener_parts *parts)
{
    struct pg_listener *listener = mem_new(sizeof *listener);
    char id[27];

    random_id(id);
    listener->parts = *parts;
    snprintf(listener->channel, sizeof listener->channel, "sayso_%s", id);
    snprintf(listener->listen_text, sizeof listener->listen_text, "LISTEN %s", listener->channel);
    snprintf(listener->unlisten_text, sizeof listener->unlisten_text, "UNLISTEN %s",
             listener->channel);
    listener->listen_own = (struct sql){ NULL, listener->listen_text };
    listener->unlisten_own = (struct sql){ NULL, listener->unlisten_text };
    listener->timer = loop_timer_new(parts->loop, on_listen_time, listener);
    connect_link(listener);
    return listener;
}

void pg_listener_close(struct pg_listener *listener)
{
    if (!listener)
        return;
    pg_link_close(listener->link);
    loop_timer_free(listener->timer);
    free(listener);
}

bool pg_listener_is_hearing(const struct pg_listener *listener)
{
    return listener->state == LISTEN_HEARING;
}

/* A beat that is lost is no harm: the next one comes soon. */

enum {
    HEARTBEAT_MS = 3000,       /* hubs.sql says how many may be missed */
    HEARTBEAT_MAX = 1000,      /* asks in one beat */
    HEARTBEAT_AGAIN_MS = 1000, /* where there are more, once these are settled */
    HEARTBEAT_LEFT = 500,      /* asks that are marked together, for a hub that leaves */
    HEARTBEAT_LEFT_PARTS = 2,  /* so often; a hub that stays marks the rest, in its own time */
};

static const struct sql heartbeat_sql = { "sayso_beat", "SELECT sayso_beat($1, $2)" };
static const struct sql leave_sql = { NULL, "SELECT sayso_leave($1, $2, $3)" };

struct heartbeat {
    struct pool *pool;
    struct loop_timer *timer;
    int64_t hub;
    const struct store_news *news; /* NULL: no one listens */
    void *context;
    bool is_beating, is_leaving, has_left;
    int64_t left_number; /* of the last ask that was marked */
    int left_parts;
};

static void say_good_bye(struct heartbeat *heartbeat);

static void on_left(void *context, const PGresult *result, const struct error *err)
{
    struct heartbeat *heartbeat = context;
    int64_t number = err ? 0 : result_integer(result, 0, 0); /* failed: then we are missed soon */

    heartbeat->has_left = number == 0 || ++heartbeat->left_parts == HEARTBEAT_LEFT_PARTS;
    heartbeat->left_number = number;
    if (!heartbeat->has_left)
        say_good_bye(heartbeat);
}

static void say_good_bye(struct heartbeat *heartbeat)
{
    pool_read_with(heartbeat->pool, &leave_sql,
                   VALUES(value_number(heartbeat->hub), value_number(heartbeat->left_number),
                          value_number(HEARTBEAT_LEFT)),
                   on_left, heartbeat);
}

static void on_beaten(void *context, const PGresult *result, const struct error *err)
{
    struct heartbeat *heartbeat = context;

    heartbeat->is_beating = false;
    for (int i = 0; !err && heartbeat->news && i < result_count(result); i++)
        heartbeat->news->abandoned(heartbeat->context, result_text(result, i, 0));
    if (heartbeat->is_leaving)
        say_good_bye(heartbeat);
    else if (!err && result_count(result) == HEARTBEAT_MAX)
        loop_timer_at(heartbeat->timer, loop_boot_ms() + HEARTBEAT_AGAIN_MS);
}

static void on_beat_time(void *context)
{
    struct heartbeat *heartbeat = context;

    loop_timer_at(heartbeat->timer, loop_boot_ms() + HEARTBEAT_MS);
    if (heartbeat->is_beating)
        return;
    heartbeat->is_beating = true;
    pool_read_with(heartbeat->pool, &heartbeat_sql,
                   VALUES(value_number(heartbeat->hub), value_number(HEARTBEAT_MAX)), on_beaten,
                   heartbeat);
}

struct heartbeat *heartbeat_new(struct loop *loop, struct pool *pool, int64_t hub)
{
    struct heartbeat *heartbeat = mem_new(sizeof *heartbeat);

    *heartbeat = (struct heartbeat){ .pool = pool, .hub = hub };
    heartbeat->timer = loop_timer_new(loop, on_beat_time, heartbeat);
    loop_timer_at(heartbeat->timer, loop_boot_ms() + HEARTBEAT_MS);
    return heartbeat;
}

void heartbeat_tell(struct heartbeat *heartbeat, const struct store_news *news, void *context)
{
    heartbeat->news = news;
    heartbeat->context = context;
}

/* A beat that is on its way might overtake it. */
void heartbeat_leave(struct heartbeat *heartbeat)
{
    loop_timer_stop(heartbeat->timer);
    heartbeat->news = NULL;
    heartbeat->is_leaving = true;
    if (!heartbeat->is_beating)
        say_good_bye(heartbeat);
}

int64_t heartbeat_left_number(const struct heartbeat *heartbeat)
{
    return heartbeat->left_number;
}

bool heartbeat_has_left(void *heartbeat)
{
    return ((struct heartbeat *)heartbeat)->has_left;
}

void heartbeat_free(struct heartbeat *heartbeat)
{
    if (heartbeat)
        loop_timer_free(heartbeat->timer);
    free(heartbeat);
}
