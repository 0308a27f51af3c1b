/*
 * legacy.c - the legacy revisions, 2024-11-05 to 2025-11-25: a handshake, then methods. A method
 * before the handshake is served too: nothing here depends on it but the shape of results.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/calls.h"
#include "mcp/entry.h"
#include "mcp/mcp.h"

static void initialize(struct mcp_request *request)
{
    struct mcp *mcp = request->to.mcp;
    struct mcp_session session;
    struct text out = { 0 };
    struct json_writer writer = json_object_to(&out);

    mcp_read_session(request->params, &session);
    mcp_set_session(mcp, &session);
    json_write_text(&writer, "protocolVersion", revision_name(mcp->negotiated));
    content_write_capabilities(&writer, mcp->negotiated);
    content_write_server_info(&writer, "serverInfo", revision_has_structured(mcp->negotiated));
    json_write_text(&writer, "instructions", content_instructions);
    json_write_end_object(&writer);
    mcp_reply(&request->to, text_string(&out));
    text_release(&out);
}

static void ping(struct mcp_request *request)
{
    mcp_reply(&request->to, "{}");
}

static const struct mcp_method legacy_methods[] = {
    { "initialize", initialize },
    { "ping", ping },
    { "resources/subscribe", subscribe },
    { "resources/unsubscribe", unsubscribe },
    { "logging/setLevel", logging_set_level },
};

void legacy_serve(struct mcp_request *request)
{
    mcp_serve(request, legacy_methods, ARRAY_LEN(legacy_methods), 200);
}

static const struct legacy_refusal bad_version = {
    400, LEGACY_BAD_REQUEST,
    "MCP-Protocol-Version is none of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28"
};
static const struct legacy_refusal not_both = {
    406, LEGACY_BAD_REQUEST, "Accept must name application/json and text/event-stream"
};
static const struct legacy_refusal no_stream = { 406, LEGACY_BAD_REQUEST,
                                                 "Accept must name text/event-stream" };

/* One entry of Accept without its parameters. "q=0" is seen nowhere and not looked for. */
static bool covers(const char *entry, size_t length, const char *type)
{
    size_t family = (size_t)(strchr(type, '/') - type) + 1;

    if (length == strlen(type) && strncasecmp(entry, type, length) == 0)
        return true;
    if (length == 3 && strncmp(entry, "*/*", 3) == 0)
        return true;
    return length == family + 1 && strncasecmp(entry, type, family) == 0 && entry[family] == '*';
}

static bool accepts(const char *accept, const char *type)
{
    while (accept && *accept) {
        const char *entry = accept + strspn(accept, " \t,");
        size_t length = strcspn(entry, ",; \t");

        if (covers(entry, length, type))
            return true;
        accept = entry + strcspn(entry, ",");
    }
    return false;
}

const struct legacy_refusal *legacy_check_version(const struct mcp_headers *headers)
{
    const char *version = headers->protocol_version;

    return !version || revision_is_legacy_name(version) ? NULL : &bad_version;
}

const struct legacy_refusal *legacy_check_initialize(const struct mcp_headers *headers)
{
    bool is_both = accepts(headers->accept, "application/json") &&
                   accepts(headers->accept, "text/event-stream");

    return is_both ? NULL : &not_both;
}

const struct legacy_refusal *legacy_check_post(const struct mcp_headers *headers)
{
    const struct legacy_refusal *refusal = legacy_check_version(headers);

    return refusal ? refusal : legacy_check_initialize(headers);
}

const struct legacy_refusal *legacy_check_get(const struct mcp_headers *headers)
{
    const struct legacy_refusal *refusal = legacy_check_version(headers);

    if (refusal)
        return refusal;
    return accepts(headers->accept, "text/event-stream") ? NULL : &no_stream;
}
