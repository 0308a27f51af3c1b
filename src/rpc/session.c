#include "rpc/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/pool.h"
#include "i18n/i18n.h"
#include "rpc/protocol.h"

enum { SESSION_ID_BYTES = 256 }; /* kept as long as its call is under way */

/* A request under way at the service; after the peer left, on_done frees it. */
struct call {
    struct call *next, *previous;
    struct rpc_peer *peer;
    enum method method;
    size_t bytes;
    char id_json[]; /* "": a notification, which gets no reply */
};

static bool reads(enum method method)
{
    return methods[method].flags & METHOD_READS;
}

static void end_call(struct call *call)
{
    LIST_REMOVE(call->peer->calls, call);
    call->peer->call_count--;
    call->peer->read_count -= reads(call->method);
    freelist_free(call, call->bytes);
}

void rpc_peer_leave(struct rpc_peer *peer)
{
    struct service *service = peer->carrier->service;

    if (peer->session)
        service->ops->close(service, peer->session);
    peer->session = NULL;
    while (peer->calls)
        end_call(peer->calls);
}

/* A notification is answered by nothing, whatever it was. */
void rpc_peer_reply(struct rpc_peer *peer, const char *id_json, const char *result_json)
{
    if (id_json)
        jsonrpc_add_result(peer->carrier->begin(peer), id_json, result_json);
    peer->carrier->end(peer);
}

void rpc_peer_refuse(struct rpc_peer *peer, const char *id_json, int code, const char *message)
{
    if (id_json)
        rpc_add_error(peer->carrier->begin(peer), id_json, code, message);
    peer->carrier->end(peer);
}

void rpc_peer_welcome(struct rpc_peer *peer, const char *id_json, enum session_role role)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    rpc_write_welcome(&writer, role == ROLE_AGENT ? "agent" : "person");
    json_write_end_object(&writer);
    rpc_peer_reply(peer, id_json, text_string(&out));
    text_release(&out);
}

void rpc_add_failure(struct text *out, const char *id_json, const struct error *err,
                     const char *detail_json, error_add_words *add_words)
{
    struct text data = { 0 };
    struct json_writer writer = json_object_to(&data);

    error_write(err, error_write_words, &writer);
    error_write_words(err, &writer);
    if (detail_json)
        json_write_raw(&writer, "detail", detail_json);
    if (add_words)
        add_words(err, &writer);
    json_write_end_object(&writer);
    jsonrpc_add_error(out, id_json, err->code == ERROR_wrong_role ? RPC_NOT_YOURS : RPC_OURS,
                      err->message, text_string(&data));
    text_release(&data);
}

static void on_done(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct rpc_peer *peer = call->peer;
    const struct rpc_carrier *carrier = peer->carrier;
    struct text *out = carrier->begin(peer);

    if (call->id_json[0] && reply->err.code != ERROR_NONE)
        rpc_add_failure(out, call->id_json, &reply->err, reply->json, carrier->add_words);
    else if (call->id_json[0] &&
             !(carrier->add_more &&
               carrier->add_more(peer, call->method, out, call->id_json, reply->json)))
        rpc_add_result(out, call->id_json, reply->kind, reply->json);
    carrier->end(peer); /* it may be read from again, whether it was answered or not */
    end_call(call);
}

/* A watcher that does not read is not buffered for: it is told to look again later. */
void rpc_peer_event(void *context, const char *line, size_t length)
{
    struct rpc_peer *peer = context;

    if (peer->carrier->behind(peer) > RPC_EVENT_BYTES)
        peer->needs_resync = true;
    else
        peer->carrier->tell(peer, line, length);
}

void rpc_peer_catch_up(struct rpc_peer *peer)
{
    if (!peer->needs_resync)
        return;
    peer->needs_resync = false;
    jsonrpc_add_notification(peer->carrier->begin(peer), "resync", "{}");
    peer->carrier->end(peer);
}

/* A peer that asks and does not read gets no further answers, because they would fill our memory.
 * So would too many reads from a far store at the same time. */
bool rpc_peer_is_full(const struct rpc_peer *peer)
{
    return peer->carrier->behind(peer) > RPC_OUT_BYTES || peer->read_count >= RPC_READS_MAX;
}

/* What the hub does itself, once the service has said that this peer may. */
struct wish {
    struct rpc_peer *peer;
    enum method method;
    const char *id_json;
};

static void on_allowed(void *context, const struct reply *reply)
{
    const struct wish *wish = context;
    struct rpc_peer *peer = wish->peer;
    const struct rpc_carrier *carrier = peer->carrier;

    if (reply->err.code == ERROR_NONE) {
        carrier->do_hub(peer, wish->method, wish->id_json);
    } else if (wish->id_json) {
        rpc_add_failure(carrier->begin(peer), wish->id_json, &reply->err, NULL, carrier->add_words);
        carrier->end(peer);
    }
}

static void serve(struct rpc_peer *peer, const struct request *request, const char *id_json)
{
    struct service *service = peer->carrier->service;
    size_t id_bytes = id_json ? strlen(id_json) + 1 : 1;
    struct call *call;

    if (peer->call_count >= peer->carrier->max_calls) {
        rpc_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST,
                        "too many calls under way: wait for some of them");
        return;
    }
    call = freelist_new(sizeof *call + id_bytes);
    *call =
        (struct call){ .peer = peer, .method = request->method, .bytes = sizeof *call + id_bytes };
    memcpy(call->id_json, id_json ? id_json : "", id_bytes);
    LIST_ADD(peer->calls, call);
    peer->call_count++;
    peer->read_count += reads(call->method);
    service->ops->call(service, peer->session, request, on_done, call);
}

static void dispatch(struct rpc_peer *peer, const struct rpc_message *message, const char *id_json)
{
    const struct request request = { .method = method_find(message->method),
                                     .params = message->params };
    enum method method = request.method;
    struct wish wish = { peer, method, id_json };
    struct service *service = peer->carrier->service;

    if (method < METHOD_COUNT && peer->carrier->greet(peer, method, message->params, id_json))
        return;
    if (!peer->session)
        rpc_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST, "say hello first");
    else if (method == METHOD_COUNT || method == METHOD_hub_prove)
        rpc_peer_refuse(peer, id_json, JSONRPC_METHOD_NOT_FOUND, "no such method");
    else if (methods[method].flags & METHOD_OF_HUB)
        service->ops->call(service, peer->session, &request, on_allowed, &wish);
    else
        serve(peer, &request, id_json);
}

void rpc_peer_take(struct rpc_peer *peer, const char *line, size_t length)
{
    struct rpc_message message = { 0 };
    char *id_json = NULL;
    int code;

    if (!rpc_parse(line, length, &message, &code)) {
        rpc_add_unread(peer->carrier->begin(peer), line, length, code);
        peer->carrier->end(peer);
    } else if (message.id) {
        id_json = json_encode(message.id);
    }
    if (id_json && strlen(id_json) > SESSION_ID_BYTES)
        rpc_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST, "the id is too long");
    else if (message.method) /* we send no requests, so a response is ignored */
        dispatch(peer, &message, id_json);
    free(id_json);
    rpc_release(&message);
}
