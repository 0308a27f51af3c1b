/* resolve.c - see resolve.h. */
#include "loop/resolve.h"

#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"

struct resolve {
    uv_getaddrinfo_t request;
    resolve_done *done; /* NULL: cancelled */
    void *context;
};

static void add_addresses(struct text *out, const struct addrinfo *found)
{
    for (int count = 0; found && count < RESOLVE_MOST; found = found->ai_next) {
        char name[NI_MAXHOST];

        if (getnameinfo(found->ai_addr, found->ai_addrlen, name, sizeof name, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        text_add_text(out, count++ > 0 ? "," : "");
        text_add_text(out, name);
    }
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct resolve *resolve = request->data;
    struct text addresses = { 0 };

    add_addresses(&addresses, found);
    if (resolve->done && addresses.used > 0)
        resolve->done(resolve->context, text_string(&addresses), NULL);
    else if (resolve->done)
        resolve->done(resolve->context, NULL,
                      status < 0 ? uv_strerror(status) : "it has no address");
    text_release(&addresses);
    uv_freeaddrinfo(found);
    free(resolve);
}

struct resolve *resolve_start(struct loop *loop, const char *host, resolve_done *done,
                              void *context)
{
    struct resolve *resolve = mem_new(sizeof *resolve);
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };

    resolve->done = done;
    resolve->context = context;
    resolve->request.data = resolve;
    if (uv_getaddrinfo(loop_uv(loop), &resolve->request, on_resolved, host, NULL, &hints) == 0)
        return resolve;
    free(resolve);
    return NULL;
}

void resolve_cancel(struct resolve *resolve)
{
    if (!resolve)
        return;
    resolve->done = NULL; /* freed where the answer comes, as there is no stopping a thread */
    uv_cancel((uv_req_t *)&resolve->request);
}
