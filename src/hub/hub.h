/*
 * hub.h - the one process per user that owns asks, clocks and store: puts the parts together,
 * holds the lock, drains on the way out. No logic of its own.
 */
#ifndef HUB_HUB_H
#define HUB_HUB_H
#include <stdbool.h>

struct error;
struct loop;
struct mcp_features;
struct location;
struct settings;
struct text;

enum hub_outcome {
    HUB_ENDED,   /* asked to stop, or idle */
    HUB_BUSY,    /* another hub has the lock */
    HUB_FAILED,  /* err says why */
    HUB_RETIRED, /* a newer version took over; only a service manager starts this hub again */
};
struct hub_options {
    bool leaves_when_idle;     /* a front started us */
    struct settings *settings; /* flags already put; borrowed */
    /* What MCP clients are offered instead of the product, for tests; NULL: the product. */
    const struct mcp_features *(*features)(struct loop *loop);
    /* Serving: called once, with the status object and a link into the portal, NULL without one;
     * may be NULL. */
    void (*on_ready)(void *context, const char *status_json, const char *link);
    void *context;
};
enum hub_outcome hub_run(const struct hub_options *options, struct error *err);

/* The secret with which messages to an address are signed: a file for its owner alone beside the
 * settings, made when it is first wanted. */
bool webhook_secret_get(const struct location *location, struct text *out, struct error *err);

#endif
