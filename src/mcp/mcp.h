/*
 * mcp.h - the Model Context Protocol with one client: messages in, messages out. Knows no
 * transport, no store and no user interface; asks go to the service. Everything but a good ask or
 * collect is answered here: no hub, no file, no port is touched for it (R10.2).
 *
 * A message comes in with the stream on which everything about it goes out. On stdio there is one
 * stream for all; over HTTP each POST is one, so two POSTs may use the same id at the same time.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/revision.h"

struct clock;
struct service;
struct json_writer;
struct mcp;
struct mcp_delivery;
struct mcp_features;
struct mcp_stream;

enum mcp_kind { MCP_RESPONSE, MCP_NOTIFICATION, MCP_REQUEST };
struct mcp_message {
    enum mcp_kind kind;
    int status;       /* of an HTTP reply that has nothing but this response */
    const char *line; /* one line with its end */
    size_t length;
};

struct mcp_stream_ops {
    void (*message)(struct mcp_stream *stream, const struct mcp_message *message);
    /* A person is awaited: the client must hear soon that the call goes on. May be NULL. */
    void (*waits)(struct mcp_stream *stream);
    /* Every request of this exchange is answered or given up: the last word. May be NULL. */
    void (*finished)(struct mcp_stream *stream);
    /* The client is asked to come back for the rest later (2025-11-25). May be NULL. */
    void (*part)(struct mcp_stream *stream, int retry_ms);
    /* What mcp_stream_state says of this stream is known or has changed. Legacy only. May be NULL.
     */
    void (*state)(struct mcp_stream *stream);
};
/* The transport's own struct begins with this and sets `ops`; the rest is ours. It is not freed in
 * one of those, and dropped before it is. */
struct mcp_stream {
    const struct mcp_stream_ops *ops;
    uint32_t open;                   /* requests not answered yet */
    uint32_t call_count : 31;        /* calls that answer here */
    bool awaits_state : 1;           /* `state` will be called in a moment */
    struct mcp_delivery *deliveries; /* in messages that may not have arrived yet */
    struct mcp_call *call;           /* its client can come back for; NULL: none */
};

/* What HTTP said beside the body; a NULL struct on stdio, a NULL member where it is absent. */
struct mcp_headers {
    const char *protocol_version, *method, *name, *accept;
};

struct mcp_parts {
    struct service *service;
    struct clock *clock;
    int64_t uid, pid;
    const char *as_name;          /* NULL: none */
    const char *directory;        /* NULL: none */
    const char *token, *token_id; /* over HTTP, as in rpc/service.h */
    bool is_sub_agent;
    bool is_hub;           /* the service is in this process: a look at it starts nothing */
    const char *transport; /* "stdio", "http" */
    /* As in rpc/service.h, of the client whose message is being read; NULL: it is above. */
    bool (*locate)(void *context, int64_t *ret_uid, int64_t *ret_pid);
    size_t max_calls;                    /* at the same time */
    const struct mcp_features *features; /* NULL: the product's */
    void *context;
    /* How long a call of this client may be held open, in seconds, if it is told of progress. */
    int64_t (*hold_limit_s)(void *context, const char *client_name, bool has_progress);
    /* Whether 2026-07-28 is offered to this client; NULL: to all. */
    bool (*offers_modern)(void *context, const char *client_name);
    /* Which tools are listed (core/known_clients.h); NULL: all. */
    const char *(*tools)(void *context);
    /* Whether the person's gate speaks of a call of a client's own tool; NULL: of every one. */
    bool (*is_gated)(void *context, const char *tool, const struct json *input);
    /* State that travels with a client: only we can make and open it, and only for this principal
     * and `binding`. The caller frees what it gets; NULL: altered, not ours, or too old. Both NULL:
     * no state is given out. */
    char *(*seal)(void *context, const char *binding, const char *state);
    char *(*unseal)(void *context, const char *binding, const char *sealed);
    /* Other servers of this session must know this (mcp_take_state); `value` NULL: not any more.
     * NULL: there are no other servers. */
    void (*note)(void *context, const char *what, const char *value);
};
struct mcp *mcp_new(const struct mcp_parts *parts);
void mcp_free(struct mcp *mcp); /* its asks stay, detached; its streams are touched no more */

/* A legacy session, for a server that serves it without having seen its handshake. */
struct mcp_session {
    enum mcp_revision revision;
    unsigned abilities;                       /* enum ability */
    const char *client_name, *client_version; /* borrowed; NULL: it did not say */
};
void mcp_read_session(const struct json *params, struct mcp_session *ret_session); /* initialize */
/* Members of an object that is open, and back. */
void mcp_write_session(const struct mcp_session *session, struct json_writer *writer);
void mcp_parse_session(const struct json *written, struct mcp_session *ret_session);
void mcp_set_session(struct mcp *mcp, const struct mcp_session *session);
/* What was noted of it before, or has just been by another. */
void mcp_take_state(struct mcp *mcp, const char *what, const char *value);
/* It is about what is open now: minutes later it means nothing. */
bool mcp_state_is_passing(const char *what);

void mcp_take_line(struct mcp *mcp, struct mcp_stream *stream, const char *line, size_t length);
/* A message that was parsed before: over HTTP it must be known whose it is (entry.h). */
void mcp_take_value(struct mcp *mcp, struct mcp_stream *stream, const struct mcp_headers *headers,
                    const struct json *value);
/* A line longer than the limit is skipped; what was read of it may have its id. */
void mcp_refuse_long_line(struct mcp *mcp, struct mcp_stream *stream, const char *begin,
                          size_t length);

/* Every message of this stream is with the client now. Not before that does an answer count as
 * delivered: one that died in a buffer belongs to the next identical call (R5.5). */
void mcp_confirm(struct mcp *mcp, struct mcp_stream *stream);
/* The same where many streams end at the same time: the service hears of all of them together, when
 * the second is called. */
void mcp_confirm_soon(struct mcp *mcp, struct mcp_stream *stream);
void mcp_tell_confirmed(struct mcp *mcp);
/* The client is away but may come back for this stream. Its asks are detached until then, so the
 * same call made elsewhere gets this ask and not a second one. */
void mcp_pause(struct mcp *mcp, struct mcp_stream *stream);
void mcp_resume(struct mcp *mcp, struct mcp_stream *stream);
/* The client is back for a call that another server began: it goes on on this stream, which is
 * fresh. False, and nothing was said: this state is not ours, of another session, or too old. */
bool mcp_take_up(struct mcp *mcp, struct mcp_stream *stream, const char *sealed);
/* With this, a client that loses this stream can come back for its call, to any server of the
 * session; NULL: it can't. It is made when it is needed, since thousands of streams wait. */
char *mcp_stream_state(const struct mcp_stream *stream);
/* Its client closed it, as modern ones do when they give up: after how long is worth knowing. Then
 * as mcp_drop. */
void mcp_give_up(struct mcp *mcp, struct mcp_stream *stream);
/* Nothing can be said on it any more: its calls are given up, their asks stay, detached, and what
 * was not confirmed belongs to the next identical call. */
void mcp_drop(struct mcp *mcp, struct mcp_stream *stream);
/* Where news goes that belongs to no request: the one stream of stdio, or the GET of a session;
 * NULL: there is none, what is missed is told when there is one again. */
void mcp_stand(struct mcp *mcp, struct mcp_stream *stream);
/* We leave: every open call is answered, with how to go on. */
void mcp_dismiss(struct mcp *mcp);

void mcp_on_time(struct mcp *mcp); /* the clock's wake-up: progress is due, or patience ends */
enum mcp_revision mcp_negotiated(const struct mcp *mcp);

#endif
