/* peer.h - what the files of http/mcp share, grouped by file. */
#ifndef HTTP_MCP_PEER_H
#define HTTP_MCP_PEER_H
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/table.h"
#include "base/text.h"
#include "http/mcp/http_mcp.h"
#include "mcp/mcp.h"

struct guard_identity;
struct http_exchange;

enum { LABEL_BYTES = 129, SESSION_ID_BYTES = 27 };

#define NOTE_ENDED "ended"

/* A client: a legacy session, or all modern requests with one token. */
struct peer {
    struct clock clock; /* first: the protocol's clock is a peer */
    struct table_link link;
    char id[SESSION_ID_BYTES]; /* of a session; of a modern peer its token, which is shorter */
    bool is_sealed;            /* its client knows that id in a seal, and any hub can open it */
    struct http_mcp *front;
    struct peer *next, *previous; /* latest used first */
    struct mcp *mcp;
    char token[TOKEN_ID_BYTES], label[LABEL_BYTES];
    bool is_session;
    int64_t used_boot_ms;
    int64_t wake_boot_ms;          /* 0: none wanted */
    struct http_exchange *serving; /* NULL: nothing is being read from it */
    struct stream *streams;
    struct stream *standing; /* of a GET, for what belongs to no call */
};

/* A message that a client may come back for. */
struct event {
    struct event *next;
    int64_t seq;
    enum mcp_kind kind;
    char *data; /* owned, one line without its end */
};

/* What goes out about one POST, or the standing stream of a session. */
struct stream {
    struct mcp_stream mcp; /* first: the protocol's stream is this */
    struct stream *next, *previous;
    struct peer *peer;
    struct http_exchange *exchange; /* NULL: the client is away */
    int64_t number,
        seq; /* event ids are NUMBER-SEQ, g in front of a standing one's, .STATE behind */
    union {
        struct text *body;          /* the response, until it is_streaming; NULL: none yet */
        int64_t away_until_boot_ms; /* from then on */
    };
    struct event *events; /* oldest first */
    uint32_t event_bytes;
    uint16_t status;
    bool is_streaming : 1; /* events, not one JSON */
    bool is_finished : 1;
    bool has_state : 1; /* its client can come back for its call */
};

struct http_mcp {
    struct http_mcp_parts parts;
    struct loop_timer *timer;
    int64_t armed_boot_ms; /* 0: not */
    struct table by_id;
    struct peer *first, *last;
    size_t peer_count;
    struct session_end *endings;
    bool is_confirming; /* a peer has results that the service does not know to have arrived */
};

/* peer.c */
/* The one that all modern requests with this token share. */
struct peer *peer_get_modern(struct http_mcp *front, const struct guard_identity *who);
/* With the params of its `initialize`; *ret_id is for its client, who frees is the caller. NULL:
 * this token has too many sessions in use. */
struct peer *peer_new_session(struct http_mcp *front, const struct guard_identity *who,
                              const struct json *params, char **ret_id);
/* NULL: unknown, over, ended, or another token's; or, with *ret_is_full, there is no room. */
struct peer *peer_find_session(struct http_mcp *front, const struct guard_identity *who,
                               const char *id, bool *ret_is_full);
void peer_free(struct peer *peer);
/* Everything said on this stream has arrived: the service is told at the end of the turn. */
void peer_confirm(struct peer *peer, struct mcp_stream *stream);
void peer_wake_at(struct http_mcp *front, int64_t boot_ms);
void peer_on_time(void *context);

/* stream.c */
void stream_serve(struct peer *peer, struct http_exchange *exchange,
                  const struct mcp_headers *headers, const struct json *value);
void stream_stand(struct peer *peer, struct http_exchange *exchange);
/* False: there is nothing to come back for. */
bool stream_take_up(struct peer *peer, struct http_exchange *exchange, const char *event_id);
bool stream_is_standing(const char *event_id); /* of such a stream, whichever */
void stream_free(struct stream *stream);       /* its calls are given up, its exchange is ended */
void stream_finish_standing(struct peer *peer);

#endif
