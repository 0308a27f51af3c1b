/* server.c - the listening socket of the hub; see server.h. */
#include "wire/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "loop/loop.h"
#include "wire/connection.h"
#include "wire/wire.h"

enum { SERVER_BACKLOG = 128 };

/* Peers that connected and never said hello hold a place; they lose it. */
static void drop_silent(void *context)
{
    struct wire_server *server = context;
    int64_t now = loop_boot_ms(), next = -1;

    for (struct connection *peer = server->connections, *after; peer; peer = after) {
        after = peer->next;
        if (peer->peer.visit)
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
    struct wire_server *server = (struct wire_server *)stream;

    if (status != 0)
        return;
    connection_accept(server);
    drop_silent(server);
    server->host.on_change(server->host.context);
}

static int bind_socket(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    unlink(path); /* we hold the lock, so whoever left it is dead */
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || chmod(path, 0600) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool wire_server_open(struct loop *loop, struct desk *desk, const char *socket_path, int passed_fd,
                      const struct wire_host *host, struct wire_server **ret_server,
                      struct error *err)
{
    struct wire_server *server;
    int fd = passed_fd < 0 ? bind_socket(socket_path) : passed_fd;

    if (fd < 0)
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LISTEN_WHY, "path",
                         socket_path, "reason", strerror(errno), NULL);
    server = mem_new(sizeof *server);
    server->loop = loop;
    server->carrier = connection_carrier;
    server->carrier.desk = desk;
    server->host = *host;
    server->socket_path = mem_text(socket_path);
    server->hello_timer = loop_timer_new(loop, drop_silent, server);
    uv_pipe_init(loop_uv(loop), &server->listener, 0);
    server->is_listening = true;
    server->is_passed = passed_fd >= 0;
    if (uv_pipe_open(&server->listener, fd) != 0 ||
        uv_listen((uv_stream_t *)&server->listener, SERVER_BACKLOG, on_connection) != 0) {
        wire_server_free(server);
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LISTEN, "path", socket_path,
                         NULL);
    }
    *ret_server = server;
    return true;
}

void wire_server_flush(struct wire_server *server)
{
    while (server->dirty) {
        struct connection *connection = server->dirty;

        server->dirty = connection->next_dirty;
        connection->is_dirty = false;
        connection_flush(connection);
    }
}

void wire_server_drain(struct wire_server *server)
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

void wire_server_dismiss(struct wire_server *server, const char *why)
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
    wire_server_flush(server);
}

bool wire_server_is_drained(const struct wire_server *server)
{
    return server->is_dismissed && server->count == 0;
}

size_t wire_server_peer_count(const struct wire_server *server)
{
    return server->count;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct wire_server *server = (struct wire_server *)handle;

    free(server->socket_path);
    free(server);
}

void wire_server_free(struct wire_server *server)
{
    if (!server)
        return;
    while (server->connections)
        connection_close(server->connections);
    loop_timer_free(server->hello_timer);
    uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}
