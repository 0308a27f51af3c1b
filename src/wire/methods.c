/* methods.c - the methods of the wire, each a row with the act of the desk, which decides who may;
 * and the calls of one peer. */
#include "wire/methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/spare.h"
#include "wire/visitor.h"
#include "wire/wire.h"

enum { METHODS_ID_BYTES = 256 }; /* kept as long as its call is under way */

static const struct method {
    const char *name;
    size_t act;
    bool is_look; /* it reads, returns what it finds, and doesn't wait for an answer */
} methods[] = {
    { "hello", DESK_HUB_HELLO, false },
    { "hub/prove", DESK_HUB_PROVE, false },
    { "ask/create", DESK_ACT(submit), false },
    { "ask/wait", DESK_ACT(wait), false },
    { "ask/delivered", DESK_ACT(delivered), false },
    { "ask/withdraw", DESK_ACT(withdraw), false },
    { "ask/detach", DESK_ACT(detach), false },
    { "client/cut_off", DESK_ACT(cut_off), false },
    { "client/result", DESK_ACT(client_result), false },
    { "client/failed", DESK_ACT(client_failed), false },
    { "mine/list", DESK_ACT(mine_list), true },
    { "mine/get", DESK_ACT(mine_get), true },
    { "mine/follow", DESK_ACT(mine_follow), false },
    { "ask/answer", DESK_ACT(answer), false },
    { "ask/cancel", DESK_ACT(cancel), false },
    { "ask/decline", DESK_ACT(decline), false },
    { "ask/extend", DESK_ACT(extend), false },
    { "ask/undo", DESK_ACT(undo), false },
    { "ask/send", DESK_ACT(send_now), false },
    { "ask/draft", DESK_ACT(draft), false },
    { "ask/switch", DESK_ACT(switch_interface), false },
    { "ask/challenge", DESK_ACT(challenge), false },
    { "ask/attach", DESK_ACT(attach), true },
    { "ask/list", DESK_ACT(list), true },
    { "ask/get", DESK_ACT(get), true },
    { "ask/watch", DESK_ACT(watch), true },
    { "ask/history", DESK_ACT(history), true },
    { "ask/statistics", DESK_ACT(statistics), true },
    { "ask/back", DESK_ACT(ask_back), false },
    { "rule/preview", DESK_ACT(rule_preview), true },
    { "rule/add", DESK_ACT(rule_add), false },
    { "rule/list", DESK_ACT(rule_list), false },
    { "rule/remove", DESK_ACT(rule_remove), false },
    { "rule/suggest", DESK_ACT(rule_suggest), true },
    { "ask/tell", DESK_ACT(tell), false },
    { "ask/unseen", DESK_ACT(unseen), true },
    { "ask/seen", DESK_ACT(seen), false },
    { "ask/later", DESK_ACT(later), false },
    { "ask/hide", DESK_ACT(hide), false },
    { "settings/list", DESK_ACT(settings_list), false },
    { "settings/set", DESK_ACT(settings_set), false },
    { "token/new", DESK_ACT(token_new), false },
    { "token/list", DESK_ACT(token_list), false },
    { "token/revoke", DESK_ACT(token_revoke), false },
    { "portal/link", DESK_ACT(portal_link), false },
    { "hub/status", DESK_HUB_STATUS, false },
    { "hub/stop", DESK_HUB_STOP, false },
    { "hub/retire", DESK_HUB_RETIRE, false },
};

/* A request under way at the desk; after the peer left, on_done frees it. */
struct call {
    struct call *next, *previous;
    struct wire_peer *peer;
    size_t act, bytes;
    char id_json[]; /* "": a notification, which gets no reply */
};

static const struct method *find_act(size_t act)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (methods[i].act == act)
            return &methods[i];
    }
    return NULL;
}

bool wire_find_method(const char *name, size_t *ret_act)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(methods[i].name, name) == 0) {
            *ret_act = methods[i].act;
            return true;
        }
    }
    return false;
}

const char *wire_method_at(size_t index)
{
    return index < ARRAY_LEN(methods) ? methods[index].name : NULL;
}

const char *wire_method_name(size_t act)
{
    const struct method *method = find_act(act);

    return method ? method->name : NULL;
}

static void end_call(struct call *call)
{
    LIST_REMOVE(call->peer->calls, call);
    call->peer->call_count--;
    call->peer->look_count -= find_act(call->act)->is_look;
    spare_free(call, call->bytes);
}

void wire_peer_leave(struct wire_peer *peer)
{
    struct desk *desk = peer->carrier->desk;

    if (peer->visit)
        desk->ops->leave(desk, peer->visit);
    peer->visit = NULL;
    while (peer->calls)
        end_call(peer->calls);
}

/* A notification is answered by nothing, whatever it was. */
void wire_peer_reply(struct wire_peer *peer, const char *id_json, const char *result_json)
{
    if (id_json)
        jsonrpc_add_result(peer->carrier->begin(peer), id_json, result_json);
    peer->carrier->end(peer);
}

void wire_peer_refuse(struct wire_peer *peer, const char *id_json, int code, const char *message)
{
    if (id_json)
        wire_add_error(peer->carrier->begin(peer), id_json, code, message);
    peer->carrier->end(peer);
}

void wire_peer_welcome(struct wire_peer *peer, const char *id_json, enum desk_role role)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    wire_write_welcome(&writer, role == ROLE_AGENT ? "agent" : "person");
    json_write_end_object(&writer);
    wire_peer_reply(peer, id_json, text_string(&out));
    text_release(&out);
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct wire_peer *peer = call->peer;
    const struct wire_carrier *carrier = peer->carrier;
    struct text *out = carrier->begin(peer);

    if (call->id_json[0] && reply->err.code != ERROR_NONE)
        wire_add_failure(out, call->id_json, &reply->err, reply->json, carrier->add_words);
    else if (call->id_json[0] &&
             !(carrier->add_more &&
               carrier->add_more(peer, call->act, out, call->id_json, reply->json)))
        wire_add_result(out, call->id_json, reply->kind, reply->json);
    carrier->end(peer); /* it may be read from again, whether it was answered or not */
    end_call(call);
}

/* A watcher that does not read is not buffered for: it is told to look again later. */
void wire_peer_event(void *context, const char *line, size_t length)
{
    struct wire_peer *peer = context;

    if (peer->carrier->behind(peer) > WIRE_EVENT_BYTES)
        peer->needs_resync = true;
    else
        peer->carrier->tell(peer, line, length);
}

void wire_peer_catch_up(struct wire_peer *peer)
{
    if (!peer->needs_resync)
        return;
    peer->needs_resync = false;
    jsonrpc_add_notification(peer->carrier->begin(peer), "resync", "{}");
    peer->carrier->end(peer);
}

/* A peer that asks and does not read is not answered further: its memory is not ours to give. Nor
 * is what a far store would bring for all it asks at once. */
bool wire_peer_is_full(const struct wire_peer *peer)
{
    return peer->carrier->behind(peer) > WIRE_OUT_BYTES || peer->look_count >= WIRE_LOOKS;
}

/* What the hub does itself. */
static void take_hub(struct wire_peer *peer, size_t act, const struct json *params,
                     const char *id_json)
{
    const struct wire_carrier *carrier = peer->carrier;
    struct error err;

    if (desk_may(carrier->desk, peer->visit, act, params, &err)) {
        carrier->do_hub(peer, act, id_json);
    } else if (id_json) {
        wire_add_failure(carrier->begin(peer), id_json, &err, NULL, carrier->add_words);
        carrier->end(peer);
    }
}

static void serve(struct wire_peer *peer, const struct method *method, const struct json *params,
                  const char *id_json)
{
    size_t id_bytes = id_json ? strlen(id_json) + 1 : 1;
    struct call *call;

    if (peer->call_count >= peer->carrier->most_calls) {
        wire_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST,
                         "too many calls under way: wait for some of them");
        return;
    }
    call = spare_new(sizeof *call + id_bytes);
    *call = (struct call){ .peer = peer, .act = method->act, .bytes = sizeof *call + id_bytes };
    memcpy(call->id_json, id_json ? id_json : "", id_bytes);
    LIST_ADD(peer->calls, call);
    peer->call_count++;
    peer->look_count += method->is_look;
    desk_serve(peer->carrier->desk, peer->visit, method->act, params, on_done, call);
}

static void dispatch(struct wire_peer *peer, const struct wire_message *message,
                     const char *id_json)
{
    size_t act = 0;
    bool is_method = wire_find_method(message->method, &act);

    if (is_method && peer->carrier->greet(peer, act, message->params, id_json))
        return;
    if (!peer->visit)
        wire_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST, "say hello first");
    else if (!is_method || act == DESK_HUB_PROVE)
        wire_peer_refuse(peer, id_json, JSONRPC_METHOD_NOT_FOUND, "no such method");
    else if (act < DESK_HUB_ACTS)
        take_hub(peer, act, message->params, id_json);
    else
        serve(peer, find_act(act), message->params, id_json);
}

void wire_peer_take(struct wire_peer *peer, const char *line, size_t length)
{
    struct wire_message message = { 0 };
    char *id_json = NULL;
    int code;

    if (!wire_parse(line, length, &message, &code)) {
        wire_add_unread(peer->carrier->begin(peer), line, length, code);
        peer->carrier->end(peer);
    } else if (message.id) {
        id_json = json_encode(message.id);
    }
    if (id_json && strlen(id_json) > METHODS_ID_BYTES)
        wire_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST, "the id is too long");
    else if (message.method) /* we send no requests, so a response is ignored */
        dispatch(peer, &message, id_json);
    free(id_json);
    wire_release(&message);
}
