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

/* Returns when a person decided, the ask ended without that, or it can't be asked. */
void gate_ask(const struct gate_question *question, struct gate_answer *ret_answer);
/* The client has the decision; ends the answer. The watchdog bounds it. */
void gate_confirm(struct gate_answer *take_answer);

/* Whether the person's settings speak of this call. False: what they are can't be read. */
bool gate_find_rule(const char *tool, const struct json *input, const char *directory,
                    struct gate_match *ret_match, struct error *err);

/* Before anything else of the program runs: where it is `sayso gate`, a crash is a no from here on,
 * for the client that --client names. Allocates nothing. */
void guard_begin(int count, char **texts);
/* Last: a gate that failed before it said anything denies the call. Returns what main returns. */
int guard_end(int code);

#endif
