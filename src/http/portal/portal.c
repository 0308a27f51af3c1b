/* portal.c - see portal.h: all pages together. */
#include "http/portal/portal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/jsonrpc.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "http/portal/bundle.h"
#include "http/portal/session.h"
#include "net/frames.h"
#include "net/http.h"
#include "settings/settings.h"

/* The one document of the portal, under the address of each of its pages, and the files it loads.
 * None of it holds data, so none needs a token; what a page shows comes over its socket. */

static const struct {
    const char *name, *value;
} document_headers[] = {
    { "X-Frame-Options", "DENY" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()" },
};

/* Accept-Encoding names gzip, and not only to refuse it. */
static bool takes_gzip(struct http_exchange *exchange)
{
    const char *accepted = http_header(exchange, "accept-encoding");

    while (accepted && *accepted) {
        size_t part;

        accepted += strspn(accepted, " \t,");
        part = strcspn(accepted, ",");
        if (strncmp(accepted, "gzip", 4) == 0 && (part == 4 || strchr(" \t;", accepted[4])))
            return !memmem(accepted, part, "q=0", 3) || memmem(accepted, part, "q=0.", 4);
        accepted += part;
    }
    return false;
}

static void send_file(struct http_exchange *exchange, const struct web_file *file)
{
    bool is_gzip = file->gzip_length < file->length && takes_gzip(exchange);
    const unsigned char *bytes = is_gzip ? file->gzip : file->bytes;

    http_set_header(exchange, "Vary", "Accept-Encoding");
    if (is_gzip)
        http_set_header(exchange, "Content-Encoding", "gzip");
    http_reply(exchange, 200, file->type, (const char *)bytes,
               is_gzip ? file->gzip_length : file->length);
}

/* A page that was restored by its browser may name a bundle of an earlier version: it is told so
 * and reloads. */
static void serve_file(void *context, struct http_exchange *exchange,
                       const struct guard_match *match)
{
    const char *seen = http_header(exchange, "if-none-match");

    (void)context;
    for (size_t i = 0; i < web_file_count; i++) {
        const struct web_file *file = &web_files[i];

        if (strcmp(file->name, match->values[0]) != 0)
            continue;
        http_set_header(exchange, "ETag", file->etag);
        http_set_header(exchange, "Cache-Control",
                        i < web_hashed_count ? "public, max-age=31536000, immutable" : "no-cache");
        http_set_header(exchange, "Cross-Origin-Resource-Policy", "same-origin");
        if (seen && strstr(seen, file->etag))
            http_reply(exchange, 304, NULL, "", 0);
        else
            send_file(exchange, file);
        return;
    }
    guard_refuse(exchange, 404, "not_found", "file not found in this version: reload the page");
}

static void serve_document(void *context, struct http_exchange *exchange,
                           const struct guard_match *match)
{
    struct web *web = context;
    const struct web_file *document =
        http_parameter(exchange, "inline") ? &web_document_inline : &web_document;

    (void)match;
    if (!settings_is_on(web->parts.settings, SETTING_PORTAL)) {
        guard_refuse(exchange, 404, "not_found",
                     "the portal is switched off on this machine (sayso settings set portal on)");
        return;
    }
    http_set_header(exchange, "Content-Security-Policy", document->policy);
    for (size_t i = 0; i < ARRAY_LEN(document_headers); i++)
        http_set_header(exchange, document_headers[i].name, document_headers[i].value);
    send_file(exchange, document);
}

/*
 * One click for a page that isn't signed in: the hub opens a fresh link in the person's
 * browser. The page is told that it did, and never the link.
 */

enum { BODY_BYTES = 256 };

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return http_peer(context, ret_uid, ret_pid);
}

static void on_done(void *context, const struct reply *reply)
{
    int status = reply->err.code == ERROR_rate_limited  ? 429
                 : reply->err.code == ERROR_unavailable ? 503
                                                        : 403;

    if (reply->err.code == ERROR_NONE)
        http_reply(context, 200, "application/json", reply->json, strlen(reply->json));
    else
        guard_refuse(context, status, error_name(reply->err.code), reply->err.message);
}

/* The very address the page has, not another name of this machine. */
static bool is_same_origin(struct http_exchange *exchange)
{
    static const char scheme[] = "http://";
    const char *origin = http_header(exchange, "origin"), *host = http_header(exchange, "host");

    return origin && host && strncmp(origin, scheme, strlen(scheme)) == 0 &&
           strcmp(origin + strlen(scheme), host) == 0;
}

static void serve(struct web *web, struct http_exchange *exchange, const char *json, size_t length)
{
    struct request request = { .method = METHOD_portal_open };
    struct service *service = web->parts.service;
    const struct identity identity = { .role = ROLE_PERSON,
                                       .via = "web",
                                       .uid = -1,
                                       .tty = "",
                                       .name = "browser",
                                       .token_id = "",
                                       .context = exchange,
                                       .locate = locate };
    struct session *session;
    struct json *params = NULL;

    if (http_virtual_host(exchange) || !settings_is_on(web->parts.settings, SETTING_PORTAL)) {
        guard_refuse(exchange, 404, "not_found", "there is nothing at this path");
        return;
    }
    json_parse(json, length, &params, NULL);
    request.params = params;
    session = service->ops->open(service, &identity);
    service->ops->call(service, session, &request, on_done, exchange); /* which is never later */
    service->ops->close(service, session);
    json_free(params);
}

static void serve_look(void *context, struct http_exchange *exchange,
                       const struct guard_match *match)
{
    static const char look[] = "{\"only_look\":true}";

    (void)match;
    serve(context, exchange, look, strlen(look));
}

static void serve_open(void *context, struct http_exchange *exchange,
                       const struct guard_match *match)
{
    size_t length;
    const char *body = http_body(exchange, &length);

    (void)match;
    if (http_virtual_host(exchange) || is_same_origin(exchange))
        serve(context, exchange, body, length);
    else
        guard_refuse(exchange, 403, "foreign_origin", "pages of other origins are not served");
}

static void serve_socket(void *context, struct http_exchange *exchange,
                         const struct guard_match *match)
{
    struct web *web = context;

    (void)match;
    if (web->is_leaving)
        guard_refuse(exchange, 503, "unavailable", "the hub is about to go; try again");
    else if (!settings_is_on(web->parts.settings, SETTING_PORTAL))
        guard_refuse(exchange, 404, "not_found", "the portal is switched off on this machine");
    else
        ws_server_upgrade(web->server, exchange, true);
}

static const struct guard_route routes[] = {
    /* The token is in its first message: a browser can set no header here. */
    { "GET", "/ws", GUARD_OPEN, 0, NULL, serve_socket },
    { "GET", "/wire", GUARD_ANYONE, 0, NULL, serve_remote_client },
    { "GET", "/portal/open", GUARD_OPEN, 0, NULL, serve_look },
    { "POST", "/portal/open", GUARD_OPEN, BODY_BYTES, "application/json", serve_open },
    { "GET", "/", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/choice/{id}", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/history", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/standing", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/settings", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/statistics", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/devices", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/help", GUARD_OPEN, 0, NULL, serve_document },
    { "GET", "/static/*", GUARD_OPEN, 0, NULL, serve_file },
};

struct web *web_new(const struct web_parts *parts)
{
    struct web *web = mem_new(sizeof *web);
    struct ws_options options = { .loop = parts->loop, .handler = session_handler };

    web->parts = *parts;
    web->carrier = session_carrier;
    web->carrier.service = parts->service;
    options.handler.context = web;
    web->server = ws_server_new(&options);
    return web;
}

void web_free(struct web *web)
{
    if (!web)
        return;
    ws_server_free(web->server);
    ws_frame_release(web->newest);
    free(web->arriving);
    free(web);
}

void web_add_routes(struct web *web, struct guard *guard)
{
    guard_add_routes(guard, routes, ARRAY_LEN(routes), web);
}

void web_take(void *web, const struct http_taken *taken)
{
    struct web *own = web;

    ws_server_take(own->server, taken);
    free(own->arriving); /* later connections have other identities */
    own->arriving = NULL;
}

/* Open pages end with the portal. A client of /wire is no page and stays. */
static void follow_portal(struct web *web)
{
    bool is_off = !settings_is_on(web->parts.settings, SETTING_PORTAL);

    for (struct portal_session *session = web->sessions; is_off && !web->is_off && session;
         session = session->next) {
        if (!session->token_holder)
            ws_peer_close(session->peer, WS_CLOSE_GOING, "the portal is switched off");
    }
    web->is_off = is_off;
}

void web_flush(struct web *web)
{
    follow_portal(web);
    ws_server_flush(web->server);
    ws_frame_release(web->newest); /* peers that still have to send it hold it */
    web->newest = NULL;
}

size_t web_peer_count(const struct web *web)
{
    return ws_server_count(web->server);
}

void web_forget_token(struct web *web, const char *token_id)
{
    for (struct portal_session *session = web->sessions; session; session = session->next)
        if (session->wire.session && strcmp(session->token_id, token_id) == 0)
            ws_peer_close(session->peer, WS_CLOSE_POLICY, "signed out");
}

void web_dismiss(struct web *web, const char *why)
{
    struct text params = { 0 }, line = { 0 };

    if (web->is_leaving)
        return;
    web->is_leaving = true;
    text_add_format(&params, "{\"why\":\"%s\"}", why);
    jsonrpc_add_notification(&line, "hub/closing", text_string(&params));
    for (struct portal_session *session = web->sessions; session; session = session->next) {
        if (session->wire.session)
            ws_send(session->peer, line.bytes, line.used - 1);
        ws_peer_close(session->peer, WS_CLOSE_GOING, "the hub goes");
    }
    text_release(&params);
    text_release(&line);
    ws_server_flush(web->server);
}

void web_end_peers(struct web *web)
{
    ws_server_end_peers(web->server);
}

void web_write_metrics(const struct web *web, struct text *out)
{
    ws_server_write_metrics(web->server, out);
    metrics_write_one(out, "sayso_portal_sign_ins_total", "counter",
                      "Tabs that signed in by a link.", web->signed_in);
}
