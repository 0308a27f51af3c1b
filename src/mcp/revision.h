/*
 * revision.h - the revisions of MCP we speak, and which one a message is of.
 * Decided per message, never pinned: clients were seen to send `initialize` after a successful
 * `server/discover`. Sources: MCP 2026-07-28 basic/versioning, mcp 1.1 and 1.2 of our notes.
 */
#ifndef MCP_REVISION_H
#define MCP_REVISION_H
#include <stdbool.h>

struct json;

enum mcp_revision {
    REVISION_2024_11_05,
    REVISION_2025_03_26,
    REVISION_2025_06_18,
    REVISION_2025_11_25,
    REVISION_2026_07_28, /* the modern one: no handshake, all in _meta */
    REVISION_COUNT,
};
#define META_PREFIX "io.modelcontextprotocol/"

const char *revision_name(enum mcp_revision revision);
/* True when params._meta claims a protocol version at all: then it is a modern message, and a bad
 * claim is an error, never a fall-back. */
bool revision_is_claimed(const struct json *params);
/* True for a header that names 2026-07-28 or a later day; NULL is none. */
bool revision_is_modern_header(const char *header);
bool revision_is_legacy_name(const char *name);
/* What `initialize` is answered with: the version asked for if it is a legacy one, else the newest
 * of those. */
enum mcp_revision revision_negotiate(const char *asked);
/* Features by revision. */
/* outputSchema, structuredContent, title */
bool revision_has_structured(enum mcp_revision revision);
bool revision_has_annotations(enum mcp_revision revision);  /* of tools; message of progress */
bool revision_omits_unknown_id(enum mcp_revision revision); /* in errors; before, it is null */

#endif
