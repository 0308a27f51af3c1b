/*
 * stream.c - one POST and what is said about it: a single JSON where the answer is there at once,
 * else events from the first moment on, because clients give up on a silent server (R5.7).
 *
 * A modern client that goes has cancelled. A legacy client may come back with the id of the last
 * event it saw: its stream is kept for a while, with what it missed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fronts/http_mcp/inside.h"
#include "loop/loop.h"
#include "net/http.h"
#include "net/sse.h"

enum {
    STREAM_AWAY_MS = 60000,
    STREAM_RETRY_MS = 1000,
    STREAM_NOTIFICATIONS = 8, /* the newest are kept for who comes back */
    STREAM_EVENT_BYTES = 4194304,
    EVENT_ID_BYTES = 48,
    STATUS_ACCEPTED = 202,
};

static const char json_type[] = "application/json";

/* Only a session knows its streams again. */
static bool keeps_events(const struct stream *stream)
{
    return stream->peer->is_session;
}

static void drop_event(struct stream *stream, struct event **at)
{
    struct event *event = *at;

    *at = event->next;
    stream->event_bytes -= strlen(event->data);
    free(event->data);
    free(event);
}

/* For the event that comes next. Responses and requests are kept; of notifications a few, which
 * newer ones make stale. */
static void make_room(struct stream *stream, const struct mcp_message *message)
{
    size_t notifications = message->kind == MCP_NOTIFICATION;

    for (const struct event *event = stream->events; event; event = event->next)
        notifications += event->kind == MCP_NOTIFICATION;
    for (struct event **at = &stream->events; *at && notifications > STREAM_NOTIFICATIONS;) {
        if ((*at)->kind != MCP_NOTIFICATION) {
            at = &(*at)->next;
            continue;
        }
        drop_event(stream, at);
        notifications--;
    }
    while (stream->events && stream->event_bytes + message->length - 1 > STREAM_EVENT_BYTES)
        drop_event(stream, &stream->events);
}

static struct event *keep_event(struct stream *stream, const struct mcp_message *message)
{
    struct event **at = &stream->events, *event = mem_new(sizeof *event);

    make_room(stream, message);
    while (*at)
        at = &(*at)->next;
    *at = event;
    event->seq = ++stream->seq;
    event->kind = message->kind;
    event->data = mem_text_n(message->line, message->length - 1);
    stream->event_bytes += message->length - 1;
    return event;
}

static void send_event(struct stream *stream, int64_t seq, const char *event, const char *data,
                       size_t length)
{
    char id[EVENT_ID_BYTES];

    snprintf(id, sizeof id, "%lld-%lld", (long long)stream->number, (long long)seq);
    sse_send(stream->exchange, keeps_events(stream) ? id : NULL, event, data, length);
}

/* An id before there is anything to say: with it a client can come back (2025-11-25). Older ones
 * would take the empty event for a message. */
static void prime(struct stream *stream)
{
    if (!keeps_events(stream) || mcp_negotiated(stream->peer->mcp) < REVISION_2025_11_25)
        return;
    sse_retry(stream->exchange, STREAM_RETRY_MS);
    send_event(stream, stream->seq, NULL, "", 0);
}

static void begin_events(struct stream *stream)
{
    if (stream->is_streaming || !stream->exchange)
        return;
    stream->is_streaming = true;
    sse_begin(stream->exchange);
    prime(stream);
}

static void on_message(struct mcp_stream *mcp, const struct mcp_message *message)
{
    struct stream *stream = (struct stream *)mcp;
    const struct event *event;

    if (message->kind == MCP_RESPONSE && !stream->is_streaming) {
        text_add(&stream->body, message->line, message->length);
        stream->status = message->status;
        return;
    }
    begin_events(stream);
    if (!keeps_events(stream)) {
        if (stream->exchange)
            send_event(stream, 0, "message", message->line, message->length - 1);
        return;
    }
    event = keep_event(stream, message);
    if (stream->exchange)
        send_event(stream, event->seq, "message", event->data, strlen(event->data));
}

static void on_waits(struct mcp_stream *mcp)
{
    begin_events((struct stream *)mcp);
}

static void on_finished(struct mcp_stream *mcp)
{
    struct stream *stream = (struct stream *)mcp;

    if (stream == stream->peer->standing)
        return; /* which lives longer than what is said on it */
    stream->is_finished = true;
    if (!stream->exchange)
        return;
    if (stream->is_streaming)
        sse_end(stream->exchange);
    else if (stream->body.used)
        http_reply(stream->exchange, stream->status, json_type, stream->body.bytes,
                   stream->body.used);
    else
        http_reply(stream->exchange, STATUS_ACCEPTED, NULL, "", 0);
}

/* The client is asked to come back: the exchange ends, the stream does not. */
static void on_part(struct mcp_stream *mcp, int retry_ms)
{
    struct stream *stream = (struct stream *)mcp;

    if (!stream->exchange || !keeps_events(stream) ||
        mcp_negotiated(stream->peer->mcp) < REVISION_2025_11_25)
        return;
    begin_events(stream);
    sse_retry(stream->exchange, retry_ms);
    sse_end(stream->exchange);
}

static const struct mcp_stream_ops stream_ops = {
    .message = on_message,
    .waits = on_waits,
    .finished = on_finished,
    .part = on_part,
};

void stream_free(struct stream *stream)
{
    struct peer *peer = stream->peer;
    struct http_exchange *exchange = stream->exchange;

    stream->exchange = NULL;
    mcp_drop(peer->mcp, &stream->mcp);
    if (exchange)
        http_on_fate(exchange, NULL, NULL);
    if (exchange && stream->is_streaming && !stream->is_finished)
        sse_end(exchange);
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        peer->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    if (peer->standing == stream) {
        peer->standing = NULL;
        mcp_stand(peer->mcp, NULL);
    }
    while (stream->events)
        drop_event(stream, &stream->events);
    text_release(&stream->body);
    free(stream);
}

/* The client may come back until then. */
static void go_away(struct stream *stream)
{
    stream->exchange = NULL;
    stream->away_until_boot_ms = loop_boot_ms() + STREAM_AWAY_MS;
    mcp_pause(stream->peer->mcp, &stream->mcp);
    peer_wake_at(stream->peer->front, stream->away_until_boot_ms);
}

static void end_stream(struct stream *stream, enum http_fate fate)
{
    if (fate == HTTP_LOST && !stream->peer->is_session)
        mcp_give_up(stream->peer->mcp, &stream->mcp);
    stream_free(stream);
}

static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct stream *stream = context;
    bool can_come_back = keeps_events(stream) && stream->is_streaming;

    (void)exchange;
    if (fate == HTTP_TAKEN)
        mcp_confirm(stream->peer->mcp, &stream->mcp);
    stream->exchange = NULL;
    if (can_come_back && (fate == HTTP_LOST || !stream->is_finished))
        go_away(stream);
    else
        end_stream(stream, fate);
}

static void attach(struct stream *stream, struct http_exchange *exchange)
{
    stream->exchange = exchange;
    stream->away_until_boot_ms = 0;
    http_on_fate(exchange, on_fate, stream);
}

static struct stream *stream_new(struct peer *peer, struct http_exchange *exchange)
{
    struct stream *stream = mem_new(sizeof *stream);

    stream->mcp.ops = &stream_ops;
    stream->peer = peer;
    stream->number = ++peer->next_number;
    stream->next = peer->streams;
    if (stream->next)
        stream->next->previous = stream;
    peer->streams = stream;
    attach(stream, exchange);
    return stream;
}

void stream_serve(struct peer *peer, struct http_exchange *exchange,
                  const struct mcp_headers *headers, const struct json *value)
{
    struct stream *stream = stream_new(peer, exchange);

    mcp_take_value(peer->mcp, &stream->mcp, headers, value);
    if (!stream->is_finished)
        http_forget_request(exchange); /* a person takes long, and their agents are many */
    else if (!stream->is_streaming && !stream->mcp.deliveries)
        stream_free(stream); /* whether this reply arrives is its client's affair alone */
}

void stream_stand(struct peer *peer, struct http_exchange *exchange)
{
    peer->standing = stream_new(peer, exchange);
    begin_events(peer->standing);
    http_forget_request(exchange);
    mcp_stand(peer->mcp, &peer->standing->mcp);
}

void stream_finish_standing(struct peer *peer)
{
    struct stream *stream = peer->standing;

    if (!stream || !stream->exchange)
        return;
    stream->is_finished = true;
    sse_end(stream->exchange);
}

/* NUMBER-SEQ, as we gave it out. */
static bool read_event_id(const char *text, int64_t *ret_number, int64_t *ret_seq)
{
    char number[EVENT_ID_BYTES];
    size_t length = strcspn(text, "-");

    if (text[length] != '-' || length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    return text_parse_integer(number, ret_number) && text_parse_integer(text + length + 1, ret_seq);
}

static struct stream *find_stream(struct peer *peer, int64_t number)
{
    struct stream *stream = peer->streams;

    while (stream && stream->number != number)
        stream = stream->next;
    return stream;
}

bool stream_take_up(struct peer *peer, struct http_exchange *exchange, const char *event_id)
{
    int64_t number, seq;
    struct stream *stream =
        read_event_id(event_id, &number, &seq) ? find_stream(peer, number) : NULL;

    if (!stream)
        return false;
    if (stream->exchange) { /* it knows before we do that the old one is dead */
        struct http_exchange *old = stream->exchange;

        http_on_fate(old, NULL, NULL);
        if (stream->is_streaming && !stream->is_finished)
            sse_end(old);
    }
    attach(stream, exchange);
    stream->is_streaming = true;
    sse_begin(exchange);
    prime(stream);
    for (const struct event *event = stream->events; event; event = event->next) {
        if (event->seq > seq)
            send_event(stream, event->seq, "message", event->data, strlen(event->data));
    }
    http_forget_request(exchange);
    if (stream->is_finished)
        sse_end(exchange);
    else
        mcp_resume(peer->mcp, &stream->mcp);
    return true;
}
