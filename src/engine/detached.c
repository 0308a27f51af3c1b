/*
 * detached.c - the mark "the agent stopped waiting", for people and for other hubs (R5.5). Whose
 * connection a hub holds is that hub's to know; where it is gone, the others find out from the
 * store and settle it: one conditional update says what is true now, whoever comes first.
 */
#include <string.h>

#include "base/log.h"
#include "engine/inside.h"
#include "engine/waits.h"

static struct store_change change_of(struct engine *engine, const struct live *live,
                                     bool is_detached)
{
    enum ask_event event = is_detached ? EVENT_AGENT_DETACHED : EVENT_AGENT_REATTACHED;
    struct store_change change = store_change_of(live->id, event);
    struct lifecycle_facts facts = { 0 };

    change.from_states = lifecycle_states_for(event, &facts);
    change.set_flags = is_detached ? ASK_DETACHED : 0;
    change.clear_flags = is_detached ? 0 : ASK_DETACHED;
    change.now_ms = engine_utc_ms(engine);
    change.skips_row = true;
    return change;
}

void detached_set(struct engine *engine, struct live *live, bool is_detached)
{
    bool was_detached = live->flags & ASK_DETACHED;

    live->flags = is_detached ? live->flags | ASK_DETACHED : live->flags & ~(uint32_t)ASK_DETACHED;
    if (!is_detached)
        live->detached_ms = 0;
    else if (!was_detached || live->detached_ms == 0)
        live->detached_ms = engine_utc_ms(engine);
}

static void on_saved(void *context, const struct store_reply *reply)
{
    (void)reply; /* the flag is a courtesy: waiters in memory are what counts */
    errand_end(context);
}

void detached_save(struct engine *engine, struct live *live, bool is_detached)
{
    struct lifecycle_facts facts = { 0 };
    struct store_change change = change_of(engine, live, is_detached);
    struct lifecycle_step step = lifecycle_next(live->state, change.event, &facts);
    struct errand *errand;

    if (!step.is_legal || step.is_ignored || !live->is_stored ||
        (is_detached && engine->is_leaving))
        return;
    detached_set(engine, live, is_detached);
    errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
    errand_begin_write(errand);
    engine->parts.store->ops->change(engine->parts.store, &change, on_saved, errand);
    live_mark_dirty(engine, live);
}

/* A hub that left marked it, with one event for many, so that its own number has not changed. */
void detached_follow(struct engine *engine, struct live *live)
{
    if (live->flags & ASK_DETACHED || !state_is_open(live->state))
        return;
    if (live->waiters) {
        detached_save(engine, live, false); /* there it left, here it waits */
    } else {
        detached_set(engine, live, true);
        live_mark_dirty(engine, live);
    }
}

struct verdict {
    struct errand errand; /* first */
    bool is_detached;
};

static void on_judged(void *context, const struct store_reply *reply)
{
    struct verdict *verdict = context;
    struct engine *engine = verdict->errand.engine;
    struct live *live = live_find(engine, verdict->errand.id);

    if (reply->outcome == STORE_LOST && reply->row) {
        follow_row(engine, reply->row); /* another hub said it, or that one is back */
    } else if (reply->outcome == STORE_DONE && live && live->seq < reply->seq) {
        live->seq = reply->seq;
        detached_set(engine, live, verdict->is_detached);
        live_mark_dirty(engine, live);
        if (verdict->is_detached && live->waiters) /* it came while that was written */
            detached_save(engine, live, false);
    }
    errand_end(&verdict->errand);
}

void detached_judge(struct engine *engine, const char *id)
{
    struct live *live = live_find(engine, id);
    struct store_change change;
    struct verdict *verdict;

    if (!live || !live->is_stored) {
        follow_ask(engine, id); /* it is said again */
        return;
    }
    if (!state_is_open(live->state))
        return;
    verdict = errand_new(sizeof *verdict, engine, NULL, NULL, NULL);
    memcpy(verdict->errand.id, live->id, sizeof verdict->errand.id);
    verdict->is_detached = !live->waiters;
    change = change_of(engine, live, verdict->is_detached);
    change.when = STORE_ABANDONED;
    log_info("ask.abandoned", "ask=%s waits_here=%d", live->id, !verdict->is_detached);
    errand_begin_write(&verdict->errand);
    engine->parts.store->ops->change(engine->parts.store, &change, on_judged, verdict);
}
