/*
 * portal.h - the portal's channel (R7): the page and what it loads, and the wire on WebSockets. A
 * page signs in by its first message and is then a person's session (docs/portal.md).
 */
#ifndef HTTP_PORTAL_PORTAL_H
#define HTTP_PORTAL_PORTAL_H
#include <stdbool.h>
#include <stddef.h>

#include "rpc/service.h"

struct engine;
struct guard;
struct guard_identity;
struct http_taken;
struct loop;
struct settings;
struct web;

/* Borrowed; all of it must outlive the channel. */
struct web_parts {
    struct loop *loop;
    struct service *service;
    struct guard *guard;
    const struct settings *settings;
    void *context;                                         /* of the one below */
    void (*write_status)(void *context, struct text *out); /* a JSON object */
    struct engine *engine;                                 /* of the ones below */
    /* `browser`: "PORT KEY", where its key is to count; NULL: it has none. */
    void (*sign_in)(struct engine *engine, const char *code, const char *label, const char *browser,
                    reply_done *done, void *context);
    bool (*know_device)(struct engine *engine, const struct device_proof *shown,
                        struct guard_identity *ret_who);
    /* Adds a keyed hash of `text` that only this hub and the tab of this id can make; false: there
     * is no such tab. */
    bool (*prove)(const struct engine *engine, const char *tab, const char *text, struct text *out);
};
struct web *web_new(const struct web_parts *parts);
void web_free(struct web *web); /* NULL is fine */
void web_add_routes(struct web *web, struct guard *guard);
/* The `taken` of the HTTP server. */
void web_take(void *web, const struct http_taken *taken);
void web_flush(struct web *web); /* behind the service's own flush */
size_t web_peer_count(const struct web *web);
void web_forget_token(struct web *web, const char *token_id); /* revoked: its tabs are closed */
void web_dismiss(struct web *web, const char *why); /* pages are told, and connect again */
void web_end_peers(struct web *web);                /* before the HTTP server goes */
void web_write_metrics(const struct web *web, struct text *out);

#endif
