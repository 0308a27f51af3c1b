/*
 * patience.h - what a client's giving up on a held call teaches about its time limit (R5.7). Pure.
 *
 * A person who presses Esc cancels a call too, so one cancellation proves nothing unless the client
 * says that its time was up: else two must have come after nearly the same time. What is known is
 * one number: 0 nothing, negative seen once after so many ms, positive learnt.
 */
#ifndef CORE_PATIENCE_H
#define CORE_PATIENCE_H
#include <stdbool.h>
#include <stdint.h>

/* What is known once a call was given up after `held_ms`. */
int64_t patience_learn(int64_t known_ms, int64_t held_ms, bool says_time_was_up);
/* How long a call may be held by what is known; -1: as long as anybody likes. */
int64_t patience_hold_ms(int64_t known_ms);
/* Whether the reason a client gives for a cancellation is its own clock. */
bool patience_is_time_up(const char *reason);

#endif
