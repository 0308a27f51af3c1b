/*
 * guard.h - the one gate before every route and listener (R12.1): Host, Origin, token and role,
 * sizes, rates. A route says what it needs; nothing is served that is not in a table.
 */
#ifndef NET_GUARD_H
#define NET_GUARD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard;
struct http_exchange;
struct text;

/* Who may come: shells without data and health checks are open, all else wants a token. */
enum guard_access {
    GUARD_OPEN,
    GUARD_AGENT,
    GUARD_PERSON,
    GUARD_ANYONE,
    GUARD_HOST, /* of conversations */
    GUARD_HOST_OR_PERSON,
    GUARD_ANSWERER, /* a person, or a host that may answer */
};

/* Through which listener: this machine's own, or the one for others (http_virtual_host). */
enum guard_side { GUARD_LOCAL, GUARD_PUBLIC, GUARD_SIDES };

/* What a token stands for. */
struct guard_identity {
    char token[17];  /* first 16 hex digits of its hash; "" without a token (--mcp-auth none) */
    char label[129]; /* what the person called it */
    bool is_agent, is_person, is_host, is_sub_agent, may_answer;
};
struct guard_match {
    /* Both live for the call that gets them. */
    const char *values[2]; /* of {…} in the path, decoded; "" where there is none */
    const struct guard_identity *who;
    const struct guard_route *route;
};

struct guard_route {
    const char *method; /* "GET"; HEAD is served by GET's */
    const char *path; /* "/api/asks/{id}/answer"; a closing slash-star matches the rest of a path */
    enum guard_access access;
    int64_t body_bytes;    /* 0: no body is taken */
    const char *body_type; /* "application/json"; NULL: any */
    void (*serve)(void *context, struct http_exchange *exchange, const struct guard_match *match);
};

struct guard_options {
    void *context;
    /* False: GUARD_AGENT routes take callers without one, on loopback (--mcp-auth none). */
    bool (*mcp_needs_token)(void *context);
    /* True: the hash is of a live token. Called for every request, so it answers from memory. */
    bool (*find_token)(void *context, const uint8_t *hash, struct guard_identity *ret_who);
};
struct guard *guard_new(const struct guard_options *options);
void guard_free(struct guard *guard);
/* Rows live as long as the guard. A path of one table hides the same path of a later one. */
void guard_add_routes(struct guard *guard, const struct guard_route *routes, size_t count,
                      void *context);
/* A secret that came another way than in Authorization, as in a WebSocket's first message. A right
 * one is always known; *ret_retry_s is above 0 where too many wrong ones came before this one. */
bool guard_knows(struct guard *guard, enum guard_side side, const char *secret,
                 struct guard_identity *ret_who, int64_t *ret_retry_s);
/* A secret of another kind was wrong. Returns the seconds to wait; 0: it was not one too many. */
int64_t guard_note_guess(struct guard *guard, enum guard_side side);
/* Whose connections are that come with the token of this hash; http_server_cut ends them. */
uint64_t guard_owner(const uint8_t *hash);
/* Every row in order, for documents and tests; NULL behind the last. */
const struct guard_route *guard_route_at(const struct guard *guard, size_t index);

/* The handler of http_options; its context is the guard. */
int64_t guard_admit(void *guard, struct http_exchange *exchange);
void guard_serve(void *guard, struct http_exchange *exchange);

void guard_on_reply(void *guard, struct http_exchange *exchange, int status);
/* Requests by route and class of status. */
void guard_write_metrics(const struct guard *guard, struct text *out);

/* {"error":{"code","message","path"?}}; the shape of every refusal outside /mcp. */
void guard_refuse(struct http_exchange *exchange, int status, const char *code,
                  const char *message);

/* Patterns of paths: "/api/asks/{id}/answer", "/static/" and a star for the rest. Pure. */
enum { ROUTE_VALUES = 2, ROUTE_VALUE_BYTES = 256 };

/* What stood for {…}, and for the star; "" where nothing did. A part that is too long to be
 * anything of ours does not match. */
struct route_values {
    char of[ROUTE_VALUES][ROUTE_VALUE_BYTES];
};
bool route_matches(const char *pattern, const char *path, struct route_values *ret_values);

#endif
