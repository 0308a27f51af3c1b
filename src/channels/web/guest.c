/*
 * guest.c - clients of other machines: `sayso mcp --hub https://…` and the commands. They bring
 * their token to the gate and speak the wire of the unix socket on a WebSocket. The token says
 * which role they have and whose they are; what hello says beside it are claims, as everywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "base/jsonrpc.h"
#include "base/mem.h"
#include "channels/web/inside.h"
#include "net/http.h"
#include "net/ws_parser.h"
#include "wire/visitor.h"
#include "wire/wire.h"

/* A request that becomes a WebSocket. */
struct arrival {
    struct web *web;
    struct guard_identity who;
    bool is_upgraded; /* else it is refused */
};

/* The connection is taken over in the same moment. */
static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct arrival *arrival = context;

    (void)exchange;
    if (fate == HTTP_ROOM)
        return;
    if (fate == HTTP_TAKEN && arrival->is_upgraded) {
        arrival->web->arriving = mem_new(sizeof arrival->who);
        *arrival->web->arriving = arrival->who;
    }
    free(arrival);
}

static void serve_guest(void *context, struct http_exchange *exchange,
                        const struct guard_match *match)
{
    struct web *web = context;
    struct arrival *arrival;

    if (web->is_leaving) {
        guard_refuse(exchange, 503, "unavailable", "the hub is about to go; try again");
        return;
    }
    arrival = mem_new(sizeof *arrival);
    arrival->web = web;
    arrival->who = *match->who;
    http_on_fate(exchange, on_fate, arrival);
    arrival->is_upgraded = ws_server_upgrade(web->server, exchange, false);
}

const struct guard_route guest_routes[] = {
    { "GET", "/wire", GUARD_ANYONE, 0, NULL, serve_guest },
};
const size_t guest_route_count = ARRAY_LEN(guest_routes);

static bool may_be(const struct guard_identity *who, enum desk_role role)
{
    return role == ROLE_AGENT ? who->is_agent : who->is_person;
}

static void refuse(struct session *session, const char *id_json, int code, const char *message)
{
    wire_peer_refuse(&session->wire, id_json, code, message);
    ws_peer_close(session->peer, WS_CLOSE_POLICY, "hello was refused");
}

void guest_enter(struct session *session, const struct json *params, const char *id_json)
{
    struct desk_visitor visitor = { .token = session->guest->label,
                                    .token_id = session->guest->token,
                                    .may_answer = session->guest->may_answer };

    if (!wire_read_visitor(params, &visitor)) {
        refuse(session, id_json, JSONRPC_INVALID_PARAMS,
               "hello needs role agent or person, a known channel and short names");
        return;
    }
    if (!may_be(session->guest, visitor.role)) {
        refuse(session, id_json, WIRE_NOT_YOURS,
               visitor.role == ROLE_AGENT
                   ? "this token is a person's and cannot ask: use an agent's (sayso token new)"
                   : "this token is an agent's and cannot answer: use a person's (sayso token new "
                     "--kind person)");
        return;
    }
    visitor.is_sub_agent |= session->guest->is_sub_agent;
    session_enter(session, &visitor);
    wire_peer_welcome(&session->wire, id_json, visitor.role);
}
