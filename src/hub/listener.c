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

struct listener {
    struct listener_parts parts;
    struct guard *guard;
    struct http_server *server;
    struct http_server *public_server;     /* NULL: only this machine is served */
    struct http_virtual_host virtual_host; /* of that one */
    struct tls_context *tls;               /* likewise; NULL: none */
    char public_url[sizeof(((struct http_virtual_host *)0)->origin)];
    struct http_mcp *mcp;
    struct rest *rest;
    struct web *web;
    bool is_leaving;
};

static bool mcp_needs_token(void *context)
{
    const struct settings *settings = ((struct listener *)context)->parts.settings;

    /* a hub that listens further than this machine wants tokens whatever the setting says */
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

    if (!engine_find_token(((struct listener *)context)->parts.engine, hash, &token))
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
    const struct listener *listener = context;
    struct store *store = listener->parts.store;

    if (store->ops->is_broken(store))
        return "the disk failed: nothing is saved until sayso is restarted";
    if (store->ops->is_reachable && !store->ops->is_reachable(store))
        return "the database can't be reached";
    return listener->is_leaving ? "it is about to stop" : NULL;
}

static void write_metrics(void *context, struct text *out)
{
    const struct listener *listener = context;
    struct store *store = listener->parts.store;

    engine_write_metrics(listener->parts.engine, out);
    store->ops->write_metrics(store, out);
    guard_write_metrics(listener->guard, out);
    web_write_metrics(listener->web, out);
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

struct listener *listener_new(const struct listener_parts *parts)
{
    struct listener *listener = mem_new(sizeof *listener);
    const struct guard_options options = { .context = listener,
                                           .mcp_needs_token = mcp_needs_token,
                                           .find_token = find_token };
    struct guard *guard = guard_new(&options);
    const struct http_mcp_parts mcp = {
        .loop = parts->loop,
        .service = engine_service(parts->engine),
        .settings = parts->settings,
        .features = parts->features,
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
        .context = listener,
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

    listener->parts = *parts;
    listener->guard = guard;
    listener->mcp = http_mcp_new(&mcp);
    http_mcp_add_routes(listener->mcp, guard);
    listener->rest = rest_new(&rest);
    rest_add_routes(listener->rest, guard);
    listener->web = web_new(&web);
    web_add_routes(listener->web, guard);
    return listener;
}

const struct guard *listener_guard(const struct listener *listener)
{
    return listener->guard;
}

static void on_port_saved(void *context, const struct store_reply *reply)
{
    (void)context;
    if (reply->outcome == STORE_FAILED)
        log_warning("http.port_forgotten", "reason=%s", error_name(reply->err.code));
}

static void remember_port(struct listener *listener, int64_t remembered)
{
    struct store *store = listener->parts.store;
    int port = http_server_port(listener->server);

    if (port != remembered)
        store_write_meta(store, &(struct store_meta){ port_fact, TEXT_NUMBER(port) }, on_port_saved,
                         NULL);
}

static struct http_handler handler_of(const struct listener *listener)
{
    return (struct http_handler){ .context = listener->guard,
                                  .admit = guard_admit,
                                  .serve = guard_serve,
                                  .on_reply = guard_on_reply,
                                  .taken = web_take,
                                  .taken_context = listener->web };
}

/* Looking begins at the port that was set, else at the one we had last, so that addresses in
 * clients and bookmarks stay good. */
static bool open_server(struct listener *listener, struct error *err)
{
    struct settings *settings = listener->parts.settings;
    struct store *store = listener->parts.store;
    bool is_chosen = settings_source(settings, SETTING_PORT) != SETTING_BUILT_IN;
    struct http_options options = { .handler = handler_of(listener) };
    int64_t remembered = 0;

    if (!is_chosen && text_parse_integer(store->ops->meta(store, port_fact), &remembered) &&
        remembered > 0 && remembered < 65536) {
        options.port = (int)remembered;
        if (http_server_open(listener->parts.loop, &options, &listener->server, err))
            return true;
    }
    options.port = (int)settings_integer(settings, SETTING_PORT);
    options.may_move = true;
    if (!http_server_open(listener->parts.loop, &options, &listener->server, err))
        return false;
    if (!is_chosen)
        remember_port(listener, remembered);
    return true;
}

/* What others call it: as the settings say, else by its address. */
static void name_public(struct listener *listener)
{
    const struct http_virtual_host *virtual_host = &listener->virtual_host;
    bool is_long = strchr(virtual_host->address, ':') != NULL;

    if (virtual_host->origin[0])
        snprintf(listener->public_url, sizeof listener->public_url, "%s", virtual_host->origin);
    else
        snprintf(listener->public_url, sizeof listener->public_url,
                 is_long ? "%s://[%s]:%d" : "%s://%s:%d", virtual_host->has_tls ? "https" : "http",
                 virtual_host->address, http_server_port(listener->public_server));
    if (virtual_host->origin[0])
        engine_set_public_url(listener->parts.engine, virtual_host->origin);
}

static bool open_public(struct listener *listener, struct error *err)
{
    const struct settings *settings = listener->parts.settings;
    struct http_options options = { .handler = handler_of(listener),
                                    .virtual_host = &listener->virtual_host };

    if (!public_listener_is_wanted(settings))
        return true;
    if (!public_listener_read(settings, &listener->virtual_host, err) ||
        !public_listener_load_tls(settings, &listener->tls, err))
        return false;
    options.tls = listener->tls;
    if (!http_server_open(listener->parts.loop, &options, &listener->public_server, err))
        return false;
    name_public(listener);
    if (!listener->tls)
        log_warning("http.plain", "url=%s advice=tls_in_front_of_it", listener->public_url);
    log_info("http.listening", "url=%s", listener->public_url);
    return true;
}

bool listener_open(const struct listener_parts *parts, struct listener **ret_listener,
                   struct error *err)
{
    struct listener *listener = listener_new(parts);
    char url[32];

    *ret_listener = NULL;
    if (!open_server(listener, err)) {
        log_warning("http.no_port", "reason=%s", error_name(err->code));
        listener_free(listener);
        return !parts->must_listen || !public_listener_is_wanted(parts->settings);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d", http_server_port(listener->server));
    engine_set_portal(parts->engine, url);
    if (!open_public(listener, err)) {
        log_error("http.not_listening", "message=%s", err->message);
        if (parts->must_listen) {
            listener_free(listener);
            return false;
        }
    }
    *ret_listener = listener;
    return true;
}

const char *listener_public_url(const struct listener *listener)
{
    return listener ? listener->public_url : "";
}

void listener_reload(struct listener *listener)
{
    struct tls_context *fresh;
    struct error err;

    if (!listener || !listener->public_server || !listener->tls)
        return;
    if (!public_listener_load_tls(listener->parts.settings, &fresh, &err) || !fresh) {
        log_warning("tls.not_reloaded", "reason=%s message=%s", error_name(err.code), err.message);
        return;
    }
    http_server_use_tls(listener->public_server, fresh);
    tls_context_free(listener->tls);
    listener->tls = fresh;
    log_info("tls.reloaded", "certificate=%s",
             settings_text(listener->parts.settings, SETTING_TLS_CERT));
}

void listener_announce(struct listener *listener)
{
    if (listener)
        listener->is_leaving = true;
}

int listener_port(const struct listener *listener)
{
    return listener ? http_server_port(listener->server) : 0;
}

void listener_flush(struct listener *listener)
{
    if (!listener)
        return;
    http_mcp_flush(listener->mcp);
    rest_flush(listener->rest);
    web_flush(listener->web);
    http_server_flush(listener->server);
    if (listener->public_server)
        http_server_flush(listener->public_server);
}

void listener_drain(struct listener *listener)
{
    if (!listener)
        return;
    listener->is_leaving = true;
    rest_drain(listener->rest);
    http_server_drain(listener->server);
    if (listener->public_server)
        http_server_drain(listener->public_server);
}

void listener_dismiss(struct listener *listener, const char *why)
{
    if (!listener)
        return;
    http_mcp_dismiss(listener->mcp);
    web_dismiss(listener->web, why);
    http_server_dismiss(listener->server);
    if (listener->public_server)
        http_server_dismiss(listener->public_server);
}

bool listener_is_drained(const struct listener *listener)
{
    return !listener ||
           (http_server_is_drained(listener->server) &&
            (!listener->public_server || http_server_is_drained(listener->public_server)));
}

size_t listener_peer_count(const struct listener *listener)
{
    if (!listener)
        return 0;
    return http_server_peer_count(listener->server) + web_peer_count(listener->web) +
           (listener->public_server ? http_server_peer_count(listener->public_server) : 0);
}

void listener_cut(struct listener *listener, const uint8_t *token_hash)
{
    char id[TOKEN_ID_BYTES];

    if (!listener)
        return;
    token_id(token_hash, id);
    http_mcp_forget_token(listener->mcp, id);
    web_forget_token(listener->web, id);
    http_server_cut(listener->server, guard_owner(token_hash));
    if (listener->public_server)
        http_server_cut(listener->public_server, guard_owner(token_hash));
}

void listener_take_state(struct listener *listener, const char *session, const char *what,
                         const char *value)
{
    if (listener)
        http_mcp_take_state(listener->mcp, session, what, value);
}

void listener_free(struct listener *listener)
{
    if (!listener)
        return;
    web_end_peers(listener->web); /* before the server of their connections */
    http_server_free(listener->server);
    http_server_free(listener->public_server);
    tls_context_free(listener->tls);
    http_mcp_free(listener->mcp); /* after the server, whose exchanges they use */
    rest_free(listener->rest);
    web_free(listener->web);
    guard_free(listener->guard);
    free(listener);
}

bool public_listener_is_wanted(const struct settings *settings)
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

bool public_listener_read(const struct settings *settings, struct http_virtual_host *ret_host,
                          struct error *err)
{
    const char *public_url = settings_text(settings, SETTING_PUBLIC_URL);
    bool has_certificate = settings_text(settings, SETTING_TLS_CERT)[0] != '\0';
    bool has_key = settings_text(settings, SETTING_TLS_KEY)[0] != '\0';

    *ret_host = (struct http_virtual_host){ .host = "", .has_tls = has_certificate };
    if (!setting_read_listen(settings_text(settings, SETTING_LISTEN), ret_host->address,
                             sizeof ret_host->address, &ret_host->port))
        return error_say(err, ERROR_bad_format, "/listen", TEXT_REASON_LISTEN_FORMAT, NULL);
    if (has_certificate != has_key)
        return error_say(err, ERROR_missing_property, has_key ? "/tls_cert" : "/tls_key",
                         TEXT_REASON_LISTEN_PAIR, NULL);
    if (!has_certificate && !is_loopback(ret_host->address) &&
        !settings_is_on(settings, SETTING_LISTEN_PLAIN))
        return error_say(err, ERROR_missing_property, "/tls_cert", TEXT_REASON_LISTEN_PLAIN,
                         "address", ret_host->address, NULL);
    return public_url[0] == '\0' || origin_read_url(public_url, ret_host) ||
           error_say(err, ERROR_bad_format, "/public_url", TEXT_REASON_PUBLIC_URL, NULL);
}

bool public_listener_load_tls(const struct settings *settings, struct tls_context **ret_tls,
                              struct error *err)
{
    const char *certificate = settings_text(settings, SETTING_TLS_CERT);
    const char *key = settings_text(settings, SETTING_TLS_KEY);

    *ret_tls = NULL;
    return certificate[0] == '\0' ||
           (os_private_file(key, err) && tls_context_new_server(certificate, key, ret_tls, err));
}
