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
#include "core/limits.h"
#include "engine/engine.h"
#include "http/mcp/http_mcp.h"
#include "http/portal/portal.h"
#include "http/rest/rest.h"
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
    struct http_mcp *mcp;
    struct rest *rest;
    struct web *web;
    bool is_leaving;
};

static bool mcp_needs_token(void *context)
{
    const struct settings *settings = ((struct door *)context)->parts.settings;

    /* whoever listens further than this machine wants tokens whatever the setting says */
    return settings_integer(settings, SETTING_MCP_AUTH) != MCP_AUTH_NONE ||
           settings_text(settings, SETTING_LISTEN)[0] != '\0';
}

static struct guard_identity identity_of(const struct engine_token *token)
{
    static const char *const agents[] = { "agent", "host" };
    static const char *const persons[] = { "person", "tab", "device" };
    struct guard_identity who = { .is_agent = text_is_among(token->kind, agents, ARRAY_LEN(agents)),
                                  .is_person =
                                      text_is_among(token->kind, persons, ARRAY_LEN(persons)),
                                  .is_host = strcmp(token->kind, "host") == 0,
                                  .is_sub_agent = token->is_sub_agent,
                                  .may_answer = token->may_answer };

    text_put(who.token, sizeof who.token, token->id);
    text_put(who.label, sizeof who.label, token->label);
    return who;
}

static bool find_token(void *context, const uint8_t *hash, struct guard_identity *ret_who)
{
    struct engine_token token;

    if (!engine_find_token(((struct door *)context)->parts.engine, hash, &token))
        return false;
    *ret_who = identity_of(&token);
    return true;
}

/* Bound to whose it is and to the call; the keys stay in the engine. */
static char *seal(struct engine *engine, const char *token, const char *binding, const char *state)
{
    const struct hash_part bound[] = { { token, strlen(token) }, { binding, strlen(binding) } };
    struct text out = { 0 };

    if (!engine_seal(engine, bound, ARRAY_LEN(bound), (int64_t)LIMIT_TIMEOUT_S * 1000, state, &out))
        return NULL;
    return text_take(&out);
}

static char *unseal(struct engine *engine, const char *token, const char *binding,
                    const char *sealed)
{
    const struct hash_part bound[] = { { token, strlen(token) }, { binding, strlen(binding) } };
    struct text out = { 0 };

    if (!engine_unseal(engine, bound, ARRAY_LEN(bound), sealed, strlen(sealed), &out))
        return NULL;
    return text_take(&out);
}

static const char *not_ready(void *context)
{
    const struct door *door = context;
    struct store *store = door->parts.store;

    if (store->ops->is_broken(store))
        return "the disk failed: nothing is saved until sayso is restarted";
    if (store->ops->is_reachable && !store->ops->is_reachable(store))
        return "the database can't be reached";
    return door->is_leaving ? "it is about to stop" : NULL;
}

static void write_metrics(void *context, struct text *out)
{
    const struct door *door = context;
    struct store *store = door->parts.store;

    engine_write_metrics(door->parts.engine, out);
    store->ops->write_metrics(store, out);
    guard_write_metrics(door->guard, out);
    web_write_metrics(door->web, out);
}

static bool know_device(struct engine *engine, const struct device_proof *shown,
                        struct guard_identity *ret_who)
{
    struct engine_token token;

    if (!engine_know_device(engine, shown, &token))
        return false;
    *ret_who = identity_of(&token);
    return true;
}

struct door *door_new(const struct door_parts *parts)
{
    struct door *door = mem_new(sizeof *door);
    const struct guard_options options = { .context = door,
                                           .mcp_needs_token = mcp_needs_token,
                                           .find_token = find_token };
    struct guard *guard = guard_new(&options);
    const struct http_mcp_parts mcp = {
        .loop = parts->loop,
        .service = engine_service(parts->engine),
        .settings = parts->settings,
        .offer = parts->offer,
        .engine = parts->engine,
        .utc_ms = engine_utc_ms,
        .seal = seal,
        .unseal = unseal,
        .note = engine_put_session_state,
        .drop_state = engine_drop_session_state,
        .each_state = engine_each_session_state,
    };
    const struct rest_parts rest = {
        .loop = parts->loop,
        .service = engine_service(parts->engine),
        .context = door,
        .not_ready = not_ready,
        .write_metrics = write_metrics,
    };
    const struct web_parts web = {
        .loop = parts->loop,
        .service = engine_service(parts->engine),
        .guard = guard,
        .settings = parts->settings,
        .context = parts->context,
        .write_status = parts->write_status,
        .engine = parts->engine,
        .sign_in = engine_sign_in,
        .know_device = know_device,
        .prove = engine_prove_token,
    };

    door->parts = *parts;
    door->guard = guard;
    door->mcp = http_mcp_new(&mcp);
    http_mcp_add_routes(door->mcp, guard);
    door->rest = rest_new(&rest);
    rest_add_routes(door->rest, guard);
    door->web = web_new(&web);
    web_add_routes(door->web, guard);
    return door;
}

const struct guard *door_guard(const struct door *door)
{
    return door->guard;
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
    int port = http_server_port(door->server);

    if (port != remembered)
        store_write_meta(store, &(struct store_meta){ port_fact, TEXT_NUMBER(port) }, on_port_saved,
                         NULL);
}

static struct http_handler handler_of(const struct door *door)
{
    return (struct http_handler){ .context = door->guard,
                                  .admit = guard_admit,
                                  .serve = guard_serve,
                                  .on_reply = guard_on_reply,
                                  .taken = web_take,
                                  .taken_context = door->web };
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
    struct door *door = door_new(parts);
    char url[32];

    *ret_door = NULL;
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
        door->is_leaving = true;
}

int door_port(const struct door *door)
{
    return door ? http_server_port(door->server) : 0;
}

void door_flush(struct door *door)
{
    if (!door)
        return;
    http_mcp_flush(door->mcp);
    rest_flush(door->rest);
    web_flush(door->web);
    http_server_flush(door->server);
    if (door->public_server)
        http_server_flush(door->public_server);
}

void door_drain(struct door *door)
{
    if (!door)
        return;
    door->is_leaving = true;
    rest_drain(door->rest);
    http_server_drain(door->server);
    if (door->public_server)
        http_server_drain(door->public_server);
}

void door_dismiss(struct door *door, const char *why)
{
    if (!door)
        return;
    http_mcp_dismiss(door->mcp);
    web_dismiss(door->web, why);
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
    return http_server_peer_count(door->server) + web_peer_count(door->web) +
           (door->public_server ? http_server_peer_count(door->public_server) : 0);
}

void door_cut(struct door *door, const uint8_t *token_hash)
{
    char id[TOKEN_ID_BYTES];

    if (!door)
        return;
    token_id(token_hash, id);
    http_mcp_forget_token(door->mcp, id);
    web_forget_token(door->web, id);
    http_server_cut(door->server, guard_owner(token_hash));
    if (door->public_server)
        http_server_cut(door->public_server, guard_owner(token_hash));
}

void door_take_state(struct door *door, const char *session, const char *what, const char *value)
{
    if (door)
        http_mcp_take_state(door->mcp, session, what, value);
}

void door_free(struct door *door)
{
    if (!door)
        return;
    web_end_peers(door->web); /* before the server of their connections */
    http_server_free(door->server);
    http_server_free(door->public_server);
    tls_context_free(door->tls);
    http_mcp_free(door->mcp); /* after the server, whose exchanges they use */
    rest_free(door->rest);
    web_free(door->web);
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

bool site_read(const struct settings *settings, struct http_site *ret_site, struct error *err)
{
    const char *public_url = settings_text(settings, SETTING_PUBLIC_URL);
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
    return public_url[0] == '\0' || origin_read_url(public_url, ret_site) ||
           error_say(err, ERROR_bad_format, "/public_url", TEXT_REASON_PUBLIC_URL, NULL);
}

bool site_load_tls(const struct settings *settings, struct tls_context **ret_tls, struct error *err)
{
    const char *certificate = settings_text(settings, SETTING_TLS_CERT);
    const char *key = settings_text(settings, SETTING_TLS_KEY);

    *ret_tls = NULL;
    return certificate[0] == '\0' ||
           (os_private_file(key, err) && tls_context_new_server(certificate, key, ret_tls, err));
}
