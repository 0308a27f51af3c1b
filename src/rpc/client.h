/*
 * client.h - calls to the hub, each kept as it was written until its reply is there, and a hub that
 * is found again when it is lost. Nothing here waits: client_wait.c and client_loop.c do, libsayso
 * and tests by poll() of their own. What is made again after which loss is the policy's to say:
 *
 *                    may start  made again after a loss              gives up
 *   command          yes        looks; all if the hub made room      10 losses
 *   ask              yes        all, unless a person stopped it      no hub within 20 s
 *   terminal         yes*       all                                  never: again after 0.1 to 3 s
 *   mcp              yes        all, unless a person stopped it      10 s behind the end of its
 * wait library          option     all, unless a person stopped it      10 losses, patience
 *   * not a hub that a person stopped, until one is there again
 *
 * A call that was made again goes by its ask's id where the hub has named it, else as it was: what
 * was done is done once, as an answer carries its key and an agent's call is matched (R5.5).
 */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H
#include <poll.h>

#include "rpc/finder.h"
#include "rpc/protocol.h"
#include "rpc/service.h"

struct client;
struct client_call;
struct loop;

enum client_resend {
    RESEND_SAFE,
    RESEND_ALL
}; /* SAFE: METHOD_REPEATABLE, and all if the hub made room */
struct client_policy {
    struct finder_policy finder;
    enum client_resend resend;
    const int64_t *retry_ms; /* before the next tries, 0-ended, the last repeats; NULL: as long as
                                there are calls, and they fail with the search */
    int max_losses;          /* that brought nothing, one after the other; 0: no end */
    int64_t grace_ms;        /* a call is given up so long behind the end of its wait; 0: never */
};
/* LOOK is a command that starts no hub, END one that ends even a hub it can't speak with. */
extern const struct client_policy client_for_command, client_for_look, client_for_end,
    client_for_ask, client_for_terminal, client_for_mcp;

/* Called from client_advance alone. Any may be NULL. */
struct client_ops {
    void (*opened)(void *context); /* also after each loss; what is called here goes first */
    /* `retry_ms` -1: not tried again. `err` NULL: it went away, else none was found. */
    void (*lost)(void *context, int64_t retry_ms, const struct error *err);
    void (*event)(void *context, const struct rpc_message *message, const char *line,
                  size_t length);
};

struct client_reply {
    struct error err;                  /* code ERROR_NONE: it worked */
    enum finder_failure failure;       /* not NONE: the hub did not reply */
    const struct json *json;           /* the result, or the detail of a refusal; NULL: neither */
    enum reply_kind kind;              /* of ask/create and ask/wait */
    const struct rpc_message *message; /* NULL: none came */
};
typedef void client_done(void *context, const struct client_reply *reply);
/* NULL: it worked. */
static inline const struct error *client_refusal(const struct client_reply *reply)
{
    return reply->err.code == ERROR_NONE ? NULL : &reply->err;
}

/* Who, how and ops are borrowed. NULL: out of memory. */
struct client *client_new(const struct client_identity *who, const struct client_policy *policy,
                          const struct client_ops *ops, void *context, int64_t (*now_ms)(void));
void client_free(struct client *client); /* NULL is fine; `done` is not called any more */
/* With parameters as text. Calls are sent in their order. NULL: out of memory. `done` may be NULL.
 */
struct client_call *client_call(struct client *client, const struct request *request,
                                client_done *done, void *context);
/* The caller no longer needs the result: the call ends with the connection. */
void client_abandon(struct client_call *call);
bool client_is_sent(const struct client_call *call);
/* Without `done`: one, all. */
void client_forget(struct client *client, struct client_call *take_call);
void client_open(struct client *client);  /* looks for a hub also without a call */
void client_retry(struct client *client); /* now, if it is lost */

/* Called before the descriptor to poll is closed. */
void client_on_closing(struct client *client, void (*closing)(void *context), void *context);
/* As far as it gets. */
void client_advance(struct client *client);
/* What to poll for, and for how long at most: milliseconds, -1: no end. */
int client_wait_for(const struct client *client, struct pollfd *ret_poll);
void client_flush(struct client *client); /* sends what was called, if there is a hub */
/* To be freed, maybe from within its ops: what was called goes out, what has no reply fails now,
 * and nothing more is called. */
void client_leave(struct client *client);
bool client_is_up(const struct client *client);
bool client_is_idle(const struct client *client); /* and no call is to be made */
const struct client_reply *client_failure(const struct client *client); /* of the last search */

/* client_wait.c: for programs that wait. */
/* Until there is a hub. False: `err` is why there is none. */
bool client_open_and_wait(struct client *client, struct error *err);
/* Until its reply, which the caller releases either way. False: `err` is the hub's refusal, or,
 * where *ret_reply is empty, why it did not reply (client_failure). */
bool client_call_and_wait(struct client *client, const char *method, const char *params_json,
                          struct rpc_message *ret_reply, struct error *err);
bool client_request_and_wait(struct client *client, const struct request *request,
                             struct rpc_message *ret_reply, struct error *err);

/* From now on every client of this process that names no socket calls the hub of another machine
 * (`--hub https://…`), and none is started. `ca_file` NULL: whom the system trusts. The texts are
 * borrowed for ever. False: it cannot be used as it is; `err` says what to change. */
bool client_use_remote(const char *url, const char *token_file, const char *ca_file,
                       struct error *err);

/* client_loop.c: on a loop. `who` is copied. What a turn of the loop called goes out before the
 * loop sleeps. */
struct loop_client *loop_client_new(struct loop *loop, const struct client_identity *who,
                                    const struct client_policy *policy,
                                    const struct client_ops *ops, void *context);
struct client *loop_client_of(struct loop_client *client);
void loop_client_free(struct loop_client *client); /* from within its ops, too; NULL is fine */

/* The service of a process that has no engine: each session is a connection that is made at its
 * first call, to the user's own hub, which may be started. `refuses` is called for each new ask:
 * true ends it with `err` before a hub is looked for. */
struct service *client_service_new(struct loop *loop,
                                   bool (*refuses)(void *context, struct error *err),
                                   void *context);
void client_service_free(struct service *base); /* every session must be closed */

#endif
