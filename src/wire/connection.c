/* connection.c - bytes of one peer to lines and back; bounded both ways. */
#include "wire/connection.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/os.h"
#include "core/limits.h"
#include "loop/loop.h"
#include "wire/visitor.h"
#include "wire/wire.h"

/* The only place where one ends, always in a later loop turn: whoever is on the stack when it is
 * closed may go on looking at it, and libuv has called back for its last write by now. */
static void on_closed(uv_handle_t *handle)
{
    struct connection *connection = (struct connection *)handle;

    text_release(&connection->in);
    text_release(&connection->out);
    text_release(&connection->writing);
    text_release(&connection->backlog);
    free(connection);
}

static void forget_dirty(struct connection *connection)
{
    struct connection **at = &connection->server->dirty;

    while (*at && *at != connection)
        at = &(*at)->next_dirty;
    if (*at)
        *at = connection->next_dirty;
}

void connection_close(struct connection *connection)
{
    struct wire_server *server = connection->server;

    if (connection->is_closing)
        return;
    connection->is_closing = true;
    wire_peer_leave(&connection->peer);
    if (connection->is_dirty)
        forget_dirty(connection);
    LIST_REMOVE(server->connections, connection);
    server->count--;
    uv_close((uv_handle_t *)&connection->pipe, on_closed);
    server->host.on_change(server->host.context);
}

void connection_mark_dirty(struct connection *connection)
{
    if (connection->is_dirty || connection->is_closing)
        return;
    connection->is_dirty = true;
    connection->next_dirty = connection->server->dirty;
    connection->server->dirty = connection;
}

static void refuse_long_line(struct connection *connection)
{
    char *id_json = jsonrpc_find_id(text_string(&connection->in), connection->in.used);

    connection->skips_line = true;
    text_clear(&connection->in);
    wire_add_error(&connection->out, id_json ? id_json : "null", JSONRPC_INVALID_REQUEST,
                   "a line has at most 1048576 bytes");
    free(id_json);
    connection_mark_dirty(connection);
}

static void take_line(struct connection *connection, const char *line, size_t length)
{
    if (length > 0)
        wire_peer_take(&connection->peer, line, length);
}

/* Every whole line is handled; what is left of the last one waits for more. */
static void take_bytes(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0 && !connection->is_closing) {
        const char *end;
        size_t part;

        if (wire_peer_is_full(&connection->peer)) { /* goes on when the peer has read */
            text_add(&connection->backlog, bytes, length);
            return;
        }
        end = memchr(bytes, '\n', length);
        part = end ? (size_t)(end - bytes) : length;

        if (!connection->skips_line && connection->in.used + part > (size_t)LIMIT_WIRE_LINE_BYTES)
            refuse_long_line(connection);
        if (!connection->skips_line && end && connection->in.used == 0) {
            take_line(connection, bytes, part); /* the usual case, without a copy */
        } else if (!connection->skips_line) {
            text_add(&connection->in, bytes, part);
            if (end) {
                struct text line = connection->in;

                connection->in = (struct text){ 0 };
                take_line(connection, line.bytes, line.used);
                text_release(&line);
            }
        }
        if (!end)
            return;
        connection->skips_line = false;
        bytes += part + 1;
        length -= part + 1;
    }
}

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct connection *connection = (struct connection *)handle;

    (void)wanted;
    *buffer = uv_buf_init(connection->server->read_bytes, CONNECTION_READ_BYTES);
}

/* HTTP, TLS or whatever a browser was talked into sending here: it gets one line and goes. */
static bool is_foreign(struct connection *connection, char first)
{
    if (connection->has_begun)
        return false;
    connection->has_begun = true;
    return first == '\0' || !strchr("{[ \t\r\n", first);
}

static void refuse_foreign(struct connection *connection)
{
    wire_add_error(&connection->out, "null", JSONRPC_PARSE_ERROR, "this socket speaks JSON-RPC");
    connection->closes_when_written = true;
    connection_mark_dirty(connection);
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct connection *connection = (struct connection *)stream;

    if (got < 0) {
        connection_close(connection);
        return;
    }
    if (connection->closes_when_written || got == 0)
        return;
    if (is_foreign(connection, buffer->base[0])) {
        refuse_foreign(connection);
        return;
    }
    take_bytes(connection, buffer->base, (size_t)got);
    if (wire_peer_is_full(&connection->peer) && connection->is_reading && !connection->is_closing) {
        uv_read_stop(stream);
        connection->is_reading = false;
    }
}

static void read_again(struct connection *connection)
{
    if (connection->is_reading || connection->is_closing || connection->server->is_draining)
        return;
    if (uv_read_start((uv_stream_t *)&connection->pipe, on_alloc, on_read) == 0)
        connection->is_reading = true;
}

static void on_written(uv_write_t *write, int status)
{
    struct connection *connection = write->data;

    text_release(&connection->writing);
    connection->is_unread = connection->is_unread || status != 0;
    connection_flush(connection);
}

/* What came before the peer was read from no more; may fill the output again. */
static void take_backlog(struct connection *connection)
{
    struct text rest = connection->backlog;

    connection->backlog = (struct text){ 0 };
    take_bytes(connection, text_string(&rest), rest.used);
    text_release(&rest);
}

static void when_written(struct connection *connection)
{
    if (connection->closes_when_written) {
        connection_close(connection);
        return;
    }
    wire_peer_catch_up(&connection->peer);
    if (connection->backlog.used)
        take_backlog(connection);
    if (connection->backlog.used == 0 && !wire_peer_is_full(&connection->peer))
        read_again(connection);
}

void connection_flush(struct connection *connection)
{
    uv_buf_t buffer;
    int wrote;

    if (connection->is_closing || connection->writing.used > 0)
        return;
    if (connection->is_unread)
        text_clear(&connection->out);
    if (connection->out.used == 0) {
        when_written(connection);
        return;
    }
    buffer = uv_buf_init(connection->out.bytes, (unsigned)connection->out.used);
    wrote = uv_try_write((uv_stream_t *)&connection->pipe, &buffer, 1);
    if (wrote < 0 && wrote != UV_EAGAIN) {
        connection->is_unread = true;
        connection_flush(connection);
        return;
    }
    if (wrote > 0 && (size_t)wrote == connection->out.used) {
        text_clear(&connection->out);
        when_written(connection);
        return;
    }
    if (wrote > 0)
        text_drop_front(&connection->out, (size_t)wrote);
    connection->writing = connection->out;
    connection->out = (struct text){ 0 };
    buffer = uv_buf_init(connection->writing.bytes, (unsigned)connection->writing.used);
    connection->write.data = connection;
    if (uv_write(&connection->write, (uv_stream_t *)&connection->pipe, &buffer, 1, on_written) != 0)
        connection_close(connection);
}

/* Another user of this machine who got here past the directory's mode is not let in. */
static bool is_own_user(struct connection *connection)
{
    uv_os_fd_t fd;

    return uv_fileno((uv_handle_t *)&connection->pipe, &fd) == 0 &&
           os_peer(fd, &connection->uid, &connection->pid) && connection->uid == (int64_t)geteuid();
}

void connection_accept(struct wire_server *server)
{
    struct connection *connection = mem_new(sizeof *connection);
    uv_loop_t *uv = loop_uv(server->loop);

    connection->server = server;
    connection->peer.carrier = &server->carrier;
    connection->hello_before_ms = loop_boot_ms() + WIRE_HELLO_LIMIT_MS;
    if (uv_pipe_init(uv, &connection->pipe, 0) != 0) {
        free(connection);
        return;
    }
    LIST_ADD(server->connections, connection);
    server->count++;
    if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&connection->pipe) != 0 ||
        server->is_draining || server->count > CONNECTION_MOST || !is_own_user(connection)) {
        connection_close(connection);
        return;
    }
    read_again(connection);
    if (!connection->is_reading)
        connection_close(connection);
}

static struct connection *connection_of(const struct wire_peer *peer)
{
    return (struct connection *)((char *)peer - offsetof(struct connection, peer));
}

static struct text *begin(struct wire_peer *peer)
{
    return &connection_of(peer)->out;
}

static void end(struct wire_peer *peer)
{
    connection_mark_dirty(connection_of(peer));
}

static size_t behind(const struct wire_peer *peer)
{
    const struct connection *connection = connection_of(peer);

    return connection->out.used + connection->writing.used;
}

static void tell(struct wire_peer *peer, const char *line, size_t length)
{
    text_add(begin(peer), line, length);
    text_add_char(begin(peer), '\n');
    end(peer);
}

static bool read_visitor(const struct connection *connection, const struct json *params,
                         struct desk_visitor *visitor, struct os_process *own)
{
    if (!wire_read_visitor(params, visitor))
        return false;
    visitor->uid = connection->uid;
    visitor->pid = connection->pid;
    if (os_process(connection->pid, own)) {
        visitor->start = own->start;
        visitor->tty = own->tty;
    }
    return true;
}

static void take_hello(struct wire_peer *peer, const struct json *params, const char *id_json)
{
    struct connection *connection = connection_of(peer);
    struct desk *desk = peer->carrier->desk;
    struct desk_visitor visitor = { .context = peer, .event = wire_peer_event, .tty = "" };
    struct os_process own;

    if (peer->visit) {
        wire_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST,
                         "hello was said already; a connection has one role");
    } else if (!wire_is_ours(params)) {
        wire_peer_refuse(peer, id_json, WIRE_NUMBER_REFUSED, "this hub speaks another wire number");
    } else if (!read_visitor(connection, params, &visitor, &own)) {
        wire_peer_refuse(peer, id_json, JSONRPC_INVALID_PARAMS,
                         "hello needs role agent or person, a known channel and short names");
    } else {
        peer->visit = desk->ops->open(desk, &visitor);
        wire_peer_welcome(peer, id_json, visitor.role);
        connection->server->host.on_change(connection->server->host.context);
    }
}

static void do_hub(struct wire_peer *peer, enum method method, const char *id_json)
{
    struct wire_host *host = &connection_of(peer)->server->host;
    struct text out = { 0 };

    if (method == METHOD_hub_status) {
        host->write_status(host->context, &out);
        wire_peer_reply(peer, id_json, text_string(&out));
        text_release(&out);
    } else {
        wire_peer_reply(peer, id_json, "{}");
        host->wish(host->context, method == METHOD_hub_stop ? WIRE_WISH_STOP : WIRE_WISH_RETIRE);
    }
}

/* A newer front makes us go without a hello, so there is no visit: it is our own user's process, as
 * every connection here. */
static bool greet(struct wire_peer *peer, enum method method, const struct json *params,
                  const char *id_json)
{
    bool retires_us = method == METHOD_hub_retire && !peer->visit;

    if (method == METHOD_hello)
        take_hello(peer, params, id_json);
    else if (retires_us)
        do_hub(peer, method, id_json);
    return method == METHOD_hello || retires_us;
}

const struct wire_carrier connection_carrier = {
    .most_calls = 131072,
    .begin = begin,
    .end = end,
    .behind = behind,
    .tell = tell,
    .greet = greet,
    .do_hub = do_hub,
};
