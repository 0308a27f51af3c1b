/* methods.c - the methods of the wire, each a row with its roles and the act of the desk. */
#include "wire/methods.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/spare.h"
#include "wire/connection.h"
#include "wire/visitor.h"
#include "wire/wire.h"

enum { METHODS_ID_BYTES = 256 }; /* kept as long as its call is under way */

static const struct method {
    const char *name;
    unsigned roles;
    size_t act;
} methods[] = {
    { "ask/create", ROLE_AGENT, DESK_ACT(submit) },
    { "ask/wait", ROLE_AGENT, DESK_ACT(wait) },
    { "ask/delivered", ROLE_AGENT, DESK_ACT(delivered) },
    { "ask/withdraw", ROLE_AGENT, DESK_ACT(withdraw) },
    { "ask/detach", ROLE_AGENT, DESK_ACT(detach) },
    { "client/cut_off", ROLE_AGENT, DESK_ACT(cut_off) },
    { "client/result", ROLE_AGENT, DESK_ACT(client_result) },
    { "client/failed", ROLE_AGENT, DESK_ACT(client_failed) },
    { "mine/list", ROLE_AGENT, DESK_ACT(mine_list) },
    { "mine/get", ROLE_AGENT, DESK_ACT(mine_get) },
    { "mine/follow", ROLE_AGENT, DESK_ACT(mine_follow) },
    { "ask/answer", ROLE_PERSON, DESK_ACT(answer) },
    { "ask/cancel", ROLE_PERSON, DESK_ACT(cancel) },
    { "ask/decline", ROLE_PERSON, DESK_ACT(decline) },
    { "ask/extend", ROLE_PERSON, DESK_ACT(extend) },
    { "ask/undo", ROLE_PERSON, DESK_ACT(undo) },
    { "ask/send", ROLE_PERSON, DESK_ACT(send_now) },
    { "ask/draft", ROLE_PERSON, DESK_ACT(draft) },
    { "ask/switch", ROLE_PERSON, DESK_ACT(switch_interface) },
    { "ask/challenge", ROLE_PERSON, DESK_ACT(challenge) },
    { "ask/attach", ROLE_PERSON, DESK_ACT(attach) },
    { "ask/list", ROLE_PERSON, DESK_ACT(list) },
    { "ask/get", ROLE_PERSON, DESK_ACT(get) },
    { "ask/watch", ROLE_PERSON, DESK_ACT(watch) },
    { "ask/history", ROLE_PERSON, DESK_ACT(history) },
    { "ask/statistics", ROLE_PERSON, DESK_ACT(statistics) },
    { "ask/back", ROLE_PERSON, DESK_ACT(ask_back) },
    { "rule/preview", ROLE_PERSON, DESK_ACT(rule_preview) },
    { "rule/add", ROLE_PERSON, DESK_ACT(rule_add) },
    { "rule/list", ROLE_PERSON, DESK_ACT(rule_list) },
    { "rule/remove", ROLE_PERSON, DESK_ACT(rule_remove) },
    { "rule/suggest", ROLE_PERSON, DESK_ACT(rule_suggest) },
    { "ask/later", ROLE_PERSON, DESK_ACT(later) },
    { "ask/hide", ROLE_PERSON, DESK_ACT(hide) },
    { "settings/list", ROLE_PERSON, DESK_ACT(settings_list) },
    { "settings/set", ROLE_PERSON, DESK_ACT(settings_set) },
    { "token/new", ROLE_PERSON, DESK_ACT(token_new) },
    { "token/list", ROLE_PERSON, DESK_ACT(token_list) },
    { "token/revoke", ROLE_PERSON, DESK_ACT(token_revoke) },
    { "portal/link", ROLE_PERSON, DESK_ACT(portal_link) },
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
    if (call->previous)
        call->previous->next = call->next;
    else
        call->connection->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
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
            jsonrpc_add_result(&connection->out, call->id_json, reply->json ? reply->json : "{}");
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
                         struct desk_visitor *visitor, struct os_process *own,
                         struct os_process *parent)
{
    if (!wire_read_visitor(params, visitor))
        return false;
    visitor->uid = connection->uid;
    visitor->pid = connection->pid;
    if (os_process(connection->pid, own)) {
        visitor->start = own->start;
        visitor->parent = own->parent;
        visitor->tty = own->tty;
        if (os_process(own->parent, parent))
            visitor->parent_start = parent->start;
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
    struct os_process own, parent;

    if (connection->visit) {
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST,
               "hello was said already; a connection has one role");
    } else if (!wire_is_ours(message->params)) {
        refuse(connection, id_json, WIRE_NUMBER_REFUSED, "this hub speaks another wire number");
    } else if (!read_visitor(connection, message->params, &visitor, &own, &parent)) {
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

static void take_wish(struct connection *connection, const char *id_json, enum wire_wish wish)
{
    struct wire_host *host = &connection->server->host;

    reply(connection, id_json, "{}");
    host->wish(host->context, wish);
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
    call->next = connection->calls;
    if (call->next)
        call->next->previous = call;
    connection->calls = call;
    connection->call_count++;
    connection->look_count += call->is_look;
    desk_act_at(desk, method->act)(desk, connection->visit, message->params, on_done, call);
}

static const struct method *find_method(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    }
    return NULL;
}

bool wire_find_method(const char *name, unsigned *ret_roles, size_t *ret_act)
{
    const struct method *method = find_method(name);

    if (!method)
        return false;
    *ret_roles = method->roles;
    *ret_act = method->act;
    return true;
}

bool wire_is_look(size_t act)
{
    static const size_t looks[] = { DESK_ACT(list),         DESK_ACT(get),
                                    DESK_ACT(watch),        DESK_ACT(history),
                                    DESK_ACT(statistics),   DESK_ACT(attach),
                                    DESK_ACT(mine_list),    DESK_ACT(mine_get),
                                    DESK_ACT(rule_preview), DESK_ACT(rule_suggest) };

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
    bool is_stop = strcmp(message->method, "hub/stop") == 0;

    if (strcmp(message->method, "hello") == 0)
        take_hello(connection, message, id_json);
    else if (strcmp(message->method, "hub/retire") == 0) /* by a newer front, before hello too */
        take_wish(connection, id_json, WIRE_WISH_RETIRE);
    else if (!connection->visit)
        refuse(connection, id_json, JSONRPC_INVALID_REQUEST, "say hello first");
    else if (strcmp(message->method, "hub/status") == 0)
        take_status(connection, id_json);
    else if (is_stop && connection->role == ROLE_PERSON)
        take_wish(connection, id_json, WIRE_WISH_STOP);
    else if (!found && !is_stop)
        refuse(connection, id_json, JSONRPC_METHOD_NOT_FOUND, "no such method");
    else if (is_stop || !(found->roles & connection->role))
        refuse(connection, id_json, WIRE_NOT_YOURS,
               "agents ask and people answer: this method is not for your role");
    else
        act(connection, found, message, id_json);
}

static void take_message(struct connection *connection, const struct wire_message *message)
{
    char *id_json = message->id ? json_encode(message->id) : NULL;

    if (id_json && strlen(id_json) > METHODS_ID_BYTES)
        wire_add_error(&connection->out, "null", JSONRPC_INVALID_REQUEST, "the id is too long");
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
        wire_add_error(&connection->out, "null", code,
                       code == JSONRPC_PARSE_ERROR ? "not JSON" : "not a JSON-RPC 2.0 message");
    }
    connection_mark_dirty(connection);
}
