/*
 * test_loop.c - waking the loop from another thread, timers on the boot clock, what runs before it
 * sleeps, and signals.
 * Proves: R5.4 (the boot clock), E12
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"

struct counter {
    struct loop *loop;
    struct loop_wake *wake;
    struct loop_timer *timer;
    int calls, stop_at;
    int64_t called_ms;
    pthread_t thread;
    atomic_int sent;
};

static void count(void *context)
{
    struct counter *counter = context;

    counter->calls++;
    counter->called_ms = loop_boot_ms();
    counter->thread = pthread_self();
    if (counter->calls == counter->stop_at)
        loop_stop(counter->loop);
}

static int set_up(void **state)
{
    static struct counter counter;

    counter = (struct counter){ .loop = loop_new(), .stop_at = 1 };
    *state = &counter;
    return 0;
}

static int tear_down(void **state)
{
    struct counter *counter = *state;

    loop_wake_free(counter->wake);
    loop_timer_free(counter->timer);
    loop_free(counter->loop); /* aborts if something was forgotten */
    return 0;
}

static void *send_once(void *context)
{
    struct counter *counter = context;

    usleep(20000);
    loop_wake_send(counter->wake);
    return NULL;
}

static void test_woken_by_another_thread(void **state)
{
    struct counter *counter = *state;
    pthread_t thread;

    counter->wake = loop_wake_new(counter->loop, count, counter);
    assert_int_equal(pthread_create(&thread, NULL, send_once, counter), 0);
    loop_run(counter->loop);
    pthread_join(thread, NULL);
    assert_int_equal(counter->calls, 1);
    assert_true(pthread_equal(counter->thread, pthread_self()));
}

static void on_many(void *context)
{
    struct counter *counter = context;

    counter->calls++;
    if (atomic_load(&counter->sent) == 4000)
        loop_stop(counter->loop);
}

static void *send_many(void *context)
{
    struct counter *counter = context;

    for (int i = 0; i < 1000; i++) {
        atomic_fetch_add(&counter->sent, 1);
        loop_wake_send(counter->wake);
    }
    return NULL;
}

/* Many sends may be one call, but the last is never missed. */
static void test_no_send_is_missed(void **state)
{
    struct counter *counter = *state;
    pthread_t threads[4];

    counter->wake = loop_wake_new(counter->loop, on_many, counter);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_many, counter), 0);
    loop_run(counter->loop);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(counter->calls, 1, 4000);
}

static void test_a_timer_is_never_early(void **state)
{
    struct counter *counter = *state;

    counter->timer = loop_timer_new(counter->loop, count, counter);
    for (int i = 1; i <= 20; i++) {
        int64_t due = loop_boot_ms() + i;

        counter->stop_at = i;
        loop_timer_at(counter->timer, due);
        loop_run(counter->loop);
        assert_int_equal(counter->calls, i);
        assert_true(counter->called_ms >= due);
        assert_true(counter->called_ms < due + 60000);
    }
}

static void test_a_moment_that_has_passed(void **state)
{
    static const int64_t moments[] = { 0, 1, -5, 1000 };
    struct counter *counter = *state;

    counter->timer = loop_timer_new(counter->loop, count, counter);
    for (int i = 0; i < 4; i++) {
        counter->stop_at = i + 1;
        loop_timer_at(counter->timer, moments[i]);
        loop_run(counter->loop);
        assert_int_equal(counter->calls, i + 1);
    }
}

static void test_a_timer_set_anew_and_stopped(void **state)
{
    struct counter *counter = *state;
    struct counter other = { .loop = counter->loop, .stop_at = 1 };
    int64_t now = loop_boot_ms();

    counter->timer = loop_timer_new(counter->loop, count, counter);
    other.timer = loop_timer_new(counter->loop, count, &other);
    counter->stop_at = 100;
    loop_timer_at(counter->timer, now + 10);
    loop_timer_at(counter->timer, now + 60000); /* instead */
    loop_timer_at(other.timer, now + 50);
    loop_run(counter->loop);
    assert_int_equal(counter->calls, 0);
    loop_timer_at(counter->timer, loop_boot_ms() + 10);
    loop_timer_stop(counter->timer);
    other.stop_at = 2;
    loop_timer_at(other.timer, loop_boot_ms() + 50);
    loop_run(counter->loop);
    assert_int_equal(counter->calls, 0);
    loop_timer_at(counter->timer, loop_boot_ms() + 10); /* and again after it was stopped */
    other.stop_at = 3;
    loop_timer_at(other.timer, loop_boot_ms() + 50);
    loop_run(counter->loop);
    assert_int_equal(counter->calls, 1); /* one shot */
    loop_timer_free(other.timer);
}

/* As the hub sets its timer: from within the call. */
static void again(void *context)
{
    struct counter *counter = context;

    count(counter);
    loop_timer_at(counter->timer, loop_boot_ms() + 1);
}

static void test_a_timer_set_from_within(void **state)
{
    struct counter *counter = *state;

    counter->stop_at = 5;
    counter->timer = loop_timer_new(counter->loop, again, counter);
    loop_timer_at(counter->timer, loop_boot_ms());
    loop_run(counter->loop);
    assert_int_equal(counter->calls, 5);
}

static void wake_then_stop(void *context)
{
    struct counter *counter = context;

    counter->calls++;
    if (counter->calls < 4)
        loop_wake_send(counter->wake); /* work was found: the loop must not sleep on it */
    else
        loop_stop(counter->loop);
}

static void nothing(void *context)
{
    (void)context;
}

static void test_before_sleep_runs_each_turn(void **state)
{
    struct counter *counter = *state;

    counter->wake = loop_wake_new(counter->loop, nothing, counter);
    loop_before_sleep(counter->loop, wake_then_stop, counter);
    loop_run(counter->loop);
    assert_in_range(counter->calls, 4, 5);
}

static int turns_seen;

static void see_turn(void *context)
{
    turns_seen += ((struct counter *)context)->calls == turns_seen + 1;
}

static void test_turns_end_after_before_sleep(void **state)
{
    struct counter *counter = *state;
    struct loop_turn *turn = loop_turn_new(counter->loop, see_turn, counter);

    turns_seen = 0;
    counter->wake = loop_wake_new(counter->loop, nothing, counter);
    loop_before_sleep(counter->loop, wake_then_stop, counter);
    loop_run(counter->loop);
    assert_int_equal(turns_seen, counter->calls);
    loop_turn_free(turn);
}

static int signal_seen;

static void on_signal(void *context, int number)
{
    signal_seen = number;
    loop_stop(context);
}

static void test_signals(void **state)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct counter *counter = *state;

    counter->wake = loop_wake_new(counter->loop, nothing, counter); /* keeps the loop alive */
    loop_on_signal(counter->loop, on_signal, counter->loop);
    for (int i = 0; i < 3; i++) {
        signal_seen = 0;
        assert_int_equal(kill(getpid(), numbers[i]), 0);
        loop_run(counter->loop);
        assert_int_equal(signal_seen, numbers[i]);
    }
    assert_int_equal(raise(SIGPIPE), 0); /* ignored from the start */
    assert_int_equal(raise(SIGXFSZ), 0);
}

static void test_clocks(void **state)
{
    struct timespec now;
    int64_t boot = loop_boot_ms(), utc = loop_utc_ms();

    (void)state;
    usleep(2000);
    assert_true(loop_boot_ms() > boot);
    clock_gettime(CLOCK_REALTIME, &now);
    assert_true((int64_t)now.tv_sec * 1000 - utc < 60000);
    assert_true(utc > 1700000000000);
}

static void test_freeing_nothing(void **state)
{
    (void)state;
    loop_wake_free(NULL);
    loop_timer_free(NULL);
    loop_free(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_woken_by_another_thread),
        CASE(test_no_send_is_missed),
        CASE(test_a_timer_is_never_early),
        CASE(test_a_moment_that_has_passed),
        CASE(test_a_timer_set_anew_and_stopped),
        CASE(test_a_timer_set_from_within),
        CASE(test_before_sleep_runs_each_turn),
        CASE(test_turns_end_after_before_sleep),
        CASE(test_signals),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_freeing_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
