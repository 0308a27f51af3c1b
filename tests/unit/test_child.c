/*
 * test_child.c - programs beside the loop: what they get, how they end, and that none is left.
 * Proves: R6.6 (a program that hangs delays nothing)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/loop.h"

struct heard {
    struct loop *loop;
    int count, status;
};

static void on_done(void *context, int status)
{
    struct heard *heard = context;

    heard->count++;
    heard->status = status;
    loop_stop(heard->loop);
}

static int run(const char *script, const char *input, int64_t limit_ms)
{
    const char *const words[] = { "/bin/sh", "-c", script, NULL };
    const char *const variables[] = { "PATH=/usr/bin:/bin", "WORD=seen", NULL };
    struct heard heard = { .loop = loop_new(), .status = -2 };
    const struct child_plan plan = {
        .arguments = words,
        .environment = variables,
        .input = input,
        .input_length = strlen(input),
        .limit_ms = limit_ms,
        .done = on_done,
        .context = &heard,
    };

    child_start(heard.loop, &plan);
    assert_int_equal(heard.count, 0); /* told from the loop */
    loop_run(heard.loop);
    assert_int_equal(heard.count, 1);
    loop_free(heard.loop);
    return heard.status;
}

static void test_what_it_gets_and_how_it_ends(void **state)
{
    size_t length = 1000000;
    char *big = malloc(length + 1);

    (void)state;
    memset(big, 'x', length);
    big[length] = '\0';
    assert_int_equal(run("exit 7", "", 20000), 7);
    assert_int_equal(
        run("test \"$(cat)\" = words && test $WORD = seen && test -z \"$HOME\"", "words", 20000),
        0);
    assert_int_equal(run("test $(wc -c) -eq 1000000", big, 20000), 0);
    assert_int_equal(run("exit 0", big, 20000), 0); /* it need not read */
    assert_int_equal(run("kill -TERM $$", "", 20000), 128 + SIGTERM);
    free(big);
}

static void test_one_that_hangs_is_killed_with_its_children(void **state)
{
    char path[] = "/tmp/sayso-child-XXXXXX", script[200];
    int fd = mkstemp(path);
    FILE *file;
    int pid = 0;

    (void)state;
    assert_true(fd >= 0);
    snprintf(script, sizeof script, "sleep 300 & echo $! >%s; wait", path);
    assert_int_equal(run(script, "", 1000), 128 + SIGKILL);
    file = fdopen(fd, "r");
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    for (int i = 0; i < 1000 && kill(pid, 0) == 0; i++)
        usleep(10000);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    fclose(file);
    unlink(path);
}

static void test_one_that_is_not_there(void **state)
{
    const char *const words[] = { "/nowhere/at/all", NULL };
    const char *const variables[] = { NULL };
    struct heard heard = { .loop = loop_new() };
    const struct child_plan plan = { .arguments = words,
                                     .environment = variables,
                                     .input = "",
                                     .limit_ms = 1000,
                                     .done = on_done,
                                     .context = &heard };

    (void)state;
    child_start(heard.loop, &plan);
    loop_run(heard.loop);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.status, -1);
    loop_free(heard.loop);
}

static void test_one_that_is_ended_is_not_heard_of(void **state)
{
    const char *const words[] = { "/bin/sh", "-c", "sleep 300", NULL };
    const char *const variables[] = { "PATH=/usr/bin:/bin", NULL };
    struct heard heard = { .loop = loop_new() };
    const struct child_plan plan = { .arguments = words,
                                     .environment = variables,
                                     .input = "",
                                     .limit_ms = 100000,
                                     .done = on_done,
                                     .context = &heard };

    (void)state;
    child_end(child_start(heard.loop, &plan));
    loop_free(heard.loop);
    assert_int_equal(heard.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_gets_and_how_it_ends),
        cmocka_unit_test(test_one_that_hangs_is_killed_with_its_children),
        cmocka_unit_test(test_one_that_is_not_there),
        cmocka_unit_test(test_one_that_is_ended_is_not_heard_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
