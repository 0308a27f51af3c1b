/*
 * stream.c - one POST and what is said about it: a single JSON if the answer is there immediately,
 * else events from the first moment on, because clients give up on a silent server (R5.7).
 *
 * A modern client that goes has cancelled. A legacy client may come back with the id of the last
 * event it saw: its stream is kept for a while, with what it missed; elsewhere or later its call
 * goes on from what that id carries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/random.h"
#include "http/mcp/peer.h"
#include "net/http.h"

enum {
    STREAM_AWAY_MS = 60000,
    STREAM_RETRY_MS = 1000,
    STREAM_NOTIFICATIONS = 8, /* the newest are kept for who comes back */
    STREAM_EVENT_BYTES = 4194304,
    NUMBER_BYTES = 24,
    STATUS_ACCEPTED = 202,
};

static const char json_type[] = "application/json";
static const char STANDING[] = "g";

/* Only a session knows its streams again. */
static bool keeps_events(const struct stream *stream)
{
    return stream->peer->is_session;
}

static void drop_event(struct stream *stream, struct event **at)
{
    struct event *event = *at;

    *at = event->next;
    stream->event_bytes -= (uint32_t)strlen(event->data);
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
    stream->event_bytes += (uint32_t)message->length - 1;
    return event;
}

/* Who has the response has nothing to come back for. */
static void send_event(struct stream *stream, int64_t seq, bool is_response, const char *event,
                       const char *data, size_t length)
{
    struct text id = { 0 };
    char *state = NULL;

    if (keeps_events(stream)) {
        text_add_format(&id, "%s%lld-%lld", stream == stream->peer->standing ? STANDING : "",
                        (long long)stream->number, (long long)seq);
        state = is_response ? NULL : mcp_stream_state(&stream->mcp);
        if (state)
            text_add_format(&id, ".%s", state);
    }
    sse_send(stream->exchange, id.used ? id.bytes : NULL, event, data, length);
    text_release(&id);
    free(state);
}

/* An id before there is anything to say: with it a client can come back (2025-11-25). Older ones
 * would take the empty event for a message. */
static void prime(struct stream *stream)
{
    if (!keeps_events(stream) || stream->mcp.awaits_state ||
        mcp_negotiated(stream->peer->mcp) < REVISION_2025_11_25)
        return;
    sse_retry(stream->exchange, STREAM_RETRY_MS);
    send_event(stream, stream->seq, false, NULL, "", 0);
}

static void begin_events(struct stream *stream)
{
    if (stream->is_streaming || !stream->exchange)
        return;
    stream->is_streaming = true;
    sse_begin(stream->exchange);
    prime(stream);
}

static void send_kept(struct stream *stream, const struct event *event)
{
    send_event(stream, event->seq, event->kind == MCP_RESPONSE, "message", event->data,
               strlen(event->data));
}

static void on_message(struct mcp_stream *mcp, const struct mcp_message *message)
{
    struct stream *stream = (struct stream *)mcp;
    const struct event *event;

    if (message->kind == MCP_RESPONSE && !stream->is_streaming) {
        if (!stream->body)
            stream->body = mem_new(sizeof *stream->body);
        text_add(stream->body, message->line, message->length);
        stream->status = (uint16_t)message->status;
        return;
    }
    begin_events(stream);
    if (!keeps_events(stream)) {
        if (stream->exchange)
            send_event(stream, 0, false, "message", message->line, message->length - 1);
        return;
    }
    event = keep_event(stream, message);
    if (stream->exchange)
        send_kept(stream, event);
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
        http_end(stream->exchange);
    else if (stream->body)
        http_reply(stream->exchange, stream->status, json_type, stream->body->bytes,
                   stream->body->used);
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
    http_end(stream->exchange);
}

/* One that was begun before anybody could come back to it has its first id now. */
static void on_state(struct mcp_stream *mcp)
{
    struct stream *stream = (struct stream *)mcp;
    bool is_first = !stream->has_state;

    stream->has_state = true;
    if (is_first && stream->is_streaming && stream->exchange)
        prime(stream);
}

static const struct mcp_stream_ops stream_ops = {
    .message = on_message,
    .waits = on_waits,
    .finished = on_finished,
    .part = on_part,
    .state = on_state,
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
        http_end(exchange);
    LIST_REMOVE(peer->streams, stream);
    if (peer->standing == stream) {
        peer->standing = NULL;
        mcp_stand(peer->mcp, NULL);
    }
    while (stream->events)
        drop_event(stream, &stream->events);
    if (!stream->is_streaming && stream->body) {
        text_release(stream->body);
        free(stream->body);
    }
    pool_free(stream, sizeof *stream);
}

/* The client may come back until then. */
static void go_away(struct stream *stream)
{
    stream->exchange = NULL;
    stream->away_until_boot_ms = loop_boot_ms() + STREAM_AWAY_MS;
    mcp_pause(stream->peer->mcp, &stream->mcp);
    peer_wake_at(stream->peer->front, stream->away_until_boot_ms);
}

static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct stream *stream = context;
    bool can_come_back = keeps_events(stream) && stream->is_streaming;

    (void)exchange;
    if (fate == HTTP_TAKEN)
        peer_confirm(stream->peer, &stream->mcp);
    stream->exchange = NULL;
    if (can_come_back && (fate == HTTP_LOST || !stream->is_finished)) {
        go_away(stream);
        return;
    }
    if (fate == HTTP_LOST && !stream->peer->is_session)
        mcp_give_up(stream->peer->mcp, &stream->mcp);
    stream_free(stream);
}

static void attach(struct stream *stream, struct http_exchange *exchange)
{
    stream->exchange = exchange;
    stream->away_until_boot_ms = 0;
    http_on_fate(exchange, on_fate, stream);
}

static struct stream *stream_new(struct peer *peer, struct http_exchange *exchange)
{
    struct stream *stream = pool_new(sizeof *stream);

    stream->mcp.ops = &stream_ops;
    stream->peer = peer;
    if (peer->is_session) { /* no two hubs give out the same number */
        random_bytes(&stream->number, sizeof stream->number);
        stream->number &= INT64_MAX;
    }
    LIST_ADD(peer->streams, stream);
    attach(stream, exchange);
    return stream;
}

void stream_serve(struct peer *peer, struct http_exchange *exchange,
                  const struct mcp_headers *headers, const struct json *value)
{
    struct stream *stream = stream_new(peer, exchange);

    peer->serving = exchange;
    mcp_take_value(peer->mcp, &stream->mcp, headers, value);
    peer->serving = NULL;
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
    http_end(stream->exchange);
}

bool stream_is_standing(const char *event_id)
{
    return strncmp(event_id, STANDING, sizeof STANDING - 1) == 0;
}

/* As we gave it out; *ret_state is "" where there is none. */
static bool read_event_id(const char *text, int64_t *ret_number, int64_t *ret_seq,
                          const char **ret_state)
{
    char number[NUMBER_BYTES], seq[NUMBER_BYTES];
    const char *begin = text + (stream_is_standing(text) ? sizeof STANDING - 1 : 0);
    size_t length = strcspn(begin, "-"), seq_length;

    if (begin[length] != '-' || length >= sizeof number)
        return false;
    seq_length = strcspn(begin + length + 1, ".");
    if (seq_length >= sizeof seq)
        return false;
    text_put(number, length + 1, begin);
    text_put(seq, seq_length + 1, begin + length + 1);
    *ret_state = begin + length + 1 + seq_length;
    *ret_state += **ret_state == '.';
    return text_parse_integer(number, ret_number) && text_parse_integer(seq, ret_seq);
}

/* A stream that is still ours, with what was missed. */
static void take_up(struct stream *stream, struct http_exchange *exchange, int64_t seq)
{
    if (stream->exchange) { /* it knows before we do that the old one is dead */
        struct http_exchange *old = stream->exchange;

        http_on_fate(old, NULL, NULL);
        if (stream->is_streaming && !stream->is_finished)
            http_end(old);
    }
    attach(stream, exchange);
    stream->is_streaming = true;
    sse_begin(exchange);
    prime(stream);
    for (const struct event *event = stream->events; event; event = event->next) {
        if (event->seq > seq)
            send_kept(stream, event);
    }
    http_forget_request(exchange);
    if (stream->is_finished)
        http_end(exchange);
    else
        mcp_resume(stream->peer->mcp, &stream->mcp);
}

/* One of another hub's, or of ours that we kept no longer: its call goes on on a new one. */
static bool go_on(struct peer *peer, struct http_exchange *exchange, const char *state)
{
    struct stream *stream = stream_new(peer, exchange);

    if (mcp_take_up(peer->mcp, &stream->mcp, state)) {
        if (!stream->is_finished)
            http_forget_request(exchange);
        return true;
    }
    stream->exchange = NULL;
    http_on_fate(exchange, NULL, NULL);
    stream_free(stream);
    return false;
}

bool stream_take_up(struct peer *peer, struct http_exchange *exchange, const char *event_id)
{
    int64_t number, seq;
    const char *state;
    struct stream *stream;

    if (!read_event_id(event_id, &number, &seq, &state))
        return false;
    stream = peer->streams;
    while (stream && stream->number != number)
        stream = stream->next;
    if (!stream)
        return *state && go_on(peer, exchange, state);
    take_up(stream, exchange, seq);
    return true;
}
