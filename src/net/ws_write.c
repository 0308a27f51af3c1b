/* ws_write.c - frames out: encoded once, shared by all who get them, one write a peer and turn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "net/ws_inside.h"

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

void ws_peer_send_control(struct ws_peer *peer, enum ws_opcode opcode, const char *bytes,
                          size_t length)
{
    ws_peer_queue(peer, frame_new(opcode, bytes, length));
}

size_t ws_peer_behind(const struct ws_peer *peer)
{
    return peer->behind;
}

void ws_peer_drop_queue(struct ws_peer *peer)
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

void ws_peer_write(struct ws_peer *peer)
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

/* In slices: whoever else has something to say comes in between. */
void ws_server_flush(struct ws_server *server)
{
    struct http_link *head = &server->dirty;

    for (int i = 0; i < FLUSH_PEERS && head->next != head; i++) {
        struct ws_peer *peer =
            (struct ws_peer *)(void *)((char *)head->next - offsetof(struct ws_peer, dirty));

        http_link_remove(&peer->dirty);
        ws_peer_write(peer);
    }
    if (head->next != head)
        loop_wake_send(server->wake);
}
