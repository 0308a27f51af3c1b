/* prompts.h - `sayso prompts`: its guard, and the file in which a client notes what became of a
 * prompt. */
#ifndef CLI_GATE_PROMPTS_H
#define CLI_GATE_PROMPTS_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct json;

/* Before anything else of the program runs, where it is `sayso prompts`: from here on whatever goes
 * wrong is no decision, with exit code 0. Allocates nothing. */
void prompts_guard(void);
/* What main returns. */
int prompts_end(int code);

/*
 * A session of Claude Code as it notes it (transcript_path): one JSON object a line, calls of tools
 * and their results among them. A call of this tool, with this input, that got its result was
 * decided in the client: allowed, denied, or interrupted. Measured with 2.1.325: after PostToolUse
 * by 0.7 s at most, and no hook at all runs when a person denies in the dialog.
 */
enum { TRANSCRIPT_CALLS = 8, TRANSCRIPT_ID_BYTES = 129, TRANSCRIPT_VERSION_BYTES = 32 };
struct transcript {
    const char *tool; /* borrowed, as is the next */
    const struct json *input;
    int file, watch;  /* -1: none */
    struct text part; /* a line without its end */
    bool has_begun;   /* what is in `part` is the beginning of a line */
    bool was_called;
    char open[TRANSCRIPT_CALLS][TRANSCRIPT_ID_BYTES]; /* calls without a result; "": free */
    char version[TRANSCRIPT_VERSION_BYTES];           /* of the client; "": unknown */
};
/* `path` NULL, or no file there: nothing is ever noted. */
void transcript_open(struct transcript *transcript, const char *path, const char *tool,
                     const struct json *input);
void transcript_close(struct transcript *transcript);
void transcript_read(struct transcript *transcript); /* what was added */
bool transcript_is_decided(const struct transcript *transcript);

#endif
