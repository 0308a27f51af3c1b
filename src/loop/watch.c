/* watch.c - see watch.h. */
#include "loop/watch.h"

#include <stdlib.h>
#include <uv.h>

#include "base/mem.h"
#include "loop/loop.h"

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
