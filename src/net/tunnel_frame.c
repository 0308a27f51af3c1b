/* tunnel_frame.c - see tunnel_inside.h. RFC 6455 from the client's side: what we send is masked,
 * what we get is not. */
#include <string.h>

#include "base/random.h"
#include "net/tunnel_inside.h"
#include "net/ws_parser.h"

enum { FRAME_MASKED = 0x80, FRAME_FINAL = 0x80, FRAME_RESERVED = 0x70, FRAME_OPCODE = 0x0f };

void tunnel_add_frame(struct text *out, int opcode, const char *bytes, size_t length)
{
    uint8_t head[10], mask[4];
    size_t head_length = ws_write_head((enum ws_opcode)opcode, length, head), at;

    head[1] |= FRAME_MASKED;
    random_bytes(mask, sizeof mask);
    text_add(out, (const char *)head, head_length);
    text_add(out, (const char *)mask, sizeof mask);
    at = out->used;
    text_add(out, bytes, length);
    for (size_t i = 0; i < length; i++)
        out->bytes[at + i] = (char)((uint8_t)out->bytes[at + i] ^ mask[i % sizeof mask]);
}

static bool is_control(int opcode)
{
    return opcode >= WS_CLOSE;
}

/* The length that a whole head says; 0 where it needs more bytes. */
static size_t head_length(const struct tunnel_reader *reader)
{
    if (reader->head_used < 2)
        return 2;
    return reader->head[1] == 127 ? 10 : reader->head[1] == 126 ? 4 : 2;
}

static bool take_head(struct tunnel_reader *reader)
{
    const uint8_t *head = reader->head;
    size_t length = head_length(reader);

    reader->opcode = head[0] & FRAME_OPCODE;
    reader->is_final = head[0] & FRAME_FINAL;
    reader->left = 0;
    if (length == 2)
        reader->left = head[1];
    for (size_t i = 2; i < length; i++)
        reader->left = reader->left << 8 | head[i];
    reader->head_used = 0;
    reader->control_used = 0;
    reader->is_in_payload = true;
    if ((head[0] & FRAME_RESERVED) || (head[1] & FRAME_MASKED))
        return false;
    if (is_control(reader->opcode))
        return reader->is_final && reader->left <= sizeof reader->control &&
               reader->opcode <= WS_PONG;
    return reader->opcode == WS_TEXT || reader->opcode == WS_CONTINUATION;
}

static void end_frame(struct tunnel_reader *reader, struct text *lines, struct text *out)
{
    reader->is_in_payload = false;
    if (reader->opcode == WS_PING)
        tunnel_add_frame(out, WS_PONG, (const char *)reader->control, reader->control_used);
    else if (reader->opcode == WS_CLOSE)
        reader->is_closed = true;
    else if (!is_control(reader->opcode) && reader->is_final)
        text_add_char(lines, '\n');
}

/* A line end within a message would make two lines of it; in JSON it is a blank. */
static void add_payload(struct text *lines, const char *bytes, size_t length)
{
    size_t at = lines->used;

    text_add(lines, bytes, length);
    for (char *end; at < lines->used && (end = memchr(lines->bytes + at, '\n', lines->used - at));
         at = (size_t)(end - lines->bytes))
        *end = ' ';
}

bool tunnel_read_frames(struct tunnel_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out)
{
    while (length > 0 && !reader->is_closed) {
        size_t part = 1;

        if (reader->is_in_payload) {
            part = reader->left < length ? (size_t)reader->left : length;
            if (is_control(reader->opcode)) {
                memcpy(reader->control + reader->control_used, bytes, part);
                reader->control_used += (uint8_t)part;
            } else {
                add_payload(lines, bytes, part);
            }
            reader->left -= part;
        } else {
            reader->head[reader->head_used++] = (uint8_t)*bytes;
            if (reader->head_used == head_length(reader) && !take_head(reader))
                return false;
        }
        bytes += part;
        length -= part;
        if (reader->is_in_payload && reader->left == 0)
            end_frame(reader, lines, out);
    }
    return true;
}
