/*
 * gate.h - which calls of an agent's own tools a person must allow (R11.3). Pure: rules and a call
 * in, the first rule that speaks of it out.
 *
 * It guards against mistakes, not against an agent that hides what it does: an agent that may run
 * any command can write it so that no rule sees it. In doubt a rule matches; asking once too often
 * is the better mistake.
 */
#ifndef CORE_GATE_H
#define CORE_GATE_H
#include <stdbool.h>

#include "base/text.h"

struct json;

/*
 * Lists of patterns with ; between them; * stands for any characters, \* for a star.
 * commands  words of one command, in order, each whole: the first may have a directory before it;
 *           -rf wants these letters among the options, a capital one as it is; --force this option,
 *           also cut short or with one dash, wherever they stand; ^ before the first: it is the
 *           command itself, and only options stand between the words; !word: without that word
 * words     whole words anywhere in a command
 * paths     of files that are not only read; ~/ is the home directory, what ends in / is that
 *           directory and all below, what begins neither with / nor with ~ or * may have anything
 *           before it
 * tools     names of tools
 * Case counts in paths, and in capital letters of options.
 */
struct gate_rules {
    const char *commands, *words, *paths, *tools;
};

struct gate_call {
    const char *tool;
    const struct json *input;
    const char *directory; /* where relative paths begin; NULL: not known */
    const char *home;      /* NULL: not known */
};

enum gate_kind { GATE_NONE, GATE_TOOL, GATE_COMMAND, GATE_WORD, GATE_PATH };
enum { GATE_PATTERN_BYTES = 128 };
struct gate_match {
    enum gate_kind kind; /* GATE_NONE: no rule speaks of it */
    char pattern[GATE_PATTERN_BYTES];
};

struct gate_match gate_find(const struct gate_rules *rules, const struct gate_call *call);

/* What a rule reaches: only what is in its directory, also that itself, or also what it is in. */
enum gate_reach { GATE_BELOW, GATE_ITSELF, GATE_ABOVE };
bool gate_matches_path(const char *pattern, const char *path, const struct gate_call *call,
                       enum gate_reach reach);

/* What the files of the gate share. */

/* The whole text; * in the pattern is any run of characters, with GATE_STEPS as a shell has it: no
 * /, and no dot that a step begins with. GATE_PARENTS: or a directory that it is in. */
enum { GATE_CASE = 1, GATE_STEPS = 2, GATE_PARENTS = 4 };

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
    bool is_repeated[QUOTES_WAYS]; /* one before it is the same: few commands have quotes */
};
void gate_read(const char *command, struct gate_reading *ret_reading);
void gate_reading_release(struct gate_reading *reading);
bool gate_reading_matches(const char *pattern, const struct gate_reading *reading);

#endif
