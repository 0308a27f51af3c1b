/* ws.h - WebSockets for the generators: the client's side of RFC 6455 as far as they need it. */
#ifndef BENCH_WS_H
#define BENCH_WS_H
#include <stddef.h>

struct bytes;
struct peer;

/* A connection to this port of the loopback, upgraded; descriptor, non-blocking. */
int ws_connect(int port);

enum { WS_TEXT = 1, WS_PING = 9, WS_PONG = 10 };
/* A frame of a client, masked with a key of zeroes, which leaves the payload as it is. */
void ws_add_frame(struct bytes *out, int opcode, const char *payload, size_t length);

struct ws_frame {
    int opcode;
    const char *payload;
    size_t length;
};
/* The first frame of what a server sent; returns its bytes with the head, 0: not whole yet. */
size_t ws_read_frame(const char *at, size_t length, struct ws_frame *ret_frame);
void ws_take(struct peer *peer); /* for struct peer: a message is a line, pings are answered */

#endif
