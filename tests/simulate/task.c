/* task.c - see task.h. What the product calls of pthreads, clocks and chance is defined here. */
#include "task.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crash_point.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/random.h"
#include "memory.h"

#if defined(__SANITIZE_ADDRESS__) /* as gcc says it */
#define HAS_ADDRESS_SANITIZER
#elif defined(__has_feature) /* as clang does */
#if __has_feature(address_sanitizer)
#define HAS_ADDRESS_SANITIZER
#endif
#endif
#ifdef HAS_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 196608, CHANCES = 16 };

struct times times;
static const char *fault;
static bool has_met_fault;
static struct process *running; /* NULL: the simulator itself */

int64_t task_utc_ms(void)
{
    return times.utc_ms;
}

uint64_t draw(uint64_t *seed)
{
    uint64_t next = *seed += 0x9e3779b97f4a7c15U; /* splitmix64 */

    next = (next ^ next >> 30) * 0xbf58476d1ce4e5b9U;
    next = (next ^ next >> 27) * 0x94d049bb133111ebU;
    return next ^ next >> 31;
}

unsigned draw_below(uint64_t *seed, unsigned limit)
{
    return limit ? (unsigned)(draw(seed) % limit) : 0;
}

bool draw_chance(uint64_t *seed, unsigned chance, unsigned of)
{
    return draw_below(seed, of) < chance;
}

static void die(struct process *process)
{
    process->is_dead = true;
    if (process->is_in_thread)
        setcontext(&process->back);
    longjmp(process->end, 1);
}

bool task_run(struct process *process, void (*call)(void *context), void *context)
{
    struct region *used = region_use(process->region);
    struct process *before = running;

    running = process;
    process->is_in_thread = false;
    if (setjmp(process->end) == 0)
        call(context);
    running = before;
    region_use(used);
    return !process->is_dead;
}

void task_kill(struct process *process, long effects)
{
    process->effects_left = effects;
}

/* The address sanitizer must know which stack is used. */
static void leave_stack(const struct stack *next, void **ret_frames)
{
#ifdef HAS_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(ret_frames, next->bottom, next->bytes);
#else
    (void)next;
    (void)ret_frames;
#endif
}

static void enter_stack(void *frames, struct stack *ret_last)
{
#ifdef HAS_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(frames, &ret_last->bottom, &ret_last->bytes);
#else
    (void)frames;
    (void)ret_last;
#endif
}

static void pause_thread(struct process *process)
{
    void *frames = NULL;

    process->is_in_thread = false;
    leave_stack(&process->home, process->thread.is_over ? NULL : &frames);
    swapcontext(&process->thread.context, &process->back);
    enter_stack(frames, &process->home);
}

static void resume_thread(void *context)
{
    struct process *process = context;
    void *frames = NULL;

    process->is_in_thread = true;
    process->thread.waits = process->thread.is_woken = false;
    leave_stack(&process->thread.stack, &frames);
    swapcontext(&process->back, &process->thread.context);
    enter_stack(frames, &process->thread.stack);
    process->is_in_thread = false;
    if (process->is_dead)
        longjmp(process->end, 1);
}

bool task_thread_can_run(const struct process *process)
{
    return process->thread.is_begun && !process->thread.is_over &&
           (!process->thread.waits || process->thread.is_woken ||
            (process->thread.until_ms >= 0 && process->thread.until_ms <= times.boot_ms));
}

int64_t task_thread_wakes_ms(const struct process *process)
{
    return process->thread.is_begun && !process->thread.is_over && process->thread.waits
               ? process->thread.until_ms
               : -1;
}

bool task_run_thread(struct process *process)
{
    return task_run(process, resume_thread, process);
}

void task_effect(const char *what, const char *detail)
{
    struct process *process = running;

    (void)what;
    (void)detail;
    if (!process)
        return;
    if (process->effects_left >= 0 && process->effects_left-- == 0)
        die(process);
    if (process->is_in_thread && process->pauses > 0 &&
        draw_chance(&process->seed, process->pauses, CHANCES))
        pause_thread(process);
}

void task_wait_a_while(int us)
{
    struct process *process = running;

    times.boot_ms += us / 1000;
    times.utc_ms += us / 1000;
    if (process && process->is_in_thread)
        pause_thread(process);
    else if (process && task_thread_can_run(process))
        resume_thread(process);
}

void task_set_fault(const char *name)
{
    fault = name;
    has_met_fault = false;
}

bool task_has_met_fault(void)
{
    return has_met_fault;
}

#ifdef SAYSO_CRASH_POINTS /* elsewhere it is only built, to see that it can be */

bool deliberate_fault(const char *name)
{
    if (!fault || strcmp(fault, name) != 0)
        return false;
    has_met_fault = true;
    return true;
}

void crash_point(const char *name)
{
    task_effect(name, "");
}

#endif

static void begin_thread(void)
{
    struct process *process = running;

    enter_stack(NULL, &process->home);
    process->thread.main(process->thread.argument);
    process->thread.is_over = true;
    pause_thread(process);
}

int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                          void *(*main_call)(void *context), void *context);
int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                          void *(*main_call)(void *context), void *context)
{
    struct process *process = running;
    void *stack;

    (void)attributes;
    *ret_thread = pthread_self();
    if (!process || (process->thread.is_begun && !process->thread.is_over))
        abort(); /* a process has one thread more */
    stack = process->thread.is_over ? process->thread.context.uc_stack.ss_sp : mem_new(STACK_BYTES);
    memset(&process->thread, 0, sizeof process->thread);
    process->thread.stack = (struct stack){ stack, STACK_BYTES };
    process->thread.main = main_call;
    process->thread.argument = context;
    process->thread.is_begun = true;
    getcontext(&process->thread.context);
    process->thread.context.uc_stack.ss_sp = stack;
    process->thread.context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&process->thread.context, begin_thread, 0);
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret_value);
int __wrap_pthread_join(pthread_t thread, void **ret_value)
{
    (void)thread;
    (void)ret_value;
    while (!running->thread.is_over)
        resume_thread(running);
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition;
    (void)mutex;
    running->thread.waits = true;
    running->thread.until_ms = -1;
    pause_thread(running);
    return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    int64_t until_ms = (int64_t)until->tv_sec * 1000 + until->tv_nsec / 1000000;

    (void)condition;
    (void)mutex;
    running->thread.waits = true;
    running->thread.until_ms = until_ms;
    pause_thread(running);
    return times.boot_ms >= until_ms ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    (void)condition;
    running->thread.is_woken = true;
    if (running->wakes_at_once)
        resume_thread(running);
    return 0;
}

/* One thread in truth: a lock would only outlive the process that died with it. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    (void)how;
    (void)set;
    (void)before;
    return 0;
}

int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
    return -1; /* who waits for a moment waits for good: others run when it sleeps */
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    int64_t ms = clock == CLOCK_REALTIME ? times.utc_ms : times.boot_ms;

    *out = (struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    return 0;
}

void random_bytes(void *out, size_t length)
{
    static uint64_t own_seed = 1;
    uint8_t *at = out;

    for (size_t i = 0; i < length; i++)
        at[i] = (uint8_t)draw(running ? &running->seed : &own_seed);
}

void random_id(char out[27])
{
    uint8_t bytes[26];

    random_bytes(bytes, sizeof bytes);
    for (int i = 0; i < 26; i++)
        out[i] = "abcdefghijklmnopqrstuvwxyz234567"[bytes[i] & 31];
    out[26] = '\0';
}

void random_digits(char *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)('0' + draw_below(&running->seed, 10));
    out[n] = '\0';
}

/* What these keep for later would outlive the process that died. */
void *freelist_new(size_t bytes)
{
    return mem_resize(NULL, bytes);
}

void freelist_free(void *thing, size_t bytes)
{
    (void)bytes;
    free(thing);
}

void *pool_new(size_t bytes)
{
    return mem_new(bytes);
}

void pool_free(void *thing, size_t bytes)
{
    (void)bytes;
    free(thing);
}
