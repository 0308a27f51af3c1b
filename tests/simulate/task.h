/*
 * task.h - a simulated process: its memory, its loop, and its second thread as a coroutine. There
 * is one thread for everything; the simulator says when the second thread of a process runs on, and
 * any effect may be the last of its process. Time and chance come from here too.
 */
#ifndef SIMULATE_TASK_H
#define SIMULATE_TASK_H
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct loop;
struct region;

struct stack {
    const void *bottom;
    size_t bytes;
};

struct process {
    struct region *region;
    jmp_buf end;
    ucontext_t back;   /* of the caller that runs the thread */
    long effects_left; /* the one that brings this to zero kills it; -1: none does */
    unsigned pauses;   /* how often an effect puts the thread aside, of 16 */
    bool is_dead, is_in_thread;
    bool wakes_at_once; /* its thread runs as soon as it is woken, not when the simulator says */
    struct stack home;  /* of the caller that runs the thread */
    struct {
        ucontext_t context;
        struct stack stack;
        void *(*main)(void *context);
        void *argument;
        bool is_begun, is_over;
        bool waits, is_woken;
        int64_t until_ms; /* -1: for ever */
    } thread;
    uint64_t seed; /* of its ids, and of where its thread pauses */
};

/* Time of the world, the same for all. */
extern struct times {
    int64_t boot_ms, utc_ms;
} times;
int64_t task_utc_ms(void);

uint64_t draw(uint64_t *seed);
unsigned draw_below(uint64_t *seed, unsigned limit); /* 0 if that is 0 */
bool draw_chance(uint64_t *seed, unsigned chance, unsigned of);

/* False: it was killed before the call ended. */
bool task_run(struct process *process, void (*call)(void *context), void *context);
bool task_thread_can_run(const struct process *process);
bool task_run_thread(struct process *process);               /* until it pauses or waits */
int64_t task_thread_wakes_ms(const struct process *process); /* -1: not by itself */

/* Something of it can be seen from outside: a byte on the disk, on a socket, a crash point. */
void task_effect(const char *what, const char *detail);
void task_wait_a_while(int us); /* for a lock that the other thread has */
/* The fault that the product is to have (base/crash_point.h); NULL: none. */
void task_set_fault(const char *name);
bool task_has_met_fault(void);                         /* the place where it stands was passed */
void task_kill(struct process *process, long effects); /* after so many more */

#endif
