/*
 * conversations.c - conversations over HTTP (R3.4, docs/conversations.md): a request becomes one
 * act of the service, and what comes of it the reply. The gate has looked who comes; whose a
 * conversation is, is the service's to say, and one that is not theirs is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "http/rest/call.h"
#include "net/http.h"

/* Opens a session of the host or the person who called; `event` may be NULL. */
static void enter(struct call *call, void (*event)(void *context, const char *line, size_t length))
{
    struct service *service = call->rest->parts.service;
    const struct identity identity = {
        .role = call->is_person ? ROLE_PERSON : ROLE_AGENT,
        .via = "api",
        .uid = -1,
        .tty = "",
        .name = call->label,
        .token = call->label,
        .token_id = call->token_id,
        .is_sub_agent = call->is_sub_agent,
        .may_answer = call->may_answer,
        .context = call,
        .event = event,
        .locate = rest_locate,
    };

    if (!call->session)
        call->session = service->ops->open(service, &identity);
}

/* The beginning of a method's parameters. */
static struct json_writer begin_params(const struct call *call, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    if (call->id[0])
        json_write_text(&writer, "conversation", call->id);
    return writer;
}

static void on_done(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct json *state = NULL;

    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, reply->json);
        return;
    }
    if (json_parse(reply->json, strlen(reply->json), &state, NULL)) {
        reply_etag(call, json_member_integer(state, "version", 0));
        if (json_is_true(json_member(state, "already")))
            http_set_header(call->exchange, "Idempotency-Replayed", "true");
        json_free(state);
    }
    reply_json(call, 200, reply->json, strlen(reply->json));
}

static void bring(struct call *call, struct json_writer *writer, struct text *take_params,
                  reply_done *done)
{
    enter(call, NULL);
    rest_call_method(call, call->operation->calls, writer, take_params, done, call);
}

void serve_conversation_new(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;

    if (!act_read_conditions(call, &version, &key) || !act_read_body(call, &body))
        return;
    writer = begin_params(call, &params);
    json_write_value(&writer, "sub_agent", json_member(body, "sub_agent"));
    json_write_text_if(&writer, "key", key);
    json_free(body);
    bring(call, &writer, &params, on_done);
}

void serve_conversation_list(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    const char *before;
    int64_t limit;

    if (!query_integer(call, PARAMETER_PAGE, 50, &limit))
        return;
    before = http_parameter(call->exchange, "before"); /* good until the next is asked for */
    writer = begin_params(call, &params);
    json_write_integer(&writer, "limit", limit);
    if (before) /* an empty one is refused, not the first page again */
        json_write_text(&writer, "before", before);
    bring(call, &writer, &params, look_listed);
}

void serve_conversation_get(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;

    if (!call_knows_id(call))
        return;
    writer = begin_params(call, &params);
    bring(call, &writer, &params, on_done);
}

void serve_conversation_say(struct call *call)
{
    struct text params = { 0 };
    struct json_writer writer;
    struct json *body;
    const char *key;
    int64_t version;

    if (!call_knows_id(call) || !act_read_conditions(call, &version, &key) ||
        !act_read_body(call, &body))
        return;
    writer = begin_params(call, &params);
    json_write_text(&writer, "event", call->operation->said);
    json_write_integer(&writer, "version", version);
    json_write_value(&writer, "body", body);
    json_free(body);
    bring(call, &writer, &params, on_done);
}

/*
 * What happens in a conversation as server-sent events. Each event has its number as id; a client
 * that comes back with the last one it heard gets exactly what follows. Nothing is kept here:
 * events are read from the service as the peer takes them, so a slow peer holds up no other and
 * costs no more than one piece.
 */

enum { LISTENING_RETRY_MS = 1000, LISTENING_PIECE = 65536, LISTENING_AHEAD = 262144 };

struct listening {
    struct listening *next, *previous; /* of all */
    struct call *call;
    int64_t after;     /* the last event that was read */
    struct text frame; /* events on their way out */
    size_t sent;       /* of it */
    bool has_more;     /* in the store */
    bool is_reading, has_begun, is_over, is_due;
    bool is_going;              /* go_on is on the stack, */
    bool is_gone;               /* and frees it if it ends in the meantime */
    struct listening *next_due; /* of those that flush looks at */
};

void listening_free(struct listening *listening)
{
    if (!listening)
        return;
    if (listening->is_due) {
        struct listening **at = &listening->call->rest->listenings_due;

        while (*at != listening)
            at = &(*at)->next_due;
        *at = listening->next_due;
    }
    LIST_REMOVE(listening->call->rest->listenings, listening);
    text_release(&listening->frame);
    listening->is_gone = true;
    if (!listening->is_going)
        free(listening);
}

static void end(struct listening *listening)
{
    if (listening->is_over)
        return;
    listening->is_over = true;
    http_end(listening->call->exchange);
}

static void begin(struct listening *listening)
{
    struct call *call = listening->call;
    bool is_head = strcmp(http_method(call->exchange), "HEAD") == 0;

    if (listening->has_begun)
        return;
    listening->has_begun = true;
    sse_begin(call->exchange);
    sse_retry(call->exchange, LISTENING_RETRY_MS);
    http_forget_request(call->exchange);
    if (is_head || call->rest->is_draining)
        end(listening);
}

/* Refused before the stream began: a parameter that is wrong, or events that are gone. */
static void refuse(struct listening *listening, const struct reply *reply)
{
    struct call *call = listening->call;

    if (listening->has_begun) {
        end(listening); /* coming back it will be told why */
    } else if (strcmp(reply->err.path, "/after") != 0) {
        reply_error(call, &reply->err, NULL);
    } else if (reply->err.code == ERROR_not_found) {
        reply_gone(call, &reply->err);
    } else {
        reply_bad_parameter(call, reply->err.code, "Last-Event-ID", reply->err.message);
    }
}

static void add_event(struct listening *listening, const struct json *event)
{
    char *data = json_encode(json_member(event, "data"));

    listening->after = json_member_integer(event, "id", 0);
    sse_add_event(&listening->frame, TEXT_NUMBER(listening->after),
                  json_member_text(event, "event"), data, strlen(data));
    free(data);
}

static void mark_due(struct listening *listening)
{
    struct rest *rest = listening->call->rest;

    if (listening->is_due)
        return;
    listening->is_due = true;
    listening->next_due = rest->listenings_due;
    rest->listenings_due = listening;
    loop_timer_at(rest->listening_timer, loop_boot_ms());
}

static void on_events(void *context, const struct reply *reply)
{
    struct listening *listening = context;
    struct json *found = NULL;
    const struct json *events;

    listening->is_reading = false;
    if (reply->err.code != ERROR_NONE) {
        listening->has_more = false;
        refuse(listening, reply);
        return;
    }
    begin(listening);
    if (!json_parse(reply->json, strlen(reply->json), &found, NULL))
        return;
    events = json_member(found, "events");
    for (size_t i = 0; i < json_length(events); i++)
        add_event(listening, json_item(events, i));
    if (json_length(events) > 0 && listening->after < json_member_integer(found, "last_event", 0))
        listening->has_more = true;
    json_free(found);
    if (!listening->is_going) /* go_on has returned: the store was far away */
        mark_due(listening);
}

/* May end the call. */
static void read_more(struct listening *listening)
{
    struct text params = { 0 };
    struct json_writer writer = begin_params(listening->call, &params);

    json_write_integer(&writer, "after", listening->after);
    listening->is_reading = true;
    listening->has_more = false; /* what happens from now on is told of */
    rest_call_method(listening->call, METHOD_conversation_events, &writer, &params, on_events,
                     listening);
}

static void send_piece(struct listening *listening)
{
    size_t length = listening->frame.used - listening->sent;

    if (length > LISTENING_PIECE)
        length = LISTENING_PIECE;
    http_send(listening->call->exchange, listening->frame.bytes + listening->sent, length);
    listening->sent += length;
    if (listening->sent == listening->frame.used) {
        text_release(&listening->frame);
        listening->sent = 0;
    }
}

/* As much as the peer takes; it goes on when there is room again, or more to tell. */
static void go_on(struct listening *listening)
{
    listening->is_going = true;
    while (!listening->is_gone && !listening->is_over &&
           http_unsent(listening->call->exchange) < LISTENING_AHEAD) { /* else HTTP_ROOM */
        if (listening->frame.used)
            send_piece(listening);
        else if (listening->has_more && !listening->is_reading)
            read_more(listening);
        else
            break;
    }
    listening->is_going = false;
    if (listening->is_gone)
        free(listening);
}

void listenings_on_timer(void *context)
{
    (void)context; /* the turn it began is all that was wanted: listenings_flush follows */
}

void listenings_flush(struct rest *rest)
{
    while (rest->listenings_due) {
        struct listening *listening = rest->listenings_due;

        rest->listenings_due = listening->next_due;
        listening->is_due = false;
        go_on(listening);
    }
}

void listenings_drain(struct rest *rest)
{
    for (struct listening *at = rest->listenings; at; at = at->next) {
        if (at->has_begun)
            end(at);
    }
}

void listening_go_on(struct call *call)
{
    if (call->listening && (call->listening->frame.used || call->listening->has_more))
        mark_due(call->listening);
}

static void on_changed(void *context, const char *line, size_t length)
{
    struct call *call = context;

    (void)line;
    (void)length; /* it follows one conversation alone */
    call->listening->has_more = true;
    mark_due(call->listening);
}

static bool read_after(struct call *call, int64_t *ret_after)
{
    const char *heard = http_header(call->exchange, "last-event-id");

    if (!heard)
        return query_integer(call, PARAMETER_AFTER, 0, ret_after);
    if (text_parse_integer(heard, ret_after) && *ret_after >= 0)
        return true;
    reply_bad_parameter(call, ERROR_bad_format, "Last-Event-ID",
                        "Last-Event-ID is the id of an event of this conversation, or 0");
    return false;
}

static void on_following(void *context, const struct reply *reply)
{
    struct call *call = context;
    struct listening *listening = call->listening;

    if (reply->err.code != ERROR_NONE) {
        reply_error(call, &reply->err, NULL);
        return;
    }
    listening->has_more = true;
    http_want_room(call->exchange);
    mark_due(listening);
}

void serve_conversation_events(struct call *call)
{
    struct listening *listening;
    struct text params = { 0 };
    struct json_writer writer;
    int64_t after;

    if (!call_knows_id(call) || !read_after(call, &after))
        return;
    listening = mem_new(sizeof *listening);
    listening->call = call;
    listening->after = after;
    LIST_ADD(call->rest->listenings, listening);
    call->listening = listening;
    enter(call, on_changed);
    /* followed before it is read: what happens in between is told of */
    writer = begin_params(call, &params);
    rest_call_method(call, METHOD_conversation_follow, &writer, &params, on_following, call);
}
