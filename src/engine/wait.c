/*
 * wait.c - calls that are parked until a person decides. A wait that ends in time gets `pending`
 * with the id, never a guess.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/arguments.h"
#include "engine/acts.h"
#include "engine/describe.h"
#include "engine/inside.h"
#include "engine/waits.h"

static void unlink_waiter(struct live *live, const struct waiter *waiter)
{
    struct waiter **at = &live->waiters;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* It waits for no person but for its reply, which is due. */
static void owe(struct engine *engine, struct waiter *waiter)
{
    engine->under_way += !waiter->is_owed;
    waiter->is_owed = true;
}

static void free_waiter(struct engine *engine, struct waiter *waiter)
{
    alarm_clear(&engine->alarms, &waiter->alarm);
    engine->under_way -= waiter->is_owed;
    if (waiter->visit_previous)
        waiter->visit_previous->visit_next = waiter->visit_next;
    else
        waiter->visit->waiters = waiter->visit_next;
    if (waiter->visit_next)
        waiter->visit_next->visit_previous = waiter->visit_previous;
    visit_release(waiter->visit);
    free(waiter->lacks);
    pool_free(waiter, sizeof *waiter);
}

/* Nobody reads this one but the front: what else there is to tell waits for one that is read. */
void wait_reply_unseen(const struct errand *errand, const struct store_row *row)
{
    struct text result = { 0 };
    struct desk_reply reply = { .session_id = row->ask.id };

    reply.kind = describe_result(errand->engine, row, NULL, NULL, false, &result);
    reply.json = text_string(&result);
    errand_reply(errand, &reply);
    text_release(&result);
}

void wait_ring(struct engine *engine, struct alarm *alarm)
{
    struct waiter *waiter =
        (struct waiter *)(void *)((char *)alarm - offsetof(struct waiter, alarm));
    struct live *live = waiter->live;
    /* Decided but within its undo window: for the agent it is still pending. */
    struct store_row row = {
        .ask = { .tool = live->tool ? live->tool->name : NULL,
                 .state = state_is_open(live->state) ? live->state : STATE_PENDING,
                 .interface = live->interface,
                 .flags = live->flags },
    };
    struct errand *errand;
    bool comes_back = waiter->comes_back;

    if (!live->is_stored) { /* an id that may not survive a crash is nobody's yet */
        waiter->is_overdue = true;
        owe(engine, waiter);
        return;
    }
    errand = errand_new(sizeof *errand, engine, (struct desk_visit *)waiter->visit, waiter->done,
                        waiter->context);
    memcpy(errand->id, live->id, sizeof errand->id);
    unlink_waiter(live, waiter);
    free_waiter(engine, waiter);
    if (!live->waiters)
        detached_save(engine, live, true);
    memcpy(row.ask.id, live->id, sizeof row.ask.id);
    if (comes_back && !back_is_news(live))
        wait_reply_unseen(errand, &row);
    else
        wait_reply_row(errand, &row, false);
    errand_end(errand);
}

static void write_retimed(const struct engine *engine, const struct live *live, struct text *line)
{
    struct json_writer writer = json_writer_to(line);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "jsonrpc", "2.0");
    json_write_text(&writer, "method", "ask/retimed");
    json_write_object(&writer, "params");
    json_write_text(&writer, "session_id", live->id);
    json_write_integer(&writer, "remaining_ms", live->deadline.boot_ms - engine_boot_ms(engine));
    json_write_end_object(&writer);
    json_write_end_object(&writer);
}

void wait_tell_time(struct engine *engine, const struct live *live)
{
    struct text line = { 0 };

    if (!live->deadline.place)
        return;
    write_retimed(engine, live, &line);
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next)
        visit_tell(waiter->visit, line.bytes, line.used);
    text_release(&line);
}

void wait_tell_time_left(const struct engine *engine, const struct live *live, struct visit *visit)
{
    struct text line = { 0 };

    if (!live->deadline.place || !state_is_open(live->state))
        return;
    write_retimed(engine, live, &line);
    visit_tell(visit, line.bytes, line.used);
    text_release(&line);
}

/* The agent's client gave up on a call: its wait ends now, as it would when its time is up. */
void detach_act(struct desk *desk, struct desk_visit *leaving, const struct json *params,
                desk_done *done, void *context)
{
    struct engine *engine = engine_of(desk);
    struct errand *errand = errand_new(sizeof *errand, engine, leaving, done, context);
    const char *id = json_member_text(params, "session_id");
    struct waiter *next;

    for (struct waiter *waiter = errand->visit->waiters; id && waiter; waiter = next) {
        next = waiter->visit_next;
        if (waiter->done && strcmp(waiter->live->id, id) == 0) {
            alarm_clear(&engine->alarms, &waiter->alarm);
            wait_ring(engine, &waiter->alarm);
        }
    }
    if (id)
        handed_return(engine, errand->visit, id); /* the client dropped it on its way */
    notices_repeat(errand->visit);
    errand_ok(errand, "{}");
}

void wait_stored(struct engine *engine, struct live *live)
{
    for (struct waiter *waiter = live->waiters; waiter; waiter = waiter->next) {
        if (waiter->is_overdue)
            alarm_set(&engine->alarms, &waiter->alarm, engine_boot_ms(engine));
    }
}

void wait_bound_visit(struct engine *engine, struct visit *visit)
{
    for (struct waiter *waiter = visit->waiters; waiter; waiter = waiter->visit_next) {
        int64_t wait_ms = patience_bound_ms(visit, waiter->wait_ms);

        if (!waiter->done || wait_ms == waiter->wait_ms)
            continue;
        waiter->wait_ms = wait_ms;
        alarm_set(&engine->alarms, &waiter->alarm, engine_boot_ms(engine) + wait_ms);
    }
    time_arm(engine);
}

void wait_add(struct engine *engine, struct live *live, struct visit *visit,
              const struct wait_terms *terms, desk_done *done, void *context)
{
    struct waiter *waiter = pool_new(sizeof *waiter);
    bool was_detached = live->flags & ASK_DETACHED;
    /* Again: what is known of the client's patience may have come after its call. */
    int64_t wait_ms = patience_bound_ms(visit, terms->wait_ms);

    waiter->live = live;
    waiter->visit = visit;
    waiter->comes_back = terms->comes_back;
    waiter->done = done;
    waiter->context = context;
    waiter->wait_ms = wait_ms;
    waiter->client = terms->client;
    waiter->round = terms->round;
    waiter->alarm.kind = ALARM_WAIT;
    visit->references++;
    waiter->next = live->waiters;
    live->waiters = waiter;
    waiter->visit_next = visit->waiters;
    if (waiter->visit_next)
        waiter->visit_next->visit_previous = waiter;
    visit->waiters = waiter;
    if (wait_ms == 0)
        owe(engine, waiter);
    if (wait_ms >= 0)
        alarm_set(&engine->alarms, &waiter->alarm, engine_boot_ms(engine) + wait_ms);
    if (was_detached)
        detached_save(engine, live, false);
}

void wait_turn_silent(struct engine *engine, struct waiter *waiter, const char *json)
{
    struct desk_reply reply = { .json = json, .kind = REPLY_INPUT, .session_id = waiter->live->id };
    desk_done *done = waiter->done;
    void *context = waiter->context;

    alarm_clear(&engine->alarms, &waiter->alarm);
    engine->under_way -= waiter->is_owed;
    waiter->is_owed = false;
    waiter->done = NULL;
    if (!waiter->visit->is_gone)
        done(context, &reply);
}

/* `visit` NULL: whosever. */
void wait_end_silent(struct engine *engine, struct live *live, const struct visit *visit)
{
    for (struct waiter **at = &live->waiters; *at;) {
        struct waiter *waiter = *at;

        if (waiter->done || (visit && waiter->visit != visit)) {
            at = &waiter->next;
        } else {
            *at = waiter->next;
            free_waiter(engine, waiter);
        }
    }
}

void wait_reply_all(struct engine *engine, struct live *live, const struct desk_reply *reply)
{
    while (live->waiters) {
        struct waiter *waiter = live->waiters;
        struct visit *visit = waiter->visit;
        desk_done *done = visit->is_gone ? NULL : waiter->done;
        void *context = waiter->context;

        live->waiters = waiter->next;
        visit->references++;
        free_waiter(engine, waiter); /* first: who is told may leave */
        if (done)
            notices_reply(engine, visit, done, context, reply);
        visit_release(visit);
    }
}

void wait_fail(struct engine *engine, struct live *live, const struct error *err)
{
    struct desk_reply reply = { .err = *err };

    wait_reply_all(engine, live, &reply);
}

void wait_fail_visit(struct engine *engine, struct live *live, const struct visit *visit,
                     const struct error *err)
{
    struct waiter *next;

    for (struct waiter *waiter = live->waiters; waiter; waiter = next) {
        struct errand *errand;

        next = waiter->next;
        if (waiter->visit != visit)
            continue;
        errand = errand_new(sizeof *errand, engine, (struct desk_visit *)waiter->visit,
                            waiter->done, waiter->context);
        unlink_waiter(live, waiter);
        free_waiter(engine, waiter);
        if (!live->waiters)
            detached_save(engine, live, true);
        errand_fail(errand, err, NULL);
        next = live->waiters; /* who is told may leave, and its other waits with it */
    }
}

void wait_drop_visit(struct engine *engine, struct visit *visit)
{
    for (struct waiter *waiter = visit->waiters, *next; waiter; waiter = next) {
        struct live *live = waiter->live;

        next = waiter->visit_next;
        unlink_waiter(live, waiter);
        free_waiter(engine, waiter);
        if (!live->waiters)
            detached_save(engine, live, true);
    }
}

static struct waiter *first_told(const struct live *live)
{
    struct waiter *waiter = live->waiters;

    while (waiter && !waiter->done)
        waiter = waiter->next;
    return waiter;
}

bool wait_tell_open(struct engine *engine, struct live *live, const struct desk_reply *reply)
{
    struct waiter *waiter;
    bool is_told = false;

    while ((waiter = first_told(live))) {
        struct visit *visit = waiter->visit;
        desk_done *done = visit->is_gone ? NULL : waiter->done;
        void *context = waiter->context;

        visit->references++;
        unlink_waiter(live, waiter);
        free_waiter(engine, waiter); /* first: who is told may leave */
        if (done)
            notices_reply(engine, visit, done, context, reply);
        is_told = is_told || done;
        visit_release(visit);
    }
    if (!live->waiters && is_told)
        detached_save(engine, live, true);
    return is_told;
}

void wait_forget_visit(struct engine *engine, struct visit *visit)
{
    while (visit->waiters) {
        unlink_waiter(visit->waiters->live, visit->waiters);
        free_waiter(engine, visit->waiters);
    }
}

void wait_move(struct engine *engine, struct live *live, const char *id)
{
    while (live->waiters) {
        struct waiter *waiter = live->waiters;
        struct visit *visit = waiter->visit;
        const struct wait_terms terms = { .wait_ms = waiter->wait_ms,
                                          .comes_back = waiter->comes_back,
                                          .client = waiter->client,
                                          .round = waiter->round };
        desk_done *done = waiter->done;
        void *context = waiter->context;

        live->waiters = waiter->next;
        visit->references++;
        free_waiter(engine, waiter);
        if (done)
            wait_begin(engine, visit, id, &terms, done, context);
        visit_release(visit);
    }
}
