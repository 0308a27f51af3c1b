/* door.c - see door.h. */
#include "hub/door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "crypto/token.h"
#include "engine/engine.h"
#include "hub/routes.h"
#include "net/guard.h"
#include "net/http.h"
#include "ports/store.h"
#include "settings/settings.h"

static const char port_fact[] = "port"; /* in the store's meta */

struct door {
    struct door_parts parts;
    struct guard *guard;
    struct http_server *server;
    struct routes *routes;
};

static bool mcp_needs_token(void *context)
{
    const struct settings *settings = ((struct door *)context)->parts.settings;

    /* whoever listens further than this machine wants tokens whatever the setting says */
    return settings_integer(settings, SETTING_MCP_AUTH) != MCP_AUTH_NONE ||
           settings_text(settings, SETTING_LISTEN)[0] != '\0';
}

static bool find_token(void *context, const uint8_t *hash, struct guard_identity *ret_who)
{
    static const struct {
        const char *kind;
        bool is_agent, is_person;
    } roles[] = {
        { "agent", true, false }, { "host", true, false },   { "person", false, true },
        { "tab", false, true },   { "device", false, true },
    };
    struct engine_token token;

    if (!engine_find_token(((struct door *)context)->parts.engine, hash, &token))
        return false;
    *ret_who = (struct guard_identity){ .is_sub_agent = token.is_sub_agent,
                                        .may_answer = token.may_answer };
    snprintf(ret_who->token, sizeof ret_who->token, "%s", token.id);
    snprintf(ret_who->kind, sizeof ret_who->kind, "%s", token.kind);
    snprintf(ret_who->label, sizeof ret_who->label, "%s", token.label);
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        if (strcmp(roles[i].kind, token.kind) == 0) {
            ret_who->is_agent = roles[i].is_agent;
            ret_who->is_person = roles[i].is_person;
            ret_who->is_host = strcmp(token.kind, "host") == 0;
        }
    }
    return true;
}

static void on_port_saved(void *context, const struct store_reply *reply)
{
    (void)context;
    if (reply->outcome == STORE_FAILED)
        log_warning("http.port_forgotten", "reason=%s", error_name(reply->err.code));
}

static void remember_port(struct door *door, int64_t remembered)
{
    struct store *store = door->parts.store;
    char number[16];

    if (http_server_port(door->server) == remembered)
        return;
    snprintf(number, sizeof number, "%d", http_server_port(door->server));
    store->ops->save_meta(store, port_fact, number, on_port_saved, NULL);
}

/* A port somebody chose is where looking begins; else the one we had last, so that addresses in
 * clients and bookmarks stay good. */
static bool open_server(struct door *door, struct error *err)
{
    struct settings *settings = door->parts.settings;
    struct store *store = door->parts.store;
    bool is_chosen = settings_source(settings, SETTING_PORT) != SETTING_BUILT_IN;
    struct http_options options = { .handler = { .context = door->guard,
                                                 .admit = guard_admit,
                                                 .serve = guard_serve,
                                                 .on_reply = guard_on_reply,
                                                 .taken = routes_take,
                                                 .taken_context = door->routes } };
    int64_t remembered = 0;

    if (!is_chosen && text_parse_integer(store->ops->meta(store, port_fact), &remembered) &&
        remembered > 0 && remembered < 65536) {
        options.port = (int)remembered;
        if (http_server_open(door->parts.loop, &options, &door->server, err))
            return true;
    }
    options.port = (int)settings_integer(settings, SETTING_PORT);
    options.may_move = true;
    if (!http_server_open(door->parts.loop, &options, &door->server, err))
        return false;
    if (!is_chosen)
        remember_port(door, remembered);
    return true;
}

struct door *door_open(const struct door_parts *parts)
{
    struct door *door = mem_new(sizeof *door);
    const struct guard_options options = { .context = door,
                                           .mcp_needs_token = mcp_needs_token,
                                           .find_token = find_token };
    const struct routes_parts fronts = { parts->loop,        parts->engine, parts->store,
                                         parts->settings,    parts->offer,  parts->context,
                                         parts->write_status };
    struct error err;
    char url[32];

    door->parts = *parts;
    door->guard = guard_new(&options);
    door->routes = routes_open(&fronts, door->guard);
    if (open_server(door, &err)) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(door->server));
        engine_set_portal(parts->engine, url);
        return door;
    }
    log_warning("http.no_port", "reason=%s", error_name(err.code));
    door_free(door);
    return NULL;
}

int door_port(const struct door *door)
{
    return door ? http_server_port(door->server) : 0;
}

void door_flush(struct door *door)
{
    if (!door)
        return;
    routes_flush(door->routes);
    http_server_flush(door->server);
}

void door_drain(struct door *door)
{
    if (!door)
        return;
    routes_drain(door->routes);
    http_server_drain(door->server);
}

void door_dismiss(struct door *door, const char *why)
{
    if (!door)
        return;
    routes_dismiss(door->routes, why);
    http_server_dismiss(door->server);
}

bool door_is_drained(const struct door *door)
{
    return !door || http_server_is_drained(door->server);
}

size_t door_peer_count(const struct door *door)
{
    return door ? http_server_peer_count(door->server) + routes_peer_count(door->routes) : 0;
}

void door_cut(struct door *door, const uint8_t *token_hash)
{
    char id[TOKEN_ID_BYTES];

    if (!door)
        return;
    token_id(token_hash, id);
    routes_forget_token(door->routes, id);
    http_server_cut(door->server, guard_owner(token_hash));
}

void door_take_note(struct door *door, const char *session, const char *what, const char *value)
{
    if (door)
        routes_take_note(door->routes, session, what, value);
}

void door_free(struct door *door)
{
    if (!door)
        return;
    routes_end_peers(door->routes);
    http_server_free(door->server);
    routes_close(door->routes);
    guard_free(door->guard);
    free(door);
}
