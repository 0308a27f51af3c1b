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

/* What legacy revisions demand of the headers of a request, once it is known whose session it is.
 * Source: MCP 2025-11-25, basic/transports. */

/* The SDK's codes for what HTTP alone can go wrong with: clients know them. */
enum { LEGACY_BAD_REQUEST = -32000, LEGACY_NO_SESSION = -32001 };

struct legacy_refusal {
    int status, code;
    const char *message;
};
/* NULL: nothing against it. A POST may be answered in either form, so it must accept both; a GET
 * is answered by a stream. The version is not looked at in `initialize`: a client that is refused
 * there tries a transport we do not have. */
const struct legacy_refusal *legacy_check_initialize(const struct mcp_headers *headers);
const struct legacy_refusal *legacy_check_post(const struct mcp_headers *headers);
const struct legacy_refusal *legacy_check_get(const struct mcp_headers *headers);
const struct legacy_refusal *legacy_check_version(const struct mcp_headers *headers);

#endif
