/* remote.c - see remote.h: from an address and a token to a connection that is a WebSocket. */
#include "net/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "base/text.h"
#include "i18n/i18n.h"
#include "net/http.h"
#include "net/origin.h"
#include "net/tls.h"

/* The thread of a tunnel: lines of our end become frames, frames become lines. Ends when either
 * end has gone; what was said by then goes out first. */

enum {
    PUMP_BEHIND_BYTES = 1048576, /* what one end has not taken; then the other is not read */
    PUMP_LINE_BYTES = 16777216,  /* nothing of ours is longer */
    PUMP_QUIET_MS = 30000,       /* then we ask whether it is still there */
    PUMP_SILENT_MS = 60000,      /* and then it is not */
    PUMP_LAST_WORDS_MS = 3000,
};

/* One side of it: ours, or the hub's. */
struct end {
    int fd;
    struct tls *tls; /* NULL: none */
    struct text out; /* for it */
    size_t sent;     /* of that */
    bool has_ended;
};
struct pump {
    struct end near, far;
    struct text line; /* the part of one that came from near */
    struct remote_reader reader;
    int64_t heard_ms, asked_ms;
};

/* How many there are, and the pipe that ends them all when the process goes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int pumps;
static int leave_fds[2] = { -1, -1 };

void remote_add_frame(struct text *out, enum ws_opcode opcode, const char *bytes, size_t length)
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

bool remote_read_frames(struct remote_reader *reader, const char *bytes, size_t length,
                        struct text *lines, struct text *out)
{
    enum ws_outcome outcome = WS_HAS_PIECE;

    reader->parser.is_of_server = true;
    reader->parser.max_bytes = UINT32_MAX;
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
            remote_add_frame(out, WS_PONG, piece.bytes, piece.length);
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

        remote_add_frame(&pump->far.out, WS_TEXT, line, (size_t)(end - line));
        done += (size_t)(end - line) + 1;
    }
    text_drop_front(&pump->line, done);
}

/* How much came; 0: nothing now. */
static size_t read_some(struct end *end, char *bytes, size_t size)
{
    ssize_t got = stream_recv(end->fd, end->tls, bytes, size);

    end->has_ended |= got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    return got > 0 ? (size_t)got : 0;
}

static void read_near(struct pump *pump, char *bytes, size_t size)
{
    size_t got = read_some(&pump->near, bytes, size);

    if (got > 0) {
        text_add(&pump->line, bytes, got);
        take_lines(pump);
    }
    pump->near.has_ended |= pump->line.used > PUMP_LINE_BYTES;
}

static void take_far(struct pump *pump, const char *bytes, size_t length)
{
    pump->heard_ms = loop_boot_ms();
    pump->far.has_ended |=
        !remote_read_frames(&pump->reader, bytes, length, &pump->near.out, &pump->far.out) ||
        pump->reader.is_closed;
}

static void write_some(struct end *end)
{
    ssize_t put;

    if (!stream_flush(end->fd, end->tls))
        end->has_ended = true;
    if (end->out.used == end->sent || end->has_ended)
        return;
    put = stream_send(end->fd, end->tls, end->out.bytes + end->sent, end->out.used - end->sent);
    if (put > 0)
        end->sent += (size_t)put;
    else if (put < 0 && errno != EAGAIN && errno != EINTR)
        end->has_ended = true;
    if (end->sent == end->out.used) {
        text_release(&end->out);
        end->sent = 0;
    }
}

static bool can_write(const struct end *end)
{
    return !end->has_ended && (end->out.used > end->sent || stream_is_stuck(end->tls));
}

/* A network that takes everything and brings nothing looks like silence. */
static void look_at_clock(struct pump *pump)
{
    int64_t now_ms = loop_boot_ms();

    if (now_ms - pump->heard_ms >= PUMP_SILENT_MS)
        pump->far.has_ended = true;
    if (now_ms - pump->heard_ms < PUMP_QUIET_MS || now_ms - pump->asked_ms < PUMP_QUIET_MS)
        return;
    pump->asked_ms = now_ms;
    remote_add_frame(&pump->far.out, WS_PING, "", 0);
}

/* Who reads from one writes to the other. */
static struct pollfd watch(const struct end *end, const struct end *other)
{
    bool is_behind = other && other->out.used - other->sent > PUMP_BEHIND_BYTES;

    return (struct pollfd){
        .fd = end->has_ended ? -1 : end->fd,
        .events = (short)((other && !is_behind ? POLLIN : 0) | (can_write(end) ? POLLOUT : 0)),
    };
}

/* One turn; false: the process is about to end. */
static bool turn(struct pump *pump, char *bytes, size_t size)
{
    struct pollfd ready[] = {
        watch(&pump->near, &pump->far),
        watch(&pump->far, &pump->near),
        { .fd = leave_fds[0], .events = POLLIN },
    };
    size_t far_length = 0;

    if (poll(ready, ARRAY_LEN(ready), PUMP_QUIET_MS) < 0 && errno != EINTR)
        return false;
    if (ready[2].revents)
        return false;
    if (ready[0].revents & POLLOUT)
        write_some(&pump->near);
    if (ready[1].revents & POLLOUT)
        write_some(&pump->far);
    if (ready[0].revents & (POLLIN | POLLHUP | POLLERR))
        read_near(pump, bytes, size);
    if (ready[1].revents & (POLLIN | POLLHUP | POLLERR))
        far_length = read_some(&pump->far, bytes, size);
    if (far_length > 0)
        take_far(pump, bytes, far_length);
    look_at_clock(pump);
    return true;
}

/* What was said before one end went, as far as the other takes it in time. */
static void say_last_words(struct pump *pump, char *bytes, size_t size)
{
    int64_t until_ms = loop_boot_ms() + PUMP_LAST_WORDS_MS;

    fcntl(pump->near.fd, F_SETFL, O_NONBLOCK);
    while (!pump->near.has_ended && !pump->far.has_ended) { /* the process ends: what is there */
        size_t before = pump->line.used + pump->far.out.used;

        read_near(pump, bytes, size);
        if (pump->line.used + pump->far.out.used == before)
            break;
    }
    if (!pump->far.has_ended)
        remote_add_frame(&pump->far.out, WS_CLOSE, "\x03\xe8", 2);
    while (loop_boot_ms() < until_ms && (can_write(&pump->far) || can_write(&pump->near))) {
        struct pollfd ready[] = { watch(&pump->near, NULL), watch(&pump->far, NULL) };

        poll(ready, ARRAY_LEN(ready), PUMP_LAST_WORDS_MS);
        if (can_write(&pump->near))
            write_some(&pump->near);
        if (can_write(&pump->far))
            write_some(&pump->far);
    }
}

/* Carries bytes between our end and the hub's until one has gone, and closes both. `unread` is what
 * came behind the handshake. */
static void carry(int near_fd, int far_fd, struct tls *take_tls, const char *unread, size_t length)
{
    struct pump pump = { .near = { .fd = near_fd },
                         .far = { .fd = far_fd, .tls = take_tls },
                         .heard_ms = loop_boot_ms() };
    char *bytes = mem_new(STREAM_READ_BYTES);

    fcntl(near_fd, F_SETFL, O_NONBLOCK);
    take_far(&pump, unread, length);
    while (!pump.near.has_ended && !pump.far.has_ended && turn(&pump, bytes, STREAM_READ_BYTES))
        continue;
    say_last_words(&pump, bytes, STREAM_READ_BYTES);
    stream_close(far_fd, take_tls);
    close(near_fd);
    text_release(&pump.line);
    ws_parser_release(&pump.reader.parser);
    text_release(&pump.near.out);
    text_release(&pump.far.out);
    free(bytes);
}

/* While it counts, the end of the process waits for it, and tells it by a pipe that can be read. */
static void count_pumps(int more)
{
    pthread_mutex_lock(&lock);
    pumps += more;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
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

/* A thread without signals. False: none. */
static bool remote_start_thread(void *(*run)(void *context), void *context)
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

enum {
    REMOTE_LIMIT_MS = 10000,
    REMOTE_HEAD_BYTES = 16384,
    REMOTE_TOKEN_FILE_BYTES = 4096,
    REMOTE_NAME_BYTES = 256,
};

enum outcome {
    OUTCOME_OPEN,
    OUTCOME_AWAY,    /* not there just now */
    OUTCOME_REFUSED, /* it would be the same the next time */
};

/* One on its way. */
struct tunnel {
    const struct remote_target *target;
    struct http_virtual_host virtual_host; /* what its address says */
    char name[REMOTE_NAME_BYTES];
    int64_t until_ms;
    int fd, near_fd, ready_fd;
    struct tls *tls;
    struct text in; /* what came behind TLS and was not looked at */
};

static bool is_https(const struct http_virtual_host *virtual_host)
{
    return strncasecmp(virtual_host->origin, "https://", strlen("https://")) == 0;
}

static bool is_this_machine(const char *name)
{
    return strcmp(name, "127.0.0.1") == 0 || strcmp(name, "::1") == 0 ||
           strcasecmp(name, "localhost") == 0;
}

static bool read_url(const struct remote_target *target, struct http_virtual_host *virtual_host,
                     char name[REMOTE_NAME_BYTES], struct error *err)
{
    size_t length;

    if (!origin_read_url(target->url, virtual_host))
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_HUB_ADDRESS, "url", target->url,
                         NULL);
    length = virtual_host->host[0] == '[' ? strcspn(virtual_host->host, "]") - 1
                                          : strcspn(virtual_host->host, ":");
    snprintf(name, REMOTE_NAME_BYTES, "%.*s", (int)length,
             virtual_host->host + (virtual_host->host[0] == '['));
    if (!is_https(virtual_host) && !is_this_machine(name))
        return error_say(err, ERROR_bad_format, "", TEXT_REASON_HUB_PLAIN, "url", target->url,
                         NULL);
    return true;
}

static void wipe(struct text *text)
{
    if (text->bytes)
        explicit_bzero(text->bytes, text->used);
    text_release(text);
}

/* Into `out`; the caller wipes it. */
static bool read_token(const struct remote_target *target, struct text *out, struct error *err)
{
    struct text header = { 0 };
    bool ok;

    if (!os_private_file(target->token_file, err) ||
        !os_read_file(target->token_file, REMOTE_TOKEN_FILE_BYTES, out, err))
        return false;
    while (out->used > 0 && strchr(" \t\r\n", out->bytes[out->used - 1]))
        out->bytes[--out->used] = '\0';
    text_add_format(&header, "Bearer %s", text_string(out));
    ok = strlen(text_string(out)) == out->used && origin_bearer(text_string(&header));
    wipe(&header);
    return ok || error_say(err, ERROR_bad_format, "", TEXT_REASON_NO_TOKEN, "path",
                           target->token_file, NULL);
}

bool remote_check(const struct remote_target *target, struct error *err)
{
    struct http_virtual_host virtual_host = { .host = "" };
    struct tls_context *context = NULL;
    char name[REMOTE_NAME_BYTES];
    struct text token = { 0 };
    bool ok = read_url(target, &virtual_host, name, err) && read_token(target, &token, err) &&
              (!is_https(&virtual_host) || tls_context_new_client(target->ca_file, &context, err));

    tls_context_free(context);
    wipe(&token);
    return ok;
}

/* False: it took too long, or the process ends. */
static bool wait_for(const struct tunnel *tunnel, short events)
{
    struct pollfd ready[] = { { .fd = tunnel->fd, .events = events },
                              { .fd = leave_fds[0], .events = POLLIN } };
    int64_t left_ms;
    int polled;

    do {
        left_ms = tunnel->until_ms - loop_boot_ms();
        polled = poll(ready, ARRAY_LEN(ready), left_ms > 0 ? (int)left_ms : 0);
    } while (polled < 0 && errno == EINTR);
    return polled > 0 && !ready[1].revents;
}

static bool connect_to(struct tunnel *tunnel, const struct addrinfo *found)
{
    int on = 1, why = 0;
    socklen_t size = sizeof why;

    tunnel->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (tunnel->fd < 0)
        return false;
    setsockopt(tunnel->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(tunnel->fd, found->ai_addr, found->ai_addrlen) == 0)
        return true;
    if (errno == EINPROGRESS) {
        errno = ETIMEDOUT;
        if (wait_for(tunnel, POLLOUT) &&
            getsockopt(tunnel->fd, SOL_SOCKET, SO_ERROR, &why, &size) == 0) {
            if (why == 0)
                return true;
            errno = why;
        }
    }
    why = errno;
    close(tunnel->fd);
    tunnel->fd = -1;
    errno = why;
    return false;
}

static bool reach(struct tunnel *tunnel, struct error *err)
{
    const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *all = NULL;
    int failed;

    failed = getaddrinfo(tunnel->name, TEXT_NUMBER(tunnel->virtual_host.public_port), &wanted,
                         &all); /* nothing can cut this short */
    count_pumps(1);
    if (failed)
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_UNKNOWN, "url",
                         tunnel->target->url, "reason", gai_strerror(failed), NULL);
    for (const struct addrinfo *found = all; found && tunnel->fd < 0; found = found->ai_next)
        connect_to(tunnel, found);
    failed = errno;
    freeaddrinfo(all);
    return tunnel->fd >= 0 || error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_AWAY, "url",
                                        tunnel->target->url, "reason", strerror(failed), NULL);
}

/* More of the peer; false: it has gone, or it took too long. */
static bool read_more(struct tunnel *tunnel)
{
    char bytes[STREAM_READ_BYTES];
    ssize_t got;

    if (!wait_for(tunnel, stream_is_stuck(tunnel->tls) ? POLLIN | POLLOUT : POLLIN) ||
        !stream_flush(tunnel->fd, tunnel->tls))
        return false;
    got = stream_recv(tunnel->fd, tunnel->tls, bytes, sizeof bytes);
    if (got > 0)
        text_add(&tunnel->in, bytes, (size_t)got);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/* It has gone, as `text` says, or it took too long. */
static enum outcome give_up(const struct tunnel *tunnel, enum text_id text, struct error *err)
{
    bool is_late = loop_boot_ms() >= tunnel->until_ms;

    error_say(err, ERROR_unavailable, "", is_late ? TEXT_REASON_HUB_AWAY : text, "url",
              tunnel->target->url, "reason", strerror(ETIMEDOUT), NULL);
    return OUTCOME_AWAY;
}

static enum outcome secure(struct tunnel *tunnel, struct error *err)
{
    struct tls_context *context;
    struct error why = { 0 };

    if (!tls_context_new_client(tunnel->target->ca_file, &context, err))
        return OUTCOME_REFUSED;
    tunnel->tls = tls_new_client(context, tunnel->name);
    tls_context_free(context);
    tls_handshake(tunnel->tls);
    while (!stream_is_open(tunnel->tls)) {
        if (stream_flush(tunnel->fd, tunnel->tls) && read_more(tunnel))
            continue;
        if (tls_has_failed(tunnel->tls)) {
            tls_explain(tunnel->tls, &why);
            error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_NOT_SECURE, "url",
                      tunnel->target->url, "reason", why.message, NULL);
            return OUTCOME_REFUSED;
        }
        return give_up(tunnel, TEXT_REASON_HUB_NO_TLS, err);
    }
    return OUTCOME_OPEN;
}

static bool send_all(struct tunnel *tunnel, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = stream_send(tunnel->fd, tunnel->tls, bytes, length);

        if (put < 0 && errno == EAGAIN && wait_for(tunnel, POLLOUT))
            continue;
        if (put < 0 && errno != EINTR)
            return false;
        bytes += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Sixteen random bytes in base64, as RFC 6455 wants them: it only has to be new. */
static void make_key(char out[25])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t bytes[22];

    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < 21; i++)
        out[i] = letters[bytes[i] % 64];
    out[21] = "AQgw"[bytes[21] % 4]; /* of the last character only two bits count */
    snprintf(out + 22, 3, "==");
}

/* How long the head is, with the empty line; 0: it has not come whole. */
static size_t head_length(const struct text *in)
{
    const char *end = in->used ? memmem(in->bytes, in->used, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - in->bytes) + 4 : 0;
}

static bool has_line(const struct text *in, size_t length, const char *name, const char *value)
{
    const char *line = in->bytes, *end = in->bytes + length;

    while (line < end) {
        const char *next = memmem(line, (size_t)(end - line), "\r\n", 2);
        size_t begins = strlen(name);

        if (strncasecmp(line, name, begins) == 0 && line[begins] == ':') {
            line += begins + 1;
            line += strspn(line, " ");
            return (size_t)(next - line) == strlen(value) &&
                   strncmp(line, value, strlen(value)) == 0;
        }
        line = next + 2;
    }
    return false;
}

/* What a reply that is no upgrade means to the person who gave address and token. */
static enum outcome explain(const struct tunnel *tunnel, int status, struct error *err)
{
    const char *url = tunnel->target->url;

    if (status == 401) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_TOKEN, "url", url, "path",
                  tunnel->target->token_file, NULL);
    } else if (status == 403) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_NAME, "url", url, NULL);
    } else if (status == 429 || status == 500 || (status >= 502 && status <= 504)) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_NOT_READY, "url", url, "status",
                  TEXT_NUMBER(status), NULL);
        return OUTCOME_AWAY;
    } else {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_HUB_STRANGE, "url", url, "status",
                  TEXT_NUMBER(status), NULL);
    }
    return OUTCOME_REFUSED;
}

/* Of "HTTP/1.1 101 ..."; 0: it is no such line. */
static int status_of(const char *head)
{
    int status = 0;

    if (strncmp(head, "HTTP/1.", 7) != 0 || head[7] < '0' || head[7] > '9' || head[8] != ' ')
        return 0;
    for (const char *digit = head + 9; digit < head + 12; digit++) {
        if (*digit < '0' || *digit > '9')
            return 0;
        status = status * 10 + (*digit - '0');
    }
    return status;
}

static enum outcome judge(struct tunnel *tunnel, const char *key, struct error *err)
{
    size_t length = head_length(&tunnel->in);
    char accept[ACCEPT_KEY_BYTES];
    int status = length > 0 ? status_of(tunnel->in.bytes) : 0;

    accept_key(key, accept);
    if (status != 101 || !has_line(&tunnel->in, length, "sec-websocket-accept", accept))
        return explain(tunnel, status, err);
    text_drop_front(&tunnel->in, length);
    return OUTCOME_OPEN;
}

static enum outcome upgrade(struct tunnel *tunnel, struct error *err)
{
    struct text request = { 0 }, token = { 0 };
    char key[25];
    bool ok;

    if (!read_token(tunnel->target, &token, err)) {
        wipe(&token);
        return OUTCOME_REFUSED;
    }
    make_key(key);
    text_add_format(&request,
                    "GET /wire HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: %s\r\nUser-Agent: sayso/%s\r\n"
                    "Authorization: Bearer %s\r\n\r\n",
                    tunnel->virtual_host.host, key, SAYSO_VERSION, text_string(&token));
    ok = send_all(tunnel, request.bytes, request.used);
    wipe(&request);
    wipe(&token);
    while (ok && head_length(&tunnel->in) == 0 && tunnel->in.used < REMOTE_HEAD_BYTES)
        ok = read_more(tunnel);
    if (!ok)
        return give_up(tunnel, TEXT_REASON_HUB_ENDED, err);
    return judge(tunnel, key, err);
}

static enum outcome open_tunnel(struct tunnel *tunnel, struct error *err)
{
    enum outcome outcome = OUTCOME_OPEN;

    tunnel->until_ms = loop_boot_ms() + REMOTE_LIMIT_MS;
    if (!reach(tunnel, err))
        return OUTCOME_AWAY;
    if (is_https(&tunnel->virtual_host))
        outcome = secure(tunnel, err);
    if (outcome == OUTCOME_OPEN)
        outcome = upgrade(tunnel, err);
    return outcome;
}

/* The thread: says how it went, then carries. */
static void *run(void *context)
{
    struct tunnel *tunnel = context;
    struct error err = { 0 };
    enum outcome outcome = open_tunnel(tunnel, &err);
    struct text why = { 0 };

    if (outcome == OUTCOME_OPEN) {
        dprintf(tunnel->ready_fd, "%c", OS_DAEMON_SERVES);
        close(tunnel->ready_fd);
        carry(tunnel->near_fd, tunnel->fd, tunnel->tls, tunnel->in.bytes, tunnel->in.used);
    } else {
        text_add_char(&why, outcome == OUTCOME_AWAY ? REMOTE_AWAY : OS_DAEMON_SAYS_WHY);
        error_pack(&err, &why);
        if (write(tunnel->ready_fd, why.bytes, why.used) < 0)
            errno = 0; /* the reader has gone */
        text_release(&why);
        close(tunnel->ready_fd);
        close(tunnel->near_fd);
        stream_close(tunnel->fd, tunnel->tls);
    }
    if (is_https(&tunnel->virtual_host))
        tls_leave_thread();
    text_release(&tunnel->in);
    free(tunnel);
    count_pumps(-1);
    return NULL;
}

static void close_both(const int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

int remote_begin(const struct remote_target *target, int *ret_fd, struct error *err)
{
    struct tunnel *tunnel = mem_new(sizeof *tunnel);
    int ready[2], ends[2];

    *tunnel = (struct tunnel){ .target = target, .virtual_host = { .host = "" }, .fd = -1 };
    if (!read_url(target, &tunnel->virtual_host, tunnel->name, err)) {
        free(tunnel);
        return -1;
    }
    if (pipe2(ready, O_CLOEXEC) == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
            tunnel->ready_fd = ready[1];
            tunnel->near_fd = ends[1];
            *ret_fd = ends[0];
            if (remote_start_thread(run, tunnel))
                return ready[0];
            close_both(ends);
        }
        close_both(ready);
    }
    error_set(err, ERROR_unavailable, "", "can't start a thread for the connection: %s",
              strerror(errno));
    *ret_fd = -1;
    free(tunnel);
    return -1;
}
