/*
 * test_http_times.c - slow peers, idle peers, many peers, and no descriptors left: with times made
 * short, on real sockets.
 * Proves: P20 R12.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "http_fixture.h"
#include "net/http_server.h"
#include "own_time.h"

#define HOST "Host: 127.0.0.1\r\n"
#define GET  "GET /echo HTTP/1.1\r\n" HOST "\r\n"

enum { LONG_MS = 60000 };
static const struct http_times patient = { LONG_MS, LONG_MS, LONG_MS, LONG_MS, LONG_MS,
                                           LONG_MS, LONG_MS, LONG_MS, LONG_MS };

/* The end of a peer that does nothing more, and how long it took since then. A busy machine only
 * makes that longer, so what must end sooner than another limit has that one patient. */
static int64_t await_end(struct stage *stage, int peer, struct text *in, int64_t began_ms)
{
    peer_await_end(stage, peer, in);
    close(peer);
    return loop_boot_ms() - began_ms;
}

static void test_slow_head(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient };
    struct text in = { 0 };
    int slow, good;

    (void)state;
    options.times.head_ms = 600;
    stage_open(&stage, &options);
    slow = peer_connect(&stage);
    good = peer_connect(&stage);
    peer_say(slow, "GET /echo HTTP/1.1\r\n");
    for (int64_t until_ms = loop_boot_ms() + 300; loop_boot_ms() < until_ms;) {
        peer_say(slow, "X"); /* progress does not help */
        stage_turn(&stage);
    }
    peer_say(good, GET);
    assert_true(peer_await(&stage, good, &in, "GET /echo|"));
    text_clear(&in);
    assert_true(await_end(&stage, slow, &in, loop_boot_ms()) < LONG_MS);
    assert_int_equal(peer_status(&in), 408);
    text_release(&in);
    close(good);
    stage_close(&stage);
}

static void test_slow_body(void **state)
{
    static const char head[] = "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n";
    struct stage stage;
    struct http_options options = { .times = patient };
    struct text in = { 0 };
    int64_t began_ms, took_ms;
    int slow, late, good;

    (void)state;
    options.times.body_grace_ms = 400;
    stage_open(&stage, &options);
    slow = peer_connect(&stage);
    peer_say(slow, head);
    peer_say(slow, "only a few bytes");
    assert_true(await_end(&stage, slow, &in, loop_boot_ms()) < LONG_MS); /* below 1 KiB/s */
    assert_int_equal(peer_status(&in), 408);
    text_clear(&in);
    stage.server->times.body_ms = 2500;
    began_ms = loop_boot_ms();
    late = peer_connect(&stage);
    peer_say(late, head);
    for (int i = 0; i < 480; i++)
        peer_say(late, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    time_set_rate(5);
    took_ms = await_end(&stage, late, &in, began_ms); /* fast enough for 60 s, never at its end */
    time_set_rate(1);
    assert_true(took_ms >= 2000 && took_ms < LONG_MS);
    assert_int_equal(peer_status(&in), 408);
    text_clear(&in);
    good = peer_connect(&stage);
    peer_say(good, GET);
    assert_true(peer_await(&stage, good, &in, "GET /echo|"));
    assert_int_equal(stage.served, 1);
    text_release(&in);
    close(good);
    stage_close(&stage);
}

static void test_idle(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient };
    struct text in = { 0 };
    int64_t began_ms = loop_boot_ms();
    int silent, used;

    (void)state;
    options.times.idle_ms = 300;
    stage_open(&stage, &options);
    silent = peer_connect(&stage);
    assert_true(await_end(&stage, silent, &in, began_ms) >= 200);
    assert_int_equal(in.used, 0);
    began_ms = loop_boot_ms();
    used = peer_connect(&stage);
    peer_say(used, GET);
    assert_true(peer_await(&stage, used, &in, "GET /echo|"));
    text_clear(&in);
    assert_true(await_end(&stage, used, &in, began_ms) >= 200);
    assert_int_equal(in.used, 0);
    text_release(&in);
    stage_close(&stage);
}

/* A peer that stops reading in the middle of a reply. */
/* Hundreds whose time is up in one moment go in several turns, so that no other peer waits long. */
static void test_many_at_once(void **state)
{
    enum { MANY = 300, A_TURN = 128 };
    struct stage stage;
    struct http_options options = { .times = patient };
    int peers[MANY];
    int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
    int64_t idle_ms = 40000; /* all are connected before the first is due, on a busy machine too */

    (void)state;
    options.times.idle_ms = idle_ms;
    stage_open(&stage, &options);
    for (int i = 0; i < MANY; i++)
        peers[i] = peer_connect(&stage);
    while (stage.server->count < MANY && loop_boot_ms() < until_ms)
        stage_turn(&stage);
    assert_int_equal(stage.server->count, MANY);
    time_skip(idle_ms + 100); /* the loop does not run until all are due */
    until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
    while (stage.server->count > 0 && loop_boot_ms() < until_ms) {
        size_t before = stage.server->count;

        stage_turn(&stage);
        assert_in_range(before - stage.server->count, 0, A_TURN);
    }
    assert_int_equal(stage.server->count, 0);
    for (int i = 0; i < MANY; i++)
        close(peers[i]);
    stage_close(&stage);
}

static void test_stall(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient };
    enum { LONG = 12000000 };
    char *body = mem_new(LONG);
    int peer;

    (void)state;
    options.times.stall_ms = 300;
    stage_open(&stage, &options);
    peer = peer_connect(&stage);
    peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    while (!stage.held)
        stage_turn(&stage);
    http_reply(stage.held, 200, NULL, body, LONG);
    for (int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS;
         !stage.lost && loop_boot_ms() < until_ms;)
        stage_turn(&stage);
    assert_int_equal(stage.lost, 1);
    assert_int_equal(http_server_peer_count(stage.server), 0);
    free(body);
    close(peer);
    stage_close(&stage);
}

/* A refused peer that goes on sending and never closes is let go all the same. */
/* A stream whose peer does not read is not beaten on; once it reads again the beat goes on. */
static void test_beat_behind_a_stall(void **state)
{
    enum { PIECE = 200000, PIECES = 200 };
    static char piece[PIECE];
    struct stage stage;
    struct http_options options = { .times = patient };
    const struct http_connection *connection;
    struct text in = { 0 };
    int peer;

    (void)state;
    memset(piece, 'x', sizeof piece);
    options.times.beat_ms = 100;
    stage_open(&stage, &options);
    peer = peer_connect(&stage);
    peer_say(peer, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    while (!stage.held)
        stage_turn(&stage);
    connection = stage.held->connection;
    sse_begin(stage.held);
    assert_true(peer_await(&stage, peer, &in, "keepalive"));
    assert_int_equal(connection->wait.kind, HTTP_WAIT_BEAT);
    for (int i = 0; i < PIECES && connection->wait.kind != HTTP_WAIT_STALL; i++) {
        sse_send(stage.held, NULL, NULL, piece, sizeof piece);
        stage_turn(&stage);
    }
    assert_int_equal(connection->wait.kind, HTTP_WAIT_STALL);
    sse_send(stage.held, NULL, NULL, "the last", 8);
    assert_true(peer_await(&stage, peer, &in, "the last"));
    assert_int_equal(connection->wait.kind, HTTP_WAIT_BEAT);
    text_clear(&in);
    assert_true(peer_await(&stage, peer, &in, "keepalive"));
    text_clear(&in);
    assert_true(peer_await(&stage, peer, &in, "keepalive"));
    http_end(stage.held);
    text_release(&in);
    close(peer);
    stage_close(&stage);
}

static void test_linger(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient };
    struct text in = { 0 };
    int peer;

    (void)state;
    options.times.linger_ms = 300;
    stage_open(&stage, &options);
    peer = peer_connect(&stage);
    peer_say(peer, "BREW / HTTP/1.1\r\n" HOST "\r\n");
    assert_true(peer_await_end(&stage, peer, &in));
    assert_int_equal(peer_status(&in), 501);
    for (int64_t until_ms = loop_boot_ms() + STAGE_PATIENCE_MS; loop_boot_ms() < until_ms;) {
        stage_turn(&stage);
        if (send(peer, "x", 1, MSG_NOSIGNAL) < 0)
            break;
    }
    assert_int_equal(send(peer, "x", 1, MSG_NOSIGNAL), -1);
    text_release(&in);
    close(peer);
    stage_close(&stage);
}

static int64_t cpu_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* A peer each of nearly every phase, and nothing to do: no wake-ups, no time spent. */
static void test_quiet(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient };
    int idle, half, held, ahead;
    int64_t began_ms;

    (void)state;
    stage_open(&stage, &options);
    idle = peer_connect(&stage);
    half = peer_connect(&stage);
    peer_say(half, "GET ");
    held = peer_connect(&stage);
    peer_say(held, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    ahead = peer_connect(&stage); /* has sent its next request, and ended its side */
    peer_say(ahead, "GET /hold HTTP/1.1\r\n" HOST "\r\n" GET);
    stage_settle(&stage);
    peer_say(ahead, GET);
    stage_settle(&stage);
    began_ms = cpu_ms();
    for (int64_t until_ms = loop_boot_ms() + 500; loop_boot_ms() < until_ms;) {
        struct timespec pause = { .tv_nsec = 1000000 };

        uv_run(loop_uv(stage.loop), UV_RUN_NOWAIT);
        nanosleep(&pause, NULL);
    }
    assert_true(cpu_ms() - began_ms < 250);
    assert_int_equal(uv_backend_timeout(loop_uv(stage.loop)), -1);
    close(idle);
    close(half);
    close(held);
    close(ahead);
    stage_close(&stage);
}

/* What a peer that only sits there costs us. */
static void test_size(void **state)
{
    (void)state;
    assert_true(sizeof(struct http_connection) <= 120);
    assert_true(sizeof(struct http_exchange) <= 48);
}

/* Few places: the oldest stranger that waits for nothing goes; who showed a token stays. */
static void test_places(void **state)
{
    struct stage stage;
    struct http_options options = { .times = patient, .max_connections = 8 };
    struct text in = { 0 };
    int known, held[6], strangers[20];

    (void)state;
    stage_open(&stage, &options);
    stage.recognises = true;
    known = peer_connect(&stage);
    peer_say(known, "GET /echo HTTP/1.1\r\n" HOST "Authorization: a\r\n\r\n");
    assert_true(peer_await(&stage, known, &in, "GET /echo|"));
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++)
        strangers[i] = peer_connect(&stage);
    text_clear(&in);
    assert_true(peer_await_end(&stage, strangers[0], &in));
    assert_int_equal(peer_status(&in), 503);
    text_clear(&in);
    peer_say(strangers[19], GET);
    assert_true(peer_await(&stage, strangers[19], &in, "GET /echo|"));
    text_clear(&in);
    peer_say(known, GET);
    assert_true(peer_await(&stage, known, &in, "GET /echo|"));
    text_clear(&in);
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++)
        close(strangers[i]);
    stage_settle(&stage);
    for (size_t i = 0; i < ARRAY_LEN(held); i++) { /* two places are kept for tokens */
        held[i] = peer_connect(&stage);
        peer_say(held[i], "GET /hold HTTP/1.1\r\n" HOST "\r\n");
        stage_settle(&stage);
    }
    assert_int_equal(http_server_peer_count(stage.server), 6);
    strangers[0] = peer_connect(&stage);
    peer_say(strangers[0], GET);
    assert_true(peer_await_end(&stage, strangers[0], &in));
    assert_int_equal(peer_status(&in), 503);
    close(strangers[0]);
    text_clear(&in);
    strangers[0] = peer_connect(&stage);
    peer_say(strangers[0], "GET /echo HTTP/1.1\r\n" HOST "Authorization: a\r\n\r\n");
    assert_true(peer_await(&stage, strangers[0], &in, "GET /echo|"));
    close(strangers[0]);
    close(known);
    for (size_t i = 0; i < ARRAY_LEN(held); i++)
        close(held[i]);
    text_release(&in);
    stage_close(&stage);
}

static void limit_files(rlim_t max)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = max < files.rlim_max ? max : files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

/* In a process of its own, since descriptors of peers would count too: connects and stays. */
static pid_t start_crowd(int port, int many)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    limit_files(4096);
    for (int i = 0; i < many; i++) {
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
        int peer = socket(AF_INET, SOCK_STREAM, 0);

        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0)
            _exit(1);
    }
    alarm(60); /* should the test not end us */
    pause();
    _exit(0);
}

static int open_all(int *fds)
{
    int count = 0;

    while ((fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    assert_int_equal(errno, EMFILE);
    return count;
}

static void close_all(const int *fds, int count)
{
    while (count > 0)
        close(fds[--count]);
}

/* 2,000 idle peers where 256 files may be open: one who asks is served with less than a second of
 * our time, and none is burnt. Then without a single descriptor left. */
static void test_crowd(void **state)
{
    struct stage stage;
    struct text in = { 0 };
    struct rlimit before;
    int64_t began_ms, cpu_began_ms;
    int peer, hoard[256], hoarded;
    pid_t crowd;

    (void)state;
    if (getenv("SAYSO_VALGRIND")) /* which answers setrlimit itself, and otherwise */
        skip();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit_files(256);
    stage_open(&stage, &(struct http_options){ .times = patient });
    crowd = start_crowd(http_server_port(stage.server), 2000);
    cpu_began_ms = cpu_ms();
    began_ms = loop_boot_ms();
    for (int i = 0; i < 5; i++) {
        int64_t asked_cpu_ms;

        while (loop_boot_ms() < began_ms + 300 * i)
            stage_turn(&stage);
        asked_cpu_ms = cpu_ms();
        peer = peer_connect(&stage);
        peer_say(peer, GET);
        assert_true(peer_await(&stage, peer, &in, "GET /echo|"));
        assert_true(cpu_ms() - asked_cpu_ms < 1000);
        text_clear(&in);
        close(peer);
    }
    stage_settle(&stage);
    peer = peer_connect(&stage);
    hoarded = open_all(hoard);
    cpu_began_ms = cpu_ms();
    peer_say(peer, GET); /* an idle stranger makes room */
    assert_true(peer_await(&stage, peer, &in, "GET /echo|"));
    for (int64_t until_ms = loop_boot_ms() + 500; loop_boot_ms() < until_ms;)
        stage_turn(&stage);
    assert_true(cpu_ms() - cpu_began_ms < 250);
    kill(crowd, SIGKILL);
    waitpid(crowd, NULL, 0);
    text_clear(&in);
    close_all(hoard, hoarded);
    close(peer);
    peer = peer_connect(&stage);
    peer_say(peer, GET);
    assert_true(peer_await(&stage, peer, &in, "GET /echo|"));
    close(peer);
    text_release(&in);
    stage_close(&stage);
    limit_files(before.rlim_cur);
}

/* No idle peer to close, and no descriptor: each newcomer is refused, and the loop doesn't spin. */
static void test_no_descriptor(void **state)
{
    struct stage stage;
    struct text in = { 0 };
    struct rlimit before;
    int64_t cpu_began_ms;
    int held, peers[3], hoard[256], hoarded;

    (void)state;
    if (getenv("SAYSO_VALGRIND")) /* as above */
        skip();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit_files(256);
    stage_open(&stage, &(struct http_options){ .times = patient });
    held = peer_connect(&stage);
    peer_say(held, "GET /hold HTTP/1.1\r\n" HOST "\r\n");
    while (!stage.held)
        stage_turn(&stage);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        peers[i] = peer_connect(&stage);
    hoarded = open_all(hoard);
    cpu_began_ms = cpu_ms();
    for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
        text_clear(&in);
        assert_true(peer_await_end(&stage, peers[i], &in));
        assert_int_equal(peer_status(&in), 503);
    }
    for (int64_t until_ms = loop_boot_ms() + 300; loop_boot_ms() < until_ms;)
        stage_turn(&stage);
    assert_true(cpu_ms() - cpu_began_ms < 250);
    http_reply(stage.held, 200, "text/plain", "still here", 10);
    assert_true(peer_await(&stage, held, &in, "still here"));
    close_all(hoard, hoarded);
    for (size_t i = 0; i < ARRAY_LEN(peers); i++)
        close(peers[i]);
    close(held);
    text_release(&in);
    stage_close(&stage);
    limit_files(before.rlim_cur);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_head),    cmocka_unit_test(test_slow_body),
        cmocka_unit_test(test_idle),         cmocka_unit_test(test_stall),
        cmocka_unit_test(test_linger),       cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_size),         cmocka_unit_test(test_places),
        cmocka_unit_test(test_crowd),        cmocka_unit_test(test_no_descriptor),
        cmocka_unit_test(test_many_at_once), cmocka_unit_test(test_beat_behind_a_stall),
    };

    return cmocka_run_group_tests_name("http_times", tests, NULL, NULL);
}
