/* session.h - what the files of http/portal offer each other. */
#ifndef HTTP_PORTAL_SESSION_H
#define HTTP_PORTAL_SESSION_H
#include "base/text.h"
#include "http/portal/portal.h"
#include "net/guard.h"
#include "net/websocket.h"
#include "rpc/session.h"

struct sign_in;

enum {
    WEB_NAME_BYTES = 128,
    WEB_CHALLENGE_BYTES = 27, /* of random_id */
};

/* One page that is connected. */
struct portal_session {
    struct rpc_peer wire; /* first: a peer of the wire is a session */
    struct portal_session *next, *previous;
    struct web *web;
    struct ws_peer *peer;
    struct sign_in *sign_in;             /* a code is being exchanged; NULL: none */
    struct guard_identity *token_holder; /* who brought a token at the gate; owned; NULL: a page */
    char token_id[17];
    char challenge[WEB_CHALLENGE_BYTES]; /* to be signed, once; "": none */
};

struct web {
    struct web_parts parts;
    struct rpc_carrier carrier;
    struct ws_server *server;
    struct portal_session *sessions;
    struct text line; /* a message that is being written */
    /* the event that was told last: the next page most likely gets it too */
    struct ws_frame *newest;
    struct guard_identity *arriving; /* whose connection is being taken over; owned */
    bool is_leaving;
    bool is_off;       /* the setting portal is, and no page is left */
    int64_t signed_in; /* since the start */
};

/* session.c: one page, from its first message on */
extern const struct ws_handler session_handler;  /* without its context */
extern const struct rpc_carrier session_carrier; /* without its service */
/* Clients of other machines, `sayso --hub`, who speak the wire as on the unix socket. */
void serve_remote_client(void *context, struct http_exchange *exchange,
                         const struct guard_match *match);

#endif
