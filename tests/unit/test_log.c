/*
 * test_log.c - the lines of a log, and that it stays short.
 * Proves: R12.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>

#include "base/log.h"
#include "files_fixture.h"

enum { LINES = 15000, LINE_MAX_BYTES = 300 }; /* about 1.5 MB */

static off_t size_of(const char *path)
{
    struct stat found;

    return stat(path, &found) == 0 ? found.st_size : -1;
}

/* Runs `write` with stderr in the file, and puts stderr back. */
static void with_stderr_in(const char *path, void (*write)(const char *path))
{
    int before = dup(STDERR_FILENO), out = dup(STDOUT_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    assert_true(before >= 0 && out >= 0 && fd >= 0);
    dup2(fd, STDERR_FILENO);
    close(fd);
    write(path);
    dup2(before, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    close(before);
    close(out);
    log_keep_short("/nowhere");
}

static void write_lines(const char *path)
{
    log_keep_short(path);
    for (int i = 0; i < LINES; i++)
        log_info("test.line", "number=%d", i);
}

static void write_lines_of_another(const char *path)
{
    char *other = mem_format("%s.other", path);
    struct error err;

    assert_true(os_write_file(other, "", 0, &err));
    log_keep_short(other); /* stderr is a file of the caller's: not ours to move */
    for (int i = 0; i < LINES; i++)
        log_info("test.line", "number=%d", i);
    free(other);
}

static void test_a_log_is_put_aside_when_full(void **state)
{
    struct place *place = *state;
    struct text bytes = { 0 };
    struct error err;
    const char *log = at(place, "log"), *old = at(place, "log.1");

    with_stderr_in(log, write_lines);
    assert_in_range(size_of(log), 1, OS_LOG_BYTES);
    assert_in_range(size_of(old), OS_LOG_BYTES - LINE_MAX_BYTES, OS_LOG_BYTES);
    assert_int_equal(mode_of(log), 0600);
    assert_int_equal(mode_of(old), 0600);
    assert_true(os_read_file(log, OS_LOG_BYTES, &bytes, &err));
    assert_non_null(strstr(bytes.bytes, "\"number\":\"14999\"}\n"));
    assert_ptr_equal(strstr(bytes.bytes, "{\"time\""), bytes.bytes); /* whole lines */
    text_release(&bytes);
    with_stderr_in(log, write_lines); /* the old one gives way to the next */
    assert_in_range(size_of(log), 1, OS_LOG_BYTES);
    assert_in_range(size_of(old), OS_LOG_BYTES - LINE_MAX_BYTES, OS_LOG_BYTES);
}

static void test_somebody_elses_file_is_left_alone(void **state)
{
    struct place *place = *state;

    with_stderr_in(at(place, "log"), write_lines_of_another);
    assert_true(size_of(at(place, "log")) > OS_LOG_BYTES);
    assert_int_equal(size_of(at(place, "log.1")), -1);
    assert_int_equal(size_of(at(place, "log.other.1")), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_log_is_put_aside_when_full),
        CASE(test_somebody_elses_file_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
