/*
 * ptyload.c - a program on a terminal: how long until it shows something, and after each key; and
 * how many bytes it writes for that.
 *
 *   ptyload attach PLAN [-n starts] [-p processor]
 *   ptyload keys PLAN [-n keys] [-p processor]
 *
 * The plan (plan.h) has argv and env; rows and columns of the terminal (24 and 80); `mark`, a text
 * that the first picture holds; `keys`, which are typed one after the other and from the start
 * again. With a mark a picture is over with the end of a synchronized frame, without one with any
 * byte. Its question for the background's color is answered, as terminals do. Prints one JSON
 * object.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "plan.h"

enum {
    ROWS = 24,
    COLUMNS = 80,
    READ_BYTES = 1 << 16,
    PICTURE_S = 10,
    MAX_ARGUMENTS = 32,
};

static const double READY_S = 0.7; /* no key answers in the first 500 ms of a question */
static const double QUIET_S = 0.002;
static const char FRAME_END[] = "\033[?2026l", COLOUR_QUESTION[] = "\033]11;?";
static const char COLOUR_REPLY[] = "\033]11;rgb:1515/1818/1c1c\033\\\033[?62;22c";

static const char *mark;
static int terminal = -1;
static pid_t child;
static struct bytes said; /* since the last key */

static void run_program(void)
{
    char *arguments[MAX_ARGUMENTS + 1] = { 0 };
    const char *word;
    size_t at = 0, count = 0;

    while (count < MAX_ARGUMENTS && (word = plan_find_next("argv", &at)))
        arguments[count++] = strdup(word);
    for (at = 0; (word = plan_find_next("env", &at));)
        putenv(strdup(word));
    if (count > 0)
        execvp(arguments[0], arguments);
    _exit(127);
}

static void start(void)
{
    struct winsize size = { .ws_row = (unsigned short)plan_number("rows", ROWS),
                            .ws_col = (unsigned short)plan_number("columns", COLUMNS) };

    said.used = said.taken = 0;
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0)
        load_fail("there is no terminal to be had");
    if (child == 0)
        run_program();
    fcntl(terminal, F_SETFL, O_NONBLOCK);
}

static void stop(void)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(terminal);
    child = 0;
}

static void type(const char *keys, size_t length)
{
    if (write(terminal, keys, length) != (ssize_t)length)
        load_fail("the terminal takes no keys");
}

/* False: nothing came until then. */
static bool listen_until(double until)
{
    static char bytes[READ_BYTES];
    struct pollfd ready = { .fd = terminal, .events = POLLIN };
    double left_s = until - load_now();
    struct timespec wait = { (time_t)(left_s < 0 ? 0 : left_s),
                             left_s < 0 ? 0 : (long)((left_s - (double)(long)left_s) * 1e9) };
    ssize_t got;

    if (ppoll(&ready, 1, &wait, NULL) <= 0)
        return false;
    got = read(terminal, bytes, sizeof bytes);
    if (got < 0 && errno == EAGAIN)
        return true;
    if (got <= 0)
        load_fail("the program has ended");
    bytes_add(&said, bytes, (size_t)got);
    if (load_find(bytes, (size_t)got, COLOUR_QUESTION))
        type(COLOUR_REPLY, sizeof COLOUR_REPLY - 1);
    return true;
}

/* A whole picture is there, the first of which holds the mark. */
static bool is_shown(bool is_first)
{
    const char *end = said.at + said.used, *from = said.at;

    if (!mark)
        return said.used > 0;
    if (is_first && !(from = load_find(said.at, said.used, mark)))
        return false;
    return load_find(from, (size_t)(end - from), FRAME_END);
}

/* When it was there. */
static double wait_for_picture(bool is_first)
{
    double until = load_now() + PICTURE_S;

    while (!is_shown(is_first)) {
        if (!listen_until(until))
            load_fail(is_first ? "no picture came" : "nothing came after a key");
    }
    return load_now();
}

static void be_quiet(double seconds)
{
    while (listen_until(load_now() + seconds))
        continue;
}

static void measure_starts(long count)
{
    double *times = load_new_times(count);

    for (long i = 0; i < count; i++) {
        double began = load_now();

        start();
        times[i] = wait_for_picture(true) - began;
        stop();
    }
    load_sort(times, (size_t)count);
    printf("{\"starts\":%ld,\"first_us\":%.1f,\"first_best_us\":%.1f}\n", count,
           load_quantile_us(times, (size_t)count, 0.5), load_quantile_us(times, (size_t)count, 0));
}

/* The bytes of the first picture, from the begin of its frame on. */
static size_t whole_bytes(void)
{
    static const char begin[] = "\033[?2026h";
    const char *at = said.at, *next;

    while (mark && (next = load_find(at, said.used - (size_t)(at - said.at), begin)))
        at = next;
    return said.used - (size_t)(at - said.at) + (mark ? sizeof begin - 1 : 0);
}

static void measure_keys(long count, const char *keys)
{
    double *times = load_new_times(count), *bytes = load_new_times(count);
    size_t whole, length = strlen(keys);
    struct usage before, after;

    start();
    wait_for_picture(true);
    whole = whole_bytes();
    for (double until = load_now() + READY_S; load_now() < until;)
        listen_until(until);
    before = load_usage(child);
    for (long i = 0; i < count; i++) {
        double began;

        be_quiet(QUIET_S);
        said.used = said.taken = 0;
        began = load_now();
        type(&keys[(size_t)i % length], 1);
        times[i] = wait_for_picture(false) - began;
        bytes[i] = (double)said.used * 1e-6; /* quantiles are of seconds, told in millionths */
    }
    after = load_usage(child);
    stop();
    load_sort(times, (size_t)count);
    load_sort(bytes, (size_t)count);
    printf("{\"keys\":%ld,\"key_us\":%.1f,\"key_best_us\":%.1f,\"key_p99_us\":%.1f,"
           "\"whole_bytes\":%zu,\"key_bytes\":%.0f,\"key_bytes_p99\":%.0f,\"key_bytes_most\":%.0f,"
           "\"cpu_us_key\":%.1f}\n",
           count, load_quantile_us(times, (size_t)count, 0.5),
           load_quantile_us(times, (size_t)count, 0), load_quantile_us(times, (size_t)count, 0.99),
           whole, load_quantile_us(bytes, (size_t)count, 0.5),
           load_quantile_us(bytes, (size_t)count, 0.99), load_quantile_us(bytes, (size_t)count, 1),
           (after.cpu_s - before.cpu_s) * 1e6 / (double)count);
}

int main(int count, char **arguments)
{
    struct load_options options = { .max = 50 };
    const char *keys;

    load_read_options(count, arguments, "usage: ptyload attach|keys PLAN [-n N] [-p CPU]",
                      &options);
    load_on_failure(stop);
    plan_load(arguments[2]);
    mark = plan_find("mark");
    keys = plan_find("keys");
    if (strcmp(arguments[1], "keys") == 0)
        measure_keys(options.max, keys && *keys ? keys : "j");
    else
        measure_starts(options.max);
    return 0;
}
