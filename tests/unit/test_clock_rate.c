/*
 * test_clock_rate.c - SAYSO_CLOCK_RATE, with which end-to-end tests need not sit out minutes: both
 * clocks go so many times as fast, and a timer is never early by them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/loop.h"

enum { RATE = 50, AHEAD_MS = 600000 };

/* earlier than the first look, as a test says it that starts several programs */
static int64_t start_ms;

static int64_t true_ms(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void needs_rate(void)
{
#ifndef SAYSO_CRASH_POINTS
    skip(); /* no installed program has another clock than its machine */
#endif
}

static void test_both_clocks_hurry_alike(void **state)
{
    int64_t before_ms = true_ms(CLOCK_BOOTTIME), boot_ms, after_ms, ahead_ms;

    (void)state;
    needs_rate();
    boot_ms = loop_boot_ms();
    after_ms = true_ms(CLOCK_BOOTTIME);
    assert_true(boot_ms >= start_ms + (before_ms - start_ms) * RATE);
    assert_true(boot_ms <= start_ms + (after_ms + 1 - start_ms) * RATE);
    ahead_ms = boot_ms - after_ms;
    assert_true(ahead_ms >= AHEAD_MS);
    assert_true(loop_utc_ms() - true_ms(CLOCK_REALTIME) >= ahead_ms - RATE);
}

static void stop(void *loop)
{
    loop_stop(loop);
}

static void test_a_timer_comes_when_our_clock_says_so(void **state)
{
    int64_t began_ms = true_ms(CLOCK_BOOTTIME);
    struct loop_timer *timer;
    struct loop *loop;

    (void)state;
    needs_rate();
    loop = loop_new();
    timer = loop_timer_new(loop, stop, loop);
    for (int ms = 1; ms <= 1000; ms += 37) {
        int64_t due_ms = loop_boot_ms() + ms;

        loop_timer_at(timer, due_ms);
        loop_run(loop);
        assert_true(loop_boot_ms() >= due_ms);
    }
    loop_timer_at(timer, loop_boot_ms() + 60000); /* a minute, in little more than a second */
    loop_run(loop);
    assert_true(true_ms(CLOCK_BOOTTIME) - began_ms < 60000);
    loop_timer_at(timer, 0);
    loop_run(loop);
    loop_timer_free(timer);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_clocks_hurry_alike),
        cmocka_unit_test(test_a_timer_comes_when_our_clock_says_so),
    };
    char rate[48];

    start_ms = true_ms(CLOCK_BOOTTIME) - AHEAD_MS / (RATE - 1) - 1;
    snprintf(rate, sizeof rate, "%d@%lld", RATE, (long long)start_ms);
    setenv("SAYSO_CLOCK_RATE", rate, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
