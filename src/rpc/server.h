/*
 * server.h - the hub's side of the wire: a unix socket for this user alone, connections with one
 * role each, methods as a table onto the service.
 */
#ifndef RPC_SERVER_H
#define RPC_SERVER_H
#include <stdbool.h>
#include <stddef.h>

struct service;
struct error;
struct loop;
struct place;
struct text;
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
bool wire_server_open(struct loop *loop, struct service *service, const char *socket_path,
                      int passed_fd, const struct wire_host *host, struct wire_server **ret_server,
                      struct error *err);
void wire_server_flush(struct wire_server *server); /* before the loop sleeps: one write a peer */
/* No new peers, nothing more is read; what was read before is still answered. */
void wire_server_drain(struct wire_server *server);
/* Once that is done: peers get `hub/closing {why}` and are let go when it is written. */
void wire_server_dismiss(struct wire_server *server, const char *why);
bool wire_server_is_drained(const struct wire_server *server);
size_t wire_server_peer_count(const struct wire_server *server);
void wire_server_free(struct wire_server *server);

/* Where a service manager listens for a hub (sayso.socket), whoever needs one rings there, and the
 * manager starts it: its hub has the limits and the log that the unit gives it. */

/* True once a hub has this place's lock. False: nobody listens there, none came in time,
 * or the one that came could not begin. */
bool doorbell_ring(const struct place *place);

#endif
