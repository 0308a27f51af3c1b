/*
 * listener.h - the hub's side towards HTTP: the gate, every front behind it, the port for this
 * machine, and where the setting `listen` wants it a second one for others. A hub that can't have
 * its port serves its socket all the same; what is called then takes NULL for that. To add a front:
 * a member of struct listener, and a line where the others have one.
 */
#ifndef HUB_LISTENER_H
#define HUB_LISTENER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listener;
struct engine;
struct error;
struct guard;
struct http_virtual_host;
struct loop;
struct mcp_features;
struct settings;
struct store;
struct text;
struct tls_context;

/* Borrowed; they outlive the listener. */
struct listener_parts {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    struct settings *settings;
    const struct mcp_features *features;                   /* to MCP clients; NULL: the product's */
    void *context;                                         /* of the one below */
    void (*write_status)(void *context, struct text *out); /* of the hub, a JSON object */
    bool must_listen; /* for others, where a setting says so; else that it can't is only logged */
};

/* The gate and the fronts, without a port. */
struct listener *listener_new(const struct listener_parts *parts);
const struct guard *listener_guard(const struct listener *listener);
/* Port 7297 or the one it had last, else the next free one (R7.1). *ret_listener NULL, and logged:
 * none. False: others must be listened to, and cannot. */
bool listener_open(const struct listener_parts *parts, struct listener **ret_listener,
                   struct error *err);
int listener_port(const struct listener *listener); /* 0: none */
/* "https://sayso.example.org", or by its address; "" where only this machine is served. */
const char *listener_public_url(const struct listener *listener);
/* the certificate, for those who come from now on */
void listener_reload(struct listener *listener);
/* it will go: not ready for more, all is served as before */
void listener_announce(struct listener *listener);
void listener_flush(struct listener *listener);
void listener_drain(struct listener *listener);
void listener_dismiss(struct listener *listener, const char *why);
bool listener_is_drained(const struct listener *listener);
size_t listener_peer_count(const struct listener *listener);
/* revoked: its holders go (D6) */
void listener_cut(struct listener *listener, const uint8_t *token_hash);
/* Another hub noted this of an MCP session; `value` NULL: it holds no more. */
void listener_take_state(struct listener *listener, const char *session, const char *what,
                         const char *value);
void listener_free(struct listener *listener);

/*
 * The listener for other machines, as the settings want it: listen, tls_cert, tls_key,
 * public_url, listen_plain. Refuses whatever would let tokens go over a network in the clear.
 */
bool public_listener_is_wanted(const struct settings *settings);
/* On false `err` names the setting and what it takes. */
bool public_listener_read(const struct settings *settings, struct http_virtual_host *ret_host,
                          struct error *err);
/* The certificate as it is now; *ret_tls is NULL where none is set. */
bool public_listener_load_tls(const struct settings *settings, struct tls_context **ret_tls,
                              struct error *err);

#endif
