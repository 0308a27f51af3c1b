/*
 * origin.c - where asks come from, as people are shown it. All asks of one connection say the same,
 * so it is kept once; only the latest few of a principal are looked at, because a loop that asks
 * from a new process each time has as many as asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "engine/inside.h"

enum { ORIGINS_LOOKED_AT = 4 };

static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static struct origin *find(const struct principal *principal, const char *json, const char *agent)
{
    struct origin *origin = principal->origins;

    for (int i = 0; origin && i < ORIGINS_LOOKED_AT; i++) {
        if (is_same(origin->json, json) && is_same(origin->agent, agent))
            return origin;
        origin = origin->next;
    }
    return NULL;
}

static struct origin *origin_new(const char *json, const char *agent, const struct asker *asker)
{
    size_t json_bytes = strlen(json) + 1, agent_bytes = agent ? strlen(agent) + 1 : 0;
    struct origin *origin = mem_new(sizeof *origin + json_bytes + agent_bytes);

    memcpy(origin->json, json, json_bytes);
    if (agent) {
        memcpy(origin->json + json_bytes, agent, agent_bytes);
        origin->agent = origin->json + json_bytes;
    }
    origin->asker = *asker;
    return origin;
}

struct origin *origin_use(struct principal *principal, const char *json, const char *agent,
                          const struct asker *asker)
{
    struct origin *origin;

    json = json ? json : "null";
    origin = find(principal, json, agent);
    if (origin)
        LIST_REMOVE(principal->origins, origin);
    else
        origin = origin_new(json, agent, asker);
    LIST_ADD(principal->origins, origin);
    origin->uses++;
    return origin;
}

void origin_release(struct principal *principal, struct origin *origin)
{
    if (--origin->uses > 0)
        return;
    LIST_REMOVE(principal->origins, origin);
    free(origin);
}
