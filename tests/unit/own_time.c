/* own_time.c - see own_time.h. Timers are known by their descriptors and set again with every
 * change; setting one that was closed since does nothing. */
#include "own_time.h"

#include <pthread.h>
#include <sys/timerfd.h>
#include <time.h>

#include "base/mem.h"

enum { TIMERS = 4096 };
static const int64_t SECOND_NS = 1000000000;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t since_ns, then_ns, rate = 1; /* at this true time of the boot clock it was so late */
static int64_t due_ns[TIMERS];

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *when,
                           struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when,
                           struct itimerspec *old);

static int64_t to_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * SECOND_NS + time->tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS };
}

static int64_t true_ns(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_BOOTTIME, &now);
    return to_ns(&now);
}

static int64_t own_ns(int64_t ns)
{
    return then_ns + (ns - since_ns) * rate;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    int result = __real_clock_gettime(clock, out);
    int64_t now_ns;

    if (result != 0 || (clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME))
        return result;
    pthread_mutex_lock(&lock);
    now_ns = true_ns();
    *out = to_timespec(clock == CLOCK_BOOTTIME ? own_ns(now_ns)
                                               : to_ns(out) + own_ns(now_ns) - now_ns);
    pthread_mutex_unlock(&lock);
    return 0;
}

static int set(int fd)
{
    int64_t ns = since_ns + (due_ns[fd] - then_ns + rate - 1) / rate;
    struct itimerspec when = { .it_value = to_timespec(ns > 0 ? ns : 1) };

    return __real_timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *old)
{
    int result;

    if (!(flags & TFD_TIMER_ABSTIME) || fd < 0 || fd >= TIMERS)
        return __real_timerfd_settime(fd, flags, when, old);
    pthread_mutex_lock(&lock);
    due_ns[fd] = to_ns(&when->it_value);
    result = set(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

/* From now on, so much later than it was. */
static void go_on(int64_t skipped_ns, int64_t new_rate)
{
    int64_t now_ns = true_ns();

    pthread_mutex_lock(&lock);
    then_ns = own_ns(now_ns) + skipped_ns;
    since_ns = now_ns;
    rate = new_rate;
    for (int fd = 0; fd < TIMERS; fd++) {
        if (due_ns[fd] != 0 && set(fd) != 0)
            due_ns[fd] = 0;
    }
    pthread_mutex_unlock(&lock);
}

void time_skip(int64_t ms)
{
    go_on(ms * 1000000, rate);
}

void time_set_rate(int new_rate)
{
    go_on(0, new_rate);
}
