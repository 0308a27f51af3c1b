/*
 * schema.h - prints JSON Schema from the same tables that check the arguments, so they can't
 * disagree. A tool that may also be called with session_id alone has no required arguments and no
 * defaults: a client that fills those in would break the call that collects (R2.1). In results
 * nothing is required, because some clients check an error against the schema too, and would hide
 * it.
 */
#ifndef MCP_SCHEMA_H
#define MCP_SCHEMA_H
#include <stddef.h>

/* Properties of a result; nested ones are spelt as JSON in `type`. */
struct schema_property {
    const char *name;
    const char *type_json; /* "\"type\":\"string\"" */
    const char *help;      /* NULL: its name says it */
};

#endif
