/* connection.h - one peer on the unix socket; for server.c and connection.c only. */
#ifndef WIRE_CONNECTION_H
#define WIRE_CONNECTION_H
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/text.h"
#include "wire/server.h"
#include "wire/session.h"

enum {
    CONNECTION_READ_BYTES = 65536,
    CONNECTION_MOST = 1024,
};

struct connection {
    uv_pipe_t pipe; /* first: a handle is a connection */
    struct wire_server *server;
    struct connection *next, *previous;
    struct connection *next_dirty;
    struct text in, out;
    struct text backlog; /* read, and not looked at until the peer reads */
    struct text writing; /* handed to the kernel, not yet taken */
    uv_write_t write;
    bool is_closing, is_dirty, is_reading, closes_when_written;
    bool skips_line; /* the rest of a line that was too long */
    bool is_unread;  /* its peer reads no more; what it said before it went is still heard */
    bool has_begun;  /* something was read */
    struct wire_peer peer;
    int64_t uid, pid;
    int64_t hello_before_ms;
};

struct wire_server {
    uv_pipe_t listener; /* first */
    struct loop *loop;
    struct wire_carrier carrier;
    struct wire_host host;
    struct connection *connections, *dirty;
    size_t count;
    struct loop_timer *hello_timer;
    bool is_draining, is_dismissed, is_listening;
    bool is_passed; /* the socket outlives us */
    char *socket_path;
    char read_bytes[CONNECTION_READ_BYTES]; /* shared: consumed before the callback returns */
};

void connection_accept(struct wire_server *server);
void connection_close(struct connection *connection);
void connection_mark_dirty(struct connection *connection);
void connection_flush(struct connection *connection);
extern const struct wire_carrier connection_carrier; /* without its desk */

#endif
