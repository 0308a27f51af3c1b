/*
 * delivered.c - the agent's side says when it really has a result: until then the answer belongs to
 * its next identical call.
 *
 * Only what was given to this agent reaches the store, and only once: a repeat that arrives
 * meanwhile is answered when the first is stored. What memory can't know (see undelivered.c) is
 * looked up there, one call at a time, so that others write in between.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/inside.h"
#include "engine/waits.h"

/* A result whose confirmation is on its way. */
struct delivering {
    struct table_link link;
    char id[ASK_ID_BYTES];
    struct delivered_errand *by;
};

struct repeat {
    struct repeat *next;
    struct delivered_errand *by;
};

struct delivered_errand {
    struct errand errand; /* first */
    struct delivering *results;
    size_t count;
    size_t waits_for; /* writes: its own, and those of what it repeats */
    struct error err; /* of one of these */
    struct repeat *repeats;
    bool is_unsure; /* some of them may not be this agent's */
    struct delivered_errand *next_unsure;
};

void delivering_init(struct engine *engine)
{
    engine->delivering = TABLE_OF(delivering, link, id);
}

static struct delivering *find(const struct engine *engine, const char *id)
{
    char key[ASK_ID_BYTES] = "";
    struct table_link *link;

    memcpy(key, id, strnlen(id, sizeof key - 1));
    link = table_find(&engine->delivering, key);
    return link ? TABLE_THING(delivering, link, link) : NULL;
}

bool wait_is_delivering(const struct engine *engine, const char *id)
{
    return find(engine, id);
}

static void delivered_drop(struct errand *errand)
{
    struct delivered_errand *delivered = (struct delivered_errand *)errand;

    while (delivered->count > 0)
        table_remove(&errand->engine->delivering, &delivered->results[--delivered->count].link);
    free(delivered->results);
    delivered->results = NULL;
}

static void end_one(struct delivered_errand *delivered, const struct store_reply *reply)
{
    if (reply->outcome == STORE_FAILED)
        delivered->err = reply->err;
    if (--delivered->waits_for > 0)
        return;
    if (delivered->err.code != ERROR_NONE)
        errand_fail(&delivered->errand, &delivered->err, NULL);
    else
        errand_ok(&delivered->errand, "{}");
}

static void save(struct delivered_errand *delivered);

static void on_delivered(void *context, const struct store_reply *reply)
{
    struct delivered_errand *delivered = context;
    struct engine *engine = delivered->errand.engine;

    delivered_drop(&delivered->errand); /* later calls are no repeats of it */
    if (delivered->is_unsure) {
        engine->unsure = delivered->next_unsure;
        if (engine->unsure)
            save(engine->unsure); /* before the reply: who gets it may confirm more */
    }
    if (reply->outcome == STORE_FAILED)
        engine->forgets_undelivered = true; /* which ones they were */
    for (struct repeat *repeat = delivered->repeats, *next; repeat; repeat = next) {
        next = repeat->next;
        end_one(repeat->by, reply);
        free(repeat);
    }
    end_one(delivered, reply);
}

static void save(struct delivered_errand *delivered)
{
    struct engine *engine = delivered->errand.engine;
    struct store_change change = store_change_of(delivered->results[0].id, EVENT_DELIVERED);
    struct lifecycle_facts facts = { 0 };
    struct text others = { 0 };

    for (size_t i = 1; i < delivered->count; i++)
        text_add_format(&others, " %s", delivered->results[i].id);
    change.principal = delivered->errand.visit->principal;
    change.more_ids = others.used ? others.bytes : NULL;
    change.from_states = lifecycle_states_for(EVENT_DELIVERED, &facts);
    change.delivered_ms = change.now_ms = engine_utc_ms(engine);
    change.skips_row = true;
    engine->parts.store->ops->change(engine->parts.store, &change, on_delivered, delivered);
    text_release(&others);
}

/* Its turn comes after those that are unsure too. */
static void save_in_turn(struct delivered_errand *delivered)
{
    struct engine *engine = delivered->errand.engine;

    if (engine->unsure) {
        engine->last_unsure->next_unsure = delivered;
        engine->last_unsure = delivered;
    } else {
        engine->unsure = engine->last_unsure = delivered;
        save(delivered);
    }
}

static void repeat(struct delivered_errand *first, struct delivered_errand *again)
{
    struct repeat *repeat;

    if (first == again || (first->repeats && first->repeats->by == again))
        return;
    repeat = mem_new(sizeof *repeat);
    *repeat = (struct repeat){ first->repeats, again };
    first->repeats = repeat;
    again->waits_for++;
}

static void take_ids(struct delivered_errand *delivered, const struct json *ids)
{
    struct engine *engine = delivered->errand.engine;
    const char *principal = delivered->errand.visit->principal;
    bool knows_all = !engine->forgets_undelivered && !follow_is_shared(engine);

    delivered->results = mem_new((json_length(ids) + 1) * sizeof *delivered->results);
    for (size_t i = 0; i < json_length(ids); i++) {
        struct delivering *result = &delivered->results[delivered->count];
        const char *id = json_text(json_item(ids, i));
        const struct delivering *first;
        bool was_handed, is_known;

        if (!id || !ask_id_is_valid(id))
            continue;
        was_handed = handed_confirm(engine, principal, id);
        is_known = undelivered_remove(engine, id, principal) || was_handed;
        first = is_known ? NULL : find(engine, id);
        if (first && strcmp(first->by->errand.visit->principal, principal) == 0) {
            repeat(first->by, delivered);
            continue;
        }
        if (!is_known && knows_all)
            continue;
        delivered->is_unsure = delivered->is_unsure || !is_known;
        memcpy(result->id, id, LIMIT_ID_CHARS);
        result->by = delivered;
        table_insert(&engine->delivering, &result->link);
        delivered->count++;
    }
}

void delivered_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                   desk_done *done, void *context)
{
    struct delivered_errand *delivered =
        errand_new(sizeof *delivered, engine_of(desk), visit, done, context);
    const struct json *ids = json_member(params, "session_ids");

    delivered->errand.drop = delivered_drop;
    notices_heard(engine_of(desk), (struct visit *)visit, json_member(params, "with_notices"));
    if (json_kind(ids) != KIND_LIST)
        ids = NULL;
    if (json_length(ids) > LIMIT_DELIVERED) {
        errand_refuse(&delivered->errand, ERROR_out_of_range, "/session_ids",
                      "session_ids holds at most %d ids: send the others in another call",
                      LIMIT_DELIVERED);
        return;
    }
    take_ids(delivered, ids);
    if (delivered->waits_for == 0 &&
        (delivered->count == 0 || DELIBERATE_FAULT(confirmation_lost))) {
        errand_ok(&delivered->errand, "{}");
        return;
    }
    delivered->waits_for += delivered->count > 0;
    errand_begin_write(&delivered->errand);
    if (delivered->is_unsure)
        save_in_turn(delivered);
    else if (delivered->count > 0)
        save(delivered);
}
