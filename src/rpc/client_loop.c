/*
 * client_loop.c - a client of the hub on a loop, by itself and as a service; see client.h.
 */
#include "rpc/client.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/watch.h"
#include "core/limits.h"
#include "core/visible_text.h"

enum { ENVELOPE_BYTES = 128 }; /* what a line has around the parameters */

struct loop_client {
    struct client *client;
    struct client_identity who; /* its texts are owned */
    struct loop *loop;
    struct loop_timer *timer;
    struct loop_turn *turn;
    struct watch *watch; /* NULL: there is nothing to watch */
    bool is_inside;      /* the client is at work */
    bool is_gone;        /* freed when it is not */
};

/* A directory's name is bytes; what is not text in it is written as escapes. */
static char *directory_text(const char *directory)
{
    struct text shown = { 0 };

    if (!directory)
        return NULL;
    visible_text(directory, strlen(directory), VISIBLE_LINES, &shown);
    return text_take(&shown);
}

static struct client_identity copy_identity(const struct client_identity *who)
{
    return (struct client_identity){
        .role = mem_text(who->role),
        .channel = mem_text(who->channel),
        .name = mem_text(who->name),
        .as_name = mem_text(who->as_name),
        .directory = directory_text(who->directory),
        .client_version = mem_text(who->client_version),
        .transport = mem_text(who->transport),
        .is_sub_agent = who->is_sub_agent,
        .socket_path = mem_text(who->socket_path),
    };
}

static void release_identity(struct client_identity *who)
{
    const char *const texts[] = { who->role,      who->channel,    who->name,
                                  who->as_name,   who->directory,  who->client_version,
                                  who->transport, who->socket_path };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free((void *)(uintptr_t)texts[i]);
}

static void release(struct loop_client *client)
{
    client_free(client->client);
    loop_timer_free(client->timer);
    loop_turn_free(client->turn);
    release_identity(&client->who);
    free(client);
}

static void on_ready(void *context);

/* What is to be waited for now. */
static void settle(struct loop_client *client)
{
    struct pollfd ready;
    int wait_ms = client_wait_for(client->client, &ready);

    if (ready.fd >= 0 && !client->watch)
        client->watch = watch_new(client->loop, ready.fd, on_ready, client);
    if (client->watch)
        watch_for(client->watch, (ready.events & POLLIN ? WATCH_READ : 0) |
                                     (ready.events & POLLOUT ? WATCH_WRITE : 0));
    if (wait_ms < 0)
        loop_timer_stop(client->timer);
    else
        loop_timer_at(client->timer, loop_boot_ms() + wait_ms);
}

static void on_ready(void *context)
{
    struct loop_client *client = context;

    client->is_inside = true;
    client_advance(client->client);
    client->is_inside = false;
    if (client->is_gone)
        release(client);
    else
        settle(client);
}

/* Sends, but runs no callback: what a callback sends would have to wait for the next turn. */
static void on_turn(void *context)
{
    struct loop_client *client = context;

    client_flush(client->client);
    settle(client);
}

static void on_closing(void *context)
{
    struct loop_client *client = context;

    watch_free(client->watch);
    client->watch = NULL;
}

struct loop_client *loop_client_new(struct loop *loop, const struct client_identity *who,
                                    const struct client_policy *policy,
                                    const struct client_ops *ops, void *context)
{
    struct loop_client *client = mem_new(sizeof *client);

    client->who = copy_identity(who);
    client->loop = loop;
    client->client = client_new(&client->who, policy, ops, context, loop_boot_ms);
    client_on_closing(client->client, on_closing, client);
    client->timer = loop_timer_new(loop, on_ready, client);
    client->turn = loop_turn_new(loop, on_turn, client);
    settle(client); /* so that a loop with nothing else to do begins */
    return client;
}

struct client *loop_client_of(struct loop_client *client)
{
    return client->client;
}

void loop_client_free(struct loop_client *client)
{
    if (client && client->is_inside)
        client->is_gone = true;
    else if (client)
        release(client);
}

struct client_service {
    struct service base; /* first */
    struct loop *loop;
    bool (*refuses)(void *context, struct error *err);
    void *context;
};

struct client_session {
    struct client_service *service;
    struct loop_client *client;
    bool is_gone;
    void *context;
    void (*event)(void *context, const char *line, size_t length);
    void (*message)(void *context, const char *method, const struct json *params);
};

struct service_call {
    struct client_session *session;
    reply_done *done;
    void *context;
};

static void on_event(void *context, const struct rpc_message *message, const char *line,
                     size_t length)
{
    struct client_session *session = context;

    if (session->message)
        session->message(session->context, message->method, message->params);
    else if (session->event)
        session->event(session->context, line, length);
}

static const struct client_ops session_ops = { .event = on_event };

static struct session *service_open(struct service *base, const struct identity *identity)
{
    struct client_service *service = (struct client_service *)base;
    struct client_session *session = mem_new(sizeof *session);
    const struct client_identity who = {
        .role = "agent",
        .name = identity->name,
        .client_version = identity->version,
        .as_name = identity->as_name,
        .directory = identity->directory,
        .transport = identity->transport,
        .is_sub_agent = identity->is_sub_agent,
    };

    session->service = service;
    session->context = identity->context;
    session->event = identity->event;
    session->message = identity->message;
    session->client = loop_client_new(service->loop, &who, &client_for_mcp, &session_ops, session);
    return (struct session *)session;
}

static void service_close(struct service *base, struct session *leaving)
{
    struct client_session *session = (struct client_session *)leaving;

    (void)base;
    session->is_gone = true;
    client_leave(loop_client_of(session->client));
    loop_client_free(session->client);
    free(session);
}

static void on_reply(void *context, const struct client_reply *from)
{
    struct service_call call = *(struct service_call *)context;
    const struct json *result =
        from->message && from->err.code == ERROR_NONE ? from->message->result : NULL;
    char *json =
        result ? mem_text_n(from->message->result_json.bytes, from->message->result_json.length)
               : NULL;
    const struct reply reply = { .err = from->err,
                                 .json = json,
                                 .kind = from->kind,
                                 .session_id = json_member_text(result, "session_id") };

    freelist_free(context, sizeof call);
    if (!call.session->is_gone)
        call.done(call.context, &reply);
    free(json);
}

static void service_call(struct service *base, struct session *calling,
                         const struct request *request, reply_done *done, void *context)
{
    const struct client_service *service = (struct client_service *)base;
    struct client_session *session = (struct client_session *)calling;
    struct reply refusal = { 0 };
    struct service_call *call;

    if (request->text->used > LIMIT_RPC_LINE_BYTES - ENVELOPE_BYTES)
        error_set(&refusal.err, ERROR_too_long, "", "the call is too long: shorten its texts");
    if (refusal.err.code != ERROR_NONE || (request->method == METHOD_ask_create &&
                                           service->refuses(service->context, &refusal.err))) {
        done(context, &refusal);
        return;
    }
    call = freelist_new(sizeof *call);
    *call = (struct service_call){ session, done, context };
    client_call(loop_client_of(session->client), request, on_reply, call);
}

static const struct service_ops service_ops = {
    .open = service_open,
    .close = service_close,
    .call = service_call,
};

struct service *client_service_new(struct loop *loop,
                                   bool (*refuses)(void *context, struct error *err), void *context)
{
    struct client_service *service = mem_new(sizeof *service);

    service->base.ops = &service_ops;
    service->loop = loop;
    service->refuses = refuses;
    service->context = context;
    return &service->base;
}

void client_service_free(struct service *base)
{
    free(base);
}
