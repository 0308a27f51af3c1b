/*
 * handed.c - results that an agent's side was given and has not confirmed yet. While one is in
 * those hands it is nobody else's: another connection's identical call asks anew (R5.5), and it is
 * no late answer either. It comes back when they drop it: the connection ends, or its client gave
 * up on the call.
 */
#include <stdlib.h>
#include <string.h>

#include "base/spare.h"
#include "engine/inside.h"
#include "engine/waits.h"

enum { HANDED_MOST = 1024 }; /* a visit that confirms nothing is not kept account of for ever */

struct handed {
    struct table_link link;
    char id[ASK_ID_BYTES];
    struct visit *visit;
    struct handed *next, *previous; /* of the same visit */
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

static void drop(struct engine *engine, struct handed *handed)
{
    struct visit *visit = handed->visit;

    table_remove(&engine->handed, &handed->link);
    if (handed->previous)
        handed->previous->next = handed->next;
    else
        visit->handed = handed->next;
    if (handed->next)
        handed->next->previous = handed->previous;
    visit->handed_count--;
    spare_free(handed, sizeof *handed);
}

void handed_add(struct engine *engine, struct visit *visit, const char *id)
{
    struct handed *handed = NULL;

    while ((handed = find_next(engine, id, handed))) {
        if (handed->visit == visit)
            return;
    }
    if (visit->is_gone || visit->handed_count >= HANDED_MOST)
        return;
    handed = spare_new(sizeof *handed);
    memset(handed, 0, sizeof *handed);
    memcpy(handed->id, id, strnlen(id, sizeof handed->id - 1));
    handed->visit = visit;
    handed->next = visit->handed;
    if (handed->next)
        handed->next->previous = handed;
    visit->handed = handed;
    visit->handed_count++;
    table_insert(&engine->handed, &handed->link);
}

bool handed_is_out(const struct engine *engine, const char *id, const struct visit *but)
{
    struct handed *handed = NULL;

    while ((handed = find_next(engine, id, handed))) {
        if (handed->visit != but)
            return true;
    }
    return false;
}

void handed_confirm(struct engine *engine, const char *principal, const char *id)
{
    struct handed *next, *handed = find_next(engine, id, NULL);

    for (; handed; handed = next) {
        next = find_next(engine, id, handed);
        if (strcmp(handed->visit->principal, principal) == 0)
            drop(engine, handed);
    }
}

void handed_return(struct engine *engine, struct visit *visit, const char *id)
{
    struct handed *handed = NULL;

    while ((handed = find_next(engine, id, handed))) {
        if (handed->visit == visit) {
            drop(engine, handed);
            notices_mark(engine, principal_get(engine, visit->principal));
            return;
        }
    }
}

void handed_return_all(struct engine *engine, struct visit *visit)
{
    struct handed *next, *handed = visit->handed;

    if (!handed)
        return;
    for (; handed; handed = next) {
        next = handed->next;
        drop(engine, handed);
    }
    notices_mark(engine, principal_get(engine, visit->principal));
}
