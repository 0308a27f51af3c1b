/*
 * service.h - what fronts and channels need: the service at which agents ask and people answer.
 * The engine is one; in a process without an engine the wire's client side is another.
 *
 * A connection is a session: it has one role and one identity for its whole life. What it may call
 * are the rows of methods.def, with parameters as docs/wire.md has them.
 */
#ifndef RPC_SERVICE_H
#define RPC_SERVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "core/outcome.h"

struct service;
struct text;

/* The methods: their names, who may call them, and what is true of each. */
enum method {
#define METHOD(id, name, roles, flags)     METHOD_##id,
#define HUB_METHOD(id, name, roles, flags) METHOD_##id,
#include "rpc/methods.def"
    METHOD_COUNT
};

enum method_flags {
    METHOD_REPEATABLE = 1, /* a client may say it again to the next hub */
    METHOD_READS = 2,      /* answered out of the store: its session's news wait for the reply */
    METHOD_WAITS = 4,      /* parked until there is something to say: wait_seconds and tag count */
    METHOD_OF_HUB = 8,     /* HUB_METHOD */
};

struct method_row {
    const char *name;      /* NULL: not on the wire */
    unsigned roles, flags; /* of enum session_role; enum method_flags */
};
extern const struct method_row methods[METHOD_COUNT];

enum method method_find(const char *name); /* METHOD_COUNT: there is none */

struct session; /* the service's own record of a peer */

enum session_role { ROLE_AGENT = 1, ROLE_PERSON = 2 };

/* Who calls the service. Borrowed for service_ops.open only. */
struct identity {
    enum session_role role;
    const char *via;            /* people: "cli" "terminal" "web" "api" "client" */
    int64_t uid, pid;           /* pid 0: no process is known, as over HTTP; uid -1: nor whose */
    uint64_t start;             /* of pid, so that a reused pid is another process; 0: not read */
    const char *tty;            /* "" without */
    const char *name, *version; /* what the client calls itself: a claim */
    const char *as_name;        /* --as NAME; NULL: none */
    const char *token;          /* what the person called the token it came with; NULL: none */
    const char *token_id;       /* its id; "" over HTTP without a token; NULL: a local process */
    const char *directory;      /* working directory; may be NULL */
    const char *language;       /* agents: what their asks are read in; NULL: not said */
    const char *transport; /* agents: how its client reaches us, "stdio"; NULL: it is no client */
    bool is_sub_agent;
    bool may_answer; /* a host: questions of its own conversations */
    void *context;   /* handed to all of these */
    /* Whose process it is, where finding that out costs something; NULL: said above. False:
     * unknown. Called once at most, when it counts. */
    bool (*locate)(void *context, int64_t *ret_uid, int64_t *ret_pid);
    /* A JSON-RPC notification as one line without the line end; the bytes are shared by all
     * peers and live for the call. */
    void (*event)(void *context, const char *line, size_t length);
    /* The same by a service that had to read it; NULL: `event` is called. */
    void (*message)(void *context, const char *method, const struct json *params);
};

/* A browser that stays signed in shows its id, and that it signed the hub's challenge at this port.
 */
struct device_proof {
    const char *id;
    int port;
    const char *challenge, *signature;
};

struct reply {
    struct error err;       /* code ERROR_NONE: it worked */
    const char *json;       /* result, or data for the error; NULL: nothing to add */
    enum reply_kind kind;   /* of METHOD_WAITS */
    const char *session_id; /* where one is concerned; else NULL */
};
typedef void reply_done(void *context, const struct reply *reply);

/* A reply_done of a caller that needs no reply. */
static inline void reply_ignore(void *context, const struct reply *reply)
{
    (void)context;
    (void)reply;
}

/* A call of a method. Borrowed for service_ops.call only. */
struct request {
    enum method method;
    /* One of them, or neither: there are no parameters. */
    const struct json *params; /* read */
    const struct text *text;   /* written: the engine reads them, who passes them on need not */
    /* Of METHOD_WAITS; `text` has the first two as well. */
    int64_t wait_ms; /* -1: to the end */
    const char *tag; /* comes back with ask/created; NULL: none */
    bool is_bound;   /* by sealed state: the next hub gets it whole, never by the ask's id */
};

struct service_ops {
    struct session *(*open)(struct service *service, const struct identity *identity);
    void (*close)(struct service *service, struct session *session);
    /* Answers once through `done`, maybe before it returns, as with HUB_METHOD: whether this
     * peer may have the hub do that. After `close` nothing of the session is called any more. */
    void (*call)(struct service *service, struct session *session, const struct request *request,
                 reply_done *done, void *context);
};
struct service {
    const struct service_ops *ops; /* the implementation's own struct begins with this */
};

/* What every hub must know of an MCP session beside what its id says. */
struct engine_session_state {
    const char *session, *token; /* 26 characters; the token's id, "" without */
    const char *what, *value;    /* `value` NULL: it holds no more */
    int64_t lifetime_ms;
};
typedef void engine_session_state_each(void *context, const char *what, const char *value);

#endif
