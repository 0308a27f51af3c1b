/*
 * finish.c - an ask is over: its result goes to all who wait for it, out of the decision that was
 * just committed, or as the store has it.
 */
#include <string.h>

#include "engine/describe.h"
#include "engine/inside.h"
#include "engine/waits.h"

static const int64_t FINISH_READ_AGAIN_MS = 500;

static void reply_result(struct engine *engine, struct live *live, const struct store_row *row,
                         const struct form *form, const struct known *known)
{
    struct text result = line_take(engine);
    struct desk_reply reply = { .session_id = live->id };

    reply.kind = describe_result(engine, row, form, known, false, &result);
    reply.json = text_string(&result);
    wait_reply_all(engine, live, &reply);
    line_give(engine, &result);
}

static void on_finished_row(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;
    struct live *live = live_find(errand->engine, errand->id);

    if (live && reply->outcome == STORE_DONE) {
        reply_result(errand->engine, live, reply->row, NULL, NULL);
    } else if (live && reply->outcome == STORE_MISSING) {
        /* Removed to make room, which happens at once only to what holds no answer (R9.1). */
        struct store_row row = live_row(live);

        reply_result(errand->engine, live, &row, NULL, NULL);
    } else if (live && follow_is_shared(errand->engine)) {
        /* It is decided and kept; who waits is told once the store is there again. */
        alarm_set(&errand->engine->alarms, &live->deadline,
                  engine_boot_ms(errand->engine) + FINISH_READ_AGAIN_MS);
        live = NULL;
    } else if (live) {
        wait_fail(errand->engine, live, &reply->err);
        notices_mark(errand->engine, live->principal);
    }
    if (live)
        live_free(errand->engine, live);
    errand_end(errand);
}

void wait_finish(struct engine *engine, struct live *live, const struct store_change *change,
                 const struct known *known)
{
    struct store *store = engine->parts.store;
    const struct form *form = known && known->form ? known->form : live->form;
    struct errand *errand;

    wait_end_silent(engine, live, NULL); /* a client that comes back reads it from the store */
    if (!live->waiters) {
        notices_mark(engine, live->principal);
        live_free(engine, live); /* whoever comes later reads it from the store */
    } else if (change && form) {
        struct store_row row = live_row(live);

        row.answer_json = change->answer_json;
        row.actor_json = change->actor_json;
        row.ask.decided_ms = change->decided_ms;
        reply_result(engine, live, &row, form, known);
        live_free(engine, live);
    } else {
        errand = errand_new(sizeof *errand, engine, NULL, NULL, NULL);
        memcpy(errand->id, live->id, sizeof errand->id);
        store->ops->get(store, live->id, on_finished_row, errand);
    }
}
