/*
 * test_http.c - the server with real sockets: requests whole, in pieces and one behind the other,
 * replies whole and in parts, what is refused, and what became of a reply.
 * Proves: R7.1 R12.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"
#include "loop/loop.h"
#include "net/sse.h"

#define HOST "Host: 127.0.0.1\r\n"

static int set_up(void **state)
{
    static struct stage stage;
    struct http_options options = { .times = { .settle_ms = 200, .beat_ms = 50 } };

    stage_open(&stage, &options);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    stage_close(*state);
    return 0;
}

static void test_get(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer, "GET /a%20b?q=1 HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /a b|"));
    assert_int_equal(peer_status(&in), 200);
    assert_non_null(strstr(in.bytes, "Content-Length: 9\r\n"));
    assert_non_null(strstr(in.bytes, "\r\nX-Content-Type-Options: nosniff\r\n"));
    assert_non_null(strstr(in.bytes, "\r\nCache-Control: no-store\r\n"));
    assert_non_null(strstr(in.bytes, "\r\nReferrer-Policy: no-referrer\r\n"));
    assert_null(strstr(in.bytes, "Connection: close"));
    text_clear(&in);
    peer_say(peer, "HEAD /echo HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    assert_true(peer_await_end(stage, peer, &in));
    assert_non_null(strstr(in.bytes, "Content-Length: 11\r\n"));
    assert_string_equal(in.bytes + in.used - 4, "\r\n\r\n");
    text_release(&in);
    close(peer);
}

static void test_ipv6(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect6(stage);

    peer_say(peer, "GET /echo HTTP/1.1\r\nHost: [::1]\r\n\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    text_release(&in);
    close(peer);
}

static const char *const bodies[] = {
    "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
    "POST /echo HTTP/1.1\r\n" HOST
    "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n03\r\nllo\r\n0\r\n\r\n",
};

/* Wherever a request is cut, and however often. */
static void test_split(void **state)
{
    struct stage *stage = *state;

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct text in = { 0 };
        int peer = peer_connect(stage);
        size_t length = strlen(bodies[i]);

        for (size_t cut = 1; cut < length; cut++) {
            text_clear(&in);
            peer_send(peer, bodies[i], cut);
            stage_turn(stage);
            peer_send(peer, bodies[i] + cut, length - cut);
            assert_true(peer_await(stage, peer, &in, "POST /echo|hello"));
        }
        text_clear(&in);
        for (size_t at = 0; at < length; at++) {
            peer_send(peer, bodies[i] + at, 1);
            stage_turn(stage);
        }
        assert_true(peer_await(stage, peer, &in, "POST /echo|hello"));
        text_release(&in);
        close(peer);
    }
}

static void test_pipelining(void **state)
{
    struct stage *stage = *state;
    struct text out = { 0 }, in = { 0 };
    int peer = peer_connect(stage);

    for (int i = 0; i < 200; i++)
        text_add_format(&out, "POST /echo/%d HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", i);
    peer_send(peer, out.bytes, out.used);
    assert_true(peer_await(stage, peer, &in, "POST /echo/199|abc"));
    assert_int_equal(count_of(in.bytes, "HTTP/1.1 200 OK\r\n"), 200);
    for (int i = 0, at = 0; i < 200; i++) {
        char line[64];
        const char *found;

        snprintf(line, sizeof line, "POST /echo/%d|abc", i);
        found = strstr(in.bytes + at, line);
        assert_non_null(found);
        at = (int)(found - in.bytes);
    }
    text_release(&out);
    text_release(&in);
    close(peer);
}

static void test_stream(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    while (!stage->held)
        stage_turn(stage);
    assert_int_equal(http_server_peer_count(stage->server), 1);
    sse_begin(stage->held);
    assert_true(peer_await(stage, peer, &in, ": keepalive\n\n"));
    assert_non_null(strstr(in.bytes, "Content-Type: text/event-stream\r\n"));
    assert_non_null(strstr(in.bytes, "Cache-Control: no-cache, no-transform\r\n"));
    assert_non_null(strstr(in.bytes, "X-Accel-Buffering: no\r\n"));
    assert_null(strstr(in.bytes, "no-store"));
    text_clear(&in);
    assert_true(peer_await(stage, peer, &in, ": keepalive\n\n")); /* the next one, by the clock */
    sse_send(stage->held, "7", "message", "{\"a\":1}", 7);
    assert_true(peer_await(stage, peer, &in, "id: 7\nevent: message\ndata: {\"a\":1}\n\n"));
    sse_end(stage->held);
    assert_true(peer_await(stage, peer, &in, "\r\n0\r\n\r\n"));
    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    assert_int_equal(stage->taken, 1);
    assert_int_equal(stage->lost, 0);
    text_release(&in);
    close(peer);
}

/* A peer that goes while a person thinks is noticed at once, also if it has sent more meanwhile. */
static void test_gone_while_held(void **state)
{
    struct stage *stage = *state;
    static const char *const more[] = { "", "GET /echo HTTP/1.1\r\n" HOST "\r\n" };

    for (int i = 0; i < 2; i++) {
        int peer = peer_connect(stage), lost = stage->lost;

        peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
        while (!stage->held)
            stage_turn(stage);
        if (i == 0)
            sse_begin(stage->held);
        peer_say(peer, more[i]);
        stage_settle(stage);
        assert_int_equal(stage->lost, lost);
        close(peer);
        for (int64_t until_ms = loop_boot_ms() + 2000;
             stage->lost == lost && loop_boot_ms() < until_ms;)
            stage_turn(stage);
        assert_int_equal(stage->lost, lost + 1);
        assert_int_equal(http_server_peer_count(stage->server), 0);
    }
    assert_int_equal(stage->served, 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_get, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ipv6, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pipelining, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gone_while_held, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
