/*
 * test_http_fate.c - what became of a reply, how it is headed, and how a server ends and begins.
 * Proves: R7.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"

#define HOST "Host: 127.0.0.1\r\n"

enum { SETTLE_MS = 200 };

static int set_up(void **state)
{
    static struct stage stage;
    struct http_options options = { .times = { .settle_ms = SETTLE_MS } };

    stage_open(&stage, &options);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    stage_close(*state);
    return 0;
}

static int hold(struct stage *stage)
{
    int peer = peer_connect(stage);

    stage->held = NULL;
    peer_say(peer, "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc");
    while (!stage->held)
        stage_turn(stage);
    return peer;
}

static void await_fates(struct stage *stage, int taken, int lost)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;

    while (stage->taken + stage->lost < taken + lost && loop_boot_ms() < until_ms)
        stage_turn(stage);
    assert_int_equal(stage->taken, taken);
    assert_int_equal(stage->lost, lost);
}

static void test_fate_stays(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = hold(stage);

    http_reply(stage->held, 200, "text/plain", "x", 1);
    assert_true(peer_await(stage, peer, &in, "\r\n\r\nx"));
    assert_int_equal(stage->taken + stage->lost, 0);
    await_fates(stage, 1, 0); /* it stayed and acknowledged */
    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    text_release(&in);
    close(peer);
}

static void test_fate_closes(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = hold(stage);

    http_reply(stage->held, 200, "text/plain", "x", 1);
    assert_true(peer_await(stage, peer, &in, "\r\n\r\nx"));
    close(peer);
    await_fates(stage, 1, 0);
    text_release(&in);
}

/* The peer never read it: its kernel says so by a reset. */
static void test_fate_unread(void **state)
{
    struct stage *stage = *state;
    int peer = hold(stage);

    http_reply(stage->held, 200, "text/plain", "x", 1);
    http_server_flush(stage->server);
    close(peer);
    await_fates(stage, 0, 1);
}

/* It went before the reply was written; the kernel took the bytes all the same. */
static void test_fate_gone_before(void **state)
{
    struct stage *stage = *state;
    int peer = hold(stage);

    close(peer);
    http_reply(stage->held, 200, "text/plain", "x", 1);
    http_server_flush(stage->server);
    await_fates(stage, 0, 1);
}

/* Half closed in time: it gets its reply if that is ready. */
static void test_half_closed(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    stage->wants_fate = true;
    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    shutdown(peer, SHUT_WR);
    assert_true(peer_await_end(stage, peer, &in));
    assert_non_null(strstr(in.bytes, "GET /echo|"));
    await_fates(stage, 1, 0);
    text_release(&in);
    close(peer);
}

/* What was sent before the reply is no sign that the reply was read. */
static void test_fate_pipelined(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n");
    while (!stage->held)
        stage_turn(stage);
    http_reply(stage->held, 200, "text/plain", "x", 1);
    http_server_flush(stage->server);
    close(peer);
    await_fates(stage, 0, 1);
    assert_int_equal(stage->served, 1);
    stage->lost = 0;
    peer = peer_connect(stage);
    stage->held = NULL;
    peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n");
    while (!stage->held)
        stage_turn(stage);
    peer_say(peer, "GET /more HTTP/1.1\r\n" HOST "\r\n");
    http_reply(stage->held, 200, "text/plain", "x", 1);
    assert_true(peer_await(stage, peer, &in, "GET /more|"));
    assert_true(strstr(in.bytes, "GET /echo|") < strstr(in.bytes, "GET /more|"));
    await_fates(stage, 1, 0);
    text_release(&in);
    close(peer);
}

/* The same, with the next request still in the kernel: only time tells. */
static void test_fate_early(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = hold(stage);
    int64_t replied_ms;

    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    stage_settle(stage);
    replied_ms = loop_boot_ms();
    http_reply(stage->held, 200, "text/plain", "x", 1);
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    assert_true(loop_boot_ms() - replied_ms >= SETTLE_MS);
    await_fates(stage, 1, 0);
    text_release(&in);
    close(peer);
}

/* All of it is with our kernel, and the peer's has no room: that is not taken, however long. */
static void test_fate_unacknowledged(void **state)
{
    struct stage *stage = *state;
    static char body[200000];
    int peer = hold(stage), small = 1;

    setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_reply(stage->held, 200, "text/plain", body, sizeof body);
    for (int64_t until_ms = loop_boot_ms() + 3 * SETTLE_MS; loop_boot_ms() < until_ms;)
        stage_turn(stage);
    assert_int_equal(stage->taken + stage->lost, 0);
    close(peer);
    await_fates(stage, 0, 1);
}

/* Who waits for the end of the connection sees it before its fate is known. */
static void test_fate_close_after(void **state)
{
    struct stage stage;
    struct http_options options = { .times = { .settle_ms = 60000 } };
    struct text in = { 0 };
    int peer;

    (void)state;
    stage_open(&stage, &options);
    peer = hold(&stage);
    http_close_after(stage.held);
    http_reply(stage.held, 200, "text/plain", "x", 1);
    assert_true(peer_await_end(&stage, peer, &in));
    assert_int_equal(stage.taken, 0);
    close(peer);
    await_fates(&stage, 1, 0);
    text_release(&in);
    stage_close(&stage);
}

/* In a process of its own: it asks again the moment it has its reply. */
static pid_t start_quick_peer(struct stage *stage, int times)
{
    pid_t pid = fork();
    int peer;

    if (pid != 0)
        return pid;
    alarm(STAGE_PATIENCE_MS / 1000);
    peer = peer_connect(stage);
    for (int i = 0; i < times; i++) {
        char bytes[4096];

        peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
        if (recv(peer, bytes, sizeof bytes, 0) <= 0)
            _exit(1);
    }
    _exit(0);
}

/* Its next request may be there before we look; it still proves receipt, and nothing waits. */
static void test_fate_quick_peer(void **state)
{
    struct stage stage;
    struct http_options options = { .times = { .settle_ms = 60000 } };
    int status = -1;
    pid_t peer;

    (void)state;
    stage_open(&stage, &options);
    stage.wants_fate = true;
    peer = start_quick_peer(&stage, 500);
    while (waitpid(peer, &status, WNOHANG) == 0)
        stage_turn(&stage);
    assert_int_equal(status, 0);
    await_fates(&stage, 500, 0);
    stage_close(&stage);
}

/* A peer that does not read is cut off; the handler may go on sending until the loop says so. */
static void test_behind(void **state)
{
    struct stage *stage = *state;
    static char block[65536];
    int peer = hold(stage);

    memset(block, 'x', sizeof block);
    http_begin(stage->held, 200, "text/plain");
    for (int i = 0; i < 1000 && stage->held && stage->lost == 0; i++) {
        struct http_exchange *exchange = stage->held;

        http_send(exchange, block, sizeof block);
        http_send(exchange, block, sizeof block);
        stage_turn(stage);
    }
    assert_int_equal(stage->lost, 1);
    assert_int_equal(http_server_peer_count(stage->server), 0);
    close(peer);
}

/* A long reply waits for a slow reader, and arrives whole. */
static void test_long_reply(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    enum { LONG = 12000000 };
    char *body = mem_new(LONG);
    int peer = hold(stage);

    memset(body, 'y', LONG);
    body[LONG - 1] = '!';
    http_reply(stage->held, 200, "text/plain", body, LONG);
    stage_settle(stage);
    assert_int_equal(stage->taken + stage->lost, 0);
    assert_true(peer_await(stage, peer, &in, "yyy!"));
    assert_int_equal(strlen(strstr(in.bytes, "\r\n\r\n")), LONG + 4);
    await_fates(stage, 1, 0);
    text_release(&in);
    free(body);
    close(peer);
}

static void test_headers(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = hold(stage);

    http_set_header(stage->held, "X-Agent", "a\r\nSet-Cookie: b\r\n\r\n<script>");
    http_set_header(stage->held, "cache-control", "max-age=5");
    http_forget_request(stage->held);
    assert_string_equal(http_path(stage->held), "");
    assert_null(http_header(stage->held, "host"));
    http_reply(stage->held, 401, NULL, NULL, 0);
    http_reply(stage->held, 200, "text/plain", "second", 6);
    assert_true(peer_await(stage, peer, &in, "Content-Length: 0\r\n\r\n"));
    assert_int_equal(peer_status(&in), 401);
    assert_null(strstr(in.bytes, "\nSet-Cookie"));
    assert_null(strstr(in.bytes, "no-store"));
    assert_null(strstr(in.bytes, "second"));
    text_release(&in);
    close(peer);
}

static void test_no_content(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = hold(stage);

    http_reply(stage->held, 204, NULL, NULL, 0);
    assert_true(peer_await(stage, peer, &in, "\r\n\r\n"));
    assert_null(strstr(in.bytes, "Content-Length"));
    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    text_release(&in);
    close(peer);
}

/* Idle peers go immediately, open exchanges end by themselves, then all others are cut off. */
static void test_drain(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int idle = peer_connect(stage), half = peer_connect(stage), held, stream;

    peer_say(half, "GET /ec");
    stream = hold(stage);
    http_begin(stage->held, 200, "text/plain");
    http_send(stage->held, "part", 4);
    held = hold(stage);
    http_server_drain(stage->server);
    assert_true(peer_await_end(stage, idle, &in));
    assert_int_equal(in.used, 0);
    assert_true(peer_await_end(stage, half, &in));
    assert_int_equal(peer_status(&in), 503);
    text_clear(&in);
    assert_false(http_server_is_drained(stage->server));
    http_reply(stage->held, 200, "text/plain", "last", 4);
    assert_true(peer_await_end(stage, held, &in));
    assert_non_null(strstr(in.bytes, "Connection: close"));
    assert_non_null(strstr(in.bytes, "\r\n\r\nlast"));
    close(held);
    await_fates(stage, 1, 0);
    text_clear(&in);
    http_server_dismiss(stage->server);
    assert_int_equal(stage->lost, 1);
    assert_true(peer_await_end(stage, stream, &in));
    assert_non_null(strstr(in.bytes, "4\r\npart\r\n"));
    assert_null(strstr(in.bytes, "\r\n0\r\n"));
    while (!http_server_is_drained(stage->server))
        stage_turn(stage);
    text_release(&in);
    close(idle);
    close(half);
    close(stream);
}

/* Dismissed with a question open: the peer hears that it was not served. */
static void test_dismiss_held(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int held = hold(stage);

    http_server_dismiss(stage->server);
    assert_int_equal(stage->lost, 1);
    assert_true(peer_await_end(stage, held, &in));
    assert_int_equal(peer_status(&in), 503);
    while (!http_server_is_drained(stage->server))
        stage_turn(stage);
    text_release(&in);
    close(held);
}

static int64_t no_admit(void *context, struct http_exchange *exchange)
{
    (void)context;
    (void)exchange;
    return 0;
}

static void no_serve(void *context, struct http_exchange *exchange)
{
    (void)context;
    (void)exchange;
}

/* A port that is taken, on either family, is left to its owner. */
static void test_ports(void **state)
{
    struct stage *stage = *state;
    struct http_options options = { .port = http_server_port(stage->server),
                                    .handler = { NULL, no_admit, no_serve } };
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
    struct http_server *server = NULL;
    struct error err = { 0 };
    socklen_t size = sizeof address;
    int taken, taken_port;

    assert_false(http_server_open(stage->loop, &options, &server, &err));
    assert_int_equal(err.code, ERROR_unavailable);
    assert_non_null(strstr(err.message, "taken"));
    options.may_move = true;
    assert_true(http_server_open(stage->loop, &options, &server, &err));
    assert_true(http_server_port(server) > options.port);
    http_server_free(server);
    taken = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(taken, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(taken, 1), 0);
    getsockname(taken, (struct sockaddr *)&address, &size);
    taken_port = ntohs(address.sin6_port);
    options.port = taken_port;
    options.may_move = false;
    assert_false(http_server_open(stage->loop, &options, &server, &err));
    options.may_move = true;
    assert_true(http_server_open(stage->loop, &options, &server, &err));
    assert_true(http_server_port(server) > taken_port);
    http_server_free(server);
    close(taken);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(fate_stays),
        TEST(fate_closes),
        TEST(fate_unread),
        TEST(fate_gone_before),
        TEST(half_closed),
        TEST(fate_pipelined),
        TEST(fate_early),
        TEST(fate_unacknowledged),
        TEST(fate_close_after),
        TEST(fate_quick_peer),
        TEST(behind),
        TEST(long_reply),
        TEST(headers),
        TEST(no_content),
        TEST(drain),
        TEST(dismiss_held),
        TEST(ports),
    };

    return cmocka_run_group_tests_name("http_fate", tests, NULL, NULL);
}
