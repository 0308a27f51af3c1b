/* web.c - see web.h: all pages together. */
#include "channels/web/web.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonrpc.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "channels/web/inside.h"
#include "net/ws_parser.h"

static void serve_socket(void *context, struct http_exchange *exchange,
                         const struct guard_match *match)
{
    struct web *web = context;

    (void)match;
    if (web->is_leaving)
        guard_refuse(exchange, 503, "unavailable", "the hub is about to go; try again");
    else if (!web->parts.is_portal_on(web->parts.context))
        guard_refuse(exchange, 404, "not_found", "the portal is switched off on this machine");
    else
        ws_server_upgrade(web->server, exchange, true);
}

static const struct guard_route socket_routes[] = {
    /* The token is in its first message: a browser can set no header here. */
    { "GET", "/ws", GUARD_OPEN, 0, NULL, serve_socket },
};

struct web *web_new(const struct web_parts *parts)
{
    struct web *web = mem_new(sizeof *web);
    struct ws_options options = { .loop = parts->loop, .handler = session_handler };

    web->parts = *parts;
    web->carrier = session_carrier;
    web->carrier.desk = parts->desk;
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
    guard_add_routes(guard, socket_routes, ARRAY_LEN(socket_routes), web);
    guard_add_routes(guard, guest_routes, guest_route_count, web);
    guard_add_routes(guard, open_routes, open_route_count, web);
    guard_add_routes(guard, page_routes, page_route_count, web);
}

void web_take(void *web, const struct http_taken *taken)
{
    struct web *own = web;

    ws_server_take(own->server, taken);
    free(own->arriving); /* nobody else is whom it stands for */
    own->arriving = NULL;
}

/* Open pages end with the portal. A client of /wire is no page and stays. */
static void follow_portal(struct web *web)
{
    bool is_off = !web->parts.is_portal_on(web->parts.context);

    for (struct session *session = web->sessions; is_off && !web->is_off && session;
         session = session->next) {
        if (!session->guest)
            ws_peer_close(session->peer, WS_CLOSE_GOING, "the portal is switched off");
    }
    web->is_off = is_off;
}

void web_flush(struct web *web)
{
    follow_portal(web);
    ws_server_flush(web->server);
    ws_frame_release(web->newest); /* whoever still has to send it has it */
    web->newest = NULL;
}

size_t web_peer_count(const struct web *web)
{
    return ws_server_count(web->server);
}

void web_forget_token(struct web *web, const char *token_id)
{
    for (struct session *session = web->sessions; session; session = session->next)
        if (session->wire.visit && strcmp(session->token_id, token_id) == 0)
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
    for (struct session *session = web->sessions; session; session = session->next) {
        if (session->wire.visit)
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
