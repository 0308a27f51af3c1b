/*
 * delivered.c - the agent's side says when it really has a result: until then the answer belongs to
 * its next identical call.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/inside.h"
#include "engine/waits.h"

struct delivered_errand {
    struct errand errand; /* first */
    struct json *ids;
    struct delivered_errand *next, *previous; /* of those on their way */
};

bool wait_is_delivering(const struct engine *engine, const char *id)
{
    for (const struct delivered_errand *at = engine->delivering; at; at = at->next) {
        for (size_t i = 0; i < json_length(at->ids); i++) {
            const char *given = json_text(json_item(at->ids, i));

            if (given && strcmp(given, id) == 0)
                return true;
        }
    }
    return false;
}

static void delivered_drop(struct errand *errand)
{
    struct delivered_errand *delivered = (struct delivered_errand *)errand;

    if (delivered->previous)
        delivered->previous->next = delivered->next;
    else
        errand->engine->delivering = delivered->next;
    if (delivered->next)
        delivered->next->previous = delivered->previous;
    json_free(delivered->ids);
}

static void on_delivered(void *context, const struct store_reply *reply)
{
    struct delivered_errand *delivered = context;

    if (reply->outcome == STORE_FAILED) {
        delivered->errand.engine->forgets_undelivered = true; /* which ones they were */
        errand_fail(&delivered->errand, &reply->err, NULL);
    } else {
        errand_ok(&delivered->errand, "{}");
    }
}

/* The first id that is one, and the others as the store takes them. */
static const char *list_ids(struct engine *engine, const struct json *ids, const char *principal,
                            struct text *others)
{
    const char *first = NULL;

    for (size_t i = 0; i < json_length(ids); i++) {
        const char *id = json_text(json_item(ids, i));

        if (!id || !ask_id_is_valid(id))
            continue;
        undelivered_remove(engine, id, principal);
        handed_confirm(engine, principal, id);
        if (first) {
            text_add_char(others, ' ');
            text_add(others, id, LIMIT_ID_CHARS);
        }
        first = first ? first : id;
    }
    return first;
}

void delivered_act(struct desk *desk, struct desk_visit *visit, const struct json *params,
                   desk_done *done, void *context)
{
    struct engine *engine = engine_of(desk);
    struct delivered_errand *delivered =
        errand_new(sizeof *delivered, engine, visit, done, context);
    const struct json *ids = json_member(params, "session_ids");
    struct store_change change = store_change_of(NULL, EVENT_DELIVERED);
    struct lifecycle_facts facts = { 0 };
    struct text others = { 0 };

    delivered->errand.drop = delivered_drop;
    delivered->ids = json_kind(ids) == KIND_LIST ? json_keep(ids) : NULL;
    delivered->next = engine->delivering;
    if (delivered->next)
        delivered->next->previous = delivered;
    engine->delivering = delivered;
    change.principal = delivered->errand.visit->principal;
    change.ask_id = list_ids(engine, delivered->ids, change.principal, &others);
    if (!change.ask_id) {
        errand_ok(&delivered->errand, "{}");
        return;
    }
    change.more_ids = others.used ? others.bytes : NULL;
    change.from_states = lifecycle_states_for(EVENT_DELIVERED, &facts);
    change.delivered_ms = change.now_ms = engine_utc_ms(engine);
    change.skips_row = true;
    errand_begin_write(&delivered->errand);
    engine->parts.store->ops->change(engine->parts.store, &change, on_delivered, delivered);
    text_release(&others);
}
