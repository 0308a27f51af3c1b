/*
 * server.h - the hub's side of the wire: a unix socket for this user alone, connections with one
 * role each, methods as a table onto the desk.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/text.h"
#include "rpc/session.h"

struct loop;
struct place;
struct wire_server;

/* What a connection may want of the hub itself. */
enum wire_wish { WIRE_WISH_STOP, WIRE_WISH_RETIRE };
struct wire_host {
    void *context;
    void (*write_status)(void *context, struct text *out); /* a JSON object */
    void (*wish)(void *context, enum wire_wish wish);
    void (*on_change)(void *context); /* a peer came or went */
};

/* The socket file is made with mode 0600; an old one of a dead hub is replaced. `passed_fd` listens
 * there already and is somebody else's, who goes on when we go; -1: there is none. */
bool wire_server_open(struct loop *loop, struct desk *desk, const char *socket_path, int passed_fd,
                      const struct wire_host *host, struct wire_server **ret_server,
                      struct error *err);
void wire_server_flush(struct wire_server *server); /* before the loop sleeps: one write a peer */
/* No new peers, nothing more is read; what was read before is still answered. */
void wire_server_drain(struct wire_server *server);
/* Once that is done: peers get `hub/closing {why}` and are let go when it is written. */
void wire_server_dismiss(struct wire_server *server, const char *why);
bool wire_server_is_drained(const struct wire_server *server);
size_t wire_server_peer_count(const struct wire_server *server);
void wire_server_free(struct wire_server *server);

/* One peer on the unix socket; for server.c and server.c only. */

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

/* Where a service manager listens for a hub (sayso.socket), whoever needs one rings there, and the
 * manager starts it: its hub has the limits and the log that the unit gives it. */

/* True once a hub has this place's lock. False: nobody listens there, none came in time,
 * or the one that came could not begin. */
bool doorbell_ring(const struct place *place);

#endif
