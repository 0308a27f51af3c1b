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
    WIRE_EVENT_BYTES = 1048576, /* a peer further behind gets `resync` instead */
    WIRE_OUT_BYTES = 4194304,   /* a peer further behind is not read from */
    /* How many reads of one peer may be under way with a remote store; then it is not read from
     * until one has ended, because what they return may be large and its size isn't known yet. */
    WIRE_LOOKS = 16,
};

struct wire_peer {
    const struct wire_carrier *carrier;
    struct session *session; /* NULL before hello */
    struct call *calls;      /* under way at the service; session.c's */
    uint32_t call_count, look_count;
    bool needs_resync;
};

struct wire_carrier {
    struct service *service;
    size_t most_calls; /* of one peer, under way at once */
    /* Where messages are written, each with its line end; `end` sends what is there, and reads from
     * the peer again if it may. */
    struct text *(*begin)(struct wire_peer *peer);
    void (*end)(struct wire_peer *peer);
    size_t (*behind)(const struct wire_peer *peer); /* bytes that the peer hasn't taken */
    /* An event without its line end; the others are told the same one after the other. */
    void (*tell)(struct wire_peer *peer, const char *line, size_t length);
    /* Hello, and what else may be asked before it. False: that is not here. */
    bool (*greet)(struct wire_peer *peer, enum method method, const struct json *params,
                  const char *id_json);
    void (*do_hub)(struct wire_peer *peer, enum method method, const char *id_json); /* who may */
    /* A result with more than the service says; false: there is no more. NULL: there never is. */
    bool (*add_more)(const struct wire_peer *peer, enum method method, struct text *out,
                     const char *id_json, const char *result_json);
    error_add_words *add_words; /* see wire_add_failure */
};

/* An error of the closed list as a reply; `detail_json` (who won, …) may be NULL, and so may
 * `add_words`, which has more to say in the error's data. */
void wire_add_failure(struct text *out, const char *id_json, const struct error *err,
                      const char *detail_json, error_add_words *add_words);

void wire_peer_take(struct wire_peer *peer, const char *line, size_t length);
/* Of identity, with the peer as its context. */
void wire_peer_event(void *context, const char *line, size_t length);
bool wire_peer_is_full(const struct wire_peer *peer); /* then it is not read from */
void wire_peer_catch_up(struct wire_peer *peer);      /* all that was sent is taken */
void wire_peer_leave(struct wire_peer *peer);
/* To a request of its own; `id_json` NULL: it was a notification. */
void wire_peer_reply(struct wire_peer *peer, const char *id_json, const char *result_json);
void wire_peer_refuse(struct wire_peer *peer, const char *id_json, int code, const char *message);
void wire_peer_welcome(struct wire_peer *peer, const char *id_json, enum session_role role);

#endif
