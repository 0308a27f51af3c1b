/*
 * door.h - which way a message goes that came by HTTP: there is one endpoint for both eras and all
 * sessions. The body decides, headers only where it says nothing. Text in, verdict out.
 * Source: MCP 2026-07-28, basic/versioning.
 */
#ifndef MCP_DOOR_H
#define MCP_DOOR_H
#include <stddef.h>

#include "base/text.h"

struct json;
struct mcp_headers;

enum door_way {
    DOOR_REFUSED, /* with this status and line */
    DOOR_MODERN,  /* needs no session */
    DOOR_OPENS,   /* initialize: begins a session */
    DOOR_SESSION, /* belongs to the session its header names */
};
struct door {
    enum door_way way;
    struct json *value; /* the message; NULL where it could not be read */
    int status;
    struct text line; /* of a refusal */
};
void door_read(const char *bytes, size_t length, const struct mcp_headers *headers,
               struct door *ret_door);
void door_release(struct door *door);
/* The line of an error about a message, or, `value` NULL or without an id, about the whole request;
 * then the id is left out or null, as the revision in force has it. */
void door_write_error(const struct json *value, const struct mcp_headers *headers, int code,
                      const char *message, struct text *out);

#endif
