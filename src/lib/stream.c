/* stream.c - lines to and from the hub, without waiting for either. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/jsonrpc.h"
#include "lib/inside.h"

enum {
    READ_BYTES = 8192,
    READS = 64, /* at once; then the host program has its turn */
    /* four times what the wire allows: a result holds what was asked and what was answered */
    MOST_LINE_BYTES = 4 * LIMIT_WIRE_LINE_BYTES,
};

bool stream_call(struct sayso *sayso, const char *method, const struct text *params,
                 int64_t *ret_id)
{
    size_t before = sayso->out.used;

    if (params->has_overflowed)
        return false;
    jsonrpc_add_request(&sayso->out, ++sayso->last_id, method, text_string(params));
    if (sayso->out.has_overflowed) { /* half a line would spoil the next */
        sayso->out.used = before;
        sayso->out.has_overflowed = false;
        return false;
    }
    *ret_id = sayso->last_id;
    return true;
}

bool stream_flush(struct sayso *sayso)
{
    size_t sent = 0;
    bool is_there = true;

    while (sent < sayso->out.used && is_there) {
        ssize_t put = send(sayso->fd, sayso->out.bytes + sent, sayso->out.used - sent,
                           MSG_NOSIGNAL | MSG_DONTWAIT);

        if (put > 0)
            sent += (size_t)put;
        else if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        else
            is_there = put < 0 && errno == EINTR;
    }
    text_drop_front(&sayso->out, sent);
    return is_there;
}

enum stream_end stream_read(struct sayso *sayso)
{
    char bytes[READ_BYTES];

    for (int i = 0; i < READS; i++) {
        ssize_t got = recv(sayso->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return STREAM_IDLE;
        if (got <= 0)
            return STREAM_LOST;
        if (sayso->in.used + (size_t)got > MOST_LINE_BYTES)
            return STREAM_TOO_LONG;
        text_add(&sayso->in, bytes, (size_t)got);
        if (sayso->in.has_overflowed)
            return STREAM_NO_MEMORY;
    }
    return STREAM_IDLE;
}

const char *stream_line(struct sayso *sayso, size_t *at, size_t *ret_length)
{
    size_t from = *at > sayso->scanned ? *at : sayso->scanned;
    const char *line, *end;

    if (from >= sayso->in.used)
        return NULL;
    line = sayso->in.bytes + *at;
    end = memchr(sayso->in.bytes + from, '\n', sayso->in.used - from);
    if (!end) {
        sayso->scanned = sayso->in.used;
        return NULL;
    }
    *ret_length = (size_t)(end - line);
    *at += *ret_length + 1;
    return line;
}

void stream_drop_lines(struct sayso *sayso, size_t bytes)
{
    text_drop_front(&sayso->in, bytes);
    sayso->scanned = sayso->scanned > bytes ? sayso->scanned - bytes : 0;
}
