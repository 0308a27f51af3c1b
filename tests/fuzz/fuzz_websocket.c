/*
 * fuzz_websocket.c - bytes of a WebSocket client, cut anywhere: our parser sees the same messages
 * and the same end as wslay does. Where we are stricter on purpose (binary messages, many
 * fragments) the comparison ends. Proves: P14
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MORE_BYTES = 256 };

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

/* What came of a stream: one line a piece, then how it ended. */
struct story {
    struct text told;
    int end; /* 0: it goes on; else the code of a close that came, or of one we would send */
};

static void tell(struct story *story, int opcode, const void *bytes, size_t length)
{
    text_add_format(&story->told, "%d:%zu:", opcode, length);
    if (length)
        text_add(&story->told, bytes, length);
    text_add_char(&story->told, '\n');
}

struct oracle {
    const uint8_t *bytes;
    size_t length, at;
    struct story story;
};

static ssize_t oracle_recv(wslay_event_context_ptr context, uint8_t *out, size_t size, int flags,
                           void *data)
{
    struct oracle *oracle = data;
    size_t left = oracle->length - oracle->at, part = left < size ? left : size;

    (void)flags;
    if (part == 0) {
        wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(out, oracle->bytes + oracle->at, part);
    oracle->at += part;
    return (ssize_t)part;
}

/* A reply of its own to a close, or the close with which it gives up. */
static ssize_t oracle_send(wslay_event_context_ptr context, const uint8_t *bytes, size_t length,
                           int flags, void *data)
{
    (void)context;
    (void)bytes;
    (void)flags;
    (void)data;
    return (ssize_t)length;
}

static void oracle_message(wslay_event_context_ptr context,
                           const struct wslay_event_on_msg_recv_arg *message, void *data)
{
    struct oracle *oracle = data;

    (void)context;
    if (oracle->story.end)
        return;
    if (message->opcode == WSLAY_CONNECTION_CLOSE)
        oracle->story.end = message->status_code ? message->status_code : WS_CLOSE_NONE;
    else
        tell(&oracle->story, message->opcode, message->msg, message->msg_length);
}

static void consult(struct oracle *oracle)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = oracle_recv,
        .send_callback = oracle_send,
        .on_msg_recv_callback = oracle_message,
    };
    wslay_event_context_ptr context = NULL;

    demand(wslay_event_context_server_init(&context, &callbacks, oracle) == 0);
    wslay_event_config_set_max_recv_msg_length(context, WS_MESSAGE_BYTES);
    if (wslay_event_recv(context) != 0 && !oracle->story.end)
        oracle->story.end = WS_CLOSE_PROTOCOL;
    if (!oracle->story.end && wslay_event_get_close_sent(context) == 0 &&
        wslay_event_want_write(context)) {
        wslay_event_send(context);
        if (wslay_event_get_close_sent(context))
            oracle->story.end = wslay_event_get_status_code_sent(context);
    }
    wslay_event_context_free(context);
}

/* False: something that we alone refuse. */
static bool take_in(const uint8_t *data, size_t size, struct story *story)
{
    struct ws_parser parser = { 0 };
    char *bytes = size ? mem_text_n((const char *)data, size) : NULL;
    bool is_comparable = true;

    for (size_t at = 0; at < size && !story->end;) {
        /* cut by what the bytes themselves say, so that a find can be replayed */
        size_t part = 1 + (data[at] * 7U + at) % 61;
        struct ws_piece piece;
        size_t used;

        if (part > size - at)
            part = size - at;
        switch (ws_parse(&parser, bytes + at, part, &used, &piece)) {
        case WS_HAS_PIECE:
            if (piece.opcode == WS_CLOSE)
                story->end = piece.code;
            else
                tell(story, (int)piece.opcode, piece.bytes, piece.length);
            break;
        case WS_FAILED:
            story->end = piece.code;
            is_comparable = piece.code != WS_CLOSE_TYPE && piece.code != WS_CLOSE_POLICY;
            break;
        case WS_WANTS_MORE:
            demand(used == part);
            break;
        }
        demand(used <= part);
        demand(parser.message.used <= WS_MESSAGE_BYTES && parser.control.used <= WS_CONTROL_BYTES);
        at += used;
    }
    ws_parser_release(&parser);
    free(bytes);
    return is_comparable;
}

/* False: it can't be compared, or we see in a head that too much is to come. */
static bool tell_both(const uint8_t *data, size_t size, struct story *own, struct story *other)
{
    struct oracle oracle = { .bytes = data, .length = size };
    bool is_comparable = take_in(data, size, own) && own->end != WS_CLOSE_SIZE;

    if (is_comparable)
        consult(&oracle);
    *other = oracle.story;
    return is_comparable;
}

/* Behind what came, zeros: one sees in a head, or in the middle of a reason, what the other sees at
 * the end of the frame. */
static void demand_same_end(const uint8_t *data, size_t size)
{
    struct story own = { 0 }, other = { 0 };
    uint8_t *longer = mem_new(size + MORE_BYTES);

    memcpy(longer, data, size);
    if (tell_both(longer, size + MORE_BYTES, &own, &other))
        demand(own.end && other.end);
    text_release(&own.told);
    text_release(&other.told);
    free(longer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct story own = { 0 }, other = { 0 };

    if (tell_both(data, size, &own, &other)) {
        if (getenv("FUZZ_SHOW"))
            fprintf(stderr, "own %d: %s\nwslay %d: %s\n", own.end, text_string(&own.told),
                    other.end, text_string(&other.told));
        demand(strcmp(text_string(&own.told), text_string(&other.told)) == 0);
        if ((own.end == 0) != (other.end == 0))
            demand_same_end(data, size);
    }
    text_release(&own.told);
    text_release(&other.told);
    return 0;
}
