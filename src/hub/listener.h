/*
 * listener.h - the hub's side towards HTTP: the gate, every front behind it, the port for this
 * machine, and where the setting `listen` wants it a second one for others. A hub that can't have
 * its port serves its socket all the same; what is called then takes NULL for that. To add a front:
 * a member of struct door, and a line where the others have one.
 */
#ifndef HUB_LISTENER_H
#define HUB_LISTENER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct door;
struct engine;
struct error;
struct guard;
struct http_site;
struct loop;
struct mcp_offer;
struct settings;
struct store;
struct text;
struct tls_context;

/* Borrowed; they outlive the door. */
struct door_parts {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    struct settings *settings;
    const struct mcp_offer *offer;                         /* to MCP clients; NULL: the product's */
    void *context;                                         /* of the one below */
    void (*write_status)(void *context, struct text *out); /* of the hub, a JSON object */
    bool must_listen; /* for others, where a setting says so; else that it can't is only logged */
};

/* The gate and the fronts, without a port. */
struct door *door_new(const struct door_parts *parts);
const struct guard *door_guard(const struct door *door);
/* Port 7297 or the one it had last, else the next free one (R7.1). *ret_door NULL, and logged:
 * none. False: others must be listened to, and cannot. */
bool door_open(const struct door_parts *parts, struct door **ret_door, struct error *err);
int door_port(const struct door *door); /* 0: none */
/* "https://sayso.example.org", or by its address; "" where nobody else is listened to. */
const char *door_public_url(const struct door *door);
void door_reload(struct door *door);   /* the certificate, for those who come from now on */
void door_announce(struct door *door); /* it will go: not ready for more, all is served as before */
void door_flush(struct door *door);
void door_drain(struct door *door);
void door_dismiss(struct door *door, const char *why);
bool door_is_drained(const struct door *door);
size_t door_peer_count(const struct door *door);
void door_cut(struct door *door, const uint8_t *token_hash); /* revoked: its holders go (D6) */
/* Another hub noted this of an MCP session; `value` NULL: it holds no more. */
void door_take_state(struct door *door, const char *session, const char *what, const char *value);
void door_free(struct door *door);

/*
 * The listener for other machines, as the settings want it: listen, tls_cert, tls_key,
 * public_url, listen_plain. Refuses whatever would let tokens go over a network in the clear.
 */
bool site_is_wanted(const struct settings *settings);
/* On false `err` names the setting and what it takes. */
bool site_read(const struct settings *settings, struct http_site *ret_site, struct error *err);
/* The certificate as it is now; *ret_tls is NULL where none is set. */
bool site_load_tls(const struct settings *settings, struct tls_context **ret_tls,
                   struct error *err);

#endif
