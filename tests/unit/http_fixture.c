/* http_fixture.c - see http_fixture.h. */
#include "http_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/loop.h"

static void on_fate(void *context, struct http_exchange *exchange, enum http_fate fate)
{
    struct stage *stage = context;

    if (fate == HTTP_TAKEN)
        stage->taken++;
    else
        stage->lost++;
    if (stage->held == exchange)
        stage->held = NULL;
}

static int64_t admit(void *context, struct http_exchange *exchange)
{
    struct stage *stage = context;

    stage->admitted++;
    if (stage->recognises && http_header(exchange, "authorization"))
        http_recognise(exchange, 1);
    if (strcmp(http_path(exchange), "/refuse") == 0) {
        http_reply(exchange, 403, "text/plain", "no", 2);
        return -1;
    }
    return strcmp(http_path(exchange), "/tiny") == 0 ? 0 : 1048576;
}

static void serve(void *context, struct http_exchange *exchange)
{
    struct stage *stage = context;
    struct text reply = { 0 };
    size_t length;
    const char *body = http_body(exchange, &length);

    stage->served++;
    text_add_format(&reply, "%s %s|", http_method(exchange), http_path(exchange));
    text_add(&reply, body, length);
    text_add(&stage->log, reply.bytes, reply.used);
    text_add_char(&stage->log, '\n');
    if (strcmp(http_path(exchange), "/hold") == 0) {
        stage->held = exchange;
        http_on_fate(exchange, on_fate, stage);
    } else {
        if (stage->wants_fate)
            http_on_fate(exchange, on_fate, stage);
        http_reply(exchange, 200, "text/plain", reply.bytes, reply.used);
    }
    text_release(&reply);
}

static void flush(void *context)
{
    struct stage *stage = context;

    if (stage->server)
        http_server_flush(stage->server);
}

void stage_open(struct stage *stage, const struct http_options *options)
{
    struct http_options own = { 0 };
    struct error err = { 0 };

    *stage = (struct stage){ .loop = loop_new() };
    if (options)
        own = *options;
    if (!own.handler.serve)
        own.handler = (struct http_handler){ .context = stage, .admit = admit, .serve = serve };
    if (!http_server_open(stage->loop, &own, &stage->server, &err))
        fail_msg("%s", err.message);
    loop_before_sleep(stage->loop, flush, stage);
}

void stage_close(struct stage *stage)
{
    http_server_free(stage->server);
    stage->server = NULL;
    loop_free(stage->loop); /* aborts if something was forgotten */
    text_release(&stage->log);
}

void stage_turn(struct stage *stage)
{
    struct pollfd loop = { .fd = uv_backend_fd(loop_uv(stage->loop)), .events = POLLIN };

    uv_run(loop_uv(stage->loop), UV_RUN_NOWAIT);
    poll(&loop, 1, 1);
}

void stage_settle(struct stage *stage)
{
    for (int i = 0; i < 20; i++)
        stage_turn(stage);
}

static int connect_to(const struct sockaddr *address, socklen_t size)
{
    int peer = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    assert_true(peer >= 0);
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* a cut must be a packet */
    if (connect(peer, address, size) != 0)
        fail_msg("connect: %s", strerror(errno));
    return peer;
}

int peer_connect(struct stage *stage)
{
    struct sockaddr_in address = { .sin_family = AF_INET };

    address.sin_port = htons((uint16_t)http_server_port(stage->server));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to((struct sockaddr *)&address, sizeof address);
}

int peer_connect6(struct stage *stage)
{
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };

    address.sin6_port = htons((uint16_t)http_server_port(stage->server));
    return connect_to((struct sockaddr *)&address, sizeof address);
}

void peer_send(int peer, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(peer, bytes, length, MSG_NOSIGNAL);

        if (sent < 0)
            return; /* the server has closed; what it said first is what counts */
        bytes += sent;
        length -= (size_t)sent;
    }
}

void peer_say(int peer, const char *bytes)
{
    peer_send(peer, bytes, strlen(bytes));
}

/* 1: more came, 0: the end in order, -1: reset, -2: nothing. */
static int read_some(int peer, struct text *in)
{
    char bytes[65536];
    ssize_t got = recv(peer, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got > 0)
        text_add(in, bytes, (size_t)got);
    if (got > 0)
        return 1;
    if (got == 0)
        return 0;
    return errno == EAGAIN ? -2 : -1;
}

bool peer_await(struct stage *stage, int peer, struct text *in, const char *wanted)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
    size_t from = 0; /* what lies before was searched */

    while (!strstr(text_string(in) + from, wanted)) {
        int got;

        from = in->used > strlen(wanted) ? in->used - strlen(wanted) : 0;
        stage_turn(stage);
        got = read_some(peer, in);
        if (got == 0 || got == -1)
            return strstr(text_string(in), wanted) != NULL;
        if (loop_boot_ms() > until_ms)
            fail_msg("nothing like '%s' came; what came: %s", wanted, text_string(in));
    }
    return true;
}

bool peer_await_end(struct stage *stage, int peer, struct text *in)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;

    for (;;) {
        int got;

        stage_turn(stage);
        got = read_some(peer, in);
        if (got == 0 || got == -1)
            return got == 0;
        if (loop_boot_ms() > until_ms)
            fail_msg("the connection stays open; what came: %s", text_string(in));
    }
}

int peer_status(const struct text *in)
{
    const char *text = text_string(in);

    return strncmp(text, "HTTP/1.1 ", 9) == 0 ? (int)strtol(text + 9, NULL, 10) : 0;
}

size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}
