/* websocket.c - who becomes a WebSocket peer: the handshake, and all of them together. */
#include "net/websocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/os.h"
#include "base/pool.h"
#include "net/guard.h"
#include "net/websocket_server.h"

/* Frames out: encoded once, shared by all who get them, one write a peer and turn. */

enum { WRITE_PARTS = 64, QUEUE_FIRST = 4, FLUSH_PEERS = 1024, STRANGER_FRAMES = 8 };

static struct ws_frame *frame_new(enum ws_opcode opcode, const char *bytes, size_t length)
{
    uint8_t head[10];
    size_t head_length = ws_write_head(opcode, length, head);
    struct ws_frame *frame = mem_new(sizeof *frame + head_length + length);

    frame->references = 1;
    frame->length = (uint32_t)(head_length + length);
    frame->head_length = (uint8_t)head_length;
    memcpy(frame->bytes, head, head_length);
    if (length)
        memcpy(frame->bytes + head_length, bytes, length);
    return frame;
}

struct ws_frame *ws_frame_new(const char *text, size_t length)
{
    return frame_new(WS_TEXT, text, length);
}

void ws_frame_release(struct ws_frame *frame)
{
    if (frame && --frame->references == 0)
        free(frame);
}

bool ws_frame_is(const struct ws_frame *frame, const char *text, size_t length)
{
    return frame && frame->length == frame->head_length + length &&
           memcmp(frame->bytes + frame->head_length, text, length) == 0;
}

static void mark_dirty(struct ws_peer *peer)
{
    if (!peer->dirty.next)
        http_link_append(&peer->server->dirty, &peer->dirty);
}

void ws_peer_stir(struct ws_peer *peer)
{
    if (!peer->is_gone && !peer->is_closing)
        mark_dirty(peer);
}

static bool is_a(const struct ws_frame *frame, enum ws_opcode opcode)
{
    return (frame->bytes[0] & 15) == (int)opcode;
}

/* Before hello a peer is closed when it does not read: only the close frame is queued then. */
static bool may_queue(struct ws_peer *peer, const struct ws_frame *frame)
{
    if (!peer->is_known && !is_a(frame, WS_CLOSE) &&
        (peer->queued >= STRANGER_FRAMES || peer->behind > WS_STRANGER_BYTES))
        ws_peer_close(peer, WS_CLOSE_POLICY, "before hello replies must be read");
    return !peer->is_gone && !peer->is_closing;
}

static void ws_peer_queue(struct ws_peer *peer, struct ws_frame *take_frame)
{
    /* Only the newest ping is to be answered (RFC 6455 5.5.3), so it replaces a pong that waits.
     * The first frame stays: a part of it may be sent, or be encrypted. */
    if (peer->queued > 1 && is_a(take_frame, WS_PONG) &&
        is_a(peer->queue[peer->queued - 1], WS_PONG)) {
        peer->behind -= peer->queue[--peer->queued]->length;
        ws_frame_release(peer->queue[peer->queued]);
    }
    if (!may_queue(peer, take_frame)) {
        ws_frame_release(take_frame);
        return;
    }
    if (peer->queued == peer->room) {
        peer->room = peer->room ? peer->room * 2 : QUEUE_FIRST;
        peer->queue = mem_resize(peer->queue, peer->room * sizeof(struct ws_frame *));
    }
    if (peer->behind == 0)
        peer->moved_ms = loop_boot_ms();
    peer->queue[peer->queued++] = take_frame;
    peer->behind += take_frame->length;
    peer->server->frames++;
    mark_dirty(peer);
}

void ws_send_frame(struct ws_peer *peer, struct ws_frame *frame)
{
    frame->references++;
    ws_peer_queue(peer, frame);
}

void ws_send(struct ws_peer *peer, const char *text, size_t length)
{
    if (!peer->is_gone && !peer->is_closing)
        ws_peer_queue(peer, frame_new(WS_TEXT, text, length));
}

static void ws_peer_send_control(struct ws_peer *peer, enum ws_opcode opcode, const char *bytes,
                                 size_t length)
{
    ws_peer_queue(peer, frame_new(opcode, bytes, length));
}

size_t ws_peer_behind(const struct ws_peer *peer)
{
    return peer->behind;
}

static void ws_peer_drop_queue(struct ws_peer *peer)
{
    for (uint32_t i = 0; i < peer->queued; i++)
        ws_frame_release(peer->queue[i]);
    free(peer->queue);
    peer->queue = NULL;
    peer->queued = peer->room = peer->sent = peer->behind = 0;
}

/* The kernel has taken so many bytes. */
static void drop_sent(struct ws_peer *peer, size_t taken)
{
    uint32_t whole = 0;

    peer->behind -= (uint32_t)taken;
    taken += peer->sent;
    while (whole < peer->queued && taken >= peer->queue[whole]->length) {
        taken -= peer->queue[whole]->length;
        ws_frame_release(peer->queue[whole++]);
    }
    peer->sent = (uint32_t)taken;
    peer->queued -= whole;
    memmove(peer->queue, peer->queue + whole, peer->queued * sizeof(struct ws_frame *));
    if (peer->queued == 0)
        ws_peer_drop_queue(peer);
}

static ssize_t send_some(const struct ws_peer *peer)
{
    struct iovec parts[WRITE_PARTS] = { 0 };
    struct msghdr message = { .msg_iov = parts };
    size_t count = peer->queued < WRITE_PARTS ? peer->queued : WRITE_PARTS;

    if (count == 1 || peer->tls) /* the usual case is cheaper without a list */
        return stream_send(peer->fd, peer->tls, peer->queue[0]->bytes + peer->sent,
                           peer->queue[0]->length - peer->sent);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct iovec){ peer->queue[i]->bytes, peer->queue[i]->length };
    parts[0].iov_base = (char *)parts[0].iov_base + peer->sent;
    parts[0].iov_len -= peer->sent;
    message.msg_iovlen = count;
    return sendmsg(peer->fd, &message, MSG_NOSIGNAL);
}

static void ws_wait_end(struct ws_peer *peer)
{
    http_link_remove(&peer->wait);
    peer->wait_class = WS_WAIT_NONE;
}

static void forget_unread(struct ws_peer *peer)
{
    if (!peer->unread)
        return;
    http_server_give_back(peer->http, peer->unread->held);
    ws_parser_release(&peer->unread->parser);
    text_release(&peer->unread->backlog);
    free(peer->unread);
    peer->unread = NULL;
}

/* Closes the connection immediately, without a close frame. */
static void ws_peer_drop(struct ws_peer *peer)
{
    struct ws_server *server = peer->server;

    if (peer->is_gone)
        return;
    peer->is_gone = true;
    http_link_remove(&peer->all);
    http_link_remove(&peer->dirty);
    ws_wait_end(peer);
    ws_peer_drop_queue(peer);
    forget_unread(peer);
    server->count--;
    server->strangers -= !peer->is_known;
    os_poller_watch(server->poller, peer->fd, peer->interest, 0, NULL);
    stream_close(peer->fd, peer->tls);
    peer->tls = NULL;
    http_link_append(&server->gone, &peer->all);
    loop_wake_send(server->wake);
    http_address_leave(&peer->address);
    http_server_free_place(peer->http);
    if (peer->owner)
        server->handler.closed(peer->owner);
    peer->owner = NULL;
}

/* Everything is with the kernel. */
static void ws_peer_drained(struct ws_peer *peer)
{
    if (peer->is_closing && !peer->has_shut) {
        /* Closing while bytes of the peer are unread would reset the connection, and our reason
         * with it: it goes when the peer has closed, or late. */
        peer->has_shut = true;
        if (!stream_shut(peer->fd, peer->tls))
            ws_peer_drop(peer);
    } else if (!peer->is_closing && peer->owner) {
        peer->server->handler.drained(peer->owner);
    }
}

static void ws_peer_watch(struct ws_peer *peer)
{
    unsigned events;

    if (peer->is_gone)
        return;
    events = peer->is_paused ? OS_HUNG_UP : OS_READABLE;
    /* what waits for the flush needs no sign of room */
    if ((peer->queued > 0 && !peer->dirty.next) || stream_is_stuck(peer->tls))
        events |= OS_WRITABLE;
    if (os_poller_watch(peer->server->poller, peer->fd, peer->interest, events, peer))
        peer->interest = (uint8_t)events;
    else
        ws_peer_drop(peer); /* unwatched, it would never be heard of again */
}

static void ws_peer_write(struct ws_peer *peer)
{
    if (!peer->is_gone && !stream_flush(peer->fd, peer->tls))
        ws_peer_drop(peer);
    while (!peer->is_gone && peer->queued > 0) {
        ssize_t sent = send_some(peer);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN) {
            ws_peer_drop(peer);
            return;
        }
        if (sent < 0)
            break;
        peer->moved_ms = loop_boot_ms();
        drop_sent(peer, (size_t)sent);
    }
    if (!peer->is_gone && peer->queued == 0)
        ws_peer_drained(peer);
    ws_peer_watch(peer);
}

/* In slices, so that other work gets its turn in between. */
void ws_server_flush(struct ws_server *server)
{
    struct http_link *head = &server->dirty;

    for (int i = 0; i < FLUSH_PEERS && !http_list_is_empty(head); i++) {
        struct ws_peer *peer = TABLE_THING(ws_peer, dirty, head->next);

        http_link_remove(&peer->dirty);
        ws_peer_write(peer);
    }
    if (!http_list_is_empty(head))
        loop_wake_send(server->wake);
}

/* How long WebSocket peers may take. One timer for all. A peer that was heard in the meantime is
 * put back to the end of its list when it comes to its front, so that a message costs no list. */

enum { CLOCK_STEP_MS = 250 };
static const struct ws_times default_times = {
    .hello_ms = 5000,
    .quiet_ms = 45000,
    .pong_ms = 20000,
    .stall_ms = 30000,
    .close_ms = 2000,
};

static void on_hello_late(struct ws_peer *peer)
{
    ws_peer_close(peer, WS_CLOSE_POLICY, "no hello within 5 s");
}

static void ws_wait_begin(struct ws_peer *peer, enum ws_class kind);

static void on_quiet(struct ws_peer *peer)
{
    ws_peer_send_control(peer, WS_PING, "", 0);
    ws_wait_begin(peer, WS_WAIT_PONG);
}

#define TIME(member) offsetof(struct ws_times, member)
static const struct {
    void (*call)(struct ws_peer *peer);
    size_t member;
    bool renews; /* by being heard */
} classes[WS_CLASSES] = {
    [WS_WAIT_HELLO] = { on_hello_late, TIME(hello_ms), false },
    [WS_WAIT_QUIET] = { on_quiet, TIME(quiet_ms), true },
    [WS_WAIT_PONG] = { ws_peer_drop, TIME(pong_ms), true },
    [WS_WAIT_CLOSE] = { ws_peer_drop, TIME(close_ms), false },
};

static int64_t limit_of(const struct ws_server *server, int kind)
{
    return *(const int64_t *)(const void *)((const char *)&server->times + classes[kind].member);
}

static void arm(struct ws_server *server, int64_t at_ms)
{
    if (server->timer_ms && server->timer_ms <= at_ms)
        return;
    server->timer_ms = at_ms;
    loop_timer_at(server->timer, at_ms);
}

static void ws_wait_begin(struct ws_peer *peer, enum ws_class kind)
{
    struct ws_server *server = peer->server;

    http_link_remove(&peer->wait);
    peer->wait_class = (uint8_t)kind;
    peer->wait_ms = loop_boot_ms();
    peer->was_heard = false;
    http_link_append(&server->waits[kind], &peer->wait);
    arm(server, peer->wait_ms + limit_of(server, kind));
}

static void ring(struct ws_peer *peer, int64_t now_ms)
{
    int kind = peer->wait_class;
    bool was_heard = classes[kind].renews && peer->was_heard;
    bool is_stalled = peer->behind > 0 && now_ms - peer->moved_ms >= peer->server->times.stall_ms;

    ws_wait_end(peer);
    if (is_stalled) {
        peer->server->dropped++;
        ws_peer_drop(peer);
    } else if (was_heard) {
        ws_wait_begin(peer, WS_WAIT_QUIET);
    } else {
        classes[kind].call(peer);
    }
}

static void ws_server_unref(struct ws_server *server)
{
    if (--server->references == 0)
        free(server);
}

static void tick(void *context)
{
    struct ws_server *server = context;
    int64_t now_ms = loop_boot_ms();

    server->references++;
    server->timer_ms = 0;
    for (int kind = WS_WAIT_HELLO; kind < WS_CLASSES && !server->is_freed; kind++) {
        struct http_link *head = &server->waits[kind];
        int64_t limit_ms = limit_of(server, kind);

        while (!http_list_is_empty(head) && !server->is_freed) {
            struct ws_peer *peer = TABLE_THING(ws_peer, wait, head->next);

            if (peer->wait_ms + limit_ms > now_ms) {
                arm(server, peer->wait_ms + limit_ms +
                                (limit_ms / 8 < CLOCK_STEP_MS ? limit_ms / 8 : CLOCK_STEP_MS));
                break;
            }
            ring(peer, now_ms);
        }
    }
    ws_server_unref(server);
}

static void ws_clock_init(struct ws_server *server)
{
    const int64_t *defaults = (const int64_t *)(const void *)&default_times;
    int64_t *times = (int64_t *)(void *)&server->times;

    for (size_t i = 0; i < sizeof server->times / sizeof *times; i++)
        if (times[i] == 0)
            times[i] = defaults[i];
    for (int kind = 0; kind < WS_CLASSES; kind++)
        http_link_init(&server->waits[kind]);
    server->timer = loop_timer_new(server->loop, tick, server);
}

/* One WebSocket peer: bytes to messages, and how it ends. */

void ws_peer_close(struct ws_peer *peer, int code, const char *reason)
{
    char payload[WS_CONTROL_BYTES];
    size_t length = strnlen(reason, sizeof payload - 2);

    if (peer->is_gone || peer->is_closing)
        return;
    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    memcpy(payload + 2, reason, length);
    ws_peer_send_control(peer, WS_CLOSE, payload, code == WS_CLOSE_NONE ? 0 : length + 2);
    peer->is_closing = true;
    peer->is_paused = false;
    ws_wait_begin(peer, WS_WAIT_CLOSE);
}

static void take_piece(struct ws_peer *peer, const struct ws_piece *piece)
{
    switch (piece->opcode) {
    case WS_TEXT:
        peer->server->messages++;
        peer->server->handler.message(peer->owner, piece->bytes, piece->length);
        break;
    case WS_PING:
        ws_peer_send_control(peer, WS_PONG, piece->bytes, piece->length);
        break;
    case WS_CLOSE:
        ws_peer_close(peer, piece->code, "");
        break;
    case WS_CONTINUATION:
    case WS_BINARY:
    case WS_PONG:
        break;
    }
}

static bool is_stranger(const struct ws_peer *peer)
{
    return !peer->is_known && !peer->has_token;
}

static const char *reason_of(const struct ws_peer *peer, int code)
{
    static const struct {
        int code;
        const char *reason;
    } rows[] = {
        { WS_CLOSE_TYPE, "text messages only" },
        { WS_CLOSE_TEXT, "not UTF-8" },
        { WS_CLOSE_POLICY, "too many fragments" },
        { WS_CLOSE_SIZE, "a message has at most 1048576 bytes" },
    };

    if (code == WS_CLOSE_SIZE && is_stranger(peer))
        return "before hello a message has at most 4096 bytes";
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code)
            return rows[i].reason;
    return "not RFC 6455";
}

/* Nothing is kept between messages; else what is left moves to memory of its own. */
static void keep_unread(struct ws_peer *peer, struct ws_parser *take_parser, const char *rest,
                        size_t length)
{
    size_t held = take_parser->message.used + take_parser->control.used + length;

    if (ws_parser_is_idle(take_parser) && length == 0) {
        ws_parser_release(take_parser);
        return;
    }
    if (!http_server_hold(peer->http, held, !is_stranger(peer))) {
        ws_parser_release(take_parser);
        ws_peer_close(peer, WS_CLOSE_BUSY, "too much is waiting here; try again");
        return;
    }
    peer->unread = mem_new(sizeof *peer->unread);
    peer->unread->held = held;
    peer->unread->parser = *take_parser;
    if (length)
        text_add(&peer->unread->backlog, rest, length);
}

static void take_bytes(struct ws_peer *peer, char *bytes, size_t length)
{
    struct ws_parser parser = { 0 };
    size_t at = 0;

    if (peer->unread) {
        parser = peer->unread->parser;
        peer->unread->parser = (struct ws_parser){ 0 };
        forget_unread(peer);
    }
    while (at < length && !peer->is_gone && !peer->is_closing && !peer->is_paused) {
        struct ws_piece piece;
        size_t used;
        enum ws_outcome outcome;

        parser.max_bytes = is_stranger(peer) ? WS_STRANGER_BYTES : WS_MESSAGE_BYTES;
        outcome = ws_parse(&parser, bytes + at, length - at, &used, &piece);
        at += used;
        if (outcome == WS_HAS_PIECE)
            take_piece(peer, &piece);
        else if (outcome == WS_FAILED)
            ws_peer_close(peer, piece.code, reason_of(peer, piece.code));
    }
    if (peer->is_gone || peer->is_closing)
        ws_parser_release(&parser);
    else
        keep_unread(peer, &parser, bytes + at, length - at);
}

static void read_bytes(struct ws_peer *peer)
{
    char *bytes = peer->server->read_bytes;
    ssize_t got = stream_recv(peer->fd, peer->tls, bytes, WS_READ_BYTES);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        ws_peer_drop(peer);
        return;
    }
    peer->was_heard = true;
    if (!peer->is_closing) {
        take_bytes(peer, bytes, (size_t)got);
        return;
    }
    peer->discarded += (uint32_t)got;
    if (peer->discarded > WS_DISCARD_BYTES)
        ws_peer_drop(peer);
}

static void ws_peer_ready(struct ws_peer *peer, unsigned events)
{
    if (peer->is_gone) /* by what another one said in this turn */
        return;
    if (events & OS_BROKEN) {
        ws_peer_drop(peer);
        return;
    }
    if (events & OS_WRITABLE)
        ws_peer_write(peer);
    if (!peer->is_gone && !peer->is_paused && (events & OS_READABLE))
        read_bytes(peer);
    else if (!peer->is_gone && (events & OS_HUNG_UP))
        ws_peer_drop(peer);
    if (peer->dirty.next) {
        http_link_remove(&peer->dirty);
        ws_peer_write(peer);
    }
    ws_peer_watch(peer);
}

void ws_peer_know(struct ws_peer *peer)
{
    if (!peer->is_gone && !peer->is_known)
        peer->server->strangers--;
    peer->is_known = true;
    http_address_leave(&peer->address);
    if (!peer->is_gone && !peer->is_closing)
        ws_wait_begin(peer, WS_WAIT_QUIET);
}

void ws_peer_pause(struct ws_peer *peer, bool is_paused)
{
    if (peer->is_gone || peer->is_closing || peer->is_paused == is_paused)
        return;
    peer->is_paused = is_paused;
    if (!is_paused && peer->unread && peer->unread->backlog.used) {
        struct text rest = peer->unread->backlog;

        peer->unread->backlog = (struct text){ 0 };
        take_bytes(peer, rest.bytes, rest.used);
        text_release(&rest);
    }
    ws_peer_watch(peer);
}

int ws_peer_port(const struct ws_peer *peer)
{
    const struct http_virtual_host *virtual_host = http_server_virtual_host(peer->http);

    return virtual_host && virtual_host->public_port ? virtual_host->public_port
                                                     : http_server_port(peer->http);
}

bool ws_peer_is_local(const struct ws_peer *peer)
{
    return !http_server_virtual_host(peer->http);
}

bool ws_peer_user(const struct ws_peer *peer, int64_t *ret_uid)
{
    return os_tcp_peer_user(peer->fd, ret_uid);
}

bool ws_peer_process(const struct ws_peer *peer, int64_t *ret_uid, int64_t *ret_pid)
{
    return ws_peer_is_local(peer) && os_tcp_peer_process(peer->fd, ret_uid, ret_pid);
}

/* Peers that have not said hello hold places that others need: the one silent for longest makes
 * room. */
static void make_room(struct ws_server *server, const struct http_server *http)
{
    struct http_link *head = &server->waits[WS_WAIT_HELLO];
    size_t few = http->max / 4 < http->max_strangers ? http->max / 4 : http->max_strangers;
    size_t max = server->max_strangers ? server->max_strangers : few;

    if (server->strangers >= max && !http_list_is_empty(head))
        ws_peer_drop(TABLE_THING(ws_peer, wait, head->next));
}

void ws_server_take(void *context, const struct http_taken *taken)
{
    struct ws_server *server = context;
    struct ws_peer *peer = pool_new(sizeof *peer);

    peer->server = server;
    peer->http = taken->server;
    peer->fd = taken->fd;
    peer->tls = taken->tls;
    peer->address = taken->address;
    peer->has_token = taken->has_token;
    make_room(server, taken->server);
    server->count++;
    server->strangers++;
    server->opened++;
    http_link_append(&server->peers, &peer->all);
    ws_wait_begin(peer, WS_WAIT_HELLO);
    peer->owner = server->handler.opened(server->handler.context, peer);
    if (!peer->owner)
        ws_peer_drop(peer);
    else if (taken->length > 0)
        take_bytes(peer, taken->bytes, taken->length);
    if (peer->dirty.next) { /* this turn's flush may be over */
        http_link_remove(&peer->dirty);
        ws_peer_write(peer);
    }
    ws_peer_watch(peer);
}

enum { KEY_CHARACTERS = 24 };

/* What is to be sent goes with the flush of this turn. */
static void free_gone(void *context)
{
    struct ws_server *server = context;

    while (!http_list_is_empty(&server->gone)) {
        struct ws_peer *peer = TABLE_THING(ws_peer, all, server->gone.next);

        http_link_remove(&peer->all);
        pool_free(peer, sizeof *peer);
    }
}

/* One look for all peers; those that are left over are found first in the next turn. */
static void on_peers(uv_poll_t *poll, int status, int events)
{
    struct ws_server *server = TABLE_THING(ws_server, poll, poll);
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
    struct ws_server *server = TABLE_THING(ws_server, poll, handle);

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
    server->max = options->max_peers ? options->max_peers : WS_MAX_PEERS;
    server->max_strangers = options->max_strangers;
    server->references = 1;
    http_link_init(&server->peers);
    http_link_init(&server->dirty);
    http_link_init(&server->gone);
    open_poller(server);
    ws_clock_init(server);
    server->wake = loop_wake_new(options->loop, free_gone, server);
    return server;
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
    guard_refuse(exchange, 426, "upgrade_required", "this path requires WebSocket, version 13");
}

bool ws_server_upgrade(struct ws_server *server, struct http_exchange *exchange, bool is_page)
{
    const char *version = http_header(exchange, "sec-websocket-version");
    const char *key = http_header(exchange, "sec-websocket-key");
    char accept[ACCEPT_KEY_BYTES];

    if (is_page && !http_header(exchange, "origin")) { /* the gate looked at one that is there */
        guard_refuse(exchange, 403, "foreign_origin", "a page says its Origin: it is needed here");
    } else if (strcmp(http_method(exchange), "GET") != 0 || exchange->minor < 1 ||
               !http_list_has(http_header(exchange, "upgrade"), "websocket") ||
               !http_list_has(http_header(exchange, "connection"), "upgrade") || !version ||
               strcmp(version, "13") != 0) {
        refuse_version(exchange);
    } else if (!is_key(key)) {
        guard_refuse(exchange, 400, "bad_format", "Sec-WebSocket-Key is 16 bytes in base64");
    } else if (server->count >= server->max) {
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
    while (!http_list_is_empty(&server->peers))
        ws_peer_drop(TABLE_THING(ws_peer, all, server->peers.next));
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
