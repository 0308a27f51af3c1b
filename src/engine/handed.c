/*
 * handed.c - results that an agent's side was given and has not confirmed yet. Until it is dropped
 * such a result is given to no other call, also not to one of the same connection: the agent may
 * have it, so the identical call is a new ask (R5.5). It is no late answer either. It is returned
 * when the connection ends, or when its client gave up on the call. The newest returned ones are
 * remembered: their agent may confirm them on its next connection.
 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/spare.h"
#include "engine/inside.h"
#include "engine/waits.h"

enum { HANDED_MOST = 1024 }; /* a visit that confirms nothing is not kept account of for ever */

struct handed {
    struct table_link link;
    char id[ASK_ID_BYTES], principal[PRINCIPAL_BYTES];
    struct visit *visit;            /* NULL: it was returned */
    struct handed *next, *previous; /* of the same visit */
    struct handed **place;          /* of one that was returned, in the engine's ring */
};

void handed_init(struct engine *engine)
{
    engine->handed = TABLE_OF(handed, link, id);
}

static struct handed *find_next(const struct engine *engine, const char *id,
                                const struct handed *after)
{
    char key[ASK_ID_BYTES] = "";
    struct table_link *link;

    memcpy(key, id, strnlen(id, sizeof key - 1));
    link =
        after ? table_find_next(&engine->handed, &after->link) : table_find(&engine->handed, key);
    return link ? TABLE_THING(handed, link, link) : NULL;
}

/* `visit` is NULL for one that was returned. */
static struct handed *find_at(const struct engine *engine, const char *id, const char *principal,
                              const struct visit *visit)
{
    struct handed *handed = NULL;

    while ((handed = find_next(engine, id, handed))) {
        if (handed->visit == visit && strcmp(handed->principal, principal) == 0)
            break;
    }
    return handed;
}

static void leave_visit(struct handed *handed)
{
    LIST_REMOVE(handed->visit->handed, handed);
    handed->visit->handed_count--;
    handed->visit = NULL;
}

static void drop(struct engine *engine, struct handed *handed)
{
    if (!handed)
        return;
    table_remove(&engine->handed, &handed->link);
    if (handed->visit)
        leave_visit(handed);
    else
        *handed->place = NULL;
    spare_free(handed, sizeof *handed);
}

/* Once for each agent, so that one result does not push out the others. */
static void keep_returned(struct engine *engine, struct handed *handed)
{
    if (find_at(engine, handed->id, handed->principal, NULL)) {
        drop(engine, handed);
        return;
    }
    leave_visit(handed);
    handed->place = &engine->returned[engine->returned_count++ % HANDED_RETURNED];
    drop(engine, *handed->place);
    *handed->place = handed;
}

void handed_release(struct engine *engine)
{
    for (size_t i = 0; i < HANDED_RETURNED; i++)
        drop(engine, engine->returned[i]);
    table_release(&engine->handed);
}

void handed_add(struct engine *engine, struct visit *visit, const char *id)
{
    struct handed *handed;

    if (visit->is_gone || visit->handed_count >= HANDED_MOST ||
        find_at(engine, id, visit->principal, visit))
        return;
    handed = spare_new(sizeof *handed);
    memset(handed, 0, sizeof *handed);
    memcpy(handed->id, id, strnlen(id, sizeof handed->id - 1));
    memcpy(handed->principal, visit->principal, sizeof handed->principal);
    handed->visit = visit;
    LIST_ADD(visit->handed, handed);
    visit->handed_count++;
    table_insert(&engine->handed, &handed->link);
}

bool handed_is_out(const struct engine *engine, const char *id)
{
    struct handed *handed = find_next(engine, id, NULL);

    while (handed && !handed->visit)
        handed = find_next(engine, id, handed);
    return handed;
}

bool handed_confirm(struct engine *engine, const char *principal, const char *id)
{
    struct handed *next, *handed = find_next(engine, id, NULL);
    bool was_handed = false;

    for (; handed; handed = next) {
        next = find_next(engine, id, handed);
        if (strcmp(handed->principal, principal) == 0) {
            drop(engine, handed);
            was_handed = true;
        }
    }
    return was_handed;
}

void handed_return(struct engine *engine, struct visit *visit, const char *id)
{
    struct handed *handed = find_at(engine, id, visit->principal, visit);

    if (handed) {
        keep_returned(engine, handed);
        notices_mark(engine, principal_get(engine, visit->principal));
    }
}

void handed_return_all(struct engine *engine, struct visit *visit)
{
    if (!visit->handed)
        return;
    while (visit->handed)
        keep_returned(engine, visit->handed);
    notices_mark(engine, principal_get(engine, visit->principal));
}
