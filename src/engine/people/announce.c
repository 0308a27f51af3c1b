/* announce.c - tells people about asks, and about those that timed out unseen. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/ask.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* Telling a person who looks at none of our screens that an agent waits: when an ask is new, or
 * once the agent's own client has had the time to show it, and once more when it has waited for
 * long. How it is told is the hub's affair; not while the person wants quiet (R6.6).
 *
 * What is told later is told by the hub that marks the ask first: of all that share the store
 * one does, whichever are alive by then, and a hub that was started again does not repeat what the
 * last one said. A hub that dies between the mark and the words leaves them unsaid. */

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

static void tell(struct engine *engine, const struct active_ask *active, bool is_reminder)
{
    struct text title = { 0 }, agent = { 0 }, url = { 0 };
    struct announcement announcement = {
        .session_id = active->id,
        .is_reminder = is_reminder,
        .is_destructive = active->flags & ASK_DESTRUCTIVE,
        .is_watched = engine->page_count > 0 || engine->inbox_count > 0,
        .waited_ms = engine_utc_ms(engine) - active->created_ms,
        .remaining_s = describe_remaining_s(engine, active),
    };

    visible_text(active->title, strlen(active->title), VISIBLE_ONE_LINE, &title);
    if (active->origin->agent)
        visible_text(active->origin->agent, strlen(active->origin->agent), VISIBLE_ONE_LINE,
                     &agent);
    announcement.title = text_string(&title);
    announcement.agent = text_string(&agent);
    announcement.url = portal_write_url(engine, active->id, &url) ? text_string(&url) : NULL;
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

/* If there are too many, the oldest is dropped: there is noise enough. */
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

static void say(struct engine *engine, const struct active_ask *active, bool is_reminder)
{
    if (!is_quiet(engine) && snooze_until_ms(engine, active->id) == 0)
        tell(engine, active, is_reminder);
}

/* It was not told yet, as far as we know. */
static bool is_due(const struct active_ask *active, bool is_reminder)
{
    return state_is_open(active->state) &&
           (is_reminder ? !(active->flags & ASK_REMINDED) : active->flags & ASK_UNTOLD);
}

/* At a moment after it was asked, in UTC; one that has just gone by counts as now. */
static void plan_after(struct engine *engine, const struct active_ask *active, int64_t after_ms,
                       bool is_reminder)
{
    int64_t left_ms = active->created_ms + after_ms - engine_utc_ms(engine);

    if (left_ms < -ANNOUNCE_LATE_MS || !is_due(active, is_reminder))
        return;
    if (left_ms < 0)
        left_ms = 0;
    if (active->is_other_hubs)
        left_ms += ANNOUNCE_OTHERS_MS;
    plan(engine, active->id, engine_boot_ms(engine) + left_ms, is_reminder);
}

static void plan_reminder(struct engine *engine, const struct active_ask *active)
{
    int64_t minutes = engine_setting(engine, SETTING_REMIND_MINUTES);

    if (minutes > 0)
        plan_after(engine, active, minutes * ANNOUNCE_MINUTE_MS, true);
}

void announce_new(struct engine *engine, const struct active_ask *active)
{
    if (!engine->parts.announce)
        return;
    if (!(active->flags & ASK_UNTOLD))
        say(engine, active, false);
    else
        plan(engine, active->id,
             client_shows(active) ? active_rare(active)->quiet_until_boot_ms
                                  : engine_boot_ms(engine),
             false);
    plan_reminder(engine, active);
}

/* One that was asked before this hub began, or at another one, which told of it. */
void announce_taken_up(struct engine *engine, const struct active_ask *active)
{
    if (!engine->parts.announce)
        return;
    plan_after(engine, active, ROUTING_SILENT_MS, false);
    plan_reminder(engine, active);
}

/* Who waits already is told of by the new number too; as many as can be kept. */
void announce_reschedule(struct engine *engine)
{
    const struct active_ask *active = NULL;
    size_t kept = 0;

    if (!engine->parts.announce)
        return;
    for (size_t i = 0; i < engine->announcing_count; i++) {
        if (!engine->announcing[i].is_reminder)
            engine->announcing[kept++] = engine->announcing[i];
    }
    engine->announcing_count = kept;
    while (engine->announcing_count < ANNOUNCING_KEPT && (active = active_each(engine, active))) {
        int64_t waited_ms = engine_utc_ms(engine) - active->created_ms;

        /* what has waited for longer than that already was not missed by anybody */
        if (waited_ms < engine_setting(engine, SETTING_REMIND_MINUTES) * ANNOUNCE_MINUTE_MS)
            plan_reminder(engine, active);
    }
}

struct claim {
    struct operation operation; /* first */
    bool is_reminder;
};

static void on_marked(void *context, const struct store_reply *reply)
{
    struct claim *claim = context;
    struct engine *engine = claim->operation.engine;
    struct active_ask *active = active_find(engine, claim->operation.id);
    bool is_over = !active || !state_is_open(active->state);

    if (reply->outcome == STORE_FAILED && !is_over)
        plan(engine, active->id, engine_boot_ms(engine) + ANNOUNCE_RETRY_MS, claim->is_reminder);
    if (reply->outcome == STORE_DONE && !is_over) {
        if (claim->is_reminder)
            active->flags |= ASK_REMINDED;
        else
            active->flags &= ~(uint32_t)ASK_UNTOLD;
        say(engine, active, claim->is_reminder);
    }
    operation_end(&claim->operation);
}

static void mark(struct engine *engine, const struct active_ask *active, bool is_reminder)
{
    struct claim *claim = operation_of_ours(sizeof *claim, engine, NULL);

    claim->is_reminder = is_reminder;
    memcpy(claim->operation.id, active->id, sizeof claim->operation.id);
    operation_begin_write(&claim->operation);
    store_write_mark(engine->parts.store,
                     &(struct store_mark){ active->id, is_reminder ? ASK_REMINDED : 0,
                                           is_reminder ? 0 : ASK_UNTOLD },
                     on_marked, claim);
}

void announce_on_alarm(struct engine *engine, struct alarm *alarm)
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
        const struct active_ask *active = active_find(engine, due[i].id);

        if (active && is_due(active, due[i].is_reminder))
            mark(engine, active, due[i].is_reminder);
    }
    arm(engine);
}

/* Asks a person wants to answer later: open as before, but silent until a time (R7.9). They are
 * few, so all of them are one value in the store, written again with each change. */

static const char announce_fact_name[] = "later";

int64_t snooze_until_ms(const struct engine *engine, const char *id)
{
    for (size_t i = 0; i < engine->snooze_count; i++) {
        if (strcmp(engine->snoozes[i].id, id) == 0)
            return engine->snoozes[i].until_ms > engine_utc_ms(engine) ? engine->snoozes[i].until_ms
                                                                       : 0;
    }
    return 0;
}

/* Those that are over or whose time has come make room; then the oldest does. */
static void make_room(struct engine *engine, const char *id)
{
    size_t kept = 0;

    for (size_t i = 0; i < engine->snooze_count; i++) {
        const struct snooze *snoozes = &engine->snoozes[i];

        if (strcmp(snoozes->id, id) != 0 && active_find(engine, snoozes->id) &&
            snoozes->until_ms > engine_utc_ms(engine))
            engine->snoozes[kept++] = *snoozes;
    }
    if (kept == SNOOZES_KEPT)
        memmove(engine->snoozes, engine->snoozes + 1, --kept * sizeof *engine->snoozes);
    engine->snooze_count = kept;
}

void snooze_load(struct engine *engine)
{
    const char *at = engine->parts.store->ops->meta(engine->parts.store, announce_fact_name);
    char *end;

    engine->snooze_count = 0;
    while (engine->snooze_count < SNOOZES_KEPT) {
        struct snooze *snoozes = &engine->snoozes[engine->snooze_count];

        at += strspn(at, " ");
        if (strcspn(at, " ") != LIMIT_ID_CHARS)
            return;
        memcpy(snoozes->id, at, LIMIT_ID_CHARS);
        snoozes->id[LIMIT_ID_CHARS] = '\0';
        at += LIMIT_ID_CHARS;
        snoozes->until_ms = strtoll(at, &end, 10);
        if (end == at)
            return;
        at = end;
        engine->snooze_count++;
    }
}

struct putting_off {
    struct operation operation; /* first */
    int64_t seconds, until_ms;
};

static void on_saved(void *context, const struct store_reply *reply)
{
    struct putting_off *own = context;
    struct active_ask *active = active_find(own->operation.engine, own->operation.id);
    struct text out = { 0 };
    struct json_writer writer;

    if (reply->outcome == STORE_FAILED)
        snooze_load(own->operation.engine); /* what is not kept did not happen */
    if (operation_fails(&own->operation, reply))
        return;
    if (active)
        active_mark_dirty(own->operation.engine, active);
    writer = json_object_to(&out);
    json_write_text(&writer, "session_id", own->operation.id);
    describe_time_if(&writer, "later_until", own->until_ms);
    json_write_end_object(&writer);
    operation_ok_take(&own->operation, &out);
}

static void snooze_found(struct operation *operation)
{
    struct putting_off *own = (struct putting_off *)operation;
    struct engine *engine = operation->engine;
    const struct active_ask *active = active_find(engine, operation->id);
    struct text fact = { 0 };

    if (!active || !state_is_open(active->state)) {
        operation_is_over(operation);
        return;
    }
    make_room(engine, operation->id);
    if (own->seconds > 0) {
        struct snooze *snoozes = &engine->snoozes[engine->snooze_count++];

        own->until_ms = snoozes->until_ms = engine_utc_ms(engine) + own->seconds * 1000;
        memcpy(snoozes->id, operation->id, sizeof snoozes->id);
    }
    for (size_t i = 0; i < engine->snooze_count; i++)
        text_add_format(&fact, "%s %" PRId64 " ", engine->snoozes[i].id,
                        engine->snoozes[i].until_ms);
    operation_begin_write(operation);
    store_write_meta(engine->parts.store,
                     &(struct store_meta){ announce_fact_name, text_string(&fact) }, on_saved, own);
    text_release(&fact);
}

void ask_later_method(struct method_call call)
{
    struct putting_off *own = operation_new(sizeof *own, call);

    own->seconds = json_member_integer(call.params, "seconds", -1);
    if (own->seconds < 0 || own->seconds > LIMIT_TIMEOUT_S) {
        operation_say(&own->operation, ERROR_out_of_range, "/seconds", TEXT_REASON_LATER_SECONDS,
                      "most", TEXT_NUMBER(LIMIT_TIMEOUT_S), NULL);
        return;
    }
    operation_find_ask(&own->operation, call.params, snooze_found);
}

/* Asks that timed out while no one looked: a person who comes back hears how many there were since
 * the last visit, and after the second within a day is offered more time. An ask was looked at
 * when a person opened it; the last visit ended when a person had these shown and went on. An
 * agent's own processes look at nothing: they would hide what its user should hear of. */

enum { UNSEEN_LOOKED = 200, UNSEEN_SHOWN = 5, UNSEEN_OFTEN = 2, UNSEEN_LONGER = 4 };
static const int64_t UNSEEN_DAY_MS = 86400000;
static const char unseen_fact_name[] = "visited";

struct counting {
    struct writing writing; /* first */
    int64_t visited_ms, day_ms, timeout_ms;
    int64_t count, often;
};

static void end_counting(struct counting *counting)
{
    int64_t longer = counting->timeout_ms / 1000 * UNSEEN_LONGER;
    struct json_writer *writer = &counting->writing.writer;

    json_write_end_list(writer);
    json_write_integer(writer, "count", counting->count);
    if (counting->often >= UNSEEN_OFTEN)
        json_write_integer(writer, "longer_seconds",
                           longer < LIMIT_TIMEOUT_S ? longer : LIMIT_TIMEOUT_S);
    writing_end(&counting->writing);
}

static void on_ended(void *context, const struct store_row *row, const struct error *err)
{
    struct counting *counting = context;

    if (!row && err) {
        operation_fail(&counting->writing.operation, err, NULL);
    } else if (!row) {
        end_counting(counting);
    } else if (row->ask.state == STATE_TIMEOUT && !(row->ask.flags & ASK_LOOKED_AT)) {
        /* had the agent given it less than is usual here, more would not help */
        counting->often +=
            row->ask.decided_ms > counting->day_ms && row->ask.original_ms >= counting->timeout_ms;
        if (row->ask.flags & ASK_TOLD || row->ask.decided_ms <= counting->visited_ms)
            return;
        if (counting->count++ < UNSEEN_SHOWN)
            describe_summary(counting->writing.operation.engine, row, &counting->writing.writer,
                             NULL);
    }
}

void ask_unseen_method(struct method_call call)
{
    struct engine *engine = call.engine;
    const struct store_list_query query = { .which = STORE_LIST_ENDED, .limit = UNSEEN_LOOKED };
    struct store *store = engine->parts.store;
    struct counting *counting = writing_new(sizeof *counting, call);
    const char *visited = store->ops->meta(store, unseen_fact_name);

    counting->day_ms = engine_utc_ms(engine) - UNSEEN_DAY_MS;
    counting->visited_ms = *visited ? strtoll(visited, NULL, 10) : counting->day_ms;
    counting->timeout_ms = engine_setting(engine, SETTING_TIMEOUT_SECONDS) * 1000;
    json_write_list(&counting->writing.writer, "asks");
    store->ops->list(store, &query, on_ended, counting);
}

void seen_mark(struct engine *engine, struct session *session, const char *id)
{
    struct active_ask *active = active_find(engine, id);

    if (!active || !state_is_open(active->state) || active->flags & ASK_LOOKED_AT ||
        session->role != ROLE_PERSON)
        return;
    own_find_process(session);
    if (own_is_agents(engine, session, &active->origin->asker))
        return;
    active->flags |= ASK_LOOKED_AT;
    /* At worst it counts as unseen. */
    store_write_mark(engine->parts.store, &(struct store_mark){ id, ASK_LOOKED_AT, 0 },
                     operation_forget, operation_to_write(engine));
}

static void seen_found(struct operation *operation)
{
    seen_mark(operation->engine, operation->session, operation->id);
    operation_ok(operation, "{}");
}

void ask_seen_method(struct method_call call)
{
    struct engine *engine = call.engine;
    struct operation *operation = operation_new(sizeof *operation, call);
    char now[TEXT_INTEGER_BYTES];
    struct error err;

    own_find_process(operation->session);
    if (json_member(call.params, "session_id")) {
        operation_find_ask(operation, call.params, seen_found);
    } else if (!own_may_govern(engine, operation->session, &err)) {
        operation_fail(operation, &err, NULL);
    } else {
        operation_begin_write(operation);
        store_write_meta(
            engine->parts.store,
            &(struct store_meta){ unseen_fact_name, text_of_integer(engine_utc_ms(engine), now) },
            operation_saved, operation);
    }
}
