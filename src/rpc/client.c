#include "rpc/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/limits.h"

enum {
    STEPS = 16, /* of one call; then the owner of the loop has a turn */
    BUCKETS = 64,
    TAG_BYTES = 24,
    CLOSING_BYTES = 16,
    PATIENCE_MS = 20000, /* for a hub that recovers much on a busy machine */
    MAX_WAIT_MS = 3600000,
};

static const int64_t terminal_retry_ms[] = { 100, 250, 500, 1000, 2000, 3000, 0 };

const struct client_policy client_for_command = {
    .finder = { .may_start = true, .ends_older = true, .patience_ms = PATIENCE_MS },
    .resend = RESEND_SAFE,
    .max_losses = 10,
};
const struct client_policy client_for_look = {
    .finder = { .patience_ms = PATIENCE_MS },
    .max_losses = 10,
};
const struct client_policy client_for_end = {
    .finder = { .ends_older = true, .patience_ms = PATIENCE_MS },
    .max_losses = 10,
};
const struct client_policy client_for_ask = {
    .finder = { .may_start = true, .ends_older = true, .patience_ms = PATIENCE_MS },
    .resend = RESEND_ALL,
};
const struct client_policy client_for_terminal = {
    .finder = { .may_start = true, .ends_older = true, .patience_ms = PATIENCE_MS },
    .resend = RESEND_ALL,
    .retry_ms = terminal_retry_ms,
};
const struct client_policy client_for_mcp = {
    .finder = { .may_start = true, .ends_older = true, .patience_ms = PATIENCE_MS },
    .resend = RESEND_ALL,
    .grace_ms = 10000,
};

struct client_call {
    struct client_call *next, *previous; /* in the order they were made */
    struct client_call *next_id, *next_tag;
    int64_t id; /* of the request; 0: it is not sent */
    int64_t made_ms, wait_ms;
    enum method method;
    char tag[TAG_BYTES];                 /* "": none */
    char session_id[LIMIT_ID_CHARS + 1]; /* once the hub has named its ask */
    bool was_sent;                       /* to one hub at least */
    bool is_abandoned, is_doomed;
    client_done *done;
    void *context;
    size_t length;
    char params_json[];
};
struct client {
    struct finder finder;
    struct finder_policy finder_policy; /* as it is at the moment */
    const struct client_identity *who;
    const struct client_policy *policy;
    const struct client_ops *ops;
    void *context;
    int64_t (*now_ms)(void);
    struct client_call *first, *last, *unsent;
    struct client_call *by_id[BUCKETS], *by_tag[BUCKETS];
    int64_t last_id;
    int64_t retry_at_ms;
    size_t tries; /* without a reply */
    int losses;
    bool is_up, wants_hub, is_stopped;
    char closing[CLOSING_BYTES];
    struct client_reply failure;
};

static const struct client_ops no_ops;

struct client *client_new(const struct client_identity *who, const struct client_policy *policy,
                          const struct client_ops *ops, void *context, int64_t (*now_ms)(void))
{
    struct client *client = mem_new(sizeof *client);

    if (!client)
        return NULL;
    finder_init(&client->finder);
    client->who = who;
    client->policy = policy;
    client->ops = ops ? ops : &no_ops;
    client->context = context;
    client->now_ms = now_ms;
    return client;
}

static struct client_call **id_bucket(struct client *client, int64_t id)
{
    return &client->by_id[(uint64_t)id % BUCKETS];
}

static struct client_call **tag_bucket(struct client *client, const char *tag)
{
    return &client->by_tag[text_hash(tag) % BUCKETS];
}

static void set_id(struct client *client, struct client_call *call, int64_t id)
{
    if (call->id) {
        struct client_call **at = id_bucket(client, call->id);

        while (*at != call)
            at = &(*at)->next_id;
        *at = call->next_id;
    }
    call->id = id;
    if (id) {
        call->next_id = *id_bucket(client, id);
        *id_bucket(client, id) = call;
    }
}

struct client_call *client_call(struct client *client, const struct request *request,
                                client_done *done, void *context)
{
    size_t length = request->text->used;
    struct client_call *call = mem_new(sizeof *call + length + 1);

    if (!call)
        return NULL;
    call->method = request->method;
    call->wait_ms = methods[call->method].flags & METHOD_WAITS ? request->wait_ms : -1;
    call->made_ms = client->now_ms();
    call->done = done;
    call->context = context;
    call->length = length;
    memcpy(call->params_json, text_string(request->text), length);
    if (request->tag && !request->is_bound)
        text_put(call->tag, sizeof call->tag, request->tag);
    if (call->tag[0]) {
        call->next_tag = *tag_bucket(client, call->tag);
        *tag_bucket(client, call->tag) = call;
    }
    call->previous = client->last;
    *(call->previous ? &call->previous->next : &client->first) = call;
    client->last = call;
    if (!client->unsent)
        client->unsent = call;
    return call;
}

/* No longer one of the client's. */
static void take(struct client *client, struct client_call *call)
{
    set_id(client, call, 0);
    if (call->tag[0]) {
        struct client_call **at = tag_bucket(client, call->tag);

        while (*at != call)
            at = &(*at)->next_tag;
        *at = call->next_tag;
    }
    if (client->unsent == call)
        client->unsent = call->next;
    *(call->previous ? &call->previous->next : &client->first) = call->next;
    *(call->next ? &call->next->previous : &client->last) = call->previous;
}

static void finish(struct client *client, struct client_call *call,
                   const struct client_reply *reply)
{
    take(client, call);
    if (call->done)
        call->done(call->context, reply);
    free(call);
}

void client_abandon(struct client_call *call)
{
    call->is_abandoned = true;
}

bool client_is_sent(const struct client_call *call)
{
    return call->id != 0;
}

void client_forget(struct client *client, struct client_call *take_call)
{
    take(client, take_call);
    free(take_call);
}

/* Fails the doomed calls; a call made in the meantime is not one of them. */
static void fail_doomed(struct client *client, enum finder_failure failure, const struct error *err)
{
    struct client_reply reply = { .failure = failure, .err = *err };
    struct client_call *call = client->first;

    client->failure = reply;
    while (call) {
        if (call->is_doomed) {
            finish(client, call, &reply);
            call = client->first; /* the list may be another one now */
        } else {
            call = call->next;
        }
    }
}

static void fail_all(struct client *client, enum finder_failure failure, const struct error *err)
{
    for (struct client_call *call = client->first; call; call = call->next)
        call->is_doomed = true;
    fail_doomed(client, failure, err);
}

static void add_member(struct json_writer *writer, const char *key, const struct json *member)
{
    struct text room = { 0 };

    json_add(&room, member);
    json_write_raw(writer, key, text_string(&room));
    writer->out->has_overflowed |= room.has_overflowed; /* half of it is not to be sent */
    text_release(&room);
}

/* The same call to another hub, or late: by the ask's id where we know it, with what its client can
 * show, else as it was made; with what is left of its wait. False: out of memory. */
static bool write_again(const struct client_call *call, int64_t now_ms, struct text *out)
{
    int64_t left_ms = call->made_ms + call->wait_ms - now_ms;
    struct json_writer writer = json_writer_to(out);
    struct json *params = NULL;

    if (!json_parse(call->params_json, call->length, &params, NULL))
        return false;
    json_write_object(&writer, NULL);
    if (call->session_id[0])
        json_write_text(&writer, "session_id", call->session_id);
    for (void *at = json_first(params); at; at = json_next(params, at)) {
        const char *key = json_key(at);

        if (strcmp(key, "wait_seconds") != 0 &&
            (!call->session_id[0] || strcmp(key, "client") == 0 || strcmp(key, "comes_back") == 0))
            add_member(&writer, key, json_value(at));
    }
    json_write_integer(&writer, "wait_seconds",
                       call->wait_ms < 0 ? -1
                       : left_ms > 0     ? (left_ms + 999) / 1000
                                         : 0);
    json_write_end_object(&writer);
    json_free(params);
    return !out->has_overflowed;
}

/* One line under a new id: a late reply to an older id finds no call. */
static void add_line(struct client *client, struct client_call *call, const char *params_json)
{
    struct text *out = &client->finder.out;
    size_t before = out->used;
    struct client_reply refusal = { .failure = FAILURE_TOO_LONG };

    set_id(client, call, ++client->last_id);
    jsonrpc_add_request(out, call->id,
                        methods[call->session_id[0] ? METHOD_ask_wait : call->method].name,
                        params_json);
    call->was_sent = true;
    if (!out->has_overflowed && out->used - before - 1 <= LIMIT_RPC_LINE_BYTES)
        return;
    out->used = before;
    if (out->has_overflowed) {
        finder_fail(&client->finder, FAILURE_NO_MEMORY, "out of memory");
        return;
    }
    error_set(&refusal.err, ERROR_too_long, "", "the call is too long: shorten its texts");
    finish(client, call, &refusal);
}

static void send(struct client *client, struct client_call *call, int64_t now_ms)
{
    bool is_late = call->wait_ms >= 0 && (call->was_sent || now_ms - call->made_ms >= 1000);
    struct text params = { 0 };

    if (!is_late && !call->session_id[0])
        add_line(client, call, call->params_json);
    else if (write_again(call, now_ms, &params))
        add_line(client, call, text_string(&params));
    else
        finder_fail(&client->finder, FAILURE_NO_MEMORY, "out of memory");
    text_release(&params);
}

static bool is_overdue(const struct client *client, const struct client_call *call, int64_t now_ms)
{
    return client->policy->grace_ms && call->wait_ms >= 0 &&
           now_ms - call->made_ms - call->wait_ms >= client->policy->grace_ms;
}

static void end_overdue(struct client *client, struct client_call *call)
{
    struct client_reply overdue = { .failure = FAILURE_AGAIN };

    error_set(&overdue.err, ERROR_unavailable, "",
              "the hub keeps stopping; try again later (see 'sayso status')");
    finish(client, call, &overdue);
}

static void send_all(struct client *client)
{
    int64_t now_ms = client->now_ms();

    while (client->unsent && client->finder.phase == FINDER_UP) {
        struct client_call *call = client->unsent;

        client->unsent = call->next;
        if (is_overdue(client, call, now_ms))
            end_overdue(client, call);
        else
            send(client, call, now_ms);
    }
}

static void name_ask(struct client *client, const char *tag, const char *id)
{
    if (!*tag || strlen(tag) >= TAG_BYTES || strlen(id) != LIMIT_ID_CHARS)
        return;
    for (struct client_call *call = *tag_bucket(client, tag); call; call = call->next_tag) {
        if (strcmp(call->tag, tag) == 0) {
            memcpy(call->session_id, id, LIMIT_ID_CHARS + 1);
            client->losses = 0;
        }
    }
}

static void take_note(struct client *client, const struct rpc_message *note, const char *line,
                      size_t length)
{
    const char *tag = json_member_text(note->params, "tag");
    const char *id = json_member_text(note->params, "session_id");
    const char *why = json_member_text(note->params, "why");

    if (strcmp(note->method, "hub/closing") == 0) {
        /* one of another machine comes back, or another one takes its place */
        if (why && strcmp(why, "stop") == 0 && finder_is_remote())
            why = "idle";
        snprintf(client->closing, sizeof client->closing, "%s", why ? why : "stop");
    }
    if (tag && id)
        name_ask(client, tag, id);
    if (client->ops->event)
        client->ops->event(client->context, note, line, length);
}

static void take_response(struct client *client, const struct rpc_message *message)
{
    struct client_reply reply = { .message = message };
    struct client_call *call = NULL;
    int64_t id;

    if (json_integer_of(message->id, &id))
        call = *id_bucket(client, id);
    while (call && call->id != id)
        call = call->next_id;
    if (!call)
        return;
    client->losses = 0;
    client->tries = 0;
    reply.json = message->error ? json_member(json_member(message->error, "data"), "detail")
                                : message->result;
    if (message->error)
        rpc_read_failure(message->error, &reply.err);
    else if (methods[call->method].flags & METHOD_WAITS)
        rpc_read_kind(message->root, &reply.kind, &reply.err);
    if (call->session_id[0] && call->method == METHOD_ask_create && !call->is_abandoned &&
        reply.err.code == ERROR_not_found) { /* it died before it was on disk: ask again */
        call->session_id[0] = '\0';
        send(client, call, client->now_ms());
        return;
    }
    finish(client, call, &reply);
}

/* What a hub says, a line at a time. */
static void hear(struct client *client, const char *line, size_t length)
{
    struct rpc_message message;
    struct error err;

    if (!rpc_hear(line, length, &message, &err))
        finder_fail(&client->finder,
                    error_is_no_memory(&err) ? FAILURE_NO_MEMORY : FAILURE_NOT_A_HUB, err.message);
    else if (message.method)
        take_note(client, &message, line, length);
    else
        take_response(client, &message);
    rpc_release(&message);
}

/* A hub that makes room answers what it took before it closes, so what is left was not taken; and
 * looking twice does no harm. */
static bool is_made_again(const struct client *client, const struct client_call *call)
{
    if (call->is_abandoned)
        return false;
    if (!call->was_sent || client->policy->retry_ms)
        return true;
    if (client->policy->resend == RESEND_SAFE)
        return methods[call->method].flags & METHOD_REPEATABLE ||
               strcmp(client->closing, "retire") == 0 || strcmp(client->closing, "idle") == 0;
    return strcmp(client->closing, "stop") != 0;
}

static void tell_lost(struct client *client, int64_t retry_ms, const struct error *err)
{
    if (client->ops->lost)
        client->ops->lost(client->context, retry_ms, err);
}

static void retry_later(struct client *client, const struct error *err)
{
    const int64_t *step = client->policy->retry_ms;

    for (size_t i = 0; i < client->tries && step[1]; i++)
        step++;
    client->tries++;
    client->retry_at_ms = client->now_ms() + *step;
    tell_lost(client, *step, err);
}

/* The connection ended, and with it what can't be made again. */
static void lose(struct client *client)
{
    bool was_stopped = strcmp(client->closing, "stop") == 0;
    bool is_too_often = client->policy->max_losses && ++client->losses > client->policy->max_losses;
    enum finder_failure failure = is_too_often ? FAILURE_AGAIN : FAILURE_LOST;
    struct error err;

    finder_drop(&client->finder);
    client->finder.is_retired = strcmp(client->closing, "retire") == 0;
    client->is_up = false;
    client->unsent = client->first;
    for (struct client_call *call = client->first; call; call = call->next) {
        set_id(client, call, 0);
        call->is_doomed = is_too_often || !is_made_again(client, call);
    }
    error_say_base(&err, ERROR_unavailable, "", BASE_REASON_LOST, NULL);
    if (was_stopped && client->policy->resend == RESEND_ALL && !client->policy->retry_ms) {
        failure = FAILURE_STOPPED;
        error_set(&err, ERROR_unavailable, "",
                  "the hub was stopped; the ask is still pending: call again to continue");
    }
    if (client->policy->retry_ms) {
        client->is_stopped = was_stopped;
        retry_later(client, NULL);
    } else if (failure != FAILURE_LOST) {
        client->failure = (struct client_reply){ .failure = failure, .err = err };
        client->losses = 0;
        tell_lost(client, -1, &err);
    }
    fail_doomed(client, failure, &err);
}

static void give_up(struct client *client)
{
    struct client_reply failure = { .failure = client->finder.failure, .err = client->finder.err };

    finder_drop(&client->finder);
    client->failure = failure;
    client->is_up = client->wants_hub = false;
    client->unsent = client->first;
    for (struct client_call *call = client->first; call; call = call->next)
        set_id(client, call, 0);
    if (client->policy->retry_ms) {
        retry_later(client, &failure.err);
        return;
    }
    client->losses = 0;
    tell_lost(client, -1, &failure.err);
    fail_all(client, failure.failure, &failure.err);
}

/* What must be said first goes before the calls there are. */
static void welcome(struct client *client)
{
    struct client_call *earlier = client->first, *last = client->last;

    client->is_up = true;
    client->wants_hub = client->is_stopped = false;
    client->failure = (struct client_reply){ 0 };
    client->closing[0] = '\0';
    client->first = client->last = client->unsent = NULL;
    if (client->ops->opened)
        client->ops->opened(client->context);
    if (earlier) {
        earlier->previous = client->last;
        *(client->last ? &client->last->next : &client->first) = earlier;
        client->last = last;
    }
    client->unsent = client->first;
}

static void talk(struct client *client)
{
    const char *line;
    size_t length;

    if (!client->is_up)
        welcome(client);
    while (client->finder.phase == FINDER_UP && (line = finder_line(&client->finder, &length)))
        hear(client, line, length);
    if (client->finder.phase == FINDER_UP && client->finder.is_ended)
        lose(client);
    if (client->finder.phase == FINDER_UP)
        send_all(client);
    if (client->finder.phase == FINDER_UP)
        finder_flush(&client->finder);
}

static bool is_wanted(const struct client *client)
{
    return client->policy->retry_ms || client->wants_hub || client->first;
}

void client_advance(struct client *client)
{
    enum finder_phase before;
    int steps = 0;

    do {
        before = client->finder.phase;
        if (before == FINDER_IDLE) {
            if (!is_wanted(client) || client->now_ms() < client->retry_at_ms)
                return;
            client->finder_policy = client->policy->finder;
            client->finder_policy.may_start &= !client->is_stopped;
            finder_begin(&client->finder, client->who, &client->finder_policy);
        }
        if (finder_advance(&client->finder, client->now_ms()) == FINDER_UP)
            talk(client);
        if (client->finder.phase == FINDER_FAILED)
            give_up(client);
    } while (client->finder.phase != before && ++steps < STEPS);
}

int client_wait_for(const struct client *client, struct pollfd *ret_poll)
{
    const struct finder *finder = &client->finder;
    int64_t wake_ms = finder->wake_ms, left_ms;

    *ret_poll = (struct pollfd){ .fd = finder->fd, .events = finder->fd < 0 ? 0 : POLLIN };
    if (finder->out.used && finder->phase != FINDER_STARTING)
        ret_poll->events |= POLLOUT;
    if (finder->phase == FINDER_UP && client->unsent)
        return 0;
    if (finder->phase == FINDER_IDLE)
        wake_ms = is_wanted(client) ? client->retry_at_ms : -1;
    if (wake_ms < 0)
        return -1;
    left_ms = wake_ms - client->now_ms();
    return left_ms < 0 ? 0 : left_ms > MAX_WAIT_MS ? MAX_WAIT_MS : (int)left_ms;
}

void client_open(struct client *client)
{
    client->wants_hub = !client->is_up;
    client->failure = (struct client_reply){ 0 };
}

void client_retry(struct client *client)
{
    client->retry_at_ms = 0;
}

bool client_is_up(const struct client *client)
{
    return client->is_up;
}

bool client_is_idle(const struct client *client)
{
    return client->finder.phase == FINDER_IDLE && !is_wanted(client);
}

const struct client_reply *client_failure(const struct client *client)
{
    return &client->failure;
}

void client_flush(struct client *client)
{
    if (!client->is_up || client->finder.phase != FINDER_UP)
        return;
    send_all(client);
    if (client->finder.phase == FINDER_UP)
        finder_flush(&client->finder);
}

void client_leave(struct client *client)
{
    struct error err;

    client_flush(client);
    client->ops = &no_ops;
    error_set(&err, ERROR_unavailable, "", "the connection was closed");
    fail_all(client, FAILURE_LOST, &err);
}

void client_on_closing(struct client *client, void (*closing)(void *context), void *context)
{
    client->finder.closing = closing;
    client->finder.context = context;
}

void client_free(struct client *client)
{
    if (!client)
        return;
    while (client->first)
        client_forget(client, client->first);
    if (client->is_up)
        finder_flush(&client->finder); /* what was said last */
    finder_release(&client->finder);
    free(client);
}
