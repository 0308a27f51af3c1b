/*
 * loop.c - see loop.h. Timers are timerfds on CLOCK_BOOTTIME, because libuv's stop in suspend.
 * Wake-ups are eventfds, because libuv's make the loop wait until the sender has run on.
 */
#include "base/loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
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
    struct loop_turn *turns;
    void (*signal_call)(void *context, int number);
    void *signal_context;
    bool is_waiting; /* within loop_run_until */
    int kept_signal; /* came during it; 0: none */
};
struct loop_turn {
    struct loop *loop;
    struct loop_turn *next;
    loop_call *call;
    void *context;
};
/* A descriptor that counts, and whom to call when it has. */
struct counter {
    uv_poll_t poll;
    int fd;
    bool is_once; /* until it is armed again */
    loop_call *call;
    void *context;
};
struct loop_wake {
    struct counter counter;
};
struct loop_timer {
    struct counter counter;
    struct loop *loop; /* NULL once it has its descriptor, at its first use */
};

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

#ifdef SAYSO_CRASH_POINTS
static struct {
    int64_t rate, start_us;
} test_clock;

static void read_rate(void)
{
    const char *wanted = getenv("SAYSO_CLOCK_RATE");
    char *end = NULL;

    test_clock.rate = wanted ? strtoll(wanted, &end, 10) : 1;
    test_clock.start_us =
        end && *end == '@' ? strtoll(end + 1, NULL, 10) * 1000 : clock_us(CLOCK_BOOTTIME);
}

static void learn_rate(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_rate);
}

/* By how much our clocks are ahead at this true time of the boot clock. */
static int64_t ahead_us(int64_t boot_us)
{
    learn_rate();
    return (test_clock.rate - 1) * (boot_us - test_clock.start_us);
}

/* When it is so late by our clock: never before. */
static int64_t true_boot_us(int64_t boot_us)
{
    learn_rate();
    return test_clock.start_us +
           (boot_us - test_clock.start_us + test_clock.rate - 1) / test_clock.rate;
}
#else
static int64_t ahead_us(int64_t boot_us)
{
    (void)boot_us;
    return 0;
}

static int64_t true_boot_us(int64_t boot_us)
{
    return boot_us;
}
#endif

int64_t loop_boot_ms(void)
{
    int64_t boot_us = clock_us(CLOCK_BOOTTIME);

    return (boot_us + ahead_us(boot_us)) / 1000;
}

int64_t loop_utc_ms(void)
{
    return (clock_us(CLOCK_REALTIME) + ahead_us(clock_us(CLOCK_BOOTTIME))) / 1000;
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct loop *loop = prepare->data;

    if (loop->sleep_call)
        loop->sleep_call(loop->sleep_context);
    for (struct loop_turn *turn = loop->turns; turn; turn = turn->next)
        turn->call(turn->context);
}

struct loop *loop_new(void)
{
    struct loop *loop = mem_new(sizeof *loop);

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file limit becomes EFBIG, an ordinary failed write */
    if (uv_loop_init(&loop->uv) != 0 || uv_prepare_init(&loop->uv, &loop->prepare) != 0 ||
        uv_prepare_start(&loop->prepare, on_prepare) != 0)
        abort();
    loop->prepare.data = loop;
    uv_unref((uv_handle_t *)&loop->prepare);
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    for (int i = 0; loop->has_signals && i < LOOP_SIGNALS; i++)
        uv_close((uv_handle_t *)&loop->signals[i], NULL);
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

static void on_limit(void *context)
{
    *(bool *)context = true;
}

bool loop_run_until(struct loop *loop, bool (*is_done)(void *context), void *context,
                    int64_t boot_ms)
{
    bool is_over = false;
    struct loop_timer *limit = loop_timer_new(loop, on_limit, &is_over);

    loop_timer_at(limit, boot_ms);
    loop->is_waiting = true;
    while (!is_done(context) && !is_over)
        uv_run(&loop->uv, UV_RUN_ONCE);
    loop->is_waiting = false;
    loop_timer_free(limit);
    if (loop->kept_signal)
        raise(loop->kept_signal);
    loop->kept_signal = 0;
    return is_done(context);
}

void *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

static void on_count(uv_poll_t *poll, int status, int events)
{
    struct counter *counter = poll->data;
    uint64_t count;

    (void)status;
    (void)events;
    if (read(counter->fd, &count, sizeof count) != (ssize_t)sizeof count)
        return;
    if (counter->is_once)
        uv_poll_stop(poll);
    counter->call(counter->context);
}

static void counter_init(struct counter *counter, struct loop *loop, int fd, loop_call *call,
                         void *context)
{
    counter->fd = fd;
    counter->call = call;
    counter->context = context;
    counter->poll.data = counter;
    if (fd < 0 || uv_poll_init(&loop->uv, &counter->poll, fd) != 0)
        abort();
}

/* It is the first member of what is freed with it. */
static void on_closed(uv_handle_t *handle)
{
    struct counter *counter = handle->data;

    close(counter->fd);
    free(counter);
}

struct loop_wake *loop_wake_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_wake *wake = mem_new(sizeof *wake);

    counter_init(&wake->counter, loop, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), call, context);
    if (uv_poll_start(&wake->counter.poll, UV_READABLE, on_count) != 0)
        abort();
    return wake;
}

void loop_wake_send(struct loop_wake *wake)
{
    uint64_t one = 1;

    if (write(wake->counter.fd, &one, sizeof one) < 0 &&
        errno != EAGAIN) /* EAGAIN: sent often enough */
        abort();
}

void loop_wake_free(struct loop_wake *wake)
{
    if (wake)
        uv_close((uv_handle_t *)&wake->counter.poll, on_closed);
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_timer *timer = mem_new(sizeof *timer);

    *timer = (struct loop_timer){ .counter = { .call = call, .context = context }, .loop = loop };
    return timer;
}

void loop_timer_at(struct loop_timer *timer, int64_t boot_ms)
{
    struct itimerspec when = { 0 };
    int64_t us = true_boot_us(boot_ms < 1 ? 1000 : boot_ms * 1000); /* zero would disarm */

    if (timer->loop)
        counter_init(&timer->counter, timer->loop,
                     timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC),
                     timer->counter.call, timer->counter.context);
    timer->loop = NULL;
    timer->counter.is_once = true;
    when.it_value.tv_sec = us / 1000000;
    when.it_value.tv_nsec = us % 1000000 * 1000;
    timerfd_settime(timer->counter.fd, TFD_TIMER_ABSTIME, &when, NULL);
    uv_poll_start(&timer->counter.poll, UV_READABLE, on_count);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (!timer->loop)
        uv_poll_stop(&timer->counter.poll);
}

void loop_timer_free(struct loop_timer *timer)
{
    if (timer && timer->loop)
        free(timer);
    else if (timer)
        uv_close((uv_handle_t *)&timer->counter.poll, on_closed);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct loop *loop = handle->data;

    if (loop->is_waiting)
        loop->kept_signal = number;
    else
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

void loop_before_sleep(struct loop *loop, loop_call *call, void *context)
{
    loop->sleep_call = call;
    loop->sleep_context = context;
}

struct loop_turn *loop_turn_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_turn *turn = mem_new(sizeof *turn);

    *turn = (struct loop_turn){ loop, loop->turns, call, context };
    loop->turns = turn;
    return turn;
}

void loop_turn_free(struct loop_turn *turn)
{
    struct loop_turn **at;

    if (!turn)
        return;
    for (at = &turn->loop->turns; *at != turn;)
        at = &(*at)->next;
    *at = turn->next;
    free(turn);
}
