/* remote_inside.h - what the files of the tunnel share; for tunnel*.c only. */
#ifndef NET_REMOTE_INSIDE_H
#define NET_REMOTE_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "net/frames.h"

struct tls;

/* remote.c: lines to frames of a client, frames of a server to lines. */
struct tunnel_reader {
    struct ws_parser parser;
    bool is_closed;
};
void tunnel_add_frame(struct text *out, enum ws_opcode opcode, const char *bytes, size_t length);
/* Adds lines to `lines` and what must be replied to `out`; false: it is not RFC 6455. */
bool tunnel_read_frames(struct tunnel_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out);

/* Carries bytes between our end and the hub's until one has gone, and closes both. `unread` is what
 * came behind the handshake. */
void tunnel_pump(int near_fd, int far_fd, struct tls *take_tls, const char *unread, size_t length);

#endif
