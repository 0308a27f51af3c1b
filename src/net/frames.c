#include "net/frames.h"

#include <string.h>

enum { BIT_FINAL = 0x80, BITS_RESERVED = 0x70, BITS_OPCODE = 0x0f, BIT_MASK = 0x80 };
enum { LENGTH_16 = 126, LENGTH_64 = 127, MASK_BYTES = 4 };

void ws_parser_release(struct ws_parser *parser)
{
    text_release(&parser->message);
    text_release(&parser->control);
    *parser = (struct ws_parser){ 0 };
}

bool ws_parser_is_idle(const struct ws_parser *parser)
{
    return parser->head_used == 0 && !parser->is_in_payload && !parser->is_open;
}

/* What a peer may give as its reason to close. */
static bool ws_code_may_come(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

/* The first byte of a code point says how many follow, and what the second may be: no overlong
 * forms, no surrogates, nothing above U+10FFFF. */
static bool begin_code_point(struct ws_utf8 *utf8, uint8_t byte)
{
    static const struct {
        uint8_t from, to, missing, low, high;
    } rows[] = {
        { 0x00, 0x7f, 0, 0, 0 },       { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf },
        { 0xe1, 0xec, 2, 0x80, 0xbf }, { 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf },
        { 0xf0, 0xf0, 3, 0x90, 0xbf }, { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (byte >= rows[i].from && byte <= rows[i].to) {
            *utf8 = (struct ws_utf8){ rows[i].missing, rows[i].low, rows[i].high };
            return true;
        }
    }
    return false;
}

/* What is wrong is found where it stands, not at the end of the message. */
static bool feed_utf8(struct ws_utf8 *utf8, const char *bytes, size_t length)
{
    if (utf8->missing == 0 && text_is_ascii(bytes, length)) /* looked at in words */
        return true;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = (uint8_t)bytes[i];

        if (utf8->missing == 0 && byte < 0x80)
            continue;
        if (utf8->missing == 0) {
            if (!begin_code_point(utf8, byte))
                return false;
        } else if (byte < utf8->low || byte > utf8->high) {
            return false;
        } else {
            *utf8 = (struct ws_utf8){ (uint8_t)(utf8->missing - 1), 0x80, 0xbf };
        }
    }
    return true;
}

static void unmask(struct ws_parser *parser, char *bytes, size_t length)
{
    const uint8_t *mask = parser->head; /* moved to the front once the head was whole */
    uint8_t turned[8];
    size_t at = 0;

    for (size_t i = 0; i < sizeof turned; i++)
        turned[i] = mask[(parser->mask_at + i) % MASK_BYTES];
    for (; at + sizeof turned <= length; at += sizeof turned) {
        uint64_t word, key;

        memcpy(&word, bytes + at, sizeof word);
        memcpy(&key, turned, sizeof key);
        word ^= key;
        memcpy(bytes + at, &word, sizeof word);
    }
    for (size_t i = 0; at + i < length; i++)
        bytes[at + i] = (char)((uint8_t)bytes[at + i] ^ turned[i]);
    parser->mask_at = (uint8_t)((parser->mask_at + length) % MASK_BYTES);
}

static bool is_control(uint8_t opcode)
{
    return opcode >= WS_CLOSE;
}

/* How many bytes say the length behind the first two. */
static size_t length_bytes(const struct ws_parser *parser)
{
    uint8_t said = parser->head[1] & (uint8_t)~BIT_MASK;

    return said == LENGTH_16 ? 2 : said == LENGTH_64 ? 8 : 0;
}

/* How long this head is, as far as its first bytes tell. */
static size_t head_length(const struct ws_parser *parser)
{
    if (parser->head_used < 2)
        return 2;
    return 2 + length_bytes(parser) + (parser->is_of_server ? 0 : MASK_BYTES);
}

/* The first two bytes, before anything further is waited for. 0: good. */
static int judge_start(const struct ws_parser *parser)
{
    uint8_t opcode = parser->head[0] & BITS_OPCODE;
    bool is_known = opcode <= WS_BINARY || (opcode >= WS_CLOSE && opcode <= WS_PONG);
    bool is_masked = parser->head[1] & BIT_MASK;

    if ((parser->head[0] & BITS_RESERVED) || !is_known || is_masked == parser->is_of_server)
        return WS_CLOSE_PROTOCOL;
    if (is_control(opcode)) {
        bool is_short = (parser->head[1] & (uint8_t)~BIT_MASK) <= WS_CONTROL_BYTES;

        return is_short && (parser->head[0] & BIT_FINAL) ? 0 : WS_CLOSE_PROTOCOL;
    }
    if ((opcode == WS_CONTINUATION) != parser->is_open)
        return WS_CLOSE_PROTOCOL;
    return opcode == WS_BINARY ? WS_CLOSE_TYPE : 0;
}

static size_t max_bytes(const struct ws_parser *parser)
{
    return parser->max_bytes ? parser->max_bytes : WS_MESSAGE_BYTES;
}

/* The whole head. 0: good. */
static int read_head(struct ws_parser *parser)
{
    size_t extra = length_bytes(parser);
    uint64_t length = extra ? 0 : parser->head[1] & (uint8_t)~BIT_MASK;
    bool is_shortest;

    for (size_t i = 0; i < extra; i++)
        length = length << 8 | parser->head[2 + i];
    is_shortest = extra == 0 || length > (extra == 2 ? LENGTH_16 - 1 : UINT16_MAX);
    if (!(is_shortest || parser->is_of_server) || length > INT64_MAX)
        return WS_CLOSE_PROTOCOL;
    parser->opcode = parser->head[0] & BITS_OPCODE;
    parser->is_final = parser->head[0] & BIT_FINAL;
    if (!is_control(parser->opcode)) {
        if (length > max_bytes(parser) - parser->message.used)
            return WS_CLOSE_SIZE;
        if (!parser->is_of_server && ++parser->fragments > WS_FRAGMENTS)
            return WS_CLOSE_POLICY;
        parser->is_open = true;
    }
    memmove(parser->head, parser->head + 2 + extra, MASK_BYTES); /* if there is one */
    parser->left = length;
    parser->mask_at = 0;
    parser->is_in_payload = true;
    return 0;
}

/* Returns how much was used; *ret_code 0: good so far. */
static size_t take_head(struct ws_parser *parser, const char *bytes, size_t length, int *ret_code)
{
    size_t used = 0;

    *ret_code = 0;
    while (used < length && parser->head_used < head_length(parser)) {
        parser->head[parser->head_used++] = (uint8_t)bytes[used++];
        if (parser->head_used == 2)
            *ret_code = judge_start(parser);
        if (*ret_code)
            return used;
    }
    if (parser->head_used >= 2 && parser->head_used == head_length(parser))
        *ret_code = read_head(parser);
    return used;
}

static int read_close(struct ws_piece *piece)
{
    struct ws_utf8 utf8 = { 0 };

    piece->code = WS_CLOSE_NONE;
    if (piece->length == 0)
        return 0;
    if (piece->length == 1)
        return WS_CLOSE_PROTOCOL;
    piece->code = (uint8_t)piece->bytes[0] << 8 | (uint8_t)piece->bytes[1];
    piece->bytes += 2;
    piece->length -= 2;
    if (!ws_code_may_come(piece->code))
        return WS_CLOSE_PROTOCOL;
    return feed_utf8(&utf8, piece->bytes, piece->length) && utf8.missing == 0 ? 0 : WS_CLOSE_TEXT;
}

static void end_frame(struct ws_parser *parser)
{
    parser->head_used = 0;
    parser->is_in_payload = false;
}

/* Of a control frame that is whole. */
static int end_control(struct ws_parser *parser, struct ws_piece *piece)
{
    end_frame(parser);
    piece->opcode = parser->opcode;
    return piece->opcode == WS_CLOSE ? read_close(piece) : 0;
}

/* Of a message that is whole. */
static int end_message(struct ws_parser *parser, struct ws_piece *piece)
{
    bool is_cut = parser->utf8.missing > 0;

    end_frame(parser);
    parser->is_open = false;
    parser->fragments = 0;
    parser->utf8 = (struct ws_utf8){ 0 };
    piece->opcode = WS_TEXT;
    return is_cut ? WS_CLOSE_TEXT : 0;
}

/* A part of a payload, unmasked. What is whole in one part is lent as it stands. */
static int take_payload(struct ws_parser *parser, const char *bytes, size_t length,
                        struct ws_piece *piece, bool *ret_is_whole)
{
    struct text *kept = is_control(parser->opcode) ? &parser->control : &parser->message;
    bool is_end = parser->left == 0;

    *ret_is_whole = is_end && (is_control(parser->opcode) || parser->is_final);
    if (!is_control(parser->opcode) && !feed_utf8(&parser->utf8, bytes, length))
        return WS_CLOSE_TEXT;
    if (!*ret_is_whole || kept->used > 0) {
        text_add(kept, bytes, length);
        bytes = text_string(kept);
        length = kept->used;
    }
    piece->bytes = bytes;
    piece->length = length;
    if (*ret_is_whole)
        return is_control(parser->opcode) ? end_control(parser, piece) : end_message(parser, piece);
    if (is_end)
        end_frame(parser);
    return 0;
}

/* What the piece before was lent from. */
static void forget_lent(struct ws_parser *parser)
{
    if (!parser->is_open)
        text_release(&parser->message);
    if (!parser->is_in_payload || !is_control(parser->opcode))
        text_release(&parser->control);
}

enum ws_outcome ws_parse(struct ws_parser *parser, char *bytes, size_t length, size_t *ret_used,
                         struct ws_piece *ret_piece)
{
    size_t used = 0;
    bool is_whole = false;
    int code = 0;

    *ret_piece = (struct ws_piece){ 0 };
    forget_lent(parser);
    while (!is_whole && code == 0) {
        size_t part;

        if (!parser->is_in_payload)
            used += take_head(parser, bytes + used, length - used, &code);
        if (code != 0 || !parser->is_in_payload)
            break;
        part = parser->left < length - used ? (size_t)parser->left : length - used;
        if (part == 0 && parser->left > 0)
            break;
        if (!parser->is_of_server)
            unmask(parser, bytes + used, part);
        parser->left -= part;
        code = take_payload(parser, bytes + used, part, ret_piece, &is_whole);
        used += part;
    }
    *ret_used = used;
    if (code != 0) {
        ret_piece->code = code;
        return WS_FAILED;
    }
    return is_whole ? WS_HAS_PIECE : WS_WANTS_MORE;
}

size_t ws_write_head(enum ws_opcode opcode, size_t length, uint8_t out[10])
{
    size_t extra = length < LENGTH_16 ? 0 : length <= UINT16_MAX ? 2 : 8;

    out[0] = (uint8_t)(BIT_FINAL | opcode);
    out[1] = (uint8_t)(extra == 0 ? length : extra == 2 ? LENGTH_16 : LENGTH_64);
    for (size_t i = 0; i < extra; i++)
        out[2 + i] = (uint8_t)(length >> (8 * (extra - 1 - i)));
    return 2 + extra;
}
