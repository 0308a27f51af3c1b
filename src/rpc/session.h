/*
 * session.h - one peer of the hub: hello once, then methods (rpc/methods.def), a limit of calls
 * under way, `resync` for who falls behind. What carries its messages, the unix socket or
 * WebSockets, says what is particular to it.
 */
#ifndef RPC_SESSION_H
#define RPC_SESSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/service.h"

enum {
    RPC_EVENT_BYTES = 1048576, /* a peer further behind gets `resync` instead */
    RPC_OUT_BYTES = 4194304,   /* a peer further behind is not read from */
    /* How many reads of one peer may be under way with a remote store; then it is not read from
     * until one has ended, because what they return may be large and its size isn't known yet. */
    RPC_READS_MAX = 16,
};

struct rpc_peer {
    const struct rpc_carrier *carrier;
    struct session *session; /* NULL before hello */
    struct call *calls;      /* under way at the service; session.c's */
    uint32_t call_count, read_count;
    bool needs_resync;
};

struct rpc_carrier {
    struct service *service;
    size_t max_calls; /* of one peer, under way at the same time */
    /* Where messages are written, each with its line end; `end` sends what is there, and reads from
     * the peer again if it may. */
    struct text *(*begin)(struct rpc_peer *peer);
    void (*end)(struct rpc_peer *peer);
    size_t (*behind)(const struct rpc_peer *peer); /* bytes that the peer hasn't taken */
    /* An event without its line end; the others are told the same one after the other. */
    void (*tell)(struct rpc_peer *peer, const char *line, size_t length);
    /* Hello, and what else may be asked before it. False: that is not here. */
    bool (*greet)(struct rpc_peer *peer, enum method method, const struct json *params,
                  const char *id_json);
    void (*do_hub)(struct rpc_peer *peer, enum method method, const char *id_json); /* who may */
    /* A result with more than the service says; false: there is no more. NULL: there never is. */
    bool (*add_more)(const struct rpc_peer *peer, enum method method, struct text *out,
                     const char *id_json, const char *result_json);
    error_add_words *add_words; /* see rpc_add_failure */
};

/* An error of the closed list as a reply; `detail_json` (who won, …) may be NULL, and so may
 * `add_words`, which has more to say in the error's data. */
void rpc_add_failure(struct text *out, const char *id_json, const struct error *err,
                     const char *detail_json, error_add_words *add_words);

void rpc_peer_take(struct rpc_peer *peer, const char *line, size_t length);
/* Of identity, with the peer as its context. */
void rpc_peer_event(void *context, const char *line, size_t length);
bool rpc_peer_is_full(const struct rpc_peer *peer); /* then it is not read from */
void rpc_peer_catch_up(struct rpc_peer *peer);      /* all that was sent is taken */
void rpc_peer_leave(struct rpc_peer *peer);
/* To a request of its own; `id_json` NULL: it was a notification. */
void rpc_peer_reply(struct rpc_peer *peer, const char *id_json, const char *result_json);
void rpc_peer_refuse(struct rpc_peer *peer, const char *id_json, int code, const char *message);
void rpc_peer_welcome(struct rpc_peer *peer, const char *id_json, enum session_role role);

#endif
