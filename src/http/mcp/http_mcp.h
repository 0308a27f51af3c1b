/*
 * http_mcp.h - MCP over Streamable HTTP: POST, GET and DELETE /mcp of the hub, both eras on one
 * endpoint. Legacy clients have sessions, modern ones are known by their token alone. A session's
 * id says what a hub must know of it, so every hub that has the keys can serve it.
 * Source: MCP 2025-11-25 and 2026-07-28, basic/transports.
 */
#ifndef HTTP_MCP_HTTP_MCP_H
#define HTTP_MCP_HTTP_MCP_H
#include <stdint.h>

#include "rpc/service.h"

struct engine;
struct guard;
struct http_mcp;
struct loop;
struct mcp_features;
struct settings;

struct http_mcp_parts {
    struct loop *loop;
    struct service *service;
    const struct settings *settings;
    const struct mcp_features *features; /* NULL: the product's */
    struct engine *engine;               /* of the functions below */
    /* The time, the same at every hub. */
    int64_t (*utc_ms)(const struct engine *engine);
    /* As in mcp.h, for clients that have this token. NULL: it can't be. */
    char *(*seal)(struct engine *engine, const char *token, const char *binding, const char *state);
    char *(*unseal)(struct engine *engine, const char *token, const char *binding,
                    const char *sealed);
    /* What every server of a session must know besides its id. `done` may be NULL. */
    void (*note)(struct engine *engine, const struct engine_session_state *note, reply_done *done,
                 void *context);
    void (*drop_state)(struct engine *engine, const char *session);
    void (*each_state)(const struct engine *engine, const char *session,
                       engine_session_state_each *each, void *context);
};
struct http_mcp *http_mcp_new(const struct http_mcp_parts *parts);
void http_mcp_free(struct http_mcp *front); /* after the server, whose exchanges it uses */
/* Before the loop sleeps: the service hears what has arrived, of all streams together. */
void http_mcp_flush(struct http_mcp *front);
void http_mcp_add_routes(struct http_mcp *front, struct guard *guard);

/* The token was revoked: clients that came with it are cut off. */
void http_mcp_forget_token(struct http_mcp *front, const char *token);
/* Another hub noted this of a session. */
void http_mcp_take_state(struct http_mcp *front, const char *session, const char *what,
                         const char *value);
/* We leave: every open call is answered with how to go on, and every stream ends. */
void http_mcp_dismiss(struct http_mcp *front);

#endif
