/*
 * index.c - when the store takes up what searches are found by (ports/store.h): a while after
 * something was asked or ended, in batches that leave room for whoever asks meanwhile.
 */
#include "base/log.h"
#include "engine/inside.h"

enum { INDEX_BATCH = 100, INDEX_SHARED_BATCH = 1000, INDEX_MOST_US = 5000 };
static const int64_t INDEX_AFTER_MS = 10000; /* longer than most undo windows */
static const int64_t INDEX_START_MS = 3000;  /* what an earlier hub left */
static const int64_t INDEX_PAUSE_MS = 100;   /* while asks come in */
static const int64_t INDEX_SHARED_MS = 2000; /* each look passes all that are open, at every hub */

void index_later(struct engine *engine)
{
    if (!engine->index_alarm.place)
        alarm_set(&engine->alarms, &engine->index_alarm, engine_boot_ms(engine) + INDEX_AFTER_MS);
}

void index_start(struct engine *engine)
{
    engine->index_alarm = (struct alarm){ .kind = ALARM_INDEX };
    alarm_set(&engine->alarms, &engine->index_alarm, engine_boot_ms(engine) + INDEX_START_MS);
}

static void on_indexed(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    struct engine *engine = errand->engine;
    int64_t seq = engine->parts.store->ops->last_seq(engine->parts.store);
    bool is_busy = seq != engine->indexed_at_seq;
    bool is_more = reply->outcome == STORE_DONE && reply->seq > 0;

    if (reply->outcome == STORE_FAILED)
        log_error("index.failed", "reason=%s", error_name(reply->err.code));
    engine->is_indexing = false;
    errand_end(errand);
    if (is_more && is_busy)
        alarm_set(&engine->alarms, &engine->index_alarm,
                  engine_boot_ms(engine) +
                      (follow_is_shared(engine) ? INDEX_SHARED_MS : INDEX_PAUSE_MS));
    else if (is_more)
        index_ring(engine, &engine->index_alarm);
}

void index_ring(struct engine *engine, struct alarm *alarm)
{
    struct store *store = engine->parts.store;
    struct store_index index = {
        .now_ms = engine_utc_ms(engine),
        .batch = follow_is_shared(engine) ? INDEX_SHARED_BATCH : INDEX_BATCH,
        .most_us = INDEX_MOST_US,
    };
    struct errand *errand;

    if (engine->is_leaving)
        return;
    if (engine->is_indexing) {
        alarm_set(&engine->alarms, alarm, engine_boot_ms(engine) + INDEX_PAUSE_MS);
        return;
    }
    engine->is_indexing = true;
    engine->indexed_at_seq = store->ops->last_seq(store);
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    store->ops->index(store, &index, on_indexed, errand);
}
