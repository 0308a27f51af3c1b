/*
 * seat.h - what the verbs that need a person's terminal share: is there one, what to do where there
 * is none, and how it ended (R6.1).
 */
#ifndef CLI_SEAT_H
#define CLI_SEAT_H
#include <stdbool.h>

#include "cli/verb.h"
#include "tui/seat.h"

/* True: there is a terminal. Else it was done in a tmux popup, or said how to go on; *ret_code is
 * the end. `words` are what to run instead, after the program's name. */
bool seat_is_there(const struct arguments *arguments, const char *const *words,
                   enum exit_code *ret_code);
/* Asked for, or the terminal can do no more. */
bool seat_is_plain(const struct arguments *arguments);
/* Whether a person is looking: standard input and error are a terminal, and so is /dev/tty.
 * `is_input_read`: standard input has something else, and keys come from /dev/tty all the same. */
bool seat_is_person_here(bool is_input_read);
/* How a seat ended, in words where there is something to say. Raises a signal again. */
enum exit_code seat_finish(const struct arguments *arguments, const struct seat_result *result);

#endif
