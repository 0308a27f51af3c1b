/* ws_peer.c - one WebSocket peer: bytes to messages, and how it ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/pool.h"
#include "loop/loop.h"
#include "net/ws_inside.h"

void ws_peer_free(struct ws_peer *peer)
{
    pool_free(peer, sizeof *peer);
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

void ws_peer_drop(struct ws_peer *peer)
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

/* Everything is with the kernel. */
void ws_peer_drained(struct ws_peer *peer)
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

        parser.most_bytes = is_stranger(peer) ? WS_STRANGER_BYTES : WS_MESSAGE_BYTES;
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

static void discard(struct ws_peer *peer, size_t length)
{
    peer->discarded += (uint32_t)length;
    if (peer->discarded > WS_DISCARD_BYTES)
        ws_peer_drop(peer);
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
    if (peer->is_closing)
        discard(peer, (size_t)got);
    else
        take_bytes(peer, bytes, (size_t)got);
}

void ws_peer_ready(struct ws_peer *peer, unsigned events)
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

void ws_peer_watch(struct ws_peer *peer)
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
        ws_peer_drop(peer); /* nobody would hear of it any more */
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
    const struct http_site *site = http_server_site(peer->http);

    return site && site->public_port ? site->public_port : http_server_port(peer->http);
}

bool ws_peer_is_local(const struct ws_peer *peer)
{
    return !http_server_site(peer->http);
}

bool ws_peer_user(const struct ws_peer *peer, int64_t *ret_uid)
{
    return os_tcp_peer_user(peer->fd, ret_uid);
}

bool ws_peer_process(const struct ws_peer *peer, int64_t *ret_uid, int64_t *ret_pid)
{
    return ws_peer_is_local(peer) && os_tcp_peer_process(peer->fd, ret_uid, ret_pid);
}

/* They hold places of everybody's: whoever has been silent for longest makes room. */
static void make_room(struct ws_server *server, const struct http_server *http)
{
    struct http_link *head = &server->waits[WS_WAIT_HELLO];
    size_t few = http->most / 4 < http->most_strangers ? http->most / 4 : http->most_strangers;
    size_t most = server->most_strangers ? server->most_strangers : few;

    if (server->strangers >= most && head->next != head)
        ws_peer_drop(
            (struct ws_peer *)(void *)((char *)head->next - offsetof(struct ws_peer, wait)));
}

void ws_peer_new(struct ws_server *server, const struct http_taken *taken)
{
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
