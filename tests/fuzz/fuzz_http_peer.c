/*
 * fuzz_http_peer.c - a peer and a handler that do anything in any order: bytes in pieces, replies,
 * streams, half closes, a server that goes. Every exchange that was begun has one fate, and nothing
 * is kept when the peer has gone.
 * Proves: P14 P20
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/loop.h"
#include "net/http_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HELD_MAX = 8 };
static struct {
    struct loop *loop;
    struct http_server *server;
    struct http_exchange *held[HELD_MAX];
    size_t held_count;
    long begun, fates;
    int peer;
} stage = { .peer = -1 };

static void demand(bool is_so)
{
    if (!is_so)
        abort();
}

static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    (void)context;
    stage.fates++;
    for (size_t i = 0; i < stage.held_count; i++)
        if (stage.held[i] == exchange) {
            stage.held[i] = stage.held[--stage.held_count];
            break;
        }
    http_send(exchange, "late", 4); /* it reaches no peer, and nothing breaks */
    http_reply(exchange, fate == HTTP_TAKEN ? 200 : 500, NULL, "", 0);
}

static int64_t admit(void *context, struct http_exchange *exchange)
{
    const char *path = http_path(exchange);

    (void)context;
    if (path[1] == 'r') {
        http_reply(exchange, 403, NULL, "no", 2);
        return -1;
    }
    if (path[1] == 'k')
        http_recognise(exchange, 1);
    if (path[1] == 'f') {
        stage.begun++;
        http_on_fate(exchange, on_fate, NULL);
    }
    return path[1] == 't' ? 0 : 300;
}

static void serve(void *context, struct http_exchange *exchange)
{
    bool has_fate = http_path(exchange)[1] == 'f';
    size_t length;
    const char *body = http_body(exchange, &length);

    (void)context;
    if (http_path(exchange)[1] != 'h' || stage.held_count == HELD_MAX) {
        http_reply(exchange, 200, "text/plain", body, length);
        return;
    }
    demand(!has_fate);
    stage.begun++;
    http_on_fate(exchange, on_fate, NULL);
    stage.held[stage.held_count++] = exchange;
}

static void flush(void *context)
{
    (void)context;
    if (stage.server)
        http_server_flush(stage.server);
}

static void open_server(void)
{
    struct http_options options = { .handler = { .admit = admit, .serve = serve },
                                    .times = { .settle_ms = 1, .linger_ms = 1, .beat_ms = 1 },
                                    .max_connections = 8,
                                    .max_bytes = 4000 };
    struct error err;

    if (!stage.loop) {
        stage.loop = loop_new();
        loop_before_sleep(stage.loop, flush, NULL);
    }
    demand(http_server_open(stage.loop, &options, &stage.server, &err));
}

static void turn(void)
{
    uv_run(loop_uv(stage.loop), UV_RUN_NOWAIT);
}

static void connect_peer(void)
{
    int pair[2];

    if (stage.peer >= 0)
        close(stage.peer);
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
    stage.peer = pair[0];
    if (stage.server->is_draining || stage.server->count >= stage.server->max)
        close(pair[1]);
    else
        http_connection_new(stage.server, pair[1], NULL);
}

static void read_peer(void)
{
    char bytes[4096];

    while (recv(stage.peer, bytes, sizeof bytes, 0) > 0)
        turn();
}

static struct http_exchange *first_held(void)
{
    return stage.held_count ? stage.held[0] : NULL;
}

/* What a handler may do to an exchange that waits. */
static void handle(int act)
{
    static const char block[70000];
    struct http_exchange *exchange = first_held();

    if (!exchange)
        return;
    switch (act) {
    case 0:
        http_reply(exchange, 200, "text/plain", "answer", 6);
        break;
    case 1:
        sse_begin(exchange);
        break;
    case 2:
        sse_send(exchange, "1", "e", "data\nmore", 9);
        break;
    case 3:
        http_end(exchange);
        break;
    case 4:
        http_send(exchange, block, sizeof block);
        break;
    case 5:
        http_forget_request(exchange);
        break;
    case 6:
        http_close_after(exchange);
        break;
    case 7:
        http_set_header(exchange, "X", "y\r\nz");
        break;
    }
}

static void replace_server(void)
{
    http_server_free(stage.server);
    stage.server = NULL;
    turn();
    open_server();
    connect_peer();
}

static size_t act(uint8_t code, const uint8_t *rest, size_t length)
{
    size_t part = 0;

    switch (code >> 4) {
    case 0:
        turn();
        break;
    case 1:
        read_peer();
        break;
    case 2:
        shutdown(stage.peer, SHUT_WR);
        break;
    case 3:
        connect_peer();
        break;
    case 4:
        handle(code & 7);
        break;
    case 5:
        http_server_flush(stage.server);
        break;
    case 6:
        if (code == 0x60)
            http_server_drain(stage.server);
        else if (code == 0x61)
            http_server_dismiss(stage.server);
        else if (code == 0x62)
            replace_server();
        break;
    default: /* printable bytes and line ends stand for themselves */
        part = length < (size_t)(code & 0x7f) ? length : (size_t)(code & 0x7f);
        if (send(stage.peer, rest, part, MSG_NOSIGNAL) < 0)
            return part; /* it was let go */
        break;
    }
    return part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!stage.server || stage.server->is_draining) {
        http_server_free(stage.server);
        open_server();
    }
    connect_peer();
    while (size > 0) {
        uint8_t code = *data++;
        size_t used = act(code, data, --size);

        data += used;
        size -= used;
        demand(http_server_peer_count(stage.server) <= stage.server->count);
    }
    turn();
    close(stage.peer);
    stage.peer = -1;
    /* It hears of the end without our help, and gives back what was held in a later turn. */
    for (int i = 0; stage.server->count + stage.server->held_bytes > 0; i++) {
        struct pollfd wait = { .fd = uv_backend_fd(loop_uv(stage.loop)), .events = POLLIN };

        demand(i < 1000);
        turn();
        if (stage.server->count > 0)
            poll(&wait, 1, 10); /* else the next turn does it */
    }
    demand(stage.held_count == 0 && stage.begun == stage.fates);
    demand(stage.server->exchange_count == 0);
    demand(stage.server->stranger_count == 0);
    turn();
    return 0;
}
