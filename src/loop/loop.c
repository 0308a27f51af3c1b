/* loop.c - see loop.h. Timers are timerfds on CLOCK_BOOTTIME, because libuv's stop in suspend. */
#include "loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

enum { LOOP_SIGNALS = 3 };
static const int handled_signals[LOOP_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

struct loop {
    uv_loop_t uv;
    uv_signal_t signals[LOOP_SIGNALS];
    bool has_signals;
    uv_prepare_t prepare;
    loop_call *sleep_call;
    void *sleep_context;
    void (*signal_call)(void *context, int number);
    void *signal_context;
};
struct loop_wake {
    uv_async_t async;
    loop_call *call;
    void *context;
};
struct loop_timer {
    uv_poll_t poll;
    int fd;
    loop_call *call;
    void *context;
};

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t loop_boot_ms(void)
{
    return clock_ms(CLOCK_BOOTTIME);
}

int64_t loop_utc_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

struct loop *loop_new(void)
{
    struct loop *loop = mem_new(sizeof *loop);

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file limit becomes EFBIG, an ordinary failed write */
    if (uv_loop_init(&loop->uv) != 0)
        abort();
    return loop;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle->data);
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    for (int i = 0; loop->has_signals && i < LOOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&loop->signals[i], NULL);
    if (loop->sleep_call)
        uv_close((uv_handle_t *)&loop->prepare, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&loop->uv) != 0)
        abort(); /* a handle was forgotten: a leak we want to hear about in tests */
    free(loop);
}

void loop_run(struct loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

void *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

static void on_wake(uv_async_t *async)
{
    struct loop_wake *wake = async->data;

    wake->call(wake->context);
}

struct loop_wake *loop_wake_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_wake *wake = mem_new(sizeof *wake);

    wake->call = call;
    wake->context = context;
    wake->async.data = wake;
    if (uv_async_init(&loop->uv, &wake->async, on_wake) != 0)
        abort();
    return wake;
}

void loop_wake_send(struct loop_wake *wake)
{
    uv_async_send(&wake->async);
}

void loop_wake_free(struct loop_wake *wake)
{
    if (wake)
        uv_close((uv_handle_t *)&wake->async, free_handle);
}

static void on_timer(uv_poll_t *poll, int status, int events)
{
    struct loop_timer *timer = poll->data;
    uint64_t ticks;

    (void)status;
    (void)events;
    if (read(timer->fd, &ticks, sizeof ticks) == (ssize_t)sizeof ticks) {
        uv_poll_stop(&timer->poll);
        timer->call(timer->context);
    }
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_timer *timer = mem_new(sizeof *timer);

    timer->call = call;
    timer->context = context;
    timer->fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    timer->poll.data = timer;
    if (timer->fd < 0 || uv_poll_init(&loop->uv, &timer->poll, timer->fd) != 0)
        abort();
    return timer;
}

void loop_timer_at(struct loop_timer *timer, int64_t boot_ms)
{
    struct itimerspec when = { 0 };

    if (boot_ms < 1)
        boot_ms = 1; /* zero would disarm */
    when.it_value.tv_sec = boot_ms / 1000;
    when.it_value.tv_nsec = boot_ms % 1000 * 1000000;
    timerfd_settime(timer->fd, TFD_TIMER_ABSTIME, &when, NULL);
    uv_poll_start(&timer->poll, UV_READABLE, on_timer);
}

void loop_timer_stop(struct loop_timer *timer)
{
    uv_poll_stop(&timer->poll);
}

static void close_timer(uv_handle_t *handle)
{
    struct loop_timer *timer = handle->data;

    close(timer->fd);
    free(timer);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (timer)
        uv_close((uv_handle_t *)&timer->poll, close_timer);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct loop *loop = handle->data;

    loop->signal_call(loop->signal_context, number);
}

void loop_on_signal(struct loop *loop, void (*call)(void *context, int number), void *context)
{
    loop->signal_call = call;
    loop->signal_context = context;
    loop->has_signals = true;
    for (int i = 0; i < LOOP_SIGNALS; i++) {
        loop->signals[i].data = loop;
        if (uv_signal_init(&loop->uv, &loop->signals[i]) != 0 ||
            uv_signal_start(&loop->signals[i], on_signal, handled_signals[i]) != 0)
            abort();
        uv_unref((uv_handle_t *)&loop->signals[i]);
    }
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;

    loop->sleep_call(loop->sleep_context);
}

void loop_before_sleep(struct loop *loop, loop_call *call, void *context)
{
    loop->sleep_call = call;
    loop->sleep_context = context;
    loop->prepare.data = loop;
    if (uv_prepare_init(&loop->uv, &loop->prepare) != 0 ||
        uv_prepare_start(&loop->prepare, on_prepare) != 0)
        abort();
    uv_unref((uv_handle_t *)&loop->prepare);
}
