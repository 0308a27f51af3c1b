/*
 * routes.h - what the hub serves over HTTP: every front, opened and joined to the gate in one
 * place. To add a front: a member and a line in each function of routes.c.
 */
#ifndef HUB_ROUTES_H
#define HUB_ROUTES_H

struct engine;
struct guard;
struct loop;
struct mcp_offer;
struct routes;
struct settings;
struct store;

/* Borrowed; they outlive the fronts. */
struct routes_parts {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    const struct settings *settings;
    const struct mcp_offer *offer; /* to MCP clients; NULL: the product's */
};
struct routes *routes_open(const struct routes_parts *parts, struct guard *guard);
void routes_flush(struct routes *routes); /* behind the engine's flush, before the server's */
void routes_drain(struct routes *routes); /* we are about to go: polls end, nothing is ready */
void routes_forget_token(struct routes *routes, const char *token_id); /* it was revoked */
void routes_dismiss(struct routes *routes); /* we leave: whoever waits is told how to go on */
void routes_close(struct routes *routes);   /* after the server, whose exchanges they use */

#endif
