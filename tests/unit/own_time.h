/*
 * own_time.h - a test's own time: its loops' clocks and timers go where it says, so that it need
 * not sit out a limit. Programs that use it are those with own_time.c in meson.build: what asks the
 * system for the boot clock, the wall clock or a timer gets it from here. Blocking calls take true
 * time.
 */
#ifndef TESTS_OWN_TIME_H
#define TESTS_OWN_TIME_H
#include <stdint.h>

/* moves time by so much in one step; timers that are due come in their order */
void time_skip(int64_t ms);
void time_set_rate(int rate); /* from now on it goes so many times as fast; 1: as ever */

#endif
