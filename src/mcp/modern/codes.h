/* codes.h - error codes of 2026-07-28, and the statuses that go with them. */
#ifndef MCP_MODERN_CODES_H
#define MCP_MODERN_CODES_H

enum {
    MODERN_HEADER_MISMATCH = -32020,
    MODERN_MISSING_CAPABILITY = -32021,
    MODERN_UNSUPPORTED_VERSION = -32022,
    MODERN_BAD_REQUEST = 400,
    MODERN_NO_METHOD = 404,
};

#endif
