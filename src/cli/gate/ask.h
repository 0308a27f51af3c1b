/* ask.h - the gate's question to a person, and what came of it. */
#ifndef CLI_GATE_ASK_H
#define CLI_GATE_ASK_H
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "rpc/client.h"

struct gate_match;

enum { GATE_NAME_BYTES = 64 };

struct gate_question {
    const char *client, *tool, *use_id; /* the last may be NULL */
    const struct json *input;
    const struct gate_match *match;
    int64_t wait_s;
};
struct gate_answer {
    bool is_allowed;    /* by a person, now, for this call */
    struct text reason; /* for the agent; never empty */
    char session_id[27];
    struct client *client;
    struct client_identity identity; /* the client's, so this is not to be copied */
    struct client_policy policy;
    char name[GATE_NAME_BYTES];
    char *directory; /* owned */
};

/* Returns when a person decided, nobody did, or it can't be asked. */
void gate_ask(const struct gate_question *question, struct gate_answer *ret_answer);
/* The client has the decision; ends the answer. The watchdog bounds it. */
void gate_confirm(struct gate_answer *take_answer);

/* What agents' clients say before a tool runs, and want to hear: a row each, with its source. */

/* How its answers look, and what else it takes for one. */
enum hook_shape {
    HOOK_DECIDES = 1,      /* decision, reason */
    HOOK_PLAIN = 2,        /* permissionDecision, permissionDecisionReason */
    HOOK_SPECIFIC = 4,     /* the same in hookSpecificOutput */
    HOOK_SILENT_ALLOW = 8, /* there is no word for allow */
    HOOK_BY_CODE = 16,     /* exit code 2 is a no; others go on where a hook fails */
};
struct hook_format {
    const char *name;            /* of --client */
    const char *event, *own_key; /* by which it is recognised; NULL: whatever it is, none */
    const char *tool_key, *input_key;
    bool input_may_be_text; /* JSON in a text */
    unsigned shape;         /* of enum hook_shape */
    int64_t patience_s;     /* of the client, unless it was configured */
};

/* NULL: none is called so, or none of ours is like it. */
const struct hook_format *hook_format_find(const char *name);
/* Members of the answer; `decision` is allow or deny, `reason` never empty. */
void hook_format_write(const struct hook_format *format, const char *decision, const char *reason,
                       struct json_writer *writer);

/* guard.c: a hook that hangs, crashes, runs out of memory or is ended by a signal denies the call:
 * the reply in the client's shape is written in advance and sent from a signal handler. */

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
