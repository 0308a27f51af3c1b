/*
 * tunnel_pump.c - the thread of a tunnel: lines of our end become frames, frames become lines. Ends
 * when either end has gone; what was said by then goes out first.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"
#include "loop/loop.h"
#include "net/tls.h"
#include "net/tunnel_inside.h"

enum {
    PUMP_BEHIND_BYTES = 1048576, /* what one end has not taken; then the other is not read */
    PUMP_LINE_BYTES = 16777216,  /* nothing of ours is longer */
    PUMP_QUIET_MS = 30000,       /* then we ask whether it is still there */
    PUMP_SILENT_MS = 60000,      /* and then it is not */
    PUMP_LAST_WORDS_MS = 3000,
};

struct pump {
    int near, far; /* sockets: ours, the hub's */
    struct tls *tls;
    struct text line; /* the part of one that came from near */
    struct text to_near, to_far;
    size_t near_sent, far_sent; /* of those */
    struct tunnel_reader reader;
    int64_t heard_ms, asked_ms;
    bool near_ended, far_ended;
};

/* How many there are, and the pipe that ends them all when the process goes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t pumps;
static int leave_fds[2] = { -1, -1 };

void tunnel_add_frame(struct text *out, enum ws_opcode opcode, const char *bytes, size_t length)
{
    uint8_t head[10], mask[4];
    size_t head_length = ws_write_head(opcode, length, head), at;

    head[1] |= 0x80; /* it is masked */
    random_bytes(mask, sizeof mask);
    text_add(out, (const char *)head, head_length);
    text_add(out, (const char *)mask, sizeof mask);
    at = out->used;
    text_add(out, bytes, length);
    for (size_t i = 0; i < length; i++)
        out->bytes[at + i] = (char)((uint8_t)out->bytes[at + i] ^ mask[i % sizeof mask]);
}

/* A line end within a message would make two lines of it; in JSON it is a blank. */
static void add_line(struct text *lines, const char *bytes, size_t length)
{
    size_t at = lines->used;

    text_add(lines, bytes, length);
    for (char *end; at < lines->used && (end = memchr(lines->bytes + at, '\n', lines->used - at));
         at = (size_t)(end - lines->bytes))
        *end = ' ';
    text_add_char(lines, '\n');
}

bool tunnel_read_frames(struct tunnel_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out)
{
    enum ws_outcome outcome = WS_HAS_PIECE;

    reader->parser.is_of_server = true;
    reader->parser.most_bytes = UINT32_MAX;
    while (outcome == WS_HAS_PIECE && !reader->is_closed) {
        struct ws_piece piece;
        size_t used;

        /* not written to, as nothing is masked */
        outcome = ws_parse(&reader->parser, (char *)bytes, length, &used, &piece);
        bytes += used;
        length -= used;
        if (outcome == WS_HAS_PIECE && piece.opcode == WS_TEXT)
            add_line(lines, piece.bytes, piece.length);
        else if (outcome == WS_HAS_PIECE && piece.opcode == WS_PING)
            tunnel_add_frame(out, WS_PONG, piece.bytes, piece.length);
        else if (outcome == WS_HAS_PIECE && piece.opcode == WS_CLOSE)
            reader->is_closed = true;
    }
    return outcome != WS_FAILED;
}

static void take_lines(struct pump *pump)
{
    size_t done = 0;
    char *end;

    while (done < pump->line.used &&
           (end = memchr(pump->line.bytes + done, '\n', pump->line.used - done))) {
        const char *line = pump->line.bytes + done;

        tunnel_add_frame(&pump->to_far, WS_TEXT, line, (size_t)(end - line));
        done += (size_t)(end - line) + 1;
    }
    text_drop_front(&pump->line, done);
}

static void read_near(struct pump *pump, char *bytes, size_t size)
{
    ssize_t got = recv(pump->near, bytes, size, 0);

    if (got > 0) {
        text_add(&pump->line, bytes, (size_t)got);
        take_lines(pump);
    }
    pump->near_ended |= got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR) ||
                        pump->line.used > PUMP_LINE_BYTES;
}

static void take_far(struct pump *pump, const char *bytes, size_t length)
{
    pump->heard_ms = loop_boot_ms();
    pump->far_ended |=
        !tunnel_read_frames(&pump->reader, bytes, length, &pump->to_near, &pump->to_far) ||
        pump->reader.is_closed;
}

static void read_far(struct pump *pump, char *bytes, size_t size)
{
    ssize_t got = stream_recv(pump->far, pump->tls, bytes, size);

    if (got > 0)
        take_far(pump, bytes, (size_t)got);
    else
        pump->far_ended |= got == 0 || (errno != EAGAIN && errno != EINTR);
}

static void drop_sent(struct text *text, size_t *sent)
{
    if (*sent == text->used) {
        text_release(text);
        *sent = 0;
    }
}

static void write_near(struct pump *pump)
{
    ssize_t put = send(pump->near, pump->to_near.bytes + pump->near_sent,
                       pump->to_near.used - pump->near_sent, MSG_NOSIGNAL);

    if (put > 0)
        pump->near_sent += (size_t)put;
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
        pump->near_ended = true;
    drop_sent(&pump->to_near, &pump->near_sent);
}

static void write_far(struct pump *pump)
{
    ssize_t put;

    if (!stream_flush(pump->far, pump->tls))
        pump->far_ended = true;
    if (pump->to_far.used == pump->far_sent || pump->far_ended)
        return;
    put = stream_send(pump->far, pump->tls, pump->to_far.bytes + pump->far_sent,
                      pump->to_far.used - pump->far_sent);
    if (put > 0)
        pump->far_sent += (size_t)put;
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
        pump->far_ended = true;
    drop_sent(&pump->to_far, &pump->far_sent);
}

static bool has_for_near(const struct pump *pump)
{
    return pump->to_near.used > pump->near_sent;
}

static bool has_for_far(const struct pump *pump)
{
    return pump->to_far.used > pump->far_sent || stream_is_stuck(pump->tls);
}

/* A network that takes everything and brings nothing looks like silence. */
static void look_at_clock(struct pump *pump)
{
    int64_t now_ms = loop_boot_ms();

    if (now_ms - pump->heard_ms >= PUMP_SILENT_MS)
        pump->far_ended = true;
    if (now_ms - pump->heard_ms < PUMP_QUIET_MS || now_ms - pump->asked_ms < PUMP_QUIET_MS)
        return;
    pump->asked_ms = now_ms;
    tunnel_add_frame(&pump->to_far, WS_PING, "", 0);
}

/* One turn; false: the process is about to end. */
static bool turn(struct pump *pump, char *bytes, size_t size)
{
    bool near_waits = pump->to_far.used - pump->far_sent > PUMP_BEHIND_BYTES;
    bool far_waits = pump->to_near.used - pump->near_sent > PUMP_BEHIND_BYTES;
    struct pollfd ready[] = {
        { .fd = pump->near,
          .events = (short)((near_waits ? 0 : POLLIN) | (has_for_near(pump) ? POLLOUT : 0)) },
        { .fd = pump->far,
          .events = (short)((far_waits ? 0 : POLLIN) | (has_for_far(pump) ? POLLOUT : 0)) },
        { .fd = leave_fds[0], .events = POLLIN },
    };

    if (poll(ready, ARRAY_LEN(ready), PUMP_QUIET_MS) < 0 && errno != EINTR)
        return false;
    if (ready[2].revents)
        return false;
    if (ready[0].revents & POLLOUT)
        write_near(pump);
    if (ready[1].revents & POLLOUT)
        write_far(pump);
    if (ready[0].revents & (POLLIN | POLLHUP | POLLERR))
        read_near(pump, bytes, size);
    if (ready[1].revents & (POLLIN | POLLHUP | POLLERR))
        read_far(pump, bytes, size);
    look_at_clock(pump);
    return true;
}

/* What was said before one end went, as far as the other takes it in time. */
static void say_last_words(struct pump *pump, char *bytes, size_t size)
{
    int64_t until_ms = loop_boot_ms() + PUMP_LAST_WORDS_MS;

    fcntl(pump->near, F_SETFL, O_NONBLOCK);
    while (!pump->near_ended && !pump->far_ended) { /* the process ends: all that is there */
        size_t before = pump->line.used + pump->to_far.used;

        read_near(pump, bytes, size);
        if (pump->line.used + pump->to_far.used == before)
            break;
    }
    if (!pump->far_ended)
        tunnel_add_frame(&pump->to_far, WS_CLOSE, "\x03\xe8", 2);
    while (loop_boot_ms() < until_ms &&
           ((!pump->far_ended && has_for_far(pump)) || (!pump->near_ended && has_for_near(pump)))) {
        struct pollfd ready[] = {
            { .fd = pump->near_ended ? -1 : pump->near,
              .events = has_for_near(pump) ? POLLOUT : 0 },
            { .fd = pump->far_ended ? -1 : pump->far, .events = has_for_far(pump) ? POLLOUT : 0 },
        };

        poll(ready, ARRAY_LEN(ready), PUMP_LAST_WORDS_MS);
        if (!pump->near_ended && has_for_near(pump))
            write_near(pump);
        if (!pump->far_ended && has_for_far(pump))
            write_far(pump);
    }
}

void tunnel_pump(int near_fd, int far_fd, struct tls *take_tls, const char *unread, size_t length)
{
    struct pump pump = {
        .near = near_fd, .far = far_fd, .tls = take_tls, .heard_ms = loop_boot_ms()
    };
    char *bytes = mem_new(STREAM_READ_BYTES);

    fcntl(near_fd, F_SETFL, O_NONBLOCK);
    take_far(&pump, unread, length);
    while (!pump.near_ended && !pump.far_ended && turn(&pump, bytes, STREAM_READ_BYTES))
        continue;
    say_last_words(&pump, bytes, STREAM_READ_BYTES);
    stream_close(far_fd, take_tls);
    close(near_fd);
    text_release(&pump.line);
    ws_parser_release(&pump.reader.parser);
    text_release(&pump.to_near);
    text_release(&pump.to_far);
    free(bytes);
}

void tunnel_enter(void)
{
    pthread_mutex_lock(&lock);
    pumps++;
    pthread_mutex_unlock(&lock);
}

void tunnel_leave(void)
{
    pthread_mutex_lock(&lock);
    pumps--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

int tunnel_end_fd(void)
{
    return leave_fds[0];
}

static void end_all(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PUMP_LAST_WORDS_MS / 1000 + 1;
    close(leave_fds[1]); /* every pump sees it */
    pthread_mutex_lock(&lock);
    while (pumps > 0 && pthread_cond_timedwait(&changed, &lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&lock);
}

bool tunnel_start_thread(void *(*run)(void *context), void *context)
{
    sigset_t all, before;
    pthread_t thread;
    bool ok;

    pthread_mutex_lock(&lock);
    ok = leave_fds[0] >= 0 || (pipe2(leave_fds, O_CLOEXEC) == 0 && atexit(end_all) == 0);
    pthread_mutex_unlock(&lock);
    if (!ok)
        return false;
    sigfillset(&all); /* signals are for the threads that were here first */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ok = pthread_create(&thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        pthread_detach(thread);
    return ok;
}
