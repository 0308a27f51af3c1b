/*
 * entry.h - which way a message goes that came by HTTP: there is one endpoint for both eras and all
 * sessions. The body decides, headers only where it says nothing. Text in, verdict out.
 * Source: MCP 2026-07-28, basic/versioning.
 */
#ifndef MCP_ENTRY_H
#define MCP_ENTRY_H
#include <stddef.h>

#include "base/text.h"
#include "mcp/revision.h"

struct json;
struct mcp_headers;

enum entry_way {
    ENTRY_REFUSED, /* with this status and line */
    ENTRY_MODERN,  /* needs no session */
    ENTRY_OPENS,   /* initialize: begins a session */
    ENTRY_SESSION, /* belongs to the session its header names */
};
struct entry {
    enum entry_way way;
    struct json *value; /* the message; NULL where it could not be read */
    int status;
    struct text line; /* of a refusal */
    enum mcp_revision in_force;
};
/* `in_force`: the revision of the session it names, or the newest legacy one. */
void entry_read(const char *bytes, size_t length, const struct mcp_headers *headers,
                enum mcp_revision in_force, struct entry *ret_entry);
void entry_release(struct entry *entry);
/* The line of an error about a message, or, `value` NULL or without an id, about the whole request;
 * then the id is left out or null, as the revision in force has it. */
void entry_write_error(const struct json *value, enum mcp_revision in_force, int code,
                       const char *message, struct text *out);

#endif
