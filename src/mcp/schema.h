/*
 * schema.h - prints JSON Schema from the same tables that check the arguments, so they cannot
 * disagree. Nothing is marked required: a call may carry session_id alone, and presence is checked
 * by us with a message that helps (R2.1); of a result, because there are clients that hold a bad
 * call's error against the schema too, and would hide it.
 */
#ifndef MCP_SCHEMA_H
#define MCP_SCHEMA_H
#include <stddef.h>

struct argument;
struct json_writer;

void schema_write_input(struct json_writer *writer, const char *key,
                        const struct argument *arguments, size_t count);

/* Properties of a result; nested ones are spelt as JSON in `type`. */
struct schema_property {
    const char *name;
    const char *type_json; /* "\"type\":\"string\"" */
    const char *help;      /* NULL: its name says it */
};
void schema_write_output(struct json_writer *writer, const char *key,
                         const struct schema_property *properties, size_t count);

#endif
