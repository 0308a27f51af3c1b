/* connection.h - one peer of the hub; for server.c, connection.c and methods.c only. */
#ifndef WIRE_CONNECTION_H
#define WIRE_CONNECTION_H
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/text.h"
#include "ports/desk.h"
#include "wire/server.h"

enum {
    CONNECTION_READ_BYTES = 65536,
    CONNECTION_EVENT_BYTES = 1048576, /* a watcher further behind gets `resync` instead */
    CONNECTION_OUT_BYTES = 4194304,   /* a peer further behind is not read from */
    CONNECTION_MOST = 1024,
    CONNECTION_CALLS = 131072, /* under way at once */
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
    bool needs_resync;
    bool is_unread; /* its peer reads no more; what it said before it went is still heard */
    bool has_begun; /* something was read */
    struct desk_visit *visit; /* NULL before hello */
    struct call *calls;       /* under way at the desk; methods.c's */
    size_t call_count, look_count;
    enum desk_role role;
    int64_t uid, pid;
    int64_t hello_before_ms;
};

struct wire_server {
    uv_pipe_t listener; /* first */
    struct loop *loop;
    struct desk *desk;
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

/* methods.c: one line of a peer, without its end. */
void methods_drop_calls(struct connection *connection);
void methods_take_line(struct connection *connection, const char *line, size_t length);

#endif
