/*
 * http_write.c - bytes to a peer, and what became of them. That the kernel took a reply says
 * nothing about the peer: it is TAKEN when the peer acknowledged every byte and then went on,
 * closed in order, or stayed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/os.h"
#include "loop/loop.h"
#include "net/http_inside.h"

enum { WRITE_KEPT_BYTES = 65536 };

struct text *http_connection_out(struct http_connection *connection)
{
    if (!connection->out)
        connection->out = mem_new(sizeof *connection->out);
    return &connection->out->text;
}

size_t http_connection_unsent(const struct http_connection *connection)
{
    return connection->out ? connection->out->text.used - connection->out->sent : 0;
}

void http_connection_drop_out(struct http_connection *connection)
{
    if (!connection->out)
        return;
    http_server_give_back(connection->server, connection->out->held);
    text_release(&connection->out->text);
    free(connection->out);
    connection->out = NULL;
}

void http_connection_mark_dirty(struct http_connection *connection)
{
    if (connection->phase != PHASE_CLOSED && !connection->dirty.next)
        http_link_append(&connection->server->dirty, &connection->dirty);
}

/* Whoever found out may be in the middle of a reply; the fate comes from the loop. */
void http_connection_doom(struct http_connection *connection)
{
    if (connection->phase == PHASE_CLOSED)
        return;
    connection->is_doomed = true;
    http_connection_drop_out(connection);
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_DOOMED);
}

/* With TLS too: whatever it says, a peer that says something goes on, and an end is in order. */
enum http_sight http_connection_peek(struct http_connection *connection)
{
    char byte;
    ssize_t got = recv(connection->fd, &byte, 1, MSG_PEEK);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? HTTP_SEES_NOTHING : HTTP_SEES_RESET;
    return got > 0 ? HTTP_SEES_BYTES : HTTP_SEES_END;
}

/* What the peer sent before it can have seen the reply is no sign that it has seen it. Looked for
 * before the last bytes go out: a quick peer's next request may be there right behind them. */
static void note_early_bytes(struct http_connection *connection)
{
    enum http_sight sight;

    if (connection->phase != PHASE_WRITING || !connection->exchange ||
        !connection->exchange->on_fate || connection->has_early_bytes || connection->has_ended)
        return;
    sight = http_connection_peek(connection);
    connection->has_early_bytes = sight == HTTP_SEES_BYTES;
    connection->has_ended = sight == HTTP_SEES_END;
    if (sight == HTTP_SEES_RESET)
        http_connection_doom(connection);
}

/* That bytes were acknowledged nobody tells us. It is looked at every moment only once that is all
 * that is missing: with thousands of replies at once each look would cost more than the reply. */
static void wait_for_sign(struct http_connection *connection, bool is_there)
{
    http_wait_begin(connection->server, &connection->wait,
                    is_there ? HTTP_WAIT_SETTLE : HTTP_WAIT_STAY);
}

/* The last byte of a reply is with the kernel. */
static void end_reply(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;

    if (exchange && exchange->is_upgraded) {
        http_connection_hand_over(connection);
        return;
    }
    if (!exchange || !exchange->on_fate) {
        if (exchange)
            http_connection_settle(connection, HTTP_TAKEN);
        http_connection_next(connection);
        return;
    }
    connection->phase = PHASE_SETTLING;
    if (connection->closes_after && !stream_shut(connection->fd, connection->tls))
        http_connection_doom(connection); /* a peer that waits for the end must see it */
    exchange->written_ms = loop_boot_ms();
    if (!connection->is_doomed)
        wait_for_sign(connection, connection->has_ended);
}

/* The order matters: a reset empties the queue, so it is looked for behind it. */
static bool is_reset(struct http_connection *connection, bool *ret_all_taken, bool *ret_goes_on)
{
    enum http_sight sight;

    *ret_all_taken = os_unacknowledged_bytes(connection->fd) == 0;
    if (os_socket_error(connection->fd) != 0)
        return true;
    sight = http_connection_peek(connection);
    *ret_goes_on = sight == HTTP_SEES_BYTES && !connection->has_early_bytes;
    connection->has_ended |= sight == HTTP_SEES_END;
    return sight == HTTP_SEES_RESET;
}

void http_connection_check_fate(struct http_connection *connection)
{
    const struct http_times *times = &connection->server->times;
    int64_t waited_ms = loop_boot_ms() - connection->exchange->written_ms;
    bool all_taken = false, goes_on = false, is_signed;

    if (is_reset(connection, &all_taken, &goes_on) ||
        (!all_taken && waited_ms >= times->stall_ms)) {
        http_connection_close(connection);
        return;
    }
    is_signed = goes_on || connection->has_ended || waited_ms >= times->settle_ms;
    if (!all_taken || !is_signed) {
        wait_for_sign(connection, is_signed);
        http_connection_watch(connection);
        return;
    }
    http_connection_settle(connection, HTTP_TAKEN);
    if (connection->phase != PHASE_CLOSED)
        http_connection_next(connection);
}

static void drop_sent(struct http_connection *connection)
{
    struct http_outgoing *out = connection->out;

    if (http_connection_unsent(connection) == 0) {
        http_connection_drop_out(connection);
    } else if (out->sent >= WRITE_KEPT_BYTES) {
        text_drop_front(&out->text, out->sent);
        out->sent = 0;
    }
}

/* A peer is waited for until it takes more; a stream that it has all of goes on beating. */
static void wait_while_stuck(struct http_connection *connection, bool has_moved)
{
    const struct http_exchange *exchange = connection->exchange;
    bool is_stalled = connection->wait.kind == HTTP_WAIT_STALL;

    if (connection->out && (has_moved || !is_stalled)) {
        http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_STALL);
    } else if (!connection->out && is_stalled) {
        http_wait_end(&connection->wait);
        if (exchange && exchange->beats && !exchange->has_ended)
            http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_BEAT);
    }
}

static bool send_bytes(struct http_connection *connection)
{
    struct http_outgoing *out = connection->out;
    bool has_moved = false;

    if (!stream_flush(connection->fd, connection->tls))
        return false;
    while (http_connection_unsent(connection) > 0) {
        ssize_t sent = stream_send(connection->fd, connection->tls, out->text.bytes + out->sent,
                                   out->text.used - out->sent);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            return false;
        if (sent < 0)
            break;
        out->sent += (size_t)sent;
        has_moved = true;
    }
    /* A reply that is not read counts as a request does that is not finished, with all the memory
     * that it takes until its last byte is sent. */
    if (http_connection_unsent(connection) > 0 && out->text.used > out->held) {
        if (!http_server_hold(connection->server, out->text.used - out->held, connection->is_known))
            return false;
        out->held = out->text.used;
    }
    drop_sent(connection);
    wait_while_stuck(connection, has_moved);
    return true;
}

static void tell_room(const struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;

    if (!connection->out && exchange && exchange->wants_room && exchange->on_fate &&
        exchange->has_begun && !exchange->has_ended)
        exchange->on_fate(exchange->fate_context, exchange, HTTP_ROOM);
}

void http_connection_write(struct http_connection *connection)
{
    if (connection->phase == PHASE_CLOSED || connection->is_doomed)
        return;
    note_early_bytes(connection);
    if (connection->is_doomed)
        return;
    if (connection->exchange && connection->exchange->has_ended)
        http_forget_request(connection->exchange); /* replied to: only the reply is kept */
    if (!send_bytes(connection))
        http_connection_doom(connection);
    else if (!connection->out && connection->phase == PHASE_WRITING)
        end_reply(connection);
    else
        tell_room(connection);
    http_connection_watch(connection);
}
