/* routes.c - see routes.h. */
#include "hub/routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "crypto/hash.h"
#include "engine/engine.h"
#include "fronts/http_mcp/http_mcp.h"

struct routes {
    struct routes_parts parts;
    struct http_mcp *mcp;
};

/* Bound to whose it is and to the call; the keys stay in the engine. */
static char *seal(void *context, const char *token, const char *binding, const char *state)
{
    const struct hash_part bound[] = { { token, strlen(token) }, { binding, strlen(binding) } };
    struct routes *routes = context;
    struct text out = { 0 };

    if (!engine_seal(routes->parts.engine, bound, ARRAY_LEN(bound), (int64_t)LIMIT_TIMEOUT_S * 1000,
                     state, &out))
        return NULL;
    return text_take(&out);
}

static char *unseal(void *context, const char *token, const char *binding, const char *sealed)
{
    const struct hash_part bound[] = { { token, strlen(token) }, { binding, strlen(binding) } };
    struct routes *routes = context;
    struct text out = { 0 };

    if (!engine_unseal(routes->parts.engine, bound, ARRAY_LEN(bound), sealed, strlen(sealed), &out))
        return NULL;
    return text_take(&out);
}

struct routes *routes_open(const struct routes_parts *parts, struct guard *guard)
{
    struct routes *routes = mem_new(sizeof *routes);
    const struct http_mcp_parts mcp = {
        .loop = parts->loop,
        .desk = engine_desk(parts->engine),
        .settings = parts->settings,
        .context = routes,
        .seal = seal,
        .unseal = unseal,
    };

    routes->parts = *parts;
    routes->mcp = http_mcp_new(&mcp);
    http_mcp_add_routes(routes->mcp, guard);
    return routes;
}

void routes_forget_token(struct routes *routes, const char *token_id)
{
    http_mcp_forget_token(routes->mcp, token_id);
}

void routes_dismiss(struct routes *routes)
{
    http_mcp_dismiss(routes->mcp);
}

void routes_close(struct routes *routes)
{
    if (routes)
        http_mcp_free(routes->mcp);
    free(routes);
}
