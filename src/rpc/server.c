/* server.c - the listening socket of the hub; see server.h. */
#include "rpc/server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "core/limits.h"
#include "i18n/i18n.h"
#include "rpc/location.h"
#include "rpc/protocol.h"
#include "rpc/session.h"

enum {
    CONNECTION_READ_BYTES = 65536,
    CONNECTION_MAX = 1024,
};

struct connection {
    uv_pipe_t pipe; /* first: a handle is a connection */
    struct rpc_server *server;
    struct connection *next, *previous;
    struct connection *next_dirty;
    struct text in, out;
    struct text backlog; /* read, and not looked at until the peer reads */
    struct text writing; /* handed to the kernel, not yet taken */
    uv_write_t write;
    bool is_closing, is_dirty, is_reading, closes_when_written;
    bool skips_line; /* the rest of a line that was too long */
    bool is_unread;  /* its peer reads no more; what it said before it went is still heard */
    bool has_begun;  /* something was read */
    struct rpc_peer peer;
    int64_t uid, pid;
    int64_t hello_before_ms;
};

struct rpc_server {
    uv_pipe_t listener; /* first */
    struct loop *loop;
    struct rpc_carrier carrier;
    struct rpc_host host;
    struct connection *connections, *dirty;
    size_t count;
    struct loop_timer *hello_timer;
    bool is_draining, is_dismissed;
    bool is_passed; /* the socket outlives us */
    char *socket_path;
    char read_bytes[CONNECTION_READ_BYTES]; /* shared: consumed before the callback returns */
};

/* Bytes of one peer to lines and back; bounded both ways. */

/* The only place where one ends, always in a later loop turn: code on the stack when it is closed
 * may go on looking at it, and libuv has called back for its last write by now. */
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

static void connection_close(struct connection *connection)
{
    struct rpc_server *server = connection->server;

    if (connection->is_closing)
        return;
    connection->is_closing = true;
    rpc_peer_leave(&connection->peer);
    if (connection->is_dirty)
        forget_dirty(connection);
    LIST_REMOVE(server->connections, connection);
    server->count--;
    uv_close((uv_handle_t *)&connection->pipe, on_closed);
}

static void connection_mark_dirty(struct connection *connection)
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
    rpc_add_error(&connection->out, id_json ? id_json : "null", JSONRPC_INVALID_REQUEST,
                  "a line has at most 1048576 bytes");
    free(id_json);
    connection_mark_dirty(connection);
}

static void take_line(struct connection *connection, const char *line, size_t length)
{
    if (length > 0)
        rpc_peer_take(&connection->peer, line, length);
}

/* Every whole line is handled; what is left of the last one waits for more. */
static void take_bytes(struct connection *connection, const char *bytes, size_t length)
{
    while (length > 0 && !connection->is_closing) {
        const char *end;
        size_t part;

        if (rpc_peer_is_full(&connection->peer)) { /* goes on when the peer has read */
            text_add(&connection->backlog, bytes, length);
            return;
        }
        end = memchr(bytes, '\n', length);
        part = end ? (size_t)(end - bytes) : length;

        if (!connection->skips_line && connection->in.used + part > (size_t)LIMIT_RPC_LINE_BYTES)
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
static bool refuse_foreign(struct connection *connection, char first)
{
    bool is_ours = connection->has_begun || (first != '\0' && strchr("{[ \t\r\n", first));

    connection->has_begun = true;
    if (is_ours)
        return false;
    rpc_add_error(&connection->out, "null", JSONRPC_PARSE_ERROR, "this socket expects JSON-RPC");
    connection->closes_when_written = true;
    connection_mark_dirty(connection);
    return true;
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    struct connection *connection = (struct connection *)stream;

    if (got < 0) {
        connection_close(connection);
        return;
    }
    if (connection->closes_when_written || got == 0 || refuse_foreign(connection, buffer->base[0]))
        return;
    take_bytes(connection, buffer->base, (size_t)got);
    if (rpc_peer_is_full(&connection->peer) && connection->is_reading && !connection->is_closing) {
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

static void connection_flush(struct connection *connection);

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
    rpc_peer_catch_up(&connection->peer);
    if (connection->backlog.used)
        take_backlog(connection);
    if (connection->backlog.used == 0 && !rpc_peer_is_full(&connection->peer))
        read_again(connection);
}

static void connection_flush(struct connection *connection)
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

static void connection_accept(struct rpc_server *server)
{
    struct connection *connection = mem_new(sizeof *connection);
    uv_loop_t *uv = loop_uv(server->loop);

    connection->server = server;
    connection->peer.carrier = &server->carrier;
    connection->hello_before_ms = loop_boot_ms() + RPC_HELLO_LIMIT_MS;
    if (uv_pipe_init(uv, &connection->pipe, 0) != 0) {
        free(connection);
        return;
    }
    LIST_ADD(server->connections, connection);
    server->count++;
    if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&connection->pipe) != 0 ||
        server->is_draining || server->count > CONNECTION_MAX || !is_own_user(connection)) {
        connection_close(connection);
        return;
    }
    read_again(connection);
    if (!connection->is_reading)
        connection_close(connection);
}

static struct connection *connection_of(const struct rpc_peer *peer)
{
    return (struct connection *)((char *)peer - offsetof(struct connection, peer));
}

static struct text *begin(struct rpc_peer *peer)
{
    return &connection_of(peer)->out;
}

static void end(struct rpc_peer *peer)
{
    connection_mark_dirty(connection_of(peer));
}

static size_t behind(const struct rpc_peer *peer)
{
    const struct connection *connection = connection_of(peer);

    return connection->out.used + connection->writing.used;
}

static void tell(struct rpc_peer *peer, const char *line, size_t length)
{
    text_add(begin(peer), line, length);
    text_add_char(begin(peer), '\n');
    end(peer);
}

static bool read_identity(const struct connection *connection, const struct json *params,
                          struct identity *identity, struct os_process *own)
{
    if (!identity_read(params, identity))
        return false;
    identity->uid = connection->uid;
    identity->pid = connection->pid;
    if (os_process(connection->pid, own)) {
        identity->start = own->start;
        identity->tty = own->tty;
    }
    return true;
}

static void take_hello(struct rpc_peer *peer, const struct json *params, const char *id_json)
{
    struct connection *connection = connection_of(peer);
    struct service *service = peer->carrier->service;
    struct identity identity = { .context = peer, .event = rpc_peer_event, .tty = "" };
    struct os_process own;

    if (peer->session) {
        rpc_peer_refuse(peer, id_json, JSONRPC_INVALID_REQUEST,
                        "hello was said already; a connection has one role");
    } else if (!rpc_is_ours(params)) {
        rpc_peer_refuse(peer, id_json, RPC_NUMBER_REFUSED, "unsupported protocol version");
    } else if (!read_identity(connection, params, &identity, &own)) {
        rpc_peer_refuse(peer, id_json, JSONRPC_INVALID_PARAMS,
                        "hello needs role agent or person, a known channel and short names");
    } else {
        peer->session = service->ops->open(service, &identity);
        rpc_peer_welcome(peer, id_json, identity.role);
    }
}

static void do_hub(struct rpc_peer *peer, enum method method, const char *id_json)
{
    struct rpc_host *host = &connection_of(peer)->server->host;
    struct text out = { 0 };

    if (method == METHOD_hub_status) {
        host->write_status(host->context, &out);
        rpc_peer_reply(peer, id_json, text_string(&out));
        text_release(&out);
    } else {
        rpc_peer_reply(peer, id_json, "{}");
        host->shut_down(host->context, method == METHOD_hub_stop ? SHUTDOWN_STOP : SHUTDOWN_RETIRE);
    }
}

/* A newer front makes us go without a hello, so there is no session: it is our own user's process,
 * as every connection here. */
static bool greet(struct rpc_peer *peer, enum method method, const struct json *params,
                  const char *id_json)
{
    bool retires_us = method == METHOD_hub_retire && !peer->session;

    if (method == METHOD_hello)
        take_hello(peer, params, id_json);
    else if (retires_us)
        do_hub(peer, method, id_json);
    return method == METHOD_hello || retires_us;
}

/* without its service */
static const struct rpc_carrier connection_carrier = {
    .max_calls = 131072,
    .begin = begin,
    .end = end,
    .behind = behind,
    .tell = tell,
    .greet = greet,
    .do_hub = do_hub,
};

enum { SERVER_BACKLOG = 128 };

/* Peers that connected and never said hello hold a place; they lose it. */
static void drop_silent(void *context)
{
    struct rpc_server *server = context;
    int64_t now = loop_boot_ms(), next = -1;

    for (struct connection *peer = server->connections, *after; peer; peer = after) {
        after = peer->next;
        if (peer->peer.session)
            continue;
        if (peer->hello_before_ms <= now)
            connection_close(peer);
        else if (next < 0 || peer->hello_before_ms < next)
            next = peer->hello_before_ms;
    }
    if (next >= 0)
        loop_timer_at(server->hello_timer, next);
}

static void on_connection(uv_stream_t *stream, int status)
{
    struct rpc_server *server = (struct rpc_server *)stream;

    if (status != 0)
        return;
    connection_accept(server);
    drop_silent(server);
}

static int bind_socket(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path); /* we hold the lock, so the hub that left it is dead */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool rpc_server_open(struct loop *loop, struct service *service, const char *socket_path,
                     int passed_fd, const struct rpc_host *host, struct rpc_server **ret_server,
                     struct error *err)
{
    struct rpc_server *server;
    int fd = passed_fd < 0 ? bind_socket(socket_path) : passed_fd;

    if (fd < 0)
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LISTEN_WHY, "path",
                         socket_path, "reason", strerror(errno), NULL);
    server = mem_new(sizeof *server);
    server->loop = loop;
    server->carrier = connection_carrier;
    server->carrier.service = service;
    server->host = *host;
    server->socket_path = mem_text(socket_path);
    server->hello_timer = loop_timer_new(loop, drop_silent, server);
    uv_pipe_init(loop_uv(loop), &server->listener, 0);
    server->is_passed = passed_fd >= 0;
    if (uv_pipe_open(&server->listener, fd) != 0 ||
        uv_listen((uv_stream_t *)&server->listener, SERVER_BACKLOG, on_connection) != 0) {
        rpc_server_free(server);
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LISTEN, "path", socket_path,
                         NULL);
    }
    *ret_server = server;
    return true;
}

void rpc_server_flush(struct rpc_server *server)
{
    while (server->dirty) {
        struct connection *connection = server->dirty;

        server->dirty = connection->next_dirty;
        connection->is_dirty = false;
        connection_flush(connection);
    }
}

void rpc_server_drain(struct rpc_server *server)
{
    if (server->is_draining)
        return;
    server->is_draining = true;
    if (!server->is_passed)
        unlink(server->socket_path);
    for (struct connection *peer = server->connections; peer; peer = peer->next) {
        uv_read_stop((uv_stream_t *)&peer->pipe);
        peer->is_reading = false;
    }
}

void rpc_server_dismiss(struct rpc_server *server, const char *why)
{
    char params[64];

    if (server->is_dismissed)
        return;
    server->is_dismissed = true;
    snprintf(params, sizeof params, "{\"why\":\"%s\"}", why);
    for (struct connection *peer = server->connections; peer; peer = peer->next) {
        jsonrpc_add_notification(&peer->out, "hub/closing", params);
        peer->closes_when_written = true;
        connection_mark_dirty(peer);
    }
    rpc_server_flush(server);
}

bool rpc_server_is_drained(const struct rpc_server *server)
{
    return server->is_dismissed && server->count == 0;
}

size_t rpc_server_peer_count(const struct rpc_server *server)
{
    return server->count;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct rpc_server *server = (struct rpc_server *)handle;

    free(server->socket_path);
    free(server);
}

void rpc_server_free(struct rpc_server *server)
{
    if (!server)
        return;
    while (server->connections)
        connection_close(server->connections);
    loop_timer_free(server->hello_timer);
    uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}

enum { ACTIVATION_LIMIT_MS = 3000, ACTIVATION_LOOK_NS = 5000000 };

/* The manager's hub lives in the usual place: who was given another one has nothing to ask there.
 */
static bool is_usual_location(const struct location *location)
{
    char home[LOCATION_PATH_BYTES], usual[LOCATION_PATH_BYTES + 32];

    if (!os_home(home, sizeof home))
        return false;
    snprintf(usual, sizeof usual, "%s/.local/share/sayso", home);
    return strcmp(usual, location->data) == 0;
}

static int ring(const struct location *location)
{
    char directory[LOCATION_PATH_BYTES], path[LOCATION_PATH_BYTES + 32];
    struct error err;

    if (!is_usual_location(location) || !location_socket_name(location, directory, path, &err) ||
        snprintf(path, sizeof path, "%s/%s", directory, LOCATION_ACTIVATION_NAME) >
            LOCATION_SOCKET_BYTES)
        return -1;
    return location_connect(path);
}

/* The hub that was started for us could not begin, or found another one at work. */
static bool is_turned_away(int fd)
{
    struct pollfd line = { .fd = fd, .events = POLLIN };

    return poll(&line, 1, 0) > 0 && (line.revents & (POLLHUP | POLLERR));
}

/* Having the lock it may still find that it can't begin. */
static bool has_begun(const struct location *location)
{
    struct hub_record record;

    return os_is_locked(location->lock) && hub_record_read(location, &record, NULL) &&
           os_is_alive(record.pid, record.start);
}

bool activation_begin(const struct location *location)
{
    const struct timespec pause = { .tv_nsec = ACTIVATION_LOOK_NS };
    int64_t until_ms = loop_boot_ms() + ACTIVATION_LIMIT_MS;
    int fd = ring(location);

    if (fd < 0)
        return false;
    while (!has_begun(location) && !is_turned_away(fd) && loop_boot_ms() < until_ms)
        nanosleep(&pause, NULL);
    close(fd);
    return os_is_locked(location->lock);
}
