/*
 * test_os_tcp.c - whose a port is, and who is at the other end of a connection over TCP.
 * Proves: R12.1 (who answers)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

static void test_who_listens(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    assert_int_equal(os_port_owner(ntohs(address.sin_port)), -1); /* bound, but not listening */
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(os_port_owner(ntohs(address.sin_port)), geteuid());
    close(fd);
    assert_int_equal(os_port_owner(ntohs(address.sin_port)), -1);
}

/* Both ends of a connection on loopback: ends[0] is ours, ends[1] the peer's. */
static void connect_ends(int ends[2])
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(ends[1], (struct sockaddr *)&address, size), 0);
    ends[0] = accept(listener, NULL, NULL);
    assert_true(ends[0] >= 0);
    close(listener);
}

/* "Not known" means another machine, so neither a peer that is gone nor a search that failed may
 * look like that. */
static void test_peers_over_tcp(void **state)
{
    const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    struct rlimit files, few;
    int64_t uid = 7, pid = 7;
    int ends[2];

    (void)state;
    connect_ends(ends);
    assert_true(os_tcp_peer_user(ends[0], &uid));
    assert_int_equal(uid, geteuid());
    assert_true(os_tcp_peer_process(ends[0], &uid, &pid));
    assert_int_equal(pid, getpid());
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    few = (struct rlimit){ .rlim_cur = 0, .rlim_max = files.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_true(os_tcp_peer_user(ends[0], &uid));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(uid, -1);
    assert_int_equal(setsockopt(ends[1], SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    close(ends[1]);
    uid = 7;
    assert_true(os_tcp_peer_user(ends[0], &uid));
    assert_int_equal(uid, -1);
    assert_false(os_tcp_peer_process(ends[0], &uid, &pid));
    close(ends[0]);
}

/* Who listens at the port that a peer came from is not that peer: a program of another machine may
 * choose its port. The peer's own socket is gone when its port can be bound again. */
static void test_a_listener_is_no_peer(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof address;
    int ends[2], one_second = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    int64_t uid = 7, pid = 7;

    (void)state;
    connect_ends(ends);
    assert_int_equal(getpeername(ends[0], (struct sockaddr *)&address, &size), 0);
    assert_int_equal(setsockopt(ends[1], IPPROTO_TCP, TCP_LINGER2, &one_second, sizeof one_second),
                     0);
    close(ends[1]);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    while (bind(listener, (struct sockaddr *)&address, size) != 0) {
        assert_int_equal(errno, EADDRINUSE);
        poll(NULL, 0, 10);
    }
    assert_int_equal(listen(listener, 1), 0);
    assert_true(os_tcp_peer_user(ends[0], &uid));
    assert_int_equal(uid, -1);
    assert_false(os_tcp_peer_process(ends[0], &uid, &pid));
    close(listener);
    close(ends[0]);
}

static int64_t process_behind(int socket_fd)
{
    int64_t uid, pid;

    assert_true(os_tcp_peer_process(socket_fd, &uid, &pid));
    return pid;
}

/* What was seen of one process is remembered, and is nothing about another's. */
static void test_several_processes(void **state)
{
    int ours[2], theirs[2][2], ready[2], go[2];
    char byte = 0;
    pid_t child;

    (void)state;
    connect_ends(ours);
    assert_int_equal(process_behind(ours[0]), getpid());
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    connect_ends(theirs[0]);
    connect_ends(theirs[1]);
    assert_int_equal(process_behind(theirs[0][0]), getpid());
    child = fork();
    if (child == 0) {
        close(ours[1]);
        _exit(write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(theirs[0][1]);
    close(theirs[1][1]);
    assert_int_equal(process_behind(theirs[0][0]), child);
    assert_int_equal(process_behind(theirs[1][0]), child);
    assert_int_equal(process_behind(ours[0]), getpid());
    assert_int_equal(write(go[1], "g", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (size_t i = 0; i < 2; i++) {
        close(theirs[i][0]);
        close(ours[i]);
        close(ready[i]);
        close(go[i]);
    }
}

static int links_read;

/* In place of libc's, which the program under test calls as well. */
ssize_t readlinkat(int directory, const char *path, char *out, size_t size)
{
    links_read++;
    return syscall(SYS_readlinkat, directory, path, out, size);
}

/* A client opens more connections while others of it wait: each is looked for among its own. */
static void test_many_connections(void **state)
{
    enum { WAITING = 300, MORE = 50 };
    int ends[WAITING + MORE][2], links_before;

    (void)state;
    for (size_t i = 0; i < WAITING; i++)
        connect_ends(ends[i]);
    assert_int_equal(process_behind(ends[WAITING - 1][0]), getpid());
    links_before = links_read;
    assert_true(links_before > WAITING);
    for (size_t i = WAITING; i < WAITING + MORE; i++) {
        connect_ends(ends[i]);
        assert_int_equal(process_behind(ends[i][0]), getpid());
    }
    assert_in_range(links_read - links_before, MORE, 3 * MORE);
    for (size_t i = 0; i < WAITING + MORE; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_listens),           cmocka_unit_test(test_peers_over_tcp),
        cmocka_unit_test(test_a_listener_is_no_peer), cmocka_unit_test(test_several_processes),
        cmocka_unit_test(test_many_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
