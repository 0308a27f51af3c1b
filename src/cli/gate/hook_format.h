/*
 * hook_format.h - what the clients of agents say before a tool runs, and what they want to hear.
 * One row a format; sources stand beside the rows.
 */
#ifndef CLI_GATE_HOOK_FORMAT_H
#define CLI_GATE_HOOK_FORMAT_H
#include <stdbool.h>
#include <stdint.h>

struct json;
struct json_writer;

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
const struct hook_format *hook_format_recognise(const struct json *hook);
/* Members of the answer; `decision` is allow or deny, `reason` never empty. */
void hook_format_write(const struct hook_format *format, const char *decision, const char *reason,
                       struct json_writer *writer);

#endif
