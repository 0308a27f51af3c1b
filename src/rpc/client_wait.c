/* client_wait.c - calls that wait, by poll(), and which hub this process calls; see client.h. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "net/remote.h"
#include "rpc/client.h"

struct waiting {
    struct rpc_message *message;
    struct error *err;
    bool is_done;
};

static void wait_once(struct client *client)
{
    struct pollfd ready;
    int limit_ms = client_wait_for(client, &ready);

    if (poll(&ready, 1, limit_ms) >= 0 || errno == EINTR)
        client_advance(client);
}

bool client_open_and_wait(struct client *client, struct error *err)
{
    client_open(client);
    client_advance(client);
    while (!client_is_up(client) && client_failure(client)->failure == FAILURE_NONE)
        wait_once(client);
    *err = client_failure(client)->err;
    /* the first call looks again for a hub that left immediately */
    return client_is_up(client) || client_failure(client)->failure == FAILURE_LOST;
}

static void on_done(void *context, const struct client_reply *reply)
{
    struct waiting *waiting = context;

    waiting->is_done = true;
    *waiting->err = reply->err;
    if (reply->message) {
        *waiting->message = *reply->message;
        json_keep(reply->message->root);
    }
}

bool client_request_and_wait(struct client *client, const struct request *request,
                             struct rpc_message *ret_reply, struct error *err)
{
    struct waiting waiting = { .message = ret_reply, .err = err };

    *ret_reply = (struct rpc_message){ 0 };
    client_call(client, request, on_done, &waiting);
    client_advance(client);
    while (!waiting.is_done)
        wait_once(client);
    return err->code == ERROR_NONE;
}

bool client_call_and_wait(struct client *client, const char *method, const char *params_json,
                          struct rpc_message *ret_reply, struct error *err)
{
    struct text params = { .bytes = (char *)(uintptr_t)params_json, .used = strlen(params_json) };
    const struct request request = { .method = method_find(method),
                                     .text = &params,
                                     .wait_ms = -1 };

    return client_request_and_wait(client, &request, ret_reply, err);
}

static struct remote_target remote;

static int begin_remote(int *ret_fd, struct error *err)
{
    return remote_begin(&remote, ret_fd, err);
}

bool client_use_remote(const char *url, const char *token_file, const char *ca_file,
                       struct error *err)
{
    remote = (struct remote_target){ url, token_file, ca_file };
    finder_use_remote(begin_remote);
    return remote_check(&remote, err);
}
