/* web.c - see web.h. */
#include "web.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { TURN_EVENTS = 256, READ_BYTES = 1 << 18, KEPT_BYTES = 4096 };

enum phase { IDLE, HEAD, BODY };

struct connection {
    int fd;
    enum phase phase;
    bool is_chunked, closes, is_marked;
    long left; /* of a body with a length; -1: until the end */
    struct web_reply reply;
    struct bytes in, body, out;
    struct connection *next_idle, *next_marked;
};

static int poller = -1, server_port;
static struct web_calls calls;
static struct connection *idle, *marked;
static long connection_count;

static int try_to_connect(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)server_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        load_fail("no socket; look at ulimit -n");
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static struct connection *connection_new(int fd)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct epoll_event wanted = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection };

    if (!connection || epoll_ctl(poller, EPOLL_CTL_ADD, fd, &wanted) != 0)
        load_fail("no connection");
    connection->fd = fd;
    connection_count++;
    return connection;
}

/* Only ever between two turns or at the end of its bytes: no one else points to it. */
static void connection_free(struct connection *connection)
{
    close(connection->fd);
    free(connection->in.at);
    free(connection->body.at);
    free(connection->out.at);
    free(connection);
    connection_count--;
}

static void put_idle(struct connection *connection)
{
    connection->next_idle = idle;
    idle = connection;
}

void web_open(int port, const struct web_calls *given, double patience_s)
{
    double until = load_now() + patience_s;
    int fd;

    server_port = port;
    calls = *given;
    poller = epoll_create1(EPOLL_CLOEXEC);
    while ((fd = try_to_connect()) < 0 && load_now() < until)
        usleep(500);
    if (fd < 0)
        load_fail("nobody listens");
    put_idle(connection_new(fd));
}

static struct connection *take_idle(void)
{
    struct connection *connection = idle;
    int fd;

    if (connection) {
        idle = connection->next_idle;
        return connection;
    }
    fd = try_to_connect();
    if (fd < 0)
        load_fail("the server takes no connection");
    return connection_new(fd);
}

void web_send(const char *method, const char *path, const struct bytes *headers,
              const struct bytes *body, long tag)
{
    struct connection *connection = take_idle();

    bytes_add_format(&connection->out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n", method, path,
                     server_port);
    bytes_add(&connection->out, headers->at, headers->used);
    if (body)
        bytes_add_format(&connection->out, "Content-Length: %zu\r\n", body->used);
    bytes_add_text(&connection->out, "\r\n");
    if (body)
        bytes_add(&connection->out, body->at, body->used);
    connection->phase = HEAD;
    connection->reply = (struct web_reply){ .tag = tag };
    if (connection->is_marked)
        return;
    connection->is_marked = true;
    connection->next_marked = marked;
    marked = connection;
}

static void flush(struct connection *connection)
{
    struct bytes *out = &connection->out;

    while (out->taken < out->used) {
        ssize_t put = write(connection->fd, out->at + out->taken, out->used - out->taken);

        if (put < 0 && errno == EAGAIN)
            return;
        if (put <= 0)
            load_fail("the server closed a connection it was written to");
        out->taken += (size_t)put;
    }
}

static void flush_marked(void)
{
    while (marked) {
        struct connection *connection = marked;

        marked = connection->next_marked;
        connection->is_marked = false;
        flush(connection);
    }
}

/* The value behind a name in a head that ends with NUL; NULL: no such header. */
static const char *find_header(const char *head, const char *name)
{
    const char *line = head;

    while ((line = strstr(line, "\r\n"))) {
        line += 2;
        if (strncasecmp(line, name, strlen(name)) == 0)
            return line + strlen(name) + strspn(line + strlen(name), " ");
    }
    return NULL;
}

static bool take_head(struct connection *connection)
{
    struct bytes *in = &connection->in;
    char *head = in->at + in->taken;
    char *end = memmem(head, in->used - in->taken, "\r\n\r\n", 4);
    const char *value;

    if (!end)
        return false;
    *end = '\0';
    in->taken += (size_t)(end - head) + 4;
    connection->reply.status = (int)strtol(head + strcspn(head, " "), NULL, 10);
    value = find_header(head, "content-length:");
    connection->left = value ? strtol(value, NULL, 10) : -1;
    connection->is_chunked = find_header(head, "transfer-encoding:");
    value = find_header(head, "content-type:");
    connection->reply.is_stream = value && strncmp(value, "text/event-stream", 17) == 0;
    value = find_header(head, "connection:");
    connection->closes = value && strncasecmp(value, "close", 5) == 0;
    if (connection->left < 0 && !connection->is_chunked &&
        (connection->reply.status == 202 || connection->reply.status == 204))
        connection->left = 0;
    connection->phase = BODY;
    calls.head(&connection->reply, head);
    return true;
}

static void take_event(const struct connection *connection, const char *event, const char *end)
{
    while (event < end) {
        const char *line_end = memchr(event, '\n', (size_t)(end - event));

        if (!line_end)
            line_end = end;
        if (line_end - event > 6 && memcmp(event, "data: ", 6) == 0)
            calls.message(&connection->reply, event + 6, (size_t)(line_end - event) - 6);
        event = line_end + 1;
    }
}

static void take_events(struct connection *connection)
{
    struct bytes *body = &connection->body;
    char *event, *end;

    while (event = body->at + body->taken,
           (end = memmem(event, body->used - body->taken, "\n\n", 2))) {
        take_event(connection, event, end + 1);
        body->taken = (size_t)(end - body->at) + 2;
    }
}

static void add_to_body(struct connection *connection, const char *bytes, size_t length)
{
    bytes_add(&connection->body, bytes, length);
    if (connection->reply.is_stream && length > 0)
        take_events(connection);
}

static void end_reply(struct connection *connection)
{
    struct bytes *body = &connection->body;

    if (!connection->reply.is_stream && body->used > 0)
        calls.message(&connection->reply, body->at, body->used);
    body->used = body->taken = 0;
    connection->phase = IDLE;
    if (!connection->closes)
        put_idle(connection);
}

/* False: more bytes are needed. */
static bool take_chunk(struct connection *connection)
{
    struct bytes *in = &connection->in;
    char *chunk = in->at + in->taken;
    size_t there = in->used - in->taken, size;
    char *line_end = memmem(chunk, there, "\r\n", 2);

    if (!line_end)
        return false;
    size = strtoul(chunk, NULL, 16);
    if (there < (size_t)(line_end - chunk) + 2 + size + 2)
        return false;
    in->taken += (size_t)(line_end - chunk) + 2 + size + 2;
    add_to_body(connection, line_end + 2, size);
    if (size == 0)
        end_reply(connection);
    return true;
}

static bool take_plain(struct connection *connection)
{
    struct bytes *in = &connection->in;
    size_t there = in->used - in->taken;

    if (connection->left >= 0 && (size_t)connection->left < there)
        there = (size_t)connection->left;
    if (there == 0 && connection->left != 0)
        return false;
    in->taken += there;
    add_to_body(connection, in->at + in->taken - there, there);
    if (connection->left > 0)
        connection->left -= (long)there;
    if (connection->left == 0)
        end_reply(connection);
    return true;
}

static void take_replies(struct connection *connection)
{
    bool goes_on = true;

    while (goes_on) {
        if (connection->phase == HEAD)
            goes_on = take_head(connection);
        else if (connection->phase == BODY)
            goes_on = connection->is_chunked ? take_chunk(connection) : take_plain(connection);
        else
            goes_on = false;
    }
    if (connection->in.taken == connection->in.used && connection->in.capacity > KEPT_BYTES) {
        free(connection->in.at); /* there may be ten thousand */
        connection->in = (struct bytes){ 0 };
    }
}

static void forget_idle(const struct connection *gone)
{
    struct connection **at = &idle;

    while (*at && *at != gone)
        at = &(*at)->next_idle;
    if (*at)
        *at = gone->next_idle;
}

static void end_connection(struct connection *connection)
{
    if (connection->phase == BODY && connection->left < 0 && !connection->is_chunked) {
        connection->closes = true;
        end_reply(connection);
    } else if (connection->phase != IDLE) {
        load_fail("the server closed a connection before the end of its reply");
    }
    forget_idle(connection);
    connection_free(connection);
}

static void take_bytes(struct connection *connection)
{
    static char bytes[READ_BYTES];
    ssize_t got;

    do {
        got = read(connection->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            end_connection(connection);
            return;
        }
        bytes_add(&connection->in, bytes, (size_t)got);
        take_replies(connection);
    } while (got == (ssize_t)sizeof bytes);
}

void web_turn(double until)
{
    struct epoll_event ready[TURN_EVENTS];
    double left_ms;
    int count;

    flush_marked();
    left_ms = (until - load_now()) * 1000;
    count = epoll_wait(poller, ready, TURN_EVENTS, left_ms <= 0 ? 0 : (int)left_ms + 1);
    for (int i = 0; i < count; i++) {
        struct connection *connection = ready[i].data.ptr;

        if (ready[i].events & EPOLLOUT)
            flush(connection);
        if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            take_bytes(connection);
    }
    flush_marked();
}

long web_connection_count(void)
{
    return connection_count;
}
