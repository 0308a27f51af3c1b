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

struct hook_format {
    const char *name; /* of --client */
    bool (*recognises)(const struct json *hook);
    const char *tool_key, *input_key;
    bool input_may_be_text; /* JSON in a text */
    /* Members of the answer. `reason` is never empty. */
    void (*write_allow)(struct json_writer *writer, const char *reason);
    void (*write_deny)(struct json_writer *writer, const char *reason);
    int64_t patience_s; /* of the client where nobody told it otherwise */
};

/* NULL: none is called so, or none of ours is like it. */
const struct hook_format *hook_format_find(const char *name);
const struct hook_format *hook_format_recognise(const struct json *hook);

#endif
