/*
 * undelivered.c - answers that no agent has confirmed, known by heart, so that a new call need not
 * ask the store for one that is its own (R5.5). Only a filter: the store says what is so. When they
 * become too many to know, or other hubs share the store, every call asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/spare.h"
#include "engine/inside.h"
#include "engine/waits.h"

struct undelivered {
    struct table_link by_id, by_call;
    char id[ASK_ID_BYTES];
    char principal[PRINCIPAL_BYTES];
    uint8_t call_match[MATCH_BYTES];
};

void undelivered_init(struct engine *engine)
{
    engine->undelivered = TABLE_OF(undelivered, by_id, id);
    engine->undelivered_calls = TABLE_OF(undelivered, by_call, call_match);
}

static struct undelivered *find(const struct engine *engine, const char *id)
{
    char key[ASK_ID_BYTES] = "";
    struct table_link *link;

    memcpy(key, id, strnlen(id, sizeof key - 1));
    link = table_find(&engine->undelivered, key);
    return link ? TABLE_THING(undelivered, by_id, link) : NULL;
}

void undelivered_add(struct engine *engine, const char *id, const char *principal,
                     const uint8_t call_match[MATCH_BYTES])
{
    struct undelivered *new;

    if (engine->undelivered.count >= UNDELIVERED_KEPT)
        engine->forgets_undelivered = true;
    if (engine->forgets_undelivered || find(engine, id))
        return;
    new = spare_new(sizeof *new);
    memset(new, 0, sizeof *new);
    memcpy(new->id, id, strnlen(id, sizeof new->id - 1));
    memcpy(new->principal, principal, strnlen(principal, sizeof new->principal - 1));
    memcpy(new->call_match, call_match, sizeof new->call_match);
    table_insert(&engine->undelivered, &new->by_id);
    table_insert(&engine->undelivered_calls, &new->by_call);
}

static void forget(struct engine *engine, struct undelivered *known)
{
    table_remove(&engine->undelivered, &known->by_id);
    table_remove(&engine->undelivered_calls, &known->by_call);
    spare_free(known, sizeof *known);
}

bool undelivered_remove(struct engine *engine, const char *id, const char *principal)
{
    struct undelivered *known = find(engine, id);
    bool is_its_own = known && strcmp(known->principal, principal) == 0;

    if (is_its_own)
        forget(engine, known);
    return is_its_own;
}

bool undelivered_knows(const struct engine *engine, const uint8_t call_match[MATCH_BYTES])
{
    return table_find(&engine->undelivered_calls, call_match);
}

bool undelivered_may_match(const struct engine *engine, const uint8_t call_match[MATCH_BYTES],
                           bool has_key)
{
    return engine->forgets_undelivered || follow_is_shared(engine) ||
           (has_key && engine->undelivered.count > 0) || undelivered_knows(engine, call_match);
}

void undelivered_release(struct engine *engine)
{
    struct table_link *next, *link = table_each(&engine->undelivered, NULL);

    for (; link; link = next) {
        next = table_each(&engine->undelivered, link);
        forget(engine, TABLE_THING(undelivered, by_id, link));
    }
    table_release(&engine->undelivered);
    table_release(&engine->undelivered_calls);
}
