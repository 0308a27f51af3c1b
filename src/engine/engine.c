/* engine.c - putting the engine together, taking up what was alive, retention. */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/os.h"
#include "engine/ask/submit.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/people/tokens.h"
#include "engine/state.h"

/* An answer that comes during a sweep waits for a part of it. */
enum { SWEEP_BATCH = 100, SWEEP_MAX_US = 5000 };
static const int64_t SWEEP_SOON_MS = 1000;
static const int64_t SWEEP_PAUSE_MS = 20; /* between two, while others write too */
static const int64_t SWEEP_EVERY_MS = 3600000;
static const int64_t DAY_MS = 86400000;
static const int64_t LOAD_AGAIN_MS = 500;
static const int64_t INDEX_START_MS = 3000; /* what an earlier hub left to be found by */

static const struct service_ops engine_ops = {
    .open = session_open,
    .close = session_close,
    .call = engine_call,
};

int64_t engine_boot_ms(const struct engine *engine)
{
    return engine->parts.clock->boot_ms(engine->parts.clock);
}

/* The wall clock as last looked at (engine_check_clock), carried on by the boot clock: between two
 * looks it can't jump, so times set and times compared always fit each other. */
int64_t engine_utc_ms(const struct engine *engine)
{
    return engine_boot_ms(engine) + engine->utc_minus_boot_ms;
}

void alarm_in(struct engine *engine, struct alarm *alarm, int64_t ms)
{
    alarm_set(&engine->alarms, alarm, engine_boot_ms(engine) + ms);
}

int64_t engine_setting(const struct engine *engine, enum setting_id id)
{
    return settings_integer(engine->parts.settings, id);
}

/* One ask that was not over when the last hub ended. No call waits for it yet. */
static void recover(struct engine *engine, const struct store_row *row)
{
    struct active_ask *active = follow_take_up(engine, row);

    if (!active || follow_is_shared(engine))
        return; /* where there are others, who waits is theirs to know */
    active->flags |= ASK_DETACHED;
    active->detached_ms = engine_utc_ms(engine);
}

/* What is in memory and was not listed may have ended while the list was read. */
static void look_at_unlisted(struct engine *engine)
{
    for (struct active_ask *active = NULL; (active = active_each(engine, active));) {
        if (active->is_stored && active->load_pass != engine->load_pass)
            follow_ask(engine, active->id);
    }
}

static void on_active(void *context, const struct store_row *row, const struct error *err)
{
    struct engine *engine = context;
    struct active_ask *active;

    if (row && DELIBERATE_FAULT(ask_lost_at_restart))
        return;
    if (row) {
        if (active_find(engine, row->ask.id))
            follow_row(engine, row);
        else
            recover(engine, row);
        active = active_find(engine, row->ask.id);
        if (active)
            active->load_pass = engine->load_pass;
        return;
    }
    if (err)
        log_error("recovery.failed", "reason=%s", error_name(err->code));
    /* Others did things while the list was read: a second look sees those too. */
    if (follow_is_shared(engine) && (err || !engine->is_loaded))
        alarm_in(engine, &engine->load_alarm, err ? LOAD_AGAIN_MS : 0);
    else if (follow_is_shared(engine))
        look_at_unlisted(engine);
    engine->is_loaded = engine->is_loaded || !err || !follow_is_shared(engine);
    time_arm(engine);
}

void load_asks(struct engine *engine, const struct error *err)
{
    struct store *store = engine->parts.store;

    if (err && follow_is_shared(engine))
        on_active(engine, NULL, err);
    else
        store->ops->list_active(store, engine_utc_ms(engine), on_active, engine);
}

void load_on_alarm(struct engine *engine, struct alarm *alarm)
{
    (void)alarm;
    engine->load_pass++;
    own_load(engine);
}

bool engine_is_loaded(const struct engine *engine)
{
    return engine->is_loaded;
}

struct engine *engine_new(const struct engine_parts *parts)
{
    struct engine *engine = mem_new(sizeof *engine);

    engine->service.ops = &engine_ops;
    engine->parts = *parts;
    engine->by_id = TABLE_OF(active_ask, by_id, id);
    engine->by_call = TABLE_OF(active_ask, by_call, call_match);
    engine->by_key = TABLE_OF(active_key, link, key);
    delivery_init(engine);
    launch_init(engine);
    engine->principals = TABLE_OF(principal, link, id);
    engine->armed_boot_ms = -1;
    engine->utc_minus_boot_ms = parts->clock->utc_ms(parts->clock) - engine_boot_ms(engine);
    engine->sweep_alarm = (struct alarm){ .kind = ALARM_SWEEP };
    engine->tokens_alarm = (struct alarm){ .kind = ALARM_TOKENS };
    tokens_load(engine);
    rules_load(engine);
    keys_load(engine);
    session_state_load(engine);
    snooze_load(engine);
    hidden_load(engine);
    engine->load_alarm = (struct alarm){ .kind = ALARM_LOAD };
    load_on_alarm(engine, &engine->load_alarm);
    questions_init(engine);
    questions_load(engine);
    follow_store(engine);
    sweep_soon(engine);
    engine->index_alarm = (struct alarm){ .kind = ALARM_INDEX };
    alarm_in(engine, &engine->index_alarm, INDEX_START_MS);
    time_arm(engine);
    return engine;
}

void engine_free(struct engine *engine)
{
    struct table_link *link, *next;

    if (!engine)
        return;
    questions_release(engine);
    publish_dirty(engine); /* one by one each would be looked for among all */
    for (struct active_ask *active = active_each(engine, NULL), *after; active; active = after) {
        after = active_each(engine, active); /* from the start again would be quadratic */
        active_free(engine, active);
    }
    for (link = table_each(&engine->principals, NULL); link; link = next) {
        next = table_each(&engine->principals, link);
        table_remove(&engine->principals, link);
        free(TABLE_THING(principal, link, link));
    }
    delivery_release(engine);
    text_release(&engine->line);
    table_release(&engine->by_id);
    table_release(&engine->by_call);
    table_release(&engine->by_key);
    table_release(&engine->by_launch);
    table_release(&engine->principals);
    tokens_release(engine);
    rules_release(engine);
    keys_release(engine);
    session_state_release(engine);
    hidden_release(engine);
    free(engine->clients);
    alarm_heap_release(&engine->alarms);
    free(engine);
}

struct service *engine_service(struct engine *engine)
{
    return &engine->service;
}

static void on_swept(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct engine *engine = operation->engine;
    bool is_more = reply->outcome == STORE_DONE && reply->seq > 0;
    bool is_busy = engine->parts.store->ops->last_seq(engine->parts.store) != engine->swept_at_seq;

    if (reply->outcome == STORE_FAILED)
        log_error("retention.failed", "reason=%s", error_name(reply->err.code));
    engine->is_sweeping = false;
    operation_end(operation);
    if (!is_more && engine->under_way == 0)
        os_give_memory_back(); /* thousands of asks on their way to the disk take much */
    if (is_more && is_busy)
        alarm_in(engine, &engine->sweep_alarm, SWEEP_PAUSE_MS);
    else if (is_more)
        sweep_on_alarm(engine, &engine->sweep_alarm);
    else if (!engine->sweep_alarm.place)
        alarm_in(engine, &engine->sweep_alarm, SWEEP_EVERY_MS);
}

/* One batch of retention (R9.1); the next follows while there is more to do. */
void sweep_on_alarm(struct engine *engine, struct alarm *alarm)
{
    int64_t days = engine_setting(engine, SETTING_RETENTION_DAYS);
    struct store_sweep sweep = {
        .older_than_ms = engine_utc_ms(engine) - days * DAY_MS,
        .keep_ended = engine_setting(engine, SETTING_MAX_SESSIONS),
        .batch = SWEEP_BATCH,
        .max_us = SWEEP_MAX_US,
    };

    (void)alarm;
    if (engine->is_sweeping || engine->is_leaving)
        return;
    engine->is_sweeping = true;
    engine->swept_at_seq = engine->parts.store->ops->last_seq(engine->parts.store);
    keys_refresh(engine);
    store_write_sweep(engine->parts.store, &sweep, on_swept, operation_to_write(engine));
}

void sweep_soon(struct engine *engine)
{
    int64_t soon = engine_boot_ms(engine) + SWEEP_SOON_MS;

    if (!engine->sweep_alarm.place || engine->sweep_alarm.boot_ms > soon)
        alarm_set(&engine->alarms, &engine->sweep_alarm, soon);
}

void engine_save_drafts(struct engine *engine)
{
    for (struct active_ask *active = NULL; (active = active_each(engine, active));)
        draft_save_now(engine, active);
}

void engine_leave(struct engine *engine)
{
    engine->is_leaving = true;
}

bool engine_is_settled(const struct engine *engine)
{
    return engine->under_way == 0;
}

bool engine_is_idle(const struct engine *engine)
{
    return engine->by_id.count == 0 && !engine->sessions && engine->under_way == 0;
}

size_t engine_open_count(const struct engine *engine)
{
    return engine->open_count;
}

/* When the store takes up what searches are found by (store/store.h): a while after something was
 * asked or ended, in batches that leave room for other requests. */

enum { INDEX_BATCH = 100, INDEX_SHARED_BATCH = 1000, INDEX_MAX_US = 5000 };
static const int64_t INDEX_AFTER_MS = 10000; /* longer than most undo windows */
static const int64_t INDEX_PAUSE_MS = 100;   /* while asks come in */
static const int64_t INDEX_SHARED_MS = 2000; /* each look passes all that are open, at every hub */

void index_later(struct engine *engine)
{
    if (!engine->index_alarm.place)
        alarm_in(engine, &engine->index_alarm, INDEX_AFTER_MS);
}

static void on_indexed(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;
    struct engine *engine = operation->engine;
    int64_t seq = engine->parts.store->ops->last_seq(engine->parts.store);
    bool is_busy = seq != engine->indexed_at_seq;
    bool is_more = reply->outcome == STORE_DONE && reply->seq > 0;

    if (reply->outcome == STORE_FAILED)
        log_error("index.failed", "reason=%s", error_name(reply->err.code));
    engine->is_indexing = false;
    operation_end(operation);
    if (is_more && is_busy)
        alarm_in(engine, &engine->index_alarm,
                 follow_is_shared(engine) ? INDEX_SHARED_MS : INDEX_PAUSE_MS);
    else if (is_more)
        index_on_alarm(engine, &engine->index_alarm);
}

void index_on_alarm(struct engine *engine, struct alarm *alarm)
{
    struct store *store = engine->parts.store;
    struct store_index index = {
        .now_ms = engine_utc_ms(engine),
        .batch = follow_is_shared(engine) ? INDEX_SHARED_BATCH : INDEX_BATCH,
        .max_us = INDEX_MAX_US,
    };

    if (engine->is_leaving)
        return;
    if (engine->is_indexing) {
        alarm_in(engine, alarm, INDEX_PAUSE_MS);
        return;
    }
    engine->is_indexing = true;
    engine->indexed_at_seq = store->ops->last_seq(store);
    store_write_index(store, &index, on_indexed, operation_to_write(engine));
}

/* What became of asks since this hub began, for /metrics. */

static const int64_t wait_bounds_ms[] = { 1000,   2000,   5000,    15000,   30000,    60000,
                                          120000, 300000, 1800000, 3600000, 28800000, 86400000 };
static const struct metrics_scale wait_scale = { wait_bounds_ms, ARRAY_LEN(wait_bounds_ms), 1000 };

void count_ended(struct engine *engine, const struct active_ask *active)
{
    engine->counters.ended[active->state]++;
    if (state_is_decided_by_person(active->state))
        metrics_observe(&engine->counters.waited_ms, &wait_scale,
                        engine_utc_ms(engine) - active->created_ms);
}

void engine_write_metrics(const struct engine *engine, struct text *out)
{
    static const char ended[] = "sayso_asks_ended_total";
    const struct counters *counters = &engine->counters;

    metrics_write_one(out, "sayso_asks_created_total", "counter", "Asks stored.",
                      counters->created);
    metrics_write_head(out, ended, "counter", "Asks that ended, by state.");
    for (int state = STATE_PENDING + 1; state < STATE_COUNT; state++)
        metrics_write_value(out, ended, "state", state_name((enum ask_state)state),
                            counters->ended[state]);
    metrics_write_one(out, "sayso_asks_undone_total", "counter",
                      "Undone answers; an ask can be answered again after an undo.",
                      counters->undone);
    metrics_write_one(out, "sayso_asks_pending", "gauge", "Asks that wait for a person.",
                      (int64_t)engine->open_count);
    metrics_write_histogram(out, "sayso_ask_wait_seconds",
                            "From asking to a person's answer, cancelling or declining.",
                            &counters->waited_ms, &wait_scale);
}
