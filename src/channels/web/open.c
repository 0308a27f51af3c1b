/*
 * open.c - one click for a page that isn't signed in: the hub opens a fresh link in the person's
 * browser. The page is told that it did, and never the link.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "channels/web/inside.h"
#include "net/http.h"

enum { BODY_BYTES = 256 };

static bool locate(void *context, int64_t *ret_uid, int64_t *ret_pid)
{
    return http_peer(context, ret_uid, ret_pid);
}

static void on_done(void *context, const struct desk_reply *reply)
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
    struct desk *desk = web->parts.desk;
    const struct desk_visitor visitor = { .role = ROLE_PERSON,
                                          .via = "web",
                                          .uid = -1,
                                          .tty = "",
                                          .name = "browser",
                                          .token_id = "",
                                          .context = exchange,
                                          .locate = locate };
    struct desk_visit *visit;
    struct json *params = NULL;

    if (http_site(exchange) || !web->parts.is_portal_on(web->parts.context)) {
        guard_refuse(exchange, 404, "not_found", "there is nothing at this path");
        return;
    }
    json_parse(json, length, &params, NULL);
    visit = desk->ops->enter(desk, &visitor);
    desk_serve(desk, visit, DESK_ACT(portal_open), params, on_done, exchange); /* never later */
    desk->ops->leave(desk, visit);
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
    if (http_site(exchange) || is_same_origin(exchange))
        serve(context, exchange, body, length);
    else
        guard_refuse(exchange, 403, "foreign_origin", "pages of other origins are not served");
}

const struct guard_route open_routes[] = {
    { "GET", "/portal/open", GUARD_OPEN, 0, NULL, serve_look },
    { "POST", "/portal/open", GUARD_OPEN, BODY_BYTES, "application/json", serve_open },
};
const size_t open_route_count = ARRAY_LEN(open_routes);
