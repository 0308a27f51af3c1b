/*
 * terminal.h - what the verbs that need a person's terminal share: is there one, what to do where
 * there is none, and how it ended (R6.1).
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H
#include <stdbool.h>

#include "cli/verb.h"
#include "tui/app.h"

/* Whether a person is looking: standard input and error are a terminal, and so is /dev/tty.
 * `is_input_read`: standard input has something else, and keys come from /dev/tty all the same. */
bool seat_is_person_here(bool is_input_read);
/* How a seat ended, in words where there is something to say. Raises a signal again. */
enum exit_code seat_finish(const struct arguments *arguments, const struct seat_result *result);

#endif
