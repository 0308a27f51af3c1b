/*
 * test_base_manager.c - a service manager's socket and what it is told.
 * Proves: R10.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "files_fixture.h"

enum { PATH_BYTES = 101, PASSED_FD = 3 };

static int bound_socket(int type, const char *name, bool is_abstract)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, type, 0);
    size_t length = strlen(name);

    memcpy(address.sun_path, name, length);
    if (is_abstract)
        address.sun_path[0] = '\0';
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    return fd;
}

static void expect_told(int fd, const char *wanted)
{
    char said[64] = "";

    assert_int_equal(recv(fd, said, sizeof said - 1, MSG_DONTWAIT), (ssize_t)strlen(wanted));
    assert_string_equal(said, wanted);
}

static void test_telling(void **state)
{
    struct place *place = *state;
    char abstract[64];
    int by_path = bound_socket(SOCK_DGRAM, at(place, "told"), false), by_name;

    snprintf(abstract, sizeof abstract, "@%s", at(place, "told"));
    by_name = bound_socket(SOCK_DGRAM, abstract, true);
    setenv("NOTIFY_SOCKET", at(place, "told"), 1);
    assert_true(os_tell_manager("READY=1"));
    expect_told(by_path, "READY=1");
    setenv("NOTIFY_SOCKET", abstract, 1);
    assert_true(os_tell_manager("STOPPING=1"));
    expect_told(by_name, "STOPPING=1");
    assert_int_equal(recv(by_path, abstract, 1, MSG_DONTWAIT), -1);
    close(by_path);
    close(by_name);
    unsetenv("NOTIFY_SOCKET");
}

static void test_nobody_to_tell(void **state)
{
    static const char *const odd[] = { "", "/", "@", "relative", "vsock:2:1", "/there/is/none" };
    char longest[200];

    (void)state;
    unsetenv("NOTIFY_SOCKET");
    assert_false(os_tell_manager("READY=1"));
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        setenv("NOTIFY_SOCKET", odd[i], 1);
        assert_false(os_tell_manager("READY=1"));
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    setenv("NOTIFY_SOCKET", longest, 1);
    assert_false(os_tell_manager("READY=1"));
    unsetenv("NOTIFY_SOCKET");
}

enum verdict { TAKEN, NONE, REFUSED, WRONG };

/* In a process of its own: `fd` becomes descriptor 3, as a manager passes it. */
static enum verdict pass(int fd, const char *pid, const char *count, const char *wanted_path)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        char path[PATH_BYTES] = "", own[24];
        struct error err = { 0 };
        int passed = -2;
        bool ok;

        snprintf(own, sizeof own, "%ld", (long)getpid());
        setenv("LISTEN_PID", pid ? pid : own, 1);
        setenv("LISTEN_FDS", count, 1);
        setenv("LISTEN_FDNAMES", "hub", 1);
        if (fd < 0)
            close(PASSED_FD);
        else if (fd != PASSED_FD)
            dup2(fd, PASSED_FD);
        ok = os_passed_socket(&passed, path, sizeof path, &err);
        if (getenv("LISTEN_PID") || getenv("LISTEN_FDS") || getenv("LISTEN_FDNAMES"))
            _exit(WRONG);
        if (!ok)
            _exit(passed == -1 && strstr(err.message, "ListenStream=") ? REFUSED : WRONG);
        if (passed == -1)
            _exit(NONE);
        _exit(passed == PASSED_FD && strcmp(path, wanted_path) == 0 &&
                      (fcntl(passed, F_GETFD) & FD_CLOEXEC)
                  ? TAKEN
                  : WRONG);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (enum verdict)WEXITSTATUS(status);
}

static void test_a_passed_socket(void **state)
{
    struct place *place = *state;
    const char *path = at(place, "hub");
    int listening = bound_socket(SOCK_STREAM, path, false);

    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(pass(listening, NULL, "1", path), TAKEN);
    assert_int_equal(pass(listening, "1", "1", path), NONE); /* another process's */
    assert_int_equal(pass(listening, "", "1", path), NONE);
    assert_int_equal(pass(listening, NULL, "0", path), NONE);
    assert_int_equal(pass(listening, NULL, "many", path), NONE);
    assert_int_equal(pass(listening, NULL, "2", path), REFUSED);
    assert_int_equal(pass(listening, NULL, "-1", path), REFUSED);
    close(listening);
}

static void test_what_is_no_listening_socket(void **state)
{
    struct place *place = *state;
    int deaf = bound_socket(SOCK_STREAM, at(place, "deaf"), false);
    int datagrams = bound_socket(SOCK_DGRAM, at(place, "datagrams"), false);
    int network = socket(AF_INET, SOCK_STREAM, 0), pair[2], file = open("/dev/null", O_RDONLY);
    char name[64];
    int nameless;

    snprintf(name, sizeof name, "@%s", at(place, "name"));
    nameless = bound_socket(SOCK_STREAM, name, true);
    assert_int_equal(listen(nameless, 1), 0);
    assert_int_equal(listen(network, 1), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(pass(deaf, NULL, "1", ""), REFUSED);
    assert_int_equal(pass(datagrams, NULL, "1", ""), REFUSED);
    assert_int_equal(pass(network, NULL, "1", ""), REFUSED);
    assert_int_equal(pass(pair[0], NULL, "1", ""), REFUSED);
    assert_int_equal(pass(file, NULL, "1", ""), REFUSED);
    assert_int_equal(pass(nameless, NULL, "1", ""), REFUSED);
    assert_int_equal(pass(-1, NULL, "1", ""), REFUSED);
    close(deaf);
    close(datagrams);
    close(network);
    close(nameless);
    close(pair[0]);
    close(pair[1]);
    close(file);
}

static void test_turning_away(void **state)
{
    struct place *place = *state;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int listening = bound_socket(SOCK_STREAM, at(place, "hub"), false), peers[3];
    char byte;

    assert_int_equal(listen(listening, 5), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", at(place, "hub"));
    for (size_t i = 0; i < 3; i++) {
        peers[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(peers[i], (struct sockaddr *)&address, sizeof address), 0);
    }
    os_turn_away(listening);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(recv(peers[i], &byte, 1, MSG_DONTWAIT), 0); /* an end, not a wait */
        close(peers[i]);
    }
    os_turn_away(listening); /* no client is waiting: it returns without one */
    close(listening);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_telling),         cmocka_unit_test(test_nobody_to_tell),
        CASE(test_a_passed_socket), CASE(test_what_is_no_listening_socket),
        CASE(test_turning_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
