/*
 * compat.h - tools of other servers under their own names and in their own shapes (R14.2): what
 * they were called with becomes the arguments of a tool of ours, and its result what they would
 * have returned. The ask in between is like any other. Offered only if the setting compat is on. A
 * tool is a row in compat.c, with its functions there and in docs/compatibility.md.
 */
#ifndef MCP_COMPAT_COMPAT_H
#define MCP_COMPAT_COMPAT_H
#include <stdbool.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "core/outcome.h"

/* A call of their tool `name`, with what it was `given`. */
struct compat_ask {
    const char *name;
    const struct json *given;
    const char *tool;          /* of ours, by its name; left NULL: it is called as it is */
    struct json_writer writer; /* of its arguments, an object that is open */
    struct error *err;
    bool (*is_gated)(void *context, const char *tool, const struct json *input); /* NULL: all are */
    void *context;
};
/* What it returns. */
struct compat_reply {
    const char *name;
    const struct json *given;
    enum ending ending;
    const struct json *result; /* of the tool that was asked with */
    struct json_writer writer; /* of what is structured, an object that is open */
    struct text text;          /* what the model reads, and nothing else; empty: the object */
};
struct compat {
    bool (*translate)(struct compat_ask *ask); /* false: `err` says why */
    void (*present)(struct compat_reply *reply);
};

#endif
