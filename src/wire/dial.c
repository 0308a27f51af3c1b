/* dial.c - see dial.h. */
#include "wire/dial.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "loop/loop.h"

enum { DIAL_READ_BYTES = 65536 };
enum dial_state { DIAL_IDLE, DIAL_CONNECTING, DIAL_OPEN, DIAL_CLOSING };

struct dial {
    uv_pipe_t pipe; /* first */
    uv_work_t work;
    struct loop *loop;
    const struct dial_ops *ops;
    void *context;
    size_t *busy;
    enum dial_state state;
    bool is_gone; /* freed when nothing of it is under way */
    struct text in;
    /* of the other thread, while connecting; `in` too */
    struct link_identity identity; /* its texts are owned */
    enum link_start start;
    int fd;
    struct error err;
};

static void release_identity(struct link_identity *identity)
{
    const char *const texts[] = { identity->role,        identity->channel,
                                  identity->name,        identity->as_name,
                                  identity->directory,   identity->transport,
                                  identity->socket_path, identity->client_version };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        free((void *)(uintptr_t)texts[i]);
    *identity = (struct link_identity){ 0 };
}

static struct link_identity copy_identity(const struct link_identity *identity)
{
    struct link_identity copy = *identity;

    copy.role = mem_text(identity->role);
    copy.channel = mem_text(identity->channel);
    copy.name = mem_text(identity->name);
    copy.as_name = mem_text(identity->as_name);
    copy.directory = mem_text(identity->directory);
    copy.transport = mem_text(identity->transport);
    copy.socket_path = mem_text(identity->socket_path);
    copy.client_version = mem_text(identity->client_version);
    return copy;
}

static void release(struct dial *dial)
{
    release_identity(&dial->identity);
    text_release(&dial->in);
    free(dial);
}

struct dial *dial_new(struct loop *loop, const struct dial_ops *ops, void *context, size_t *busy)
{
    struct dial *dial = mem_new(sizeof *dial);

    dial->loop = loop;
    dial->ops = ops;
    dial->context = context;
    dial->busy = busy;
    return dial;
}

static void on_closed(uv_handle_t *handle)
{
    struct dial *dial = (struct dial *)handle;

    dial->state = DIAL_IDLE;
    text_release(&dial->in);
    if (dial->is_gone)
        release(dial);
    else
        dial->ops->closed(dial->context);
}

static void close_pipe(struct dial *dial)
{
    dial->state = DIAL_CLOSING;
    uv_close((uv_handle_t *)&dial->pipe, on_closed);
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    static char bytes[DIAL_READ_BYTES]; /* consumed before the callback returns */

    (void)handle;
    (void)wanted;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void take_lines(struct dial *dial)
{
    size_t done = 0;
    char *end;

    while (dial->state == DIAL_OPEN && done < dial->in.used &&
           (end = memchr(dial->in.bytes + done, '\n', dial->in.used - done))) {
        const char *line = dial->in.bytes + done;

        done += (size_t)(end - line) + 1;
        dial->ops->line(dial->context, line, (size_t)(end - line));
    }
    text_drop_front(&dial->in, done);
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct dial *dial = (struct dial *)stream;

    if (got < 0) {
        close_pipe(dial);
        return;
    }
    text_add(&dial->in, buffer->base, (size_t)got);
    take_lines(dial);
}

static void work_connect(uv_work_t *work)
{
    struct dial *dial = work->data;
    struct link *link;

    dial->fd = -1;
    if (link_open(&dial->identity, dial->start, &link, &dial->err))
        dial->fd = link_take_fd(link, &dial->in);
}

static void on_connected(uv_work_t *work, int status)
{
    struct dial *dial = work->data;

    (void)status;
    dial->state = DIAL_IDLE;
    --*dial->busy;
    if (dial->fd < 0 && dial->is_gone) {
        release(dial);
        return;
    }
    if (dial->fd < 0) {
        dial->ops->failed(dial->context, &dial->err);
        return;
    }
    uv_pipe_init(loop_uv(dial->loop), &dial->pipe, 0);
    dial->state = DIAL_OPEN;
    if (uv_pipe_open(&dial->pipe, dial->fd) != 0 || dial->is_gone ||
        uv_read_start((uv_stream_t *)&dial->pipe, on_alloc, on_read) != 0) {
        close_pipe(dial);
        return;
    }
    dial->ops->opened(dial->context);
    take_lines(dial); /* a farewell may have come with hello's reply */
}

void dial_start(struct dial *dial, const struct link_identity *identity, enum link_start start)
{
    release_identity(&dial->identity);
    dial->identity = copy_identity(identity);
    dial->start = start;
    dial->state = DIAL_CONNECTING;
    ++*dial->busy;
    dial->work.data = dial;
    uv_queue_work(loop_uv(dial->loop), &dial->work, work_connect, on_connected);
}

bool dial_is_idle(const struct dial *dial)
{
    return dial->state == DIAL_IDLE;
}

bool dial_is_open(const struct dial *dial)
{
    return dial->state == DIAL_OPEN;
}

struct write_errand {
    uv_write_t write; /* first */
    char *bytes;
};

static void on_written(uv_write_t *write, int status)
{
    (void)status; /* a broken connection shows when reading */
    free(((struct write_errand *)write)->bytes);
    free(write);
}

void dial_send(struct dial *dial, struct text *take_line)
{
    struct write_errand *errand = mem_new(sizeof *errand);
    uv_buf_t buffer = uv_buf_init(take_line->bytes, (unsigned)take_line->used);

    errand->bytes = take_line->bytes;
    *take_line = (struct text){ 0 };
    if (uv_write(&errand->write, (uv_stream_t *)&dial->pipe, &buffer, 1, on_written) != 0)
        on_written(&errand->write, -1);
}

void dial_free(struct dial *dial)
{
    if (!dial)
        return;
    dial->is_gone = true;
    if (dial->state == DIAL_OPEN)
        close_pipe(dial);
    else if (dial->state == DIAL_IDLE)
        release(dial);
}
