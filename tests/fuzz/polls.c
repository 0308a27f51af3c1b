/* polls.c - see polls.h. */
#include "polls.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "net/http_server.h"
#include "turns.h"

enum { POLLS_MAX = 16, BACKLOG = 64 };

static struct {
    uv_poll_t *handle; /* NULL: free */
    uv_poll_cb call;   /* NULL: stopped */
    int fd;
} polls[POLLS_MAX];
static struct sockaddr_un address;
static socklen_t address_bytes;

static size_t place_of(const uv_poll_t *handle)
{
    for (size_t i = 0; i < POLLS_MAX; i++) {
        if (polls[i].handle == handle)
            return i;
    }
    abort(); /* more than there are, or not one of them */
}

int __wrap_uv_poll_init(uv_loop_t *loop, uv_poll_t *handle, int fd);
int __wrap_uv_poll_init(uv_loop_t *loop, uv_poll_t *handle, int fd)
{
    size_t at = place_of(NULL);

    handle->loop = loop;
    polls[at].handle = handle;
    polls[at].call = NULL;
    polls[at].fd = fd;
    return 0;
}

int __wrap_uv_poll_start(uv_poll_t *handle, int events, uv_poll_cb call);
int __wrap_uv_poll_start(uv_poll_t *handle, int events, uv_poll_cb call)
{
    if (events != UV_READABLE)
        abort(); /* nothing here waits for anything else */
    polls[place_of(handle)].call = call;
    return 0;
}

int __wrap_uv_poll_stop(uv_poll_t *handle);
int __wrap_uv_poll_stop(uv_poll_t *handle)
{
    polls[place_of(handle)].call = NULL;
    return 0;
}

struct closing {
    uv_handle_t *handle;
    uv_close_cb call;
};

static void close_now(void *context)
{
    struct closing *closing = context;

    closing->call(closing->handle);
    free(closing);
}

void __wrap_uv_close(uv_handle_t *handle, uv_close_cb call);
void __wrap_uv_close(uv_handle_t *handle, uv_close_cb call)
{
    struct closing *closing = mem_new(sizeof *closing);

    polls[place_of((uv_poll_t *)handle)].handle = NULL;
    *closing = (struct closing){ handle, call };
    turns_later((struct loop *)handle->loop, close_now, closing);
}

bool polls_turn(void)
{
    struct pollfd ready[POLLS_MAX];

    for (size_t i = 0; i < POLLS_MAX; i++)
        ready[i] = (struct pollfd){
            .fd = polls[i].handle && polls[i].call ? polls[i].fd : -1,
            .events = POLLIN,
        };
    if (poll(ready, POLLS_MAX, 0) <= 0)
        return false;
    for (size_t i = 0; i < POLLS_MAX; i++) {
        if (ready[i].revents && polls[i].handle && polls[i].call)
            polls[i].call(polls[i].handle, 0, UV_READABLE);
    }
    return true;
}

bool __wrap_http_listen(int port, bool may_move, int *ret_fds, int *ret_port, struct error *err);
bool __wrap_http_listen(int port, bool may_move, int *ret_fds, int *ret_port, struct error *err)
{
    (void)may_move;
    (void)err;
    ret_fds[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ret_fds[1] = -1;
    *ret_port = port;
    address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    address_bytes = sizeof address;
    if (bind(ret_fds[0], (struct sockaddr *)&address, sizeof address.sun_family) != 0 ||
        listen(ret_fds[0], BACKLOG) != 0 ||
        getsockname(ret_fds[0], (struct sockaddr *)&address, &address_bytes) != 0)
        abort();
    return true;
}

int polls_dial(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, address_bytes) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* One of this user's processes; which one is not looked up. */
bool __wrap_os_tcp_peer_process(int fd, int64_t *ret_uid, int64_t *ret_pid);
bool __wrap_os_tcp_peer_process(int fd, int64_t *ret_uid, int64_t *ret_pid)
{
    (void)fd;
    *ret_uid = (int64_t)geteuid();
    *ret_pid = 0;
    return true;
}
