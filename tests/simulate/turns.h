/*
 * turns.h - the loop of a simulated process, one turn at a time. base/loop.h is what the product
 * sees of it; this is what the simulator sees.
 */
#ifndef SIMULATE_TURNS_H
#define SIMULATE_TURNS_H
#include <stdbool.h>
#include <stdint.h>

struct loop;

int64_t turns_next_timer_ms(const struct loop *loop); /* -1: none */
bool turns_has_wake(const struct loop *loop);
void turns_ring_timers(struct loop *loop); /* those that are due */
void turns_wake(struct loop *loop);
void turns_end(struct loop *loop); /* of the turn: what comes before the loop sleeps */
bool turns_is_stopped(const struct loop *loop);

/* For net.c: called at the end of the turn, as libuv calls back for what was closed. */
void turns_later(struct loop *loop, void (*call)(void *context), void *context);

#endif
