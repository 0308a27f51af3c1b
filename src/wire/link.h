/*
 * link.h - the client's side of the wire for programs that wait: plain sockets and poll().
 * Finds the hub through hub.json and starts it where there is none.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

struct link;

struct link_identity {
    const char *role;           /* "agent" or "person" */
    const char *channel;        /* people: "cli", "terminal" */
    const char *name;           /* of the client, as it calls itself */
    const char *as_name;        /* NULL: none */
    const char *directory;      /* NULL: none */
    const char *client_version; /* NULL: our own */
    const char *transport;      /* agents: of the client we speak for; NULL: none */
    bool is_sub_agent;
    bool is_retired;  /* the last hub made room for a newer one, which is given time to come */
    bool was_reached; /* socket_path: it was there a moment ago, and is given time to come back */
    const char *socket_path; /* NULL: the user's own hub; else this one, which is never started */
};
enum link_start {
    LINK_MAY_START,
    LINK_MUST_RUN, /* not_found where no hub runs */
    LINK_MUST_END, /* the same; an older hub, which can't be spoken with, is ended */
};

/* Connected and hello said. `unavailable` with a remedy otherwise; not_found with LINK_MUST_RUN. */
bool link_open(const struct link_identity *identity, enum link_start start, struct link **ret_link,
               struct error *err);
void link_close(struct link *link); /* NULL is fine */
/* The connection without the link around it, and what came after hello's reply. */
int link_take_fd(struct link *take_link, struct text *ret_unread);

/* Sends a request and waits for its response; notifications meanwhile go to `on_note` (may be
 * NULL). False: `err` is the hub's refusal, or `unavailable` with link_is_lost true. On a refusal
 * *ret_reply holds error.data.detail's message too. The caller releases *ret_reply either way. */
bool link_call(struct link *link, const char *method, const char *params_json,
               struct wire_message *ret_reply, struct error *err);
void link_on_note(struct link *link, void (*call)(void *context, const struct wire_message *note),
                  void *context);
bool link_is_lost(const struct link *link); /* the other end went away */
const char *
link_closing(const struct link *link); /* why the hub said it closes; "" if it did not */

#endif
