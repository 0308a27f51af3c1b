/*
 * test_websocket.c - frames to messages, and peers with their time-outs made short: silence, pings
 * that nobody answers, readers that do not read, one message shared by many.
 * Proves: P19 R7.2 R12.1
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

#include "base/mem.h"
#include "base/text.h"
#include "crypto/accept_key.h"
#include "http_fixture.h"
#include "loop/loop.h"
#include "net/websocket.h"
#include "net/ws_inside.h"

#define BYTES(text) text, sizeof(text) - 1

/* The parser ----------------------------------------------------------------------------------- */

struct parsed {
    struct text told; /* "opcode:bytes|" a piece */
    int code;         /* 0: it wants more */
};

static void parse(struct parsed *parsed, const char *bytes, size_t length, size_t step)
{
    struct ws_parser parser = { 0 };
    char *own = mem_text_n(bytes, length);

    *parsed = (struct parsed){ 0 };
    for (size_t at = 0; at < length && !parsed->code;) {
        struct ws_piece piece;
        size_t used, part = step < length - at ? step : length - at;
        enum ws_outcome outcome = ws_parse(&parser, own + at, part, &used, &piece);

        at += used;
        if (outcome == WS_FAILED)
            parsed->code = piece.code;
        if (outcome == WS_HAS_PIECE) {
            text_add_format(&parsed->told, "%d:", piece.opcode);
            text_add(&parsed->told, piece.bytes, piece.length);
            text_add_char(&parsed->told, '|');
        }
    }
    if (!parsed->code)
        assert_int_equal(ws_parser_is_idle(&parser),
                         length > 0 && !parser.is_open && parser.head_used == 0);
    ws_parser_release(&parser);
    assert_true(ws_parser_is_idle(&parser));
    free(own);
}

static const struct {
    const char *name, *bytes;
    size_t length;
    const char *told;
    int code;
} cases[] = {
    { "text", BYTES("\x81\x82\0\0\0\0hi"), "1:hi|", 0 },
    { "masked", BYTES("\x81\x82\x01\x02\x03\x04\x69\x6b"), "1:hi|", 0 },
    { "empty", BYTES("\x81\x80\0\0\0\0"), "1:|", 0 },
    { "two", BYTES("\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b"), "1:a|1:b|", 0 },
    { "fragments", BYTES("\x01\x81\0\0\0\0a\x00\x81\0\0\0\0b\x80\x81\0\0\0\0c"), "1:abc|", 0 },
    { "ping between", BYTES("\x01\x81\0\0\0\0a\x89\x81\0\0\0\0!\x80\x81\0\0\0\0c"), "9:!|1:ac|",
      0 },
    { "code point in two", BYTES("\x01\x81\0\0\0\0\xce\x80\x81\0\0\0\0\xba"), "1:\xce\xba|", 0 },
    { "close",
      BYTES("\x88\x85\0\0\0\0\x03\xe8"
            "bye"),
      "8:bye|", 0 },
    { "half", BYTES("\x81\x85\0\0\0\0he"), "", 0 },
    { "unmasked", BYTES("\x81\x02hi"), "", 1002 },
    { "reserved bit", BYTES("\xc1\x80\0\0\0\0"), "", 1002 },
    { "opcode", BYTES("\x83\x80\0\0\0\0"), "", 1002 },
    { "nothing to continue", BYTES("\x80\x80\0\0\0\0"), "", 1002 },
    { "within another", BYTES("\x01\x81\0\0\0\0a\x81\x81\0\0\0\0b"), "", 1002 },
    { "ping in parts", BYTES("\x09\x80\0\0\0\0"), "", 1002 },
    { "ping too long", BYTES("\x89\xfe\0\x7e\0\0\0\0"), "", 1002 },
    { "length not the shortest", BYTES("\x81\xfe\0\x05\0\0\0\0hello"), "", 1002 },
    { "binary", BYTES("\x82\x81\0\0\0\0a"), "", 1003 },
    { "not UTF-8", BYTES("\x81\x82\0\0\0\0\xc3("), "", 1007 },
    { "UTF-8 that ends early", BYTES("\x81\x81\0\0\0\0\xc3"), "", 1007 },
    { "one byte of a code", BYTES("\x88\x81\0\0\0\0\x03"), "", 1002 },
    { "code 1005", BYTES("\x88\x82\0\0\0\0\x03\xed"), "", 1002 },
    { "reason not UTF-8", BYTES("\x88\x83\0\0\0\0\x03\xe8\xff"), "", 1007 },
    { "256 MiB to come", BYTES("\x81\xff\0\0\0\0\x10\0\0\0\0\0\0\0"), "", 1009 },
};

static void test_parser(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step <= cases[i].length; step++) {
            struct parsed parsed;

            parse(&parsed, cases[i].bytes, cases[i].length, step);
            if (strcmp(text_string(&parsed.told), cases[i].told) != 0 ||
                parsed.code != cases[i].code)
                fail_msg("%s, %zu at a time: %d %s", cases[i].name, step, parsed.code,
                         text_string(&parsed.told));
            text_release(&parsed.told);
        }
    }
}

static void test_heads(void **state)
{
    static const struct {
        size_t length, head;
        const char *bytes;
    } rows[] = {
        { 0, 2, "\x81\x00" },
        { 125, 2, "\x81\x7d" },
        { 126, 4, "\x81\x7e\x00\x7e" },
        { 65535, 4, "\x81\x7e\xff\xff" },
        { 65536, 10, "\x81\x7f\0\0\0\0\0\x01\0\0" },
    };
    char accept[ACCEPT_KEY_BYTES];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t head[10];

        assert_int_equal(ws_write_head(WS_TEXT, rows[i].length, head), rows[i].head);
        assert_memory_equal(head, rows[i].bytes, rows[i].head);
    }
    accept_key("dGhlIHNhbXBsZSBub25jZQ==", accept); /* RFC 6455 1.3 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

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

static void scene_open_for(struct scene *scene, const struct ws_times *times, size_t strangers)
{
    struct http_options http = { .handler = { .context = scene,
                                              .admit = admit_all,
                                              .serve = serve_socket,
                                              .taken = take,
                                              .taken_context = scene } };
    struct ws_options options = {
        .handler = { scene, on_opened, on_message, on_drained, on_closed },
        .times = *times,
        .most_peers = 4,
        .most_strangers = strangers,
    };

    *scene = (struct scene){ 0 };
    stage_open(&scene->stage, &http);
    options.loop = scene->stage.loop;
    scene->server = ws_server_new(&options);
    scene->turn = loop_turn_new(scene->stage.loop, flush, scene);
}

static void scene_open(struct scene *scene, const struct ws_times *times)
{
    scene_open_for(scene, times, 0);
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

static void test_hello_limit(void **state)
{
    struct ws_times times = patient;
    struct scene scene;
    struct text silent = { 0 }, known = { 0 };
    int first, second;

    (void)state;
    times.hello_ms = 200;
    scene_open(&scene, &times);
    first = join(&scene, &silent);
    second = join(&scene, &known);
    ws_peer_know(scene.peers[1]);
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
    struct ws_times times = patient;
    struct scene scene;
    struct text good = { 0 }, dead = { 0 };
    int answers, sleeps;

    (void)state;
    times.quiet_ms = 150;
    times.pong_ms = 300;
    scene_open(&scene, &times);
    answers = join(&scene, &good);
    sleeps = join(&scene, &dead);
    ws_peer_know(scene.peers[0]);
    ws_peer_know(scene.peers[1]);
    for (int round = 0; round < 4; round++) {
        struct text ping = { 0 };

        assert_true(peer_await(&scene.stage, answers, &ping, "\x89"));
        peer_send(answers, BYTES("\x8a\x80\0\0\0\0"));
        text_release(&ping);
    }
    peer_await_end(&scene.stage, sleeps, &dead); /* it was asked, and said nothing */
    assert_int_equal(scene.closed, 1);
    close(answers);
    close(sleeps);
    text_release(&good);
    text_release(&dead);
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
    struct ws_times times = patient;
    struct scene scene;
    struct text slow = { 0 }, quick = { 0 };
    int slowness = getenv("SAYSO_VALGRIND") ? 20 : 1; /* a peer must not end before it is filled */
    char *large = mem_new(500000);
    struct ws_frame *frame;
    int stuck, reads;

    (void)state;
    memset(large, 'x', 500000);
    frame = ws_frame_new(large, 500000);
    times.quiet_ms = 100 * slowness;
    times.pong_ms = 100 * slowness;
    times.stall_ms = 400 * slowness;
    scene_open(&scene, &times);
    stuck = join(&scene, &slow);
    reads = join(&scene, &quick);
    ws_peer_know(scene.peers[0]);
    ws_peer_know(scene.peers[1]);
    for (int i = 0; i < 40; i++) {
        ws_send_frame(scene.peers[0], frame);
        stage_turn(&scene.stage);
    }
    assert_true(ws_peer_behind(scene.peers[0]) > 1000000);
    while (scene.closed == 0) {
        peer_send(reads, BYTES("\x8a\x80\0\0\0\0"));
        peer_send(stuck, BYTES("\x8a\x80\0\0\0\0")); /* it talks, and does not listen */
        usleep(5000);
        stage_turn(&scene.stage);
    }
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
    scene_open_for(&scene, &patient, 2);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parser),           cmocka_unit_test(test_heads),
        cmocka_unit_test(test_hello_limit),      cmocka_unit_test(test_pings),
        cmocka_unit_test(test_shared_frame),     cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_pause_and_places), cmocka_unit_test(test_strangers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
