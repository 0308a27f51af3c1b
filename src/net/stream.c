/* stream.c - see stream.h. */
#include "net/stream.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tls.h"

enum {
    STREAM_CHUNK_BYTES = 16384, /* of the socket at once; with an unfinished record it fits */
    STREAM_RECORD_BYTES = 16384,
};

bool stream_is_open(const struct tls *tls)
{
    return !tls || tls_is_ready(tls);
}

bool stream_is_stuck(const struct tls *tls)
{
    return tls && tls_unsent(tls) > 0;
}

/* As much as the kernel takes; false: the connection is broken. */
static bool flush(int fd, struct tls *tls)
{
    while (tls_unsent(tls) > 0) {
        size_t length;
        const char *bytes = tls_out(tls, &length);
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        tls_sent(tls, (size_t)sent);
    }
    return true;
}

/* Every whole record that is there. */
static ssize_t take_records(struct tls *tls, char *bytes, size_t size)
{
    size_t used = 0, got;
    enum tls_outcome outcome = TLS_DONE;

    while (used < size && (outcome = tls_read(tls, bytes + used, size - used, &got)) == TLS_DONE)
        used += got;
    if (used > 0)
        return (ssize_t)used; /* an end or a failure is found again by the next read */
    if (outcome == TLS_ENDED)
        return 0;
    errno = outcome == TLS_WANTS_MORE ? EAGAIN : ECONNRESET;
    return -1;
}

static ssize_t recv_tls(int fd, struct tls *tls, char *bytes, size_t size)
{
    char chunk[STREAM_CHUNK_BYTES];
    ssize_t came = recv(fd, chunk, sizeof chunk, 0), got;
    int why;

    if (came <= 0)
        return came;
    tls_feed(tls, chunk, (size_t)came);
    got = take_records(tls, bytes, size);
    why = errno;
    if (!flush(fd, tls) && got < 0)
        return -1;
    errno = why;
    return got;
}

ssize_t stream_recv(int fd, struct tls *tls, char *bytes, size_t size)
{
    return tls ? recv_tls(fd, tls, bytes, size) : recv(fd, bytes, size, 0);
}

/* One record at a time: what waits in here is never more than one. */
static ssize_t send_tls(int fd, struct tls *tls, const char *bytes, size_t length)
{
    size_t owed = tls_owed(tls);

    if (owed == 0 && !stream_is_stuck(tls)) {
        owed = length < STREAM_RECORD_BYTES ? length : STREAM_RECORD_BYTES;
        if (!tls_write(tls, bytes, owed)) {
            errno = EPIPE;
            return -1;
        }
        tls_owe(tls, owed);
    }
    if (!flush(fd, tls))
        return -1;
    if (stream_is_stuck(tls)) {
        errno = EAGAIN;
        return -1;
    }
    if (owed == 0) /* it was TLS's own */
        return send_tls(fd, tls, bytes, length);
    tls_owe(tls, 0);
    return (ssize_t)owed;
}

ssize_t stream_send(int fd, struct tls *tls, const char *bytes, size_t length)
{
    return tls ? send_tls(fd, tls, bytes, length) : send(fd, bytes, length, MSG_NOSIGNAL);
}

bool stream_flush(int fd, struct tls *tls)
{
    return !tls || flush(fd, tls);
}

bool stream_shut(int fd, struct tls *tls)
{
    if (tls) {
        tls_end(tls);
        if (!flush(fd, tls))
            return false;
    }
    return shutdown(fd, SHUT_WR) == 0;
}

void stream_close(int fd, struct tls *take_tls)
{
    if (take_tls) {
        tls_end(take_tls);
        flush(fd, take_tls); /* as far as it goes */
        tls_free(take_tls);
    }
    close(fd);
}
