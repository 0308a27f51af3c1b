/*
 * guard.h - a hook that hangs, crashes, runs out of memory or is ended by a signal denies the
 * call: the reply in the client's shape is written in advance and sent from a signal handler.
 */
#ifndef CLI_GATE_GUARD_H
#define CLI_GATE_GUARD_H
#include <stdint.h>

struct hook_format;
struct text;

enum { GATE_BLOCKS = 2 }; /* what clients take for a no without reading further */

/* Before anything else of the program runs: where it is `sayso gate`, a crash is a no from here on,
 * for the client that --client names. Allocates nothing. */
void guard_begin(int count, char **texts);
/* From now on no more than this long, whatever hangs; NULL: the format is not known. */
void guard_watch(const struct hook_format *format, int64_t limit_s);
/* What was decided is with the client: nothing is added to it, whatever happens now. */
void guard_is_said(int code);
/* Last: a gate that failed before it said anything denies the call. Returns what main returns. */
int guard_end(int code);

void guard_write_deny(const struct hook_format *format, const char *reason, struct text *out);

#endif
