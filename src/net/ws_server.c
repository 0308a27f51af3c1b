/* ws_server.c - who becomes a WebSocket peer: the handshake, and all of them together. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/os.h"
#include "crypto/accept_key.h"
#include "loop/loop.h"
#include "net/guard.h"
#include "net/ws_inside.h"

enum { KEY_CHARACTERS = 24 };

void ws_server_unref(struct ws_server *server)
{
    if (--server->references == 0)
        free(server);
}

static void free_gone(struct ws_server *server)
{
    while (server->gone.next != &server->gone) {
        struct http_link *link = server->gone.next;

        http_link_remove(link);
        ws_peer_free((struct ws_peer *)(void *)((char *)link - offsetof(struct ws_peer, all)));
    }
}

static void on_wake(void *context)
{
    free_gone(context); /* what is to be sent goes with the flush of this turn */
}

/* One look for all peers; those that are left over are found first in the next turn. */
static void on_peers(uv_poll_t *poll, int status, int events)
{
    struct ws_server *server =
        (struct ws_server *)(void *)((char *)poll - offsetof(struct ws_server, poll));
    struct os_ready ready[HTTP_TURN_PEERS];
    int count = os_poller_take(server->poller, ready, HTTP_TURN_PEERS);

    (void)status;
    (void)events;
    server->references++;
    for (int i = 0; i < count && !server->is_freed; i++)
        ws_peer_ready(ready[i].thing, ready[i].events);
    ws_server_unref(server);
}

static void on_poller_closed(uv_handle_t *handle)
{
    struct ws_server *server =
        (struct ws_server *)(void *)((char *)handle - offsetof(struct ws_server, poll));

    free_gone(server);
    ws_server_unref(server);
}

static void open_poller(struct ws_server *server)
{
    server->poller = os_poller_open();
    if (server->poller < 0 ||
        uv_poll_init(loop_uv(server->loop), &server->poll, server->poller) != 0)
        abort();
    uv_poll_start(&server->poll, UV_READABLE, on_peers);
    server->references++;
}

struct ws_server *ws_server_new(const struct ws_options *options)
{
    struct ws_server *server = mem_new(sizeof *server);

    server->loop = options->loop;
    server->handler = options->handler;
    server->times = options->times;
    server->most = options->most_peers ? options->most_peers : WS_MOST_PEERS;
    server->most_strangers = options->most_strangers;
    server->references = 1;
    http_link_init(&server->peers);
    http_link_init(&server->dirty);
    http_link_init(&server->gone);
    open_poller(server);
    ws_clock_init(server);
    server->wake = loop_wake_new(options->loop, on_wake, server);
    return server;
}

/* One of the words of a list between commas. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (list && *list) {
        size_t part;

        list += strspn(list, " \t,");
        part = strcspn(list, " \t,");
        if (part == length && strncasecmp(list, word, length) == 0)
            return true;
        list += part;
    }
    return false;
}

/* Sixteen bytes in base64, which is 22 characters and "==". */
static bool is_key(const char *key)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    return key && strlen(key) == KEY_CHARACTERS && strspn(key, letters) == KEY_CHARACTERS - 2 &&
           strcmp(key + KEY_CHARACTERS - 2, "==") == 0;
}

static void refuse_version(struct http_exchange *exchange)
{
    http_set_header(exchange, "Sec-WebSocket-Version", "13");
    http_set_header(exchange, "Upgrade", "websocket");
    http_set_header(exchange, "Connection", "Upgrade");
    guard_refuse(exchange, 426, "upgrade_required", "this path speaks WebSocket, version 13");
}

bool ws_server_upgrade(struct ws_server *server, struct http_exchange *exchange, bool is_page)
{
    const char *version = http_header(exchange, "sec-websocket-version");
    const char *key = http_header(exchange, "sec-websocket-key");
    char accept[ACCEPT_KEY_BYTES];

    if (is_page && !http_header(exchange, "origin")) { /* the gate looked at one that is there */
        guard_refuse(exchange, 403, "foreign_origin", "a page says its Origin: it is needed here");
    } else if (strcmp(http_method(exchange), "GET") != 0 || exchange->minor < 1 ||
               !has_word(http_header(exchange, "upgrade"), "websocket") ||
               !has_word(http_header(exchange, "connection"), "upgrade") || !version ||
               strcmp(version, "13") != 0) {
        refuse_version(exchange);
    } else if (!is_key(key)) {
        guard_refuse(exchange, 400, "bad_format", "Sec-WebSocket-Key is 16 bytes in base64");
    } else if (server->count >= server->most) {
        http_set_header(exchange, "Retry-After", "5");
        guard_refuse(exchange, 503, "unavailable", "too many pages are open; close some");
    } else {
        accept_key(key, accept);
        http_set_header(exchange, "Upgrade", "websocket");
        http_set_header(exchange, "Connection", "Upgrade");
        http_set_header(exchange, "Sec-WebSocket-Accept", accept);
        http_upgrade(exchange);
        return true;
    }
    return false;
}

void ws_server_take(void *server, const struct http_taken *taken)
{
    ws_peer_new(server, taken);
}

size_t ws_server_count(const struct ws_server *server)
{
    return server->count;
}

void ws_server_write_metrics(const struct ws_server *server, struct text *out)
{
    metrics_write_one(out, "sayso_websocket_peers", "gauge", "Pages that are connected.",
                      (int64_t)server->count);
    metrics_write_one(out, "sayso_websocket_opened_total", "counter", "Pages that connected.",
                      server->opened);
    metrics_write_one(out, "sayso_websocket_messages_total", "counter", "Messages of pages.",
                      server->messages);
    metrics_write_one(out, "sayso_websocket_frames_total", "counter", "Frames to pages.",
                      server->frames);
    metrics_write_one(out, "sayso_websocket_dropped_total", "counter",
                      "Pages that did not read and were cut off.", server->dropped);
}

void ws_server_end_peers(struct ws_server *server)
{
    while (server->peers.next != &server->peers)
        ws_peer_drop(
            (struct ws_peer *)(void *)((char *)server->peers.next - offsetof(struct ws_peer, all)));
}

void ws_server_free(struct ws_server *server)
{
    if (!server)
        return;
    server->is_freed = true;
    ws_server_end_peers(server);
    uv_close((uv_handle_t *)&server->poll, on_poller_closed);
    close(server->poller);
    loop_timer_free(server->timer);
    loop_wake_free(server->wake);
    ws_server_unref(server);
}
