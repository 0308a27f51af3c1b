/*
 * test_http_tls.c - the HTTP server behind TLS, on sockets: pieces, slow readers, fates, time-outs
 * and a certificate that changes while peers are there.
 * Proves: R12.1, R13.2, P20
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"
#include "net/tls.h"
#include "tls_fixture.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct tls_files files;
static struct tls_context *server_context, *client_context;

struct peer {
    int fd;
    struct tls *tls;
    struct text in;
};

static void open_stage(struct stage *stage, int64_t handshake_ms)
{
    const struct http_options options = {
        .tls = server_context,
        .times = { .handshake_ms = handshake_ms, .settle_ms = 100, .idle_ms = 20000 },
    };

    stage_open(stage, &options);
}

/* 1: more came, 0: the end, -1: it broke, -2: nothing. */
static int read_some(struct peer *peer)
{
    char bytes[STREAM_READ_BYTES];
    ssize_t got = stream_recv(peer->fd, peer->tls, bytes, sizeof bytes);

    if (got > 0)
        text_add(&peer->in, bytes, (size_t)got);
    if (got >= 0)
        return got > 0;
    return errno == EAGAIN ? -2 : -1;
}

static void peer_open(struct stage *stage, struct peer *peer)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;

    *peer = (struct peer){ .fd = peer_connect(stage) };
    fcntl(peer->fd, F_SETFL, O_NONBLOCK);
    peer->tls = tls_new_client(client_context, "localhost");
    tls_handshake(peer->tls);
    assert_true(stream_flush(peer->fd, peer->tls));
    while (!stream_is_open(peer->tls)) {
        stage_turn(stage);
        assert_int_not_equal(read_some(peer), -1);
        assert_true(loop_boot_ms() < until_ms);
    }
}

static void peer_close(struct peer *peer)
{
    stream_close(peer->fd, peer->tls);
    text_release(&peer->in);
}

static void say(struct peer *peer, const char *text)
{
    assert_true(tls_write(peer->tls, text, strlen(text)));
    assert_true(stream_flush(peer->fd, peer->tls));
}

static void await(struct stage *stage, struct peer *peer, const char *wanted)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;

    while (!strstr(text_string(&peer->in), wanted)) {
        stage_turn(stage);
        if (read_some(peer) == 0 || loop_boot_ms() > until_ms)
            fail_msg("no '%s'; what came: %s", wanted, text_string(&peer->in));
    }
}

/* How it ends, and what the client's TLS says of that. */
static int await_end(struct stage *stage, struct peer *peer)
{
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
    int got;

    do {
        stage_turn(stage);
        got = read_some(peer);
        assert_true(loop_boot_ms() < until_ms);
    } while (got == 1 || got == -2);
    return got;
}

static void requests_are_served_one_after_the_other(void **state)
{
    struct stage stage;
    struct peer peer;

    (void)state;
    open_stage(&stage, 0);
    peer_open(&stage, &peer);
    say(&peer, GET("/echo"));
    await(&stage, &peer, "GET /echo|");
    say(&peer, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Le"); /* in two records */
    stage_settle(&stage);
    say(&peer, "ngth: 5\r\n\r\nhello");
    await(&stage, &peer, "POST /echo|hello");
    /* two requests that come at the same time */
    assert_true(tls_write(peer.tls, GET("/echo"), strlen(GET("/echo"))));
    say(&peer, GET("/two"));
    await(&stage, &peer, "GET /two|");
    text_clear(&peer.in);
    say(&peer, GET("/echo") GET("/tiny") GET("/echo")); /* and three in one */
    await(&stage, &peer, "GET /tiny|");
    while (count_of(text_string(&peer.in), "GET /echo|") < 2)
        stage_turn(&stage), read_some(&peer);
    assert_int_equal(stage.served, 7);
    peer_close(&peer);
    stage_close(&stage);
}

/* Byte by byte, the handshake too. */
static void records_may_come_in_bytes(void **state)
{
    struct stage stage;
    struct peer peer = { 0 };

    (void)state;
    open_stage(&stage, 0);
    peer.fd = peer_connect(&stage);
    fcntl(peer.fd, F_SETFL, O_NONBLOCK);
    peer.tls = tls_new_client(client_context, "localhost");
    tls_handshake(peer.tls);
    for (bool has_asked = false; !strstr(text_string(&peer.in), "GET /echo|");) {
        size_t length;

        if (!has_asked && tls_is_ready(peer.tls) && tls_unsent(peer.tls) == 0)
            has_asked = tls_write(peer.tls, GET("/echo"), strlen(GET("/echo")));
        if (tls_unsent(peer.tls) > 0) {
            peer_send(peer.fd, tls_out(peer.tls, &length), 1);
            tls_sent(peer.tls, 1);
        }
        stage_turn(&stage);
        if (tls_unsent(peer.tls) == 0)
            assert_int_not_equal(read_some(&peer), 0);
    }
    peer_close(&peer);
    stage_close(&stage);
}

/* More than any buffer takes, to a peer that first does not read. */
static void a_long_reply_waits_for_its_reader(void **state)
{
    enum { LONG = 8000000 };
    char *body = malloc(LONG);
    struct stage stage;
    struct peer peer;

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        body[i] = (char)('a' + i % 23);
    open_stage(&stage, 0);
    peer_open(&stage, &peer);
    say(&peer, GET("/hold"));
    while (!stage.held)
        stage_turn(&stage);
    http_reply(stage.held, 200, "text/plain", body, LONG);
    stage_settle(&stage);
    assert_int_equal(stage.taken + stage.lost, 0); /* most of it is still here */
    while (peer.in.used < LONG)
        stage_turn(&stage), read_some(&peer);
    for (int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS; stage.taken == 0;) {
        stage_turn(&stage);
        read_some(&peer);
        assert_true(loop_boot_ms() < until_ms);
    }
    assert_int_equal(stage.lost, 0);
    assert_memory_equal(strstr(peer.in.bytes, "\r\n\r\n") + 4, body, LONG);
    free(body);
    peer_close(&peer);
    stage_close(&stage);
}

static void a_peer_that_goes_before_the_reply_has_lost_it(void **state)
{
    struct stage stage;
    struct peer peer;

    (void)state;
    open_stage(&stage, 0);
    peer_open(&stage, &peer);
    say(&peer, GET("/hold"));
    while (!stage.held)
        stage_turn(&stage);
    peer_close(&peer);
    while (stage.lost == 0)
        stage_turn(&stage);
    assert_int_equal(stage.taken, 0);
    stage_close(&stage);
}

static void the_end_of_a_connection_is_said(void **state)
{
    struct stage stage;
    struct peer peer;

    (void)state;
    open_stage(&stage, 0);
    peer_open(&stage, &peer);
    say(&peer, "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await(&stage, &peer, "GET /echo|");
    assert_int_equal(await_end(&stage, &peer), 0); /* not cut: TLS said so, before TCP did */
    assert_true(tls_is_ready(peer.tls));
    peer_close(&peer);
    stage_close(&stage);
}

static void who_does_not_shake_hands_in_time_goes(void **state)
{
    struct stage stage;
    struct text in = { 0 };
    int64_t began_ms = loop_boot_ms();
    int silent, slow;

    (void)state;
    open_stage(&stage, 300);
    silent = peer_connect(&stage);
    slow = peer_connect(&stage);
    for (int i = 0; i < 20; i++) { /* a head of a record, and then bytes that never make it whole */
        peer_send(slow, i ? "\x01" : "\x16\x03\x01\x02", i ? 1 : 4);
        stage_settle(&stage);
    }
    peer_await_end(&stage, silent, &in);
    peer_await_end(&stage, slow, &in);
    assert_true(loop_boot_ms() - began_ms >= 300);
    assert_true(loop_boot_ms() - began_ms < 10000); /* not when an idle peer would */
    assert_int_equal(stage.admitted, 0);
    close(silent);
    close(slow);
    text_release(&in);
    stage_close(&stage);
}

static void who_speaks_no_tls_is_sent_away(void **state)
{
    struct stage stage;
    struct text in = { 0 };
    int plain;

    (void)state;
    open_stage(&stage, 0);
    plain = peer_connect(&stage);
    peer_say(plain, GET("/echo"));
    peer_await_end(&stage, plain, &in);
    assert_int_equal(stage.admitted, 0);
    assert_null(strstr(text_string(&in), "HTTP"));
    close(plain);
    text_release(&in);
    stage_close(&stage);
}

/* Newcomers get the new one; who was there stays as they are. */
static void a_new_certificate_cuts_nobody(void **state)
{
    struct tls_context *fresh = NULL;
    struct stage stage;
    struct peer before, after;
    struct error err;

    (void)state;
    open_stage(&stage, 0);
    peer_open(&stage, &before);
    assert_true(tls_context_new_server(files.expired, files.key, &fresh, &err));
    http_server_use_tls(stage.server, fresh);
    say(&before, GET("/echo"));
    await(&stage, &before, "GET /echo|");
    after = (struct peer){ .fd = peer_connect(&stage) };
    fcntl(after.fd, F_SETFL, O_NONBLOCK);
    after.tls = tls_new_client(client_context, "localhost");
    tls_handshake(after.tls);
    stream_flush(after.fd, after.tls);
    while (!tls_has_failed(after.tls))
        stage_turn(&stage), read_some(&after);
    tls_explain(after.tls, &err);
    assert_non_null(strstr(err.message, "expired"));
    peer_close(&before);
    peer_close(&after);
    stage_close(&stage);
    tls_context_free(fresh);
}

static int set_up(void **state)
{
    struct error err;

    (void)state;
    tls_files_make(&files);
    return tls_context_new_server(files.certificate, files.key, &server_context, &err) &&
                   tls_context_new_client(files.ca, &client_context, &err)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    tls_context_free(server_context);
    tls_context_free(client_context);
    tls_files_remove(&files);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_served_one_after_the_other),
        cmocka_unit_test(records_may_come_in_bytes),
        cmocka_unit_test(a_long_reply_waits_for_its_reader),
        cmocka_unit_test(a_peer_that_goes_before_the_reply_has_lost_it),
        cmocka_unit_test(the_end_of_a_connection_is_said),
        cmocka_unit_test(who_does_not_shake_hands_in_time_goes),
        cmocka_unit_test(who_speaks_no_tls_is_sent_away),
        cmocka_unit_test(a_new_certificate_cuts_nobody),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
