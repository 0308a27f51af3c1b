/*
 * follow.c - asks as other hubs left them that share the store (R13.1). Every hub has all that are
 * alive in memory, whoever made them: so each of them shows them, keeps their time and hands their
 * results to whoever waits here. What is told is a hint of which ask to look at; the row is the
 * truth, and one that is older than what we know changes nothing.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "engine/ask/submit.h"
#include "engine/conversation/conversation.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/people/tokens.h"
#include "engine/state.h"

/* The mark "the agent stopped waiting", for people and for other hubs (R5.5). Whose connection a
 * hub holds is that hub's to know; where it is gone, the others find out from the store and settle
 * it: one conditional update decides, and the first hub to run it wins. */

static struct store_change change_of(struct engine *engine, const struct live *live,
                                     bool is_detached)
{
    enum ask_event event = is_detached ? EVENT_AGENT_DETACHED : EVENT_AGENT_REATTACHED;
    struct store_change change = effects_change(engine, live->id, event, NULL, NULL);

    change.set_flags = is_detached ? ASK_DETACHED : 0;
    change.clear_flags = is_detached ? 0 : ASK_DETACHED;
    return change;
}

/* In memory alone */
static void detached_set(struct engine *engine, struct live *live, bool is_detached)
{
    bool was_detached = live->flags & ASK_DETACHED;

    live->flags = is_detached ? live->flags | ASK_DETACHED : live->flags & ~(uint32_t)ASK_DETACHED;
    if (!is_detached)
        live->detached_ms = 0;
    else if (!was_detached || live->detached_ms == 0)
        live->detached_ms = engine_utc_ms(engine);
}

void detached_save(struct engine *engine, struct live *live, bool is_detached)
{
    const struct lifecycle_facts facts = { 0 };
    struct store_change change = change_of(engine, live, is_detached);
    struct lifecycle_step step = lifecycle_next(live->state, change.event, &facts);

    if (!step.is_legal || step.is_ignored || !live->is_stored ||
        (is_detached && engine->is_leaving))
        return;
    detached_set(engine, live, is_detached);
    /* the flag is a courtesy: waiters in memory are what counts */
    store_write_change(engine->parts.store, &change, errand_forget, errand_to_write(engine));
    live_mark_dirty(engine, live);
}

/* A hub that left marked it, with one event for many, so that its own number has not changed. */
static void detached_follow(struct engine *engine, struct live *live)
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

/* The hub where it waited is gone. */
static void on_news_abandoned(void *context, const char *id)
{
    struct engine *engine = context;
    struct live *live = live_find(engine, id);
    struct store_change change;
    struct verdict *verdict;

    if (!live || !live->is_stored) {
        follow_ask(engine, id); /* it is said again */
        return;
    }
    if (!state_is_open(live->state))
        return;
    verdict = errand_of_ours(sizeof *verdict, engine, live->id);
    verdict->is_detached = !live->waiters;
    change = change_of(engine, live, verdict->is_detached);
    change.when = STORE_ABANDONED;
    log_info("ask.abandoned", "ask=%s waits_here=%d", live->id, !verdict->is_detached);
    errand_begin_write(&verdict->errand);
    store_write_change(engine->parts.store, &change, on_judged, verdict);
}

bool follow_is_shared(const struct engine *engine)
{
    return engine->parts.store->ops->follow != NULL;
}

/* The rest of its undo window; never more than one, whatever became of the wall clock. */
static void hold_back(struct engine *engine, struct live *live, int64_t until_ms)
{
    int64_t window_ms = until_ms - engine_utc_ms(engine);
    int64_t most_ms = engine_setting(engine, SETTING_DELIVER_AFTER) * 1000;

    if (window_ms > most_ms && !follow_is_shared(engine))
        window_ms = most_ms;
    alarm_in(engine, &live->deadline, window_ms);
}

bool follow_is_held_back(const struct engine *engine, const struct ask *ask)
{
    return !state_is_open(ask->state) && ask->deliver_after_ms > engine_utc_ms(engine);
}

/* Over: all that is to be known of it is whether its agent has the answer. */
static void note_over(struct engine *engine, const struct ask *ask, const struct match *match)
{
    bool is_undelivered = state_is_decided_by_person(ask->state) && ask->delivered_ms == 0;

    if (is_undelivered)
        undelivered_add(engine, ask->id, ask->principal, match->call);
    else
        undelivered_remove(engine, ask->id, ask->principal);
    if ((ask->flags & (ASK_TOLD | ASK_HEARD)) == ASK_TOLD ||
        (is_undelivered && follow_is_shared(engine)))
        notices_mark(engine, principal_get(engine, ask->principal));
}

struct live *follow_take_up(struct engine *engine, const struct store_row *row)
{
    struct match match = live_match(&row->ask);
    struct asker asker;
    struct json *origin;
    struct live *live;

    if (!state_is_open(row->ask.state) && !follow_is_held_back(engine, &row->ask)) {
        note_over(engine, &row->ask, &match);
        return NULL;
    }
    asker = own_read(engine, row->ask.origin_json);
    origin = json_of(row->ask.origin_json);
    live = live_new(engine, &row->ask, &match, &asker, describe_agent(origin));
    json_free(origin);
    live->is_stored = true;
    live->is_elsewhere = follow_is_shared(engine);
    live->seq = row->seq;
    live_set_stored_times(live, row->ask.hold_used_ms, row->ask.decided_ms);
    launch_keep(engine, live, row->ask.launch_hash);
    if (state_is_open(live->state)) {
        time_start(engine, live);
        announce_taken_up(engine, live);
    } else {
        hold_back(engine, live, row->ask.deliver_after_ms);
    }
    return live;
}

/* While a row was read it may have changed, and the news of that may be older than the row is here:
 * one more look. */
struct live *follow_found(struct engine *engine, const struct store_row *row)
{
    struct live *live = follow_take_up(engine, row);

    if (live)
        follow_ask(engine, row->ask.id);
    return live;
}

static void take_over(struct engine *engine, struct live *live, const struct store_row *row)
{
    const struct ask *ask = &row->ask;

    live->seq = row->seq;
    if (live->version != ask->version)
        live->is_back_told = false; /* it may be another question by now */
    live_set_version(live, ask->version);
    detached_set(engine, live, ask->flags & ASK_DETACHED);
    live->flags = ask->flags;
    live->interface = (uint8_t)ask->interface;
    live->deadline_ms = ask->deadline_ms;
    live->original_ms = ask->original_ms;
    live_set_stored_times(live, ask->hold_used_ms, ask->decided_ms);
    live_set_state(engine, live, ask->state);
    launch_keep(engine, live, ask->launch_hash);
}

static enum ask_event ended_by(enum ask_state state)
{
    static const enum ask_event events[STATE_COUNT] = {
        [STATE_SUBMITTED] = EVENT_ANSWERED,  [STATE_AUTO_SUBMITTED] = EVENT_EXPIRED,
        [STATE_CANCELLED] = EVENT_CANCELLED, [STATE_DECLINED] = EVENT_DECLINED,
        [STATE_TIMEOUT] = EVENT_EXPIRED,     [STATE_WITHDRAWN] = EVENT_AGENT_WITHDREW,
    };

    return events[state];
}

/* What this hub does when somebody else decided: the order is that of the state machine's effects.
 */
static void go_on(struct engine *engine, struct live *live, const struct store_row *row,
                  bool was_open)
{
    alarm_clear(&engine->alarms, &live->deadline);
    if (state_is_open(live->state)) {
        time_start(engine, live);
        if (live->waiters && live->flags & ASK_DETACHED)
            detached_save(engine, live, false); /* there it left, here it waits */
        wait_tell_time(engine, live, NULL);
        if (!was_open)
            client_offer(engine, live, NULL);
        if (back_is_news(live))
            back_tell_of(engine, live);
        return;
    }
    if (follow_is_held_back(engine, &row->ask))
        hold_back(engine, live, row->ask.deliver_after_ms);
    if (was_open) {
        draft_save_now(engine, live); /* what somebody types here is kept (R5.9) */
        client_end(engine, live, ended_by(live->state));
    }
    if (!live->deadline.place)
        wait_finish(engine, live, NULL, NULL);
}

void follow_row(struct engine *engine, const struct store_row *row)
{
    struct live *live = live_find(engine, row->ask.id);
    struct match match;
    bool was_open;

    if (!live) {
        live = follow_take_up(engine, row);
        if (live)
            live_mark_dirty(engine, live);
        return;
    }
    if (!live->is_stored) {
        live->is_overtaken = true; /* our own completion is still to come */
        return;
    }
    if (row->ask.delivered_ms > 0 && !state_is_open(row->ask.state)) {
        match = live_match(&row->ask);
        note_over(engine, &row->ask, &match);
    }
    if (row->seq == live->seq && row->ask.flags & ASK_DETACHED)
        detached_follow(engine, live);
    if (row->seq <= live->seq)
        return;
    was_open = state_is_open(live->state);
    take_over(engine, live, row);
    live_mark_dirty(engine, live);
    go_on(engine, live, row, was_open);
}

static void on_read(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE)
        follow_row(errand->engine, reply->row);
    else if (reply->outcome == STORE_FAILED)
        log_warning("follow.failed", "ask=%s reason=%s", errand->id, error_name(reply->err.code));
    errand_end(errand);
}

void follow_ask(struct engine *engine, const char *id)
{
    errand_get(errand_of_ours(sizeof(struct errand), engine, id), on_read);
}

static void on_looked(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (reply->outcome == STORE_DONE)
        follow_row(errand->engine, reply->row);
    errand->next(errand);
}

bool follow_looks_first(struct errand *errand, void (*again)(struct errand *errand))
{
    if (errand->has_looked || !follow_is_shared(errand->engine))
        return false;
    errand->has_looked = true;
    errand->next = again;
    errand_get(errand, on_looked);
    return true;
}

static void on_news_ask(void *context, const struct store_row *row)
{
    follow_row(context, row);
}

static void on_news_conversation(void *context, const char *id)
{
    question_follow(context, id);
}

static void on_news_facts(void *context)
{
    struct engine *engine = context;

    tokens_reload(engine);
    rules_reload(engine);
    keys_load(engine);
    session_notes_read(engine);
    later_load(engine);
    hidden_load(engine);
    preferences_load(engine);
}

static void on_news_resync(void *context)
{
    struct engine *engine = context;

    engine->forgets_undelivered = true;
    load_ring(engine, &engine->load_alarm);
    questions_load(engine);
}

void follow_store(struct engine *engine)
{
    static const struct store_news news = {
        .ask = on_news_ask,
        .conversation = on_news_conversation,
        .abandoned = on_news_abandoned,
        .facts = on_news_facts,
        .resync = on_news_resync,
    };
    struct store *store = engine->parts.store;

    if (store->ops->follow)
        store->ops->follow(store, &news, engine);
}
