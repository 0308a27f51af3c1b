/* listener.c - see listener.h. */
#include "hub/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "engine/engine.h"
#include "hub/routes.h"
#include "i18n/i18n.h"
#include "net/guard.h"
#include "net/http.h"
#include "net/origin.h"
#include "net/tls.h"
#include "settings/settings.h"
#include "store/store.h"

static const char port_fact[] = "port"; /* in the store's meta */

struct door {
    struct door_parts parts;
    struct guard *guard;
    struct http_server *server;
    struct http_server *public_server; /* NULL: nobody else is listened to */
    struct http_site site;             /* of that one */
    struct tls_context *tls;           /* likewise; NULL: none */
    char public_url[sizeof(((struct http_site *)0)->origin)];
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
    store_write_meta(store, &(struct store_meta){ port_fact, number }, on_port_saved, NULL);
}

static struct http_handler handler_of(const struct door *door)
{
    return (struct http_handler){ .context = door->guard,
                                  .admit = guard_admit,
                                  .serve = guard_serve,
                                  .on_reply = guard_on_reply,
                                  .taken = routes_take,
                                  .taken_context = door->routes };
}

/* A port somebody chose is where looking begins; else the one we had last, so that addresses in
 * clients and bookmarks stay good. */
static bool open_server(struct door *door, struct error *err)
{
    struct settings *settings = door->parts.settings;
    struct store *store = door->parts.store;
    bool is_chosen = settings_source(settings, SETTING_PORT) != SETTING_BUILT_IN;
    struct http_options options = { .handler = handler_of(door) };
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

/* What others call it where nobody said: by its address, if it has one. */
static void name_public(struct door *door)
{
    const struct http_site *site = &door->site;
    bool is_long = strchr(site->address, ':') != NULL;

    if (site->origin[0])
        snprintf(door->public_url, sizeof door->public_url, "%s", site->origin);
    else
        snprintf(door->public_url, sizeof door->public_url, is_long ? "%s://[%s]:%d" : "%s://%s:%d",
                 site->has_tls ? "https" : "http", site->address,
                 http_server_port(door->public_server));
    if (site->origin[0])
        engine_set_public_url(door->parts.engine, site->origin);
}

static bool open_public(struct door *door, struct error *err)
{
    const struct settings *settings = door->parts.settings;
    struct http_options options = { .handler = handler_of(door), .site = &door->site };

    if (!site_is_wanted(settings))
        return true;
    if (!site_read(settings, &door->site, err) || !site_load_tls(settings, &door->tls, err))
        return false;
    options.tls = door->tls;
    if (!http_server_open(door->parts.loop, &options, &door->public_server, err))
        return false;
    name_public(door);
    if (!door->tls)
        log_warning("http.plain", "url=%s advice=tls_in_front_of_it", door->public_url);
    log_info("http.listening", "url=%s", door->public_url);
    return true;
}

bool door_open(const struct door_parts *parts, struct door **ret_door, struct error *err)
{
    struct door *door = mem_new(sizeof *door);
    const struct guard_options options = { .context = door,
                                           .mcp_needs_token = mcp_needs_token,
                                           .find_token = find_token };
    const struct routes_parts fronts = { parts->loop,        parts->engine, parts->store,
                                         parts->settings,    parts->offer,  parts->context,
                                         parts->write_status };
    char url[32];

    *ret_door = NULL;
    door->parts = *parts;
    door->guard = guard_new(&options);
    door->routes = routes_open(&fronts, door->guard);
    if (!open_server(door, err)) {
        log_warning("http.no_port", "reason=%s", error_name(err->code));
        door_free(door);
        return !parts->must_listen || !site_is_wanted(parts->settings);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(door->server));
    engine_set_portal(parts->engine, url);
    if (!open_public(door, err)) {
        log_error("http.not_listening", "message=%s", err->message);
        if (parts->must_listen) {
            door_free(door);
            return false;
        }
    }
    *ret_door = door;
    return true;
}

const char *door_public_url(const struct door *door)
{
    return door ? door->public_url : "";
}

void door_reload(struct door *door)
{
    struct tls_context *fresh;
    struct error err;

    if (!door || !door->public_server || !door->tls)
        return;
    if (!site_load_tls(door->parts.settings, &fresh, &err) || !fresh) {
        log_warning("tls.not_reloaded", "reason=%s message=%s", error_name(err.code), err.message);
        return;
    }
    http_server_use_tls(door->public_server, fresh);
    tls_context_free(door->tls);
    door->tls = fresh;
    log_info("tls.reloaded", "certificate=%s",
             settings_text(door->parts.settings, SETTING_TLS_CERT));
}

void door_announce(struct door *door)
{
    if (door)
        routes_announce(door->routes);
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
    if (door->public_server)
        http_server_flush(door->public_server);
}

void door_drain(struct door *door)
{
    if (!door)
        return;
    routes_drain(door->routes);
    http_server_drain(door->server);
    if (door->public_server)
        http_server_drain(door->public_server);
}

void door_dismiss(struct door *door, const char *why)
{
    if (!door)
        return;
    routes_dismiss(door->routes, why);
    http_server_dismiss(door->server);
    if (door->public_server)
        http_server_dismiss(door->public_server);
}

bool door_is_drained(const struct door *door)
{
    return !door || (http_server_is_drained(door->server) &&
                     (!door->public_server || http_server_is_drained(door->public_server)));
}

size_t door_peer_count(const struct door *door)
{
    if (!door)
        return 0;
    return http_server_peer_count(door->server) + routes_peer_count(door->routes) +
           (door->public_server ? http_server_peer_count(door->public_server) : 0);
}

void door_cut(struct door *door, const uint8_t *token_hash)
{
    char id[TOKEN_ID_BYTES];

    if (!door)
        return;
    token_id(token_hash, id);
    routes_forget_token(door->routes, id);
    http_server_cut(door->server, guard_owner(token_hash));
    if (door->public_server)
        http_server_cut(door->public_server, guard_owner(token_hash));
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
    http_server_free(door->public_server);
    tls_context_free(door->tls);
    routes_close(door->routes);
    guard_free(door->guard);
    free(door);
}

bool site_is_wanted(const struct settings *settings)
{
    return settings_text(settings, SETTING_LISTEN)[0] != '\0';
}

static bool is_loopback(const char *address)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, address, &four) == 1)
        return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool read_public_url(const char *url, struct http_site *site, struct error *err)
{
    if (url[0] == '\0' || origin_read_url(url, site))
        return true;
    return error_say(err, ERROR_bad_format, "/public_url", TEXT_REASON_PUBLIC_URL, NULL);
}

bool site_read(const struct settings *settings, struct http_site *ret_site, struct error *err)
{
    bool has_certificate = settings_text(settings, SETTING_TLS_CERT)[0] != '\0';
    bool has_key = settings_text(settings, SETTING_TLS_KEY)[0] != '\0';

    *ret_site = (struct http_site){ .host = "", .has_tls = has_certificate };
    if (!setting_read_listen(settings_text(settings, SETTING_LISTEN), ret_site->address,
                             sizeof ret_site->address, &ret_site->port))
        return error_say(err, ERROR_bad_format, "/listen", TEXT_REASON_LISTEN_FORMAT, NULL);
    if (has_certificate != has_key)
        return error_say(err, ERROR_missing_property, has_key ? "/tls_cert" : "/tls_key",
                         TEXT_REASON_LISTEN_PAIR, NULL);
    if (!has_certificate && !is_loopback(ret_site->address) &&
        !settings_is_on(settings, SETTING_LISTEN_PLAIN))
        return error_say(err, ERROR_missing_property, "/tls_cert", TEXT_REASON_LISTEN_PLAIN,
                         "address", ret_site->address, NULL);
    return read_public_url(settings_text(settings, SETTING_PUBLIC_URL), ret_site, err);
}

bool site_load_tls(const struct settings *settings, struct tls_context **ret_tls, struct error *err)
{
    const char *certificate = settings_text(settings, SETTING_TLS_CERT);
    const char *key = settings_text(settings, SETTING_TLS_KEY);

    *ret_tls = NULL;
    return certificate[0] == '\0' ||
           (os_private_file(key, err) && tls_context_new_server(certificate, key, ret_tls, err));
}
