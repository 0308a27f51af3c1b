/* person.c - see person.h. */
#include "wire/person.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "wire/dial.h"

static const int64_t retry_steps_ms[] = { 100, 250, 500, 1000, 2000, 3000 };

struct person_call {
    struct person_call *next;
    int64_t id;
    const char *method; /* constant */
    char *params;       /* owned */
    person_done *done;  /* NULL: nobody wants to know */
    void *context;
};

struct person {
    struct person_parts parts;
    struct dial *dial;
    size_t busy;
    struct loop_timer *retry;
    size_t tries;
    bool is_stopped; /* a person stopped the hub: it is not started behind their back */
    bool is_retired; /* a newer one takes over */
    struct person_call *calls;
    int64_t next_id;
};

static void dial(struct person *person)
{
    const struct link_identity identity = {
        .role = "person",
        .channel = person->parts.channel,
        .name = "sayso",
        .is_retired = person->is_retired,
    };

    dial_start(person->dial, &identity, person->is_stopped ? LINK_MUST_RUN : LINK_MAY_START);
}

static void lose(struct person *person, const struct error *err)
{
    size_t step =
        person->tries < ARRAY_LEN(retry_steps_ms) ? person->tries : ARRAY_LEN(retry_steps_ms) - 1;

    person->tries++;
    loop_timer_at(person->retry, loop_boot_ms() + retry_steps_ms[step]);
    person->parts.lost(person->parts.context, retry_steps_ms[step], err);
}

static void send_call(struct person *person, struct person_call *call)
{
    struct text line = { 0 };

    call->id = ++person->next_id;
    jsonrpc_add_request(&line, call->id, call->method, call->params);
    dial_send(person->dial, &line);
}

static void on_opened(void *context)
{
    struct person *person = context;
    struct person_call *earlier = person->calls;

    person->is_stopped = person->is_retired = false;
    person->calls = NULL; /* what must be said first goes before them */
    person->parts.opened(person->parts.context);
    for (struct person_call *call = earlier; call; call = call->next)
        send_call(person, call);
    for (struct person_call **at = &person->calls;; at = &(*at)->next) {
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

static struct person_call *take_call(struct person *person, const struct json *id)
{
    int64_t number;

    for (struct person_call **at = &person->calls; *at && json_integer_of(id, &number);
         at = &(*at)->next) {
        struct person_call *call = *at;

        if (call->id == number) {
            *at = call->next;
            return call;
        }
    }
    return NULL;
}

static void free_call(struct person_call *call)
{
    free(call->params);
    free(call);
}

static void take_response(struct person *person, const struct wire_message *message)
{
    struct person_call *call = take_call(person, message->id);
    struct error err = { 0 };

    if (!call)
        return;
    person->tries = 0; /* a hub that answers is one */
    if (message->error)
        wire_read_failure(message->error, &err);
    if (call->done && message->error)
        call->done(call->context, &err, json_member(json_member(message->error, "data"), "detail"));
    else if (call->done)
        call->done(call->context, NULL, message->result);
    free_call(call);
}

static void on_line(void *context, const char *line, size_t length)
{
    struct person *person = context;
    struct wire_message message;
    const char *why;
    int code;

    if (!wire_parse(line, length, &message, &code))
        return;
    if (!message.method) {
        take_response(person, &message);
    } else if (strcmp(message.method, "hub/closing") == 0) {
        why = json_member_text(message.params, "why");
        person->is_stopped = why && strcmp(why, "stop") == 0;
        person->is_retired = why && strcmp(why, "retire") == 0;
    } else {
        person->parts.note(person->parts.context, message.method, message.params);
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
    struct person *person = context;

    if (dial_is_idle(person->dial))
        dial(person);
}

struct person *person_new(const struct person_parts *parts)
{
    struct person *person = mem_new(sizeof *person);

    person->parts = *parts;
    person->dial = dial_new(parts->loop, &dial_calls, person, &person->busy);
    person->retry = loop_timer_new(parts->loop, on_retry, person);
    dial(person);
    return person;
}

void person_call(struct person *person, const char *method, const char *params_json,
                 person_done *done, void *context)
{
    struct person_call *call = mem_new(sizeof *call), **at = &person->calls;

    call->method = method;
    call->params = mem_text(params_json);
    call->done = done;
    call->context = context;
    while (*at)
        at = &(*at)->next;
    *at = call;
    if (dial_is_open(person->dial))
        send_call(person, call);
}

void person_retry(struct person *person)
{
    loop_timer_stop(person->retry);
    on_retry(person);
}

bool person_is_busy(const struct person *person)
{
    return person->busy > 0;
}

void person_give_up(struct person *person)
{
    while (person->calls) {
        struct person_call *call = person->calls;

        person->calls = call->next;
        free_call(call);
    }
    loop_timer_stop(person->retry);
    dial_free(person->dial);
    person->dial = NULL;
}

void person_free(struct person *person)
{
    if (!person)
        return;
    if (person->dial)
        person_give_up(person);
    loop_timer_free(person->retry);
    free(person);
}
