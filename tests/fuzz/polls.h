/*
 * polls.h - what net/ has of libuv, without its loop: descriptors that are checked once per
 * turn of the simulator's loop (one_thread.h). The server for HTTP listens at a socket of this
 * machine, because ports of TCP are soon used up by a million inputs.
 */
#ifndef FUZZ_POLLS_H
#define FUZZ_POLLS_H
#include <stdbool.h>

bool polls_turn(void); /* whether anything was ready */
int polls_dial(void);  /* a connection to the last listener; -1: there is none */

#endif
