/* inside.h - what the files of fronts/http_mcp share, grouped by file. */
#ifndef FRONTS_HTTP_MCP_INSIDE_H
#define FRONTS_HTTP_MCP_INSIDE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text.h"
#include "fronts/http_mcp/http_mcp.h"
#include "mcp/mcp.h"
#include "ports/clock.h"

struct guard_identity;
struct http_exchange;
struct json;

enum { TOKEN_BYTES = 17, LABEL_BYTES = 129, SESSION_ID_BYTES = 27 };

/* A client: a legacy session, or all modern requests with one token. */
struct peer {
    struct clock clock; /* first: the protocol's clock is a peer */
    struct table_link link;
    char id[SESSION_ID_BYTES]; /* of a session; of a modern peer its token, which is shorter */
    struct http_mcp *front;
    struct peer *next, *previous; /* latest used first */
    struct mcp *mcp;
    char token[TOKEN_BYTES], label[LABEL_BYTES];
    bool is_session;
    int64_t used_boot_ms;
    int64_t wake_boot_ms; /* 0: none wanted */
    struct stream *streams;
    struct stream *standing; /* of a GET, for what belongs to no call */
    int64_t next_number;
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
    bool is_streaming;              /* events, not one JSON */
    bool is_finished;
    int status;
    int64_t number, seq;  /* event ids are NUMBER-SEQ */
    struct text body;     /* the response, while nothing was streamed */
    struct event *events; /* oldest first */
    size_t event_bytes;
    int64_t away_until_boot_ms;
};

struct http_mcp {
    struct http_mcp_parts parts;
    struct loop_timer *timer;
    int64_t armed_boot_ms; /* 0: not */
    struct table by_id;
    struct peer *first, *last;
    size_t peer_count;
};

/* peer.c */
/* The one that all modern requests with this token share. */
struct peer *peer_get_modern(struct http_mcp *front, const struct guard_identity *who);
/* NULL: this token has too many sessions in use. */
struct peer *peer_new_session(struct http_mcp *front, const struct guard_identity *who);
/* NULL: unknown, over, or somebody else's. */
struct peer *peer_find_session(struct http_mcp *front, const struct guard_identity *who,
                               const char *id);
void peer_free(struct peer *peer);
void peer_wake_at(struct http_mcp *front, int64_t boot_ms);
void peer_on_time(void *context);

/* stream.c */
void stream_serve(struct peer *peer, struct http_exchange *exchange,
                  const struct mcp_headers *headers, const struct json *value);
void stream_stand(struct peer *peer, struct http_exchange *exchange);
/* False: there is no such event any more. */
bool stream_take_up(struct peer *peer, struct http_exchange *exchange, const char *event_id);
void stream_free(struct stream *stream); /* its calls are given up, its exchange is ended */
void stream_finish_standing(struct peer *peer);

#endif
