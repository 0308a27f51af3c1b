/* inside.h - what the files of channels/web offer each other. */
#ifndef CHANNELS_WEB_INSIDE_H
#define CHANNELS_WEB_INSIDE_H
#include "channels/web/web.h"
#include "net/guard.h"
#include "net/websocket.h"

struct call;
struct sign_in;

enum {
    WEB_EVENT_BYTES = 1048576, /* a page further behind gets `resync` instead */
    WEB_OUT_BYTES = 4194304,   /* a page further behind is not read from */
    WEB_CALLS = 1024,          /* of one page, under way at once */
    WEB_ID_BYTES = 256,
    WEB_NAME_BYTES = 128,
    WEB_CHALLENGE_BYTES = 27, /* of random_id */
};

/* One page that is connected. */
struct session {
    struct session *next, *previous;
    struct web *web;
    struct ws_peer *peer;
    struct desk_visit *visit;     /* NULL before hello */
    struct call *calls;           /* under way at the desk */
    struct sign_in *sign_in;      /* a code is being exchanged; NULL: none */
    struct guard_identity *guest; /* who brought a token at the gate; owned; NULL: a page */
    uint16_t call_count;
    uint8_t look_count;
    uint8_t role; /* enum desk_role, from hello on */
    bool needs_resync;
    char token_id[17];
    char challenge[WEB_CHALLENGE_BYTES]; /* to be signed, once; "": none */
};

struct web {
    struct web_parts parts;
    struct ws_server *server;
    struct session *sessions;
    struct ws_frame
        *newest; /* the event that was told last: the next page most likely gets it too */
    struct guard_identity *arriving; /* whose connection is being taken over; owned */
    bool is_leaving;
    bool is_off;       /* the setting portal is, and no page is left */
    int64_t signed_in; /* since the start */
};

/* session.c: one page, from its first message on */
extern const struct ws_handler session_handler; /* without its context */
void session_reply_error(struct session *session, const char *id_json, int code,
                         const char *message);
void session_send(struct session *session, struct text *take_line); /* one message with line end */
void session_event(void *context, const char *line, size_t length);
bool session_locate(void *context, int64_t *ret_uid, int64_t *ret_pid);
enum guard_door session_door(const struct session *session);
/* From now on it acts as this visitor, who has a token. */
void session_enter(struct session *session, const struct desk_visitor *visitor);

/* hello.c: who it is */
struct json;
void hello_take(struct session *session, const struct json *params, const char *id_json);
/* Before hello: the hub shows that it is the one the tab signed in to. */
void hello_prove(struct session *session, const struct json *params, const char *id_json);
void hello_forget(struct session *session); /* it is gone; what is under way comes to nothing */

/* guest.c: clients of other machines, `sayso --hub`, who speak the wire as on the unix socket */
extern const struct guard_route guest_routes[];
extern const size_t guest_route_count;
void guest_enter(struct session *session, const struct json *params, const char *id_json);

/* open.c */
extern const struct guard_route open_routes[];
extern const size_t open_route_count;

/* pages.c */
extern const struct guard_route page_routes[];
extern const size_t page_route_count;

#endif
