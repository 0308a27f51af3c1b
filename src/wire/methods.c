/* methods.c - the methods of the wire, each a row with the act of the desk, which decides who may.
 */
#include "wire/methods.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/spare.h"
#include "wire/connection.h"
#include "wire/visitor.h"
#include "wire/wire.h"

enum { METHODS_ID_BYTES = 256 }; /* kept as long as its call is under way */

static const struct method {
    const char *name;
    size_t act;
} methods[] = {
    { "hello", DESK_HUB_HELLO },
    { "hub/prove", DESK_HUB_PROVE },
    { "ask/create", DESK_ACT(submit) },
    { "ask/wait", DESK_ACT(wait) },
    { "ask/delivered", DESK_ACT(delivered) },
    { "ask/withdraw", DESK_ACT(withdraw) },
    { "ask/detach", DESK_ACT(detach) },
    { "client/cut_off", DESK_ACT(cut_off) },
    { "client/result", DESK_ACT(client_result) },
    { "client/failed", DESK_ACT(client_failed) },
    { "mine/list", DESK_ACT(mine_list) },
    { "mine/get", DESK_ACT(mine_get) },
    { "mine/follow", DESK_ACT(mine_follow) },
    { "ask/answer", DESK_ACT(answer) },
    { "ask/cancel", DESK_ACT(cancel) },
    { "ask/decline", DESK_ACT(decline) },
    { "ask/extend", DESK_ACT(extend) },
    { "ask/undo", DESK_ACT(undo) },
    { "ask/send", DESK_ACT(send_now) },
    { "ask/draft", DESK_ACT(draft) },
    { "ask/switch", DESK_ACT(switch_interface) },
    { "ask/challenge", DESK_ACT(challenge) },
    { "ask/attach", DESK_ACT(attach) },
    { "ask/list", DESK_ACT(list) },
    { "ask/get", DESK_ACT(get) },
    { "ask/watch", DESK_ACT(watch) },
    { "ask/history", DESK_ACT(history) },
    { "ask/statistics", DESK_ACT(statistics) },
    { "ask/back", DESK_ACT(ask_back) },
    { "rule/preview", DESK_ACT(rule_preview) },
    { "rule/add", DESK_ACT(rule_add) },
    { "rule/list", DESK_ACT(rule_list) },
    { "rule/remove", DESK_ACT(rule_remove) },
    { "rule/suggest", DESK_ACT(rule_suggest) },
    { "ask/tell", DESK_ACT(tell) },
    { "ask/unseen", DESK_ACT(unseen) },
    { "ask/seen", DESK_ACT(seen) },
    { "ask/later", DESK_ACT(later) },
    { "ask/hide", DESK_ACT(hide) },
    { "settings/list", DESK_ACT(settings_list) },
    { "settings/set", DESK_ACT(settings_set) },
    { "token/new", DESK_ACT(token_new) },
    { "token/list", DESK_ACT(token_list) },
    { "token/revoke", DESK_ACT(token_revoke) },
    { "portal/link", DESK_ACT(portal_link) },
    { "hub/status", DESK_HUB_STATUS },
    { "hub/stop", DESK_HUB_STOP },
    { "hub/retire", DESK_HUB_RETIRE },
};

/* A request under way at the desk; after the visitor left nobody else frees it. */
struct call {
    struct call *next, *previous;
    struct connection *connection;
    size_t bytes;
    bool wants_reply; /* false: it is a notification */
    bool is_look;
    char id_json[];
};

static void end_call(struct call *call)
{
    LIST_REMOVE(call->connection->calls, call);
    call->connection->call_count--;
    call->connection->look_count -= call->is_look;
    spare_free(call, call->bytes);
}

void methods_drop_calls(struct connection *connection)
{
    for (struct call *call = connection->calls, *next; call; call = next) {
        next = call->next;
        end_call(call);
    }
}

static void on_done(void *context, const struct desk_reply *reply)
{
    struct call *call = context;
    struct connection *connection = call->connection;

    if (call->wants_reply && !connection->is_closing) {
        if (reply->err.code != ERROR_NONE)
            wire_add_failure(&connection->out, call->id_json, &reply->err, reply->json);
        else
            wire_add_result(&connection->out, call->id_json, reply->kind, reply->json);
    }
    connection_mark_dirty(
        connection); /* it may be read from again, whether it was answered or not */
    end_call(call);
}

/* A watcher that does not read is not buffered for: it is told to look again later. */
static void on_event(void *context, const char *line, size_t length)
{
    struct connection *connection = context;

    if (connection->out.used + connection->writing.used > CONNECTION_EVENT_BYTES) {
        connection->needs_resync = true;
        return;
    }
    text_add(&connection->out, line, length);
    text_add_char(&connection->out, '\n');
    connection_mark_dirty(connection);
}

static bool read_visitor(const struct connection *connection, const struct json *params,
                         struct desk_visitor *visitor, struct os_process *own)
{
    if (!wire_read_visitor(params, visitor))
        return false;
    visitor->uid = connection->uid;
    visitor->pid = connection->pid;
    if (os_process(connection->pid, own)) {
        visitor->start = own->start;
        visitor->tty = own->tty;
    }
    return true;
}

/* A notification is answered by nothing, whatever it was. */
static void reply(struct connection *connection, const char *id_json, const char *result_json)
{
    if (id_json)
        jsonrpc_add_result(&connection->out, id_json, result_json);
}

static void refuse(struct connection *connection, const char *id_json, int code,
                   const char *message)
{
    if (id_json)
        wire_add_error(&connection->out, id_json, code, message);
}

static void write_hello(struct connection *connection, const char *id_json)
{
    struct text out = { 0 };

    wire_add_welcome(&out, connection->role == ROLE_AGENT ? "agent" : "person");
    reply(connection, id_json, text_string(&out));
    text_release(&out);
}

static void take_hello(struct connection *connection, const struct wire_message *message,
                       const char *id_json)
{
    struct desk *desk = connection->server->desk;
    struct desk_visitor visitor = { .context = connection, .event = on_event, .tty = "" };
    struct os_process own;

    if (connection->visit) {
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST,
               "hello was said already; a connection has one role");
    } else if (!wire_is_ours(message->params)) {
        refuse(connection, id_json, WIRE_NUMBER_REFUSED, "this hub speaks another wire number");
    } else if (!read_visitor(connection, message->params, &visitor, &own)) {
        refuse(connection, id_json, JSONRPC_INVALID_PARAMS,
               "hello needs role agent or person, a known channel and short names");
    } else {
        connection->role = visitor.role;
        connection->visit = desk->ops->enter(desk, &visitor);
        write_hello(connection, id_json);
        connection->server->host.on_change(connection->server->host.context);
    }
}

static void take_status(struct connection *connection, const char *id_json)
{
    struct wire_host *host = &connection->server->host;
    struct text out = { 0 };

    host->write_status(host->context, &out);
    reply(connection, id_json, text_string(&out));
    text_release(&out);
}

/* Before hello there is no visit: our own user's process, as every connection here. */
static void take_hub(struct connection *connection, size_t act, const struct json *params,
                     const char *id_json)
{
    struct wire_host *host = &connection->server->host;
    struct desk *desk = connection->server->desk;
    struct error err;

    if (connection->visit && !desk_may(desk, connection->visit, act, params, &err)) {
        if (id_json)
            wire_add_failure(&connection->out, id_json, &err, NULL);
    } else if (act == DESK_HUB_STATUS) {
        take_status(connection, id_json);
    } else {
        reply(connection, id_json, "{}");
        host->wish(host->context, act == DESK_HUB_STOP ? WIRE_WISH_STOP : WIRE_WISH_RETIRE);
    }
}

static void act(struct connection *connection, const struct method *method,
                const struct wire_message *message, const char *id_json)
{
    struct desk *desk = connection->server->desk;
    struct call *call;
    size_t bytes;

    if (connection->call_count >= CONNECTION_CALLS) {
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST,
               "too many calls under way: wait for some of them");
        return;
    }
    bytes = sizeof *call + (id_json ? strlen(id_json) + 1 : 0);
    call = spare_new(bytes);
    *call = (struct call){ .connection = connection,
                           .bytes = bytes,
                           .wants_reply = id_json,
                           .is_look = wire_is_look(method->act) };
    if (id_json)
        memcpy(call->id_json, id_json, strlen(id_json) + 1);
    LIST_ADD(connection->calls, call);
    connection->call_count++;
    connection->look_count += call->is_look;
    desk_serve(desk, connection->visit, method->act, message->params, on_done, call);
}

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    }
    return NULL;
}

bool wire_find_method(const char *name, size_t *ret_act)
{
    const struct method *method = find_method(name);

    if (method)
        *ret_act = method->act;
    return method;
}

const char *wire_method_at(size_t index)
{
    return index < ARRAY_LEN(methods) ? methods[index].name : NULL;
}

bool wire_is_look(size_t act)
{
    static const size_t looks[] = {
        DESK_ACT(list),         DESK_ACT(get),          DESK_ACT(watch),     DESK_ACT(history),
        DESK_ACT(statistics),   DESK_ACT(attach),       DESK_ACT(mine_list), DESK_ACT(mine_get),
        DESK_ACT(rule_preview), DESK_ACT(rule_suggest), DESK_ACT(unseen)
    };

    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        if (looks[i] == act)
            return true;
    }
    return false;
}

const char *wire_method_name(size_t act)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (methods[i].act == act)
            return methods[i].name;
    }
    return NULL;
}

static void dispatch(struct connection *connection, const struct wire_message *message,
                     const char *id_json)
{
    const struct method *found = find_method(message->method);
    size_t which = found ? found->act : 0;

    if (which == DESK_HUB_HELLO)
        take_hello(connection, message, id_json);
    else if (!connection->visit && which != DESK_HUB_RETIRE) /* that by a newer front */
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST, "say hello first");
    else if (!found || which == DESK_HUB_PROVE)
        refuse(connection, id_json, JSONRPC_METHOD_NOT_FOUND, "no such method");
    else if (which < DESK_HUB_ACTS)
        take_hub(connection, which, message->params, id_json);
    else
        act(connection, found, message, id_json);
}

static void take_message(struct connection *connection, const struct wire_message *message)
{
    char *id_json = message->id ? json_encode(message->id) : NULL;

    if (id_json && strlen(id_json) > METHODS_ID_BYTES)
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST, "the id is too long");
    else if (message->method) /* we send no requests, so a response is nobody's */
        dispatch(connection, message, id_json);
    free(id_json);
}

void methods_take_line(struct connection *connection, const char *line, size_t length)
{
    struct wire_message message;
    int code;

    if (length == 0)
        return;
    if (wire_parse(line, length, &message, &code)) {
        take_message(connection, &message);
        wire_release(&message);
    } else {
        wire_add_unread(&connection->out, line, length, code);
    }
    connection_mark_dirty(connection);
}
