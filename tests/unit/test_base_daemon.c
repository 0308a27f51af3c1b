/*
 * test_base_daemon.c - starting a process that outlives us and shares nothing with us.
 * Proves: R14.4, C6
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "files_fixture.h"

/* What the daemon wrote, once it is there. */
static void read_soon(const char *path, struct text *out)
{
    struct error err;

    for (int i = 0; i < 500; i++) {
        text_clear(out);
        if (os_read_file(path, 65536, out, &err) && out->used && strstr(out->bytes, "end"))
            return;
        usleep(10000);
    }
    fail_msg("%s never came", path);
}

static bool start_daemon(const char *program, const char *const *arguments, const char *log_path,
                         const char *const *names, int limit_ms, struct error *err)
{
    struct os_daemon_words words = { 0 };
    enum os_daemon said = OS_DAEMON_STARTING;
    struct pollfd ready = { .events = POLLIN };

    ready.fd = os_begin_daemon(program, arguments, log_path, names, err);
    if (ready.fd < 0)
        return false;
    while (said == OS_DAEMON_STARTING && poll(&ready, 1, limit_ms) == 1)
        said = os_hear_daemon(ready.fd, &words);
    close(ready.fd);
    return said == OS_DAEMON_READY || os_blame_daemon(&words, log_path, err);
}

static void test_a_daemon(void **state)
{
    static const char *const names[] = { "PATH", "SAYSO_TEST_KEPT", "SAYSO_TEST_MISSING", NULL };
    struct place *place = *state;
    char *script = mem_format("exec > '%s'; pwd; umask; echo kept=$SAYSO_TEST_KEPT "
                              "secret=$SAYSO_TEST_SECRET fd=$SAYSO_READY_FD; "
                              "ls /proc/$$/fd | tr '\\n' ' '; echo said >&2; echo end; "
                              "printf r >&3",
                              at(place, "said"));
    const char *const arguments[] = { "sh", "-c", script, NULL };
    struct text said = { 0 };
    struct error err = { 0 };
    int extra = open("/dev/null", O_RDONLY); /* not close-on-exec, and not the daemon's business */

    setenv("SAYSO_TEST_KEPT", "yes", 1);
    setenv("SAYSO_TEST_SECRET", "no", 1);
    if (!start_daemon("/bin/sh", arguments, at(place, "log"), names, 5000, &err))
        fail_msg("%s", err.message);
    read_soon(at(place, "said"), &said);
    assert_ptr_equal(strstr(said.bytes, "/\n"), said.bytes);
    assert_non_null(strstr(said.bytes, "0077\n"));
    assert_non_null(strstr(said.bytes, "kept=yes secret= fd=3\n"));
    assert_non_null(strstr(said.bytes, "0 1 2 3 "));
    assert_content(at(place, "log"), "said\n");
    assert_int_equal(mode_of(at(place, "log")), 0600);
    close(extra);
    text_release(&said);
    free(script);
}

static void test_a_daemon_that_does_not_start(void **state)
{
    static const char *const names[] = { NULL };
    static const char *const dies[] = { "sh", "-c", "echo sorry; exit 1", NULL };
    static const char *const hangs[] = { "sh", "-c", "exec sleep 2", NULL };
    struct place *place = *state;
    struct error err = { 0 };

    assert_false(start_daemon("/bin/sh", dies, at(place, "log"), names, 5000, &err));
    assert_int_equal(err.code, ERROR_unavailable);
    assert_non_null(strstr(err.message, "log"));
    assert_content(at(place, "log"), "sorry\n");
    assert_false(start_daemon("/no/such/program", dies, at(place, "log"), names, 5000, &err));
    assert_false(start_daemon("/bin/sh", hangs, at(place, "log"), names, 50, &err));
    assert_int_equal(err.code, ERROR_unavailable);
    assert_false(start_daemon("/bin/sh", dies, at(place, "no/log"), names, 5000, &err));
    assert_non_null(strstr(err.message, "can't write"));
}

static void test_a_long_log_is_put_aside(void **state)
{
    static const char *const names[] = { NULL };
    static const char *const ready[] = { "sh", "-c", "echo new; printf r >&3", NULL };
    struct place *place = *state;
    struct error err = { 0 };
    struct stat found;

    assert_true(os_write_file(at(place, "log"), "", 0, &err));
    assert_int_equal(truncate(at(place, "log"), 1048576 + 1), 0);
    assert_true(start_daemon("/bin/sh", ready, at(place, "log"), names, 5000, &err));
    assert_int_equal(stat(at(place, "log.1"), &found), 0);
    assert_int_equal(found.st_size, 1048576 + 1);
    assert_content(at(place, "log"), "new\n");
}

/* Only where a daemon's starter left its pipe. */
static void test_telling_ready(void **state)
{
    static const char *const values[] = { "3", "4", "", NULL };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        int ends[2], status;
        char byte = 0;
        pid_t child;

        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (child == 0) {
            if (ends[1] != 3) {
                dup2(ends[1], 3);
                close(ends[1]);
            }
            unsetenv("SAYSO_READY_FD");
            if (values[i])
                setenv("SAYSO_READY_FD", values[i], 1);
            os_tell_starter(NULL);
            os_tell_starter(NULL); /* once is enough */
            _exit(values[i] && strcmp(values[i], "3") == 0 && getenv("SAYSO_READY_FD") ? 1 : 0);
        }
        close(ends[1]);
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
        assert_int_equal(read(ends[0], &byte, 1), i == 0);
        assert_int_equal(read(ends[0], &byte, 1), 0);
        close(ends[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_daemon),
        CASE(test_a_daemon_that_does_not_start),
        CASE(test_a_long_log_is_put_aside),
        cmocka_unit_test(test_telling_ready),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
