/* gate_inside.h - what the files of the gate share. */
#ifndef CORE_GATE_INSIDE_H
#define CORE_GATE_INSIDE_H
#include <stdbool.h>

#include "base/text.h"
#include "core/gate.h"

/* The whole text; * in the pattern is any run of characters, with GATE_STEPS as a shell has it: no
 * /, and no dot that a step begins with. GATE_PARENTS: or a directory that it is in. */
enum { GATE_CASE = 1, GATE_STEPS = 2, GATE_PARENTS = 4 };
bool gate_glob(const char *pattern, const char *text, size_t length, unsigned how);

/* How quotes and $(...) are read. A pattern needs to match only one reading. */
enum quotes {
    QUOTES_JOIN,   /* quoted words belong to the command around them: r"m" -rf */
    QUOTES_SPLIT,  /* they are commands of their own: bash -c "cd x; rm y" */
    QUOTES_VALUES, /* as QUOTES_JOIN, and $(...) is one word: rm $(ls) -rf */
    QUOTES_WHOLE,  /* and so is what is quoted: git -C "a b" */
    QUOTES_WAYS
};
/* A command as lines of words, once for all patterns. */
struct gate_reading {
    struct text ways[QUOTES_WAYS];
};
void gate_read(const char *command, struct gate_reading *ret_reading);
void gate_reading_release(struct gate_reading *reading);
bool gate_reading_matches(const char *pattern, const struct gate_reading *reading);

bool gate_has_word(const char *word, const char *command);
/* One of the command's words is a path that the pattern names. */
bool gate_has_argument(const char *pattern, const struct gate_reading *reading,
                       const struct gate_call *call);

#endif
