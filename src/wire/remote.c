/* remote.c - see remote.h. */
#include "wire/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"
#include "loop/loop.h"
#include "ports/desk.h"
#include "wire/dial.h"

/* A call whose wait was over so long ago is given up: its hub dies again and again. */
static const int64_t REMOTE_GRACE_MS = 10000;

struct remote_desk {
    struct desk desk; /* first */
    struct loop *loop;
    struct remote_visit *unsent; /* visits with something to send at the end of the turn */
    char *socket_path;           /* NULL: the user's own hub */
    size_t busy;                 /* threads that look for the hub */
};

/* An act on its way; kept whole, so that it can be sent again. */
struct remote_call {
    struct remote_call *next, *previous;
    int64_t id;
    const char *method;
    struct json *params; /* owned */
    const char *tag;     /* of ask/create; NULL otherwise */
    char session_id[27];
    int64_t until_boot_ms; /* the end of its wait; -1: none */
    desk_done *done;
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
    struct remote_call *calls, *last_call; /* in the order they were made */
    int64_t next_id;
    struct text out; /* what this turn gave to say */
    bool is_unsent;
    struct remote_visit *next_unsent;
};

static void connect_visit(struct remote_visit *visit);

static void free_call(struct remote_call *call)
{
    json_free(call->params);
    free(call);
}

static void unlink_call(struct remote_visit *visit, struct remote_call *call)
{
    if (call->previous)
        call->previous->next = call->next;
    else
        visit->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    else
        visit->last_call = call->previous;
}

static struct remote_call *take_first_call(struct remote_visit *visit)
{
    struct remote_call *call = visit->calls;

    visit->calls = call->next;
    if (call->next)
        call->next->previous = NULL;
    else
        visit->last_call = NULL;
    return call;
}

static void drop_calls(struct remote_visit *visit)
{
    while (visit->calls)
        free_call(take_first_call(visit));
}

static void fail_call(struct remote_call *take_call, const struct error *err)
{
    struct desk_reply reply = { .err = *err };

    take_call->done(take_call->context, &reply);
    free_call(take_call);
}

static void fail_calls(struct remote_visit *visit, const struct error *err)
{
    while (visit->calls)
        fail_call(take_first_call(visit), err);
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
    drop_calls(visit);
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

/* What is left of a wait after a hub died in the middle of it. */
static int64_t wait_left_s(const struct remote_call *call)
{
    int64_t left_ms = call->until_boot_ms - loop_boot_ms();

    if (call->until_boot_ms < 0)
        return -1;
    return left_ms > 0 ? (left_ms + 999) / 1000 : 0;
}

static void write_member(struct json_writer *writer, const struct json *params, const char *key)
{
    const struct json *member = json_member(params, key);
    char *json = member ? json_encode(member) : NULL;

    if (json)
        json_write_raw(writer, key, json);
    free(json);
}

/* By the ask's id where we know it, else as it was made; always with what is left of its wait, and
 * with what its client can show. */
static void write_params(const struct remote_call *call, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    if (call->session_id[0]) {
        json_write_text(&writer, "session_id", call->session_id);
        write_member(&writer, call->params, "client");
        json_write_bool_if(&writer, "comes_back",
                           json_is_yes(json_member(call->params, "comes_back")));
    } else {
        for (void *at = json_first(call->params); at; at = json_next(call->params, at)) {
            char *value = json_encode(json_value(at));

            if (strcmp(json_key(at), "wait_seconds") != 0)
                json_write_raw(&writer, json_key(at), value);
            free(value);
        }
    }
    if (call->session_id[0] || json_member(call->params, "wait_seconds"))
        json_write_integer(&writer, "wait_seconds", wait_left_s(call));
    json_write_end_object(&writer);
}

static void send_call(struct remote_visit *visit, struct remote_call *call)
{
    size_t before = visit->out.used;
    struct text params = { 0 };
    struct error err;

    call->id = ++visit->next_id;
    write_params(call, &params);
    jsonrpc_add_request(&visit->out, call->id, call->session_id[0] ? "ask/wait" : call->method,
                        text_string(&params));
    text_release(&params);
    if (visit->out.used - before - 1 > LIMIT_WIRE_LINE_BYTES) {
        visit->out.used = before; /* the hub would skip it, and never answer */
        error_set(&err, ERROR_too_long, "", "the call is too long: shorten its texts");
        unlink_call(visit, call);
        fail_call(call, &err);
        return;
    }
    mark_unsent(visit);
}

static struct remote_call *find_call(const struct remote_visit *visit, const struct json *id)
{
    int64_t number;

    for (struct remote_call *call = visit->calls; call && json_integer_of(id, &number);
         call = call->next) {
        if (call->id == number)
            return call;
    }
    return NULL;
}

static void take_response(struct remote_visit *visit, const struct wire_message *message)
{
    struct remote_call *call = find_call(visit, message->id);
    struct desk_reply reply = { 0 };
    char *json = message->result ? json_encode(message->result) : NULL;
    const char *status = json_member_text(message->result, "action_status");
    const char *action = json_member_text(message->result, "action");

    if (call && message->error && call->session_id[0] && strcmp(call->method, "ask/create") == 0) {
        wire_read_failure(message->error, &reply.err);
        if (reply.err.code == ERROR_not_found) { /* it died before it was on disk: ask again */
            call->session_id[0] = '\0';
            send_call(visit, call);
            return;
        }
    } else if (call && message->error) {
        wire_read_failure(message->error, &reply.err);
    }
    reply.json = json;
    reply.session_id = json_member_text(message->result, "session_id");
    status = status ? status : action;
    reply.is_final = status && strncmp(status, "pending", 7) != 0;
    if (call) {
        unlink_call(visit, call);
        call->done(call->context, &reply);
        free_call(call);
    }
    free(json);
}

static void take_note(struct remote_visit *visit, const struct wire_message *message,
                      const char *line, size_t length)
{
    const char *tag = json_member_text(message->params, "tag");
    const char *id = json_member_text(message->params, "session_id");
    const char *why = json_member_text(message->params, "why");

    if (strcmp(message->method, "hub/closing") == 0) {
        visit->is_stopped = why && strcmp(why, "stop") == 0;
        visit->is_retired = why && strcmp(why, "retire") == 0;
    }
    for (struct remote_call *call = visit->calls; call && tag && id; call = call->next) {
        if (call->tag && strcmp(call->tag, tag) == 0)
            snprintf(call->session_id, sizeof call->session_id, "%s", id);
    }
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
    } else if (visit->calls) {
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
    for (struct remote_call *call = visit->calls; call; call = next) {
        next = call->next;
        if (call->until_boot_ms < 0 || loop_boot_ms() - call->until_boot_ms < REMOTE_GRACE_MS) {
            send_call(visit, call);
        } else {
            unlink_call(visit, call);
            fail_call(call, &err);
        }
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

static struct desk_visit *remote_enter(struct desk *desk, const struct desk_visitor *visitor)
{
    struct remote_visit *visit = mem_new(sizeof *visit);

    visit->desk = (struct remote_desk *)desk;
    visit->name = mem_text(visitor->name);
    visit->version = mem_text(visitor->version);
    visit->as_name = mem_text(visitor->as_name);
    visit->directory = mem_text(visitor->directory);
    visit->transport = mem_text(visitor->transport);
    visit->is_sub_agent = visitor->is_sub_agent;
    visit->context = visitor->context;
    visit->event = visitor->event;
    visit->dial = dial_new(visit->desk->loop, &dial_calls, visit, &visit->desk->busy);
    visit->message = visitor->message;
    return (struct desk_visit *)visit;
}

static void remote_leave(struct desk *desk, struct desk_visit *leaving)
{
    (void)desk;
    free_visit((struct remote_visit *)leaving);
}

static void remote_act(const char *method, struct desk_visit *acting, const struct json *params,
                       desk_done *done, void *context)
{
    struct remote_visit *visit = (struct remote_visit *)acting;
    struct remote_call *call = mem_new(sizeof *call);
    int64_t wait_s = json_member_integer(params, "wait_seconds", -1);

    call->method = method;
    call->params = json_keep(params);
    /* what a client's form brought goes whole to the next hub, never by the ask's id alone */
    call->tag = json_member(params, "state") ? NULL : json_member_text(call->params, "tag");
    call->until_boot_ms = wait_s < 0 ? -1 : loop_boot_ms() + wait_s * 1000;
    call->done = done;
    call->context = context;
    call->previous = visit->last_call;
    if (call->previous)
        call->previous->next = call;
    else
        visit->calls = call;
    visit->last_call = call;
    if (dial_is_open(visit->dial))
        send_call(visit, call);
    else if (dial_is_idle(visit->dial))
        connect_visit(visit);
}

#define REMOTE_ACT(name, method)                                                                   \
    static void remote_##name(struct desk *desk, struct desk_visit *visit,                         \
                              const struct json *params, desk_done *done, void *context)           \
    {                                                                                              \
        (void)desk;                                                                                \
        remote_act(method, visit, params, done, context);                                          \
    }
REMOTE_ACT(submit, "ask/create")
REMOTE_ACT(wait, "ask/wait")
REMOTE_ACT(delivered, "ask/delivered")
REMOTE_ACT(withdraw, "ask/withdraw")
REMOTE_ACT(detach, "ask/detach")
REMOTE_ACT(cut_off, "client/cut_off")
REMOTE_ACT(client_result, "client/result")
REMOTE_ACT(client_failed, "client/failed")
REMOTE_ACT(mine_list, "mine/list")
REMOTE_ACT(mine_get, "mine/get")
REMOTE_ACT(mine_follow, "mine/follow")

/* Only what agents do: a person's process speaks the wire itself. */
static const struct desk_ops remote_ops = {
    .enter = remote_enter,
    .leave = remote_leave,
    .submit = remote_submit,
    .wait = remote_wait,
    .delivered = remote_delivered,
    .withdraw = remote_withdraw,
    .detach = remote_detach,
    .cut_off = remote_cut_off,
    .client_result = remote_client_result,
    .client_failed = remote_client_failed,
    .mine_list = remote_mine_list,
    .mine_get = remote_mine_get,
    .mine_follow = remote_mine_follow,
};

struct desk *remote_desk_new(struct loop *loop, const char *socket_path)
{
    struct remote_desk *desk = mem_new(sizeof *desk);

    desk->desk.ops = &remote_ops;
    desk->loop = loop;
    desk->socket_path = mem_text(socket_path);
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
