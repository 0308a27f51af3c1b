/*
 * http_connection.c - one peer: bytes to requests, one after the other, and when it is let go.
 *
 * Sockets are polled rather than handed to libuv's streams: a request that waits for a person must
 * not read on, and must still hear that the peer has gone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/pool.h"
#include "net/http_server.h"
#include "net/tls.h"

static struct http_incoming *keep_in(struct http_connection *connection)
{
    if (!connection->in)
        connection->in = mem_new(sizeof *connection->in);
    return connection->in;
}

static void drop_in(struct http_connection *connection)
{
    if (!connection->in)
        return;
    http_server_drop(connection->server, &connection->in->kept);
    free(connection->in);
    connection->in = NULL;
}

/* What is kept, to be used now; the caller drops it. */
static struct text take_kept(struct http_connection *connection)
{
    struct text kept = { 0 };

    if (!connection->in)
        return kept;
    kept = connection->in->kept;
    connection->in->kept = (struct text){ 0 };
    drop_in(connection);
    return kept;
}

static size_t kept_bytes(const struct http_connection *connection)
{
    return connection->in ? connection->in->kept.used : 0;
}

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

static void http_connection_drop_out(struct http_connection *connection)
{
    if (!connection->out)
        return;
    http_server_give_back(connection->server, connection->out->held);
    text_release(&connection->out->text);
    free(connection->out);
    connection->out = NULL;
}

void http_connection_free(struct http_connection *connection)
{
    http_connection_drop_out(connection);
    pool_free(connection, sizeof *connection);
}

/* It is no longer one of ours; the descriptor stays open. */
static void let_go(struct http_connection *connection)
{
    struct http_server *server = connection->server;

    connection->phase = PHASE_CLOSED;
    connection->exchange = NULL;
    server->strangers -= !connection->is_known;
    drop_in(connection);
    http_wait_end(&connection->wait);
    http_link_remove(&connection->dirty);
    http_link_remove(&connection->all);
    http_link_append(&server->gone, &connection->all);
    os_poller_watch(server->poller, connection->fd, connection->interest, 0, NULL);
}

void http_connection_close(struct http_connection *connection)
{
    struct http_exchange *exchange = connection->exchange;

    if (connection->phase == PHASE_CLOSED)
        return;
    let_go(connection);
    connection->server->count--;
    if (!connection->is_known)
        http_address_leave(&connection->address);
    stream_close(connection->fd, connection->tls);
    connection->tls = NULL;
    if (exchange)
        http_exchange_end(exchange, HTTP_LOST);
}

/* its reply is out */
static void http_connection_hand_over(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    struct text kept = take_kept(connection);

    http_connection_settle(connection, HTTP_TAKEN);
    if (connection->phase != PHASE_CLOSED) {
        const struct http_taken taken = { .server = server,
                                          .fd = connection->fd,
                                          .tls = connection->tls,
                                          .address =
                                              connection->is_known ? NULL : connection->address,
                                          .has_token = connection->is_known,
                                          .bytes = kept.bytes,
                                          .length = kept.used };

        let_go(connection);
        connection->tls = NULL;
        server->handler.taken(server->handler.taken_context, &taken);
    }
    http_server_drop(server, &kept);
}

void http_connection_settle(struct http_connection *connection, enum http_fate fate)
{
    struct http_exchange *exchange = connection->exchange;

    connection->exchange = NULL;
    http_exchange_end(exchange, fate);
}

/* Bytes of the next request that are here already. */
static bool has_backlog(const struct http_connection *connection)
{
    return connection->phase != PHASE_HEAD && kept_bytes(connection) > 0;
}

void http_connection_mark_dirty(struct http_connection *connection)
{
    if (connection->phase != PHASE_CLOSED && !connection->dirty.next)
        http_link_append(&connection->server->dirty, &connection->dirty);
}

/* The caller may be in the middle of a reply, so the loop reports the fate later. */
void http_connection_doom(struct http_connection *connection)
{
    if (connection->phase == PHASE_CLOSED)
        return;
    connection->is_doomed = true;
    http_connection_drop_out(connection);
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_DOOMED);
}

static unsigned wanted_events(const struct http_connection *connection)
{
    /* What waits for the flush needs no sign that there is room. */
    bool is_stuck = (http_connection_unsent(connection) > 0 && !connection->dirty.next) ||
                    stream_is_stuck(connection->tls);
    unsigned events = is_stuck ? OS_WRITABLE : 0;

    if (connection->has_ended || has_backlog(connection)) {
        /* With bytes of ours to look at first, all that matters of the peer is that it goes. */
        if (!connection->has_ended)
            events |= OS_HUNG_UP;
        return events;
    }
    return events | (connection->has_early_bytes ? OS_HUNG_UP : OS_READABLE);
}

static void http_connection_watch(struct http_connection *connection)
{
    unsigned events;

    if (connection->phase == PHASE_CLOSED)
        return;
    events = wanted_events(connection);
    if (os_poller_watch(connection->server->poller, connection->fd, connection->interest, events,
                        connection))
        connection->interest = (uint8_t)events;
    else
        http_connection_doom(connection); /* unwatched, it would never be heard of again */
}

static void wait_for_request(struct http_connection *connection)
{
    connection->phase = PHASE_IDLE;
    connection->has_early_bytes = false;
    http_wait_begin(connection->server, &connection->wait,
                    kept_bytes(connection) ? HTTP_WAIT_RESUME
                    : connection->is_known ? HTTP_WAIT_KNOWN_IDLE
                                           : HTTP_WAIT_IDLE);
    http_connection_watch(connection);
}

/* Closing while bytes of the peer are unread would reset the connection, and the reply with it. */
static void linger(struct http_connection *connection)
{
    if (connection->has_ended || connection->server->is_dismissed ||
        !stream_shut(connection->fd, connection->tls)) {
        http_connection_close(connection);
        return;
    }
    drop_in(connection);
    connection->has_early_bytes = false;
    connection->phase = PHASE_LINGERING;
    http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_LINGER);
    http_connection_watch(connection);
}

/* after an exchange, or the end */
static void http_connection_next(struct http_connection *connection)
{
    if (connection->closes_after || connection->has_ended || connection->server->is_draining)
        linger(connection);
    else
        wait_for_request(connection);
}

void http_connection_refuse(struct http_connection *connection, int status, const char *why)
{
    if (connection->exchange)
        http_connection_settle(connection, HTTP_LOST);
    if (connection->phase == PHASE_CLOSED)
        return;
    drop_in(connection);
    connection->closes_after = true;
    connection->phase = PHASE_WRITING;
    http_wait_end(&connection->wait);
    http_write_refusal(connection, status, why);
}

static void refuse_for_room(struct http_connection *connection)
{
    http_connection_refuse(connection, 503, "too much is waiting here; try again");
}

/* `head`: where nothing of it was kept. */
static void end_head(struct http_connection *connection, const char *head, size_t length)
{
    struct text kept = take_kept(connection); /* lives until the request is understood */

    http_wait_end(&connection->wait);
    http_exchange_begin(connection, kept.used ? kept.bytes : head, length);
    http_server_drop(connection->server, &kept);
}

/* False: there is no room for it. */
static bool keep_head(struct http_connection *connection, const char *bytes, size_t length)
{
    size_t max = (size_t)HTTP_HEAD_BYTES + 1 - kept_bytes(connection);

    return http_server_keep(connection, &keep_in(connection)->kept, bytes,
                            length < max ? length : max);
}

/* Returns how much was used. A head that comes in one piece is not copied first. */
static size_t take_head(struct http_connection *connection, const char *bytes, size_t length)
{
    size_t before = kept_bytes(connection);
    struct http_scan scan = { 0 };
    struct http_fault fault = { 0 };
    enum http_scanned scanned;

    if (before > 0) {
        scan = connection->in->scan;
        if (!keep_head(connection, bytes, length)) {
            refuse_for_room(connection);
            return length;
        }
        scanned =
            http_scan_head(&scan, connection->in->kept.bytes, connection->in->kept.used, &fault);
    } else {
        scanned = http_scan_head(&scan, bytes, length, &fault);
    }
    if (scanned == HTTP_SCAN_DONE) {
        end_head(connection, bytes, scan.at);
        return scan.at - before;
    }
    if (scanned == HTTP_SCAN_REFUSED)
        http_connection_refuse(connection, fault.status, fault.why);
    else if (before == 0 && !keep_head(connection, bytes, length))
        refuse_for_room(connection);
    else
        connection->in->scan = scan;
    return length;
}

static void take_bytes(struct http_connection *connection, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t used = length;

        switch ((enum http_phase)connection->phase) {
        case PHASE_IDLE:
            connection->phase = PHASE_HEAD;
            http_wait_begin(connection->server, &connection->wait, HTTP_WAIT_HEAD);
            continue;
        case PHASE_HEAD:
            used = take_head(connection, bytes, length);
            break;
        case PHASE_BODY:
            used = http_exchange_feed(connection->exchange, bytes, length);
            break;
        case PHASE_HELD:
        case PHASE_WRITING:
        case PHASE_SETTLING:
            connection->has_early_bytes = true;
            if (!http_server_keep(connection, &keep_in(connection)->kept, bytes, length))
                connection->closes_after = true; /* said when it is too late to be in the head */
            return;
        case PHASE_LINGERING:
        case PHASE_CLOSED:
            return;
        }
        bytes += used;
        length -= used;
    }
}

void http_connection_resume(struct http_connection *connection)
{
    struct text rest = take_kept(connection);

    take_bytes(connection, text_string(&rest), rest.used);
    http_server_drop(connection->server, &rest);
    if (connection->phase == PHASE_CLOSED)
        return;
    if (connection->phase == PHASE_IDLE)
        wait_for_request(connection);
    http_connection_watch(connection);
}

static void read_bytes(struct http_connection *connection)
{
    char *bytes = connection->server->read_bytes;
    ssize_t got = stream_recv(connection->fd, connection->tls, bytes, HTTP_READ_BYTES);
    int why = errno;

    if (connection->wait.kind == HTTP_WAIT_HANDSHAKE && stream_is_open(connection->tls))
        wait_for_request(connection);
    if (got < 0 && (why == EAGAIN || why == EINTR))
        return;
    if (got <= 0) {
        http_connection_close(connection);
        return;
    }
    if (connection->phase == PHASE_LINGERING) {
        keep_in(connection)->lingered_bytes += (uint32_t)got;
        if (connection->in->lingered_bytes > HTTP_LINGER_BYTES)
            http_connection_close(connection);
        return;
    }
    take_bytes(connection, bytes, (size_t)got);
}

/* With TLS too: whatever it says, a peer that says something goes on, and an end is in order. */
static enum http_sight http_connection_peek(struct http_connection *connection)
{
    char byte;
    ssize_t got = recv(connection->fd, &byte, 1, MSG_PEEK);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? HTTP_SEES_NOTHING : HTTP_SEES_RESET;
    return got > 0 ? HTTP_SEES_BYTES : HTTP_SEES_END;
}

/* A reply is under way: is there more of the peer, or has it gone? Its bytes stay in the kernel. */
static void look(struct http_connection *connection, bool has_hung_up)
{
    enum http_sight sight = has_hung_up ? HTTP_SEES_END : http_connection_peek(connection);

    if (sight == HTTP_SEES_RESET || (sight == HTTP_SEES_END && connection->phase == PHASE_HELD)) {
        http_connection_close(connection);
        return;
    }
    if (sight == HTTP_SEES_END)
        connection->has_ended = true;
    else if (sight == HTTP_SEES_BYTES && connection->phase != PHASE_SETTLING)
        connection->has_early_bytes = true;
    if (connection->phase == PHASE_SETTLING)
        http_connection_check_fate(connection);
}

/* What was found may be stale: others had their turn since. */
void http_connection_ready(struct http_connection *connection, unsigned events)
{
    bool is_broken = events & OS_BROKEN;

    events &= connection->interest;
    if (connection->phase == PHASE_CLOSED || (!events && !is_broken))
        return;
    if (is_broken || connection->is_doomed) {
        http_connection_close(connection);
        return;
    }
    if (events & OS_WRITABLE)
        http_connection_write(connection);
    if (connection->phase != PHASE_CLOSED && (events & (OS_READABLE | OS_HUNG_UP))) {
        if (connection->phase >= PHASE_HELD && connection->phase <= PHASE_SETTLING)
            look(connection, !(events & OS_READABLE));
        else if (!has_backlog(connection))
            read_bytes(connection);
    }
    if (connection->dirty.next) {
        /* Now and not with all others: the memory of this reply is there for the next. */
        http_link_remove(&connection->dirty);
        http_connection_write(connection);
    }
    http_connection_watch(connection);
}

void http_connection_new(struct http_server *server, int fd, struct http_address *address)
{
    struct http_connection *connection = pool_new(sizeof *connection);

    connection->server = server;
    connection->fd = fd;
    connection->address = address;
    server->strangers++;
    server->count++;
    http_link_append(&server->connections, &connection->all);
    if (server->tls) {
        connection->tls = tls_new_server(server->tls);
        http_wait_begin(server, &connection->wait, HTTP_WAIT_HANDSHAKE);
        http_connection_watch(connection);
    } else {
        wait_for_request(connection);
    }
}

/* Bytes to a peer, and what became of them. That the kernel took a reply says nothing about the
 * peer: it is TAKEN when the peer acknowledged every byte and then went on, closed in order, or
 * stayed. */

enum { WRITE_KEPT_BYTES = 65536 };

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

/* The kernel doesn't report acknowledged bytes, so they are polled, but only once nothing else is
 * missing: with thousands of replies, each poll would cost more than the reply. */
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
