/*
 * routes.h - what the hub serves over HTTP: every front, opened and joined to the gate in one
 * place. To add a front: a member and a line in each function of routes.c.
 */
#ifndef HUB_ROUTES_H
#define HUB_ROUTES_H
#include <stdbool.h>
#include <stddef.h>

struct engine;
struct error;
struct guard;
struct http_taken;
struct loop;
struct mcp_offer;
struct place;
struct routes;
struct settings;
struct store;
struct text;

/* Borrowed; they outlive the fronts. */
struct routes_parts {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    const struct settings *settings;
    const struct mcp_offer *offer; /* to MCP clients; NULL: the product's */
    void *context;                 /* of the one below */
    void (*write_status)(void *context, struct text *out);
};
struct routes *routes_open(const struct routes_parts *parts, struct guard *guard);
void routes_flush(struct routes *routes);    /* behind the engine's flush, before the server's */
void routes_announce(struct routes *routes); /* nothing is ready, all is served as before */
void routes_drain(struct routes *routes);    /* we are about to go: polls end, nothing is ready */
void routes_forget_token(struct routes *routes, const char *token_id); /* it was revoked */
/* Another hub noted this of an MCP session. */
void routes_take_note(struct routes *routes, const char *session, const char *what,
                      const char *value);
/* We leave: whoever waits is told how to go on. */
void routes_dismiss(struct routes *routes, const char *why);
/* Connections that are no longer HTTP: where they go, how many they are, and their end before the
 * server's. */
void routes_take(void *routes, const struct http_taken *taken);
size_t routes_peer_count(const struct routes *routes);
void routes_end_peers(struct routes *routes);
void routes_close(struct routes *routes); /* after the server, whose exchanges they use */

/* The secret with which messages to an address are signed: a file for its owner alone beside the
 * settings, made when it is first wanted. */

bool webhook_secret_get(const struct place *place, struct text *out, struct error *err);

#endif
