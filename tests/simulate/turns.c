/* turns.c - see turns.h. */
#include "turns.h"

#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "task.h"

struct loop_timer {
    struct loop *loop;
    struct loop_timer *next;
    loop_call *call;
    void *context;
    int64_t at_ms; /* -1: not armed */
};
struct loop_wake {
    struct loop *loop;
    struct loop_wake *next;
    loop_call *call;
    void *context;
    bool is_sent;
};
struct loop_turn {
    struct loop *loop;
    struct loop_turn *next;
    loop_call *call;
    void *context;
};
struct later {
    struct later *next;
    void (*call)(void *context);
    void *context;
};
struct loop {
    struct loop_timer *timers;
    struct loop_wake *wakes;
    struct loop_turn *turns;
    struct later *later;
    loop_call *sleep_call;
    void *sleep_context;
    bool is_stopped;
};

struct loop *loop_new(void)
{
    return mem_new(sizeof(struct loop));
}

void loop_free(struct loop *loop)
{
    turns_end(loop);
    if (loop->timers || loop->wakes || loop->turns)
        abort(); /* something of it was not stopped */
    free(loop);
}

void loop_run(struct loop *loop)
{
    loop->is_stopped = false;
    while (!loop->is_stopped) {
        turns_wake(loop);
        turns_ring_timers(loop);
        turns_end(loop);
    }
}

void loop_stop(struct loop *loop)
{
    loop->is_stopped = true;
}

bool turns_is_stopped(const struct loop *loop)
{
    return loop->is_stopped;
}

int64_t loop_boot_ms(void)
{
    return times.boot_ms;
}

int64_t loop_utc_ms(void)
{
    return times.utc_ms;
}

void *loop_uv(struct loop *loop)
{
    return loop;
}

void loop_before_sleep(struct loop *loop, loop_call *call, void *context)
{
    loop->sleep_call = call;
    loop->sleep_context = context;
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_timer *timer = mem_new(sizeof *timer);

    *timer = (struct loop_timer){ loop, loop->timers, call, context, -1 };
    loop->timers = timer;
    return timer;
}

void loop_timer_at(struct loop_timer *timer, int64_t boot_ms)
{
    timer->at_ms = boot_ms < 1 ? 1 : boot_ms;
}

void loop_timer_stop(struct loop_timer *timer)
{
    timer->at_ms = -1;
}

void loop_timer_free(struct loop_timer *timer)
{
    struct loop_timer **at;

    if (!timer)
        return;
    for (at = &timer->loop->timers; *at != timer;)
        at = &(*at)->next;
    *at = timer->next;
    free(timer);
}

int64_t turns_next_timer_ms(const struct loop *loop)
{
    int64_t first = -1;

    for (const struct loop_timer *timer = loop->timers; timer; timer = timer->next) {
        if (timer->at_ms >= 0 && (first < 0 || timer->at_ms < first))
            first = timer->at_ms;
    }
    return first;
}

static struct loop_timer *find_due(struct loop *loop)
{
    struct loop_timer *timer = loop->timers;

    while (timer && (timer->at_ms < 0 || timer->at_ms > times.boot_ms))
        timer = timer->next;
    return timer;
}

void turns_ring_timers(struct loop *loop)
{
    struct loop_timer *timer;

    for (int i = 0; i < 8 && (timer = find_due(loop)); i++) { /* those of this turn */
        timer->at_ms = -1;
        timer->call(timer->context);
    }
}

struct loop_wake *loop_wake_new(struct loop *loop, loop_call *call, void *context)
{
    struct loop_wake *wake = mem_new(sizeof *wake);

    *wake = (struct loop_wake){ loop, loop->wakes, call, context, false };
    loop->wakes = wake;
    return wake;
}

void loop_wake_send(struct loop_wake *wake)
{
    wake->is_sent = true;
}

void loop_wake_free(struct loop_wake *wake)
{
    struct loop_wake **at;

    if (!wake)
        return;
    for (at = &wake->loop->wakes; *at != wake;)
        at = &(*at)->next;
    *at = wake->next;
    free(wake);
}

bool turns_has_wake(const struct loop *loop)
{
    const struct loop_wake *wake = loop->wakes;

    while (wake && !wake->is_sent)
        wake = wake->next;
    return wake != NULL;
}

void turns_wake(struct loop *loop)
{
    for (struct loop_wake *wake = loop->wakes; wake; wake = wake->next) {
        if (wake->is_sent) {
            wake->is_sent = false;
            wake->call(wake->context);
        }
    }
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

void turns_later(struct loop *loop, void (*call)(void *context), void *context)
{
    struct later *later = mem_new(sizeof *later);
    struct later **at = &loop->later;

    *later = (struct later){ NULL, call, context };
    while (*at)
        at = &(*at)->next;
    *at = later;
}

void turns_end(struct loop *loop)
{
    if (loop->sleep_call)
        loop->sleep_call(loop->sleep_context);
    for (struct loop_turn *turn = loop->turns; turn; turn = turn->next)
        turn->call(turn->context);
    while (loop->later) {
        struct later *later = loop->later;

        loop->later = later->next;
        later->call(later->context);
        free(later);
    }
}
