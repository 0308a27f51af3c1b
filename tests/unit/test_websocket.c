/*
 * test_websocket.c - peers whose time is over when the test says so: silence, pings without an
 * answer, readers that do not read, one message shared by many. Proves: P19 R7.2 R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"
#include "net/http_server.h"
#include "net/websocket.h"
#include "net/websocket_server.h"

#define BYTES(text) text, sizeof(text) - 1

/* Peers ---------------------------------------------------------------------------------------- */

struct scene {
    struct stage stage;
    struct ws_server *server;
    struct loop_turn *turn;
    struct ws_peer *peers[8];
    int opened, closed, drained;
    struct text said;
};

static void *on_opened(void *context, struct ws_peer *peer)
{
    struct scene *scene = context;

    scene->peers[scene->opened++ % 8] = peer;
    return scene;
}

static void on_message(void *owner, const char *text, size_t length)
{
    struct scene *scene = owner;

    text_add(&scene->said, text, length);
    text_add_char(&scene->said, '|');
}

static void on_drained(void *owner)
{
    ((struct scene *)owner)->drained++;
}

static void on_closed(void *owner)
{
    ((struct scene *)owner)->closed++;
}

static int64_t admit_all(void *context, struct http_exchange *exchange)
{
    (void)context;
    (void)exchange;
    return 0;
}

static void serve_socket(void *context, struct http_exchange *exchange)
{
    ws_server_upgrade(((struct scene *)context)->server, exchange, true);
}

static void take(void *context, const struct http_taken *taken)
{
    ws_server_take(((struct scene *)context)->server, taken);
}

static void flush(void *context)
{
    ws_server_flush(((struct scene *)context)->server);
}

static void scene_open_for(struct scene *scene, const struct ws_times *times, size_t strangers,
                           size_t max_bytes)
{
    struct http_options http = { .handler = { .context = scene,
                                              .admit = admit_all,
                                              .serve = serve_socket,
                                              .taken = take,
                                              .taken_context = scene },
                                 .max_bytes = max_bytes };
    struct ws_options options = {
        .handler = { scene, on_opened, on_message, on_drained, on_closed },
        .times = *times,
        .max_peers = 4,
        .max_strangers = strangers,
    };

    *scene = (struct scene){ 0 };
    stage_open(&scene->stage, &http);
    options.loop = scene->stage.loop;
    scene->server = ws_server_new(&options);
    scene->turn = loop_turn_new(scene->stage.loop, flush, scene);
}

static void scene_open(struct scene *scene, const struct ws_times *times)
{
    scene_open_for(scene, times, 0, 0);
}

static void scene_close(struct scene *scene)
{
    ws_server_end_peers(scene->server);
    assert_int_equal(scene->opened, scene->closed);
    http_server_free(scene->stage.server);
    scene->stage.server = NULL;
    ws_server_free(scene->server);
    loop_turn_free(scene->turn);
    stage_close(&scene->stage);
    text_release(&scene->said);
}

static const char handshake[] =
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

static int join(struct scene *scene, struct text *in)
{
    int peer = peer_connect(&scene->stage);

    peer_say(peer, handshake);
    peer_await(&scene->stage, peer, in, "\r\n\r\n");
    return peer;
}

static const struct ws_times patient = { 60000, 60000, 60000, 60000, 60000 };

/* The time of one limit is over, however fast the machine is; all others go on. */
static void let_pass(struct scene *scene, int64_t *limit_ms)
{
    struct ws_server *server = scene->server;
    int64_t patient_ms = *limit_ms, rung_ms = loop_boot_ms();

    *limit_ms = 0;
    server->timer_ms = rung_ms;
    loop_timer_at(server->timer, rung_ms);
    while (server->timer_ms == rung_ms)
        stage_turn(&scene->stage);
    *limit_ms = patient_ms;
}

static void test_hello_limit(void **state)
{
    struct scene scene;
    struct text silent = { 0 }, known = { 0 };
    int first, second;

    (void)state;
    scene_open(&scene, &patient);
    first = join(&scene, &silent);
    second = join(&scene, &known);
    ws_peer_know(scene.peers[1]);
    let_pass(&scene, &scene.server->times.hello_ms);
    assert_true(peer_await(&scene.stage, first, &silent, "no hello"));
    assert_true(peer_await_end(&scene.stage, first, &silent)); /* our half is closed */
    close(first);
    while (scene.closed == 0)
        stage_turn(&scene.stage);
    ws_send(scene.peers[1], "still", 5);
    assert_true(peer_await(&scene.stage, second, &known, "still"));
    close(second);
    text_release(&silent);
    text_release(&known);
    scene_close(&scene);
}

static void test_pings(void **state)
{
    struct scene scene;
    struct text good = { 0 }, dead = { 0 };
    int answers, sleeps;

    (void)state;
    scene_open(&scene, &patient);
    answers = join(&scene, &good);
    sleeps = join(&scene, &dead);
    ws_peer_know(scene.peers[0]);
    ws_peer_know(scene.peers[1]);
    for (int round = 0; round < 4; round++) {
        struct text ping = { 0 };

        let_pass(&scene, &scene.server->times.quiet_ms);
        assert_true(peer_await(&scene.stage, answers, &ping, "\x89"));
        peer_send(answers, BYTES("\x8a\x80\0\0\0\0"));
        while (!scene.peers[0]->was_heard)
            stage_turn(&scene.stage);
        let_pass(&scene, &scene.server->times.pong_ms);
        assert_int_equal(scene.closed, 1); /* the other: it was asked, and said nothing */
        text_release(&ping);
    }
    assert_true(peer_await_end(&scene.stage, sleeps, &dead));
    close(answers);
    close(sleeps);
    text_release(&good);
    text_release(&dead);
    scene_close(&scene);
}

/* An answer in the millisecond of the ping, or before its wait by the clock, is an answer. */
static void test_a_pong_at_once(void **state)
{
    struct scene scene;
    struct text in = { 0 };
    int peer;

    (void)state;
    scene_open(&scene, &patient);
    peer = join(&scene, &in);
    ws_peer_know(scene.peers[0]);
    for (size_t round = 1; round <= 2; round++) {
        struct text ping = { 0 };

        let_pass(&scene, &scene.server->times.quiet_ms);
        assert_true(peer_await(&scene.stage, peer, &ping, "\x89"));
        assert_int_equal(scene.peers[0]->wait_class, WS_WAIT_PONG);
        peer_send(peer, BYTES("\x8a\x80\0\0\0\0\x81\x81\0\0\0\0a"));
        while (scene.said.used < 2 * round)
            stage_turn(&scene.stage);
        scene.peers[0]->wait_ms = loop_boot_ms(); /* as if the ping had not been sooner */
        let_pass(&scene, &scene.server->times.pong_ms);
        assert_int_equal(scene.closed, 0);
        text_release(&ping);
    }
    close(peer);
    text_release(&in);
    scene_close(&scene);
}

static void test_shared_frame(void **state)
{
    struct scene scene;
    struct text in[3] = { { 0 } };
    struct ws_frame *frame = ws_frame_new(BYTES("to all"));
    int peers[3];

    (void)state;
    scene_open(&scene, &patient);
    assert_true(ws_frame_is(frame, BYTES("to all")) && !ws_frame_is(frame, BYTES("to alL")));
    assert_false(ws_frame_is(NULL, "", 0));
    for (int i = 0; i < 3; i++)
        peers[i] = join(&scene, &in[i]);
    for (int i = 0; i < 3; i++)
        ws_send_frame(scene.peers[i], frame);
    assert_int_equal(frame->references, 4);
    for (int i = 0; i < 3; i++) {
        assert_true(peer_await(&scene.stage, peers[i], &in[i], "to all"));
        assert_int_equal(ws_peer_behind(scene.peers[i]), 0);
        close(peers[i]);
        text_release(&in[i]);
    }
    assert_int_equal(frame->references, 1); /* ours */
    ws_frame_release(frame);
    scene_close(&scene);
}

/* One who never reads holds only references, and is cut off; the others go on. */
static void test_stalled(void **state)
{
    struct scene scene;
    struct text slow = { 0 }, quick = { 0 };
    char *large = mem_new(500000);
    struct ws_frame *frame;
    int stuck, reads;

    (void)state;
    memset(large, 'x', 500000);
    frame = ws_frame_new(large, 500000);
    scene_open(&scene, &patient);
    stuck = join(&scene, &slow);
    reads = join(&scene, &quick);
    ws_peer_know(scene.peers[0]);
    ws_peer_know(scene.peers[1]);
    for (int i = 0; i < 40; i++) {
        ws_send_frame(scene.peers[0], frame);
        stage_turn(&scene.stage);
    }
    assert_true(ws_peer_behind(scene.peers[0]) > 1000000);
    peer_send(reads, BYTES("\x8a\x80\0\0\0\0"));
    peer_send(stuck, BYTES("\x8a\x80\0\0\0\0")); /* it talks, and does not listen */
    while (!scene.peers[0]->was_heard || !scene.peers[1]->was_heard)
        stage_turn(&scene.stage);
    scene.server->times.stall_ms = 0;
    let_pass(&scene, &scene.server->times.quiet_ms);
    assert_int_equal(scene.closed, 1);
    assert_int_equal(scene.server->dropped, 1);
    assert_int_equal(frame->references, 1);
    ws_send(scene.peers[1], "here", 4);
    assert_true(peer_await(&scene.stage, reads, &quick, "here"));
    close(stuck);
    close(reads);
    free(large);
    ws_frame_release(frame);
    text_release(&slow);
    text_release(&quick);
    scene_close(&scene);
}

static void test_pause_and_places(void **state)
{
    struct scene scene;
    struct text in[5] = { { 0 } };
    int peers[5];

    (void)state;
    scene_open(&scene, &patient);
    for (int i = 0; i < 5; i++)
        peers[i] = join(&scene, &in[i]);
    assert_int_equal(peer_status(&in[3]), 101);
    assert_int_equal(peer_status(&in[4]), 503); /* four places */
    ws_peer_pause(scene.peers[0], true);
    peer_send(peers[0], BYTES("\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b\x81\x84\0\0\0\0c"));
    stage_settle(&scene.stage);
    assert_string_equal(text_string(&scene.said), "");
    ws_peer_pause(scene.peers[0], false);
    while (scene.said.used < 4)
        stage_turn(&scene.stage);
    assert_string_equal(text_string(&scene.said), "a|b|");
    peer_send(peers[0], BYTES("def"));
    while (scene.said.used < 9)
        stage_turn(&scene.stage);
    assert_string_equal(text_string(&scene.said), "a|b|cdef|");
    close(peers[1]); /* gone without a word: its place is free again */
    while (scene.closed == 0)
        stage_turn(&scene.stage);
    assert_int_equal(ws_server_count(scene.server), 3);
    for (int i = 0; i < 5; i++) {
        if (i != 1)
            close(peers[i]);
        text_release(&in[i]);
    }
    scene_close(&scene);
}

/* Who says nothing makes room for the next, who is known stays. */
static void test_strangers(void **state)
{
    struct scene scene;
    struct text in[4] = { { 0 } };
    int peers[4];

    (void)state;
    scene_open_for(&scene, &patient, 2, 0);
    peers[0] = join(&scene, &in[0]);
    ws_peer_know(scene.peers[0]);
    for (int i = 1; i < 4; i++)
        peers[i] = join(&scene, &in[i]);
    peer_await_end(&scene.stage, peers[1], &in[1]);
    assert_int_equal(scene.closed, 1);
    ws_send(scene.peers[0], "known", 5);
    ws_send(scene.peers[2], "second", 6);
    ws_send(scene.peers[3], "third", 5);
    assert_true(peer_await(&scene.stage, peers[0], &in[0], "known"));
    assert_true(peer_await(&scene.stage, peers[2], &in[2], "second"));
    assert_true(peer_await(&scene.stage, peers[3], &in[3], "third"));
    for (int i = 0; i < 4; i++) {
        close(peers[i]);
        text_release(&in[i]);
    }
    scene_close(&scene);
}

/* Before hello a message is short, whether one frame says so or many do; behind it a long one is
 * taken. */
static void test_a_strangers_message(void **state)
{
    static const char head_4097[] = "\x81\xfe\x10\x01\0\0\0\0";
    static const char head_4096[] = "\x01\xfe\x10\x00\0\0\0\0"; /* and one more follows */
    static char much[5000];
    struct scene scene;
    struct text in[4] = { { 0 } };
    int peers[4];

    (void)state;
    memset(much, 'x', sizeof much);
    scene_open(&scene, &patient);
    for (int i = 0; i < 4; i++)
        peers[i] = join(&scene, &in[i]);
    peer_send(peers[0], BYTES(head_4097));
    assert_true(peer_await(&scene.stage, peers[0], &in[0], "\x03\xf1"));
    assert_non_null(
        strstr(in[0].bytes + in[0].used - 60, "before hello a message has at most 4096"));
    peer_send(peers[1], BYTES(head_4096));
    peer_send(peers[1], much, 4096);
    peer_send(peers[1], BYTES("\x80\x81\0\0\0\0a"));
    assert_true(peer_await(&scene.stage, peers[1], &in[1], "\x03\xf1"));
    peer_send(peers[2], BYTES(head_4096));
    peer_send(peers[2], much, 4096);
    peer_send(peers[2], BYTES("\x80\x80\0\0\0\0"));
    while (scene.said.used < 4097)
        stage_turn(&scene.stage);
    ws_peer_know(scene.peers[3]);
    peer_send(peers[3], BYTES(head_4097));
    peer_send(peers[3], much, 4097);
    while (scene.said.used < 4097 + 4098)
        stage_turn(&scene.stage);
    for (int i = 0; i < 4; i++) {
        close(peers[i]);
        text_release(&in[i]);
    }
    scene_close(&scene);
}

/* What a stranger leaves unread is little: it is told to go, and is there until it has. */
static void test_a_stranger_who_does_not_read(void **state)
{
    static char much[4000];
    struct scene scene;
    struct text in[2] = { { 0 } };
    int peers[2];

    (void)state;
    memset(much, 'x', sizeof much);
    scene_open(&scene, &patient);
    for (int i = 0; i < 2; i++)
        peers[i] = join(&scene, &in[i]);
    for (int i = 0; i < 1000; i++) {
        ws_send(scene.peers[0], "short", 5);
        ws_send(scene.peers[1], much, sizeof much);
    }
    assert_in_range(scene.peers[0]->queued, 1, 20);
    assert_in_range(ws_peer_behind(scene.peers[1]), 4000, 20000);
    assert_int_equal(scene.closed, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(peer_await(&scene.stage, peers[i], &in[i], "\x03\xf0")); /* 1008 */
        close(peers[i]);
        text_release(&in[i]);
    }
    scene_close(&scene);
}

/* Of pings that came while a peer did not read only the newest is answered. */
static void test_unread_pongs(void **state)
{
    static char much[500000];
    struct scene scene;
    struct text in = { 0 };
    uint32_t queued;
    int peer;

    (void)state;
    memset(much, 'x', sizeof much);
    scene_open(&scene, &patient);
    peer = join(&scene, &in);
    ws_peer_know(scene.peers[0]);
    while (ws_peer_behind(scene.peers[0]) < 400000) {
        ws_send(scene.peers[0], much, sizeof much);
        stage_turn(&scene.stage);
    }
    queued = scene.peers[0]->queued;
    for (int i = 0; i < 1000; i++)
        peer_send(peer, BYTES("\x89\x80\0\0\0\0"));
    peer_send(peer, BYTES("\x89\x83\0\0\0\0end\x81\x81\0\0\0\0a"));
    while (scene.said.used < 2)
        stage_turn(&scene.stage);
    assert_in_range(scene.peers[0]->queued, 1, queued + 1);
    assert_true(peer_await(&scene.stage, peer, &in,
                           "\x8a\x03"
                           "end"));
    assert_int_equal(ws_peer_behind(scene.peers[0]), 0);
    close(peer);
    text_release(&in);
    scene_close(&scene);
}

/* Parts of messages count with heads and bodies; strangers have half of what there is. */
static void test_unfinished_messages_count(void **state)
{
    static const char half[] = "\x81\xfe\x0f\xa0\0\0\0\0"; /* 4000 bytes */
    static char much[3000];
    struct scene scene;
    struct text in[4] = { { 0 } };
    int peers[4];

    (void)state;
    memset(much, 'x', sizeof much);
    scene_open_for(&scene, &patient, 0, 10000);
    for (int i = 0; i < 4; i++)
        peers[i] = join(&scene, &in[i]);
    ws_peer_know(scene.peers[2]);
    for (int i = 0; i < 3; i++) {
        peer_send(peers[i], BYTES(half));
        peer_send(peers[i], much, sizeof much);
        stage_settle(&scene.stage);
    }
    assert_true(peer_await(&scene.stage, peers[1], &in[1], "\x03\xf5")); /* 1013 */
    assert_non_null(strstr(in[1].bytes + in[1].used - 40, "try again"));
    peer_send(peers[0], much, 1000); /* whole: what it took is free again */
    peer_send(peers[2], much, 1000);
    while (scene.said.used < 8002)
        stage_turn(&scene.stage);
    assert_int_equal(scene.stage.server->held_bytes, 0);
    peer_send(peers[3], BYTES(half));
    peer_send(peers[3], much, sizeof much);
    while (scene.stage.server->held_bytes != sizeof much)
        stage_turn(&scene.stage);
    close(peers[3]); /* and so is what was never finished */
    while (scene.stage.server->held_bytes != 0)
        stage_turn(&scene.stage);
    for (int i = 0; i < 4; i++) {
        if (i != 3)
            close(peers[i]);
        text_release(&in[i]);
    }
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello_limit),
        cmocka_unit_test(test_pings),
        cmocka_unit_test(test_a_pong_at_once),
        cmocka_unit_test(test_shared_frame),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_pause_and_places),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_a_strangers_message),
        cmocka_unit_test(test_a_stranger_who_does_not_read),
        cmocka_unit_test(test_unread_pongs),
        cmocka_unit_test(test_unfinished_messages_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
