/* phone.c - see phone.h. */
#include "wire/phone.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "wire/dial.h"

static const int64_t retry_steps_ms[] = { 100, 250, 500, 1000, 2000, 3000 };

struct phone_call {
    struct phone_call *next;
    int64_t id;
    const char *method; /* constant */
    char *params;       /* owned */
    phone_done *done;   /* NULL: nobody wants to know */
    void *context;
};

struct phone {
    struct phone_parts parts;
    struct dial *dial;
    size_t busy;
    struct loop_timer *retry;
    size_t tries;
    bool is_stopped; /* a person stopped the hub: it is not started behind their back */
    bool is_retired; /* a newer one takes over */
    struct phone_call *calls;
    int64_t next_id;
};

static void dial(struct phone *phone)
{
    phone->parts.identity.is_retired = phone->is_retired;
    dial_start(phone->dial, &phone->parts.identity,
               phone->is_stopped ? LINK_MUST_RUN : LINK_MAY_START);
}

static void lose(struct phone *phone, const struct error *err)
{
    size_t step =
        phone->tries < ARRAY_LEN(retry_steps_ms) ? phone->tries : ARRAY_LEN(retry_steps_ms) - 1;

    phone->tries++;
    loop_timer_at(phone->retry, loop_boot_ms() + retry_steps_ms[step]);
    phone->parts.lost(phone->parts.context, retry_steps_ms[step], err);
}

static void send_call(struct phone *phone, struct phone_call *call)
{
    struct text line = { 0 };

    call->id = ++phone->next_id;
    jsonrpc_add_request(&line, call->id, call->method, call->params);
    dial_send(phone->dial, &line);
}

static void on_opened(void *context)
{
    struct phone *phone = context;
    struct phone_call *earlier = phone->calls;

    phone->is_stopped = phone->is_retired = false;
    phone->calls = NULL; /* what must be said first goes before them */
    phone->parts.opened(phone->parts.context);
    for (struct phone_call *call = earlier; call; call = call->next)
        send_call(phone, call);
    for (struct phone_call **at = &phone->calls;; at = &(*at)->next) {
        if (!*at) {
            *at = earlier;
            break;
        }
    }
}

static void on_failed(void *context, const struct error *err)
{
    lose(context, err);
}

static void on_closed(void *context)
{
    lose(context, NULL);
}

static struct phone_call *take_call(struct phone *phone, const struct json *id)
{
    int64_t number;

    for (struct phone_call **at = &phone->calls; *at && json_integer_of(id, &number);
         at = &(*at)->next) {
        struct phone_call *call = *at;

        if (call->id == number) {
            *at = call->next;
            return call;
        }
    }
    return NULL;
}

static void free_call(struct phone_call *call)
{
    free(call->params);
    free(call);
}

/* An ask that is not over is waited for, also where the person asks back: no one here explains. */
static bool waits_on(struct phone *phone, struct phone_call *call,
                     const struct wire_message *message, struct error *err)
{
    const char *id = json_member_text(message->result, "session_id");
    enum reply_kind kind;

    if ((strcmp(call->method, "ask/create") != 0 && strcmp(call->method, "ask/wait") != 0) ||
        !wire_read_kind(message->root, &kind, err) || kind == REPLY_FINAL)
        return false;
    free(call->params);
    call->method = "ask/wait";
    call->params = mem_format("{\"session_id\":\"%s\",\"wait_seconds\":-1}", id ? id : "");
    call->next = phone->calls;
    phone->calls = call;
    send_call(phone, call);
    return true;
}

static void take_response(struct phone *phone, const struct wire_message *message)
{
    struct phone_call *call = take_call(phone, message->id);
    struct error err = { 0 };

    if (!call)
        return;
    phone->tries = 0; /* a hub that answers is one */
    if (message->error)
        wire_read_failure(message->error, &err);
    else if (waits_on(phone, call, message, &err))
        return;
    if (call->done && err.code != ERROR_NONE)
        call->done(call->context, &err, json_member(json_member(message->error, "data"), "detail"));
    else if (call->done)
        call->done(call->context, NULL, message->result);
    free_call(call);
}

static void on_line(void *context, const char *line, size_t length)
{
    struct phone *phone = context;
    struct wire_message message;
    const char *why;
    int code;

    if (!wire_parse(line, length, &message, &code))
        return;
    if (!message.method) {
        take_response(phone, &message);
    } else if (strcmp(message.method, "hub/closing") == 0) {
        why = json_member_text(message.params, "why");
        phone->is_stopped = why && strcmp(why, "stop") == 0;
        phone->is_retired = why && strcmp(why, "retire") == 0;
    } else {
        phone->parts.note(phone->parts.context, message.method, message.params);
    }
    wire_release(&message);
}

static const struct dial_ops dial_calls = {
    .opened = on_opened,
    .failed = on_failed,
    .line = on_line,
    .closed = on_closed,
};

static void on_retry(void *context)
{
    struct phone *phone = context;

    if (dial_is_idle(phone->dial))
        dial(phone);
}

struct phone *phone_new(const struct phone_parts *parts)
{
    struct phone *phone = mem_new(sizeof *phone);

    phone->parts = *parts;
    phone->dial = dial_new(parts->loop, &dial_calls, phone, &phone->busy);
    phone->retry = loop_timer_new(parts->loop, on_retry, phone);
    dial(phone);
    return phone;
}

void phone_call(struct phone *phone, const char *method, const char *params_json, phone_done *done,
                void *context)
{
    struct phone_call *call = mem_new(sizeof *call), **at = &phone->calls;

    call->method = method;
    call->params = mem_text(params_json);
    call->done = done;
    call->context = context;
    while (*at)
        at = &(*at)->next;
    *at = call;
    if (dial_is_open(phone->dial))
        send_call(phone, call);
}

void phone_retry(struct phone *phone)
{
    loop_timer_stop(phone->retry);
    on_retry(phone);
}

bool phone_is_busy(const struct phone *phone)
{
    return phone->busy > 0;
}

void phone_give_up(struct phone *phone)
{
    while (phone->calls) {
        struct phone_call *call = phone->calls;

        phone->calls = call->next;
        free_call(call);
    }
    loop_timer_stop(phone->retry);
    dial_free(phone->dial);
    phone->dial = NULL;
}

void phone_free(struct phone *phone)
{
    if (!phone)
        return;
    if (phone->dial)
        phone_give_up(phone);
    loop_timer_free(phone->retry);
    free(phone);
}
