/*
 * follow.c - asks as other hubs left them that share the store (R13.1). Every hub has all that are
 * alive in memory, no matter which hub made them: so each hub shows them, keeps their time and
 * hands their results to the calls that wait here. What is told is a hint of which ask to look at;
 * the row is the truth, and one that is older than what we know changes nothing.
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

static struct store_change change_of(struct engine *engine, const struct active_ask *active,
                                     bool is_detached)
{
    enum ask_event event = is_detached ? EVENT_AGENT_DETACHED : EVENT_AGENT_REATTACHED;
    struct store_change change = effects_change(engine, active->id, event, NULL, NULL);

    change.set_flags = is_detached ? ASK_DETACHED : 0;
    change.clear_flags = is_detached ? 0 : ASK_DETACHED;
    return change;
}

/* In memory alone */
static void detached_set(struct engine *engine, struct active_ask *active, bool is_detached)
{
    bool was_detached = active->flags & ASK_DETACHED;

    active->flags =
        is_detached ? active->flags | ASK_DETACHED : active->flags & ~(uint32_t)ASK_DETACHED;
    if (!is_detached)
        active->detached_ms = 0;
    else if (!was_detached || active->detached_ms == 0)
        active->detached_ms = engine_utc_ms(engine);
}

void detached_save(struct engine *engine, struct active_ask *active, bool is_detached)
{
    const struct lifecycle_facts facts = { 0 };
    struct store_change change = change_of(engine, active, is_detached);
    struct lifecycle_step step = lifecycle_next(active->state, change.event, &facts);

    if (!step.is_legal || step.is_ignored || !active->is_stored ||
        (is_detached && engine->is_leaving))
        return;
    detached_set(engine, active, is_detached);
    /* the flag is a courtesy: waiters in memory are what counts */
    store_write_change(engine->parts.store, &change, operation_forget, operation_to_write(engine));
    active_mark_dirty(engine, active);
}

/* A hub that left marked it, with one event for many, so that its own number has not changed. */
static void detached_follow(struct engine *engine, struct active_ask *active)
{
    if (active->flags & ASK_DETACHED || !state_is_open(active->state))
        return;
    if (active->waiters) {
        detached_save(engine, active, false); /* there it left, here it waits */
    } else {
        detached_set(engine, active, true);
        active_mark_dirty(engine, active);
    }
}

struct verdict {
    struct operation operation; /* first */
    bool is_detached;
};

static void on_judged(void *context, const struct store_reply *reply)
{
    struct verdict *verdict = context;
    struct engine *engine = verdict->operation.engine;
    struct active_ask *active = active_find(engine, verdict->operation.id);

    if (reply->outcome == STORE_LOST && reply->row) {
        follow_row(engine, reply->row); /* another hub said it, or that one is back */
    } else if (reply->outcome == STORE_DONE && active && active->seq < reply->seq) {
        active->seq = reply->seq;
        detached_set(engine, active, verdict->is_detached);
        active_mark_dirty(engine, active);
        if (verdict->is_detached && active->waiters) /* it came while that was written */
            detached_save(engine, active, false);
    }
    operation_end(&verdict->operation);
}

/* The hub where it waited is gone. */
static void on_news_abandoned(void *context, const char *id)
{
    struct engine *engine = context;
    struct active_ask *active = active_find(engine, id);
    struct store_change change;
    struct verdict *verdict;

    if (!active || !active->is_stored) {
        follow_ask(engine, id); /* it is said again */
        return;
    }
    if (!state_is_open(active->state))
        return;
    verdict = operation_of_ours(sizeof *verdict, engine, active->id);
    verdict->is_detached = !active->waiters;
    change = change_of(engine, active, verdict->is_detached);
    change.when = STORE_ABANDONED;
    log_info("ask.abandoned", "ask=%s waits_here=%d", active->id, !verdict->is_detached);
    operation_begin_write(&verdict->operation);
    store_write_change(engine->parts.store, &change, on_judged, verdict);
}

bool follow_is_shared(const struct engine *engine)
{
    return engine->parts.store->ops->follow != NULL;
}

/* The rest of its undo window; never more than one, whatever became of the wall clock. */
static void hold_back(struct engine *engine, struct active_ask *active, int64_t until_ms)
{
    int64_t window_ms = until_ms - engine_utc_ms(engine);
    int64_t max_ms = engine_setting(engine, SETTING_DELIVER_AFTER) * 1000;

    if (window_ms > max_ms && !follow_is_shared(engine))
        window_ms = max_ms;
    alarm_in(engine, &active->deadline, window_ms);
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

struct active_ask *follow_take_up(struct engine *engine, const struct store_row *row)
{
    struct match match = active_match(&row->ask);
    struct asker asker;
    struct json *origin;
    struct active_ask *active;

    if (!state_is_open(row->ask.state) && !follow_is_held_back(engine, &row->ask)) {
        note_over(engine, &row->ask, &match);
        return NULL;
    }
    asker = own_read(engine, row->ask.origin_json);
    origin = json_of(row->ask.origin_json);
    active = active_new(engine, &row->ask, &match, &asker, describe_agent(origin));
    json_free(origin);
    active->is_stored = true;
    active->is_other_hubs = follow_is_shared(engine);
    active->seq = row->seq;
    active_set_stored_times(active, row->ask.hold_used_ms, row->ask.decided_ms);
    launch_keep(engine, active, row->ask.launch_hash);
    if (state_is_open(active->state)) {
        time_start(engine, active);
        announce_taken_up(engine, active);
    } else {
        hold_back(engine, active, row->ask.deliver_after_ms);
    }
    return active;
}

/* While a row was read it may have changed, and the news of that may be older than the row is here:
 * one more look. */
struct active_ask *follow_found(struct engine *engine, const struct store_row *row)
{
    struct active_ask *active = follow_take_up(engine, row);

    if (active)
        follow_ask(engine, row->ask.id);
    return active;
}

static void take_over(struct engine *engine, struct active_ask *active, const struct store_row *row)
{
    const struct ask *ask = &row->ask;

    active->seq = row->seq;
    if (active->version != ask->version)
        active->is_back_told = false; /* it may be another question by now */
    active_set_version(active, ask->version);
    detached_set(engine, active, ask->flags & ASK_DETACHED);
    active->flags = ask->flags;
    active->interface = (uint8_t)ask->interface;
    active->deadline_ms = ask->deadline_ms;
    active->original_ms = ask->original_ms;
    active_set_stored_times(active, ask->hold_used_ms, ask->decided_ms);
    active_set_state(engine, active, ask->state);
    launch_keep(engine, active, ask->launch_hash);
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

/* What this hub does when another one decided, in the order of the state machine's effects. */
static void go_on(struct engine *engine, struct active_ask *active, const struct store_row *row,
                  bool was_open)
{
    alarm_clear(&engine->alarms, &active->deadline);
    if (state_is_open(active->state)) {
        time_start(engine, active);
        if (active->waiters && active->flags & ASK_DETACHED)
            detached_save(engine, active, false); /* there it left, here it waits */
        wait_tell_time(engine, active, NULL);
        if (!was_open)
            client_offer(engine, active, NULL);
        if (ask_back_is_news(active))
            ask_back_send(engine, active);
        return;
    }
    if (follow_is_held_back(engine, &row->ask))
        hold_back(engine, active, row->ask.deliver_after_ms);
    if (was_open) {
        draft_save_now(engine, active); /* what a person types here is kept (R5.9) */
        client_end(engine, active, ended_by(active->state));
    }
    if (!active->deadline.place)
        wait_finish(engine, active, NULL, NULL);
}

void follow_row(struct engine *engine, const struct store_row *row)
{
    struct active_ask *active = active_find(engine, row->ask.id);
    struct match match;
    bool was_open;

    if (!active) {
        active = follow_take_up(engine, row);
        if (active)
            active_mark_dirty(engine, active);
        return;
    }
    if (!active->is_stored) {
        active->is_overtaken = true; /* our own completion is still to come */
        return;
    }
    if (row->ask.delivered_ms > 0 && !state_is_open(row->ask.state)) {
        match = active_match(&row->ask);
        note_over(engine, &row->ask, &match);
    }
    if (row->seq == active->seq && row->ask.flags & ASK_DETACHED)
        detached_follow(engine, active);
    if (row->seq <= active->seq)
        return;
    was_open = state_is_open(active->state);
    take_over(engine, active, row);
    active_mark_dirty(engine, active);
    go_on(engine, active, row, was_open);
}

static void on_read(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_DONE)
        follow_row(operation->engine, reply->row);
    else if (reply->outcome == STORE_FAILED)
        log_warning("follow.failed", "ask=%s reason=%s", operation->id,
                    error_name(reply->err.code));
    operation_end(operation);
}

void follow_ask(struct engine *engine, const char *id)
{
    operation_get(operation_of_ours(sizeof(struct operation), engine, id), on_read);
}

static void on_looked(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (reply->outcome == STORE_DONE)
        follow_row(operation->engine, reply->row);
    operation->next(operation);
}

bool follow_looks_first(struct operation *operation, void (*again)(struct operation *operation))
{
    if (operation->has_looked || !follow_is_shared(operation->engine))
        return false;
    operation->has_looked = true;
    operation->next = again;
    operation_get(operation, on_looked);
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
    session_state_read(engine);
    snooze_load(engine);
    hidden_load(engine);
    preferences_load(engine);
}

static void on_news_resync(void *context)
{
    struct engine *engine = context;

    engine->forgets_undelivered = true;
    load_on_alarm(engine, &engine->load_alarm);
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
