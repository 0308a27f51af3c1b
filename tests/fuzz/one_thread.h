/*
 * one_thread.h - the stage of the unit tests in one thread, for targets that run it a million
 * times: the simulator's loop, clock, chance and disk (tests/simulate), and its second thread as a
 * coroutine that runs whenever it is woken. Every input finds the same new store and draws the same
 * ids, so what it does depends on nothing that ran before.
 */
#ifndef FUZZ_ONE_THREAD_H
#define FUZZ_ONE_THREAD_H
#include <stdint.h>

struct stage;

typedef void one_thread_call(struct stage *stage);

/* Opens a stage on a new store, calls, and closes it. `prepare` is called once, before all others:
 * what it stored is what every call finds. */
void one_thread_run(one_thread_call *prepare, one_thread_call *call);
/* Time goes by for the stage, its loop and its writer. */
void one_thread_advance(struct stage *stage, int64_t ms);

#endif
