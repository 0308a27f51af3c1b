/*
 * headers.h - what a modern POST must repeat of its body in headers, so that whoever stands in
 * between can route without reading it: Mcp-Method, Mcp-Name, MCP-Protocol-Version. A difference
 * means that somebody was shown something else than what is asked. Source: MCP 2026-07-28,
 * basic/transports.
 */
#ifndef MCP_MODERN_HEADERS_H
#define MCP_MODERN_HEADERS_H
#include <stdbool.h>

struct json;
struct mcp_headers;

enum { HEADERS_MESSAGE_BYTES = 160 };
/* False: `message` names the header that is missing or different. */
bool headers_match(const struct mcp_headers *headers, const char *method, const struct json *params,
                   char message[HEADERS_MESSAGE_BYTES]);

#endif
