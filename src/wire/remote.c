/* remote.c - see remote.h. */
#include "wire/remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "ports/desk.h"
#include "wire/dial.h"
#include "wire/far_hub.h"
#include "wire/remote_call.h"

/* A call whose wait was over so long ago is given up: its hub dies again and again. */
static const int64_t REMOTE_GRACE_MS = 10000;

struct remote_desk {
    struct desk desk; /* first */
    struct loop *loop;
    struct remote_visit *unsent; /* visits with something to send at the end of the turn */
    char *socket_path;           /* NULL: the user's own hub */
    size_t busy;                 /* threads that look for the hub */
    bool (*refuses)(void *context, struct error *err);
    void *context;
};

struct remote_visit {
    struct remote_desk *desk;
    struct dial *dial;
    bool is_stopped;                            /* the hub said that a person stopped it */
    bool is_retired;                            /* or that a newer one takes over */
    bool was_reached;                           /* there was a connection */
    char *name, *version, *as_name, *directory; /* owned */
    char *transport;                            /* owned */
    bool is_sub_agent;
    void *context;
    void (*event)(void *context, const char *line, size_t length);
    void (*message)(void *context, const char *method, const struct json *params);
    struct remote_calls calls;
    struct text out; /* what this turn gave to say */
    bool is_unsent;
    struct remote_visit *next_unsent;
};

static void connect_visit(struct remote_visit *visit);

/* It is no longer among those under way. */
static void fail_call(struct remote_visit *visit, struct remote_call *call, const struct error *err)
{
    struct desk_reply reply = { .err = *err };

    remote_calls_take(&visit->calls, call);
    call->done(call->context, &reply);
    remote_call_free(call);
}

static void fail_calls(struct remote_visit *visit, const struct error *err)
{
    while (visit->calls.first)
        fail_call(visit, visit->calls.first, err);
}

static void mark_unsent(struct remote_visit *visit)
{
    if (visit->is_unsent)
        return;
    visit->is_unsent = true;
    visit->next_unsent = visit->desk->unsent;
    visit->desk->unsent = visit;
}

static void unmark_unsent(struct remote_visit *visit)
{
    struct remote_visit **at = &visit->desk->unsent;

    if (!visit->is_unsent)
        return;
    while (*at != visit)
        at = &(*at)->next_unsent;
    *at = visit->next_unsent;
    visit->is_unsent = false;
}

/* What a turn gave to say goes out in one write. */
static void flush(struct remote_visit *visit)
{
    if (visit->out.used && dial_is_open(visit->dial))
        dial_send(visit->dial, &visit->out);
}

static void free_visit(struct remote_visit *visit)
{
    remote_calls_release(&visit->calls);
    flush(visit); /* last words */
    unmark_unsent(visit);
    dial_free(visit->dial);
    text_release(&visit->out);
    free(visit->name);
    free(visit->version);
    free(visit->as_name);
    free(visit->directory);
    free(visit->transport);
    free(visit);
}

static void refuse_long(struct remote_visit *visit, struct remote_call *call)
{
    struct error err;

    error_set(&err, ERROR_too_long, "", "the call is too long: shorten its texts");
    fail_call(visit, call, &err);
}

static void send_again(struct remote_visit *visit, struct remote_call *call)
{
    if (remote_call_send_again(&visit->calls, call, &visit->out))
        mark_unsent(visit);
    else
        refuse_long(visit, call);
}

static void take_response(struct remote_visit *visit, const struct wire_message *message)
{
    int64_t id = 0;
    struct remote_call *call =
        json_integer_of(message->id, &id) ? remote_calls_find(&visit->calls, id) : NULL;
    struct desk_reply reply = { 0 };
    char *json;

    if (!call)
        return;
    if (message->error)
        wire_read_failure(message->error, &reply.err);
    if (call->method == METHOD_ask_create && call->session_id[0] &&
        reply.err.code == ERROR_not_found) { /* it died before it was on disk: ask again */
        call->session_id[0] = '\0';
        send_again(visit, call);
        return;
    }
    if (methods[call->method].flags & METHOD_WAITS && !message->error)
        wire_read_kind(message->root, &reply.kind, &reply.err);
    json = message->result && reply.err.code == ERROR_NONE
               ? mem_text_n(message->result_json.bytes, message->result_json.length)
               : NULL;
    reply.json = json;
    reply.session_id = json_member_text(message->result, "session_id");
    remote_calls_take(&visit->calls, call);
    call->done(call->context, &reply);
    remote_call_free(call);
    free(json);
}

static void take_note(struct remote_visit *visit, const struct wire_message *message,
                      const char *line, size_t length)
{
    const char *tag = json_member_text(message->params, "tag");
    const char *id = json_member_text(message->params, "session_id");
    const char *why = json_member_text(message->params, "why");

    if (strcmp(message->method, "hub/closing") == 0) {
        /* one of another machine comes back, or another one takes its place */
        visit->is_stopped = why && strcmp(why, "stop") == 0 && !far_hub_is_chosen();
        visit->is_retired = why && strcmp(why, "retire") == 0;
    }
    if (tag && id)
        remote_calls_name(&visit->calls, tag, id);
    if (visit->message)
        visit->message(visit->context, message->method, message->params);
    else if (visit->event)
        visit->event(visit->context, line, length);
}

static void on_line(void *context, const char *line, size_t length)
{
    struct remote_visit *visit = context;
    struct wire_message message;
    int code;

    if (!wire_parse(line, length, &message, &code))
        return;
    if (message.method)
        take_note(visit, &message, line, length);
    else
        take_response(visit, &message);
    wire_release(&message);
}

static void on_closed(void *context)
{
    struct remote_visit *visit = context;
    struct error err;

    text_release(&visit->out);
    if (visit->is_stopped) {
        visit->is_stopped = false;
        error_set(&err, ERROR_unavailable, "",
                  "the hub was stopped by the person; the ask stays open: call again to go on");
        fail_calls(visit, &err);
    } else if (visit->calls.first) {
        connect_visit(visit);
    }
}

/* In the order they were made, so that a wait is taken up before it is ended. */
static void send_all(struct remote_visit *visit)
{
    struct remote_call *next;
    struct error err;

    error_set(&err, ERROR_unavailable, "",
              "the hub ends again and again; call again later, sayso status tells more");
    for (struct remote_call *call = visit->calls.first; call; call = next) {
        next = call->next;
        if (call->until_boot_ms < 0 || loop_boot_ms() - call->until_boot_ms < REMOTE_GRACE_MS)
            send_again(visit, call);
        else
            fail_call(visit, call, &err);
    }
}

static void on_opened(void *context)
{
    struct remote_visit *visit = context;

    visit->is_retired = false; /* that was the one before */
    visit->was_reached = true;
    send_all(visit);
}

static void on_failed(void *context, const struct error *err)
{
    struct remote_visit *visit = context;

    visit->was_reached = false; /* who calls next need not wait for it again */
    fail_calls(visit, err);
}

static const struct dial_ops dial_calls = {
    .opened = on_opened,
    .failed = on_failed,
    .line = on_line,
    .closed = on_closed,
};

static void connect_visit(struct remote_visit *visit)
{
    const struct link_identity identity = {
        .role = "agent",
        .name = visit->name,
        .client_version = visit->version,
        .as_name = visit->as_name,
        .directory = visit->directory,
        .transport = visit->transport,
        .is_sub_agent = visit->is_sub_agent,
        .socket_path = visit->desk->socket_path,
        .is_retired = visit->is_retired,
        .was_reached = visit->was_reached,
    };

    dial_start(visit->dial, &identity, LINK_MAY_START);
}

static struct desk_visit *remote_open(struct desk *desk, const struct desk_visitor *visitor)
{
    struct remote_visit *visit = mem_new(sizeof *visit);

    visit->desk = (struct remote_desk *)desk;
    visit->name = mem_text(visitor->name);
    visit->version = mem_text(visitor->version);
    visit->as_name = mem_text(visitor->as_name);
    visit->directory = mem_text(visitor->directory);
    visit->transport = mem_text(visitor->transport);
    visit->is_sub_agent = visitor->is_sub_agent;
    remote_calls_init(&visit->calls);
    visit->context = visitor->context;
    visit->event = visitor->event;
    visit->dial = dial_new(visit->desk->loop, &dial_calls, visit, &visit->desk->busy);
    visit->message = visitor->message;
    return (struct desk_visit *)visit;
}

static void remote_close(struct desk *desk, struct desk_visit *leaving)
{
    (void)desk;
    free_visit((struct remote_visit *)leaving);
}

static void remote_call(struct desk *desk, struct desk_visit *acting, const struct request *request,
                        desk_done *done, void *context)
{
    struct remote_visit *visit = (struct remote_visit *)acting;
    struct remote_call *call = remote_calls_add(&visit->calls, request, done, context);
    const struct remote_desk *own = (struct remote_desk *)desk;
    struct error err;

    if (request->method == METHOD_ask_create && own->refuses(own->context, &err)) {
        fail_call(visit, call, &err);
        return;
    }
    if (dial_is_idle(visit->dial))
        connect_visit(visit);
    if (!dial_is_open(visit->dial))
        return;
    if (remote_call_send(&visit->calls, call, &visit->out))
        mark_unsent(visit);
    else
        refuse_long(visit, call);
}

/* The hub reads what is passed on, so there is nothing to act by here. */
static const struct desk_ops remote_ops = {
    .open = remote_open,
    .close = remote_close,
    .call = remote_call,
};

struct desk *remote_desk_new(struct loop *loop, const char *socket_path,
                             bool (*refuses)(void *context, struct error *err), void *context)
{
    struct remote_desk *desk = mem_new(sizeof *desk);

    desk->desk.ops = &remote_ops;
    desk->loop = loop;
    desk->socket_path = mem_text(socket_path);
    desk->refuses = refuses;
    desk->context = context;
    return &desk->desk;
}

void remote_desk_flush(struct desk *desk)
{
    struct remote_desk *own = (struct remote_desk *)desk;

    while (own->unsent) {
        struct remote_visit *visit = own->unsent;

        unmark_unsent(visit);
        flush(visit);
    }
}

bool remote_desk_is_busy(const struct desk *desk)
{
    return ((const struct remote_desk *)desk)->busy > 0;
}

void remote_desk_free(struct desk *desk)
{
    if (!desk)
        return;
    free(((struct remote_desk *)desk)->socket_path);
    free(desk);
}
