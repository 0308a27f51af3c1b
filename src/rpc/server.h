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
struct location;
struct text;
struct rpc_server;

/* What a connection may want of the hub itself. */
enum shutdown { SHUTDOWN_STOP, SHUTDOWN_RETIRE };
struct rpc_host {
    void *context;
    void (*write_status)(void *context, struct text *out); /* a JSON object */
    void (*shut_down)(void *context, enum shutdown shut_down);
};

/* The socket file is made with mode 0600; an old one of a dead hub is replaced. `passed_fd` listens
 * there already and belongs to the service manager, which goes on when we go; -1: there is none. */
bool rpc_server_open(struct loop *loop, struct service *service, const char *socket_path,
                     int passed_fd, const struct rpc_host *host, struct rpc_server **ret_server,
                     struct error *err);
void rpc_server_flush(struct rpc_server *server); /* before the loop sleeps: one write a peer */
/* No new peers, nothing more is read; what was read before is still answered. */
void rpc_server_drain(struct rpc_server *server);
/* Once that is done: peers get `hub/closing {why}` and are let go when it is written. */
void rpc_server_dismiss(struct rpc_server *server, const char *why);
bool rpc_server_is_drained(const struct rpc_server *server);
size_t rpc_server_peer_count(const struct rpc_server *server);
void rpc_server_free(struct rpc_server *server);

/* Where a service manager listens for a hub (sayso.socket), a client that needs one connects there,
 * and the manager starts it: this hub has the limits and the log that the unit gives it. */

/* True once a hub has this place's lock. False: nothing listens there, no hub came in time, or the
 * one that came could not begin. */
bool activation_begin(const struct location *location);

#endif
