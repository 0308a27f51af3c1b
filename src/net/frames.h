/*
 * frames.h - bytes of a WebSocket's other end to messages (RFC 6455), strict: every frame of a
 * client masked and none of a server, no extensions, lengths in their shortest form, UTF-8 judged
 * as it comes. Pure; a parser that is between two frames of no open message holds nothing, so it is
 * not kept.
 */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum {
    WS_MESSAGE_BYTES = 1048576,
    WS_STRANGER_BYTES = 4096, /* the same, before hello */
    WS_FRAGMENTS = 1024,      /* of one message of a client */
    WS_CONTROL_BYTES = 125,
    WS_HEAD_BYTES = 14,
};
/* Why a connection ends; the numbers of RFC 6455 7.4.1. */
enum ws_code {
    WS_CLOSE_DONE = 1000,
    WS_CLOSE_GOING = 1001,
    WS_CLOSE_PROTOCOL = 1002,
    WS_CLOSE_TYPE = 1003,
    WS_CLOSE_NONE = 1005, /* a close frame without a code; never sent */
    WS_CLOSE_TEXT = 1007,
    WS_CLOSE_POLICY = 1008,
    WS_CLOSE_SIZE = 1009,
    WS_CLOSE_BUSY = 1013,
};
enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

/* How much of a code point is still to come, and what its next byte may be. */
struct ws_utf8 {
    uint8_t missing, low, high;
};
struct ws_parser {
    struct text message; /* what came of the message that is open */
    struct text control; /* and of a control frame that is in its middle */
    uint64_t left;       /* of the frame's payload */
    uint32_t max_bytes;  /* of a message; 0: WS_MESSAGE_BYTES */
    uint16_t fragments;
    struct ws_utf8 utf8;
    uint8_t head[WS_HEAD_BYTES], head_used;
    uint8_t mask_at, opcode;
    bool is_of_server; /* whom it reads: unmasked, in any number of frames with any heads */
    bool is_final, is_in_payload;
    bool is_open; /* a message whose last frame has not come */
};
void ws_parser_release(struct ws_parser *parser);
bool ws_parser_is_idle(const struct ws_parser *parser); /* it holds nothing */

enum ws_outcome { WS_WANTS_MORE, WS_HAS_PIECE, WS_FAILED };
/* A whole message or control frame. Bytes live until the next call or release. */
struct ws_piece {
    enum ws_opcode opcode;
    const char *bytes; /* of a close: its reason */
    size_t length;
    int code; /* of a close, WS_CLOSE_NONE without one; or why it failed */
};
/* Takes bytes, a client's unmasked where they stand, up to the end of one piece. */
enum ws_outcome ws_parse(struct ws_parser *parser, char *bytes, size_t length, size_t *ret_used,
                         struct ws_piece *ret_piece);

/* The head of a frame from us, unmasked; returns its length, at most 10. */
size_t ws_write_head(enum ws_opcode opcode, size_t length, uint8_t out[10]);

#endif
