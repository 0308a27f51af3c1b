#include "base/watch.h"

#include <netdb.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

struct watch {
    uv_poll_t poll;
    int fd, events;
    void (*call)(void *context);
    void *context;
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;

    (void)status; /* its owner finds out by using it */
    (void)events;
    watch->call(watch->context);
}

struct watch *watch_new(struct loop *loop, int fd, void (*call)(void *context), void *context)
{
    struct watch *watch = mem_new(sizeof *watch);

    *watch = (struct watch){ .fd = fd, .call = call, .context = context };
    watch->poll.data = watch;
    if (uv_poll_init(loop_uv(loop), &watch->poll, fd) == 0)
        return watch;
    free(watch);
    return NULL;
}

void watch_for(struct watch *watch, int events)
{
    int wanted = (events & WATCH_READ ? UV_READABLE : 0) | (events & WATCH_WRITE ? UV_WRITABLE : 0);

    if (watch->events == events)
        return;
    watch->events = events;
    if (wanted)
        uv_poll_start(&watch->poll, wanted, on_poll);
    else
        uv_poll_stop(&watch->poll);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void watch_free(struct watch *watch)
{
    if (watch)
        uv_close((uv_handle_t *)&watch->poll, on_closed);
}

struct resolve {
    uv_getaddrinfo_t request;
    resolve_done *done; /* NULL: cancelled */
    void *context;
};

static void add_addresses(struct text *out, const struct addrinfo *found)
{
    for (int count = 0; found && count < RESOLVE_MAX; found = found->ai_next) {
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
