/* tunnel_inside.h - what the files of the tunnel share; for tunnel*.c only. */
#ifndef NET_TUNNEL_INSIDE_H
#define NET_TUNNEL_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct error;
struct tls;

/* tunnel_frame.c: lines to frames of a client, frames of a server to lines. Pure. */
struct tunnel_reader {
    uint8_t head[10], head_used;
    uint64_t left; /* of the payload */
    uint8_t opcode;
    bool is_final, is_in_payload, is_closed;
    uint8_t control[125], control_used;
};
void tunnel_add_frame(struct text *out, int opcode, const char *bytes, size_t length);
/* Adds lines to `lines` and what must be replied to `out`; false: it is not RFC 6455. */
bool tunnel_read_frames(struct tunnel_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out);

/* tunnel_pump.c: carries bytes until one end has gone. Takes both over; `unread` is what came
 * behind the handshake. Returns our end, or -1. */
int tunnel_start_pump(int fd, struct tls *take_tls, const char *unread, size_t length,
                      struct error *err);

#endif
