/*
 * methods.c - the legacy revisions, 2024-11-05 to 2025-11-25: a handshake, then methods.
 * A method before the handshake is served too: nothing here depends on it but the shape of results.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "mcp/inside.h"

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
