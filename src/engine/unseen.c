/*
 * unseen.c - asks that timed out while nobody looked: a person who comes back hears how many there
 * were since the last visit, and after the second within a day is offered more time. An ask was
 * looked at when a person opened it; the last visit ended when a person had these shown and went
 * on. An agent's own processes look at nothing: they would hide what its user should hear of.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/limits.h"
#include "engine/acts.h"
#include "engine/describe.h"
#include "engine/inside.h"

enum { UNSEEN_LOOKED = 200, UNSEEN_SHOWN = 5, UNSEEN_OFTEN = 2, UNSEEN_LONGER = 4 };
static const int64_t UNSEEN_DAY_MS = 86400000;
static const char fact_name[] = "visited";

struct counting {
    struct errand errand; /* first */
    struct text out;
    struct json_writer writer;
    int64_t visited_ms, day_ms, timeout_ms;
    int64_t count, often;
};

static void counting_drop(struct errand *errand)
{
    text_release(&((struct counting *)errand)->out);
}

static void end_counting(struct counting *counting)
{
    int64_t longer = counting->timeout_ms / 1000 * UNSEEN_LONGER;

    json_write_end_list(&counting->writer);
    json_write_integer(&counting->writer, "count", counting->count);
    if (counting->often >= UNSEEN_OFTEN)
        json_write_integer(&counting->writer, "longer_seconds",
                           longer < LIMIT_TIMEOUT_S ? longer : LIMIT_TIMEOUT_S);
    json_write_end_object(&counting->writer);
    errand_ok(&counting->errand, text_string(&counting->out));
}

static void on_ended(void *context, const struct store_row *row, const struct error *err)
{
    struct counting *counting = context;

    if (!row && err) {
        errand_fail(&counting->errand, err, NULL);
    } else if (!row) {
        end_counting(counting);
    } else if (row->ask.state == STATE_TIMEOUT && !(row->ask.flags & ASK_LOOKED_AT)) {
        /* had the agent given it less than is usual here, more would not help */
        counting->often +=
            row->ask.decided_ms > counting->day_ms && row->ask.original_ms >= counting->timeout_ms;
        if (row->ask.flags & ASK_TOLD || row->ask.decided_ms <= counting->visited_ms)
            return;
        if (counting->count++ < UNSEEN_SHOWN)
            describe_summary(counting->errand.engine, row, &counting->writer, NULL);
    }
}

void ask_unseen_method(struct engine *engine, struct visit *visit, const struct json *params,
                       desk_done *done, void *context)
{
    const struct store_list_query query = { .which = STORE_LIST_ENDED, .limit = UNSEEN_LOOKED };
    struct store *store = engine->parts.store;
    struct counting *counting = errand_new(sizeof *counting, engine, visit, done, context);
    const char *visited = store->ops->meta(store, fact_name);

    (void)params;
    counting->errand.drop = counting_drop;
    counting->writer = json_writer_to(&counting->out);
    counting->day_ms = engine_utc_ms(engine) - UNSEEN_DAY_MS;
    counting->visited_ms = *visited ? strtoll(visited, NULL, 10) : counting->day_ms;
    counting->timeout_ms = engine_setting(engine, SETTING_TIMEOUT_SECONDS) * 1000;
    json_write_object(&counting->writer, NULL);
    json_write_list(&counting->writer, "asks");
    store->ops->list(store, &query, on_ended, counting);
}

void seen_mark(struct engine *engine, struct visit *visit, const char *id)
{
    struct live *live = live_find(engine, id);
    struct store *store = engine->parts.store;
    struct errand *errand;

    if (!live || !state_is_open(live->state) || live->flags & ASK_LOOKED_AT ||
        visit->role != ROLE_PERSON)
        return;
    own_look(visit);
    if (own_is_agents(engine, visit, &live->origin->asker))
        return;
    live->flags |= ASK_LOOKED_AT;
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    /* At worst it counts as unseen. */
    store_write_mark(store, &(struct store_mark){ id, ASK_LOOKED_AT, 0 }, errand_forget, errand);
}

static void seen_found(struct errand *errand)
{
    seen_mark(errand->engine, errand->visit, errand->id);
    errand_ok(errand, "{}");
}

static void on_visited(void *context, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        errand_fail(context, &reply->err, NULL);
    else
        errand_ok(context, "{}");
}

void ask_seen_method(struct engine *engine, struct visit *visit, const struct json *params,
                     desk_done *done, void *context)
{
    struct errand *errand = errand_new(sizeof *errand, engine, visit, done, context);
    struct store *store = engine->parts.store;
    char now[TEXT_INTEGER_BYTES];
    struct error err;

    own_look(errand->visit);
    if (json_member(params, "session_id")) {
        errand_find_ask(errand, params, seen_found);
    } else if (!own_may_govern(engine, errand->visit, &err)) {
        errand_fail(errand, &err, NULL);
    } else {
        errand_begin_write(errand);
        store_write_meta(
            store, &(struct store_meta){ fact_name, text_of_integer(engine_utc_ms(engine), now) },
            on_visited, errand);
    }
}
