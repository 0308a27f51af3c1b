/* gate_inside.h - what the files of the gate share. */
#ifndef CORE_GATE_INSIDE_H
#define CORE_GATE_INSIDE_H
#include <stdbool.h>

#include "base/text.h"
#include "core/gate.h"

/* The next pattern of a list, cut to its room, and where to go on; NULL: no more. */
const char *gate_next_pattern(const char *list, char out[GATE_PATTERN_BYTES]);
/* The whole text; * in the pattern is any run of characters. */
bool gate_glob(const char *pattern, const char *text, bool is_case_known);

bool gate_has_word(const char *word, const char *command);
/* One of the command's words is a path that the pattern names. */
bool gate_has_argument(const char *pattern, const char *command, const struct gate_call *call);

#endif
