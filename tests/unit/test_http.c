/*
 * test_http.c - the server with real sockets: requests whole, in pieces and one behind the other,
 * replies whole and in parts, and what is refused.
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
#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "http_fixture.h"

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
    http_end(stage->held);
    assert_true(peer_await(stage, peer, &in, "\r\n0\r\n\r\n"));
    peer_say(peer, "GET /echo HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await(stage, peer, &in, "GET /echo|"));
    assert_int_equal(stage->taken, 1);
    assert_int_equal(stage->lost, 0);
    text_release(&in);
    close(peer);
}

/* A peer that goes while a person thinks is noticed immediately, even if it sent more before. */
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
        for (int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
             stage->lost == lost && loop_boot_ms() < until_ms;)
            stage_turn(stage);
        assert_int_equal(stage->lost, lost + 1);
        assert_int_equal(http_server_peer_count(stage->server), 0);
    }
    assert_int_equal(stage->served, 2);
}

/* Each is answered once and cut off, and nothing behind it is taken for a request. */
static void test_refused(void **state)
{
    static const struct {
        int status;
        const char *bytes;
    } cases[] = {
        { 400,
          "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
          "0\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd"
               "GET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "POST /echo HTTP/1.1\r\n" HOST "X: a\rTransfer-Encoding: chunked\r\n\r\n"
               "1\r\nZ\r\n0\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "GET /echo HTTP/1.1\nHost: a\n\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "GET /echo HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n"
               "0\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
               "0\r\nContent-Length: 5\r\n\r\nGET /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 413,
          "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n" },
        { 413, "POST /echo HTTP/1.1\r\n" HOST
               "Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n" },
        { 413, "POST /tiny HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\nx" },
        { 413, "POST /tiny HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" },
        { 417, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 1\r\nExpect: a\r\n\r\n" },
        { 501, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n" },
        { 501, "BREW /echo HTTP/1.1\r\n" HOST "\r\n" },
        { 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
        { 400, "GET http://evil.example/ HTTP/1.1\r\n" HOST "\r\n" },
        { 400, "GET /static/..%2f..%2fetc/passwd HTTP/1.1\r\n" HOST "\r\n" },
        { 403, "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 40\r\n\r\n" },
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text in = { 0 };
        int peer = peer_connect(stage);

        peer_say(peer, cases[i].bytes);
        assert_true(peer_await_end(stage, peer, &in));
        if (peer_status(&in) != cases[i].status)
            fail_msg("%d instead of %d: %s", peer_status(&in), cases[i].status, cases[i].bytes);
        assert_int_equal(count_of(in.bytes, "\r\nDate: "), 1);
        assert_non_null(strstr(in.bytes, "\r\nConnection: close\r\n"));
        text_release(&in);
        close(peer);
    }
    assert_int_equal(stage->served, 0);
    assert_int_equal(http_server_peer_count(stage->server), 0);
}

/* The raw cases of the corpus that every peer is refused; the gate's own tests have the rest. */
static void test_corpus(void **state)
{
    static const char *const ids[] = { "h-012", "h-014", "h-015", "h-018", "h-019", "h-024",
                                       "h-025", "h-027", "h-029", "h-030", "h-031" };
    struct stage *stage = *state;
    struct text file = { 0 };
    struct json *corpus;
    struct error err;
    size_t seen = 0;

    assert_true(os_read_file(TEST_CORPUS "/http_ws.json", 1048576, &file, &err));
    assert_true(json_parse(file.bytes, file.used, &corpus, &err));
    for (size_t i = 0; i < json_length(json_member(corpus, "cases")); i++) {
        const struct json *row = json_item(json_member(corpus, "cases"), i);
        const struct json *raw = json_member(row, "raw");
        const struct json *wanted = json_member(json_member(row, "expect"), "status");
        bool is_ours = false, is_right = false;
        struct text in = { 0 };
        int peer;

        for (size_t id = 0; id < ARRAY_LEN(ids); id++)
            is_ours |= strcmp(ids[id], json_member_text(row, "id")) == 0;
        if (!is_ours)
            continue;
        seen++;
        peer = seen % 2 ? peer_connect(stage) : peer_connect6(stage);
        peer_send(peer, json_text(raw), json_length(raw));
        assert_true(peer_await_end(stage, peer, &in));
        for (size_t k = 0; k < json_length(wanted); k++) {
            int64_t status = 0;

            is_right |=
                json_integer_of(json_item(wanted, k), &status) && status == peer_status(&in);
        }
        if (!is_right)
            fail_msg("%s: %s", json_member_text(row, "id"), in.bytes);
        text_release(&in);
        close(peer);
    }
    assert_int_equal(seen, ARRAY_LEN(ids));
    assert_int_equal(stage->served, 0);
    json_free(corpus);
    text_release(&file);
}

/* A big body in small chunks, and one byte too many. */
static void test_body_limit(void **state)
{
    struct stage *stage = *state;
    struct text out = { 0 }, in = { 0 };
    char chunk[1024 + 8];
    int peer = peer_connect(stage);

    memset(chunk, 'x', sizeof chunk);
    memcpy(chunk, "400\r\n", 5);
    memcpy(chunk + 5 + 1024, "\r\n", 2);
    text_add_text(&out, "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 1024; i++)
        text_add(&out, chunk, 5 + 1024 + 2);
    for (size_t at = 0; at < out.used; at += 40000) {
        peer_send(peer, out.bytes + at, out.used - at < 40000 ? out.used - at : 40000);
        stage_turn(stage);
    }
    peer_say(peer, "0\r\n\r\n");
    assert_true(peer_await(stage, peer, &in, "\r\n\r\nPOST /echo|xxx"));
    assert_non_null(strstr(in.bytes, "Content-Length: 1048587\r\n"));
    text_release(&in);
    close(peer);
    peer = peer_connect(stage);
    for (size_t at = 0; at < out.used; at += 40000) {
        peer_send(peer, out.bytes + at, out.used - at < 40000 ? out.used - at : 40000);
        stage_turn(stage);
    }
    peer_say(peer, "1\r\ny\r\n0\r\n\r\n");
    assert_true(peer_await_end(stage, peer, &in));
    assert_int_equal(peer_status(&in), 413);
    text_release(&in);
    text_release(&out);
    close(peer);
}

/* Refused at its head, and the peer goes on sending: it reads the refusal, not a reset. */
static void test_refusal_arrives(void **state)
{
    struct stage *stage = *state;
    static char block[50000];
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3000000\r\n\r\n");
    for (int i = 0; i < 60; i++) {
        stage_turn(stage);
        assert_int_equal(send(peer, block, sizeof block, MSG_NOSIGNAL), sizeof block);
    }
    assert_true(peer_await_end(stage, peer, &in));
    assert_int_equal(peer_status(&in), 413);
    text_release(&in);
    close(peer);
}

static void test_continue(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer,
             "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_true(peer_await(stage, peer, &in, "HTTP/1.1 100 Continue\r\n\r\n"));
    assert_int_equal(stage->admitted, 1);
    assert_int_equal(stage->served, 0);
    peer_say(peer, "ok");
    assert_true(peer_await(stage, peer, &in, "POST /echo|ok"));
    text_clear(&in);
    peer_say(peer,
             "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    assert_true(peer_await_end(stage, peer, &in));
    assert_int_equal(peer_status(&in), 403);
    assert_null(strstr(in.bytes, "100 Continue"));
    text_release(&in);
    close(peer);
}

/* HTTP/1.0 ends with its reply, and a stream to it has no chunks. */
static void test_http_1_0(void **state)
{
    struct stage *stage = *state;
    struct text in = { 0 };
    int peer = peer_connect(stage);

    peer_say(peer, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_true(peer_await_end(stage, peer, &in));
    assert_non_null(strstr(in.bytes, "Connection: close\r\n"));
    close(peer);
    text_clear(&in);
    peer = peer_connect(stage);
    peer_say(peer, "GET /hold HTTP/1.0\r\n\r\n");
    while (!stage->held)
        stage_turn(stage);
    http_begin(stage->held, 200, "text/plain");
    http_send(stage->held, "abc", 3);
    http_end(stage->held);
    assert_true(peer_await_end(stage, peer, &in));
    assert_null(strstr(in.bytes, "chunked"));
    assert_string_equal(strstr(in.bytes, "\r\n\r\n"), "\r\n\r\nabc");
    close(peer);
    while (stage->taken == 0)
        stage_turn(stage);
    text_release(&in);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(get),        TEST(ipv6),
        TEST(split),      TEST(pipelining),
        TEST(stream),     TEST(gone_while_held),
        TEST(refused),    TEST(corpus),
        TEST(body_limit), TEST(refusal_arrives),
        TEST(continue),   TEST(http_1_0),
    };

    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
