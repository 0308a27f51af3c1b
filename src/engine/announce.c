/*
 * announce.c - telling a person who looks at none of our screens that an agent waits: when an ask
 * is new, or once the agent's own client has had the time to show it, and once more when it has
 * waited for long. How it is told is the hub's affair; not while the person wants quiet (R6.6).
 *
 * What is told later is told by whoever marks the ask first: of all hubs that share the store one
 * does, whichever are alive by then, and a hub that was started again does not repeat what the last
 * one said. A hub that dies between the mark and the words leaves them unsaid.
 */
#include <string.h>
#include <time.h>

#include "core/visible_text.h"
#include "engine/acts.h"
#include "engine/client.h"
#include "engine/describe.h"
#include "engine/inside.h"
#include "ports/announcement.h"

enum { ANNOUNCE_MINUTE_MS = 60000 };
static const int64_t ANNOUNCE_OTHERS_MS = 2000; /* for the hub that has the ask to tell of it */
static const int64_t ANNOUNCE_LATE_MS = 600000; /* what was missed for longer is old news */
static const int64_t ANNOUNCE_RETRY_MS = 5000;  /* a mark that could not be kept */

static bool is_quiet(const struct engine *engine)
{
    time_t now = (time_t)(engine_utc_ms(engine) / 1000);
    struct tm parts;

    return !localtime_r(&now, &parts) ||
           settings_is_quiet(engine->parts.settings, parts.tm_hour * 60 + parts.tm_min);
}

static void tell(struct engine *engine, const struct live *live, bool is_reminder)
{
    struct text title = { 0 }, agent = { 0 }, url = { 0 };
    struct announcement announcement = {
        .session_id = live->id,
        .is_reminder = is_reminder,
        .is_destructive = live->flags & ASK_DESTRUCTIVE,
        .is_watched = engine->page_count > 0 || engine->inbox_count > 0,
        .waited_ms = engine_utc_ms(engine) - live->created_ms,
        .remaining_s = describe_remaining_s(engine, live),
    };

    visible_text(live->title, strlen(live->title), VISIBLE_ONE_LINE, &title);
    if (live->origin->agent)
        visible_text(live->origin->agent, strlen(live->origin->agent), VISIBLE_ONE_LINE, &agent);
    announcement.title = text_string(&title);
    announcement.agent = text_string(&agent);
    announcement.url = portal_write_url(engine, live->id, &url) ? text_string(&url) : NULL;
    engine->parts.announce(engine->parts.context, &announcement);
    text_release(&title);
    text_release(&agent);
    text_release(&url);
}

static void arm(struct engine *engine)
{
    const struct announcing *next = NULL;

    for (size_t i = 0; i < engine->announcing_count; i++) {
        if (!next || engine->announcing[i].boot_ms < next->boot_ms)
            next = &engine->announcing[i];
    }
    engine->announce_alarm.kind = ALARM_ANNOUNCE;
    if (next)
        alarm_set(&engine->alarms, &engine->announce_alarm, next->boot_ms);
}

/* Where there are too many at once, the oldest is not told of again: there is noise enough. */
static void plan(struct engine *engine, const char *id, int64_t boot_ms, bool is_reminder)
{
    struct announcing *announcing = engine->announcing;

    if (engine->announcing_count == ANNOUNCING_KEPT) {
        memmove(announcing, announcing + 1, (ANNOUNCING_KEPT - 1) * sizeof *announcing);
        engine->announcing_count--;
    }
    announcing += engine->announcing_count++;
    memcpy(announcing->id, id, sizeof announcing->id);
    announcing->boot_ms = boot_ms;
    announcing->is_reminder = is_reminder;
    arm(engine);
}

static void say(struct engine *engine, const struct live *live, bool is_reminder)
{
    if (!is_quiet(engine) && later_until_ms(engine, live->id) == 0)
        tell(engine, live, is_reminder);
}

/* It was not told yet, as far as we know. */
static bool is_due(const struct live *live, bool is_reminder)
{
    return state_is_open(live->state) &&
           (is_reminder ? !(live->flags & ASK_REMINDED) : live->flags & ASK_UNTOLD);
}

/* At a moment after it was asked, in UTC; one that has just gone by is made up for at once. */
static void plan_after(struct engine *engine, const struct live *live, int64_t after_ms,
                       bool is_reminder)
{
    int64_t left_ms = live->created_ms + after_ms - engine_utc_ms(engine);

    if (left_ms < -ANNOUNCE_LATE_MS || !is_due(live, is_reminder))
        return;
    if (left_ms < 0)
        left_ms = 0;
    if (live->is_elsewhere)
        left_ms += ANNOUNCE_OTHERS_MS;
    plan(engine, live->id, engine_boot_ms(engine) + left_ms, is_reminder);
}

static void plan_reminder(struct engine *engine, const struct live *live)
{
    int64_t minutes = engine_setting(engine, SETTING_REMIND_MINUTES);

    if (minutes > 0)
        plan_after(engine, live, minutes * ANNOUNCE_MINUTE_MS, true);
}

void announce_new(struct engine *engine, const struct live *live)
{
    if (!engine->parts.announce)
        return;
    if (!(live->flags & ASK_UNTOLD))
        say(engine, live, false);
    else
        plan(engine, live->id,
             client_shows(live) ? live->quiet_until_boot_ms : engine_boot_ms(engine), false);
    plan_reminder(engine, live);
}

/* One that was asked before this hub began, or at another one, which told of it. */
void announce_taken_up(struct engine *engine, const struct live *live)
{
    if (!engine->parts.announce)
        return;
    plan_after(engine, live, ROUTING_SILENT_MS, false);
    plan_reminder(engine, live);
}

/* Who waits already is told of by the new number too; as many as can be kept. */
void announce_retime(struct engine *engine)
{
    struct table_link *link = NULL;
    size_t kept = 0;

    if (!engine->parts.announce)
        return;
    for (size_t i = 0; i < engine->announcing_count; i++) {
        if (!engine->announcing[i].is_reminder)
            engine->announcing[kept++] = engine->announcing[i];
    }
    engine->announcing_count = kept;
    while (engine->announcing_count < ANNOUNCING_KEPT &&
           (link = table_each(&engine->by_id, link))) {
        const struct live *live = TABLE_THING(live, by_id, link);
        int64_t waited_ms = engine_utc_ms(engine) - live->created_ms;

        /* what has waited for longer than that already was not missed by anybody */
        if (waited_ms < engine_setting(engine, SETTING_REMIND_MINUTES) * ANNOUNCE_MINUTE_MS)
            plan_reminder(engine, live);
    }
}

struct claim {
    struct errand errand; /* first */
    bool is_reminder;
};

static void on_marked(void *context, const struct store_reply *reply)
{
    struct claim *claim = context;
    struct engine *engine = claim->errand.engine;
    struct live *live = live_find(engine, claim->errand.id);
    bool is_over = !live || !state_is_open(live->state);

    if (reply->outcome == STORE_FAILED && !is_over)
        plan(engine, live->id, engine_boot_ms(engine) + ANNOUNCE_RETRY_MS, claim->is_reminder);
    if (reply->outcome == STORE_DONE && !is_over) {
        if (claim->is_reminder)
            live->flags |= ASK_REMINDED;
        else
            live->flags &= ~(uint32_t)ASK_UNTOLD;
        say(engine, live, claim->is_reminder);
    }
    errand_end(&claim->errand);
}

static void mark(struct engine *engine, const struct live *live, bool is_reminder)
{
    struct store *store = engine->parts.store;
    struct claim *claim = errand_new(sizeof *claim, engine, NULL, NULL, NULL);

    claim->is_reminder = is_reminder;
    memcpy(claim->errand.id, live->id, sizeof claim->errand.id);
    errand_begin_write(&claim->errand);
    store->ops->mark(store, live->id, is_reminder ? ASK_REMINDED : 0, is_reminder ? 0 : ASK_UNTOLD,
                     on_marked, claim);
}

void announce_ring(struct engine *engine, struct alarm *alarm)
{
    int64_t now = engine_boot_ms(engine);
    size_t kept = 0, count = engine->announcing_count;
    struct announcing due[ANNOUNCING_KEPT];
    size_t due_count = 0;

    (void)alarm;
    for (size_t i = 0; i < count; i++) {
        if (engine->announcing[i].boot_ms <= now)
            due[due_count++] = engine->announcing[i];
        else
            engine->announcing[kept++] = engine->announcing[i];
    }
    engine->announcing_count = kept;
    for (size_t i = 0; i < due_count; i++) {
        const struct live *live = live_find(engine, due[i].id);

        if (live && is_due(live, due[i].is_reminder))
            mark(engine, live, due[i].is_reminder);
    }
    arm(engine);
}
