/* net.c - see net.h. What rpc/ calls of libuv is defined here. */
#include "net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "memory.h"
#include "task.h"
#include "turns.h"

enum { HUBS_MAX = 4 };

struct net net;
static struct net_listener listeners[HUBS_MAX];
static bool is_shut[HUBS_MAX];
static int current_hub;

void net_begin(uint64_t *seed, struct region *memory)
{
    memset(&net, 0, sizeof net); /* the memory of the world before is gone */
    net.seed = seed;
    net.memory = memory;
}

struct net_listener net_listener(int hub)
{
    return listeners[hub];
}

void net_set_listener(int hub, struct net_listener listener)
{
    listeners[hub] = listener;
    is_shut[hub] = false;
}

void net_set_hub(int hub)
{
    current_hub = hub;
}

bool net_accepts(int hub)
{
    return listeners[hub].stream && !is_shut[hub];
}

void net_shut_door(int hub)
{
    is_shut[hub] = true;
}

struct cable *net_connect(int hub, int64_t pid)
{
    struct cable *cable;

    if (net.count == CABLES_MAX)
        return NULL;
    cable = &net.cables[net.count++];
    cable->hub = hub;
    cable->pid = pid;
    return cable;
}

void net_send(struct cable *cable, const char *bytes, size_t length)
{
    struct region *used = region_use(net.memory);

    if (!cable->is_hub_gone && !cable->is_client_gone)
        text_add(&cable->to_hub, bytes, length);
    region_use(used);
}

void net_hang_up(struct cable *cable)
{
    cable->is_client_gone = true;
}

void net_hub_died(int hub)
{
    listeners[hub] = (struct net_listener){ 0 };
    for (size_t i = 0; i < net.count; i++) {
        struct cable *cable = &net.cables[i];

        if (cable->hub != hub || cable->is_hub_gone)
            continue;
        cable->is_hub_gone = cable->is_end_seen = true;
        cable->stream = NULL;
        cable->write = NULL;
        text_release(&cable->to_hub);
    }
}

static struct cable *cable_of(const void *handle)
{
    return ((const uv_handle_t *)handle)->u.reserved[0];
}

bool net_can_move_to_hub(const struct cable *cable)
{
    if (cable->is_hub_gone || !listeners[cable->hub].stream)
        return false;
    return !cable->is_accepted || cable->write ||
           (cable->is_reading &&
            (cable->to_hub.used > 0 || (cable->is_client_gone && !cable->is_end_seen)));
}

static void end_write(struct cable *cable)
{
    uv_write_t *write = cable->write;

    cable->write = NULL;
    cable->written(write, cable->is_client_gone ? UV_EPIPE : 0);
}

static void bring_bytes(struct cable *cable, size_t max)
{
    size_t length = cable->to_hub.used < max ? cable->to_hub.used : max;
    uv_buf_t buffer = { 0 };

    cable->alloc((uv_handle_t *)cable->stream, 65536, &buffer);
    if (length > buffer.len)
        length = buffer.len;
    memcpy(buffer.base, cable->to_hub.bytes, length);
    text_drop_front(&cable->to_hub, length);
    cable->read(cable->stream, (ssize_t)length, &buffer);
}

void net_move_to_hub(struct cable *cable, size_t max)
{
    struct net_listener *listener = &listeners[cable->hub];
    uv_buf_t none = { 0 };

    if (!cable->is_accepted) {
        cable->is_accepted = true;
        listener->stream->u.reserved[0] = cable; /* uv_accept takes it */
        listener->call(listener->stream, 0);
    } else if (cable->write) {
        end_write(cable);
    } else if (cable->to_hub.used > 0) {
        bring_bytes(cable, max);
    } else {
        cable->is_end_seen = true;
        cable->read(cable->stream, UV_EOF, &none);
    }
}

int uv_pipe_init(uv_loop_t *loop, uv_pipe_t *pipe, int ipc)
{
    (void)ipc;
    memset(pipe, 0, sizeof *pipe);
    pipe->loop = loop;
    return 0;
}

int uv_pipe_open(uv_pipe_t *pipe, uv_file fd)
{
    (void)pipe;
    (void)fd;
    return 0;
}

int uv_listen(uv_stream_t *stream, int backlog, uv_connection_cb call)
{
    (void)backlog;
    net_set_listener(current_hub, (struct net_listener){ stream, call });
    return 0;
}

int uv_accept(uv_stream_t *server, uv_stream_t *client)
{
    struct cable *cable = cable_of(server);

    client->u.reserved[0] = cable;
    cable->stream = client;
    return 0;
}

int uv_fileno(const uv_handle_t *handle, uv_os_fd_t *ret_fd)
{
    *ret_fd = (int)(cable_of(handle) - net.cables);
    return 0;
}

int uv_read_start(uv_stream_t *stream, uv_alloc_cb alloc, uv_read_cb read)
{
    struct cable *cable = cable_of(stream);

    cable->alloc = alloc;
    cable->read = read;
    cable->is_reading = true;
    return 0;
}

int uv_read_stop(uv_stream_t *stream)
{
    struct cable *cable = cable_of(stream);

    if (cable)
        cable->is_reading = false;
    return 0;
}

uv_buf_t uv_buf_init(char *base, unsigned length)
{
    return (uv_buf_t){ .base = base, .len = length };
}

/* The kernel has them: they arrive even if the hub is killed now. */
static void put_bytes(struct cable *cable, const char *bytes, size_t length)
{
    struct region *used;

    task_effect("send", "");
    used = region_use(net.memory);
    text_add(&cable->to_client, bytes, length);
    region_use(used);
}

int uv_try_write(uv_stream_t *stream, const uv_buf_t buffers[], unsigned count)
{
    struct cable *cable = cable_of(stream);
    size_t length = buffers[0].len;

    (void)count;
    if (cable->is_client_gone)
        return UV_EPIPE;
    if (draw_chance(net.seed, 1, 16)) /* its buffer is full */
        length = draw_below(net.seed, (unsigned)length);
    if (length == 0)
        return UV_EAGAIN;
    put_bytes(cable, buffers[0].base, length);
    return (int)length;
}

int uv_write(uv_write_t *request, uv_stream_t *stream, const uv_buf_t buffers[], unsigned count,
             uv_write_cb written)
{
    struct cable *cable = cable_of(stream);

    (void)count;
    if (!cable->is_client_gone)
        put_bytes(cable, buffers[0].base, buffers[0].len);
    cable->write = request;
    cable->written = written;
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

void uv_close(uv_handle_t *handle, uv_close_cb call)
{
    struct closing *closing = mem_new(sizeof *closing);
    struct cable *cable = cable_of(handle);

    *closing = (struct closing){ handle, call };
    if ((uv_stream_t *)handle == listeners[current_hub].stream) {
        listeners[current_hub] = (struct net_listener){ 0 };
    } else if (cable) {
        cable->is_hub_gone = cable->is_end_seen = true;
        cable->stream = NULL;
        cable->write = NULL;
    }
    turns_later((struct loop *)handle->loop, close_now, closing);
}

bool __wrap_os_peer(int fd, int64_t *ret_uid, int64_t *ret_pid);
bool __wrap_os_peer(int fd, int64_t *ret_uid, int64_t *ret_pid)
{
    *ret_uid = (int64_t)geteuid();
    *ret_pid = net.cables[fd].pid;
    return true;
}

int64_t __wrap_os_free_bytes(const char *path);
int64_t __wrap_os_free_bytes(const char *path)
{
    (void)path;
    return (int64_t)1 << 40;
}

void __wrap_os_give_memory_back(void);
void __wrap_os_give_memory_back(void)
{
}
