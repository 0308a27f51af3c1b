/* tool.h - a tool: what tools/list says about it and what calling it does, in one row. */
#ifndef MCP_TOOLS_TOOL_H
#define MCP_TOOLS_TOOL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "core/tools/arguments.h"

struct compat;
struct mcp_call;

/* A property of a result; nested ones are spelt as JSON in `type`. */
struct schema_property {
    const char *name;
    const char
        *type_json; /* "\"type\":\"string\""; NULL: in results, but no model needs it in the list */
    const char *help; /* NULL: its name says it */
};

enum { TOOL_VALUES_BYTES = 256 }; /* the most a table of ours reads into */

/* What a good call wants of the service, or the answer if it needs neither service nor person. */
enum tool_action { TOOL_ANSWERED, TOOL_ASKS, TOOL_COLLECTS };
struct tool_plan {
    enum tool_action action;
    struct text result;     /* TOOL_ANSWERED: the structured result; the caller releases it */
    struct json *arguments; /* TOOL_ASKS: in their order; the caller frees them */
    char session_id[27];    /* TOOL_COLLECTS */
    int64_t wait_s;         /* TOOL_COLLECTS; -1: as long as the client waits */
    bool wants_launch;      /* TOOL_COLLECTS: answer immediately with a command for a terminal */
    /* TOOL_COLLECTS: for a person who asked back; "": none. The caller releases it. */
    struct text explanation;
};

struct tool {
    const char *name, *title, *description; /* for agents, English */
    const struct ask_tool *ask;             /* its table is the input; NULL: the next three are */
    const struct argument *arguments;
    size_t argument_count;
    const char *input_json; /* a schema that no table of ours can say; NULL: the table's */
    void (*plan)(const void *values, struct tool_plan *plan); /* from what that table read */
    /* Instead: does its work itself, now or later, and may ask the client (mcp/call.h). */
    void (*run)(const struct tool *tool, struct mcp_call *call, const struct json *arguments);
    const struct compat *compat; /* in the words of another server (mcp/compat); NULL: ours */
    int64_t hold_s; /* of those: how long a client's call is held; 0: as long as any other */
    const struct schema_property *results;
    size_t result_count;
};
#define TOOL(name) extern const struct tool tool_row_##name;
#include "mcp/tools/tools.def"
#undef TOOL

/* The product's, NULL behind the last. A server may be given others (mcp/mcp_features.h). */
extern const struct tool *const tool_rows[];
/* NULL if there is none. */
const struct tool *tool_find(const struct tool *const *rows, const char *name, size_t length);

/* What a call comes to. False: `err` names the field, and no person was asked. */
bool tool_plan(const struct tool *tool, const struct json *arguments, struct tool_plan *ret_plan,
               struct error *err);

/* The last row of every tool's results: how a bad call is told what is wrong with it. */
#define TOOL_ERROR_RESULT                                                                          \
    {                                                                                              \
        "error", NULL, NULL                                                                        \
    }

#endif
