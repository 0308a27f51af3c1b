/*
 * compat.h - tools of other servers under their own names and in their own shapes (R14.2): what
 * they were called with becomes the arguments of a tool of ours, and its result what they would
 * have returned. The ask in between is like any other. Offered only if the setting compat is on. A
 * tool is a row in compat.c, with its functions there and in docs/compatibility.md.
 */
#ifndef MCP_COMPAT_COMPAT_H
#define MCP_COMPAT_COMPAT_H
#include <stdbool.h>

#include "base/text.h"
#include "core/outcome.h"

struct error;
struct json;
struct json_writer;

/* What our tool returned; the result is of the tool that was asked with. */
struct compat_outcome {
    enum ending ending;
    const struct json *result;
};
/* `text` is what the model reads; left empty, it is `structured`. */
struct compat_reply {
    struct text text, structured;
};

/* `name` is what their tool was called by. */
struct compat {
    /* Writes the arguments of the tool that *ret_tool names, into an object that is open; left
     * NULL: it is called as it is. False: `err` says why. */
    bool (*translate)(const char *name, const struct json *given, const char **ret_tool,
                      struct json_writer *writer, struct error *err);
    void (*present)(const char *name, const struct json *given,
                    const struct compat_outcome *outcome, struct compat_reply *reply);
};

#endif
