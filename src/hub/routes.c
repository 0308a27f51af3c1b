/* routes.c - see routes.h. */
#include "hub/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "core/limits.h"
#include "engine/engine.h"
#include "http/mcp/http_mcp.h"
#include "http/portal/portal.h"
#include "http/rest/rest.h"
#include "net/guard.h"
#include "rpc/location.h"
#include "settings/settings.h"
#include "store/store.h"

struct routes {
    struct routes_parts parts;
    struct guard *guard;
    struct http_mcp *mcp;
    struct rest *rest;
    struct web *web;
    bool is_leaving;
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

static int64_t utc_ms(void *context)
{
    return engine_utc_ms(((struct routes *)context)->parts.engine);
}

static void note(void *context, const struct http_mcp_note *note, desk_done *done,
                 void *done_context)
{
    struct routes *routes = context;
    const struct engine_note noted = { .session = note->session,
                                       .token = note->token,
                                       .what = note->what,
                                       .value = note->value,
                                       .lifetime_ms = note->lifetime_ms };

    engine_note_session(routes->parts.engine, &noted, done, done_context);
}

static void drop_notes(void *context, const char *session)
{
    engine_drop_notes(((struct routes *)context)->parts.engine, session);
}

static void each_note(void *context, const char *session, http_mcp_each_note *each,
                      void *each_context)
{
    engine_each_note(((struct routes *)context)->parts.engine, session, each, each_context);
}

static const char *not_ready(void *context)
{
    const struct routes *routes = context;
    struct store *store = routes->parts.store;

    if (store->ops->is_broken(store))
        return "the disk failed: nothing is saved until sayso is restarted";
    if (store->ops->is_reachable && !store->ops->is_reachable(store))
        return "the database can't be reached";
    return routes->is_leaving ? "it is about to stop" : NULL;
}

static void write_metrics(void *context, struct text *out)
{
    const struct routes *routes = context;
    struct store *store = routes->parts.store;

    engine_write_metrics(routes->parts.engine, out);
    store->ops->write_metrics(store, out);
    guard_write_metrics(routes->guard, out);
    web_write_metrics(routes->web, out);
}

static void sign_in(void *context, const char *code, const char *label, const char *browser,
                    desk_done *done, void *done_context)
{
    struct routes *routes = context;

    engine_sign_in(routes->parts.engine, code, label, browser, done, done_context);
}

static bool know_device(void *context, const struct desk_device *shown,
                        struct guard_identity *ret_who)
{
    struct engine_token token;

    if (!engine_know_device(((struct routes *)context)->parts.engine, shown, &token))
        return false;
    *ret_who = (struct guard_identity){ .is_person = true };
    snprintf(ret_who->token, sizeof ret_who->token, "%s", token.id);
    snprintf(ret_who->label, sizeof ret_who->label, "%s", token.label);
    return true;
}

static bool prove(void *context, const char *tab, const char *text, struct text *out)
{
    return engine_prove_token(((struct routes *)context)->parts.engine, tab, text, out);
}

static void write_status(void *context, struct text *out)
{
    struct routes *routes = context;

    routes->parts.write_status(routes->parts.context, out);
}

static bool is_portal_on(void *context)
{
    return settings_is_on(((struct routes *)context)->parts.settings, SETTING_PORTAL);
}

struct routes *routes_open(const struct routes_parts *parts, struct guard *guard)
{
    struct routes *routes = mem_new(sizeof *routes);
    const struct http_mcp_parts mcp = {
        .loop = parts->loop,
        .desk = engine_desk(parts->engine),
        .settings = parts->settings,
        .offer = parts->offer,
        .context = routes,
        .utc_ms = utc_ms,
        .seal = seal,
        .unseal = unseal,
        .note = note,
        .drop_notes = drop_notes,
        .each_note = each_note,
    };
    const struct rest_parts rest = {
        .loop = parts->loop,
        .desk = engine_desk(parts->engine),
        .context = routes,
        .not_ready = not_ready,
        .write_metrics = write_metrics,
    };
    const struct web_parts web = {
        .loop = parts->loop,
        .desk = engine_desk(parts->engine),
        .guard = guard,
        .context = routes,
        .sign_in = sign_in,
        .know_device = know_device,
        .prove = prove,
        .write_status = write_status,
        .is_portal_on = is_portal_on,
    };

    routes->parts = *parts;
    routes->guard = guard;
    routes->mcp = http_mcp_new(&mcp);
    http_mcp_add_routes(routes->mcp, guard);
    routes->rest = rest_new(&rest);
    rest_add_routes(routes->rest, guard);
    routes->web = web_new(&web);
    web_add_routes(routes->web, guard);
    return routes;
}

void routes_flush(struct routes *routes)
{
    http_mcp_flush(routes->mcp);
    rest_flush(routes->rest);
    web_flush(routes->web);
}

void routes_announce(struct routes *routes)
{
    routes->is_leaving = true;
}

void routes_drain(struct routes *routes)
{
    routes->is_leaving = true;
    rest_drain(routes->rest);
}

void routes_forget_token(struct routes *routes, const char *token_id)
{
    http_mcp_forget_token(routes->mcp, token_id);
    web_forget_token(routes->web, token_id);
}

void routes_take_note(struct routes *routes, const char *session, const char *what,
                      const char *value)
{
    http_mcp_take_note(routes->mcp, session, what, value);
}

void routes_dismiss(struct routes *routes, const char *why)
{
    http_mcp_dismiss(routes->mcp);
    web_dismiss(routes->web, why);
}

void routes_take(void *routes, const struct http_taken *taken)
{
    web_take(((struct routes *)routes)->web, taken);
}

size_t routes_peer_count(const struct routes *routes)
{
    return web_peer_count(routes->web);
}

void routes_end_peers(struct routes *routes)
{
    web_end_peers(routes->web);
}

void routes_close(struct routes *routes)
{
    if (!routes)
        return;
    http_mcp_free(routes->mcp);
    rest_free(routes->rest);
    web_free(routes->web);
    free(routes);
}

enum { SECRET_FILE_BYTES = 512 };

bool webhook_secret_get(const struct place *place, struct text *out, struct error *err)
{
    const char *end = strrchr(place->settings, '/');
    char folder[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES];

    snprintf(folder, sizeof folder, "%.*s", end ? (int)(end - place->settings) : 0,
             place->settings);
    if (snprintf(path, sizeof path, "%s/webhook.secret", folder) >= PLACE_PATH_BYTES)
        return error_set(err, ERROR_unavailable, "", "the path of the settings is too long");
    if (os_read_file(path, SECRET_FILE_BYTES, out, err)) {
        out->used = strcspn(text_string(out), "\r\n");
        out->bytes[out->used] = '\0';
        return true;
    }
    if (access(path, F_OK) == 0)
        return false; /* there is one, and it can't be read */
    webhook_make_secret(out);
    text_add_char(out, '\n');
    if (!os_private_directory(folder, err) || !os_write_file(path, out->bytes, out->used, err))
        return false;
    out->bytes[--out->used] = '\0';
    return true;
}
