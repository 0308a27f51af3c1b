/*
 * test_http_held.c - what all peers together make a server keep: heads, bodies and replies that
 * they do not read.
 * Proves: P20 R12.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "http_fixture.h"
#include "net/http_server.h"

#define HOST "Host: 127.0.0.1\r\n"

enum { LONG_MS = 60000 };
static const struct http_times patient = { LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS,
                                           LONG_MS, LONG_MS, LONG_MS, LONG_MS };

/* Many peers with long beginnings and no end: together they hold so much and no more. */
static void test_held_bytes(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient, .max_bytes = 200000 }; /* strangers: half */
    struct text in = { 0 }, long_head = { 0 }, long_body = { 0 }, known = { 0 };
    int peers[4];

    (void)state;
    stage_open(&stage, &options);
    text_add_text(&long_head, "GET /echo HTTP/1.1\r\n" HOST "X: ");
    text_add_text(&long_body, "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 60000\r\n\r\n");
    for (int i = 0; i < 3000; i++) {
        text_add_text(&long_head, "0123456789");
        text_add_text(&long_body, "01234567890123456789");
    }
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        peers[i] = peer_connect(&stage);
        peer_send(peers[i], long_head.bytes, long_head.used);
        stage_settle(&stage);
    }
    assert_true(peer_await_end(&stage, peers[3], &in));
    assert_int_equal(peer_status(&in), 503);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        close(peers[i]);
    stage_settle(&stage);
    assert_int_equal(stage.server->held_bytes, 0);
    for (int i = 0; i < 2; i++) {
        peers[i] = peer_connect(&stage);
        peer_send(peers[i], long_body.bytes, long_body.used);
        stage_settle(&stage);
    }
    text_clear(&in);
    assert_true(peer_await_end(&stage, peers[1], &in));
    assert_int_equal(peer_status(&in), 503);
    assert_non_null(stage.held);
    stage.recognises = true;
    text_add_text(&known, "POST /echo HTTP/1.1\r\n" HOST "Authorization: a\r\n");
    text_add_text(&known, strstr(long_body.bytes, "Content-Length"));
    close(peers[1]);
    peers[1] = peer_connect(&stage);
    peer_send(peers[1], known.bytes, known.used);
    text_clear(&in);
    assert_true(peer_await(&stage, peers[1], &in, "POST /echo|0123")); /* a token finds room */
    http_forget_request(stage.held);
    stage_settle(&stage);
    assert_int_equal(stage.server->held_bytes, 0);
    close(peers[0]);
    close(peers[1]);
    text_release(&in);
    text_release(&long_head);
    text_release(&long_body);
    text_release(&known);
    stage_close(&stage);
}

/* The head of a request whose body is awaited counts, until the request is forgotten. */
static void test_held_heads(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient, .max_bytes = 100000 }; /* strangers: half */
    struct text in = { 0 }, head = { 0 }, whole = { 0 };
    int peers[2], known;

    (void)state;
    stage_open(&stage, &options);
    stage.recognises = true;
    text_add_text(&head, "POST /hold HTTP/1.1\r\n" HOST "Content-Length: 3\r\nX: ");
    for (int i = 0; i < 3000; i++)
        text_add_text(&head, "0123456789");
    text_add_text(&head, "\r\n\r\nab");
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        peers[i] = peer_connect(&stage);
        peer_send(peers[i], head.bytes, head.used);
        stage_settle(&stage);
    }
    assert_in_range(stage.server->held_bytes, 30000, 32768);
    assert_true(peer_await_end(&stage, peers[1], &in));
    assert_int_equal(peer_status(&in), 503);
    known = peer_connect(&stage);
    text_add_text(&whole, "POST /echo HTTP/1.1\r\nAuthorization: a\r\n");
    text_add_text(&whole, strstr(head.bytes, "Host"));
    text_add_char(&whole, 'c');
    peer_send(known, whole.bytes, whole.used);
    assert_true(peer_await(&stage, known, &in, "POST /echo|abc")); /* a token finds room */
    peer_say(peers[0], "c");
    while (!stage.held)
        stage_turn(&stage);
    assert_in_range(stage.server->held_bytes, 30000, 32768);
    http_forget_request(stage.held);
    assert_int_equal(stage.server->held_bytes, 0);
    close(peers[0]);
    close(peers[1]);
    close(known);
    text_release(&in);
    text_release(&head);
    text_release(&whole);
    stage_close(&stage);
}

/* What a peer leaves unread of a reply counts, until it has all of it or is gone. */
static void test_held_replies(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient, .max_bytes = 30000000 }; /* strangers: half */
    struct text in = { 0 }, body = { 0 };
    int peers[3];

    (void)state;
    stage_open(&stage, &options);
    stage.recognises = true;
    for (int i = 0; i < 1000000; i++)
        text_add_text(&body, "0123456789");
    text_add_text(&body, "END");
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        peers[i] = peer_connect(&stage);
        peer_say(peers[i], i == 2 ? "GET /hold HTTP/1.1\r\n" HOST "Authorization: a\r\n\r\n"
                                  : "GET /hold HTTP/1.1\r\n" HOST "\r\n");
        stage.held = NULL;
        while (!stage.held)
            stage_turn(&stage);
        http_reply(stage.held, 200, "text/plain", body.bytes, body.used);
        stage_settle(&stage);
    }
    assert_in_range(stage.server->held_bytes, 20000000, 21000000); /* of the first and the third */
    assert_false(peer_await(&stage, peers[1], &in, "END"));        /* the second was cut off */
    text_clear(&in);
    assert_true(peer_await(&stage, peers[0], &in, "END"));
    close(peers[2]);
    while (stage.server->held_bytes > 0)
        stage_turn(&stage);
    close(peers[0]);
    close(peers[1]);
    text_release(&in);
    text_release(&body);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held_bytes),
        cmocka_unit_test(test_held_heads),
        cmocka_unit_test(test_held_replies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
