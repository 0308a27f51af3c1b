/*
 * client_loop.h - a client of the hub on a loop: by itself, for the terminal, and as the service of
 * a process that has no engine, where each session is a connection that is made at its first call.
 */
#ifndef RPC_CLIENT_LOOP_H
#define RPC_CLIENT_LOOP_H
#include <stdbool.h>

#include "rpc/client.h"

struct service;
struct loop;
struct loop_client;

/* `who` is copied. What a turn of the loop called goes out before the loop sleeps. */
struct loop_client *loop_client_new(struct loop *loop, const struct client_identity *who,
                                    const struct client_policy *policy,
                                    const struct client_ops *ops, void *context);
struct client *loop_client_of(struct loop_client *client);
void loop_client_free(struct loop_client *client); /* from within its ops, too; NULL is fine */

/* Of the user's own hub, which may be started. `refuses` is called for each new ask: true ends it
 * with `err` before a hub is looked for. */
struct service *client_service_new(struct loop *loop,
                                   bool (*refuses)(void *context, struct error *err),
                                   void *context);
void client_service_free(struct service *base); /* every session must have left */

#endif
