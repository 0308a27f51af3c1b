/* http_server.c - who comes in, how many, how long each may take, and how a server ends; see
 * http.h. */
#include "net/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"

enum {
    SERVER_ACCEPTS = 16, /* a turn, so that a flood of newcomers leaves time for the others */
    SERVER_KEPT_FILES = 64,
    SERVER_RESERVED = 16,
    SERVER_PAUSE_MS = 250,
};

static const char busy_reply[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
                                 "Retry-After: 1\r\nContent-Length: 0\r\n\r\n";

/* How long peers may take. One timer for all is armed for the first expiry, and not at all if no
 * peer waits. To add a timeout: a class in http_server.h, and its row here. */

enum {
    CLOCK_STEP_MS = 100,
    CLOCK_LOOK_MS = 50,
    CLOCK_RATE_MS = 1000,
    CLOCK_CALLS = 128, /* of a class in one turn: thousands that end together are many turns */
};
static const struct http_times default_times = {
    .idle_ms = 60000,
    .handshake_ms = 10000,
    .head_ms = 29000, /* the 408 is there within 30 s */
    .body_ms = 60000,
    .body_grace_ms = 10000,
    .stall_ms = 60000,
    .settle_ms = 3000,
    .linger_ms = 2000,
    .beat_ms = 15000,
};

void http_link_init(struct http_link *head)
{
    head->next = head->previous = head;
}

void http_link_append(struct http_link *head, struct http_link *link)
{
    link->next = head;
    link->previous = head->previous;
    head->previous->next = link;
    head->previous = link;
}

void http_link_remove(struct http_link *link)
{
    if (!link->next)
        return;
    link->next->previous = link->previous;
    link->previous->next = link->next;
    link->next = link->previous = NULL;
}

static void on_head_late(struct http_connection *connection)
{
    http_connection_refuse(connection, 408, "the head took too long");
}

static void on_body(struct http_connection *connection)
{
    http_exchange_check_rate(connection->exchange);
}

static void on_beat(struct http_connection *connection)
{
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BEAT);
    sse_beat(connection->exchange);
}

#define TIME(member) offsetof(struct http_times, member)
static const struct {
    void (*call)(struct http_connection *connection);
    int fixed_ms; /* -1: one of struct http_times */
    size_t member;
} classes[HTTP_CLASSES] = {
    [HTTP_WAIT_DOOMED] = { http_connection_close, 0, 0 },
    [HTTP_WAIT_RESUME] = { http_connection_resume, 0, 0 },
    [HTTP_WAIT_HANDSHAKE] = { http_connection_close, -1, TIME(handshake_ms) },
    [HTTP_WAIT_IDLE] = { http_connection_close, -1, TIME(idle_ms) },
    [HTTP_WAIT_KNOWN_IDLE] = { http_connection_close, -1, TIME(idle_ms) },
    [HTTP_WAIT_HEAD] = { on_head_late, -1, TIME(head_ms) },
    [HTTP_WAIT_BODY_START] = { on_body, -1, TIME(body_grace_ms) },
    [HTTP_WAIT_BODY_RATE] = { on_body, CLOCK_RATE_MS, 0 },
    [HTTP_WAIT_STALL] = { http_connection_close, -1, TIME(stall_ms) },
    [HTTP_WAIT_STAY] = { http_connection_check_fate, -1, TIME(settle_ms) },
    [HTTP_WAIT_SETTLE] = { http_connection_check_fate, CLOCK_LOOK_MS, 0 },
    [HTTP_WAIT_LINGER] = { http_connection_close, -1, TIME(linger_ms) },
    [HTTP_WAIT_BEAT] = { on_beat, -1, TIME(beat_ms) },
};

static int64_t limit_of(const struct http_server *server, enum http_class kind)
{
    if (classes[kind].fixed_ms >= 0)
        return classes[kind].fixed_ms;
    return *(const int64_t *)(const void *)((const char *)&server->times + classes[kind].member);
}

static void arm(struct http_server *server, int64_t at_ms)
{
    if (server->timer_ms && server->timer_ms <= at_ms)
        return;
    server->timer_ms = at_ms;
    loop_timer_at(server->timer, at_ms);
}

void http_wait_begin(struct http_server *server, struct http_wait *wait, enum http_class kind)
{
    int64_t limit_ms = limit_of(server, kind);

    http_link_remove(&wait->link);
    wait->kind = (uint8_t)kind;
    wait->since_ms = loop_boot_ms();
    http_link_append(&server->waits[kind], &wait->link);
    arm(server, wait->since_ms + limit_ms);
}

void http_wait_end(struct http_wait *wait)
{
    http_link_remove(&wait->link);
    wait->kind = HTTP_WAIT_NONE;
}

/* Who comes in. */

static void http_server_unref(struct http_server *server)
{
    if (--server->references == 0)
        free(server);
}

/* Between these two nothing that closes is freed. */
static void http_server_enter(struct http_server *server)
{
    server->references++;
    server->depth++;
}

static void http_server_leave(struct http_server *server)
{
    server->depth--;
    http_server_unref(server);
}

/* Strangers leave half of it to those who show a token. */
bool http_server_hold(struct http_server *server, size_t bytes, bool is_known)
{
    if (server->held_bytes + bytes > (is_known ? server->max_bytes : server->max_bytes / 2))
        return false;
    server->held_bytes += bytes;
    return true;
}

void http_server_give_back(struct http_server *server, size_t bytes)
{
    server->held_bytes -= bytes;
}

bool http_server_keep(const struct http_connection *connection, struct text *text,
                      const char *bytes, size_t length)
{
    if (!http_server_hold(connection->server, length, connection->is_known))
        return false;
    text_add(text, bytes, length);
    return true;
}

void http_server_free_place(struct http_server *server)
{
    server->count--;
}

void http_server_drop(struct http_server *server, struct text *text)
{
    http_server_give_back(server, text->used);
    text_release(text);
}

static void send_away(const struct http_server *server, int fd)
{
    /* to who expects TLS nothing can be said yet */
    if (!server->tls &&
        send(fd, busy_reply, sizeof busy_reply - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        errno = 0; /* it is closed whether it hears why or not */
    close(fd);
}

static struct http_connection *find_stranger(struct http_link *waits)
{
    for (struct http_link *link = waits->next; link != waits; link = link->next) {
        struct http_connection *connection = TABLE_THING(http_connection, wait, link);

        if (!connection->is_known)
            return connection;
    }
    return NULL;
}

/* One who is not known and waits for nothing goes, so that a newcomer finds a place. */
static bool make_room(struct http_server *server)
{
    static const enum http_class order[] = { HTTP_WAIT_LINGER, HTTP_WAIT_HANDSHAKE, HTTP_WAIT_IDLE,
                                             HTTP_WAIT_HEAD };

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        struct http_connection *connection = find_stranger(&server->waits[order[i]]);

        if (!connection)
            continue;
        if (order[i] != HTTP_WAIT_LINGER && stream_is_open(connection->tls) &&
            stream_send(connection->fd, connection->tls, busy_reply, sizeof busy_reply - 1) < 0)
            errno = 0; /* it goes whether it hears why or not */
        http_connection_close(connection);
        return true;
    }
    return false;
}

static void pause_listening(struct http_server *server)
{
    server->is_paused = true;
    for (size_t i = 0; i < ARRAY_LEN(server->listeners); i++)
        if (server->listeners[i].fd >= 0)
            uv_poll_stop(&server->listeners[i].poll);
    arm(server, loop_boot_ms() + SERVER_PAUSE_MS);
}

/* No descriptor is left for a newcomer. The spare one lets it in, to be sent away; else it would
 * stay in the queue and wake us for ever. */
static void turn_away(struct http_server *server, int listener)
{
    int fd;

    if (server->spare_fd >= 0)
        close(server->spare_fd);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        send_away(server, fd);
    server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || server->spare_fd < 0)
        pause_listening(server);
}

static void on_newcomer(uv_poll_t *poll, int status, int events)
{
    struct http_listener *listener = (struct http_listener *)poll;
    struct http_server *server = listener->server;
    struct http_address *address;
    bool is_full;

    (void)status;
    (void)events;
    for (int i = 0; i < SERVER_ACCEPTS && !server->is_draining; i++) {
        struct sockaddr_storage peer = { 0 };
        socklen_t length = sizeof peer;
        int fd =
            accept4(listener->fd, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            if (make_room(server))
                continue;
            turn_away(server, listener->fd);
            return;
        }
        if (fd < 0 && errno != ECONNABORTED && errno != EINTR)
            return;
        if (fd < 0)
            continue;
        is_full = server->count >= server->max || server->strangers >= server->max_strangers;
        if (!http_address_enter(server, &peer, &address)) {
            send_away(server, fd);
        } else if (is_full && !make_room(server)) {
            http_address_leave(&address);
            send_away(server, fd);
        } else {
            http_connection_new(server, fd, address);
        }
    }
}

/* One look for all peers; those that are left over are found first in the next turn. */
static void on_peers(uv_poll_t *poll, int status, int events)
{
    struct http_server *server = TABLE_THING(http_server, poll, poll);
    struct os_ready ready[HTTP_TURN_PEERS];
    int count = os_poller_take(server->poller, ready, HTTP_TURN_PEERS);

    (void)status;
    (void)events;
    http_server_enter(server);
    for (int i = 0; i < count; i++)
        http_connection_ready(ready[i].thing, ready[i].events);
    http_server_leave(server);
}

static void free_gone(struct http_server *server)
{
    while (!http_list_is_empty(&server->gone)) {
        struct http_connection *connection = TABLE_THING(http_connection, all, server->gone.next);

        http_link_remove(&connection->all);
        http_connection_free(connection);
    }
}

static void http_server_listen_again(struct http_server *server)
{
    server->is_paused = false;
    if (server->spare_fd < 0)
        server->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(server->listeners) && !server->is_draining; i++)
        if (server->listeners[i].fd >= 0)
            uv_poll_start(&server->listeners[i].poll, UV_READABLE, on_newcomer);
}

/* A little late, so that many peers that end one after the other are one wake-up. */
static int64_t step_of(int64_t limit_ms)
{
    return limit_ms / 8 < CLOCK_STEP_MS ? limit_ms / 8 : CLOCK_STEP_MS;
}

static void tick(void *context)
{
    struct http_server *server = context;
    int64_t now_ms = loop_boot_ms();

    http_server_enter(server); /* a fate may free the server */
    server->timer_ms = 0;
    for (int kind = HTTP_WAIT_DOOMED; kind < HTTP_CLASSES && !server->is_freed; kind++) {
        struct http_link *head = &server->waits[kind];
        int64_t limit_ms = limit_of(server, (enum http_class)kind);

        for (int calls = 0; head->next != head && !server->is_freed; calls++) {
            struct http_wait *wait = (struct http_wait *)head->next;

            if (wait->since_ms + limit_ms > now_ms) {
                arm(server, wait->since_ms + limit_ms + step_of(limit_ms));
                break;
            }
            if (calls == CLOCK_CALLS) { /* peers that came in the meantime go first */
                arm(server, now_ms);
                break;
            }
            http_wait_end(wait);
            classes[kind].call(TABLE_THING(http_connection, wait, wait));
        }
    }
    if (server->is_paused && !server->is_freed)
        http_server_listen_again(server);
    http_server_leave(server);
}

static void http_clock_init(struct http_server *server)
{
    const int64_t *defaults = (const int64_t *)(const void *)&default_times;
    int64_t *times = (int64_t *)(void *)&server->times;

    for (size_t i = 0; i < sizeof server->times / sizeof *times; i++)
        if (times[i] == 0)
            times[i] = defaults[i];
    for (int kind = 0; kind < HTTP_CLASSES; kind++)
        http_link_init(&server->waits[kind]);
    server->timer = loop_timer_new(server->loop, tick, server);
}

static size_t max_connections(void)
{
    struct rlimit files = { 0 };
    size_t max, kept;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 2 > HTTP_MAX_CONNECTIONS)
        return HTTP_MAX_CONNECTIONS;
    kept = files.rlim_cur / 2 < SERVER_KEPT_FILES ? files.rlim_cur / 2 : SERVER_KEPT_FILES;
    max = files.rlim_cur - kept;
    return max < HTTP_MAX_CONNECTIONS ? max : HTTP_MAX_CONNECTIONS;
}

static void begin_listening(struct http_server *server, const int *fds)
{
    for (size_t i = 0; i < ARRAY_LEN(server->listeners); i++) {
        struct http_listener *listener = &server->listeners[i];

        listener->server = server;
        listener->fd = fds[i];
        if (fds[i] < 0)
            continue;
        if (uv_poll_init(loop_uv(server->loop), &listener->poll, fds[i]) != 0)
            abort();
        server->references++;
    }
    if (uv_poll_init(loop_uv(server->loop), &server->poll, server->poller) != 0)
        abort();
    server->references++;
    uv_poll_start(&server->poll, UV_READABLE, on_peers);
    http_server_listen_again(server);
}

bool http_server_open(struct loop *loop, const struct http_options *options,
                      struct http_server **ret_server, struct error *err)
{
    struct http_server *server;
    int fds[2], port, poller;

    if (options->virtual_host ? !http_listen_at(options->virtual_host->address,
                                                options->virtual_host->port, fds, &port, err)
                              : !http_listen(options->port, options->may_move, fds, &port, err))
        return false;
    poller = os_poller_open();
    if (poller < 0) {
        int why = errno;

        close(fds[0]);
        if (fds[1] >= 0)
            close(fds[1]);
        return error_set(err, ERROR_unavailable, "", "can't listen on port %d: %s", port,
                         strerror(why));
    }
    server = mem_new(sizeof *server);
    server->poller = poller;
    server->loop = loop;
    server->handler = options->handler;
    server->times = options->times;
    server->virtual_host = options->virtual_host;
    server->tls = options->tls;
    server->max = options->max_connections ? options->max_connections : max_connections();
    server->reserved = server->max / 4 < SERVER_RESERVED ? server->max / 4 : SERVER_RESERVED;
    server->max_strangers = options->tls ? HTTP_TLS_STRANGERS : server->max;
    server->max_bytes = options->max_bytes ? options->max_bytes : HTTP_HELD_BYTES;
    server->port = port;
    server->spare_fd = -1;
    server->references = 1;
    http_link_init(&server->connections);
    http_link_init(&server->gone);
    http_link_init(&server->dirty);
    http_addresses_init(server);
    http_clock_init(server);
    begin_listening(server, fds);
    *ret_server = server;
    return true;
}

int http_server_port(const struct http_server *server)
{
    return server->port;
}

const struct http_virtual_host *http_server_virtual_host(const struct http_server *server)
{
    return server->virtual_host;
}

void http_server_use_tls(struct http_server *server, const struct tls_context *tls)
{
    server->tls = tls;
}

void http_server_flush(struct http_server *server)
{
    while (!http_list_is_empty(&server->dirty)) {
        struct http_connection *connection =
            TABLE_THING(http_connection, dirty, server->dirty.next);

        http_link_remove(&connection->dirty);
        http_connection_write(connection);
    }
    if (server->depth == 0)
        free_gone(server);
}

static void on_poller_closed(uv_handle_t *handle)
{
    struct http_server *server = TABLE_THING(http_server, poll, handle);

    free_gone(server);
    http_server_unref(server);
}

static void on_listener_closed(uv_handle_t *handle)
{
    http_server_unref(((struct http_listener *)handle)->server);
}

static void stop_listening(struct http_server *server)
{
    for (size_t i = 0; i < ARRAY_LEN(server->listeners); i++) {
        struct http_listener *listener = &server->listeners[i];

        if (listener->fd < 0)
            continue;
        uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
        close(listener->fd);
        listener->fd = -1;
    }
}

/* Calls for each connection once, though some leave during the walk: those already seen go to the
 * end of the list. */
static void for_each(struct http_server *server, void (*call)(struct http_connection *connection))
{
    for (size_t left = server->count; left > 0 && !http_list_is_empty(&server->connections);
         left--) {
        struct http_connection *connection =
            TABLE_THING(http_connection, all, server->connections.next);

        http_link_remove(&connection->all);
        http_link_append(&server->connections, &connection->all);
        call(connection);
    }
}

static void drain_one(struct http_connection *connection)
{
    if (connection->phase == PHASE_IDLE)
        http_connection_close(connection);
    else if (connection->phase == PHASE_HEAD || connection->phase == PHASE_BODY)
        http_connection_refuse(connection, 503, "the server is going; try again");
}

void http_server_drain(struct http_server *server)
{
    if (server->is_draining)
        return;
    server->is_draining = true;
    stop_listening(server);
    for_each(server, drain_one);
}

static void dismiss_one(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;

    if (exchange && !exchange->has_begun)
        http_connection_refuse(connection, 503, "the server is going; try again");
    else if (exchange)
        http_connection_settle(connection, HTTP_LOST);
    if (connection->phase == PHASE_CLOSED)
        return;
    connection->closes_after = true;
    connection->phase = PHASE_WRITING;
    http_connection_mark_dirty(connection);
}

void http_server_dismiss(struct http_server *server)
{
    if (server->is_dismissed)
        return;
    http_server_drain(server);
    server->is_dismissed = true;
    for_each(server, dismiss_one);
    http_server_flush(server);
}

void http_server_cut(struct http_server *server, uint64_t owner)
{
    struct http_link *head = &server->connections;

    for (struct http_link *link = head->next; link != head; link = link->next) {
        struct http_connection *connection = TABLE_THING(http_connection, all, link);

        if (connection->is_known && connection->owner == owner)
            http_connection_doom(connection);
    }
}

bool http_server_is_drained(const struct http_server *server)
{
    return server->is_dismissed && server->count == 0;
}

size_t http_server_peer_count(const struct http_server *server)
{
    return server->exchange_count;
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    server->is_draining = true;
    server->is_freed = true;
    stop_listening(server);
    while (!http_list_is_empty(&server->connections))
        http_connection_close(TABLE_THING(http_connection, all, server->connections.next));
    loop_timer_free(server->timer);
    server->timer = NULL;
    table_release(&server->addresses);
    uv_close((uv_handle_t *)&server->poll, on_poller_closed);
    close(server->poller);
    if (server->spare_fd >= 0)
        close(server->spare_fd);
    http_server_unref(server);
}
