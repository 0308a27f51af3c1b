/*
 * legacy.h - what legacy revisions demand of the headers of a request, once it is known whose
 * session it is. Text in, verdict out. Source: MCP 2025-11-25, basic/transports.
 */
#ifndef MCP_LEGACY_H
#define MCP_LEGACY_H

struct mcp_headers;

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
